# SPDX-License-Identifier: LGPL-2.1-or-later
"""Whatever root, or somebody who may do nothing, calls with whatever arguments (support/fuzz-bus.py): the daemon answers
each call, by an error that has a name if need be, and is none the worse for it."""

import json
import pathlib
import re

import pytest

import conftest
from daemon import tree_text

SECONDS = 6
GROWTH_MAX = 4096  # KiB

FUZZER = pathlib.Path(__file__).parents[1] / "support" / "fuzz-bus.py"
SLEEP = {"type": "Sleep", "duration": "1h"}
ENDLESS = {"type": "Repeat", "num_cycles": -1, "child": {"type": "Sleep", "duration": "10ms"}}
WORDS = {
    "tree": ["camera"], "instance": ["", "a", "b"], "id": ["camera.1", "camera.2"], "name": ["a", "camera", "mine"],
    "node": [0, 1], "status": ["success", "failure", "skipped"], "offset": [0, 100],
    "options": [{}],
    "variables": [{}, {"a": 1}, {"b": [1, None], "a": "x"}, {"b": {"c": 0.5}}],
    "text": [tree_text({"type": "Sleep", "duration": "20ms"}), tree_text(ENDLESS, blackboard={"a": 1, "b": 2}), "{"],
}
# What changes something.
CHANGES = {"org.btd1.Manager." + each for each in ["StartTree", "StartText", "HaltTree", "HaltRun", "Reload"]} | \
    {"org.btd1.Tree.Start", "org.btd1.Tree.Halt"} | \
    {"org.btd1.Run." + each for each in ["Halt", "SetVariables", "Pause", "Resume", "Step", "SetBreakpoint", "Force"]}


def fuzz(machine, user, seconds, seed):
    machine.write("/usr/local/bin/fuzz-bus", FUZZER.read_text(encoding="utf-8"), 0o755)
    report = json.loads(machine.check("fuzz-bus", "org.btd1", seconds, json.dumps(WORDS), seed, user=user,
                                      timeout=seconds + 180))
    print(json.dumps(report, indent=1))
    assert not report["findings"], "\n".join(report["findings"])
    return report["answers"]


def pss(machine):
    """Of the daemon, in KiB, when nothing runs."""
    for run in machine.client.runs():
        if run.status == "running":
            machine.check("btctl", "halt", "--wait", "--", run.id)  # some are called "-1.1"
    pid = machine.property("btd.service", "MainPID")
    return int(re.search(r"^Pss: *(\d+)", machine.check("cat", f"/proc/{pid}/smaps_rollup"), re.MULTILINE)[1])


@pytest.mark.parametrize("user", ["root", "nobody"])
def test_any_call(machine, user):
    machine.load("camera", SLEEP, blackboard={"a": 1, "b": 2})
    machine.check("btctl", "start", "camera@z")
    pid = machine.property("btd.service", "MainPID")
    fuzz(machine, user, SECONDS / 2, 1)
    before = pss(machine)
    machine.check("btctl", "start", "camera@z")

    answers = fuzz(machine, user, SECONDS, 2)
    after = pss(machine)
    assert set(answers) >= CHANGES
    assert machine.property("btd.service", "MainPID") == pid
    print(f"{before} KiB before, {after} KiB after")
    if not conftest.SANITIZED:
        assert after < before + GROWTH_MAX

    done = {method for method in CHANGES if answers[method].get("fine")}
    assert not done if user == "nobody" else len(done) > len(CHANGES) / 2
    warnings = machine.journal("-u", "btd.service", "-p", "warning").splitlines()
    assert [line for line in warnings if not re.search(r": failed after .*: forced by UID 0", line)] == []
