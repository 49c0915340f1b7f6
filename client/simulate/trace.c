/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Reads a stored trace, and compares the lines of events with it. */

#include "client/simulate/trace.h"
#include "client/files.h"

/* Number of lines to show before a difference. */
#define CONTEXT 3u

struct Expectation {
        char **lines;
        unsigned n_lines, n_equal;
        char *other; /* the actual line at the first difference, or NULL. Later ones follow from it. */
};

Expectation *expectation_read(const char *path, char **ret_error) {
        g_autofree char *text = NULL;
        Expectation *expectation;
        size_t length;
        int r;

        r = file_read(path, &text, &length);
        if (r < 0) {
                *ret_error = g_strdup_printf("%s cannot be read: %s", path, g_strerror(-r));
                return NULL;
        }

        if (length == 0 || !g_utf8_validate(text, (gssize) length, NULL)) {
                *ret_error = g_strdup_printf("%s is not a trace, as 'btctl simulate FILE > TRACE' writes it", path);
                return NULL;
        }

        if (g_str_has_suffix(text, "\n"))
                text[length - 1] = 0;

        expectation = g_new0(Expectation, 1);
        expectation->lines = g_strsplit(text, "\n", -1);
        expectation->n_lines = g_strv_length(expectation->lines);
        return expectation;
}

void expectation_free(Expectation *expectation) {
        if (!expectation)
                return;

        g_strfreev(expectation->lines);
        g_free(expectation->other);
        g_free(expectation);
}

bool expectation_is_json(const Expectation *expectation) {
        return expectation->n_lines > 0 && expectation->lines[0][0] == '{';
}

bool expectation_is_ascii(const Expectation *expectation) {
        for (char **line = expectation->lines; *line; line++)
                if (!g_str_is_ascii(*line))
                        return false;

        return true;
}

void expectation_compare(Expectation *expectation, const char *line) {
        if (expectation->other)
                return;

        if (expectation->n_equal < expectation->n_lines && g_str_equal(expectation->lines[expectation->n_equal], line))
                expectation->n_equal++;
        else
                expectation->other = g_strdup(line);
}

char *expectation_difference(Expectation *expectation, unsigned *ret_line) {
        unsigned n = expectation->n_equal;
        bool too_few = n < expectation->n_lines;
        GString *text;

        if (!too_few && !expectation->other)
                return NULL;

        text = g_string_new(NULL);
        for (unsigned i = n - MIN(n, CONTEXT); i < n; i++)
                g_string_append_printf(text, "  %s\n", expectation->lines[i]);

        g_string_append_printf(text, "- %s\n", too_few ? expectation->lines[n] : "(nothing more)");
        g_string_append_printf(text, "+ %s", expectation->other ?: "(nothing more)");
        *ret_line = n + 1;
        return g_string_free(text, false);
}

unsigned expectation_count(const Expectation *expectation) {
        return expectation->n_lines;
}
