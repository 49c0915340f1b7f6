# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the verbs that show trees and runs."""

import json
import os
import re
import signal
import subprocess

import pytest

import client
import daemon
from btctl_runs import BAD, GOOD, LONG, UTF8, begin, end, wait_blocked, without_times


def test_list(btd):
    btd.tree("boot", GOOD, description="The \033[31mdevice 名前", autostart=True)
    btd.tree("net", {"type": "Sequenc"})
    btd.start()
    _, path = btd.client.start("boot", "eth0")
    btd.client.finish(path)

    result = btd.btctl("list", env=UTF8)
    assert result.returncode == 0
    lines = [re.split(r"  +", line) for line in result.stdout.splitlines()]
    assert lines[0] == ["TREE", "STATE", "AUTOSTART", "RUNS", "DESCRIPTION"]
    assert lines[1][:3] == ["boot", "ok", "enabled"] and "boot.2 (eth0) success" in lines[1][3]
    assert lines[1][4] == "The ?[31mdevice 名前"  # of which the first ends in the byte of a carriage return
    assert lines[2] == ["net", "failed", "bad", "-"]

    trees = {tree["name"]: tree for tree in json.loads(btd.btctl("list", "--json").stdout)}
    assert trees["boot"]["description"] == "The \033[31mdevice 名前"
    assert {run["id"] for run in trees["boot"]["runs"]} == {"boot.1", "boot.2"}
    assert trees["net"]["state"] == "failed" and trees["net"]["runs"] == []


def test_list_of_many_runs(btd):
    """Running runs come first, and the list of runs leaves room for the description."""
    btd.tree("boot", {"type": "Sequence", "name": "Gate", "skip_if": "short",
                      "children": [{"type": "Sleep", "duration": "1h"}]},
             blackboard={"short": False})
    btd.start()
    for i in range(3):
        btd.client.finish(btd.client.start("boot", f"short{i}", {"short": True})[1])
    for i in range(3):
        btd.client.start("boot", f"long{i}")
    runs = re.split(r"  +", btd.btctl("list", env=UTF8).stdout.splitlines()[1])[3]
    assert runs == ("boot.4 (long0) running, boot.5 (long1) running, boot.6 (long2) running, "
                    "boot.1 (short0) skipped, 2 more")


def test_list_of_runs_without_a_file(btd):
    """Runs are listed whose tree never had a file, or has lost it."""
    file = btd.tree("boot", LONG)
    btd.tree("short", GOOD)
    btd.start()
    for _ in range(2):
        btd.client.finish(btd.client.start_text("given", daemon.tree_text(GOOD))[1])
    btd.client.start("boot")
    btd.client.start_text("own", daemon.tree_text(LONG))
    os.unlink(file)
    btd.client.reload()
    listed = [re.split("  +", line.strip()) for line in btd.btctl("list").stdout.splitlines()]
    assert listed[1:] == [["short", "ok", "disabled", "-"], ["boot", "no file", "-", "boot.1 running"],
                          ["own", "no file", "-", "own.1 running"]]
    own = json.loads(btd.btctl("list", "--json").stdout)[2]
    assert (own["name"], own["state"], own["runs"][0]["id"]) == ("own", "no file", "own.1")


def test_list_of_nothing(btd):
    btd.start()
    assert btd.btctl("list") == (0, "btd has no trees; 'btctl status' shows the directories that it reads\n", "")
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
    assert overview["tree_directories"] == [btd.trees]
    assert [tree["state"] for tree in overview["trees"]] == ["ok", "failed"]
    assert overview["runs"][0]["cause"] == "Boot/LoadConfig: exited with status 3"


def test_status_of_a_run(btd):
    btd.tree("boot", BAD)
    btd.start()
    btd.client.finish(btd.client.start("boot")[1])

    drawing = ("✗ boot.1: failure after T\n"
               "     Tree: boot\n"
               "  Started: T\n"
               "    Ticks: 3, 3 changes, 3 actions started\n"
               "    Cause: Boot/LoadConfig: exited with status 3\n"
               "      Why: Boot (Sequence): LoadConfig failed\n"
               "           └─ LoadConfig (Spawn): exited with status 3\n"
               "    Facts: program: /bin/sh\n"
               "           status: 3\n"
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


def test_counts_of_a_run(btd, tmp_path):
    """They continue after a restart of btd."""
    btd.tree("boot", {"type": "Sequence", "children": [
        {"type": "RetryUntilSuccessful", "num_attempts": 3, "child": {"type": "Sequence", "children": [
            {"type": "Script", "code": "n = n + 1"}, {"type": "Condition", "test": "n == 3"}]}},
        {"type": "WaitFor", "child": {"type": "Condition", "test": "n == 4"}}]},
        inputs={"n": {"type": "int", "default": 0}}, on_stop="keep")
    options = f"--runtime={tmp_path}/run", f"--state={tmp_path}/state"
    btd.start(*options)
    path = btd.client.start("boot")[1]
    properties = ("Ticks", "Changes", "ActionStarts", "ActionRestarts")
    keys = ("ticks", "changes", "action_starts", "action_restarts")

    def counts():
        return tuple(btd.client.run_property(path, name) for name in properties)

    while btd.client.nodes(path)["WaitFor"]["status"] != "running":
        pass
    before = counts()
    assert before[2:] == (3, 2) and before[0] >= 1 and before[1] >= 1
    btd.stop(signal.SIGKILL)
    btd.start(*options)
    btd.client.wait_running()
    assert counts() == before

    btd.client.set_variables(path, n=4)
    btd.client.finish(path)
    after = counts()
    assert after == (before[0] + 1, before[1] + 2, 3, 2)
    status, replay = (json.loads(btd.btctl(verb, "boot", "--json").stdout) for verb in ("status", "replay"))
    assert tuple(status[key] for key in keys) == after
    # The others are not of the run, but of what would become of it now.
    assert replay == {key: value for key, value in status.items()
                      if key not in ("waiting", "need_reload", "tree_changed", "not_durable")}
    for verb in "status", "replay":
        assert f"    Ticks: {after[0]}, {after[1]} changes, 3 actions started, 2 of them again\n" in \
            btd.btctl(verb, "boot").stdout


def test_elements_have_names(btd, tmp_path):
    """The copies in a ForEach have numbers and their elements, wherever they are shown; the ForEach says how far it
    is."""
    btd.tree("each", {"type": "ForEach", "name": "All", "items": [1, 2, 3], "as": "e", "concurrency": 2,
                      "max_failures": 1, "child": {"type": "Sequence", "name": "One", "children": [
                          {"type": "Condition", "name": "Good", "test": "e ~= 1"}, LONG]}})
    btd.start(f"--runtime={tmp_path}/run", f"--state={tmp_path}/state")
    btd.client.subscribe()
    for member in "Subscribe", "SubscribeEvents":
        btd.client.manager(member)
    run, path = btd.client.start("each")
    while btd.client.nodes(path)["All"]["detail"] != "1 of 3 done, 1 failed":
        pass
    text = without_times(btd.btctl("status", "each", env=UTF8).stdout)
    assert "\n● All (ForEach) for T, 1 of 3 done, 1 failed\n├─ ● One[1: 3] (Sequence) for T\n" in text
    assert "\n└─ ● One[2: 2] (Sequence) for T\n" in text
    assert " One[1: 3] (Sequence) for T\n" in without_times(btd.btctl("replay", run, env=UTF8).stdout)
    paths = [node["path"] for node in json.loads(btd.btctl("status", "each", "--json").stdout)["nodes"]]
    assert paths == ["All", "All/One[1]", "All/One[1]/Good", "All/One[1]/Long",
                     "All/One[2]", "All/One[2]/Good", "All/One[2]/Long"]
    for name in "One[2]/Good", "All/One[2: 2]/Good":
        assert btd.btctl("break", run, name).returncode == 0
    assert btd.btctl("break", run, "All/One[2: 3]/Good").stderr.startswith(f"btctl: {run}: no node 'All/One[2: 3]/Good'")
    assert btd.btctl("break", run, "Good").stderr == (
        f"btctl: {run}: 2 nodes are named 'Good'; give the path or the number of one: "
        "'#2' (All/One[1]/Good), '#5' (All/One[2]/Good)\n")
    btd.client.halt(path)
    btd.client.finish(path)

    def elements(nodes):
        return {node["path"]: node.get("element") for node in nodes if "One" in node["name"]}

    assert elements(json.loads(btd.btctl("status", "each", "--json").stdout)["nodes"]) == \
        elements(json.loads(btd.btctl("replay", run, "--json").stdout)["nodes"]) == \
        {"All/One[1]": "3", "All/One[2]": "2"}
    assert btd.client.nodes(path)["One[1]"]["element"] == "3" and "element" not in btd.client.nodes(path)["All"]
    changed = [(node[3], node[-1].get("element")) for s in btd.client.signals if s.member == "NodesChanged"
               for node in s.args[0]]
    assert ("One[1]", "3") in changed and ("One[2]", "2") in changed and ("One[1]", None) not in changed

    received = [event for s in btd.client.signals if s.member == "Events" for event in s.args[1]]
    assert btd.client.manager("GetEvents", "st", run, 0) == received
    labels = [(event["label"], event["event"]) for event in received if "label" in event]
    assert ("All/One[1: 1]/Good", "failure") in labels and ("All/One[1: 1]", "failure") in labels
    assert ("All/One[1: 3]/Long", "running") in labels and ("All/One[2: 2]", "halted") in labels
    shown = btd.btctl("show", run, "--quiet", env=UTF8).stdout
    assert "✗ All/One[1: 1]: failure" in shown and "■ All/One[1: 3]/Long: halted" in shown
    assert btd.btctl("follow", run, env=UTF8).stdout == shown
    assert [(event["label"], event["event"]) for line in btd.btctl("show", run, "--json").stdout.splitlines()
            if "label" in (event := json.loads(line))] == labels
    assert "<title>All/One[1: 3]/Long: halted, " in btd.btctl("plot", run).stdout
    trace = json.loads(btd.btctl("plot", run, "--format=trace").stdout)
    assert "All/One[2: 2]" in {event.get("args", {}).get("label") for event in trace["traceEvents"]}
    simulate = "simulate", os.path.join(btd.trees, "each.json"), "--until=1s"
    assert "✗ All/One[1: 1]: failure" in btd.btctl(*simulate, env=UTF8).stdout
    assert '"label":"All/One[1: 3]/Long"' in btd.btctl(*simulate, "--json").stdout.replace(" ", "").replace(":3", ": 3")


def test_elements_one_after_another_have_names(btd, tmp_path):
    """The only child of a ForEach has no number, but its element, wherever it is shown."""
    btd.tree("each", {"type": "ForEach", "name": "All", "items": ["s1", "s2"], "as": "e", "max_failures": 1, "child": {
        "type": "Sequence", "name": "One", "children": [
            {"type": "Condition", "name": "Good", "test": "e ~= 's1'"}, LONG]}})
    btd.start(f"--runtime={tmp_path}/run", f"--state={tmp_path}/state")
    run, path = btd.client.start("each")
    while btd.client.nodes(path)["Long"]["status"] != "running":
        pass
    drawn = "\n● All (ForEach) for T, 1 of 2 done, 1 failed\n└─ ● One[s2] (Sequence) for T\n"
    for verb in "status", "replay":
        assert drawn in without_times(btd.btctl(verb, run, env=UTF8).stdout)
    assert btd.client.nodes(path)["One"]["element"] == "s2"
    for name in "Good", "All/One/Good", "All/One[s2]/Good":
        assert btd.btctl("break", run, name).returncode == 0
    assert btd.btctl("break", run, "All/One[s1]/Good").stderr.startswith(f"btctl: {run}: no node 'All/One[s1]/Good'")
    btd.client.halt(path)
    btd.client.finish(path)

    shown = btd.btctl("show", run, "--quiet", env=UTF8).stdout
    assert btd.btctl("follow", run, env=UTF8).stdout == shown
    told = [line[10:] for line in without_times(shown).splitlines()]
    assert '» All/One[s1]: set e="s1"' in told and '» All/One[s2]: set e="s2"' in told, told
    assert '✗ All/One[s1]: failure: Good: e ~= \'s1\' is false (e is "s1")' in told, told
    assert "● All/One[s2]/Long: running" in told, told


def test_status_of_a_run_whose_tree_has_changed(btd):
    """A run is drawn with the tree that it was started with, and the status says so."""
    script = {"type": "Script", "code": "x = 1"}
    btd.tree("boot", script)
    btd.start()
    btd.client.finish(btd.client.start("boot")[1])
    assert "     Tree: boot\n" in btd.btctl("status", "boot").stdout
    assert json.loads(btd.btctl("status", "boot", "--json").stdout)["tree_changed"] is False

    btd.tree("boot", {**script, "code": "x = 2"})
    assert btd.btctl("reload").returncode == 0
    text = btd.btctl("status", "boot").stdout
    assert "     Tree: boot (changed since this run started; the run keeps the old tree)\n" in text and "Script x = 1" in text
    assert json.loads(btd.btctl("status", "boot", "--json").stdout)["tree_changed"] is True

    btd.client.finish(btd.client.start("boot")[1])
    text = btd.btctl("status", "boot").stdout
    assert "     Tree: boot\n" in text and "Script x = 2" in text

    os.unlink(os.path.join(btd.trees, "boot.json"))
    assert btd.btctl("reload").returncode == 0
    assert "     Tree: boot\n" in btd.btctl("status", "boot.2").stdout


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


def text_of_span(btd):
    return re.search("halting, started (.*) ago", btd.btctl("status", "boot").stdout)[1]


def test_status_of_what_is_halting(btd, tmp_path):
    lock = tmp_path / "until"
    lock.touch()
    btd.tree("boot", {"type": "Spawn", "as": "child", "uninterruptible": True,
                      "argv": ["sh", "-c", f"while [ -e {lock} ]; do sleep 0.02; done"]})
    btd.start()
    _, path = btd.client.start("boot")
    btd.btctl("halt", "boot")
    text = without_times(btd.btctl("status", "boot", env=UTF8).stdout)
    assert text.startswith("● boot.1: halting, started T ago\n")
    assert re.search(r"^    Cause: halted by UID \d+ \(btctl\)$", text, re.M)
    ago = text_of_span(btd)
    while text_of_span(btd) == ago:  # it goes on, although its root has ended
        pass
    lock.unlink()
    btd.client.finish(path)


def test_status_of_a_tree(btd):
    btd.tree("boot", GOOD, description="The device", inputs={
        "unit": "string", "tries": {"type": "int", "default": 3, "description": "Attempts until it fails"},
        "long": {"type": "any", "default": "x" * 5000}, "none": {"type": "any", "default": None}})
    btd.start()
    assert btd.btctl("status", "boot", env=UTF8).stdout == (
        "✓ boot: ok\n"
        "    About: The device\n"
        f"     File: {btd.trees}/boot.json\n"
        "Autostart: static\n"
        "   Inputs: unit (string)\n"
        "           tries (int, default 3): Attempts until it fails\n"
        f"           long (any, default \"{'x' * 59}...)\n"
        "           none (any, default null)\n"
        "     Runs: none\n"
        "\n"
        "○ Boot (Sequence)\n"
        "├─ ○ Greet (Log)\n"
        "└─ ○ Work (Spawn)\n")
    tree = json.loads(btd.btctl("status", "boot", "--json").stdout)
    assert tree["nodes"][2]["path"] == "Boot/Work"
    assert [row["name"] for row in tree["inputs"]] == ["unit", "tries", "long", "none"]
    assert tree["inputs"][3] == {"name": "none", "type": "any", "required": False, "default": None}


def test_status_of_a_tree_with_errors(btd):
    btd.tree("boot", {"type": "Sequenc"})
    btd.start()
    result = btd.btctl("status", "boot", env=UTF8)
    assert result.returncode == 0
    assert result.stdout.startswith("✗ boot: failed: autostart unknown until the file is correct\n")
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
            (["status", "boot@eth0"], "no run of tree 'boot' has the instance 'eth0'; "
                                      "start one with 'btctl start boot --instance=eth0'")):
        assert btd.btctl(*arguments) == (1, "", f"btctl: {message}\n")


def test_cat(btd):
    text = '// as it is\n{ "btd": 1, "root": { "type": "AlwaysSuccess" } }'
    btd.tree("boot", text)
    btd.start()
    assert btd.btctl("cat", "boot") == (0, text, "")
    assert json.loads(btd.btctl("cat", "boot", "--json").stdout) == {
        "name": "boot", "text": text, "dropins": [], "lua": []}


def test_nothing_turns_the_text_around(btd, tmp_path):
    """Neither text nor JSON can change the direction of text or move the cursor; the JSON values stay the same."""
    bad = "\x7f\x9b31m\u061c\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
    names = bad.replace("\x7f", "").replace("\x9b", "")
    btd.tree("odd", {"type": "Sequence", "name": "Odd" + names, "children": [
        {"type": "Spawn", "name": "Say" + names, "argv": ["/bin/echo", bad], "stdout": "said"},
        {"type": "Log", "message": bad}, {"type": "Spawn", "name": "Fail", "argv": ["/nowhere" + bad]}]},
        blackboard={"said": ""}, description="Odd" + names)
    btd.start()
    followed = btd.btctl("start", "odd", "--follow")
    texts = {"start --follow": followed.stdout + followed.stderr, "log": btd.log()}
    for words in ("status", "odd"), ("list",), ("get", "odd"), ("get", "odd", "said"), ("show", "odd"), ("replay", "odd"), \
            ("history",), ("break", "odd"), ("simulate", btd.trees + "/odd.json"):
        for option in (), ("--json",):
            result = btd.btctl(*words, *option)
            texts[" ".join(words + option)] = result.stdout + result.stderr
    texts["plot"] = btd.btctl("plot", "odd", "--format=trace").stdout
    for what, text in texts.items():
        assert not set(text) & set(bad.replace("31m", "")), f"{what}: {text!r}"
    assert json.loads(btd.btctl("get", "odd", "--json").stdout)["said"] == bad
    assert json.loads(btd.btctl("get", "odd", "said").stdout) == bad
    assert json.loads(btd.btctl("status", "odd", "--json").stdout)["nodes"][0]["name"] == "Odd" + names
    assert r"\u202e" in btd.btctl("get", "odd").stdout and r"\u009b" in btd.btctl("get", "odd", "--json").stdout


def test_output_that_cannot_be_written(btd):
    btd.start()
    result = client.run(["/bin/sh", "-c", '"$@" >/dev/full', "sh", daemon.BTCTL, "--address=" + btd.bus.address,
                         "status"], daemon.SANITIZER_ENV)
    assert result == (1, "", "btctl: cannot write the output: No space left on device\n")


@pytest.mark.parametrize("verb", ["monitor", "follow boot.1", "logs boot.1 --follow"])
def test_events_that_cannot_be_written(btd, verb, tmp_path):
    btd.tree("boot", {"type": "Sleep", "duration": "1h"})
    btd.tree("other", {"type": "AlwaysSuccess"})
    btd.start(f"--runtime={tmp_path}/run")
    btd.client.start("boot")
    following = subprocess.Popen(["/bin/sh", "-c", '"$@" >/dev/full', "sh", daemon.BTCTL,
                                  "--address=" + btd.bus.address, *verb.split()], stdin=subprocess.DEVNULL,
                                 stderr=subprocess.PIPE, text=True, env=os.environ | daemon.SANITIZER_ENV)
    while verb == "monitor" and following.poll() is None:
        btd.client.finish(btd.client.start("other")[1])
    _, error = following.communicate(timeout=client.PATIENCE)
    assert (following.returncode, error) == (1, "btctl: cannot write the output: No space left on device\n")


def test_ctrl_c_while_btd_does_not_answer(btd):
    """btctl ends without the answer: it would tell that btd has not answered in time."""
    btd.tree("boot", {"type": "Sleep", "duration": "1h"})
    btd.start()
    btd.client.start("boot")
    btd.process.send_signal(signal.SIGSTOP)
    try:
        waiting = [(begin(btd, *verb.split()), number) for number in (signal.SIGINT, signal.SIGTERM)
                   for verb in ("monitor", "wait boot", "status", "logs boot --follow", "halt --wait boot")]
        for process, number in waiting:
            wait_blocked(process, "poll")
            process.send_signal(number)
        for process, number in waiting:
            status, output = end(process)
            assert status in (128 + number, -number)  # a shell shows the same for both
            assert output == ""
    finally:
        btd.process.send_signal(signal.SIGCONT)


def test_a_service_that_reports_no_changes(btd):
    """A condition that is true has no cause that could say so."""
    btd.tree("follow", {"type": "ReactiveSequence", "children": [
        {"type": "DBusProperty", "name": "NoneLost", "destination": "org.btd1", "path": "/org/btd1",
         "interface": "org.btd1.Manager", "property": "LostLogMessages", "equals": 0, "interval": "1s"}, LONG]})
    btd.start()
    btd.client.start("follow")
    client.wait(lambda: ": the service reports no changes, so it is read every 1s\n" in btd.btctl("status", "follow").stdout,
                "the remark")
