# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is answered, or logged, where something cannot be done for reasons that are rare."""

import os
import re
import signal
import subprocess
import sys
import time
import zlib

import pytest
from gi.repository import Gio, GLib

import buses
from btctl_runs import LONG
from client import Client, DBusError
from daemon import Daemon

TREE = "org.btd1.Tree"

# Starts a tree and ends; its child has the connection, and says who it is.
CALL_AND_GO = """
import os, signal, sys
from gi.repository import Gio, GLib
flags = Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION
connection = Gio.DBusConnection.new_for_address_sync(sys.argv[1], flags, None, None)
connection.call("org.btd1", "/org/btd1", "org.btd1.Manager", "StartTree", GLib.Variant("(ssa{ss})", ("boot", "", {})),
                None, Gio.DBusCallFlags.NONE, -1, None, None)
connection.flush_sync()
if os.fork():
    os._exit(0)
print(os.getpid(), flush=True)
signal.pause()
"""


def await_log(btd, text):
    """Asks the daemon for something else until it has said so."""
    deadline = time.monotonic() + 20
    while text not in btd.log():
        assert time.monotonic() < deadline, btd.log()
        btd.client.manager("ListTrees")


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
        assert f"cannot have the name org.btd1 on bus '{bus.address}': the bus does not allow it; run btd as root, and " \
               "install its D-Bus policy" in btd.log()
    finally:
        btd.close()
        bus.close()


def test_a_caller_that_has_gone(btd, bus):
    """It is there no more when the daemon gets to its call: nobody can say who it was."""
    btd.tree("boot", LONG)
    btd.start()
    caller = Client(bus.address)
    name = caller.name
    btd.process.send_signal(signal.SIGSTOP)
    caller.connection.call("org.btd1", "/org/btd1", "org.btd1.Manager", "StartTree",
                           GLib.Variant("(ssa{ss})", ("boot", "", {})), None, Gio.DBusCallFlags.NONE, -1, None, None)
    caller.connection.flush_sync()
    caller.close()
    while btd.client.owner(name):
        pass
    btd.process.send_signal(signal.SIGCONT)

    await_log(btd, f"the caller {name} was not allowed to start 'boot': the bus does not tell who asks: ")
    assert btd.client.manager("ListRuns") == []


def test_a_caller_whose_process_has_gone(btd, bus):
    """Somebody else has its connection open still."""
    btd.tree("boot", LONG)
    btd.start()
    btd.process.send_signal(signal.SIGSTOP)
    with subprocess.Popen([sys.executable, "-c", CALL_AND_GO, bus.address], stdout=subprocess.PIPE, text=True) as caller:
        heir = int(caller.stdout.readline())
        caller.wait()
        btd.process.send_signal(signal.SIGCONT)
        await_log(btd, f"UID {os.getuid()}, PID {caller.pid} asked to start 'boot'\n")
        os.kill(heir, signal.SIGKILL)


def test_nothing_is_loaded_while_it_stops(btd, tmp_path):
    """What is still to be done when a run is halted keeps the daemon there."""
    btd.tree("boot", {"type": "Finally", "children": [LONG, {"type": "WaitFor", "child": {
        "type": "PathExists", "path": str(tmp_path / "go")}}]})
    btd.start()
    btd.client.subscribe("org.freedesktop.DBus.Properties", path="/org/btd1")
    path = btd.client.start("boot")[1]
    while btd.client.nodes(path)["Long"]["status"] != "running":  # a run that has not begun has nothing to be done
        pass
    btd.process.terminate()
    btd.client.wait_signal("PropertiesChanged", lambda s: s.args[1].get("Status") == "stopping")

    with pytest.raises(DBusError) as error:
        btd.client.manager("Reload")
    assert (error.value.name, error.value.message) == \
        ("org.btd1.Error.Stopping", "the daemon is stopping and loads nothing any more")
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


def test_a_run_of_another_boot(btd, tmp_path):
    """Nothing of what it has started is there any more, so it is not taken up."""
    options = (f"--runtime={tmp_path}/run", f"--state={tmp_path}/state")
    btd.tree("boot", LONG)
    btd.start(*options)
    btd.client.start("boot")
    btd.stop(signal.SIGKILL)

    journal = tmp_path / "run" / "runs" / "boot.1.journal"
    header, records = journal.read_text().split("\n", 1)
    header = re.sub('"boot":"[0-9a-f]+"', f'"boot":"{"0" * 32}"', header.rsplit(" ", 1)[0])
    journal.write_text(f"{header} {zlib.crc32(header.encode()):08x}\n{records}")

    btd.start(*options)
    assert btd.client.manager("ListRuns") == []
    assert "boot.1.journal: the run is over, since the machine was started anew; it was kept as " in btd.log()
    assert not journal.exists()
