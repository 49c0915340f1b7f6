/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Who owns which name of a bus: of the names that somebody watches, each with one match rule and one question.
 */

#include "basic/audience.h"
#include "bus/rules.h"

typedef enum NameState {
        NAME_UNKNOWN, /* the bus is not there, or has not answered yet */
        NAME_ABSENT,
        NAME_OWNED,
} NameState;

typedef struct Names Names;
typedef struct Name Name;

/* Told when the state, or the owner, has changed. Part of whatever watches. */
typedef struct NameUse {
        Follower follower;
        Name *name;
} NameUse;

/* rules: borrowed. */
Names *names_new(Rules *rules);
/* Uses that are left over can be left. */
void names_free(Names *names);

/* The bus is there, and has been given all rules. */
void names_attach(Names *names, sd_bus *bus);
/* It is lost: all names are unknown. */
void names_detach(Names *names);
/* A signal has come: before anybody else hears of it. */
void names_hear(Names *names, sd_bus_message *signal);

/* The follower is filled in. What is known already is not told. */
void name_use(Names *names, NameUse *use, const char *name);
void name_leave(NameUse *use);
NameState name_state(const NameUse *use);
/* Its unique name; NULL: none is known. */
const char *name_owner(const NameUse *use);

/* The names that are known to belong to the unique name, as the texts that they were asked for with; NULL: none.
 * Borrowed until a name is left or changes its owner. */
const GPtrArray *names_of_owner(const Names *names, const char *owner);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Names, names_free)
