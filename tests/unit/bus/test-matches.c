/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Which signals of a bus reach whom, who owns its names, and how few rules are needed for that.
 */

#include "basic/cleanup.h"
#include "basic/log.h"
#include "bus/names.h"
#include "connection-stage.h"

#define N_MANY 300u

/* One taker, and what has come. */
typedef struct Taker {
        Match *match;
        unsigned n_ready, n_signals;
} Taker;

static void on_signal(sd_bus_message *message, void *userdata) {
        ((Taker *) userdata)->n_signals++;
}

static void on_ready(void *userdata) {
        ((Taker *) userdata)->n_ready++;
}

static void taker_open(ConnectionStage *stage, Taker *taker, const SignalPattern *pattern) {
        taker->match = connection_match(stage->connection, pattern, on_signal, on_ready, taker);
}

static void emit(BusPeer *peer, const char *path, const char *member, const char *first, const char *second) {
        g_assert_cmpint(sd_bus_emit_signal(bus_peer_bus(peer), path, SERVICE, member, "os", first, second), >=, 0);
}

/* Everything that the peers have sent has reached the connection when a signal that they send now has. */
static void wait_for_all(ConnectionStage *stage) {
        static const SignalPattern pattern = { .member = "Last" };
        Taker last = { 0 };

        taker_open(stage, &last, &pattern);
        wait_until(last.n_ready == 1);
        emit(stage->service.peer, "/", "Last", "/", "");
        emit(stage->other, "/", "Last", "/", "");
        wait_until(last.n_signals == 2);
        match_free(last.match);
}

/* One of all fields that there are, and nothing else, decides. */
static void test_fields(ConnectionStage *stage) {
        static const SignalPattern patterns[] = {
                { .sender = SERVICE, .path = PATH, .interface = SERVICE, .member = "Changed" },
                { .sender = SERVICE, .path = PATH, .interface = SERVICE, .member = "Other" },
                { .sender = SERVICE, .path = "/else", .interface = SERVICE, .member = "Changed" },
                { .sender = "org.example.Else", .path = PATH, .interface = SERVICE, .member = "Changed" },
                { .sender = SERVICE, .path = PATH, .interface = "org.example.Else", .member = "Changed" },
                { .interface = SERVICE, .arg = "/one", .arg_is_path = true },
                { .interface = SERVICE, .arg = "/two", .arg_is_path = true },
                { .interface = SERVICE, .arg = "/one" }, /* it is no string */
                { .path = PATH, .arg = "two", .arg_number = 1 },
                { .path = PATH, .arg = "one", .arg_number = 1 },
                { .path = PATH, .arg = "two", .arg_number = 2 },
                { .sender = SERVICE, .more = ",arg1='two'" },
                { .sender = SERVICE, .path = PATH, .interface = SERVICE, .member = "Changed" },
        };
        static const unsigned expected[] = { 1, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 1, 1 };
        Taker takers[G_N_ELEMENTS(patterns)] = { 0 };

        for (size_t i = 0; i < G_N_ELEMENTS(patterns); i++)
                taker_open(stage, &takers[i], &patterns[i]);
        for (size_t i = 0; i < G_N_ELEMENTS(patterns); i++)
                wait_until(takers[i].n_ready == 1);

        emit(stage->service.peer, PATH, "Changed", "/one", "two");
        wait_for_all(stage);
        for (size_t i = 0; i < G_N_ELEMENTS(patterns); i++) {
                g_test_message("pattern %zu", i);
                g_assert_cmpuint(takers[i].n_signals, ==, expected[i] + (i == 11)); /* it also takes the last */
                match_free(takers[i].match);
        }
}

/* Of a well-known name only its owner is heard, though the bus brings what all others say. */
static void test_owner(ConnectionStage *stage) {
        static const SignalPattern all = { .member = "Changed" }, owned = { .sender = SERVICE, .member = "Changed" };
        Taker anybody = { 0 }, owner = { 0 };

        taker_open(stage, &anybody, &all);
        taker_open(stage, &owner, &owned);
        wait_until(anybody.n_ready == 1 && owner.n_ready == 1);
        emit(stage->other, PATH, "Changed", "/", "");
        emit(stage->service.peer, PATH, "Changed", "/", "");
        wait_until(anybody.n_signals == 2);
        g_assert_cmpuint(owner.n_signals, ==, 1);

        g_assert_cmpint(sd_bus_release_name(bus_peer_bus(stage->service.peer), SERVICE), >=, 0);
        emit(stage->service.peer, PATH, "Changed", "/", "");
        wait_until(anybody.n_signals == 3);
        g_assert_cmpint(sd_bus_request_name(bus_peer_bus(stage->other), SERVICE, 0), >=, 0);
        emit(stage->other, PATH, "Changed", "/", "");
        wait_until(anybody.n_signals == 4);
        g_assert_cmpuint(owner.n_signals, ==, 2);

        match_free(anybody.match);
        match_free(owner.match);
}

static void open_many(ConnectionStage *stage, Taker *takers, unsigned from, unsigned to) {
        for (unsigned i = from; i < to; i++) {
                g_autofree char *path = g_strdup_printf(PATH "/%u", i);
                SignalPattern pattern = { .sender = SERVICE, .path = path, .member = "Changed" };

                taker_open(stage, &takers[i], &pattern);
        }
        for (unsigned i = from; i < to; i++)
                wait_until(takers[i].n_ready == 1);
}

/* More rules than the bus takes, so one takes their place; and what is said meanwhile is not missed. */
static void test_many(ConnectionStage *stage) {
        g_autofree Taker *takers = g_new0(Taker, N_MANY);

        open_many(stage, takers, 0, RULES_NARROW_MAX);
        for (unsigned i = 0; i < 100; i++)
                emit(stage->service.peer, PATH "/0", "Changed", "/", "");
        open_many(stage, takers, RULES_NARROW_MAX, N_MANY);
        for (unsigned i = 0; i < 100; i++)
                emit(stage->service.peer, PATH "/0", "Changed", "/", "");
        emit(stage->service.peer, PATH "/299", "Changed", "/", "");
        wait_until(takers[N_MANY - 1].n_signals == 1);
        g_assert_cmpuint(takers[0].n_signals, ==, 200);
        g_assert_cmpuint(takers[1].n_signals, ==, 0);

        /* When all are gone, so is the wide rule. */
        for (unsigned i = 0; i < N_MANY; i++)
                match_free(takers[i].match);
        takers[0] = (Taker){ 0 };
        open_many(stage, takers, 0, 1);
        emit(stage->service.peer, PATH "/0", "Changed", "/", "");
        wait_until(takers[0].n_signals == 1);
        match_free(takers[0].match);
}

/* How many rules the bus has, of all connections; -1: it does not tell. */
static int count_rules(ConnectionStage *stage) {
        g_autoptr(sd_bus_message) reply = NULL;
        int count = 0;

        if (sd_bus_call_method(bus_peer_bus(stage->other), BUS_DRIVER, BUS_DRIVER_PATH,
                               "org.freedesktop.DBus.Debug.Stats", "GetAllMatchRules", NULL, &reply, NULL) < 0)
                return -1;

        g_assert_cmpint(sd_bus_message_enter_container(reply, 'a', "{sas}"), >, 0);
        while (sd_bus_message_enter_container(reply, 'e', "sas") > 0) {
                g_auto(GStrv) rules = NULL;

                g_assert_cmpint(sd_bus_message_skip(reply, "s"), >=, 0);
                g_assert_cmpint(sd_bus_message_read_strv(reply, &rules), >=, 0);
                count += rules ? (int) g_strv_length(rules) : 0;
                g_assert_cmpint(sd_bus_message_exit_container(reply), >=, 0);
        }
        return count;
}

/* Whatever comes and goes, the bus has the few rules that are needed now. */
static void test_count(ConnectionStage *stage) {
        g_autofree Taker *takers = g_new0(Taker, N_MANY);
        Taker same = { 0 };

        if (!stage->bus)
                return;
        if (count_rules(stage) < 0) {
                g_test_skip("the bus does not tell its rules");
                return;
        }

        /* One for the owner of the sender's name. */
        open_many(stage, takers, 0, RULES_NARROW_MAX);
        taker_open(stage, &same, &(SignalPattern){ .sender = SERVICE, .path = PATH "/0", .member = "Changed" });
        wait_until(same.n_ready == 1);
        g_assert_cmpint(count_rules(stage), ==, RULES_NARROW_MAX + 1);

        open_many(stage, takers, RULES_NARROW_MAX, N_MANY);
        wait_until(count_rules(stage) == 2);

        match_free(same.match);
        for (unsigned i = 0; i < N_MANY; i++)
                match_free(takers[i].match);
        wait_until(count_rules(stage) == 0);
}

/* The wide rule is there again when the bus is. */
static void test_many_survive(ConnectionStage *stage) {
        g_autofree Taker *takers = g_new0(Taker, N_MANY);

        open_many(stage, takers, 0, N_MANY);
        bus_fixture_kill(stage->bus);
        wait_until(!connection_is_ready(stage->connection));
        g_clear_pointer(&stage->service.peer, bus_peer_free);
        bus_fixture_start(stage->bus);
        stage->service.peer = bus_peer_new(stage->bus, SERVICE);

        for (unsigned i = 0; i < N_MANY; i++)
                wait_until(takers[i].n_ready == 2);
        emit(stage->service.peer, PATH "/7", "Changed", "/", "");
        wait_until(takers[7].n_signals == 1);
        for (unsigned i = 0; i < N_MANY; i++)
                match_free(takers[i].match);
}

/* One who follows a name. */
typedef struct Watcher {
        NameUse use;
        unsigned n_told;
} Watcher;

static void on_told(void *userdata) {
        ((Watcher *) userdata)->n_told++;
}

static void watcher_open(ConnectionStage *stage, Watcher *watcher, const char *name) {
        watcher->use.follower = (Follower){ .changed = on_told, .userdata = watcher };
        name_use(connection_names(stage->connection), &watcher->use, name);
}

static void test_names(ConnectionStage *stage) {
        Watcher absent = { 0 }, owned = { 0 }, late = { 0 };

        watcher_open(stage, &absent, "org.example.Absent");
        watcher_open(stage, &owned, SERVICE);
        g_assert_cmpint(name_state(&owned.use), ==, NAME_UNKNOWN);
        wait_until(absent.n_told == 1 && owned.n_told == 1);
        g_assert_cmpint(name_state(&absent.use), ==, NAME_ABSENT);
        g_assert_cmpstr(name_owner(&absent.use), ==, NULL);
        g_assert_cmpint(name_state(&owned.use), ==, NAME_OWNED);

        /* Who comes later knows it at once. */
        watcher_open(stage, &late, SERVICE);
        g_assert_cmpint(name_state(&late.use), ==, NAME_OWNED);

        g_assert_cmpint(sd_bus_request_name(bus_peer_bus(stage->other), "org.example.Absent", 0), >=, 0);
        wait_until(absent.n_told == 2);
        g_assert_cmpint(name_state(&absent.use), ==, NAME_OWNED);
        g_clear_pointer(&stage->other, bus_peer_free);
        wait_until(absent.n_told == 3);
        g_assert_cmpint(name_state(&absent.use), ==, NAME_ABSENT);

        bus_fixture_kill(stage->bus);
        wait_until(late.n_told == 1 && owned.n_told == 2 && absent.n_told == 4);
        g_assert_cmpint(name_state(&owned.use), ==, NAME_UNKNOWN);
        name_leave(&late.use);
        name_leave(&owned.use);

        /* What is left over when the connection goes can be left. */
        g_clear_pointer(&stage->connection, connection_free);
        name_leave(&absent.use);
}

static void on_last_signal(sd_bus_message *message, void *userdata) {
        Taker *taker = userdata;

        taker->n_signals++;
        g_clear_pointer(&taker->match, match_free);
}

/* A unique name, and that of the bus, are names of their owners, too; what they say still comes once. */
static void test_own_owner(ConnectionStage *stage) {
        const SignalPattern bus = { .sender = BUS_DRIVER, .member = "NameOwnerChanged", .arg = "org.example.New" };
        Watcher unique = { 0 }, driver = { 0 };
        Taker taker = { 0 }, once = { 0 };
        SignalPattern pattern = { .member = "Changed" };

        g_assert_cmpint(sd_bus_get_unique_name(bus_peer_bus(stage->other), &pattern.sender), >=, 0);
        watcher_open(stage, &unique, pattern.sender);
        watcher_open(stage, &driver, BUS_DRIVER);
        taker_open(stage, &taker, &pattern);
        once.match = connection_match(stage->connection, &bus, on_last_signal, on_ready, &once);
        wait_until(unique.n_told == 1 && driver.n_told == 1 && taker.n_ready == 1 && once.n_ready == 1);

        emit(stage->other, PATH, "Changed", "/", "");
        g_assert_cmpint(sd_bus_request_name(bus_peer_bus(stage->other), "org.example.New", 0), >=, 0);
        wait_for_all(stage);
        g_assert_cmpuint(taker.n_signals, ==, 1);
        g_assert_cmpuint(once.n_signals, ==, 1);

        match_free(taker.match);
        name_leave(&unique.use);
        name_leave(&driver.use);
}

/* The bus takes one rule only. Who owns the name now is of no use while nobody would tell of the next owner. */
static void test_name_refused(ConnectionStage *stage) {
        static const SignalPattern pattern = { .sender = ":1.0", .member = "Changed" };
        g_auto(Outcome) outcome = { 0 };
        Watcher watcher = { 0 };
        Taker first = { 0 };

        taker_open(stage, &first, &pattern);
        watcher_open(stage, &watcher, SERVICE);
        call_echo(stage->connection, 0, &outcome);
        wait_until(outcome.done && first.n_ready == 1);
        g_assert_cmpuint(watcher.n_told, ==, 0);
        g_assert_cmpint(name_state(&watcher.use), ==, NAME_UNKNOWN);

        match_free(first.match);
        wait_until(watcher.n_told == 1);
        g_assert_cmpint(name_state(&watcher.use), ==, NAME_OWNED);
        name_leave(&watcher.use);
}

static void test_rules(void) {
        static const struct {
                SignalPattern pattern;
                const char *rule, *wide;
        } cases[] = {
                { { 0 }, "type='signal'", NULL },
                { { .sender = "a.b", .path = "/p", .interface = "i.j", .member = "M", .arg = "x", .more = ",arg1='y'" },
                  "type='signal',sender='a.b',interface='i.j',member='M',path='/p',arg0='x',arg1='y'",
                  "type='signal',sender='a.b',interface='i.j',member='M'" },
                { { .interface = "i.j", .arg = "/x", .arg_number = 3, .arg_is_path = true },
                  "type='signal',interface='i.j',arg3path='/x'",
                  "type='signal',interface='i.j'" },
                { { .sender = "a.b", .arg = "it's" }, "type='signal',sender='a.b'", "type='signal',sender='a.b'" },
        };
        g_autofree char *text = g_strnfill(2000, 'x'), *path = g_strconcat("/", text, NULL), *rule = NULL;
        SignalPattern lengthy = { .sender = "a.b", .path = path, .arg = "x" };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *narrow = signal_pattern_rule(&cases[i].pattern);
                g_autofree char *wide = signal_pattern_wide_rule(&cases[i].pattern);

                g_assert_cmpstr(narrow, ==, cases[i].rule);
                g_assert_cmpstr(wide, ==, cases[i].wide);
        }

        rule = signal_pattern_rule(&lengthy);
        g_assert_cmpstr(rule, ==, "type='signal',sender='a.b',arg0='x'");
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        log_open(LOG_ERR);

        g_test_add_func("/matches/rules", test_rules);
        connection_stage_add("matches", "fields", test_fields);
        connection_stage_add("matches", "owner", test_owner);
        connection_stage_add("matches", "many", test_many);
        connection_stage_add("matches", "many-survive", test_many_survive);
        connection_stage_add("matches", "names", test_names);
        connection_stage_add("matches", "own-owner", test_own_owner);
        connection_stage_add_limited("matches", "count", NULL, test_count);
        connection_stage_add_limited("matches", "many-of-60",
                                     "<limit name=\"max_match_rules_per_connection\">60</limit>", test_many);
        connection_stage_add_limited("matches", "many-survive-of-60",
                                     "<limit name=\"max_match_rules_per_connection\">60</limit>", test_many_survive);
        connection_stage_add_limited("matches", "name-refused",
                                     "<limit name=\"max_match_rules_per_connection\">1</limit>", test_name_refused);
        return g_test_run();
}
