/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Reads the text of a tree file, which is strict JSON (RFC 8259) plus comments, into a flat array of items with their
 * places. The loader uses it.
 *
 * Items are in the order of the text. An object's members are pairs: the key, a string, then the value. The first
 * member or element follows its object or array directly; the others are found with text_next(). "\u0000" is refused,
 * since no parameter could hold it.
 */

#include <glib.h>
#include <json-c/json_object.h>
#include <stdbool.h>
#include <stdint.h>

#define BYTE_ORDER_MARK "\xef\xbb\xbf"

#define TEXT_LENGTH_MAX (64u * 1024 * 1024)
#define TEXT_ITEMS_MAX (16u * 1024 * 1024)
#define TEXT_NESTING_MAX 4000u /* brackets; a node needs two */

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
        uint32_t start, end; /* bytes; for a string, without its quotes */
        uint32_t next;       /* the item after it and its content */
        uint32_t count : 27; /* elements, or members */
        uint32_t kind : 4;
        uint32_t escaped : 1; /* a string with backslashes */
} TextItem;

typedef struct Text {
        const char *text; /* borrowed */
        TextItem *items;  /* 0 is the outermost value */
        uint32_t n_items;
} Text;

/* Reads the whole text; a byte order mark at its start is skipped. -EINVAL: the text is wrong at the offset, with an
 * error message. */
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

/* Loops over the keys of an object, which its values follow, and over the elements of an array. */
#define TEXT_KEYS(text, key, object)                                                                                   \
        for (uint32_t key = (object) + 1; key < text_next(text, object); key = text_next(text, key + 1))
#define TEXT_ELEMENTS(text, element, array)                                                                            \
        for (uint32_t element = (array) + 1; element < text_next(text, array); element = text_next(text, element))

/* The place of the item for messages: for a string, its opening quote. */
size_t text_offset(const Text *text, uint32_t item);

/* The place of a byte of a string, or of the lines of an array of strings, where byte counts in the decoded text. */
size_t text_offset_inside(const Text *text, uint32_t item, size_t byte, GString *scratch);

/* The decoded string; if it has escapes, in scratch. Valid until scratch changes or the text is freed. There is no NUL
 * byte at its end. */
const char *text_string(const Text *text, uint32_t item, GString *scratch, size_t *ret_length);

/* The decoded string; for an array of strings, these as lines of one text. To be freed. */
char *text_lines(const Text *text, uint32_t item, GString *scratch);

/* "EXPECTED, not VALUE", with the value at the item: '5', '"text"'; for an array or object only the kind, since it may
 * be large. To be freed. */
char *text_unexpected(const Text *text, uint32_t item, const char *expected);

/* Called for an error of a value, such as a key that is given twice, or a number that does not fit. Takes text, an
 * error message. */
typedef void (*TextFault)(uint32_t item, char *text, void *userdata);

/* The item as a value (a new reference; NULL is null), after a report of all its errors. -EEXIST: some keys are
 * given twice, and there are no other errors; the first value of each is used. -EINVAL: there are other errors, and
 * no value. */
int text_to_json(const Text *text, uint32_t item, GString *scratch, TextFault on_fault, void *userdata,
                 json_object **ret_value);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Text, text_clear)
