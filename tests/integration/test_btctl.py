# SPDX-License-Identifier: LGPL-2.1-or-later
"""btctl: what it prints and how it exits, with a real daemon, with a false one, and with none."""

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios

import pytest
from gi.repository import GLib

import client
import daemon

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
UTF8 = {"LC_ALL": "C.UTF-8"}

GOOD = {"type": "Sequence", "name": "Boot", "children": [
    {"type": "Log", "name": "Greet", "message": "hello"},
    {"type": "Spawn", "name": "Work", "argv": ["/bin/true"]}]}
BAD = {"type": "Sequence", "name": "Boot", "children": [
    {"type": "AlwaysSuccess"},
    {"type": "Inverter", "name": "Not", "child": {"type": "Spawn", "name": "Work", "argv": ["/bin/false"]}},
    {"type": "Spawn", "name": "LoadConfig", "argv": ["/bin/sh", "-c", "exit 3"]},
    {"type": "Spawn", "name": "StartPreview", "argv": ["/bin/true"]}]}
LONG = {"type": "Sleep", "name": "Long", "duration": "1h"}


def btctl(*arguments, env=None):
    """Without a bus of one's own."""
    return client.run([daemon.BTCTL, *arguments], {**daemon.SANITIZER_ENV, **(env or {})})


def begin(btd, *arguments):
    """Leaves it running; what it says on either channel comes on the one pipe."""
    return subprocess.Popen([daemon.BTCTL, "--address=" + btd.bus.address, *arguments], stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            env={**os.environ, **daemon.SANITIZER_ENV, **UTF8})


def end(process):
    output = process.communicate(timeout=20)[0]
    daemon.check_report(output, "btctl")
    return process.returncode, output


def without_times(text):
    """Spans as T, so that a drawing can be compared."""
    text = re.sub(r"Started: .*", "Started: T", text)
    return re.sub(r"\b(after|for) [0-9.]+(us|ms|s)\b", r"\1 T", text)


# The command line

@pytest.mark.parametrize("arguments, message", [
    (["lst"], "unknown verb 'lst'; did you mean 'list'?"),
    (["frobnicate"], "unknown verb 'frobnicate'"),
    (["--waitt", "start", "boot"], "unknown option '--waitt'; did you mean '--wait'?"),
    (["list", "--frobnicate=3"], "unknown option '--frobnicate'"),
    (["list", "-x"], "unknown option '-x'"),
    (["list", "-qx"], "unknown option '-x'"),
    (["--quiet=3", "list"], "option '--quiet' takes no value"),
    (["start", "boot", "--instance"], "option '--instance' needs a value: --instance=NAME"),
    (["list", "-H"], "option '--host' needs a value: --host=[USER@]HOST"),
    (["list", "--wait"], "'list' takes no option '--wait'"),
    (["halt", "boot", "--follow"], "'halt' takes no option '--follow'"),
    (["status", "--set", "a=1"], "'status' takes no option '--set'"),
    (["start"], "'start' needs an operand: btctl start TREE"),
    (["halt"], "'halt' needs an operand: btctl halt TREE|RUN"),
    (["cat"], "'cat' needs an operand: btctl cat TREE"),
    (["validate"], "'validate' needs an operand: btctl validate FILE..."),
    (["start", "boot", "net"], "'net' is too much: btctl start TREE"),
    (["list", "boot"], "'boot' is too much: 'list' takes no operands"),
    (["list", "--", "--wait"], "'--wait' is too much: 'list' takes no operands"),
    (["--user", "--system", "list"], "--system and --user cannot be given together"),
    (["--user", "--address=unix:path=/x", "list"], "--user and --address cannot be given together"),
    (["-H", "there", "-M", "here", "list"], "--host and --machine cannot be given together"),
    (["start", "boot@a", "--instance=b"], "the instance is given twice: 'boot@a' and --instance=b"),
    (["start", "boot", "--set", "name=eth0"],
     "--set name: 'eth0' is not JSON; quote a string twice: --set name='\"eth0\"'"),
    (["start", "boot", "--set", "name={a:1}"], "--set name: '{a:1}' is not JSON"),
    (["start", "boot", "--set", "name=1,2"],
     "--set name: '1,2' is not JSON; quote a string twice: --set name='\"1,2\"'"),
    (["start", "boot", "--set", "name="], "--set name: '' is not JSON"),
    (["start", "boot", "--set", "name"], "--set name: the value is missing: --set KEY=JSON"),
    (["start", "boot", "--set", "1st=1"],
     "--set 1st=1: '1st' cannot be the name of a variable: a letter or '_', then letters, digits, '_', '-' and '.'"),
    (["start", "boot", "--set", "a=1", "--set", "a=2"], "--set a: it is set twice"),
    (["complete", "sentences"], "'sentences' cannot be completed"),
])
def test_usage_error(arguments, message):
    assert btctl(*arguments) == (2, "", f"btctl: {message}\nTry 'btctl --help'.\n")


def test_help_names_everything():
    text = btctl("--help")
    assert text.returncode == 0 and not text.stderr
    for verb in btctl("complete", "verbs").stdout.split():
        assert f"\n  {verb} " in text.stdout
        of_verb = btctl(verb, "--help")
        assert of_verb.returncode == 0 and of_verb.stdout.startswith(f"btctl {verb}")
    for option in btctl("complete", "options").stdout.split():
        assert option in text.stdout
    assert "--instance=NAME" in btctl("start", "--help").stdout


def test_manual_names_everything():
    with open(os.path.join(SOURCE, "client", "btctl.1"), encoding="utf-8") as file:
        page = file.read()
    for verb in btctl("complete", "verbs").stdout.split():
        assert f".Cm {verb}\n" in page or f".It Cm {verb}" in page, verb
    for option in btctl("complete", "options", "start").stdout.split():
        assert f"Fl {option[1:].rstrip('=')}" in page, option


def test_version():
    assert re.fullmatch(r"btctl \d+\.\d+\.\d+\n", btctl("--version").stdout)


# Where there is no daemon

@pytest.mark.parametrize("arguments", [["list"], ["status"], ["start", "boot"], ["start", "boot", "--follow"],
                                       ["halt", "boot", "--wait"], ["reload"], ["monitor"], ["cat", "boot"]])
def test_no_daemon(bus, arguments):
    result = btctl("--address=" + bus.address, *arguments)
    assert result == (5, "", f"btctl: btd is not running on the bus at {bus.address}; "
                             "start it with 'btd --address=ADDR'\n")


@pytest.mark.parametrize("option, variable, command", [
    ("--system", "DBUS_SYSTEM_BUS_ADDRESS", "systemctl start btd"),
    ("--user", "DBUS_SESSION_BUS_ADDRESS", "systemctl --user start btd")])
def test_no_daemon_on_a_usual_bus(bus, option, variable, command):
    result = btctl(option, "list", env={variable: bus.address})
    assert result == (5, "", f"btctl: btd is not running; start it with '{command}'\n")


def test_no_bus():
    result = btctl("--address=unix:path=/nonexistent", "list")
    assert result == (5, "", "btctl: cannot connect to the bus at unix:path=/nonexistent: "
                             "No such file or directory\n")


# Offline verbs

def test_validate(tmp_path):
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_text(daemon.tree_text(GOOD))
    bad.write_text('{ "btd": 1,\n  "root": { "type": "Sequenc" } }')

    assert btctl("validate", str(good)) == (0, f"{good}: ok, 3 nodes\n", "")
    assert btctl("validate", "-q", str(good)) == (0, "", "")
    result = btctl("validate", str(bad), str(good))
    assert result.returncode == 1
    assert result.stdout == f"{good}: ok, 3 nodes\n"
    assert result.stderr.startswith(f"{bad}:2:") and "did you mean 'Sequence'?" in result.stderr

    [first, second] = json.loads(btctl("validate", "--json", str(bad), str(good)).stdout)
    assert (first["file"], first["valid"], second["valid"]) == (str(bad), False, True)
    assert first["diagnostics"][0]["line"] == 2 and first["diagnostics"][0]["severity"] == "error"
    assert second["diagnostics"] == []


def test_validate_without_a_file():
    result = btctl("validate", "/nonexistent.json")
    assert result.returncode == 1
    assert result.stderr.startswith("/nonexistent.json: error: ") and "No such file" in result.stderr


def test_types():
    everything = btctl("types").stdout
    for name in btctl("complete", "types").stdout.split():
        assert f"\n  {name} " in everything
        text = btctl("types", name).stdout
        assert text.startswith(name + " (")
        assert max(map(len, text.splitlines())) <= 200
        assert json.loads(btctl("types", name, "--json").stdout)["name"] == name
    assert {entry["name"] for entry in json.loads(btctl("types", "--json").stdout)} \
        == set(btctl("complete", "types").stdout.split())


def test_types_explains_parameters():
    text = btctl("types", "Retry").stdout
    assert text.startswith("RetryUntilSuccessful (decorator)\n")
    assert "\nAlso called: Retry\n" in text
    assert "\n  num_attempts (integer, at least -1, required)\n" in text
    assert "\n  backoff.initial (time span, required)\n" in text


@pytest.mark.parametrize("name, message", [
    ("Fallbck", "no type 'Fallbck'; did you mean 'Fallback'?"),
    ("Zoological", "no type 'Zoological'; 'btctl types' lists them all")])
def test_types_of_another_name(name, message):
    assert btctl("types", name) == (1, "", f"btctl: {message}\n")


def test_schema():
    schema = json.loads(btctl("schema").stdout)
    assert schema["type"] == "object" and "root" in schema["properties"]


# Looking

def test_list(btd):
    btd.tree("boot", GOOD, description="The \033[31mdevice", autostart=True)
    btd.tree("net", {"type": "Sequenc"})
    btd.start()
    _, path = btd.client.start("boot", "eth0")
    btd.client.finish(path)

    result = btd.btctl("list", env=UTF8)
    assert result.returncode == 0
    lines = [re.split(r"  +", line) for line in result.stdout.splitlines()]
    assert lines[0] == ["TREE", "STATE", "AUTOSTART", "RUNS", "DESCRIPTION"]
    assert lines[1][:3] == ["boot", "ok", "yes"] and "boot.2 (eth0) success" in lines[1][3]
    assert lines[1][4] == "The ?[31mdevice"
    assert lines[2] == ["net", "failed", "no", "-"]

    trees = {tree["name"]: tree for tree in json.loads(btd.btctl("list", "--json").stdout)}
    assert trees["boot"]["description"] == "The \033[31mdevice"
    assert {run["id"] for run in trees["boot"]["runs"]} == {"boot.1", "boot.2"}
    assert trees["net"]["state"] == "failed" and trees["net"]["runs"] == []


def test_list_of_nothing(btd):
    btd.start()
    assert btd.btctl("list") == (0, "btd has no trees; 'btctl status' shows where it looks for them\n", "")
    assert json.loads(btd.btctl("list", "--json").stdout) == []


def test_status_of_everything(btd):
    btd.tree("boot", BAD)
    btd.tree("net", {"type": "Sequenc"})
    btd.start()
    btd.client.finish(btd.client.start("boot")[1])

    for arguments in (["status"], []):
        result = btd.btctl(*arguments, env=UTF8)
        assert result.returncode == 0
        assert re.search(r"^● btd \S+, system mode: running$", result.stdout, re.M)
        assert f"     Path: {btd.trees}\n    Trees: 2, 1 of them with errors\n     Runs: 0 running, 1 finished\n" \
            in result.stdout
        assert "✗ boot.1: failure after T: Boot/LoadConfig: exited with status 3\n" in without_times(result.stdout)
        assert f"{btd.trees}/net.json:" in result.stdout

    overview = json.loads(btd.btctl("status", "--json").stdout)
    assert overview["tree_path"] == [btd.trees]
    assert [tree["state"] for tree in overview["trees"]] == ["ok", "failed"]
    assert overview["runs"][0]["cause"] == "Boot/LoadConfig: exited with status 3"


def test_status_of_a_run(btd):
    btd.tree("boot", BAD)
    btd.start()
    btd.client.finish(btd.client.start("boot")[1])

    drawing = ("✗ boot.1: failure after T\n"
               "     Tree: boot\n"
               "  Started: T\n"
               "    Cause: Boot/LoadConfig: exited with status 3\n"
               "\n"
               "✗ Boot (Sequence) after T: LoadConfig: exited with status 3\n"
               "├─ ✓ AlwaysSuccess\n"
               "├─ ✓ Not (Inverter) after T\n"
               "│  └─ ✗ Work (Spawn) after T: exited with status 1\n"
               "├─ ✗ LoadConfig (Spawn) after T: exited with status 3\n"
               "└─ ○ StartPreview (Spawn)\n")
    for operand in ("boot", "boot.1", "boot@"):
        assert without_times(btd.btctl("status", operand, env=UTF8).stdout) == drawing

    run = json.loads(btd.btctl("status", "boot", "--json").stdout)
    assert (run["id"], run["status"]) == ("boot.1", "failure")
    failed = {node["path"]: node["detail"] for node in run["nodes"] if node["status"] == "failure"}
    assert failed["Boot/LoadConfig"] == "exited with status 3"
    assert run["nodes"][3]["path"] == "Boot/Not/Work" and run["nodes"][3]["parent"] == 2


def test_status_is_ascii_where_it_has_to_be(btd):
    btd.tree("boot", BAD)
    btd.start()
    btd.client.finish(btd.client.start("boot")[1])

    for arguments, env in ((["--ascii"], UTF8), ([], {"LC_ALL": "C"})):
        text = btd.btctl("status", "boot", *arguments, env=env).stdout
        assert text.isascii()
        assert "|  `- x Work (Spawn) after T: exited with status 1\n" in without_times(text)


def test_status_of_what_runs(btd):
    btd.tree("boot", LONG)
    btd.start()
    btd.client.start("boot")
    text = without_times(btd.btctl("status", "boot", env=UTF8).stdout)
    assert text.startswith("● boot.1: running for T\n")
    assert re.search(r"^● Long \(Sleep\) for T, .+$", text, re.M)


def test_status_of_a_tree(btd):
    btd.tree("boot", GOOD, description="The device")
    btd.start()
    assert btd.btctl("status", "boot", env=UTF8).stdout == (
        "✓ boot: ok\n"
        "    About: The device\n"
        f"     File: {btd.trees}/boot.json\n"
        "Autostart: no\n"
        "     Runs: none\n"
        "\n"
        "○ Boot (Sequence)\n"
        "├─ ○ Greet (Log)\n"
        "└─ ○ Work (Spawn)\n")
    assert json.loads(btd.btctl("status", "boot", "--json").stdout)["nodes"][2]["path"] == "Boot/Work"


def test_status_of_a_tree_with_errors(btd):
    btd.tree("boot", {"type": "Sequenc"})
    btd.start()
    result = btd.btctl("status", "boot", env=UTF8)
    assert result.returncode == 0
    assert result.stdout.startswith("✗ boot: failed\n")
    assert "did you mean 'Sequence'?" in result.stdout


def test_names_that_are_not_there(btd):
    btd.tree("boot", GOOD)
    btd.start()
    btd.client.finish(btd.client.start("boot")[1])
    for arguments, message in (
            (["status", "boto"], "no tree 'boto'; did you mean 'boot'?"),
            (["start", "boto"], "no tree 'boto'; did you mean 'boot'?"),
            (["halt", "boto"], "no tree 'boto'; did you mean 'boot'?"),
            (["cat", "boto"], "no tree 'boto'; did you mean 'boot'?"),
            (["status", "boto@eth0"], "no tree 'boto'; did you mean 'boot'?"),
            (["status", "boot.9"], "no run 'boot.9'; did you mean 'boot.1'?"),
            (["halt", "boot.9"], "no run 'boot.9'; did you mean 'boot.1'?"),
            (["halt", "boot"], "tree 'boot' is not running"),
            (["status", "boot@eth0"], "no run of tree 'boot' has the instance 'eth0'; "
                                      "start one with 'btctl start boot --instance=eth0'")):
        assert btd.btctl(*arguments) == (1, "", f"btctl: {message}\n")


def test_cat(btd):
    text = '// as it is\n{ "btd": 1, "root": { "type": "AlwaysSuccess" } }'
    btd.tree("boot", text)
    btd.start()
    assert btd.btctl("cat", "boot") == (0, text, "")
    assert json.loads(btd.btctl("cat", "boot", "--json").stdout) == {"name": "boot", "text": text}


def test_output_that_cannot_be_written(btd):
    btd.start()
    result = client.run(["/bin/sh", "-c", '"$@" >/dev/full', "sh", daemon.BTCTL, "--address=" + btd.bus.address,
                         "status"], daemon.SANITIZER_ENV)
    assert result == (1, "", "btctl: cannot write the output: No space left on device\n")


# Starting and halting

def test_start(btd):
    btd.tree("boot", LONG)
    btd.start()
    assert btd.btctl("start", "boot") == (0, "boot.1\n", "")
    assert btd.btctl("start", "boot@eth0") == (0, "boot.2\n", "")
    assert json.loads(btd.btctl("--json", "--instance=eth1", "start", "boot").stdout) \
        == {"id": "boot.3", "tree": "boot", "instance": "eth1"}
    again = btd.btctl("start", "boot")
    assert again.returncode == 1
    assert again.stderr == "btctl: tree 'boot' is already running as boot.1; give another --instance to run it twice\n"
    assert {row[3] for row in btd.client.manager("ListRuns")} == {"", "eth0", "eth1"}


def test_start_sets_variables(btd):
    btd.tree("boot", GOOD, blackboard={"name": "eth9"})
    btd.start()
    assert btd.btctl("start", "boot", "--set", 'name="eth0"', "--set=list=[1, {}]", "--wait").returncode == 0
    [row] = btd.client.manager("ListRuns")
    variables = btd.client.call(row[1], "org.btd1.Run", "GetVariables")
    assert json.loads(variables["name"]) == "eth0" and json.loads(variables["list"]) == [1, {}]


def test_start_and_wait(btd):
    btd.tree("good", GOOD)
    btd.tree("bad", BAD)
    btd.start()

    result = btd.btctl("start", "good", "--wait", env=UTF8)
    assert (result.returncode, without_times(result.stdout), result.stderr) == (0, "✓ good.1: success after T\n", "")
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
        assert end(waiting) == (128 + number, f"btctl: no longer waiting, but {run} goes on; see it with 'btctl status "
                                              f"{run}', stop it with 'btctl halt {run}'\n")
    assert {row[4] for row in btd.client.manager("ListRuns")} == {"running"}


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
    assert output.splitlines()[-1] == "btctl: btd has gone away"


def test_bus_that_vanishes(btd_own_bus):
    btd = btd_own_bus
    btd.tree("boot", LONG)
    btd.start()
    btd.client.subscribe("org.btd1.Manager", "RunNew")
    waiting = begin(btd, "start", "boot", "--wait")
    btd.client.wait_signal("RunNew")
    btd.bus.stop()
    assert end(waiting) == (5, "btctl: btd has gone away\n")


def test_follow(btd):
    btd.tree("boot", BAD)
    btd.start()
    result = btd.btctl("start", "boot", "--follow", env=UTF8)
    assert result.returncode == 1
    lines = without_times(result.stdout).splitlines()
    assert lines[-1] == "✗ boot.1: failure after T: Boot/LoadConfig: exited with status 3"
    events = [re.fullmatch(r" +\d+\.\d{3}s (.*)", line)[1] for line in lines[:-1]]
    assert events[0] == "● Boot: running"
    assert events[-1] == "✗ Boot: failure after T: LoadConfig: exited with status 3"
    order = [next(i for i, event in enumerate(events) if event.startswith(beginning)) for beginning in (
        "✓ Boot/AlwaysSuccess: success", "● Boot/Not/Work: running", "✗ Boot/Not/Work: failure",
        "● Boot/LoadConfig: running", "✗ Boot/LoadConfig: failure")]
    assert order == sorted(order)


def test_follow_for_programs(btd):
    btd.tree("boot", GOOD)
    btd.start()
    result = btd.btctl("start", "boot", "--follow", "--json")
    assert result.returncode == 0
    events = [json.loads(line) for line in result.stdout.splitlines()]
    assert {event["run"] for event in events} == {"boot.1"}
    assert events[-1]["event"] == "run-finished" and events[-1]["status"] == "success"
    last = {event["node"]["path"]: event["node"]["status"] for event in events if event["event"] == "node-changed"}
    assert last == {"Boot": "success", "Boot/Greet": "success", "Boot/Work": "success"}


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
    assert {row[4] for row in btd.client.manager("ListRuns")} == {"halted"}

    again = btd.btctl("halt", "boot.1", "--wait")
    assert again.returncode == 1 and "boot.1" in again.stderr


def test_reload(btd):
    btd.tree("boot", GOOD)
    btd.start()
    assert btd.btctl("reload") == (0, "all trees are loaded\n", "")
    assert btd.btctl("reload", "-q") == (0, "", "")

    btd.tree("boot", {"type": "Sequenc"})
    result = btd.btctl("reload")
    assert (result.returncode, result.stdout) == (1, "")
    [first, last] = result.stderr.splitlines()
    assert first.startswith(f"{btd.trees}/boot.json:") and "did you mean 'Sequence'?" in first
    assert last == "btctl: some files have errors; the trees that they would have replaced stay as they were"
    assert len(json.loads(btd.btctl("reload", "--json").stdout)["errors"]) == 1
    assert "boot  broken" in btd.btctl("list").stdout


def begin_monitor(btd, *arguments):
    """Its first line says that it is listening: until then, it is given something to tell."""
    btd.tree("ping", {"type": "AlwaysSuccess"})
    btd.client.manager("Reload")
    monitor = begin(btd, "monitor", *arguments)
    while not select.select([monitor.stdout], [], [], 0)[0]:
        btd.client.finish(btd.client.start("ping")[1])
    return monitor


def test_monitor(btd):
    btd.tree("boot", BAD)
    btd.start()
    monitor = begin_monitor(btd)
    btd.client.manager("Reload")
    btd.client.finish(btd.client.start("boot")[1])

    lines = []
    while not lines or " boot.1: failure" not in lines[-1]:
        lines.append(monitor.stdout.readline())
    monitor.send_signal(signal.SIGINT)
    assert end(monitor)[0] == 0

    stamp = r"\d\d:\d\d:\d\d\.\d{3}"
    assert all(re.match(stamp, line) for line in lines)
    events = [re.sub(stamp + " ", "", without_times(line)) for line in lines if "ping" not in line]
    assert events[0] == "trees reloaded\n"
    assert events[1] == "● boot.1: running\n"
    assert "boot.1 ✗ Boot/LoadConfig: failure after T: exited with status 3\n" in events
    assert events[-1] == "✗ boot.1: failure: Boot/LoadConfig: exited with status 3\n"


def test_monitor_for_programs(btd):
    """It knows the paths of nodes in runs that were there before it."""
    btd.tree("boot", {"type": "Sequence", "name": "Boot", "children": [LONG]})
    btd.start()
    btd.client.start("boot")
    monitor = begin_monitor(btd, "--json")
    btd.client.manager("HaltTree", "s", "boot")

    events = []
    while not events or (events[-1]["event"], events[-1]["run"]) != ("run-finished", "boot.1"):
        events.append(json.loads(monitor.stdout.readline()))
    monitor.send_signal(signal.SIGINT)
    assert end(monitor)[0] == 0

    halted = {event["node"]["path"] for event in events
              if event["event"] == "node-changed" and event["run"] == "boot.1" and event["node"]["status"] == "halted"}
    assert halted == {"Boot", "Boot/Long"}
    assert events[-1]["status"] == "halted"


def test_monitor_of_a_daemon_that_vanishes(btd):
    btd.start()
    monitor = begin_monitor(btd)
    btd.stop(signal.SIGKILL)
    status, output = end(monitor)
    assert status == 5 and output.endswith("btctl: btd has gone away\n")


# Another daemon than ours: results that no tree gives by itself, and answers that make no sense

FALSE_MANAGER = """<node><interface name="org.btd1.Manager">
  <method name="StartTree"><arg type="s" direction="in"/><arg type="s" direction="in"/>
    <arg type="a{{ss}}" direction="in"/><arg type="s" direction="out"/><arg type="o" direction="out"/></method>
  <method name="ListTrees"><arg type="{trees}" direction="out"/></method>
  <signal name="RunFinished"><arg type="s"/><arg type="o"/><arg type="s"/><arg type="s"/></signal>
</interface></node>"""


def false_daemon(peer_client, methods, trees="a(sosbs)"):
    return client.Peer(peer_client, "org.btd1", "/org/btd1", FALSE_MANAGER.format(trees=trees), methods)


@pytest.mark.parametrize("status, exit_status, symbol", [
    ("skipped", 0, "↷"), ("error", 4, "!"), ("halted", 3, "■"), ("of the future", 1, "?")])
def test_result(bus, peer_client, status, exit_status, symbol):
    def start(parameters, invocation):
        invocation.return_value(GLib.Variant("(so)", ("boot.7", "/org/btd1/run/boot_2e7")))
        for run in ("boot.6", "boot.7"):
            peer_client.connection.emit_signal(
                None, "/org/btd1", "org.btd1.Manager", "RunFinished",
                GLib.Variant("(soss)", (run, "/org/btd1/run/x", status if run == "boot.7" else "success", "it is so")))
        return True
    false_daemon(peer_client, {"StartTree": start})

    result = btctl("--address=" + bus.address, "start", "boot", "--wait", env=UTF8)
    assert result.returncode == exit_status
    assert without_times(result.stdout) == f"{symbol} boot.7: {status} after T: it is so\n"


def test_daemon_of_another_kind(bus, peer_client):
    false_daemon(peer_client, {"ListTrees": lambda parameters, invocation: GLib.Variant("(as)", (["boot"],))}, "as")
    result = btctl("--address=" + bus.address, "list")
    assert result.returncode == 1
    assert re.fullmatch(r"btctl: btd and btctl do not understand each other \(.+\); are they of the same version\?\n",
                        result.stderr)


def test_permission(bus, peer_client):
    def refuse(parameters, invocation):
        invocation.return_dbus_error("org.freedesktop.DBus.Error.AccessDenied", "Rejected send message, 2 matched rules")
        return True
    false_daemon(peer_client, {"StartTree": refuse})
    assert btctl("--address=" + bus.address, "start", "boot") \
        == (1, "", "btctl: only root may do this; try it with sudo\n")


# On a terminal

def on_terminal(btd, *arguments, columns=80, env=None):
    """What it prints on a terminal of that width."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    variables = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "COLUMNS")}
    process = subprocess.Popen([daemon.BTCTL, "--address=" + btd.bus.address, *arguments], stdin=subprocess.DEVNULL,
                               stdout=follower, stderr=subprocess.STDOUT,
                               env={**variables, **daemon.SANITIZER_ENV, **UTF8, "TERM": "xterm", **(env or {})})
    os.close(follower)
    output = b""
    try:
        while chunk := os.read(leader, 65536):
            output += chunk
    except OSError:  # all of the other side is closed
        pass
    os.close(leader)
    assert process.wait(20) == 0
    return output.decode().replace("\r\n", "\n")


def test_colours(btd):
    btd.tree("boot", BAD)
    btd.start()
    btd.client.finish(btd.client.start("boot")[1])

    assert "\033[31m✗\033[0m Boot" in on_terminal(btd, "status", "boot")
    for arguments, env in ((["--no-color"], {}), ([], {"NO_COLOR": "1"}), ([], {"TERM": "dumb"})):
        assert "\033" not in on_terminal(btd, "status", "boot", *arguments, env=env)
    assert "\033[31m✗" in on_terminal(btd, "status", "boot", env={"NO_COLOR": ""})
    for term in ("dumb", "linux"):
        assert on_terminal(btd, "status", "boot", env={"TERM": term}).isascii()


def test_narrow_terminal(btd):
    btd.tree("boot", BAD, description="A description that is much longer than the terminal is wide")
    btd.start()
    btd.client.finish(btd.client.start("boot")[1])

    for columns in (20, 40):
        for verb in (["status", "boot"], ["status"], ["list"]):
            lines = re.sub(r"\033\[[0-9]*m", "", on_terminal(btd, *verb, columns=columns)).splitlines()
            assert max(map(len, lines)) == columns
            assert all(line[-1] == "…" for line in lines if len(line) == columns)
    assert "much longer than the terminal is wide" in on_terminal(btd, "list", env={"COLUMNS": "200"})


# Completion

COMPLETE = """
. /usr/share/bash-completion/bash_completion
. "$1"
shift
compopt() { :; }  # which works only while readline completes
COMP_LINE="$*"
COMP_POINT=${#COMP_LINE}
COMP_WORDS=()
for word; do  # readline takes these characters for words of their own
        while [[ $word =~ ^([^=:@]*)([=:@]+)(.*)$ ]]; do
                [[ ${BASH_REMATCH[1]} ]] && COMP_WORDS+=("${BASH_REMATCH[1]}")
                COMP_WORDS+=("${BASH_REMATCH[2]}")
                word=${BASH_REMATCH[3]}
        done
        COMP_WORDS+=("$word")
done
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_btctl "$BTCTL" "${COMP_WORDS[COMP_CWORD]}"
printf '%s\\n' "${COMPREPLY[@]}"
"""


def complete(*words, cwd=None):
    script = os.path.join(SOURCE, "client", "completion", "btctl")
    result = subprocess.run(["bash", "--norc", "-c", COMPLETE, "bash", script, "btctl", *words], cwd=cwd, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, check=False,
                            env={**os.environ, **daemon.SANITIZER_ENV, "BTCTL": os.path.abspath(daemon.BTCTL)})
    assert result.stderr == ""
    return set(result.stdout.split())


@pytest.mark.skipif(not os.path.exists("/usr/share/bash-completion/bash_completion"),
                    reason="bash-completion is not installed")
def test_completion(btd, tmp_path):
    btd.tree("boot", LONG)
    btd.tree("net", GOOD)
    btd.start()
    btd.client.start("boot")
    there = "--address=" + btd.bus.address
    (tmp_path / "tree.json").touch()
    (tmp_path / "tree.txt").touch()

    assert complete("st") == {"start", "status"}
    assert complete("") == set(btctl("complete", "verbs").stdout.split())
    assert complete("list", "--a") == {"--address=", "--ascii"}
    assert complete("start", "--w") == {"--wait"}
    assert complete("list", "--w") == set()
    assert complete(there, "start", "") == {"boot", "net"}
    assert complete(there, "cat", "n") == {"net"}
    assert complete("--address", btd.bus.address, "start", "--wait", "--set", "a=1", "b") == {"boot"}
    assert complete(there, "status", "b") == {"boot", "boot.1"}
    assert complete(there, "halt", "boot.") == {"boot.1"}
    assert complete(there, "start", "boot", "") == set()
    assert complete("start", "--instance", "") == set()
    assert complete("types", "Fallb") == {"Fallback"}
    assert complete("validate", "", cwd=tmp_path) == {"tree.json"} | {
        name for name in os.listdir(tmp_path) if (tmp_path / name).is_dir()}
    assert complete("--address=unix:path=/nonexistent", "start", "") == set()
