/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Tests that btd-exec passes arguments, variables and directories unchanged. argv[1]: the path of btd-exec; BTD_WRAPPER
 * executes it, if it is for another architecture.
 */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <json-c/json_tokener.h>

#include "basic/cleanup.h"
#include "leaf-types/spawn.h"

static const char *btd_exec;

typedef struct Result {
        char *output; /* words that end with 0 */
        size_t length;
        int status;
} Result;

/* As systemd would run it: with what the daemon puts into the environment, and one variable of its own. */
static Result run(const SpawnParams *params, const char *notify_socket) {
        g_auto(GStrv) variables = spawn_handover_variables(params);
        g_autoptr(GPtrArray) env = g_ptr_array_new();
        g_autoptr(GByteArray) output = g_byte_array_new();
        const char *wrapper = g_getenv("BTD_WRAPPER");
        const char *argv[] = { wrapper ?: btd_exec, wrapper ? btd_exec : NULL, NULL };
        g_autofree char *notify = g_strconcat("NOTIFY_SOCKET=", notify_socket, NULL);
        Result result = {};
        uint8_t buffer[4096];
        int fds[2], status;
        ssize_t n;
        pid_t pid;

        g_ptr_array_add(env, (void *) "KEPT=1");
        if (notify_socket)
                g_ptr_array_add(env, notify);
        for (char **variable = variables; *variable; variable++) {
                g_assert_cmpuint(strlen(*variable), <, 128 * 1024);
                g_assert_true(g_utf8_validate(*variable, -1, NULL));
                g_ptr_array_add(env, *variable);
        }
        g_ptr_array_add(env, NULL);

        g_assert_no_errno(pipe2(fds, O_CLOEXEC));
        pid = fork();
        if (pid == 0) {
                dup2(fds[1], STDOUT_FILENO);
                execve(argv[0], (char **) argv, (char **) env->pdata);
                _exit(1);
        }
        close(fds[1]);
        while ((n = read(fds[0], buffer, sizeof(buffer))) > 0)
                g_byte_array_append(output, buffer, (unsigned) n);
        close(fds[0]);
        g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
        g_assert_true(WIFEXITED(status));

        result.status = WEXITSTATUS(status);
        result.length = output->len;
        g_byte_array_append(output, (const uint8_t *) "", 1);
        result.output = (char *) g_byte_array_free(g_steal_pointer(&output), false);
        return result;
}

/* The last argument arrives. */
static void assert_argument(const char *text) {
        const char *const argv[] = { "/usr/bin/printf", "%s|%s", "first", text, NULL };
        const SpawnParams params = { .argv = argv };
        g_autofree char *expected = g_strconcat("first|", text, NULL);
        Result result = run(&params, NULL);

        g_assert_cmpint(result.status, ==, 0);
        g_assert_cmpmem(result.output, result.length, expected, strlen(expected));
        g_free(result.output);
}

static void test_arguments(void) {
        g_autofree char *latin = g_strnfill(120000, 'x'), *newlines = g_strnfill(40000, '\n');
        g_autoptr(GString) wide = g_string_new("1");

        assert_argument("");
        assert_argument("a;b $HOME ${HOME} $$ %n 'x' \"y\" \\");
        assert_argument("\n\n a\nb\\0a\\\n");
        assert_argument(latin);
        assert_argument(newlines);
        /* Cut in the middle of a character, whatever is before it. */
        for (int i = 0; i < 30000; i++)
                g_string_append(wide, "\xf0\x9f\x98\x80");
        for (int i = 0; i < 4; i++) {
                assert_argument(wide->str);
                g_string_prepend_c(wide, 'x');
        }
}

static void test_every_character(void) {
        g_autoptr(GString) text = g_string_new(NULL);

        for (gunichar c = 1; c <= 0x10ffff; c++) {
                if (c < 0xd800 || c > 0xdfff)
                        g_string_append_unichar(text, c);
                if (text->len > 100000 || c == 0x10ffff) {
                        assert_argument(text->str);
                        g_string_truncate(text, 0);
                }
        }
}

/* Nothing of btd-exec is left there. */
static void test_environment(void) {
        const char *const argv[] = { "/usr/bin/env", "-0", "--", NULL };
        const char *const env[] = { "LD_BIND_NOW=;", "BTD_EXEC_0=mine\n", "NOTIFY_SOCKET=/x", "NORMAL=1", NULL };
        const SpawnParams params = { .argv = argv, .env = env };
        static const char expected[] = "KEPT=1\0LD_BIND_NOW=;\0BTD_EXEC_0=mine\n\0NOTIFY_SOCKET=/x";
        Result result = run(&params, "/nowhere");

        g_assert_cmpint(result.status, ==, 0);
        g_assert_cmpmem(result.output, result.length, expected, sizeof(expected));
        g_free(result.output);
}

static void test_directory(void) {
        const char *const argv[] = { "pwd", NULL };
        g_autofree char *directory = g_dir_make_tmp("btd-XXXXXX", NULL), *odd = g_strconcat(directory, "/a\nb ", NULL);
        const SpawnParams params = { .argv = argv, .cwd = odd };
        g_autofree char *expected = g_strconcat(odd, "\n", NULL);
        Result result;

        g_assert_no_errno(mkdir(odd, 0700));
        result = run(&params, NULL);
        g_assert_cmpint(result.status, ==, 0);
        g_assert_cmpstr(result.output, ==, expected);
        g_free(result.output);

        g_assert_no_errno(rmdir(odd));
        result = run(&params, NULL);
        g_assert_cmpint(result.status, ==, 200);
        g_free(result.output);
        g_assert_no_errno(rmdir(directory));
}

/* What the service manager is told at last. */
static void assert_told(const char *program, int status, const char *text) {
        const char *const argv[] = { program, ";", NULL };
        const SpawnParams params = { .argv = argv };
        g_autofree char *directory = g_dir_make_tmp("btd-XXXXXX", NULL);
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        char message[1024] = "";
        ssize_t n;
        Result result;

        g_snprintf(address.sun_path, sizeof(address.sun_path), "%s/notify", directory);
        g_assert_no_errno(bind(fd, (struct sockaddr *) &address, sizeof(address)));
        result = run(&params, address.sun_path);
        g_assert_cmpint(result.status, ==, status);
        while ((n = recv(fd, message, sizeof(message) - 1, MSG_DONTWAIT)) > 0)
                message[n] = '\0';
        g_assert_cmpstr(message, ==, text);
        g_free(result.output);
        close(fd);
        unlink(address.sun_path);
        rmdir(directory);
}

static void test_status(void) {
        assert_told("/bin/true", 0, "STATUS=" SPAWN_HANDOVER_EXECUTES "/bin/true");
        assert_told("/no/such", 203, "STATUS=Cannot execute /no/such: No such file or directory\nERRNO=2");
        assert_told("no-such\n", 203, "STATUS=Cannot execute no-such?: No such file or directory\nERRNO=2");
        assert_told("/etc", 203, "STATUS=Cannot execute /etc: Permission denied\nERRNO=13");
}

static void test_search_path(void) {
        const char *const argv[] = { "tool", "$", NULL };
        g_autofree char *directory = g_dir_make_tmp("btd-XXXXXX", NULL), *tool = g_strconcat(directory, "/tool", NULL);
        g_autofree char *json =
                g_strdup_printf("{\"ExecSearchPath\": {\"signature\": \"as\", \"value\": [\"/usr/bin\", "
                                "\"%s\"]}}",
                                directory);
        g_autoptr(json_object) properties = json_tokener_parse(json);
        const SpawnParams params = { .argv = argv, .properties = properties };
        Result result;

        g_assert_true(g_file_set_contents_full(tool, "#!/bin/sh\nprintf %s \"$0 $1\"\n", -1, 0, 0700, NULL));
        result = run(&params, NULL);
        g_assert_cmpint(result.status, ==, 0);
        g_assert_true(g_str_has_suffix(result.output, "/tool $"));
        g_free(result.output);
        unlink(tool);
        rmdir(directory);
}

static void assert_reason(const char *const *argv, const char *cwd, const char *variable, const char *reason) {
        const char *const env[] = { variable, NULL };
        const SpawnParams params = { .argv = argv, .cwd = cwd, .env = env };

        g_assert_cmpstr(spawn_handover_reason(&params), ==, reason);
}

#define WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* Only for those that need it. */
static void test_reasons(void) {
        static const char name[] = "the name of the program has a character that unit files use for something else",
                          directory[] = "the directory has \"..\", a control character, or a blank or '\\' at its end";
        g_autofree char *half = g_strnfill(66000, 'x');

        assert_reason(WORDS("/bin/sh", "-c", "echo 'a' \"b\" \\ %n\t\n\r\x01 \xc3\xa9", "", "-x", "@"), "/a b/\\c",
                      "A=;$", NULL);
        assert_reason(WORDS("/bin/sh", "-c", "a; b"), NULL, NULL, "an argument has a ';'");
        assert_reason(WORDS("/bin/sh", "-c", "$x"), NULL, NULL, "an argument has a '$'");
        assert_reason(WORDS("/bin/sh", "\xef\xbf\xbf"), NULL, NULL,
                      "an argument has a code point that is no character");
        assert_reason(WORDS("/bin/sh"), NULL, "A=\xef\xb7\x90", "a variable has a code point that is no character");
        assert_reason(WORDS("/bin/sh", half, half), NULL, NULL, "the arguments are longer than 128 KiB together");
        assert_reason(WORDS("@sh"), NULL, NULL, name);
        assert_reason(WORDS("-sh"), NULL, NULL, name);
        assert_reason(WORDS("/a b"), NULL, NULL, name);
        assert_reason(WORDS("sh"), "/a ", NULL, directory);
        assert_reason(WORDS("sh"), "/a\nb", NULL, directory);
        assert_reason(WORDS("sh"), "/a\\", NULL, directory);
        assert_reason(WORDS("sh"), "/a/../b", NULL, directory);
}

static void test_complaint(void) {
        g_autoptr(json_object) root = json_tokener_parse("{\"RootDirectory\": \"/x\"}"),
                               image = json_tokener_parse("{\"RootImage\": {\"signature\": \"s\", \"value\": \"/x\"}}");
        SpawnParams params = { .argv = WORDS("/bin/sh", "a;b"), .properties = root };
        const char *property = NULL;
        g_autofree char *complaint = spawn_handover_complaint(&params, &property), *other = NULL;

        g_assert_cmpstr(property, ==, "RootDirectory");
        g_assert_cmpstr(complaint, ==,
                        "with \"RootDirectory\" the process cannot get its arguments as they are: an argument "
                        "has a ';', which systemd changes when it is reloaded, and " BTD_EXEC
                        ", which prevents that, is not in that root; run a script that is there");
        params.properties = image;
        other = spawn_handover_complaint(&params, &property);
        g_assert_true(g_str_has_prefix(other, "with \"RootImage\" the process cannot get "));
        params.argv = WORDS("/bin/sh", "ab");
        g_assert_null(spawn_handover_complaint(&params, &property));
}

static void assert_identifier(const char *program, const char *expected) {
        const SpawnParams params = { .argv = WORDS(program) };
        g_autofree char *identifier = spawn_handover_identifier(&params);

        g_assert_cmpstr(identifier, ==, expected);
}

/* The name of the program as far as a unit file keeps it. */
static void test_identifier(void) {
        assert_identifier("/bin/sh", "sh");
        assert_identifier("sh", "sh");
        assert_identifier("/a/re;cord $x %n\\y", "re;cord $x %n\\y");
        assert_identifier("/a/\xc3\xa9", "\xc3\xa9");
        assert_identifier("/a/ b ", "_b_");
        assert_identifier("/a/b\\", "b_");
        assert_identifier("/a/b\nc\x7f\xef\xbf\xbf", "b_c__");
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        btd_exec = argv[1];

        g_test_add_func("/handover/arguments", test_arguments);
        g_test_add_func("/handover/every-character", test_every_character);
        g_test_add_func("/handover/environment", test_environment);
        g_test_add_func("/handover/directory", test_directory);
        g_test_add_func("/handover/status", test_status);
        g_test_add_func("/handover/search-path", test_search_path);
        g_test_add_func("/handover/reasons", test_reasons);
        g_test_add_func("/handover/complaint", test_complaint);
        g_test_add_func("/handover/identifier", test_identifier);

        return g_test_run();
}
