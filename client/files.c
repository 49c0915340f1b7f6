/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Reads the files that are named on the command line, for the verbs that work without btd. */

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <string.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "client/files.h"
#include "definition/sources.h"
#include "definition/text/text.h"
#include "leaf-types/leaf-types.h"

const NodeType *const *const node_type_tables[] = { engine_types, leaf_types, NULL };

GPtrArray *node_types_list(void) {
        GPtrArray *types = g_ptr_array_new();

        for (const NodeType *const *const *table = node_type_tables; *table; table++)
                for (const NodeType *const *type = *table; *type; type++)
                        g_ptr_array_add(types, (NodeType *) *type);

        return types;
}

/* Reads in blocks, because the file may be a pipe. */
int file_read(const char *path, char **ret_text, size_t *ret_length) {
        g_autoptr(GString) text = g_string_new(NULL);
        g_auto(AutoFd) fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
        char block[16 * 1024];
        ssize_t n;

        if (fd < 0)
                return -errno;

        while ((n = read(fd, block, sizeof(block))) != 0) {
                if (n < 0 && errno != EINTR)
                        return -errno;
                if (n > 0)
                        g_string_append_len(text, block, n);
        }

        *ret_length = text->len;
        *ret_text = g_string_free(g_steal_pointer(&text), FALSE);
        return 0;
}

/* Reads at most one byte more than a file may have; the loader then reports the limit. */
static int load_input(const DefinitionSources *sources, Diagnostics *diagnostics, Definition **ret_definition) {
        g_autoptr(GString) text = g_string_new(NULL);
        char buffer[BUFSIZ];
        ssize_t n = 1;

        while (n > 0 && text->len <= TEXT_LENGTH_MAX) {
                n = read(STDIN_FILENO, buffer, sizeof(buffer));
                if (n > 0)
                        g_string_append_len(text, buffer, n);
        }

        if (n < 0) {
                int r = -errno;

                diagnostics_add(diagnostics, 0, DIAGNOSTICS_NOWHERE, false, NULL,
                                g_strdup_printf("cannot be read: %s", strerror(-r)));
                return r;
        }

        return definition_load_text(text->str, text->len, node_type_tables, sources, diagnostics, ret_definition);
}

/* Sources that search a directory before those of btd, and in which one file can have another text. */
typedef struct Overlay {
        char **directories;
        DefinitionSources sources;
        const char *file, *text; /* text NULL: that of the file */
        DropinChange on_change;
        void *userdata;
} Overlay;

/* Takes the directory. */
static void overlay_init(Overlay *overlay, const Client *client, char *directory) {
        g_auto(GStrv) path = search_path_new(client->options.given & OPTION_BIT(OPTION_USER));
        g_autoptr(GStrvBuilder) directories = g_strv_builder_new();
        g_autofree char *first = directory;

        g_strv_builder_add(directories, first);
        g_strv_builder_addv(directories, (const char **) path);
        overlay->directories = g_strv_builder_end(directories);
        overlay->sources = search_path_sources((const char *const *) overlay->directories);
}

static void overlay_clear(Overlay *overlay) {
        g_strfreev(overlay->directories);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Overlay, overlay_clear)

static char *on_find(const char *file, void *userdata) {
        const Overlay *overlay = userdata;

        return overlay->sources.find(file, overlay->sources.userdata);
}

static char *on_nearest(const char *tree, void *userdata) {
        const Overlay *overlay = userdata;

        return overlay->sources.nearest(tree, overlay->sources.userdata);
}

static int on_dropins(const char *path, GPtrArray *paths, char **ret_error, void *userdata) {
        const Overlay *overlay = userdata;

        return overlay->sources.dropins(path, paths, ret_error, overlay->sources.userdata);
}

static int on_read(const char *path, char **ret_text, size_t *ret_length, char **ret_error, void *userdata) {
        const Overlay *overlay = userdata;

        if (!overlay->text || !g_str_equal(path, overlay->file))
                return source_read(path, ret_text, ret_length, ret_error);

        *ret_text = g_strdup(overlay->text);
        *ret_length = strlen(overlay->text);
        return 0;
}

static void on_changed(const char *key, json_object *from, json_object *to, void *userdata) {
        const Overlay *overlay = userdata;

        overlay->on_change(key, from, to, overlay->userdata);
}

static DefinitionSources overlay_sources(Overlay *overlay) {
        return (DefinitionSources){
                .find = on_find,
                .nearest = on_nearest,
                .dropins = on_dropins,
                .read = on_read,
                .userdata = overlay,
        };
}

int tree_load_text(const Client *client, const char *file, const char *text, Diagnostics *diagnostics,
                   Definition **ret_definition) {
        g_auto(Overlay) overlay = { .file = file, .text = text };
        const DefinitionSources sources = overlay_sources(&overlay);

        overlay_init(&overlay, client, g_path_get_dirname(file));
        if (g_str_equal(file, "-"))
                return load_input(&overlay.sources, diagnostics, ret_definition);

        return definition_load_file(file, node_type_tables, &sources, diagnostics, ret_definition);
}

int tree_load(const Client *client, const char *file, Diagnostics *diagnostics, Definition **ret_definition) {
        return tree_load_text(client, file, NULL, diagnostics, ret_definition);
}

/* The directory of a drop-in; absolute if its name is not a part of the path. */
static char *dropin_directory(const char *file) {
        g_autofree char *directory = g_path_get_dirname(file), *absolute = NULL;

        if (g_str_has_suffix(directory, DROPINS_SUFFIX))
                return g_steal_pointer(&directory);

        absolute = source_id(directory);
        return g_str_has_suffix(absolute, DROPINS_SUFFIX) ? g_steal_pointer(&absolute) : NULL;
}

bool dropin_is(const char *file) {
        g_autofree char *directory = dropin_directory(file), *name = g_path_get_basename(file);

        return directory && *name != '.' && g_str_has_suffix(name, TREE_SUFFIX);
}

char *dropin_tree(const Client *client, const char *file) {
        g_autofree char *directory = dropin_directory(file), *name = g_path_get_basename(directory);
        g_auto(Overlay) overlay = {};

        name[strlen(name) - strlen(DROPINS_SUFFIX) + strlen(TREE_SUFFIX)] = 0;
        overlay_init(&overlay, client, g_path_get_dirname(directory));
        return overlay.sources.find(name, overlay.sources.userdata);
}

int dropin_load(const Client *client, const char *file, const char *tree, DropinChange on_change, void *userdata,
                Diagnostics *diagnostics, Definition **ret_definition) {
        g_autofree char *directory = dropin_directory(file), *around = g_path_get_dirname(directory),
                        *own = search_path_dropin_directory(around, tree), *name = g_path_get_basename(file),
                        *draft = g_build_filename(own, name, NULL);
        g_auto(Overlay) overlay = { .on_change = on_change, .userdata = userdata };
        DefinitionSources sources = overlay_sources(&overlay);

        /* As the search finds it. */
        sources.draft = draft;
        sources.changed = on_changed;
        overlay_init(&overlay, client, g_steal_pointer(&around));
        return definition_load_file(tree, node_type_tables, &sources, diagnostics, ret_definition);
}

void report_diagnostics(const Diagnostics *diagnostics) {
        for (size_t i = 0; i < diagnostics_count(diagnostics); i++) {
                g_autofree char *text = diagnostics_format(diagnostics, i);

                report_line(text);
        }
}
