/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Makes bars of status changes, for btctl plot, and finds the critical path. */

#include "client/plot/timeline.h"

#include "basic/foreach.h"

static void bar_clear(void *bar) {
        g_free(((Bar *) bar)->label);
        g_free(((Bar *) bar)->detail);
        g_free(((Bar *) bar)->awaits);
}

static void mark_clear(void *mark) {
        g_free(((Mark *) mark)->detail);
}

#define NO_BAR UINT32_MAX
#define NOT_YET UINT64_MAX

Timeline *timeline_new(const Tree *tree) {
        Timeline *timeline = g_new0(Timeline, 1);

        timeline->tree = tree;
        timeline->bars = g_array_new(false, true, sizeof(Bar));
        g_array_set_clear_func(timeline->bars, bar_clear);
        timeline->marks = g_array_new(false, true, sizeof(Mark));
        g_array_set_clear_func(timeline->marks, mark_clear);
        timeline->last = g_new(uint32_t, tree->n_nodes);
        for (NodeId node = 0; node < tree->n_nodes; node++)
                timeline->last[node] = NO_BAR;

        return timeline;
}

void timeline_free(Timeline *timeline) {
        if (!timeline)
                return;

        g_array_unref(timeline->bars);
        g_array_unref(timeline->marks);
        g_free(timeline->last);
        g_free(timeline);
}

static Bar *bar_at(const Timeline *timeline, unsigned i) {
        return &g_array_index(timeline->bars, Bar, i);
}

/* The open bar of the node, or NULL. */
static Bar *find_open(const Timeline *timeline, NodeId node) {
        uint32_t last = timeline->last[node];

        return last != NO_BAR && bar_at(timeline, last)->status == STATUS_RUNNING ? bar_at(timeline, last) : NULL;
}

static Bar *open_bar(Timeline *timeline, NodeId node, uint64_t time) {
        Bar bar = {
                .node = node,
                .begin = NOT_YET,
                .end = time,
                .waiting = time,
                .halting = NOT_YET,
                .status = STATUS_RUNNING,
        };

        timeline->last[node] = timeline->bars->len;
        g_array_append_val(timeline->bars, bar);
        return bar_at(timeline, timeline->last[node]);
}

void timeline_change(Timeline *timeline, NodeId node, Status status, uint64_t time, const char *detail) {
        Bar *bar = find_open(timeline, node) ?: open_bar(timeline, node, time);

        bar->begin = MIN(bar->begin, time);
        if (status != STATUS_RUNNING)
                bar->halting = MIN(bar->halting, time);
        bar->end = time;
        bar->status = status;
        if (status != STATUS_RUNNING && detail) {
                g_free(bar->detail);
                bar->detail = g_strdup(detail);
        }
        timeline->end = MAX(timeline->end, time);
}

/* If it waits for something else now, the first reason is kept. */
void timeline_wait(Timeline *timeline, NodeId node, uint64_t time, const char *awaits) {
        Bar *bar = find_open(timeline, node) ?: open_bar(timeline, node, time);

        if (!bar->awaits)
                bar->awaits = g_strdup(awaits);
        timeline->end = MAX(timeline->end, time);
}

void timeline_halt(Timeline *timeline, NodeId node, uint64_t time) {
        Bar *bar = find_open(timeline, node) ?: open_bar(timeline, node, time);

        bar->begin = MIN(bar->begin, time);
        bar->halting = MIN(bar->halting, time);
        timeline->end = MAX(timeline->end, time);
}

void timeline_label(Timeline *timeline, NodeId node, const char *label) {
        uint32_t last = timeline->last[node];
        Bar *bar = last == NO_BAR ? NULL : bar_at(timeline, last);

        if (!bar || bar->label)
                return;

        bar->label = g_strdup(label);
}

void timeline_mark(Timeline *timeline, uint64_t time, const char *what, const char *detail) {
        Mark mark = { .time = time, .what = what, .detail = g_strdup(detail) };

        g_array_append_val(timeline->marks, mark);
        timeline->end = MAX(timeline->end, time);
}

/* Sorts by parent, then by end. */
static gint compare_ends(gconstpointer a, gconstpointer b, gpointer userdata) {
        const Timeline *timeline = userdata;
        const Bar *first = *(Bar *const *) a, *second = *(Bar *const *) b;
        NodeId parent = timeline->tree->nodes[first->node].parent, other = timeline->tree->nodes[second->node].parent;

        if (parent != other)
                return parent < other ? -1 : 1;
        if (first->end != second->end)
                return first->end < second->end ? -1 : 1;

        return first < second ? -1 : first > second;
}

/* The index behind the last bar of the parent's children that ended by then. */
static unsigned find_behind(const Timeline *timeline, const GPtrArray *sorted, NodeId parent, uint64_t end) {
        unsigned low = 0, high = sorted->len;

        while (low < high) {
                unsigned middle = low + (high - low) / 2;
                const Bar *bar = g_ptr_array_index(sorted, middle);
                NodeId other = timeline->tree->nodes[bar->node].parent;

                if (other < parent || (other == parent && bar->end <= end))
                        low = middle + 1;
                else
                        high = middle;
        }

        return low;
}

/* The child's bar that ended last, up to that time, and took time while the parent was waited for; or NULL. by_itself:
 * only bars that were not stopped. */
static Bar *find_awaited(const Timeline *timeline, const GPtrArray *sorted, const Bar *parent, uint64_t until,
                         bool by_itself) {
        for (unsigned i = find_behind(timeline, sorted, parent->node, until); i > 0; i--) {
                Bar *bar = g_ptr_array_index(sorted, i - 1);

                if (timeline->tree->nodes[bar->node].parent != parent->node || bar->end <= parent->awaited)
                        return NULL;
                if (bar->begin >= parent->begin && bar->begin < bar->end &&
                    (!by_itself || bar->status != STATUS_HALTED))
                        return bar;
        }

        return NULL;
}

static void mark_bar(GPtrArray *waiting, Bar *bar, uint64_t awaited) {
        bar->critical = true;
        bar->awaited = MAX(bar->begin, awaited);
        g_ptr_array_add(waiting, bar);
}

/* The child that the parent waited for until then. For a child that the parent stopped, only the stopping time counts.
 * */
static Bar *mark_awaited(Timeline *timeline, const GPtrArray *sorted, const Bar *parent, uint64_t until,
                         GPtrArray *waiting) {
        Bar *child = find_awaited(timeline, sorted, parent, until, false), *decider = NULL;

        if (child && child->status == STATUS_HALTED && parent->status != STATUS_HALTED)
                decider = find_awaited(timeline, sorted, parent, until, true);
        if (decider && decider->end > child->begin) {
                if (child->end > decider->end)
                        mark_bar(waiting, child, decider->end);
                child = decider;
        }

        if (child)
                mark_bar(waiting, child, parent->awaited);
        return child;
}

/* Goes back from the end of a node: to the child that ended last, then to the child that ended last before that one
 * started, and so on; and does the same inside each child. */
static void mark_critical(Timeline *timeline, Bar *root) {
        g_autoptr(GPtrArray) sorted = g_ptr_array_sized_new(timeline->bars->len), waiting = g_ptr_array_new();

        for (unsigned i = 0; i < timeline->bars->len; i++)
                g_ptr_array_add(sorted, bar_at(timeline, i));
        g_ptr_array_sort_with_data(sorted, compare_ends, timeline);

        mark_bar(waiting, root, 0);
        while (waiting->len > 0) {
                const Bar *parent = g_ptr_array_steal_index(waiting, waiting->len - 1);
                uint64_t until = parent->end;
                Bar *child;

                while ((child = mark_awaited(timeline, sorted, parent, until, waiting))) {
                        const Bar *before = find_awaited(timeline, sorted, parent, child->begin, false);
                        bool other_ended = before && before->end > child->waiting;

                        /* While the child waited to begin, the parent waited for what ended meanwhile; if nothing did,
                         * such as for a lock of another run, for the child all that time. */
                        until = child->begin;
                        if (child->waiting < child->begin && !other_ended) {
                                child->awaited = MAX(child->waiting, parent->awaited);
                                until = child->waiting;
                        }
                }
        }
}

void timeline_finish(Timeline *timeline, uint64_t time) {
        timeline->end = MAX(timeline->end, time);

        ARRAY_FOREACH(Bar, bar, timeline->bars) {
                if (bar->status == STATUS_RUNNING)
                        bar->end = timeline->end;
                bar->begin = MIN(bar->begin, bar->end);
                bar->halting = MIN(bar->halting, bar->end);
        }

        if (timeline->last[0] != NO_BAR)
                mark_critical(timeline, bar_at(timeline, timeline->last[0]));
}
