/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Makes the tree of a run from the texts in the header of its run record, without reading any tree file. Recovery and
 * btctl replay use it.
 */

#include "definition/definition.h"
#include "record/record-header.h"

/* -EBADMSG with an error message: this daemon cannot make a tree from the texts. */
int record_definition_new(const RecordHeader *header, const NodeType *const *const *tables, Definition **ret_definition,
                          char **ret_error);
