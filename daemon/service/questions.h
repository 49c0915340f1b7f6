/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Method calls that ask for runs and their journals: what can be long to answer. They are answered in turns, so that
 * one who asks for much keeps nobody else waiting, and while the bus takes the answers, since all else that is said
 * comes behind them; and when it is known which runs there are: a daemon that has been started anew has not yet taken
 * up those of the one before.
 */

#include <glib.h>
#include <systemd/sd-bus.h>

typedef struct Questions Questions;

/* max: how many of one caller wait; another one is refused. userdata: for the handlers. */
Questions *questions_new(GMainContext *context, sd_bus *bus, unsigned max, void *userdata);
/* Those that wait are not answered any more. */
void questions_free(Questions *questions);

/* They are answered from now on; before, they wait. */
void questions_open(Questions *questions);

/* To be returned by the method handler: the other handler has the call when its turn has come. */
int questions_add(Questions *questions, sd_bus_message *message, sd_bus_message_handler_t handler,
                  sd_bus_error *ret_error);
