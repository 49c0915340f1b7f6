/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Stores the listed runs, and removes the oldest finished ones. */

#include "runtime/runs.h"
#include "basic/foreach.h"
#include "basic/nearest.h"

struct Runs {
        GPtrArray *all; /* Run, in order of start */
        GHashTable *by_id;
        GQueue finished; /* finished runs, in order of end */
        void (*removed)(Run *run, void *userdata);
        void *userdata;
};

Runs *runs_new(void (*removed)(Run *run, void *userdata), void *userdata) {
        Runs *runs = g_new0(Runs, 1);

        runs->all = g_ptr_array_new();
        runs->by_id = g_hash_table_new(g_str_hash, g_str_equal);
        runs->removed = removed;
        runs->userdata = userdata;
        return runs;
}

void runs_free(Runs *runs) {
        if (!runs)
                return;

        g_queue_clear(&runs->finished);
        g_hash_table_unref(runs->by_id);
        for (unsigned i = 0; i < runs->all->len; i++)
                run_free(g_ptr_array_index(runs->all, i));
        g_ptr_array_unref(runs->all);
        g_free(runs);
}

void runs_add(Runs *runs, Run *run) {
        g_ptr_array_add(runs->all, run);
        g_hash_table_insert(runs->by_id, (void *) run_id(run), run);
}

/* The user who has the most finished runs loses the oldest. */
void runs_finished(Runs *runs, Run *run) {
        Run *obsolete = NULL;
        unsigned most = 0;

        g_queue_push_tail(&runs->finished, run);
        if (runs->finished.length <= RUNS_FINISHED_MAX)
                return;

        for (const GList *link = runs->finished.head; link; link = link->next) {
                unsigned n = 0;

                for (const GList *other = runs->finished.head; other; other = other->next)
                        n += run_caller(other->data) == run_caller(link->data);
                if (n > most) {
                        most = n;
                        obsolete = link->data;
                }
        }
        runs_remove(runs, obsolete);
}

void runs_remove(Runs *runs, Run *run) {
        runs->removed(run, runs->userdata);
        g_queue_remove(&runs->finished, run);
        g_hash_table_remove(runs->by_id, run_id(run));
        g_ptr_array_remove(runs->all, run);
        run_free(run);
}

Run *runs_get(const Runs *runs, const char *id) {
        return g_hash_table_lookup(runs->by_id, id);
}

Run *runs_last(const Runs *runs, const char *tree, const char *instance) {
        for (unsigned i = runs->all->len; i > 0; i--) {
                Run *run = g_ptr_array_index(runs->all, i - 1);

                if (g_str_equal(run_tree(run), tree) && g_str_equal(run_instance(run), instance))
                        return run;
        }

        return NULL;
}

const char *runs_nearest(const Runs *runs, const char *id) {
        Nearest nearest = { .word = id };

        for (unsigned i = 0; i < runs->all->len; i++)
                nearest_offer(&nearest, run_id(g_ptr_array_index(runs->all, i)));

        return nearest.best;
}

const GPtrArray *runs_list(const Runs *runs) {
        return runs->all;
}

unsigned runs_n_running(const Runs *runs) {
        return runs->all->len - runs->finished.length;
}

void runs_count(const Runs *runs, Users *users) {
        g_autoptr(GPtrArray) all = users_list(users);

        for (unsigned i = 0; i < all->len; i++)
                ((User *) all->pdata[i])->used[USE_RUNS] = ((User *) all->pdata[i])->used[USE_RECORDS] = 0;
        PTRS_FOREACH(const Run, run, runs->all) {
                if (run_status(run) != STATUS_RUNNING)
                        continue;
                user_add(run_user(run), USE_RUNS, 1);
                user_add(run_user(run), USE_RECORDS, run_record_size(run));
        }
}

void runs_make_room(Runs *runs, const User *user, uint64_t bytes) {
        for (GList *link = runs->finished.head, *next; link && !user_has_room(user, USE_VARIABLES, bytes);
             link = next) {
                Run *run = link->data;

                next = link->next;
                if (run_user(run) == user)
                        runs_remove(runs, run);
        }
}

unsigned runs_n_running_of(const Runs *runs, uint32_t uid) {
        unsigned n = 0;

        PTRS_FOREACH(const Run, run, runs->all)
                n += run_caller(run) == uid && run_status(run) == STATUS_RUNNING;

        return n;
}
