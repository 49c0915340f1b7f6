# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests btctl without btd: the command line, the offline verbs, and wrong answers of a fake btd."""

import json
import os
import re

import pytest
from gi.repository import GLib

import client
import daemon
from btctl_runs import GOOD, SOURCE, UTF8, btctl, without_times


# The command line


@pytest.mark.parametrize("arguments, message", [
    (["lst"], "unknown verb 'lst'; did you mean 'list'?"),
    (["frobnicate"], "unknown verb 'frobnicate'"),
    (["daemon-reload"], "unknown verb 'daemon-reload'; 'btctl reload' reads the tree files again"),
    (["is-active", "boot"], "unknown verb 'is-active'; 'btctl status' shows whether a tree is running"),
    (["journal"], "unknown verb 'journal'; 'btctl logs' shows what a run has logged"),
    (["kill", "boot"], "unknown verb 'kill'; 'btctl halt' halts a run"),
    (["--waitt", "start", "boot"], "unknown option '--waitt'; did you mean '--wait'?"),
    (["list", "--frobnicate=3"], "unknown option '--frobnicate'"),
    (["list", "-x"], "unknown option '-x'"),
    (["list", "-qx"], "unknown option '-x'"),
    (["list", "-ü"], "unknown option '-�'"),
    (["--quiet=3", "list"], "option '--quiet' takes no value"),
    (["start", "boot", "--instance"], "option '--instance' needs a value: --instance=NAME"),
    (["list", "-H"], "option '--host' needs a value: --host=[USER@]HOST"),
    (["list", "--wait"], "'list' takes no option '--wait'"),
    (["halt", "boot", "--follow"], "'halt' takes no option '--follow'"),
    (["status", "--set", "a=1"], "'status' takes no option '--set'"),
    (["start"], "'start' needs an operand: btctl start TREE..."),
    (["halt"], "'halt' needs an operand: btctl halt TREE|RUN..."),
    (["stop"], "'stop' needs an operand: btctl stop TREE|RUN..."),
    (["cat"], "'cat' needs an operand: btctl cat TREE"),
    (["validate"], "'validate' needs an operand: btctl validate FILE..."),
    (["cat", "boot", "net"], "'net' is unexpected: btctl cat TREE"),
    (["logs", "boot", "--since=noon"], "--since: 'noon' is neither a time span such as '2h', nor a date such as "
                                       "'2026-11-23 14:00'"),
    (["logs", "boot", "--since=-10"], "--since: '-10' is neither a time span such as '2h', nor a date such as "
                                      "'2026-11-23 14:00'"),
    (["logs", "boot", "--until=noon"], "--until: 'noon' is neither a time span such as '2h', nor a date such as "
                                       "'2026-11-23 14:00'"),
    (["logs", "-n", "boot"], "--lines: 'boot' is neither a number nor 'all'"),
    (["logs", "boot", "-n"], "option '--lines' needs a value: --lines=N"),
    (["logs", "boot", "--lines=-1"], "--lines: '-1' is neither a number nor 'all'"),
    (["history", "-n", "few"], "--lines: 'few' is neither a number nor 'all'"),
    (["logs", "boot", "-f", "-r"], "--follow and --reverse cannot be given together"),
    (["logs", "boot", "-f", "--until=1h"], "--follow and --until cannot be given together"),
    (["plot", "boot", "--json"], "'plot' does not print JSON; use --format=trace, which is JSON for trace viewers"),
    (["graph", "boot", "--json"], "'graph' does not print JSON; 'btctl status --json' has the nodes of a tree or a run"),
    (["graph", "boot", "--format=png"], "--format: 'png' is none of 'svg', 'html', 'dot' and 'mermaid'"),
    (["graph"], "'graph' needs an operand: btctl graph TREE|RUN|FILE"),
    (["start", "boot", "net", "--attach"], "'--attach' takes one tree: 'net' is unexpected"),
    (["start", "boot", "net", "--follow"], "'--follow' takes one tree: 'net' is unexpected"),
    (["list", "boot"], "'boot' is unexpected: 'list' takes no operands"),
    (["list", "--", "--wait"], "'--wait' is unexpected: 'list' takes no operands"),
    (["--user", "--system", "list"], "--system and --user cannot be given together"),
    (["--user", "--address=unix:path=/x", "list"], "--user and --address cannot be given together"),
    (["-H", "there", "-M", "here", "list"], "--host and --machine cannot be given together"),
    (["start", "boot@a", "--instance=b"], "the instance is given twice: 'boot@a' and --instance=b"),
    (["start", "boot", "name=eth0"], "'name=eth0' is unexpected; set a variable with --set KEY=JSON"),
    (["start", "boot", "--set", "name=eth0"],
     "--set name: 'eth0' is not JSON; write a string as: --set name='\"eth0\"'"),
    (["start", "boot", "--set", "name={a:1}"], "--set name: '{a:1}' is not JSON"),
    (["start", "boot", "--set", "name=1,2"],
     "--set name: '1,2' is not JSON; write a string as: --set name='\"1,2\"'"),
    (["start", "boot", "--set", "name="], "--set name: '' is not JSON"),
    (["start", "boot", "--set", "name"], "--set name: the value is missing; give --set KEY=JSON"),
    (["start", "boot", "--set", "1st=1"],
     "--set 1st=1: '1st' cannot be the name of a variable (a letter or '_', then letters, digits, '_' and '-')"),
    (["start", "boot", "--set", "a=1", "--set", "a=2"], "--set a: it is set twice"),
    (["complete", "sentences"], "'sentences' cannot be completed"),
    (["complete", "nodes"], "'nodes' needs a run"),
    (["complete", "variables"], "'variables' needs a run"),
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


def test_help_of_an_option_is_that_of_the_verb():
    for verb, option, text in [("start", "--token", "Start only once"), ("halt", "--token", "Halt only the runs"),
                               ("stop", "--token", "Halt only the runs"), ("history", "--until", "Only until this time:"),
                               ("simulate", "--until", "Stop after"), ("replay", "--until", "Only until this time span"),
                               ("graph", "--format", "svg, html, dot or mermaid"), ("plot", "--format", "svg, html or trace"),
                               ("validate", "--format", "sarif"), ("metrics", "--format", "openmetrics or http")]:
        line = next(line for line in btctl(verb, "--help").stdout.splitlines() if option + "=" in line)
        assert line[line.index("=") + 1:].split(None, 1)[1].startswith(text)


def test_manual_names_everything():
    with open(os.path.join(SOURCE, "client", "btctl.1"), encoding="utf-8") as file:
        page = file.read()
    for verb in btctl("complete", "verbs").stdout.split():
        assert f".Cm {verb}\n" in page or f".It Cm {verb}" in page, verb
    for option in btctl("complete", "options", "start").stdout.split():
        assert f"Fl {option[1:].rstrip('=')}" in page, option


def test_version():
    assert re.fullmatch(r"btctl \d+\.\d+\.\d+\ncommit (\w{12}|unknown)\n"
                        r"systemd \d+ at build time, (\d.*|none) at run time\n", btctl("--version").stdout)


# Without a running btd


@pytest.mark.parametrize("arguments", [["list"], ["status"], ["start", "boot"], ["start", "boot", "--follow"],
                                       ["halt", "boot", "--wait"], ["wait", "boot"],
                                       ["restart", "boot"], ["metrics"], ["stats"], ["reload"], ["monitor"],
                                       ["follow", "boot"], ["kept", "boot"], ["forget", "boot"], ["cat", "boot"], ["graph", "boot"]])
def test_no_daemon(bus, arguments):
    result = btctl("--address=" + bus.address, *arguments)
    assert result == (5, "", f"btctl: btd is not running on the bus at {bus.address}; "
                             "start it with 'btd --address=ADDR'\n")


@pytest.mark.parametrize("option, variable, command", [
    ("--system", "DBUS_SYSTEM_BUS_ADDRESS", "systemctl start btd"),
    ("--user", "DBUS_SESSION_BUS_ADDRESS", "systemctl --user start btd")])
def test_no_daemon_on_a_usual_bus(bus, option, variable, command):
    # Not "list", which would read what an installed btd has left.
    result = btctl(option, "start", "boot", env={variable: bus.address})
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
    misnamed = tmp_path / "my tree.json"
    misnamed.write_text(daemon.tree_text({"type": "AlwaysSuccess"}))
    assert btctl("validate", str(misnamed)) == (
        0, f"{misnamed}: ok, 1 node\n",
        f"{misnamed}: warning: btd does not load a file of this name, because the name of a tree consists of letters, digits, "
        "'_' and '-', 100 at most\n")
    result = btctl("validate", str(bad), str(good))
    assert result.returncode == 1
    assert result.stdout == f"{good}: ok, 3 nodes\n"
    assert result.stderr.startswith(f"{bad}:2:") and "did you mean 'Sequence'?" in result.stderr

    [first, second] = json.loads(btctl("validate", "--json", str(bad), str(good)).stdout)
    assert (first["file"], first["valid"], second["valid"]) == (str(bad), False, True)
    assert first["diagnostics"][0]["line"] == 2 and first["diagnostics"][0]["severity"] == "error"
    assert second["diagnostics"] == []


def test_validate_names_of_units(tmp_path):
    """Reports each name at its place: an invalid name is an error, a short one is a warning."""
    units = tmp_path / "units.json"
    units.write_text('{ "btd": 1, "inputs": { "n": "int" }, "root": { "type": "Sequence", "children": [\n'
                     '  { "type": "StartUnit", "unit": "x" },\n'
                     '  { "type": "UnitState", "unit": "cam@{n}" } ] } }')
    assert btctl("validate", str(units)) == (
        0, f"{units}: ok, 3 nodes\n",
        f'{units}:2:34: warning: unit: "x" is taken for "x.service"; write the suffix, too (in Sequence/StartUnit)\n')
    user = tmp_path / "user.json"
    user.write_text(daemon.tree_text({"type": "SubTree", "tree": "units", "inputs": {"n": 1}}))
    assert btctl("validate", str(user)) == (0, f"{user}: ok, 4 nodes\n", "")

    units.write_text(units.read_text().replace('"x"', '"x.tagret"'))
    assert btctl("validate", str(units)) == (
        1, "", f'{units}:2:34: error: unit: "x.tagret" is not the name of a unit: there is no suffix ".tagret"; did you '
               'mean "x.target"? (in Sequence/StartUnit)\n')


def test_validate_what_uses_other_files(tmp_path):
    """Other files are found beside the file, or on the user's search path; each error names its own file."""
    home, files = tmp_path / "home", tmp_path / "files"
    path = home / ".config/btd/trees"
    path.mkdir(parents=True)
    files.mkdir()
    env = {"HOME": str(home), "XDG_CONFIG_HOME": str(home / ".config")}
    use = '{ "type": "SubTree", "tree": "%s" }'
    (files / "boot.json").write_text('{ "btd": 1, "include": ["steps.json"], "root": { "type": "Sequence", "children": [' + use % "step" + ", "
                                     + use % "beside" + ", " + use % "elsewhere" + "] } }")
    (files / "steps.json").write_text('{ "btd": 1, "trees": { "step": { "root": { "type": "AlwaysSuccess" } } } }')
    (files / "beside.json").write_text(daemon.tree_text(GOOD))
    (path / "elsewhere.json").write_text(daemon.tree_text(GOOD))
    boot = files / "boot.json"
    assert btctl("--user", "validate", str(boot), env=env) == (0, f"{boot}: ok, 11 nodes\n", "")
    assert btctl("validate", str(files / "steps.json")) == (0, f"{files}/steps.json: ok, only trees for other files\n", "")

    (files / "bytes.lua").write_bytes(b"function f() end -- \xff")
    (files / "lua.json").write_text('{ "btd": 1, "lua": ["bytes.lua"], "root": { "type": "Condition", "test": "f() == nil" } }')
    assert btctl("validate", str(files / "lua.json")) == (1, "", f"{files}/bytes.lua:1:21: error: this byte is not UTF-8 text\n")

    (path / "elsewhere.json").write_text('{ "btd": 1,\n  "root": { "type": "AlwaysSucces" } }')
    wrong = f"{path}/elsewhere.json:2:21: error: unknown type 'AlwaysSucces'; did you mean 'AlwaysSuccess'? (in AlwaysSucces)\n"
    assert btctl("--user", "validate", str(boot), env=env) == (
        1, "", f"{boot}:1:192: error: tree: '{path}/elsewhere.json' cannot be used, because it has errors (in Sequence/SubTree)\n{wrong}")
    [result] = json.loads(btctl("--user", "validate", "--json", str(boot), env=env).stdout)
    assert [entry["file"] for entry in result["diagnostics"]] == [str(boot), f"{path}/elsewhere.json"]


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
        assert max(map(len, text.splitlines())) <= 80
        assert json.loads(btctl("types", name, "--json").stdout)["name"] == name
    assert {entry["name"] for entry in json.loads(btctl("types", "--json").stdout)} \
        == set(btctl("complete", "types").stdout.split())
    assert "\nKeys of any node\n  fail_if " in everything


def test_types_explains_parameters():
    text = btctl("types", "Retry").stdout
    assert text.startswith("RetryUntilSuccessful (decorator)\n")
    assert "\nAlso called: Retry\n" in text
    assert "\n  num_attempts (integer, at least -1, required, {references} too)\n" in text
    assert "\n  backoff.initial (time span, required)\n" in text
    assert "\n  interval (time span, at least 10ms, default \"10s\")\n" in btctl("types", "Command").stdout
    assert "\n  state (string or array of strings, an active state such as \"active\",\n" in btctl("types", "UnitState").stdout
    assert "\n  path (string, an object path, required)\n" in btctl("types", "DBusCall").stdout
    assert "\n  Give exactly one of these parameters: hz, period.\n" in btctl("types", "RateController").stdout
    assert "\n  properties cannot be given with \"as\": \"child\".\n" in btctl("types", "Spawn").stdout
    assert "\n  inputs (any value, {references} too)\n" in btctl("types", "SubTree").stdout
    assert "\n  outputs (object of names of variables)\n" in btctl("types", "SubTree").stdout


@pytest.mark.parametrize("name, message", [
    ("Fallbck", "no type 'Fallbck'; did you mean 'Fallback'?"),
    ("Zoological", "no type 'Zoological'; 'btctl types' lists them all")])
def test_types_of_another_name(name, message):
    assert btctl("types", name) == (1, "", f"btctl: {message}\n")


def test_schema():
    schema = json.loads(btctl("schema").stdout)
    assert schema["type"] == "object" and "root" in schema["properties"]


# A fake btd: results that no tree gives by itself, and invalid answers


FALSE_MANAGER = """<node><interface name="org.btd1.Manager">
  <method name="StartTree"><arg type="s" direction="in"/><arg type="a{{sv}}" direction="in"/>
    <arg type="a{{sv}}" direction="in"/><arg type="s" direction="out"/><arg type="o" direction="out"/>
    <arg type="a{{sv}}" direction="out"/></method>
  <method name="ListTrees"><arg type="{trees}" direction="out"/></method>
  <signal name="RunFinished"><arg type="s"/><arg type="o"/><arg type="s"/><arg type="s"/></signal>
</interface></node>"""


def false_daemon(peer_client, methods, trees="aa{{sv}}"):
    return client.Peer(peer_client, "org.btd1", "/org/btd1", FALSE_MANAGER.format(trees=trees), methods)


@pytest.mark.parametrize("status, exit_status, symbol", [
    ("skipped", 0, "↷"), ("error", 4, "!"), ("halted", 3, "■"), ("of the future", 1, "?")])
def test_result(bus, peer_client, status, exit_status, symbol):
    def start(parameters, invocation):
        invocation.return_value(GLib.Variant("(soa{sv})", ("boot.7", "/org/btd1/run/boot_2e7", {})))
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
    assert re.fullmatch(r"btctl: cannot read the message from btd \(.+\); are btd and btctl of the same version\?\n",
                        result.stderr)


def test_permission(bus, peer_client):
    def refuse(parameters, invocation):
        invocation.return_dbus_error("org.freedesktop.DBus.Error.AccessDenied", "Rejected send message")
        return True
    false_daemon(peer_client, {"StartTree": refuse})
    assert btctl("--address=" + bus.address, "start", "boot") \
        == (1, "", "btctl: only root may do this; try it with sudo\n")
