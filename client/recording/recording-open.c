/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Opens the recording that an operand names, for show, replay and plot: from a file or from btd. */

#include <errno.h>
#include <string.h>

#include "basic/cleanup.h"
#include "client/bus/target.h"
#include "client/files.h"
#include "client/recording/recording.h"

#define TRIES_MAX 3u

static bool is_file(const char *operand) {
        return strchr(operand, '/') || g_str_has_suffix(operand, RECORD_SUFFIX);
}

static int open_file(const char *path, Recording **ret_recording) {
        g_autoptr(GError) error = NULL;
        g_autofree char *text = NULL, *why = NULL;
        gsize length;
        int saved;

        if (!g_file_get_contents(path, &text, &length, &error)) {
                saved = errno;
                return report_error("%s: cannot be read: %s", path, g_strerror(saved));
        }
        if (recording_new(path, text, length, node_type_tables, ret_recording, &why) < 0)
                return report_error("%s: %s", path, why);

        return EXIT_SUCCESS;
}

/* btd sends a run record in parts, so that it is not blocked. */
static int read_part(Client *client, const char *id, GByteArray *text, size_t *ret_size) {
        g_autoptr(sd_bus_message) reply = NULL;
        const void *part;
        int status, r;

        status = client_call(client, &reply, BTD_PATH, BTD_MANAGER, "GetJournal", "st", id, (uint64_t) text->len);
        if (status != EXIT_SUCCESS)
                return status;

        r = sd_bus_message_read_array(reply, 'y', &part, ret_size);
        if (r < 0)
                return client_bad_message(r);

        g_byte_array_append(text, part, (guint) *ret_size);
        return EXIT_SUCCESS;
}

static int read_all(Client *client, const char *id, GByteArray *text) {
        size_t size;

        g_byte_array_set_size(text, 0);
        do {
                int status = read_part(client, id, text, &size);

                if (status != EXIT_SUCCESS)
                        return status;
        } while (size > 0);

        return EXIT_SUCCESS;
}

/* btd may cut off the beginning of a run record between two parts. Then the parts do not match, and they are read
 * again.
 * */
static int open_run(Client *client, const char *id, Recording **ret_recording) {
        g_autoptr(GByteArray) text = g_byte_array_new();
        g_autofree char *error = NULL;

        for (unsigned tries = 0; tries < TRIES_MAX; tries++) {
                int status = read_all(client, id, text);

                if (status != EXIT_SUCCESS)
                        return status;

                g_clear_pointer(&error, g_free);
                if (recording_new(id, (const char *) text->data, text->len, node_type_tables, ret_recording, &error) >=
                    0)
                        return EXIT_SUCCESS;
        }

        return report_error("%s: %s", id, error);
}

/* Whether the run has not finished: its last record is not the finished record. */
static bool goes_on(const Recording *recording) {
        const GArray *records = recording->journal->entries;

        return records->len == 0 || g_array_index(records, Entry, records->len - 1).kind != ENTRY_FINISHED;
}

/* Runs come oldest first. instance NULL: any. */
static char *newest_of(const GPtrArray *runs, const char *tree, const char *instance) {
        for (guint i = runs->len; i > 0; i--) {
                const RunInfo *run = g_ptr_array_index(runs, i - 1);

                if (strcmp(run->tree, tree) == 0 && (!instance || strcmp(run->instance, instance) == 0))
                        return g_strdup(run->id);
        }

        return NULL;
}

/* Finds the newest run that btd lists, or else the newest in the history. The tree may no longer exist. */
static int find_newest(Client *client, const char *operand, char **ret_id) {
        g_autofree char *tree = NULL, *instance = NULL;
        g_autoptr(GPtrArray) runs = NULL, past = NULL;
        int status;

        target_split(operand, &tree, &instance);
        status = run_info_list(client, &runs);
        if (status != EXIT_SUCCESS)
                return status;
        if ((*ret_id = newest_of(runs, tree, instance)))
                return EXIT_SUCCESS;

        status = run_info_list_past(client, tree, &past);
        if (status != EXIT_SUCCESS)
                return status;
        if ((*ret_id = newest_of(past, tree, instance)))
                return EXIT_SUCCESS;

        status = client_call(client, NULL, BTD_PATH, BTD_MANAGER, "GetTree", "s", tree);
        return status != EXIT_SUCCESS ? status : report_error("'%s' has not run yet", operand);
}

int recording_open(Client *client, const char *operand, Recording **ret_recording) {
        g_autofree char *id = NULL;
        int status;

        if (is_file(operand))
                return open_file(operand, ret_recording);

        if (target_is_run_id(operand))
                id = g_strdup(operand);
        else {
                status = find_newest(client, operand, &id);
                if (status != EXIT_SUCCESS)
                        return status;
        }

        status = open_run(client, id, ret_recording);
        if (status == EXIT_SUCCESS)
                (*ret_recording)->live = goes_on(*ret_recording);
        return status;
}
