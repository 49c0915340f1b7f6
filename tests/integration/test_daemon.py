# SPDX-License-Identifier: LGPL-2.1-or-later
"""The daemon as a process: options, signals, what it tells the service manager, and that it rests."""

import os
import select
import signal
import socket
import subprocess
import time

import pytest
from gi.repository import Gio, GLib

import daemon
from btctl_runs import begin, end
from client import Client, DBusError, wait

MANAGER = "org.btd1.Manager"
NAP = {"type": "Sleep", "name": "Nap", "duration": "1h"}
# Cannot be ended in time; says so on the pipe {ready}.
STUBBORN = {"type": "Spawn", "as": "child", "name": "Stubborn", "kill_timeout": "1h", "argv": [
    "/bin/sh", "-c", "trap '' TERM; echo > {ready}; while :; do sleep 0.05; done"]}


class Notifications:
    """The service manager's end of sd_notify."""

    def __init__(self, directory):
        self.path = str(directory / "notify")
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
        self.socket.bind(self.path)
        self.lines = []
        self.source = GLib.unix_fd_add_full(GLib.PRIORITY_DEFAULT, self.socket.fileno(), GLib.IOCondition.IN,
                                            self._on_message)

    def _on_message(self, fd, condition):
        self.lines += self.socket.recv(65536).decode().splitlines()
        return GLib.SOURCE_CONTINUE

    def wait(self, line):
        """Until it has come; what came before it is forgotten."""
        wait(lambda: line in self.lines, f"'{line}'; there is {self.lines}")
        del self.lines[:self.lines.index(line) + 1]

    def close(self):
        GLib.source_remove(self.source)
        self.socket.close()


@pytest.fixture
def notifications(tmp_path):
    it = Notifications(tmp_path)
    yield it
    it.close()


def run_btd(*options, without=(), env=None):
    kept = {key: value for key, value in os.environ.items() if key not in without}
    return subprocess.run([daemon.BTD, *options], env={**kept, **daemon.SANITIZER_ENV, **(env or {})},
                          capture_output=True, text=True, timeout=20, check=False)


@pytest.mark.parametrize("options, text", [
    (["--nonsense"], "Unknown option --nonsense"),
    (["start", "boot"], "'start' is not an option, and there are no arguments; btctl(1) is the one with the commands"),
    (["--user", "--system"], "--system and --user exclude each other"),
    (["--log-level=loud"], "'loud' is not a log level; give error, warning, notice, info or debug"),
    (["--stop-timeout=5"], "'5' is not a time span; give one like 30s or 1min"),
    (["--limit=runs=9", "--limit=tree=5"], "--limit=: there is no limit 'tree'; did you mean 'trees'?"),
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
    assert run_btd("--version").stdout.startswith("btd ")


def test_no_session_bus():
    result = run_btd("--user", without=["DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR"])
    assert result.returncode == 1
    assert result.stderr == "btd: error: there is no session bus here: set DBUS_SESSION_BUS_ADDRESS or " \
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
    btd.client.manager("Reload")
    notifications.wait("RELOADING=1")
    told = notifications.lines.pop(0)
    assert told.startswith("MONOTONIC_USEC=") and int(told.split("=")[1]) / 1e6 >= before - 1
    notifications.wait("READY=1")
    notifications.wait("STATUS=2 trees, 1 run")

    btd.process.terminate()
    notifications.wait("STOPPING=1")
    assert btd.wait_exit() == 0


def start_as_service_of_a_user(btd, notifications, tmp_path, *options):
    btd.start("--user", *options, f"--runtime={tmp_path}/runtime", f"--state={tmp_path}/state", bus=False,
              env={"NOTIFY_SOCKET": notifications.path, "DBUS_SESSION_BUS_ADDRESS": btd.bus.address})


def begin_call(btd, replies, method, signature="()", *args):
    """Does not wait for the reply, which comes into the list: its values, or the text of an error."""
    def on_reply(connection, result):
        try:
            replies.append(connection.call_finish(result).unpack())
        except GLib.Error as error:
            replies.append(error.message)
    btd.client.connection.call("org.btd1", "/org/btd1", MANAGER, method, GLib.Variant(signature, args), None,
                               Gio.DBusCallFlags.NONE, -1, None, on_reply)


def bring_systemd(btd, notifications):
    """To the bus, or whoever has its name; btd waits for that."""
    systemd = Client(btd.bus.address)
    systemd.call_any("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "RequestName", "su",
                     "org.freedesktop.systemd1", 4)
    notifications.wait("READY=1")
    systemd.close()


@pytest.mark.parametrize("directory", ["run", "run/runs"])
def test_runs_are_kept_only_where_nobody_else_could_put_them(btd, tmp_path, directory):
    """A journal has a tree in it."""
    (tmp_path / "run" / "runs").mkdir(parents=True)
    os.chmod(tmp_path / directory, 0o777)
    btd.start(f"--runtime={tmp_path}/run", wait=False)
    assert btd.wait_exit() == 1
    where = "it" if directory == "run/runs" else f"'{tmp_path}/run', on the way to it,"
    assert f"runs cannot be kept in {tmp_path}/run/runs: refused: {where} can be written by others than root (mode 0777); " \
        f"fix with: chmod go-w '{tmp_path}/{directory}'" in btd.log()


def test_trees_start_when_systemd_is_on_the_bus(btd, notifications, tmp_path):
    """It has started btd, but comes to the bus of a user a moment after that. What others want waits, too."""
    replies, lists = [], []
    btd.tree("nap", NAP, autostart=True)
    start_as_service_of_a_user(btd, notifications, tmp_path)
    begin_call(btd, replies, "StartTree", "(ssa{ss})", "nap", "second", {})
    begin_call(btd, lists, "ListRuns")
    assert btd.client.get("/org/btd1", MANAGER, "Status") == "starting"
    assert "READY=1" not in notifications.lines and not replies and not lists
    bring_systemd(btd, notifications)
    wait(lambda: replies and lists, "the second run")
    assert [(run[0], run[3]) for run in lists[0][0]] == [("nap.1", "")]
    assert [(run[0], run[3]) for run in btd.client.manager("ListRuns")] == [("nap.1", ""), ("nap.2", "second")]
    assert btd.client.get("/org/btd1", MANAGER, "Status") == "running"
    assert btd.stop() == 0


def test_runs_are_asked_for_before_they_are_known(btd, notifications, tmp_path):
    """Nobody is told that nothing runs while the runs of the daemon before are still to be taken up."""
    kept = [f"--runtime={tmp_path}/runtime", f"--state={tmp_path}/state"]
    btd.tree("nap", NAP)
    btd.start(*kept)
    btd.client.start("nap")
    journal = (tmp_path / "runtime/runs/nap.1.journal").read_bytes()
    btd.stop(signal.SIGKILL)

    start_as_service_of_a_user(btd, notifications, tmp_path, "--limit=calls-of-a-caller=3")
    status = begin(btd, "status", "--no-color")
    replies = {method: [] for method in ["ListHistory", "GetJournal", "GetRun"]}
    begin_call(btd, replies["ListHistory"], "ListHistory", "(s)", "")
    begin_call(btd, replies["GetJournal"], "GetJournal", "(st)", "nap.1", 0)
    begin_call(btd, replies["GetRun"], "GetRun", "(s)", "nap.2")
    with pytest.raises(DBusError, match="3 calls of yours are waiting to be answered; wait for one of them"):
        btd.client.manager("ListRuns")
    assert btd.client.get("/org/btd1", MANAGER, "Status") == "starting" and not any(replies.values())
    bring_systemd(btd, notifications)

    wait(lambda: all(replies.values()), "the answers")
    assert replies["ListHistory"] == [([],)]
    assert bytes(replies["GetJournal"][0][0]).startswith(journal)
    assert replies["GetRun"] == ["GDBus.Error:org.btd1.Error.NoSuchRun: no run 'nap.2'; did you mean 'nap.1'?"]
    code, text = end(status)
    assert code == 0 and "user mode: running" in text and "Runs: 1 running, 0 finished" in text, text
    assert btd.stop() == 0


def test_systemd_that_does_not_come_to_the_bus(btd, notifications, tmp_path):
    start_as_service_of_a_user(btd, notifications, tmp_path)
    notifications.wait("READY=1")
    assert "warning: systemd has started this, but is not on the bus 'session': trees cannot use units there yet\n" \
        in btd.log()
    assert btd.stop() == 0


def test_a_service_manager_that_does_not_listen(btd, tmp_path):
    """Its queue is full before long; nobody has to wait for that."""
    deaf = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    deaf.bind(str(tmp_path / "deaf"))
    with deaf:
        btd.tree("short", {"type": "Sleep", "duration": "150ms"})  # longer than a status line waits
        btd.start(env={"NOTIFY_SOCKET": str(tmp_path / "deaf")})
        deaf.settimeout(20)
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
        assert select.select([pipe], [], [], 20)[0]


def test_a_second_signal_ends_the_wait(btd, tmp_path):
    start_stubborn(btd, tmp_path)
    btd.client.subscribe("org.freedesktop.DBus.Properties", path="/org/btd1")
    btd.process.terminate()
    btd.client.wait_signal("PropertiesChanged", lambda s: s.args[1].get("Status") == "stopping")
    assert btd.stop() == 1
    assert "asked to stop once more, not waiting any longer" in btd.log()
    assert "stubborn.1: has not ended in time, given up" in btd.log()


def test_the_stop_timeout_ends_the_wait(btd, tmp_path):
    start_stubborn(btd, tmp_path, "--stop-timeout=100ms")
    assert btd.stop() == 1
    assert "stubborn.1: has not ended in time, given up" in btd.log()


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
    assert [row[0] for row in btd.client.manager("ListRuns")] == ["boot.1"]
    btd.tree("late", NAP, autostart=True)
    assert btd.client.manager("Reload") == []
    assert [row[0] for row in btd.client.manager("ListRuns")] == ["boot.1"]


def test_a_second_daemon_starts_nothing(btd):
    btd.tree("boot", NAP, autostart=True)
    btd.start()
    second = run_btd("--address=" + btd.bus.address, "--trees=" + btd.trees)
    assert second.returncode == 1
    assert f"cannot have the name org.btd1 on bus '{btd.bus.address}': another btd is running there; " \
        "stop that first" in second.stderr
    assert "boot.1" not in second.stderr


def context_switches(pid):
    total = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/status", encoding="ascii") as status:
            total += sum(int(line.split()[1]) for line in status if "ctxt_switches" in line)
    return total


def is_asleep(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        return "State:\tS (sleeping)\n" in status


def test_it_rests_while_it_waits(btd, notifications):
    """No wake-ups, with trees loaded and runs waiting. Here the time has to pass."""
    for number in range(20):
        btd.tree(f"nap{number}", NAP)
    btd.start(env={"NOTIFY_SOCKET": notifications.path})
    for number in range(5):
        btd.client.start(f"nap{number}")
    notifications.wait("STATUS=20 trees, 5 runs")  # the last that there is to do
    while not is_asleep(btd.process.pid):
        pass
    before = context_switches(btd.process.pid)
    time.sleep(2)
    assert context_switches(btd.process.pid) == before


def test_who_halted_is_told(btd):
    btd.tree("nap", NAP)
    btd.start()
    run, path = btd.client.start("nap")
    btd.client.manager("HaltRun", "s", run)
    status, cause = btd.client.finish(path)
    assert status == "halted"
    assert cause.startswith(f"halted by UID {os.geteuid()}")


def test_wrong_types_have_an_error_of_our_own(btd):
    btd.start()
    with pytest.raises(DBusError) as error:
        btd.client.manager("StartTree", "s", "nap")
    assert error.value.name == "org.btd1.Error.InvalidArgument"
    assert error.value.message == "StartTree takes arguments of the types 'ssa{ss}', not 's'"
