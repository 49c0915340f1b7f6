/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What has come over a connection of which nobody reads any more, on real buses. */

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "bus-fixture.h"
#include "leaves/job-replies.h"

#define MANAGER "org.freedesktop.systemd1"
#define MANAGER_PATH "/org/freedesktop/systemd1"

typedef struct Scene {
        BusFixture *bus;
        BusPeer *manager, *asker;
} Scene;

/* Signals, too, as they come with a job. */
static int on_message(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        const Scene *scene = userdata;

        if (sd_bus_message_is_method_call(message, NULL, "LoadUnit") > 0)
                return sd_bus_reply_method_return(message, "o", MANAGER_PATH "/unit/a");
        if (sd_bus_message_is_method_call(message, NULL, "GetUnitFileState") > 0)
                return sd_bus_reply_method_return(message, "s", MANAGER_PATH "/job/7");
        if (sd_bus_message_is_method_call(message, NULL, "StopUnit") > 0)
                return sd_bus_reply_method_errorf(message, MANAGER ".NoSuchUnit", "there is none");
        if (sd_bus_message_is_method_call(message, NULL, "StartUnit") <= 0)
                return 0;

        g_assert_cmpint(sd_bus_emit_signal(bus_peer_bus(scene->manager), MANAGER_PATH, MANAGER ".Manager", "JobNew",
                                           "uos", 7, MANAGER_PATH "/job/7", "a"),
                        >=, 0);
        return sd_bus_reply_method_return(message, "o", MANAGER_PATH "/job/7");
}

static void scene_open(Scene *scene, const void *data) {
        scene->bus = bus_fixture_new(*(const BusKind *) data, NULL);
        bus_fixture_start(scene->bus);
        scene->manager = bus_peer_new(scene->bus, MANAGER);
        g_assert_cmpint(sd_bus_add_filter(bus_peer_bus(scene->manager), NULL, on_message, scene), >=, 0);
        scene->asker = bus_peer_new(scene->bus, NULL);
        g_assert_cmpint(sd_bus_match_signal(bus_peer_bus(scene->asker), NULL, MANAGER, NULL, NULL, NULL, NULL, NULL),
                        >=, 0);
        wait_round_trip(scene->asker);
}

static void scene_close(Scene *scene, const void *data) {
        bus_peer_free(scene->asker);
        bus_peer_free(scene->manager);
        bus_fixture_free(scene->bus);
}

/* Returns its serial number. */
static uint64_t ask(const Scene *scene, const char *member) {
        g_autoptr(sd_bus_message) message = NULL;
        sd_bus *bus = bus_peer_bus(scene->asker);
        uint64_t serial;

        g_assert_cmpint(
                sd_bus_message_new_method_call(bus, &message, MANAGER, MANAGER_PATH, MANAGER ".Manager", member), >=,
                0);
        g_assert_cmpint(sd_bus_send(bus, message, &serial), >=, 0);
        g_assert_cmpint(sd_bus_flush(bus), >=, 0);
        return serial;
}

/* The asker is dead: of all that lives on the main loop, only the manager turns. */
static int fd_of_dead(Scene *scene) {
        int fd = dup(sd_bus_get_fd(bus_peer_bus(scene->asker)));

        g_assert_cmpint(fd, >=, 0);
        return fd;
}

static JobReplies *look(int fd) {
        JobReplies *replies = job_replies_new();

        job_replies_look(replies, fd);
        return replies;
}

static bool has(int fd, const char *name, uint64_t serial) {
        g_autoptr(JobReplies) replies = look(fd);

        return job_replies_have(replies, name, serial);
}

static void test_replies(Scene *scene, const void *data) {
        uint64_t before = ask(scene, "LoadUnit"), last;
        const char *name;
        int fd;

        g_assert_cmpint(sd_bus_get_unique_name(bus_peer_bus(scene->asker), &name), >=, 0);
        (void) ask(scene, "GetUnitFileState");
        (void) ask(scene, "StopUnit");
        fd = fd_of_dead(scene);
        g_assert_false(has(fd, name, 0));

        last = ask(scene, "StartUnit");
        while (!has(fd, name, before))
                sd_bus_process(bus_peer_bus(scene->manager), NULL);

        /* It is still there for the next one. */
        g_assert_true(has(fd, name, last - 1));
        g_assert_false(has(fd, name, last));
        g_assert_false(has(fd, ":1.999", before));
        g_assert_false(has(fd, NULL, before));
        close(fd);
}

static void test_many(Scene *scene, const void *data) {
        uint64_t last = 0;
        const char *name;
        int fd = fd_of_dead(scene);

        g_assert_cmpint(sd_bus_get_unique_name(bus_peer_bus(scene->asker), &name), >=, 0);
        for (unsigned i = 0; i < 6; i++)
                last = ask(scene, "StartUnit");
        while (!has(fd, name, last - 1))
                sd_bus_process(bus_peer_bus(scene->manager), NULL);
        close(fd);
}

static void test_nothing(void) {
        g_assert_false(job_replies_have(NULL, ":1.1", 0));
}

/* Whatever it is, it is over then. */
static void test_nonsense(void) {
        static const char text[] = "not a message at all";
        int fds[2];

        g_assert_cmpint(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), >=, 0);
        g_assert_false(has(fds[0], ":1.1", 0));
        g_assert_cmpint(write(fds[1], text, strlen(text)), ==, strlen(text));
        g_assert_false(has(fds[0], ":1.1", 0));
        close(fds[1]);
        g_assert_false(has(fds[0], ":1.1", 0));
        close(fds[0]);
}

int main(int argc, char **argv) {
        static const BusKind kinds[] = { BUS_DAEMON, BUS_BROKER };

        g_test_init(&argc, &argv, NULL);
        for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
                g_autofree char *replies = g_strdup_printf("/job-replies/%s/replies", bus_kind_name(kinds[i])),
                                *many = g_strdup_printf("/job-replies/%s/many", bus_kind_name(kinds[i]));

                if (!bus_kind_available(kinds[i]))
                        continue;
                g_test_add(replies, Scene, &kinds[i], scene_open, test_replies, scene_close);
                g_test_add(many, Scene, &kinds[i], scene_open, test_many, scene_close);
        }
        g_test_add_func("/job-replies/nothing", test_nothing);
        g_test_add_func("/job-replies/nonsense", test_nonsense);
        return g_test_run();
}
