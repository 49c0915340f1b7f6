/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Owns the method calls that only read, until they are answered. A long answer is made in pieces of about a
 * millisecond, so that readers delay each other but never the runs. Users and their connections take turns, see
 * service/turns.h, and one answer is made at a time, only when the bus has taken all earlier messages. So memory holds
 * at most two long answers.
 *
 * Calls wait until btd has recovered the runs of its previous instance, because only then it knows all runs. If the
 * caller leaves the bus, its answer is dropped.
 */

#include <string.h>
#include <systemd/sd-bus.h>

#include "basic/users.h"
#include "basic/workers.h"
#include "bus/connection.h"
#include "definition/definition.h"

typedef struct Answers Answers;
typedef struct AnswerKind AnswerKind;

/* A long answer that is being made. The members below the blank line are for the kind; those that are set are freed
 * with the answer. */
typedef struct Answer {
        sd_bus_message *question, *reply;
        void *userdata; /* userdata of the Answers */

        Definition *definition;
        char *run;                     /* id of the run */
        const char *wanted;            /* borrowed from the question */
        GPtrArray *names;              /* char * */
        struct VariableWriter *writer; /* see service/variables-bus.h */
        size_t next;                   /* the next node, name or byte */
        size_t size;                   /* bytes that were appended, about */
        size_t n_elements;             /* of an array */
        void *data;                    /* owned by the kind, which frees it in end() */
        char *space;                   /* a buffer inside the reply */
        bool begun;                    /* the kind has opened its container */
} Answer;

#define ANSWER_WAITS 2

/* Limits of the bytes of an answer. A dbus-daemon disconnects the sender of a message of more than 32 MiB. An answer in
 * parts is shorter, so that all that is sent meanwhile does not wait behind it. */
#define ANSWER_SIZE_MAX ((size_t) 24 << 20)
#define ANSWER_PART_SIZE ((size_t) 128 << 10)
/* A part with fewer elements is the last one: org.btd1(5) promises that. */
#define ANSWER_PART_LEAST 1000u
/* What a value takes in a message besides its text, about. */
#define ANSWER_VALUE_SIZE 16u
/* text may be NULL. */
static inline size_t answer_text_size(const char *text) {
        return text ? strlen(text) : 0;
}

struct AnswerKind {
        const char *array;   /* the element type, if the answer is an array; else NULL */
        const char *instead; /* for an answer that is too long: the method to use, with its option in brackets */
        bool is_wait; /* waits for long with ANSWER_WAITS: does not count with other calls; the limit ends the oldest */
        /* An array whose first element the caller names, as the only argument; the caller asks again for the elements
         * that have no room in this part. */
        bool in_parts;
        int (*begin)(Answer *answer, sd_bus_error *ret_error); /* may be NULL */
        /* Appends one element, in microseconds. 1: there may be more, 0: the answer is complete, ANSWER_WAITS: call
         * again after answers_retry(). */
        int (*append)(Answer *answer, sd_bus_error *ret_error);
        void (*end)(Answer *answer); /* also called if the answer is dropped after begin(); may be NULL */
};

/* users: NULL: nobody has a share. limits: of the pending calls of a connection, after which calls are refused, and of
 * the waits of a user, of which the oldest ends. userdata: for the handlers. */
Answers *answers_new(Connection *connection, Users *users, const Limits *limits, void *userdata);
/* Drops pending calls without a reply. */
void answers_free(Answers *answers);

/* Starts answering. Until then, calls wait. */
void answers_open(Answers *answers);

/* Continues answers that returned ANSWER_WAITS. */
void answers_retry(Answers *answers);

/* For method handlers: return the result of this function. The call waits for its turn; then the answer is made. */
int answers_add(Answers *answers, sd_bus_message *message, const AnswerKind *kind, sd_bus_error *ret_error);

/* Work on a thread that an answer waits for: the first member of the answer's data. Whoever uses the data last frees
 * it: the answer, or the thread if the answer was dropped. */
typedef struct AnswerWork {
        Answers *answers;
        Work *work;          /* NULL: it is done */
        GDestroyNotify free; /* of the data */
} AnswerWork;

/* done() and free() of its WorkKind, and end() of the AnswerKind. */
void answer_work_done(void *data, void *userdata);
void answer_work_free(void *data);
void answer_work_end(Answer *answer);

/* Sets the error for an answer that would be too long. Returns what append() returns. */
int answer_refuse_size(const Answer *answer, const char *instead, sd_bus_error *ret_error);

/* For kinds whose reply is one string: appends the next part of the text. 1: there is more, 0: the text is complete. */
int answer_append_text(Answer *answer, const char *text, size_t length);
