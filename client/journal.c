/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Read here and not by btd: scanning the journal can take a while, and what a process has written last reaches it
 * after the process has ended. The ID of the unit's run finds what its processes and what systemd said of it, and
 * nothing else.
 */

#include <string.h>
#include <systemd/sd-journal.h>

#include "basic/cleanup.h"
#include "journal.h"

#define LINES_MAX 10u

G_DEFINE_AUTOPTR_CLEANUP_FUNC(sd_journal, sd_journal_close)

static const char *fact(json_object *facts, const char *name) {
        json_object *value;

        return json_object_object_get_ex(facts, name, &value) ? json_object_get_string(value) : NULL;
}

/* The bus that the unit's service manager is on: what the leaf says, or the one that btd is on. */
static bool is_elsewhere(const Client *client, json_object *facts) {
        const char *bus = fact(facts, "bus");

        return options_has(&client->options, OPTION_HOST) || options_has(&client->options, OPTION_MACHINE) ||
               (bus && strchr(bus, ':'));
}

static char *read_text(sd_journal *journal, const char *field) {
        size_t length, prefix = strlen(field) + 1;
        const void *data;
        g_autofree char *text = NULL;

        if (sd_journal_get_data(journal, field, &data, &length) < 0)
                return NULL;

        text = g_strndup((const char *) data + prefix, length - prefix);
        return g_utf8_make_valid(text, -1);
}

static void add_text(json_object *line, sd_journal *journal, const char *key, const char *field) {
        g_autofree char *text = read_text(journal, field);

        if (text && !json_object_object_get_ex(line, key, NULL))
                json_object_object_add(line, key, json_object_new_string(text));
}

static json_object *read_line(sd_journal *journal) {
        json_object *line = json_object_new_object();
        uint64_t time = 0;

        (void) sd_journal_get_realtime_usec(journal, &time);
        json_object_object_add(line, "time_usec", json_object_new_uint64(time));
        add_text(line, journal, "identifier", "SYSLOG_IDENTIFIER");
        add_text(line, journal, "identifier", "_COMM");
        add_text(line, journal, "pid", "_PID");
        add_text(line, journal, "message", "MESSAGE");
        return line;
}

static int add_matches(sd_journal *journal, const char *id) {
        static const char *const fields[] = { "_SYSTEMD_INVOCATION_ID", "INVOCATION_ID", "USER_INVOCATION_ID" };

        for (size_t i = 0; i < G_N_ELEMENTS(fields); i++) {
                g_autofree char *match = g_strdup_printf("%s=%s", fields[i], id);
                int r = sd_journal_add_match(journal, match, 0);

                if (r >= 0)
                        r = sd_journal_add_disjunction(journal);
                if (r < 0)
                        return r;
        }

        return 0;
}

static void read_lines(const char *id, json_object *lines) {
        g_autoptr(sd_journal) journal = NULL;

        if (sd_journal_open(&journal, SD_JOURNAL_LOCAL_ONLY) < 0 || add_matches(journal, id) < 0 ||
            sd_journal_seek_tail(journal) < 0 || sd_journal_previous_skip(journal, LINES_MAX) <= 0)
                return;

        do
                json_object_array_add(lines, read_line(journal));
        while (sd_journal_next(journal) > 0);
}

json_object *journal_last_lines(const Client *client, json_object *facts) {
        json_object *lines = json_object_new_array();
        const char *id = fact(facts, "invocation_id");

        if (id && !is_elsewhere(client, facts))
                read_lines(id, lines);

        return lines;
}

char *journal_command(const Client *client, json_object *facts) {
        const Options *options = &client->options;
        const char *unit = fact(facts, "unit"), *bus = fact(facts, "bus");
        g_autofree char *quoted = NULL;

        if (!unit)
                return NULL;

        quoted = g_shell_quote(unit);
        if (bus && g_str_has_prefix(bus, "host:"))
                return g_strdup_printf("ssh %s journalctl -u %s", bus + strlen("host:"), quoted);
        if (bus && g_str_has_prefix(bus, "machine:"))
                return g_strdup_printf("journalctl -M %s -u %s", bus + strlen("machine:"), quoted);
        if (options_has(options, OPTION_HOST))
                return g_strdup_printf("ssh %s journalctl -u %s", options->values[OPTION_HOST], quoted);
        if (options_has(options, OPTION_MACHINE))
                return g_strdup_printf("journalctl -M %s -u %s", options->values[OPTION_MACHINE], quoted);
        if (bus ? strcmp(bus, "session") == 0 : options_has(options, OPTION_USER))
                return g_strdup_printf("journalctl --user -u %s", quoted);

        return g_strdup_printf("journalctl -u %s", quoted);
}

void journal_append(const Output *output, GString *text, json_object *lines, int columns) {
        g_autoptr(GString) line = g_string_new(NULL);

        for (size_t i = 0; i < json_object_array_length(lines); i++) {
                json_object *entry = json_object_array_get_idx(lines, i);
                uint64_t time = json_object_get_uint64(json_object_object_get(entry, "time_usec"));
                g_autoptr(GDateTime) moment = g_date_time_new_from_unix_local((gint64) (time / G_USEC_PER_SEC));
                g_autofree char *clock = moment ? g_date_time_format(moment, "%T") : g_strdup("?");

                output_appendf(output, line, STYLE_PLAIN, "%*s", columns, "");
                output_appendf(output, line, STYLE_DIM, "%s %s[%s]: ", clock, fact(entry, "identifier") ?: "?",
                               fact(entry, "pid") ?: "?");
                output_append(output, line, STYLE_PLAIN, fact(entry, "message") ?: "");
                output_end_line(output, text, line);
        }
}
