/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Defines the table entry of a node type. Parsing, validation, "did you mean", the JSON schema and the
 * reference documentation are all made from it.
 *
 * A type's parameters are a plain C struct; each Param names one key of the JSON node and the
 * field of the struct that receives its value.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The status of a node or a run. A node is IDLE or RUNNING and answers a tick with RUNNING,
 * SUCCESS, FAILURE or SKIPPED; it never answers IDLE. A run ends as HALTED if it was stopped,
 * and as ERROR if the tree itself is broken; ERROR also travels up through the nodes. It ends as
 * UNFINISHED if it has not ended by itself when the machine goes down.
 */
typedef enum Status {
        STATUS_IDLE,
        STATUS_RUNNING,
        STATUS_SUCCESS,
        STATUS_FAILURE,
        STATUS_SKIPPED,
        STATUS_HALTED,
        STATUS_ERROR,
        STATUS_NODE_MAX_, /* what follows is only of runs */
        STATUS_UNFINISHED = STATUS_NODE_MAX_,
        STATUS_MAX_,
} Status;

/* "idle", "running", ... as shown on the bus and by btctl. */
const char *status_to_string(Status status);

typedef struct Machine Machine;
typedef struct Tree Tree;
typedef struct Node Node;
typedef uint32_t NodeId;
typedef struct ParamSetter ParamSetter; /* definition/params/params.h */
typedef struct Place Place;
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
        /* Text that is compiled when the file is loaded, and in which braces have no special meaning. */
        PARAM_EXPRESSION,  /* const Script *, NULL when not given */
        PARAM_CODE,        /* the same: statements instead of a value */
        PARAM_EXPRESSIONS, /* const NamedScript *, from an object of expressions; NULL when not given */
        PARAM_KIND_MAX_,
} ParamKind;

/* An expression or code, compiled: see script/scripts.h. */
typedef struct Script Script;

typedef struct NamedScript {
        const char *name; /* NULL after the last one */
        const Script *script;
} NamedScript;

typedef struct Param Param;

/* The format of a text. The loader, the expansion of references, the JSON schema and the reference use it. */
typedef struct TextFormat {
        const char *name;                   /* with its article: "an object path" */
        const char *example;                /* for messages; needed with valid */
        const char *pattern;                /* a regular expression that every valid text matches, or NULL */
        bool (*valid)(const char *text);    /* NULL: problem is used */
        char *(*problem)(const char *text); /* an error message (to be freed), or NULL; NULL: valid is used */
        char *(*trap)(const char *text);    /* the same for a valid text that deserves a warning; may be NULL */
} TextFormat;

/* The same for a value of any kind. */
typedef struct ValueFormat {
        /* Reports errors in the value at the place, see definition/params/param-report.h. -EINVAL: there was one. */
        int (*check)(const ParamSetter *setter, const Place *place, struct json_object *value);
        struct json_object *(*schema)(void); /* a new JSON schema */
} ValueFormat;

struct Param {
        const char *name;
        ParamKind kind;
        size_t offset; /* of the field in the type's struct */
        bool required;
        bool literal; /* takes no "{key}" reference, since it is needed before the run */
        bool plain;   /* besides literal: braces have no special meaning */
        bool late;    /* of a control or decorator: takes references, whose values it gets when it begins */
        bool below;   /* of such a text: the references are to variables of each child, and stay in the value */
        bool single;  /* PARAM_STRINGS: a string alone is a list of one */
        /* The names of variables that the node reads or sets: a string, a list of strings, the values of a
         * PARAM_STRING_MAP, the keys of PARAM_EXPRESSIONS. Also literal. In a list "" is no variable. */
        bool reads, writes;
        bool local; /* the same for a variable that exists only below the node */
        /* The leaf shows the value to everybody: it must not contain a secret, and a reference to a value that is not a
         * string is replaced by its JSON, also null. */
        bool shown;
        /* Other users of the machine can see the value while the leaf runs, so a secret in it is a warning. */
        bool seen;
        /* Everybody can read what the leaf writes to the variable before it does, so that must not be secret. */
        bool openly;
        /* Its value describes the node in a few words. A string, a list of strings, a span, an expression. */
        bool title;
        bool causes;               /* PARAM_STRINGS: patterns of causes, see basic/cause.h. Also literal. */
        const char *fallback;      /* the default, as JSON text; NULL: the field's zero */
        int64_t min, max;          /* PARAM_INT, PARAM_NUMBER, PARAM_SPAN (µs); both 0: no limits but the type's */
        const char *const *values; /* PARAM_ENUM: the names; PARAM_STRINGS: the allowed elements; NULL-terminated */
        bool open;                 /* ... of which the format accepts more; an editor marks these */
        const Param *members;      /* PARAM_OBJECT: ended by an entry without a name */
        size_t members_size;       /* PARAM_OBJECT: size of the struct */
        const char *const *extra;  /* scripts: names that they can use besides variables, NULL-terminated; or NULL */
        /* scripts: the members that each of extra has, NULL-terminated; any other is an error. NULL: any. */
        const char *const *extra_members;
        /* The format of a PARAM_STRING, each element of PARAM_STRINGS or each value of a PARAM_STRING_MAP; NULL: any
         * text. Texts with references are checked when the references are expanded. */
        const TextFormat *format;
        const TextFormat *first_format; /* PARAM_STRINGS: of the first element, in place of format */
        const TextFormat *key_format;   /* PARAM_STRING_MAP, PARAM_EXPRESSIONS: of the keys */
        bool not_empty;                 /* a list or object has at least one element */
        /* PARAM_JSON: an array, whose elements this describes; its name and offset are not used. */
        const Param *elements;
        const ValueFormat *value_format; /* PARAM_JSON, in place of elements */
        /* PARAM_JSON: reports where the value (NULL: not given) contradicts the other parameters, which are in values.
         * Called when all of them are known. -EINVAL: there was an error. */
        int (*fits)(const ParamSetter *setter, const Place *place, struct json_object *value, const void *values);
        /* Reports what is probably not meant in the value of the file, in which references are not filled in. Lists and
         * objects of strings only. */
        void (*trap)(const ParamSetter *setter, const Place *place, struct json_object *value);
        const char *fits_with; /* the parameter that it is compared with; if that has an error, fits is not called */
        bool positive;         /* PARAM_NUMBER, PARAM_SPAN: more than 0 */
        const char *doc;       /* one line for the reference */
};

typedef enum NodeClass {
        NODE_CONTROL,   /* many children: key "children" */
        NODE_DECORATOR, /* one child: key "child" */
        NODE_ACTION,    /* a leaf that does something */
        NODE_CONDITION, /* a leaf with a live value */
} NodeClass;

typedef enum NodeTypeFlags {
        /* A control or decorator that only computes its result from its children's: ticked again over
         * unchanged children, it gives the same result and has no effect. */
        TYPE_PURE = 1 << 0,
        /* Evaluates children again that have completed, so their conditions stay live while it runs. */
        TYPE_REACTIVE = 1 << 1,
        /* The same, for its first child only. */
        TYPE_REACTIVE_FIRST = 1 << 2,
        /* A leaf that always completes in the tick that starts it: nothing to wait for, nothing to halt. */
        TYPE_IMMEDIATE = 1 << 3,
        /* Its timer continues when it has completed, until a node above completes or is reset. */
        TYPE_KEEPS_TIMER = 1 << 4,
        /* Does not start its child again once that has completed. */
        TYPE_ONCE = 1 << 5,
        /* Begins, like an action, only when the node that it replaces has ended: its halt has effects. */
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
        /* The first of its children that fails is the cause of its failure, whatever fails after it. */
        TYPE_FIRST_FAILURE = 1 << 12,
        /* The meaning of its position, so that a stored one can be checked: a child, or 0 for none; a child whenever it
         * runs; besides that also its last child; or a status. */
        TYPE_AT_CHILD = 1 << 13,
        TYPE_AT_CHILD_ALWAYS = 1 << 14,
        TYPE_AT_LAST_CHILD = 1 << 15,
        TYPE_AT_STATUS = 1 << 16,
        /* A control or decorator that only evaluates variables and ticks children: see NODE_PASSIVE. */
        TYPE_PASSIVE = 1 << 17,
        /* Tries a skipped child again: see node_try(). */
        TYPE_TRIES_AGAIN = 1 << 18,
        /* A leaf whose start changes nothing outside of its run, so its entry need not be written before it starts. */
        TYPE_INWARD = 1 << 19,
        /* Its parameters are an InhibitParams: its node has a lock (NODE_LOCKED) that its host takes from logind. */
        TYPE_INHIBITS = 1 << 20,
        /* Its parameters are an OwnConnectionParams: its lock is a connection to a bus, which its host makes. */
        TYPE_CONNECTS = 1 << 24,
        /* The lock of the node comes from elsewhere, so it has no lock of its own besides. */
        TYPE_HAS_LOCK = TYPE_INHIBITS | TYPE_CONNECTS,
        /* A leaf that runs a process, or a job of a unit: their lines in the journal are shown with the run's. */
        TYPE_PROCESS = 1 << 21,
        TYPE_UNIT_JOB = 1 << 22,
        /* May start a child again that has completed, so what is below it can be executed more than once. */
        TYPE_REPEATS = 1 << 23,
} NodeTypeFlags;

/* The parameters of the types with scopes of their own, which the loader and hosts read, too. */
typedef struct SubTreeParams {
        const char *tree;
        struct json_object *inputs; /* an object, or NULL; may have references, see definition_params() */
        const char *const *outputs; /* "result=camera_result": its output, and the variable that gets it; or NULL */
} SubTreeParams;

typedef struct InhibitParams {
        const char *what, *why, *who; /* why, who: or NULL */
        int mode;
} InhibitParams;

typedef struct OwnConnectionParams {
        const char *bus; /* or NULL */
} OwnConnectionParams;

/* The names of the values of InhibitParams.mode, NULL-terminated. */
extern const char *const inhibit_mode_names[];

/* The copies of the child of a ForEach whose concurrency is a reference. */
#define FOR_EACH_LATE_COPIES 64u

/* The outcome of an element that can decide that of a ForEach. */
typedef enum Until {
        UNTIL_FAILURE,
        UNTIL_SUCCESS,
} Until;

typedef struct ForEachParams {
        struct json_object *items; /* may be a reference, see definition_params() */
        const char *as, *index;    /* the variables of each instance; index may be NULL */
        const char *label;         /* with references to variables of an instance, or NULL */
        int64_t concurrency, max_failures;
        int until;
        bool run_all;
} ForEachParams;

/*
 * For a type that only begins its children one after the other as long as they complete at once. The tree computes in
 * advance which leaf follows which (Route), and a tick that begins an activation follows these routes (node_walk()).
 */
typedef struct Course {
        Status continue_on;      /* the outcome of a child after which the next one begins; IDLE: none does */
        Status success, failure; /* its own outcome after these of a child, if no child follows */
        /* The rest of the tick after a child with another answer, or if something needs attention. */
        Status (*resume)(Machine *machine, NodeId node, NodeId child, Status answer);
} Course;

/* A rule for several parameters of a node. */
typedef enum RuleKind {
        RULE_NONE,        /* the end of a table */
        RULE_AT_MOST_ONE, /* of the parameters */
        RULE_EXACTLY_ONE,
        RULE_NOT_WITH, /* the first cannot be given if the second, a PARAM_ENUM, is word */
} RuleKind;

#define RULE_PARAMS_MAX 3

typedef struct ParamRule {
        RuleKind kind;
        const char *params[RULE_PARAMS_MAX + 1]; /* NULL-terminated */
        const char *word;
        const char *why; /* RULE_NOT_WITH: the reason, after "; " in the message */
} ParamRule;

typedef struct Findings Findings; /* engine/tree.h */

typedef struct NodeType {
        const char *name;
        const char *const *aliases; /* NULL-terminated, or NULL */
        NodeClass class;
        unsigned flags;
        uint32_t min_children, max_children; /* controls; decorators have one, leaves none */
        const Param *params;                 /* ended by an entry without a name, or NULL */
        size_t params_size;
        const ParamRule *rules; /* ended by RULE_NONE, or NULL */
        const char *summary;    /* one line */
        const char *doc;        /* paragraphs for the reference, may be NULL */
        const char *
                halting; /* the same: what a halt does, and what the next btd does if it finds the node running; NULL */
        const char *recovery; /* for a type that follows the rules of btd-nodes(5) */

        /* Controls and decorators: the engine's functions. */
        const Course *course; /* or NULL; tick() takes it when it may, see node_may_walk() */
        Status (*tick)(Machine *machine, NodeId node);
        void (*halt)(Machine *machine, NodeId node);   /* of a running node; NULL: resets all children */
        bool (*finish)(Machine *machine, NodeId node); /* for a halt that takes time, see node_set_ending() */
        /* Which of TYPE_NEVER_FAILS, TYPE_NEVER_SUCCEEDS and TYPE_SKIPS follow for the node from its parameters and
         * children, besides the type's flags; may be NULL. */
        unsigned (*never)(const Node *nodes, NodeId node);
        /* Finds errors and traps that the tables cannot express, mostly about the children; may be NULL. */
        void (*check)(const Tree *tree, NodeId node, Findings *findings);
        /* For late parameters: an error message, to be freed, if their values do not fit the children; may be NULL. */
        char *(*misfit)(const Node *nodes, NodeId node, const void *params);

        bool tells_cause;    /* the parameters have the name of a variable at cause_offset (NULL: none), */
        size_t cause_offset; /* which gets the cause when a child fails */

        /* Leaves. A type does not know what runs it, see LeafServices.kind_of in run/leaf.h. */
        bool has_timeout; /* the parameters have a span at timeout_offset: when it expires, the run halts the leaf, */
        size_t timeout_offset; /* which fails when it has ended. SPAN_INFINITY: no limit */
        bool has_on_recover; /* the parameters have an OnRecover at on_recover_offset, which decides about an action */
        size_t on_recover_offset; /* that has called leaf_set_memo() and that its kind cannot recover */
        bool hears; /* an action that ends at a signal: see run/signal-queues.c. The parameters have an int64_t at */
        size_t queue_offset; /* queue_offset: so many signals are kept for the node between its executions */
} NodeType;

/* The engine's controls and decorators, NULL-terminated. */
extern const NodeType *const engine_types[];
