# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the examples: those of trees/, of README.md and of the manual pages about trees."""

import glob
import json
import os
import re
import subprocess

import pytest

import client
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
                          text=True, timeout=client.PATIENCE, check=False)


def run(btd, name, text, variables=None):
    """Runs it to its end: (status, cause, nodes)."""
    btd.tree(name, text)
    btd.start()
    _, path = btd.client.start(name, variables=variables)
    status, cause = btd.client.finish(path)
    return status, cause, btd.client.nodes(path)


def first_tree():
    return re.search(r"<!-- first tree -->\n```json\n(.*?)```", read("README.md"), re.S)[1]


def chapter_trees():
    """Those of the chapters of README.md, by name."""
    return dict(re.findall(r"<!-- tree: (\w+) -->\n```json\n(.*?)```", read("README.md"), re.S))


def tree_around(block):
    """A whole file of the pages as it is, or a file around the root, or the node, that a block shows."""
    if '"root"' in block:
        return block if block.startswith("{") else '{ "btd": 1, ' + block + "}"
    node = re.sub(r"\{ \.\.\. \}|\.\.\.", '{ "type": "Spawn", "argv": ["true"] }', block)
    variables = '{ "battery": 80, "calibrated": false, "cameras": [], "mode": "eco" }'
    return '{ "btd": 1, "blackboard": ' + variables + ', "root": ' + node + "}"


def manual_trees():
    """The trees and nodes that the manual pages show."""
    trees = {}
    for room, page in [("definition", "btd-tree.5"), ("definition", "btd-secrets.7"), ("script", "btd-expressions.7"), ("engine", "btd-semantics.7")]:
        blocks = re.findall(r"\.Bd -literal[^\n]*\n(.*?)\.Ed", read("daemon", room, page), re.S)
        texts = [tree_around(block) for block in blocks if '"root"' in block or block.startswith('{ "type"')]
        trees.update({f"{page}-{number}": text for number, text in enumerate(texts)})
    return trees


# The Lua files that the pages show: their first line is their name.
LUA_FILES = dict(re.findall(r"\.Bd -literal[^\n]*\n-- (\w+\.lua)\n(.*?)\.Ed", read("daemon", "script", "btd-expressions.7"), re.S))


@pytest.mark.parametrize("path", EXAMPLES, ids=os.path.basename)
def test_example_is_valid(path):
    result = validate(path)
    assert result.returncode == 0, result.stdout
    assert "error" not in result.stdout and "warning" not in result.stdout


DOCUMENTED = {"README.md": first_tree(), **manual_trees(), **chapter_trees()}


@pytest.mark.parametrize("text", DOCUMENTED.values(), ids=DOCUMENTED)
def test_documented_tree_is_valid(text, tmp_path):
    path = tmp_path / "documented.json"
    path.write_text(text, encoding="utf-8")
    for name, code in LUA_FILES.items():
        (tmp_path / name).write_text(code, encoding="utf-8")
    result = validate(path)
    assert result.returncode == 0, result.stdout
    assert "error" not in result.stdout and "warning" not in result.stdout


def test_first_tree(btd):
    status, _, nodes = run(btd, "hello", first_tree())
    assert status == "success"
    assert nodes["Visit"]["status"] == "failure"
    assert nodes["Wave"]["status"] == "success"
    assert f"hello from {os.uname().nodename}" in btd.log()


def test_tree_that_computes(btd):
    status, _, nodes = run(btd, "room", chapter_trees()["room"], {"least": 0})
    assert status == "success"
    assert nodes["Log"]["status"] == "skipped"
    _, path = btd.client.start("room", variables={"least": 101})
    status, cause = btd.client.finish(path)
    assert status == "failure"
    assert re.fullmatch(r"Room/Enough: free >= least is false \(free is \d+, least is 101\)", cause)
    assert "/ is nearly full" in btd.log()


def test_readme_names_verbs_that_there_are():
    verbs = set(re.findall(r"^(?:build/client/)?btctl (?:--user )?(\w+)", read("README.md"), re.M))
    assert {"start", "set", "force"} <= verbs
    text = subprocess.run([daemon.BTCTL, "--help"], stdout=subprocess.PIPE, text=True, timeout=client.PATIENCE,
                          check=True).stdout
    assert not [verb for verb in verbs if not re.search(rf"^ +{verb} ", text, re.M)]


def test_device_startup_loads_in_parallel(btd):
    story = Story(btd, "device-startup")
    _, path = btd.client.start("device-startup")
    assert btd.client.finish(path)[0] == "success"
    loads = story.tell("LoadConfig", "LoadCalibration")
    assert sorted(loads[:2]) == [("LoadCalibration", "running"), ("LoadConfig", "running")]
    assert sorted(loads[2:]) == [("LoadCalibration", "success"), ("LoadConfig", "success")]
    nodes = btd.client.nodes(path)
    assert nodes["CheckError"]["status"] == "failure"
    assert nodes["NoError"]["status"] == nodes["StartPreview"]["status"] == "success"


def test_device_startup_stops_at_an_error(btd, tmp_path):
    error_file = tmp_path / "error"
    error_file.touch()
    status, cause, nodes = run(btd, "device-startup", example("device-startup"), {"error_file": f"{error_file}"})
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
    status, _, nodes = run(btd, "degraded-start", example("degraded-start"), {"network_source": f"{source}"})
    assert status == "success"
    assert nodes["ProcessAll"]["status"] == "success"
    assert nodes["ProcessPartial"]["status"] == "idle"
    assert "and 192.0.2.1" in btd.log()


def test_machine_report_where_no_service_answers(btd):
    status, _, _ = run(btd, "machine-report", example("machine-report"))
    assert status == "success"
    assert re.search(rf"{os.uname().nodename}, time zone \S+, root file system \d+% full", btd.log())


def test_demo(btd, tmp_path):
    status, _, nodes = run(btd, "demo", example("demo"), {"device": f"{tmp_path}/device"})
    assert status == "success"
    assert nodes["NoLongerThan"]["status"] == "failure"
    assert nodes["TestPicture"]["status"] == "success"
    assert not os.path.exists(tmp_path / "device")


class Story:
    """Runs examples, and keeps what their nodes did: (name, status), in order."""

    def __init__(self, btd, *names):
        self.btd = btd
        for name in names:
            btd.tree(name, example(name))
        btd.start()
        btd.client.manager("Subscribe")
        btd.client.subscribe("org.btd1.Run", "NodesChanged")

    def tell(self, *names):
        rows = [row for s in self.btd.client.signals if s.member == "NodesChanged" for row in s.args[0]]
        return [(row[3], row[4]) for row in rows if not names or row[3] in names]

    def wait(self, name, status):
        self.btd.client.wait_signal("NodesChanged", lambda s: (name, status) in self.tell())


def test_patrol_does_not_visit_a_again(btd, tmp_path):
    story = Story(btd, "patrol", "battery")
    _, path = btd.client.start("patrol", variables={"gate": f"{tmp_path}/gate"})
    assert btd.client.finish(path)[0] == "success"
    visits = story.tell("GoToA", "GoToB", "GoToC")
    assert visits[:4] == [("GoToA", "running"), ("GoToA", "success"), ("GoToB", "running"), ("GoToB", "failure")]
    assert set(visits[4:-4]) <= {("GoToB", "running"), ("GoToB", "failure")}
    assert visits[-4:] == [("GoToB", "running"), ("GoToB", "success"), ("GoToC", "running"), ("GoToC", "success")]
    assert not os.path.exists(tmp_path / "gate")


def test_patrol_stops_without_battery_and_goes_on_with_it(btd, tmp_path):
    story = Story(btd, "patrol", "battery")
    _, path = btd.client.start("patrol", variables={"gate": f"{tmp_path}/gate"})
    story.wait("GoToB", "running")
    btd.client.halt_tree("battery")
    story.wait("GoToB", "halted")
    story.wait("BatteryOk", "failure")
    assert btd.client.nodes(path)["GoToC"]["status"] == "idle"
    btd.client.start("battery")
    assert btd.client.finish(path)[0] == "success"
    assert story.tell("GoToA") == [("GoToA", "running"), ("GoToA", "success")]
    assert story.tell("GoToC") == [("GoToC", "running"), ("GoToC", "success")]


def process_of(btd, path, node):
    """Of a child that may not have been started yet."""
    while not (match := re.search(r"process (\d+)", btd.client.nodes(path)[node]["detail"])):
        pass
    return match[1]


def test_guarded_approach_stops_when_the_target_is_lost(btd):
    story = Story(btd, "guarded-approach", "target")
    btd.client.start("target", variables={"visible": "infinity"})
    _, path = btd.client.start("guarded-approach")
    story.wait("Approach", "running")
    process = process_of(btd, path, "Approach")
    btd.client.halt_tree("target")
    status, _ = btd.client.finish(path)
    nodes = btd.client.nodes(path)
    assert status == "success"
    assert nodes["Approach"]["status"] == "halted"
    assert nodes["WhileVisible"]["detail"] == "IsVisible: NRunning is 0, not 1"
    assert nodes["Standing"]["status"] == "success"
    assert not os.path.exists(f"/proc/{process}")


def test_guarded_approach_as_it_is(btd):
    status, _, nodes = run(btd, "guarded-approach", example("guarded-approach"))
    assert status == "success"
    assert nodes["ShowTarget"]["status"] == nodes["IsVisible"]["status"] == "failure"  # there is no such tree
    assert nodes["Approach"]["status"] == "idle"


def test_mode_switch_changes_over(btd):
    story = Story(btd, "mode-switch")
    _, path = btd.client.start("mode-switch")
    assert btd.client.finish(path)[0] == "success"
    modes = story.tell("FullPower", "SavePower", "Off")
    assert modes == [("FullPower", "running"), ("FullPower", "halting"), ("FullPower", "halted"),
                     ("SavePower", "running"), ("SavePower", "halting"), ("SavePower", "halted"), ("Off", "success")]


def test_service_is_repaired(btd, tmp_path):
    story = Story(btd, "service-recovery")
    _, path = btd.client.start("service-recovery", variables={"state": f"{tmp_path}/state"})
    assert btd.client.finish(path)[0] == "success"
    assert story.tell("Serve", "Repair") == [("Serve", "running"), ("Serve", "failure"), ("Repair", "running"),
                                            ("Repair", "success"), ("Serve", "running"), ("Serve", "success")]


def test_service_that_cannot_be_repaired(btd, tmp_path):
    story = Story(btd, "service-recovery")
    _, path = btd.client.start("service-recovery", variables={"state": "/proc/none"})
    status, cause = btd.client.finish(path)
    assert status == "failure"
    assert "Repair" in cause
    assert story.tell("Serve").count(("Serve", "failure")) == 1


@pytest.mark.parametrize("a,servers", [("/run/btd-example/a", "BCB"), ("/proc/version", "ABC")])
def test_failover(btd, a, servers):
    status, _, _ = run(btd, "failover", example("failover"), {"a": f"{a}"})
    assert status == "success"
    assert "".join(re.findall(r"answered by (\w)", btd.log())) == servers


def uploading(btd, tmp_path):
    """The uploader at work: (its story, the path of its run, the process, what to do to the network)."""
    network, disk = tmp_path / "network", tmp_path / "disk"
    network.touch()
    story = Story(btd, "uploader")
    _, path = btd.client.start("uploader", variables={"network": str(network), "disk": str(disk)})
    story.wait("Uploader", "running")
    assert disk.is_dir()
    process = process_of(btd, path, "Uploader")
    return story, path, network, f"/proc/{process}"


@pytest.mark.parametrize("end", ["battery", "network", "halt", "stop"])
def test_uploader_is_stopped_and_the_disk_unmounted_whatever_happens(btd, tmp_path, end):
    story, path, network, process = uploading(btd, tmp_path)
    if end == "battery":
        assert btd.btctl("set", "uploader", "battery=21").returncode == 0
        assert btd.btctl("set", "uploader", "battery=20").returncode == 0
    elif end == "network":
        network.unlink()
    elif end == "halt":
        btd.client.halt(path)
    else:
        btd.stop()
    if end != "stop":
        status, cause = btd.client.finish(path)
        assert (status, cause) == {
            "battery": ("failure", "Upload/WhilePossible/BatteryOk: battery > 20 is false (battery is 20)"),
            "network": ("failure", f"Upload/WhilePossible/NetworkUp: {network} does not exist"),
            "halt": ("halted", cause)}[end]
    story.wait("Unmount", "success")
    assert not os.path.exists(process)
    assert not os.path.exists(tmp_path / "disk")
    assert story.tell("Uploader", "Unmount") == [
        ("Uploader", "running"), ("Uploader", "halting"), ("Uploader", "halted"), ("Unmount", "running"),
        ("Unmount", "success")]


def test_sensors_are_provisioned(btd, tmp_path):
    """One at a time has the tool."""
    btd.tree("provisioning", example("provisioning"))
    btd.start(f"--runtime={tmp_path}/run", f"--state={tmp_path}/state")
    _, path = btd.client.start("provisioning", variables={"directory": f"{tmp_path}/sensors"})
    assert btd.client.finish(path)[0] == "success"
    versions = json.loads(re.search(r"set up: (.*)", btd.log())[1])
    assert versions == dict.fromkeys(["front", "left", "right", "rear"], "1.7")
    assert not os.path.exists(tmp_path / "sensors")
    events = map(json.loads, btd.btctl("show", "provisioning", "--json").stdout.splitlines())
    writes = [event["event"] for event in events if event.get("path", "").endswith("/WriteFirmware")]
    assert writes.count("waiting") == 3
    assert [what for what in writes if what in ("running", "success")] == ["running", "success"] * 4


def test_one_sensor_may_fail(btd, tmp_path):
    (tmp_path / "sensors").mkdir()
    (tmp_path / "sensors" / "left").touch()  # so it cannot become a directory
    status, _, nodes = run(btd, "provisioning", example("provisioning"), {"directory": f"{tmp_path}/sensors"})
    assert status == "success"
    assert sorted(json.loads(re.search(r"set up: (.*)", btd.log())[1])) == ["front", "rear", "right"]
    assert nodes["Sensors"]["status"] == "success"


def test_persistent_comes_up_at_the_third_attempt(btd, tmp_path):
    btd.tree("persistent", example("persistent"))
    btd.start()
    btd.client.subscribe("org.btd1.Manager", "RunFinished")
    btd.client.start("persistent", variables={"tally": f"{tmp_path}/tally"})
    btd.client.wait_signal("RunFinished", lambda s: s.args[2] == "success")
    results = [(s.args[0], s.args[2]) for s in btd.client.signals if s.member == "RunFinished"]
    assert results == [("persistent.1", "failure"), ("persistent.2", "failure"), ("persistent.3", "success")]
    assert not os.path.exists(tmp_path / "tally")


@pytest.mark.parametrize("place", ["/tmp", "/dev"])
def test_disks_are_reported(btd, place):
    btd.tree("disk-parts", example("disk-parts"))
    status, _, nodes = run(btd, "disk-report", example("disk-report"), {"data": f"{place}"})
    assert status == "success"
    root, data = re.search(rf"(\d+)% of / and (\d+)% of {place} are free", btd.log()).groups()
    assert nodes["Warn"]["status"] == ("skipped" if min(int(root), int(data)) > 10 else "success")
