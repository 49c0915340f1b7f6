/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* btctl users: what each user uses of what all share. */

#include <inttypes.h>
#include <string.h>

#include "basic/cleanup.h"
#include "client/verbs/verbs.h"
#include "client/view/style.h"

/* Reads a variant with a dictionary of numbers. */
static int read_numbers(sd_bus_message *reply, json_object *numbers) {
        const char *key;
        uint64_t value;
        int r = sd_bus_message_enter_container(reply, 'v', "a{st}");

        if (r >= 0)
                r = sd_bus_message_enter_container(reply, 'a', "{st}");
        while (r >= 0 && (r = sd_bus_message_read(reply, "{st}", &key, &value)) > 0)
                json_object_object_add(numbers, key, json_object_new_uint64(value));
        if (r >= 0)
                r = sd_bus_message_exit_container(reply);
        return r < 0 ? r : sd_bus_message_exit_container(reply);
}

/* 1: there may be more, 0: there are no more. */
static int read_user(sd_bus_message *reply, json_object *users) {
        json_object *user, *numbers;
        const char *key;
        int r = sd_bus_message_enter_container(reply, 'a', "{sv}");

        if (r <= 0)
                return r;

        user = json_object_new_object();
        json_object_array_add(users, user);
        while (r >= 0 && (r = sd_bus_message_enter_container(reply, 'e', "sv")) > 0) {
                uint32_t uid;
                uint64_t refused;

                r = sd_bus_message_read(reply, "s", &key);
                if (r < 0)
                        return r;
                if (g_str_equal(key, "uid")) {
                        r = sd_bus_message_read(reply, "v", "u", &uid);
                        json_object_object_add(user, key, json_object_new_int64(r < 0 ? 0 : uid));
                } else if (g_str_equal(key, "refused")) {
                        r = sd_bus_message_read(reply, "v", "t", &refused);
                        json_object_object_add(user, key, json_object_new_uint64(r < 0 ? 0 : refused));
                } else if (g_str_equal(key, "used") || g_str_equal(key, "shares")) {
                        numbers = json_object_new_object();
                        json_object_object_add(user, key, numbers);
                        r = read_numbers(reply, numbers);
                } else {
                        r = sd_bus_message_skip(reply, "v");
                }
                if (r >= 0)
                        r = sd_bus_message_exit_container(reply);
        }
        return r < 0 ? r : sd_bus_message_exit_container(reply);
}

static void print_users(const Output *output, json_object *users) {
        static const struct {
                const char *head, *use;
                int width;
        } columns[] = {
                { "RUNS", "runs", 9 },
                { "VARIABLES", "variables-bytes", 16 },
                { "RECORDS", "records-bytes", 16 },
                { "JOBS", "unit-jobs", 9 },
                { "UNREAD", "unread-bytes", 16 },
                { "HISTORY", "history", 11 },
                { "SIZE", "history-bytes", 16 },
                { "KEPT", "kept-bytes", 16 },
        };
        g_autoptr(GString) line = g_string_new(NULL);

        output_appendf(output, line, STYLE_BOLD, "%-10s", "UID");
        for (size_t i = 0; i < G_N_ELEMENTS(columns); i++)
                output_appendf(output, line, STYLE_BOLD, "  %*s", columns[i].width, columns[i].head);
        output_appendf(output, line, STYLE_BOLD, "  %s", "REFUSED");
        output_print_line(output, line);

        for (size_t i = 0; i < json_object_array_length(users); i++) {
                json_object *user = json_object_array_get_idx(users, i);

                output_appendf(output, line, STYLE_PLAIN, "%-10" PRIu64,
                               json_object_get_uint64(json_object_object_get(user, "uid")));
                for (size_t j = 0; j < G_N_ELEMENTS(columns); j++) {
                        const char *use = columns[j].use;
                        json_object *used = json_object_object_get(json_object_object_get(user, "used"), use),
                                    *share = json_object_object_get(json_object_object_get(user, "shares"), use);
                        uint64_t number = json_object_get_uint64(used), of = json_object_get_uint64(share);
                        g_autofree char *text = g_str_has_suffix(use, "-bytes")
                                                        ? g_format_size_full(number, G_FORMAT_SIZE_IEC_UNITS)
                                                        : g_strdup_printf("%" PRIu64, number),
                                        *part = of > 0 ? g_strdup_printf("%s (%" PRIu64 "%%)", text, number * 100 / of)
                                                       : NULL;

                        /* "12.0 KiB (3%)"; a user without a share has no percentage. */
                        output_appendf(output, line, STYLE_PLAIN, "  %*s", columns[j].width, part ?: text);
                }
                output_appendf(output, line, STYLE_PLAIN, "  %7" PRIu64,
                               json_object_get_uint64(json_object_object_get(user, "refused")));
                output_print_line(output, line);
        }
}

int verb_users(Client *client, char **operands) {
        g_autoptr(json_object) users = json_object_new_array();
        g_autoptr(sd_bus_message) reply = NULL;
        int status = client_call(client, &reply, BTD_PATH, BTD_MANAGER, "ListUsers", "a{sv}", 0), r;

        if (status != EXIT_SUCCESS)
                return status;

        r = sd_bus_message_enter_container(reply, 'a', "a{sv}");
        while (r >= 0 && (r = read_user(reply, users)) > 0)
                ;
        if (r < 0)
                return client_bad_message(r);

        if (client->output.json)
                output_print_json(g_steal_pointer(&users));
        else if (json_object_array_length(users) > 0)
                print_users(&client->output, users);
        else
                client_say(client, "no user has asked btd for anything yet");
        return EXIT_SUCCESS;
}
