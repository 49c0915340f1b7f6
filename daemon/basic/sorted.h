/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Sorts texts, and the keys of tables that are numbers.
 */

#include <glib.h>
#include <string.h>

/* Compares two texts, by pointers to them: for g_ptr_array_sort(), qsort() and bsearch(). */
static inline int compare_texts(const void *a, const void *b) {
        return strcmp(*(const char *const *) a, *(const char *const *) b);
}

static inline int compare_numbers(const void *a, const void *b) {
        guint x = GPOINTER_TO_UINT(a), y = GPOINTER_TO_UINT(b);

        return (x > y) - (x < y);
}

/* The keys of the table, which are numbers, in their order; a table that is NULL has none. The list is to be freed. */
static inline GList *sorted_keys(GHashTable *table) {
        return table ? g_list_sort(g_hash_table_get_keys(table), compare_numbers) : NULL;
}
