/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Decides when runs are restarted. Restarts within the interval count against the limit, and the delay grows with
 * each. A tree that has reached its limit is not restarted until a user starts it.
 */

#include <glib/gstdio.h>
#include <inttypes.h>
#include <string.h>

#include "basic/boot-file.h"
#include "basic/cleanup.h"
#include "basic/foreach.h"
#include "basic/json-parse.h"
#include "basic/json-weight.h"
#include "basic/log.h"
#include "basic/span.h"
#include "runtime/restarts.h"
#include "script/blackboard.h"

#define FILE_NAME "restarts"
/* With more bytes, the variables of a restart have a file of their own, because the other one is often written. */
#define BYTES_INSIDE 4096u
#define OWN_FILE_PREFIX "restart-"

struct Restarts {
        Timers *timers;
        char *directory; /* or NULL */
        BootFile *file;
        const RestartsCallbacks *callbacks;
        void *userdata;
        GHashTable *by_key; /* tree and instance -> Restart */
        bool leaving;       /* the next btd does the pending restarts */
};

/* The restarts of one instance of a tree. */
typedef struct Restart {
        Restarts *restarts;
        char *tree, *instance;
        char *run;              /* id of the last run */
        char *token;            /* its token; NULL: unknown */
        uint32_t uid;           /* its owner */
        json_object *variables; /* the variables of its start, or NULL */
        uint64_t bytes;         /* of these */
        char *own_file;         /* its name, if these have one; or NULL */
        BootFile *own;          /* that file, if this btd has written it; or NULL */
        int64_t burst;          /* the limit, from the last run's tree */
        GArray *times;          /* int64_t: times of the last restarts, CLOCK_MONOTONIC */
        Timer *timer;           /* until the restart; NULL: none is pending */
        char *waits_for;        /* it is due, and this is why it could not be done yet; or NULL */
        char *given_up;         /* why it is not restarted any more, or NULL */
} Restart;

/* What is stored stays for the next btd. */
static void restart_free(Restart *restart) {
        timer_free(restart->timer);
        json_object_put(restart->variables);
        g_free(restart->own_file);
        g_array_unref(restart->times);
        g_free(restart->tree);
        g_free(restart->instance);
        g_free(restart->run);
        g_free(restart->token);
        boot_file_free(restart->own);
        g_free(restart->waits_for);
        g_free(restart->given_up);
        g_free(restart);
}

Restarts *restarts_new(Timers *timers, const char *directory, const RestartsCallbacks *callbacks, void *userdata) {
        Restarts *restarts = g_new(Restarts, 1);

        *restarts = (Restarts){
                .timers = timers,
                .directory = g_strdup(directory),
                .file = boot_file_new(timers, directory, FILE_NAME),
                .callbacks = callbacks,
                .userdata = userdata,
                .by_key = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify) restart_free),
        };
        return restarts;
}

void restarts_free(Restarts *restarts) {
        if (!restarts)
                return;

        g_hash_table_unref(restarts->by_key);
        boot_file_free(restarts->file);
        g_free(restarts->directory);
        g_free(restarts);
}

/* Unique, because names have no slashes. */
static char *key_of(const char *tree, const char *instance) {
        return g_strconcat(tree, "/", instance, NULL);
}

static Restart *find(const Restarts *restarts, const char *tree, const char *instance) {
        g_autofree char *key = key_of(tree, instance);

        return g_hash_table_lookup(restarts->by_key, key);
}

static void save(const Restarts *restarts) {
        json_object *all = json_object_new_array();
        const Restart *restart;

        TABLE_FOREACH(restart, restarts->by_key) {
                json_object *json = json_object_new_object(), *times = json_object_new_array();

                for (unsigned i = 0; i < restart->times->len; i++)
                        json_object_array_add(times, json_object_new_int64(g_array_index(restart->times, int64_t, i)));

                json_object_object_add(json, "tree", json_object_new_string(restart->tree));
                json_object_object_add(json, "instance", json_object_new_string(restart->instance));
                json_object_object_add(json, "run", json_object_new_string(restart->run));
                if (restart->token)
                        json_object_object_add(json, "token", json_object_new_string(restart->token));
                json_object_object_add(json, "uid", json_object_new_int64(restart->uid));
                if (restart->own_file)
                        json_object_object_add(json, "file", json_object_new_string(restart->own_file));
                else
                        json_object_object_add(json, "variables", json_object_get(restart->variables));
                json_object_object_add(json, "burst", json_object_new_int64(restart->burst));
                json_object_object_add(json, "times", times);
                if (restart->timer)
                        json_object_object_add(json, "due", json_object_new_uint64(timer_deadline(restart->timer)));
                if (restart->given_up)
                        json_object_object_add(json, "given_up", json_object_new_string(restart->given_up));

                json_object_array_add(all, json);
        }

        boot_file_store(restarts->file, all);
}

static void remove_file(const Restarts *restarts, const char *name) {
        g_autofree char *path = name && restarts->directory ? g_build_filename(restarts->directory, name, NULL) : NULL,
                        *spare = path ? g_strconcat(path, ".new", NULL) : NULL;

        if (!path)
                return;

        (void) g_unlink(path);
        (void) g_unlink(spare);
}

static void drop(Restarts *restarts, const char *tree, const char *instance) {
        const Restart *restart = find(restarts, tree, instance);
        g_autofree char *key = key_of(tree, instance), *file = restart ? g_strdup(restart->own_file) : NULL;

        if (!g_hash_table_remove(restarts->by_key, key))
                return;

        save(restarts);
        remove_file(restarts, file);
}

static Restart *get(Restarts *restarts, const char *tree, const char *instance) {
        Restart *restart = find(restarts, tree, instance);

        if (!restart) {
                restart = g_new0(Restart, 1);
                restart->restarts = restarts;
                restart->tree = g_strdup(tree);
                restart->instance = g_strdup(instance);
                restart->times = g_array_new(FALSE, FALSE, sizeof(int64_t));
                g_hash_table_insert(restarts->by_key, key_of(tree, instance), restart);
        }

        return restart;
}

static void take_variables(Restart *restart, json_object *variables) {
        json_object *before = restart->variables;

        restart->variables = json_object_get(variables);
        restart->bytes = variables ? json_weight(variables) : 0;
        json_object_put(before);
}

static void set_variables(Restart *restart, json_object *variables) {
        const Restarts *restarts = restart->restarts;
        g_autofree char *name = NULL;

        if (variables == restart->variables)
                return;

        take_variables(restart, variables);
        if (restart->bytes > BYTES_INSIDE && restarts->directory) {
                g_autofree char *key = key_of(restart->tree, restart->instance),
                                *text = g_strconcat(
                                        key, json_object_to_json_string_ext(variables, JSON_C_TO_STRING_PLAIN), NULL),
                                *sum = g_compute_checksum_for_string(G_CHECKSUM_SHA256, text, -1);

                name = g_strconcat(OWN_FILE_PREFIX, sum, NULL);
        }
        if (g_strcmp0(name, restart->own_file) == 0)
                return;

        /* If the new one cannot be written, the next btd must not find earlier variables under its name. */
        remove_file(restarts, restart->own_file);
        g_clear_pointer(&restart->own, boot_file_free);
        g_free(restart->own_file);
        restart->own_file = g_steal_pointer(&name);
        if (!restart->own_file)
                return;

        restart->own = boot_file_new(restarts->timers, restarts->directory, restart->own_file);
        boot_file_store(restart->own, json_object_get(variables));
}

static void forget_pending(Restart *restart) {
        g_clear_pointer(&restart->timer, timer_free);
        g_clear_pointer(&restart->waits_for, g_free);
}

/* The restart stays pending until the new run exists. */
static void on_due(void *userdata) {
        Restart *restart = userdata;
        const Restarts *restarts = restart->restarts;
        Order order = {
                .tree = restart->tree,
                .instance = restart->instance,
                .variables = restart->variables,
                .token = restart->token,
                .uid = restart->uid,
        };
        g_autofree char *why = NULL;

        if (restarts->leaving)
                return;
        if (restarts->callbacks->due(&order, &why, restarts->userdata)) {
                forget_pending(restart);
                save(restarts);
                restarts->callbacks->changed(restart->tree, restart->instance, restarts->userdata);
                return;
        }
        if (!why || g_strcmp0(why, restart->waits_for) == 0)
                return;

        log_message(LOG_WARNING, &(LogSubject){ .tree = restart->tree, .run = restart->run }, "not restarted yet: %s",
                    why);
        g_free(restart->waits_for);
        restart->waits_for = g_steal_pointer(&why);
        restarts->callbacks->changed(restart->tree, restart->instance, restarts->userdata);
}

void restarts_retry(Restarts *restarts) {
        uint64_t now = (uint64_t) g_get_monotonic_time();
        Restart *restart;

        TABLE_FOREACH(restart, restarts->by_key) {
                uint64_t deadline = restart->timer ? timer_deadline(restart->timer) : UINT64_MAX;

                if (deadline > now)
                        continue;

                timer_free(restart->timer);
                restart->timer = timer_new_at(restarts->timers, deadline, on_due, restart);
        }
}

static void recover(Restarts *restarts, json_object *json) {
        const char *tree = json_member_text(json, "tree"), *instance = json_member_text(json, "instance"),
                   *run = json_member_text(json, "run"), *file = json_member_text(json, "file");
        json_object *burst = json_member(json, "burst", json_type_int),
                    *times = json_member(json, "times", json_type_array),
                    *due = json_member(json, "due", json_type_int), *uid = json_member(json, "uid", json_type_int);
        g_autoptr(json_object) stored = file ? boot_file_read(restarts->directory, file) : NULL;
        Restart *restart;

        if (!tree || !instance || !run || !burst || !times || !uid)
                return;
        if (file && !stored) {
                log_message(LOG_WARNING, &(LogSubject){ .tree = tree, .run = run },
                            "not restarted: the previous btd could not store the variables; start it again");
                return;
        }

        restart = get(restarts, tree, instance);
        restart->run = g_strdup(run);
        restart->token = g_strdup(json_member_text(json, "token"));
        restart->uid = (uint32_t) json_object_get_int64(uid);
        take_variables(restart, file ? stored : json_member(json, "variables", json_type_object));
        restart->own_file = g_strdup(file);
        restart->given_up = g_strdup(json_member_text(json, "given_up"));
        restart->burst = json_object_get_int64(burst);
        for (size_t i = 0; i < json_object_array_length(times); i++) {
                int64_t time = json_object_get_int64(json_object_array_get_idx(times, i));

                g_array_append_val(restart->times, time);
        }
        if (due)
                restart->timer = timer_new_at(restarts->timers, json_object_get_uint64(due), on_due, restart);
}

void restarts_recover(Restarts *restarts) {
        g_autoptr(json_object) all = boot_file_open(restarts->file);
        g_autoptr(GDir) directory = NULL;
        const char *name;

        if (!json_object_is_type(all, json_type_array))
                return;

        for (size_t i = 0; i < json_object_array_length(all); i++)
                recover(restarts, json_object_array_get_idx(all, i));
        /* The previous btd was killed before it removed the file. */
        directory = restarts->directory ? g_dir_open(restarts->directory, 0, NULL) : NULL;
        while (directory && (name = g_dir_read_name(directory))) {
                const Restart *restart;
                bool used = false;

                if (!g_str_has_prefix(name, OWN_FILE_PREFIX))
                        continue;
                TABLE_FOREACH(restart, restarts->by_key)
                        used |= g_strcmp0(restart->own_file, name) == 0;
                if (!used)
                        remove_file(restarts, name);
        }
}

void restarts_begun(Restarts *restarts, const char *tree, const char *instance) {
        Restart *restart = find(restarts, tree, instance);

        if (restart)
                forget_pending(restart);
}

void restarts_replace(Restarts *restarts, const char *tree, const char *instance) {
        bool pending = restarts_find_due(restarts, tree, instance, NULL);

        drop(restarts, tree, instance);
        if (pending)
                restarts->callbacks->changed(tree, instance, restarts->userdata);
}

void restarts_leave(Restarts *restarts) {
        restarts->leaving = true;
}

void restarts_consider(Restarts *restarts, const Run *run) {
        const RestartPolicy *policy = &definition_header(run_definition(run))->restart;
        int64_t now = g_get_monotonic_time();
        Restart *restart;
        unsigned old = 0;

        if (!restart_is_wanted(policy, run_status(run))) {
                drop(restarts, run_tree(run), run_instance(run));
                return;
        }

        restart = get(restarts, run_tree(run), run_instance(run));
        if (restart->run && g_str_equal(restart->run, run_id(run)))
                return;

        g_free(restart->run);
        restart->run = g_strdup(run_id(run));
        g_free(restart->token);
        restart->token = g_strdup(run_token(run));
        restart->uid = run_caller(run);
        set_variables(restart, run_given(run));
        restart->burst = policy->limit->burst;
        /* The stored restart is obsolete: btd was killed before it removed it, but after the new run was started. */
        forget_pending(restart);
        g_clear_pointer(&restart->given_up, g_free);

        while (old < restart->times->len &&
               (uint64_t) (now - g_array_index(restart->times, int64_t, old)) >= policy->limit->interval)
                old++;
        if (old > 0)
                g_array_remove_range(restart->times, 0, old);

        if (restart->times->len < restart->burst) {
                g_array_append_val(restart->times, now);
                restart->timer = timer_new(restarts->timers,
                                           backoff_delay(policy->backoff, restart->times->len, g_random_double()),
                                           on_due, restart);
        } else {
                g_autofree char *span = span_format(policy->limit->interval);

                restart->given_up = g_strdup_printf("it was restarted %" PRIi64 " time%s within %s, which is the limit",
                                                    restart->burst, restart->burst == 1 ? "" : "s", span);
        }

        save(restarts);
}

static bool is_chosen(const Restart *restart, const RestartChoice *choice) {
        return (!choice->run || g_strcmp0(restart->run, choice->run) == 0) &&
               (!choice->tree || g_str_equal(restart->tree, choice->tree)) &&
               (!choice->instance || g_str_equal(restart->instance, choice->instance)) &&
               (!choice->token || g_strcmp0(restart->token, choice->token) == 0) &&
               (restart->timer || !(choice->run || choice->token));
}

unsigned restarts_cancel(Restarts *restarts, const RestartChoice *choice, const char *why) {
        g_autoptr(GPtrArray) pending = g_ptr_array_new();
        unsigned n = g_hash_table_size(restarts->by_key);
        GHashTableIter iter;
        void *value;

        g_hash_table_iter_init(&iter, restarts->by_key);
        while (g_hash_table_iter_next(&iter, NULL, &value)) {
                const Restart *restart = value;

                if (!is_chosen(restart, choice))
                        continue;
                if (restart->timer)
                        g_ptr_array_add(pending, value);
                else if (!restart->given_up) {
                        remove_file(restarts, restart->own_file);
                        g_hash_table_iter_remove(&iter);
                }
        }

        PTRS_FOREACH(Restart, restart, pending) {
                forget_pending(restart);
                g_array_set_size(restart->times, 0);
                restart->given_up = g_strdup(why);
                if (why)
                        log_message(LOG_NOTICE, &(LogSubject){ .tree = restart->tree, .run = restart->run },
                                    "not restarted: %s", why);
                restarts->callbacks->dropped(restart->run, restart->tree, restart->instance, restarts->userdata);
        }

        if (pending->len > 0 || g_hash_table_size(restarts->by_key) < n)
                save(restarts);
        return pending->len;
}

const char *restarts_find_due(const Restarts *restarts, const char *tree, const char *instance, const char *token) {
        const Restart *restart = find(restarts, tree, instance);

        return restart && restart->timer && (!token || g_strcmp0(restart->token, token) == 0) ? restart->run : NULL;
}

void restarts_forget(Restarts *restarts, const char *tree, const char *instance) {
        const Restart *restart = find(restarts, tree, instance);

        if (restart && !restart->timer)
                drop(restarts, tree, instance);
}

bool restarts_wait(const Restarts *restarts) {
        const Restart *restart;

        TABLE_FOREACH(restart, restarts->by_key)
                if (restart->waits_for)
                        return true;

        return false;
}

void restarts_list(const Restarts *restarts, GPtrArray *names) {
        const Restart *restart;

        TABLE_FOREACH(restart, restarts->by_key)
                if (restart->timer && *restart->instance == '\0')
                        g_ptr_array_add(names, g_strdup(restart->tree));
}

static int compare_runs(const void *a, const void *b) {
        const PendingRestart *first = a, *second = b;

        return strcmp(first->run, second->run);
}

GArray *restarts_of_tree(const Restarts *restarts, const char *tree) {
        GArray *pending = g_array_new(FALSE, FALSE, sizeof(PendingRestart));
        const Restart *restart;

        TABLE_FOREACH(restart, restarts->by_key) {
                const PendingRestart found = {
                        .run = restart->run,
                        .instance = restart->instance,
                        .token = restart->token ?: "",
                        .waits_for = restart->waits_for,
                        .due = restart->timer ? timer_deadline(restart->timer) : 0,
                };

                if (restart->timer && g_str_equal(restart->tree, tree))
                        g_array_append_val(pending, found);
        }

        g_array_sort(pending, compare_runs);
        return pending;
}

unsigned restarts_of_user(const Restarts *restarts, uint32_t uid, const char *tree, const char *instance,
                          uint64_t *ret_bytes) {
        const Restart *restart, *other = find(restarts, tree, instance);
        unsigned count = 0;

        *ret_bytes = 0;
        TABLE_FOREACH(restart, restarts->by_key) {
                if (!restart->timer || restart->uid != uid || restart == other)
                        continue;

                count++;
                *ret_bytes += restart->bytes;
        }

        return count;
}

unsigned restarts_count(const Restarts *restarts) {
        unsigned count = 0;
        const Restart *restart;

        TABLE_FOREACH(restart, restarts->by_key)
                count += restart->timer != NULL;

        return count;
}

char *restarts_describe(const Restarts *restarts, const char *tree, const char *instance) {
        const Restart *restart = find(restarts, tree, instance);
        uint64_t now = (uint64_t) g_get_monotonic_time(), deadline;
        g_autofree char *span = NULL;

        if (!restart || (!restart->timer && !restart->given_up))
                return NULL;
        if (restart->given_up)
                return g_strdup_printf("not restarted: %s", restart->given_up);
        if (restart->waits_for)
                return g_strdup_printf("restart waits: %s", restart->waits_for);

        deadline = timer_deadline(restart->timer);
        span = span_format_rounded(deadline > now ? deadline - now : 0);
        return g_strdup_printf("restarts in %s (attempt %u of %" PRIi64 ")", span, restart->times->len, restart->burst);
}
