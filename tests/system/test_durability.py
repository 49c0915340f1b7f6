# SPDX-License-Identifier: LGPL-2.1-or-later
"""btd is killed behind a line of a run's journal, comes back, and the run comes to what it would have come to: each process
and each job of a unit once, each call at most once; and nothing is left behind. Meanwhile systemd reads its units again or
executes itself anew, or the bus is restarted, again and again: between the lives of btd, and during them. Only if btd dies
and the bus with it, it can be that nobody knows any more whether a job was asked for; the run says so then.

A few lines, chosen evenly; all of them with all of these, and kills during the recovery, with BTD_DURABILITY=full in the
environment. The simulation (tests/simulation) kills at all of them, too, but with a systemd of its own.
"""

import collections
import contextlib
import functools
import itertools
import json
import os
import pathlib
import re

import pytest

import client
import mixed

FULL = os.environ.get("BTD_DURABILITY") == "full"
KILLS, UNHEARD = 4, 2  # where not all
N_PARTS = mixed.PARTS_MAX if FULL else 1
BUS_RESTART = "systemctl restart dbus"
DISTURBANCES = [None, "systemctl daemon-reload", "systemctl daemon-reexec"]

prepare = mixed.prepare


def begin(trees, kills):
    """Starts the tree; the first life and those after it end behind so many lines ("7-": the seventh is not written any
    more). Answers the number of the run."""
    trees.machine.check("sh", "-c", f"echo {' '.join(map(str, kills))} >{mixed.KILL_AT}")
    return trees.start()


def unheard(lines):
    """Right before it is noted that systemd has queued a job: it has."""
    return [[f"{number}-"] for number, line in enumerate(lines, 1) if '"heard":true' in line]


def undisturbed(trees):
    """The lines of its run record, and what it does."""
    lines = trees.finish(begin(trees, []))
    status, once, at_most_once = trees.outcome(lines)
    assert status == "success", lines[-1]
    assert len(at_most_once) == 3 * N_PARTS
    return lines, once


def check_kills(trees, kills, command, once):
    """The command is repeated meanwhile."""
    run = begin(trees, kills)
    with trees.machine.repeated(command, pause="0.3") if command else contextlib.nullcontext():
        lines = trees.finish(run)
    trees.machine.reconnect()
    was = trees.outcome(lines)
    story = f"killed behind {kills}, with {command}\n{trees.story(run)}"
    if command == BUS_RESTART and was[0] == "failure":
        assert '"kind":"lost"' in lines[-1], story
        assert collections.Counter(was[1]) <= collections.Counter(once), story
    else:
        assert was[:2] == ("success", once), story
    assert len(was[2]) == len(set(was[2])), story


def evenly(points, n):
    return points if FULL else points[len(points) // (2 * n)::max(1, len(points) // n)][:n]


def test_nothing_is_lost_and_nothing_done_twice(machine):
    trees = mixed.Mixed(machine, N_PARTS)
    machine.write("/run/btd/outputs/lost.1-4-1.stdout", "of a run that nobody knows any more")
    lines, once = undisturbed(trees)
    assert unheard(lines)
    points = evenly([[line] for line in range(1, len(lines) + 1)], KILLS)
    points += evenly([[line, 2, 3] for line in range(1, len(lines) + 1)], 1) + evenly(unheard(lines), UNHEARD)
    disturbed = itertools.product(points, DISTURBANCES) if FULL else zip(points, itertools.cycle(DISTURBANCES))
    for kills, command in disturbed:
        check_kills(trees, kills, command, once)
    trees.wait_for(None, lambda: not trees.left_behind())


@pytest.mark.both_buses("btd's stored connections, and what the bus does for one that was killed")
def test_nothing_is_done_twice_without_the_bus(machine):
    trees = mixed.Mixed(machine, N_PARTS)
    lines, once = undisturbed(trees)
    for kills in evenly([[line] for line in range(1, len(lines) + 1)], 1) + evenly(unheard(lines), 1):
        check_kills(trees, kills, BUS_RESTART, once)
    trees.wait_for(None, lambda: not trees.left_behind())


HELD = {  # what is said in [Unit], in [Service], and what it does
    "plain": ("", "", "true"),
    "met": ("ConditionPathExists=/usr", "", "true"),
    "execmet": ("", "ExecCondition=/bin/true", "true"),
    "gone": ("CollectMode=inactive-or-failed", "", "exit 3"),
    "failed": ("", "", "exit 4"),
}
UNKNOWN = "btd was restarted meanwhile, and systemd has forgotten {}-{}.service since, so its result is not known"
FAILED = "{}-{}.service failed: its main process exited with status {}"


def outlive(machine, disturb, verb):
    """Starts a unit of each kind, and disturbs while they are at work: how the leaves ended, and the causes that are kept,
    of a failure that decides."""
    for name, (unit, service, command) in HELD.items():
        script = f"echo {name} >>/run/held; until [ -e /run/held-no-more ]; do sleep 0.02; done; {command}"
        machine.write(f"/etc/systemd/system/{name}-{verb}.service",
                      f"[Unit]\n{unit}\n[Service]\nType=oneshot\n{service}\nExecStart=/bin/sh -c '{script}'\n")
    machine.check("systemctl", "daemon-reload")
    machine.check("rm", "-f", "/run/held", "/run/held-no-more")
    machine.load("held", {"type": "ParallelAll", "children": [
        {"type": verb, "name": name, "unit": f"{name}-{verb}.service"} for name in HELD]})
    trees = mixed.Mixed(machine, 1)
    _, path = machine.client.start("held")
    run = path.rsplit("_2e", 1)[1]
    trees.wait_for(run, lambda: machine.path("/run/held").exists() and len(machine.read("/run/held").split()) == len(HELD))

    def let_them_end():
        machine.write("/run/held-no-more", "")
        trees.wait_for(run, lambda: not re.search(
            r"\bactivating\b", machine.check("systemctl", "list-units", "--all", "--plain", f"*-{verb}.service")))
    disturb(machine, let_them_end)
    record = f"/var/lib/btd/history/held.{run}.journal"
    trees.wait_for(run, lambda: machine.path(record).exists() and
                   not machine.path(f"/run/btd/finished/held.{run}.journal").exists())
    assert sorted(machine.read("/run/held").split()) == sorted(HELD)
    ends, causes = {}, set()
    for line in machine.read(record).splitlines():
        ended = re.search(r" ended #(\d+) (\{.*\})", line)
        if ended:
            end = json.loads(ended[2])
            ends[list(HELD)[int(ended[1]) - 1]] = end["status"]
            causes |= {end["cause"][0]["text"]} if "cause" in end else set()
    trees.wait_for(run, lambda: [line.split()[0] for line in machine.check(
        "systemctl", "list-units", "--all", "--plain", "--no-legend", f"*-{verb}.service").splitlines()] ==
        [f"failed-{verb}.service"])
    machine.check("systemctl", "reset-failed", f"failed-{verb}.service")
    return ends, causes


def kill(machine, let_them_end):
    """They end when there is no btd, and systemd is not the same any more when there is one again."""
    machine.check("systemctl", "kill", "--signal=STOP", "btd")
    let_them_end()
    machine.check("systemctl", "daemon-reexec")
    machine.check("systemctl", "daemon-reload")
    machine.check("systemctl", "kill", "--signal=KILL", "btd")


def stop_and_start(machine, let_them_end):
    machine.check("systemctl", "stop", "btd")
    let_them_end()
    machine.check("systemctl", "start", "btd")


def test_end_of_a_unit_is_seen_later(machine):
    for verb in "StartUnit", "RestartUnit":
        ends, causes = outlive(machine, kill, verb)
        assert ends == {"plain": "success", "met": "success", "execmet": "success", "gone": "failure", "failed": "failure"}
        assert causes and causes <= {FAILED.format("gone", verb, 3), FAILED.format("failed", verb, 4)}


def test_stop_loses_what_systemd_forgets(machine):
    verb = "StartUnit"
    ends, causes = outlive(machine, stop_and_start, verb)
    assert ends == dict.fromkeys(HELD, "failure")
    assert causes and causes <= {FAILED.format("failed", verb, 4),
                                 *(UNKNOWN.format(name, verb) for name in HELD if name != "failed")}


def test_a_command_ends_with_its_run(machine):
    """Its process is ended by the next btd, also if the node is not in use any more; then the program runs again."""
    def processes():
        rows = machine.systemd("ListUnitsByPatterns", "asas", [], ["btd-probe.*"])
        return [row[0] for row in rows]

    def lines():
        return machine.read("/run/probe").split() if machine.path("/run/probe").exists() else []
    machine.load("probe", {"type": "ReactiveSequence", "children": [
        {"type": "Command", "name": "Probe", "argv": ["/bin/sh", "-c", "echo $$ >>/run/probe; exec sleep infinity"],
         "kill_timeout": "1h"},
        {"type": "Sleep", "duration": "infinity"}]})
    machine.client.start("probe")
    client.wait(lambda: len(lines()) == 1, "the process")

    machine.check("systemctl", "kill", "--kill-who=main", "--signal=KILL", "btd.service")
    client.wait(lambda: len(lines()) == 2, "the next process")
    assert not machine.path(f"/proc/{lines()[0]}").exists()
    assert len(processes()) == 1

    machine.reconnect()
    machine.check("btctl", "halt", "probe", "--wait")
    client.wait(lambda: not processes(), "the end of the process")


LOCALE, TIMEDATE, PEER = "org.freedesktop.locale1", "org.freedesktop.timedate1", "org.freedesktop.DBus.Peer"
WAITS = "until [ -e /run/go ]; do sleep 0.02; done"
AWAY = "/run/btd/runs/away.1.journal"


def rows_of_page():
    """What btd(8) says of leaves while there is no btd: (leaf, what happened): (outcome, kind of cause)."""
    page = (pathlib.Path(__file__).parents[2] / "daemon" / "btd.8").read_text(encoding="utf-8")
    table = page.split(".Ss Leaves while btd is away")[1].split(".Bl -column")[1].split(".El")[0]
    rows = re.findall(r"^\.It (?!Sy)(.*?) Ta (.*?) Ta (.*?) Ta (.*)$", table, re.M)
    return {(leaf, happened): (outcome, kind.removeprefix("Li ").strip('"')) for leaf, happened, outcome, kind in rows}


def leaves_while_away(machine):
    """For each row of the page, a leaf and what happens to it then, once its unit has done what it does by itself."""
    oneshot = "[Service]\nType=oneshot\nRemainAfterExit=yes\n"
    for name, script in ("up", WAITS), ("bad", f"{WAITS}; exit 3"), ("reset", f"{WAITS}; exit 3"), ("stopped", "sleep inf"):
        machine.unit(f"away-{name}.service", f"{oneshot}ExecStart=/bin/sh -c '{script}'\n")
    machine.unit("away-down.service", f"{oneshot}ExecStart=/bin/true\nExecStop=/bin/sh -c '{WAITS}'\n")
    machine.unit("away-state.service", f"{oneshot}ExecStart=/bin/true\n")
    machine.check("systemctl", "start", "away-down.service")

    def systemctl(verb, unit):
        return functools.partial(machine.check, "systemctl", verb, unit)

    def process(script, **keys):
        return {"type": "Spawn", "argv": ["/bin/sh", "-c", script], **keys}

    def wait_for(condition):
        return {"type": "WaitFor", "child": condition}
    nothing = bool
    return {
        ("StartUnit", "the unit came up"): (mixed.unit("StartUnit", "away-up"), nothing),
        ("StartUnit", "the program of the unit failed"): (mixed.unit("RestartUnit", "away-bad"), nothing),
        ("StartUnit", "the unit failed, then was reset"): (
            mixed.unit("StartUnit", "away-reset"), systemctl("reset-failed", "away-reset.service")),
        ("StartUnit", "the unit was stopped"): (
            mixed.unit("StartUnit", "away-stopped"), systemctl("stop", "away-stopped.service")),
        ("StopUnit", "the unit stopped"): (mixed.unit("StopUnit", "away-down"), nothing),
        ("Spawn", "the program succeeded"): (process(WAITS), nothing),
        ("Spawn", "the program failed"): (process(f"{WAITS}; exit 3"), nothing),
        ("Spawn", "its unit failed, then was reset"): (
            process(f"{WAITS}; exit 3"), systemctl("reset-failed", "btd-away.1-8-1.service")),
        ("Spawn", "its unit was stopped"): (process("sleep inf"), systemctl("stop", "btd-away.1-9-1.service")),
        ("Spawn", "its child process ended with btd"): (process("sleep inf", **{"as": "child"}), nothing),
        ("DBusCall", "the reply was lost"): (mixed.call("unanswered"), nothing),
        ("DBusSignal", "the sender left the bus"): (
            {"type": "DBusSignal", "sender": TIMEDATE, "member": "Never"}, systemctl("kill", "systemd-timedated.service")),
        ("DBusSignal", "signals may have been missed"): (
            {"type": "DBusSignal", "sender": TIMEDATE, "member": "Never", "on_owner_lost": "wait", "on_recover": "fail"},
            nothing),
        ("Sleep", "the time passed"): ({"type": "Sleep", "duration": "2s"}, nothing),
        ("UnitState", "the value changed"): (
            wait_for({"type": "UnitState", "unit": "away-state.service", "state": "active"}),
            systemctl("start", "away-state.service")),
        ("PathExists", "the value changed"): (wait_for({"type": "PathExists", "path": "/run/away-path"}),
                                              lambda: machine.write("/run/away-path", "")),
        ("DBusName", "the value changed"): (wait_for({"type": "DBusName", "name": LOCALE}),
                                            lambda: machine.check("busctl", "call", LOCALE, "/", PEER, "Ping")),
        ("Command", "the program would succeed now"): (wait_for({**process(WAITS), "type": "Command"}), nothing),
    }


def test_page_says_what_becomes_of_leaves(machine):
    rows, leaves, trees = rows_of_page(), leaves_while_away(machine), mixed.Mixed(machine, 1)
    assert sorted(rows) == sorted(leaves)
    machine.check("systemctl", "kill", "--signal=STOP", "counter.service")
    machine.check("rm", "-f", "/run/go", "/run/away-path")
    machine.load("away", {"type": "ParallelAll", "max_failures": -1, "children": [leaf for leaf, _ in leaves.values()]})
    machine.check("busctl", "call", TIMEDATE, "/", PEER, "Ping")
    machine.client.start("away")
    trees.wait_for(None, lambda: [machine.read(AWAY).count(text) for text in (
        '"heard":true', '"confirmed":true', '"sender":', '"owner":', " value #")] == [5, 6, 1, 1, 3])
    machine.check("systemctl", "kill", "--kill-who=main", "--signal=STOP", "btd")
    machine.write("/run/go", "")
    trees.wait_for(None, lambda: not re.search("activating|running", machine.check(
        "systemctl", "list-units", "--all", "--plain", "--no-legend", "away-[ubrd]*", "btd-away.1-[678]-1.service")))
    for _, happen in leaves.values():
        happen()
    machine.check("systemctl", "kill", "--kill-who=main", "--signal=KILL", "btd")
    machine.reconnect()
    history = machine.path("/var/lib/btd/history/away.1.journal")
    trees.wait_for(None, history.exists)
    machine.check("systemctl", "kill", "--signal=CONT", "counter.service")
    ends = {}
    for node, details in re.findall(r" (?:ended|turned|changed|value) #(\d+) (\{.*\})", history.read_text(encoding="utf-8")):
        details = json.loads(details)
        ends[int(node)] = details["status"], details["cause"][0]["kind"] if details["status"] == "failure" else ""
    assert dict(zip(leaves, [ends[node] for node in [*range(1, 15), 16, 18, 20, 22]])) == rows
