/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The tree of a run, made from the texts in the header of its journal and from no file.
 */

#include "definition/definition.h"
#include "journal/journal-header.h"

/* -EBADMSG with a text for people: the texts are no tree to this daemon. */
int journal_definition_new(const JournalHeader *header, const NodeType *const *const *tables,
                           Definition **ret_definition, char **ret_error);
