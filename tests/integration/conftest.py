# SPDX-License-Identifier: LGPL-2.1-or-later
"""Integration tests: the built daemon on a private, real bus of each kind.

    def test_something(btd):
        btd.tree("boot", {"type": "AlwaysSuccess"})
        btd.start()
        assert btd.btctl("start", "boot", "--wait").returncode == 0
"""

import os

import pytest

import buses
import client
from daemon import Daemon


def opened(kind, limits=""):
    """A bus, closed behind the tests that have it; where it cannot run, they are left out, but not in CI."""
    try:
        it = buses.Bus(kind, limits)
    except buses.CannotRun as reason:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(str(reason))
    yield it
    it.close()


@pytest.fixture(scope="module", params=buses.KINDS)
def bus(request):
    """A bus for the tests of one file."""
    yield from opened(request.param, buses.SYSTEM_LIMITS)


@pytest.fixture(params=buses.KINDS)
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
def peer_client(bus):
    """A second connection, for a service of the test's own: client.Peer(peer_client, name, path, xml, methods)."""
    it = client.Client(bus.address)
    yield it
    it.close()
