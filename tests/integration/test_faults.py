# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests faults of services and buses: the affected run fails and names the fault; other runs continue."""

import json
import os

import pytest
from gi.repository import GLib

import client
from client import wait

CAMERA = "org.example.Camera"
CAMERA_PATH = "/org/example/Camera"
CAMERA_XML = f"""<node><interface name="{CAMERA}">
  <method name="Start"><arg type="s" direction="in"/><arg type="u" direction="out"/></method>
  <method name="Hang"/>
  <method name="Break"/>
  <property name="State" type="s" access="read"/>
</interface></node>"""
SLEEP = {"type": "Sleep", "duration": "1h"}


def call(member, **keys):
    return {"type": "DBusCall", "name": member, "destination": CAMERA, "path": CAMERA_PATH, "interface": CAMERA,
            "member": member, **keys}


def camera(connection):
    def break_it(arguments, invocation):
        invocation.return_dbus_error("org.example.Error.Busy", "the camera is in use")
        return True
    return client.Peer(connection, CAMERA, CAMERA_PATH, CAMERA_XML, {
        "Start": lambda arguments, invocation: GLib.Variant("(u)", (len(arguments[0]),)),
        "Hang": lambda arguments, invocation: True,
        "Break": break_it,
    }, {"State": GLib.Variant("s", "idle")})


def shell(script, **keys):
    return {"type": "Spawn", "name": "Shell", "argv": ["/bin/sh", "-c", script], **keys}


def outcome(btd, tree, root, **keys):
    """Loads, runs, waits: (status, cause)."""
    btd.tree(tree, root, **keys)
    if btd.process is None:
        btd.start()
    assert btd.client.reload() == []
    return btd.client.finish(btd.client.start(tree)[1])


def test_a_call_that_works(btd, peer_client):
    peer = camera(peer_client)
    btd.tree("call", call("Start", signature="s", args=["{lens}"], outputs=["length"]), blackboard={"lens": "wide"})
    btd.start()
    _, path = btd.client.start("call")
    assert btd.client.finish(path) == ("success", "")
    assert peer.calls == [("Start", ("wide",))]
    assert btd.client.variables(path)["length"] == 4


def test_an_error_reply_is_the_cause(btd, peer_client):
    camera(peer_client)
    status, cause = outcome(btd, "call", call("Break"))
    assert status == "failure"
    assert "org.example.Error.Busy" in cause and "the camera is in use" in cause


@pytest.mark.both_buses("the error for a name that nobody has")
def test_nobody_is_there(btd):
    status, cause = outcome(btd, "call", call("Start", signature="s", args=["x"]))
    assert status == "failure"
    assert CAMERA in cause


def test_a_call_has_a_timeout(btd, peer_client):
    camera(peer_client)
    status, cause = outcome(btd, "call", call("Hang", timeout="50ms"))
    assert status == "failure"
    assert "50ms" in cause


@pytest.mark.both_buses("the error for calls to a peer that leaves")
def test_a_peer_that_vanishes_in_the_middle_of_a_call(btd, peer_client):
    peer = camera(peer_client)
    btd.tree("call", call("Hang"))
    btd.tree("other", SLEEP)
    btd.start()
    _, other = btd.client.start("other")
    _, path = btd.client.start("call")
    wait(lambda: peer.calls, "the call")

    peer_client.close()

    status, cause = btd.client.finish(path)
    assert status == "failure"
    assert "NoReply" in cause, cause
    assert btd.client.run_property(other, "Status") == "running"


def test_a_halted_call_is_dropped(btd, peer_client):
    peer = camera(peer_client)
    btd.tree("call", call("Hang"))
    btd.start()
    run, path = btd.client.start("call")
    wait(lambda: peer.calls, "the call")

    btd.client.halt_run(run)

    assert btd.client.finish(path)[0] == "halted"


def test_a_property_is_watched(btd, peer_client):
    peer = camera(peer_client)
    condition = {"type": "DBusProperty", "name": "Ready", "destination": CAMERA, "path": CAMERA_PATH,
                 "interface": CAMERA, "property": "State", "equals": "ready"}
    status, cause = outcome(btd, "now", condition)
    assert status == "failure"
    assert "idle" in cause and "ready" in cause
    peer.set("State", GLib.Variant("s", "ready"))
    assert outcome(btd, "now", condition)[0] == "success"


@pytest.mark.both_buses("how pending calls end, and when names return")
def test_a_bus_that_dies(btd_own_bus):
    """Calls in flight fail; other runs go on; the daemon is back when the bus is, and then tells of what has finished."""
    btd = btd_own_bus
    other_end = client.Client(btd.bus.address)
    peer = camera(other_end)
    btd.tree("call", {"type": "Fallback", "children": [call("Hang"), {"type": "Log", "message": "lost"}, ]})
    btd.tree("other", SLEEP)
    btd.start()
    btd.client.start("other")
    btd.client.start("call")
    wait(lambda: peer.calls, "the call")

    btd.bus.stop()
    btd.wait_log("call.1: succeeded")
    btd.suspend()
    btd.bus.start()
    btd.client = client.Client(btd.bus.address)
    btd.client.subscribe("org.btd1.Manager", "RunFinished")
    btd.resume()
    btd.wait_ready()
    assert btd.client.wait_signal("RunFinished").args == ("call.1", "/org/btd1/run/call_2e1", "success", "")

    rows = {row.tree: row for row in btd.client.runs()}
    assert rows["other"].status == "running"
    assert rows["call"].status == "success"
    hang = btd.client.nodes(rows["call"].path)["Hang"]
    assert hang["status"] == "failure"
    assert "NoReply" in hang["detail"] or "Disconnected" in hang["detail"], hang["detail"]
    assert btd.client.finish(btd.client.start("call", "again")[1])[0] == "success"


def test_a_process_that_ignores_sigterm(btd, tmp_path, clock):
    """Killed after its grace time, with what it started."""
    pids = tmp_path / "pids"
    btd.tree("stubborn", shell(f"trap '' TERM; sleep 87654 & echo $$ $! >{pids}.new; mv {pids}.new {pids}; sleep 87654",
                               **{"as": "child"}, timeout="1h", kill_timeout="50ms"))
    btd.start(env=clock.env)
    _, path = btd.client.start("stubborn")
    wait(pids.exists, "the process to ignore it")
    clock.advance(btd, 3600)
    status, cause = btd.client.finish(path)
    assert status == "failure"
    assert "1h" in cause
    for pid in pids.read_text().split():
        wait(lambda pid=pid: not is_alive(pid), "its end")  # it has been killed, and dies soon


def is_alive(pid):
    """A process that is not only waiting to be reaped."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
            return stat.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


@pytest.mark.parametrize("script, told", [("exit 3", "3"), ("kill -SEGV $$", "SEGV"), ("exec /nowhere", "127")])
def test_the_end_of_a_process_is_the_cause(btd, script, told):
    status, cause = outcome(btd, "end", shell(script))
    assert status == "failure"
    assert told in cause, cause


@pytest.mark.parametrize("argv, told", [(["/nowhere/program"], "/nowhere/program"), (["/etc"], "/etc"),
                                        (["/bin/sh", "-c", "true"], None)])
def test_a_program_that_cannot_be_run(btd, argv, told):
    status, cause = outcome(btd, "program", {"type": "Spawn", "argv": argv})
    assert status == ("failure" if told else "success")
    assert not told or told in cause, cause


def test_a_directory_that_is_not_there(btd):
    status, cause = outcome(btd, "cwd", shell("true", cwd="/nowhere"))
    assert status == "failure"
    assert "/nowhere" in cause, cause


def run_with_output(btd, script, **keys):
    btd.tree("say", shell(script, stdout="said", **keys))
    btd.start()
    _, path = btd.client.start("say")
    status, cause = btd.client.finish(path)
    assert status == "success", cause
    return btd.client.variables(path)["said"]


def test_too_much_output(btd):
    """The process is not held up, and what is too much is not kept."""
    said = run_with_output(btd, "head -c 10000000 /dev/zero | tr '\\0' x", cut_output=True)
    assert 1000 < len(said) < 10000000 and set(said) == {"x"}
    assert "stdout is longer than" in btd.log()


def test_a_file_is_written(btd, tmp_path):
    """At once, so that others find the old or the new text; or at its end."""
    file, link = tmp_path / "file", tmp_path / "link"
    file.write_text("before\n")
    file.chmod(0o640)
    link.symlink_to(file)
    before = file.open(encoding="utf-8")
    btd.tree("write", {"type": "Sequence", "children": [
        {"type": "WriteFile", "name": "New", "path": f"{tmp_path}/new", "text": "{n} of\n", "mode": "0600"},
        {"type": "WriteFile", "name": "Again", "path": str(link), "text": "after\n"},
        {"type": "WriteFile", "name": "More", "path": str(file), "text": "that\n", "append": True},
        {"type": "WriteFile", "name": "Device", "path": "/dev/null", "text": "x"},
        {"type": "WriteFile", "name": "Full", "path": "/dev/full", "text": "x"}]}, blackboard={"n": 3})
    btd.start()
    status, cause = btd.client.finish(btd.client.start("write")[1])
    assert (status, cause) == (
        "failure", "Sequence/Full: exited with status 1: /dev/full: No space left on device")
    assert (tmp_path / "new").read_text() == "3 of\n" and (tmp_path / "new").stat().st_mode & 0o777 == 0o600
    assert link.is_symlink() and file.read_text() == "after\nthat\n" and file.stat().st_mode & 0o777 == 0o640
    assert before.read() == "before\n"
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith(".")) == []


def test_output_that_is_no_text(btd):
    assert run_with_output(btd, "printf 'a\\377b'") == "a\ufffdb"
    assert "its stdout is not UTF-8, so some bytes are replaced; \"stdout_format\": \"bytes\" keeps them" in btd.log()


def test_a_variable_that_is_not_there(btd):
    # Something sets it, but not before it is read.
    status, cause = outcome(btd, "missing", {"type": "Sequence", "children": [
        {"type": "Log", "name": "Say", "message": "{nothing}"}, {"type": "Script", "code": "nothing = 1"}]})
    assert status == "failure"
    assert "nothing" in cause and "Say" in cause


def test_a_variable_of_the_wrong_type(btd):
    status, cause = outcome(btd, "wrong", {"type": "Sequence", "children": [
        {"type": "Script", "code": "span = tonumber('5')"}, {"type": "Sleep", "name": "Nap", "duration": "{span}"}]})
    assert status in ("failure", "error")
    assert "duration" in cause


def test_a_variable_that_is_null(btd, peer_client):
    """A comparison with it is not one with nothing, which any value would pass."""
    camera(peer_client)
    status, cause = outcome(btd, "null", {"type": "DBusProperty", "destination": CAMERA, "path": CAMERA_PATH, "interface": CAMERA,
                                          "property": "State", "equals": "{wanted}"}, blackboard={"wanted": None})
    assert status == "failure"
    assert cause.endswith("equals: expected a value that a property can have, but {wanted} is null")


@pytest.mark.parametrize("make, told", [
    (lambda path: os.symlink("/nowhere/at-all", path), "No such file"),
    (os.mkdir, "regular file"),
    (os.mkfifo, "regular file"),
    (lambda path: open(path, "w").close(), "empty"),
    (lambda path: open(path, "wb").write(b'{"btd": 1, "root": {"type": "Log", "message": "\xff"}}'), "UTF-8"),
    (lambda path: open(path, "w").write('{"btd": 1, "root": {"type": "AlwaysSu'), ":1:"),
    (lambda path: open(path, "w").write("[" * 1000000), "deep"),
    (lambda path: open(path, "w").truncate(1 << 30), "large"),
], ids=["dangling", "directory", "fifo", "empty", "not-utf8", "cut-off", "deep", "large"])
def test_a_tree_file_that_cannot_be_one(btd, make, told):
    btd.tree("good", {"type": "AlwaysSuccess"})
    btd.start()
    path = os.path.join(btd.trees, "bad.json")
    make(path)

    errors = btd.client.reload()

    assert len(errors) == 1 and errors[0].startswith(path + ":"), errors
    assert told.lower() in errors[0].lower(), errors
    assert btd.client.finish(btd.client.start("good")[1])[0] == "success"


def test_a_tree_directory_that_cannot_be_read(btd, tmp_path):
    """The others are read all the same."""
    no_directory = tmp_path / "file"
    no_directory.write_text("no directory")
    btd.tree("good", {"type": "AlwaysSuccess"})
    btd.start(f"--trees={no_directory}")

    errors = btd.client.reload()

    assert any(str(no_directory) in error for error in errors), errors
    assert btd.client.finish(btd.client.start("good")[1])[0] == "success"


def test_a_link_to_dev_null_masks(btd, tmp_path):
    later = tmp_path / "later"
    later.mkdir()
    text = json.dumps({"btd": 1, "root": {"type": "AlwaysSuccess"}})
    (later / "masked.json").write_text(text)
    (later / "hidden.json").write_text(text)
    btd.tree("hidden", SLEEP)
    os.symlink("/dev/null", os.path.join(btd.trees, "masked.json"))
    btd.start(f"--trees={later}")

    assert [row.name for row in btd.client.trees()] == ["hidden"]
    assert "Sleep" in btd.client.call("/org/btd1/tree/hidden", "org.btd1.Tree", "GetText")
