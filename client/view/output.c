/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Finds out what the terminal can show, and prints text and JSON on it, for all verbs. */

#include <langinfo.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "client/view/output.h"
#include "client/view/text.h"

#define COLUMNS_DEFAULT 80u

static const char *const style_codes[STYLE_MAX_] = {
        [STYLE_PLAIN] = "",        [STYLE_BOLD] = "\033[1m",     [STYLE_DIM] = "\033[2m",
        [STYLE_RED] = "\033[31m",  [STYLE_GREEN] = "\033[32m",   [STYLE_YELLOW] = "\033[33m",
        [STYLE_CYAN] = "\033[36m", [STYLE_MAGENTA] = "\033[35m",
};

static size_t terminal_columns(void) {
        const char *text = getenv("COLUMNS");
        struct winsize size = {};
        guint64 columns;

        if (text && g_ascii_string_to_unsigned(text, 10, 1, G_MAXUINT16, &columns, NULL))
                return columns;

        if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) >= 0 && size.ws_col > 0)
                return size.ws_col;

        return COLUMNS_DEFAULT;
}

void output_detect(Output *output) {
        const char *term = getenv("TERM"), *no_colour = getenv("NO_COLOR");
        bool terminal = isatty(STDOUT_FILENO), dumb = !term || strcmp(term, "dumb") == 0;

        *output = (Output){
                .colour = terminal && !dumb && (!no_colour || !*no_colour),
                .ascii = strcmp(nl_langinfo(CODESET), "UTF-8") != 0,
                .columns = terminal ? terminal_columns() : 0,
        };

        /* The font of the kernel's console has no symbols. */
        if (terminal && (dumb || strcmp(term, "linux") == 0))
                output->ascii = true;
}

static volatile sig_atomic_t closed;

static void on_closed(int number) {
        closed = 1;
}

/* A handler, because children would inherit that the signal is ignored. */
void output_watch(void) {
        sigaction(SIGPIPE, &(struct sigaction){ .sa_handler = on_closed, .sa_flags = SA_RESTART }, NULL);
}

bool output_is_closed(void) {
        return closed;
}

void output_append(const Output *output, GString *line, Style style, const char *text) {
        g_autofree char *clean = text_clean(text, output->ascii);
        bool styled = output->colour && style != STYLE_PLAIN;

        if (styled)
                g_string_append(line, style_codes[style]);
        g_string_append(line, clean);
        if (styled)
                g_string_append(line, "\033[0m");
}

void output_appendf(const Output *output, GString *line, Style style, const char *format, ...) {
        g_autofree char *text = NULL;
        va_list arguments;

        va_start(arguments, format);
        text = g_strdup_vprintf(format, arguments);
        va_end(arguments);

        output_append(output, line, style, text);
}

void output_end_line(const Output *output, GString *text, GString *line) {
        if (output->columns > 0)
                text_ellipsize(line, output->columns, output->ascii);

        g_string_append_len(text, line->str, line->len);
        g_string_append_c(text, '\n');
        g_string_truncate(line, 0);
}

void output_print_line(const Output *output, GString *line) {
        g_autoptr(GString) text = g_string_new(NULL);

        output_end_line(output, text, line);
        fputs(text->str, stdout);
}

json_object *output_strings_to_json(char **strings) {
        json_object *json = json_object_new_array();

        for (char **s = strings; *s; s++)
                json_object_array_add(json, json_object_new_string(*s));

        return json;
}

char *output_json_text(json_object *value, int flags) {
        return text_escape_json(json_object_to_json_string_ext(value, flags | JSON_C_TO_STRING_NOSLASHESCAPE));
}

void output_print_json(json_object *value) {
        g_autoptr(json_object) owned = value;
        g_autofree char *text = output_json_text(owned, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED);

        puts(text);
}

void output_print_json_line(json_object *value) {
        g_autoptr(json_object) owned = value;
        g_autofree char *text = output_json_text(owned, 0);

        puts(text);
        fflush(stdout);
}
