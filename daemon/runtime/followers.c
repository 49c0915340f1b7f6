/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Makes the orders of on_finished when a run has finished, and carries them out from the main loop. A unit is started
 * by a run, too: of a tree with one StartUnit. So it is recovered, its failure has a cause, and the history has both.
 *
 * Rules come from the tree, and from the options of btd for all trees. Those do not apply to a run that on_finished has
 * started, or a pager that fails would page somebody about itself, and so on.
 *
 * An order is known until the run that it has started finishes, with the names of the trees that have led to it. No
 * tree is started that is one of them, or its chain would have no end.
 */

#include <inttypes.h>
#include <string.h>

#include "basic/boot-file.h"
#include "basic/cleanup.h"
#include "basic/foreach.h"
#include "basic/json-parse.h"
#include "basic/limit.h"
#include "basic/log.h"
#include "definition/on-finished.h"
#include "record/tokens.h"
#include "run/instance.h"
#include "runtime/followers.h"

#define FILE_NAME "followers"
/* This many orders can wait. A user with limits can have a quarter of them, all such users together a half. */
#define FOLLOWERS_MAX 1000u
/* So many digits of a checksum make a token. */
#define TOKEN_DIGITS 32u
/* As long as the name of an instance can be. */
#define RUN_MAX 100u

struct Followers {
        json_object *rules; /* for all trees, or NULL */
        BootFile *file;
        const FollowersCallbacks *callbacks;
        void *userdata;
        GPtrArray *orders; /* FollowerOrder, the oldest first */
};

typedef struct FollowerOrder {
        char *after;  /* the run that has finished */
        char **chain; /* the trees that have led to it, the one of that run last */
        char *tree, *instance, *token;
        json_object *variables; /* or NULL */
        uint32_t uid;
        char *run;       /* it has started this one; NULL: pending */
        char *waits_for; /* why it could not be started yet, or NULL */
} FollowerOrder;

/* An order and its token are made from these. */
typedef struct Cue {
        FinishedRun run;
        uint64_t started;
        uint32_t uid;
        const FollowerOrder *before; /* it has started this run; NULL: none */
} Cue;

static void order_free(void *data) {
        FollowerOrder *order = data;

        g_free(order->after);
        g_strfreev(order->chain);
        g_free(order->tree);
        g_free(order->instance);
        g_free(order->token);
        json_object_put(order->variables);
        g_free(order->run);
        g_free(order->waits_for);
        g_free(order);
}

Followers *followers_new(Timers *timers, const char *directory, json_object *rules, const FollowersCallbacks *callbacks,
                         void *userdata) {
        Followers *followers = g_new(Followers, 1);

        *followers = (Followers){
                .rules = json_object_get(rules),
                .file = boot_file_new(timers, directory, FILE_NAME),
                .callbacks = callbacks,
                .userdata = userdata,
                .orders = g_ptr_array_new_with_free_func(order_free),
        };
        return followers;
}

void followers_free(Followers *followers) {
        if (!followers)
                return;

        json_object_put(followers->rules);
        boot_file_free(followers->file);
        g_ptr_array_unref(followers->orders);
        g_free(followers);
}

static void save(const Followers *followers) {
        json_object *all = json_object_new_array();

        PTRS_FOREACH(const FollowerOrder, order, followers->orders) {
                json_object *json = json_object_new_object(), *chain = json_object_new_array();

                for (char **tree = order->chain; *tree; tree++)
                        json_object_array_add(chain, json_object_new_string(*tree));
                json_object_object_add(json, "after", json_object_new_string(order->after));
                json_object_object_add(json, "chain", chain);
                json_object_object_add(json, "tree", json_object_new_string(order->tree));
                json_object_object_add(json, "instance", json_object_new_string(order->instance));
                json_object_object_add(json, "token", json_object_new_string(order->token));
                json_object_object_add(json, "uid", json_object_new_int64(order->uid));
                if (order->variables)
                        json_object_object_add(json, "variables", json_object_get(order->variables));
                if (order->run)
                        json_object_object_add(json, "run", json_object_new_string(order->run));
                json_object_array_add(all, json);
        }

        boot_file_store(followers->file, all);
}

static void recover(Followers *followers, json_object *json) {
        const char *after = json_member_text(json, "after"), *tree = json_member_text(json, "tree"),
                   *instance = json_member_text(json, "instance"), *token = json_member_text(json, "token");
        json_object *chain = json_member(json, "chain", json_type_array),
                    *uid = json_member(json, "uid", json_type_int);
        FollowerOrder *order;
        size_t n;

        if (!after || !chain || !tree || !instance || !token || !uid)
                return;

        n = json_object_array_length(chain);
        order = g_new(FollowerOrder, 1);
        *order = (FollowerOrder){
                .after = g_strdup(after),
                .chain = g_new0(char *, n + 1),
                .tree = g_strdup(tree),
                .instance = g_strdup(instance),
                .token = g_strdup(token),
                .variables = json_object_get(json_member(json, "variables", json_type_object)),
                .uid = (uint32_t) json_object_get_int64(uid),
                .run = g_strdup(json_member_text(json, "run")),
        };
        for (size_t i = 0; i < n; i++)
                order->chain[i] = g_strdup(json_object_get_string(json_object_array_get_idx(chain, i)));
        g_ptr_array_add(followers->orders, order);
}

void followers_recover(Followers *followers) {
        g_autoptr(json_object) all = boot_file_open(followers->file);

        if (!json_object_is_type(all, json_type_array))
                return;

        for (size_t i = 0; i < json_object_array_length(all); i++)
                recover(followers, json_object_array_get_idx(all, i));
}

static FollowerOrder *find(const Followers *followers, const char *token) {
        PTRS_FOREACH(FollowerOrder, order, followers->orders)
                if (g_str_equal(order->token, token))
                        return order;

        return NULL;
}

/* The rule's number is part of it, because a tree can be started twice. */
static char *token_of(const Cue *cue, size_t rule) {
        g_autofree char *text = g_strdup_printf("%s %" G_GUINT64_FORMAT " %zu", cue->run.run, cue->started, rule),
                        *sum = g_compute_checksum_for_string(G_CHECKSUM_SHA256, text, -1);

        return g_strndup(sum, TOKEN_DIGITS);
}

/* Takes the chain. */
static void add(Followers *followers, const Cue *cue, size_t rule, Follower *follower, char **chain) {
        FollowerOrder *order = g_new(FollowerOrder, 1);
        const char *id = cue->run.run;

        *order = (FollowerOrder){
                .after = g_strdup(id),
                .chain = chain,
                .token = token_of(cue, rule),
                .uid = cue->uid,
        };
        if (follower->unit) {
                /* Each has an instance of its own, or a second one would have to wait for the first. */
                g_autofree char *text = g_strdup_printf("%s-%zu", id, rule + 1);

                order->tree = g_strdup(FOLLOWER_TREE);
                order->instance = g_strdup(text + (strlen(text) > RUN_MAX ? strlen(text) - RUN_MAX : 0));
                order->variables = json_object_new_object();
                json_object_object_add(order->variables, FOLLOWER_UNIT, json_object_new_string(follower->unit));
        } else {
                order->tree = g_steal_pointer(&follower->tree);
                order->instance = instance_name(follower->instance, true);
                order->variables = g_steal_pointer(&follower->inputs);
        }
        g_ptr_array_add(followers->orders, order);
}

/* NULL: there is room for another start; otherwise what has none. */
static char *find_full(const Followers *followers, uint32_t uid) {
        unsigned n = followers->orders->len, of_user = 0, of_users = 0;

        if (n >= FOLLOWERS_MAX)
                return g_strdup_printf("%u starts are pending", n);
        if (!limits_bind(uid))
                return NULL;

        PTRS_FOREACH(const FollowerOrder, order, followers->orders) {
                of_user += order->uid == uid;
                of_users += limits_bind(order->uid);
        }
        if (of_user >= FOLLOWERS_MAX / 4)
                return g_strdup_printf("%u starts of UID %" PRIu32 " are pending", of_user, uid);
        return of_users >= FOLLOWERS_MAX / 2 ? g_strdup_printf("%u starts of users are pending", of_users) : NULL;
}

/* general: the rule is for all trees, so also for the one that it starts. */
static void order_rule(Followers *followers, const Cue *cue, size_t rule, bool general, json_object *json) {
        const LogSubject subject = { .tree = cue->run.tree, .run = cue->run.run };
        g_autofree char *error = NULL, *token = token_of(cue, rule), *full = NULL;
        g_autoptr(GStrvBuilder) trees = g_strv_builder_new();
        g_auto(GStrv) chain = NULL;
        g_auto(Follower) follower = {};

        /* btd was killed after this, but before it noted that the run has finished. */
        if (find(followers, token))
                return;

        if (cue->before)
                g_strv_builder_addv(trees, (const char **) cue->before->chain);
        g_strv_builder_add(trees, cue->run.tree);
        chain = g_strv_builder_end(trees);

        if (on_finished_expand(json, &cue->run, &follower, &error) < 0)
                log_message(LOG_WARNING, &subject, "on_finished: nothing is started: %s", error);
        else if (follower.tree && g_strv_contains((const char *const *) chain, follower.tree)) {
                g_autofree char *way = g_strjoinv(" -> ", chain);

                if (general)
                        return;
                log_message(LOG_WARNING, &subject,
                            "on_finished: tree '%s' is not started, because it has led to this: %s", follower.tree,
                            way);
        } else if ((full = find_full(followers, cue->uid)))
                log_message(LOG_WARNING, &subject, "on_finished: nothing is started, because %s", full);
        else
                add(followers, cue, rule, &follower, g_steal_pointer(&chain));
}

static void order_rules(Followers *followers, const Cue *cue, const Definition *definition) {
        json_object *rules = definition_header(definition)->on_finished;
        size_t n_own = rules ? json_object_array_length(rules) : 0,
               n_all = n_own + (followers->rules && !cue->before ? json_object_array_length(followers->rules) : 0);

        for (size_t i = 0; i < n_all; i++) {
                json_object *rule = i < n_own ? json_object_array_get_idx(rules, i)
                                              : json_object_array_get_idx(followers->rules, i - n_own);

                if (on_finished_applies(rule, cue->run.result))
                        order_rule(followers, cue, i, i >= n_own, rule);
        }
}

static void drop(Followers *followers, unsigned i) {
        const FollowerOrder *order = followers->orders->pdata[i];
        g_autofree char *after = g_strdup(order->after), *tree = g_strdup(order->tree);

        g_ptr_array_remove_index(followers->orders, i);
        save(followers);
        followers->callbacks->changed(after, tree, followers->userdata);
}

static bool has_ended(const Followers *followers, const FollowerOrder *order) {
        return order->run &&
               !followers->callbacks->is_live(order->tree, order->instance, order->token, followers->userdata);
}

void followers_prune(Followers *followers) {
        for (unsigned i = followers->orders->len; i-- > 0;)
                if (has_ended(followers, followers->orders->pdata[i]))
                        drop(followers, i);
}

void followers_finished(Followers *followers, const Run *run, bool orders) {
        const Cue cue = {
                .run = { run_id(run), run_tree(run), run_instance(run), run_status_text(run), run_cause(run) },
                .started = run_started(run),
                .uid = run_caller(run),
                .before = find(followers, run_token(run)),
        };
        unsigned n = followers->orders->len, at;

        if (orders)
                order_rules(followers, &cue, run_definition(run));
        if (g_ptr_array_find(followers->orders, cue.before, &at))
                drop(followers, at);
        else if (followers->orders->len > n)
                save(followers);
}

void followers_lost(Followers *followers, const RecordHeader *header, const Definition *definition, const char *cause) {
        const Cue cue = {
                .run = { header->run, header->tree, header->instance, STATUS_LOST, cause },
                .started = header->started,
                .uid = header->uid,
                .before = find(followers, header->token),
        };

        order_rules(followers, &cue, definition);
        save(followers);
}

static void carry_out(Followers *followers, FollowerOrder *pending) {
        g_autofree char *starter = g_strconcat("on_finished of ", pending->after, NULL), *why = NULL,
                        *after = g_strdup(pending->after), *tree = g_strdup(pending->tree);
        const Order order = {
                .tree = pending->tree,
                .instance = pending->instance,
                .variables = pending->variables,
                .starter = starter,
                .token = pending->token,
                .uid = pending->uid,
        };
        char *run = NULL;

        if (followers->callbacks->start(&order, &run, &why, followers->userdata)) {
                g_clear_pointer(&pending->waits_for, g_free);
                pending->run = run;
                /* Nothing was to be started, or that had been done before btd was killed. */
                if (!run || has_ended(followers, pending))
                        g_ptr_array_remove(followers->orders, pending);
                save(followers);
        } else if (!why || g_strcmp0(why, pending->waits_for) == 0)
                return;
        else {
                log_message(LOG_WARNING, &(LogSubject){ .tree = pending->tree, .run = after },
                            "not started by on_finished yet: %s", why);
                g_free(pending->waits_for);
                pending->waits_for = g_steal_pointer(&why);
        }
        followers->callbacks->changed(after, tree, followers->userdata);
}

void followers_continue(Followers *followers) {
        g_autoptr(GPtrArray) pending = g_ptr_array_new();

        PTRS_FOREACH(FollowerOrder, order, followers->orders)
                if (!order->run)
                        g_ptr_array_add(pending, order);
        /* A start cannot remove others. */
        PTRS_FOREACH(FollowerOrder, order, pending)
                carry_out(followers, order);
}

bool followers_wait(const Followers *followers) {
        PTRS_FOREACH(const FollowerOrder, order, followers->orders)
                if (!order->run)
                        return true;

        return false;
}

unsigned followers_cancel(Followers *followers, const char *run, const char *tree, const char *instance) {
        unsigned n = 0;

        for (unsigned i = followers->orders->len; i-- > 0;) {
                const FollowerOrder *order = followers->orders->pdata[i];

                if (order->run || (run && !g_str_equal(order->after, run)) ||
                    (tree && !g_str_equal(order->tree, tree)) || (instance && !g_str_equal(order->instance, instance)))
                        continue;

                drop(followers, i);
                n++;
        }

        return n;
}

char *followers_describe(const Followers *followers, const char *run) {
        g_autoptr(GString) text = g_string_new(NULL);

        PTRS_FOREACH(const FollowerOrder, order, followers->orders) {
                g_autofree char *what = NULL;
                json_object *unit;

                if (!g_str_equal(order->after, run))
                        continue;

                /* "pager", "pager@boot.3", or the unit. To be freed. */
                unit = g_str_equal(order->tree, FOLLOWER_TREE)
                               ? json_member(order->variables, FOLLOWER_UNIT, json_type_string)
                               : NULL;
                what = unit ? g_strdup(json_object_get_string(unit))
                            : g_strconcat(order->tree, *order->instance ? "@" : "", order->instance, NULL);
                g_string_append_printf(text, "%s%s %s", text->len > 0 ? ", " : "then ",
                                       order->run ? "started" : "starts", what);
                if (order->run)
                        g_string_append_printf(text, " (%s)", order->run);
                else if (order->waits_for)
                        g_string_append_printf(text, " (not yet: %s)", order->waits_for);
        }

        return text->len > 0 ? g_string_free(g_steal_pointer(&text), FALSE) : NULL;
}

char *followers_describe_waiting(const Followers *followers, const char *tree) {
        PTRS_FOREACH(const FollowerOrder, order, followers->orders)
                if (order->waits_for && g_str_equal(order->tree, tree))
                        return g_strdup_printf("start after %s waits: %s", order->after, order->waits_for);

        return NULL;
}

void followers_list(const Followers *followers, GPtrArray *names) {
        PTRS_FOREACH(const FollowerOrder, order, followers->orders)
                if (order->waits_for)
                        g_ptr_array_add(names, g_strdup(order->tree));
}
