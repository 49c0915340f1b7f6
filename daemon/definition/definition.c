/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Implements definition.h: loads a tree file and gives access to its content. Its parameters are in
 * definition-params.c, its variables in definition-variables.c. */

#include <string.h>

#include "basic/cleanup.h"
#include "definition/definition-state.h"

/* Larger definitions are freed by a thread, since that takes milliseconds. */
#define FREED_LENGTH_MAX 65536u /* bytes */
#define FREED_NODES_MAX 1000u

/* Longer files are not converted to JSON on the main loop. */
#define WRITTEN_LENGTH_MAX 65536u /* bytes */

static char *checksum(const char *text, size_t length) {
        return g_compute_checksum_for_data(G_CHECKSUM_SHA256, (const guint8 *) text, length);
}

/* If the file uses no other file, this is the hash of its text. */
static char *hash_files(const Definition *definition) {
        g_autoptr(GString) hashes = g_string_new(NULL);

        for (size_t i = 0; i < definition_n_files(definition); i++)
                g_string_append(hashes, definition_file_hash(definition, i));

        return definition_n_files(definition) > 1 ? checksum(hashes->str, hashes->len)
                                                  : g_strdup(definition_file_hash(definition, 0));
}

static json_object *found_of(const Definition *definition, size_t i) {
        json_object *found = json_object_new_array();

        for (const char *const *name = definition_file_found(definition, i); *name; name++)
                json_object_array_add(found, json_object_new_string(*name));

        return found;
}

char *definition_write_files(const Definition *definition) {
        g_autoptr(json_object) files = json_object_new_array();

        for (size_t i = 0; i < definition_n_files(definition); i++) {
                json_object *file = json_object_new_object();

                json_object_object_add(file, "path", json_object_new_string(definition_file(definition, i) ?: ""));
                json_object_object_add(file, "text", json_object_new_string(definition_file_text(definition, i)));
                json_object_object_add(file, "found", found_of(definition, i));
                json_object_array_add(files, file);
        }

        return g_strdup(json_object_to_json_string_ext(files, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
}

static bool is_large(const Definition *definition) {
        size_t length = definition->length;

        for (unsigned i = 0; i < definition->loaded.files->len; i++)
                length += strlen(g_array_index(definition->loaded.files, LoadedFile, i).text);

        return length > WRITTEN_LENGTH_MAX;
}

bool definition_files_are_ready(const Definition *definition) {
        return definition->files_json || !is_large(definition);
}

void definition_give_files(Definition *definition, char *json) {
        g_free(definition->files_json);
        definition->files_json = json;
}

char *definition_take_files(Definition *definition) {
        return g_steal_pointer(&definition->files_json) ?: definition_write_files(definition);
}

/* Takes the text, which must have a NUL byte at length. */
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

static void definition_free(Definition *definition) {
        loaded_clear(&definition->loaded);
        g_free(definition->text);
        g_free(definition->files_json);
        g_free(definition->hash);
        g_free(definition->own.path);
        g_free(definition->own.hash);
        g_free(definition);
}

static void *thread_main(void *definition) {
        definition_free(definition);
        return NULL;
}

void definition_unref(Definition *definition) {
        const Tree *tree = definition ? definition_tree(definition) : NULL;
        GThread *thread = NULL;

        if (!definition || --definition->n_refs > 0)
                return;

        loaded_clear_values(&definition->loaded);
        if (definition->length > FREED_LENGTH_MAX || (tree && tree->n_nodes > FREED_NODES_MAX))
                thread = g_thread_try_new("btd-free", thread_main, definition, NULL);
        if (thread)
                g_thread_unref(thread);
        else
                definition_free(definition);
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

size_t definition_n_files(const Definition *definition) {
        return 1 + definition->loaded.files->len;
}

const char *definition_file(const Definition *definition, size_t i) {
        return i == 0 ? definition->own.path : g_array_index(definition->loaded.files, LoadedFile, i - 1).path;
}

const char *const *definition_file_found(const Definition *definition, size_t i) {
        static const char *const none[] = { NULL };

        return i == 0 ? none : (const char *const *) g_array_index(definition->loaded.files, LoadedFile, i - 1).found;
}

const char *definition_file_text(const Definition *definition, size_t i) {
        return i == 0 ? definition->text : g_array_index(definition->loaded.files, LoadedFile, i - 1).text;
}

const char *definition_file_hash(const Definition *definition, size_t i) {
        LoadedFile *own = &((Definition *) definition)->own;

        if (i > 0)
                return g_array_index(definition->loaded.files, LoadedFile, i - 1).hash;

        if (!own->hash)
                own->hash = checksum(definition->text, definition->length);
        return own->hash;
}

const char *definition_hash(const Definition *definition) {
        if (!definition->hash)
                ((Definition *) definition)->hash = hash_files(definition);
        return definition->hash;
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

/* The scope of the last start that does not follow the node. */
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

/* NULL: the node has no common attributes. */
static const CommonAttributes *find_attributes(const Definition *definition, NodeId node) {
        const GArray *attributes = definition->loaded.attributes;
        unsigned low = 0, high = attributes->len;

        while (low < high) {
                unsigned middle = low + (high - low) / 2;
                const NodeAttributes *candidate = &g_array_index(attributes, NodeAttributes, middle);

                if (candidate->node == node)
                        return candidate->attributes;
                if (candidate->node < node)
                        low = middle + 1;
                else
                        high = middle;
        }

        return NULL;
}

const Script *definition_guard(const Definition *definition, NodeId node, Guard guard) {
        const CommonAttributes *attributes = find_attributes(definition, node);

        return attributes ? attributes->guards[guard] : NULL;
}

const Script *definition_hook(const Definition *definition, NodeId node, Hook hook) {
        const CommonAttributes *attributes = find_attributes(definition, node);

        return attributes ? attributes->hooks[hook] : NULL;
}

const char *definition_lock(const Definition *definition, NodeId node) {
        const CommonAttributes *attributes = find_attributes(definition, node);

        return attributes ? attributes->lock : NULL;
}

uint64_t definition_halt_timeout(const Definition *definition, NodeId node) {
        const CommonAttributes *attributes = find_attributes(definition, node);

        return attributes ? attributes->halt_timeout : SPAN_INFINITY;
}

bool definition_makes_ready(const Definition *definition, NodeId node) {
        const CommonAttributes *attributes = find_attributes(definition, node);

        return attributes && attributes->ready;
}

bool definition_uses_boottime(const Definition *definition, NodeId node) {
        const GArray *all = definition->loaded.attributes;
        const CommonAttributes *attributes = node == NODE_NONE ? NULL : find_attributes(definition, node);

        for (unsigned i = 0; node == NODE_NONE && i < all->len; i++)
                if (g_array_index(all, NodeAttributes, i).attributes->clock == ATTRIBUTE_CLOCK_BOOTTIME)
                        return true;

        return attributes && attributes->clock == ATTRIBUTE_CLOCK_BOOTTIME;
}
