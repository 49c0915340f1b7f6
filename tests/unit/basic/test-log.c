/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * What a message looks like on a terminal and in the journal, and what becomes of it when nobody reads it.
 */

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
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
        log_message(LOG_INFO, &(LogSubject){ "boot", "boot.3", "One[2]", "All/One[2: s3]" }, "named");
        capture_end(&capture, "test-log: warning: boot.3/LoadConfig: failed\n"
                              "test-log: boot: loaded\n"
                              "test-log: LoadConfig: alone\n"
                              "test-log: boot.3/All/One[2: s3]: named\n");
}

/* Others write to the same file: each line comes after the one before, whoever wrote it. */
static void test_file(void) {
        g_autofree char *path = NULL, *text = NULL;
        int fd = g_file_open_tmp("btd-log-XXXXXX", &path, NULL), before = dup(STDERR_FILENO);

        dup2(fd, STDERR_FILENO);
        log_open(LOG_INFO);
        log_info("one");
        g_assert_cmpint(write(STDERR_FILENO, "two\n", 4), ==, 4);
        log_info("three");
        dup2(before, STDERR_FILENO);
        close(before);
        close(fd);

        g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
        g_assert_cmpstr(text, ==, "test-log: one\ntwo\ntest-log: three\n");
        g_assert_cmpint(unlink(path), ==, 0);
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

/* A socket like the journal's, which the log writes to from now on. */
typedef struct Listener {
        char *directory, *path;
        int fd;
} Listener;

static void listener_bind(Listener *listener) {
        struct sockaddr_un address = { .sun_family = AF_UNIX };

        g_strlcpy(address.sun_path, listener->path, sizeof(address.sun_path));
        listener->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        g_assert_cmpint(bind(listener->fd, (const struct sockaddr *) &address, sizeof(address)), ==, 0);
}

static void listener_unbind(Listener *listener) {
        close(listener->fd);
        g_assert_cmpint(unlink(listener->path), ==, 0);
}

static void listener_open(Listener *listener) {
        listener->directory = g_dir_make_tmp("btd-log-XXXXXX", NULL);
        listener->path = g_build_filename(listener->directory, "socket", NULL);
        listener_bind(listener);
        log_open_at(LOG_INFO, listener->path);
}

static void listener_close(Listener *listener) {
        log_close();
        listener_unbind(listener);
        g_assert_cmpint(rmdir(listener->directory), ==, 0);
        g_free(listener->path);
        g_free(listener->directory);
}

/* The next message, or NULL. */
static char *listener_read(Listener *listener) {
        static char buffer[8192];
        ssize_t n = recv(listener->fd, buffer, sizeof(buffer), 0);

        return n < 0 ? NULL : g_strndup(buffer, (gsize) n);
}

/* The same, as soon as the main loop has sent it. */
static char *listener_wait(Listener *listener) {
        char *text;

        while (!(text = listener_read(listener)))
                g_main_context_iteration(NULL, true);
        return text;
}

static void assert_read(Listener *listener, const char *expected) {
        g_autofree char *text = listener_read(listener);

        g_assert_cmpstr(text, ==, expected);
}

/* The field has the name of the node, which is the same for all elements. */
static void test_journal(void) {
        Listener listener;
        char bytes[512];
        static const char expected[] = "MESSAGE=boot.3/a\\nb: failed\nPRIORITY=4\nSYSLOG_IDENTIFIER=test-log\n"
                                       "BTD_TREE=boot\nBTD_RUN=boot.3\nBTD_NODE\n\3\0\0\0\0\0\0\0a\nb\n";

        listener_open(&listener);
        log_message(LOG_WARNING, &(LogSubject){ "boot", "boot.3", "a\nb" }, "failed");
        g_assert_cmpmem(bytes, (size_t) recv(listener.fd, bytes, sizeof(bytes), 0), expected, sizeof(expected) - 1);
        log_message(LOG_INFO, &(LogSubject){ "boot", "boot.3", "One[2]", "All/One[2: s3]" }, "named");
        assert_read(&listener, "MESSAGE=boot.3/All/One[2: s3]: named\nPRIORITY=6\nSYSLOG_IDENTIFIER=test-log\n"
                               "BTD_TREE=boot\nBTD_RUN=boot.3\nBTD_NODE=One[2]\n");
        listener_close(&listener);
}

/* What does not fit into a datagram comes as a file. */
static void test_large(void) {
        Listener listener;
        g_autofree char *text = g_strnfill(20000000, 'y'), *content = NULL, *path = NULL;
        char control[CMSG_SPACE(sizeof(int))];
        struct msghdr message = { .msg_control = control, .msg_controllen = sizeof(control) };
        int fd;

        listener_open(&listener);
        log_message(LOG_INFO, &(LogSubject){ .tree = text, .run = "1" }, "large");
        g_assert_cmpint(recvmsg(listener.fd, &message, 0), ==, 0);
        memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
        g_assert_cmpint(fcntl(fd, F_GET_SEALS), ==, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
        path = g_strdup_printf("/proc/self/fd/%i", fd);
        g_assert_true(g_file_get_contents(path, &content, NULL, NULL));
        g_assert_true(g_str_has_prefix(content, "MESSAGE=1: large\nPRIORITY=6\n"));
        g_assert_true(g_str_has_suffix(content, "yyy\nBTD_RUN=1\n"));
        close(fd);
        listener_close(&listener);
}

#define MESSAGE_OF(number) "MESSAGE=" number "\nPRIORITY=6\nSYSLOG_IDENTIFIER=test-log\n"

/* Another socket in its place, as when all of the journal is started anew. */
static void test_gone(void) {
        Listener listener;

        listener_open(&listener);
        listener_unbind(&listener);
        log_info("1");
        listener_bind(&listener);
        log_info("2");
        assert_read(&listener, MESSAGE_OF("1"));
        assert_read(&listener, MESSAGE_OF("2"));
        assert_read(&listener, NULL);
        listener_close(&listener);
}

/* The main loop finds it. */
static void test_back(void) {
        Listener listener;
        g_autofree char *text = NULL;

        listener_open(&listener);
        listener_unbind(&listener);
        log_info("1");
        listener_bind(&listener);
        text = listener_wait(&listener);
        g_assert_cmpstr(text, ==, MESSAGE_OF("1"));
        listener_close(&listener);
}

/* Writes until something is dropped, and some more; answers how many there were. */
static unsigned write_many(unsigned more) {
        uint64_t before = log_n_dropped();
        unsigned n = 0;

        while (log_n_dropped() < before + more)
                log_info("%u", n++);
        return n;
}

static unsigned number_of(const char *text, const char *prefix) {
        g_assert_true(g_str_has_prefix(text, prefix));
        return (unsigned) g_ascii_strtoull(text + strlen(prefix), NULL, 10);
}

#define LOST "log messages lost here, because they could not be written in time: "

/* Whoever comes back has all that was kept, in order, and hears how many were not. */
static void test_stuck(void) {
        Listener listener;
        unsigned n, seen = 0, lost = 0;

        listener_open(&listener);
        n = write_many(10);
        g_assert_cmpuint(n, >, 5000);
        while (lost == 0) {
                g_autofree char *text = listener_wait(&listener);

                if (strstr(text, LOST))
                        lost = number_of(text, "MESSAGE=" LOST);
                else
                        g_assert_cmpuint(number_of(text, "MESSAGE="), ==, seen++);
        }
        g_assert_cmpuint(lost, ==, 10);
        g_assert_cmpuint(seen, ==, n - 10);
        log_info("next");
        assert_read(&listener, MESSAGE_OF("next"));
        listener_close(&listener);
}

/* It is told as soon as there is room, before what comes then; and the end does not wait for anybody. */
static void test_half_stuck(void) {
        Listener listener;
        g_autofree char *text = NULL, *after = NULL;

        listener_open(&listener);
        write_many(1);
        for (unsigned i = 0; i < 200; i++)
                g_free(listener_read(&listener));
        log_info("after");
        while (!text || !strstr(text, LOST)) {
                g_free(text);
                text = listener_wait(&listener);
        }
        g_assert_cmpstr(text, ==, "MESSAGE=" LOST "1\nPRIORITY=4\nSYSLOG_IDENTIFIER=test-log\n");
        after = listener_wait(&listener);
        g_assert_cmpstr(after, ==, MESSAGE_OF("after"));
        write_many(1);
        listener_close(&listener);
}

static char *read_line(int fd) {
        g_autoptr(GString) line = g_string_new(NULL);
        char c;

        while (read(fd, &c, 1) == 1 && c != '\n')
                g_string_append_c(line, c);
        return g_string_free(g_steal_pointer(&line), FALSE);
}

static void read_stuck_lines(int fd, unsigned n) {
        g_autofree char *lost = NULL;

        for (unsigned i = 0; i < n - 3; i++) {
                g_autofree char *line = NULL;
                struct pollfd readable = { .fd = fd, .events = POLLIN };

                while (poll(&readable, 1, 0) == 0)
                        g_main_context_iteration(NULL, true);
                line = read_line(fd);
                g_assert_cmpuint(number_of(line, "test-log: "), ==, i);
        }
        lost = read_line(fd);
        g_assert_cmpstr(lost, ==, "test-log: warning: " LOST "3");
}

/* Also one that cannot be opened once more. */
static void test_stuck_stderr(const void *socket) {
        Capture capture;
        unsigned n;

        if (socket)
                g_assert_cmpint(socketpair(AF_UNIX, SOCK_STREAM, 0, capture.fds), ==, 0);
        else
                g_assert_cmpint(pipe(capture.fds), ==, 0);
        capture.stderr_fd = dup(STDERR_FILENO);
        dup2(capture.fds[1], STDERR_FILENO);
        log_open(LOG_INFO);
        n = write_many(3);
        read_stuck_lines(capture.fds[0], n);
        log_close();
        dup2(capture.stderr_fd, STDERR_FILENO);
        close(capture.stderr_fd);
        close(capture.fds[0]);
        close(capture.fds[1]);
}

static void test_glib(void) {
        Listener listener;

        listener_open(&listener);
        g_log_structured("Something", G_LOG_LEVEL_DEBUG, "MESSAGE", "hidden");
        g_log_structured("Something", G_LOG_LEVEL_MESSAGE, "MESSAGE", "has happened");
        assert_read(&listener, "MESSAGE=Something: has happened\nPRIORITY=5\nSYSLOG_IDENTIFIER=test-log\n");
        assert_read(&listener, NULL);
        listener_close(&listener);
}

/* Then stderr is what is left. */
static void test_no_journal(void) {
        Capture capture;

        capture_begin(&capture);
        log_open_at(LOG_INFO, "/nonexistent/socket");
        log_info("ready");
        capture_end(&capture, "test-log: ready\n");
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_unsetenv("JOURNAL_STREAM");

        g_test_add_func("/log/levels", test_levels);
        g_test_add_func("/log/subject", test_subject);
        g_test_add_func("/log/file", test_file);
        g_test_add_func("/log/harmless", test_harmless);
        log_attach(g_main_context_default());
        g_test_add_func("/log/journal", test_journal);
        g_test_add_func("/log/large", test_large);
        g_test_add_func("/log/gone", test_gone);
        g_test_add_func("/log/back", test_back);
        g_test_add_func("/log/stuck", test_stuck);
        g_test_add_func("/log/half-stuck", test_half_stuck);
        g_test_add_data_func("/log/stuck-stderr/pipe", NULL, test_stuck_stderr);
        g_test_add_data_func("/log/stuck-stderr/socket", "", test_stuck_stderr);
        g_test_add_func("/log/glib", test_glib);
        g_test_add_func("/log/no-journal", test_no_journal);

        return g_test_run();
}
