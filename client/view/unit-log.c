/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Reads the last log lines of a unit from the journal, for btctl status and replay. btctl reads them, not btd, because
 * searching the journal can take long, and the last lines of a process reach it only after the process has ended.
 *
 * The invocation ID separates this run of the unit from others. A process's last lines may be without it, because the
 * journal looks it up when the unit may already be gone. So reading starts at the last line with the ID, goes
 * backwards, and ends at a line with another ID.
 */

#include <string.h>

#include "basic/cleanup.h"
#include "client/view/unit-log.h"

#define LINES_MAX 10u

/* systemd-journald stores a line a moment after it was logged. So if nothing is there yet of a run that has just
 * finished, wait for it, but not for long: there may be nothing. */
#define JUST_FINISHED_USEC (5 * UINT64_C(1000000))
#define WAIT_USEC UINT64_C(1000000)

G_DEFINE_AUTOPTR_CLEANUP_FUNC(sd_journal, sd_journal_close)

static const char *fact(json_object *facts, const char *name) {
        json_object *value;

        return json_object_object_get_ex(facts, name, &value) ? json_object_get_string(value) : NULL;
}

char *journal_read_field(sd_journal *journal, const char *field) {
        size_t length, prefix = strlen(field) + 1;
        const void *data;
        g_autofree char *text = NULL;

        if (sd_journal_get_data(journal, field, &data, &length) < 0)
                return NULL;

        text = g_strndup((const char *) data + prefix, length - prefix);
        return g_utf8_make_valid(text, -1);
}

static void add_text(json_object *line, sd_journal *journal, const char *key, const char *field) {
        g_autofree char *text = journal_read_field(journal, field);

        if (text && !json_object_object_get_ex(line, key, NULL))
                json_object_object_add(line, key, json_object_new_string(text));
}

static const char *const id_fields[] = { "_SYSTEMD_INVOCATION_ID", "INVOCATION_ID", "USER_INVOCATION_ID" };
static const char *const unit_fields[] = { "_SYSTEMD_UNIT", "UNIT" };
static const char *const user_unit_fields[] = { "_SYSTEMD_USER_UNIT", "USER_UNIT" };

/* Matches entries that have the value in one of the fields. */
static int match_any(sd_journal *journal, const char *const *fields, size_t n_fields, const char *value) {
        sd_journal_flush_matches(journal);
        for (size_t i = 0; i < n_fields; i++) {
                g_autofree char *match = g_strdup_printf("%s=%s", fields[i], value);
                int r = sd_journal_add_match(journal, match, 0);

                if (r >= 0)
                        r = sd_journal_add_disjunction(journal);
                if (r < 0)
                        return r;
        }

        return 0;
}

/* A message of the service manager about a unit has the manager's own ID, too. */
static bool is_of_another(sd_journal *journal, const char *id) {
        bool has_id = false;

        for (size_t i = 0; i < G_N_ELEMENTS(id_fields); i++) {
                g_autofree char *value = journal_read_field(journal, id_fields[i]);

                if (value && strcmp(value, id) == 0)
                        return false;
                has_id |= value != NULL;
        }

        return has_id;
}

/* Seeks to the last line with the ID, among all lines of the unit. */
static int go_to_last(sd_journal *journal, const char *unit, const char *id, bool user) {
        g_autofree char *cursor = NULL;
        int r;

        r = match_any(journal, id_fields, G_N_ELEMENTS(id_fields), id);
        if (r >= 0)
                r = sd_journal_seek_tail(journal);
        if (r >= 0)
                r = sd_journal_previous(journal);
        if (r > 0)
                r = sd_journal_get_cursor(journal, &cursor);
        if (!cursor)
                return r;

        r = match_any(journal, user ? user_unit_fields : unit_fields, G_N_ELEMENTS(unit_fields), unit);
        if (r >= 0)
                r = sd_journal_seek_cursor(journal, cursor);
        return r < 0 ? r : sd_journal_next(journal);
}

/* Seeks as go_to_last(), when there is such a line. */
static int await_last(sd_journal *journal, const char *unit, const char *id, bool user) {
        uint64_t now = (uint64_t) g_get_monotonic_time(), until = now + WAIT_USEC;
        int r = go_to_last(journal, unit, id, user);

        if (r != 0)
                return r;

        /* Without the permission to read lines of the service manager, those of the unit cannot be expected, either. */
        sd_journal_flush_matches(journal);
        if (!user && (sd_journal_add_match(journal, "_PID=1", 0) < 0 || sd_journal_seek_tail(journal) < 0 ||
                      sd_journal_previous(journal) <= 0))
                return r;

        while (r == 0 && now < until) {
                r = sd_journal_wait(journal, until - now);
                if (r >= 0)
                        r = go_to_last(journal, unit, id, user);
                now = (uint64_t) g_get_monotonic_time();
        }

        return r;
}

static void read_lines(const char *unit, const char *id, bool user, bool fresh, json_object *lines) {
        g_autoptr(GPtrArray) backwards = g_ptr_array_new();
        g_autoptr(sd_journal) journal = NULL;

        if (sd_journal_open(&journal, SD_JOURNAL_LOCAL_ONLY) < 0 ||
            (fresh ? await_last : go_to_last)(journal, unit, id, user) <= 0)
                return;

        do {
                json_object *line = json_object_new_object();
                uint64_t time = 0;

                (void) sd_journal_get_realtime_usec(journal, &time);
                json_object_object_add(line, "time_usec", json_object_new_uint64(time));
                add_text(line, journal, "identifier", "SYSLOG_IDENTIFIER");
                add_text(line, journal, "identifier", "_COMM");
                add_text(line, journal, "pid", "_PID");
                add_text(line, journal, "message", "MESSAGE");
                g_ptr_array_add(backwards, line);
        } while (backwards->len < LINES_MAX && sd_journal_previous(journal) > 0 && !is_of_another(journal, id));

        while (backwards->len > 0)
                json_object_array_add(lines, g_ptr_array_steal_index(backwards, backwards->len - 1));
}

static bool is_of_user(const Client *client, json_object *facts) {
        const char *bus = fact(facts, "bus");

        return bus ? strcmp(bus, "session") == 0 : options_has(&client->options, OPTION_USER);
}

json_object *journal_last_lines(const Client *client, json_object *facts, uint64_t finished) {
        json_object *lines = json_object_new_array();
        const char *unit = fact(facts, "unit"), *id = fact(facts, "invocation_id"), *bus = fact(facts, "bus");
        bool ran = !fact(facts, "failed_required"), elsewhere = options_has(&client->options, OPTION_HOST) ||
                                                                options_has(&client->options, OPTION_MACHINE) ||
                                                                (bus && strchr(bus, ':'));

        if (unit && id && ran && !elsewhere)
                read_lines(unit, id, is_of_user(client, facts),
                           finished + JUST_FINISHED_USEC > (uint64_t) g_get_real_time(), lines);

        return lines;
}

char *journal_command(const Client *client, json_object *facts) {
        const Options *options = &client->options;
        const char *unit = fact(facts, "failed_required") ?: fact(facts, "unit"), *bus = fact(facts, "bus");
        g_autofree char *quoted = NULL;

        if (!unit)
                return NULL;

        /* For a shell, only if needed. */
        quoted = unit[strspn(unit, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS ":_.@-")] ? g_shell_quote(unit)
                                                                                     : g_strdup(unit);
        if (bus && g_str_has_prefix(bus, "host:"))
                return g_strdup_printf("ssh %s journalctl -u %s", bus + strlen("host:"), quoted);
        if (bus && g_str_has_prefix(bus, "machine:"))
                return g_strdup_printf("journalctl -M %s -u %s", bus + strlen("machine:"), quoted);
        if (options_has(options, OPTION_HOST))
                return g_strdup_printf("ssh %s journalctl -u %s", options->values[OPTION_HOST], quoted);
        if (options_has(options, OPTION_MACHINE))
                return g_strdup_printf("journalctl -M %s -u %s", options->values[OPTION_MACHINE], quoted);
        if (is_of_user(client, facts))
                return g_strdup_printf("journalctl --user -u %s", quoted);

        return g_strdup_printf("journalctl -u %s", quoted);
}

void journal_append(const Output *output, GString *text, json_object *lines, int columns) {
        g_autoptr(GString) line = g_string_new(NULL);

        for (size_t i = 0; i < json_object_array_length(lines); i++) {
                json_object *entry = json_object_array_get_idx(lines, i);
                uint64_t time = json_object_get_uint64(json_object_object_get(entry, "time_usec"));
                g_autoptr(GDateTime) date = g_date_time_new_from_unix_local((gint64) (time / G_USEC_PER_SEC));
                g_autofree char *clock = date ? g_date_time_format(date, "%T") : g_strdup("?");

                output_appendf(output, line, STYLE_PLAIN, "%*s", columns, "");
                output_appendf(output, line, STYLE_DIM, "%s %s[%s]: ", clock, fact(entry, "identifier") ?: "?",
                               fact(entry, "pid") ?: "?");
                output_append(output, line, STYLE_PLAIN, fact(entry, "message") ?: "");
                output_end_line(output, text, line);
        }
}
