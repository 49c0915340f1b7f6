/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * How long callers wait: asks btd for what programs ask it for, one question after the other, and a plain service
 * beside it, each every 5 ms, whether or not what was asked before has been answered. At the end of its input prints a
 * line for each of the two: its name, how many have been answered, how many not, and the median, the 99th percentile
 * and the longest of the times, in microseconds.
 *
 *   load-probe ADDRESS PLAIN-NAME
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "loop.h"

#define INTERVAL_USEC UINT64_C(5000)
#define SAMPLES_MAX 1000000u
#define BTD "org.btd1"

typedef struct Subject {
        const char *name;
        int (*ask)(sd_bus *bus, unsigned turn, sd_bus_message_handler_t on_answer, void *userdata);
        uint32_t *waited;
        unsigned n_asked, n_answered, n_errors;
} Subject;

/* One question and when it was asked. */
typedef struct Question {
        Subject *subject;
        uint64_t asked;
} Question;

typedef struct Probe {
        Loop loop;
        Subject subjects[2];
        unsigned turn;
        uint64_t next;
} Probe;

static const char *plain;

static uint64_t now_usec(void) {
        struct timespec now;

        clock_gettime(CLOCK_MONOTONIC, &now);
        return (uint64_t) now.tv_sec * 1000000 + (uint64_t) now.tv_nsec / 1000;
}

static int ask_btd(sd_bus *bus, unsigned turn, sd_bus_message_handler_t on_answer, void *userdata) {
        static const char *const methods[] = { "ListRuns", "ListTrees" };

        if (turn % 4 < 2)
                return sd_bus_call_method_async(bus, NULL, BTD, "/org/btd1", "org.freedesktop.DBus.Properties", "Get",
                                                on_answer, userdata, "ss", "org.btd1.Manager", "NRunning");

        return sd_bus_call_method_async(bus, NULL, BTD, "/org/btd1", "org.btd1.Manager", methods[turn % 2], on_answer,
                                        userdata, NULL);
}

static int ask_plain(sd_bus *bus, unsigned turn, sd_bus_message_handler_t on_answer, void *userdata) {
        return sd_bus_call_method_async(bus, NULL, plain, "/load", "org.example.Load", "Ask", on_answer, userdata,
                                        NULL);
}

static int on_answer(sd_bus_message *reply, void *userdata, sd_bus_error *ret_error) {
        Question *question = userdata;
        Subject *subject = question->subject;

        if (sd_bus_message_is_method_error(reply, NULL))
                subject->n_errors++;
        subject->waited[subject->n_answered++] = (uint32_t) (now_usec() - question->asked);
        free(question);
        return 0;
}

static int ask(Probe *probe, Subject *subject) {
        Question *question = malloc(sizeof(Question));

        if (!question || subject->n_asked >= SAMPLES_MAX)
                abort();

        *question = (Question){ .subject = subject, .asked = now_usec() };
        subject->n_asked++;
        return subject->ask(probe->loop.bus, probe->turn, on_answer, question);
}

static int on_time(sd_event_source *source, uint64_t due, void *userdata) {
        Probe *probe = userdata;
        int r = ask(probe, &probe->subjects[0]);

        if (r >= 0)
                r = ask(probe, &probe->subjects[1]);
        if (r < 0)
                return r;

        probe->turn++;
        probe->next += INTERVAL_USEC;
        r = sd_event_source_set_time(source, probe->next);
        return r < 0 ? r : sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

static int compare(const void *a, const void *b) {
        uint32_t x = *(const uint32_t *) a, y = *(const uint32_t *) b;

        return (x > y) - (x < y);
}

static void report(Subject *subject) {
        unsigned n = subject->n_answered;

        qsort(subject->waited, n, sizeof(uint32_t), compare);
        printf("%s %u %u", subject->name, n, subject->n_asked - n + subject->n_errors);
        if (n > 0)
                printf(" %" PRIu32 " %" PRIu32 " %" PRIu32, subject->waited[n / 2], subject->waited[n * 99 / 100],
                       subject->waited[n - 1]);
        putchar('\n');
}

/* Waits for a minute at most: an answer that has not come by then is lost. */
static int wait_for_answers(Probe *probe) {
        uint64_t until = now_usec() + 60000000;
        int r = 0;

        for (unsigned i = 0; i < 2 && r >= 0; i++)
                while (probe->subjects[i].n_answered < probe->subjects[i].n_asked && now_usec() < until) {
                        r = sd_bus_process(probe->loop.bus, NULL);
                        if (r == 0)
                                r = sd_bus_wait(probe->loop.bus, 100000);
                        if (r < 0)
                                break;
                }

        return r;
}

static int measure(Probe *probe, const char *address) {
        int r = loop_open(&probe->loop, address);

        if (r < 0)
                return r;

        probe->next = now_usec();
        r = sd_event_add_time(probe->loop.event, NULL, CLOCK_MONOTONIC, probe->next, 1, on_time, probe);
        if (r >= 0)
                r = loop_run(&probe->loop);

        return r < 0 ? r : wait_for_answers(probe);
}

int main(int argc, char *argv[]) {
        static uint32_t waited[2][SAMPLES_MAX];
        Probe probe = { .subjects = { { .name = "btd", .ask = ask_btd, .waited = waited[0] },
                                      { .name = "plain", .ask = ask_plain, .waited = waited[1] } } };
        int r;

        if (argc != 3) {
                fprintf(stderr, "usage: load-probe ADDRESS PLAIN-NAME\n");
                return 2;
        }

        plain = argv[2];
        r = measure(&probe, argv[1]);
        if (r >= 0) {
                report(&probe.subjects[0]);
                report(&probe.subjects[1]);
        }
        loop_close(&probe.loop);
        return loop_status("load-probe", r);
}
