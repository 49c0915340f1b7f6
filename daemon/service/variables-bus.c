/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Reads and writes variables in D-Bus messages. The writer keeps a stack of the arrays, objects and strings that it has
 * begun. It checks each of them before it writes it, because the type of a container comes before its values. */

#include <errno.h>
#include <json-c/linkhash.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/dbus-value.h"
#include "basic/excerpt.h"
#include "basic/json-text.h"
#include "script/blackboard.h"
#include "service/errors.h"
#include "service/variables-bus.h"

/* What is nested deeper is written as JSON text. A message can have 64 containers inside each other, and an object
 * takes three: the array, its entry, and the variant. */
#define DEPTH_MAX 16u
/* Bytes of a string that are checked in one step. */
#define PART ((size_t) 64 << 10)

static int read_one(sd_bus_message *message, const Limits *limits, json_object *variables, uint64_t *room,
                    sd_bus_error *ret_error) {
        g_autofree char *error = NULL, *shown = NULL;
        json_object *value = NULL;
        const char *name;
        int r;

        r = sd_bus_message_enter_container(message, 'e', "sv");
        if (r <= 0)
                return r;
        r = sd_bus_message_read(message, "s", &name);
        if (r < 0)
                return r;

        r = value_read_variable(message, room, &value, &error);
        if (r == -EFBIG) {
                error = blackboard_full_text(limits);
                return sd_bus_error_set(ret_error, ERROR_LIMIT_EXCEEDED, error);
        }
        if (r < 0) {
                shown = excerpt(name, strlen(name));
                return sd_bus_error_setf(ret_error, ERROR_INVALID_ARGUMENT, "the value of '%s': %s", shown, error);
        }

        json_object_object_add(variables, name, value);
        r = sd_bus_message_exit_container(message);
        return r < 0 ? r : 1;
}

int variables_bus_read(sd_bus_message *message, const Limits *limits, json_object **ret_variables,
                       sd_bus_error *ret_error) {
        g_autoptr(json_object) variables = json_object_new_object();
        uint64_t room = blackboard_bytes_max(limits);
        int r;

        r = sd_bus_message_enter_container(message, 'a', "{sv}");
        while (r >= 0 && (r = read_one(message, limits, variables, &room, ret_error)) > 0)
                ;
        if (r < 0)
                return r;

        *ret_variables = g_steal_pointer(&variables);
        return sd_bus_message_exit_container(message);
}

/* An array, an object or a string that is being written. */
typedef struct Level {
        json_object *value;
        bool written;           /* its container is open in the message; otherwise it is being checked */
        char type;              /* the type of an array's elements; '\0': not known yet */
        size_t next;            /* the next element of an array */
        struct lh_entry *entry; /* the next member of an object */
        size_t checked;         /* bytes of the current string */
} Level;

struct VariableWriter {
        sd_bus_message *message; /* borrowed */
        json_object *value;
        bool begun;
        bool all;
        GArray *levels; /* of Level */
        size_t size;    /* bytes that were written, about */
        JsonText *text; /* the current value, if it is written as JSON text */
};

VariableWriter *variable_writer_new(json_object *value, bool all) {
        VariableWriter *writer = g_new0(VariableWriter, 1);

        writer->value = json_object_get(value);
        writer->all = all;
        writer->levels = g_array_new(FALSE, FALSE, sizeof(Level));
        return writer;
}

void variable_writer_free(VariableWriter *writer) {
        if (!writer)
                return;

        json_text_free(writer->text);
        g_array_unref(writer->levels);
        json_object_put(writer->value);
        g_free(writer);
}

static Level *top(const VariableWriter *writer) {
        g_assert(writer->levels->len > 0);
        return &g_array_index(writer->levels, Level, writer->levels->len - 1);
}

static void push(VariableWriter *writer, json_object *value) {
        Level level = { .value = value };

        if (json_object_is_type(value, json_type_object))
                level.entry = lh_table_head(json_object_get_object(value));
        g_array_append_val(writer->levels, level);
}

static void pop(VariableWriter *writer) {
        g_array_set_size(writer->levels, writer->levels->len - 1);
}

/* Completes the entry of the object that contains the value that was just written. */
static int end_value(VariableWriter *writer) {
        bool is_member = writer->levels->len > 0 && json_object_is_type(top(writer)->value, json_type_object);

        return is_member ? sd_bus_message_close_container(writer->message) : 0;
}

/* '\0': a value of another kind. */
static char basic_type(json_object *value) {
        switch (json_object_get_type(value)) {
        case json_type_boolean:
                return SD_BUS_TYPE_BOOLEAN;
        case json_type_int:
                return json_object_get_uint64(value) > INT64_MAX ? SD_BUS_TYPE_UINT64 : SD_BUS_TYPE_INT64;
        case json_type_double:
                return SD_BUS_TYPE_DOUBLE;
        case json_type_string:
                return SD_BUS_TYPE_STRING;
        default:
                return '\0';
        }
}

static int append_basic(sd_bus_message *message, char type, json_object *value) {
        union {
                int b;
                int64_t x;
                uint64_t t;
                double d;
        } data;

        switch (type) {
        case SD_BUS_TYPE_BOOLEAN:
                data.b = json_object_get_boolean(value);
                break;
        case SD_BUS_TYPE_INT64:
                data.x = json_object_get_int64(value);
                break;
        case SD_BUS_TYPE_UINT64:
                data.t = json_object_get_uint64(value);
                break;
        case SD_BUS_TYPE_DOUBLE:
                data.d = json_object_get_double(value);
                break;
        default:
                return sd_bus_message_append_basic(message, type, json_object_get_string(value));
        }

        return sd_bus_message_append_basic(message, type, &data);
}

static size_t size_of(char type, json_object *value) {
        return ANSWER_VALUE_SIZE + (type == SD_BUS_TYPE_STRING ? (size_t) json_object_get_string_len(value) : 0);
}

/* Appends a value that needs only one step. */
static int append_variant(VariableWriter *writer, char type, json_object *value) {
        int r = sd_bus_message_open_container(writer->message, 'v', (char[]){ type, '\0' });

        writer->size += size_of(type, value);
        if (r >= 0)
                r = append_basic(writer->message, type, value);
        if (r >= 0)
                r = sd_bus_message_close_container(writer->message);
        return r < 0 ? r : end_value(writer);
}

static int begin_value(VariableWriter *writer, json_object *value) {
        char type = basic_type(value);

        if (type == SD_BUS_TYPE_STRING || (value && type == '\0' && writer->levels->len < DEPTH_MAX))
                push(writer, value);
        else if (type == '\0')
                writer->text = json_text_new(value);
        else
                return append_variant(writer, type, value);

        return 0;
}

static int append_text(VariableWriter *writer) {
        size_t length;
        int r;

        if (json_text_continue(writer->text))
                return 0;

        r = sd_bus_message_append(writer->message, "v", "(s)", json_text_get(writer->text, &length));
        writer->size += ANSWER_VALUE_SIZE + length;
        g_clear_pointer(&writer->text, json_text_free);
        return r < 0 ? r : end_value(writer);
}

/* 1: there is more to check, 0: D-Bus can carry the string, -EILSEQ: it cannot. */
static int check_string(Level *level, const char *string, size_t length) {
        size_t part = MIN(length - level->checked, PART);
        const char *begin = string + level->checked, *end;

        /* A character may begin in this part and end in the next one. */
        if (!g_utf8_validate(begin, (gssize) part, &end) && (level->checked + part == length || end + 3 < begin + part))
                return -EILSEQ;

        level->checked += (size_t) (end - begin);
        if (level->checked < length)
                return 1;

        level->checked = 0;
        return 0;
}

static int check_json_string(Level *level, json_object *value) {
        return check_string(level, json_object_get_string(value), (size_t) json_object_get_string_len(value));
}

/* Finds the type of the elements. */
static int check_element(Level *level) {
        json_object *value;
        char type;
        int r;

        if (level->type == SD_BUS_TYPE_VARIANT || level->next == json_object_array_length(level->value))
                return 0;

        value = json_object_array_get_idx(level->value, level->next);
        type = basic_type(value);
        r = type == SD_BUS_TYPE_STRING ? check_json_string(level, value) : 0;
        if (r > 0)
                return r;
        if (r < 0 || type == '\0' || (level->type && level->type != type)) {
                level->type = SD_BUS_TYPE_VARIANT;
                level->checked = 0;
        } else {
                level->type = type;
        }
        level->next++;
        return 1;
}

static int check_member(Level *level) {
        const char *key = level->entry ? lh_entry_k(level->entry) : NULL;
        int r = key ? check_string(level, key, strlen(key)) : 0;

        if (r != 0 || !key)
                return r;

        level->entry = lh_entry_next(level->entry);
        return 1;
}

/* Opens the containers of the value that was checked, or writes the whole string. */
static int open_level(VariableWriter *writer, Level *level) {
        json_object *value = level->value;
        int r;

        if (json_object_is_type(value, json_type_string)) {
                pop(writer);
                return append_variant(writer, SD_BUS_TYPE_STRING, value);
        }

        level->written = true;
        writer->size += ANSWER_VALUE_SIZE;
        if (json_object_is_type(value, json_type_object)) {
                level->entry = lh_table_head(json_object_get_object(value));
                r = sd_bus_message_open_container(writer->message, 'v', "a{sv}");
                return r < 0 ? r : sd_bus_message_open_container(writer->message, 'a', "{sv}");
        }

        level->next = 0;
        level->type = level->type ?: SD_BUS_TYPE_VARIANT;
        r = sd_bus_message_open_container(writer->message, 'v', (char[]){ 'a', level->type, '\0' });
        return r < 0 ? r : sd_bus_message_open_container(writer->message, 'a', (char[]){ level->type, '\0' });
}

static int check_level(VariableWriter *writer, Level *level) {
        json_object *value = level->value;
        int r;

        if (json_object_is_type(value, json_type_array))
                r = check_element(level);
        else if (json_object_is_type(value, json_type_object))
                r = check_member(level);
        else
                r = check_json_string(level, value);
        if (r == 0)
                return open_level(writer, level);
        if (r < 0) {
                pop(writer);
                writer->text = json_text_new(value);
        }

        return 0;
}

static int close_level(VariableWriter *writer) {
        int r = sd_bus_message_close_container(writer->message);
        bool in_variant;

        pop(writer);
        in_variant = writer->levels->len > 0 || !writer->all;
        if (r >= 0 && in_variant)
                r = sd_bus_message_close_container(writer->message);
        return r < 0 ? r : end_value(writer);
}

static int write_element(VariableWriter *writer, Level *level) {
        json_object *value;

        if (level->next == json_object_array_length(level->value))
                return close_level(writer);

        value = json_object_array_get_idx(level->value, level->next++);
        if (level->type == SD_BUS_TYPE_VARIANT)
                return begin_value(writer, value);

        writer->size += size_of(level->type, value);
        return append_basic(writer->message, level->type, value);
}

static int write_member(VariableWriter *writer, Level *level) {
        const char *key = level->entry ? lh_entry_k(level->entry) : NULL;
        json_object *value;
        int r;

        if (!key)
                return close_level(writer);

        value = (json_object *) lh_entry_v(level->entry);
        level->entry = lh_entry_next(level->entry);
        r = sd_bus_message_open_container(writer->message, 'e', "sv");
        if (r >= 0)
                r = sd_bus_message_append_basic(writer->message, 's', key);
        writer->size += ANSWER_VALUE_SIZE + strlen(key);
        return r < 0 ? r : begin_value(writer, value);
}

/* 1: there is more, 0: all is written. */
static int write_next(VariableWriter *writer) {
        bool begun = writer->begun;
        int r;

        writer->begun = true;
        if (!begun && !writer->all) {
                r = begin_value(writer, writer->value);
        } else if (!begun) {
                /* The names of variables are valid. */
                push(writer, writer->value);
                top(writer)->written = true;
                r = sd_bus_message_open_container(writer->message, 'a', "{sv}");
        } else if (writer->text) {
                r = append_text(writer);
        } else if (!top(writer)->written) {
                r = check_level(writer, top(writer));
        } else if (json_object_is_type(top(writer)->value, json_type_array)) {
                r = write_element(writer, top(writer));
        } else {
                r = write_member(writer, top(writer));
        }

        return r < 0 ? r : writer->text || writer->levels->len > 0;
}

int variables_bus_append_entry(sd_bus_message *message, const char *key, json_object *value) {
        VariableWriter *writer = variable_writer_new(value, false);
        int r;

        r = sd_bus_message_open_container(message, 'e', "sv");
        if (r >= 0)
                r = sd_bus_message_append(message, "s", key);
        writer->message = message;
        while (r >= 0 && (r = write_next(writer)) > 0)
                ;
        variable_writer_free(writer);
        return r < 0 ? r : sd_bus_message_close_container(message);
}

char *variables_bus_shorten(json_object *value) {
        JsonText *text = json_text_new(value);
        const char *written;
        char *shown;
        size_t length;
        bool more;

        do {
                more = json_text_continue(text);
                written = json_text_get(text, &length);
        } while (more && length < VALUE_MAX);

        shown = excerpt(written, length);
        json_text_free(text);
        return shown;
}

int variables_bus_append(Answer *answer, sd_bus_error *ret_error) {
        int r;

        answer->writer->message = answer->reply;
        r = write_next(answer->writer);
        answer->size = answer->writer->size;
        return r;
}
