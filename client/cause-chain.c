/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The facts come as JSON text; the rest is words and numbers. */

#include <json-c/json_tokener.h>
#include <json-c/linkhash.h>
#include <string.h>

#include "basic/cleanup.h"
#include "cause-chain.h"
#include "node-info.h"

/* How much further each node stands. */
#define INDENT 3

/* The bus is not to be trusted to carry what can be printed as JSON. */
static json_object *parse_facts(const char *text) {
        return json_tokener_parse(text) ?: json_object_new_string(text);
}

/* 1: there was one, 0: no more. */
static int read_field(sd_bus_message *message, json_object *level) {
        const char *key, *contents, *text;
        uint32_t number;
        int r;

        r = sd_bus_message_enter_container(message, 'e', "sv");
        if (r <= 0)
                return r;
        r = sd_bus_message_read(message, "s", &key);
        if (r < 0)
                return r;
        r = sd_bus_message_peek_type(message, NULL, &contents);
        if (r < 0)
                return r;

        if (strcmp(contents, "s") == 0) {
                r = sd_bus_message_read(message, "v", "s", &text);
                if (r >= 0)
                        json_object_object_add(level, key,
                                               strcmp(key, "facts") == 0 ? parse_facts(text)
                                                                         : json_object_new_string(text));
        } else if (strcmp(contents, "u") == 0) {
                r = sd_bus_message_read(message, "v", "u", &number);
                if (r >= 0)
                        json_object_object_add(level, key, json_object_new_uint64(number));
        } else {
                r = sd_bus_message_skip(message, "v");
        }
        if (r < 0)
                return r;

        r = sd_bus_message_exit_container(message);
        return r < 0 ? r : 1;
}

static int read_level(sd_bus_message *message, json_object *chain) {
        g_autoptr(json_object) level = json_object_new_object();
        int r;

        r = sd_bus_message_enter_container(message, 'a', "{sv}");
        if (r <= 0)
                return r;

        while ((r = read_field(message, level)) > 0)
                ;
        if (r < 0)
                return r;

        json_object_array_add(chain, g_steal_pointer(&level));
        r = sd_bus_message_exit_container(message);
        return r < 0 ? r : 1;
}

int cause_chain_get(Client *client, const char *run_path, json_object **ret_chain) {
        g_autoptr(json_object) chain = json_object_new_array();
        g_autoptr(sd_bus_message) reply = NULL;
        int status, r;

        status = client_get(client, run_path, BTD_RUN, "CauseChain", "aa{sv}", &reply);
        if (status != EXIT_SUCCESS)
                return status;

        r = sd_bus_message_enter_container(reply, 'a', "a{sv}");
        if (r < 0)
                return client_bad_message(r);
        while ((r = read_level(reply, chain)) > 0)
                ;
        if (r < 0)
                return client_bad_message(r);

        *ret_chain = g_steal_pointer(&chain);
        return EXIT_SUCCESS;
}

static const char *get_text(json_object *level, const char *key) {
        json_object *value;

        return json_object_object_get_ex(level, key, &value) ? json_object_get_string(value) : "";
}

json_object *cause_chain_facts(json_object *chain) {
        size_t n = json_object_array_length(chain);
        json_object *facts = n > 0 ? json_object_object_get(json_object_array_get_idx(chain, n - 1), "facts") : NULL;

        return json_object_is_type(facts, json_type_object) ? facts : NULL;
}

/* "      Why: ", and nothing but blanks in front of what follows. */
static void append_label(const Output *output, GString *line, const char *label, int columns) {
        output_appendf(output, line, STYLE_BOLD, "%*s%s", columns, label, *label ? ":" : " ");
        g_string_append_c(line, ' ');
}

static void append_node(const Output *output, GString *line, json_object *level, size_t depth) {
        const char *title = get_text(level, "title");

        if (depth > 0)
                output_appendf(output, line, STYLE_PLAIN, "%*s%s", (int) (INDENT * (depth - 1)), "",
                               output->ascii ? "`- " : "└─ ");
        node_info_append_label(output, line, get_text(level, "name"), get_text(level, "type"), *title ? title : NULL);
        output_appendf(output, line, STYLE_PLAIN, ": %s", get_text(level, "text"));
}

/* A single node has nothing to say that the cause of the run does not. */
static void append_nodes(const Output *output, GString *text, json_object *chain, int columns) {
        size_t n = json_object_array_length(chain);
        g_autoptr(GString) line = g_string_new(NULL);

        for (size_t i = 1; n > 2 && i < n; i++) {
                append_label(output, line, i == 1 ? "Why" : "", columns);
                append_node(output, line, json_object_array_get_idx(chain, i), i - 1);
                output_end_line(output, text, line);
        }
}

/* Those that are for programs only are in --json. */
static bool is_for_people(const char *name) {
        return !g_str_has_suffix(name, "_usec") && !g_str_has_suffix(name, "_id");
}

static void append_facts(const Output *output, GString *text, json_object *facts, int columns) {
        g_autoptr(GString) line = g_string_new(NULL);
        const char *label = "Facts";

        json_object_object_foreach(facts, name, value) {
                g_autofree char *words = g_strdelimit(g_strdup(name), "_", ' ');

                if (!is_for_people(name))
                        continue;

                append_label(output, line, label, columns);
                label = "";
                output_appendf(output, line, STYLE_DIM, "%s: ", words);
                output_append(output, line, STYLE_PLAIN,
                              json_object_is_type(value, json_type_string)
                                      ? json_object_get_string(value)
                                      : json_object_to_json_string_ext(value, JSON_C_TO_STRING_NOSLASHESCAPE));
                output_end_line(output, text, line);
        }
}

void cause_chain_append(const Output *output, GString *text, json_object *chain, int label_columns) {
        json_object *facts = cause_chain_facts(chain);

        append_nodes(output, text, chain, label_columns);
        if (facts)
                append_facts(output, text, facts, label_columns);
}
