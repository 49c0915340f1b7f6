# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests large answers: btd makes them in pieces, and they are still correct."""

import json
import os
import socket

import pytest
from gi.repository import Gio, GLib

from client import BUS_NAME, DBusError, MANAGER, PATIENCE, wait

MANY = 30000
IDLE = {"type": "Sequence", "name": "Idle", "children": [{"type": "AlwaysSuccess"}] * MANY}
RUN = "org.btd1.Run"
# Properties of a run that change with each tick.
COUNTERS = {"Ticks", "Changes", "ActionStarts", "ActionRestarts", "LastEvent"}


class Order:
    """What a connection is sent, in order: answers under the name that they were asked with, and NodesChanged under
    the path of the run."""

    def __init__(self, client):
        self.client = client
        self.seen = []
        client.connection.signal_subscribe(
            BUS_NAME, RUN, "NodesChanged", None, None, Gio.DBusSignalFlags.NONE,
            lambda connection, sender, path, interface, member, values: self.seen.append((path, values)))
        client.manager("Subscribe")

    def ask(self, name, path, interface, method, signature="", *args):
        self.client.connection.call(
            BUS_NAME, path, interface, method, GLib.Variant(f"({signature})", args), None, Gio.DBusCallFlags.NONE,
            PATIENCE * 1000, None, lambda source, result: self.seen.append((name, source.call_finish(result))))

    def wait(self, name):
        """Its place."""
        wait(lambda: any(it[0] == name for it in self.seen), name)
        return next(i for i, it in enumerate(self.seen) if it[0] == name)

    def between(self, first, last):
        return [path for path, _ in self.seen[self.wait(first) + 1:self.wait(last)]]


class Asker:
    """A caller that does not parse its answers: for many large ones, that would take long."""

    def __init__(self, address):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(address.removeprefix("unix:path="))
        self.socket.sendall(b"\0AUTH EXTERNAL " + str(os.getuid()).encode().hex().encode() + b"\r\nBEGIN\r\n")
        self.serial = 0
        self.received = b""
        self.ask("/org/freedesktop/DBus", "org.freedesktop.DBus", "Hello", "org.freedesktop.DBus")

    def ask(self, path, interface, method, destination=BUS_NAME):
        message = Gio.DBusMessage.new_method_call(destination, path, interface, method)
        self.serial += 1
        message.set_serial(self.serial)
        self.socket.sendall(message.to_blob(Gio.DBusCapabilityFlags.NONE))

    def wait(self, text):
        """Until an answer has it."""
        while text not in self.received:
            part = self.socket.recv(1 << 20)
            assert part, "the bus has closed the connection"
            self.received = self.received[-len(text):] + part

    def wait_for_bus(self):
        """Until the bus has all that was asked before."""
        self.ask("/org/freedesktop/DBus", "org.freedesktop.DBus", "NoSuchMethod", "org.freedesktop.DBus")
        self.wait(b"org.freedesktop.DBus.Error.UnknownMethod")

    def close(self):
        self.socket.close()


def test_runs_go_on_between_the_pieces_of_an_answer(btd):
    btd.tree("large", IDLE)
    btd.tree("beat", {"type": "Repeat", "num_cycles": -1, "child": {"type": "Sleep", "duration": "1ms"}})
    btd.start()
    order = Order(btd.client)
    _, path = btd.client.start("beat")
    wait(lambda: order.seen, "the first beat")
    order.ask("before", MANAGER, "org.btd1.Manager", "ListRuns")
    order.ask("nodes", "/org/btd1/tree/large", "org.btd1.Tree", "GetNodes")
    assert order.between("before", "nodes").count(path) >= 3
    rows, = order.seen[order.wait("nodes")][1]
    assert [row[0] for row in rows] == list(range(MANY + 1))
    assert tuple(rows[MANY]) == (MANY, 0, "AlwaysSuccess", "AlwaysSuccess", {})


def test_all_objects_in_pieces(btd):
    """As they are, one by one; and runs go on in between."""
    manager = "org.freedesktop.DBus.ObjectManager"
    for i in range(1500):
        btd.tree(f"tree{i}", {"type": "AlwaysSuccess"})
    btd.tree("beat", {"type": "Repeat", "num_cycles": -1, "child": {"type": "Sleep", "duration": "1ms"}})
    btd.start()
    order = Order(btd.client)
    _, path = btd.client.start("beat")
    wait(lambda: order.seen, "the first beat")
    order.ask("before", MANAGER, "org.btd1.Manager", "ListRuns")
    order.ask("objects", MANAGER, manager, "GetManagedObjects")
    assert order.between("before", "objects").count(path) >= 3

    objects, = order.seen[order.wait("objects")][1]
    assert len(objects) == 1502
    for it, interface in ("/org/btd1/tree/tree7", "org.btd1.Tree"), (path, RUN):
        properties = btd.client.get_all(it, interface)
        standard = {f"org.freedesktop.DBus.{name}": {} for name in ("Peer", "Introspectable", "Properties")}
        # The run has ticked since, and its counters with it.
        then = objects[it][interface]
        for name in COUNTERS & properties.keys():
            assert then[name] <= properties[name]
            properties[name] = then[name]
        assert objects[it] == {**standard, interface: properties}


def test_a_subscriber_knows_at_the_end_how_the_nodes_are(btd):
    """Though they change while it is answered, and it takes what it is told before that for older."""
    def steps(name):
        return {"type": "Sequence", "name": name, "children": [{"type": "Sleep", "duration": "1ms"}] * 200}
    idle = {**IDLE, "children": IDLE["children"][:20000]}
    btd.tree("large", {"type": "ParallelAll", "children": [
        steps("First"), {"type": "Fallback", "children": [{"type": "AlwaysSuccess"}, idle]}, steps("Last"),
        {"type": "WaitFor", "child": {"type": "Condition", "test": "go"}}]}, blackboard={"go": False})
    btd.start()
    order = Order(btd.client)
    _, path = btd.client.start("large")
    order.ask("nodes", path, RUN, "GetNodes")
    rows = list(order.seen[order.wait("nodes")][1][0])
    first, last = ([row[4] for row in rows if row[1] == top[0]].count("success")
                   for top in rows if top[3] in ("First", "Last"))
    assert last > first, "the second half of the answer was made later"
    btd.client.set_variables(path, go=True)
    assert btd.client.finish(path) == ("success", "")
    at_the_end = {row[0]: row[4] for row in btd.client.call(path, RUN, "GetNodes")}
    status = {}

    def knows_all():
        for name, values in order.seen:
            if name == "nodes" or status:  # what came before the answer is older
                status.update({row[0]: row[4] for row in values[0]})
        order.seen.clear()
        return status == at_the_end
    wait(knows_all, "the state of all nodes")


def test_many_changes_at_once_are_told_in_parts(btd):
    n = 5000
    btd.tree("wide", {"type": "Parallel", "children": [{"type": "Sleep", "duration": "1h"}] * n})
    btd.start()
    order = Order(btd.client)
    _, path = btd.client.start("wide")
    told = {}

    def all_told():
        for _, values in order.seen:
            assert 0 < len(values[0]) <= 4096
            told.update({row[0]: row[4] for row in values[0]})
        order.seen.clear()
        return len(told) == n + 1
    wait(all_told, "all nodes")
    assert set(told.values()) == {"running"}


@pytest.mark.both_buses("what becomes of answers to a peer that has left")
def test_one_that_leaves_is_answered_no_more(btd):
    btd.tree("large", IDLE)
    btd.start()
    path = "/org/btd1/tree/large"
    gone, after = Asker(btd.bus.address), Order(btd.client)
    for _ in range(30):
        gone.ask(path, "org.btd1.Tree", "GetNodes")
    gone.wait_for_bus()
    btd.client.runs()  # what was asked before has begun
    gone.close()
    after.ask("nodes", path, "org.btd1.Tree", "GetNodes")
    after.wait("nodes")


def test_long_variables(btd):
    values = {"text": "\u20ac\n" * 100000, "list": list(range(50000)), "none": None, "object": {"a": [1.5, "b"]}}
    btd.tree("long", {"type": "Sleep", "duration": "1h"}, blackboard=values)
    btd.start()
    _, path = btd.client.start("long")
    values["none"] = ("null",)
    assert btd.client.variables(path) == values
    for key, value in values.items():
        assert btd.client.variable(path, key) == value


def test_what_has_gone_while_a_call_waited(btd):
    """A tree that was removed, before its turn. btd reads all calls at once: the reload overtakes the large answers."""
    btd.tree("large", IDLE)
    victim = btd.tree("victim", {"type": "AlwaysSuccess"})
    btd.start()
    asker = Asker(btd.bus.address)
    btd.suspend()
    for _ in range(20):
        asker.ask("/org/btd1/tree/large", "org.btd1.Tree", "GetNodes")
    asker.ask("/org/btd1/tree/victim", "org.btd1.Tree", "GetText")
    asker.wait_for_bus()
    os.unlink(victim)
    reload = btd.client.begin("Reload", "(a{sv})", {})
    btd.client.owner()  # the bus has it
    btd.resume()
    asker.wait(b"no tree 'victim'")
    asker.close()
    wait(lambda: reload, "the end of the reload")


def test_no_answer_is_larger_than_a_bus_takes(btd):
    """What is longer is refused, and comes in parts: whole nodes, whole characters, and nothing twice."""
    count, length = 20_000, 26_000_000
    btd.tree("wide", {"type": "Sequence", "children": [{"type": "Sleep", "duration": "1h"}] + [{"type": "AlwaysSuccess", "name": "long" * 60}] * (count - 2)})
    with open(btd.tree("long", {"type": "Sleep", "duration": "1h"}), "w") as file:
        json.dump({"btd": 1, "description": "é" * (length // 2), "root": {"type": "AlwaysSuccess"}}, file, ensure_ascii=False)
    btd.tree("full", {"type": "Sleep", "duration": "1h"}, blackboard={"many": [[]] * 2_000_000, "few": 1})
    btd.start("--limit=variables-kib=100000")
    tree_path = "/org/btd1/tree/"
    _, run_path = btd.client.start("wide")

    for path, interface in (tree_path + "wide", "org.btd1.Tree"), (run_path, RUN):
        parts, nodes = 0, []
        while part := btd.client.call(path, interface, "GetNodesFrom", "u", len(nodes)):
            parts, nodes = parts + 1, nodes + part
        assert parts > 1 and [row[:5] for row in nodes] == [row[:5] for row in btd.client.call(path, interface, "GetNodes")]
        assert len(btd.client.call(path, interface, "GetNodesFrom", "u", count - 5)) == 5

    with pytest.raises(DBusError) as error:
        btd.client.call(tree_path + "long", "org.btd1.Tree", "GetText")
    assert (error.value.name, error.value.message) == (
        "org.btd1.Error.LimitExceeded", "the answer of GetText would be longer than 24 MiB, which a bus may not take; "
                                        "use GetTextFrom")
    assert btd.btctl("cat", "long").stdout.count("é") == length // 2
    with pytest.raises(DBusError) as error:
        btd.client.call(tree_path + "long", "org.btd1.Tree", "GetTextFrom", "t", length * 2)
    assert error.value.message == (
        "no part of the text begins at 52000000; give 0, then the sum of the lengths of the parts before")
    [shown] = [row.description for row in btd.client.trees() if row.name == "long"]
    assert shown == "é" * 500 + "..."
    assert btd.client.get(tree_path + "long", "org.btd1.Tree", "Description") == "é" * 2048 + "..."

    _, run_path = btd.client.start("full")
    for method, signature, arguments in ("GetVariables", "", ()), ("GetVariable", "s", ("many",)):
        with pytest.raises(DBusError, match="LimitExceeded"):
            btd.client.call(run_path, RUN, method, signature, *arguments)
    assert btd.client.variable(run_path, "few") == 1


def test_a_reload_reports_only_some_errors(btd):
    for i in range(4):
        btd.tree(f"bad{i}", {"type": "Sequence", "children": [{"type": f"Nothing{j}"} for j in range(600)]})
    btd.start()
    errors = btd.client.reload()
    assert len(errors) == 1001 and errors[-1] == "there are more errors; correct these, then reload"
    shown = btd.client.get("/org/btd1/tree/bad3", "org.btd1.Tree", "Diagnostics")
    assert len(shown) == 501 and shown[-1].endswith("bad3.json: error: 100 more like these are not shown")
