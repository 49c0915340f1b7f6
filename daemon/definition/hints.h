/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Knows the words that people write from habit, because a shell, systemd, BehaviorTree.CPP or another language has
 * them, and what does the same here. A word that is only misspelt is not here: see basic/nearest.h.
 */

/* The place of a word in a tree file. */
typedef enum HintPlace {
        HINT_TYPE,  /* the type of a node */
        HINT_KEY,   /* a key of a node or of the tree file */
        HINT_NAME,  /* a name in an expression */
        HINT_VALUE, /* a word that a parameter, the owner, does not have */
} HintPlace;

typedef struct Hint {
        HintPlace place;
        const char *owner;   /* a key: "Spawn|Command", the types of nodes that it is given to; NULL: any node */
        const char *words;   /* "exec|run": the words */
        const char *instead; /* the word that is meant; NULL: there is no single one */
        const char *text;    /* more words for the message, or NULL */
} Hint;

#define HINT_TREE_FILE "tree file"

/* NULL: the word is not known here. */
const Hint *hint_find(HintPlace place, const char *owner, const char *word);

/* "; did you mean 'argv'? It is a list such as [\"ls\", \"-l\"]", to be freed. */
char *hint_format(const Hint *hint);

/* All of them, ended by one without words. */
extern const Hint hints[];
