/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests the drawing of trees: the exact text in both character sets, with colours, and in few columns. */

#include "client/view/run-view.h"

typedef struct Row {
        uint32_t parent;
        const char *type, *name, *status;
        uint64_t duration;
        const char *detail, *title, *element;
} Row;

#define ROOT NODE_INFO_ROOT

static const Row boot[] = {
        { ROOT, "Sequence", "Boot", "running", 1520000, "" },
        { 0, "UnitState", "SystemCheck", "success", 0, "" },
        { 0, "Parallel", "ParallelLoad", "failure", 1400000, "LoadConfig: exited with status 3" },
        { 2, "Spawn", "LoadConfig", "failure", 1200345, "exited with status 3" },
        { 2, "StartUnit", "StartUnit", "halted", 250, "" },
        { 0, "Inverter", "Inverter", "running", 61234567, "" },
        { 5, "DBusCall", "CheckError", "running", 3000000, "waits for a reply of org.example.Camera.Check" },
        { 0, "Fallback", "Last", "skipped", 0, "" },
        { 7, "Sleep", "A", "error", 0, "what is wrong" },
        { 7, "Sleep", "B", "idle", 0, "" },
};

static GPtrArray *make_nodes(const Row *rows, size_t n_rows) {
        GPtrArray *nodes = node_info_array_new();

        for (size_t i = 0; i < n_rows; i++) {
                NodeInfo *node = g_new(NodeInfo, 1);

                *node = (NodeInfo){
                        .index = i,
                        .parent = rows[i].parent,
                        .type = g_strdup(rows[i].type),
                        .name = g_strdup(rows[i].name),
                        .status = g_strdup(rows[i].status),
                        .duration = rows[i].duration,
                        .detail = g_strdup(rows[i].detail),
                        .title = g_strdup(rows[i].title),
                        .element = g_strdup(rows[i].element),
                };
                g_ptr_array_add(nodes, node);
        }

        return nodes;
}

static void assert_drawn(const Output *output, const Row *rows, size_t n_rows, const char *expected) {
        g_autoptr(GPtrArray) nodes = make_nodes(rows, n_rows);
        g_autoptr(GString) text = g_string_new(NULL);

        tree_view_append(output, text, nodes);
        g_assert_cmpstr(text->str, ==, expected);
}

/* A node with a name of its own has no title. A copy has its element. */
static void test_titles(void) {
        static const Row rows[] = {
                { ROOT, "Sequence", "Sequence", "success", 0, "" },
                { 0, "StartUnit", "StartUnit", "success", 0, "", "cam.service" },
                { 0, "StartUnit", "Camera", "success", 0, "", "cam.service" },
                { 0, "StartUnit", "StartUnit[2]", "success", 0, "", "cam.service", "s3" },
                { 0, "StartUnit", "Camera[2]", "success", 0, "", "cam.service", "\033[31m" },
                { 0, "StartUnit", "StartUnit[1]", "idle", 0, "" },
                { 0, "Log", "Log", "idle", 0, "", "\033[31m" },
        };

        assert_drawn(&(Output){}, rows, G_N_ELEMENTS(rows),
                     "✓ Sequence\n"
                     "├─ ✓ StartUnit cam.service\n"
                     "├─ ✓ Camera (StartUnit)\n"
                     "├─ ✓ StartUnit[2: s3] cam.service\n"
                     "├─ ✓ Camera[2: ?[31m] (StartUnit)\n"
                     "├─ ○ StartUnit[1]\n"
                     "└─ ○ Log ?[31m\n");
}

static void test_unicode(void) {
        assert_drawn(&(Output){}, boot, G_N_ELEMENTS(boot),
                     "● Boot (Sequence) for 1.52s\n"
                     "├─ ✓ SystemCheck (UnitState)\n"
                     "├─ ✗ ParallelLoad (Parallel) after 1.4s: LoadConfig: exited with status 3\n"
                     "│  ├─ ✗ LoadConfig (Spawn) after 1.2s: exited with status 3\n"
                     "│  └─ ■ StartUnit after 250us\n"
                     "├─ ● Inverter for 1min 1s\n"
                     "│  └─ ● CheckError (DBusCall) for 3s, waits for a reply of org.example.Camera.Check\n"
                     "└─ ↷ Last (Fallback)\n"
                     "   ├─ ! A (Sleep): what is wrong\n"
                     "   └─ ○ B (Sleep)\n");
}

static void test_ascii(void) {
        assert_drawn(&(Output){ .ascii = true }, boot, G_N_ELEMENTS(boot),
                     "* Boot (Sequence) for 1.52s\n"
                     "|- + SystemCheck (UnitState)\n"
                     "|- x ParallelLoad (Parallel) after 1.4s: LoadConfig: exited with status 3\n"
                     "|  |- x LoadConfig (Spawn) after 1.2s: exited with status 3\n"
                     "|  `- # StartUnit after 250us\n"
                     "|- * Inverter for 1min 1s\n"
                     "|  `- * CheckError (DBusCall) for 3s, waits for a reply of org.example.Camera.Check\n"
                     "`- ~ Last (Fallback)\n"
                     "   |- ! A (Sleep): what is wrong\n"
                     "   `- - B (Sleep)\n");
}

static void test_colour(void) {
        static const Row rows[] = { { ROOT, "Spawn", "Work", "failure", 2000000, "exited with status 3" } };

        assert_drawn(&(Output){ .colour = true }, rows, G_N_ELEMENTS(rows),
                     "\033[31m✗\033[0m Work\033[2m (Spawn)\033[0m\033[2m after 2s\033[0m: exited with status 3\n");
}

/* Colours have no width, and end where a line is cut. */
static void test_narrow(void) {
        static const Row rows[] = {
                { ROOT, "Sequence", "Boot", "running", 0, "" },
                { 0, "Spawn", "Work", "failure", 2000000, "exited with status 3" },
        };

        assert_drawn(&(Output){ .columns = 24 }, rows, G_N_ELEMENTS(rows),
                     "● Boot (Sequence)\n"
                     "└─ ✗ Work (Spawn) after…\n");
        assert_drawn(&(Output){ .columns = 24, .ascii = true }, rows, G_N_ELEMENTS(rows),
                     "* Boot (Sequence)\n"
                     "`- x Work (Spawn) aft...\n");
        assert_drawn(&(Output){ .columns = 24, .colour = true }, rows, G_N_ELEMENTS(rows),
                     "\033[36m●\033[0m Boot\033[2m (Sequence)\033[0m\n"
                     "└─ \033[31m✗\033[0m Work\033[2m (Spawn)\033[0m\033[2m after…\033[0m\n");
}

/* The output of a process is made safe for the terminal. */
static void test_hostile(void) {
        static const Row rows[] = {
                { ROOT, "Spawn", "W\303\266rk", "failure", 0, "it wrote \"a\nb\033[2J\302\233\342\200\256\377\"" },
                { 0, "Spawn", "B", "of the future", 0, "" },
        };

        assert_drawn(&(Output){}, rows, G_N_ELEMENTS(rows),
                     "✗ Wörk (Spawn): it wrote \"a b?[2J??\357\277\275\"\n"
                     "└─ ? B (Spawn)\n");
        assert_drawn(&(Output){ .ascii = true }, rows, G_N_ELEMENTS(rows),
                     "x W?rk (Spawn): it wrote \"a b?[2J???\"\n"
                     "`- ? B (Spawn)\n");
}

static void test_empty(void) {
        assert_drawn(&(Output){}, NULL, 0, "");
}

/* A tree of the greatest depth. */
static void test_deep(void) {
        g_autofree Row *rows = g_new(Row, 1000);
        g_autoptr(GPtrArray) nodes = NULL;
        g_autoptr(GString) text = g_string_new(NULL);
        g_auto(GStrv) lines = NULL;

        for (uint32_t i = 0; i < 1000; i++)
                rows[i] = (Row){ i == 0 ? ROOT : i - 1, "Inverter", "Inverter", "idle", 0, "" };

        nodes = make_nodes(rows, 1000);
        tree_view_append(&(Output){ .ascii = true }, text, nodes);
        lines = g_strsplit(text->str, "\n", -1);

        g_assert_cmpuint(g_strv_length(lines), ==, 1001);
        g_assert_cmpuint(strlen(lines[999]), ==, 998 * strlen("   ") + strlen("`- - Inverter"));
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);

        g_test_add_func("/tree-view/titles", test_titles);
        g_test_add_func("/tree-view/unicode", test_unicode);
        g_test_add_func("/tree-view/ascii", test_ascii);
        g_test_add_func("/tree-view/colour", test_colour);
        g_test_add_func("/tree-view/narrow", test_narrow);
        g_test_add_func("/tree-view/hostile", test_hostile);
        g_test_add_func("/tree-view/empty", test_empty);
        g_test_add_func("/tree-view/deep", test_deep);

        return g_test_run();
}
