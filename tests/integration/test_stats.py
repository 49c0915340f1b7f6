# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests btctl stats: numbers about finished runs, from btd and without it."""

import json
import os
import re
import shutil

import pytest

from btctl_runs import LONG, btctl, without_times
from daemon import Daemon

# Fails on the first try of a run with "bad", sleeps for as long as is said, and has an unnamed twin.
TREE = {"type": "Sequence", "name": "Boot", "children": [
    {"type": "RetryUntilSuccessful", "name": "Again", "num_attempts": 2, "child":
        {"type": "Sequence", "name": "Try", "children": [
            {"type": "Script", "name": "Count", "code": "n = n + 1"},
            {"type": "Condition", "name": "Check", "test": "n >= bad"}]}},
    {"type": "Sleep", "name": "Wait", "duration": "{span}"},
    {"type": "AlwaysSuccess"}, {"type": "AlwaysSuccess"}]}
INPUTS = {"n": {"type": "int", "default": 0}, "bad": {"type": "int", "default": 0},
          "span": {"type": "string", "default": "1ms"}}


@pytest.fixture(scope="module", name="past")
def fixture_past(bus, tmp_path_factory):
    """The directory of a btd with 36 runs of a tree: three fail at last, six once; the last twelve take longer, side by
    side. And one run is halted. How long the longer ones have waited at least, in microseconds."""
    directory = tmp_path_factory.mktemp("past")
    btd = Daemon(bus, str(directory))
    btd.tree("boot", TREE, inputs=INPUTS)
    btd.tree("long", LONG)
    btd.start(f"--runtime={directory}/run", f"--state={directory}/state")
    waits = []
    for i in range(24):
        variables = {"span": "1ms", "bad": {5: 3, 6: 3, 7: 3}.get(i, 2 if i < 5 else 0)}
        path = btd.client.start("boot", "", variables)[1]
        btd.client.finish(path)
        waits.append(btd.client.nodes(path)["Wait"]["duration"])
    longer = max(100000, 4 * max(waits))  # whatever a busy machine has made of the others
    for path in [btd.client.start("boot", str(i), {"span": f"{longer}us"})[1] for i in range(12)]:
        btd.client.finish(path)
    path = btd.client.start("long")[1]
    btd.client.halt(path)
    btd.client.finish(path)
    btd.close()  # all of it is in the history then
    return directory, longer


@pytest.fixture(name="ran")
def fixture_ran(btd, past, tmp_path):
    """btd with a copy of it."""
    directory, btd.longer = past
    for name in "trees", "state":
        shutil.copytree(directory / name, tmp_path / name, dirs_exist_ok=True)
    btd.options = f"--runtime={tmp_path}/run", f"--state={tmp_path}/state"
    btd.start(*btd.options)
    return btd


def stats(btd, *arguments):
    result = btd.btctl("stats", *arguments, "--json")
    assert (result.returncode, result.stderr) == (0, "")
    return json.loads(result.stdout)


def nodes(report):
    return {node["path"]: node for node in report["nodes"]}


def test_trees(ran):
    [boot, long] = stats(ran)
    assert [boot[key] for key in ("tree", "runs", "success", "failure", "halted", "damaged")] == [
        "boot", 36, 33, 3, 0, 0]
    assert 0 < boot["median_usec"] <= boot["percentile95_usec"] <= boot["longest_usec"]
    assert (long["runs"], long["halted"], "median_usec" in long) == (1, 1, False)
    lines = ran.btctl("stats").stdout.splitlines()
    assert lines[0].split() == ["RUNS", "SUCCESS", "FAILED", "HALTED", "MEDIAN", "95%", "LONGEST", "TREE"]
    assert lines[1].split()[:4] == ["36", "33", "3", "0"] and lines[1].endswith("  boot")
    assert lines[2].split() == ["1", "0", "0", "1", "-", "-", "-", "long"]


def test_nodes(ran):
    report = stats(ran, "boot")
    by_path = nodes(report)
    assert list(by_path) == ["Boot", "Boot/Again", "Boot/Again/Try", "Boot/Again/Try/Count", "Boot/Again/Try/Check",
                             "Boot/Wait", "Boot/AlwaysSuccess", "Boot/AlwaysSuccess (2)"]
    check = by_path["Boot/Again/Try/Check"]
    assert [check[key] for key in ("runs", "executions", "success", "failure", "retries")] == [36, 44, 33, 11, 8]
    assert check["causes"] == [{"text": "n >= bad is false", "count": 11}] or check["causes"][0]["count"] <= 11
    assert sum(cause["count"] for cause in check["causes"]) == 11
    assert by_path["Boot/Again"]["causes"] == by_path["Boot"]["causes"] == []  # these failures began below them
    assert by_path["Boot/Again"]["failure"] == 3 and by_path["Boot/Wait"]["runs"] == 33
    wait = by_path["Boot/Wait"]
    assert wait["last_third_median_usec"] >= ran.longer > wait["first_third_median_usec"] >= 1000
    assert report["versions"] == 1 and report["damaged"] == 0 and report["damaged_records"] == []
    typical = report["typical_run"]
    assert re.fullmatch(r"boot\.\d+", typical["run"]) and typical["status"] == "success"
    assert typical["critical_path"][-1]["path"] == "Boot/Wait" and typical["critical_path"][-1]["executions"] == 1

    text = without_times(ran.btctl("stats", "boot").stdout)
    assert re.match(r"boot: 36 runs, from \S+ \S+ to \S+ \S+\n33 success, 3 failure; median \S+, 95% \S+, longest \S+\n"
                    r"\n   RAN  FAILED  RETRIES     MEDIAN        95%    LONGEST  NODE\n    36       3        0 ", text)
    assert re.search(r"^    44      11        8 .*  {6}Check$", text, re.M)
    assert "\nFails most\n  Boot/Again/Try/Check: 11 of 44 times\n" in text
    assert re.search(r"\n\nHas become slower \(medians of the first and of the last third\)\n"
                     r"(  Boot: .*\n)?  Boot/Wait: [0-9.]+m?s, then [0-9.]+m?s\n", text)
    assert re.search(r"\n\nCritical path of boot\.\d+, the run of median duration \(success after T\)\n"
                     r"( +[0-9.]+[um]?s +\d+%  Boot/\S+\n)* +[0-9.]+m?s +\d+%  Boot/Wait\n", text)
    assert all(len(line) <= 80 for line in ran.btctl("stats", "boot", env={"COLUMNS": "80"}).stdout.splitlines())


def test_some_runs(ran):
    assert ran.btctl("stats", "boot", "-n0") == ran.btctl("history", "-n0") == (0, "", "")
    assert stats(ran, "boot", "-n", "12")["runs"] == stats(ran, "boot", "--lines=12")["success"] == 12
    assert stats(ran, "boot", "--since=1h")["runs"] == 36
    assert all(stats(ran, "boot", f"--since={time}")["runs"] == 36 for time in ("2026-01-02T03:04", "@1767323045"))
    assert ran.btctl("stats", "boot", "--since=now").stdout == "no run of 'boot' has finished in this time\n"
    assert stats(ran, "boot", "--since=2026-01-02 03:04:05")["runs"] == stats(ran, "boot", "--since=2026-01-02")["runs"]
    assert stats(ran, "boot@eth0")["runs"] == 0
    assert ran.btctl("stats", "boot", "--since=1us").stdout == "no run of 'boot' has finished in this time\n"
    assert ran.btctl("stats", "boot@x").stdout == "no run of 'boot@x' has finished in this time\n"
    assert ran.btctl("stats", "--since=1us").stdout == "no run has finished in this time\n"


def test_a_tree_that_has_changed(ran):
    ran.tree("boot", {**TREE, "children": [{"type": "AlwaysSuccess", "name": "First"}, *TREE["children"][1:]]},
             inputs=INPUTS)
    assert ran.btctl("reload").returncode == 0
    ran.client.finish(ran.client.start("boot")[1])
    report = stats(ran, "boot")
    assert (report["runs"], report["versions"]) == (37, 2)
    by_path = nodes(report)
    assert (by_path["Boot/First"]["runs"], by_path["Boot/Wait"]["runs"], by_path["Boot/Again"]["runs"]) == (1, 34, 36)
    assert "\n2 versions of the tree; nodes are matched by their paths\n" in ran.btctl("stats", "boot").stdout


def test_elements(btd, tmp_path):
    """The copies of a ForEach are counted together, and the next element is no retry."""
    btd.tree("all", {"type": "ForEach", "name": "All", "items": [1, 2, 3, 4, 5], "as": "e", "concurrency": 2,
                     "max_failures": 5, "child": {"type": "Sequence", "name": "One", "children": [
                         {"type": "Sleep", "name": "Nap", "duration": "1ms"},
                         {"type": "RetryUntilSuccessful", "num_attempts": 2, "child": {
                             "type": "Condition", "name": "Odd", "test": "e % 2 == 1"}}]}})
    btd.start(f"--runtime={tmp_path}/run", f"--state={tmp_path}/state")
    for _ in range(3):
        btd.client.finish(btd.client.start("all")[1])
    by_path = nodes(stats(btd, "all"))
    assert list(by_path) == ["All", "All/One", "All/One/Nap", "All/One/RetryUntilSuccessful",
                             "All/One/RetryUntilSuccessful/Odd"]
    one = by_path["All/One"]
    assert [one[key] for key in ("runs", "executions", "success", "failure", "retries")] == [3, 15, 9, 6, 0]
    odd = by_path["All/One/RetryUntilSuccessful/Odd"]
    assert [odd[key] for key in ("runs", "executions", "success", "failure", "retries")] == [3, 21, 9, 12, 6]


def test_forced_and_waiting(btd, tmp_path):
    """A node that was halted for its forced outcome was executed once; one that only waited for its lock, not at all."""
    btd.tree("held", {"type": "Sleep", "name": "Nap", "duration": "1h", "lock": "bed"})
    btd.start(f"--runtime={tmp_path}/run", f"--state={tmp_path}/state")
    first, second, third = [btd.client.start("held", name)[1] for name in "abc"]
    assert btd.btctl("halt", "held.2").returncode == 0
    for path, outcome in (first, "success"), (third, "failure"):
        btd.client.call(path, "org.btd1.Run", "Force", "us", 0, outcome)
        btd.client.finish(path)
    nap = nodes(stats(btd, "held"))["Nap"]
    assert [nap[key] for key in ("runs", "executions", "success", "failure", "halted", "retries")] == [2, 2, 1, 1, 0, 0]
    assert "median_usec" not in nap


def test_without_btd(ran, tmp_path):
    before = stats(ran, "boot")
    ran.stop()
    history = f"{tmp_path}/state/history"
    assert json.loads(btctl("stats", "boot", "--json", f"--directory={history}").stdout) == before
    assert [tree["runs"] for tree in json.loads(btctl("stats", "--json", f"-D{tmp_path}/state").stdout)] == [36, 1]

    with open(f"{history}/boot.3.journal", "r+b") as file:
        file.seek(os.path.getsize(file.name) - 60)
        file.write(b"x")
    for number in 4, 5, 6:
        with open(f"{history}/boot.{number}.journal", "wb") as file:
            file.write(b"what?\n")
    result = btctl("stats", "boot", "--json", f"-D{history}")
    assert result.returncode == 0 and json.loads(result.stdout)["runs"] == 32
    lines = result.stderr.splitlines()
    assert lines[0] == "btctl: 4 run records cannot be read and are left out:"
    assert all(re.match(r"  boot\.[3456]: .", line) for line in lines[1:4]) and lines[4:] == ["  and 1 more"]
    assert json.loads(result.stdout)["damaged"] == len(json.loads(result.stdout)["damaged_records"]) == 4
    ran.start(*ran.options)


def test_bad_usage(btd):
    btd.start()
    hint = "Try 'btctl --help'.\n"
    assert btd.btctl("stats", "boot", "--since=soon") == (
        2, "", "btctl: --since: 'soon' is neither a time span such as '2h', nor a date such as '2026-11-23 14:00'\n" + hint)
    for number in "-1", "x", "1.5":
        assert btd.btctl("stats", f"--lines={number}") == (
            2, "", f"btctl: --lines: '{number}' is neither a number nor 'all'\n" + hint)
    assert btd.btctl("stats", "nothing") == (1, "", "btctl: no tree 'nothing'; 'btctl list' shows the trees\n")
    assert btd.btctl("stats").stdout == "no run has finished in this time\n"
    assert btd.btctl("stats", "--json").stdout == "[]\n" or json.loads(btd.btctl("stats", "--json").stdout) == []
