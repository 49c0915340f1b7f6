# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests btctl logs with a real journal, and wait and halt --wait over a restart of btd.service."""

import json
import re
import subprocess
import time

import pytest

import client

TALKS = "[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/bin/sh -c 'echo from the unit; echo \"<3>an error\"'\n"
SERVES = "[Service]\nExecStart=/bin/sh -c 'echo serves; trap \"echo ends; exit\" TERM; touch /run/serves; " \
         "while :; do sleep 0.1; done'\n"


def shell(name, script, **keys):
    return {"type": "Spawn", "name": name, "argv": ["/bin/sh", "-c", script], **keys}


def until(path):
    return {"type": "WaitFor", "name": "Wait", "child": {"type": "PathExists", "path": path}}


def load_story(machine):
    machine.unit("talks.service", TALKS)
    machine.load("story", {"type": "Sequence", "name": "Story", "children": [
        {"type": "StartUnit", "name": "Unit", "unit": "{who}.service"},
        {"type": "Log", "name": "Say", "message": "a message of the tree"},
        shell("Work", "echo from the process; echo to stderr >&2")]}, blackboard={"who": "talks"})
    machine.run("systemctl", "stop", "talks.service")
    run, path = machine.client.start("story")
    assert machine.client.finish(path)[0] == "success"
    machine.check("journalctl", "--sync")
    return run


def told(output):
    """What the lines say, without times, PIDs and durations."""
    lines = [re.sub(r"^\S+ +\d+ [\d:.]+ ", "", line) for line in output.splitlines()]
    return [re.sub(r" after [\d.]+m?s.*", "", re.sub(r"\[\d+\]", "[N]", line)).strip() for line in lines]


def test_one_timeline(machine):
    """Events, Log messages, lines of units and of processes, each with its node."""
    run = load_story(machine)
    # Everybody can write these fields.
    machine.check("logger", "--journald", stdin=f"MESSAGE=forged\nBTD_RUN={run}\nBTD_NODE=Work\n")
    machine.check("journalctl", "--sync")
    result = machine.btctl("logs", "story")
    assert (result.returncode, result.stderr) == (0, "")
    lines = told(result.stdout)
    assert lines[0].startswith(f"» {run}: started by UID 0") and lines[1] == "● Story: running"
    of_unit = [line for line in lines if line.startswith("Story/Unit: ")]
    assert of_unit[0] == "Story/Unit: systemd[N]: Starting talks.service..."
    # Lines on stdout have the time when the journal received them, so they may follow this one.
    of_unit.remove("Story/Unit: systemd[N]: Finished talks.service.")
    assert of_unit[1:] == ["Story/Unit: sh[N]: from the unit", "Story/Unit: sh[N]: an error"]
    assert lines.index("● Story/Unit: running") < lines.index("Story/Unit: sh[N]: from the unit")
    assert "» Story/Say: log: a message of the tree" in lines
    begin = lines.index("● Story/Work: running")
    assert {"Story/Work: sh[N]: from the process", "Story/Work: sh[N]: to stderr"} <= set(lines[begin + 1:])
    assert "forged" not in result.stdout and f"✓ {run}: success" in lines
    # By the name of the run, and when btd does not run.
    assert machine.btctl("logs", run).stdout == result.stdout
    machine.check("systemctl", "stop", "btd.service")
    try:
        offline = machine.btctl("logs", run)
        assert offline.stdout == result.stdout and offline.returncode == 0
    finally:
        machine.check("systemctl", "start", "btd.service")


def test_the_level_of_the_log(machine):
    """systemctl sets it, as that of systemd's own daemons."""
    machine.check("systemctl", "service-log-level", "btd", "debug")
    try:
        assert machine.run("systemctl", "service-log-level", "btd").stdout == "debug\n"
        assert machine.run("systemctl", "service-log-target", "btd").stdout == "journal\n"
        denied = machine.run("setpriv", "--reuid=nobody", "--clear-groups", "systemctl", "--no-ask-password",
                             "service-log-level", "btd", "err")
        assert denied.returncode != 0 and machine.run("systemctl", "service-log-level", "btd").stdout == "debug\n"
    finally:
        machine.check("systemctl", "service-log-level", "btd", "info")


def test_lines_say_for_which_element(machine):
    machine.load("each", {"type": "ForEach", "name": "All", "items": ["a", "b"], "as": "e",
                          "child": shell("One", "echo it is {e}")})
    _, path = machine.client.start("each")
    assert machine.client.finish(path)[0] == "success"
    machine.check("journalctl", "--sync")
    lines = told(machine.check("btctl", "logs", "each"))
    assert [line for line in lines if line.startswith("All/One[")] == [
        "All/One[a]: sh[N]: it is a", "All/One[b]: sh[N]: it is b"]
    events = map(json.loads, machine.check("btctl", "logs", "each", "--json").splitlines())
    assert [(event["path"], event["label"], event["message"]) for event in events if event["event"] == "journal"] == [
        ("All/One", "All/One[a]", "it is a"), ("All/One", "All/One[b]", "it is b")]


def test_systemd_says_nothing_of_a_success(machine):
    """Nor are lines kept that the process itself says are of the priority info, unless the tree wants them. journald knows
    what is wanted only as long as there is the unit."""
    script = "echo out; echo '<6>info'; echo '<4>warning'; journalctl --sync"
    machine.load("quiet", {"type": "Sequence", "children": [
        shell("Work", script), shell("All", script, properties={"LogLevelMax": "info"}),
        {**shell("Check", script), "type": "Command"}]})
    run, path = machine.client.start("quiet")
    assert machine.client.finish(path)[0] == "success"
    machine.check("journalctl", "--sync")

    def lines(process):
        return machine.check("journalctl", "-o", "cat", "-u", f"btd-{run}-{process}.service").splitlines()
    assert lines("1-1") == lines("3-1-1") == ["out", "warning"]
    assert {"Starting btd-{run}-2-1.service - All of {run}...".format(run=run), "out", "info", "warning"} <= set(lines("2-1"))


def test_a_line_has_the_time_when_it_was_written(machine):
    """The journal may receive it much later; and then it would be of no node, because the run has finished."""
    machine.check("systemctl", "kill", "--signal=STOP", "systemd-journald.service")
    try:
        machine.unit("talks.service", TALKS)
        machine.load("late", {"type": "StartUnit", "name": "Unit", "unit": "talks.service"})
        machine.run("systemctl", "stop", "talks.service")
        run, path = machine.client.start("late")
        assert machine.client.finish(path)[0] == "success"
        time.sleep(1.5)  # a line that comes much later must be of no node: nothing happens meanwhile
    finally:
        machine.check("systemctl", "kill", "--signal=CONT", "systemd-journald.service")
    machine.check("journalctl", "--sync")
    lines = [json.loads(line) for line in machine.btctl("logs", run, "--json").stdout.splitlines()]
    texts = [line.get("message") or "{path} {event}".format(**{"path": ""} | line) for line in lines]
    order = [texts.index(text) for text in ("Unit running", "Starting talks.service...", "Finished talks.service.",
                                            "Unit success")]
    assert order == sorted(order), texts


def test_parts_of_it(machine):
    run = load_story(machine)
    shown = told(machine.btctl("logs", run, "--node=Work").stdout)
    assert shown[0] == "● Story/Work: running"
    shown.remove("✓ Story/Work: success")  # journald may read the lines of a process when it has ended
    assert shown[1:] == ["Story/Work: sh[N]: from the process", "Story/Work: sh[N]: to stderr"]
    assert machine.btctl("logs", run, "-n", "1").stdout == machine.btctl("logs", run).stdout.splitlines(True)[-1]
    assert machine.btctl("logs", run, "--lines=0").stdout == ""
    everything = machine.btctl("logs", run).stdout
    assert machine.btctl("logs", run, "--reverse").stdout.splitlines() == everything.splitlines()[::-1]
    assert machine.btctl("logs", run, "-r", "-n1", "-e").stdout == everything.splitlines(True)[-1]
    assert machine.btctl("logs", run, run).stdout == everything
    assert machine.btctl("logs", run, "--until=10min") == (0, "no entries\n", "")
    assert machine.btctl("logs", run, "-U", "-10min", "-S", "today") == (0, "no entries\n", "")
    for since in ("-10min", "10min ago", "10min", "today", "yesterday"):
        assert machine.btctl("logs", run, f"--since={since}").stdout == everything
    assert machine.btctl("logs", run, "--since=-1us") == (0, "no entries\n", "")
    lines = [json.loads(line) for line in machine.btctl("logs", run, "--json").stdout.splitlines()]
    assert [line["time_usec"] for line in lines] == sorted(line["time_usec"] for line in lines)
    error, = (line for line in lines if line.get("message") == "an error")
    assert (error["event"], error["path"], error["unit"], error["identifier"], error["priority"], error["run"]) \
        == ("journal", "Story/Unit", "talks.service", "sh", 3, run)
    machine.check("journalctl", "--cursor=" + error["cursor"], "-n1")


def test_the_lines_belong_to_who_did_it(machine):
    """A unit is of the run from its start until the run stops it; what it does before and afterwards is not."""
    machine.unit("serves.service", SERVES)
    machine.check("systemctl", "start", "serves.service")
    machine.check("systemctl", "stop", "serves.service")
    machine.load("serve", {"type": "Sequence", "name": "Serve", "children": [
        {"type": "StartUnit", "name": "Up", "unit": "serves.service"}, until("/run/serves"),
        {"type": "StopUnit", "name": "Down", "unit": "serves.service"}]})
    run, path = machine.client.start("serve")
    machine.client.finish(path)
    machine.check("systemctl", "start", "serves.service")
    machine.check("systemctl", "stop", "serves.service")
    lines = [line for line in told(machine.btctl("logs", run).stdout) if line.endswith((": serves", ": ends"))]
    assert lines[:2] == ["Serve/Up: sh[N]: serves", "Serve/Down: sh[N]: ends"]


def test_children_of_btd(machine):
    """Their lines have a name of their own, so that they are not btd's."""
    machine.load("family", {"type": "Sequence", "name": "Family", "children": [
        shell("One", "echo to stdout; echo to stderr >&2; echo $JOURNAL_STREAM", **{"as": "child"}),
        shell("Two", "echo only to stderr >&2; echo is a variable", **{"as": "child"}, stdout="said")]})
    run, path = machine.client.start("family")
    machine.client.finish(path)
    machine.check("logger", "-t", f"btd-{run}-1-1", "forged", user="nobody")
    machine.check("journalctl", "--sync")
    lines = told(machine.btctl("logs", run).stdout)
    own = [line for line in lines if line.startswith("Family/")]
    # btd passes on what comes from stderr, so that it can precede what was written to stdout before.
    assert len(own) == 4 and set(own) > {
        f"Family/One: btd-{run}-1-1[N]: to stdout", f"Family/One: btd-{run}-1-1[N]: to stderr",
        f"Family/Two: btd-{run}-2-1[N]: only to stderr"}, own
    assert any(re.fullmatch(rf"Family/One: btd-{run}-1-1\[N\]: \d+:\d+", line) for line in own)


SAYS = "echo zero >&2; echo one >&2; echo >&2; echo two >&2; printf three >&2; exit 4"


@pytest.mark.parametrize("keys", [{"as": "unit"}, {"as": "unit", "stderr": "said"}, {"as": "child"},
                                  {"as": "child", "stderr": "said"}], ids=str)
def test_what_a_program_says_last(machine, keys):
    """It is in the cause, and all of it in the journal, in whatever way the program runs."""
    machine.load("says", shell("Says", SAYS, **keys))
    run, path = machine.client.start("says")
    assert machine.client.finish(path) == ("failure", "Says: exited with status 4: one; two; three")
    machine.check("journalctl", "--sync")
    lines = told(machine.btctl("logs", run).stdout)
    said = [line.rpartition("]: ")[2] for line in lines if line.startswith("Says: ")]
    assert [line for line in said if line in ("zero", "one", "two", "three")] == ["zero", "one", "two", "three"]


def test_what_a_command_says_last(machine):
    """It ends with btd, so btd reads its output."""
    machine.load("asks", {"type": "Command", "name": "Asks", "argv": ["/bin/sh", "-c", SAYS]})
    run, path = machine.client.start("asks")
    assert machine.client.finish(path) == ("failure", "Asks: exited with status 4: one; two; three")
    machine.check("journalctl", "--sync")
    assert "zero" in machine.check("journalctl", "-t", f"btd-{run}-0-1-1", "-o", "cat")


def test_a_journal_that_does_not_answer(machine):
    """The failure is told without the lines, after a limited time."""
    machine.load("says", shell("Says", SAYS))
    journald = machine.check("systemctl", "show", "-P", "MainPID", "systemd-journald.service").strip()
    machine.check("kill", "-STOP", journald)
    try:
        _, path = machine.client.start("says")
        assert machine.client.finish(path) == ("failure", "Says: exited with status 4")
    finally:
        machine.check("kill", "-CONT", journald)


def test_who_may_not_read_is_told(machine):
    run = load_story(machine)
    result = machine.btctl("logs", run, user="nobody")
    assert result.stderr == ("btctl: you may not read all of the journal, so lines may be missing; use sudo, or add "
                             "your user to the group systemd-journal\n")
    assert result.returncode == 0 and "Story/Work: success" in result.stdout and "sh[" not in result.stdout
    assert machine.btctl("logs", run, "-q", user="nobody").stderr == ""


def test_no_journal(machine):
    run = load_story(machine)
    result = machine.run("unshare", "--mount", "sh", "-c",
                         f"mount -t tmpfs tmpfs /run/log/journal && exec btctl logs {run}")
    assert result.stderr == ("btctl: the lines of units and processes are missing, because this machine has no "
                             "journal\n")
    assert result.returncode == 0 and "Story/Work: success" in result.stdout and "sh[" not in result.stdout


def test_lines_that_were_removed(machine):
    run = load_story(machine)
    machine.check("journalctl", "--rotate")
    machine.check("journalctl", "--vacuum-time=1us")
    result = machine.btctl("logs", run)
    assert "Story/Work: success" in result.stdout and "sh[" not in result.stdout
    assert re.fullmatch(rf"btctl: the journal begins at [\d-]+ [\d:]+; earlier lines of {run} were removed\n|"
                        rf"btctl: the journal of this machine has no lines of the time when {run} ran: they were "
                        r"removed, or it ran on another machine\n", result.stderr)


def test_follow_over_a_restart(machine):
    """Each line once, in the order in which it comes, also over a restart of btd; it ends with the run."""
    machine.load("long", {"type": "Sequence", "name": "Long", "children": [
        shell("First", "echo one"), shell("Work", "echo two; while ! test -e /run/go; do sleep 0.1; done; echo three")]})
    run, _ = machine.client.start("long")
    following = subprocess.Popen(machine.command("btctl", "logs", "long", "--follow", "-n", "all"), text=True,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    output = ""
    while "two" not in output:
        line = following.stdout.readline()
        assert line, output
        output += line
    machine.check("systemctl", "restart", "btd.service")
    machine.write("/run/go", "")
    rest, _ = following.communicate(timeout=client.PATIENCE)
    lines = told(output + rest)
    assert following.returncode == 0
    for line in ("Long/First: sh[N]: one", "Long/Work: sh[N]: two", "Long/Work: sh[N]: three", "● Long/Work: running",
                 f"» {run}: recovered after btd was restarted", f"✓ {run}: success"):
        assert lines.count(line) == 1, (line, output + rest)


# What btctl says if btd stops before btctl waits for it.
TOO_EARLY = ("btctl: btd is not running; start it with 'systemctl start btd'\n",
             "btctl: btd has exited; 'journalctl -u btd' may say why\n")


@pytest.mark.parametrize("verb, status", [
    (["wait", "{run}"], 3), (["wait", "{tree}"], 3), (["halt", "--wait", "{tree}"], 0)])
@pytest.mark.parametrize("restart", [["restart", "btd.service"], ["kill", "--signal=KILL", "btd.service"]])
def test_waiting_outlasts_the_service(machine, verb, status, restart):
    machine.load("slow", {"type": "Finally", "name": "Clean", "children": [
        {"type": "Sleep", "duration": "1h"}, until("/run/go")]})
    run, path = machine.client.start("slow")
    words = [word.format(run=run, tree="slow") for word in verb]
    first = TOO_EARLY[0]
    while first in TOO_EARLY:
        machine.run("systemctl", "reset-failed", "btd.service")  # or its start limit may be reached
        waiting = subprocess.Popen(machine.command("btctl", *words), text=True, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if words[0] == "wait":
            machine.btctl("halt", "slow")
        client.wait(lambda: machine.client.run_property(path, "Status") == "halting", "the halt")
        machine.check("systemctl", *restart)
        first = waiting.stdout.readline()
        machine.client.wait_owner()
    machine.write("/run/go", "")
    rest, _ = waiting.communicate(timeout=client.PATIENCE)
    assert waiting.returncode == status and f"{run}: halted" in rest, (first, rest)
