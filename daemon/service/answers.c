/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Queues the method calls that only read, and answers them in turns. Each call is kept with its kind, and counted per
 * caller. */

#include "service/answers.h"

#include "basic/cleanup.h"
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
        GQueue waiting; /* Waiting: the calls */
        unsigned max;
        void *userdata;
};

/* A call without a reply yet. */
typedef struct Waiting {
        Turn turn; /* must be the first member: the call's place in the queue */
        Answers *answers;
        GList link;
        const AnswerKind *kind;
        bool begun;
        bool aside; /* true: waits for answers_retry() */
        Answer answer;
        Match *leaving;        /* reports when the caller leaves the bus, if the answer takes several turns */
        sd_bus_slot *presence; /* asks whether the caller had left before the match was active */
} Waiting;

static void answer_clear(Answer *answer) {
        variable_writer_free(answer->writer);
        if (answer->names)
                g_ptr_array_unref(answer->names);
        g_free(answer->run);
        definition_unref(answer->definition);
        sd_bus_message_unref(answer->reply);
        sd_bus_message_unref(answer->question);
}

static void waiting_free(Waiting *waiting) {
        if (waiting->begun && waiting->kind->end)
                waiting->kind->end(&waiting->answer);
        g_queue_unlink(&waiting->answers->waiting, &waiting->link);
        turn_drop(&waiting->turn);
        match_free(waiting->leaving);
        sd_bus_slot_unref(waiting->presence);
        answer_clear(&waiting->answer);
        g_free(waiting);
}

static int begin(Waiting *waiting, sd_bus_error *ret_error) {
        Answer *answer = &waiting->answer;
        int r = sd_bus_message_new_method_return(answer->question, &answer->reply);

        if (r >= 0 && waiting->kind->begin)
                r = waiting->kind->begin(answer, ret_error);
        if (r < 0)
                return r;

        waiting->begun = true;
        return waiting->kind->array ? sd_bus_message_open_container(answer->reply, 'a', waiting->kind->array) : 0;
}

/* 1: there is more to append, 0: the call is answered; or ANSWER_WAITS. */
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

        return r < 0 ? r : MIN(sd_bus_message_send(answer->reply), 0);
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

static void watch_caller(Waiting *waiting) {
        SignalPattern pattern = signal_pattern_owner(waiting->turn.caller);

        if (!waiting->leaving)
                waiting->leaving =
                        connection_match(waiting->answers->connection, &pattern, on_leaving, on_watched, waiting);
}

static bool on_turn(Turn *turn, int64_t until) {
        Waiting *waiting = (Waiting *) turn;
        sd_bus_message *question = waiting->answer.question;
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        int r = make(waiting, until, &error);

        if (r > 0) {
                watch_caller(waiting);
                waiting->aside = r == ANSWER_WAITS;
                return waiting->aside;
        }

        if (sd_bus_error_is_set(&error))
                (void) sd_bus_reply_method_error(question, &error);
        else if (r < 0)
                (void) sd_bus_reply_method_errno(question, r, NULL);
        waiting_free(waiting);
        return true;
}

/* Answer only when the bus has taken all earlier messages. */
static bool may_answer(void *userdata) {
        const Answers *answers = userdata;
        uint64_t n_unsent = 0;

        return sd_bus_get_n_queued_write(answers->bus, &n_unsent) < 0 || n_unsent == 0;
}

Answers *answers_new(Connection *connection, unsigned max, void *userdata) {
        Answers *answers = g_new0(Answers, 1);

        answers->connection = connection;
        answers->bus = sd_bus_ref(connection_bus(connection));
        answers->turns = turns_new(connection_context(connection), on_turn, may_answer, true, answers);
        answers->max = max;
        answers->userdata = userdata;
        return answers;
}

void answers_free(Answers *answers) {
        if (!answers)
                return;

        while (answers->waiting.head)
                waiting_free(answers->waiting.head->data);
        turns_free(answers->turns);
        sd_bus_unref(answers->bus);
        g_free(answers);
}

void answers_open(Answers *answers) {
        turns_open(answers->turns);
}

void answers_retry(Answers *answers) {
        for (const GList *link = answers->waiting.head; link; link = link->next) {
                Waiting *waiting = link->data;

                if (waiting->aside)
                        turns_add(answers->turns, &waiting->turn, sd_bus_message_get_sender(waiting->answer.question));
                waiting->aside = false;
        }
}

static unsigned count_of_sender(const Answers *answers, const char *sender, bool is_wait) {
        unsigned n = 0;

        for (const GList *link = answers->waiting.head; link; link = link->next) {
                const Waiting *waiting = link->data;

                n += waiting->kind->is_wait == is_wait && g_str_equal(waiting->turn.caller, sender);
        }

        return n;
}

/* Makes room for another wait: the oldest one may be of a call that its caller has given up, about which D-Bus tells
 * nothing. */
static void give_up_wait(Answers *answers, const char *sender) {
        if (count_of_sender(answers, sender, true) < answers->max)
                return;

        for (const GList *link = answers->waiting.head; link; link = link->next) {
                Waiting *waiting = link->data;

                if (!waiting->kind->is_wait || !g_str_equal(waiting->turn.caller, sender))
                        continue;

                (void) sd_bus_reply_method_errorf(waiting->answer.question, ERROR_LIMIT_EXCEEDED, TEXT_TOO_MANY_CALLS,
                                                  answers->max);
                waiting_free(waiting);
                return;
        }
}

int answers_add(Answers *answers, sd_bus_message *message, const AnswerKind *kind, sd_bus_error *ret_error) {
        const char *sender = sd_bus_message_get_sender(message);
        Waiting *waiting;

        if (kind->is_wait)
                give_up_wait(answers, sender);
        else if (count_of_sender(answers, sender, false) >= answers->max)
                return sd_bus_error_setf(ret_error, ERROR_LIMIT_EXCEEDED, TEXT_TOO_MANY_CALLS, answers->max);

        waiting = g_new0(Waiting, 1);
        waiting->answers = answers;
        waiting->kind = kind;
        waiting->answer.question = sd_bus_message_ref(message);
        waiting->answer.userdata = answers->userdata;
        waiting->link.data = waiting;
        g_queue_push_tail_link(&answers->waiting, &waiting->link);
        turns_add(answers->turns, &waiting->turn, sender);
        return 1;
}

int answer_refuse_size(const Answer *answer, const char *instead, sd_bus_error *ret_error) {
        return sd_bus_error_setf(ret_error, ERROR_LIMIT_EXCEEDED,
                                 "the answer of %s would be longer than %zu MiB, which a bus may not take; use %s",
                                 sd_bus_message_get_member(answer->question), ANSWER_SIZE_MAX >> 20, instead);
}

int answer_append_text(Answer *answer, const char *text, size_t length) {
        size_t part = MIN(length - answer->next, TEXT_PART);
        int r = answer->space ? 0 : sd_bus_message_append_string_space(answer->reply, length, &answer->space);

        if (r < 0)
                return r;

        memcpy(answer->space + answer->next, text + answer->next, part);
        answer->next += part;
        return answer->next < length;
}
