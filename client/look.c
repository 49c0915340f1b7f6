/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The table of symbols and colours, and the words for what became of something. */

#include <string.h>

#include "basic/span.h"
#include "look.h"

typedef struct Look {
        const char *status;
        Style style;
        const char *symbol, *ascii;
} Look;

static const Look looks[] = {
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
        { "rerun", STYLE_CYAN, "»", ">" },
};

static const Look look_unknown = { NULL, STYLE_PLAIN, "?", "?" };

static const Look *look_find(const char *status) {
        for (size_t i = 0; i < G_N_ELEMENTS(looks); i++)
                if (strcmp(looks[i].status, status) == 0)
                        return &looks[i];

        return &look_unknown;
}

void look_append_symbol(const Output *output, GString *line, const char *status) {
        const Look *look = look_find(status);

        output_append(output, line, look->style, output->ascii ? look->ascii : look->symbol);
}

void look_append_word(const Output *output, GString *line, const char *status) {
        output_append(output, line, look_find(status)->style, status);
}

/* A run that was halted has the cause "halted by ...", which need not be said twice. */
static void append_detail(const Output *output, GString *line, const char *status, bool going_on, const char *detail) {
        if (!*detail)
                return;

        if (g_str_has_prefix(detail, status) && detail[strlen(status)] == ' ')
                output_append(output, line, STYLE_PLAIN, detail + strlen(status));
        else
                output_appendf(output, line, STYLE_PLAIN, "%s%s", going_on ? ", " : ": ", detail);
}

void look_append_outcome(const Output *output, GString *line, const char *status, uint64_t duration,
                         const char *detail) {
        bool going_on =
                strcmp(status, "running") == 0 || strcmp(status, "halting") == 0 || strcmp(status, "paused") == 0;

        if (duration > 0) {
                g_autofree char *span = span_format_rounded(duration);

                output_appendf(output, line, STYLE_DIM, " %s %s", going_on ? "for" : "after", span);
        }
        append_detail(output, line, status, going_on, detail);
}

void look_append_event(const Output *output, GString *line, const char *title, const char *status, uint64_t duration,
                       const char *detail) {
        look_append_symbol(output, line, status);
        output_appendf(output, line, STYLE_PLAIN, " %s: ", title);
        look_append_word(output, line, status);
        look_append_outcome(output, line, status, duration, detail);
}
