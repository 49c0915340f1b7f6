# SPDX-License-Identifier: LGPL-2.1-or-later
"""The examples are true: those of trees/, the first tree of README.md, and the one of btd-tree(5)."""

import glob
import os
import re
import subprocess

import pytest

import daemon

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
EXAMPLES = sorted(glob.glob(os.path.join(SOURCE, "trees", "*.json")))
assert EXAMPLES


def read(*path):
    with open(os.path.join(SOURCE, *path), encoding="utf-8") as file:
        return file.read()


def example(name):
    return read("trees", name + ".json")


def validate(path):
    return subprocess.run([daemon.BTCTL, "validate", path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=60, check=False)


def run(btd, name, text, variables=None):
    """Runs it to its end: (status, cause, nodes)."""
    btd.tree(name, text)
    btd.start()
    _, path = btd.client.start(name, variables=variables)
    status, cause = btd.client.finish(path)
    return status, cause, btd.client.nodes(path)


def first_tree():
    return re.search(r"<!-- first tree -->\n```json\n(.*?)```", read("README.md"), re.S)[1]


def manual_tree():
    return re.search(r"\.Bd -literal[^\n]*\n(.*?)\.Ed", read("daemon", "definition", "btd-tree.5"), re.S)[1]


@pytest.mark.parametrize("path", EXAMPLES, ids=os.path.basename)
def test_example_is_valid(path):
    result = validate(path)
    assert result.returncode == 0, result.stdout
    assert "error" not in result.stdout and "warning" not in result.stdout


@pytest.mark.parametrize("text", [first_tree(), manual_tree()], ids=["README.md", "btd-tree.5"])
def test_documented_tree_is_valid(text, tmp_path):
    path = tmp_path / "documented.json"
    path.write_text(text, encoding="utf-8")
    result = validate(path)
    assert result.returncode == 0, result.stdout
    assert "error" not in result.stdout and "warning" not in result.stdout


def test_first_tree(btd):
    status, _, nodes = run(btd, "hello", first_tree())
    assert status == "success"
    assert nodes["Visit"]["status"] == "failure"
    assert nodes["Wave"]["status"] == "success"
    assert f"hello from {os.uname().nodename}" in btd.log()


def test_device_startup_loads_in_parallel(btd):
    status, _, nodes = run(btd, "device-startup", example("device-startup"))
    assert status == "success"
    parts = [nodes[name]["duration"] for name in ("LoadConfig", "LoadCalibration")]
    assert max(parts) <= nodes["ParallelLoad"]["duration"] < sum(parts)
    assert nodes["CheckError"]["status"] == "failure"
    assert nodes["NoError"]["status"] == nodes["StartPreview"]["status"] == "success"


def test_device_startup_stops_at_an_error(btd, tmp_path):
    error_file = tmp_path / "error"
    error_file.touch()
    status, cause, nodes = run(btd, "device-startup", example("device-startup"), {"error_file": f'"{error_file}"'})
    assert status == "failure"
    assert "NoError" in cause
    assert nodes["InitISP"]["status"] == nodes["StartPreview"]["status"] == "idle"


def test_degraded_start_without_network(btd):
    status, _, nodes = run(btd, "degraded-start", example("degraded-start"))
    assert status == "success"
    assert nodes["LoadNetwork"]["status"] == nodes["ProcessAll"]["status"] == "failure"
    assert nodes["NetworkIfAny"]["status"] == nodes["ProcessPartial"]["status"] == "success"


def test_degraded_start_with_all(btd, tmp_path):
    source = tmp_path / "network"
    source.write_text("192.0.2.1\n", encoding="ascii")
    status, _, nodes = run(btd, "degraded-start", example("degraded-start"), {"network_source": f'"{source}"'})
    assert status == "success"
    assert nodes["ProcessAll"]["status"] == "success"
    assert nodes["ProcessPartial"]["status"] == "idle"
    assert "and 192.0.2.1" in btd.log()


def test_machine_report_where_no_service_answers(btd):
    status, _, _ = run(btd, "machine-report", example("machine-report"))
    assert status == "success"
    assert re.search(rf"{os.uname().nodename}, time zone \S+, root file system \d+% full", btd.log())


def test_demo(btd, tmp_path):
    status, _, nodes = run(btd, "demo", example("demo"), {"device": f'"{tmp_path}/device"'})
    assert status == "success"
    assert nodes["NoLongerThan"]["status"] == "failure"
    assert nodes["TestPicture"]["status"] == "success"
    assert not os.path.exists(tmp_path / "device")
