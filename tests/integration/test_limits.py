# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the limits of --limit, and the messages when they are exceeded."""

import signal

import pytest
from gi.repository import GLib

import client
import daemon

SLEEP = {"type": "Sleep", "duration": "1h"}
RUN = "org.btd1.Run"


def refused(btd, method, signature, *arguments):
    with pytest.raises(client.DBusError) as error:
        btd.client.manager(method, signature, *arguments)
    return error.value.name, error.value.message


def test_size_of_a_tree(btd):
    btd.tree("broad", {"type": "Parallel", "children": [SLEEP, SLEEP, SLEEP]})
    btd.tree("deep", {"type": "Inverter", "child": {"type": "Inverter", "child": SLEEP}})
    btd.start("--limit=nodes=3", "--limit=depth=2")
    assert "a tree has at most 3 nodes" in btd.log()
    assert "nested too deeply: a tree has at most 2 levels" in btd.log()


@pytest.mark.parametrize("keys", [{"blackboard": {"a": "x" * 1000, "b": "x" * 100}},
                                  {"blackboard": {"a": "x" * 1000}, "inputs": {"b": {"type": "string", "default": "x" * 100}}}])
def test_variables_that_a_tree_begins_with(btd, keys):
    """In a file, and in none."""
    btd.tree("full", SLEEP, **keys)
    btd.start("--limit=variables-kib=1")
    full = ("org.btd1.Error.LimitExceeded", "the variables of the run would exceed 1 KiB")
    assert refused(btd, "StartTree", "sa{sv}a{sv}", "full", {}, {}) == full
    assert refused(btd, "StartText", "ssa{sv}a{sv}", "own", daemon.tree_text(SLEEP, **keys), {}, {}) == full
    _, path = btd.client.start("full", "", {"a": "short"})  # in place of its own
    with pytest.raises(client.DBusError) as error:
        btd.client.set_variables(path, a="x" * 1000)
    assert (error.value.name, error.value.message) == full


@pytest.mark.parametrize("value", [
    GLib.Variant("ay", bytes([255]) * 1000), GLib.Variant("ay", b"x" * 2000), GLib.Variant("s", "x" * 2000),
    GLib.Variant("(s)", ("[%s]" % ("1," * 1000 + "1"),)), GLib.Variant("ai", [1] * 1000), GLib.Variant("as", [""] * 1000),
    GLib.Variant("aai", [[]] * 1000), GLib.Variant("a{sv}", {str(i): GLib.Variant("b", True) for i in range(200)})])
def test_variables_that_are_too_large(btd, value):
    """They are refused while they are read; the array of bytes would have nine bytes for each."""
    btd.tree("nap", SLEEP, inputs={"a": {"type": "any", "default": None}})
    btd.start("--limit=variables-kib=1")
    full = ("org.btd1.Error.LimitExceeded", "the variables of the run would exceed 1 KiB")
    assert refused(btd, "StartTree", "sa{sv}a{sv}", "nap", {"a": value}, {}) == full


def test_a_run_keeps_the_limit_of_its_variables(btd, tmp_path):
    """For the next btd, and for a btctl that replays the run."""
    places = f"--runtime={tmp_path}/run", f"--state={tmp_path}/state"
    btd.tree("much", {"type": "Sequence", "children": [
        *({"type": "Script", "code": f"{name} = string.rep('x', 3000000)"} for name in "abc"),
        {"type": "WaitFor", "child": {"type": "Condition", "test": "go"}}]}, blackboard={"go": False})
    btd.start("--limit=variables-kib=16384", *places)
    run, path = btd.client.start("much")
    btd.client.wait_node(path, "WaitFor", "running")
    btd.stop(signal.SIGKILL)
    btd.start("--limit=variables-kib=1", "--limit=nodes=1", "--limit=depth=1", *places)
    assert len(btd.client.variables(path)["c"]) == 3000000
    btd.client.set_variables(path, go=True)
    btd.client.finish(path)
    shown = btd.btctl("show", run)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert f" {run}: success after " in shown.stdout.splitlines()[-1]


@pytest.mark.parametrize("given, value", [(bytes([255, 0, 255]), [255, 0, 255]), (b"abc\0", [97, 98, 99, 0])])
def test_variables_of_bytes(btd, given, value):
    btd.tree("nap", SLEEP, inputs={"a": {"type": "any", "default": None}})
    btd.start("--limit=variables-kib=1")
    _, path = btd.client.manager("StartTree", "sa{sv}a{sv}", "nap", {"a": GLib.Variant("ay", given)}, {})[:2]
    assert btd.client.variables(path)["a"] == value


def test_size_of_a_record(btd, tmp_path):
    btd.tree("talks", {"type": "Sequence", "children": [
        {"type": "Repeat", "num_cycles": 100, "child": {"type": "Log", "message": "again"}}, SLEEP]})
    btd.start("--limit=journal-kib=1", f"--runtime={tmp_path}/run", f"--state={tmp_path}/state")
    _, path = btd.client.start("talks")
    client.look(lambda: not btd.client.run_property(path, "Durable"), "the record to be too large")
    assert btd.client.run_property(path, "NotDurableReason").endswith("talks.1.journal has become larger than 1 KiB")
    assert "has become larger than 1 KiB" in btd.log()


def test_no_place_for_records(btd):
    btd.tree("nap", SLEEP)
    btd.start()
    _, path = btd.client.start("nap")
    assert btd.client.run_property(path, "Durable") is False
    assert btd.client.run_property(path, "NotDurableReason") == "btd has no runtime directory"


def test_length_of_the_history(btd, tmp_path):
    btd.tree("short", {"type": "AlwaysSuccess"})
    btd.start("--limit=history=2", f"--runtime={tmp_path}/run", f"--state={tmp_path}/state")
    for _ in range(4):
        btd.client.finish(btd.client.start("short")[1])
    assert [row["id"] for row in btd.client.history(tree="short")] == ["short.3", "short.4"]
