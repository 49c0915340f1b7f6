/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests the drop-ins of tree files: what they change, what they cannot change, and the files of the tree. */

#include <string.h>

#include "basic/cleanup.h"
#include "definition/load/load.h"
#include "script/blackboard.h"
#include "tree-files.h"

#define TREE                                                                                                           \
        "{'btd':1,'description':'old','restart':'always','access':{'start':['ann'],'halt':['bob']},"                   \
        "'inputs':{'iface':'string','n':{'type':'int','default':3}},'blackboard':{'mode':{'a':1,'b':2}},"              \
        "'trees':{'cam':{'root':{'type':'Sequence','name':'Boot','children':[{'type':'Do','name':'Start'}]}}},"        \
        "'root':{'type':'Sequence','name':'Top','children':[{'type':'Do','name':'Load','text':'old',"                  \
        "'any':{'x':1,'y':2}},{'type':'SubTree','tree':'cam'},{'type':'Do','name':'Start','skip_if':'n > 5'}]}}"

static char *messages_of(const char *dropin) {
        g_autoptr(TreeFiles) files =
                tree_files_new((const char *[]){ "t.json", TREE, "t.json.d/10.json", dropin, NULL });

        tree_files_draft(files, "t.json.d/10.json");
        return tree_files_load(files, "t.json", NULL);
}

static void assert_messages(const char *dropin, const char *expected) {
        g_autofree char *messages = messages_of(dropin);

        g_assert_cmpstr(messages, ==, expected);
}

static Definition *load_good(const char *const *texts) {
        g_autoptr(TreeFiles) files = tree_files_new(texts);
        Definition *definition = NULL;
        g_autofree char *messages = tree_files_load(files, "t.json", &definition);

        g_assert_cmpstr(messages, ==, "");
        return definition;
}

static void assert_json(json_object *value, const char *expected) {
        g_assert_cmpstr(json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN), ==, expected);
}

static const Do *params_of(const Definition *definition, NodeId node) {
        return definition_tree(definition)->nodes[node].params;
}

/* Later ones change what earlier ones left. */
static void test_changes(void) {
        g_autoptr(Definition) definition = load_good((const char *[]){
                "t.json", TREE, "t.json.d/10-a.json",
                "{'autostart':true,'description':'new','restart':null,'access':{'halt':['@ops'],'start':null},"
                "'inputs':{'iface':{'default':'eth1'},'n':{'default':7}},'blackboard':{'mode':{'c':3}},"
                "'nodes':{'Load':{'text':'new','any':{'x':null,'z':3}},'cam: Boot/Start':{'text':'inner'}}}",
                "t.json.d/20-b.json",
                "// with a comment\n{'$schema':'x','btd':1,'inputs':{'n':{'default':8}},"
                "'nodes':{'Top/Load':{'text':null},'Top/Start':{'skip_if':null,'text':'last'}}}",
                NULL });
        const ScopeInfo *scope = definition_scope_info(definition, 0);

        g_assert_true(definition_header(definition)->autostart);
        g_assert_cmpstr(definition_header(definition)->description, ==, "new");
        g_assert_cmpint(definition_header(definition)->restart.when, ==, RESTART_NO);
        g_assert_null(definition_access(definition)->who[ACCESS_START]);
        g_assert_cmpstr(definition_access(definition)->who[ACCESS_HALT][0], ==, "@ops");
        assert_json(definition_blackboard(definition), "{\"mode\":{\"c\":3}}");
        assert_json(scope->inputs[0].fallback, "\"eth1\"");
        assert_json(scope->inputs[1].fallback, "8");
        g_assert_null(params_of(definition, 1)->text);
        assert_json(params_of(definition, 1)->any, "{\"y\":2,\"z\":3}");
        g_assert_cmpstr(params_of(definition, 4)->text, ==, "inner");
        g_assert_cmpstr(params_of(definition, 5)->text, ==, "last");
        g_assert_null(definition_guard(definition, 5, GUARD_SKIP_IF));
}

/* They are files of the tree: a run record has them, and another text is another tree. */
static void test_files(void) {
        const char *texts[] = { "t.json", TREE, "t.json.d/10.json", "{'autostart':false}", NULL };
        g_autoptr(Definition) definition = load_good(texts),
                              plain = load_good((const char *[]){ "t.json", TREE, NULL });
        g_autoptr(Definition) other = NULL;
        g_autoptr(SummedText) json = definition_write_files(definition);

        texts[3] = "{'restart':'no'}";
        other = load_good(texts);
        g_assert_cmpuint(definition_n_files(definition), ==, 2);
        g_assert_cmpstr(definition_file(definition, 1), ==, "t.json.d/10.json");
        g_assert_cmpstr(definition_file_extends(definition, 1), ==, "t.json");
        g_assert_null(definition_file_extends(definition, 0));
        g_assert_cmpstr(definition_file_text(definition, 1), ==, "{\"autostart\":false}");
        g_assert_cmpstr(definition_text(definition), ==, definition_text(plain));
        g_assert_cmpstr(definition_hash(definition), !=, definition_hash(plain));
        g_assert_cmpstr(definition_hash(definition), !=, definition_hash(other));
        g_assert_true(g_str_has_suffix(json->text, "{\"path\":\"t.json.d/10.json\",\"text\":\"{\\\"autostart\\\":false}"
                                                   "\",\"found\":[],\"extends\":\"t.json\"}]"));
}

/* Those of another tree change it wherever it is used. */
static void test_of_a_used_tree(void) {
        g_autoptr(Definition) definition =
                load_good((const char *[]){ "t.json", "{'btd':1,'root':{'type':'SubTree','tree':'lens'}}",
                                            "path/lens.json", "{'btd':1,'root':{'type':'Do','name':'A','text':'old'}}",
                                            "path/lens.json.d/x.json", "{'nodes':{'A':{'text':'new'}}}", NULL });

        g_assert_cmpstr(params_of(definition, 1)->text, ==, "new");
        g_assert_cmpuint(definition_n_files(definition), ==, 3);
}

#define AT "t.json.d/10.json:1:"

/* Each error names the drop-in, and all are reported. */
static void test_errors(void) {
        assert_messages("{'autostar':false,'nodes':{'Load':{'txt':'x','any':{'x':1,'x':2}}}}",
                        AT "2: error: unknown key 'autostar'; did you mean 'autostart'? (a drop-in takes: inputs, "
                           "blackboard, nodes, btd, description, autostart, interval, on_stop, restart, "
                           "restart_backoff, restart_limit, on_finished, access, $schema)\n" AT
                           "36: error: unknown key 'txt'; did you mean 'text'? (in Top/Load)\n" AT
                           "59: error: 'x' is given twice");
        assert_messages("{'variables':{}}", AT "2: error: unknown key 'variables'; did you mean 'blackboard'?");
        assert_messages("{'root':{},'nodes':{'Load':{'children':[],'name':'x'}},'autostart':1}",
                        AT "2: error: a drop-in cannot change 'root'; 'btctl edit --full t' copies the file, to change "
                           "all of it\n" AT "29: error: a drop-in cannot change 'children'; 'btctl edit --full t' "
                           "copies the file, to change all of it\n" AT
                           "43: error: a drop-in cannot change 'name'; 'btctl edit --full t' copies the file, to "
                           "change all of it\n" AT "68: error: autostart: expected true or false, not 1");
        assert_messages("{'inputs':{'ifac':{},'zzz':{},'mode':{},'n':5,'iface':{'type':'any','default':5}}}", AT
                        "12: error: inputs: t.json has no 'ifac' there; did you mean 'iface'?\n" AT
                        "22: error: inputs: t.json has no 'zzz' there; a drop-in only changes what the file "
                        "declares\n" AT "31: error: inputs: 'mode' is in 'blackboard' of t.json; change it there\n" AT
                        "41: error: inputs.n: expected an object of what changes, such as {\"default\": ...}, not "
                        "5\n" AT "56: error: inputs.iface: a drop-in cannot change the type\n" AT
                        "79: error: inputs.iface.default: expected a string, but got 5");
        assert_messages("{'blackboard':{'n':1,'mod':2},'inputs':[],'nodes':1}",
                        AT "16: error: blackboard: 'n' is in 'inputs' of t.json; change it there\n" AT
                           "22: error: blackboard: t.json has no 'mod' there; did you mean 'mode'?\n" AT
                           "31: error: inputs: expected an object of variables, not an array\n" AT
                           "43: error: nodes: expected an object of nodes, such as {\"NAME\": {\"timeout\": \"30s\"}}, "
                           "not 1");
        assert_messages("{'nodes':{'Lod':{},'Xxxxx':{},'Start':{},'Load':{},'Top/Load':{},'Top':2},'nodes':{}}",
                        AT "11: error: nodes: no node of t.json has the name 'Lod'; did you mean 'Load'?\n" AT
                           "20: error: nodes: no node of t.json has the name 'Xxxxx'; give a node's 'name', or its "
                           "path, such as 'Boot/Start'\n" AT "31: error: nodes: 2 nodes have the name 'Start'; give "
                           "the path of one, such as 'Top/Start' or 'cam: Boot/Start'\n" AT
                           "52: error: nodes: the node 'Top/Load' is given twice\n" AT
                           "66: error: nodes: expected an object of what changes at 'Top', such as {\"timeout\": "
                           "\"30s\"}, not 2\n" AT "75: error: 'nodes' is given twice");
        assert_messages("{'autostart':fals}", AT "14: error: 'fals' is not a value; a string is written in double "
                                                 "quotes");
        assert_messages("[]", AT "1: error: a drop-in is an object, such as {\"autostart\": false}, not an array");
        assert_messages("{'btd':2}", AT "8: error: btd: the file has version 2 of the format; this btd knows only "
                                        "version 1");
        assert_messages("{'blackboard':5}", AT "2: error: blackboard: expected an object of variables, not 5");
}

static void test_same_paths(void) {
        g_autoptr(TreeFiles) files = tree_files_new((const char *[]){
                "t.json",
                "{'btd':1,'root':{'type':'Sequence','children':[{'type':'Do','name':'A'},{'type':'Do','name':'A'}]}}",
                "t.json.d/10.json", "{'nodes':{'A':{}}}", NULL });
        g_autofree char *messages = tree_files_load(files, "t.json", NULL);

        g_assert_cmpstr(
                messages, ==,
                AT "11: warning: ignored: nodes: 2 nodes have the path 'A', so a drop-in cannot change one of them");
}

/* A new version of the file has other nodes, variables and types: what is left of the drop-in applies. */
static void test_not_there(void) {
        const char *dropin = "{'on_stop':'halt','inputs':{'zzz':{'default':1},'n':{'default':7}},'blackboard':{'n':1},"
                             "'nodes':{'Lod':{'text':'x'},'Start':{},'Load':{'txt':'x','text':'new'}}}";
        g_autoptr(TreeFiles) files =
                tree_files_new((const char *[]){ "t.json", TREE, "t.json.d/10.json", dropin, NULL });
        g_autoptr(Definition) definition = NULL;
        g_autofree char *messages = tree_files_load(files, "t.json", &definition);

        g_assert_cmpstr(messages, ==,
                        AT
                        "29: warning: ignored: inputs: t.json has no 'zzz' there; a drop-in only changes what the file "
                        "declares\n" AT
                        "82: warning: ignored: blackboard: 'n' is in 'inputs' of t.json; change it there\n" AT
                        "98: warning: ignored: nodes: no node of t.json has the name 'Lod'; did you mean 'Load'?\n" AT
                        "117: warning: ignored: nodes: 2 nodes have the name 'Start'; give the path of one, such as "
                        "'Top/Start' or 'cam: Boot/Start'\n" AT
                        "136: warning: ignored: unknown key 'txt'; did you mean 'text'? (in Top/Load)");
        g_assert_true(definition_header(definition)->on_stop == ON_STOP_HALT);
        assert_json(definition_scope_info(definition, 0)->inputs[1].fallback, "7");
        g_assert_cmpstr(params_of(definition, 1)->text, ==, "new");
}

/* What a null would remove is not there any more. */
static void test_nulls(void) {
        g_autoptr(Definition) definition = load_good((const char *[]){
                "t.json", TREE, "t.json.d/10.json",
                "{'on_stop':null,'nodes':{'Load':{'skip_if':null,'any':{'w':null,'u':{'a':null,'b':1}}},"
                "'Top/Start':{'any':{'a':null}}}}",
                NULL });

        assert_json(params_of(definition, 1)->any, "{\"x\":1,\"y\":2,\"u\":{\"b\":1}}");
        assert_json(params_of(definition, 5)->any, "{}");
}

static void test_told_changes(void) {
        g_autoptr(TreeFiles) files = tree_files_new((const char *[]){
                "t.json", TREE, "t.json.d/05.json", "{'description':'older'}", "t.json.d/10.json",
                "{'interval':'1s','description':'old','restart':'always','access':{'halt':null},"
                "'inputs':{'iface':{'default':'eth1'},'n':{'default':7}},'blackboard':{'mode':{'c':3}},"
                "'nodes':{'cam: Boot/Start':{'text':'inner'},'Top':{'skip_if':'n < 1'},"
                "'Load':{'text':null,'any':{'x':null,'y':{}}}}}",
                "t.json.d/20.json", "{'interval':'2s'}", NULL });
        g_autofree char *messages = NULL;

        tree_files_draft(files, "t.json.d/10.json");
        messages = tree_files_load(files, "t.json", NULL);
        g_assert_cmpstr(messages, ==, "");
        g_assert_cmpstr(tree_files_changes(files), ==,
                        "description: \"older\" -> \"old\"\n"
                        "access.halt: [\"bob\"] -> null\n"
                        "inputs.iface.default: null -> \"eth1\"\n"
                        "inputs.n.default: 3 -> 7\n"
                        "blackboard.mode: {\"a\":1,\"b\":2} -> {\"c\":3}\n"
                        "nodes.cam: Boot/Start.text: null -> \"inner\"\n"
                        "nodes.Load.text: \"old\" -> null\n"
                        "nodes.Load.any.x: 1 -> null\n"
                        "nodes.Load.any.y: 2 -> {}\n"
                        "nodes.Top.skip_if: null -> \"n < 1\"\n"
                        "interval: null -> \"1s\"");
}

/* Also in the code of several lines, and for a warning. */
static void test_places(void) {
        g_autoptr(TreeFiles) files = tree_files_new(
                (const char *[]){ "t.json", "{'btd':1,'root':{'type':'Do','name':'A','writes':'x'}}", "t.json.d/a.json",
                                  "{'nodes':{'A':{\n 'code':['x = 1',\n  'y = = 2']}}}", NULL });
        g_autofree char *messages = tree_files_load(files, "t.json", NULL), *backoff = NULL;

        g_assert_true(g_str_has_prefix(messages, "t.json.d/a.json:3:"));
        backoff = messages_of("{'restart_backoff':{'initial':'5s','max':'1s'}}");
        g_assert_cmpstr(backoff, ==,
                        AT "20: warning: restart_backoff: 'initial' is longer than 'max', so each delay is "
                           "as long as 'max'");
}

static void test_limits(void) {
        g_autoptr(TreeFiles) files = tree_files_new((const char *[]){ "t.json", TREE, NULL });
        g_autofree char *spaces = g_strnfill(DROPIN_LENGTH_MAX, ' '), *many = NULL, *large = NULL;

        for (unsigned i = 0; i <= DROPINS_MAX; i++) {
                g_autofree char *path = g_strdup_printf("t.json.d/%02u.json", i);

                tree_files_put(files, path, "{}");
        }
        many = tree_files_load(files, "t.json", NULL);
        g_assert_cmpstr(many, ==,
                        "t.json: error: the drop-in 't.json.d/50.json' is one too many: a tree file has at "
                        "most 50 drop-ins");

        g_free(many);
        many = g_strconcat("{}", spaces, NULL);
        tree_files_put(files, "t.json.d/00.json", many);
        large = tree_files_load(files, "t.json", NULL);
        g_assert_cmpstr(large, ==,
                        "t.json: error: the drop-in 't.json.d/00.json' is too large: a drop-in has at most "
                        "1 MiB");
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/definition-dropins/changes", test_changes);
        g_test_add_func("/definition-dropins/files", test_files);
        g_test_add_func("/definition-dropins/of-a-used-tree", test_of_a_used_tree);
        g_test_add_func("/definition-dropins/errors", test_errors);
        g_test_add_func("/definition-dropins/same-paths", test_same_paths);
        g_test_add_func("/definition-dropins/not-there", test_not_there);
        g_test_add_func("/definition-dropins/nulls", test_nulls);
        g_test_add_func("/definition-dropins/told-changes", test_told_changes);
        g_test_add_func("/definition-dropins/places", test_places);
        g_test_add_func("/definition-dropins/limits", test_limits);
        return g_test_run();
}
