# SPDX-License-Identifier: LGPL-2.1-or-later
"""What one user may have at once, when root and others are to have something, too; secrets from the service's unit."""

import json

import pytest

SLEEP = {"type": "Sleep", "duration": "1h"}

DROP_IN = """[Service]
ExecStart=
ExecStart=btd --limit=runs-of-a-caller=1 --limit=subscribers-of-a-caller=1 --limit=calls-of-a-caller=1
SetCredential=token:correct-horse
"""

# What an administrator may put into /etc/polkit-1/rules.d.
RULE = """
polkit.addRule(function(action, subject) {
    if (action.id == "org.btd1.start" && action.lookup("tree") == "camera")
        return polkit.Result.YES;
});
"""


@pytest.fixture(autouse=True)
def limited(machine):
    if machine.path("/etc/polkit-1/rules.d/10-limits.rules").exists():
        return
    machine.write("/etc/polkit-1/rules.d/10-limits.rules", RULE)
    machine.write("/etc/systemd/system/btd.service.d/limits.conf", DROP_IN)
    machine.check("systemctl", "daemon-reload")
    machine.check("systemctl", "restart", "polkit.service", "btd.service")


def test_runs_of_a_user(machine):
    machine.load("camera", SLEEP)
    assert machine.btctl("start", "camera@a", user="games").returncode == 0
    assert machine.btctl("start", "camera@b", user="games").stderr == \
        "btctl: 1 trees are running for you already, which is the limit for one user; halt some first\n"
    assert machine.btctl("start", "camera@b", user="nobody").returncode == 0
    machine.check("btctl", "start", "camera@c")
    machine.check("btctl", "start", "camera@d")
    machine.check("btctl", "halt", "camera", "--wait")


def test_subscribers_of_a_user(machine):
    """One of two is told so, and the other goes on."""
    result = machine.run("timeout", "3", "sh", "-c", "btctl monitor & btctl monitor & wait", user="nobody")
    assert result.stderr.count("which is the limit") == 1
    assert "btctl: 1 programs of yours are subscribed already, which is the limit for one user; end one of them\n" \
        in result.stderr


def test_calls_of_a_user(machine):
    """Of two programs, while polkit does not answer: one waits for it, and the other is told so at once."""
    machine.load("camera", SLEEP)
    machine.check("systemctl", "kill", "--signal=STOP", "polkit.service")
    try:
        result = machine.run("timeout", "3", "sh", "-c", "btctl start camera@x & btctl start camera@y & wait", user="games")
    finally:
        machine.check("systemctl", "kill", "--signal=CONT", "polkit.service")
    assert result.stderr == "btctl: 1 calls of yours are waiting to be answered; wait for one of them\n"
    machine.check("btctl", "halt", "camera", "--wait")


def test_a_secret_of_the_unit(machine):
    machine.load("secretive", {"type": "Spawn", "name": "Reads", "stdout": "length", "stdin": "{secret:token}",
                               "argv": ["/usr/bin/wc", "-c"]})
    machine.check("btctl", "start", "secretive", "--wait")
    assert json.loads(machine.check("btctl", "get", "secretive", "length", "--json")) in (13, "13")
    assert "correct-horse" not in machine.log()
