#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# For `meson dist`: its tarball is no repository, so a file there names the commit.

set -eu
git --git-dir="$MESON_PROJECT_SOURCE_ROOT/.git" rev-parse --short=12 HEAD >"$MESON_PROJECT_DIST_ROOT/daemon/commit"
