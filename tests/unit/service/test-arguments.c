/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests how large a call is, from its texts and from the number of its values; and options that are given twice. */

#include <glib.h>

#include "basic/cleanup.h"
#include "service/arguments.h"

#define SIZE_LIMIT ((size_t) 64 << 20)

static sd_bus *bus;

static void turn_over(sd_bus_message *message) {
        g_assert_cmpint(sd_bus_message_seal(message, 1, 0), >=, 0);
        g_assert_cmpint(sd_bus_message_rewind(message, true), >=, 0);
}

static sd_bus_message *message_new(void) {
        sd_bus_message *message = NULL;

        g_assert_cmpint(sd_bus_message_new_method_call(bus, &message, "org.example.X", "/", NULL, "X"), >=, 0);
        return message;
}

static void test_texts(void) {
        g_autoptr(sd_bus_message) message = message_new();
        g_autofree char *text = g_strnfill(1000000, 'x');
        const char *read;

        g_assert_cmpint(sd_bus_message_append(message, "sas", "a", 2, text, "b"), >=, 0);
        turn_over(message);
        g_assert_cmpuint(arguments_size(message, SIZE_LIMIT), >, 1000002);
        g_assert_cmpuint(arguments_size(message, SIZE_LIMIT), <, 1001000);
        g_assert_true(arguments_are_long(message));
        g_assert_cmpint(sd_bus_message_read(message, "s", &read), >, 0);
        g_assert_cmpstr(read, ==, "a");
}

static void test_short_call(void) {
        g_autoptr(sd_bus_message) message = message_new();

        g_assert_cmpint(sd_bus_message_append(message, "sa{sv}at", "a", 2, "b", "s", "c", "d", "t", UINT64_C(7), 0), >=,
                        0);
        turn_over(message);
        g_assert_false(arguments_are_long(message));
}

/* They are one step, whatever their number is. */
static void test_numbers(void) {
        g_autoptr(sd_bus_message) message = message_new();
        g_autofree char *bytes = g_malloc0(20 << 20);
        uint64_t last;

        g_assert_cmpint(sd_bus_message_append(message, "a{sv}", 0), >=, 0);
        g_assert_cmpint(sd_bus_message_append_array(message, 'y', bytes, 20 << 20), >=, 0);
        g_assert_cmpint(sd_bus_message_append_array(message, 'd', bytes, 1 << 20), >=, 0);
        g_assert_cmpint(sd_bus_message_append(message, "t", UINT64_C(7)), >=, 0);
        turn_over(message);
        g_assert_cmpuint(arguments_size(message, SIZE_LIMIT), >, 21 << 20);
        g_assert_cmpuint(arguments_size(message, SIZE_LIMIT), <, (21 << 20) + 1000);
        g_assert_cmpint(sd_bus_message_skip(message, "a{sv}ayad"), >=, 0);
        g_assert_cmpint(sd_bus_message_read(message, "t", &last), >, 0);
        g_assert_cmpuint(last, ==, 7);
}

/* Small values are many steps, so their number counts; it is not determined to the end. */
static void test_many_small_values(void) {
        g_autoptr(sd_bus_message) message = message_new();
        size_t size;

        g_assert_cmpint(sd_bus_message_open_container(message, 'a', "v"), >=, 0);
        for (unsigned i = 0; i < 100000; i++)
                g_assert_cmpint(sd_bus_message_append(message, "v", "y", 7), >=, 0);
        g_assert_cmpint(sd_bus_message_close_container(message), >=, 0);
        turn_over(message);
        g_assert_cmpuint(arguments_size(message, SIZE_LIMIT), >, 100000 * 100);
        size = arguments_size(message, 10000);
        g_assert_cmpuint(size, >, 10000);
        g_assert_cmpuint(size, <, 11000);
}

static void test_option_twice(void) {
        g_autoptr(sd_bus_message) message = message_new();
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        const char *a = NULL, *b = NULL;
        const CallOption options[] = { { "a", "s", &a }, { "b", "s", &b }, {} };

        g_assert_cmpint(sd_bus_message_append(message, "a{sv}", 3, "a", "s", "1", "b", "s", "2", "a", "s", "3"), >=, 0);
        turn_over(message);
        g_assert_cmpint(arguments_read_options(message, options, &error), <, 0);
        g_assert_cmpstr(error.message, ==, "the option 'a' is given twice");
        g_assert_cmpstr(a, ==, "1");
        g_assert_cmpstr(b, ==, "2");
}

int main(int argc, char **argv) {
        int r;

        g_test_init(&argc, &argv, NULL);
        g_assert_cmpint(sd_bus_new(&bus), >=, 0);
        g_assert_cmpint(sd_bus_set_address(bus, "unix:path=/nowhere"), >=, 0);
        g_assert_cmpint(sd_bus_start(bus), <, 0);
        g_test_add_func("/arguments/texts", test_texts);
        g_test_add_func("/arguments/short-call", test_short_call);
        g_test_add_func("/arguments/numbers", test_numbers);
        g_test_add_func("/arguments/many-small-values", test_many_small_values);
        g_test_add_func("/arguments/option-twice", test_option_twice);
        r = g_test_run();
        sd_bus_unref(bus);
        return r;
}
