# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the interface org.btd1: its members, its answers, and its errors for wrong arguments."""

import json
import os
import re
import signal
import time
import xml.etree.ElementTree as ElementTree

import pytest
from gi.repository import Gio, GLib

import client
import daemon
from client import Client, DBusError, look, wait

MANAGER = "org.btd1.Manager"
TREE = "org.btd1.Tree"
RUN = "org.btd1.Run"
SLEEP = {"type": "Sleep", "name": "Nap", "duration": "1h"}

# Everything of the interface: methods as "name(in) -> (out)" with argument names, signals, properties with their flag.
INTERFACES = {
    MANAGER: {
        "StartTree(s tree, a{sv} variables, a{sv} options) -> (s id, o run, a{sv} details)",
        "RetryTree(s tree, a{sv} variables, s run, s hash, au nodes, a{sv} state, a{sv} options) -> "
        "(s id, o run, a{sv} details)",
        "StartText(s name, s text, a{sv} variables, a{sv} options) -> (s id, o run, a{sv} details)",
        "HaltTree(s tree, a{sv} options) -> (as halted, u cancelled)",
        "HaltRun(s id, a{sv} options) -> ()",
        "Reload(a{sv} options) -> (as errors)",
        "ListTrees() -> (aa{sv} trees)",
        "ListRuns() -> (aa{sv} runs)",
        "GetTree(s tree) -> (o path)",
        "GetRun(s id) -> (o path)",
        "GetOutcome(s tree, s token, a{sv} options) -> (a{sv} outcome)",
        "Wait(s tree, s token, a{sv} options) -> (a{sv} outcome)",
        "WaitRun(s id, a{sv} options) -> (a{sv} outcome)",
        "ListHistory(a{sv} options) -> (aa{sv} runs)",
        "GetRecord(s id, t offset) -> (ay part)",
        "GetEvents(s id, t after) -> (aa{sv} events)",
        "GetNodes(s id, t event, a{sv} options) -> (a(uussstta{sv}) nodes, a{sv} moment)",
        "GetVariables(s id, t event, a{sv} options) -> (a{sv} variables)",
        "GetKept(s tree, a{sv} options) -> (a{sv} variables)",
        "ForgetKept(s tree, as names, a{sv} options) -> (as forgotten)",
        "GetMetrics() -> (s text)",
        "ListUsers(a{sv} options) -> (aa{sv} users)",
        "Subscribe() -> ()",
        "SubscribeEvents() -> ()",
        "SubscribeTo(a{sv} options) -> ()",
        "UnsubscribeFrom(a{sv} options) -> ()",
        "Unsubscribe() -> ()",
        "signal RunNew(s id, o run)",
        "signal RunReady(s id, o run)",
        "signal RunFinished(s id, o run, s status, s cause)",
        "signal RestartDropped(s id, s tree, s instance)",
        "signal Reloading()",
        "signal Reloaded(as errors)",
        "property Version s const",
        "property Mode s const",
        "property TreeDirectories as const",
        "property NTrees u true",
        "property NRunning u true",
        "property Status s true",
        "property Disk s true",
        "property LostLogMessages t false",
        "property NeedReload b false",
    },
    TREE: {
        "Start(a{sv} variables, a{sv} options) -> (s id, o run, a{sv} details)",
        "Halt(a{sv} options) -> (as halted, u cancelled)",
        "GetText() -> (s text)",
        "GetTextFrom(t offset) -> (s part)",
        "GetFile(s path) -> (s text)",
        "GetNodes() -> (a(uussa{sv}) nodes)",
        "GetNodesFrom(u first) -> (a(uussa{sv}) nodes)",
        "property Name s const",
        "property Description s true",
        "property SourcePath s true",
        "property DropInPaths as true",
        "property LuaPaths as true",
        "property Hash s true",
        "property Autostart b true",
        "property NeedReload b false",
        "property NodeCount u true",
        "property Inputs aa{sv} true",
        "property Outputs aa{sv} true",
        "property State s true",
        "property Waiting s true",
        "property Restarts aa{sv} true",
        "property Diagnostics as true",
        "property Runs ao true",
        "property NRunning u true",
    },
    RUN: {
        "Halt(a{sv} options) -> ()",
        "GetNodes() -> (a(uussstta{sv}) nodes)",
        "GetNodesFrom(u first) -> (a(uussstta{sv}) nodes)",
        "GetSomeNodes(au indices) -> (a(uussstta{sv}) nodes)",
        "GetCauseChain(u node) -> (aa{sv} chain)",
        "GetCauses() -> (aa{sv} causes)",
        "GetCausesFrom(u first) -> (aa{sv} causes)",
        "GetVariables() -> (a{sv} variables)",
        "GetVariable(s name) -> (v value)",
        "SetVariables(a{sv} variables) -> ()",
        "Pause() -> ()",
        "Resume() -> ()",
        "Step() -> ()",
        "SetBreakpoint(u node, b set) -> ()",
        "Force(u node, s status) -> ()",
        "signal NodesChanged(a(uussstta{sv}) nodes)",
        "signal Events(t last, aa{sv} events)",
        "signal Ended(s status, s cause)",
        "property Id s const",
        "property Tree s const",
        "property TreePath o const",
        "property Instance s const",
        "property Token s const",
        "property StartedBy s const",
        "property Owner u const",
        "property Hash s const",
        "property Started t const",
        "property StartedMonotonic t const",
        "property Ready t true",
        "property ReadyMonotonic t true",
        "property Finished t true",
        "property FinishedMonotonic t true",
        "property Status s true",
        "property Cause s true",
        "property CauseChain aa{sv} true",
        "property Restart s invalidates",
        "property Breakpoints au true",
        "property PausedBefore au true",
        "property LastEvent t false",
        "property Durable b true",
        "property NotDurableReason s true",
        "property TreeChanged b false",
        "property Ticks t false",
        "property Changes t false",
        "property ActionStarts t false",
        "property ActionRestarts t false",
    },
}


SILENT = {interface: {member.split()[1] for member in members if member.endswith(" false")}
          for interface, members in INTERFACES.items()}


def describe(interface):
    def arguments(element, direction=None):
        wanted = [a for a in element.findall("arg") if direction in (None, a.get("direction", "in"))]
        return "(" + ", ".join(f"{a.get('type')} {a.get('name')}" for a in wanted) + ")"

    def flag(element):
        name = "org.freedesktop.DBus.Property.EmitsChangedSignal"
        return next((a.get("value") for a in element.findall("annotation") if a.get("name") == name), "true")

    return {method.get("name") + arguments(method, "in") + " -> " + arguments(method, "out")
            for method in interface.findall("method")} \
        | {"signal " + signal.get("name") + arguments(signal) for signal in interface.findall("signal")} \
        | {f"property {p.get('name')} {p.get('type')} {flag(p)}" for p in interface.findall("property")}


def introspect(btd, path):
    text = btd.client.call(path, "org.freedesktop.DBus.Introspectable", "Introspect")
    return {interface.get("name"): interface for interface in ElementTree.fromstring(text).findall("interface")}


def start_sleeper(btd, instance=""):
    btd.tree("nap", SLEEP)
    btd.start()
    return btd.client.start("nap", instance)


@pytest.mark.parametrize("name, path", [(MANAGER, "/org/btd1"), (TREE, "/org/btd1/tree/nap"),
                                        (RUN, "/org/btd1/run/nap_2e1")])
def test_interface_is_as_documented(btd, name, path):
    """And no two members have the same name: some libraries cannot read such a property."""
    start_sleeper(btd)
    interface = introspect(btd, path)[name]
    members = [member.get("name") for member in interface]

    assert describe(interface) == INTERFACES[name]
    assert len(members) == len(set(members))


def test_ready(btd):
    """While the run goes on; without a node that makes it so, when it has succeeded."""
    btd.tree("watch", {"type": "Sequence", "children": [
        {"type": "Sleep", "duration": "1ms", "ready": True}, {"type": "WaitFor", "child": {
            "type": "Condition", "test": "stop"}}]}, inputs={"stop": {"type": "any", "default": None}})
    btd.tree("brief", {"type": "AlwaysSuccess"})
    btd.tree("bad", {"type": "AlwaysFailure"})
    btd.start()
    btd.client.subscribe()
    run, path = btd.client.start("watch")
    btd.client.wait_signal("RunReady", lambda s: s.args == (run, path))
    ready = btd.client.wait_signal("PropertiesChanged", lambda s: "Ready" in s.args[1]).args[1]["Ready"]
    assert btd.client.run_property(path, "Started") < ready < time.time_ns() // 1000
    assert btd.client.run_property(path, "Ready") == ready
    assert btd.client.run_property(path, "Status") == "running"
    assert btd.client.runs()[0].ready == ready
    [listed] = [tree for tree in json.loads(btd.btctl("list", "--json").stdout) if tree["name"] == "watch"]
    assert listed["runs"][0]["ready_usec"] == ready
    assert json.loads(btd.btctl("status", "watch", "--json").stdout)["ready_usec"] == ready
    assert "    Ready: " in btd.btctl("status", "watch").stdout

    for tree, is_ready in ("brief", True), ("bad", False):
        path = btd.client.start(tree)[1]
        btd.client.finish(path)
        assert btd.client.run_property(path, "Ready") == (btd.client.run_property(path, "Finished") if is_ready else 0)
    assert [s.args[0] for s in btd.client.signals if s.member == "RunReady"] == [run]


def test_object_manager_knows_everything(btd):
    run, path = start_sleeper(btd)

    objects = btd.client.call("/org/btd1", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects")

    assert objects["/org/btd1/tree/nap"][TREE]["Name"] == "nap"
    assert objects[path][RUN]["Id"] == run == "nap.1"


def test_objects_come_and_go_with_signals(btd):
    btd.start()
    btd.client.subscribe("org.freedesktop.DBus.ObjectManager")
    btd.client.subscribe(MANAGER)
    path = btd.tree("new", {"type": "AlwaysSuccess"})

    def added(path):
        signal = btd.client.wait_signal("InterfacesAdded", lambda s: s.args[0] == path)
        objects = btd.client.call("/org/btd1", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects")
        assert {name: set(values) for name, values in signal.args[1].items()} == {
            name: set(values) for name, values in objects[path].items()}

    btd.client.reload()
    added("/org/btd1/tree/new")
    run, run_path = btd.client.start("new")
    btd.client.wait_signal("RunNew", lambda s: s.args == (run, run_path))
    added(run_path)
    btd.client.wait_signal("RunFinished", lambda s: s.args == (run, run_path, "success", ""))

    os.unlink(path)
    btd.client.reload()
    btd.client.wait_signal("InterfacesRemoved", lambda s: s.args[0] == "/org/btd1/tree/new")


def test_properties_change_with_signals(btd):
    btd.tree("nap", SLEEP)
    btd.start()
    btd.client.subscribe("org.freedesktop.DBus.Properties")

    def changed(path, **values):
        btd.client.wait_signal("PropertiesChanged", lambda s: s.path == path and all(
            s.args[1].get(name) == value or name in s.args[2] for name, value in values.items()))

    run, path = btd.client.start("nap")
    changed("/org/btd1", NRunning=1)
    changed("/org/btd1/tree/nap", Runs=[path], NRunning=1)
    btd.client.halt_run(run)
    changed(path, Status="halted")
    changed("/org/btd1", NRunning=0)
    changed("/org/btd1/tree/nap", NRunning=0)


def test_all_that_changes_is_told(btd):
    """The values that signals have told are those that one reads."""
    btd.tree("nap", SLEEP)
    btd.start()
    btd.client.subscribe("org.freedesktop.DBus.Properties")
    run, path = btd.client.start("nap")
    objects = {"/org/btd1": MANAGER, "/org/btd1/tree/nap": TREE, path: RUN}

    def read(at):
        values = btd.client.call(at, "org.freedesktop.DBus.Properties", "GetAll", "s", objects[at])
        return {name: value for name, value in values.items() if name not in SILENT[objects[at]]}
    told = {at: read(at) for at in objects}

    def take_signals():
        for signal in btd.client.signals:
            if signal.path in told:
                told[signal.path].update(signal.args[1])
        btd.client.signals.clear()
        return told

    def check(what):
        now = {at: read(at) for at in objects}
        wait(lambda: take_signals() == now, f"the signals after {what}")

    for method, *arguments in (("Pause",), ("SetBreakpoint", "ub", 0, True), ("Resume",)):
        btd.client.call(path, RUN, method, *arguments)
        check(method)
    btd.client.halt(path)
    btd.client.finish(path)
    check("Halt")
    assert told[path]["Status"] == "halted" and told[path]["Breakpoints"] == [0]
    btd.tree("nap", {"type": "AlwaysSuccess"}, description="another")
    btd.client.reload()
    check("Reload")
    assert told["/org/btd1/tree/nap"]["Description"] == "another"


def test_a_run_tells_its_story(btd):
    btd.tree("story", {"type": "Sequence", "name": "Story", "children": [
        {"type": "AlwaysSuccess", "name": "First"},
        {"type": "Sleep", "name": "Second", "duration": "10ms"},
        {"type": "AlwaysFailure", "name": "Third"},
        {"type": "AlwaysSuccess", "name": "Never"}]})
    btd.start()
    _, path = btd.client.start("story")

    status, cause = btd.client.finish(path)
    nodes = btd.client.nodes(path)
    values = btd.client.get_all(path, RUN)

    assert status == "failure" and cause.startswith("Story/Third")
    assert [nodes[name]["status"] for name in ("Story", "First", "Second", "Third", "Never")] == \
        ["failure", "success", "success", "failure", "idle"]
    assert nodes["Second"]["duration"] >= 10000
    assert values["Finished"] - values["Started"] == \
        values["FinishedMonotonic"] - values["StartedMonotonic"] >= 10000
    assert values["ReadyMonotonic"] == 0 < values["StartedMonotonic"] <= time.monotonic_ns() // 1000
    assert nodes["Never"]["since"] == 0
    assert values["Status"] == "failure" and values["Cause"] == cause
    assert values["Started"] <= values["Finished"]
    assert values["TreePath"] == "/org/btd1/tree/story"


def test_node_changes_are_for_subscribers(btd):
    btd.tree("one", {"type": "Sleep", "name": "One", "duration": "1ms"})
    btd.start()
    btd.client.subscribe(RUN)
    _, path = btd.client.start("one")
    btd.client.wait_signal("Ended", lambda s: s.path == path)
    assert not [s for s in btd.client.signals if s.member == "NodesChanged"]

    btd.client.manager("Subscribe")
    _, path = btd.client.start("one")
    btd.client.wait_signal("Ended", lambda s: s.path == path)
    rows = [row for s in btd.client.signals if s.member == "NodesChanged" and s.path == path for row in s.args[0]]
    assert [row[4] for row in rows if row[3] == "One"] == ["running", "success"]

    btd.client.manager("Unsubscribe")
    btd.client.signals.clear()
    _, path = btd.client.start("one")
    btd.client.wait_signal("Ended", lambda s: s.path == path)
    assert not [s for s in btd.client.signals if s.member == "NodesChanged"]


def test_instances_have_variables_of_their_own(btd):
    btd.tree("greet", {"type": "Sequence", "children": [
        {"type": "Log", "message": "hello {whom}"}, SLEEP]}, blackboard={"whom": "world", "depth": 1})
    btd.start()

    _, plain = btd.client.start("greet")
    _, other = btd.client.start("greet", "other", {"whom": {"name": "you"}})

    assert btd.client.variables(plain) == {"whom": "world", "depth": 1}
    assert btd.client.variables(other) == {"whom": {"name": "you"}, "depth": 1}
    assert btd.client.run_property(other, "Instance") == "other"
    with pytest.raises(DBusError) as error:
        btd.client.start("greet", "other")
    assert error.value.name == "org.btd1.Error.AlreadyRunning"
    assert sorted(btd.client.halt_tree("greet")[0]) == ["greet.1", "greet.2"]


def test_an_error_says_what_to_do_next(btd):
    btd.tree("boot", SLEEP)
    btd.start()
    btd.client.start("boot")

    with pytest.raises(DBusError) as error:
        btd.client.start("boto")
    assert error.value.name == "org.btd1.Error.NoSuchTree"
    assert error.value.message == "no tree 'boto'; did you mean 'boot'?"

    with pytest.raises(DBusError) as error:
        btd.client.start("boot")
    assert error.value.name == "org.btd1.Error.AlreadyRunning"
    assert error.value.message == "tree 'boot' is already running as boot.1; give another instance to run it twice"


def test_a_token_starts_a_tree_once(btd, tmp_path):
    """Also when the run has finished, and after a restart of the daemon; another instance is another matter."""
    options = f"--runtime={tmp_path}/run", f"--state={tmp_path}/state"
    btd.tree("nap", SLEEP)
    btd.start(*options)

    def start(**given):
        run, path, details = btd.client.manager("StartTree", "sa{sv}a{sv}", "nap", {}, client.variants(given))
        return run, path, details["token"], details["status"], details["started"]

    assert start(token="mine") == ("nap.1", "/org/btd1/run/nap_2e1", "mine", "running", True)
    assert start(token="mine") == ("nap.1", "/org/btd1/run/nap_2e1", "mine", "running", False)
    assert start(token="mine", instance="other")[0] == "nap.2"
    assert start(token="yours", attach=True) == ("nap.1", "/org/btd1/run/nap_2e1", "mine", "running", False)
    with pytest.raises(DBusError) as error:
        start(token="yours")
    assert error.value.name == "org.btd1.Error.AlreadyRunning"
    assert btd.client.outcome("nap", "mine") == {
        "id": "nap.1", "path": "/org/btd1/run/nap_2e1", "status": "running", "cause": "", "finished": 0, "restarting": False}
    assert btd.client.run_property("/org/btd1/run/nap_2e1", "Token") == "mine"

    assert btd.client.halt_tree("nap", token="yours") == ([], 0)
    assert btd.client.halt_tree("nap", token="mine", instance="") == (["nap.1"], 0)
    assert btd.client.finish("/org/btd1/run/nap_2e1")[0] == "halted"
    assert start(token="mine")[0] == "nap.1"
    assert [row.status for row in btd.client.runs()] == ["halted", "running"]
    assert start(attach=True)[0::2] == ("nap.3", "nap.3", True)

    btd.stop(signal.SIGKILL)
    btd.start(*options)
    assert start(token="mine") == ("nap.1", "/org/btd1/run/nap_2e1", "mine", "halted", False)
    assert btd.client.outcome("nap", "mine", instance="")["status"] == "halted"
    assert btd.client.outcome("nap", "nap.3")["status"] == "running"


def test_a_token_has_its_inputs(btd, tmp_path):
    """The same token with other variables, or with another text, is no repeated call; the order of members is none,
    kept variables are not given, and the values of secret ones do not count, so that nobody can guess them."""
    options = f"--runtime={tmp_path}/run", f"--state={tmp_path}/state"
    btd.tree("nap", SLEEP, inputs={"a": {"type": "any", "default": 1, "kept": True},
                                   "s": {"type": "string", "default": None, "secret": True}})
    btd.start(*options)

    def refused(method, signature, *arguments):
        with pytest.raises(DBusError) as error:
            btd.client.manager(method, signature, *arguments, {"token": GLib.Variant("s", "mine")})
        assert error.value.name == "org.btd1.Error.InvalidArgument"
        return error.value.message
    variables = {"a": GLib.Variant("a{sv}", {"x": GLib.Variant("i", 1), "y": GLib.Variant("as", ["b", "c"])})}
    again = {"a": GLib.Variant("a{sv}", {"y": GLib.Variant("as", ["b", "c"]), "x": GLib.Variant("x", 1)})}
    for given in variables, again, variables:
        given["s"] = GLib.Variant("s", "one of many" if given is again else "x")
        assert btd.client.manager("StartTree", "sa{sv}a{sv}", "nap", given, {"token": GLib.Variant("s", "mine")})[0] == "nap.1"
        btd.client.halt_tree("nap")
    btd.stop(signal.SIGKILL)
    btd.start(*options)
    for given in {}, {"a": GLib.Variant("i", 2)}, {"a": GLib.Variant("a{sv}", {"x": GLib.Variant("i", 1)})}:
        assert refused("StartTree", "sa{sv}a{sv}", "nap", given) == \
            "the token 'mine' is that of nap.1, which was started with other inputs; give another token"
    text = daemon.tree_text({"type": "AlwaysSuccess"})
    for _ in range(2):
        assert btd.client.manager("StartText", "ssa{sv}a{sv}", "text", text, {}, {"token": GLib.Variant("s", "mine")})[0] == "text.1"
    assert "text.1" in refused("StartText", "ssa{sv}a{sv}", "text", text + " ", {})


def test_replace(btd, tmp_path):
    """The call replies when the run that was there has ended, and the new one is started."""
    btd.tree("nap", {"type": "Finally", "children": [SLEEP, {
        "type": "WaitFor", "child": {"type": "PathExists", "path": f"{tmp_path}/go"}}]}, inputs={"n": {"type": "int", "default": 0}})
    btd.start()
    btd.client.start("nap")
    with pytest.raises(DBusError, match="expected a whole number for 'n', but got \"x\""):
        btd.client.manager("StartTree", "sa{sv}a{sv}", "nap", {"n": GLib.Variant("s", "x")},
                           {"replace": GLib.Variant("b", True)})
    assert btd.client.run_property("/org/btd1/run/nap_2e1", "Status") == "running"
    arguments = "nap", {}, {"replace": GLib.Variant("b", True)}
    first, second = (btd.client.begin("StartTree", "(sa{sv}a{sv})", *arguments) for _ in range(2))
    wait(lambda: btd.client.run_property("/org/btd1/run/nap_2e1", "Status") == "halting", "the halt")
    assert not first
    (tmp_path / "go").touch()
    wait(lambda: first and second, "the replies")
    assert (first[0][0], second[0][0]) == ("nap.2", "nap.3") and first[0][2]["started"]
    assert btd.client.call("/org/btd1/tree/nap", TREE, "Start", "a{sv}a{sv}", *arguments[1:])[0] == "nap.4"
    with pytest.raises(DBusError, match="'attach' and 'replace' exclude each other; give one of them"):
        btd.client.start("nap", attach=True, replace=True)


def test_who_has_started_a_run(btd, tmp_path):
    """And the tree of a text is no object."""
    btd.tree("auto", SLEEP, autostart=True)
    btd.start(f"--runtime={tmp_path}/run")
    look(lambda: btd.client.runs(), "the autostart")
    _, text = btd.client.start_text("text", daemon.tree_text(SLEEP))
    assert btd.client.run_property(text, "TreePath") == "/"
    assert btd.client.run_property("/org/btd1/run/auto_2e1", "TreePath") == "/org/btd1/tree/auto"
    btd.stop(signal.SIGKILL)
    btd.start(f"--runtime={tmp_path}/run")
    assert btd.client.run_property("/org/btd1/run/auto_2e1", "StartedBy") == "autostart"
    assert btd.client.run_property(text, "StartedBy").startswith(f"UID {os.getuid()} (")
    assert btd.client.run_property(text, "Owner") == os.getuid()


def test_a_run_of_the_history_is_named_so(btd, tmp_path):
    options = f"--runtime={tmp_path}/run", f"--state={tmp_path}/state"
    btd.tree("log", {"type": "AlwaysSuccess"})
    btd.start(*options)
    btd.client.finish(btd.client.start("log")[1])
    btd.stop()
    btd.start(*options)
    for path, interface, method, signature, arguments in (
            ("/org/btd1", MANAGER, "GetRun", "s", ("log.1",)), ("/org/btd1", MANAGER, "HaltRun", "sa{sv}", ("log.1", {})),
            ("/org/btd1/run/log_2e1", RUN, "GetNodes", "", ()), ("/org/btd1/run/log_2e1", RUN, "Pause", "", ()),
            ("/org/btd1/run/log_2e1", "org.freedesktop.DBus.Properties", "GetAll", "s", (RUN,))):
        with pytest.raises(DBusError) as error:
            btd.client.call(path, interface, method, signature, *arguments)
        assert error.value.message == "run 'log.1' has finished, and only the history has it; 'btctl show log.1' shows it"
        assert error.value.name in ("org.btd1.Error.NoSuchRun", "org.freedesktop.DBus.Error.UnknownObject")


def test_the_log(btd):
    """As systemd's own daemons have it."""
    path, interface = "/org/freedesktop/LogControl1", "org.freedesktop.LogControl1"

    def put(name, value):
        btd.client.call(path, "org.freedesktop.DBus.Properties", "Set", "ssv", interface, name, GLib.Variant("s", value))
    btd.start()
    assert btd.client.get_all(path, interface) == {"LogLevel": "info", "LogTarget": "console", "SyslogIdentifier": "btd"}
    btd.tree("a", SLEEP)
    btd.client.reload()
    put("LogLevel", "err")
    put("LogTarget", "auto")
    btd.client.start("a")
    assert btd.client.get(path, interface, "LogLevel") == "err" and "a.1: started" not in btd.log()
    put("LogLevel", "debug")
    put("LogTarget", "console")
    btd.client.start("a", "b")
    assert "a.2: started" in btd.log() and " asked to change the log" in btd.log()
    for name, value, told in (
            ("LogLevel", "loud", "'loud' is not a log level; the levels are emerg, alert, crit, err, warning, notice, info and "
                                 "debug"),
            ("LogTarget", "printer", "'printer' is not a target of the log; the targets are journal, console and auto")):
        with pytest.raises(DBusError) as error:
            put(name, value)
        assert (error.value.name, error.value.message) == ("org.freedesktop.DBus.Error.InvalidArgs", told)
    with pytest.raises(DBusError, match="PropertyReadOnly"):
        put("SyslogIdentifier", "other")


def test_a_token_is_known_when_the_history_has_forgotten_its_run(btd, tmp_path):
    """Also if other instances have the same token, and after many runs of the same tree."""
    options = f"--runtime={tmp_path}/run", f"--state={tmp_path}/state", "--limit=history=1"
    btd.tree("log", {"type": "Log", "message": "said"})
    btd.start(*options)
    assert [btd.client.start("log", instance, token="mine")[0] for instance in ("", "a", "b")] == ["log.1", "log.2", "log.3"]
    for _ in range(100):
        btd.client.finish(btd.client.start("log", "many")[1])
    for _ in range(2):
        assert [btd.client.start("log", instance, token="mine")[0] for instance in ("", "a", "b")] == ["log.1", "log.2", "log.3"]
        assert btd.client.outcome("log", "mine", instance="a")["id"] == "log.2"
        assert btd.client.outcome("log", "mine", instance="a")["status"] == "success"
        assert [run["id"] for run in btd.client.history()] == ["log.103"]
        btd.stop(signal.SIGKILL)
        btd.start(*options)


def test_a_text_is_started_once_with_a_token(btd, tmp_path):
    """Also by two callers at once, when the run has finished, and after a restart of the daemon."""
    options = f"--runtime={tmp_path}/run", f"--state={tmp_path}/state"
    btd.start(*options)

    def arguments(token):
        return "given", daemon.tree_text({"type": "AlwaysSuccess"}), {}, {"token": GLib.Variant("s", token)}

    def start(token):
        run, _, details = btd.client.manager("StartText", "ssa{sv}a{sv}", *arguments(token))
        return run, details["started"]
    begun = [btd.client.begin("StartText", "(ssa{sv}a{sv})", *arguments("mine")) for _ in range(2)]
    wait(lambda: all(begun), "the replies")
    assert sorted((run, details["started"]) for [(run, _, details)] in begun) == [("given.1", False), ("given.1", True)]
    btd.client.finish("/org/btd1/run/given_2e1")
    assert start("mine") == ("given.1", False)
    assert start("yours") == ("given.2", True)
    btd.client.finish("/org/btd1/run/given_2e2")
    btd.stop(signal.SIGKILL)
    btd.start(*options)
    assert start("mine") == ("given.1", False)


BAD_TOKEN = "cannot be a token; it consists of letters, digits, '_', '.' and '-', 50 at most"
NO_OPTION = {"wiat": GLib.Variant("b", True)}


@pytest.mark.parametrize("method, signature, arguments, told", [
    ("StartTree", "sa{sv}a{sv}", ("nap", {}, NO_OPTION),
     "there is no option 'wiat'; StartTree has 'instance', 'token', 'attach', 'replace' and 'awaited'"),
    ("StartTree", "sa{sv}a{sv}", ("nap", {}, {"attach": GLib.Variant("s", "yes")}),
     "the option 'attach' is of the type 'b', not 's'"),
    ("StartTree", "sa{sv}a{sv}", ("nap", {}, {"token": GLib.Variant("s", "")}), f"'' {BAD_TOKEN}"),
    ("StartTree", "sa{sv}a{sv}", ("nap", {}, {"token": GLib.Variant("s", "x" * 51)}), f"'{'x' * 51}' {BAD_TOKEN}"),
    ("StartText", "ssa{sv}a{sv}", ("own", "{}", {}, NO_OPTION), "there is no option 'wiat'; StartText has 'token'"),
    ("StartText", "ssa{sv}a{sv}", ("own", "{}", {}, {"token": GLib.Variant("s", "a/b")}), f"'a/b' {BAD_TOKEN}"),
    ("HaltTree", "sa{sv}", ("nap", NO_OPTION),
     "there is no option 'wiat'; HaltTree has 'instance', 'token' and 'awaited'"),
    ("HaltTree", "sa{sv}", ("nap", {"token": GLib.Variant("s", "a/b")}), f"'a/b' {BAD_TOKEN}"),
    ("HaltRun", "sa{sv}", ("nap.1", NO_OPTION), "there is no option 'wiat'; HaltRun has none"),
    ("Reload", "a{sv}", (NO_OPTION,), "there is no option 'wiat'; Reload has none"),
    ("ListHistory", "a{sv}", ({"tre": GLib.Variant("s", "x" * 500)},), "there is no option 'tre'; ListHistory has 'tree'"),
    ("GetNodes", "sta{sv}", ("nap.1", 1, NO_OPTION), "there is no option 'wiat'; GetNodes has 'first'"),
    ("GetVariables", "sta{sv}", ("nap.1", 1, NO_OPTION), "there is no option 'wiat'; GetVariables has none"),
    ("GetKept", "sa{sv}", ("nap", NO_OPTION), "there is no option 'wiat'; GetKept has 'instance'"),
    ("ForgetKept", "sasa{sv}", ("nap", [], NO_OPTION), "there is no option 'wiat'; ForgetKept has 'instance'"),
    ("GetOutcome", "ssa{sv}", ("nap", "mine", NO_OPTION), "there is no option 'wiat'; GetOutcome has 'instance'"),
    ("GetOutcome", "ssa{sv}", ("nap", "gone", {}), "no run of tree 'nap' with the token 'gone' is known"),
])
def test_bad_options(btd, method, signature, arguments, told):
    btd.tree("nap", SLEEP)
    btd.start()
    btd.client.start("nap")
    with pytest.raises(DBusError) as error:
        btd.client.manager(method, signature, *arguments)
    assert (error.value.name.removeprefix("org.btd1.Error."), error.value.message) == (
        "NoSuchRun" if "gone" in arguments else "InvalidArgument", told)


def test_some_nodes(btd):
    """They are as in GetNodes; this answer has no pieces, so it is short."""
    btd.tree("nap", {"type": "Sequence", "name": "Top", "children": [
        {"type": "Timeout", "timeout": "1h", "child": {**SLEEP, "name": "Nap"}}, {**SLEEP, "name": "Later"}]})
    btd.start()
    _, path = btd.client.start("nap")

    def some_nodes(nodes):
        return btd.client.call(path, "org.btd1.Run", "GetSomeNodes", "au", nodes)
    top, _, _, later = btd.client.call(path, "org.btd1.Run", "GetNodes")
    some = some_nodes([3, 0, 3])
    assert [node[:6] for node in some] == [later[:6], top[:6], later[:6]] and some[0] == later
    assert some_nodes([]) == [] and some_nodes([1])[0][-1]["detail"].startswith("times out in ")
    for nodes, told in ([0, 4], "there is no node 4; the nodes are 0 to 3"), (
            [0] * 1001, "these are 1001 nodes, but the limit is 1000; GetNodes returns all"):
        with pytest.raises(DBusError) as error:
            some_nodes(nodes)
        assert (error.value.name, error.value.message) == ("org.btd1.Error.InvalidArgument", told)
    assert len(some_nodes([0] * 1000)) == 1000


def deep(levels):
    return {"deeper": deep(levels - 1)} if levels else "the end"


# Each value, its type on the bus, and how it comes in Python.
VALUES = [
    (True, "b", True),
    (7, "x", 7),
    (-2**63, "x", -2**63),
    (2**63, "t", 2**63),
    (2**64 - 1, "t", 2**64 - 1),
    (1.0, "d", 1.0),
    ("caf\u00e9 \u20ac", "s", "caf\u00e9 \u20ac"),
    ("", "s", ""),
    ("\u20ac" * 50000, "s", "\u20ac" * 50000),
    ("a\0b", "(s)", ('"a\\u0000b"',)),
    (None, "(s)", ("null",)),
    ([], "av", []),
    ([True, False], "ab", [True, False]),
    ([1, -2], "ax", [1, -2]),
    ([2**63], "at", [2**63]),
    ([0.5, 1.0], "ad", [0.5, 1.0]),
    (["a", ""], "as", ["a", ""]),
    ([1, 2.0], "av", [1, 2.0]),
    ([1, 2**63], "av", [1, 2**63]),
    (["a", "\0"], "av", ["a", ('"\\u0000"',)]),
    (["a", None], "av", ["a", ("null",)]),
    ([[1], []], "av", [[1], []]),
    ({}, "a{sv}", {}),
    ({"a": [{"b": 1}], "": None}, "a{sv}", {"a": [{"b": 1}], "": ("null",)}),
]


def test_variables_have_the_types_of_dbus(btd):
    btd.tree("kinds", SLEEP, blackboard=dict.fromkeys([f"v{i}" for i in range(len(VALUES))] + ["again"]))
    btd.start()
    texts = {f"v{i}": GLib.Variant("(s)", (json.dumps(value),)) for i, (value, _, _) in enumerate(VALUES)}
    path = btd.client.manager("StartTree", "sa{sv}a{sv}", "kinds", texts, {})[1]

    def get(method, *arguments):
        reply = btd.client.connection.call_sync("org.btd1", path, RUN, method, GLib.Variant(*arguments) if arguments else None,
                                                None, Gio.DBusCallFlags.NONE, -1, None)
        return reply.get_child_value(0)
    everything = get("GetVariables")
    assert everything.get_type_string() == "a{sv}"
    assert everything.unpack() == {"again": ("null",)} | {f"v{i}": native for i, (_, _, native) in enumerate(VALUES)}
    for i, (value, kind, native) in enumerate(VALUES):
        one = get("GetVariable", "(s)", (f"v{i}",)).get_variant()
        assert (one.get_type_string(), one.unpack()) == (kind, native), value
        assert everything.lookup_value(f"v{i}", None).equal(one)
        # What it gives, it takes again.
        btd.client.call(path, RUN, "SetVariables", "a{sv}", {"again": one})
        assert get("GetVariable", "(s)", ("again",)).get_variant().equal(one)
        assert json.loads(btd.btctl("get", "kinds", f"v{i}").stdout) == value
    assert json.loads(btd.btctl("get", "kinds", "--json").stdout)["v4"] == 2**64 - 1


def test_deep_variables_are_text_inside(btd):
    btd.tree("deep", SLEEP, blackboard={"tree": deep(50)})
    btd.start()
    _, path = btd.client.start("deep")
    for value in btd.client.variables(path)["tree"], btd.client.variable(path, "tree"):
        levels = 0
        while isinstance(value, dict):
            value = value["deeper"]
            levels += 1
        assert levels in (15, 16) and json.loads(value[0]) == deep(50 - levels)
    assert json.loads(btd.btctl("get", "deep", "tree").stdout) == deep(50)


@pytest.mark.parametrize("kind, given, value", [
    ("y", 255, 255), ("n", -1, -1), ("q", 65535, 65535), ("i", -2**31, -2**31), ("u", 2**32 - 1, 2**32 - 1),
    ("o", "/a", "/a"), ("g", "as", "as"), ("ay", b"*", [42]), ("ay", b"\xff", [255]), ("v", GLib.Variant("v", GLib.Variant("s", "x")), "x"),
    ("(ii)", (1, 2), [1, 2]), ("(s)", ("[1, null]",), [1, ("null",)]), ("(s)", ("[18446744073709551615, -9223372036854775808]",), [2**64 - 1, -2**63]), ("a(s)", [("1",), ("2.0",)], [1, 2.0]),
    ("a{ub}", {7: True}, {"7": True}), ("aai", [[1], []], [[1], []]), ("a{sa{sv}}", {"a": {"b": GLib.Variant("(s)", ("{}",))}}, {"a": {"b": {}}}),
])
def test_variables_of_other_types_are_converted(btd, kind, given, value):
    btd.tree("nap", SLEEP, blackboard={"it": None})
    btd.start()
    _, path = btd.client.start("nap")
    btd.client.call(path, RUN, "SetVariables", "a{sv}", {"it": given if kind == "v" else GLib.Variant(kind, given)})
    assert btd.client.variable(path, "it") == value


@pytest.mark.parametrize("variant, told", [
    (GLib.Variant("(s)", ("no json",)), "a structure (s) is JSON text, but its text (7 bytes) is not JSON"),
    (GLib.Variant("(s)", ("",)), "a structure (s) is JSON text, but its text (0 bytes) is not JSON"),
    (GLib.Variant("(s)", ("1 2",)), "a structure (s) is JSON text, but its text (3 bytes) is not JSON"),
    (GLib.Variant("(s)", ("[" * 101,)), "it is nested more than 100 levels deep"),
    (GLib.Variant("av", [GLib.Variant("(s)", ("nul",))]), "a structure (s) is JSON text, but its text (3 bytes) is not JSON"),
    (GLib.Variant("(s)", ("99999999999999999999999",)),
     "the number 99999999999999999999999 is neither a 64-bit integer nor a finite double"),
    (GLib.Variant("(s)", ('{"a\\"1e999": [1, -1e400]}',)), "the number -1e400 is neither a 64-bit integer nor a finite double"),
    (GLib.Variant("(s)", ("[-Infinity]",)), "the number -Infinity is neither a 64-bit integer nor a finite double"),
    (GLib.Variant("d", float("nan")), "it has a number that is not finite, which JSON cannot hold"),
    (GLib.Variant("ad", [1.0, float("-inf")]), "it has a number that is not finite, which JSON cannot hold"),
    (GLib.Variant("h", 0), "it has a file descriptor, which is not supported"),
])
def test_variables_that_cannot_be_converted(btd, variant, told):
    btd.tree("nap", SLEEP)
    btd.start()
    _, path = btd.client.start("nap")
    for at, interface, method, signature, arguments in (
            (path, RUN, "SetVariables", "a{sv}", ({"it": variant},)),
            ("/org/btd1", MANAGER, "StartTree", "sa{sv}a{sv}", ("nap", {"it": variant}, {})),
            ("/org/btd1", MANAGER, "StartText", "ssa{sv}a{sv}", ("own", "", {"it": variant}, {})),
            ("/org/btd1/tree/nap", TREE, "Start", "a{sv}a{sv}", ({"it": variant}, {}))):
        with pytest.raises(DBusError) as error:
            btd.client.call(at, interface, method, signature, *arguments)
        assert (error.value.name, error.value.message) == ("org.btd1.Error.InvalidArgument", f"the value of 'it': {told}")


LONG = "x" * 1_000_000
NONSENSE = [
    ("StartTree", "sa{sv}a{sv}", ("", {}, {}), "NoSuchTree InvalidArgument"),
    ("StartTree", "sa{sv}a{sv}", (LONG, {}, {}), "NoSuchTree InvalidArgument"),
    ("StartTree", "sa{sv}a{sv}", ("../nap", {}, {}), "NoSuchTree InvalidArgument"),
    ("StartTree", "sa{sv}a{sv}", ("nap", {}, client.variants({"instance": "a b"})), "InvalidArgument"),
    ("StartTree", "sa{sv}a{sv}", ("nap", {}, client.variants({"instance": "new\nline"})), "InvalidArgument"),
    ("StartTree", "sa{sv}a{sv}", ("nap", {}, client.variants({"instance": LONG})), "InvalidArgument"),
    ("StartTree", "sa{sv}a{sv}", ("nap", {}, client.variants({LONG: LONG})), "InvalidArgument"),
    ("StartTree", "sa{sv}a{sv}", ("nap", client.variants({"no key": 1}), {}), "InvalidArgument"),
    ("StartTree", "sa{sv}a{sv}", ("nap", client.variants({LONG: 1}), {}), "InvalidArgument"),
    ("HaltTree", "sa{sv}", ("nop", {}), "NoSuchTree"),
    ("HaltTree", "sa{sv}", (LONG, {}), "NoSuchTree"),
    ("HaltRun", "sa{sv}", ("nap.2", {}), "NoSuchRun"),
    ("HaltRun", "sa{sv}", ("", {}), "NoSuchRun"),
    ("HaltRun", "sa{sv}", (LONG, {}), "NoSuchRun"),
    ("GetKept", "sa{sv}", ("nop", {}), "NoSuchTree"),
    ("GetKept", "sa{sv}", (LONG, {}), "NoSuchTree"),
    ("GetKept", "sa{sv}", ("nap", client.variants({"instance": LONG})), "InvalidArgument"),
    ("ForgetKept", "sasa{sv}", ("nop", [], {}), "NoSuchTree"),
    ("ForgetKept", "sasa{sv}", ("nap", [LONG], {}), "AlreadyRunning"),
    ("ForgetKept", "sasa{sv}", ("nap", [LONG], client.variants({"instance": "b"})), "NoSuchVariable"),
    ("GetTree", "s", ("nop",), "NoSuchTree"),
    ("GetTree", "s", (LONG,), "NoSuchTree"),
    ("GetRun", "s", ("nap.99999999999999999999",), "NoSuchRun"),
    ("GetRun", "s", (LONG,), "NoSuchRun"),
    # sd-bus takes no character that Unicode does not assign; a bus does.
    *((method, signature, ("\ufffe", *others), "InvalidArgument") for method, signature, *others in [
        ("StartTree", "sa{sv}a{sv}", {}, {}), ("StartText", "ssa{sv}a{sv}", "\ufffe", {}, {}), ("HaltTree", "sa{sv}", {}),
        ("HaltRun", "sa{sv}", {}), ("GetTree", "s"), ("GetRun", "s"), ("GetOutcome", "ssa{sv}", "x", {}),
        ("WaitRun", "sa{sv}", {}), ("GetRecord", "st", 0), ("GetEvents", "st", 0),
        ("GetNodes", "sta{sv}", 0, {}), ("GetVariables", "sta{sv}", 0, {}), ("GetKept", "sa{sv}", {}),
        ("ForgetKept", "sasa{sv}", [], {})]),
    ("ListHistory", "a{sv}", (client.variants({"tree": "\ufffe"}),), "InvalidArgument"),
]


def test_nonsense_gets_a_named_error(btd):
    start_sleeper(btd)
    for method, signature, arguments, names in NONSENSE:
        with pytest.raises(DBusError) as error:
            btd.client.manager(method, signature, *arguments)
        said = f"{method}{tuple(str(a)[:20] for a in arguments)}: {str(error.value)[:200]}"
        assert error.value.name in ["org.btd1.Error." + name for name in names.split()], said
        assert error.value.message and len(error.value.message) < 1000, said
        if arguments[0] == "\ufffe":
            assert error.value.message == \
                "an argument is invalid: its text may have a character that Unicode does not assign, such as U+FFFE"
    assert btd.client.get("/org/btd1", MANAGER, "NRunning") == 1


def test_wrong_types_and_places(btd):
    start_sleeper(btd)
    for path, interface, method, signature, arguments in (
            ("/org/btd1", MANAGER, "StartTree", "s", ("nap",)),
            ("/org/btd1", MANAGER, "StartTree", "sa{si}a{sv}", ("nap", {}, {})),
            ("/org/btd1", MANAGER, "HaltRun", "u", (1,)),
            ("/org/btd1", MANAGER, "NoSuchMethod", "", ()),
            ("/org/btd1", "org.btd1.Nothing", "Reload", "", ()),
            ("/org/btd1/tree/nop", TREE, "Start", "a{sv}a{sv}", ({}, {})),
            ("/org/btd1/run/nap_2e9", RUN, "Halt", "a{sv}", ({},))):
        with pytest.raises(DBusError) as error:
            btd.client.call(path, interface, method, signature, *arguments)
        if method == "StartTree":
            assert error.value.name == "org.btd1.Error.InvalidArgument"
            assert error.value.message == f"StartTree takes arguments of the types 'sa{{sv}}a{{sv}}', not '{signature}'"
    with pytest.raises(DBusError):
        btd.client.call("/org/btd1", "org.freedesktop.DBus.Properties", "Get", "ss", MANAGER, "Nothing")
    assert btd.client.get("/org/btd1", MANAGER, "Status") == "running"


def test_halting_what_has_ended(btd):
    btd.tree("done", {"type": "AlwaysSuccess"})
    btd.start()
    run, path = btd.client.start("done")
    btd.client.finish(path)

    with pytest.raises(DBusError) as error:
        btd.client.halt_run(run)
    assert error.value.name == "org.btd1.Error.NotRunning"
    assert btd.client.halt_tree("done") == ([], 0)


def test_finished_runs_are_kept_within_bounds(btd):
    """The last of each tree and instance, and not more than 64."""
    btd.tree("quick", {"type": "AlwaysSuccess"})
    btd.start()
    for number in range(70):
        btd.client.finish(btd.client.start("quick", f"i{number}")[1])
    first = btd.client.start("quick")[0]
    second, path = btd.client.start("quick")
    btd.client.finish(path)

    ids = [row.id for row in btd.client.runs()]
    assert len(ids) == 64
    assert second in ids and first not in ids and "quick.1" not in ids


def test_inputs_of_a_tree(btd):
    """With their types and defaults, so that a program can ask for them before it starts the tree."""
    path = "/org/btd1/tree/nap"
    btd.tree("nap", SLEEP, inputs={
        "unit": "string", "tries": {"type": "int", "default": 3, "description": "Attempts until it fails"},
        "list": {"type": "list", "default": ["a", "b"]}, "none": {"type": "any", "default": None},
        "long": {"type": "string", "default": "x" * 5000}})
    btd.start()
    btd.client.subscribe("org.freedesktop.DBus.Properties")
    inputs = [
        {"name": "unit", "type": "string", "required": True},
        {"name": "tries", "type": "int", "required": False, "default": 3, "description": "Attempts until it fails"},
        {"name": "list", "type": "list", "required": False, "default": ["a", "b"]},
        {"name": "none", "type": "any", "required": False, "default": ("null",)},
        {"name": "long", "type": "string", "required": False, "long_default": '"' + "x" * 59 + "..."},
    ]
    assert btd.client.get(path, TREE, "Inputs") == inputs

    btd.tree("nap", SLEEP, inputs={"other": {"type": "bool", "default": True}})
    btd.client.reload()
    changed = [{"name": "other", "type": "bool", "required": False, "default": True}]
    btd.client.wait_signal("PropertiesChanged", lambda s: s.path == path and s.args[1].get("Inputs") == changed)

    btd.tree("nap", {"type": "Sleep"}, inputs={"third": "any"})
    btd.client.reload()
    assert btd.client.get(path, TREE, "Inputs") == changed  # the tree that can be started
    btd.tree("bad", {"type": "Sleep"}, inputs={"third": "any"})
    btd.client.reload()
    assert btd.client.get("/org/btd1/tree/bad", TREE, "Inputs") == []


def test_reload_keeps_what_runs(btd):
    btd.tree("change", SLEEP)
    btd.start()
    _, old = btd.client.start("change")
    hash_before = btd.client.get("/org/btd1/tree/change", TREE, "Hash")
    btd.tree("change", {"type": "AlwaysSuccess"})

    assert btd.client.reload() == []

    assert btd.client.run_property(old, "Hash") == hash_before
    assert btd.client.get("/org/btd1/tree/change", TREE, "Hash") != hash_before
    assert btd.client.finish(btd.client.start("change", "new")[1])[0] == "success"
    assert btd.client.run_property(old, "Status") == "running"


def test_a_broken_file_keeps_the_old_tree(btd):
    path = btd.tree("steady", {"type": "AlwaysSuccess"})
    btd.tree("never", '{ "btd": 1 }')
    btd.start()
    btd.tree("steady", '{ "btd": 1,\n  "root": { "type": "Slep" } }')

    errors = btd.client.reload()

    assert any(error.startswith(f"{path}:2:") and "did you mean" in error and "Sleep" in error for error in errors)
    states = {row.name: row.state for row in btd.client.trees()}
    assert states == {"steady": "broken", "never": "failed"}
    assert btd.client.finish(btd.client.start("steady")[1])[0] == "success"
    with pytest.raises(DBusError) as error:
        btd.client.start("never")
    assert error.value.name == "org.btd1.Error.TreeBroken"
    assert btd.client.get("/org/btd1/tree/steady", TREE, "Diagnostics") == [e for e in errors if path in e]


def test_sigterm_halts_and_ends(btd):
    btd.tree("nap", SLEEP)
    btd.start()
    btd.client.subscribe(MANAGER)
    run, path = btd.client.start("nap")

    btd.process.terminate()

    btd.client.wait_signal("RunFinished", lambda s: s.args[:3] == (run, path, "halted"))
    assert btd.wait_exit() == 0


def test_nothing_is_started_while_it_stops(btd, tmp_path):
    """A process that takes its time to end keeps the daemon there; new runs are refused."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    btd.tree("nap", SLEEP)
    btd.tree("slow", {"type": "Spawn", "as": "child", "kill_timeout": "1h", "argv": [
        "/bin/sh", "-c", f"trap '' TERM; echo >{pipe}; while ! [ -e {tmp_path}/end ]; do sleep 0.01; done"]})
    btd.start()
    btd.client.subscribe("org.freedesktop.DBus.Properties", path="/org/btd1")
    btd.client.start("slow")
    pipe.read_text()  # it cannot be ended gently any more

    btd.process.terminate()
    btd.client.wait_signal("PropertiesChanged", lambda s: s.args[1].get("Status") == "stopping")

    with pytest.raises(DBusError) as error:
        btd.client.start("nap")
    assert error.value.name == "org.btd1.Error.Stopping"
    (tmp_path / "end").touch()
    assert btd.wait_exit() == 0


def test_only_so_many_calls_of_one_can_wait(btd):
    """How many of them do wait at the same moment is not to be foreseen; that some do is."""
    btd.tree("nap", SLEEP)
    btd.start("--limit=calls-of-a-caller=1")
    answers = []

    def answered(connection, result):
        try:
            answers.append(connection.call_finish(result).unpack()[0])
        except GLib.Error as error:
            answers.append(error.message)
    for number in range(50):
        btd.client.connection.call("org.btd1", "/org/btd1", MANAGER, "StartTree",
                                   GLib.Variant("(sa{sv}a{sv})", ("nap", {}, client.variants({"instance": f"i{number}"}))), None,
                                   Gio.DBusCallFlags.NONE, -1, None, answered)
    wait(lambda: len(answers) == 50, "the answers")
    refused = {answer for answer in answers if not answer.startswith("nap.")}
    assert refused == {"GDBus.Error:org.btd1.Error.LimitExceeded: the limit 'calls-of-a-caller' (1) is reached; wait "
                       "for the reply to one of your calls"}
    assert "nap.1" in answers
    assert btd.client.start("nap")[0].startswith("nap.")
    refusals = re.findall(r"UID \d+, PID [1-9]\d*.* was not allowed to start 'nap': the limit 'calls-of-a-caller' \(1\) is", btd.log())
    assert len(refusals) == sum(not answer.startswith("nap.") for answer in answers)


def test_only_so_many_questions_of_one_can_wait(btd):
    """What is asked at once is read at once, and answered in turns."""
    btd.start("--limit=calls-of-a-caller=2")
    answers = []

    def answered(connection, result):
        try:
            answers.append(connection.call_finish(result).unpack())
        except GLib.Error as error:
            answers.append(error.message)
    for _ in range(100):
        btd.client.connection.call("org.btd1", "/org/btd1", MANAGER, "ListHistory", GLib.Variant("(a{sv})", ({},)), None,
                                   Gio.DBusCallFlags.NONE, -1, None, answered)
    wait(lambda: len(answers) == 100, "the answers")
    assert ([],) in answers
    assert {answer for answer in answers if answer != ([],)} <= {
        "GDBus.Error:org.btd1.Error.LimitExceeded: the limit 'calls-of-a-caller' (2) is reached; wait for the reply to one "
        "of your calls"}


def test_there_can_be_only_so_many_subscribers(btd, bus):
    btd.start("--limit=subscribers=1")
    btd.client.manager("Subscribe")
    btd.client.manager("Subscribe")
    other = Client(bus.address)
    with pytest.raises(DBusError) as error:
        other.call("/org/btd1", MANAGER, "Subscribe")
    assert (error.value.name, str(error.value.message)) == (
        "org.btd1.Error.LimitExceeded", "the limit 'subscribers' (1) is reached; try again later")
    btd.client.manager("Unsubscribe")
    other.call("/org/btd1", MANAGER, "Subscribe")
    other.close()


@pytest.mark.both_buses("how it tells that a peer has left")
def test_a_subscriber_that_leaves_is_forgotten(btd, bus):
    btd.tree("one", {"type": "Sleep", "name": "One", "duration": "1ms"})
    btd.start()
    other = Client(bus.address)
    other.call("/org/btd1", MANAGER, "Subscribe")
    name = other.name
    btd.client.subscribe(RUN)
    btd.client.subscribe("org.freedesktop.DBus", "NameOwnerChanged", sender="org.freedesktop.DBus")
    other.close()
    wait(lambda: any(s.member == "NameOwnerChanged" and s.args == (name, name, "") for s in btd.client.signals),
         "the end of the subscriber")

    _, path = btd.client.start("one")
    btd.client.wait_signal("Ended", lambda s: s.path == path)
    assert not [s for s in btd.client.signals if s.member == "NodesChanged"]
