/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests the table of leaf types, the checks of their parameters, and the basic leaves. */

#include <json-c/json_tokener.h>

#include "basic/cleanup.h"
#include "leaf-stage.h"
#include "leaf-types/leaf-types.h"
#include "leaf-types/spawn.h"
#include "leaves/kinds.h"

/* What the table of a parameter does not say is never done. */
static void check_param(const NodeType *type, const Param *param) {
        g_assert_nonnull(param->doc);
        if (g_str_equal(param->name, "timeout") && type->class == NODE_ACTION) {
                g_assert_true(type->has_timeout);
                g_assert_cmpuint(type->timeout_offset, ==, param->offset);
        }
        if (g_str_equal(param->name, "on_recover")) {
                g_assert_true(type->has_on_recover);
                g_assert_cmpuint(type->on_recover_offset, ==, param->offset);
        }
        if (g_str_has_prefix(param->doc, "The variable") || g_str_equal(param->name, "outputs"))
                g_assert_true(param->reads || param->writes);
        if (g_str_equal(param->name, "argv"))
                g_assert_true(type->flags & TYPE_PROCESS);
        if (g_str_equal(param->name, "unit") && type->class == NODE_ACTION)
                g_assert_true(type->flags & TYPE_UNIT_JOB);
}

static void test_table(void) {
        g_autoptr(GHashTable) names = g_hash_table_new(g_str_hash, g_str_equal);

        for (size_t i = 0; leaf_types[i]; i++) {
                const NodeType *type = leaf_types[i];
                bool condition = type->class == NODE_CONDITION;

                g_assert_true(g_hash_table_add(names, (char *) type->name));
                g_assert_nonnull(type->summary);
                g_assert_true(condition || type->class == NODE_ACTION);
                g_assert_nonnull(leaf_kind_of(type));
                g_assert_nonnull(leaf_kind_of(type)->start);
                for (const Param *param = type->params; param && param->name; param++)
                        check_param(type, param);
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
        g_autoptr(TestLeaf) success = leaf_stage_start(stage, leaf_types, "{ \"type\": \"AlwaysSuccess\" }"),
                            failure = leaf_stage_start(stage, leaf_types, "{ \"type\": \"AlwaysFailure\" }");

        g_assert_cmpint(success->status, ==, STATUS_SUCCESS);
        g_assert_cmpint(failure->status, ==, STATUS_FAILURE);
        g_assert_cmpstr(failure->cause, ==, "always fails");
}

static void test_sleep(void) {
        g_autoptr(LeafStage) stage = leaf_stage_new(NULL);
        int64_t start = g_get_monotonic_time();
        g_autoptr(TestLeaf)
                none = leaf_stage_start(stage, leaf_types, "{ \"type\": \"Sleep\", \"duration\": \"0s\" }"),
                some = leaf_stage_start(stage, leaf_types, "{ \"type\": \"Sleep\", \"duration\": \"20ms\" }"),
                ever = leaf_stage_start(stage, leaf_types, "{ \"type\": \"Sleep\", \"duration\": \"infinity\" }");
        g_autofree char *text = test_leaf_describe(some), *without_end = test_leaf_describe(ever);

        g_assert_cmpint(none->status, ==, STATUS_SUCCESS);
        g_assert_cmpint(some->status, ==, STATUS_RUNNING);
        g_assert_cmpstr(text, ==, "20ms to pass");
        g_assert_cmpstr(without_end, ==, "a halt");
        g_assert_cmpint(test_leaf_wait(some), ==, STATUS_SUCCESS);
        g_assert_cmpint(g_get_monotonic_time() - start, >=, 20000);
        g_assert_cmpint(ever->status, ==, STATUS_RUNNING);
        test_leaf_halt(ever);
        g_assert_true(ever->halted);
}

static void test_log(void) {
        if (g_test_subprocess()) {
                g_autoptr(LeafStage) stage = leaf_stage_new(NULL);
                g_autoptr(TestLeaf) leaf = leaf_stage_start(
                        stage, leaf_types, "{ \"type\": \"Log\", \"message\": \"100% sure\", \"level\": \"warning\" }");
                g_autoptr(TestLeaf) number = NULL;

                g_assert_cmpint(leaf->status, ==, STATUS_SUCCESS);
                leaf_stage_set_number(stage, "n", 42);
                number = leaf_stage_start(stage, leaf_types, "{ \"type\": \"Log\", \"message\": \"{n}\" }");
                g_assert_cmpint(number->status, ==, STATUS_SUCCESS);
                return;
        }

        g_test_trap_subprocess(NULL, 0, 0);
        g_test_trap_assert_passed();
        g_test_trap_assert_stderr("*warning: test.1/Node: 100% sure\n*test.1/Node: 42\n*");
}

#define CALL                                                                                                           \
        "{ \"type\": \"DBusCall\", \"destination\": \"a.b\", \"path\": \"/\", \"interface\": \"a.b\", \"member\": "    \
        "\"C\""

static void assert_refused(const char *node, const char *text) {
        g_autofree char *error = leaf_stage_check(leaf_types, node);

        g_assert_cmpstr(error, ==, text);
}

static void test_refused_at_load(void) {
        assert_refused("{ \"type\": \"Log\", \"message\": 5 }",
                       "message: expected a string, not 5; write it in double quotes");
        assert_refused("{ \"type\": \"StartUnit\", \"unit\": \"my cam\" }",
                       "unit: \"my cam.service\" is not the name of a unit: it may have letters, digits and any of "
                       "\":-_.\\@\"");
        assert_refused("{ \"type\": \"UnitState\", \"unit\": \"{cam}@.servce\" }", NULL);
        assert_refused("{ \"type\": \"UnitState\", \"unit\": \"cam\" }",
                       "unit: \"cam\" is taken for \"cam.service\"; write the suffix, too");
        assert_refused("{ \"type\": \"StartUnit\", \"unit\": \"cam.servce\" }",
                       "unit: \"cam.servce\" is not the name of a unit: there is no suffix \".servce\"; did you mean "
                       "\"cam.service\"?");
        assert_refused("{ \"type\": \"UnitState\", \"unit\": \"cam.service\", \"state\": \"actve\" }",
                       "state: \"actve\" is none of \"active\", \"reloading\", \"refreshing\", \"inactive\", "
                       "\"failed\", \"activating\", \"deactivating\", \"maintenance\"; did you mean \"active\"?");
        assert_refused("{ \"type\": \"UnitState\", \"unit\": \"cam.service\", \"state\": [\"active\", \"dead\"] }",
                       "state[1]: \"dead\" is no active state; write it as 'sub_state'");
        assert_refused("{ \"type\": \"UnitState\", \"unit\": \"cam.service\", \"result\": [] }",
                       "result: the list is empty; it needs at least one entry");
        assert_refused("{ \"type\": \"UnitState\", \"unit\": \"cam.service\", \"sub_state\": 5 }",
                       "sub_state: expected a string or an array of strings, not 5");
        assert_refused("{ \"type\": \"UnitState\", \"unit\": \"{unit}\", \"state\": \"{state}\" }", NULL);
        assert_refused("{ \"type\": \"UnitState\", \"unit\": \"a.service\", \"test\": \"value.reslt == 'success'\" }",
                       "test: 'value' has no member 'reslt'; did you mean 'result'? (it has: active_state, sub_state, "
                       "result, load_state)");
        assert_refused("{ \"type\": \"UnitState\", \"unit\": \"a.service\", \"test\": \"value['turnip'] == 1\" }",
                       "test: 'value' has no member 'turnip' (it has: active_state, sub_state, result, load_state)");
        assert_refused("{ \"type\": \"UnitState\", \"unit\": \"a.service\", \"test\": \"value['res' .. 'ult'] == 1\" }",
                       NULL);
        assert_refused(CALL ", \"signature\": \"a{ss}\", \"args\": [{ \"key\": \"value\" }] }", NULL);
        assert_refused(
                CALL ", \"args\": [\"value\"] }",
                "args: signature '' takes 0 arguments, not 1; 'signature' has their types, such as \"s\" for a string");
        assert_refused("{ \"type\": \"Spawn\", \"argv\": [\"bin/true\"] }",
                       "argv[0]: \"bin/true\" must begin with \"/\", or be a name to look for in PATH");
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
                { "{ \"IOSchedulingClass\": \"idle\", \"CPUSchedulingPolicy\": 3, \"SyslogLevel\": \"err\" }", NULL },
                { "{ \"SystemCallFilter\": [\"~@mount\", \"@swap\"], \"SystemCallErrorNumber\": \"EPERM\" }", NULL },
                { "{ \"CapabilityBoundingSet\": \"\", \"RestrictNamespaces\": true, \"CPUAffinity\": 3 }", NULL },
                { "{ \"IOSchedulingClass\": \"idl\" }",
                  "properties.IOSchedulingClass: expected \"realtime\", \"best-effort\", \"idle\" or \"none\", not "
                  "\"idl\"" },
                { "{ \"CPUSchedulingPolicy\": true }", "properties.CPUSchedulingPolicy: expected \"other\", \"batch\", "
                                                       "\"idle\", \"fifo\" or \"rr\", not true" },
                { "{ \"LogLevelMax\": \"loud\" }",
                  "properties.LogLevelMax: expected \"emerg\", \"alert\", \"crit\", \"err\", \"warning\", "
                  "\"notice\", \"info\" or \"debug\", not \"loud\"" },
                { "{ \"SyslogFacility\": \"loud\" }", "properties.SyslogFacility: expected a facility of syslog like "
                                                      "\"daemon\" or \"local0\", not \"loud\"" },
                { "{ \"SystemCallErrorNumber\": \"EFOO\" }",
                  "properties.SystemCallErrorNumber: expected an error like \"EPERM\", not \"EFOO\"" },
                { "{ \"AmbientCapabilities\": \"CAP_FLY\" }",
                  "properties.AmbientCapabilities: expected capabilities like \"CAP_NET_ADMIN CAP_KILL\" or "
                  "\"~CAP_SYS_ADMIN\", not \"CAP_FLY\"" },
                { "{ \"AmbientCapabilities\": [1] }",
                  "properties.AmbientCapabilities: expected capabilities like \"CAP_NET_ADMIN CAP_KILL\" or "
                  "\"~CAP_SYS_ADMIN\", not [1]" },
                { "{ \"RestrictNamespaces\": \"moon\" }", "properties.RestrictNamespaces: expected true, false or "
                                                          "namespaces like \"net ipc\" or \"~user\", not "
                                                          "\"moon\"" },
                { "{ \"RestrictNamespaces\": 5 }", "properties.RestrictNamespaces: expected true, false or namespaces "
                                                   "like \"net ipc\" or \"~user\", not "
                                                   "5" },
                { "{ \"SystemCallFilter\": true }",
                  "properties.SystemCallFilter: expected names like \"@system-service\", AF_UNIX, or after a \"~\" "
                  "those to deny, not true" },
                { "{ \"CPUAffinity\": \"3-1\" }",
                  "properties.CPUAffinity: expected numbers and ranges like \"0-3,8\", not \"3-1\"" },
                { "{ \"CPUAffinity\": \"\" }",
                  "properties.CPUAffinity: expected numbers and ranges like \"0-3,8\", not \"\"" },
                { "{ \"EnvironmentFile\": \"env\" }", "properties.EnvironmentFile: expected absolute paths; a \"-\" "
                                                      "before one means that it may be missing, not \"env\"" },
                { "{ \"EnvironmentFile\": 1 }", "properties.EnvironmentFile: expected absolute paths; a \"-\" "
                                                "before one means that it may be missing, not 1" },
                { "{ \"BindPaths\": \"/a:b\" }", "properties.BindPaths: expected paths like \"/source\", "
                                                 "\"/source:/destination\" or \"/source:/destination:norbind\", not "
                                                 "\"/a:b\"" },
                { "{ \"DeviceAllow\": \"/dev/null\" }",
                  "properties.DeviceAllow: expected a device and rights like \"/dev/video0 rw\", or a list of such "
                  "strings, not \"/dev/null\"" },
                { "{ \"IOWriteBandwidthMax\": [\"/dev/sda fast\"] }",
                  "properties.IOWriteBandwidthMax: expected a device and a number like \"/dev/sda 5M\", or a list of "
                  "such strings, not [\"/dev/sda fast\"]" },
                { "{ \"IPAddressDeny\": \"10.0.0.0/33\" }",
                  "properties.IPAddressDeny: expected \"any\", \"localhost\", \"link-local\", \"multicast\", or "
                  "addresses like \"10.0.0.0/8\", not \"10.0.0.0/33\"" },
                { "{ \"LimitCPU\": 5 }", "properties.LimitCPU: expected a time span like \"10s\", not 5" },
                { "{ \"LogRateLimitBurst\": \"x\" }",
                  "properties.LogRateLimitBurst: expected a whole number, not \"x\"" },
                { "{ \"ExecStartPre\": \"/bin/true\" }", "properties: \"ExecStartPre\" has no short form; the children "
                                                         "of a Sequence run one after the other, and "
                                                         "a Finally cleans up" },
                { "{ \"IODeviceLatencyTargetSec\": \"/dev/sda 5ms\" }",
                  "properties: \"IODeviceLatencyTargetSec\" has no short form; give \"IODeviceLatencyTargetUSec\" as "
                  "{\"signature\": \"a(st)\", \"value\": ...}" },
                { "{ \"ConditionPathExists\": \"/x\" }",
                  "properties: \"ConditionPathExists\" cannot be set; put a condition such as PathExists before the "
                  "node" },
                { "[]", "properties: expected an object, not []" },
                { "{ \"MemoryMx\": 1 }", "properties: \"MemoryMx\" is not known; did you mean \"MemoryMax\"? Any other "
                                         "can be given as {\"signature\": ..., \"value\": ...}" },
                { "{ \"Frobnicate\": 1 }", "properties: \"Frobnicate\" is not known. Any other can be given as "
                                           "{\"signature\": ..., \"value\": ...}" },
                { "{ \"MemoryMax\": \"64X\" }",
                  "properties.MemoryMax: expected a number of bytes like \"64M\", or \"infinity\", not \"64X\"" },
                { "{ \"MemoryMax\": \"99999999E\" }",
                  "properties.MemoryMax: expected a number of bytes like \"64M\", or \"infinity\", not \"99999999E\"" },
                { "{ \"RuntimeMaxSec\": 5 }", "properties.RuntimeMaxSec: expected a time span like \"10s\", not 5" },
                { "{ \"CPUQuota\": \"50\" }", "properties.CPUQuota: expected a share like \"50%\", not \"50\"" },
                { "{ \"UMask\": \"9\" }",
                  "properties.UMask: expected an octal mode as a string like \"0022\", not \"9\"" },
                { "{ \"Type\": \"simple\" }", "properties: \"Type\" is set by the node itself" },
                { "{ \"TimeoutStopSec\": \"5s\" }",
                  "properties: \"TimeoutStopSec\" is set by the node itself; use its parameter \"kill_timeout\"" },
                { "{ \"PrivateTmp\": \"maybe\" }", "properties.PrivateTmp: expected true or false, not \"maybe\"" },
                { "{ \"Slice\": null }", "properties.Slice: expected a string, not null" },
                { "{ \"X\": { \"signature\": \"u\", \"value\": -1 } }",
                  "properties.X: expected a whole number from 0 to 4294967295, not -1" },
                { "{ \"X\": { \"signature\": null, \"value\": \"x\" } }",
                  "properties.X: argument 1, field 2, key \"signature\": expected a value, not null" },

                /* What systemd would read back as something else. */
                { "{ \"SyslogIdentifier\": \"it's 5% of \\\"x\\\"\", \"RootDirectory\": \"/a b\\\\c\" }", NULL },
                { "{ \"SyslogIdentifier\": \"x\\nExecStartPre=/bin/false\" }",
                  "properties.SyslogIdentifier: systemd would read \"x\\nExecStartPre=/bin/false\" as something "
                  "else "
                  "when it is reloaded; leave out control characters, and blanks and '\\' at its ends" },
                { "{ \"SyslogIdentifier\": \"x\\\\\" }",
                  "properties.SyslogIdentifier: systemd would read \"x\\\\\" as something else when it is "
                  "reloaded; "
                  "leave out control characters, and blanks and '\\' at its ends" },
                { "{ \"RootDirectory\": \"/x \" }",
                  "properties.RootDirectory: systemd would read \"/x \" as something else when it is reloaded; "
                  "leave out control characters, and blanks and '\\' at its ends" },
                { "{ \"InaccessiblePaths\": [\"/a b\", \"/x\\\"y\"] }",
                  "properties.InaccessiblePaths: systemd would read \"/x\\\"y\" as something else when it is "
                  "reloaded; leave out control characters, quotes and '\\', and blanks at its ends" },
                { "{ \"RequiresMountsFor\": \"/a b\" }", "properties.RequiresMountsFor: systemd would read \"/a "
                                                         "b\" as something else when it is reloaded; "
                                                         "leave out control characters, blanks, quotes, '\\' and '%'" },
                { "{ \"StateDirectory\": \"x:y\" }", "properties.StateDirectory: systemd would read \"x:y\" as "
                                                     "something else when it is reloaded; leave "
                                                     "out control characters, blanks, quotes, '\\', '%' and ':'" },
                { "{ \"SELinuxContext\": { \"signature\": \"(bs)\", \"value\": [true, \"a:b:c\"] } }", NULL },
                { "{ \"MountImages\": { \"signature\": \"a(ssba(ss))\", \"value\": [] } }",
                  "properties: \"MountImages\" cannot be set: systemd forgets it when it is reloaded" },
                { "{ \"ExecStartPre\": { \"signature\": \"a(sasb)\", \"value\": [[\"/bin/sh\", [\"/bin/sh\", \"-c\", "
                  "\"echo "
                  "'a b' \\\\\"], false]] } }",
                  NULL },
                { "{ \"ExecStartPre\": { \"signature\": \"a(sasb)\", \"value\": [[\"/bin/sh\", [\"/bin/sh\", \"-c\", "
                  "\"a; "
                  "b\"], false]] } }",
                  "properties.ExecStartPre: systemd would read \"a; b\" as something else when it is reloaded; "
                  "run a "
                  "script in place of a command with ';', '$' or \"no-env-expand\"" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(properties); i++) {
                g_autofree char *json = g_strdup_printf(
                        "{ \"type\": \"Spawn\", \"argv\": [\"x\"], \"properties\": %s }", properties[i].json);

                assert_refused(json, properties[i].error);
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
