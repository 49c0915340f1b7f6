#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Prints the page for Cockpit as one script: esbuild, the banner, the first module. esbuild says before each module where
# it is, seen from the build directory; without these lines, all build directories give the same.

set -eu
cat "$2"
bundle=$("$1" "$3" --bundle --format=iife --target=es2020 --log-level=warning)
printf '%s\n' "$bundle" | sed '/^  \/\/ .*\.js$/d'
