/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests the event queue of simulations. */

#include "basic/span.h"
#include "client/simulate/event-queue.h"

static void on_due(NodeId node, void *userdata) {
        g_string_append_printf(userdata, "%u ", node);
}

static void test_order(void) {
        g_autoptr(EventQueue) queue = event_queue_new();
        g_autoptr(GString) due = g_string_new(NULL);
        QueuedEvent *dropped;
        uint64_t next;

        event_queue_add(queue, 20, on_due, 1, due);
        event_queue_add(queue, 10, on_due, 2, due);
        dropped = event_queue_add(queue, 10, on_due, 3, due);
        event_queue_add(queue, 20, on_due, 4, due);
        event_queue_add(queue, 10, on_due, 5, due);
        g_assert_null(event_queue_add(queue, SPAN_INFINITY, on_due, 6, due));
        event_queue_drop(dropped);

        g_assert_true(event_queue_next(queue, &next));
        g_assert_cmpuint(next, ==, 10);
        event_queue_advance(queue);
        g_assert_cmpstr(due->str, ==, "2 5 ");
        event_queue_skip_to(queue, 15);
        g_assert_cmpuint(event_queue_now(queue), ==, 15);
        event_queue_advance(queue);
        g_assert_cmpstr(due->str, ==, "2 5 1 4 ");
        g_assert_false(event_queue_next(queue, &next));
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/event-queue/order", test_order);
        return g_test_run();
}
