/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Counts unread signals of one subscriber, and sends it a Ping. Every D-Bus library replies to Ping by itself as soon
 * as the program reads. */

#include "service/backlog.h"
#include "basic/cleanup.h"

#define PATIENCE_SECONDS 30

struct Backlog {
        GMainContext *context;
        char *name;
        const BacklogCallbacks *callbacks;
        void *userdata;
        unsigned unread;
        Call *question;
        unsigned asked_about; /* the unread amount when the Ping was sent */
        GSource *patience;
};

Backlog *backlog_new(GMainContext *context, const char *name, const BacklogCallbacks *callbacks, void *userdata) {
        Backlog *backlog = g_new0(Backlog, 1);

        backlog->context = context;
        backlog->name = g_strdup(name);
        backlog->callbacks = callbacks;
        backlog->userdata = userdata;
        return backlog;
}

static void end_question(Backlog *backlog) {
        g_clear_pointer(&backlog->question, call_free);
        if (backlog->patience) {
                g_source_destroy(backlog->patience);
                g_clear_pointer(&backlog->patience, g_source_unref);
        }
}

void backlog_free(Backlog *backlog) {
        if (!backlog)
                return;

        end_question(backlog);
        g_free(backlog->name);
        g_free(backlog);
}

/* An error counts as a reply, also the error of a bus that forbids the call. */
static void on_answer(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        Backlog *backlog = userdata;

        end_question(backlog);
        backlog->unread -= backlog->asked_about;
        backlog->callbacks->caught_up(backlog->userdata);
}

static gboolean on_impatience(void *userdata) {
        Backlog *backlog = userdata;

        end_question(backlog);
        backlog->callbacks->given_up(backlog->userdata);
        return G_SOURCE_REMOVE;
}

static int make_question(sd_bus *bus, sd_bus_message **ret_message, void *userdata) {
        const Backlog *backlog = userdata;

        return sd_bus_message_new_method_call(bus, ret_message, backlog->name, "/", "org.freedesktop.DBus.Peer",
                                              "Ping");
}

static void ask(Backlog *backlog) {
        if (backlog->question)
                return;

        backlog->asked_about = backlog->unread;
        backlog->question = connection_call_made(backlog->callbacks->asking(backlog->userdata), backlog->name,
                                                 make_question, on_answer, backlog);
        backlog->patience = g_timeout_source_new_seconds(PATIENCE_SECONDS);
        g_source_set_callback(backlog->patience, on_impatience, backlog, NULL);
        g_source_attach(backlog->patience, backlog->context);
}

unsigned backlog_room(Backlog *backlog, unsigned max) {
        if (backlog->unread >= max / 2)
                ask(backlog);
        return backlog->unread < max ? max - backlog->unread : 0;
}

void backlog_add(Backlog *backlog, unsigned amount) {
        backlog->unread += amount;
}
