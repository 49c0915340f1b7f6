# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is measured: each function gives rows of a value beside its baseline, and the goal."""

import contextlib
import dataclasses
import glob
import json
import os
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import buses

HERE = os.path.dirname(os.path.abspath(__file__))
ECHO, WATCHED, BEAT = "org.btd1.Bench", "org.btd1.Bench.Watched", "org.btd1.Bench.Beat"
N_CALLS, N_SPAWNS, SPAWN_WIDTH, N_UNITS, N_RUNS = 10000, 1000, 32, 100, 1000


class CannotMeasure(Exception):
    """Not on this machine; the text says why."""


@dataclasses.dataclass
class Goal:
    """What the ratio should be, the value itself, or how much more it is than the baseline."""
    of: str
    at_most: float = None
    at_least: float = None

    def met_by(self, row):
        it = getattr(row, self.of)
        return it <= self.at_most if self.at_least is None else it >= self.at_least

    def __str__(self):
        sign, limit = ("<=", self.at_most) if self.at_least is None else (">=", self.at_least)
        return f"{sign} {limit:.2f}" if self.of == "ratio" else f"{sign} {limit:g} ({self.of})"


@dataclasses.dataclass
class Row:
    name: str
    value: float
    unit: str
    baseline: float = None
    ratio: float = None
    goal: Goal = None

    @property
    def more(self):
        return self.value - self.baseline


def paired(name, unit, pairs, goal):
    """The row of interleaved (value, baseline) pairs. The ratio is the median of the pairs' ratios."""
    values, baselines = zip(*pairs)
    return Row(name, statistics.median(values), unit, statistics.median(baselines),
               statistics.median(value / baseline for value, baseline in pairs), goal)


class Bench:
    """The programs of a build, and a place for files."""

    def __init__(self, build):
        self.build = build
        self.btd = os.path.join(build, "daemon", "btd")
        self.btctl = os.path.join(build, "client", "btctl")
        self.directory = tempfile.mkdtemp(prefix="btd-bench-")

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        shutil.rmtree(self.directory)

    def program(self, name, *arguments):
        """The command line of one of the programs beside this file."""
        return [os.path.join(self.build, "tests", "bench", "bench-" + name), *map(str, arguments)]

    def microseconds(self, *program):
        return int(output(self.program(*program)))

    def trees(self, name, files, **keys):
        """A directory of tree files: name -> root node. They have these keys besides."""
        directory = os.path.join(self.directory, name)
        os.makedirs(directory)
        for tree, root in files.items():
            with open(os.path.join(directory, tree + ".json"), "w", encoding="utf-8") as file:
                json.dump({"btd": 1, **keys, "root": root}, file)
        return directory

    def daemon(self, address, trees, *options):
        return service([self.btd, "--address=" + address, "--trees=" + trees, *options])

    def echo(self, address):
        return service(self.program("echo", address, ECHO))


def output(command, **options):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, timeout=120, **options).stdout


@contextlib.contextmanager
def private_bus(kind, policy=""):
    try:
        bus = buses.Bus(kind, buses.SYSTEM_LIMITS, policy)
    except buses.CannotRun as reason:
        raise CannotMeasure(reason) from None
    try:
        yield bus
    finally:
        bus.close()


@dataclasses.dataclass
class Service:
    pid: int
    ready: float  # seconds from its start until it said READY


def read_all(notify):
    while notify.recv(4096):
        pass


def stop(process):
    process.terminate()
    try:
        process.wait(30)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        raise


@contextlib.contextmanager
def service(command):
    """Runs a program that tells when it is ready, as systemd would: it goes on listening, too. The log is in memory: a
    file on the disk waits for it, which the socket of journald does not."""
    with tempfile.TemporaryDirectory(prefix="btd-bench-", dir="/dev/shm") as directory, \
            socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify, \
            open(os.path.join(directory, "log"), "w+", encoding="utf-8") as log:
        notify.bind(os.path.join(directory, "notify"))
        notify.settimeout(30)
        begin = time.monotonic()
        process = subprocess.Popen(command, env={**os.environ, "NOTIFY_SOCKET": notify.getsockname()},
                                   stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            while b"READY=1" not in notify.recv(4096).split(b"\n"):
                pass
            ready = time.monotonic() - begin
            notify.settimeout(None)
            threading.Thread(target=read_all, args=[notify.dup()], daemon=True).start()
            yield Service(process.pid, ready)
        except (TimeoutError, subprocess.SubprocessError):
            log.seek(0)
            sys.stderr.write(log.read())
            raise
        finally:
            stop(process)
            notify.shutdown(socket.SHUT_RDWR)


def engine(bench):
    goals = {"Sequence of 8": 2.0, "5 nested": 6.0, "Parallel of 4": 2.5, "Fallback of 8": 2.0, "realistic": 3.0,
             "100,000": 2.0}
    for line in output(bench.program("engine")).splitlines():
        name, *numbers = line.split("\t")
        value, baseline, ratio = [*map(float, numbers), None, None][:3]
        limit = next((goals[part] for part in goals if part in name), None)
        yield Row(name, value, "ns" if limit else "B", baseline, ratio, limit and Goal("ratio", limit))


def load(bench):
    value, baseline, ratio = map(float, output(bench.program("load")).split())
    yield Row("from text to a tree of 100,000 nodes, beside json-c alone", value, "ms", baseline, ratio,
              Goal("ratio", 0.6))


def expression(bench):
    value, baseline, ratio = map(float, output(bench.program("expression")).split())
    yield Row("an expression (battery < 20), beside lua_pcall alone", value, "ns", baseline, ratio, Goal("ratio", 3.0))


def growth(bench):
    """Ten times as large trees, beside ten times the small ones. What is loaded no longer fits into caches."""
    for line in output(bench.program("growth")).splitlines():
        name, *numbers = line.split("\t")
        value, baseline = map(float, numbers)
        yield Row(f"{name}, beside 10 a tenth as large", value / 1e3, "ms", baseline / 1e3, value / baseline,
                  Goal("ratio", 2.5 if name.startswith("load") else 1.5))


def stopped(bench):
    value, baseline = map(float, output(bench.program("stopped")).split())
    yield Row("the longest script that is stopped, beside 1,000,000 instructions of plain Lua", value, "ms", baseline,
              value / baseline, Goal("value", 50))


def plot(bench):
    """The picture of a run of a thousand nodes, beside a btctl that does nothing."""
    leaf = {"type": "ForceSuccess", "child": {"type": "Sleep", "duration": "1ms"}}
    trees = bench.trees("plot", {"plot": {"type": "Sequence", "children": [
        {**leaf, "name": f"A leaf with a name of its own {i}"} for i in range(500)]}})
    pairs = []
    with private_bus("dbus-broker") as bus, tempfile.TemporaryDirectory(dir="/dev/shm") as kept, \
            bench.daemon(bus.address, trees, "--runtime=" + kept, f"--state={bench.directory}/state-plot"):
        btctl = [bench.btctl, "--address=" + bus.address]
        output([*btctl, "start", "plot", "--wait"])
        for _ in range(9):
            begin = time.monotonic()
            output([*btctl, "plot", "plot"])
            middle = time.monotonic()
            output([bench.btctl, "--version"])
            pairs.append(((middle - begin) * 1e3, (time.monotonic() - middle) * 1e3))
    yield paired("btctl plot of a run of 1,000 nodes, beside btctl --version", "ms", pairs, Goal("value", 100))


def record(bench):
    value, baseline = map(float, output(bench.program("record", "/dev/shm")).split())
    yield Row("an input with its tick and the next start, with a run record on tmpfs and without", value / 1e3, "us",
              baseline / 1e3, goal=Goal("more", 1))


def recovery(bench):
    """How long a daemon takes until it is ready that has runs to take up, beside one that has none."""
    pair = [{"type": "Script", "code": "done = done + 1"}, {"type": "Sleep", "duration": "1h"}]
    root = {"type": "Parallel", "children": [{"type": "Sequence", "children": pair}] * 33}
    trees = bench.trees("recovery", {f"tree{i}": root for i in range(10)}, blackboard={"done": 0})
    limits = [f"--limit=runs={N_RUNS}"]
    pairs = []
    with private_bus("dbus-broker") as bus, tempfile.TemporaryDirectory(dir="/dev/shm") as kept:
        with bench.daemon(bus.address, trees, "--runtime=" + kept, *limits):
            for i in range(N_RUNS):
                output([bench.btctl, "--address=" + bus.address, "start", f"tree{i % 10}", f"--instance=instance{i}"])
        for _ in range(9):
            with bench.daemon(bus.address, trees, "--runtime=" + kept, *limits) as full:
                pass
            with bench.daemon(bus.address, trees, f"--runtime={bench.directory}/empty", *limits) as empty:
                pairs.append((full.ready * 1e3, empty.ready * 1e3))
    yield paired("from its start until it is ready, with 1,000 runs of 100 nodes to take up, and without", "ms", pairs,
                 Goal("value", 1000))


def calls(bench, kind):
    call = {"type": "DBusCall", "destination": ECHO, "path": "/bench", "interface": ECHO, "member": "Echo",
            "signature": "s", "args": ["hello"]}
    trees = bench.trees("calls-" + kind, {"calls": {"type": "Parallel", "children": [call] * N_CALLS}})
    pairs = []
    with private_bus(kind) as bus, bench.echo(bus.address), bench.daemon(bus.address, trees):
        for _ in range(21):
            pairs.append((N_CALLS * 1e6 / bench.microseconds("start", bus.address, "calls"),
                          N_CALLS * 1e6 / bench.microseconds("calls", bus.address, ECHO, N_CALLS)))
    yield paired(f"10,000 DBusCalls in a Parallel, {kind}", "calls/s", pairs, Goal("ratio", at_least=0.95))


def runs(bench, kind):
    """Starting, running and archiving a trivial run, for one caller and for 64 at once; the bus is the limit then."""
    trees = bench.trees("runs-" + kind, {"now": {"type": "AlwaysSuccess"}})
    with private_bus(kind) as bus, tempfile.TemporaryDirectory(dir="/dev/shm") as kept, \
            bench.daemon(bus.address, trees, "--runtime=" + kept, f"--state={bench.directory}/state-{kind}"):
        for width, goal in (1, 1500), (64, 3000):
            rates = [N_RUNS * 1e6 / bench.microseconds("runs", bus.address, "now", N_RUNS, width) for _ in range(9)]
            yield Row(f"trivial runs, {width} at once, {kind}", statistics.median(rates), "runs/s",
                      goal=Goal("value", at_least=goal))


def spawns(bench):
    spawn = {"type": "Spawn", "argv": ["/bin/true"], "as": "child"}
    lengths = [len(range(i, N_SPAWNS, SPAWN_WIDTH)) for i in range(SPAWN_WIDTH)]
    root = {"type": "Parallel", "children": [{"type": "Sequence", "children": [spawn] * n} for n in lengths]}
    trees = bench.trees("spawns", {"spawns": root})
    pairs = []
    with private_bus("dbus-daemon") as bus, bench.daemon(bus.address, trees):
        for _ in range(9):
            pairs.append((bench.microseconds("start", bus.address, "spawns") / 1e3,
                          bench.microseconds("spawns", N_SPAWNS, SPAWN_WIDTH, "/bin/true") / 1e3))
    yield paired("1,000 Spawns as children, 32 at a time", "ms", pairs, Goal("ratio", 1.25))


def units(bench):
    """In a user manager of its own, see the file beside."""
    if os.geteuid() != 0:
        raise CannotMeasure("needs root, to run a service manager of its own")
    root = {"type": "Parallel", "children": [{"type": "StartUnit", "unit": f"bench-{i}.service"}
                                             for i in range(N_UNITS)]}
    trees = bench.trees("units", {"units": root})
    command = ["unshare", "--mount", sys.executable, os.path.join(HERE, "units.py"), bench.build, trees, str(N_UNITS)]
    pairs = json.loads(output(command))
    yield paired("100 StartUnits of oneshots, beside systemctl", "ms", pairs, Goal("ratio", 1.10))


def switches(pid):
    """How often the process has been woken up, or put aside, so far."""
    total = 0
    for path in glob.glob(f"/proc/{pid}/task/*/status"):
        with open(path, encoding="ascii", errors="replace") as file:
            total += sum(map(int, re.findall(r"ctxt_switches:\s*(\d+)", file.read())))
    return total


def ten_nodes():
    pair = [{"type": "Sleep", "duration": "1s"}, {"type": "AlwaysSuccess"}]
    return {"type": "Sequence", "children": [{"type": "Parallel", "children": pair} for _ in range(3)]}


def waiting(bench):
    """Ten runs that wait for all that can be waited for without anything happening."""
    waits = [{"type": "Sleep", "duration": "1h"}, {"type": "Spawn", "argv": ["/bin/sleep", "3600"], "as": "child"},
             {"type": "DBusCall", "destination": ECHO, "path": "/bench", "interface": ECHO, "member": "Wait",
              "timeout": "1h"},
             {"type": "Parallel", "children": [{"type": "WaitFor", "child": {"type": "Condition", "test": "go"}},
                                               {"type": "Log", "message": "gone", "skip_if": "not go"}]}]
    files = {f"tree{i}": ten_nodes() for i in range(90)}
    files.update({f"wait{i}": {"type": "Timeout", "timeout": "2h", "child": waits[i % len(waits)]} for i in range(10)})
    trees = bench.trees("waiting", files, blackboard={"go": False})
    seconds = 10
    with private_bus("dbus-daemon") as bus, bench.echo(bus.address), bench.daemon(bus.address, trees) as daemon:
        for i in range(10):
            output([bench.btctl, "--address=" + bus.address, "start", f"wait{i}"])
        time.sleep(1)
        before = switches(daemon.pid)
        time.sleep(seconds)
        woken = switches(daemon.pid) - before
    yield Row(f"wake-ups in {seconds} s, 100 trees, 10 runs waiting", woken, "", goal=Goal("value", 0))


@contextlib.contextmanager
def talk(command):
    """A program that is told what to do, and answers, line by line: ask() writes a line and returns the answer."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as process:
        def ask(line=None):
            if line is not None:
                process.stdin.write(line + "\n")
            answer = process.stdout.readline()
            if not answer:
                raise subprocess.SubprocessError(f"{command[0]} has ended")
            return answer.strip()
        try:
            yield ask
        finally:
            process.stdin.close()


@contextlib.contextmanager
def running(command):
    process = subprocess.Popen(command)
    try:
        yield
    finally:
        stop(process)


def watch(path, claim, then, otherwise):
    """Does one thing while the property is as claimed, and another while it is not."""
    condition = {"type": "DBusProperty", "destination": WATCHED, "path": path, "interface": WATCHED, **claim}
    return {"type": "WhileDoElse", "children": [condition, then, otherwise]}


def react(member):
    """Calls, and waits for something else to happen."""
    call = {"type": "DBusCall", "destination": WATCHED, "path": "/bench", "interface": WATCHED, "member": member}
    return {"type": "Sequence", "children": [call, {"type": "Sleep", "duration": "infinity"}]}


TICK = watch("/bench/{n}", {"property": "Tick", "equals": 1}, react("React"), react("Ready"))


def reaction(bench):
    """From a signal to the call that a run makes because of it, beside a program that makes it in its handler."""
    trees = bench.trees("reaction", {"tick": TICK}, blackboard={"n": 0})
    pairs, rounds = [], "500"
    with private_bus("dbus-broker") as bus, bench.daemon(bus.address, trees), \
            talk(bench.program("reaction", bus.address, "tick", 1)) as ask:
        assert [ask(), ask()] == ["open", "ready"]
        with private_bus("dbus-broker") as other, talk(bench.program("reaction", other.address, "", 1)) as ask_plain:
            assert ask_plain() == "open"
            with running(bench.program("reactor", other.address)):
                assert ask_plain() == "ready"
                for _ in range(11):
                    pairs.append((int(ask(rounds)) / 1e6, int(ask_plain(rounds)) / 1e6))
    yield paired("from a signal to the call it leads to, dbus-broker", "ms", pairs, Goal("more", 1))


def cpu(pid):
    """The nanoseconds that the process has run so far."""
    with open(f"/proc/{pid}/schedstat", encoding="ascii") as file:
        return int(file.read().split()[0])


def watches(bench, kind):
    """A thousand runs that watch a thousand objects, beside ten that watch ten."""
    trees = bench.trees("watches-" + kind, {"tick": TICK}, blackboard={"n": 0})
    rounds, seconds, pairs = 500, 10, []
    with private_bus(kind) as bus, private_bus(kind) as other, bench.daemon(bus.address, trees) as many, \
            bench.daemon(other.address, trees) as few, \
            talk(bench.program("reaction", bus.address, "tick", 1000)) as ask_many, \
            talk(bench.program("reaction", other.address, "tick", 10)) as ask_few:
        assert [ask_many(), ask_many(), ask_few(), ask_few()] == ["open", "ready"] * 2
        time.sleep(1)
        before = switches(many.pid)
        time.sleep(seconds)
        woken = switches(many.pid) - before
        for _ in range(11):
            pair = []
            for daemon, ask in (many, ask_many), (few, ask_few):
                begin = cpu(daemon.pid)
                ask(str(rounds))
                pair.append((cpu(daemon.pid) - begin) / rounds / 1e3)
            pairs.append(pair)
    yield Row(f"wake-ups in {seconds} s, 1,000 runs watching 1,000 objects, {kind}", woken, "", goal=Goal("value", 0))
    yield paired(f"CPU of a change and the reaction, 1,000 watched, beside 10, {kind}", "µs", pairs, Goal("ratio", 1.5))


def flood(bench):
    """A property that changes without pause, and what becomes of everything else."""
    rate, seconds, period = 10000, 10, 5
    idle = {"type": "Sleep", "duration": "infinity"}
    call = {"type": "DBusCall", "destination": BEAT, "path": "/bench", "interface": ECHO, "member": "Beat"}
    pause = {"type": "Sleep", "duration": f"{period}ms"}
    trees = bench.trees("flood", {
        "last": watch("/bench/0", {"property": "Tick", "equals": rate * seconds}, react("React"), react("Ready")),
        "flips": watch("/bench/0", {"property": "On"}, idle, idle),
        "beat": {"type": "Repeat", "num_cycles": -1, "child": {"type": "Sequence", "children": [pause, call]}},
    })
    memory = []
    with private_bus("dbus-broker") as bus, bench.daemon(bus.address, trees) as daemon, \
            talk(bench.program("beat", bus.address, BEAT)) as ask_beat, \
            talk(bench.program("flood", bus.address, rate, seconds)) as ask:
        ask()
        for tree in "beat", "flips", "last":
            output([bench.btctl, "--address=" + bus.address, "start", tree])
        time.sleep(2)
        idle_gap = int(ask_beat("")) / 1e3
        ask("")
        for _ in range(9):
            memory.append(pss(daemon.pid))
            ask()
        memory.append(pss(daemon.pid))
        late = int(ask()) / 1e3
        gap = int(ask_beat("")) / 1e3
    what = "10,000 changes a second for 10 s"
    yield Row(what + ": growth of memory", memory[-1] - memory[1], "MiB", goal=Goal("value", 0.25))
    yield Row(what + ": the longest delay of something else", gap - period, "ms", idle_gap - period,
              goal=Goal("value", 20))
    yield Row(what + ": from the last one to the reaction", late, "ms", goal=Goal("value", 20))


def pss(pid):
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
        return int(re.search(r"^Pss:\s*(\d+) kB", file.read(), re.M)[1]) / 1024


def start(bench):
    trees = bench.trees("start", {f"tree{i}": ten_nodes() for i in range(100)})
    ready, memory = [], []
    with private_bus("dbus-daemon") as bus:
        for _ in range(25):
            with bench.daemon(bus.address, trees) as daemon:
                ours = daemon.ready * 1e3, pss(daemon.pid)
            with bench.echo(bus.address) as smallest:
                ready.append((ours[0], smallest.ready * 1e3))
                memory.append((ours[1], pss(smallest.pid)))
    yield paired("exec to READY, 100 trees of 10 nodes", "ms", ready, Goal("value", 30))
    yield paired("memory (PSS), 100 trees of 10 nodes", "MiB", memory, Goal("value", 8))


ALL = [
    ("calls, dbus-daemon", lambda bench: calls(bench, "dbus-daemon")),
    ("calls, dbus-broker", lambda bench: calls(bench, "dbus-broker")),
    ("runs, dbus-daemon", lambda bench: runs(bench, "dbus-daemon")),
    ("runs, dbus-broker", lambda bench: runs(bench, "dbus-broker")),
    ("units", units),
    ("spawns", spawns),
    ("waiting", waiting),
    ("reaction", reaction),
    ("watches, dbus-daemon", lambda bench: watches(bench, "dbus-daemon")),
    ("watches, dbus-broker", lambda bench: watches(bench, "dbus-broker")),
    ("flood", flood),
    ("start and memory", start),
    ("engine", engine),
    ("load", load),
    ("expression", expression),
    ("growth", growth),
    ("stopped", stopped),
    ("plot", plot),
    ("record", record),
    ("recovery", recovery),
]
