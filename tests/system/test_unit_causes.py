# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the causes of failed unit jobs: for each result of a unit and of a job, which command, status or other unit."""

import pytest


def service(*settings, unit=""):
    lines = "\n".join(settings)
    return f"[Unit]\nStartLimitIntervalSec=0\n{unit}[Service]\n{lines}\n"


def sh(script):
    return f'/bin/sh -c "{script}"'


HANGS = "ExecStart=/bin/sleep infinity"
SOON = "TimeoutStartSec=300ms"
REQUIRES = "Requires={0}\nAfter={0}\n"

# Units that others need.
OTHERS = {
    "rival.service": service("Type=exec", HANGS, unit="Conflicts=conflict.service\n"),
    "bad.service": service("Type=oneshot", "ExecStart=" + sh("exit 3")),
    "killed.service": service("Type=oneshot", "ExecStart=" + sh("kill -KILL $$$$")),
    "between.service": service("Type=oneshot", "ExecStart=/bin/true", unit=REQUIRES.format("bad.service")),
    "asserts.service": service("Type=oneshot", "ExecStart=/bin/true", unit="AssertPathExists=/absent\n"),
    "late-needed.service": service("Type=notify", HANGS, "TimeoutStartSec=infinity", unit="JobRunningTimeoutSec=300ms\n"),
    "idle.service": service("Type=oneshot", "ExecStart=/bin/true"),
    "nowhere-else.mount": "[Mount]\nWhat=/nowhere\nWhere=/nowhere/else\nType=ext4\n",
}

# Unit to start: its file, and the cause behind its name, without what systemd and mount(8) say in each version ("...").
START = {
    # Results of services.
    "exits.service": (
        service("Type=oneshot", "ExecStart=" + sh("exit 3")),
        "failed: its main process exited with status 3"),
    "speaks.service": (
        service("Type=oneshot", "ExecStart=" + sh("echo one; echo two; echo no picture >&2; echo no camera >&2; exit 3")),
        "failed: its main process exited with status 3: two; no picture; no camera"),
    "speaks-and-ends.service": (
        service("Type=exec", "ExecStart=" + sh("echo nothing to do")),
        "was started, but now it is inactive (dead): its main process exited with status 0: nothing to do"),
    "speaks-before.service": (
        service("Type=exec", "ExecStartPre=" + sh("echo no lens >&2; exit 2"), HANGS),
        "failed: its ExecStartPre= command /bin/sh exited with status 2: no lens"),
    "signalled.service": (
        service("Type=oneshot", "ExecStart=" + sh("kill -KILL $$$$")),
        "failed: its main process was killed by SIGKILL (result 'signal')"),
    "dumps.service": (
        service("Type=oneshot", "LimitCORE=infinity", "RuntimeDirectory=dumps", "WorkingDirectory=/run/dumps",
                "ExecStart=" + sh("kill -SEGV $$$$")),
        "failed: its main process was killed by SIGSEGV and dumped core (result 'core-dump')"),
    "skipped.service": (
        service("Type=oneshot", "ExecCondition=" + sh("exit 7"), "ExecStart=/bin/true"),
        "was not started: its ExecCondition= was not met: /bin/sh exited with status 7 (result 'exec-condition')"),
    "condition.service": (
        service("Type=oneshot", "ExecCondition=" + sh("exit 255"), "ExecStart=/bin/true"),
        "failed: its ExecCondition= command /bin/sh exited with status 255"),
    "unmet.service": (
        service("Type=oneshot", "ExecStart=/bin/true", unit="ConditionPathExists=/absent\n"),
        "was not started: its ConditionPathExists=/absent was not met"),
    "pre.service": (
        service("Type=exec", "ExecStartPre=-" + sh("exit 1"), "ExecStartPre=" + sh("exit 2"), HANGS),
        "failed: its ExecStartPre= command /bin/sh exited with status 2"),
    "pre-missing.service": (
        service("Type=exec", "ExecStartPre=/absent/pre", HANGS),
        "failed: its ExecStartPre= command /absent/pre failed: its program could not be executed (status 203/EXEC): "
        "No such file or directory"),
    "pre-hangs.service": (
        service("Type=exec", "ExecStartPre=/bin/sleep infinity", HANGS, SOON),
        "failed: its ExecStartPre= command /bin/sleep took longer than TimeoutStartSec= allows (result 'timeout')"),
    "hangs.service": (
        service("Type=notify", HANGS, SOON),
        "failed: its main process took longer than TimeoutStartSec= allows (result 'timeout')"),
    "post.service": (
        service("Type=exec", HANGS, "ExecStartPost=" + sh("exit 4")),
        "failed: its ExecStartPost= command /bin/sh exited with status 4"),
    "post-killed.service": (
        service("Type=exec", HANGS, "ExecStartPost=" + sh("kill -KILL $$$$")),
        "failed: its ExecStartPost= command /bin/sh was killed by SIGKILL (result 'signal')"),
    "post-hangs.service": (
        service("Type=exec", HANGS, "ExecStartPost=/bin/sleep infinity", SOON),
        "failed: its ExecStartPost= command /bin/sleep took longer than TimeoutStartSec= allows (result 'timeout')"),
    "main-before-post.service": (
        service("Type=exec", "ExecStart=" + sh("exit 5"), "ExecStartPost=/bin/sleep 0.5",
                "ExecStopPost=" + sh("exit 6")),
        "failed: its main process exited with status 5"),
    "second.service": (
        service("Type=oneshot", "ExecStart=/bin/true", "ExecStart=" + sh("exit 8")),
        "failed: its ExecStart= command /bin/sh exited with status 8"),
    "protocol.service": (
        service("Type=notify", "ExecStart=/bin/true"),
        "failed: it did not report its start as its Type=notify requires (result 'protocol')"),
    "forks.service": (
        service("Type=forking", "ExecStart=" + sh("exit 9")),
        "failed: its ExecStart= command /bin/sh exited with status 9"),
    "resources.service": (
        service("Type=exec", "EnvironmentFile=/absent", HANGS),
        "failed: a resource that it needs was not available, see its journal (result 'resources')"),
    "again.service": (
        service("Type=oneshot", "Restart=on-failure", "RestartSec=1h", "ExecStart=" + sh("exit 3")),
        "failed: its main process exited with status 3; its Restart= setting starts it again"),
    "watchdog.service": (
        service("Type=exec", "WatchdogSec=300ms", HANGS, "ExecStartPost=/bin/sleep infinity",
                "TimeoutStartSec=infinity"),
        "failed: it did not notify its watchdog in time (result 'watchdog')"),
    # Results of jobs.
    "late.service": (
        service("Type=notify", HANGS, "TimeoutStartSec=infinity", unit="JobTimeoutSec=300ms\n"),
        "was not started: the job took longer than its JobTimeoutSec= allows (result 'timeout')"),
    "late-running.service": (
        service("Type=notify", HANGS, "TimeoutStartSec=infinity", unit="JobRunningTimeoutSec=300ms\n"),
        "was not started: the job took longer than its JobRunningTimeoutSec= allows (result 'timeout')"),
    "late-in-time.service": (
        service("Type=notify", HANGS, "TimeoutStartSec=infinity", unit="JobTimeoutSec=1h\nJobRunningTimeoutSec=300ms\n"),
        "was not started: the job took longer than its JobRunningTimeoutSec= allows (result 'timeout')"),
    "asserted.service": (
        service("Type=exec", HANGS, unit="AssertPathExists=/absent\n"),
        "was not started: its AssertPathExists=/absent was not met (result 'assert')"),
    "stopped.service": (
        service("Type=notify", "ExecStart=" + sh("systemctl stop --no-block stopped.service; sleep infinity")),
        "was not started: the job was cancelled (result 'canceled')"),
    "conflict.service": (
        service("Type=notify", "ExecStart=" + sh("systemctl start --no-block rival.service; sleep infinity")),
        "was not started: rival.service, which conflicts with it, was started (result 'canceled')"),
    "requires-bad.service": (
        service("Type=exec", HANGS, unit=REQUIRES.format("bad.service")),
        "was not started: bad.service, which it requires, failed: its main process exited with status 3 "
        "(result 'dependency')"),
    "requires-killed.service": (
        service("Type=exec", HANGS, unit=REQUIRES.format("killed.service")),
        "was not started: killed.service, which it requires, failed: its main process was killed by SIGKILL "
        "(result 'dependency')"),
    "requires-between.service": (
        service("Type=exec", HANGS, unit=REQUIRES.format("between.service")),
        "was not started: bad.service, which it requires, failed: its main process exited with status 3 "
        "(result 'dependency')"),
    "requires-asserts.service": (
        service("Type=exec", HANGS, unit=REQUIRES.format("asserts.service")),
        "was not started: asserts.service, which it requires, was not started: its AssertPathExists=/absent was not "
        "met (result 'dependency')"),
    "requires-late.service": (
        service("Type=exec", HANGS, unit=REQUIRES.format("late-needed.service")),
        "was not started: late-needed.service, which it requires, is activating (start), but its job was cancelled or "
        "took too long (result 'dependency')"),
    "requisite.service": (
        service("Type=exec", HANGS, unit="Requisite=idle.service\nAfter=idle.service\n"),
        "was not started: idle.service, which it requires, is inactive (dead) (result 'dependency')"),
    "requires-mount.service": (
        service("Type=exec", HANGS, unit=REQUIRES.format("nowhere-else.mount")),
        "was not started: nowhere-else.mount, which it requires, failed: its mount command /bin/mount exited with "
        "status 32 (result 'dependency')"),
    "requires-device.service": (
        service("Type=exec", HANGS, unit=REQUIRES.format("dev-causes.device")),
        "was not started: dev-causes.device, which it requires, is not there (result 'dependency')"),
    # Other types of units. systemd in a container supports neither devices nor swaps.
    "nowhere-here.mount": (
        "[Mount]\nWhat=/nowhere\nWhere=/nowhere/here\nType=ext4\n",
        "failed: its mount command /bin/mount exited with status 32: mount: /nowhere/here: ..."),
    "pre.socket": (
        "[Socket]\nListenStream=/run/pre.socket\nExecStartPre=/bin/false\nService=idle.service\n",
        "failed: its ExecStartPre= command /bin/false exited with status 1"),
    "taken.socket": (
        "[Socket]\nListenStream=/proc/taken\nService=idle.service\n",
        "failed: a resource that it needs was not available, see its journal (result 'resources')"),
    "dev-causes.device": (
        None,
        "was not started: this system does not support units of its type (result 'unsupported')"),
    "nowhere.swap": (
        "[Swap]\nWhat=/nowhere\n",
        "was not started: this system does not support units of its type (result 'unsupported')"),
}

# Of a unit that is up: what is asked, and the cause.
RUNNING = {
    "reloads.service": (
        service("Type=exec", HANGS, "ExecReload=" + sh("exit 3")), "ReloadUnit",
        "was not reloaded: its ExecReload= command /bin/sh exited with status 3 (result 'failed')"),
    "reload-hangs.service": (
        service("Type=exec", HANGS, "ExecReload=/bin/sleep infinity", "TimeoutStartSec=1s"), "ReloadUnit",
        "was not reloaded: its reload took longer than TimeoutStartSec= allows (result 'failed')"),
    "restarts.service": (
        service("Type=exec", HANGS, "ExecStartPre=" + sh("! mkdir /run/restarts 2>/dev/null || exit 0; exit 11")),
        "RestartUnit", "failed: its ExecStartPre= command /bin/sh exited with status 11"),
    "run-busy.mount": (
        "[Mount]\nWhat=tmpfs\nWhere=/run/busy\nType=tmpfs\n", "StopUnit",
        "was not stopped: its unmount command /bin/umount exited with status 32"),
}


@pytest.fixture
def units(machine):
    for name, text in OTHERS.items():
        machine.unit(name, text)
    for name, (text, *_) in {**START, **RUNNING}.items():
        if text:
            machine.unit(name, text)
    return machine


def test_each_result_has_its_cause(units):
    """All side by side."""
    holder = {"type": "Spawn", "argv": ["/bin/sh", "-c", "cd /run/busy; mkdir here; exec sleep infinity"], "as": "unit"}
    children = [{"type": "StartUnit", "name": unit, "unit": unit} for unit in START]
    for unit, (_, verb, _) in RUNNING.items():
        steps = [{"type": "StartUnit", "unit": unit}, {"type": verb, "name": unit, "unit": unit}]
        if unit == "run-busy.mount":
            holds = {"type": "PathExists", "path": "/run/busy/here"}
            steps = [steps[0], {"type": "Parallel", "success_count": 1, "children": [
                holder, {"type": "Sequence", "children": [{"type": "WaitFor", "child": holds}, steps[1]]}]}]
        children.append({"type": "Sequence", "children": steps})
    units.load("causes", {"type": "ParallelAll", "max_failures": -1, "children": children})
    _, path = units.client.start("causes")
    units.client.finish(path)

    nodes = units.client.nodes(path)
    expected = {unit: f"{unit} {row[-1]}" for unit, row in {**START, **RUNNING}.items()}
    wrong = [nodes[unit]["detail"] + "\n" + cause for unit, cause in expected.items()
             if not (nodes[unit]["detail"] == cause or
                     (cause.endswith("...") and nodes[unit]["detail"].startswith(cause.removesuffix("..."))))]
    assert not wrong, "\n\n".join(wrong)
