# SPDX-License-Identifier: LGPL-2.1-or-later
"""Kept variables: the next run of a tree and instance gets their last values, also after a restart of the machine."""

import json
import os
import shutil
import signal

import pytest

import client

COUNT = {"type": "Script", "code": "n = n + 1; list = {n, 'ü'}"}
KEPT = {"n": {"type": "int", "default": 0, "kept": True}, "list": {"type": "any", "default": None, "kept": True},
        "other": {"type": "int", "default": 7}}


@pytest.fixture
def places(btd, tmp_path):
    """Starts btd with these directories; boot() as if the machine had been restarted."""
    class Places:
        options = f"--runtime={tmp_path}/run", f"--state={tmp_path}/state"
        directory = tmp_path / "state/kept"

        def boot(self):
            btd.stop()
            shutil.rmtree(tmp_path / "run")
            btd.start(*self.options)

    btd.tree("count", COUNT, inputs=KEPT)
    return Places()


def kept(btd, place):
    result = btd.btctl("kept", place, "--json")
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def run(btd, *arguments):
    assert btd.btctl("start", *arguments, "--wait").returncode == 0
    return btd.btctl("get", arguments[0]).stdout.splitlines()


def test_the_next_run_has_the_last_value(btd, places):
    btd.start(*places.options)
    assert kept(btd, "count") == {}
    assert run(btd, "count", "--set", "other=1") == ["list=[1,\"ü\"]", "n=1", "other=1"]
    assert run(btd, "count") == ["list=[2,\"ü\"]", "n=2", "other=7"]

    # What a user gives wins; the next run has what was made of it. A restart by hand does not go back.
    assert run(btd, "count", "--set", "n=10")[1] == "n=11"
    assert btd.btctl("restart", "count.3", "--wait").returncode == 0
    assert btd.btctl("get", "count", "n").stdout == "12\n"

    # Each instance has its own.
    assert run(btd, "count@b")[1] == "n=1"
    assert run(btd, "count")[1] == "n=13"

    places.boot()
    assert btd.btctl("kept", "count").stdout == "n=13\nlist=[13,\"ü\"]\n"
    assert kept(btd, "count@b") == {"n": 1, "list": [1, "ü"]}
    assert run(btd, "count")[1] == "n=14"


def test_what_the_record_has(btd, places):
    """The values are in the header of the run record: a replay does not need those of today."""
    btd.start(*places.options)
    run(btd, "count")
    run(btd, "count")
    assert 'n=1, list=[1,"ü"]' in btd.btctl("show", "count.2").stdout


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_run_that_has_not_ended(btd, places, number):
    """Changes are stored while the run is running; a pause does not hold back what a user sets."""
    btd.tree("waits", {"type": "Sequence", "children": [COUNT, {"type": "Sleep", "name": "Nap", "duration": "infinity"}]},
             inputs=KEPT)
    btd.start(*places.options)
    _, path = btd.client.start("waits")
    btd.client.wait_node(path, "Nap", "running")
    stored = places.directory / "waits.json"
    client.look(lambda: stored.exists() and json.loads(stored.read_text())["values"] == {"n": 1, "list": [1, "ü"]},
                "the values")
    assert btd.btctl("pause", "waits").returncode == 0
    btd.client.set_variables(path, n=50)
    client.look(lambda: json.loads(stored.read_text())["values"]["n"] == 50, "the value of the user")

    btd.stop(number)
    shutil.rmtree(places.options[0].partition("=")[2])
    btd.start(*places.options)
    _, path = btd.client.start("waits")
    btd.client.wait_node(path, "Nap", "running")
    assert btd.client.variable(path, "n") == 51


def test_a_restart_by_btd(btd, places):
    """Also when the first start has given a value."""
    btd.tree("again", {"type": "Sequence", "children": [COUNT, {"type": "Condition", "test": "n >= 8"}]}, inputs=KEPT,
             restart="on-failure", restart_backoff={"initial": "1ms"})
    btd.start(*places.options)
    assert btd.btctl("start", "again", "--set", "n=5", "--wait").returncode == 0
    assert btd.btctl("get", "again", "n").stdout == "8\n"
    assert btd.client.runs()[-1].id == "again.3"


def test_values_that_the_tree_does_not_take(btd, places):
    btd.start(*places.options)
    run(btd, "count")
    btd.tree("count", COUNT, inputs={"n": {"type": "string", "default": "1", "kept": True},
                                     "list": {"type": "any", "default": None}})
    btd.client.reload()
    run(btd, "count")
    assert "count: the kept value of 'n' is not used: expected a string, but got 1\n" in btd.log()
    # What is not declared as kept any more stays, but is not given.
    assert btd.btctl("get", "count", "n").stdout == "2\n"
    assert kept(btd, "count") == {"n": 2, "list": [1, "ü"]}


def test_a_default_is_not_stored(btd, places):
    btd.tree("idle", {"type": "AlwaysSuccess"}, inputs=KEPT)
    btd.start(*places.options)
    run(btd, "idle")
    assert kept(btd, "idle") == {}
    run(btd, "idle", "--set", "n=3")
    run(btd, "idle", "--set", "n=0")
    assert kept(btd, "idle") == {"n": 0}


def test_forget(btd, places):
    btd.tree("waits", {"type": "Sleep", "name": "Nap", "duration": "infinity"}, inputs=KEPT)
    btd.start(*places.options)
    run(btd, "count")
    assert btd.btctl("forget", "count", "n").returncode == 0
    assert btd.btctl("kept", "count").stdout == "list=[1,\"ü\"]\n"
    result = btd.btctl("forget", "count", "list", "n")
    assert (result.returncode, result.stderr) == (1, "btctl: no value of 'n' is kept\n")
    assert btd.btctl("forget", "count").returncode == 0
    assert kept(btd, "count") == {}
    client.look(lambda: not (places.directory / "count.json").exists(), "the end of the file")
    result = btd.btctl("forget", "count")
    assert (result.returncode, result.stdout + result.stderr) == (0, "'count' has no kept variables\n")
    assert "count: the kept value of 'list' was forgotten by UID" in btd.log()

    btd.client.start("waits", variables={"n": 5})
    result = btd.btctl("forget", "waits")
    assert (result.returncode, result.stderr) == (
        1, "btctl: waits.1 is running and has the kept variables; halt it first, or set them in it with 'btctl set'\n")
    assert btd.btctl("halt", "waits", "--wait").returncode == 0
    # The values of a tree that was removed can still be forgotten.
    (places.directory.parent.parent / "trees/waits.json").unlink()
    btd.client.reload()
    assert kept(btd, "waits") == {"n": 5}
    assert btd.btctl("forget", "waits").returncode == 0
    assert btd.btctl("kept", "waits").stderr == "btctl: no tree 'waits'; 'btctl list' shows the trees\n"


def test_damaged_files(btd, places):
    places.directory.mkdir(parents=True)
    (places.directory / "count.json").write_text('{"uid": 0, "values": {"n": 5}')
    (places.directory / "count@b.json").write_text('{"uid": 0, "values": {"n": 5}}')
    os.mkfifo(places.directory / "count@c.json")
    btd.start(*places.options)
    for name in "count", "count@c":
        btd.wait_log(f"{places.directory}/{name}.json: the file of kept variables is damaged, so the next run does not get "
                     "them\n")
    assert run(btd, "count")[1] == "n=1"
    assert run(btd, "count@b")[1] == "n=6"


def test_files_that_cannot_be_written(btd, places):
    """What cannot be stored is tried again; without a restart of btd, nothing is lost."""
    places.directory.parent.mkdir()
    places.directory.touch()
    btd.start(*places.options)
    run(btd, "count")
    btd.wait_log("the kept variables of 'count' are not stored: Not a directory\n")
    assert run(btd, "count")[1] == "n=2"
    places.directory.unlink()
    run(btd, "count")
    btd.stop()
    assert json.loads((places.directory / "count.json").read_text())["values"]["n"] == 3


def test_limit(btd, places):
    btd.tree("large", {"type": "Script", "code": "list = string.rep('x', 1000000)"}, inputs=KEPT)
    btd.start(*places.options, "--limit=variables-kib=2048")
    for i in range(17):
        run(btd, f"large@{i}")
    assert "large.17: the value of 'list' is not kept: all kept variables have 16 MiB at most\n" in btd.log()
    assert kept(btd, "large@16") == {}
