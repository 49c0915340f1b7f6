/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Gives method handlers access to the objects of their connection. Handlers get a Published as userdata. */

#include "service/published.h"
#include "service/arguments.h"

#define NAME_LENGTH_MAX 200u

Manager *published_manager(const Published *published) {
        return published->manager;
}

const ServiceInfo *published_info(const Published *published) {
        return published->info;
}

const char *published_status(const Published *published) {
        if (manager_is_stopping(published->manager))
                return "stopping";

        return published->open ? "running" : "starting";
}

bool published_is_long(sd_bus_message *message) {
        return arguments_size(message) > NAME_LENGTH_MAX;
}

int published_answer(Published *published, sd_bus_message *message, sd_bus_message_handler_t handler,
                     sd_bus_error *ret_error) {
        if (published_is_long(message))
                return handler(message, published, ret_error);

        return answers_add(published->answers, message, handler, ret_error);
}

int published_answer_long(Published *published, sd_bus_message *message, const AnswerKind *kind,
                          sd_bus_error *ret_error) {
        return answers_add_long(published->answers, message, kind, ret_error);
}

int published_authorize(const Published *published, sd_bus_message *message, Request request, OperationRun run,
                        sd_bus_error *ret_error) {
        return operation_start(published->operations, message, request, run, ret_error);
}

int published_authorize_long(const Published *published, sd_bus_message *message, Request request, OperationBegin begin,
                             sd_bus_error *ret_error) {
        return operation_start_long(published->operations, message, request, begin, ret_error);
}

int published_subscribe(const Published *published, sd_bus_message *message, sd_bus_error *ret_error) {
        return subscribers_add(published->subscribers, message, ret_error);
}

void published_unsubscribe(const Published *published, const char *name) {
        subscribers_remove(published->subscribers, name);
}

void published_hold(const Published *published, const char *name, const char *run) {
        subscribers_hold(published->subscribers, name, run);
}

void published_release(const Published *published) {
        subscribers_release(published->subscribers);
}
