/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A load in progress: what its parts (the top of the file, nodes, parameters) share.
 */

#include "definition/load.h"
#include "definition/params.h"
#include "definition/text.h"
#include "definition/types.h"
#include "script/blackboard.h"

/* A node whose children are being read. */
typedef struct Frame {
        const char *name; /* of the node, for paths */
        uint32_t child;   /* the item of the next child */
        uint32_t n_left;
} Frame;

/* Where a node of the tree came from. */
typedef struct Origin {
        uint32_t item;
        bool check; /* nothing was wrong with it: the type's own check can look at it */
} Origin;

typedef struct Loader {
        Text text;
        GString *scratch;
        Types *types;
        Diagnostics *diagnostics;

        Arena *arena;
        GHashTable *names;    /* of nodes: each only once in the arena */
        GHashTable *defaults; /* NodeType -> the struct of its defaults, shared by its nodes */
        GArray *templates;
        GArray *guarded;
        Blackboard *nothing; /* without variables: for values that have only escaped braces */

        TreeBuilder *builder; /* NULL once the shape of the tree is known to be wrong */
        GArray *origins;      /* of Origin, for each node in the builder */
        GArray *open;         /* of Frame */
        uint32_t n_nodes;
} Loader;

#define TARGET_PARAMS_MAX 64

/* What receives the values of an object's keys: a node, or the top of the file. */
typedef struct Target {
        const Param *params;
        void *values;
        size_t size;    /* of the values */
        uint64_t given; /* the parameters that were given, by their position in the table: at most TARGET_PARAMS_MAX */
        NodeId node;    /* NODE_NONE: there is none in the builder */
        bool literal;   /* takes no references */
        bool plain;     /* a brace is a brace */
        bool wrong;     /* something is wrong with it */
} Target;

/* Keys that are no parameters. */
typedef enum Key {
        KEY_TYPE,
        KEY_NAME,
        KEY_DESCRIPTION,
        KEY_CHILDREN,
        KEY_CHILD,
        KEY_MAX_,
} Key;

extern const char *const loader_key_names[KEY_MAX_];

/* A node that is being read. */
typedef struct Reading {
        uint32_t item;
        const NodeType *type;    /* NULL: none that is known */
        uint32_t keys[KEY_MAX_]; /* the item of the value; 0: not given */
        Target target;
        Target guards;
} Reading;

/* False the first time it is asked. */
bool target_was_given(Target *target, const Param *param);

/* Takes the text. */
void loader_error(Loader *loader, uint32_t item, char *text);

/* The same for a node, which is wrong then. */
void reading_error(Loader *loader, Reading *reading, uint32_t item, char *text);
/* The tree will not come to be, but reading goes on for what else is wrong. */
void loader_give_up_tree(Loader *loader);

/* A string, ended by a NUL; good until the next call. */
const char *loader_string(Loader *loader, uint32_t item, size_t *ret_length);
/* The same in the arena, where each name is only once. */
const char *loader_intern(Loader *loader, uint32_t item);

/* Sets the parameter from the item. */
void loader_set_param(Loader *loader, Target *target, const Param *param, uint32_t item);
/* Has everything been given that is required? owner: "StartUnit". */
void loader_check_required(Loader *loader, Target *target, uint32_t item, const char *owner);

/* The top of the file. False: the rest of it is not worth looking at. */
bool loader_read_header(Loader *loader, Loaded *loaded, uint32_t *ret_root);

/* All nodes from the root item on. */
void loader_read_nodes(Loader *loader, uint32_t root);
void loader_check_children(Loader *loader, Reading *reading);

/* "a string", "an object": what stands there. */
const char *loader_describe(const Loader *loader, uint32_t item);
/* "a Sequence", "an Inverter". To be freed. */
char *with_article(const char *name);
