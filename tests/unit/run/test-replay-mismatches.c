/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests what a replay says of a run record that does not match its run: which line, and what is wrong with it. */

#include <string.h>

#include "engine/machine.h"
#include "leaf-types/leaf-types.h"
#include "record/run-record.h"
#include "run/replay.h"

static const NodeType *const *const tables[] = { engine_types, leaf_types, NULL };

/* The nodes in this order: 1 is the Timeout, 2 the Sleep in it, 4 the Condition, 5 the Sleep with a lock. */
#define ROOT                                                                                                           \
        "{'type':'Sequence','children':[{'type':'Timeout','timeout':'5s','child':{'type':'Sleep','duration':'{d}'}},"  \
        "{'type':'WaitFor','child':{'type':'Condition','test':'go'}},"                                                 \
        "{'type':'Sleep','duration':'1h','lock':'disk'}]}"
#define BEGUN "1 start {'suspended':0}", "2 tick", "2 arm #1 {'after':5000000}", "2 begin #2 {'with':{'d':'1h'}}"
#define SLEPT BEGUN, "3 ended #2 {'status':'success'}", "4 tick", "4 disarm #1"
#define HALTING BEGUN, "3 halt {'cause':[{'kind':'halted','text':'so it is'}]}", "3 stop #2", "3 disarm #1"
#define ENTRIES_MAX 16

typedef struct Case {
        const char *entries[ENTRIES_MAX];
        const char *error; /* NULL: the replay is complete */
} Case;

static const Case cases[] = {
        { { BEGUN }, NULL },
        { { SLEPT }, NULL },
        { { HALTING }, NULL },
        { { "1 tick" }, "line 2: the run has not begun" },
        { { "1 start" }, NULL },
        { { "1 start {}" }, "line 2: it does not say for how long the machine was suspended" },
        { { "1 start {'suspended':0}", "1 start {'suspended':0}" }, "line 3: the run has begun already" },
        { { "1 start {'suspended':0}", "1 suspended {'usec':'x'}" },
          "line 3: it does not say for how long the machine was suspended" },
        { { "1 start {'suspended':0}", "1 changed #99" }, "line 3: there is no such node for 'changed'" },
        { { "1 start {'suspended':0}", "1 changed" }, "line 3: there is no such node for 'changed'" },
        { { "1 start {'suspended':0}", "1 tick #1" }, "line 3: there is no such node for 'tick'" },
        { { "1 start {'suspended':0}", "9999999999999999999 tick" }, "line 3: no run lasts that long" },
        { { "1 start {'suspended':0}", "2 tick", "2 begin #2 {'with':{'d':'1h'}}" },
          "line 3: after this line, the run requests 'arm' of node #1, which is not recorded" },
        { { "1 start {'suspended':0}", "2 tick", "2 arm #1 {'after':6000000}", "2 begin #2 {'with':{'d':'1h'}}" },
          "line 4: it arms a timer for 6000000us, but this engine for 5000000us" },
        { { "1 start {'suspended':0}", "2 tick", "2 arm #1 {'after':5000000}", "3 tick" },
          "line 4: after this line, the run requests 'begin' of node #2, which is not recorded" },
        { { "1 start {'suspended':0}", "2 tick", "2 arm #1 {'after':5000000}", "2 begin #2 {'with':{'d':'2h'}}" },
          "line 5: node #2 is started when 'd' is \"2h\", but with this engine it is \"1h\"" },
        { { "1 start {'suspended':0}", "2 tick", "2 arm #1 {'after':5000000}", "2 begin #2 {'with':{'e':'1h'}}" },
          "line 5: node #2 is started when 'e' is \"1h\", but with this engine it is not set" },
        { { BEGUN, "3 ended #2" }, "line 6: it has no status" },
        { { BEGUN, "3 ended #2 {'status':'halted'}" }, "line 6: it has no status" },
        { { BEGUN, "3 ended #2 {'status':'unfinished'}" }, "line 6: it has no status" },
        { { BEGUN, "3 ended #2 {'status':'running'}" }, "line 6: it has no outcome" },
        { { BEGUN, "3 ended #2 {'status':'error'}" }, "line 6: it has no cause" },
        { { BEGUN, "3 ended #2 {'status':'failure','cause':[{'kind':'timeout','text':'x','node':1}]}" },
          "line 6: its cause belongs to another node" },
        { { BEGUN, "3 ended #2 {'status':'done'}" }, "line 6: it has no status" },
        { { BEGUN, "3 ended #3 {'status':'success'}" }, "line 6: node #3 is not running" },
        { { BEGUN, "3 changed #2" }, "line 6: node #2 is not being evaluated" },
        { { BEGUN, "3 turned #4" }, "line 6: node #4 is not being evaluated" },
        { { BEGUN, "3 reason #2 {'status':'failure'}" }, "line 6: node #2 is not a condition that is false" },
        { { BEGUN, "3 reason #4 {'status':'failure'}" }, "line 6: node #4 is not a condition that is false" },
        { { BEGUN, "3 timer #2" }, "line 6: there is no such timer" },
        { { BEGUN, "3 interval" }, "line 6: there is no such timer" },
        { { BEGUN, "3 set" }, "line 6: it has no variables" },
        { { BEGUN, "3 note #4 {}" }, "line 6: node #4 is not running" },
        { { BEGUN, "3 rerun #4" }, "line 6: node #4 is not running" },
        { { BEGUN, "3 locked #5" }, "line 6: node #5 waits for no lock" },
        { { BEGUN, "3 refused #5" }, "line 6: node #5 has no lock" },
        { { BEGUN, "3 force #4 {'status':'success'}" }, NULL },
        { { BEGUN, "3 force #4 {'status':'running'}" }, "line 6: it has no outcome" },
        { { BEGUN, "3 stop #2" }, "line 6: the run has not requested 'stop'" },
        { { BEGUN, "3 finished {'status':'success'}" }, "line 6: 'finished' does not happen to a run that is running" },
        { { HALTING, "3 ended #2 {'status':'success'}", "4 tick", "5 finished {'status':'success'}" },
          "line 11: the run is halted at this point" },
        { { HALTING, "3 ended #2 {'status':'success'}", "4 tick", "5 tick" },
          "line 11: 'tick' does not happen to a run that is halted" },
        { { HALTING, "5 pause" }, "line 9: 'pause' does not happen to a run that is being halted" },
        { { HALTING, "3 ended #2 {'status':'success'}", "4 tick", "5 finished {'status':'halted'}" }, NULL },
        { { BEGUN, "5 finished {'status':'unfinished','cause':[{'kind':'halted','text':'x'}]}" }, NULL },
        { { HALTING, "5 finished {'status':'unfinished'}" }, NULL },
        { { HALTING, "5 finished {'status':'unfinished'}", "5 tick" },
          "line 10: 'tick' does not happen to a run that is unfinished" },
        { { SLEPT, "4 value #4 {'status':'failure','look':1}", "5 reason #4 {'status':'failure'}" },
          "line 10: it has no reason" },
        { { SLEPT, "4 value #4 {'status':'failure','look':1}", "5 reason #4 {'status':'success'}" },
          "line 10: it has no reason" },
        { { "1 snapshot {}" }, "line 2: the snapshot does not fit the tree" },
        { { "1 snapshot" }, "line 2: the snapshot does not fit the tree" },
};

static void append_line(GString *text, const char *line, EntryChain *chain) {
        size_t start = text->len;
        bool snapshot = strstr(line, " snapshot");

        g_string_append(text, line);
        g_strdelimit(text->str + start, "'", '"');
        chain->last = entry_append_checksum(text, start, snapshot ? chain->header : chain->last);
}

/* Written with ' for ". */
static GString *record_of(const char *root, uint32_t engine, const char *const *entries) {
        GString *text = g_string_new(NULL);
        EntryChain chain = {};
        g_autofree char *tree = g_strdup_printf("{'btd':1,'blackboard':{'d':'1h','go':false},'root':%s}", root);
        RecordHeader header = {
                .engine = engine,
                .boot = (char *) "0123456789abcdef0123456789abcdef",
                .run = (char *) "boot.1",
                .tree = (char *) "boot",
                .instance = (char *) "",
                .starter = (char *) "autostart",
                .token = (char *) "boot.1",
                .hash = (char *) "abc",
                .variables_kib = limits_default.max[LIMIT_VARIABLES],
                .start = 1000,
                .files = json_object_new_array(),
                .variables = json_object_new_object(),
        };
        json_object *file = json_object_new_object();

        json_object_object_add(file, "path", json_object_new_string("/boot.json"));
        json_object_object_add(file, "text", json_object_new_string(g_strdelimit(tree, "'", '"')));
        json_object_object_add(file, "found", json_object_new_array());
        json_object_array_add(header.files, file);
        chain.header = chain.last = record_header_append(text, &header);
        json_object_put(header.files);
        json_object_put(header.variables);

        for (unsigned i = 0; i < ENTRIES_MAX && entries[i]; i++)
                append_line(text, entries[i], &chain);

        return text;
}

/* NULL: it can be replayed. */
static char *error_of(const char *root, uint32_t engine, const char *const *entries) {
        g_autoptr(GString) text = record_of(root, engine, entries);
        g_autoptr(RunRecord) record = NULL;
        g_autoptr(Definition) definition = NULL;
        g_autoptr(Replay) replay = NULL;
        char *error = NULL;
        int r;

        r = run_record_read_text(text->str, text->len, &record, &error);
        if (r >= 0)
                r = record_definition_new(&record->header, tables, &definition, &error);
        if (r >= 0)
                r = replay_new(record, definition, &replay, &error);
        if (r >= 0)
                r = replay_until(replay, UINT64_MAX, &error);
        g_assert_true((r < 0) == (error != NULL));
        return error;
}

static void assert_errors(const char *root, const Case *some, size_t n) {
        for (size_t i = 0; i < n; i++) {
                g_autofree char *error = error_of(root, engine_version(), some[i].entries);

                g_test_message("case %zu", i);
                g_assert_cmpstr(error, ==, some[i].error);
        }
}

static void test_entries(void) {
        assert_errors(ROOT, cases, G_N_ELEMENTS(cases));
}

static void test_condition(void) {
        static const Case starts[] = {
                { { "1 start {'suspended':0}", "2 tick", "2 begin #1 {'with':{'d':'1h'}}" }, NULL },
                { { "1 start {'suspended':0}", "2 tick", "2 begin #1 {'with':{'d':'2h'}}" },
                  "line 4: node #1 is started when 'd' is \"2h\", but with this engine it is \"1h\"" },
                { { "1 start {'suspended':0}", "2 tick", "2 value #1 {'status':'failure'}" },
                  "line 3: after this line, the run requests 'begin' of node #1, which is not recorded" },
                { { "1 start {'suspended':0}", "2 tick", "2 begin #1 {'with':{'d':'1h'}}",
                    "3 ended #1 {'status':'success'}" },
                  "line 5: node #1 is not running" },
        };

        assert_errors("{'type':'WaitFor','child':{'type':'PathExists','path':'{d}'}}", starts, G_N_ELEMENTS(starts));
}

#define HELD(at) #at " changed #1", #at " tick", #at " value #1 {'status':'success','look':1}"

/* A condition that has completed and is started again in the same tick does not begin again before that. */
static void test_condition_again(void) {
        static const Case again[] = {
                { { "1 start {'suspended':0}", "2 tick", "2 begin #1 {'with':{'d':'1h'}}", HELD(3),
                    "3 arm #1 {'after':7}", "10 changed #1", "10 tick", "10 disarm #1",
                    "10 begin #1 {'with':{'d':'1h'}}", HELD(11), "11 arm #1 {'after':7}" },
                  NULL },
        };

        assert_errors("{'type':'Repeat','num_cycles':2,'child':{'type':'PathExists','path':'{d}','for':'7us'}}", again,
                      G_N_ELEMENTS(again));
}

#define HEARS "1 start {'suspended':0}", "2 tick", "2 arm #0 {'after':5000000}", "2 begin #1"

static void test_signals(void) {
        static const Case signals[] = {
                { { HEARS, "3 signal #1 {'came':[]}", "4 signal #1 {'taken':true}", "5 signal #1 {'came':[]}" }, NULL },
                { { HEARS, "3 signal #1 {'missed':7}" }, NULL },
                { { HEARS, "3 signal #1 {'came':[]}", "4 signal #1 {'came':[]}" },
                  "line 7: the queue of node #1 has no room for this, or is empty" },
                { { HEARS, "3 signal #1 {'taken':true}" },
                  "line 6: the queue of node #1 has no room for this, or is empty" },
                { { HEARS, "3 signal #1 {'missed':'x'}" },
                  "line 6: the queue of node #1 has no room for this, or is empty" },
                { { HEARS, "3 signal #1" }, "line 6: the queue of node #1 has no room for this, or is empty" },
                { { HEARS, "3 signal #0 {'came':[]}" }, "line 6: node #0 gets no signals" },
                { { "1 start {'suspended':0}", "2 signal #1 {'came':[]}" }, "line 3: node #1 gets no signals" },
        };

        assert_errors("{'type':'Timeout','timeout':'5s','child':{'type':'DBusSignal','member':'M','queue':1}}", signals,
                      G_N_ELEMENTS(signals));
}

/* Each answer to a request of the run: of a lock, of a leaf that ends at once, of the interval. */
static void test_answers(void) {
        static const Case locked[] = {
                { { "1 start {'suspended':0}", "2 tick +", "2 at-once-locked #0 +", "2 begin #0" }, NULL },
                { { "1 start {'suspended':0}", "2 tick +", "2 waits #0" }, NULL },
                { { "1 start {'suspended':0}", "2 tick +", "2 begin #0" },
                  "line 3: after this line, the run requests 'waits' of node #0, which is not recorded" },
        };
        static const Case said[] = {
                { { "1 start {'suspended':0}", "2 tick +", "2 begin #0 +",
                    "2 at-once #0 {'status':'success','message':'x','level':'loud'} +",
                    "2 finished {'status':'success'}" },
                  NULL },
                { { "1 start {'suspended':0}", "2 tick +", "2 begin #0 +", "2 at-once #0 {'status':'running'} +",
                    "2 finished {'status':'failure'}" },
                  "line 5: it has no outcome" },
        };
        static const Case again[] = {
                { { "1 start {'suspended':0}", "2 tick +", "2 begin #1 +", "2 at-once #1 {'status':'success'} +",
                    "2 arm {'after':100000}" },
                  NULL },
                { { "1 start {'suspended':0}", "2 tick +", "2 begin #1 +", "2 at-once #1 {'status':'success'}" },
                  "line 5: after this line, the run requests 'arm', which is not recorded" },
        };

        assert_errors("{'type':'Sleep','duration':'1h','lock':'disk'}", locked, G_N_ELEMENTS(locked));
        assert_errors("{'type':'Log','message':'x'}", said, G_N_ELEMENTS(said));
        assert_errors("{'type':'KeepRunningUntilFailure','child':{'type':'AlwaysSuccess'}}", again,
                      G_N_ELEMENTS(again));
}

static void test_engine(void) {
        const char *const entries[ENTRIES_MAX] = { BEGUN, "3 interval" };
        g_autofree char *error = error_of(ROOT, 1000, entries);
        g_autofree char *expected = g_strdup_printf(
                "line 6: there is no such timer (recorded with engine 1000, but this is engine %u)", engine_version());

        g_assert_cmpstr(error, ==, expected);
}

#define SCRIPT_BEGUN "1 start {'suspended':0}", "2 tick +", "2 begin #0 +"
#define SCRIPT_FAILED "2 at-once #0 {'status':'error','cause':[{'kind':'expression','text':'x'}]} +"
#define SCRIPT_DONE "2 at-once #0 {'status':'success'} +"

static const Case results[] = {
        { { SCRIPT_BEGUN, SCRIPT_DONE, "2 computed {'results':[{'set':{'go':true}}]} +",
            "2 finished {'status':'success'}" },
          NULL },
        { { SCRIPT_BEGUN, SCRIPT_DONE, "2 computed {'results':['again']} +", "2 finished {'status':'success'}" },
          NULL },
        { { SCRIPT_BEGUN, SCRIPT_FAILED, "2 computed {'results':[{'set':{'go':true}}]} +",
            "2 finished {'status':'error'}" },
          "line 5: its code has another result" },
        { { SCRIPT_BEGUN, SCRIPT_DONE, "2 computed {'results':[{'error':'x'}]} +", "2 finished {'status':'success'}" },
          "line 5: its code has another result" },
        { { SCRIPT_BEGUN, SCRIPT_FAILED, "2 finished {'status':'error'}" },
          "line 5: after this line, the run evaluates more expressions than are recorded" },
        { { SCRIPT_BEGUN, SCRIPT_DONE, "2 computed {'results':[{'set':{}},true]} +",
            "2 finished {'status':'success'}" },
          "line 5: after this line, the run evaluates fewer expressions than are recorded" },
        { { SCRIPT_BEGUN, SCRIPT_FAILED, "2 computed {'results':[1]} +", "2 finished {'status':'error'}" },
          "line 5: after this line, the result of an expression is not one that it can have" },
        { { SCRIPT_BEGUN, SCRIPT_FAILED, "2 computed {'results':[{'set':{'1x':1}}]} +",
            "2 finished {'status':'error'}" },
          "line 5: after this line, the result of an expression is not one that it can have" },
};

static void test_results(void) {
        assert_errors("{'type':'Script','code':'go = true'}", results, G_N_ELEMENTS(results));
}

/* An expression has this result, then this leaf succeeds. */
#define EVALUATED(result, leaf)                                                                                        \
        "1 start {'suspended':0}", "2 tick +", "2 begin #" leaf " +", "2 at-once #" leaf " {'status':'success'} +",    \
                "2 computed {'results':[" result "]} +", "2 finished {'status':'success'}"
#define NO_RESULT "line 3: after this line, the result of an expression is not one that it can have"

/* What a guard, a Switch and an OnChange evaluate. */
static void test_results_of_conditions(void) {
        static const Case guard[] = {
                { { EVALUATED("false", "0") }, NULL },
                { { EVALUATED("5", "0") }, NO_RESULT },
        };
        static const Case chosen[] = {
                { { EVALUATED("0", "1") }, NULL },         { { EVALUATED("1", "2") }, NULL },
                { { EVALUATED("2", "2") }, NO_RESULT },    { { EVALUATED("-1", "2") }, NO_RESULT },
                { { EVALUATED("true", "2") }, NO_RESULT },
        };
        static const Case changed[] = {
                { { EVALUATED("{'value':1}", "1") }, NULL },
                { { EVALUATED("false", "1") }, NO_RESULT },
        };

        assert_errors("{'type':'AlwaysSuccess','skip_if':'go'}", guard, G_N_ELEMENTS(guard));
        assert_errors("{'type':'Switch','of':'d','cases':['1h'],'children':[{'type':'AlwaysSuccess'},"
                      "{'type':'AlwaysSuccess'}]}",
                      chosen, G_N_ELEMENTS(chosen));
        assert_errors("{'type':'OnChange','of':'d','child':{'type':'AlwaysSuccess'}}", changed, G_N_ELEMENTS(changed));
}

static void test_tree(void) {
        const char *const entries[ENTRIES_MAX] = { "1 start {'suspended':0}" };
        g_autofree char *error = error_of("{'type':'Slep','duration':'1s'}", engine_version(), entries);

        g_assert_cmpstr(error, ==,
                        "this version of btd refuses its tree, which the btd that started the run accepted: "
                        "/boot.json:1:60: error: unknown type 'Slep'; did you mean 'Sleep'? (in Slep)");
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/replay-mismatches/entries", test_entries);
        g_test_add_func("/replay-mismatches/condition", test_condition);
        g_test_add_func("/replay-mismatches/condition-again", test_condition_again);
        g_test_add_func("/replay-mismatches/signals", test_signals);
        g_test_add_func("/replay-mismatches/answers", test_answers);
        g_test_add_func("/replay-mismatches/engine", test_engine);
        g_test_add_func("/replay-mismatches/results", test_results);
        g_test_add_func("/replay-mismatches/results-of-conditions", test_results_of_conditions);
        g_test_add_func("/replay-mismatches/tree", test_tree);
        return g_test_run();
}
