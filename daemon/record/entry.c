/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Writes and reads lines of run records. Writing is fast, because it happens for each input of each run; a line is read
 * only once. */

#include <errno.h>
#include <inttypes.h>
#include <json-c/json_tokener.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/crc32.h"
#include "record/entry.h"

#define CHECKSUM_LENGTH 8u
/* Longer than the two numbers and the longest kind. */
#define BEGIN_MAX 64u
/* Before the checksum: the block continues. No other part of a line ends like this. */
#define MORE " +"
/* In a snapshot: the checksum of the line before it. */
#define BEFORE "before"
#define JSON_DEPTH_MAX 1000

#define NAME_OF(kind, name) name,

static const char *const kind_names[] = { RECORD_ENTRIES(NAME_OF) };

const char *entry_kind_to_string(EntryKind kind) {
        return kind_names[kind];
}

/* Writes the number and returns the end. With printf(), this would be a third of the cost of a line. */
static char *put_number(char *text, uint64_t number) {
        char digits[20], *p = digits + sizeof(digits);

        do {
                *--p = (char) ('0' + number % 10);
                number /= 10;
        } while (number > 0);

        return mempcpy(text, p, (size_t) (digits + sizeof(digits) - p));
}

uint32_t entry_append_checksum(GString *text, size_t line, uint32_t before) {
        uint32_t crc = crc32_of(before, text->str + line, text->len - line);
        char end[1 + CHECKSUM_LENGTH + 1], *p = end;

        *p++ = ' ';
        for (int shift = 28; shift >= 0; shift -= 4)
                *p++ = "0123456789abcdef"[crc >> shift & 0xf];
        *p++ = '\n';
        g_string_append_len(text, end, p - end);
        return crc;
}

size_t entry_begin(GString *text, uint64_t time, EntryKind kind, NodeId node) {
        size_t line = text->len;
        char begin[BEGIN_MAX], *p = put_number(begin, time);

        *p++ = ' ';
        p = stpcpy(p, kind_names[kind]);
        if (node != NODE_NONE)
                p = put_number(stpcpy(p, " #"), node);

        g_string_append_len(text, begin, p - begin);
        return line;
}

void entry_end(GString *text, size_t line, EntryKind kind, bool more, EntryChain *chain) {
        if (more)
                g_string_append_len(text, MORE, strlen(MORE));
        chain->last = entry_append_checksum(text, line, kind == ENTRY_SNAPSHOT ? chain->header : chain->last);
}

void entry_append(GString *text, const Entry *entry, EntryChain *chain) {
        size_t line = entry_begin(text, entry->time, entry->kind, entry->node);

        if (entry->kind == ENTRY_SNAPSHOT && entry->details)
                json_object_object_add(entry->details, BEFORE, json_object_new_int64(chain->last));
        if (entry->details) {
                g_string_append_c(text, ' ');
                g_string_append(text, json_object_to_json_string_ext(
                                              entry->details, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
        }
        entry_end(text, line, entry->kind, entry->more, chain);
}

bool entry_read_checksum(const char *line, size_t length, size_t *ret_length, uint32_t *ret_checksum) {
        size_t rest = length - CHECKSUM_LENGTH - 1;
        uint32_t crc = 0;

        if (length <= CHECKSUM_LENGTH || line[rest] != ' ')
                return false;

        for (size_t i = rest + 1; i < length; i++) {
                if (!g_ascii_isxdigit(line[i]))
                        return false;
                crc = crc << 4 | (uint32_t) g_ascii_xdigit_value(line[i]);
        }

        *ret_length = rest;
        *ret_checksum = crc;
        return true;
}

/* The word at *p, which is moved after it and the next space. NULL: none. */
static char *take_word(const char **p, const char *end) {
        const char *start = *p, *space;

        if (start >= end || *start == '{')
                return NULL;

        space = memchr(start, ' ', (size_t) (end - start)) ?: end;
        *p = space < end ? space + 1 : end;
        return g_strndup(start, (size_t) (space - start));
}

json_object *entry_parse_object(const char *text, size_t length) {
        json_tokener *tokener = json_tokener_new_ex(JSON_DEPTH_MAX);
        json_object *object;
        bool whole;

        json_tokener_set_flags(tokener, JSON_TOKENER_VALIDATE_UTF8);
        object = json_tokener_parse_ex(tokener, text, (int) length);
        whole = json_tokener_get_error(tokener) == json_tokener_success &&
                json_tokener_get_parse_end(tokener) == length;
        json_tokener_free(tokener);
        if (whole && json_object_is_type(object, json_type_object))
                return object;

        json_object_put(object);
        return NULL;
}

int entry_parse(const char *line, size_t length, EntryChain *chain, Entry *ret_entry, char **ret_error) {
        g_autofree char *time = NULL, *kind = NULL, *node = NULL;
        g_auto(Entry) entry = { .node = NODE_NONE };
        const char *p, *end, *name = kind_names[ENTRY_SNAPSHOT];
        guint64 number = NODE_NONE;
        uint32_t checksum;
        bool snapshot;
        size_t rest;

        if (!entry_read_checksum(line, length, &rest, &checksum)) {
                *ret_error = g_strdup("it does not match its checksum");
                return -EBADMSG;
        }
        /* The kind is needed before the checksum is verified: that of a snapshot does not cover the line before. */
        end = line + rest;
        p = memchr(line, ' ', rest);
        snapshot = p && (size_t) (end - p) > strlen(name) && memcmp(p + 1, name, strlen(name)) == 0;
        if (checksum != crc32_of(snapshot ? chain->header : chain->last, line, rest)) {
                *ret_error = g_strdup("it does not match its checksum, or lines before it are missing");
                return -EBADMSG;
        }

        p = line;
        entry.more = rest > strlen(MORE) && memcmp(end - strlen(MORE), MORE, strlen(MORE)) == 0;
        if (entry.more)
                end -= strlen(MORE);
        time = take_word(&p, end);
        kind = take_word(&p, end);
        node = take_word(&p, end);
        while (kind && entry.kind < ENTRY_KIND_MAX_ && strcmp(kind_names[entry.kind], kind) != 0)
                entry.kind++;
        if (!time || !g_ascii_string_to_unsigned(time, 10, 0, UINT64_MAX, &entry.time, NULL) || !kind ||
            entry.kind == ENTRY_KIND_MAX_ ||
            (node && (*node != '#' || !g_ascii_string_to_unsigned(node + 1, 10, 0, NODE_NONE - 1, &number, NULL))) ||
            (p < end && !(entry.details = entry_parse_object(p, (size_t) (end - p))))) {
                *ret_error = g_strdup_printf("'%.*s' is not known", (int) MIN(rest, 60), line);
                return -EINVAL;
        }

        entry.node = (NodeId) number;
        chain->last = checksum;
        *ret_entry = entry;
        entry = (Entry){};
        return 0;
}

bool entry_follows(const Entry *snapshot, uint32_t before) {
        json_object *value = NULL;

        json_object_object_get_ex(snapshot->details, BEFORE, &value);
        return json_object_is_type(value, json_type_int) && json_object_get_int64(value) == (int64_t) before;
}

void entry_clear(Entry *entry) {
        json_object_put(entry->details);
        *entry = (Entry){};
}
