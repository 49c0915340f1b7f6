# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that users see which trees wait to be started or restarted, and for what."""

import json
import os
import signal

from btctl_runs import GOOD, LONG, UTF8

TREE = "org.btd1.Tree"
LIMIT = "autostart waits: the limit 'runs' (1) is reached; halt a run first"
UNKNOWN = "autostart unknown until the file is correct"


def below_the_table(btd):
    """What btctl list prints below its table."""
    return btd.btctl("list", env=UTF8).stdout.partition("\n\n")[2]


def waiting(btd):
    """Tree -> why it waits, of those that wait; the same in all outputs."""
    listed = {tree.name: tree.waiting for tree in btd.client.trees() if tree.waiting}
    for arguments, trees in (("list",), lambda json: json), (("status",), lambda json: json["trees"]):
        rows = trees(json.loads(btd.btctl(*arguments, "--json").stdout))
        assert {row["name"]: row["waiting"] for row in rows if row["waiting"]} == listed
    lines = "".join(f"{name}: {why}\n" for name, why in sorted(listed.items()))
    assert below_the_table(btd) == lines
    assert "\n\n" + lines in btd.btctl("status", env=UTF8).stdout + "\n\n"
    return listed


def of_tree(btd, name):
    return btd.client.get(f"/org/btd1/tree/{name}", TREE, "Waiting")


def await_change(btd, name, why):
    btd.client.wait_signal("PropertiesChanged", lambda signal: signal.path == f"/org/btd1/tree/{name}" and
                           signal.args[1].get("Waiting") == why)


def test_an_autostart_at_the_limit(btd):
    btd.tree("boot", LONG, autostart=True)
    btd.tree("net", LONG, autostart=True)
    btd.start("--limit=runs=1")
    btd.client.subscribe()
    assert waiting(btd) == {"net": LIMIT} and of_tree(btd, "net") == LIMIT and of_tree(btd, "boot") == ""
    assert btd.btctl("status", "net", env=UTF8).stdout.startswith(f"✓ net: ok: {LIMIT}\n")
    assert json.loads(btd.btctl("status", "net", "--json").stdout)["waiting"] == LIMIT

    assert btd.btctl("halt", "boot").returncode == 0
    btd.client.wait_signal("RunNew", lambda signal: signal.args[0] == "net.1")
    await_change(btd, "net", "")
    assert waiting(btd) == {}


def test_an_autostart_beside_an_instance(btd, tmp_path):
    """Where btctl status shows the instance, it also shows what the tree waits for."""
    options = "--limit=runs=1", f"--runtime={tmp_path}/run"
    btd.tree("net", LONG)
    btd.start(*options)
    btd.client.start("net", "eth0")
    btd.stop(signal.SIGKILL)
    btd.tree("net", LONG, autostart=True)
    btd.start(*options)
    assert waiting(btd) == {"net": LIMIT}
    shown = btd.btctl("status", "net", env=UTF8).stdout
    assert shown.startswith("● net.1 (eth0): running") and shown.endswith(f"\n\nnet: {LIMIT}\n")
    assert json.loads(btd.btctl("status", "net", "--json").stdout)["waiting"] == LIMIT


def test_a_file_with_errors(btd):
    """Whether such a tree has autostart is known when its file is correct."""
    btd.tree("boot", "{")
    btd.tree("net", "{")
    btd.start()
    btd.client.subscribe()
    assert waiting(btd) == {"boot": UNKNOWN, "net": UNKNOWN} and of_tree(btd, "boot") == UNKNOWN
    assert btd.btctl("status", "boot", env=UTF8).stdout.startswith(f"✗ boot: failed: {UNKNOWN}\n")

    btd.tree("boot", LONG, autostart=True)
    btd.tree("net", LONG)
    assert btd.btctl("reload").returncode == 0
    btd.client.wait_signal("RunNew", lambda signal: signal.args[0] == "boot.1")
    await_change(btd, "boot", "")
    await_change(btd, "net", "")
    assert waiting(btd) == {}


def test_files_that_the_next_btd_does_not_find(btd, tmp_path):
    """One is missing, one is broken: as long as that is so, their trees wait."""
    options = "--limit=runs=1", f"--runtime={tmp_path}/run"
    for name in "boot", "lost", "net":
        btd.tree(name, LONG, autostart=True)
    btd.start(*options)
    assert waiting(btd) == {"lost": LIMIT, "net": LIMIT}
    btd.stop(signal.SIGKILL)
    os.unlink(btd.trees + "/lost.json")
    btd.tree("net", "{")
    btd.start(*options)
    listed = waiting(btd)
    assert listed["lost"].startswith("autostart waits: no tree 'lost'")
    assert listed["net"].startswith("autostart waits: tree 'net' has errors; correct its file, then reload: ")
    [lost] = [tree for tree in btd.client.trees() if tree.name == "lost"]
    assert (lost.state, lost.autostart, lost.path) == ("no file", True, None)
    assert btd.btctl("status", "lost", env=UTF8).stdout == \
        f"○ lost: no file: {lost.waiting}\nAutostart: enabled\n     Runs: none\n"
    assert btd.btctl("graph", "lost").stderr.startswith("btctl: no tree 'lost'")

    btd.client.subscribe()
    btd.tree("lost", LONG, autostart=True)
    assert btd.btctl("reload").returncode == 1
    await_change(btd, "lost", LIMIT)
    assert btd.btctl("halt", "lost", "net").returncode == 0
    assert waiting(btd) == {}


def test_a_restart_over_a_restart_of_btd(btd, tmp_path, clock):
    """Its run tells of it until btd no longer lists that, then its tree."""
    options = f"--runtime={tmp_path}/run", f"--state={tmp_path}/state"
    btd.tree("boot", {"type": "AlwaysFailure"}, restart="on-failure", restart_backoff={"initial": "1h", "max": "1h"})
    btd.start(*options, env=clock.env)
    btd.client.finish(btd.client.start("boot")[1])
    assert of_tree(btd, "boot") == ""
    assert below_the_table(btd).startswith("boot.1: restarts in ")
    btd.stop(signal.SIGKILL)
    btd.start(*options, env=clock.env)
    assert of_tree(btd, "boot").startswith("restarts in ")
    assert below_the_table(btd).startswith("boot: restarts in ")

    btd.client.subscribe()
    btd.tree("boot", "{")
    btd.client.reload()
    assert of_tree(btd, "boot").startswith("restarts in ")
    os.unlink(btd.trees + "/boot.json")
    btd.client.reload()
    clock.advance(btd, 3600)
    btd.wait_log("not restarted yet")
    assert waiting(btd) == {"boot": "restart waits: no tree 'boot'; 'btctl list' shows the trees"}
    btd.tree("boot", GOOD)
    btd.client.reload()
    btd.client.wait_signal("RunNew")
    assert of_tree(btd, "boot") == "" and below_the_table(btd) == ""
