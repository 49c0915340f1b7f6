# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the verbs that show trees and runs."""

import json
import os
import re

import client
import daemon
from btctl_runs import BAD, GOOD, LONG, UTF8, without_times


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
    assert lines[1][:3] == ["boot", "ok", "yes"] and "boot.2 (eth0) success" in lines[1][3]
    assert lines[1][4] == "The ?[31mdevice 名前"  # of which the first ends in the byte of a carriage return
    assert lines[2] == ["net", "failed", "no", "-"]

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
        btd.client.finish(btd.client.start("boot", f"short{i}", {"short": "true"})[1])
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
        btd.client.finish(btd.client.manager("StartText", "ssa{ss}", "given", daemon.tree_text(GOOD), {})[1])
    btd.client.start("boot")
    btd.client.manager("StartText", "ssa{ss}", "own", daemon.tree_text(LONG), {})
    os.unlink(file)
    btd.client.manager("Reload")
    listed = [re.split("  +", line.strip()) for line in btd.btctl("list").stdout.splitlines()]
    assert listed[1:] == [["short", "ok", "no", "-"], ["boot", "no file", "no", "boot.1 running"],
                          ["own", "no file", "no", "own.1 running"]]
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
    assert "     Tree: boot, changed since the start of this run\n" in text and "Script x = 1" in text
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


def test_status_of_what_is_halting(btd, tmp_path):
    lock = tmp_path / "until"
    lock.touch()
    btd.tree("boot", {"type": "Spawn", "as": "child", "uninterruptible": True,
                      "argv": ["sh", "-c", f"while [ -e {lock} ]; do sleep 0.02; done"]})
    btd.start()
    _, path = btd.client.start("boot")
    btd.btctl("halt", "boot")
    text = without_times(btd.btctl("status", "boot", env=UTF8).stdout)
    assert text.startswith("● boot.1: halting for T\n")
    assert re.search(r"^    Cause: halted by UID \d+ \(btctl\)$", text, re.M)
    spans = [re.search("halting for (.*)", btd.btctl("status", "boot").stdout)[1] for _ in range(2)]
    assert spans[0] != spans[1]  # it goes on, although its root has ended
    lock.unlink()
    btd.client.finish(path)


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
            (["status", "boot@eth0"], "no run of tree 'boot' has the instance 'eth0'; "
                                      "start one with 'btctl start boot --instance=eth0'")):
        assert btd.btctl(*arguments) == (1, "", f"btctl: {message}\n")


def test_cat(btd):
    text = '// as it is\n{ "btd": 1, "root": { "type": "AlwaysSuccess" } }'
    btd.tree("boot", text)
    btd.start()
    assert btd.btctl("cat", "boot") == (0, text, "")
    assert json.loads(btd.btctl("cat", "boot", "--json").stdout) == {"name": "boot", "text": text}


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
