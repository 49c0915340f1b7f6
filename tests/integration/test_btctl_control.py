# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests how runs are controlled: variables, pauses, steps, breakpoints and forced outcomes, by btctl and on the bus."""

import json
import os

import pytest

from btctl_runs import LONG
from client import DBusError

RUN = "org.btd1.Run"


def sleep(name, duration="1h"):
    return {"type": "Sleep", "name": name, "duration": duration}


def sequence(*children):
    return {"type": "Sequence", "name": "Boot", "children": list(children)}


def start(btd, root, **keys):
    """Starts the tree 'boot', and returns the path of its run."""
    btd.tree("boot", root, **keys)
    btd.start()
    btd.client.subscribe(RUN)
    btd.client.manager("Subscribe")
    return btd.client.start("boot")[1]


def settle(btd, path, **expected):
    """Waits until the nodes have the expected statuses."""
    while True:
        btd.client.signals.clear()
        nodes = btd.client.nodes(path)
        if all(nodes[name]["status"] == status for name, status in expected.items()):
            return nodes
        btd.client.wait_signal("NodesChanged")


def refuse(btd, message, *arguments, code=1):
    hint = "Try 'btctl --help'.\n" if code == 2 else ""
    assert btd.btctl(*arguments) == (code, "", f"btctl: {message}\n{hint}")


def test_get(btd):
    start(btd, LONG, blackboard={"who": "eth0", "list": [1, {"a": None}]})
    assert btd.btctl("get", "boot", "who") == (0, '"eth0"\n', "")
    assert sorted(btd.btctl("get", "boot.1").stdout.splitlines()) == ['list=[1,{"a":null}]', 'who="eth0"']
    assert json.loads(btd.btctl("get", "boot.1", "--json").stdout) == {"who": "eth0", "list": [1, {"a": None}]}
    refuse(btd, "boot.1 has no variable 'whom'", "get", "boot", "whom")
    refuse(btd, "no tree 'boto'; did you mean 'boot'?", "get", "boto")


def test_set(btd):
    start(btd, LONG, blackboard={"who": "eth0", "n": 1})
    assert btd.btctl("set", "boot", 'who="wlan0"', "n=[2]") == (0, "", "")
    assert btd.btctl("get", "boot", "who").stdout == '"wlan0"\n'
    assert btd.btctl("get", "boot", "n").stdout == "[2]\n"


def test_log_of_variables(btd):
    """The log shows the variables that were set; long values are shortened."""
    names = ["a", "b", "c", "d", "e", "f", "g"]
    start(btd, LONG, blackboard=dict.fromkeys(names))
    assert btd.btctl("set", "boot", "a=1", 'b="x\\ny"').returncode == 0
    assert f'boot.1: variables set: a=1, b="x\\ny" by UID {os.getuid()} (btctl)\n' in btd.log()
    values = [f"{name}={json.dumps('z' * 1000)}" for name in names]
    assert btd.btctl("set", "boot", *values).returncode == 0
    shown = ", ".join(f'{name}="{59 * "z"}...' for name in names[:5])
    assert f"boot.1: variables set: {shown}, and 2 more by UID {os.getuid()} (btctl)\n" in btd.log()


def test_variable_that_the_tree_has_not(btd):
    """If one name is wrong, no variable is set."""
    path = start(btd, {"type": "Sequence", "children": [{"type": "Script", "code": "found = who"}, LONG]},
                 blackboard={"who": "eth0"})
    refuse(btd, "the tree has no variable 'whom'; did you mean 'who'?", "set", "boot", "found=1", "whom=1")
    assert btd.btctl("get", "boot", "found").stdout == '"eth0"\n'
    assert btd.btctl("set", "boot", "found=1").returncode == 0
    with pytest.raises(DBusError) as error:
        btd.client.set_variables(path, speed=1)
    assert (error.value.name, error.value.message) == (
        "org.btd1.Error.InvalidArgument", "the tree has no variable 'speed'; its variables are those of its 'inputs' "
                                          "and 'blackboard', and what its nodes set")


@pytest.mark.parametrize("operand, message", [
    ("who", "who: the value is missing; give KEY=JSON"),
    ("who=eth0", "who: 'eth0' is not JSON; write a string as: who='\"eth0\"'"),
    ("who={", "who: '{' is not JSON"),
    ("7=1", "7=1: '7' cannot be the name of a variable (a letter or '_', then letters, digits, '_' and '-')"),
])
def test_bad_variables(btd, operand, message):
    start(btd, LONG, blackboard={"who": "eth0"})
    refuse(btd, message, "set", "boot", operand, code=2)
    assert btd.btctl("get", "boot", "who").stdout == '"eth0"\n'


def test_waiting_for_a_tree_of_conditions(btd, tmp_path):
    """The tree is evaluated when one of its conditions changes, or a variable that it is given."""
    path = start(btd, {"type": "WaitFor", "name": "Wait", "child": {
        "type": "SubTree", "tree": "fit", "inputs": {"level": "{level}", "file": str(tmp_path / "ready")}}},
        blackboard={"level": 1}, trees={"fit": {
            "inputs": {"level": "int", "file": "string"},
            "root": {"type": "Sequence", "children": [{"type": "Condition", "name": "Enough", "test": "level > 5"},
                                                      {"type": "PathExists", "name": "Ready", "path": "{file}"}]}}})
    settle(btd, path, Wait="running", Enough="failure")
    assert btd.btctl("set", "boot", "level=7").returncode == 0
    settle(btd, path, Wait="running", Enough="success", Ready="failure")
    (tmp_path / "ready").touch()
    assert btd.client.finish(path) == ("success", "")


def test_pause_and_resume(btd):
    path = start(btd, LONG)
    settle(btd, path, Long="running")
    assert btd.btctl("pause", "boot") == (0, "", "")
    assert btd.client.run_property(path, "Status") == "paused"
    assert "paused" in btd.btctl("list").stdout
    assert btd.btctl("pause", "boot") == (0, "", "")
    assert btd.btctl("resume", "boot") == (0, "", "")
    assert btd.client.run_property(path, "Status") == "running"
    refuse(btd, "run 'boot.1' is not paused; pause it first", "resume", "boot")
    refuse(btd, "run 'boot.1' is not paused; pause it first", "step", "boot")


def test_breakpoint(btd):
    """A run is paused before the node until it is resumed."""
    path = start(btd, sequence({**sleep("Gate"), "while": "closed"}, sleep("First", "1ms"), sleep("Second")),
                 blackboard={"closed": True})
    settle(btd, path, Gate="running")
    assert btd.btctl("break", "boot") == (0, "", "")
    assert btd.btctl("break", "boot", "Second") == (0, "", "")
    assert btd.btctl("break", "boot").stdout == "#3 Boot/Second\n"
    assert [node["name"] for node in json.loads(btd.btctl("break", "boot", "--json").stdout)] == ["Second"]

    btd.client.set_variables(path, closed=False)
    btd.client.signals.clear()
    btd.client.subscribe("org.freedesktop.DBus.Properties", "PropertiesChanged", path)
    while btd.client.run_property(path, "Status") != "paused":
        btd.client.wait_signal("PropertiesChanged")
        btd.client.signals.clear()
    assert btd.client.run_property(path, "PausedBefore") == [3]
    nodes = btd.client.nodes(path)
    assert (nodes["First"]["status"], nodes["Second"]["status"]) == ("success", "waiting")

    assert btd.btctl("resume", "boot") == (0, "", "")
    settle(btd, path, Second="running")
    assert btd.client.run_property(path, "PausedBefore") == []
    assert btd.btctl("break", "boot", "Second", "--clear") == (0, "", "")
    assert btd.btctl("break", "boot").stdout == ""


def test_step(btd):
    path = start(btd, sequence({**sleep("Gate"), "while": "closed"}, sleep("Second")), blackboard={"closed": True})
    settle(btd, path, Gate="running")
    btd.client.call(path, RUN, "Pause")
    btd.client.set_variables(path, closed=False)
    assert btd.client.nodes(path)["Gate"]["status"] == "running"
    assert btd.btctl("step", "boot") == (0, "", "")
    settle(btd, path, Gate="skipped", Second="running")
    assert btd.client.run_property(path, "Status") == "paused"


def test_force_what_runs(btd):
    path = start(btd, sequence(sleep("First"), sleep("Second")))
    settle(btd, path, First="running")
    assert btd.btctl("force", "boot", "First", "success") == (0, "", "")
    settle(btd, path, First="success", Second="running")
    assert btd.btctl("force", "boot", "Boot/Second", "failure") == (0, "", "")
    status, cause = btd.client.finish(path)
    assert (status, cause) == ("failure", f"Boot/Second: forced by UID {os.getuid()} (btctl)")


def test_force_what_has_not_started(btd):
    path = start(btd, sequence({**sleep("Gate"), "while": "closed"}, sleep("Second")), blackboard={"closed": True})
    settle(btd, path, Gate="running")
    btd.client.subscribe(RUN)
    btd.client.manager("Subscribe")
    assert btd.btctl("force", "boot", "#2", "success") == (0, "", "")
    announced = f"will be success, forced by UID {os.getuid()} (btctl)"
    btd.client.wait_signal("NodesChanged", lambda s: [row[-1].get("detail") for row in s.args[0]] == [announced])
    assert f"Second (Sleep): {announced}\n" in btd.btctl("status", "boot").stdout
    assert btd.btctl("set", "boot", "closed=false").returncode == 0
    assert btd.client.finish(path)[0] == "success"


def test_nodes_that_are_not_there(btd):
    path = start(btd, sequence({"type": "Sequence", "name": "Inner", "children": [sleep("Wait")]}, sleep("Wait"), sleep("Twin"),
                                sleep("Twin"), sleep("Other")))
    settle(btd, path, Boot="running")
    refuse(btd, "boot.1: no node 'Othre'; did you mean 'Other'?", "force", "boot", "Othre", "success")
    refuse(btd, "boot.1: no node '#99'; 'btctl status RUN' shows the nodes", "break", "boot", "#99")
    refuse(btd, "boot.1: 2 nodes are named 'Wait'; give the path or the number of one: '#2' (Boot/Inner/Wait), "
                "'#3' (Boot/Wait)", "break", "boot", "Wait")
    refuse(btd, "boot.1: 2 nodes are named 'Boot/Twin'; give the number of one: '#4' (Boot/Twin), '#5' (Boot/Twin)",
           "break", "boot", "Boot/Twin")
    refuse(btd, "'done' is not an outcome; give success, failure or skipped", "force", "boot", "Other", "done",
           code=2)
    refuse(btd, "'--clear' needs a node: btctl break boot NODE --clear", "break", "boot", "--clear", code=2)

    for arguments, message in [
            (("Force", "us", 1, "done"), "'done' is not an outcome; give success, failure or skipped"),
            (("Force", "us", 99, "success"), "run 'boot.1' has no node 99; its nodes are 0 to 6"),
            (("SetBreakpoint", "ub", 99, True), "run 'boot.1' has no node 99; its nodes are 0 to 6")]:
        with pytest.raises(DBusError) as error:
            btd.client.call(path, RUN, *arguments)
        assert (error.value.name, error.value.message) == ("org.btd1.Error.InvalidArgument", message)
