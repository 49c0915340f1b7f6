/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The bars of a timeline as a picture can show them: those of a node that are too near to one another to be told apart
 * are one.
 */

#include "timeline.h"

typedef struct BarCluster {
        NodeId node;
        uint64_t begin, end;
        unsigned n;      /* how many bars */
        Status status;   /* the worst of theirs */
        bool wide;       /* it began with one that can be told apart from others */
        const Bar *last; /* borrowed from the timeline */
} BarCluster;

/* Of BarCluster, by node, status and time. Bars that end within less than so many microseconds are near to one
 * another. To be freed. */
GArray *bar_clusters_new(const Timeline *timeline, uint64_t nearness);
