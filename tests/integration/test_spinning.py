# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests loops that make no progress: btd still answers, and such a loop soon costs almost nothing."""

import os
import statistics
import time

import pytest

import client

# Built without optimisation, or with checks at every step.
SLOW = os.environ.get("BTD_SANITIZE", "none") != "none" or os.environ.get("BTD_COVERAGE") == "true"
CALLS = 200
MEDIAN_MAX = 0.1 if SLOW else 0.02
LONGEST_MAX = 0.5 if SLOW else 0.1
# Of one CPU, for all loops together.
SHARE_MAX = 0.3 if SLOW else 0.05

GOOD = {"type": "AlwaysSuccess"}
BAD = {"type": "AlwaysFailure"}

# For ever, so slowed down after a while.
ENDLESS = {
    "retry": {"type": "RetryUntilSuccessful", "num_attempts": -1, "child": BAD},
    "repeat": {"type": "Repeat", "num_cycles": -1, "child": GOOD},
    "until-failure": {"type": "KeepRunningUntilFailure", "child": GOOD},
    "nested": {"type": "Repeat", "num_cycles": -1, "child": {
        "type": "RetryUntilSuccessful", "num_attempts": 3, "child": {"type": "Inverter", "child": BAD}}},
    "skipped": {"type": "KeepRunningUntilFailure", "child": {
        "type": "Precondition", "if": "never", "else": "SKIPPED", "child": GOOD}},
    "reactive": {"type": "ReactiveFallback", "children": [
        {"type": "Precondition", "if": "never", "child": GOOD},
        {"type": "RetryUntilSuccessful", "num_attempts": -1, "child": BAD}]},
}
# Comes to its end some day, so goes on as fast as it can.
LONG = {"type": "Repeat", "num_cycles": 4_000_000_000, "child": GOOD}


def own_seconds(btd):
    """The CPU time of its main loop, in nanoseconds."""
    with open(f"/proc/{btd.process.pid}/schedstat", encoding="ascii") as file:
        return int(file.read().split()[0]) / 1e9


def answer_times(btd):
    """How long btd works on other things before each answer; not how long the machine does."""
    times = []
    for _ in range(CALLS):
        begin = own_seconds(btd)
        btd.client.get("/org/btd1", "org.btd1.Manager", "NRunning")
        times.append(own_seconds(btd) - begin)
    return times


def check_answers(btd):
    times = answer_times(btd)
    assert statistics.median(times) < MEDIAN_MAX
    assert max(times) < LONGEST_MAX


def cpu_seconds(btd):
    with open(f"/proc/{btd.process.pid}/stat", encoding="ascii") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def cpu_share(btd, seconds):
    """Of one CPU, over so long."""
    cpu, begin = cpu_seconds(btd), time.monotonic()
    with pytest.raises(TimeoutError):
        client.wait(lambda: False, "nothing", seconds)
    return (cpu_seconds(btd) - cpu) / (time.monotonic() - begin)


def start_all(btd, trees, instances=1):
    """The paths of all runs."""
    for name, root in trees.items():
        btd.tree(name, root, blackboard={"never": False})
    btd.start()
    return [btd.client.start(name, str(i))[1] for name in trees for i in range(instances)]


def halt_all(btd, name, paths):
    assert len(btd.client.halt_tree(name)[0]) == len(paths)
    for path in paths:
        assert btd.client.finish(path)[0] == "halted"


@pytest.mark.parametrize("name", ENDLESS)
def test_endless_loop(btd, name):
    paths = start_all(btd, {name: ENDLESS[name]})
    check_answers(btd)
    client.wait(lambda: cpu_share(btd, 0.2) < SHARE_MAX, "the loop to be slowed down")
    assert cpu_share(btd, 1) < SHARE_MAX
    halt_all(btd, name, paths)
    assert len(btd.log().splitlines()) < 20  # nor does it fill the log


def test_many_endless_loops_at_once(btd):
    start_all(btd, ENDLESS, 10)
    check_answers(btd)
    # Each may have a thousand rounds first.
    client.wait(lambda: cpu_share(btd, 0.2) < SHARE_MAX, "the loops to be slowed down")
    assert cpu_share(btd, 1) < SHARE_MAX


def test_long_loops_leave_room_for_others(btd):
    btd.tree("nap", {"type": "Sleep", "duration": "1ms"})
    paths = start_all(btd, {"long": LONG}, 10)
    check_answers(btd)
    _, path = btd.client.start("nap")
    assert btd.client.finish(path)[0] == "success"
    halt_all(btd, "long", paths)
