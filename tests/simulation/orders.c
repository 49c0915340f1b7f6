/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <glib.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "ledger.h"
#include "orders.h"
#include "record/record-header.h"
#include "simulation.h"
#include "trace.h"
#include "troubles.h"

typedef struct Order {
        unsigned tree, number;
        RecordHeader header;
        char *status, *cause; /* NULL: it has not finished */
        unsigned rank;        /* among the finished runs of all trees */
        unsigned n_restarts;  /* of its series, with this one */
} Order;

static struct {
        GPtrArray *all; /* of Order, as they have begun */
        struct {
                bool halted;
                unsigned burst; /* 0: it is not restarted */
        } trees[TREES_MOST];
        unsigned history, n_finished;
} orders;

static void order_free(void *data) {
        Order *order = data;

        record_header_clear(&order->header);
        g_free(order->status);
        g_free(order->cause);
        g_free(order);
}

void orders_open(void) {
        memset(&orders, 0, sizeof(orders));
        orders.all = g_ptr_array_new_with_free_func(order_free);
        orders.history = UINT_MAX;
}

void orders_close(void) {
        g_clear_pointer(&orders.all, g_ptr_array_unref);
}

void orders_expect_restarts(unsigned tree, unsigned burst) {
        orders.trees[tree].burst = burst;
}

void orders_set_history(unsigned most) {
        orders.history = most;
}

unsigned orders_history(void) {
        return orders.history;
}

void orders_note_halt(unsigned tree) {
        orders.trees[tree].halted = true;
}

bool orders_was_halted(unsigned tree) {
        return orders.trees[tree].halted;
}

static bool is_strict(const Order *order) {
        return ledger_is_strict(order->tree);
}

static bool is_restart(const Order *order) {
        return g_str_equal(order->header.starter, "restart");
}

static bool is_autostart(const Order *order) {
        return g_str_equal(order->header.starter, "autostart");
}

static bool is_same_instance(const Order *one, const Order *other) {
        return one->tree == other->tree && g_str_equal(one->header.instance, other->header.instance);
}

/* The last run of the same instance before this one; NULL: there is none. */
static const Order *before(const Order *order) {
        const Order *last = NULL;

        for (unsigned i = 0; i < orders.all->len && orders.all->pdata[i] != order; i++)
                if (is_same_instance(orders.all->pdata[i], order))
                        last = orders.all->pdata[i];

        return last;
}

static bool was_halted_by_stop(const Order *order) {
        return g_strcmp0(order->status, "halted") == 0 && strstr(order->cause, "btd is stopping");
}

static void check_autostart(const Order *order) {
        const Order *last = before(order);
        bool known = false;

        for (unsigned i = 0; i < orders.all->len; i++) {
                const Order *other = orders.all->pdata[i];

                known |= other != order && is_same_instance(other, order) && is_autostart(other);
        }
        if (!known || !last || was_halted_by_stop(last))
                return;

        violation("t%u.%u is started automatically, and t%u.%u was before, which %s%s", order->tree, order->number,
                  last->tree, last->number, last->status ? "has finished: " : "runs", last->status ?: "");
}

static void check_restart(Order *order) {
        const Order *last = before(order);

        /* A number can be lost with the run that a full disk did not keep. */
        if (!last)
                return;

        order->n_restarts = last->n_restarts + 1;
        if (!is_strict(order))
                return;
        if (order->header.uid != last->header.uid && troubles_check(TROUBLE_ROOM))
                violation("t%u.%u is restarted for UID %u, and t%u.%u was of UID %u", order->tree, order->number,
                          order->header.uid, last->tree, last->number, last->header.uid);
        if (!g_str_equal(order->header.token, last->header.token))
                violation("t%u.%u is restarted with the token '%s', and t%u.%u had '%s'", order->tree, order->number,
                          order->header.token, last->tree, last->number, last->header.token);
}

/* The history may have dropped the run, which is the oldest then. */
static bool is_kept(const Order *order) {
        return !order->status || orders.n_finished - order->rank < orders.history;
}

static void check_token(const Order *order) {
        for (unsigned i = 0; i < orders.all->len; i++) {
                const Order *other = orders.all->pdata[i];

                if (other != order && is_same_instance(other, order) && is_kept(other) &&
                    g_str_equal(other->header.token, order->header.token))
                        violation("the token '%s' starts t%u.%u, and has started t%u.%u", order->header.token,
                                  order->tree, order->number, other->tree, other->number);
        }
}

void orders_note_begun(unsigned tree, unsigned number, const char *header) {
        g_autofree char *error = NULL;
        Order *order = g_new0(Order, 1);

        order->tree = tree;
        order->number = number;
        if (record_header_parse_start(header, strlen(header), &order->header, &error) < 0)
                g_error("t%u.%u: %s", tree, number, error);

        trace("t%u.%u begins: %s, token '%s', instance '%s'", tree, number, order->header.starter, order->header.token,
              order->header.instance);
        g_ptr_array_add(orders.all, order);
        if (is_restart(order))
                check_restart(order);
        if (!is_strict(order))
                return;
        if (!is_restart(order))
                check_token(order);
        if (is_autostart(order))
                check_autostart(order);
}

static Order *find(unsigned tree, unsigned number) {
        for (unsigned i = orders.all->len; i-- > 0;) {
                Order *order = orders.all->pdata[i];

                if (order->tree == tree && order->number == number)
                        return order;
        }

        return NULL;
}

void orders_note_finished(unsigned tree, unsigned number, const char *details) {
        Order *order = find(tree, number);
        char status[32] = "";

        if (!order || order->status)
                return;

        (void) sscanf(details, "{\"status\":\"%31[a-z]", status);
        order->status = g_strdup(status);
        order->cause = g_strdup(details);
        order->rank = ++orders.n_finished;
}

void orders_forget(unsigned tree, unsigned number) {
        Order *order = find(tree, number);

        if (order)
                g_ptr_array_remove(orders.all, order);
}

static const Order *last_of_token(unsigned tree, const char *token) {
        const Order *last = NULL;

        for (unsigned i = 0; i < orders.all->len; i++) {
                const Order *order = orders.all->pdata[i];

                if (order->tree == tree && g_str_equal(order->header.token, token))
                        last = order;
        }

        return last;
}

unsigned orders_last_of_token(unsigned tree, const char *token) {
        const Order *last = last_of_token(tree, token);

        return last ? last->number : 0;
}

uint32_t orders_uid(unsigned tree, unsigned number) {
        const Order *order = find(tree, number);

        return order ? order->header.uid : 0;
}

const char *orders_status(unsigned tree, unsigned number) {
        const Order *order = find(tree, number);

        return order ? order->status : NULL;
}

bool orders_must_know(unsigned tree, const char *token) {
        const Order *last = last_of_token(tree, token);

        return last && is_strict(last) && is_kept(last);
}

static void check_last(const Order *order) {
        bool failed = g_strcmp0(order->status, "failure") == 0 || g_strcmp0(order->status, "error") == 0;

        if (failed && order->n_restarts < orders.trees[order->tree].burst)
                violation("t%u.%u has failed, and was not restarted", order->tree, order->number);
        if (troubles_check(TROUBLE_CUT) && was_halted_by_stop(order) && ledger_expects_run(order->tree) &&
            *order->header.instance == '\0')
                violation("t%u.%u was halted when a daemon stopped, and is not started automatically again",
                          order->tree, order->number);
}

/* A halt of a user may have come in time or not. */
void orders_check(unsigned tree) {
        for (unsigned i = 0; i < orders.all->len && !orders.trees[tree].halted; i++) {
                const Order *order = orders.all->pdata[i];
                bool last = order->tree == tree;

                for (unsigned k = i + 1; k < orders.all->len; k++)
                        last &= !is_same_instance(orders.all->pdata[k], order);
                if (last)
                        check_last(order);
        }
}
