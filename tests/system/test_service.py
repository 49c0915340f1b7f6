# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests btd as a systemd service: its sandbox, start, stop, crash and upgrade."""

import collections
import json
import pathlib
import re

import pytest

import daemon
import state_trees
from client import DBusError, wait
from records import ENGINE

DROP_IN = """
[Service]
RestartSec=50ms

[Unit]
StartLimitBurst=1000
"""
# So that the tests need not wait for half a minute. On a busy machine btd may be too late now and then.
WATCHDOG = """
[Service]
WatchdogSec=1s
TimeoutAbortSec=200ms
"""

TREE_WITH_PROCESS = {
    "type": "Spawn", "name": "Work",
    "argv": ["/bin/sh", "-c", 'trap "echo ended >>/run/work; exit 0" TERM; echo begun >>/run/work; '
                              'echo >/run/work-pipe; while :; do sleep 0.05; done']}


def prepare(machine):
    next_btd = machine.path("/usr/libexec/btd-next")
    next_btd.parent.mkdir(parents=True, exist_ok=True)
    next_btd.write_bytes(pathlib.Path(daemon.BUILD, "tests", "system", "btd-next").read_bytes())
    next_btd.chmod(0o755)
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
    seen = machine.client.variables(path)["seen"]
    own = machine.check("readlink", "/proc/1/ns/net", "/proc/1/ns/mnt", "/proc/1/ns/user") \
        + machine.check("grep", "-E", "^(CapEff|NoNewPrivs|Seccomp):", "/proc/1/status")
    assert seen.strip() == own.strip()


@pytest.mark.parametrize("node", [
    {"type": "DBusCall", "destination": "a.b", "path": "/", "interface": "a.b", "member": "C"},
    {"type": "StartUnit", "unit": "a.service"}, {"type": "UnitState", "unit": "a.service"}])
def test_buses_that_it_cannot_reach(machine, node):
    """A run would wait for ever; a btd without that sandbox may try."""
    user = "the bus of a user accepts only this user; put the tree into ~/.config/btd/trees of the user, for 'btd --user'"
    for bus, reason in ("host:me@pi", "its service may not use the network (RestrictAddressFamilies=); run a Spawn of "
                        "busctl(1) in its place"), \
            ("machine:box", "it may not enter containers, which takes CAP_SYS_ADMIN; run a Spawn of busctl(1) in its "
             "place"), ("session", user), ("unix:path=/run/user/1000/bus", user):
        machine.tree("far", {**node, "bus": bus})
        result = machine.btctl("reload")
        assert f"bus: this btd cannot reach '{bus}': {reason}" in result.stderr, result
        assert machine.run("btctl", "validate", "/etc/btd/trees/far.json").returncode == 0
    machine.load("far", {**node, "bus": "{where}"}, blackboard={"where": "host:me@pi"})
    _, path = machine.client.start("far")
    status, cause = machine.client.finish(path)
    assert status == "failure" and ("this btd cannot reach 'host:me@pi': its service may not use the network "
                                    "(RestrictAddressFamilies=); run a Spawn of busctl(1)") in cause, cause


def test_it_tells_systemd_how_it_is(machine):
    assert machine.property("btd.service", "StatusText")
    assert machine.property("btd.service", "ActiveState") == "active"


@pytest.fixture
def watchdog(machine):
    machine.unit("btd.service.d/watchdog.conf", WATCHDOG)
    machine.check("systemctl", "restart", "btd.service")


def test_the_watchdog_is_fed_when_there_is_nothing_to_do(machine, watchdog):
    """Again and again by the same process; systemd sets this time also when it starts one."""
    fed = collections.defaultdict(set)

    def is_fed():
        pid = main_pid(machine)
        fed[pid].add(machine.property("btd.service", "WatchdogTimestampMonotonic"))
        return len(fed[pid]) > 3 and main_pid(machine) == pid
    wait(is_fed, "the watchdog")


def test_the_watchdog_restarts_a_daemon_that_hangs(machine, watchdog):
    owner = machine.client.owner()
    machine.check("systemctl", "kill", "--kill-whom=main", "--signal=STOP", "btd.service")

    machine.client.wait_owner(other_than=owner)

    assert int(machine.property("btd.service", "NRestarts")) > 0
    assert "Watchdog timeout" in machine.log()


def test_a_daemon_that_was_killed_comes_back(machine):
    """And starts nothing again that has run to its end."""
    owner = machine.client.owner()
    machine.check("kill", "-KILL", main_pid(machine))

    machine.client.wait_owner(other_than=owner)

    assert machine.log().count("started by itself") == 1


def assert_goes_on(machine, run):
    """The very process of the run is still there, and the run knows it."""
    assert machine.read("/run/work").split() == ["begun"]
    [row] = [row for row in machine.client.runs() if row.id == run]
    assert row.status == "running"
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
    """No package should upgrade like that (btd(8)), but these go on even so."""
    run = begin_work(machine)[0]

    machine.check("systemctl", "stop", "btd.service")
    machine.check("systemctl", "start", "btd.service")

    assert_goes_on(machine, run)


def install(machine, binary):
    machine.check("sh", "-ec", "path=$(command -v btd); [ -e /usr/libexec/btd-first ] || cp -p $path /usr/libexec/btd-first; "
                               f"cp -p {binary} $path.new; mv $path.new $path")


def states(machine, runs):
    told = {run: json.loads(machine.btctl("status", run, "--json").stdout) for run in runs}
    return {run: (state["status"], [(node["path"], node["status"]) for node in state["nodes"]])
            for run, state in told.items()}


def start_in_states(machine):
    """Runs that run, wait for locks, for a backoff and for a unit, are paused, stand at a breakpoint and are halting."""
    machine.unit("slow-job.service", "[Service]\nType=oneshot\nExecStart=/bin/sleep 1000")
    machine.check("systemctl", "daemon-reload")
    for name, root in [("states", state_trees.WORK), ("slow", state_trees.SLOW),
                       ("job", {"type": "StartUnit", "unit": "slow-job.service"})]:
        machine.tree(name, root, trees=state_trees.SUBTREES, blackboard=state_trees.BLACKBOARD)
    machine.tree("limited", state_trees.WORK["children"][0])
    work = begin_work(machine)[0]
    run, path = machine.client.start("states")
    machine.client.manager("Subscribe")
    machine.client.subscribe("org.btd1.Run")
    wait(lambda: all(machine.client.nodes(path)[name]["status"] == status for name, status in [
        ("Until", "failure"), ("Rounds", "success"), ("Expired", "failure")]), "the first part")

    def slow(instance, *calls):
        run, path = machine.client.start("slow", instance)
        for member, signature, *values in calls:
            machine.client.call(path, "org.btd1.Run", member, signature, *values)
        return run

    runs = [work, run, machine.client.start("job")[0], slow("paused", ("Pause", "")),
            slow("stands", ("SetBreakpoint", "ub", 5, True), ("Force", "us", 4, "success")), slow("halting")]
    machine.client.halt_run(runs[-1])
    wait(lambda: [state[0] for state in states(machine, runs).values()] == [
        "running", "running", "running", "paused", "paused", "halting"], "their states")
    return runs


def test_an_upgrade(machine):
    """To a btd whose engine does something else: runs in every state go on after a restart. After SIGKILL those go on of
    which nothing that differs was recorded since then; another is set aside."""
    try:
        runs = start_in_states(machine)
        before = states(machine, runs)

        install(machine, "/usr/libexec/btd-next")
        machine.check("systemctl", "restart", "btd.service")
        machine.client.wait_running()
        assert machine.client.get("/org/btd1", "org.btd1.Manager", "Version") == "next"
        assert states(machine, runs) == before

        limited = machine.client.start("limited")[0]
        install(machine, "/usr/libexec/btd-first")
        owner = machine.client.owner()
        machine.check("kill", "-KILL", main_pid(machine))
        machine.client.wait_owner(other_than=owner)
        machine.client.wait_running()
        assert machine.client.get("/org/btd1", "org.btd1.Manager", "Version") != "next"
        assert states(machine, runs) == before
        assert f"{limited}.journal: the run cannot be recovered: line 4: it arms a timer for 7201000000us, but this " \
            f"engine for 7200000000us (recorded with engine {ENGINE + 1}, but this is engine {ENGINE}); it was kept as " \
            f"/var/lib/btd/{limited}.journal.bad. What the run has started is left as it is: check it, then start the " \
            "tree again with 'btctl start limited'" in machine.log()
        assert limited not in [row.id for row in machine.client.runs()]
        machine.check("test", "-e", f"/var/lib/btd/{limited}.journal.bad")
        assert_goes_on(machine, runs[0])
    finally:
        install(machine, "/usr/libexec/btd-first")
        # Some would never end.
        machine.check("sh", "-c", "systemctl stop btd.service; rm -f /run/btd/runs/*; systemctl stop slow-job.service "
                                  "'btd-*.*.service'; systemctl start btd.service")


def test_a_tree_that_says_so_is_halted_by_a_restart(machine):
    begin_work(machine, "shy", on_stop="halt")

    machine.check("systemctl", "restart", "btd.service")

    assert machine.property("btd.service", "Result") == "success"
    assert machine.read("/run/work").split() == ["begun", "ended"]
    assert not machine.client.runs()


def test_children_are_not_ended_by_systemd(machine):
    """Each gets the signal that its tree says, and one that is left to the next btd is what on_recover says."""
    machine.tree("told", {"type": "Spawn", "as": "child", "kill_signal": "SIGINT", "argv": ["/bin/sh", "-c", (
        "trap 'echo TERM >>/run/btd/told' TERM; trap 'echo INT >>/run/btd/told; exit' INT; "
        "echo begun >/run/btd/told; while :; do sleep 0.02; done")]}, on_stop="halt")
    machine.tree("left", {"type": "Spawn", "as": "child", "on_recover": "rerun", "argv": ["/bin/sh", "-c", (
        "[ -e /run/btd/left ] && exit 0; echo >/run/btd/left; exec sleep 1000")]})
    machine.check("btctl", "reload")
    machine.client.start("told")
    _, left = machine.client.start("left")
    machine.check("sh", "-c", "until [ -e /run/btd/told ] && [ -e /run/btd/left ]; do sleep 0.01; done")
    machine.check("systemctl", "restart", "btd.service")
    assert machine.read("/run/btd/told") == "begun\nINT\n"
    assert machine.client.finish(left) == ("success", "")


def test_systemctl_reload(machine):
    machine.tree("newcomer", {"type": "AlwaysSuccess"})
    machine.check("systemctl", "reload", "btd.service")
    assert machine.btctl("start", "newcomer", "--wait").returncode == 0


def test_btctl_waits_for_a_btd_that_systemd_restarts(machine):
    """As for an activated service, during an upgrade; a btd that was stopped is not waited for."""
    machine.load("good", {"type": "AlwaysSuccess"})
    machine.unit("btd.service.d/slow.conf",
                 "[Service]\nExecStartPre=sh -c 'touch /run/begun; until [ -e /run/go ]; do sleep 0.02; done'\n")
    machine.daemon_reload()
    try:
        machine.check("systemctl", "restart", "--no-block", "btd.service")
        told = machine.check("sh", "-c", """
            until [ -e /run/begun ]; do sleep 0.02; done
            btctl start good --wait --ascii >/run/told 2>&1 & start=$!
            until grep -q waiting /run/told; do sleep 0.02; done
            touch /run/go; wait $start; status=$?; cat /run/told; exit $status""")
        assert re.fullmatch(r"btctl: btd is not running yet; waiting until systemd has started it\n"
                            r".*good\.[0-9]+: success after .*\n", told), told
        machine.check("systemctl", "stop", "btd.service")
        refused = machine.btctl("start", "good")
        assert (refused.returncode, refused.stderr) \
            == (5, "btctl: btd is not running; start it with 'systemctl start btd'\n")
    finally:
        machine.check("sh", "-c", "touch /run/go; rm /etc/systemd/system/btd.service.d/slow.conf; "
                                  "systemctl daemon-reload; systemctl start btd.service")


@pytest.mark.both_buses("the bus has the service started")
def test_a_call_starts_it(machine):
    """Only if an administrator has enabled it: otherwise any user could start the trees that start by themselves."""
    call = ["busctl", "call", "org.btd1", "/org/btd1", "org.btd1.Manager", "ListTrees"]
    alias = "/etc/systemd/system/dbus-org.btd1.service"  # systemctl enable has made it
    machine.check("mv", alias, alias + ".away")
    machine.daemon_reload()
    machine.check("systemctl", "stop", "btd.service")
    assert machine.run(*call).returncode != 0
    assert machine.property("btd.service", "ActiveState") == "inactive"
    machine.check("mv", alias + ".away", alias)
    machine.daemon_reload()
    machine.check(*call)
    assert machine.property("btd.service", "ActiveState") == "active"


@pytest.mark.both_buses("the bus is lost")
def test_a_lost_bus_is_found_again(machine):
    """Runs go on meanwhile; the same process is on the new bus."""
    machine.load("long", {"type": "Sleep", "duration": "1h"})
    run = machine.client.start("long")[0]
    pid = main_pid(machine)

    machine.check("systemctl", "restart", "dbus.service")

    machine.reconnect()
    machine.client.wait_owner()
    assert main_pid(machine) == pid
    assert any(row.id == run and row.status == "running" for row in machine.client.runs())
    machine.check("btctl", "halt", run, "--wait")


def test_nonsense_does_not_bring_it_down(machine):
    pid = main_pid(machine)
    for tree, instance, variables in (
            ("", "", {}), ("x" * 100000, "", {}), ("every-time", "\n", {}), ("every-time", "a", {"k": float("nan")}),
            ("every-time", "b", {"": "1"}), ("../x", "", {})):
        with pytest.raises(DBusError) as error:
            machine.client.start(tree, instance, variables)
        assert error.value.name.startswith("org.btd1.Error."), error.value
    assert main_pid(machine) == pid


def test_runs_go_on_when_the_daemon_was_killed(machine):
    run = begin_work(machine)[0]
    owner = machine.client.owner()
    machine.check("kill", "-KILL", main_pid(machine))
    machine.client.wait_owner(other_than=owner)
    machine.client.wait_running()

    assert_goes_on(machine, run)


def test_a_unit_is_recovered_as_it_was_started(machine):
    """It is the first that the run waits for, though its variable names the second by now."""
    machine.unit("as-a.service", "[Service]\nType=oneshot\nExecStart=/bin/sh -c 'read x </run/as-pipe; exit 7'\n")
    machine.unit("as-b.service", "[Service]\nType=oneshot\nExecStart=/bin/touch /run/as-b\n")
    machine.check("mkfifo", "/run/as-pipe")
    machine.load("as", {"type": "Parallel", "name": "All", "children": [
        {"type": "StartUnit", "name": "Start", "unit": "{u}"},
        {"type": "Script", "name": "Change", "code": "u = 'as-b.service'"}]}, blackboard={"u": "as-a.service"})
    _, path = machine.client.start("as")
    wait(lambda: machine.property("as-a.service", "ActiveState") == "activating", "the unit to start")
    owner = machine.client.owner()
    machine.check("kill", "-KILL", main_pid(machine))
    machine.client.wait_owner(other_than=owner)
    machine.client.wait_running()

    nodes = machine.client.nodes(path)
    assert (nodes["Start"]["status"], nodes["Change"]["status"]) == ("running", "success")
    machine.check("sh", "-c", "echo >/run/as-pipe")
    status, cause = machine.client.finish(path)
    assert status == "failure" and cause.startswith("All/Start: as-a.service"), (status, cause)
    assert machine.run("test", "-e", "/run/as-b").returncode == 1


def test_a_process_whose_secret_is_gone_is_stopped(machine):
    drop_in = "/etc/systemd/system/btd.service.d/secret.conf"
    machine.write(drop_in, "[Service]\nSetCredential=token:hush\n")
    machine.check("systemctl", "daemon-reload")
    machine.check("systemctl", "restart", "btd.service")
    machine.load("secretive", {"type": "Spawn", "name": "Work", "stdin": "{secret:token}", "argv": [
        "/bin/sh", "-c", "test $(cat) = hush && mkfifo /run/secretive && exec cat /run/secretive"]})
    _, path = machine.client.start("secretive")
    wait(lambda: machine.run("pgrep", "-fx", "cat /run/secretive").returncode == 0, "the process")
    machine.path(drop_in).unlink()
    machine.check("systemctl", "daemon-reload")
    owner = machine.client.owner()
    machine.check("kill", "-KILL", main_pid(machine))
    machine.client.wait_owner(other_than=owner)
    machine.client.wait_running()

    assert machine.client.finish(path) == (
        "failure", "Work: stdin: there is no credential 'token'; give btd one with LoadCredential= or SetCredential=, "
        "see systemd.exec(5)")
    assert machine.run("pgrep", "-f", "/run/secretive").returncode == 1


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


def test_a_disk_that_fills_up(machine):
    """The process cannot write what it has to say. When it minds, its cause says why; when it does not, the log does."""
    for name, end in ("minds", ""), ("copes", " || true"):
        machine.load(name, {"type": "Spawn", "name": "Say", "stdout": "said", "argv": [
            "/bin/sh", "-c", "read line </run/say-pipe && seq 20000" + end]}, blackboard={"said": ""})
    machine.check("mkfifo", "/run/say-pipe")
    machine.check("mkdir", "-p", "/run/btd/outputs")
    machine.check("mount", "-t", "tmpfs", "-o", "size=2m,mode=755", "tmpfs", "/run/btd/outputs")
    full = "the file system of /run/btd/outputs was full, so it may not have been able to write its stdout"
    results = {}
    try:
        for name in ("minds", "copes"):
            _, path = machine.client.start(name)
            machine.check("sh", "-c", "until [ -e /run/btd/outputs/%s.* ]; do sleep 0.01; done" % name)
            machine.run("dd", "if=/dev/zero", "of=/run/btd/outputs/fill", "bs=4k")
            machine.check("sh", "-c", "echo >/run/say-pipe")
            results[name] = machine.client.finish(path)
            machine.check("rm", "/run/btd/outputs/fill")
    finally:
        machine.check("umount", "-l", "/run/btd/outputs")
    status, cause = results["minds"]
    assert status == "failure" and cause.startswith("Say: exited with status ") and cause.endswith("; " + full), cause
    assert results["copes"][0] == "success", results
    assert f"/Say: succeeded, but {full}" in machine.log()


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


def test_a_journal_that_does_not_read(machine):
    """It holds up nothing, neither runs nor the end; and when it reads again, it has what was kept, and how much was
    not."""
    machine.load("talk", {"type": "Repeat", "num_cycles": 10000, "child": {"type": "Log", "message": "x" * 100}})
    journald, pid = machine.property("systemd-journald.service", "MainPID"), main_pid(machine)
    machine.check("kill", "-STOP", journald)
    try:
        assert machine.client.finish(machine.client.start("talk")[1]) == ("success", "")
        assert main_pid(machine) == pid
        machine.check("kill", "-CONT", journald)
        lost = "log messages lost here, because they could not be written in time: "
        machine.check("sh", "-c",
                      f"until journalctl -u btd.service -o cat | grep -q '{lost}'; do sleep 0.1; done")
        kept = machine.log().count("x" * 100)
        assert 500 < kept < 10000
        assert sum(map(int, re.findall(f"^{lost}(\\d+)$", machine.log(), re.M))) >= 10000 - kept
        machine.check("kill", "-STOP", journald)
        machine.client.finish(machine.client.start("talk")[1])
        machine.check("systemctl", "restart", "btd.service")
    finally:
        machine.run("kill", "-CONT", journald)


def test_changed_trees_are_noticed(machine):
    """In the sandbox of the service, and in a directory that appears only now."""
    machine.load("edited", {"type": "AlwaysSuccess"})
    assert machine.btctl("status", "edited").stderr == ""
    machine.tree("edited", {"type": "AlwaysFailure"})
    warning = "btctl: tree 'edited' has changed on disk; 'btctl reload' loads it\n"
    assert machine.btctl("status", "edited", user="nobody").stderr == warning
    assert machine.btctl("start", "edited").stderr == warning
    machine.check("btctl", "reload")
    assert machine.btctl("status").stderr == ""
    machine.write("/run/btd/trees/new.json", '{ "btd": 1, "root": { "type": "AlwaysSuccess" } }')
    assert machine.btctl("list").stderr == "btctl: tree files have changed on disk; 'btctl reload' loads them\n"
    machine.check("rm", "-r", "/run/btd/trees")
    machine.check("btctl", "reload")
    assert machine.btctl("list").stderr == ""
