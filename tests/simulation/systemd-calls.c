/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Implements the D-Bus methods of the simulated systemd. */

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "basic/cleanup.h"
#include "event-queue.h"
#include "ledger.h"
#include "systemd-state.h"
#include "trace.h"

#define REFUSAL_USEC 100u
#define UNIT_PREFIX "/org/freedesktop/systemd1/unit"

static void reply_empty(Link *link, sd_bus_message *call) {
        bus_reply(link, bus_reply_new(call));
}

static void reply_job(Link *link, sd_bus_message *call, unsigned job) {
        sd_bus_message *reply = bus_reply_new(call);
        char path[64];

        (void) snprintf(path, sizeof(path), JOB_PREFIX "%u", job);
        (void) sd_bus_message_append(reply, "o", path);
        bus_reply(link, reply);
}

typedef struct Refusal {
        Link *link;
        sd_bus_message *call;
        const char *name, *text;
} Refusal;

static void refusal_free(void *data) {
        Refusal *refusal = data;

        link_unref(refusal->link);
        sd_bus_message_unref(refusal->call);
        g_free(refusal);
}

static void on_refused(void *userdata) {
        Refusal *refusal = userdata;

        bus_reply_error(refusal->link, refusal->call, refusal->name, refusal->text);
        refusal_free(refusal);
}

/* Refuses after a delay, so that other requests of the same time are sent before the failure is known, whenever a
 * daemon dies. */
static void refuse(Link *link, sd_bus_message *call, const char *name, const char *text) {
        Refusal *refusal = g_new(Refusal, 1);

        *refusal = (Refusal){
                .link = link_ref(link),
                .call = sd_bus_message_ref(call),
                .name = name,
                .text = text,
        };
        event_queue_add(REFUSAL_USEC, on_refused, refusal, refusal_free);
}

static bool is_loaded(const LoadedUnit *unit) {
        return unit->kind != KIND_NONE;
}

static void on_job_wanted(Link *link, sd_bus_message *call, const char *type) {
        const char *name;
        LoadedUnit *unit;

        if (sd_bus_message_read(call, "ss", &name, NULL) < 0)
                return;

        unit = systemd_unit(name);
        if (unit->kind == KIND_NEVER && ledger_is_strict(unit->tree))
                violation("%s was asked for: a unit that is always active was taken for another", name);
        if (!is_loaded(unit))
                refuse(link, call, "org.freedesktop.systemd1.NoSuchUnit", "The unit is not loaded.");
        else if (g_str_equal(type, "reload") && !g_str_equal(unit->active, "active"))
                refuse(link, call, "org.freedesktop.systemd1.JobTypeNotApplicable",
                       "Job type reload is not applicable for the unit.");
        else
                reply_job(link, call, systemd_ask(name, type, link));
}

/* The descriptor for its output, if there is one. */
static int read_output(sd_bus_message *call) {
        const char *property, *contents;
        int output = -1, fd;

        if (sd_bus_message_enter_container(call, 'a', "(sv)") < 0)
                return -1;

        while (sd_bus_message_enter_container(call, 'r', "sv") > 0) {
                if (sd_bus_message_read(call, "s", &property) < 0 ||
                    sd_bus_message_peek_type(call, NULL, &contents) < 0)
                        break;
                if (g_str_equal(property, "StandardOutputFileDescriptor") &&
                    sd_bus_message_read(call, "v", "h", &fd) >= 0)
                        output = fcntl(fd, F_DUPFD_CLOEXEC, 100);
                else if (sd_bus_message_skip(call, "v") < 0)
                        break;
                (void) sd_bus_message_exit_container(call);
        }

        return output;
}

static void on_transient(Link *link, sd_bus_message *call) {
        const char *name;
        LoadedUnit *unit;

        if (sd_bus_message_read(call, "ss", &name, NULL) < 0)
                return;

        unit = systemd_unit(name);
        if (is_loaded(unit)) {
                bus_reply_error(link, call, "org.freedesktop.systemd1.UnitExists", "The unit is there already.");
                return;
        }

        unit->kind = KIND_TRANSIENT;
        unit->output = read_output(call);
        reply_job(link, call, systemd_ask(name, "start", link));
}

static void on_load(Link *link, sd_bus_message *call) {
        sd_bus_message *reply = bus_reply_new(call);
        const char *name;

        if (sd_bus_message_read(call, "s", &name) >= 0)
                (void) sd_bus_message_append(reply, "o", systemd_unit(name)->path);
        bus_reply(link, reply);
}

static void on_reset_failed(Link *link, sd_bus_message *call) {
        const char *name;

        if (sd_bus_message_read(call, "s", &name) < 0)
                return;

        systemd_reset(systemd_unit(name));
        reply_empty(link, call);
}

/* Ref loads the unit. Only the holder can Unref it. The references of a connection end when it is lost. */
static void on_reference(Link *link, sd_bus_message *call, bool wanted) {
        g_autofree char *name = NULL;

        if (!link_is_open(link))
                return;
        if (sd_bus_path_decode(sd_bus_message_get_path(call), UNIT_PREFIX, &name) <= 0 ||
            !systemd_refer(systemd_unit(name), link, wanted))
                violation("%s lets go what it does not hold: %s", link_unique(link), name);
        reply_empty(link, call);
}

/* The daemon uses only one pattern: all transient units. */
static void on_list(Link *link, sd_bus_message *call) {
        g_autoptr(GList) units = systemd_units();
        sd_bus_message *reply = bus_reply_new(call);

        (void) sd_bus_message_open_container(reply, 'a', "(ssssssouso)");
        for (GList *i = units; i; i = i->next) {
                const LoadedUnit *unit = i->data;

                if (unit->kind == KIND_TRANSIENT)
                        (void) sd_bus_message_append(reply, "(ssssssouso)", unit->name, "", "loaded", unit->active,
                                                     unit->sub, "", unit->path, 0u, "", "/");
        }
        (void) sd_bus_message_close_container(reply);
        bus_reply(link, reply);
}

static void on_cancel(Link *link, sd_bus_message *call) {
        unsigned job;

        if (sscanf(sd_bus_message_get_path(call), JOB_PREFIX "%u", &job) == 1 && systemd_cancel(job))
                reply_empty(link, call);
        else
                bus_reply_error(link, call, SD_BUS_ERROR_UNKNOWN_OBJECT, "Unknown object");
}

static void on_get(Link *link, sd_bus_message *call) {
        sd_bus_message *reply = bus_reply_new(call);
        g_autofree char *name = NULL;
        const char *property;

        (void) sd_bus_message_read(call, "ss", NULL, &property);
        if (g_str_equal(property, "SystemState"))
                (void) sd_bus_message_append(reply, "v", "s", "running");
        else if (sd_bus_path_decode(sd_bus_message_get_path(call), UNIT_PREFIX, &name) > 0)
                (void) loaded_unit_append_property(systemd_unit(name), property, reply);
        bus_reply(link, reply);
}

static void on_get_all(Link *link, sd_bus_message *call) {
        sd_bus_message *reply = bus_reply_new(call);
        g_autofree char *name = NULL;

        if (sd_bus_path_decode(sd_bus_message_get_path(call), UNIT_PREFIX, &name) > 0)
                loaded_unit_append_all(systemd_unit(name), reply);
        bus_reply(link, reply);
}

void systemd_called(Link *link, sd_bus_message *call) {
        const char *member = sd_bus_message_get_member(call);

        if (g_str_equal(member, "Get"))
                on_get(link, call);
        else if (g_str_equal(member, "GetAll"))
                on_get_all(link, call);
        else if (g_str_equal(member, "StartUnit"))
                on_job_wanted(link, call, "start");
        else if (g_str_equal(member, "StopUnit"))
                on_job_wanted(link, call, "stop");
        else if (g_str_equal(member, "RestartUnit"))
                on_job_wanted(link, call, "restart");
        else if (g_str_equal(member, "ReloadUnit"))
                on_job_wanted(link, call, "reload");
        else if (g_str_equal(member, "StartTransientUnit"))
                on_transient(link, call);
        else if (g_str_equal(member, "ListUnitsByPatterns"))
                on_list(link, call);
        else if (g_str_equal(member, "LoadUnit"))
                on_load(link, call);
        else if (g_str_equal(member, "Cancel"))
                on_cancel(link, call);
        else if (g_str_equal(member, "Subscribe") || g_str_equal(member, "Unsubscribe")) {
                systemd_subscribe(link, g_str_equal(member, "Subscribe"));
                reply_empty(link, call);
        } else if (g_str_equal(member, "ResetFailedUnit"))
                on_reset_failed(link, call);
        else if (g_str_equal(member, "Ref") || g_str_equal(member, "Unref"))
                on_reference(link, call, g_str_equal(member, "Ref"));
        else
                violation("systemd was asked for %s", member);
}
