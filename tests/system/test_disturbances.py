# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is done to a system in the middle of a run, in order: btd is restarted and upgraded, systemd is executed anew and
reloaded, the bus goes down. The run comes to what it would have come to without.

Each of them at one place of the run record; at all places with BTD_DISTURBANCES=full in the environment."""

import collections
import os
import re
import subprocess

import pytest

import mixed

FULL = os.environ.get("BTD_DISTURBANCES") == "full"
PLACES = (0.2, 0.5, 0.8)  # of the lines of its run record

# An active unit that names others keeps them loaded, also if the bus is away and with it btd's references to them.
KEEPS = "keeps.service"


def prepare(machine):
    mixed.prepare(machine)
    units = " ".join(f"{name}-{n}.service" for n in range(1, mixed.PARTS_MAX + 1) for name in ("once", "twice"))
    machine.unit(KEEPS, f"[Unit]\nAfter={units}\n[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/bin/true\n")


@pytest.fixture(name="trees")
def fixture_trees(machine):
    return mixed.Mixed(machine, 2 if FULL else 1)


def restart(trees):
    trees.machine.check("systemctl", "restart", "btd")


def upgrade(trees):
    """As packages do it: another program in place of the one that runs, other tree files, and then a restart."""
    machine = trees.machine
    btd = machine.check("systemctl", "show", "--value", "-p", "ExecStart", "btd").split("path=")[1].split()[0]
    machine.check("sh", "-c", f"cp --preserve {btd} {btd}.new && mv {btd}.new {btd}")
    machine.load("all", {"type": "AlwaysFailure"})
    machine.check("systemctl", "daemon-reload")
    machine.check("systemctl", "try-restart", "btd")


def reexec(trees):
    trees.machine.check("systemctl", "daemon-reexec")


def reload(trees):
    trees.machine.check("systemctl", "daemon-reload")


def both(trees):
    """systemd is not the same any more when btd comes back."""
    trees.machine.check("systemctl", "kill", "--signal=STOP", "btd")
    reexec(trees)
    trees.machine.check("systemctl", "kill", "--signal=KILL", "btd")


def bus_restart(trees):
    trees.machine.check("systemctl", "restart", "dbus")
    trees.machine.reconnect()


def bus_kill(trees):
    """It comes back for the first who wants to talk."""
    trees.machine.check("systemctl", "kill", "--signal=KILL", "dbus")
    trees.machine.reconnect()


# btd cannot know whether systemd read a request that was sent just before the bus was lost: the unit is forgotten.
LOST = re.compile(r"failed after .*: the connection to systemd was lost meanwhile, and systemd has forgotten "
                  r"(once|twice)-\d\.service since, so its result is not known\n")


def may_be_lost(trees, disturb, run):
    return disturb in (bus_restart, bus_kill) and LOST.search(
        trees.machine.log().rpartition(f"all.{run}: started")[2])


def check_disturbed(trees, disturb, places):
    lines = trees.finish(trees.start())
    status, once, at_most_once = trees.outcome(lines)
    assert status == "success", lines[-1]

    for place in PLACES if FULL else places:
        for _ in range(3):
            trees.machine.load("all", trees.root(), blackboard=mixed.VARIABLES)
            run = trees.start()
            trees.wait_for_lines(run, int(len(lines) * place))
            disturb(trees)
            was = trees.outcome(trees.finish(run))
            assert not collections.Counter(was[1]) - collections.Counter(once), trees.story(run)
            assert len(was[2]) == len(set(was[2])) <= len(at_most_once), trees.story(run)
            if was[0] == "success" or not may_be_lost(trees, disturb, run):
                break
        assert was[:2] == (status, once), trees.story(run)
    trees.wait_for(run, lambda: not trees.left_behind())


@pytest.mark.parametrize("disturb, place", [(restart, 0.5), (upgrade, 0.2), (reexec, 0.5), (reload, 0.8), (both, 0.5)],
                         ids=lambda it: getattr(it, "__name__", str(it)))
def test_run_is_not_disturbed(trees, disturb, place):
    check_disturbed(trees, disturb, [place])


@pytest.mark.both_buses("how the loss is noticed, and who starts the bus again")
@pytest.mark.parametrize("disturb, place", [(bus_restart, 0.5), (bus_kill, 0.2)],
                         ids=lambda it: getattr(it, "__name__", str(it)))
def test_run_is_not_disturbed_by_the_bus(trees, disturb, place):
    trees.machine.check("systemctl", "start", KEEPS)
    check_disturbed(trees, disturb, [place])


def test_file_system_is_full(trees):
    """A run goes on without its journal, says so, and is halted when btd is stopped."""
    machine = trees.machine
    machine.check("mkdir", "-p", "--mode=700", "/run/btd/runs")  # btd makes it for its first run
    machine.check("mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", "/run/btd/runs")
    try:
        machine.load("long", {"type": "Sequence", "name": "All", "children": [
            {"type": "Log", "message": "x" * 3000}] * 5 + [{"type": "Sleep", "duration": "1h"}]})
        _, path = machine.client.start("long")
        run = path.rsplit("/", 1)[1].replace("_2e", ".")
        why = f"/run/btd/runs/{run}.journal cannot be written: No space left on device"
        trees.wait_for(run, lambda: not machine.client.run_property(path, "Durable"))
        assert machine.client.run_property(path, "NotDurableReason") == why
        assert f"  Durable: no, the run is lost if btd restarts, because {why}\n" in machine.btctl("status", "long").stdout
        assert f"{run}: would not survive a restart of btd, because {why}\n" in machine.log()
        _, other = machine.client.start("all")
        assert machine.client.finish(other)[0] == "success"
    finally:
        machine.check("umount", "--lazy", "/run/btd/runs")

    machine.check("systemctl", "restart", "btd")
    assert f"{run}: halted after " in machine.log()


def test_no_room_for_outputs(trees):
    """What a process writes is had all the same, and the process does not notice; but no restart of btd outlasts it."""
    machine = trees.machine
    machine.load("talks", {"type": "Spawn", "name": "Talk", "argv": ["/bin/sh", "-c", "printf %030000d 7"], "stdout": "said"})
    machine.load("waits", {"type": "Spawn", "name": "Wait", "stdout": "said", "argv": [
        "/bin/sh", "-c", "echo; touch /run/begun; until [ -e /run/to-end ]; do sleep 0.05; done"]})
    machine.check("mkdir", "-p", "/run/btd/outputs")
    machine.check("mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", "/run/btd/outputs")
    try:
        _, path = machine.client.start("talks")
        assert machine.client.finish(path) == ("success", "")
        assert machine.client.variable(path, "said") == "7".zfill(30000)
        assert re.search(r"\ntalks.[0-9]+/Talk: a restart of btd would lose its stdout, because "
                         r"/run/btd/outputs/\S+.stdout is not available: No space left on device\n", machine.log())

        _, path = machine.client.start("waits")
        trees.wait_for("waits", lambda: machine.run("test", "-e", "/run/begun").returncode == 0)
        machine.check("systemctl", "restart", "btd")
        machine.check("touch", "/run/to-end")
        assert machine.client.finish(path) == (
            "failure", "Wait: it succeeded, but btd was restarted meanwhile, and its stdout was not kept")
    finally:
        machine.check("umount", "--lazy", "/run/btd/outputs")
        machine.check("rm", "-f", "/run/begun", "/run/to-end")


def test_no_room_for_units(trees):
    """systemd cannot write the unit of a process; the cause says why, and the next process is started."""
    machine = trees.machine
    machine.load("small", {"type": "Spawn", "name": "True", "argv": ["/bin/true"]})
    machine.check("mkdir", "-p", "/run/systemd/transient")  # systemd makes it for the first unit
    machine.check("mount", "-t", "tmpfs", "-o", "size=4k", "tmpfs", "/run/systemd/transient")
    try:
        machine.run("dd", "if=/dev/zero", "of=/run/systemd/transient/all")
        status, cause = machine.client.finish(machine.client.start("small")[1])
        assert status == "failure" and cause.endswith("; the file system of /run/systemd/transient is full"), cause
    finally:
        machine.check("umount", "--lazy", "/run/systemd/transient")
    assert machine.client.finish(machine.client.start("small")[1])[0] == "success"


def test_who_waits_does_so_until_the_end(trees):
    machine = trees.machine
    machine.load("waits", {"type": "Spawn", "name": "Wait", "argv": [
        "/bin/sh", "-c", "until [ -e /run/to-end ]; do sleep 0.05; done"]})
    with subprocess.Popen(machine.command("btctl", "start", "waits", "--follow", "--ascii"), stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True) as waiting:
        lines = [waiting.stdout.readline()]
        machine.check("systemctl", "restart", "btd")
        while lines[-1] and not re.fullmatch(r"btctl: btd was restarted; waits.\d+ continues\n", lines[-1]):
            lines.append(waiting.stdout.readline())
        machine.check("touch", "/run/to-end")
        lines += waiting.stdout.readlines()
    machine.check("rm", "/run/to-end")
    assert waiting.returncode == 0, lines
    assert "started by" in lines[0] and sum("Wait: running" in line for line in lines) == 1, lines
    assert re.fullmatch(r" +[0-9.]+s \+ waits.\d+: success after .*\n", lines[-1]), lines
