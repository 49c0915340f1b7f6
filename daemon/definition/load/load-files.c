/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Opens the files of a load, and reads their top parts. A unit is a file with all files that it includes, as if they
 * were one; a tree of the search path is a unit of its own. A unit has all Lua files that its files name.
 */

#include <string.h>

#include "basic/excerpt.h"
#include "basic/nearest.h"
#include "definition/hints.h"
#include "definition/load/loader.h"
#include "definition/sources.h"

/* With more candidates, no name is suggested. */
#define NEAREST_MAX 1000u

static TreeFile *add_file(Loader *loader, TreeFile *file) {
        g_ptr_array_add(loader->files, file);
        if (file->id)
                g_hash_table_insert(loader->file_ids, file->id, file);

        return file;
}

/* If its text is not valid JSON, the file has no items. */
static void read_items(Loader *loader, TreeFile *file) {
        size_t offset;
        char *error;

        if (g_str_has_prefix(file->contents, BYTE_ORDER_MARK)) {
                diagnostics_add(loader->diagnostics, file->number, 0, false, NULL,
                                g_strdup("the file starts with a byte order mark; save it without one"));
                file->wrong = true;
        }

        if (text_read(file->contents, file->length, &file->text, &offset, &error) < 0) {
                diagnostics_add(loader->diagnostics, file->number, offset, false, NULL, error);
                file->wrong = true;
        }
}

static TreeFile *add_text(Loader *loader, const char *path, char *contents, size_t length) {
        TreeFile *file = add_file(loader, tree_file_new(path, contents, length));

        if (loader->files->len > 1)
                file->number = diagnostics_add_file(loader->diagnostics, path);

        return file;
}

TreeFile *loader_add_text(Loader *loader, const char *path, char *contents, size_t length) {
        TreeFile *file = add_text(loader, path, contents, length);

        read_items(loader, file);
        loader_merge_dropins(loader, file);
        return file;
}

static TreeFile *read_text(Loader *loader, const char *path, char **ret_error) {
        const DefinitionSources *sources = loader->sources;
        char *contents;
        size_t length;
        int r;

        r = sources->read ? sources->read(path, &contents, &length, ret_error, sources->userdata)
                          : source_read(path, &contents, &length, ret_error);

        return r < 0 ? NULL : add_text(loader, path, contents, length);
}

TreeFile *loader_read_file(Loader *loader, const char *path, char **ret_error) {
        TreeFile *file = read_text(loader, path, ret_error);

        if (file)
                read_items(loader, file);
        return file;
}

/* The file at the path, read only once; NULL with an error message if it cannot be read. */
static TreeFile *open_file(Loader *loader, const char *path, bool lua, char **ret_error) {
        g_autofree char *id = source_id(path);
        TreeFile *file = g_hash_table_lookup(loader->file_ids, id);
        char *error = NULL;

        if (!file && loader->files->len >= LOADER_FILES_MAX) {
                *ret_error = g_strdup_printf("a tree can use at most %u files", LOADER_FILES_MAX);
                return NULL;
        }

        if (!file && lua)
                file = read_text(loader, path, &error);
        else if (!file && (file = loader_read_file(loader, path, &error)))
                loader_merge_dropins(loader, file);
        if (!file) {
                file = add_file(loader, tree_file_new(path, NULL, 0));
                file->error = error;
        }
        if (file->contents)
                return file;

        *ret_error = g_strdup_printf("'%s' %s", path, file->error);
        return NULL;
}

/* NULL without an error message: it is not on the search path. */
static TreeFile *open_on_path(Loader *loader, const char *name, bool lua, char **ret_error) {
        const DefinitionSources *sources = loader->sources;
        g_autofree char *path = sources && sources->find ? sources->find(name, sources->userdata) : NULL;
        TreeFile *file = path ? open_file(loader, path, lua, ret_error) : NULL;

        if (!file)
                return NULL;

        file->found = file->found ?: g_ptr_array_new_with_free_func(g_free);
        if (!g_ptr_array_find_with_equal_func(file->found, name, g_str_equal, NULL))
                g_ptr_array_add(file->found, g_strdup(name));
        return file;
}

/* A path relative to the including file, or an absolute one; NULL: the name means a file of the search path. */
static char *included_path(const Loader *loader, const TreeFile *from, const char *name) {
        const DefinitionSources *sources = loader->sources;
        g_autofree char *directory = NULL, *near = NULL;

        if (g_path_is_absolute(name))
                return g_strdup(name);
        if (!from->path)
                return NULL;

        directory = g_path_get_dirname(from->path);
        near = g_build_filename(g_str_equal(directory, ".") ? "" : directory, name, NULL);
        if (strchr(name, '/') ||
            (sources->exists ? sources->exists(near, sources->userdata) : g_file_test(near, G_FILE_TEST_EXISTS)))
                return g_steal_pointer(&near);

        return NULL;
}

static void read_heading(Loader *loader, Unit *unit, TreeFile *file, Header *header);

/* "a.json includes b.json includes a.json": the files from first on, then last. A text that was not loaded from a file
 * has no suffix. */
static char *include_chain(const Loader *loader, unsigned first, const TreeFile *last) {
        GString *chain = g_string_new(NULL);

        for (unsigned i = first; i < loader->including->len; i++) {
                const TreeFile *file = loader->including->pdata[i];

                g_string_append_printf(chain, "%s%s includes ", file->name, file->path ? TREE_SUFFIX : "");
        }

        g_string_append_printf(chain, "%s%s", last->name, last->path ? TREE_SUFFIX : "");
        return g_string_free(chain, false);
}

/* The reason why the file cannot be included here, or NULL. */
static char *include_problem(const Loader *loader, TreeFile *file) {
        g_autofree char *chain = NULL;
        unsigned first;

        if (g_ptr_array_find(loader->including, file, &first)) {
                chain = include_chain(loader, first, file);
                return g_strdup_printf("files cannot include each other in a circle: %s", chain);
        }
        if (loader->including->len > LOADER_INCLUDES_MAX) {
                chain = include_chain(loader, 0, file);
                return g_strdup_printf("nested too deeply: files include others at most %u deep: %s",
                                       LOADER_INCLUDES_MAX, chain);
        }

        return file->text.items ? NULL : g_strdup_printf("'%s' cannot be used, because it has errors", file->path);
}

static TreeFile *find_included(Loader *loader, const char *name, bool lua, char **ret_error) {
        const char *suffix = lua ? LUA_SUFFIX : TREE_SUFFIX;
        g_autofree char *path = loader->sources ? included_path(loader, loader->file, name) : NULL,
                        *file_name = g_str_has_suffix(name, suffix) ? g_strdup(name) : g_strconcat(name, suffix, NULL),
                        *shown = excerpt(name, strlen(name));
        TreeFile *file;

        if (path)
                return open_file(loader, path, lua, ret_error);

        file = open_on_path(loader, file_name, lua, ret_error);
        if (!file && !*ret_error)
                *ret_error =
                        g_strdup_printf("there is no file '%s', neither beside this one nor on the search path", shown);
        return file;
}

static void include_file(Loader *loader, Unit *unit, uint32_t item) {
        size_t length;
        g_autofree char *name = g_strdup(loader_string(loader, item, &length)), *error = NULL;
        TreeFile *file = find_included(loader, name, false, &error), *from = loader->file;
        Header ignored;

        if (file && !error)
                error = include_problem(loader, file);
        if (error) {
                unit->incomplete = true;
                loader_error(loader, item, g_strdup_printf("include: %s", error));
                return;
        }

        g_assert(file);
        if (!g_hash_table_add(unit->included, file))
                return;

        loader->file = file;
        read_heading(loader, unit, file, &ignored);
        loader->file = from;
        from->wrong |= file->wrong;
}

static void lua_error(Loader *loader, Unit *unit, TreeFile *file, size_t offset, char *text) {
        unit->lua_wrong = file->wrong = true;
        diagnostics_add(loader->diagnostics, file->number, offset, false, NULL, text);
}

static void add_library(Loader *loader, Unit *unit, TreeFile *file) {
        g_autofree char *name = g_path_get_basename(file->path);
        const char *invalid;
        const Library *library;
        size_t offset;
        char *error;

        /* Lua reads bytes, but run records store texts. */
        if (!g_utf8_validate(file->contents, (gssize) file->length, &invalid)) {
                lua_error(loader, unit, file, (size_t) (invalid - file->contents),
                          g_strdup("this byte is not UTF-8 text"));
                return;
        }

        loader->scripts = loader->scripts ?: scripts_new();
        if (scripts_add_library(loader->scripts, name, file->contents, &library, &error, &offset) < 0) {
                lua_error(loader, unit, file, offset, error);
                return;
        }

        if (!*library_defines(library)) {
                lua_error(loader, unit, file, 0,
                          g_strdup("it defines nothing: write 'function NAME(...)', without 'local' and without a "
                                   "module that is returned"));
                return;
        }

        if (!unit->libraries) {
                unit->libraries = g_ptr_array_new();
                unit->lua_files = g_ptr_array_new();
        }
        g_ptr_array_add(unit->libraries, (Library *) library);
        g_ptr_array_add(unit->lua_files, file);
}

static void read_lua_file(Loader *loader, Unit *unit, uint32_t item) {
        size_t length;
        g_autofree char *name = g_strdup(loader_string(loader, item, &length)), *error = NULL;
        TreeFile *file = find_included(loader, name, true, &error);

        if (file && file->text.items)
                error = g_strdup_printf("'%s' is a tree file", file->path);
        if (error) {
                unit->lua_wrong = true;
                loader_error(loader, item, g_strdup_printf("lua: %s", error));
        } else {
                g_assert(file);
                if (g_hash_table_add(unit->included, file))
                        add_library(loader, unit, file);
        }
        loader->file->wrong |= unit->lua_wrong;
}

/* A variable that is called as a function would be hidden in expressions. */
static void check_names(Loader *loader, Unit *unit, const Plan *plan) {
        for (unsigned i = 0; i < unit->libraries->len; i++) {
                const Library *library = unit->libraries->pdata[i];

                for (const char *const *name = library_defines(library); *name; name++)
                        if (g_hash_table_contains(plan->input_names, *name) ||
                            json_object_object_get_ex(plan->blackboard, *name, NULL))
                                lua_error(loader, unit, unit->lua_files->pdata[i], library_find(library, *name),
                                          g_strdup_printf("'%s' is a variable of the tree '%s', too; rename one", *name,
                                                          plan->name));
        }
}

/* The files can use each other's functions, so they are checked when all of them are known. */
static void check_libraries(Loader *loader, Unit *unit) {
        GHashTableIter iter;
        void *plan;

        if (unit->root)
                check_names(loader, unit, unit->root);
        for (g_hash_table_iter_init(&iter, unit->plans); g_hash_table_iter_next(&iter, NULL, &plan);)
                check_names(loader, unit, plan);

        for (unsigned i = 0; i < unit->libraries->len && !unit->lua_wrong; i++) {
                const Library *library = unit->libraries->pdata[i];
                const char *lacks = library_lacks(library, unit->libraries);
                const Hint *hint = lacks ? hint_find(HINT_NAME, NULL, lacks) : NULL;
                size_t offset = lacks ? library_find(library, lacks) : 0;
                char *error;

                if (hint) {
                        g_autofree char *why = hint_format(hint);

                        lua_error(loader, unit, unit->lua_files->pdata[i], offset,
                                  g_strdup_printf("there is no '%s' here%s", lacks, why));
                } else if (lacks)
                        lua_error(loader, unit, unit->lua_files->pdata[i], offset,
                                  g_strdup_printf("'%s' is not defined in a Lua file; a function gets variables of the "
                                                  "tree as arguments",
                                                  *lacks == '@' ? "_G" : lacks));
                else if (library_try(library, unit->libraries, &error, &offset) < 0)
                        lua_error(loader, unit, unit->lua_files->pdata[i], offset, error);
        }
}

/* Reads the files of "include" or "lua". */
static void read_files(Loader *loader, Unit *unit, const char *key, uint32_t array,
                       void (*read)(Loader *loader, Unit *unit, uint32_t item), bool *unknown) {
        unsigned i = 0;

        if (text_kind(loader_text(loader), array) != TEXT_ARRAY) {
                *unknown = true;
                loader_error(loader, array,
                             loader_unexpected(loader, array, "%s: expected an array of file names", key));
                return;
        }

        TEXT_ELEMENTS(loader_text(loader), item, array) {
                if (text_kind(loader_text(loader), item) == TEXT_STRING)
                        read(loader, unit, item);
                else {
                        *unknown = true;
                        loader_error(loader, item,
                                     loader_unexpected(loader, item, "%s[%u]: expected the name of a file", key, i));
                }
                i++;
        }
}

/* The reason why a tree cannot have the name, or NULL. */
static char *name_problem(Loader *loader, const Unit *unit, const char *name) {
        g_autofree char *shown = excerpt(name, strlen(name)), *chain = NULL;
        const Plan *other = g_hash_table_lookup(unit->plans, name);

        if (!tree_name_valid(name))
                return g_strdup_printf("'%s' cannot be the name of a tree: letters, digits, '_' and '-', %u at most",
                                       shown, TREE_NAME_MAX);
        if (!other)
                return NULL;
        if (other->file == loader->file)
                return g_strdup_printf("'%s' is given twice", shown);

        chain = include_chain(loader, 0, loader->file);
        return g_strdup_printf("there is a tree '%s' in '%s', too; rename one (%s)", shown,
                               other->file->path ?: other->file->name, chain);
}

/* The plan becomes the current one. */
static Plan *add_plan(Loader *loader, Unit *unit, const char *name, bool is_root, uint32_t root) {
        Plan *plan = plan_new(unit, loader->file, name, root);

        plan->is_root = is_root;
        g_ptr_array_add(loader->plans, plan);
        loader->plan = plan;
        return plan;
}

/* Reads the declarations of the current plan, which is the end of its heading. A second root is read only to report the
 * errors inside it. */
static void finish_heading(Loader *loader, const Heading *heading) {
        const Heading other = { .root = heading->other_root };
        const Plan *plan = loader->plan;

        loader_read_declarations(loader, loader->plan, heading);
        if (other.root > 0) {
                add_plan(loader, plan->unit, plan->name, plan->is_root, other.root)->setters_unknown = true;
                loader_read_declarations(loader, loader->plan, &other);
        }
        loader->plan = NULL;
}

static void read_trees(Loader *loader, Unit *unit, uint32_t object) {
        if (text_kind(loader_text(loader), object) != TEXT_OBJECT) {
                loader_error(loader, object,
                             loader_unexpected(loader, object,
                                               "trees: expected an object of trees, {\"NAME\": {\"root\": ...}}"));
                return;
        }

        TEXT_KEYS(loader_text(loader), key, object) {
                const char *name = loader_intern(loader, key);
                g_autofree char *problem = name_problem(loader, unit, name);
                Heading heading = {};
                Plan *plan;

                if (problem)
                        loader_error(loader, key, g_strdup_printf("trees: %s", problem));

                /* If the name is invalid, no node can use the tree, but it is read to report the errors inside it. */
                plan = add_plan(loader, unit, name, false, 0);
                if (!problem)
                        g_hash_table_insert(unit->plans, (char *) name, plan);

                plan->unbuildable = !loader_read_tree_heading(loader, key + 1, &heading);
                plan->declarations_unknown |= text_kind(loader_text(loader), key + 1) != TEXT_OBJECT;
                plan->root = heading.root;
                finish_heading(loader, &heading);
        }
}

/* From an included file, only the trees and the Lua files are used. */
static void read_heading(Loader *loader, Unit *unit, TreeFile *file, Header *header) {
        Heading heading;

        doubts_clear(&loader->doubts);
        if (!loader_read_header(loader, header, &heading))
                return;

        if (file == unit->file && heading.root > 0) {
                unit->root = add_plan(loader, unit, loader_intern_text(loader, file->name), true, heading.root);
                unit->root->doubts = loader->doubts;
                loader->doubts = (Doubts){};
                finish_heading(loader, &heading);
        }
        if (heading.trees > 0)
                read_trees(loader, unit, heading.trees);
        if (heading.lua > 0)
                read_files(loader, unit, "lua", heading.lua, read_lua_file, &unit->lua_wrong);
        if (heading.include == 0)
                return;

        g_ptr_array_add(loader->including, file);
        read_files(loader, unit, "include", heading.include, include_file, &unit->incomplete);
        g_ptr_array_set_size(loader->including, (int) loader->including->len - 1);
}

/* Saves and restores the current file and plan: open nodes are not part of the unit. */
Unit *loader_open_unit(Loader *loader, TreeFile *file) {
        Unit *unit = g_hash_table_lookup(loader->units, file);
        TreeFile *from = loader->file;
        Plan *plan = loader->plan;

        if (unit)
                return unit;

        unit = g_new0(Unit, 1);
        unit->file = file;
        unit->plans = g_hash_table_new(g_str_hash, g_str_equal);
        unit->included = g_hash_table_new(NULL, NULL);
        g_hash_table_add(unit->included, file);
        g_hash_table_insert(loader->units, file, unit);
        if (!file->text.items)
                return unit;

        loader->file = file;
        loader->plan = NULL;
        read_heading(loader, unit, file, &unit->header);
        if (unit->libraries)
                check_libraries(loader, unit);
        loader->file = from;
        loader->plan = plan;
        return unit;
}

void unit_free(Unit *unit) {
        g_hash_table_unref(unit->plans);
        g_hash_table_unref(unit->included);
        g_clear_pointer(&unit->libraries, g_ptr_array_unref);
        g_clear_pointer(&unit->lua_files, g_ptr_array_unref);
        g_free(unit);
}

void loader_queue(Loader *loader, Plan *plan) {
        if (!plan->queued)
                g_ptr_array_add(loader->queue, plan);

        plan->queued = true;
}

static char *no_tree(const Loader *loader, const Plan *user, const char *name, char **ret_instead) {
        const DefinitionSources *sources = loader->sources;
        g_autofree char *shown = excerpt(name, strlen(name));
        Nearest nearest = { .word = name };
        GHashTableIter iter;
        g_autofree char *also = NULL;
        void *other;

        g_hash_table_iter_init(&iter, user->unit->plans);
        if (g_hash_table_size(user->unit->plans) <= NEAREST_MAX)
                while (g_hash_table_iter_next(&iter, &other, NULL))
                        nearest_offer(&nearest, other);
        also = sources && sources->nearest ? sources->nearest(name, sources->userdata) : NULL;
        if (also && g_str_equal(also, name))
                return g_strdup_printf("the tree '%s' is masked by a link to /dev/null", shown);
        if (also)
                nearest_offer(&nearest, also);

        *ret_instead = g_strdup(nearest.best);
        return nearest.best ? g_strdup_printf("there is no tree '%s'; did you mean '%s'?", shown, nearest.best)
                            : g_strdup_printf(
                                      "there is no tree '%s', neither in 'trees' nor on the search path%s", shown,
                                      g_str_has_suffix(name, TREE_SUFFIX) ? "; the name of a tree has no suffix" : "");
}

Plan *loader_find_tree(Loader *loader, Plan *user, const char *name, char **ret_error, char **ret_instead) {
        g_autofree char *base = g_strconcat(name, TREE_SUFFIX, NULL);
        Plan *plan = g_hash_table_lookup(user->unit->plans, name);
        TreeFile *file = NULL;

        /* Else it is the tree at the top of another file. */
        *ret_error = NULL;
        if (!plan && tree_name_valid(name))
                file = open_on_path(loader, base, false, ret_error);
        if (file) {
                plan = loader_open_unit(loader, file)->root;
                if (!plan)
                        *ret_error =
                                file->wrong
                                        ? g_strdup_printf("'%s' cannot be used, because it has errors", file->path)
                                        : g_strdup_printf("'%s' has no root, only trees to be included", file->path);
        } else if (!plan && !*ret_error && !user->unit->incomplete)
                *ret_error = no_tree(loader, user, name, ret_instead);

        if (plan)
                loader_queue(loader, plan);
        return plan;
}
