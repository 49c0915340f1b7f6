# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests boot and shutdown of a device: trees with autostart, and units that wait for a tree."""

import json
import subprocess

import daemon
from client import look
from user import User

BOOT_TREE = {"type": "Sequence", "name": "Boot", "children": [
    {"type": "StartUnit", "name": "Storage", "unit": "dev-storage.service"},
    {"type": "Parallel", "name": "Load", "children": [
        {"type": "StartUnit", "name": "Config", "unit": "dev-config.service"},
        {"type": "StartUnit", "name": "Calibration", "unit": "dev-calibration.service"}]},
    {"type": "Fallback", "name": "Camera", "children": [
        {"type": "StartUnit", "name": "FullCamera", "unit": "dev-camera.service"},
        {"type": "StartUnit", "name": "TestPicture", "unit": "dev-test-picture.service"}]}]}


OWN_BOOT = "it is about what happens during the boot"


def oneshot(name, script="true", more=""):
    return f"{more}[Service]\nType=oneshot\nRemainAfterExit=yes\n" \
           f"ExecStart=/bin/sh -c 'echo {name} >>/run/order; {script}'\n"


def waiting_for(tree, name):
    """A unit of the boot that waits for a tree."""
    unit = f"btd-run@{tree}.service"
    return oneshot(name, more=f"[Unit]\nRequires={unit}\nAfter={unit}\n") + "[Install]\nWantedBy=multi-user.target\n"


def prepare(machine):
    """A device, whose camera is broken, and the tree that brings it up; and units that wait for other trees."""
    for name in ("storage", "config", "calibration", "test-picture", "network"):
        machine.unit(f"dev-{name}.service", oneshot(name))
    machine.unit("dev-camera.service", oneshot("camera", "exit 5"))
    machine.tree("boot", BOOT_TREE, autostart=True)
    machine.tree("online", {"type": "StartUnit", "unit": "dev-network.service"})
    machine.tree("bad", {"type": "AlwaysFailure", "name": "Never"})
    for tree, name in ("online", "app"), ("bad", "held-back"):
        machine.unit(name + ".service", waiting_for(tree, name))
        machine.enable(name + ".service")


def runs(machine, tree):
    return [row for row in machine.client.runs() if row.tree == tree]


def order(machine, *names):
    """In which these units were started."""
    return [line for line in machine.read("/run/order").split() if line in names]


def test_autostart_brings_the_device_up(machine):
    [row] = runs(machine, "boot")
    assert machine.client.finish(row.path) == ("success", "")
    started = order(machine, "storage", "config", "calibration", "camera", "test-picture")
    assert started[0] == "storage"
    assert sorted(started[1:3]) == ["calibration", "config"]
    assert started[3:] == ["camera", "test-picture"]
    status = machine.btctl("status", "boot")
    camera = next(line for line in status.stdout.splitlines() if "FullCamera" in line)
    assert "exit" in camera and "5" in camera, status.stdout


def test_units_can_wait_for_a_tree(machine):
    assert order(machine, "network", "app") == ["network", "app"]
    assert machine.property("btd-run@online.service", "ActiveState") == "active"


def test_a_tree_that_fails_holds_them_back(machine):
    assert order(machine, "held-back") == []
    assert machine.property("btd-run@bad.service", "ActiveState") == "failed"
    assert machine.property("held-back.service", "ActiveState") == "inactive"


def test_stopping_the_unit_of_a_tree_halts_it(machine):
    machine.load("long", {"type": "Sequence", "children": [
        {"type": "Spawn", "name": "Told", "argv": ["/bin/sh", "-c", "echo >/run/told"]},
        {"type": "Sleep", "duration": "1h"}]})
    machine.check("mkfifo", "/run/told")
    machine.check("systemctl", "start", "--no-block", "btd-run@long.service")
    machine.check("sh", "-c", "read line </run/told")

    machine.check("systemctl", "stop", "btd-run@long.service")

    [row] = runs(machine, "long")
    assert row.status == "halted"


def at_shutdown(directory):
    """A tree whose processes say in a file when they end: one when it is halted, one by itself, and two of a clean-up."""
    def shell(name, script, kind="Spawn", **keys):
        return {"type": kind, "name": name, "argv": ["/bin/sh", "-c", script], **keys}

    def says(word):
        return f"echo {word} >>{directory}/said"

    return {"type": "Finally", "children": [
        {"type": "ParallelAll", "children": [
            shell("Duty", f"trap '{says('halted')}; exit 0' TERM; echo >{directory}/duty; while :; do sleep 0.05; done"),
            shell("Write", f"echo >{directory}/write; until grep -q halted {directory}/said; do sleep 0.05; done; "
                           f"{says('written')}", uninterruptible=True)]},
        {"type": "Sequence", "children": [shell("Check", says("checked"), kind="Command"), shell("Park", says("parked"))]}]}


def test_btd_ends_processes_at_a_shutdown(boot):
    """Systemd leaves it to the tree which process ends when, and clean-ups can start more. Also those of a user."""
    def add_duty(machine):
        machine.tree("on-duty", at_shutdown("/kept"))

    machine = boot(add_duty)
    machine.check("mkfifo", "/kept/duty", "/kept/write")
    machine.client.start("on-duty")
    user = User(machine)
    machine.check("mkdir", "/kept/user")
    machine.check("mkfifo", "/kept/user/duty", "/kept/user/write")
    machine.check("chown", "-R", user.name, "/kept/user")
    user.tree("on-duty", at_shutdown("/kept/user"))
    user.begin()
    user.check("systemctl", "--user", "start", "btd.service")
    user.check("btctl", "--user", "start", "on-duty")
    for directory in "/kept", "/kept/user":
        machine.check("sh", "-c", f"read line <{directory}/duty; read line <{directory}/write")

    machine.power_off()

    for directory in "kept", "kept/user":
        assert (machine.top / directory / "said").read_text().split() == ["halted", "written", "checked", "parked"]


KEEP = "[Unit]\nBefore=btd.service\n[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/bin/true\n" \
       "ExecStop=/bin/cp -a /var/lib/btd /kept/\n"
ON_DEMAND = "[D-BUS Service]\nName=org.example.Late\nExec=/bin/false\nUser=root\nSystemdService=late.service\n"
POLICY = "<busconfig><policy user='root'><allow send_destination='org.example.Late'/></policy></busconfig>"


def test_what_cannot_be_started_at_a_shutdown_says_why(boot):
    """And a unit that stops after btd is there for clean-ups."""
    def add_duty(machine):
        machine.unit("keep.service", KEEP)
        machine.unit("seal.service", oneshot("sealed"))
        machine.unit("late.service", "[Service]\nType=dbus\nBusName=org.example.Late\nExecStart=/bin/false\n")
        machine.write("/usr/share/dbus-1/system-services/org.example.Late.service", ON_DEMAND)
        machine.write("/etc/dbus-1/system.d/late.conf", POLICY)
        machine.tree("on-duty", {"type": "Finally", "children": [
            {"type": "Sleep", "duration": "infinity"},
            {"type": "ParallelAll", "max_failures": 2, "children": [
                {"type": "StartUnit", "name": "Seal", "unit": "seal.service"},
                {"type": "DBusCall", "name": "Call", "destination": "org.example.Late", "path": "/", "member": "Park"}]}]})

    machine = boot(add_duty)
    machine.check("systemctl", "start", "keep.service")
    run, _ = machine.client.start("on-duty")

    machine.power_off()

    status = json.loads(subprocess.run([daemon.BTCTL, f"--directory={machine.top}/kept/btd", "status", run, "--json"],
                                       capture_output=True, text=True, check=True).stdout)
    nodes = {node["name"]: node["detail"] for node in status["nodes"]}
    assert nodes["Seal"].startswith("cannot start seal.service: systemd has jobs that must not be replaced, as when the "
                                    "machine goes down (")
    assert any(why in nodes["Call"] for why in (
        "org.example.Late is not running, and no service is started while the machine goes down",
        "org.example.Late is not running, and its unit has to stop, as when the machine goes down"))


def test_a_user_has_one_of_his_own(machine):
    """The user's manager, the user's bus, the user's trees and units."""
    user = User(machine)
    user.unit("camera.service", "[Service]\nExecStart=/bin/sleep infinity\n")
    user.unit("broken.service", "[Service]\nType=oneshot\nExecStart=/bin/false\n")
    user.tree("mine", {"type": "Sequence", "children": [
        {"type": "StartUnit", "unit": "camera.service"},
        {"type": "UnitState", "unit": "camera.service"},
        {"type": "ForceSuccess", "child": {"type": "StartUnit", "name": "Broken", "unit": "broken.service"}},
        {"type": "Spawn", "argv": ["/bin/id", "-un"], "stdout": "who"}]})
    user.begin()
    user.check("systemctl", "--user", "start", "btd.service")

    assert user.check("btctl", "--user", "start", "mine", "--wait").startswith("✓ mine.1: success")
    assert user.check("systemctl", "--user", "is-active", "camera.service") == "active\n"
    assert user.check("btctl", "--user", "get", "mine", "who") == '"somebody"\n'
    assert "broken.service failed: its main process exited with status 1" in user.check("btctl", "--user", "status", "mine")
    assert "mine" in user.check("btctl", "--user", "list")
    assert "mine" not in machine.check("btctl", "list")

    user.tree("more", {"type": "AlwaysSuccess"})
    user.check("systemctl", "--user", "reload", "btd.service")
    assert "more" in user.check("btctl", "--user", "list")
    user.check("systemctl", "--user", "stop", "btd.service")
    # Calling it starts it.
    user.check("busctl", "--user", "call", "org.btd1", "/org/btd1", "org.btd1.Manager", "ListTrees")
    assert user.check("systemctl", "--user", "is-active", "btd.service") == "active\n"
    assert "mine.1" in user.check("btctl", "--user", "history")


def test_signals_of_the_manager_of_a_user(machine):
    """It sends them only to those who ask for them, which nobody else does."""
    user = User(machine, "listener")
    user.unit("camera.service", "[Service]\nExecStart=/bin/sleep infinity\n")
    systemd = {"interface": "org.freedesktop.systemd1.Manager", "path": "/org/freedesktop/systemd1"}
    user.tree("signal", {"type": "DBusSignal", "sender": "org.freedesktop.systemd1", **systemd, "member": "JobRemoved"})
    user.tree("property", {"type": "WaitFor", "child": {
        "type": "DBusProperty", "destination": "org.freedesktop.systemd1", "interface": "org.freedesktop.systemd1.Unit",
        "path": "/org/freedesktop/systemd1/unit/camera_2eservice", "property": "ActiveState", "equals": "inactive"}})
    user.tree("state", {"type": "WaitFor", "child": {"type": "UnitState", "unit": "camera.service", "state": "inactive"}})
    user.begin()
    user.check("systemctl", "--user", "start", "camera.service", "btd.service")
    for tree in ("property", "state", "signal"):
        user.check("btctl", "--user", "start", tree)
        look(lambda: "running" in user.check("btctl", "--user", "status", tree) and
             (tree != "property" or "not yet: ActiveState is" in user.check("btctl", "--user", "status", tree)), "it waits")
        # A signal may still be sent before systemd has read that somebody wants it.
        look(lambda: [user.check("systemctl", "--user", "stop", "camera.service"),
                      "success" in user.check("btctl", "--user", "status", tree),
                      user.check("systemctl", "--user", "start", "camera.service")][1], "it has seen the end")


def test_what_a_user_starts_at_login_outlives_the_daemon(machine):
    """The daemon is the first to use the user's bus, and systemd is there for its trees all the same."""
    user = User(machine, "another")
    user.tree("duty", {"type": "Spawn", "argv": ["/bin/sleep", "infinity"]}, autostart=True)
    wants = f"{user.home}/.config/systemd/user/default.target.wants/btd.service"
    machine.link(wants, machine.check("sh", "-c", "ls /usr/lib/systemd/user/btd.service "
                                                  "/usr/local/lib/systemd/user/btd.service 2>/dev/null || :").strip())
    user.begin()
    user.check("systemctl", "--user", "start", "default.target")  # it is on its way; this waits until all of it is there
    assert "running" in user.check("btctl", "--user", "list")
    status = user.check("btctl", "--user", "status", "duty")
    assert "btd-duty.1-0-1.service" in status

    user.check("systemctl", "--user", "restart", "btd.service")
    assert "● duty.1: running" in user.check("btctl", "--user", "status", "duty")
    user.check("btctl", "--user", "halt", "duty", "--wait")
    assert "btd-duty" not in user.check("systemctl", "--user", "list-units", "--plain", "btd-*")
