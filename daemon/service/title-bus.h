/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * How the bus sees what nodes are about: an a{us} of those nodes that have a title.
 */

#include <systemd/sd-bus.h>

#include "definition/definition.h"

/* Answers the message with the titles. */
int title_bus_reply(sd_bus_message *message, const Definition *definition);
