/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <glib.h>
#include <json-c/linkhash.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "translate.h"

static const char *const decorators[] = {
        "Inverter", "ForceSuccess", "ForceFailure", "Repeat", "RetryUntilSuccessful", "KeepRunningUntilFailure",
        "RunOnce",  "Precondition", "LoopInt",      NULL,
};

static bool is_decorator(json_object *node) {
        const char *type = json_object_get_string(json_object_object_get(node, "type"));

        for (const char *const *decorator = decorators; *decorator; decorator++)
                if (strcmp(*decorator, type) == 0)
                        return true;

        return false;
}

static json_object *translate_node(json_object *node, json_object *blackboard);

static json_object *translate_children(json_object *children, json_object *blackboard) {
        json_object *translated = json_object_new_array();

        for (size_t i = 0; i < json_object_array_length(children); i++)
                json_object_array_add(translated, translate_node(json_object_array_get_idx(children, i), blackboard));

        return translated;
}

/* Stores a list in a new variable. */
static json_object *translate_queue(json_object *queue, json_object *blackboard) {
        char name[32];

        snprintf(name, sizeof(name), "queue-%d", json_object_object_length(blackboard));
        json_object_object_add(blackboard, name, json_object_get(queue));
        return json_object_new_string(name);
}

/* A vector may set variables that no node sets. */
static bool is_variable(const char *key) {
        static const char *const keys[] = { "skip_if", "failure_if", "success_if", "while", "if", "variable", NULL };

        for (const char *const *variable = keys; *variable; variable++)
                if (strcmp(*variable, key) == 0)
                        return true;

        return false;
}

static void translate_key(json_object *translated, json_object *node, const char *key, json_object *value,
                          json_object *blackboard) {
        if (strcmp(key, "children") == 0 && is_decorator(node))
                json_object_object_add(translated, "child",
                                       translate_node(json_object_array_get_idx(value, 0), blackboard));
        else if (strcmp(key, "children") == 0)
                json_object_object_add(translated, key, translate_children(value, blackboard));
        else if (strcmp(key, "queue") == 0) {
                json_object_object_add(translated, key, translate_queue(value, blackboard));
                json_object_object_add(translated, "variable", json_object_new_string("element"));
        } else if (strcmp(key, "else") == 0 || strcmp(key, "if_empty") == 0) {
                g_autofree char *outcome = g_ascii_strdown(json_object_get_string(value), -1);

                json_object_object_add(translated, key, json_object_new_string(outcome));
        } else {
                json_object_object_add(translated, strcmp(key, "failure_if") == 0 ? "fail_if" : key,
                                       json_object_get(value));
                if (is_variable(key))
                        json_object_object_add(blackboard, json_object_get_string(value), NULL);
        }
}

static json_object *translate_node(json_object *node, json_object *blackboard) {
        json_object *translated = json_object_new_object();

        json_object_object_foreach(node, key, value) translate_key(translated, node, key, value, blackboard);

        return translated;
}

json_object *translate_tree(json_object *tree) {
        json_object *file = json_object_new_object(), *blackboard = json_object_new_object();

        json_object_object_add(file, "btd", json_object_new_int(1));
        json_object_object_add(file, "root", translate_node(tree, blackboard));
        json_object_object_add(file, "blackboard", blackboard);
        return file;
}
