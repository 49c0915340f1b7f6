/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Makes text safe for a terminal, and measures and wraps it, for all verbs. Names, causes and descriptions come from
 * files and other programs, so characters that could move the cursor or change colours are replaced.
 */

#include <stdbool.h>
#include <string.h>

#include "basic/excerpt.h"
#include "client/view/text.h"

char *text_clean(const char *text, bool ascii) {
        g_autofree char *valid = g_utf8_make_valid(text, -1);
        g_autoptr(GString) clean = g_string_sized_new(strlen(valid));

        for (const char *p = valid; *p; p = g_utf8_next_char(p)) {
                gunichar c = g_utf8_get_char(p);

                if (c < 128 && g_ascii_isspace(c))
                        g_string_append_c(clean, ' ');
                else if (!g_unichar_isprint(c) || character_is_control(c) || (ascii && c > 127))
                        g_string_append_c(clean, '?');
                else
                        g_string_append_unichar(clean, c);
        }

        return g_string_free(g_steal_pointer(&clean), FALSE);
}

char *text_escape_json(const char *json) {
        g_autofree char *valid = g_utf8_make_valid(json, -1);
        g_autoptr(GString) escaped = g_string_sized_new(strlen(valid));

        for (const char *p = valid; *p; p = g_utf8_next_char(p)) {
                gunichar c = g_utf8_get_char(p);

                if (c != '\n' && c != '\t' && character_is_control(c))
                        g_string_append_printf(escaped, "\\u%04x", c);
                else
                        g_string_append_unichar(escaped, c);
        }

        return g_string_free(g_steal_pointer(&escaped), FALSE);
}

/* Skips escape sequences of colours, if any start here. */
static const char *skip_colours(const char *p) {
        while (p[0] == '\033' && p[1] == '[')
                p += 2 + strcspn(p + 2, "m") + 1;

        return p;
}

static size_t character_width(gunichar c) {
        if (g_unichar_iszerowidth(c))
                return 0;

        return g_unichar_iswide(c) ? 2 : 1;
}

size_t text_width(const char *text) {
        size_t width = 0;

        for (const char *p = skip_colours(text); *p; p = skip_colours(g_utf8_next_char(p)))
                width += character_width(g_utf8_get_char(p));

        return width;
}

void text_ellipsize(GString *text, size_t columns, bool ascii) {
        const char *ellipsis = ascii ? "..." : "…";
        size_t room = columns - MIN(columns, ascii ? 3 : 1), width = 0;
        bool coloured = strchr(text->str, '\033');
        const char *p;

        if (text_width(text->str) <= columns)
                return;

        for (p = skip_colours(text->str); *p; p = skip_colours(g_utf8_next_char(p))) {
                width += character_width(g_utf8_get_char(p));
                if (width > room)
                        break;
        }

        g_string_truncate(text, p - text->str);
        g_string_append(text, ellipsis);
        if (coloured)
                g_string_append(text, "\033[0m");
}

/* The rest of a word after the characters that fit, at least one. */
static const char *skip_columns(const char *word, size_t columns) {
        size_t width = character_width(g_utf8_get_char(word));

        do {
                word = g_utf8_next_char(word);
                width += character_width(g_utf8_get_char(word));
        } while (*word && width <= columns);

        return word;
}

/* breaks: words that are longer than a line. */
static void append_paragraph(GString *text, const char *paragraph, size_t indent, size_t columns, bool breaks) {
        g_auto(GStrv) words = g_strsplit(paragraph, " ", -1);
        size_t column = 0;

        for (char **each = words; *each; each++) {
                const char *word = *each, *rest;
                size_t width = text_width(word);

                if (column == 0 || column + 1 + width > columns) {
                        g_string_append_printf(text, "%s%*s", column == 0 ? "" : "\n", (int) indent, "");
                        column = indent;
                } else {
                        g_string_append_c(text, ' ');
                        column++;
                }
                for (; breaks && column + width > columns; word = rest, width = text_width(word)) {
                        rest = skip_columns(word, columns - column);
                        if (!*rest)
                                break;
                        g_string_append_len(text, word, rest - word);
                        g_string_append_printf(text, "\n%*s", (int) indent, "");
                        column = indent;
                }
                g_string_append(text, word);
                column += width;
        }
}

void text_append_wrapped(GString *text, const char *paragraphs, size_t indent, size_t columns) {
        g_auto(GStrv) lines = g_strsplit(paragraphs, "\n", -1);

        for (char **line = lines; *line; line++) {
                if (**line)
                        append_paragraph(text, *line, indent, columns, false);
                g_string_append_c(text, '\n');
        }
}

void text_append_broken(GString *text, const char *line, size_t columns) {
        append_paragraph(text, line, 0, columns, true);
}
