/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Replaces Lua's functions over strings: all that match patterns, and others that can take long or show addresses. */

#include <glib.h>
#include <string.h>

#include "script/budget.h"
#include "script/library.h"
#include "script/pattern.h"

#define BYTES_PER_STEP 16
/* The matcher's steps are smaller than Lua's. */
#define PATTERN_STEPS_PER_STEP 4

/* The text and the pattern of a function, its first two arguments. */
typedef struct Search {
        const char *pattern;
        bool is_anchored; /* the pattern begins after a '^' */
        Match match;
} Search;

static void search_init(lua_State *lua, int text_index, int pattern_index, bool may_anchor, Search *ret) {
        size_t text_length, pattern_length;
        const char *text = luaL_checklstring(lua, text_index, &text_length);
        const char *pattern = luaL_checklstring(lua, pattern_index, &pattern_length);
        bool is_anchored = may_anchor && *pattern == '^';

        *ret = (Search){
                .pattern = pattern + is_anchored,
                .is_anchored = is_anchored,
                .match.text = text,
                .match.text_end = text + text_length,
                .match.pattern_end = pattern + pattern_length,
        };
}

/* Tries one position. Charges the steps, and raises an error of the pattern. */
static const char *search_at(lua_State *lua, Search *search, const char *start) {
        const char *end;

        search->match.steps = 0;
        search->match.steps_max = budget_steps_left(lua) * PATTERN_STEPS_PER_STEP;
        end = pattern_match(&search->match, start, search->pattern);
        budget_charge(lua, search->match.steps / PATTERN_STEPS_PER_STEP + 1);
        if (search->match.error)
                luaL_error(lua, "%s", search->match.error);

        return end;
}

/* The first position from start on at which the pattern matches. */
static const char *search_from(lua_State *lua, Search *search, const char *start, const char **ret_end) {
        for (; start <= search->match.text_end; start++) {
                const char *end = search_at(lua, search, start);

                if (end) {
                        *ret_end = end;
                        return start;
                }
                if (search->is_anchored)
                        break;
        }

        return NULL;
}

/* Without captures, the whole match is the first one. */
static void push_capture(lua_State *lua, const Match *match, unsigned i, const char *start, const char *end) {
        const Capture *capture = &match->captures[i];

        if (i >= match->n_captures) {
                if (i > 0)
                        luaL_error(lua, "there is no capture %%%d", (int) i + 1);
                lua_pushlstring(lua, start, (size_t) (end - start));
        } else if (capture->kind == CAPTURE_POSITION)
                lua_pushinteger(lua, capture->start - match->text + 1);
        else
                lua_pushlstring(lua, capture->start, capture->length);
}

static int push_captures(lua_State *lua, const Match *match, const char *start, const char *end, bool or_whole) {
        unsigned n = match->n_captures == 0 && or_whole ? 1 : match->n_captures;

        luaL_checkstack(lua, (int) n, "too many captures");
        for (unsigned i = 0; i < n; i++)
                push_capture(lua, match, i, start, end);

        return (int) n;
}

/* The position of an optional argument, from the end if negative. NULL: after the text. */
static const char *start_argument(lua_State *lua, int index, const Match *match) {
        lua_Integer start = luaL_optinteger(lua, index, 1), length = match->text_end - match->text;

        if (start < 0)
                start = start < -length ? 1 : length + start + 1;
        else if (start == 0)
                start = 1;

        return start > length + 1 ? NULL : match->text + start - 1;
}

static int find_plain(lua_State *lua, const Search *search, const char *start) {
        const char *text_end = search->match.text_end, *found;
        size_t length = (size_t) (search->match.pattern_end - search->pattern);

        budget_charge(lua, (size_t) (text_end - start) / BYTES_PER_STEP + length / BYTES_PER_STEP);
        found = length == 0 ? start : memmem(start, (size_t) (text_end - start), search->pattern, length);
        if (!found)
                return 0;

        lua_pushinteger(lua, found - search->match.text + 1);
        lua_pushinteger(lua, found - search->match.text + (lua_Integer) length);
        return 2;
}

static int find(lua_State *lua, Search *search) {
        const char *start = start_argument(lua, 3, &search->match), *end;

        if (!start)
                return 0;
        if (!search->is_anchored &&
            pattern_is_plain(search->pattern, (size_t) (search->match.pattern_end - search->pattern)))
                return find_plain(lua, search, start);

        start = search_from(lua, search, start, &end);
        if (!start)
                return 0;

        lua_pushinteger(lua, start - search->match.text + 1);
        lua_pushinteger(lua, end - search->match.text);
        return 2 + push_captures(lua, &search->match, start, end, false);
}

static int string_find(lua_State *lua) {
        bool is_plain = lua_toboolean(lua, 4);
        const char *start;
        Search search;
        int n;

        search_init(lua, 1, 2, !is_plain, &search);
        if (!is_plain)
                n = find(lua, &search);
        else
                n = (start = start_argument(lua, 3, &search.match)) ? find_plain(lua, &search, start) : 0;
        if (n > 0)
                return n;

        lua_pushnil(lua);
        return 1;
}

static int string_match(lua_State *lua) {
        const char *start, *end;
        Search search;

        search_init(lua, 1, 2, true, &search);
        start = start_argument(lua, 3, &search.match);
        if (start)
                start = search_from(lua, &search, start, &end);
        if (start)
                return push_captures(lua, &search.match, start, end, true);

        lua_pushnil(lua);
        return 1;
}

/* Upvalues: the text, the pattern, the next position, and the end of the last match (or -1), which must not match as an
 * empty text again. */
static int gmatch_next(lua_State *lua) {
        const char *start, *end, *last;
        lua_Integer last_offset = lua_tointeger(lua, lua_upvalueindex(4));
        Search search;

        search_init(lua, lua_upvalueindex(1), lua_upvalueindex(2), false, &search);
        start = search.match.text + lua_tointeger(lua, lua_upvalueindex(3));
        last = last_offset < 0 ? NULL : search.match.text + last_offset;

        while ((start = search_from(lua, &search, start, &end))) {
                if (end != last)
                        break;
                start++;
        }
        if (!start)
                return 0;

        lua_pushinteger(lua, end - search.match.text);
        lua_copy(lua, -1, lua_upvalueindex(3));
        lua_replace(lua, lua_upvalueindex(4));
        return push_captures(lua, &search.match, start, end, true);
}

static int string_gmatch(lua_State *lua) {
        const char *start;
        Search search;

        search_init(lua, 1, 2, false, &search);
        start = start_argument(lua, 3, &search.match) ?: search.match.text_end + 1;

        lua_settop(lua, 2);
        lua_pushinteger(lua, start - search.match.text);
        lua_pushinteger(lua, -1);
        lua_pushcclosure(lua, gmatch_next, 4);
        return 1;
}

/* The replacement is a text with "%1" and the like in it. */
static void add_text(lua_State *lua, luaL_Buffer *buffer, const Match *match, const char *start, const char *end) {
        size_t length;
        const char *text = lua_tolstring(lua, 3, &length), *text_end = text + length;

        while (text < text_end) {
                const char *escape = memchr(text, '%', (size_t) (text_end - text)) ?: text_end;

                luaL_addlstring(buffer, text, (size_t) (escape - text));
                if (escape == text_end)
                        return;

                text = escape + 2;
                if (escape[1] == '%')
                        luaL_addchar(buffer, '%');
                else if (escape[1] == '0')
                        luaL_addlstring(buffer, start, (size_t) (end - start));
                else if (escape[1] >= '1' && escape[1] <= '9') {
                        push_capture(lua, match, (unsigned) (escape[1] - '1'), start, end);
                        luaL_tolstring(lua, -1, NULL);
                        lua_remove(lua, -2);
                        luaL_addvalue(buffer);
                } else
                        luaL_error(lua, "invalid use of '%%' in replacement string");
        }
}

static void add_replacement(lua_State *lua, luaL_Buffer *buffer, const Match *match, const char *start,
                            const char *end) {
        switch (lua_type(lua, 3)) {
        case LUA_TFUNCTION:
                lua_pushvalue(lua, 3);
                lua_call(lua, push_captures(lua, match, start, end, true), 1);
                break;
        case LUA_TTABLE:
                push_capture(lua, match, 0, start, end);
                lua_gettable(lua, 3);
                break;
        default:
                add_text(lua, buffer, match, start, end);
                return;
        }

        if (!lua_toboolean(lua, -1)) {
                lua_pop(lua, 1);
                luaL_addlstring(buffer, start, (size_t) (end - start));
        } else if (!lua_isstring(lua, -1))
                luaL_error(lua, "invalid replacement value (a %s)", luaL_typename(lua, -1));
        else
                luaL_addvalue(buffer);
}

static lua_Integer replace(lua_State *lua, luaL_Buffer *buffer, Search *search, lua_Integer n_max) {
        const char *start = search->match.text, *last = NULL;
        lua_Integer n = 0;

        while (n < n_max) {
                const char *end = search_at(lua, search, start);

                if (end && end != last) {
                        add_replacement(lua, buffer, &search->match, start, end);
                        start = last = end;
                        n++;
                } else if (start < search->match.text_end)
                        luaL_addchar(buffer, *start++);
                else
                        break;

                if (search->is_anchored)
                        break;
        }

        luaL_addlstring(buffer, start, (size_t) (search->match.text_end - start));
        return n;
}

static int string_gsub(lua_State *lua) {
        int type = lua_type(lua, 3);
        luaL_Buffer buffer;
        lua_Integer n_max, n;
        Search search;

        search_init(lua, 1, 2, true, &search);
        luaL_argexpected(lua, type == LUA_TSTRING || type == LUA_TNUMBER || type == LUA_TTABLE || type == LUA_TFUNCTION,
                         3, "string/function/table");
        n_max = luaL_optinteger(lua, 4, search.match.text_end - search.match.text + 1);

        luaL_buffinit(lua, &buffer);
        n = replace(lua, &buffer, &search, n_max);
        luaL_pushresult(&buffer);
        lua_pushinteger(lua, n);
        return 2;
}

static lua_Integer from_end(lua_Integer place, size_t length) {
        return place < 0 ? MAX(place + (lua_Integer) length + 1, 0) : place;
}

void library_charge_text_results(lua_State *lua) {
        size_t length;
        lua_Integer first, last;

        luaL_checklstring(lua, 1, &length);
        first = from_end(luaL_optinteger(lua, 2, 1), length);
        last = from_end(luaL_optinteger(lua, 3, first), length);
        library_charge_results(lua, first, MIN(last, (lua_Integer) length));
}

static int string_byte(lua_State *lua) {
        library_charge_text_results(lua);
        return library_call_original(lua, 0);
}

/* Lua counts the repetitions of an empty string one by one, so that case is handled here. */
static int string_rep(lua_State *lua) {
        size_t length, separator_length;
        lua_Integer n = luaL_checkinteger(lua, 2);

        luaL_checklstring(lua, 1, &length);
        luaL_optlstring(lua, 3, "", &separator_length);
        if (length + separator_length == 0) {
                lua_pushliteral(lua, "");
                return 1;
        }

        return library_call_original(lua, n > 0 ? (lua_Unsigned) MIN(n, BUDGET_MEMORY) / BYTES_PER_STEP : 0);
}

/* Skips the flags, width and precision of a conversion. */
static const char *skip_modifiers(const char *p, const char *end) {
        while (p < end && *p && strchr("-+ #0123456789.", *p))
                p++;

        return p;
}

/* Tables and functions have no address here. */
static int string_format(lua_State *lua) {
        size_t length;
        const char *p = luaL_checklstring(lua, 1, &length), *end = p + length;
        int argument = 1;

        while ((p = memchr(p, '%', (size_t) (end - p)))) {
                p = skip_modifiers(p + 1, end);
                if (p == end)
                        break;
                if (*p == 'p')
                        return luaL_error(lua, "'%%p' is not available here");
                if (*p != '%')
                        argument++;
                if (*p == 's' && (lua_istable(lua, argument) || lua_isfunction(lua, argument))) {
                        lua_pushstring(lua, luaL_typename(lua, argument));
                        lua_replace(lua, argument);
                }
                p++;
        }

        return library_call_original(lua, length / BYTES_PER_STEP);
}

const luaL_Reg library_string[] = {
        { "byte", string_byte }, { "find", string_find },   { "format", string_format }, { "gmatch", string_gmatch },
        { "gsub", string_gsub }, { "match", string_match }, { "rep", string_rep },       {},
};
