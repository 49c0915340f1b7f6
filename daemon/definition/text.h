/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The text of a tree file as a flat array of items that know where they stand: strict JSON (RFC 8259), plus comments.
 *
 * Items are in the order of the text. An object's members are pairs: the key, a string, then the value. The first
 * member or element stands right behind its object or array; the next one is at text_next() of the one before.
 * "\u0000" is refused, since no parameter could hold it.
 */

#include <glib.h>
#include <json-c/json_object.h>
#include <stdbool.h>
#include <stdint.h>

#define TEXT_LENGTH_MAX (64u * 1024 * 1024)
#define TEXT_ITEMS_MAX (16u * 1024 * 1024)
#define TEXT_NESTING_MAX 4000u /* brackets; a node needs two */
#define TEXT_VALUE_NESTING_MAX 100u

typedef enum TextKind {
        TEXT_NULL,
        TEXT_FALSE,
        TEXT_TRUE,
        TEXT_NUMBER,
        TEXT_STRING,
        TEXT_ARRAY,
        TEXT_OBJECT,
} TextKind;

typedef struct TextItem {
        uint32_t start, end; /* bytes; of a string without its quotes */
        uint32_t next;       /* the item behind it and all that it contains */
        uint32_t count : 27; /* elements, or members */
        uint32_t kind : 4;
        uint32_t escaped : 1; /* a string with backslashes */
} TextItem;

typedef struct Text {
        const char *text; /* borrowed */
        TextItem *items;  /* 0 is the outermost value */
        uint32_t n_items;
} Text;

/* Reads the whole text. -EINVAL: where it is no JSON, and a text for people. */
int text_read(const char *text, size_t length, Text *ret_text, size_t *ret_offset, char **ret_error);
void text_clear(Text *text);

static inline const TextItem *text_item(const Text *text, uint32_t item) {
        return &text->items[item];
}

static inline uint32_t text_next(const Text *text, uint32_t item) {
        return text_item(text, item)->next;
}

static inline TextKind text_kind(const Text *text, uint32_t item) {
        return text_item(text, item)->kind;
}

/* Where the item stands, for messages: a string's opening quote. */
size_t text_offset(const Text *text, uint32_t item);

/* Where a byte of a string is, its escapes undone. */
size_t text_offset_inside(const Text *text, uint32_t item, size_t byte, GString *scratch);

/* A string with its escapes undone, in scratch where there were any. Good until scratch changes or the text goes.
 * Not ended by a NUL. */
const char *text_string(const Text *text, uint32_t item, GString *scratch, size_t *ret_length);

/* The item as a value (a new reference, NULL is null), or its first fault: duplicate keys, numbers that do not fit.
 * -EINVAL with the item at fault and a text for people. */
int text_to_json(const Text *text, uint32_t item, GString *scratch, json_object **ret_value, uint32_t *ret_item,
                 char **ret_error);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Text, text_clear)
