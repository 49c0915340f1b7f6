/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests that the archive keeps the records of finished runs and removes the oldest ones. */

#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "record/archive.h"
#include "remove-all.h"

typedef struct Fixture {
        char *top, *directory, *from;
        Limits limits;
        GMainContext *context;
        Timers *timers;
        DiskQueue *disk;
        UpClock *clock;
        Users *users;
        uint32_t uid; /* who starts the runs */
        Archive *archive;
} Fixture;

/* A daemon begins. */
static void begin(Fixture *fixture) {
        fixture->timers = timers_new(fixture->context);
        fixture->disk = disk_queue_new(fixture->context, fixture->timers, NULL, NULL);
        fixture->clock = up_clock_new(fixture->timers, fixture->from);
        up_clock_open(fixture->clock);
        fixture->users = users_new(&fixture->limits);
        fixture->archive = archive_new(fixture->directory, fixture->from, &fixture->limits, fixture->users,
                                       fixture->disk, fixture->timers, fixture->clock);
        archive_read(fixture->archive);
}

/* What there is to be written is written. */
static void settle(Fixture *fixture) {
        archive_hurry(fixture->archive);
        g_assert_true(disk_queue_finish(fixture->disk, UINT64_C(60) * G_USEC_PER_SEC));
}

static void end(Fixture *fixture) {
        archive_free(fixture->archive);
        users_free(fixture->users);
        up_clock_free(fixture->clock);
        disk_queue_free(fixture->disk);
        timers_free(fixture->timers);
}

static void set_up(Fixture *fixture, gconstpointer data) {
        fixture->top = g_dir_make_tmp("btd-archive-XXXXXX", NULL);
        g_assert_nonnull(fixture->top);
        fixture->directory = g_build_filename(fixture->top, "state", "history", NULL);
        fixture->from = g_build_filename(fixture->top, "finished", NULL);
        g_assert_cmpint(g_mkdir(fixture->from, 0700), ==, 0);
        fixture->limits = limits_default;
        fixture->context = g_main_context_new();
        begin(fixture);
}

static void tear_down(Fixture *fixture, gconstpointer data) {
        end(fixture);
        g_main_context_unref(fixture->context);
        remove_all(fixture->top);
        g_free(fixture->top);
        g_free(fixture->directory);
        g_free(fixture->from);
}

static char *path_in(const char *directory, const char *run) {
        return g_strconcat(directory, "/", run, ".journal", NULL);
}

static bool is_there(const char *directory, const char *run) {
        g_autofree char *path = path_in(directory, run);

        return g_file_test(path, G_FILE_TEST_EXISTS);
}

/* Day 0 of the archive's clock in these tests. */
#define EPOCH (UINT64_C(1000) * DAY)
#define DAY (UINT64_C(86400) * G_USEC_PER_SEC)

/* size: of its run record, which takes no space. The time of its file has nothing to say. */
static void put(const char *directory, const char *run, off_t size) {
        static unsigned n;
        struct timeval times[2] = { { .tv_sec = n * 7919 % 1000 * 86400 }, { .tv_sec = n * 7919 % 1000 * 86400 } };
        g_autofree char *path = path_in(directory, run);

        n++;
        g_assert_true(g_file_set_contents(path, run, -1, NULL));
        g_assert_cmpint(truncate(path, size), ==, 0);
        g_assert_cmpint(utimes(path, times), ==, 0);
}

/* day: when the run finished. */
static void put_of_day(const char *directory, const char *run, off_t size, unsigned day) {
        g_autofree char *path = g_build_filename(directory, "order", NULL), *text = NULL, *lines = NULL;

        put(directory, run, size);
        (void) g_file_get_contents(path, &text, NULL, NULL);
        lines = g_strdup_printf("%s%" G_GUINT64_FORMAT " 0 %s\n", text ?: "", (guint64) (EPOCH + day * DAY), run);
        g_assert_true(g_file_set_contents(path, lines, -1, NULL));
}

static void add(Fixture *fixture, const char *run, off_t size) {
        g_auto(RunSummary) summary = { .run = g_strdup(run), .tree = g_strdup("n"), .token = g_strdup(run) };

        put(fixture->from, run, size);
        summary.uid = fixture->uid;
        archive_add(fixture->archive, &summary, (uint64_t) size);
        g_assert_null(summary.run);
}

static void assert_runs(Fixture *fixture, const char *expected) {
        g_autoptr(GPtrArray) runs = archive_list(fixture->archive);
        g_autofree char *joined = NULL;

        g_ptr_array_add(runs, NULL);
        joined = g_strjoinv(" ", (char **) runs->pdata);
        g_assert_cmpstr(joined, ==, expected);
}

static int open_run(const Fixture *fixture, const char *run) {
        char *paths[2];
        int fd;

        archive_paths(fixture->archive, run, paths);
        fd = open(paths[0], O_RDONLY | O_CLOEXEC);
        if (fd < 0)
                fd = open(paths[1], O_RDONLY | O_CLOEXEC);
        g_free(paths[0]);
        g_free(paths[1]);
        return fd;
}

static void assert_text(const Fixture *fixture, const char *run, const char *expected) {
        g_autofree char *text = g_malloc0(100);
        int fd = open_run(fixture, run);

        g_assert_cmpint(read(fd, text, 99), ==, strlen(expected));
        g_assert_cmpstr(text, ==, expected);
        close(fd);
}

/* They are part of it at once, and on the disk when it has the time. */
static void test_keeps(Fixture *fixture, gconstpointer data) {
        assert_runs(fixture, "");
        g_assert_cmpint(open_run(fixture, "boot.2"), ==, -1);
        add(fixture, "boot.1", 6);
        add(fixture, "boot.2", 6);
        assert_runs(fixture, "boot.1 boot.2");
        g_assert_true(archive_has(fixture->archive, "boot.2"));
        g_assert_false(archive_has(fixture->archive, "boot.3"));
        assert_text(fixture, "boot.2", "boot.2");
        g_assert_false(is_there(fixture->directory, "boot.2"));

        while (!is_there(fixture->directory, "boot.2") || is_there(fixture->from, "boot.2"))
                g_main_context_iteration(fixture->context, TRUE);
        g_assert_true(is_there(fixture->directory, "boot.1"));
        assert_runs(fixture, "boot.1 boot.2");
        assert_text(fixture, "boot.2", "boot.2");
}

/* The next daemon finds them wherever they are, in whatever order; one that is there twice was being moved. */
static void test_order(Fixture *fixture, gconstpointer data) {
        g_autoptr(GString) expected = g_string_new(NULL);
        const unsigned n = 29;

        end(fixture);
        g_assert_cmpint(g_mkdir_with_parents(fixture->directory, 0700), ==, 0);
        for (unsigned i = 0; i < n; i++) {
                unsigned age = i * 12 % n;
                g_autofree char *run = g_strdup_printf("n.%u", age);

                put_of_day(age < 5 ? fixture->from : fixture->directory, run, 1, n - age);
                g_string_append_printf(expected, "%sn.%u", i > 0 ? " " : "", n - 1 - i);
        }
        put_of_day(fixture->directory, "n.3", 0, n - 3);
        begin(fixture);
        assert_runs(fixture, expected->str);

        settle(fixture);
        assert_text(fixture, "n.3", "n");
        for (unsigned i = 0; i < 2; i++) {
                end(fixture);
                begin(fixture);
                assert_runs(fixture, expected->str);
        }
}

/* Without a file of the order, and finished in the same moment, as far as their files tell. */
static void test_same_time(Fixture *fixture, gconstpointer data) {
        g_autoptr(GString) expected = g_string_new(NULL);

        end(fixture);
        for (unsigned i = 1; i <= 12; i++) {
                g_autofree char *run = g_strdup_printf("n.%u", i);

                put(fixture->from, run, 1);
                g_string_append_printf(expected, "%s%s", i > 1 ? " " : "", run);
        }
        for (unsigned i = 1; i <= 12; i++) {
                g_autofree char *run = g_strdup_printf("n.%u", i), *path = path_in(fixture->from, run);
                struct timeval times[2] = { { .tv_sec = g_get_real_time() / G_USEC_PER_SEC / 100 * 100 } };

                times[1] = times[0];
                g_assert_cmpint(utimes(path, times), ==, 0);
        }
        begin(fixture);
        assert_runs(fixture, expected->str);
}

/* A daemon was killed while it wrote it to the disk: that file is the younger one of the two. */
static void test_torn(Fixture *fixture, gconstpointer data) {
        g_autofree char *torn = path_in(fixture->directory, "a.1");

        end(fixture);
        put(fixture->from, "a.1", 3);
        g_assert_cmpint(g_mkdir_with_parents(fixture->directory, 0700), ==, 0);
        g_assert_true(g_file_set_contents(torn, "a", -1, NULL));
        begin(fixture);
        assert_runs(fixture, "a.1");
        settle(fixture);
        assert_text(fixture, "a.1", "a.1");
        g_assert_false(is_there(fixture->from, "a.1"));
        g_assert_true(is_there(fixture->directory, "a.1"));
}

/* Counted from the run that finished last: while the machine is down, and when somebody sets its clock, nothing ages.
 */
static void test_age(Fixture *fixture, gconstpointer data) {
        g_autofree char *newest = path_in(fixture->directory, "new.1");

        end(fixture);
        g_assert_cmpint(g_mkdir_with_parents(fixture->directory, 0700), ==, 0);
        put_of_day(fixture->directory, "old.2", 1, 0);
        put_of_day(fixture->directory, "old.1", 1, 2);
        put_of_day(fixture->from, "new.1", 1, 31);
        begin(fixture);
        assert_runs(fixture, "old.1 new.1");
        settle(fixture);
        g_assert_false(is_there(fixture->directory, "old.2"));

        /* The clock continues with the next daemon of this boot, also if the newest run goes. */
        end(fixture);
        g_assert_cmpint(g_unlink(newest), ==, 0);
        put_of_day(fixture->directory, "older.1", 1, 0);
        begin(fixture);
        assert_runs(fixture, "old.1");
}

/* Files that others have put there are older than all others. */
static void test_without_a_line(Fixture *fixture, gconstpointer data) {
        end(fixture);
        g_assert_cmpint(g_mkdir_with_parents(fixture->directory, 0700), ==, 0);
        put_of_day(fixture->directory, "a.1", 1, 1);
        put(fixture->directory, "copied.1", 1);
        put(fixture->from, "late.1", 1);
        begin(fixture);
        assert_runs(fixture, "copied.1 a.1 late.1");
        add(fixture, "b.1", 1);
        settle(fixture);
        end(fixture);
        begin(fixture);
        assert_runs(fixture, "copied.1 a.1 late.1 b.1");
}

/* If btd was killed before it wrote the line, the next one writes it: the run does not become the newest again. */
static void test_without_a_line_once(Fixture *fixture, gconstpointer data) {
        end(fixture);
        put(fixture->from, "late.1", 1);
        begin(fixture);
        add(fixture, "b.1", 1);
        assert_runs(fixture, "late.1 b.1");
        end(fixture);
        begin(fixture);
        assert_runs(fixture, "late.1 b.1");
}

/* Lines of runs that have gone do not stay for ever, and a torn line is none. */
static void test_lines(Fixture *fixture, gconstpointer data) {
        g_autofree char *path = g_build_filename(fixture->directory, "order", NULL), *text = NULL;
        gsize length;

        fixture->limits.max[LIMIT_HISTORY] = 3;
        for (unsigned i = 0; i < 400; i++) {
                g_autofree char *a = g_strdup_printf("a.%u", i), *b = g_strdup_printf("b.%u", i),
                                *c = g_strdup_printf("c.%u", i);

                add(fixture, a, 1);
                add(fixture, b, 1);
                add(fixture, c, 1);
                settle(fixture);
        }
        assert_runs(fixture, "a.399 b.399 c.399");
        g_assert_true(g_file_get_contents(path, &text, &length, NULL));
        g_assert_cmpuint(length, <, 1200 * strlen("1000000000000 a.399\n\n"));

        g_assert_true(g_file_set_contents(path, text, (gssize) length - 3, NULL));
        end(fixture);
        begin(fixture);
        assert_runs(fixture, "c.399 a.399 b.399");
        add(fixture, "d.1", 1);
        settle(fixture);
        end(fixture);
        begin(fixture);
        assert_runs(fixture, "a.399 b.399 d.1");
}

static void test_size(Fixture *fixture, gconstpointer data) {
        add(fixture, "a.1", 30 << 20);
        settle(fixture);
        add(fixture, "a.2", 30 << 20);
        assert_runs(fixture, "a.1 a.2");
        add(fixture, "a.3", 30 << 20);
        assert_runs(fixture, "a.2 a.3");

        /* One that alone is too large does not stay either. */
        add(fixture, "a.4", 65 << 20);
        assert_runs(fixture, "");
        settle(fixture);
        for (unsigned i = 1; i <= 4; i++) {
                g_autofree char *run = g_strdup_printf("a.%u", i);

                g_assert_false(is_there(fixture->directory, run));
                g_assert_false(is_there(fixture->from, run));
        }
}

/* A user who starts many runs loses only runs of its own, also after a restart of btd; the last run of each tree stays.
 */
static void test_shares(Fixture *fixture, gconstpointer data) {
        fixture->limits.max[LIMIT_HISTORY] = 16;
        fixture->uid = 0;
        add(fixture, "backup.1", 1);
        add(fixture, "root.1", 1);
        add(fixture, "root.2", 1);
        fixture->uid = 70000;
        add(fixture, "rare.1", 1);
        for (unsigned i = 1; i <= 40; i++) {
                g_autofree char *run = g_strdup_printf("quick.%u", i);

                add(fixture, run, 1);
        }
        assert_runs(fixture, "backup.1 root.1 root.2 rare.1 quick.38 quick.39 quick.40");
        settle(fixture);
        end(fixture);
        begin(fixture);
        add(fixture, "quick.41", 1);
        assert_runs(fixture, "backup.1 root.1 root.2 rare.1 quick.39 quick.40 quick.41");
        g_assert_cmpuint(users_get(fixture->users, 70000)->used[USE_HISTORY], ==, 4);

        /* Runs of root do not displace the last ones of other trees, either. */
        fixture->uid = 0;
        for (unsigned i = 3; i <= 40; i++) {
                g_autofree char *run = g_strdup_printf("root.%u", i);

                add(fixture, run, 1);
        }
        assert_runs(fixture,
                    "backup.1 rare.1 quick.39 quick.40 quick.41 root.30 root.31 root.32 root.33 root.34 root.35 "
                    "root.36 root.37 root.38 root.39 root.40");

        /* By size, too. */
        fixture->uid = 70000;
        add(fixture, "quick.42", 15 << 20);
        add(fixture, "quick.43", 15 << 20);
        assert_runs(fixture, "backup.1 rare.1 root.30 root.31 root.32 root.33 root.34 root.35 root.36 root.37 root.38 "
                             "root.39 root.40 quick.43");
}

/* What has gone before it was due is never written to the disk. */
static void test_number(Fixture *fixture, gconstpointer data) {
        unsigned max = limits_default.max[LIMIT_HISTORY];
        g_autoptr(GPtrArray) runs = NULL;

        for (unsigned i = 0; i <= max; i++) {
                g_autofree char *run = g_strdup_printf("n.%u", i);

                add(fixture, run, 1);
        }

        runs = archive_list(fixture->archive);
        g_assert_cmpuint(runs->len, ==, max);
        g_assert_cmpstr(runs->pdata[0], ==, "n.1");
        g_assert_false(is_there(fixture->from, "n.0"));
        settle(fixture);
        g_assert_false(is_there(fixture->directory, "n.0"));
        g_assert_true(is_there(fixture->directory, "n.1"));
}

/* The limits are those of this archive. */
static void test_limits(Fixture *fixture, gconstpointer data) {
        end(fixture);
        fixture->limits.max[LIMIT_HISTORY] = 2;
        fixture->limits.max[LIMIT_HISTORY_SIZE] = 1;
        fixture->limits.max[LIMIT_HISTORY_AGE] = 3;
        put_of_day(fixture->from, "old.1", 1, 2);
        put_of_day(fixture->from, "old.2", 1, 0);
        put_of_day(fixture->from, "old.3", 1, 4);
        begin(fixture);
        assert_runs(fixture, "old.1 old.3");
        add(fixture, "a.1", 1);
        add(fixture, "a.2", 1);
        assert_runs(fixture, "old.3 a.2");
        add(fixture, "a.3", 1 << 20);
        assert_runs(fixture, "a.3");
}

/* Lets the disk try what waits. */
static void retry(Fixture *fixture) {
        while (!is_there(fixture->directory, "a.1") || is_there(fixture->from, "a.1"))
                g_main_context_iteration(fixture->context, TRUE);
}

/* The run stays where it is, and all of it is told once. */
static void add_in_vain(Fixture *fixture, const char *reason) {
        g_autofree char *path = g_build_filename(fixture->top, "log", NULL), *text = NULL,
                        *line = g_strdup_printf("test-archive: warning: run records of finished runs wait in %s until "
                                                "the disk takes them: %s\n",
                                                fixture->from, reason);
        int log = open(path, O_WRONLY | O_CREAT, 0600), before = dup(STDERR_FILENO);

        g_assert_cmpint(dup2(log, STDERR_FILENO), ==, STDERR_FILENO);
        add(fixture, "a.1", 1);
        settle(fixture);
        g_assert_cmpint(dup2(before, STDERR_FILENO), ==, STDERR_FILENO);
        close(before);
        close(log);
        g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
        g_assert_cmpstr(text, ==, line);
        assert_runs(fixture, "a.1");
        assert_text(fixture, "a.1", "a");
        g_assert_true(is_there(fixture->from, "a.1"));

        end(fixture);
        begin(fixture);
        assert_runs(fixture, "a.1");
}

static void test_no_directory(Fixture *fixture, gconstpointer data) {
        g_autofree char *state = g_path_get_dirname(fixture->directory), *expected = NULL;

        g_assert_true(g_file_set_contents(state, "x", -1, NULL));
        expected = g_strdup_printf("%s cannot be created: Not a directory", fixture->directory);
        add_in_vain(fixture, expected);
        g_assert_cmpint(g_unlink(state), ==, 0);
        retry(fixture);
        assert_text(fixture, "a.1", "a");
}

static void test_no_order(Fixture *fixture, gconstpointer data) {
        g_autofree char *order = g_build_filename(fixture->directory, "order", NULL),
                        *expected = g_strdup_printf("%s/order cannot be written: Is a directory", fixture->directory);

        g_assert_cmpint(g_mkdir_with_parents(order, 0700), ==, 0);
        add_in_vain(fixture, expected);
        g_assert_cmpint(g_rmdir(order), ==, 0);
        retry(fixture);
        assert_text(fixture, "a.1", "a");
}

/* One that cannot be moved delays no other. */
static void test_not_writable(Fixture *fixture, gconstpointer data) {
        g_autofree char *target = path_in(fixture->directory, "a.1"), *from = path_in(fixture->from, "a.1"),
                        *expected = g_strdup_printf("%s cannot be moved to %s: Is a directory", from, target);

        g_assert_cmpint(g_mkdir_with_parents(target, 0700), ==, 0);
        add_in_vain(fixture, expected);
        add(fixture, "a.2", 1);
        while (!is_there(fixture->directory, "a.2"))
                g_main_context_iteration(fixture->context, TRUE);
        assert_runs(fixture, "a.1 a.2");
        g_assert_cmpint(g_rmdir(target), ==, 0);
        retry(fixture);
        assert_text(fixture, "a.1", "a");
}

/* From a tmpfs to a disk, as it is in earnest. */
static void test_far(Fixture *fixture, gconstpointer data) {
        g_autofree char *far = g_strdup("/dev/shm/btd-archive-XXXXXX"), *path = NULL, *from = NULL, *expected = NULL,
                        *text = NULL;
        struct stat here, there;
        gsize length;

        if (!g_mkdtemp(far) || stat(far, &there) < 0 || stat(fixture->top, &here) < 0 || here.st_dev == there.st_dev) {
                g_test_skip("there is no other file system");
                return;
        }

        end(fixture);
        g_free(g_steal_pointer(&fixture->from));
        fixture->from = g_strdup(far);
        begin(fixture);
        add(fixture, "a.1", 200000);
        settle(fixture);
        g_assert_false(is_there(far, "a.1"));
        path = path_in(fixture->directory, "a.1");
        from = path_in(far, "a.1");
        g_assert_true(g_file_get_contents(path, &text, &length, NULL));
        g_assert_cmpuint(length, ==, 200000);
        g_assert_cmpint(memcmp(text, "a.1", 4), ==, 0);

        g_assert_cmpint(g_unlink(path), ==, 0);
        g_assert_cmpint(g_mkdir(path, 0700), ==, 0);
        expected = g_strdup_printf("%s cannot be moved to %s: Is a directory", from, path);
        add_in_vain(fixture, expected);
        g_assert_cmpint(g_rmdir(path), ==, 0);
        retry(fixture);
        remove_all(far);
}

/* What the daemon finds is read beside the loop, and what comes meanwhile is known. */
static void test_read_beside(Fixture *fixture, gconstpointer data) {
        ArchiveReading *reading;

        add(fixture, "boot.1", 6);
        add(fixture, "gone.1", 6);
        add(fixture, "other.1", 6);
        g_assert_true(archive_is_read(fixture->archive, NULL));
        settle(fixture);
        end(fixture);
        begin(fixture);
        g_assert_false(archive_is_read(fixture->archive, NULL));
        g_assert_false(archive_is_read(fixture->archive, "boot"));
        g_assert_true(archive_is_read(fixture->archive, "boo"));

        reading = archive_reading_new(fixture->archive);
        add(fixture, "boot.1", 6);
        archive_reading_run(reading, NULL);
        g_assert_false(archive_is_read(fixture->archive, "other"));
        archive_take(fixture->archive, reading);
        archive_reading_free(reading);
        g_assert_true(archive_is_read(fixture->archive, NULL));
        g_assert_cmpstr(archive_get(fixture->archive, "boot.1")->tree, ==, "n");
        g_assert_cmpstr(archive_get(fixture->archive, "other.1")->status, ==, "damaged");
        g_assert_null(archive_get(fixture->archive, "other.2"));
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);

#define ADD(name, function) g_test_add("/archive/" name, Fixture, NULL, set_up, function, tear_down)
        ADD("keeps", test_keeps);
        ADD("read-beside", test_read_beside);
        ADD("order", test_order);
        ADD("same-time", test_same_time);
        ADD("torn", test_torn);
        ADD("age", test_age);
        ADD("without-a-line", test_without_a_line);
        ADD("without-a-line-once", test_without_a_line_once);
        ADD("lines", test_lines);
        ADD("size", test_size);
        ADD("shares", test_shares);
        ADD("number", test_number);
        ADD("limits", test_limits);
        ADD("no-directory", test_no_directory);
        ADD("no-order", test_no_order);
        ADD("not-writable", test_not_writable);
        ADD("far", test_far);
        return g_test_run();
}
