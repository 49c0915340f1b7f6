/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Finds words in argv and env that mean something for a shell, and says what does the same here. */

#include <glib.h>
#include <string.h>

#include "definition/params/param-report.h"
#include "leaf-types/shell-words.h"

#define SHELL "[\"/bin/sh\", \"-c\", \"...\"]"

/* A word without any of these is not searched for. */
#define MARKS "|&;<>$`~*?['\"%-"

typedef struct ShellWord {
        const char *pattern;
        const char *hint;
        bool in_env; /* also in a value of env */
} ShellWord;

static const ShellWord words[] = {
        { "^(;|&&)$|^[\\w./-]+;$", "the children of a Sequence run one after the other" },
        { "^\\|\\|$", "a Fallback runs its next child if one fails" },
        { "^\\|&?$", "to use a pipe, run " SHELL ", or pass on the output with 'stdout' and 'stdin'" },
        { "^&$", "the children of a Parallel run at the same time" },
        { "^2?>&[12-]$", "without 'stdout' and 'stderr', both outputs go to the journal" },
        { "^(&|[0-9])?>{1,2}\\|?(/dev/null)?$|^(&|[0-9])?>{1,2}[/.~$\\w{]",
          "'properties' has a file for the output, such as {\"StandardOutput\": \"append:/var/log/x.log\"}, or "
          "\"null\"; 'stdout' "
          "has a variable for it" },
        { "^<{1,3}$|^<{1,3}[/.~$]|^<<\\w+$", "'properties' has a file for the input, such as {\"StandardInput\": "
                                             "\"file:/etc/hosts\"}; 'stdin' has a text" },
        { "\\$\\(|`", "a Spawn with 'stdout' puts the output of a program into a variable", true },
        { "\\$(\\w*[A-Za-z_]|\\{)", "a variable of the tree is \"{NAME}\"; for one of the environment, run " SHELL,
          true },
        { "^~[\\w-]*(/|$)", "write the whole path", true },
        { "^\\*$|^\\*\\.\\w+$|^[./].*[*?]", "to get a list of files, use find with 'stdout'; or run " SHELL },
        { "^'.*'$|^\".*\"$", "the quotes are a part of it" },
        { "^%[iIn]$", "the instance of the run is \"{instance}\", its name \"{run.id}\"" },
        { "^(-[A-Za-z]|--[a-z][a-z-]+) +[^ ]", "an option and its value are two elements" },
};

typedef struct Builtin {
        const char *names; /* with '|' around */
        const char *hint;
} Builtin;

static const Builtin builtins[] = {
        { "|cd|pushd|popd|", "'cwd' is the working directory" },
        { "|export|set|unset|declare|local|", "'env' sets variables of the environment" },
        { "|source|.|eval|alias|", "run " SHELL },
        { "|exit|return|", "an AlwaysFailure fails" },
        { "|ulimit|", "'properties' has limits, such as {\"LimitNOFILE\": 1024}" },
        { "|umask|", "'properties' has it, such as {\"UMask\": \"0077\"}" },
        { "|nohup|disown|bg|", "a Spawn runs until its program ends; for what continues, use a StartUnit" },
        { "|exec|wait|", "a Spawn runs a program and waits for it" },
        { "|trap|", "a Finally runs nodes in any case" },
        { "|if|case|[[|", "an IfThenElse chooses between nodes" },
        { "|for|while|until|", "a ForEach or a Repeat runs a node more than once" },
        { "|!|", "an Inverter changes success to failure" },
        { "|(|{|", "nodes are grouped by a Sequence" },
};

/* Programs that do what the node can do itself. */
static const Builtin wrappers[] = {
        { "|sudo|doas|", "a Spawn of the system runs as root, or as the account in 'user'" },
        { "|timeout|", "the key 'timeout' ends a program that takes too long, and the cause says so" },
        { "|nice|ionice|chrt|taskset|", "'properties' has this, such as {\"Nice\": 10}" },
        { "|systemd-run|systemd-cat|", "a Spawn is a unit of its own, whose output is in the journal" },
        { "|flock|", "the key 'lock' lets only one node at a time run" },
};

/* Verbs of systemctl. */
static const Builtin verbs[] = {
        { "|start|", "a StartUnit does this, waits until the unit is up, and says why it is not" },
        { "|stop|", "a StopUnit does this, and says why it failed" },
        { "|restart|try-restart|", "a RestartUnit does this, waits until the unit is up, and says why it is not" },
        { "|reload|", "a ReloadUnit does this, and says why it failed" },
        { "|is-active|is-failed|", "a UnitState tests this, without a program" },
};

/* Programs for which such words have a meaning of their own. */
static const char *const interpreters[] = {
        "awk",  "busybox", "crontab", "dpkg", "egrep", "expr",    "fgrep",   "find", "gawk", "git",   "gdbus",
        "grep", "jq",      "lua",     "make", "mawk",  "node",    "perl",    "php",  "psql", "rg",    "python",
        "ruby", "sed",     "sqlite3", "ssh",  "su",    "python3", "runuser", "test", "[",    "xargs", NULL,
};

static const char *const shells[] = { "ash", "bash", "dash", "fish", "ksh", "sh", "zsh", NULL };

static const char *word_at(json_object *argv, size_t i) {
        return json_object_get_string(json_object_array_get_idx(argv, i)) ?: "";
}

static const char *base_name(const char *path) {
        const char *slash = strrchr(path, '/');

        return slash ? slash + 1 : path;
}

/* The index of the first argument that a program reads as code, or the number of all. *ret_is_script: it is the script
 * of a shell. */
static size_t find_code(json_object *argv, bool *ret_is_script) {
        size_t n = json_object_array_length(argv);
        bool in_shell = false;

        *ret_is_script = false;

        for (size_t i = 0; i < n; i++) {
                const char *word = word_at(argv, i);

                *ret_is_script = in_shell && *word == '-' && strchr(word, 'c');
                if (*ret_is_script || g_strv_contains(interpreters, base_name(word)))
                        return i + 1;
                in_shell |= g_strv_contains(shells, base_name(word));
        }

        return n;
}

static const char *find_hint(const char *text, bool in_env) {
        if (!strpbrk(text, MARKS))
                return NULL;

        for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
                if ((!in_env || words[i].in_env) && g_regex_match_simple(words[i].pattern, text, G_REGEX_DOTALL, 0))
                        return words[i].hint;

        return NULL;
}

static const char *find_word(const Builtin *words_of, size_t n, const char *word) {
        g_autofree char *name = g_strdup_printf("|%s|", word);

        for (size_t i = 0; i < n; i++)
                if (strstr(words_of[i].names, name))
                        return words_of[i].hint;

        return NULL;
}

#define FIND_WORD(array, word) find_word(array, G_N_ELEMENTS(array), word)

static void report(const ParamSetter *setter, const Place *place, char *text) {
        setter->report(&(ParamFinding){ .place = place, .trap = true, .text = text }, setter->userdata);
}

void shell_words_in_argv(const ParamSetter *setter, const Place *place, json_object *argv) {
        Place at = { .parent = place };
        const char *program, *hint, *instead; /* the node or key that does better what this command does */
        bool is_script;
        size_t n, code;

        if (!json_object_is_type(argv, json_type_array))
                return; /* a reference to the list */

        n = json_object_array_length(argv);
        code = find_code(argv, &is_script);
        program = word_at(argv, 0);
        hint = FIND_WORD(builtins, program);
        instead = g_str_equal(base_name(program), "systemctl") && n == 3 ? FIND_WORD(verbs, word_at(argv, 1))
                                                                         : FIND_WORD(wrappers, base_name(program));
        if (hint)
                report(setter, &at, g_strdup_printf("\"%s\" is a command of the shell; %s", program, hint));
        else if (g_regex_match_simple("^[A-Za-z_]\\w*=", program, 0, 0))
                report(setter, &at,
                       g_strdup_printf("\"%s\" is taken for a program; 'env' sets variables of the environment",
                                       program));
        else if (strchr(program, ' ') && (n == 1 || *program != '/'))
                report(setter, &at,
                       g_strdup_printf("\"%s\" is taken for the name of a program; an argument is an element of its "
                                       "own, as in [\"/bin/ls\", \"-l\"]",
                                       program));
        else if (instead)
                report(setter, &at, g_strdup_printf("\"%s\" is not needed; %s", program, instead));

        for (at.index = 1; at.index < code; at.index++) {
                const char *word = word_at(argv, at.index);

                /* The value of an option is often a pattern for the program. */
                if ((hint = find_hint(word, false)) && !(*word_at(argv, at.index - 1) == '-' && strpbrk(word, "*? ")))
                        report(setter, &at,
                               g_strdup_printf("\"%s\" is an argument as it is, because there is no shell; %s", word,
                                               hint));
        }

        at.index = code + 1;
        if (is_script && at.index < n && !strchr(word_at(argv, code), '$'))
                report(setter, &at,
                       g_strdup_printf("\"%s\" is $0 of the script \"%s\", which does not use it; the whole script is "
                                       "one element",
                                       word_at(argv, at.index), word_at(argv, code)));
}

void shell_words_in_stdin(const ParamSetter *setter, const Place *place, json_object *text) {
        if (g_regex_match_simple("^/[^ \n]+/[^ \n]*[^/ \n]$", json_object_get_string(text) ?: "",
                                 G_REGEX_DOLLAR_ENDONLY, 0))
                report(setter, place,
                       g_strdup_printf(
                               "\"%s\" is the text that the program reads; 'properties' has a file for it, such "
                               "as {\"StandardInput\": \"file:/etc/hosts\"}",
                               json_object_get_string(text)));
}

void shell_words_in_env(const ParamSetter *setter, const Place *place, json_object *env) {
        if (!json_object_is_type(env, json_type_object))
                return;

        json_object_object_foreach(env, name, value) {
                const char *text = json_object_get_string(value), *hint = find_hint(text ?: "", true);
                Place at = { .parent = place, .key = name };

                if (hint)
                        report(setter, &at,
                               g_strdup_printf("\"%s\" is the value as it is, because there is no shell; %s", text,
                                               hint));
        }
}
