/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* For handlers, which have it as a void pointer. */

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

int published_answer(Published *published, sd_bus_message *message, sd_bus_message_handler_t handler,
                     sd_bus_error *ret_error) {
        /* What is longer than any name is that of no run, and would be much to keep. */
        if (arguments_size(message) > NAME_LENGTH_MAX)
                return handler(message, published, ret_error);

        return questions_add(published->questions, message, handler, ret_error);
}

int published_authorize(const Published *published, sd_bus_message *message, Deed deed, OperationRun run,
                        sd_bus_error *ret_error) {
        return operation_start(published->operations, message, deed, run, ret_error);
}

int published_subscribe(const Published *published, sd_bus_message *message, sd_bus_error *ret_error) {
        return subscribers_add(published->subscribers, message, ret_error);
}

void published_unsubscribe(const Published *published, const char *name) {
        subscribers_remove(published->subscribers, name);
}
