/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Each is kept with the handler that answers it, and counted by who asks. */

#include "service/questions.h"
#include "basic/cleanup.h"
#include "service/errors.h"
#include "service/turns.h"

struct Questions {
        sd_bus *bus;
        Turns *turns;
        GQueue waiting; /* of Question */
        unsigned max;
        void *userdata;
};

typedef struct Question {
        Turn turn; /* first: its turn is the question's */
        Questions *questions;
        GList link;
        sd_bus_message *message;
        sd_bus_message_handler_t handler;
} Question;

static void question_free(Question *question) {
        g_queue_unlink(&question->questions->waiting, &question->link);
        turn_drop(&question->turn);
        sd_bus_message_unref(question->message);
        g_free(question);
}

static void on_turn(Turn *turn) {
        Question *question = (Question *) turn;
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        int r = question->handler(question->message, question->questions->userdata, &error);

        if (sd_bus_error_is_set(&error))
                (void) sd_bus_reply_method_error(question->message, &error);
        else if (r < 0)
                (void) sd_bus_reply_method_errno(question->message, r, NULL);

        question_free(question);
}

/* Is nothing left that the bus has not taken? */
static bool may_answer(void *userdata) {
        const Questions *questions = userdata;
        uint64_t n_unsent = 0;

        return sd_bus_get_n_queued_write(questions->bus, &n_unsent) < 0 || n_unsent == 0;
}

Questions *questions_new(GMainContext *context, sd_bus *bus, unsigned max, void *userdata) {
        Questions *questions = g_new0(Questions, 1);

        questions->bus = sd_bus_ref(bus);
        questions->turns = turns_new(context, on_turn, may_answer, questions);
        questions->max = max;
        questions->userdata = userdata;
        return questions;
}

void questions_free(Questions *questions) {
        if (!questions)
                return;

        while (questions->waiting.head)
                question_free(questions->waiting.head->data);
        turns_free(questions->turns);
        sd_bus_unref(questions->bus);
        g_free(questions);
}

void questions_open(Questions *questions) {
        turns_open(questions->turns);
}

static unsigned count_of_sender(const Questions *questions, const char *sender) {
        unsigned n = 0;

        for (const GList *link = questions->waiting.head; link; link = link->next)
                n += g_str_equal(((const Question *) link->data)->turn.caller, sender);

        return n;
}

int questions_add(Questions *questions, sd_bus_message *message, sd_bus_message_handler_t handler,
                  sd_bus_error *ret_error) {
        const char *sender = sd_bus_message_get_sender(message);
        Question *question;

        if (count_of_sender(questions, sender) >= questions->max)
                return sd_bus_error_setf(ret_error, ERROR_LIMIT_EXCEEDED, TEXT_TOO_MANY_CALLS, questions->max);

        question = g_new0(Question, 1);
        question->questions = questions;
        question->message = sd_bus_message_ref(message);
        question->handler = handler;
        question->link.data = question;
        g_queue_push_tail_link(&questions->waiting, &question->link);
        turns_add(questions->turns, &question->turn, sender);
        return 1;
}
