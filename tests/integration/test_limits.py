# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the limits of --limit, and the messages when they are exceeded."""

import time

import pytest

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
    full = ("org.btd1.Error.LimitExceeded", "the variables of the run would come to more than 1 KiB")
    assert refused(btd, "StartTree", "ssa{ss}", "full", "", {}) == full
    assert refused(btd, "StartText", "ssa{ss}", "own", daemon.tree_text(SLEEP, **keys), {}) == full
    _, path = btd.client.start("full", "", {"a": '"short"'})  # in place of its own
    with pytest.raises(client.DBusError) as error:
        btd.client.call(path, RUN, "SetVariables", "a{ss}", {"a": '"' + "x" * 1000 + '"'})
    assert (error.value.name, error.value.message) == full


def test_size_of_a_journal(btd, tmp_path):
    btd.tree("talks", {"type": "Sequence", "children": [
        {"type": "Repeat", "num_cycles": 100, "child": {"type": "Log", "message": "again"}}, SLEEP]})
    btd.start("--limit=journal-kib=1", f"--runtime={tmp_path}/run", f"--state={tmp_path}/state")
    _, path = btd.client.start("talks")
    deadline = time.monotonic() + 20
    while btd.client.run_property(path, "Durable"):
        assert time.monotonic() < deadline
    assert "has become larger than 1 KiB" in btd.log()


def test_length_of_the_history(btd, tmp_path):
    btd.tree("short", {"type": "AlwaysSuccess"})
    btd.start("--limit=history=2", f"--runtime={tmp_path}/run", f"--state={tmp_path}/state")
    for _ in range(4):
        btd.client.finish(btd.client.start("short")[1])
    assert [row[0] for row in btd.client.manager("ListHistory", "s", "short")] == ["short.3", "short.4"]
