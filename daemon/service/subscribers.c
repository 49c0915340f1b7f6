/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Owns the subscribers. A match for each of them reports when it leaves the bus. It may have left before the match was
 * active, so btd then asks the bus for it, and at the same time for its user. (sd_bus_track does something similar, but
 * blocks.)
 *
 * The bus queues unread messages for a peer, and a dbus-daemon that queues too many stops reading from the sender: one
 * subscriber that does not read would block btd for all others. So btd counts what a subscriber may not have read. If
 * that is much, it sends a Ping, to which every D-Bus library replies by itself as soon as the program reads. Then the
 * subscriber has read everything that was sent before.
 */

#include <inttypes.h>

#include "basic/cleanup.h"
#include "basic/foreach.h"
#include "basic/later.h"
#include "basic/log.h"
#include "service/credentials.h"
#include "service/errors.h"
#include "service/subscribers.h"
#include "service/turns.h"

/* How many changes of nodes can be unread, for one subscriber and for all together: the bus limits what all of them can
 * have unread from btd. This limits the size of one burst, too. */
#define UNREAD_MAX 4096u
#define UNREAD_OF_ALL_MAX 16384u
#define UNREAD_MIN 16u
/* How many missed nodes are sent at once: less than a millisecond of work. */
#define PART 512u
/* How long a subscriber may take to reply to a Ping; then its subscription ends. */
#define PATIENCE_SECONDS 30
/* How many runs and trees one subscriber can name. */
#define WANTED_MAX 1024u

struct Subscribers {
        GMainContext *context;
        Connection *connection;
        /* For the Pings: calls without a reply use up the number of calls that one connection can have pending. NULL:
         * not needed so far. */
        Connection *pinging;
        const Limits *limits;
        const SubscribersCallbacks *callbacks;
        void *userdata;
        GHashTable *by_name;        /* unique name -> Subscriber */
        unsigned n_nodes, n_events; /* Wanted with these */
        Turns *turns;               /* queue of Missed */
        char *held_name, *held_run;
};

typedef struct Subscriber {
        Subscribers *subscribers;
        char *name;
        Match *leaving;
        sd_bus_message *message; /* its call, until btd replies */
        sd_bus_slot *question;   /* asks whether it is still there, and for its user */
        bool known;
        uint32_t uid;             /* valid if known */
        unsigned unread;          /* changes of nodes that it may not have read */
        Call *ping;               /* NULL: none is under way */
        unsigned pinged_at;       /* the unread changes when the Ping was sent */
        GSource *patience;        /* until the Ping must be answered */
        GHashTable *missed;       /* run -> Missed */
        GHashTable *gaps;         /* ids of runs whose events it has missed */
        unsigned of_all;          /* what it wants of all runs: SubscribedTo */
        GHashTable *trees, *runs; /* name -> what it wants of these */
} Subscriber;

/* The nodes of a run whose changes a subscriber has missed. */
typedef struct Missed {
        Turn turn; /* must be the first member; queued while the next part can be sent */
        Subscriber *subscriber;
        char *run;
        uint32_t n_nodes, n_left, next;
        uint8_t left[]; /* a bit for each node; set: missed */
} Missed;

static void missed_free(void *p) {
        Missed *missed = p;

        turn_drop(&missed->turn);
        g_free(missed->run);
        g_free(missed);
}

static void answer(Subscriber *subscriber) {
        g_autoptr(sd_bus_message) message = g_steal_pointer(&subscriber->message);

        if (message)
                (void) sd_bus_reply_method_return(message, NULL);
}

static unsigned what_of(GHashTable *names, const char *name) {
        return GPOINTER_TO_UINT(g_hash_table_lookup(names, name));
}

static void count(Subscribers *subscribers, unsigned before, unsigned now) {
        subscribers->n_nodes += !!(now & SUBSCRIBED_NODES) - !!(before & SUBSCRIBED_NODES);
        subscribers->n_events += !!(now & SUBSCRIBED_EVENTS) - !!(before & SUBSCRIBED_EVENTS);
}

/* Sets what it wants of the same run or tree, or of all runs. 0: nothing. */
static void set_wanted(Subscriber *subscriber, const Subscription *about, unsigned what) {
        GHashTable *names = about->run ? subscriber->runs : about->tree ? subscriber->trees : NULL;
        const char *name = about->run ?: about->tree;

        count(subscriber->subscribers, names ? what_of(names, name) : subscriber->of_all, what);
        if (!names)
                subscriber->of_all = what;
        else if (what)
                g_hash_table_replace(names, g_strdup(name), GUINT_TO_POINTER(what));
        else
                g_hash_table_remove(names, name);
}

static unsigned get_wanted(const Subscriber *subscriber, const Subscription *about) {
        return about->run    ? what_of(subscriber->runs, about->run)
               : about->tree ? what_of(subscriber->trees, about->tree)
                             : subscriber->of_all;
}

/* False: there are too many. */
static bool want(Subscriber *subscriber, const Subscription *wanted) {
        unsigned known = get_wanted(subscriber, wanted);

        if ((wanted->run || wanted->tree) && !known &&
            g_hash_table_size(subscriber->trees) + g_hash_table_size(subscriber->runs) >= WANTED_MAX)
                return false;

        set_wanted(subscriber, wanted, known | wanted->what);
        return true;
}

static void forget(Subscribers *subscribers, GHashTable *names) {
        GHashTableIter iter;
        void *what;

        g_hash_table_iter_init(&iter, names);
        while (g_hash_table_iter_next(&iter, NULL, &what))
                count(subscribers, GPOINTER_TO_UINT(what), 0);
        g_hash_table_unref(names);
}

static void end_ping(Subscriber *subscriber) {
        g_clear_pointer(&subscriber->ping, call_free);
        g_clear_pointer(&subscriber->patience, g_source_destroy);
}

static void subscriber_free(Subscriber *subscriber) {
        answer(subscriber);
        sd_bus_slot_unref(subscriber->question);
        end_ping(subscriber);
        g_hash_table_unref(subscriber->missed);
        g_hash_table_unref(subscriber->gaps);
        match_free(subscriber->leaving);
        count(subscriber->subscribers, subscriber->of_all, 0);
        forget(subscriber->subscribers, subscriber->trees);
        forget(subscriber->subscribers, subscriber->runs);
        g_free(subscriber->name);
        g_free(subscriber);
}

static void send_ping(Subscriber *subscriber);

/* How many changes can be sent to it. 0: none until it has replied to a Ping. */
static unsigned room_of(Subscriber *subscriber) {
        unsigned share = UNREAD_OF_ALL_MAX / g_hash_table_size(subscriber->subscribers->by_name),
                 max = CLAMP(share, UNREAD_MIN, UNREAD_MAX);

        if (subscriber->unread >= max / 2 && !subscriber->ping)
                send_ping(subscriber);
        return subscriber->unread < max ? max - subscriber->unread : 0;
}

static bool is_held(const Subscribers *subscribers, const char *name, const char *run) {
        return g_strcmp0(subscribers->held_name, name) == 0 && g_strcmp0(subscribers->held_run, run) == 0;
}

static void queue_missed(Missed *missed) {
        Subscriber *subscriber = missed->subscriber;
        Subscribers *subscribers = subscriber->subscribers;

        if (!missed->turn.of && !is_held(subscribers, subscriber->name, missed->run) && room_of(subscriber) > 0)
                turns_add(subscribers->turns, &missed->turn, subscriber->uid, subscriber->name);
}

/* Returns whether the bit has changed. */
static bool set_left(Missed *missed, uint32_t node, bool left) {
        uint8_t *byte = &missed->left[node / 8], bit = (uint8_t) (1u << node % 8);

        if (!(*byte & bit) == !left)
                return false;

        *byte ^= bit;
        missed->n_left += left ? 1 : -1u;
        return true;
}

static bool on_turn(Turn *turn, int64_t until) {
        Missed *missed = (Missed *) turn;
        Subscriber *subscriber = missed->subscriber;
        const Subscribers *subscribers = subscriber->subscribers;
        unsigned room = room_of(subscriber);
        g_autoptr(GArray) nodes = g_array_new(FALSE, FALSE, sizeof(uint32_t));

        if (room == 0)
                return true;

        /* Continue behind the last part, so that a node that changes all the time does not delay the others. */
        for (; missed->n_left > 0 && nodes->len < MIN(PART, room); missed->next = (missed->next + 1) % missed->n_nodes)
                if (set_left(missed, missed->next, false))
                        g_array_append_val(nodes, missed->next);
        subscriber->unread += nodes->len;
        if (!subscribers->callbacks->tell(subscriber->name, missed->run, nodes, subscribers->userdata) ||
            missed->n_left == 0)
                g_hash_table_remove(subscriber->missed, missed->run);
        else
                queue_missed(missed);
        return true;
}

static bool may_tell(uint32_t uid, void *userdata) {
        const Subscribers *subscribers = userdata;
        uint64_t n_unsent = 0;

        return sd_bus_get_n_queued_write(connection_bus(subscribers->connection), &n_unsent) < 0 || n_unsent == 0;
}

Subscribers *subscribers_new(GMainContext *context, Connection *connection, const Limits *limits,
                             const SubscribersCallbacks *callbacks, void *userdata) {
        Subscribers *subscribers = g_new0(Subscribers, 1);

        subscribers->context = context;
        subscribers->connection = connection;
        subscribers->limits = limits;
        subscribers->callbacks = callbacks;
        subscribers->userdata = userdata;
        subscribers->by_name = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, (GDestroyNotify) subscriber_free);
        subscribers->turns = turns_new(context, on_turn, may_tell, false, subscribers);
        turns_open(subscribers->turns);
        return subscribers;
}

void subscribers_free(Subscribers *subscribers) {
        if (!subscribers)
                return;

        g_hash_table_unref(subscribers->by_name);
        turns_free(subscribers->turns);
        connection_free(subscribers->pinging);
        g_free(subscribers->held_name);
        g_free(subscribers->held_run);
        g_free(subscribers);
}

void subscribers_remove(Subscribers *subscribers, const char *name) {
        if (!g_hash_table_remove(subscribers->by_name, name))
                return;

        if (g_hash_table_size(subscribers->by_name) == 0)
                g_clear_pointer(&subscribers->pinging, connection_free);
        subscribers->callbacks->changed(subscribers->userdata);
}

void subscribers_end(Subscribers *subscribers, const char *name, const Subscription *unwanted) {
        Subscriber *subscriber = g_hash_table_lookup(subscribers->by_name, name);

        if (subscriber)
                set_wanted(subscriber, unwanted, get_wanted(subscriber, unwanted) & ~unwanted->what);
        if (subscriber && !subscriber->of_all && g_hash_table_size(subscriber->trees) == 0 &&
            g_hash_table_size(subscriber->runs) == 0)
                subscribers_remove(subscribers, name);
        else
                subscribers->callbacks->changed(subscribers->userdata);
}

/* A subscriber that wants nothing any more stays one: it may want something of the next run. */
void subscribers_forget_run(Subscribers *subscribers, const char *run) {
        Subscriber *subscriber;

        TABLE_FOREACH(subscriber, subscribers->by_name)
                set_wanted(subscriber, &(Subscription){ .run = run }, 0);
}

static void on_leaving(sd_bus_message *signal, void *userdata) {
        Subscriber *subscriber = userdata;

        subscribers_remove(subscriber->subscribers, subscriber->name);
}

static int on_credentials(sd_bus_message *reply, void *userdata, sd_bus_error *unused) {
        Subscriber *subscriber = userdata;
        Subscribers *subscribers = subscriber->subscribers;
        unsigned n = 0, max = subscribers->limits->max[LIMIT_SUBSCRIBERS_OF_A_CALLER];
        g_auto(Credentials) credentials = { 0 };
        const Subscriber *other;

        subscriber->question = sd_bus_slot_unref(subscriber->question);
        if (sd_bus_message_is_method_error(reply, NULL) || credentials_read(reply, &credentials) < 0 ||
            !credentials.known) {
                subscribers_remove(subscribers, subscriber->name);
                return 0;
        }
        TABLE_FOREACH(other, subscribers->by_name)
                n += other->known && other->uid == credentials.uid;
        if (limits_bind(credentials.uid) && n >= max) {
                g_autoptr(sd_bus_message) message = g_steal_pointer(&subscriber->message);

                if (message)
                        (void) sd_bus_reply_method_errorf(
                                message, ERROR_LIMIT_EXCEEDED,
                                "the limit 'subscribers-of-a-caller' (%u) is reached; end one of your "
                                "programs that are subscribed",
                                max);
                subscribers_remove(subscribers, subscriber->name);
                return 0;
        }

        subscriber->known = true;
        subscriber->uid = credentials.uid;
        answer(subscriber);
        return 0;
}

static void on_watched(void *userdata) {
        Subscriber *subscriber = userdata;
        sd_bus *bus = connection_bus(subscriber->subscribers->connection);

        subscriber->question = sd_bus_slot_unref(subscriber->question);
        (void) credentials_ask(bus, subscriber->name, on_credentials, subscriber, &subscriber->question);
}

int subscribers_add(Subscribers *subscribers, const Subscription *wanted, sd_bus_message *message,
                    sd_bus_error *ret_error) {
        const char *name = sd_bus_message_get_sender(message);
        SignalPattern pattern = signal_pattern_owner(name);
        unsigned max = subscribers->limits->max[LIMIT_SUBSCRIBERS];
        Subscriber *subscriber = g_hash_table_lookup(subscribers->by_name, name);

        if (subscriber) {
                if (!want(subscriber, wanted))
                        return sd_bus_error_setf(
                                ret_error, ERROR_LIMIT_EXCEEDED,
                                "a program can subscribe to %u runs and trees; subscribe to all instead", WANTED_MAX);
                subscribers->callbacks->changed(subscribers->userdata);
                return sd_bus_reply_method_return(message, NULL);
        }
        if (g_hash_table_size(subscribers->by_name) >= max)
                return sd_bus_error_setf(ret_error, ERROR_LIMIT_EXCEEDED,
                                         "the limit 'subscribers' (%u) is reached; try again later", max);

        subscriber = g_new0(Subscriber, 1);
        subscriber->subscribers = subscribers;
        subscriber->name = g_strdup(name);
        subscriber->message = sd_bus_message_ref(message);
        subscriber->missed = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, missed_free);
        subscriber->gaps = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        subscriber->trees = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        subscriber->runs = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        (void) want(subscriber, wanted);
        g_hash_table_insert(subscribers->by_name, subscriber->name, subscriber);

        subscriber->leaving = connection_match(subscribers->connection, &pattern, on_leaving, on_watched, subscriber);

        subscribers->callbacks->changed(subscribers->userdata);
        return 1;
}

GList *subscribers_names(const Subscribers *subscribers, SubscribedTo what, const char *tree, const char *run) {
        GList *names = NULL;
        const Subscriber *subscriber;

        TABLE_FOREACH(subscriber, subscribers->by_name)
                if ((subscriber->of_all | what_of(subscriber->trees, tree) | what_of(subscriber->runs, run)) & what)
                        names = g_list_prepend(names, subscriber->name);

        return names;
}

bool subscribers_any(const Subscribers *subscribers, SubscribedTo what) {
        return (what == SUBSCRIBED_NODES ? subscribers->n_nodes : subscribers->n_events) > 0;
}

bool subscribers_may_tell_events(Subscribers *subscribers, const char *name, const char *run, unsigned n) {
        Subscriber *subscriber = g_hash_table_lookup(subscribers->by_name, name);

        /* The reply to the Ping is when it is told, even if it has read everything and nothing else happens. */
        if (n > room_of(subscriber)) {
                g_hash_table_add(subscriber->gaps, g_strdup(run));
                if (!subscriber->ping)
                        send_ping(subscriber);
                return false;
        }

        subscriber->unread += n;
        g_hash_table_remove(subscriber->gaps, run);
        return true;
}

/* An error counts as a reply, also the error of a bus that forbids the call. */
static void on_pong(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        Subscriber *subscriber = userdata;
        Subscribers *subscribers = subscriber->subscribers;
        g_autoptr(GHashTable) gaps = NULL;
        GHashTableIter iter;
        void *missed, *run;

        end_ping(subscriber);
        subscriber->unread -= subscriber->pinged_at;
        TABLE_FOREACH(missed, subscriber->missed)
                queue_missed(missed);

        gaps = g_steal_pointer(&subscriber->gaps);
        subscriber->gaps = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        g_hash_table_iter_init(&iter, gaps);
        while (g_hash_table_iter_next(&iter, &run, NULL))
                if (subscribers_may_tell_events(subscribers, subscriber->name, run, 1))
                        subscribers->callbacks->tell_missed(subscriber->name, run, subscribers->userdata);
}

static gboolean on_impatience(void *userdata) {
        Subscriber *subscriber = userdata;

        log_notice("%s of UID %" PRIu32 " does not read its signals; its subscription has ended", subscriber->name,
                   subscriber->uid);
        subscribers_remove(subscriber->subscribers, subscriber->name);
        return G_SOURCE_REMOVE;
}

static int make_ping(sd_bus *bus, sd_bus_message **ret_message, void *userdata) {
        const Subscriber *subscriber = userdata;

        return sd_bus_message_new_method_call(bus, ret_message, subscriber->name, "/", "org.freedesktop.DBus.Peer",
                                              "Ping");
}

static void send_ping(Subscriber *subscriber) {
        Subscribers *subscribers = subscriber->subscribers;

        if (!subscribers->pinging)
                subscribers->pinging = connection_again(subscribers->connection, false);
        subscriber->pinged_at = subscriber->unread;
        subscriber->ping = connection_call_made(subscribers->pinging, subscriber->name, make_ping, on_pong, subscriber);
        subscriber->patience = call_later(subscribers->context, PATIENCE_SECONDS * 1000, on_impatience, subscriber);
}

bool subscribers_may_tell(Subscribers *subscribers, const char *name, const char *run, uint32_t n_nodes,
                          const GArray *nodes) {
        Subscriber *subscriber = g_hash_table_lookup(subscribers->by_name, name);
        Missed *missed;

        if (!is_held(subscribers, name, run) && !g_hash_table_contains(subscriber->missed, run) &&
            nodes->len <= room_of(subscriber)) {
                subscriber->unread += nodes->len;
                return true;
        }

        missed = g_hash_table_lookup(subscriber->missed, run);
        if (!missed) {
                missed = g_malloc0(sizeof(Missed) + (n_nodes + 7) / 8);
                missed->subscriber = subscriber;
                missed->run = g_strdup(run);
                missed->n_nodes = n_nodes;
                g_hash_table_insert(subscriber->missed, missed->run, missed);
        }
        for (unsigned i = 0; i < nodes->len; i++)
                set_left(missed, g_array_index(nodes, uint32_t, i), true);
        queue_missed(missed);
        return false;
}

void subscribers_hold(Subscribers *subscribers, const char *name, const char *run) {
        subscribers->held_name = g_strdup(name);
        subscribers->held_run = g_strdup(run);
}

void subscribers_release(Subscribers *subscribers) {
        g_autofree char *name = g_steal_pointer(&subscribers->held_name),
                        *run = g_steal_pointer(&subscribers->held_run);
        const Subscriber *subscriber = g_hash_table_lookup(subscribers->by_name, name);
        Missed *missed = subscriber ? g_hash_table_lookup(subscriber->missed, run) : NULL;

        if (missed)
                queue_missed(missed);
}
