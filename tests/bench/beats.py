# SPDX-License-Identifier: LGPL-2.1-or-later
"""A run that beats every 10 ms, and how late it is at worst while something else happens; beside a bare loop.

When it has beaten is read from the record of the run, so that nothing but the main loop of btd is measured: neither a
bus nor whoever would have to be called.
"""

import contextlib
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time

import container
import measures

PERIOD, SECONDS = 10, 10
GOAL = measures.Goal("value", 20)
SLEEP = {"type": "Sleep", "duration": "infinity"}
BEAT = {"type": "Repeat", "num_cycles": -1, "child": {"type": "Sleep", "duration": f"{PERIOD}ms"}}
N_NODES = 100000


class Beats:
    """When a run has beaten since it was started, in µs. Its record is read meanwhile, since it may become shorter."""

    def __init__(self, pattern):
        self.path, = glob.glob(pattern)
        self.seen = set()
        self.ended = threading.Event()
        self.reader = threading.Thread(target=self._read_on, daemon=True)
        self.reader.start()

    def _read(self):
        with contextlib.suppress(FileNotFoundError), open(self.path, encoding="utf-8", errors="replace") as file:
            self.seen.update(map(int, re.findall(r"^(\d+) ended #1 .* \w{8}$", file.read(), re.M)))

    def _read_on(self):
        while not self.ended.wait(0.5):
            self._read()

    def now(self, least=0):
        """The time of the last beat, as soon as it is at least that."""
        deadline = time.monotonic() + 60
        while self._read() or max(self.seen, default=-1) < least:
            if time.monotonic() > deadline:
                raise subprocess.SubprocessError("the run does not beat any more")
            time.sleep(0.05)
        return max(self.seen)

    def longest(self, begin):
        """Between two beats since then, in ms."""
        times = sorted(it for it in self.seen if it >= begin)
        return max(b - a for a, b in zip(times, times[1:])) / 1e3

    def close(self):
        self.ended.set()
        self.reader.join()


def measure(bench, what, pattern, work):
    """The row of how late beats are while work() is done."""
    beats = Beats(pattern)
    with contextlib.closing(beats), measures.talk(bench.program("timer", PERIOD)) as ask:
        beats.now(1000000)
        begin = beats.now()
        ask("")
        started = time.monotonic()
        work()
        took = time.monotonic() - started
        bare = int(ask("")) / 1e3
        beats.now(begin + took * 1e6)
        late = beats.longest(begin)
    yield measures.Row(f"a beat of {PERIOD} ms, late at worst: {what}", late - PERIOD, "ms", bare - PERIOD, goal=GOAL)


class Place:
    """A btd on a bus of its own, with a run that beats."""

    def __init__(self, bench, name):
        self.bench, self.name, self.files = bench, name, {"beat": BEAT}
        self.keys = {}

    @contextlib.contextmanager
    def open(self, **env):
        """With the trees that are there by now. The runtime directory is in memory, as /run is."""
        self.trees = self.bench.trees("beat-" + self.name, self.files, **self.keys)
        with bus_for_all() as self.bus, tempfile.TemporaryDirectory(prefix="btd-bench-") as kept, \
                tempfile.TemporaryDirectory(prefix="btd-bench-", dir="/dev/shm") as runtime:
            daemon = [self.bench.btd, "--address=" + self.bus.address, "--trees=" + self.trees,
                      "--runtime=" + runtime, f"--state={kept}/state"]
            with measures.service(["env", *(f"{key}={value}" for key, value in env.items()), *daemon]):
                self.btctl("start", "beat")
                self.records = runtime + "/runs"
                yield self

    def btctl(self, *arguments):
        return measures.output([self.bench.btctl, "--address=" + self.bus.address, *arguments]).strip()

    def measure(self, what, work):
        return measure(self.bench, what, f"{self.records}/beat.*.journal", work)


@contextlib.contextmanager
def bus_for_all(kind="dbus-broker"):
    """Other users get there, too."""
    with measures.private_bus(kind, '<allow user="*"/>') as bus:
        os.chmod(bus.directory, 0o755)
        os.chmod(bus.socket, 0o666)
        yield bus


def repeat(function):
    """For as long as is measured."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        function()


def many_nodes():
    """Of which one waits, and the others are never started."""
    leaves = [{"type": "AlwaysSuccess", "name": f"Leaf{i}"} for i in range(N_NODES)]
    return {"type": "Sequence", "children": [SLEEP] + [{"type": "Sequence", "children": leaves[i:i + 100]}
                                                       for i in range(0, N_NODES, 100)]}


def nothing(bench):
    with Place(bench, "nothing").open() as place:
        yield from place.measure("nothing happens", lambda: time.sleep(SECONDS))


def disk(bench):
    """Each run is to be on the disk before it is begun, and what it was afterwards."""
    place = Place(bench, "disk")
    place.files["short"] = {"type": "AlwaysSuccess"}
    preload = os.path.join(bench.build, "tests", "bench", "slow-sync.so")
    with place.open(LD_PRELOAD=preload):
        yield from place.measure("runs begin and end, and fsync takes 300 ms",
                                 lambda: repeat(lambda: place.btctl("start", "short", "--wait")))


def as_user(user, command):
    """Not as root, whose calls come first."""
    return ["setpriv", "--reuid=" + user, "--regid=nogroup", "--clear-groups", *command]


def questions(bench, name, kind, member, tree, **keys):
    """Two users with 20 connections each, and each has always one question waiting, of a tree or its run."""
    if os.geteuid() != 0:
        raise measures.CannotMeasure("needs root, to be two users")
    place = Place(bench, name)
    place.files["large"] = tree
    place.keys = keys
    with place.open():
        it = {"Tree": "tree/large", "Run": "run/" + place.btctl("start", "large").replace(".", "_2e")}[kind]
        command = bench.program("ask", place.bus.address, 20, "/org/btd1/" + it, "org.btd1." + kind, member)

        def work():
            with measures.talk(as_user("daemon", command)) as ask, measures.talk(as_user("nobody", command)) as other:
                assert [ask(), other()] == ["ready", "ready"]
                time.sleep(SECONDS)
                for end in ask, other:
                    answers, failed = map(int, end("").split())
                    # If the bus is busy, btd refuses some.
                    assert answers > failed, f"{answers} answers and {failed} errors"
        yield from place.measure(f"2 users, 20 connections each, {member} of {name}", work)


def all_at_once(bench):
    """What a user without rights can ask for."""
    if os.geteuid() != 0:
        raise measures.CannotMeasure("needs root, to be another user")
    place = Place(bench, "all")
    place.files["large"] = many_nodes()
    place.keys = {"blackboard": VARIABLES}
    with place.open(), contextlib.ExitStack() as stack:
        run = place.btctl("start", "large").replace(".", "_2e")
        asked = [(20, "tree/large", "Tree", "GetNodes"), (20, "tree/large", "Tree", "GetText"),
                 (20, "run/" + run, "Run", "GetVariables"), (20, "run/" + run, "Run", "GetNodes")]
        commands = [bench.program("ask", place.bus.address, n, "/org/btd1/" + path, "org.btd1." + kind, member)
                    for n, path, kind, member in asked]
        refused = os.path.join(os.path.dirname(os.path.abspath(__file__)), "refused.py")
        commands.append(["/usr/bin/python3", refused, place.bus.socket, "50", run])

        def work():
            for command in commands:
                assert stack.enter_context(measures.talk(as_user("nobody", command)))() == "ready"
            time.sleep(SECONDS)

        for row in place.measure("long answers and refused changes of a user, all at once", work):
            row.goal = measures.Goal("more", 10)
            yield row


def starts_of_text(bench):
    """Of 4 MB, of which nothing is started."""
    leaf = {"type": "AlwaysSuccess", "name": "x" * 60}
    leaves = {"type": "Sequence", "children": [leaf] * (4000000 // len(json.dumps(leaf)))}
    root = {"type": "Fallback", "children": [{"type": "AlwaysSuccess"}, leaves]}
    text = bench.trees("text", {"text": root})
    with Place(bench, "text").open() as place:
        yield from place.measure("StartText of 4 MB, again and again",
                                 lambda: repeat(lambda: place.btctl("run", f"{text}/text.json", "--wait")))


def starts(bench):
    """Each run has a header of 5 MB."""
    place = Place(bench, "start")
    place.files["large"] = many_nodes()

    def work():
        place.btctl("start", "large")
        place.btctl("halt", "large")

    with place.open():
        yield from place.measure("start of 100,000 nodes, again and again", lambda: repeat(work))


def reload(bench):
    """All are others each time, and read again when they are the same."""
    place = Place(bench, "reload")
    place.files.update({f"tree{i}": measures.ten_nodes() for i in range(1999)}, large=many_nodes())

    def change():
        for name, root in place.files.items():
            with open(f"{place.trees}/{name}.json.new", "w", encoding="utf-8") as file:
                json.dump({"btd": 1, "description": str(time.monotonic()), "root": root}, file)
            os.rename(file.name, file.name.removesuffix(".new"))

    def work():
        change()
        place.btctl("reload")
        place.btctl("reload")

    with place.open():
        yield from place.measure("reload of 2,000 trees, one of 100,000 nodes", lambda: repeat(work))


def changes(bench):
    place = Place(bench, "changes")
    rate = 10000
    place.files.update(
        last=measures.watch("/bench/0", {"property": "Tick", "equals": rate * SECONDS}, measures.react("React"),
                            measures.react("Ready")),
        flips=measures.watch("/bench/0", {"property": "On"}, SLEEP, SLEEP))
    with place.open(), measures.talk(bench.program("flood", place.bus.address, rate, SECONDS)) as ask:
        ask()
        place.btctl("start", "flips")
        place.btctl("start", "last")

        def work():
            ask("")
            for _ in range(10):
                ask()
        yield from place.measure("10,000 changes of a property a second", work)


def loops(bench):
    """They take no time, and come to their end only some day, so nothing slows them down."""
    place = Place(bench, "loops")
    place.files["long"] = {"type": "Repeat", "num_cycles": 4000000000, "child": {"type": "AlwaysSuccess"}}
    with place.open():
        for i in range(10):
            place.btctl("start", "long", f"--instance=i{i}")
        yield from place.measure("10 runs that loop without a pause", lambda: time.sleep(SECONDS))


def log(bench):
    """In a container, whose journal does not read what runs write to it all the time."""
    try:
        machine = container.Container("dbus-broker", installed(bench))
    except container.CannotRun as reason:
        raise measures.CannotMeasure(reason) from None
    talk = {"type": "Sequence", "children": [{"type": "Log", "message": "x" * 100}, {"type": "Sleep", "duration": "1ms"}]}
    files = {"beat": BEAT, "talk": {"type": "Repeat", "num_cycles": -1, "child": talk}}
    with contextlib.closing(machine):
        machine.enable("btd.service")
        for name, root in files.items():
            machine.write(f"/etc/btd/trees/{name}.json", json.dumps({"btd": 1, "root": root}))
        machine.boot()
        journald = machine.property("systemd-journald.service", "MainPID")
        for tree in files:
            machine.check("btctl", "start", tree)

        def work():
            machine.check("kill", "-STOP", journald)
            time.sleep(SECONDS)
            machine.check("kill", "-CONT", journald)
        yield from measure(bench, "the journal does not read", str(machine.path("/run/btd/runs")) + "/beat.*.journal",
                           work)


def installed(bench):
    """A folder with what is laid over a system."""
    directory = os.path.join(bench.directory, "installed")
    subprocess.run(["ninja", "-C", bench.build, "--quiet"], check=True, stdout=sys.stderr)
    subprocess.run(["meson", "install", "-C", bench.build, "--no-rebuild", "--quiet", "--destdir", directory],
                   check=True, stdout=subprocess.DEVNULL)
    return directory


VARIABLES = {"text": "x" * 1000000, **{f"variable{i}": "x" * 10000 for i in range(200)}}

ALL = [
    ("beat: nothing", nothing),
    ("beat: disk", disk),
    ("beat: tree nodes", lambda bench: questions(bench, "a tree of 100,000 nodes", "Tree", "GetNodes", many_nodes())),
    ("beat: run nodes", lambda bench: questions(bench, "a run of 100,000 nodes", "Run", "GetNodes", many_nodes())),
    ("beat: text", lambda bench: questions(bench, "100,000 nodes", "Tree", "GetText", many_nodes())),
    ("beat: variables", lambda bench: questions(bench, "3 MB", "Run", "GetVariables", SLEEP, blackboard=VARIABLES)),
    ("beat: all", all_at_once),
    ("beat: StartText", starts_of_text),
    ("beat: loops", loops),
    ("beat: log", log),
    ("beat: start", starts),
    ("beat: reload", reload),
    ("beat: changes", changes),
]
