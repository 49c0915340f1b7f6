/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Rows of cells, printed in columns as wide as they need to be.
 */

#include "output.h"

typedef struct Columns Columns;

Columns *columns_new(size_t n_columns);
void columns_free(Columns *columns);

/* Fills the next cell, row by row. The text may have colours, as output_append() makes them. */
void columns_add(Columns *columns, const char *cell);
void columns_add_styled(Columns *columns, const Output *output, Style style, const char *text);

void columns_print(const Columns *columns, const Output *output);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Columns, columns_free)
