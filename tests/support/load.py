# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes btd work hard. Each load is a context: inside it btd is at work; at its end the load checks that nothing was
lost. The tests of integration/test_load.py count in it, and the benchmark measures in it how long others wait."""

import collections
import contextlib
import os
import socket
import subprocess
import time

import client
import daemon

BEATS, HELD, OTHER = "org.example.Beats", "org.example.Held", "org.example.Other"
INTERFACE = "org.example.Load"
MANAGER = "org.btd1.Manager"
SLEEP = {"type": "Sleep", "duration": "1h"}


def until(condition, what):
    """For what no event tells about: it is looked up again and again."""
    deadline = time.monotonic() + client.PATIENCE
    while not (value := condition()):
        assert time.monotonic() < deadline, f"waited {client.PATIENCE} s for {what}"
        time.sleep(0.02)  # btd gets the processor
    return value


class Program:
    """One of the programs of tests/load, which runs until end()."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        assert line == "ready\n", f"{command} did not begin: {line}"

    def end(self):
        """Its output, split into words."""
        self.process.stdin.close()
        client.wake_at_end(self.process)
        client.wait(lambda: self.process.poll() is not None, f"the end of {self.process.args}")
        words = self.process.stdout.read().split()
        assert self.process.returncode == 0, self.process.args
        return words

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()


class Site:
    """A btd on a bus."""

    def __init__(self, bus_client, address, trees, build=daemon.BUILD):
        self.client, self.address, self.trees, self.build = bus_client, address, trees, build

    def tree(self, name, root, **keys):
        with open(os.path.join(self.trees, name + ".json"), "w", encoding="utf-8") as file:
            file.write(daemon.tree_text(root, **keys))

    def program(self, name, *arguments, other_user=False):
        """other_user: as somebody else, if that is possible."""
        as_user = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]
        command = [os.path.join(self.build, "tests", "load", "load-" + name), self.address, *map(str, arguments)]
        return Program((as_user if other_user and os.geteuid() == 0 else []) + command)

    def start(self, tree, n):
        """Their paths."""
        return [self.client.start(tree, str(i))[1] for i in range(n)]

    def halt(self, tree):
        for path in [row.path for row in self.client.runs() if row.tree == tree and row.status == "running"]:
            with contextlib.suppress(client.DBusError):  # it has just ended
                self.client.halt(path)
        until(lambda: not self.is_running(tree), f"the end of {tree}")

    def is_running(self, tree):
        return any(row.tree == tree and row.status in ("running", "halting") for row in self.client.runs())

    def n_running(self):
        return self.client.get(client.MANAGER, MANAGER, "NRunning")


def held(destination, member="Wait"):
    return {"destination": destination, "path": "/load", "interface": INTERFACE, "member": member}


def heard(member):
    return {"type": "DBusSignal", "sender": BEATS, "path": "/load", "interface": INTERFACE, "member": member}


@contextlib.contextmanager
def finished(bus_client):
    """Collects the statuses of the runs that end meanwhile."""
    statuses = []
    subscription = bus_client.connection.signal_subscribe(
        client.BUS_NAME, MANAGER, "RunFinished", client.MANAGER, None, 0,
        lambda *arguments: statuses.append(arguments[5].unpack()[2]))
    yield statuses
    bus_client.connection.signal_unsubscribe(subscription)


@contextlib.contextmanager
def nothing(site):
    """To compare the others with."""
    yield


@contextlib.contextmanager
def many_runs(site, n=1000):
    """They end with the same signal."""
    site.tree("crowd", {"type": "Sequence", "children": [{"type": "Script", "code": "n = 1"}, heard("Last")]})
    site.client.reload()
    with finished(site.client) as statuses:
        with site.program("signals", BEATS, 0) as beats:
            site.start("crowd", n)
            assert site.n_running() == n
            yield
            beats.end()
        client.wait(lambda: len(statuses) == n, f"{n} runs to end")
    assert set(statuses) == {"success"}


@contextlib.contextmanager
def many_calls(site, n=20000):
    """They wait for a service that does not answer. Other calls are made meanwhile, and subscriptions."""
    site.tree("calls", {"type": "Parallel", "children": [
        {"type": "DBusCall", "name": f"Call{i}", "timeout": "1h", **held(HELD)} for i in range(n)]})
    site.tree("other-call", {"type": "DBusCall", "timeout": "1h", **held(OTHER, "Ask")})
    site.client.reload()
    with site.program("service", HELD) as service, site.program("service", OTHER):
        [path] = site.start("calls", 1)
        site.client.manager("Subscribe")
        site.client.manager("Unsubscribe")
        assert site.client.finish(site.client.start("other-call")[1]) == ("success", "")
        yield
        site.client.call_any(HELD, "/load", INTERFACE, "Answer")
        assert site.client.finish(path) == ("success", "")
        assert site.client.call_any(HELD, "/load", INTERFACE, "Answer") == n
        service.end()


def busy(steps=1):
    """One of its ticks changes so many nodes."""
    return {"type": "KeepRunningUntilFailure", "child": {"type": "Sequence", "children": [
        {"type": "Sleep", "duration": "1ms"}, *({"type": "AlwaysSuccess"} for _ in range(steps))]}}


@contextlib.contextmanager
def mute_subscriber(site, n=10, steps=1):
    """It never reads what it is told."""
    site.tree("busy", busy(steps))
    site.client.reload()
    with site.program("mute", other_user=True) as mute:
        yield mute.process.pid, site.start("busy", n)
        site.halt("busy")
        mute.end()


@contextlib.contextmanager
def mute_asker(site, n=1000):
    """It asks for much, and reads no answer."""
    site.tree("long", SLEEP, blackboard={"text": "x" * 200000})
    site.client.reload()
    run, _ = site.client.start("long")
    with site.program("mute", n, run, other_user=True):
        yield
    site.halt("long")


@contextlib.contextmanager
def many_signals(site, rate=10000, n=3):
    """Each of them makes each of the runs tick."""
    site.tree("beats", {"type": "Parallel", "success_count": 1, "children": [
        heard("Last"), {"type": "KeepRunningUntilFailure", "child": heard("Beat")}]})
    site.client.reload()
    with site.program("signals", BEATS, rate) as beats:
        paths = site.start("beats", n)
        yield paths
        beats.end()
    for path in paths:
        assert site.client.finish(path) == ("success", "")


@contextlib.contextmanager
def churn(site, at_once=64):
    """So many callers start a run and halt it again, without end."""
    site.tree("quiet", {"type": "Parallel", "children": [SLEEP, SLEEP]})
    site.client.reload()
    with finished(site.client) as statuses:
        with site.program("churn", "quiet", at_once) as churn_program:
            yield statuses
            halted, errors = map(int, churn_program.end())
        site.halt("quiet")
        client.wait(lambda: len(statuses) >= halted, "the end of what was halted")
    assert halted > 0 and errors == 0
    assert set(statuses) == {"halted"}


@contextlib.contextmanager
def reloads(site, n=100):
    """Of so many trees, of which a tenth are others each time, while runs are at work. Gives a function that reloads."""
    def write(number, tag):
        site.tree(f"many-{number}", {"type": "Sequence", "name": tag, "children": [SLEEP] * 20})

    turns = []

    def turn():
        turns.append(f"turn{len(turns)}")
        for number in range(len(turns) % 10, n, 10):
            write(number, turns[-1])
        assert site.client.reload() == []

    for number in range(n):
        write(number, "first")
    site.tree("busy", busy())
    site.tree("quiet", {"type": "Parallel", "children": [SLEEP, SLEEP]})
    site.client.reload()
    site.start("busy", 10)
    site.start("quiet", 50)
    yield turn
    assert site.n_running() == 60
    assert turns[-1] in site.client.call(f"/org/btd1/tree/many_2d{len(turns) % 10}", "org.btd1.Tree", "GetText")
    site.halt("quiet")
    site.halt("busy")


DBUS, STATS = "org.freedesktop.DBus", "org.freedesktop.DBus.Debug.Stats"
Connected = collections.namedtuple("Connected", "match_rules unread_bytes")


def connections(bus_client, pid):
    """What the bus says of each connection of a process; each kind of bus has its own way to say it."""
    def ask(method, interface=DBUS, *arguments):
        return bus_client.call_any(DBUS, "/org/freedesktop/DBus", interface, method, "s" * len(arguments), *arguments)

    def is_of_process(name):
        with contextlib.suppress(client.DBusError):  # it has left since
            return ask("GetConnectionUnixProcessID", DBUS, name) == pid

    try:
        peers = ask("GetStats", STATS)["org.bus1.DBus.Debug.Stats.PeerAccounting"]
    except KeyError:
        names = [name for name in ask("ListNames") if name[0] == ":" and is_of_process(name)]
        stats = [ask("GetConnectionStats", STATS, name) for name in names]
        return [Connected(each["MatchRules"], each["OutgoingBytes"]) for each in stats]
    return [Connected(each["Matches"], each["OutgoingBytes"]) for _, who, each in peers if who["ProcessID"] == pid]


# So that what is free is not kept for the next one.
EXACT = {"G_SLICE": "always-malloc", "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"}
SANITIZED = os.environ.get("BTD_SANITIZE", "none") != "none"


def allocated_env(path):
    """The environment of a btd that tells at this socket how many bytes it has allocated, see load/allocated.c."""
    if SANITIZED:  # they have an allocator of their own
        return {}
    preloaded = os.path.join(daemon.BUILD, "tests", "load", "allocated.so")
    return {"LD_PRELOAD": preloaded, "BTD_TEST_ALLOCATED": str(path), **EXACT}


def allocated(path):
    if SANITIZED:
        return 0
    with socket.socket(socket.AF_UNIX) as it:
        it.settimeout(client.PATIENCE)
        it.connect(str(path))
        return int(it.recv(64))
