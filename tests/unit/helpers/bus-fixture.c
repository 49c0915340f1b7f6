/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Starts a dbus-daemon with a configuration file. A launcher that needs systemd usually starts a dbus-broker; here the
 * test is its controller, over a socket pair, and hands it the listening socket and a policy that allows everything.
 */

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "bus-fixture.h"
#include "bus/bus-source.h"

struct BusFixture {
        BusKind kind;
        char *directory, *socket, *config, *address;
        pid_t pid;
        sd_bus *controller;
};

struct BusPeer {
        sd_bus *bus;
        GSource *source;
};

static const char *const programs[BUS_KIND_MAX_] = {
        [BUS_DAEMON] = "dbus-daemon",
        [BUS_BROKER] = "dbus-broker",
};

const char *bus_kind_name(BusKind kind) {
        return programs[kind];
}

bool bus_kind_available(BusKind kind) {
        g_autofree char *path = g_find_program_in_path(programs[kind]);

        return path;
}

static void write_config(const BusFixture *fixture, const char *limits) {
        g_autofree char *text = g_strdup_printf("<busconfig>\n"
                                                "  <type>session</type>\n"
                                                "  <listen>%s</listen>\n"
                                                "  <auth>EXTERNAL</auth>\n"
                                                "  <policy context=\"default\">\n"
                                                "    <allow send_destination=\"*\"/>\n"
                                                "    <allow receive_sender=\"*\"/>\n"
                                                "    <allow own=\"*\"/>\n"
                                                "  </policy>\n"
                                                "  %s\n"
                                                "</busconfig>\n",
                                                fixture->address, limits ? limits : "");

        g_assert_true(g_file_set_contents(fixture->config, text, -1, NULL));
}

BusFixture *bus_fixture_new(BusKind kind, const char *limits) {
        BusFixture *fixture = g_new0(BusFixture, 1);

        fixture->kind = kind;
        fixture->directory = g_dir_make_tmp("btd-test-XXXXXX", NULL);
        g_assert_nonnull(fixture->directory);
        fixture->socket = g_build_filename(fixture->directory, "bus", NULL);
        fixture->config = g_build_filename(fixture->directory, "bus.conf", NULL);
        fixture->address = g_strdup_printf("unix:path=%s", fixture->socket);

        write_config(fixture, limits);
        return fixture;
}

void bus_fixture_free(BusFixture *fixture) {
        if (!fixture)
                return;

        bus_fixture_kill(fixture);
        g_unlink(fixture->socket);
        g_unlink(fixture->config);
        g_rmdir(fixture->directory);
        g_free(fixture->address);
        g_free(fixture->config);
        g_free(fixture->socket);
        g_free(fixture->directory);
        g_free(fixture);
}

const char *bus_fixture_address(const BusFixture *fixture) {
        return fixture->address;
}

/* Runs the program with the file descriptor as its number 3. */
static pid_t spawn(const char *const *argv, int fd) {
        pid_t pid = fork();

        g_assert_cmpint(pid, >=, 0);
        if (pid > 0)
                return pid;

        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (!g_test_verbose())
                dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
        if (fd == 3)
                fcntl(fd, F_SETFD, 0);
        else
                dup2(fd, 3);
        execvp(argv[0], (char *const *) argv);
        _exit(127);
}

static void start_daemon(BusFixture *fixture) {
        g_autofree char *config = g_strdup_printf("--config-file=%s", fixture->config);
        const char *argv[] = { programs[BUS_DAEMON], "--nofork", "--print-address=3", config, NULL };
        char line[1024];
        int fds[2];

        g_assert_cmpint(pipe2(fds, O_CLOEXEC), ==, 0);
        fixture->pid = spawn(argv, fds[1]);
        close(fds[1]);

        /* It listens when it says where. */
        g_assert_cmpint(read(fds[0], line, sizeof(line)), >, 0);
        close(fds[0]);
}

static int listen_at(const char *path) {
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

        g_assert_cmpint(fd, >=, 0);
        g_assert_cmpuint(strlen(path), <, sizeof(address.sun_path));
        strcpy(address.sun_path, path);
        g_unlink(path);
        g_assert_cmpint(bind(fd, (struct sockaddr *) &address, sizeof(address)), ==, 0);
        g_assert_cmpint(listen(fd, 128), ==, 0);
        return fd;
}

#define POLICY_BATCH "bta(btbs)a(btssssuutt)a(btssssuutt)"
#define POLICY "a(u(" POLICY_BATCH "))a(buu(" POLICY_BATCH "))a(ss)bs"

/* Everybody may connect, own, send and receive; no ranges of users, no SELinux, no AppArmor. */
static int append_policy(sd_bus_message *message) {
        return sd_bus_message_append(message, "v", "(" POLICY ")",      /* */
                                     1, UINT32_MAX, true, (uint64_t) 1, /* any user: connect */
                                     1, true, (uint64_t) 1, true, "",   /* own */
                                     1, true, (uint64_t) 1, "", "", "", "", 0, 0, (uint64_t) 0, UINT64_MAX, /* send */
                                     1, true, (uint64_t) 1, "", "", "", "", 0, 0, (uint64_t) 0,
                                     UINT64_MAX, /* receive */
                                     0, 0, false, "session");
}

static void start_broker(BusFixture *fixture) {
        static const char *const argv[] = { "dbus-broker",
                                            "--controller",
                                            "3",
                                            "--machine-id",
                                            "0123456789abcdef0123456789abcdef",
                                            "--max-matches",
                                            "1000000",
                                            "--max-objects",
                                            "1000000",
                                            "--max-bytes",
                                            "1000000000",
                                            NULL };
        g_autoptr(sd_bus_message) message = NULL;
        g_auto(AutoFd) listener = listen_at(fixture->socket);
        int fds[2];

        g_assert_cmpint(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds), ==, 0);
        fixture->pid = spawn(argv, fds[1]);
        close(fds[1]);

        g_assert_cmpint(sd_bus_new(&fixture->controller), >=, 0);
        g_assert_cmpint(sd_bus_set_fd(fixture->controller, fds[0], fds[0]), >=, 0);
        g_assert_cmpint(sd_bus_start(fixture->controller), >=, 0);
        g_assert_cmpint(sd_bus_message_new_method_call(fixture->controller, &message, NULL, "/org/bus1/DBus/Broker",
                                                       "org.bus1.DBus.Broker", "AddListener"),
                        >=, 0);
        g_assert_cmpint(sd_bus_message_append(message, "oh", "/org/bus1/DBus/Listener/0", listener), >=, 0);
        g_assert_cmpint(append_policy(message), >=, 0);
        g_assert_cmpint(sd_bus_call(fixture->controller, message, 0, NULL, NULL), >=, 0);
}

void bus_fixture_start(BusFixture *fixture) {
        if (fixture->kind == BUS_DAEMON)
                start_daemon(fixture);
        else
                start_broker(fixture);
}

void bus_fixture_kill(BusFixture *fixture) {
        if (fixture->pid <= 0)
                return;

        kill(fixture->pid, SIGKILL);
        while (waitpid(fixture->pid, NULL, 0) < 0)
                g_assert_cmpint(errno, ==, EINTR);
        fixture->pid = 0;
        fixture->controller = sd_bus_close_unref(fixture->controller);
}

void bus_fixture_pause(BusFixture *fixture) {
        kill(fixture->pid, SIGSTOP);
        g_assert_cmpint(waitpid(fixture->pid, NULL, WUNTRACED), ==, fixture->pid);
}

void bus_fixture_resume(BusFixture *fixture) {
        kill(fixture->pid, SIGCONT);
}

static gboolean on_peer(void *userdata) {
        return sd_bus_is_open(userdata) > 0 ? G_SOURCE_CONTINUE : G_SOURCE_REMOVE;
}

BusPeer *bus_peer_new(const BusFixture *fixture, const char *name) {
        BusPeer *peer = g_new0(BusPeer, 1);

        g_assert_cmpint(sd_bus_new(&peer->bus), >=, 0);
        g_assert_cmpint(sd_bus_set_address(peer->bus, fixture->address), >=, 0);
        g_assert_cmpint(sd_bus_set_bus_client(peer->bus, true), >=, 0);
        g_assert_cmpint(sd_bus_start(peer->bus), >=, 0);
        if (name)
                g_assert_cmpint(sd_bus_request_name(peer->bus, name, 0), >=, 0);

        peer->source = bus_source_new(peer->bus);
        g_source_set_callback(peer->source, on_peer, peer->bus, NULL);
        g_source_attach(peer->source, NULL);
        return peer;
}

void bus_peer_free(BusPeer *peer) {
        if (!peer)
                return;

        g_source_destroy(peer->source);
        g_source_unref(peer->source);
        sd_bus_close_unref(peer->bus);
        g_free(peer);
}

sd_bus *bus_peer_bus(BusPeer *peer) {
        return peer->bus;
}

static gboolean on_tick(void *userdata) {
        return G_SOURCE_CONTINUE;
}

/* Something always happens in the end, so that a test that waits in vain finds out. */
void wait_turn(void) {
        static unsigned tick = 0;

        if (tick == 0)
                tick = g_timeout_add(100, on_tick, NULL);
        g_main_context_iteration(NULL, TRUE);
}

static int on_pong(sd_bus_message *reply, void *userdata, sd_bus_error *ret_error) {
        *(bool *) userdata = true;
        return 1;
}

void wait_round_trip(BusPeer *peer) {
        g_autoptr(sd_bus_slot) slot = NULL;
        bool done = false;

        g_assert_cmpint(sd_bus_call_method_async(peer->bus, &slot, "org.freedesktop.DBus", "/org/freedesktop/DBus",
                                                 "org.freedesktop.DBus.Peer", "Ping", on_pong, &done, NULL),
                        >=, 0);
        wait_until(done);
}
