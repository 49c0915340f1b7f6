/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Returns unused memory after a pause, not each time, because it takes about a millisecond per 10 MiB. */

#include <malloc.h>

#include "memory.h"

#define PAUSE_USEC (UINT64_C(2) * G_USEC_PER_SEC)

/* Allocations of this size are returned as soon as they are freed. It is the default; but glibc raises it by itself
 * unless it is set. */
#define LARGE (128 * 1024)

struct Memory {
        Timers *timers;
        Manager *manager;
        Timer *pause; /* NULL: nothing was freed since */
};

static void on_pause_over(void *userdata) {
        Memory *memory = userdata;

        g_clear_pointer(&memory->pause, timer_free);
        malloc_trim(0);
}

static void schedule(Memory *memory) {
        if (!memory->pause)
                memory->pause = timer_new(memory->timers, PAUSE_USEC, on_pause_over, memory);
}

static void on_run_finished(Run *run, void *userdata) {
        schedule(userdata);
}

static void on_reloaded(const GPtrArray *messages, void *userdata) {
        schedule(userdata);
}

static const ManagerObserver observer = {
        .run_finished = on_run_finished,
        .run_removed = on_run_finished,
        .reloaded = on_reloaded,
};

Memory *memory_new(Timers *timers, Manager *manager) {
        Memory *memory = g_new0(Memory, 1);

        (void) mallopt(M_MMAP_THRESHOLD, LARGE);
        memory->timers = timers;
        memory->manager = manager;
        manager_observe(manager, &observer, memory);
        return memory;
}

void memory_free(Memory *memory) {
        if (!memory)
                return;

        manager_unobserve(memory->manager, &observer, memory);
        timer_free(memory->pause);
        g_free(memory);
}
