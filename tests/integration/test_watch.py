# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests btctl watch on a terminal of tmux: keys are sent to it, and the screen is read."""

import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios

import pytest
from gi.repository import GLib

import client
import daemon
from btctl_runs import UTF8
from screen import Screen

IDLE = {"type": "Sleep", "name": "Idle", "duration": "infinity"}
FAILED = {"type": "Spawn", "name": "Bad", "argv": ["/bin/sh", "-c", "exit 3"]}
TRY = {"type": "Fallback", "name": "Try", "children": [FAILED, {"type": "AlwaysSuccess", "name": "Good"}]}
BOOT = {"type": "Sequence", "name": "Boot", "children": [TRY, IDLE]}


@pytest.fixture
def screens(btd):
    """Makes screens, and closes them."""
    made = []

    def make(*arguments, **keys):
        made.append(Screen([daemon.BTCTL, "--address=" + btd.bus.address, "watch", *arguments], **keys))
        return made[-1]
    yield make
    for it in made:
        it.close()


def start_btd(btd):
    """With run records."""
    directory = os.path.dirname(btd.trees)
    btd.start(f"--runtime={directory}/run", f"--state={directory}/state")


def started(btd, *trees):
    """Starts btd with the trees, each with a run that is running at its node Idle."""
    for tree in trees:
        btd.tree(tree, BOOT)
    start_btd(btd)
    return [start(btd, tree) for tree in trees]


def start(btd, tree, instance=""):
    run, path = btd.client.start(tree, instance)
    client.wait(lambda: btd.client.nodes(path)["Idle"]["status"] == "running", "the node Idle")
    return run


def line_of(text, word):
    return next(line for line in text.splitlines() if word in line)


# The list


def test_list(btd, screens):
    btd.tree("boot", BOOT, description="Boots it")
    btd.tree("auto", IDLE, autostart=True)
    btd.tree("never", IDLE, description="Nobody starts it")
    start_btd(btd)
    start(btd, "boot", "eth0")
    screen = screens()
    client.wait(lambda: screen.text().count("Idle: waits for a halt") == 3, "what both wait for, one also in the foot")
    text = screen.text()

    assert re.search(r"● auto +running +\d+s +yes ", text), text
    assert re.search(r"○ never +idle +Nobody starts it", text), text
    assert line_of(text, "  TREE").split() == ["TREE", "STATE", "SINCE", "AUTO", "WAITS", "FOR,", "OR", "WHY"], text
    assert "btd: 3 trees, 2 running, by name" in text
    assert "? keys  Enter open" in text

    btd.btctl("halt", "boot")
    screen.wait("■ boot@eth0", "halted", "3 trees, 1 running")
    btd.btctl("start", "boot@eth0")
    screen.wait("● boot@eth0", "3 trees, 2 running")
    client.wait(lambda: re.search(r"boot@eth0 +running +\d+s +halted +Idle: ", screen.text()), "the last result")

    screen.keys("f")
    screen.wait("[only running]", without=["never"])
    screen.keys("f")
    screen.keys("o")
    text = screen.wait("by state", "never")
    assert text.index("boot@eth0") < text.index("never")
    screen.keys("o")
    screen.wait("by newest change")
    screen.keys("o", "/")
    screen.wait("Show only rows with:")
    screen.type("BOOX")
    screen.keys("BSpace", "Enter")
    screen.wait("[only with 'boo']", "boot@eth0", without=["never"])
    screen.keys("/")
    screen.type("qq")
    screen.keys("Enter")
    screen.wait("No tree matches.")
    screen.keys("/", "Enter")
    screen.wait("never", without=["only with"])

    screen.keys("z")
    screen.wait("this key does nothing here; ? shows the keys")
    screen.keys("End", "Enter")
    screen.wait("never has not run; press a to start it")
    screen.keys("a")
    screen.wait("Start never? [y/n]")
    screen.keys("n")
    screen.wait("? keys", "○ never")
    screen.keys("a", "y")
    screen.wait("● never")
    screen.keys("x")
    screen.wait("Halt never.1? [y/n]")
    screen.keys("y")
    screen.wait("■ never")
    screen.keys("q")
    screen.wait_end(0)


def test_results_from_before(btd, screens):
    """A tree that has finished twice has its last but one result in the column LAST, also from the history."""
    btd.tree("twice", {"type": "Condition", "name": "Ok", "test": "ok"}, blackboard={"ok": True})
    start_btd(btd)

    def finish(**variables):
        assert btd.client.finish(btd.client.start("twice", variables=variables)[1])[0]
    finish()
    screen = screens()
    text = screen.wait("✓ twice  success  ")
    assert line_of(text, "  TREE").split() == ["TREE", "STATE", "SINCE", "WAITS", "FOR,", "OR", "WHY"], text
    finish(ok=False)
    for screen in screen, screens():
        text = screen.wait("✗ twice  failure  ")
        assert re.search(r"✗ twice +failure +\d+s ago +success +Ok: ", text), text
        assert line_of(text, "  TREE").split() == ["TREE", "STATE", "SINCE", "LAST", "WAITS", "FOR,", "OR", "WHY"], text

    assert btd.stop() == 0
    start_btd(btd)
    screen = screens()
    assert re.search(r"✗ twice +failure +\d+s ago +success +Ok: ", screen.wait("✗ twice  failure  "))
    finish()
    assert re.search(r"✓ twice +success +\d+s ago +failure$", screen.wait("✓ twice  success  "), re.MULTILINE)


def test_what_all_runs_wait_for(btd, screens):
    """Small runs are read for the same picture, as long as btd answers soon, and not one for each picture."""
    btd.tree("boot", BOOT)
    start_btd(btd)
    for i in range(18):
        start(btd, "boot", f"eth{i}")

    def n_first(screen):
        return client.wait(lambda: screen.text().count("Idle: waits for a halt"), "what a row waits for")
    assert any(n_first(screens()) > 2 for _ in range(10))  # one is also in the foot
    screen = screens()
    client.wait(lambda: screen.text().count("Idle: waits for a halt") == 18, "what all rows wait for")


def test_what_a_decorator_waits_for(btd, screens):
    btd.tree("again", {"type": "RetryUntilSuccessful", "name": "Again", "num_attempts": 3,
                       "backoff": {"initial": "1h", "max": "1h"}, "child": FAILED})
    start_btd(btd)
    btd.client.start("again")
    screens().wait("● again", "Again: attempt 2 of 3")


def test_a_tree_with_errors(btd, screens):
    """The list says which, in full below it."""
    btd.tree("bad", {"type": "Nope"})
    start_btd(btd)
    screen = screens()
    text = screen.wait("✗ bad   failed", "unknown type 'Nope'; 'btctl types'", "lists all that there are (in Nope)")
    assert text.rstrip().splitlines()[-2].endswith("(in Nope)"), text
    screen.keys("Enter")
    screen.wait("the file of bad has errors; 'btctl status bad' shows them")
    btd.tree("bad", IDLE, description="A good one")
    btd.client.reload()
    screen.wait("○ bad", "A good one", without=["unknown type"])

    btd.tree("bad", {"type": "Nope"})  # the good one is still in use
    btd.client.reload()
    screen.wait("bad   broken", "unknown type 'Nope'")
    screen.keys("Enter")
    screen.wait("bad has not run; press a to start it")
    screen.keys("a", "y")
    screen.wait("● bad   running")


# A run


def test_run(btd, screens):
    btd.tree("boot", BOOT)
    start_btd(btd)
    run = start(btd, "boot")
    screen = screens("boot")

    text = screen.wait(f"● {run}: running for", "Idle (Sleep) for", "[1 Events]")
    assert line_of(text, "Try (Fallback)").endswith(" [2 nodes]"), text  # it is folded
    assert "Bad (Spawn)" not in text
    screen.wait("Boot/Try/Bad: failure")  # the events

    screen.keys("+")
    screen.wait("│  ├─ ✗ Bad (Spawn)")
    screen.keys("-")
    screen.wait("[2 nodes]", "Idle (Sleep)", without=["✗ Bad (Spawn)"])
    screen.keys("=", "Home", "Down", "Enter")
    screen.wait("✗ Bad (Spawn)")
    screen.keys("Enter")
    screen.wait("[2 nodes]", without=["✗ Bad (Spawn)"])

    screen.keys("n")
    screen.wait("there is no search to repeat; search with /")
    screen.keys("/")
    screen.wait("Search:")
    screen.type("good")
    screen.keys("Enter")
    screen.wait("✓ Good (AlwaysSuccess)", "✗ Bad (Spawn)")
    screen.keys("/")
    screen.type("nowhere")
    screen.keys("Enter")
    screen.wait("no node with 'nowhere'")

    screen.keys("f")
    screen.wait("[only failed]", "Bad (Spawn)", without=["Good (AlwaysSuccess)"])
    screen.keys("f", "c")
    screen.wait("[only changed]", "No node has changed.")
    screen.keys("Enter", "t")  # there is no row for the cursor
    screen.keys("c", "Right")
    screen.wait("the run is shown as it is now; Left goes back")
    screen.keys("z")
    screen.wait("this key does nothing here; ? shows the keys")
    screen.keys(">")
    screen.wait("the run is shown as it is now; Left goes back")
    screen.keys("z")
    screen.wait("this key does nothing here; ? shows the keys")

    screen.keys("?")
    screen.wait("Keys for a run:", "set or remove a breakpoint", "Press a key to return.", without=["…"])
    screen.keys("j")
    screen.wait("● Boot (Sequence)")
    screen.keys("Escape")
    screen.wait("1 tree, 1 running")
    screen.keys("?")
    screen.wait("Keys for the list:", without=["…"])
    screen.keys("j", "Enter")
    screen.wait("[1 Events]")
    screen.keys("q")
    screen.wait_end(0)


def test_back_to_the_list(btd, screens):
    """The cursor is at the run that was shown."""
    started(btd, "boot", "other")
    start(btd, "other", "eth0")
    for run in "other.1", "other.2":
        screen = screens(run)
        screen.wait(f"● {run}")
        screen.keys("Escape")
        screen.wait("2 trees, 3 running", f"\n{run} Idle: waits")


def test_unfolded_below_the_screen(btd, screens):
    btd.tree("wide", {"type": "Parallel", "name": "Wide", "children": [
        {"type": "Sequence", "name": f"Part{i}", "children": [{**IDLE, "name": f"Deep{i}"}]} for i in range(30)]})
    start_btd(btd)
    btd.client.start("wide")
    screen = screens("wide")
    screen.wait("● Deep29 (Sleep)")
    screen.keys("-", "End")
    screen.wait("└─ ● Part29 (Sequence)", "[1 node]", without=["Deep29 ("])
    screen.keys("Enter")
    screen.wait("└─ ● Part29 (Sequence)", "└─ ● Deep29 (Sleep)")


def test_draw_again(btd, screens):
    """Another program has written to the terminal."""
    started(btd, "boot")
    screen = screens("boot")
    screen.wait("Idle (Sleep)")
    with open(screen.tmux("display-message", "-p", "#{pane_tty}").strip(), "w", encoding="utf-8") as terminal:
        terminal.write("\033[5;1Hkernel: oops")
    screen.wait("kernel: oops")
    screen.keys("C-l")
    screen.wait("Idle (Sleep)", "? keys", without=["oops", "this key does nothing"])


def test_panes(btd, screens):
    btd.tree("boot", {"type": "Sequence", "name": "Boot", "children": [
        TRY, {"type": "Spawn", "name": "Tell", "argv": ["/bin/echo", "hello"]}, IDLE]},
        blackboard={"name": "eth0", "n": 1})
    start_btd(btd)
    run = start(btd, "boot")
    screen = screens(run)

    screen.wait("[1 Events]", "Boot/Idle: running")
    screen.keys("Tab")
    screen.wait("[2 Variables]", '  n=1', '  name="eth0"')
    assert btd.btctl("set", run, "n=2").returncode == 0
    screen.wait("* n=2", '  name="eth0"')
    screen.keys("3")
    screen.wait("[3 Cause]", "This node has not failed, and was neither skipped nor halted.")
    screen.keys("+", "Home", "Down", "Down")
    screen.wait("[3 Cause]", "exited with status 3", without=["This node has not failed"])
    screen.keys("4")
    screen.wait("[4 Log]", without=["exited with status 3: "])
    screen.keys("1")
    for _ in range(3):
        screen.keys("K")
    screen.wait("[1 Events]", without=["Boot/Idle: running"])
    screen.keys("J", "J", "J")
    screen.wait("Boot/Idle: running")


def test_a_run_without_variables_and_record(btd, screens):
    btd.tree("boot", BOOT)
    btd.start()
    start(btd, "boot")
    screen = screens("boot")

    screen.wait("[1 Events]", "some events of boot.1 are missing here: run 'boot.1' has no run record")
    screen.keys("2")
    screen.wait("The run has no variables.")
    screen.keys("4")
    screen.wait("run 'boot.1' has no run record, because btd was started without --runtime=")
    screen.keys("1", "Left")
    screen.wait("run 'boot.1' has no run record")
    assert btd.btctl("force", "boot", "Idle", "failure").returncode == 0
    screen.wait("✗ boot.1: failure", "Boot/Idle: failure")


def test_what_changes_below_a_decorator(btd, screens):
    """btd counts elements and attempts, also without a change of the node's state; a time that is left passes."""
    btd.tree("boot", {"type": "Sequence", "name": "Boot", "children": [
        {"type": "ForEach", "name": "All", "items": "{list}", "as": "e", "concurrency": 2, "max_failures": 1, "child": {
            "type": "Sequence", "name": "One", "children": [
                {"type": "Condition", "name": "Good", "test": "e ~= 1"},
                {"type": "WaitFor", "name": "Wait", "child": {"type": "Condition", "name": "Go", "test": "go >= e"}}]}},
        {"type": "ForceSuccess", "child": {"type": "RetryUntilSuccessful", "name": "Retry", "num_attempts": 3, "child": {
            "type": "Sequence", "name": "Attempt", "children": [
                {"type": "WaitFor", "name": "More", "child": {"type": "Condition", "test": "go > n"}},
                {"type": "Script", "code": "n = n + 1"}, FAILED]}}},
        {"type": "RetryUntilSuccessful", "name": "Later", "num_attempts": 2, "backoff": {"initial": "1h", "max": "1h"},
         "child": FAILED},
    ]}, blackboard={"list": [1, 2, 3, 4], "go": 0, "n": 8})
    start_btd(btd)
    run = btd.client.start("boot")[0]
    screen = screens("boot", columns=120)
    screen.wait(", 1 of 4 done, 1 failed [+]")
    assert btd.btctl("set", run, "go=2").returncode == 0
    screen.wait(", 2 of 4 done, 1 failed [+]", without=["Good (Condition)"])
    screen.keys("g", "Down", "Enter")
    screen.wait("One[1: 3] (Sequence)", "One[2: 4] (Sequence)", "Go (Condition): go >= e is false (e is 3, go is 2)",
                without=["[+]"])
    screen.keys("Enter")
    screen.wait("[+]", without=["─ ● One["])
    assert btd.btctl("set", run, "go=9").returncode == 0
    screen.wait("✓ All (ForEach) after ", ": 1 of 4 elements failed [+]", ", attempt 2 of 3; before: Bad: exited")
    assert btd.btctl("set", run, "go=10").returncode == 0
    screen.wait(", attempt 3 of 3; before: Bad: exited")
    assert btd.btctl("set", run, "go=11").returncode == 0
    screen.wait("Later (RetryUntilSuccessful) for ", ", attempt 2 of 2; before: exited with status 3; continues in 59min")

    screen.tmux("resize-window", "-x", "80", "-y", "24")
    screen.keys("End", "Up", "3")
    text = screen.wait("[3 Cause]", "Boot/Later: running, attempt ")
    assert re.search(r"before: exited with status 3; continues in[ \n]+\d", text), text


def test_times_that_are_left(btd, screens):
    btd.tree("boot", {"type": "Timeout", "name": "Boot", "timeout": "1h", "child": IDLE})
    start_btd(btd)
    start(btd, "boot")
    screen = screens("boot")
    screen.wait("times out in 59min 5")
    before = line_of(screen.text(), "Boot (Timeout)").split("times out")[1]
    screen.wait("times out in 59min 5", without=[before])


def test_a_question_keeps_its_node(btd, screens):
    """The cursor is on what runs, and moves on while the question is there."""
    btd.tree("boot", {"type": "Sequence", "name": "Boot", "children": [{**IDLE, "name": "First"}, IDLE]})
    start_btd(btd)
    run = btd.client.start("boot")[0]
    screen = screens("boot")
    screen.wait("● First")
    screen.keys("b")
    screen.wait("Set a breakpoint at Boot/First? [y/n]")
    assert btd.btctl("force", run, "First", "success").returncode == 0
    screen.wait("● Idle", "Set a breakpoint at Boot/First? [y/n]")
    screen.keys("y")
    assert line_of(screen.wait("[breakpoint]"), "[breakpoint]").startswith("├─ ✓ First")


def test_it_was_stopped(btd, screens):
    """What it is sent meanwhile comes late; times count from when it happened, and the last events are read."""
    again = {"type": "Repeat", "name": "Again", "num_cycles": 800, "child": {"type": "Sleep", "name": "Nap", "duration": "1ms"}}
    btd.tree("boot", {"type": "Sequence", "name": "Boot", "children": [{**IDLE, "name": "First"}, again, IDLE]})
    start_btd(btd)
    run, path = btd.client.start("boot")
    screen = screens("boot")
    screen.wait("● First")
    screen.send_signal(signal.SIGSTOP)
    assert btd.btctl("force", run, "First", "success").returncode == 0
    client.wait(lambda: btd.client.nodes(path)["Idle"]["duration"] >= 12e6,
                "more than btctl takes for a pause, on a machine that is slow to draw")
    screen.send_signal(signal.SIGCONT)
    text = screen.wait("● Idle (Sleep) for ", "Boot/Idle: running")
    seconds = re.search(r"Idle \(Sleep\) for ([0-9.]+)s", text)
    assert not seconds or float(seconds[1]) >= 12, text  # else a minute or more
    screen.keys("-N", "480", "K")

    def has_gap():
        screen.keys("-N", "3", "K")
        return " events are not shown here; Left reads them" in screen.text()
    client.wait(has_gap, "the gap among the events")
    screen.keys("Left")
    screen.wait("● Again (Repeat)", ", round 800", "Again/Nap: running", without=["are not shown here"])


NAP = {"type": "KeepRunningUntilFailure", "child": {"type": "Sleep", "duration": "100ms"}}
# How a vt100 clears its screen.
CLEAR = b"\033[H\033[J"


class BareTerminal:
    """btctl watch in a terminal whose output nobody reads but the test."""

    def __init__(self, btd, *arguments):
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
            os.environ.update(UTF8, TERM="vt100")
            os.execv(daemon.BTCTL, [daemon.BTCTL, "--address=" + btd.bus.address, "watch", *arguments])
        self.output = b""
        self.source = GLib.unix_fd_add_full(GLib.PRIORITY_DEFAULT, self.terminal, GLib.IOCondition.IN, self._on_output)
        client.wait(self.seconds, "the first picture")

    def _on_output(self, fd, condition):
        with contextlib.suppress(OSError):  # the end of the terminal
            self.output += os.read(fd, 65536)
            return GLib.SOURCE_CONTINUE
        self.source = None
        return GLib.SOURCE_REMOVE

    def close(self):
        if self.source:
            GLib.source_remove(self.source)
        os.close(self.terminal)

    def seconds(self):
        """Of the run, in the picture that was drawn in full last; None: it is not there yet."""
        plain = re.sub(rb"\033[^a-zA-Z]*[a-zA-Z]", b"", self.output[self.output.rfind(CLEAR):])
        found = re.search(rb"running for ((?:[0-9.]+(?:min|m?s)\b ?)+).* q quit", plain, re.DOTALL)
        units = {b"min": 60, b"s": 1, b"ms": 0.001}
        return found and sum(float(n) * units[unit] for n, unit in re.findall(rb"([0-9.]+)([a-z]+)", found[1]))

    def draw_again(self):
        """Draws everything, whatever has changed, and returns seconds()."""
        n = self.output.count(CLEAR)
        os.write(self.terminal, b"\f")
        return client.wait(lambda: self.output.count(CLEAR) > n and self.seconds(), "the whole picture")

    def quit(self):
        os.write(self.terminal, b"q")
        _, status = client.wait(lambda: any(end := os.waitpid(self.pid, os.WNOHANG)) and end, "the end of btctl")
        return os.waitstatus_to_exitcode(status)


@pytest.fixture
def bare_terminal(btd):
    btd.tree("fast", {"type": "Parallel", "children": [NAP] * 50})
    btd.tree("idle", BOOT)
    start_btd(btd)
    btd.client.start("fast")
    start(btd, "idle")
    made = []

    def make(tree):
        made.append(BareTerminal(btd, tree))
        return made[-1]
    yield make
    for it in made:
        it.close()


@pytest.mark.parametrize("tree, n, first, rate", [("fast", 3000, 1500, 960), ("idle", 260, 180, 120)])
def test_bytes_of_a_second(bare_terminal, tree, n, first, rate):
    """A tree that changes all the time leaves room for keys on a line of 9,600 baud, and its changes are none of another
    one that is shown. The time is that of btctl, in its pictures: it cannot be less on a busy machine."""
    it = bare_terminal(tree)
    begin, drawn = it.draw_again(), len(it.output)
    client.wait(lambda: len(it.output) >= drawn + n, f"{n} bytes")
    assert it.draw_again() - begin >= (n - first) / rate
    assert it.quit() == 0


def test_control(btd, screens):
    btd.tree("boot", BOOT, blackboard={"n": 1})
    start_btd(btd)
    run = start(btd, "boot")
    screen = screens("boot")
    screen.wait("Idle (Sleep)")

    screen.keys("p")
    screen.wait(f"Pause {run}? [y/n]")
    screen.keys("n")
    screen.wait("? keys", f"● {run}: running")
    screen.keys("p", "y")
    screen.wait(f"‖ {run}: paused")
    screen.keys("s")
    screen.wait(f"Step {run} by one tick? [y/n]")
    screen.keys("y")
    screen.wait("nothing to step")
    screen.keys("r")
    screen.wait(f"Resume {run}? [y/n]")
    screen.keys("y")
    screen.wait(f"● {run}: running")

    screen.keys("End", "b")
    screen.wait("Set a breakpoint at Boot/Idle? [y/n]")
    screen.keys("y")
    screen.wait("[breakpoint]")
    screen.keys("b")
    screen.wait("Remove the breakpoint of Boot/Idle? [y/n]")
    screen.keys("y")
    screen.wait("Idle (Sleep)", without=["[breakpoint]"])

    screen.keys("v")
    screen.wait(f"Set a variable of {run}, KEY=JSON:")
    screen.type("n")
    screen.keys("Enter")
    screen.wait("n: the value is missing; give KEY=JSON")
    screen.keys("v")
    screen.type("n=7")
    screen.keys("Enter", "2")
    screen.wait("n=7")

    screen.keys("F")
    screen.wait("Outcome of Boot/Idle (success, failure or skipped):")
    screen.type("great")
    screen.keys("Enter")
    screen.wait("'great' is not an outcome; give success, failure or skipped")
    screen.keys("F", "Escape")
    screen.wait("? keys")
    screen.keys("F")
    screen.type("failure")
    screen.keys("Enter")
    screen.wait(f"✗ {run}: failure")
    screen.keys("p", "y")
    screen.wait(f"{run} has finished: failure")

    screen.keys("a")
    screen.wait("Start boot again, with the same variables? [y/n]")
    screen.keys("y")
    screen.wait("● boot.2: running")
    screen.keys("x")
    screen.wait("Halt boot.2? [y/n]")
    screen.keys("y")
    screen.wait("■ boot.2: halted")


def test_start_again(btd, screens):
    """With the variables of the run, not with those of the tree; also if only the history has the run."""
    btd.tree("boot", IDLE, inputs={"device": {"type": "string"}, "n": {"type": "int", "default": 1}})
    start_btd(btd)
    run, path = btd.client.start("boot", "eth0", {"device": "a=b", "n": 2})
    btd.client.halt(path)
    screen = screens(run)
    screen.wait(f"■ {run} (eth0): halted")
    screen.keys("a", "y")
    screen.wait("● boot.2 (eth0): running")
    assert btd.btctl("get", "boot.2", "device").stdout == '"a=b"\n'

    assert btd.btctl("halt", "boot.2").returncode == 0
    screen = screens(run)
    screen.wait("[after ", f"■ {run} (eth0): halted")
    screen.keys("a", "y")
    screen.wait("● boot.3 (eth0): running")
    assert btd.btctl("get", "boot.3", "n").stdout == "2\n"

    assert btd.btctl("halt", "boot.3", "--wait").returncode == 0
    screen = screens("boot.3")
    screen.wait("■ boot.3 (eth0): halted")
    record = os.path.join(os.path.dirname(btd.trees), "state/history/boot.3.journal")
    client.wait(lambda: os.path.exists(record), "the record to be history")
    os.remove(record)
    screen.keys("a", "y")
    screen.wait("run 'boot.3' is not in the history any more", without=["boot.4"])
    assert btd.btctl("show", "boot.3").stderr == (
        "btctl: run 'boot.3' is not in the history any more; 'btctl history' shows the runs that are\n")


def test_a_run_that_has_finished(btd, screens):
    """Nobody is asked whether to halt it."""
    btd.tree("boot", IDLE)
    start_btd(btd)
    run = start(btd, "boot")
    assert btd.btctl("halt", run, "--wait").returncode == 0
    screen = screens()
    screen.wait("1 tree, 0 running", "■ boot")
    for key in "x", "Enter", "x":
        screen.keys(key)
        screen.wait(f"{run}: halted" if key == "Enter" else f"{run} has finished: halted", without=["[y/n]"])


def test_the_runs_of_an_instance(btd, screens):
    """One after the other, also those that only the history has."""
    btd.tree("boot", {"type": "Sleep", "name": "Idle", "duration": "infinity"})
    start_btd(btd)
    for instance in "", "a", "", "a", "":
        run = start(btd, "boot", instance)
        assert btd.btctl("halt", run, "--wait").returncode == 0
    screen = screens("boot.3")
    screen.wait("boot.3: halted")
    for key, shown in ("]", "boot.5: halted"), ("]", "there is no run after boot.5"), ("[", "boot.3: halted"), \
            ("[", "boot.1: halted"), ("[", "there is no run before boot.1"):
        screen.keys(key)
        screen.wait(shown)


def test_the_beginning_of_many_events(btd, screens):
    """More than the screen keeps: it reads those of the time that it shows."""
    btd.tree("boot", {"type": "Repeat", "num_cycles": 25000, "child": {
        "type": "Sequence", "name": "Round", "children": [{"type": "AlwaysSuccess"}]}})
    start_btd(btd)
    run = btd.client.start("boot")[0]
    assert btd.btctl("wait", run).returncode == 0
    screen = screens(run)
    screen.wait(f"✓ {run}: success", "Repeat: success")
    screen.keys(*["<"] * 12)
    screen.wait("this is the first event that is kept", f"» {run}: started by")


def test_a_long_answer(btd, screens):
    """A text without blanks that is wider than the terminal is seen to its end."""
    btd.tree("boot", IDLE, blackboard={"n": 1})
    start_btd(btd)
    start(btd, "boot")
    screen = screens("boot")
    screen.wait("Idle (Sleep)")
    screen.keys("v")
    screen.wait("Set a variable")
    screen.type('n="' + 30 * "abcdef" + 'end"')
    screen.wait('end"_')


def test_a_breakpoint(btd, screens):
    """The run is paused when it reaches the breakpoint, which did not exist at the first event."""
    btd.tree("stops", {"type": "Sequence", "name": "All", "children": [{**IDLE, "name": "First"}, IDLE]})
    start_btd(btd)
    run, path = btd.client.start("stops")
    screen = screens("stops")
    screen.wait(f"● {run}: running", "● First")
    assert btd.btctl("break", run, "Idle").returncode == 0
    screen.wait("○ Idle (Sleep) [breakpoint]")
    assert btd.btctl("force", run, "First", "success").returncode == 0
    screen.wait(f"‖ {run}: paused", "paused at a breakpoint [breakpoint]")
    screen.keys("Left")
    screen.wait("[after ", "[breakpoint]")
    screen.keys(*["Left"] * 5)
    screen.wait("this is the first event that is kept", without=["[breakpoint]"])


def test_a_narrow_terminal(btd, screens):
    """A message and a question are shown in full."""
    started(btd, "boot")
    screen = screens("boot", columns=40, rows=12)
    screen.wait("● Idle (Sleep)")
    screen.keys("F")
    screen.type("great")
    text = screen.wait("skipped): great_")
    assert text.splitlines()[-2:] == ["Outcome of Boot/Idle (success, failure", "or skipped): great_"]
    screen.keys("Enter")
    text = screen.wait("'great' is not an outcome")
    assert text.splitlines()[-2:] == ["'great' is not an outcome; give success,", "failure or skipped"]
    screen.keys("t")
    screen.wait("? keys", without=["is not an outcome", "failure or skipped"])


def test_back_in_time(btd, screens):
    btd.tree("boot", {"type": "Sequence", "name": "Boot", "children": [
        {"type": "Script", "name": "Set", "code": "n = 5"}, TRY, IDLE]}, blackboard={"n": 1})
    start_btd(btd)
    run = start(btd, "boot")
    screen = screens("boot")
    screen.wait("● Idle (Sleep)", "Boot/Idle: running")

    def back_until(*texts):
        """Goes back, event by event; the events of one input are one step."""
        while not all(word in (text := screen.text()) for word in texts):
            screen.keys("Left")
            client.wait(lambda before=place(text): place(screen.text()) not in (None, before), "an earlier event")

    def place(text):
        found = re.search(r": event (\d+) of ", text)
        return found and (found[1], "first event" in text)
    back_until("○ Idle (Sleep)", "● Try (Fallback)")
    screen.keys("p")
    screen.wait(f"This shows the past; the run has continued. Pause {run}? [y/n]")
    screen.keys("n")
    screen.keys("t")
    screen.wait("● Idle (Sleep) for", without=[": event "])

    btd.process.send_signal(signal.SIGSTOP)
    screen.keys("Left")
    screen.wait("reading the run record", "● Idle (Sleep)")
    btd.process.send_signal(signal.SIGCONT)
    screen.keys("Left")
    screen.wait(": event ", without=["reading the run record"])
    assert btd.btctl("set", run, "n=6").returncode == 0
    screen.keys("Right", "Right", "Right")
    screen.wait("Idle (Sleep) for", "n=6", without=[": event "])  # this event has come meanwhile
    screen.keys(*["Left"] * 200)
    screen.wait("this is the first event that is kept")
    screen.keys(">")
    screen.wait(": event ", without=["this is the first event"])
    screen.keys("<", "<")
    screen.wait("this is the first event that is kept")
    screen.keys("t")
    screen.wait("● Idle (Sleep) for", without=[": event "])

    assert btd.btctl("halt", run, "--wait").returncode == 0
    screen.wait(f"■ {run}: halted")
    screen.keys("Escape")
    screen.wait("1 tree, 0 running")
    assert btd.stop() == 0
    screen.wait("not connected")
    start_btd(btd)
    screen.wait("1 tree, 0 running", "■ boot", without=["not connected"])
    screen.keys("Enter")
    screen.wait("[after ", f"■ {run}: halted")
    back_until("● Idle (Sleep)")
    screen.keys("2")
    screen.wait("n=6")
    back_until("this is the first event that is kept")
    screen.wait("n=1")
    screen.keys("Right")
    screen.wait(": event ", without=["this is the first event"])
    screen.keys("t")
    screen.wait(f"■ {run}: halted", without=["Idle (Sleep) for"])
    screen.keys("Right")
    screen.wait("this is the last event")


# btd that is away


def test_btd_restarts(btd, screens):
    btd.tree("boot", BOOT)
    start_btd(btd)
    run = start(btd, "boot")
    of_run, of_all = screens("boot"), screens()
    of_run.wait("Idle (Sleep) for")
    of_all.wait("● boot")

    btd.process.kill()
    btd.wait_exit()
    for screen in of_run, of_all:
        screen.wait("not connected: btd is not running; waiting for it to start")
    of_run.keys("2", "+", "Down", "1", "?", "?")
    of_run.wait("not connected")
    start_btd(btd)
    for screen in of_run, of_all:
        screen.wait("? keys", without=["not connected"])
    of_run.wait(f"● {run}: running", "Idle (Sleep) for")
    of_all.wait("● boot")
    of_run.keys("x", "y")
    of_run.wait(f"■ {run}: halted")
    of_all.wait("■ boot")


def test_a_run_that_is_gone_after_a_restart(btd, screens):
    """Its run record is shown."""
    btd.tree("boot", BOOT, on_stop="halt")
    start_btd(btd)
    start(btd, "boot")
    screen = screens("boot")
    screen.wait("Idle (Sleep) for")
    assert btd.stop() == 0
    screen.wait("not connected")
    client.wait(lambda: screen.text().startswith("■ boot.1: halted after "), "the end of the run in the first line")
    start_btd(btd)
    screen.wait("[after ", "■ boot.1: halted", without=["not connected"])


# Terminals


def test_no_terminal(btd):
    start_btd(btd)
    result = btd.btctl("watch")
    assert result == (1, "", "btctl: 'watch' needs a terminal; 'btctl status' and 'btctl follow' do not\n")


def test_a_terminal_that_cannot(btd, screens):
    start_btd(btd)
    screens(env={"TERM": "dumb"}).wait(
        "btctl: the terminal 'dumb' cannot show a whole screen;", "ended with 1")
    screens(env={"TERM": ""}).wait("btctl: the terminal '' cannot show a whole screen;", "ended with 1")


def test_what_is_not_there(btd, screens):
    started(btd, "boot")
    screens("boot.9").wait("btctl: no run 'boot.9'; did you mean 'boot.1'?", "ended with 1")
    screens("net").wait("btctl: no tree 'net'", "ended with 1")
    assert btd.stop() == 0
    screens().wait("btctl: btd is not running on the bus", "ended with 5")


def test_no_trees(btd, screens):
    start_btd(btd)
    screens().wait("btd has no trees; 'btctl status' shows the directories that it reads.")


def test_ascii_without_colours(btd, screens):
    started(btd, "boot")
    plain, coloured = screens("boot", "--ascii", "--no-color", columns=200, rows=60), screens("boot")
    plain.wait("* boot.1: running for", "`- * Idle (Sleep) for", "--[1 Events]--")
    assert plain.text("-e").isascii()
    assert not re.search("\033\\[(3[0-7]|38;)", plain.text("-e"))
    coloured.wait("Idle (Sleep) for")
    assert re.search("\033\\[36m●", coloured.text("-e"))


def test_resize(btd, screens):
    started(btd, "boot")
    screen = screens("boot")
    screen.wait("Idle (Sleep) for")
    for columns, rows in (20, 5), (1, 1), (200, 60), (80, 24):
        screen.tmux("resize-window", "-x", str(columns), "-y", str(rows))
    client.wait(lambda: screen.text().rstrip("\n").count("\n") == 23, "24 lines")
    screen.wait("Idle (Sleep) for", "? keys")
    screen.tmux("resize-window", "-x", "200", "-y", "60")
    client.wait(lambda: screen.text().rstrip("\n").count("\n") == 59, "60 lines")
    screen.keys("q")
    screen.wait_end(0)


@pytest.mark.parametrize("number, status", [(signal.SIGINT, 0), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_signals(btd, screens, number, status):
    started(btd, "boot")
    screen = screens("boot")
    screen.wait("Idle (Sleep) for")
    if number == signal.SIGINT:
        screen.keys("C-c")
    else:
        screen.send_signal(number)
    screen.wait_end(status)


def test_the_terminal_goes_away(btd, screens):
    """With nohup, the signal is ignored, so that only the end of the input says so."""
    started(btd, "boot")
    for ignored in "", "HUP":
        # The search for leaks at the exit can hang when the session of the process is ending; other tests do it.
        screen = screens("boot", ignored=ignored, env={"LSAN_OPTIONS": "detect_leaks=0"})
        screen.wait("Idle (Sleep) for")
        pidfd = os.pidfd_open(screen.pid())
        screen.tmux("kill-server")
        client.wait(lambda fd=pidfd: select.select([fd], [], [], 0)[0], "the end of btctl")
        os.close(pidfd)
