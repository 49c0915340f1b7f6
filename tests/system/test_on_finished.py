# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests on_finished with a real unit, which asks btctl for the cause. What is started, and when:
tests/unit/runtime/test-followers.c."""

import json

UNIT = """[Service]
Type=oneshot
ExecStart=/bin/sh -c 'btctl status %i >>/run/causes'
"""
FAIL = {"type": "Spawn", "name": "Fail", "argv": ["/bin/sh", "-c", "echo no disk >&2; exit 3"]}


def test_a_unit(machine):
    machine.unit("notify@.service", UNIT)
    machine.load("boot", FAIL, on_finished=[{"result": "failure", "unit": "notify@{run}.service"},
                                            {"result": "success", "unit": "other.service"}])

    assert machine.btctl("start", "boot", "--wait").returncode == 1
    assert machine.btctl("wait", "on_finished@boot.1-1").returncode == 0

    assert "no disk" in machine.read("/run/causes")
    [row] = json.loads(machine.btctl("history", "on_finished@boot.1-1", "--json").stdout)
    assert row["status"] == "success"


def test_once_with_kills(machine):
    """The unit waits until btd was killed; then it ends."""
    machine.unit("slow@.service", "[Service]\nType=oneshot\n"
                 "ExecStart=/bin/sh -c 'echo %i >>/run/slow; while ! test -e /run/go; do sleep 0.1; done'\n")
    machine.load("late", FAIL, on_finished=[{"result": "failure", "unit": "slow@{run}.service"}])

    assert machine.btctl("start", "late", "--wait").returncode == 1
    machine.check("sh", "-c", "until grep -q late.1 /run/slow; do sleep 0.05; done; systemctl kill -s KILL btd.service")
    machine.check("sh", "-c", "until btctl list; do sleep 0.05; done; touch /run/go")
    assert machine.btctl("wait", "on_finished@late.1-1").returncode == 0

    assert machine.read("/run/slow") == "late.1\n"
