/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The system calls whose effects outlast the daemon: it writes files, changes directories, and sends messages. At each
 * of them the daemon can be killed: before the call, after it, or in the middle of a write.
 *
 * A killed daemon continues until the next turn of its main loop, because its memory must be freed; but its system
 * calls have no effects any more.
 */

#include <stdbool.h>
#include <stdint.h>

#include "dice.h"

typedef enum Disk {
        DISK_FINE,
        DISK_FULL,
        DISK_READ_ONLY,
} Disk;

/* Tells the world about files, by their full paths. */
typedef struct KernelHooks {
        void (*opened)(const char *path);
        void (*written)(const char *path, const char *bytes, uint64_t n);
        void (*renamed)(const char *from, const char *to);
        void (*removed)(const char *path);
        void (*failed)(const char *path); /* the write failed */
        void (*sent)(void);
} KernelHooks;

/* root: other files are ignored. Borrowed, as are the hooks. */
void kernel_open(const char *root, const KernelHooks *hooks, Dice dice);

/* Reserves these descriptors for those that the daemon is handed. */
void kernel_keep(int first, int n);

/* Between these two calls, the daemon runs; otherwise the world does. */
void kernel_enter(void);
void kernel_leave(void);

/* Kills the daemon after this number of calls; UINT64_MAX: never. */
void kernel_kill_after(uint64_t calls);
bool kernel_was_killed(void);
/* The next daemon begins. */
void kernel_revive(void);

/* For another lasting effect: does it take place? */
bool kernel_takes_place(const char *call);

void kernel_set_disk(Disk disk);
/* The same for the disk of the history alone; nothing is lost by it, so the hook is not told. */
void kernel_set_history_disk(Disk disk);
/* The directories "run" and "state" are on different file systems. */
void kernel_set_far(bool far);
/* The percentage of sent messages that must wait. */
void kernel_set_slow(unsigned percent);
/* The number of calls so far. */
uint64_t kernel_calls(void);
