# SPDX-License-Identifier: LGPL-2.1-or-later
"""The work of some minutes, done as fast as the machine can: runs of all kinds come and go, a service flaps, trees are
loaded anew, the bus is restarted; and at the end all is as it was after the first minute.

The work of an hour with BTD_LOAD=full in the environment; in the time of an hour with BTD_LOAD=hour.
"""

import json
import os
import time

import client
import load

MODE = os.environ.get("BTD_LOAD")
MINUTES = 60 if MODE in ("full", "hour") else 3
MINUTE = 60 if MODE == "hour" else 0  # seconds it takes at least

RUNS, AT_ONCE, FLAPS = 60, 4, 12  # a minute
MINUTES_OF_A_BUS = 10 if MODE else 2  # then it is restarted

DBUS = "org.freedesktop.DBus"
STATS = DBUS + ".Debug.Stats"
FLAP = "org.example.Flap"
SLEEP = {"type": "Sleep", "duration": "1h"}
# One that comes and goes is looked at in each way there is.
WATCH = [{"type": "DBusName", "name": FLAP}, {"type": "UnitState", "unit": "flap.service", "state": "active"},
         {"type": "DBusProperty", "destination": FLAP, "path": "/load", "interface": "org.example.Load",
          "property": "Ready", "equals": True}]


def prepare(machine):
    load.prepare(machine)
    machine.unit("flap.service", f"[Unit]\nStartLimitIntervalSec=0\n[Service]\nType=dbus\nBusName={FLAP}\n"
                 f"ExecStart=/bin/sh -c 'sleep infinity | /usr/libexec/load-service {load.ADDRESS} {FLAP}'\n")
    machine.unit("once.service", "[Service]\nType=oneshot\nExecStart=/bin/true\n[Unit]\nStartLimitIntervalSec=0\n")
    machine.tree("watch", {"type": "Parallel", "children": [
        {"type": "WhileDoElse", "children": [condition, SLEEP, SLEEP]} for condition in WATCH]})
    machine.tree("quick", {"type": "AlwaysSuccess"})
    machine.tree("mixed", {"type": "Sequence", "children": [
        {"type": "Spawn", "argv": ["/bin/echo", "said"], "stdout": "said"},
        {"type": "Condition", "test": "said == 'said'"},
        {"type": "StartUnit", "unit": "once.service", "lock": "once"},
        {"type": "DBusCall", "destination": load.PLAIN, "path": "/load", "interface": "org.example.Load",
         "member": "Ask", "timeout": "20s"},
        {"type": "Parallel", "children": [{"type": "Sleep", "duration": "1ms"}, {"type": "Script", "code": "n = 1"}]}]})


def run_many(machine, tree, count):
    """Keeps some at work until so many have ended well."""
    with load.finished(machine) as statuses:
        for n in range(count):
            client.wait(lambda n=n: n - len(statuses) < AT_ONCE, "runs to end")
            machine.client.start(tree, str(n))
        client.wait(lambda: len(statuses) == count, "all runs to end")
    assert set(statuses) == {"success"}


def nodes(machine):
    """The standing run's conditions: statuses."""
    [path] = [row.path for row in machine.client.runs() if row.tree == "watch"]
    return [row[4] for row in machine.client.call(path, "org.btd1.Run", "GetNodes")
            if row[2] in ("DBusName", "UnitState", "DBusProperty")]


def flap(machine):
    """Away, and there again."""
    for verb, status in (("stop", "failure"), ("start", "success")):
        machine.check("systemctl", verb, "flap.service")
        load.settle(lambda: set(nodes(machine)) != {status}, False)
        assert set(nodes(machine)) == {status}


def restart_bus(machine):
    machine.check("systemctl", "restart", "dbus.service")
    machine.reconnect()
    machine.client.wait_owner()
    machine.check("systemctl", "restart", "flap.service")


def minute(machine, number):
    begin = time.monotonic()
    if number % MINUTES_OF_A_BUS == 0:
        restart_bus(machine)
    with load.Program(machine, "service", load.PLAIN):
        for _ in range(FLAPS):
            run_many(machine, "mixed", RUNS // FLAPS)
            flap(machine)
    machine.tree("changing", {"type": "Sequence", "name": f"Minute{number}", "children": [SLEEP] * 20})
    assert machine.client.reload() == []
    client.run(["sleep", str(max(0, MINUTE - (time.monotonic() - begin)))], timeout=MINUTE + 20)


def match_rules(machine):
    """Of all connections of btd; each kind of bus tells them in its own way."""
    pid = bus(machine, "GetConnectionUnixProcessID", DBUS, client.BUS_NAME)
    if machine.run("pgrep", "-x", "dbus-broker").stdout:
        peers = bus(machine, "GetStats", STATS)["org.bus1.DBus.Debug.Stats.PeerAccounting"]
        return sum(stats["Matches"] for _, who, stats in peers if who["ProcessID"] == pid)
    names = [name for name in bus(machine, "ListNames") if name.startswith(":")]
    return sum(bus(machine, "GetConnectionStats", STATS, name)["MatchRules"] for name in names
               if bus(machine, "GetConnectionUnixProcessID", DBUS, name) == pid)


def bus(machine, method, interface=DBUS, *arguments):
    return machine.client.call_any(DBUS, "/org/freedesktop/DBus", interface, method, "s" * len(arguments), *arguments)


def what_is_kept(machine):
    return {"files": load.files(machine), "match rules": match_rules(machine),
            "units": len(json.loads(machine.check("systemctl", "list-units", "--all", "--output=json"))),
            "runs": machine.client.get(client.MANAGER, "org.btd1.Manager", "NRunning")}


def test_nothing_is_left_of_much_work(machine):
    machine.check("systemctl", "start", "flap.service")
    run_many(machine, "quick", 1100)  # so that the history is full
    machine.client.start("watch")
    minute(machine, 0)
    memory, kept = load.rest(machine), what_is_kept(machine)
    print("after the first minute:", kept)

    for number in range(1, MINUTES):
        minute(machine, number)

    load.settle(lambda: what_is_kept(machine) != kept, False)
    assert what_is_kept(machine) == kept
    load.check_memory(machine, memory, f"{MINUTES} minutes")
    machine.check("btctl", "halt", "watch", "--wait")
