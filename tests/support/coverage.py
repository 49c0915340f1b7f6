#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reports which code the tests of a build with -Db_coverage=true have run. It prints a table for the engine and the
definition, and fails if more than a twentieth of their lines was not run. It also fails if a message for people was not
made, in each of its variants, in the rooms that answer users."""

import itertools
import json
import pathlib
import re
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
MEASURED = ["engine", "definition"]
LINES_MIN = 95.0
# Where errors of tree files and of callers on the bus come from.
ANSWERING = ["basic", "script", "definition", "record", "run", "bus", "runtime", "service"]
# What is said of damaged run records is for the fuzzers, and what the sandbox forbids for the system tests.
ELSEWHERE = ["daemon/basic/bus-address.c", "daemon/record/entry.c", "daemon/record/record-header.c",
             "daemon/record/record-writer.c", "daemon/record/run-record.c", "daemon/run/replay.c"]
# Nor is what is only logged, or said of a mistake in the program itself.
NO_ANSWER = ("log_", "g_error")
UNREACHED = TOP / "tests" / "support" / "unreached-messages"

TOKEN = re.compile(r"""/\*.*?\*/ | //[^\n]* | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*' | \w+ | \s+ | .""", re.S | re.X)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.M)
MACRO_TEXT = re.compile(r'^#define (\w+)(?:\([^)]*\))?\s(?:\\\n)?\s*".* .*"', re.M)
# Several words; what has only one is a name, a key or a format.
WORDS = re.compile(r"[A-Za-z'].* |[ ].*[A-Za-z]")


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
    counts = [count for count, _ in lines]
    branches = [count for _, branches in lines for count in branches]
    print(f"{name:44} {len(counts):6} {share(counts):6.1f}% {len(branches):9} {share(branches):6.1f}%")
    return share(counts)


def print_table(files):
    """The rooms with too little coverage."""
    poor = []
    print(f"{'':44} {'lines':>6} {'run':>7} {'branches':>9} {'taken':>7}")
    for room in MEASURED:
        rows = {path: list(lines.values()) for path, lines in sorted(files.items())
                if path.startswith(f"daemon/{room}/") and lines}
        for path, lines in rows.items():
            row(path, lines)
        if row(f"all of daemon/{room}", [line for lines in rows.values() for line in lines]) < LINES_MIN:
            poor.append(f"daemon/{room}: less than {LINES_MIN:g}% of the lines have run")
    return poor


def statements(text):
    """Lists of (token, line), without comments and preprocessor lines."""
    text = DIRECTIVE.sub(lambda match: "\n" * match.group().count("\n"), text)
    line, depth, statement = 1, 0, []
    for token in TOKEN.findall(text):
        if not token.isspace() and not token.startswith(("/*", "//")):
            depth += (token in "([") - (token in ")]")
            if depth == 0 and token in ";{}":
                yield statement
                statement = []
            else:
                statement.append((token, line))
        line += token.count("\n")
    yield statement


def without_heads(statement):
    """The action, without its conditions."""
    while statement and statement[0][0] in ("if", "else", "for", "while", "switch", "case", "default"):
        head, depth, end = statement[0][0], 0, 0
        if head in ("case", "default"):
            end = next((i for i, (token, _) in enumerate(statement) if token == ":"), len(statement))
        elif head != "else":
            for end, (token, _) in enumerate(statement):
                depth += (token == "(") - (token == ")")
                if token == ")" and depth == 0:
                    break
        statement = statement[end + 1:]
    return statement


def messages(path):
    """(text, first line, last line) of each statement that makes a message."""
    text = (TOP / path).read_text(encoding="utf-8")
    macros = set(MACRO_TEXT.findall(text))
    for statement in map(without_heads, statements(text)):
        if not statement or statement[0][0].startswith(NO_ANSWER):
            continue
        words = [token for token, _ in statement if token in macros or token[0] == '"' and WORDS.search(token[1:-1])]
        if words:
            yield " ".join(words), statement[0][1], statement[-1][1]


def check_messages(files):
    """Messages that the tests have not produced in all variants, without those that are listed with a reason."""
    allowed = [line for line in UNREACHED.read_text(encoding="utf-8").splitlines() if line and line[0] != "#"]
    used, wrong, total = set(), [], 0
    paths = {str(path.relative_to(TOP)) for room in ANSWERING for path in (TOP / "daemon" / room).rglob("*.c")}
    wrong += [f"{path}: there is no such file" for path in ELSEWHERE if path not in paths]
    for path in sorted(paths - set(ELSEWHERE)):
        lines = files.get(path, {})
        for text, first, last in messages(path):
            code = {number: lines[number] for number in range(first, last + 1) if number in lines}
            total += bool(code)
            missed = [number for number, (count, branches) in code.items() if count == 0 or 0 in branches]
            if not missed:
                continue
            name = f"{path}: {text}"
            if name in allowed:
                used.add(name)
            else:
                wrong.append(f"{path}:{missed[0]}: no test has produced this, or not all of its variants: {text}")
    wrong += [f"{UNREACHED.name}: not needed any more: {name}" for name in allowed if name not in used]
    print(f"{total} messages, {len(used)} of them listed as out of reach")
    return wrong


def main():
    files = measure(pathlib.Path(sys.argv[1]).resolve())
    wrong = print_table(files) + check_messages(files)
    print("\n".join(wrong), file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
