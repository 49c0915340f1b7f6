/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Defines the state of a load, which all its parts (files, trees, nodes, parameters) share, and the functions by which
 * they call each other. Private to loading.
 */

#include "definition/load/load.h"
#include "definition/load/plan.h"
#include "definition/params/params.h"
#include "definition/type-index.h"
#include "script/blackboard.h"

#define LOADER_FILES_MAX 1000u
#define LOADER_INCLUDES_MAX 50u /* nesting depth */

/* A file with all files that it includes: trees that can use each other by name. */
struct Unit {
        TreeFile *file;
        Header header;
        Plan *root;           /* NULL: none */
        GHashTable *plans;    /* name -> Plan */
        GHashTable *included; /* of TreeFile: all files of the unit */
        bool incomplete;      /* an include failed: its trees are not known */
};

/* A node whose children are being read. */
typedef struct Frame {
        uint32_t node;
        uint32_t child; /* the item of the next child */
        uint32_t n_left;
        uint32_t key; /* keys from here on may contain more children, wrongly */
        uint32_t n_keys;
} Frame;

typedef struct Loader {
        const DefinitionSources *sources; /* NULL: there are none */
        TypeIndex *types;
        Diagnostics *diagnostics;
        GString *scratch;

        Arena *arena;
        Scripts *scripts;         /* NULL until the first is compiled */
        GHashTable *script_index; /* kind and code -> Script: each is compiled only once */
        GHashTable *names;        /* of nodes and variables: each only once in the arena */
        GHashTable *defaults;     /* Param table -> the struct of its defaults, shared by nodes */
        Blackboard *nothing;      /* empty: for values that have only escaped braces */

        GPtrArray *files;     /* of TreeFile, by number */
        GHashTable *file_ids; /* id -> TreeFile */
        GHashTable *units;    /* TreeFile -> Unit */
        GPtrArray *including; /* of TreeFile: each includes the next */
        GPtrArray *queue;     /* of Plan: those that are or will be read */
        GPtrArray *plans;     /* of Plan: all */

        /* The current position. */
        TreeFile *file;
        Plan *plan;    /* NULL: at the top of the file */
        Doubts doubts; /* of the top of the file */
        Frame *open;   /* at most TREE_DEPTH_MAX */
        uint32_t n_open;
} Loader;

#define TARGET_PARAMS_MAX 64

/* The destination of the values of an object's keys: a node, or the top of a file. */
typedef struct Target {
        const Param *params;
        void *values;
        size_t size;    /* of the values */
        uint64_t given; /* bits of the parameters that were given, by index in the table, below TARGET_PARAMS_MAX */
        uint32_t node;  /* PLAN_NONE: not a node */
        bool literal;   /* takes no references, unless a parameter allows them */
        bool plain;     /* braces have no special meaning */
        bool wrong;     /* it has an error */
        uint64_t wrong_params; /* bits, as given: parameters with wrong values, which have their defaults */
} Target;

/* Keys that are not parameters. */
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
        const NodeType *type;    /* NULL: not known */
        uint32_t keys[KEY_MAX_]; /* the item of the value; 0: not given */
        uint32_t misspelt_type;  /* the key that probably means 'type', or 0 */
        unsigned n_below;        /* how often 'children' or 'child' is given */
        Target target;
        Target attributes;
} Reading;

/* loader.c: functions for all parts. */

/* Reports an error at the item. Takes the text. */
void loader_error(Loader *loader, uint32_t item, char *text);
/* The same for a warning, which is dropped if it is about another file. */
void loader_warning(Loader *loader, uint32_t item, char *text);
/* Reports an error at a byte of a string's text. */
void loader_error_inside(Loader *loader, uint32_t item, size_t byte, char *text);
/* Reports an error at a byte of the file. */
void loader_error_at(Loader *loader, size_t offset, char *text);
/* The same for a node (or PLAN_NONE) of a tree that was already read. */
void loader_error_in(Loader *loader, Plan *plan, uint32_t node, size_t offset, char *text);
/* Reports an error of the node and marks it as wrong. */
void reading_error(Loader *loader, Reading *reading, uint32_t item, char *text);
/* The tree cannot be made; reading continues to find more errors. */
void loader_give_up_tree(Loader *loader);
/* The node that is being read has no known type, or wrong children. Another type replaces it while the rest of the tree
 * is checked. */
void loader_give_up_node(Loader *loader);

/* The item is wrong, but may have named variables that it sets: all words in it count as set variables. */
void loader_doubt(Loader *loader, uint32_t item);
/* The same for an item that should have been the name of a variable; similar names count, too. */
void loader_doubt_name(Loader *loader, uint32_t item);

/* The item as a value (a new reference), with a report of each error in it: see text_to_json(). */
int loader_read_json(Loader *loader, const char *where, uint32_t item, json_object **ret_value);

/* Says that the unknown key was probably meant as the given one (which is stored). False: that one is given, too. */
bool loader_mean(Loader *loader, uint32_t object, uint32_t key, const char *meant);
/* The key that was probably meant, or NULL. */
const char *loader_meant(const TreeFile *file, uint32_t key);

static inline const Text *loader_text(const Loader *loader) {
        return &loader->file->text;
}

/* A string with a NUL byte at its end; valid until the next call. */
const char *loader_string(Loader *loader, uint32_t item, size_t *ret_length);
/* The same in the arena, where each name is stored only once. */
const char *loader_intern(Loader *loader, uint32_t item);
const char *loader_intern_text(Loader *loader, const char *text);
/* The value of a key of the object, which may be misspelt; or 0. */
uint32_t loader_find_member(const Loader *loader, const TreeFile *file, uint32_t object, const char *key);

/* "EXPECTED, not VALUE", with the value at the item, see text_describe(). To be freed. */
char *loader_unexpected(const Loader *loader, uint32_t item, const char *expected, ...) G_GNUC_PRINTF(3, 4);
/* "a Sequence", "an Inverter". To be freed. */
char *with_article(const char *name);

/* load-params.c: parameters. */

/* Marks the parameter as given; false at the first call. */
bool target_was_given(Target *target, const Param *param);
/* If several parameters have the same name, returns the one that fits the value. */
const Param *loader_choose_param(const Loader *loader, const Param *param, uint32_t item);
/* Sets the parameter from the item. */
void loader_set_param(Loader *loader, Target *target, const Param *param, uint32_t item);
/* Sets the parameter at a place inside the value that begins at the item. */
int loader_set_place(Loader *loader, const Place *place, const Param *param, void *values, json_object *value,
                     uint32_t item);
/* Check the parameters of the node against the rules of its type, and against each other. */
void loader_check_rules(Loader *loader, Reading *reading);
void loader_check_fits(Loader *loader, Reading *reading);
/* Reports required parameters that are missing. owner: "StartUnit". */
void loader_check_required(Loader *loader, Target *target, uint32_t item, const char *owner);
/* The struct of a table's defaults, which is shared; NULL for a size of 0. */
const void *loader_defaults(Loader *loader, const Param *params, size_t size);

/* load-header.c: the top of a file. */

/* The items of the parts that are given, or 0. */
typedef struct Heading {
        uint32_t root, blackboard, inputs, outputs, trees, include;
        uint32_t other_root; /* a second one, which is an error */
} Heading;

/* False: the rest of the file must not be read. */
bool loader_read_header(Loader *loader, Header *header, Heading *ret_heading);
/* The same for a tree in "trees". */
bool loader_read_tree_heading(Loader *loader, uint32_t item, Heading *ret_heading);

/* Reads the variables that the tree declares. */
void loader_read_declarations(Loader *loader, Plan *plan, const Heading *heading);

/* load-files.c: units, and the search for files and trees. */

/* Takes the contents; path may be NULL. */
TreeFile *loader_add_text(Loader *loader, const char *path, char *contents, size_t length);
/* Opens each unit only once. */
Unit *loader_open_unit(Loader *loader, TreeFile *file);
void loader_queue(Loader *loader, Plan *plan);
/* Finds the tree with the name, as the unit of the user sees it, and queues it. NULL: it does not exist; with an error
 * message unless that follows from another error, and with a suggested name or NULL. */
Plan *loader_find_tree(Loader *loader, Plan *user, const char *name, char **ret_error, char **ret_instead);
void unit_free(Unit *unit);

/* load-nodes.c: all nodes of a tree. */
void loader_read_plan(Loader *loader, Plan *plan);

/* load-uses.c: the trees that trees use. */

/* Notes that the node, which has been read, copies other nodes. */
void loader_add_use(Loader *loader, uint32_t node);
/* Call after a tree has been read. */
void loader_find_uses(Loader *loader, Plan *plan);
/* Reports the trees that were not found; call after all have been read. root may be NULL. */
void loader_report_uses(Loader *loader, Plan *root);
/* Checks the inputs and outputs of each SubTree. */
void loader_check_inputs(Loader *loader);
/* Checks for circles and computes sizes. */
void loader_measure_plans(Loader *loader);

/* load-variables.c: the variables that nodes use. */

/* Adds all references inside the value. */
void loader_add_references(Loader *loader, const Param *param, uint32_t node, uint32_t item);
/* Adds the variables that the parameter itself uses; its value must be valid. */
void loader_add_param_variables(Loader *loader, const Param *param, uint32_t node, uint32_t item, const void *values);
/* Checks that all variables that are read can have been set. root may be NULL. Returns the variables
 * of the root, sorted by name, in the arena; NULL: not known. */
const char *const *loader_check_variables(Loader *loader, Plan *root);

/* expand.c: makes trees from plans. */

/* The source of a node of a tree. */
typedef struct Origin {
        const Plan *plan;
        uint32_t node;
} Origin;

typedef struct Expansion {
        Plan *root;
        bool doubtful;
        Tree *tree;
        GArray *templates, *attributes, *scopes, *scope_starts; /* as in Loaded */
        GArray *origins;                                        /* NULL: all nodes are those of the root, in order */
} Expansion;

/* doubtful: every outcome is possible for nodes with errors, as for nodes with guards. */
void expansion_make(Expansion *expansion, Loader *loader, Plan *root, bool doubtful);
Origin expansion_origin(const Expansion *expansion, NodeId node);
void expansion_clear(Expansion *expansion);
