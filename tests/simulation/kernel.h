/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The system calls by which the daemon does something that outlasts it: what it writes into files, what it does to
 * directories, and what it sends. Each of them is a moment at which it can be killed: before it, after it, or, of a
 * write, in the middle.
 *
 * A daemon that was killed goes on until its main loop has the next turn, since its memory has to be freed; but from
 * then on nothing of what it does takes place.
 */

#include <stdbool.h>
#include <stdint.h>

#include "dice.h"

typedef enum Disk {
        DISK_FINE,
        DISK_FULL,
        DISK_READ_ONLY,
} Disk;

/* What the world sees of files, by their whole paths. */
typedef struct KernelHooks {
        void (*opened)(const char *path);
        void (*written)(const char *path, const char *bytes, uint64_t n);
        void (*renamed)(const char *from, const char *to);
        void (*removed)(const char *path);
        void (*failed)(const char *path); /* the disk did not take it */
        void (*sent)(void);
} KernelHooks;

/* root: only files below it are of interest. Borrowed, as are the hooks. */
void kernel_open(const char *root, const KernelHooks *hooks, Dice dice);

/* So many descriptors, from the first, are for what the daemon is handed, and free for nothing else. */
void kernel_keep(int first, int n);

/* The daemon is at work, or the world is. */
void kernel_enter(void);
void kernel_leave(void);

/* It will be killed at one of its next calls: UINT64_MAX: never. */
void kernel_kill_after(uint64_t calls);
bool kernel_was_killed(void);
/* Another daemon begins. */
void kernel_revive(void);

/* Something else that lasts is about to be done: does it take place? */
bool kernel_takes_place(const char *call);

void kernel_set_disk(Disk disk);
/* So many percent of what is sent has to wait for its turn. */
void kernel_set_slow(unsigned percent);
/* How many calls there were. */
uint64_t kernel_calls(void);
