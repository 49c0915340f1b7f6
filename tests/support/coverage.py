#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reports which code the tests of a build with -Db_coverage=true have run: those of the suites unit, memory, conformance,
simulation and fuzz, since what real buses and machines run is not counted. It prints a table, and fails if a room has
less than it once had."""

import itertools
import json
import pathlib
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
# Percent of the lines and of the branches of each room. Raise them with the tests; never lower them.
MINIMUM = {
    "engine": (99.4, 96.4),
    "script": (98.9, 93.4),
    "definition": (98.1, 94.4),
    "run": (97.8, 90.5),
    "record": (94.2, 81.8),
}


def measure(build):
    """Path from the top -> lines of code: number -> how often the line ran, and each of its branches."""
    counters = [path for path in (build / "daemon").rglob("*.gcda") if path.with_suffix(".o").exists()]
    gcov = subprocess.run(["gcov", "--json-format", "--stdout", "--branch-probabilities", *counters], check=True, cwd=build,
                          stdout=subprocess.PIPE, text=True)
    files = {}
    for report in map(json.loads, gcov.stdout.splitlines()):
        for file in report["files"]:
            path = (build / file["file"]).resolve()
            if path.is_relative_to(TOP / "daemon"):
                lines = files.setdefault(str(path.relative_to(TOP)), {})
                for line in file["lines"]:
                    add(lines, line)
    return files


def add(lines, line):
    """A header has lines in several objects, each time with the same branches."""
    count, branches = lines.get(line["line_number"], (0, []))
    more = [branch["count"] for branch in line["branches"] if not branch["throw"]]
    pairs = itertools.zip_longest(branches, more, fillvalue=0)
    lines[line["line_number"]] = (count + line["count"], [one + other for one, other in pairs])


def share(counts):
    return 100.0 * sum(1 for count in counts if count) / len(counts) if counts else 100.0


def row(name, lines):
    """Prints it; the shares of lines and branches."""
    counts = [count for count, _ in lines]
    branches = [count for _, branches in lines for count in branches]
    print(f"{name:44} {len(counts):6} {share(counts):6.1f}% {len(branches):9} {share(branches):6.1f}%")
    return share(counts), share(branches)


def print_table(files):
    """The rooms with too little coverage."""
    poor = []
    print(f"{'':44} {'lines':>6} {'run':>7} {'branches':>9} {'taken':>7}")
    for room, minimum in MINIMUM.items():
        rows = {path: list(lines.values()) for path, lines in sorted(files.items())
                if path.startswith(f"daemon/{room}/") and lines}
        for path, lines in rows.items():
            row(path, lines)
        shares = row(f"all of daemon/{room}", [line for lines in rows.values() for line in lines])
        poor += [f"daemon/{room}: {has:.2f}% of the {what} have run, less than {least:g}%"
                 for has, least, what in zip(shares, minimum, ("lines", "branches")) if has < least]
    return poor


def main():
    poor = print_table(measure(pathlib.Path(sys.argv[1]).resolve()))
    print("\n".join(poor), file=sys.stderr)
    return 1 if poor else 0


if __name__ == "__main__":
    sys.exit(main())
