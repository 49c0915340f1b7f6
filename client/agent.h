/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * polkit's agent for terminals, which asks for a password: pkttyagent(1). It lives as long as this.
 */

#include <glib.h>
#include <stdbool.h>

typedef struct Agent Agent;

/* Is there a person at a terminal who could be asked? */
bool agent_is_of_use(void);

/* NULL: it cannot be started. Ready when this returns. */
Agent *agent_new(void);
void agent_free(Agent *agent);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Agent, agent_free)
