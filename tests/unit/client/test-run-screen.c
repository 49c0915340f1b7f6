/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests the run on the screen of btctl watch, from a stored run record: the search, and events that come twice. */

#include "client/recording/recording.h"
#include "client/watch/run-screen.h"
#include "client/watch/screen.h"

#define ROWS 1000u

static GString *drawn;

/* These take the place of those that draw on a terminal. */
void screen_line(unsigned row, const char *text, bool marked) {
        g_string_append_printf(drawn, "%u%c%s\n", row, marked ? '*' : ' ', text);
}

void screen_note(const char *text) {}

unsigned screen_columns(void) {
        return 1000;
}

int64_t screen_key_rows(int key, unsigned page) {
        return 0;
}

typedef struct Stage {
        Client client;
        RunInfo run;
        RunScreen *screen;
} Stage;

/* path: of the run record; it can stand for the name of a run. */
static void set_up(Stage *stage, gconstpointer path) {
        stage->client.output.ascii = true;
        stage->run = (RunInfo){
                .id = (char *) path,
                .tree = (char *) "commission",
                .instance = (char *) "",
                .status = (char *) "halted",
                .cause = (char *) "",
                .started = 1,
                .finished = 2,
        };
        g_assert_cmpint(run_screen_new(&stage->client, &stage->run, &stage->screen), ==, EXIT_SUCCESS);
}

static void tear_down(Stage *stage, gconstpointer path) {
        run_screen_free(stage->screen);
}

static void assert_at(const Stage *stage, const char *expected) {
        g_autofree char *path = run_screen_node_path(stage->screen);

        g_assert_cmpstr(path, ==, expected);
}

static void test_search(Stage *stage, gconstpointer path) {
        run_screen_search(stage->screen, "lamp");
        assert_at(stage, "Commission/Prepare/Lamp");
        run_screen_search(stage->screen, "calm");
        assert_at(stage, "Commission/Prepare/Calm");
        g_assert_true(run_screen_key(stage->screen, 'n'));
        assert_at(stage, "Commission/Prepare/Optional");
        g_assert_true(run_screen_key(stage->screen, 'N'));
        assert_at(stage, "Commission/Prepare/Calm");
}

static char *draw(Stage *stage) {
        drawn = g_string_new(NULL);
        run_screen_draw(stage->screen, ROWS, false);
        return g_string_free(drawn, FALSE);
}

static void on_event(const RunEvent *event, void *userdata) {
        *(uint64_t *) userdata = event->number;
}

/* The run record had the last event before its signal came. */
static void test_event_comes_twice(Stage *stage, gconstpointer path) {
        g_autofree char *before = draw(stage), *after = NULL, *error = NULL;
        RunEvent last = { .node = NODE_NONE, .what = "halted" };
        g_autoptr(Recording) recording = NULL;

        g_assert_cmpint(recording_open(&stage->client, path, &recording), ==, EXIT_SUCCESS);
        g_assert_cmpint(recording_report(recording, UINT64_MAX, on_event, &last.number, &error), ==, 0);
        g_assert_cmpuint(last.number, >, 0);
        run_screen_take_event(stage->screen, NULL, &last);
        after = draw(stage);
        g_assert_true(g_str_equal(after, before));
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_assert_cmpint(argc, ==, 2); /* a stored run record */
        g_test_add("/run-screen/search", Stage, argv[1], set_up, test_search, tear_down);
        g_test_add("/run-screen/event-comes-twice", Stage, argv[1], set_up, test_event_comes_twice, tear_down);
        return g_test_run();
}
