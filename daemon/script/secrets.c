/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Reads credentials, and finds secrets in texts: as they are and as JSON writes them, the longest first, so that no
 * part of one is left around another. */

#include <errno.h>
#include <fcntl.h>
#include <json-c/linkhash.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "script/secrets.h"

#define NAME_MAX_LENGTH 255u

/* Fewer characters before "..." match by chance too often. */
#define CUT_MIN 4u

typedef struct Secret {
        char *reference;
        char *text;
        size_t length;
} Secret;

static void wipe(char *text) {
        if (text)
                explicit_bzero(text, strlen(text));
        g_free(text);
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

static int compare_lengths(const void *a, const void *b) {
        const Secret *const *x = a, *const *y = b;

        return ((*x)->length < (*y)->length) - ((*x)->length > (*y)->length);
}

/* Takes the text. */
static void add_text(Secrets *secrets, const char *name, char *text) {
        Secret *secret = g_new0(Secret, 1);

        secret->reference = g_strdup_printf("{" SECRET_PREFIX "%s}", name);
        secret->text = text;
        secret->length = strlen(text);
        g_ptr_array_add(secrets->known, secret);
        g_ptr_array_sort(secrets->known, compare_lengths);
}

/* As it is written between the quotes of a JSON string. */
static void add_written(Secrets *secrets, const char *name, const char *text) {
        g_autoptr(json_object) string = json_object_new_string(text);
        const char *written = json_object_to_json_string_ext(string, JSON_C_TO_STRING_NOSLASHESCAPE);
        size_t length = strlen(written) - 2;

        if (length != strlen(text))
                add_text(secrets, name, g_strndup(written + 1, length));
}

int secrets_get(Secrets *secrets, const char *name, const char **ret_text, char **ret_error) {
        char *text = NULL;
        int r;

        r = read_credential(secrets->directory, name, &text, ret_error);
        if (r < 0)
                return r;

        g_assert(text);
        if (!secrets->known)
                secrets->known = g_ptr_array_new_with_free_func(on_secret_dropped);

        add_written(secrets, name, text);
        add_text(secrets, name, text);
        *ret_text = text;
        return 0;
}

void secrets_clear(Secrets *secrets) {
        g_clear_pointer(&secrets->known, g_ptr_array_unref);
}

static void replace(GString *text, size_t at, size_t length, const Secret *secret) {
        g_string_erase(text, (gssize) at, (gssize) length);
        g_string_insert(text, (gssize) at, secret->reference);
}

static bool hide_whole(GString *text, const Secret *secret) {
        bool found = false;
        const char *next;
        size_t at = 0;

        while (secret->length > 0 && (next = strstr(text->str + at, secret->text))) {
                at = (size_t) (next - text->str);
                replace(text, at, secret->length, secret);
                at += strlen(secret->reference);
                found = true;
        }

        return found;
}

/* The length of the secret's beginning that the text has just before "end"; 0: none. */
static size_t cut_length(const Secret *secret, const char *text, size_t end) {
        for (size_t length = MIN(secret->length, end); length >= CUT_MIN; length--)
                if (memcmp(text + end - length, secret->text, length) == 0)
                        return length;

        return 0;
}

static bool hide_cut(GString *text, const Secret *secret) {
        bool found = false;
        const char *next;
        size_t at = 0;

        while ((next = strstr(text->str + at, "..."))) {
                size_t length;

                at = (size_t) (next - text->str);
                length = cut_length(secret, text->str, at);
                if (length > 0) {
                        replace(text, at - length, length, secret);
                        at += strlen(secret->reference) - length;
                        found = true;
                }
                at += strlen("...");
        }

        return found;
}

char *secrets_hide(const Secrets *secrets, const char *text) {
        GString *hidden;
        bool found = false;

        if (!secrets->known || !text)
                return NULL;

        hidden = g_string_new(text);
        for (unsigned i = 0; i < secrets->known->len; i++) {
                const Secret *secret = g_ptr_array_index(secrets->known, i);

                found |= hide_whole(hidden, secret);
                found |= hide_cut(hidden, secret);
        }

        return g_string_free(hidden, !found);
}

static json_object *hide_string(const Secrets *secrets, json_object *string) {
        g_autofree char *hidden = secrets_hide(secrets, json_object_get_string(string));

        return hidden ? json_object_new_string(hidden) : json_object_get(string);
}

static json_object *hide_value(const Secrets *secrets, json_object *value);

static json_object *hide_array(const Secrets *secrets, json_object *array) {
        json_object *copy = json_object_new_array();

        for (size_t i = 0; i < json_object_array_length(array); i++)
                json_object_array_add(copy, hide_value(secrets, json_object_array_get_idx(array, i)));

        return copy;
}

static json_object *hide_object(const Secrets *secrets, json_object *object) {
        json_object *copy = json_object_new_object();

        json_object_object_foreach(object, key, member) {
                g_autofree char *hidden = secrets_hide(secrets, key);

                json_object_object_add(copy, hidden ?: key, hide_value(secrets, member));
        }

        return copy;
}

/* A new reference. */
static json_object *hide_value(const Secrets *secrets, json_object *value) {
        switch (json_object_get_type(value)) {
        case json_type_string:
                return hide_string(secrets, value);
        case json_type_array:
                return hide_array(secrets, value);
        case json_type_object:
                return hide_object(secrets, value);
        default:
                return json_object_get(value);
        }
}

json_object *secrets_hide_all(const Secrets *secrets, json_object *value) {
        json_object *hidden;

        if (!secrets->known)
                return value;

        hidden = hide_value(secrets, value);
        json_object_put(value);
        return hidden;
}
