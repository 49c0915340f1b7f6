# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the verbs that start, halt and watch runs."""

import json
import os
import re
import select
import signal
import subprocess
import time

import pytest

from client import PATIENCE, Client, DBusError, run, wait
from daemon import BTCTL, SANITIZER_ENV, tree_text
from btctl_runs import BAD, GOOD, LONG, UTF8, begin, end, without_times

RUN = "org.btd1.Run"


def test_start(btd):
    btd.tree("boot", LONG)
    btd.start()
    assert btd.btctl("start", "boot") == (0, "boot.1\n", "")
    assert btd.btctl("start", "boot@eth0") == (0, "boot.2\n", "")
    assert json.loads(btd.btctl("--json", "--instance=eth1", "start", "boot").stdout) \
        == {"id": "boot.3", "tree": "boot", "instance": "eth1"}
    again = btd.btctl("start", "boot")
    assert again.returncode == 1
    assert again.stderr == "btctl: tree 'boot' is already running as boot.1; give another instance to run it twice\n"
    assert {row.instance for row in btd.client.runs()} == {"", "eth0", "eth1"}


def test_start_sets_variables(btd):
    btd.tree("boot", GOOD, blackboard={"name": "eth9"}, inputs={"list": "list"})
    btd.start()
    assert btd.btctl("start", "boot", "--set", 'name="eth0"', "--set=list=[1, {}]", "--wait").returncode == 0
    [row] = btd.client.runs()
    variables = btd.client.variables(row.path)
    assert variables == {"name": "eth0", "list": [1, {}]}
    assert btd.btctl("start", "boot") == (
        1, "", "btctl: tree 'boot': the input 'list' (list) is missing\n"
               "Give it with --set KEY=JSON, such as --set name='\"eth0\"' or --set retries=3.\n")
    with pytest.raises(DBusError) as refused:
        btd.client.start("boot")
    assert refused.value.name == "org.btd1.Error.MissingInput"


def test_run(btd, tmp_path):
    """The run of a tree file that is not installed is like any other."""
    btd.start(f"--runtime={tmp_path}/runtime", f"--state={tmp_path}/state")
    path = tmp_path / "mine.json"
    path.write_text(tree_text(GOOD, inputs={"n": "int"}))
    result = btd.btctl("run", str(path), "--set=n=1", "--wait", env=UTF8)
    assert (result.returncode, without_times(result.stdout), result.stderr) == (0, "✓ mine.1: success after T\n", "")
    for words in ("status", "mine"), ("status", "mine.1"), ("show", "mine.1"), ("history",):
        result = btd.btctl(*words, env=UTF8)
        assert (result.returncode, result.stderr) == (0, ""), words
        assert "mine.1" in result.stdout
    assert "mine" not in btd.btctl("list").stdout
    assert btd.btctl("run", str(path), "--set=n=true").stderr \
        == "btctl: tree 'mine': expected a whole number for 'n', but got true\n"

    path.write_text(tree_text({"type": "Sequnce", "children": [GOOD]}))
    assert btd.btctl("run", str(path)) == (
        1, "", "btctl: tree 'mine' has errors: mine.json:4:11: error: unknown type 'Sequnce'; did you mean "
               "'Sequence'? (in Sequnce)\n")


@pytest.mark.parametrize("name, content, told", [
    ("no tree.json", b"{}", ": the name of a tree consists of letters, digits, '_' and '-', 100 at most"),
    ("latin1.json", b"\xe9", " is not text in UTF-8"),
    ("gone.json", None, " cannot be read: No such file or directory"),
])
def test_run_what_is_no_tree(btd, tmp_path, name, content, told):
    btd.start()
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    assert btd.btctl("run", str(path)) == (1, "", f"btctl: {path}{told}\n")


def test_start_and_wait(btd):
    btd.tree("good", GOOD)
    btd.tree("bad", BAD)
    btd.start()

    result = btd.btctl("start", "good", "--wait", env=UTF8)
    assert (result.returncode, without_times(result.stdout), result.stderr) == (0, "✓ good.1: success after T\n", "")
    assert btd.btctl("status", "good", env=UTF8).stdout.startswith(result.stdout)  # the same time, too
    result = btd.btctl("start", "bad", "--wait", env=UTF8)
    assert (result.returncode, without_times(result.stdout), result.stderr) \
        == (1, "✗ bad.1: failure after T: Boot/LoadConfig: exited with status 3\n", "")
    assert btd.btctl("start", "bad", "--wait", "--quiet") == (1, "", "")

    result = btd.btctl("start", "bad", "--wait", "--json")
    assert result.returncode == 1
    assert json.loads(result.stdout) == {"id": "bad.3", "tree": "bad", "instance": "", "status": "failure",
                                         "cause": "Boot/LoadConfig: exited with status 3"}


def test_start_and_wait_for_what_is_halted(btd):
    btd.tree("boot", LONG)
    btd.start()
    btd.client.subscribe("org.btd1.Manager", "RunNew")
    waiting = begin(btd, "start", "boot", "--wait")
    btd.client.wait_signal("RunNew")
    assert btd.btctl("halt", "boot") == (0, "", "")
    status, output = end(waiting)
    assert status == 3
    assert re.fullmatch(r"■ boot.1: halted after T by .+\n", without_times(output)), output


def test_interrupted_wait_leaves_the_run_going(btd):
    btd.tree("boot", LONG)
    btd.start()
    btd.client.subscribe("org.btd1.Manager", "RunNew")
    for number in (signal.SIGINT, signal.SIGTERM):
        btd.client.signals.clear()
        waiting = begin(btd, "start", f"boot@{number.name}", "--wait")
        run = btd.client.wait_signal("RunNew").args[0]
        waiting.send_signal(number)
        assert end(waiting) == (128 + number, f"btctl: stopped waiting; {run} continues: see 'btctl status {run}', or "
                                              f"halt it with 'btctl halt {run}'\n")
    assert {row.status for row in btd.client.runs()} == {"running"}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_call(btd, number):
    """It is not broken off. While btd stands still, a thread of btctl looks for signals."""
    btd.tree("boot", LONG)
    btd.start()
    btd.client.start("boot")
    btd.process.send_signal(signal.SIGSTOP)
    waiting = begin(btd, "wait", "boot")
    wait(lambda: len(os.listdir(f"/proc/{waiting.pid}/task")) == 2, "the thread")
    waiting.send_signal(number)
    btd.process.send_signal(signal.SIGCONT)
    assert end(waiting) == (128 + number, "btctl: stopped waiting; boot.1 continues\n")
    assert [row.status for row in btd.client.runs()] == ["running"]


@pytest.mark.parametrize("arguments", [["start", "boot", "--wait"], ["start", "boot", "--follow", "--quiet"]])
def test_daemon_that_vanishes(btd, arguments):
    btd.tree("boot", LONG)
    btd.start()
    btd.client.subscribe("org.btd1.Manager", "RunNew")
    waiting = begin(btd, *arguments)
    btd.client.wait_signal("RunNew")
    btd.stop(signal.SIGKILL)
    status, output = end(waiting)
    assert status == 5
    assert output.splitlines()[-1] == "btctl: btd has exited"


def restart(btd, options):
    """btctl follows a run that the next btd recovers."""
    btd.tree("boot", LONG)
    btd.start(*options)
    waiting = begin(btd, "start", "boot", "--follow")
    assert "started by UID" in waiting.stdout.readline()
    assert "running" in waiting.stdout.readline()
    btd.stop(signal.SIGKILL)
    return waiting


def test_daemon_that_is_restarted(btd, tmp_path):
    options = f"--runtime={tmp_path}/run", f"--state={tmp_path}/state"
    waiting = restart(btd, options)
    btd.start(*options)
    path = btd.client.manager("GetRun", "s", "boot.1")
    while "boot.1 continues" not in (line := waiting.stdout.readline()):
        assert line
    btd.client.halt(path)
    status, output = end(waiting)
    assert status == 3 and "Long: halted" in output and "boot.1: halted" in output.splitlines()[-1]


def test_daemon_that_is_restarted_without_the_run(btd, tmp_path):
    options = f"--runtime={tmp_path}/run", f"--state={tmp_path}/state"
    waiting = restart(btd, options)
    (tmp_path / "run/runs/boot.1.journal").write_text("what?\n")
    btd.start(*options)
    status, output = end(waiting)
    assert status == 5
    assert output.endswith("btctl: btd has exited; waiting for it to start again\n"
                           "btctl: btd was restarted, but has not recovered boot.1; see its log\n")


@pytest.mark.both_buses("a dbus-broker that exits may signal first that btd has exited")
def test_bus_that_vanishes(btd_own_bus):
    btd = btd_own_bus
    btd.tree("boot", LONG)
    btd.start()
    btd.client.subscribe("org.btd1.Manager", "RunNew")
    waiting = begin(btd, "start", "boot", "--wait")
    btd.client.wait_signal("RunNew")
    btd.bus.stop()
    status, output = end(waiting)
    lost = f"btctl: the connection to the bus at {btd.bus.address} was lost\n"
    # A dbus-broker that exits may first signal that btd has exited.
    told = [lost] if btd.bus.kind == "dbus-daemon" else [lost, "btctl: btd has exited\n"]
    assert status == 5 and output in told


@pytest.mark.both_buses("a dbus-broker that exits may signal first that btd has exited")
@pytest.mark.parametrize("quiet", [[], ["--quiet"]])
def test_bus_that_comes_back(btd_own_bus, tmp_path, quiet):
    """btd continues its runs while the bus is away, and btctl reconnects."""
    btd = btd_own_bus
    btd.tree("boot", {"type": "WaitFor", "name": "Wait", "child": {"type": "PathExists", "path": f"{tmp_path}/go"}})
    btd.start(f"--runtime={tmp_path}/run", f"--state={tmp_path}/state")
    waiting = begin(btd, "start", "boot", "--follow", *quiet)
    assert "boot.1: started by" in waiting.stdout.readline()
    assert "Wait: running" in waiting.stdout.readline()
    assert "Wait/PathExists: running" in waiting.stdout.readline()
    assert "Wait/PathExists: failure" in waiting.stdout.readline()
    btd.bus.stop()
    if not quiet:
        lost = "btctl: the connection to the bus was lost; reconnecting\n"
        while (line := waiting.stdout.readline()) != lost:
            assert line
    btd.bus.start()
    if not quiet:
        assert waiting.stdout.readline() == "btctl: reconnected to the bus; boot.1 continues\n"
    (tmp_path / "go").touch()
    status, output = end(waiting)
    assert status == 0 and "boot.1: success" in output.splitlines()[-1]


def test_replace(btd):
    """The run that is running is halted first; nothing is halted if the new one cannot be started."""
    btd.tree("boot", LONG, inputs={"a": {"type": "int", "default": 1}})
    btd.start()
    for number in 1, 2:
        assert btd.btctl("start", "boot", "--replace").stdout == f"boot.{number}\n"
    assert [(run.id, run.status) for run in btd.client.runs()] == [("boot.2", "running")]
    assert btd.btctl("start", "boot", "--replace", "--set", "a=true").returncode == 1
    assert btd.client.runs()[-1].status == "running"


def test_attach(btd):
    """--attach uses the running run, whoever started it, and its result; if none is running, it starts one."""
    btd.tree("boot", LONG)
    btd.start()
    run, path = btd.client.start("boot")
    assert btd.btctl("start", "boot", "--attach", "--set=n=1") \
        == (0, "boot.1\n", "btctl: boot.1 was started before; --set has no effect on it\n")
    waiting = begin(btd, "start", "boot", "--attach", "--wait", "--token=mine")
    wait(lambda: btd.log().count("asked to start") == 3, "the third request")
    assert btd.btctl("halt", "boot", "--token=mine", "--wait") == (0, "", "")
    btd.client.halt(path)
    status, output = end(waiting)
    assert status == 3 and output.startswith("■ boot.1: halted")
    assert btd.btctl("start", "boot", "--attach") == (0, "boot.2\n", "")


def test_attach_to_what_is_being_halted(btd, tmp_path):
    """--attach waits for the end of the halting run, and starts another one."""
    gone = {"type": "WaitFor", "child": {"type": "PathExists", "path": str(tmp_path / "go")}}
    btd.tree("boot", {"type": "Finally", "children": [LONG, gone]})
    btd.start()
    btd.client.subscribe("org.btd1.Manager", "RunNew")
    run, path = btd.client.start("boot")
    btd.client.halt(path)
    waiting = begin(btd, "start", "boot", "--attach", "--wait")
    wait(lambda: btd.log().count("asked to start") == 2, "the second request")
    assert btd.client.run_property(path, "Status") == "halting"
    (tmp_path / "go").touch()
    run, path = btd.client.wait_signal("RunNew", lambda signal: signal.args[0] == "boot.2").args
    btd.client.halt(path)
    status, output = end(waiting)
    assert status == 3 and output.splitlines()[-1].startswith("■ boot.2: halted")


def test_token(btd):
    btd.tree("boot", GOOD)
    btd.tree("long", LONG)
    btd.start()
    for _ in range(2):
        result = btd.btctl("start", "boot", "--token=mine", "--wait", env=UTF8)
        assert (result.returncode, without_times(result.stdout)) == (0, "✓ boot.1: success after T\n")
    for instance, token in (("a", "mine"), ("b", "mine"), ("c", "yours")):
        btd.btctl("start", f"long@{instance}", f"--token={token}")
    assert btd.btctl("halt", "long@a", "--token=mine", "--wait", env=UTF8).stdout.startswith("■ long.1: halted")
    assert btd.btctl("halt", "long", "--token=mine", "--wait", env=UTF8).stdout.startswith("■ long.2: halted")
    assert btd.btctl("halt", "long", "--token=mine", "--wait") == (0, "", "")
    assert [row.id for row in btd.client.runs() if row.status == "running"] == ["long.3"]


@pytest.mark.parametrize("arguments, told", [
    (["start", "boot", "--once"], "'--once' needs --wait or --follow"),
    (["halt", "boot.1", "--token=a"], "'--token' needs a tree, but this is a run: 'boot.1'"),
])
def test_options_that_make_no_sense(btd, arguments, told):
    assert btd.btctl(*arguments) == (2, "", f"btctl: {told}\nTry 'btctl --help'.\n")


def test_attach_outlasts_the_daemon(btd, tmp_path):
    """btctl waits for btd, also if btd is away at the start; it does not start a second run."""
    options = f"--runtime={tmp_path}/run", f"--state={tmp_path}/state"
    btd.tree("boot", LONG)
    waiting = begin(btd, "start", "boot", "--attach", "--wait", "--token=mine")
    assert waiting.stderr is None and "btd is not running" in waiting.stdout.readline()
    btd.client.subscribe("org.btd1.Manager", "RunNew")
    btd.start(*options)
    path = btd.client.wait_signal("RunNew").args[1]
    for number in (signal.SIGKILL, signal.SIGTERM):
        btd.client.run_property(path, "Status")
        btd.stop(signal.SIGKILL)
        assert "waiting for it to start again" in waiting.stdout.readline()
        btd.start(*options)
        assert waiting.stdout.readline() == "btctl: btd was restarted; boot.1 continues\n"
    assert btd.btctl("halt", "boot", "--token=mine").returncode == 0
    status, output = end(waiting)
    assert status == 3 and output.startswith("■ boot.1: halted")
    assert len(btd.client.runs()) == 1


def test_status_of_a_unit(btd, notifications, tmp_path):
    """Which nodes the run waits for, also of a run that was started before, and with the next btd."""
    options = f"--runtime={tmp_path}/run", f"--state={tmp_path}/state"

    def waits(name):
        return {"type": "WaitFor", "name": name, "child": {"type": "PathExists", "path": str(tmp_path / name)}}

    def attach(*more):
        process = begin(btd, "start", "boot", "--attach", "--wait", *more, env={"NOTIFY_SOCKET": notifications.path})
        notifications.wait("STATUS=boot.1: waits for Boot/All/A and 1 more")
        return process

    btd.tree("boot", {"type": "Sequence", "name": "Boot", "children": [
        {"type": "Parallel", "name": "All", "children": [waits("A"), waits("AB")]}, waits("C"), waits("D")]})
    btd.start(*options)
    first = attach()
    second = attach("--follow")
    (tmp_path / "A").touch()
    for _ in range(2):
        notifications.wait("STATUS=boot.1: waits for Boot/All/AB")
    btd.stop(signal.SIGKILL)
    for _ in range(2):
        notifications.wait("STATUS=boot.1: cannot reach btd; waiting for it")
    btd.start(*options)
    for _ in range(2):
        notifications.wait("STATUS=boot.1: waits for Boot/All/AB")
    (tmp_path / "AB").touch()
    for _ in range(2):
        notifications.wait("STATUS=boot.1: waits for Boot/C")
    for name in "CD":
        (tmp_path / name).touch()
    # systemd has to take what btctl has sent last, or btctl waits for that.
    wait(lambda: notifications.lines.count("BARRIER=1") == 2, "both barriers")
    assert notifications.lines.count("STATUS=boot.1: success") == 2
    for process in first, second:
        assert end(process)[0] == 0


def of_a_user(btd, directory):
    """btctl and the start of a btd that have a runtime directory of their own, on the bus of the test."""
    env = {"XDG_RUNTIME_DIR": str(directory), "XDG_STATE_HOME": str(directory / "state"),
           "DBUS_SESSION_BUS_ADDRESS": btd.bus.address}

    def btctl(*arguments):
        return run([BTCTL, "--user", *arguments], {**SANITIZER_ENV, **env})

    return btctl, lambda: btd.start("--user", env=env, bus=False), {**os.environ, **SANITIZER_ENV, **env}


def test_halt_while_there_is_no_daemon(btd, tmp_path):
    """The next btd halts only the runs with the token; with --address, no request can be stored."""
    btctl, start, env = of_a_user(btd, tmp_path)
    nothing = "btd is not running; when it starts, it halts the runs that were started with the token\n"
    assert btd.btctl("halt", "boot", "--token=mine").returncode == 5
    assert btctl("halt", "boot", "--token=mine") == (0, "", "")
    btd.tree("boot", LONG)
    start()
    for instance, token in (("a", "mine"), ("b", "yours"), ("c", "theirs")):
        assert btctl("start", f"boot@{instance}", "--token=" + token).returncode == 0
    btd.stop(signal.SIGKILL)
    assert btctl("halt", "boot", "--token=mine", "--wait") == (0, nothing, "")
    assert btctl("halt", "boot@x", "--token=yours", "--wait") == (0, nothing, "")
    assert btctl("halt", "boot@c", "--token=theirs", "--quiet") == (0, "", "")
    assert btctl("halt", "boot", "--token=a/b").stderr.startswith(
        "btctl: 'a/b' cannot be a token; it consists of letters, digits, '_', '.' and '-', 50 at most\n")
    assert btctl("halt", "b/t", "--token=mine").stderr.startswith(
        "btctl: 'b/t' cannot be the name of a tree; it consists of letters, digits, '_' and '-', 100 at most\n")
    start()
    wait(lambda: btd.log().count("halted after") == 2, "both halts")
    assert [(row.instance, row.status) for row in btd.client.runs()] \
        == [("a", "halted"), ("b", "running"), ("c", "halted")]
    assert "halted by UID" in btctl("status", "boot.1").stdout
    assert "while btd was not running" in btctl("status", "boot.1").stdout
    assert list((tmp_path / "btd").glob("halts/*")) == []  # it is made for the first request that has to wait
    assert btctl("halt", "boot", "--wait").returncode == 0


def test_halt_while_the_bus_is_away(btd_own_bus, tmp_path):
    """btd runs all the time, and reads the request when it is on the bus again."""
    btd = btd_own_bus
    btctl, start, env = of_a_user(btd, tmp_path)
    btd.tree("boot", LONG)
    start()
    for instance, token in (("a", "mine"), ("b", "yours")):
        assert btctl("start", f"boot@{instance}", "--token=" + token).returncode == 0
    btd.bus.stop()
    status, output, error = btctl("halt", "boot", "--token=mine", "--wait")
    assert (status, output) == (
        0, "btd is not on the bus; when it is back, it halts the runs that were started with the token\n")
    assert error.startswith("btctl: cannot connect to the user's session bus: ")
    assert btd.btctl("halt", "boot", "--token=mine").returncode == 5

    btd.bus.start()
    btd.client = Client(btd.bus.address)
    btd.wait_ready()
    assert btctl("halt", "boot", "--token=mine", "--wait").returncode == 0
    assert [(row.instance, row.status) for row in btd.client.runs()] == [("a", "halted"), ("b", "running")]
    assert "while btd was not on the bus" in btctl("status", "boot.1").stdout
    assert list((tmp_path / "btd").glob("halts/*")) == []  # it is made for the first request that has to wait


@pytest.mark.both_buses("a dbus-broker that exits may signal first that btd has exited")
def test_halt_while_the_bus_is_restarted(btd_own_bus, tmp_path):
    """Wherever that meets btctl and btd, the run is halted, once, and no request is left over for another run. The pauses
    spread the moments; there is no event to wait for in these."""
    btd = btd_own_bus
    btctl, start, env = of_a_user(btd, tmp_path)
    btd.tree("boot", LONG)
    start()
    for i in range(15):
        assert btctl("start", "boot", f"--token=t{i}").returncode == 0
        halting = []
        for k in range(3):
            time.sleep(0.003 * k)
            halting.append(subprocess.Popen([BTCTL, "--user", "halt", "boot", f"--token=t{i}"], env=env,
                                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
            if k == i % 3:
                btd.bus.stop()
                time.sleep(0.004 * (i % 5))
                btd.bus.start()
        assert [process.wait(PATIENCE) for process in halting] == [0, 0, 0]
        btd.client.close()
        btd.client = Client(btd.bus.address)
        btd.wait_ready()
        assert btctl("halt", "boot", f"--token=t{i}", "--wait").returncode == 0  # another one does no harm
        [row] = [row for row in btd.client.runs() if row.status != "running"]
        assert row.status == "halted"
        assert btd.log().count("halted after") == i + 1
    assert list((tmp_path / "btd").glob("halts/*")) == []  # it is made for the first request that has to wait


def test_follow(btd):
    btd.tree("boot", BAD)
    btd.start()
    result = btd.btctl("start", "boot", "--follow", env=UTF8)
    assert result.returncode == 1
    lines = without_times(result.stdout).splitlines()
    events = [re.fullmatch(r" +\d+\.\d{3}s (.*)", line)[1] for line in lines]
    assert events.pop() == "✗ boot.1: failure after T: Boot/LoadConfig: exited with status 3"
    assert re.fullmatch(r"» boot\.1: started by UID \d+ \(btctl\)", events[0])
    assert events[1] == "● Boot: running"
    assert events[-1] == "✗ Boot: failure after T: LoadConfig: exited with status 3"
    order = [next(i for i, event in enumerate(events) if event.startswith(beginning)) for beginning in (
        "✓ Boot/AlwaysSuccess: success", "● Boot/Not/Work: running", "✗ Boot/Not/Work: failure",
        "● Boot/LoadConfig: running", "✗ Boot/LoadConfig: failure")]
    assert order == sorted(order)


def test_follow_names_the_run_of_several_instances(btd, tmp_path):
    btd.tree("boot", {"type": "Sleep", "duration": "1h"})
    btd.start(f"--runtime={tmp_path}/run", f"--state={tmp_path}/state")
    for instance, runs in ("one", [1]), ("two", [1, 2]):
        btd.client.start("boot", instance)
        following = begin(btd, "follow", "boot")
        lines = [following.stdout.readline() for _ in range(2 * len(runs))]
        following.terminate()
        end(following)
        assert [re.sub(r" +[0-9.]+s ", "", line) for line in lines[1::2]] \
            == [f"boot.{run} ● Sleep: running\n" if len(runs) > 1 else "● Sleep: running\n" for run in runs]


def test_follow_for_programs(btd):
    btd.tree("boot", GOOD)
    btd.start()
    result = btd.btctl("start", "boot", "--follow", "--json")
    assert result.returncode == 0
    events = [json.loads(line) for line in result.stdout.splitlines()]
    assert {event["run"] for event in events} == {"boot.1"}
    assert [event["number"] for event in events] == list(range(1, len(events) + 1))
    assert events[-1]["event"] == "success" and "path" not in events[-1]
    assert len({event["time_usec"] - event["offset_usec"] for event in events}) == 1
    last = {event["path"]: event["event"] for event in events if "path" in event}
    assert last == {"Boot": "success", "Boot/Greet": "success", "Boot/Work": "success"}


def test_instances_with_dots(btd):
    """Only a dot before any '@' makes the name of a run."""
    btd.tree("net", LONG)
    btd.start()
    assert btd.btctl("start", "net@eth0.100").stdout == "net.1\n"
    for verb in (["status"], ["show", "--json"], ["replay"], ["plot"], ["get"]):
        result = btd.btctl(*verb, "net@eth0.100")
        assert "no run 'net@" not in result.stderr and "is in the history" not in result.stderr
    assert "net.1 (eth0.100): running" in btd.btctl("status", "net@eth0.100").stdout
    assert "net.1: halted" in btd.btctl("halt", "net@eth0.100", "--wait").stdout
    assert btd.btctl("start", "net@eth0.100", "--token=t.1").stdout == "net.2\n"
    assert "net.2: halted" in btd.btctl("halt", "net@eth0.100", "--token=t.1", "--wait").stdout


def test_any_text_is_an_instance(btd):
    """The tree gets it; in lists, and on the bus, its odd characters are escaped."""
    btd.tree("net", {"type": "Sequence", "children": [
        {"type": "Script", "code": "mine = unit_escape(instance)"}, LONG]})
    btd.start()
    for text, name, unit in (("usb-front", "usb-front", "usb\\x2dfront"), ("a b/ü", "a\\x20b\\x2f\\xc3\\xbc",
                                                                          "a\\x20b-\\xc3\\xbc")):
        run = btd.btctl("start", f"net@{text}").stdout.strip()
        assert [row.instance for row in btd.client.runs() if row.id == run] == [name]
        for operand in (f"net@{text}", f"net@{name}"):
            assert f"{run} ({name}): running" in btd.btctl("status", operand).stdout
            assert json.loads(btd.btctl("get", operand, "instance").stdout) == text
            assert json.loads(btd.btctl("get", operand, "mine").stdout) == unit
        assert f"{run}: halted" in btd.btctl("halt", "--unescape", f"net@{unit}", "--wait").stdout


def test_several_names(btd):
    for name in ("a", "b", "c"):
        btd.tree(name, LONG)
    btd.start()
    assert btd.btctl("start", "a", "b@x", "c") == (0, "a.1\nb.1\nc.1\n", "")
    output = btd.btctl("halt", "a.1", "b@x", "--wait").stdout
    assert {line.split()[1] for line in output.splitlines()} == {"a.1:", "b.1:"}
    assert btd.btctl("start", "a", "gone", "b") \
        == (1, "a.2\nb.2\n", "btctl: no tree 'gone'; 'btctl list' shows the trees\n")
    assert btd.btctl("start", "b", "c", "--set", "n=1") == (
        1, "", "".join(f"btctl: tree '{name}': no input 'n'; only variables that the file has in 'inputs' or "
                       "'blackboard' can be given\n" for name in ("b", "c")))
    result = btd.btctl("stop", "a", "gone", "b", "--wait")
    assert result.returncode == 1 and "no tree 'gone'" in result.stderr
    assert {line.split()[1] for line in result.stdout.splitlines()} == {"a.2:", "b.2:"}
    assert btd.btctl("start", "a", "b", "--token=mine").returncode == 0
    assert btd.btctl("halt", "a", "b", "c", "--token=mine", "--wait").stdout.count(": halted") == 2
    assert btd.btctl("stop", "c").returncode == 0
    assert {row.status for row in btd.client.runs()} == {"halted"}


def test_reader_that_ends_early(btd):
    """It is no error if nobody reads the output any more; the exit status is that of the work."""
    btd.tree("boot", BAD)
    btd.tree("long", LONG)
    btd.start()

    def unread(*arguments):
        process = begin(btd, *arguments)
        process.stdout.close()
        return process

    assert [unread(*arguments).wait(PATIENCE) for arguments in (
        ["list"], ["types"], ["status"], ["start", "boot", "--follow"], ["start", "long"])] == [0, 0, 0, 1, 0]
    monitor = unread("monitor")
    while monitor.poll() is None:
        btd.client.finish(btd.client.start("boot")[1])
    assert monitor.returncode == 0


def test_halt(btd):
    btd.tree("boot", LONG)
    btd.start()
    for instance in ("", "eth0", "eth1", "eth2"):
        btd.client.start("boot", instance)

    one = btd.btctl("halt", "boot@eth0", "--wait", env=UTF8)
    assert one.returncode == 0 and re.fullmatch(r"■ boot.2: halted by .+\n", one.stdout), one.stdout
    assert btd.btctl("halt", "boot.3", "--wait", "--quiet") == (0, "", "")
    rest = btd.btctl("halt", "boot", "--wait", "--json")
    assert rest.returncode == 0
    assert {json.loads(line)["run"] for line in rest.stdout.splitlines()} == {"boot.1", "boot.4"}
    assert {row.status for row in btd.client.runs()} == {"halted"}

    for instance in ("eth0", "none"):
        assert btd.btctl("halt", f"boot@{instance}") \
            == (0, f"tree 'boot' is not running with the instance '{instance}'\n", "")
        assert btd.btctl("halt", f"boot@{instance}", "--wait", "--quiet") == (0, "", "")
    for arguments in ([], ["--wait"]):
        assert btd.btctl("halt", "boot", *arguments) == (0, "tree 'boot' is not running\n", "")
    assert btd.btctl("halt", "boot", "--quiet", "--wait") == (0, "", "")
    for arguments in ([], ["--wait"]):
        assert btd.btctl("halt", "boot.1", *arguments) == (0, "boot.1 has already finished: halted\n", "")
    assert btd.btctl("halt", "boot.1", "--wait", "--quiet") == (0, "", "")


def test_halt_of_a_daemon_that_is_restarted(btd, tmp_path):
    """Its end is told even if it came while nobody heard it."""
    options = f"--runtime={tmp_path}/run", f"--state={tmp_path}/state"
    btd.tree("boot", {"type": "Finally", "name": "Last", "children": [LONG, {
        "type": "WaitFor", "name": "Wait", "child": {"type": "PathExists", "path": "{gate}"}}]},
             blackboard={"gate": ""})
    btd.start(*options)
    btd.client.start("boot", "quick", {"gate": "/"})
    btd.client.start("boot", "slow", {"gate": f"{tmp_path}/go"})
    halting = begin(btd, "halt", "boot", "--wait")
    assert "boot.1: halted" in halting.stdout.readline()
    btd.stop(signal.SIGKILL)
    assert halting.stdout.readline() == "btctl: btd has exited; waiting for it to start again\n"
    btd.start(*options)
    assert halting.stdout.readline() == "btctl: btd was restarted; still waiting\n"
    btd.stop(signal.SIGKILL)
    assert halting.stdout.readline() == "btctl: btd has exited; waiting for it to start again\n"
    (tmp_path / "go").touch()
    btd.start(*options)
    status, output = end(halting)
    assert status == 0 and re.search(r"■ boot.2: halted.*\n$", output), output


def test_reload(btd):
    btd.tree("boot", GOOD)
    btd.start()
    assert btd.btctl("reload") == (0, "all trees are loaded\n", "")
    assert btd.btctl("reload", "-q") == (0, "", "")

    btd.tree("boot", {"type": "Sequenc", "children": [{"type": "AlwaysSuccess"}]})
    result = btd.btctl("reload")
    assert (result.returncode, result.stdout) == (1, "")
    [first, last] = result.stderr.splitlines()
    assert first.startswith(f"{btd.trees}/boot.json:") and "did you mean 'Sequence'?" in first
    assert last == "btctl: some files have errors; btd keeps the trees that it had loaded before"
    assert len(json.loads(btd.btctl("reload", "--json").stdout)["errors"]) == 1
    assert "boot  broken" in btd.btctl("list").stdout


def begin_monitor(btd, *arguments):
    """Causes events until the first line shows that the monitor is listening."""
    btd.tree("ping", {"type": "AlwaysSuccess"})
    btd.client.reload()
    monitor = begin(btd, "monitor", *arguments)
    while not select.select([monitor.stdout], [], [], 0)[0]:
        btd.client.finish(btd.client.start("ping")[1])
    return monitor


def test_monitor(btd):
    btd.tree("boot", BAD)
    btd.start()
    monitor = begin_monitor(btd)
    btd.client.reload()
    btd.client.finish(btd.client.start("boot")[1])

    lines = []
    while not lines or " boot.1: failure" not in lines[-1]:
        lines.append(monitor.stdout.readline())
    monitor.send_signal(signal.SIGINT)
    assert end(monitor)[0] == 0

    stamp = r"\d\d:\d\d:\d\d\.\d{3}"
    assert [line for line in lines if not re.match(stamp, line)] == []
    events = [re.sub(stamp + " ", "", without_times(line)) for line in lines if "ping" not in line]
    assert events[0] == "trees reloaded\n"
    assert events[1].startswith("» boot.1: started by UID ")
    assert "boot.1 ✗ Boot/LoadConfig: failure after T: exited with status 3\n" in events
    assert events[-1] == "✗ boot.1: failure after T: Boot/LoadConfig: exited with status 3\n"


def test_monitor_for_programs(btd):
    """The monitor knows the paths of nodes in runs that were already running."""
    btd.tree("boot", {"type": "Sequence", "name": "Boot", "children": [LONG]})
    btd.start()
    btd.client.start("boot")
    monitor = begin_monitor(btd, "--json")
    btd.client.halt_tree("boot")

    events = []
    while not events or events[-1]["run"] != "boot.1" or (events[-1]["event"], "path" in events[-1]) != ("halted", False):
        events.append(json.loads(monitor.stdout.readline()))
    monitor.send_signal(signal.SIGINT)
    assert end(monitor)[0] == 0

    halted = {event["path"] for event in events[:-1] if event["run"] == "boot.1" and event["event"] == "halted"}
    assert halted == {"Boot", "Boot/Long"}


def test_monitor_of_a_daemon_that_vanishes(btd, tmp_path):
    """The next one is watched, too."""
    options = f"--runtime={tmp_path}/run", f"--state={tmp_path}/state"
    btd.tree("boot", {"type": "Sequence", "name": "Boot", "children": [LONG]})
    btd.start(*options)
    btd.client.start("boot")
    monitor = begin_monitor(btd)
    btd.stop(signal.SIGKILL)
    while (line := monitor.stdout.readline()) != "btctl: btd has exited; waiting for it to start again\n":
        assert line
    btd.start(*options)
    assert monitor.stdout.readline() == "btctl: btd was restarted\n"
    # It may lack events of the runs that begin_monitor() has started.
    while not (line := monitor.stdout.readline()).endswith(" boot.1: recovered after btd was restarted\n"):
        assert " ping." in line
    btd.client.halt_tree("boot")
    lines = []
    while not lines or " boot.1: halted" not in lines[-1]:
        lines.append(monitor.stdout.readline())
        assert lines[-1]
    assert any("Boot/Long: halted" in line for line in lines)
    btd.stop(signal.SIGKILL)
    assert monitor.stdout.readline() == "btctl: btd has exited; waiting for it to start again\n"
    monitor.send_signal(signal.SIGINT)
    assert end(monitor) == (0, "")
