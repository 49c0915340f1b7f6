# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests trees as units: btd-run@.service and btd-job@.service, also while btd restarts or crashes."""

import json
import pathlib
import re
import textwrap

import pytest

from user import User

RUN = "btd-run@{}.service"


def prepare(machine):
    machine.write("/etc/systemd/system/btd.service.d/test.conf",
                  "[Service]\nRestartSec=50ms\n[Unit]\nStartLimitBurst=1000\n")
    for unit in ("dbus.service", "dbus-broker.service", "dbus.socket"):
        machine.write(f"/etc/systemd/system/{unit}.d/test.conf", "[Unit]\nStartLimitIntervalSec=0\n")


def held(name, *more, **keys):
    """A tree that says on /run/NAME.pipe that it has begun, and waits for /run/NAME.go; more follows."""
    return {"type": "Sequence", "name": "Held", "children": [
        {"type": "Spawn", "name": "Told", "argv": ["/bin/sh", "-c", f"echo >/run/{name}.pipe"]},
        {"type": "WaitFor", "name": "Go", "child": {"type": "PathExists", "path": f"/run/{name}.go"}}, *more]}


def begin(machine, name, unit=RUN):
    """Starts the unit of a held tree, and returns when the tree has begun."""
    machine.check("mkfifo", f"/run/{name}.pipe")
    machine.check("systemctl", "start", "--no-block", unit.format(name))
    machine.check("sh", "-c", f"read line </run/{name}.pipe")


def state(machine, name, unit=RUN):
    return machine.property(unit.format(name), "ActiveState")


def runs(machine, tree):
    return [(row.id, row.status) for row in machine.client.runs() if row.tree == tree]


def wait_for(machine, command):
    """Until the command succeeds in the container."""
    machine.check("sh", "-c", f"until {command}; do sleep 0.05; done")


def restart(machine):
    machine.check("systemctl", "restart", "btd.service")


def kill(machine):
    """systemd starts it again."""
    owner = machine.client.owner()
    machine.check("systemctl", "kill", "--signal=KILL", "btd.service")
    machine.client.wait_owner(other_than=owner)
    machine.client.wait_running()


def stop_and_start(machine):
    machine.check("systemctl", "stop", "btd.service")
    machine.check("systemctl", "start", "btd.service")


def reexec(machine):
    machine.check("systemctl", "daemon-reexec")


def bus_restart(machine):
    machine.check("systemctl", "restart", "dbus.service")
    machine.reconnect()
    machine.client.wait_owner()


def check_one_run(machine, trouble):
    """While it waits, and when it is active: the unit stays as it is, and what depends on it."""
    name = "through-" + trouble.__name__.replace("_", "-")
    machine.load(name, held(name))
    machine.unit(f"{name}-app.service", f"[Unit]\nRequires={RUN.format(name)}\nAfter={RUN.format(name)}\n"
                                        "[Service]\nExecStart=/bin/sleep infinity\n")
    begin(machine, name)
    machine.check("systemctl", "start", "--no-block", f"{name}-app.service")

    trouble(machine)
    assert state(machine, name) == "activating"
    assert state(machine, f"{name}-app.service", "{}") == "inactive"
    assert runs(machine, name) == [(name + ".1", "running")]

    machine.check("touch", f"/run/{name}.go")
    machine.check("systemctl", "start", f"{name}-app.service")
    trouble(machine)
    assert (state(machine, name), state(machine, f"{name}-app.service", "{}")) == ("active", "active")
    assert name + ".2" not in machine.check("btctl", "history")
    machine.check("systemctl", "stop", f"{name}-app.service", RUN.format(name))
    assert state(machine, name) == "inactive"


@pytest.mark.parametrize("trouble", [restart, kill, stop_and_start, reexec])
def test_one_run_through(machine, trouble):
    check_one_run(machine, trouble)


@pytest.mark.both_buses("the bus is started again")
def test_one_run_through_a_restart_of_the_bus(machine):
    check_one_run(machine, bus_restart)


def test_a_start_while_btd_is_away(machine):
    """The unit waits for btd, and says so; the tree is started once."""
    machine.load("early", {"type": "AlwaysSuccess"})
    machine.write("/etc/systemd/system/btd.service.d/late.conf", "[Service]\nExecStartPre=/bin/sh -c "
                                                                 "'until test -e /run/late; do sleep 0.05; done'\n")
    machine.check("systemctl", "daemon-reload")
    machine.check("systemctl", "kill", "--signal=KILL", "btd.service")
    machine.check("systemctl", "start", "--no-block", "--job-mode=ignore-dependencies", RUN.format("early"))
    wait_for(machine, "systemctl show -P StatusText btd-run@early | grep waiting")
    machine.check("touch", "/run/late")
    machine.check("systemctl", "start", RUN.format("early"))
    assert state(machine, "early") == "active"
    assert [status for _, status in runs(machine, "early")] == ["success"]
    machine.check("rm", "/run/late", "/etc/systemd/system/btd.service.d/late.conf")
    machine.check("systemctl", "daemon-reload")
    machine.check("systemctl", "stop", RUN.format("early"))


def drop_in_of_the_manual():
    manual = (pathlib.Path(__file__).resolve().parents[2] / "units" / "btd-run@.service.8").read_text(encoding="utf-8")
    lines = re.search(r"^Give inputs to the tree of a unit:\n.*?^( +\[Service\]\n.*?)^\.Ed", manual, re.S | re.M)[1]
    return textwrap.dedent(lines).replace("\\e\n", "\\\n")


def test_inputs_by_the_drop_in_of_the_manual(machine):
    machine.load("boot", {"type": "Log", "name": "Say", "message": "{primary} {retries}"},
                 inputs={"primary": "string", "retries": "int"})
    btctl = machine.check("sh", "-c", "command -v btctl").strip()
    machine.unit("btd-run@boot.service.d/inputs.conf", drop_in_of_the_manual().replace("/usr/bin/btctl", btctl))
    machine.check("systemctl", "start", RUN.format("boot"))
    assert state(machine, "boot") == "active"
    assert machine.check("btctl", "get", "boot").splitlines() == ['primary="eth1"', "retries=3"]
    machine.check("systemctl", "stop", RUN.format("boot"))


@pytest.mark.parametrize(("text", "name"), [("usb-front", "usb-front"), ("a b", r"a\x20b"), ("ü/ö", r"\xc3\xbc\x2f\xc3\xb6")])
@pytest.mark.parametrize("unit", [RUN, "btd-job@{}.service"])
def test_the_tree_learns_its_instance(machine, unit, text, name):
    """From what systemd-escape makes of it, or of the whole operand. A halt finds it, too."""
    machine.load("any-camera", {"type": "Sequence", "children": [
        {"type": "Spawn", "argv": ["/bin/sh", "-c", 'echo "$1" >/run/learnt', "-", "{instance}"]},
        {"type": "Sleep", "duration": "infinity"}]})
    machine.check("mkfifo", "/run/learnt")
    for escaped in ("any-camera@" + machine.check("systemd-escape", text).strip(),
                    machine.check("systemd-escape", f"any_camera@{text}").strip().replace("_", "-")):
        machine.check("systemctl", "start", "--no-block", unit.format(escaped))
        assert machine.check("cat", "/run/learnt") == f"{text}\n"
        assert [run.instance for run in machine.client.runs() if run.status == "running"] == [name]
        machine.check("systemctl", "stop", unit.format(escaped))
        assert [run.instance for run in machine.client.runs() if run.status == "running"] == []
    machine.check("rm", "/run/learnt")


@pytest.mark.parametrize("unit", ["btd-run@x.service", "btd-job@x.service"])
def test_units_are_in_a_sandbox(machine, unit):
    report = machine.check("systemd-analyze", "security", "--no-pager", unit)
    assert float(re.search(r"Overall exposure level for \S+: ([0-9.]+)", report).group(1)) <= 1.0, report


def test_stopping_the_unit_halts_its_run(machine):
    """Also in the middle of the start, which is no failure, and after a kill of btd."""
    machine.load("stopped", held("stopped"))
    begin(machine, "stopped")
    kill(machine)
    machine.check("systemctl", "stop", RUN.format("stopped"))
    assert runs(machine, "stopped") == [("stopped.1", "halted")]
    assert (state(machine, "stopped"), machine.property(RUN.format("stopped"), "Result")) == ("inactive", "success")


def test_stopping_the_unit_while_btd_is_down(machine):
    """The next btd halts the run, before anything else is made of it."""
    machine.load("down", held("down"))
    begin(machine, "down")
    machine.check("systemctl", "stop", "btd.service")
    assert machine.btctl("halt", "down", "--token=any", user="nobody") == (
        1, "", "btctl: btd is not running, and the request cannot be stored in /run/btd/halts: Permission denied\n")
    machine.check("systemctl", "stop", RUN.format("down"))
    assert state(machine, "down") == "inactive"
    assert machine.property("btd.service", "ActiveState") == "inactive", "nobody has asked for it to be started"

    machine.check("systemctl", "start", "btd.service")
    assert machine.btctl("wait", "down").returncode == 3
    assert runs(machine, "down") == [("down.1", "halted")]
    assert "halted by UID 0, while btd was not running" in machine.check("btctl", "status", "down")
    assert machine.check("ls", "/run/btd/halts") == ""


def test_what_others_have_started_goes_on(machine):
    """The unit waits for it; to halt it is theirs to say."""
    machine.load("others", held("others"))
    machine.check("mkfifo", "/run/others.pipe")
    machine.client.start("others")
    machine.check("sh", "-c", "read line </run/others.pipe")
    machine.check("systemctl", "start", "--no-block", RUN.format("others"))
    attached = "test \"$(systemctl show -P StatusText btd-run@others)\" = 'others.1: waits for Held/Go'"
    wait_for(machine, attached)
    machine.check("systemctl", "stop", RUN.format("others"))
    assert runs(machine, "others") == [("others.1", "running")]

    machine.check("systemctl", "start", "--no-block", RUN.format("others"))
    wait_for(machine, attached)
    machine.check("touch", "/run/others.go")
    machine.check("systemctl", "start", RUN.format("others"))
    assert runs(machine, "others") == [("others.1", "success")]
    machine.check("systemctl", "stop", RUN.format("others"))


@pytest.mark.parametrize("name, root, active, status", [
    ("well", {"type": "AlwaysSuccess"}, "active", "0"),
    ("not-now", {"type": "AlwaysSuccess", "skip_if": "true"}, "active", "0"),
    ("badly", {"type": "AlwaysFailure"}, "failed", "1"),
    ("broken", {"type": "Script", "code": "x = nil + 1"}, "failed", "4"),
    ("no-tree", None, "failed", "1"),
])
def test_results(machine, name, root, active, status):
    if root:
        machine.load(name, root)
    machine.run("systemctl", "start", RUN.format(name))
    assert (state(machine, name), machine.property(RUN.format(name), "ExecMainStatus")) == (active, status)
    machine.run("systemctl", "start", RUN.format(name).replace("run", "job"))
    assert state(machine, name, "btd-job@{}.service") == active.replace("active", "inactive")
    machine.run("systemctl", "stop", RUN.format(name))
    machine.run("systemctl", "reset-failed", "btd-*@*.service")


def test_a_run_that_is_halted_by_hand(machine):
    machine.load("by-hand", held("by-hand"))
    begin(machine, "by-hand")
    machine.check("btctl", "halt", "by-hand", "--wait")
    wait_for(machine, "systemctl is-failed btd-run@by-hand")
    assert machine.property(RUN.format("by-hand"), "ExecMainStatus") == "3"
    machine.run("systemctl", "reset-failed", RUN.format("by-hand"))


def test_a_tree_that_is_started_again(machine):
    """The unit waits for what comes of it, and halts the run that has followed."""
    again = {"restart": "on-failure", "restart_backoff": {"initial": "1ms"}}
    root = {"type": "Spawn", "argv": ["/bin/sh", "-c", "echo >>/run/tries; test $(wc -l </run/tries) -ge 3"]}
    machine.load("again", root, **again)
    machine.check("systemctl", "start", RUN.format("again"))
    assert runs(machine, "again") == [("again.3", "success")]

    machine.load("follows", {"type": "Sequence", "children": [
        {"type": "Spawn", "argv": ["/bin/sh", "-c", "test -e /run/second || ! touch /run/second"]},
        held("follows")]}, **again)
    begin(machine, "follows")
    machine.check("systemctl", "stop", RUN.format("follows"))
    assert runs(machine, "follows") == [("follows.2", "halted")]


def test_a_run_that_ends_while_btd_stops(machine):
    """btd waits for another one, which it halts: the next btd starts the run that is to follow."""
    machine.load("slow-halt", {"type": "Finally", "children": [
        {"type": "Sleep", "duration": "infinity"},
        {"type": "WaitFor", "child": {"type": "PathExists", "path": "/run/slow-halt.go"}}]}, on_stop="halt")
    machine.load("ends", held("ends", {"type": "PathExists", "name": "Ok", "path": "/run/ends.ok"}),
                 restart="on-failure", restart_backoff={"initial": "1ms"})
    begin(machine, "ends")
    machine.client.start("slow-halt")
    machine.check("systemctl", "restart", "--no-block", "btd.service")
    wait_for(machine, "btctl list | grep 'slow-halt.1 halting'")
    machine.check("touch", "/run/ends.go")
    wait_for(machine, "test \"$(systemctl show -P StatusText btd-run@ends)\" = 'ends.1: waiting for the restart'")
    assert state(machine, "ends") == "activating"

    machine.check("touch", "/run/ends.ok", "/run/slow-halt.go")
    machine.check("sh", "-c", "read line </run/ends.pipe")  # that of the second run
    machine.check("systemctl", "start", RUN.format("ends"))
    assert state(machine, "ends") == "active"
    assert "restarted" in machine.log().split("ends.1: failed")[1]


def test_a_tree_that_supervises(machine):
    """The unit is active when the run is ready, through a kill of btd, and fails with it."""
    ready = {"type": "AlwaysSuccess", "name": "Up", "ready": True}
    machine.load("duty", {"type": "Sequence", "children": [
        ready, {"type": "WaitFor", "child": {"type": "PathExists", "path": "/run/duty.end"}},
        {"type": "AlwaysFailure"}]})
    machine.check("systemctl", "start", RUN.format("duty"))
    assert (state(machine, "duty"), machine.property(RUN.format("duty"), "SubState")) == ("active", "running")
    waits = "test \"$(systemctl show -P StatusText btd-run@duty)\" = 'duty.1: ready; waits for Sequence/WaitFor'"
    wait_for(machine, waits)
    kill(machine)
    wait_for(machine, waits)
    assert state(machine, "duty") == "active"
    machine.client.subscribe("org.btd1.Manager", "RunFinished")
    machine.check("touch", "/run/duty.end")
    machine.client.wait_signal("RunFinished")
    wait_for(machine, "systemctl is-failed btd-run@duty")
    machine.check("rm", "/run/duty.end")
    machine.check("systemctl", "start", RUN.format("duty"))
    machine.check("systemctl", "stop", RUN.format("duty"))
    (run, status), = runs(machine, "duty")
    assert run != "duty.1" and status == "halted"  # a btd that is killed leaves a gap in the numbers


def test_on_stop_halt(machine):
    """Such a tree ends with btd, and so does its unit."""
    machine.load("with-btd", held("with-btd"), on_stop="halt")
    begin(machine, "with-btd")
    machine.check("systemctl", "stop", "btd.service")
    wait_for(machine, "systemctl is-failed btd-run@with-btd")
    assert machine.property(RUN.format("with-btd"), "ExecMainStatus") == "3"
    machine.check("systemctl", "start", "btd.service")


def test_a_timer(machine):
    """More often than a unit may be started by default, also after a kill of btd; a stop halts the run."""
    machine.load("tick", {"type": "Spawn", "argv": [
        "/bin/sh", "-c", "echo >>/run/ticks; ! test -e /run/tick-stays || exec sleep 98767"]})
    machine.unit("btd-job@tick.timer", "[Timer]\nOnActiveSec=0\nOnUnitInactiveSec=1ms\nAccuracySec=1ms\n")
    machine.check("systemctl", "start", "btd-job@tick.timer")
    wait_for(machine, "test $(cat /run/ticks | wc -l) -ge 12")
    kill(machine)
    wait_for(machine, f"test $(cat /run/ticks | wc -l) -ge {len(machine.read('/run/ticks')) + 2}")
    machine.check("touch", "/run/tick-stays")
    wait_for(machine, "pgrep -fx 'sleep 98767'")
    machine.check("systemctl", "stop", "btd-job@tick.timer", "btd-job@tick.service")
    assert runs(machine, "tick")[-1][1] == "halted"


def test_of_a_user(machine):
    """The same of the user's manager."""
    user = User(machine)
    user.tree("mine", held("mine"))
    user.begin()
    machine.check("mkfifo", "--mode=666", "/run/mine.pipe")
    user.check("systemctl", "--user", "start", "--no-block", "btd-run@mine.service")
    machine.check("sh", "-c", "read line </run/mine.pipe")
    user.check("systemctl", "--user", "stop", "btd.service")
    user.check("systemctl", "--user", "stop", "btd-run@mine.service")
    user.check("systemctl", "--user", "start", "btd.service")
    assert "while btd was not running" in user.check("btctl", "--user", "status", "mine")
    machine.check("touch", "/run/mine.go")
    user.check("systemctl", "--user", "start", "--no-block", "btd-run@mine.service")
    machine.check("sh", "-c", "read line </run/mine.pipe")
    user.check("systemctl", "--user", "start", "btd-run@mine.service")
    assert user.check("systemctl", "--user", "is-active", "btd-run@mine.service") == "active\n"
    machine.check("systemctl", "stop", f"user@{user.uid}.service")


def waiting_app(machine, name, after):
    machine.unit(f"{name}-app.service", f"[Unit]\nAfter={after}\n[Service]\nExecStart=/bin/sleep infinity\n")


def start_app(name, **keys):
    return {"type": "StartUnit", "name": "App", "unit": f"{name}-app.service", **keys}


def test_a_job_that_waits_for_the_unit_of_its_own_run(machine):
    """It fails at once, with a cause that names both, and nothing is left in the queue."""
    unit = RUN.format("circle")
    waiting_app(machine, "circle", unit)
    machine.load("circle", start_app("circle"), restart="on-failure", restart_backoff={"initial": "1ms"},
                 restart_limit={"burst": 1, "interval": "1h"})
    assert machine.run("systemctl", "start", unit).returncode != 0
    text = f"the job for circle-app.service waits for {unit}, which waits for this run, so it would never end"
    # Also of the run that follows.
    assert [(row.id, row.status, row.cause) for row in machine.client.runs() if row.tree == "circle"] == [
        ("circle.2", "failure", "App: " + text)]
    cause = json.loads(machine.check("btctl", "status", "circle", "--json"))["cause_chain"][-1]
    assert (cause["kind"], cause["text"]) == ("unit-result", text)
    assert cause["facts"] == {"unit": "circle-app.service", "result": "deadlock", "waits_for": unit}
    assert machine.check("systemctl", "list-jobs", "--no-legend") == ""


def test_a_job_that_waits_for_the_unit_of_its_own_run_by_others(machine):
    """By a unit in between that somebody else starts, for a run of that instance only, through a restart of btd."""
    unit = RUN.format("detour")
    machine.unit("detour-between.service", f"[Unit]\nAfter={unit}\n[Service]\nExecStart=/bin/sleep infinity\n")
    waiting_app(machine, "detour", "detour-between.service")
    machine.load("detour", held("detour", start_app("detour")))
    begin(machine, "detour")
    machine.check("systemctl", "start", "--no-block", "detour-between.service")
    restart(machine)
    machine.check("touch", "/run/detour.go")
    wait_for(machine, f"systemctl is-failed {unit}")
    machine.client.wait_running()
    [(status, cause)] = [(row.status, row.cause) for row in machine.client.runs() if row.tree == "detour"]
    assert (status, cause) == (
        "failure", f"Held/App: the job for detour-app.service waits for detour-between.service, which waits for {unit}, "
                   "which waits for this run, so it would never end")
    machine.check("systemctl", "stop", "detour-between.service")


def begins_to_wait(machine, name):
    """The cause when the unit attaches to the run, whose job is in the queue already."""
    unit = RUN.format(name)
    assert machine.run("systemctl", "start", unit).returncode != 0
    machine.client.wait_running()
    [cause] = [row.cause for row in machine.client.runs() if row.tree == name and row.status == "failure"]
    assert cause == f"App: the job for {name}-app.service waits for {unit}, which waits for this run, so it would never end"
    machine.run("systemctl", "reset-failed", unit)


def test_a_unit_that_begins_to_wait_when_the_job_is_queued(machine):
    waiting_app(machine, "late", RUN.format("late") + " late-before.service")
    machine.check("mkfifo", "/run/late.pipe")
    machine.unit("late-before.service", "[Service]\nType=oneshot\nExecStart=/bin/sh -c 'read go </run/late.pipe'\n")
    machine.load("late", start_app("late"))
    for stopped in (False, True):
        machine.check("systemctl", "start", "--no-block", "late-before.service")
        machine.check("btctl", "start", "late")
        wait_for(machine, "systemctl list-jobs | grep late-app")
        if stopped:
            machine.check("systemctl", "stop", "btd.service")  # the next one finds the job in the queue
        begins_to_wait(machine, "late")
        assert machine.check("systemctl", "list-jobs", "--no-legend").split()[1:3] == ["late-before.service", "start"]
        machine.check("sh", "-c", "echo >/run/late.pipe")
        wait_for(machine, 'test "$(systemctl show -P ActiveState late-before.service)" = inactive')


def test_a_job_that_somebody_queues_later_and_that_waits_for_the_unit(machine):
    """It closes the circle when the node's job is in the queue already; the next look finds it."""
    unit = RUN.format("closed")
    machine.check("mkfifo", "/run/closed-before.pipe")
    machine.unit("closed-before.service", "[Service]\nType=oneshot\n"
                                          "ExecStart=/bin/sh -c 'read go </run/closed-before.pipe'\n")
    machine.unit("closed-between.service", f"[Unit]\nAfter={unit}\n[Service]\nExecStart=/bin/sleep infinity\n")
    waiting_app(machine, "closed", "closed-before.service closed-between.service")
    machine.load("closed", held("closed", start_app("closed")))
    begin(machine, "closed")
    machine.check("systemctl", "start", "--no-block", "closed-before.service")
    machine.check("touch", "/run/closed.go")
    wait_for(machine, "systemctl list-jobs | grep closed-app")
    machine.check("sleep", "0.3")  # nothing tells when btd has looked for the first time and found nothing
    machine.check("systemctl", "start", "--no-block", "closed-between.service")
    wait_for(machine, f"systemctl is-failed {unit}")
    [cause] = [row.cause for row in machine.client.runs() if row.tree == "closed"]
    assert cause == (f"Held/App: the job for closed-app.service waits for closed-between.service, which waits for {unit}, "
                     "which waits for this run, so it would never end")
    machine.check("systemctl", "stop", "closed-before.service", "closed-between.service")
    machine.check("systemctl", "reset-failed", unit)


def test_a_unit_of_a_tree_with_autostart(machine):
    """systemd has queued the unit's job, and btd starts the tree before the unit can say that it waits for it."""
    waiting_app(machine, "auto", RUN.format("auto"))
    machine.tree("auto", start_app("auto"), autostart=True)
    machine.check("systemctl", "stop", "btd.service")
    begins_to_wait(machine, "auto")
    assert machine.check("systemctl", "list-jobs", "--no-legend") == ""


def begin_with_cleanup(machine, name, *leaves):
    """Begins a run with this clean-up; the unit is to be stopped then."""
    children = [{"type": "ForceSuccess", "child": leaf} for leaf in leaves]
    machine.load(name, {"type": "Finally", "name": "Whole", "children": [
        held(name), {"type": "Sequence", "name": "Clean", "children": [
            *children, {"type": "Spawn", "argv": ["/bin/touch", f"/run/{name}.cleaned"]}]}]})
    begin(machine, name)


def details(machine, name):
    nodes = json.loads(machine.check("btctl", "status", name, "--json"))["nodes"]
    return {node["name"]: node["detail"] for node in nodes if node["type"].endswith("Unit")}


def test_a_stop_that_waits_for_the_end_of_its_own_run(machine):
    """The clean-up of a unit that is being stopped: the node fails at once, and the clean-up continues."""
    unit = RUN.format("last")
    machine.unit("last-app.service", f"[Unit]\nBefore={unit}\n[Service]\nExecStart=/bin/sleep infinity\n")
    machine.check("systemctl", "start", "last-app.service")
    begin_with_cleanup(machine, "last", {"type": "StopUnit", "name": "App", "unit": "last-app.service"})
    machine.check("systemctl", "stop", unit, "last-app.service")
    assert details(machine, "last") == {
        "App": f"the job for last-app.service waits for {unit}, which waits for this run, so it would never end"}
    assert runs(machine, "last") == [("last.1", "halted")]
    machine.check("test", "-e", "/run/last.cleaned")
    assert state(machine, "last-app.service", "{}") == "inactive", "the job was not cancelled"
    assert state(machine, "last") == "inactive"


def test_jobs_that_wait_for_the_stop_of_their_own_unit(machine):
    """A start waits for every stop that it is ordered to; the unit's own jobs wait for the run, too."""
    unit = RUN.format("final")
    waiting_app(machine, "final", unit)
    begin_with_cleanup(machine, "final", start_app("final"), {"type": "StopUnit", "name": "Stop", "unit": unit},
                       {"type": "RestartUnit", "name": "Restart", "unit": unit})
    machine.run("systemctl", "stop", unit)  # the restart replaces this job
    wait_for(machine, f"test \"$(systemctl show -P ActiveState {unit})\" = inactive")
    assert details(machine, "final") == {
        "App": f"the job for final-app.service waits for {unit}, which waits for this run, so it would never end",
        "Stop": f"the job for {unit} waits for this run, so it would never end",
        "Restart": f"the job for {unit} waits for this run, so it would never end"}
    machine.check("test", "-e", "/run/final.cleaned")
    assert state(machine, "final-app.service", "{}") == "inactive"
    jobs = machine.check("systemctl", "list-jobs", "--no-legend")
    assert unit not in jobs and "final-app" not in jobs


def test_jobs_that_wait_for_a_unit_whose_run_does_not_wait(machine):
    """The run is ready, or the unit does not wait for it: then the job is no circle."""
    waiting_app(machine, "open", RUN.format("open"))
    machine.load("open", {"type": "Sequence", "children": [
        {"type": "AlwaysSuccess", "ready": True}, start_app("open"),
        {"type": "WaitFor", "child": {"type": "PathExists", "path": "/run/open.go"}}]})
    machine.check("systemctl", "start", RUN.format("open"))
    wait_for(machine, "systemctl is-active open-app.service")
    machine.check("touch", "/run/open.go")
    machine.check("systemctl", "stop", RUN.format("open"), "open-app.service")

    waiting_app(machine, "loose", "loose.service")
    machine.unit("loose.service", "[Service]\nType=oneshot\nRemainAfterExit=yes\n"
                                  "ExecStart=/bin/sh -c 'btctl start loose && mkfifo /run/loose && read go </run/loose'\n")
    machine.load("loose", start_app("loose"))
    machine.check("systemctl", "start", "--no-block", "loose.service")
    wait_for(machine, "systemctl list-jobs | grep loose-app")
    assert runs(machine, "loose") == [("loose.1", "running")]
    machine.check("sh", "-c", "until test -p /run/loose; do sleep 0.05; done; echo >/run/loose")
    wait_for(machine, "systemctl is-active loose-app.service")
    machine.check("systemctl", "stop", "loose.service", "loose-app.service")
