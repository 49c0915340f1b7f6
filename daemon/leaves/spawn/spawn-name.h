/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The name of a process of Spawn, in the names of its unit and of its output files. It is made from the start of the
 * leaf: "boot.3-12-1". A later daemon finds both by it.
 */

#include "run/leaf.h"

typedef struct SpawnName {
        char *run;
        NodeId node;
        uint32_t attempt;
        unsigned repetition; /* of a program that the leaf runs again and again, from 1; else 0 */
} SpawnName;

/* To be freed. */
char *spawn_name_format(const Leaf *leaf, unsigned repetition);
/* Of a text between these two. False: there is no such name in it. */
bool spawn_name_parse(const char *text, const char *prefix, const char *suffix, SpawnName *ret_name);
void spawn_name_clear(SpawnName *name);

#define SPAWN_UNIT_PREFIX "btd-"
#define SPAWN_UNIT_SUFFIX ".service"

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(SpawnName, spawn_name_clear)
