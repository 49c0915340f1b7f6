/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Checks signatures, by recursive descent, no deeper than the specification allows; compares values and shows them;
 * reads messages into JSON, with one function for each kind of type. dbus-value-write.c writes them.
 */

#include <errno.h>
#include <glib.h>
#include <inttypes.h>
#include <json-c/linkhash.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/dbus-value.h"
#include "basic/excerpt.h"
#include "basic/json-parse.h"
#include "basic/json-text.h"
#include "basic/json-weight.h"

#define SIGNATURE_LENGTH_MAX 255u
#define ARRAYS_MAX 32u
#define STRUCTS_MAX 32u

/* More bytes than an excerpt has. */
#define TEXT_SHOWN_MAX 400

/* The room that a byte of an array needs: a number, and its place in the array. */
#define BYTE_ROOM (sizeof(uint64_t) + 1)

/* The nesting of arrays and structures in a signature. */
typedef struct Depth {
        unsigned arrays, structs;
} Depth;

static bool signature_is_basic(char type) {
        return type != '\0' && strchr("ybnqiuxtdsogh", type);
}

static char *skip_type(const char **p, Depth depth);

static char *skip_struct(const char **p, Depth depth) {
        if (++depth.structs > STRUCTS_MAX)
                return g_strdup_printf("structures are nested more than %u levels deep", STRUCTS_MAX);
        if (**p == ')')
                return g_strdup("a structure '()' must have fields");

        while (**p != ')') {
                char *problem;

                if (**p == '\0')
                        return g_strdup("a '(' is not closed");
                problem = skip_type(p, depth);
                if (problem)
                        return problem;
        }

        (*p)++;
        return NULL;
}

static char *skip_dictionary(const char **p, Depth depth) {
        char *problem;

        if (!signature_is_basic(**p))
                return g_strdup("the key of a dictionary must have a basic type");
        (*p)++;

        if (**p == '}' || **p == '\0')
                return g_strdup("a dictionary needs the type of its values");
        problem = skip_type(p, depth);
        if (problem)
                return problem;

        if (**p != '}')
                return g_strdup("the values of a dictionary have one type, then comes '}'");
        (*p)++;
        return NULL;
}

static char *skip_array(const char **p, Depth depth) {
        if (++depth.arrays > ARRAYS_MAX)
                return g_strdup_printf("arrays are nested more than %u levels deep", ARRAYS_MAX);

        if (**p == '{') {
                (*p)++;
                return skip_dictionary(p, depth);
        }
        if (strchr(")}", **p))
                return g_strdup("an array 'a' needs the type of its elements");
        return skip_type(p, depth);
}

static char *skip_type(const char **p, Depth depth) {
        char type = *(*p)++;

        if (signature_is_basic(type) || type == 'v')
                return NULL;
        if (type == 'a')
                return skip_array(p, depth);
        if (type == '(')
                return skip_struct(p, depth);
        if (type == '{')
                return g_strdup("a dictionary '{' must follow an 'a'");
        if (type == ')' || type == '}')
                return g_strdup_printf("a '%c' closes nothing", type);
        if (g_ascii_isgraph(type))
                return g_strdup_printf("there is no type '%c'", type);
        return g_strdup("it may only contain the letters of types");
}

char *signature_error(const char *signature) {
        static const struct {
                const char *word, *type;
        } words[] = {
                { "string", "s" }, { "int", "i" },    { "int32", "i" }, { "uint32", "u" }, { "boolean", "b" },
                { "bool", "b" },   { "double", "d" }, { "byte", "y" },  { "object", "o" }, { "variant", "v" },
                { "str", "s" },    { "path", "o" },   { "uint", "u" },  { "int64", "x" },  { "uint64", "t" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
                if (g_str_equal(words[i].word, signature))
                        return g_strdup_printf("types are letters; did you mean '%s'?", words[i].type);
        if (strlen(signature) > SIGNATURE_LENGTH_MAX)
                return g_strdup_printf("it is longer than %u characters", SIGNATURE_LENGTH_MAX);

        for (const char *p = signature; *p;) {
                char *problem = skip_type(&p, (Depth){ 0 });

                if (problem)
                        return problem;
        }

        return NULL;
}

size_t signature_first(const char *signature) {
        size_t length = strspn(signature, "a");
        unsigned open = 0;

        do {
                if (strchr("({", signature[length]))
                        open++;
                else if (strchr(")}", signature[length]))
                        open--;
                length++;
        } while (open > 0);

        return length;
}

unsigned signature_count(const char *signature) {
        unsigned n = 0;

        for (; *signature; signature += signature_first(signature))
                n++;
        return n;
}

int value_check_signature(const char *signature, char **ret_error) {
        g_autofree char *problem = signature_error(signature);

        if (!problem && !(strchr(signature, 'h') != NULL))
                return 0;

        *ret_error = g_strdup_printf("signature '%s': %s", signature,
                                     problem ? problem : "file descriptors ('h') are not supported");
        return -EINVAL;
}

/* Only as much as a message shows, however large the value is. */
static void append_text(GString *text, json_object *value) {
        bool first = true;

        if (json_object_is_type(value, json_type_array)) {
                for (size_t i = 0; i < json_object_array_length(value) && text->len < TEXT_SHOWN_MAX; i++) {
                        g_string_append(text, i == 0 ? "[" : ",");
                        append_text(text, json_object_array_get_idx(value, i));
                }
                g_string_append(text, json_object_array_length(value) > 0 ? "]" : "[]");
        } else if (json_object_is_type(value, json_type_object)) {
                json_object_object_foreach(value, key, member) {
                        g_autoptr(json_object) name = json_object_new_string(key);

                        if (text->len >= TEXT_SHOWN_MAX)
                                break;
                        g_string_append(text, first ? "{" : ",");
                        first = false;
                        append_text(text, name);
                        g_string_append_c(text, ':');
                        append_text(text, member);
                }
                g_string_append(text, first ? "{}" : "}");
        } else if (json_object_is_type(value, json_type_string) && json_object_get_string_len(value) > TEXT_SHOWN_MAX) {
                g_autoptr(json_object) start =
                        json_object_new_string_len(json_object_get_string(value), TEXT_SHOWN_MAX);

                append_text(text, start);
        } else
                g_string_append(text, json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN |
                                                                                    JSON_C_TO_STRING_NOSLASHESCAPE));
}

char *value_to_text(json_object *value) {
        g_autoptr(GString) text = g_string_new(NULL);

        append_text(text, value);
        return excerpt(text->str, text->len);
}

static bool is_number(json_object *value) {
        return json_object_is_type(value, json_type_int) || json_object_is_type(value, json_type_double);
}

/* Converts the double, because it has too few bits for some integers. */
static bool integer_equals(json_object *integer, double number) {
        int64_t value = json_object_get_int64(integer);

        if (value < 0)
                return number >= -0x1p63 && number < 0 && (double) (int64_t) number == number &&
                       (int64_t) number == value;

        return number >= 0 && number < 0x1p64 && (double) (uint64_t) number == number &&
               (uint64_t) number == json_object_get_uint64(integer);
}

static bool numbers_equal_int(json_object *value, int64_t number) {
        return json_object_is_type(value, json_type_int) && json_object_get_int64(value) == number;
}

static bool numbers_equal(json_object *a, json_object *b) {
        bool a_is_integer = json_object_is_type(a, json_type_int), b_is_integer = json_object_is_type(b, json_type_int);

        if (a_is_integer && !b_is_integer)
                return integer_equals(a, json_object_get_double(b));
        if (!a_is_integer && b_is_integer)
                return integer_equals(b, json_object_get_double(a));
        if (!a_is_integer)
                return json_object_get_double(a) == json_object_get_double(b);

        return json_object_get_int64(a) == json_object_get_int64(b) &&
               json_object_get_uint64(a) == json_object_get_uint64(b);
}

/* The text, perhaps with a NUL at its end. */
static bool are_bytes_of(json_object *array, const char *text, size_t length) {
        size_t n = json_object_array_length(array);

        if (n == length + 1 && numbers_equal_int(json_object_array_get_idx(array, length), 0))
                n = length;
        if (n != length)
                return false;
        for (size_t i = 0; i < n; i++)
                if (!numbers_equal_int(json_object_array_get_idx(array, i), (unsigned char) text[i]))
                        return false;
        return true;
}

/* bytes: a text in a also stands for its bytes in b. */
static bool values_equal(json_object *a, json_object *b, bool bytes) {
        json_type type = json_object_get_type(a);

        if (is_number(a) && is_number(b))
                return numbers_equal(a, b);
        if (bytes && type == json_type_string && json_object_is_type(b, json_type_array))
                return are_bytes_of(b, json_object_get_string(a), (size_t) json_object_get_string_len(a));
        if (type != json_object_get_type(b))
                return false;

        if (type == json_type_array) {
                size_t length = json_object_array_length(a);

                if (json_object_array_length(b) != length)
                        return false;
                for (size_t i = 0; i < length; i++)
                        if (!values_equal(json_object_array_get_idx(a, i), json_object_array_get_idx(b, i), bytes))
                                return false;
                return true;
        }

        if (type == json_type_object) {
                if (json_object_object_length(a) != json_object_object_length(b))
                        return false;
                json_object_object_foreach(a, key, value) {
                        json_object *other;

                        if (!json_object_object_get_ex(b, key, &other) || !values_equal(value, other, bytes))
                                return false;
                }
                return true;
        }

        return json_object_equal(a, b);
}

bool value_equal(json_object *a, json_object *b) {
        return values_equal(a, b, false);
}

bool value_is(json_object *value, json_object *wanted) {
        return values_equal(wanted, value, true);
}

/* A text also stands for an array of its bytes. */
uint64_t value_room(json_object *wanted) {
        uint64_t room;

        if (json_object_is_type(wanted, json_type_string))
                return (uint64_t) (json_object_get_string_len(wanted) + 1) * BYTE_ROOM + JSON_WEIGHT_ARRAY;

        if (json_object_is_type(wanted, json_type_array)) {
                room = JSON_WEIGHT_ARRAY;
                for (size_t i = 0; i < json_object_array_length(wanted); i++)
                        room += value_room(json_object_array_get_idx(wanted, i));
                return room;
        }

        if (json_object_is_type(wanted, json_type_object)) {
                room = JSON_WEIGHT_OBJECT;
                json_object_object_foreach(wanted, key, value) room +=
                        JSON_WEIGHT_MEMBER + strlen(key) + value_room(value);
                return room;
        }

        return JSON_WEIGHT_VALUE;
}

typedef struct Reader {
        sd_bus_message *message;
        bool variables; /* a structure (s) is JSON text: see value_read_variable() */
        uint64_t *room; /* weight that is left for values, see json_weight(); NULL: no limit */
} Reader;

/* Counts before the value is made, so that a value that is too large costs nothing. */
static int take_room(const Reader *reader, uint64_t bytes) {
        if (!reader->room)
                return 0;
        if (*reader->room < bytes)
                return -EFBIG;

        *reader->room -= bytes;
        return 0;
}

/* sd-bus has already checked the message, and limits its nesting. But it refuses more characters than a bus. */
static int read_fail(int r, char **ret_error) {
        *ret_error = r == -EBADMSG ? g_strdup("it has a text with a character that Unicode does not assign, such as "
                                              "U+FFFE")
                                   : g_strdup_printf("cannot be read: %s", g_strerror(-r));
        return r;
}

typedef union Basic {
        uint8_t y;
        int16_t n;
        uint16_t q;
        int32_t i;
        uint32_t u;
        int64_t x;
        uint64_t t;
        int b;
        double d;
        const char *s;
} Basic;

static json_object *basic_to_json(char type, const Basic *basic) {
        switch (type) {
        case SD_BUS_TYPE_BYTE:
                return json_object_new_int64(basic->y);
        case SD_BUS_TYPE_INT16:
                return json_object_new_int64(basic->n);
        case SD_BUS_TYPE_UINT16:
                return json_object_new_int64(basic->q);
        case SD_BUS_TYPE_INT32:
                return json_object_new_int64(basic->i);
        case SD_BUS_TYPE_UINT32:
                return json_object_new_int64(basic->u);
        case SD_BUS_TYPE_INT64:
                return json_object_new_int64(basic->x);
        case SD_BUS_TYPE_UINT64:
                return json_object_new_uint64(basic->t);
        case SD_BUS_TYPE_BOOLEAN:
                return json_object_new_boolean(basic->b);
        case SD_BUS_TYPE_DOUBLE:
                return json_double(basic->d);
        default:
                return json_object_new_string(basic->s);
        }
}

static int read_basic(const Reader *reader, char type, json_object **ret_value, char **ret_error) {
        Basic basic;
        int r;

        if (type == SD_BUS_TYPE_UNIX_FD) {
                *ret_error = g_strdup("it has a file descriptor, which is not supported");
                return -EOPNOTSUPP;
        }

        r = sd_bus_message_read_basic(reader->message, type, &basic);
        if (r < 0)
                return read_fail(r, ret_error);
        if (type == SD_BUS_TYPE_DOUBLE && !isfinite(basic.d)) {
                *ret_error = g_strdup("it has a number that is not finite, which JSON cannot hold");
                return -EINVAL;
        }

        r = take_room(reader, JSON_WEIGHT_VALUE + (strchr("sog", type) ? strlen(basic.s) : 0));
        if (r < 0)
                return r;

        *ret_value = basic_to_json(type, &basic);
        return 0;
}

/* Reads a structure (s) of variables. */
static int read_marked(const Reader *reader, json_object **ret_value, char **ret_error) {
        g_autofree char *shown = NULL;
        const char *text;
        size_t length;
        int r = sd_bus_message_read(reader->message, "(s)", &text);

        if (r < 0)
                return read_fail(r, ret_error);

        length = strlen(text);
        r = take_room(reader, reader->room ? json_text_weight(text, length) : 0);
        if (r < 0)
                return r;

        r = json_parse(text, length, JSON_NESTING_MAX, ret_value, &shown);
        if (r == 0)
                return 0;

        if (r == -ERANGE) {
                *ret_error = g_strdup_printf("the number %s is neither a 64-bit integer nor a finite double", shown);
                return -EINVAL;
        }
        if (r == -E2BIG) {
                *ret_error = g_strdup("it is " JSON_TOO_DEEP);
                return -EINVAL;
        }
        /* It may be a secret, and the message is logged. */
        *ret_error = g_strdup_printf("a structure (s) is JSON text, but its text (%zu bytes) is not JSON", length);
        return -EINVAL;
}

/* All equal bytes share one value. To make a value for each of them would take 50 ns. */
static int read_bytes(const Reader *reader, json_object **ret_value, char **ret_error) {
        json_object *array, *values[UINT8_MAX + 1] = {};
        const uint8_t *bytes = NULL;
        size_t size = 0;
        int r = sd_bus_message_read_array(reader->message, SD_BUS_TYPE_BYTE, (const void **) &bytes, &size);

        if (r < 0)
                return read_fail(r, ret_error);
        r = take_room(reader, JSON_WEIGHT_ARRAY + size * BYTE_ROOM);
        if (r < 0)
                return r;

        array = json_object_new_array_ext((int) size);
        for (size_t i = 0; i < size; i++) {
                json_object **value = &values[bytes[i]];

                if (*value)
                        json_object_get(*value);
                else
                        *value = json_object_new_int64(bytes[i]);
                json_object_array_add(array, *value);
        }

        *ret_value = array;
        return 0;
}

static int read_value(const Reader *reader, char type, const char *contents, json_object **ret_value, char **ret_error);

/* 0: the container has ended. */
static int read_next(const Reader *reader, json_object **ret_value, char **ret_error) {
        const char *contents;
        char type;
        int r = sd_bus_message_peek_type(reader->message, &type, &contents);

        if (r < 0)
                return read_fail(r, ret_error);
        if (r == 0)
                return 0;

        r = read_value(reader, type, contents, ret_value, ret_error);
        return r < 0 ? r : 1;
}

static int read_rest(const Reader *reader, json_object **ret_values, char **ret_error) {
        g_autoptr(json_object) values = json_object_new_array();

        for (;;) {
                json_object *value = NULL;
                int r = read_next(reader, &value, ret_error);

                if (r < 0)
                        return r;
                if (r == 0)
                        break;
                json_object_array_add(values, value);
        }

        *ret_values = g_steal_pointer(&values);
        return 0;
}

static int read_entries(const Reader *reader, json_object **ret_value, char **ret_error) {
        g_autoptr(json_object) object = json_object_new_object();
        const char *contents;
        char type;
        int r;

        while ((r = sd_bus_message_peek_type(reader->message, &type, &contents)) > 0) {
                g_autoptr(json_object) key = NULL;
                json_object *value = NULL;

                r = sd_bus_message_enter_container(reader->message, SD_BUS_TYPE_DICT_ENTRY, contents);
                if (r < 0)
                        return read_fail(r, ret_error);

                r = take_room(reader, JSON_WEIGHT_MEMBER - JSON_WEIGHT_VALUE);
                if (r >= 0)
                        r = read_next(reader, &key, ret_error);
                if (r >= 0)
                        r = read_next(reader, &value, ret_error);
                if (r < 0)
                        return r;

                json_object_object_add(object, json_object_get_string(key), value);
                r = sd_bus_message_exit_container(reader->message);
                if (r < 0)
                        return read_fail(r, ret_error);
        }
        if (r < 0)
                return read_fail(r, ret_error);

        *ret_value = g_steal_pointer(&object);
        return 0;
}

static int read_container(const Reader *reader, char type, const char *contents, json_object **ret_value,
                          char **ret_error) {
        bool dictionary = type == SD_BUS_TYPE_ARRAY && contents[0] == '{';
        g_autoptr(json_object) value = NULL;
        int r = sd_bus_message_enter_container(reader->message, type, contents);

        if (r < 0)
                return read_fail(r, ret_error);
        r = take_room(reader, type == SD_BUS_TYPE_VARIANT ? 0 : dictionary ? JSON_WEIGHT_OBJECT : JSON_WEIGHT_ARRAY);
        if (r < 0)
                return r;
        if (type == SD_BUS_TYPE_VARIANT)
                r = read_next(reader, &value, ret_error);
        else
                r = dictionary ? read_entries(reader, &value, ret_error) : read_rest(reader, &value, ret_error);
        if (r < 0)
                return r;
        r = sd_bus_message_exit_container(reader->message);
        if (r < 0)
                return read_fail(r, ret_error);

        *ret_value = g_steal_pointer(&value);
        return 0;
}

static int read_value(const Reader *reader, char type, const char *contents, json_object **ret_value,
                      char **ret_error) {
        if (type == SD_BUS_TYPE_ARRAY && g_str_equal(contents, "y"))
                return read_bytes(reader, ret_value, ret_error);
        if (reader->variables && type == SD_BUS_TYPE_STRUCT && g_str_equal(contents, "s"))
                return read_marked(reader, ret_value, ret_error);
        if (type == SD_BUS_TYPE_ARRAY || type == SD_BUS_TYPE_STRUCT || type == SD_BUS_TYPE_VARIANT)
                return read_container(reader, type, contents, ret_value, ret_error);
        return read_basic(reader, type, ret_value, ret_error);
}

static int read_one(const Reader *reader, json_object **ret_value, char **ret_error) {
        int r = read_next(reader, ret_value, ret_error);

        if (r == 0) {
                *ret_error = g_strdup("there is no value");
                return -ENODATA;
        }
        return r < 0 ? r : 0;
}

/* Says the limit. */
static int read_within(int r, uint64_t room, char **ret_error) {
        if (r == -EFBIG)
                *ret_error = g_strdup_printf("it is larger than %" PRIu64 " KiB", room / 1024);
        return r;
}

int value_read_all(sd_bus_message *message, uint64_t room, json_object **ret_values, char **ret_error) {
        uint64_t left = room;

        return read_within(read_rest(&(Reader){ .message = message, .room = &left }, ret_values, ret_error), room,
                           ret_error);
}

int value_read_one(sd_bus_message *message, uint64_t room, json_object **ret_value, char **ret_error) {
        uint64_t left = room;

        return read_within(read_one(&(Reader){ .message = message, .room = &left }, ret_value, ret_error), room,
                           ret_error);
}

int value_read_variable(sd_bus_message *message, uint64_t *room, json_object **ret_value, char **ret_error) {
        return read_one(&(Reader){ .message = message, .variables = true, .room = room }, ret_value, ret_error);
}

static int skip(sd_bus_message *message, unsigned *n_left) {
        const char *contents;
        const void *elements;
        size_t size;
        char type;
        int r = sd_bus_message_peek_type(message, &type, &contents);

        if (r <= 0)
                return r < 0 ? r : -ENODATA;
        if ((*n_left)-- == 0)
                return -E2BIG;

        /* sd-bus goes through all elements, but need not for these. */
        if (type == SD_BUS_TYPE_ARRAY && strchr("ynqiuxtd", contents[0]))
                return sd_bus_message_read_array(message, contents[0], &elements, &size);
        if (!contents)
                return sd_bus_message_skip(message, NULL);

        r = sd_bus_message_enter_container(message, type, contents);
        while (r >= 0 && (r = sd_bus_message_at_end(message, false)) == 0)
                r = skip(message, n_left);
        return r < 0 ? r : sd_bus_message_exit_container(message);
}

int value_skip(sd_bus_message *message) {
        return skip(message, &(unsigned){ VALUE_SKIPPED_MAX });
}

bool value_has_descriptor(sd_bus_message *message, unsigned *n_left) {
        const char *contents;
        char type;

        while (*n_left > 0 && sd_bus_message_peek_type(message, &type, &contents) > 0) {
                --*n_left;
                if (type == SD_BUS_TYPE_UNIX_FD)
                        return true;

                /* Only variants can hide one. */
                if (!contents || !strpbrk(contents, "hv")) {
                        if (value_skip(message) < 0)
                                return false;
                } else if (sd_bus_message_enter_container(message, type, contents) <= 0)
                        return false;
                else if (value_has_descriptor(message, n_left))
                        return true;
                else if (*n_left == 0 || sd_bus_message_exit_container(message) < 0)
                        return false;
        }
        return false;
}
