# SPDX-License-Identifier: LGPL-2.1-or-later
"""Whatever root, or somebody who may do nothing, calls with whatever arguments (support/fuzz-bus.py): the daemon answers
each call, by an error that has a name if need be, and is none the worse for it."""

import json
import pathlib
import re

import pytest

import conftest

SECONDS = 6
GROWTH_MAX = 4096  # KiB

FUZZER = pathlib.Path(__file__).parents[1] / "support" / "fuzz-bus.py"
INTERFACES = ["org.btd1.Manager", "org.btd1.Tree", "org.btd1.Run"]


def fuzz(machine, user, seconds, seed):
    machine.write("/usr/local/bin/fuzz-bus", FUZZER.read_text(encoding="utf-8"), 0o755)
    report = json.loads(machine.check("fuzz-bus", "org.btd1", seconds, seed, user=user, timeout=seconds + 60))
    assert not report["findings"], "\n".join(report["findings"])
    return report


def pss(machine):
    """Of the daemon, in KiB, when nothing runs."""
    for run in machine.client.manager("ListRuns"):
        if run[4] == "running":
            machine.check("btctl", "halt", run[0], "--wait")
    pid = machine.property("btd.service", "MainPID")
    return int(re.search(r"^Pss: *(\d+)", machine.check("cat", f"/proc/{pid}/smaps_rollup"), re.MULTILINE)[1])


@pytest.mark.parametrize("user", ["root", "nobody"])
def test_any_call(machine, user):
    machine.load("camera", {"type": "Sleep", "duration": "1h"})
    machine.check("btctl", "start", "camera")
    pid = machine.property("btd.service", "MainPID")
    fuzz(machine, user, SECONDS / 2, 1)
    before = pss(machine)
    machine.check("btctl", "start", "camera")

    report = fuzz(machine, user, SECONDS, 2)
    print(json.dumps(report, indent=1))
    assert {method.rpartition(".")[0] for method in report["answers"]} >= set(INTERFACES)
    assert report["calls"] > 100
    assert machine.property("btd.service", "MainPID") == pid
    after = pss(machine)
    print(before, after)
    if not conftest.SANITIZED:
        assert after < before + GROWTH_MAX
    warnings = machine.journal("-u", "btd.service", "-p", "warning")
    print(warnings)
