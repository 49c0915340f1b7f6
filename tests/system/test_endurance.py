# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs of all kinds come and go, a service flaps, trees are loaded anew, the bus is restarted; and a round of all this
leaves nothing that was not there before.

Some rounds here; the work of an hour with BTD_LOAD=full in the environment; in the time of an hour with BTD_LOAD=hour.
"""

import json
import os
import time

import pytest

import client
import daemon
import load

MODE = os.environ.get("BTD_LOAD")
ROUNDS = 60 if MODE else 2
SECONDS = 60 if MODE == "hour" else 0  # that a round takes at least
RUNS, AT_ONCE, FLAPS = (60, 4, 12) if MODE else (16, 4, 2)  # in a round
ROUNDS_OF_A_BUS = 10 if MODE else 1  # then it is restarted

# Bytes that a round may leave, such as a table that has grown. What is kept of the runs is less each time, because there
# are more and more of them that are forgotten.
KEPT_MAX, ROUNDS_MAX = 4096, ROUNDS + 10
ALLOCATED = "/run/btd/allocated"
PLAIN, FLAP = "org.example.Plain", "org.example.Flap"
ADDRESS = "unix:path=/run/dbus/system_bus_socket"
POLICY = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-BUS Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><policy context="default"><allow own_prefix="org.example"/>
<allow send_destination="org.example.Flap"/><allow send_destination="org.example.Plain"/></policy></busconfig>
"""
DROP_IN = f"""[Service]
ExecStart=
ExecStart=btd --limit=history=10
Environment=LD_PRELOAD=/usr/libexec/allocated.so BTD_TEST_ALLOCATED={ALLOCATED}
Environment={" ".join(f"{key}={value}" for key, value in load.EXACT.items())}
"""

OWN_BOOT = "btd keeps few runs and counts its memory; the bus may restart as often as it likes"

SLEEP = {"type": "Sleep", "duration": "1h"}
# One that comes and goes is looked at in each way there is.
WATCH = [{"type": "DBusName", "name": FLAP}, {"type": "UnitState", "unit": "flap.service", "state": "active"},
         {"type": "DBusProperty", "destination": FLAP, "path": "/load", "interface": load.INTERFACE,
          "property": "Ready", "equals": True}]


def prepare(machine):
    for name in "load-service", "allocated.so":
        program = machine.path("/usr/libexec/" + name)
        program.parent.mkdir(parents=True, exist_ok=True)
        with open(os.path.join(daemon.BUILD, "tests", "load", name), "rb") as file:
            program.write_bytes(file.read())
        program.chmod(0o755)
    machine.write("/etc/dbus-1/system.d/org.example.conf", POLICY)
    machine.write("/etc/systemd/system/btd.service.d/allocated.conf", DROP_IN)
    # They restart all the time.
    for unit in "dbus.service", "dbus-broker.service", "dbus.socket", "systemd-logind.service":
        machine.write(f"/etc/systemd/system/{unit}.d/restarts.conf", "[Unit]\nStartLimitIntervalSec=0\n")
    machine.unit("flap.service", f"[Unit]\nStartLimitIntervalSec=0\n[Service]\nType=dbus\nBusName={FLAP}\n"
                 f"ExecStart=/bin/sh -c 'sleep infinity | /usr/libexec/load-service {ADDRESS} {FLAP}'\n")
    machine.unit("once.service", "[Service]\nType=oneshot\nExecStart=/bin/true\n[Unit]\nStartLimitIntervalSec=0\n")
    machine.tree("watch", {"type": "Parallel", "children": [
        {"type": "WhileDoElse", "children": [condition, SLEEP, SLEEP]} for condition in WATCH]})
    machine.tree("mixed", {"type": "Sequence", "children": [
        {"type": "Spawn", "argv": ["/bin/echo", "said"], "stdout": "said"},
        {"type": "Condition", "test": "said == 'said'"},
        {"type": "StartUnit", "unit": "once.service", "lock": "once"},
        {"type": "DBusCall", "destination": PLAIN, "path": "/load", "interface": load.INTERFACE, "member": "Ask",
         "timeout": "10min"},
        {"type": "Parallel", "children": [{"type": "Sleep", "duration": "1ms"}, {"type": "Script", "code": "n = 1"}]}]})


def run_many(machine, tree, count):
    """Keeps some at work until so many have ended well."""
    with load.finished(machine.client) as statuses:
        for n in range(count):
            client.wait(lambda n=n: n - len(statuses) < AT_ONCE, "runs to end")
            machine.client.start(tree, str(n))
        client.wait(lambda: len(statuses) == count, "all runs to end")
    assert set(statuses) == {"success"}


def nodes(machine):
    """The standing run's conditions: statuses."""
    [path] = [row.path for row in machine.client.runs() if row.tree == "watch"]
    return {row[4] for row in machine.client.call(path, "org.btd1.Run", "GetNodes")
            if row[2] in ("DBusName", "UnitState", "DBusProperty")}


def flap(machine):
    """Away, and there again."""
    for verb, status in ("stop", "failure"), ("start", "success"):
        machine.check("systemctl", verb, "flap.service")
        load.until(lambda status=status: nodes(machine) == {status}, f"all conditions: {status}")


def restart_bus(machine):
    machine.check("systemctl", "restart", "dbus.service")
    machine.reconnect()
    machine.client.wait_owner()
    machine.check("systemctl", "restart", "flap.service")


def work(machine, number):
    begin = time.monotonic()
    if number % ROUNDS_OF_A_BUS == 0:
        restart_bus(machine)
    with load.Program(machine.command("/usr/libexec/load-service", ADDRESS, PLAIN)):
        for _ in range(FLAPS):
            run_many(machine, "mixed", RUNS // FLAPS)
            flap(machine)
    machine.tree("changing", {"type": "Sequence", "name": f"Round{number}", "children": [SLEEP] * 20})
    assert machine.client.reload() == []
    time.sleep(max(0, SECONDS - (time.monotonic() - begin)))  # BTD_LOAD=hour


def what_is_kept(machine, pid):
    return {"files": len(machine.check("ls", f"/proc/{pid}/fd").split()),
            "match rules": sum(each.match_rules for each in load.connections(machine.client, int(pid))),
            "units": len(json.loads(machine.check("systemctl", "list-units", "--all", "--output=json"))),
            "runs": machine.client.get(client.MANAGER, load.MANAGER, "NRunning")}


def settled(machine, pid, before):
    """What is kept, once this is nothing more than before. The first time, something may still have been on its way."""
    now = {}

    def is_no_more():
        now.update(what_is_kept(machine, pid))
        return all(now[name] <= count for name, count in before.items())

    load.until(is_no_more, ("no more to be kept than", before, "now", now))
    return now


@pytest.mark.both_buses("btd makes its connections anew when the bus is restarted, and each bus counts what they keep")
def test_nothing_is_left_of_much_work(machine):
    machine.check("systemctl", "start", "flap.service")
    machine.client.start("watch")
    work(machine, 0)
    pid = machine.property("btd.service", "MainPID")
    kept, left = what_is_kept(machine, pid), []
    while len(left) < ROUNDS or left[-1] > KEPT_MAX:
        allocated = load.allocated(machine.path(ALLOCATED))
        work(machine, len(left) + 1)
        kept = settled(machine, pid, kept)
        left.append(load.allocated(machine.path(ALLOCATED)) - allocated)
        assert len(left) < ROUNDS_MAX, f"bytes that were left: {left}"
    assert not MODE or sum(left[1:]) <= 4 * KEPT_MAX, f"bytes that were left: {left}"
    assert machine.property("btd.service", "MainPID") == pid
    machine.check("btctl", "halt", "watch", "--wait")
