/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Times that are measured again and again, and the one in the middle.
 */

#include <stdlib.h>
#include <time.h>

/* Nanoseconds. */
static inline double bench_now(void) {
        struct timespec now;

        clock_gettime(CLOCK_MONOTONIC, &now);
        return (double) now.tv_sec * 1e9 + (double) now.tv_nsec;
}

static inline int bench_compare(const void *a, const void *b) {
        double x = *(const double *) a, y = *(const double *) b;

        return (x > y) - (x < y);
}

/* Puts them in order. */
static inline double bench_median(double *samples, size_t n) {
        qsort(samples, n, sizeof(double), bench_compare);
        return samples[n / 2];
}
