/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Replaces Lua's functions over strings: all that match patterns, and others that can take long or show addresses.
 *
 * Lua's own matcher has no limit: some patterns have so many possible matches that it would take years. This one
 * matches the same patterns in a limited number of steps, by backtracking. It calls itself for the rest of the pattern
 * after a repetition or a bracket, so never deeper than the pattern is long.
 */

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "script/sandbox.h"

#define PATTERN_CAPTURES_MAX 32

typedef struct Capture {
        const char *start;
        size_t length;
        enum {
                CAPTURE_OPEN,
                CAPTURE_TEXT,
                CAPTURE_POSITION,
        } kind;
} Capture;

typedef struct PatternMatch {
        const char *text, *text_end;
        const char *pattern_end;
        uint64_t steps; /* used so far */
        uint64_t steps_max;
        const char *error; /* a message: the pattern is wrong, or took too many steps */
        unsigned depth;
        unsigned n_captures;
        Capture captures[PATTERN_CAPTURES_MAX];
} PatternMatch;

#define DEPTH_MAX 200
#define ESCAPE '%'

/* One character, class or set of the pattern. */
typedef struct Item {
        const char *start, *end;
} Item;

static const char *match_here(PatternMatch *match, const char *s, const char *p);

static void *fail(PatternMatch *match, const char *error) {
        if (!match->error)
                match->error = error;

        return NULL;
}

static bool fail_to_match(PatternMatch *match, const char *error) {
        (void) fail(match, error);
        return false;
}

static bool take_steps(PatternMatch *match, size_t n) {
        match->steps += n;
        if (match->steps > match->steps_max)
                fail(match, "the pattern takes too many steps");

        return !match->error;
}

static bool item_at(PatternMatch *match, const char *p, Item *ret_item) {
        const char *end = match->pattern_end, *q = p + 1;

        if (*p == ESCAPE) {
                if (q == end)
                        return fail_to_match(match, "the pattern ends with '%'");
                q++;
        } else if (*p == '[') {
                if (q < end && *q == '^')
                        q++;
                /* A ']' that comes first is a member. */
                do {
                        if (q < end && *q == ESCAPE)
                                q++;
                        q++;
                } while (q < end && *q != ']');
                if (q >= end)
                        return fail_to_match(match, "a '[' of the pattern has no ']'");
                q++;
        }

        *ret_item = (Item){ .start = p, .end = q };
        return true;
}

static bool in_class(unsigned char c, char class) {
        bool is;

        switch (g_ascii_tolower(class)) {
        case 'a':
                is = g_ascii_isalpha(c);
                break;
        case 'c':
                is = g_ascii_iscntrl(c);
                break;
        case 'd':
                is = g_ascii_isdigit(c);
                break;
        case 'g':
                is = g_ascii_isgraph(c);
                break;
        case 'l':
                is = g_ascii_islower(c);
                break;
        case 'p':
                is = g_ascii_ispunct(c);
                break;
        case 's':
                is = g_ascii_isspace(c) || c == '\v';
                break;
        case 'u':
                is = g_ascii_isupper(c);
                break;
        case 'w':
                is = g_ascii_isalnum(c);
                break;
        case 'x':
                is = g_ascii_isxdigit(c);
                break;
        default:
                return (unsigned char) class == c;
        }

        return is != g_ascii_isupper(class);
}

static bool in_set(unsigned char c, const Item *set) {
        const char *p = set->start + 1, *end = set->end - 1;
        bool negated = *p == '^';

        if (negated)
                p++;

        while (p < end) {
                bool is;

                if (*p == ESCAPE) {
                        is = in_class(c, p[1]);
                        p += 2;
                } else if (end - p > 2 && p[1] == '-') {
                        is = (unsigned char) p[0] <= c && c <= (unsigned char) p[2];
                        p += 3;
                } else
                        is = (unsigned char) *p++ == c;

                if (is)
                        return !negated;
        }

        return negated;
}

static bool item_matches(PatternMatch *match, const char *s, const Item *item) {
        if (!take_steps(match, (size_t) (item->end - item->start)) || s >= match->text_end)
                return false;

        switch (*item->start) {
        case '.':
                return true;
        case ESCAPE:
                return in_class((unsigned char) *s, item->start[1]);
        case '[':
                return in_set((unsigned char) *s, item);
        default:
                return *item->start == *s;
        }
}

/* The rest of the pattern after a repetition or bracket. */
static const char *match_rest(PatternMatch *match, const char *s, const char *p) {
        const char *end;

        if (match->depth == DEPTH_MAX)
                return fail(match, "the pattern is too complex");

        match->depth++;
        end = match_here(match, s, p);
        match->depth--;
        return end;
}

static const char *match_longest(PatternMatch *match, const char *s, const Item *item) {
        size_t n = 0;

        while (item_matches(match, s + n, item))
                n++;

        for (;; n--) {
                const char *end = match->error ? NULL : match_rest(match, s + n, item->end + 1);

                if (end || n == 0 || match->error)
                        return end;
        }
}

static const char *open_capture(PatternMatch *match, const char *s, const char *p) {
        bool is_position = p + 1 < match->pattern_end && p[1] == ')';
        const char *end;

        if (match->n_captures == PATTERN_CAPTURES_MAX)
                return fail(match, "the pattern has too many captures");

        match->captures[match->n_captures++] = (Capture){
                .start = s,
                .kind = is_position ? CAPTURE_POSITION : CAPTURE_OPEN,
        };
        end = match_rest(match, s, p + (is_position ? 2 : 1));
        if (!end)
                match->n_captures--;

        return end;
}

static const char *close_capture(PatternMatch *match, const char *s, const char *p) {
        unsigned i = match->n_captures;
        const char *end;

        while (i > 0 && match->captures[i - 1].kind != CAPTURE_OPEN)
                i--;
        if (i == 0)
                return fail(match, "a ')' of the pattern has no '('");

        match->captures[i - 1].length = (size_t) (s - match->captures[i - 1].start);
        match->captures[i - 1].kind = CAPTURE_TEXT;
        end = match_rest(match, s, p + 1);
        if (!end)
                match->captures[i - 1].kind = CAPTURE_OPEN;

        return end;
}

/* "%bxy" at p. */
static const char *match_balance(PatternMatch *match, const char *s, const char *p) {
        size_t n_open = 1;

        if (match->pattern_end - p < 4)
                return fail(match, "'%b' of the pattern needs two characters");
        if (s >= match->text_end || *s != p[2])
                return NULL;

        while (++s < match->text_end && take_steps(match, 1))
                if (*s == p[3]) {
                        if (--n_open == 0)
                                return s + 1;
                } else if (*s == p[2])
                        n_open++;

        return NULL;
}

/* "%f[set]" at p: between a character that is not in the set and one that is. */
static bool match_frontier(PatternMatch *match, const char *s, const char *p, Item *ret_set) {
        unsigned char before = s == match->text ? 0 : (unsigned char) s[-1];
        unsigned char after = s == match->text_end ? 0 : (unsigned char) *s;

        if (match->pattern_end - p < 3 || p[2] != '[')
                return fail_to_match(match, "'%f' of the pattern needs a '['");
        if (!item_at(match, p + 2, ret_set) || !take_steps(match, (size_t) (ret_set->end - ret_set->start)))
                return false;

        return !in_set(before, ret_set) && in_set(after, ret_set);
}

/* "%1" at p. */
static const char *match_again(PatternMatch *match, const char *s, const char *p) {
        int i = p[1] - '1';
        const Capture *capture = &match->captures[MAX(i, 0)];

        if (i < 0 || (unsigned) i >= match->n_captures || capture->kind == CAPTURE_OPEN)
                return fail(match, "the pattern refers to a capture that is not there");
        if (capture->kind == CAPTURE_POSITION || (size_t) (match->text_end - s) < capture->length ||
            !take_steps(match, capture->length / 16))
                return NULL;

        return memcmp(s, capture->start, capture->length) == 0 ? s + capture->length : NULL;
}

typedef enum Step {
        STEP_ON,   /* s and p are after the part that has matched */
        STEP_DONE, /* s is the end of the match, or NULL */
} Step;

static Step finish(const char **s, const char *end) {
        *s = end;
        return STEP_DONE;
}

static Step match_item(PatternMatch *match, const char **s, const char **p) {
        char repetition;
        const char *end;
        Item item;

        if (!item_at(match, *p, &item))
                return finish(s, NULL);

        repetition = item.end < match->pattern_end ? *item.end : 0;
        if (repetition == '*')
                return finish(s, match_longest(match, *s, &item));
        if (repetition == '-')
                for (;; (*s)++) {
                        end = match_rest(match, *s, item.end + 1);
                        if (end || match->error || !item_matches(match, *s, &item))
                                return finish(s, end);
                }

        if (item_matches(match, *s, &item)) {
                if (repetition == '+')
                        return finish(s, match_longest(match, *s + 1, &item));
                if (repetition == '?' && (end = match_rest(match, *s + 1, item.end + 1)))
                        return finish(s, end);
                if (repetition != '?')
                        (*s)++;
        } else if (repetition != '?')
                return finish(s, NULL);

        *p = item.end + (repetition == '?' ? 1 : 0);
        return match->error ? finish(s, NULL) : STEP_ON;
}

static Step match_step(PatternMatch *match, const char **s, const char **p) {
        char escaped = **p == ESCAPE && *p + 1 < match->pattern_end ? (*p)[1] : 0;
        Item set;

        if (!take_steps(match, 1))
                return finish(s, NULL);
        if (**p == '(')
                return finish(s, open_capture(match, *s, *p));
        if (**p == ')')
                return finish(s, close_capture(match, *s, *p));
        if (**p == '$' && *p + 1 == match->pattern_end)
                return finish(s, *s == match->text_end ? *s : NULL);
        if (escaped == 'f') {
                if (!match_frontier(match, *s, *p, &set))
                        return finish(s, NULL);
                *p = set.end;
                return STEP_ON;
        }
        if (escaped == 'b' || g_ascii_isdigit(escaped)) {
                *s = escaped == 'b' ? match_balance(match, *s, *p) : match_again(match, *s, *p);
                *p += escaped == 'b' ? 4 : 2;
                return *s ? STEP_ON : STEP_DONE;
        }

        return match_item(match, s, p);
}

static const char *match_here(PatternMatch *match, const char *s, const char *p) {
        while (p < match->pattern_end)
                if (match_step(match, &s, &p) == STEP_DONE)
                        break;

        return s;
}

#define BYTES_PER_STEP 16
/* The matcher's steps are smaller than Lua's. */
#define PATTERN_STEPS_PER_STEP 4

/* The text and the pattern of a function, its first two arguments. */
typedef struct Search {
        const char *pattern;
        bool is_anchored; /* the pattern begins after a '^' */
        PatternMatch match;
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

/* The end of the match at start, which is inside of the text; NULL: no match. The caller handles an anchor ('^').
 * Charges the steps, and raises an error of the pattern. */
static const char *search_at(lua_State *lua, Search *search, const char *start) {
        PatternMatch *match = &search->match;
        const char *end;

        match->depth = 0;
        match->n_captures = 0;
        match->steps = 0;
        match->steps_max = budget_steps_left(lua) * PATTERN_STEPS_PER_STEP;
        end = match_here(match, start, search->pattern);
        for (unsigned i = 0; end && i < match->n_captures; i++)
                if (match->captures[i].kind == CAPTURE_OPEN)
                        fail(match, "a '(' of the pattern has no ')'");

        budget_charge(lua, match->steps / PATTERN_STEPS_PER_STEP + 1);
        if (match->error)
                luaL_error(lua, "%s", match->error);

        return end;
}

/* The first position from start on at which the pattern matches. In a long text, most are skipped. */
static const char *search_from(lua_State *lua, Search *search, const char *start, const char **ret_end) {
        const char *pattern = search->pattern;
        size_t length = (size_t) (search->match.pattern_end - pattern);
        char first = length > 0 ? *pattern : 0;
        /* The pattern can match only at this character. */
        bool skips = !search->is_anchored && first && !strchr("^$*+?.()[%-", first) &&
                     !(length > 1 && pattern[1] && strchr("*?-", pattern[1]));

        for (; start <= search->match.text_end; start++) {
                const char *end;

                if (skips) {
                        size_t left = (size_t) (search->match.text_end - start);
                        const char *next = memchr(start, first, left);

                        budget_charge(lua, (next ? (size_t) (next - start) : left) / BYTES_PER_STEP);
                        if (!next)
                                return NULL;
                        start = next;
                }
                end = search_at(lua, search, start);

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
static void push_capture(lua_State *lua, const PatternMatch *match, unsigned i, const char *start, const char *end) {
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

static int push_captures(lua_State *lua, const PatternMatch *match, const char *start, const char *end, bool or_whole) {
        unsigned n = match->n_captures == 0 && or_whole ? 1 : match->n_captures;

        luaL_checkstack(lua, (int) n, "too many captures");
        for (unsigned i = 0; i < n; i++)
                push_capture(lua, match, i, start, end);

        return (int) n;
}

/* The position of an optional argument, from the end if negative. NULL: after the text. */
static const char *start_argument(lua_State *lua, int index, const PatternMatch *match) {
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

static int string_find(lua_State *lua) {
        bool is_plain = lua_toboolean(lua, 4);
        const char *start, *end, *p;
        Search search;
        int n = 0;

        search_init(lua, 1, 2, !is_plain, &search);
        start = start_argument(lua, 3, &search.match);
        for (p = search.pattern; p < search.match.pattern_end && !(*p && strchr("^$*+?.([%-", *p));)
                p++;
        is_plain |= !search.is_anchored && p == search.match.pattern_end;

        if (start && is_plain)
                n = find_plain(lua, &search, start);
        else if (start && (start = search_from(lua, &search, start, &end))) {
                lua_pushinteger(lua, start - search.match.text + 1);
                lua_pushinteger(lua, end - search.match.text);
                n = 2 + push_captures(lua, &search.match, start, end, false);
        }
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
static void add_text(lua_State *lua, luaL_Buffer *buffer, const PatternMatch *match, const char *start,
                     const char *end) {
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

static void add_replacement(lua_State *lua, luaL_Buffer *buffer, const PatternMatch *match, const char *start,
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

static int string_gsub(lua_State *lua) {
        int type = lua_type(lua, 3);
        const char *start, *last = NULL;
        luaL_Buffer buffer;
        lua_Integer n_max, n = 0;
        Search search;

        search_init(lua, 1, 2, true, &search);
        luaL_argexpected(lua, type == LUA_TSTRING || type == LUA_TNUMBER || type == LUA_TTABLE || type == LUA_TFUNCTION,
                         3, "string/function/table");
        n_max = luaL_optinteger(lua, 4, search.match.text_end - search.match.text + 1);

        luaL_buffinit(lua, &buffer);
        start = search.match.text;
        while (n < n_max) {
                const char *end = search_at(lua, &search, start);

                if (end && end != last) {
                        add_replacement(lua, &buffer, &search.match, start, end);
                        start = last = end;
                        n++;
                } else if (start < search.match.text_end)
                        luaL_addchar(&buffer, *start++);
                else
                        break;

                if (search.is_anchored)
                        break;
        }

        luaL_addlstring(&buffer, start, (size_t) (search.match.text_end - start));
        luaL_pushresult(&buffer);
        lua_pushinteger(lua, n);
        return 2;
}

static lua_Integer from_end(lua_Integer place, size_t length) {
        return place < 0 ? MAX(place + (lua_Integer) length + 1, 0) : place;
}

int library_call_over_part(lua_State *lua) {
        size_t length;
        lua_Integer first, last;

        luaL_checklstring(lua, 1, &length);
        first = from_end(luaL_optinteger(lua, 2, 1), length);
        last = from_end(luaL_optinteger(lua, 3, first), length);
        library_charge_results(lua, first, MIN(last, (lua_Integer) length));
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

/* Tables and functions have no address here. */
static int string_format(lua_State *lua) {
        size_t length;
        const char *p = luaL_checklstring(lua, 1, &length), *end = p + length;
        int argument = 1;

        while ((p = memchr(p, '%', (size_t) (end - p)))) {
                /* The flags, width and precision of a conversion. */
                for (p++; p < end && *p && strchr("-+ #0123456789.", *p);)
                        p++;
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
        { "byte", library_call_over_part },
        { "find", string_find },
        { "format", string_format },
        { "gmatch", string_gmatch },
        { "gsub", string_gsub },
        { "match", string_match },
        { "rep", string_rep },
        {},
};
