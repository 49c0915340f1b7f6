# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests OwnConnection with a service that knows its clients by their connections."""

import signal

import pytest

import client
from discovery import Discovery

ADAPTER = {"type": "DBusCall", "destination": "org.bluez", "path": "/org/bluez/hci0", "interface": "org.bluez.Adapter1"}
FILTER = {**ADAPTER, "name": "Filter", "member": "SetDiscoveryFilter", "signature": "a{sv}", "args": [{}]}
START = {**ADAPTER, "name": "Start", "member": "StartDiscovery"}
WAIT = {"type": "DBusSignal", "name": "Found", "sender": "org.bluez", "member": "InterfacesAdded"}
OWN = {"type": "OwnConnection", "name": "Own", "child": {"type": "Sequence", "children": [FILTER, START, WAIT]}}
AGAIN = {"type": "RetryUntilSuccessful", "num_attempts": -1, "retry_on": ["connection-lost"], "child": OWN}

TOO_MANY = "btd has 64 connections of nodes already, the maximum; end another run with an OwnConnection first"


@pytest.fixture
def discovery(peer_client):
    return Discovery(peer_client)


@pytest.fixture
def directories(tmp_path):
    return f"--runtime={tmp_path}/runtime", f"--state={tmp_path}/state"


def test_each_run_is_a_client(btd, discovery, directories):
    btd.tree("search", OWN)
    btd.start(*directories)
    _, one = btd.client.start("search", "one")
    [first] = discovery.wait(1)
    assert first != btd.client.owner()
    assert btd.client.nodes(one)["Own"]["detail"] == f"its connection is {first}"
    _, two = btd.client.start("search", "two")
    assert discovery.wait(2)[0] == first
    assert discovery.filtered == discovery.discovering
    btd.client.halt(two)
    assert btd.client.finish(two)[0] == "halted"
    assert discovery.wait(1) == [first]
    discovery.appear("lamp")
    assert btd.client.finish(one)[0] == "success"
    discovery.wait(0)
    shown = btd.btctl("show", "search.1").stdout
    assert "Own: got a connection of its own to the default bus\n" in shown


@pytest.mark.both_buses("when a bus notices that a client was killed")
def test_begun_again_after_a_kill(btd, discovery, directories):
    btd.tree("search", AGAIN)
    btd.tree("once", OWN)
    btd.start(*directories)
    runs = [btd.client.start(tree)[1] for tree in ("search", "once")]
    before = discovery.wait(2)
    for path in runs:
        btd.client.wait_node(path, "Found", "running")
    btd.stop(signal.SIGKILL)
    discovery.wait(0)
    btd.start(*directories)
    [name] = discovery.wait(1)
    assert name not in before
    assert discovery.filtered == [name]
    assert btd.client.finish(runs[1]) == ("failure", "Own: btd was restarted, so the connection was closed")
    btd.client.wait_node(runs[0], "Found", "running")
    discovery.appear("lamp")
    assert btd.client.finish(runs[0])[0] == "success"
    discovery.wait(0)


def test_killed_in_a_call(btd, peer_client, directories):
    """The call is not made over the connection of others."""
    senders = []

    def keep(parameters, invocation):
        senders.append(invocation.get_sender())
        return True
    client.Peer(peer_client, "org.example.Slow", "/", "<node><interface name='org.example.Slow'><method name='Go'/>"
                "</interface></node>", {"Go": keep})
    call = {"type": "DBusCall", "destination": "org.example.Slow", "path": "/", "interface": "org.example.Slow",
            "member": "Go", "timeout": "infinity", "on_recover": "rerun"}
    btd.tree("slow", {**AGAIN, "child": {**OWN, "child": call}})
    btd.start(*directories)
    _, path = btd.client.start("slow")
    client.wait(lambda: len(senders) == 1, "the call")
    btd.client.wait_node(path, "DBusCall", "running")
    btd.client.call(path, "org.btd1.Run", "Pause")
    btd.stop(signal.SIGKILL)
    btd.start(*directories)
    btd.client.call(path, "org.btd1.Run", "Resume")
    client.wait(lambda: len(senders) == 2, "the second call")
    assert len({*senders, btd.client.owner()}) == 3
    btd.client.halt(path)


def test_bus_that_is_lost(btd_own_bus, tmp_path):
    btd = btd_own_bus
    btd.tree("search", {"type": "RetryUntilSuccessful", "num_attempts": -1, "backoff": {"initial": "50ms", "max": "50ms"},
                        "child": OWN})
    btd.start()
    other = client.Client(btd.bus.address)
    discovery = Discovery(other)
    _, path = btd.client.start("search")
    discovery.wait(1)
    other.close()
    btd.bus.stop()
    btd.bus.start()
    other = client.Client(btd.bus.address)
    discovery = Discovery(other)
    discovery.wait(1)
    other.close()


def test_too_many(btd, discovery):
    """There are some more nodes than connections."""
    btd.tree("many", {"type": "ForEach", "items": list(range(66)), "as": "i", "concurrency": 66, "max_failures": 9,
                      "child": OWN})
    btd.start()
    _, path = btd.client.start("many")
    discovery.wait(64)
    client.wait(lambda: [node["detail"] for name, node in btd.client.nodes(path).items() if name.startswith("Own")
                         and node["status"] == "failure"] == [TOO_MANY] * 2, "the other two")
    btd.client.halt(path)
    discovery.wait(0)


def test_signals_in_a_loop(btd, discovery):
    """Its listener ends with the connection, and begins again with the next one."""
    loop = {"type": "KeepRunningUntilFailure", "child": {**WAIT, "queue": 5}}
    body = {"type": "Sequence", "children": [START, {"type": "Timeout", "timeout": "infinity", "child": loop}]}
    halted = {"type": "ReactiveSequence", "children": [
        {"type": "Condition", "test": "go"}, {**OWN, "child": body}]}
    btd.tree("loop", {"type": "KeepRunningUntilFailure", "child": {"type": "ForceSuccess", "child": halted}},
             blackboard={"go": True})
    btd.start()
    _, path = btd.client.start("loop")
    for _ in range(3):
        discovery.wait(1)
        btd.client.wait_node(path, "Found", "running")
        discovery.appear("lamp")
        btd.client.set_variables(path, go=False)
        discovery.wait(0)
        btd.client.set_variables(path, go=True)
    discovery.wait(1)
    btd.client.halt(path)
    assert btd.client.finish(path)[0] == "halted"
