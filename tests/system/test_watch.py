# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests btctl watch with what only a booted system has: a polkit that refuses, and lines of units in the journal."""

import pytest

from screen import Screen

IDLE = {"type": "Sleep", "name": "Idle", "duration": "infinity"}
TALKS = """[Service]
Type=exec
ExecStart=/bin/sh -c 'echo from the unit; while ! test -e /run/more; do sleep 0.1; done; echo said later; sleep infinity'
"""
RULE = """
polkit.addRule(function(action, subject) {
    if (action.id.indexOf("org.btd1.") == 0 && subject.user == "games")
        return polkit.Result.NO;
});
"""
PASSWORD = "1111"


def prepare(machine):
    machine.write("/etc/polkit-1/rules.d/10-games.rules", RULE)


@pytest.fixture
def watch(machine):
    """Starts a run, and shows it in a terminal: watch(user, *prefix) -> (screen, run)."""
    machine.load("boot", IDLE)
    run = machine.check("btctl", "start", "boot").split()[0]
    made = []

    def make(user, *prefix):
        made.append(Screen(machine.command(*prefix, "btctl", "watch", run, user=user)))
        made[-1].wait(f"● {run}: running", "? keys")
        return made[-1], run
    yield make
    for it in made:
        it.close()


@pytest.mark.parametrize("keys, deed, action", [
    (["x", "y"], "halt '{}'", "halt"),
    (["p", "y"], "control '{}'", "control"),
    (["b", "y"], "control '{}'", "control"),
    (["F", "success", "Enter"], "force an outcome in '{}'", "force"),
    (["v", "n=1", "Enter"], "set variables of '{}'", "set"),
    (["a", "y"], "start 'boot'", "start")])
def test_what_polkit_refuses(machine, watch, keys, deed, action):
    """The view says so, and continues."""
    screen, run = watch("games")
    screen.keys(*keys)
    screen.wait(f"you may not {deed.format(run)}: polkit refuses org.btd1.{action}", f"● {run}: running")
    screen.keys("2")
    screen.wait("[2 Variables]", "? keys", without=["polkit"])
    assert [it.status for it in machine.client.runs() if it.id == run] == ["running"]


def test_nobody_can_be_asked(machine, watch):
    """Without a session, there is no agent that could ask for a password."""
    screen, run = watch("nobody")
    screen.keys("x", "y")
    screen.wait(f"\nto halt '{run}', you have to authenticate for org.btd1.halt; try it with sudo\n", f"● {run}: running")
    screen.keys("2")
    screen.wait("[2 Variables]", "? keys", without=["authenticate"])


def log_in(machine, name):
    """What starts a program in a session of this user, on a terminal of its own."""
    machine.check("useradd", "--groups", "sudo", name)
    machine.check("chpasswd", stdin=f"{name}:{PASSWORD}\n")
    return ["systemd-run", "--quiet", "--wait", "--pty", "--property=PAMName=login", f"--uid={name}",
            "--setenv=TERM=screen", "--setenv=LC_ALL=C.UTF-8"]


def answer(machine, screen, password):
    machine.wait_for_password()
    screen.type(password)
    screen.keys("Enter")


def test_a_password_is_asked_for(machine, watch):
    """On the usual screen; then the view is there again."""
    screen, run = watch("root", *log_in(machine, "carol"))
    screen.keys("x", "y")
    answer(machine, screen, "2" + PASSWORD)
    screen.wait(f"you may not halt '{run}': polkit refuses org.btd1.halt", f"● {run}: running", without=["Password:"])
    screen.keys("2")
    screen.wait("[2 Variables]", "? keys", without=["polkit"])
    screen.keys("x", "y")
    answer(machine, screen, PASSWORD)
    screen.wait(f"■ {run}: halted", "? keys", without=["Password:"])


def test_a_password_is_not_entered(machine, watch):
    """Ctrl-C ends the question, and not the view."""
    screen, run = watch("root", *log_in(machine, "carol"))
    for _ in range(2):
        screen.keys("x", "y")
        machine.wait_for_password()
        screen.keys("C-c")
        screen.wait("nothing was changed, because the password was not entered", f"● {run}: running", without=["AUTHENTICATING"])
    screen.keys("2")
    screen.wait("[2 Variables]", "? keys", without=["password"])
    assert [it.status for it in machine.client.runs() if it.id == run] == ["running"]
    screen.keys("C-c")
    screen.wait("ended with 0")


def test_the_lines_of_a_unit(machine):
    """They come to the pane while the run has no events."""
    machine.unit("talks.service", TALKS)
    machine.load("story", {"type": "Sequence", "name": "Story", "children": [
        {"type": "StartUnit", "name": "Talk", "unit": "talks.service"},
        {"type": "Spawn", "name": "Tell", "argv": ["/bin/echo", "from the process"]}, IDLE]})
    run = machine.check("btctl", "start", "story").split()[0]
    screen = Screen(machine.command("btctl", "watch", run))
    try:
        screen.wait("● Idle (Sleep)")
        screen.keys("4")
        screen.wait("[4 Log]", "systemd: Started talks.service", " sh: from the unit", " echo: from the process",
                    without=["said later"])
        machine.write("/run/more", "")
        screen.wait(" sh: said later", " sh: from the unit")
        screen.keys("x", "y")
        screen.wait(f"■ {run}: halted", " sh: said later")
    finally:
        screen.close()


def test_who_may_not_read_the_journal_is_told(machine):
    machine.load("short", {"type": "Spawn", "name": "Tell", "argv": ["/bin/echo", "from the process"]})
    run = machine.check("btctl", "start", "short").split()[0]
    screen = Screen(machine.command("btctl", "watch", run, user="nobody"))
    try:
        screen.wait(f"✓ {run}: success")
        screen.keys("4")
        screen.wait("you may not read all of the journal, so lines may be missing; use sudo, or add",
                    "your user to the group systemd-journal", without=["from the process"])
    finally:
        screen.close()


@pytest.mark.parametrize("units, note", [
    (["one"], "the lines of one.service on the bus 'unix:path=/nowhere' are not read; see"),
    (["one", "two", "three"], "some lines are missing, for 3 reasons; 'btctl logs {}' says which")])
def test_missing_lines_are_told_below_the_last_lines(machine, units, note):
    machine.load("long", {"type": "Sequence", "name": "Long", "children": [
        {"type": "Spawn", "name": "Tell", "argv": ["/bin/sh", "-c", "seq -f 'line %g' 50"]},
        *({"type": "ForceSuccess", "child": {"type": "StartUnit", "name": unit, "unit": f"{unit}.service",
                                             "bus": "unix:path=/nowhere", "timeout": "1ms"}} for unit in units), IDLE]})
    run = machine.check("btctl", "start", "long").split()[0]
    screen = Screen(machine.command("btctl", "watch", run))
    try:
        screen.wait("● Idle (Sleep)")
        screen.keys("4")
        screen.wait("[4 Log]", " sh: line 50", note.format(run))
        screen.keys("-N", "3", "K")
        screen.wait(" sh: line 45", without=[" sh: line 50"])
    finally:
        screen.close()
