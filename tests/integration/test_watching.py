# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests runs that watch a service that flaps, changes its owner, is silent, or sends wrong signals."""

import json
import os
import re
import time

import pytest
from gi.repository import Gio, GLib

import client
from client import PATIENCE, wait

CAMERA = "org.example.Camera"
PATH = "/org/example/Camera"
XML = f"""<node><interface name="{CAMERA}">
  <method name="Start"/>
  <property name="On" type="b" access="read"/>
  <property name="Level" type="u" access="read"/>
</interface></node>"""
PAGE = os.path.join(os.path.dirname(__file__), "../../daemon/definition/btd-nodes.5.in")
IDLE = {"type": "Sleep", "name": "Idle", "duration": "infinity"}
UPLOAD = {"type": "Sleep", "name": "Upload", "duration": "infinity"}


class Camera(client.Peer):
    """A service that counts what is read of it, and says "started" to whoever starts it."""

    def __init__(self, connection, on=True, level=5, **methods):
        self.n_reads = 0
        super().__init__(connection, CAMERA, PATH, XML, {"Start": self._start, **methods},
                         {"On": GLib.Variant("b", on), "Level": GLib.Variant("u", level)})

    def _on_get(self, *arguments):
        self.n_reads += 1
        return super()._on_get(*arguments)

    def _start(self, arguments, invocation):
        self.say("Started", GLib.Variant("(sa{sv})", ("lens", {"zoom": GLib.Variant("u", 3)})))

    def say(self, member, values=None):
        self.client.connection.emit_signal(None, PATH, CAMERA, member, values)


def watched(**keys):
    return {"type": "DBusProperty", "name": "On", "destination": CAMERA, "path": PATH, "interface": CAMERA,
            "property": "On", **keys}


def while_on(**keys):
    return {"type": "WhileDoElse", "children": [watched(**keys), UPLOAD, IDLE]}


def statuses(btd, path):
    return {name: node["status"] for name, node in btd.client.nodes(path).items()}


def wait_running(btd, path, *names):
    """Until those nodes are running."""
    deadline = time.monotonic() + PATIENCE
    while any((now := statuses(btd, path))[name] != "running" for name in names):
        assert time.monotonic() < deadline, now
    return statuses(btd, path)


@pytest.fixture
def other_client(bus):
    it = client.Client(bus.address)
    yield it
    it.close()


def test_many_runs_follow_one_signal(btd, peer_client):
    """The property is read when a node starts, but not again for a signal that has the value."""
    camera = Camera(peer_client)
    btd.tree("upload", while_on())
    btd.start()
    paths = [btd.client.start("upload", str(i))[1] for i in range(100)]
    for path in paths:
        wait_running(btd, path, "Upload")
    n_reads = camera.n_reads
    assert n_reads <= len(paths)

    camera.set("On", GLib.Variant("b", False))
    for path in paths:
        wait_running(btd, path, "Idle")
    assert camera.n_reads == n_reads


@pytest.mark.parametrize("unknown, running", [("failure", ["Idle"]), ("success", ["Upload"]),
                                              ("running", ["On", "Upload"])])
def test_a_service_that_vanishes_and_comes_back_as_another(btd, peer_client, other_client, unknown, running):
    """A WhileDoElse goes on with what it does while its condition is running."""
    Camera(peer_client)
    btd.tree("upload", while_on(unknown=unknown))
    btd.start()
    _, path = btd.client.start("upload")
    wait_running(btd, path, "Upload")

    peer_client.close()
    wait(lambda: not btd.client.owner(CAMERA), "the end of the service")
    now = wait_running(btd, path, *running)
    assert [name for name in ("Idle", "On", "Upload") if now[name] == "running"] == running

    camera = Camera(other_client, on=False)
    wait_running(btd, path, "Idle")
    camera.set("On", GLib.Variant("b", True))
    wait_running(btd, path, "Upload")
    assert camera.n_reads == 1


def test_a_reactive_sequence_waits_while_nothing_is_known(btd, peer_client, other_client):
    Camera(peer_client)
    btd.tree("upload", {"type": "ReactiveSequence", "children": [watched(unknown="running"), UPLOAD]})
    btd.start()
    _, path = btd.client.start("upload")
    wait_running(btd, path, "Upload")

    peer_client.close()
    assert wait_running(btd, path, "On")["Upload"] != "running"
    Camera(other_client)
    assert wait_running(btd, path, "Upload")["On"] == "success"


def test_a_service_that_is_never_there(btd):
    btd.tree("upload", while_on())
    btd.tree("patient", while_on(unknown="running"))
    btd.start()
    _, path = btd.client.start("upload")
    wait_running(btd, path, "Idle")
    assert "not on the bus" in btd.client.nodes(path)["On"]["detail"]
    wait_running(btd, btd.client.start("patient")[1], "On")


def test_a_service_that_flaps(btd, bus):
    btd.tree("upload", while_on())
    btd.start()
    _, path = btd.client.start("upload")
    for i in range(20):
        other_end = client.Client(bus.address)
        camera = Camera(other_end, on=i % 2 == 0)
        if i % 3 == 0:
            camera.set("On", GLib.Variant("b", i % 2 == 1))
        if i < 19:
            other_end.close()
    camera.set("On", GLib.Variant("b", True))
    wait_running(btd, path, "Upload")
    camera.set("On", GLib.Variant("b", False))
    wait_running(btd, path, "Idle")
    other_end.close()


def test_a_signal_before_the_reply(btd, peer_client):
    """The reply that was made before the signal comes after it."""
    held = []

    def on_call(connection, sender, path, interface, method, parameters, invocation):
        held.append(invocation)

    xml = '<node><interface name="org.freedesktop.DBus.Properties"><method name="Get"><arg type="s" direction="in"/>' \
          '<arg type="s" direction="in"/><arg type="v" direction="out"/></method></interface></node>'
    interface = Gio.DBusNodeInfo.new_for_xml(xml).interfaces[0]
    peer_client.connection.register_object(PATH, interface, on_call, None, None)
    peer_client.call_any("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "RequestName", "su",
                         CAMERA, 4)
    btd.tree("upload", while_on())
    btd.start()
    _, path = btd.client.start("upload")
    wait(lambda: held, "the question")

    peer_client.connection.emit_signal(None, PATH, interface.name, "PropertiesChanged",
                                       GLib.Variant("(sa{sv}as)", (CAMERA, {"On": GLib.Variant("b", True)}, [])))
    held.pop().return_value(GLib.Variant("(v)", (GLib.Variant("b", False),)))
    wait_running(btd, path, "Upload")
    btd.client.call_any(CAMERA, PATH, "org.freedesktop.DBus.Peer", "Ping")
    assert statuses(btd, path)["Upload"] == "running"


def test_a_value_of_the_wrong_type(btd, peer_client):
    """A test that cannot be evaluated does not break the run: the value is unknown, until there is a better one."""
    camera = Camera(peer_client)
    camera.properties["On"] = GLib.Variant("s", "yes")
    btd.tree("upload", while_on(test="value > 3"))
    btd.start()
    _, path = btd.client.start("upload")
    wait_running(btd, path, "Idle")
    camera.set("On", GLib.Variant("u", 4))
    wait_running(btd, path, "Upload")
    camera.set("On", GLib.Variant("as", []))
    wait_running(btd, path, "Idle")


def test_an_expression_over_both(btd, peer_client):
    """The value and a variable, either of which may change."""
    camera = Camera(peer_client)
    level = {**watched(property="Level", test="value >= limit"), "name": "Level"}
    btd.tree("level", {"type": "WhileDoElse", "children": [level, UPLOAD, IDLE]}, blackboard={"limit": 6})
    btd.start()
    run, path = btd.client.start("level")
    wait_running(btd, path, "Idle")
    camera.set("Level", GLib.Variant("u", 7))
    wait_running(btd, path, "Upload")
    assert btd.btctl("set", run, "limit=8").returncode == 0
    wait_running(btd, path, "Idle")
    assert camera.n_reads == 1


def test_a_bus_that_dies(btd_own_bus):
    btd = btd_own_bus
    other_end = client.Client(btd.bus.address)
    Camera(other_end)
    btd.tree("upload", while_on())
    btd.tree("name", {"type": "WhileDoElse", "children": [{"type": "DBusName", "name": CAMERA}, UPLOAD, IDLE]})
    btd.start()
    paths = [btd.client.start(tree)[1] for tree in ("upload", "name")]
    for path in paths:
        wait_running(btd, path, "Upload")

    btd.bus.stop()
    btd.bus.start()
    btd.client = client.Client(btd.bus.address)
    btd.wait_ready()
    for path in paths:
        wait_running(btd, path, "Idle")
    Camera(client.Client(btd.bus.address))
    for path in paths:
        wait_running(btd, path, "Upload")


def test_a_name(btd, peer_client, other_client):
    btd.tree("name", {"type": "WhileDoElse", "children": [{"type": "DBusName", "name": CAMERA}, UPLOAD, IDLE]})
    btd.start()
    _, path = btd.client.start("name")
    wait_running(btd, path, "Idle")
    assert CAMERA in statuses(btd, path)
    Camera(peer_client)
    wait_running(btd, path, "Upload")
    peer_client.close()
    wait_running(btd, path, "Idle")
    Camera(other_client)
    wait_running(btd, path, "Upload")


def test_a_signal_that_a_call_brings_about(btd, peer_client):
    Camera(peer_client)
    signal = {"type": "DBusSignal", "sender": CAMERA, "path": PATH, "interface": CAMERA, "member": "Started",
              "args": ["lens"], "outputs": {"zoom": "args[2].zoom"}, "timeout": "5min"}
    start = {"type": "DBusCall", "destination": CAMERA, "path": PATH, "interface": CAMERA, "member": "Start"}
    btd.tree("start", {"type": "Parallel", "children": [signal, start]})
    btd.start()
    for i in range(10):
        _, path = btd.client.start("start", str(i))
        assert btd.client.finish(path) == ("success", "")
        assert btd.client.variables(path)["zoom"] == 3


def test_a_signal_that_cannot_be_tested(btd, peer_client):
    """It is skipped, and the log says so once."""
    camera = Camera(peer_client)
    btd.tree("wait", {"type": "DBusSignal", "member": "Level", "sender": CAMERA, "test": "value > 3", "outputs": ["level"]})
    btd.start()
    _, path = btd.client.start("wait")
    wait(lambda: "signal Level" in btd.client.nodes(path)["DBusSignal"]["detail"], "the connection")
    for value in ("s", "much"), ("s", "more"), ("u", 3), ("u", 4):
        camera.say("Level", GLib.Variant(f"({value[0]})", value[1:]))
    assert btd.client.finish(path)[0] == "success"
    assert btd.client.variables(path)["level"] == 4
    text = "the test skips signals that it cannot be evaluated for: value > 3: attempt to compare number with string"
    assert btd.log().count(text) == 1


def dirs(tmp_path):
    return f"--runtime={tmp_path}/runtime", f"--state={tmp_path}/state"


def call_and_signal():
    """The example of btd-nodes(5), for the camera."""
    with open(PAGE, encoding="utf-8") as file:
        [block] = [text for text in re.findall(r"\.Bd -literal[^\n]*\n(.*?)\.Ed", file.read(), re.S) if "Lamp1" in text]
    words = {"org.example.Lamp1": CAMERA, "/org/example/Lamp1": PATH, "Warm": "Started", "SwitchOn": "Start"}
    for word, instead in words.items():
        block = block.replace(word, instead)
    return json.loads(block)


def start_and_await_reply(btd, peer_client, tmp_path, **methods):
    Camera(peer_client, **methods)
    btd.tree("start", call_and_signal())
    btd.start(*dirs(tmp_path))
    _, path = btd.client.start("start")
    wait(lambda: any(name.startswith("DBusCall") and node["status"] == "success"
                     for name, node in btd.client.nodes(path).items()), "the reply")
    return path


def test_a_call_with_its_signal(btd, peer_client, tmp_path):
    Camera(peer_client)
    btd.tree("start", call_and_signal())
    btd.start(*dirs(tmp_path))
    assert btd.client.finish(btd.client.start("start")[1]) == ("success", "")


def silent(arguments, invocation):
    """Replies, and sends no signal."""


def test_a_call_whose_service_dies_before_its_signal(btd, peer_client, tmp_path):
    path = start_and_await_reply(btd, peer_client, tmp_path, Start=silent)
    peer_client.close()
    status, cause = btd.client.finish(path)
    assert status == "failure" and f"{CAMERA} has left the bus, and had not sent the signal Started" in cause


def test_a_call_whose_signal_btd_may_have_missed(btd, peer_client, tmp_path):
    path = start_and_await_reply(btd, peer_client, tmp_path, Start=silent)
    btd.process.kill()
    btd.wait_exit()
    btd.start(*dirs(tmp_path))
    status, cause = btd.client.finish(path)
    assert status == "failure" and "btd was restarted while this was under way" in cause


def door(btd, tmp_path, **keys):
    """A run that has got the card 1, and works on it until "open" is set."""
    btd.tree("door", {"type": "KeepRunningUntilFailure", "child": {"type": "Sequence", "children": [
        {"type": "DBusSignal", "name": "Card", "sender": CAMERA, "member": "Card", "outputs": ["card"], **keys},
        {"type": "Script", "code": "seen = seen .. card .. ' '"},
        {"type": "WaitFor", "name": "Work", "child": {"type": "Condition", "test": "open"}}]}},
             blackboard={"card": 0, "seen": "", "open": False})
    start(btd, tmp_path)
    path = btd.client.start("door")[1]
    wait(lambda: "signal Card" in detail(btd, path), "the connection")
    return path


def start(btd, tmp_path):
    """As under systemd, which keeps the runs when btd stops."""
    btd.start(*dirs(tmp_path), env={"NOTIFY_SOCKET": str(tmp_path / "deaf")})


def detail(btd, path):
    return btd.client.nodes(path)["Card"]["detail"]


def show_cards(camera, *cards):
    for card in cards:
        camera.say("Card", GLib.Variant("(u)", (card,)))


def await_seen(btd, path, seen):
    wait(lambda: btd.client.variables(path)["seen"] == seen, "the cards")


def test_signals_are_queued_between_executions(btd, peer_client, tmp_path):
    """Also for a run that is paused, and for the next btd. The oldest ones stay."""
    camera = Camera(peer_client)
    path = door(btd, tmp_path, queue=3)
    show_cards(camera, 1)
    wait_running(btd, path, "Work")
    btd.client.call(path, "org.btd1.Run", "Pause", "")
    show_cards(camera, 2, 3, 4, 5, 6)
    wait(lambda: detail(btd, path) == "3 signals queued; 2 signals missed", "the queue")
    btd.client.call(path, "org.btd1.Run", "Resume", "")
    btd.process.kill()
    btd.wait_exit()
    start(btd, tmp_path)
    wait(btd.client.runs, "the run")
    assert detail(btd, path) == "3 signals queued"
    btd.client.set_variables(path, open=True)
    await_seen(btd, path, "1 2 3 4 ")
    wait(lambda: detail(btd, path).startswith("waits for signal Card"), "the next one")
    show_cards(camera, 7, 8)
    await_seen(btd, path, "1 2 3 4 7 8 ")
    shown = btd.btctl("show", "door").stdout
    assert shown.count("Card: a signal is kept for its next execution") >= 3
    assert shown.count("Card: missed the signals that came while btd was not running") == 1
    assert json.loads(btd.btctl("replay", "door", "--json").stdout)["status"] == "running"


def test_missed_signals_are_counted(btd, peer_client, tmp_path):
    """At once in the status, in the event log when the node is executed again. A stop of btd keeps the number."""
    camera = Camera(peer_client)
    path = door(btd, tmp_path)
    show_cards(camera, 1)
    wait_running(btd, path, "Work")
    show_cards(camera, *range(2, 21))
    wait(lambda: detail(btd, path) == "19 signals missed", "the number")
    assert re.search(r"Card \(DBusSignal\).*: 19 signals missed", btd.btctl("status", "door").stdout)
    btd.stop()
    start(btd, tmp_path)
    wait(btd.client.runs, "the run")
    assert detail(btd, path) == "19 signals missed"
    btd.client.set_variables(path, open=True)
    wait(lambda: detail(btd, path).startswith("waits for signal Card"), "the next one")
    assert detail(btd, path).endswith("; 19 signals missed")
    assert "Card: missed 19 signals" in btd.btctl("show", "door").stdout
    show_cards(camera, 21)
    await_seen(btd, path, "1 21 ")


def test_a_signal_that_never_comes(btd, peer_client):
    camera = Camera(peer_client)
    btd.tree("wait", {"type": "DBusSignal", "sender": CAMERA, "member": "Started", "timeout": "50ms"})
    btd.start()
    _, path = btd.client.start("wait")
    camera.say("Stopped")
    status, cause = btd.client.finish(path)
    assert status == "failure" and "timed out after 50ms" in cause


def test_a_signal_is_sent(btd):
    btd.tree("emit", {"type": "DBusEmit", "path": "/org/example/Tree", "interface": "org.example.Tree",
                      "member": "Done", "signature": "sa{sv}", "args": ["{what}", {"ok": True}]},
             blackboard={"what": "it"})
    btd.start()
    btd.client.subscribe(interface="org.example.Tree", sender=None)
    assert btd.client.finish(btd.client.start("emit")[1])[0] == "success"
    assert btd.client.wait_signal("Done").args == ("it", {"ok": True})
