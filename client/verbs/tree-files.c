/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * btctl edit, revert, enable, disable, is-enabled, preset and delta: the files by which an administrator changes trees
 * that others have installed, see Drop-ins in btd-tree(5). They are written and read here, as systemctl(1) does, also
 * if btd is not running. Nothing is put in place that btd would refuse.
 */

#include <errno.h>
#include <fnmatch.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>

#include "basic/cleanup.h"
#include "client/files.h"
#include "client/verbs/verbs.h"
#include "definition/definition.h"
#include "definition/sources.h"

#define OVERRIDE "override.json"
/* The last one, because it is the newest decision. */
#define AUTOSTART "zz-autostart.json"

/* A tree file on the search path, and the one that is to be written. */
typedef struct Target {
        char **directories; /* the first one is that of the administrator */
        char *name, *file;  /* "boot", "boot.json" */
        char *path;         /* NULL: there is none */
        char *own;          /* the directory of the administrator's drop-ins */
        const char *draft, *text;
} Target;

static void target_clear(Target *target) {
        g_strfreev(target->directories);
        g_free(target->name);
        g_free(target->file);
        g_free(target->path);
        g_free(target->own);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Target, target_clear)

static const char *const *directories_of(const Target *target) {
        return (const char *const *) target->directories;
}

/* That of a btd that is running; else the usual one. */
static int get_search_path(Client *client, char ***ret_directories) {
        const Options *options = &client->options;

        if (options_has(options, OPTION_HOST) || options_has(options, OPTION_MACHINE))
                return report_usage("this verb changes files of this machine; run it on the other one");
        if (client_has_daemon(client))
                return client_get_strings(client, BTD_PATH, BTD_MANAGER, "TreeDirectories", ret_directories);

        *ret_directories = search_path_new(options_has(options, OPTION_USER));
        return EXIT_SUCCESS;
}

static int target_find(Client *client, const char *name, Target *ret_target) {
        g_autofree char *nearest = NULL;
        int status;

        if (!tree_name_valid(name))
                return report_error("'%s' cannot be the name of a tree: letters, digits, '_' and '-', %u at most", name,
                                    TREE_NAME_MAX);
        status = get_search_path(client, &ret_target->directories);
        if (status != EXIT_SUCCESS)
                return status;

        g_assert(ret_target->directories);
        ret_target->name = g_strdup(name);
        ret_target->file = g_strconcat(name, TREE_SUFFIX, NULL);
        ret_target->own = search_path_dropin_directory(ret_target->directories[0], ret_target->file);
        ret_target->path = search_path_find(directories_of(ret_target), ret_target->file);
        if (ret_target->path)
                return EXIT_SUCCESS;

        nearest = search_path_nearest(directories_of(ret_target), name);
        if (g_strcmp0(nearest, name) == 0)
                return report_error("tree '%s' is masked by a link to /dev/null", name);
        if (nearest)
                return report_error("no tree '%s' on the search path; did you mean '%s'?", name, nearest);
        return report_error("no tree '%s' on the search path", name);
}

/* The sources of btd, in which one file has the text of the draft, and exists. */

static char *on_find(const char *file, void *userdata) {
        return search_path_find(directories_of(userdata), file);
}

static char *on_nearest(const char *tree, void *userdata) {
        return search_path_nearest(directories_of(userdata), tree);
}

static int compare_names(const void *a, const void *b) {
        g_autofree char *first = g_path_get_basename(*(const char *const *) a),
                        *second = g_path_get_basename(*(const char *const *) b);

        return strcmp(first, second);
}

static int on_dropins(const char *path, GPtrArray *paths, char **ret_error, void *userdata) {
        const Target *target = userdata;
        g_autofree char *base = g_path_get_basename(path), *draft = NULL;
        int r = search_path_dropins(directories_of(target), path, NULL, paths, ret_error);

        if (r < 0 || !target->draft || !g_str_equal(base, target->file) ||
            !g_str_has_prefix(target->draft, target->own))
                return r;

        draft = g_path_get_basename(target->draft);
        for (unsigned i = paths->len; i-- > 0;) {
                g_autofree char *name = g_path_get_basename(paths->pdata[i]);

                if (g_str_equal(name, draft))
                        g_ptr_array_remove_index(paths, i);
        }
        g_ptr_array_add(paths, g_strdup(target->draft));
        g_ptr_array_sort(paths, compare_names);
        return 0;
}

static int on_read(const char *path, char **ret_text, size_t *ret_length, char **ret_error, void *userdata) {
        const Target *target = userdata;

        if (!target->draft || !g_str_equal(path, target->draft))
                return source_read(path, ret_text, ret_length, ret_error);

        *ret_text = g_strdup(target->text);
        *ret_length = strlen(target->text);
        return 0;
}

/* draft: may be NULL. Prints all errors; NULL: there are some. */
static Definition *load(Target *target, const char *path, const char *draft, const char *text, bool silent) {
        const DefinitionSources sources = { .find = on_find,
                                            .nearest = on_nearest,
                                            .dropins = on_dropins,
                                            .read = on_read,
                                            .draft = draft,
                                            .userdata = target };
        g_autoptr(Diagnostics) diagnostics = diagnostics_new(path);
        Definition *definition = NULL;

        target->draft = draft;
        target->text = text;
        (void) definition_load_file(path, node_type_tables, &sources, diagnostics, &definition);
        target->draft = NULL;
        if (!silent)
                report_diagnostics(diagnostics);

        return definition;
}

/* The errors of other files, which btd returns, are not printed here. */
static int reload(Client *client) {
        g_autoptr(sd_bus_message) reply = NULL;

        return client_has_daemon(client) ? client_call(client, &reply, BTD_PATH, BTD_MANAGER, "Reload", "a{sv}", 0)
                                         : EXIT_SUCCESS;
}

static int write_file(const char *path, const char *text) {
        g_autofree char *directory = g_path_get_dirname(path);
        g_autoptr(GError) error = NULL;

        if (g_mkdir_with_parents(directory, 0755) < 0)
                return report_error("cannot create '%s': %s", directory, g_strerror(errno));
        if (!g_file_set_contents_full(path, text, -1, G_FILE_SET_CONTENTS_CONSISTENT | G_FILE_SET_CONTENTS_DURABLE,
                                      0644, &error))
                return report_error("cannot write '%s': %s", path, error->message);

        return EXIT_SUCCESS;
}

static int remove_file(Client *client, const char *path) {
        if (unlink(path) < 0)
                return errno == ENOENT ? EXIT_SUCCESS : report_error("cannot remove '%s': %s", path, g_strerror(errno));

        client_say(client, "removed '%s'", path);
        return EXIT_SUCCESS;
}

/* edit */

static int run_editor(const char *path) {
        static const char *const variables[] = { "SYSTEMD_EDITOR", "EDITOR", "VISUAL" };
        static const char *const usual[] = { "editor", "nano", "vim", "vi" };
        const char *editor = NULL;
        g_autofree char *found = NULL, *quoted = g_shell_quote(path), *command = NULL;
        g_auto(GStrv) argv = NULL;
        g_autoptr(GError) error = NULL;
        int wait_status;

        for (size_t i = 0; i < G_N_ELEMENTS(variables) && !(editor && *editor); i++)
                editor = g_getenv(variables[i]);
        for (size_t i = 0; i < G_N_ELEMENTS(usual) && !(editor && *editor); i++) {
                g_free(found);
                editor = found = g_find_program_in_path(usual[i]);
        }
        if (!editor || !*editor)
                return report_error("there is no editor; set $EDITOR");

        command = g_strconcat(editor, " ", quoted, NULL);
        if (!g_shell_parse_argv(command, NULL, &argv, &error) ||
            !g_spawn_sync(NULL, argv, NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_CHILD_INHERITS_STDIN, NULL, NULL, NULL, NULL,
                          &wait_status, &error) ||
            !g_spawn_check_wait_status(wait_status, &error))
                return report_error("the editor '%s' has failed: %s; nothing was changed", editor, error->message);

        return EXIT_SUCCESS;
}

/* A file of its own, which stays if its text cannot be put in place. */
static int let_edit(const char *before, char **ret_path, char **ret_after) {
        g_autofree char *path = NULL, *text = NULL;
        g_autoptr(GError) error = NULL;
        size_t length;
        int fd = g_file_open_tmp("btctl-XXXXXX.json", &path, &error), status;

        if (fd < 0)
                return report_error("cannot create a file for the editor: %s", error->message);
        close(fd);
        if (!g_file_set_contents(path, before, -1, &error))
                return report_error("cannot write '%s': %s", path, error->message);

        status = run_editor(path);
        if (status == EXIT_SUCCESS) {
                int r = file_read(path, &text, &length);

                if (r < 0)
                        status = report_error("cannot read '%s': %s", path, g_strerror(-r));
        }
        if (status != EXIT_SUCCESS) {
                unlink(path);
                return status;
        }

        *ret_path = g_steal_pointer(&path);
        *ret_after = g_steal_pointer(&text);
        return EXIT_SUCCESS;
}

int verb_edit(Client *client, char **operands) {
        bool full = options_has(&client->options, OPTION_FULL);
        g_auto(Target) target = {};
        g_autofree char *path = NULL, *before = NULL, *after = NULL, *edited = NULL;
        g_autoptr(Definition) definition = NULL;
        size_t length;
        int status = target_find(client, operands[0], &target), r;

        if (status != EXIT_SUCCESS)
                return status;

        g_assert(target.directories);
        path = full ? g_build_filename(target.directories[0], target.file, NULL)
                    : g_build_filename(target.own, OVERRIDE, NULL);
        r = file_read(full ? target.path : path, &before, &length);
        if (r < 0 && (full || r != -ENOENT))
                return report_error("cannot read '%s': %s", full ? target.path : path, g_strerror(-r));
        if (!before)
                before = g_strdup_printf(
                        "// Changes of %s, such as\n"
                        "// { \"autostart\": false, \"nodes\": { \"NAME\": { \"timeout\": \"30s\" } } }\n"
                        "// See Drop-ins in btd-tree(5), and the text by 'btctl cat %s'.\n"
                        "{\n}\n",
                        target.path, target.name);

        status = let_edit(before, &edited, &after);
        if (status != EXIT_SUCCESS)
                return status;
        g_assert(after);
        if (g_str_equal(before, after) || strspn(after, " \t\n") == strlen(after)) {
                unlink(edited);
                client_say(client, "nothing was changed");
                return EXIT_SUCCESS;
        }

        definition = load(&target, full ? path : target.path, path, after, false);
        if (!definition)
                return report_error("'%s' was not changed; your text is in '%s'", path, edited);
        status = write_file(path, after);
        if (status != EXIT_SUCCESS)
                return status;

        unlink(edited);
        client_say(client, "written '%s'", path);
        return reload(client);
}

int verb_revert(Client *client, char **operands) {
        g_auto(Target) target = {};
        g_autofree char *own = NULL;
        g_autoptr(GDir) dir = NULL;
        const char *file;
        int status = target_find(client, operands[0], &target);

        if (status != EXIT_SUCCESS)
                return status;

        g_assert(target.own);
        dir = g_dir_open(target.own, 0, NULL);
        while (dir && (file = g_dir_read_name(dir)) && status == EXIT_SUCCESS) {
                g_autofree char *path = g_build_filename(target.own, file, NULL);

                if (g_str_has_suffix(file, TREE_SUFFIX))
                        status = remove_file(client, path);
        }
        (void) rmdir(target.own);

        /* A file of the administrator is a change only if there is another one that it replaces. */
        own = search_path_find(directories_of(&target) + 1, target.file);
        if (status == EXIT_SUCCESS && own && target.directories[0]) {
                g_autofree char *copy = g_build_filename(target.directories[0], target.file, NULL);

                status = remove_file(client, copy);
        }
        return status != EXIT_SUCCESS ? status : reload(client);
}

/* enable, disable, preset */

static int set_autostart(Client *client, Target *target, bool autostart) {
        g_autofree char *path = g_build_filename(target->own, AUTOSTART, NULL), *before = NULL, *problem = NULL,
                        *text = g_strdup_printf("// Made by 'btctl %s %s'.\n{ \"autostart\": %s }\n",
                                                autostart ? "enable" : "disable", target->name,
                                                autostart ? "true" : "false");
        g_autoptr(Definition) definition = load(target, target->path, path, text, false);
        size_t length;
        int status;

        if (!definition)
                return report_error("tree '%s' has errors; nothing was changed", target->name);
        if (!definition_tree(definition))
                return report_error("'%s' has no root, only trees to be included", target->path);
        if (definition_header(definition)->autostart != autostart)
                return report_error("a drop-in of '%s' that comes after '%s' decides; nothing was changed",
                                    target->path, path);
        if (autostart && definition_check_start(definition, NULL, &problem) < 0)
                return report_error("btd cannot start tree '%s': %s; give it a default with 'btctl edit %s'",
                                    target->name, problem, target->name);
        if (file_read(path, &before, &length) >= 0 && g_str_equal(before, text))
                return EXIT_SUCCESS;

        status = write_file(path, text);
        if (status == EXIT_SUCCESS)
                client_say(client, "written '%s'", path);
        return status;
}

static int enable_all(Client *client, char **names, bool autostart) {
        for (char **name = names; *name; name++) {
                g_auto(Target) target = {};
                int status = target_find(client, *name, &target);

                if (status == EXIT_SUCCESS)
                        status = set_autostart(client, &target, autostart);
                if (status != EXIT_SUCCESS)
                        return status;
        }

        return reload(client);
}

int verb_enable(Client *client, char **operands) {
        return enable_all(client, operands, true);
}

int verb_disable(Client *client, char **operands) {
        return enable_all(client, operands, false);
}

typedef enum Preset {
        PRESET_NONE,
        PRESET_ENABLE,
        PRESET_DISABLE,
} Preset;

/* The first line that matches decides. */
static int read_preset(const char *path, const char *tree, Preset *ret_preset) {
        g_autofree char *text = NULL;
        g_auto(GStrv) lines = NULL;
        size_t length;
        int r = file_read(path, &text, &length);

        if (r < 0)
                return report_error("cannot read '%s': %s", path, g_strerror(-r));

        lines = g_strsplit(text, "\n", -1);
        for (unsigned i = 0; lines[i] && *ret_preset == PRESET_NONE; i++) {
                const char *line = g_strstrip(lines[i]);
                size_t word = strcspn(line, " \t");
                const char *pattern = line + word + strspn(line + word, " \t");
                Preset preset = strncmp(line, "enable", word) == 0 && word == strlen("enable")     ? PRESET_ENABLE
                                : strncmp(line, "disable", word) == 0 && word == strlen("disable") ? PRESET_DISABLE
                                                                                                   : PRESET_NONE;

                if (!*line || *line == '#' || *line == ';')
                        continue;
                if (preset == PRESET_NONE || !*pattern)
                        return report_error("%s:%u: expected 'enable NAME' or 'disable NAME', not '%s'", path, i + 1,
                                            line);
                if (fnmatch(pattern, tree, FNM_NOESCAPE) == 0)
                        *ret_preset = preset;
        }

        return EXIT_SUCCESS;
}

static int find_preset(const Target *target, Preset *ret_preset) {
        g_autoptr(GPtrArray) presets = g_ptr_array_new_with_free_func(g_free), paths = NULL;
        g_autofree char *error = NULL;
        int status = EXIT_SUCCESS;

        g_assert(target->directories);

        /* The directory beside that of trees: /etc/btd/presets, /etc/btd/user-presets. */
        for (char **directory = target->directories; *directory; directory++) {
                int length = (int) (strlen(*directory) - strlen("trees"));

                if (g_str_has_suffix(*directory, "trees"))
                        g_ptr_array_add(presets, g_strdup_printf("%.*spresets", length, *directory));
                else
                        g_ptr_array_add(presets, g_build_filename(*directory, "presets", NULL));
        }
        g_ptr_array_add(presets, NULL);

        paths = g_ptr_array_new_with_free_func(g_free);
        if (search_path_list((const char *const *) presets->pdata, ".preset", NULL, paths, &error) < 0)
                return report_error("%s", error);
        for (unsigned i = 0; i < paths->len && status == EXIT_SUCCESS; i++)
                status = read_preset(paths->pdata[i], target->name, ret_preset);
        return status;
}

int verb_preset(Client *client, char **operands) {
        for (char **name = operands; *name; name++) {
                g_auto(Target) target = {};
                g_autofree char *path = NULL;
                Preset preset = PRESET_NONE;
                int status = target_find(client, *name, &target);

                if (status == EXIT_SUCCESS)
                        status = find_preset(&target, &preset);
                if (status == EXIT_SUCCESS && preset == PRESET_NONE) {
                        g_assert(target.own);
                        path = g_build_filename(target.own, AUTOSTART, NULL);
                        status = remove_file(client, path);
                        (void) rmdir(target.own);
                } else if (status == EXIT_SUCCESS)
                        status = set_autostart(client, &target, preset == PRESET_ENABLE);
                if (status != EXIT_SUCCESS)
                        return status;
        }

        return reload(client);
}

/* is-enabled */

int verb_is_enabled(Client *client, char **operands) {
        g_autoptr(json_object) json = json_object_new_array();
        bool enabled = false;

        for (char **name = operands; *name; name++) {
                g_auto(Target) target = {};
                json_object *tree = json_object_new_object();
                g_autoptr(Definition) definition = NULL;
                const char *state;
                int status = target_find(client, *name, &target);

                json_object_array_add(json, tree);
                if (status != EXIT_SUCCESS)
                        return status;

                definition = load(&target, target.path, NULL, NULL, true);
                state = definition_file_state(definition);
                enabled |= g_str_equal(state, "enabled");
                json_object_object_add(tree, "name", json_object_new_string(*name));
                json_object_object_add(tree, "state", json_object_new_string(state));
                if (!client->output.json && !client->output.quiet)
                        puts(state);
        }

        if (client->output.json)
                output_print_json(g_steal_pointer(&json));
        return enabled ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* delta */

typedef struct Delta {
        const Client *client;
        json_object *json; /* a list */
} Delta;

static void add_difference(const Delta *delta, const char *kind, const char *from, const char *to) {
        json_object *json = json_object_new_object();

        if (!delta->client->output.json)
                printf("%-13s %s %s %s\n", kind, from, delta->client->output.ascii ? "->" : "→", to);
        json_object_object_add(json, "kind", json_object_new_string(kind));
        json_object_object_add(json, "path", json_object_new_string(from));
        json_object_object_add(json, "by", json_object_new_string(to));
        json_object_array_add(delta->json, json);
}

/* The files of one name in all directories: the first one counts. */
static void compare_files(const Delta *delta, const char *const *directories, const char *file) {
        g_autofree char *first = NULL;

        for (; *directories; directories++) {
                g_autofree char *path = g_build_filename(*directories, file, NULL);
                struct stat st;

                if (lstat(path, &st) < 0)
                        continue;
                if (!first) {
                        first = g_steal_pointer(&path);
                        continue;
                }

                add_difference(delta,
                               stat(first, &st) >= 0 && (search_path_is_mask(&st) || st.st_size == 0) ? "masked"
                                                                                                      : "overridden",
                               path, first);
        }
}

static void add_names(GTree *names, const char *directory, const char *suffix) {
        g_autoptr(GDir) dir = g_dir_open(directory, 0, NULL);
        const char *file;

        while (dir && (file = g_dir_read_name(dir)))
                if (*file != '.' && g_str_has_suffix(file, suffix))
                        g_tree_insert(names, g_strdup(file), NULL);
}

static int compare_keys(const void *a, const void *b, void *userdata) {
        return strcmp(a, b);
}

int verb_delta(Client *client, char **operands) {
        g_autoptr(GTree) files = g_tree_new_full(compare_keys, NULL, g_free, NULL);
        g_autoptr(json_object) list = json_object_new_array();
        const Delta delta = { client, list };
        g_auto(GStrv) directories = NULL;
        int status = get_search_path(client, &directories);

        if (status != EXIT_SUCCESS)
                return status;

        g_assert(directories);
        for (char **directory = directories; *directory; directory++) {
                add_names(files, *directory, TREE_SUFFIX);
                add_names(files, *directory, DROPINS_SUFFIX);
        }

        for (GTreeNode *node = g_tree_node_first(files); node; node = g_tree_node_next(node)) {
                const char *name = g_tree_node_key(node);
                g_autofree char *file = g_strndup(name, strlen(name) - strlen(".d")), *tree = NULL, *error = NULL;
                g_autoptr(GPtrArray) inside = g_ptr_array_new_with_free_func(g_free),
                                     dropins = g_ptr_array_new_with_free_func(g_free);
                g_autoptr(GTree) names = g_tree_new_full(compare_keys, NULL, g_free, NULL);

                if (!g_str_has_suffix(name, DROPINS_SUFFIX)) {
                        compare_files(&delta, (const char *const *) directories, name);
                        continue;
                }

                for (char **directory = directories; *directory; directory++) {
                        char *own = g_build_filename(*directory, name, NULL);

                        g_ptr_array_add(inside, own);
                        add_names(names, own, TREE_SUFFIX);
                }
                g_ptr_array_add(inside, NULL);

                tree = search_path_find((const char *const *) directories, file);
                if (search_path_list((const char *const *) inside->pdata, TREE_SUFFIX, NULL, dropins, &error) < 0)
                        return report_error("%s", error);
                for (unsigned i = 0; i < dropins->len; i++)
                        add_difference(&delta, tree ? "extended" : "unused", tree ?: file, dropins->pdata[i]);
                for (GTreeNode *dropin = g_tree_node_first(names); dropin; dropin = g_tree_node_next(dropin))
                        compare_files(&delta, (const char *const *) inside->pdata, g_tree_node_key(dropin));
        }

        if (client->output.json)
                output_print_json(g_steal_pointer(&list));
        return EXIT_SUCCESS;
}
