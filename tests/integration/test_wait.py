# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests btctl wait and restart, and what else waits for several runs: start --wait and halt --wait."""

import json
import signal

import pytest
from gi.repository import GLib

import buses
from btctl_runs import BAD, GOOD, LONG, UTF8, begin, btctl, end, wait_blocked, without_times
from client import DBusError, wait
from daemon import Daemon


def until(tmp_path, name="go"):
    """A tree that succeeds when the file is there."""
    return {"type": "WaitFor", "name": "Wait", "child": {"type": "PathExists", "path": f"{tmp_path}/{name}"}}


def durable(tmp_path):
    return f"--runtime={tmp_path}/run", f"--state={tmp_path}/state"


def begin_waiting(btd, *arguments):
    """Starts btctl, and returns when it waits for signals."""
    process = begin(btd, *arguments)
    wait_blocked(process, "epoll")
    return process


def test_wait_for_the_end(btd, tmp_path):
    btd.tree("boot", until(tmp_path))
    btd.start()
    assert btd.btctl("start", "boot").stdout == "boot.1\n"
    by_tree, by_run = begin_waiting(btd, "wait", "boot"), begin_waiting(btd, "wait", "boot.1", "--json")
    (tmp_path / "go").touch()
    status, output = end(by_tree)
    assert (status, without_times(output)) == (0, "✓ boot.1: success after T\n")
    assert btd.btctl("wait", "boot", env=UTF8).stdout == output
    status, output = end(by_run)
    assert status == 0
    assert json.loads(output) == {"id": "boot.1", "tree": "boot", "instance": "", "status": "success", "cause": ""}


def test_wait_for_what_is_over(btd, tmp_path):
    """The result comes at once: of the newest run, of one that is named, and of one that only the history has."""
    btd.tree("good", GOOD)
    btd.tree("bad", BAD)
    btd.start(*durable(tmp_path))
    assert btd.btctl("start", "bad", "--wait").returncode == 1
    assert btd.btctl("start", "good@x", "good@y", "--wait").returncode == 0
    for _ in range(2):
        result = btd.btctl("wait", "bad", env=UTF8)
        assert result.returncode == 1 and without_times(result.stdout).startswith("✗ bad.1: failure after T: ")
        assert btd.btctl("wait", "good", env=UTF8).stdout.startswith("✓ good.2: success after ")
        assert btd.btctl("wait", "good@x", env=UTF8).stdout.startswith("✓ good.1: success after ")
        result = btd.btctl("wait", "good.1", "bad.1", "good.2", env=UTF8)
        assert result.returncode == 1 and [line.split()[1] for line in result.stdout.splitlines()] \
            == ["good.1:", "bad.1:", "good.2:"]
        assert btd.btctl("wait", "good.1", "bad.1", "-q") == (1, "", "")
        # The next btd has them in its history only.
        assert btd.stop() == 0
        btd.start(*durable(tmp_path))


@pytest.mark.parametrize("operand, told", [
    ("gone", "no tree 'gone'; 'btctl list' shows the trees"),
    ("gone@x", "no tree 'gone'; 'btctl list' shows the trees"),
    ("boot", "'boot' has not run yet"),
    ("boot@x", "'boot@x' has not run yet"),
    ("boot.7", "no run 'boot.7'; 'btctl list' shows the runs"),
])
def test_wait_for_what_is_not_there(btd, operand, told):
    btd.tree("boot", GOOD)
    btd.tree("net", GOOD)
    btd.start()
    assert btd.btctl("start", "net", "--wait").returncode == 0
    assert btd.btctl("wait", operand) == (1, "", f"btctl: {told}\n")
    result = btd.btctl("wait", operand, "net")
    assert result.returncode == 1 and "net.1: success" in result.stdout and result.stderr == f"btctl: {told}\n"


def test_wait_for_several(btd, tmp_path):
    """All instances that run; the exit status is that of the first operand that did not succeed."""
    btd.tree("net", until(tmp_path))
    btd.tree("long", LONG)
    btd.start()
    assert btd.btctl("start", "net@a", "net@b", "net@c", "long").returncode == 0
    assert btd.btctl("halt", "net@c", "--wait").returncode == 0
    waiting = begin_waiting(btd, "wait", "net", "long")
    (tmp_path / "go").touch()
    assert {waiting.stdout.readline().split()[1] for _ in range(2)} == {"net.1:", "net.2:"}
    assert btd.btctl("halt", "long").returncode == 0
    status, output = end(waiting)
    assert status == 3 and output.startswith("■ long.1: halted")


def test_wait_for_what_follows(btd):
    """A tree is waited for with its restarts; a run that is named, or with --once, alone."""
    btd.tree("again", {"type": "Sequence", "children": [
        {"type": "Sleep", "duration": "1h", "while": "closed"}, {"type": "AlwaysFailure", "name": "Never"}]},
        blackboard={"closed": True}, restart="on-failure", restart_backoff={"initial": "10ms"},
        restart_limit={"burst": 2, "interval": "1h"})
    btd.start()
    assert btd.btctl("start", "again").returncode == 0
    waiting = [begin_waiting(btd, "wait", *what) for what in (["again"], ["again", "--once"], ["again.1"])]
    seen = ""
    for number in range(1, 4):  # no run ends before all have seen that it is there
        assert btd.btctl("set", f"again.{number}", "closed=false").returncode == 0
        while number < 3 and f"again.{number + 1}: started" not in seen:
            line = waiting[0].stdout.readline()
            assert line, seen
            seen += line
    told = [end(process) for process in waiting]
    assert [status for status, _ in told] == [1, 1, 1]
    told[0] = 1, seen + told[0][1]
    lines = [[line.split(" after")[0] for line in output.splitlines()] for _, output in told]
    assert lines == [["✗ again.1: failure", "» again.2: started", "✗ again.2: failure", "» again.3: started",
                      "✗ again.3: failure"], ["✗ again.1: failure"], ["✗ again.1: failure"]]


def outcome(replies):
    [[result]] = wait(lambda: replies, "the reply")
    return result["id"], result["status"], result["cause"], result["restarting"]


def test_the_method_wait(btd, tmp_path):
    """It replies at the end of the last run that follows; for one run, at the end of that. The calls that wait do not
    count with others of the caller, and the next btd answers them when they are repeated."""
    btd.tree("again", {"type": "Sequence", "children": [until(tmp_path), {"type": "AlwaysFailure"}]}, restart="on-failure",
             restart_backoff={"initial": "1h", "max": "1h"})
    btd.tree("net", until(tmp_path, "net"))
    btd.start(*durable(tmp_path), "--limit=calls-of-a-caller=2")
    btd.client.start("again")
    btd.client.start("net", token="mine", instance="x")

    def calls():
        return btd.client.begin("Wait", "(ssa{sv})", "again", "again.1", {}), btd.client.begin("WaitRun", "(sa{sv})", "again.1", {})
    series, one = calls()
    assert btd.client.runs() and not series and not one
    more = btd.client.begin("WaitRun", "(sa{sv})", "net.1", {})
    wait(lambda: series, "the reply")
    assert "LimitExceeded" in series[0] and not one and not more

    btd.stop(signal.SIGKILL)
    wait(lambda: one and more, "the replies")
    assert isinstance(one[0], str) and isinstance(more[0], str)
    btd.start(*durable(tmp_path))
    series, one = calls()
    (tmp_path / "go").touch()
    assert outcome(one)[:2] == ("again.1", "failure") and not series
    assert outcome(btd.client.begin("WaitRun", "(sa{sv})", "again.1", {}))[3] is True
    btd.client.manager("HaltRun", "sa{sv}", "again.1", {})
    assert outcome(series)[3] is False

    named = btd.client.begin("Wait", "(ssa{sv})", "net", "mine", {"instance": GLib.Variant("s", "x")})
    (tmp_path / "net").touch()
    assert outcome(named) == ("net.1", "success", "", False)
    assert outcome(btd.client.begin("Wait", "(ssa{sv})", "net", "mine", {"instance": GLib.Variant("s", "x")}))[1] == "success"
    btd.client.start("net", instance="x")
    assert outcome(btd.client.begin("WaitRun", "(sa{sv})", "net.1", {})) == ("net.1", "success", "", False)
    for method, signature, arguments in ("Wait", "ssa{sv}", ("net", "never", {})), ("WaitRun", "sa{sv}", ("net.99", {})):
        with pytest.raises(DBusError, match="NoSuchRun"):
            btd.client.manager(method, signature, *arguments)


def test_outputs(btd, tmp_path):
    """The values of the declared outputs are told with the end of a run: by each call, by its last event and by btctl,
    also if only the history has the run. A wrong type is an error of the tree, and those without room are counted."""
    btd.tree("sum", {"type": "Sequence", "children": [
        {"type": "Script", "code": "sum = n + 1; if n == 4 then sum = 'five' elseif n == 5 then text = ('x'):rep(20000) end; "
                                   "if n == 6 then never = 1 end"},
        {"type": "Condition", "test": "n ~= 3"}]},
        inputs={"n": "int"}, outputs={"sum": {"type": "int", "description": "n and 1"}, "text": "string", "never": "any"},
        blackboard={"text": "a"})
    btd.start(*durable(tmp_path))
    assert btd.client.get("/org/btd1/tree/sum", "org.btd1.Tree", "Outputs") == [
        {"name": "sum", "type": "int", "description": "n and 1"}, {"name": "text", "type": "string"}, {"name": "never", "type": "any"}]

    expected = {1: {"outputs": {"sum": 2, "text": "a"}}, 3: {"outputs": {"sum": 4, "text": "a"}}, 4: {},
                5: {"outputs": {"sum": 6}, "more_outputs": 1}}
    for number, n in enumerate(expected, 1):
        result = json.loads(btd.btctl("start", "sum", f"--set=n={n}", f"--token=t{n}", "--wait", "--json").stdout)
        assert result.get("outputs") == expected[n].get("outputs")
        last = btd.client.manager("GetEvents", "st", f"sum.{number}", 0)[-1]
        assert last.get("variables") == expected[n].get("outputs") and "node" not in last

    def check():
        for number, n in enumerate(expected, 1):
            for method, signature, arguments in (
                    ("WaitRun", "sa{sv}", (f"sum.{number}", {})), ("Wait", "ssa{sv}", ("sum", f"t{n}", {})),
                    ("GetOutcome", "ssa{sv}", ("sum", f"t{n}", {}))):
                told = btd.client.manager(method, signature, *arguments)
                assert {key: told[key] for key in told if "outputs" in key} == expected[n], (method, n)
                assert told["status"] == {1: "success", 3: "failure", 4: "error", 5: "success"}[n]
    check()
    assert '  Outputs: sum=6\n' in btd.btctl("status", "sum.4").stdout
    btd.stop(signal.SIGKILL)
    btd.start(*durable(tmp_path))
    check()
    assert '  Outputs: sum=2\n           text="a"\n' in btd.btctl("status", "sum.1").stdout
    assert btd.btctl("show", "sum.1").stdout.rstrip().endswith(', sum=2, text="a"')
    btd.stop()
    told = json.loads(btctl("status", "sum.1", "--json", f"--directory={tmp_path}/state").stdout)
    assert told["outputs"] == expected[1]["outputs"]


def test_wait_for_a_restart(btd):
    """A run that has finished is not over if another one follows."""
    btd.tree("again", {"type": "AlwaysFailure"}, restart="on-failure", restart_backoff={"initial": "1h", "max": "1h"})
    btd.start()
    assert btd.btctl("start", "again", "--wait", "--once").returncode == 1
    assert btd.btctl("wait", "again", "--once", "--quiet").returncode == 1
    waiting = begin_waiting(btd, "wait", "again")
    assert btd.btctl("halt", "again").returncode == 0
    status, output = end(waiting)
    assert status == 1 and output.startswith("✗ again.1: failure")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_wait_that_is_interrupted(btd, number):
    btd.tree("boot", LONG)
    btd.start()
    assert btd.btctl("start", "boot@a", "boot@b").returncode == 0
    waiting = begin_waiting(btd, "wait", "boot")
    waiting.send_signal(number)
    assert end(waiting) == (128 + number, "btctl: stopped waiting; boot.1 continues\n"
                                          "btctl: stopped waiting; boot.2 continues\n")


# The next btd


def kill_twice(btd, waiting, tmp_path):
    """What is awaited can finish when btctl cannot be told."""
    btd.stop(signal.SIGKILL)
    assert waiting.stdout.readline() == "btctl: btd has exited; waiting for it to start again\n"
    btd.start(*durable(tmp_path))
    assert waiting.stdout.readline() == "btctl: btd was restarted; still waiting\n"
    btd.stop(signal.SIGKILL)
    assert waiting.stdout.readline() == "btctl: btd has exited; waiting for it to start again\n"
    (tmp_path / "go").touch()
    btd.start(*durable(tmp_path))


def test_wait_outlasts_the_daemon(btd, tmp_path):
    """Also if the run finishes while btctl cannot be told."""
    btd.tree("boot", until(tmp_path))
    btd.start(*durable(tmp_path))
    assert btd.btctl("start", "boot@a", "boot@b").returncode == 0
    waiting = begin_waiting(btd, "wait", "boot.1", "boot@b")
    kill_twice(btd, waiting, tmp_path)
    status, output = end(waiting)
    assert status == 0 and output.count("success after") == 2


def test_wait_without_the_run(btd, tmp_path):
    btd.tree("boot", LONG)
    btd.start(*durable(tmp_path))
    assert btd.btctl("start", "boot@a", "boot@b").returncode == 0
    waiting = [begin_waiting(btd, "wait", what) for what in ("boot.1", "boot@a")]
    btd.stop(signal.SIGKILL)
    (tmp_path / "run/runs/boot.1.journal").write_text("what?\n")
    btd.start(*durable(tmp_path))
    for process in waiting:
        assert end(process) == (5, "btctl: btd has exited; waiting for it to start again\n"
                                   "btctl: btd was restarted, but has not recovered boot.1; see its log\n")


def test_wait_for_what_ends_with_the_daemon(btd):
    btd.tree("boot", LONG)
    btd.start()
    assert btd.btctl("start", "boot").returncode == 0
    waiting = begin_waiting(btd, "wait", "boot")
    btd.stop(signal.SIGKILL)
    assert end(waiting) == (5, "btctl: btd has exited\n")


def test_waiting_does_not_start_the_daemon(tmp_path):
    """A slow btctl reads the end of a run after btd was stopped, and asks what follows: D-Bus could start btd."""
    services = tmp_path / "services"
    services.mkdir()
    (services / "org.btd1.service").write_text(f"[D-BUS Service]\nName=org.btd1\nExec=/usr/bin/touch {tmp_path}/made\n")
    bus = buses.Bus("dbus-daemon", f"<servicedir>{services}</servicedir>")
    btd = Daemon(bus, str(tmp_path))
    try:
        btd.tree("boot", {"type": "Sequence", "children": [until(tmp_path), BAD]})
        btd.start()
        assert btd.btctl("start", "boot").returncode == 0
        waiting = [begin_waiting(btd, *verb) for verb in (["wait", "boot"], ["start", "boot", "--attach", "--wait"])]
        for process in waiting:
            process.send_signal(signal.SIGSTOP)
        (tmp_path / "go").touch()
        assert btd.btctl("wait", "boot").returncode == 1
        btd.stop()
        for process in waiting:
            process.send_signal(signal.SIGCONT)
            status, output = end(process)
            assert status == 5 and without_times(output).splitlines()[-1] == "btctl: btd has exited"
        assert not (tmp_path / "made").exists()
    finally:
        btd.close()
        bus.close()


def slowly_halted(tmp_path):
    """A tree whose halt takes until the file "go" is there."""
    return {"type": "Finally", "name": "Clean", "children": [{"type": "Sleep", "duration": "1h"}, until(tmp_path)]}


@pytest.mark.both_buses("a dbus-broker that exits may signal first that btd has exited")
@pytest.mark.parametrize("verb, tree, told", [
    (["wait"], until, "success after"),
    (["halt", "--wait"], slowly_halted, "halted by"),
])
def test_waiting_outlasts_the_bus(btd_own_bus, tmp_path, verb, tree, told):
    btd = btd_own_bus
    btd.tree("boot", tree(tmp_path))
    btd.start(*durable(tmp_path))
    assert btd.btctl("start", "boot").returncode == 0
    waiting = begin_waiting(btd, *verb, "boot")
    btd.bus.stop()
    while (line := waiting.stdout.readline()) != "btctl: the connection to the bus was lost; reconnecting\n":
        assert line
    btd.bus.start()
    # Either of the two may be the first on the bus again.
    assert waiting.stdout.readline() in ("btctl: reconnected to the bus; still waiting\n",
                                         "btctl: btd was restarted; still waiting\n")
    (tmp_path / "go").touch()
    status, output = end(waiting)
    assert status == 0 and told in output


def test_halt_outlasts_the_daemon(btd, tmp_path):
    """The next btd continues to halt, and btctl prints the end also if it was not told."""
    btd.tree("boot", slowly_halted(tmp_path))
    btd.start(*durable(tmp_path))
    assert btd.btctl("start", "boot@a", "boot@b").returncode == 0
    waiting = begin_waiting(btd, "halt", "boot", "--wait")
    kill_twice(btd, waiting, tmp_path)
    status, output = end(waiting)
    assert status == 0 and output.count(": halted by") == 2


# start --wait with several trees


def test_start_several_and_wait(btd):
    btd.tree("good", GOOD)
    btd.tree("bad", BAD)
    btd.start()
    result = btd.btctl("start", "good", "bad", "good@x", "--wait", env=UTF8)
    assert result.returncode == 1
    assert {line.split(" after")[0] for line in result.stdout.splitlines()} \
        == {"✓ good.1: success", "✗ bad.1: failure", "✓ good.2: success"}
    result = btd.btctl("start", "good", "gone", "bad", "--wait", "--json")
    assert result.returncode == 1 and result.stderr.startswith("btctl: no tree 'gone'")
    assert {(run["id"], run["status"]) for run in map(json.loads, result.stdout.splitlines())} \
        == {("good.3", "success"), ("bad.2", "failure")}


# restart


def test_restart_with_the_same_inputs(btd, tmp_path):
    btd.tree("net", LONG, inputs={"name": "string", "n": {"type": "int", "default": 1}})
    btd.start(*durable(tmp_path))
    given = "--set", "name=\"eth0 'x' \\u00fc\"", "--set=n=2"
    assert btd.btctl("start", "net", *given).returncode == 0
    values = btd.btctl("get", "net.1").stdout
    assert btd.btctl("restart", "net") == (0, "net.2\n", "")
    assert btd.btctl("get", "net.2").stdout == values
    assert json.loads(btd.btctl("restart", "net.2", "--set=n=3", "--json").stdout) \
        == {"id": "net.3", "tree": "net", "instance": ""}
    assert btd.btctl("get", "net.3").stdout == values.replace("n=2", "n=3")
    # A run that has finished, and one that only the history has.
    assert btd.btctl("halt", "net", "--wait").returncode == 0
    assert btd.btctl("restart", "net.1") == (0, "net.4\n", "")
    assert btd.btctl("get", "net.4").stdout == values
    assert [row.id for row in btd.client.runs() if row.status == "running"] == ["net.4"]


def test_restart_starts_what_does_not_run(btd):
    btd.tree("boot", LONG)
    btd.start()
    assert btd.btctl("restart", "boot") == (0, "boot.1\n", "")
    assert btd.btctl("restart", "boot@x") == (0, "boot.2\n", "")
    assert [row.status for row in btd.client.runs()] == ["running"] * 2


def test_restart_of_what_is_named_twice(btd, tmp_path):
    btd.tree("boot", LONG)
    btd.start(*durable(tmp_path))
    assert btd.btctl("restart", "boot", "boot") == (0, "boot.1\n", "")
    assert btd.btctl("restart", "boot", "boot.1", "boot@") == (0, "boot.2\n", "")
    assert [row.id for row in btd.client.runs() if row.status == "running"] == ["boot.2"]


def test_restart_of_instances(btd, tmp_path):
    btd.tree("net", LONG)
    btd.start(*durable(tmp_path))
    assert btd.btctl("start", "net@a", "net@b", "net@c").returncode == 0
    assert btd.btctl("restart", "net@b") == (0, "net.4\n", "")
    result = btd.btctl("restart", "net")
    assert (result.returncode, sorted(result.stdout.split()), result.stderr) == (0, ["net.5", "net.6", "net.7"], "")
    running = {row.instance: row.id for row in btd.client.runs() if row.status == "running"}
    assert running.keys() == {"a", "b", "c"} and set(running.values()) == {"net.5", "net.6", "net.7"}


def test_restart_waits_for_the_halt(btd, tmp_path):
    btd.tree("boot", slowly_halted(tmp_path))
    btd.start(*durable(tmp_path))
    assert btd.btctl("start", "boot").returncode == 0
    waiting = begin_waiting(btd, "restart", "boot")
    assert [row.id for row in btd.client.runs()] == ["boot.1"]
    (tmp_path / "go").touch()
    assert end(waiting) == (0, "boot.2\n")


@pytest.mark.parametrize("options", [["--wait"], ["--follow"]])
def test_restart_and_wait(btd, tmp_path, options):
    btd.tree("boot", until(tmp_path))
    btd.start(*durable(tmp_path))
    assert btd.btctl("start", "boot").returncode == 0
    btd.client.subscribe("org.btd1.Manager", "RunNew")
    waiting = begin(btd, "restart", "boot", *options)
    btd.client.wait_signal("RunNew")
    (tmp_path / "go").touch()
    status, output = end(waiting)
    assert status == 0 and "✓ boot.2: success after" in output.splitlines()[-1]


def test_restart_of_several_and_wait(btd, tmp_path):
    btd.tree("good", GOOD)
    btd.tree("bad", BAD)
    btd.start(*durable(tmp_path))
    result = btd.btctl("restart", "good", "bad", "--wait", env=UTF8)
    assert result.returncode == 1 and {line.split(" after")[0] for line in result.stdout.splitlines()} \
        == {"✓ good.1: success", "✗ bad.1: failure"}


@pytest.mark.parametrize("arguments, status, told", [
    (["gone"], 1, "no tree 'gone'; 'btctl list' shows the trees"),
    (["boot.9"], 1, "no run 'boot.9'; did you mean 'boot.1'?"),
    (["boot", "--set", "n"], 2, "--set n: the value is missing; give --set KEY=JSON"),
    (["boot", "--once"], 2, "'--once' needs --wait or --follow"),
    (["boot", "--follow"], 2, "'--follow' takes one run, but the operands name 2 runs"),
])
def test_restart_that_is_wrong(btd, tmp_path, arguments, status, told):
    btd.tree("boot", LONG)
    btd.start(*durable(tmp_path))
    assert btd.btctl("start", "boot@a", "boot@b").returncode == 0
    hint = "Try 'btctl --help'.\n" if status == 2 else ""
    assert btd.btctl("restart", *arguments) == (status, "", f"btctl: {told}\n{hint}")
    assert [row.status for row in btd.client.runs()] == ["running"] * 2


def test_restart_of_what_could_not_be_started(btd, tmp_path):
    """Nothing is halted then."""
    path = btd.tree("boot", LONG)
    btd.start(*durable(tmp_path))
    assert btd.btctl("start", "boot").returncode == 0
    with open(path, "w", encoding="utf-8") as file:
        file.write("{}")
    with open(tmp_path / "adhoc.json", "w", encoding="utf-8") as file:
        json.dump({"btd": 1, "root": LONG}, file)
    assert btd.btctl("run", str(tmp_path / "adhoc.json")).stdout == "adhoc.1\n"
    assert btd.btctl("restart", "adhoc") == (
        1, "", "btctl: tree 'adhoc' has no file, so adhoc.1 is not restarted; use 'btctl run'\n")
    btd.stop(signal.SIGKILL)
    btd.start(*durable(tmp_path))
    assert btd.btctl("restart", "boot") == (
        1, "", "btctl: tree 'boot' has errors, so boot.1 is not restarted; see 'btctl status boot'\n")
    assert [row.status for row in btd.client.runs()] == ["running"] * 2


def test_restart_with_a_damaged_run_record(btd, tmp_path):
    btd.tree("boot", LONG)
    btd.start(*durable(tmp_path))
    assert btd.btctl("start", "boot").returncode == 0
    path = tmp_path / "run/runs/boot.1.journal"
    path.write_bytes(b"btd-journal x\n" + path.read_bytes())
    result = btd.btctl("restart", "boot")
    assert result.returncode == 1 and result.stderr.startswith("btctl: the inputs of boot.1 cannot be read: ")
    assert btd.client.runs()[0].status == "running"


def test_restart_without_a_run_record(btd):
    btd.tree("boot", LONG)
    btd.start()
    assert btd.btctl("start", "boot").returncode == 0
    assert btd.btctl("restart", "boot") == (
        1, "", "btctl: run 'boot.1' has no run record, because btd was started without --runtime=\n")
    assert btd.client.runs()[0].status == "running"


def test_a_mistake_costs_no_run(btd, tmp_path):
    btd.tree("boot", LONG, inputs={"n": {"type": "int", "default": 1}}, blackboard={"m": 1})
    btd.start(*durable(tmp_path))
    assert btd.btctl("start", "boot").returncode == 0
    assert btd.btctl("restart", "boot", '--set=n="x"') == (
        1, "", "btctl: tree 'boot': expected a whole number for 'n', but got \"x\", so boot.1 is not restarted\n")
    assert btd.btctl("restart", "boot", "--set=x=1").stderr == "btctl: boot.1 has no variable 'x'\n"
    assert [row.status for row in btd.client.runs()] == ["running"]
    assert btd.btctl("restart", "boot", "--set=n=2", "--set=m=2").returncode == 0
    assert [row.status for row in btd.client.runs()] == ["running"]


def test_restart_that_is_not_started_again(btd, tmp_path):
    """The inputs of the tree were changed."""
    btd.tree("boot", LONG, inputs={"n": "int"})
    btd.start(*durable(tmp_path))
    assert btd.btctl("start", "boot", "--set=n=1").returncode == 0
    btd.tree("boot", LONG, inputs={"m": "int"})
    assert btd.btctl("reload").returncode == 0
    result = btd.btctl("restart", "boot")
    assert result.returncode == 1 and result.stdout == ""
    assert result.stderr.splitlines()[-1] == "btctl: boot.1 was halted, but was not started again"
    assert [row.status for row in btd.client.runs()] == ["halted"]


def test_restart_that_is_interrupted(btd, tmp_path):
    btd.tree("boot", slowly_halted(tmp_path))
    btd.start(*durable(tmp_path))
    assert btd.btctl("start", "boot").returncode == 0
    waiting = begin_waiting(btd, "restart", "boot")
    waiting.send_signal(signal.SIGINT)
    assert end(waiting) == (130, "btctl: stopped waiting; 'boot.1' is still halting\n"
                                 "btctl: 'boot.1' is not started again\n")
    (tmp_path / "go").touch()
    btd.client.finish(btd.client.manager("GetRun", "s", "boot.1"))


def test_restart_outlasts_the_daemon(btd, tmp_path):
    btd.tree("boot", slowly_halted(tmp_path))
    btd.start(*durable(tmp_path))
    assert btd.btctl("start", "boot").returncode == 0
    waiting = begin_waiting(btd, "restart", "boot")
    btd.stop(signal.SIGKILL)
    assert waiting.stdout.readline() == "btctl: btd has exited; waiting for it to start again\n"
    (tmp_path / "go").touch()
    btd.start(*durable(tmp_path))
    status, output = end(waiting)
    run, = (row.id for row in btd.client.runs() if row.status == "running")
    # The halt ends before or after btctl finds btd again.
    assert status == 0 and output.removeprefix("btctl: btd was restarted; still waiting\n") == run + "\n"
