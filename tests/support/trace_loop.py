#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Lists the system calls of the main loop of btd in all tests that ran with BTD_TRACE=DIRECTORY: every call that took
longer than 5 ms, and every file, directory and connection that was opened.

    trace_loop.py DIRECTORY

Only the thread of the loop is traced, from the first time that it waits. A traced call takes longer than others, and
when the machine is busy any call may; so what is slow only now and then, and cannot wait, says nothing about btd.
"""

import collections
import os
import re
import sys

DIRECTORY = os.environ.get("BTD_TRACE")
SLOW_MS = 5

LINE = re.compile(r"(\w+)\((.*)\)\s+= (-?\w+).* <([\d.]+)>$")
WAITS = {"poll", "ppoll", "restart_syscall"}
OPENS = {"open", "openat", "creat", "stat", "lstat", "newfstatat", "statx", "readlink", "readlinkat", "access", "faccessat",
         "faccessat2", "rename", "renameat", "unlink", "unlinkat", "rmdir", "mkdir", "mkdirat", "getdents64", "fsync",
         "fdatasync", "connect", "clone", "clone3", "inotify_add_watch", "link", "chmod", "truncate"}


def command():
    """The prefix of the command of a btd that is to be traced."""
    if not DIRECTORY:
        return []
    os.makedirs(DIRECTORY, exist_ok=True)
    return ["strace", "-D", "-y", "-T", "-s", "200", "-o", os.path.join(DIRECTORY, os.urandom(6).hex())]


def attach(pid):
    """The same for a running btd: a command that ends with it."""
    return [argument for argument in command() if argument != "-D"] + ["-p", str(pid)]


def plain(arguments):
    """Removes the parts that differ between tests."""
    match = re.search(r'"([^"]*)"', arguments) or re.search(r"<([^>]*)>", arguments)
    text = match.group(1) if match else arguments
    text = re.sub(r"/tmp/pytest-of-\w+/pytest-\d+/[^/]*", "TEST", text)
    text = re.sub(r"/tmp/(btd-\w+?)-\w+", r"/tmp/\1", text)
    text = re.sub(r"/[^/]*(\.(?:journal|runs|std\w+|json)\b)[^/]*$", r"/*\1", text)
    return re.sub(r"\d+", "N", text)[:100]


def loop_lines(path):
    """The calls after the first wait."""
    with open(path, encoding="utf-8", errors="replace") as file:
        begun = False
        for line in file:
            match = LINE.match(line)
            name = match and match.group(1)
            begun = begun or name in WAITS
            if begun and match and name not in WAITS:
                yield name, match.group(2), float(match.group(4)) * 1e3


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: trace_loop.py DIRECTORY")
    opened, slow, n_calls = collections.defaultdict(list), collections.defaultdict(list), 0
    files = [os.path.join(sys.argv[1], name) for name in os.listdir(sys.argv[1])]
    for path in files:
        for name, arguments, took in loop_lines(path):
            n_calls += 1
            if name in OPENS:
                opened[name, plain(arguments)].append(took)
            if took > SLOW_MS:
                slow[name, plain(arguments) if name in OPENS else ""].append(took)
    for title, calls in ("opened on the loop", opened), (f"longer than {SLOW_MS} ms", slow):
        print(f"{title}: {len(calls)}")
        for (name, what), times in sorted(calls.items()):
            print(f"  {len(times):6} x {name:18} longest {max(times):8.2f} ms  {what}")
    print(f"{n_calls} calls in {len(files)} daemons")


if __name__ == "__main__":
    main()
