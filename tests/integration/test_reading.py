# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that trees are read on other threads: a disk that hangs delays only what reads from it."""

import json
import os
import re
import time

import pytest
from gi.repository import GLib

import daemon
from client import PATIENCE, Client, variants, wait

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

    def await_reader(self):
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                return os.close(os.open(self.path, os.O_WRONLY | os.O_NONBLOCK))
            except OSError:
                assert time.monotonic() < deadline, "waited for the daemon to read"
                time.sleep(0.005)


def start(btd, *arguments):
    preloaded = os.path.join(daemon.BUILD, "tests", "integration", "slow-read.so")
    sanitizer = daemon.SANITIZER_ENV["ASAN_OPTIONS"] + ":verify_asan_link_order=0"
    btd.start(*arguments, env={"LD_PRELOAD": preloaded, "ASAN_OPTIONS": sanitizer})


@pytest.fixture
def disk(btd):
    btd.tree("now", NOW)
    btd.tree("beat", BEAT, blackboard={"n": 0})
    disk = Disk(btd.tree("slow", NOW))
    start(btd)
    return disk


def test_a_disk_that_hangs(disk, btd):
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

    def beats():
        return btd.client.variable(beat, "n")
    before = beats()
    path = re.escape(os.path.join(btd.trees, "slow.json"))
    btd.client.wait_signal("PropertiesChanged", lambda signal: signal.args[1].get("Disk"))
    trouble = btd.client.get("/org/btd1", MANAGER, "Disk")
    assert re.match(rf"the disk has not answered for [\d.]+s: a reload reads {path}", trouble)
    wait(lambda: re.search(rf"; the disk has not answered for [\d.]+s: .+ reads {path}$",
                           btd.client.get("/org/btd1", MANAGER, "Disk")), "the text, which reads the same file")
    assert re.search(r"^ +Disk: the disk has not answered for ", btd.btctl("status").stdout, re.M)
    wait(lambda: beats() > before + 20, "the beats")
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


def test_a_path_that_hangs(btd, tmp_path):
    """Only who asks for it waits, and a halt does not wait, either."""
    far, near = tmp_path / "far", tmp_path / "near"
    far.mkdir()
    (far / "file").touch()
    near.touch()
    btd.tree("beat", BEAT, blackboard={"n": 0})
    btd.tree("far", {"type": "PathExists", "name": "Far", "path": f"{far}/file"})
    btd.tree("near", {"type": "PathExists", "path": str(near)})
    disk = Disk(str(far))
    start(btd)
    btd.client.subscribe()
    _, beat = btd.client.start("beat")
    disk.hang()
    _, halted = btd.client.start("far")
    disk.await_reader()

    def beats():
        return btd.client.variable(beat, "n")
    before = beats()
    wait(lambda: beats() > before + 20, "the beats")
    assert f"waits for the file system of {far}/file" in btd.btctl("status", "far").stdout
    assert btd.client.finish(btd.client.start("near")[1]) == ("success", "")
    assert btd.btctl("halt", "far").returncode == 0
    assert btd.client.finish(halted)[0] == "halted"
    _, again = btd.client.start("far")
    disk.answer()
    assert btd.client.finish(again) == ("success", "")


def test_a_history_that_hangs(btd, tmp_path):
    """Who asks for what is in it waits, and nobody else; what is known by then is read no more."""
    btd.tree("now", NOW)
    btd.tree("beat", BEAT, blackboard={"n": 0})
    places = f"--runtime={tmp_path}/run", f"--state={tmp_path}/state"
    start(btd, *places)
    assert btd.client.finish(btd.client.start("now")[1]) == ("success", "")
    btd.stop()
    disk = Disk(f"{tmp_path}/state/history/now.1.journal")
    start(btd, *places)
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

    def beats():
        return btd.client.variable(beat, "n")
    before = beats()
    wait(lambda: beats() > before + 20, "the beats")
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
