#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Counts the single tests of the last `meson test` in a build directory: "N passed, M failed, K skipped"."""

import json
import pathlib
import re
import sys


def count_tap(text):
    """(passed, failed, skipped) by the lines of a TAP stream."""
    passed = failed = skipped = 0
    for line in text.splitlines():
        match = re.match(r"(not )?ok\b[^#]*(# *skip)?", line, re.I)
        if not match:
            continue
        if match.group(1):
            failed += 1
        elif match.group(2):
            skipped += 1
        else:
            passed += 1
    return passed, failed, skipped


def count(result):
    """The results of one program by its TAP; without TAP, or with a bad exit status, the program counts as one test."""
    passed, failed, skipped = count_tap(result.get("stdout", ""))
    if result["result"] in ("SKIP", "IGNORED") and passed + failed == 0:
        skipped = max(skipped, 1)
    elif result["result"] not in ("OK", "SKIP", "EXPECTEDFAIL") and failed == 0:
        failed = 1
    elif passed + failed + skipped == 0:
        passed = 1
    return passed, failed, skipped


def main():
    log = pathlib.Path(sys.argv[1]) / "meson-logs" / "testlog.json"
    results = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines() if line]
    passed, failed, skipped = (sum(column) for column in zip((0, 0, 0), *map(count, results)))
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
