/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Runs the daemon's main loop, and answers its direct requests to the service manager: descriptors that are stored for
 * the next daemon stay open when it dies.
 */

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "basic/log.h"
#include "bus.h"
#include "clock.h"
#include "engine/machine.h"
#include "engine/node.h"
#include "event-queue.h"
#include "life-limits.h"
#include "life.h"
#include "record/run-record.h"
#include "script/sandbox.h"
#include "trace.h"
#include "tree-files.h"
#include "troubles.h"

#define FD_NAME "FDNAME="

int btd_main(int argc, char **argv);
void __wrap_g_main_loop_run(GMainLoop *loop);
void __wrap_g_main_loop_quit(GMainLoop *loop);
uint32_t __wrap_engine_version(void);
void __real_node_arm_timer(Machine *machine, NodeId node, uint64_t usec);
void __wrap_node_arm_timer(Machine *machine, NodeId node, uint64_t usec);
int __wrap_sd_booted(void);
int __wrap_sd_listen_fds_with_names(int unset, char ***ret_names);
int __wrap_sd_pid_notify_with_fds(pid_t pid, int unset, const char *state, const int *fds, unsigned n_fds);
int __wrap_sd_notifyf(int unset, const char *format, ...);
void __wrap_notify_try(const char *state);
void __wrap_log_message(int level, const LogSubject *subject, const char *format, ...) G_GNUC_PRINTF(3, 4);
void __real_budget_begin(lua_State *lua);
void __wrap_budget_begin(lua_State *lua);
void __real_budget_end(lua_State *lua);
void __wrap_budget_end(lua_State *lua);

/* A descriptor that is stored for the next daemon. */
typedef struct Stored {
        char *name;
        int fd;
} Stored;

static struct {
        bool quit, over;
        const LifeOptions *options;
        unsigned steps; /* in this simulation */
        Stored stored[LIFE_STORED_MAX];
        int n_stored;
} life;

/* A simulation that ends has ended after so many steps. */
#define STEPS_MOST 300000u

/* False: the simulation will never end. */
static bool step(void) {
        if (++life.steps < STEPS_MOST && !violation_text())
                return true;

        if (!violation_text())
                violation("it does not come to an end");
        life.over = true;
        return false;
}

/* Replaces poll(), and does not wait. */
static gint world_turn(GPollFD *fds, guint n_fds, gint timeout) {
        uint64_t start = clock_now(), end = timeout < 0 ? UINT64_MAX : start + (uint64_t) timeout * 1000;
        int n = 0;

        kernel_leave();
        for (;;) {
                uint64_t next;

                bus_turn();
                event_queue_run();
                n = poll((struct pollfd *) fds, n_fds, 0);
                if (n != 0 || timeout == 0 || kernel_was_killed())
                        break;

                next = MIN(event_queue_next(), end);
                if (next == UINT64_MAX) {
                        if (life.options->settle())
                                continue;
                        life.over = true;
                        break;
                }
                if (!step())
                        break;
                clock_set(MAX(next, clock_now()));
                if (next == end)
                        break;
        }

        clock_set(clock_now() + life.options->turn);
        kernel_enter();
        return n;
}

void __wrap_g_main_loop_run(GMainLoop *loop) {
        GMainContext *context = g_main_loop_get_context(loop);

        g_main_context_set_poll_func(context, world_turn);
        while (!life.quit && !life.over && !kernel_was_killed()) {
                g_main_context_iteration(context, TRUE);
                (void) step();
        }
}

void __wrap_g_main_loop_quit(GMainLoop *loop) {
        life.quit = true;
}

uint32_t __wrap_engine_version(void) {
        return life.options->engine;
}

/* Another engine version behaves differently, so records of this one do not fit it. */
void __wrap_node_arm_timer(Machine *machine, NodeId node, uint64_t usec) {
        __real_node_arm_timer(machine, node, usec + life.options->later);
}

void __wrap_budget_begin(lua_State *lua) {
        __real_budget_begin(lua);
        clock_begin_lua(limits_lua_usec());
}

void __wrap_budget_end(lua_State *lua) {
        clock_end_lua();
        __real_budget_end(lua);
}

static bool ends_with_snapshot(const char *path) {
        g_autoptr(RunRecord) record = NULL;
        g_autofree char *error = NULL;

        return run_record_read_file(path, false, UINT64_MAX, &record, &error) >= 0 && record->entries->len > 0 &&
               g_array_index(record->entries, Entry, record->entries->len - 1).kind == ENTRY_SNAPSHOT;
}

bool life_has_left_snapshots(const LifeOptions *options) {
        g_autofree char *path = g_build_filename(options->directory, "run", "runs", NULL);
        g_autoptr(GDir) directory = g_dir_open(path, 0, NULL);
        bool all = true;
        const char *name;

        while (directory && (name = g_dir_read_name(directory))) {
                g_autofree char *file = g_build_filename(path, name, NULL);

                all &= ends_with_snapshot(file);
        }

        return all;
}

/* The memory of one daemon is used by the next one. */
int malloc_trim(size_t pad) {
        return 0;
}

int __wrap_sd_booted(void) {
        return 1;
}

/* They begin at SD_LISTEN_FDS_START; these numbers are reserved. */
int __wrap_sd_listen_fds_with_names(int unset, char ***ret_names) {
        char **names = g_new0(char *, LIFE_STORED_MAX + 1);

        for (int i = 0; i < life.n_stored; i++) {
                names[i] = g_strdup(life.stored[i].name);
                (void) dup3(life.stored[i].fd, SD_LISTEN_FDS_START + i, O_CLOEXEC);
        }

        *ret_names = names;
        return life.n_stored;
}

static bool is_stored(int fd) {
        struct stat one, other;

        for (int i = 0; fstat(fd, &one) == 0 && i < life.n_stored; i++)
                if (fstat(life.stored[i].fd, &other) == 0 && one.st_ino == other.st_ino && one.st_dev == other.st_dev)
                        return true;

        return false;
}

static void stored_drop(Stored *stored) {
        close(stored->fd);
        g_free(stored->name);
        *stored = life.stored[--life.n_stored];
}

/* Drops descriptors whose other end is closed. */
static void drop_dead(void) {
        for (int i = life.n_stored; i-- > 0;) {
                struct pollfd fd = { .fd = life.stored[i].fd };

                if (poll(&fd, 1, 0) > 0 && fd.revents & POLLHUP)
                        stored_drop(&life.stored[i]);
        }
}

/* Each descriptor is taken once. */
int __wrap_sd_pid_notify_with_fds(pid_t pid, int unset, const char *state, const int *fds, unsigned n_fds) {
        if (kernel_was_killed() || is_stored(fds[0]))
                return 1;
        drop_dead();
        if (life.n_stored == LIFE_STORED_MAX)
                g_error("the store of descriptors is full");

        life.stored[life.n_stored++] = (Stored){
                .name = g_strdup(strstr(state, FD_NAME) + strlen(FD_NAME)),
                .fd = fcntl(fds[0], F_DUPFD_CLOEXEC, 100),
        };
        return 1;
}

int __wrap_sd_notifyf(int unset, const char *format, ...) {
        if (g_str_has_prefix(format, "READY=1") && !kernel_was_killed())
                tree_files_note_ready();
        return 1;
}

void __wrap_notify_try(const char *state) {
        const char *name = strstr(state, FD_NAME);

        if (!g_str_has_prefix(state, "FDSTOREREMOVE=1") || kernel_was_killed())
                return;

        for (int i = life.n_stored; i-- > 0;)
                if (g_str_equal(life.stored[i].name, name + strlen(FD_NAME)))
                        stored_drop(&life.stored[i]);
        bus_note_sent();
}

void __wrap_log_message(int level, const LogSubject *subject, const char *format, ...) {
        g_autofree char *text = NULL;
        va_list args;

        if (level > LOG_WARNING && !trace_is_open())
                return;

        va_start(args, format);
        text = g_strdup_vprintf(format, args);
        va_end(args);
        trace("btd: %s%s%s", subject && subject->run ? subject->run : "", subject && subject->run ? ": " : "", text);
        if (strstr(text, "cannot be recovered") || (strstr(text, "error: ") && !troubles_have(TROUBLE_FILES)))
                violation("%s", text);
}

Death life_live(const LifeOptions *options) {
        g_autofree char *trees = g_strdup_printf("--trees=%s/trees", options->directory),
                        *runtime = g_strdup_printf("--runtime=%s/run", options->directory),
                        *state = g_strdup_printf("--state=%s/state", options->directory);
        char *const given[] = { (char *) "btd", (char *) "--user", (char *) "--address=unix:path=/simulated",
                                trees,          runtime,           state };
        g_autoptr(GPtrArray) argv = g_ptr_array_new();
        bool killed;

        for (unsigned i = 0; i < G_N_ELEMENTS(given); i++)
                g_ptr_array_add(argv, given[i]);
        for (char **limit = options->limits; limit && *limit; limit++)
                g_ptr_array_add(argv, *limit);
        g_ptr_array_add(argv, NULL);

        trace("-- a daemon begins%s%s", options->limits && *options->limits ? " with " : "",
              options->limits && *options->limits ? options->limits[0] : "");
        life.quit = life.over = false;
        life.options = options;
        kernel_revive();
        kernel_enter();
        (void) btd_main((int) argv->len - 1, (char **) argv->pdata);
        clock_forget_timer();
        kernel_leave();
        bus_note_sent();
        killed = kernel_was_killed();
        kernel_revive();
        return killed ? DEATH_KILLED : life.over ? DEATH_NONE : DEATH_EXITED;
}

void life_terminate(void) {
        (void) kill(getpid(), SIGTERM);
}

void life_drop_stored(void) {
        while (life.n_stored > 0)
                stored_drop(&life.stored[0]);
        bus_note_sent();
}

void life_begin(void) {
        life.steps = 0;
        life_drop_stored();
}
