# SPDX-License-Identifier: LGPL-2.1-or-later
"""Who may do what: polkit's defaults, rules that permit one tree, polkit that is not there."""

import pytest

SLEEP = {"type": "Sleep", "duration": "1h"}

# What an administrator may put into /etc/polkit-1/rules.d.
RULE = """
polkit.addRule(function(action, subject) {
    if (action.id == "org.btd1.start" && action.lookup("tree") == "camera" && subject.isInGroup("games"))
        return polkit.Result.YES;
    if (action.id == "org.btd1.control" && action.lookup("run") == "camera.1" && subject.user == "games")
        return polkit.Result.YES;
});
"""


@pytest.fixture(autouse=True)
def trees(machine):
    machine.load("camera", SLEEP)
    machine.load("other", SLEEP)
    if not machine.path("/etc/polkit-1/rules.d/10-camera.rules").exists():
        machine.write("/etc/polkit-1/rules.d/10-camera.rules", RULE)
        machine.check("systemctl", "restart", "polkit.service")


def refusal(machine, *words, user):
    result = machine.btctl(*words, user=user)
    assert (result.returncode, result.stdout) == (1, "")
    return result.stderr


@pytest.mark.parametrize("words, deed", [
    (("start", "other"), "start 'other'"),
    (("halt", "camera"), "halt 'camera'"),
    (("pause", "camera"), "control 'camera.1'"),
    (("step", "camera"), "control 'camera.1'"),
    (("break", "camera", "Sleep"), "control 'camera.1'"),
    (("set", "camera", "a=1"), "set variables of 'camera.1'"),
    (("force", "camera", "Sleep", "success"), "force a result in 'camera.1'"),
    (("reload",), "reload"),
    (("run", "/etc/btd/trees/camera.json"), "run a tree of your own as 'camera'"),
])
def test_changing_needs_an_administrator(machine, words, deed):
    if not machine.btctl("status", "camera.1").returncode == 0:
        machine.check("btctl", "start", "camera")
    assert refusal(machine, *words, user="nobody") == f"btctl: to {deed}, you have to authenticate, and cannot be " \
                                                      f"asked to here; try it on a terminal, or with sudo\n"
    assert f"was not allowed to {deed}" in machine.log()


def test_reading_is_open_to_all(machine):
    machine.btctl("start", "camera")
    for words in [("list",), ("status",), ("status", "camera"), ("cat", "camera"), ("get", "camera")]:
        assert machine.btctl(*words, user="nobody").returncode == 0


def test_a_rule_permits_one_tree(machine):
    """The tree and the run go along as details."""
    machine.check("btctl", "halt", "camera", "--wait")
    assert machine.btctl("start", "camera@rule", user="games").returncode == 0
    assert "you have to authenticate" in refusal(machine, "start", "other", user="games")
    assert "you have to authenticate" in refusal(machine, "start", "camera@nobody", user="nobody")
    machine.check("btctl", "halt", "camera", "--wait")


def test_root_needs_no_polkit(machine):
    machine.check("systemctl", "mask", "--now", "--runtime", "polkit.service")
    try:
        assert refusal(machine, "start", "other", user="nobody") \
            == "btctl: only root may do this; try it with sudo, or as root\n"
        machine.check("btctl", "start", "other")
        machine.check("btctl", "halt", "other", "--wait")
    finally:
        machine.check("systemctl", "unmask", "--runtime", "polkit.service")


def test_a_tree_keeps_others_out(machine):
    """Before anybody is asked for a password, and whatever polkit would have said."""
    machine.load("camera", SLEEP, access={"start": ["@games"], "halt": [], "control": ["nobody"]})
    machine.check("btctl", "start", "camera@root")
    assert machine.btctl("start", "camera@games", user="games").returncode == 0
    assert refusal(machine, "start", "camera@nobody", user="nobody") \
        == "btctl: you may not start 'camera': the tree lets only root and @games do this\n"
    assert refusal(machine, "halt", "camera", user="games") \
        == "btctl: you may not halt 'camera': the tree lets only root do this\n"
    run = machine.client.manager("ListRuns")[-1][0]
    assert "you have to authenticate" in refusal(machine, "pause", run, user="nobody")
    assert "the tree lets only root and nobody do this" in refusal(machine, "pause", run, user="games")
    machine.check("btctl", "halt", "camera", "--wait")
