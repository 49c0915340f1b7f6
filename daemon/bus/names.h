/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Follows the owners of the names that are used on a bus, with one match rule and one query for each name.
 */

#include "basic/audience.h"
#include "bus/matches.h"

typedef enum NameState {
        NAME_UNKNOWN, /* the bus is not connected, or has not replied yet */
        NAME_ABSENT,
        NAME_OWNED,
} NameState;

typedef struct Names Names;
typedef struct Name Name;

/* Its follower is called when the state or the owner has changed. Part of its user's struct. */
typedef struct NameUse {
        Follower follower;
        Name *name;
} NameUse;

/* rules: borrowed. */
Names *names_new(Rules *rules);
/* Remaining uses can still be left. */
void names_free(Names *names);

/* The bus is connected, and all rules were sent to it. */
void names_attach(Names *names, sd_bus *bus);
/* The bus is lost: all names are unknown. */
void names_detach(Names *names);
/* Handles a signal; to be called before matches_dispatch(). */
void names_dispatch(Names *names, sd_bus_message *signal);

/* use->follower must be set. It is not called for the present state. */
void name_use(Names *names, NameUse *use, const char *name);
void name_leave(NameUse *use);
NameState name_state(const NameUse *use);
/* The unique name of the owner; NULL: not known, or none. */
const char *name_owner(const NameUse *use);

/* The used names that the unique name owns; NULL: none. Borrowed until a name is left or changes its owner. */
const GPtrArray *names_of_owner(const Names *names, const char *owner);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Names, names_free)
