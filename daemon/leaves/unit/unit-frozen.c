/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The kernel freezes all processes below a frozen slice, also those that are started later. The state of such a unit
 * does not show it: up to systemd 255, it is "frozen" only if the unit was up when its slice was frozen. So the states
 * of its slices are read, too, one by one from the outermost, which has to be thawed first.
 */

#include <string.h>

#include "basic/cleanup.h"
#include "leaf-types/unit.h"
#include "leaves/unit/systemd.h"
#include "leaves/unit/unit-frozen.h"

#define WATCH_USEC (UINT64_C(1000) * 1000)
#define WATCH_USEC_MAX (32 * WATCH_USEC)

struct FrozenSearch {
        Connection *connection;
        GPtrArray *units; /* to read, the last one first */
        Call *call;
        FrozenKnown known;
        void *userdata;
};

static void read_next(FrozenSearch *search);

static void on_state(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        FrozenSearch *search = userdata;
        GPtrArray *units = search->units;
        const char *state;

        /* "frozen", "frozen-by-parent", or the state before that: "freezing". */
        if (reply && sd_bus_message_read(reply, "v", "s", &state) >= 0 &&
            (g_str_has_prefix(state, "frozen") || g_str_has_prefix(state, "freezing"))) {
                search->known(g_ptr_array_index(units, units->len - 1), search->userdata);
                return;
        }

        g_ptr_array_set_size(units, (int) units->len - 1);
        read_next(search);
}

static void read_next(FrozenSearch *search) {
        GPtrArray *units = search->units;
        g_autofree char *path = units->len > 0 ? unit_name_path(g_ptr_array_index(units, units->len - 1)) : NULL;

        if (!path) {
                search->known(NULL, search->userdata);
                return;
        }

        call_free(search->call);
        search->call = systemd_get(search->connection, path, SYSTEMD_UNIT, "FreezerState", on_state, search);
}

/* The name of a slice tells which slices it is in: "a-b.slice" is in "a.slice". */
static void on_slice(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        FrozenSearch *search = userdata;
        const char *slice = "";
        g_autofree char *stem = NULL;

        if (reply && sd_bus_message_read(reply, "v", "s", &slice) >= 0 && g_str_has_suffix(slice, ".slice"))
                stem = g_strndup(slice, strlen(slice) - strlen(".slice"));
        for (char *dash = stem; dash && *stem; *dash = 0) {
                g_ptr_array_add(search->units, g_strconcat(stem, ".slice", NULL));
                dash = strrchr(stem, '-') ?: stem;
        }
        read_next(search);
}

/* Units that have processes have an interface for their type, with the slice: "org.freedesktop.systemd1.Service". */
FrozenSearch *frozen_search_new(Connection *connection, const char *unit, FrozenKnown known, void *userdata) {
        FrozenSearch *search = g_new(FrozenSearch, 1);
        const char *type = strrchr(unit, '.') + 1;
        g_autofree char *path = unit_name_path(unit),
                        *interface = g_strdup_printf(SYSTEMD_NAME ".%c%s", g_ascii_toupper(*type), type + 1);

        *search = (FrozenSearch){
                .connection = connection,
                .units = g_ptr_array_new_with_free_func(g_free),
                .known = known,
                .userdata = userdata,
        };
        g_ptr_array_add(search->units, g_strdup(unit));
        search->call = systemd_get(connection, path, interface, "Slice", on_slice, search);
        return search;
}

void frozen_search_free(FrozenSearch *search) {
        if (!search)
                return;

        call_free(search->call);
        g_ptr_array_unref(search->units);
        g_free(search);
}

struct FrozenWatch {
        Connection *connection;
        Timers *timers;
        char *unit, *found;
        FrozenSearch *search;
        Timer *timer;
        uint64_t usec; /* until the next search */
};

static void on_due(void *userdata);

static void watch_wait(FrozenWatch *watch) {
        watch->timer = timer_new(watch->timers, watch->usec, on_due, watch);
        watch->usec = MIN(watch->usec * 2, WATCH_USEC_MAX);
}

static void on_known(const char *frozen, void *userdata) {
        FrozenWatch *watch = userdata;

        g_free(watch->found);
        watch->found = g_strdup(frozen);
        g_clear_pointer(&watch->search, frozen_search_free);
        watch_wait(watch);
}

static void on_due(void *userdata) {
        FrozenWatch *watch = userdata;

        g_clear_pointer(&watch->timer, timer_free);
        watch->search = frozen_search_new(watch->connection, watch->unit, on_known, watch);
}

FrozenWatch *frozen_watch_new(Connection *connection, Timers *timers, const char *unit) {
        FrozenWatch *watch = g_new(FrozenWatch, 1);

        *watch = (FrozenWatch){
                .connection = connection,
                .timers = timers,
                .unit = g_strdup(unit),
                .usec = WATCH_USEC,
        };
        watch_wait(watch);
        return watch;
}

const char *frozen_watch_found(const FrozenWatch *watch) {
        return watch ? watch->found : NULL;
}

void frozen_watch_free(FrozenWatch *watch) {
        if (!watch)
                return;

        frozen_search_free(watch->search);
        timer_free(watch->timer);
        g_free(watch->unit);
        g_free(watch->found);
        g_free(watch);
}
