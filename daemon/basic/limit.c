/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Parses the limits, and defines their defaults. The names are those that the option --limit accepts. */

#include <errno.h>
#include <glib.h>
#include <string.h>
#include <unistd.h>

#include "basic/limit.h"
#include "basic/nearest.h"

#define VALUE_MAX 1000000u

static const struct {
        const char *name;
        unsigned highest; /* the highest value that can be set */
} kinds[LIMIT_MAX_] = {
        [LIMIT_TREES] = { "trees", VALUE_MAX },
        [LIMIT_RUNS] = { "runs", VALUE_MAX },
        [LIMIT_RUNS_OF_A_CALLER] = { "runs-of-a-caller", VALUE_MAX },
        [LIMIT_VARIABLES_OF_A_CALLER] = { "variables-of-a-caller-mib", VALUE_MAX },
        [LIMIT_RECORDS_OF_A_CALLER] = { "records-of-a-caller-mib", VALUE_MAX },
        [LIMIT_JOBS_OF_A_CALLER] = { "unit-jobs-of-a-caller", VALUE_MAX },
        [LIMIT_CALLS_OF_A_CALLER] = { "calls-of-a-caller", VALUE_MAX },
        [LIMIT_SUBSCRIBERS] = { "subscribers", VALUE_MAX },
        [LIMIT_SUBSCRIBERS_OF_A_CALLER] = { "subscribers-of-a-caller", VALUE_MAX },
        [LIMIT_NODES] = { "nodes", VALUE_MAX },
        [LIMIT_DEPTH] = { "depth", 1000 },
        [LIMIT_VARIABLES] = { "variables-kib", VALUE_MAX },
        [LIMIT_RECORD] = { "journal-kib", VALUE_MAX },
        [LIMIT_HISTORY] = { "history", VALUE_MAX },
        [LIMIT_HISTORY_SIZE] = { "history-mib", VALUE_MAX },
        [LIMIT_HISTORY_AGE] = { "history-days", VALUE_MAX },
        [LIMIT_TOKENS] = { "tokens", VALUE_MAX },
        [LIMIT_TOKEN_AGE] = { "token-days", VALUE_MAX },
};

const Limits limits_default = {
        .max = {
                [LIMIT_TREES] = 10000,
                [LIMIT_RUNS] = 1024,
                [LIMIT_RUNS_OF_A_CALLER] = 256,
                [LIMIT_VARIABLES_OF_A_CALLER] = 64,
                [LIMIT_RECORDS_OF_A_CALLER] = 256,
                [LIMIT_JOBS_OF_A_CALLER] = 25,
                [LIMIT_CALLS_OF_A_CALLER] = 64,
                [LIMIT_SUBSCRIBERS] = 1024,
                [LIMIT_SUBSCRIBERS_OF_A_CALLER] = 64,
                [LIMIT_NODES] = 1000000,
                [LIMIT_DEPTH] = 1000,
                [LIMIT_VARIABLES] = 8 * 1024,
                [LIMIT_RECORD] = 64 * 1024,
                [LIMIT_HISTORY] = 1000,
                [LIMIT_HISTORY_SIZE] = 64,
                [LIMIT_HISTORY_AGE] = 30,
                [LIMIT_TOKENS] = 100000,
                [LIMIT_TOKEN_AGE] = 30,
        },
};

int limits_set(Limits *limits, const char *text, char **ret_error) {
        size_t length = strcspn(text, "=");
        g_autofree char *name = g_strndup(text, length);
        Nearest nearest = { .word = name };
        unsigned highest;
        guint64 value;

        for (Limit limit = 0; limit < LIMIT_MAX_; limit++) {
                nearest_offer(&nearest, kinds[limit].name);
                if (!g_str_equal(name, kinds[limit].name))
                        continue;

                highest = kinds[limit].highest;
                if (!text[length] || !g_ascii_string_to_unsigned(text + length + 1, 10, 1, highest, &value, NULL)) {
                        *ret_error = g_strdup_printf("the limit '%s' needs a number from 1 to %u, as in --limit=%s=%u",
                                                     name, highest, name, limits_default.max[limit]);
                        return -EINVAL;
                }

                limits->max[limit] = (unsigned) value;
                return 0;
        }

        if (nearest.best)
                *ret_error = g_strdup_printf("there is no limit '%s'; did you mean '%s'?", name, nearest.best);
        else
                *ret_error = g_strdup_printf("there is no limit '%s'; see LIMITS in btd(8)", name);
        return -EINVAL;
}

bool limits_bind(uint32_t uid) {
        return uid != 0 && uid != geteuid();
}

char *limit_size_text(unsigned kib) {
        return kib % 1024 == 0 ? g_strdup_printf("%u MiB", kib / 1024) : g_strdup_printf("%u KiB", kib);
}
