/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests that run records can be read: complete ones, and ones that are cut or damaged at any place. */

#include <glib/gstdio.h>
#include <json-c/json_tokener.h>
#include <linux/magic.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/crc32.h"
#include "record/record-writer.h"
#include "record/run-record.h"

static RecordHeader header_example(void) {
        json_object *files = json_object_new_array(), *file = json_object_new_object(),
                    *found = json_object_new_array();
        RecordHeader header;

        json_object_object_add(file, "path", json_object_new_string("/etc/btd/trees/boot.json"));
        json_object_object_add(file, "text", json_object_new_string("{ \"btd\": 1 }\n"));
        json_object_array_add(found, json_object_new_string("boot.json"));
        json_object_object_add(file, "found", found);
        json_object_array_add(files, file);
        header = (RecordHeader){
#define TEXT_EXAMPLE(member) .member = g_strdup("the " #member),
#define NUMBER_EXAMPLE(member, name, type, max) .member = (type) (max) - (type) offsetof(RecordHeader, member),
                RECORD_HEADER_START(TEXT_EXAMPLE, NUMBER_EXAMPLE).seed = UINT64_C(0xfedcba9876543210),
                .files = files,
                .variables = json_object_new_object(),
        };
        header.record_kib = limits_default.max[LIMIT_RECORD]; /* as the writer sets it */
        return header;
}

static json_object *details_example(void) {
        json_object *details = json_object_new_object();

        json_object_object_add(details, "status", json_object_new_string("failure"));
        json_object_object_add(details, "text", json_object_new_string("two\nlines, \"quoted\" — and / more"));
        return details;
}

static GString *record_example(void) {
        g_auto(RecordHeader) header = header_example();
        g_autoptr(json_object) details = details_example();
        GString *text = g_string_new(NULL);
        EntryChain chain = {};

        chain.header = chain.last = record_header_append(text, &header);
        entry_append(text, &(Entry){ .time = 0, .kind = ENTRY_START, .node = NODE_NONE }, &chain);
        entry_append(text, &(Entry){ .time = 17, .kind = ENTRY_ENDED, .node = 12, .details = details }, &chain);
        entry_append(text, &(Entry){ .time = UINT64_MAX, .kind = ENTRY_TIMER, .node = 0 }, &chain);
        return text;
}

/* The files may come as a text. */
static void test_files_as_text(void) {
        g_auto(RecordHeader) header = header_example();
        g_autoptr(GString) as_objects = g_string_new(NULL), as_text = g_string_new(NULL);
        char *files = g_strdup(
                json_object_to_json_string_ext(header.files, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
        uint32_t checksum = record_header_append(as_objects, &header);

        g_clear_pointer(&header.files, json_object_put);
        header.files_text = summed_text_new(files);
        g_assert_cmphex(record_header_append(as_text, &header), ==, checksum);
        g_assert_cmpstr(as_text->str, ==, as_objects->str);
}

/* As the polynomial says, bit by bit. */
static uint32_t slow_checksum(const char *bytes, size_t n) {
        uint32_t crc = UINT32_MAX;

        for (size_t i = 0; i < 8 * n; i++) {
                uint32_t bit = (uint32_t) bytes[i / 8] >> i % 8 & 1;

                crc = ((crc ^ bit) & 1) != 0 ? crc >> 1 ^ UINT32_C(0xedb88320) : crc >> 1;
        }

        return ~crc;
}

static void test_checksum(void) {
        char bytes[64];

        for (size_t i = 0; i < sizeof(bytes); i++)
                bytes[i] = (char) (i * 37 + 200);
        for (size_t begin = 0; begin < 8; begin++)
                for (size_t n = 0; begin + n <= sizeof(bytes); n++)
                        g_assert_cmphex(crc32_of(0, bytes + begin, n), ==, slow_checksum(bytes + begin, n));

        g_assert_cmphex(crc32_of(0, "123456789", 9), ==, 0xcbf43926);
        g_assert_cmphex(crc32_of(crc32_of(0, "1234", 4), "56789", 5), ==, 0xcbf43926);
        g_assert_cmphex(crc32_of(0, "", 0), ==, 0);

        for (size_t n = 0; n <= sizeof(bytes); n++) {
                uint32_t before = crc32_of(0, bytes, n), after = crc32_of(0, bytes + n, sizeof(bytes) - n);

                g_assert_cmphex(crc32_combine(before, after, sizeof(bytes) - n), ==, crc32_of(0, bytes, sizeof(bytes)));
        }
}

static void assert_header(const RecordHeader *header) {
        g_auto(RecordHeader) example = header_example();

#define SAME_TEXT(member) g_assert_cmpstr(header->member, ==, example.member);
#define SAME_NUMBER(member, name, type, max) g_assert_cmpuint(header->member, ==, example.member);
        RECORD_HEADER_START(SAME_TEXT, SAME_NUMBER)
        g_assert_cmphex(header->seed, ==, example.seed);
        g_assert_true(json_object_equal(header->files, example.files));
        g_assert_true(json_object_equal(header->variables, example.variables));
}

static void assert_entry(const Entry *entry, uint64_t time, EntryKind kind, NodeId node, json_object *details) {
        g_assert_cmpuint(entry->time, ==, time);
        g_assert_cmpstr(entry_kind_to_string(entry->kind), ==, entry_kind_to_string(kind));
        g_assert_cmpuint(entry->node, ==, node);
        g_assert_true(json_object_equal(entry->details, details));
}

static RunRecord *read_all(const GString *text) {
        g_autofree char *error = NULL;
        RunRecord *record = NULL;
        int r = run_record_read_text(text->str, text->len, &record, &error);

        g_assert_cmpstr(error, ==, NULL);
        g_assert_cmpint(r, ==, 0);
        return record;
}

static void assert_unreadable(const char *text, size_t length, int expected, const char *message) {
        g_autofree char *error = NULL;
        RunRecord *record = NULL;

        g_assert_cmpint(run_record_read_text(text, length, &record, &error), ==, expected);
        g_assert_cmpstr(error, ==, message);
        g_assert_null(record);
}

static void test_round_trip(void) {
        g_autoptr(GString) text = record_example();
        g_autoptr(json_object) details = details_example();
        g_autoptr(RunRecord) record = read_all(text);

        assert_header(&record->header);
        g_assert_cmpuint(record->entries->len, ==, 3);
        assert_entry(&g_array_index(record->entries, Entry, 0), 0, ENTRY_START, NODE_NONE, NULL);
        assert_entry(&g_array_index(record->entries, Entry, 1), 17, ENTRY_ENDED, 12, details);
        assert_entry(&g_array_index(record->entries, Entry, 2), UINT64_MAX, ENTRY_TIMER, 0, NULL);
        g_assert_cmpuint(record->size, ==, text->len);
        g_assert_false(record->torn);
}

static void test_lines(void) {
        g_autoptr(GString) text = g_string_new(NULL);
        EntryChain chain = { .last = 17 };
        g_autofree char *expected = NULL;

        entry_append(text, &(Entry){ .time = 1500, .kind = ENTRY_AT_ONCE, .node = 4 }, &chain);
        expected = g_strdup_printf("1500 at-once #4 %08x\n", crc32_of(17, "1500 at-once #4", 15));
        g_assert_cmpstr(text->str, ==, expected);
}

/* Broken off at any byte: what was whole stays, and nothing else. */
static void test_torn(void) {
        g_autoptr(GString) text = record_example();
        size_t header = (size_t) (strchr(text->str, '\n') - text->str) + 1;

        for (size_t length = header; length < text->len; length++) {
                g_autoptr(GString) start = g_string_new_len(text->str, (gssize) length);
                g_autoptr(RunRecord) record = read_all(start);
                char *end = g_strrstr_len(text->str, (gssize) length, "\n");

                g_assert_cmpuint(record->size, ==, (size_t) (end - text->str) + 1);
                g_assert_true(record->torn == (record->size < length));
        }
}

/* A byte that has changed is noticed wherever it is; only without its end, the last line cannot be told from one that
 * was torn. */
static void test_damaged(void) {
        g_autoptr(GString) text = record_example();
        size_t last = (size_t) (g_strrstr_len(text->str, (gssize) text->len - 1, "\n") - text->str) + 1;

        for (size_t i = 0; i < text->len; i++) {
                g_autofree char *copy = g_memdup2(text->str, text->len + 1), *error = NULL;
                g_autoptr(RunRecord) record = NULL;
                int r;

                copy[i] ^= 1;
                r = run_record_read_text(copy, text->len, &record, &error);
                if (i + 1 == text->len) {
                        g_assert_cmpint(r, ==, 0);
                        g_assert_true(record->torn);
                        g_assert_cmpuint(record->size, ==, last);
                } else
                        g_assert_cmpint(r, ==, -EBADMSG);
        }
}

static void test_messages(void) {
        g_autoptr(GString) text = record_example();
        g_autoptr(GString) other = g_string_new("btd-journal 0 {}");
        char *second = strchr(text->str, '\n') + 1;

        assert_unreadable("", 0, -ENODATA, "it is empty");
        assert_unreadable("btd-journal 1 {", 15, -ENODATA, "its first line is incomplete");
        assert_unreadable("hello\n", 6, -EBADMSG, "it is not a run record");

        *second = '7';
        assert_unreadable(text->str, text->len, -EBADMSG,
                          "line 2: it does not match its checksum, or lines before it are missing");

        entry_append_checksum(other, 0, 0);
        assert_unreadable(other->str, other->len, -EPROTONOSUPPORT, "it has version 0; this btd knows only version 1");
        g_string_printf(other, "btd-journal %u {}", RECORD_VERSION);
        entry_append_checksum(other, 0, 0);
        assert_unreadable(other->str, other->len, -EBADMSG, "its first line does not describe a run");
        g_string_assign(other, "{}");
        entry_append_checksum(other, 0, 0);
        assert_unreadable(other->str, other->len, -EBADMSG, "it is not a run record");
        g_string_assign(other, "btd-journal");
        entry_append_checksum(other, 0, 0);
        assert_unreadable(other->str, other->len, -EBADMSG, "it is not a run record");
}

/* Whole, but not understood: of a version that says that it is this one. */
static void test_unknown_record(void) {
        static const char *const lines[] = { "5 dance #1", "x tick", "5 tick 1", "5 tick {", "5 tick [1]", "5" };

        for (size_t i = 0; i < G_N_ELEMENTS(lines); i++) {
                g_autoptr(GString) text = g_string_new(lines[i]);
                g_autofree char *error = NULL, *expected = g_strdup_printf("'%s' is not known", lines[i]);
                Entry record;

                entry_append_checksum(text, 0, 0);
                g_assert_cmpint(entry_parse(text->str, text->len - 1, &(EntryChain){}, &record, &error), ==, -EINVAL);
                g_assert_cmpstr(error, ==, expected);
        }
}

typedef struct Place {
        char *directory, *path;
} Place;

static Place place_in(const char *parent) {
        char *directory = g_build_filename(parent, "btd-record-XXXXXX", NULL);

        g_assert_nonnull(g_mkdtemp(directory));
        return (Place){ .directory = directory, .path = g_build_filename(directory, "boot.3.journal", NULL) };
}

static Place place_new(void) {
        return place_in(g_get_tmp_dir());
}

static void place_clear(Place *place) {
        g_unlink(place->path);
        g_assert_cmpint(g_rmdir(place->directory), ==, 0);
        g_free(place->path);
        g_free(place->directory);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Place, place_clear)

static RecordWriter *create_unwritten(const Place *place) {
        g_auto(RecordHeader) header = header_example();
        g_autofree char *error = NULL;
        RecordWriter *writer = NULL;
        int r = record_writer_create(place->path, &header, &limits_default, &writer, &error);

        g_assert_cmpstr(error, ==, NULL);
        g_assert_cmpint(r, ==, 0);
        return writer;
}

static RecordWriter *create(const Place *place) {
        RecordWriter *writer = create_unwritten(place);
        g_autofree char *error = NULL;

        g_assert_cmpint(record_writer_flush(writer, &error), ==, 0);
        return writer;
}

static unsigned count_records(const Place *place, uint64_t *ret_size) {
        g_autoptr(RunRecord) record = NULL;
        g_autofree char *error = NULL;

        g_assert_cmpint(run_record_read_file(place->path, false, UINT64_MAX, &record, &error), ==, 0);
        if (ret_size)
                *ret_size = record->size;
        return record->entries->len;
}

static void test_writer(void) {
        g_auto(Place) place = place_new();
        g_autoptr(RecordWriter) writer = create(&place);
        g_autofree char *error = NULL;
        uint64_t size;

        g_assert_cmpuint(count_records(&place, NULL), ==, 0);
        record_writer_add(writer, &(Entry){ .time = 1, .kind = ENTRY_START, .node = NODE_NONE });
        record_writer_add(writer, &(Entry){ .time = 2, .kind = ENTRY_TICK, .node = NODE_NONE });
        g_assert_cmpuint(count_records(&place, NULL), ==, 0);
        g_assert_cmpint(record_writer_flush(writer, &error), ==, 0);
        g_assert_cmpuint(count_records(&place, &size), ==, 2);
        g_assert_cmpuint(record_writer_size(writer), ==, size);

        record_writer_add(writer, &(Entry){ .time = 3, .kind = ENTRY_TICK, .node = NODE_NONE });
        g_clear_pointer(&writer, record_writer_free);
        g_assert_cmpuint(count_records(&place, NULL), ==, 3);
}

static uint64_t size_of(const Place *place) {
        struct stat st;

        g_assert_cmpint(stat(place->path, &st), ==, 0);
        return (uint64_t) st.st_size;
}

/* The header and the first records reach the kernel together: there is never a file that has only the header. */
static void test_writer_begins(void) {
        g_auto(Place) place = place_new();
        g_autoptr(RecordWriter) writer = create_unwritten(&place);
        g_autofree char *error = NULL;
        g_autoptr(RunRecord) record = NULL;

        record_writer_add(writer, &(Entry){ .time = 1, .kind = ENTRY_START, .node = NODE_NONE });
        g_assert_cmpuint(size_of(&place), ==, 0);
        g_assert_cmpuint(record_writer_size(writer), ==, 0);
        g_assert_cmpint(record_writer_flush(writer, &error), ==, 0);
        g_assert_cmpuint(size_of(&place), ==, record_writer_size(writer));
        g_assert_cmpint(run_record_read_file(place.path, false, UINT64_MAX, &record, &error), ==, 0);
        assert_header(&record->header);
        g_assert_cmpuint(record->entries->len, ==, 1);
}

/* What was torn is cut off, so that what follows stands on a line of its own. */
static void test_writer_resumes(void) {
        g_auto(Place) place = place_new();
        g_autoptr(RecordWriter) writer = create(&place);
        g_autofree char *text = NULL, *torn = NULL, *error = NULL;
        g_autoptr(RunRecord) record = NULL;

        g_clear_pointer(&writer, record_writer_free);
        g_assert_true(g_file_get_contents(place.path, &text, NULL, NULL));
        torn = g_strconcat(text, "5 tic", NULL);
        g_assert_true(g_file_set_contents(place.path, torn, -1, NULL));

        g_assert_cmpint(run_record_read_file(place.path, false, UINT64_MAX, &record, &error), ==, 0);
        g_assert_cmpint(record_writer_resume(place.path, record, &writer, &error), ==, 0);
        record_writer_add(writer, &(Entry){ .time = 6, .kind = ENTRY_TICK, .node = NODE_NONE });
        g_assert_cmpint(record_writer_flush(writer, &error), ==, 0);
        g_assert_cmpuint(count_records(&place, NULL), ==, 1);
}

static void write_ticks(RecordWriter *writer, unsigned n) {
        for (unsigned i = 0; i < n; i++) {
                g_autofree char *error = NULL;

                record_writer_add(writer, &(Entry){ .time = i, .kind = ENTRY_TICK, .node = NODE_NONE });
                g_assert_cmpint(record_writer_flush(writer, &error), ==, 0);
        }
}

/* Makes a record of a run with many inputs, whose writer was killed. */
static void kill_mapped(const Place *place, unsigned n) {
        pid_t child = fork();

        g_assert_cmpint(child, >=, 0);
        if (child == 0) {
                write_ticks(create(place), n);
                kill(getpid(), SIGKILL);
        }
        g_assert_cmpint(waitpid(child, NULL, 0), ==, child);
}

/* A record in memory is longer than its entries while it is written; all entries survive kill -9. */
static void test_writer_maps(void) {
        g_auto(Place) place = place_in("/dev/shm");
        g_autoptr(RunRecord) record = NULL;
        g_autoptr(RecordWriter) writer = NULL;
        g_autofree char *error = NULL;
        uint64_t size;

        kill_mapped(&place, 5000);
        g_assert_cmpuint(count_records(&place, &size), ==, 5000);
        g_assert_cmpuint(size_of(&place), >, size);

        g_assert_cmpint(run_record_read_file(place.path, false, UINT64_MAX, &record, &error), ==, 0);
        g_assert_false(record->torn);
        g_assert_cmpint(record_writer_resume(place.path, record, &writer, &error), ==, 0);
        g_assert_cmpuint(size_of(&place), ==, size);
        write_ticks(writer, 1000);
        g_assert_cmpuint(size_of(&place), >, record_writer_size(writer));
        g_clear_pointer(&writer, record_writer_free);
        g_assert_cmpuint(count_records(&place, &size), ==, 6000);
        g_assert_cmpuint(size_of(&place), ==, size);
}

/* The first byte of an append is copied last, so none or all of its lines count. */
static void test_writer_killed_within_append(void) {
        g_auto(Place) place = place_in("/dev/shm");
        g_autofree char *text = NULL, *error = NULL;
        g_autoptr(RunRecord) record = NULL;
        uint64_t size, before;
        size_t length;

        kill_mapped(&place, 1000);
        g_assert_cmpuint(count_records(&place, &size), ==, 1000);
        g_assert_true(g_file_get_contents(place.path, &text, &length, NULL));
        before = (uint64_t) ((const char *) memrchr(text, '\n', size - 1) - text) + 1;
        memcpy(text + size, text + before, size - before);
        text[before] = '\0';

        g_assert_cmpint(run_record_read_text(text, length, &record, &error), ==, 0);
        g_assert_cmpuint(record->entries->len, ==, 999);
        g_assert_cmpuint(record->size, ==, before);
        g_assert_true(record->torn);
}

/* Without a file system in memory, each flush is a write(). */
static void test_writer_maps_only_memory(void) {
        g_auto(Place) place = place_in("/var/tmp");
        g_autoptr(RecordWriter) writer = create(&place);
        struct statfs fs;

        write_ticks(writer, 1000);
        g_assert_cmpint(statfs(place.path, &fs), ==, 0);
        g_assert_true((size_of(&place) == record_writer_size(writer)) == (fs.f_type != TMPFS_MAGIC));
}

static void drop_line(GString *text, unsigned line) {
        g_auto(GStrv) lines = g_strsplit(text->str, "\n", -1);

        g_string_truncate(text, 0);
        for (unsigned i = 0; lines[i] && lines[i + 1]; i++)
                if (i != line)
                        g_string_append_printf(text, "%s\n", lines[i]);
}

/* Any line but the last, which nothing follows. */
static void test_missing_line(void) {
        for (unsigned missing = 1; missing < 3; missing++) {
                g_autoptr(GString) text = record_example();
                g_autofree char *expected = g_strdup_printf(
                        "line %u: it does not match its checksum, or lines before it are missing", missing + 1);

                drop_line(text, missing);
                assert_unreadable(text->str, text->len, -EBADMSG, expected);
        }
}

/* Its own line fits without those before it, but says which was there. */
static void test_missing_before_snapshot(void) {
        g_autoptr(GString) text = record_example(), cut = NULL;
        g_autoptr(json_object) state = json_tokener_parse("{\"all\":1}");
        g_autoptr(RunRecord) record = read_all(text), read = NULL;

        entry_append(text, &(Entry){ .time = 9, .kind = ENTRY_SNAPSHOT, .node = NODE_NONE, .details = state },
                     &record->chain);
        read = read_all(text);
        g_assert_cmpuint(read->entries->len, ==, 4);
        cut = g_string_new(text->str);
        drop_line(text, 3);
        assert_unreadable(text->str, text->len, -EBADMSG, "line 4: lines before it are missing");

        for (unsigned i = 0; i < 3; i++)
                drop_line(cut, 1);
        g_clear_pointer(&read, run_record_free);
        read = read_all(cut);
        g_assert_cmpuint(read->entries->len, ==, 1);
}

/* The daemon that has written the last part. */
static void test_engine(void) {
        g_autoptr(GString) text = record_example();
        g_autoptr(json_object) engine = json_tokener_parse("{\"engine\":7}");
        g_autoptr(RunRecord) record = read_all(text);

        g_assert_cmpuint(record->engine, ==, record->header.engine);
        entry_append(text, &(Entry){ .kind = ENTRY_RECOVERED, .node = NODE_NONE, .details = engine }, &record->chain);
        g_clear_pointer(&record, run_record_free);
        record = read_all(text);
        g_assert_cmpuint(record->engine, ==, 7);
}

/* A file that may not grow stands for a disk that is full. The run record that nobody can rely on is gone. */
static void test_writer_fails_once(void) {
        g_auto(Place) place = place_new();
        g_autoptr(RecordWriter) writer = create(&place);
        g_autofree char *error = NULL, *expected = NULL;
        struct rlimit limit, none;

        expected = g_strdup_printf("%s cannot be written: File too large", place.path);
        g_assert_cmpint(getrlimit(RLIMIT_FSIZE, &limit), ==, 0);
        none = (struct rlimit){ .rlim_cur = record_writer_size(writer) + 5, .rlim_max = limit.rlim_max };
        signal(SIGXFSZ, SIG_IGN);
        g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &none), ==, 0);

        record_writer_add(writer, &(Entry){ .time = 6, .kind = ENTRY_TICK, .node = NODE_NONE });
        g_assert_cmpint(record_writer_flush(writer, &error), ==, -EFBIG);
        g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &limit), ==, 0);
        g_assert_cmpstr(error, ==, expected);
        g_assert_false(g_file_test(place.path, G_FILE_TEST_EXISTS));

        record_writer_add(writer, &(Entry){ .time = 7, .kind = ENTRY_TICK, .node = NODE_NONE });
        g_assert_cmpint(record_writer_flush(writer, NULL), ==, 0);
}

static void test_writer_has_a_limit(void) {
        g_auto(Place) place = place_new();
        g_autoptr(RecordWriter) writer = create(&place);
        g_autofree char *error = NULL;
        int r = 0;

        for (unsigned i = 0; i < 65 * 16 && r == 0; i++) {
                for (unsigned k = 0; k < 64 * 1024 / 16; k++)
                        record_writer_add(writer, &(Entry){ .time = 1, .kind = ENTRY_TICK, .node = NODE_NONE });
                r = record_writer_flush(writer, &error);
        }
        g_assert_cmpint(r, ==, -EFBIG);
        g_assert_nonnull(strstr(error, "larger than 64 MiB"));
        g_assert_false(g_file_test(place.path, G_FILE_TEST_EXISTS));
}

static void test_writer_has_its_own_limit(void) {
        g_auto(Place) place = place_new();
        g_auto(RecordHeader) header = header_example();
        const Entry tick = { .time = 1, .kind = ENTRY_TICK, .node = NODE_NONE };
        Limits limits = limits_default;
        g_autofree char *closed = g_strdup_printf("%s would become larger than 1 KiB", place.path),
                        *flushed = g_strdup_printf("%s has become larger than 1 KiB", place.path);

        limits.max[LIMIT_RECORD] = 1;
        for (unsigned i = 0; i < 2; i++) {
                g_autoptr(RecordWriter) writer = NULL;
                g_autofree char *error = NULL;

                g_assert_cmpint(record_writer_create(place.path, &header, &limits, &writer, &error), ==, 0);
                g_assert_cmpint(record_writer_flush(writer, &error), ==, 0);
                for (unsigned k = 0; k < 1024; k++)
                        record_writer_add(writer, &tick);
                g_assert_cmpint(i == 0 ? record_writer_close(writer, &tick, &error)
                                       : record_writer_flush(writer, &error),
                                ==, -EFBIG);
                g_assert_cmpstr(error, ==, i == 0 ? closed : flushed);
                g_assert_cmpint(g_file_test(place.path, G_FILE_TEST_EXISTS), ==, i == 0);
                if (i == 0)
                        g_assert_cmpint(g_unlink(place.path), ==, 0);
        }
}

/* The run record of a run that goes on for ever has an end: its newest part, and the one before. */
static void test_writer_cuts(void) {
        g_auto(Place) place = place_new();
        g_autoptr(RecordWriter) writer = NULL;
        g_autoptr(RunRecord) record = NULL;
        g_autoptr(json_object) state = json_tokener_parse("{\"all\":1}");
        g_autofree char *error = NULL, *aside = g_strconcat(place.path, ".new", NULL);
        unsigned n_snapshots = 0;
        struct stat st;

        record_writer_set_part(1000);
        writer = create(&place);
        for (unsigned i = 0; i < 500; i++) {
                record_writer_add(writer, &(Entry){ .time = i, .kind = ENTRY_TICK, .node = NODE_NONE });
                g_assert_cmpint(record_writer_flush(writer, &error), ==, 0);
                if (!record_writer_is_due(writer))
                        continue;

                g_assert_cmpint(
                        record_writer_add_snapshot(
                                writer,
                                &(Entry){ .time = i, .kind = ENTRY_SNAPSHOT, .node = NODE_NONE, .details = state },
                                &error),
                        ==, 0);
                n_snapshots++;
                g_assert_cmpint(stat(place.path, &st), ==, 0);
                g_assert_cmpuint((uint64_t) st.st_size, >=,
                                 record_writer_size(writer)); /* in a tmpfs, its end is mapped */
                g_assert_cmpint(run_record_read_file(place.path, false, UINT64_MAX, &record, &error), ==, 0);
                g_assert_cmpuint(record->size, ==, record_writer_size(writer));
                g_assert_cmpint(g_array_index(record->entries, Entry, record->entries->len - 1).kind, ==,
                                ENTRY_SNAPSHOT);
                g_assert_cmpuint(record->size - record->body, <, 2200);
                g_assert_cmpint(g_array_index(record->entries, Entry, 0).kind, ==,
                                n_snapshots < 2 ? ENTRY_TICK : ENTRY_SNAPSHOT);
                g_clear_pointer(&record, run_record_free);
        }
        g_assert_cmpuint(n_snapshots, >, 5);
        g_assert_false(g_file_test(aside, G_FILE_TEST_EXISTS));
        record_writer_set_part(0);
}

/* A recovery reads from the newest snapshot on, whatever is before it; if that is not whole, from the one before. */
static void test_newest(void) {
        g_auto(Place) place = place_new();
        g_autofree char *error = NULL, *text = NULL;
        g_autoptr(json_object) state = json_object_new_object();
        const Entry tick = { .time = 7, .kind = ENTRY_TICK, .node = NODE_NONE },
                    snapshot = { .time = 8, .kind = ENTRY_SNAPSHOT, .node = NODE_NONE, .details = state };
        const unsigned n_entries[] = { 2, 3, 0 }; /* with so many snapshots cut off */
        RecordWriter *writer = create(&place);
        char *end;
        gsize length;

        for (unsigned i = 0; i < 2; i++) {
                record_writer_add(writer, &tick);
                record_writer_add(writer, &tick);
                g_assert_cmpint(record_writer_flush(writer, &error), ==, 0);
                g_assert_cmpint(record_writer_add_snapshot(writer, &snapshot, &error), ==, 0);
        }
        record_writer_add(writer, &tick);
        record_writer_free(writer);

        g_assert_true(g_file_get_contents(place.path, &text, &length, NULL));
        for (unsigned cut = 0; cut < 3; cut++) {
                g_autoptr(RunRecord) whole = NULL, newest = NULL;

                g_assert_true(g_file_set_contents(place.path, text, (gssize) length, NULL));
                g_assert_cmpint(run_record_read_file(place.path, false, UINT64_MAX, &whole, &error), ==, 0);
                g_assert_cmpint(run_record_read_file(place.path, true, UINT64_MAX, &newest, &error), ==, 0);
                g_assert_cmpuint(newest->entries->len, ==, n_entries[cut]);
                g_assert_cmpuint(newest->newest, ==, whole->newest);
                g_assert_cmpuint(newest->size, ==, whole->size);
                g_assert_cmpuint(newest->body, ==, whole->body);
                g_assert_cmpuint(newest->chain.last, ==, whole->chain.last);
                g_assert_cmpint(newest->torn, ==, cut > 0);

                /* In the middle of the newest snapshot, without the entries after it. */
                end = g_strrstr_len(text, (gssize) length, " snapshot {");
                length = end ? (gsize) (end + 5 - text) : length;
        }
}

/* A recovery waits for no file, and reads none that cannot be a run record. */
static void test_no_record(void) {
        g_auto(Place) place = place_new();
        static const char *const expected[] = { "is no regular file",
                                                "cannot be read: Too many levels of symbolic links",
                                                "has 200 MiB, more than a run record may have" };

        for (unsigned i = 0; i < G_N_ELEMENTS(expected); i++) {
                g_autofree char *error = NULL;
                RunRecord *record = NULL;

                g_assert_cmpint(i == 0   ? mkfifo(place.path, 0600)
                                : i == 1 ? symlink("/dev/zero", place.path)
                                         : g_file_set_contents(place.path, "x", 1, NULL) - 1,
                                ==, 0);
                if (i == 2)
                        g_assert_cmpint(truncate(place.path, 200 << 20), ==, 0);
                g_assert_cmpint(run_record_read_file(place.path, true, 128 << 20, &record, &error), ==, -EIO);
                g_assert_cmpstr(error, ==, expected[i]);
                g_assert_cmpint(g_unlink(place.path), ==, 0);
        }
}

/* Where there is no room for another file, it is only longer. */
static void test_writer_cannot_cut(void) {
        g_auto(Place) place = place_new();
        g_autofree char *error = NULL, *aside = g_strconcat(place.path, ".new", NULL);
        g_autoptr(json_object) state = json_object_new_object();
        const Entry snapshot = { .kind = ENTRY_SNAPSHOT, .node = NODE_NONE, .details = state };
        g_autoptr(RecordWriter) writer = create(&place);
        g_autoptr(RunRecord) record = NULL;

        g_assert_cmpint(g_mkdir(aside, 0700), ==, 0);
        for (unsigned i = 0; i < 3; i++)
                g_assert_cmpint(record_writer_add_snapshot(writer, &snapshot, &error), ==, 0);
        g_assert_cmpint(run_record_read_file(place.path, false, UINT64_MAX, &record, &error), ==, 0);
        g_assert_cmpuint(record->entries->len, ==, 3);
        g_assert_cmpint(g_rmdir(aside), ==, 0);
}

/* Files that come as a text give the same file, also if they are long. */
static void test_writer_with_files_as_text(void) {
        for (size_t n = 1; n < 10000000; n *= 100) {
                g_auto(Place) place = place_new();
                g_auto(RecordHeader) header = header_example();
                g_autoptr(RecordWriter) writer = NULL;
                g_autofree char *error = NULL, *written = NULL, *long_text = g_strnfill(n, 'x');
                char *files = g_strdup_printf("[{\"path\":\"\",\"text\":\"%s\",\"found\":[]}]", long_text);
                g_autoptr(GString) expected = g_string_new(NULL);
                EntryChain chain;
                Entry start = { .time = 1, .kind = ENTRY_START, .node = NODE_NONE };
                gsize length;

                header.files_text = summed_text_new(files);
                chain.header = chain.last = record_header_append(expected, &header);
                entry_append(expected, &start, &chain);
                g_assert_cmpint(record_writer_create(place.path, &header, &limits_default, &writer, &error), ==, 0);
                g_assert_null(header.files_text);
                record_writer_add(writer, &start);
                g_assert_cmpint(record_writer_flush(writer, &error), ==, 0);
                g_assert_cmpuint(record_writer_size(writer), ==, expected->len);
                g_assert_true(g_file_get_contents(place.path, &written, &length, NULL));
                g_assert_cmpmem(written, length, expected->str, expected->len);
                g_assert_cmpuint(count_records(&place, NULL), ==, 1);
        }
}

static void test_writer_takes_no_file_that_is_there(void) {
        g_auto(Place) place = place_new();
        RecordWriter *second = NULL;
        g_auto(RecordHeader) header = header_example();
        g_autofree char *error = NULL, *expected = g_strdup_printf("%s cannot be opened: File exists", place.path);

        record_writer_free(create(&place));
        g_assert_cmpint(record_writer_create(place.path, &header, &limits_default, &second, &error), ==, -EEXIST);
        g_assert_cmpstr(error, ==, expected);
        g_assert_null(second);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/run-record/files-as-text", test_files_as_text);
        g_test_add_func("/run-record/checksum", test_checksum);
        g_test_add_func("/run-record/round-trip", test_round_trip);
        g_test_add_func("/run-record/lines", test_lines);
        g_test_add_func("/run-record/torn", test_torn);
        g_test_add_func("/run-record/damaged", test_damaged);
        g_test_add_func("/run-record/messages", test_messages);
        g_test_add_func("/run-record/unknown-record", test_unknown_record);
        g_test_add_func("/run-record/missing-line", test_missing_line);
        g_test_add_func("/run-record/missing-before-snapshot", test_missing_before_snapshot);
        g_test_add_func("/run-record/engine", test_engine);
        g_test_add_func("/run-record/writer", test_writer);
        g_test_add_func("/run-record/writer-with-files-as-text", test_writer_with_files_as_text);
        g_test_add_func("/run-record/writer-begins", test_writer_begins);
        g_test_add_func("/run-record/writer-resumes", test_writer_resumes);
        g_test_add_func("/run-record/writer-maps", test_writer_maps);
        g_test_add_func("/run-record/writer-killed-within-append", test_writer_killed_within_append);
        g_test_add_func("/run-record/writer-maps-only-memory", test_writer_maps_only_memory);
        g_test_add_func("/run-record/writer-fails-once", test_writer_fails_once);
        g_test_add_func("/run-record/writer-has-a-limit", test_writer_has_a_limit);
        g_test_add_func("/run-record/writer-has-its-own-limit", test_writer_has_its_own_limit);
        g_test_add_func("/run-record/writer-cuts", test_writer_cuts);
        g_test_add_func("/run-record/writer-cannot-cut", test_writer_cannot_cut);
        g_test_add_func("/run-record/newest", test_newest);
        g_test_add_func("/run-record/no-record", test_no_record);
        g_test_add_func("/run-record/writer-takes-no-file-that-is-there", test_writer_takes_no_file_that_is_there);
        return g_test_run();
}
