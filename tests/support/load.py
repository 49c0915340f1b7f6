# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs load programs against btd in a container, and measures how long others wait and what is left."""

import collections
import contextlib
import os
import subprocess
import time

import client
import daemon

ADDRESS = "unix:path=/run/dbus/system_bus_socket"
PROGRAMS = ["churn", "mute", "probe", "service", "signals"]
PLAIN = "org.example.Plain"

POLICY = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-BUS Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><policy context="default"><allow own_prefix="org.example"/>""" + "".join(
    f'<allow send_destination="org.example.{name}"/>' for name in ("Beats", "Flap", "Held", "Plain")) + """
</policy></busconfig>
"""

# What every other caller may wait for an answer, with two processors: the median and the 99th percentile, in µs. A
# service with nothing to do, asked at the same moments, tells how much of it is the machine's.
MEDIAN, PERCENTILE_99 = 20000, 100000

Waits = collections.namedtuple("Waits", "answered lost median percentile_99 longest")
Cost = collections.namedtuple("Cost", "btd plain before after")


def prepare(machine):
    """Installs the programs and their policy, before the boot."""
    machine.write("/etc/dbus-1/system.d/org.example.conf", POLICY)
    for name in PROGRAMS:
        with open(os.path.join(daemon.BUILD, "tests", "load", "load-" + name), "rb") as file:
            program = machine.path("/usr/libexec/load-" + name)
            program.parent.mkdir(parents=True, exist_ok=True)
            program.write_bytes(file.read())
            program.chmod(0o755)


class Program:
    """One of the programs, which runs in the container until end()."""

    def __init__(self, machine, name, *arguments, user=None):
        command = machine.command(f"/usr/libexec/load-{name}", ADDRESS, *arguments, user=user)
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        assert line == "ready\n", f"load-{name} did not begin: {line}"

    def end(self):
        """Its output, split into words."""
        self.process.stdin.close()
        words = self.process.stdout.read().split()
        self.process.stdout.close()
        assert self.process.wait() == 0, self.process.args
        return words

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def main_pid(machine):
    return int(machine.property("btd.service", "MainPID"))


def pss(machine):
    """The memory of btd, in KiB."""
    for line in machine.check("cat", f"/proc/{main_pid(machine)}/smaps_rollup").splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1])
    raise AssertionError("no Pss")


def files(machine):
    """How many file descriptors btd has open."""
    return len(machine.check("ls", f"/proc/{main_pid(machine)}/fd").split())


def settle(value, bound, timeout=20):
    """The value when it is within the bound, or the last value: freed memory is returned only after seconds."""
    deadline = time.monotonic() + timeout
    while (now := value()) > bound and time.monotonic() < deadline:
        client.run(["sleep", "0.2"])
    return now


def rest(machine):
    """PSS when it no longer decreases."""
    now = pss(machine)
    while (then := settle(lambda: pss(machine), now * 0.99, timeout=3)) <= now * 0.99:
        now = then
    return then


def read_waits(words):
    waits = {words[i]: Waits(*map(int, words[i + 1:i + 6])) for i in range(0, len(words), 6)}
    return waits["btd"], waits["plain"]


@contextlib.contextmanager
def others(machine):
    """Lets clients call btd while the body loads it. Yields a list for their Waits, and those of the plain service."""
    waits = []
    with Program(machine, "probe", PLAIN) as probe:
        yield waits
        waits += read_waits(probe.end())


def check_waits(waits, what, alone):
    """alone: nothing else runs on this machine, so that all of the delay is caused by btd."""
    btd, plain = waits
    allowance = Waits(0, 0, 0, 0, 0) if alone else plain
    print(f"{what}: {btd}; plain: {plain}")
    assert btd.lost == 0 and btd.answered > 0, f"{what}: {btd}"
    assert btd.median <= MEDIAN + allowance.median, f"{what}: {btd}; plain: {plain}"
    assert btd.percentile_99 <= PERCENTILE_99 + allowance.percentile_99, f"{what}: {btd}; plain: {plain}"


def check_memory(machine, before, what):
    """Checks that the value is within a tenth of the previous one."""
    after = settle(lambda: pss(machine), before * 1.1)
    print(f"{what}: PSS {before} KiB before, {after} KiB after")
    assert after <= before * 1.1, f"{what}: PSS was {before} KiB before and is {after} KiB after"


@contextlib.contextmanager
def finished(machine):
    """Collects the statuses of the runs that end meanwhile."""
    statuses = []
    subscription = machine.client.connection.signal_subscribe(
        client.BUS_NAME, "org.btd1.Manager", "RunFinished", client.MANAGER, None, 0,
        lambda *arguments: statuses.append(arguments[5].unpack()[2]))
    yield statuses
    machine.client.connection.signal_unsubscribe(subscription)
