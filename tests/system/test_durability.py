# SPDX-License-Identifier: LGPL-2.1-or-later
"""btd is killed behind a line of a run's journal, comes back, and the run comes to what it would have come to: each process
and each job of a unit once, each call at most once. The processes, the units and the services count themselves.

Some lines in between, chosen evenly; all of them, and kills during the recovery, with BTD_DURABILITY=full in the
environment.
"""

import os
import time

import pytest

import conftest
import daemon
from client import DBusError

FULL = os.environ.get("BTD_DURABILITY") == "full"
KILLS = 12  # where not all

COUNTER = "org.example.Counter"
SERVICE = """
from gi.repository import Gio, GLib
XML = '<node><interface name="org.example.Counter"><method name="Do"><arg name="what" type="s" direction="in"/></method>' \\
      '<property name="Ready" type="b" access="read"/><signal name="Beat"><arg type="s"/></signal></interface></node>'
bus = Gio.bus_get_sync(Gio.BusType.SYSTEM)

def count(what):
    with open("/run/effects", "a") as file:
        file.write(what + "\\n")

def on_call(connection, sender, path, interface, method, parameters, invocation):
    count(parameters.unpack()[0])
    invocation.return_value(None)

def on_beat():
    bus.emit_signal(None, "/counter", "org.example.Counter", "Beat", GLib.Variant("(s)", ("beat",)))
    return True

bus.register_object("/counter", Gio.DBusNodeInfo.new_for_xml(XML).interfaces[0], on_call,
                    lambda *a: GLib.Variant("b", True), None)
bus.signal_subscribe(None, "org.example.Told", "Told", None, None, 0, lambda *a: count(a[5].unpack()[0]))
bus.call_sync("org.freedesktop.DBus", "/", "org.freedesktop.DBus", "RequestName",
              GLib.Variant("(su)", ("org.example.Counter", 4)), None, 0, -1)
GLib.timeout_add(20, on_beat)
GLib.MainLoop().run()
"""
POLICY = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-BUS Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><policy context="default">
  <allow own="org.example.Counter"/><allow send_destination="org.example.Counter"/>
</policy></busconfig>
"""
DROP_IN = """
[Unit]
StartLimitIntervalSec=0
[Service]
RestartSec=10ms
Environment=LD_PRELOAD=/usr/libexec/kill-at.so
"""


def counted(what, more=""):
    return f"/bin/sh -c 'echo {what} >>/run/effects{more}'"


def add_units(machine, n):
    """For the n-th part of the tree: two services that do their work and are forgotten, and one that stays."""
    for name in ("once", "twice"):
        machine.unit(f"{name}-{n}.service", f"[Service]\nType=oneshot\nExecStart={counted(f'{name}-{n}')}\n")
    machine.unit(f"stays-{n}.service",
                 f"[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart={counted(f'start-{n}')}\n"
                 f"ExecReload={counted(f'reload-{n}')}\nExecStop={counted(f'stop-{n}')}\n")


def prepare(machine):
    machine.write("/usr/libexec/counter.py", SERVICE)
    machine.write("/etc/dbus-1/system.d/org.example.Counter.conf", POLICY)
    machine.unit("counter.service", "[Service]\nType=dbus\nBusName=org.example.Counter\n"
                 "ExecStart=/usr/bin/python3 /usr/libexec/counter.py\n")
    machine.write("/etc/systemd/system/btd.service.d/durability.conf", DROP_IN)
    preloaded = machine.path("/usr/libexec/kill-at.so")
    with open(os.path.join(daemon.BUILD, "tests", "system", "kill-at.so"), "rb") as file:
        preloaded.write_bytes(file.read())


def spawn(name, script="", **keys):
    return {"type": "Spawn", "name": name, "argv": ["/bin/sh", "-c", f"echo {name} >>/run/effects; {script}"], **keys}


def unit(verb, name):
    return {"type": verb, "unit": name + ".service"}


def tried(leaf):
    """What can be lost."""
    return {"type": "Fallback", "children": [leaf, {"type": "Log", "message": "lost"}]}


def call(what):
    return {"type": "DBusCall", "destination": COUNTER, "path": "/counter", "interface": COUNTER, "member": "Do",
            "signature": "s", "args": [what]}


def part(n):
    """All kinds of leaves."""
    return {"type": "Sequence", "name": f"Part{n}", "children": [
        {"type": "Script", "code": "n = n + 1"},
        {"type": "Log", "message": "part {n}"},
        spawn(f"spawn-{n}", "echo said; sleep 0.02", stdout="said"),
        {"type": "Condition", "test": f"n == {n} and said == 'said'"},
        {"type": "Parallel", "children": [
            unit("StartUnit", f"once-{n}"), unit("RestartUnit", f"twice-{n}"),
            {"type": "Timeout", "timeout": "1min", "child": spawn(f"slow-{n}", "sleep 0.1; exit 3", success_exit=[3])},
            {"type": "Sleep", "duration": "50ms"},
            {"type": "Sequence", "lock": "one", "children": [
                unit("StartUnit", f"stays-{n}"), unit("ReloadUnit", f"stays-{n}"), unit("RestartUnit", f"stays-{n}"),
                {"type": "UnitState", "unit": f"stays-{n}.service", "state": "active"},
                unit("StopUnit", f"stays-{n}")]}]},
        {"type": "DBusName", "name": COUNTER},
        {"type": "DBusProperty", "destination": COUNTER, "path": "/counter", "interface": COUNTER, "property": "Ready"},
        {"type": "PathExists", "path": "/usr"},
        tried(call(f"call-{n}")),
        tried({"type": "DBusEmit", "path": "/counter", "interface": "org.example.Told", "member": "Told",
               "signature": "s", "args": [f"told-{n}"]}),
        tried(spawn(f"child-{n}", **{"as": "child"})),
        {"type": "DBusSignal", "sender": COUNTER, "interface": COUNTER, "member": "Beat"}]}


N_PARTS = 3 if FULL else 1
AT_MOST_ONCE = ("call-", "told-", "child-")


def load(machine):
    for n in range(1, N_PARTS + 1):
        add_units(machine, n)
    machine.check("systemctl", "start", "counter.service")
    machine.load("all", {"type": "Sequence", "children": [part(n) for n in range(1, N_PARTS + 1)]},
                 blackboard={"n": 0, "said": ""})


def begin(machine, kills):
    """Starts the tree; the first life and those after it end behind so many lines. Answers the number of the run."""
    machine.check("sh", "-c", f"rm -f /run/effects; echo {' '.join(map(str, kills))} >/run/btd/kill-at")
    before = machine.check("sh", "-c", "cat /var/lib/btd/all.runs 2>/dev/null || echo 0")
    try:
        machine.client.start("all")
    except DBusError:  # it was killed before it could answer
        pass
    return int(before) + 1


def journal_of(machine, run):
    return machine.path(f"/var/lib/btd/history/all.{run}.journal")


def finish(machine, run):
    """Waits for the journal of the run to be history: its records."""
    deadline = time.monotonic() + 30
    while not journal_of(machine, run).exists():
        assert time.monotonic() < deadline, machine.check("btctl", "status", f"all.{run}")
        time.sleep(0.01)
    return journal_of(machine, run).read_text(encoding="utf-8").splitlines()


def outcome(machine, records):
    """The result, what took place exactly once, and what did so at most."""
    effects = sorted(machine.read("/run/effects").split())
    once = [effect for effect in effects if not effect.startswith(AT_MOST_ONCE)]
    status = records[-1].split('"')[3]
    return status, once, [effect for effect in effects if effect not in once]


@pytest.mark.skipif(conftest.SANITIZED, reason="a sanitizer wants to be loaded first itself")
def test_nothing_is_lost_and_nothing_done_twice(machine):
    load(machine)
    run = begin(machine, [])
    records = finish(machine, run)
    status, once, at_most_once = outcome(machine, records)
    assert status == "success", records[-1]
    assert len(at_most_once) == 3 * N_PARTS

    lines = range(1, len(records) + 1)
    points = [[line] for line in lines]
    if FULL:
        points += [[line, 2, 3] for line in lines]
    else:
        points = points[::max(1, len(points) // KILLS)] + [[len(records) // 2, 2, 3]]
    for kills in points:
        run = begin(machine, kills)
        records = finish(machine, run)
        was = outcome(machine, records)
        story = "\n".join([f"killed behind {kills}", *(line[:-9] for line in records[1:])])
        assert was[:2] == (status, once), story
        assert len(was[2]) == len(set(was[2])), story
