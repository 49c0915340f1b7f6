# SPDX-License-Identifier: LGPL-2.1-or-later
"""How long other callers wait while btd works hard, beside a service that has nothing to do and is asked at the same
moments; and the memory that is kept afterwards. That nothing is lost is tested by tests/integration/test_load.py.

Each load lasts some seconds, and a minute with BTD_LOAD=full in the environment.
"""

import os
import time

import beats
import client
import load
import measures

SECONDS = 60 if os.environ.get("BTD_LOAD") == "full" else 10
PLAIN = "org.example.Plain"
# With two processors, in ms.
MEDIAN, PERCENTILE_99 = measures.Goal("more", 20), measures.Goal("more", 100)
MEMORY = measures.Goal("ratio", 1.1)
RELOADS_A_MINUTE = 200
# So that it is full before anything is measured.
HISTORY = ["--limit=history=10"]


def work(site, begin, seconds):
    """If the load gives a function, there is something to do all the time."""
    with begin(site) as turn:
        end = time.monotonic() + seconds
        while (now := time.monotonic()) < end:
            if callable(turn):
                turn()
            time.sleep(max(0, min(now + 60 / RELOADS_A_MINUTE, end) - time.monotonic()))


def resting_pss(pid):
    """When no more memory is returned, which takes some seconds."""
    now = measures.pss(pid)
    while True:
        time.sleep(3)
        before, now = now, measures.pss(pid)
        if now > before * 0.99:
            return now


def probe(bench, address, meanwhile):
    """Asks both during meanwhile(): for each of them the median and the 99th percentile of its times, in ms."""
    with load.Program([os.path.join(bench.build, "tests", "load", "load-probe"), address, PLAIN]) as it:
        meanwhile()
        words = it.end()
    found = {}
    for i in range(0, len(words), 6):
        answered, lost, *times = map(int, words[i + 1:i + 6])
        assert answered > 0 and lost == 0, f"{words[i]}: {answered} answers, and {lost} are missing"
        found[words[i]] = [usec / 1e3 for usec in times]
    return found["btd"], found["plain"]


def waits(bench, kind, what, begin):
    """begin(site) is one of the loads of support/load.py. The first time is only for a moment, so that what is kept for
    good is there."""
    trees = bench.trees(f"waits-{kind}-{what}", {})
    with beats.bus_for_all(kind) as bus, \
            bench.daemon(bus.address, trees, f"--runtime={trees}-run", f"--state={trees}-state", *HISTORY) as daemon:
        own = client.Client(bus.address)
        site = load.Site(own, bus.address, trees, bench.build)
        with site.program("service", PLAIN):
            work(site, begin, 0.5)
            before = resting_pss(daemon.pid)
            btd, plain = probe(bench, bus.address, lambda: work(site, begin, SECONDS))
            after = resting_pss(daemon.pid)
        own.close()
    for i, (part, goal) in enumerate({"median": MEDIAN, "99th percentile": PERCENTILE_99}.items()):
        yield measures.Row(f"others wait, {part}: {what}, {kind}", btd[i], "ms", plain[i], goal=goal)
    yield measures.Row(f"memory (PSS) after it, beside before: {what}, {kind}", after, "MiB", before, after / before,
                       MEMORY)


LOADS = {
    "nothing happens": load.nothing,
    "1,000 runs": load.many_runs,
    "20,000 calls wait": load.many_calls,
    "a subscriber never reads": load.mute_subscriber,
    "1,000 answers are not read": load.mute_asker,
    "10,000 signals a second, for 3 runs": load.many_signals,
    "starts and halts, 1 at once": lambda site: load.churn(site, 1),
    "starts and halts, 64 at once": load.churn,
    f"{RELOADS_A_MINUTE} reloads a minute": load.reloads,
}

ALL = [(f"waits: {what}, {kind}", lambda bench, kind=kind, what=what, begin=begin: waits(bench, kind, what, begin))
       for what, begin in LOADS.items() for kind in ("dbus-daemon", "dbus-broker")]
