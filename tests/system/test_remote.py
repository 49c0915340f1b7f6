# SPDX-License-Identifier: LGPL-2.1-or-later
"""btctl talks to the btd of a container, and of another host."""

import os

import pytest

import client
import daemon

BROKEN = "[Service]\nType=oneshot\nExecStart=/bin/sh -c 'echo no lens; exit 3'\n"

# What machined would have written, for btctl alone. $1: the name, $2: the leader, $3...: what is called.
AS_MACHINED = """
mount -t tmpfs tmpfs /run
mkdir -p /run/systemd/machines
printf 'NAME=%s\\nCLASS=container\\nLEADER=%s\\n' $1 $2 >/run/systemd/machines/$1
shift 2
exec "$@"
"""

# In place of ssh(1): the container is the host "there", anything else cannot be reached.
SSH = """#!/bin/sh
while [ "$1" != -- ]; do shift; done
[ "$2" = there ] || {{ echo "ssh: no way to $2" >&2; exit 255; }}
shift 2
exec nsenter --target {leader} --all -- "$@"
"""


class Machined:
    """btctl -M, to the container."""

    def __init__(self, machine, tmp_path):
        self.name = machine.top.name
        self.journal = f"journalctl -M {self.name} -u broken.service"
        self.nobody = "btctl: cannot connect to the system bus of the container nowhere: no container of that name is " \
                      "running\n"
        self.leader = str(machine.leader)

    def __call__(self, *arguments, target=None):
        return client.run(["unshare", "--mount", "sh", "-e", "-c", AS_MACHINED, "machined", self.name, self.leader,
                           daemon.BTCTL, "-M", target or self.name, *arguments], {"LC_ALL": "C.UTF-8"})


class Ssh:
    """btctl -H, to the container."""

    def __init__(self, machine, tmp_path):
        (tmp_path / "ssh").write_text(SSH.format(leader=machine.leader))
        (tmp_path / "ssh").chmod(0o755)
        self.journal = "ssh there journalctl -u broken.service"
        self.nobody = "ssh: no way to nowhere\n" \
                      "btctl: cannot connect to the system bus of nowhere: the connection was closed\n"
        self.path = f"{tmp_path}:{os.environ['PATH']}"

    def __call__(self, *arguments, target="there"):
        return client.run([daemon.BTCTL, "-H", target, *arguments], {"LC_ALL": "C.UTF-8", "PATH": self.path})


@pytest.fixture(params=[Machined, Ssh])
def remote(request, machine, tmp_path):
    machine.unit("broken.service", BROKEN)
    machine.load("camera", {"type": "StartUnit", "unit": "broken.service"}, blackboard={"lens": 1})
    return request.param(machine, tmp_path)


def test_run(remote):
    result = remote("start", "camera", "--follow")
    assert result.returncode == 1, result.stderr
    assert "✗ StartUnit: failure" in result.stdout
    status = remote("status", "camera").stdout
    assert "broken.service failed: its main process exited with status 3" in status
    assert f"  Journal: {remote.journal}\n" in status
    assert remote("get", "camera", "lens").stdout == "1\n"
    assert "camera" in remote("history").stdout


def test_nobody_there(remote):
    assert remote("list", target="nowhere") == (5, "", remote.nobody)


def test_no_daemon_there(remote, machine):
    machine.check("systemctl", "stop", "btd.service")
    try:
        result = remote("list")
        assert (result.returncode, result.stdout) == (5, "")
        assert result.stderr.endswith("start it there with 'systemctl start btd'\n")
    finally:
        machine.check("systemctl", "start", "btd.service")
