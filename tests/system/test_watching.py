# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests trees that watch real services, which are activated by the bus, killed, restarted and replaced."""

import pytest

from client import wait

CAMERA = "org.example.Camera"
SERVICE = """
import os
from gi.repository import Gio, GLib
XML = '<node><interface name="org.example.Camera"><property name="Powered" type="b" access="read"/>' \\
      '<property name="Process" type="u" access="read"/></interface></node>'
bus = Gio.bus_get_sync(Gio.BusType.SYSTEM)
values = {"Powered": GLib.Variant("b", True), "Process": GLib.Variant("u", os.getpid())}
bus.register_object("/camera", Gio.DBusNodeInfo.new_for_xml(XML).interfaces[0], None, lambda *a: values[a[4]], None)
bus.call_sync("org.freedesktop.DBus", "/", "org.freedesktop.DBus", "RequestName",
              GLib.Variant("(su)", ("org.example.Camera", 4)), None, 0, -1)
GLib.MainLoop().run()
"""
POLICY = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-BUS Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><policy context="default">
  <allow own="org.example.Camera"/><allow send_destination="org.example.Camera"/>
</policy></busconfig>
"""
IDLE = {"type": "Sleep", "name": "Idle", "duration": "infinity"}
UPLOAD = {"type": "Sleep", "name": "Upload", "duration": "infinity"}


def prepare(machine):
    machine.write("/usr/libexec/camera.py", SERVICE)
    machine.write("/etc/dbus-1/system.d/org.example.Camera.conf", POLICY)
    machine.write("/usr/share/dbus-1/system-services/org.example.Camera.service",
                  "[D-BUS Service]\nName=org.example.Camera\nExec=/bin/false\nUser=root\nSystemdService=camera.service\n")
    machine.unit("camera.service", "[Unit]\nStartLimitIntervalSec=0\n[Service]\nType=dbus\nBusName=org.example.Camera\n"
                 "ExecStart=/usr/bin/python3 /usr/libexec/camera.py\n")


def watched(**keys):
    return {"type": "DBusProperty", "name": "Powered", "destination": CAMERA, "path": "/camera", "interface": CAMERA,
            "property": "Powered", **keys}


def while_true(condition):
    return {"type": "WhileDoElse", "children": [condition, UPLOAD, IDLE]}


def wait_running(machine, path, name):
    wait(lambda: machine.client.nodes(path)[name]["status"] == "running", f"{name} to run")


@pytest.mark.both_buses("the bus has the service started, and tells of its end")
def test_a_service_is_started_once_and_then_waited_for(machine):
    machine.load("camera", while_true(watched()))
    _, path = machine.client.start("camera")
    wait_running(machine, path, "Upload")  # the bus has started it
    assert machine.property("camera.service", "ActiveState") == "active"

    machine.check("systemctl", "stop", "camera.service")
    wait_running(machine, path, "Idle")
    assert machine.client.nodes(path)["Powered"]["detail"].endswith("org.example.Camera is not on the bus")
    assert machine.property("camera.service", "ActiveState") == "inactive"

    machine.check("systemctl", "start", "camera.service")
    wait_running(machine, path, "Upload")


@pytest.mark.both_buses("what becomes of calls whose receiver is killed")
def test_a_service_that_is_killed_again_and_again(machine):
    machine.check("systemctl", "start", "camera.service")
    machine.load("killed", while_true(watched(property="Process", test="value == n")), blackboard={"n": 0})
    run, path = machine.client.start("killed")
    for _ in range(5):
        machine.check("systemctl", "kill", "--signal=KILL", "camera.service")
        wait(lambda: machine.property("camera.service", "ActiveState") == "failed", "the end of the service")
        wait_running(machine, path, "Idle")
        machine.check("systemctl", "start", "camera.service")
        machine.check("btctl", "set", run, "n=" + machine.property("camera.service", "MainPID"))
        wait_running(machine, path, "Upload")


def test_a_name_never_starts_its_service(machine):
    machine.load("name", while_true({"type": "DBusName", "name": CAMERA}))
    _, path = machine.client.start("name")
    wait_running(machine, path, "Idle")
    assert machine.property("camera.service", "ActiveState") == "inactive"
    machine.check("systemctl", "start", "camera.service")
    wait_running(machine, path, "Upload")


def test_the_name_of_the_machine(machine):
    """A service of systemd's, which the bus starts and which ends when nobody asks."""
    machine.load("hostname", while_true({
        "type": "DBusProperty", "destination": "org.freedesktop.hostname1", "path": "/org/freedesktop/hostname1",
        "interface": "org.freedesktop.hostname1", "property": "PrettyHostname", "equals": "A camera"}))
    _, path = machine.client.start("hostname")
    wait_running(machine, path, "Idle")
    machine.check("hostnamectl", "hostname", "--pretty", "A camera")
    wait_running(machine, path, "Upload")
