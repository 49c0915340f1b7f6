/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The table of leaf types, what it refuses, and the leaves that need nothing but themselves. */

#include <json-c/json_tokener.h>

#include "basic/cleanup.h"
#include "leaf-stage.h"
#include "leaves/registry.h"
#include "leaves/spawn-properties.h"

static void test_table(void) {
        g_autoptr(GHashTable) names = g_hash_table_new(g_str_hash, g_str_equal);

        for (size_t i = 0; leaf_types[i]; i++) {
                const NodeType *type = leaf_types[i];
                bool condition = type->class == NODE_CONDITION;

                g_assert_true(g_hash_table_add(names, (char *) type->name));
                g_assert_nonnull(type->summary);
                g_assert_true(condition || type->class == NODE_ACTION);
                g_assert_nonnull(type->leaf);
                g_assert_nonnull(type->leaf->start);
                for (const Param *param = type->params; param && param->name; param++)
                        g_assert_nonnull(param->doc);
        }
        g_assert_true(g_hash_table_contains(names, "Spawn"));
}

static void test_titles(void) {
        static const struct {
                const char *node, *title;
        } cases[] = {
                { "{ \"type\": \"StartUnit\", \"unit\": \"cam.service\" }", "cam.service" },
                { "{ \"type\": \"StartUnit\", \"unit\": \"{which}.service\" }", "{which}.service" },
                { "{ \"type\": \"UnitState\", \"unit\": \"cam.service\" }", "cam.service" },
                { "{ \"type\": \"Spawn\", \"argv\": [\"/bin/echo\", \"a b\"] }", "/bin/echo a b" },
                { "{ \"type\": \"Spawn\", \"argv\": [\"/bin/echo\", \"{whom}\"] }", "/bin/echo {whom}" },
                { "{ \"type\": \"Sleep\", \"duration\": \"90s\" }", "1min 30s" },
                { "{ \"type\": \"Log\", \"message\": \"one\\ntwo\" }", "one\\ntwo" },
                { "{ \"type\": \"DBusCall\", \"destination\": \"org.example.Camera\", \"path\": \"/\", "
                  "\"interface\": \"org.example.Camera\", \"member\": \"Start\" }",
                  "Start" },
                { "{ \"type\": \"AlwaysSuccess\" }", NULL },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *title = leaf_stage_title(leaf_types, cases[i].node);

                g_assert_cmpstr(title, ==, cases[i].title);
        }
}

static void test_always(void) {
        g_autoptr(LeafStage) stage = leaf_stage_new(NULL);
        g_autoptr(Actor) success = leaf_stage_start(stage, leaf_types, "{ \"type\": \"AlwaysSuccess\" }"),
                         failure = leaf_stage_start(stage, leaf_types, "{ \"type\": \"AlwaysFailure\" }");

        g_assert_cmpint(success->status, ==, STATUS_SUCCESS);
        g_assert_cmpint(failure->status, ==, STATUS_FAILURE);
        g_assert_cmpstr(failure->cause, ==, "always fails");
}

static void test_sleep(void) {
        g_autoptr(LeafStage) stage = leaf_stage_new(NULL);
        int64_t start = g_get_monotonic_time();
        g_autoptr(Actor)
                none = leaf_stage_start(stage, leaf_types, "{ \"type\": \"Sleep\", \"duration\": \"0s\" }"),
                some = leaf_stage_start(stage, leaf_types, "{ \"type\": \"Sleep\", \"duration\": \"20ms\" }"),
                ever = leaf_stage_start(stage, leaf_types, "{ \"type\": \"Sleep\", \"duration\": \"infinity\" }");
        g_autofree char *text = actor_describe(some), *without_end = actor_describe(ever);

        g_assert_cmpint(none->status, ==, STATUS_SUCCESS);
        g_assert_cmpint(some->status, ==, STATUS_RUNNING);
        g_assert_cmpstr(text, ==, "20ms to be over");
        g_assert_cmpstr(without_end, ==, "a halt");
        g_assert_cmpint(actor_wait(some), ==, STATUS_SUCCESS);
        g_assert_cmpint(g_get_monotonic_time() - start, >=, 20000);
        g_assert_cmpint(ever->status, ==, STATUS_RUNNING);
        actor_halt(ever);
        g_assert_true(ever->halted);
}

static void test_log(void) {
        if (g_test_subprocess()) {
                g_autoptr(LeafStage) stage = leaf_stage_new(NULL);
                g_autoptr(Actor) actor = leaf_stage_start(
                        stage, leaf_types, "{ \"type\": \"Log\", \"message\": \"100% sure\", \"level\": \"warning\" }");
                g_autoptr(Actor) number = NULL;

                g_assert_cmpint(actor->status, ==, STATUS_SUCCESS);
                leaf_stage_set_number(stage, "n", 42);
                number = leaf_stage_start(stage, leaf_types, "{ \"type\": \"Log\", \"message\": \"{n}\" }");
                g_assert_cmpint(number->status, ==, STATUS_SUCCESS);
                return;
        }

        g_test_trap_subprocess(NULL, 0, 0);
        g_test_trap_assert_passed();
        g_test_trap_assert_stderr("*warning: test.1/Actor: 100% sure\n*test.1/Actor: 42\n*");
}

#define CALL                                                                                                           \
        "{ \"type\": \"DBusCall\", \"destination\": \"a.b\", \"path\": \"/\", \"interface\": \"a.b\", \"member\": "    \
        "\"C\""

static void assert_refused(const char *node, const char *text) {
        g_autofree char *error = leaf_stage_check(leaf_types, node);

        g_assert_cmpstr(error, ==, text);
}

static void test_refused_at_load(void) {
        assert_refused("{ \"type\": \"Log\", \"message\": 5 }", "message: expected a string, not a number");
        assert_refused("{ \"type\": \"StartUnit\", \"unit\": \"my cam\" }",
                       "unit: \"my cam.service\" is not the name of a unit: it may have letters, digits and any of "
                       "\":-_.\\@\"");
        assert_refused("{ \"type\": \"UnitState\", \"unit\": \"{cam}@.servce\" }", NULL);
        assert_refused("{ \"type\": \"UnitState\", \"unit\": \"cam\" }",
                       "unit: \"cam\" is taken for \"cam.service\"; write the suffix, too");
        assert_refused("{ \"type\": \"StartUnit\", \"unit\": \"cam.servce\" }",
                       "unit: \"cam.servce\" is not the name of a unit: there is no suffix \".servce\"; did you mean "
                       "\"cam.service\"?");
        assert_refused(
                "{ \"type\": \"UnitState\", \"unit\": \"cam.service\", \"state\": \"actve\" }",
                "state: \"actve\" is none; there are active, reloading, inactive, failed, activating, deactivating, "
                "maintenance");
        assert_refused("{ \"type\": \"UnitState\", \"unit\": \"cam.service\", \"state\": [\"active\", \"dead\"] }",
                       "state: \"dead\" is none; there are active, reloading, inactive, failed, activating, "
                       "deactivating, maintenance");
        assert_refused("{ \"type\": \"UnitState\", \"unit\": \"cam.service\", \"result\": [] }",
                       "result: a list of states without any could never be right");
        assert_refused("{ \"type\": \"UnitState\", \"unit\": \"cam.service\", \"sub_state\": 5 }",
                       "sub_state: expected a string or an array of strings, not a number");
        assert_refused("{ \"type\": \"UnitState\", \"unit\": \"{unit}\", \"state\": \"{state}\" }", NULL);
        assert_refused(CALL ", \"signature\": \"a{ss}\", \"args\": [{ \"key\": \"value\" }] }", NULL);
        assert_refused(CALL ", \"args\": [\"value\"] }", "args: signature '' takes 0 arguments, not 1");
        assert_refused("{ \"type\": \"Spawn\", \"argv\": [\"bin/true\"] }",
                       "argv: \"bin/true\" must begin with \"/\", or be a name to look for in PATH");
        assert_refused("{ \"type\": \"Spawn\", \"argv\": [\"{program}\"], \"success_exit\": [\"{status}\"] }", NULL);
}

typedef struct PropertyCase {
        const char *json, *error;
} PropertyCase;

static void test_properties(void) {
        static const PropertyCase properties[] = {
                { "{ \"MemoryMax\": \"64M\", \"TasksMax\": \"infinity\", \"PrivateTmp\": true, \"Nice\": -5 }", NULL },
                { "{ \"RuntimeMaxSec\": \"1min\", \"CPUQuota\": \"50%\", \"UMask\": \"0022\" }", NULL },
                { "{ \"ProtectSystem\": true, \"ProtectHome\": \"read-only\" }", NULL },
                { "{ \"ReadWritePaths\": [\"/a\", \"/b\"], \"After\": \"a.service\" }", NULL },
                { "{ \"AmbientCapabilities\": { \"signature\": \"t\", \"value\": 1024 } }", NULL },
                { "[]", "properties: expected an object" },
                { "{ \"MemoryMx\": 1 }", "properties: \"MemoryMx\" is not known; did you mean \"MemoryMax\"? Any other "
                                         "can be given as {\"signature\": ..., \"value\": ...}" },
                { "{ \"Frobnicate\": 1 }", "properties: \"Frobnicate\" is not known. Any other can be given as "
                                           "{\"signature\": ..., \"value\": ...}" },
                { "{ \"MemoryMax\": \"64X\" }",
                  "properties: \"MemoryMax\" is to be a number of bytes like \"64M\", or \"infinity\"" },
                { "{ \"MemoryMax\": \"99999999E\" }",
                  "properties: \"MemoryMax\" is to be a number of bytes like \"64M\", or \"infinity\"" },
                { "{ \"RuntimeMaxSec\": 5 }", "properties: \"RuntimeMaxSec\" is to be a time span like \"10s\"" },
                { "{ \"CPUQuota\": \"50\" }", "properties: \"CPUQuota\" is to be a share like \"50%\"" },
                { "{ \"UMask\": \"9\" }", "properties: \"UMask\" is to be an octal mode as a string like \"0022\"" },
                { "{ \"Type\": \"simple\" }", "properties: \"Type\" is set by the node itself" },
                { "{ \"PrivateTmp\": \"maybe\" }", "properties: \"PrivateTmp\" is to be true or false" },
                { "{ \"Slice\": null }", "properties: \"Slice\" is to be a string" },
                { "{ \"X\": { \"signature\": \"u\", \"value\": -1 } }",
                  "properties: \"X\": expected a whole number from 0 to 4294967295, not -1" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(properties); i++) {
                g_autoptr(json_object) value = json_tokener_parse(properties[i].json);
                g_autofree char *error = NULL;

                spawn_properties_check(value, &error);
                g_assert_cmpstr(error, ==, properties[i].error);
        }
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);

        g_test_add_func("/leaves/table", test_table);
        g_test_add_func("/leaves/titles", test_titles);
        g_test_add_func("/leaves/always", test_always);
        g_test_add_func("/leaves/sleep", test_sleep);
        g_test_add_func("/leaves/log", test_log);
        g_test_add_func("/leaves/refused-at-load", test_refused_at_load);
        g_test_add_func("/leaves/properties", test_properties);

        return g_test_run();
}
