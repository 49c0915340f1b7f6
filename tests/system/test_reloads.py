# SPDX-License-Identifier: LGPL-2.1-or-later
"""systemd reads its units again, and executes itself anew, as each installation of a package makes it do: nothing that
it says meanwhile is taken for a change. BTD_RELOADS in the environment makes it so many times as much."""

import os

import pytest

import load
from client import wait
from test_units import oneshot

TIMES = int(os.environ.get("BTD_RELOADS", "1"))

KINDS = ("service", "oneshot", "socket", "timer", "path", "slice")
UNITS = {"service": "reload-service.service", "oneshot": "reload-oneshot.service", "socket": "reload.socket",
         "timer": "reload.timer", "path": "reload.path", "slice": "reload.slice"}
RELOADS = ("daemon-reload", "daemon-reexec") * TIMES
SLEEP = {"type": "Sleep", "duration": "infinity"}


def prepare(machine):
    machine.unit("reload-service.service", "[Service]\nExecStart=/bin/sleep infinity\n")
    machine.unit("reload-oneshot.service", oneshot("true"))
    machine.unit("reload.socket", "[Socket]\nListenStream=/run/reload.socket\n")
    machine.unit("reload.timer", "[Timer]\nOnActiveSec=1h\nUnit=reload-oneshot.service\n")
    machine.unit("reload.path", "[Path]\nPathExists=/run/reload-path\nUnit=reload-oneshot.service\n")
    machine.unit("reload.slice", "[Slice]\n")
    machine.unit("reload.service", oneshot("true"))
    machine.unit("quick.service", "[Service]\nType=oneshot\nExecStart=/bin/sh -c 'echo start >>/run/quick'\n")
    machine.unit("stays.service", "[Service]\nType=oneshot\nRemainAfterExit=yes\n"
                 "ExecStart=/bin/sh -c 'echo start >>/run/stays'\nExecReload=/bin/sh -c 'echo reload >>/run/stays'\n"
                 "ExecStop=/bin/sh -c 'echo stop >>/run/stays'\n")
    machine.unit("hangs.service", "[Service]\nType=oneshot\nExecStart=/bin/sleep infinity\n")


def test_no_unit_is_inactive_meanwhile(machine):
    """For each kind: what goes on while it is active, and what waits until it is not."""
    for kind in KINDS:
        machine.check("systemctl", "start", UNITS[kind])
    children = []
    for kind in KINDS:
        unit = {"type": "UnitState", "unit": UNITS[kind]}
        children += [
            {"type": "ReactiveSequence", "name": f"Active-{kind}", "children": [unit, SLEEP]},
            {"type": "WaitFor", "name": f"Wait-{kind}", "child": {**unit, "state": "inactive"}}]
    machine.load("reactive", {"type": "Parallel", "name": "All", "success_count": 1, "failure_count": 12,
                              "children": children})
    _, path = machine.client.start("reactive")
    names = {f"{what}-{kind}" for what in ("Active", "Wait") for kind in KINDS}
    for what in RELOADS:
        machine.check("systemctl", what)
        nodes = machine.client.nodes(path)
        assert {name for name in names if nodes[name]["status"] == "running"} == names, what
    assert machine.client.run_property(path, "Status") == "running"

    machine.check("systemctl", "stop", UNITS["timer"])
    assert machine.client.finish(path)[0] == "success"  # it sees what really changes
    assert machine.client.nodes(path)["Wait-timer"]["status"] == "success"


def test_work_goes_on(machine):
    """Each job and each process does its work once, and is seen to."""
    machine.check("sh", "-c", "rm -f /run/quick /run/stays /run/spawned")
    n = 3 * TIMES
    machine.load("work", {"type": "Repeat", "num_cycles": n, "child": {"type": "Sequence", "children": [
        {"type": "StartUnit", "unit": "quick.service"},
        {"type": "StartUnit", "unit": "stays.service"},
        {"type": "UnitState", "unit": "stays.service"},
        {"type": "ReloadUnit", "unit": "stays.service"},
        {"type": "RestartUnit", "unit": "stays.service"},
        {"type": "Spawn", "argv": ["/bin/sh", "-c", "echo spawned >>/run/spawned"]},
        {"type": "StopUnit", "unit": "stays.service"},
        {"type": "UnitState", "unit": "stays.service", "state": "inactive"}]}})
    with machine.repeated("systemctl daemon-reload", "systemctl daemon-reexec"):
        _, path = machine.client.start("work")
        assert machine.client.finish(path) == ("success", "")
    assert machine.read("/run/quick").split() == ["start"] * n
    assert machine.read("/run/spawned").split() == ["spawned"] * n
    assert machine.read("/run/stays").split() == ["start", "reload", "stop", "start", "stop"] * n


def test_a_unit_that_reloads_is_up(machine):
    """What a tree does while the unit is up goes on, also in a tree that reloads it."""
    machine.unit("reloads.service", "[Service]\nExecStart=/bin/sleep infinity\nExecReload=/bin/sh -c 'read line </run/go'\n")
    machine.check("mkfifo", "/run/go")
    machine.check("systemctl", "start", "reloads.service")
    up = {"type": "UnitState", "unit": "reloads.service"}
    machine.load("works", {"type": "ReactiveSequence", "children": [up, {"type": "Sleep", "name": "Work", "duration": "1h"}]})
    machine.load("reloads", {"type": "RetryUntilSuccessful", "num_attempts": 20, "child": {
        "type": "ReactiveSequence", "children": [up, {"type": "ReloadUnit", "unit": "reloads.service"}]}})
    _, works = machine.client.start("works")
    wait(lambda: machine.client.nodes(works)["Work"]["status"] == "running", "the work")
    ticks = machine.client.run_property(works, "Ticks")
    _, path = machine.client.start("reloads")
    wait(lambda: machine.property("reloads.service", "ActiveState") == "reloading", "the reload")
    machine.check("sh", "-c", "echo >/run/go")
    assert machine.client.finish(path) == ("success", "")
    assert machine.client.nodes(works)["Work"]["status"] == "running"
    assert machine.client.run_property(works, "Ticks") == ticks


def left_behind(machine):
    return machine.check("systemctl", "list-units", "--all", "--plain", "--no-legend", "btd-many*")


def test_processes_leave_nothing_behind(machine):
    """Their units are stopped when they have ended, also if systemd does not hear of it at first."""
    machine.load("many", {"type": "Parallel", "children": [
        {"type": "Repeat", "num_cycles": 4 * TIMES, "child": {"type": "Spawn", "name": f"Spawn{i}", "argv": ["/bin/true"]}}
        for i in range(3)]})
    with machine.repeated("systemctl daemon-reexec"):
        _, path = machine.client.start("many")
        assert machine.client.finish(path) == ("success", "")
    load.until(lambda: not left_behind(machine), "the units to be gone")


def test_timeouts_count(machine):
    """While systemd has no time, too."""
    machine.load("hangs", {"type": "Parallel", "success_count": 1, "failure_count": 3, "children": [
        {"type": "StartUnit", "name": "Start", "unit": "hangs.service", "timeout": "500ms"},
        {"type": "Spawn", "name": "Spawn", "argv": ["/bin/sleep", "infinity"], "timeout": "500ms"},
        {"type": "Timeout", "name": "Limit", "timeout": "500ms", "child": {
            "type": "WaitFor", "child": {"type": "UnitState", "unit": "hangs.service", "state": "active"}}}]})
    with machine.repeated("systemctl daemon-reload", "systemctl daemon-reexec"):
        _, path = machine.client.start("hangs")
        status, _ = machine.client.finish(path)  # none of them ends without its timeout
    assert status == "failure"
    for name in ("Start", "Spawn", "Limit"):
        node = machine.client.nodes(path)[name]
        assert node["status"] == "failure" and node["duration"] >= 500000
    machine.check("systemctl", "stop", "hangs.service")


@pytest.mark.both_buses("how the loss is noticed, and who starts the bus again")
def test_the_bus_is_lost_meanwhile(machine):
    """Processes do not become children of btd while systemd is not on the bus, and what waits is told of the loss."""
    machine.check("systemctl", "start", UNITS["service"])
    machine.check("rm", "-f", "/run/cgroups")
    spawn = {"type": "Spawn", "argv": ["/bin/sh", "-c", "cat /proc/self/cgroup >>/run/cgroups && sleep 0.05"]}
    machine.load("lost", {"type": "Parallel", "children": [
        {"type": "Inverter", "child": {"type": "KeepRunningUntilFailure", "child": {
            "type": "Sequence", "children": [spawn, {"type": "Condition", "test": "more"}]}}}] * 3},
                 blackboard={"more": True})
    machine.load("state", {"type": "ReactiveSequence", "children": [
        {"type": "UnitState", "name": "State", "unit": UNITS["service"], "unknown": "running"}, SLEEP]})
    _, lost = machine.client.start("lost")
    _, state = machine.client.start("state")
    for _ in range(1 + TIMES):
        machine.check("sh", "-c", "systemctl --no-block daemon-reload; systemctl kill --signal=KILL dbus; "
                                  "until busctl status org.btd1 >/dev/null 2>&1; do sleep 0.05; done")
    machine.reconnect()
    before = machine.read("/run/cgroups")
    load.until(lambda: machine.read("/run/cgroups") != before, "another process")
    machine.client.set_variables(lost, more=False)
    assert machine.client.finish(lost) == ("success", "")
    cgroups = machine.read("/run/cgroups").split("\n")[:-1]
    own = [line for line in cgroups if line.endswith("/btd.service")]
    assert not own, (len(own), len(cgroups))
    assert machine.client.run_property(state, "Status") == "running"
    machine.check("btctl", "halt", "state", "--wait")
