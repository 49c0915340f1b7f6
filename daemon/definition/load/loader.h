/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Defines what all parts of a load (files, trees, nodes, parameters) share: its files, the plan of each tree, its
 * state, and the functions by which the parts call each other. A plan is a tree as it is written in its file; it is
 * read once, however many copies the expansion makes of it. Private to loading.
 */

#include <glib.h>

#include "definition/load/load.h"
#include "definition/params/params.h"
#include "definition/text/text.h"
#include "definition/type-index.h"
#include "script/blackboard.h"

typedef struct TreeFile {
        char *path;       /* as it is shown in messages; NULL: a text without a file */
        char *id;         /* the canonical path */
        char *name;       /* of its tree: "boot" for boot.json */
        GPtrArray *found; /* the names by which it was found on the search path; NULL: none */
        unsigned number;  /* in the diagnostics */
        char *contents;   /* NULL: it could not be read, see error */
        size_t length;
        size_t counted;                 /* at this byte is the line */
        uint32_t line;                  /* 0: none was counted yet */
        GHashTable *meant;              /* item of a misspelt key -> the name that was probably meant; NULL: none */
        Text text;                      /* no items: it is not valid JSON, which was reported */
        char *error;                    /* why it could not be read */
        bool wrong;                     /* it has an error */
        GPtrArray *dropins;             /* of TreeFile: those that change it, in their order; NULL: none */
        char *merged;                   /* its text and theirs, if there are any; the items are places in it */
        const struct TreeFile *extends; /* a drop-in: the file that it changes; else NULL */
        size_t start;                   /* a drop-in: its place in the merged text */
} TreeFile;

/* Takes the contents, which must have a NUL byte at length; path may be NULL. */
TreeFile *tree_file_new(const char *path, char *contents, size_t length);
void tree_file_free(TreeFile *file);

/* The file in which the byte of the merged text was written, and its place there: it, or one of its drop-ins. */
TreeFile *tree_file_at(const TreeFile *file, size_t *offset);

typedef struct Plan Plan;
typedef struct Unit Unit;

#define PLAN_NONE UINT32_MAX

typedef struct PlanNode {
        const NodeType *type; /* NULL: not known */
        const char *name;     /* the name in the file; NULL: not given */
        const void *params;
        const CommonAttributes *attributes; /* NULL: none */
        uint32_t item;                      /* of the file */
        uint32_t parent, end;               /* as in a tree; PLAN_NONE for the root */
        uint32_t templates;                 /* index of its first one; they end at those of the next node */
        uint32_t use;                       /* of a SubTree or ForEach; else PLAN_NONE */
        uint64_t wrong_params;              /* bits by index in the type's table: wrong values */
        bool correct;                       /* it has no errors */
        bool malformed;                /* its type or its children are not known, so it cannot be checked as a whole */
        bool has_errors, has_warnings; /* the check has found them in a copy of it, and reported them */
} PlanNode;

/* A node whose expansion copies other nodes. */
typedef struct PlanUse {
        uint32_t node;
        uint32_t depth;           /* of the node */
        Plan *tree;               /* of a SubTree; NULL: not found */
        char *problem;            /* why it was not found, until that is reported */
        char *instead;            /* the tree that was probably meant, or NULL */
        uint32_t copies;          /* of a ForEach; 0: it is a SubTree */
        const char *const *names; /* the local variables of each copy */
} PlanUse;

/* A place where a node uses a variable. */
typedef struct VariableUse {
        const char *name; /* interned */
        const Param *param;
        uint32_t node;
        uint32_t item;   /* the string with the name */
        uint32_t offset; /* in the string; USE_SOMEWHERE: in code */
        bool writes;
        VariableType needs; /* a list or an object, a part of which is read; VARIABLE_ANY: any value */
        const char *member; /* the first one that is read, interned; NULL: none */
        bool no_list;       /* it is an element of a list of strings, or a part of one */
        bool whole;         /* the string is the reference alone, so the parameter gets the value with its type */
        bool inside;        /* the string is a part of the parameter */
        const ScriptDemand *demand; /* of a script, in place of needs; NULL: none */
} VariableUse;

#define USE_SOMEWHERE UINT32_MAX

/* Variables that a wrong part of the tree may set. */
typedef struct Doubts {
        GHashTable *words; /* interned: all words in wrong parts; NULL: none */
        GPtrArray *names;  /* interned: values that should have been names of variables; NULL: none */
} Doubts;

void doubts_clear(Doubts *doubts);

typedef enum PlanState {
        PLAN_NEW,
        PLAN_OPEN,
        PLAN_DONE,
} PlanState;

struct Plan {
        Unit *unit;
        TreeFile *file;
        const char *name; /* the name by which others use it */
        bool is_root;     /* of its file */
        uint32_t root;    /* the item */
        const Plan *user; /* by which the tree at the top uses it, or NULL */

        const Declaration *inputs, *outputs; /* the last one has no name */
        const char *const *secrets;          /* of inputs, or NULL */
        GHashTable *input_names;             /* name -> Declaration */
        uint32_t outputs_item;
        json_object *blackboard; /* NULL: none */

        GArray *nodes;         /* of PlanNode, in depth-first order */
        GArray *templates;     /* of Template */
        GArray *uses;          /* of PlanUse */
        GArray *variable_uses; /* of VariableUse */
        Doubts doubts;
        uint32_t depth; /* levels */

        bool queued;               /* it is or will be read */
        bool wrong;                /* it has an error */
        bool declarations_unknown; /* its declarations are not known */
        bool setters_unknown;      /* it may set variables that are not known */
        bool unbuildable;          /* no tree can be made of it */

        PlanState state;
        uint64_t n_nodes; /* with all trees that it uses, at most TREE_NODES_MAX + 1 */
        uint32_t levels;  /* the same, at most TREE_DEPTH_MAX + 1 */
        bool expanded;    /* it is part of a tree that was made */
};

/* Borrows file and name; name must be interned. */
Plan *plan_new(Unit *unit, TreeFile *file, const char *name, uint32_t root);
void plan_free(Plan *plan);

static inline PlanNode *plan_node(const Plan *plan, uint32_t node) {
        return &g_array_index(plan->nodes, PlanNode, node);
}

/* The value of the parameter of the node as it was written, if it has references; else NULL. */
json_object *plan_template(const Plan *plan, uint32_t node, const char *param);

static inline PlanUse *plan_use(const Plan *plan, uint32_t use) {
        return &g_array_index(plan->uses, PlanUse, use);
}

/* "camera: Boot/Start": the name of the tree, unless it is the root of its file, and the names from its root down. To
 * be freed. */
char *plan_path(const Plan *plan, uint32_t node);

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
        GPtrArray *libraries; /* of Library: its Lua files; NULL: none */
        GPtrArray *lua_files; /* of TreeFile, in the same order */
        bool lua_wrong;       /* one of them has an error: its functions are not known */
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
        const Limits *limits;
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

/* Adds an error or a warning at a byte of the file. Takes where (may be NULL) and text. */
void loader_report(Loader *loader, const TreeFile *file, size_t offset, bool warning, char *where, char *text);

/* Reports an error at the item. Takes the text. */
void loader_error(Loader *loader, uint32_t item, char *text);
/* The same for a warning, which is dropped if it is about another file. */
void loader_warning(Loader *loader, uint32_t item, char *text);
/* Reports an error at a byte of a string's text. */
void loader_error_inside(Loader *loader, uint32_t item, size_t byte, char *text);
/* The same for a node (or PLAN_NONE) of a tree that was already read. */
void loader_error_in(Loader *loader, Plan *plan, uint32_t node, size_t offset, char *text);
/* The same for a warning. */
void loader_warning_in(Loader *loader, const Plan *plan, uint32_t node, size_t offset, char *text);
/* Reports an error of the node and marks it as wrong. */
void reading_error(Loader *loader, Reading *reading, uint32_t item, char *text);
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

/* "EXPECTED, not VALUE", with the value at the item, see text_unexpected(). To be freed. */
char *loader_unexpected(const Loader *loader, uint32_t item, const char *expected, ...) G_GNUC_PRINTF(3, 4);
/* "a Sequence", "an Inverter". To be freed. */
char *with_article(const char *name);

/* load-params.c: parameters. */

/* Marks the parameter as given; false at the first call. */
bool target_was_given(Target *target, const Param *param);
/* If several parameters have the same name, returns the one that fits the value. */
const Param *loader_choose_param(const Loader *loader, const Param *param, uint32_t item);
/* The value of the parameter is not known, so nothing is compared with it. */
void loader_param_wrong(Loader *loader, Target *target, const Param *param, uint32_t item);
/* Sets the parameter from the item. */
void loader_set_param(Loader *loader, Target *target, const Param *param, uint32_t item);
/* Sets the parameter at a place inside the value that begins at the item. */
int loader_set_place(Loader *loader, const Place *place, const Param *param, void *values, json_object *value,
                     uint32_t item);
/* Checks the parameters of the node against the rules of its type, and against each other. */
void loader_check_rules(Loader *loader, Reading *reading);
/* Reports required parameters that are missing. owner: "StartUnit". */
void loader_check_required(Loader *loader, Target *target, uint32_t item, const char *owner);
/* The struct of a table's defaults, which is shared; NULL for a size of 0. */
const void *loader_defaults(Loader *loader, const Param *params, size_t size);

/* load-header.c: the top of a file. */

/* The items of the parts that are given, or 0. */
typedef struct Heading {
        uint32_t root, blackboard, inputs, outputs, trees, include, lua;
        uint32_t other_root; /* a second one, which is an error */
} Heading;

/* False: the rest of the file must not be read. */
bool loader_read_header(Loader *loader, Header *header, Heading *ret_heading);
/* The same for a tree in "trees". */
bool loader_read_tree_heading(Loader *loader, uint32_t item, Heading *ret_heading);

/* Reads the variables that the tree declares. */
void loader_read_declarations(Loader *loader, Plan *plan, const Heading *heading);

/* load-files.c: units, and the search for files and trees. */

/* Reads the text, and the drop-ins of the file. Takes the contents; path may be NULL. */
TreeFile *loader_add_text(Loader *loader, const char *path, char *contents, size_t length);
/* The same without drop-ins; NULL with an error message if the file cannot be read. */
TreeFile *loader_read_file(Loader *loader, const char *path, char **ret_error);
/* Opens each unit only once. */
Unit *loader_open_unit(Loader *loader, TreeFile *file);
void loader_queue(Loader *loader, Plan *plan);
/* Finds the tree with the name, as the unit of the user sees it, and queues it. NULL: it does not exist; with an error
 * message unless that follows from another error, and with a suggested name or NULL. */
Plan *loader_find_tree(Loader *loader, Plan *user, const char *name, char **ret_error, char **ret_instead);
void unit_free(Unit *unit);

/* load-dropins.c: what changes a file. */

/* Reads the drop-ins of the file, and merges them into its items. */
void loader_merge_dropins(Loader *loader, TreeFile *file);

/* load-nodes.c: all nodes of a tree. */
void loader_read_plan(Loader *loader, Plan *plan);
/* Can a node of the type have this key? */
bool loader_takes_word(const NodeType *type, const char *word);
/* The type does not have this key. Returns a hint, such as "; did you mean 'argv'?"; the caller frees it. *ret_meant:
 * the suggested key, or NULL. *ret_close: it is certain. *ret_other: it takes a value of another kind. */
char *loader_explain_key(const NodeType *type, const char *word, const char **ret_meant, bool *ret_close,
                         bool *ret_other);

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

/* The warning for a secret in such a parameter of a leaf; to be freed. */
char *secret_is_seen(const char *where);
/* Adds all references inside the value. */
void loader_add_references(Loader *loader, const Param *param, uint32_t node, uint32_t item);
/* Adds the variables that the parameter itself uses; its value must be valid. */
void loader_add_param_variables(Loader *loader, const Param *param, uint32_t node, uint32_t item, const void *values);
/* Checks that all variables that are read can have been set. root may be NULL. Returns the variables
 * of the root, sorted by name, in the arena; NULL: not known. ret_own: see definition_own_variables(); set
 * only if true. */
const char *const *loader_check_variables(Loader *loader, Plan *root, unsigned *ret_own);
