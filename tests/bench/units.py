# SPDX-License-Identifier: LGPL-2.1-or-later
"""Starts units by btd and by systemctl, in turns, under a service manager of its own; prints a JSON list of pairs of
milliseconds. To be run in a mount namespace of its own, which it changes.

    units.py BUILD TREES COUNT
"""

import json
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))

import measures  # noqa: E402

RUNTIME = "/run/user/0"
UNITS = RUNTIME + "/systemd/user"
PAIRS = 15


def prepare(count):
    """What a service manager of the user wants to find."""
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/run"], check=True)
    os.makedirs("/run/systemd/system")
    os.makedirs(UNITS)
    for i in range(count):
        with open(f"{UNITS}/bench-{i}.service", "w", encoding="ascii") as file:
            file.write("[Service]\nType=oneshot\nExecStart=/bin/true\n")


def milliseconds(command):
    begin = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return (time.monotonic() - begin) * 1e3


def measure(build, trees, count):
    with measures.private_bus("dbus-daemon") as bus:
        os.environ.update(XDG_RUNTIME_DIR=RUNTIME, DBUS_SESSION_BUS_ADDRESS=bus.address)
        bench = measures.Bench(build)
        ours = [bench.btctl, "--address=" + bus.address, "start", "units", "--wait"]
        theirs = ["systemctl", "--user", "start", *(f"bench-{i}.service" for i in range(count))]
        with bench, measures.service(["/lib/systemd/systemd", "--user"]), bench.daemon(bus, trees):
            return [(milliseconds(ours), milliseconds(theirs)) for _ in range(PAIRS)]


def main():
    build, trees, count = sys.argv[1:]
    prepare(int(count))
    print(json.dumps(measure(build, trees, int(count))))


if __name__ == "__main__":
    main()
