/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Owns what btctl prints on stdout: what it can show, styled lines, tables, JSON, and the pager. Long output goes to a
 * pager under the rules of systemd's own tools, see $SYSTEMD_PAGER in systemd(1).
 */

#include <glib.h>
#include <json-c/json_object.h>
#include <stdbool.h>
#include <sys/types.h>

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
/* Whether nothing more can be written: it is closed, or an error occurred, which main() reports. */
bool output_is_lost(void);

/* Appends text in that style, with unsafe characters replaced. */
void output_append(const Output *output, GString *line, Style style, const char *text);
void output_appendf(const Output *output, GString *line, Style style, const char *format, ...) G_GNUC_PRINTF(4, 5);

/* Moves the line to the end of the text, cut to the width of the output. */
void output_end_line(const Output *output, GString *text, GString *line);

/* Prints a line of text, cut to the width of the output. */
void output_print_line(const Output *output, GString *line);

/* A table: rows of cells, whose columns are as wide as their widest cell. */
typedef struct Columns Columns;

Columns *columns_new(size_t n_columns);
void columns_free(Columns *columns);

/* Adds the next cell, row by row. The text may have colours from output_append(). */
void columns_add(Columns *columns, const char *cell);
void columns_add_styled(Columns *columns, const Output *output, Style style, const char *text);

/* The lines of the table, not cut. */
GPtrArray *columns_lines(const Columns *columns);
void columns_print(const Columns *columns, const Output *output);

/* The text of a JSON value that can be shown on a terminal; flags as for json_object_to_json_string_ext(). */
char *output_json_text(json_object *value, int flags);
/* Prints a value as a document, or as one line of a stream, which is flushed. Takes the value. */
json_object *output_strings_to_json(char **strings);
void output_print_json(json_object *value);
void output_print_json_line(json_object *value);

typedef struct Pager {
        pid_t pid;         /* 0: there is none */
        int former_stderr; /* -1: stderr does not go to the pager */
} Pager;

/* From now on, stdout goes to a pager; so does stderr if it is a terminal. Does nothing if stdout is no terminal, or if
 * the environment or a lack of pagers prevents it. */
void pager_open(Pager *pager, bool end);
/* Waits until the user leaves the pager. Nothing can be printed on stdout after that. */
void pager_close(Pager *pager);
/* Tells less(1) whether it may start other programs. True: it must not, and only less may be used. */
bool pager_secure(void);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Columns, columns_free)
