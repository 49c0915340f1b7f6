# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that a run needs only a bounded number of system calls."""

import pytest

from calls import Calls
from client import variants, wait


@pytest.fixture
def calls(btd, tmp_path):
    calls = Calls(tmp_path)
    btd.tree("now", {"type": "AlwaysSuccess"})
    btd.start(f"--runtime={tmp_path}/run", f"--state={tmp_path}/state", env=calls.env)
    return calls


def run_in_rounds(client, rounds, width):
    """Starts so many runs together, and the next ones when these have finished."""
    for _ in range(rounds):
        client.signals.clear()
        for i in range(width):
            client.begin("StartTree", "(sa{sv}a{sv})", "now", {}, variants({"instance": str(i)}))
        wait(lambda: len(client.signals) == width, f"the end of {width} runs")
        assert all(signal.args[2] == "success" for signal in client.signals)


@pytest.mark.parametrize("rounds, width, limit", [(32, 1, 22), (1, 64, 19)])
def test_a_run(btd, calls, rounds, width, limit):
    """On a busy machine, what comes together otherwise can come one after the other: it is counted until it does not."""
    btd.client.subscribe("org.btd1.Manager", "RunFinished")
    run_in_rounds(btd.client, 1, width)
    counts = []
    for _ in range(64):
        before = calls.count()
        run_in_rounds(btd.client, rounds, width)
        counts.append([(after - first) / rounds / width for after, first in zip(calls.count(), before)])
        loop, others = map(min, zip(*counts))
        if loop <= limit and others <= 8:
            break
    assert 10 < loop <= limit, f"{loop} system calls of the main loop for each run"
    assert others <= 8, f"{others} system calls of other threads for each run, which move its record to the disk"
