/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* btctl help: finds the manual page that explains a verb, a type, a key or a word, and runs man(1) for it. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "basic/nearest.h"
#include "client/files.h"
#include "client/verbs/verbs.h"
#include "definition/common-attributes.h"
#include "definition/header.h"
#include "definition/type-index.h"

/* test_help_topics() compares these tables with the pages. */
static const struct {
        const char *name, *section;
} pages[] = {
        { "btctl", "1" },           { "btd", "8" },           { "btd-cookbook", "7" },
        { "btd-expressions", "7" }, { "btd-glossary", "7" },  { "btd-metrics", "8" },
        { "btd-nodes", "5" },       { "btd-outputs", "5" },   { "btd-run@.service", "8" },
        { "btd-secrets", "7" },     { "btd-semantics", "7" }, { "btd-shutdown", "7" },
        { "btd-tree", "5" },        { "org.btd1", "5" },
};

static const char *const words[] = {
        "tree",       "node",          "action",  "condition",  "expression", "guard",     "hook",     "clean-up",
        "lock",       "reactive node", "path",    "run",        "instance",   "variables", "input",    "output",
        "execution",  "round",         "begin",   "waiting",    "outcome",    "result",    "status",   "halt",
        "cause",      "ready",         "restart", "change",     "tick",       "evaluate",  "event",    "force",
        "breakpoint", "pause",         "token",   "run record", "durable",    "recover",   "snapshot", "history",
};

/* Without a name, all topics are printed. */
typedef struct Search {
        const char *name;
        Nearest nearest;
        const char *page, *section;
        bool exact;  /* also in upper and lower case: "Retry" is a type, and "retry" a verb */
        char *place; /* the word at the beginning of a paragraph; NULL: the whole page */
} Search;

static void offer(Search *search, const char *topic, const char *page, const char *place) {
        if (!search->name) {
                puts(topic);
                return;
        }

        nearest_offer(&search->nearest, topic);
        if (strcasecmp(topic, search->name) != 0 ||
            (search->page && (search->exact || !g_str_equal(topic, search->name))))
                return;
        for (size_t i = 0; i < G_N_ELEMENTS(pages); i++)
                if (g_str_equal(pages[i].name, page))
                        search->section = pages[i].section;
        search->page = page;
        search->exact = g_str_equal(topic, search->name);
        g_free(search->place);
        search->place = g_strdup(place);
}

/* If several pages have a topic, the first one counts: "run" is the verb. */
static void search_topics(Search *search) {
        g_autoptr(GPtrArray) types = node_types_list();

        for (const Verb *verb = verb_table; verb->name; verb++)
                if (verb->help)
                        offer(search, verb->name, "btctl", verb->name);
        for (size_t i = 0; i < G_N_ELEMENTS(pages); i++)
                offer(search, pages[i].name, pages[i].name, NULL);
        for (size_t i = 0; i < G_N_ELEMENTS(pages); i++)
                if (g_str_has_prefix(pages[i].name, "btd-"))
                        offer(search, pages[i].name + strlen("btd-"), pages[i].name, NULL);
        for (guint i = 0; i < types->len; i++) {
                const NodeType *type = g_ptr_array_index(types, i);

                offer(search, type->name, "btd-nodes", type->name);
                for (const char *const *alias = type->aliases; alias && *alias; alias++)
                        offer(search, *alias, "btd-nodes", type->name);
        }
        for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
                offer(search, words[i], "btd-glossary", words[i]);
        for (const Param *param = header_params; param->name; param++)
                offer(search, param->name, "btd-tree", param->name);
        for (const Param *param = common_attribute_params; param->name; param++)
                offer(search, param->name, "btd-tree", param->name);
        for (guint i = 0; i < types->len; i++) {
                const NodeType *type = g_ptr_array_index(types, i);

                for (const Param *param = type->params; param && param->name; param++)
                        offer(search, param->name, "btd-nodes", type->name);
        }
}

void help_print_topics(void) {
        search_topics(&(Search){});
}

int verb_help(Client *client, char **operands) {
        const char *topic = operands[0] ?: "btctl";
        /* "btd-tree(5)" */
        g_autofree char *name = g_strndup(topic, g_str_has_suffix(topic, ")") ? strcspn(topic, "(") : strlen(topic));
        g_autofree char *place = NULL;
        Search search = { .name = name, .nearest = { .word = name } };

        search_topics(&search);
        place = search.place;
        if (!search.page && search.nearest.best)
                return report_error("no page explains '%s'; did you mean '%s'?", topic, search.nearest.best);
        if (!search.page)
                return report_error(
                        "no page explains '%s'; a topic is a verb, a type or a key of nodes, a key of trees, a "
                        "page, or a word of btd-glossary(7)",
                        topic);

        /* Makes less(1), which man(1) runs, begin at the heading of a type, or at the paragraph of a word, maybe behind
         * others. */
        if (place) {
                /* less(1) takes '$' in LESS for the end of an option, and "$schema" begins with one. */
                g_autofree char *regex = g_strdelimit(g_strdup(place), "$", '.');
                const char *options = getenv("LESS"), *indent = g_ascii_isupper(*place) ? "   " : "     ([a-z_]+, )*";
                g_autofree char *less = g_strconcat(options ?: "", "$ +/^", indent, regex, "\\b", NULL);

                setenv("LESS", options && *options ? less : less + strlen("$ "), true);
        }
        if (pager_secure()) {
                setenv("MANPAGER", "less", true);
                unsetenv("MANOPT");
        }
        if (options_has(&client->options, OPTION_NO_PAGER))
                setenv("MANPAGER", "cat", true);

        execlp("man", "man", search.section, search.page, NULL);
        return report_error("cannot show %s(%s) with man(1): %m", search.page, search.section);
}
