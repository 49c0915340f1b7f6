/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The lists that the Loops of a run hand out: each as it was when its Loop began.
 */

#include "engine/tree.h"
#include "script/blackboard.h"

typedef struct LoopLists LoopLists;

LoopLists *loop_lists_new(void);
void loop_lists_free(LoopLists *lists);

/* Puts the element of the list (both are names of variables) into the variable. Index 0 takes a fresh copy of the
 * list. False: there is no such element. */
bool loop_lists_hand_out(LoopLists *lists, Blackboard *blackboard, NodeId loop, const char *list, const char *variable,
                         uint32_t index);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(LoopLists, loop_lists_free)
