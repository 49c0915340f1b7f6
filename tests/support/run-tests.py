#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the tests of some build directories side by side, longest first, and never more at once than the machine has
room for. Ends with the slowest tests and a line that counts single tests: "N passed, M failed, K skipped".

A test's cost is its time and its share of a processor, as it was when it ran last: in costs.json of the build directory,
or, in a new one, in tests/costs.json, which --save-costs writes.
"""

import argparse
import collections
import contextlib
import json
import os
import pathlib
import random
import re
import select
import signal
import subprocess
import sys
import time

TOP = pathlib.Path(__file__).resolve().parents[2]
COSTS = TOP / "tests" / "costs.json"
# Tests that wait do not use a processor, but what they start does for moments.
SHARE_MIN = 0.15
# No test is slow: one that needs longer never ends.
TIMEOUT = 1800

Cost = collections.namedtuple("Cost", "wall cpu")
Count = collections.namedtuple("Count", "passed failed skipped")


def count_tap(text):
    """The numbers and the names of those that failed, by the lines of a TAP stream."""
    passed = skipped = 0
    failures = []
    for line in text.splitlines():
        match = re.match(r"(not )?ok\b *\d*[ -]*([^#]*)(# *skip)?", line, re.I)
        if not match:
            continue
        if match.group(1):
            failures.append(match.group(2).strip())
        elif match.group(3):
            skipped += 1
        else:
            passed += 1
    return passed, failures, skipped


class Test:
    """A program of a build directory, and how it went."""

    def __init__(self, build, description, learned):
        self.name = description["name"]
        self.suites = [suite.rpartition(":")[2] for suite in description["suite"]]
        self.command, self.workdir = description["cmd"], description["workdir"] or build
        self.env, self.tap = description["env"], description["protocol"] == "tap"
        self.alone = not description["is_parallel"]
        self.log = build / "test-logs" / (self.name + ".log")
        self.cost = Cost(*learned.get(self.name, (60, 60)))
        self.process = self.began = self.killed = self.took = None
        self.failures = []

    @property
    def share(self):
        """Of a processor."""
        return max(SHARE_MIN, self.cost.cpu / max(self.cost.wall, 0.01))

    def start(self, env):
        self.log.parent.mkdir(exist_ok=True)
        with open(self.log, "wb") as errors, open(self.log.with_suffix(".tap"), "wb") as output:
            self.process = subprocess.Popen(self.command, cwd=self.workdir, env={**env, **self.env}, stdin=subprocess.DEVNULL,
                                            stdout=output, stderr=errors, start_new_session=True)
        self.began, self.killed = time.monotonic(), False

    def end(self, status, usage):
        """Count of its single tests. Without TAP, or with a bad exit status, the program counts as one test."""
        self.took = Cost(round(time.monotonic() - self.began, 2), round(usage.ru_utime + usage.ru_stime, 2))
        self.process.returncode = status
        passed, self.failures, skipped = 0, [], 0
        if self.tap:
            passed, self.failures, skipped = count_tap(self.output())
        with contextlib.suppress(ProcessLookupError):  # what it has left running
            os.killpg(self.process.pid, signal.SIGKILL)
        if self.killed:
            self.failures.append(f"did not end within {self.took.wall:.0f} s")
        elif status != 0 and not self.failures:
            self.failures.append(f"ended with status {status}")
        elif passed + skipped + len(self.failures) == 0:
            passed = 1
        return Count(passed, len(self.failures), skipped)

    def output(self):
        return self.log.with_suffix(".tap").read_text(encoding="utf-8", errors="replace")

    def show(self):
        print(f"--- {self.name}: {self.log}")
        print(self.output() + self.log.read_text(encoding="utf-8", errors="replace"), flush=True)


def load(build, suites, names):
    learned = {}
    for path in (COSTS, build / "costs.json"):
        with contextlib.suppress(FileNotFoundError):
            learned.update(json.loads(path.read_text(encoding="utf-8")))
    listed = subprocess.run(["meson", "introspect", "--tests", build], check=True, stdout=subprocess.PIPE).stdout
    tests = [Test(build, description, learned) for description in json.loads(listed)]
    return [test for test in tests if (not suites or set(suites) & set(test.suites)) and (not names or test.name in names)]


class Runner:
    """Starts the next test that fits as soon as there is room."""

    def __init__(self, tests, seed, processors, first=False, timeout=TIMEOUT):
        """first: ends with the first failure, so the shortest tests come first."""
        self.timeout = timeout
        self.waiting = sorted(tests, key=lambda test: test.cost.wall, reverse=not first)
        self.first = first
        if seed is not None:
            random.Random(seed).shuffle(self.waiting)
        self.room = 1.25 * processors
        self.running = {}  # pidfd -> test
        self.total, self.done = len(tests), 0
        self.count = Count(0, 0, 0)
        self.env = dict(os.environ, G_SLICE="always-malloc")  # GLib's own allocator would hide what sanitizers look for
        if seed is not None:
            self.env["BTD_ORDER"] = str(seed)

    def fits(self, test):
        if not self.running:
            return True
        if test.alone or any(other.alone for other in self.running.values()):
            return False
        return sum(other.share for other in self.running.values()) + test.share <= self.room

    def fill(self):
        for test in list(self.waiting):
            if self.fits(test):
                self.waiting.remove(test)
                test.start(self.env)
                self.running[os.pidfd_open(test.process.pid)] = test

    def collect(self):
        """Waits for an end, and kills what does not end. True: a test has failed."""
        failed = False
        readable, _, _ = select.select(list(self.running), [], [], 5)
        for fd in readable:
            test = self.running.pop(fd)
            os.close(fd)
            _, status, usage = os.wait4(test.process.pid, 0)
            count = test.end(os.waitstatus_to_exitcode(status), usage)
            self.count = Count(*map(sum, zip(self.count, count)))
            self.done += 1
            failed |= count.failed > 0
            print(f"{self.done:4}/{self.total} {'FAILED' if test.failures else 'ok':6} {test.name:32} "
                  f"{test.took.wall:7.2f} s, {test.took.cpu:7.2f} s of CPU, {count.passed + count.failed} tests"
                  + (f", {count.skipped} skipped" if count.skipped else ""), flush=True)
        for test in self.running.values():
            if time.monotonic() - test.began > self.timeout and not test.killed:
                os.killpg(test.process.pid, signal.SIGKILL)
                test.killed = True
        return failed

    def run(self):
        while self.waiting or self.running:
            self.fill()
            if self.collect() and self.first:
                return

    def close(self):
        for fd, test in self.running.items():
            os.killpg(test.process.pid, signal.SIGKILL)
            os.close(fd)


@contextlib.contextmanager
def busy(n):
    """So many processes that do nothing else than to keep a processor busy."""
    processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(n)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def save_costs(path, tests):
    known = {}
    with contextlib.suppress(FileNotFoundError):
        known = json.loads(path.read_text(encoding="utf-8"))
    known.update({test.name: test.took for test in tests if test.took and not test.failures})
    lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(cost)}" for name, cost in sorted(known.items()))
    path.write_text("{\n" + lines + "\n}\n", encoding="utf-8")


def one_round(arguments, seed):
    """The tests after they have run, and their count."""
    by_build = {build: load(build, arguments.suite, arguments.name) for build in arguments.build}
    tests = [test for tests in by_build.values() for test in tests]
    runner, begin = Runner(tests, seed, os.cpu_count(), arguments.first, arguments.timeout), time.monotonic()
    try:
        with busy(arguments.busy):
            runner.run()
    finally:
        runner.close()
    if not arguments.busy:
        for build, tests_of_build in by_build.items():
            save_costs(build / "costs.json", tests_of_build)
            if arguments.save_costs:
                save_costs(COSTS, tests_of_build)
    print(f"{time.monotonic() - begin:.0f} s" + ("" if seed is None else f", order {seed}"))
    return tests, runner.count


def stress(arguments):
    """Each round has another order, and as many busy processes as --busy says."""
    failed, counts = collections.Counter(), []
    for number in range(arguments.stress):
        print(f"\n== round {number + 1} of {arguments.stress}", flush=True)
        tests, count = one_round(arguments, arguments.order + number)
        counts.append(count)
        for test in tests:
            failed.update(f"{test.name}: {failure}" for failure in test.failures)
            if test.failures:
                test.show()
    print("\n== what failed how often" if failed else "\n== nothing failed")
    for name, times in failed.most_common():
        print(f"{times} of {arguments.stress}: {name}")
    return Count(*map(sum, zip(*counts)))


def suite(arguments):
    tests, count = one_round(arguments, arguments.order)
    for test in tests:
        if test.failures:
            test.show()
    print("the slowest:")
    for test in sorted((test for test in tests if test.took), key=lambda test: -test.took.wall)[:10]:
        print(f"  {test.name:32} {test.took.wall:7.2f} s, {test.took.cpu:7.2f} s of CPU")
    for test in tests:
        for failure in test.failures:
            print(f"FAILED: {test.name}: {failure}")
    return count


def main():
    parser = argparse.ArgumentParser(description="Runs the tests of some build directories.")
    parser.add_argument("build", nargs="+", type=lambda path: pathlib.Path(path).resolve(), help="a build directory")
    parser.add_argument("--suite", action="append", help="only tests of this suite (more than once: of these)")
    parser.add_argument("--name", action="append", help="only the test of this name (more than once: these)")
    parser.add_argument("--order", metavar="SEED", type=int, help="run them in a random order, not longest first")
    parser.add_argument("--busy", metavar="N", type=int, default=0, help="run N busy processes beside them")
    parser.add_argument("--stress", metavar="N", type=int, help="run all of it N times, each time in another order")
    parser.add_argument("--first", action="store_true", help="end with the first failure")
    parser.add_argument("--timeout", metavar="SECONDS", type=float, default=TIMEOUT, help="what needs longer never ends")
    parser.add_argument("--save-costs", action="store_true", help="store the costs for new build directories")
    arguments = parser.parse_args()

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that no test is left running
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell ignores it for what runs in the background
    if arguments.stress:
        arguments.order = arguments.order or int(time.time())
        count = stress(arguments)
    else:
        count = suite(arguments)
    print(f"{count.passed} passed, {count.failed} failed, {count.skipped} skipped")
    return 1 if count.failed or not count.passed else 0


if __name__ == "__main__":
    sys.exit(main())
