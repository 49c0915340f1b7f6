/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <glib.h>
#include <inttypes.h>
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
        int64_t kept;         /* the value of "k" */
} Order;

#define RULES_MOST 2u

typedef struct FollowRule {
        unsigned target;
        const char *results; /* NULL: there is no rule */
} FollowRule;

static struct {
        GPtrArray *all; /* of Order, as they have begun */
        struct {
                bool halted;
                unsigned burst; /* 0: it is not restarted */
                FollowRule rules[RULES_MOST];
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

void orders_expect_follower(unsigned tree, unsigned rule, unsigned target, const char *results) {
        orders.trees[tree].rules[rule] = (FollowRule){ .target = target, .results = results };
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

static Order *find(unsigned tree, unsigned number) {
        for (unsigned i = orders.all->len; i-- > 0;) {
                Order *order = orders.all->pdata[i];

                if (order->tree == tree && order->number == number)
                        return order;
        }

        return NULL;
}

static bool is_strict(const Order *order) {
        return ledger_is_strict(order->tree);
}

static bool is_restart(const Order *order) {
        return g_str_equal(order->header.starter, "restart");
}

static bool is_follower(const Order *order) {
        return g_str_has_prefix(order->header.starter, "on_finished of ");
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

static void check_follower(const Order *order) {
        for (unsigned i = 0; i < orders.all->len; i++) {
                const Order *other = orders.all->pdata[i];

                if (other != order && is_follower(other) && is_same_instance(other, order) &&
                    g_str_equal(other->header.starter, order->header.starter))
                        violation("t%u.%u is the '%s' again, after t%u.%u", order->tree, order->number,
                                  order->header.starter, other->tree, other->number);
        }
}

/* Escaped texts of the files, which have it, too, do not count. */
static int64_t kept_in(const char *text, int64_t otherwise) {
        const char *found = g_strrstr(text, "\"k\":");

        return found ? g_ascii_strtoll(found + strlen("\"k\":"), NULL, 10) : otherwise;
}

static void check_kept(const Order *order) {
        const Order *last = before(order);

        if (last && last->kept != order->kept)
                violation("t%u.%u begins with the kept value %" PRIi64 ", and t%u.%u has left %" PRIi64, order->tree,
                          order->number, order->kept, last->tree, last->number, last->kept);
}

void orders_note_computed(unsigned tree, unsigned number, const char *details) {
        Order *order = find(tree, number);

        if (order)
                order->kept = kept_in(details, order->kept);
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
        order->kept = kept_in(header, 0);
        g_ptr_array_add(orders.all, order);
        if (is_restart(order))
                check_restart(order);
        if (!is_strict(order))
                return;
        check_kept(order);
        if (is_follower(order))
                check_follower(order);
        if (!is_restart(order))
                check_token(order);
        if (is_autostart(order))
                check_autostart(order);
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

/* A run that follows is a restart, or a user has started it in place of one that was due. */
static void check_followers(const Order *order) {
        const FollowRule *rules = orders.trees[order->tree].rules;

        for (unsigned i = 0; i < RULES_MOST && rules[i].results; i++) {
                g_autofree char *instance = g_strdup_printf("t%u.%u-%u", order->tree, order->number, i);
                g_auto(GStrv) results = g_strsplit(rules[i].results, " ", -1);
                bool found = false;

                if (!order->status || !g_strv_contains((const char *const *) results, order->status) ||
                    was_halted_by_stop(order) || orders.trees[rules[i].target].halted ||
                    !ledger_is_strict(rules[i].target))
                        continue;

                for (unsigned k = 0; k < orders.all->len; k++) {
                        const Order *other = orders.all->pdata[k];

                        found |= other->tree == rules[i].target && g_str_equal(other->header.instance, instance);
                        found |= orders.trees[order->tree].burst > 0 && other->number > order->number &&
                                 is_same_instance(other, order);
                }
                if (!found)
                        violation("t%u.%u has finished: %s, and t%u was not started as '%s'", order->tree,
                                  order->number, order->status, rules[i].target, instance);
        }
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
                if (order->tree == tree)
                        check_followers(order);
        }
}
