# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests loops that make no progress: btd still answers, and such a loop soon ticks only once in each interval. How long
others wait is measured in tests/bench."""

import pytest
from gi.repository import Gio, GLib

from client import look, wait

RUN = "org.btd1.Run"
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
        "type": "Precondition", "if": "never", "else": "skipped", "child": GOOD}},
    "reactive": {"type": "ReactiveFallback", "children": [
        {"type": "Precondition", "if": "never", "child": GOOD},
        {"type": "RetryUntilSuccessful", "num_attempts": -1, "child": BAD}]},
}
# Comes to its end some day, so goes on as fast as it can.
LONG = {"type": "Repeat", "num_cycles": 4_000_000_000, "child": GOOD}


def start_all(btd, trees, instances, **options):
    """The paths of all runs by tree."""
    for name, root in trees.items():
        btd.tree(name, root, blackboard={"never": False}, interval="1h")
    btd.start(**options)
    return {name: [btd.client.start(name, str(i))[1] for i in range(instances)] for name in trees}


def ticks(btd, paths):
    return [btd.client.run_property(path, "Ticks") for path in paths]


def settled(btd, paths):
    """Once the runs tick no more, though the main loop turns for each of many calls: their ticks."""
    def are():
        before = ticks(btd, paths)
        for _ in range(50):
            btd.client.run_property(paths[0], "Status")
        return ticks(btd, paths) == before and before
    return look(are, lambda: f"the loops to be slowed down; they have ticked {ticks(btd, paths)} times")


@pytest.mark.parametrize("instances", [1, 10])
def test_endless_loops(btd, clock, instances):
    """Each may have a thousand rounds first; then each interval has one."""
    runs = start_all(btd, ENDLESS, instances, env=clock.env)
    paths = [path for name in ENDLESS for path in runs[name]]
    before = settled(btd, paths)
    assert max(before) < 1100
    for _ in range(3):
        clock.advance(btd, 3600)
        after = settled(btd, paths)
        assert {now - then for now, then in zip(after, before)} == {1}
        before = after
    for name in ENDLESS:
        assert len(btd.client.halt_tree(name)[0]) == instances
    assert [btd.client.finish(path)[0] for path in paths] == ["halted"] * len(paths)
    assert len(btd.log().splitlines()) < 10 + 4 * len(paths)  # nor do they fill the log


def test_long_loops_leave_room_for_others(btd):
    btd.tree("nap", {"type": "Sleep", "duration": "1ms"})
    paths = start_all(btd, {"long": LONG}, 10)["long"]
    _, path = btd.client.start("nap")
    assert btd.client.finish(path)[0] == "success"
    assert len(btd.client.halt_tree("long")[0]) == len(paths)
    assert [btd.client.finish(path)[0] for path in paths] == ["halted"] * len(paths)


def test_calls_and_long_loops_take_turns(btd):
    """A run ticks once in each turn of the main loop, and that reads up to 32 calls, which have arrived together."""
    [path] = start_all(btd, {"long": LONG}, 1)["long"]
    btd.suspend()
    answers = []
    for _ in range(64):
        btd.client.connection.call(
            "org.btd1", path, "org.freedesktop.DBus.Properties", "Get", GLib.Variant("(ss)", (RUN, "Ticks")), None,
            Gio.DBusCallFlags.NONE, -1, None, lambda bus, reply: answers.append(bus.call_finish(reply).unpack()[0]))
    for _ in range(3):
        btd.client.owner()  # the bus has passed on what came before
    btd.resume()
    wait(lambda: len(answers) == 64, "the answers")
    assert answers == sorted(answers)
    assert 1 < len(set(answers)) < 16, "the number of turns in which they were read"
    btd.client.halt(path)
    btd.client.finish(path)
