# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests trees of real units and processes, with a real systemd."""

import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess

import pytest

from client import DBusError, PATIENCE, wait

MANAGER = "org.btd1.Manager"


def oneshot(script, more=""):
    return f"[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/bin/sh -c '{script}'\n{more}"


def start_unit(unit, **keys):
    return {"type": "StartUnit", "name": unit.removesuffix(".service"), "unit": unit, **keys}


def shell(name, script, **keys):
    return {"type": "Spawn", "name": name, "argv": ["/bin/sh", "-c", script], **keys}


def finish(machine, tree):
    """Starts the tree and waits: (status, cause, nodes by name)."""
    _, path = machine.client.start(tree)
    status, cause = machine.client.finish(path)
    return status, cause, machine.client.nodes(path)


def wait_gone(machine, marker):
    """A process that has been killed with its group dies soon, though not always before the group's first is seen to
    have ended."""
    machine.run("pidwait", "-f", marker)


def test_units_start_in_order_and_in_parallel(machine):
    """Left and right meet at a pipe: neither ends unless both run at once."""
    machine.unit("order-first.service", oneshot("mkfifo /run/meeting && echo first >>/run/order"))
    machine.unit("order-left.service", oneshot("echo >/run/meeting && echo side >>/run/order"))
    machine.unit("order-right.service", oneshot("read line </run/meeting && echo side >>/run/order"))
    machine.unit("order-last.service", oneshot("echo last >>/run/order"))
    machine.load("order", {"type": "Sequence", "children": [
        start_unit("order-first.service"),
        {"type": "Parallel", "children": [start_unit("order-left.service"), start_unit("order-right.service")]},
        start_unit("order-last.service")]})

    result = machine.btctl("start", "order", "--wait")

    assert result.returncode == 0, result.stderr
    assert machine.read("/run/order").split() == ["first", "side", "side", "last"]


def test_what_fails_is_recovered_by_the_fallback_and_status_says_why(machine):
    machine.unit("broken.service", oneshot("exit 7"))
    machine.unit("spare.service", oneshot("true"))
    machine.load("recover", {"type": "Fallback", "name": "Camera", "children": [
        start_unit("broken.service"), start_unit("spare.service")]})

    result = machine.btctl("start", "recover", "--wait")

    assert result.returncode == 0, result.stderr
    assert machine.property("broken.service", "ActiveState") == "failed"
    assert machine.property("spare.service", "ActiveState") == "active"
    status = machine.btctl("status", "recover").stdout
    line = next(line for line in status.splitlines() if "broken" in line)
    assert "exit" in line and "7" in line, status


def chain_of(machine, path):
    return [{"facts": {}, **level} for level in machine.client.run_property(path, "CauseChain")]


def test_a_unit_that_fails_has_its_facts_and_its_last_words(machine):
    machine.unit("talks.service", oneshot("echo cannot open the camera; exit 9"))
    machine.load("talks", {"type": "Sequence", "name": "Boot", "children": [start_unit("talks.service")]})
    _, path = machine.client.start("talks")
    machine.client.finish(path)

    leaf = chain_of(machine, path)[-1]
    assert leaf["kind"] == "unit-result"
    assert {key: leaf["facts"][key] for key in ("unit", "result", "job_result", "status")} == \
        {"unit": "talks.service", "result": "exit-code", "job_result": "failed", "status": 9}
    assert re.fullmatch("[0-9a-f]{32}", leaf["facts"]["invocation_id"])
    machine.check("journalctl", "--sync")
    text = machine.check("btctl", "status", "talks")
    assert "  Journal: journalctl -u talks.service\n" in text
    assert re.search(r"^ {11}\d\d:\d\d:\d\d sh\[\d+\]: cannot open the camera$", text, re.M), text
    assert re.search(r"systemd\[1\]: talks.service: Main process exited", text), text
    run = json.loads(machine.check("btctl", "status", "talks", "--json"))
    assert "cannot open the camera" in [line["message"] for line in run["journal"]]
    assert run["cause_chain"][-1]["facts"] == leaf["facts"]


def test_a_start_limit_is_the_cause(machine):
    """systemd does not change the result of a unit that has failed before."""
    first = "failure", "limited: limited.service failed: its main process exited with status 9"
    machine.unit("limited.service", "[Unit]\nStartLimitBurst=1\nStartLimitIntervalSec=1h\n" + oneshot("exit 9"))
    machine.load("limited", start_unit("limited.service"))
    assert finish(machine, "limited")[:2] == first
    for _ in range(2):
        _, path = machine.client.start("limited")
        assert machine.client.finish(path) == (
            "failure", "limited: limited.service failed: it was started too often in a short time (result "
            "'start-limit-hit'); to start it at once, call 'systemctl reset-failed limited.service' first")
        assert chain_of(machine, path)[-1]["facts"]["result"] == "start-limit-hit"
    machine.check("systemctl", "reset-failed", "limited.service")
    assert finish(machine, "limited")[:2] == first


def test_a_process_that_fails_as_a_unit_has_its_last_words(machine):
    machine.load("says", shell("Says", "echo no such pin; kill -SEGV $$", **{"as": "unit"}))
    _, path = machine.client.start("says")
    machine.client.finish(path)

    leaf = chain_of(machine, path)[-1]
    assert (leaf["kind"], leaf["facts"]["signal"]) == ("signal", "SIGSEGV")
    machine.check("journalctl", "--sync")
    assert "]: no such pin\n" in machine.check("btctl", "status", "says")


def test_systemd_expands_nothing_in_arguments(machine):
    words = ["$HOME", "${HOME}x", "$$", "a $USER b", "$", "%h", "%%", "\\x41", "'", '"', "", "two words", ";"]
    argv = ["/usr/bin/printf", "%s|", *(word.replace("{", "{{") for word in words)]
    machine.load("words", {"type": "Spawn", "argv": argv, "as": "unit", "stdout": "said"}, blackboard={"said": ""})
    _, path = machine.client.start("words")
    assert machine.client.finish(path)[0] == "success"
    assert machine.client.variable(path, "said") == "|".join(words) + "|"


def test_the_log_has_causes_as_fields(machine):
    machine.load("field", shell("Field", "exit 42"))
    _, path = machine.client.start("field")
    machine.client.finish(path)
    machine.check("journalctl", "--sync")
    lines = [json.loads(line) for line in
             machine.check("journalctl", "-o", "json", "BTD_TREE=field", "BTD_CAUSE_KIND=exit-status").splitlines()]
    assert [json.loads(line["BTD_CAUSE_FACTS"])["status"] for line in lines] == [42, 42]  # of the node and of the run


def test_a_retry_chooses_by_the_result_of_a_unit(machine):
    machine.unit("temporary.service", oneshot("exit 75"))
    machine.unit("for-good.service", oneshot("exit 1"))
    for name in ("temporary", "for-good"):
        machine.load("choose-" + name, {"type": "RetryUntilSuccessful", "name": "Retry", "num_attempts": 2,
                                        "retry_on": "exit-status:75", "child": start_unit(name + ".service")})
    assert finish(machine, "choose-temporary")[1].startswith("Retry: failed 2 times; last: ")
    assert finish(machine, "choose-for-good")[1].startswith("Retry/for-good: ")


def service(command, service="", unit=""):
    return f"[Unit]\nStartLimitIntervalSec=0\n{unit}[Service]\nExecStart={command}\n{service}"


SLEEP = "/bin/sleep 1000"
READY = '/bin/sh -c "systemd-notify --ready; '


BEHIND = [
    ("unmet", service("/bin/true", "Type=oneshot\n", "ConditionPathExists=/nowhere\n"),
     "was not started: its ConditionPathExists=/nowhere was not met"),
    ("no-binary", service("/nowhere/binary"),
     "failed: its program could not be executed (status 203/EXEC): No such file or directory"),
    ("killed", oneshot("kill -KILL $$$$"), "failed: its main process was killed by SIGKILL (result 'signal')"),
    ("slow", oneshot("sleep 1000", "TimeoutStartSec=200ms\n"),
     "failed: its main process took longer than TimeoutStartSec= allows (result 'timeout')"),
    ("nowhere", None, "Unit behind-nowhere.service not found"),
    ("forks", service('/bin/sh -c "sleep 1000 & exit 0"', "KillMode=none\n"),
     "was started, but now it is inactive (dead): its main process exited with status 0"),
    ("ends", service("/bin/sleep 0.02", "Type=exec\n"),
     "was started, but now it is inactive (dead): its main process exited with status 0"),
    ("unneeded", service(SLEEP, unit="StopWhenUnneeded=yes\n"), ": its StopWhenUnneeded= setting stops it"),
    ("unneeded-oneshot", "[Unit]\nStopWhenUnneeded=yes\n" + oneshot("true"),
     "was started, but now it is inactive (dead): its StopWhenUnneeded= setting stops it"),
    ("was-ready", service(READY + 'exit 3"', "Type=notify\nNotifyAccess=all\n"),
     "failed: its main process exited with status 3"),
    ("again", service("/bin/false", "Restart=always\nRestartSec=1h\n"),
     "failed: its main process exited with status 1; its Restart= setting starts it again"),
    ("quick", service("/bin/sleep 0.02", "Restart=always\nRestartSec=1ms\n"), "; its Restart= setting starts it again"),
]


@pytest.mark.parametrize("name, text, told", BEHIND, ids=[row[0] for row in BEHIND])
def test_a_job_that_is_done_is_looked_behind(machine, name, text, told):
    """systemd says "done" as soon as a process was forked, or has said that it is ready, and for unmet conditions."""
    if text:
        machine.unit(f"behind-{name}.service", text)
    machine.load("behind-" + name, start_unit(f"behind-{name}.service"))

    # A busy machine can let a process that ends at once live for as long as a service has to.
    for _ in range(20):
        status, cause, _ = finish(machine, "behind-" + name)
        machine.run("systemctl", "stop", f"behind-{name}.service")
        if status == "failure":
            break

    assert status == "failure"
    assert cause.endswith(told), cause


UP = [
    ("oneshot", service("/bin/true", "Type=oneshot\n")),
    ("remains", oneshot("true")),
    ("notify", service(READY + 'exec sleep 1000"', "Type=notify\nNotifyAccess=all\n")),
    ("forking", service('/bin/sh -c "sleep 1000 & exit 0"', "Type=forking\n")),
    ("instance@", service(SLEEP)),
]


@pytest.mark.parametrize("name, text", UP, ids=[row[0] for row in UP])
def test_a_unit_that_is_up_is_started(machine, name, text):
    """Whatever its type; only a oneshot may have ended."""
    machine.unit(f"up-{name}.service", text)
    unit = f"up-{name}.service".replace("@", "@one")
    machine.load("up", start_unit(unit))
    for _ in range(2):
        assert finish(machine, "up")[:2] == ("success", "")
        assert machine.property(unit, "ActiveState") == ("inactive" if name == "oneshot" else "active")


@pytest.mark.parametrize("starter, text", [
    ("again.path", "[Path]\nPathExists=/etc/passwd\nTriggerLimitIntervalSec=0\n"),
    ("again.target", "[Unit]\nUpholds=again.service\n"),
], ids=["path", "upholds"])
def test_a_stopped_unit_that_is_up_again_is_not_stopped(machine, starter, text):
    machine.unit("again.service", service(SLEEP))
    machine.unit(starter, text)
    machine.check("systemctl", "start", "again.service", starter)
    machine.load("stop", {"type": "StopUnit", "name": "Stop", "unit": "again.service"})
    _, path = machine.client.start("stop")
    assert machine.client.finish(path) == (
        "failure", f"Stop: again.service was stopped, but now it is active (running): {starter} can start it again")
    assert chain_of(machine, path)[-1]["facts"]["starters"] == [starter]
    machine.check("systemctl", "stop", starter, "again.service")


def test_a_stopped_unit_that_its_end_starts_again_is_not_stopped(machine):
    """Through another unit, which is still starting when the first one is down."""
    machine.unit("phoenix.service", service(SLEEP, unit="OnSuccess=ashes.service\n"))
    machine.unit("ashes.service", "[Service]\nType=oneshot\nExecStart=/bin/sh -c 'sleep 0.2; systemctl start phoenix'\n")
    machine.check("systemctl", "start", "phoenix.service")
    machine.load("phoenix", {"type": "StopUnit", "name": "Stop", "unit": "phoenix.service"})
    status, cause, _ = finish(machine, "phoenix")
    assert status == "failure"
    assert cause.endswith(": its OnSuccess= setting starts ashes.service"), cause


def test_a_stopped_unit_whose_processes_are_left_says_so(machine):
    machine.unit("leaves.service", service('/bin/sh -c "setsid sleep 1000 & exec sleep 1000"', "KillMode=process\n"))
    machine.check("systemctl", "start", "leaves.service")
    machine.load("leaves", {"type": "StopUnit", "name": "Stop", "unit": "leaves.service"})
    status, _, nodes = finish(machine, "leaves")
    assert (status, nodes["Stop"]["detail"]) == (
        "success", "leaves.service is stopped, but processes of it still run, see KillMode= in systemd.kill(5)")
    machine.check("pkill", "--cgroup", "/system.slice/leaves.service")


def test_a_unit_that_can_start_a_stopped_one_is_named(machine):
    """As systemctl does. It is a note of the success, also in the history."""
    machine.unit("noted.service", service(SLEEP))
    machine.unit("noted.socket", "[Socket]\nListenStream=/run/noted\n")
    machine.check("systemctl", "start", "noted.socket", "noted.service")
    machine.load("noted", {"type": "StopUnit", "name": "Stop", "unit": "noted.service"})
    note = "noted.service is stopped, but noted.socket can start it again"
    status, cause, nodes = finish(machine, "noted")
    assert (status, cause, nodes["Stop"]["status"], nodes["Stop"]["detail"]) == ("success", "", "success", note)
    assert note in machine.check("btctl", "show", "noted")
    assert note in machine.log()
    machine.check("systemctl", "stop", "noted.socket")
    assert finish(machine, "noted")[2]["Stop"]["detail"] == ""


# Fails until it was started so many times.
FLAKY = '/bin/sh -c "echo x >>/run/%n.starts; [ $$(wc -l </run/%n.starts) -ge {} ] || exit 3; {}"'


def waiting_start(unit):
    return start_unit(unit, wait_for_restarts=True)


# None of Type=simple, which is up before it fails.
FLAKY_UNITS = [
    ("flaky-notify", service(FLAKY.format(3, "systemd-notify --ready; exec sleep 1000"), "Type=notify\nNotifyAccess=all\n"
                             "Restart=always\nRestartSec=20ms\n"), "active"),
    ("flaky-oneshot", service(FLAKY.format(3, "true"), "Type=oneshot\nRestart=on-failure\nRestartSec=20ms\n"),
     "inactive"),
]


@pytest.mark.parametrize("name, text, state", FLAKY_UNITS, ids=[row[0] for row in FLAKY_UNITS])
def test_a_start_waits_while_systemd_restarts_the_unit(machine, name, text, state):
    """Also by the name of an alias, whose object sends no signals."""
    machine.unit(name + ".service", text + f"[Install]\nAlias=other-{name}.service\n")
    machine.check("systemctl", "enable", name + ".service")
    machine.load(name, waiting_start(f"other-{name}.service"))
    status, cause, nodes = finish(machine, name)
    assert (status, cause) == ("success", "")
    assert nodes["other-" + name]["detail"] == f"other-{name}.service was started; systemd has restarted it 2 times"
    assert machine.property(name + ".service", "ActiveState") == state


def test_a_start_fails_when_systemd_gives_up(machine):
    machine.unit("hopeless.service", "[Unit]\nStartLimitBurst=3\nStartLimitIntervalSec=1h\n"
                                     "[Service]\nType=oneshot\nExecStart=/bin/false\nRestart=on-failure\nRestartSec=20ms\n")
    machine.load("hopeless", waiting_start("hopeless.service"))
    status, cause, _ = finish(machine, "hopeless")
    assert status == "failure"
    assert re.fullmatch("hopeless: hopeless.service failed: its main process exited with status 1; "
                        "systemd has restarted it [23] times", cause), cause


def test_the_next_daemon_waits_for_restarts(machine):
    """The unit is down when btd is killed, and up when the next one is there, or not yet."""
    machine.check("mkfifo", "/run/late-restart")
    machine.unit("later.service", service(FLAKY.format(2, "read line </run/late-restart; systemd-notify --ready; "
                                                       "exec sleep 1000"),
                                          "Type=notify\nNotifyAccess=all\nRestart=always\nRestartSec=20ms\n"))
    machine.load("later", waiting_start("later.service"))
    run, path = machine.client.start("later")
    wait(lambda: "restarted it 1 time" in machine.check("btctl", "status", run), "the restart")
    before = machine.property("btd.service", "MainPID")
    machine.check("systemctl", "kill", "--signal=KILL", "btd.service")
    wait(lambda: machine.property("btd.service", "MainPID") not in (before, "0"), "the next btd")
    wait(lambda: "later.service" in machine.run("btctl", "status", run).stdout, "the run")
    machine.check("sh", "-c", "echo >/run/late-restart")
    assert machine.client.finish(path)[0] == "success"


@pytest.mark.parametrize("settings, told", [
    ("", "was reloaded, but now it is inactive (dead)"),
    ("Restart=always\nRestartSec=1ms\n", "; its Restart= setting starts it again"),
], ids=["ended", "restarted"])
def test_a_reload_that_ends_the_service_has_failed(machine, settings, told):
    machine.unit("reloaded.service", service(SLEEP, f"ExecReload=/bin/kill -HUP $MAINPID\n{settings}"))
    machine.check("systemctl", "start", "reloaded.service")
    machine.load("reloaded", {"type": "ReloadUnit", "unit": "reloaded.service"})
    status, cause, _ = finish(machine, "reloaded")
    assert status == "failure"
    assert cause.endswith(told), cause


def test_a_service_in_a_frozen_slice(machine):
    """systemd says that the service is "running", and not "frozen", if it was started later than its slice was frozen."""
    for name, kind in {"cold-forked": "simple", "cold-executed": "exec"}.items():
        machine.unit(f"{name}.service", service(SLEEP, f"Slice=cold.slice\nType={kind}\n"))
        machine.load(name, {"type": "StartUnit", "unit": f"{name}.service"})
    machine.check("systemctl", "start", "cold.slice")
    machine.check("systemctl", "freeze", "cold.slice")
    status, cause, _ = finish(machine, "cold-forked")
    assert (status, cause) == ("failure", "StartUnit: cold-forked.service is up, but cold.slice is frozen; thaw that "
                                          "first, see 'systemctl thaw'")
    run, path = machine.client.start("cold-executed")
    wait(lambda: "waits for cold.slice to be thawed" in machine.check("btctl", "status", run), "the slice to be named")
    machine.check("systemctl", "thaw", "cold.slice")
    assert machine.client.finish(path) == ("success", "")


def test_a_unit_that_starts_is_reloaded_when_it_is_up(machine):
    """systemd makes such a reload a part of the start."""
    machine.check("mkfifo", "/run/early")
    machine.unit("early.service", service('/bin/sh -c "read line </run/early; systemd-notify --ready; exec sleep 1000"',
                                          "Type=notify\nNotifyAccess=all\nExecReload=/bin/touch /run/early-reloaded\n"))
    machine.check("systemctl", "start", "--no-block", "early.service")
    machine.load("early", {"type": "ReloadUnit", "unit": "early.service"})
    run, path = machine.client.start("early")
    wait(lambda: "job for early.service" in machine.check("btctl", "status", run), "the job")
    machine.check("sh", "-c", "echo >/run/early")
    assert machine.client.finish(path) == ("success", "")
    assert machine.path("/run/early-reloaded").exists()


def test_a_frozen_service_is_not_up(machine):
    machine.unit("frozen.service", service(SLEEP))
    machine.check("systemctl", "start", "frozen.service")
    machine.load("frozen", start_unit("frozen.service"))
    assert finish(machine, "frozen")[0] == "success"
    machine.check("systemctl", "freeze", "frozen.service")
    assert finish(machine, "frozen")[:2] == (
        "failure", "frozen: frozen.service is up, but frozen; thaw it first, see 'systemctl thaw'")
    machine.check("systemctl", "thaw", "frozen.service")
    assert finish(machine, "frozen")[0] == "success"


def test_the_unit_that_failed_is_named(machine):
    """However far away it is."""
    def unit(name, requires, command="/bin/true"):
        machine.unit(name, f"[Unit]\nRequires={requires}\nAfter={requires}\n"
                           f"[Service]\nType=oneshot\nExecStart={command}\n")
    unit("harmless.service", "sysinit.target")
    unit("link.service", "sysinit.target", "/bin/false")
    unit("net.service", "harmless.service link.service")
    unit("web.service", "harmless.service net.service")
    for name in ("net", "web"):
        machine.load("requires-" + name, start_unit(name + ".service"))
        assert finish(machine, "requires-" + name)[:2] == (
            "failure", f"{name}: {name}.service was not started: link.service, which it requires, failed: "
                       "its main process exited with status 1 (result 'dependency')")
        assert "  Journal: journalctl -u link.service\n" in machine.check("btctl", "status", "requires-" + name)


def test_units_are_stopped_restarted_and_reloaded(machine):
    machine.unit("life.service", "[Service]\nExecStart=/bin/sleep infinity\nExecReload=/bin/touch /run/life-reloaded\n")
    machine.load("life", {"type": "Sequence", "children": [
        start_unit("life.service"),
        {"type": "UnitState", "unit": "life.service", "state": "active"},
        {"type": "ReloadUnit", "unit": "life.service"},
        {"type": "RestartUnit", "unit": "life.service"},
        {"type": "StopUnit", "unit": "life.service"},
        {"type": "UnitState", "unit": "life.service", "state": "inactive"}]})

    status, cause, _ = finish(machine, "life")

    assert status == "success", cause
    assert machine.path("/run/life-reloaded").exists()


@pytest.mark.parametrize("kind", ["unit", "child"])
def test_a_timeout_leaves_nothing_alive(machine, kind):
    """A process that ignores SIGTERM, with a child that does, too."""
    marker = "sleep 98765" if kind == "unit" else "sleep 98766"
    machine.load("stubborn-" + kind, shell(
        "Stubborn", f'trap "" TERM; {marker} & {marker} & wait; wait', **{"as": kind},
        timeout="200ms", kill_timeout="200ms"))

    status, cause, _ = finish(machine, "stubborn-" + kind)

    assert status == "failure"
    assert "200ms" in cause, cause
    wait_gone(machine, marker)


@pytest.mark.parametrize("kind", ["unit", "child"])
def test_halting_in_the_middle(machine, kind):
    tree = "middle-" + kind
    machine.check("mkfifo", f"/run/{tree}")
    machine.unit(f"{tree}-before.service", oneshot("true"))
    machine.unit(f"{tree}-after.service", oneshot("true"))
    machine.load(tree, {"type": "Sequence", "children": [
        start_unit(f"{tree}-before.service"),
        shell("Work", f'trap "echo told >/run/{tree}-end; exit 0" TERM; echo >/run/{tree}; while :; do sleep 0.05; done',
              **{"as": kind}),
        start_unit(f"{tree}-after.service")]})
    _, path = machine.client.start(tree)
    machine.check("sh", "-c", f"read line </run/{tree}")  # it works now

    result = machine.btctl("halt", tree, "--wait")

    assert result.returncode == 0, result.stderr
    status, _ = machine.client.finish(path)
    assert status == "halted"
    assert machine.read(f"/run/{tree}-end") == "told\n"
    assert machine.property(f"{tree}-before.service", "ActiveState") == "active"
    assert machine.property(f"{tree}-after.service", "ActiveState") == "inactive"
    wait_gone(machine, f"/run/{tree}-end")


def queue_a_job(machine):
    """The unit waits for one that starts up when somebody writes to /run/never. Returns the run."""
    machine.check("mkfifo", "/run/never")
    machine.unit("never.service", oneshot("echo >/run/never-begun; read line </run/never"))
    machine.unit("queued.service", "[Unit]\nRequires=never.service\nAfter=never.service\n" + oneshot("true"))
    machine.load("queued", start_unit("queued.service"))
    _, path = machine.client.start("queued")
    wait_for_job = "until systemctl list-jobs | grep -q queued.service; do :; done"
    machine.check("sh", "-c", wait_for_job)
    return path


def test_a_queued_job_is_cancelled_by_a_halt(machine):
    path = queue_a_job(machine)

    machine.client.halt(path)

    assert machine.client.finish(path)[0] == "halted"
    assert "queued.service" not in machine.check("systemctl", "list-jobs")


@pytest.mark.parametrize("other", ["queued.service", "pulls.target"])
def test_a_queued_job_that_others_have_joined_stays(machine, other):
    """systemd merges what an administrator requests later into the job, also what another unit pulls in."""
    machine.unit("pulls.target", "[Unit]\nWants=queued.service\n")
    path = queue_a_job(machine)
    machine.check("systemctl", "start", "--no-block", other)

    machine.client.halt(path)

    assert machine.client.finish(path)[0] == "halted"
    assert "queued.service" in machine.check("systemctl", "list-jobs")
    machine.check("sh", "-c", "echo >/run/never; systemctl start queued.service")


def test_a_restart_that_has_begun_is_completed(machine):
    """A halt leaves no service stopped that should only be restarted."""
    machine.check("mkfifo", "/run/slow-stop")
    machine.unit("restarted.service", service(
        SLEEP, "ExecStop=/bin/sh -c '[ ! -e /run/slow-stop ] || read line </run/slow-stop; rm -f /run/slow-stop'\n"
        "TimeoutStopSec=infinity\n"))
    machine.check("systemctl", "start", "restarted.service")
    machine.load("restarted", {"type": "RestartUnit", "unit": "restarted.service"})
    _, path = machine.client.start("restarted")
    machine.check("sh", "-c", "until systemctl is-active restarted.service | grep -q deactivating; do :; done")
    machine.client.halt(path)
    assert machine.client.finish(path)[0] == "halted"
    machine.check("sh", "-c", "echo >/run/slow-stop")
    machine.check("sh", "-c", "until systemctl is-active -q restarted.service; do :; done")


def test_a_tree_of_somebody_else_is_refused(machine):
    machine.tree("open", {"type": "AlwaysSuccess"})
    machine.check("chown", "nobody:nogroup", "/etc/btd/trees/open.json")

    result = machine.btctl("reload")

    assert result.returncode != 0
    assert "/etc/btd/trees/open.json" in result.stdout + result.stderr
    with pytest.raises(DBusError) as error:
        machine.client.start("open")
    assert error.value.name == "org.btd1.Error.TreeBroken"


def test_busctl_shows_a_service_one_likes_to_look_at(machine):
    machine.load("seen", {"type": "Sleep", "duration": "1h"})
    run, path = machine.client.start("seen")

    tree = machine.check("busctl", "tree", "--list", "org.btd1").split()
    manager = machine.check("busctl", "introspect", "org.btd1", "/org/btd1")
    shown = machine.check("busctl", "introspect", "org.btd1", path)

    assert {"/org/btd1", "/org/btd1/tree/seen", path} <= set(tree)
    for word in (".StartTree", ".ListRuns", ".Version", "emits-change", "org.freedesktop.DBus.ObjectManager"):
        assert word in manager
    assert ".Status" in shown and '"running"' in shown


def test_the_journal_knows_tree_run_and_node(machine):
    machine.load("told", {"type": "Log", "name": "Voice", "message": "the answer is {answer}"},
                 blackboard={"answer": 42})
    run, path = machine.client.start("told")
    machine.client.finish(path)

    assert "the answer is 42" in machine.journal("BTD_TREE=told", f"BTD_RUN={run}", "BTD_NODE=Voice")


def test_the_output_of_a_process_is_a_variable(machine):
    machine.load("output", {"type": "Sequence", "children": [
        shell("Ask", "echo hello; pwd; echo $WHO", cwd="/usr", env={"WHO": "me"}, stdout="said"),
        {"type": "Log", "message": "{said}"}]})
    _, path = machine.client.start("output")

    assert machine.client.finish(path)[0] == "success"
    assert machine.client.variables(path)["said"] == "hello\n/usr\nme"


def test_the_streams_of_a_process_are_files(machine):
    """And a list in argv becomes arguments."""
    machine.load("streams", {"type": "Sequence", "children": [
        {"type": "Spawn", "argv": ["echo", "one two"], "stdout": "words", "stdout_format": "words"},
        {"type": "Spawn", "argv": ["printf", "%s.", "{words...}", "{words[2]}"],
         "properties": {"StandardOutput": "append:/run/streams"}},
        {"type": "Spawn", "argv": ["sh", "-c", "cat; echo lost >&2"], "stdout": "said",
         "properties": {"StandardInput": "file:/run/streams", "StandardError": "null"}}]})
    _, path = machine.client.start("streams")

    assert machine.client.finish(path)[0] == "success"
    assert machine.client.variables(path)["said"] == "one.two.two."


@pytest.mark.parametrize("kind", ["Spawn", "Command"])
def test_errors_are_told_without_the_output(machine, kind):
    machine.load("quiet", {"type": kind, "name": "Q", "argv": ["sh", "-c", "echo out; echo 'no room' >&2; exit 3"],
                           "properties": {"StandardOutput": "null"}})
    _, path = machine.client.start("quiet")
    assert machine.client.finish(path) == ("failure", "Q: exited with status 3: no room")


def test_files_outside_of_the_sandbox(machine):
    """Of the kernel, and where btd cannot write itself."""
    machine.load("write", {"type": "Sequence", "children": [
        {"type": "WriteFile", "path": "/proc/sys/net/ipv4/ip_default_ttl", "text": "61\n"},
        {"type": "WriteFile", "path": "/usr/local/written", "text": "here"}]})
    _, path = machine.client.start("write")
    assert machine.client.finish(path) == ("success", "")
    assert machine.check("cat", "/proc/sys/net/ipv4/ip_default_ttl", "/usr/local/written") == "61\nhere"


def test_a_condition_follows_the_unit(machine):
    """A UnitState that is not met yet fails; the retry sees the change."""
    machine.unit("watched.service", oneshot("true"))
    machine.load("watch", {
        "type": "RetryUntilSuccessful", "num_attempts": -1, "backoff": {"initial": "10ms", "max": "50ms"}, "child":
        {"type": "UnitState", "name": "Watch", "unit": "watched.service", "state": "active"}})
    machine.client.subscribe("org.btd1.Run")
    machine.client.manager("Subscribe")
    _, path = machine.client.start("watch")
    machine.client.wait_signal("NodesChanged", lambda signal: signal.path == path)

    machine.check("systemctl", "start", "watched.service")

    assert machine.client.finish(path)[0] == "success"


@pytest.mark.skipif(not os.path.exists("/dev/autofs"), reason="the kernel has no automounts")
def test_a_condition_does_not_mount_an_automount(machine):
    machine.unit("run-auto.automount", "[Automount]\nWhere=/run/auto\n")
    machine.unit("run-auto.mount", "[Mount]\nWhat=tmpfs\nType=tmpfs\nWhere=/run/auto\n")
    machine.check("systemctl", "start", "run-auto.automount")
    is_there = {"type": "PathExists", "name": "Is", "path": "/run/auto/file"}
    machine.load("auto-once", is_there)
    machine.load("auto-while", {"type": "ReactiveSequence", "children": [is_there, {"type": "Sleep", "duration": "1h"}]})
    machine.load("auto-later", {"type": "WaitFor", "child": {"type": "PathExists", "path": "/run/auto-later"}})

    assert finish(machine, "auto-once")[:2] == (
        "failure", "Is: the state of /run/auto/file is not known: nothing is mounted at the automount point /run/auto")
    assert machine.property("run-auto.mount", "ActiveState") == "inactive"

    machine.check("touch", "/run/auto/file")
    assert finish(machine, "auto-once")[0] == "success"
    _, path = machine.client.start("auto-while")
    wait(lambda: machine.client.nodes(path)["Sleep"]["status"] == "running", "the state of the path")
    _, later = machine.client.start("auto-later")
    machine.check("systemctl", "stop", "run-auto.mount")
    machine.check("touch", "/run/auto-later")
    assert machine.client.finish(later)[0] == "success"
    assert machine.property("run-auto.mount", "ActiveState") == "inactive"
    assert machine.client.nodes(path)["Sleep"]["status"] == "running"  # the state is the last known one


def test_more_jobs_than_systemd_can_tell_of(machine):
    """A dbus-daemon allows systemd 512 match rules, and each unit that is being started takes it two of them."""
    machine.unit("many@.service", "[Unit]\nStartLimitIntervalSec=0\n[Service]\nType=oneshot\nExecStart=/bin/sleep 0.3\n")
    systemd = machine.client.owner("org.freedesktop.systemd1")
    machine.load("many", {"type": "Timeout", "timeout": "4min", "child": {
        "type": "ForEach", "items": "{items}", "as": "item", "concurrency": 1000,
        "child": start_unit("many@{item}.service")}}, blackboard={"items": list(range(300))})
    _, path = machine.client.start("many")
    assert machine.client.finish(path, timeout=250) == ("success", "")
    assert machine.client.owner("org.freedesktop.systemd1") == systemd


def test_many_runs_at_once(machine):
    machine.load("many", shell("Many", "true"))
    paths = [machine.client.start("many", str(i))[1] for i in range(30)]
    assert [machine.client.finish(path)[0] for path in paths] == ["success"] * 30
    assert machine.client.get("/org/btd1", MANAGER, "NRunning") == 0


def watch(machine, tree, condition):
    """A tree that says by its node Holds whether the condition does: its path, and what that does from now on."""
    machine.load(tree, {"type": "WhileDoElse", "children": [
        condition, {"type": "Sleep", "name": "Holds", "duration": "infinity"},
        {"type": "Sleep", "name": "HoldsNot", "duration": "infinity"}]})
    machine.client.subscribe("org.btd1.Run")
    machine.client.manager("Subscribe")
    _, path = machine.client.start(tree)

    def wait(name):
        machine.client.wait_signal("NodesChanged", lambda s: s.path == path and (name, "running") in
                                   [(row[3], row[4]) for row in s.args[0]])
        machine.client.signals.clear()
    return path, wait


@pytest.mark.parametrize("directory", ["/dev", "/run", "/srv"])
def test_a_path_is_that_of_the_system(machine, directory):
    """The daemon is confined, but not so that it would look at something else."""
    path, wait = watch(machine, "path", {"type": "PathExists", "path": f"{directory}/a/flag", "kind": "file"})
    wait("HoldsNot")
    machine.check("mkdir", f"{directory}/a")
    machine.check("touch", f"{directory}/a/flag")
    wait("Holds")
    machine.check("rm", "-r", f"{directory}/a")
    wait("HoldsNot")
    machine.client.halt(path)


@pytest.mark.parametrize("directory, reason", [
    ("/tmp", "btd has a /tmp and a /var/tmp of its own; put PrivateTmp=no into a drop-in of btd.service"),
    ("/home", "/home cannot be watched: Permission denied"),
])
def test_a_path_that_is_hidden_is_not_known(machine, directory, reason):
    """Rather than that something is said of what only the daemon sees."""
    machine.check("mkdir", "-p", f"{directory}/a")
    machine.load("hidden", {"type": "PathExists", "path": f"{directory}/a"})
    run, path = machine.client.start("hidden")
    status, cause = machine.client.finish(path)
    assert status == "failure"
    assert cause == f"PathExists: the state of {directory}/a is not known: {reason}"


def test_a_mount_fills_a_directory(machine):
    machine.check("mkdir", "-p", "/mnt/disk")
    path, wait = watch(machine, "mounted", {"type": "PathExists", "path": "/mnt/disk", "kind": "not-empty"})
    wait("HoldsNot")
    machine.check("mkdir", "/run/content")
    machine.check("touch", "/run/content/file")
    machine.check("mount", "--bind", "/run/content", "/mnt/disk")
    wait("Holds")
    machine.check("umount", "/mnt/disk")
    wait("HoldsNot")
    machine.client.halt(path)


def test_a_command_is_a_unit_each_time(machine):
    path, wait = watch(machine, "command", {
        "type": "Command", "argv": ["/bin/sh", "-c", "echo looked; test -e /run/flag"], "interval": "50ms"})
    wait("HoldsNot")
    machine.check("touch", "/run/flag")
    wait("Holds")
    machine.check("rm", "/run/flag")
    wait("HoldsNot")
    machine.client.halt(path)

    assert machine.client.finish(path)[0] == "halted"
    assert machine.journal("-t", "sh").count("looked") >= 3
    assert "left behind" not in machine.log()


# Settings in the form of unit files; each means the same there.
OF_UNITS = "CollectMode", "OnFailure"
SETTINGS = {
    "AllowedCPUs": ("0-1", "AllowedCPUs"),
    "AmbientCapabilities": ("CAP_KILL CAP_CHOWN", "AmbientCapabilities"),
    "BindPaths": ("/srv:/mnt -/none", "BindPaths"),
    "BindReadOnlyPaths": ("/srv:/opt:norbind", "BindReadOnlyPaths"),
    "CPUAffinity": ("0 1", "CPUAffinity"),
    "CPUQuota": ("50%", "CPUQuotaPerSecUSec"),
    "CPUQuotaPeriodSec": ("20ms", "CPUQuotaPeriodUSec"),
    "CPUSchedulingPolicy": ("batch", "CPUSchedulingPolicy"),
    "CPUSchedulingResetOnFork": (True, "CPUSchedulingResetOnFork"),
    "CapabilityBoundingSet": ("~CAP_SYS_ADMIN CAP_NET_RAW", "CapabilityBoundingSet"),
    "CollectMode": ("inactive-or-failed", "CollectMode"),
    "DeviceAllow": ("/dev/null rw", "DeviceAllow"),
    "EnvironmentFile": ("-/etc/none", "EnvironmentFiles"),
    "IODeviceWeight": ("/dev/sda 200", "IODeviceWeight"),
    "IOReadBandwidthMax": ("/dev/sda 5M", "IOReadBandwidthMax"),
    "IOSchedulingClass": ("idle", "IOSchedulingClass"),
    "IOSchedulingPriority": (5, "IOSchedulingPriority"),
    "IPAddressAllow": ("localhost 10.1.0.0/16 fd00::1", "IPAddressAllow"),
    "IPAddressDeny": ("any", "IPAddressDeny"),
    "LimitCPU": ("1min", "LimitCPU"),
    "LimitRSS": ("64M", "LimitRSS"),
    "LogLevelMax": ("notice", "LogLevelMax"),
    "LogRateLimitBurst": (7, "LogRateLimitBurst"),
    "LogRateLimitIntervalSec": ("5s", "LogRateLimitIntervalUSec"),
    "MemoryMax": ("64M", "MemoryMax"),
    "OnFailure": ("none.service", "OnFailure"),
    "Personality": ("x86-64", "Personality"),
    "RestrictAddressFamilies": ("~AF_INET AF_INET6", "RestrictAddressFamilies"),
    "RestrictNamespaces": ("~user net", "RestrictNamespaces"),
    "RuntimeDirectoryMode": ("0711", "RuntimeDirectoryMode"),
    "RuntimeDirectoryPreserve": ("restart", "RuntimeDirectoryPreserve"),
    "RuntimeMaxSec": ("1h", "RuntimeMaxUSec"),
    "StandardError": ("truncate:/run/settings-errors", "StandardError"),
    "StandardInput": ("file:/etc/hostname", "StandardInput"),
    "StandardOutput": ("append:/run/settings.log", "StandardOutput"),
    "SyslogFacility": ("local3", "SyslogFacility"),
    "SyslogLevel": ("warning", "SyslogLevel"),
    "SyslogLevelPrefix": (False, "SyslogLevelPrefix"),
    "SystemCallArchitectures": ("native", "SystemCallArchitectures"),
    "SystemCallErrorNumber": ("EACCES", "SystemCallErrorNumber"),
    "SystemCallFilter": ("@system-service @mount", "SystemCallFilter"),
    "TimeoutAbortSec": ("7s", "TimeoutAbortUSec"),
    "UMask": ("0027", "UMask"),
    "UtmpIdentifier": ("me", "UtmpIdentifier"),
    "UtmpMode": ("user", "UtmpMode"),
    "WatchdogSec": ("1h", "WatchdogUSec"),
}


def test_settings_mean_what_they_mean_in_a_unit_file(machine):
    """Also when systemd has written them to a file and read them again."""
    words = {name: value if not isinstance(value, bool) else "yes" if value else "no"
             for name, (value, _) in SETTINGS.items()}
    machine.unit("reference.service", "[Unit]\n" + "".join(f"{name}={words[name]}\n" for name in OF_UNITS) +
                 "[Service]\nExecStart=/bin/sleep 1h\n" +
                 "".join(f"{name}={value}\n" for name, value in words.items() if name not in OF_UNITS))
    machine.check("systemctl", "start", "reference.service")
    machine.load("settings", {"type": "Spawn", "name": "Same", "argv": ["/bin/sleep", "1h"], "as": "unit",
                              "properties": {name: value for name, (value, _) in SETTINGS.items()}})
    run = machine.check("btctl", "start", "settings").strip()
    unit = ""
    while not unit:
        assert "running" in machine.check("btctl", "status", run)
        unit = machine.check("systemctl", "list-units", "--no-legend", "--plain", f"btd-{run}*").split(" ")[0]

    def shown(of):
        text = machine.check("systemctl", "show", of, *("--property=" + bus_name for _, bus_name in SETTINGS.values()))
        return sorted({" ".join(sorted(line.replace("=", " = ", 1).split())) for line in text.splitlines()})
    before = shown("reference.service")
    assert len(before) >= len(SETTINGS)
    assert shown(unit) == before
    machine.check("systemctl", "daemon-reload")
    assert shown(unit) == shown("reference.service")


def journal_reader(process):
    """The PID of btctl, a child of nsenter, when it waits for lines of the journal: it has an inotify then."""
    for pid in pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text(encoding="utf-8").split():
        with contextlib.suppress(OSError):
            if any(os.readlink(it) == "anon_inode:inotify" for it in pathlib.Path(f"/proc/{pid}/fd").iterdir()):
                return int(pid)
    return None


def is_stopped(process):
    return pathlib.Path(f"/proc/{process.pid}/stat").read_text(encoding="utf-8").split(") ")[1][0] == "T"


def status_while_journald_is_late(machine, tree):
    """What btctl status says if journald stores lines only when btctl already waits for them, which it does for a second.
    In this second it is stopped, so that journald has time; if that was too late, the answer is without lines."""
    machine.check("systemctl", "kill", "--signal=STOP", "systemd-journald.service")
    try:
        assert machine.btctl("start", tree, "--wait").returncode == 1
        reading = subprocess.Popen(machine.command("btctl", "status", tree), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, text=True)
        wait(lambda: reading.poll() is not None or journal_reader(reading), "btctl")
        with contextlib.suppress(ProcessLookupError, TypeError):  # it has ended
            os.kill(journal_reader(reading), signal.SIGSTOP)
            wait(lambda: reading.poll() is not None or is_stopped(reading), "nsenter to stop with its child")
            machine.check("systemctl", "kill", "--signal=CONT", "systemd-journald.service")
            machine.check("journalctl", "--sync")
            reading.send_signal(signal.SIGCONT)  # nsenter continues its child
        return reading.communicate(timeout=PATIENCE)[0]
    finally:
        machine.run("systemctl", "kill", "--signal=CONT", "systemd-journald.service")


def test_lines_of_the_journal_are_awaited(machine):
    """Those of a unit that has just failed are shown, also if journald has not stored them yet."""
    machine.unit("late.service", oneshot("echo the last words; exit 3"))
    machine.load("late", start_unit("late.service"))
    for _ in range(20):
        status = status_while_journald_is_late(machine, "late")
        assert "  Journal: journalctl -u late.service\n" in status
        if re.search(r"late\.service: |the last words", status):
            return
    pytest.fail(status)


def test_restart_of_an_active_unit_only(machine):
    """As systemctl try-restart; a unit that is not there is a failure all the same."""
    machine.unit("runs.service", "[Service]\nExecStart=/bin/sleep infinity\n")
    restart = {"type": "RestartUnit", "unit": "runs.service", "if_active": True}
    machine.load("try", {**restart, "name": "Try"})
    machine.load("none", {**restart, "unit": "nowhere.service"})

    def tried(tree):
        _, path = machine.client.start(tree)
        outcome = machine.client.finish(path)
        pid = machine.check("systemctl", "show", "--property=MainPID", "--value", "runs.service").strip()
        return outcome, pid, [node["detail"] for node in machine.client.nodes(path).values()]

    assert tried("try") == (("success", ""), "0", ["runs.service was not restarted, because it is inactive"])
    machine.check("systemctl", "start", "runs.service")
    before = machine.check("systemctl", "show", "--property=MainPID", "--value", "runs.service").strip()
    outcome, pid, details = tried("try")
    assert (outcome, details) == (("success", ""), [""]) and pid not in ("0", before)
    outcome, _, _ = tried("none")
    assert outcome[0] == "failure" and "nowhere.service" in outcome[1]


def test_reload_of_an_active_unit_only(machine):
    machine.unit("reads.service", "[Service]\nExecStart=/bin/sleep infinity\nExecReload=/bin/false\n")
    machine.load("reread", {"type": "ReloadUnit", "name": "Read", "unit": "reads.service", "if_active": True})
    _, path = machine.client.start("reread")
    assert machine.client.finish(path) == ("success", "")
    assert machine.client.nodes(path)["Read"]["detail"] == "reads.service was not reloaded, because it is inactive"

    machine.check("systemctl", "start", "reads.service")
    _, path = machine.client.start("reread")
    status, cause = machine.client.finish(path)
    assert status == "failure" and cause.startswith("Read: reads.service was not reloaded: its ExecReload= command /bin/false")


def test_reset_failed(machine):
    """A unit that systemd has started too often is started again."""
    machine.unit("often.service", "[Unit]\nStartLimitBurst=1\nStartLimitIntervalSec=1h\n[Service]\nType=oneshot\nExecStart=/bin/true\n")
    # systemd forgets a unit that nothing refers to, with what it has counted.
    machine.unit("keeps.service", "[Unit]\nAfter=often.service\n[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/bin/true\n")
    machine.check("systemctl", "start", "keeps.service")
    machine.load("often", {"type": "Sequence", "children": [
        {"type": "StartUnit", "unit": "often.service"},
        {"type": "StartUnit", "unit": "often.service", "reset_failed": True},
        {"type": "StartUnit", "name": "Last", "unit": "often.service"}]})
    _, path = machine.client.start("often")
    status, text = machine.client.finish(path)
    assert status == "failure" and text.startswith("Sequence/Last: ") and "start-limit-hit" in text
