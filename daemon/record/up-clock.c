/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Adds a difference to CLOCK_BOOTTIME, which all daemons of a boot share. */

#include <assert.h>

#include "basic/boot-file.h"
#include "basic/cleanup.h"
#include "record/up-clock.h"

#define FILE_NAME "clock"
#define DAY_USEC (UINT64_C(86400) * G_USEC_PER_SEC)

struct UpClock {
        Timers *timers;
        char *directory;
        uint64_t ahead; /* of CLOCK_BOOTTIME */
};

UpClock *up_clock_new(Timers *timers, const char *directory) {
        UpClock *clock = g_new(UpClock, 1);

        *clock = (UpClock){ .timers = timers, .directory = g_strdup(directory) };
        return clock;
}

void up_clock_free(UpClock *clock) {
        if (!clock)
                return;

        g_free(clock->directory);
        g_free(clock);
}

void up_clock_open(UpClock *clock) {
        g_autoptr(json_object) stored = boot_file_read(clock->directory, FILE_NAME);

        if (json_object_is_type(stored, json_type_int))
                clock->ahead = json_object_get_uint64(stored);
}

void up_clock_pass(UpClock *clock, uint64_t time) {
        uint64_t now = up_clock_now(clock);

        if (now > time)
                return;

        clock->ahead += time + 1 - now;
        boot_file_write(clock->directory, FILE_NAME, json_object_new_uint64(clock->ahead));
        assert(up_clock_now(clock) > time);
}

uint64_t up_clock_now(const UpClock *clock) {
        return timers_now(clock->timers, TIMER_BOOTTIME) + clock->ahead;
}

uint64_t up_clock_days_ago(const UpClock *clock, unsigned days) {
        uint64_t now = up_clock_now(clock);

        return now - MIN(now, days * DAY_USEC);
}
