/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Where messages go: to the journal when stderr is connected to it, with the subject in the text and in fields of its
 * own; else to stderr. What a message quotes may come from anywhere, so it cannot
 * write control sequences to a terminal or begin a line of its own.
 */

/* The place in this file would say nothing about where a message comes from. */
#define SD_JOURNAL_SUPPRESS_LOCATION

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <systemd/sd-journal.h>
#include <unistd.h>

#include "basic/log.h"

static int log_max_level = LOG_INFO;
static bool log_to_journal = false;

/* systemd names the device and inode of the stream that it connected, see systemd.exec(5). */
static bool stderr_is_journal(void) {
        const char *stream = g_getenv("JOURNAL_STREAM");
        g_autofree char *actual = NULL;
        struct stat st;

        if (!stream || fstat(STDERR_FILENO, &st) < 0)
                return false;

        actual = g_strdup_printf("%ju:%ju", (uintmax_t) st.st_dev, (uintmax_t) st.st_ino);
        return g_str_equal(stream, actual);
}

void log_open(int max_level) {
        log_max_level = max_level;
        log_to_journal = stderr_is_journal();
}

/* Valid UTF-8 on one line, control characters written as escapes. */
static char *text_sanitize(const char *text) {
        g_autofree char *valid = g_utf8_make_valid(text, -1);
        GString *clean = g_string_sized_new(strlen(valid));

        for (const char *p = valid; *p; p = g_utf8_next_char(p)) {
                gunichar c = g_utf8_get_char(p);

                if (c == '\n')
                        g_string_append(clean, "\\n");
                else if (c == '\t')
                        g_string_append(clean, "\\t");
                else if (g_unichar_iscntrl(c))
                        g_string_append_printf(clean, "\\x%02x", c);
                else
                        g_string_append_unichar(clean, c);
        }

        return g_string_free(clean, FALSE);
}

static void add_field(struct iovec *fields, size_t *n_fields, char **text, const char *name, const char *value) {
        if (!value)
                return;

        *text = g_strconcat(name, "=", value, NULL);
        fields[(*n_fields)++] = (struct iovec){ .iov_base = *text, .iov_len = strlen(*text) };
}

/* "boot.3/LoadConfig: " and the text: who reads it has not asked for fields. */
static void append_with_subject(GString *line, const LogSubject *subject, const char *text) {
        const char *place = subject->run ? subject->run : subject->tree;

        if (place)
                g_string_append(line, place);
        if (place && subject->node)
                g_string_append_c(line, '/');
        if (subject->node)
                g_string_append(line, subject->node);
        if (place || subject->node)
                g_string_append(line, ": ");

        g_string_append(line, text);
}

static const char *facts_of(const Cause *cause) {
        if (!cause || !cause->facts)
                return NULL;

        return json_object_to_json_string_ext(cause->facts, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
}

static int send_to_journal(int level, const LogSubject *subject, const char *text) {
        g_autofree char *clean = NULL, *message = NULL, *priority = NULL, *tree = NULL, *run = NULL, *node = NULL;
        g_autofree char *kind = NULL, *facts = NULL;
        g_autoptr(GString) line = g_string_new(NULL);
        const Cause *cause = subject->cause ? cause_origin(subject->cause) : NULL;
        const char digit[] = { (char) ('0' + level), '\0' };
        struct iovec fields[7];
        size_t n_fields = 0;

        append_with_subject(line, subject, text);
        clean = text_sanitize(line->str);
        add_field(fields, &n_fields, &message, "MESSAGE", clean);
        add_field(fields, &n_fields, &priority, "PRIORITY", digit);
        add_field(fields, &n_fields, &tree, "BTD_TREE", subject->tree);
        add_field(fields, &n_fields, &run, "BTD_RUN", subject->run);
        add_field(fields, &n_fields, &node, "BTD_NODE", subject->node);
        add_field(fields, &n_fields, &kind, "BTD_CAUSE_KIND", cause ? cause->kind : NULL);
        add_field(fields, &n_fields, &facts, "BTD_CAUSE_FACTS", facts_of(cause));

        return sd_journal_sendv(fields, (int) n_fields);
}

/* "btd: warning: boot.3/LoadConfig: ", in one write, so that lines of several processes stay whole. */
static void send_to_stderr(int level, const LogSubject *subject, const char *text) {
        g_autoptr(GString) line = g_string_new(NULL);
        g_autofree char *clean = NULL;

        g_string_append_printf(line, "%s: ", program_invocation_short_name);
        if (level <= LOG_ERR)
                g_string_append(line, "error: ");
        else if (level == LOG_WARNING)
                g_string_append(line, "warning: ");
        else if (level == LOG_DEBUG)
                g_string_append(line, "debug: ");

        append_with_subject(line, subject, text);
        clean = text_sanitize(line->str);
        g_string_assign(line, clean);
        g_string_append_c(line, '\n');
        fputs(line->str, stderr);
}

void log_message(int level, const LogSubject *subject, const char *format, ...) {
        static const LogSubject nothing = { 0 };
        g_autofree char *text = NULL;
        va_list args;

        if (level > log_max_level)
                return;

        va_start(args, format);
        text = g_strdup_vprintf(format, args);
        va_end(args);

        if (!subject)
                subject = &nothing;

        /* A journal that does not take the message still reads stderr. */
        if (!log_to_journal || send_to_journal(level, subject, text) < 0)
                send_to_stderr(level, subject, text);
}
