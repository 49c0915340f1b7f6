# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that an event is the same line in start --follow, show and simulate, but for times. A simulation does not tell
who has halted a node, nor what a node only passes on from a child."""

import glob
import json
import os
import re

import pytest

from btctl_runs import SOURCE, UTF8

# The rest is no tree to start, needs what is not on a private bus, or does not end by itself.
EXAMPLES = ["battery", "degraded-start", "demo", "device-startup", "disk-report", "failover", "guarded-approach",
            "mode-switch", "patrol", "provisioning", "target"]
LEFT_OUT = {"disk-parts", "machine-report", "persistent", "service-recovery", "uploader"}

# A node that ends and starts again in one tick: the signals have only its last state.
REPEATING = {"failover", "patrol", "provisioning"}

# What changes while they run is no part of the script: a condition, or the order of the elements of a list.
OTHERWISE = {"guarded-approach", "patrol", "provisioning"}

STATUSES = ("running", "success", "failure", "skipped", "halted", "error")


def lines(text):
    """Without the times of events and without durations."""
    return [re.sub(r" (after|for) ([0-9.]+[a-z]+ ?)+(?=:|$)", "", line[10:]) for line in text.splitlines()]


def changes(lines_of_run):
    """The lines about a status of a node or of the run: of other events, start --follow has none."""
    return [line for line in lines_of_run if re.match(rf"\S+ \S+: ({'|'.join(STATUSES)})\b", line)]


def by_node(lines_of_run):
    """Lines at the same time have no order between nodes."""
    nodes = {}
    for line in lines_of_run:
        nodes.setdefault(line.split(": ")[0].split(" ", 1)[1], []).append(line)
    return nodes


def is_part_of(some, all_lines):
    """Whether the lines come in the same order among all."""
    rest = iter(all_lines)
    return all(line in rest for line in some)


def scenario(btd, name, tmp_path):
    """Writes a script that lets the leaves do in simulated time what they did in the run."""
    nodes = json.loads(btd.btctl("status", name, "--json").stdout)["nodes"]
    parents = {node["parent"] for node in nodes}
    scripted = {node["path"] for node in nodes if node["index"] not in parents and node["type"] not in (
        "Log", "Sleep", "Script", "Condition", "AlwaysSuccess", "AlwaysFailure")}
    leaves, outputs = {}, {}
    for line in btd.btctl("show", name, "--json").stdout.splitlines():
        event = json.loads(line)
        path, what = event.get("path"), event["event"]
        if path not in scripted:
            continue
        if what == "set":
            outputs[path] = event["variables"]
        elif what == "halted":
            leaves.setdefault(path, []).append({"after": "infinity"})
        elif what in ("success", "failure", "skipped"):
            outcome = {"result": what, "after": f"{event.get('duration_usec', 0)}us"}
            if path in outputs:
                outcome["outputs"] = outputs.pop(path)
            if what == "failure":
                outcome["cause"] = event["text"]
            leaves.setdefault(path, []).append(outcome)
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"leaves": leaves}), encoding="utf-8")
    return str(script)


def test_every_example_is_here_or_left_out():
    names = {os.path.basename(path).removesuffix(".json") for path in glob.glob(os.path.join(SOURCE, "trees", "*.json"))}
    assert names == set(EXAMPLES) | LEFT_OUT


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(btd, tmp_path, name):
    for path in glob.glob(os.path.join(SOURCE, "trees", "*.json")):
        with open(path, encoding="utf-8") as file:
            btd.tree(os.path.basename(path).removesuffix(".json"), file.read())
    btd.start(f"--runtime={tmp_path}/run", f"--state={tmp_path}/state")
    followed = btd.btctl("start", name, "--follow", env=UTF8)
    shown = btd.btctl("show", name, "--quiet", env=UTF8)
    assert shown.returncode == 0 and shown.stderr == ""
    told, known = by_node(changes(lines(followed.stdout))), by_node(changes(lines(shown.stdout)))
    assert told.keys() == known.keys()
    for node, node_lines in told.items():
        assert node_lines[-1] == known[node][-1]
        assert is_part_of(node_lines, known[node])
        assert node_lines == known[node] or name in REPEATING

    if name in OTHERWISE:
        return
    simulated = btd.btctl("simulate", os.path.join(btd.trees, name + ".json"),
                          "--script=" + scenario(btd, name, tmp_path), env=UTF8)
    print(simulated.stdout, simulated.stderr)
    told = by_node(changes(lines(simulated.stdout.replace(f" {name}: ", f" {name}.1: "))))
    assert told.keys() == known.keys()
    for node, node_lines in told.items():
        assert len(node_lines) == len(known[node])
        for line, known_line in zip(node_lines, known[node]):
            assert known_line == line or known_line.startswith(line + ": ")
