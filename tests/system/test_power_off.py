# SPDX-License-Identifier: LGPL-2.1-or-later
"""Turns the machine off while runs of all kinds react to everything that fails: nothing is started because of the
shutdown, nothing is killed in the middle of its work, and each run is in the history.

BTD_POWER_OFFS: how often, for each bus; by default once."""

import json
import os
import subprocess

import client
import daemon
import mixed

COPIES = 6  # of each tree
POWER_OFFS = int(os.environ.get("BTD_POWER_OFFS", "1"))

# Stops after btd, so that all that btd has written is there.
KEEP = "[Unit]\nBefore=btd.service\n[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/bin/true\n" \
       "ExecStop=/bin/cp -a /var/lib/btd /kept/\n"
APP = "[Service]\nExecStart=/bin/sleep infinity\nExecStop=/bin/sh -c 'rm -f /run/app-is-up'\n" \
      "ExecStartPost=/bin/sh -c 'echo >/run/app-is-up'\n"
# systemd stops it before btd.
EARLY = "[Unit]\nAfter=btd.service\n" + APP
SLOW = "[Service]\nType=oneshot\nExecStart=/bin/sleep 1h\n"
# It stops when the machine goes down.
STUCK = "[Service]\nExecStart=/bin/sleep infinity\nTimeoutStopSec=1h\n" \
        "ExecStop=/bin/sh -c 'while test -e /run/app-is-up; do sleep 0.05; done'\n"
FLAKY = "[Unit]\nStartLimitIntervalSec=0\n[Service]\nType=oneshot\nExecStart=/bin/false\nRestart=on-failure\n" \
        "RestartSec=500ms\n"


def shell(name, script, **keys):
    return {"type": "Spawn", "name": name, "argv": ["/bin/sh", "-c", script], **keys}


# It tells the pager.
ALARM = {"type": "Parallel", "success_count": 1, "name": "Alarm", "children": [
    shell("Page", "echo page >>/kept/alarms"),
    shell("PageAsChild", "echo page >>/kept/alarms", **{"as": "child"}),
    mixed.call("alarm"),
    {"type": "StartUnit", "unit": "alarm.service"}]}


def otherwise(node):
    return {"type": "Fallback", "children": [node, ALARM]}


def during(condition):
    """Works while the condition is true."""
    return otherwise({"type": "ReactiveSequence", "children": [condition, {"type": "Sleep", "duration": "infinity"}]})


def unless(condition):
    """Raises the alarm when the condition becomes true."""
    return {"type": "Sequence", "children": [{"type": "WaitFor", "child": condition}, ALARM]}


def unit_state(unit, state="active"):
    return {"type": "UnitState", "unit": unit, "state": state}


WRITE = shell("Write", "echo begin >>/kept/written; sleep 0.5; echo end >>/kept/written", uninterruptible=True)
CALL = dict(mixed.call("call"), name="Call")

TREES = {
    "state": during(unit_state("app.service")),
    "early": during(unit_state("early.service")),
    "inactive": unless(unit_state("app.service", ["inactive", "failed", "deactivating"])),
    "name": during({"type": "DBusName", "name": mixed.COUNTER}),
    "no-name": unless({"type": "Inverter", "child": {"type": "DBusName", "name": mixed.COUNTER}}),
    "property": during({"type": "DBusProperty", "destination": mixed.COUNTER, "path": "/counter",
                        "interface": mixed.COUNTER, "property": "Ready"}),
    "path": during({"type": "PathExists", "path": "/run/app-is-up"}),
    "command": during({"type": "Command", "argv": ["/bin/sh", "-c", "test -e /run/app-is-up"], "interval": "20ms"}),
    "calls": otherwise({"type": "Repeat", "num_cycles": -1, "child": {"type": "Sequence", "children": [
        CALL, {"type": "Sleep", "duration": "10ms"}]}}),
    "beats": otherwise({"type": "Repeat", "num_cycles": -1, "child": {
        "type": "DBusSignal", "sender": mixed.COUNTER, "interface": mixed.COUNTER, "member": "Beat"}}),
    "process": otherwise(shell("Process", "exec sleep infinity")),
    "child": otherwise(shell("Child", "exec sleep infinity", **{"as": "child"})),
    "job": otherwise({"type": "StartUnit", "unit": "slow@{{name}}.service"}),
    "stop": otherwise({"type": "StopUnit", "unit": "stuck@{{name}}.service"}),
    "flaky": otherwise({"type": "StartUnit", "unit": "flaky@{{name}}.service", "wait_for_restarts": True}),
    "finished": {"type": "Sleep", "duration": "infinity"},
    "write": otherwise({"type": "Repeat", "num_cycles": -1, "child": WRITE}),
    "clean-up": {"type": "Finally", "children": [
        during(unit_state("app.service")), shell("CleanUp", "echo done >>/kept/cleaned-up")]},
    "again": {"type": "Sleep", "duration": "50ms"},
    "loop": {"type": "KeepRunningUntilFailure", "child": {"type": "Sequence", "children": [
        shell("Work", "sleep 0.05"), {"type": "Sleep", "duration": "20ms"}]}},
}


KEYS = {
    "again": {"restart": "always"},
    "finished": {"on_finished": [{"result": ["failure", "halted", "error"], "unit": "alarm.service"}]},
}


def prepare(machine):
    mixed.prepare(machine)
    machine.unit("keep.service", KEEP)
    machine.unit("app.service", APP)
    machine.unit("early.service", EARLY)
    machine.unit("slow@.service", SLOW)
    machine.unit("stuck@.service", STUCK)
    machine.unit("flaky@.service", FLAKY)
    machine.unit("alarm.service", "[Service]\nExecStart=/bin/sh -c 'echo unit >>/kept/alarms'\n")
    # It waits for the halt of its run, and btd's own stop for it.
    machine.unit("btd-run@.service.d/patient.conf", "[Service]\nTimeoutStopSec=infinity\n")
    machine.tree("as-unit", otherwise(shell("Unit", "exec sleep infinity")))
    for name, root in TREES.items():
        keys = KEYS.get(name, {})
        for copy in range(COPIES):
            text = daemon.tree_text(root, **keys).replace("{{name}}", str(copy))
            machine.tree(f"{name}-{copy}", text)


def start(machine):
    """The ids of the runs."""
    machine.reconnect()
    machine.check("systemctl", "start", "keep.service", "app.service", "early.service", "counter.service",
                  *(f"stuck@{copy}.service" for copy in range(COPIES)))
    ids = set()
    for name in TREES:
        for copy in range(COPIES):
            machine.client.start(f"{name}-{copy}")
    machine.check("systemctl", "start", "--no-block", "btd-run@as\\x2dunit.service")
    client.wait(lambda: machine.path("/kept/written").exists(), "the first process")
    client.wait(lambda: "as-unit" in {run.tree for run in machine.client.runs()}, "the run of a unit")
    return {run.id for run in machine.client.runs()}


def history(kept):
    """By id."""
    command = [daemon.BTCTL, f"--directory={kept}/btd", "history", "--lines=all", "--json"]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    return {run["id"]: run for run in json.loads(result.stdout)}


def installed_btd(machine):
    """Its path in the machine."""
    [path] = [path for path in ("/usr/bin/btd", "/usr/local/bin/btd") if os.path.exists(f"{machine.installed}{path}")]
    return path


def lines(path):
    return path.read_text(encoding="utf-8").split() if path.exists() else []


def check_power_off(machine):
    ids = start(machine)

    machine.power_off()

    kept = machine.top / "kept"
    runs = history(kept)
    assert lines(kept / "alarms") == []
    assert lines(kept / "written").count("begin") == lines(kept / "written").count("end")
    assert len(lines(kept / "cleaned-up")) == COPIES
    assert not ids - runs.keys()
    # A stop can be complete before btd knows that the machine goes down; a success is never in doubt.
    wrong = {id: (run["status"], run["cause"]) for id, run in runs.items()
             if run["status"] != "halted" and not id.startswith("again-") and
             not (id.startswith("stop-") and run["status"] == "success")}
    assert not wrong


def test_nothing_takes_it_for_a_failure(boot):
    for _ in range(POWER_OFFS):
        check_power_off(boot(prepare))


def test_what_does_not_end_in_time_is_in_the_history(boot):
    def prepare_hanging(machine):
        machine.unit("keep.service", KEEP)
        machine.unit("btd.service.d/impatient.conf",
                     f"[Service]\nExecStart=\nExecStart={installed_btd(machine)} --stop-timeout=1s\n")
        machine.tree("hanging", shell("Hang", "echo >/run/hangs; exec sleep infinity", uninterruptible=True))

    machine = boot(prepare_hanging)
    machine.check("systemctl", "start", "keep.service")
    machine.client.start("hanging")
    client.wait(lambda: machine.path("/run/hangs").exists(), "the process")

    machine.power_off()

    run = history(machine.top / "kept")["hanging.1"]
    assert run["status"] == "unfinished"
    assert run["cause"].startswith("btd stopped before the run had ended: Hang waits for ")


def test_a_run_that_a_stopped_btd_has_left_is_in_the_history(boot):
    """Nobody ends it, and nobody sees its end."""
    def prepare_left(machine):
        machine.unit("keep.service", KEEP)
        machine.tree("left", shell("Guard", "echo >/run/guards; exec sleep infinity"))

    machine = boot(prepare_left)
    machine.check("systemctl", "start", "keep.service")
    machine.client.start("left")
    client.wait(lambda: machine.path("/run/guards").exists(), "the process")
    assert not machine.path("/var/lib/btd/running").exists()
    machine.check("systemctl", "stop", "btd.service")

    machine.power_off()

    run = history(machine.top / "kept")["left.1"]
    assert (run["status"], run["cause"]) == ("unfinished", "the machine went down before the run had ended")
