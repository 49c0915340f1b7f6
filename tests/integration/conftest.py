# SPDX-License-Identifier: LGPL-2.1-or-later
"""Integration tests: the built daemon on a private, real bus of each kind.

    def test_something(btd):
        btd.tree("boot", {"type": "AlwaysSuccess"})
        btd.start()
        assert btd.btctl("start", "boot", "--wait").returncode == 0
"""

import os
import socket

import pytest
from gi.repository import GLib

import buses
import client
from clock import Clock
from daemon import Daemon


def opened(kind, limits="", **options):
    """A bus, closed behind the tests that have it; where it cannot run, they are left out, but not in CI."""
    try:
        it = buses.Bus(kind, limits, **options)
    except buses.CannotRun as reason:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(str(reason))
    yield it
    it.close()


@pytest.fixture(scope="module")
def bus(request):
    """A bus for the tests of one file."""
    yield from opened(request.param, buses.SYSTEM_LIMITS)


@pytest.fixture
def own_bus(request):
    """A bus for one test, which may stop and start it."""
    yield from opened(request.param)


def _daemon(request, bus, directory):
    it = Daemon(bus, str(directory))
    yield it
    report = getattr(request.node, "report_call", None)
    if report is not None and report.failed:
        print("--- log of btd\n" + it.log())
    it.close()


@pytest.fixture
def btd(request, bus, tmp_path):
    """The daemon, not yet started: see support/daemon.py."""
    yield from _daemon(request, bus, tmp_path)


@pytest.fixture
def btd_own_bus(request, own_bus, tmp_path):
    """The same on a bus that the test may stop and start: btd_own_bus.bus."""
    yield from _daemon(request, own_bus, tmp_path)


@pytest.fixture
def btd_narrow_bus(request, tmp_path):
    """The same on a bus that ends the connection of a sender whose message has more than 8 MB: less than usual."""
    for bus in opened("dbus-daemon", '<limit name="max_message_size">8000000</limit>'):
        yield from _daemon(request, bus, tmp_path)


@pytest.fixture
def peer_client(bus):
    """A second connection, for a service of the test's own: client.Peer(peer_client, name, path, xml, methods)."""
    it = client.Client(bus.address)
    yield it
    it.close()


@pytest.fixture
def clock(tmp_path):
    """A clock that the test sets forward, for a daemon that is started with clock.env: see support/clock.py."""
    return Clock(tmp_path)


class Notifications:
    """The service manager's end of sd_notify."""

    def __init__(self, directory):
        self.path = str(directory / "notify")
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
        self.socket.bind(self.path)
        self.lines = []
        self.source = GLib.unix_fd_add_full(GLib.PRIORITY_DEFAULT, self.socket.fileno(), GLib.IOCondition.IN,
                                            self._on_message)

    def _on_message(self, fd, condition):
        self.lines += self.socket.recv(65536).decode().splitlines()
        return GLib.SOURCE_CONTINUE

    def wait(self, line):
        """Until it has come; what came before it is forgotten."""
        client.wait(lambda: line in self.lines, f"'{line}'; there is {self.lines}")
        del self.lines[:self.lines.index(line) + 1]

    def close(self):
        GLib.source_remove(self.source)
        self.socket.close()


@pytest.fixture
def notifications(tmp_path):
    it = Notifications(tmp_path)
    yield it
    it.close()
