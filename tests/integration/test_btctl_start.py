# SPDX-License-Identifier: LGPL-2.1-or-later
"""What btctl does to trees and runs, and how it tells what becomes of them."""

import json
import re
import select
import signal

import pytest

from client import DBusError
from daemon import tree_text
from btctl_runs import BAD, GOOD, LONG, UTF8, begin, end, without_times


def test_start(btd):
    btd.tree("boot", LONG)
    btd.start()
    assert btd.btctl("start", "boot") == (0, "boot.1\n", "")
    assert btd.btctl("start", "boot@eth0") == (0, "boot.2\n", "")
    assert json.loads(btd.btctl("--json", "--instance=eth1", "start", "boot").stdout) \
        == {"id": "boot.3", "tree": "boot", "instance": "eth1"}
    again = btd.btctl("start", "boot")
    assert again.returncode == 1
    assert again.stderr == "btctl: tree 'boot' is already running as boot.1; give another --instance to run it twice\n"
    assert {row[3] for row in btd.client.manager("ListRuns")} == {"", "eth0", "eth1"}


def test_start_sets_variables(btd):
    btd.tree("boot", GOOD, blackboard={"name": "eth9"}, inputs={"list": "list"})
    btd.start()
    assert btd.btctl("start", "boot", "--set", 'name="eth0"', "--set=list=[1, {}]", "--wait").returncode == 0
    [row] = btd.client.manager("ListRuns")
    variables = btd.client.call(row[1], "org.btd1.Run", "GetVariables")
    assert json.loads(variables["name"]) == "eth0" and json.loads(variables["list"]) == [1, {}]
    assert btd.btctl("start", "boot") == (
        1, "", "btctl: the input 'list' (list) is missing\n"
               "Give it with --set KEY=JSON, such as --set name='\"eth0\"' or --set retries=3.\n")
    with pytest.raises(DBusError) as refused:
        btd.client.start("boot")
    assert refused.value.name == "org.btd1.Error.MissingInput"


def test_run(btd, tmp_path):
    """A tree that btd does not know: its run is like any other."""
    btd.start(f"--runtime={tmp_path}/runtime", f"--state={tmp_path}/state")
    path = tmp_path / "mine.json"
    path.write_text(tree_text(GOOD, inputs={"n": "int"}))
    result = btd.btctl("run", str(path), "--set=n=1", "--wait", env=UTF8)
    assert (result.returncode, without_times(result.stdout), result.stderr) == (0, "✓ mine.1: success after T\n", "")
    for words in ("status", "mine"), ("status", "mine.1"), ("show", "mine.1"), ("history",):
        result = btd.btctl(*words, env=UTF8)
        assert (result.returncode, result.stderr) == (0, ""), words
        assert "mine.1" in result.stdout
    assert "mine" not in btd.btctl("list").stdout
    assert btd.btctl("run", str(path), "--set=n=true").stderr == "btctl: n: expected a whole number, but got true\n"

    path.write_text(tree_text({"type": "Sequnce", "children": [GOOD]}))
    assert btd.btctl("run", str(path)) == (
        1, "", "btctl: tree 'mine' has errors: mine.json:4:11: error: unknown type 'Sequnce'; did you mean "
               "'Sequence'? (in Sequnce)\n")


@pytest.mark.parametrize("name, content, told", [
    ("no tree.json", b"{}", "the name of a tree consists of letters, digits, '_' and '-', 100 at most"),
    ("latin1.json", b"\xe9", "is not text in UTF-8"),
    ("gone.json", None, "No such file or directory"),
])
def test_run_what_is_no_tree(btd, tmp_path, name, content, told):
    btd.start()
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    assert btd.btctl("run", str(path)) == (1, "", f"btctl: {path}: {told}\n")


def test_start_and_wait(btd):
    btd.tree("good", GOOD)
    btd.tree("bad", BAD)
    btd.start()

    result = btd.btctl("start", "good", "--wait", env=UTF8)
    assert (result.returncode, without_times(result.stdout), result.stderr) == (0, "✓ good.1: success after T\n", "")
    result = btd.btctl("start", "bad", "--wait", env=UTF8)
    assert (result.returncode, without_times(result.stdout), result.stderr) \
        == (1, "✗ bad.1: failure after T: Boot/LoadConfig: exited with status 3\n", "")
    assert btd.btctl("start", "bad", "--wait", "--quiet") == (1, "", "")

    result = btd.btctl("start", "bad", "--wait", "--json")
    assert result.returncode == 1
    assert json.loads(result.stdout) == {"id": "bad.3", "tree": "bad", "instance": "", "status": "failure",
                                         "cause": "Boot/LoadConfig: exited with status 3"}


def test_start_and_wait_for_what_is_halted(btd):
    btd.tree("boot", LONG)
    btd.start()
    btd.client.subscribe("org.btd1.Manager", "RunNew")
    waiting = begin(btd, "start", "boot", "--wait")
    btd.client.wait_signal("RunNew")
    assert btd.btctl("halt", "boot") == (0, "", "")
    status, output = end(waiting)
    assert status == 3
    assert re.fullmatch(r"■ boot.1: halted after T by .+\n", without_times(output)), output


def test_interrupted_wait_leaves_the_run_going(btd):
    btd.tree("boot", LONG)
    btd.start()
    btd.client.subscribe("org.btd1.Manager", "RunNew")
    for number in (signal.SIGINT, signal.SIGTERM):
        btd.client.signals.clear()
        waiting = begin(btd, "start", f"boot@{number.name}", "--wait")
        run = btd.client.wait_signal("RunNew").args[0]
        waiting.send_signal(number)
        assert end(waiting) == (128 + number, f"btctl: no longer waiting, but {run} goes on; see it with 'btctl status "
                                              f"{run}', stop it with 'btctl halt {run}'\n")
    assert {row[4] for row in btd.client.manager("ListRuns")} == {"running"}


@pytest.mark.parametrize("arguments", [["start", "boot", "--wait"], ["start", "boot", "--follow", "--quiet"]])
def test_daemon_that_vanishes(btd, arguments):
    btd.tree("boot", LONG)
    btd.start()
    btd.client.subscribe("org.btd1.Manager", "RunNew")
    waiting = begin(btd, *arguments)
    btd.client.wait_signal("RunNew")
    btd.stop(signal.SIGKILL)
    status, output = end(waiting)
    assert status == 5
    assert output.splitlines()[-1] == "btctl: btd has gone away"


def restart(btd, options):
    """A run is followed that the next daemon goes on with."""
    btd.tree("boot", LONG)
    btd.start(*options)
    waiting = begin(btd, "start", "boot", "--follow")
    assert "running" in waiting.stdout.readline()
    btd.stop(signal.SIGKILL)
    return waiting


def test_daemon_that_is_restarted(btd, tmp_path):
    options = f"--runtime={tmp_path}/run", f"--state={tmp_path}/state"
    waiting = restart(btd, options)
    btd.start(*options)
    path = btd.client.manager("GetRun", "s", "boot.1")
    while "boot.1 goes on" not in (line := waiting.stdout.readline()):
        assert line
    btd.client.call(path, "org.btd1.Run", "Halt")
    status, output = end(waiting)
    assert status == 3 and "Long: halted" in output and "boot.1: halted" in output.splitlines()[-1]


def test_daemon_that_is_restarted_without_the_run(btd, tmp_path):
    options = f"--runtime={tmp_path}/run", f"--state={tmp_path}/state"
    waiting = restart(btd, options)
    (tmp_path / "run/runs/boot.1.journal").write_text("what?\n")
    btd.start(*options)
    status, output = end(waiting)
    assert status == 5
    assert output.endswith("btctl: btd has gone away; waiting for it to come back\n"
                           "btctl: btd was restarted, but has not taken up boot.1; its log says why\n")


def test_bus_that_vanishes(btd_own_bus):
    btd = btd_own_bus
    btd.tree("boot", LONG)
    btd.start()
    btd.client.subscribe("org.btd1.Manager", "RunNew")
    waiting = begin(btd, "start", "boot", "--wait")
    btd.client.wait_signal("RunNew")
    btd.bus.stop()
    assert end(waiting) == (5, "btctl: btd has gone away\n")


def test_follow(btd):
    btd.tree("boot", BAD)
    btd.start()
    result = btd.btctl("start", "boot", "--follow", env=UTF8)
    assert result.returncode == 1
    lines = without_times(result.stdout).splitlines()
    assert lines[-1] == "✗ boot.1: failure after T: Boot/LoadConfig: exited with status 3"
    events = [re.fullmatch(r" +\d+\.\d{3}s (.*)", line)[1] for line in lines[:-1]]
    assert events[0] == "● Boot: running"
    assert events[-1] == "✗ Boot: failure after T: LoadConfig: exited with status 3"
    order = [next(i for i, event in enumerate(events) if event.startswith(beginning)) for beginning in (
        "✓ Boot/AlwaysSuccess: success", "● Boot/Not/Work: running", "✗ Boot/Not/Work: failure",
        "● Boot/LoadConfig: running", "✗ Boot/LoadConfig: failure")]
    assert order == sorted(order)


def test_follow_for_programs(btd):
    btd.tree("boot", GOOD)
    btd.start()
    result = btd.btctl("start", "boot", "--follow", "--json")
    assert result.returncode == 0
    events = [json.loads(line) for line in result.stdout.splitlines()]
    assert {event["run"] for event in events} == {"boot.1"}
    assert events[-1]["event"] == "run-finished" and events[-1]["status"] == "success"
    last = {event["node"]["path"]: event["node"]["status"] for event in events if event["event"] == "node-changed"}
    assert last == {"Boot": "success", "Boot/Greet": "success", "Boot/Work": "success"}


def test_halt(btd):
    btd.tree("boot", LONG)
    btd.start()
    for instance in ("", "eth0", "eth1", "eth2"):
        btd.client.start("boot", instance)

    one = btd.btctl("halt", "boot@eth0", "--wait", env=UTF8)
    assert one.returncode == 0 and re.fullmatch(r"■ boot.2: halted by .+\n", one.stdout), one.stdout
    assert btd.btctl("halt", "boot.3", "--wait", "--quiet") == (0, "", "")
    rest = btd.btctl("halt", "boot", "--wait", "--json")
    assert rest.returncode == 0
    assert {json.loads(line)["run"] for line in rest.stdout.splitlines()} == {"boot.1", "boot.4"}
    assert {row[4] for row in btd.client.manager("ListRuns")} == {"halted"}

    for arguments in ([], ["--wait"]):
        assert btd.btctl("halt", "boot", *arguments) == (0, "tree 'boot' is not running\n", "")
    assert btd.btctl("halt", "boot", "--quiet", "--wait") == (0, "", "")
    again = btd.btctl("halt", "boot.1", "--wait")
    assert again.returncode == 1 and "boot.1" in again.stderr


def test_reload(btd):
    btd.tree("boot", GOOD)
    btd.start()
    assert btd.btctl("reload") == (0, "all trees are loaded\n", "")
    assert btd.btctl("reload", "-q") == (0, "", "")

    btd.tree("boot", {"type": "Sequenc", "children": [{"type": "AlwaysSuccess"}]})
    result = btd.btctl("reload")
    assert (result.returncode, result.stdout) == (1, "")
    [first, last] = result.stderr.splitlines()
    assert first.startswith(f"{btd.trees}/boot.json:") and "did you mean 'Sequence'?" in first
    assert last == "btctl: some files have errors; the trees that they would have replaced stay as they were"
    assert len(json.loads(btd.btctl("reload", "--json").stdout)["errors"]) == 1
    assert "boot  broken" in btd.btctl("list").stdout


def begin_monitor(btd, *arguments):
    """Its first line says that it is listening: until then, it is given something to tell."""
    btd.tree("ping", {"type": "AlwaysSuccess"})
    btd.client.manager("Reload")
    monitor = begin(btd, "monitor", *arguments)
    while not select.select([monitor.stdout], [], [], 0)[0]:
        btd.client.finish(btd.client.start("ping")[1])
    return monitor


def test_monitor(btd):
    btd.tree("boot", BAD)
    btd.start()
    monitor = begin_monitor(btd)
    btd.client.manager("Reload")
    btd.client.finish(btd.client.start("boot")[1])

    lines = []
    while not lines or " boot.1: failure" not in lines[-1]:
        lines.append(monitor.stdout.readline())
    monitor.send_signal(signal.SIGINT)
    assert end(monitor)[0] == 0

    stamp = r"\d\d:\d\d:\d\d\.\d{3}"
    assert all(re.match(stamp, line) for line in lines)
    events = [re.sub(stamp + " ", "", without_times(line)) for line in lines if "ping" not in line]
    assert events[0] == "trees reloaded\n"
    assert events[1] == "● boot.1: running\n"
    assert "boot.1 ✗ Boot/LoadConfig: failure after T: exited with status 3\n" in events
    assert events[-1] == "✗ boot.1: failure: Boot/LoadConfig: exited with status 3\n"


def test_monitor_for_programs(btd):
    """It knows the paths of nodes in runs that were there before it."""
    btd.tree("boot", {"type": "Sequence", "name": "Boot", "children": [LONG]})
    btd.start()
    btd.client.start("boot")
    monitor = begin_monitor(btd, "--json")
    btd.client.manager("HaltTree", "s", "boot")

    events = []
    while not events or (events[-1]["event"], events[-1]["run"]) != ("run-finished", "boot.1"):
        events.append(json.loads(monitor.stdout.readline()))
    monitor.send_signal(signal.SIGINT)
    assert end(monitor)[0] == 0

    halted = {event["node"]["path"] for event in events
              if event["event"] == "node-changed" and event["run"] == "boot.1" and event["node"]["status"] == "halted"}
    assert halted == {"Boot", "Boot/Long"}
    assert events[-1]["status"] == "halted"


def test_monitor_of_a_daemon_that_vanishes(btd):
    btd.start()
    monitor = begin_monitor(btd)
    btd.stop(signal.SIGKILL)
    status, output = end(monitor)
    assert status == 5 and output.endswith("btctl: btd has gone away\n")
