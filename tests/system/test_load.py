# SPDX-License-Identifier: LGPL-2.1-or-later
"""Much of everything at once: every other caller is answered in time, nothing is lost, and nothing is kept afterwards.

Each load lasts some seconds, and a minute with BTD_LOAD=full in the environment; then it is also expected that nothing
else runs on the machine.
"""

import os
import time

import pytest

import client
import load

FULL = os.environ.get("BTD_LOAD") == "full"
SECONDS = 60 if FULL else 3

LOAD = "org.example.Load"
SLEEP = {"type": "Sleep", "duration": "1h"}


def prepare(machine):
    load.prepare(machine)
    machine.tree("crowd", {"type": "Sequence", "children": [{"type": "Script", "code": "n = 1"}, heard("Last")]})
    machine.tree("calls", {"type": "Parallel", "children": [
        {"type": "DBusCall", "name": f"Call{n}", "timeout": "10min", **held("org.example.Held")} for n in range(20000)]})
    machine.tree("other-call", {"type": "DBusCall", **held(load.PLAIN, "Ask")})
    machine.tree("beats", {"type": "Parallel", "success_count": 1, "children": [
        heard("Last"), {"type": "KeepRunningUntilFailure", "child": heard("Beat")}]})
    machine.tree("busy", {"type": "KeepRunningUntilFailure", "child": {"type": "Sequence", "children": [
        {"type": "Sleep", "duration": "1ms"}, {"type": "Script", "code": "n = 1"}]}})
    machine.tree("long", SLEEP, blackboard={"text": "x" * 200000})
    machine.tree("quiet", {"type": "Parallel", "children": [SLEEP, SLEEP]})


def held(destination, member="Wait"):
    return {"destination": destination, "path": "/load", "interface": LOAD, "member": member}


def heard(member):
    return {"type": "DBusSignal", "sender": "org.example.Beats", "path": "/load", "interface": LOAD, "member": member}


@pytest.fixture(scope="module")
def plain(shared_machine):
    """The service beside which btd is measured."""
    with load.Program(shared_machine, "service", load.PLAIN) as service:
        yield
        service.end()


@pytest.fixture(autouse=True)
def nothing_left(machine):
    yield
    for tree in {row.tree for row in machine.client.runs() if row.status == "running"}:
        halt(machine, tree)


@pytest.fixture
def check(request, machine, plain):
    """check(work): work(seconds) twice, the first time for a moment, so that what is kept at all is there; the second
    time others are asked whether they have been answered in time, and then what is still kept."""
    what = request.node.name

    def measure(work, moment=0.5):
        work(moment)
        before = load.rest(machine)
        files = load.files(machine)
        with load.others(machine) as waits:
            work(SECONDS)
        load.check_waits(waits, what, FULL)
        load.check_memory(machine, before, what)
        assert load.settle(lambda: load.files(machine), files) <= files
    return measure


def pause(seconds):
    """While others are at work."""
    client.run(["sleep", str(seconds)], timeout=seconds + 20)


def test_nothing(check):
    """What it is when btd has nothing to do, to compare the others with."""
    check(pause)


def test_a_thousand_runs(machine, check):
    def work(seconds):
        with load.finished(machine) as statuses:
            with load.Program(machine, "signals", "org.example.Beats", 0) as beats:
                for n in range(1000):
                    machine.client.start("crowd", str(n))
                pause(seconds)
                assert machine.client.get(client.MANAGER, "org.btd1.Manager", "NRunning") == 1000
                beats.end()
            client.wait(lambda: len(statuses) == 1000, "1000 runs to end")
        assert set(statuses) == {"success"}
    check(work)


def test_twenty_thousand_calls_that_wait(machine, check):
    """Whom they wait for does not answer. Other calls are made meanwhile, and subscriptions."""
    def work(seconds):
        with load.Program(machine, "service", "org.example.Held") as service:
            _, path = machine.client.start("calls")
            machine.client.manager("Subscribe")
            machine.client.manager("Unsubscribe")
            assert machine.client.finish(machine.client.start("other-call")[1]) == ("success", "")
            pause(seconds)
            machine.client.call_any("org.example.Held", "/load", LOAD, "Answer")
            assert machine.client.finish(path) == ("success", "")
            assert machine.client.call_any("org.example.Held", "/load", LOAD, "Answer") == 20000
            service.end()
    check(work)


def start_busy(machine, tree="busy", n=10):
    for number in range(n):
        machine.client.start(tree, str(number))


def halt(machine, tree):
    machine.check("btctl", "--quiet", "halt", tree, "--wait")


def test_a_subscriber_that_never_reads(machine, check):
    """The bus is not filled, either."""
    def work(seconds):
        before = bus_memory(machine)
        with load.Program(machine, "mute", user="nobody") as mute:
            start_busy(machine)
            pause(seconds)
            assert bus_memory(machine) < before + 8 * 1024
            halt(machine, "busy")
            mute.end()
    check(work)
    if FULL:
        assert "does not read its signals; its subscription has ended" in machine.log()


def test_one_that_asks_for_much_and_reads_no_answer(machine, check):
    def work(seconds):
        run, _ = machine.client.start("long")
        with load.Program(machine, "mute", "1000", run, user="nobody"):
            pause(seconds)
        halt(machine, "long")
    check(work)


def bus_memory(machine):
    pids = machine.check("pgrep", "-x", "dbus-daemon|dbus-broker").split()
    return sum(int(line.split()[1]) for pid in pids
               for line in machine.check("cat", f"/proc/{pid}/smaps_rollup").splitlines() if line.startswith("Pss:"))


def test_ten_thousand_signals_a_second(machine, check):
    """Each makes each of these runs tick."""
    def work(seconds):
        with load.Program(machine, "signals", "org.example.Beats", 10000) as beats:
            runs = [machine.client.start("beats", str(n))[1] for n in range(3)]
            pause(seconds)
            assert int(beats.end()[0]) >= 8000 * seconds
        for path in runs:
            assert machine.client.finish(path) == ("success", "")
    check(work)


@pytest.mark.parametrize("at_once", [1, 64] if FULL else [64])
def test_starts_and_halts_without_end(machine, check, at_once):
    def work(seconds):
        with load.finished(machine) as statuses:
            with load.Program(machine, "churn", "quiet", at_once) as churn:
                pause(seconds)
                halted, errors = map(int, churn.end())
            halt(machine, "quiet")
            client.wait(lambda: len(statuses) >= halted, "the end of what was halted")
        assert halted > 50 * seconds and errors == 0
        assert set(statuses) == {"halted"}
    check(work)


def test_two_hundred_reloads_a_minute(machine, check):
    """Of a hundred trees, of which ten are others each time."""
    def write(number, tag):
        machine.tree(f"many-{number}", {"type": "Sequence", "name": tag, "children": [SLEEP] * 20})

    def work(seconds):
        for number in range(100):
            write(number, "first")
        start_busy(machine)
        start_busy(machine, "quiet", 50)
        begin = time.monotonic()
        for turn in range(200 * seconds // 60):
            for number in range(turn % 10, 100, 10):
                write(number, f"turn{turn}")
            assert machine.client.reload() == []
            pause(max(0, begin + turn * 0.3 - time.monotonic()))
        assert machine.client.get(client.MANAGER, "org.btd1.Manager", "NRunning") == 60
        assert "turn" in machine.check("btctl", "cat", "many-9")
        for tree in ("quiet", "busy"):
            halt(machine, tree)
    check(work, moment=3)
