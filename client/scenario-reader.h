/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A scenario that is being read: what the top of the file and the outcomes in it share.
 */

#include "definition/arena.h"
#include "definition/text.h"
#include "scenario.h"

/* What a leaf does, start after start; the last one is for all further ones. */
typedef struct Role {
        const Outcome *outcomes;
        uint32_t n_outcomes;
} Role;

struct Scenario {
        Arena *arena;        /* of all that it points to */
        GHashTable *by_path; /* NodeId -> Role, where the file has the leaf's path */
        GHashTable *by_name; /* ... or its name */
        Outcome fallback;    /* of leaves that the file does not name */
        uint64_t halt;
};

typedef struct Reader {
        Text text;
        GString *scratch;
        const Tree *tree;
        Diagnostics *diagnostics;
        Scenario *scenario;
        const char *where; /* what the file calls the leaf that is being read about, or NULL */
} Reader;

#define FIELDS_MAX 8

/* An object of a fixed set of members. */
typedef struct Fields {
        const char *owner; /* "a script": which has such members */
        const Param *params;
} Fields;

/* Takes the text. */
void reader_error(Reader *reader, uint32_t item, char *text);
/* A string, ended by a NUL; to be freed. */
char *reader_string(Reader *reader, uint32_t item);
/* "a string", "an object": what stands there. */
const char *reader_describe(const Reader *reader, uint32_t item);

/* Sets what is given, but leaves JSON values to the caller. ret_items: the value of each, by its position in the table;
 * 0: not given. */
void reader_read_fields(Reader *reader, uint32_t item, const Fields *fields, void *values,
                        uint32_t ret_items[static FIELDS_MAX]);
/* The one parameter from the item. */
void reader_set(Reader *reader, uint32_t item, const Param *param, void *values);

/* What the leaves do that go by one name, which are all of one class. */
const Role *reader_read_role(Reader *reader, uint32_t item, const NodeId *leaves, uint32_t n_leaves);
/* The same for all leaves of the tree that have no role. */
void reader_read_fallback(Reader *reader, uint32_t item);
