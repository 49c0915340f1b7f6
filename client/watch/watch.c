/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* btctl watch: the loop that reads signals and keys, draws at most ten times a second (less often, if much changes),
 * and asks before it changes something. */

#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/foreach.h"
#include "client/bus/interrupt.h"
#include "client/bus/target.h"
#include "client/bus/watch.h"
#include "client/verbs/variables.h"
#include "client/verbs/verbs.h"
#include "client/view/text.h"
#include "client/watch/list-screen.h"
#include "client/watch/pace.h"
#include "client/watch/run-screen.h"
#include "client/watch/screen.h"

/* The most time between two pictures, because durations and the list change without signals. */
#define SECOND_USEC UINT64_C(1000000)
#define LIST_USEC (500 * UINT64_C(1000))

typedef struct Action Action;

/* The run, node and tree of a question, noted when the key was pressed: the cursor may move before the answer, and
 * another run may follow. */
typedef struct Subject {
        char *text;            /* for the question: a node, a tree or a run; NULL: there is none */
        char *run, *node;      /* for btctl's verbs; NULL: there is none */
        char *tree, *instance; /* NULL: there is none */
} Subject;

typedef struct View {
        Client *client;
        Watch *watch;
        Follower *follower;
        sd_event_source *picture;
        Pace pace;
        ListScreen *list;
        RunScreen *run;             /* NULL: the list is shown */
        char *message;              /* in the last line; NULL: none */
        bool away, helps, finished; /* finished: the run has, and its end was not drawn yet */
        const Action *asking;       /* its question is shown; NULL: none */
        Subject subject;
        GString *answer;
} View;

/* pause: since the last picture; 0: at once. A change does not delay the picture that a key has asked for. */
static void plan(View *view, uint64_t pause) {
        uint64_t at = pace_next(&view->pace, (uint64_t) g_get_monotonic_time(), pause), planned = 0;
        int enabled = SD_EVENT_OFF;

        if (!view->picture) /* the first picture comes anyway */
                return;

        (void) sd_event_source_get_enabled(view->picture, &enabled);
        (void) sd_event_source_get_time(view->picture, &planned);
        if (enabled != SD_EVENT_OFF && planned <= at)
                return;

        (void) sd_event_source_set_time(view->picture, at);
        (void) sd_event_source_set_enabled(view->picture, SD_EVENT_ONESHOT);
}

static void on_message(const char *text, void *userdata) {
        View *view = userdata;

        g_free(view->message);
        view->message = g_strdup(g_str_has_prefix(text, "btctl: ") ? text + strlen("btctl: ") : text);
}

/* The run that is shown. */

static void on_event(const char *run, const char *path, uint64_t time, const RunEvent *event, void *userdata) {
        View *view = userdata;

        if (!view->run || !g_str_equal(run_screen_run(view->run)->id, run))
                return;

        run_screen_take_event(view->run, path, event);
        plan(view, PACE_LEAST_USEC);
}

static void follow(View *view) {
        g_autofree char *id = g_strdup(run_screen_run(view->run)->id); /* reading replaces the run */
        uint64_t first = run_screen_first_event(view->run);

        if (first == UINT64_MAX)
                return;
        g_clear_pointer(&view->follower, follower_free);
        view->follower = follower_new(view->client, false);
        follower_observe(view->follower, on_event, view);
        (void) client_call(view->client, NULL, BTD_PATH, BTD_MANAGER, "Subscribe", NULL);
        (void) follower_subscribe(view->follower);
        follower_add_after(view->follower, id, first);
        (void) run_screen_read(view->run);
        follower_catch_up(view->follower, id);
}

static void leave(View *view) {
        if (view->follower)
                (void) client_call(view->client, NULL, BTD_PATH, BTD_MANAGER, "Unsubscribe", NULL);
        g_clear_pointer(&view->follower, follower_free);
        g_clear_pointer(&view->run, run_screen_free);
}

static int enter(View *view, const RunInfo *run) {
        RunScreen *screen;
        int status = run_screen_new(view->client, run, &screen);

        if (status != EXIT_SUCCESS)
                return status;

        if (view->run)
                leave(view);
        view->run = screen;
        follow(view);
        return EXIT_SUCCESS;
}

/* Enters a run that btd lists, or that its history has. */
static int enter_by_id(View *view, const char *id) {
        g_autoptr(GPtrArray) runs = NULL, past = NULL;
        const RunInfo *run;
        int status = run_info_list(view->client, &runs);

        if (status == EXIT_SUCCESS)
                status = run_info_list_past(view->client, NULL, &past);
        if (status != EXIT_SUCCESS)
                return status;

        run = target_choose_run(runs, id) ?: target_choose_run(past, id);
        return run ? enter(view, run) : target_report_no_run(view->client, id);
}

static uint64_t number_of(const RunInfo *run) {
        const char *dot = strrchr(run->id, '.');

        return dot ? g_ascii_strtoull(dot + 1, NULL, 10) : 0;
}

/* The run of the same tree and instance with the next number in this direction. runs: also those of other trees. */
static const RunInfo *find_beside(const GPtrArray *runs, const RunInfo *run, bool back, const RunInfo *nearest) {
        PTRS_FOREACH(const RunInfo, other, runs) {
                uint64_t number = number_of(other);

                if (g_str_equal(other->tree, run->tree) && g_str_equal(other->instance, run->instance) &&
                    (back ? number < number_of(run) && (!nearest || number > number_of(nearest))
                          : number > number_of(run) && (!nearest || number < number_of(nearest))))
                        nearest = other;
        }

        return nearest;
}

static void enter_beside(View *view, bool back) {
        const RunInfo *run = run_screen_run(view->run), *found;
        g_autoptr(GPtrArray) runs = NULL, past = NULL;

        if (run_info_list(view->client, &runs) != EXIT_SUCCESS ||
            run_info_list_past(view->client, run->tree, &past) != EXIT_SUCCESS)
                return;

        found = find_beside(past, run, back, find_beside(runs, run, back, NULL));
        if (found)
                (void) enter(view, found);
        else
                (void) report_error(back ? "there is no run before %s" : "there is no run after %s", run->id);
}

/* Actions: keys that ask first, because they change something or need a text. */

struct Action {
        int key;
        const char *question;
        bool takes_text,                              /* else y or n */
                of_run,                               /* else also in the list */
                of_node;                              /* of the one under the cursor */
        int (*verb)(Client *client, char **operands); /* of btctl, with the run, and if so the node and the text */
        int (*carry_out)(View *view, const Subject *subject); /* if it is no verb */
};

static int do_clear(View *view, const Subject *subject) {
        int status;

        view->client->options.given |= OPTION_BIT(OPTION_CLEAR);
        status = verb_break(view->client, (char *[]){ subject->run, subject->node, NULL });
        view->client->options.given &= ~OPTION_BIT(OPTION_CLEAR);
        return status;
}

static int do_search(View *view, const Subject *subject) {
        run_screen_search(view->run, view->answer->str);
        return EXIT_SUCCESS;
}

static int do_filter(View *view, const Subject *subject) {
        list_screen_filter(view->list, view->answer->str);
        return EXIT_SUCCESS;
}

static const RunInfo *run_of(const View *view) {
        return view->run ? run_screen_run(view->run) : list_screen_run(view->list);
}

/* In a run: with the variables that it was started with. */
static int do_start(View *view, const Subject *subject) {
        g_autoptr(GPtrArray) sets = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(sd_bus_message) message = NULL, reply = NULL;
        bool has_instance = *subject->instance;
        const char *id, *path;
        int status = EXIT_SUCCESS, r;

        if (view->run)
                status = variables_read_given(view->client, subject->run, sets);
        if (status == EXIT_SUCCESS)
                status = client_message(view->client, BTD_PATH, BTD_MANAGER, "StartTree", &message);
        if (status != EXIT_SUCCESS)
                return status;

        r = sd_bus_message_append(message, "s", subject->tree);
        if (r >= 0)
                r = variables_append(message, sets);
        if (r >= 0)
                r = sd_bus_message_append(message, "a{sv}", has_instance ? 1 : 0, "instance", "s",
                                          has_instance ? subject->instance : NULL);
        if (r < 0)
                return client_bad_message(r);

        status = client_send(view->client, message, &reply);
        if (status != EXIT_SUCCESS)
                return status;

        r = sd_bus_message_read(reply, "so", &id, &path);
        if (r < 0)
                return client_bad_message(r);

        return view->run ? enter_by_id(view, id) : EXIT_SUCCESS;
}

static const Action search_action = { '/', "Search: ", true, true, .carry_out = do_search };
static const Action filter_action = { '/', "Show only rows with: ", true, false, .carry_out = do_filter };
static const Action again_action = {
        'a', "Start %s again, with the same variables? [y/n]", false, true, .carry_out = do_start,
};
static const Action clear_action = {
        'b', "Remove the breakpoint of %s? [y/n]", false, true, true, .carry_out = do_clear,
};
static const Action actions[] = {
        { 'p', "Pause %s? [y/n]", false, true, false, verb_pause },
        { 'r', "Resume %s? [y/n]", false, true, false, verb_resume },
        { 's', "Step %s by one tick? [y/n]", false, true, false, verb_step },
        { 'b', "Set a breakpoint at %s? [y/n]", false, true, true, verb_break },
        { 'F', "Outcome of %s (success, failure or skipped): ", true, true, true, verb_force },
        { 'v', "Set a variable of %s, KEY=JSON: ", true, true, false, verb_set },
        { 'x', "Halt %s? [y/n]", false, false, false, verb_halt },
        { 'a', "Start %s? [y/n]", false, false, .carry_out = do_start },
};

static const Action *find_action(const View *view, int key) {
        if (key == '/')
                return view->run ? &search_action : &filter_action;
        if (key == 'b' && view->run && run_screen_has_breakpoint(view->run))
                return &clear_action;
        if (key == 'a' && view->run)
                return &again_action;
        for (size_t i = 0; i < G_N_ELEMENTS(actions); i++)
                if (actions[i].key == key && (view->run || !actions[i].of_run))
                        return &actions[i];

        return NULL;
}

static void clear_subject(Subject *subject) {
        g_free(subject->text);
        g_free(subject->run);
        g_free(subject->node);
        g_free(subject->tree);
        g_free(subject->instance);
        *subject = (Subject){};
}

static void ask(View *view, const Action *action) {
        const RunInfo *run = run_of(view);
        const char *tree = run ? run->tree : list_screen_tree(view->list);
        Subject *subject = &view->subject;

        clear_subject(subject);
        *subject = (Subject){
                .run = g_strdup(run ? run->id : NULL),
                .node = view->run ? g_strdup_printf("#%u", run_screen_node(view->run)) : NULL,
                .tree = g_strdup(tree),
                .instance = g_strdup(run ? run->instance : ""),
        };
        if (action->of_node)
                subject->text = run_screen_node_path(view->run);
        else if (action->key != 'a' || !tree || !*subject->instance)
                subject->text = g_strdup(action->key == 'a' ? tree : subject->run);
        else
                subject->text = g_strdup_printf("%s@%s", tree, subject->instance);

        if (!subject->text && action->key != '/')
                (void) report_error("there is no run here");
        else if (action->key == 'x' && run && run_info_has_finished(run) && !*run->restart)
                (void) report_error("%s has finished: %s", run->id, run->status);
        else
                view->asking = action;
}

static void finish_question(View *view, bool carry_out) {
        const Action *action = g_steal_pointer(&view->asking);
        const Subject *subject = &view->subject;
        char *operands[4] = { subject->run };
        unsigned n = 1;
        int status = EXIT_FAILURE;

        if (action->of_node)
                operands[n++] = subject->node;
        if (action->takes_text)
                operands[n] = view->answer->str;
        if (carry_out)
                status = action->verb ? action->verb(view->client, operands) : action->carry_out(view, subject);
        if (status == EXIT_SUCCESS && view->run)
                run_screen_refresh(view->run);
        g_string_truncate(view->answer, 0);
}

static void answer(View *view, int key) {
        if (!view->asking->takes_text)
                finish_question(view, key == 'y' || key == 'Y');
        else if (key == '\n')
                finish_question(view, view->answer->len > 0 || view->asking == &filter_action);
        else if (key == KEY_OF_ESCAPE)
                finish_question(view, false);
        else if (key == KEY_OF_BACKSPACE) {
                const char *text = view->answer->str, *last = g_utf8_find_prev_char(text, text + view->answer->len);

                g_string_truncate(view->answer, last ? (gsize) (last - text) : 0);
        } else if (key >= ' ' && key < KEY_OF_UP && g_unichar_isprint((gunichar) key))
                g_string_append_unichar(view->answer, (gunichar) key);
}

/* Pictures. */

typedef struct KeyHelp {
        const char *keys, *help;
} KeyHelp;

static const KeyHelp list_help[] = {
        { "Up Down PgUp PgDn Home End", "move" },
        { "Enter", "open the run" },
        { "o", "order by name, state, or newest change" },
        { "f", "show only what runs, or all" },
        { "/", "show only rows with a text; without one, all" },
        { "a", "start the tree" },
        { "x", "halt the run" },
        { "q Ctrl-L", "quit; draw the screen again" },
        {},
};

static const KeyHelp run_help[] = {
        { "Up Down PgUp PgDn Home End", "move; t: follow what runs or fails again" },
        { "Enter", "fold or unfold; at a leaf: the node above it" },
        { "+ - =", "unfold all; fold all; fold finished parts" },
        { "/ n N", "search; next; previous" },
        { "f c C", "only failed; only changed; forget the changes" },
        { "Tab 1 2 3 4", "the pane below: events, variables, cause, log" },
        { "J K", "scroll the pane" },
        { "Left Right < >", "an input back or forward; < >: a tenth of all" },
        { "t", "back to the present" },
        { "[ ]", "the run of this instance before; the next one" },
        { "p r s", "pause; resume; step by one tick" },
        { "b", "set or remove a breakpoint at the node" },
        { "F", "force an outcome of the node" },
        { "v", "set a variable" },
        { "x a", "halt the run; start its tree again" },
        { "Esc", "all trees and runs" },
        { "q Ctrl-L", "quit; draw the screen again" },
        {},
};

static void draw_help(const View *view) {
        const Output *output = &view->client->output;
        unsigned row = 0;

        screen_line(row++, view->run ? "Keys for a run:" : "Keys for the list:", false);
        for (const KeyHelp *help = view->run ? run_help : list_help; help->keys; help++) {
                g_autoptr(GString) line = g_string_new(NULL);

                output_appendf(output, line, STYLE_BOLD, "  %-29s", help->keys);
                output_append(output, line, STYLE_PLAIN, help->help);
                screen_line(++row, line->str, false);
        }
}

/* A message or a question can need several lines. They cover what was drawn there. */
static void draw_wrapped(const View *view, Style style, const char *text, unsigned rows) {
        const Output *output = &view->client->output;
        g_autofree char *clean = text_clean(text, output->ascii);
        g_autoptr(GString) wrapped = g_string_new(NULL);
        g_auto(GStrv) lines = NULL;
        unsigned n;

        text_append_broken(wrapped, clean, screen_columns());
        lines = g_strsplit(wrapped->str, "\n", -1);
        n = g_strv_length(lines);
        for (unsigned i = 0; i < n; i++) {
                g_autoptr(GString) line = g_string_new(NULL);

                output_append(output, line, style, lines[i]);
                if (n - i <= rows)
                        screen_line(rows - n + i, line->str, false);
        }
}

static void draw_last_lines(const View *view, unsigned rows) {
        if (view->asking) {
                const Action *action = view->asking;
                g_auto(GStrv) parts = g_strsplit(action->question, "%s", 2);
                bool later = action->of_run && action != &search_action && run_screen_is_back(view->run);
                /* A text that is typed ends with its cursor. */
                g_autofree char *question = g_strconcat(later ? "This shows the past; the run has continued. " : "",
                                                        parts[0], parts[1] ? view->subject.text : "", parts[1] ?: "",
                                                        view->answer->str, action->takes_text ? "_" : "", NULL);

                draw_wrapped(view, STYLE_BOLD, question, rows);
        } else if (view->away)
                draw_wrapped(view, STYLE_RED, "not connected: btd is not running; waiting for it to start", rows);
        else if (view->message)
                draw_wrapped(view, STYLE_YELLOW, view->message, rows);
        else {
                g_autoptr(GString) line = g_string_new(NULL);
                const char *keys =
                        view->run ? "? keys  Enter fold  / search  f failed  Tab pane  Left earlier  Esc list  q quit"
                                  : "? keys  Enter open  o order  f running  / filter  a start  x halt  q quit";

                if (view->helps)
                        keys = "Press a key to return.";
                output_append(&view->client->output, line, STYLE_DIM, keys);
                screen_line(rows - 1, line->str, false);
        }
}

static int on_picture(sd_event_source *source, uint64_t usec, void *userdata) {
        unsigned rows = MAX(screen_rows(), 2);
        View *view = userdata;
        uint64_t now = (uint64_t) g_get_monotonic_time(), drawn;
        size_t changed;
        bool stalled = pace_has_stalled(&view->pace, now);

        if (screen_is_busy()) {
                (void) sd_event_source_set_time(source, now + PACE_LEAST_USEC);
                (void) sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
                return 0;
        }

        if (view->run && stalled && !view->away)
                follow(view);
        if (!view->run && !view->away)
                (void) list_screen_read(view->list, stalled);
        pace_begin_picture(&view->pace, (uint64_t) g_get_monotonic_time());
        screen_clear();
        if (view->helps)
                draw_help(view);
        else if (view->run) {
                run_screen_draw(view->run, rows - 1, !view->away);
                /* The end of a run is shown also if its events were not read as they came. */
                if (view->finished && !view->away && view->follower && run_screen_lacks_end(view->run)) {
                        follower_catch_up(view->follower, run_screen_run(view->run)->id);
                        run_screen_draw(view->run, rows - 1, true);
                }
                view->finished = false;
        } else
                list_screen_draw(view->list, rows - 1, !view->away);
        draw_last_lines(view, rows);
        drawn = (uint64_t) g_get_monotonic_time();
        changed = screen_show();
        pace_end_picture(&view->pace, changed, (uint64_t) g_get_monotonic_time() - drawn);
        plan(view, SECOND_USEC);
        return 0;
}

/* Keys. */

static void open_row(View *view) {
        const RunInfo *run = list_screen_run(view->list);
        const char *tree = list_screen_tree(view->list);

        if (run)
                (void) enter(view, run);
        else if (list_screen_is_unloaded(view->list))
                (void) report_error("the file of %s has errors; 'btctl status %s' shows them", tree, tree);
        else if (tree)
                (void) report_error("%s has not run; press a to start it", tree);
}

static void handle_key(View *view, int key) {
        const Action *action = find_action(view, key);

        if (view->asking) {
                answer(view, key);
                return;
        }

        g_clear_pointer(&view->message, g_free);
        if (key == KEY_OF_REDRAW)
                screen_resize();
        else if (view->helps)
                view->helps = false;
        else if (key == 'q')
                watch_end(view->watch, EXIT_SUCCESS);
        else if (key == '?')
                view->helps = true;
        else if (key == KEY_OF_ESCAPE && view->run) {
                const RunInfo *run = run_screen_run(view->run);

                list_screen_select(view->list, run->tree, run->instance);
                leave(view);
        } else if (key == '\n' && !view->run)
                open_row(view);
        else if ((key == '[' || key == ']') && view->run)
                enter_beside(view, key == '[');
        else if (action)
                ask(view, action);
        else if (!(view->run ? run_screen_key(view->run, key) : list_screen_key(view->list, key)) &&
                 key != KEY_OF_RESIZE)
                (void) report_error("this key does nothing here; ? shows the keys");
}

/* A terminal that is readable without having bytes is gone. */
static int on_input(sd_event_source *source, int fd, uint32_t events, void *userdata) {
        View *view = userdata;
        int key, n = 0;

        if ((events & (EPOLLHUP | EPOLLERR)) || ioctl(fd, FIONREAD, &n) < 0 || n == 0) {
                watch_end(view->watch, EXIT_SIGNAL + SIGHUP);
                return 0;
        }

        while ((key = screen_key()) != KEY_OF_NONE)
                handle_key(view, key);
        plan(view, 0);
        return 0;
}

/* Signals. */

static int on_resized(sd_event_source *source, const struct signalfd_siginfo *info, void *userdata) {
        View *view = userdata;

        screen_resize();
        view->client->output.columns = screen_columns();
        if (view->run)
                run_screen_resize(view->run);
        plan(view, 0);
        return 0;
}

static int on_hangup(sd_event_source *source, const struct signalfd_siginfo *info, void *userdata) {
        const View *view = userdata;

        watch_end(view->watch, EXIT_SIGNAL + SIGHUP);
        return 0;
}

/* The list reads what runs wait for when it is drawn. Nodes of other runs are not on the screen of a run. */
static void on_nodes_changed(const char *path, GPtrArray *nodes, void *userdata) {
        View *view = userdata;

        if (!view->run) {
                plan(view, LIST_USEC);
        } else if (g_strcmp0(path, run_screen_run(view->run)->path) == 0) {
                run_screen_take_nodes(view->run, nodes);
                plan(view, PACE_LEAST_USEC);
        }
}

static void on_events(sd_bus_message *signal, void *userdata) {
        View *view = userdata;

        if (view->follower)
                follower_handle(view->follower, signal);
}

static void on_run_new(const char *id, const char *path, void *userdata) {
        plan(userdata, PACE_LEAST_USEC);
}

static void on_run_finished(const char *id, const char *status, const char *cause, void *userdata) {
        View *view = userdata;

        if (view->run && g_str_equal(run_screen_run(view->run)->id, id)) {
                run_screen_take_finished(view->run, status, cause);
                view->finished = true;
        }
        list_screen_take_finished(view->list, id, status);
        plan(view, PACE_LEAST_USEC);
}

static void on_reloaded(char **errors, void *userdata) {
        View *view = userdata;

        list_screen_forget_errors(view->list);
        plan(view, PACE_LEAST_USEC);
}

static void on_away(void *userdata) {
        View *view = userdata;

        view->away = true;
        plan(view, 0);
}

static void on_back(const char *how, void *userdata) {
        View *view = userdata;

        view->away = false;
        g_clear_pointer(&view->message, g_free);
        (void) list_screen_read(view->list, true);
        if (view->run)
                follow(view);
        plan(view, 0);
}

/* SIGWINCH and SIGHUP come through the loop, as SIGINT and SIGTERM do. */
static int add_sources(View *view) {
        sd_event *event = watch_loop(view->watch);
        sigset_t mask;
        int r;

        sigemptyset(&mask);
        sigaddset(&mask, SIGWINCH);
        sigaddset(&mask, SIGHUP);
        sigprocmask(SIG_BLOCK, &mask, NULL);
        r = sd_event_add_signal(event, NULL, SIGWINCH, on_resized, view);
        if (r >= 0)
                r = sd_event_add_signal(event, NULL, SIGHUP, on_hangup, view);
        if (r >= 0)
                r = sd_event_add_io(event, NULL, STDIN_FILENO, EPOLLIN, on_input, view);
        if (r >= 0)
                r = sd_event_add_time(event, &view->picture, CLOCK_MONOTONIC, 0, 1, on_picture, view);
        return r < 0 ? report_error("cannot watch the terminal: %s", g_strerror(-r)) : EXIT_SUCCESS;
}

/* Opens what the operand names; a tree that has not run is shown in the list. */
static int open_operand(View *view, const char *operand) {
        g_auto(Target) target = {};
        int status;

        if (target_is_run_id(operand))
                return enter_by_id(view, operand);

        status = target_find(view->client, operand, &target);
        if (status == EXIT_SUCCESS && target.run)
                return enter(view, target.run);
        if (status == EXIT_SUCCESS) {
                list_screen_select(view->list, target.tree->name, "");
                open_row(view);
        }
        return status;
}

static int show(View *view, const char *operand) {
        int status = operand ? open_operand(view, operand) : EXIT_SUCCESS;

        if (status == EXIT_SUCCESS)
                status = screen_begin(&view->client->output);
        if (status == EXIT_SUCCESS)
                status = add_sources(view);
        if (status == EXIT_SUCCESS)
                status = watch_wait(view->watch);
        screen_end();
        return status;
}

int verb_watch(Client *client, char **operands) {
        static const WatchCallbacks callbacks = {
                .run_new = on_run_new,
                .run_finished = on_run_finished,
                .nodes_changed = on_nodes_changed,
                .events = on_events,
                .reloaded = on_reloaded,
                .away = on_away,
                .back = on_back,
        };
        View view = {
                .client = client,
                .list = list_screen_new(client),
                .answer = g_string_new(NULL),
                .pace = PACE_INIT,
        };
        int status = screen_check();

        if (status == EXIT_SUCCESS)
                status = watch_new(client, &callbacks, &view, &view.watch);
        if (status == EXIT_SUCCESS)
                status = list_screen_read(view.list, true);
        if (status == EXIT_SUCCESS) {
                client->output.quiet = true;
                client->before_password = screen_pause;
                interrupt_before_exit(screen_end);
                report_observe(on_message, &view);
                watch_wait_for_restart(view.watch, true, true);
                status = show(&view, operands[0]);
                report_observe(NULL, NULL);
        }
        if (status != EXIT_SUCCESS && status < EXIT_SIGNAL && view.message)
                (void) report_error("%s", view.message);

        sd_event_source_disable_unref(view.picture);
        run_screen_free(view.run);
        list_screen_free(view.list);
        follower_free(view.follower);
        watch_free(view.watch);
        clear_subject(&view.subject);
        g_string_free(view.answer, true);
        g_free(view.message);
        /* Ctrl-C is a normal way to end it. */
        return status == EXIT_SIGNAL + SIGINT ? EXIT_SUCCESS : status;
}
