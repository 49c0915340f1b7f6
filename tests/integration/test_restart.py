# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the key restart: another run starts when a run has finished; with btctl and on the bus. What restarts a run, and
when: tests/unit/runtime/test-restarts.c."""

import json
import os
import re
import signal
import time

import pytest

import client
from btctl_runs import LONG, UTF8, begin, end, without_times

RUN = "org.btd1.Run"
FAIL = {"type": "AlwaysFailure", "name": "Fail"}
LATER = {"restart": "on-failure", "restart_backoff": {"initial": "1h", "max": "1h"}}


def start(btd, root, *arguments, **keys):
    btd.tree("boot", root, **keys)
    btd.start()
    btd.client.subscribe()
    assert btd.btctl("start", "boot", *arguments).returncode == 0


def await_run(btd, run):
    btd.client.wait_signal("RunFinished", lambda signal: signal.args[0] == run)


def test_until_the_limit(btd):
    start(btd, FAIL, "--instance=left", "--set", "who=1", inputs={"who": "int"}, restart="on-failure",
          restart_backoff={"initial": "1ms"}, restart_limit={"burst": 2, "interval": "1h"})
    await_run(btd, "boot.3")
    [row] = btd.client.runs()
    assert (row.id, row.instance) == ("boot.3", "left")
    assert row.restart == "not restarted: it was restarted 2 times within 1h, which is the limit"
    assert btd.client.run_property(row.path, "Restart") == row.restart
    assert btd.btctl("get", "boot", "who").stdout == "1\n"
    assert row.restart in btd.btctl("status", "boot").stdout
    assert json.loads(btd.btctl("list", "--json").stdout)[0]["runs"][0]["restart"] == row.restart


def test_halt_calls_it_off(btd):
    start(btd, FAIL, **LATER)
    await_run(btd, "boot.1")
    [row] = btd.client.runs()
    assert re.fullmatch(r"restarts in [0-9a-z. ]+ \(attempt 1 of 5\)", row.restart)
    assert "(attempt 1 of 5)" in btd.btctl("status", "boot").stdout.splitlines()[0]

    btd.client.signals.clear()
    assert btd.btctl("halt", "boot").returncode == 0
    btd.client.wait_signal("PropertiesChanged", lambda signal: signal.args[0] == RUN and "Restart" in signal.args[2])
    assert btd.client.run_property(row.path, "Restart") == "not restarted: halted by UID 0 (btctl)"
    assert without_times(btd.btctl("status", "boot").stdout).splitlines()[0].endswith(
        "failure after T: not restarted: halted by UID 0 (btctl)")


SOON = {"restart": "on-failure", "restart_backoff": {"initial": "1ms"}}
# Fails until the file is there.
TRIES = {"type": "PathExists", "name": "There", "path": ""}


def test_wait_for_what_it_comes_to(btd):
    """Until the limit; with --once, for the first end."""
    btd.tree("boot", FAIL, **SOON, restart_limit={"burst": 2, "interval": "1h"})
    btd.start()
    result = btd.btctl("start", "boot", "--wait", env=UTF8)
    assert result.returncode == 1
    lines = result.stdout.splitlines()  # what is over before it is seen is left out
    assert lines[0].startswith("✗ boot.1: failure") and lines[-1].startswith("✗ boot.3: failure"), lines
    once = btd.btctl("start", "boot", "--wait", "--once", "--json")
    assert once.returncode == 1 and json.loads(once.stdout)["id"] == "boot.4"


def test_wait_for_success_after_failures(btd, tmp_path):
    btd.tree("boot", {**TRIES, "path": str(tmp_path / "there")}, **LATER)
    btd.start()
    btd.client.subscribe()
    waiting = begin(btd, "start", "boot", "--wait", "--json")
    await_run(btd, "boot.1")
    (tmp_path / "there").touch()
    assert btd.btctl("start", "boot").returncode == 0
    status, output = end(waiting)
    assert status == 1 and json.loads(output)["id"] == "boot.1", "a start by hand is another matter"


def test_wait_for_success_of_a_restart(btd, tmp_path, clock):
    """Runs that follow have its token; a restart that is due outlasts btd, and so does who waits for it. Numbers that a
    btd had reserved when it was killed are left out."""
    options = f"--runtime={tmp_path}/run", f"--state={tmp_path}/state"
    btd.tree("boot", {**TRIES, "path": str(tmp_path / "there")}, restart="on-failure",
             restart_backoff={"initial": "1h", "max": "1h"})
    btd.start(*options, env=clock.env)
    btd.client.subscribe()
    waiting = begin(btd, "start", "boot", "--wait", "--token=mine")
    await_run(btd, "boot.1")
    assert waiting.stdout.readline().startswith("✗ boot.1: failure")
    btd.stop(signal.SIGKILL)
    (tmp_path / "there").touch()
    btd.start(*options, env=clock.env)
    btd.client.wait_running()
    clock.advance(btd, 3600)
    status, output = end(waiting)
    assert status == 0 and output.splitlines()[-1].startswith("✓ boot.17: success"), output
    assert btd.client.run_property("/org/btd1/run/boot_2e17", "Token") == "mine"


@pytest.mark.parametrize("halt", [["boot"], ["boot", "--token=mine"]])
def test_wait_for_a_restart_that_is_called_off(btd, halt):
    btd.tree("boot", FAIL, **LATER)
    btd.start()
    btd.client.subscribe()
    waiting = begin(btd, "start", "boot", "--wait", "--token=mine")
    await_run(btd, "boot.1")
    assert btd.btctl("halt", *halt).returncode == 0
    status, output = end(waiting)
    assert status == 1 and output.startswith("✗ boot.1: failure")
    [row] = btd.client.runs()
    assert row.restart == "not restarted: halted by UID 0 (btctl)"
    assert btd.client.wait_signal("RestartDropped").args == ("boot.1", "boot", "")


def test_wait_for_a_restart_that_has_to_wait(btd, clock):
    """Its tree is missing. It is done when the tree is back, or never, if a user halts it."""
    btd.tree("boot", FAIL, **LATER)
    btd.start(env=clock.env)
    btd.client.subscribe()
    waiting = begin(btd, "start", "boot", "--wait")
    await_run(btd, "boot.1")
    os.unlink(btd.trees + "/boot.json")
    btd.client.reload()
    clock.advance(btd, 3600)
    path = "/org/btd1/run/boot_2e1"
    client.look(lambda: btd.client.run_property(path, "Restart").startswith("restart waits: no tree 'boot'"),
                "the restart that waits")
    btd.client.wait_signal("PropertiesChanged", lambda signal: signal.path == path and "Restart" in signal.args[2])
    assert waiting.poll() is None
    assert btd.btctl("halt", "boot").returncode == 0
    assert end(waiting)[0] == 1
    btd.client.wait_signal("RestartDropped")


def test_halt_a_restart_that_the_previous_btd_has_left(btd, tmp_path):
    options = f"--runtime={tmp_path}/run", f"--state={tmp_path}/state"
    btd.tree("boot", FAIL, **LATER)
    btd.start(*options)
    btd.client.subscribe()
    btd.client.start("boot", token="mine")
    await_run(btd, "boot.1")
    btd.stop(signal.SIGKILL)
    btd.start(*options)
    btd.client.subscribe()
    assert btd.client.outcome("boot", "mine", instance="")["restarting"]
    assert btd.btctl("halt", "boot.1") == (0, "", "")
    assert btd.client.wait_signal("RestartDropped").args == ("boot.1", "boot", "")
    outcome = btd.client.outcome("boot", "mine", instance="")
    assert (outcome["id"], outcome["status"], outcome["restarting"]) == ("boot.1", "failure", False)
    assert re.search(r"boot\.1: not restarted: halted by UID \d+", btd.log())


def test_pending_restarts_are_properties_of_their_trees(btd, tmp_path):
    """Also when no object knows the runs any more."""
    options = f"--runtime={tmp_path}/run", f"--state={tmp_path}/state"
    tree = "/org/btd1/tree/boot"
    btd.tree("boot", FAIL, **LATER)
    btd.start(*options)
    btd.client.subscribe()
    btd.client.start("boot", token="mine")
    btd.client.start("boot", "eth0")
    await_run(btd, "boot.1")
    await_run(btd, "boot.2")
    told = btd.client.wait_signal("PropertiesChanged", lambda s: s.path == tree and len(s.args[1].get("Restarts", [])) == 2)
    pending = told.args[1]["Restarts"]
    assert [(each["run"], each["instance"], each["token"]) for each in pending] == [
        ("boot.1", "", "mine"), ("boot.2", "eth0", "boot.2")]
    assert all(each["due_monotonic"] > time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000 for each in pending)
    btd.stop(signal.SIGKILL)
    btd.start(*options)
    btd.client.subscribe()
    assert btd.client.get(tree, "org.btd1.Tree", "Restarts") == pending and not btd.client.runs()
    btd.client.halt_run("boot.2")
    btd.client.wait_signal("PropertiesChanged", lambda s: s.path == tree and s.args[1].get("Restarts") == pending[:1])


def test_long_inputs_of_a_pending_restart(btd, tmp_path, clock):
    """They have a file of their own, as long as the restart is pending, and survive btd. Without it nothing is started."""
    options = f"--runtime={tmp_path}/run", f"--state={tmp_path}/state"
    btd.tree("boot", FAIL, inputs={"x": "string"}, **LATER)
    btd.start(*options, env=clock.env)
    for instance in "a", "b":
        btd.client.finish(btd.client.start("boot", instance, {"x": instance * 100000})[1])
    assert (tmp_path / "run/restarts").stat().st_size < 10000
    one, other = (tmp_path / "run").glob("restart-*")
    (tmp_path / "run/restart-unused").touch()
    if b"b" * 100 in one.read_bytes():
        one, other = other, one
    btd.stop(signal.SIGKILL)
    other.unlink()
    btd.start(*options, env=clock.env)
    btd.client.wait_running()
    btd.wait_log("boot.2: not restarted: the previous btd could not store the variables; start it again\n")
    assert list((tmp_path / "run").glob("restart-*")) == [one]
    btd.tree("boot", {"type": "AlwaysSuccess"}, inputs={"x": "string"})
    btd.client.reload()
    clock.advance(btd, 3600)
    client.wait(lambda: [run.instance for run in btd.client.runs()] == ["a"], "the restart")
    assert btd.client.variables(btd.client.runs()[0].path) == {"x": "a" * 100000}
    assert not list((tmp_path / "run").glob("restart-*"))


def test_a_run_is_new_once(btd, tmp_path):
    """Not again when it is recovered."""
    options = f"--runtime={tmp_path}/run", f"--state={tmp_path}/state"
    btd.tree("boot", LONG)
    btd.start(*options)
    btd.client.start("boot")
    btd.client.subscribe("org.btd1.Manager", "RunNew")
    btd.stop(signal.SIGKILL)
    btd.start(*options)
    run, _ = btd.client.start("boot", "other")
    assert btd.client.wait_signal("RunNew").args[0] == run


def test_a_run_knows_itself_and_the_time(btd, tmp_path):
    """The next btd takes what was computed from the run record: it computes nothing again."""
    options = f"--runtime={tmp_path}/run", f"--state={tmp_path}/state"
    btd.tree("self", {"type": "Sequence", "children": [
        {"type": "Script", "code": ["began = now()", "day = now('%Y-%m-%d')", "drawn = random(1000000)",
                                    "other = random()"]},
        {"type": "Log", "message": "{run.id} {run.tree} {run.instance}"}, LONG]})
    btd.start(*options)
    before = int(time.time())
    _, path = btd.client.start("self", instance="usb")
    btd.client.wait_node(path, LONG.get("name", LONG["type"]), "running")
    values = btd.client.variables(path)
    assert values["run"] == {"id": "self.1", "tree": "self", "instance": "usb"}
    assert before <= values["began"] <= time.time()
    assert 1 <= values["drawn"] <= 1000000 and 0 <= values["other"] < 1
    assert re.fullmatch("20[0-9]{2}-[0-9]{2}-[0-9]{2}", values["day"])
    assert "self.1 self usb" in btd.log()

    btd.stop(signal.SIGKILL)
    btd.start(*options)
    assert btd.client.variables(path) == values
