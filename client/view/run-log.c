/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Reads the lines of a run from the journal, for btctl logs and watch.
 *
 * A process of Spawn or Command is a unit whose name says which run and node started it, and whose lines have the field
 * BTD_RUN. Everybody can write that field, but not the field with the name of the unit. A child process of btd has that
 * name as its identifier, which everybody can have, but not the unit of btd. A unit that a node starts has
 * its own name; its lines belong to the run from that start until the unit is stopped by the run, or the run ends. The
 * times are those of CLOCK_MONOTONIC in the same boot, because the clock may be set while the run continues.
 */

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <syslog.h>
#include <systemd/sd-messages.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/foreach.h"
#include "client/view/run-log.h"
#include "client/view/style.h"
#include "client/view/unit-log.h"
#include "leaf-types/leaf-types.h"
#include "leaf-types/spawn.h"
#include "leaf-types/unit.h"

/* The last lines of a process reach the journal after its end. */
#define LATE_USEC UINT64_C(1000000)

/* On a busy machine, a line can reach the journal so much later than it was written. */
#define RECEIVED_LATE_USEC UINT64_C(60000000)

/* See leaves/spawn/spawn-process.h. */
#define SPAWN_PREFIX "btd-"
#define SPAWN_SUFFIX ".service"

#define DAEMON_UNIT "btd.service"

G_DEFINE_AUTOPTR_CLEANUP_FUNC(sd_journal, sd_journal_close)

/* A time during which the lines of a unit belong to a node. */
typedef struct Window {
        char *unit, *bus; /* bus: NULL: btd's own */
        NodeId node;
        uint64_t from, to; /* since the start of the run */
        bool stops;        /* the unit is not of the run any more afterwards */
        bool open;         /* the job has not ended */
} Window;

typedef struct Reader {
        const Client *client;
        const Recording *recording;
        uint64_t since;
        sd_journal *journal;
        sd_id128_t boot;
        bool user;
        bool has_processes;
        GArray *windows;    /* of Window, by their begin */
        GHashTable *begins; /* NodeId -> GArray of uint64_t: when its processes were started, the first one first */
        GPtrArray *lines;
        GHashTable *first; /* time of the first line of a process: invocation ID of its unit -> uint64_t */
        GPtrArray *gaps;
} Reader;

static void window_clear(void *data) {
        Window *window = data;

        g_free(window->unit);
        g_free(window->bus);
}

static void reader_clear(Reader *reader) {
        sd_journal_close(reader->journal);
        g_array_unref(reader->windows);
        g_hash_table_unref(reader->begins);
        g_hash_table_unref(reader->first);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Reader, reader_clear)

void log_line_free(LogLine *line) {
        g_free(line->unit);
        g_free(line->identifier);
        g_free(line->pid);
        g_free(line->message);
        g_free(line->cursor);
        g_free(line->starts);
        g_free(line);
}

static void G_GNUC_PRINTF(2, 3) add_gap(const Reader *reader, const char *format, ...) {
        va_list arguments;

        if (!reader->gaps)
                return;

        va_start(arguments, format);
        g_ptr_array_add(reader->gaps, g_strdup_vprintf(format, arguments));
        va_end(arguments);
}

/* The parameters as they were at this start of the node. A name with a secret in it is not known. */
static void add_window(Reader *reader, const Entry *entry, const NodeType *type) {
        json_object *with = NULL;
        g_autoptr(json_object) none = json_object_new_object();
        g_auto(Params) params = {};
        g_autofree char *error = NULL;
        const UnitJobParams *job;
        Window window;

        if (entry->details)
                json_object_object_get_ex(entry->details, "with", &with);
        if (definition_params_revealed(reader->recording->definition, entry->node, NULL, with ?: none, NULL, &params,
                                       &error) < 0)
                return;

        job = params.values;
        window = (Window){
                .unit = g_strdup(job->unit),
                .bus = g_strdup(job->bus),
                .node = entry->node,
                .from = entry->time,
                .to = UINT64_MAX,
                .stops = type == &stop_unit_type,
                .open = type == &stop_unit_type || type == &reload_unit_type,
        };
        g_array_append_val(reader->windows, window);
}

static void end_window(const Reader *reader, const Entry *entry) {
        for (guint i = reader->windows->len; i > 0; i--) {
                Window *window = &g_array_index(reader->windows, Window, i - 1);

                if (window->open && window->node == entry->node) {
                        window->open = false;
                        window->to = entry->time + LATE_USEC;
                        return;
                }
        }
}

/* Before a snapshot, entries may be missing, so starts cannot be counted after one. */
static void find_windows(Reader *reader) {
        const GArray *entries = reader->recording->record->entries;
        const Tree *tree = definition_tree(reader->recording->definition);
        uint64_t end = UINT64_MAX;
        bool counts = true;

        for (unsigned i = 0; i < entries->len; i++) {
                const Entry *entry = &g_array_index(entries, Entry, i);
                const NodeType *type = entry->node < tree->n_nodes ? tree->nodes[entry->node].type : NULL;
                GArray *begins;

                if (entry->kind == ENTRY_SNAPSHOT)
                        counts = false;
                if (entry->kind == ENTRY_FINISHED)
                        end = entry->time + LATE_USEC;
                if (entry->kind == ENTRY_ENDED || entry->kind == ENTRY_STOPPED)
                        end_window(reader, entry);
                if (!type || (entry->kind != ENTRY_BEGIN && entry->kind != ENTRY_RERUN))
                        continue;

                if (type->flags & TYPE_PROCESS) {
                        reader->has_processes = true;
                        if (!counts || entry->kind != ENTRY_BEGIN)
                                continue;

                        begins = g_hash_table_lookup(reader->begins, GUINT_TO_POINTER(entry->node));
                        if (!begins) {
                                begins = g_array_new(false, false, sizeof(uint64_t));
                                g_hash_table_insert(reader->begins, GUINT_TO_POINTER(entry->node), begins);
                        }
                        g_array_append_val(begins, entry->time);
                } else if (type->flags & TYPE_UNIT_JOB) {
                        add_window(reader, entry, type);
                }
        }

        for (guint i = 0; i < reader->windows->len; i++) {
                Window *window = &g_array_index(reader->windows, Window, i);

                window->to = MIN(window->to, end);
        }
}

/* The time during which a line of the unit belongs to a node: the last one that had to do with it. NULL: to none. */
static const Window *find_window(const Reader *reader, const char *unit, uint64_t time) {
        for (guint i = reader->windows->len; i > 0; i--) {
                const Window *window = &g_array_index(reader->windows, Window, i - 1);

                if (window->bus || strcmp(window->unit, unit) != 0 || window->from > time)
                        continue;
                if (time <= window->to)
                        return window;
                if (window->stops)
                        break;
        }

        return NULL;
}

static int read_number(sd_journal *journal, const char *field, int otherwise) {
        g_autofree char *text = journal_read_field(journal, field);
        gint64 number;

        return text && g_ascii_string_to_signed(text, 10, 0, INT32_MAX, &number, NULL) ? (int) number : otherwise;
}

/* The times since the start of the run when the line was written and when the journal received it. The latter orders
 * the journal, but the service manager and a service write to it in two ways, and the later line may be received first.
 * False: it is of another boot, or of an earlier time. */
static bool read_time(const Reader *reader, uint64_t *ret_time, uint64_t *ret_received) {
        g_autofree char *text = journal_read_field(reader->journal, "_SOURCE_REALTIME_TIMESTAMP");
        uint64_t usec, received, delay = 0, start = reader->recording->record->header.start;
        guint64 sent;
        sd_id128_t boot;

        /* How long before the journal received it the line was sent. Lines on stdout do not say when; and if that is
         * too long, the clock was set meanwhile. */
        if (text && g_ascii_string_to_unsigned(text, 10, 0, UINT64_MAX, &sent, NULL) &&
            sd_journal_get_realtime_usec(reader->journal, &received) >= 0 && sent < received &&
            received - sent < RECEIVED_LATE_USEC)
                delay = received - sent;

        if (sd_journal_get_monotonic_usec(reader->journal, &usec, &boot) < 0 || !sd_id128_equal(boot, reader->boot) ||
            usec < start + reader->since || usec < start + delay)
                return false;

        *ret_time = usec - delay - start;
        *ret_received = usec - start;
        return true;
}

/* Remembers which invocation of a unit the line announces, or when its first line was written. */
static void note_invocation(Reader *reader, LogLine *line) {
        g_autofree char *kind = journal_read_field(reader->journal, "MESSAGE_ID"), *id = NULL;
        const uint64_t *first;

        if (kind && g_str_equal(kind, SD_MESSAGE_UNIT_STARTING_STR)) {
                line->starts =
                        journal_read_field(reader->journal, reader->user ? "USER_INVOCATION_ID" : "INVOCATION_ID");
                return;
        }

        id = journal_read_field(reader->journal, "_SYSTEMD_INVOCATION_ID");
        first = id ? g_hash_table_lookup(reader->first, id) : NULL;
        if (id && (!first || line->time < *first))
                g_hash_table_insert(reader->first, g_steal_pointer(&id), g_memdup2(&line->time, sizeof(line->time)));
}

/* unit: is taken. */
static void add_line(Reader *reader, uint64_t time, NodeId node, uint64_t begun, char *unit) {
        LogLine *line = g_new(LogLine, 1);

        *line = (LogLine){
                .time = time,
                .node = node,
                .begun = begun,
                .priority = read_number(reader->journal, "PRIORITY", LOG_INFO),
                .unit = unit,
                .identifier = journal_read_field(reader->journal, "SYSLOG_IDENTIFIER")
                                      ?: journal_read_field(reader->journal, "_COMM"),
                .pid = journal_read_field(reader->journal, "_PID"),
                .message = journal_read_field(reader->journal, "MESSAGE") ?: g_strdup(""),
        };
        line->identifier = line->identifier ?: g_strdup("?");
        (void) sd_journal_get_cursor(reader->journal, &line->cursor);
        note_invocation(reader, line);
        g_ptr_array_add(reader->lines, line);
}

/* "btd-boot.3-12-1.service" of a unit, or without the suffix: the node, if it is of this run; else NODE_NONE.
 * ret_begun: when it started the process; 0: not known. */
static NodeId node_of_process(const Reader *reader, const char *name, const char *suffix, uint64_t *ret_begun) {
        g_autofree char *prefix = g_strdup_printf(SPAWN_PREFIX "%s-", reader->recording->record->header.run);
        const GArray *begins;
        guint64 node, attempt;
        char *end;

        if (!name || !g_str_has_prefix(name, prefix) || !g_str_has_suffix(name, suffix))
                return NODE_NONE;

        node = g_ascii_strtoull(name + strlen(prefix), &end, 10);
        if (*end != '-' || node >= definition_tree(reader->recording->definition)->n_nodes)
                return NODE_NONE;

        begins = g_hash_table_lookup(reader->begins, GUINT_TO_POINTER(node));
        attempt = g_ascii_strtoull(end + 1, NULL, 10);
        *ret_begun = begins && attempt > 0 && attempt <= begins->len ? g_array_index(begins, uint64_t, attempt - 1) : 0;
        return (NodeId) node;
}

static const char *unit_field(const Reader *reader) {
        return reader->user ? "_SYSTEMD_USER_UNIT" : "_SYSTEMD_UNIT";
}

/* Every user can write lines with this run in them. So a line must be of a unit that only btd can have started, or of
 * btd's own. If a process ended before the journal looked, its unit is not known; then it must have the user of btd. */
static void take_process_line(Reader *reader, uint64_t time) {
        g_autofree char *unit = journal_read_field(reader->journal, unit_field(reader)),
                        *identifier = journal_read_field(reader->journal, "SYSLOG_IDENTIFIER");
        uint64_t begun = 0;
        NodeId node = node_of_process(reader, unit, SPAWN_SUFFIX, &begun);
        int uid = read_number(reader->journal, "_UID", -1);

        if (node == NODE_NONE && (unit ? g_str_equal(unit, DAEMON_UNIT) : uid == (reader->user ? (int) getuid() : 0)))
                node = node_of_process(reader, identifier, "", &begun);
        if (node != NODE_NONE)
                add_line(reader, time, node, begun, unit ? g_steal_pointer(&unit) : g_strdup(DAEMON_UNIT));
}

static int match(const Reader *reader, const char *field, const char *value) {
        g_autofree char *text = g_strdup_printf("%s=%s", field, value);

        return sd_journal_add_match(reader->journal, text, 0);
}

/* The messages of the service manager about the unit are lines of the unit, too. */
static int match_unit(const Reader *reader, const char *unit) {
        g_autofree char *uid = g_strdup_printf("%u", (unsigned) getuid());
        int r;

        r = match(reader, unit_field(reader), unit);
        if (r >= 0 && reader->user)
                r = match(reader, "_UID", uid);
        if (r >= 0)
                r = sd_journal_add_disjunction(reader->journal);
        if (r >= 0)
                r = match(reader, reader->user ? "USER_UNIT" : "UNIT", unit);
        return r < 0 ? r : match(reader, reader->user ? "_UID" : "_PID", reader->user ? uid : "1");
}

/* Matches the values of the field that are names of processes of this run. The journal has the values of each field in
 * a table. Returns how many there are, or a negative errno. */
static int match_processes(const Reader *reader, const char *field, const char *suffix) {
        size_t length, prefix = strlen(field) + 1;
        const void *data;
        uint64_t begun;
        int r, n = 0;

        r = sd_journal_query_unique(reader->journal, field);
        while (r >= 0 && (r = sd_journal_enumerate_available_unique(reader->journal, &data, &length)) > 0) {
                g_autofree char *text = g_strndup(data, length);

                if (length > prefix && node_of_process(reader, text + prefix, suffix, &begun) != NODE_NONE) {
                        r = sd_journal_add_match(reader->journal, text, 0);
                        n++;
                }
        }

        return r < 0 ? r : n;
}

/* Reads the lines that have one of the matches. unit NULL: of processes. */
static int read_matches(Reader *reader, const char *unit, uint64_t to) {
        char boot[SD_ID128_STRING_MAX];
        const Window *window;
        uint64_t time, received;
        int r;

        r = sd_journal_add_conjunction(reader->journal);
        if (r >= 0)
                r = match(reader, "_BOOT_ID", sd_id128_to_string(reader->boot, boot));
        if (r >= 0)
                r = sd_journal_seek_monotonic_usec(reader->journal, reader->boot,
                                                   reader->recording->record->header.start + reader->since);
        if (r < 0)
                return r;

        while ((r = sd_journal_next(reader->journal)) > 0) {
                if (!read_time(reader, &time, &received))
                        continue;
                if (received > to && received - to > RECEIVED_LATE_USEC)
                        break;
                if (!unit) {
                        take_process_line(reader, time);
                        continue;
                }
                window = find_window(reader, unit, time);
                if (window)
                        add_line(reader, time, window->node, window->from, g_strdup(unit));
        }

        return r;
}

static int read_processes(Reader *reader) {
        int n = 1, r = 0;

        if (!reader->has_processes)
                return 0;

        /* The journal does not add BTD_RUN to lines of user units. */
        sd_journal_flush_matches(reader->journal);
        if (reader->user)
                n = match_processes(reader, unit_field(reader), SPAWN_SUFFIX);
        else
                r = match(reader, "BTD_RUN", reader->recording->record->header.run);
        if (r >= 0 && n > 0)
                r = read_matches(reader, NULL, UINT64_MAX);
        if (r < 0 || n < 0)
                return MIN(r, n);

        sd_journal_flush_matches(reader->journal);
        n = match_processes(reader, "SYSLOG_IDENTIFIER", "");
        return n > 0 ? read_matches(reader, NULL, UINT64_MAX) : n;
}

static int read_units(Reader *reader) {
        g_autoptr(GHashTable) done = g_hash_table_new(g_str_hash, g_str_equal);

        for (guint i = 0; i < reader->windows->len; i++) {
                const Window *window = &g_array_index(reader->windows, Window, i);
                uint64_t to = 0;
                int r;

                if (window->bus || !g_hash_table_add(done, window->unit))
                        continue;
                for (guint k = i; k < reader->windows->len; k++) {
                        const Window *other = &g_array_index(reader->windows, Window, k);

                        if (!other->bus && strcmp(other->unit, window->unit) == 0)
                                to = MAX(to, other->to);
                }

                sd_journal_flush_matches(reader->journal);
                r = match_unit(reader, window->unit);
                if (r >= 0)
                        r = read_matches(reader, window->unit, to);
                if (r < 0)
                        return r;
        }

        return 0;
}

static void add_gaps_of_buses(const Reader *reader) {
        g_autoptr(GHashTable) done = g_hash_table_new(g_str_hash, g_str_equal);

        for (guint i = 0; i < reader->windows->len; i++) {
                const Window *window = &g_array_index(reader->windows, Window, i);
                g_autoptr(json_object) facts = json_object_new_object();
                g_autofree char *command = NULL;

                if (!window->bus || !g_hash_table_add(done, window->unit))
                        continue;
                json_object_object_add(facts, "unit", json_object_new_string(window->unit));
                json_object_object_add(facts, "bus", json_object_new_string(window->bus));
                command = journal_command(reader->client, facts);
                add_gap(reader, "the lines of %s on the bus '%s' are not read; see '%s'", window->unit, window->bus,
                        command);
        }
}

/* Whether the files of the system are there, and may be read. */
static int check_access(void) {
        static const char *const directories[] = { "/var/log/journal", "/run/log/journal" };
        char machine[SD_ID128_STRING_MAX];
        int result = -ENOENT;
        sd_id128_t id;

        if (sd_id128_get_machine(&id) < 0)
                return -ENOENT;

        sd_id128_to_string(id, machine);
        for (size_t i = 0; i < G_N_ELEMENTS(directories); i++) {
                g_autofree char *path = g_build_filename(directories[i], machine, "system.journal", NULL);

                if (access(path, R_OK) == 0)
                        return 0;
                if (errno == EACCES || errno == EPERM)
                        result = -EACCES;
        }

        return result;
}

/* Lines that the journal does not have any more. */
static void check_begin(const Reader *reader) {
        const RecordHeader *header = &reader->recording->record->header;
        uint64_t from, to;
        int r;

        r = sd_journal_get_cutoff_monotonic_usec(reader->journal, reader->boot, &from, &to);
        if (r == 0) {
                add_gap(reader,
                        "the journal of this machine has no lines of the time when %s ran: they were removed, or it "
                        "ran "
                        "on another machine",
                        header->run);
        } else if (r > 0 && from > header->start) {
                g_autofree char *begin = time_format_date(header->started + (from - header->start));

                add_gap(reader, "the journal begins at %s; earlier lines of %s were removed", begin, header->run);
        }
}

void run_log_read(const Client *client, const Recording *recording, uint64_t since, GPtrArray *lines, GPtrArray *gaps) {
        const Options *options = &client->options;
        g_auto(Reader) reader = {
                .client = client,
                .recording = recording,
                .since = since,
                .user = options_has(options, OPTION_USER),
                .windows = g_array_new(false, false, sizeof(Window)),
                .begins = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify) g_array_unref),
                .first = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free),
                .lines = lines,
                .gaps = gaps,
        };
        int r;

        g_array_set_clear_func(reader.windows, window_clear);
        find_windows(&reader);
        if (!reader.has_processes && reader.windows->len == 0)
                return;

        add_gaps_of_buses(&reader);
        if (options_has(options, OPTION_HOST) || options_has(options, OPTION_MACHINE)) {
                add_gap(&reader, "the lines of units and processes are missing, because the journal of another "
                                 "machine is not read; run 'btctl logs' there");
                return;
        }

        r = sd_id128_from_string(recording->record->header.boot, &reader.boot);
        if (r >= 0)
                r = sd_journal_open(&reader.journal, SD_JOURNAL_LOCAL_ONLY);
        if (r >= 0)
                r = read_processes(&reader);
        if (r >= 0)
                r = read_units(&reader);

        /* The service manager says that it starts a unit when the process exists already, which may have written lines.
         */
        PTRS_FOREACH(LogLine, line, lines) {
                const uint64_t *first = line->starts ? g_hash_table_lookup(reader.first, line->starts) : NULL;

                if (first && *first > 0 && line->time >= *first)
                        line->time = *first - 1;
        }

        if (r < 0) {
                add_gap(&reader, "the journal cannot be read: %s", g_strerror(-r));
                return;
        }

        r = check_access();
        if (r == -EACCES)
                add_gap(&reader, "you may not read all of the journal, so lines may be missing; use sudo, or add your "
                                 "user to the group systemd-journal");
        else if (r < 0)
                add_gap(&reader, "the lines of units and processes are missing, because this machine has no journal");
        else
                check_begin(&reader);
}
