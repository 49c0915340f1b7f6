/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Lists the trees and runs of btd. It has a row for each instance of a tree that has run, and for each tree without
 * runs. What runs wait for is read from their nodes, only for the rows that are drawn and only so often that large runs
 * cost btd little. */

#include <string.h>

#include "basic/span.h"
#include "client/bus/node-info.h"
#include "client/view/output.h"
#include "client/view/style.h"
#include "client/view/text.h"
#include "client/watch/list-screen.h"
#include "client/watch/screen.h"

/* Nodes are read for at most this part of the time; but after a pause, that of NODES_PAUSE can be used at once, so that
 * all rows of small runs are read for the first picture. */
#define NODES_SHARE 20
#define NODES_PAUSE G_USEC_PER_SEC
#define NODES_USEC (G_USEC_PER_SEC / 2)

typedef enum Order {
        ORDER_NAME,
        ORDER_STATE,
        ORDER_TIME,
        ORDER_MAX_,
} Order;

static const char *const order_names[ORDER_MAX_] = { "name", "state", "newest change" };

typedef struct Row {
        const TreeInfo *tree; /* NULL: it has no file and does not wait */
        const RunInfo *run;   /* the newest one; NULL: it has not run */
        const RunInfo *last;  /* the newest finished one before that; NULL: none is known */
        const char *name, *instance;
        char *title;
} Row;

/* The last runs of a row that have finished. */
typedef struct Past {
        RunInfo *newest, *before; /* NULL: not known */
} Past;

/* The reason why a run waits, as read last. */
typedef struct Wait {
        char *text;
        int64_t read; /* CLOCK_MONOTONIC µs */
} Wait;

struct ListScreen {
        Client *client;
        GPtrArray *trees, *runs; /* of TreeInfo, RunInfo */
        GHashTable *past;        /* key of a row -> Past */
        GPtrArray *rows;         /* of Row; those that are shown */
        GHashTable *waits;       /* id of a run -> Wait */
        GHashTable *errors;      /* name of a tree whose file has errors -> the first one */
        int64_t next_read;       /* of nodes: CLOCK_MONOTONIC µs */
        char *cursor;            /* the title of the row; NULL: the first one */
        guint at, top, page;     /* its row, the first row that is drawn, and how many are */
        Order order;
        bool only_running;
        bool has_auto, has_last; /* a row has a text in these columns */
        char *filter;            /* in lower case */
};

static void free_row(void *data) {
        Row *row = data;

        g_free(row->title);
        g_free(row);
}

static void free_past(void *data) {
        Past *past = data;

        run_info_free(past->newest);
        run_info_free(past->before);
        g_free(past);
}

static void free_wait(void *data) {
        Wait *wait = data;

        g_free(wait->text);
        g_free(wait);
}

ListScreen *list_screen_new(Client *client) {
        ListScreen *screen = g_new(ListScreen, 1);

        *screen = (ListScreen){
                .client = client,
                .trees = g_ptr_array_new(),
                .runs = g_ptr_array_new_with_free_func((GDestroyNotify) run_info_free),
                .past = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_past),
                .errors = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free),
                .rows = g_ptr_array_new_with_free_func(free_row),
                .waits = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_wait),
                .filter = g_strdup(""),
        };
        return screen;
}

void list_screen_free(ListScreen *screen) {
        if (!screen)
                return;

        g_ptr_array_unref(screen->rows);
        g_ptr_array_unref(screen->trees);
        g_ptr_array_unref(screen->runs);
        g_hash_table_unref(screen->past);
        g_hash_table_unref(screen->waits);
        g_hash_table_unref(screen->errors);
        g_free(screen->cursor);
        g_free(screen->filter);
        g_free(screen);
}

/* Rows. */

static bool is_running(const Row *row) {
        return row->run && !run_info_has_finished(row->run);
}

static const char *state_of(const Row *row) {
        if (row->run)
                return row->run->status;

        return row->tree && !g_str_equal(row->tree->state, "ok") ? row->tree->state : "idle";
}

static bool has_errors(const Row *row) {
        return !row->run && row->tree && !g_str_equal(row->tree->state, "ok");
}

static uint64_t time_of(const Row *row) {
        if (!row->run)
                return 0;

        return run_info_has_finished(row->run) ? row->run->finished : row->run->started;
}

static int rank_of(const Row *row) {
        static const char *const ranks[] = { "halting", "paused", "running", "error",   "failure",
                                             "broken",  "failed", "halted",  "skipped", "success" };
        int rank = 0;

        while (rank < (int) G_N_ELEMENTS(ranks) && !g_str_equal(ranks[rank], state_of(row)))
                rank++;
        return rank;
}

static gint compare_rows(gconstpointer a, gconstpointer b, void *userdata) {
        const Row *first = *(const Row *const *) a, *second = *(const Row *const *) b;
        const ListScreen *screen = userdata;
        gint order = 0;

        if (screen->order == ORDER_STATE)
                order = rank_of(first) - rank_of(second);
        else if (screen->order == ORDER_TIME)
                order = (time_of(first) < time_of(second)) - (time_of(first) > time_of(second));
        return order ? order : strcmp(first->title, second->title);
}

static char *row_key(const char *tree, const char *instance) {
        return g_strconcat(tree, "@", instance, NULL);
}

static char *row_title(const char *tree, const char *instance) {
        return *instance ? row_key(tree, instance) : g_strdup(tree);
}

/* Takes the run. The same run can come from the list of runs and from the history. */
static void add_past(Past *past, RunInfo *run) {
        bool is_newest = past->newest && g_str_equal(past->newest->id, run->id),
             is_before = past->before && g_str_equal(past->before->id, run->id);

        if (!is_newest && !is_before && (!past->newest || past->newest->finished <= run->finished)) {
                run_info_free(past->before);
                past->before = g_steal_pointer(&past->newest);
                past->newest = run;
        } else if (is_newest) {
                run_info_free(past->newest);
                past->newest = run;
        } else if (is_before || !past->before || past->before->finished <= run->finished) {
                run_info_free(past->before);
                past->before = run;
        } else {
                run_info_free(run);
        }
}

/* Takes the runs that have finished. btd can drop the object of a run when the next one starts. */
static void keep_finished(ListScreen *screen, GPtrArray *runs) {
        for (guint i = runs->len; i > 0; i--) {
                g_autofree char *key = NULL;
                RunInfo *run = g_ptr_array_index(runs, i - 1);
                Past *past;

                if (!run_info_has_finished(run))
                        continue;

                (void) g_ptr_array_steal_index_fast(runs, i - 1);
                key = row_key(run->tree, run->instance);
                past = g_hash_table_lookup(screen->past, key);
                if (!past) {
                        past = g_new0(Past, 1);
                        g_hash_table_insert(screen->past, g_steal_pointer(&key), past);
                }
                g_clear_pointer(&run->path, g_free);
                add_past(past, run);
        }
}

static Row *add_row(GHashTable *rows, const char *name, const char *instance) {
        g_autofree char *key = row_key(name, instance);
        Row *row = g_hash_table_lookup(rows, key);

        if (row)
                return row;

        row = g_new0(Row, 1);
        row->name = name;
        row->instance = instance;
        row->title = row_title(name, instance);
        g_hash_table_insert(rows, g_steal_pointer(&key), row);
        return row;
}

/* The runs come oldest first. */
static void add_run(GHashTable *rows, const RunInfo *run) {
        Row *row = add_row(rows, run->tree, run->instance);

        if (row->run && g_str_equal(row->run->id, run->id)) {
                row->run = run;
                return;
        }
        if (row->run && !run_info_has_finished(row->run)) {
                row->last = run;
                return;
        }
        row->last = row->run;
        row->run = run;
}

/* The row of the cursor stays that of the same tree and instance. */
static void find_cursor(ListScreen *screen) {
        guint found = screen->at;

        for (guint i = 0; i < screen->rows->len; i++)
                if (g_strcmp0(((const Row *) g_ptr_array_index(screen->rows, i))->title, screen->cursor) == 0)
                        found = i;
        screen->at = MIN(found, MAX(screen->rows->len, 1) - 1);
}

static void make_rows(ListScreen *screen) {
        g_autoptr(GHashTable) rows = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        GHashTableIter iter;
        void *data;

        g_ptr_array_set_size(screen->rows, 0);
        g_hash_table_iter_init(&iter, screen->past);
        while (g_hash_table_iter_next(&iter, NULL, &data)) {
                const Past *past = data;

                if (past->before)
                        add_run(rows, past->before);
                add_run(rows, past->newest);
        }
        for (guint i = 0; i < screen->runs->len; i++)
                add_run(rows, g_ptr_array_index(screen->runs, i));
        for (guint i = 0; i < screen->trees->len; i++)
                (void) add_row(rows, ((const TreeInfo *) g_ptr_array_index(screen->trees, i))->name, "");

        g_hash_table_iter_init(&iter, rows);
        while (g_hash_table_iter_next(&iter, NULL, &data)) {
                Row *row = data;
                g_autofree char *title = g_utf8_casefold(row->title, -1), *state = g_utf8_casefold(state_of(row), -1);
                bool matches = strstr(title, screen->filter) || strstr(state, screen->filter);

                row->tree = tree_info_find(screen->trees, row->name);
                if (matches && (!screen->only_running || is_running(row)))
                        g_ptr_array_add(screen->rows, row);
                else
                        free_row(row);
        }
        g_ptr_array_sort_with_data(screen->rows, compare_rows, screen);

        /* Columns that have a text in some row, also in one that is not drawn, so that moving the cursor does not
         * change them. The others would take room from the last column. */
        screen->has_auto = screen->has_last = false;
        for (guint i = 0; i < screen->rows->len; i++) {
                const Row *row = g_ptr_array_index(screen->rows, i);

                screen->has_auto |= row->tree && row->tree->autostart;
                screen->has_last |= row->last != NULL;
        }
        find_cursor(screen);
}

int list_screen_read(ListScreen *screen, bool from_start) {
        g_autoptr(GPtrArray) trees = NULL, runs = NULL, past = NULL;
        int status = tree_info_list(screen->client, &trees);

        if (status == EXIT_SUCCESS)
                status = run_info_list(screen->client, &runs);
        if (status == EXIT_SUCCESS && from_start)
                status = run_info_list_past(screen->client, NULL, &past);
        if (status != EXIT_SUCCESS)
                return status;

        if (from_start)
                list_screen_forget_errors(screen);
        g_ptr_array_set_size(screen->rows, 0);
        g_ptr_array_unref(screen->trees);
        keep_finished(screen, screen->runs);
        g_ptr_array_unref(screen->runs);
        screen->trees = g_steal_pointer(&trees);
        screen->runs = g_steal_pointer(&runs);
        if (past)
                keep_finished(screen, past);
        make_rows(screen);
        return EXIT_SUCCESS;
}

void list_screen_take_finished(ListScreen *screen, const char *id, const char *status) {
        for (guint i = 0; i < screen->runs->len; i++) {
                RunInfo *run = g_ptr_array_index(screen->runs, i);

                if (!g_str_equal(run->id, id) || run_info_has_finished(run))
                        continue;
                g_free(run->status);
                run->status = g_strdup(status);
                run->finished = (uint64_t) g_get_real_time();
        }
}

static const Row *current(const ListScreen *screen) {
        return screen->at < screen->rows->len ? g_ptr_array_index(screen->rows, screen->at) : NULL;
}

const RunInfo *list_screen_run(const ListScreen *screen) {
        const Row *row = current(screen);

        return row ? row->run : NULL;
}

const char *list_screen_tree(const ListScreen *screen) {
        const Row *row = current(screen);

        return row ? row->name : NULL;
}

bool list_screen_is_unloaded(const ListScreen *screen) {
        const Row *row = current(screen);

        return row && has_errors(row) && g_str_equal(row->tree->state, "failed");
}

/* True if the run can wait for this node. */
static bool is_active(const NodeInfo *node) {
        static const char *const active[] = { "running", "waiting", "halting", "paused", NULL };

        return g_strv_contains(active, node->status);
}

/* "Camera: waits for cam.service, and 2 more", of the nodes that run while no node below them does. */
static char *describe_nodes(const GPtrArray *nodes) {
        g_autofree bool *above = g_new0(bool, nodes->len);
        g_autoptr(GString) text = g_string_new(NULL);
        unsigned n = 0;

        for (guint i = 0; i < nodes->len; i++) {
                const NodeInfo *node = g_ptr_array_index(nodes, i);

                if (is_active(node) && node->parent < i)
                        above[node->parent] = true;
        }
        for (guint i = 0; i < nodes->len; i++) {
                const NodeInfo *node = g_ptr_array_index(nodes, i);

                if (above[i] || !is_active(node) || n++ > 0)
                        continue;
                g_string_append(text, node->name);
                if (*node->detail)
                        g_string_append_printf(text, ": %s", node->detail);
                else if (node->title)
                        g_string_append_printf(text, " %s", node->title);
        }
        if (n > 1)
                g_string_append_printf(text, ", and %u more", n - 1);
        return g_string_free(g_steal_pointer(&text), false);
}

/* Reads the nodes of the shown run that was read longest ago, if it is time. */
static void read_waits(ListScreen *screen, unsigned rows) {
        int64_t now = g_get_monotonic_time();

        screen->next_read = MAX(screen->next_read, now - NODES_PAUSE);
        while ((now = g_get_monotonic_time()) >= screen->next_read) {
                g_autoptr(GPtrArray) nodes = NULL;
                const RunInfo *oldest = NULL;
                int64_t read = now - NODES_USEC, after;
                Wait *wait;

                for (guint i = screen->top; i < screen->rows->len && i < screen->top + rows; i++) {
                        const Row *row = g_ptr_array_index(screen->rows, i);
                        const Wait *known = row->run ? g_hash_table_lookup(screen->waits, row->run->id) : NULL;

                        if (!is_running(row) || (known ? known->read : 0) >= read)
                                continue;
                        oldest = row->run;
                        read = known ? known->read : 0;
                }
                if (!oldest)
                        return;
                if (node_info_of_run(screen->client, oldest->path, &nodes) != EXIT_SUCCESS) {
                        screen->next_read = now + NODES_USEC;
                        return;
                }

                after = g_get_monotonic_time();
                wait = g_new(Wait, 1);
                *wait = (Wait){ .text = describe_nodes(nodes), .read = after };
                g_hash_table_insert(screen->waits, g_strdup(oldest->id), wait);
                screen->next_read += (after - now) * NODES_SHARE;
        }
}

/* Reads the error of each shown tree that has no run, once. */
static void read_errors(ListScreen *screen, unsigned rows) {
        for (guint i = screen->top; i < screen->rows->len && i < screen->top + rows; i++) {
                const Row *row = g_ptr_array_index(screen->rows, i);
                g_auto(GStrv) diagnostics = NULL;

                if (!has_errors(row) || !*row->tree->path || g_hash_table_contains(screen->errors, row->name) ||
                    client_get_strings(screen->client, row->tree->path, BTD_TREE, "Diagnostics", &diagnostics) !=
                            EXIT_SUCCESS)
                        continue;
                g_hash_table_insert(screen->errors, g_strdup(row->name),
                                    g_strdup(*diagnostics ? *diagnostics : row->tree->description));
        }
}

void list_screen_forget_errors(ListScreen *screen) {
        g_hash_table_remove_all(screen->errors);
}

/* Why it is as it is: what it waits for, or why it ended. */
static const char *reason_of(const ListScreen *screen, const Row *row) {
        const Wait *wait = row->run ? g_hash_table_lookup(screen->waits, row->run->id) : NULL;

        if (is_running(row) && wait)
                return wait->text;
        if (row->run && *row->run->restart)
                return row->run->restart;
        if (has_errors(row) && g_hash_table_contains(screen->errors, row->name))
                return g_hash_table_lookup(screen->errors, row->name);
        if (row->tree && *row->tree->waiting && (!row->run || *row->run->instance == '\0'))
                return row->tree->waiting;
        if (row->run)
                return row->run->cause;

        return row->tree ? row->tree->description : "";
}

static void append_time(const Output *output, GString *cell, const Row *row) {
        const uint64_t second = G_USEC_PER_SEC, minute = 60 * second, hour = 60 * minute, day = 24 * hour;
        g_autofree char *span = NULL;
        uint64_t now = (uint64_t) g_get_real_time(), time = time_of(row), age = now > time ? now - time : 0, unit;

        if (!row->run)
                return;

        /* Two units are enough, and change less: a slow line has to carry each change. */
        unit = age >= day ? hour : age >= (is_running(row) ? hour : minute) ? minute : second;
        span = span_format_rounded(age / unit * unit);
        output_append(output, cell, STYLE_PLAIN, span);
        if (!is_running(row))
                output_append(output, cell, STYLE_DIM, " ago");
}

static void add_columns(const ListScreen *screen, Columns *columns, const Row *row) {
        const Output *output = &screen->client->output;
        g_autoptr(GString) title = g_string_new(NULL), state = g_string_new(NULL), since = g_string_new(NULL),
                           last = g_string_new(NULL);

        style_append_symbol(output, title, state_of(row));
        output_appendf(output, title, STYLE_PLAIN, " %s", row->title);
        style_append_word(output, state, state_of(row));
        append_time(output, since, row);
        if (row->last)
                style_append_word(output, last, row->last->status);
        columns_add(columns, title->str);
        columns_add(columns, state->str);
        columns_add(columns, since->str);
        if (screen->has_auto)
                columns_add(columns, row->tree && row->tree->autostart ? "yes" : "");
        if (screen->has_last)
                columns_add(columns, last->str);
        columns_add_styled(columns, output, STYLE_PLAIN, reason_of(screen, row));
}

static void draw_head(const ListScreen *screen) {
        const Output *output = &screen->client->output;
        g_autoptr(GString) line = g_string_new(NULL);
        unsigned running = 0;

        for (guint i = 0; i < screen->runs->len; i++)
                running += !run_info_has_finished(g_ptr_array_index(screen->runs, i));
        output_appendf(output, line, STYLE_BOLD, "btd: ");
        output_appendf(output, line, STYLE_PLAIN, "%u tree%s, %u running", screen->trees->len,
                       screen->trees->len == 1 ? "" : "s", running);
        output_appendf(output, line, STYLE_DIM, ", by %s", order_names[screen->order]);
        if (screen->only_running)
                output_append(output, line, STYLE_YELLOW, " [only running]");
        if (*screen->filter)
                output_appendf(output, line, STYLE_YELLOW, " [only with '%s']", screen->filter);
        screen_line(0, line->str, false);
}

/* The line of the cursor can be too long for its row, so it is below the table in full. Returns its lines. */
static char **make_foot(const ListScreen *screen) {
        const Row *shown = current(screen);
        g_autoptr(GString) wrapped = g_string_new(NULL);
        g_autofree char *text = NULL, *clean = NULL;

        if (!shown)
                return g_strsplit("", "\n", -1);

        text = g_strdup_printf("%s %s", shown->run ? shown->run->id : shown->title, reason_of(screen, shown));
        clean = text_clean(text, screen->client->output.ascii);
        text_append_wrapped(wrapped, g_strchomp(clean), 0, screen_columns());
        return g_strsplit(g_strchomp(wrapped->str), "\n", -1);
}

static void draw_rows(ListScreen *screen, unsigned rows) {
        const struct {
                const char *title;
                bool used;
        } heads[] = {
                { "  TREE", true },
                { "STATE", true },
                { "SINCE  ", true }, /* as wide as "10s ago", so that the columns stay for a minute */
                { "AUTO", screen->has_auto },
                { "LAST", screen->has_last },
                { "WAITS FOR, OR WHY", true },
        };
        g_autoptr(Columns) columns = columns_new(4 + screen->has_auto + screen->has_last);
        g_autoptr(GPtrArray) lines = NULL;

        for (size_t i = 0; i < G_N_ELEMENTS(heads); i++)
                if (heads[i].used)
                        columns_add_styled(columns, &screen->client->output, STYLE_BOLD, heads[i].title);
        for (guint i = screen->top; i < screen->rows->len && i < screen->top + rows; i++)
                add_columns(screen, columns, g_ptr_array_index(screen->rows, i));

        lines = columns_lines(columns);
        for (guint i = 0; i < lines->len; i++)
                screen_line(1 + i, g_ptr_array_index(lines, i), i > 0 && screen->top + i - 1 == screen->at);
}

static void set_page(ListScreen *screen, unsigned page) {
        screen->page = page;
        if (screen->top > screen->at)
                screen->top = screen->at;
        if (screen->at >= screen->top + page)
                screen->top = screen->at + 1 - page;
        screen->top = MIN(screen->top, screen->rows->len > page ? screen->rows->len - page : 0);
}

void list_screen_draw(ListScreen *screen, unsigned rows, bool connected) {
        const Output *output = &screen->client->output;
        g_auto(GStrv) foot = NULL;
        unsigned n;

        set_page(screen, rows > 4 ? rows - 3 : 1);
        if (connected) {
                read_waits(screen, screen->page);
                read_errors(screen, screen->page);
        }
        foot = make_foot(screen);
        n = MIN(g_strv_length(foot), rows > 5 ? rows / 2 : 1);
        set_page(screen, rows > n + 3 ? rows - n - 2 : 1);
        draw_head(screen);
        draw_rows(screen, screen->page);
        if (screen->rows->len == 0 && (*screen->filter || screen->only_running))
                screen_line(2, "No tree matches.", false);
        else if (screen->rows->len == 0)
                screen_line(2, "btd has no trees; 'btctl status' shows the directories that it reads.", false);

        /* It begins with the name of the row. */
        for (unsigned i = 0; i < n; i++) {
                size_t name = i == 0 ? strcspn(foot[i], " ") : 0;
                g_autoptr(GString) line = g_string_new(NULL);

                output_appendf(output, line, STYLE_BOLD, "%.*s", (int) name, foot[i]);
                output_append(output, line, STYLE_PLAIN, foot[i] + name);
                screen_line(rows - n + i, line->str, false);
        }
}

/* Keys. */

void list_screen_select(ListScreen *screen, const char *tree, const char *instance) {
        g_free(screen->cursor);
        screen->cursor = row_title(tree, instance);
        find_cursor(screen);
}

void list_screen_filter(ListScreen *screen, const char *text) {
        g_free(screen->filter);
        screen->filter = g_utf8_casefold(text, -1);
        make_rows(screen);
}

bool list_screen_key(ListScreen *screen, int key) {
        int64_t by = screen_key_rows(key, screen->page);

        if (by != 0) {
                const Row *row;

                screen->at = (guint) CLAMP((int64_t) screen->at + by, 0, (int64_t) MAX(screen->rows->len, 1) - 1);
                row = current(screen);
                g_free(screen->cursor);
                screen->cursor = row ? g_strdup(row->title) : NULL;
                return true;
        }

        switch (key) {
        case 'o':
                screen->order = (screen->order + 1) % ORDER_MAX_;
                make_rows(screen);
                return true;
        case 'f':
                screen->only_running = !screen->only_running;
                make_rows(screen);
                return true;
        default:
                return false;
        }
}
