/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* btctl get and set; and the variables that are given on the command line as KEY=JSON, for start, run and simulate. */

#include <errno.h>
#include <json-c/linkhash.h>
#include <stdio.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/dbus-value.h"
#include "basic/json-parse.h"
#include "client/bus/target.h"
#include "client/recording/recording.h"
#include "client/verbs/variables.h"
#include "client/verbs/verbs.h"
#include "client/view/report.h"
#include "client/view/text.h"
#include "record/record-header.h"
#include "script/blackboard.h"

static int check_value(const char *option, const char *key, const char *text) {
        g_autoptr(json_object) value = NULL;
        g_autofree char *number = NULL;
        int r = json_parse(text, strlen(text), JSON_NESTING_MAX, &value, &number);

        if (r == 0)
                return EXIT_SUCCESS;
        if (r == -ERANGE)
                return report_usage("%s%s: the number %s is neither a 64-bit integer nor a finite double", option, key,
                                    number);
        if (r == -E2BIG)
                return report_usage("%s%s: the value is %s", option, key, JSON_TOO_DEEP);

        /* Give an example only for a plain word. */
        if (*text && !strpbrk(text, "{}[]\"'\\"))
                return report_usage("%s%s: '%s' is not JSON; write a string as: %s%s='\"%s\"'", option, key, text,
                                    option, key, text);

        return report_usage("%s%s: '%s' is not JSON", option, key, text);
}

int variables_check(const char *option, const GPtrArray *sets) {
        g_autoptr(GHashTable) keys = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

        for (guint i = 0; i < sets->len; i++) {
                const char *set = g_ptr_array_index(sets, i), *equals = strchr(set, '=');
                g_autofree char *key = NULL;
                int status;

                if (!equals)
                        return report_usage("%s%s: the value is missing; give %sKEY=JSON", option, set, option);

                key = g_strndup(set, equals - set);
                if (strlen(key) > BLACKBOARD_KEY_MAX)
                        return report_usage("%s%.*s...: the name of a variable has %u characters at "
                                            "most",
                                            option, 20, key, BLACKBOARD_KEY_MAX);
                if (!blackboard_key_valid(key))
                        return report_usage("%s%s: '%s' cannot be the name of a variable (a letter or '_', then "
                                            "letters, digits, '_' and '-')",
                                            option, set, key);

                status = check_value(option, key, equals + 1);
                if (status != EXIT_SUCCESS)
                        return status;

                if (!g_hash_table_add(keys, g_strdup(key)))
                        return report_usage("%s%s: it is set twice", option, key);
        }

        return EXIT_SUCCESS;
}

int variables_read_given(Client *client, const char *id, GPtrArray *sets) {
        g_autoptr(GByteArray) text = g_byte_array_new();
        g_auto(RecordHeader) header = {};
        g_autofree char *error = NULL;
        const char *end = NULL;
        size_t part = 0, length;
        uint32_t checksum;

        do {
                int status = recording_read_part(client, id, NULL, text, &part);

                if (status != EXIT_SUCCESS)
                        return status;
                if (part > 0)
                        end = memchr(text->data + text->len - part, '\n', part);
        } while (part > 0 && !end);

        length = end ? (size_t) (end - (const char *) text->data) : text->len;
        if (record_header_parse((const char *) text->data, length, &header, &checksum, &error) < 0)
                return report_error("the inputs of %s cannot be read: %s", id, error);

        json_object_object_foreach(header.variables, name, value) {
                const char *json =
                        json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);

                g_ptr_array_add(sets, g_strconcat(name, "=", json, NULL));
        }
        return EXIT_SUCCESS;
}

json_object *variables_to_json(const GPtrArray *sets) {
        json_object *variables = json_object_new_object();

        for (guint i = 0; i < sets->len; i++) {
                g_auto(GStrv) parts = g_strsplit(g_ptr_array_index(sets, i), "=", 2);
                g_autofree char *number = NULL;
                json_object *value = NULL;

                if (json_parse(parts[1], strlen(parts[1]), JSON_NESTING_MAX, &value, &number) == 0)
                        json_object_object_add(variables, parts[0], value);
        }

        return variables;
}

/* The values are passed on as JSON text, which btd takes as "(s)". */
int variables_append(sd_bus_message *message, const GPtrArray *sets) {
        int r;

        r = sd_bus_message_open_container(message, SD_BUS_TYPE_ARRAY, "{sv}");
        if (r < 0)
                return r;

        for (guint i = 0; i < sets->len; i++) {
                g_auto(GStrv) parts = g_strsplit(g_ptr_array_index(sets, i), "=", 2);

                r = sd_bus_message_append(message, "{sv}", parts[0], "(s)", parts[1]);
                if (r < 0)
                        return r;
        }

        return sd_bus_message_close_container(message);
}

static char *value_text(json_object *value) {
        return text_escape_json(
                json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
}

/* btctl get: prints KEY=JSON, as --set and 'btctl set' take it, or the value of one variable. */
static int get_one(Client *client, const RunInfo *run, const char *key) {
        g_autofree char *error = NULL, *text = NULL;
        g_autoptr(sd_bus_message) reply = NULL;
        g_autoptr(json_object) value = NULL;
        int status, r;

        status = client_call(client, &reply, run->path, BTD_RUN, "GetVariable", "s", key);
        if (status != EXIT_SUCCESS)
                return status;

        r = value_read_variable(reply, NULL, &value, &error);
        if (r < 0)
                return client_bad_message(r);

        text = value_text(value);
        puts(text);
        return EXIT_SUCCESS;
}

/* Takes the object. */
static void print_all(const Client *client, json_object *variables) {
        g_autoptr(json_object) all = variables;

        if (client->output.json) {
                output_print_json(g_steal_pointer(&all));
                return;
        }
        json_object_object_foreach(all, key, value) {
                g_autofree char *text = value_text(value);

                printf("%s=%s\n", key, text);
        }
}

int variables_print(Client *client, sd_bus_message *reply) {
        g_autofree char *error = NULL;
        json_object *all;
        int r = value_read_variable(reply, NULL, &all, &error);

        if (r < 0)
                return client_bad_message(r);

        print_all(client, all);
        return EXIT_SUCCESS;
}

/* Prints the variables that a run had at its end, if only the history has the run. */
static int get_past(Client *client, const char *operand, const char *key) {
        g_autoptr(json_object) all = NULL;
        g_autoptr(Recording) recording = NULL;
        g_autoptr(Replay) replay = NULL;
        g_autofree char *error = NULL, *text = NULL;
        json_object *value;
        int status = recording_open(client, operand, &recording);

        if (status != EXIT_SUCCESS)
                return status;
        if (replay_new(recording->record, recording->definition, &replay, &error) < 0 ||
            replay_until(replay, UINT64_MAX, &error) < 0)
                return report_error("%s: %s", recording->name, error);

        all = blackboard_to_json(run_blackboard(replay_run(replay)));
        if (!key) {
                print_all(client, g_steal_pointer(&all));
        } else if (json_object_object_get_ex(all, key, &value)) {
                text = value_text(value);
                puts(text);
        } else {
                return report_error("%s has no variable '%s'", recording->record->header.run, key);
        }
        return recording_report_damage(recording);
}

int verb_get(Client *client, char **operands) {
        g_autoptr(sd_bus_message) reply = NULL;
        g_autoptr(RecordFiles) files = NULL;
        g_autoptr(GPtrArray) runs = NULL;
        const RunInfo *run = NULL;
        int status = record_files_find(client, &files);

        if (status == EXIT_SUCCESS && !files)
                status = run_info_list(client, &runs);
        if (status != EXIT_SUCCESS)
                return status;

        if (runs)
                run = target_choose_run(runs, operands[0]);
        if (!run)
                return get_past(client, operands[0], operands[1]);
        if (operands[1])
                return get_one(client, run, operands[1]);

        status = client_call(client, &reply, run->path, BTD_RUN, "GetVariables", NULL);
        return status != EXIT_SUCCESS ? status : variables_print(client, reply);
}

/* btctl set: sets several variables at once. */
int verb_set(Client *client, char **operands) {
        g_autoptr(GPtrArray) sets = g_ptr_array_new();
        g_autoptr(sd_bus_message) call = NULL;
        g_autoptr(RunInfo) run = NULL;
        int status, r;

        for (char **set = operands + 1; *set; set++)
                g_ptr_array_add(sets, *set);

        status = variables_check("", sets);
        if (status == EXIT_SUCCESS)
                status = target_find_running(client, operands[0], &run);
        if (status == EXIT_SUCCESS)
                status = client_message(client, run->path, BTD_RUN, "SetVariables", &call);
        if (status != EXIT_SUCCESS)
                return status;

        r = variables_append(call, sets);
        return r < 0 ? client_bad_message(r) : client_send(client, call, NULL);
}
