#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes golden records with the btd of a build; see README.md.

usage: BTD_BUILD=DIRECTORY tests/records/make.py [PREFIX]
"""

import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))

# pylint: disable=wrong-import-position
import buses
from gi.repository import GLib
from client import look
from daemon import BTCTL, Daemon
from records import sign
from state_trees import BLACKBOARD, BROKEN, LOOP, NIGHT, PATH, RERUN, SLOW, SUBTREES, WATCH, WORK


def write_events(record):
    shown = subprocess.run([BTCTL, "show", str(record), "--ascii", "-q"], capture_output=True, text=True, check=True)
    record.with_suffix(".events").write_text(shown.stdout, encoding="utf-8")


# What it waits for never comes, and why it does not come changes.
COUNT = {"type": "WaitFor", "name": "Crowd", "child": {
    "type": "DBusProperty", "name": "Many", "destination": "org.btd1", "path": "/org/btd1",
    "interface": "org.btd1.Manager", "property": "NRunning", "equals": 1000}}
# Its children end in the same tick, so the machine asks for the next tick after the interval.
# There is no logind on this bus.
FLASH = {"type": "Inhibit", "what": "shutdown", "child": {"type": "AlwaysSuccess"}}
# While it waits, signals come that it keeps, and one that it misses.
DOOR = {"type": "KeepRunningUntilFailure", "child": {"type": "Sequence", "children": [
    {"type": "DBusSignal", "name": "Ring", "interface": "org.example.Door", "member": "Rang", "queue": 2, "outputs": ["n"]},
    {"type": "WaitFor", "name": "Busy", "child": {"type": "Condition", "test": "go"}}]}}
SPIN = {"type": "KeepRunningUntilFailure", "child": {"type": "AlwaysSuccess"}}


class Maker:
    """A btd on a bus, and what is to be kept of its runs."""

    def __init__(self, bus, directory, prefix):
        self.directory = pathlib.Path(directory)
        self.prefix = prefix
        self.btd = Daemon(bus, directory)
        for name, root, keys in [
                ("work", WORK, {}), ("slow", SLOW, {}), ("loop", LOOP, {}), ("broken", BROKEN, {}),
                ("rerun", RERUN, {}), ("watch", WATCH, {}), ("count", COUNT, {}), ("night", NIGHT, {}), ("spin", SPIN, {}),
                ("flash", FLASH, {}), ("door", DOOR, {}),
                ("fails", {"type": "AlwaysFailure"}, {
                    "restart": "on-failure", "restart_backoff": {"initial": "1ms"}, "restart_limit": {"burst": 1}})]:
            self.btd.tree(name, root, trees=SUBTREES, blackboard=BLACKBOARD, **keys)

    def start(self, *options, suspended=0):
        """suspended: for how many seconds the machine was, in all; more than 0 takes root."""
        within = ["unshare", "--time", "--boottime", str(suspended)] if suspended else []
        self.btd.start(f"--runtime={self.directory}/run", f"--state={self.directory}/state", *options, within=within,
                       env={"NOTIFY_SOCKET": str(self.directory / "deaf")})

    def restart(self, how, suspended=0):
        self.btd.stop(how)
        self.start(suspended=suspended)
        look(self.btd.client.runs, "the runs")

    def path(self, run, state="run/runs"):
        return self.directory / state / f"{run}.journal"

    def keep(self, name, run, state="run/runs"):
        """Of a run that goes on, as far as it has come."""
        look(self.path(run, state).exists, f"{run} in {state}")
        record = self.path(run, state).read_bytes().replace(str(self.btd.trees).encode(), b"/etc/btd/trees")
        record = re.sub(rb'"boot":"[0-9a-f]+"', b'"boot":"0123456789abcdef0123456789abcdef"', record, count=1)
        target = HERE / f"{self.prefix}-{name}.journal"
        target.write_bytes(sign(record))
        write_events(target)

    def run(self, tree, calls=()):
        run, path = self.btd.client.start(tree)
        for member, signature, *values in calls:
            self.btd.client.call(path, "org.btd1.Run", member, signature, *values)
        return run, path

    def node(self, path, name):
        return self.btd.client.nodes(path)[name]

    def await_node(self, path, name, status):
        look(lambda: self.node(path, name)["status"] == status, f"{name} to be {status}")

    def await_work(self, path):
        self.await_node(path, "Rounds", "success")
        self.await_node(path, "Until then", "halted")
        self.await_node(path, "Until", "failure")
        look(lambda: self.node(path, "First")["status"] == "success", "the lock")

    def make(self):
        self.start()
        run, path = self.run("work")
        self.await_work(path)
        self.keep("running", run)
        call = self.btd.client.call
        call(path, "org.btd1.Run", "SetBreakpoint", "ub", self.node(path, "Again")["index"] + 1, True)
        self.btd.client.set_variables(path, n=50)
        self.await_node(path, "Meanwhile", "halted")
        call(path, "org.btd1.Run", "Force", "us", self.node(path, "Limit")["index"], "success")
        self.await_node(path, "Limited", "success")
        call(path, "org.btd1.Run", "Pause", "")
        self.btd.client.set_variables(path, go=True)
        call(path, "org.btd1.Run", "Step", "")
        self.keep("paused", run)
        call(path, "org.btd1.Run", "Resume", "")
        self.restart(signal.SIGKILL)
        self.keep("recovered", run)
        self.restart(signal.SIGTERM)
        self.keep("left", run)
        assert self.btd.btctl("halt", "work", "--wait").returncode == 0
        self.keep("halted", run, "state/history")

        run, path = self.run("flash")
        self.btd.client.finish(path)
        self.keep("refused", run, "state/history")

        run, path = self.run("slow")
        call(path, "org.btd1.Run", "SetBreakpoint", "ub", self.node(path, "Clean")["index"], True)
        call(path, "org.btd1.Run", "Force", "us", self.node(path, "Body")["index"], "success")
        look(lambda: self.node(path, "Clean")["detail"] == "paused at a breakpoint", "the breakpoint")
        self.keep("at-breakpoint", run)
        self.btd.client.halt_run(run)
        self.keep("halting", run)

        run, path = self.run("door")
        look(lambda: "signal" in self.node(path, "Ring")["detail"], "the connection")
        for number in range(4):
            self.btd.client.connection.emit_signal(None, "/", "org.example.Door", "Rang", GLib.Variant("(u)", (number,)))
        look(lambda: self.node(path, "Ring")["detail"] == "2 signals queued; 1 signal missed", "the signals")
        self.restart(signal.SIGTERM)
        self.keep("queue", run)
        assert self.btd.btctl("halt", "door", "--wait").returncode == 0

        run, path = self.run("rerun")
        self.await_node(path, "Process", "running")
        self.restart(signal.SIGKILL)
        self.await_node(path, "Process", "running")
        self.keep("run-again", run)
        assert self.btd.btctl("halt", "rerun", "--wait").returncode == 0

        run, path = self.run("watch")
        self.await_node(path, "Meanwhile", "running")
        pathlib.Path(PATH).touch()
        assert self.btd.client.finish(path)[0] == "success"
        os.unlink(PATH)
        self.keep("watched", run, "state/history")
        run, path = self.run("count")
        self.run("loop")
        look(lambda: b" reason " in self.path(run).read_bytes(), "another reason")
        self.keep("counting", run)
        assert self.btd.btctl("halt", "count", "loop", "--wait").returncode == 0
        run, path = self.run("broken")
        assert self.btd.client.finish(path)[0] == "error"
        self.keep("in-error", run, "state/history")
        run, path = self.run("spin")
        look(lambda: b" interval" in self.path(run).read_bytes(), "the interval")
        self.keep("spinning", run)
        assert self.btd.btctl("halt", "spin", "--wait").returncode == 0
        self.run("fails")
        look(lambda: self.path("fails.2", "state/history").exists(), "the second try")
        self.keep("restarted", "fails.2", "state/history")
        self.btd.stop(signal.SIGKILL)

        self.start(suspended=1000)
        run, path = self.run("night")
        self.await_node(path, "Nap", "running")
        self.restart(signal.SIGKILL, suspended=4600)
        self.await_node(path, "Nap", "success")
        self.await_node(path, "Limit", "failure")
        self.keep("suspended", run)
        self.restart(signal.SIGTERM, suspended=4600)
        self.keep("suspended-left", run)
        self.btd.stop(signal.SIGKILL)

        self.start("--limit=journal-kib=64")
        run, path = self.run("loop")
        look(lambda: self.path(run).read_bytes().count(b" snapshot ") == 2, "two snapshots")
        self.keep("long", run)
        self.btd.stop(signal.SIGKILL)


def main():
    if len(sys.argv) < 2:
        for record in sorted(HERE.glob("*.journal")):
            write_events(record)
        return
    with tempfile.TemporaryDirectory() as directory:
        bus = buses.Bus("dbus-daemon")
        try:
            Maker(bus, directory, sys.argv[1]).make()
        finally:
            bus.close()


if __name__ == "__main__":
    main()
