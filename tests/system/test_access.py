# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests permissions: polkit's defaults, rules that permit one tree, a missing polkit, passwords."""

import json
import os
import select
import subprocess
import time

import pathlib
import re

import pytest

SLEEP = {"type": "Sleep", "duration": "1h"}
# How the buses end a call whose receiver has gone, and a dbus-broker one whose receiver is about to be started again.
GONE = ["Remote peer disconnected\n", "Message recipient disconnected from message bus without replying\n",
        "Could not activate remote peer: unit failed.\n"]

# What an administrator may put into /etc/polkit-1/rules.d.
RULE = """
polkit.addRule(function(action, subject) {
    if (action.id == "org.btd1.start" && action.lookup("tree") == "camera" && subject.isInGroup("games"))
        return polkit.Result.YES;
    if (action.id == "org.btd1.control" && action.lookup("run") == "camera.1" && subject.user == "games")
        return polkit.Result.YES;
    if (action.lookup("tree") == "forbidden")
        return polkit.Result.NO;
});
"""


KEPT = """
polkit.addRule(function(action, subject) {
    if (action.id == "org.btd1.halt" && subject.user == "games")
        return polkit.Result.YES;
});
"""


@pytest.fixture(autouse=True)
def trees(machine):
    machine.load("camera", SLEEP)
    machine.load("other", SLEEP)
    machine.write("/srv/own.json", json.dumps({"btd": 1, "root": SLEEP}))
    if not machine.path("/etc/polkit-1/rules.d/10-camera.rules").exists():
        machine.write("/etc/polkit-1/rules.d/10-camera.rules", RULE)
        machine.check("systemctl", "restart", "polkit.service")


def refusal(machine, *words, user):
    result = machine.btctl(*words, user=user)
    assert (result.returncode, result.stdout) == (1, "")
    return result.stderr


@pytest.mark.parametrize("words, deed", [
    (("start", "other"), "start 'other'"),
    (("start", "camera", "--attach", "--token=mine"), "start 'camera'"),
    (("halt", "camera"), "halt 'camera'"),
    (("halt", "camera", "--token=camera.1"), "halt 'camera'"),
    (("pause", "camera"), "control 'camera.1'"),
    (("step", "camera"), "control 'camera.1'"),
    (("break", "camera", "Sleep"), "control 'camera.1'"),
    (("set", "camera", "a=1"), "set variables of 'camera.1'"),
    (("force", "camera", "Sleep", "success"), "force an outcome in 'camera.1'"),
    (("reload",), "reload"),
    (("run", "/srv/own.json"), "run a tree of your own as 'own'"),
])
def test_changing_needs_an_administrator(machine, words, deed):
    if not machine.btctl("status", "camera.1").returncode == 0:
        machine.check("btctl", "start", "camera")
    action = {"run": "load"}.get(words[0], "control" if words[0] in ("pause", "step", "break") else words[0])
    assert refusal(machine, *words, user="nobody") == \
        f"btctl: to {deed}, you have to authenticate for org.btd1.{action}; try it on a terminal, or with sudo\n"
    assert re.search(rf"^(.*: )?UID 65534, PID [1-9]\d* .*was not allowed to {deed} without a password$", machine.log(),
                     re.M)


def test_other_programs_are_told_what_to_do(machine):
    """Which action of polkit it is, and how to have the user asked for the password; there is no agent here."""
    call = "busctl", "call", "org.btd1", "/org/btd1", "org.btd1.Manager", "StartTree", "sa{sv}a{sv}", "other", "0", "0"
    told = "to start 'other', you have to authenticate for org.btd1.start; "
    for option, way in ("no", "let the call allow interactive authorization"), \
            ("yes", "run an authentication agent such as pkttyagent in your session"):
        result = machine.run(call[0], f"--allow-interactive-authorization={option}", *call[1:], user="nobody")
        assert result.stderr == f"Call failed: {told}{way}, or call as root\n"


def test_every_change_is_logged(machine):
    machine.check("btctl", "start", "camera@logged")
    machine.check("btctl", "halt", "camera", "--wait")
    assert machine.btctl("start", "camera@logged", "--set", "none=1").returncode != 0
    log = machine.log()
    for deed in ("start 'camera'", "halt 'camera'", "start 'camera': tree 'camera': no input 'none';"):
        assert re.search(rf"camera: UID 0, PID [1-9]\d*( \(btctl\))? asked to {deed}", log), log


def test_reading_is_open_to_all(machine):
    machine.btctl("start", "camera")
    for words in [("list",), ("status",), ("status", "camera"), ("cat", "camera"), ("get", "camera")]:
        assert machine.btctl(*words, user="nobody").returncode == 0


def test_run_records_without_btd(machine):
    """Root reads them; others learn what they cannot read."""
    machine.btctl("start", "camera@left")
    machine.check("btctl", "halt", "camera", "--wait")
    run = machine.check("btctl", "history", "camera").splitlines()[1].split()[0]
    machine.check("systemctl", "stop", "btd.service")
    directories = "/run/btd/runs", "/run/btd/finished", "/var/lib/btd/history"
    told = "btctl: btd is not running; these are the run records in {}, {} and {}\n".format(*directories)
    history = machine.btctl("history")
    assert (history.returncode, history.stderr) == (0, told) and f"\n{run} " in history.stdout
    assert f"{run} (left): halted" in machine.btctl("status", run).stdout
    unreadable = "; ".join(f"{directory} cannot be read: Permission denied" for directory in directories)
    for words in ("history",), ("list",), ("show", run), ("status", run):
        assert machine.btctl(*words, user="nobody") == (
            5, "", f"btctl: btd is not running, and {unreadable}; try it with sudo\n")
    machine.check("systemctl", "start", "btd.service")


def test_a_rule_permits_one_tree(machine):
    """The tree and the run go along as details."""
    machine.check("btctl", "halt", "camera", "--wait")
    assert machine.btctl("start", "camera@rule", "--token=mine", user="games").returncode == 0
    assert "you have to authenticate" in refusal(machine, "halt", "camera", "--token=mine", user="games")
    assert "you have to authenticate" in refusal(machine, "start", "other", user="games")
    assert "you have to authenticate" in refusal(machine, "start", "camera@nobody", user="nobody")
    machine.check("btctl", "halt", "camera", "--wait")


def test_a_rule_forbids_one_tree(machine):
    machine.load("forbidden", SLEEP)
    assert refusal(machine, "start", "forbidden", user="games") == \
        "btctl: you may not start 'forbidden': polkit refuses org.btd1.start\n"
    machine.check("btctl", "start", "forbidden")
    machine.check("btctl", "halt", "forbidden", "--wait")


def rule_of_the_manual():
    manual = (pathlib.Path(__file__).resolve().parents[2] / "daemon" / "btd.8").read_text(encoding="utf-8")
    return re.search(r"^// /etc/polkit-1/rules\.d/50-camera\.rules\n(.*?)^\.Ed", manual, re.S | re.M).group(1)


def test_the_rule_of_the_manual(machine):
    """Lets the operators start and halt the camera, and nothing else."""
    machine.check("groupadd", "operators")
    machine.check("usermod", "--append", "--groups", "operators", "news")
    machine.write("/etc/polkit-1/rules.d/50-camera.rules", rule_of_the_manual())
    machine.check("systemctl", "restart", "polkit.service")
    try:
        assert machine.btctl("start", "camera@manual", user="news").returncode == 0
        assert "you have to authenticate" in refusal(machine, "pause", "camera", user="news")
        assert "you have to authenticate" in refusal(machine, "halt", "camera", user="nobody")
        assert machine.btctl("halt", "camera", "--wait", user="news").returncode == 0
        assert "you have to authenticate" in refusal(machine, "start", "other", user="news")
    finally:
        machine.path("/etc/polkit-1/rules.d/50-camera.rules").unlink()
        machine.check("systemctl", "restart", "polkit.service")


def test_root_needs_no_polkit(machine):
    machine.check("systemctl", "mask", "--now", "--runtime", "polkit.service")
    try:
        assert refusal(machine, "start", "other", user="nobody") \
            == "btctl: only root may start 'other': polkit, which could permit org.btd1.start to others, is not running\n"
        machine.check("btctl", "start", "other")
        machine.check("btctl", "halt", "other", "--wait")
    finally:
        machine.check("systemctl", "unmask", "--runtime", "polkit.service")


def test_a_tree_keeps_others_out(machine):
    """Before anybody is asked for a password, and whatever polkit would have said."""
    machine.load("camera", SLEEP, access={"start": ["@games"], "halt": [], "control": ["nobody"]})
    machine.check("btctl", "start", "camera@root")
    assert machine.btctl("start", "camera@games", user="games").returncode == 0
    assert refusal(machine, "start", "camera@nobody", user="nobody") \
        == "btctl: you may not start 'camera': the tree lets only root and @games do this\n"
    assert refusal(machine, "halt", "camera", user="games") \
        == "btctl: you may not halt 'camera': the tree lets only root do this\n"
    run = machine.client.runs()[-1].id
    assert "you have to authenticate" in refusal(machine, "pause", run, user="nobody")
    assert "the tree lets only root and nobody do this" in refusal(machine, "pause", run, user="games")
    machine.check("btctl", "halt", "camera", "--wait")


def test_what_is_not_there_needs_no_password(machine):
    """Nor is polkit given names that are none: they would be shown to whoever is asked for it."""
    assert "no tree 'camara'; did you mean 'camera'?" in refusal(machine, "start", "camara", user="nobody")
    for arguments, text in [
            (("StartTree", "sa{sv}a{sv}", "x'. Just type it in:", "0", "0"), "no tree 'x'. Just type it in:'; 'btctl list'"),
            (("StartTree", "sa{sv}a{sv}", "x" * 100000, "0", "0"), f"no tree '{'x' * 60}...'; 'btctl list'"),
            (("HaltTree", "sa{sv}", "nothing", "0"), "no tree 'nothing'; 'btctl list'"),
            (("HaltRun", "sa{sv}", "nothing.1", "0"), "no run 'nothing.1'; 'btctl list'"),
            (("StartText", "ssa{sv}a{sv}", "a b", "{}", "0", "0"), "the name of a tree consists of letters, digits, '_' and '-'"),
            (("StartText", "ssa{sv}a{sv}", "camera", "{}", "0", "0"), "there is a tree 'camera' already")]:
        result = machine.run("busctl", "call", "org.btd1", "/org/btd1", "org.btd1.Manager", *arguments, user="nobody")
        assert result.returncode != 0 and text in result.stderr, result.stderr
    assert re.search(r"nothing: UID 65534, PID [1-9]\d* .*was not allowed to halt 'nothing': no tree", machine.log())
    assert max(map(len, machine.log().splitlines())) < 1000


def test_runs_of_a_tree_that_is_gone_are_kept_from_others(machine):
    """Or of one that lets more people in by now; and while btd has not yet taken up what there is."""
    machine.load("kept", SLEEP, access={"halt": []})
    machine.write("/etc/polkit-1/rules.d/20-kept.rules", KEPT)
    machine.check("systemctl", "restart", "polkit.service")
    run = machine.check("btctl", "start", "kept").strip()
    kept = "you may not halt 'kept': the tree lets only root do this\n"
    try:
        assert halt(machine, "HaltTree", "kept", "games") == kept
        machine.load("kept", SLEEP)
        assert halt(machine, "HaltTree", "kept", "games") == kept
        machine.path("/etc/btd/trees/kept.json").unlink()
        machine.check("btctl", "reload")
        assert halt(machine, "HaltTree", "kept", "games") == kept
        machine.load("kept", SLEEP)
        machine.check("systemctl", "restart", "btd.service")  # what is killed has not counted what it ran
        machine.check("systemctl", "kill", "--signal=KILL", "btd.service")
        assert halt(machine, "HaltRun", run, "games") == kept.replace("'kept'", f"'{run}'")
        assert machine.client.run_property("/org/btd1/run/kept_2e1", "Status") == "running"
        machine.check("btctl", "halt", "kept", "--wait")
        machine.check("btctl", "start", "kept")
        assert machine.btctl("halt", "kept", "--wait", user="games").returncode == 0
    finally:
        machine.path("/etc/polkit-1/rules.d/20-kept.rules").unlink()
        machine.check("systemctl", "restart", "polkit.service")


def halt(machine, method, name, user):
    """Returns the error text. Starts btd if it does not run. A call that has not reached btd, because it was killed, is
    sent again."""
    while True:
        result = machine.run("busctl", "call", "org.btd1", "/org/btd1", "org.btd1.Manager", method, "sa{sv}", name, "0",
                             user=user)
        assert result.returncode != 0
        text = result.stderr.removeprefix("Call failed: ")
        if text not in GONE:
            return text


def at_a_terminal(machine, password, *words):
    """btctl in a session of its own, as after a login, with a user who types the password when btctl asks for it. What
    is typed before the terminal has stopped to show it is lost, so it is typed again until btctl has ended. The session
    ends only when all that btctl printed has been read: the kernel drops what a terminal still holds when the leader of
    its session exits."""
    script = """btctl "$@"; printf '\\nended: %s\\n' $?; until [ "$line" = leave ]; do read -r line; done"""
    command = ["nsenter", "--target", str(machine.leader), "--all", "--", "systemd-run", "--quiet", "--wait", "--pty",
               "--property=PAMName=login", "--uid=alice", "--setenv=TERM=dumb", "sh", "-c", script, "sh", *words]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        raw, text, deadline, ended = b"", "", time.monotonic() + 60, None
        while not ended and time.monotonic() < deadline:
            if select.select([process.stdout], [], [], 0.5)[0]:
                output = os.read(process.stdout.fileno(), 4096)
                if not output:
                    break
                raw += output
                text = raw.decode(errors="replace").replace("\r\n", "\n")
                ended = re.search(r"\nended: (\d+)\n", text)
            elif "Password: " in text:
                type_line(process, password)
        if ended:
            type_line(process, "leave")
        else:
            process.kill()
    assert ended, text
    return int(ended[1]), text[:ended.start()]


def type_line(process, line):
    process.stdin.write(line.encode() + b"\n")
    process.stdin.flush()


@pytest.fixture
def alice(machine):
    """Who may do what root may, with his password."""
    if machine.run("id", "alice").returncode != 0:
        machine.check("useradd", "--groups", "sudo", "alice")
        machine.check("chpasswd", stdin="alice:right\n")


def test_a_password_is_asked_for_on_a_terminal(machine, alice):
    machine.run("btctl", "halt", "camera", "--wait")
    status, text = at_a_terminal(machine, "right", "start", "camera")
    assert status == 0, text
    assert "Authentication is required to start the tree 'camera'." in text and "AUTHENTICATION COMPLETE" in text
    run = re.search(r"^(?:\x1b\[0m)?(camera\.\d+)\r?$", text, re.M)[1]  # pkttyagent may reset the colours after it
    assert machine.check("btctl", "get", run) == ""
    machine.check("btctl", "halt", "camera", "--wait")


def test_a_wrong_password_is_of_no_use(machine, alice):
    machine.run("btctl", "start", "camera@wrong")
    status, text = at_a_terminal(machine, "wrong", "halt", "camera")
    assert status == 1, text
    assert "AUTHENTICATION FAILED" in text
    assert "btctl: you may not halt 'camera': polkit refuses org.btd1.halt" in text
    machine.check("btctl", "halt", "camera", "--wait")
