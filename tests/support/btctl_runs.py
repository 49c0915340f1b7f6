# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs btctl for the tests, on the bus of a btd or on another bus, in the foreground or in the background."""

import os
import re
import subprocess

import client
import daemon

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
UTF8 = {"LC_ALL": "C.UTF-8"}

GOOD = {"type": "Sequence", "name": "Boot", "children": [
    {"type": "Log", "name": "Greet", "message": "hello"},
    {"type": "Spawn", "name": "Work", "argv": ["/bin/true"]}]}
BAD = {"type": "Sequence", "name": "Boot", "children": [
    {"type": "AlwaysSuccess"},
    {"type": "Inverter", "name": "Not", "child": {"type": "Spawn", "name": "Work", "argv": ["/bin/false"]}},
    {"type": "Spawn", "name": "LoadConfig", "argv": ["/bin/sh", "-c", "exit 3"]},
    {"type": "Spawn", "name": "StartPreview", "argv": ["/bin/true"]}]}
LONG = {"type": "Sleep", "name": "Long", "duration": "1h"}


def btctl(*arguments, env=None):
    """Runs btctl without a private bus."""
    return client.run([daemon.BTCTL, *arguments], {**daemon.SANITIZER_ENV, **(env or {})})


def begin(btd, *arguments, env=None):
    """Starts btctl in the background; stdout and stderr come through one pipe."""
    return subprocess.Popen([daemon.BTCTL, "--address=" + btd.bus.address, *arguments], stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            env={**os.environ, **daemon.SANITIZER_ENV, **UTF8, **(env or {})})


def wait_blocked(process, where):
    """Waits until the process waits for an event: no event tells that, but the kernel's function where it sleeps."""
    def is_there():
        assert process.poll() is None, process.communicate()[0]
        with open(f"/proc/{process.pid}/wchan", encoding="utf-8") as file:
            return where in file.read()
    client.wait(is_there, f"{process.args} in {where}")


def end(process):
    """Waits until it exits: its exit status, and the output that was not read yet."""
    output = process.communicate(timeout=client.PATIENCE)[0]
    daemon.check_report(output, "btctl")
    return process.returncode, output


def without_times(text):
    """Replaces time spans by T, so that drawings can be compared."""
    text = re.sub(r"Started: .*", "Started: T", text)
    return re.sub(r"\b(after|for|started) [0-9.]+(us|ms|s)\b", r"\1 T", text)
