/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The journal stores lines a moment after they were written. Those of the process come before the line in which the
 * service manager tells how it has ended, but through another socket. So reading ends when that line is there and no
 * other has joined since the time before. If the journal is late, stopped, or stores nothing, the wait is limited; and
 * if its files cannot be read because their disk hangs, the thread is left behind.
 */

#include <string.h>
#include <systemd/sd-journal.h>
#include <systemd/sd-messages.h>

#include "basic/boot-file.h"
#include "basic/cause.h"
#include "basic/cleanup.h"
#include "leaves/log-tail.h"

/* How many lines a cause has. */
#define LINES_QUOTED 3u

/* How long to wait for lines, and for the thread, which may hang. */
#define WAIT_USEC UINT64_C(1000000)
#define HANG_USEC UINT64_C(2000000)

/* The time between two reads. It doubles, because on a busy machine, each costs others time. */
#define PAUSE_USEC UINT64_C(10000)
#define PAUSE_MAX_USEC UINT64_C(100000)

/* A longer line is left out. */
#define LINES_MAX 100u
#define LINE_LENGTH_MAX (64 * 1024u)

G_DEFINE_AUTOPTR_CLEANUP_FUNC(sd_journal, sd_journal_close)

typedef struct Reading {
        const char *boot;
        char *unit, *id;
        size_t room;
        char *text;
        bool cut;
} Reading;

struct LogTail {
        Leaf *leaf;
        Work *work;
        Timer *timer;
        LogTailRead read;
        void *userdata;
};

/* Does the journal have a line of this boot? If not, it stores none, or this process may not read any. */
static bool has_boot(sd_journal *journal, const char *boot) {
        char text[SD_ID128_STRING_MAX];
        sd_id128_t id;
        uint64_t usec;

        return sd_journal_seek_tail(journal) >= 0 && sd_journal_previous(journal) > 0 &&
               sd_journal_get_monotonic_usec(journal, &usec, &id) >= 0 &&
               g_str_equal(sd_id128_to_string(id, text), boot);
}

/* Lines of the process, and those of the service manager about it. */
static int match_unit(sd_journal *journal, const Reading *reading) {
        const char *const matches[][2] = {
                { "_SYSTEMD_UNIT", reading->unit },
                { "_SYSTEMD_USER_UNIT", reading->unit },
                { "INVOCATION_ID", reading->id },
                { "USER_INVOCATION_ID", reading->id },
        };
        int r = 0;

        for (size_t i = 0; i < G_N_ELEMENTS(matches) && r >= 0; i++) {
                g_autofree char *match = g_strdup_printf("%s=%s", matches[i][0], matches[i][1]);

                r = sd_journal_add_match(journal, match, 0);
                if (r >= 0)
                        r = sd_journal_add_disjunction(journal);
        }

        return r;
}

/* 1: the line has this value in the field; 0: it has another one; -ENOENT: it has none. */
static int has_value(sd_journal *journal, const char *field, const char *value) {
        size_t length, prefix = strlen(field) + 1;
        const void *data;
        int r = sd_journal_get_data(journal, field, &data, &length);

        return r < 0 ? r
                     : length == prefix + strlen(value) &&
                               memcmp((const char *) data + prefix, value, strlen(value)) == 0;
}

/* Reads the last lines, backwards. ret_ended: the service manager has told the end of the process. */
static void read_tail(sd_journal *journal, Reading *reading, bool *ret_ended) {
        g_autoptr(GString) text = g_string_new(NULL);
        unsigned n = 0;

        *ret_ended = false;
        reading->cut = false;
        for (int r = sd_journal_seek_tail(journal); r >= 0 && n < LINES_MAX && !reading->cut; n++) {
                const char *message;
                const void *data;
                size_t length;

                if (sd_journal_previous(journal) <= 0)
                        break;
                /* When a process ends soon, the journal may no longer find its invocation ID. */
                if ((has_value(journal, "_SYSTEMD_UNIT", reading->unit) <= 0 &&
                     has_value(journal, "_SYSTEMD_USER_UNIT", reading->unit) <= 0) ||
                    has_value(journal, "_SYSTEMD_INVOCATION_ID", reading->id) == 0) {
                        /* Has the service manager told with this line how a process of the unit, or the unit, has
                         * ended? */
                        if ((has_value(journal, "INVOCATION_ID", reading->id) > 0 ||
                             has_value(journal, "USER_INVOCATION_ID", reading->id) > 0) &&
                            (has_value(journal, "MESSAGE_ID", SD_MESSAGE_UNIT_PROCESS_EXIT_STR) > 0 ||
                             has_value(journal, "MESSAGE_ID", SD_MESSAGE_UNIT_FAILURE_RESULT_STR) > 0 ||
                             has_value(journal, "MESSAGE_ID", SD_MESSAGE_UNIT_SUCCESS_STR) > 0))
                                *ret_ended = true;
                        continue;
                }
                if (sd_journal_get_data(journal, "MESSAGE", &data, &length) < 0 || length < strlen("MESSAGE=") ||
                    length >= LINE_LENGTH_MAX)
                        continue;

                message = (const char *) data + strlen("MESSAGE=");
                length -= strlen("MESSAGE=");
                g_string_prepend_c(text, '\n');
                g_string_prepend_len(text, message, (gssize) length);
                reading->cut = text->len > reading->room;
        }
        if (text->len > reading->room)
                g_string_erase(text, 0, (gssize) (text->len - reading->room));
        reading->cut |= n == LINES_MAX;

        g_free(reading->text);
        reading->text = text->len > 0 ? g_string_free(g_steal_pointer(&text), false) : NULL;
}

static void reading_run(Work *work, void *data) {
        uint64_t now = (uint64_t) g_get_monotonic_time(), until = now + WAIT_USEC, pause = PAUSE_USEC;
        g_autoptr(sd_journal) journal = NULL;
        Reading *reading = data;
        bool ended = false;

        work_reads(work, "/var/log/journal");
        if (sd_journal_open(&journal, SD_JOURNAL_LOCAL_ONLY) < 0 || !has_boot(journal, reading->boot) ||
            sd_journal_set_data_threshold(journal, LINE_LENGTH_MAX) < 0 || match_unit(journal, reading) < 0)
                return;

        for (read_tail(journal, reading, &ended); now < until && !work_is_dropped(work); pause *= 2) {
                g_autofree char *before = g_strdup(reading->text);
                bool had_ended = ended;

                (void) sd_journal_wait(journal, MIN(MIN(pause, PAUSE_MAX_USEC), until - now));
                read_tail(journal, reading, &ended);
                if (had_ended && g_strcmp0(before, reading->text) == 0)
                        return;
                now = (uint64_t) g_get_monotonic_time();
        }
}

static void reading_free(void *data) {
        Reading *reading = data;

        g_free(reading->unit);
        g_free(reading->id);
        g_free(reading->text);
        g_free(reading);
}

static void reading_done(void *data, void *userdata) {
        const Reading *reading = data;
        LogTail *tail = userdata;
        g_autofree char *words =
                reading->text ? log_tail_quote(tail->leaf, reading->text, strlen(reading->text), reading->cut) : NULL;

        tail->work = NULL;
        tail->read(words, tail->userdata);
}

static void on_hang(void *userdata) {
        LogTail *tail = userdata;

        work_drop(g_steal_pointer(&tail->work));
        tail->read(NULL, tail->userdata);
}

size_t log_tail_room(Leaf *leaf) {
        return CAUSE_TEXT_MAX + leaf_secret_length(leaf);
}

char *log_tail_quote(Leaf *leaf, const char *text, size_t length, bool cut) {
        g_autofree char *valid = g_utf8_make_valid(text, (gssize) length), *hidden = leaf_hide_secrets(leaf, valid);
        const char *from = hidden ?: valid, *lines[LINES_QUOTED + 1] = {};
        g_auto(GStrv) all = NULL;
        unsigned n = LINES_QUOTED;

        if (cut)
                from += MIN(leaf_secret_length(leaf), strlen(from));
        all = g_strsplit_set(from, "\r\n", -1);
        for (unsigned i = g_strv_length(all); i > 0 && n > 0; i--) {
                g_strdelimit(g_strstrip(all[i - 1]), "\t", ' ');
                if (*all[i - 1])
                        lines[--n] = all[i - 1];
        }

        return lines[n] ? g_strjoinv("; ", (char **) lines + n) : NULL;
}

LogTail *log_tail_new(Leaf *leaf, const char *unit, const char *invocation_id, LogTailRead read, void *userdata) {
        static const WorkKind kind = {
                .what = "the log of a process",
                .run = reading_run,
                .done = reading_done,
                .free = reading_free,
        };
        const LeafServices *services = leaf->services;
        LogTail *tail = g_new(LogTail, 1);
        Reading *reading = g_new(Reading, 1);

        *tail = (LogTail){ .leaf = leaf, .read = read, .userdata = userdata };
        *reading = (Reading){
                .boot = boot_id(),
                .unit = g_strdup(unit),
                .id = g_strdup(invocation_id),
                .room = log_tail_room(leaf),
        };
        tail->timer = timer_new(services->timers, HANG_USEC, on_hang, tail);
        tail->work = workers_start(services->journal_readers, &kind, reading, tail);
        return tail;
}

void log_tail_free(LogTail *tail) {
        if (!tail)
                return;

        work_drop(tail->work);
        timer_free(tail->timer);
        g_free(tail);
}
