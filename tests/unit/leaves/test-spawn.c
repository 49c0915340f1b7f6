/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests Spawn with real processes, as children of the test. */

#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "assert-cause.h"
#include "basic/cleanup.h"
#include "leaf-stage.h"
#include "leaf-types/leaf-types.h"
#include "leaves/spawn/spawn-process.h"
#include "leaves/unit/unit-cause.h"

static const NodeType *const types[] = { &spawn_type, NULL };

static TestLeaf *spawn(LeafStage *stage, const char *rest) {
        g_autofree char *node = g_strdup_printf("{ \"type\": \"Spawn\", \"as\": \"child\", %s }", rest);

        return leaf_stage_start(stage, types, node);
}

/* rest: more keys, beginning with a comma. */
static TestLeaf *shell(LeafStage *stage, const char *script, const char *rest) {
        g_autoptr(json_object) text = json_object_new_string(script);
        g_autofree char *keys =
                g_strdup_printf("\"argv\": [\"/bin/sh\", \"-c\", %s] %s", json_object_to_json_string(text), rest);

        return spawn(stage, keys);
}

static void assert_failure(LeafStage *stage, const char *rest, const char *cause) {
        g_autoptr(TestLeaf) leaf = spawn(stage, rest);

        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_FAILURE);
        g_assert_cmpstr(leaf->cause, ==, cause);
}

static unsigned count_fds(void) {
        g_autoptr(GDir) dir = g_dir_open("/proc/self/fd", 0, NULL);
        unsigned n = 0;

        while (g_dir_read_name(dir))
                n++;

        return n;
}

static void test_success(void) {
        g_autoptr(LeafStage) stage = leaf_stage_new(NULL);
        g_autoptr(TestLeaf) leaf = spawn(stage, "\"argv\": [\"/bin/true\"]");

        g_assert_cmpint(leaf->status, ==, STATUS_RUNNING);
        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_SUCCESS);
        g_assert_cmpstr(leaf->cause, ==, NULL);
}

static void test_description(void) {
        g_autoptr(LeafStage) stage = leaf_stage_new(NULL);
        g_autoptr(TestLeaf) leaf = spawn(stage, "\"argv\": [\"/bin/sleep\", \"infinity\"]");
        g_autofree char *text = test_leaf_describe(leaf);

        g_assert_cmpstr(text, ==, "/bin/sleep to be started");
        while (g_str_has_suffix(text, " to be started")) {
                g_main_context_iteration(NULL, true);
                text = (g_free(text), test_leaf_describe(leaf));
        }
        g_assert_true(g_str_has_prefix(text, "process "));
        g_assert_true(g_str_has_suffix(text, " (/bin/sleep)"));
        test_leaf_halt(leaf);
        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_FAILURE);
}

/* A name service that does not answer until it is released. */
static struct {
        GMutex mutex;
        GCond changed;
        bool asked, released;
} slow;

int getpwnam_r(const char *name, struct passwd *passwd, char *buffer, size_t size, struct passwd **ret_entry) {
        bool is_slow = g_str_has_prefix(name, "slow-");
        const struct passwd *entry;

        g_mutex_lock(&slow.mutex);
        slow.asked |= is_slow;
        g_cond_broadcast(&slow.changed);
        while (is_slow && !slow.released)
                g_cond_wait(&slow.changed, &slow.mutex);
        g_mutex_unlock(&slow.mutex);

        entry = g_str_equal(name, "slow-self") ? getpwuid(geteuid()) : getpwnam(name);
        *ret_entry = NULL;
        if (!entry)
                return 0;
        *passwd = *entry;
        *ret_entry = passwd;
        return 0;
}

static TestLeaf *spawn_slowly(LeafStage *stage, const char *rest) {
        TestLeaf *leaf;

        slow.asked = slow.released = false;
        leaf = spawn(stage, rest);
        g_mutex_lock(&slow.mutex);
        while (!slow.asked)
                g_cond_wait(&slow.changed, &slow.mutex);
        g_mutex_unlock(&slow.mutex);
        return leaf;
}

static void release(void) {
        g_mutex_lock(&slow.mutex);
        slow.released = true;
        g_cond_broadcast(&slow.changed);
        g_mutex_unlock(&slow.mutex);
}

/* Everything else goes on meanwhile. */
static void test_slow_start(void) {
        g_autoptr(LeafStage) stage = leaf_stage_new(NULL);
        g_autoptr(TestLeaf) leaf = spawn_slowly(stage, "\"argv\": [\"/bin/true\"], \"user\": \"slow-nobody\""),
                            other = spawn(stage, "\"argv\": [\"/bin/true\"]");

        g_assert_cmpint(test_leaf_wait(other), ==, STATUS_SUCCESS);
        g_assert_cmpint(leaf->status, ==, STATUS_RUNNING);
        release();
        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_FAILURE);
        g_assert_cmpstr(leaf->cause, ==, "there is no user \"slow-nobody\"");
}

static void test_halt_before_start(void) {
        g_autoptr(LeafStage) stage = leaf_stage_new(NULL);
        g_autoptr(TestLeaf) leaf = spawn_slowly(stage, "\"argv\": [\"/bin/sleep\", \"1000\"], \"user\": \"slow-self\"");

        g_timeout_add_once(1, (GSourceOnceFunc) release, NULL);
        test_leaf_halt(leaf);
        g_assert_true(leaf->halted);
}

/* Nobody waits for it any more, so it is never started. */
static void test_drop_before_start(void) {
        g_autoptr(LeafStage) stage = leaf_stage_new(NULL);
        g_autofree char *directory = g_dir_make_tmp("btd-spawn-XXXXXX", NULL),
                        *rest = g_strdup_printf("\"argv\": [\"/bin/sh\", \"-c\", \"sleep 0.2; mkdir %s/begun\"], "
                                                "\"user\": \"slow-self\"",
                                                directory);
        g_autoptr(TestLeaf) leaf = spawn_slowly(stage, rest);

        g_clear_pointer(&leaf, test_leaf_free);
        release();
        g_clear_pointer(&stage, leaf_stage_free);
        while (waitpid(-1, NULL, 0) > 0)
                ;
        g_assert_cmpint(rmdir(directory), ==, 0);
}

/* The process of a daemon that was killed is ended, and only then the leaf is lost. */
static void test_left_by_a_daemon(void) {
        g_autoptr(LeafStage) stage = leaf_stage_new(NULL);
        g_autoptr(TestLeaf) left = spawn(stage, "\"argv\": [\"/bin/sleep\", \"1000\"]"), next = NULL, last = NULL;

        while (!json_object_object_get(left->memo, "pid"))
                g_main_context_iteration(NULL, true);
        next = leaf_stage_recover(stage, types, "{ \"type\": \"Spawn\", \"argv\": [\"/bin/true\"] }",
                                  json_object_get(left->memo));
        g_assert_cmpint(next->status, ==, STATUS_RUNNING);
        test_leaf_wait(next);
        g_assert_true(next->lost);
        g_assert_cmpint(test_leaf_wait(left), ==, STATUS_FAILURE);

        last = leaf_stage_recover(stage, types, "{ \"type\": \"Spawn\", \"argv\": [\"/bin/true\"] }",
                                  json_object_get(left->memo));
        g_assert_cmpint(last->status, ==, STATUS_IDLE);
}

static void test_search_path(void) {
        g_autoptr(LeafStage) stage = leaf_stage_new(NULL);
        g_autoptr(TestLeaf) leaf = spawn(stage, "\"argv\": [\"true\"]");

        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_SUCCESS);
        assert_failure(stage, "\"argv\": [\"no-such-program\"]",
                       "cannot execute no-such-program: it is not in any directory of PATH");
}

static void test_exit_status(void) {
        g_autoptr(LeafStage) stage = leaf_stage_new(NULL);
        g_autoptr(TestLeaf) three = shell(stage, "exit 3", ""),
                            accepted = shell(stage, "exit 3", ", \"success_exit\": [0, 3]"),
                            zero = shell(stage, "exit 0", ", \"success_exit\": [3]");

        g_assert_cmpint(test_leaf_wait(three), ==, STATUS_FAILURE);
        g_assert_cmpstr(three->cause, ==, "exited with status 3");
        assert_cause(three->reason, "exit-status", "{\"program\":\"/bin/sh\",\"status\":3}");
        g_assert_true(cause_matches(three->reason, "exit-status:3"));
        g_assert_cmpint(test_leaf_wait(accepted), ==, STATUS_SUCCESS);
        g_assert_cmpint(test_leaf_wait(zero), ==, STATUS_FAILURE);
        g_assert_cmpstr(zero->cause, ==, "exited with status 0");
}

static void test_signal(void) {
        g_autoptr(LeafStage) stage = leaf_stage_new(NULL);
        g_autoptr(TestLeaf) leaf = shell(stage, "kill -USR1 $$", "");

        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_FAILURE);
        g_assert_cmpstr(leaf->cause, ==, "was killed by SIGUSR1");
        assert_cause(leaf->reason, "signal", "{\"program\":\"/bin/sh\",\"signal\":\"SIGUSR1\",\"core_dumped\":false}");
}

static void test_cannot_execute(void) {
        g_autoptr(LeafStage) stage = leaf_stage_new(NULL);
        g_autoptr(TestLeaf) leaf = spawn(stage, "\"argv\": [\"/x/y\"]");

        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_FAILURE);
        assert_cause(leaf->reason, "failed", "{\"program\":\"/x/y\"}");

        assert_failure(stage, "\"argv\": [\"/x/y\"]", "cannot execute /x/y: No such file or directory");
        assert_failure(stage, "\"argv\": [\"/etc\"]", "cannot execute /etc: Permission denied");
        assert_failure(stage, "\"argv\": [\"/bin/true\"], \"cwd\": \"/x\"",
                       "cannot change to directory /x: No such file or directory");
        assert_failure(stage, "\"argv\": [\"/bin/true\"], \"user\": \"no-such-user\"",
                       "there is no user \"no-such-user\"");
        assert_failure(stage, "\"argv\": [\"/bin/true\"], \"group\": \"no-such-group\"",
                       "there is no group \"no-such-group\"");
        g_assert_cmpint(waitpid(-1, NULL, WNOHANG), ==, -1);
}

/* Where a tree says so itself, it does not load. */
static void assert_refused(const char *rest, const char *text) {
        g_autofree char *node = g_strdup_printf("{ \"type\": \"Spawn\", \"as\": \"child\", %s }", rest);
        g_autofree char *error = leaf_stage_check(types, node);

        g_assert_cmpstr(error, ==, text);
}

static void test_bad_parameters(void) {
        assert_refused("\"argv\": [\"\"]", "argv[0]: expected a program, not an empty string");
        assert_refused("\"argv\": [\"./true\"]",
                       "argv[0]: \"./true\" must begin with \"/\", or be a name to look for in PATH");
        assert_refused("\"argv\": [\"true\"], \"cwd\": \"tmp\"", "cwd: \"tmp\" must begin with \"/\"");
        assert_refused("\"argv\": [\"true\"], \"user\": \"x\\\\\"",
                       "user: \"x\\\" is no name, because it ends in '\\'");
        assert_refused("\"argv\": [\"true\"], \"group\": \"x\\\\\"",
                       "group: \"x\\\" is no name, because it ends in '\\'");
        assert_refused(
                "\"argv\": [\"true\"], \"env\": { \"1A\": \"b\" }",
                "env: \"1A\" is not a name for a variable: it may have letters, digits and \"_\", and not begin with "
                "a digit");
        assert_refused("\"argv\": [\"true\"], \"success_exit\": [256]",
                       "success_exit[0]: 256 is out of range; it must be between 0 and 255");
        assert_refused("\"argv\": [\"true\"], \"success_exit\": 3",
                       "success_exit: expected an array, not 3; write [3]");
        assert_refused("\"argv\": [\"true\"], \"properties\": { \"Nice\": 1 }",
                       "properties: cannot be given together with \"as\": \"child\"; only a unit has properties");
}

/* What is doubtful elsewhere is right for a shell. */
static void test_arguments_of_a_shell(void) {
        assert_refused("\"argv\": [\"/bin/sh\", \"-c\", \"ls | wc\"]", NULL);
}

/* Where it comes out of the blackboard, it fails. */
static void test_bad_references(void) {
        g_autoptr(LeafStage) stage = leaf_stage_new(NULL);

        leaf_stage_set_variable(stage, "place", "tmp");
        assert_failure(stage, "\"argv\": [\"true\"], \"cwd\": \"{place}\"", "cwd: \"tmp\" must begin with \"/\"");
}

static void test_environment(void) {
        g_autoptr(LeafStage) stage = leaf_stage_new(NULL);
        g_autoptr(TestLeaf) leaf = NULL;

        g_setenv("KEPT", "kept", true);
        g_setenv("NOTIFY_SOCKET", "/nowhere", true);
        leaf = shell(stage, "pwd; echo $KEPT $ADDED \"$NOTIFY_SOCKET\"; cat",
                     ", \"cwd\": \"/usr\", \"env\": { \"ADDED\": \"a=b c\" }, \"stdout\": \"seen\", \"stdin\": "
                     "\"in\\nput\"");
        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_SUCCESS);
        g_assert_cmpstr(test_leaf_output(leaf, "seen"), ==, "/usr\nkept a=b c \nin\nput");
        g_unsetenv("NOTIFY_SOCKET");
}

/* Nothing of the daemon is left in a child but its standard outputs. */
static void test_clean_child(void) {
        g_autoptr(LeafStage) stage = leaf_stage_new(NULL);
        g_autoptr(TestLeaf) leaf = NULL;
        int leaked = open("/dev/zero", O_RDONLY);
        sigset_t blocked;

        signal(SIGPIPE, SIG_IGN);
        sigemptyset(&blocked);
        sigaddset(&blocked, SIGHUP);
        sigprocmask(SIG_BLOCK, &blocked, NULL);

        leaf = shell(stage,
                     "ls -l /proc/self/fd | grep -c ' [3-9] -> /dev/zero'; readlink /proc/self/fd/0; "
                     "grep -E '^Sig(Blk|Ign)' /proc/self/status | tr -d '\\t'; ps -o pgid= -p $$ | tr -d ' '; echo $$",
                     ", \"stdout\": \"seen\"");
        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_SUCCESS);
        {
                g_auto(GStrv) lines = g_strsplit(test_leaf_output(leaf, "seen"), "\n", -1);

                g_assert_cmpint(g_strv_length(lines), ==, 6);
                g_assert_cmpstr(lines[0], ==, "0");
                g_assert_cmpstr(lines[1], ==, "/dev/null");
                g_assert_cmpstr(lines[2], ==, "SigBlk:0000000000000000");
                g_assert_cmpstr(lines[3], ==, "SigIgn:0000000000000000");
                g_assert_cmpstr(lines[4], ==, lines[5]);
        }

        sigprocmask(SIG_UNBLOCK, &blocked, NULL);
        signal(SIGPIPE, SIG_DFL);
        close(leaked);
}

static void test_user(void) {
        g_autoptr(LeafStage) stage = leaf_stage_new(NULL);
        g_autoptr(TestLeaf) leaf = NULL;

        if (geteuid() != 0) {
                g_test_skip("only root can become somebody else");
                return;
        }

        leaf = shell(stage, "id -un; id -gn; id -G; echo $USER $HOME",
                     ", \"user\": \"daemon\", \"group\": \"nogroup\", \"stdout\": \"seen\"");
        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_SUCCESS);
        g_assert_true(g_str_has_prefix(test_leaf_output(leaf, "seen"), "daemon\nnogroup\n"));
        g_assert_true(g_str_has_suffix(test_leaf_output(leaf, "seen"), "daemon /usr/sbin"));
}

static void test_outputs(void) {
        g_autoptr(LeafStage) stage = leaf_stage_new(NULL);
        g_autoptr(TestLeaf)
                both = shell(stage, "echo out; echo one >&2; echo two >&2", ", \"stdout\": \"o\", \"stderr\": \"e\""),
                newline = shell(stage, "printf 'a\\n\\n'", ", \"stdout\": \"o\""),
                nothing = shell(stage, "true", ", \"stdout\": \"o\""),
                binary = shell(stage, "printf 'a\\377b\\000c'", ", \"stdout\": \"o\""),
                failed = shell(stage, "echo said; echo sorry >&2; exit 9", ", \"stdout\": \"o\", \"stderr\": \"e\"");

        g_assert_cmpint(test_leaf_wait(both), ==, STATUS_SUCCESS);
        g_assert_cmpstr(test_leaf_output(both, "o"), ==, "out");
        g_assert_cmpstr(test_leaf_output(both, "e"), ==, "one\ntwo");
        g_assert_cmpint(test_leaf_wait(newline), ==, STATUS_SUCCESS);
        g_assert_cmpstr(test_leaf_output(newline, "o"), ==, "a\n");
        g_assert_cmpint(test_leaf_wait(nothing), ==, STATUS_SUCCESS);
        g_assert_cmpstr(test_leaf_output(nothing, "o"), ==, "");
        g_assert_cmpint(test_leaf_wait(binary), ==, STATUS_SUCCESS);
        g_assert_cmpstr(test_leaf_output(binary, "o"), ==, "a\357\277\275b\357\277\275c");
        g_assert_cmpint(test_leaf_wait(failed), ==, STATUS_FAILURE);
        g_assert_cmpstr(test_leaf_output(failed, "o"), ==, "said");
        g_assert_cmpstr(failed->cause, ==, "exited with status 9: sorry");
}

/* With and without a variable, and however much it has said before. */
static void test_last_lines(void) {
        static const char script[] =
                "yes | head -n 100000 >&2; printf '%s\\n' one '' ' ' 'two\tx' >&2; printf three >&2; "
                "exit 9";
        g_autoptr(LeafStage) stage = leaf_stage_new(NULL);
        g_autoptr(TestLeaf) plain = shell(stage, script, ""),
                            kept = shell(stage, script, ", \"stderr\": \"e\", \"cut_output\": true"),
                            silent = shell(stage, "exit 9", ""), killed = shell(stage, "echo bye >&2; kill -9 $$", "");

        g_assert_cmpint(test_leaf_wait(plain), ==, STATUS_FAILURE);
        g_assert_cmpstr(plain->cause, ==, "exited with status 9: one; two x; three");
        g_assert_cmpint(test_leaf_wait(kept), ==, STATUS_FAILURE);
        g_assert_cmpstr(kept->cause, ==, "exited with status 9: one; two x; three");
        g_assert_cmpint(test_leaf_wait(silent), ==, STATUS_FAILURE);
        g_assert_cmpstr(silent->cause, ==, "exited with status 9");
        g_assert_cmpint(test_leaf_wait(killed), ==, STATUS_FAILURE);
        g_assert_cmpstr(killed->cause, ==, "was killed by SIGKILL: bye");
}

static void test_output_limit(void) {
        g_autoptr(LeafStage) stage = leaf_stage_new(NULL);
        g_autoptr(TestLeaf) leaf = shell(stage, "head -c 3000000 /dev/zero | tr '\\0' x", ", \"stdout\": \"o\""),
                            small = shell(stage, "echo 123456789",
                                          ", \"stdout\": \"o\", \"output_limit\": 4, \"cut_output\": true");

        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_FAILURE);
        g_assert_cmpstr(leaf->cause, ==,
                        "it succeeded, but its stdout is longer than 65536 bytes; set a larger output_limit, or "
                        "cut_output to true");
        g_assert_cmpuint(strlen(test_leaf_output(leaf, "o")), ==, 65536);
        g_assert_cmpint(test_leaf_wait(small), ==, STATUS_SUCCESS);
        g_assert_cmpstr(test_leaf_output(small, "o"), ==, "1234");
}

/* The value of the output in this format, as JSON text; borrowed. */
static void assert_format(LeafStage *stage, const char *command, const char *format, const char *expected) {
        g_autofree char *more = g_strdup_printf(", \"stdout\": \"o\", \"stdout_format\": \"%s\"", format);
        g_autoptr(TestLeaf) leaf = shell(stage, command, more);
        json_object *value = NULL;

        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_SUCCESS);
        g_assert_true(json_object_object_get_ex(leaf->outputs, "o", &value));
        g_assert_cmpstr(json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN), ==, expected);
}

static void test_output_format(void) {
        g_autoptr(LeafStage) stage = leaf_stage_new(NULL);

        assert_format(stage, "echo ' a  b'; echo; echo c", "text", "\" a  b\\n\\nc\"");
        assert_format(stage, "echo ' a  b'; echo; echo c", "lines", "[\" a  b\",\"\",\"c\"]");
        assert_format(stage, "echo ' a  b'; echo; printf c", "words", "[\"a\",\"b\",\"c\"]");
        assert_format(stage, "printf ''", "lines", "[]");
        assert_format(stage, "printf ' '", "words", "[]");
        assert_format(stage, "printf 'a\\377'", "words", "[\"a\xef\xbf\xbd\"]");
        assert_format(stage, "echo '{{\"a\": [1, 18446744073709551615, \"\xc3\xbc\"], \"b\": null}'", "json",
                      "{\"a\":[1,18446744073709551615,\"\xc3\xbc\"],\"b\":null}");
        assert_format(stage, "echo null", "json", "null");
        assert_format(stage, "printf 'a\\377\\0\\n'", "bytes", "[97,255,0,10]");
}

/* Lists and JSON are made on the main loop. */
static void test_too_long_for_a_format(void) {
        g_autoptr(LeafStage) stage = leaf_stage_new(NULL);
        g_autoptr(TestLeaf) leaf =
                shell(stage, "head -c 1048577 /dev/zero | tr '\\0' '\\n'",
                      ", \"stdout\": \"o\", \"stdout_format\": \"lines\", \"output_limit\": 2000000");

        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_FAILURE);
        g_assert_cmpstr(leaf->cause, ==,
                        "it succeeded, but its stdout is longer than 1048576 bytes, so it can only be kept as text");
}

/* Values that take much more memory than their text. */
static void test_too_many_values(void) {
        g_autoptr(LeafStage) stage = leaf_stage_new(NULL);
        g_autoptr(TestLeaf) leaf = shell(stage, "echo '['; yes '{{},' | head -n 200000; echo '1]'",
                                         ", \"stdout\": \"o\", \"stdout_format\": \"json\", \"output_limit\": 1000000");

        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_FAILURE);
        g_assert_cmpstr(
                leaf->cause, ==,
                "it succeeded, but its stdout has too many values: the variables of the run would exceed 8 MiB");
}

static void assert_no_json(LeafStage *stage, const char *command, const char *problem) {
        g_autoptr(TestLeaf) leaf = shell(stage, command, ", \"stdout\": \"o\", \"stdout_format\": \"json\"");
        g_autofree char *cause = g_strconcat("it succeeded, but ", problem, NULL);

        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_FAILURE);
        g_assert_cmpstr(leaf->cause, ==, cause);
        g_assert_false(json_object_object_get_ex(leaf->outputs, "o", NULL));
}

static void test_output_that_is_no_json(void) {
        g_autoptr(LeafStage) stage = leaf_stage_new(NULL);

        assert_no_json(stage, "echo ok", "its stdout is not JSON: ok");
        assert_no_json(stage, "printf ''", "its stdout is not JSON: there is none");
        assert_no_json(stage, "echo '[1] [2]'", "its stdout is not JSON: [1] [2]");
        assert_no_json(stage, "echo '[1e999]'", "its stdout has the number 1e999, which does not fit into 64 bits");
        assert_no_json(stage, "head -c 300 /dev/zero | tr '\\0' '['", "its stdout is nested more than 100 levels deep");
        assert_no_json(stage, "head -c 70000 /dev/zero | tr '\\0' 1",
                       "its stdout is longer than 65536 bytes; set a larger output_limit, or cut_output to true");
}

/* execve() would refuse it, and of a unit only a status would tell that. */
static void test_too_long_arguments(void) {
        g_autoptr(LeafStage) stage = leaf_stage_new(NULL);
        g_autofree char *text = g_strnfill(200000, 'x'), *piece = g_strnfill(131071, 'x'),
                        *one = g_strdup_printf("\"argv\": [\"/bin/true\", \"%s\"]", text);
        g_autoptr(GString) many = g_string_new("\"argv\": [\"/bin/true\"");

        assert_failure(stage, one,
                       "argv[1] has 200000 bytes, but a program gets at most 131071 in one text (E2BIG); pass the "
                       "text with stdin, or in a file");
        for (int i = 0; i < 16; i++)
                g_string_append_printf(many, ", \"%s\"", piece);
        g_string_append_c(many, ']');
        assert_failure(stage, many->str,
                       "argv and env have 2097298 bytes, but a program gets at most 2097152 (E2BIG); pass the text "
                       "with stdin, or in a file");
}

/* Reads a number that the process has written to a fifo: it is up then. */
static int read_number(const char *path) {
        g_autofree char *text = NULL;

        g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
        return atoi(text);
}

static bool is_alive(int pid) {
        g_autofree char *path = g_strdup_printf("/proc/%i/stat", pid), *text = NULL;

        /* It may be a zombie whose parent is gone, waiting for who reaps orphans. */
        return g_file_get_contents(path, &text, NULL, NULL) && !strstr(text, ") Z ");
}

/* A killed process is gone when whoever is there for orphans says so. A pidfd would tell, but valgrind has none. The
 * main loop runs meanwhile: it kills a process whose leaf was freed before its start was reported. */
static void assert_dies(int pid) {
        for (unsigned i = 0; i < 60000 && is_alive(pid); i++) {
                g_main_context_iteration(NULL, false);
                g_usleep(1000);
        }
        g_assert_false(is_alive(pid));
}

typedef struct Fifo {
        char *dir, *path;
} Fifo;

static void fifo_open(Fifo *fifo) {
        fifo->dir = g_dir_make_tmp("btd-spawn-XXXXXX", NULL);
        fifo->path = g_build_filename(fifo->dir, "fifo", NULL);
        g_assert_cmpint(mkfifo(fifo->path, 0600), ==, 0);
}

static void fifo_close(Fifo *fifo) {
        unlink(fifo->path);
        rmdir(fifo->dir);
        g_free(fifo->path);
        g_free(fifo->dir);
}

static void test_halt(void) {
        g_autoptr(LeafStage) stage = leaf_stage_new(NULL);
        g_autofree char *script = NULL;
        g_autoptr(TestLeaf) leaf = NULL;
        Fifo fifo;
        int pid;

        fifo_open(&fifo);
        script = g_strdup_printf("trap 'exit 0' INT; echo $$ >%s; while :; do sleep 0.01; done", fifo.path);
        leaf = shell(stage, script, ", \"kill_signal\": \"SIGINT\", \"kill_timeout\": \"infinity\"");
        pid = read_number(fifo.path);

        test_leaf_halt(leaf);
        g_assert_true(leaf->halted);
        g_assert_false(is_alive(pid));
        fifo_close(&fifo);
}

/* Neither it nor what it has started listens. */
static void test_halt_stubborn(void) {
        g_autoptr(LeafStage) stage = leaf_stage_new(NULL);
        g_autofree char *script = NULL;
        g_autoptr(TestLeaf) leaf = NULL;
        Fifo fifo;
        int pid;

        fifo_open(&fifo);
        script = g_strdup_printf("trap '' TERM; sleep 1000 & echo $! >%s; wait; wait", fifo.path);
        leaf = shell(stage, script, ", \"kill_timeout\": \"20ms\"");
        pid = read_number(fifo.path);

        test_leaf_halt(leaf);
        g_assert_true(leaf->halted);
        assert_dies(pid);
        fifo_close(&fifo);
}

/* It ends when it is told to, what it has started does not. */
static void test_halt_grandchild(void) {
        g_autoptr(LeafStage) stage = leaf_stage_new(NULL);
        g_autofree char *script = NULL;
        g_autoptr(TestLeaf) leaf = NULL;
        Fifo fifo;
        int pid;

        fifo_open(&fifo);
        script = g_strdup_printf("(trap '' TERM; exec sleep 1000) & echo $! >%s; wait", fifo.path);
        leaf = shell(stage, script, ", \"kill_timeout\": \"infinity\"");
        pid = read_number(fifo.path);

        test_leaf_halt(leaf);
        g_assert_true(leaf->halted);
        assert_dies(pid);
        fifo_close(&fifo);
}

/* What it has left running does not outlive it, and does not keep its output open. */
static void test_left_behind(void) {
        g_autoptr(LeafStage) stage = leaf_stage_new(NULL);
        g_autoptr(TestLeaf) leaf = shell(stage, "sleep 1000 & echo $!", ", \"stdout\": \"pid\"");

        g_assert_cmpint(test_leaf_wait(leaf), ==, STATUS_SUCCESS);
        assert_dies(atoi(test_leaf_output(leaf, "pid")));
}

static void test_free_while_running(void) {
        g_autoptr(LeafStage) stage = leaf_stage_new(NULL);
        g_autofree char *script = NULL;
        TestLeaf *leaf;
        Fifo fifo;
        int pid;

        fifo_open(&fifo);
        script = g_strdup_printf("trap '' TERM; sleep 1000 & echo $! >%s; wait; wait", fifo.path);
        leaf = shell(stage, script, "");
        pid = read_number(fifo.path);
        test_leaf_free(leaf);
        assert_dies(pid);
        while (waitpid(-1, NULL, 0) > 0)
                ;
        fifo_close(&fifo);
}

static void test_many(void) {
        g_autoptr(LeafStage) stage = leaf_stage_new(NULL);
        unsigned before = count_fds();

        for (unsigned done = 0; done < 320;) {
                TestLeaf *leaves[32];

                for (unsigned i = 0; i < G_N_ELEMENTS(leaves); i++)
                        leaves[i] = i % 2 ? shell(stage, "echo x", ", \"stdout\": \"o\"")
                                          : shell(stage, "echo x >&2", ", \"stderr\": \"o\"");
                for (unsigned i = 0; i < G_N_ELEMENTS(leaves); i++, done++) {
                        g_assert_cmpint(test_leaf_wait(leaves[i]), ==, STATUS_SUCCESS);
                        test_leaf_free(leaves[i]);
                }
        }

        g_assert_cmpuint(count_fds(), ==, before);
        g_assert_cmpint(waitpid(-1, NULL, WNOHANG), ==, -1);
}

static void test_exit_status_words(void) {
        g_autofree char *exited = exit_status_describe(CLD_EXITED, 3),
                        *killed = exit_status_describe(CLD_KILLED, SIGKILL),
                        *dumped = exit_status_describe(CLD_DUMPED, SIGSEGV),
                        *real_time = exit_status_describe(CLD_KILLED, SIGRTMIN + 1);

        g_assert_cmpstr(exited, ==, "exited with status 3");
        g_assert_cmpstr(killed, ==, "was killed by SIGKILL");
        g_assert_cmpstr(dumped, ==, "was killed by SIGSEGV and dumped core");
        g_assert_cmpstr(real_time, ==, "was killed by signal 35");
}

static void assert_name(const char *run, NodeId node, uint32_t attempt, unsigned repetition, const char *expected) {
        const Leaf leaf = { .run = run, .node = node, .attempt = attempt };
        g_autofree char *name = spawn_name_format(&leaf, repetition),
                        *unit = g_strconcat("btd-", name, ".service", NULL);
        g_auto(SpawnName) parsed = {};

        g_assert_cmpstr(name, ==, expected);
        g_assert_true(spawn_name_parse(unit, "btd-", ".service", &parsed));
        g_assert_cmpstr(parsed.run, ==, run);
        g_assert_cmpuint(parsed.node, ==, node);
        g_assert_cmpuint(parsed.attempt, ==, attempt);
        g_assert_cmpuint(parsed.repetition, ==, repetition);
}

/* A unit that is somebody else's must not be taken for one of a run. */
static void test_names(void) {
        static const char *const others[] = {
                "",
                "btd-.service",
                "btd.service",
                "btd-camera.service",
                "btd-boot.3.service",
                "boot.3-1-1",
                "btd-boot.3-1.service",
                "btd-boot.x-1-1.service",
                "btd-boot-3-1-1.service",
                "btd-boot.3-1-1.socket",
                "btd-boot.3-1-1-1-1.service",
                "btd-boot.3-1--1.service",
                "btd-boot.3-4294967295-1.service",
        };
        SpawnName name;

        assert_name("boot.3", 12, 1, 0, "boot.3-12-1");
        assert_name("boot.3", 12, 65535, 7, "boot.3-12-65535-7");
        assert_name("net-1.2-eth.18446744073709551615", 0, 1, 0, "net-1.2-eth.18446744073709551615-0-1");
        for (size_t i = 0; i < G_N_ELEMENTS(others); i++)
                g_assert_false(spawn_name_parse(others[i], "btd-", ".service", &name));
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);

        g_test_add_func("/spawn/left-by-a-daemon", test_left_by_a_daemon);
        g_test_add_func("/spawn/success", test_success);
        g_test_add_func("/spawn/description", test_description);
        g_test_add_func("/spawn/search-path", test_search_path);
        g_test_add_func("/spawn/exit-status", test_exit_status);
        g_test_add_func("/spawn/exit-status-words", test_exit_status_words);
        g_test_add_func("/spawn/signal", test_signal);
        g_test_add_func("/spawn/cannot-execute", test_cannot_execute);
        g_test_add_func("/spawn/bad-parameters", test_bad_parameters);
        g_test_add_func("/spawn/arguments-of-a-shell", test_arguments_of_a_shell);
        g_test_add_func("/spawn/bad-references", test_bad_references);
        g_test_add_func("/spawn/environment", test_environment);
        g_test_add_func("/spawn/clean-child", test_clean_child);
        g_test_add_func("/spawn/slow-start", test_slow_start);
        g_test_add_func("/spawn/halt-before-start", test_halt_before_start);
        g_test_add_func("/spawn/drop-before-start", test_drop_before_start);
        g_test_add_func("/spawn/user", test_user);
        g_test_add_func("/spawn/outputs", test_outputs);
        g_test_add_func("/spawn/last-lines", test_last_lines);
        g_test_add_func("/spawn/output-limit", test_output_limit);
        g_test_add_func("/spawn/output-format", test_output_format);
        g_test_add_func("/spawn/output-that-is-no-json", test_output_that_is_no_json);
        g_test_add_func("/spawn/too-long-for-a-format", test_too_long_for_a_format);
        g_test_add_func("/spawn/too-many-values", test_too_many_values);
        g_test_add_func("/spawn/too-long-arguments", test_too_long_arguments);
        g_test_add_func("/spawn/halt", test_halt);
        g_test_add_func("/spawn/halt-stubborn", test_halt_stubborn);
        g_test_add_func("/spawn/halt-grandchild", test_halt_grandchild);
        g_test_add_func("/spawn/left-behind", test_left_behind);
        g_test_add_func("/spawn/free-while-running", test_free_while_running);
        g_test_add_func("/spawn/many", test_many);

        g_test_add_func("/spawn/names", test_names);
        return g_test_run();
}
