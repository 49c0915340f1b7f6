# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the built btd on a private bus, with trees of the test, and btctl to control it."""

import json
import os
import re
import signal
import subprocess

import client as bus_client
from client import Gio
import trace_loop

BUILD = os.environ.get("BTD_BUILD", "build")
BTD = os.path.join(BUILD, "daemon", "btd")
BTCTL = os.path.join(BUILD, "client", "btctl")
# What the daemon is run by, such as "valgrind -q"; it must end with a status of its own when it has found something.
WRAPPER = os.environ.get("BTD_WRAPPER", "").split()

# So that a report can neither be missed nor be taken for an ordinary failure.
SANITIZER_ENV = {
    "ASAN_OPTIONS": "detect_stack_use_after_return=1:strict_string_checks=1",
    "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
}
SANITIZER_REPORT = re.compile(r"(Address|Leak|Thread|Memory|UndefinedBehavior)Sanitizer|runtime error:")


def check_report(text, what):
    assert not SANITIZER_REPORT.search(text), f"{what} has a sanitizer report:\n{text}"


def preloading(*names, **env):
    """The environment of a btd into which these libraries of tests/integration are preloaded, with the variables that
    they read."""
    paths = [os.path.join(BUILD, "tests", "integration", name + ".so") for name in names]
    return {"LD_PRELOAD": ":".join(paths), "ASAN_OPTIONS": SANITIZER_ENV["ASAN_OPTIONS"] + ":verify_asan_link_order=0",
            **{key: str(value) for key, value in env.items()}}


def tree_text(root, **keys):
    """A tree file's text: root is its JSON value."""
    return json.dumps({"btd": 1, **keys, "root": root}, indent=1)


class Daemon:
    """start() starts it; trees can be written before and after."""

    def __init__(self, bus, directory):
        self.bus = bus
        self.trees = os.path.join(directory, "trees")
        self.log_path = os.path.join(directory, "btd.log")
        self.process = None
        self.client = bus_client.Client(bus.address)
        os.makedirs(self.trees, exist_ok=True)

    def tree(self, name, root, **keys):
        """Writes trees/NAME.json; root is a JSON value, or the whole text of the file. Returns the path."""
        path = os.path.join(self.trees, name + ".json")
        with open(path, "w", encoding="utf-8") as file:
            file.write(root if isinstance(root, str) else tree_text(root, **keys))
        return path

    def start(self, *options, env=None, wait=True, bus=True, within=(), stderr=None):
        """bus False: the options and the environment select the bus; within: a command that executes btd."""
        command = [*within, *trace_loop.command(), *WRAPPER, BTD,
                   *(["--address=" + self.bus.address] if bus else []), "--trees=" + self.trees, *options]
        before = self.client.owner() if wait else None  # the bus may not have noticed yet that it was killed
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=stderr or log,
                                            env={**os.environ, **SANITIZER_ENV, **(env or {})})
        bus_client.wake_at_end(self.process)
        if wait:
            self.wait_ready(before)

    def wait_ready(self, before=None):
        """Waits until it owns its name on the bus, and the previous daemon does not."""
        def check():
            assert self.process.poll() is None, f"btd exited with {self.process.returncode}:\n{self.log()}"
        self.client.wait_owner(other_than=before, check=check)

    def stop(self, number=signal.SIGTERM, timeout=bus_client.PATIENCE):
        """Ends it and returns its exit status."""
        if self.process is None:
            return None
        self.process.send_signal(number)
        return self.wait_exit(timeout)

    def suspend(self):
        """Until it has stopped: it reads nothing before resume()."""
        self.process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self.process.pid, os.WSTOPPED | os.WNOWAIT)

    def resume(self):
        self.process.send_signal(signal.SIGCONT)

    def wait_exit(self, timeout=bus_client.PATIENCE):
        try:
            bus_client.wait(lambda: self.process.poll() is not None, "the end of btd", timeout)
        except TimeoutError:
            self.process.kill()
            self.process.wait()
            raise
        status, self.process = self.process.returncode, None
        return status

    def log(self):
        if not os.path.exists(self.log_path):
            return ""
        with open(self.log_path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def wait_log(self, text, timeout=bus_client.PATIENCE):
        """Waits until the log has the text; each write to the log wakes up the main loop."""
        monitor = Gio.File.new_for_path(self.log_path).monitor_file(Gio.FileMonitorFlags.NONE, None)
        monitor.set_rate_limit(0)
        monitor.connect("changed", lambda *_: None)
        try:
            bus_client.wait(lambda: text in self.log(), f"'{text}' in the log", timeout)
        finally:
            monitor.cancel()

    def btctl(self, *arguments, env=None, timeout=2 * bus_client.PATIENCE):
        """Runs btctl on the same bus, without a terminal: returncode, stdout, stderr."""
        result = bus_client.run([BTCTL, "--address=" + self.bus.address, *arguments],
                                {**SANITIZER_ENV, **(env or {})}, timeout=timeout)
        check_report(result.stderr, "btctl")
        return result

    def close(self):
        """Removes everything, and fails if the daemon did not exit properly."""
        status = self.stop() if self.process else 0
        self.client.close()
        log = self.log()
        check_report(log, "btd")
        assert status == 0, f"btd ended with {status}:\n{log}"
