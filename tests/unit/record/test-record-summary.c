/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests what is read of the beginning and the end of a run record for the list of finished runs. */

#include <errno.h>
#include <glib/gstdio.h>
#include <json-c/json_tokener.h>
#include <string.h>
#include <unistd.h>

#include "record/run-record.h"

#define STARTED UINT64_C(1700000000000000)

static GString *header_text(EntryChain *chain, size_t filler) {
        g_autofree char *long_text = g_strnfill(filler, 'x');
        json_object *files = json_object_new_array(), *file = json_object_new_object();
        RecordHeader header = {
                .boot = (char *) "0123456789abcdef0123456789abcdef",
                .run = (char *) "boot.3",
                .tree = (char *) "boot",
                .instance = (char *) "eth0",
                .starter = (char *) "autostart",
                .token = (char *) "once",
                .hash = (char *) "abc",
                .started = STARTED,
                .start = 5,
                .files = files,
                .variables = json_object_new_object(),
        };
        GString *text = g_string_new(NULL);

        json_object_object_add(file, "path", json_object_new_string("/boot.json"));
        json_object_object_add(file, "text", json_object_new_string(long_text));
        json_object_object_add(file, "found", json_object_new_array());
        json_object_array_add(files, file);
        chain->header = chain->last = record_header_append(text, &header);
        json_object_put(files);
        json_object_put(header.variables);
        return text;
}

static void append(GString *text, EntryChain *chain, uint64_t time, EntryKind kind, const char *json) {
        json_object *details = json ? json_tokener_parse(json) : NULL;

        entry_append(text, &(Entry){ .time = time, .kind = kind, .node = NODE_NONE, .details = details }, chain);
        json_object_put(details);
}

static int summary_of(const GString *text, RunSummary *ret_summary, char **ret_error) {
        g_autofree char *path = NULL;
        int fd = g_file_open_tmp("btd-test-XXXXXX", &path, NULL), r;

        g_assert_cmpint(fd, >=, 0);
        g_assert_cmpint(write(fd, text->str, text->len), ==, (gssize) text->len);
        close(fd);
        r = record_summary_read(path, ret_summary, ret_error);
        g_remove(path);
        return r;
}

static void assert_summary(const GString *text, const char *status, const char *cause, uint64_t after) {
        g_auto(RunSummary) summary = {};
        g_autofree char *error = NULL;

        g_assert_cmpint(summary_of(text, &summary, &error), ==, 0);
        g_assert_cmpstr(summary.run, ==, "boot.3");
        g_assert_cmpstr(summary.tree, ==, "boot");
        g_assert_cmpstr(summary.instance, ==, "eth0");
        g_assert_cmpstr(summary.token, ==, "once");
        g_assert_cmpstr(summary.status, ==, status);
        g_assert_cmpstr(summary.cause, ==, cause);
        g_assert_cmpuint(summary.started, ==, STARTED);
        g_assert_cmpuint(summary.finished, ==, STARTED + after);
}

static void test_each_end(const void *data) {
        size_t filler = *(const size_t *) data;
        EntryChain chain;
        g_autoptr(GString) text = header_text(&chain, filler);

        assert_summary(text, "running", "", 0);
        append(text, &chain, 1, ENTRY_START, "{\"suspended\":0}");
        append(text, &chain, 17, ENTRY_TICK, NULL);
        assert_summary(text, "running", "", 17);

        append(text, &chain, 20, ENTRY_FINISHED,
               "{\"status\":\"failure\",\"cause\":[{\"kind\":\"timeout\",\"text\":\"so\"}]}");
        assert_summary(text, "failure", "so", 20);

        /* An incomplete line does not count, nor does a damaged one. */
        g_string_append(text, "21 tick 0123");
        assert_summary(text, "failure", "so", 20);
        g_string_append(text, "4567\n");
        assert_summary(text, "running", "", 0);
}

static void test_end_without_details(void) {
        EntryChain chain;
        g_autoptr(GString) text = header_text(&chain, 10);

        append(text, &chain, 20, ENTRY_FINISHED, NULL);
        assert_summary(text, "?", "", 20);
}

/* The last entry is longer than what is read at first. */
static void test_long_entry(void) {
        EntryChain chain;
        g_autoptr(GString) text = header_text(&chain, 10);
        g_autofree char *long_text = g_strnfill(100000, 'x'), *json = g_strdup_printf("{\"text\":\"%s\"}", long_text);

        append(text, &chain, 1, ENTRY_START, "{\"suspended\":0}");
        append(text, &chain, 20, ENTRY_SET, json);
        assert_summary(text, "running", "", 20);
}

static void test_no_record(void) {
        g_auto(RunSummary) summary = {};
        EntryChain chain;
        g_autoptr(GString) text = header_text(&chain, 10), other = g_string_new("something else\n");
        g_autofree char *error = NULL, *missing = NULL;

        g_assert_cmpint(summary_of(other, &summary, &error), ==, -EBADMSG);
        g_assert_nonnull(error);
        g_clear_pointer(&error, g_free);
        g_string_truncate(text, 40);
        g_assert_cmpint(summary_of(text, &summary, &error), ==, -EBADMSG);
        g_assert_nonnull(error);
        g_assert_cmpint(record_summary_read("/nonexistent/x", &summary, &missing), ==, -ENOENT);
        g_assert_cmpstr(missing, ==, "/nonexistent/x cannot be read: No such file or directory");
}

int main(int argc, char **argv) {
        static const size_t short_file = 10, long_file = 300000;

        g_test_init(&argc, &argv, NULL);
        g_test_add_data_func("/record-summary/short", &short_file, test_each_end);
        g_test_add_data_func("/record-summary/long", &long_file, test_each_end);
        g_test_add_func("/record-summary/end-without-details", test_end_without_details);
        g_test_add_func("/record-summary/long-entry", test_long_entry);
        g_test_add_func("/record-summary/no-record", test_no_record);
        return g_test_run();
}
