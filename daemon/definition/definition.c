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
        ScopeInfo outermost;
        char *path;
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
        definition->outermost.blackboard = loaded.blackboard;
        *ret_definition = definition;
        return 0;
}

int definition_load_text(const char *text, size_t length, const NodeType *const *const *tables,
                         const DefinitionSources *sources, Diagnostics *diagnostics, Definition **ret_definition) {
        char *copy = g_malloc(length + 1);

        memcpy(copy, text, length);
        copy[length] = 0;
        return definition_load_taken(copy, length, tables, diagnostics, ret_definition);
}

int definition_load_file(const char *path, const NodeType *const *const *tables, const DefinitionSources *sources,
                         Diagnostics *diagnostics, Definition **ret_definition) {
        char *text, *error;
        size_t length;
        int r;

        r = sources && sources->read ? sources->read(path, &text, &length, &error, sources->userdata)
                                     : source_read(path, &text, &length, &error);
        if (r < 0) {
                diagnostics_add(diagnostics, DIAGNOSTICS_NOWHERE, false, NULL, error);
                return r;
        }

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

const RestartPolicy *definition_restart(const Definition *definition) {
        return &definition->loaded.header.restart;
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

size_t definition_n_files(const Definition *definition) {
        return 1;
}

const char *definition_file(const Definition *definition, size_t i) {
        return definition->path;
}

const char *definition_file_hash(const Definition *definition, size_t i) {
        return definition_hash(definition);
}

unsigned definition_n_scopes(const Definition *definition) {
        return 1;
}

unsigned definition_scope(const Definition *definition, NodeId node) {
        return 0;
}

const ScopeInfo *definition_scope_info(const Definition *definition, unsigned scope) {
        return &definition->outermost;
}

int definition_check_start(const Definition *definition, json_object *variables, char **ret_error) {
        return 0;
}

const Script *definition_hook(const Definition *definition, NodeId node, Hook hook) {
        return NULL;
}

const char *definition_lock(const Definition *definition, NodeId node) {
        return NULL;
}

uint64_t definition_halt_timeout(const Definition *definition, NodeId node) {
        return SPAN_INFINITY;
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

json_object *definition_template(const Definition *definition, NodeId node, const Param *param) {
        const GArray *templates = definition->loaded.templates;

        for (unsigned i = find_templates(templates, node);
             i < templates->len && g_array_index(templates, Template, i).node == node; i++)
                if (g_array_index(templates, Template, i).param == param)
                        return g_array_index(templates, Template, i).value;

        return NULL;
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
