# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests causes of failures: the chain on the bus, in btctl status, and in its JSON. What the chain of each kind of node
has: tests/unit/run/test-run-details.c."""

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys

import pytest

import buses
from btctl_runs import BAD, LONG, UTF8, without_times
from client import DBusError, look, plain
from daemon import Daemon

RUN = "org.btd1.Run"


def chain_of(btd, path):
    """The chain, without what every level of that kind has."""
    return plain(btd.client.get(path, RUN, "CauseChain"))


def finished(btd, name, root):
    btd.tree(name, root)
    btd.start()
    path = btd.client.start(name)[1]
    btd.client.finish(path)
    return path


def test_the_chain_leads_from_the_run_to_the_leaf(btd):
    path = finished(btd, "boot", BAD)
    assert chain_of(btd, path) == [
        {"run": "boot.1", "status": "failure", "kind": "child", "text": "Boot/LoadConfig: exited with status 3"},
        {"node": 0, "path": "Boot", "name": "Boot", "type": "Sequence", "status": "failure", "kind": "child",
         "text": "LoadConfig failed"},
        {"node": 4, "path": "Boot/LoadConfig", "name": "LoadConfig", "type": "Spawn", "title": "/bin/sh -c exit 3",
         "status": "failure", "kind": "exit-status", "text": "exited with status 3", "facts": {"program": "/bin/sh", "status": 3}}]


def test_a_leaf_says_where_its_timeout_was_set(btd):
    path = finished(btd, "slow", {"type": "Spawn", "name": "Slow", "argv": ["/bin/sleep", "1000"],
                                  "timeout": "10ms"})
    assert chain_of(btd, path)[-1]["facts"]["where"] == "timeout of Slow"


NOWHERE = "unix:path=/run/nowhere/bus"
UNREACHABLE = f"cannot connect to the bus '{NOWHERE}': No such file or directory"
WAITED = f"connection to the bus '{NOWHERE}': No such file or directory"
OBJECT = {"destination": "org.example.A", "path": "/", "interface": "org.example.A"}


@pytest.mark.parametrize("node, text", [
    ({"type": "StartUnit", "unit": "a.service", "timeout": "100ms"}, f"timed out after 100ms; it waited for {WAITED}"),
    ({"type": "DBusCall", **OBJECT, "member": "A", "timeout": "100ms"}, f"timed out after 100ms; it waited for {WAITED}"),
    ({"type": "DBusSignal", "member": "A", "timeout": "100ms"}, f"timed out after 100ms; it waited for {WAITED}"),
    ({"type": "Timeout", "timeout": "100ms", "child": {"type": "DBusSignal", "name": "Signal", "member": "A", "bus": NOWHERE}},
     f"timed out after 100ms; Signal waited for {WAITED}"),
    ({"type": "DBusName", "name": "org.example.A"}, UNREACHABLE),
    ({"type": "DBusProperty", **OBJECT, "property": "A"}, UNREACHABLE),
    ({"type": "UnitState", "unit": "a.service"}, f"the state of a.service is not known: {UNREACHABLE}")])
def test_a_bus_that_cannot_be_reached(btd, node, text):
    btd.tree("far", node if "child" in node else {**node, "bus": NOWHERE})
    btd.start()
    _, path = btd.client.start("far")
    btd.client.finish(path)
    assert chain_of(btd, path)[-1]["text"] == text
    # The next one finds the bus as the first one has left it.
    _, path = btd.client.start("far")
    btd.client.finish(path)
    assert chain_of(btd, path)[-1]["text"] == text


def test_a_bus_that_says_nothing(btd, clock, tmp_path):
    """It is not connected, and not refused either."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "silent"))
        listener.listen(5)
        address = f"unix:path={tmp_path}/silent"
        btd.tree("silent", {"type": "DBusName", "name": "org.example.A", "bus": address})
        btd.start(env=clock.env)
        path = btd.client.start("silent")[1]
        clock.advance(btd, 26)
        btd.client.finish(path)
        assert chain_of(btd, path)[-1]["text"] == f"cannot connect to the bus '{address}': Connection timed out"


SERVICE = """
import os, signal, sys
from gi.repository import Gio, GLib
flags = Gio.DBusConnectionFlags
bus = Gio.DBusConnection.new_for_address_sync(sys.argv[1], flags.AUTHENTICATION_CLIENT | flags.MESSAGE_BUS_CONNECTION)
xml = '<node><interface name="org.example.A"><property name="A" type="b" access="read"/></interface></node>'
bus.register_object("/", Gio.DBusNodeInfo.new_for_xml(xml).interfaces[0], None, lambda *_: GLib.Variant("b", True), None)
bus.call_sync("org.freedesktop.DBus", "/", "org.freedesktop.DBus", "RequestName", GLib.Variant("(su)", ("org.example.A", 4)),
              None, 0, -1, None)
def freeze():
    changed = GLib.Variant("(sa{sv}as)", ("org.example.A", {}, ["A"]))
    bus.emit_signal(None, "/", "org.freedesktop.DBus.Properties", "PropertiesChanged", changed)
    bus.flush_sync()
    os.kill(os.getpid(), signal.SIGSTOP)
    return True
GLib.unix_signal_add(0, signal.SIGUSR1, freeze)
print("ready", flush=True)
GLib.MainLoop().run()
"""


@contextlib.contextmanager
def frozen(bus, at_once=True):
    """A service that does not answer, at_once or after it was stopped by a signal."""
    with subprocess.Popen([sys.executable, "-c", SERVICE, bus.address], stdout=subprocess.PIPE, text=True) as service:
        try:
            assert service.stdout.readline() == "ready\n"
            if at_once:
                service.send_signal(signal.SIGSTOP)
            yield service
        finally:
            service.kill()


def test_a_service_that_is_frozen(btd):
    """It delays nobody else, and both the log and the causes name it."""
    call = {"type": "DBusCall", **OBJECT, "member": "A", "timeout": "10ms"}
    btd.tree("other", {"type": "DBusCall", "destination": "org.freedesktop.DBus", "path": "/", "member": "GetId"})
    btd.tree("often", {"type": "RetryUntilSuccessful", "num_attempts": 60, "child": call})
    with frozen(btd.bus):
        path = finished(btd, "once", {**call, "timeout": "1s"})
        assert chain_of(btd, path)[-1]["text"] == "timed out after 1s; the call may still take effect"
        path = btd.client.start("often")[1]
        btd.client.finish(path)
        assert re.sub(r"\b\d+ ", "7 ", chain_of(btd, path)[-1]["text"]) == \
            "timed out after 10ms; it waited for org.example.A to answer 7 earlier calls"
        path = btd.client.start("other")[1]
        assert btd.client.finish(path)[0] == "success"
    assert btd.log().count("org.example.A on bus") == 1


def test_a_property_that_is_not_answered(btd, clock):
    btd.tree("read", {"type": "DBusProperty", **OBJECT, "property": "A"})
    with frozen(btd.bus):
        btd.start(env=clock.env)
        path = btd.client.start("read")[1]
        clock.advance(btd, 26)
        btd.client.finish(path)
    assert chain_of(btd, path)[-1]["text"] == "org.example.A has not answered within 25s"


@pytest.mark.parametrize("interval, freeze", [({"interval": "1s"}, signal.SIGSTOP), ({}, signal.SIGUSR1)])
def test_a_property_that_is_not_answered_any_more(btd, clock, interval, freeze):
    """The value is unknown when an answer is late, also to the question after an invalidation, until there is one."""
    btd.tree("read", {"type": "WhileDoElse", "children": [
        {"type": "DBusProperty", "name": "Read", **OBJECT, "property": "A", **interval},
        {"type": "Sleep", "name": "Answers", "duration": "infinity"}, {"type": "Sleep", "name": "Late", "duration": "infinity"}]})
    with frozen(btd.bus, at_once=False) as service:
        btd.start(env=clock.env)
        path = btd.client.start("read")[1]
        btd.client.wait_node(path, "Answers", "running")
        service.send_signal(freeze)
        os.waitid(os.P_PID, service.pid, os.WSTOPPED | os.WNOWAIT)
        nodes = look(lambda: clock.advance(btd, 26) or (nodes := btd.client.nodes(path))["Late"]["status"] == "running" and nodes,
                     lambda: "the late answer")
        assert nodes["Read"]["detail"] == "org.example.A has not answered within 25s"
        service.send_signal(signal.SIGCONT)
        btd.client.wait_node(path, "Answers", "running")


LATE = {**OBJECT, "destination": "org.example.Late"}


def test_a_service_that_starts_slowly(tmp_path):
    (tmp_path / "late.service").write_text("[D-BUS Service]\nName=org.example.Late\nExec=/bin/sleep 1000\n")
    bus = buses.Bus("dbus-daemon", f"<servicedir>{tmp_path}</servicedir>")
    btd = Daemon(bus, str(tmp_path))
    starts = f"waited for the bus '{bus.address}' to start org.example.Late"
    call, read = {"type": "DBusCall", "name": "Call", **LATE, "member": "A"}, {"type": "DBusProperty", "name": "Read",
                                                                              **LATE, "property": "A"}
    try:
        btd.tree("call", {**call, "timeout": "1s"})
        btd.tree("calls", {"type": "Timeout", "timeout": "1s", "child": {"type": "Sequence", "children": [call]}})
        btd.tree("read", {"type": "WaitFor", "timeout": "1s", "child": read})
        btd.tree("stays", call)
        btd.start()
        paths = {name: btd.client.start(name)[1] for name in ("call", "calls", "read", "stays")}
        look(lambda: btd.client.nodes(paths["stays"])["Call"]["detail"].startswith(starts.replace("waited", "waits")),
             "the status names the service")
        for name, text in (("call", f"timed out after 1s; it {starts}; the call may still be delivered"),
                           ("calls", f"timed out after 1s; Call {starts}; the call may still be delivered"),
                           ("read", f"timed out after 1s; Read {starts}")):
            btd.client.finish(paths[name])
            assert chain_of(btd, paths[name])[1]["text"] == text
    finally:
        btd.close()
        bus.close()


def for_each(items, **keys):
    return {"type": "ForEach", "name": "Each", "items": items, "as": "link", **keys, "child":
            {"type": "Script", "name": "Ping", "code": "checked = link", "fail_if": "link == 'eth1' or link == 7"}}


def test_a_for_each_says_for_which_element(btd):
    path = finished(btd, "all", for_each(["eth0", "eth1", "eth2"]))
    run, each, ping = chain_of(btd, path)
    why = "its fail_if is true: link == 'eth1' or link == 7 (link is \"eth1\")"
    assert run["text"] == f'Each: failed for "eth1": {why}'
    assert (each["kind"], each["text"], each["facts"]) == ("element", 'failed for "eth1"', {"index": 1, "element": "eth1"})
    assert ping["text"] == why
    assert f'✗ Each (ForEach) after T: failed for "eth1": {why}\n' in without_times(
        btd.btctl("status", "all", env=UTF8).stdout)
    assert f'all.1/Each: failed for "eth1": {why}\n' in btd.log()


def test_the_log_says_for_which_element(btd):
    """It names nodes below a ForEach as the events do, and others by their names."""
    each = {"type": "ForEach", "items": ["a", 7], "as": "e", "max_failures": 2, "child": {
        "type": "Sequence", "name": "One", "children": [
            {"type": "Log", "name": "Say", "message": "it is {e}"},
            {"type": "AlwaysSuccess", "name": "Try", "fail_if": "e ~= 1"}]}}
    why = "failed: its fail_if is true: e ~= 1"
    finished(btd, "each", {"type": "Sequence", "name": "Top", "children": [
        {**each, "name": "Both", "concurrency": 2}, {**each, "name": "Single"},
        {"type": "Log", "name": "Say", "message": "done"}]})
    assert sorted(line for line in btd.log().splitlines() if "/Say: " in line or "/Try: " in line) == [
        "btd: each.1/Say: done",
        "btd: each.1/Top/Both/One[1: a]/Say: it is a",
        f'btd: each.1/Top/Both/One[1: a]/Try: {why} (e is "a")',
        "btd: each.1/Top/Both/One[2: 7]/Say: it is 7",
        f"btd: each.1/Top/Both/One[2: 7]/Try: {why} (e is 7)",
        "btd: each.1/Top/Single/One[7]/Say: it is 7",
        f"btd: each.1/Top/Single/One[7]/Try: {why} (e is 7)",
        "btd: each.1/Top/Single/One[a]/Say: it is a",
        f'btd: each.1/Top/Single/One[a]/Try: {why} (e is "a")']


def test_a_for_each_says_how_many_elements_failed(btd):
    path = finished(btd, "some", for_each(["eth1", 7, "eth2"], max_failures=1, concurrency=2))
    run, each, ping = chain_of(btd, path)
    assert (each["kind"], each["text"]) == ("threshold", "failed for 2 of 3 elements, last for 7")
    assert each["facts"] == {"index": 1, "element": 7, "elements": 3, "failed": 2}
    assert run["text"] == f"Each: failed for 2 of 3 elements, last for 7: {ping['text']}"
    assert ping["element"] == "7" and "element" not in each
    assert f"└─ Ping[2: 7] (Script): {ping['text']}\n" in btd.btctl("status", "some", env=UTF8).stdout


@pytest.mark.parametrize("concurrency", [1, 2])
def test_a_for_each_that_runs_all_names_all_that_failed(btd, concurrency):
    """Also those with which its child, or a copy of it, has not ended last; a retry begins anew."""
    links = [{"name": name} for name in ("eth0", "eth1", "eth2", "eth3")]
    each = {**for_each(links, label="{link.name}", run_all=True, concurrency=concurrency), "child": {
        "type": "Script", "name": "Ping", "code": "", "fail_if": "link.name ~= 'eth0' and link.name ~= 'eth3'"}}
    path = finished(btd, "all", {"type": "RetryUntilSuccessful", "name": "Twice", "num_attempts": 2, "child": each})
    run, twice, each, ping = chain_of(btd, path)
    why = "its fail_if is true: link.name ~= 'eth0' and link.name ~= 'eth3' (link is {\"name\":\"%s\"})"
    assert (each["kind"], each["facts"]) == ("all-failed", {"elements": 4, "children": 2})
    assert each["text"] == f"2 of 4 elements failed: eth1: {why % 'eth1'}; eth2: {why % 'eth2'}"
    assert (ping["kind"], ping["text"]) == ("guard", why % "eth2")
    assert run["text"] == f"Twice: failed 2 times; last: {each['text']}" and twice["kind"] == "attempts"
    if concurrency == 1:  # it has run for eth3 since
        assert "element" not in ping


@pytest.mark.parametrize("concurrency", [1, 2])
def test_a_for_each_until_success_names_what_failed_before(btd, concurrency):
    each = {**for_each(["eth0", "eth1", "eth2"], until="success", concurrency=concurrency), "child": {
        "type": "Script", "name": "Ping", "code": "used = link", "fail_if": "link == 'eth0'"}}
    path = finished(btd, "first", each)
    assert btd.client.variables(path)["used"] == "eth1" and chain_of(btd, path) == []
    assert btd.client.nodes(path)["Each"]["detail"] == \
        "1 of 3 elements failed: eth0: its fail_if is true: link == 'eth0' (link is \"eth0\")"


def test_a_for_each_until_success_that_fails_names_all(btd):
    each = {**for_each(["eth0", "eth1", "eth2"], until="success"), "child": {
        "type": "Script", "name": "Ping", "code": "", "fail_if": "link ~= ''"}}
    run, all_failed, ping = chain_of(btd, finished(btd, "none", each))
    why = "its fail_if is true: link ~= '' (link is \"eth%i\")"
    assert all_failed["text"] == f"all 3 elements failed: eth0: {why % 0}; eth1: {why % 1}; eth2: {why % 2}"
    assert (all_failed["kind"], ping["element"], run["text"]) == ("all-failed", "eth2", f"Each: {all_failed['text']}")


def test_who_gave_a_node_its_outcome(btd):
    btd.tree("given", {"type": "Sequence", "name": "All", "children": [
        LONG, {"type": "AlwaysFailure", "name": "Mine"}, {"type": "AlwaysSuccess", "name": "Other"}]})
    btd.start()
    path = btd.client.start("given")[1]
    for node, status in ((2, "success"), (3, "failure"), (1, "success")):
        btd.client.call(path, RUN, "Force", "us", node, status)
    status, cause = btd.client.finish(path)
    leaf = chain_of(btd, path)[-1]
    assert (status, leaf["kind"], leaf["facts"]["uid"], leaf["facts"]["pid"]) == \
        ("failure", "forced", os.getuid(), os.getpid())
    assert cause == f"All/Other: {leaf['text']}" and leaf["text"].startswith(f"forced by UID {os.getuid()} (")
    assert [btd.client.nodes(path)[name]["detail"] for name in ("Long", "Mine")] == [leaf["text"]] * 2


def test_a_run_that_goes_on_or_succeeded_has_none(btd):
    assert chain_of(btd, finished(btd, "good", {"type": "AlwaysSuccess"})) == []
    btd.tree("long", LONG)
    btd.client.reload()
    assert chain_of(btd, btd.client.start("long")[1]) == []


def test_who_halted_a_run(btd):
    btd.tree("long", {"type": "Sequence", "name": "All", "children": [LONG]})
    btd.start()
    btd.client.subscribe(RUN)
    btd.client.manager("Subscribe")
    path = btd.client.start("long")[1]
    btd.client.wait_signal("NodesChanged", lambda signal: any(row[3] == "Long" for row in signal.args[0]))
    btd.client.halt(path)
    btd.client.finish(path)

    level, = chain_of(btd, path)
    assert (level["status"], level["kind"]) == ("halted", "halted")
    assert level["facts"]["uid"] == os.getuid() and level["facts"]["pid"] == os.getpid()
    assert level["text"] == f"halted by UID {os.getuid()} ({level['facts']['command']})"
    *above, node = btd.client.call(path, RUN, "GetCauseChain", "u", 1)
    assert [each.get("path", each.get("run")) for each in above] == ["long.1", "All"]
    assert (node["path"], node["status"], node["kind"], node["text"]) == \
        ("All/Long", "halted", "halted", level["text"])


def test_what_stopped_a_node(btd):
    path = finished(btd, "limit", {"type": "Timeout", "name": "Limit", "timeout": "10ms", "child": LONG})
    chain = btd.client.call(path, RUN, "GetCauseChain", "u", 1)
    assert [level["status"] for level in chain] == ["failure", "failure", "halted", "failure"]
    assert chain[2]["text"] == "stopped by Limit" and chain[3]["text"] == "timed out after 10ms"


def test_nodes_that_are_not_there(btd):
    path = finished(btd, "good", {"type": "AlwaysSuccess"})
    with pytest.raises(DBusError) as error:
        btd.client.call(path, RUN, "GetCauseChain", "u", 1)
    assert error.value.name == "org.btd1.Error.InvalidArgument"
    assert error.value.message == "there is no node 1; the nodes are 0 to 0"
    assert [level["status"] for level in btd.client.call(path, RUN, "GetCauseChain", "u", 0)] == ["success"] * 2


def test_status_shows_the_way_down(btd):
    finished(btd, "again", {"type": "RetryUntilSuccessful", "name": "Again", "num_attempts": 2, "child": BAD})
    header = btd.btctl("status", "again", env=UTF8).stdout.split("\n\n")[0]
    assert without_times(header) == (
        "✗ again.1: failure after T\n"
        "     Tree: again\n"
        "  Started: T\n"
        "    Ticks: 5, 5 changes, 6 actions started, 3 of them again\n"
        "    Cause: Again: failed 2 times; last: LoadConfig: exited with status 3\n"
        "      Why: Again (RetryUntilSuccessful): failed 2 times\n"
        "           └─ Boot (Sequence): LoadConfig failed\n"
        "              └─ LoadConfig (Spawn): exited with status 3\n"
        "    Facts: program: /bin/sh\n"
        "           status: 3")
    assert "           `- Boot (Sequence): LoadConfig failed\n" in \
        btd.btctl("status", "again", "--ascii", env=UTF8).stdout


def test_status_says_what_a_node_without_a_name_is_about(btd):
    path = finished(btd, "boot", {"type": "Sequence", "children": [{"type": "Spawn", "argv": ["/bin/false"]}]})
    text = btd.btctl("status", "boot", env=UTF8).stdout
    assert "           └─ Spawn /bin/false: exited with status 1\n" in text
    assert without_times(text).endswith("\n└─ ✗ Spawn /bin/false after T: exited with status 1\n")
    for at, interface in (path, RUN), ("/org/btd1/tree/boot", "org.btd1.Tree"):
        assert [row[-1].get("title") for row in btd.client.call(at, interface, "GetNodes")] == [None, "/bin/false"]
    assert [node["title"] for node in json.loads(btd.btctl("status", "boot", "--json").stdout)["nodes"]] == \
        [None, "/bin/false"]


def test_status_names_the_tree_that_is_used(btd):
    finished(btd, "outer", json.dumps({"btd": 1, "trees": {"inner": {"root": {"type": "AlwaysFailure"}}}, "root": {
        "type": "Timeout", "timeout": "90s", "child": {"type": "SubTree", "tree": "inner"}}}))
    lines = btd.btctl("status", "outer", env=UTF8).stdout.splitlines()
    assert lines[4:8] == ["    Cause: Timeout/inner/AlwaysFailure: always fails",
                          "      Why: Timeout 1min 30s: inner failed",
                          "           └─ inner (SubTree): AlwaysFailure failed",
                          "              └─ AlwaysFailure: always fails"]


def test_status_of_a_halted_run_shows_who(btd):
    btd.tree("long", LONG)
    btd.start()
    path = btd.client.start("long")[1]
    assert btd.btctl("halt", "long").returncode == 0
    btd.client.finish(path)
    lines = btd.btctl("status", "long", env=UTF8).stdout.splitlines()
    assert f"    Cause: halted by UID {os.getuid()} (btctl)" in lines
    assert f"    Facts: uid: {os.getuid()}" in lines and "           command: btctl" in lines
    assert not any("Why:" in line for line in lines)


def test_status_in_json_has_the_same(btd):
    path = finished(btd, "boot", BAD)
    run = json.loads(btd.btctl("status", "boot", "--json").stdout)
    assert run["cause_chain"] == chain_of(btd, path) and run["journal"] == []


def test_status_in_json_has_a_cause_of_every_node(btd):
    finished(btd, "boot", {"type": "Parallel", "children": [
        {"type": "Timeout", "timeout": "20ms", "child": {"type": "Sleep", "duration": "1h"}},
        {"type": "Sequence", "name": "Never", "skip_if": "true", "children": [{"type": "AlwaysSuccess"}]},
        {"type": "Sleep", "name": "Halted", "duration": "1h"}]})
    run = json.loads(btd.btctl("status", "boot", "--json").stdout)
    causes = {node["name"]: node.get("cause") for node in run["nodes"]}
    assert causes["Parallel"] == {"kind": "threshold", "text": "1 of its 3 children failed",
                                  "facts": {"children": 3, "failed": 1, "succeeded": 0}, "because": 1}
    assert causes["Timeout"]["kind"] == "timeout" and causes["Timeout"]["because"] is None
    assert causes["Timeout"]["facts"]["limit"] == "20ms"
    assert causes["Sleep"] == {"kind": "halted", "text": "stopped by Parallel/Timeout",
                               "facts": {"by": "Parallel/Timeout"}, "because": 1}
    assert causes["Halted"]["text"] == "stopped by Parallel" and causes["Halted"]["because"] == 0
    assert causes["Never"]["kind"] == "guard" and causes["AlwaysSuccess"] is None


def test_what_a_service_says_is_safe_to_print(btd):
    finished(btd, "bad", {"type": "Spawn", "argv": ["/bin/\033[31m"]})
    text = btd.btctl("status", "bad", env=UTF8).stdout
    assert "\033" not in text and "program: /bin/?[31m\n" in text


def test_condition_that_is_false_again(btd):
    """A reactive node starts the node above it again, and it fails for the same reason, and is counted."""
    def condition(test):
        return {"type": "Condition", "test": test, "name": test}
    btd.tree("boot", {"type": "ReactiveFallback", "name": "R", "children": [
        {"type": "Sequence", "name": "One", "children": [condition("x == 1"), {"type": "Sleep", "duration": "1h"}]},
        {"type": "Parallel", "name": "Both", "success_count": 2, "failure_count": 2, "children": [
            condition("x == 2"), condition("x == 3"), condition("x < 9")]},
        {"type": "Sleep", "name": "Else", "duration": "1h"}]}, blackboard={"x": 0})
    btd.start()
    _, path = btd.client.start("boot")
    for x in 4, 5:
        btd.client.set_variables(path, x=x)
        look(lambda least=x - 2: btd.client.run_property(path, "Ticks") >= least, "the tick")
        nodes = btd.client.nodes(path)
        assert nodes["One"]["detail"] == f"x == 1: x == 1 is false (x is {x})"
        both = f"2 of its 3 children failed: x == 2: x == 2 is false (x is {x}); x == 3: x == 3 is false (x is {x})"
        assert nodes["Both"]["detail"] == both
        chain = btd.client.call(path, "org.btd1.Run", "GetCauseChain", "u", nodes["Both"]["index"])
        assert chain[2]["text"] == both
