/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Prints rows of cells in columns, for the verbs that print tables. */

#include "client/view/columns.h"
#include "client/view/text.h"

#define COLUMNS_GAP 2

struct Columns {
        size_t n_columns;
        size_t *widths;
        GPtrArray *cells; /* char * */
};

Columns *columns_new(size_t n_columns) {
        Columns *columns = g_new(Columns, 1);

        *columns = (Columns){
                .n_columns = n_columns,
                .widths = g_new0(size_t, n_columns),
                .cells = g_ptr_array_new_with_free_func(g_free),
        };

        return columns;
}

void columns_free(Columns *columns) {
        if (!columns)
                return;

        g_free(columns->widths);
        g_ptr_array_unref(columns->cells);
        g_free(columns);
}

void columns_add(Columns *columns, const char *cell) {
        size_t *width = &columns->widths[columns->cells->len % columns->n_columns];

        *width = MAX(*width, text_width(cell));
        g_ptr_array_add(columns->cells, g_strdup(cell));
}

void columns_add_styled(Columns *columns, const Output *output, Style style, const char *text) {
        g_autoptr(GString) cell = g_string_new(NULL);

        output_append(output, cell, style, text);
        columns_add(columns, cell->str);
}

static void print_row(const Columns *columns, const Output *output, size_t first) {
        g_autoptr(GString) line = g_string_new(NULL);
        gsize used = 0; /* length without trailing blanks */

        for (size_t i = 0; i < columns->n_columns; i++) {
                const char *cell = g_ptr_array_index(columns->cells, first + i);

                g_string_append(line, cell);
                if (*cell)
                        used = line->len;
                g_string_append_printf(line, "%*s", (int) (columns->widths[i] - text_width(cell) + COLUMNS_GAP), "");
        }

        g_string_truncate(line, used);
        output_print_line(output, line);
}

void columns_print(const Columns *columns, const Output *output) {
        for (size_t i = 0; i < columns->cells->len; i += columns->n_columns)
                print_row(columns, output, i);
}
