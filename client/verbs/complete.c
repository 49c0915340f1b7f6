/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* btctl complete: prints words for shell completion, one on each line. */

#include <stdio.h>
#include <string.h>

#include "basic/cleanup.h"
#include "client/bus/target.h"
#include "client/files.h"
#include "client/recording/record-files.h"
#include "client/verbs/verbs.h"

static int complete_verbs(Client *client, const char *of) {
        for (const Verb *it = verb_table; it->name; it++)
                if (it->help)
                        puts(it->name);

        return EXIT_SUCCESS;
}

/* Prints the options of the verb, if it is known, and those of all verbs; with '=' if a value follows. */
static int complete_options(Client *client, const char *of) {
        uint64_t ids = OPTION_BITS_COMMON;

        for (const Verb *it = verb_table; it->name; it++)
                if (of && strcmp(it->name, of) == 0)
                        ids |= it->options;

        for (OptionId id = 0; id < OPTION_MAX_; id++)
                if (ids & OPTION_BIT(id))
                        printf("--%s%s\n", option_table[id].name, option_table[id].argument ? "=" : "");

        return EXIT_SUCCESS;
}

static int complete_trees(Client *client, const char *of) {
        g_autoptr(GPtrArray) trees = NULL;
        int status;

        status = tree_info_list(client, &trees);
        for (guint i = 0; status == EXIT_SUCCESS && i < trees->len; i++)
                puts(((const TreeInfo *) g_ptr_array_index(trees, i))->name);

        return status;
}

static int complete_runs(Client *client, const char *of) {
        g_autoptr(GPtrArray) runs = NULL;
        int status;

        status = run_info_list(client, &runs);
        for (guint i = 0; status == EXIT_SUCCESS && i < runs->len; i++)
                puts(((const RunInfo *) g_ptr_array_index(runs, i))->id);

        return status;
}

/* Prints finished runs, also those that btd no longer lists. Where they are found does not matter here. */
static int complete_past(Client *client, const char *of) {
        g_autoptr(RecordFiles) files = NULL;
        g_autoptr(GPtrArray) runs = NULL;
        int status;

        client->output.quiet = true;
        status = record_files_select(client, NULL, &files, &runs, NULL);
        for (guint i = 0; status == EXIT_SUCCESS && i < runs->len; i++)
                puts(((const RunInfo *) g_ptr_array_index(runs, i))->id);

        return status;
}

static int complete_types(Client *client, const char *of) {
        g_autoptr(GPtrArray) types = node_types_list();

        for (guint i = 0; i < types->len; i++)
                puts(((const NodeType *) g_ptr_array_index(types, i))->name);

        return EXIT_SUCCESS;
}

static int complete_topics(Client *client, const char *of) {
        help_print_topics();
        return EXIT_SUCCESS;
}

/* Whether the operand names exactly this node, and has no blanks, which would split it in a shell. */
static bool names_one(const GPtrArray *nodes, const char *operand, uint32_t index) {
        g_autofree char *error = NULL;
        uint32_t found;

        return !strpbrk(operand, " \t\n") && target_choose_node(nodes, operand, &found, &error) && found == index;
}

static int complete_nodes(Client *client, const char *of) {
        g_autoptr(GPtrArray) nodes = NULL;
        g_autoptr(RunInfo) run = NULL;
        int status;

        status = target_find_running(client, of, &run);
        if (status == EXIT_SUCCESS)
                status = node_info_of_run(client, run->path, &nodes);
        if (status != EXIT_SUCCESS)
                return status;

        /* Names; or paths, if several nodes have the same name. */
        for (uint32_t i = 0; i < nodes->len; i++) {
                const char *name = ((const NodeInfo *) g_ptr_array_index(nodes, i))->name;
                g_autofree char *path = node_info_path(nodes, i);

                if (names_one(nodes, name, i))
                        puts(name);
                else if (names_one(nodes, path, i))
                        puts(path);
        }
        return EXIT_SUCCESS;
}

static int print_variables(Client *client, const char *of, const char *end) {
        g_autoptr(sd_bus_message) reply = NULL;
        g_auto(Target) target = {};
        const char *key;
        int status, r;

        status = target_find(client, of, &target);
        if (status != EXIT_SUCCESS || !target.run)
                return status;

        status = client_call(client, &reply, target.run->path, BTD_RUN, "GetVariables", NULL);
        if (status != EXIT_SUCCESS)
                return status;

        r = sd_bus_message_enter_container(reply, SD_BUS_TYPE_ARRAY, "{sv}");
        while (r >= 0 && (r = sd_bus_message_enter_container(reply, SD_BUS_TYPE_DICT_ENTRY, "sv")) > 0) {
                r = sd_bus_message_read(reply, "s", &key);
                if (r >= 0)
                        r = sd_bus_message_skip(reply, "v");
                if (r >= 0)
                        r = sd_bus_message_exit_container(reply);
                if (r >= 0)
                        printf("%s%s\n", key, end);
        }

        return r < 0 ? client_bad_message(r) : EXIT_SUCCESS;
}

static int complete_variables(Client *client, const char *of) {
        return print_variables(client, of, "");
}

/* The same for btctl set, where a value follows. */
static int complete_settings(Client *client, const char *of) {
        return print_variables(client, of, "=");
}

typedef struct Completion {
        const char *what;
        int (*complete)(Client *client, const char *of);
        bool of_run;
} Completion;

static const Completion completions[] = {
        { "verbs", complete_verbs, false },
        { "options", complete_options, false },
        { "trees", complete_trees, false },
        { "runs", complete_runs, false },
        { "types", complete_types, false },
        { "past", complete_past, false },
        { "topics", complete_topics, false },
        { "nodes", complete_nodes, true },
        { "variables", complete_variables, true },
        { "settings", complete_settings, true },
        {},
};

static const Completion *find_completion(const char *what) {
        const Completion *it = completions;

        while (it->what && strcmp(it->what, what) != 0)
                it++;
        return it->what ? it : NULL;
}

/* The operands with these numbers, from 0, can be what print_what() prints for "what"; if the word is a path, they are
 * files. */
static const struct {
        const char *verbs;
        unsigned first, last;
        const char *what, *files;
} operand_table[] = {
        { "start|enable|disable|is-enabled|preset", 0, UINT_MAX, "trees" },
        { "edit|revert|cat|history|stats|kept|forget", 0, 0, "trees" },
        { "halt|stop|restart", 0, UINT_MAX, "trees|runs" },
        { "wait|follow", 0, UINT_MAX, "trees|runs|past" },
        { "retry", 0, 0, "trees|runs|past" },
        { "status|get|set|pause|resume|step|break|force|watch", 0, 0, "trees|runs" },
        { "logs", 0, UINT_MAX, "trees|runs|past", ".journal" },
        { "show|replay|plot", 0, 0, "trees|runs|past", ".journal" },
        { "graph", 0, 0, "trees|runs|past", ".json|journal" },
        { "break|force", 1, 1, "nodes" },
        { "force", 2, 2, "=success|failure|skipped" },
        { "get", 1, 1, "variables" },
        { "set", 1, UINT_MAX, "settings" },
        { "types", 0, 0, "types" },
        { "schema", 0, 0, "=drop-in|outputs" },
        { "help", 0, 0, "topics" },
        { "validate", 0, UINT_MAX, ".json" },
        { "run|simulate", 0, 0, ".json" },
};

/* The same for the value of an option; verb NULL: of any verb. */
static const struct {
        OptionId id;
        const char *verb, *what;
} value_table[] = {
        { OPTION_FORMAT, "validate", "=sarif" },
        { OPTION_FORMAT, "metrics", "=openmetrics|http" },
        { OPTION_FORMAT, "plot", "=svg|html|trace" },
        { OPTION_FORMAT, "graph", "=svg|html|dot|mermaid" },
        { OPTION_NODE, NULL, "nodes" },
        { OPTION_FROM, NULL, "nodes" },
        { OPTION_SCRIPT, NULL, "." },
        { OPTION_EXPECT, NULL, "." },
        { OPTION_DIRECTORY, NULL, "./" },
};

/* OPTION_MAX_: there is none. ret_value: the value in the same word, or NULL. */
static OptionId find_option(const char *word, const char **ret_value) {
        OptionId id = 0;

        *ret_value = NULL;
        if (!g_str_has_prefix(word, "--")) {
                while (id < OPTION_MAX_ && option_table[id].letter != word[1])
                        id++;
                if (word[2] != '\0')
                        *ret_value = word + 2;
                return id;
        }

        for (; id < OPTION_MAX_; id++) {
                const char *rest = word + strlen("--");
                size_t length = strlen(option_table[id].name);

                if (strncmp(rest, option_table[id].name, length) != 0 || (rest[length] != '\0' && rest[length] != '='))
                        continue;
                *ret_value = rest[length] == '=' ? rest + length + 1 : NULL;
                break;
        }
        return id;
}

/* "=" and words: prints them; "." and suffixes, or "./" for directories: tells the shell to complete files; else runs
 * completions. */
static int print_what(Client *client, const char *what, const char *of) {
        g_auto(GStrv) words = g_strsplit(*what == '=' ? what + 1 : what, "|", -1);
        int status = EXIT_SUCCESS;

        if (*what == '.') {
                printf("\t%s\n", what);
                return EXIT_SUCCESS;
        }

        for (char **word = words; *word && status == EXIT_SUCCESS; word++) {
                const Completion *completion = *what == '=' ? NULL : find_completion(*word);

                if (!completion)
                        puts(*word);
                else if (!completion->of_run || of)
                        status = completion->complete(client, of);
        }
        return status;
}

static int complete_value(Client *client, OptionId id, const char *verb, const char *of) {
        for (size_t i = 0; i < G_N_ELEMENTS(value_table); i++)
                if (value_table[i].id == id && (!value_table[i].verb || g_strcmp0(value_table[i].verb, verb) == 0))
                        return print_what(client, value_table[i].what, of);

        return EXIT_SUCCESS;
}

static int complete_operand(Client *client, const char *verb, unsigned n, const char *word, const char *of) {
        for (size_t i = 0; i < G_N_ELEMENTS(operand_table); i++) {
                g_auto(GStrv) verbs = g_strsplit(operand_table[i].verbs, "|", -1);
                bool is_path = operand_table[i].files && strchr(word, '/');

                if (g_str_equal(operand_table[i].what, "settings") && strchr(word, '='))
                        continue;
                if (n < operand_table[i].first || n > operand_table[i].last ||
                    !g_strv_contains((const char *const *) verbs, verb))
                        continue;
                return print_what(client, is_path ? operand_table[i].files : operand_table[i].what, of);
        }

        return EXIT_SUCCESS;
}

/* Prints what the last word of a command line can be; the others decide. */
static int complete_line(Client *client, char **words) {
        const char *verb = NULL, *of = NULL, *value;
        OptionId id = OPTION_MAX_;
        unsigned n = 0;

        if (!*words)
                return EXIT_SUCCESS;

        for (; words[1]; words++) {
                if (id < OPTION_MAX_) {
                        value = *words;
                } else if (**words == '-') {
                        id = find_option(*words, &value);
                        if (id < OPTION_MAX_ && option_table[id].argument && !value)
                                continue;
                } else {
                        if (!verb)
                                verb = *words;
                        else if (n++ == 0)
                                of = *words;
                        continue;
                }
                /* The completion asks the same btd. */
                if (id < OPTION_COMMON_MAX_ || id == OPTION_DIRECTORY) {
                        client->options.given |= OPTION_BIT(id);
                        client->options.values[id] = value;
                }
                id = OPTION_MAX_;
        }

        client->output.quiet = true;
        if (id < OPTION_MAX_)
                return complete_value(client, id, verb, of);
        if (**words == '-') {
                id = find_option(*words, &value);
                return value ? complete_value(client, id, verb, of) : complete_options(client, verb);
        }
        return verb ? complete_operand(client, verb, n, *words, of) : complete_verbs(client, NULL);
}

int verb_complete(Client *client, char **operands) {
        const Completion *completion = find_completion(operands[0]);

        if (strcmp(operands[0], "line") == 0)
                return complete_line(client, operands + 1);
        if (!completion)
                return report_usage("'%s' cannot be completed", operands[0]);
        if (completion->of_run && !operands[1])
                return report_usage("'%s' needs a run", operands[0]);

        return completion->complete(client, operands[1]);
}
