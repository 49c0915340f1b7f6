/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The names are those of the option --limit. */

#include <errno.h>
#include <glib.h>
#include <string.h>
#include <unistd.h>

#include "basic/limit.h"
#include "basic/nearest.h"

#define VALUE_MAX 1000000u

static const char *const names[LIMIT_MAX_] = {
        [LIMIT_TREES] = "trees",
        [LIMIT_RUNS] = "runs",
        [LIMIT_RUNS_OF_A_CALLER] = "runs-of-a-caller",
        [LIMIT_CALLS_OF_A_CALLER] = "calls-of-a-caller",
        [LIMIT_SUBSCRIBERS] = "subscribers",
        [LIMIT_SUBSCRIBERS_OF_A_CALLER] = "subscribers-of-a-caller",
};

const Limits limits_default = {
        .max = {
                [LIMIT_TREES] = 10000,
                [LIMIT_RUNS] = 1024,
                [LIMIT_RUNS_OF_A_CALLER] = 256,
                [LIMIT_CALLS_OF_A_CALLER] = 64,
                [LIMIT_SUBSCRIBERS] = 1024,
                [LIMIT_SUBSCRIBERS_OF_A_CALLER] = 64,
        },
};

static int no_limit(const char *name, char **ret_error) {
        Nearest nearest = { .word = name };

        for (Limit limit = 0; limit < LIMIT_MAX_; limit++)
                nearest_offer(&nearest, names[limit]);

        if (nearest.best)
                *ret_error = g_strdup_printf("there is no limit '%s'; did you mean '%s'?", name, nearest.best);
        else
                *ret_error = g_strdup_printf("there is no limit '%s'; see LIMITS in btd(8)", name);
        return -EINVAL;
}

int limits_set(Limits *limits, const char *text, char **ret_error) {
        size_t length = strcspn(text, "=");
        g_autofree char *name = g_strndup(text, length);
        guint64 value;

        for (Limit limit = 0; limit < LIMIT_MAX_; limit++) {
                if (!g_str_equal(name, names[limit]))
                        continue;

                if (!text[length] || !g_ascii_string_to_unsigned(text + length + 1, 10, 1, VALUE_MAX, &value, NULL)) {
                        *ret_error = g_strdup_printf("'%s' needs a number from 1 to %u, like '%s=%u'", name, VALUE_MAX,
                                                     name, limits_default.max[limit]);
                        return -EINVAL;
                }

                limits->max[limit] = (unsigned) value;
                return 0;
        }

        return no_limit(name, ret_error);
}

bool limits_bind(uint32_t uid) {
        return uid != 0 && uid != geteuid();
}
