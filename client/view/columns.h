/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A table: rows of cells, whose columns are as wide as their widest cell.
 */

#include "client/view/output.h"

typedef struct Columns Columns;

Columns *columns_new(size_t n_columns);
void columns_free(Columns *columns);

/* Adds the next cell, row by row. The text may have colours from output_append(). */
void columns_add(Columns *columns, const char *cell);
void columns_add_styled(Columns *columns, const Output *output, Style style, const char *text);

void columns_print(const Columns *columns, const Output *output);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Columns, columns_free)
