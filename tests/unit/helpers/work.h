/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Counts the work of the rooms that are compiled for it (`counted_libraries` in tests/unit/meson.build): how many basic
 * blocks they have executed. Unlike time, this does not depend on the machine.
 */

#include <stdint.h>

uint64_t work_done(void);
