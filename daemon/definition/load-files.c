/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The files of a load. A unit is a file with all those that it includes, as if they were one; a tree of the search path
 * is a unit of its own.
 */

#include <string.h>

#include "basic/excerpt.h"
#include "basic/nearest.h"
#include "definition/loader.h"
#include "definition/tree-name.h"

/* More candidates are not looked through for what may have been meant. */
#define NEAREST_MAX 1000u

static TreeFile *add_file(Loader *loader, TreeFile *file) {
        g_ptr_array_add(loader->files, file);
        if (file->id)
                g_hash_table_insert(loader->file_ids, file->id, file);

        return file;
}

/* Where its text is no JSON, it has no items. */
static void read_items(Loader *loader, TreeFile *file) {
        size_t offset;
        char *error;

        if (text_read(file->contents, file->length, &file->text, &offset, &error) < 0) {
                diagnostics_add(loader->diagnostics, file->number, offset, false, NULL, error);
                file->wrong = true;
        }
}

TreeFile *loader_add_text(Loader *loader, const char *path, char *contents, size_t length) {
        TreeFile *file = add_file(loader, tree_file_new(path, contents, length));

        if (loader->files->len > 1)
                file->number = diagnostics_add_file(loader->diagnostics, path);

        read_items(loader, file);
        return file;
}

static TreeFile *read_file(Loader *loader, const char *path, char **ret_error) {
        const DefinitionSources *sources = loader->sources;
        char *contents;
        size_t length;
        int r;

        r = sources->read ? sources->read(path, &contents, &length, ret_error, sources->userdata)
                          : source_read(path, &contents, &length, ret_error);

        return r < 0 ? NULL : loader_add_text(loader, path, contents, length);
}

/* The file at the path, read only once; NULL, with a text, when it cannot be. */
static TreeFile *open_file(Loader *loader, const char *path, char **ret_error) {
        g_autofree char *id = tree_file_id(path);
        TreeFile *file = g_hash_table_lookup(loader->file_ids, id);
        char *error = NULL;

        if (!file && loader->files->len >= LOADER_FILES_MAX) {
                *ret_error = g_strdup_printf("a tree can use at most %u files", LOADER_FILES_MAX);
                return NULL;
        }

        if (!file)
                file = read_file(loader, path, &error) ?: add_file(loader, tree_file_new_unreadable(path, error));
        if (file->contents)
                return file;

        *ret_error = g_strdup_printf("'%s' %s", path, file->error);
        return NULL;
}

static char *find_on_path(const Loader *loader, const char *name) {
        const DefinitionSources *sources = loader->sources;

        return sources && sources->find ? sources->find(name, sources->userdata) : NULL;
}

/* A path that begins at the including file, or a file of the search path. */
static char *included_path(const Loader *loader, const TreeFile *from, const char *name) {
        g_autofree char *directory = from->path ? g_path_get_dirname(from->path) : NULL;
        g_autofree char *near = NULL;

        if (!loader->sources)
                return NULL;
        if (g_path_is_absolute(name))
                return g_strdup(name);

        near = directory ? g_build_filename(g_str_equal(directory, ".") ? "" : directory, name, NULL) : NULL;
        if (near && (strchr(name, '/') || g_file_test(near, G_FILE_TEST_EXISTS)))
                return g_steal_pointer(&near);
        if (g_str_has_suffix(name, TREE_SUFFIX))
                return find_on_path(loader, name);

        g_free(near);
        near = g_strconcat(name, TREE_SUFFIX, NULL);
        return find_on_path(loader, near);
}

static void read_heading(Loader *loader, Unit *unit, TreeFile *file, Header *header);

/* A text alone is in no file. */
static void append_name(GString *text, const TreeFile *file) {
        g_string_append_printf(text, "%s%s", file->name, file->path ? TREE_SUFFIX : "");
}

/* "a.json includes b.json includes a.json": from first on, then last. */
static char *include_chain(const Loader *loader, unsigned first, const TreeFile *last) {
        GString *chain = g_string_new(NULL);

        for (unsigned i = first; i < loader->including->len; i++) {
                append_name(chain, loader->including->pdata[i]);
                g_string_append(chain, " includes ");
        }

        append_name(chain, last);
        return g_string_free(chain, false);
}

/* What is wrong with including the file here, or NULL. */
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

        return file->text.items ? NULL : g_strdup_printf("'%s' cannot be used, since it has errors", file->path);
}

static TreeFile *find_included(Loader *loader, const char *name, char **ret_error) {
        g_autofree char *path = included_path(loader, loader->file, name), *shown = excerpt(name, strlen(name));

        if (path)
                return open_file(loader, path, ret_error);

        *ret_error = g_strdup_printf("there is no file '%s', neither beside this one nor on the search path", shown);
        return NULL;
}

static void include_file(Loader *loader, Unit *unit, uint32_t item) {
        size_t length;
        g_autofree char *name = g_strdup(loader_string(loader, item, &length)), *error = NULL;
        TreeFile *file = find_included(loader, name, &error), *from = loader->file;
        Header ignored;

        if (file && !error)
                error = include_problem(loader, file);
        if (error) {
                unit->incomplete = true;
                loader_error(loader, item, g_strdup_printf("include: %s", error));
                return;
        }
        if (!g_hash_table_add(unit->included, file))
                return;

        loader->file = file;
        read_heading(loader, unit, file, &ignored);
        loader->file = from;
        from->wrong |= file->wrong;
}

static void include_files(Loader *loader, Unit *unit, uint32_t array) {
        uint32_t item = array + 1;

        if (text_kind(loader_text(loader), array) != TEXT_ARRAY) {
                loader_error(loader, array,
                             g_strdup_printf("include: expected an array of file names, not %s",
                                             loader_describe(loader, array)));
                return;
        }

        for (uint32_t i = 0; i < text_item(loader_text(loader), array)->count; i++) {
                if (text_kind(loader_text(loader), item) == TEXT_STRING)
                        include_file(loader, unit, item);
                else
                        loader_error(loader, item,
                                     g_strdup_printf("include[%u]: expected the name of a file, not %s", i,
                                                     loader_describe(loader, item)));
                item = text_next(loader_text(loader), item);
        }
}

static Plan *add_plan(Loader *loader, Unit *unit, const char *name, const Heading *heading) {
        Plan *plan = plan_new(unit, loader->file, name, heading->root);

        g_ptr_array_add(loader->plans, plan);
        return plan;
}

/* What is wrong with a name that is given to a tree, or NULL. */
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

static void read_tree(Loader *loader, Unit *unit, uint32_t key) {
        const char *name = loader_intern(loader, key);
        char *problem = name_problem(loader, unit, name);
        Heading heading = {};
        Plan *plan;

        if (problem) {
                loader_error(loader, key, g_strdup_printf("trees: %s", problem));
                g_free(problem);
                return;
        }

        plan = add_plan(loader, unit, name, &heading);
        g_hash_table_insert(unit->plans, (char *) name, plan);

        loader->plan = plan;
        plan->shapeless = !loader_read_tree_heading(loader, key + 1, &heading);
        plan->root = heading.root;
        loader_read_declarations(loader, plan, &heading);
        loader->plan = NULL;
}

static void read_trees(Loader *loader, Unit *unit, uint32_t object) {
        uint32_t key = object + 1;

        if (text_kind(loader_text(loader), object) != TEXT_OBJECT) {
                loader_error(loader, object,
                             g_strdup_printf("trees: expected an object of trees, {\"NAME\": {\"root\": ...}}, not %s",
                                             loader_describe(loader, object)));
                return;
        }

        for (uint32_t i = 0; i < text_item(loader_text(loader), object)->count; i++) {
                read_tree(loader, unit, key);
                key = text_next(loader_text(loader), key + 1);
        }
}

/* The file's own tree, the one at its top. */
static void read_root(Loader *loader, Unit *unit, const Heading *heading) {
        unit->root = add_plan(loader, unit, loader_intern_text(loader, loader->file->name), heading);
        unit->root->is_root = true;
        loader->plan = unit->root;
        loader_read_declarations(loader, unit->root, heading);
        loader->plan = NULL;
}

/* Of an included file only its trees count. */
static void read_heading(Loader *loader, Unit *unit, TreeFile *file, Header *header) {
        Heading heading;

        if (!loader_read_header(loader, header, &heading))
                return;

        if (file == unit->file && heading.root > 0)
                read_root(loader, unit, &heading);
        if (heading.trees > 0)
                read_trees(loader, unit, heading.trees);
        if (heading.include == 0)
                return;

        g_ptr_array_add(loader->including, file);
        include_files(loader, unit, heading.include);
        g_ptr_array_set_size(loader->including, (int) loader->including->len - 1);
}

/* Reading goes on where it was; what was open there is no part of the unit. */
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
        loader->file = from;
        loader->plan = plan;
        return unit;
}

void unit_free(Unit *unit) {
        g_hash_table_unref(unit->plans);
        g_hash_table_unref(unit->included);
        g_free(unit);
}

void loader_queue(Loader *loader, Plan *plan) {
        if (!plan->queued)
                g_ptr_array_add(loader->queue, plan);

        plan->queued = true;
}

static char *no_tree(const Loader *loader, const Plan *user, const char *name) {
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

        return nearest.best
                       ? g_strdup_printf("there is no tree '%s'; did you mean '%s'?", shown, nearest.best)
                       : g_strdup_printf("there is no tree '%s', neither in 'trees' nor on the search path", shown);
}

/* Of another file. */
static Plan *find_unit_root(Loader *loader, const Plan *user, const char *name, char **ret_error) {
        g_autofree char *base = g_strconcat(name, TREE_SUFFIX, NULL), *path = NULL;
        TreeFile *file;
        Unit *unit;

        path = tree_name_valid(name) ? find_on_path(loader, base) : NULL;
        if (!path) {
                *ret_error = user->unit->incomplete ? NULL : no_tree(loader, user, name);
                return NULL;
        }

        file = open_file(loader, path, ret_error);
        if (!file)
                return NULL;

        unit = loader_open_unit(loader, file);
        if (unit->root)
                return unit->root;

        *ret_error = file->wrong ? g_strdup_printf("'%s' cannot be used, since it has errors", path)
                                 : g_strdup_printf("'%s' has no root, only trees to be included", path);
        return NULL;
}

Plan *loader_find_tree(Loader *loader, Plan *user, const char *name, char **ret_error) {
        Plan *plan = g_hash_table_lookup(user->unit->plans, name) ?: find_unit_root(loader, user, name, ret_error);

        if (plan)
                loader_queue(loader, plan);

        return plan;
}
