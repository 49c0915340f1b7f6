# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests callers that ask for much and never read the answers."""

import os
import subprocess

import pytest

import buses
import client
import daemon
from conftest import opened

MUTE = os.path.join(daemon.BUILD, "tests", "load", "load-mute")
NAME, PATH = "org.example.Peer", "/org/example/Peer"
XML = f'<node><interface name="{NAME}"><method name="Beat"/></interface></node>'

# The system's dbus-daemon keeps 127 MiB.
LIMITS = buses.SYSTEM_LIMITS + '<limit name="max_incoming_bytes">4000000</limit>'


@pytest.fixture(scope="module")
def bus():
    """That soon takes nothing more from btd."""
    yield from opened("dbus-daemon", LIMITS)


def peak_memory(btd):
    with open(f"/proc/{btd.process.pid}/status", encoding="utf-8") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:"))


def test_trees_go_on_and_others_are_answered_again(btd, peer_client, tmp_path, clock):
    peer = client.Peer(peer_client, NAME, PATH, XML, {"Beat": lambda parameters, invocation: None})
    btd.tree("long", {"type": "Sleep", "duration": "1h"}, blackboard={"text": "x" * 200000})
    btd.tree("beats", {"type": "KeepRunningUntilFailure", "child": {"type": "Sequence", "children": [
        {"type": "Sleep", "duration": "20ms"},
        {"type": "DBusCall", "destination": NAME, "path": PATH, "interface": NAME, "member": "Beat"}]}})
    btd.start(f"--runtime={tmp_path}/run", f"--state={tmp_path}/state", env=clock.env)
    run, _ = btd.client.start("long")
    btd.client.start("beats")
    before = peak_memory(btd)
    owner = btd.client.owner()

    with subprocess.Popen([MUTE, btd.bus.address, "1000", run], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as mute:
        assert mute.stdout.readline() == b"ready\n"
        n_beats = len(peer.calls)
        client.wait(lambda: len(peer.calls) > n_beats + 50, "the beats")
        clock.set_forward(11)
        btd.client.wait_owner(other_than=owner)
        assert {row.tree for row in btd.client.runs()} == {"long", "beats"}
        if not daemon.WRAPPER and os.environ.get("BTD_SANITIZE", "none") == "none":
            assert peak_memory(btd) < before + 32 * 1024
        mute.stdin.close()
    assert f"lost the connection to bus '{btd.bus.address}', trying again until it is there: Connection timed out" \
        in btd.log()
