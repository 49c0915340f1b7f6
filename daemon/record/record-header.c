/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Writes and reads the header of a run record as JSON: texts as strings, numbers as numbers, and the seed in
 * hexadecimal, since not all JSON readers accept 64 bits. */

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/json-parse.h"
#include "record/record-header.h"

#define MAGIC "btd-journal "
#define VERSION_LENGTH_MAX 20u
#define FILES ",\"files\":"

static const char *json_text(json_object *json) {
        return json_object_to_json_string_ext(json, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
}

uint32_t record_header_append_around(GString *text, const RecordHeader *header, const SummedText *files,
                                     size_t *ret_files) {
        g_autoptr(json_object) start = json_object_new_object();
        g_autofree char *seed = g_strdup_printf("%016" PRIx64, header->seed);
        size_t line = text->len, rest;
        uint32_t checksum;

#define ADD_TEXT(member) json_object_object_add(start, #member, json_object_new_string(header->member ?: ""));
#define ADD_NUMBER(member, name, type, max) json_object_object_add(start, name, json_object_new_uint64(header->member));
        RECORD_HEADER_START(ADD_TEXT, ADD_NUMBER)
        json_object_object_add(start, "seed", json_object_new_string(seed));
        g_string_append_printf(text, MAGIC "%u ", RECORD_VERSION);
        g_string_append(text, json_text(start));
        g_string_truncate(text, text->len - strlen("}"));
        g_string_append(text, FILES);
        rest = text->len;
        g_string_append(text, ",\"variables\":");
        g_string_append(text, json_text(header->variables));
        g_string_append_c(text, '}');

        checksum = crc32_combine(crc32_of(0, text->str + line, rest - line), files->checksum, files->length);
        *ret_files = rest;
        return entry_append_checksum(text, rest, checksum);
}

uint32_t record_header_append(GString *text, const RecordHeader *header) {
        g_autoptr(SummedText) own = header->files_text ? NULL : summed_text_new(g_strdup(json_text(header->files)));
        const SummedText *files = header->files_text ?: own;
        size_t at;
        uint32_t checksum = record_header_append_around(text, header, files, &at);

        g_string_insert_len(text, (gssize) at, files->text, (gssize) files->length);
        return checksum;
}

static bool files_are_valid(json_object *files) {
        if (!files || json_object_array_length(files) == 0)
                return false;

        for (size_t i = 0; i < json_object_array_length(files); i++) {
                json_object *file = json_object_array_get_idx(files, i),
                            *found = json_member(file, "found", json_type_array);

                if (!json_member(file, "path", json_type_string) || !json_member(file, "text", json_type_string) ||
                    !found ||
                    (json_object_object_get_ex(file, "extends", NULL) &&
                     !json_member(file, "extends", json_type_string)))
                        return false;
                for (size_t k = 0; k < json_object_array_length(found); k++)
                        if (!json_object_is_type(json_object_array_get_idx(found, k), json_type_string))
                                return false;
        }

        return true;
}

static bool get_text(json_object *json, const char *name, char **ret_text) {
        const char *text = json_member_text(json, name);

        *ret_text = text && g_utf8_validate(text, -1, NULL) ? g_strdup(text) : NULL;
        return *ret_text;
}

static bool get_number(json_object *json, const char *name, uint64_t max, uint64_t *ret_number) {
        json_object *value = json_member(json, name, json_type_int);

        if (!value || json_object_get_int64(value) < 0)
                return false;

        *ret_number = json_object_get_uint64(value);
        return *ret_number <= max;
}

/* Reads all members whose length does not depend on the size of the tree. */
static bool start_from_json(json_object *json, RecordHeader *header) {
        const char *seed = json_member_text(json, "seed");
        uint64_t number;

#define READ_TEXT(member)                                                                                              \
        if (!get_text(json, #member, &header->member))                                                                 \
                return false;
#define READ_NUMBER(member, name, type, max)                                                                           \
        if (!get_number(json, name, max, &number))                                                                     \
                return false;                                                                                          \
        header->member = (type) number;
        RECORD_HEADER_START(READ_TEXT, READ_NUMBER)

        return seed && g_ascii_string_to_unsigned(seed, 16, 0, UINT64_MAX, &header->seed, NULL);
}

#define NO_RECORD "it is not a run record"

static int bad(char **ret_error, const char *text) {
        *ret_error = g_strdup(text);
        return -EBADMSG;
}

static bool has_magic(const char *line, size_t length) {
        return length >= strlen(MAGIC) && memcmp(line, MAGIC, strlen(MAGIC)) == 0;
}

/* Checks the magic and the version; ret_length is the length of this part of the line. */
static int check_magic(const char *line, size_t length, size_t *ret_length, char **ret_error) {
        g_autofree char *rest = NULL;
        char *end;
        guint64 version;

        if (!has_magic(line, length))
                return bad(ret_error, NO_RECORD);

        rest = g_strndup(line + strlen(MAGIC), MIN(length - strlen(MAGIC), VERSION_LENGTH_MAX));
        version = g_ascii_strtoull(rest, &end, 10);
        if (version != RECORD_VERSION) {
                *ret_error = g_strdup_printf("it has version %" PRIu64 "; this btd knows only version %u",
                                             (uint64_t) version, RECORD_VERSION);
                return -EPROTONOSUPPORT;
        }

        *ret_length = strlen(MAGIC) + (size_t) (end - rest) + (*end == ' ');
        return 0;
}

int record_header_parse(const char *line, size_t length, RecordHeader *ret_header, uint32_t *ret_checksum,
                        char **ret_error) {
        g_auto(RecordHeader) header = {};
        g_autoptr(json_object) json = NULL;
        json_object *files, *variables;
        uint32_t checksum;
        size_t magic;
        int r;

        if (!has_magic(line, length))
                return bad(ret_error, NO_RECORD);
        if (!entry_read_checksum(line, length, &length, &checksum) || checksum != crc32_of(0, line, length))
                return bad(ret_error, "its first line does not match its checksum");
        r = check_magic(line, length, &magic, ret_error);
        if (r < 0)
                return r;

        json = entry_parse_object(line + magic, length - magic);
        files = json_member(json, "files", json_type_array);
        variables = json_member(json, "variables", json_type_object);
        if (!json || !start_from_json(json, &header) || !variables || !files_are_valid(files))
                return bad(ret_error, "its first line does not describe a run");

        header.files = json_object_get(files);
        header.variables = json_object_get(variables);
        *ret_header = header;
        *ret_checksum = checksum;
        header = (RecordHeader){};
        return 0;
}

/* The files follow all short members. No text contains the name of that member with its quotes, since quotes are
 * escaped in a text. */
int record_header_parse_start(const char *text, size_t length, RecordHeader *ret_header, char **ret_error) {
        g_auto(RecordHeader) header = {};
        g_autoptr(json_object) json = NULL;
        g_autofree char *start = NULL;
        const char *files;
        size_t magic;
        int r;

        r = check_magic(text, length, &magic, ret_error);
        if (r < 0)
                return r;

        files = memmem(text, length, FILES, strlen(FILES));
        if (files) {
                start = g_strdup_printf("%.*s}", (int) (files - text - (ptrdiff_t) magic), text + magic);
                json = entry_parse_object(start, strlen(start));
        }
        if (!json || !start_from_json(json, &header))
                return bad(ret_error, "its first line does not describe a run");

        *ret_header = header;
        header = (RecordHeader){};
        return 0;
}

void record_header_clear(RecordHeader *header) {
#define FREE_TEXT(member) g_free(header->member);
#define KEEP_NUMBER(...)
        RECORD_HEADER_START(FREE_TEXT, KEEP_NUMBER)
        json_object_put(header->files);
        summed_text_free(header->files_text);
        json_object_put(header->variables);
        *header = (RecordHeader){};
}
