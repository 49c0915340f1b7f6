# SPDX-License-Identifier: LGPL-2.1-or-later
"""btd as a service of systemd: what it may do, and how it lives, ends and comes back."""

import re

import pytest

from client import DBusError

# Short spans instead of the unit's own, so that the tests need not wait for half a minute.
DROP_IN = """
[Service]
WatchdogSec=500ms
TimeoutAbortSec=200ms
RestartSec=50ms

[Unit]
StartLimitBurst=1000
"""

TREE_WITH_PROCESS = {
    "type": "Spawn", "name": "Work",
    "argv": ["/bin/sh", "-c", 'trap "echo ended >>/run/work; exit 0" TERM; echo begun >>/run/work; '
                              'echo >/run/work-pipe; while :; do sleep 0.05; done']}


def prepare(machine):
    machine.write("/etc/systemd/system/btd.service.d/test.conf", DROP_IN)
    machine.tree("every-time", {"type": "Log", "message": "started by itself"}, autostart=True)


def main_pid(machine):
    return machine.property("btd.service", "MainPID")


def begin_work(machine, tree="work", **keys):
    machine.check("sh", "-c", "rm -f /run/work /run/work-pipe; mkfifo /run/work-pipe")
    machine.load(tree, TREE_WITH_PROCESS, **keys)
    run = machine.client.start(tree)
    machine.check("sh", "-c", "read line </run/work-pipe")
    return run


def test_it_is_hardened(machine):
    report = machine.check("systemd-analyze", "security", "--no-pager", "btd.service")
    exposure = re.search(r"Overall exposure level for btd.service: ([0-9.]+)", report)
    assert float(exposure.group(1)) <= 0.7, report


def test_the_units_are_in_order(machine):
    machine.load("any", {"type": "AlwaysSuccess"})
    result = machine.run("systemd-analyze", "verify", "btd.service", "btd-run@any.service")
    about_us = [line for line in result.stderr.splitlines() if "btd" in line]
    assert result.returncode == 0 and not about_us, result.stderr


def test_its_processes_are_not(machine):
    """The service has no capability and no network, and its file system is read-only; what it spawns has all that."""
    machine.load("free", {
        "type": "Spawn", "name": "Free", "stdout": "seen",
        "argv": ["/bin/sh", "-c", "touch /etc/written; readlink /proc/self/ns/net /proc/self/ns/mnt /proc/self/ns/user; "
                                  "grep -E '^(CapEff|NoNewPrivs|Seccomp):' /proc/self/status"]})
    _, path = machine.client.start("free")

    assert machine.client.finish(path)[0] == "success"
    machine.path("/etc/written").unlink()
    seen = machine.client.call(path, "org.btd1.Run", "GetVariables")["seen"]
    own = machine.check("readlink", "/proc/1/ns/net", "/proc/1/ns/mnt", "/proc/1/ns/user") \
        + machine.check("grep", "-E", "^(CapEff|NoNewPrivs|Seccomp):", "/proc/1/status")
    assert seen.strip('"').replace("\\n", "\n").replace("\\t", "\t").strip() == own.strip()


def test_it_tells_systemd_how_it_is(machine):
    assert machine.property("btd.service", "StatusText")
    assert machine.property("btd.service", "ActiveState") == "active"


def test_the_watchdog_is_fed_when_there_is_nothing_to_do(machine):
    restarts = machine.property("btd.service", "NRestarts")
    machine.load("idle", {"type": "Sleep", "duration": "1s"})
    assert machine.btctl("start", "idle", "--wait").returncode == 0
    assert machine.property("btd.service", "NRestarts") == restarts


def test_the_watchdog_restarts_a_daemon_that_hangs(machine):
    restarts = int(machine.property("btd.service", "NRestarts"))
    owner = machine.client.owner()
    machine.check("kill", "-STOP", main_pid(machine))

    machine.client.wait_owner(other_than=owner)

    assert int(machine.property("btd.service", "NRestarts")) == restarts + 1
    assert "watchdog" in machine.journal("-u", "btd.service").lower()


def test_a_daemon_that_was_killed_comes_back(machine):
    """And starts nothing again that has run to its end."""
    owner = machine.client.owner()
    machine.check("kill", "-KILL", main_pid(machine))

    machine.client.wait_owner(other_than=owner)

    assert machine.log().count("started by itself") == 1


def assert_goes_on(machine, run):
    """The very process of the run is still there, and the run knows it."""
    assert machine.read("/run/work").split() == ["begun"]
    [row] = [row for row in machine.client.manager("ListRuns") if row[0] == run]
    assert row[4] == "running"
    machine.check("btctl", "halt", run, "--wait")
    assert machine.read("/run/work").split() == ["begun", "ended"]
    assert machine.run("pgrep", "-f", "/run/work-pipe").returncode == 1


def test_runs_go_on_after_a_restart(machine):
    run = begin_work(machine)[0]
    owner = machine.client.owner()

    machine.check("systemctl", "restart", "btd.service")

    assert machine.client.owner() not in (None, owner)
    assert_goes_on(machine, run)


def test_runs_go_on_after_a_stop_and_a_start(machine):
    """As a package upgrade does it."""
    run = begin_work(machine)[0]

    machine.check("systemctl", "stop", "btd.service")
    machine.check("systemctl", "start", "btd.service")

    assert_goes_on(machine, run)


def test_a_tree_that_says_so_is_halted_by_a_restart(machine):
    begin_work(machine, "shy", on_stop="halt")

    machine.check("systemctl", "restart", "btd.service")

    assert machine.property("btd.service", "Result") == "success"
    assert machine.read("/run/work").split() == ["begun", "ended"]
    assert not machine.client.manager("ListRuns")


def test_systemctl_reload(machine):
    machine.tree("newcomer", {"type": "AlwaysSuccess"})
    machine.check("systemctl", "reload", "btd.service")
    assert machine.btctl("start", "newcomer", "--wait").returncode == 0


def test_a_call_starts_it(machine):
    machine.check("systemctl", "stop", "btd.service")
    machine.check("busctl", "call", "org.btd1", "/org/btd1", "org.btd1.Manager", "ListTrees")
    assert machine.property("btd.service", "ActiveState") == "active"


def test_a_lost_bus_is_found_again(machine):
    """Runs go on meanwhile; the same process is on the new bus."""
    machine.load("long", {"type": "Sleep", "duration": "1h"})
    run = machine.client.start("long")[0]
    pid = main_pid(machine)

    machine.check("systemctl", "restart", "dbus.service")

    machine.reconnect()
    machine.client.wait_owner()
    assert main_pid(machine) == pid
    assert any(row[0] == run and row[4] == "running" for row in machine.client.manager("ListRuns"))
    machine.check("btctl", "halt", run, "--wait")


def test_nonsense_does_not_bring_it_down(machine):
    pid = main_pid(machine)
    for arguments in (("", "", {}), ("x" * 100000, "", {}), ("every-time", "\n", {}),
                      ("every-time", "a", {"k": "no json"}), ("every-time", "b", {"": "1"}), ("../x", "", {})):
        with pytest.raises(DBusError) as error:
            machine.client.manager("StartTree", "ssa{ss}", *arguments)
        assert error.value.name.startswith("org.btd1.Error."), error.value
    assert main_pid(machine) == pid


def test_runs_go_on_when_the_daemon_was_killed(machine):
    run = begin_work(machine)[0]
    owner = machine.client.owner()
    machine.check("kill", "-KILL", main_pid(machine))
    machine.client.wait_owner(other_than=owner)
    machine.client.wait_running()

    assert_goes_on(machine, run)


def test_a_lost_journal_does_not_hinder_the_next(machine):
    """A process of a run of which nothing is known is not taken for one of the run that has its name now."""
    run = begin_work(machine, "lost")[0]
    machine.check("systemctl", "stop", "btd.service")
    machine.check("sh", "-c", "rm -r /run/btd/runs /var/lib/btd/*")
    machine.check("systemctl", "start", "btd.service")

    again = begin_work(machine, "lost")[0]

    assert again == run
    machine.check("btctl", "halt", again, "--wait")
    assert machine.read("/run/work").split() == ["ended", "begun", "ended"]


def test_a_full_disk(machine):
    """Where nothing can be written, a run works all the same or says why it does not."""
    machine.load("full", {"type": "Spawn", "name": "Say", "argv": ["/bin/sh", "-c", "seq 2000"], "stdout": "said"})
    machine.check("mount", "-t", "tmpfs", "-o", "size=4k", "tmpfs", "/run/btd")
    machine.run("dd", "if=/dev/zero", "of=/run/btd/fill", "bs=4k")
    _, path = machine.client.start("full")

    status, cause = machine.client.finish(path)

    machine.check("umount", "/run/btd")
    assert status == "success" or "space" in cause, cause
    assert machine.client.get("/org/btd1", "org.btd1.Manager", "Status") == "running"
