# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests a tree that is halted at every third of its steps, at each of them with BTD_CLEANUP=full in the environment: its
clean-up runs once, and nothing is left."""

import os

import pytest

import load
from client import DBusError, wait

EVERY = 1 if os.environ.get("BTD_CLEANUP") == "full" else 3
LIST = "/run/cleanup/list"


def shell(name, script, **keys):
    return {"type": "Spawn", "name": name, "argv": ["/bin/sh", "-c", script], **keys}


def finally_(name, body, said):
    return {"type": "Finally", "name": name, "children": [body, shell(name + "CleanUp", f"echo {said} >>{LIST}")]}


# Leaves that are jobs, units, children, calls and pauses; a lock, a retry, a loop, and one that cannot be interrupted.
BODY = {"type": "Sequence", "name": "Body", "children": [
    {"type": "StartUnit", "name": "Start", "unit": "work.service"},
    {"type": "ParallelAll", "name": "Together", "children": [
        shell("AsUnit", "sleep 0.05"),
        shell("AsChild", "sleep 0.05", **{"as": "child"}),
        {"type": "Sleep", "name": "Pause", "duration": "50ms"}]},
    finally_("Inner", {"type": "Sequence", "name": "InnerBody", "children": [
        {"type": "DBusCall", "name": "Call", "destination": "org.freedesktop.DBus", "path": "/org/freedesktop/DBus",
         "interface": "org.freedesktop.DBus", "member": "GetId", "outputs": ["id"]},
        {"type": "ForceSuccess", "child": {
            "type": "RetryUntilSuccessful", "name": "Again", "num_attempts": 2, "backoff": {"initial": "10ms"},
            "child": shell("Fails", "sleep 0.02; exit 3")}},
        shell("Locked", "sleep 0.02", lock="disk", uninterruptible=True)]}, "inner"),
    {"type": "ForEach", "name": "Each", "items": ["a", "b", "c"], "as": "item", "concurrency": 2,
     "child": shell("Item", "sleep 0.02 # {item}")},
    {"type": "WaitFor", "child": {"type": "UnitState", "name": "Active", "unit": "work.service", "state": "active"}},
    {"type": "RestartUnit", "name": "Restart", "unit": "work.service"}]}
TREE = finally_("Outer", BODY, "outer")


def prepare(machine):
    machine.unit("work.service", "[Service]\nExecStart=/bin/sleep infinity\nTimeoutStopSec=1min\n")
    machine.write(LIST, "")


@pytest.fixture
def tree(machine):
    machine.check("mkdir", "-p", "/run/cleanup")
    machine.load("steps", TREE)
    machine.client.subscribe("org.btd1.Run")
    machine.client.manager("Subscribe")
    return "steps"


def next_signal(client, path):
    def find():
        return next((s for s in client.signals if s.path == path and s.member in ("NodesChanged", "Ended")), None)
    signal = wait(find, "what happens next")
    client.signals.remove(signal)
    return signal


def halt(client, path):
    try:
        client.halt(path)
    except DBusError as error:  # it has just ended by itself
        assert error.name == "org.btd1.Error.NotRunning"


def run_until(machine, tree, step):
    """Starts the tree and halts it when it has changed so often (None: never): how often it has changed in all, how it
    ended, and whether the inner part had begun."""
    machine.write(LIST, "")
    machine.client.signals.clear()
    _, path = machine.client.start(tree)
    n, began = 0, False
    if step == 0:
        halt(machine.client, path)
    while True:
        signal = next_signal(machine.client, path)
        if signal.member == "Ended":
            return n, signal.args[0], began
        n += 1
        began = began or any(row[3] == "InnerBody" for row in signal.args[0])
        if n == step:
            halt(machine.client, path)


def left_over(machine):
    """Processes and units of the tree."""
    units = machine.check("systemctl", "list-units", "--all", "--plain", "--no-legend", "btd-*").split("\n")
    return [line for line in units if line and "btd.service" not in line]


def test_halted_at_its_steps(machine, tree):
    steps, status, _ = run_until(machine, tree, None)
    assert status == "success"
    assert machine.read(LIST).split() == ["inner", "outer"]
    for step in range(0, steps, EVERY):
        machine.check("systemctl", "stop", "work.service")
        _, status, began = run_until(machine, tree, step)
        said = machine.read(LIST).split()
        if step == 0 and not said:
            continue  # before its first tick there is nothing to clean up
        assert said == (["inner"] if began else []) + ["outer"], f"step {step}"
        assert status in ("halted", "success"), f"step {step}"
        # The unit of a process that has ended is stopped beside the run.
        load.until(lambda: left_over(machine) == [], f"the units of step {step} to be gone")
