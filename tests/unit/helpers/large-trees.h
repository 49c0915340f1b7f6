/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Makes the texts of trees of any size. Their leaves do nothing: Good succeeds at once, Act runs until somebody ends
 * it, and Check is a condition that fails. large_tree_host runs them.
 */

#include <glib.h>

#include "engine/machine.h"

/* The types of the leaves, for definition_load_text(). */
extern const NodeType *const large_tree_leaves[];
extern const MachineHost large_tree_host;

/* Appends the text n times. */
void large_tree_append(GString *text, const char *what, uint32_t n);
/* A control with n times the same child, and one child behind them if there is a last one. */
GString *large_tree_wide(const char *type, const char *child, uint32_t n, const char *last);
/* n Inverters, each the child of another one, and a Good. */
GString *large_tree_deep(uint32_t n);
