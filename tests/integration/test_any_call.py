# SPDX-License-Identifier: LGPL-2.1-or-later
"""Whatever root, or somebody who may do nothing, calls with whatever arguments (support/fuzz-bus.py): the daemon answers
each call, by an error that has a name if need be, and is none the worse for it."""

import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest

import client
import load
from conftest import opened
from daemon import tree_text
from test_bus import INTERFACES

CALLS = int(os.environ.get("BTD_CALLS", "8000"))
GROWTH_MAX = 256 << 10  # bytes

FUZZER = pathlib.Path(__file__).parents[1] / "support" / "fuzz-bus.py"
SLEEP = {"type": "Sleep", "duration": "1h"}
ENDLESS = {"type": "Repeat", "num_cycles": -1, "child": {"type": "Sleep", "duration": "10ms"}}
WORDS = {
    "tree": ["camera"], "instance": ["", "a", "b"], "id": ["camera.1", "camera.2"], "name": ["a", "camera", "mine"],
    "node": [0, 1], "status": ["success", "failure", "skipped"], "offset": [0, 100],
    "options": [{}],
    "variables": [{}, {"a": 1}, {"b": [1, None], "a": "x"}, {"b": {"c": 0.5}}],
    "text": [tree_text({"type": "Sleep", "duration": "20ms"}), tree_text(ENDLESS, blackboard={"a": 1, "b": 2}), "{"],
}
# What changes something: all methods but those whose names say that they only read.
CHANGES = {f"{interface}.{name}" for interface, members in INTERFACES.items()
           for name in re.findall(r"^(\w+)\(", "\n".join(sorted(members)), re.M)
           if not re.match("Get|List|Wait|Subscribe|Unsubscribe", name)}


@pytest.fixture
def own_bus(request):
    yield from opened(request.param, for_all=True)


def fuzz(btd, user, n, seed):
    script = os.path.join(btd.bus.directory, "fuzz-bus")  # the user can read it there
    shutil.copy(FUZZER, script)
    as_user = ["setpriv", f"--reuid={user}", "--regid=nogroup", "--clear-groups"] if user != "root" else []
    result = client.run([*as_user, "/usr/bin/python3", script, client.BUS_NAME, str(n), json.dumps(WORDS), str(seed)],
                        {"DBUS_SYSTEM_BUS_ADDRESS": btd.bus.address}, timeout=30 * client.PATIENCE)
    assert result.returncode == 0, result.stderr
    report = json.loads(result.stdout)
    print(json.dumps(report, indent=1))
    assert not report["findings"], "\n".join(report["findings"])
    return report["answers"]


def allocated(btd, socket):
    """When nothing runs."""
    for run in btd.client.runs():
        if run.status == "running":
            btd.client.halt(run.path)
    load.until(lambda: all(run.status != "halting" for run in btd.client.runs()), "the end of all runs")
    return load.allocated(socket)


@pytest.mark.parametrize("user", ["root", "nobody"])
def test_any_call(btd_own_bus, user, tmp_path):
    if os.geteuid() != 0:
        pytest.skip("needs root, to be another user")
    btd, socket = btd_own_bus, tmp_path / "allocated"
    btd.tree("camera", SLEEP, blackboard={"a": 1, "b": 2})
    btd.start("--log-level=warning", f"--runtime={tmp_path}/run", f"--state={tmp_path}/state", "--limit=history=100",
              env=load.allocated_env(socket))
    btd.client.start("camera", "z")
    first = fuzz(btd, user, CALLS // 2, 1)
    before = allocated(btd, socket)
    btd.client.start("camera", "z")

    answers = fuzz(btd, user, CALLS, 2)
    after = allocated(btd, socket)
    assert set(answers) >= CHANGES
    assert btd.process.poll() is None
    print(f"{before} bytes before, {after} bytes after")
    requests = [line for record in tmp_path.glob("*/**/*.journal") for line in record.read_bytes().splitlines()
                if b'":by":' in line and line.split()[1] != b"set"]
    assert all(len(line) < 1000 for line in requests), "a text of any length in a run record"
    assert requests or user == "nobody"
    assert after < before + GROWTH_MAX

    done = {method for method in CHANGES if any(of.get(method, {}).get("fine") for of in (first, answers))}
    assert not done if user == "nobody" else len(done) > len(CHANGES) / 2
    warnings = [line for line in btd.log().splitlines() if not re.search(r": failed after .*: forced by UID 0", line)]
    assert warnings == []


WAITS = """
import sys
from gi.repository import Gio, GLib
loop, left = GLib.MainLoop(), 3
def on_reply(bus, result, number):
    global left
    try:
        print(number, bus.call_finish(result).unpack()[0]["status"], flush=True)
    except GLib.Error as error:
        print(number, error.message, flush=True)
    left -= 1
    if left == 0:
        loop.quit()
for number in 1, 2, 3:
    bus = Gio.DBusConnection.new_for_address_sync(sys.argv[1], Gio.DBusConnectionFlags(9), None, None)
    bus.call("org.btd1", "/org/btd1", "org.btd1.Manager", "WaitRun", GLib.Variant("(sa{sv})", ("camera.1", {})), None, 0,
             GLib.MAXINT, None, on_reply, number)
    bus.call_sync("org.btd1", "/org/btd1", "org.freedesktop.DBus.Peer", "Ping", None, None, 0, -1)
loop.run()
"""


def test_waits_of_a_user(btd_own_bus):
    """Over all connections; the oldest one ends. All are looked at whenever a run ends."""
    if os.geteuid() != 0:
        pytest.skip("needs root, to be another user")
    btd = btd_own_bus
    btd.tree("camera", SLEEP)
    btd.start("--limit=runs-of-a-caller=2")
    btd.client.start("camera")
    with subprocess.Popen(["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", "/usr/bin/python3", "-c", WAITS,
                           btd.bus.address], stdout=subprocess.PIPE, text=True) as waiting:
        assert waiting.stdout.readline() == (
            "1 GDBus.Error:org.btd1.Error.LimitExceeded: 2 of your calls wait for runs, which is the limit; end one of your "
            "programs that wait\n")
        btd.client.halt_tree("camera")
        assert sorted(waiting.stdout) == ["2 halted\n", "3 halted\n"]


MUTE = """
import os, socket, sys
from gi.repository import Gio
def call(serial, *names):
    message = Gio.DBusMessage.new_method_call(*names)
    message.set_serial(serial)
    return bytes(message.to_blob(Gio.DBusCapabilityFlags.NONE))
bus = socket.socket(socket.AF_UNIX)
bus.connect(sys.argv[1].split("path=")[1].split(",")[0])
bus.sendall(b"\\0AUTH EXTERNAL " + str(os.getuid()).encode().hex().encode() + b"\\r\\n")
bus.recv(1000)
bus.sendall(b"BEGIN\\r\\n" + call(1, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "Hello"))
for serial in range(2, 12):
    bus.sendall(call(serial, "org.btd1", "/org/btd1/tree/camera", "org.btd1.Tree", "GetText"))
sys.stdin.read()
"""


def test_short_answers_that_a_user_does_not_read(btd_own_bus):
    """Many of them count like a long one."""
    if os.geteuid() != 0:
        pytest.skip("needs root, to be another user")
    btd = btd_own_bus
    btd.tree("camera", SLEEP, description="x" * 10000)
    btd.start()
    with subprocess.Popen(["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", "/usr/bin/python3", "-c", MUTE,
                           btd.bus.address], stdin=subprocess.PIPE) as mute:
        client.look(lambda: any(65536 <= user["used"]["unread-bytes"] < 100000 for user in btd.client.manager("ListUsers", "a{sv}", {})
                                if user["uid"] != 0), "the answers")
        mute.stdin.close()
