/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * How much longer it takes to load and to run trees that are ten times as large. Prints a line for each case: name,
 * microseconds of the large tree, and ten times those of the small one, separated by tabs. The shortest of several
 * times counts: it is the one with the least of what else the machine does.
 */

#include <malloc.h>
#include <math.h>
#include <stdio.h>

#include "growth.h"
#include "samples.h"

#define SAMPLES 9

int main(void) {
        /* The heap keeps all that it once had: otherwise only large trees pay for fresh pages, again and again. */
        mallopt(M_TRIM_THRESHOLD, INT32_MAX);
        mallopt(M_MMAP_MAX, 0);

        for (const GrowthCase *growth_case = growth_cases; growth_case->name; growth_case++) {
                double few = INFINITY, many = INFINITY;

                for (unsigned i = 0; i < SAMPLES; i++) {
                        few = MIN(few, 10 * growth_cost(growth_case, growth_case->n, bench_now));
                        many = MIN(many, growth_cost(growth_case, 10 * growth_case->n, bench_now));
                }

                printf("%s\t%.0f\t%.0f\n", growth_case->name, many / 1e3, few / 1e3);
        }
        return EXIT_SUCCESS;
}
