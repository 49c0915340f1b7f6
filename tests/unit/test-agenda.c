/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Simulated time, which jumps. */

#include "../../client/agenda.h"
#include "basic/span.h"

static void on_due(NodeId node, void *userdata) {
        g_string_append_printf(userdata, "%u ", node);
}

static void test_order(void) {
        g_autoptr(Agenda) agenda = agenda_new();
        g_autoptr(GString) due = g_string_new(NULL);
        AgendaEntry *dropped;
        uint64_t next;

        agenda_add(agenda, 20, on_due, 1, due);
        agenda_add(agenda, 10, on_due, 2, due);
        dropped = agenda_add(agenda, 10, on_due, 3, due);
        agenda_add(agenda, 20, on_due, 4, due);
        agenda_add(agenda, 10, on_due, 5, due);
        g_assert_null(agenda_add(agenda, SPAN_INFINITY, on_due, 6, due));
        agenda_drop(dropped);

        g_assert_true(agenda_next(agenda, &next));
        g_assert_cmpuint(next, ==, 10);
        agenda_advance(agenda);
        g_assert_cmpstr(due->str, ==, "2 5 ");
        agenda_skip_to(agenda, 15);
        g_assert_cmpuint(agenda_now(agenda), ==, 15);
        agenda_advance(agenda);
        g_assert_cmpstr(due->str, ==, "2 5 1 4 ");
        g_assert_false(agenda_next(agenda, &next));
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/agenda/order", test_order);
        return g_test_run();
}
