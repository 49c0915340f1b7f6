# shellcheck shell=bash disable=SC2154 # the script sets these
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Small Debian systems below a directory, $kept, which are there the next time. $suite: their release.

say() {
        printf '%s: %s\n' "$suite" "$*"
}

die() {
        printf 'FAILED: %s: %s\n' "$suite" "$*" >&2
        exit 1
}

# $1: a directory with a system; the rest: options of systemd-nspawn, and a command in it, without boot.
enter() {
        systemd-nspawn --quiet --directory="$1" --register=no --keep-unit --pipe --setenv=DEBIAN_FRONTEND=noninteractive \
                "${@:2}" </dev/null
}

# The system that others are copies of.
make_system() {
        [ ! -e "$kept/$suite/done" ] || return 0
        rm -rf "${kept:?}/$suite"
        debootstrap --variant=minbase --include=init,dbus "$suite" "$kept/$suite" >"$kept/$suite-log" 2>&1 ||
                die "debootstrap: $(tail -n 1 "$kept/$suite-log")"
        touch "$kept/$suite/done"
}
