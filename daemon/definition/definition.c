/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a loaded file is to others, and reading it from disk. */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "basic/cleanup.h"
#include "definition/definition.h"
#include "definition/load.h"
#include "definition/params.h"
#include "definition/text.h"
#include "script/blackboard.h"

#define PARAMS_ARENA_SIZE 512u

struct Definition {
        unsigned n_refs;
        char *text;
        size_t length;
        char *hash; /* made when it is first asked for */
        Loaded loaded;
};

/* Takes the text, which is ended by a NUL at length. */
static int definition_load_taken(char *text, size_t length, const NodeType *const *const *tables,
                                 Diagnostics *diagnostics, Definition **ret_definition) {
        g_autofree char *taken = text;
        Definition *definition;
        Loaded loaded;
        int r;

        r = load_text(text, length, tables, diagnostics, &loaded);
        if (r < 0)
                return r;

        definition = g_new0(Definition, 1);
        definition->n_refs = 1;
        definition->text = g_steal_pointer(&taken);
        definition->length = length;
        definition->loaded = loaded;
        *ret_definition = definition;
        return 0;
}

int definition_load_text(const char *text, size_t length, const NodeType *const *const *tables,
                         Diagnostics *diagnostics, Definition **ret_definition) {
        char *copy = g_malloc(length + 1);

        memcpy(copy, text, length);
        copy[length] = 0;
        return definition_load_taken(copy, length, tables, diagnostics, ret_definition);
}

static int file_error(Diagnostics *diagnostics, int error, char *text) {
        diagnostics_add(diagnostics, DIAGNOSTICS_NOWHERE, false, NULL, text);
        return error;
}

/* A file that does not block: neither a pipe nor a device. */
static int open_file(const char *path, Diagnostics *diagnostics, int *ret_fd) {
        g_auto(AutoFd) fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
        struct stat st;
        int r;

        if (fd < 0 || fstat(fd, &st) < 0) {
                r = -errno;
                return file_error(diagnostics, r, g_strdup_printf("cannot be opened: %s", g_strerror(-r)));
        }
        if (S_ISDIR(st.st_mode))
                return file_error(diagnostics, -EISDIR, g_strdup("is a directory, not a tree file"));
        if (!S_ISREG(st.st_mode))
                return file_error(diagnostics, -EINVAL, g_strdup("is not a regular file"));

        *ret_fd = fd;
        fd = -1;
        return 0;
}

/* All of the file, ended by a NUL; one byte more than the limit is enough to see that it is too large. */
static int read_all(int fd, Diagnostics *diagnostics, char **ret_text, size_t *ret_length) {
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        guint8 block[64 * 1024];
        ssize_t n;

        while (bytes->len <= TEXT_LENGTH_MAX && (n = read(fd, block, sizeof(block))) != 0) {
                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return file_error(diagnostics, -errno,
                                          g_strdup_printf("cannot be read: %s", g_strerror(errno)));

                g_byte_array_append(bytes, block, (unsigned) n);
        }

        if (bytes->len > TEXT_LENGTH_MAX)
                return file_error(diagnostics, -EFBIG,
                                  g_strdup_printf("is too large: more than %u MiB", TEXT_LENGTH_MAX >> 20));

        *ret_length = bytes->len;
        g_byte_array_append(bytes, (const guint8 *) "", 1);
        *ret_text = (char *) g_byte_array_free(g_steal_pointer(&bytes), false);
        return 0;
}

int definition_load_file(const char *path, const NodeType *const *const *tables, Diagnostics *diagnostics,
                         Definition **ret_definition) {
        g_auto(AutoFd) fd = -1;
        size_t length;
        char *text;
        int r;

        r = open_file(path, diagnostics, &fd);
        if (r < 0)
                return r;

        r = read_all(fd, diagnostics, &text, &length);
        if (r < 0)
                return r;

        return definition_load_taken(text, length, tables, diagnostics, ret_definition);
}

Definition *definition_ref(Definition *definition) {
        definition->n_refs++;
        return definition;
}

void definition_unref(Definition *definition) {
        if (!definition || --definition->n_refs > 0)
                return;

        loaded_clear(&definition->loaded);
        g_free(definition->text);
        g_free(definition->hash);
        g_free(definition);
}

const Tree *definition_tree(const Definition *definition) {
        return definition->loaded.tree;
}

const char *definition_description(const Definition *definition) {
        return definition->loaded.header.description;
}

bool definition_autostart(const Definition *definition) {
        return definition->loaded.header.autostart;
}

const char *definition_hash(const Definition *definition) {
        Definition *d = (Definition *) definition;

        if (!d->hash)
                d->hash = g_compute_checksum_for_data(G_CHECKSUM_SHA256, (const guint8 *) d->text, d->length);

        return d->hash;
}

const char *definition_text(const Definition *definition) {
        return definition->text;
}

json_object *definition_blackboard(const Definition *definition) {
        return definition->loaded.blackboard;
}

const char *definition_guard(const Definition *definition, NodeId node, Guard guard) {
        const GArray *guarded = definition->loaded.guarded;
        unsigned low = 0, high = guarded->len;

        while (low < high) {
                unsigned middle = low + (high - low) / 2;
                const GuardedNode *candidate = &g_array_index(guarded, GuardedNode, middle);

                if (candidate->node == node)
                        return candidate->guards->variables[guard];
                if (candidate->node < node)
                        low = middle + 1;
                else
                        high = middle;
        }

        return NULL;
}

/* The first template of the node or of one behind it. */
static unsigned find_templates(const GArray *templates, NodeId node) {
        unsigned low = 0, high = templates->len;

        while (low < high) {
                unsigned middle = low + (high - low) / 2;

                if (g_array_index(templates, Template, middle).node < node)
                        low = middle + 1;
                else
                        high = middle;
        }

        return low;
}

/* The first problem is enough: the leaf cannot start. */
static void on_param_report(const Place *place, bool at_key, char *text, void *userdata) {
        g_autofree char *problem = text;
        g_autofree char *prefix = place_format(at_key ? place->parent : place);
        char **error = userdata;

        if (!*error)
                *error = g_strdup_printf("%s: %s", prefix, problem);
}

static int fill_in(const Template *template, const Blackboard *blackboard, Arena *arena, void *values,
                   char **ret_error) {
        g_autofree char *problem = NULL;
        ParamSetter setter = {
                .arena = arena, .report = on_param_report, .userdata = &problem, .origin = template->value
        };
        json_object *value;
        int r;

        r = reference_expand(blackboard, template->value, &value, &problem);
        if (r < 0) {
                *ret_error = g_strdup_printf("%s: %s", template->param->name, problem);
                return -EINVAL;
        }

        arena_own(arena, value);
        r = param_set(&setter, template->param, values, value);
        if (r < 0)
                *ret_error = g_steal_pointer(&problem);

        return r;
}

int definition_params(const Definition *definition, NodeId node, const Blackboard *blackboard, Params *ret_params,
                      char **ret_error) {
        const Node *n = &definition->loaded.tree->nodes[node];
        const GArray *templates = definition->loaded.templates;
        unsigned i = find_templates(templates, node);
        g_autoptr(Arena) arena = NULL;
        void *values;

        if (i == templates->len || g_array_index(templates, Template, i).node != node) {
                *ret_params = (Params){ .values = n->params };
                return 0;
        }

        arena = arena_new(PARAMS_ARENA_SIZE);
        values = arena_alloc(arena, n->type->params_size);
        memcpy(values, n->params, n->type->params_size);

        for (; i < templates->len && g_array_index(templates, Template, i).node == node; i++) {
                int r = fill_in(&g_array_index(templates, Template, i), blackboard, arena, values, ret_error);

                if (r < 0)
                        return r;
        }

        *ret_params = (Params){ .values = values, .owned = g_steal_pointer(&arena) };
        return 0;
}

void params_clear(Params *params) {
        arena_free(params->owned);
        *params = (Params){};
}
