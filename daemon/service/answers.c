/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Queues the method calls that only read, and answers them in turns. Each call is kept with its kind, and counted per
 * caller. */

#include <linux/sockios.h>
#include <sys/ioctl.h>

#include "service/answers.h"

#include "basic/cleanup.h"
#include "basic/foreach.h"
#include "service/credentials.h"
#include "service/errors.h"
#include "service/turns.h"
#include "service/variables-bus.h"

/* Bytes of text per step; copying them takes about ten microseconds. */
#define TEXT_PART ((size_t) 64 << 10)

struct Answers {
        Connection *connection;
        sd_bus *bus;
        Turns *turns;
        GQueue waiting;                /* Waiting: the calls */
        GHashTable *askers;            /* unique name (of the Asker) -> Asker */
        Users *users;                  /* or NULL */
        GPtrArray *unread;             /* Unread: long answers that were not read yet, as far as btd knows */
        uint64_t n_unread;             /* their bytes, of users with a share */
        const struct Waiting *probing; /* the bus is asked how fast it reads, for this answer; NULL: it is not */
        int64_t slow_until;            /* monotonic: before that, no long one is sent to such a user */
        bool open;
        unsigned max, waits_of_user; /* calls of a connection; waits of a user with a share */
        void *userdata;
};

/* A connection of a user. Unique names are not used again. */
typedef struct Asker {
        Answers *answers;
        char *name;
        uint32_t uid;
        unsigned n_calls, n_waits; /* that have no reply yet; is_wait tells which */
        uint64_t unnoted;          /* bytes of answers that are not in an Unread yet */
        sd_bus_slot *slot;         /* of the question who it is; NULL: that is known */
} Asker;

/* A long answer, or some short ones, until the caller has replied to the Ping that follows. */
typedef struct Unread {
        Answers *answers;
        User *user;
        uint64_t size;
        int64_t sent;      /* monotonic */
        sd_bus_slot *read; /* asks the bus, which replies when it has read the answer */
        sd_bus_slot *ping;
} Unread;

/* A call without a reply yet. */
typedef struct Waiting {
        Turn turn; /* must be the first member: the call's place in the queue */
        Answers *answers;
        Asker *asker;
        GList link;
        const AnswerKind *kind;
        bool refused; /* there are too many calls of this caller: the error waits for its turn */
        bool begun;
        bool aside; /* true: waits for answers_retry() */
        Answer answer;
        bool complete;         /* all of the reply is made; it was not sent yet */
        unsigned n_probes;     /* replies of the bus, see probe() */
        int64_t probed, round; /* monotonic: when it was asked; the shortest time until its reply */
        sd_bus_slot *probe;
        Match *leaving;        /* reports when the caller leaves the bus, if the answer takes several turns */
        sd_bus_slot *presence; /* asks whether the caller had left before the match was active */
} Waiting;

/* Bytes of answers that count, of one besides its values, and of those of all users that nobody has read. */
#define UNREAD_MIN (64u << 10)
#define ANSWER_SIZE_LEAST 256u
#define UNREAD_OF_ALL_MAX (UINT64_C(64) << 20)
/* A program that does not reply to a Ping may read nevertheless. */
#define PING_USEC (10 * UINT64_C(1000000))

/* A dbus-daemon reads this many bytes of btd in one turn of its loop. If other clients flood it, a turn takes long, and
 * all later messages of btd wait until a long answer was read. So before it sends a long answer to a user other than
 * root, btd asks the bus for a reply, which takes two turns, and refuses the answer if the bus would read it for too
 * long. Any reply may be late on a busy machine, so the shortest of a few times counts. */
#define BUS_READS 2048u
#define BUS_READS_LONG ((size_t) 16 << 10)
#define BUS_READS_MAX_USEC (2 * G_TIME_SPAN_SECOND)
#define BUS_ROUND_USEC (1 * G_TIME_SPAN_MILLISECOND) /* of a bus that is not busy, at most */
#define PROBES_MAX 3u

/* How often btd looks whether the bus has read all that was sent. */
#define UNREAD_POLL_USEC (2 * G_TIME_SPAN_MILLISECOND)

/* If the bus needs longer for an answer, there is no other one for so many times as long, but not longer than that. */
#define SLOW_REST 10
#define SLOW_REST_MAX_USEC (5 * G_TIME_SPAN_MINUTE)

/* Messages that wait for the bus when root is answered. */
#define UNSENT_MAX 10000u

/* So many connections are remembered. */
#define ASKERS_MAX 1024u

static void asker_free(void *data) {
        Asker *asker = data;

        sd_bus_slot_unref(asker->slot);
        g_free(asker->name);
        g_free(asker);
}

static unsigned *count_of(Asker *asker, const AnswerKind *kind) {
        return kind->is_wait ? &asker->n_waits : &asker->n_calls;
}

static void waiting_free(Waiting *waiting) {
        if (waiting->begun && waiting->kind->end)
                waiting->kind->end(&waiting->answer);
        if (waiting->answers->probing == waiting)
                waiting->answers->probing = NULL;
        *count_of(waiting->asker, waiting->kind) -= 1;
        g_queue_unlink(&waiting->answers->waiting, &waiting->link);
        turn_drop(&waiting->turn);
        match_free(waiting->leaving);
        sd_bus_slot_unref(waiting->presence);
        sd_bus_slot_unref(waiting->probe);
        variable_writer_free(waiting->answer.writer);
        if (waiting->answer.names)
                g_ptr_array_unref(waiting->answer.names);
        g_free(waiting->answer.run);
        definition_unref(waiting->answer.definition);
        sd_bus_message_unref(waiting->answer.reply);
        sd_bus_message_unref(waiting->answer.question);
        g_free(waiting);
}

static int begin(Waiting *waiting, sd_bus_error *ret_error) {
        Answer *answer = &waiting->answer;
        uint32_t first = 0;
        int r = sd_bus_message_new_method_return(answer->question, &answer->reply);

        if (r >= 0 && waiting->kind->in_parts)
                r = sd_bus_message_read(answer->question, "u", &first);
        answer->next = first;
        if (r >= 0 && waiting->kind->begin)
                r = waiting->kind->begin(answer, ret_error);
        if (r < 0)
                return r;

        waiting->begun = true;
        return waiting->kind->array ? sd_bus_message_open_container(answer->reply, 'a', waiting->kind->array) : 0;
}

/* 1: there is more to append, 0: the reply is complete; or ANSWER_WAITS. */
static int make(Waiting *waiting, int64_t until, sd_bus_error *ret_error) {
        const AnswerKind *kind = waiting->kind;
        Answer *answer = &waiting->answer;
        size_t size = answer->size;
        int r = waiting->begun ? 0 : begin(waiting, ret_error);

        if (r < 0)
                return r;
        while ((r = kind->append(answer, ret_error)) > 0) {
                if (r == ANSWER_WAITS)
                        return r;
                answer->n_elements += answer->size > size;
                size = answer->size;
                if (kind->in_parts && size >= ANSWER_PART_SIZE && answer->n_elements >= ANSWER_PART_LEAST) {
                        r = 0;
                        break;
                }
                if (answer->size > ANSWER_SIZE_MAX)
                        return answer_refuse_size(answer, kind->instead, ret_error);
                if (g_get_monotonic_time() >= until)
                        return r;
        }
        if (r >= 0 && kind->array)
                r = sd_bus_message_close_container(answer->reply);

        waiting->complete = r >= 0;
        return r;
}

static int on_probed(sd_bus_message *reply, void *userdata, sd_bus_error *unused) {
        Waiting *waiting = userdata;
        int64_t took = g_get_monotonic_time() - waiting->probed;

        waiting->probe = sd_bus_slot_unref(waiting->probe);
        waiting->answers->probing = NULL;
        waiting->round = waiting->n_probes++ > 0 ? MIN(waiting->round, took) : took;
        return 0;
}

/* Would the bus read the answer for too long? */
static bool is_too_slow(const Waiting *waiting) {
        int64_t turn = MAX(waiting->round - BUS_ROUND_USEC, 0) / 2;

        return g_get_monotonic_time() < waiting->answers->slow_until ||
               (int64_t) (waiting->answer.size / BUS_READS) * turn > BUS_READS_MAX_USEC;
}

/* True: the bus is asked how fast it is; then the answer has its turn again. */
static bool probe(Waiting *waiting) {
        Answers *answers = waiting->answers;

        if (!limits_bind(waiting->turn.uid) || waiting->answer.size < BUS_READS_LONG ||
            waiting->n_probes == PROBES_MAX || (waiting->n_probes > 0 && !is_too_slow(waiting)) ||
            credentials_ask(answers->bus, waiting->turn.caller, on_probed, waiting, &waiting->probe) < 0)
                return false;

        waiting->probed = g_get_monotonic_time();
        answers->probing = waiting;
        return true;
}

static void on_leaving(sd_bus_message *signal, void *userdata) {
        waiting_free(userdata);
}

static int on_presence(sd_bus_message *reply, void *userdata, sd_bus_error *unused) {
        Waiting *waiting = userdata;

        waiting->presence = sd_bus_slot_unref(waiting->presence);
        if (sd_bus_message_is_method_error(reply, NULL))
                waiting_free(waiting);
        return 0;
}

/* Asks whether the caller left before the match was active. */
static void on_watched(void *userdata) {
        Waiting *waiting = userdata;

        waiting->presence = sd_bus_slot_unref(waiting->presence);
        (void) credentials_ask(waiting->answers->bus, waiting->turn.caller, on_presence, waiting, &waiting->presence);
}

static void unread_free(void *data) {
        Unread *unread = data;

        unread->answers->n_unread -= unread->size;
        user_subtract(unread->user, USE_UNREAD, unread->size);
        sd_bus_slot_unref(unread->read);
        sd_bus_slot_unref(unread->ping);
        g_free(unread);
}

static int on_pinged(sd_bus_message *reply, void *userdata, sd_bus_error *unused) {
        Unread *unread = userdata;

        g_ptr_array_remove_fast(unread->answers->unread, unread);
        return 0;
}

static int on_read(sd_bus_message *reply, void *userdata, sd_bus_error *unused) {
        Unread *unread = userdata;
        int64_t now = g_get_monotonic_time(), took = now - unread->sent;

        if (took > BUS_READS_MAX_USEC)
                unread->answers->slow_until = now + MIN(SLOW_REST * took, SLOW_REST_MAX_USEC);
        return 0;
}

/* A bus delivers messages to a program in order. */
static void note_unread(const Waiting *waiting) {
        Answers *answers = waiting->answers;
        Asker *asker = waiting->asker;
        uint32_t uid = waiting->turn.uid;
        g_autoptr(sd_bus_message) ping = NULL;
        Unread *unread;

        asker->unnoted += waiting->answer.size + ANSWER_SIZE_LEAST;
        if (asker->unnoted < UNREAD_MIN || !limits_bind(uid) ||
            sd_bus_message_new_method_call(answers->bus, &ping, waiting->turn.caller, "/", "org.freedesktop.DBus.Peer",
                                           "Ping") < 0)
                return;

        unread = g_new(Unread, 1);
        *unread = (Unread){
                .answers = answers,
                .user = users_get(answers->users, uid),
                .size = asker->unnoted,
                .sent = g_get_monotonic_time(),
        };
        (void) credentials_ask(answers->bus, waiting->turn.caller, on_read, unread, &unread->read);
        if (sd_bus_call_async(answers->bus, &unread->ping, ping, on_pinged, unread, PING_USEC) < 0) {
                sd_bus_slot_unref(unread->read);
                g_free(unread);
                return;
        }
        asker->unnoted = 0;
        user_add(unread->user, USE_UNREAD, unread->size);
        answers->n_unread += unread->size;
        g_ptr_array_add(answers->unread, unread);
}

static int refuse_call(const Answers *answers, sd_bus_error *ret_error) {
        return sd_bus_error_setf(ret_error, ERROR_LIMIT_EXCEEDED, TEXT_TOO_MANY_CALLS, answers->max);
}

static bool on_turn(Turn *turn, int64_t until) {
        Waiting *waiting = (Waiting *) turn;
        const Answer *answer = &waiting->answer;
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        int r = 0;

        if (waiting->refused)
                r = refuse_call(waiting->answers, &error);
        else if (!waiting->complete)
                r = make(waiting, until, &error);
        if (r > 0 || (r == 0 && probe(waiting))) {
                SignalPattern pattern = signal_pattern_owner(turn->caller);

                if (!waiting->leaving)
                        waiting->leaving = connection_match(waiting->answers->connection, &pattern, on_leaving,
                                                            on_watched, waiting);
                waiting->aside = r == ANSWER_WAITS;
                return waiting->aside;
        }
        if (r == 0 && waiting->n_probes > 0 && is_too_slow(waiting))
                r = sd_bus_error_setf(&error, ERROR_LIMIT_EXCEEDED,
                                      "the bus is too busy for the answer of %s, which has %zu KiB; call it again "
                                      "later",
                                      sd_bus_message_get_member(answer->question), answer->size >> 10);
        else if (r == 0)
                r = MIN(sd_bus_message_send(answer->reply), 0);

        if (sd_bus_error_is_set(&error))
                (void) sd_bus_reply_method_error(answer->question, &error);
        else if (r < 0)
                error_reply(answer->question, r);
        else
                note_unread(waiting);
        waiting_free(waiting);
        return true;
}

/* Answer only when the bus has read all earlier messages, also those in the socket. Root does not wait for that: a
 * dbus-daemon may be busy with refusals of calls all the time. */
static bool may_answer(uint32_t uid, void *userdata) {
        Answers *answers = userdata;
        uint64_t n_unsent = 0;
        int n_unread = 0, fd = sd_bus_get_fd(answers->bus);

        (void) sd_bus_get_n_queued_write(answers->bus, &n_unsent);
        if (!limits_bind(uid))
                return n_unsent < UNSENT_MAX;
        if (answers->probing)
                return false;
        if (fd >= 0)
                (void) ioctl(fd, SIOCOUTQ, &n_unread);
        if (n_unsent > 0 || n_unread > 0) {
                turns_rest(answers->turns, g_get_monotonic_time() + UNREAD_POLL_USEC);
                return false;
        }

        return user_has_room(users_get(answers->users, uid), USE_UNREAD, 0) && answers->n_unread <= UNREAD_OF_ALL_MAX;
}

Answers *answers_new(Connection *connection, Users *users, const Limits *limits, void *userdata) {
        Answers *answers = g_new0(Answers, 1);

        answers->connection = connection;
        answers->bus = sd_bus_ref(connection_bus(connection));
        answers->turns = turns_new(connection_context(connection), on_turn, may_answer, true, answers);
        answers->unread = g_ptr_array_new_with_free_func(unread_free);
        answers->askers = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, asker_free);
        answers->users = users;
        answers->max = limits->max[LIMIT_CALLS_OF_A_CALLER];
        answers->waits_of_user = limits->max[LIMIT_RUNS_OF_A_CALLER];
        answers->userdata = userdata;
        return answers;
}

void answers_free(Answers *answers) {
        if (!answers)
                return;

        while (answers->waiting.head)
                waiting_free(answers->waiting.head->data);
        turns_free(answers->turns);
        g_hash_table_unref(answers->askers);
        g_ptr_array_unref(answers->unread);
        sd_bus_unref(answers->bus);
        g_free(answers);
}

void answers_open(Answers *answers) {
        answers->open = true;
        turns_open(answers->turns);
}

/* The oldest one of the connection, or of its user. It may be of a call that its caller has given up, about which D-Bus
 * tells nothing. */
static void end_oldest_wait(Answers *answers, const Asker *asker, bool of_user, const sd_bus_error *error) {
        for (const GList *link = answers->waiting.head; link; link = link->next) {
                Waiting *waiting = link->data;
                bool fits = of_user ? waiting->asker->uid == asker->uid : waiting->asker == asker;

                if (!waiting->kind->is_wait || !fits)
                        continue;

                (void) sd_bus_reply_method_error(waiting->answer.question, error);
                waiting_free(waiting);
                return;
        }
}

/* Leaves room for so many more waits of the connection, and of its user: all are looked at whenever a run ends. */
static void limit_waits(Answers *answers, const Asker *asker, unsigned more) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL, of_user = SD_BUS_ERROR_NULL;
        const Asker *other;
        unsigned n = more;

        if (asker->n_waits + more > answers->max) {
                (void) refuse_call(answers, &error);
                end_oldest_wait(answers, asker, false, &error);
        }
        if (asker->slot || !limits_bind(asker->uid))
                return;

        TABLE_FOREACH(other, answers->askers)
                n += other->uid == asker->uid ? other->n_waits : 0;
        if (n > answers->waits_of_user)
                (void) sd_bus_error_setf(&of_user, ERROR_LIMIT_EXCEEDED,
                                         "%u of your calls wait for runs, which is the limit; end one of your programs "
                                         "that wait",
                                         answers->waits_of_user);
        for (; n > answers->waits_of_user; n--)
                end_oldest_wait(answers, asker, true, &of_user);
}

/* Its calls can have their turns now. If the bus does not tell who it is, it is a user of its own. */
static int on_asker_known(sd_bus_message *reply, void *userdata, sd_bus_error *unused) {
        Asker *asker = userdata;
        Answers *answers = asker->answers;
        g_auto(Credentials) credentials = {};
        bool known = !sd_bus_message_is_method_error(reply, NULL) && credentials_read(reply, &credentials) >= 0 &&
                     credentials.known;

        asker->slot = sd_bus_slot_unref(asker->slot);
        asker->uid = known ? credentials.uid : UINT32_MAX;
        limit_waits(answers, asker, 0);
        for (GList *link = answers->waiting.head, *next; link; link = next) {
                Waiting *waiting = link->data;

                next = link->next;
                if (waiting->asker != asker)
                        continue;
                if (sd_bus_message_is_method_error(reply, SD_BUS_ERROR_NAME_HAS_NO_OWNER))
                        waiting_free(waiting);
                else
                        turns_add(answers->turns, &waiting->turn, asker->uid, asker->name);
        }
        return 0;
}

static gboolean asker_is_unused(void *name, void *data, void *userdata) {
        const Asker *asker = data;

        return !asker->slot && asker->n_calls == 0 && asker->n_waits == 0;
}

static Asker *asker_of(Answers *answers, const char *name) {
        Asker *asker = g_hash_table_lookup(answers->askers, name);

        if (asker)
                return asker;

        if (g_hash_table_size(answers->askers) >= ASKERS_MAX)
                g_hash_table_foreach_remove(answers->askers, asker_is_unused, NULL);
        asker = g_new(Asker, 1);
        *asker = (Asker){ .answers = answers, .name = g_strdup(name), .uid = UINT32_MAX };
        (void) credentials_ask(answers->bus, name, on_asker_known, asker, &asker->slot);
        g_hash_table_insert(answers->askers, asker->name, asker);
        return asker;
}

/* Waits until it is known whose turn it is. */
static void queue(Waiting *waiting) {
        const Asker *asker = waiting->asker;

        if (!asker->slot)
                turns_add(waiting->answers->turns, &waiting->turn, asker->uid, asker->name);
}

void answers_retry(Answers *answers) {
        for (const GList *link = answers->waiting.head; link; link = link->next) {
                Waiting *waiting = link->data;

                if (waiting->aside)
                        queue(waiting);
                waiting->aside = false;
        }
}

int answers_add(Answers *answers, sd_bus_message *message, const AnswerKind *kind, sd_bus_error *ret_error) {
        Asker *asker = asker_of(answers, sd_bus_message_get_sender(message));
        /* A refusal of a user waits for its turn, so that refusals cannot flood the bus. */
        bool has_turn = answers->open && !asker->slot && limits_bind(asker->uid);
        Waiting *waiting;

        if (kind->is_wait)
                limit_waits(answers, asker, 1);
        else if (asker->n_calls >= (has_turn ? 2 : 1) * answers->max)
                return refuse_call(answers, ret_error);

        waiting = g_new0(Waiting, 1);
        waiting->answers = answers;
        waiting->asker = asker;
        waiting->kind = kind;
        waiting->refused = !kind->is_wait && asker->n_calls >= answers->max;
        waiting->answer.question = sd_bus_message_ref(message);
        waiting->answer.userdata = answers->userdata;
        waiting->link.data = waiting;
        *count_of(asker, kind) += 1;
        waiting->turn.caller = asker->name;
        g_queue_push_tail_link(&answers->waiting, &waiting->link);
        queue(waiting);
        return 1;
}

void answer_work_done(void *data, void *userdata) {
        AnswerWork *it = data;

        it->work = NULL;
        answers_retry(it->answers);
}

void answer_work_free(void *data) {
        AnswerWork *it = data;

        if (it->work)
                it->free(it);
}

void answer_work_end(Answer *answer) {
        AnswerWork *it = answer->data;

        if (it->work)
                work_drop(it->work);
        else
                it->free(it);
}

int answer_refuse_size(const Answer *answer, const char *instead, sd_bus_error *ret_error) {
        return sd_bus_error_setf(ret_error, ERROR_LIMIT_EXCEEDED,
                                 "the answer of %s would be longer than %zu MiB, which a bus may not take; use %s",
                                 sd_bus_message_get_member(answer->question), ANSWER_SIZE_MAX >> 20, instead);
}

int answer_append_text(Answer *answer, const char *text, size_t length) {
        size_t part = MIN(length - answer->next, TEXT_PART);
        int r = 0;

        /* One that is too long is refused by its size. */
        answer->size = length;
        if (length > ANSWER_SIZE_MAX)
                return 1;
        if (!answer->space)
                r = sd_bus_message_append_string_space(answer->reply, length, &answer->space);
        if (r < 0)
                return r;

        memcpy(answer->space + answer->next, text + answer->next, part);
        answer->next += part;
        return answer->next < length;
}
