/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Puts everything that btd-exec needs into one text, cut into variables "BTD_EXEC_0=...". systemd escapes the values of
 * variables when it writes them, so they survive. The text consists of elements, each a letter for its kind, its text
 * and a newline: d: the directory, s: where to look for the program, u: a variable to unset, v: one to set, a: an
 * argument. A byte that the text cannot contain is written as "\0a".
 */

#include <string.h>

#include "basic/cleanup.h"
#include "leaf-types/spawn.h"

/* systemd reads no line of more than 1 MiB, and can need 4 bytes to write one. */
#define ARGUMENTS_MAX (128 * 1024u)

/* The kernel takes no variable of more than 128 KiB. */
#define VARIABLE_MAX (64 * 1024u)

#define OWN_PREFIX "BTD_EXEC_"

/* D-Bus libraries take these code points for none, although they are valid in UTF-8 and JSON. */
static bool is_noncharacter(gunichar c) {
        return (c & 0xfffe) == 0xfffe || (c >= 0xfdd0 && c <= 0xfdef);
}

static bool has_noncharacter(const char *text) {
        for (; *text; text = g_utf8_next_char(text))
                if (is_noncharacter(g_utf8_get_char(text)))
                        return true;

        return false;
}

bool spawn_handover_has_variable(const char *variable) {
        /* Those of the dynamic linker would be for btd-exec, too. */
        return has_noncharacter(variable) || g_str_has_prefix(variable, OWN_PREFIX) ||
               g_str_has_prefix(variable, "NOTIFY_SOCKET=") || g_str_has_prefix(variable, "LD_") ||
               g_str_has_prefix(variable, "GLIBC_TUNABLES=");
}

/* A line of a unit file ends with a newline, continues after a backslash, and loses blanks at its end. */
bool spawn_handover_has_directory(const SpawnParams *params) {
        const char *directory = params->cwd ?: "/";
        size_t length = strlen(directory);

        for (const char *p = directory; *p; p++)
                if (g_ascii_iscntrl(*p))
                        return true;

        return (length > 0 && strchr(" \\", directory[length - 1])) || strstr(directory, "/../") ||
               g_str_has_suffix(directory, "/..") || has_noncharacter(directory);
}

const char *spawn_handover_reason(const SpawnParams *params) {
        static const char plain[] = G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "/._-+";
        const char *program = params->argv[0];
        size_t length = 0;

        /* "-", "@", ":", "+", "!" and "|" in front of it have a meaning in unit files. */
        if (*program == '-' || *program == '+' || strspn(program, plain) < strlen(program))
                return "the name of the program has a character that unit files use for something else";

        for (size_t i = 0; params->argv[i]; i++) {
                if (strchr(params->argv[i], ';'))
                        return "an argument has a ';'";
                if (strchr(params->argv[i], '$'))
                        return "an argument has a '$'";
                if (has_noncharacter(params->argv[i]))
                        return "an argument has a code point that is no character";
                length += strlen(params->argv[i]) + strlen("\"\" ");
        }
        if (length > ARGUMENTS_MAX)
                return "the arguments are longer than 128 KiB together";

        if (spawn_handover_has_directory(params))
                return "the directory has \"..\", a control character, or a blank or '\\' at its end";

        for (size_t i = 0; params->env && params->env[i]; i++)
                if (has_noncharacter(params->env[i]))
                        return "a variable has a code point that is no character";

        return NULL;
}

static json_object *property(const SpawnParams *params, const char *name) {
        json_object *value = NULL;

        (void) json_object_object_get_ex(params->properties, name, &value);
        return value;
}

char *spawn_handover_complaint(const SpawnParams *params, const char **ret_property) {
        static const char *const roots[] = { "RootDirectory", "RootImage" };
        const char *reason = params->properties && params->argv ? spawn_handover_reason(params) : NULL;

        for (size_t i = 0; reason && i < G_N_ELEMENTS(roots); i++)
                if (property(params, roots[i])) {
                        *ret_property = roots[i];
                        return g_strdup_printf("with \"%s\" the process cannot get its arguments as they "
                                               "are: %s, which systemd changes when it is reloaded, and %s, which "
                                               "prevents that, is not in that root; run a script that is there",
                                               roots[i], reason, BTD_EXEC);
                }

        return NULL;
}

char *spawn_handover_identifier(const SpawnParams *params) {
        g_autofree char *name = g_path_get_basename(params->argv[0]);
        size_t length = strlen(name);
        GString *identifier = g_string_new(NULL);

        for (const char *p = name; *p; p = g_utf8_next_char(p)) {
                gunichar c = g_utf8_get_char(p);
                bool at_end = p == name || p == name + length - 1;

                g_string_append_unichar(
                        identifier,
                        c < ' ' || c == 0x7f || is_noncharacter(c) || (at_end && (c == ' ' || c == '\\')) ? '_' : c);
        }

        return g_string_free(identifier, false);
}

static void append_element(GString *text, char kind, const char *element) {
        g_string_append_c(text, kind);
        for (; *element; element = g_utf8_next_char(element)) {
                size_t length = (size_t) (g_utf8_next_char(element) - element);

                if (*element != '\n' && *element != '\\' && !is_noncharacter(g_utf8_get_char(element))) {
                        g_string_append_len(text, element, (gssize) length);
                        continue;
                }
                for (size_t i = 0; i < length; i++)
                        g_string_append_printf(text, "\\%02x", (unsigned char) element[i]);
        }
        g_string_append_c(text, '\n');
}

/* The property for systemd's search path of programs: a list of paths; an invalid one is passed as it is, and
 * systemd refuses it. */
static void append_search_path(GString *text, json_object *path) {
        g_autoptr(GString) joined = g_string_new(NULL);
        json_object *list = NULL;

        if (!json_object_object_get_ex(path, "value", &list) || !json_object_is_type(list, json_type_array) ||
            json_object_array_length(list) == 0)
                return;

        for (size_t i = 0; i < json_object_array_length(list); i++)
                g_string_append_printf(joined, "%s%s", i > 0 ? ":" : "",
                                       json_object_get_string(json_object_array_get_idx(list, i)));
        append_element(text, 's', joined->str);
}

char **spawn_handover_variables(const SpawnParams *params) {
        g_autoptr(GPtrArray) variables = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(GString) text = g_string_new(NULL);
        size_t length;

        if (spawn_handover_has_directory(params))
                append_element(text, 'd', params->cwd);
        append_search_path(text, property(params, "ExecSearchPath"));
        /* It is there for btd-exec, unless the user wants it. */
        if (!property(params, "NotifyAccess"))
                append_element(text, 'u', "NOTIFY_SOCKET");
        for (size_t i = 0; params->env && params->env[i]; i++)
                if (spawn_handover_has_variable(params->env[i]))
                        append_element(text, 'v', params->env[i]);
        for (size_t i = 0; params->argv[i]; i++)
                append_element(text, 'a', params->argv[i]);

        for (const char *part = text->str; *part; part += length) {
                length = strnlen(part, VARIABLE_MAX);
                /* Each must be valid UTF-8. */
                while ((part[length] & 0xc0) == 0x80)
                        length--;
                g_ptr_array_add(variables, g_strdup_printf(OWN_PREFIX "%u=%.*s", variables->len, (int) length, part));
        }
        g_ptr_array_add(variables, NULL);
        return (char **) g_ptr_array_free(g_steal_pointer(&variables), false);
}
