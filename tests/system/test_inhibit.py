# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests Inhibit with a real logind: who holds which lock, and since when it does not any more."""

import json

import pytest

from client import wait
from user import User


def prepare(machine):
    machine.write("/etc/systemd/system/btd.service.d/test.conf",
                  "[Service]\nRestartSec=50ms\n[Unit]\nStartLimitBurst=1000\n")
    for unit in ("dbus.service", "dbus-broker.service", "dbus.socket", "systemd-logind.service"):
        machine.write(f"/etc/systemd/system/{unit}.d/test.conf", "[Unit]\nStartLimitIntervalSec=0\n")


def locks(machine):
    """btd's locks, as logind has them, without the numbers of the runs."""
    lines = machine.check("busctl", "--json=short", "call", "org.freedesktop.login1", "/org/freedesktop/login1",
                          "org.freedesktop.login1.Manager", "ListInhibitors")
    return sorted((what, who.rstrip("0123456789"), why, mode) for what, who, why, mode, _, _ in json.loads(lines)["data"][0]
                  if who.startswith("btd"))


def slow(name):
    """A process whose halt lasts until /run/NAME.go exists."""
    script = f"trap 'until test -e /run/{name}.go; do sleep 0.02; done; exit' TERM; echo >/run/{name}.pipe; " \
        "while :; do sleep 0.02; done"
    return {"type": "Spawn", "name": "Slow", "argv": ["/bin/sh", "-c", script], "kill_timeout": "infinity"}


def begin(machine, name):
    machine.check("mkfifo", f"/run/{name}.pipe")
    _, path = machine.client.start(name)
    machine.check("sh", "-c", f"read line </run/{name}.pipe")
    return path


def end(machine, name, path):
    machine.check("touch", f"/run/{name}.go")
    result = machine.client.finish(path)
    machine.check("rm", "-f", f"/run/{name}.go", f"/run/{name}.pipe")
    return result


def test_the_lock_is_held_until_the_child_has_ended(machine):
    machine.load("flash", {"type": "ParallelAll", "children": [
        {"type": "Inhibit", "what": "shutdown:sleep", "why": "Firmware is written", "child": slow("flash")},
        {"type": "Inhibit", "name": "Other", "who": "btd-other", "mode": "delay", "what": "sleep",
         "child": {"type": "Sleep", "duration": "infinity"}}]})
    path = begin(machine, "flash")
    wait(lambda: len(locks(machine)) == 2, "both locks")
    first = ("shutdown:sleep", "btd: flash.", "Firmware is written", "block")
    assert locks(machine) == [first, ("sleep", "btd-other", "ParallelAll/Other", "delay")]
    assert "Firmware is written" in machine.check("systemd-inhibit", "--list")

    machine.client.halt(path)
    wait(lambda: len(locks(machine)) == 1, "the lock of the node that has ended")
    assert locks(machine) == [first]
    assert end(machine, "flash", path)[0] == "halted"
    wait(lambda: locks(machine) == [], "no lock")


def restart(machine):
    machine.check("systemctl", "restart", "btd.service")


def kill(machine):
    owner = machine.client.owner()
    machine.check("systemctl", "kill", "--signal=KILL", "btd.service")
    machine.client.wait_owner(other_than=owner)
    machine.client.wait_running()


def stop_and_start(machine):
    machine.check("systemctl", "stop", "btd.service")
    assert locks(machine) == []
    machine.check("systemctl", "start", "btd.service")


def restart_logind(machine):
    machine.check("systemctl", "restart", "systemd-logind.service")


def kill_logind(machine):
    before = machine.property("systemd-logind.service", "MainPID")
    machine.check("systemctl", "kill", "--signal=KILL", "systemd-logind.service")
    wait(lambda: machine.property("systemd-logind.service", "MainPID") not in (before, "0"), "another logind")
    wait(lambda: machine.property("systemd-logind.service", "ActiveState") == "active", "logind")


def reexec(machine):
    machine.check("systemctl", "daemon-reexec")


@pytest.mark.parametrize("trouble", [restart, kill, stop_and_start, restart_logind, kill_logind, reexec])
def test_the_lock_outlives(machine, trouble):
    """And is released once, by whichever btd has it then, also if it was halted meanwhile."""
    machine.load("flash", {"type": "Inhibit", "what": "shutdown", "why": "Flash", "child": slow("flash")})
    path = begin(machine, "flash")
    mine = ("shutdown", "btd: flash.", "Flash", "block")
    assert locks(machine) == [mine]

    trouble(machine)
    wait(lambda: locks(machine) == [mine], "one lock")
    trouble(machine)
    wait(lambda: locks(machine) == [mine], "one lock")

    machine.client.halt(path)
    trouble(machine)
    wait(lambda: locks(machine) == [mine], "one lock, while the child halts")
    assert end(machine, "flash", path)[0] == "halted"
    wait(lambda: locks(machine) == [], "no lock")


def test_a_restart_leaves_no_gap(machine):
    """While the next btd starts, systemd has the lock."""
    machine.write("/etc/systemd/system/btd.service.d/gap.conf",
                  "[Service]\nExecStartPre=/bin/sh -c 'busctl --json=short call org.freedesktop.login1 "
                  "/org/freedesktop/login1 org.freedesktop.login1.Manager ListInhibitors >/run/gap'\n")
    machine.check("systemctl", "daemon-reload")
    machine.load("flash", {"type": "Inhibit", "why": "Flash", "child": slow("flash")})
    path = begin(machine, "flash")
    for disturb in (restart, kill):
        disturb(machine)
        assert json.loads(machine.read("/run/gap"))["data"][0][0][2] == "Flash"
    machine.client.halt(path)
    assert end(machine, "flash", path)[0] == "halted"
    machine.check("rm", "/run/gap")


def test_a_bus_that_is_restarted(machine):
    machine.load("flash", {"type": "Inhibit", "what": "shutdown", "why": "Flash", "child": slow("flash")})
    path = begin(machine, "flash")
    machine.check("systemctl", "restart", "dbus.service")
    machine.reconnect()
    machine.client.wait_owner()
    wait(lambda: [lock[2] for lock in locks(machine)] == ["Flash"], "the lock")
    machine.client.halt(path)
    assert end(machine, "flash", path)[0] == "halted"
    wait(lambda: locks(machine) == [], "no lock")


def test_without_logind(machine):
    machine.load("flash", {"type": "Fallback", "children": [
        {"type": "Inhibit", "child": {"type": "AlwaysSuccess", "name": "Begun"}}, {"type": "AlwaysFailure"}]})
    machine.load("held", {"type": "Inhibit", "child": slow("held")})
    held = begin(machine, "held")
    machine.check("systemctl", "mask", "--runtime", "systemd-logind.service", "dbus-org.freedesktop.login1.service")
    machine.check("systemctl", "stop", "systemd-logind.service")
    _, path = machine.client.start("flash")
    assert machine.client.finish(path)[0] == "failure"
    nodes = machine.client.nodes(path)
    assert nodes["Begun"]["status"] == "idle"
    said = nodes["Inhibit"]["detail"].removeprefix("logind did not give the inhibitor lock 'idle:sleep:shutdown': ")
    assert said in ("Unit dbus-org.freedesktop.login1.service is masked.",
                    "Could not activate remote peer: activation request failed: unit is masked.")

    # One that was held, and cannot be taken again.
    restart(machine)
    machine.client.wait_node(held, "Inhibit", "halting")
    assert end(machine, "held", held)[0] == "failure"
    machine.check("systemctl", "unmask", "--runtime", "systemd-logind.service", "dbus-org.freedesktop.login1.service")
    machine.check("systemctl", "start", "systemd-logind.service")


def test_of_a_user(machine):
    """Of a user without a session, logind takes only what delays."""
    user = User(machine)
    for mode in ("delay", "block"):
        user.tree(mode, {"type": "Inhibit", "what": "shutdown", "mode": mode, "child": {
            "type": "Sequence", "children": [{"type": "Sleep", "name": "Begun", "duration": "infinity"}]}})
    user.begin()

    def has_lock():
        """The run ends if the lock is refused: then its cause is better than waiting. For a moment after a restart, there
        is that of the btd before, too."""
        expected = [("shutdown", "btd: delay.", "Inhibit", "delay")]
        wait(lambda: locks(machine) == expected or "failure" in user.check("btctl", "--user", "list"), "the lock")
        assert "failure" not in user.check("btctl", "--user", "list"), user.run("btctl", "--user", "status", "delay").stdout

    user.check("systemctl", "--user", "start", "btd.service")
    user.check("btctl", "--user", "start", "delay")
    has_lock()
    user.check("systemctl", "--user", "restart", "btd.service")
    has_lock()
    result = user.run("btctl", "--user", "start", "block", "--wait")
    assert result.returncode == 1
    assert "Inhibit: logind did not give the inhibitor lock 'shutdown': " in result.stdout + result.stderr
    user.check("btctl", "--user", "halt", "delay", "--wait")
    wait(lambda: locks(machine) == [], "no lock")
    machine.check("systemctl", "stop", f"user@{user.uid}.service")
