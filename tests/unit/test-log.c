/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * What a message looks like on a terminal.
 */

#include <unistd.h>

#include "basic/log.h"

/* What is written to stderr between the two calls. */
typedef struct Capture {
        int fds[2], stderr_fd;
} Capture;

static void capture_begin(Capture *capture) {
        g_assert_cmpint(pipe(capture->fds), ==, 0);
        capture->stderr_fd = dup(STDERR_FILENO);
        dup2(capture->fds[1], STDERR_FILENO);
        close(capture->fds[1]);
        log_open(LOG_INFO);
}

static void capture_end(Capture *capture, const char *expected) {
        char text[4096];
        ssize_t n;

        dup2(capture->stderr_fd, STDERR_FILENO);
        close(capture->stderr_fd);
        n = read(capture->fds[0], text, sizeof(text) - 1);
        close(capture->fds[0]);

        g_assert_cmpint(n, >=, 0);
        text[n] = '\0';
        g_assert_cmpstr(text, ==, expected);
}

static void test_levels(void) {
        Capture capture;

        capture_begin(&capture);
        log_debug("hidden");
        log_info("ready");
        log_notice("%d trees", 3);
        log_warning("careful");
        log_error("broken");
        capture_end(&capture, "test-log: ready\n"
                              "test-log: 3 trees\n"
                              "test-log: warning: careful\n"
                              "test-log: error: broken\n");
}

static void test_subject(void) {
        Capture capture;

        capture_begin(&capture);
        log_message(LOG_WARNING, &(LogSubject){ "boot", "boot.3", "LoadConfig" }, "failed");
        log_message(LOG_INFO, &(LogSubject){ .tree = "boot" }, "loaded");
        log_message(LOG_INFO, &(LogSubject){ .node = "LoadConfig" }, "alone");
        capture_end(&capture, "test-log: warning: boot.3/LoadConfig: failed\n"
                              "test-log: boot: loaded\n"
                              "test-log: LoadConfig: alone\n");
}

/* Neither the text nor the subject can begin a line of its own, move the cursor or break the encoding. */
static void test_harmless(void) {
        Capture capture;

        capture_begin(&capture);
        log_info("a\nb\tc\x1b[2Jd\xc2\x9b"
                 "e\x7f");
        log_info("broken \xff, whole \xe2\x82\xac");
        log_message(LOG_INFO, &(LogSubject){ .tree = "x\ny" }, "z");
        capture_end(&capture, "test-log: a\\nb\\tc\\x1b[2Jd\\x9be\\x7f\n"
                              "test-log: broken \xef\xbf\xbd, whole \xe2\x82\xac\n"
                              "test-log: x\\ny: z\n");
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_unsetenv("JOURNAL_STREAM");

        g_test_add_func("/log/levels", test_levels);
        g_test_add_func("/log/subject", test_subject);
        g_test_add_func("/log/harmless", test_harmless);

        return g_test_run();
}
