# SPDX-License-Identifier: LGPL-2.1-or-later
"""System tests: btd installed with `meson install` and enabled, in a container with a real systemd and a real bus.

    def test_something(machine):
        machine.unit("foo.service", "[Service]\\nType=oneshot\\nExecStart=/bin/true\\n")
        machine.load("boot", {"type": "StartUnit", "unit": "foo.service"})
        assert machine.run("btctl", "start", "boot", "--wait").returncode == 0

A container boots once for all files of a pytest process. Before the first test of a file, its prepare(machine), if
there is one, writes what its tests need, also for btd.service, and systemd, the bus, polkit and btd read it; then btd
begins without runs and history, and the journal is empty. After the file all that is undone. A file that says why in
OWN_BOOT gets a container of its own, and its prepare() is called before the boot.

After each test, runs are halted, and files and units that were not there before are removed. Changes of anything else
must be undone by the test: what it leaves behind is an error. After any error the next test gets a new container.
"""

import collections
import contextlib
import fnmatch
import os
import pathlib
import shutil
import subprocess

import pytest

import buses
import client
import container
import daemon
import outputs
import trace_loop

TREES = "/etc/btd/trees/"
SANITIZED = os.environ.get("BTD_SANITIZE", "none") != "none"

# The leak check needs ptrace, which the service is denied, and others may be killed in the middle of; some tests
# preload something.
SANITIZER = "Environment=ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0\n"

# Of users that a test or a file adds.
ACCOUNTS = ["etc/passwd", "etc/shadow", "etc/group", "etc/gshadow", "etc/subuid", "etc/subgid"]
# What changes without a test: in the overlay, and units that the bus starts when they are needed.
OWN_FILES = ["var/log", "var/lib/btd", "var/lib/systemd", "var/lib/polkit-1", "var/cache", "var/tmp", "root",
             "etc/.pwd.lock", *(path + "-" for path in ACCOUNTS)]
OWN_UNITS = ["run-credentials-*.mount", "systemd-tmpfiles-clean.service", "systemd-hostnamed.service",
             "systemd-timedated.service", "polkit.service"]
UNIT_TYPES = {"service", "scope", "socket", "timer", "path", "mount", "automount"}
CHANGING = ["reloading", "activating", "deactivating"]
ACTIVE = ["active", "failed", *CHANGING]

# btd forgets everything: nothing of the file before is in its history, nor in the journal.
FORGET = """
systemctl stop btd.service
rm -rf /run/btd/* /var/lib/btd/*
journalctl --quiet --rotate --vacuum-time=1us
systemctl reset-failed
"""

State = collections.namedtuple("State", "files units accounts")
# Of a file: prepare(machine), OWN_BOOT, for such a file after_boot(machine), and GOES_ON: patterns of the units that
# may go on from test to test.
Module = collections.namedtuple("Module", "prepare own_boot after_boot goes_on",
                                defaults=(lambda machine: None, "", lambda machine: None, []))
NO_MODULE = Module()


class Machine(container.Container):
    """A container with btd."""

    def __init__(self, bus, installed):
        super().__init__(bus, installed)
        self.bus = bus
        self.is_new = True
        self.is_broken = False
        self.is_preparing = False
        self.module = NO_MODULE
        self.state = None  # between its tests
        if SANITIZED:
            for unit in ("btd.service", "btd-run@.service"):
                self.write(f"/etc/systemd/system/{unit}.d/instrumented.conf",
                           "[Service]\n" + SANITIZER)
        self.enable("btd.service")

    def boot(self, timeout=3 * client.PATIENCE):
        super().boot(timeout)
        self.trace()
        self.booted = self.now()

    def trace(self):
        if trace_loop.DIRECTORY:
            subprocess.Popen(trace_loop.attach(self.pid_here(self.property("btd.service", "MainPID"))))

    def tree(self, name, root, mode=0o644, **keys):
        """Writes a tree; `btctl reload` is for the test to say."""
        self.write(TREES + name + ".json", root if isinstance(root, str) else daemon.tree_text(root, **keys), mode)

    def load(self, name, root, **keys):
        self.tree(name, root, **keys)
        try:
            errors = self.client.reload()
        except client.DBusError:  # btd or the bus has just been started again
            self.check("btctl", "reload")
        else:
            assert not errors, "\n".join(errors)

    def btctl(self, *arguments, **options):
        result = self.run("btctl", *arguments, **options)
        daemon.check_report(result.stderr, "btctl")
        if result.returncode >= 0:
            outputs.check(arguments, result.stdout)
        return result

    def log(self):
        return self.journal("-u", "btd.service")

    def daemon_reload(self):
        if not self.is_preparing:
            super().daemon_reload()

    # What tests change.

    def files(self):
        """Those that differ from this system, which is below the overlay: with what tells whether they have changed.
        And units and trees in /run."""
        found = {}
        upper = f"/proc/{self.nspawn.pid}/root{self.top}/memory/upper"
        for top in upper, self.path("/run/systemd/system"), self.path("/run/btd/trees"):
            prefix = "" if top == upper else str(top).split("/root/", 1)[1]
            for directory, names, files in os.walk(top):
                inside = os.path.join(prefix, os.path.relpath(directory, top)).removesuffix(".").removeprefix("./")
                names[:] = [name for name in names if os.path.join(inside, name) not in OWN_FILES]
                files = [name for name in files if os.path.join(inside, name) not in OWN_FILES]
                for name in names + files:
                    path = os.path.join(inside, name)
                    is_new_directory = name in names and not os.path.isdir("/" + path)
                    if name in files or is_new_directory:
                        it = os.lstat(os.path.join(directory, name))
                        found[path] = None if is_new_directory else (it.st_mode, it.st_size, it.st_mtime_ns)
        return found

    def scratch(self):
        """What is in /run and /tmp, of which only the names are of interest."""
        return {f"{top}/{name}" for top in ("/run", "/tmp") for name in os.listdir(self.path(top))
                if not name.startswith("systemd-private-")}

    def units(self):
        """The state of each unit that is active or has failed."""
        rows = self.systemd("ListUnitsFiltered", "as", ACTIVE)
        return {row[0]: row[3] for row in rows if row[0].rpartition(".")[2] in UNIT_TYPES and
                not any(fnmatch.fnmatchcase(row[0], pattern) for pattern in [*OWN_UNITS, *self.module.goes_on])}

    def now(self):
        accounts = {path: self.path(path).read_bytes() for path in ACCOUNTS}
        return State(self.files(), self.units(), accounts)

    def begin(self, module):
        """Before the tests of a file."""
        self.module = module
        if module.own_boot:
            module.prepare(self)
            self.boot()
            module.after_boot(self)
            return
        if not self.leader:
            self.boot()
        before = self.files()
        self.is_preparing = True
        module.prepare(self)
        self.is_preparing = False
        changed = {path for path, it in self.files().items() if path not in before or before[path] != it}
        if changed or not self.is_new:
            self.check("sh", "-c", FORGET)
            self.read_again(changed, restart=False)
            self.check("systemctl", "start", "btd.service")
            self.client.wait_running()
            self.trace()
        self.is_new = False

    def begin_test(self):
        if self.is_broken or self.nspawn.poll() is not None:
            module = self.module
            self.close()
            self.__init__(self.bus, self.installed)
            self.begin(module)
        if self.state is None:  # also what fixtures of the file have done
            self.state = self.now()
            self.names = self.scratch()

    def end_test(self):
        """Removes what the test has left, and fails if that is not all."""
        left = self.clean(self.state)
        if self.scratch() - self.names:
            self.run("rm", "-rf", *self.scratch() - self.names)
            left += [f"file {path}" for path in self.scratch() - self.names]
        if left:
            self.is_broken = True
            pytest.fail("the test has left this behind:\n" + "\n".join(left), pytrace=False)

    def end(self):
        """After the tests of a file."""
        self.state = None
        self.module = NO_MODULE
        if SANITIZED:
            daemon.check_report(self.log(), "btd")
        left = self.clean(self.booted, restart=False)
        if left:
            self.is_broken = True
            pytest.fail("the tests of this file have left this behind; with OWN_BOOT it has its own container:\n" +
                        "\n".join(left), pytrace=False)

    def clean(self, state, restart=True):
        """Makes it what it was, and returns what it cannot undo."""
        if self.client.connection.is_closed():
            self.reconnect()
        try:
            self.halt_runs()
        except client.DBusError as error:
            return [f"btd does not answer: {error.message}"]
        # logind is started again by itself, if the bus was.
        client.wait(lambda: not any(it in CHANGING and unit in state.units for unit, it in self.units().items()),
                    "the units of the system")
        for _ in range(3):  # a unit that is stopped may start others
            units, changed = self.units(), self.changed_files(state)
            added = [unit for unit in units if unit not in state.units]
            if not added and not changed:
                break
            if added:
                self.run("systemctl", "stop", *added)
                self.run("systemctl", "reset-failed", *added)
                changed = self.changed_files(state)  # a unit may write more of them when it stops
            for path in sorted(changed, reverse=True):  # what is in a directory before the directory
                self.restore(path)
            self.read_again(set(changed), restart)
        for path, content in state.accounts.items():
            if self.path(path).read_bytes() != content:
                self.path(path).write_bytes(content)
                os.utime(self.path(path), ns=(state.files[path][2],) * 2)
        files = self.files()
        return [f"unit {unit}: {units[unit]}" for unit in added] + \
            [f"unit {unit}: {units.get(unit, 'inactive')}, which was {was}" for unit, was in state.units.items()
             if units.get(unit) != was and was not in CHANGING] + \
            [f"file /{path}" for path in changed] + \
            [f"file /{path}, which was changed or removed" for path, was in state.files.items()
             if files.get(path) != was]

    def changed_files(self, state):
        return [path for path, it in self.files().items()
                if path not in state.files and not self.is_of_system(path, it)]

    def halt_runs(self):
        for run in self.client.runs():
            if not run.finished:
                self.run("btctl", "halt", "--wait", "--", run.id)  # some tests call it "-1.1"

    def is_of_system(self, path, it):
        """Whether the file is the same below the overlay."""
        try:
            below = os.lstat("/" + path)
        except OSError:
            return False
        return it is None or (below.st_mode, below.st_size, below.st_mtime_ns) == it

    def restore(self, path):
        """Removes a file, or makes it what it is below the overlay."""
        here, below = self.path(path), pathlib.Path("/", path)
        if here.is_dir() and not here.is_symlink():
            here.rmdir()
        elif here.is_symlink() or here.exists():
            here.unlink()
        if below.is_symlink() or below.exists():
            shutil.copy2(below, here, follow_symlinks=False)
            os.chown(here, below.lstat().st_uid, below.lstat().st_gid, follow_symlinks=False)

    def read_again(self, paths, restart=True):
        """Makes systemd, the bus, polkit and btd read what was written or removed there."""
        of_units = {path.split("/systemd/system/", 1)[1] for path in paths if "/systemd/system/" in path}
        if of_units and self.is_loaded({path.split("/")[0] for path in of_units}):
            self.daemon_reload()
        if any("dbus-1/" in path for path in paths):
            bus = "org.freedesktop.DBus"
            self.client.call_any(bus, "/org/freedesktop/DBus", bus, "ReloadConfig")
        if any("polkit-1/" in path for path in paths):
            self.run("systemctl", "reset-failed", "polkit.service")  # if it is loaded, it limits how often it starts
            self.check("systemctl", "restart", "polkit.service")
        if restart and any(path.startswith("btd.service") for path in of_units):
            self.check("systemctl", "restart", "btd.service")
        elif restart and any("btd/trees" in path for path in paths):
            self.client.reload()

    def is_loaded(self, names):
        """Whether systemd knows any of these: a unit, or the directory of its drop-ins or of links to others."""
        if any(name.endswith((".wants", ".requires")) for name in names):
            return True
        patterns = [name.removesuffix(".d").replace("@.", "@*.") for name in names]
        return bool(self.systemd("ListUnitsByPatterns", "asas", [], patterns))


@pytest.fixture(scope="session")
def installed(tmp_path_factory):
    """A folder with what `meson install` lays over a system."""
    directory = tmp_path_factory.mktemp("installed")
    subprocess.run(["meson", "install", "-C", daemon.BUILD, "--no-rebuild", "--quiet", "--destdir", directory],
                   check=True, stdout=subprocess.DEVNULL)
    return directory


@contextlib.contextmanager
def can_run():
    """Where containers cannot run the test is skipped, but not in CI."""
    try:
        yield
    except container.CannotRun as reason:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(str(reason))


def show_failure(request, machine):
    """The end of the whole journal, since what went wrong may be another unit's. Returns whether the test has failed."""
    reports = [getattr(request.node, "report_" + when, None) for when in ("setup", "call")]
    failed = any(report is not None and report.failed for report in reports)
    if failed and machine.leader:
        print("--- journal\n" + machine.check("journalctl", "--no-pager", "-o", "short-monotonic", "-n", "150"))
    return failed


def end_machine(machine):
    log = machine.log() if machine.leader else ""
    machine.close()
    daemon.check_report(log, "btd")


@pytest.fixture(scope="session")
def machines():
    """The container of each bus, for all files that do not need one of their own."""
    them = {}
    yield them
    for machine in them.values():
        end_machine(machine)


@pytest.fixture(scope="module")
def shared_machine(request, installed, machines):
    """The container of the file; see above."""
    own = {name: getattr(request.module, name if callable(it) else name.upper(), it) for name, it in
           Module()._asdict().items()}
    module = Module(**own)
    kind = request.param
    if not module.own_boot and kind in machines and machines[kind].is_broken:
        machines.pop(kind).close()
    with can_run():
        machine = (None if module.own_boot else machines.pop(kind, None)) or Machine(kind, installed)
        try:
            machine.begin(module)
        except BaseException:
            machine.close()
            raise
    yield machine
    if module.own_boot:
        end_machine(machine)
        return
    machines[kind] = machine
    if not machine.is_broken:
        machine.end()


@pytest.fixture
def machine(request, shared_machine):
    shared_machine.begin_test()
    yield shared_machine
    if show_failure(request, shared_machine):
        shared_machine.is_broken = True
    else:
        shared_machine.end_test()


@pytest.fixture
def boot(request, installed):
    """For tests that need a boot of their own: boot(prepare) -> machine."""
    machines = []

    def boot_machine(prepare=lambda machine: None):
        with can_run():
            machines.append(Machine(request.param, installed))
            prepare(machines[-1])
            machines[-1].boot()
        return machines[-1]
    yield boot_machine
    for machine in machines:
        show_failure(request, machine)
        end_machine(machine)
