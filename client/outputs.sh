#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Prints the JSON schema as C, for btctl schema.
#
# usage: outputs.sh SCHEMA
set -eu
printf '#include "client/verbs/verbs.h"\n\nconst char outputs_schema[] =\n'
sed 's/["\\]/\\&/g; s/.*/"&\\n"/' "$1"
printf ';\n'
