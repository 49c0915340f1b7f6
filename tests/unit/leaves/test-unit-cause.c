/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests the causes of failed jobs, and the check of unit names. */

#include <errno.h>
#include <signal.h>

#include "basic/cleanup.h"
#include "leaf-types/unit.h"
#include "leaves/unit/unit-cause.h"

typedef struct Case {
        UnitVerb verb;
        const char *result;
        UnitFacts facts;
        const char *cause;
} Case;

#define WORD(word) ((char *) (word))
#define FAILED(r)                                                                                                      \
        { .active_state = WORD("failed"), .sub_state = WORD("failed"), .condition_result = 1, .result = WORD(r) }
#define ENDED(r, c, s)                                                                                                 \
        {                                                                                                              \
                .active_state = WORD("failed"), .condition_result = 1, .result = WORD(r), .exec_main_code = (c),       \
                .exec_main_status = (s)                                                                                \
        }

#define ONE(unit) ((char *[]){ WORD(unit), NULL })
#define STARTERS ((char *[]){ WORD("cam.socket"), WORD("cam.timer"), NULL })

static const Case cases[] = {
        { UNIT_START, "failed", ENDED("exit-code", CLD_EXITED, 3),
          "cam.service failed: its main process exited with status 3" },
        { UNIT_START, "failed", ENDED("exit-code", CLD_EXITED, 203),
          "cam.service failed: its program could not be executed (status 203/EXEC)" },
        { UNIT_START, "failed", ENDED("exit-code", CLD_EXITED, 200),
          "cam.service failed: its working directory could not be entered (status 200/CHDIR)" },
        { UNIT_START, "failed", ENDED("exit-code", CLD_EXITED, 202),
          "cam.service failed: its file descriptors could not be set up (status 202/FDS)" },
        { UNIT_START, "failed", ENDED("exit-code", CLD_EXITED, 208),
          "cam.service failed: its standard input could not be set up (status 208/STDIN)" },
        { UNIT_START, "failed", ENDED("exit-code", CLD_EXITED, 209),
          "cam.service failed: its standard output could not be set up (status 209/STDOUT)" },
        { UNIT_START, "failed", ENDED("exit-code", CLD_EXITED, 214),
          "cam.service failed: its scheduling policy could not be set (status 214/SETSCHEDULER)" },
        { UNIT_START, "failed", ENDED("exit-code", CLD_EXITED, 216),
          "cam.service failed: its group does not exist or may not be used (status 216/GROUP)" },
        { UNIT_START, "failed", ENDED("exit-code", CLD_EXITED, 217),
          "cam.service failed: its user does not exist or may not be used (status 217/USER)" },
        { UNIT_START, "failed", ENDED("exit-code", CLD_EXITED, 218),
          "cam.service failed: its capabilities could not be set (status 218/CAPABILITIES)" },
        { UNIT_START, "failed", ENDED("exit-code", CLD_EXITED, 219),
          "cam.service failed: its control group could not be set up (status 219/CGROUP)" },
        { UNIT_START, "failed", ENDED("exit-code", CLD_EXITED, 226),
          "cam.service failed: its mount namespace could not be set up (status 226/NAMESPACE)" },
        { UNIT_START, "failed", ENDED("exit-code", CLD_EXITED, 228),
          "cam.service failed: its system call filter could not be set up (status 228/SECCOMP)" },
        { UNIT_START, "failed", ENDED("exit-code", CLD_EXITED, 233),
          "cam.service failed: its directories could not be created" },
        { UNIT_START, "failed", ENDED("exit-code", CLD_EXITED, 241),
          "cam.service failed: its directories could not be created" },
        { UNIT_START, "failed", FAILED("signal"),
          "cam.service failed: one of its commands was killed (result 'signal')" },
        { UNIT_START, "failed", FAILED("core-dump"),
          "cam.service failed: one of its commands crashed (result 'core-dump')" },
        { UNIT_START, "failed", ENDED("exit-code", CLD_EXITED, 0),
          "cam.service failed: one of its commands failed (result 'exit-code')" },
        { UNIT_START, "failed", FAILED("exit-code"),
          "cam.service failed: one of its commands failed (result 'exit-code')" },
        { UNIT_START, "failed", ENDED("signal", CLD_KILLED, SIGSEGV),
          "cam.service failed: its main process was killed by SIGSEGV (result 'signal')" },
        { UNIT_START, "failed", ENDED("core-dump", CLD_DUMPED, SIGSEGV),
          "cam.service failed: its main process was killed by SIGSEGV and dumped core (result 'core-dump')" },
        { UNIT_START, "failed", FAILED("timeout"),
          "cam.service failed: it took longer than its time limits allow (result 'timeout')" },
        { UNIT_START, "failed", FAILED("watchdog"),
          "cam.service failed: it did not notify its watchdog in time (result 'watchdog')" },
        { UNIT_START, "failed", FAILED("start-limit-hit"),
          "cam.service failed: it was started too often in a short time (result 'start-limit-hit'); "
          "to start it at once, call 'systemctl reset-failed cam.service' first" },
        { UNIT_START, "done", FAILED("start-limit-hit"),
          "cam.service failed: it was started too often in a short time (result 'start-limit-hit'); "
          "to start it at once, call 'systemctl reset-failed cam.service' first" },
        { UNIT_START, "failed", FAILED("oom-kill"),
          "cam.service failed: memory ran out and it was killed (result 'oom-kill')" },
        { UNIT_START, "failed", FAILED("protocol"),
          "cam.service failed: it did not report its start as its Type= requires (result 'protocol')" },
        { UNIT_START, "failed", FAILED("resources"),
          "cam.service failed: a resource that it needs was not available, see its journal (result 'resources')" },
        { UNIT_START, "failed", FAILED("trigger-limit-hit"),
          "cam.service failed: it was triggered too often in a short time (result 'trigger-limit-hit')" },
        { UNIT_START, "failed", FAILED("service-start-limit-hit"),
          "cam.service failed: its service was started too often in a short time (result 'service-start-limit-hit')" },
        { UNIT_START, "failed", FAILED("unit-start-limit-hit"),
          "cam.service failed: its unit was started too often in a short time (result 'unit-start-limit-hit')" },
        { UNIT_START, "failed", FAILED("mount-start-limit-hit"),
          "cam.service failed: its mount was started too often in a short time (result 'mount-start-limit-hit')" },
        { UNIT_START, "failed", FAILED("unmounted"),
          "cam.service failed: its mount point was unmounted by someone else (result 'unmounted')" },
        { UNIT_START, "failed", FAILED("something-new"), "cam.service failed: result 'something-new'" },
        { UNIT_START, "failed", FAILED("success"),
          "cam.service was not started: it failed, its journal may say why (result 'failed')" },
        { UNIT_START,
          "failed",
          { .load_state = WORD("masked") },
          "cam.service was not started: it is masked (result 'failed')" },
        { UNIT_RESTART,
          "failed",
          { .load_state = WORD("not-found") },
          "cam.service was not restarted: its unit file is gone (result 'failed')" },
        { UNIT_START,
          "done",
          { .active_state = WORD("inactive"),
            .sub_state = WORD("dead"),
            .condition_result = 1,
            .exec_main_code = CLD_KILLED,
            .exec_main_status = SIGTERM,
            .binds_to = STARTERS },
          "cam.service was started, but now it is inactive (dead): its BindsTo= setting stops it without cam.socket "
          "and "
          "cam.timer" },
        { UNIT_START,
          "done",
          { .active_state = WORD("inactive"),
            .sub_state = WORD("dead"),
            .condition_result = 1,
            .exec_main_code = CLD_EXITED,
            .binds_to = STARTERS },
          "cam.service was started, but now it is inactive (dead): its main process exited with status 0" },
        { UNIT_STOP,
          "failed",
          {},
          "cam.service was not stopped: it failed, its journal may say why (result 'failed')" },
        { UNIT_RELOAD, "failed", FAILED("success"),
          "cam.service was not reloaded: its reload command failed (result 'failed')" },
        { UNIT_START,
          "dependency",
          {},
          "cam.service was not started: a unit that it requires failed (result 'dependency')" },
        { UNIT_START,
          "dependency",
          { .failed_required = WORD("net.service") },
          "cam.service was not started: net.service, which it requires, failed (result 'dependency')" },
        { UNIT_RESTART, "canceled", {}, "cam.service was not restarted: the job was cancelled (result 'canceled')" },
        { UNIT_STOP,
          "timeout",
          {},
          "cam.service was not stopped: the job took longer than its JobTimeoutSec= allows (result 'timeout')" },
        { UNIT_STOP,
          "timeout",
          { .job_timeout = 20, .job_running_timeout = 20, .job_lasted = 20 },
          "cam.service was not stopped: the job took longer than its JobTimeoutSec= allows (result 'timeout')" },
        { UNIT_START,
          "timeout",
          { .job_timeout = UINT64_MAX, .job_running_timeout = 10 },
          "cam.service was not started: the job took longer than its JobRunningTimeoutSec= allows (result 'timeout')" },
        { UNIT_START,
          "timeout",
          { .job_timeout = 20, .job_running_timeout = 10, .job_lasted = 19 },
          "cam.service was not started: the job took longer than its JobRunningTimeoutSec= allows (result 'timeout')" },
        { UNIT_START,
          "timeout",
          { .job_timeout = 20, .job_running_timeout = 10, .job_lasted = 20 },
          "cam.service was not started: the job took longer than its JobTimeoutSec= allows (result 'timeout')" },
        { UNIT_START,
          "timeout",
          { .job_timeout = 20, .job_running_timeout = 10 },
          "cam.service was not started: the job took longer than its JobTimeoutSec= or JobRunningTimeoutSec= allows "
          "(result 'timeout')" },
        { UNIT_RELOAD,
          "skipped",
          {},
          "cam.service was not reloaded: the job does not apply to the state that it is in (result 'skipped')" },
        { UNIT_RELOAD,
          "invalid",
          { .active_state = WORD("inactive") },
          "cam.service was not reloaded: it is inactive, and only a unit that is up can be reloaded (result "
          "'invalid')" },
        { UNIT_START,
          "assert",
          { .unmet_assert = WORD("AssertPathExists=/x") },
          "cam.service was not started: its AssertPathExists=/x was not met (result 'assert')" },
        { UNIT_START,
          "assert",
          {},
          "cam.service was not started: one of its assertions was not met (result 'assert')" },
        { UNIT_START,
          "unsupported",
          {},
          "cam.service was not started: this system does not support units of its type (result 'unsupported')" },
        { UNIT_START,
          "collected",
          {},
          "cam.service was not started: it was unloaded before its turn came (result 'collected')" },
        { UNIT_START, "once", {}, "cam.service was not started: it can be started only once (result 'once')" },
        { UNIT_RELOAD,
          "failed",
          { .reload_result = WORD("timeout") },
          "cam.service was not reloaded: its reload took longer than TimeoutStartSec= allows (result 'failed')" },
        { UNIT_STOP, "failed", FAILED("timeout"),
          "cam.service was not stopped: it took longer than its time limits allow (result 'timeout')" },
        { UNIT_START,
          "canceled",
          { .conflicting = WORD("other.service") },
          "cam.service was not started: other.service, which conflicts with it, was started (result 'canceled')" },
        { UNIT_START,
          "done",
          { .active_state = WORD("inactive"),
            .sub_state = WORD("dead"),
            .result = WORD("success"),
            .condition_result = 1,
            .conflicting = WORD("other.service") },
          "cam.service was started, but now it is inactive (dead): other.service, which conflicts with it, was "
          "started" },
        { UNIT_START,
          "frozen",
          {},
          "cam.service was not started: it is frozen; thaw it first, see 'systemctl thaw' (result 'frozen')" },
        { UNIT_START,
          "concurrency",
          {},
          "cam.service was not started: its slice runs as many units as its ConcurrencyHardMax= allows (result "
          "'concurrency')" },
        { UNIT_START, "brand-new", {}, "cam.service was not started: its job ended (result 'brand-new')" },
        { UNIT_START,
          "done",
          { .unmet_condition = WORD("ConditionPathExists=/x") },
          "cam.service was not started: its ConditionPathExists=/x was not met" },
        { UNIT_START, "done", {}, "cam.service was not started: one of its conditions was not met" },
        { UNIT_START,
          "done",
          { .result = WORD("exec-condition"), .condition_result = 1 },
          "cam.service was not started: its ExecCondition= was not met (result 'exec-condition')" },
        { UNIT_RESTART, "done", ENDED("exit-code", CLD_EXITED, 203),
          "cam.service failed: its program could not be executed (status 203/EXEC)" },
        { UNIT_START,
          "done",
          { .active_state = WORD("activating"),
            .sub_state = WORD("auto-restart"),
            .result = WORD("exit-code"),
            .condition_result = 1,
            .exec_main_code = CLD_EXITED,
            .exec_main_status = 1 },
          "cam.service failed: its main process exited with status 1; its Restart= setting starts it again" },
        { UNIT_START,
          "done",
          { .active_state = WORD("deactivating"),
            .sub_state = WORD("stop-sigterm"),
            .result = WORD("success"),
            .condition_result = 1 },
          "cam.service was started, but now it is deactivating (stop-sigterm)" },
        { UNIT_START,
          "done",
          { .active_state = WORD("inactive"),
            .sub_state = WORD("dead"),
            .condition_result = 1,
            .stop_when_unneeded = 1 },
          "cam.service was started, but now it is inactive (dead): its StopWhenUnneeded= setting stops it" },
        { UNIT_RELOAD,
          "done",
          { .active_state = WORD("inactive"), .sub_state = WORD("dead"), .exec_main_code = CLD_EXITED },
          "cam.service was reloaded, but now it is inactive (dead): its main process exited with status 0" },
        { UNIT_RELOAD,
          "done",
          { .active_state = WORD("active"), .restart = WORD("always"), .ended_since = true },
          "cam.service was reloaded, but it has ended since; its Restart= setting starts it again" },
        { UNIT_START,
          "failed",
          { .active_state = WORD("activating"), .restart = WORD("on-failure"), .result = WORD("success") },
          "cam.service was not started: it failed, its journal may say why (result 'failed'); its Restart= setting "
          "starts it again" },
        { UNIT_START,
          "done",
          { .active_state = WORD("failed"), .condition_result = 1, .result = WORD("exit-code"), .n_restarts = 1 },
          "cam.service failed: one of its commands failed (result 'exit-code'); systemd has restarted it 1 time" },
        /* What it has said. */
        { UNIT_START,
          "failed",
          { .active_state = WORD("failed"),
            .result = WORD("exit-code"),
            .exec_main_code = CLD_EXITED,
            .exec_main_status = 3,
            .n_restarts = 1,
            .words = WORD("no camera; bye") },
          "cam.service failed: its main process exited with status 3: no camera; bye; systemd has restarted it 1 "
          "time" },
        { UNIT_START,
          "done",
          { .active_state = WORD("failed"),
            .condition_result = 1,
            .result = WORD("exit-code"),
            .exec_main_code = CLD_EXITED,
            .exec_main_status = 3,
            .words = WORD("no camera") },
          "cam.service failed: its main process exited with status 3: no camera" },
        { UNIT_START,
          "done",
          { .active_state = WORD("inactive"),
            .sub_state = WORD("dead"),
            .condition_result = 1,
            .exec_main_code = CLD_EXITED,
            .words = WORD("no camera") },
          "cam.service was started, but now it is inactive (dead): its main process exited with status 0: no camera" },
        { UNIT_STOP,
          "done",
          { .active_state = WORD("active"), .sub_state = WORD("running") },
          "cam.service was stopped, but now it is active (running)" },
        { UNIT_STOP,
          "done",
          { .active_state = WORD("active"), .sub_state = WORD("running"), .starters = STARTERS },
          "cam.service was stopped, but now it is active (running): cam.socket and cam.timer can start it again" },
        { UNIT_STOP,
          "done",
          { .active_state = WORD("active"),
            .sub_state = WORD("running"),
            .on_success = ONE("again.service"),
            .on_failure = STARTERS },
          "cam.service was stopped, but now it is active (running): its OnSuccess= setting starts again.service, its "
          "OnFailure= setting starts cam.socket and cam.timer" },
        { UNIT_STOP,
          "done",
          { .active_state = WORD("active"),
            .sub_state = WORD("running"),
            .activatable = true,
            .bus_name = WORD("org.example.Cam"),
            .on_success = ONE("mail.service") },
          "cam.service was stopped, but now it is active (running): a call to org.example.Cam can start it again" },
        { UNIT_START,
          "failed",
          { .active_state = WORD("failed"),
            .result = WORD("signal"),
            .on_failure = ONE("spare.service"),
            .on_success = ONE("mail.service"),
            .n_restarts = 2 },
          "cam.service failed: one of its commands was killed (result 'signal'); systemd has restarted it 2 times; its "
          "OnFailure= setting starts spare.service" },
        { UNIT_START,
          "failed",
          { .active_state = WORD("failed"), .result = WORD("signal"), .needs_daemon_reload = 1 },
          "cam.service failed: one of its commands was killed (result 'signal'); its files have changed since systemd "
          "has read them, see 'systemctl daemon-reload'" },
        { UNIT_RESTART,
          "canceled",
          { .needs_daemon_reload = 1 },
          "cam.service was not restarted: the job was cancelled (result 'canceled'); its files have changed since "
          "systemd has read them, see 'systemctl daemon-reload'" },
        { UNIT_STOP,
          "timeout",
          { .needs_daemon_reload = 1 },
          "cam.service was not stopped: the job took longer than its JobTimeoutSec= allows (result 'timeout')" },
};

static void test_results(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *cause =
                        unit_cause("cam.service", cases[i].verb, cases[i].result, &cases[i].facts, false);

                g_assert_cmpstr(cause, ==, cases[i].cause);
        }
}

static void test_note(void) {
        const UnitFacts facts = { .active_state = WORD("inactive"), .starters = STARTERS, .n_restarts = 2 },
                        failed = { .active_state = WORD("failed"),
                                   .result = WORD("exit-code"),
                                   .exec_main_code = CLD_EXITED,
                                   .exec_main_status = 143,
                                   .became_inactive = 5,
                                   .control_group = WORD("/x"),
                                   .starters = STARTERS,
                                   .activatable = true,
                                   .bus_name = WORD("org.example.Cam") },
                        timeout = { .active_state = WORD("failed"),
                                    .result = WORD("timeout"),
                                    .exec_main_code = CLD_KILLED,
                                    .exec_main_status = SIGKILL,
                                    .left_inactive = 1,
                                    .became_active = 2,
                                    .became_inactive = 5 },
                        stopped = { .active_state = WORD("inactive"), .result = WORD("success") };
        g_autofree char *note = unit_note_of_stop("cam.service", &facts, 4),
                        *of_failed = unit_note_of_stop("cam.service", &failed, 4),
                        *of_failed_before = unit_note_of_stop("cam.service", &failed, 5),
                        *none = unit_note_of_stop("cam.service", &stopped, 4),
                        *of_timeout = unit_note_of_stop("cam.service", &timeout, 4),
                        *of_socket = unit_cause("cam.socket", UNIT_START, "failed", &stopped, false),
                        *old = unit_note_of_old_files("cam.service", true),
                        *other = unit_note_of_restarts("cam.service", &facts);

        g_assert_cmpstr(other, ==, "cam.service was started; systemd has restarted it 2 times");
        g_assert_cmpstr(note, ==, "cam.service is stopped, but cam.socket and cam.timer can start it again");
        g_assert_cmpstr(
                of_failed, ==,
                "cam.service is stopped, but it has failed: its main process exited with status 143; processes of it "
                "still run, see KillMode= in systemd.kill(5); cam.socket and cam.timer and a call to org.example.Cam "
                "can start it again");
        g_assert_cmpstr(
                of_failed_before, ==,
                "cam.service is stopped, but processes of it still run, see KillMode= in systemd.kill(5); cam.socket "
                "and cam.timer and a call to org.example.Cam can start it again");
        g_assert_cmpstr(none, ==, NULL);
        g_assert_cmpstr(of_timeout, ==,
                        "cam.service is stopped, but it has failed: its main process took longer than TimeoutStopSec= "
                        "allows (result 'timeout')");
        g_assert_cmpstr(
                of_socket, ==,
                "cam.socket was not started: it failed, perhaps because its service is running, see its journal "
                "(result 'failed')");
        g_assert_cmpstr(old, ==,
                        "cam.service was restarted, but its files have changed since systemd has read them, see "
                        "'systemctl --user daemon-reload'");
}

/* What failed first is behind the result, if it is of that kind. All were started at the time of their index. */
static void test_commands(void) {
        static const struct {
                const char *result, *type;
                int main_code, main_status;
                uint64_t main_ended;
                UnitCommand commands[3];
                const char *cause;
        } rows[] = {
                { "exit-code",
                  "exec",
                  CLD_KILLED,
                  SIGTERM,
                  9,
                  { { "ExecStartPost", WORD("/bin/post"), CLD_EXITED, 3, 0, 8 } },
                  "cam.service failed: its ExecStartPost= command /bin/post exited with status 3" },
                { "exit-code",
                  "exec",
                  CLD_EXITED,
                  4,
                  7,
                  { { "ExecStart", WORD("/bin/cam"), CLD_EXITED, 4, 0, 7 },
                    { "ExecStopPost", WORD("/bin/stop"), CLD_EXITED, 5, 0, 8 } },
                  "cam.service failed: its main process exited with status 4" },
                /* It waits to be started again by Restart=. */
                { "exit-code",
                  "exec",
                  CLD_EXITED,
                  4,
                  3,
                  {},
                  "cam.service failed: its main process exited with status 4" },
                { "signal",
                  "exec",
                  CLD_KILLED,
                  SIGTERM,
                  9,
                  { { "ExecStartPost", WORD("/bin/post"), CLD_KILLED, SIGKILL, 0, 8 } },
                  "cam.service failed: its ExecStartPost= command /bin/post was killed by SIGKILL (result 'signal')" },
                { "exit-code",
                  "forking",
                  0,
                  0,
                  0,
                  { { "ExecStart", WORD("/bin/cam"), CLD_EXITED, 4, 0, 7 } },
                  "cam.service failed: its ExecStart= command /bin/cam exited with status 4" },
                { "exit-code",
                  "exec",
                  0,
                  0,
                  0,
                  { { "ExecStartPre", WORD("/bin/pre"), CLD_EXITED, 203, 0, 7 } },
                  "cam.service failed: its ExecStartPre= command /bin/pre failed: its program could not be executed "
                  "(status 203/EXEC)" },
                { "exit-code",
                  "exec",
                  0,
                  0,
                  0,
                  { { "ExecReload", WORD("/bin/reload"), CLD_EXITED, 1, 0, 7 } },
                  "cam.service failed: one of its commands failed (result 'exit-code')" },
                { "exec-condition",
                  "exec",
                  0,
                  0,
                  0,
                  { { "ExecCondition", WORD("/bin/ask"), CLD_EXITED, 7, 0, 7 } },
                  "cam.service failed: its ExecCondition= was not met: /bin/ask exited with status 7 (result "
                  "'exec-condition')" },
                { "timeout",
                  "exec",
                  CLD_KILLED,
                  SIGTERM,
                  8,
                  { { "ExecStop", WORD("/bin/stop"), CLD_KILLED, SIGTERM, 0, 9 } },
                  "cam.service failed: its ExecStop= command /bin/stop took longer than TimeoutStopSec= allows (result "
                  "'timeout')" },
                { "timeout",
                  "notify",
                  CLD_KILLED,
                  SIGTERM,
                  8,
                  {},
                  "cam.service failed: its main process took longer than TimeoutStartSec= allows (result 'timeout')" },
                { "protocol",
                  "notify",
                  CLD_EXITED,
                  0,
                  8,
                  {},
                  "cam.service failed: it did not report its start as its Type=notify requires (result 'protocol')" },
                { "exit-code",
                  NULL,
                  0,
                  0,
                  0,
                  { { "ExecUnmount", WORD("/bin/umount"), CLD_EXITED, 32, 0, 7 } },
                  "cam.service failed: its unmount command /bin/umount exited with status 32" },
                { "exit-code",
                  NULL,
                  0,
                  0,
                  0,
                  { { "ExecRemount", WORD("/bin/mount"), CLD_EXITED, 32, 0, 7 } },
                  "cam.service failed: its remount command /bin/mount exited with status 32" },
                { "exit-code",
                  NULL,
                  0,
                  0,
                  0,
                  { { "ExecActivate", WORD("/sbin/swapon"), CLD_EXITED, 1, 0, 7 } },
                  "cam.service failed: its swapon command /sbin/swapon exited with status 1" },
                { "timeout",
                  NULL,
                  0,
                  0,
                  0,
                  { { "ExecDeactivate", WORD("/sbin/swapoff"), CLD_KILLED, SIGTERM, 0, 7 } },
                  "cam.service failed: its swapoff command /sbin/swapoff took longer than TimeoutSec= allows (result "
                  "'timeout')" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
                g_autoptr(GArray) ended = g_array_new(FALSE, FALSE, sizeof(UnitCommand));
                const UnitFacts facts = { .active_state = WORD("failed"),
                                          .condition_result = 1,
                                          .result = WORD(rows[i].result),
                                          .type = WORD(rows[i].type),
                                          .left_inactive = 5,
                                          .exec_main_code = rows[i].main_code,
                                          .exec_main_status = rows[i].main_status,
                                          .exec_main_exited = rows[i].main_ended,
                                          .commands = { .ended = ended, .n_start = 1 } };
                g_autofree char *cause = NULL;

                for (size_t j = 0; j < G_N_ELEMENTS(rows[i].commands) && rows[i].commands[j].setting; j++) {
                        UnitCommand command = rows[i].commands[j];

                        command.started = j + 1;
                        g_array_append_val(ended, command);
                }
                cause = unit_cause("cam.service", UNIT_START, "failed", &facts, false);
                g_assert_cmpstr(cause, ==, rows[i].cause);
        }
}

/* Why a unit that another one requires has kept that from being started. */
static void test_required(void) {
        static const struct {
                UnitFacts facts;
                const char *clause;
        } rows[] = {
                { FAILED("success"), "failed" },
                { ENDED("signal", CLD_KILLED, SIGKILL), "failed: its main process was killed by SIGKILL" },
                { { .id = WORD("dev-a.device"), .active_state = WORD("inactive") }, "is not there" },
                { { .active_state = WORD("activating"), .sub_state = WORD("start") },
                  "is activating (start), but its job was cancelled or took too long" },
                { { .active_state = WORD("inactive"),
                    .tested_asserts = 1,
                    .unmet_assert = WORD("AssertPathExists=/x") },
                  "was not started: its AssertPathExists=/x was not met" },
                { { .active_state = WORD("inactive"), .tested_asserts = 1 },
                  "was not started: one of its assertions was not met" },
                { { .active_state = WORD("inactive"), .sub_state = WORD("dead") }, "is inactive (dead)" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
                g_auto(UnitFacts) blamed = {};
                const char *clause;

                unit_facts_blame(&blamed, "dependency", "net.service", &rows[i].facts);
                clause = blamed.required_reason;

                g_assert_cmpstr(clause, ==, rows[i].clause);
        }
}

static void test_user_manager(void) {
        const UnitFacts facts = FAILED("start-limit-hit");
        g_autofree char *cause = unit_cause("cam.service", UNIT_RESTART, "failed", &facts, true);

        g_assert_cmpstr(cause, ==,
                        "cam.service failed: it was started too often in a short time (result 'start-limit-hit'); "
                        "to start it at once, call 'systemctl --user reset-failed cam.service' first");
}

static void test_errors(void) {
        const sd_bus_error missing = SD_BUS_ERROR_MAKE_CONST("org.freedesktop.systemd1.NoSuchUnit",
                                                             "Unit cam.service not found."),
                           none = SD_BUS_ERROR_MAKE_CONST(SD_BUS_ERROR_SERVICE_UNKNOWN, "The name is not known"),
                           silent = SD_BUS_ERROR_MAKE_CONST("org.example.Error", NULL),
                           down = SD_BUS_ERROR_MAKE_CONST("org.freedesktop.systemd1.TransactionIsDestructive",
                                                          "Transaction is destructive."),
                           conflict = SD_BUS_ERROR_MAKE_CONST(
                                   "org.freedesktop.systemd1.TransactionIsDestructive",
                                   "Transaction for cam.service/start is destructive (other.service has 'start' job "
                                   "queued, but 'stop' is included in transaction)."),
                           stops = SD_BUS_ERROR_MAKE_CONST(
                                   "org.freedesktop.systemd1.TransactionIsDestructive",
                                   "Transaction for cam.service/start is destructive (cam.service has 'stop' job "
                                   "queued, but 'start' is included in transaction)."),
                           other_stops = SD_BUS_ERROR_MAKE_CONST(
                                   "org.freedesktop.systemd1.TransactionIsDestructive",
                                   "Transaction for cam.service/start is destructive (net.service has 'stop' job "
                                   "queued, but 'start' is included in transaction).");
        g_autofree char *a = unit_cause_of_error("cam.service", UNIT_START, &missing, false),
                        *b = unit_cause_of_error("cam.service", UNIT_STOP, &none, false),
                        *c = unit_cause_of_error("cam.service", UNIT_RELOAD, &silent, false),
                        *d = unit_cause_of_error("cam.service", UNIT_START, &down, false),
                        *e = unit_cause_of_error("cam.service", UNIT_START, &conflict, false),
                        *f = unit_cause_of_error("cam.service", UNIT_START, &conflict, true),
                        *g = unit_cause_of_error("cam.service", UNIT_START, &stops, false),
                        *h = unit_cause_of_error("cam.service", UNIT_START, &other_stops, false),
                        *device = unit_cause("dev-a.device", UNIT_START, "timeout", &(UnitFacts){}, false);

        g_assert_cmpstr(a, ==, "cannot start cam.service: Unit cam.service not found");
        g_assert_cmpstr(g, ==, "cannot start cam.service: it has a 'stop' job, which this mode does not replace");
        g_assert_cmpstr(
                h, ==,
                "cannot start cam.service: systemd has jobs that must not be replaced, as when the machine goes "
                "down (Transaction for cam.service/start is destructive (net.service has 'stop' job queued, but "
                "'start' is included in transaction))");
        g_assert_cmpstr(device, ==,
                        "dev-a.device was not started: the device did not appear in time (result 'timeout')");
        g_assert_cmpstr(b, ==, "cannot stop cam.service: there is no systemd on this bus");
        g_assert_cmpstr(c, ==, "cannot reload cam.service: org.example.Error");
        g_assert_cmpstr(
                d, ==,
                "cannot start cam.service: systemd has jobs that must not be replaced, as when the machine goes "
                "down (Transaction is destructive)");
        g_assert_cmpstr(e, ==,
                        "cannot start cam.service: it conflicts with other.service, which has a 'start' job; this mode "
                        "does not replace that");
        g_assert_cmpstr(f, ==,
                        "cannot start cam.service: systemd has jobs that must not be replaced, as when the machine "
                        "goes down (Transaction for cam.service/start is destructive (other.service has 'start' job "
                        "queued, but 'stop' is included in transaction))");
}

static void test_names(void) {
        static const char *const names[][2] = {
                { "cam", "cam.service" },
                { "cam.service", "cam.service" },
                { "local-fs.target", "local-fs.target" },
                { "cam@front.service", "cam@front.service" },
                { "cam@front", "cam@front.service" },
                { "org.example.Camera", "org.example.Camera.service" },
                { "dev-disk-by\\x2dlabel.device", "dev-disk-by\\x2dlabel.device" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
                g_autofree char *complete = NULL, *error = NULL;

                g_assert_cmpint(unit_name_complete(names[i][0], &complete, &error), ==, 0);
                g_assert_cmpstr(complete, ==, names[i][1]);
        }
}

static void test_facts(void) {
        const UnitFacts crashed = { .active_state = WORD("failed"),
                                    .result = WORD("core-dump"),
                                    .exec_main_code = CLD_DUMPED,
                                    .exec_main_status = SIGSEGV,
                                    .invocation_id = WORD("0123456789abcdef0123456789abcdef") },
                        earlier = { .result = WORD("timeout"), .exec_main_code = CLD_EXITED, .exec_main_status = 3 };
        g_autoptr(json_object) first = unit_cause_facts("cam.service", UNIT_START, "system", "failed", &crashed),
                               second = unit_cause_facts("cam.service", UNIT_START, NULL, "failed", &earlier);

        g_assert_cmpstr(json_object_to_json_string_ext(first, JSON_C_TO_STRING_PLAIN), ==,
                        "{\"unit\":\"cam.service\",\"bus\":\"system\",\"job_result\":\"failed\","
                        "\"result\":\"core-dump\",\"active_state\":\"failed\","
                        "\"invocation_id\":\"0123456789abcdef0123456789abcdef\",\"command\":\"ExecStart\",\"signal\":"
                        "\"SIGSEGV\","
                        "\"core_dumped\":true}");
        g_assert_cmpstr(json_object_to_json_string_ext(second, JSON_C_TO_STRING_PLAIN), ==,
                        "{\"unit\":\"cam.service\",\"job_result\":\"failed\",\"result\":\"timeout\"}");
}

static void test_bad_names(void) {
        static const char *const names[][2] = {
                { "", "the name of the unit is empty" },
                { "my cam.service",
                  "\"my cam.service\" is not the name of a unit: it may have letters, digits and any of \":-_.\\@\"" },
                { "cam/left", "\"cam/left.service\" is not the name of a unit: it may have letters, digits and any of "
                              "\":-_.\\@\"" },
                { ".service", "\".service\" is not the name of a unit: there is nothing before the \".\"" },
                { "@x.service", "\"@x.service\" is not the name of a unit: there is nothing before the \"@\"" },
                { "cam@front.taget",
                  "\"cam@front.taget\" is not the name of a unit: there is no suffix \".taget\"; did "
                  "you mean \"cam@front.target\"?" },
                { "cam@.service", "\"cam@.service\" is a template: put the name of an instance behind the \"@\"" },
        };
        g_autofree char *much = g_strnfill(250, 'x'), *complete = NULL, *long_error = NULL;

        for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
                g_autofree char *error = NULL;

                g_assert_cmpint(unit_name_complete(names[i][0], &complete, &error), ==, -EINVAL);
                g_assert_cmpstr(error, ==, names[i][1]);
        }

        g_assert_cmpint(unit_name_complete(much, &complete, &long_error), ==, -EINVAL);
        g_assert_cmpstr(long_error, ==,
                        "\"xxxxxxxxxxxxxxxxxxxx...\" is not the name of a unit: it is longer than 255 characters");
        g_assert_null(complete);
}

static void test_path(void) {
        g_autofree char *path = unit_name_path("cam-1.service");

        g_assert_cmpstr(path, ==, "/org/freedesktop/systemd1/unit/cam_2d1_2eservice");
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);

        g_test_add_func("/unit-cause/results", test_results);
        g_test_add_func("/unit-cause/note", test_note);
        g_test_add_func("/unit-cause/user-manager", test_user_manager);
        g_test_add_func("/unit-cause/commands", test_commands);
        g_test_add_func("/unit-cause/required", test_required);
        g_test_add_func("/unit-cause/errors", test_errors);
        g_test_add_func("/unit-cause/facts", test_facts);
        g_test_add_func("/unit-cause/names", test_names);
        g_test_add_func("/unit-cause/bad-names", test_bad_names);
        g_test_add_func("/unit-cause/path", test_path);

        return g_test_run();
}
