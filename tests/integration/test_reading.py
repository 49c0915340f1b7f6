# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that trees are read on other threads: a disk that hangs delays only what reads from it."""

import contextlib
import json
import os
import pathlib
import re

import pytest
from gi.repository import GLib

import daemon
from client import Client, look, variants, wait

MANAGER = "org.btd1.Manager"
NOW = {"type": "AlwaysSuccess"}
BEAT = {"type": "Repeat", "num_cycles": -1, "child": {"type": "Sequence", "children": [
    {"type": "Sleep", "duration": "10ms"}, {"type": "Script", "code": "n = n + 1"}]}}
USES_SLOW = json.dumps({"btd": 1, "include": ["slow"], "root": NOW})


class Disk:
    """That of one file, see slow-read.c."""

    def __init__(self, path):
        self.path = path + ".hangs"

    def hang(self):
        os.mkfifo(self.path)

    def answer(self):
        """Whoever waits goes on, and nobody waits any more."""
        fd = os.open(self.path, os.O_WRONLY)
        os.unlink(self.path)
        os.write(fd, b"xxxx")
        os.close(fd)

    def is_read(self):
        """Does somebody wait?"""
        try:
            os.close(os.open(self.path, os.O_WRONLY | os.O_NONBLOCK))
        except OSError:
            return False
        return True

    def await_reader(self):
        wait(self.is_read, "the daemon to read")


@pytest.fixture
def start(btd, clock):
    """Starts the daemon with such disks."""
    return lambda *options: btd.start(*options, env=clock.with_others("slow-read"))


@pytest.fixture
def disk(btd, start):
    btd.tree("now", NOW)
    btd.tree("beat", BEAT, blackboard={"n": 0})
    disk = Disk(btd.tree("slow", NOW))
    start()
    return disk


def await_beats(btd, path, n):
    """That the run with the beats goes on."""
    before = btd.client.variable(path, "n")
    look(lambda: btd.client.variable(path, "n") > before + n, "the beats")


def test_a_disk_that_hangs(disk, btd, clock):
    btd.client.subscribe()
    _, beat = btd.client.start("beat")
    disk.hang()
    assert btd.client.get("/org/btd1", MANAGER, "Disk") == ""
    other = Client(btd.bus.address)
    reloads = [other.begin("Reload", "(a{sv})", {})]
    disk.await_reader()
    btd.tree("new", NOW)
    reloads += [other.begin("Reload", "(a{sv})", {}), other.begin("Reload", "(a{sv})", {})]
    text = other.begin("StartText", "(ssa{sv}a{sv})", "mine", USES_SLOW, {}, {})

    path = re.escape(os.path.join(btd.trees, "slow.json"))
    clock.advance(btd, 2)
    btd.client.wait_signal("PropertiesChanged", lambda signal: signal.args[1].get("Disk"))
    trouble = btd.client.get("/org/btd1", MANAGER, "Disk")
    assert re.match(rf"the disk has not answered for [\d.]+s: a reload reads {path}", trouble)
    clock.advance(btd, 2)
    look(lambda: re.search(rf"; the disk has not answered for [\d.]+s: .+ reads {path}$",
                           btd.client.get("/org/btd1", MANAGER, "Disk")), "the text, which reads the same file")
    assert re.search(r"^ +Disk: the disk has not answered for ", btd.btctl("status").stdout, re.M)
    await_beats(btd, beat, 20)
    assert btd.client.finish(btd.client.start("now")[1]) == ("success", "")
    assert btd.client.finish(btd.client.start_text("quick", btd_text(NOW))[1])[0] == "success"
    assert not any(reloads) and not text

    disk.answer()
    wait(lambda: all(reloads) and text, "the answers")
    assert reloads == [[([],)]] * 3 and text[0][0] == "mine.1"
    assert btd.client.manager("GetTree", "s", "new")
    btd.client.wait_signal("PropertiesChanged", lambda signal: signal.args[1].get("Disk") == "")
    assert re.search(rf"warning: the disk has not answered for [\d.]+s: .*{path}.*; only work that reads from it waits\n",
                     btd.log())
    assert "btd: the disk answers again\n" in btd.log()
    other.close()


def btd_text(root):
    return daemon.tree_text(root)


def test_stopped_while_the_disk_hangs(disk, btd):
    """The end does not wait for it, and those who wait are told."""
    disk.hang()
    other = Client(btd.bus.address)
    answers = [other.begin("Reload", "(a{sv})", {}), other.begin("StartText", "(ssa{sv}a{sv})", "mine", USES_SLOW, {}, {})]
    other.get("/org/btd1", MANAGER, "Disk")  # what came before it has been read from the bus, too
    disk.await_reader()
    assert btd.stop() == 0  # still nobody answers
    wait(lambda: all(answers), "the answers")
    assert [re.sub("^GDBus[^ ]* ", "", answer[0]) for answer in answers] == [
        "btd is stopping and loads nothing any more",
        "btd is stopping and starts nothing any more"]
    other.close()


def test_a_path_that_hangs(btd, tmp_path, start):
    """Only who asks for it waits, and a halt does not wait, either."""
    far, near = tmp_path / "far", tmp_path / "near"
    far.mkdir()
    (far / "file").touch()
    near.touch()
    btd.tree("beat", BEAT, blackboard={"n": 0})
    btd.tree("far", {"type": "PathExists", "name": "Far", "path": f"{far}/file"})
    btd.tree("near", {"type": "PathExists", "path": str(near)})
    disk = Disk(str(far))
    start()
    btd.client.subscribe()
    _, beat = btd.client.start("beat")
    disk.hang()
    _, halted = btd.client.start("far")
    disk.await_reader()

    await_beats(btd, beat, 20)
    assert f"waits for the file system of {far}/file" in btd.btctl("status", "far").stdout
    assert btd.client.finish(btd.client.start("near")[1]) == ("success", "")
    assert btd.btctl("halt", "far").returncode == 0
    assert btd.client.finish(halted)[0] == "halted"
    _, again = btd.client.start("far")
    disk.answer()
    assert btd.client.finish(again) == ("success", "")


def test_a_history_that_hangs(btd, tmp_path, start):
    """Who asks for what is in it waits, and nobody else; what is known by then is read no more."""
    btd.tree("now", NOW)
    btd.tree("beat", BEAT, blackboard={"n": 0})
    places = f"--runtime={tmp_path}/run", f"--state={tmp_path}/state"
    start(*places)
    assert btd.client.finish(btd.client.start("now")[1]) == ("success", "")
    btd.stop()
    disk = Disk(f"{tmp_path}/state/history/now.1.journal")
    start(*places)
    btd.client.subscribe()
    _, beat = btd.client.start("beat")
    disk.hang()

    asker = Client(btd.bus.address)
    lists = [asker.begin("ListHistory", "(a{sv})", options)
             for options in ({}, variants({"tree": "now"}), variants({"tree": "other"}))]
    disk.await_reader()
    outcome = asker.begin("GetOutcome", "(ssa{sv})", "now", "now.1", {})
    record = asker.begin("GetRecord", "(st)", "now.1", 0)
    begun = asker.begin("StartTree", "(sa{sv}a{sv})", "now", {}, {"token": GLib.Variant("s", "now.1")})
    gone = Client(btd.bus.address)
    gone.begin("GetRecord", "(st)", "now.1", 0)
    gone.close()

    await_beats(btd, beat, 20)
    assert btd.client.finish(btd.client.start("now")[1]) == ("success", "")
    assert btd.client.outcome("beat", "beat.1")["id"] == "beat.1"
    assert not any([*lists, outcome, record, begun])

    disk.answer()
    wait(lambda: all([*lists, outcome, record, begun]), "the answers")
    assert [row["id"] for row in lists[0][0][0]] == [row["id"] for row in lists[1][0][0]] == ["now.1", "now.2"]
    assert lists[2] == [([],)]
    assert outcome[0][0]["id"] == begun[0][0] == "now.1" and outcome[0][0]["status"] == "success" and begun[0][2]["started"] is False
    assert bytes(record[0][0]).startswith(b"btd-journal ")
    disk.hang()
    assert [row["id"] for row in btd.client.history(tree="now")] == ["now.1", "now.2"]


def n_workers(btd):
    """The number of threads that read, with those that are about to exit."""
    names = []
    for name in pathlib.Path(f"/proc/{btd.process.pid}/task").glob("*/comm"):
        with contextlib.suppress(OSError):
            names.append(name.read_text())
    return names.count("btd-work\n")


def test_many_readers_of_events_share_two_threads(btd, tmp_path, start):
    """Each replay takes much memory."""
    btd.tree("now", NOW)
    start(f"--runtime={tmp_path}/run", f"--state={tmp_path}/state")
    run, path = btd.client.start("now")
    assert btd.client.finish(path) == ("success", "")
    last = btd.client.run_property(path, "LastEvent")
    record = tmp_path / f"state/history/{run}.journal"
    wait(record.exists, "the record in the history")
    disk = Disk(str(record))
    disk.hang()
    answers = [btd.client.begin("GetEvents", "(st)", run, last - 1) for _ in range(32)]
    wait(lambda: n_workers(btd) == 2, "two threads that read")
    btd.client.get("/org/btd1", MANAGER, "Version")  # by now all calls have been read
    assert n_workers(btd) == 2
    disk.answer()
    wait(lambda: all(answers), "the answers")
    assert [[event["number"] for event in answer[0][0]] for answer in answers] == [[last]] * 32
