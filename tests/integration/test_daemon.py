# SPDX-License-Identifier: LGPL-2.1-or-later
"""The daemon as a process: options, signals, what it tells the service manager, and that it rests."""

import contextlib
import os
import re
import select
import signal
import socket
import subprocess
import sys
import time

import pytest
from gi.repository import GLib

import daemon
from btctl_runs import begin, end
from calls import Calls
from client import PATIENCE, Client, DBusError, Peer, look, wait
from clock import Clock

MANAGER = "org.btd1.Manager"
NAP = {"type": "Sleep", "name": "Nap", "duration": "1h"}
# Cannot be ended in time; says so on the pipe {ready}.
STUBBORN = {"type": "Spawn", "as": "child", "name": "Stubborn", "kill_timeout": "1h", "argv": [
    "/bin/sh", "-c", "trap '' TERM; echo > {ready}; exec sleep 10000"]}


def run_btd(*options, without=(), env=None):
    kept = {key: value for key, value in os.environ.items() if key not in without}
    return subprocess.run([daemon.BTD, *options], env={**kept, **daemon.SANITIZER_ENV, **(env or {})},
                          capture_output=True, text=True, timeout=PATIENCE, check=False)


@pytest.mark.parametrize("options, text", [
    (["--nonsense"], "Unknown option --nonsense"),
    (["start", "boot"], "'start' is unexpected: btd takes no arguments; use btctl(1) to control it"),
    (["--user", "--system"], "--system and --user cannot be given together"),
    (["--log-level=loud"], "'loud' is not a log level; give error, warning, notice, info or debug"),
    (["--stop-timeout=5"], "'5' is not a time span; give one like 30s or 1min"),
    (["--limit=runs=9", "--limit=tree=5"], "there is no limit 'tree'; did you mean 'trees'?"),
    (["--trees="], "--trees= needs the name of a directory, in UTF-8"),
    (["--address"], "Missing argument for --address"),
])
def test_usage_errors(options, text):
    result = run_btd(*options)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == f"btd: {text}\nSee 'btd --help'.\n"


def test_help_and_version():
    assert run_btd("--help").stdout.startswith("Usage:\n  btd [OPTION")
    assert "\n\nRun behavior trees.\n\n" in run_btd("--help").stdout
    assert "?" not in run_btd("--help", env={"LC_ALL": "C.UTF-8"}).stdout
    assert re.match(r"btd \d+\.\d+\.\d+\ncommit \w+\nsystemd \d+ at build time, ", run_btd("--version").stdout)


def test_no_session_bus():
    result = run_btd("--user", without=["DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR"])
    assert result.returncode == 1
    assert result.stderr == "btd: error: there is no session bus: set DBUS_SESSION_BUS_ADDRESS or " \
        "XDG_RUNTIME_DIR\n"


def test_what_the_service_manager_is_told(btd, notifications):
    btd.tree("nap", NAP)
    btd.start(env={"NOTIFY_SOCKET": notifications.path})
    notifications.wait("READY=1")
    notifications.wait("STATUS=1 tree, 0 runs")

    btd.client.start("nap")
    notifications.wait("STATUS=1 tree, 1 run")

    btd.tree("new", NAP)
    before = time.clock_gettime(time.CLOCK_MONOTONIC)
    btd.client.reload()
    notifications.wait("RELOADING=1")
    told = notifications.lines.pop(0)
    assert told.startswith("MONOTONIC_USEC=") and int(told.split("=")[1]) / 1e6 >= before - 1
    notifications.wait("READY=1")
    notifications.wait("STATUS=2 trees, 1 run")

    btd.process.terminate()
    notifications.wait("STOPPING=1")
    assert btd.wait_exit() == 0


def test_a_recovery_asks_for_time(btd, notifications, tmp_path):
    options = [f"--runtime={tmp_path}/runtime", f"--state={tmp_path}/state"]
    btd.tree("nap", NAP)
    btd.start(*options)
    btd.client.start("nap")
    btd.stop(signal.SIGKILL)
    btd.start(*options, env={"NOTIFY_SOCKET": notifications.path})
    notifications.wait("EXTEND_TIMEOUT_USEC=60000000")
    notifications.wait("STATUS=recovering: 0 of 1 runs")
    notifications.wait("READY=1")


@pytest.fixture
def clock(tmp_path):
    """So slow that btd does not give up waiting for systemd."""
    return Clock(tmp_path, 0.001)


def start_as_service_of_a_user(btd, notifications, tmp_path, clock, *options):
    btd.start("--user", *options, f"--runtime={tmp_path}/runtime", f"--state={tmp_path}/state", bus=False,
              env={"NOTIFY_SOCKET": notifications.path, "DBUS_SESSION_BUS_ADDRESS": btd.bus.address, **clock.env})


def bring_systemd(btd, notifications):
    """To the bus, or whoever has its name; btd waits for that."""
    systemd = Client(btd.bus.address)
    systemd.call_any("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "RequestName", "su",
                     "org.freedesktop.systemd1", 4)
    notifications.wait("READY=1")
    systemd.close()


class Systemd(Peer):
    """Says what state the machine is in."""

    XML = """<node><interface name="org.freedesktop.systemd1.Manager">
        <property name="SystemState" type="s" access="read"/><property name="Flag" type="b" access="read"/>
        </interface></node>"""

    def __init__(self, client, state):
        super().__init__(client, "org.freedesktop.systemd1", "/org/freedesktop/systemd1", self.XML)
        self.on_asked = lambda: None
        self.properties["Flag"] = GLib.Variant("b", False)
        self.say(state)

    def say(self, state):
        self.properties["SystemState"] = GLib.Variant("s", state)

    def come(self):
        self.client.call_any("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "RequestName",
                             "su", "org.freedesktop.systemd1", 4)

    def go(self):
        self.client.call_any("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "ReleaseName",
                             "s", "org.freedesktop.systemd1")

    def _on_get(self, connection, sender, path, interface, name):
        if name == "SystemState":
            self.on_asked()
        return super()._on_get(connection, sender, path, interface, name)


FAILS = {"type": "Fallback", "children": [{"type": "Command", "argv": ["/bin/false"]}, {"type": "AlwaysSuccess"}]}


def test_new_doubts_about_a_shutdown_hold_back_no_other_run(btd, notifications, peer_client):
    def turn():
        systemd.set("Flag", GLib.Variant("b", not systemd.properties["Flag"]))
        for _ in range(2):  # then btd has seen it
            btd.client.get("/org/btd1", MANAGER, "Version")

    btd.tree("fails", FAILS)
    btd.tree("turns", {"type": "ReactiveSequence", "children": [
        {"type": "Fallback", "children": [
            {"type": "DBusProperty", "destination": "org.freedesktop.systemd1", "path": "/org/freedesktop/systemd1",
             "interface": "org.freedesktop.systemd1.Manager", "property": "Flag"}, {"type": "AlwaysSuccess"}]}, NAP]})
    systemd = Systemd(peer_client, "running")
    btd.start(env={"NOTIFY_SOCKET": notifications.path})
    btd.client.start("turns")
    systemd.on_asked = turn
    _, path = btd.client.start("fails")
    assert btd.client.finish(path) == ("success", "")
    systemd.on_asked = lambda: None
    systemd.go()


def test_a_machine_that_goes_down_does_so_without_an_answer(btd, notifications, peer_client, clock):
    btd.tree("fails", FAILS)
    systemd = Systemd(peer_client, "running")
    btd.start(env={"NOTIFY_SOCKET": notifications.path, **clock.env})
    notifications.wait("READY=1")
    systemd.say("stopping")
    _, path = btd.client.start("fails")
    btd.wait_log("btd: the machine goes down: all runs wait until btd is stopped")
    systemd.go()
    for _ in range(3):
        clock.advance(btd, 2)
    assert btd.client.run_property(path, "Status") == "running"
    assert "does not go down" not in btd.log()

    systemd.say("running")
    systemd.come()
    clock.advance(btd, 2)
    assert btd.client.finish(path) == ("success", "")
    assert "btd: the machine does not go down any more: all runs continue" in btd.log()


def test_a_question_about_a_shutdown_ends_with_the_request_to_stop(btd, notifications, peer_client, clock, tmp_path):
    ready = tmp_path / "ready"
    os.mkfifo(ready)
    btd.tree("fails", FAILS)
    btd.tree("slow", {"type": "Spawn", "as": "child", "kill_timeout": "1h", "argv": [
        "/bin/sh", "-c", f"trap 'read line <{ready}; exit' TERM; echo >{ready}; while :; do sleep 0.02; done"]})
    systemd = Systemd(peer_client, "running")
    btd.start(env={"NOTIFY_SOCKET": notifications.path, **clock.env})
    btd.client.start("slow")
    ready.read_text()
    systemd.say("stopping")
    btd.client.start("fails")
    btd.wait_log("btd: the machine goes down: all runs wait until btd is stopped")
    btd.process.send_signal(signal.SIGINT)
    notifications.wait("STOPPING=1")
    for _ in range(3):
        clock.advance(btd, 2)
    ready.write_text("\n")
    assert btd.wait_exit() == 0


@pytest.mark.parametrize("state", ["running", "stopping"])
def test_a_bus_that_is_lost_when_btd_stops(btd_own_bus, notifications, clock, tmp_path, state):
    """What becomes of the runs is decided when systemd can be asked again."""
    btd = btd_own_bus
    btd.tree("nap", NAP)
    Systemd(Client(btd.bus.address), "running")
    btd.start(f"--runtime={tmp_path}/run", f"--state={tmp_path}/state",
              env={"NOTIFY_SOCKET": notifications.path, **clock.env})
    btd.client.start("nap")
    btd.bus.stop()
    btd.wait_log("lost the connection to bus")
    btd.process.send_signal(signal.SIGTERM)
    btd.wait_log("btd: stopping")
    btd.bus.start()
    btd.client = Client(btd.bus.address)
    Systemd(btd.client, state)
    clock.set_forward(2)  # then btd tries the bus again
    btd.process.send_signal(signal.SIGHUP)
    assert btd.wait_exit() == 0
    assert [path.name for path in (tmp_path / "run" / "runs").glob("*.journal")] == \
        (["nap.1.journal"] if state == "running" else [])


@pytest.mark.parametrize("directory", ["run", "run/runs"])
def test_runs_are_kept_only_where_nobody_else_could_put_them(btd, tmp_path, directory):
    """A run record has a tree in it."""
    (tmp_path / "run" / "runs").mkdir(parents=True)
    os.chmod(tmp_path / directory, 0o777)
    btd.start(f"--runtime={tmp_path}/run", wait=False)
    assert btd.wait_exit() == 1
    where = "it" if directory == "run/runs" else f"'{tmp_path}/run', on its path,"
    assert f"runs cannot be kept in {tmp_path}/run/runs, which is refused, because {where} can be written by others than " \
        "root (mode 0777); " \
        "a tree can do anything as root, so find out first who put it there and what it does; if you trust it, run: " \
        f"chmod go-w '{tmp_path}/{directory}'" in btd.log()


def test_trees_start_when_systemd_is_on_the_bus(btd, notifications, tmp_path, clock):
    """It has started btd, but comes to the bus of a user a moment after that. What others want waits, too."""
    btd.tree("nap", NAP, autostart=True)
    start_as_service_of_a_user(btd, notifications, tmp_path, clock)
    replies = btd.client.begin("StartTree", "(sa{sv}a{sv})", "nap", {}, {"instance": GLib.Variant("s", "second")})
    lists = btd.client.begin("ListRuns")
    assert btd.client.get("/org/btd1", MANAGER, "Status") == "starting"
    assert "READY=1" not in notifications.lines and not replies and not lists
    bring_systemd(btd, notifications)
    wait(lambda: replies and lists, "the second run")
    assert [(run["id"], run["instance"]) for run in lists[0][0]] == [("nap.1", "")]
    assert [(run.id, run.instance) for run in btd.client.runs()] == [("nap.1", ""), ("nap.2", "second")]
    assert btd.client.get("/org/btd1", MANAGER, "Status") == "running"
    assert btd.stop() == 0


def test_leaves_are_recovered_as_they_were_started(btd, tmp_path):
    """Whatever the variables of an action are by then: else it would be over at once. A condition follows them."""
    kept = [f"--runtime={tmp_path}/runtime", f"--state={tmp_path}/state"]
    there = tmp_path / "there"
    there.write_text("")
    btd.tree("as", {"type": "Parallel", "name": "All", "children": [
        {"type": "Sleep", "name": "Long", "duration": "{d}"},
        {"type": "ReactiveSequence", "name": "While", "children": [
            {"type": "PathExists", "name": "There", "path": "{p}"}, NAP]},
        {"type": "WaitFor", "name": "Limit", "timeout": "1h", "child": {
            "type": "PathExists", "name": "Ready", "path": "{p}/{d}"}},
        {"type": "Script", "name": "Change", "code": "d = '1ms'"}]},
        blackboard={"d": "1h", "p": str(there)})
    btd.start(*kept)
    path = btd.client.start("as")[1]
    assert btd.client.wait_node(path, "Nap", "running")["Change"]["status"] == "success"
    for _ in range(2):
        btd.stop(signal.SIGKILL)
        btd.start(*kept)
        btd.client.wait_running()

    there.unlink()
    assert btd.client.finish(path) == ("failure", f"All/While/There: {there} does not exist")
    assert btd.client.nodes(path)["Long"]["status"] == "halted"


def test_the_time_for_which_a_value_must_hold_continues(btd, tmp_path, clock):
    """It ends while btd is away: the value counts if it is still the same when it is known again."""
    kept = f"--runtime={tmp_path}/run", f"--state={tmp_path}/state"
    paths = []
    for name in "stays", "goes":
        (tmp_path / name).touch()
        btd.tree(name, {"type": "PathExists", "name": "There", "path": str(tmp_path / name), "for": "1h"})
    btd.start(*kept, env=clock.env)
    for name in "stays", "goes":
        paths.append(btd.client.start(name)[1])
        wait(lambda: btd.client.nodes(paths[-1])["There"]["detail"].startswith("true, which counts in "), "the value")
    btd.stop(signal.SIGKILL)
    (tmp_path / "goes").unlink()
    clock.set_forward(3600)
    btd.start(*kept, env=clock.env)
    assert btd.client.finish(paths[0]) == ("success", "")
    assert btd.client.finish(paths[1]) == ("failure", f"There: {tmp_path}/goes does not exist")


def test_runs_are_asked_for_before_they_are_known(btd, notifications, tmp_path, clock):
    """Nobody is told that nothing runs while the runs of the daemon before are still to be taken up."""
    kept = [f"--runtime={tmp_path}/runtime", f"--state={tmp_path}/state"]
    btd.tree("nap", NAP)
    btd.start(*kept, env=clock.env)
    btd.client.start("nap")
    record = (tmp_path / "runtime/runs/nap.1.journal").read_bytes()
    btd.stop(signal.SIGKILL)

    start_as_service_of_a_user(btd, notifications, tmp_path, clock, "--limit=calls-of-a-caller=3")
    status = begin(btd, "status", "--no-color")
    replies = {method: btd.client.begin(method, *arguments) for method, *arguments in [
        ("ListHistory", "(a{sv})", {}), ("GetRecord", "(st)", "nap.1", 0), ("GetRun", "(s)", "nap.2")]}
    with pytest.raises(DBusError, match=r"the limit 'calls-of-a-caller' \(3\) is reached; wait for the reply to one of your calls"):
        btd.client.runs()
    assert btd.client.get("/org/btd1", MANAGER, "Status") == "starting" and not any(replies.values())
    bring_systemd(btd, notifications)

    wait(lambda: all(replies.values()), "the answers")
    assert replies["ListHistory"] == [([],)]
    assert bytes(replies["GetRecord"][0][0]).startswith(record)
    assert replies["GetRun"] == ["GDBus.Error:org.btd1.Error.NoSuchRun: no run 'nap.2'; did you mean 'nap.1'?"]
    code, text = end(status)
    assert code == 0 and "user mode: running" in text and "Runs: 1 running, 0 finished" in text, text
    assert btd.stop() == 0


def test_systemd_that_does_not_come_to_the_bus(btd, notifications, tmp_path, clock):
    start_as_service_of_a_user(btd, notifications, tmp_path, clock)
    assert btd.client.get("/org/btd1", MANAGER, "Status") == "starting"
    clock.advance(btd, 5)
    notifications.wait("READY=1")
    assert "warning: systemd has started btd, but is not on bus 'session'; trees cannot use units there yet\n" \
        in btd.log()
    assert btd.stop() == 0


def test_a_service_manager_that_does_not_listen(btd, tmp_path):
    """Its queue is full before long; nobody has to wait for that."""
    deaf = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    deaf.bind(str(tmp_path / "deaf"))
    with deaf:
        btd.tree("short", {"type": "Sleep", "duration": "150ms"})  # longer than a status line waits
        btd.start(env={"NOTIFY_SOCKET": str(tmp_path / "deaf")})
        deaf.settimeout(PATIENCE)
        assert deaf.recv(4096).startswith(b"READY=1")  # the last that it hears
        filler = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
        with filler, pytest.raises(BlockingIOError):
            while True:
                filler.sendto(b"noise", str(tmp_path / "deaf"))
        run, path = btd.client.start("short")
        assert btd.client.finish(path) == ("success", "")
        assert btd.client.start("short")[0] != run
        assert btd.stop() == 0


def test_the_watchdog_is_fed(btd, notifications):
    btd.start(env={"NOTIFY_SOCKET": notifications.path, "WATCHDOG_USEC": "200000"})
    for _ in range(3):
        notifications.wait("WATCHDOG=1")


def test_sighup_reloads(btd):
    btd.start()
    btd.client.subscribe(MANAGER)
    btd.tree("new", NAP)
    btd.process.send_signal(signal.SIGHUP)
    btd.client.wait_signal("Reloaded", lambda s: s.args == ([],))
    btd.client.start("new")


def start_stubborn(btd, tmp_path, *options):
    ready = tmp_path / "ready"
    os.mkfifo(ready)
    with open(os.open(ready, os.O_RDONLY | os.O_NONBLOCK), "rb") as pipe:
        btd.tree("stubborn", STUBBORN, blackboard={"ready": str(ready)})
        btd.start(*options)
        btd.client.start("stubborn")
        assert select.select([pipe], [], [], PATIENCE)[0]


def test_a_second_signal_ends_the_wait(btd, tmp_path):
    start_stubborn(btd, tmp_path)
    btd.client.subscribe("org.freedesktop.DBus.Properties", path="/org/btd1")
    btd.process.terminate()
    btd.client.wait_signal("PropertiesChanged", lambda s: s.args[1].get("Status") == "stopping")
    assert btd.stop() == 1
    assert "asked to stop again; not waiting any longer" in btd.log()
    assert "stubborn.1: has not ended in time; not waiting for it any longer" in btd.log()


def test_the_stop_timeout_ends_the_wait(btd, tmp_path):
    start_stubborn(btd, tmp_path, "--stop-timeout=100ms")
    assert btd.stop() == 1
    assert "stubborn.1: has not ended in time; not waiting for it any longer" in btd.log()


def test_numbers_go_on_after_a_restart(btd, tmp_path):
    state = tmp_path / "state"
    state.mkdir()
    env = {"RUNTIME_DIRECTORY": str(state)}
    btd.tree("nap", NAP)
    btd.start(env=env)
    assert btd.client.start("nap")[0] == "nap.1"
    btd.stop()
    btd.start(env=env)
    assert btd.client.start("nap")[0] == "nap.2"


def test_autostart_is_for_the_start(btd):
    btd.tree("boot", NAP, autostart=True)
    btd.start()
    assert [row.id for row in btd.client.runs()] == ["boot.1"]
    btd.tree("late", NAP, autostart=True)
    assert btd.client.reload() == []
    assert [row.id for row in btd.client.runs()] == ["boot.1"]


@pytest.mark.both_buses("the answer to a request for a name that is taken")
def test_a_second_daemon_starts_nothing(btd):
    btd.tree("boot", NAP, autostart=True)
    btd.start()
    second = run_btd("--address=" + btd.bus.address, "--trees=" + btd.trees)
    assert second.returncode == 1
    assert f"cannot take the name org.btd1 on bus '{btd.bus.address}': another btd is running there; " \
        "stop that first" in second.stderr
    assert "boot.1" not in second.stderr
    assert "waiting for it" not in second.stderr


# Takes the name, leaves its connection to a child that ends with the standard input, and is killed.
KILLED_OWNER = """
import os, signal, sys
from gi.repository import Gio, GLib
flags = Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION
bus = Gio.DBusConnection.new_for_address_sync(sys.argv[1], flags, None, None)
answer = bus.call_sync("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "RequestName",
                       GLib.Variant("(su)", ("org.btd1", 0)), None, 0, -1, None).unpack()
assert answer == (1,)
if os.fork() == 0:
    os.read(0, 1)
    os._exit(0)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def killed_owner(btd):
    with subprocess.Popen([sys.executable, "-c", KILLED_OWNER, btd.bus.address], stdin=subprocess.PIPE) as process:
        # Nothing reaps it as long as it is not asked about: it has ended all the same.
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        yield process


@pytest.mark.both_buses("what it tells of a process that has ended")
def test_a_name_of_a_killed_btd(btd, killed_owner):
    """A process that it was starting has its connection for a moment: the next btd waits for that."""
    btd.tree("boot", NAP, autostart=True)
    before = btd.client.owner()
    btd.start(wait=False, stderr=subprocess.PIPE)
    with btd.process.stderr as log:
        line = f"process {killed_owner.pid}, which has ended, still has the name org.btd1 on bus " \
            f"'{btd.bus.address}'; waiting for it"
        for text in log:
            assert b"boot.1" not in text and b"cannot" not in text
            if line in text.decode():
                break
        killed_owner.stdin.close()
        btd.wait_ready(before)
    btd.client.wait_running()
    assert [row.id for row in btd.client.runs()] == ["boot.1"]


@pytest.mark.both_buses("what it tells of a process that has ended")
def test_a_name_that_is_not_left(btd, killed_owner, tmp_path):
    btd.start(wait=False, env=Clock(tmp_path, 10).env)
    assert btd.wait_exit() == 1
    assert f"cannot take the name org.btd1 on bus '{btd.bus.address}': process {killed_owner.pid}, which took it, " \
        "has ended, but after 5 s another process still has its connection; end that process first: one that " \
        f"{killed_owner.pid} has started, or one of another PID namespace" in btd.log()


@pytest.mark.both_buses("how a name is replaced")
def test_a_name_that_another_takes(btd, tmp_path):
    """The bus lets others take the name: then this btd stops, and the next btd recovers its runs."""
    options = (f"--runtime={tmp_path}/run", f"--state={tmp_path}/state")
    btd.tree("boot", NAP)
    btd.tree("short", NAP, on_stop="halt")
    btd.start(*options)
    owner = btd.client.call_any("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
                                "GetNameOwner", "s", "org.btd1")
    _, path = btd.client.start("boot")
    btd.client.start("short")
    other = Client(btd.bus.address)
    # Nobody but the bus says who has a name.
    other.connection.emit_signal(owner, "/org/freedesktop/DBus", "org.freedesktop.DBus", "NameLost",
                                 GLib.Variant("(s)", ("org.btd1",)))
    other.connection.flush_sync(None)
    assert other.trees() and btd.process.poll() is None

    replace = 2
    assert other.call_any("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
                          "RequestName", "su", "org.btd1", replace) == 1
    assert btd.wait_exit() == 1
    assert f"error: another process has taken the name org.btd1 on bus '{btd.bus.address}'; 'busctl --system status org.btd1' " \
        "shows which. Stopping, because no two btd may run the same trees; the next btd recovers the runs\n" in btd.log()
    assert "short.1: halted" in btd.log()
    other.close()
    btd.start(*options)
    assert btd.client.run_property(path, "Status") == "running"


def skipped_until(name):
    """What is skipped, and why that may change: variables and a name on the bus."""
    log = {"type": "Log", "message": "gone", "skip_if": "not go"}
    return {"type": "Parallel", "success_count": 6, "children": [
        log,
        {"type": "Precondition", "if": "go", "else": "skipped", "child": {"type": "AlwaysSuccess"}},
        {"type": "OnChange", "of": "n", "otherwise": "skip", "skip_if": "not go", "child": {"type": "AlwaysSuccess"}},
        {"type": "SubTree", "tree": "inner", "inputs": {"go": "{go}"}},
        {"type": "ParallelAll", "children": [log, {"type": "Sleep", "duration": "10ms"}]},
        {"type": "IfThenElse", "children": [
            {"type": "DBusName", "name": name}, {"type": "AlwaysSuccess"}, {**log, "skip_if": "true"}]}]}


def record_sizes(directory):
    return {path: path.stat().st_size for path in directory.rglob("*") if path.is_file()}


# In milliseconds. After each message, btd waits once for ten seconds at most: for the bus to read it.
AT_REST = 9900


def test_it_rests_while_it_waits(btd, notifications, tmp_path):
    """With trees loaded and runs waiting, the main loop waits until the next of them is due, and nothing is added to
    their records. tests/bench counts the wake-ups of all threads."""
    calls = Calls(tmp_path)
    for number in range(19):
        btd.tree(f"nap{number}", NAP)
    btd.tree("skipped", skipped_until("org.example.Appears"), blackboard={"go": False, "n": 1}, trees={
        "inner": {"inputs": {"go": "bool"}, "root": {"type": "Log", "message": "gone", "skip_if": "not go"}}})
    btd.start(f"--runtime={tmp_path}/run", env={"NOTIFY_SOCKET": notifications.path, **calls.env})
    for number in range(4):
        btd.client.start(f"nap{number}")
    _, path = btd.client.start("skipped")
    notifications.wait("STATUS=20 trees, 5 runs")  # the last that there is to do
    btd.client.wait_node(path, "Sleep", "success")
    wait(lambda: calls.wait() >= AT_REST, "the main loop to wait")
    sizes, before = record_sizes(tmp_path / "run"), calls.count()
    for _ in range(10):
        btd.client.get("/org/btd1", MANAGER, "Status")
    wait(lambda: calls.wait() >= AT_REST, "the main loop to wait")
    of_loop, of_others = (after - then for after, then in zip(calls.count(), before))
    assert of_loop < 10 * 20 and of_others == 0
    assert sizes and record_sizes(tmp_path / "run") == sizes
    btd.client.call_any("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "RequestName", "su",
                        "org.example.Appears", 0)
    btd.client.set_variables(path, go=True)
    assert btd.client.finish(path)[0] == "success"


def test_requests_are_logged_before_their_effects(btd):
    btd.tree("nap", NAP)
    btd.start()
    run, path = btd.client.start("nap")
    btd.client.halt_run(run)
    btd.client.finish(path)
    with pytest.raises(DBusError):
        btd.client.start("nap", "", {"unknown": "1"})
    lines = re.sub(r"UID \d+, PID \d+ \(.*?\)", "WHO", btd.log()).splitlines()[1:]
    assert lines[:2] == ["btd: nap: WHO asked to start 'nap'", "btd: nap.1: started"]
    assert lines[2] == "btd: nap.1: WHO asked to halt 'nap.1'" and lines[3].startswith("btd: nap.1: halted after ")
    assert lines[4] == "btd: nap: WHO asked to start 'nap'"
    assert lines[5].startswith("btd: nap: WHO asked to start 'nap': tree 'nap': no input 'unknown';")


def test_a_stderr_that_nobody_reads(btd):
    """Runs go on, others are answered; when it is read again, what was kept is there, and how much was lost. A reader
    that is gone ends nothing, either."""
    btd.tree("talk", {"type": "Repeat", "num_cycles": 30000, "child": {"type": "Log", "message": "x" * 50}})
    reader, writer = os.pipe()
    btd.start(stderr=writer)
    os.close(writer)
    assert btd.client.finish(btd.client.start("talk")[1]) == ("success", "")
    lost = btd.client.get("/org/btd1", MANAGER, "LostLogMessages")
    assert 10000 < lost < 30000
    with os.fdopen(reader, encoding="utf-8") as log:
        for line in log:
            if "lost here" in line:
                break
    assert line == f"btd: warning: log messages lost here, because they could not be written in time: {lost}\n"
    assert btd.stop() == 0


MINUTE = 60 * 1000000
LEFT = r"times out in (20min|19min [0-9.]+s)"
THROUGH = {"clock": "boottime"}


def nap(name, **keys):
    return {"type": "Sleep", "name": name, "duration": "30min", **keys}


def limit(name, **keys):
    return {"type": "Timeout", "name": name, "timeout": "30min", "child": nap("Long " + name, duration="2h"), **keys}


NIGHT = {"type": "ParallelAll", "max_failures": -1, "name": "Night", "children": [
    nap("Nap"), nap("Nap through", **THROUGH), limit("Limit"), limit("Limit through", **THROUGH),
    {"type": "DBusSignal", "name": "Signal through", "timeout": "30min", **THROUGH, "path": "/never", "interface": "org.example.Never",
     "member": "Never"},
    {"type": "RetryUntilSuccessful", "name": "Retry through", "num_attempts": 2, "child": {"type": "AlwaysFailure"},
     "backoff": {"initial": "30min", "max": "2h"}, **THROUGH}]}
ASLEEP = {name: "running" for name in
          ("Nap", "Nap through", "Limit", "Limit through", "Signal through", "Retry through")}
RESUMED = {**ASLEEP, "Nap through": "success", "Limit through": "failure", "Signal through": "failure",
           "Retry through": "failure"}


def statuses(btd, path, names):
    nodes = btd.client.nodes(path)
    return {name: nodes[name]["status"] for name in names}


def await_statuses(btd, path, expected):
    look(lambda: statuses(btd, path, expected) == expected, lambda: statuses(btd, path, expected))


def record_of(directory, run):
    return (directory / f"run/runs/{run}.journal").read_text()


def await_records(directory, run, what, n):
    look(lambda: record_of(directory, run).count(what) == n, lambda: record_of(directory, run))


@pytest.fixture
def start_suspended(btd, tmp_path):
    """Starts a btd on a machine that has been suspended for so many seconds since the first one was started."""
    if os.geteuid() != 0:
        pytest.skip("only root can move a clock")

    def start(seconds):
        within = ["unshare", "--time", "--boottime", str(seconds)] if seconds else []
        btd.start(f"--runtime={tmp_path}/run", f"--state={tmp_path}/state", within=within)
    return start


def test_times_through_a_suspend_between_two_daemons(btd, tmp_path, start_suspended):
    """The run record says how long the machine had been suspended when a time began."""
    btd.tree("night", NIGHT)
    start_suspended(0)
    run, path = btd.client.start("night")
    await_statuses(btd, path, ASLEEP)
    for suspended, expected in (600, ASLEEP), (3600, RESUMED):
        btd.stop(signal.SIGKILL)
        start_suspended(suspended)
        await_statuses(btd, path, expected)
    assert btd.btctl("halt", run, "--wait").returncode == 0


@pytest.fixture
def begun(tmp_path):
    """A file to which processes write their ids when they begin. At the end they are killed: those of a btd that was
    killed are nobody's."""
    path = tmp_path / "begun"
    yield path
    for pid in path.read_text().split() if path.exists() else []:
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(pid), signal.SIGKILL)


def test_times_that_begin_after_a_suspend(btd, tmp_path, start_suspended, begun):
    """They have all of their time, whether a start or the tree has begun them. What is executed again after a restart of
    btd keeps its deadline."""
    again = {"type": "Spawn", "as": "child", "argv": ["/bin/sh", "-c", f"echo $$ >>{begun}; exec sleep 9999"],
             "on_recover": "rerun", "name": "Again", "timeout": "40min", **THROUGH}
    btd.tree("late", {"type": "Parallel", "success_count": 3, "children": [
        nap("Late", **THROUGH), {"type": "Fallback", "children": [again, nap("After", **THROUGH)]}, {"type": "Sequence", "children": [
            {"type": "WaitFor", "name": "Wait", "child": {"type": "Condition", "test": "go"}}, limit("Later", **THROUGH)]}]},
             blackboard={"go": False})

    def kill(n_begun):
        """Once the process executes its own program: before, it has the connections of btd, too."""
        look(lambda: begun.exists() and begun.read_text().count("\n") == n_begun, btd.log)
        btd.stop(signal.SIGKILL)

    start_suspended(3600)
    run, path = btd.client.start("late")
    await_records(tmp_path, run, " begin #", 2)
    start = record_of(tmp_path, run).splitlines()[1].split()
    assert start[1] == "start" and int(start[2].removeprefix('{"suspended":').removesuffix("}")) >= 60 * MINUTE
    assert " suspended {" not in record_of(tmp_path, run)

    # The process is lost with btd, and run again by the next one, which has been suspended meanwhile.
    kill(1)
    start_suspended(4500)
    await_records(tmp_path, run, " rerun #", 1)
    records = [line.split()[1] for line in record_of(tmp_path, run).splitlines()]
    assert records.index("suspended") < records.index("rerun")
    btd.client.set_variables(path, go=True)
    await_statuses(btd, path, {"Later": "running"})

    # By now one of them has had 25 minutes of its 30, and the others only 10.
    kill(2)
    start_suspended(5100)
    await_statuses(btd, path, {"Late": "running", "Later": "running"})
    assert re.fullmatch(LEFT, btd.client.nodes(path)["Later"]["detail"])
    kill(3)
    start_suspended(5700)
    await_statuses(btd, path, {"Late": "success", "Later": "running"})
    kill(4)
    start_suspended(6100)
    await_statuses(btd, path, {"Again": "failure", "After": "running", "Later": "running"})
    assert btd.client.nodes(path)["Again"]["detail"] == "timed out after 40min"
    kill(4)
    start_suspended(6400)
    assert btd.client.finish(path) == ("failure", "Parallel/Sequence/Later: timed out after 30min")


def test_times_through_a_suspend_of_a_running_daemon(btd, tmp_path):
    """The ends of times that have passed meanwhile are told as soon as it is resumed."""
    pipe = tmp_path / "suspended"
    os.mkfifo(pipe)
    btd.tree("night", NIGHT)
    btd.start(f"--runtime={tmp_path}/run", f"--state={tmp_path}/state", env={
        "LD_PRELOAD": os.path.join(daemon.BUILD, "tests", "integration", "suspend.so"), "BTD_TEST_SUSPEND": str(pipe),
        "ASAN_OPTIONS": daemon.SANITIZER_ENV["ASAN_OPTIONS"] + ":verify_asan_link_order=0"})
    run, path = btd.client.start("night")
    await_statuses(btd, path, ASLEEP)

    def suspend(usec):
        pipe.write_text(f"{usec}\n", encoding="utf-8")

    # Shorter than any: the run does not even notice, until something happens to it.
    suspend(10 * MINUTE)
    look(lambda: re.fullmatch(LEFT, btd.client.nodes(path)["Limit through"]["detail"]), lambda: btd.client.nodes(path))
    assert " suspended {" not in record_of(tmp_path, run)
    btd.client.call(path, "org.btd1.Run", "SetBreakpoint", "ub", 0, True)
    assert " suspended {" in record_of(tmp_path, run)
    await_statuses(btd, path, ASLEEP)
    told = btd.btctl("replay", run, "--ascii").stdout
    assert re.search(r"Limit through \(Timeout\) for [0-9.]+m?s, times out in (20min|19min [0-9.]+s)\n", told)

    # Nobody talks to it until it has written down the ends of all.
    suspend(60 * MINUTE)
    await_records(tmp_path, run, " timer #", 2)
    await_records(tmp_path, run, " ended #", 2)
    await_statuses(btd, path, RESUMED)
    told = [line.split("s ", 1)[1] for line in btd.btctl("show", run, "--ascii").stdout.splitlines()]
    assert [line for line in told if "suspended" in line] == [
        f". {run}: the machine was suspended for 10min", f". {run}: the machine was suspended for 50min"]
    ends = [line for line in told if re.match(r"[+x.] Night/(Nap|Limit|Signal|Retry) through:?( |$)", line)]
    assert {line.split(" after ")[0].split(":")[0] for line in ends} == {
        "+ Night/Nap through", "x Night/Limit through", "x Night/Signal through", "x Night/Retry through",
        ". Night/Limit through", ". Night/Retry through"}
    assert btd.btctl("halt", run, "--wait").returncode == 0


def test_an_account_that_does_not_exist(btd):
    """In the key 'access': a warning for each, when the tree is loaded and when it is loaded again."""
    def expected(who):
        return f"'access' names the {who}, but there is no such {who.split()[0]} now"

    btd.tree("shut", {"type": "AlwaysSuccess"},
             access={"start": ["root", "nobody-knows", "@root"], "halt": ["nobody-knows", "@no-group"]})
    btd.start()
    btd.wait_log(expected("user 'nobody-knows'"))
    btd.wait_log(expected("group 'no-group'"))

    btd.tree("shut", {"type": "AlwaysSuccess"}, access={"start": ["root", "somebody-else"]})
    assert btd.client.reload() == []
    btd.wait_log(expected("user 'somebody-else'"))
    assert btd.log().count("'access' names") == 3
