/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Asks polkit whether a caller may do a request, see polkit(8) and the interface org.freedesktop.PolicyKit1.Authority.
 */

#include <stdbool.h>
#include <systemd/sd-bus.h>

#include "service/permission.h"

typedef struct PolkitQuestion PolkitQuestion;

typedef enum PolkitAnswer {
        POLKIT_YES,
        POLKIT_NO,
        POLKIT_CHALLENGE, /* authentication is required, but the call is not interactive */
        POLKIT_FAILED,    /* it could not decide, as when the caller has left the bus */
        POLKIT_ABSENT,    /* polkit is not running, or its reply is invalid */
        POLKIT_LEFT_OUT,  /* this btd was built without it */
} PolkitAnswer;

/* The callback may free the question. */
typedef void (*PolkitAnswered)(PolkitAnswer answer, void *userdata);

/* sender: the caller's unique name. interactive: polkit may ask the user for a password, which can take minutes.
 * -EOPNOTSUPP: this btd was built without polkit. */
int polkit_ask(sd_bus *bus, const char *sender, const Request *request, bool interactive, PolkitAnswered answered,
               void *userdata, PolkitQuestion **ret_question);
/* Cancels the question. Its callback is not called. */
void polkit_question_free(PolkitQuestion *question);
