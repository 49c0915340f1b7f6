/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What has come over a connection of which nobody reads any more, on real buses. */

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "bus-fixture.h"
#include "leaves/job-search.h"

#define MANAGER "org.freedesktop.systemd1"
#define MANAGER_PATH "/org/freedesktop/systemd1"

typedef struct Scene {
        BusFixture *bus;
        BusPeer *manager;
        sd_bus *asker; /* is on no main loop, and so as good as dead */
        const char *name;
        Connection *connection;
        JobReplies *replies;
        unsigned n_asked, n_done;
        int fate; /* -1: not known yet */
} Scene;

/* With a signal, as they come with a job. */
static int on_message(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        Scene *scene = userdata;

        scene->n_asked += sd_bus_message_is_method_call(message, NULL, NULL) > 0;
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

static void on_replies_done(int fd, void *userdata) {
        Scene *scene = userdata;

        g_assert_cmpint(fd, >=, 0);
        scene->n_done++;
}

static void open_asker(Scene *scene) {
        g_assert_cmpint(sd_bus_new(&scene->asker), >=, 0);
        g_assert_cmpint(sd_bus_set_address(scene->asker, bus_fixture_address(scene->bus)), >=, 0);
        g_assert_cmpint(sd_bus_set_bus_client(scene->asker, true), >=, 0);
        g_assert_cmpint(sd_bus_start(scene->asker), >=, 0);
        g_assert_cmpint(sd_bus_match_signal(scene->asker, NULL, MANAGER, NULL, NULL, NULL, NULL, NULL), >=, 0);
        g_assert_cmpint(sd_bus_get_unique_name(scene->asker, &scene->name), >=, 0);
}

static void scene_open(Scene *scene, const void *data) {
        scene->bus = bus_fixture_new(*(const BusKind *) data, NULL);
        bus_fixture_start(scene->bus);
        scene->manager = bus_peer_new(scene->bus, MANAGER);
        g_assert_cmpint(sd_bus_add_filter(bus_peer_bus(scene->manager), NULL, on_message, scene), >=, 0);
        wait_round_trip(scene->manager);
        open_asker(scene);
        scene->connection = connection_new(NULL, "test", bus_fixture_address(scene->bus));
        scene->replies = job_replies_new(scene->connection, on_replies_done, scene);
        job_replies_add(scene->replies, scene->name, sd_bus_get_fd(scene->asker));
}

static void scene_close(Scene *scene, const void *data) {
        job_replies_free(scene->replies);
        connection_free(scene->connection);
        sd_bus_close_unref(scene->asker);
        bus_peer_free(scene->manager);
        bus_fixture_free(scene->bus);
}

/* Returns its serial number, when it has been dealt with. */
static uint64_t ask(Scene *scene, const char *member) {
        g_autoptr(sd_bus_message) message = NULL;
        unsigned n_asked = scene->n_asked;
        uint64_t serial;

        g_assert_cmpint(sd_bus_message_new_method_call(scene->asker, &message, MANAGER, MANAGER_PATH,
                                                       MANAGER ".Manager", member),
                        >=, 0);
        g_assert_cmpint(sd_bus_send(scene->asker, message, &serial), >=, 0);
        g_assert_cmpint(sd_bus_flush(scene->asker), >=, 0);
        wait_until(scene->n_asked > n_asked);
        wait_round_trip(scene->manager);
        return serial;
}

static void on_searched(JobFate fate, void *userdata) {
        Scene *scene = userdata;

        g_assert_cmpint(scene->fate, ==, -1);
        scene->fate = (int) fate;
}

static JobSearch *search(Scene *scene, uint64_t serial) {
        JobSearch *search = job_search_new(scene->replies, scene->name, serial, on_searched, scene);

        g_assert_nonnull(search);
        scene->fate = -1;
        return search;
}

static JobFate fate_of(Scene *scene, uint64_t serial) {
        g_autoptr(JobSearch) looks G_GNUC_UNUSED = search(scene, serial);

        wait_until(scene->fate >= 0);
        return (JobFate) scene->fate;
}

static void test_replies(Scene *scene, const void *data) {
        uint64_t before, last;

        before = ask(scene, "LoadUnit");
        (void) ask(scene, "GetUnitFileState");
        (void) ask(scene, "StopUnit");
        g_assert_cmpint(fate_of(scene, 0), ==, JOB_NEVER_SENT);

        /* It is still there for the next one. */
        last = ask(scene, "StartUnit");
        g_assert_cmpint(fate_of(scene, before), ==, JOB_WAS_HEARD);
        g_assert_cmpint(fate_of(scene, last - 1), ==, JOB_WAS_HEARD);
        g_assert_cmpint(fate_of(scene, last), ==, JOB_NEVER_SENT);
}

/* More than a bus sends to who does not read. */
static void test_many(Scene *scene, const void *data) {
        uint64_t last = 0;

        for (unsigned i = 0; i < 100; i++)
                last = ask(scene, "StartUnit");

        g_assert_false(scene->n_done > 0);
        g_assert_cmpint(fate_of(scene, last - 1), ==, JOB_WAS_HEARD);
        g_assert_cmpint(fate_of(scene, last - 1), ==, JOB_WAS_HEARD);
}

/* A place is done with when all have seen what they were looking for. */
static void test_places(Scene *scene, const void *data) {
        g_autoptr(JobSearch) one = search(scene, 0);

        job_replies_add(scene->replies, ":1.900", 900);
        g_assert_null(job_search_new(scene->replies, ":1.901", 0, on_searched, scene));
        job_replies_release(scene->replies);
        g_assert_cmpuint(scene->n_done, ==, 1);
        wait_until(scene->fate >= 0);
        g_assert_cmpuint(scene->n_done, ==, 1);
        g_clear_pointer(&one, job_search_free);
        g_assert_cmpuint(scene->n_done, ==, 2);
}

static void test_given_up(Scene *scene, const void *data) {
        g_autoptr(JobSearch) one = search(scene, 0), other = search(scene, 0);

        job_replies_release(scene->replies);
        g_clear_pointer(&one, job_search_free);
        scene->fate = -1;
        wait_until(scene->fate >= 0);
        g_clear_pointer(&other, job_search_free);
        g_assert_cmpuint(scene->n_done, ==, 0);
}

/* There is nothing to be seen in it. */
static void test_nonsense(Scene *scene, const void *data) {
        static const char text[] = "this is not a message at all";
        int fds[2];

        g_assert_cmpint(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), >=, 0);
        job_replies_add(scene->replies, ":1.900", fds[0]);
        scene->name = ":1.900";
        g_assert_cmpint(fate_of(scene, 0), ==, JOB_NEVER_SENT);
        g_assert_cmpint(write(fds[1], text, strlen(text)), ==, strlen(text));
        g_assert_cmpint(fate_of(scene, 0), ==, JOB_IN_DOUBT);
        close(fds[1]);
        close(fds[0]);
}

/* The bus that knew is not there any more. */
static void test_gone(Scene *scene, const void *data) {
        (void) ask(scene, "StopUnit");
        bus_fixture_kill(scene->bus);
        bus_fixture_start(scene->bus);
        g_assert_cmpint(fate_of(scene, 0), ==, JOB_IN_DOUBT);
}

static void test_none(void) {
        g_assert_null(job_search_new(NULL, ":1.1", 0, on_searched, NULL));
}

static void add(const char *name, const BusKind *kind, void (*test)(Scene *scene, const void *data)) {
        g_autofree char *path = g_strdup_printf("/job-search/%s/%s", bus_kind_name(*kind), name);

        g_test_add(path, Scene, kind, scene_open, test, scene_close);
}

int main(int argc, char **argv) {
        static const BusKind kinds[] = { BUS_DAEMON, BUS_BROKER };

        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/job-search/none", test_none);
        for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
                if (!bus_kind_available(kinds[i]))
                        continue;
                add("replies", &kinds[i], test_replies);
                add("many", &kinds[i], test_many);
                add("places", &kinds[i], test_places);
                add("given-up", &kinds[i], test_given_up);
                add("nonsense", &kinds[i], test_nonsense);
                add("gone", &kinds[i], test_gone);
        }
        return g_test_run();
}
