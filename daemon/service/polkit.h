/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * One question to polkit: may the caller do this? See polkit(8) and the interface org.freedesktop.PolicyKit1.Authority.
 */

#include <stdbool.h>
#include <systemd/sd-bus.h>

#include "service/permission.h"

typedef struct PolkitQuestion PolkitQuestion;

typedef enum PolkitAnswer {
        POLKIT_YES,
        POLKIT_NO,
        POLKIT_CHALLENGE, /* the caller would have to authenticate, but cannot be asked to */
        POLKIT_ABSENT,    /* it is not there, or did not understand */
} PolkitAnswer;

/* The question may be freed from within. */
typedef void (*PolkitAnswered)(PolkitAnswer answer, void *userdata);

/* sender: the caller's unique name. interactive: the caller may be asked to authenticate, for which it has minutes. */
int polkit_ask(sd_bus *bus, const char *sender, const Deed *deed, bool interactive, PolkitAnswered answered,
               void *userdata, PolkitQuestion **ret_question);
/* Whatever the answer is, it is of no interest any more. */
void polkit_question_free(PolkitQuestion *question);
