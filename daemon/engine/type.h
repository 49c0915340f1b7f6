/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The table entry of a node type. Everything that is said about a type is said here, once:
 * parsing, validation, "did you mean", the JSON schema and the reference are made from it.
 *
 * A type's parameters are a plain C struct; each Param names one key of the JSON node and the
 * field of that struct which receives it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/status.h"

typedef struct Machine Machine;
typedef struct Tree Tree;
typedef struct Node Node;
typedef uint32_t NodeId;

#define NODE_NONE UINT32_MAX

/* No limit: the value of a span field for "infinity". */
#define SPAN_INFINITY UINT64_MAX

typedef enum ParamKind {
        PARAM_BOOL,       /* bool */
        PARAM_INT,        /* int64_t, within min..max */
        PARAM_NUMBER,     /* double, within min..max */
        PARAM_STRING,     /* const char *, NULL when not given */
        PARAM_SPAN,       /* uint64_t, microseconds; a systemd time span as a string, within min..max */
        PARAM_ENUM,       /* int, index into values */
        PARAM_STRINGS,    /* const char *const *, NULL-terminated; NULL when not given */
        PARAM_STRING_MAP, /* as PARAM_STRINGS with "key=value" entries, from an object of strings */
        PARAM_JSON,       /* json_object *, NULL when not given (JSON null: see given) */
        PARAM_OBJECT,     /* pointer to the struct that members describe; NULL when not given */
        PARAM_KIND_MAX_,
} ParamKind;

typedef struct Param Param;

struct Param {
        const char *name;
        ParamKind kind;
        size_t offset; /* of the field in the type's struct */
        bool required;
        bool literal;              /* takes no "{key}" reference, since it is needed before the run */
        bool plain;                /* besides literal: a brace is a brace */
        const char *fallback;      /* the default, as JSON text; NULL: the field's zero */
        int64_t min, max;          /* PARAM_INT, PARAM_NUMBER, PARAM_SPAN (µs); both 0: no limits but the type's */
        const char *const *values; /* PARAM_ENUM: the names, NULL-terminated */
        const Param *members;      /* PARAM_OBJECT: ended by an entry without a name */
        size_t members_size;       /* PARAM_OBJECT: size of the struct */
        const char *doc;           /* one line for the reference */
};

typedef enum NodeClass {
        NODE_CONTROL,   /* many children: key "children" */
        NODE_DECORATOR, /* one child: key "child" */
        NODE_ACTION,    /* a leaf that does something */
        NODE_CONDITION, /* a leaf with a live value */
} NodeClass;

typedef enum NodeTypeFlags {
        /* A control or decorator that only computes its result from its children's: ticked again over
         * unchanged children it gives the same again and does nothing. */
        TYPE_PURE = 1 << 0,
        /* Looks at children again that have completed, so their conditions stay live while it runs. */
        TYPE_REACTIVE = 1 << 1,
        /* The same, for its first child only. */
        TYPE_REACTIVE_FIRST = 1 << 2,
        /* A leaf that always completes in the tick that starts it: nothing to wait for, nothing to halt. */
        TYPE_IMMEDIATE = 1 << 3,
        /* With one child only it gives whatever that gives, and its position is that child. */
        TYPE_ORDERED = 1 << 4,
        /* Its timer goes on when it has completed, until something above it has an outcome or is reset. */
        TYPE_KEEPS_TIMER = 1 << 5,
        /* Does not start its child again once that has completed. */
        TYPE_ONCE = 1 << 6,
        /* Can never answer FAILURE. This and the next two are also flags of nodes. */
        TYPE_NEVER_FAILS = 1 << 7,
        /* Can never answer SUCCESS. */
        TYPE_NEVER_SUCCEEDS = 1 << 8,
        /* May answer SKIPPED though none of its children did. */
        TYPE_SKIPS = 1 << 9,
} NodeTypeFlags;

typedef struct LeafKind LeafKind;

typedef struct NodeType {
        const char *name;
        const char *const *aliases; /* NULL-terminated, or NULL */
        NodeClass class;
        unsigned flags;
        uint32_t min_children, max_children; /* controls; decorators have one, leaves none */
        const Param *params;                 /* ended by an entry without a name, or NULL */
        size_t params_size;
        const char *summary; /* one line */
        const char *doc;     /* paragraphs for the reference, may be NULL */

        /* Controls and decorators: the engine's functions. */
        Status (*tick)(Machine *machine, NodeId node);
        void (*halt)(Machine *machine, NodeId node);   /* of a running node; NULL: resets all children */
        bool (*finish)(Machine *machine, NodeId node); /* for a halt that takes time, see node_set_ending() */
        /* Which of TYPE_NEVER_FAILS, TYPE_NEVER_SUCCEEDS and TYPE_SKIPS hold for the node besides the type's flags, as
         * its parameters and its children are; may be NULL. */
        unsigned (*never)(const Node *nodes, NodeId node);
        /* Looks for what cannot work or is a trap, beyond what the table says; may be NULL. Answers a text
         * for people (to be freed by the caller) or NULL, and whether it is an error or a warning. */
        char *(*check)(const Tree *tree, NodeId node, bool *ret_is_error);

        /* Leaves: what the runtime calls, see leaves/leaf.h. The engine does not look inside. */
        const LeafKind *leaf;
} NodeType;

/* The engine's controls and decorators, NULL-terminated. */
extern const NodeType *const engine_types[];
