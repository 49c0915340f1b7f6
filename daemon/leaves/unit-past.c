/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Each start of a unit has an invocation ID of its own: with another one than before, the unit has been started since.
 * A oneshot service that has done its work is forgotten, and its ID with it; then it was started if the request was
 * heard. What is forgotten is also whether its conditions were met.
 */

#include "leaves/unit-past.h"
#include "basic/cleanup.h"
#include "bus/names.h"
#include "leaves/systemd.h"
#include "leaves/unit-watch.h"

struct UnitPast {
        Connection *connection;
        UnitVerb verb;
        char *invocation;
        uint64_t changed;
        bool begun; /* it was asked for, or about to be */
        bool conditional, sent, heard;
        char *manager; /* to which systemd it was sent, or NULL */
        char *bus;     /* over which bus */
        NameUse systemd;
        bool cancelled; /* the job is not wanted any more */
        UnitWatch *watch;
        const UnitPastCallbacks *callbacks;
        void *userdata;
};

json_object *unit_past_remember(const UnitFacts *before, bool conditional, const UnitRequest *request) {
        json_object *memory = json_object_new_object();

        if (before->invocation_id)
                json_object_object_add(memory, "invocation", json_object_new_string(before->invocation_id));
        if (before->changed > 0)
                json_object_object_add(memory, "changed", json_object_new_uint64(before->changed));
        json_object_object_add(memory, "conditional", json_object_new_boolean(conditional));
        json_object_object_add(memory, "sent", json_object_new_boolean(request->sent));
        json_object_object_add(memory, "heard", json_object_new_boolean(request->heard));
        if (request->manager && request->bus) {
                json_object_object_add(memory, "manager", json_object_new_string(request->manager));
                json_object_object_add(memory, "bus", json_object_new_string(request->bus));
        }
        if (request->name) {
                json_object_object_add(memory, "name", json_object_new_string(request->name));
                json_object_object_add(memory, "serial", json_object_new_uint64(request->serial));
        }
        return memory;
}

static json_object *member(json_object *memory, const char *name) {
        json_object *value = NULL;

        json_object_object_get_ex(memory, name, &value);
        return value;
}

bool unit_past_is_open(json_object *memory) {
        return member(memory, "name");
}

JobSearch *unit_past_search(json_object *memory, JobReplies *replies, JobSearchDone done, void *userdata) {
        return job_search_new(replies, json_object_get_string(member(memory, "name")),
                              json_object_get_uint64(member(memory, "serial")), done, userdata);
}

json_object *unit_past_settle(json_object *memory, JobFate fate) {
        json_object *settled = NULL;

        if (json_object_deep_copy(memory, &settled, NULL) < 0)
                g_error("cannot copy what is kept in mind"); /* no memory: as with g_new() */

        json_object_object_del(settled, "name");
        json_object_object_del(settled, "serial");
        json_object_object_add(settled, "sent", json_object_new_boolean(fate != JOB_NEVER_SENT));
        json_object_object_add(settled, "heard", json_object_new_boolean(fate == JOB_WAS_HEARD));
        return settled;
}

static bool is(const char *fact, const char *value) {
        return g_strcmp0(fact, value) == 0;
}

static bool is_active(const UnitFacts *facts) {
        return is(facts->active_state, "active") || is(facts->active_state, "reloading");
}

static bool was_started_since(const UnitPast *past, const UnitFacts *facts) {
        return facts->invocation_id && !is(facts->invocation_id, past->invocation);
}

/* systemd is the one that it was when the request was sent to it, and the bus as well, so it has been there to hear. */
static bool was_heard(const UnitPast *past) {
        g_autofree char *bus = connection_bus_id(past->connection);

        return past->heard || (past->manager && is(name_owner(&past->systemd), past->manager) && is(bus, past->bus));
}

static UnitPastVerdict judge_start(const UnitPast *past, const UnitFacts *facts) {
        if (was_started_since(past, facts) || (past->verb == UNIT_START && is_active(facts)))
                return UNIT_PAST_DONE;
        if (!past->sent || facts->invocation_id || !is(facts->load_state, "loaded"))
                return UNIT_PAST_TO_DO;

        return was_heard(past) && !past->conditional ? UNIT_PAST_DONE : UNIT_PAST_UNKNOWN;
}

static UnitPastVerdict judge(const UnitPast *past, const UnitFacts *facts) {
        if (!past->begun)
                return UNIT_PAST_TO_DO;

        switch (past->verb) {
        case UNIT_STOP:
                return is(facts->active_state, "inactive") || is(facts->active_state, "failed") ||
                                       (past->sent && was_started_since(past, facts))
                               ? UNIT_PAST_DONE
                               : UNIT_PAST_TO_DO;
        case UNIT_RELOAD:
                return past->sent && facts->changed != past->changed ? UNIT_PAST_DONE : UNIT_PAST_TO_DO;
        default:
                return judge_start(past, facts);
        }
}

static void on_ready(void *userdata) {
        const UnitPast *past = userdata;

        unit_watch_read(past->watch);
}

static void cancel_job(const UnitPast *past) {
        const UnitFacts *facts = unit_watch_facts(past->watch);
        g_autoptr(sd_bus_message) message =
                systemd_message(past->connection, facts->job_path, SYSTEMD_JOB, "Cancel", NULL);

        systemd_send(past->connection, message);
}

/* Signals may come before all of it has been read. */
static void on_changed(void *userdata) {
        const UnitPast *past = userdata;
        UnitFacts *facts = unit_watch_facts(past->watch);

        if (facts->load_state && facts->job == 0)
                past->callbacks->known(judge(past, facts), facts, past->userdata);
        else if (facts->job > 0 && past->cancelled)
                cancel_job(past);
}

/* What is lost comes again, and the watch tells. */
static void on_failed(const sd_bus_error *error, void *userdata) {
        const UnitPast *past = userdata;

        if (!sd_bus_error_has_names(error, SD_BUS_ERROR_NO_REPLY, SD_BUS_ERROR_DISCONNECTED,
                                    SD_BUS_ERROR_SERVICE_UNKNOWN, SD_BUS_ERROR_NAME_HAS_NO_OWNER))
                past->callbacks->failed(error, past->userdata);
}

/* The watch tells when there is something to be asked of another. */
static void on_owner_changed(void *userdata) {}

UnitPast *unit_past_new(Connection *connection, const char *path, UnitVerb verb, json_object *memory,
                        const UnitPastCallbacks *callbacks, void *userdata) {
        static const UnitWatchCallbacks watch_callbacks = {
                .ready = on_ready,
                .changed = on_changed,
                .failed = on_failed,
        };
        UnitPast *past = g_new(UnitPast, 1);

        *past = (UnitPast){
                .connection = connection,
                .verb = verb,
                .begun = memory,
                .invocation = g_strdup(json_object_get_string(member(memory, "invocation"))),
                .changed = json_object_get_uint64(member(memory, "changed")),
                .conditional = json_object_get_boolean(member(memory, "conditional")),
                .sent = json_object_get_boolean(member(memory, "sent")),
                .heard = json_object_get_boolean(member(memory, "heard")),
                .manager = g_strdup(json_object_get_string(member(memory, "manager"))),
                .bus = g_strdup(json_object_get_string(member(memory, "bus"))),
                .systemd.follower = { .changed = on_owner_changed },
                .callbacks = callbacks,
                .userdata = userdata,
        };
        name_use(connection_names(connection), &past->systemd, SYSTEMD_NAME);
        past->watch = unit_watch_new(connection, path, &watch_callbacks, past);
        return past;
}

void unit_past_free(UnitPast *past) {
        if (!past)
                return;

        unit_watch_free(past->watch);
        name_leave(&past->systemd);
        g_free(past->manager);
        g_free(past->bus);
        g_free(past->invocation);
        g_free(past);
}

void unit_past_cancel(UnitPast *past) {
        past->cancelled = true;
        if (unit_watch_facts(past->watch)->job > 0)
                cancel_job(past);
}
