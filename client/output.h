/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Where the output goes and what can be shown there: colours, characters beyond ASCII, lines of what width.
 */

#include <glib.h>
#include <json-c/json_object.h>
#include <stdbool.h>

typedef enum Style {
        STYLE_PLAIN,
        STYLE_BOLD,
        STYLE_DIM,
        STYLE_RED,
        STYLE_GREEN,
        STYLE_YELLOW,
        STYLE_CYAN,
        STYLE_MAGENTA,
        STYLE_MAX_,
} Style;

typedef struct Output {
        bool json;
        bool quiet; /* leave out what only says that all is well */
        bool colour;
        bool ascii;
        size_t columns; /* of a line; 0: no limit */
} Output;

/* What suits stdout, by the locale and by TERM, NO_COLOR and COLUMNS. */
void output_detect(Output *output);

/* Appends text in that style, made safe to print. */
void output_append(const Output *output, GString *line, Style style, const char *text);
void output_appendf(const Output *output, GString *line, Style style, const char *format, ...) G_GNUC_PRINTF(4, 5);

/* Moves the line, cut to the width there is, to the end of the text. */
void output_end_line(const Output *output, GString *text, GString *line);

/* Prints a line of text, cut to the width there is. */
void output_print_line(const Output *output, GString *line);

/* Prints a value as a document; or as one line of a stream, which is read as it comes. Takes the value. */
json_object *output_strings_to_json(char **strings);
void output_print_json(json_object *value);
void output_print_json_line(json_object *value);
