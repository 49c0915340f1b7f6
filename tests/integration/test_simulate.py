# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the verb btctl simulate and its options. unit/client/test-simulate-traces.c tests the simulation itself."""

import json
import os
import re
import shlex

import pytest

import daemon
from btctl_runs import SOURCE, UTF8, btctl

WORK = {"type": "Spawn", "name": "Work", "argv": ["/bin/false"]}
TREE = {"type": "Sequence", "name": "Boot", "children": [
    {"type": "Log", "name": "Greet", "message": "hello {who}"},
    {"type": "RetryUntilSuccessful", "name": "Again", "num_attempts": 2, "backoff": {"initial": "1s", "jitter": 1},
     "child": WORK}]}


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Writes files into the current directory: text, or a value as JSON."""
    monkeypatch.chdir(tmp_path)

    def write(**contents):
        for name, content in contents.items():
            path = tmp_path / (name + ".json")
            path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return write


def simulate(*arguments, env=None):
    return btctl("simulate", *arguments, env={**UTF8, **(env or {})})


def outcome(result, **more):
    """Returns a tree of one leaf, and the script for it."""
    return {"tree": {"btd": 1, "root": WORK}, "script": {"leaves": {"Work": result}, **more}}


@pytest.mark.parametrize("script, status", [
    (outcome("success"), 0),
    (outcome("skipped"), 0),
    (outcome("failure"), 1),
    (outcome({"after": "1min"}, halt="1s"), 3),
    (outcome({"after": "infinity"}), 1),
    (outcome({"after": "2h"}), 1),
])
def test_exit_status(files, script, status):
    files(**script)
    assert simulate("tree.json", "--script=script.json").returncode == status


def test_value_that_must_hold(files):
    """A condition counts when its value has held for the time; a shorter change does not count."""
    files(tree={"btd": 1, "blackboard": {"pressed": False}, "root": {
        "type": "WhileDoElse", "name": "Light", "children": [
            {"type": "Condition", "name": "Key", "test": "pressed", "for": "50ms", "false_for": "200ms"},
            {"type": "Sleep", "name": "On", "duration": "infinity"},
            {"type": "Sleep", "name": "Off", "duration": "infinity"}]}},
          script={"halt": "5s", "set": [
              {"at": at, "variables": {"pressed": pressed}}
              for at, pressed in (("1s", True), ("1.02s", False), ("2s", True), ("3s", False), ("3.1s", True),
                                  ("4s", False))]})
    lines = simulate("tree.json", "--script=script.json").stdout.splitlines()
    assert [line.strip() for line in lines if "Light/" in line and "halt" not in line] == [
        "0.000s ● Light/Key: running",
        "0.200s ✗ Light/Key: failure after 200ms: pressed is false",
        "0.200s ● Light/Off: running",
        "2.050s ✓ Light/Key: success",
        "2.050s ● Light/On: running",
        "4.200s ✗ Light/Key: failure: pressed is false",
        "4.200s ● Light/Off: running"]


def test_other_value_before_the_first_counts(files):
    """The time of each value begins when the value does."""
    files(tree={"btd": 1, "root": {"type": "Inverter", "name": "Not", "child": {
        "type": "PathExists", "name": "There", "path": "/x", "for": "10s", "false_for": "5s"}}},
          script={"leaves": {"There": {"result": "success", "changes": [{"at": "9s", "result": "failure"}]}}})
    assert "14.000s ✗ Not/There: failure after 14s" in simulate("tree.json", "--script=script.json").stdout


def test_value_that_does_not_hold_yet(files):
    files(tree={"btd": 1, "blackboard": {"a": False}, "root": {
        "type": "WaitFor", "name": "Wait", "timeout": "3s", "child": {
            "type": "Condition", "name": "Key", "test": "a", "for": "5s"}}},
          script={"set": [{"at": "2s", "variables": {"a": True}}]})
    assert simulate("tree.json", "--script=script.json").stdout.endswith(
        "Wait: timed out after 3s; last: not true for 5s yet\n")


def test_exit_status_of_an_error(files):
    files(tree=daemon.tree_text({"type": "IfThenElse", "name": "If", "children": [WORK, WORK]}),
          script={"leaves": {"Work": "skipped"}})
    assert simulate("tree.json", "--script=script.json") == (
        4,
        "   0.000s » tree: started\n"
        "   0.000s ● If: running\n"
        "   0.000s ↷ If/Work: skipped\n"
        "   0.000s ! If: error: its condition was skipped, which is neither true nor false\n"
        "   0.000s ! tree: error: If: its condition was skipped, which is neither true nor false\n", "")


def test_trace_as_text_and_json(files):
    files(boot=daemon.tree_text(TREE, inputs={"who": "any"}), script={"leaves": {"Boot/Again/Work": {"after": "1.5s"}}})
    arguments = ["boot.json", "--script=script.json", "--set", 'who="Ann"']
    text = simulate(*arguments)
    assert text == (
        0,
        '   0.000s » boot: started with who="Ann"\n'
        "   0.000s ● Boot: running\n"
        "   0.000s » Boot/Greet: log: hello Ann\n"
        "   0.000s ✓ Boot/Greet: success\n"
        "   0.000s ● Boot/Again: running\n"
        "   0.000s ● Boot/Again/Work: running\n"
        "   1.500s ✓ Boot/Again/Work: success after 1.5s\n"
        "   1.500s ✓ Boot/Again: success after 1.5s\n"
        "   1.500s ✓ Boot: success after 1.5s\n"
        "   1.500s ✓ boot: success after 1.5s\n", "")
    assert simulate(*arguments, "--ascii").stdout.splitlines()[-1] == "   1.500s + boot: success after 1.5s"
    assert simulate(*arguments, "--quiet") == (0, "", "")

    events = [json.loads(line) for line in simulate(*arguments, "--json").stdout.splitlines()]
    assert len(events) == len(text.stdout.splitlines())
    assert events[0] == {
        "number": 1, "offset_usec": 0, "event": "started", "run": "boot", "variables": {"who": "Ann"}}
    assert events[2] == {
        "number": 3, "offset_usec": 0, "event": "log", "run": "boot", "node": 1, "path": "Boot/Greet",
        "text": "hello Ann"}
    assert events[6] == {
        "number": 7, "offset_usec": 1500000, "event": "success", "run": "boot", "node": 3, "path": "Boot/Again/Work",
        "duration_usec": 1500000}
    assert events[-1] == {
        "number": 10, "offset_usec": 1500000, "event": "success", "run": "boot", "duration_usec": 1500000}


def test_same_input_same_bytes(files):
    files(boot=daemon.tree_text(TREE, inputs={"who": "any"}), script={"default": "failure"})
    arguments = ["boot.json", "--script=script.json", "--set=who=1", "--json"]
    first = simulate(*arguments)
    assert first.returncode == 1 and "failed 2 times" in first.stdout
    assert simulate(*arguments) == simulate(*arguments, "--seed=0") == first
    assert simulate(*arguments, "--seed=1").stdout != first.stdout


def test_time_is_over(files):
    files(**outcome({"after": "2h"}))
    assert simulate("tree.json", "--script=script.json") == (
        1,
        "   0.000s » tree: started\n"
        "   0.000s ● Work: running\n"
        "3600.000s ● tree: running, not finished after 1h\n",
        "btctl: tree: not finished after 1h\n")
    assert simulate("tree.json", "--script=script.json", "--until=2h").returncode == 0
    assert json.loads(simulate("tree.json", "--script=script.json", "--until=1ms", "--json").stdout.splitlines()[-1]) \
        == {"offset_usec": 1000, "event": "running", "run": "tree", "text": "not finished after 1ms"}


def test_nothing_more_can_happen(files):
    files(**outcome({"after": "infinity"}))
    assert simulate("tree.json", "--script=script.json", "-q") == (
        1, "", "btctl: tree: nothing more can happen: Work never ends\n")


def test_endless_loop(files):
    files(tree=daemon.tree_text({"type": "KeepRunningUntilFailure", "child": WORK}))
    assert simulate("tree.json", "--until=infinity", "-q") == (
        1, "", "btctl: tree: not finished after 1000 rounds in which no leaf took time: the run seems endless\n")


@pytest.mark.parametrize("form", [[], ["--json"], ["--ascii"]], ids=["text", "json", "ascii"])
def test_expect(files, tmp_path, form):
    files(**outcome({"result": "failure", "after": "1s", "cause": "trüb"}))
    arguments = ["tree.json", "--script=script.json"]
    trace = tmp_path / "trace"
    trace.write_text(simulate(*arguments, *form).stdout, encoding="utf-8")
    assert simulate(*arguments, "--expect=trace") == (0, "trace: as expected, 4 events\n", "")
    assert simulate(*arguments, "--expect=trace", "-q", env={"LC_ALL": "C"}) == (0, "", "")
    assert btctl("simulate", "tree.json", "--expect=trace").returncode == 1


def test_expect_shows_the_first_difference(files, tmp_path):
    files(**outcome({"after": "1s"}))
    trace = tmp_path / "trace"
    trace.write_text("   0.000s » tree: started\n   0.000s ● Work: running\n   2.000s ✓ Work: success after 2s\n"
                     "   2.000s ✓ tree: success after 2s\n", encoding="utf-8")
    assert simulate("tree.json", "--script=script.json", "--expect=trace") == (
        1, "",
        "btctl: trace:3: the trace differs ('-': expected, '+': actual):\n"
        "     0.000s » tree: started\n"
        "     0.000s ● Work: running\n"
        "-    2.000s ✓ Work: success after 2s\n"
        "+    1.000s ✓ Work: success after 1s\n")


def test_expect_what_does_not_end(files, tmp_path):
    files(**outcome({"after": "infinity"}))
    arguments = ["tree.json", "--script=script.json"]
    (tmp_path / "trace").write_text(simulate(*arguments, "--json").stdout, encoding="utf-8")
    assert simulate(*arguments, "--expect=trace") == (0, "trace: as expected, 3 events\n", "")


def test_tree_with_errors(files):
    files(tree='{"btd": 1, "root": {"type": "Sleep", "duration": "5"}}')
    assert simulate("tree.json") == (
        2, "", "tree.json:1:50: error: duration: \"5\" is not a time span such as \"150ms\" or \"1min 30s\"; it has "
               "no unit (in Sleep)\n")
    assert simulate("none.json") == (2, "", "none.json: error: cannot be opened: No such file or directory\n")


def test_tree_with_warnings(files):
    files(tree=daemon.tree_text({"type": "Fallback", "name": "Boot", "children": [{"type": "AlwaysSuccess"}, WORK]}))
    result = simulate("tree.json", "-q")
    assert result.returncode == 0 and not result.stdout
    assert re.match(r"tree\.json:\d+:\d+: warning: .* \(in Boot", result.stderr)


def test_script_with_errors(files):
    files(tree=daemon.tree_text(WORK),
          script='{"halt": 5,\n "leaves": {"Wrk": "success", "Work": {"afer": "1s"}}}')
    assert simulate("tree.json", "--script=script.json") == (
        2, "",
        "script.json:1:10: error: halt: expected a time span such as \"150ms\" or \"1min 30s\", not the number 5; "
        "a number has no unit\n"
        "script.json:2:13: error: there is no leaf 'Wrk'; did you mean 'Work'?\n"
        "script.json:2:40: error: unknown key 'afer'; did you mean 'after'? (an action takes: result, after, halt, "
        "outputs, cause, cause_kind) (in Work)\n")
    assert simulate("tree.json", "--script=none") == (
        2, "", "none: error: cannot be read: No such file or directory\n")
    assert simulate("tree.json", "--script=.") == (2, "", ".: error: cannot be read: Is a directory\n")


@pytest.mark.parametrize("arguments, message", [
    (["--expect=none"], "btctl: none cannot be read: No such file or directory\n"),
    (["--expect=empty.json"],
     "btctl: empty.json is not a trace, as 'btctl simulate FILE > TRACE' writes it\n"),
    (["--until=5"], "btctl: --until: '5' is not a time span such as '90s' or '1h 30min'\nTry 'btctl --help'.\n"),
    (["--seed=-1"], "btctl: --seed: '-1' is not a whole number\nTry 'btctl --help'.\n"),
    (["--set=a"], "btctl: --set a: the value is missing; give --set KEY=JSON\nTry 'btctl --help'.\n"),
    (["--wait"], "btctl: 'simulate' takes no option '--wait'\nTry 'btctl --help'.\n"),
    (["other.json"], "btctl: 'other.json' is unexpected: btctl simulate FILE\nTry 'btctl --help'.\n"),
])
def test_wrong_usage(files, arguments, message):
    files(tree=daemon.tree_text(WORK), empty="")
    assert simulate("tree.json", *arguments) == (2, "", message)


def test_inputs(files):
    files(tree=daemon.tree_text(WORK, inputs={"n": {"type": "int", "description": "how many"}}))
    assert simulate("tree.json") == (
        2, "", "btctl: the input 'n' (int, \"how many\") is missing\n"
        "Give it with --set KEY=JSON, such as --set name='\"eth0\"' or --set retries=3.\n")
    assert simulate("tree.json", "--set", "n=true") == (2, "", "btctl: expected a whole number for 'n', but got true\n")
    assert simulate("tree.json", "--set", "n=2", "-q")[0] == 0


def test_hooks_of_what_is_stopped(files):
    """As btd-semantics(7) says: of a node whose 'while' became false, and after an ERROR."""
    hooks = {name: f"x = x .. '{name} '" for name in ("on_success", "on_failure", "on_halted", "always")}

    def told(root):
        files(tree=daemon.tree_text({"type": "Finally", "children": [
            root, {"type": "Log", "name": "Told", "message": "ran: {x}"}]}, blackboard={"x": "", "go": True, "n": None}))
        return re.search(r"Told: log: ran:(.*)", simulate("tree.json").stdout)[1].split()
    assert told({"type": "Parallel", "children": [
        {"type": "Sleep", "duration": "1h", "while": "go", **hooks}, {"type": "Sequence", "children": [
            {"type": "Sleep", "duration": "1s"}, {"type": "Script", "code": "go = false"}]}]}) == ["on_halted", "always"]
    assert told({"type": "Parallel", "children": [
        {"type": "Sleep", "duration": "1h", "while": "go == true or n + 1 > 0", **hooks}, {"type": "Sequence", "children": [
            {"type": "Sleep", "duration": "1s"}, {"type": "Script", "code": "go = false"}]}]}) == ["on_halted", "always"]
    assert told({"type": "Sequence", **hooks, "children": [{"type": "Script", "code": "n = n + 1"}]}) == \
        ["on_halted", "always"]
    assert told({"type": "Script", "code": "n = n + 1", **hooks}) == ["on_failure", "always"]
    assert told({"type": "AlwaysSuccess", "fail_if": "n > 1", **hooks}) == []


def test_long_names(files):
    def load(blackboard, **keys):
        files(tree=daemon.tree_text({"type": "AlwaysSuccess", **keys}, blackboard=blackboard))
        return simulate("tree.json", "-q")[0::2]
    assert load({"v" * 255: 1}, name="n" * 255) == (0, "")
    status, error = load({"v" * 256: 1})
    assert status == 2 and error.endswith("...' is too long for the name of a variable, which has 255 characters at most\n")
    status, error = load({}, name="n" * 256)
    assert status == 2 and "name: it is longer than 255 bytes" in error
    assert simulate("tree.json", "--set", "v" * 256 + "=1") == (
        2, "", "btctl: --set vvvvvvvvvvvvvvvvvvvv...: the name of a variable has 255 characters at "
        "most\nTry 'btctl --help'.\n")


def test_no_root(files):
    files(parts='{"btd": 1, "trees": {"part": {"root": {"type": "AlwaysSuccess"}}}}')
    assert simulate("parts.json") == (
        2, "", "btctl: parts.json: there is no root to run, only trees for other files\n")


def test_no_file():
    assert simulate() == (
        2, "", "btctl: 'simulate' needs an operand: btctl simulate FILE\nTry 'btctl --help'.\n")


def test_readme(tmp_path, monkeypatch):
    """The commands in README.md print the output that README.md shows."""
    with open(os.path.join(SOURCE, "README.md"), encoding="utf-8") as file:
        text = file.read()
    monkeypatch.chdir(tmp_path)
    for title, name in [("simulated tree", "camera.json"), ("simulation script", "slow.json")]:
        block = re.search(rf"<!-- {title} -->\n```json\n(.*?)```", text, re.S)[1]
        (tmp_path / name).write_text(block, encoding="utf-8")

    command, output = re.search(r"<!-- simulation -->\n```console\n\$ (.*?)\n(.*?)```", text, re.S).groups()
    assert btctl(*shlex.split(command)[1:], env=UTF8) == (0, output, "")
    (tmp_path / "slow.trace").write_text(output, encoding="utf-8")
    [check] = re.findall(r"^build/client/(btctl .*--expect=.*)$", text, re.M)
    assert btctl(*shlex.split(check)[1:], env=UTF8) == (0, "slow.trace: as expected, 15 events\n", "")


@pytest.mark.parametrize("name", ["upload", "fetch"])
def test_readme_trees(name, tmp_path, monkeypatch):
    """The trees in the chapters of README.md print the traces that it shows."""
    with open(os.path.join(SOURCE, "README.md"), encoding="utf-8") as file:
        text = file.read()
    monkeypatch.chdir(tmp_path)
    for title, block in re.findall(r"<!-- (?:tree|script): (\w+) -->\n```json\n(.*?)```", text, re.S):
        (tmp_path / f"{title}.json").write_text(block, encoding="utf-8")
    command, output = re.search(rf"<!-- simulate: {name} -->\n```console\n\$ (.*?)\n(.*?)```", text, re.S).groups()
    assert btctl(*shlex.split(command)[1:], env=UTF8) == (1, output, "")
