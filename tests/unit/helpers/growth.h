/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Loads and runs trees of any size: the cost must grow no faster than the tree. The test "growth" counts the work, and
 * the benchmark measures how long it takes.
 */

#include <glib.h>

#include "engine/machine.h"

typedef struct GrowthCase {
        const char *name;
        uint32_t n; /* the smaller of the two sizes that are compared; the other one is ten times as large */
        GString *(*text)(uint32_t n);
        void (*run)(Machine *machine, uint32_t n); /* NULL: to load the text is the work */
} GrowthCase;

/* Up to one without a name. */
extern const GrowthCase growth_cases[];

/* The difference of now() before and after the work. */
double growth_cost(const GrowthCase *growth_case, uint32_t n, double (*now)(void));
