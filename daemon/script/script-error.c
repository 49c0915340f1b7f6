/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Lua's messages speak of lines and global names; people think of the line's text, and of variables. */

#include <stdlib.h>
#include <string.h>

#include "basic/excerpt.h"
#include "script/budget.h"
#include "script/chunk.h"
#include "script/script-error.h"

#define MESSAGE_MAX 1000

/* "code:3: message": takes the place off. 0: it has none. */
static unsigned take_line(const char **message) {
        unsigned long line;
        char *end;

        if (!g_str_has_prefix(*message, CHUNK_NAME ":"))
                return 0;

        line = strtoul(*message + strlen(CHUNK_NAME ":"), &end, 10);
        if (!g_str_has_prefix(end, ": "))
                return 0;

        *message = end + strlen(": ");
        return (unsigned) line;
}

/* The text of a line, without the space around it. */
static char *quote_line(const char *code, unsigned line) {
        const char *end;

        for (; line > 1 && strchr(code, '\n'); line--)
                code = strchr(code, '\n') + 1;

        end = strchrnul(code, '\n');
        while (code < end && g_ascii_isspace(*code))
                code++;
        while (end > code && g_ascii_isspace(end[-1]))
                end--;

        return excerpt(code, (size_t) (end - code));
}

/* What stands before each message. */
static char *quote(const char *code, unsigned line) {
        g_autofree char *text = NULL;

        if (line == 0)
                return excerpt(code, strlen(code));

        text = quote_line(code, line);
        return strchr(code, '\n') ? g_strdup_printf("line %u: %s", line, text) : g_steal_pointer(&text);
}

/* "battery is not set" */
static bool describe_missing(const Script *script, const Blackboard *blackboard, const Use *use, GString *text) {
        json_object *value = NULL;
        bool is_set = blackboard_get(blackboard, use->name, &value);

        if (value || !g_strv_contains((const char *const *) script->names.reads, use->name))
                return false;

        g_string_append_printf(text, "%s%s%s %s", text->len > 0 ? ", " : "", use->is_outermost ? "_G." : "", use->key,
                               is_set ? "is null" : "is not set");
        return true;
}

/* Lua says what was nil where it knows that: "attempt to call a nil value (global 'battery')". */
static const char *find_name(const char *message, char **ret_name) {
        const char *place = g_strrstr(message, " ("), *name, *end;

        if (!place || !g_str_has_suffix(message, "')"))
                return NULL;

        name = strchr(place, '\'') + 1;
        end = message + strlen(message) - strlen("')");
        *ret_name = g_strndup(name, name < end ? (size_t) (end - name) : 0);
        return place;
}

/* The variables that may have been nil, instead of what Lua says of them; NULL when Lua knows better. */
static char *explain_nil(const Script *script, const Blackboard *blackboard, const char *message) {
        g_autoptr(GString) missing = g_string_new(NULL);
        g_autofree char *name = NULL;
        const char *place;

        if (!strstr(message, "nil"))
                return NULL;

        place = find_name(message, &name);
        for (unsigned i = 0; i < script->uses->len; i++) {
                const Use *use = &g_array_index(script->uses, Use, i);

                if (!name || g_str_equal(name, use->key))
                        describe_missing(script, blackboard, use, missing);
        }

        if (missing->len == 0)
                return NULL;

        return g_strdup_printf("%.*s (%s)", (int) (place ? (size_t) (place - message) : strlen(message)), message,
                               missing->str);
}

/* What Lua calls a global is a variable to us. */
static char *rename_global(const char *message) {
        const char *global = strstr(message, " (global '");

        if (!global)
                return g_strdup(message);

        return g_strdup_printf("%.*s (variable '%s", (int) (global - message), message, global + strlen(" (global '"));
}

/* On one line, and not longer than anybody would read. */
static char *clean(const char *message) {
        char *text = g_utf8_make_valid(message, (gssize) strnlen(message, MESSAGE_MAX));

        for (char *p = text; *p; p++)
                if (g_ascii_iscntrl(*p))
                        *p = ' ';

        return text;
}

char *script_error(const Script *script, const Blackboard *blackboard, int status) {
        g_autofree char *text = NULL, *where = NULL, *valid = NULL;
        const char *message;
        unsigned line;

        if (status == LUA_ERRMEM)
                message = "used more than " BUDGET_MEMORY_TEXT " of memory";
        else if (lua_type(script->lua, -1) != LUA_TSTRING)
                message = "an error that is no text";
        else
                message = lua_tostring(script->lua, -1);

        line = take_line(&message);
        valid = clean(message);
        where = quote(script->code, line);
        text = explain_nil(script, blackboard, valid) ?: rename_global(valid);
        return g_strdup_printf("%s: %s", where, text);
}

char *script_error_value(const Script *script, const char *reason) {
        g_autofree char *where = quote(script->code, 0);

        return g_strdup_printf("%s: %s", where, reason);
}
