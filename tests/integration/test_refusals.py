# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the errors and log messages of rare failures."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys

import pytest
from gi.repository import Gio, GLib

import buses
from btctl_runs import LONG
from client import Client, DBusError, look, wait
from daemon import Daemon
from records import ENGINE, sign

TREE = "org.btd1.Tree"

# Starts a tree and ends; its child has the connection, and says who it is.
CALL_AND_GO = """
import os, signal, sys
from gi.repository import Gio, GLib
flags = Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION
connection = Gio.DBusConnection.new_for_address_sync(sys.argv[1], flags, None, None)
connection.call("org.btd1", "/org/btd1", "org.btd1.Manager", "StartTree", GLib.Variant("(sa{sv}a{sv})", ("boot", {}, {})),
                None, Gio.DBusCallFlags.NONE, -1, None, None)
connection.flush_sync()
if os.fork():
    os._exit(0)
print(os.getpid(), flush=True)
signal.pause()
"""


def test_a_broken_tree_has_no_text(btd):
    path = btd.tree("broken", '{"btd": 1}')
    btd.start()
    with pytest.raises(DBusError) as error:
        btd.client.call(btd.client.manager("GetTree", "s", "broken"), TREE, "GetText")
    assert (error.value.name, error.value.message) == \
        ("org.btd1.Error.TreeBroken", f"tree 'broken' has errors; correct {path}, then reload")


def test_the_bus_does_not_allow_the_name(tmp_path):
    bus = buses.Bus("dbus-daemon", '<policy context="mandatory"><deny own="org.btd1"/></policy>')
    btd = Daemon(bus, str(tmp_path))
    try:
        btd.start(wait=False)
        assert btd.wait_exit() == 1
        assert f"cannot take the name org.btd1 on bus '{bus.address}': the bus does not allow it; run btd as root, and " \
               "install its D-Bus policy" in btd.log()
    finally:
        btd.close()
        bus.close()


@pytest.mark.both_buses("what it tells of callers that have left")
def test_a_caller_that_has_gone(btd, bus):
    """It is there no more when the daemon gets to its call: nobody can say who it was."""
    btd.tree("boot", LONG)
    btd.start()
    caller = Client(bus.address)
    name = caller.name
    btd.suspend()
    caller.connection.call("org.btd1", "/org/btd1", "org.btd1.Manager", "StartTree",
                           GLib.Variant("(sa{sv}a{sv})", ("boot", {}, {})), None, Gio.DBusCallFlags.NONE, -1, None, None)
    caller.connection.flush_sync()
    caller.close()
    look(lambda: not btd.client.owner(name), "the caller to leave")
    btd.resume()

    btd.wait_log(f"the caller {name} was not allowed to start 'boot': the bus does not tell who asks: ")
    assert btd.client.runs() == []


@pytest.mark.both_buses("what it tells of callers that have ended")
def test_a_caller_whose_process_has_gone(btd, bus):
    """Somebody else has its connection open still."""
    btd.tree("boot", LONG)
    btd.start()
    btd.suspend()
    with subprocess.Popen([sys.executable, "-c", CALL_AND_GO, bus.address], stdout=subprocess.PIPE, text=True) as caller:
        heir = int(caller.stdout.readline())
        caller.wait()
        btd.resume()
        btd.wait_log(f"UID {os.getuid()}, PID {caller.pid} asked to start 'boot'\n")
        os.kill(heir, signal.SIGKILL)


def test_nothing_is_loaded_while_it_stops(btd, tmp_path):
    """What is still to be done when a run is halted keeps the daemon there."""
    btd.tree("boot", {"type": "Finally", "children": [LONG, {"type": "WaitFor", "child": {
        "type": "PathExists", "path": str(tmp_path / "go")}}]})
    btd.start()
    btd.client.subscribe("org.freedesktop.DBus.Properties", path="/org/btd1")
    path = btd.client.start("boot")[1]
    btd.client.wait_node(path, "Long", "running")  # a run that has not begun has nothing to be done
    btd.process.terminate()
    btd.client.wait_signal("PropertiesChanged", lambda s: s.args[1].get("Status") == "stopping")

    with pytest.raises(DBusError) as error:
        btd.client.reload()
    assert (error.value.name, error.value.message) == \
        ("org.btd1.Error.Stopping", "btd is stopping and loads nothing any more")
    (tmp_path / "go").touch()
    assert btd.wait_exit() == 0


def test_a_child_that_was_skipped(btd):
    btd.tree("boot", {"type": "Sequence", "name": "Boot", "children": [
        {"type": "Log", "name": "Greet", "message": "hello", "skip_if": "true"}]})
    btd.start()
    path = btd.client.start("boot")[1]
    btd.client.finish(path)
    assert [level["text"] for level in btd.client.get(path, "org.btd1.Run", "CauseChain")] == \
        ["Boot/Greet: its skip_if is true: true", "Greet was skipped", "its skip_if is true: true"]


def restart_with_changed(btd, tmp_path, change, root):
    """Starts the next daemon on the record of a run that was changed after its daemon was killed."""
    options = (f"--runtime={tmp_path}/run", f"--state={tmp_path}/state")
    btd.tree("boot", root)
    btd.start(*options)
    btd.client.start("boot")
    journal = tmp_path / "run" / "runs" / "boot.1.journal"
    wait(lambda: b" begin #" in journal.read_bytes(), "a leaf to begin")
    btd.stop(signal.SIGKILL)
    journal.write_bytes(sign(change(journal.read_bytes())))

    btd.start(*options)
    return journal


def test_an_engine_that_does_something_else(btd, tmp_path):
    """The run is set aside; it does not go on from where the engines still agreed. What else can be wrong with a record:
    tests/unit/run/test-replay-mismatches.c."""
    def change(record):
        assert b'"engine":%d,' % ENGINE in record
        return record.replace(b'"engine":%d,' % ENGINE, b'"engine":99,').replace(b'"after":30000000', b'"after":31000000')
    journal = restart_with_changed(btd, tmp_path, change, {"type": "Timeout", "timeout": "30s", "child": LONG})
    assert btd.client.runs() == []
    assert not journal.exists() and (tmp_path / "state" / "boot.1.journal.bad").exists()
    line, = (line for line in btd.log().splitlines() if "cannot be recovered" in line)
    assert line.endswith(
        "boot.1.journal: the run cannot be recovered: line 4: it arms a timer for 31000000us, but this engine for "
        f"30000000us (recorded with engine 99, but this is engine {ENGINE}); it was kept as "
        f"{tmp_path}/state/boot.1.journal.bad. What the run has started is left as it is: check it, then start the tree "
        "again with 'btctl start boot'")
    result = btd.client.manager("WaitRun", "sa{sv}", "boot.1", {})
    assert (result["status"], result["cause"].split(":")[0]) == ("lost", "the run cannot be recovered")


def test_a_tree_that_an_older_btd_accepted(btd, tmp_path):
    """Its mistake is an error when a tree is loaded, but does not keep the tree from being made."""
    def change(record):
        os.unlink(btd.trees + "/boot.json")
        assert b"value.sub_state" in record
        return record.replace(b"value.sub_state", b"value.sub_stait")
    later = {"type": "UnitState", "unit": "cam.service", "test": "value.sub_state == 'running'"}
    restart_with_changed(btd, tmp_path, change, {"type": "Sequence", "children": [LONG, later]})
    assert [(row.id, row.status) for row in btd.client.runs()] == [("boot.1", "running")]
    later["test"] = later["test"].replace("state", "stait")
    btd.tree("boot", later)
    assert "'value' has no member 'sub_stait'" in btd.btctl("validate", btd.trees + "/boot.json").stderr
    assert btd.btctl("halt", "boot.1", "--wait").returncode == 0
    assert btd.btctl("show", "boot.1").returncode == 0


def test_a_tree_that_is_refused_now(btd, tmp_path):
    def change(record):
        os.unlink(btd.trees + "/boot.json")
        return record.replace(b'\\"Timeout\\"', b'\\"Timeuot\\"')
    restart_with_changed(btd, tmp_path, change, {"type": "Timeout", "timeout": "30s", "child": LONG})
    assert btd.client.runs() == []
    assert ("boot.1.journal: the run cannot be recovered: this version of btd refuses its tree, which the btd that started "
            f"the run accepted: {btd.trees}/boot.json:") in btd.log()


def test_a_record_that_lacks_a_line(btd, tmp_path):
    options = (f"--runtime={tmp_path}/run", f"--state={tmp_path}/state")
    btd.tree("boot", LONG)
    btd.start(*options)
    btd.client.start("boot")
    journal = tmp_path / "run" / "runs" / "boot.1.journal"
    wait(lambda: b" begin #" in journal.read_bytes(), "a leaf to begin")
    btd.stop(signal.SIGKILL)
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:-2] + lines[-1:]))

    btd.start(*options)
    assert btd.client.runs() == []
    assert (f"boot.1.journal: the run cannot be recovered: line {len(lines) - 1}: it does not match its checksum, or "
            f"lines before it are missing; it was kept as {tmp_path}/state/boot.1.journal.bad. What the run has started "
            "is left as it is: check it, then start the tree again with 'btctl start TREE'") in btd.log()


def test_an_orderly_stop_leaves_a_snapshot(btd, tmp_path):
    """... of each run, so that the next daemon, whose engine may be another, replays nothing."""
    options = (f"--runtime={tmp_path}/run", f"--state={tmp_path}/state")
    btd.tree("boot", {"type": "Timeout", "timeout": "30s", "child": LONG})
    btd.start(*options, env={"NOTIFY_SOCKET": str(tmp_path / "deaf")})
    btd.client.start("boot")
    journal = tmp_path / "run" / "runs" / "boot.1.journal"
    for _ in range(3):
        btd.stop(signal.SIGTERM)
        assert journal.read_bytes().splitlines()[-1].split()[1] == b"snapshot"
        # What was before is compared with nothing.
        journal.write_bytes(sign(journal.read_bytes().replace(b'"after":30000000', b'"after":31000000')))
        btd.start(*options, env={"NOTIFY_SOCKET": str(tmp_path / "deaf")})
        # It recovers the runs when it has its name, and systemd has answered.
        look(lambda: [run.status for run in btd.client.runs()] == ["running"], "the run")
    records = [line.split()[1] for line in journal.read_bytes().splitlines()[1:]]
    assert records.count(b"snapshot") == 3 and records.count(b"recovered") == 3 and records[0] == b"start"


def test_a_run_of_another_boot(btd, tmp_path):
    """Nothing of what it has started is there any more, so it is not taken up. Its directory is on a disk here."""
    options = (f"--runtime={tmp_path}/run", f"--state={tmp_path}/state")
    btd.tree("boot", LONG)
    btd.start(*options)
    _, path = btd.client.start("boot")
    look(lambda: btd.client.nodes(path)["Long"]["status"] == "running", "the node")
    btd.stop(signal.SIGKILL)

    journal = tmp_path / "run" / "runs" / "boot.1.journal"
    journal.write_bytes(sign(re.sub(b'"boot":"[0-9a-f]+"', b'"boot":"%s"' % (b"0" * 32), journal.read_bytes(), count=1)))

    btd.start(*options)
    assert btd.client.runs() == []
    assert_unfinished(btd, "boot.1")
    assert not journal.exists()


def assert_unfinished(btd, run):
    """In the history, and nowhere else."""
    [row] = json.loads(btd.btctl("history", "--json").stdout)
    assert (row["id"], row["status"], row["cause"]) == \
        (run, "unfinished", "the machine went down before the run had ended; running: Long")
    status = json.loads(btd.btctl("status", run, "--json").stdout)
    assert [(node["type"], node["status"]) for node in status["nodes"]] == [("Sleep", "running")]


def begin(btd, options, tmp_path):
    """As a service, so that SIGTERM leaves the runs."""
    btd.start(*options, env={"NOTIFY_SOCKET": str(tmp_path / "deaf")})


def test_a_run_that_a_stopped_daemon_left_before_the_machine_went_down(btd, tmp_path):
    """Only its copy is there after the boot."""
    options = (f"--runtime={tmp_path}/run", f"--state={tmp_path}/state")
    btd.tree("boot", LONG)
    begin(btd, options, tmp_path)
    btd.client.start("boot")
    btd.stop(signal.SIGTERM)
    shutil.rmtree(tmp_path / "run")

    begin(btd, options, tmp_path)
    assert btd.client.runs() == []
    assert_unfinished(btd, "boot.1")
    assert "boot.1: unfinished: the machine went down before the run had ended; running: Long" in btd.log()

    # It is told once.
    btd.stop(signal.SIGTERM)
    shutil.rmtree(tmp_path / "run")
    begin(btd, options, tmp_path)
    assert_unfinished(btd, "boot.1")
    assert not list((tmp_path / "state" / "running").iterdir())


def test_a_copy_is_not_recovered(btd, tmp_path):
    """As long as the run record is there, it counts, also if the copy is older; and a run that has ended has no copy."""
    options = (f"--runtime={tmp_path}/run", f"--state={tmp_path}/state")
    btd.tree("boot", LONG)
    begin(btd, options, tmp_path)
    _, path = btd.client.start("boot")
    btd.stop(signal.SIGTERM)
    copy = tmp_path / "state" / "running" / "boot.1.journal"
    assert copy.exists()

    begin(btd, options, tmp_path)
    look(lambda: [run.status for run in btd.client.runs()] == ["running"], "the run")
    assert copy.exists()
    btd.client.halt(path)
    assert btd.client.finish(path)[0] == "halted"
    look(lambda: not copy.exists(), "no copy")
