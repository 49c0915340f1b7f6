/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* btctl schema: the JSON schema of tree files, from the table of node types. */

#include "definition/schema.h"
#include "node-types.h"
#include "verbs.h"

int verb_schema(Client *client, char **operands) {
        output_print_json(schema_new(node_type_tables));
        return EXIT_SUCCESS;
}
