/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Every library answers Ping by itself, as soon as the program reads. */

#include "service/backlog.h"
#include "basic/cleanup.h"

#define PATIENCE_SECONDS 30

struct Backlog {
        GMainContext *context;
        char *name;
        const BacklogCallbacks *callbacks;
        void *userdata;
        unsigned unread;
        bool turned_away; /* something has been, since he was last known to read */
        Call *question;
        unsigned asked_about; /* what was unread when he was asked */
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

/* An error is an answer, too, also that of a bus that lets nobody ask. */
static void on_answer(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        Backlog *backlog = userdata;
        bool turned_away = backlog->turned_away;

        end_question(backlog);
        backlog->unread -= backlog->asked_about;
        backlog->turned_away = false;
        if (turned_away)
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

bool backlog_add(Backlog *backlog, unsigned amount, unsigned max) {
        bool room = backlog->unread < max;

        if (room)
                backlog->unread += amount;
        else
                backlog->turned_away = true;

        if (backlog->unread >= max / 2)
                ask(backlog);
        return room;
}
