/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* In the order of OnRecover. */

#include "leaves/on-recover.h"

const char *const on_recover_values[] = { "fail", "rerun", NULL };
