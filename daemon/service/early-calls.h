/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Method calls that ask for runs before it is known which there are: the daemon has been started anew, and has not yet
 * taken up those of the one before. They are kept, and answered when it has.
 */

#include <systemd/sd-bus.h>

typedef struct EarlyCalls EarlyCalls;

/* max: how many of one caller are kept; another one is refused. userdata: for the handlers. */
EarlyCalls *early_calls_new(unsigned max, void *userdata);
/* Those that are kept are not answered any more. */
void early_calls_free(EarlyCalls *calls);

/* To be returned by the method handler: the other handler has the call later. */
int early_calls_keep(EarlyCalls *calls, sd_bus_message *message, sd_bus_message_handler_t handler,
                     sd_bus_error *ret_error);
/* All of them, in order. */
void early_calls_answer(EarlyCalls *calls);
