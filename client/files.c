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

/* Sources in which one file has another text. */
typedef struct Overlay {
        const DefinitionSources *sources;
        const char *file, *text; /* text NULL: that of the file */
} Overlay;

static char *on_find(const char *file, void *userdata) {
        const Overlay *overlay = userdata;

        return overlay->sources->find(file, overlay->sources->userdata);
}

static char *on_nearest(const char *tree, void *userdata) {
        const Overlay *overlay = userdata;

        return overlay->sources->nearest(tree, overlay->sources->userdata);
}

static int on_dropins(const char *path, GPtrArray *paths, char **ret_error, void *userdata) {
        const Overlay *overlay = userdata;

        return overlay->sources->dropins(path, paths, ret_error, overlay->sources->userdata);
}

static int on_read(const char *path, char **ret_text, size_t *ret_length, char **ret_error, void *userdata) {
        const Overlay *overlay = userdata;

        if (!overlay->text || !g_str_equal(path, overlay->file))
                return source_read(path, ret_text, ret_length, ret_error);

        *ret_text = g_strdup(overlay->text);
        *ret_length = strlen(overlay->text);
        return 0;
}

int tree_load_text(const Client *client, const char *file, const char *text, Diagnostics *diagnostics,
                   Definition **ret_definition) {
        g_auto(GStrv) path = search_path_new(client->options.given & OPTION_BIT(OPTION_USER));
        g_autofree char *beside = g_path_get_dirname(file);
        g_autoptr(GPtrArray) directories = g_ptr_array_new();
        DefinitionSources sources;
        Overlay overlay = { &sources, file, text };
        const DefinitionSources overlaid = {
                .find = on_find,
                .nearest = on_nearest,
                .dropins = on_dropins,
                .read = on_read,
                .userdata = &overlay,
        };

        g_ptr_array_add(directories, beside);
        for (char **directory = path; *directory; directory++)
                g_ptr_array_add(directories, *directory);
        g_ptr_array_add(directories, NULL);

        sources = search_path_sources((const char *const *) directories->pdata);
        if (g_str_equal(file, "-"))
                return load_input(&sources, diagnostics, ret_definition);

        return definition_load_file(file, node_type_tables, &overlaid, diagnostics, ret_definition);
}

int tree_load(const Client *client, const char *file, Diagnostics *diagnostics, Definition **ret_definition) {
        return tree_load_text(client, file, NULL, diagnostics, ret_definition);
}
