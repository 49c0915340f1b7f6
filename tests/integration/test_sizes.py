# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that what is large on its way into btd is small in what people and programs are told: a run that fails over a
path, a name, an argument or an output of many megabytes says so in some KiB (HACKING.md has the limits)."""

import json

import pytest

BIG = "{big}"
LEAVES = {
    "path": {"type": "PathExists", "path": "/{big}"},
    "argument": {"type": "Spawn", "as": "child", "argv": ["/bin/false", BIG]},
    "program": {"type": "Spawn", "as": "child", "argv": ["/{big}"]},
    "environment": {"type": "Spawn", "as": "child", "argv": ["/bin/false"], "env": {"BIG": BIG}},
    "directory": {"type": "Spawn", "as": "child", "argv": ["/bin/false"], "cwd": "/{big}"},
    "output": {"type": "Spawn", "as": "child", "argv": ["/bin/sh", "-c", "head -c 20000000 /dev/zero | tr '\\0' x >&2; exit 1"]},
    "destination": {"type": "DBusCall", "bus": "session", "destination": BIG, "path": "/", "interface": "a.b", "member": "C"},
    "object": {"type": "DBusCall", "bus": "session", "destination": "org.freedesktop.DBus", "path": "/{big}",
               "interface": "a.b", "member": "C"},
    "member": {"type": "DBusCall", "bus": "session", "destination": "org.freedesktop.DBus", "path": "/", "interface": "a.b",
               "member": BIG},
    "value": {"type": "DBusCall", "bus": "session", "destination": "org.freedesktop.DBus", "path": "/org/freedesktop/DBus",
              "interface": "org.freedesktop.DBus", "member": "GetNameOwner", "signature": "s", "args": [BIG]},
    "unit": {"type": "StartUnit", "bus": "session", "unit": BIG},
    "script": {"type": "Script", "code": "error(big)"},
    "condition": {"type": "Condition", "test": "big == 'small'"},
    "guard": {"type": "Sleep", "duration": "1s", "fail_if": "big ~= 'small'"},
    "duration": {"type": "Sleep", "duration": BIG},
}


@pytest.mark.parametrize("way", LEAVES)
def test_a_large_input_has_a_short_cause(btd, way, tmp_path):
    btd.tree("boot", LEAVES[way], blackboard={"big": "x" * 7_000_000})
    btd.start(f"--runtime={tmp_path}/run", f"--state={tmp_path}/state")
    btd.client.start("boot")
    assert btd.btctl("wait", "boot", "--quiet").returncode in (1, 4)
    [run] = btd.client.runs()
    assert 0 < len(run.cause) < 10_000
    chain = json.dumps(btd.client.get(run.path, "org.btd1.Run", "CauseChain"), default=str)
    assert len(chain) < 40_000
    assert len(btd.btctl("status", "boot", "--json").stdout) < 100_000
    assert way == "output" or len(btd.log()) < 40_000  # here, the process has the stderr of btd
