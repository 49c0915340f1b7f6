/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <glib.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "judge.h"
#include "ledger.h"
#include "trace.h"
#include "troubles.h"
#include "witness.h"

/* After its job has ended, the leaf reads the state of the unit, and waits whether it stays up. */
#define VERIFY_USEC 200000u

typedef struct Limit {
        unsigned tree, limiter;
        uint64_t usec, armed; /* armed: 0: it is not running; with suspends */
} Limit;

typedef struct Deed {
        unsigned tree, node;
        Request request;
        unsigned unit_tree, unit_node;
        uint64_t span; /* of a Sleep */
        bool through_suspends;
        GArray *runs;               /* of unsigned: the numbers of the runs in which it has begun and has not ended */
        uint64_t asked;             /* when it has noted a request, 0: not yet; jobs before that are of others */
        char asker[16];             /* the connection of that request; a later life can request again */
        bool several;               /* runs had begun it at a time, so it is not known which request was which */
        uint64_t since, since_boot; /* when it has begun */
        Limit own, around;          /* usec: 0: there is none */
} Deed;

static struct {
        GHashTable *deeds; /* by the numbers of the leaf */
        uint64_t life;     /* when the present daemon began */
} judge;

static void deed_free(void *data) {
        Deed *deed = data;

        g_array_unref(deed->runs);
        g_free(deed);
}

void judge_open(void) {
        judge.deeds = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, deed_free);
        judge.life = 0;
}

void judge_close(void) {
        g_clear_pointer(&judge.deeds, g_hash_table_unref);
}

static void *key_of(unsigned tree, unsigned node) {
        return GUINT_TO_POINTER(tree << 16 | node);
}

static Deed *find_deed(unsigned tree, unsigned node) {
        return g_hash_table_lookup(judge.deeds, key_of(tree, node));
}

static Deed *deed_of(unsigned tree, unsigned node) {
        Deed *deed = find_deed(tree, node);

        if (!deed) {
                deed = g_new(Deed, 1);
                *deed = (Deed){ .tree = tree, .node = node, .runs = g_array_new(FALSE, FALSE, sizeof(unsigned)) };
                g_hash_table_insert(judge.deeds, key_of(tree, node), deed);
        }
        return deed;
}

void judge_expect(unsigned tree, unsigned node, Request request, unsigned unit_tree, unsigned unit_node) {
        Deed *deed = deed_of(tree, node);

        deed->request = request;
        deed->unit_tree = unit_tree;
        deed->unit_node = unit_node;
}

void judge_expect_sleep(unsigned tree, unsigned node, uint64_t usec, bool through_suspends) {
        Deed *deed = deed_of(tree, node);

        deed->request = REQUEST_SLEEP;
        deed->span = usec;
        deed->through_suspends = through_suspends;
}

void judge_expect_limit(unsigned tree, unsigned node, unsigned limiter, uint64_t usec) {
        Deed *deed = deed_of(tree, node);

        *(limiter == node ? &deed->own : &deed->around) = (Limit){ .tree = tree, .limiter = limiter, .usec = usec };
}

void judge_note_life(void) {
        judge.life = clock_now();
}

static void check_success(const Deed *deed) {
        const Seen seen = witness_seen(deed->unit_tree, deed->unit_node);

        if ((deed->request == REQUEST_START && seen.up < deed->since) ||
            (deed->request == REQUEST_PROCESS && seen.up < deed->since))
                violation("t%u #%u has succeeded, but its unit was not up since its request", deed->tree, deed->node);
        if (deed->request == REQUEST_STOP && seen.down < deed->since)
                violation("t%u #%u has succeeded, but its unit was not down since its request", deed->tree, deed->node);
        if (deed->request == REQUEST_RESTART && seen.executed < deed->since)
                violation("t%u #%u has succeeded, but its unit was not started since its request", deed->tree,
                          deed->node);
}

/* Has what the leaf waits for ended before the present daemon began, and before the limit? With suspends, more time has
 * passed than without, so a limit of either clock was not reached. */
static bool has_ended_in_time(const Deed *deed, uint64_t limit) {
        const Seen seen = witness_seen(deed->unit_tree, deed->unit_node);
        uint64_t ended = deed->since + deed->span;

        if (deed->request == REQUEST_SLEEP)
                return clock_suspended() == deed->since_boot - deed->since && ended < judge.life &&
                       deed->since_boot + deed->span < limit;

        return deed->asked > 0 && seen.ended >= deed->asked && seen.ended < judge.life &&
               seen.ended_boot + (deed->request == REQUEST_PROCESS ? 0 : VERIFY_USEC) < limit;
}

static void check_limit(const Deed *deed, uint64_t limit, const char *what) {
        if (deed->request != REQUEST_NONE && troubles_check(TROUBLE_ABSENCE) && has_ended_in_time(deed, limit))
                violation("t%u #%u: %s expired, but what it waits for had ended in time while no daemon was there",
                          deed->tree, deed->node, what);
}

static void check_failure(const Deed *deed, const char *details) {
        const Seen seen = witness_seen(deed->unit_tree, deed->unit_node);
        if (deed->own.usec > 0 && strstr(details, "\"kind\":\"timeout\""))
                check_limit(deed, deed->since_boot + deed->own.usec, "its timeout");
        if (deed->request >= REQUEST_START && deed->request <= REQUEST_RELOAD &&
            strstr(details, "\"job_result\":\"canceled\"") && seen.by_daemon >= deed->since &&
            seen.by_other < deed->since)
                violation("t%u #%u has failed, because the daemon has cancelled the job that it waits for", deed->tree,
                          deed->node);
}

static int find_run(const Deed *deed, unsigned run) {
        for (unsigned i = 0; i < deed->runs->len; i++)
                if (g_array_index(deed->runs, unsigned, i) == run)
                        return (int) i;

        return -1;
}

static void note_begin(Deed *deed, unsigned run) {
        if (find_run(deed, run) < 0)
                g_array_append_val(deed->runs, run);

        deed->several = deed->runs->len > 1 || (deed->several && deed->runs->len > 0);
        deed->asked = 0;
        deed->since = clock_now();
        deed->since_boot = clock_now() + clock_suspended();
}

static void leave(Deed *deed, unsigned run) {
        int i = find_run(deed, run);

        if (i >= 0)
                g_array_remove_index_fast(deed->runs, (unsigned) i);
        if (deed->runs->len == 0)
                deed->several = false;
}

static void note_end(Deed *deed, unsigned run, const char *details, bool strict) {
        bool success = g_str_has_prefix(details, "{\"status\":\"success\"");

        strict &= find_run(deed, run) >= 0 && !deed->several;
        if (strict && success)
                check_success(deed);
        else if (strict && g_str_has_prefix(details, "{\"status\":\"failure\""))
                check_failure(deed, details);
        leave(deed, run);
}

/* A Timeout has been started, has ended, or has expired. */
static void note_limiter(unsigned tree, unsigned node, const char *kind, bool strict) {
        GHashTableIter iter;
        void *value;

        g_hash_table_iter_init(&iter, judge.deeds);
        while (g_hash_table_iter_next(&iter, NULL, &value)) {
                Deed *deed = value;
                Limit *limit = &deed->around;

                if (limit->usec == 0 || limit->limiter != node || limit->tree != tree)
                        continue;

                if (g_str_equal(kind, "timer") && strict && deed->runs->len == 1 && !deed->several && limit->armed > 0)
                        check_limit(deed, limit->armed + limit->usec, "the Timeout around it");
                limit->armed = g_str_equal(kind, "arm") ? clock_now() + clock_suspended() : 0;
        }
}

static void note_memo(Deed *deed, const char *details) {
        const char *found = strstr(details, "\"asker\":\"");
        char asker[sizeof(deed->asker)] = "";

        if (found)
                (void) sscanf(found, "\"asker\":\"%15[^\"]", asker);
        if (deed->asked == 0 || strcmp(asker, deed->asker) != 0)
                deed->asked = clock_now();
        memcpy(deed->asker, asker, sizeof(asker));
}

void judge_note_line(unsigned tree, unsigned run, unsigned node, const char *kind, const char *details, bool strict) {
        Deed *deed = find_deed(tree, node);

        if (g_str_equal(kind, "arm") || g_str_equal(kind, "disarm") || g_str_equal(kind, "timer"))
                note_limiter(tree, node, kind, strict);
        if (!deed)
                return;

        if (g_str_equal(kind, "begin") || (g_str_equal(kind, "rerun") && find_run(deed, run) < 0)) {
                note_begin(deed, run);
        } else if (g_str_equal(kind, "note")) {
                note_memo(deed, details);
        } else if (g_str_equal(kind, "ended") ||
                   (g_str_equal(kind, "at-once") && !g_str_has_prefix(details, "{\"status\":\"running\""))) {
                note_end(deed, run, details, strict);
        } else if (g_str_equal(kind, "stop") || g_str_equal(kind, "stopped")) {
                /* The outcome of a halted leaf does not matter. */
                leave(deed, run);
        }
}
