/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Defines a file of a load, and the plan of a tree: the tree as it is written in its file. It is read once, however
 * many copies the expansion makes of it. Private to loading.
 */

#include <glib.h>

#include "definition/common-attributes.h"
#include "definition/declarations.h"
#include "definition/text/text.h"

typedef struct TreeFile {
        char *path;       /* as it is shown in messages; NULL: a text without a file */
        char *id;         /* the canonical path */
        char *name;       /* of its tree: "boot" for boot.json */
        GPtrArray *found; /* the names by which it was found on the search path; NULL: none */
        unsigned number;  /* in the diagnostics */
        char *contents;   /* NULL: it could not be read, see error */
        size_t length;
        GHashTable *meant; /* item of a misspelt key -> the name that was probably meant; NULL: none */
        Text text;         /* no items: it is not valid JSON, which was reported */
        char *error;       /* why it could not be read */
        bool wrong;        /* it has an error */
} TreeFile;

/* Takes the contents, which must have a NUL byte at length; path may be NULL. */
TreeFile *tree_file_new(const char *path, char *contents, size_t length);
/* A file that cannot be read; takes the error. */
TreeFile *tree_file_new_unreadable(const char *path, char *error);
void tree_file_free(TreeFile *file);

/* Adds a name by which the file was found on the search path. */
void tree_file_note_name(TreeFile *file, const char *name);

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

static inline PlanUse *plan_use(const Plan *plan, uint32_t use) {
        return &g_array_index(plan->uses, PlanUse, use);
}

/* "camera: Boot/Start": the name of the tree, unless it is the root of its file, and the names from its root down. To
 * be freed. */
char *plan_path(const Plan *plan, uint32_t node);
/* "boot uses camera uses lens": the trees that lead to this one. To be freed. */
char *plan_chain(const Plan *plan);
