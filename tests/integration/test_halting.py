# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that nodes are seen waiting and halting, and that the end of a halt is seen when it really is."""

import json
import re
import signal

import pytest

from btctl_runs import UTF8
from client import look


class Stubborn:
    """A process that does not end when it is told to, but when the test lets it. `begun` is there once it no longer ends
    at SIGTERM."""

    def __init__(self, directory, name):
        self.begun, self.gate = directory / f"{name}-begun", directory / f"{name}-gate"
        wait_for_gate = f"while ! [ -e {self.gate} ]; do sleep 0.02; done"
        self.node = {"type": "Spawn", "name": name, "as": "child", "kill_timeout": "1h", "argv": [
            "sh", "-c", f"trap '{wait_for_gate}; exit 0' TERM; : >{self.begun}; while :; do sleep 0.02; done"]}

    def await_begun(self):
        look(self.begun.exists, f"{self.begun}")

    def end(self):
        self.gate.touch()


@pytest.fixture
def kept(btd, tmp_path):
    """It keeps run records; start it with kept.start(*kept.options)."""
    btd.options = (f"--runtime={tmp_path}/run", f"--state={tmp_path}/state")
    return btd


@pytest.fixture
def slow(kept, tmp_path):
    """It ends with the test at the latest, so that btd can stop."""
    it = Stubborn(tmp_path, "Slow")
    yield it
    it.end()


def sleep(name, duration="1h", **keys):
    return {"type": "Sleep", "name": name, "duration": duration, **keys}


def states(btd, run="boot"):
    return {node["name"]: node for node in json.loads(btd.btctl("status", run, "--json").stdout)["nodes"]}


def await_end(btd):
    look(lambda: json.loads(btd.btctl("status", "boot", "--json").stdout)["status"] == "success", "the end")


def await_state(btd, name, state, run="boot"):
    look(lambda: states(btd, run)[name]["status"] == state, f"{name} is {state}")
    return states(btd, run)


def events(btd, run="boot"):
    return [json.loads(line) for line in btd.btctl("show", run, "--json").stdout.splitlines()]


def words(btd, path, run="boot"):
    return [event["event"] for event in events(btd, run) if event.get("path") == path]


def apart(later, earlier):
    """The time from one event to another, in microseconds."""
    return later["offset_usec"] - earlier["offset_usec"]


def is_span(duration, expected):
    """A node stores durations of 4 s and more rounded down to some microseconds."""
    return 0 <= expected - duration <= expected // 1000000


def start_with_timeout(btd, slow):
    """The Timeout is reached in a paused run, which continues when Slow has begun: so Slow cannot be told to end before."""
    btd.tree("boot", {"type": "Fallback", "name": "F", "children": [
        sleep("Gate", **{"while": "closed"}),
        {"type": "Timeout", "name": "Top", "timeout": "100ms", "child": slow.node}, sleep("Next", "10ms")]},
        blackboard={"closed": True})
    btd.start(*btd.options)
    btd.client.start("boot")
    await_state(btd, "Gate", "running")
    for arguments in ["pause", "boot"], ["set", "boot", "closed=false"], ["step", "boot"]:
        assert btd.btctl(*arguments).returncode == 0
    slow.await_begun()
    assert btd.btctl("resume", "boot").returncode == 0
    return await_state(btd, "Slow", "halting")


def lines(text):
    return re.sub(r"[0-9.]+(us|ms|s)\b", "T", text)


def test_timeout(kept, slow):
    """The Timeout waits for what it has halted."""
    nodes = start_with_timeout(kept, slow)
    assert nodes["Slow"]["detail"] == "halting" and nodes["Top"]["detail"] == "ends when Slow has stopped"
    assert nodes["Top"]["status"] == "running"
    assert "└─ ● Slow (Spawn) for T, halting\n" in lines(kept.btctl("status", "boot", env=UTF8).stdout)
    assert "└─ ● Slow (Spawn) for T, halting\n" in lines(kept.btctl("replay", "boot", env=UTF8).stdout)
    assert json.loads(kept.btctl("status", "boot", "--json").stdout)["status"] == "running"

    slow.end()
    await_state(kept, "Top", "failure")
    assert words(kept, "F/Top/Slow") == ["running", "halting", "halted"]
    running, halting, halted = [event for event in events(kept) if event.get("path") == "F/Top/Slow"]
    assert halting["text"] == halted["text"] == "stopped by F/Top"
    assert apart(halted, halting) > nodes["Slow"]["duration_usec"], "it was halting all the time"
    assert is_span(halted["duration_usec"], apart(halted, running))
    assert states(kept)["Slow"]["duration_usec"] == halted["duration_usec"]
    between = (halting["offset_usec"] + halted["offset_usec"]) // 2
    early = kept.btctl("replay", "boot", f"--until={between}us", env=UTF8).stdout
    assert "└─ ● Slow (Spawn) for T, halting\n" in lines(early)
    shown = lines(kept.btctl("show", "boot", env=UTF8).stdout)
    assert "T ● F/Top/Slow: halting, stopped by F/Top\n" in shown
    assert "T ■ F/Top/Slow: halted after T: stopped by F/Top\n" in shown

    svg = kept.btctl("plot", "boot").stdout
    assert '<rect class="halting"' in svg and ">halting</text>" in svg and ">waiting</text>" not in svg
    assert re.search("Slow: halted, from .*, the last .* halting: stopped by F/Top", svg)


def test_force(kept, slow):
    """What is above the forced node waits for its end."""
    kept.tree("boot", {"type": "Sequence", "name": "Top", "children": [slow.node, sleep("After", "10ms")]})
    kept.start(*kept.options)
    kept.client.start("boot")
    slow.await_begun()
    assert kept.btctl("force", "boot", "Slow", "success").returncode == 0
    nodes = await_state(kept, "Slow", "halting")
    assert (nodes["Top"]["status"], nodes["Top"]["detail"]) == ("running", "waits for Slow to stop")
    slow.end()
    await_end(kept)
    assert words(kept, "Top/Slow") == ["running", "forced", "halting", "halted", "success"]
    forced, halting, halted, success = [event for event in events(kept) if event.get("path") == "Top/Slow"][1:]
    assert halting["text"] == success["text"] and forced["text"] == "success, " + halting["text"]
    assert "text" not in halted
    assert words(kept, "Top/After") == ["running", "success"]


def test_while(kept, slow):
    """A node whose while turned false has stopped what is below it, not the node above."""
    kept.tree("boot", {"type": "Parallel", "name": "Top", "success_count": -1, "children": [
        {"type": "Sequence", "name": "Guarded", "while": "ok", "children": [slow.node]},
        until_exists("Other", slow.gate)]}, blackboard={"ok": True})
    kept.start(*kept.options)
    kept.client.start("boot")
    slow.await_begun()
    assert kept.btctl("set", "boot", "ok=false").returncode == 0
    nodes = await_state(kept, "Slow", "halting")
    assert nodes["Guarded"]["status"] == "halting"
    why = "its while is false: ok"
    assert (nodes["Guarded"]["cause"]["kind"], nodes["Guarded"]["cause"]["text"]) == ("guard", why)
    assert nodes["Slow"]["cause"]["text"] == "stopped by Top/Guarded" and nodes["Slow"]["cause"]["because"] == 1
    slow.end()
    await_end(kept)
    ends = [(event["event"], event.get("text")) for event in events(kept) if event.get("path") == "Top/Guarded"][1:]
    assert ends == [("halting", why), ("halted", None), ("skipped", why)]
    ends = [(event["event"], event.get("text")) for event in events(kept) if event.get("path") == "Top/Guarded/Slow"][1:]
    assert ends == [("halting", "stopped by Top/Guarded"), ("halted", "stopped by Top/Guarded")]


def test_replacement(kept, slow):
    """What replaces it waits, and is as long as it runs."""
    second = {"type": "Sequence", "name": "Second", "children": [
        {"type": "Condition", "name": "Turn", "test": "turn"}, sleep("A2", "10ms")]}
    kept.tree("boot", {"type": "ReactiveFallback", "name": "R", "children": [
        {"type": "RunOnce", "child": {"type": "AlwaysFailure"}}, second, slow.node]}, blackboard={"turn": False})
    kept.start(*kept.options)
    kept.client.start("boot")
    slow.await_begun()
    assert kept.btctl("set", "boot", "turn=true").returncode == 0
    nodes = await_state(kept, "A2", "waiting")
    assert nodes["A2"]["detail"] == "waits for Slow to stop" and nodes["Slow"]["status"] == "halting"
    assert "● A2 (Sleep) for T, waits for Slow to stop\n" in lines(kept.btctl("status", "boot", env=UTF8).stdout)
    slow.end()
    await_end(kept)
    assert words(kept, "R/Second/A2") == ["waiting", "running", "success"]
    waiting, running, success = [event for event in events(kept) if event.get("path") == "R/Second/A2"]
    assert waiting["text"] == "for Slow to stop"
    assert running["waited_usec"] == apart(running, waiting) > nodes["A2"]["duration_usec"]
    assert is_span(success["duration_usec"], apart(success, running))
    shown = lines(kept.btctl("show", "boot", env=UTF8).stdout)
    assert "T ● R/Second/A2: waiting for Slow to stop\n" in shown
    assert "T ● R/Second/A2: running, waited T\n" in shown
    assert "<title>A2: waiting for Slow to stop, from " in kept.btctl("plot", "boot").stdout


def test_started_again_while_halting(kept, slow):
    """What stopped it is said, though it already waits for its next start."""
    kept.tree("boot", {"type": "ReactiveFallback", "name": "R", "children": [
        {"type": "Sequence", "name": "First", "children": [
            {"type": "Condition", "name": "Turn", "test": "turn"}, sleep("Never")]}, slow.node]}, blackboard={"turn": False})
    kept.start(*kept.options)
    kept.client.start("boot")
    slow.await_begun()
    assert kept.btctl("set", "boot", "turn=true").returncode == 0
    await_state(kept, "Never", "waiting")
    assert kept.btctl("set", "boot", "turn=false").returncode == 0
    await_state(kept, "Never", "halted")
    slow.end()
    await_state(kept, "Slow", "running")
    assert words(kept, "R/Slow") == ["running", "halting", "halted", "running"]
    assert [event.get("text") for event in events(kept) if event.get("path") == "R/Slow"][1:3] == ["stopped by R"] * 2


def until_exists(name, path, **keys):
    """A process that ends when the file is there."""
    return {"type": "Spawn", "name": name, "as": "child",
            "argv": ["sh", "-c", f"while ! [ -e {path} ]; do sleep 0.02; done"], **keys}


def test_uninterruptible(kept, tmp_path):
    """It is halting as long as it continues, and what is above it, too."""
    kept.tree("boot", {"type": "Sequence", "name": "Top", "children": [
        until_exists("Flash", tmp_path / "flashed", uninterruptible=True), sleep("Never")]})
    kept.start(*kept.options)
    kept.client.start("boot")
    await_state(kept, "Flash", "running")
    assert kept.btctl("halt", "boot").returncode == 0
    nodes = await_state(kept, "Flash", "halting")
    assert nodes["Top"]["status"] == "halting"
    (tmp_path / "flashed").touch()
    assert kept.btctl("halt", "boot", "--wait").returncode == 0
    assert words(kept, "Top/Flash") == ["running", "halting", "success"]
    assert words(kept, "Top") == ["running", "halting", "halted"]
    nodes = states(kept)
    assert nodes["Flash"]["duration_usec"] <= nodes["Top"]["duration_usec"]


def test_lock(kept, tmp_path):
    """It waits for its lock, and says how long it did. Of what never began, the time is 0."""
    kept.tree("boot", {"type": "Parallel", "name": "P", "success_count": 2, "children": [
        until_exists("First", tmp_path / "done", lock="disk"),
        {"type": "Sequence", "name": "Second", "lock": "disk", "children": [sleep("In", "50ms")]},
        sleep("Third", lock="disk", **{"while": "true"})]})
    kept.start(*kept.options)
    kept.client.start("boot")
    nodes = await_state(kept, "Second", "waiting")
    assert nodes["Second"]["detail"] == "waits for the lock 'disk', which boot.1 (First) holds"
    (tmp_path / "done").touch()
    await_end(kept)
    assert words(kept, "P/Second") == ["waiting", "locked", "running", "success"]
    waiting, _, running, success = [event for event in events(kept) if event.get("path") == "P/Second"]
    assert waiting["text"] == "for the lock 'disk'"
    assert running["waited_usec"] == apart(running, waiting) > nodes["Second"]["duration_usec"]
    assert is_span(success["duration_usec"], apart(success, running))
    told = [event for event in kept.client.manager("GetEvents", "st", "boot.1", 0) if event.get("path") == "P/Second"]
    assert [event.get("status") for event in told] == ["waiting", None, "running", "success"]
    assert told[2]["waited"] == running["waited_usec"] and told[0]["text"] == "for the lock 'disk'"


def test_breakpoint(kept):
    kept.tree("boot", {"type": "Sequence", "name": "S", "children": [
        sleep("Gate", **{"while": "closed"}), {"type": "Sequence", "name": "Next", "children": [sleep("In", "10ms")]}]},
        blackboard={"closed": True})
    kept.start(*kept.options)
    kept.client.start("boot")
    assert kept.btctl("break", "boot", "S/Next").returncode == 0
    assert kept.btctl("set", "boot", "closed=false").returncode == 0
    nodes = await_state(kept, "Next", "waiting")
    assert nodes["Next"]["detail"] == "paused at a breakpoint" and nodes["Next"]["since_usec"] > 0
    assert kept.btctl("resume", "boot").returncode == 0
    await_end(kept)
    assert words(kept, "S/Next") == ["breakpoint", "at-breakpoint", "running", "success"]


def test_paused_while_halting(kept, slow):
    """The end of a halt is seen at once, though the run takes no tick."""
    start_with_timeout(kept, slow)
    assert kept.btctl("pause", "boot").returncode == 0
    slow.end()
    nodes = await_state(kept, "Slow", "halted")
    assert nodes["Top"]["status"] == "running"
    assert kept.btctl("resume", "boot").returncode == 0
    await_end(kept)


def test_killed_while_halting(kept, tmp_path):
    """The recovered run is halting, and so is the node."""
    kept.tree("boot", {"type": "Finally", "name": "F", "children": [
        sleep("Body"), {"type": "WaitFor", "name": "Clean", "child": {
            "type": "PathExists", "name": "Up", "path": str(tmp_path / "up")}}]})
    kept.start(*kept.options)
    kept.client.start("boot")
    await_state(kept, "Body", "running")
    assert kept.btctl("halt", "boot").returncode == 0
    before = await_state(kept, "F", "halting")
    kept.stop(signal.SIGKILL)
    kept.process = None
    kept.start(*kept.options)
    after = await_state(kept, "Up", "failure")
    assert {name: node["status"] for name, node in after.items()} == \
        {"F": "halting", "Body": "halted", "Clean": "running", "Up": "failure"}
    assert abs(after["F"]["since_usec"] - before["F"]["since_usec"]) < 1000  # as above
    assert json.loads(kept.btctl("status", "boot", "--json").stdout)["status"] == "halting"
    (tmp_path / "up").touch()
    assert kept.btctl("halt", "boot", "--wait").returncode == 0
    assert words(kept, "F") == ["running", "halting", "halted"]
