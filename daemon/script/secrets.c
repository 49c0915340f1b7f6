/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Reads credentials, and finds secrets in texts: as they are, as JSON writes them, without the white space around them,
 * and each of their lines. Nothing depends on a part of a line: otherwise, a user who chooses a text that comes back
 * could find the secret in it character by character. */

#include <errno.h>
#include <fcntl.h>
#include <json-c/linkhash.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/foreach.h"
#include "script/secrets.h"

#define NAME_MAX_LENGTH 255u

/* Shorter lines, and numbers of fewer digits, match by chance too often. */
#define PART_MIN 4u

/* Secrets are found by so many characters at their beginning, since one can have thousands of lines. */
#define START 4u

/* What btd cuts of the texts of others before a leaf sees them has more bytes. */
#define CUT_MIN 1024u

typedef struct Secret Secret;

/* A text to be hidden. */
struct Secret {
        char *reference;
        char *text;
        size_t length;
        const Secret *next; /* with the same beginning */
};

typedef struct SecretSet {
        GPtrArray *given;   /* the texts of secrets_get() */
        GPtrArray *known;   /* of Secret: what is hidden */
        GHashTable *texts;  /* of those */
        GHashTable *starts; /* those with the same beginning */
        bool has_short;     /* some are too short to have one */
        size_t longest;     /* bytes */
} SecretSet;

static void wipe(char *text) {
        if (text)
                explicit_bzero(text, strlen(text));
        g_free(text);
}

static void *start_of(const char *text) {
        uint32_t start;

        memcpy(&start, text, START);
        return GUINT_TO_POINTER(start);
}

static void on_secret_dropped(void *dropped) {
        Secret *secret = dropped;

        wipe(secret->text);
        g_free(secret->reference);
        g_free(secret);
}

bool secret_name_valid(const char *name) {
        size_t length = strspn(name, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "_.-");

        return length > 0 && length <= NAME_MAX_LENGTH && !name[length] && *name != '.';
}

static int G_GNUC_PRINTF(3, 4) fail(int r, char **ret_error, const char *format, ...) {
        va_list args;

        va_start(args, format);
        *ret_error = g_strdup_vprintf(format, args);
        va_end(args);
        return r;
}

static int read_fd(int fd, const char *name, char *text, size_t *ret_length, char **ret_error) {
        size_t length = 0;
        ssize_t n;

        while ((n = read(fd, text + length, SECRET_LENGTH_MAX + 1 - length)) != 0) {
                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return fail(-errno, ret_error, "the credential '%s' cannot be read: %s", name,
                                    g_strerror(errno));

                length += (size_t) n;
        }

        if (length > SECRET_LENGTH_MAX)
                return fail(-EFBIG, ret_error, "the credential '%s' is too large: more than %u bytes", name,
                            SECRET_LENGTH_MAX);

        length -= length > 0 && text[length - 1] == '\n';
        if (!g_utf8_validate_len(text, length, NULL))
                return fail(-EINVAL, ret_error, "the credential '%s' is not text", name);

        *ret_length = length;
        return 0;
}

static int read_credential(const char *directory, const char *name, char **ret_text, char **ret_error) {
        g_autofree char *path = directory ? g_build_filename(directory, name, NULL) : NULL, *text = NULL;
        g_auto(AutoFd) fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) : -1;
        size_t length = 0;
        int r;

        if (!path || (fd < 0 && errno == ENOENT))
                return fail(-ENOENT, ret_error,
                            "there is no credential '%s'; give btd one with LoadCredential= or "
                            "SetCredential=, see systemd.exec(5)",
                            name);
        if (fd < 0)
                return fail(-errno, ret_error, "the credential '%s' cannot be read: %s", name, g_strerror(errno));

        text = g_malloc0(SECRET_LENGTH_MAX + 2);
        r = read_fd(fd, name, text, &length, ret_error);
        if (r >= 0)
                *ret_text = g_strndup(text, length);

        explicit_bzero(text, SECRET_LENGTH_MAX + 2);
        return r;
}

static SecretSet *set_new(void) {
        SecretSet *set = g_new0(SecretSet, 1);

        set->known = g_ptr_array_new_with_free_func(on_secret_dropped);
        set->given = g_ptr_array_new_with_free_func((GDestroyNotify) wipe);
        set->texts = g_hash_table_new(g_str_hash, g_str_equal);
        set->starts = g_hash_table_new(NULL, NULL);
        return set;
}

/* Takes the text. */
static void add_text(SecretSet *set, const char *reference, char *text) {
        size_t length = strlen(text);
        Secret *secret;

        set->longest = MAX(set->longest, length);
        if (length == 0 || g_hash_table_contains(set->texts, text)) {
                wipe(text);
                return;
        }

        secret = g_new0(Secret, 1);
        secret->reference = g_strdup(reference);
        secret->text = text;
        secret->length = length;
        g_ptr_array_add(set->known, secret);
        g_hash_table_add(set->texts, secret->text);
        set->has_short |= length < START;
        if (length >= START) {
                secret->next = g_hash_table_lookup(set->starts, start_of(text));
                g_hash_table_insert(set->starts, start_of(text), secret);
        }
}

/* Escapes these characters of a JSON string, too, and all beyond ASCII. */
static char *escape_more(const char *written, const char *more, bool beyond_ascii) {
        GString *text = g_string_new(NULL);

        for (const char *p = written; *p; p = g_utf8_next_char(p)) {
                gunichar c = g_utf8_get_char(p);

                if (c == '/' && strchr(more, '/'))
                        g_string_append(text, "\\/");
                else if (c > 0xffff && beyond_ascii)
                        g_string_append_printf(text, "\\u%04x\\u%04x", 0xd7c0 + (c >> 10), 0xdc00 + (c & 0x3ff));
                else if (c < 0x80 ? strchr(more, (int) c) != NULL : beyond_ascii)
                        g_string_append_printf(text, "\\u%04x", c);
                else
                        g_string_append_unichar(text, c);
        }
        return g_string_free(text, FALSE);
}

/* The text, and as it is written between the quotes of a JSON string: by most languages, by Python, PHP and Go. */
static void add_forms(SecretSet *set, const char *reference, const char *text, size_t length) {
        g_autoptr(json_object) string = json_object_new_string_len(text, (int) length);
        const char *quoted = json_object_to_json_string_ext(string, JSON_C_TO_STRING_NOSLASHESCAPE);
        g_autofree char *written = g_strndup(quoted + 1, strlen(quoted) - 2);

        add_text(set, reference, g_strdup(written));
        add_text(set, reference, escape_more(written, "", true));
        add_text(set, reference, escape_more(written, "/", true));
        add_text(set, reference, escape_more(written, "/", false));
        add_text(set, reference, escape_more(written, "<>&", false));
        add_text(set, reference, g_strndup(text, length));
        explicit_bzero(written, strlen(written));
}

/* Without the white space around it: programs quote a line, or remove the last line feed. */
static void add_stripped(SecretSet *set, const char *reference, const char *text, size_t length, size_t min) {
        while (length > 0 && g_ascii_isspace(text[length - 1]))
                length--;
        for (; length > 0 && g_ascii_isspace(*text); length--)
                text++;
        if (length >= min)
                add_forms(set, reference, text, length);
}

/* The text, and its lines. */
static void add_secret(SecretSet *set, const char *reference, const char *text) {
        add_forms(set, reference, text, strlen(text));
        add_stripped(set, reference, text, strlen(text), 1);
        for (const char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
                add_stripped(set, reference, line, (size_t) (end - line), PART_MIN);
                if (!strchr(end + 1, '\n'))
                        add_stripped(set, reference, end + 1, strlen(end + 1), PART_MIN);
        }
}

int secrets_get(Secrets *secrets, const char *name, const char **ret_text, char **ret_error) {
        g_autofree char *reference = g_strdup_printf("{" SECRET_PREFIX "%s}", name);
        char *text = NULL;
        int r;

        r = read_credential(secrets->directory, name, &text, ret_error);
        if (r < 0)
                return r;

        g_assert(text);
        secrets->set = secrets->set ?: set_new();
        add_secret(secrets->set, reference, text);
        g_ptr_array_add(secrets->set->given, text);
        *ret_text = text;
        return 0;
}

/* What a string of json-c has beside its text. */
typedef struct Sealed {
        json_object *value; /* NULL: lost */
} Sealed;

static void on_seal_dropped(json_object *string, void *userdata) {
        (void) string;
        json_object_put(((Sealed *) userdata)->value);
        g_free(userdata);
}

bool secret_is_sealed(json_object *value) {
        return json_object_is_type(value, json_type_string) && json_object_get_userdata(value);
}

json_object *secret_value(json_object *sealed) {
        return ((Sealed *) json_object_get_userdata(sealed))->value;
}

void secret_restore(json_object *sealed, json_object *value) {
        Sealed *of = json_object_get_userdata(sealed);

        g_assert(!of->value);
        of->value = value;
}

json_object *secret_seal(json_object *value) {
        json_object *shown;
        Sealed *sealed;

        if (!value || secret_is_sealed(value))
                return value;

        sealed = g_new0(Sealed, 1);
        if (json_object_is_type(value, json_type_string) && g_str_equal(json_object_get_string(value), SECRET_SHOWN))
                json_object_put(value);
        else
                sealed->value = value;
        shown = json_object_new_string(SECRET_SHOWN);
        json_object_set_userdata(shown, sealed, on_seal_dropped);
        return shown;
}

bool secret_is_inside(json_object *value) {
        bool is = secret_is_sealed(value);

        if (json_object_is_type(value, json_type_array))
                for (size_t i = 0; !is && i < json_object_array_length(value); i++)
                        is = secret_is_inside(json_object_array_get_idx(value, i));
        if (json_object_is_type(value, json_type_object)) {
                json_object_object_foreach(value, key, member) {
                        (void) key;
                        is |= secret_is_inside(member);
                }
        }

        return is;
}

/* Each text and number in it. */
static void add_value(SecretSet *set, const char *reference, json_object *value) {
        switch (json_object_get_type(value)) {
        case json_type_object: {
                json_object_object_foreach(value, key, member) {
                        (void) key;
                        add_value(set, reference, member);
                }
                return;
        }
        case json_type_array:
                for (size_t i = 0; i < json_object_array_length(value); i++)
                        add_value(set, reference, json_object_array_get_idx(value, i));
                return;
        case json_type_null:
        case json_type_boolean:
                return;
        default:
                add_secret(set, reference, json_object_get_string(value));
        }
}

int secrets_open(Secrets *secrets, const char *variable, json_object *sealed, json_object **ret_value,
                 char **ret_error) {
        g_autofree char *reference = g_strdup_printf("{%s}", variable);
        json_object *value = secret_is_sealed(sealed) ? secret_value(sealed) : NULL;

        if (!value)
                return fail(-ENOENT, ret_error, "the value of the secret variable '%s' was lost when btd was restarted",
                            variable);

        secrets->set = secrets->set ?: set_new();
        add_value(secrets->set, reference, value);
        *ret_value = value;
        return 0;
}

void secrets_clear(Secrets *secrets) {
        SecretSet *set = g_steal_pointer(&secrets->set);

        if (!set)
                return;

        g_hash_table_unref(set->starts);
        g_hash_table_unref(set->texts);
        g_ptr_array_unref(set->known);
        g_ptr_array_unref(set->given);
        g_free(set);
}

size_t secrets_longest(const Secrets *secrets) {
        return secrets->set ? secrets->set->longest : 0;
}

/* The longest secret that the text begins with, or NULL. */
static const Secret *secret_at(const SecretSet *set, const char *text, size_t length) {
        const Secret *found = NULL;

        if (length >= START)
                for (const Secret *i = g_hash_table_lookup(set->starts, start_of(text)); i; i = i->next)
                        if (i->length <= length && (!found || i->length > found->length) &&
                            memcmp(i->text, text, i->length) == 0)
                                found = i;
        for (unsigned i = 0; !found && set->has_short && i < set->known->len; i++) {
                const Secret *secret = g_ptr_array_index(set->known, i);

                if (secret->length < START && secret->length <= length &&
                    memcmp(secret->text, text, secret->length) == 0)
                        found = secret;
        }
        return found;
}

char *secrets_hide(const Secrets *secrets, const char *text) {
        size_t length = text ? strlen(text) : 0, shown = 0, end = 0;
        GString *hidden = NULL;

        for (size_t i = 0; secrets->set && i < length; i++) {
                const Secret *secret = secret_at(secrets->set, text + i, length - i);

                /* A secret that overlaps the one before is hidden with it. */
                if (secret && i >= end) {
                        hidden = hidden ?: g_string_new(NULL);
                        g_string_append_len(hidden, text + shown, (gssize) (i - shown));
                        g_string_append(hidden, secret->reference);
                }
                if (secret)
                        shown = end = MAX(end, i + secret->length);
        }

        if (!hidden)
                return NULL;
        g_string_append(hidden, text + shown);
        return g_string_free(hidden, FALSE);
}

/* Leaves out as much as a secret can have there, whatever it is. */
char *secrets_hide_message(const Secrets *secrets, const char *text) {
        size_t length = text ? strlen(text) : 0;
        g_autofree char *start = NULL, *hidden = NULL;

        if (!secrets->set || length < CUT_MIN || !g_str_has_suffix(text, "..."))
                return secrets_hide(secrets, text);

        length -= strlen("...");
        length -= MIN(length, secrets->set->longest);
        while (length > 0 && ((unsigned char) text[length] & 0xc0) == 0x80)
                length--;
        start = g_strndup(text, length);
        hidden = secrets_hide(secrets, start);
        return g_strconcat(hidden ?: start, "...", NULL);
}

/* A secret of digits can come back as a number, perhaps without its leading zeros or its last digits. */
static json_object *hide_number(const Secrets *secrets, json_object *number) {
        PTRS_FOREACH(const Secret, secret, secrets->set->known) {
                char *end;

                if (secret->length >= PART_MIN &&
                    g_ascii_strtod(secret->text, &end) == json_object_get_double(number) && !*end)
                        return json_object_new_string(secret->reference);
                if (secret->length >= PART_MIN && strstr(json_object_get_string(number), secret->text))
                        return json_object_new_string(secret->reference);
        }
        return json_object_get(number);
}

/* Bytes are an array of numbers. NULL: there is no secret in them. */
static json_object *hide_bytes(const Secrets *secrets, json_object *array) {
        size_t n = json_object_array_length(array);
        g_autofree char *bytes = g_malloc(n + 1), *hidden = NULL;

        for (size_t i = 0; i < n; i++) {
                json_object *element = json_object_array_get_idx(array, i);
                int64_t byte = json_object_get_int64(element);

                if (!json_object_is_type(element, json_type_int) || byte < 0 || byte > UINT8_MAX)
                        return NULL;
                bytes[i] = byte == 0 ? '\n' : (char) byte;
        }
        bytes[n] = '\0';
        hidden = secrets_hide(secrets, bytes);
        if (!hidden)
                return NULL;

        g_free(bytes);
        bytes = g_utf8_make_valid(hidden, -1);
        return json_object_new_string(bytes);
}

/* A new reference. */
static json_object *hide_value(const Secrets *secrets, json_object *value) {
        g_autofree char *text = NULL;
        json_object *copy;

        switch (json_object_get_type(value)) {
        case json_type_string:
                text = secrets_hide(secrets, json_object_get_string(value));
                return text ? json_object_new_string(text) : json_object_get(value);
        case json_type_int:
        case json_type_double:
                return hide_number(secrets, value);
        case json_type_array:
                copy = hide_bytes(secrets, value);
                if (copy)
                        return copy;

                copy = json_object_new_array();
                for (size_t i = 0; i < json_object_array_length(value); i++)
                        json_object_array_add(copy, hide_value(secrets, json_object_array_get_idx(value, i)));
                return copy;
        case json_type_object: {
                copy = json_object_new_object();
                json_object_object_foreach(value, key, member) {
                        g_autofree char *hidden = secrets_hide(secrets, key);

                        json_object_object_add(copy, hidden ?: key, hide_value(secrets, member));
                }
                return copy;
        }
        default:
                return json_object_get(value);
        }
}

json_object *secrets_hide_all(const Secrets *secrets, json_object *value) {
        json_object *hidden;

        if (!secrets->set)
                return value;

        hidden = hide_value(secrets, value);
        json_object_put(value);
        return hidden;
}
