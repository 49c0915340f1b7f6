# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the interface org.btd1: its members, its answers, and its errors for wrong arguments."""

import json
import os
import re
import signal
import xml.etree.ElementTree as ElementTree

import pytest
from gi.repository import Gio, GLib

from client import Client, DBusError, wait

MANAGER = "org.btd1.Manager"
TREE = "org.btd1.Tree"
RUN = "org.btd1.Run"
SLEEP = {"type": "Sleep", "name": "Nap", "duration": "1h"}

# Everything of the interface: methods as "name(in) -> (out)" with argument names, signals, properties with their flag.
INTERFACES = {
    MANAGER: {
        "StartTree(s tree, s instance, a{ss} variables) -> (s id, o run)",
        "StartTreeWith(s tree, a{ss} variables, a{sv} options) -> (s id, o run, s token, s status, b begun)",
        "StartText(s name, s text, a{ss} variables) -> (s id, o run)",
        "HaltTree(s tree) -> (u count)",
        "HaltTreeWith(s tree, a{sv} options) -> (as halted)",
        "HaltRun(s id) -> ()",
        "Reload() -> (as errors)",
        "ListTrees() -> (a(sosbs) trees)",
        "ListRuns() -> (a(sosssttsst) runs)",
        "GetTree(s tree) -> (o path)",
        "GetRun(s id) -> (o path)",
        "GetOutcome(s tree, s instance, s token) -> (s id, o run, s status, s cause, t finished, b followed)",
        "ListHistory(s tree) -> (a(sssstts) runs)",
        "GetJournal(s id, t offset) -> (ay text)",
        "Subscribe() -> ()",
        "Unsubscribe() -> ()",
        "signal RunNew(s id, o run)",
        "signal RunReady(s id, o run)",
        "signal RunFinished(s id, o run, s status, s cause)",
        "signal RestartDropped(s tree, s instance)",
        "signal Reloaded(as errors)",
        "property Version s const",
        "property Mode s const",
        "property TreePath as const",
        "property NTrees u true",
        "property NRunning u true",
        "property Status s true",
        "property Disk s true",
        "property LostLogMessages t false",
    },
    TREE: {
        "Start(s instance, a{ss} variables) -> (s id, o run)",
        "Halt() -> (u count)",
        "GetText() -> (s text)",
        "GetNodes() -> (a(uuss) nodes)",
        "GetTitles() -> (a{us} titles)",
        "property Name s const",
        "property Description s true",
        "property SourcePath s true",
        "property Hash s true",
        "property Autostart b true",
        "property NodeCount u true",
        "property State s true",
        "property Diagnostics as true",
        "property Runs ao true",
        "property NRunning u true",
    },
    RUN: {
        "Halt() -> ()",
        "GetNodes() -> (a(uussstts) nodes)",
        "GetTitles() -> (a{us} titles)",
        "GetCauseChain(u node) -> (aa{sv} chain)",
        "GetCauses() -> (a(usssu) causes)",
        "GetVariables() -> (a{ss} variables)",
        "GetVariable(s name) -> (s value)",
        "SetVariables(a{ss} variables) -> ()",
        "Pause() -> ()",
        "Resume() -> ()",
        "Step() -> ()",
        "SetBreakpoint(u node, b set) -> ()",
        "Force(u node, s status) -> ()",
        "signal NodesChanged(a(uussstts) nodes)",
        "signal Finished(s status, s cause)",
        "property Id s const",
        "property Tree s const",
        "property TreePath o const",
        "property Instance s const",
        "property Token s const",
        "property Hash s const",
        "property Started t const",
        "property Ready t true",
        "property Finished t true",
        "property Status s true",
        "property Cause s true",
        "property CauseChain aa{sv} true",
        "property Restart s invalidates",
        "property Breakpoints au true",
        "property StandsBefore au true",
        "property Durable b true",
        "property NotDurable s true",
        "property TreeChanged b false",
    },
}


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
    start_sleeper(btd)
    assert describe(introspect(btd, path)[name]) == INTERFACES[name]


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
    assert btd.client.run_property(path, "Started") < ready < btd.client.run_property(path, "Started") + 20e6
    assert btd.client.run_property(path, "Ready") == ready
    assert btd.client.run_property(path, "Status") == "running"
    assert btd.client.manager("ListRuns")[0][9] == ready
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

    btd.client.manager("Reload")
    btd.client.wait_signal("InterfacesAdded", lambda s: s.args[0] == "/org/btd1/tree/new" and TREE in s.args[1])
    run, run_path = btd.client.start("new")
    btd.client.wait_signal("RunNew", lambda s: s.args == (run, run_path))
    btd.client.wait_signal("InterfacesAdded", lambda s: s.args[0] == run_path)
    btd.client.wait_signal("RunFinished", lambda s: s.args == (run, run_path, "success", ""))

    os.unlink(path)
    btd.client.manager("Reload")
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
    btd.client.manager("HaltRun", "s", run)
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
        return {name: value for name, value in values.items() if name not in ("TreeChanged", "LostLogMessages")}
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
    btd.client.call(path, RUN, "Halt")
    btd.client.finish(path)
    check("Halt")
    assert told[path]["Status"] == "halted" and told[path]["Breakpoints"] == [0]
    btd.tree("nap", {"type": "AlwaysSuccess"}, description="another")
    btd.client.manager("Reload")
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
    assert nodes["Never"]["since"] == 0
    assert values["Status"] == "failure" and values["Cause"] == cause
    assert values["Started"] <= values["Finished"]
    assert values["TreePath"] == "/org/btd1/tree/story"


def test_node_changes_are_for_subscribers(btd):
    btd.tree("one", {"type": "Sleep", "name": "One", "duration": "1ms"})
    btd.start()
    btd.client.subscribe(RUN)
    _, path = btd.client.start("one")
    btd.client.wait_signal("Finished", lambda s: s.path == path)
    assert not [s for s in btd.client.signals if s.member == "NodesChanged"]

    btd.client.manager("Subscribe")
    _, path = btd.client.start("one")
    btd.client.wait_signal("Finished", lambda s: s.path == path)
    rows = [row for s in btd.client.signals if s.member == "NodesChanged" and s.path == path for row in s.args[0]]
    assert [row[4] for row in rows if row[3] == "One"] == ["running", "success"]

    btd.client.manager("Unsubscribe")
    btd.client.signals.clear()
    _, path = btd.client.start("one")
    btd.client.wait_signal("Finished", lambda s: s.path == path)
    assert not [s for s in btd.client.signals if s.member == "NodesChanged"]


def test_instances_have_variables_of_their_own(btd):
    btd.tree("greet", {"type": "Sequence", "children": [
        {"type": "Log", "message": "hello {whom}"}, SLEEP]}, blackboard={"whom": "world", "depth": 1})
    btd.start()

    _, plain = btd.client.start("greet")
    _, other = btd.client.start("greet", "other", {"whom": json.dumps({"name": "you"})})

    assert btd.client.call(plain, RUN, "GetVariables") == {"whom": '"world"', "depth": "1"}
    variables = btd.client.call(other, RUN, "GetVariables")
    assert json.loads(variables["whom"]) == {"name": "you"} and variables["depth"] == "1"
    assert btd.client.run_property(other, "Instance") == "other"
    with pytest.raises(DBusError) as error:
        btd.client.start("greet", "other")
    assert error.value.name == "org.btd1.Error.AlreadyRunning"
    assert btd.client.manager("HaltTree", "s", "greet") == 2


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
    assert error.value.message == "tree 'boot' is already running as boot.1; give another --instance to run it twice"


def test_a_token_starts_a_tree_once(btd, tmp_path):
    """Also when the run has finished, and after a restart of the daemon; another instance is another matter."""
    options = f"--runtime={tmp_path}/run", f"--state={tmp_path}/state"
    btd.tree("nap", SLEEP)
    btd.start(*options)

    def start(**given):
        values = {key: GLib.Variant("b" if value is True else "s", value) for key, value in given.items()}
        return btd.client.manager("StartTreeWith", "sa{ss}a{sv}", "nap", {}, values)

    assert start(token="mine") == ("nap.1", "/org/btd1/run/nap_2e1", "mine", "running", True)
    assert start(token="mine") == ("nap.1", "/org/btd1/run/nap_2e1", "mine", "running", False)
    assert start(token="mine", instance="other")[0] == "nap.2"
    assert start(token="yours", attach=True) == ("nap.1", "/org/btd1/run/nap_2e1", "mine", "running", False)
    with pytest.raises(DBusError) as error:
        start(token="yours")
    assert error.value.name == "org.btd1.Error.AlreadyRunning"
    assert btd.client.manager("GetOutcome", "sss", "nap", "", "mine")[2:] == ("running", "", 0, False)
    assert btd.client.run_property("/org/btd1/run/nap_2e1", "Token") == "mine"

    assert btd.client.manager("HaltTreeWith", "sa{sv}", "nap", {"token": GLib.Variant("s", "yours")}) == []
    assert btd.client.manager("HaltTreeWith", "sa{sv}", "nap", {
        "token": GLib.Variant("s", "mine"), "instance": GLib.Variant("s", "")}) == ["nap.1"]
    assert btd.client.finish("/org/btd1/run/nap_2e1")[0] == "halted"
    assert start(token="mine")[0] == "nap.1"
    assert [row[4] for row in btd.client.manager("ListRuns")] == ["halted", "running"]
    assert start(attach=True)[0::2] == ("nap.3", "nap.3", True)

    btd.stop(signal.SIGKILL)
    btd.start(*options)
    assert start(token="mine") == ("nap.1", "/org/btd1/run/nap_2e1", "mine", "halted", False)
    assert btd.client.manager("GetOutcome", "sss", "nap", "", "mine")[2] == "halted"
    assert btd.client.manager("GetOutcome", "sss", "nap", "", "nap.3")[2] == "running"


@pytest.mark.parametrize("method, signature, arguments, told", [
    ("StartTreeWith", "sa{ss}a{sv}", ("nap", {}, {"tokn": GLib.Variant("s", "x")}),
     "there is no option 'tokn'; there are 'instance', 'token', 'attach' and 'wait'"),
    ("StartTreeWith", "sa{ss}a{sv}", ("nap", {}, {"attach": GLib.Variant("s", "yes")}),
     "the option 'attach' is of the type 'b', not 's'"),
    ("StartTreeWith", "sa{ss}a{sv}", ("nap", {}, {"token": GLib.Variant("s", "")}),
     "'' cannot be a token; it consists of letters, digits, '_', '.' and '-', 50 at most"),
    ("HaltTreeWith", "sa{sv}", ("nap", {"token": GLib.Variant("s", "a/b")}),
     "'a/b' cannot be a token; it consists of letters, digits, '_', '.' and '-', 50 at most"),
    ("HaltTreeWith", "sa{sv}", ("nap", {}), "the option 'token' is missing"),
    ("GetOutcome", "sss", ("nap", "", "gone"), "no run of tree 'nap' with the token 'gone' is known"),
])
def test_bad_options(btd, method, signature, arguments, told):
    btd.tree("nap", SLEEP)
    btd.start()
    with pytest.raises(DBusError) as error:
        btd.client.manager(method, signature, *arguments)
    assert error.value.message == told


LONG = "x" * 1_000_000
NONSENSE = [
    ("StartTree", "ssa{ss}", ("", "", {}), "NoSuchTree InvalidArgument"),
    ("StartTree", "ssa{ss}", (LONG, "", {}), "NoSuchTree InvalidArgument"),
    ("StartTree", "ssa{ss}", ("../nap", "", {}), "NoSuchTree InvalidArgument"),
    ("StartTree", "ssa{ss}", ("nap", "a b", {}), "InvalidArgument"),
    ("StartTree", "ssa{ss}", ("nap", "new\nline", {}), "InvalidArgument"),
    ("StartTree", "ssa{ss}", ("nap", LONG, {}), "InvalidArgument"),
    ("StartTree", "ssa{ss}", ("nap", "2", {"key": "no json"}), "InvalidArgument"),
    ("StartTree", "ssa{ss}", ("nap", "2", {"key": ""}), "InvalidArgument"),
    ("StartTree", "ssa{ss}", ("nap", "2", {"key": "1 2"}), "InvalidArgument"),
    ("StartTree", "ssa{ss}", ("nap", "2", {"key": "[" * 100000}), "InvalidArgument"),
    ("StartTree", "ssa{ss}", ("nap", "2", {"no key": "1"}), "InvalidArgument"),
    ("StartTree", "ssa{ss}", ("nap", "2", {LONG: "1"}), "InvalidArgument"),
    ("HaltTree", "s", ("nop",), "NoSuchTree"),
    ("HaltTree", "s", (LONG,), "NoSuchTree"),
    ("HaltRun", "s", ("nap.2",), "NoSuchRun"),
    ("HaltRun", "s", ("",), "NoSuchRun"),
    ("HaltRun", "s", (LONG,), "NoSuchRun"),
    ("GetTree", "s", ("nop",), "NoSuchTree"),
    ("GetTree", "s", (LONG,), "NoSuchTree"),
    ("GetRun", "s", ("nap.99999999999999999999",), "NoSuchRun"),
    ("GetRun", "s", (LONG,), "NoSuchRun"),
]


def test_nonsense_gets_a_named_error(btd):
    start_sleeper(btd)
    for method, signature, arguments, names in NONSENSE:
        with pytest.raises(DBusError) as error:
            btd.client.manager(method, signature, *arguments)
        said = f"{method}{tuple(str(a)[:20] for a in arguments)}: {str(error.value)[:200]}"
        assert error.value.name in ["org.btd1.Error." + name for name in names.split()], said
        assert error.value.message and len(error.value.message) < 1000, said
    assert btd.client.get("/org/btd1", MANAGER, "NRunning") == 1


def test_wrong_types_and_places(btd):
    start_sleeper(btd)
    for path, interface, method, signature, arguments in (
            ("/org/btd1", MANAGER, "StartTree", "s", ("nap",)),
            ("/org/btd1", MANAGER, "StartTree", "ssa{si}", ("nap", "", {})),
            ("/org/btd1", MANAGER, "HaltRun", "u", (1,)),
            ("/org/btd1", MANAGER, "NoSuchMethod", "", ()),
            ("/org/btd1", "org.btd1.Nothing", "Reload", "", ()),
            ("/org/btd1/tree/nop", TREE, "Start", "sa{ss}", ("", {})),
            ("/org/btd1/run/nap_2e9", RUN, "Halt", "", ())):
        with pytest.raises(DBusError):
            btd.client.call(path, interface, method, signature, *arguments)
    with pytest.raises(DBusError):
        btd.client.call("/org/btd1", "org.freedesktop.DBus.Properties", "Get", "ss", MANAGER, "Nothing")
    assert btd.client.get("/org/btd1", MANAGER, "Status") == "running"


def test_halting_what_has_ended(btd):
    btd.tree("done", {"type": "AlwaysSuccess"})
    btd.start()
    run, path = btd.client.start("done")
    btd.client.finish(path)

    with pytest.raises(DBusError) as error:
        btd.client.manager("HaltRun", "s", run)
    assert error.value.name == "org.btd1.Error.NotRunning"
    assert btd.client.manager("HaltTree", "s", "done") == 0


def test_finished_runs_are_kept_within_bounds(btd):
    """The last of each tree and instance, and not more than 64."""
    btd.tree("quick", {"type": "AlwaysSuccess"})
    btd.start()
    for number in range(70):
        btd.client.finish(btd.client.start("quick", f"i{number}")[1])
    first = btd.client.start("quick")[0]
    second, path = btd.client.start("quick")
    btd.client.finish(path)

    ids = [row[0] for row in btd.client.manager("ListRuns")]
    assert len(ids) == 64
    assert second in ids and first not in ids and "quick.1" not in ids


def test_reload_keeps_what_runs(btd):
    btd.tree("change", SLEEP)
    btd.start()
    _, old = btd.client.start("change")
    hash_before = btd.client.get("/org/btd1/tree/change", TREE, "Hash")
    btd.tree("change", {"type": "AlwaysSuccess"})

    assert btd.client.manager("Reload") == []

    assert btd.client.run_property(old, "Hash") == hash_before
    assert btd.client.get("/org/btd1/tree/change", TREE, "Hash") != hash_before
    assert btd.client.finish(btd.client.start("change", "new")[1])[0] == "success"
    assert btd.client.run_property(old, "Status") == "running"


def test_a_broken_file_keeps_the_old_tree(btd):
    path = btd.tree("steady", {"type": "AlwaysSuccess"})
    btd.tree("never", '{ "btd": 1 }')
    btd.start()
    btd.tree("steady", '{ "btd": 1,\n  "root": { "type": "Slep" } }')

    errors = btd.client.manager("Reload")

    assert any(error.startswith(f"{path}:2:") and "did you mean" in error and "Sleep" in error for error in errors)
    states = {row[0]: row[4] for row in btd.client.manager("ListTrees")}
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
    btd.tree("slow", {"type": "Spawn", "as": "child", "kill_timeout": "500ms", "argv": [
        "/bin/sh", "-c", f"trap '' TERM; echo >{pipe}; while :; do sleep 0.01; done"]})
    btd.start()
    btd.client.subscribe("org.freedesktop.DBus.Properties", path="/org/btd1")
    btd.client.start("slow")
    pipe.read_text()  # it cannot be ended gently any more

    btd.process.terminate()
    btd.client.wait_signal("PropertiesChanged", lambda s: s.args[1].get("Status") == "stopping")

    with pytest.raises(DBusError) as error:
        btd.client.start("nap")
    assert error.value.name == "org.btd1.Error.Stopping"
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
                                   GLib.Variant("(ssa{ss})", ("nap", f"i{number}", {})), None,
                                   Gio.DBusCallFlags.NONE, -1, None, answered)
    wait(lambda: len(answers) == 50, "the answers")
    refused = {answer for answer in answers if not answer.startswith("nap.")}
    assert refused == {"GDBus.Error:org.btd1.Error.LimitExceeded: 1 calls of yours are waiting to be answered; wait "
                       "for one of them"}
    assert "nap.1" in answers
    assert btd.client.start("nap")[0].startswith("nap.")
    refusals = re.findall(r"UID \d+, PID [1-9]\d*.* was not allowed to start 'nap': 1 calls of yours", btd.log())
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
        btd.client.connection.call("org.btd1", "/org/btd1", MANAGER, "ListHistory", GLib.Variant("(s)", ("",)), None,
                                   Gio.DBusCallFlags.NONE, -1, None, answered)
    wait(lambda: len(answers) == 100, "the answers")
    assert ([],) in answers
    assert {answer for answer in answers if answer != ([],)} <= {
        "GDBus.Error:org.btd1.Error.LimitExceeded: 2 calls of yours are waiting to be answered; wait for one of them"}


def test_there_can_be_only_so_many_subscribers(btd, bus):
    btd.start("--limit=subscribers=1")
    btd.client.manager("Subscribe")
    btd.client.manager("Subscribe")
    other = Client(bus.address)
    with pytest.raises(DBusError) as error:
        other.call("/org/btd1", MANAGER, "Subscribe")
    assert (error.value.name, str(error.value.message)) == (
        "org.btd1.Error.LimitExceeded", "1 programs are subscribed already, which is the limit; try again later")
    btd.client.manager("Unsubscribe")
    other.call("/org/btd1", MANAGER, "Subscribe")
    other.close()


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
    btd.client.wait_signal("Finished", lambda s: s.path == path)
    assert not [s for s in btd.client.signals if s.member == "NodesChanged"]
