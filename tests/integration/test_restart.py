# SPDX-License-Identifier: LGPL-2.1-or-later
"""Trees that are started again when a run of them has ended by itself, by btctl and on the bus."""

import json
import re

from btctl_runs import LONG, without_times

RUN = "org.btd1.Run"
FAIL = {"type": "AlwaysFailure", "name": "Fail"}
LATER = {"restart": "on-failure", "restart_backoff": {"initial": "1h", "max": "1h"}}


def start(btd, root, *arguments, **keys):
    btd.tree("boot", root, **keys)
    btd.start()
    btd.client.subscribe()
    assert btd.btctl("start", "boot", *arguments).returncode == 0


def await_run(btd, run):
    btd.client.wait_signal("RunFinished", lambda signal: signal.args[0] == run)


def test_until_the_limit(btd):
    start(btd, FAIL, "--instance=left", "--set", "who=1", inputs={"who": "int"}, restart="on-failure",
          restart_backoff={"initial": "1ms"}, restart_limit={"burst": 2, "interval": "1h"})
    await_run(btd, "boot.3")
    [row] = btd.client.manager("ListRuns")
    assert (row[0], row[3]) == ("boot.3", "left")
    assert row[8] == "not restarted: it was restarted 2 times within 1h, which is the limit"
    assert btd.client.run_property(row[1], "Restart") == row[8]
    assert btd.btctl("get", "boot", "who").stdout == "1\n"
    assert row[8] in btd.btctl("status", "boot").stdout
    assert json.loads(btd.btctl("list", "--json").stdout)[0]["runs"][0]["restart"] == row[8]


def test_halt_calls_it_off(btd):
    start(btd, FAIL, **LATER)
    await_run(btd, "boot.1")
    [row] = btd.client.manager("ListRuns")
    assert re.fullmatch(r"restarts in [0-9a-z. ]+ \(attempt 1 of 5\)", row[8])
    assert "(attempt 1 of 5)" in btd.btctl("status", "boot").stdout.splitlines()[0]

    btd.client.signals.clear()
    assert btd.btctl("halt", "boot").returncode == 0
    btd.client.wait_signal("PropertiesChanged", lambda signal: signal.args[0] == RUN and "Restart" in signal.args[2])
    assert btd.client.run_property(row[1], "Restart") == ""
    assert without_times(btd.btctl("status", "boot").stdout).splitlines()[0].endswith("failure after T")


def test_start_does_not_wait(btd):
    start(btd, FAIL, **LATER)
    await_run(btd, "boot.1")
    assert btd.btctl("start", "boot").returncode == 0
    await_run(btd, "boot.2")


def test_what_was_halted_stays(btd):
    start(btd, LONG, restart="always", restart_backoff={"initial": "1ms"})
    assert btd.btctl("halt", "boot", "--wait").returncode == 0
    [row] = btd.client.manager("ListRuns")
    assert (row[4], row[8]) == ("halted", "")
