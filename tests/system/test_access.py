# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests permissions: polkit's defaults, rules that permit one tree, a missing polkit, passwords."""

import json
import os
import pathlib
import pwd
import re
import subprocess

import pytest

SLEEP = {"type": "Sleep", "duration": "1h"}
# How the buses end a call whose receiver has gone, and a dbus-broker one whose receiver is about to be started again.
GONE = ["Remote peer disconnected\n", "Message recipient disconnected from message bus without replying\n",
        "Could not activate remote peer: unit failed.\n"]

# What an administrator may put into /etc/polkit-1/rules.d.
RULE = r"""
polkit.addRule(function(action, subject) {
    if (action.id == "org.btd1.start" && /^(camera|guarded)$/.test(action.lookup("tree")) && subject.isInGroup("games"))
        return polkit.Result.YES;
    if (action.id == "org.btd1.control" && /^camera\.[0-9]+$/.test(action.lookup("run")) && subject.user == "games")
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


def prepare(machine):
    machine.tree("camera", SLEEP)
    machine.tree("other", SLEEP)
    machine.write("/srv/own.json", json.dumps({"btd": 1, "root": SLEEP}))
    machine.write("/etc/polkit-1/rules.d/10-camera.rules", RULE)
    # Who may do what root may, with her password.
    machine.check("useradd", "--groups", "sudo", "alice")
    machine.check("chpasswd", stdin="alice:right\n")
    # Those of the rule in the manual.
    machine.check("groupadd", "operators")
    machine.check("usermod", "--append", "--groups", "operators", "news")


def refusal(machine, *words, user):
    result = machine.btctl(*words, user=user)
    assert (result.returncode, result.stdout) == (1, "")
    return result.stderr


# Each by another user: the log leaves out a user's refusals after some in 30 s.
@pytest.mark.parametrize("user, words, deed", [
    ("bin", ("start", "other"), "start 'other'"),
    ("sys", ("start", "camera", "--attach", "--token=mine"), "start 'camera'"),
    ("man", ("halt", "camera"), "halt 'camera'"),
    ("lp", ("halt", "camera", "--token=camera.1"), "halt 'camera'"),
    ("mail", ("pause", "camera"), "control '{}'"),
    ("uucp", ("step", "camera"), "control '{}'"),
    ("proxy", ("break", "camera", "Sleep"), "control '{}'"),
    ("backup", ("set", "camera", "a=1"), "set variables of '{}'"),
    ("list", ("force", "camera", "Sleep", "success"), "force an outcome in '{}'"),
    ("irc", ("reload",), "reload"),
    ("www-data", ("run", "/srv/own.json"), "run a tree of your own as 'own'"),
])
def test_changing_needs_an_administrator(machine, user, words, deed):
    deed = deed.format(machine.client.start("camera")[0])
    action = {"run": "load"}.get(words[0], "control" if words[0] in ("pause", "step", "break") else words[0])
    assert refusal(machine, *words, user=user) == \
        f"btctl: to {deed}, you have to authenticate for org.btd1.{action}; try it on a terminal, or with sudo\n"
    uid = pwd.getpwnam(user).pw_uid
    assert re.search(rf"^(.*: )?UID {uid}, PID [1-9]\d* .*was not allowed to {deed} without a password$", machine.log(), re.M)


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
    run = machine.client.start("camera")[0]
    for words in [("list",), ("status",), ("status", "camera"), ("status", run), ("cat", "camera"), ("get", "camera")]:
        assert machine.btctl(*words, user="nobody").returncode == 0, words


def test_run_records_without_btd(machine):
    """Root reads them; others learn what they cannot read."""
    machine.btctl("start", "camera@left")
    machine.check("btctl", "halt", "camera", "--wait")
    run = machine.check("btctl", "history", "camera").splitlines()[1].split()[0]
    machine.check("systemctl", "stop", "btd.service")
    machine.check("rm", "-rf", "/var/lib/btd/running")  # it exists only after a run whose record has a copy
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


@pytest.mark.both_buses("polkit and btd ask the bus who the caller is")
def test_a_rule_permits_one_tree(machine):
    """The tree and the run go along as details."""
    assert machine.btctl("start", "camera@rule", "--token=mine", user="games").returncode == 0
    assert machine.btctl("pause", "camera", user="games").returncode == 0
    assert "you have to authenticate" in refusal(machine, "halt", "camera", "--token=mine", user="games")
    assert "you have to authenticate" in refusal(machine, "start", "other", user="games")
    machine.check("btctl", "start", "other")
    assert "you have to authenticate" in refusal(machine, "pause", "other", user="games")
    assert "you have to authenticate" in refusal(machine, "start", "camera@nobody", user="nobody")


def test_a_rule_forbids_one_tree(machine):
    machine.load("forbidden", SLEEP)
    assert refusal(machine, "start", "forbidden", user="games") == \
        "btctl: you may not start 'forbidden': polkit refuses org.btd1.start\n"
    machine.check("btctl", "start", "forbidden")


def add_rule(machine, name, text):
    machine.write(f"/etc/polkit-1/rules.d/{name}.rules", text)
    machine.check("systemctl", "restart", "polkit.service")


def rule_of_the_manual():
    manual = (pathlib.Path(__file__).resolve().parents[2] / "daemon" / "btd.8").read_text(encoding="utf-8")
    return re.search(r"^// /etc/polkit-1/rules\.d/50-camera\.rules\n(.*?)^\.Ed", manual, re.S | re.M).group(1)


def test_the_rule_of_the_manual(machine):
    """Lets the operators start and halt the camera, and nothing else."""
    add_rule(machine, "50-camera", rule_of_the_manual())
    assert machine.btctl("start", "camera@manual", user="news").returncode == 0
    assert "you have to authenticate" in refusal(machine, "pause", "camera", user="news")
    assert "you have to authenticate" in refusal(machine, "halt", "camera", user="nobody")
    assert machine.btctl("halt", "camera", "--wait", user="news").returncode == 0
    assert "you have to authenticate" in refusal(machine, "start", "other", user="news")


def test_root_needs_no_polkit(machine):
    machine.check("systemctl", "mask", "--now", "--runtime", "polkit.service")
    try:
        assert refusal(machine, "start", "other", user="nobody") \
            == "btctl: only root may start 'other': polkit, which could permit org.btd1.start to others, is not running\n"
        machine.check("btctl", "start", "other")
    finally:
        machine.check("systemctl", "unmask", "--runtime", "polkit.service")
        machine.check("systemctl", "start", "polkit.service")


def test_a_tree_keeps_others_out(machine):
    """Before anybody is asked for a password, and whatever polkit would have said."""
    machine.load("guarded", SLEEP, access={"start": ["@games"], "halt": [], "control": ["nobody"]})
    run = machine.client.start("guarded", "root")[0]
    assert machine.btctl("start", "guarded@games", user="games").returncode == 0
    assert refusal(machine, "start", "guarded@nobody", user="nobody") \
        == "btctl: you may not start 'guarded': the tree lets only root and @games do this\n"
    assert refusal(machine, "halt", "guarded", user="games") \
        == "btctl: you may not halt 'guarded': the tree lets only root do this\n"
    assert "you have to authenticate" in refusal(machine, "pause", run, user="nobody")
    assert "the tree lets only root and nobody do this" in refusal(machine, "pause", run, user="games")


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
        result = machine.run("busctl", "call", "org.btd1", "/org/btd1", "org.btd1.Manager", *arguments, user="sync")
        assert result.returncode != 0 and text in result.stderr, result.stderr
    assert re.search(r"nothing: UID 4, PID [1-9]\d* .*was not allowed to halt 'nothing': no tree", machine.log())
    assert max(map(len, machine.log().splitlines())) < 1000


@pytest.mark.both_buses("how a call ends whose receiver is killed, and is started again for the next")
def test_runs_of_a_tree_that_is_gone_are_kept_from_others(machine):
    """Or of one that lets more people in by now; and while btd has not yet taken up what there is."""
    machine.load("kept", SLEEP, access={"halt": []})
    add_rule(machine, "20-kept", KEPT)
    run = machine.check("btctl", "start", "kept").strip()
    kept = "you may not halt 'kept': the tree lets only root do this\n"
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
    assert machine.client.run_property("/org/btd1/run/" + run.replace(".", "_2e"), "Status") == "running"
    machine.check("btctl", "halt", "kept", "--wait")
    machine.check("btctl", "start", "kept")
    assert machine.btctl("halt", "kept", "--wait", user="games").returncode == 0


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
    """btctl in a session of its own, as after a login, with a user who types the password when btctl asks for it. The
    session ends only when all that btctl printed has been read: the kernel drops what a terminal still holds when the
    leader of its session exits."""
    script = """btctl "$@"; printf '\\nended: %s\\n' $?; until [ "$line" = leave ]; do read -r line; done"""
    command = machine.command("systemd-run", "--quiet", "--wait", "--pty", "--property=PAMName=login", "--uid=alice",
                              "--setenv=TERM=dumb", "sh", "-c", script, "sh", *words)
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        try:
            machine.wait_for_password()
            type_line(process, password)
            output = b""
            while b"\nended: " not in output or not output.endswith(b"\n"):
                output += (part := os.read(process.stdout.fileno(), 4096))
                assert part, output
            type_line(process, "leave")
        except BaseException:
            process.kill()
            raise
    text, status = output.decode().replace("\r\n", "\n").split("\nended: ")
    return int(status), text


def type_line(process, line):
    process.stdin.write(line.encode() + b"\n")
    process.stdin.flush()


def test_a_password_is_asked_for_on_a_terminal(machine):
    status, text = at_a_terminal(machine, "right", "start", "camera")
    assert status == 0, text
    assert "Authentication is required to start the tree 'camera'." in text and "AUTHENTICATION COMPLETE" in text
    run = re.search(r"^(?:\x1b\[0m)?(camera\.\d+)\r?$", text, re.M)[1]  # pkttyagent may reset the colours after it
    assert machine.check("btctl", "get", run) == ""


def test_a_wrong_password_is_of_no_use(machine):
    machine.check("btctl", "start", "camera@wrong")
    status, text = at_a_terminal(machine, "wrong", "halt", "camera")
    assert status == 1, text
    assert "AUTHENTICATION FAILED" in text
    assert "btctl: you may not halt 'camera': polkit refuses org.btd1.halt" in text
