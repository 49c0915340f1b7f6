/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A load in progress: what its parts (files, their trees, nodes, parameters) share.
 */

#include "definition/load.h"
#include "definition/params.h"
#include "definition/plan.h"
#include "definition/types.h"
#include "script/blackboard.h"

#define LOADER_FILES_MAX 1000u
#define LOADER_INCLUDES_MAX 50u /* one in the other */

/* What one file makes of itself and those that it includes: trees that can use each other by name. */
struct Unit {
        TreeFile *file;
        Header header;
        Plan *root;           /* NULL: there is none */
        GHashTable *plans;    /* name -> Plan */
        GHashTable *included; /* of TreeFile: all files of the unit */
        bool incomplete;      /* a file could not be included: its trees are not known */
};

/* A node whose children are being read. */
typedef struct Frame {
        uint32_t node;
        uint32_t child; /* the item of the next child */
        uint32_t n_left;
} Frame;

typedef struct Loader {
        const DefinitionSources *sources; /* NULL: there are none */
        Types *types;
        Diagnostics *diagnostics;
        GString *scratch;

        Arena *arena;
        Scripts *scripts;         /* NULL until there is one */
        GHashTable *script_index; /* kind and code -> Script: the same is compiled only once */
        GHashTable *names;        /* of nodes and variables: each only once in the arena */
        GHashTable *defaults;     /* Param table -> the struct of its defaults, shared by nodes */
        Blackboard *nothing;      /* without variables: for values that have only escaped braces */

        GPtrArray *files;     /* of TreeFile, by number */
        GHashTable *file_ids; /* id -> TreeFile */
        GHashTable *units;    /* TreeFile -> Unit */
        GPtrArray *including; /* of TreeFile: each includes the next */
        GPtrArray *queue;     /* of Plan: those that are read, or will be */
        GPtrArray *plans;     /* of Plan: all that there are */

        /* Where reading is. */
        TreeFile *file;
        Plan *plan;  /* NULL: at the top of the file */
        Frame *open; /* TREE_DEPTH_MAX of them at most */
        uint32_t n_open;
} Loader;

#define TARGET_PARAMS_MAX 64

/* What receives the values of an object's keys: a node, or the top of a file. */
typedef struct Target {
        const Param *params;
        void *values;
        size_t size;    /* of the values */
        uint64_t given; /* the parameters that were given, by their position in the table: at most TARGET_PARAMS_MAX */
        uint32_t node;  /* PLAN_NONE: it is none */
        bool literal;   /* takes no references, but where a parameter says that it does */
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
        Target extras;
} Reading;

/* loader.c: what all parts use. */

/* Takes the text. */
void loader_error(Loader *loader, uint32_t item, char *text);
/* The same of what is only unwise, and for those who look at the file itself. */
void loader_warning(Loader *loader, uint32_t item, char *text);
/* An error at a byte of the file. */
void loader_error_at(Loader *loader, size_t offset, char *text);
/* The same for a node (or PLAN_NONE) of a tree that has been read. */
void loader_error_in(Loader *loader, Plan *plan, uint32_t node, size_t offset, char *text);
/* The same for a node, which is wrong then. */
void reading_error(Loader *loader, Reading *reading, uint32_t item, char *text);
/* The tree will not come to be, but reading goes on for what else is wrong. */
void loader_give_up_tree(Loader *loader);

static inline const Text *loader_text(const Loader *loader) {
        return &loader->file->text;
}

/* A string, ended by a NUL; good until the next call. */
const char *loader_string(Loader *loader, uint32_t item, size_t *ret_length);
/* The same in the arena, where each name is only once. */
const char *loader_intern(Loader *loader, uint32_t item);
const char *loader_intern_text(Loader *loader, const char *text);
/* The value of a key of the item, or 0. */
uint32_t loader_find_member(const Loader *loader, const TreeFile *file, uint32_t object, const char *key);

/* "stdout: '9' cannot be the name of a variable: ...". To be freed. */
char *loader_bad_variable(const char *where, const char *name);
/* "a string", "an object": what stands there. */
const char *loader_describe(const Loader *loader, uint32_t item);
/* "a Sequence", "an Inverter". To be freed. */
char *with_article(const char *name);

/* load-param.c: parameters. */

/* False the first time it is asked. */
bool target_was_given(Target *target, const Param *param);
/* Of several parameters of the same name, the one that the value is for. */
const Param *loader_choose_param(const Loader *loader, const Param *param, uint32_t item);
/* Sets the parameter from the item. */
void loader_set_param(Loader *loader, Target *target, const Param *param, uint32_t item);
/* Sets what the place, which begins at the item, is. */
int loader_set_place(Loader *loader, const Place *place, const Param *param, void *values, json_object *value,
                     uint32_t item);
/* Has everything been given that is required? owner: "StartUnit". */
void loader_check_required(Loader *loader, Target *target, uint32_t item, const char *owner);
/* The struct of a table's defaults, which is shared; NULL for a size of 0. */
const void *loader_defaults(Loader *loader, const Param *params, size_t size);

/* load-mentions.c: the variables that nodes name. */

void loader_mention(Loader *loader, const Param *param, uint32_t node, uint32_t item, uint32_t offset, const char *name,
                    bool writes);
/* All references inside of the value. */
void loader_mention_references(Loader *loader, const Param *param, uint32_t node, uint32_t item);
/* What the parameter itself names, its value being good. */
void loader_mention_param(Loader *loader, const Param *param, uint32_t node, uint32_t item, const void *values);

/* load-header.c: the top of a file. */

/* Which parts are there: items, or 0. */
typedef struct Heading {
        uint32_t root, blackboard, inputs, outputs, trees, include;
} Heading;

/* False: the rest of the file is not worth looking at. */
bool loader_read_header(Loader *loader, Header *header, Heading *ret_heading);
/* The same for a tree of several. */
bool loader_read_tree_heading(Loader *loader, uint32_t item, Heading *ret_heading);

/* load-declarations.c: the variables that a tree declares. */
void loader_read_declarations(Loader *loader, Plan *plan, const Heading *heading);

/* load-files.c: units, and what is found in them. */

/* Takes the contents; path may be NULL. */
TreeFile *loader_add_text(Loader *loader, const char *path, char *contents, size_t length);
/* Each is opened only once. */
Unit *loader_open_unit(Loader *loader, TreeFile *file);
void loader_queue(Loader *loader, Plan *plan);
/* The tree that the name means in the unit, which is now queued. NULL: there is none, with a text unless that follows
 * from another error. */
Plan *loader_find_tree(Loader *loader, Plan *user, const char *name, char **ret_error);
void unit_free(Unit *unit);

/* load-nodes.c: all nodes of a tree. */
void loader_read_plan(Loader *loader, Plan *plan);
/* KEY_MAX_: it is none of those. */
Key loader_key_of(Loader *loader, uint32_t item);
/* load-keys.c: what stands in a node. */
void loader_read_keys(Loader *loader, Reading *reading);
/* load-children.c: has a node as many children as its type takes? */
void loader_check_children(Loader *loader, Reading *reading);

/* load-uses.c: what trees are used, and how. */

/* The node, which has been read, makes copies of something. */
void loader_add_use(Loader *loader, uint32_t node);
/* Once a tree has been read. */
void loader_find_uses(Loader *loader, Plan *plan);
/* Once all have been read: those that have not been found. root: NULL: there is none. */
void loader_report_uses(Loader *loader, Plan *root);
/* Circles, and sizes. */
void loader_measure_plans(Loader *loader);

/* load-inputs.c: does each SubTree give its tree what that wants? */
void loader_check_inputs(Loader *loader);

/* load-variables.c: can all variables that are read have been set? root: NULL: there is none. Returns those of the
 * root, in order of name, in the arena; NULL: not known. */
const char *const *loader_check_variables(Loader *loader, Plan *root);

/* expand.c: trees out of plans. */

/* Where a node of a tree came from. */
typedef struct Origin {
        const Plan *plan;
        uint32_t node;
} Origin;

typedef struct Expansion {
        const Plan *root;
        Tree *tree;
        GArray *templates, *extras, *scopes, *scope_starts; /* as in Loaded */
        GArray *origins;                                    /* NULL: all nodes are those of the root, one for one */
} Expansion;

void expansion_make(Expansion *expansion, Loader *loader, Plan *root);
Origin expansion_origin(const Expansion *expansion, NodeId node);
void expansion_clear(Expansion *expansion);
