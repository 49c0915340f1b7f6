# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests subscribers that do not read the signals about changed nodes."""

import os
import signal
import subprocess

import pytest
from gi.repository import GLib

import daemon
from client import wait

TURNS, STEPS = 20, 1000

# More than one who reads nothing is sent.
MANY = {"type": "Sequence", "children": [
    {"type": "Repeat", "num_cycles": TURNS, "child": {"type": "Sequence", "children": [
        {"type": "Sleep", "duration": "1ms"}, *({"type": "AlwaysSuccess", "name": f"Step{n}"} for n in range(STEPS))]}},
    {"type": "Sleep", "name": "AtLast", "duration": "1ms"}]}


class Monitor:
    """btctl monitor, and what it has said."""

    def __init__(self, btd):
        self.process = subprocess.Popen([daemon.BTCTL, "--address=" + btd.bus.address, "monitor"],
                                        stdout=subprocess.PIPE)
        self.said = b""
        self.source = GLib.unix_fd_add_full(GLib.PRIORITY_DEFAULT, self.process.stdout.fileno(), GLib.IOCondition.IN,
                                            self._on_said)

    def _on_said(self, fd, condition):
        self.said += os.read(fd, 65536)
        return GLib.SOURCE_CONTINUE

    def close(self):
        GLib.source_remove(self.source)
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def monitor(btd):
    btd.start()
    it = Monitor(btd)
    yield it
    it.close()


@pytest.mark.both_buses("what it keeps for peers that do not read")
def test_one_that_reads_again_is_told_how_all_is(btd, monitor):
    """It hinders nobody. btctl cannot read what it has missed meanwhile, since there is no run record."""
    btd.tree("many", MANY)
    btd.tree("small", {"type": "Log", "name": "Heard", "message": "anything"})
    btd.client.reload()
    while b"Heard" not in monitor.said:  # it has to subscribe first
        assert monitor.process.poll() is None
        btd.client.finish(btd.client.start("small")[1])
    monitor.process.send_signal(signal.SIGSTOP)
    _, path = btd.client.start("many")
    assert btd.client.finish(path) == ("success", "")
    monitor.process.send_signal(signal.SIGCONT)
    wait(lambda: b"AtLast" in monitor.said, "what comes last")
    assert monitor.said.count(b"Step") < TURNS * STEPS
