/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Loops over the containers of GLib. The container must not change meanwhile; the loop can be left at any time.
 */

#include <glib.h>
#include <stdbool.h>

static inline GHashTableIter foreach_begin(GHashTable *table) {
        GHashTableIter iter;

        g_hash_table_iter_init(&iter, table);
        return iter;
}

/* NULL: there are no more values. */
static inline void *foreach_next(GHashTableIter *iter) {
        void *value;

        return g_hash_table_iter_next(iter, NULL, &value) ? value : NULL;
}

/* The values of a hash table, which are not NULL. value: a variable. */
#define TABLE_FOREACH(value, table)                                                                                    \
        for (GHashTableIter value##_iter = foreach_begin(table); (value = foreach_next(&value##_iter));)

static inline void *foreach_next_pair(GHashTableIter *iter, void **ret_key) {
        void *value;

        return g_hash_table_iter_next(iter, ret_key, &value) ? value : NULL;
}

/* The same with their keys: it.key and it.value. */
#define TABLE_PAIRS(type, it, table)                                                                                   \
        for (struct {                                                                                                  \
                     GHashTableIter iter;                                                                              \
                     void *next_key;                                                                                   \
                     const char *key;                                                                                  \
                     type *value;                                                                                      \
             } it = { .iter = foreach_begin(table) };                                                                  \
             (it.value = foreach_next_pair(&it.iter, &it.next_key)) && (it.key = it.next_key, true);)

/* The elements of a GArray, by pointers to them; and of a GPtrArray. An empty one can have no memory, and then there is
 * no address behind it. */
#define ARRAY_FOREACH(type, element, array)                                                                            \
        for (type *element = (void *) (array)->data, *element##_end = element ? element + (array)->len : NULL;         \
             element < element##_end; element++)
#define PTRS_FOREACH(type, element, array)                                                                             \
        for (type * element, **element##_at = (type **) (array)->pdata,                                                \
                             **element##_end = element##_at ? element##_at + (array)->len : NULL;                      \
             element##_at < element##_end && (element = *element##_at, true); element##_at++)
