# SPDX-License-Identifier: LGPL-2.1-or-later
"""The examples as they are installed, on a machine with a systemd: copied to /etc/btd/trees, as their README says."""

import os
import re

import pytest


@pytest.fixture
def examples(machine, installed):
    """The installed examples by name, known to the daemon."""
    names = []
    for directory, _, files in os.walk(installed):
        for file in files:
            if directory.endswith("/doc/btd/examples") and file.endswith(".json"):
                with open(os.path.join(directory, file), encoding="utf-8") as text:
                    machine.tree(file.removesuffix(".json"), text.read())
                names.append(file.removesuffix(".json"))
    assert names
    machine.check("btctl", "reload")
    return names


# The others go on until somebody does what their README says.
SHORT = {"degraded-start", "demo", "device-startup", "disk-report", "machine-report", "provisioning"}


def test_short_examples_succeed(machine, examples):
    assert SHORT < set(examples)
    paths = {name: machine.client.start(name)[1] for name in SHORT}
    assert {name: machine.client.finish(path) for name, path in paths.items()} == {name: ("success", "") for name in SHORT}


def test_machine_report_asks_the_services(machine, examples):
    _, path = machine.client.start("machine-report")
    assert machine.client.finish(path)[0] == "success"
    nodes = machine.client.nodes(path)
    asked = {name: nodes[name]["status"] for name in ("AskHostname1", "AskTimedate1", "BasicSystemUp", "DiskUse")}
    assert set(asked.values()) == {"success"}, asked
    assert nodes["NotUp"]["status"] == "idle"
    assert re.search(r"time zone \S+, root file system \d+% full", machine.log())
