/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A tree as it stands in its file: read once, however many copies of it are made for what uses it.
 */

#include "definition/declarations.h"
#include "definition/extras.h"
#include "definition/tree-file.h"

typedef struct Plan Plan;
typedef struct Unit Unit;

#define PLAN_NONE UINT32_MAX

typedef struct PlanNode {
        const NodeType *type; /* NULL: none that is known */
        const char *name;     /* what the user calls it; NULL: not given */
        const void *params;
        const Extras *extras; /* NULL: none */
        uint32_t item;        /* of the file */
        uint32_t parent, end; /* as in a tree; PLAN_NONE for the root */
        uint32_t templates;   /* its own begin here, and end where those of the next node begin */
        uint32_t use;         /* of a SubTree or ForEach; else PLAN_NONE */
        bool sound;           /* nothing was wrong with it: the type's own check can look at it */
        bool judged;          /* the check has found something in a copy of it */
} PlanNode;

/* Where copies are made. */
typedef struct PlanUse {
        uint32_t node;
        uint32_t depth;           /* of the node */
        Plan *tree;               /* of a SubTree; NULL: it has not been found */
        char *problem;            /* why it has not been found, until that is reported */
        uint32_t copies;          /* of a ForEach; 0: it is a SubTree */
        const char *const *names; /* the variables that each copy holds itself */
} PlanUse;

/* The name of a variable in a node. */
typedef struct Mention {
        const char *name; /* interned */
        const Param *param;
        uint32_t node;
        uint32_t item;   /* the string that names it */
        uint32_t offset; /* where in that; MENTION_SOMEWHERE in code */
        bool writes;
} Mention;

#define MENTION_SOMEWHERE UINT32_MAX

typedef enum PlanState {
        PLAN_NEW,
        PLAN_OPEN,
        PLAN_DONE,
} PlanState;

struct Plan {
        Unit *unit;
        TreeFile *file;
        const char *name; /* what others call it */
        bool is_root;     /* of its file */
        uint32_t root;    /* the item */
        const Plan *user; /* by which the tree at the top uses it, or NULL */

        const Declaration *inputs, *outputs; /* ended by one without a name */
        GHashTable *input_names;             /* name -> Declaration */
        uint32_t outputs_item;
        json_object *blackboard; /* NULL: none */

        GArray *nodes;     /* of PlanNode, in depth-first order */
        GArray *templates; /* of Template */
        GArray *uses;      /* of PlanUse */
        GArray *mentions;  /* of Mention */
        uint32_t depth;    /* levels */

        bool queued;    /* is read, or will be */
        bool wrong;     /* something is wrong with it */
        bool vague;     /* at its top, so that it may declare something else */
        bool unsure;    /* so that not all variables are known that it sets */
        bool shapeless; /* no tree can be made of it */

        PlanState state;
        uint64_t n_nodes; /* with all that it uses, at most TREE_NODES_MAX + 1 */
        uint32_t levels;  /* the same, at most TREE_DEPTH_MAX + 1 */
        bool expanded;    /* it is part of a tree that has been made */
};

/* file and name are borrowed; names of nodes are taken from the latter. */
Plan *plan_new(Unit *unit, TreeFile *file, const char *name, uint32_t root);
void plan_free(Plan *plan);

static inline PlanNode *plan_node(const Plan *plan, uint32_t node) {
        return &g_array_index(plan->nodes, PlanNode, node);
}

static inline PlanUse *plan_use(const Plan *plan, uint32_t use) {
        return &g_array_index(plan->uses, PlanUse, use);
}

/* "camera: Boot/Start": the tree, if its file has others, and the names from its root down. To be freed. */
char *plan_path(const Plan *plan, uint32_t node);
/* "boot uses camera uses lens": how the tree has come to be used. To be freed. */
char *plan_chain(const Plan *plan);
