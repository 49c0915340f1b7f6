/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Loads on threads: the library at a reload, and trees that are given as text. A tree from a text exists as long as
 * its run. Until loading is done, all others use the old library.
 */

#include <errno.h>

#include "basic/foreach.h"
#include "basic/later.h"
#include "basic/log.h"
#include "basic/span.h"
#include "definition/sources.h"
#include "runtime/manager-state.h"

/* Limit of texts that are loaded at the same time. */
#define LOADERS_MAX 4u

struct Loading {
        Workers *reloaders;  /* one thread, because there is one library */
        Work *reload;        /* the current reload; NULL: none */
        GQueue reloads;      /* ManagerReload: requests that the current reload completes */
        GQueue next_reloads; /* requests that came after it began */
        GQueue replaced;     /* LibraryScan, to be freed in pieces */
        GSource *freeing;    /* NULL: nothing to free */
        Workers *loaders;
        GQueue texts;       /* TextStart: texts that are being loaded */
        GQueue writings;    /* Writing: files that are being prepared */
        Timer *reads_check; /* NULL: nothing is being loaded */
        bool reads_late;    /* the delay was reported */
        Work *history;      /* NULL: not being read */
};

int manager_check_text_name(Manager *manager, const char *name, char **ret_error) {
        if (!tree_name_valid(name))
                *ret_error = g_strdup_printf("the name of a tree consists of letters, digits, '_' and '-', %u at most",
                                             TREE_NAME_MAX);
        else if (library_get(manager->library, name))
                *ret_error = g_strdup_printf("there is a tree '%s' already; start that one, or give this another name",
                                             name);
        else
                return 0;

        return -EINVAL;
}

static void add_late(Workers *workers, GString *text) {
        g_autoptr(GArray) waits = workers_waits(workers, DISK_QUEUE_LATE_USEC);
        uint64_t now = (uint64_t) g_get_monotonic_time();

        ARRAY_FOREACH(const WorkWait, wait, waits) {
                g_autofree char *span = span_format_rounded(now - wait->since);

                g_string_append_printf(text, "%sthe disk has not answered for %s: %s reads %s",
                                       text->len > 0 ? "; " : "", span, wait->what, wait->path);
        }
}

char *manager_describe_late_reads(const Manager *manager) {
        GString *text = g_string_new(NULL);

        add_late(manager->loading->reloaders, text);
        add_late(manager->loading->loaders, text);
        return g_string_free(text, text->len == 0);
}

static void check_reads(void *userdata) {
        Manager *manager = userdata;
        g_autofree char *late = manager_describe_late_reads(manager);

        g_clear_pointer(&manager->loading->reads_check, timer_free);
        if (manager->loading->reload || manager->loading->texts.head || manager->loading->history)
                manager->loading->reads_check =
                        timer_new(manager->services->timers, DISK_QUEUE_LATE_USEC, check_reads, manager);
        if ((late != NULL) == manager->loading->reads_late)
                return;

        manager->loading->reads_late = late != NULL;
        if (late)
                log_warning("%s; only work that reads from it waits", late);
        else
                log_notice("the disk answers again");
        TELL(manager, disk_changed);
}

static void watch_reads(Manager *manager) {
        if (!manager->loading->reads_check)
                manager->loading->reads_check =
                        timer_new(manager->services->timers, DISK_QUEUE_LATE_USEC, check_reads, manager);
}

struct ManagerReload {
        Manager *manager;
        GQueue *queue; /* the queue that contains it */
        GList link;
        ManagerReloaded done; /* NULL: no reply is needed */
        void *userdata;
};

static void take(Manager *manager, LibraryScan *scan) {
        const GPtrArray *messages = library_scan_messages(scan);

        library_take(manager->library, scan);
        for (unsigned i = 0; i < messages->len; i++)
                log_error("%s", (const char *) messages->pdata[i]);
}

void manager_load(Manager *manager) {
        g_autoptr(LibraryScan) scan = library_scan_new(manager->library);

        library_scan_run(scan, NULL);
        take(manager, scan);
}

void manager_reload_drop(ManagerReload *reload) {
        if (!reload)
                return;

        g_queue_unlink(reload->queue, &reload->link);
        g_free(reload);
}

/* messages: NULL: the reload was not done. */
static void answer_reloads(GQueue *queue, const GPtrArray *messages) {
        while (queue->head) {
                ManagerReload *reload = queue->head->data;
                ManagerReloaded done = reload->done;
                void *userdata = reload->userdata;

                manager_reload_drop(reload);
                if (done)
                        done(messages, userdata);
        }
}

typedef struct Reload {
        Manager *manager;
        LibraryScan *scan;
} Reload;

static void run_reload(Work *work, void *data) {
        library_scan_run(((Reload *) data)->scan, work);
}

static gboolean on_freeing(void *userdata) {
        Manager *manager = userdata;
        LibraryScan *scan = g_queue_pop_head(&manager->loading->replaced);

        if (!library_scan_free_some(scan))
                g_queue_push_head(&manager->loading->replaced, scan);
        if (manager->loading->replaced.length > 0)
                return G_SOURCE_CONTINUE;

        manager->loading->freeing = NULL;
        return G_SOURCE_REMOVE;
}

/* Frees the replaced trees in pieces, because there can be thousands. */
static void free_reload(void *data) {
        g_autofree Reload *reload = data;
        Manager *manager = reload->manager;

        g_queue_push_tail(&manager->loading->replaced, reload->scan);
        if (!manager->loading->freeing)
                manager->loading->freeing = call_later(manager->context, 0, on_freeing, manager);
}

static void on_reloaded(void *data, void *userdata);

static void begin_reload(Manager *manager) {
        static const WorkKind kind = {
                .what = "a reload",
                .run = run_reload,
                .done = on_reloaded,
                .free = free_reload,
        };

        Reload *work = g_new(Reload, 1);

        TELL(manager, reloading);
        while (manager->loading->next_reloads.head) {
                GList *link = g_queue_pop_head_link(&manager->loading->next_reloads);

                ((ManagerReload *) link->data)->queue = &manager->loading->reloads;
                g_queue_push_tail_link(&manager->loading->reloads, link);
        }
        *work = (Reload){ .manager = manager, .scan = library_scan_new(manager->library) };
        manager->loading->reload = workers_start(manager->loading->reloaders, &kind, work, manager);
        watch_reads(manager);
}

static void on_reloaded(void *data, void *userdata) {
        LibraryScan *scan = ((const Reload *) data)->scan;
        const GPtrArray *messages = library_scan_messages(scan);
        Manager *manager = userdata;

        manager->loading->reload = NULL;
        take(manager, scan);
        manager_reread_autostarts(manager);
        TELL(manager, reloaded, messages);
        answer_reloads(&manager->loading->reloads, messages);
        if (manager->loading->next_reloads.head && !manager->loading->reload)
                begin_reload(manager);
}

ManagerReload *manager_reload(Manager *manager, ManagerReloaded done, void *userdata) {
        ManagerReload *reload = g_new0(ManagerReload, 1);

        reload->manager = manager;
        reload->done = done;
        reload->userdata = userdata;
        reload->link.data = reload;
        reload->queue = &manager->loading->next_reloads;
        g_queue_push_tail_link(reload->queue, &reload->link);
        if (!manager->loading->reload)
                begin_reload(manager);
        return reload;
}

struct TextStart {
        Manager *manager;
        GList link;
        Work *work;        /* NULL: it is loaded, and waits to be started */
        LibraryText *text; /* used by the thread while it runs */
        char *name;
        json_object *variables;
        char *token; /* NULL: none */
        char *source;
        uint32_t uid;
        char *starter;
        ManagerStarted started;
        void *userdata;
};

static void run_text(Work *work, void *data) {
        const TextStart *start = data;

        library_text_run(start->text, work);
}

static void text_start_free(TextStart *start) {
        library_text_free(start->text);
        json_object_put(start->variables);
        g_free(start->starter);
        g_free(start->token);
        g_free(start->source);
        g_free(start->name);
        g_free(start);
}

static void free_text(void *data) {
        TextStart *start = data;

        if (start->work)
                text_start_free(start);
}

static int check_text(const TextStart *start, char **ret_error) {
        const Diagnostics *diagnostics = start->text->diagnostics;
        const Definition *definition = start->text->definition;
        g_autofree char *error = diagnostics_format_error(diagnostics);
        size_t n = diagnostics_count_errors(diagnostics);

        if (!definition && n == 1)
                *ret_error = g_strdup_printf("tree '%s' has errors: %s", start->name, error);
        else if (!definition)
                *ret_error =
                        g_strdup_printf("tree '%s' has %zu errors, which 'btctl validate' shows; the first one: %s",
                                        start->name, n, error);
        else if (!definition_tree(definition))
                *ret_error = g_strdup_printf("tree '%s' has no 'root'", start->name);
        else if (definition_header(definition)->restart.when != RESTART_NO)
                *ret_error = g_strdup_printf("tree '%s' cannot be started again, because it is in no file; leave out "
                                             "'restart'",
                                             start->name);
        else
                return 0;

        return MANAGER_TREE_BROKEN;
}

/* False: try again later. */
static bool try_start(TextStart *start) {
        Manager *manager = start->manager;
        g_autofree char *inputs = manager_inputs(start->text->definition, start->variables, start->source);
        Order order = {
                .tree = start->name,
                .instance = "",
                .variables = start->variables,
                .starter = start->starter,
                .token = start->token,
                .uid = start->uid,
                .inputs = inputs,
        };
        g_auto(RunSummary) outcome = {};
        g_autofree char *error = NULL;
        bool begun = false;
        Run *run;
        int r;

        r = start->token ? manager_check_inputs(manager, start->name, "", start->token, inputs, &error) : 0;
        if (r >= 0)
                r = start->token ? manager_find_outcome(manager, start->name, "", start->token, &outcome, &error)
                                 : MANAGER_NO_SUCH_RUN;
        if (r == MANAGER_NO_SUCH_RUN) {
                g_clear_pointer(&error, g_free);
                r = manager_check_text_name(manager, start->name, &error);
                if (r >= 0)
                        r = check_text(start, &error);
                if (r >= 0)
                        r = manager_carry_out(manager, start->text->definition, &order, &run, &error);
                begun = r >= 0;
                if (begun)
                        outcome = manager_outcome_of(manager, run);
        }
        if (r == MANAGER_NOT_YET)
                return false;

        g_queue_unlink(&manager->loading->texts, &start->link);
        start->started(r < 0 ? NULL : &outcome, begun, r, error, start->userdata);
        return true;
}

static void on_text_loaded(void *data, void *userdata) {
        TextStart *start = data;

        if (!try_start(start))
                start->work = NULL;
}

void manager_retry_texts(Manager *manager) {
        for (GList *link = manager->loading->texts.head, *next; link; link = next) {
                TextStart *start = link->data;

                next = link->next;
                if (!start->work && try_start(start))
                        text_start_free(start);
        }
}

int manager_start_text(Manager *manager, const TreeStart *wanted, const char *text, const Caller *who,
                       ManagerStarted started, void *userdata, TextStart **ret_start, char **ret_error) {
        static const WorkKind kind = {
                .what = "a start from a text",
                .run = run_text,
                .done = on_text_loaded,
                .free = free_text,
        };
        Order order = { .instance = "", .variables = wanted->variables };
        TextStart *start;
        int r;

        r = manager_check_order(manager, &order, ret_error);
        if (r >= 0 && wanted->token)
                r = run_check_token(wanted->token, ret_error);
        if (r >= 0)
                r = manager_check_text_name(manager, wanted->tree, ret_error);
        if (r < 0)
                return r;

        start = g_new0(TextStart, 1);
        start->manager = manager;
        start->text = library_text_new(manager->library, wanted->tree, text);
        start->name = g_strdup(wanted->tree);
        start->variables = json_object_get(wanted->variables);
        start->token = g_strdup(wanted->token);
        start->source = g_strdup(text);
        start->uid = who->uid;
        start->starter = g_strdup(who->text);
        start->started = started;
        start->userdata = userdata;
        start->link.data = start;
        g_queue_push_tail_link(&manager->loading->texts, &start->link);
        *ret_start = start;
        start->work = workers_start(manager->loading->loaders, &kind, start, manager);
        watch_reads(manager);
        return 0;
}

void text_start_drop(TextStart *start) {
        if (!start)
                return;

        g_queue_unlink(&start->manager->loading->texts, &start->link);
        if (start->work)
                work_drop(start->work);
        else
                text_start_free(start);
}

static void run_read_history(Work *work, void *data) {
        archive_reading_run(data, work);
}

static void on_history_read(void *data, void *userdata) {
        Manager *manager = userdata;

        manager->loading->history = NULL;
        archive_take(record_store_archive(manager->records), data);
        manager_retry_starts(manager);
}

bool manager_history_is_read(Manager *manager, const char *tree) {
        static const WorkKind kind = {
                .what = "the history",
                .run = run_read_history,
                .done = on_history_read,
                .free = (GDestroyNotify) archive_reading_free,
        };
        const Archive *archive = record_store_archive(manager->records);

        if (!archive || archive_is_read(archive, tree))
                return true;

        if (!manager->loading->history)
                manager->loading->history =
                        workers_start(manager->loading->loaders, &kind, archive_reading_new(archive), manager);
        watch_reads(manager);
        return false;
}

/* Prepares the files at the beginning of a run record on a thread, for a large tree, before its run is started. */
typedef struct Writing {
        Manager *manager;
        GList link;
        Definition *definition;
        SummedText *files;
} Writing;

static void run_writing(Work *work, void *data) {
        Writing *writing = data;

        writing->files = definition_write_files(writing->definition);
}

static void forget_writing(Writing *writing) {
        if (writing->link.data)
                g_queue_unlink(&writing->manager->loading->writings, &writing->link);
        writing->link.data = NULL;
}

static void on_written(void *data, void *userdata) {
        Writing *writing = data;

        definition_give_files(writing->definition, g_steal_pointer(&writing->files));
        /* If a tree is started twice, the first start uses the prepared files, and the second one prepares them
         * again. */
        forget_writing(writing);
        manager_retry_starts(userdata);
}

static void free_writing(void *data) {
        Writing *writing = data;

        forget_writing(writing);
        definition_unref(writing->definition);
        summed_text_free(writing->files);
        g_free(writing);
}

void manager_write_files(Manager *manager, Definition *definition) {
        static const WorkKind kind = {
                .what = "the start of a large tree",
                .run = run_writing,
                .done = on_written,
                .free = free_writing,
        };
        Writing *writing;

        for (const GList *link = manager->loading->writings.head; link; link = link->next)
                if (((const Writing *) link->data)->definition == definition)
                        return;

        writing = g_new0(Writing, 1);
        writing->manager = manager;
        writing->definition = definition_ref(definition);
        writing->link.data = writing;
        g_queue_push_tail_link(&manager->loading->writings, &writing->link);
        (void) workers_start(manager->loading->loaders, &kind, writing, manager);
}

void manager_stop_loading(Manager *manager) {
        Order order = { .instance = "" };

        work_drop(g_steal_pointer(&manager->loading->reload));
        answer_reloads(&manager->loading->reloads, NULL);
        answer_reloads(&manager->loading->next_reloads, NULL);
        while (manager->loading->texts.head) {
                TextStart *start = manager->loading->texts.head->data;
                ManagerStarted started = start->started;
                void *userdata = start->userdata;
                g_autofree char *error = NULL;
                int r = manager_check_order(manager, &order, &error);

                text_start_drop(start);
                started(NULL, false, r, error, userdata);
        }
}

Loading *loading_new(Manager *manager) {
        Loading *loading = g_new0(Loading, 1);

        loading->reloaders = workers_new(manager->context, 1);
        loading->loaders = workers_new(manager->context, LOADERS_MAX);
        return loading;
}

void loading_free(Loading *loading) {
        timer_free(loading->reads_check);
        work_drop(g_steal_pointer(&loading->reload));
        while (loading->reloads.head)
                manager_reload_drop(loading->reloads.head->data);
        while (loading->next_reloads.head)
                manager_reload_drop(loading->next_reloads.head->data);
        while (loading->texts.head)
                text_start_drop(loading->texts.head->data);
        workers_free(loading->reloaders);
        workers_free(loading->loaders);
        g_clear_pointer(&loading->freeing, g_source_destroy);
        g_queue_clear_full(&loading->replaced, (GDestroyNotify) library_scan_free);
        g_free(loading);
}
