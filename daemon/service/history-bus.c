/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A journal is read in parts, so that a long one does not keep the daemon from its work, nor gets too long for a
 * message; a part is no more than a bus takes at once, see bus_source_pace(). */

#include <errno.h>

#include "basic/cleanup.h"
#include "runtime/run-journal.h"
#include "service/errors.h"
#include "service/history-bus.h"
#include "service/published.h"

#define PART_MAX ((size_t) 1 << 17)

/* Of a run that is listed: why it has none. NULL: there is nothing to say. */
static char *explain(Manager *manager, const Run *run) {
        const char *why = run ? run_not_durable(run) : NULL;

        if (run && !journals_are_kept(manager_journals(manager)))
                return g_strdup_printf("run '%s' has no journal, since btd was started without --runtime=",
                                       run_id(run));

        return why ? g_strdup_printf("run '%s' has no journal: %s", run_id(run), why) : NULL;
}

static int get_journal(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        g_autoptr(sd_bus_message) reply = NULL;
        g_autoptr(GByteArray) bytes = NULL;
        g_autofree char *error = NULL, *why = NULL;
        Manager *manager = published_manager(userdata);
        const char *run;
        uint64_t offset;
        int r;

        r = sd_bus_message_read(message, "st", &run, &offset);
        if (r < 0)
                return r;

        r = journals_read(manager_journals(manager), run, offset, PART_MAX, &bytes, &error);
        if (r < 0) {
                why = explain(manager, manager_run(manager, run));
                return error_from_manager(ret_error, r == -ENOENT || why ? MANAGER_NO_SUCH_RUN : r, why ?: error);
        }

        r = sd_bus_message_new_method_return(message, &reply);
        if (r >= 0)
                r = sd_bus_message_append_array(reply, 'y', bytes->data, bytes->len);

        return r < 0 ? r : sd_bus_message_send(reply);
}

typedef struct List {
        sd_bus_message *reply;
        const char *tree; /* "": all of them */
        int r;
} List;

static void append_summary(const JournalSummary *summary, void *userdata) {
        List *list = userdata;

        if (list->r < 0 || (*list->tree && !g_str_equal(list->tree, summary->tree)))
                return;

        list->r = sd_bus_message_append(list->reply, "(sssstts)", summary->run, summary->tree, summary->instance,
                                        summary->status, summary->started, summary->finished, summary->cause);
}

int history_bus_get_journal(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        return published_answer(userdata, message, get_journal, ret_error);
}

static int list_history(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        Archive *archive = journals_archive(manager_journals(published_manager(userdata)));
        g_autoptr(sd_bus_message) reply = NULL;
        List list = {};

        list.r = sd_bus_message_read(message, "s", &list.tree);
        if (list.r >= 0)
                list.r = sd_bus_message_new_method_return(message, &reply);
        list.reply = reply;
        if (list.r >= 0)
                list.r = sd_bus_message_open_container(reply, 'a', "(sssstts)");
        if (list.r >= 0 && archive)
                archive_visit(archive, append_summary, &list);
        if (list.r >= 0)
                list.r = sd_bus_message_close_container(reply);

        return list.r < 0 ? list.r : sd_bus_message_send(reply);
}

int history_bus_list(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        return published_answer(userdata, message, list_history, ret_error);
}
