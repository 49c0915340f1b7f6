/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Makes and parses the names of processes. The name of a tree can contain the same characters as the numbers after it,
 * so the last dot is the one before the number of the run. */

#include <string.h>

#include "leaves/spawn/spawn-name.h"

#define NUMBERS_MAX 4u

char *spawn_name_format(const Leaf *leaf, unsigned repetition) {
        if (repetition == 0)
                return g_strdup_printf("%s-%u-%u", leaf->run, leaf->node, leaf->attempt);

        return g_strdup_printf("%s-%u-%u-%u", leaf->run, leaf->node, leaf->attempt, repetition);
}

/* "3-12-1": how many numbers; 0: it is something else. */
static unsigned parse_numbers(const char *text, uint64_t numbers[static NUMBERS_MAX]) {
        g_auto(GStrv) parts = g_strsplit(text, "-", NUMBERS_MAX + 1);
        unsigned n = g_strv_length(parts);

        for (unsigned i = 0; i < n; i++)
                if (i == NUMBERS_MAX ||
                    !g_ascii_string_to_unsigned(parts[i], 10, 0, i == 0 ? UINT64_MAX : NODE_NONE - 1, &numbers[i],
                                                NULL))
                        return 0;

        return n;
}

bool spawn_name_parse(const char *text, const char *prefix, const char *suffix, SpawnName *ret_name) {
        g_autofree char *name = NULL;
        uint64_t numbers[NUMBERS_MAX];
        const char *dot;
        unsigned n;

        if (!g_str_has_prefix(text, prefix) || !g_str_has_suffix(text, suffix) ||
            strlen(text) < strlen(prefix) + strlen(suffix))
                return false;

        name = g_strndup(text + strlen(prefix), strlen(text) - strlen(prefix) - strlen(suffix));
        dot = strrchr(name, '.');
        n = dot ? parse_numbers(dot + 1, numbers) : 0;
        if (n < NUMBERS_MAX - 1)
                return false;

        *ret_name = (SpawnName){
                .run = g_strndup(name, (size_t) (strchr(dot, '-') - name)),
                .node = (NodeId) numbers[1],
                .attempt = (uint32_t) numbers[2],
                .repetition = n == NUMBERS_MAX ? (unsigned) numbers[3] : 0,
        };
        return true;
}

void spawn_name_clear(SpawnName *name) {
        g_free(name->run);
        *name = (SpawnName){};
}
