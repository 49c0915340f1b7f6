# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests btctl on the run records that btd has left, without btd."""

import json
import pathlib
import re
import shutil
import signal

import pytest

from btctl_runs import GOOD, LONG, SOURCE, UTF8, btctl

RECORDS = pathlib.Path(SOURCE, "tests", "records")


@pytest.fixture
def left(btd, tmp_path):
    """The directories of a user's btd that was killed: boot.1 has succeeded; boot.2 and stay.1 are not finished.
    Returns a function that runs btctl --user there."""
    btd.tree("boot", {"type": "Sequence", "name": "Boot", "children": [
        GOOD["children"][0], {**LONG, "skip_if": "not long"}]}, blackboard={"long": False})
    btd.tree("stay", LONG)
    home = tmp_path / "home"
    btd.start(f"--runtime={home}/run/btd", f"--state={home}/state/btd")
    btd.client.finish(btd.client.start("boot")[1])
    btd.client.start("boot", "eth0", {"long": "true"})
    btd.client.start("stay")
    btd.stop(signal.SIGKILL)

    environment = {"XDG_STATE_HOME": f"{home}/state", "XDG_RUNTIME_DIR": f"{home}/run",
                   "DBUS_SESSION_BUS_ADDRESS": btd.bus.address, **UTF8}
    return lambda *arguments: btctl("--user", *arguments, env=environment)


def where(tmp_path):
    """The message about the directories."""
    run, state = tmp_path / "home/run/btd", tmp_path / "home/state/btd"
    names = [str(path) for path in (run / "runs", run / "finished", state / "history") if path.exists()]
    return "btctl: btd is not running; these are the run records in " + ", ".join(names[:-1]) + f" and {names[-1]}\n"


def test_the_history(left, tmp_path):
    status, output, told = left("history")
    assert (status, told) == (0, where(tmp_path))
    head, line = output.splitlines()
    assert head.split() == ["RUN", "RESULT", "STARTED", "TOOK", "CAUSE"]
    assert line.startswith("boot.1  ✓ success  20")
    assert left("history", "-q") == (0, output, "")
    assert left("history", "boot").stdout == output
    assert left("history", "stay") == (0, "no run of 'stay' has finished yet\n", where(tmp_path))
    assert [(run["id"], run["status"]) for run in json.loads(left("history", "--json").stdout)] == \
        [("boot.1", "success")]


def test_waits_for_what_has_finished(left):
    for operand in "boot.1", "boot@":
        assert re.fullmatch(r"✓ boot.1: success after .*\n", left("wait", operand).stdout)
    assert json.loads(left("wait", "boot.1", "--json").stdout)["status"] == "success"
    for operand in "boot", "boot.2", "stay", "none", "none.1":
        assert left("wait", operand) == (5, "", "btctl: btd is not running; start it with 'systemctl --user start btd'\n")
    assert left("wait", "stay", "boot.1")[:1] == (5,)


def test_lists_runs(left, tmp_path):
    status, output, told = left("list")
    assert (status, told) == (0, where(tmp_path))
    assert output.splitlines() == ["TREE  RUNS", "boot  boot.2 (eth0) unfinished, boot.1 success",
                                   "stay  stay.1 unfinished"]
    trees = json.loads(left("list", "--json").stdout)
    assert [(tree["name"], [run["id"] for run in tree["runs"]]) for tree in trees] == \
        [("boot", ["boot.2", "boot.1"]), ("stay", ["stay.1"])]


@pytest.mark.parametrize("operand, run", [("boot.1", "boot.1"), ("boot", "boot.2"), ("boot@eth0", "boot.2"),
                                          ("boot@", "boot.1"), ("stay", "stay.1")])
def test_shows_runs(left, tmp_path, operand, run):
    status, output, told = left("show", operand)
    assert (status, told) == (0, where(tmp_path))
    assert output.startswith(f"{run}{' (eth0)' if run == 'boot.2' else ''} of tree '{run[:4]}', started ")
    for verb in "status", "replay":
        status, output, told = left(verb, operand)
        assert (status, told) == (0, where(tmp_path))
        assert output.startswith("✓ boot.1: success after" if run == "boot.1" else f"● {run}{' (eth0)' if run == 'boot.2' else ''}: unfinished after")
    status, output, told = left("plot", operand)
    assert (status, told) == (0, where(tmp_path)) and output.startswith("<svg ")


def test_words_for_completion(left):
    past = left("complete", "past")
    assert (past.stdout, past.stderr) == ("boot.1\n", "")


@pytest.mark.parametrize("operand", ["boot.7", "net", "boot@eth1"])
def test_no_such_run(left, tmp_path, operand):
    places = where(tmp_path).split(" records in ")[1]
    for verb in "show", "status", "plot", "graph", "replay":
        assert left(verb, operand) == (1, "", f"{where(tmp_path)}btctl: there is no run record of '{operand}' in {places}")


def test_what_needs_btd(left):
    for arguments in ["status"], ["start", "boot"], ["cat", "boot"]:
        assert left(*arguments) == (5, "", "btctl: btd is not running; start it with 'systemctl --user start btd'\n")


def test_btd_is_asked_if_it_runs(left, btd, tmp_path):
    btd.start(f"--runtime={tmp_path}/home/run/btd", f"--state={tmp_path}/home/state/btd")
    status, output, told = left("history")
    assert (status, told) == (0, "") and "boot.1" in output
    status, output, told = left("status", "boot.1")  # it is no longer in its memory
    assert (status, told) == (0, "") and output.startswith("✓ boot.1: success after")
    assert btd.btctl("halt", "boot", "stay", "--wait").returncode == 0


def test_no_bus(left, tmp_path, btd):
    result = btctl("--user", "history", env={
        "XDG_STATE_HOME": f"{tmp_path}/home/state", "XDG_RUNTIME_DIR": f"{tmp_path}/home/run",
        "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent"})
    assert (result.returncode, result.stderr) == (0, where(tmp_path))


def test_a_directory(left, tmp_path, btd):
    state = tmp_path / "home/state/btd"
    shutil.copytree(tmp_path / "home/run/btd/finished", tmp_path / "copy")
    assert [line.split()[0] for line in btctl("history", "-D", str(tmp_path / "copy")).stdout.splitlines()] == \
        ["RUN", "boot.1"]
    assert btctl("list", f"--directory={tmp_path}/home/run/btd", env=UTF8).stdout.splitlines()[1:] == \
        ["boot  boot.2 (eth0) unfinished, boot.1 success", "stay  stay.1 unfinished"]
    assert btctl("show", "boot.9", "-D", f"{tmp_path}/copy") == (
        1, "", f"btctl: there is no run record of 'boot.9' in {tmp_path}/copy\n")
    assert btctl("status", "boot.1", "-D", f"{tmp_path}/copy", env=UTF8).stdout.startswith("✓ boot.1: success")
    assert btctl("complete", "past", "-D", f"{tmp_path}/copy").stdout == "boot.1\n"

    assert btctl("history", "-D", f"{tmp_path}/none") == (
        1, "", f"btctl: {tmp_path}/none cannot be read: No such file or directory\n")
    (tmp_path / "file").write_text("")
    assert btctl("history", "-D", f"{tmp_path}/file") == (1, "", f"btctl: {tmp_path}/file is not a directory\n")
    (tmp_path / "empty").mkdir()
    assert btctl("history", "-D", f"{tmp_path}/empty") == (0, "no run has finished yet\n", "")
    assert btctl("list", "-D", f"{tmp_path}/empty") == (0, "there are no run records\n", "")
    assert btctl("status", "-D", str(state)) == (
        2, "", "btctl: --directory needs a run or a tree: btctl status --directory=DIR TREE|RUN\n"
               "Try 'btctl --help'.\n")
    assert btctl("history", "--user", "-D", str(state)).stderr == (
        "btctl: --user and --directory cannot be given together\nTry 'btctl --help'.\n")


def test_damaged_records(tmp_path):
    """What can be read is shown; the message says what cannot."""
    good = (RECORDS / "1-commission.journal").read_bytes()
    history = tmp_path / "history"
    history.mkdir()
    path = history / "commission.1.journal"
    whole = btctl("show", str(RECORDS / "1-commission.journal"), "-q").stdout.splitlines()

    def read(verb):
        return btctl(verb, "commission.1", "-D", str(tmp_path), "-q", env=UTF8)

    lines = good.splitlines(keepends=True)
    lines[20] = lines[20].replace(b" ", b"  ", 1)
    path.write_bytes(b"".join(lines))
    message = f"btctl: {path}: line 21: it does not match its checksum, or lines before it are missing; only what happened before is shown\n"
    for verb in "show", "replay", "status", "plot", "graph":
        result = read(verb)
        assert (result.returncode, result.stderr) == (1, message), verb
        assert result.stdout
    shown = btctl("show", str(path), "-q").stdout.splitlines()
    assert 3 < len(shown) < len(whole) and shown[:-1] == whole[:len(shown) - 1]

    path.write_bytes(good[:-20])
    message = f"btctl: {path}: the end of its run record is missing; only what happened before is shown\n"
    result = read("show")
    assert (result.returncode, result.stderr) == (1, message) and len(result.stdout.splitlines()) >= len(whole) - 2
    assert btctl("show", str(path), "-q") == (
        0, result.stdout, f"btctl: {path}: its last entry is incomplete; what happened before is shown\n")
    assert "commission.1  ! damaged" in btctl("history", "-D", str(tmp_path), env=UTF8).stdout
    assert "the end of its run record is missing" in btctl("history", "-D", str(tmp_path)).stdout

    path.write_bytes(good[:30])
    assert read("show") == (1, "", f"btctl: {path}: its first line is incomplete\n")
    assert "commission.1  ! damaged" in btctl("history", "-D", str(tmp_path), env=UTF8).stdout


def test_directories_that_cannot_be_read(left, tmp_path):
    run, history = tmp_path / "home/run/btd", tmp_path / "home/state/btd/history"
    loop = "Too many levels of symbolic links"

    def spoil(directory):
        shutil.rmtree(directory, ignore_errors=True)
        directory.symlink_to(directory)

    spoil(run / "runs")
    status, output, told = left("list")
    assert status == 0 and "boot.1 success" in output
    assert told.splitlines()[1:] == [f"btctl: {run}/runs cannot be read: {loop}"]
    spoil(run / "finished")
    spoil(history)
    unreadable = "; ".join(f"{path} cannot be read: {loop}" for path in (run / "runs", run / "finished", history))
    assert left("history") == (5, "", f"btctl: btd is not running, and {unreadable}\n")
    (tmp_path / "copy").mkdir()
    spoil(tmp_path / "copy/history")
    assert btctl("history", "-D", f"{tmp_path}/copy") == (
        1, "", f"btctl: {tmp_path}/copy/history cannot be read: {loop}\n")
