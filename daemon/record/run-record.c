/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Reads a run record line by line, and distinguishes an incomplete one from a damaged one. Makes the tree of a run from
 * the texts in its run record. For a summary, reads only its beginning and end: all short members are at the beginning
 * of the first line, and the last line has the result. */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "basic/cause.h"
#include "basic/cleanup.h"
#include "basic/write-all.h"
#include "definition/sources.h"
#include "record/run-record.h"

/* Bytes to read at first. Only a very long cause needs more. */
#define PIECE 8192u

char *record_path(const char *directory, const char *run) {
        g_autofree char *file = g_strconcat(run, RECORD_SUFFIX, NULL);

        return g_build_filename(directory, file, NULL);
}

typedef struct Line {
        const char *text;
        size_t length;
        size_t next; /* offset of the next line */
        bool whole;  /* it has a line end */
} Line;

static Line line_at(const char *text, size_t length, size_t offset) {
        const char *start = text + offset, *end = memchr(start, '\n', length - offset);
        size_t n = end ? (size_t) (end - start) : length - offset;

        return (Line){
                .text = start,
                .length = n,
                .next = offset + n + (end ? 1 : 0),
                .whole = end,
        };
}

/* The blocks that have been read as a whole, and those entries after them that have been read so far. */
typedef struct Reader {
        RunRecord *record;
        size_t offset;
        EntryChain chain;
        unsigned n_entries; /* in whole blocks */
} Reader;

static int read_line(Reader *reader, const Line *line, char **ret_error) {
        RunRecord *record = reader->record;
        uint32_t before = reader->chain.last;
        Entry entry;

        if (entry_parse(line->text, line->length, &reader->chain, &entry, ret_error) < 0)
                return -EBADMSG;
        /* The lines before the first entry may have been removed. */
        if (entry.kind == ENTRY_SNAPSHOT && record->entries->len > 0 && !entry_follows(&entry, before)) {
                entry_clear(&entry);
                *ret_error = g_strdup("lines before it are missing");
                return -EBADMSG;
        }

        g_array_append_val(record->entries, entry);
        reader->offset = line->next;
        if (entry.more)
                return 0;

        /* The end of a block: what was read until now is part of the record. */
        for (; reader->n_entries < record->entries->len; reader->n_entries++) {
                const Entry *read = &g_array_index(record->entries, Entry, reader->n_entries);
                json_object *engine;

                if (read->kind == ENTRY_RECOVERED && json_object_object_get_ex(read->details, "engine", &engine))
                        record->engine = (uint32_t) json_object_get_int64(engine);
                if (read->kind == ENTRY_SNAPSHOT)
                        record->newest = record->size;
        }
        record->size = reader->offset;
        record->chain = reader->chain;
        return 0;
}

/* Does a snapshot begin here? No other line has its kind at this place. */
static bool is_snapshot(const char *line, const char *end) {
        static const char kind[] = " snapshot ";
        const char *space = line;

        while (space < end && g_ascii_isdigit(*space))
                space++;
        return space > line && (size_t) (end - space) >= strlen(kind) && memcmp(space, kind, strlen(kind)) == 0;
}

/* The offset of the newest snapshot that has its line end, or of the first entry. */
static size_t find_newest(const RunRecord *record, const char *text, size_t length) {
        bool whole = false;

        for (size_t line = length, next = length; line >= record->body; line--) {
                if (line > record->body && text[line - 1] != '\n')
                        continue;
                if (whole && is_snapshot(text + line, text + next))
                        return line;
                whole = true;
                next = line;
        }

        return record->body;
}

/* The kernel writes a file from its beginning on, so only the last block can be incomplete. Its effects were not
 * carried out, so it is as if it had not happened. */
static int read_entries(RunRecord *record, const char *text, size_t length, char **ret_error) {
        Reader reader = { .record = record, .offset = record->size, .chain = record->chain };
        int r = 0;

        while (r >= 0 && reader.offset < length) {
                Line line = line_at(text, length, reader.offset);
                g_autofree char *error = NULL;

                /* A mapped file has NUL bytes after its entries, or an append without its first byte, see mapped-end.h.
                 */
                if (!line.whole || *line.text == '\0')
                        break;
                r = read_line(&reader, &line, &error);
                if (r < 0) {
                        unsigned n = 1;

                        for (const char *p = text; p < line.text; p++)
                                n += *p == '\n';
                        *ret_error = g_strdup_printf("line %u: %s", n, error);
                }
        }

        while (reader.offset < length && text[reader.offset] == '\0')
                reader.offset++;
        record->torn = r >= 0 && (reader.n_entries < record->entries->len || reader.offset < length);
        g_array_set_size(record->entries, reader.n_entries);
        return r;
}

/* newest: begins with the newest snapshot. ret_damage NULL: a record that is damaged is not read. */
static int read_text(const char *text, size_t length, bool newest, RunRecord **ret_record, char **ret_damage,
                     char **ret_error) {
        g_autoptr(RunRecord) record = g_new0(RunRecord, 1);
        Line header = line_at(text, length, 0);
        g_autofree char *damage = NULL;
        int r;

        record->entries = g_array_new(false, false, sizeof(Entry));
        g_array_set_clear_func(record->entries, (GDestroyNotify) entry_clear);

        if (!header.whole) {
                *ret_error = g_strdup(length == 0 ? "it is empty" : "its first line is incomplete");
                return -ENODATA;
        }
        r = record_header_parse(header.text, header.length, &record->header, &record->chain.header, ret_error);
        if (r < 0)
                return r;

        record->size = record->body = header.next;
        record->chain.last = record->chain.header;
        record->engine = record->header.engine;
        if (newest)
                record->size = find_newest(record, text, length);
        r = read_entries(record, text, length, &damage);
        if (r < 0 && (!ret_damage || record->entries->len == 0)) {
                *ret_error = g_steal_pointer(&damage);
                return r;
        }

        if (ret_damage)
                *ret_damage = g_steal_pointer(&damage);
        *ret_record = g_steal_pointer(&record);
        return 0;
}

int run_record_read_until_damage(const char *text, size_t length, RunRecord **ret_record, char **ret_damage,
                                 char **ret_error) {
        return read_text(text, length, false, ret_record, ret_damage, ret_error);
}

int run_record_read_text(const char *text, size_t length, RunRecord **ret_record, char **ret_error) {
        return read_text(text, length, false, ret_record, NULL, ret_error);
}

/* Never waits for a file. */
int run_record_read_file(const char *path, bool newest, uint64_t max, RunRecord **ret_record, char **ret_error) {
        g_auto(AutoFd) fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | (newest ? O_NOFOLLOW : 0));
        g_autofree char *text = NULL;
        struct stat st;
        ssize_t n;

        if (fd < 0 || fstat(fd, &st) < 0) {
                *ret_error = g_strdup_printf("cannot be read: %s", g_strerror(errno));
                return -EIO;
        }
        if (!S_ISREG(st.st_mode)) {
                *ret_error = g_strdup("is no regular file");
                return -EIO;
        }
        if ((uint64_t) st.st_size > max) {
                *ret_error = g_strdup_printf("has %" PRIu64 " MiB, more than a run record may have",
                                             (uint64_t) st.st_size >> 20);
                return -EIO;
        }

        text = g_malloc((size_t) st.st_size + 1);
        n = read_all(fd, 0, text, (size_t) st.st_size);
        if (n < 0) {
                *ret_error = g_strdup_printf("cannot be read: %s", g_strerror((int) -n));
                return -EIO;
        }

        text[n] = '\0';
        return read_text(text, (size_t) n, newest, ret_record, NULL, ret_error);
}

void run_record_free(RunRecord *record) {
        if (!record)
                return;

        record_header_clear(&record->header);
        if (record->entries)
                g_array_unref(record->entries);
        g_free(record);
}

static const char *file_member(json_object *file, const char *name) {
        return json_object_get_string(json_object_object_get(file, name));
}

/* The files in the header, also by their owned keys: their paths, and the names by which the search path found them. */
typedef struct Recorded {
        json_object *files;
        GHashTable *by_id;   /* the same for all spellings of a path */
        GHashTable *by_name; /* on the search path */
} Recorded;

/* Takes the key. The first file with a key stays. */
static void add_file(GHashTable *table, char *key, json_object *file) {
        if (g_hash_table_contains(table, key))
                g_free(key);
        else
                g_hash_table_insert(table, key, file);
}

static char *on_find(const char *name, void *userdata) {
        const Recorded *recorded = userdata;
        json_object *file = g_hash_table_lookup(recorded->by_name, name);

        return file ? g_strdup(file_member(file, "path")) : NULL;
}

static json_object *file_at(const Recorded *recorded, const char *path) {
        g_autofree char *id = source_id(path);

        return g_hash_table_lookup(recorded->by_id, id);
}

/* Only recorded files exist here, even if there are now other files beside the recorded one. */
static bool on_exists(const char *path, void *userdata) {
        return file_at(userdata, path);
}

static int on_read(const char *path, char **ret_text, size_t *ret_length, char **ret_error, void *userdata) {
        json_object *file = file_at(userdata, path);

        if (!file) {
                *ret_error = g_strdup("was not recorded");
                return -ENOENT;
        }

        *ret_text = g_strdup(file_member(file, "text"));
        *ret_length = strlen(*ret_text);
        return 0;
}

static int on_dropins(const char *path, GPtrArray *paths, char **ret_error, void *userdata) {
        const Recorded *recorded = userdata;

        for (size_t i = 0; i < json_object_array_length(recorded->files); i++) {
                json_object *file = json_object_array_get_idx(recorded->files, i);

                if (g_strcmp0(file_member(file, "extends"), path) == 0)
                        g_ptr_array_add(paths, g_strdup(file_member(file, "path")));
        }

        return 0;
}

/* A text without a file cannot use files beside it. */
static int load_files(json_object *files, const NodeType *const *const *tables, const Limits *limits,
                      Diagnostics *diagnostics, Definition **ret_definition) {
        g_autoptr(GHashTable) by_id = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
                              by_name = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        Recorded recorded = { .files = files, .by_id = by_id, .by_name = by_name };
        const DefinitionSources sources = {
                .find = on_find,
                .exists = on_exists,
                .dropins = on_dropins,
                .read = on_read,
                .lenient = true,
                .limits = limits,
                .userdata = &recorded,
        };
        json_object *own = json_object_array_get_idx(files, 0);
        const char *path = file_member(own, "path"), *text = file_member(own, "text");

        for (size_t i = 0; i < json_object_array_length(files); i++) {
                json_object *file = json_object_array_get_idx(files, i), *found = json_object_object_get(file, "found");

                add_file(by_id, source_id(file_member(file, "path")), file);
                for (size_t k = 0; k < json_object_array_length(found); k++)
                        add_file(by_name, g_strdup(json_object_get_string(json_object_array_get_idx(found, k))), file);
        }

        return *path ? definition_load_file(path, tables, &sources, diagnostics, ret_definition)
                     : definition_load_text(text, strlen(text), tables, &sources, diagnostics, ret_definition);
}

int record_definition_new(const RecordHeader *header, const NodeType *const *const *tables, Definition **ret_definition,
                          char **ret_error) {
        const char *path = file_member(json_object_array_get_idx(header->files, 0), "path");
        g_autoptr(Diagnostics) diagnostics = diagnostics_new(path);
        g_autoptr(Definition) definition = NULL;
        g_autofree char *error = NULL;
        Limits own = limits_default; /* those of nodes and levels cannot be higher, and btd has accepted the tree */

        own.max[LIMIT_VARIABLES] = header->variables_kib;
        if (load_files(header->files, tables, &own, diagnostics, &definition) < 0 || !definition_tree(definition)) {
                error = diagnostics_format_error(diagnostics);
                *ret_error = g_strdup_printf(
                        "this version of btd refuses its tree, which the btd that started the run accepted: %s",
                        error ?: "it has none");
                return -EBADMSG;
        }

        *ret_definition = g_steal_pointer(&definition);
        return 0;
}

/* The summary. */

static int fail(const char *path, int r, char **ret_error) {
        *ret_error = g_strdup_printf("%s cannot be read: %s", path, g_strerror(-r));
        return r;
}

static int read_piece(int fd, uint64_t offset, size_t size, GString *ret_piece) {
        ssize_t n;

        g_string_set_size(ret_piece, size);
        n = read_all(fd, offset, ret_piece->str, size);
        if (n < 0)
                return (int) n;

        g_string_truncate(ret_piece, (gsize) n);
        return 0;
}

/* Reads the last complete line, without its end, and the checksum of the line before it. Empty: there is only the
 * header. */
static int read_last_line(int fd, uint64_t size, GString *piece, const char **ret_line, size_t *ret_length,
                          uint32_t *ret_before) {
        for (size_t want = MIN(size, PIECE);; want = MIN(size, want * 8)) {
                const char *end, *before;
                size_t length;
                int r;

                r = read_piece(fd, size - want, want, piece);
                if (r < 0)
                        return r;

                end = memrchr(piece->str, '\n', piece->len);
                before = end ? memrchr(piece->str, '\n', (size_t) (end - piece->str)) : NULL;
                *ret_line = before ? before + 1 : piece->str;
                *ret_length = before ? (size_t) (end - *ret_line) : 0;
                if (before && !entry_read_checksum(piece->str, (size_t) (before - piece->str), &length, ret_before))
                        *ret_before = 0;
                if (before || want == size)
                        return 0;
        }
}

static int read_summary(int fd, uint64_t size, RunSummary *summary, char **ret_error) {
        g_autoptr(GString) piece = g_string_new(NULL);
        g_auto(RecordHeader) header = {};
        g_autoptr(Cause) cause = NULL;
        g_auto(Entry) entry = {};
        EntryChain chain = {};
        g_autofree char *error = NULL;
        json_object *status = NULL, *chain_of_causes = NULL, *outputs = NULL, *n_more = NULL;
        const char *line;
        size_t length;
        int r;

        r = read_piece(fd, 0, MIN(size, PIECE), piece);
        if (r < 0)
                return r;
        r = record_header_parse_start(piece->str, piece->len, &header, ret_error);
        if (r < 0)
                return r;
        r = read_last_line(fd, size, piece, &line, &length, &chain.last);
        if (r < 0)
                return r;

        *summary = (RunSummary){
                .run = g_steal_pointer(&header.run),
                .tree = g_steal_pointer(&header.tree),
                .instance = g_steal_pointer(&header.instance),
                .token = g_steal_pointer(&header.token),
                .started = header.started,
                .finished = header.started,
                .uid = header.uid,
        };
        if (length > 0 && entry_parse(line, length, &chain, &entry, &error) >= 0)
                summary->finished += entry.time;
        if (entry.kind == ENTRY_FINISHED && entry.details) {
                json_object_object_get_ex(entry.details, "status", &status);
                json_object_object_get_ex(entry.details, "cause", &chain_of_causes);
                cause = cause_from_json(chain_of_causes);
                json_object_object_get_ex(entry.details, "outputs", &outputs);
                json_object_object_get_ex(entry.details, "more_outputs", &n_more);
                summary->outputs = json_object_is_type(outputs, json_type_object) ? json_object_get(outputs) : NULL;
                summary->n_more_outputs = (uint32_t) json_object_get_int64(n_more);
        }
        summary->status = g_strdup(entry.kind != ENTRY_FINISHED ? "running" : json_object_get_string(status) ?: "?");
        summary->cause = g_strdup(cause && cause->text ? cause->text : "");
        return 0;
}

int record_summary_read(const char *path, RunSummary *ret_summary, char **ret_error) {
        g_auto(AutoFd) fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        g_auto(RunSummary) summary = {};
        g_autofree char *error = NULL;
        struct stat st;
        int r;

        if (fd < 0 || fstat(fd, &st) < 0)
                return fail(path, -errno, ret_error);

        r = read_summary(fd, (uint64_t) st.st_size, &summary, &error);
        if (r < 0 && !error)
                return fail(path, r, ret_error);
        if (r < 0) {
                *ret_error = g_steal_pointer(&error);
                return r;
        }

        *ret_summary = summary;
        summary = (RunSummary){};
        return 0;
}

RunSummary run_summary_copy(const RunSummary *summary) {
        RunSummary copy = *summary;

#define COPY_TEXT(member) copy.member = g_strdup(summary->member);
        RUN_SUMMARY_TEXTS(COPY_TEXT)
        copy.outputs = json_object_get(summary->outputs);
        return copy;
}

void run_summary_clear(RunSummary *summary) {
#define FREE_TEXT(member) g_free(summary->member);
        RUN_SUMMARY_TEXTS(FREE_TEXT)
        json_object_put(summary->outputs);
        *summary = (RunSummary){};
}
