# SPDX-License-Identifier: LGPL-2.1-or-later
"""btd is killed behind a line of a run's journal, comes back, and the run comes to what it would have come to: each process
and each job of a unit once, each call at most once; and nothing is left behind.

Some lines in between, chosen evenly; all of them, and kills during the recovery, with BTD_DURABILITY=full in the
environment.
"""

import os

import daemon
import mixed

FULL = os.environ.get("BTD_DURABILITY") == "full"
KILLS = 12  # where not all
N_PARTS = 3 if FULL else 1

DROP_IN = """
[Unit]
StartLimitIntervalSec=0
[Service]
RestartSec=10ms
Environment=LD_PRELOAD=/usr/libexec/kill-at.so
"""


def prepare(machine):
    mixed.prepare(machine)
    machine.write("/etc/systemd/system/btd.service.d/durability.conf", DROP_IN)
    preloaded = machine.path("/usr/libexec/kill-at.so")
    with open(os.path.join(daemon.BUILD, "tests", "system", "kill-at.so"), "rb") as file:
        preloaded.write_bytes(file.read())


def begin(trees, kills):
    """Starts the tree; the first life and those after it end behind so many lines ("7-": the seventh is not written any
    more). Answers the number of the run."""
    trees.machine.check("sh", "-c", f"echo {' '.join(map(str, kills))} >/run/btd/kill-at")
    return trees.start()


def sent(lines):
    """Right before it is noted that a job was asked for: it was."""
    return [[f"{number}-"] for number, line in enumerate(lines, 1) if '"sent":true' in line and '"heard":false' in line]


def test_nothing_is_lost_and_nothing_done_twice(machine):
    trees = mixed.Mixed(machine, N_PARTS)
    machine.write("/run/btd/outputs/lost.1-4-1.stdout", "of a run that nobody knows any more")
    run = begin(trees, [])
    lines = trees.finish(run)
    status, once, at_most_once = trees.outcome(lines)
    assert status == "success", lines[-1]
    assert len(at_most_once) == 3 * N_PARTS

    points = [[line] for line in range(1, len(lines) + 1)]
    if FULL:
        points += [[line, 2, 3] for line in range(1, len(lines) + 1)]
    else:
        points = points[::max(1, len(points) // KILLS)] + [[len(lines) // 2, 2, 3]]
    assert sent(lines)
    points += sent(lines)
    for kills in points:
        run = begin(trees, kills)
        lines = trees.finish(run)
        was = trees.outcome(lines)
        story = f"killed behind {kills}\n{trees.story(run)}"
        assert was[:2] == (status, once), story
        assert len(was[2]) == len(set(was[2])), story
    trees.wait_for(run, lambda: not trees.left_behind())
