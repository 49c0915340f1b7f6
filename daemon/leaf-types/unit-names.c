/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The names come from the tables of systemd: unit-def.c, *_result_table in service.c, socket.c, mount.c and so on, and
 * job_result_table in job.c. */

#include <glib.h>
#include <string.h>

#include "leaf-types/unit-names.h"

const char *const unit_up_states[] = { "active", "reloading", "refreshing", NULL };

const char *const unit_active_states[] = {
        "active",   "reloading", "refreshing", /* 257 */
        "inactive", "failed",    "activating", "deactivating", "maintenance", NULL,
};

const char *const unit_load_states[] = {
        "loaded", "not-found", "masked", "bad-setting", "error", "merged", "stub", NULL,
};

/* The sub states of all types of units. A name that several types share is here once. */
const char *const unit_sub_states[] = {
        /* several types */
        "dead", "running", "waiting", "active", "failed", "cleaning",
        /* services */
        "condition", "start-pre", "start", "start-post", "exited", "reload", "reload-signal", "reload-notify",
        "reload-post", "refresh-extensions", "refresh-credentials", "mounting", "stop", "stop-watchdog", "stop-sigterm",
        "stop-sigkill", "stop-post", "final-watchdog", "final-sigterm", "final-sigkill", "dead-before-auto-restart",
        "failed-before-auto-restart", "dead-resources-pinned", "auto-restart", "auto-restart-queued",
        /* sockets, and scopes */
        "start-open", "start-chown", "listening", "deferred", "stop-pre", "stop-pre-sigterm", "stop-pre-sigkill",
        "abandoned",
        /* mounts, swaps, devices and timers */
        "mounting-done", "mounted", "remounting", "unmounting", "remounting-sigterm", "remounting-sigkill",
        "unmounting-sigterm", "unmounting-sigkill", "activating", "activating-done", "deactivating",
        "deactivating-sigterm", "deactivating-sigkill", "tentative", "plugged", "elapsed", NULL
};

const char *const unit_results[] = { "success", "exit-code", "signal", "core-dump", "timeout", "watchdog", "oom-kill",
                                     "protocol", "resources", "exec-condition", "start-limit-hit",
                                     /* sockets, paths and automounts */
                                     "trigger-limit-hit", "service-start-limit-hit", "unit-start-limit-hit",
                                     "mount-start-limit-hit", "unmounted", NULL };

typedef struct Words {
        const char *name, *text;
} Words;

static const Words unit_result_words[] = {
        { "exit-code", "one of its commands failed" },
        { "signal", "one of its commands was killed" },
        { "core-dump", "one of its commands crashed" },
        { "timeout", "it took longer than its time limits allow" },
        { "watchdog", "it did not notify its watchdog in time" },
        { "oom-kill", "memory ran out and it was killed" },
        { "protocol", "it did not report its start as its Type= requires" },
        { "resources", "a resource that it needs was not available, see its journal" },
        { "exec-condition", "its ExecCondition= was not met" },
        { "start-limit-hit", "it was started too often in a short time" },
        { "trigger-limit-hit", "it was triggered too often in a short time" },
        { "service-start-limit-hit", "its service was started too often in a short time" },
        { "unit-start-limit-hit", "its unit was started too often in a short time" },
        { "mount-start-limit-hit", "its mount was started too often in a short time" },
        { "unmounted", "its mount point was unmounted by someone else" },
};

static const Words job_result_words[] = {
        { "canceled", "the job was cancelled" },
        { "dependency", "a unit that it requires failed" },
        { "skipped", "the job does not apply to the state that it is in" },
        { "invalid", "the job does not apply to the state that it is in" },
        { "assert", "one of its assertions was not met" },
        { "unsupported", "this system does not support units of its type" },
        { "collected", "it was unloaded before its turn came" },
        { "once", "it can be started only once" },
        { "frozen", "it is frozen; thaw it first, see 'systemctl thaw'" },
        { "concurrency", "its slice runs as many units as its ConcurrencyHardMax= allows" },
};

static const char *words_find(const Words *words, size_t n_words, const char *name) {
        for (size_t i = 0; i < n_words; i++)
                if (g_strcmp0(words[i].name, name) == 0)
                        return words[i].text;

        return NULL;
}

const char *unit_result_text(const char *result) {
        return words_find(unit_result_words, G_N_ELEMENTS(unit_result_words), result);
}

const char *job_result_text(const char *result) {
        return words_find(job_result_words, G_N_ELEMENTS(job_result_words), result);
}

bool unit_state_is_up(const char *active_state) {
        return active_state && g_strv_contains(unit_up_states, active_state);
}

bool unit_sub_state_restarts(const char *sub_state) {
        static const char *const states[] = { "auto-restart", "auto-restart-queued", "failed-before-auto-restart",
                                              "dead-before-auto-restart", NULL };

        return sub_state && g_strv_contains(states, sub_state);
}

/* A parameter of UnitState, and the names that it can have. */
typedef struct Names {
        const char *const *names;
        const char *parameter, *what;
} Names;

static const Names active = { unit_active_states, "state", "active state" },
                   load = { unit_load_states, "load_state", "load state" },
                   sub = { unit_sub_states, "sub_state", "sub state" }, result = { unit_results, "result", "result" };

static char *names_problem(const Names *names, const char *text) {
        static const Names *const all[] = { &active, &sub, &load, &result };

        if (g_strv_contains(names->names, text))
                return NULL;

        for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
                if (g_strv_contains(all[i]->names, text))
                        return g_strdup_printf("\"%s\" is no %s; write it as '%s'", text, names->what,
                                               all[i]->parameter);

        return text[0] && text[strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-")] == 0
                       ? NULL
                       : g_strdup_printf("\"%s\" is no %s: it may have small letters, digits and \"-\"", text,
                                         names->what);
}

static char *names_trap(const Names *names, const char *text) {
        static const char *const enabled[] = { "enabled", "disabled", "static", NULL };
        static const char *const down[] = { "stopped", "down", "off", "dead", NULL }, *const up[] = { "up", "started",
                                                                                                      "on", "ok",
                                                                                                      NULL };
        const char *meant = names != &active              ? NULL
                            : g_strv_contains(down, text) ? "inactive"
                            : g_strv_contains(up, text)   ? "active"
                                                          : NULL;

        if (g_strv_contains(names->names, text))
                return NULL;
        if (g_strv_contains(enabled, text))
                return g_strdup_printf(
                        "\"%s\" says whether a unit is started at boot, and not how it is now; a Command "
                        "can run [\"systemctl\", \"is-enabled\", \"UNIT\"]",
                        text);

        return g_strdup_printf("no systemd up to version %i has the %s \"%s\"%s%s%s", UNIT_NAMES_VERSION, names->what,
                               text, meant ? "; did you mean \"" : "", meant ?: "", meant ? "\"?" : "");
}

static char *active_state_problem(const char *text) {
        return names_problem(&active, text);
}

static char *active_state_trap(const char *text) {
        return names_trap(&active, text);
}

static char *load_state_problem(const char *text) {
        return names_problem(&load, text);
}

static char *load_state_trap(const char *text) {
        return names_trap(&load, text);
}

static char *sub_state_problem(const char *text) {
        return names_problem(&sub, text);
}

static char *sub_state_trap(const char *text) {
        return names_trap(&sub, text);
}

static char *unit_result_problem(const char *text) {
        return names_problem(&result, text);
}

static char *unit_result_trap(const char *text) {
        return names_trap(&result, text);
}

const TextFormat active_state_format = { .name = "an active state",
                                         .problem = active_state_problem,
                                         .trap = active_state_trap },
                 load_state_format = { .name = "a load state", .problem = load_state_problem, .trap = load_state_trap },
                 sub_state_format = { .name = "a sub state", .problem = sub_state_problem, .trap = sub_state_trap },
                 unit_result_format = { .name = "the result of a unit",
                                        .problem = unit_result_problem,
                                        .trap = unit_result_trap };
