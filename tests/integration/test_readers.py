# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests large answers: btd makes them in pieces, and they are still correct."""

import json
import os

import pytest
from gi.repository import Gio, GLib

from client import BUS_NAME, MANAGER, Client, wait

MANY = 60000
IDLE = {"type": "Sequence", "name": "Idle", "children": [{"type": "AlwaysSuccess"}] * MANY}
RUN = "org.btd1.Run"
# Properties of a run that change with each tick.
COUNTERS = {"Ticks", "Inputs", "ActionStarts", "ActionRestarts", "LastEvent"}


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
            60000, None, lambda source, result: self.seen.append((name, source.call_finish(result))))

    def wait(self, name):
        """Its place."""
        wait(lambda: any(it[0] == name for it in self.seen), name, 60)
        return next(i for i, it in enumerate(self.seen) if it[0] == name)

    def between(self, first, last):
        return [path for path, _ in self.seen[self.wait(first) + 1:self.wait(last)]]


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
    steps = [{"type": "Sleep", "name": f"Step{i}", "duration": "1ms"} for i in range(300)]
    btd.tree("large", {"type": "Fallback", "children": [{"type": "Sequence", "children": steps}, IDLE]})
    btd.start()
    order = Order(btd.client)
    _, path = btd.client.start("large")
    order.ask("nodes", path, RUN, "GetNodes")
    assert btd.client.finish(path) == ("success", "")
    rows = btd.client.call(path, RUN, "GetNodes")
    at_the_end = {row[0]: row[4] for row in rows}
    status = {}

    def knows_all():
        for name, values in order.seen:
            if name == "nodes" or status:  # what came before the answer is older
                status.update({row[0]: row[4] for row in values[0]})
        order.seen.clear()
        return status == at_the_end
    wait(knows_all, "the state of all nodes", 60)


def test_many_changes_at_once_are_told_in_parts(btd):
    n = 10000
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
    wait(all_told, "all nodes", 60)
    assert set(told.values()) == {"running"}


def test_one_that_leaves_is_answered_no_more(btd):
    btd.tree("large", IDLE)
    btd.start()
    path = "/org/btd1/tree/large"
    gone = Client(btd.bus.address)
    before, after = Order(gone), Order(btd.client)
    for _ in range(30):
        before.ask("nodes", path, "org.btd1.Tree", "GetNodes")
    gone.connection.flush_sync()
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
    """A tree that was removed, before its turn."""
    btd.tree("large", IDLE)
    victim = btd.tree("victim", {"type": "AlwaysSuccess"})
    btd.start()
    errors = []
    order = Order(btd.client)
    for _ in range(20):
        order.ask("nodes", "/org/btd1/tree/large", "org.btd1.Tree", "GetNodes")
    btd.client.connection.call(
        BUS_NAME, "/org/btd1/tree/victim", "org.btd1.Tree", "GetText", None, None, Gio.DBusCallFlags.NONE, 60000, None,
        lambda source, result: errors.append(result))
    btd.client.connection.flush_sync()
    os.unlink(victim)
    other = Client(btd.bus.address)
    other.reload()
    other.close()
    wait(lambda: errors, "the answer", 60)
    with pytest.raises(GLib.Error, match="no tree 'victim'"):
        btd.client.connection.call_finish(errors[0])
