/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The engine's version is a function in a file of its own, so that tests can replace it. */

#include "engine/engine-version.h"

uint32_t engine_version(void) {
        return ENGINE_VERSION;
}
