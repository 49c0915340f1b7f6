#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Makes the packages in a fresh Debian, installs them in another, and uses them as an administrator does: a tree runs and
# is seen in the terminal and in Cockpit; runs survive a kill, an upgrade and a power-off; the removal halts them and
# leaves nothing.
#
# try.sh SUITE DIRECTORY [PACKAGES]: SUITE is "bookworm" or "trixie"; DIRECTORY keeps the systems for the next time;
# PACKAGES is a directory with packages that are already made.

set -euo pipefail
cd "$(dirname "$0")/../.."
suite=$1 kept=$(realpath -m "$2") made=${3:-}
packages=$kept/$suite-packages machine=$kept/$suite-machine cgroups=() nspawn=''
# shellcheck source=tests/support/systems.sh
. tests/support/systems.sh

# The build dependencies come over the network, the build itself has none.
make_packages() {
        local builder=$kept/$suite-build
        [ -z "$made" ] || return 0
        [ -e "$builder" ] || cp -a "$kept/$suite" "$builder"
        rm -rf "$builder/btd"
        git clone --quiet . "$builder/btd"
        if ! enter "$builder" sh -ec 'apt-get -qq update
                        apt-get -qq install --no-install-recommends git lintian
                        cp -r /btd/units/debian /btd/debian
                        apt-get -qq build-dep --no-install-recommends /btd
                        rm -r /btd/debian' >"$kept/$suite-log" 2>&1 ||
                ! enter "$builder" --private-network /btd/bootstrap package >"$kept/$suite-log" 2>&1; then
                tail -n 50 "$kept/$suite-log"
                die "the packages were not made"
        fi
        made=$builder/btd/build-package
}

# The machine gets them, and what an upgrade gets, in /packages.
give_packages() {
        rm -rf "$packages"
        mkdir "$packages"
        cp "$made"/*.deb "$packages"
        cp units/debian/tests/installed "$packages"
        dpkg-deb --raw-extract "$packages"/btd_*.deb "$packages/next"
        sed -i 's/^Version: .*/&+next/' "$packages/next/DEBIAN/control"
        dpkg-deb --root-owner-group --build "$packages/next" "$packages/next.deb" >/dev/null
        sed -n '/<!-- first tree -->/,/^}/p' README.md | sed '1,2d' >"$packages/hello.json"
}

# Returns when the bus is there: the unit of a tree that never ends keeps the boot from being done. leader is the first
# process of the machine.
boot() {
        local name=btd-package-$BASHPID cgroup
        for cgroup in /sys/fs/cgroup/unified /sys/fs/cgroup/systemd /sys/fs/cgroup; do
                if [ -w "$cgroup/cgroup.procs" ] && [ ! -e "$cgroup/$name" ]; then
                        mkdir "$cgroup/$name"
                        cgroups+=("$cgroup/$name")
                fi
        done
        (
                for cgroup in "${cgroups[@]}"; do echo "$BASHPID" >"$cgroup/cgroup.procs"; done
                SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=1 exec systemd-nspawn --quiet --directory="$machine" --machine="$name" \
                        --boot --register=no --keep-unit --console=pipe --settings=no --kill-signal=SIGKILL \
                        --bind="$packages:/packages" </dev/null >"$kept/$suite-console" 2>&1
        ) &
        nspawn=$!
        for _ in {1..600}; do
                leader=$(pgrep -P "$nspawn" || true)
                [ -z "$leader" ] || ! inside 'systemctl is-active dbus.service' >/dev/null 2>&1 || return 0
                kill -0 "$nspawn" 2>/dev/null || break
                sleep 0.1
        done
        cat "$kept/$suite-console"
        die "the machine did not boot"
}

end() {
        [ -z "$nspawn" ] || kill -KILL "${leader:-$nspawn}" "$nspawn" 2>/dev/null || true
        wait 2>/dev/null
        rm -rf "$machine"
        # The machine has made others in them.
        [ ${#cgroups[@]} -eq 0 ] || find "${cgroups[@]}" -depth -type d -exec rmdir {} + 2>/dev/null || true
}

inside() {
        nsenter --target "$leader" --all -- env LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive sh -euc "$1" </dev/null
}

must() {
        inside "$1" >"$kept/$suite-log" 2>&1 || {
                cat "$kept/$suite-log"
                inside 'journalctl --no-pager -n 50' || true
                die "$1"
        }
}

# $1: what becomes true within a minute.
await() {
        for _ in {1..300}; do
                ! inside "$1" >/dev/null 2>&1 || return 0
                sleep 0.2
        done
        must "$1"
}

# What anybody can find of btd. systemd itself forgets files of units that it reads again when they have just ended.
traces() {
        inside "set +e; find / -xdev -name '*btd*' -not -path '/packages*' -not -path '/proc/*'
                find /run /tmp -name '*btd*' -not -path '/run/systemd/units/*'
                { systemctl list-units --all --no-legend; systemctl list-unit-files --no-legend
                  busctl list --no-legend; getent passwd group; } | grep btd
                pgrep -x sleep; systemctl list-units --all --no-legend --state=not-found | grep btd; true"
}

# One run with each kind of leaf that btd recovers in its own way; one of a tree as a unit.
write_trees() {
        cat >"$packages/slow.service" <<'END'
[Service]
Type=oneshot
ExecStart=/bin/sleep 100000
END
        cat >"$packages/kinds.json" <<'END'
{ "btd": 1, "autostart": true, "root": { "type": "Finally", "name": "Kinds", "children": [
    { "type": "ParallelAll", "name": "All", "max_failures": -1, "children": [
        { "type": "Spawn", "name": "Unit", "argv": ["/bin/sleep", "100000"] },
        { "type": "Spawn", "name": "Child", "argv": ["/bin/sleep", "100000"], "as": "child" },
        { "type": "StartUnit", "name": "Job", "unit": "slow.service", "timeout": "infinity" },
        { "type": "WaitFor", "name": "Wait", "child": { "type": "PathExists", "name": "Path", "path": "/run/there" } },
        { "type": "Sleep", "name": "Time", "duration": "1d" } ] },
    { "type": "Spawn", "name": "Clean", "argv": ["/bin/touch", "/srv/cleaned"] } ] } }
END
        cat >"$packages/serve.json" <<'END'
{ "btd": 1, "root": { "type": "Spawn", "name": "Serve", "argv": ["/bin/sleep", "100000"] } }
END
        must "cp /packages/slow.service /etc/systemd/system; cp /packages/*.json /etc/btd/trees; systemctl daemon-reload
              btctl reload; btctl start kinds; systemctl enable btd-run@serve; systemctl start --no-block btd-run@serve"
}

# What a restart of btd cannot continue is a child process of btd.
await_runs() {
        await "btctl status kinds | grep 'Unit.* for' && btctl status serve | grep 'Serve.* for'
               btctl list | grep 'kinds.* running' && systemctl is-active btd-run@serve | grep activating"
}

[ "$(id -u)" = 0 ] || die "this needs root"
mkdir -p "$kept"
trap end EXIT
make_system
make_packages
give_packages
rm -rf "$machine"
cp -a "$kept/$suite" "$machine"
boot
must "apt-get -qq update; apt-get -qq install --no-install-recommends polkitd procps"
before=$(traces)

say "installing"
must "apt-get -qq install --no-install-recommends /packages/btd_*.deb"
must "systemctl is-active btd.service; btctl --version"
must "systemctl list-unit-files --state=enabled --no-legend 'btd*' | grep -q '^btd.service'
      ! systemctl list-unit-files --state=enabled --no-legend 'btd-*' | grep ."

say "the lines of the README"
must "cp /packages/hello.json /etc/btd/trees; btctl reload; btctl start hello --follow"
must "btctl status hello | grep Wave; btctl history hello | grep success"

say "the page for Cockpit"
must "apt-get -qq install --no-install-recommends /packages/btd-cockpit_*.deb cockpit-ws cockpit-bridge curl
      useradd --create-home somebody; echo somebody:secret | chpasswd; systemctl start cockpit.socket
      login='curl --silent --show-error --fail --insecure --cookie-jar /run/jar --cookie /run/jar'
      \$login --user somebody:secret https://localhost:9090/cockpit/login >/dev/null
      \$login https://localhost:9090/cockpit/@localhost/btd/index.html | grep btd.js
      \$login https://localhost:9090/cockpit/@localhost/btd/btd.js | grep org.btd1.Manager
      su somebody -c 'busctl call org.btd1 /org/btd1 org.btd1.Manager ListRuns' | grep hello.1
      rm /run/jar; apt-get -qq purge btd-cockpit"

say "the test of autopkgtest"
must "/packages/installed"

say "SIGKILL with runs in progress"
write_trees
await_runs
must "kill -KILL \$(systemctl show -P MainPID btd.service)"
await "systemctl is-active btd.service"
await_runs
await "btctl status kinds.1 | grep 'Child.*not known'"

say "an upgrade with runs in progress"
must "apt-get -qq install /packages/next.deb; systemctl is-active btd.service"
await_runs

must "btctl list | grep 'kinds.1 running' && btctl list | grep 'serve.1 running'"

say "a power-off"
inside "systemctl poweroff" || true
wait "$nspawn" 2>/dev/null || true
[ -e "$machine/srv/cleaned" ] || die "the clean-up did not run at the power-off"
boot
await_runs
must "btctl history kinds | grep 'kinds.1.*halted'"

say "a power cut"
kill -KILL "$leader"
wait "$nspawn" 2>/dev/null || true
boot
await_runs

say "a removal with runs in progress"
must "rm /srv/cleaned; apt-get -qq remove btd; test -e /srv/cleaned"
# A unit that a tree has started is the administrator's.
must "systemctl stop slow.service; ! pgrep -x sleep && ! systemctl list-units --all --no-legend --state=active,failed,activating | grep btd"
must "apt-get -qq purge btd; rm /etc/systemd/system/slow.service; systemctl daemon-reload"
[ "$(traces)" = "$before" ] || die "this is left: $(diff <(echo "$before") <(traces))"
say "everything works"
