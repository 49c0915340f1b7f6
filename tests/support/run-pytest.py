#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs pytest files and speaks TAP on stdout, so that meson counts every single test. pytest's output goes to
stderr. BTD_ORDER=SEED in the environment runs the files, and the tests of each file, in another order."""

import os
import pathlib
import random
import sys

import pytest


class Tap:
    def __init__(self, stream):
        self.stream = stream
        self.count = 0
        self.has_files = False
        self.reports = []

    def say(self, text):
        print(text, file=self.stream, flush=True)

    @pytest.hookimpl(tryfirst=True)  # pytest brings tests together then that have a parameter of their file in common
    def pytest_collection_modifyitems(self, items):
        if "BTD_ORDER" in os.environ:
            dice = random.Random(os.environ["BTD_ORDER"])
            places = {path: dice.random() for path in sorted({item.path for item in items})}
            dice.shuffle(items)
            items.sort(key=lambda item: places[item.path])

    def pytest_collection_finish(self, session):
        self.has_files = len({item.path for item in session.items}) > 1
        self.say(f"1..{len(session.items)}" if session.items else "1..0 # SKIP there is no test")

    def pytest_runtest_logreport(self, report):
        """Prints one line for each test after its last fixture, because a fixture can fail, too."""
        self.reports.append(report)
        if report.when != "teardown":
            return
        self.count += 1
        file, name = report.nodeid.split("::", 1)
        name = (pathlib.Path(file).stem + ": " if self.has_files else "") + name.replace("#", " ")
        ok = "not ok" if any(each.failed for each in self.reports) else "ok"
        reasons = [self.reason(each) for each in self.reports if each.skipped]
        self.say(f"{ok} {self.count} {name}" + (f" # SKIP {reasons[0]}" if reasons else ""))
        self.reports = []

    @staticmethod
    def reason(report):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        return " ".join(reason.removeprefix("Skipped: ").split())


def main():
    tap = Tap(os.fdopen(os.dup(1), "w"))
    os.dup2(2, 1)
    options = ["-p", "no:cacheprovider", "--capture=fd", "-q", "--tb=short", "--color=no"]
    status = pytest.main(options + sys.argv[1:], plugins=[tap])
    return 0 if status == pytest.ExitCode.NO_TESTS_COLLECTED else int(status)


if __name__ == "__main__":
    sys.exit(main())
