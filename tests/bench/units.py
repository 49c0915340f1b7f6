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
CONFIG = "/run/config"
PAIRS = 15

# Whatever bus this machine has for its users: here it is the plain one, which needs nothing else.
BUS = """[Unit]
Requires=dbus.socket
[Service]
Type=notify
ExecStart=/usr/bin/dbus-daemon --session --address=systemd: --nofork --nopidfile
"""
ONESHOT = """[Service]
Type=oneshot
ExecStart=/bin/true
"""


def prepare(count):
    """What a service manager of a user wants to find, and nothing of any real user."""
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/run"], check=True)
    units = CONFIG + "/systemd/user"
    for directory in ("/run/systemd/system", RUNTIME, units):
        os.makedirs(directory)
    files = {"dbus.service": BUS, **{f"bench-{i}.service": ONESHOT for i in range(count)}}
    for name, text in files.items():
        with open(os.path.join(units, name), "w", encoding="ascii") as file:
            file.write(text)


def milliseconds(command):
    begin = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return (time.monotonic() - begin) * 1e3


def wait_for_manager():
    """Until the manager is on the bus that it has started itself."""
    subprocess.run(["systemctl", "--user", "start", "dbus.service"], check=True)
    for _ in range(250):
        found = subprocess.run(["busctl", "--user", "status", "org.freedesktop.systemd1"], check=False,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if found.returncode == 0:
            return
        time.sleep(0.02)
    sys.exit("the user's service manager does not come to its bus")


def measure(build, trees, count):
    address = f"unix:path={RUNTIME}/bus"
    os.environ.update(XDG_RUNTIME_DIR=RUNTIME, XDG_CONFIG_HOME=CONFIG, DBUS_SESSION_BUS_ADDRESS=address)
    theirs = ["systemctl", "--user", "start", *(f"bench-{i}.service" for i in range(count))]
    with measures.Bench(build) as bench, measures.service(["/lib/systemd/systemd", "--user"]):
        ours = [bench.btctl, "--address=" + address, "start", "units", "--wait"]
        wait_for_manager()
        with bench.daemon(address, trees):
            return [(milliseconds(ours), milliseconds(theirs)) for _ in range(PAIRS)]


def main():
    build, trees, count = sys.argv[1:]
    prepare(int(count))
    print(json.dumps(measure(build, trees, int(count))))


if __name__ == "__main__":
    main()
