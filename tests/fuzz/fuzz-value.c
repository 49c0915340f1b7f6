/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A signature on the first line, arguments as JSON behind it: what is said to fit can be put into a message, and what
 * was read from there can be put into one again.
 */

#include <json-c/json_tokener.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/dbus-value.h"
#include "fuzz.h"

/* One that is closed: messages can be made on it. */
static sd_bus *closed_bus(void) {
        static sd_bus *bus;

        if (bus)
                return bus;

        g_assert_cmpint(sd_bus_new(&bus), >=, 0);
        g_assert_cmpint(sd_bus_set_address(bus, "unix:path=/nowhere"), >=, 0);
        g_assert_cmpint(sd_bus_start(bus), <, 0);
        return bus;
}

static sd_bus_message *message_new(void) {
        sd_bus *bus = closed_bus();
        sd_bus_message *message = NULL;

        g_assert_cmpint(sd_bus_message_new_method_call(bus, &message, "org.example.X", "/", NULL, "X"), >=, 0);
        return message;
}

/* The values as they arrive. */
static json_object *carry(const char *signature, json_object *args) {
        g_autoptr(sd_bus_message) message = message_new();
        g_autofree char *error = NULL;
        json_object *received = NULL;
        int r;

        r = value_append(message, signature, args, &error);
        g_assert_cmpstr(error, ==, NULL);
        g_assert_cmpint(r, ==, 0);
        g_assert_cmpint(sd_bus_message_seal(message, 1, 0), >=, 0);
        g_assert_cmpint(sd_bus_message_rewind(message, true), >=, 0);
        g_assert_cmpint(value_read_all(message, VALUE_ROOM_MAX, &received, &error), ==, 0);
        return received;
}

static void check(const char *signature, json_object *args) {
        g_autofree char *error = NULL;
        g_autoptr(json_object) received = NULL;
        int r;

        r = value_check(signature, args, &error);
        g_assert_true((r < 0) == (error != NULL));
        if (r < 0)
                return;

        received = carry(signature, args);
        g_assert_true(json_object_is_type(received, json_type_array));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        g_autofree char *text = g_strndup((const char *) data, size), *error = NULL;
        g_auto(GStrv) parts = g_strsplit(text, "\n", 2);
        g_autoptr(json_object) args = parts[0] && parts[1] ? json_tokener_parse(parts[1]) : NULL;
        int r;

        if (!parts[0])
                return 0;

        r = value_check_signature(parts[0], &error);
        g_assert_true((r < 0) == (error != NULL));
        if (r >= 0 && (!args || json_object_is_type(args, json_type_array)))
                check(parts[0], args);
        return 0;
}
