/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Finds the directories of run records, and lists the runs in them. Nothing is written there. */

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "client/bus/target.h"
#include "client/recording/record-files.h"
#include "record/record-store.h"
#include "record/run-record.h"

/* The units of btd have RuntimeDirectory=btd and StateDirectory=btd. */
#define SYSTEM_RUNTIME "/run/btd"
#define SYSTEM_STATE "/var/lib/btd"

struct RecordFiles {
        GPtrArray *directories; /* the readable ones; if several have a run, the first one is right */
        char *running;          /* the one of unfinished runs */
        char *copies;           /* the one of runs that btd had when the machine went down */
        GString *unreadable;    /* "X cannot be read: Y"; empty: all can be read */
        bool denied;            /* ... for a lack of permission */
        bool chosen;            /* with --directory */
};

static RecordFiles *files_new(void) {
        RecordFiles *files = g_new0(RecordFiles, 1);

        files->directories = g_ptr_array_new_with_free_func(g_free);
        files->unreadable = g_string_new(NULL);
        return files;
}

void record_files_free(RecordFiles *files) {
        if (!files)
                return;

        g_ptr_array_unref(files->directories);
        g_string_free(files->unreadable, true);
        g_free(files->running);
        g_free(files->copies);
        g_free(files);
}

/* name NULL: the parent itself. A directory that does not exist is no error: nothing was written there yet. */
static void add_directory(RecordFiles *files, const char *parent, const char *name) {
        g_autofree char *path = name ? g_build_filename(parent, name, NULL) : g_strdup(parent);
        int error = access(path, R_OK | X_OK) < 0 ? errno : 0;

        if (error == 0)
                g_ptr_array_add(files->directories, g_steal_pointer(&path));
        if (error == 0 || error == ENOENT || error == ENOTDIR)
                return;

        files->denied |= error == EACCES;
        g_string_append_printf(files->unreadable, "%s%s cannot be read: %s", files->unreadable->len > 0 ? "; " : "",
                               path, g_strerror(error));
}

static void add_directories(RecordFiles *files, const char *runtime, const char *state) {
        files->running = g_build_filename(runtime, "runs", NULL);
        add_directory(files, runtime, "runs");
        add_directory(files, runtime, "finished");
        add_directory(files, state, "history");
        files->copies = g_build_filename(state, "running", NULL);
        add_directory(files, state, "running");
}

/* DIR is a state directory, a copy of one, or a directory of run records itself. */
static int choose(const char *directory, RecordFiles **ret_files) {
        g_autoptr(RecordFiles) files = files_new();
        struct stat st;

        files->chosen = true;
        if (stat(directory, &st) < 0)
                return report_error("%s cannot be read: %s", directory, g_strerror(errno));

        if (!S_ISDIR(st.st_mode))
                return report_error("%s is not a directory", directory);

        add_directories(files, directory, directory);
        if (files->directories->len == 0 && files->unreadable->len == 0)
                add_directory(files, directory, NULL);
        if (files->directories->len == 0)
                return report_error("%s", files->unreadable->str);

        *ret_files = g_steal_pointer(&files);
        return EXIT_SUCCESS;
}

int record_files_find(Client *client, RecordFiles **ret_files) {
        const Options *options = &client->options;
        g_autoptr(RecordFiles) files = NULL;

        *ret_files = NULL;
        if (options_has(options, OPTION_DIRECTORY))
                return choose(options->values[OPTION_DIRECTORY], ret_files);
        if (options_has(options, OPTION_ADDRESS) || options_has(options, OPTION_HOST) ||
            options_has(options, OPTION_MACHINE) || client_has_daemon(client))
                return EXIT_SUCCESS;

        files = files_new();
        if (options_has(options, OPTION_USER)) {
                g_autofree char *runtime = g_build_filename(g_get_user_runtime_dir(), "btd", NULL),
                                *state = g_build_filename(g_get_user_state_dir(), "btd", NULL);

                add_directories(files, runtime, state);
        } else {
                add_directories(files, SYSTEM_RUNTIME, SYSTEM_STATE);
        }

        if (files->directories->len == 0 && files->unreadable->len > 0) {
                report_error("btd is not running, and %s%s", files->unreadable->str,
                             files->denied && !options_has(options, OPTION_USER) ? "; try it with sudo" : "");
                return EXIT_NO_DAEMON;
        }
        if (files->directories->len > 0)
                *ret_files = g_steal_pointer(&files);
        return EXIT_SUCCESS;
}

static char *join(const GPtrArray *directories) {
        GString *text = g_string_new(NULL);

        for (guint i = 0; i < directories->len; i++)
                g_string_append_printf(text, "%s%s",
                                       i == 0                      ? ""
                                       : i + 1 == directories->len ? " and "
                                                                   : ", ",
                                       (const char *) directories->pdata[i]);

        return g_string_free(text, false);
}

void record_files_tell(const Client *client, const RecordFiles *files) {
        g_autofree char *directories = join(files->directories);
        static bool told; /* once, also if several operands are read */

        if (client->output.quiet || told)
                return;

        told = true;

        if (!files->chosen)
                (void) report_error("btd is not running; these are the run records in %s", directories);
        if (files->unreadable->len > 0)
                (void) report_error("%s", files->unreadable->str);
}

/* As btd lists it: of a damaged run record, only the name and the time of the file are known. */
static void take_damaged(RunInfo *run, const char *id, const char *path, char *error) {
        const char *dot = strrchr(id, '.');
        struct stat st = {};

        (void) stat(path, &st);
        run->id = g_strdup(id);
        run->tree = dot ? g_strndup(id, (size_t) (dot - id)) : g_strdup(id);
        run->instance = g_strdup("");
        run->status = g_strdup("damaged");
        run->cause = error;
        run->started = run->finished =
                (uint64_t) st.st_mtim.tv_sec * G_USEC_PER_SEC + (uint64_t) st.st_mtim.tv_nsec / 1000;
}

/* unfinished: the file is where those of unfinished runs are. copied: where their copies are; if there is nothing else,
 * the history gets the run when btd starts again. */
static RunInfo *read_run(const char *path, const char *id, bool unfinished, bool copied) {
        RunInfo *run = g_new0(RunInfo, 1);
        g_auto(RunSummary) summary = {};
        char *error = NULL;
        bool ended;

        run->restart = g_strdup("");
        run->ready = UINT64_MAX;
        if (record_summary_read(path, &summary, &error) < 0) {
                take_damaged(run, id, path, error);
                return run;
        }

        ended = !g_str_equal(summary.status, "running");
        run->id = g_steal_pointer(&summary.run);
        run->tree = g_steal_pointer(&summary.tree);
        run->instance = g_steal_pointer(&summary.instance);
        run->status =
                ended ? g_steal_pointer(&summary.status) : g_strdup(unfinished || copied ? "unfinished" : "damaged");
        run->cause = ended ? g_steal_pointer(&summary.cause)
                           : g_strdup(unfinished ? ""
                                      : copied   ? RECORD_MACHINE_WENT_DOWN
                                                 : RECORD_END_MISSING);
        run->outputs = g_steal_pointer(&summary.outputs);
        run->started = summary.started;
        run->finished = ended || !unfinished ? summary.finished : 0;
        return run;
}

static void add_runs(const RecordFiles *files, GPtrArray *runs, GHashTable *seen, const char *path) {
        bool unfinished = g_str_equal(path, files->running), copied = g_str_equal(path, files->copies);
        g_autoptr(GDir) directory = g_dir_open(path, 0, NULL);
        const char *name;

        while (directory && (name = g_dir_read_name(directory))) {
                g_autofree char *file = g_build_filename(path, name, NULL), *id = NULL;

                if (!g_str_has_suffix(name, RECORD_SUFFIX) || !g_utf8_validate(name, -1, NULL) ||
                    !g_file_test(file, G_FILE_TEST_IS_REGULAR))
                        continue;

                id = g_strndup(name, strlen(name) - strlen(RECORD_SUFFIX));
                if (g_hash_table_contains(seen, id))
                        continue;

                g_ptr_array_add(runs, read_run(file, id, unfinished, copied));
                g_hash_table_add(seen, g_steal_pointer(&id));
        }
}

/* An unfinished run has no end, so its start counts. For equal times of one tree, compares the numbers. */
static gint compare_ends(gconstpointer a, gconstpointer b) {
        const RunInfo *first = *(const RunInfo *const *) a, *second = *(const RunInfo *const *) b;
        uint64_t x = first->finished > 0 ? first->finished : first->started,
                 y = second->finished > 0 ? second->finished : second->started;
        size_t length = strlen(first->id), other = strlen(second->id);

        if (x != y)
                return x > y ? 1 : -1;

        return length != other ? (length > other) - (length < other) : strcmp(first->id, second->id);
}

bool record_files_left(const RecordFiles *files, const char *path) {
        g_autofree char *directory = g_path_get_dirname(path);

        return g_strcmp0(directory, files->running) == 0 || g_strcmp0(directory, files->copies) == 0;
}

GPtrArray *record_files_list(const RecordFiles *files, const char *tree, bool finished) {
        GPtrArray *runs = g_ptr_array_new_with_free_func((GDestroyNotify) run_info_free);
        g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

        for (guint i = 0; i < files->directories->len; i++)
                add_runs(files, runs, seen, files->directories->pdata[i]);

        for (guint i = runs->len; i > 0; i--) {
                const RunInfo *run = runs->pdata[i - 1];

                if (run_info_has_finished(run) != finished || (*tree && !g_str_equal(run->tree, tree)))
                        g_ptr_array_remove_index_fast(runs, i - 1);
        }
        g_ptr_array_sort(runs, compare_ends);
        return runs;
}

int record_files_select(Client *client, const char *operand, RecordFiles **ret_files, GPtrArray **ret_runs,
                        bool *ret_any) {
        g_autofree char *tree = NULL, *instance = NULL;
        g_autoptr(GPtrArray) runs = NULL;
        uint64_t since, until, lines;
        int status;

        status = options_time(&client->options, OPTION_SINCE, &since);
        if (status == EXIT_SUCCESS)
                status = options_time(&client->options, OPTION_UNTIL, &until);
        if (status == EXIT_SUCCESS)
                status = options_lines(&client->options, &lines);
        if (status == EXIT_SUCCESS)
                status = record_files_find(client, ret_files);
        if (status != EXIT_SUCCESS)
                return status;

        if (operand)
                target_split(operand, &tree, &instance);
        if (*ret_files) {
                record_files_tell(client, *ret_files);
                runs = record_files_list(*ret_files, tree ?: "", true);
        } else {
                /* A tree that no longer exists may have finished runs. For an unknown tree, btd makes the message. */
                status = run_info_list_past(client, tree, &runs);
                if (status == EXIT_SUCCESS && tree && runs->len == 0)
                        status = client_call(client, NULL, BTD_PATH, BTD_MANAGER, "GetTree", "s", tree);
                if (status != EXIT_SUCCESS)
                        return status;
        }

        if (ret_any)
                *ret_any = operand ? target_choose_run(runs, operand) != NULL : runs->len > 0;
        for (guint i = runs->len; i > 0; i--) {
                const RunInfo *run = runs->pdata[i - 1];

                if (run->finished < since || run->finished > until || (operand && !target_names(operand, run)))
                        g_ptr_array_remove_index(runs, i - 1);
        }
        if (runs->len > lines)
                g_ptr_array_remove_range(runs, 0, runs->len - (guint) lines);
        *ret_runs = g_steal_pointer(&runs);
        return EXIT_SUCCESS;
}

char *record_files_path(const RecordFiles *files, const char *run) {
        g_autofree char *file = g_strconcat(run, RECORD_SUFFIX, NULL);

        for (guint i = 0; i < files->directories->len; i++) {
                g_autofree char *path = g_build_filename(files->directories->pdata[i], file, NULL);

                if (access(path, F_OK) >= 0)
                        return g_steal_pointer(&path);
        }

        return NULL;
}

int record_files_choose(const RecordFiles *files, const char *operand, char **ret_path) {
        g_autofree char *tree = NULL, *instance = NULL, *directories = NULL;

        if (target_is_run_id(operand) && (*ret_path = record_files_path(files, operand)))
                return EXIT_SUCCESS;

        target_split(operand, &tree, &instance);
        for (int finished = 0; finished <= 1; finished++) {
                g_autoptr(GPtrArray) runs = record_files_list(files, tree, finished);

                for (guint i = runs->len; i > 0; i--) {
                        const RunInfo *run = runs->pdata[i - 1];

                        if (instance && !g_str_equal(run->instance, instance))
                                continue;

                        *ret_path = record_files_path(files, run->id);
                        if (*ret_path)
                                return EXIT_SUCCESS;
                }
        }

        directories = join(files->directories);
        return report_error("there is no run record of '%s' in %s", operand, directories);
}
