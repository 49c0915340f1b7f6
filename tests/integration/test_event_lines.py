# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that an event is the same line in start --follow, show and simulate, but for times."""

import glob
import json
import os
import re

import pytest

from btctl_runs import SOURCE, UTF8

# The rest is no tree to start, needs what is not on a private bus, or does not end by itself.
EXAMPLES = ["battery", "degraded-start", "demo", "device-startup", "disk-report", "failover", "guarded-approach",
            "mode-switch", "patrol", "provisioning", "target"]
LEFT_OUT = {"audio-watch", "camera-streams", "containers", "disk-parts", "drain-node", "job-runner", "kiosk-watch",
            "machine-report", "persistent", "power-watch", "service-recovery", "supervisor", "system-update", "uploader",
            "volume-backup", "world-backup"}

# What changes while they run is no part of the script: a condition, or the order of the elements of a list.
OTHERWISE = {"guarded-approach", "patrol", "provisioning"}

# Those that only pass time, faster than for people.
FASTER = {"battery": ["--set=charge=\"200ms\""], "target": ["--set=visible=\"200ms\""]}

# What the examples lack: halts that take time, for several reasons, of several kinds of nodes.
STUBBORN = {"type": "Spawn", "as": "child", "argv": [
    "sh", "-c", "trap 'sleep 0.2; exit 0' TERM; sleep 3600 & wait"]}
HALTS = {"type": "Sequence", "name": "Top", "children": [
    {"type": "ForceSuccess", "name": "Passed", "child": {"type": "Parallel", "name": "Both", "children": [
        {**STUBBORN, "name": "Slow"},
        {"type": "Sequence", "name": "Short", "children": [
            {"type": "Sleep", "name": "Nap", "duration": "200ms"}, {"type": "AlwaysFailure", "name": "Fails"}]}]}},
    {"type": "Parallel", "name": "Guards", "children": [
        {"type": "Sequence", "name": "Guarded", "while": "mode ~= 'b'", "children": [{**STUBBORN, "name": "Inner"}]},
        {"type": "WhileDoElse", "name": "Choice", "children": [
            {"type": "Condition", "name": "IsA", "test": "mode == 'a'"}, {**STUBBORN, "name": "WhileA"},
            {"type": "Sleep", "name": "Otherwise", "duration": "50ms"}]},
        {"type": "Sequence", "name": "Turn", "children": [
            {"type": "Sleep", "name": "First", "duration": "200ms"},
            {"type": "Script", "name": "ToB", "code": "mode = 'b'"}]}]},
    {"type": "Timeout", "name": "Limit", "timeout": "200ms", "child": {"type": "Finally", "name": "Clean", "children": [
        {**STUBBORN, "name": "Body"}, {"type": "Sleep", "name": "CleanUp", "duration": "50ms"}]}}]}


def sleep(name, duration="50ms", **keys):
    return {"type": "Sleep", "name": name, "duration": duration, **keys}


def shell(name, command):
    return {"type": "Spawn", "name": name, "as": "child", "argv": ["sh", "-c", command]}


def sequence(name, *children, **keys):
    return {"type": "Sequence", "name": name, "children": children, **keys}


# What they have too little of: locks, attempts, guards and hooks, elements of lists, errors.
MORE = {
    "locks": {"type": "Parallel", "name": "Top", "failure_count": 4, "success_count": 3, "children": [
        sequence("A", shell("Holds", "sleep 0.2"), lock="it"), sequence("B", sleep("Waits"), lock="it"),
        sleep("Leaf", lock="it"), {"type": "Timeout", "name": "Limit", "timeout": "100ms", "child": sleep("Late", lock="it")}]},
    "attempts": {"type": "RetryUntilSuccessful", "name": "Top", "num_attempts": 3, "backoff": {"initial": "100ms"},
                 "child": sequence("Try", shell("Fails", "exit 3"), sleep("Never"))},
    "guards": sequence(
        "Top", sleep("A", skip_if="n == 0"), sleep("B", success_if="n == 0"),
        sleep("C", on_success="n = 1", always="n = n + 1"),
        {"type": "TryCatch", "name": "Caught", "children": [shell("Bad", "exit 1"), sleep("Catch")]},
        {"type": "Finally", "name": "Last", "children": [
            sequence("Body", sleep("D"), {"type": "AlwaysFailure", "name": "No"}), sleep("CleanUp")]}),
    "elements": {"type": "ForEach", "name": "Top", "items": ["a", "b", "c"], "as": "it", "concurrency": 3, "max_failures": 1,
                 "child": {"type": "Fallback", "name": "One", "children": [
                     {"type": "Condition", "name": "Ok", "test": "it ~= 'b'"}, shell("Try", "sleep 0.1; exit 2")]}},
    "one-by-one": {"type": "ForEach", "name": "Top", "items": ["a", {"n": 2}], "as": "it", "max_failures": 1,
                   "child": sequence("One", shell("Try", "sleep 0.05"), {"type": "Log", "name": "Say", "message": "it is {it}"},
                                     {"type": "Condition", "name": "Ok", "test": "it ~= 'a'"})},
    "given-up": {"type": "Timeout", "name": "Top", "timeout": "100ms", "child": {
        **shell("Deaf", "trap '' TERM; sleep 3600"), "halt_timeout": "100ms"}},
    "broken": {"type": "Parallel", "name": "Top", "children": [
        {**STUBBORN, "name": "Slow"}, sequence("Short", sleep("A", "200ms"),
                                               {"type": "Script", "name": "Bad", "code": "n = n .. {}"})]}}


def lines(text):
    """Without the times of events and without durations."""
    return [re.sub(r",? (after|for|waited) ([0-9.]+[a-z]+ ?)+(?=:|$)", "", line[10:]) for line in text.splitlines()]


def by_node(lines_of_run):
    """Lines at the same time have no order between nodes."""
    nodes = {}
    for line in lines_of_run:
        nodes.setdefault(line.split(": ")[0].split(" ", 1)[1], []).append(line)
    return nodes


def scenario(btd, name, tmp_path):
    """Writes a script that lets the leaves do in simulated time what they did in the run."""
    nodes = json.loads(btd.btctl("status", name, "--json").stdout)["nodes"]
    parents = {node["parent"] for node in nodes}
    scripted = {node["path"] for node in nodes if node["index"] not in parents and node["type"] not in (
        "Log", "Sleep", "Script", "Condition", "AlwaysSuccess", "AlwaysFailure")}
    leaves, outputs, halting = {}, {}, {}
    for line in btd.btctl("show", name, "--json").stdout.splitlines():
        event = json.loads(line)
        path, what = event.get("path"), event["event"]
        if path not in scripted:
            continue
        if what == "set":
            outputs[path] = event["variables"]
        elif what == "halting":
            halting[path] = event["offset_usec"]
        elif what == "halted":
            outcome = {"after": "infinity"}
            if path in halting:
                outcome["halt"] = f"{max(event['offset_usec'] - halting.pop(path), 1)}us"
            leaves.setdefault(path, []).append(outcome)
        elif what in ("success", "failure", "skipped"):
            outcome = {"result": what, "after": f"{event.get('duration_usec', 0)}us"}
            if path in outputs:
                outcome["outputs"] = outputs.pop(path)
            if "text" in event:
                outcome["cause"] = event["text"]
            leaves.setdefault(path, []).append(outcome)
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"leaves": leaves}), encoding="utf-8")
    return str(script)


def test_every_example_is_here_or_left_out():
    names = {os.path.basename(path).removesuffix(".json") for path in glob.glob(os.path.join(SOURCE, "trees", "*.json"))}
    assert names == set(EXAMPLES) | LEFT_OUT


def check_same_lines(btd, tmp_path, name, simulates=True):
    btd.start(f"--runtime={tmp_path}/run", f"--state={tmp_path}/state")
    given = FASTER.get(name, [])
    followed = btd.btctl("start", name, "--follow", *given, env=UTF8)
    shown = btd.btctl("show", name, "--quiet", env=UTF8)
    assert shown.returncode == 0 and shown.stderr == ""
    assert followed.stdout == shown.stdout
    if not simulates:
        return

    # Only a real run was started by somebody.
    known = by_node(re.sub(r": started by UID \d+ \(btctl\),?", ": started", line) for line in lines(shown.stdout))
    simulated = btd.btctl("simulate", os.path.join(btd.trees, name + ".json"),
                          "--script=" + scenario(btd, name, tmp_path), *given, env=UTF8)
    print(simulated.stdout, simulated.stderr)
    assert by_node(lines(simulated.stdout.replace(f" {name}: ", f" {name}.1: "))) == known


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(btd, tmp_path, name):
    for path in glob.glob(os.path.join(SOURCE, "trees", "*.json")):
        with open(path, encoding="utf-8") as file:
            btd.tree(os.path.basename(path).removesuffix(".json"), file.read())
    check_same_lines(btd, tmp_path, name, name not in OTHERWISE)


def test_halts(btd, tmp_path):
    btd.tree("boot", HALTS, blackboard={"mode": "a"})
    check_same_lines(btd, tmp_path, "boot")


@pytest.mark.parametrize("name", MORE)
def test_more(btd, tmp_path, name):
    btd.tree(name, MORE[name], blackboard={"n": 0})
    check_same_lines(btd, tmp_path, name)


def test_values_that_have_no_type_on_dbus(btd, tmp_path):
    """They come over D-Bus as JSON text: null, NUL characters, and what is nested too deep."""
    deep = [[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]
    btd.tree("boot", {"type": "ForEach", "name": "All", "items": [None, {"a": None}], "as": "it", "concurrency": 2, "child": {
        "type": "Script", "name": "One", "code": "text = 'a\\0b'"}}, blackboard={"deep": deep, "text": ""})
    btd.start(f"--runtime={tmp_path}/run", f"--state={tmp_path}/state")
    followed = btd.btctl("start", "boot", "--follow", "--set", f"deep={json.dumps(deep)}", env=UTF8).stdout
    assert followed == btd.btctl("show", "boot", "--quiet", env=UTF8).stdout
    assert "All/One[1: null]: set it=null\n" in followed and 'All/One[2: {"a":null}]: set it={"a":null}\n' in followed
    assert '/One[1: null]: set text="a\\u0000b"\n' in followed and ", with deep=[[[[" in followed
    assert btd.btctl("follow", "boot", "--json").stdout == btd.btctl("show", "boot", "--json").stdout
