/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Compiles and evaluates the expressions and the code of one tree: all of them are functions in the registry of one Lua
 * state. An evaluation sets the variables as global names, calls Lua within the budget, reads the values back, and
 * explains an error in terms of variables.
 *
 * All chunks share the global names, so each evaluation sets every name that its chunk uses: it never sees a value of
 * another chunk. The variables of the outermost scope have a table of their own, since other variables can have the
 * same names. But if a chunk uses one variable under both names, there must be only one place for it. So "_G" is an
 * empty table that looks up for each name which of the two tables has it.
 *
 * Lua reports only the line of a syntax error. To find the exact place, Lua gets the text byte by byte: when it fails,
 * it has read one byte more than the token that it complains about.
 */

#include <errno.h>
#include <inttypes.h>
#include <lauxlib.h>
#include <stdlib.h>
#include <string.h>

#include "basic/excerpt.h"
#include "basic/foreach.h"
#include "script/analysis.h"
#include "script/sandbox.h"
#include "script/scripts.h"
#include "script/values.h"

/* In Lua's messages: "code:3: ...". */
#define CHUNK_NAME "code"

typedef struct Source {
        const char *prefix; /* before the code; NULL when it was read */
        const char *code, *p;
        bool at_end; /* Lua knows that the text has ended */
} Source;

static const char *on_read(lua_State *lua, void *userdata, size_t *ret_size) {
        Source *source = userdata;
        const char *piece = source->prefix ?: source->p;

        if (source->prefix) {
                *ret_size = strlen(source->prefix);
                source->prefix = NULL;
                return piece;
        }

        source->at_end = *source->p == 0;
        *ret_size = source->at_end ? 0 : 1;
        source->p += *ret_size;
        return piece;
}

/* The start of the token that ends where Lua stopped reading; in a string with a bad escape, the escape. */
static size_t error_offset(const Source *source, const char *message) {
        const char *end = source->code + strlen(source->code), *escape;
        const char *stop = source->at_end || source->p == source->code ? source->p : source->p - 1;
        bool is_unfinished = g_str_has_prefix(message, "unfinished ");
        Token token = { .start = source->code };

        if (g_str_has_suffix(message, "near <eof>") && !is_unfinished)
                return strlen(source->code);

        do
                token = token_next(token.start + token.length, end);
        while (token.kind != TOKEN_END && token.start + token.length < stop);

        if (token.kind == TOKEN_STRING && !is_unfinished && token.start < stop &&
            (escape = memrchr(token.start, '\\', (size_t) (stop - token.start))))
                return (size_t) (escape - source->code);

        return (size_t) (MIN(token.start, stop) - source->code);
}

typedef enum HintKind {
        HINT_ANY,
        HINT_CODE,       /* only in code */
        HINT_EXPRESSION, /* only in an expression */
} HintKind;

/* Help for syntax that is common in other languages. at: a pattern for the text from the wrong token on. */
static const struct {
        const char *at, *hint;
        HintKind kind;
} foreign[] = {
        { "(?<=\\bvar\\s|\\blet\\s|\\bint\\s|\\bconst\\s)\\w",
          "write 'x = 1' for a variable of the tree, or 'local x = 1'" },
        { "(?<=\\belif\\s)", "write 'elseif'" },
        { "(?<=\\bcontinue\\s)\\w", "there is no 'continue'; put the rest of the loop into an 'if'" },
        { "\\d+\\.\\.", "a loop over numbers is 'for i = 1, 3 do'" },
        { "is\\b(?!-)", "write '==', or '~=' for 'is not'", HINT_EXPRESSION },
        { "not\\b", "a loop over the list finds an element" },
        { "(?<=<)>", "'not equal' is '~='" },
        { "(?<=['\"]):", "an object is '{ name = 1 }'" },
        { "\\\\[dwsDWSbB.]", "a pattern of Lua has a percent sign in place of the backslash" },
        { "(?<=-[a-z] )\\w", "'#text == 0' tests for an empty text, and a PathExists for a file" },
        { "@", "this is code, and not a unit: 'on_finished' of the file starts one", HINT_CODE },
        { "else\\b|\\?", "for a choice, write 'x and a or b'" },
        { "in\\b", "a loop over the list finds an element" },
        { "[-+*/]=|\\+\\+", "write 'n = n + 1'" },
        { "=~", "text:match(pattern) matches a pattern" },
        { "\\$[\\w{]", "a variable is written as its name alone" },
        { "\\[ -", "a PathExists tests for a file, and '==', '>' and '<' compare" },
        { "\\[", "a list is '{1, 2}'" },
        { "#", "a comment begins with '--'" },
        { "(?<=:)=", "write '=' alone" },
        { "(?<=\\w:)|(?<=\\w: )", "an object is '{ name = 1 }'" },
        { "[^\\x01-\\x7f]", "a name has the letters a to z, digits and '_'; everything else stands in quotes" },
        { "!=", "'not equal' is '~='" },
        { "!", "write 'not'" },
        { "(?<=&)&", "write 'and'" },
        { "(?<=\\|)\\|", "write 'or'" },
        { "=", "'equal' is '=='", HINT_EXPRESSION },
        { "return\\b", "an expression needs no 'return'", HINT_EXPRESSION },
        { "(?<=\\w )[A-Za-z](?!nd\\b)", "this is Lua, and not a command line: a Spawn runs a program", HINT_CODE },
        { "(?<=\\.service|\\.target|\\.timer)$", "this is code, and not a unit: 'on_finished' of the file starts one",
          HINT_CODE },
};

static const char *hint(ScriptKind kind, const char *code, size_t offset) {
        HintKind own = kind == SCRIPT_CODE ? HINT_CODE : HINT_EXPRESSION;

        for (size_t i = 0; i < G_N_ELEMENTS(foreign); i++) {
                g_autoptr(GRegex) regex = g_regex_new(foreign[i].at, 0, G_REGEX_MATCH_ANCHORED, NULL);

                if ((foreign[i].kind == HINT_ANY || foreign[i].kind == own) &&
                    g_regex_match_full(regex, code, -1, (int) offset, 0, NULL, NULL))
                        return foreign[i].hint;
        }

        if (!code[offset] && strstr(code, "else if "))
                return "write 'elseif'";

        return !code[offset] && strstr(code, "//") ? "a comment begins with '--', and '//' divides" : NULL;
}

/* "code:3: message": removes the line number from the message and returns it. 0: there is none. */
static unsigned take_line(const char *chunk, const char **message) {
        unsigned long line;
        char *end;

        if (!g_str_has_prefix(*message, chunk) || (*message)[strlen(chunk)] != ':')
                return 0;

        line = strtoul(*message + strlen(chunk) + 1, &end, 10);
        if (!g_str_has_prefix(end, ": "))
                return 0;

        *message = end + strlen(": ");
        return (unsigned) line;
}

/* Replaces Lua's internal words in the message, and quotes the token. */
static char *describe(const char *message) {
        const char *near = strstr(message, " near "), *first = "", *rest = message;
        g_autofree char *token = NULL;
        int length;

        if (g_str_has_prefix(rest, "<eof>")) {
                first = "the end";
                rest += strlen("<eof>");
        } else if (g_str_has_prefix(rest, "<name>")) {
                first = "a name";
                rest += strlen("<name>");
        }

        length = (int) (near ? (size_t) (near - rest) : strlen(rest));
        if (!near || g_str_has_prefix(message, "unfinished "))
                return g_strdup_printf("%s%.*s", first, length, rest);
        if (g_str_equal(near, " near <eof>"))
                return g_strdup_printf("%s%.*s at the end", first, length, rest);

        near += strlen(" near ");
        token = excerpt(near, strlen(near));
        return g_strdup_printf("%s%.*s near %s", first, length, rest, token);
}

static void syntax_error(ScriptKind kind, const char *chunk, const Source *source, const char *message,
                         char **ret_error, size_t *ret_offset) {
        g_autofree char *valid = NULL, *what = NULL;
        const char *help = NULL;
        size_t offset;

        /* The place is reported otherwise. Lua quotes bytes, and cuts a character of several. */
        (void) take_line(chunk, &message);
        valid = g_utf8_make_valid(message, -1);
        what = describe(valid);
        offset = error_offset(source, valid);
        if (strstr(what, " near ") || g_str_has_suffix(what, " at the end"))
                help = hint(kind, source->code, offset);
        if (!help && kind == SCRIPT_EXPRESSION && g_str_has_prefix(what, "the end expected") &&
            g_ascii_isalpha(source->code[offset]) && !g_str_has_prefix(source->code + offset, "end"))
                help = "this is Lua, and not a command line: a Command runs a program";
        *ret_error = g_strconcat(what, help ? "; " : "", help, NULL);
        *ret_offset = offset;
}

/* Leaves the function on the stack. -EINVAL: leaves nothing; with an error message, and the offset in the code. */
static int chunk_load(lua_State *lua, ScriptKind kind, const char *chunk, const char *code, char **ret_error,
                      size_t *ret_offset) {
        g_autofree char *name = g_strconcat("=", chunk, NULL);
        Source source = {
                /* Lua does not take text that begins with a space for bytecode. */
                .prefix = kind == SCRIPT_EXPRESSION ? "return " : " ",
                .code = code,
                .p = code,
        };
        const char *message;
        int status;

        budget_begin(lua);
        status = lua_load(lua, on_read, &source, name, "t");
        budget_end(lua);
        if (status == LUA_OK)
                return 0;

        message = status == LUA_ERRMEM ? "needs more than " BUDGET_MEMORY_TEXT " of memory" : lua_tostring(lua, -1);
        syntax_error(kind, chunk, &source, message, ret_error, ret_offset);
        lua_pop(lua, 1);
        return -EINVAL;
}

/* An error message of Lua is cut after so many bytes. */
#define MESSAGE_MAX 1000

/* A variable that a chunk uses. */
typedef struct Use {
        const char *name; /* "key" or "@key", as in script_reads() */
        const char *key;
        int key_in_registry;
        bool is_outermost;
        bool has_twin; /* the chunk uses both "key" and "@key" */
        /* The last lookup: the variable, and the scope that it is valid for. */
        const BlackboardVariable *variable;
        uint64_t scope_id;
} Use;

struct Script {
        lua_State *lua;
        int function; /* in the registry */
        ScriptKind kind;
        char *code;
        const char *file; /* with the lines of the code, or NULL */
        const uint32_t *lines;
        const char *const *extra; /* borrowed, or NULL */
        Analysis analysis;
        GArray *uses;         /* Use */
        GPtrArray *libraries; /* of Library, to be executed before; NULL: it uses none */
};

struct Library {
        lua_State *lua;
        int function; /* in the registry */
        char *name, *code;
        Analysis analysis;
};

struct Scripts {
        lua_State *lua;
        Budget budget;
        GPtrArray *compiled;  /* Script */
        GPtrArray *libraries; /* Library */
};

/* The tables that are always on the stack, from the bottom. */
enum {
        BINDINGS_GLOBALS = 1, /* the variables */
        BINDINGS_VALUES,      /* the variables of the outermost scope that are not in BINDINGS_GLOBALS */
        BINDINGS_PLACES,      /* name -> which of these two tables has an outermost variable */
        BINDINGS_OUTERMOST,   /* "_G" */
        BINDINGS_TOP = BINDINGS_OUTERMOST,
};

/* Pushes the table that has a name. */
static void push_place(lua_State *lua, int name) {
        lua_pushvalue(lua, name);
        lua_rawget(lua, lua_upvalueindex(1));
}

static int outermost_get(lua_State *lua) {
        push_place(lua, 2);
        lua_pushvalue(lua, 2);
        lua_rawget(lua, -2);
        return 1;
}

static int outermost_set(lua_State *lua) {
        push_place(lua, 2);
        lua_replace(lua, 1);
        lua_rawset(lua, 1);
        return 0;
}

static void set_method(lua_State *lua, const char *name, lua_CFunction function) {
        lua_pushvalue(lua, BINDINGS_PLACES);
        lua_pushcclosure(lua, function, 1);
        lua_setfield(lua, -2, name);
}

static void bindings_clear(lua_State *lua) {
        for (int table = BINDINGS_GLOBALS; table <= BINDINGS_VALUES; table++) {
                lua_pushnil(lua);
                while (lua_next(lua, table)) {
                        lua_pop(lua, 1);
                        lua_pushvalue(lua, -1);
                        lua_pushnil(lua);
                        lua_rawset(lua, table);
                }
        }

        lua_pushvalue(lua, BINDINGS_OUTERMOST);
        lua_setfield(lua, BINDINGS_GLOBALS, "_G");
}

/* The table that has a variable. */
static int place_of(const Blackboard *blackboard, const Use *use) {
        if (!use->is_outermost || (use->has_twin && blackboard_is_outermost(blackboard, use->key)))
                return BINDINGS_GLOBALS;

        return BINDINGS_VALUES;
}

/* The key is on top. */
static int load(lua_State *lua, int place, const char *key, json_object *value, char **ret_error) {
        g_autofree char *reason = NULL;
        int r = value_push(lua, value, &reason);

        if (r < 0) {
                *ret_error = g_strdup_printf("%s: %s", key, reason);
                return r;
        }

        lua_rawset(lua, place);
        return 0;
}

static void push_key(lua_State *lua, const Use *use) {
        lua_rawgeti(lua, LUA_REGISTRYINDEX, use->key_in_registry);
}

/* NULL if it is null or not set. Mostly the same run evaluates again, and the lookup would be most of the work. */
static json_object *value_of(const Blackboard *blackboard, Use *use) {
        if (use->scope_id != blackboard_id(blackboard)) {
                use->variable = blackboard_find(blackboard, use->name);
                use->scope_id = use->variable ? blackboard_id(blackboard) : 0;
        }

        return use->variable ? blackboard_variable_value(use->variable) : NULL;
}

static int bindings_load(const Script *script, const Blackboard *blackboard, json_object *const *extra,
                         char **ret_error) {
        const char *const *names = script->extra;
        lua_State *lua = script->lua;
        int r = 0;

        for (unsigned i = 0; r == 0 && i < script->uses->len; i++) {
                Use *use = &g_array_index(script->uses, Use, i);
                int place = place_of(blackboard, use);

                if (use->is_outermost) {
                        push_key(lua, use);
                        lua_pushvalue(lua, place);
                        lua_rawset(lua, BINDINGS_PLACES);
                }

                push_key(lua, use);
                r = load(lua, place, use->key, value_of(blackboard, use), ret_error);
        }

        for (unsigned i = 0; r == 0 && names && names[i]; i++) {
                lua_pushstring(lua, names[i]);
                r = load(lua, BINDINGS_GLOBALS, names[i], extra ? extra[i] : NULL, ret_error);
        }

        return r;
}

static void script_free(void *data) {
        Script *script = data;

        analysis_clear(&script->analysis);
        g_array_unref(script->uses);
        g_clear_pointer(&script->libraries, g_ptr_array_unref);
        g_free(script->code);
        g_free(script);
}

static void library_free(void *data) {
        Library *library = data;

        analysis_clear(&library->analysis);
        g_free(library->name);
        g_free(library->code);
        g_free(library);
}

Scripts *scripts_new(void) {
        Scripts *scripts = g_new0(Scripts, 1);
        lua_State *lua = scripts->lua = budget_new_state(&scripts->budget);

        scripts->compiled = g_ptr_array_new_with_free_func(script_free);
        scripts->libraries = g_ptr_array_new_with_free_func(library_free);
        sandbox_open(lua);
        values_prepare(lua);

        /* The tables that are always on the stack. */
        lua_pushglobaltable(lua);
        lua_newtable(lua);
        lua_newtable(lua);
        lua_newtable(lua);
        lua_newtable(lua);
        set_method(lua, "__index", outermost_get);
        set_method(lua, "__newindex", outermost_set);
        lua_setmetatable(lua, -2);
        bindings_clear(lua);
        return scripts;
}

void scripts_free(Scripts *scripts) {
        if (!scripts)
                return;

        g_ptr_array_unref(scripts->compiled);
        g_ptr_array_unref(scripts->libraries);
        lua_close(scripts->lua);
        g_free(scripts);
}

static void add_use(lua_State *lua, GArray *uses, const char *name) {
        bool is_outermost = *name == '@';
        Use use = { .name = name, .key = name + is_outermost, .is_outermost = is_outermost };

        ARRAY_FOREACH(Use, other, uses) {
                if (g_str_equal(other->name, name))
                        return;
                if (g_str_equal(other->key, use.key))
                        other->has_twin = use.has_twin = true;
        }

        lua_pushstring(lua, use.key);
        use.key_in_registry = luaL_ref(lua, LUA_REGISTRYINDEX);
        g_array_append_val(uses, use);
}

int scripts_add_library(Scripts *scripts, const char *name, const char *code, const Library **ret, char **ret_error,
                        size_t *ret_offset) {
        g_auto(Analysis) analysis = {};
        Library *library;
        int r;

        r = chunk_load(scripts->lua, SCRIPT_CODE, name, code, ret_error, ret_offset);
        if (r < 0)
                return r;

        r = analysis_make(SCRIPT_CODE, code, NULL, NULL, &analysis, ret_error, ret_offset);
        if (r < 0) {
                lua_pop(scripts->lua, 1);
                return r;
        }

        library = g_new(Library, 1);
        *library = (Library){
                .lua = scripts->lua,
                .function = luaL_ref(scripts->lua, LUA_REGISTRYINDEX),
                .name = g_strdup(name),
                .code = g_strdup(code),
                .analysis = analysis,
        };
        analysis = (Analysis){};
        g_ptr_array_add(scripts->libraries, library);
        *ret = library;
        return 0;
}

const char *const *library_defines(const Library *library) {
        return (const char *const *) library->analysis.writes;
}

/* The first place in the code with the name. */
static size_t find_token(const char *code, const char *name) {
        const char *end = code + strlen(code);
        Token token = token_next(code, end);

        while (token.kind != TOKEN_END && (token.kind != TOKEN_NAME || token.length != strlen(name) ||
                                           memcmp(token.start, name, token.length) != 0))
                token = token_next(token.start + token.length, end);

        return (size_t) (token.start - code);
}

size_t library_find(const Library *library, const char *name) {
        return find_token(library->code, name + (*name == '@'));
}

/* NULL: none of them defines the name. */
static const Library *find_definer(const GPtrArray *libraries, const char *name) {
        if (!libraries)
                return NULL;

        PTRS_FOREACH(const Library, library, libraries)
                if (g_strv_contains(library_defines(library), name))
                        return library;

        return NULL;
}

const char *library_lacks(const Library *library, const GPtrArray *libraries) {
        for (char **name = library->analysis.reads; *name; name++)
                if (!find_definer(libraries, *name))
                        return *name;

        return NULL;
}

/* A name that a library defines is not the name of a variable. */
static int use_libraries(Analysis *analysis, const char *code, const GPtrArray *libraries, bool *ret_used,
                         char **ret_error, size_t *ret_offset) {
        char **kept = analysis->reads;

        for (char **name = analysis->writes; *name; name++) {
                const Library *definer = find_definer(libraries, *name);

                if (!definer)
                        continue;
                *ret_error = g_strdup_printf("'%s' is defined in %s, so it cannot be set here", *name, definer->name);
                *ret_offset = find_token(code, *name);
                return -EINVAL;
        }

        for (char **name = analysis->reads; *name; name++)
                if (find_definer(libraries, *name))
                        g_free(*name);
                else
                        *kept++ = *name;

        *ret_used = *kept != NULL;
        while (*kept)
                *kept++ = NULL;
        return 0;
}

int scripts_compile(Scripts *scripts, ScriptKind kind, const char *code, const char *const *extra,
                    const char *const *members, GPtrArray *libraries, const Script **ret, char **ret_error,
                    size_t *ret_offset) {
        g_auto(Analysis) analysis = {};
        bool uses_libraries = false;
        Script *script;
        int r;

        r = chunk_load(scripts->lua, kind, CHUNK_NAME, code, ret_error, ret_offset);
        if (r < 0)
                return r;

        r = analysis_make(kind, code, extra, members, &analysis, ret_error, ret_offset);
        if (r == 0 && analysis.doubt && !find_definer(libraries, analysis.doubtful)) {
                *ret_error = g_steal_pointer(&analysis.doubt);
                *ret_offset = analysis.doubt_offset;
                r = -EINVAL;
        }
        if (r == 0 && libraries)
                r = use_libraries(&analysis, code, libraries, &uses_libraries, ret_error, ret_offset);
        if (r < 0) {
                lua_pop(scripts->lua, 1);
                return r;
        }

        script = g_new(Script, 1);
        *script = (Script){
                .lua = scripts->lua,
                .function = luaL_ref(scripts->lua, LUA_REGISTRYINDEX),
                .kind = kind,
                .code = g_strdup(code),
                .extra = extra,
                .analysis = analysis,
                .uses = g_array_new(false, false, sizeof(Use)),
                .libraries = uses_libraries ? g_ptr_array_ref(libraries) : NULL,
        };
        for (char **name = analysis.reads; *name; name++)
                add_use(scripts->lua, script->uses, *name);
        for (char **name = analysis.writes; *name; name++)
                add_use(scripts->lua, script->uses, *name);
        analysis = (Analysis){};
        g_ptr_array_add(scripts->compiled, script);
        if (budget_has_garbage(scripts->lua))
                budget_collect(scripts->lua);
        *ret = script;
        return 0;
}

const char *script_code(const Script *script) {
        return script->code;
}

void script_set_lines(const Script *script, const char *file, const uint32_t *lines) {
        ((Script *) script)->file = file;
        ((Script *) script)->lines = lines;
}

const char *const *script_reads(const Script *script) {
        return (const char *const *) script->analysis.reads;
}

const char *const *script_writes(const Script *script) {
        return (const char *const *) script->analysis.writes;
}

const GArray *script_demands(const Script *script) {
        return script->analysis.demands;
}

/* The text of a line, stripped of space. */
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

/* The quoted code at the beginning of each message. */
static char *quote(const Script *script, unsigned line) {
        const uint32_t *lines = script->lines;
        const char *code = script->code;
        g_autofree char *text = NULL;

        if (line == 0)
                return excerpt(code, strlen(code));

        text = quote_line(code, line);
        for (unsigned i = 1; lines && *lines && i < line; i++)
                lines++;
        if (lines && *lines)
                return g_strdup_printf("line %" PRIu32 " of %s: %s", *lines, script->file, text);
        return strchr(code, '\n') ? g_strdup_printf("line %u: %s", line, text) : g_steal_pointer(&text);
}

/* The place of an error of Lua, which is removed from the message. "size(x) > 3: line 7 of backup.lua: return x.size"
 */
static char *quote_place(const Script *script, const char **message) {
        unsigned line = take_line(CHUNK_NAME, message);

        for (unsigned i = 0; line == 0 && script->libraries && i < script->libraries->len; i++) {
                const Library *library = script->libraries->pdata[i];
                unsigned inside = take_line(library->name, message);

                if (inside > 0) {
                        g_autofree char *own = quote(script, 0), *text = quote_line(library->code, inside);

                        return g_strdup_printf("%s: line %u of %s: %s", own, inside, library->name, text);
                }
        }

        return quote(script, line);
}

/* Finds the name in messages such as "attempt to call a nil value (global 'battery')". */
static const char *find_name(const char *message, char **ret_name) {
        const char *place = g_strrstr(message, " ("), *name, *end;

        if (!place || !g_str_has_suffix(message, "')"))
                return NULL;

        name = strchr(place, '\'') + 1;
        end = message + strlen(message) - strlen("')");
        *ret_name = g_strndup(name, name < end ? (size_t) (end - name) : 0);
        return place;
}

/* The message with the variables that may have been nil, instead of Lua's own note; NULL: there are none. */
static char *explain_nil(const Script *script, const Blackboard *blackboard, const char *message) {
        g_autoptr(GString) missing = g_string_new(NULL);
        g_autofree char *name = NULL;
        const char *place;

        if (!strstr(message, "nil"))
                return NULL;

        place = find_name(message, &name);
        ARRAY_FOREACH(const Use, use, script->uses) {
                json_object *value = NULL;
                bool is_set = blackboard_get(blackboard, use->name, &value);

                /* "battery is not set" */
                if (!value && (!name || g_str_equal(name, use->key)) &&
                    g_strv_contains(script_reads(script), use->name))
                        g_string_append_printf(missing, "%s%s%s %s", missing->len > 0 ? ", " : "",
                                               use->is_outermost ? "_G." : "", use->key,
                                               is_set ? "is null" : "is not set");
        }

        if (missing->len == 0)
                return NULL;

        return g_strdup_printf("%.*s (%s)", (int) (place ? (size_t) (place - message) : strlen(message)), message,
                               missing->str);
}

/* "attempt to compare nil with number (charge is "n/a", low is 30)": with the values that Lua got, instead of its note
 * about one of them. */
static char *explain_values(const Script *script, const Blackboard *blackboard, const char *message) {
        g_autoptr(GString) values = g_string_new(NULL);
        const char *global = strstr(message, " (global '");
        g_autofree char *name = NULL, *renamed = NULL;
        const char *note = find_name(message, &name);
        bool told = name && g_str_has_prefix(name, "integer "); /* "integer index", which says nothing */

        /* Lua's "global" is a variable of the blackboard. */
        renamed = global ? g_strdup_printf("%.*s (variable '%s", (int) (global - message), message,
                                           global + strlen(" (global '"))
                         : g_strdup(message);
        if (!g_str_has_prefix(message, "attempt to "))
                return g_steal_pointer(&renamed);

        ARRAY_FOREACH(Use, use, script->uses) {
                json_object *value = value_of(blackboard, use);
                const char *text =
                        json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
                g_autofree char *shown = NULL;

                if (!value || !g_strv_contains(script_reads(script), use->name))
                        continue;
                shown = excerpt(text, strlen(text));
                g_string_append_printf(values, "%s%s%s is %s", values->len > 0 ? ", " : "",
                                       use->is_outermost ? "_G." : "", use->key, shown);
                told = told || (g_strcmp0(name, use->key) == 0 && strstr(note, "(global "));
        }

        if (told)
                renamed[note - message] = 0;
        else if (note && g_str_has_prefix(note, " (global "))
                return g_steal_pointer(&renamed); /* about a value that is no variable */
        return g_strdup_printf("%s%s%s%s", renamed, values->len > 0 ? " (" : "", values->str,
                               values->len > 0 ? ")" : "");
}

/* A valid text on one line, cut at MESSAGE_MAX. */
static char *clean(const char *message) {
        char *text = g_utf8_make_valid(message, (gssize) strnlen(message, MESSAGE_MAX));

        for (char *p = text; *p; p++)
                if (g_ascii_iscntrl(*p))
                        *p = ' ';

        return text;
}

static char *script_error(const Script *script, const Blackboard *blackboard, int status) {
        g_autofree char *text = NULL, *where = NULL, *valid = NULL;
        const char *message;

        if (status == LUA_ERRMEM)
                message = "used more than " BUDGET_MEMORY_TEXT " of memory";
        else if (lua_type(script->lua, -1) != LUA_TSTRING)
                message = "an error value that is not text";
        else
                message = lua_tostring(script->lua, -1);

        where = quote_place(script, &message);
        valid = clean(message);
        text = explain_nil(script, blackboard, valid) ?: explain_values(script, blackboard, valid);
        return g_strdup_printf("%s: %s", where, text);
}

static char *script_error_value(const Script *script, const char *reason) {
        g_autofree char *where = quote(script, 0);

        return g_strdup_printf("%s: %s", where, reason);
}

static void on_value_dropped(void *value) {
        json_object_put(value);
}

static void end(const Script *script) {
        lua_settop(script->lua, BINDINGS_TOP);
        if (budget_has_garbage(script->lua)) {
                bindings_clear(script->lua);
                budget_collect(script->lua);
        }
}

/* Nothing is left of what an earlier evaluation has set. */
static void forget_libraries(lua_State *lua, const GPtrArray *libraries) {
        PTRS_FOREACH(const Library, library, libraries)
                for (const char *const *name = library_defines(library); *name; name++) {
                        lua_pushnil(lua);
                        lua_setfield(lua, BINDINGS_GLOBALS, *name);
                }
}

/* Up to the last one, or to all of them if it is NULL. Leaves an error message on the stack if one fails. */
static int run_libraries(lua_State *lua, const GPtrArray *libraries, const Library *last) {
        int status = LUA_OK;

        for (unsigned i = 0; status == LUA_OK && i < libraries->len; i++) {
                const Library *library = libraries->pdata[i];

                lua_rawgeti(lua, LUA_REGISTRYINDEX, library->function);
                status = lua_pcall(lua, 0, 0, 0);
                if (library == last)
                        break;
        }

        return status;
}

int library_try(const Library *library, const GPtrArray *libraries, char **ret_error, size_t *ret_offset) {
        lua_State *lua = library->lua;
        const char *message, *at = library->code;
        unsigned line;
        int status;

        forget_libraries(lua, libraries);
        sandbox_set_blackboard(lua, NULL);
        budget_begin(lua);
        status = run_libraries(lua, libraries, library);
        budget_end(lua);
        if (status != LUA_OK) {
                message = status == LUA_ERRMEM               ? "needs more than " BUDGET_MEMORY_TEXT " of memory"
                          : lua_type(lua, -1) == LUA_TSTRING ? lua_tostring(lua, -1)
                                                             : "an error value that is not text";
                for (line = take_line(library->name, &message); line > 1 && strchr(at, '\n'); line--)
                        at = strchr(at, '\n') + 1;
                *ret_error = clean(message);
                *ret_offset = (size_t) (at + strspn(at, " \t") - library->code);
        }

        lua_settop(lua, BINDINGS_TOP);
        forget_libraries(lua, libraries);
        return status == LUA_OK ? 0 : -EINVAL;
}

/* Leaves the value on the stack. */
static int call(const Script *script, const Blackboard *blackboard, json_object *const *extra, char **ret_error) {
        g_autofree char *reason = NULL;
        lua_State *lua = script->lua;
        int status;

        values_begin(lua);
        if (bindings_load(script, blackboard, extra, &reason) < 0) {
                *ret_error = script_error_value(script, reason);
                return -EINVAL;
        }

        sandbox_set_blackboard(lua, blackboard);
        if (script->libraries)
                forget_libraries(lua, script->libraries);
        budget_begin(lua);
        status = script->libraries ? run_libraries(lua, script->libraries, NULL) : LUA_OK;
        if (status == LUA_OK) {
                lua_rawgeti(lua, LUA_REGISTRYINDEX, script->function);
                status = lua_pcall(lua, 0, 1, 0);
        }
        budget_end(lua);
        if (status == LUA_OK)
                return 0;

        *ret_error = script_error(script, blackboard, status);
        return -EINVAL;
}

int script_test(const Script *script, const Blackboard *blackboard, json_object *const *extra, bool *ret_truth,
                char **ret_error) {
        int r = call(script, blackboard, extra, ret_error);

        if (r == 0)
                *ret_truth = lua_toboolean(script->lua, -1);
        end(script);
        return r;
}

int script_evaluate(const Script *script, const Blackboard *blackboard, json_object *const *extra,
                    json_object **ret_value, char **ret_error) {
        g_autofree char *reason = NULL;
        int r = call(script, blackboard, extra, ret_error);

        if (r == 0 && (r = value_read(script->lua, -1, "", ret_value, &reason)) < 0)
                *ret_error = script_error_value(script, reason);
        end(script);
        return r;
}

/* The values of the variables after the code has run, in the order of the uses. */
static int read_variables(const Script *script, const Blackboard *blackboard, json_object **values, char **ret_error) {
        lua_State *lua = script->lua;

        for (unsigned i = 0; i < script->uses->len; i++) {
                Use *use = &g_array_index(script->uses, Use, i);
                g_autofree char *reason = NULL;
                int r = 0;

                /* Code that does not assign a variable can only change it if it is a table. Other values are not read
                 * back, as Lua cannot tell some numbers apart. */
                push_key(lua, use);
                lua_rawget(lua, place_of(blackboard, use));
                if (lua_istable(lua, -1) || use->has_twin || g_strv_contains(script_writes(script), use->name))
                        r = value_read(lua, -1, use->key, &values[i], &reason);
                else
                        values[i] = json_object_get(value_of(blackboard, use));
                lua_pop(lua, 1);
                if (r < 0) {
                        *ret_error = script_error_value(script, reason);
                        return r;
                }
        }

        return 0;
}

static bool has_changed(const Blackboard *blackboard, const char *name, json_object *value) {
        json_object *before = NULL;

        (void) blackboard_get(blackboard, name, &before);
        return !value_same(before, value);
}

static int check_room(const Script *script, const Blackboard *blackboard, json_object *const *values,
                      char **ret_error) {
        g_autofree char *text = NULL;
        int64_t growth = 0;

        for (unsigned i = 0; i < script->uses->len; i++) {
                const char *name = g_array_index(script->uses, Use, i).name;

                if (has_changed(blackboard, name, values[i]))
                        growth += blackboard_growth(blackboard, name, values[i]);
        }
        if (blackboard_has_room(blackboard, growth))
                return 0;

        text = blackboard_lack_text(blackboard, growth);
        *ret_error = script_error_value(script, text);
        return -EINVAL;
}

/* Lua must not be in use here, because a watch of a variable can start another evaluation. */
int script_run(const Script *script, Blackboard *blackboard, json_object **ret_set, char **ret_error) {
        g_autoptr(GPtrArray) values = g_ptr_array_new_with_free_func(on_value_dropped);
        int r = call(script, blackboard, NULL, ret_error);

        g_ptr_array_set_size(values, (int) script->uses->len);
        if (r == 0)
                r = read_variables(script, blackboard, (json_object **) values->pdata, ret_error);
        end(script);
        if (r == 0)
                r = check_room(script, blackboard, (json_object *const *) values->pdata, ret_error);
        if (r < 0)
                return r;

        if (ret_set)
                *ret_set = json_object_new_object();

        /* Lua must not be in use here, because a watch of a variable can start another evaluation. */
        for (unsigned i = 0; i < script->uses->len; i++) {
                const char *name = g_array_index(script->uses, Use, i).name;
                json_object *value;

                if (!has_changed(blackboard, name, values->pdata[i]))
                        continue;

                value = blackboard_sealed(blackboard, name, json_object_get(values->pdata[i]));
                blackboard_set(blackboard, name, json_object_get(value));
                if (ret_set)
                        json_object_object_add(*ret_set, name, json_object_get(value));
                json_object_put(value);
        }

        return 0;
}
