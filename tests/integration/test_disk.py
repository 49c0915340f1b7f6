# SPDX-License-Identifier: LGPL-2.1-or-later
"""A disk that hangs holds up only what has to be on it, btctl says so, and what was promised is there after a crash; one
that fails costs a warning."""

import json
import os
import re
import signal

import pytest

from client import Client, look, wait
from clock import Clock

MANAGER = "org.btd1.Manager"
NOW = {"type": "AlwaysSuccess"}
BEAT = {"type": "Repeat", "num_cycles": -1, "child": {"type": "Sequence", "children": [
    {"type": "Sleep", "duration": "10ms"}, {"type": "Script", "code": "n = n + 1"}]}}


class Disk:
    """What the daemon takes for a disk, see slow-disk.c."""

    def __init__(self, btd, directory, clock):
        self.btd, self.clock = btd, clock
        self.path = directory / "disk"
        self.options = f"--runtime={directory}/run", f"--state={directory}/state"
        self.history = directory / "state/history"

    def start(self):
        self.btd.start(*self.options, env=self.clock.with_others("slow-disk", SLOW_DISK=self.path))

    def hang(self):
        os.mkfifo(self.path)

    def is_waited_for(self):
        """Is the daemon at it?"""
        try:
            os.close(os.open(self.path, os.O_WRONLY | os.O_NONBLOCK))
        except OSError:
            return False
        return True

    def answer(self):
        """What waits now goes on, and what comes does not wait."""
        fd = os.open(self.path, os.O_WRONLY)
        os.unlink(self.path)
        os.write(fd, b"x")
        os.close(fd)

    def fail(self):
        self.path.touch()

    def finish(self, tree, n=1):
        """Runs of the tree that finish: their names."""
        names = []
        for _ in range(n):
            name, path = self.btd.client.start(tree)
            assert self.btd.client.finish(path) == ("success", "")
            names.append(name)
        return names


@pytest.fixture
def disk(btd, tmp_path, clock):
    btd.tree("now", NOW)
    btd.tree("other", NOW)
    btd.tree("fails", {"type": "AlwaysFailure"}, restart="on-failure", restart_backoff={"initial": "1h"})
    btd.tree("beat", BEAT, blackboard={"n": 0})
    return Disk(btd, tmp_path, clock)


def test_a_disk_that_hangs(disk, btd):
    disk.start()
    btd.client.subscribe()
    _, beat = btd.client.start("beat")
    assert disk.finish("now") == ["now.1"]
    assert btd.client.finish(btd.client.start("fails")[1])[0] == "failure"
    look(lambda: btd.client.get("/org/btd1", MANAGER, "Disk") == "", "the real disk")
    btd.client.signals.clear()
    disk.hang()
    assert "Disk:" not in btd.btctl("status").stdout

    other = Client(btd.bus.address)
    start, halt = other.begin("StartTree", "(sa{sv}a{sv})", "other", {}, {}), other.begin("HaltTree", "(sa{sv})", "other", {})
    wait(disk.is_waited_for, "the disk that is waited for")
    disk.clock.advance(btd, 2)
    btd.client.wait_signal("PropertiesChanged", lambda signal: signal.args[1].get("Disk"))
    trouble = btd.client.get("/org/btd1", MANAGER, "Disk")
    assert re.fullmatch(r"the disk has not answered for [\d.]+s: .+ to " + re.escape(str(disk.history.parent)) + "/.+",
                        trouble)
    assert re.search(r"^ +Disk: the disk has not answered for ", btd.btctl("status").stdout, re.M)
    assert json.loads(btd.btctl("status", "--json").stdout)["disk"].startswith("the disk has not answered for ")

    def beats():
        return btd.client.variable(beat, "n")
    before = beats()
    assert disk.finish("now", 3) == ["now.2", "now.3", "now.4"], "their numbers are there"
    assert btd.client.finish(btd.client.start("fails")[1])[0] == "failure", "a restart is noted on no disk"
    look(lambda: beats() >= before + 10, "the beats")
    assert btd.btctl("history").stdout.count("now.") == 4, "what has finished is history, wherever it is"
    assert btd.btctl("show", "now.4").returncode == 0
    assert disk.is_waited_for() and not start and not halt

    disk.answer()
    wait(lambda: start and halt, "the answers, in order")
    assert start[0][0] == "other.1" and halt in ([([], 0)], [(["other.1"], 0)])
    btd.client.wait_signal("PropertiesChanged", lambda signal: signal.args[1].get("Disk") == "")
    assert btd.stop() == 0
    assert {path.name for path in disk.history.glob("*.journal")} == \
        {f"{run}.journal" for run in ("now.1", "now.2", "now.3", "now.4", "other.1", "beat.1", "fails.1", "fails.2")}
    assert re.search(r"warning: the disk has not answered for [\d.]+s: .*; only work that needs this disk waits\n", btd.log())
    assert "btd: the disk answers again\n" in btd.log()


def test_killed_while_the_disk_hangs(disk, btd):
    """What was answered is there afterwards; what was not, has not begun."""
    disk.start()
    disk.finish("now")
    disk.hang()
    other = Client(btd.bus.address)
    start = other.begin("StartTree", "(sa{sv}a{sv})", "other", {}, {})
    runs = disk.finish("now", 5)
    wait(disk.is_waited_for, "the disk that is waited for")
    assert not start
    btd.stop(signal.SIGKILL)
    disk.path.unlink()

    disk.start()
    assert re.findall(r"now\.\d+", btd.btctl("history").stdout)[::-1] == ["now.1", *runs]
    assert disk.finish("other") and disk.finish("now")[0] not in runs
    assert btd.stop() == 0
    assert {path.name for path in disk.history.iterdir()} > {f"{run}.journal" for run in ["now.1", *runs]}


def test_stopped_while_the_disk_hangs(disk, btd, tmp_path):
    """The end waits for it only so long; what is not written is still there for the next btd. Nothing can set the clock of
    btd forward while it waits, so it is ten times as fast."""
    disk.clock = Clock(tmp_path, 10)
    disk.start()
    disk.finish("now")
    wait(lambda: list(disk.history.glob("*.journal")), "the first to be written")
    disk.hang()
    disk.finish("now", 2)
    assert btd.stop() == 0
    assert re.search(r"warning: the disk has not answered for [\d.]+s: .*; not waiting for it any longer\n", btd.log())
    disk.path.unlink()
    disk.start()
    assert len(re.findall(r"now\.\d+", btd.btctl("history").stdout)) == 3
    assert btd.stop() == 0
    assert len(list(disk.history.glob("*.journal"))) == 3


def test_a_disk_that_fails(disk, btd):
    disk.fail()
    disk.start()
    assert disk.finish("now", 2) == ["now.1", "now.2"]
    btd.wait_log("wait in")
    assert btd.stop() == 0
    directory = disk.history.parent
    assert f"warning: numbers of runs may be used again after a restart, because {directory}/numbers cannot be written: " \
        "Input/output error\n" in btd.log()
    assert re.search(r"warning: run records of finished runs wait in \S+ until the disk takes them: "
                     f"{disk.history} cannot be synced: Input/output error\n", btd.log())
    assert len(list(disk.history.glob("*.journal"))) == 2
