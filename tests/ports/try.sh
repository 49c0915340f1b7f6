#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Builds a clean clone for another architecture, with Debian's cross compiler, and runs the tests of C code by qemu.
#
# try.sh SUITE ARCHITECTURE DIRECTORY: SUITE is "bookworm"; ARCHITECTURE is "arm64" or "armhf"; DIRECTORY keeps the
# systems for the next time.

set -euo pipefail
cd "$(dirname "$0")/../.."
suite=$1 architecture=$2 kept=$(realpath -m "$3")
builder=$kept/$suite-$architecture
# shellcheck source=tests/support/systems.sh
. tests/support/systems.sh

declare -A compilers=([arm64]=gcc-aarch64-linux-gnu [armhf]=gcc-arm-linux-gnueabihf)
libraries=(libc6-dev libglib2.0-dev libjson-c-dev liblua5.4-dev libncurses-dev libsystemd-dev)

[ "$(id -u)" = 0 ] || die "this needs root"
mkdir -p "$kept"
make_system
[ -e "$builder" ] || cp -a "$kept/$suite" "$builder"
rm -rf "$builder/btd"
git clone --quiet . "$builder/btd"

if ! enter "$builder" sh -ec "dpkg --add-architecture $architecture
                apt-get -qq update
                apt-get -qq install --no-install-recommends git meson ninja-build pkgconf python3 qemu-user \
                        gcc libc6-dev ${compilers[$architecture]} ${libraries[*]/%/:$architecture}" >"$builder-log" 2>&1; then
        tail -n 50 "$builder-log"
        die "the compiler was not installed"
fi

# With all that is installed, and all tests.
if ! enter "$builder" --private-network --setenv=BTD_CONFORMANCE_TREES=300 sh -ec "cd /btd
                meson setup build --cross-file=tests/ports/$architecture.cross --werror
                ninja -C build --quiet
                DESTDIR=/tmp/btd ninja -C build --quiet install
                meson test -C build --no-rebuild --print-errorlogs --suite unit --suite memory --suite conformance" \
        >"$builder-log" 2>&1; then
        grep -v ' OK \|^Installing' "$builder-log" | tail -n 200
        die "$architecture: it does not build, or a test has failed"
fi
say "$architecture: $(sed -n 's/^Ok: *\([0-9]*\).*/\1/p' "$builder-log") programs of tests ok"
