/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Matches patterns by backtracking. It calls itself for the rest of the pattern after a repetition or a bracket, so
 * never deeper than the pattern is long.
 */

#include <glib.h>
#include <string.h>

#include "script/pattern.h"

#define DEPTH_MAX 200
#define ESCAPE '%'

/* One character, class or set of the pattern. */
typedef struct Item {
        const char *start, *end;
} Item;

static const char *match_here(Match *match, const char *s, const char *p);

static void *fail(Match *match, const char *error) {
        if (!match->error)
                match->error = error;

        return NULL;
}

static bool fail_to_match(Match *match, const char *error) {
        (void) fail(match, error);
        return false;
}

static bool take_steps(Match *match, size_t n) {
        match->steps += n;
        if (match->steps > match->steps_max)
                fail(match, "the pattern takes too many steps");

        return !match->error;
}

static bool item_at(Match *match, const char *p, Item *ret_item) {
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

static bool item_matches(Match *match, const char *s, const Item *item) {
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
static const char *match_rest(Match *match, const char *s, const char *p) {
        const char *end;

        if (match->depth == DEPTH_MAX)
                return fail(match, "the pattern is too complex");

        match->depth++;
        end = match_here(match, s, p);
        match->depth--;
        return end;
}

static const char *match_longest(Match *match, const char *s, const Item *item) {
        size_t n = 0;

        while (item_matches(match, s + n, item))
                n++;

        for (;; n--) {
                const char *end = match->error ? NULL : match_rest(match, s + n, item->end + 1);

                if (end || n == 0 || match->error)
                        return end;
        }
}

static const char *match_shortest(Match *match, const char *s, const Item *item) {
        for (;; s++) {
                const char *end = match_rest(match, s, item->end + 1);

                if (end || match->error || !item_matches(match, s, item))
                        return end;
        }
}

static const char *open_capture(Match *match, const char *s, const char *p) {
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

static const char *close_capture(Match *match, const char *s, const char *p) {
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
static const char *match_balance(Match *match, const char *s, const char *p) {
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
static bool match_frontier(Match *match, const char *s, const char *p, Item *ret_set) {
        unsigned char before = s == match->text ? 0 : (unsigned char) s[-1];
        unsigned char after = s == match->text_end ? 0 : (unsigned char) *s;

        if (match->pattern_end - p < 3 || p[2] != '[')
                return fail_to_match(match, "'%f' of the pattern needs a '['");
        if (!item_at(match, p + 2, ret_set) || !take_steps(match, (size_t) (ret_set->end - ret_set->start)))
                return false;

        return !in_set(before, ret_set) && in_set(after, ret_set);
}

/* "%1" at p. */
static const char *match_again(Match *match, const char *s, const char *p) {
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

static Step match_item(Match *match, const char **s, const char **p) {
        char repetition;
        const char *end;
        Item item;

        if (!item_at(match, *p, &item))
                return finish(s, NULL);

        repetition = item.end < match->pattern_end ? *item.end : 0;
        if (repetition == '*')
                return finish(s, match_longest(match, *s, &item));
        if (repetition == '-')
                return finish(s, match_shortest(match, *s, &item));

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

/* An escape that is not the class of a single character. */
static bool is_special_escape(const Match *match, const char *p) {
        return *p == ESCAPE && p + 1 < match->pattern_end && (p[1] == 'b' || p[1] == 'f' || g_ascii_isdigit(p[1]));
}

static Step match_escape(Match *match, const char **s, const char **p) {
        Item set;

        if ((*p)[1] == 'f') {
                if (!match_frontier(match, *s, *p, &set))
                        return finish(s, NULL);
                *p = set.end;
                return STEP_ON;
        }

        *s = (*p)[1] == 'b' ? match_balance(match, *s, *p) : match_again(match, *s, *p);
        *p += (*p)[1] == 'b' ? 4 : 2;
        return *s ? STEP_ON : STEP_DONE;
}

static Step match_step(Match *match, const char **s, const char **p) {
        if (!take_steps(match, 1))
                return finish(s, NULL);
        if (**p == '(')
                return finish(s, open_capture(match, *s, *p));
        if (**p == ')')
                return finish(s, close_capture(match, *s, *p));
        if (**p == '$' && *p + 1 == match->pattern_end)
                return finish(s, *s == match->text_end ? *s : NULL);
        if (is_special_escape(match, *p))
                return match_escape(match, s, p);

        return match_item(match, s, p);
}

static const char *match_here(Match *match, const char *s, const char *p) {
        while (p < match->pattern_end)
                if (match_step(match, &s, &p) == STEP_DONE)
                        break;

        return s;
}

const char *pattern_match(Match *match, const char *start, const char *pattern) {
        const char *end;

        match->depth = 0;
        match->n_captures = 0;
        end = match_here(match, start, pattern);
        for (unsigned i = 0; end && i < match->n_captures; i++)
                if (match->captures[i].kind == CAPTURE_OPEN)
                        return fail(match, "a '(' of the pattern has no ')'");

        return match->error ? NULL : end;
}

bool pattern_is_plain(const char *pattern, size_t length) {
        for (size_t i = 0; i < length; i++)
                if (pattern[i] && strchr("^$*+?.([%-", pattern[i]))
                        return false;

        return true;
}
