/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a loaded file is to others. Its parameters are in definition-params.c, its variables in
 * definition-variables.c. */

#include <string.h>

#include "definition/definition-state.h"

/* Takes the text, which is ended by a NUL at length. */
static int definition_load_taken(const char *path, char *text, size_t length, const NodeType *const *const *tables,
                                 const DefinitionSources *sources, Diagnostics *diagnostics,
                                 Definition **ret_definition) {
        g_autofree char *taken = text;
        Definition *definition;
        Loaded loaded;
        int r;

        r = load_text(path, text, length, tables, sources, diagnostics, &loaded);
        if (r < 0)
                return r;

        definition = g_new0(Definition, 1);
        definition->n_refs = 1;
        definition->text = g_steal_pointer(&taken);
        definition->length = length;
        definition->loaded = loaded;
        definition->own.path = g_strdup(path);
        *ret_definition = definition;
        return 0;
}

int definition_load_text(const char *text, size_t length, const NodeType *const *const *tables,
                         const DefinitionSources *sources, Diagnostics *diagnostics, Definition **ret_definition) {
        char *copy = g_malloc(length + 1);

        memcpy(copy, text, length);
        copy[length] = 0;
        return definition_load_taken(NULL, copy, length, tables, sources, diagnostics, ret_definition);
}

int definition_load_file(const char *path, const NodeType *const *const *tables, const DefinitionSources *sources,
                         Diagnostics *diagnostics, Definition **ret_definition) {
        char *text, *error;
        size_t length;
        int r;

        r = sources && sources->read ? sources->read(path, &text, &length, &error, sources->userdata)
                                     : source_read(path, &text, &length, &error);
        if (r < 0) {
                diagnostics_add(diagnostics, 0, DIAGNOSTICS_NOWHERE, false, NULL, error);
                return r;
        }

        return definition_load_taken(path, text, length, tables, sources, diagnostics, ret_definition);
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
        g_free(definition->own.path);
        g_free(definition->own.hash);
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

const Access *definition_access(const Definition *definition) {
        static const Access nothing;

        return definition->loaded.header.access ?: &nothing;
}

OnStop definition_on_stop(const Definition *definition) {
        return definition->loaded.header.on_stop;
}

static char *checksum(const char *text, size_t length) {
        return g_compute_checksum_for_data(G_CHECKSUM_SHA256, (const guint8 *) text, length);
}

size_t definition_n_files(const Definition *definition) {
        return 1 + definition->loaded.files->len;
}

const char *definition_file(const Definition *definition, size_t i) {
        return i == 0 ? definition->own.path : g_array_index(definition->loaded.files, LoadedFile, i - 1).path;
}

const char *definition_file_text(const Definition *definition, size_t i) {
        return i == 0 ? definition->text : g_array_index(definition->loaded.files, LoadedFile, i - 1).text;
}

const char *definition_file_hash(const Definition *definition, size_t i) {
        Definition *d = (Definition *) definition;

        if (i > 0)
                return g_array_index(definition->loaded.files, LoadedFile, i - 1).hash;
        if (!d->own.hash)
                d->own.hash = checksum(d->text, d->length);

        return d->own.hash;
}

/* Of a file that uses no other it is that of its text. */
static char *hash_files(const Definition *definition) {
        g_autoptr(GString) hashes = g_string_new(NULL);

        for (size_t i = 0; i < definition_n_files(definition); i++)
                g_string_append(hashes, definition_file_hash(definition, i));

        return definition_n_files(definition) > 1 ? checksum(hashes->str, hashes->len)
                                                  : g_strdup(definition_file_hash(definition, 0));
}

const char *definition_hash(const Definition *definition) {
        Definition *d = (Definition *) definition;

        if (!d->hash)
                d->hash = hash_files(definition);

        return d->hash;
}

const char *definition_text(const Definition *definition) {
        return definition->text;
}

json_object *definition_blackboard(const Definition *definition) {
        return definition->loaded.blackboard;
}

unsigned definition_n_scopes(const Definition *definition) {
        return definition->loaded.scopes->len;
}

/* That of the last start which is not behind the node. */
unsigned definition_scope(const Definition *definition, NodeId node) {
        const GArray *starts = definition->loaded.scope_starts;
        unsigned low = 0, high = starts->len;

        while (high - low > 1) {
                unsigned middle = low + (high - low) / 2;

                if (g_array_index(starts, ScopeStart, middle).node <= node)
                        low = middle;
                else
                        high = middle;
        }

        return g_array_index(starts, ScopeStart, low).scope;
}

const ScopeInfo *definition_scope_info(const Definition *definition, unsigned scope) {
        return &g_array_index(definition->loaded.scopes, ScopeInfo, scope);
}

/* NULL: the node says nothing of the kind. */
static const Extras *find_extras(const Definition *definition, NodeId node) {
        const GArray *extras = definition->loaded.extras;
        unsigned low = 0, high = extras->len;

        while (low < high) {
                unsigned middle = low + (high - low) / 2;
                const ExtrasNode *candidate = &g_array_index(extras, ExtrasNode, middle);

                if (candidate->node == node)
                        return candidate->extras;
                if (candidate->node < node)
                        low = middle + 1;
                else
                        high = middle;
        }

        return NULL;
}

const Script *definition_guard(const Definition *definition, NodeId node, Guard guard) {
        const Extras *extras = find_extras(definition, node);

        return extras ? extras->guards[guard] : NULL;
}

const Script *definition_hook(const Definition *definition, NodeId node, Hook hook) {
        const Extras *extras = find_extras(definition, node);

        return extras ? extras->hooks[hook] : NULL;
}

const char *definition_lock(const Definition *definition, NodeId node) {
        const Extras *extras = find_extras(definition, node);

        return extras ? extras->lock : NULL;
}

uint64_t definition_halt_timeout(const Definition *definition, NodeId node) {
        const Extras *extras = find_extras(definition, node);

        return extras ? extras->halt_timeout : SPAN_INFINITY;
}
