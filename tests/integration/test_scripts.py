# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the examples of trees/ that replace longer scripts, with stand-ins for their programs: the good case, and the
failures that the scripts were written for."""

import json
import os
import pathlib
import subprocess

import pytest
from gi.repository import GLib

import client
import daemon

TREES = pathlib.Path(__file__).resolve().parents[2] / "trees"
PROGRAMS = {
    "podman": """echo "podman $*" >> log; command=$1; shift; for last; do :; done
if [ -e "fail.$command" ] || [ -e "fail.$command.$last" ]; then echo "Error: $command failed" >&2; exit 125; fi
case $command in
ps) cat running;;
stop) for id; do grep -vx "$id" running > rest; mv rest running; done;;
start) for id; do echo "$id" >> running; done;;
run) echo "new-$last" >> running;;
esac""",
    "kubectl": """shift 2; echo "$*" >> log
case "$*" in
drain*) [ ! -e stuck ] || { echo "error when evicting pod web-1: timeout" >&2; exit 1; };;
"get node"*) printf node-7;;
"get pods"*) printf 'default/web-1 system/dns-x';;
esac""",
    "lsblk": """echo "sda disk /"; echo "gone disk /var/lib/kubelet/pods/x" """,
    "curl": """[ ! -e missing ] || { echo "curl: (22) The requested URL returned error: 404" >&2; exit 22; }
echo bundle > "$3" """,
    "systemctl": 'echo "systemctl $*" >> log',
}


@pytest.fixture
def place(btd, tmp_path, monkeypatch):
    """The directory of the stand-ins, which is also their working directory; then btd runs."""
    for name, text in PROGRAMS.items():
        (tmp_path / name).write_text(f"#!/bin/sh\ncd {tmp_path}\n{text}\n", encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "log").touch()
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    return tmp_path


def run(btd, name, **variables):
    btd.tree(name, (TREES / f"{name}.json").read_text(encoding="utf-8"))
    btd.start()
    return btd.client.finish(btd.client.start(name, variables=variables)[1])


def lines(path):
    return path.read_text(encoding="utf-8").splitlines()


def test_lines_are_short():
    for name in ("audio-watch", "containers", "drain-node", "system-update"):
        assert max(map(len, lines(TREES / f"{name}.json"))) <= 120


def test_containers_are_replaced(btd, place):
    (place / "running").write_text("a\nb\n")
    assert run(btd, "containers", containers=["web:2", "db:2"], run_args=["--net", "host"]) == ("success", "")
    assert lines(place / "log") == ["podman ps -q", "podman stop a b", "podman pull web:2",
                                    "podman run -dt --net host web:2", "podman pull db:2",
                                    "podman run -dt --net host db:2"]
    assert lines(place / "running") == ["new-web:2", "new-db:2"]


def test_containers_are_rolled_back(btd, place):
    (place / "running").write_text("a\nb\n")
    (place / "fail.pull.db:2").touch()
    status, cause = run(btd, "containers", containers=["web:2", "db:2"])
    assert status == "failure" and cause.startswith('Update/ReplaceOrRollBack/New: failed for "db:2": Pull: ')
    assert lines(place / "log")[-3:] == ["podman ps -q", "podman stop new-web:2", "podman start a b"]
    assert lines(place / "running") == ["a", "b"]


def test_node_without_kubelet_is_left(btd, place):
    assert run(btd, "drain-node", id="x1", pidfile=f"{place}/none") == ("success", "")
    assert lines(place / "log") == []


@pytest.mark.parametrize("force", [False, True])
def test_node_is_drained_by_force(btd, place, force):
    (place / "stuck").touch()
    (place / "pid").write_text(f"{os.getpid()}\n")
    status, cause = run(btd, "drain-node", id="x1", pidfile=f"{place}/pid", force=force)
    deleted = [line for line in lines(place / "log") if line.startswith("delete pods")]
    if force:
        assert (status, cause) == ("success", "")
        assert sorted(deleted) == [f"delete pods {name} --namespace {space} --grace-period=0 --force"
                                   for space, name in [("system", "dns-x"), ("default", "web-1")]]
        assert lines(place / "log")[-1] == "delete node -l bosh.id=x1 --ignore-not-found"
    else:
        assert status == "failure" and "ByForce: its fail_if is true" in cause
        assert not deleted and lines(place / "log")[-1].startswith("drain -l bosh.id=x1 ")


RAUC = """<node><interface name="de.pengutronix.rauc.Installer">
<method name="InstallBundle"><arg type="s" direction="in"/><arg type="a{sv}" direction="in"/></method>
<signal name="Completed"><arg type="i"/></signal><property name="LastError" type="s" access="read"/>
</interface></node>"""


@pytest.mark.parametrize("reason", ["", "bad signature"])
def test_system_is_updated(btd, peer_client, place, reason):
    def install(*_):
        peer.properties["LastError"] = GLib.Variant("s", reason)
        peer_client.connection.emit_signal(None, "/", "de.pengutronix.rauc.Installer", "Completed",
                                           GLib.Variant("(i)", (1 if reason else 0,)))
    peer = client.Peer(peer_client, "de.pengutronix.rauc.Installer", "/", RAUC, {"InstallBundle": install},
                       {"LastError": GLib.Variant("s", "")})
    status, cause = run(btd, "system-update", installed="1", version="2")
    assert status == ("failure" if reason else "success")
    assert cause.endswith(f'LastError is "{reason}", not ""') if reason else cause == ""
    assert lines(place / "log") == ([] if reason else ["systemctl reboot"])
    assert not os.path.exists("/var/tmp/system-2.raucb")


def test_update_that_is_not_there(btd, place):
    (place / "missing").touch()
    status, cause = run(btd, "system-update", installed="1", version="2")
    assert status == "failure" and "/Download: exited with status 22" in cause
    assert lines(place / "log") == []


def test_audio_is_reset_after_three_failures(tmp_path):
    (tmp_path / "script.json").write_text(json.dumps({"leaves": {"Info": "failure"}}), encoding="ascii")
    said = subprocess.run([daemon.BTCTL, "simulate", TREES / "audio-watch.json", "--until=3min",
                                  f"--script={tmp_path}/script.json"], capture_output=True, text=True, check=False).stdout
    events = [line.split()[1:] for line in said.splitlines() if "Reset/Run:" in line or "CheckHealth:" in line]
    assert [path for mark, path, *_ in events if mark == "✗" or "Run:" in path and "success" in _][:5] == [
        *["Watch/Round/Count/CheckHealth:"] * 3, "Watch/Round/Recover/NormalReset/Reset/Run:",
        "Watch/Round/Recover/HardReset/Reset/Run:"]
