# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests subscribers that do not read the signals about changed nodes."""

import os
import signal
import subprocess

import pytest
from gi.repository import GLib

import daemon
from client import DBusError, wait

TURNS, STEPS = 20, 1000

# More than one who reads nothing is sent.
MANY = {"type": "Sequence", "children": [
    {"type": "Repeat", "num_cycles": TURNS, "child": {"type": "Sequence", "children": [
        {"type": "Sleep", "duration": "1ms"}, *({"type": "AlwaysSuccess", "name": f"Step{n}"} for n in range(STEPS))]}},
    {"type": "Sleep", "name": "AtLast", "duration": "1ms"}]}


class Monitor:
    """btctl monitor, and what it has said."""

    def __init__(self, btd):
        self.process = subprocess.Popen([daemon.BTCTL, "--address=" + btd.bus.address, "monitor"],
                                        stdout=subprocess.PIPE)
        self.said = b""
        self.source = GLib.unix_fd_add_full(GLib.PRIORITY_DEFAULT, self.process.stdout.fileno(), GLib.IOCondition.IN,
                                            self._on_said)

    def _on_said(self, fd, condition):
        self.said += os.read(fd, 65536)
        return GLib.SOURCE_CONTINUE

    def close(self):
        GLib.source_remove(self.source)
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def monitor(btd):
    btd.start()
    it = Monitor(btd)
    yield it
    it.close()


def test_some_runs_and_some_signals(btd, tmp_path):
    """Of one run, or of the runs of one tree, nodes and events apart; each is ended apart."""
    def go(*trees):
        del btd.client.signals[:]
        for tree in trees:
            btd.client.finish(btd.client.start(tree)[1])
        btd.client.call_any("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "GetId")
        wait(lambda: sum(s.member == "RunFinished" for s in btd.client.signals) >= len(trees), "the ends")
        return {(s.path.split("/")[-1].split("_")[0], s.member) for s in btd.client.signals
                if s.member in ("NodesChanged", "Events")}

    def call(method, **options):
        btd.client.manager(method, "a{sv}", {key: GLib.Variant("s" if isinstance(value, str) else "b", value)
                                             for key, value in options.items()})
    for name in "a", "b":
        btd.tree(name, {"type": "Sleep", "duration": "1ms"})
    btd.tree("held", {"type": "WaitFor", "child": {"type": "PathExists", "path": f"{tmp_path}/go"}})
    btd.start()
    btd.client.subscribe()
    call("SubscribeTo", tree="a", nodes=True)
    assert go("a", "b") == {("a", "NodesChanged")}
    call("SubscribeTo", tree="b")
    call("SubscribeTo", tree="a", events=True)
    assert go("a", "b") == {(tree, member) for tree in "ab" for member in ("NodesChanged", "Events")}
    call("UnsubscribeFrom", tree="b", nodes=True)
    call("UnsubscribeFrom", events=True)  # it has not subscribed to those of all runs
    call("UnsubscribeFrom", tree="a")
    assert go("a", "b") == {("b", "Events")}
    btd.client.manager("Unsubscribe")
    btd.client.start("held")
    call("SubscribeTo", run="held.1")
    (tmp_path / "go").touch()
    wait(lambda: any(s.member == "Events" and s.path.endswith("held_2e1") and s.args[1][-1]["event"] == "success"
                     for s in btd.client.signals), "its end")
    assert go("a", "held") == set()
    for options, told in (({"run": "held.7"}, "no run 'held.7'"),
                          ({"run": "held.2", "tree": "a"}, "'tree' and 'run' exclude each other; give one of them")):
        with pytest.raises(DBusError, match=told):
            call("SubscribeTo", **options)
    for number in range(1024):
        call("SubscribeTo", tree=f"t{number}")
    with pytest.raises(DBusError, match="a program can subscribe to 1024 runs and trees; subscribe to all instead"):
        call("SubscribeTo", tree="more")


@pytest.mark.both_buses("what it keeps for peers that do not read")
def test_one_that_reads_again_is_told_how_all_is(btd, monitor):
    """It hinders nobody. btctl cannot read what it has missed meanwhile, since there is no run record."""
    btd.tree("many", MANY)
    btd.tree("small", {"type": "Log", "name": "Heard", "message": "anything"})
    btd.client.reload()
    while b"Heard" not in monitor.said:  # it has to subscribe first
        assert monitor.process.poll() is None
        btd.client.finish(btd.client.start("small")[1])
    monitor.process.send_signal(signal.SIGSTOP)
    _, path = btd.client.start("many")
    assert btd.client.finish(path) == ("success", "")
    monitor.process.send_signal(signal.SIGCONT)
    wait(lambda: b"AtLast" in monitor.said, "what comes last")
    assert monitor.said.count(b"Step") < TURNS * STEPS
