# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the examples of trees/ that replace longer scripts, with stand-ins for their programs: the good case, and the
failures that the scripts were written for."""

import json
import os
import pathlib
import pwd
import re
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
case "$*" in
*-token) read -r header; [ "$header" = "Authorization: Bearer p4t-s3cret" ] || {
    echo "curl: (22) The requested URL returned error: 401" >&2; exit 22; }; echo '{"token": "r3gistered"}';;
*) echo bundle > "$3";;
esac""",
    "config.sh": 'echo "config.sh $* $ACTIONS_RUNNER_INPUT_TOKEN" >> log',
    "run.sh": 'echo run.sh >> log; [ ! -e fail.run ] || { echo "the job was cancelled" >&2; exit 3; }',
    "systemctl": 'echo "systemctl $*" >> log',
    "rcon-cli": """echo "rcon $*" >> log
[ ! -e fail.rcon ] || { echo "RCON connection failed" >&2; exit 1; }""",
    "tar": """echo "tar $*" >> log; [ -e fail.tar ] || echo "an archive" > "$2"; [ ! -e empty ] || : > "$2"
[ ! -e fail.tar ] || { echo "tar: world: Cannot open: No such file or directory" >&2; exit 2; }""",
    "mjpg_streamer": """echo "stream $*" >> log
[ -e reset ] || { echo "Unable to open the device: Device or resource busy" >&2; exit 1; }; exec sleep 1000""",
    "usbreset": 'echo "usbreset $1" >> log; touch reset',
    "vcgencmd": 'echo "supported=1 detected=$(cat raspi)"',
    "docker": """echo "docker $*" >> log
[ ! -e "fail.$1" ] || { echo "Error response from daemon: manifest unknown" >&2; exit 1; }
case "$1 $2" in
inspect*) cat container 2> /dev/null || { echo "Error: No such object" >&2; exit 1; };;
images*) cat images;;
"pull "*) echo sha256:new > images;;
esac""",
    **dict.fromkeys(["lvs", "lvcreate", "lvremove", "mount", "umount", "rsync"],
                    """echo "${0##*/} $*" >> log; case ${0##*/} in
lvs) ls volumes;;
lvcreate) touch "volumes/$4";;
lvremove) rm "volumes/${2##*/}";;
rsync) [ ! -e full ] || { echo "rsync: write failed: No space left on device" >&2; exit 11; };;
esac"""),
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


def start(btd, name, env=None, **variables):
    text = (TREES / f"{name}.json").read_text(encoding="utf-8")
    btd.tree(name, re.sub(r', "properties": {[^}]*}', "", text))  # only systemd has them
    btd.start(env=env)
    return btd.client.start(name, variables=variables)[1]


def run(btd, name, **variables):
    return btd.client.finish(start(btd, name, **variables))


def lines(path):
    return path.read_text(encoding="utf-8").splitlines()


def test_lines_are_short():
    for path in TREES.rglob("*.json"):
        assert max(map(len, lines(path))) <= 120, path


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


@pytest.mark.parametrize("fails, cause", [
    ("", ""), ("fail.rcon", "AutosaveOff: all 2 children failed: Save/SaveOff: exited with status 1: RCON connection failed; "
                  "AutosaveOn/SaveOn: exited with status 1: RCON connection failed"),
    ("fail.tar", "AutosaveOff/Save/Archive: exited with status 2: tar: world: Cannot open: No such file or directory"),
    ("empty", "Empty: {file} has only 0 bytes")])
def test_world_is_backed_up(btd, place, fails, cause):
    if fails:
        (place / fails).touch()
    said = run(btd, "world-backup", world="/world", dir=f"{place}/backups", chat=fails == "")
    log = [line.partition("tellraw @a ") for line in lines(place / "log")]
    file = next((line.split()[2] for line, *_ in log if line.startswith("tar ")), "")
    assert said == (("failure", "WorldBackup/BackupOrTell/" + cause.format(file=file)) if cause else ("success", ""))
    assert [line for line, *_ in log if line != "rcon "] == [
        "rcon save-off", *([] if fails == "fail.rcon" else ["rcon save-all flush", f"tar -czf {file} -C /world ."]),
        "rcon save-on", *([] if fails == "fail.rcon" else ["rcon save-all"])]
    assert [json.loads(text)[2]["text"] for _, tell, text in log if tell] == (
        [] if cause else ["Starting backup...", "Backup complete!"])


# The seventeenth of 31 is not of a full hour.
@pytest.mark.parametrize("variables, gone", [({}, {14}), ({"thin": False, "max": 5}, {*range(26)})])
def test_old_backups_are_thinned_out(btd, place, variables, gone):
    (place / "backups").mkdir()
    names = [f"2001-05-{10 + hour // 24}_{hour % 24:02}-30-00.tar.gz" for hour in range(30)]
    for name in [*names, "other"]:
        (place / "backups" / name).touch()
    assert run(btd, "world-backup", world="/world", dir=f"{place}/backups", **variables)[0] == "success"
    there = sorted(path.name for path in (place / "backups").iterdir())[:-2]
    assert there == [name for hour, name in enumerate(names) if hour not in gone]


@pytest.fixture
def volumes(place):
    for name in ("home", "srv", "swap0", "old_snapshot"):
        (place / "volumes").mkdir(exist_ok=True)
        (place / "volumes" / name).touch()
    (place / "00-backup-mounted").touch()
    return {"destination": str(place), "mounts": f"{place}/mounts"}


def test_volumes_are_backed_up(btd, place, volumes):
    (place / "mounts/old_snapshot").mkdir(parents=True)
    assert run(btd, "volume-backup", **volumes, exclude=["srv"]) == ("success", "")
    mounts = volumes["mounts"]
    assert lines(place / "log") == [
        "lvs --noheading -o lv_name", f"umount {mounts}/old_snapshot", "lvremove -f /dev/vg0/old_snapshot",
        "lvcreate -L10G -s -n home_snapshot /dev/vg0/home",
        f"mount -o ro /dev/vg0/home_snapshot {mounts}/home_snapshot",
        f"rsync -a --delete --delete-excluded -h --stats {mounts}/home_snapshot/ {place}/home/",
        f"umount {mounts}/home_snapshot", "lvremove -f /dev/vg0/home_snapshot"]
    assert not os.listdir(mounts)


def test_volumes_that_cannot_be_backed_up(btd, place, volumes):
    (place / "full").touch()
    status, cause = run(btd, "volume-backup", **volumes)
    why = "BackUp/SnapshotAndCopy/Rsync: exited with status 11: rsync: write failed: No space left on device"
    assert (status, cause) == ("failure", f"VolumeBackup/All: all 2 elements failed: home: {why}; srv: {why}")
    assert sorted(os.listdir(place / "volumes")) == ["home", "srv", "swap0"] and not os.listdir(volumes["mounts"])


def test_volume_that_is_not_there(btd, volumes):
    assert run(btd, "volume-backup", **volumes, volume="hom") == (
        "failure", "VolumeBackup/NoVolume: no volume to back up: 'hom' is not there")


def test_cameras_are_streamed(btd, place):
    (place / "dev").mkdir()
    (place / "dev/video0").touch()
    (place / "raspi").write_text("1")
    cameras = [{"name": name, "camera": kind, "usb": "-r 640x480 -f 10", "raspi": "-fps 5", "http": "-n"}
               for name, kind in [("front", "usb"), ("back", "raspi")]]
    path = start(btd, "camera-streams", cameras=cameras, devices=f"{place}/dev")
    log = client.wait(lambda: len(lines(place / "log")) >= 4 and sorted(lines(place / "log")), "the streamers")
    usb = f"stream -o output_http.so -w ./www -n -i input_uvc.so -r 640x480 -f 10 -d {place}/dev/video0"
    assert log[-1] == f"usbreset {place}/dev/video0" and usb in log
    assert "stream -o output_http.so -w ./www -n -i input_raspicam.so -fps 5" in log
    assert btd.client.variable(path, "used")["front"] == f"{place}/dev/video0"
    btd.client.halt(path)
    assert btd.client.finish(path)[0] == "halted"


CONTAINER = "ghcr.io/home-assistant/amd64-hassio-supervisor"


def supervise(btd, place, images):
    (place / "images").write_text(images)
    (place / "updater.json").write_text('{"supervisor": "2025.1"}')
    (place / "stamp").touch()
    return run(btd, "supervisor", data=str(place), marker=f"{place}/run/marker", stamp=f"{place}/stamp",
               tree_file=f"{place}/stamp")


def test_container_is_repaired(btd, place):
    (place / "run").mkdir()
    (place / "run/marker").touch()
    (place / "container").write_text("sha256:old")
    assert supervise(btd, place, "sha256:old") == ("success", "")
    said = [line.removeprefix("docker ").split(" --privileged")[0] for line in lines(place / "log")]
    assert said[2:11] == [
        "container rm --force hassio_supervisor",
        f"images --no-trunc --filter reference={CONTAINER} --format {{{{.ID}}}}",
        "image rm --force sha256:old", f"pull {CONTAINER}:2025.1", f"tag {CONTAINER}:2025.1 {CONTAINER}:latest",
        f"inspect --format={{{{.Id}}}} {CONTAINER}", "container create --name hassio_supervisor",
        "container start hassio_supervisor", "container wait hassio_supervisor"]


def test_image_that_is_not_there(btd, place):
    (place / "fail.pull").touch()
    assert supervise(btd, place, "") == ("failure", "Supervisor/Download/PullOrForget/Pull: exited with status 1: "
                                                    "Error response from daemon: manifest unknown")
    assert not (place / "updater.json").exists()


@pytest.mark.parametrize("pat, fails, cause", [
    ("p4t-s3cret", "", ""), ("p4t-s3cret", "fail.run", "/Job/Run: exited with status 3: the job was cancelled"),
    ("other", "", ": all 2 children failed: Job/Register: failed 3 times; last: WithToken/Token: exited with status 22: "
                  "curl: (22) The requested URL returned error: 401; CleanUp/Remove/WithToken/Token: exited with "
                  "status 22: curl: (22) The requested URL returned error: 401")])
def test_job_is_run(btd, place, pat, fails, cause):
    if fails:
        (place / fails).touch()
    (place / "github-pat").write_text(pat)
    said = run(btd, "job-runner", env={"CREDENTIALS_DIRECTORY": str(place)}, repository="x/y", work=f"{place}/jobs",
               user=pwd.getpwuid(os.getuid()).pw_name)
    assert said == (("failure", "JobRunner/Registered" + cause) if cause else ("success", ""))
    if pat == "other":
        assert not [line for line in lines(place / "log") if line.startswith("config.sh")]
    else:
        added, ran, removed = lines(place / "log")[:3]
        assert added.startswith("config.sh --url https://github.com/x/y --name github-runner-")
        assert added.endswith(" --unattended --replace --ephemeral r3gistered")
        assert (ran, removed) == ("run.sh", "config.sh remove r3gistered")
    assert not os.path.exists(place / "jobs") or not os.listdir(place / "jobs")


def simulated(tmp_path, name, until, *options, **leaves):
    (tmp_path / "script.json").write_text(json.dumps({"leaves": leaves}), encoding="ascii")
    said = subprocess.run([daemon.BTCTL, "simulate", TREES / f"{name}.json", f"--until={until}", *options,
                           f"--script={tmp_path}/script.json"], capture_output=True, text=True, check=False).stdout
    return [line.split()[1:] for line in said.splitlines()]


def test_kiosk_is_restarted(tmp_path):
    events = simulated(tmp_path, "kiosk-watch", "50s", Url="failure")
    assert [path.rpartition("/")[2] for mark, path, *_ in events if mark == "✓" and "RestartBoth/" in path] == [
        "NoPage:", "Web:", "KioskToo:"]


def test_machine_goes_down_with_its_power(tmp_path):
    events = simulated(tmp_path, "power-watch", "20min", "--set=pending=true", Get="failure")
    assert [" ".join(words[:2]) for mark, path, *words in events if path == "PowerWatch/Watch/LowBattery/Countdown/Delay:"
            ] == ["running", "success after"]
    assert any(path.endswith("Countdown/Shutdown:") for _, path, *_ in events)


def test_audio_is_reset_after_three_failures(tmp_path):
    events = [event for event in simulated(tmp_path, "audio-watch", "3min", Info="failure")
              if event[1].endswith(("Reset/Run:", "CheckHealth:"))]
    assert [path for mark, path, *_ in events if mark == "✗" or "Run:" in path and "success" in _][:5] == [
        *["Watch/Round/CheckHealth:"] * 3, "Watch/Round/Recover/NormalReset/Reset/Run:",
        "Watch/Round/Recover/HardReset/Reset/Run:"]
