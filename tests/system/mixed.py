# SPDX-License-Identifier: LGPL-2.1-or-later
"""Has trees that mix all kinds of leaves, for tests that disturb them. The processes, units and services that these trees
use count what is done, so that the tests know afterwards what was lost and what was done twice."""

import os
import time

import client
import daemon

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
KILL_AT = "/var/lib/btd/kill-at"  # see kill-at.c

VARIABLES = {"n": 0, "said": ""}
PARTS_MAX = 3
AT_MOST_ONCE = ("call-", "told-", "child-")


def prepare(machine):
    """Before it boots. btd can be killed behind a line of a run record; it and the bus can be restarted all the time."""
    machine.write("/usr/libexec/counter.py", SERVICE)
    machine.write("/etc/dbus-1/system.d/org.example.Counter.conf", POLICY)
    machine.unit("counter.service", "[Service]\nType=dbus\nBusName=org.example.Counter\n"
                 "ExecStart=/usr/bin/python3 /usr/libexec/counter.py\nRestart=always\nRestartSec=10ms\n")
    machine.write("/etc/systemd/system/btd.service.d/kills.conf", DROP_IN)
    for unit in ("dbus.service", "dbus-broker.service", "dbus.socket", "systemd-logind.service", "counter.service"):
        machine.write(f"/etc/systemd/system/{unit}.d/kills.conf", "[Unit]\nStartLimitIntervalSec=0\n")
    preloaded = machine.path("/usr/libexec/kill-at.so")
    with open(os.path.join(daemon.BUILD, "tests", "system", "kill-at.so"), "rb") as file:
        preloaded.write_bytes(file.read())
    for n in range(1, PARTS_MAX + 1):
        add_units(machine, n)


def counted(what, more=""):
    return f"/bin/sh -c 'echo {what} >>/run/effects{more}'"


def add_units(machine, n):
    """For the n-th part of the tree: two services that do their work and are forgotten, and one that stays."""
    for name in ("once", "twice"):
        machine.unit(f"{name}-{n}.service", f"[Service]\nType=oneshot\nExecStart={counted(f'{name}-{n}')}\n")
    machine.unit(f"stays-{n}.service",
                 f"[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart={counted(f'start-{n}')}\n"
                 f"ExecReload={counted(f'reload-{n}')}\nExecStop={counted(f'stop-{n}')}\n")


def spawn(name, script="true", **keys):
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
                {"type": "WaitFor", "child": {"type": "UnitState", "unit": f"stays-{n}.service", "state": "active"}},
                unit("StopUnit", f"stays-{n}")]}]},
        {"type": "WaitFor", "child": {"type": "DBusName", "name": COUNTER}},
        {"type": "WaitFor", "child": {"type": "DBusProperty", "destination": COUNTER, "path": "/counter",
                                      "interface": COUNTER, "property": "Ready"}},
        {"type": "PathExists", "path": "/usr"},
        tried(call(f"call-{n}")),
        tried({"type": "DBusEmit", "path": "/counter", "interface": "org.example.Told", "member": "Told",
               "signature": "s", "args": [f"told-{n}"]}),
        tried(spawn(f"child-{n}", **{"as": "child"})),
        {"type": "DBusSignal", "sender": COUNTER, "interface": COUNTER, "member": "Beat", "on_owner_lost": "wait"}]}


class Mixed:
    """Trees of so many parts in a machine, under the name "all"."""

    def __init__(self, machine, n_parts):
        self.machine = machine
        self.n_parts = n_parts
        machine.reconnect()
        machine.check("systemctl", "start", "counter.service")
        machine.load("all", self.root(), blackboard=VARIABLES)

    def root(self):
        return {"type": "Sequence", "children": [part(n) for n in range(1, self.n_parts + 1)]}

    def newest(self):
        """The number of the newest run that has a journal, or 0."""
        directories = "/run/btd/runs", "/run/btd/finished", "/var/lib/btd/history"
        return max((int(path.name.split(".")[1]) for directory in directories
                    for path in self.machine.path(directory).glob("all.*.journal")), default=0)

    def start(self):
        """Answers the number of the run."""
        self.machine.check("systemctl", "stop", "stays-*")
        self.machine.check("rm", "-f", "/run/effects")
        before = self.newest()
        try:
            self.machine.client.start("all")
        except client.DBusError:  # it was killed before it could answer
            pass
        self.wait_for(None, lambda: self.newest() > before)
        return self.newest()

    def live_journal(self, run):
        return self.machine.path(f"/run/btd/runs/all.{run}.journal")

    def past_journal(self, run):
        return self.machine.path(f"/var/lib/btd/history/all.{run}.journal")

    def is_history(self, run):
        """All of it is on the disk."""
        return self.past_journal(run).exists() and \
            not self.machine.path(f"/run/btd/finished/all.{run}.journal").exists()

    def wait_for(self, run, condition):
        deadline = time.monotonic() + client.PATIENCE
        while not condition():
            assert time.monotonic() < deadline, self.machine.check("btctl", "status") + \
                self.machine.check("systemctl", "list-units", "--all", "btd-all*")
            time.sleep(0.005)  # no event tells about lines of a run record

    def wait_for_lines(self, run, n):
        """Until the journal has so many, or is history."""
        def are_there():
            try:
                return self.live_journal(run).read_bytes().count(b"\n") >= n
            except FileNotFoundError:
                return self.is_history(run)
        self.wait_for(run, are_there)

    def finish(self, run):
        """Waits for the journal of the run to be history: its lines."""
        self.wait_for(run, lambda: self.is_history(run))
        return self.past_journal(run).read_text(encoding="utf-8").splitlines()

    def outcome(self, lines):
        """The result, what took place exactly once, and what did so at most."""
        effects = sorted(self.machine.read("/run/effects").split())
        once = [effect for effect in effects if not effect.startswith(AT_MOST_ONCE)]
        status = lines[-1].split('"')[3]
        return status, once, [effect for effect in effects if effect not in once]

    def story(self, run):
        lines = self.past_journal(run).read_text(encoding="utf-8").splitlines()
        return "\n".join(line[:-9] for line in lines[1:])

    def left_behind(self):
        """Units of processes that have ended, and what they have written."""
        units = self.machine.check("systemctl", "list-units", "--all", "--plain", "--no-legend", "btd-all*").split("\n")
        outputs = self.machine.check("sh", "-c", "ls /run/btd/outputs 2>/dev/null || true").split()
        return [line.split()[0] for line in units if line] + outputs
