# SPDX-License-Identifier: LGPL-2.1-or-later
"""System tests: btd installed with `meson install` and enabled, in a container with a real systemd and a real bus.

    def test_something(machine):
        machine.tree("boot", {"type": "StartUnit", "unit": "foo.service"})
        machine.check("btctl", "reload")
        assert machine.run("btctl", "start", "boot", "--wait").returncode == 0

A container is shared by the tests of a file, since it takes longer to boot one than to run a test.
"""

import os
import subprocess

import pytest

import buses
import container
import daemon
import trace_loop

TREES = "/etc/btd/trees/"
SANITIZED = os.environ.get("BTD_SANITIZE", "none") != "none"
COVERAGE = os.environ.get("BTD_COVERAGE") == "true"

# The leak check needs ptrace, which the service is denied, and others may be killed in the middle of; some tests
# preload something.
SANITIZER = "Environment=ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0\n"
# What has run is counted in files beside the objects, also by btctl as somebody else.
COUNTERS = "BindPaths={0}\nReadWritePaths={0}\n".format(os.path.abspath(daemon.BUILD))


class Machine(container.Container):
    """A container with btd."""

    def __init__(self, bus, installed):
        super().__init__(bus, installed, [os.path.abspath(daemon.BUILD)] if COVERAGE else [])
        self.written = []
        if SANITIZED or COVERAGE:
            for unit in ("btd.service", "btd-run@.service"):
                self.write(f"/etc/systemd/system/{unit}.d/instrumented.conf",
                           "[Service]\n" + (SANITIZER if SANITIZED else "") + (COUNTERS if COVERAGE else ""))
        self.enable("btd.service")

    def tree(self, name, root, mode=0o644, **keys):
        """Writes a tree; `btctl reload` is for the test to say."""
        self.write(TREES + name + ".json", root if isinstance(root, str) else daemon.tree_text(root, **keys), mode)
        self.written.append(TREES + name + ".json")

    def load(self, name, root, **keys):
        self.tree(name, root, **keys)
        self.check("btctl", "reload")

    def btctl(self, *arguments, **options):
        result = self.run("btctl", *arguments, **options)
        daemon.check_report(result.stderr, "btctl")
        return result

    def log(self):
        return self.journal("-u", "btd.service")


@pytest.fixture(scope="session")
def installed(tmp_path_factory):
    """A folder with what `meson install` lays over a system."""
    directory = tmp_path_factory.mktemp("installed")
    subprocess.run(["meson", "install", "-C", daemon.BUILD, "--no-rebuild", "--quiet", "--destdir", directory],
                   check=True, stdout=subprocess.DEVNULL)
    return directory


def make_machine(kind, installed, prepare=lambda machine: None):
    """Boots one; prepare(machine) writes what must be there at boot. Where containers cannot run the test is skipped,
    but not in CI."""
    machine = None
    try:
        machine = Machine(kind, installed)
        prepare(machine)
        machine.boot()
        if trace_loop.DIRECTORY:
            subprocess.Popen(trace_loop.attach(machine.pid_here(machine.property("btd.service", "MainPID"))))
    except container.CannotRun as reason:
        if machine:
            machine.close()
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(str(reason))
    return machine


def show_failure(request, machine):
    """The whole journal, since what went wrong may be another unit's."""
    report = getattr(request.node, "report_call", None)
    if report is not None and report.failed and machine.leader:
        print("--- journal\n" + machine.check("journalctl", "--no-pager", "-o", "short-monotonic", "-n", "300"))


def end_machine(machine):
    if COVERAGE and machine.leader:  # what is killed has not counted
        machine.check("systemctl", "stop", "btd.service")
    log = machine.log() if machine.leader else ""
    machine.close()
    daemon.check_report(log, "btd")


@pytest.fixture(scope="module")
def shared_machine(request, installed):
    it = make_machine(request.param, installed, getattr(request.module, "prepare", lambda machine: None))
    yield it
    end_machine(it)


@pytest.fixture
def machine(request, shared_machine):
    """The container of the file. A module's prepare(machine), if there is one, is called before it boots."""
    shared_machine.written = []
    yield shared_machine
    show_failure(request, shared_machine)
    for path in shared_machine.written:  # the next test shall not stumble over them
        shared_machine.path(path).unlink(missing_ok=True)
    shared_machine.written = []


@pytest.fixture
def boot(request, installed):
    """For tests that need a boot of their own: boot(prepare) -> machine."""
    machines = []

    def boot_machine(prepare=lambda machine: None):
        machines.append(make_machine(request.param, installed, prepare))
        return machines[-1]
    yield boot_machine
    for machine in machines:
        show_failure(request, machine)
        end_machine(machine)
