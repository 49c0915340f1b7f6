# SPDX-License-Identifier: LGPL-2.1-or-later
"""Much of everything at once: every other caller is answered, nothing is lost, and nothing is kept afterwards. How long
others wait meanwhile is measured by tests/bench/loads.py."""

import os
import time

import pytest

import buses
import client
import load
from conftest import opened

QUESTIONS = 20
# A load may leave some bytes, such as a table that has grown; a leak leaves some each time.
KEPT_MAX, ROUNDS = 2048, 10
# What a bus may keep of btd for one that does not read.
UNREAD_MAX = 2 << 20


@pytest.fixture
def own_bus(request):
    """Other users get there, too."""
    yield from opened(request.param, buses.SYSTEM_LIMITS, for_all=True)


class Site(load.Site):
    """With what is kept there."""

    def __init__(self, btd, socket):
        super().__init__(btd.client, btd.bus.address, btd.trees)
        self.pid, self.socket = btd.process.pid, socket

    def files(self):
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def allocated(self):
        """When no more is freed of what was on its way to a client that has left: nothing tells when that is."""
        now, before = load.allocated(self.socket), None
        while before is None or now < before:
            time.sleep(0.05)
            before, now = now, load.allocated(self.socket)
        return now


@pytest.fixture
def site(btd_own_bus, tmp_path):
    socket = tmp_path / "allocated"
    # The history is full soon.
    btd_own_bus.start(f"--runtime={tmp_path}/run", f"--state={tmp_path}/state", "--limit=history=5",
                      env=load.allocated_env(socket))
    return Site(btd_own_bus, socket)


@pytest.fixture
def check(site):
    """check(work): work() again and again, until it has left nothing that was not there before."""
    def check_work(work):
        work()
        left = []
        while not left or left[-1] > KEPT_MAX:
            files, allocated = site.files(), site.allocated()
            work()
            load.until(lambda files=files: site.files() <= files, "the files to be closed")
            left.append(site.allocated() - allocated)
            assert len(left) < ROUNDS, f"bytes that were left: {left}"
    return check_work


def others_ask(site):
    """For what programs ask for; each question is answered."""
    other = client.Client(site.address)
    for i in range(QUESTIONS):
        other.get(client.MANAGER, load.MANAGER, "NRunning")
        other.manager("ListRuns" if i % 2 else "ListTrees")
    other.close()


def wait_ticks(site, paths, n):
    for path in paths:
        load.until(lambda path=path: site.client.run_property(path, "Ticks") >= n, f"{n} ticks of {path}")


def check_unread(site, pid):
    """The bus is not filled."""
    unread = [each.unread_bytes for each in load.connections(site.client, pid)]
    assert len(unread) == 1 and unread[0] <= UNREAD_MAX


def test_many_runs(site, check):
    def work():
        with load.many_runs(site, 100):
            others_ask(site)
    check(work)


@pytest.mark.both_buses("a dbus-daemon allows 128 calls without an answer")
def test_many_calls_that_wait(site, check):
    def work():
        with load.many_calls(site, 5000):
            others_ask(site)
    check(work)


@pytest.mark.both_buses("each keeps what is not read in its own way, within limits of its own")
def test_a_subscriber_that_never_reads(site, check):
    def work():
        with load.mute_subscriber(site, n=2, steps=1000) as (pid, paths):
            others_ask(site)
            wait_ticks(site, paths, 50)
            check_unread(site, pid)
    check(work)


@pytest.mark.both_buses("each keeps what is not read in its own way, within limits of its own")
def test_one_that_asks_for_much_and_reads_no_answer(site, check):
    def work():
        with load.mute_asker(site, 1000):
            others_ask(site)
    check(work)


def test_ten_thousand_signals_a_second(site, check):
    def work():
        with load.many_signals(site, 10000) as paths:
            others_ask(site)
            wait_ticks(site, paths, 300)
    check(work)


def test_starts_and_halts_without_end(site, check):
    def work():
        with load.churn(site, 64) as statuses:
            others_ask(site)
            client.wait(lambda: len(statuses) >= 100, "100 halts")
    check(work)


def test_reloads(site, check):
    def work():
        with load.reloads(site) as turn:
            for _ in range(5):
                turn()
                other = client.Client(site.address)
                assert len(other.trees()) == 102
                other.close()
    check(work)
