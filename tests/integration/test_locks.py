# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests locks that runs share: which run waits for which, and the message about a deadlock."""

import pytest

from btctl_runs import UTF8
from client import look


def locked(name, lock, *children):
    return {"type": "Sequence", "name": name, "lock": lock, "children": list(children)}


def sleep(name, **keys):
    return {"type": "Sleep", "name": name, "duration": "1h", **keys}


@pytest.fixture
def crossed(btd):
    """'boot' holds disk and wants net; 'flash' holds net and wants disk. The last to wait is boot, when told to."""
    btd.tree("boot", locked("Boot", "disk", sleep("Gate", **{"while": "closed"}), sleep("Fetch", lock="net")),
             blackboard={"closed": True})
    btd.tree("flash", locked("Flash", "net", sleep("Write", lock="disk")))
    btd.start()
    btd.client.start("boot")
    btd.client.start("flash")
    return btd


def detail(btd, run, node):
    return btd.client.nodes(f"/org/btd1/run/{run.replace('.', '_2e')}")[node]["detail"]


def await_detail(btd, run, node):
    look(lambda: detail(btd, run, node), f"{node} of {run}")


def test_waiting(crossed):
    await_detail(crossed, "flash.1", "Write")
    assert detail(crossed, "flash.1", "Write") == "waits for the lock 'disk', which boot.1 (Boot) holds"
    assert "deadlock" not in crossed.log()


def test_deadlock(crossed):
    """It is told once, shown for both, and over when one of them is halted."""
    await_detail(crossed, "flash.1", "Write")
    assert crossed.btctl("set", "boot", "closed=false").returncode == 0
    await_detail(crossed, "boot.1", "Fetch")
    boot = ("waits for the lock 'net', which flash.1 (Flash) holds; a deadlock, because flash.1 (Write) waits for the lock "
            "'disk', which boot.1 (Boot) holds")
    flash = ("waits for the lock 'disk', which boot.1 (Boot) holds; a deadlock, because boot.1 (Fetch) waits for the lock "
             "'net', which flash.1 (Flash) holds")
    assert detail(crossed, "boot.1", "Fetch") == boot
    assert boot in crossed.btctl("status", "boot", env=UTF8).stdout
    assert flash in crossed.btctl("status", "flash", env=UTF8).stdout
    assert crossed.log().count("deadlock") == 1
    assert f"warning: boot.1/Fetch: {boot}\n" in crossed.log()

    assert crossed.btctl("halt", "flash", "--wait").returncode == 0
    assert "lock" not in detail(crossed, "boot.1", "Fetch")
