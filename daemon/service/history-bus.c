/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Serves run records and the history. A run record is read in parts, so that a long one neither blocks the main loop
 * nor exceeds the size of a message. A part is not larger than what a bus takes at once, see bus_source_pace(). */

#include <errno.h>
#include <string.h>

#include "basic/cleanup.h"
#include "service/arguments.h"
#include "service/errors.h"
#include "service/history-bus.h"
#include "service/published.h"

#define PART_MAX ((size_t) 1 << 17)
/* The bytes of the keys and numbers of a finished run in a list, about. */
#define SUMMARY_SIZE 300u

int history_bus_refuse_name(sd_bus_message *message, sd_bus_error *ret_error) {
        g_autofree char *error = NULL;
        const char *run;
        int r = sd_bus_message_read(message, "s", &run);

        if (r < 0)
                return r;

        error = record_store_no_such(run);
        return error_from_manager(ret_error, MANAGER_NO_SUCH_RUN, error);
}

int history_bus_refuse(Manager *manager, const char *id, int r, const char *error, sd_bus_error *ret_error) {
        const Run *run = runs_get(manager->runs, id);
        g_autofree char *why = NULL;

        if (run && !record_store_are_kept(manager->records))
                why = g_strdup_printf("run '%s' has no run record, because btd was started without --runtime=", id);
        else if (run && run_not_durable(run))
                why = g_strdup_printf("run '%s' has no run record: %s", id, run_not_durable(run));
        else if (r == -ENOENT)
                why = manager_describe_missing(manager, id);
        return error_from_manager(ret_error, why ? MANAGER_NO_SUCH_RUN : r, why ?: error);
}

/* One call of GetRecord, which reads on a thread. */
typedef struct Part {
        AnswerWork work; /* must be the first member */
        RecordRead *read;
        GByteArray *bytes; /* NULL: failed, see error */
        int r;
        char *error;
} Part;

static void run_part(Work *work, void *data) {
        Part *part = data;

        part->r = record_read_run(part->read, work, &part->bytes, &part->error);
}

static void part_free(void *data) {
        Part *part = data;

        record_read_free(part->read);
        if (part->bytes)
                g_byte_array_unref(part->bytes);
        g_free(part->error);
        g_free(part);
}

static int begin_record(Answer *answer, sd_bus_error *ret_error) {
        static const WorkKind kind = {
                .what = "a caller",
                .run = run_part,
                .done = answer_work_done,
                .free = answer_work_free,
        };
        Published *published = answer->userdata;
        const char *run;
        uint64_t offset;
        Part *part;
        int r;

        r = sd_bus_message_read(answer->question, "st", &run, &offset);
        if (r < 0)
                return r;

        part = g_new0(Part, 1);
        part->work = (AnswerWork){ .answers = published->answers, .free = part_free };
        part->read = record_read_new(published->manager->records, run, offset, PART_MAX);
        answer->run = g_strdup(run);
        answer->data = part;
        part->work.work = workers_start(published->workers, &kind, part, NULL);
        return 0;
}

static int append_record(Answer *answer, sd_bus_error *ret_error) {
        Manager *manager = published_manager(answer->userdata);
        const Part *part = answer->data;

        if (part->work.work)
                return ANSWER_WAITS;
        if (part->bytes) {
                answer->size += part->bytes->len;
                return MIN(sd_bus_message_append_array(answer->reply, 'y', part->bytes->data, part->bytes->len), 0);
        }

        return history_bus_refuse(manager, answer->run, part->r, part->error, ret_error);
}

int history_bus_get_record(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        static const AnswerKind kind = { .begin = begin_record, .append = append_record, .end = answer_work_end };

        if (arguments_are_long(message))
                return history_bus_refuse_name(message, ret_error);

        return published_answer(userdata, message, &kind, ret_error);
}

static int begin_history(Answer *answer, sd_bus_error *ret_error) {
        const CallOption options[] = { { "tree", "s", &answer->wanted }, {} };

        return arguments_read_options(answer->question, options, ret_error);
}

/* Skips runs that have been removed since the list was begun. */
static int append_history(Answer *answer, sd_bus_error *ret_error) {
        Manager *manager = published_manager(answer->userdata);
        Archive *archive = record_store_archive(manager->records);
        const RunSummary *summary;
        int r;

        if (!archive)
                return 0;
        if (!answer->names && !manager_history_is_read(manager, NULL))
                return ANSWER_WAITS;
        answer->names = answer->names ?: archive_list(archive);
        if (answer->next == answer->names->len)
                return 0;

        summary = archive_get(archive, g_ptr_array_index(answer->names, answer->next++));
        if (!summary || (answer->wanted && !g_str_equal(answer->wanted, summary->tree)))
                return 1;

        answer->size += SUMMARY_SIZE + 3 * strlen(summary->run) + answer_text_size(summary->cause);
        r = sd_bus_message_append(answer->reply, "a{sv}", 8, "id", "s", summary->run, "tree", "s", summary->tree,
                                  "instance", "s", summary->instance, "token", "s", summary->token, "status", "s",
                                  summary->status, "started", "t", summary->started, "finished", "t", summary->finished,
                                  "cause", "s", summary->cause);
        return r < 0 ? r : 1;
}

int history_bus_list(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        static const AnswerKind kind = {
                .array = "a{sv}", .instead = "ListHistory(tree)", .begin = begin_history, .append = append_history
        };
        const char *wanted;
        const CallOption options[] = { { "tree", "s", &wanted }, {} };
        int r = arguments_read_options(message, options, ret_error);

        if (r < 0)
                return r;
        (void) sd_bus_message_rewind(message, true);
        if (arguments_are_long(message))
                return sd_bus_reply_method_return(message, "aa{sv}", 0);

        return published_answer(userdata, message, &kind, ret_error);
}
