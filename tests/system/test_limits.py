# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the limits for one user, so that root and others keep their share; and secrets from btd's unit."""

import json
import subprocess

import pytest
from gi.repository import GLib

import client
import container

SLEEP = {"type": "Sleep", "duration": "1h"}

DROP_IN = """[Service]
ExecStart=
ExecStart=btd --limit=runs-of-a-caller=1 --limit=subscribers-of-a-caller=1 --limit=calls-of-a-caller=6 --limit=variables-of-a-caller-mib=1
SetCredential=token:correct-horse
"""

# What an administrator may put into /etc/polkit-1/rules.d.
RULE = """
polkit.addRule(function(action, subject) {
    if (action.id == "org.btd1.start" && action.lookup("tree") == "camera")
        return polkit.Result.YES;
});
"""


POLKIT = """<node><interface name="org.freedesktop.PolicyKit1.Authority"><method name="CheckAuthorization">
<arg type="(sa{sv})" direction="in"/><arg type="s" direction="in"/><arg type="a{ss}" direction="in"/>
<arg type="u" direction="in"/><arg type="s" direction="in"/><arg type="(bba{ss})" direction="out"/>
</method></interface></node>"""


# So that a test can answer for it.
POLKIT_POLICY = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-BUS Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><policy user="root"><allow own="org.freedesktop.PolicyKit1"/></policy></busconfig>
"""


def prepare(machine):
    machine.write("/etc/dbus-1/system.d/test-polkit.conf", POLKIT_POLICY)


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
        "btctl: the limit 'runs-of-a-caller' (1) is reached; halt one of your runs first\n"
    assert machine.btctl("start", "camera@b", user="nobody").returncode == 0
    [full] = [user for user in json.loads(machine.btctl("users", "--json").stdout) if user["refused"] > 0]
    assert (full["used"]["runs"], full["shares"]["runs"]) == (1, 1)
    machine.check("btctl", "start", "camera@c")
    machine.check("btctl", "start", "camera@d")
    machine.check("btctl", "halt", "camera", "--wait")


def test_variables_of_a_user(machine):
    machine.load("camera", SLEEP, inputs={f"v{number}": {"type": "string", "default": ""} for number in range(10)})
    many = [f'--set=v{number}="{120000 * "x"}"' for number in range(10)]
    assert machine.btctl("start", "camera@a", *many, user="games").stderr == \
        "btctl: the limit 'variables-of-a-caller-mib' (1 MiB) is reached; halt one of your runs first\n"
    assert machine.btctl("start", "camera@a", *many[:8], user="games").returncode == 0
    machine.check("btctl", "start", "camera@b", *many)
    machine.check("btctl", "halt", "camera", "--wait")
    assert machine.btctl("start", "camera@a", *many[:8], user="games").returncode == 0
    machine.check("btctl", "halt", "camera", "--wait")


def test_subscribers_of_a_user(machine):
    """One of two is told so and ends, and the other goes on."""
    result = machine.run("bash", "-c", "btctl monitor & btctl monitor & wait -n; kill $(jobs -pr); wait", user="nobody")
    assert result.stderr.count("'subscribers-of-a-caller'") == 1
    assert "btctl: the limit 'subscribers-of-a-caller' (1) is reached; end one of your programs that are subscribed\n" \
        in result.stderr


def test_a_secret_of_the_unit(machine):
    machine.load("secretive", {"type": "Spawn", "name": "Reads", "stdout": "length", "stdin": "{secret:token}",
                               "argv": ["/usr/bin/wc", "-c"]})
    machine.check("btctl", "start", "secretive", "--wait")
    assert json.loads(machine.check("btctl", "get", "secretive", "length", "--json")) in (13, "13")
    assert "correct-horse" not in machine.log()


@pytest.fixture
def slow_polkit(machine):
    """One that does not answer: its questions."""
    machine.check("systemctl", "mask", "--now", "--runtime", "polkit.service")
    asked = []
    it = client.Client("unix:path=" + str(machine.path(container.BUS_SOCKET)))
    client.Peer(it, "org.freedesktop.PolicyKit1", "/org/freedesktop/PolicyKit1/Authority", POLKIT,
                {"CheckAuthorization": lambda parameters, invocation: asked.append((parameters, invocation)) or True})
    yield asked
    it.close()
    machine.check("systemctl", "unmask", "--runtime", "polkit.service")


def test_calls_of_a_user_that_wait(machine, slow_polkit):
    """Some of them are put to polkit, as those of others are; the others wait, and more are refused."""
    machine.load("camera", SLEEP)

    def start(instance, user):
        command = machine.command("btctl", "start", "camera@" + instance, user=user)
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        client.wake_at_end(process)
        return process

    def n_asked(n):
        client.wait(lambda: len(slow_polkit) >= n, f"{n} questions")
        assert len(slow_polkit) == n

    waiting = [start(str(n), "nobody") for n in range(8)]

    def ended():
        return [process for process in waiting if process.poll() is not None]
    client.wait(lambda: len(ended()) >= 2, "two that are refused")
    refused = ended()
    assert {process.stderr.read() for process in refused} \
        == {"btctl: the limit 'calls-of-a-caller' (6) is reached; wait for the reply to one of your calls\n"}
    n_asked(4)
    other = start("other", "games")
    n_asked(5)
    machine.check("btctl", "start", "camera@root")

    for _ in range(7):
        n = next(i for i, (_, invocation) in enumerate(slow_polkit) if invocation)
        parameters, invocation = slow_polkit[n]
        slow_polkit[n] = (parameters, None)
        invocation.return_value(GLib.Variant("((bba{ss}))", ((True, False, {}),)))
        client.wait(lambda n=n: n >= 6 or len(slow_polkit) > n + 1, "the next question")
    assert {parameters[1] for parameters, _ in slow_polkit} == {"org.btd1.start"}
    assert other.wait() == 0
    assert sorted(process.wait() for process in waiting) == [0] + [1] * 7  # one run for a user
    machine.check("btctl", "halt", "camera", "--wait")


def test_memory_of_calls_that_wait(machine, slow_polkit):
    """Of what a user sends, btd keeps only so much."""
    text = json.dumps({"btd": 1, "root": SLEEP}) + " " * (30 << 20)
    for name in "abc":
        machine.path(f"/tmp/{name}.json").write_text(text, encoding="utf-8")
    waiting = []
    for name in "ab":
        waiting.append(subprocess.Popen(machine.command("btctl", "run", f"/tmp/{name}.json", user="nobody")))
        client.wait(lambda: len(slow_polkit) == len(waiting), "the question")
    assert machine.run("btctl", "run", "/tmp/c.json", user="nobody").stderr == \
        "btctl: your calls that wait for a reply would exceed 64 MiB; wait for one of the replies\n"
    for _, invocation in slow_polkit:
        invocation.return_value(GLib.Variant("((bba{ss}))", ((False, False, {}),)))
    assert [process.wait() for process in waiting] == [1, 1]
