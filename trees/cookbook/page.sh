#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Prints the page: the text, with each file of the cookbook where a line '.\" file NAME' stands.
#
# usage: page.sh TEXT
set -eu
directory=$(dirname "$1")

while IFS= read -r line; do
        name=${line#".\\\" file "}
        if [ "$name" = "$line" ]; then
                printf '%s\n' "$line"
                continue
        fi

        case $name in
        *.session | *.machine) printf '.Bd -literal\n' ;;
        *) printf '.Pp\n.Pa %s\n.Bd -literal\n' "$name" ;;
        esac
        # So that the page shows what the file has, to be copied from there; and no line is a request.
        sed 's/\\/\\e/g; s/-/\\-/g; s/~/\\(ti/g; s/\^/\\(ha/g; s/`/\\(ga/g; s/'\''/\\(aq/g; s/^\./\\\&./' \
                "$directory/$name"
        printf '.Ed\n'
done <"$1"
