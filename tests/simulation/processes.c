/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Replaces leaves/spawn/process.c and the system calls of a parent; an eventfd stands for a pidfd. */

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "event-queue.h"
#include "kernel.h"
#include "leaves/spawn/process.h"
#include "ledger.h"
#include "processes.h"
#include "trace.h"

/* No real process has such a number. */
#define FIRST 500000000

typedef struct Process {
        pid_t pid;
        int fd;           /* of the daemon */
        int our_fd;       /* a copy, to write to */
        int code, status; /* 0: it is running */
} Process;

static struct {
        uint64_t seed;
        pid_t last;
        GPtrArray *all; /* of Process */
} processes;

static void process_free(void *data) {
        Process *process = data;

        close(process->our_fd);
        g_free(process);
}

static Process *find_pid(pid_t pid) {
        for (unsigned i = 0; i < processes.all->len; i++) {
                Process *process = processes.all->pdata[i];

                if (process->pid == pid)
                        return process;
        }

        return NULL;
}

static void process_end(Process *process, int code, int status) {
        const uint64_t one = 1;

        if (process->code != 0)
                return;

        trace("process %i ends: %i, %i", process->pid - FIRST, code, status);
        process->code = code;
        process->status = status;
        if (write(process->our_fd, &one, sizeof(one)) < 0)
                g_error("cannot tell of the end of a process");
}

typedef struct Plan {
        pid_t pid;
        int status;
} Plan;

static void on_exit_due(void *userdata) {
        g_autofree Plan *plan = userdata;
        Process *process = find_pid(plan->pid);

        if (process)
                process_end(process, CLD_EXITED, plan->status);
}

static Process *process_new(void) {
        Process *process = g_new0(Process, 1);

        process->pid = ++processes.last;
        process->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        process->our_fd = fcntl(process->fd, F_DUPFD_CLOEXEC, 100);
        g_ptr_array_add(processes.all, process);
        return process;
}

static void plan_exit(const Process *process, unsigned tree, unsigned node) {
        Dice dice = dice_of(processes.seed, (uint64_t) tree << 32 | node, 20, ledger_n_begun(tree, node));
        Plan *plan = g_new(Plan, 1);

        *plan = (Plan){ .pid = process->pid, .status = dice_chance(&dice, 25) ? 3 : 0 };
        event_queue_add(100 + dice_below(&dice, dice_chance(&dice, 20) ? 1000000 : 20000), on_exit_due, plan, g_free);
}

int process_start(const ProcessSpec *spec, pid_t *ret_pid, int *ret_pidfd, char **ret_error) {
        unsigned tree = (unsigned) atoi(spec->argv[1]), node = (unsigned) atoi(spec->argv[2]);
        const Process *process = process_new();

        *ret_pid = process->pid;
        *ret_pidfd = process->fd;
        if (kernel_takes_place("clone")) {
                ledger_effect(tree, node, "process");
                plan_exit(process, tree, node);
        }
        return 0;
}

int process_user_find(const char *user, const char *group, ProcessUser *ret_user, char **ret_error) {
        *ret_user = (ProcessUser){};
        return 0;
}

void process_user_clear(ProcessUser *user) {}

/* No process outlives the daemon here, and no real one has such a PID. */
int process_find_start(pid_t pid, uint64_t *ret_ticks) {
        *ret_ticks = 0;
        return 0;
}

/* Each child of the daemon has its own process group. */
int kill(pid_t pid, int number) {
        Process *process;

        if (-pid < FIRST)
                return (int) syscall(SYS_kill, pid, number);

        process = find_pid(-pid);
        if (process && !kernel_was_killed() && (number == SIGTERM || number == SIGKILL))
                process_end(process, CLD_KILLED, number);
        return 0;
}

int waitid(idtype_t type, id_t id, siginfo_t *ret_info, int options) {
        *ret_info = (siginfo_t){ 0 };
        for (unsigned i = 0; i < processes.all->len; i++) {
                Process *process = processes.all->pdata[i];

                if (process->fd != (int) id || process->code == 0)
                        continue;

                ret_info->si_pid = process->pid;
                ret_info->si_code = process->code;
                ret_info->si_status = process->status;
                g_ptr_array_remove_index(processes.all, i);
                return 0;
        }

        return 0;
}

void processes_open(uint64_t seed) {
        processes.seed = seed;
        processes.last = FIRST;
        processes.all = g_ptr_array_new_with_free_func(process_free);
}

void processes_close(void) {
        g_clear_pointer(&processes.all, g_ptr_array_unref);
}

void processes_end(void) {
        g_ptr_array_set_size(processes.all, 0);
}
