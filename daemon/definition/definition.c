/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Implements definition.h: loads a tree file and gives access to its content, checks the variables that are given to a
 * run, and fills in the references in the parameters of a node. */

#include <errno.h>
#include <json-c/linkhash.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/excerpt.h"
#include "basic/foreach.h"
#include "basic/nearest.h"
#include "basic/sorted.h"
#include "basic/span.h"
#include "definition/definition.h"
#include "definition/load/load.h"
#include "definition/params/params.h"
#include "script/reference.h"
#include "script/scripts.h"

struct Definition {
        unsigned n_refs;
        char *text;
        size_t length;
        char *hash;             /* of all files; NULL: not computed yet, as in own */
        LoadedFile own;         /* path: NULL if it was not loaded from a file */
        SummedText *files_json; /* NULL: not made yet, or taken */
        Loaded loaded;
        bool boottime; /* a node uses this clock */
        bool holds;    /* a condition counts only after a time */
};

/* Larger definitions are freed by a thread, since that takes milliseconds. */
#define FREED_LENGTH_MAX 65536u /* bytes */
#define FREED_NODES_MAX 1000u

/* Longer files are not converted to JSON on the main loop. */
#define WRITTEN_LENGTH_MAX 65536u /* bytes */

static char *checksum(const char *text, size_t length) {
        return g_compute_checksum_for_data(G_CHECKSUM_SHA256, (const guint8 *) text, length);
}

SummedText *definition_write_files(const Definition *definition) {
        g_autoptr(json_object) files = json_object_new_array();

        for (size_t i = 0; i < definition_n_files(definition); i++) {
                const LoadedFile *used = i > 0 ? &g_array_index(definition->loaded.files, LoadedFile, i - 1) : NULL;
                json_object *file = json_object_new_object(), *found = json_object_new_array();

                for (char **name = i > 0 ? used->found : NULL; name && *name; name++)
                        json_object_array_add(found, json_object_new_string(*name));
                json_object_object_add(file, "path", json_object_new_string(definition_file(definition, i) ?: ""));
                json_object_object_add(file, "text", json_object_new_string(definition_file_text(definition, i)));
                json_object_object_add(file, "found", found);
                if (definition_file_extends(definition, i))
                        json_object_object_add(file, "extends",
                                               json_object_new_string(definition_file_extends(definition, i)));
                json_object_array_add(files, file);
        }

        return summed_text_new(g_strdup(
                json_object_to_json_string_ext(files, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE)));
}

bool definition_files_are_ready(const Definition *definition) {
        size_t length = definition->length;

        ARRAY_FOREACH(const LoadedFile, file, definition->loaded.files)
                length += strlen(file->text);

        return definition->files_json || length <= WRITTEN_LENGTH_MAX;
}

void definition_give_files(Definition *definition, SummedText *json) {
        summed_text_free(definition->files_json);
        definition->files_json = json;
}

SummedText *definition_take_files(Definition *definition) {
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
        for (unsigned i = 0; loaded.attributes && i < loaded.attributes->len; i++) {
                const CommonAttributes *attributes = g_array_index(loaded.attributes, NodeAttributes, i).attributes;

                definition->boottime |= attributes->clock == ATTRIBUTE_CLOCK_BOOTTIME;
                definition->holds |= attributes->true_for > 0 || attributes->false_for > 0;
        }
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
        summed_text_free(definition->files_json);
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

const Header *definition_header(const Definition *definition) {
        return &definition->loaded.header;
}

const Access *definition_access(const Definition *definition) {
        static const Access nothing;

        return definition->loaded.header.access ?: &nothing;
}

const char *definition_file_state(const Definition *definition) {
        g_autofree char *problem = NULL;

        if (!definition)
                return "bad";
        if (!definition_tree(definition))
                return "static";
        if (definition->loaded.header.autostart)
                return "enabled";

        return definition_check_start(definition, NULL, &problem) < 0 ? "static" : "disabled";
}

size_t definition_n_files(const Definition *definition) {
        return 1 + definition->loaded.files->len;
}

const char *definition_file(const Definition *definition, size_t i) {
        return i == 0 ? definition->own.path : g_array_index(definition->loaded.files, LoadedFile, i - 1).path;
}

const char *definition_file_extends(const Definition *definition, size_t i) {
        return i == 0 ? NULL : g_array_index(definition->loaded.files, LoadedFile, i - 1).extends;
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

/* If the file uses no other file, this is the hash of its text. */
const char *definition_hash(const Definition *definition) {
        g_autoptr(GString) hashes = NULL;

        if (definition->hash)
                return definition->hash;

        hashes = g_string_new(NULL);
        for (size_t i = 0; i < definition_n_files(definition); i++)
                g_string_append(hashes, definition_file_hash(definition, i));

        ((Definition *) definition)->hash =
                definition_n_files(definition) > 1 ? checksum(hashes->str, hashes->len) : g_strdup(hashes->str);
        return definition->hash;
}

const char *definition_text(const Definition *definition) {
        return definition->text;
}

const Limits *definition_limits(const Definition *definition) {
        return &definition->loaded.limits;
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

static const CommonAttributes *find_attributes(const Definition *definition, NodeId node) {
        static const CommonAttributes none = { .halt_timeout = SPAN_INFINITY };
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

        return &none;
}

const Script *definition_guard(const Definition *definition, NodeId node, Guard guard) {
        return find_attributes(definition, node)->guards[guard];
}

const Script *definition_hook(const Definition *definition, NodeId node, Hook hook) {
        return find_attributes(definition, node)->hooks[hook];
}

const char *definition_lock(const Definition *definition, NodeId node) {
        return find_attributes(definition, node)->lock;
}

uint64_t definition_halt_timeout(const Definition *definition, NodeId node) {
        return find_attributes(definition, node)->halt_timeout;
}

uint64_t definition_hold(const Definition *definition, NodeId node, bool value) {
        const CommonAttributes *attributes = definition->holds ? find_attributes(definition, node) : NULL;

        return !attributes ? 0 : value ? attributes->true_for : attributes->false_for;
}

bool definition_makes_ready(const Definition *definition, NodeId node) {
        return find_attributes(definition, node)->ready;
}

bool definition_uses_boottime(const Definition *definition, NodeId node) {
        return node == NODE_NONE ? definition->boottime
                                 : find_attributes(definition, node)->clock == ATTRIBUTE_CLOCK_BOOTTIME;
}

static int check_given(const Definition *definition, const char *name, json_object *value, char **ret_error) {
        const ScopeInfo *scope = definition_scope_info(definition, 0);
        const Declaration *input = declaration_find(scope->inputs, name);
        g_autofree char *shown = NULL;
        Nearest nearest = { .word = name };

        if (input)
                return declaration_check(input, value, ret_error);
        if (json_object_object_get_ex(scope->blackboard, name, NULL))
                return 0;

        for (input = scope->inputs; input->name; input++)
                nearest_offer(&nearest, input->name);
        json_object_object_foreach(scope->blackboard, variable, initial) {
                (void) initial;
                nearest_offer(&nearest, variable);
        }

        shown = excerpt(name, strlen(name));
        *ret_error = nearest.best ? g_strdup_printf("no input '%s'; did you mean '%s'?", shown, nearest.best)
                                  : g_strdup_printf("no input '%s'; only variables that the file has in 'inputs' or "
                                                    "'blackboard' can be given",
                                                    shown);
        return -EINVAL;
}

int definition_check_start(const Definition *definition, json_object *variables, char **ret_error) {
        const Declaration *input = definition_scope_info(definition, 0)->inputs;

        if (variables) {
                json_object_object_foreach(variables, name, value) {
                        int r = check_given(definition, name, value, ret_error);

                        if (r < 0)
                                return r;
                }
        }

        for (; input->name; input++)
                if (input->required && !json_object_object_get_ex(variables, input->name, NULL)) {
                        *ret_error = g_strdup_printf("the input '%s' (%s%s%s%s) is missing", input->name,
                                                     variable_type_names[input->type], input->description ? ", \"" : "",
                                                     input->description ?: "", input->description ? "\"" : "");
                        return -ENXIO;
                }

        return 0;
}

static char *no_variable(const Definition *definition, const char *name) {
        g_autofree char *shown = excerpt(name, strlen(name));
        Nearest nearest = { .word = name };

        for (const char *const *variable = definition->loaded.variables; *variable; variable++)
                nearest_offer(&nearest, *variable);

        if (nearest.best)
                return g_strdup_printf("the tree has no variable '%s'; did you mean '%s'?", shown, nearest.best);

        return g_strdup_printf("the tree has no variable '%s'; its variables are those of its 'inputs' and "
                               "'blackboard', and what its nodes set",
                               shown);
}

int definition_check_set(const Definition *definition, json_object *variables, char **ret_error) {
        const Declaration *inputs = definition_scope_info(definition, 0)->inputs;
        const char *const *known = definition->loaded.variables;

        json_object_object_foreach(variables, name, value) {
                const Declaration *input = declaration_find(inputs, name);
                int r = input ? declaration_check(input, value, ret_error) : 0;

                if (r < 0)
                        return r;
                if (input || bsearch(&name, known, g_strv_length((char **) known), sizeof(char *), compare_texts))
                        continue;

                *ret_error = no_variable(definition, name);
                return -EINVAL;
        }

        return 0;
}

unsigned definition_own_variables(const Definition *definition) {
        return definition->loaded.own_variables;
}

#define PARAMS_ARENA_SIZE 512u

/* The first template of the node; NULL: it has none. */
static const Template *find_template(const Definition *definition, NodeId node) {
        const GArray *templates = definition->loaded.templates;
        unsigned low = 0, high = templates->len;

        while (low < high) {
                unsigned middle = low + (high - low) / 2;

                if (g_array_index(templates, Template, middle).node < node)
                        low = middle + 1;
                else
                        high = middle;
        }

        return low < templates->len && g_array_index(templates, Template, low).node == node
                       ? &g_array_index(templates, Template, low)
                       : NULL;
}

static const Template *next_template(const Definition *definition, const Template *template) {
        const GArray *templates = definition->loaded.templates;
        const Template *last = &g_array_index(templates, Template, templates->len - 1);

        return template <last &&template[1].node == template->node ? template + 1 : NULL;
}

#define TEMPLATES_FOREACH(template, definition, of_node)                                                               \
        for (const Template *template = find_template(definition, of_node); template;                                  \
             template = next_template(definition, template))

json_object *definition_template(const Definition *definition, NodeId node, const Param *param) {
        TEMPLATES_FOREACH(template, definition, node)
                if (template->param == param)
                        return template->value;

        return NULL;
}

/* Keeps the first problem only: it is enough to refuse the start of the leaf. */
static void on_param_report(const ParamFinding *finding, void *userdata) {
        g_autofree char *problem = finding->text;
        g_autofree char *prefix = place_format(finding->at_key ? finding->place->parent : finding->place);
        char **error = userdata;

        if (!*error && !finding->trap)
                *error = g_strdup_printf("%s: %s", prefix, problem);
}

/* The sources and the destination of the filled-in values of a node. */
typedef struct Filling {
        const Blackboard *blackboard;
        json_object *noted; /* or NULL */
        Secrets *secrets;   /* NULL: references to secrets stay as they are */
        Arena *arena;
        void *values;
} Filling;

/* Checks that the value of the parameter is consistent with the others, now that all are known. origin: the value as it
 * was written, or NULL. */
static int check_fit(const Filling *filling, const Param *param, json_object *origin, char **ret_error) {
        ParamSetter setter = {
                .arena = filling->arena, .report = on_param_report, .userdata = ret_error, .origin = origin
        };
        Place place = { .key = param->name };
        json_object *value = *(json_object **) ((char *) filling->values + param->offset);

        *ret_error = NULL;
        return param->fits(&setter, &place, value, filling->values);
}

static int fill_in(const Filling *filling, const Template *template, char **ret_error);

/* An error message may quote the value or a part of it. If the value contains a secret, the message is made from the
 * value as it was written in the file instead. Then the field is filled in anew; it is not used any more. check_fits:
 * the error is that the value is not consistent with others. */
static char *describe_without_secret(const Filling *filling, const Template *template, bool check_fits) {
        Filling without_secrets = *filling;
        char *error;

        without_secrets.secrets = NULL;
        if (fill_in(&without_secrets, template, &error) < 0 ||
            (check_fits && check_fit(&without_secrets, template->param, template->value, &error) < 0))
                return error;

        return g_strdup_printf("%s: the secret cannot be used here", template->param->name);
}

static int fill_in(const Filling *filling, const Template *template, char **ret_error) {
        g_autofree char *problem = NULL;
        ParamSetter setter = { .arena = filling->arena, .report = on_param_report, .userdata = &problem };
        const ReferenceValues values = {
                .blackboard = filling->blackboard,
                .noted = filling->noted,
                .secrets = template->param->shown ? NULL : filling->secrets,
                .null_is_text = template->param->shown,
                .no_lists = template->param->kind == PARAM_STRINGS,
        };
        bool spreads = values.no_lists && json_object_is_type(template->value, json_type_array);
        g_autoptr(json_object) spread = NULL;
        json_object *value;
        int r = spreads ? reference_spread(&values, template->value, &spread, &problem) : 0;

        setter.origin = spread ?: template->value;
        r = r < 0 ? r : reference_reveal(&values, setter.origin, &value, &problem);
        if (r < 0) {
                *ret_error = g_strdup_printf("%s: %s", template->param->name, problem);
                return -EINVAL;
        }

        arena_own(filling->arena, value);
        r = param_set(&setter, template->param, filling->values, value);
        if (r < 0)
                *ret_error = filling->secrets && filling->secrets->set
                                     ? describe_without_secret(filling, template, false)
                                     : g_steal_pointer(&problem);

        return r;
}

static int check_fits(const Definition *definition, NodeId node, const Filling *filling, char **ret_error) {
        const NodeType *type = definition->loaded.tree->nodes[node].type;

        for (const Param *param = type->params; param && param->name; param++) {
                json_object *origin = param->fits ? definition_template(definition, node, param) : NULL;
                const Template template = { .node = node, .param = param, .value = origin };
                g_autofree char *error = NULL;

                if (!param->fits || check_fit(filling, param, origin, &error) >= 0)
                        continue;

                *ret_error = filling->secrets && filling->secrets->set && origin
                                     ? describe_without_secret(filling, &template, true)
                                     : g_steal_pointer(&error);
                return -EINVAL;
        }

        return 0;
}

int definition_params_revealed(const Definition *definition, NodeId node, const Blackboard *blackboard,
                               json_object *noted, Secrets *secrets, Params *ret_params, char **ret_error) {
        const Node *n = &definition->loaded.tree->nodes[node];
        Filling filling = { .blackboard = blackboard, .noted = noted, .secrets = secrets };
        g_autoptr(Arena) arena = NULL;

        if (!find_template(definition, node)) {
                *ret_params = (Params){ .values = n->params };
                return 0;
        }

        filling.arena = arena = arena_new(PARAMS_ARENA_SIZE);
        filling.values = arena_alloc(arena, n->type->params_size);
        memcpy(filling.values, n->params, n->type->params_size);

        TEMPLATES_FOREACH(template, definition, node) {
                int r = fill_in(&filling, template, ret_error);

                if (r < 0)
                        return r;
        }

        if (check_fits(definition, node, &filling, ret_error) < 0)
                return -EINVAL;

        *ret_params = (Params){ .values = filling.values, .owned = g_steal_pointer(&arena) };
        return 0;
}

int definition_params(const Definition *definition, NodeId node, const Blackboard *blackboard, Params *ret_params,
                      char **ret_error) {
        return definition_params_revealed(definition, node, blackboard, NULL, NULL, ret_params, ret_error);
}

json_object *definition_note_variables(const Definition *definition, NodeId node, const Blackboard *blackboard) {
        json_object *noted = NULL;

        TEMPLATES_FOREACH(template, definition, node) {
                noted = noted ?: json_object_new_object();
                reference_note(blackboard, template->value, noted);
        }

        return noted;
}

bool definition_is_as_noted(const Definition *definition, NodeId node, const Blackboard *blackboard,
                            json_object *noted) {
        TEMPLATES_FOREACH(template, definition, node)
                if (!reference_is_as_noted(blackboard, template->value, noted))
                        return false;

        return true;
}

char **definition_references(const Definition *definition, NodeId node) {
        GPtrArray *names = NULL;

        TEMPLATES_FOREACH(template, definition, node) {
                names = names ?: g_ptr_array_new();
                reference_add_names(template->value, names);
        }
        if (!names)
                return NULL;

        g_ptr_array_add(names, NULL);
        return (char **) g_ptr_array_free(names, FALSE);
}

void params_clear(Params *params) {
        arena_free(params->owned);
        *params = (Params){};
}

/* ["/bin/echo", "{whom}"] as "/bin/echo {whom}". */
static char *text_of_template(json_object *value) {
        GString *text = g_string_new(NULL);

        if (!json_object_is_type(value, json_type_array)) {
                g_string_assign(text, json_object_get_string(value));
                return g_string_free(text, FALSE);
        }

        for (size_t i = 0; i < json_object_array_length(value); i++)
                g_string_append_printf(text, "%s%s", i > 0 ? " " : "",
                                       json_object_get_string(json_object_array_get_idx(value, i)));
        return g_string_free(text, FALSE);
}

static char *text_of_field(const Param *param, const void *field) {
        switch (param->kind) {
        case PARAM_STRING:
                return g_strdup(*(const char *const *) field);
        case PARAM_STRINGS: {
                char *const *strings = *(char *const *const *) field;

                return strings ? g_strjoinv(" ", (char **) strings) : NULL;
        }
        case PARAM_SPAN:
                return span_format(*(const uint64_t *) field);
        case PARAM_EXPRESSION:
        case PARAM_CODE: {
                const Script *script = *(const Script *const *) field;

                return script ? g_strdup(script_code(script)) : NULL;
        }
        default:
                g_assert_not_reached();
        }
}

char *definition_title(const Definition *definition, NodeId node) {
        const Node *n = &definition_tree(definition)->nodes[node];
        const Param *param = n->type->params;
        g_autofree char *text = NULL;
        json_object *template;

        while (param && param->name && !param->title)
                param++;
        if (!param || !param->name)
                return NULL;

        template = definition_template(definition, node, param);
        text = template ? text_of_template(template) : text_of_field(param, (const char *) n->params + param->offset);
        return text && *text ? excerpt(text, strlen(text)) : NULL;
}
