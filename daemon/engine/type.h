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
struct json_object;

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
        /* Text that is compiled when the file is loaded, and in which a brace is a brace. */
        PARAM_EXPRESSION,  /* const Script *, NULL when not given */
        PARAM_CODE,        /* the same: statements instead of a value */
        PARAM_EXPRESSIONS, /* const NamedScript *, from an object of expressions; NULL when not given */
        PARAM_KIND_MAX_,
} ParamKind;

/* An expression or code, compiled: see script/scripts.h. */
typedef struct Script Script;

typedef struct NamedScript {
        const char *name; /* NULL behind the last */
        const Script *script;
} NamedScript;

typedef struct Param Param;

struct Param {
        const char *name;
        ParamKind kind;
        size_t offset; /* of the field in the type's struct */
        bool required;
        bool literal; /* takes no "{key}" reference, since it is needed before the run */
        bool plain;   /* besides literal: a brace is a brace */
        bool late;    /* of a control or decorator: takes references, since its host fills them in */
        bool single;  /* PARAM_STRINGS: a string alone is a list of one */
        /* The names of variables that the node reads or sets: a string, a list of strings, the values of a
         * PARAM_STRING_MAP, the keys of PARAM_EXPRESSIONS. Literal, too. In a list "" is none. */
        bool reads, writes;
        /* By the leaf, to anybody: no secret may stand in it, and a reference to what is no string becomes its JSON. */
        bool shown;
        /* Its value says in a few words what the node is about. A string, a list of strings, a span, an expression. */
        bool title;
        bool causes;               /* PARAM_STRINGS: patterns of causes, see basic/cause.h. Literal, too. */
        const char *fallback;      /* the default, as JSON text; NULL: the field's zero */
        int64_t min, max;          /* PARAM_INT, PARAM_NUMBER, PARAM_SPAN (µs); both 0: no limits but the type's */
        const char *const *values; /* PARAM_ENUM: the names, NULL-terminated */
        const Param *members;      /* PARAM_OBJECT: ended by an entry without a name */
        size_t members_size;       /* PARAM_OBJECT: size of the struct */
        const char *const *extra;  /* scripts: what they can name besides variables, NULL-terminated; or NULL */
        /* PARAM_STRING: what is wrong with the text, or a trap, as the check of a type says it; NULL: it is looked at
         * when the leaf starts. Not called where there are references. */
        char *(*check)(const char *text, bool *ret_is_error);
        const char *doc; /* one line for the reference */
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
        /* Its timer goes on when it has completed, until something above it has an outcome or is reset. */
        TYPE_KEEPS_TIMER = 1 << 4,
        /* Does not start its child again once that has completed. */
        TYPE_ONCE = 1 << 5,
        /* Begins, as an action does, only when what it replaces has ended: its halt does something. */
        TYPE_BEGINS_LATE = 1 << 6,
        /* Can never answer FAILURE. This and the next two are also flags of nodes. */
        TYPE_NEVER_FAILS = 1 << 7,
        /* Can never answer SUCCESS. */
        TYPE_NEVER_SUCCEEDS = 1 << 8,
        /* May answer SKIPPED though none of its children did. */
        TYPE_SKIPS = 1 << 9,
        /* Its parameters are a SubTreeParams: its child is a copy of the root of the tree that it names. */
        TYPE_SUBTREE = 1 << 10,
        /* Its parameters are a ForEachParams: it has as many copies of its child as it may run at once. */
        TYPE_FOR_EACH = 1 << 11,
        /* The first of its children that fails is why it fails, whatever comes behind that. */
        TYPE_FIRST_FAILURE = 1 << 12,
        /* What its position means, so that one which was written down can be checked: a child, or 0 for none; a child
         * whenever it runs, and besides that also the last child; or a status. */
        TYPE_AT_CHILD = 1 << 13,
        TYPE_AT_CHILD_ALWAYS = 1 << 14,
        TYPE_AT_LAST_CHILD = 1 << 15,
        TYPE_AT_STATUS = 1 << 16,
} NodeTypeFlags;

/* The parameters of the types that have scopes of their own, which the loader and hosts read too. */
typedef struct SubTreeParams {
        const char *tree;
        struct json_object
                *inputs; /* an object: its inputs; NULL: none. May have references, so see definition_params() */
        const char *const *outputs; /* "result=camera_result": its output, and the variable that gets it; or NULL */
} SubTreeParams;

typedef struct ForEachParams {
        struct json_object *items; /* may be a reference, so see definition_params() */
        const char *as, *index;    /* the variables of each instance; index may be NULL */
        int64_t concurrency, max_failures;
} ForEachParams;

/*
 * Of a type that, while its children complete at once, only begins them one after the other. Which leaf follows which
 * is worked out with the tree then (Route), and a tick that begins an activation goes that way (node_walk()).
 */
typedef struct Course {
        Status goes_on;          /* the outcome of a child after which the next one begins; IDLE: none does */
        Status success, failure; /* what it makes of these where no child follows */
        /* The rest of such a tick, after a child that has answered something else, or with more to mind. */
        Status (*resume)(Machine *machine, NodeId node, NodeId child, Status answer);
} Course;

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
        const Course *course; /* NULL: it has none; else tick() takes it where it may, see node_may_walk() */
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
