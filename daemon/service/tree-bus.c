/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Implements the interface org.btd1.Tree: the contents and state of a tree file, starting and halting its runs. */

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/excerpt.h"
#include "basic/foreach.h"
#include "script/blackboard.h"
#include "service/arguments.h"
#include "service/errors.h"
#include "service/object-path.h"
#include "service/property.h"
#include "service/tree-bus.h"
#include "service/variables-bus.h"

/* index, parent, type, name, details */
/* The least that a node takes in a message. */
#define NODE_SIZE_MIN 48u
#define IN_PARTS "GetNodesFrom"

/* Bytes of a part of the text, about. Copying them takes some hundred microseconds. */
#define TEXT_PART_SIZE (UINT64_C(1) << 20)

/* Limits of the properties: a signal has all properties of an object. The text of the tree has the rest. */
#define DESCRIPTION_MAX 4096u
#define DECLARATIONS_MAX 1000u
#define RESTARTS_MAX 1000u

/* NULL: there is no such tree. */
static const LibraryEntry *find_tree(void *userdata, const char *path) {
        g_autofree char *name = NULL;

        if (sd_bus_path_decode(path, TREE_PREFIX, &name) <= 0)
                return NULL;

        return manager_tree(published_manager(userdata), name);
}

/* For properties and methods, which sd-bus calls only if tree_bus_find() has found the tree. */
static const LibraryEntry *tree_at(void *userdata, const char *path) {
        const LibraryEntry *entry = find_tree(userdata, path);

        g_assert(entry);
        return entry;
}

int tree_bus_find(sd_bus *bus, const char *path, const char *interface, void *userdata, void **ret_found,
                  sd_bus_error *ret_error) {
        if (!find_tree(userdata, path))
                return 0;

        *ret_found = userdata;
        return 1;
}

int tree_bus_enumerate(sd_bus *bus, const char *prefix, void *userdata, char ***ret_paths, sd_bus_error *ret_error) {
        g_autoptr(GPtrArray) entries = library_list(published_manager(userdata)->library);
        char **paths = g_new0(char *, entries->len + 1);

        for (unsigned i = 0; i < entries->len; i++)
                paths[i] = object_path_of_tree(((const LibraryEntry *) g_ptr_array_index(entries, i))->name);

        *ret_paths = paths;
        return 0;
}

const char *tree_bus_state(const LibraryEntry *entry) {
        if (diagnostics_count_errors(entry->diagnostics) == 0)
                return "ok";

        return entry->definition ? "broken" : "failed";
}

int tree_bus_reply_started(sd_bus_message *message, const RunSummary *outcome, bool begun) {
        g_autofree char *path = object_path_of_run(outcome->run);

        return sd_bus_reply_method_return(message, "soa{sv}", outcome->run, path, 3, "started", "b", (int) begun,
                                          "token", "s", outcome->token, "status", "s", outcome->status);
}

static int replace(sd_bus_message *message, const Caller *who, void *userdata, sd_bus_error *ret_error);

/* The run of the tree and instance that is running, and not being halted. */
static bool runs_already(const Published *published, const TreeStart *start) {
        const GPtrArray *runs = runs_list(published_manager(published)->runs);

        PTRS_FOREACH(const Run, run, runs)
                if (run_status(run) == STATUS_RUNNING && !run_halting(run) && g_str_equal(run_tree(run), start->tree) &&
                    g_str_equal(run_instance(run), start->instance))
                        return true;

        return false;
}

/* may_halt: the caller also has the permission to halt the tree. */
static int start_as(const Published *published, sd_bus_message *message, const char *name, bool may_halt,
                    const Caller *who, sd_bus_error *ret_error) {
        TreeStart start = { .tree = name, .instance = "" };
        int attach = false, wait = false, replaces = false;
        const CallOption options[] = {
                { "instance", "s", &start.instance }, { "token", "s", &start.token }, { "attach", "b", &attach },
                { "replace", "b", &replaces },        { "awaited", "b", &wait },      {},
        };
        g_autoptr(json_object) variables = NULL;
        g_auto(RunSummary) outcome = {};
        g_autofree char *error = NULL;
        bool begun;
        int r;

        r = variables_bus_read(message, &published_manager(published)->limits, &variables, ret_error);
        if (r >= 0)
                r = arguments_read_options(message, options, ret_error);
        if (r < 0)
                return r;

        start.variables = variables;
        if (attach && replaces)
                return sd_bus_error_set(ret_error, ERROR_INVALID_ARGUMENT,
                                        "'attach' and 'replace' exclude each other; give one of them");
        if (replaces && !may_halt && runs_already(published, &start))
                return published_authorize(published, message, (Request){ PERMISSION_HALT, .tree = g_strdup(name) },
                                           replace, ret_error);

        start.attach = attach;
        start.replace = replaces;
        start.wait = wait;
        r = manager_start_tree(published_manager(published), &start, who, &begun, &outcome, &error);
        return r < 0 ? error_from_manager(ret_error, r, error) : tree_bus_reply_started(message, &outcome, begun);
}

int tree_bus_start(const Published *published, sd_bus_message *message, const char *name, const Caller *who,
                   sd_bus_error *ret_error) {
        return start_as(published, message, name, false, who, ret_error);
}

/* The caller may start the tree and force outcomes in it, because nobody checks that the nodes have succeeded. */
static int retry(sd_bus_message *message, const Caller *who, void *userdata, sd_bus_error *ret_error) {
        const Limits *limits = &published_manager(userdata)->limits;
        RunTaken taken = {};
        TreeStart start = { .instance = "", .taken = &taken };
        const CallOption options[] = { { "instance", "s", &start.instance }, { "token", "s", &start.token }, {} };
        g_autoptr(json_object) variables = NULL, state = NULL;
        g_autoptr(GArray) nodes = g_array_new(FALSE, FALSE, sizeof(NodeId));
        g_auto(RunSummary) outcome = {};
        g_autofree char *error = NULL;
        const void *ids;
        size_t size;
        bool begun;
        int r;

        (void) sd_bus_message_rewind(message, true);
        r = sd_bus_message_read(message, "s", &start.tree);
        if (r >= 0)
                r = variables_bus_read(message, limits, &variables, ret_error);
        if (r >= 0)
                r = sd_bus_message_read(message, "ss", &taken.run, &taken.hash);
        if (r >= 0)
                r = sd_bus_message_read_array(message, 'u', &ids, &size);
        if (r >= 0)
                r = variables_bus_read(message, limits, &state, ret_error);
        if (r >= 0)
                r = arguments_read_options(message, options, ret_error);
        if (r < 0)
                return r;

        g_array_append_vals(nodes, ids, (guint) (size / sizeof(NodeId)));
        start.variables = variables;
        taken.nodes = nodes;
        taken.variables = state;
        r = manager_start_tree(published_manager(userdata), &start, who, &begun, &outcome, &error);
        return r < 0 ? error_from_manager(ret_error, r, error) : tree_bus_reply_started(message, &outcome, begun);
}

int tree_bus_retry(const Published *published, sd_bus_message *message, const char *name, sd_bus_error *ret_error) {
        return published_authorize(published, message, (Request){ PERMISSION_FORCE, .tree = g_strdup(name) }, retry,
                                   ret_error);
}

int tree_bus_halt(const Published *published, sd_bus_message *message, const char *name, const Caller *who,
                  sd_bus_error *ret_error) {
        TreeHalt halt = { .tree = name };
        int wait = false;
        const CallOption options[] = {
                { "instance", "s", &halt.instance },
                { "token", "s", &halt.token },
                { "awaited", "b", &wait },
                {},
        };
        g_autoptr(sd_bus_message) reply = NULL;
        g_autoptr(GPtrArray) halted = NULL;
        g_autofree char *error = NULL;
        unsigned cancelled;
        int r;

        r = arguments_read_options(message, options, ret_error);
        if (r < 0)
                return r;
        halt.wait = wait;
        r = manager_halt_tree(published_manager(published), &halt, who, &halted, &cancelled, &error);
        if (r < 0)
                return error_from_manager(ret_error, r, error);

        g_ptr_array_add(halted, NULL);
        r = sd_bus_message_new_method_return(message, &reply);
        if (r >= 0)
                r = sd_bus_message_append_strv(reply, (char **) halted->pdata);
        if (r >= 0)
                r = sd_bus_message_append(reply, "u", cancelled);
        return r < 0 ? r : sd_bus_message_send(reply);
}

/* The tree may have been removed since the call was made. */
static int name_of(sd_bus_message *message, char **ret_name) {
        int r = sd_bus_path_decode(sd_bus_message_get_path(message), TREE_PREFIX, ret_name);

        return r > 0 ? 0 : -ENOENT;
}

static int start(sd_bus_message *message, const Caller *who, void *userdata, sd_bus_error *ret_error) {
        g_autofree char *name = NULL;
        int r = name_of(message, &name);

        return r < 0 ? r : tree_bus_start(userdata, message, name, who, ret_error);
}

/* A start that halts, too, by the method of the tree or of the manager. */
static int replace(sd_bus_message *message, const Caller *who, void *userdata, sd_bus_error *ret_error) {
        g_autofree char *own = NULL;
        const char *name;
        int r;

        (void) sd_bus_message_rewind(message, true);
        if (g_str_equal(sd_bus_message_get_path(message), SERVICE_PATH)) {
                r = sd_bus_message_read(message, "s", &name);
        } else {
                r = name_of(message, &own);
                name = own;
        }
        return r < 0 ? r : start_as(userdata, message, name, true, who, ret_error);
}

static int halt(sd_bus_message *message, const Caller *who, void *userdata, sd_bus_error *ret_error) {
        g_autofree char *name = NULL;
        int r = name_of(message, &name);

        return r < 0 ? r : tree_bus_halt(userdata, message, name, who, ret_error);
}

static int method_change(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        static const Change changes[] = {
                { "Start", PERMISSION_START, start },
                { "Halt", PERMISSION_HALT, halt },
                {},
        };
        const Change *change = change_of(changes, message);
        Request request = { change->permission };
        int r = name_of(message, &request.tree);

        return r < 0 ? r : published_authorize(userdata, message, request, change->run, ret_error);
}

/* The tree may have gone since the call was made. */
static int begin(Answer *answer, sd_bus_error *ret_error) {
        g_autofree char *name = NULL, *error = NULL;
        const LibraryEntry *entry;
        int r = name_of(answer->question, &name);

        if (r < 0)
                return r;
        r = manager_find_tree(published_manager(answer->userdata), name, &entry, &error);
        if (r < 0)
                return error_from_manager(ret_error, r, error);
        if (!entry->definition)
                return sd_bus_error_setf(ret_error, ERROR_TREE_BROKEN, "tree '%s' has errors; correct %s, then reload",
                                         entry->name, entry->path);

        answer->definition = definition_ref(entry->definition);
        return 0;
}

/* A tree that this one uses has its own. */
static bool is_own_dropin(const Definition *definition, size_t i) {
        return definition_file(definition, 0) &&
               g_strcmp0(definition_file_extends(definition, i), definition_file(definition, 0)) == 0;
}

/* One of a tree that this one uses belongs to both. */
static bool is_lua(const Definition *definition, size_t i) {
        return g_str_has_suffix(definition_file(definition, i), LUA_SUFFIX);
}

static int append_text(Answer *answer, sd_bus_error *ret_error) {
        const char *text = definition_text(answer->definition);

        return answer_append_text(answer, text, strlen(text));
}

ANSWER_METHOD(get_text, .instead = "GetTextFrom", .begin = begin, .append = append_text)

static bool continues_character(char c) {
        return ((unsigned char) c & 0xc0) == 0x80;
}

/* A part has whole characters. */
static int append_text_from(Answer *answer, sd_bus_error *ret_error) {
        const char *text = definition_text(answer->definition);
        size_t length = strlen(text), end;
        g_autofree char *part = NULL;
        uint64_t offset;
        int r = sd_bus_message_read(answer->question, "t", &offset);

        if (r < 0)
                return r;
        if (offset > length || continues_character(text[offset]))
                return sd_bus_error_setf(ret_error, ERROR_INVALID_ARGUMENT,
                                         "no part of the text begins at %" PRIu64
                                         "; give 0, then the sum of the lengths of the parts before",
                                         offset);

        end = MIN(length, offset + TEXT_PART_SIZE);
        while (continues_character(text[end]))
                end--;
        part = g_strndup(text + offset, end - offset);
        answer->size += end - offset;
        return MIN(sd_bus_message_append(answer->reply, "s", part), 0);
}

ANSWER_METHOD(get_text_from, .begin = begin, .append = append_text_from)

/* Called again for each part of the text. */
static int append_file(Answer *answer, sd_bus_error *ret_error) {
        const Definition *definition = answer->definition;
        const char *path;
        int r = sd_bus_message_rewind(answer->question, true);

        if (r >= 0)
                r = sd_bus_message_read(answer->question, "s", &path);
        if (r < 0)
                return r;

        for (size_t i = 1; i < definition_n_files(definition); i++)
                if ((is_own_dropin(definition, i) || is_lua(definition, i)) &&
                    g_str_equal(definition_file(definition, i), path))
                        return answer_append_text(answer, definition_file_text(definition, i),
                                                  strlen(definition_file_text(definition, i)));

        return sd_bus_error_set(ret_error, ERROR_INVALID_ARGUMENT,
                                "the tree has no such file; its properties DropInPaths and LuaPaths list them");
}

ANSWER_METHOD(get_file, .instead = "LuaPaths", .begin = begin, .append = append_file)

static int append_node(Answer *answer, sd_bus_error *ret_error) {
        const Tree *tree = definition_tree(answer->definition);
        NodeId node = (NodeId) answer->next;
        g_autofree char *title = NULL;
        int r;

        if (node >= tree->n_nodes)
                return 0;

        answer->next++;
        title = definition_title(answer->definition, node);
        answer->size += NODE_SIZE_MIN + strlen(tree->nodes[node].type->name) + strlen(tree_node_name(tree, node)) +
                        answer_text_size(title);
        r = sd_bus_message_append(answer->reply, TREE_NODE_SIGNATURE, node, tree->nodes[node].parent,
                                  tree->nodes[node].type->name, tree_node_name(tree, node), title ? 1 : 0, "title", "s",
                                  title);
        return r < 0 ? r : 1;
}

static int begin_nodes(Answer *answer, sd_bus_error *ret_error) {
        int r = begin(answer, ret_error);

        if (r >= 0 && definition_tree(answer->definition)->n_nodes > ANSWER_SIZE_MAX / NODE_SIZE_MIN)
                r = answer_refuse_size(answer, IN_PARTS, ret_error);
        return r;
}

ANSWER_METHOD(get_nodes, .array = TREE_NODE_SIGNATURE, .instead = IN_PARTS, .begin = begin_nodes, .append = append_node)

ANSWER_METHOD(get_nodes_from, .array = TREE_NODE_SIGNATURE, .in_parts = true, .begin = begin, .append = append_node)

#define TREE_PROPERTY(name, type, value)                                                                               \
        PROPERTY_GET(name, type, const LibraryEntry *entry = tree_at(userdata, path), value)
/* absent: the value if the tree has no definition. */
#define DEFINITION_PROPERTY(name, type, value, absent)                                                                 \
        PROPERTY_GET(name, type, const Definition *definition = tree_at(userdata, path)->definition,                   \
                     definition ? value : absent)

TREE_PROPERTY(name, "s", entry->name)
TREE_PROPERTY(source_path, "s", entry->path)
TREE_PROPERTY(state, "s", tree_bus_state(entry))
TREE_PROPERTY(need_reload, "b", (int) library_needs_reload(published_manager(userdata)->library, entry))
DEFINITION_PROPERTY(hash, "s", definition_hash(definition), NULL)
DEFINITION_PROPERTY(autostart, "b", (int) definition_header(definition)->autostart, 0)
DEFINITION_PROPERTY(node_count, "u", definition_tree(definition)->n_nodes, 0)

static int append_paths(sd_bus_message *reply, const Definition *definition,
                        bool (*is_one)(const Definition *definition, size_t i)) {
        int r = sd_bus_message_open_container(reply, 'a', "s");

        for (size_t i = 1; r >= 0 && definition && i < definition_n_files(definition); i++)
                if (is_one(definition, i))
                        r = sd_bus_message_append(reply, "s", definition_file(definition, i));

        return r < 0 ? r : sd_bus_message_close_container(reply);
}

PROPERTY_GETTER(dropin_paths) {
        return append_paths(reply, tree_at(userdata, path)->definition, is_own_dropin);
}

PROPERTY_GETTER(lua_paths) {
        return append_paths(reply, tree_at(userdata, path)->definition, is_lua);
}

PROPERTY_GETTER(description) {
        const Definition *definition = tree_at(userdata, path)->definition;
        g_autofree char *text =
                text_cut(definition ? definition_header(definition)->description ?: "" : "", DESCRIPTION_MAX);

        return sd_bus_message_append(reply, "s", text);
}

PROPERTY_GETTER(diagnostics) {
        const Diagnostics *diagnostics = tree_at(userdata, path)->diagnostics;
        int r = sd_bus_message_open_container(reply, 'a', "s");

        for (size_t i = 0; r >= 0 && i < diagnostics_count(diagnostics); i++) {
                g_autofree char *text = diagnostics_format(diagnostics, i);

                r = sd_bus_message_append(reply, "s", text);
        }

        return r < 0 ? r : sd_bus_message_close_container(reply);
}

static int append_input(sd_bus_message *message, const Declaration *input) {
        bool is_long = !input->required && blackboard_bytes_of(input->fallback) > VALUE_MAX;
        g_autofree char *shown = is_long ? variables_bus_shorten(input->fallback) : NULL;
        int r = sd_bus_message_append(message, "{sv}", "required", "b", (int) input->required);

        if (r >= 0 && is_long)
                r = sd_bus_message_append(message, "{sv}", "long_default", "s", shown);
        else if (r >= 0 && !input->required)
                r = variables_bus_append_entry(message, "default", input->fallback);
        if (r >= 0 && input->kept)
                r = sd_bus_message_append(message, "{sv}", "kept", "b", 1);
        if (r >= 0 && input->secret)
                r = sd_bus_message_append(message, "{sv}", "secret", "b", 1);
        return r;
}

static int append_declarations(sd_bus_message *reply, const Declaration *declaration,
                               int (*append)(sd_bus_message *message, const Declaration *declaration)) {
        int r = sd_bus_message_open_container(reply, 'a', "a{sv}");

        for (unsigned i = 0; r >= 0 && declaration && declaration->name && i < DECLARATIONS_MAX; i++, declaration++) {
                r = sd_bus_message_open_container(reply, 'a', "{sv}");
                if (r >= 0)
                        r = sd_bus_message_append(reply, "{sv}{sv}", "name", "s", declaration->name, "type", "s",
                                                  variable_type_names[declaration->type]);
                if (r >= 0 && append)
                        r = append(reply, declaration);
                if (r >= 0 && declaration->description) {
                        g_autofree char *text = text_cut(declaration->description, DESCRIPTION_MAX);

                        r = sd_bus_message_append(reply, "{sv}", "description", "s", text);
                }
                if (r >= 0)
                        r = sd_bus_message_close_container(reply);
        }

        return r < 0 ? r : sd_bus_message_close_container(reply);
}

PROPERTY_GETTER(inputs) {
        const Definition *definition = tree_at(userdata, path)->definition;

        return append_declarations(reply, definition ? definition_scope_info(definition, 0)->inputs : NULL,
                                   append_input);
}

PROPERTY_GETTER(outputs) {
        const Definition *definition = tree_at(userdata, path)->definition;

        return append_declarations(reply, definition ? definition_scope_info(definition, 0)->outputs : NULL, NULL);
}

PROPERTY_GETTER(waiting) {
        g_autofree char *text = manager_describe_waiting(published_manager(userdata), tree_at(userdata, path)->name);

        return sd_bus_message_append(reply, "s", text);
}

PROPERTY_GETTER(restarts) {
        g_autoptr(GArray) pending =
                restarts_of_tree(published_manager(userdata)->restarts, tree_at(userdata, path)->name);
        int r = sd_bus_message_open_container(reply, 'a', "a{sv}");

        for (unsigned i = 0; r >= 0 && i < MIN(pending->len, RESTARTS_MAX); i++) {
                const PendingRestart *restart = &g_array_index(pending, PendingRestart, i);

                r = sd_bus_message_append(reply, "a{sv}", restart->waits_for ? 5 : 4, "run", "s", restart->run,
                                          "instance", "s", restart->instance, "token", "s", restart->token,
                                          "due_monotonic", "t", restart->due, "waits_for", "s", restart->waits_for);
        }

        return r < 0 ? r : sd_bus_message_close_container(reply);
}

PROPERTY_GETTER(runs) {
        const GPtrArray *runs = runs_list(published_manager(userdata)->runs);
        const char *name = tree_at(userdata, path)->name;
        int r = sd_bus_message_open_container(reply, 'a', "o");

        for (unsigned i = 0; r >= 0 && i < runs->len; i++) {
                const Run *run = g_ptr_array_index(runs, i);
                g_autofree char *run_path = NULL;

                if (!g_str_equal(run_tree(run), name))
                        continue;

                run_path = object_path_of_run(run_id(run));
                r = sd_bus_message_append(reply, "o", run_path);
        }

        return r < 0 ? r : sd_bus_message_close_container(reply);
}

PROPERTY_GETTER(n_running) {
        const GPtrArray *runs = runs_list(published_manager(userdata)->runs);
        const char *name = tree_at(userdata, path)->name;
        unsigned n = 0;

        PTRS_FOREACH(const Run, run, runs)
                n += run_status(run) == STATUS_RUNNING && g_str_equal(run_tree(run), name);

        return sd_bus_message_append(reply, "u", n);
}

/* ListTrees has its own list: append_tree() in manager-bus.c. */
static const Property properties[] = {
        { "Name", "s", property_get_name, CHANGES_NEVER },
        { "Description", "s", property_get_description, ON_TREE_CHANGED },
        { "SourcePath", "s", property_get_source_path, ON_TREE_CHANGED },
        { "DropInPaths", "as", property_get_dropin_paths, ON_TREE_CHANGED },
        { "LuaPaths", "as", property_get_lua_paths, ON_TREE_CHANGED },
        { "Hash", "s", property_get_hash, ON_TREE_CHANGED },
        { "Autostart", "b", property_get_autostart, ON_TREE_CHANGED },
        { "NodeCount", "u", property_get_node_count, ON_TREE_CHANGED },
        { "Inputs", "aa{sv}", property_get_inputs, ON_TREE_CHANGED },
        { "Outputs", "aa{sv}", property_get_outputs, ON_TREE_CHANGED },
        { "State", "s", property_get_state, ON_TREE_CHANGED },
        { "NeedReload", "b", property_get_need_reload, CHANGES_SILENTLY },
        { "Diagnostics", "as", property_get_diagnostics, ON_TREE_CHANGED },
        { "Waiting", "s", property_get_waiting, ON_WAITING | ON_RUN_REMOVED },
        { "Restarts", "aa{sv}", property_get_restarts, ON_WAITING | ON_RUN_FINISHED },
        { "Runs", "ao", property_get_runs, ON_RUN_ADDED | ON_RUN_REMOVED },
        { "NRunning", "u", property_get_n_running, ON_RUN_ADDED | ON_RUN_FINISHED },
        {},
};

static const sd_bus_vtable methods[] = {
        SD_BUS_VTABLE_START(0),

        SD_BUS_METHOD_WITH_ARGS("Start", SD_BUS_ARGS("a{sv}", variables, "a{sv}", options),
                                SD_BUS_RESULT("s", id, "o", run, "a{sv}", details), method_change,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("Halt", SD_BUS_ARGS("a{sv}", options), SD_BUS_RESULT("as", halted, "u", cancelled),
                                method_change, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("GetText", SD_BUS_NO_ARGS, SD_BUS_RESULT("s", text), method_get_text,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("GetTextFrom", SD_BUS_ARGS("t", offset), SD_BUS_RESULT("s", part), method_get_text_from,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("GetFile", SD_BUS_ARGS("s", path), SD_BUS_RESULT("s", text), method_get_file,
                                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("GetNodes", SD_BUS_NO_ARGS, SD_BUS_RESULT("a" TREE_NODE_SIGNATURE, nodes),
                                method_get_nodes, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("GetNodesFrom", SD_BUS_ARGS("u", first), SD_BUS_RESULT("a" TREE_NODE_SIGNATURE, nodes),
                                method_get_nodes_from, SD_BUS_VTABLE_UNPRIVILEGED),

        SD_BUS_VTABLE_END,
};

const ObjectKind tree_kind = {
        .interface = TREE_INTERFACE,
        .properties = properties,
        .methods = methods,
};
