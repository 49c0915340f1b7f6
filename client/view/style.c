/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Owns the symbols, colours and words of statuses, and the formats of times, for all verbs. */

#include <glib.h>
#include <string.h>

#include "basic/span.h"
#include "client/view/style.h"

typedef struct StatusStyle {
        const char *status;
        Style style;
        const char *symbol, *ascii;
} StatusStyle;

static const StatusStyle status_styles[] = {
        { "idle", STYLE_DIM, "○", "-" },         { "running", STYLE_CYAN, "●", "*" },
        { "success", STYLE_GREEN, "✓", "+" },    { "failure", STYLE_RED, "✗", "x" },
        { "skipped", STYLE_DIM, "↷", ">" },      { "halted", STYLE_MAGENTA, "■", "#" },
        { "halting", STYLE_MAGENTA, "●", "*" },  { "paused", STYLE_YELLOW, "‖", "=" },
        { "error", STYLE_RED, "!", "!" },        { "ok", STYLE_GREEN, "✓", "+" },
        { "broken", STYLE_YELLOW, "!", "!" },    { "failed", STYLE_RED, "✗", "x" },
        { "stopping", STYLE_MAGENTA, "●", "*" }, { "log", STYLE_PLAIN, "»", ">" },
        { "warning", STYLE_YELLOW, "!", "!" },   { "waiting", STYLE_YELLOW, "●", "*" },
        { "started", STYLE_CYAN, "»", ">" },     { "cut", STYLE_DIM, "·", "." },
        { "resumed", STYLE_CYAN, "»", ">" },     { "stepped", STYLE_CYAN, "»", ">" },
        { "set", STYLE_CYAN, "»", ">" },         { "breakpoint", STYLE_YELLOW, "‖", "=" },
        { "cleared", STYLE_YELLOW, "‖", "=" },   { "stands", STYLE_YELLOW, "‖", "=" },
        { "forced", STYLE_YELLOW, "!", "!" },    { "timer", STYLE_DIM, "·", "." },
        { "locked", STYLE_DIM, "·", "." },       { "recovered", STYLE_CYAN, "»", ">" },
        { "rerun", STYLE_CYAN, "»", ">" },       { "ready", STYLE_GREEN, "»", ">" },
        { "suspended", STYLE_DIM, "·", "." },
};

static const StatusStyle unknown_style = { NULL, STYLE_PLAIN, "?", "?" };

static const StatusStyle *find_style(const char *status) {
        for (size_t i = 0; i < G_N_ELEMENTS(status_styles); i++)
                if (strcmp(status_styles[i].status, status) == 0)
                        return &status_styles[i];

        return &unknown_style;
}

void style_append_symbol(const Output *output, GString *line, const char *status) {
        const StatusStyle *style = find_style(status);

        output_append(output, line, style->style, output->ascii ? style->ascii : style->symbol);
}

void style_append_word(const Output *output, GString *line, const char *status) {
        output_append(output, line, find_style(status)->style, status);
}

/* The cause of a halted run is "halted by ...", so "halted" is not repeated. */
static void append_detail(const Output *output, GString *line, const char *status, bool going_on, const char *detail) {
        if (!*detail)
                return;

        if (g_str_has_prefix(detail, status) && detail[strlen(status)] == ' ')
                output_append(output, line, STYLE_PLAIN, detail + strlen(status));
        else
                output_appendf(output, line, STYLE_PLAIN, "%s%s", going_on ? ", " : ": ", detail);
}

void style_append_outcome(const Output *output, GString *line, const char *status, uint64_t duration,
                          const char *detail) {
        bool going_on =
                strcmp(status, "running") == 0 || strcmp(status, "halting") == 0 || strcmp(status, "paused") == 0;

        if (duration > 0) {
                g_autofree char *span = span_format_rounded(duration);

                output_appendf(output, line, STYLE_DIM, " %s %s", going_on ? "for" : "after", span);
        }
        append_detail(output, line, status, going_on, detail);
}

void style_append_event(const Output *output, GString *line, const char *title, const char *status, uint64_t duration,
                        const char *detail) {
        style_append_symbol(output, line, status);
        output_appendf(output, line, STYLE_PLAIN, " %s: ", title);
        style_append_word(output, line, status);
        style_append_outcome(output, line, status, duration, detail);
}

static char *format_local(uint64_t time, const char *format) {
        g_autoptr(GDateTime) local = g_date_time_new_from_unix_local(time / G_USEC_PER_SEC);

        return local ? g_date_time_format(local, format) : g_strdup("?");
}

char *time_format_date(uint64_t time) {
        return format_local(time, "%Y-%m-%d %H:%M:%S");
}

char *time_format_point(uint64_t time) {
        g_autofree char *date = format_local(time, "%a %Y-%m-%d %H:%M:%S %Z");
        uint64_t now = g_get_real_time();
        g_autofree char *ago = span_format_rounded(now > time ? now - time : 0);

        return g_strdup_printf("%s; %s ago", date, ago);
}
