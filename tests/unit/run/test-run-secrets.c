/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests secrets: their source, where they are allowed, and that only the leaf gets their value. */

#include <glib/gstdio.h>
#include <json-c/json_tokener.h>
#include <string.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "leaf-types/leaf-types.h"
#include "run-stage.h"
#include "script/reference.h"

typedef struct Vault {
        char *directory;
        Secrets secrets;
} Vault;

static char *path_of(const Vault *vault, const char *name) {
        return g_build_filename(vault->directory, name, NULL);
}

static void put(const Vault *vault, const char *name, const char *text, gssize length) {
        g_autofree char *path = path_of(vault, name);

        g_assert_true(g_file_set_contents(path, text, length, NULL));
}

static Vault *vault_new(void) {
        Vault *vault = g_new0(Vault, 1);

        vault->directory = g_dir_make_tmp("btd-test-XXXXXX", NULL);
        vault->secrets.directory = vault->directory;
        put(vault, "pass", "hunter22", -1);
        put(vault, "longer", "hunter22-and-more\n", -1);
        put(vault, "odd", "a \"b\"\nc\\", -1);
        return vault;
}

static void vault_free(Vault *vault) {
        const char *const names[] = { "pass", "longer", "odd", "binary", "large", "empty", "directory", "loop" };

        for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
                g_autofree char *path = path_of(vault, names[i]);

                g_remove(path);
        }
        g_remove(vault->directory);
        secrets_clear(&vault->secrets);
        g_free(vault->directory);
        g_free(vault);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Vault, vault_free)

static void know(Vault *vault, const char *name, const char *expected) {
        g_autofree char *error = NULL;
        const char *text;

        g_assert_cmpint(secrets_get(&vault->secrets, name, &text, &error), ==, 0);
        g_assert_null(error);
        g_assert_cmpstr(text, ==, expected);
}

static void assert_unknown(Vault *vault, const char *name, int r, const char *expected) {
        g_autofree char *error = NULL;
        const char *text;

        g_assert_cmpint(secrets_get(&vault->secrets, name, &text, &error), ==, r);
        g_assert_cmpstr(error, ==, expected);
}

static void test_get(void) {
        g_autoptr(Vault) vault = vault_new();
        g_autofree char *large = g_strnfill(SECRET_LENGTH_MAX + 1, 'x'), *directory = path_of(vault, "directory"),
                        *loop = path_of(vault, "loop");

        know(vault, "pass", "hunter22");
        know(vault, "longer", "hunter22-and-more");
        put(vault, "empty", "", 0);
        know(vault, "empty", "");

        put(vault, "binary", "a\0b", 3);
        put(vault, "large", large, -1);
        g_assert_cmpint(g_mkdir(directory, 0700), ==, 0);
        g_assert_cmpint(symlink("loop", loop), ==, 0);
        assert_unknown(vault, "none", -ENOENT,
                       "there is no credential 'none'; give btd one with LoadCredential= or SetCredential=, see "
                       "systemd.exec(5)");
        assert_unknown(vault, "binary", -EINVAL, "the credential 'binary' is not text");
        assert_unknown(vault, "large", -EFBIG, "the credential 'large' is too large: more than 1048576 bytes");
        assert_unknown(vault, "directory", -EISDIR, "the credential 'directory' cannot be read: Is a directory");
        assert_unknown(vault, "loop", -ELOOP,
                       "the credential 'loop' cannot be read: Too many levels of symbolic links");

        vault->secrets.directory = NULL;
        assert_unknown(vault, "pass", -ENOENT,
                       "there is no credential 'pass'; give btd one with LoadCredential= or SetCredential=, see "
                       "systemd.exec(5)");
}

static void assert_hidden(const Vault *vault, const char *text, const char *expected) {
        g_autofree char *hidden = secrets_hide(&vault->secrets, text);

        g_assert_cmpstr(hidden, ==, expected);
}

static void test_hide(void) {
        g_autoptr(Vault) vault = vault_new();

        assert_hidden(vault, "hunter22", NULL);
        put(vault, "empty", "", 0);
        know(vault, "empty", "");
        know(vault, "pass", "hunter22");
        know(vault, "longer", "hunter22-and-more");
        know(vault, "odd", "a \"b\"\nc\\");
        assert_hidden(vault, NULL, NULL);
        assert_hidden(vault, "", NULL);
        assert_hidden(vault, "hunter", NULL);
        assert_hidden(vault, "hunter2...", NULL);
        assert_hidden(vault, "hunter22-an...", "{secret:pass}-an...");
        assert_hidden(vault, "hunter22hunter22, hunter22-and-more.", "{secret:pass}{secret:pass}, {secret:longer}.");
        assert_hidden(vault, "expected {\"x\":\"a \\\"b\\\"\\nc\\\\\"}", "expected {\"x\":\"{secret:odd}\"}");
}

/* As Python, PHP, Go and others write it. */
static void test_json(void) {
        static const char *const written[] = {
                "<h\u00fcn\U0001f511/\\\"2>",
                "<h\\u00fcn\\ud83d\\udd11/\\\"2>",
                "<h\\u00fcn\\ud83d\\udd11\\/\\\"2>",
                "<h\u00fcn\U0001f511\\/\\\"2>",
                "\\u003ch\u00fcn\U0001f511/\\\"2\\u003e",
        };
        g_autoptr(Vault) vault = vault_new();

        put(vault, "pass", "<h\u00fcn\U0001f511/\"2>", -1);
        know(vault, "pass", "<h\u00fcn\U0001f511/\"2>");
        for (size_t i = 0; i < G_N_ELEMENTS(written); i++) {
                g_autofree char *text = g_strconcat("{\"a\":\"", written[i], "\"}", NULL);

                assert_hidden(vault, text, "{\"a\":\"{secret:pass}\"}");
        }
}

/* Programs quote a line of a secret, and remove a line feed at the end. */
static void test_lines(void) {
        g_autoptr(Vault) vault = vault_new();

        put(vault, "pass", "user=bob\n  it's \"x\" \r\n}\nhunter22\n\n", -1);
        know(vault, "pass", "user=bob\n  it's \"x\" \r\n}\nhunter22\n");
        assert_hidden(vault, "no hunter22!", "no {secret:pass}!");
        assert_hidden(vault, "hunter2", NULL);
        assert_hidden(vault, "{}", NULL);
        assert_hidden(vault, "{\"line\": \"it's \\\"x\\\"\"}", "{\"line\": \"{secret:pass}\"}");
        assert_hidden(vault, "user=bob\n  it's \"x\" \r\n}\nhunter22\n.", "{secret:pass}.");
        assert_hidden(vault, "user=bob\n  it's \"x\" \r\n}\nhunter22", "{secret:pass}");
        put(vault, "empty", "ab\n\n", -1);
        know(vault, "empty", "ab\n");
        assert_hidden(vault, "cabd", "c{secret:empty}d");
}

/* No part of one secret is left around another. */
static void test_overlap(void) {
        g_autoptr(Vault) vault = vault_new();

        put(vault, "odd", "22-and-much-more", -1);
        know(vault, "pass", "hunter22");
        know(vault, "odd", "22-and-much-more");
        assert_hidden(vault, "a hunter22-and-much-more b", "a {secret:pass} b");
}

/* What is missing from a message that btd has cut does not depend on its text. */
static void test_cut(void) {
        g_autoptr(Vault) vault = vault_new();
        g_autofree char *text = g_strnfill(2000, 'x'), *right = g_strconcat(text, "hunter2...", NULL),
                        *wrong = g_strconcat(text, "hunte__...", NULL), *a = NULL, *b = NULL;

        know(vault, "pass", "hunter22");
        a = secrets_hide_message(&vault->secrets, right);
        b = secrets_hide_message(&vault->secrets, wrong);
        g_assert_cmpstr(a, ==, b);
        g_assert_cmpuint(strlen(a), ==, 2000 + 7 - 8 + 3);
}

static void assert_all_hidden(const Vault *vault, const char *json, const char *expected) {
        g_autoptr(json_object) value = secrets_hide_all(&vault->secrets, json_tokener_parse(json));

        g_assert_cmpstr(json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN), ==, expected);
}

static void test_other_types(void) {
        g_autoptr(Vault) vault = vault_new();

        put(vault, "pass", "012345", -1);
        put(vault, "odd", "7", -1);
        know(vault, "pass", "012345");
        know(vault, "odd", "7");
        assert_all_hidden(vault, "[12345, 12345.0, 7, 1234, 7.5]", "[\"{secret:pass}\",\"{secret:pass}\",7,1234,7.5]");
        assert_all_hidden(vault, "{\"b\": [65, 48, 49, 50, 51, 52, 53, 0]}", "{\"b\":\"A{secret:pass}\\n\"}");
        assert_all_hidden(vault, "[48, 49, 256]", "[48,49,256]");
}

static void test_hide_all(void) {
        g_autoptr(Vault) vault = vault_new();
        g_autoptr(json_object) value =
                json_tokener_parse("{\"a\": [1, null, \"hunter22\"], \"hunter22\": {\"b\": \"x\"}}");
        json_object *same = value;

        g_assert_true(secrets_hide_all(&vault->secrets, value) == same);
        know(vault, "pass", "hunter22");
        value = secrets_hide_all(&vault->secrets, value);
        g_assert_cmpstr(json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN), ==,
                        "{\"a\":[1,null,\"{secret:pass}\"],\"{secret:pass}\":{\"b\":\"x\"}}");
}

static void test_reveal(void) {
        g_autoptr(Vault) vault = vault_new();
        g_autoptr(Blackboard) blackboard = blackboard_new(&limits_default);
        g_autoptr(json_object) written =
                json_tokener_parse("[\"{secret:pass}\", \"{{secret:pass}-{name}-{secret:pass}\"]"),
                               openly = NULL, revealed = NULL;
        const ReferenceValues values = { .blackboard = blackboard, .secrets = &vault->secrets };
        g_autofree char *error = NULL;

        /* What a variable says is never a reference itself. */
        blackboard_set(blackboard, "name", json_object_new_string("{secret:pass}"));
        g_assert_cmpint(reference_expand(blackboard, written, &openly, &error), ==, 0);
        g_assert_cmpstr(json_object_to_json_string_ext(openly, JSON_C_TO_STRING_PLAIN), ==,
                        "[\"{secret:pass}\",\"{secret:pass}-{secret:pass}-{secret:pass}\"]");
        g_assert_cmpint(reference_reveal(&values, written, &revealed, &error), ==, 0);
        g_assert_cmpstr(json_object_to_json_string_ext(revealed, JSON_C_TO_STRING_PLAIN), ==,
                        "[\"hunter22\",\"{secret:pass}-{secret:pass}-hunter22\"]");
}

static RunStage *stage_new(const Vault *vault, const char *node) {
        g_autofree char *file =
                g_strdup_printf("{ 'btd': 1, 'blackboard': { 'seen': 0 }, 'root': { 'name': 'A', %s } }", node);
        RunStage *stage = run_stage_new_file(file);

        stage->leaves.credentials = vault->directory;
        return stage;
}

/* The fake leaf fails with the very text of its parameter. */
static void test_cause(void) {
        g_autoptr(Vault) vault = vault_new();
        g_autoptr(RunStage) stage =
                stage_new(vault, "'type': 'FakeNow', 'fails': true, 'text': 'refused: {secret:pass}!'");

        run_stage_start(stage);
        run_stage_assert_finished(stage, STATUS_FAILURE, "A: refused: {secret:pass}!");
        run_stage_assert_node(stage, 0, STATUS_FAILURE, "refused: {secret:pass}!");
}

static void test_description(void) {
        g_autoptr(Vault) vault = vault_new();
        g_autoptr(RunStage) stage = stage_new(vault, "'type': 'FakeAction', 'text': 'the door of {secret:pass}'");

        run_stage_start(stage);
        run_stage_assert_node(stage, 0, STATUS_RUNNING, "waits for the door of {secret:pass}");
}

static void test_facts_and_outputs(void) {
        g_autoptr(Vault) vault = vault_new();
        g_autoptr(RunStage) stage = stage_new(vault, "'type': 'FakeAction', 'text': '{secret:pass}'");
        g_autoptr(json_object) seen = NULL;
        const Cause *cause;

        run_stage_start(stage);
        fake_set_output("A", "seen", json_object_new_string("it was hunter22"));
        fake_fail("A", CAUSE_DBUS_ERROR, facts_new("error", json_object_new_string("hunter22"), NULL), "hunter22");
        run_stage_turn(stage);
        seen = blackboard_to_json(run_blackboard(stage->run));
        g_assert_cmpstr(json_object_to_json_string_ext(seen, JSON_C_TO_STRING_PLAIN), ==,
                        "{\"seen\":\"it was {secret:pass}\"}");
        run_stage_assert_finished(stage, STATUS_FAILURE, "A: {secret:pass}");
        cause = cause_origin(run_cause_chain(stage->run));
        g_assert_cmpstr(cause->kind, ==, CAUSE_DBUS_ERROR);
        g_assert_cmpstr(json_object_to_json_string_ext(cause->facts, JSON_C_TO_STRING_PLAIN), ==,
                        "{\"error\":\"{secret:pass}\"}");
}

static void assert_fails(const Vault *vault, const char *node, const char *cause) {
        g_autoptr(RunStage) stage = stage_new(vault, node);

        run_stage_start(stage);
        run_stage_assert_finished(stage, STATUS_FAILURE, cause);
        g_assert_cmpuint(fake_starts("A"), ==, 0);
}

static void test_cannot_start(void) {
        g_autoptr(Vault) vault = vault_new();

        assert_fails(vault, "'type': 'FakeNow', 'text': '{secret:gone}'",
                     "A: text: there is no credential 'gone'; give btd one with LoadCredential= or SetCredential=, "
                     "see systemd.exec(5)");
        assert_fails(vault, "'type': 'FakeAction', 'timeout': '{secret:pass}'",
                     "A: timeout: \"{secret:pass}\" is not a time span such as \"150ms\" or \"1min 30s\"");
        assert_fails(vault, "'type': 'FakeAction', 'timeout': '1{secret:pass}'",
                     "A: timeout: \"1{secret:pass}\" is not a time span such as \"150ms\" or \"1min 30s\"");
}

/* What does not fit another parameter is told as it was written, too. */
static void test_does_not_fit(void) {
        static const NodeType *const *const tables[] = { engine_types, leaf_types, NULL };
        static const struct {
                const char *signature, *arg, *error;
        } cases[] = {
                { "s", "{secret:pass}", NULL },
                { "u", "{secret:pass}",
                  "args[0]: expected a whole number from 0 to 4294967295, not \"{secret:pass}\"" },
                { "o", "/{secret:pass}!",
                  "args[0]: expected an object path such as \"/org/example\", not \"/{secret:pass}!\"" },
        };
        g_autoptr(Vault) vault = vault_new();

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *text = g_strdup_printf("{\"btd\":1,\"root\":{\"type\":\"DBusCall\",\"destination\":"
                                                        "\"org.x\",\"path\":\"/\",\"interface\":\"org.x\",\"member\":"
                                                        "\"M\",\"signature\":\"%s\",\"args\":[\"%s\"]}}",
                                                        cases[i].signature, cases[i].arg),
                                *error = NULL;
                g_autoptr(Diagnostics) diagnostics = diagnostics_new(NULL);
                g_autoptr(Definition) definition = NULL;
                g_autoptr(Blackboard) blackboard = blackboard_new(&limits_default);
                Params params = {};

                g_assert_cmpint(definition_load_text(text, strlen(text), tables, NULL, diagnostics, &definition), ==,
                                0);
                (void) definition_params_revealed(definition, 0, blackboard, NULL, &vault->secrets, &params, &error);
                g_assert_cmpstr(error, ==, cases[i].error);
                params_clear(&params);
        }
}

static void assert_refused(const char *root, const char *expected) {
        g_autofree char *text = g_strdup_printf("{ 'btd': 1, 'root': %s }", root), *first = NULL;
        g_autoptr(Diagnostics) diagnostics = diagnostics_new(NULL);
        g_autoptr(Definition) definition = NULL;

        g_strdelimit(text, "'", '"');
        g_assert_cmpint(definition_load_text(text, strlen(text), fake_tables, NULL, diagnostics, &definition), <, 0);
        first = diagnostics_format(diagnostics, 0);
        g_assert_cmpstr(strstr(first, "error: "), ==, expected);
}

static void test_refused_at_load(void) {
        g_autofree char *long_name = g_strnfill(256, 'a'),
                        *too_long = g_strdup_printf("{ 'type': 'FakeNow', 'text': '{secret:%s}' }", long_name);

        assert_refused("{ 'type': 'FakeNow', 'text': '{secret:../shadow}' }",
                       "error: text: '{secret:../shadow}' does not name a credential (letters, digits, '_', '-' and "
                       "'.', which does not come first) (in FakeNow)");
        assert_refused("{ 'type': 'FakeNow', 'text': 'x{secret:}' }",
                       "error: text: '{secret:}' does not name a credential (letters, digits, '_', '-' and '.', which "
                       "does not come first) (in FakeNow)");
        assert_refused(too_long,
                       "error: text: '{secret:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...}' does "
                       "not name a credential (letters, digits, '_', '-' and '.', which does not come first) (in "
                       "FakeNow)");
        assert_refused("{ 'type': 'FakeNow', 'fails': '{secret:x}' }",
                       "error: fails: expected true or false, not \"{secret:x}\" (in FakeNow)");
        assert_refused("{ 'type': 'ForEach', 'items': ['{secret:x}'], 'as': 'i', 'child': { 'type': 'FakeNow' } }",
                       "error: items[0]: a secret can be used only in the parameters of leaves (in ForEach)");
        assert_refused("{ 'type': 'Delay', 'delay': '{secret:x}', 'child': { 'type': 'FakeNow' } }",
                       "error: delay: a secret can be used only in the parameters of leaves (in Delay)");
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/run-secrets/get", test_get);
        g_test_add_func("/run-secrets/hide", test_hide);
        g_test_add_func("/run-secrets/json", test_json);
        g_test_add_func("/run-secrets/lines", test_lines);
        g_test_add_func("/run-secrets/overlap", test_overlap);
        g_test_add_func("/run-secrets/cut", test_cut);
        g_test_add_func("/run-secrets/other-types", test_other_types);
        g_test_add_func("/run-secrets/hide-all", test_hide_all);
        g_test_add_func("/run-secrets/reveal", test_reveal);
        g_test_add_func("/run-secrets/cause", test_cause);
        g_test_add_func("/run-secrets/description", test_description);
        g_test_add_func("/run-secrets/facts-and-outputs", test_facts_and_outputs);
        g_test_add_func("/run-secrets/cannot-start", test_cannot_start);
        g_test_add_func("/run-secrets/does-not-fit", test_does_not_fit);
        g_test_add_func("/run-secrets/refused-at-load", test_refused_at_load);
        return g_test_run();
}
