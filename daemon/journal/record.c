/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Lines are written for each input of each run, so without any detour; they are read once. */

#include <errno.h>
#include <inttypes.h>
#include <json-c/json_tokener.h>
#include <string.h>

#include "basic/cleanup.h"
#include "journal/crc32.h"
#include "journal/record.h"

#define CHECKSUM_LENGTH 8u
#define JSON_DEPTH_MAX 1000

static const char *const kind_names[RECORD_KIND_MAX_] = {
        [RECORD_START] = "start",
        [RECORD_TICK] = "tick",
        [RECORD_ENDED] = "ended",
        [RECORD_CHANGED] = "changed",
        [RECORD_TURNED] = "turned",
        [RECORD_TIMER] = "timer",
        [RECORD_INTERVAL] = "interval",
        [RECORD_SET] = "set",
        [RECORD_NOTE] = "note",
        [RECORD_LOCKED] = "locked",
        [RECORD_HALT] = "halt",
        [RECORD_PAUSE] = "pause",
        [RECORD_RESUME] = "resume",
        [RECORD_STEP] = "step",
        [RECORD_BREAK] = "break",
        [RECORD_FORCE] = "force",
        [RECORD_BEGIN] = "begin",
        [RECORD_AT_ONCE] = "at-once",
        [RECORD_STOPPED] = "stopped",
        [RECORD_VALUE] = "value",
        [RECORD_AT_ONCE_LOCKED] = "at-once-locked",
        [RECORD_WAITS] = "waits",
        [RECORD_RECOVERED] = "recovered",
        [RECORD_RERUN] = "rerun",
        [RECORD_FINISHED] = "finished",
        [RECORD_SNAPSHOT] = "snapshot",
};

const char *record_kind_to_string(RecordKind kind) {
        return kind_names[kind];
}

/* printf() is a third of the cost of a line otherwise. */
static void append_number(GString *text, uint64_t number) {
        char digits[20], *p = digits + sizeof(digits);

        do {
                *--p = (char) ('0' + number % 10);
                number /= 10;
        } while (number > 0);

        g_string_append_len(text, p, digits + sizeof(digits) - p);
}

void record_append_checksum(GString *text, size_t line) {
        uint32_t crc = crc32_of(text->str + line, text->len - line);

        g_string_append_c(text, ' ');
        for (int shift = 28; shift >= 0; shift -= 4)
                g_string_append_c(text, "0123456789abcdef"[crc >> shift & 0xf]);
        g_string_append_c(text, '\n');
}

size_t record_begin(GString *text, uint64_t time, RecordKind kind, NodeId node) {
        size_t line = text->len;

        append_number(text, time);
        g_string_append_c(text, ' ');
        g_string_append(text, kind_names[kind]);
        if (node != NODE_NONE) {
                g_string_append(text, " #");
                append_number(text, node);
        }

        return line;
}

void record_end(GString *text, size_t line) {
        record_append_checksum(text, line);
}

void record_append(GString *text, const Record *record) {
        size_t line = record_begin(text, record->time, record->kind, record->node);

        if (record->details) {
                g_string_append_c(text, ' ');
                g_string_append(
                        text, json_object_to_json_string_ext(record->details,
                                                             JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
        }
        record_end(text, line);
}

bool record_check(const char *line, size_t length, size_t *ret_length) {
        size_t rest = length - CHECKSUM_LENGTH - 1;
        uint32_t crc = 0;

        if (length <= CHECKSUM_LENGTH || line[rest] != ' ')
                return false;

        for (size_t i = rest + 1; i < length; i++) {
                if (!g_ascii_isxdigit(line[i]))
                        return false;
                crc = crc << 4 | (uint32_t) g_ascii_xdigit_value(line[i]);
        }

        if (crc != crc32_of(line, rest))
                return false;

        *ret_length = rest;
        return true;
}

/* The word at *p, which is moved behind it and the space that follows. NULL: there is none. */
static char *take_word(const char **p, const char *end) {
        const char *start = *p, *space;

        if (start >= end || *start == '{')
                return NULL;

        space = memchr(start, ' ', (size_t) (end - start)) ?: end;
        *p = space < end ? space + 1 : end;
        return g_strndup(start, (size_t) (space - start));
}

static bool parse_kind(const char *word, RecordKind *ret_kind) {
        for (RecordKind kind = 0; word && kind < RECORD_KIND_MAX_; kind++)
                if (strcmp(kind_names[kind], word) == 0) {
                        *ret_kind = kind;
                        return true;
                }

        return false;
}

json_object *record_parse_object(const char *text, size_t length) {
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

static bool parse_details(const char *text, size_t length, json_object **ret_details) {
        return length == 0 || (*ret_details = record_parse_object(text, length));
}

static bool parse_node(const char *word, NodeId *ret_node) {
        guint64 node;

        if (!word)
                return true;
        if (*word != '#' || !g_ascii_string_to_unsigned(word + 1, 10, 0, NODE_NONE - 1, &node, NULL))
                return false;

        *ret_node = (NodeId) node;
        return true;
}

int record_parse(const char *line, size_t length, Record *ret_record, char **ret_error) {
        g_autofree char *time = NULL, *kind = NULL, *node = NULL;
        g_auto(Record) record = { .node = NODE_NONE };
        const char *p = line, *end;
        size_t rest;

        if (!record_check(line, length, &rest)) {
                *ret_error = g_strdup("it does not fit its checksum");
                return -EBADMSG;
        }

        end = line + rest;
        time = take_word(&p, end);
        kind = take_word(&p, end);
        node = take_word(&p, end);
        if (!time || !g_ascii_string_to_unsigned(time, 10, 0, UINT64_MAX, &record.time, NULL) ||
            !parse_kind(kind, &record.kind) || !parse_node(node, &record.node) ||
            !parse_details(p, (size_t) (end - p), &record.details)) {
                *ret_error = g_strdup_printf("'%.*s' is not known", (int) MIN(rest, 60), line);
                return -EINVAL;
        }

        *ret_record = record;
        record = (Record){};
        return 0;
}

void record_clear(Record *record) {
        json_object_put(record->details);
        *record = (Record){};
}
