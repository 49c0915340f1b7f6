/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The output, and what it can show: colours, characters beyond ASCII, and the width of lines.
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
        bool quiet; /* print only results and errors */
        bool colour;
        bool ascii;
        size_t columns; /* of a line; 0: no limit */
} Output;

/* Sets what stdout can show, by the locale and by TERM, NO_COLOR and COLUMNS. */
void output_detect(Output *output);

/* Notes when the reader of the output has gone, which would end the process otherwise. */
void output_watch(void);
/* Whether it has. Further output is lost, and is not an error. */
bool output_is_closed(void);

/* Appends text in that style, with unsafe characters replaced. */
void output_append(const Output *output, GString *line, Style style, const char *text);
void output_appendf(const Output *output, GString *line, Style style, const char *format, ...) G_GNUC_PRINTF(4, 5);

/* Moves the line to the end of the text, cut to the width of the output. */
void output_end_line(const Output *output, GString *text, GString *line);

/* Prints a line of text, cut to the width of the output. */
void output_print_line(const Output *output, GString *line);

/* The text of a JSON value that can be shown on a terminal; flags as for json_object_to_json_string_ext(). */
char *output_json_text(json_object *value, int flags);
/* Prints a value as a document, or as one line of a stream, which is flushed. Takes the value. */
json_object *output_strings_to_json(char **strings);
void output_print_json(json_object *value);
void output_print_json_line(json_object *value);
