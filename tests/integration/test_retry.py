# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests btctl retry: a run that takes over what has succeeded in a finished one. Which controls can be entered in their
middle: tests/unit/run/test-retry.c."""

import json
import os
import signal
import subprocess

from gi.repository import GLib
import pytest

import client
from daemon import BTCTL


def shell(name, script, **keys):
    return {"type": "Spawn", "as": "child", "name": name, "argv": ["/bin/sh", "-c", script], **keys}


@pytest.fixture
def deploy(btd, tmp_path):
    """Each process writes its name. Ship fails until there is a file, and the run waits at a gate before the last one."""
    def node(name, more=""):
        return shell(name, f"echo {name} >>{tmp_path}/done; {more}", stdout="out_" + name)

    btd.tree("deploy", {"type": "Sequence", "name": "Deploy", "children": [
        node("Build", "echo built"),
        {"type": "Script", "name": "Count", "code": "n = n + 1"},
        {"type": "ParallelAll", "name": "Both", "children": [node("Test"), node("Ship", f"test -e {tmp_path}/go")]},
        {"type": "WaitFor", "name": "Gate", "child": {"type": "PathExists", "path": f"{tmp_path}/gate"}},
        node("Last")]}, blackboard={"n": 0}, inputs={"who": {"type": "string", "default": "me"}})
    btd.start(f"--runtime={tmp_path}/run", f"--state={tmp_path}/state")
    assert btd.btctl("start", "deploy", "--wait", "--set", 'who="you"').returncode == 1
    assert done(tmp_path) == ["Build", "Ship", "Test"]
    (tmp_path / "go").touch()
    (tmp_path / "gate").touch()
    return tmp_path


def done(directory):
    words = (directory / "done").read_text(encoding="utf-8").split()
    (directory / "done").unlink()
    return sorted(words)


PLAN = """Taken over, and not executed again:
  Deploy/Build (Spawn)
  Deploy/Count (Script)
  Deploy/Both/Test (Spawn)
The run begins with Deploy/Both/Ship.
"""


def refused(btd, message, *arguments):
    result = btd.btctl("retry", *arguments, "--yes")
    assert (result.returncode, result.stderr, result.stdout) == (1, f"btctl: {message}\n", "")


def test_what_failed_runs_again(btd, deploy):
    assert btd.btctl("retry", "deploy", "--dry-run").stdout == PLAN
    assert json.loads(btd.btctl("retry", "deploy", "--dry-run", "--json").stdout) == {
        "run": "deploy.1", "taken": ["Deploy/Build", "Deploy/Count", "Deploy/Both/Test"], "anew": [],
        "first": "Deploy/Both/Ship", "variables": {"n": 1, "who": "you", "out_Build": "built", "out_Test": "", "out_Ship": ""}}
    result = btd.btctl("retry", "deploy", "--wait")
    assert (result.returncode, result.stderr.splitlines()[5:]) == (
        2, ["btctl: there is no terminal to ask on; give --yes or --dry-run", "Try 'btctl --help'."])

    result = btd.btctl("retry", "deploy", "--yes", "--wait")
    assert (result.returncode, result.stderr) == (0, PLAN)
    assert done(deploy) == ["Last", "Ship"]
    variables = btd.btctl("get", "deploy.2").stdout.splitlines()
    assert {"n=1", 'out_Build="built"', 'who="you"'} <= set(variables)
    assert "success, taken over from deploy.1" in btd.btctl("show", "deploy.2").stdout
    assert "set by a retry of deploy.1" in btd.btctl("show", "deploy.2").stdout


def test_kept_values(btd, tmp_path):
    """They are those of the last run, and not older ones."""
    btd.tree("count", {"type": "Sequence", "children": [
        {"type": "Script", "code": "n = n + 1; a = n"}, shell("Go", f"test -e {tmp_path}/go")]},
             inputs={"n": {"type": "int", "default": 0, "kept": True}}, blackboard={"a": 0})
    btd.start(f"--runtime={tmp_path}/run", f"--state={tmp_path}/state")
    for _ in range(3):
        assert btd.btctl("start", "count", "--wait").returncode == 1
    (tmp_path / "go").touch()
    assert btd.btctl("retry", "count.2", "--yes", "--wait").returncode == 0
    assert btd.btctl("get", "count").stdout == "a=2\nn=3\n"
    assert btd.btctl("retry", "count.1", "--yes", "--wait", "--set", "n=7").returncode == 0
    assert btd.btctl("get", "count").stdout == "a=1\nn=7\n"


def test_from_a_node(btd, deploy):
    assert btd.btctl("retry", "deploy", "--from=Count", "--yes", "--wait", "--set", 'who="her"').returncode == 0
    assert done(deploy) == ["Last", "Ship", "Test"]
    assert {"n=2", 'who="her"'} <= set(btd.btctl("get", "deploy.2").stdout.splitlines())

    # Also of a run that is only in the history.
    refused(btd, "deploy.2 has succeeded; to run a part of it again, give --from=NODE", "deploy.2")
    assert btd.btctl("retry", "deploy.1", "--yes", "--wait").returncode == 0
    assert done(deploy) == ["Last", "Ship"]


def test_refusals(btd, deploy):
    refused(btd, "'Deploy/Both/Ship' comes before 'Deploy/Last' and has not succeeded; begin with that one",
            "deploy", "--from=Last")
    btd.tree("deploy", {"type": "Sequence", "name": "Deploy", "children": [shell("Build", "true")]})
    btd.client.reload()
    refused(btd, "tree 'deploy' has other nodes than at the time of deploy.1; start it from its beginning with "
                 "'btctl start'", "deploy")


def test_a_changed_tree_with_the_same_nodes(btd, tmp_path):
    """The mistake in the tree was corrected."""
    def put(command):
        btd.tree("boot", {"type": "Sequence", "name": "Boot", "children": [
            shell("A", f"echo A >>{tmp_path}/done"), shell("B", f"echo B >>{tmp_path}/done; {command}")]})

    put("exit 1")
    btd.start(f"--runtime={tmp_path}/run", f"--state={tmp_path}/state")
    assert btd.btctl("start", "boot", "--wait").returncode == 1
    put("exit 0")
    btd.client.reload()
    result = btd.btctl("retry", "boot", "--yes", "--wait")
    assert result.returncode == 0
    assert result.stderr.startswith("The tree has changed since boot.1, but its nodes are the same.\n")
    assert done(tmp_path) == ["A", "B", "B"]


def test_what_begins_anew(btd, tmp_path):
    btd.tree("loop", {"type": "ForEach", "name": "All", "items": [1, 2], "as": "n", "child": {"type": "Sequence", "children": [
        {"type": "AlwaysSuccess", "name": "A"}, {"type": "Condition", "name": "Two", "test": "n == 1"}]}})
    btd.start(f"--runtime={tmp_path}/run", f"--state={tmp_path}/state")
    assert btd.btctl("start", "loop", "--wait").returncode == 1
    assert btd.btctl("retry", "loop", "--dry-run").stdout == """Nothing in loop.1 can be taken over.
Begins anew, though a part of it has succeeded:
  All (ForEach)
The run begins with All.
"""


def test_trees_inside(btd, tmp_path):
    """One that has succeeded is taken over with what it returned; one that has failed begins anew, also in a Parallel."""
    cam = {"inputs": {"n": "int"}, "outputs": {"twice": "int"}, "root": {"type": "Sequence", "name": "C", "children": [
        {"type": "Script", "name": "Double", "code": "twice = 2 * n"},
        {"type": "Fallback", "name": "Test", "children": [{"type": "Condition", "name": "One", "test": "n == 1"},
                                                          {"type": "PathExists", "name": "Go", "path": f"{tmp_path}/go"}]}]}}
    btd.tree("sub", {"type": "Sequence", "name": "Top", "children": [
        {"type": "SubTree", "name": "First", "tree": "cam", "inputs": {"n": 1}, "outputs": {"twice": "first"}},
        {"type": "Parallel", "name": "Both", "children": [
            {"type": "AlwaysSuccess", "name": "Quick"},
            {"type": "SubTree", "name": "Second", "tree": "cam", "inputs": {"n": 2}, "outputs": {"twice": "second"}}]}]},
             trees={"cam": cam})
    btd.start(f"--runtime={tmp_path}/run", f"--state={tmp_path}/state")
    assert btd.btctl("start", "sub", "--wait").returncode == 1
    assert btd.btctl("retry", "sub", "--dry-run").stdout == """Taken over, and not executed again:
  Top/First (SubTree)
  Top/Both/Quick (AlwaysSuccess)
Begins anew, though a part of it has succeeded:
  Top/Both/Second (SubTree)
The run begins with Top/Both/Second.
"""
    refused(btd, "'Top/Both/Second/C/Test' is in the SubTree 'Top/Both/Second', which can only begin anew; give that one",
            "sub", "--from=Top/Both/Second/C/Test")
    (tmp_path / "go").touch()
    assert btd.btctl("retry", "sub", "--yes", "--wait").returncode == 0
    assert btd.btctl("get", "sub.2").stdout == "first=2\nsecond=4\n"


def test_no(btd, deploy):
    """The answer on a terminal."""
    main, terminal = os.openpty()
    process = subprocess.Popen([BTCTL, "--address=" + btd.bus.address, "retry", "deploy"], stdin=terminal,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    os.write(main, b"n\n")
    assert process.communicate(timeout=client.PATIENCE)[1] == PLAN + "Start it? [y/N] btctl: not started\n"
    assert process.returncode == 1
    os.close(main)
    os.close(terminal)


def test_a_secret_is_not_stored(btd, tmp_path):
    btd.tree("boot", shell("Fail", "exit 1"), inputs={"pw": {"type": "string", "secret": True}})
    btd.start(f"--runtime={tmp_path}/run", f"--state={tmp_path}/state")
    assert btd.btctl("start", "boot", "--wait", "--set", 'pw="x"').returncode == 1
    refused(btd, "the input 'pw' is secret, so its value is not stored; give it with --set pw=JSON", "boot")
    assert btd.btctl("retry", "boot", "--yes", "--wait", "--set", 'pw="x"').returncode == 1


def test_killed(btd, deploy):
    """The new run still has what it has taken over when another btd recovers it."""
    (deploy / "gate").unlink()
    btd.client.subscribe()
    assert btd.btctl("retry", "deploy", "--yes").stdout == "deploy.2\n"
    btd.client.wait_node("/org/btd1/run/deploy_2e2", "Gate", "running")  # a child that btd leaves behind is lost
    btd.stop(signal.SIGKILL)
    btd.start(f"--runtime={deploy}/run", f"--state={deploy}/state")
    (deploy / "gate").touch()
    btd.btctl("wait", "deploy.2")
    assert "Build" not in done(deploy)


@pytest.mark.parametrize("arguments, message", [
    (("x y", "H", [0], {}), "tree 'deploy': 'x y' is not the name of a run"),
    (("deploy.1", "H", [0], {}), "tree 'deploy': it has changed meanwhile; try again"),
    (("deploy.1", "H", [1, 1], {}), "tree 'deploy': node 1 is not there, or does not follow the one before"),
    (("deploy.1", "H", [7000], {}), "tree 'deploy': node 7000 is not there, or does not follow the one before"),
    (("deploy.1", None, [0], {"none": GLib.Variant("x", 1)}), "tree 'deploy': the tree has no variable 'none'; its variables are those of its "
     "'inputs' and 'blackboard', and what its nodes set"),
])
def test_wrong_calls(btd, deploy, arguments, message):
    run, digest, nodes, state = arguments
    digest = digest or btd.client.get("/org/btd1/tree/deploy", "org.btd1.Tree", "Hash")
    with pytest.raises(client.DBusError) as error:
        btd.client.manager("RetryTree", "sa{sv}ssaua{sv}a{sv}", "deploy", {}, run, digest, nodes, state, {})
    assert error.value.message == message
