# SPDX-License-Identifier: LGPL-2.1-or-later
"""Boots systemd in a container over an overlay of this system, in a quarter of a second, without an image. It leaves
nothing on the machine: all mounts are in a mount namespace that ends with the container."""

import contextlib
import os
import pathlib
import pwd
import re
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import termios
import time

import client

BUS_SOCKET = "run/dbus/system_bus_socket"
CGROUPS = ["/sys/fs/cgroup/unified", "/sys/fs/cgroup/systemd", "/sys/fs/cgroup"]
SYSTEMD = "org.freedesktop.systemd1"

# What is of no use in a container and slow to start.
MASKED = ["systemd-firstboot", "systemd-hwdb-update", "ldconfig", "systemd-journal-catalog-update",
          "systemd-update-utmp", "console-getty"]
# They make units of the fstab, the kernel command line and init scripts of this system, at each daemon-reload: without
# them it takes a third of the time.
GENERATORS = pathlib.Path("/usr/lib/systemd/system-generators")

# $1: a directory of ours, $2: what to lay over the system, $3...: cgroups of ours.
BOOT = """
top=$1 installed=$2
shift 2
for cgroup; do echo $$ >$cgroup/cgroup.procs; done
mkdir $top/memory
mount -t tmpfs -o mode=755 tmpfs $top/memory
mkdir $top/memory/upper $top/memory/work $top/memory/root
cp -dR $installed/. $top/files/. $top/memory/upper
mount -t overlay -o lowerdir=/,upperdir=$top/memory/upper,workdir=$top/memory/work overlay $top/memory/root
rm -rf $top/memory/root/etc/systemd/system/*.wants $top/memory/root/var/log/journal
[ ! -e /dev/autofs ] || autofs=--bind=/dev/autofs
while read unit; do systemctl --quiet --root=$top/memory/root enable $unit; done <$top/enabled
exec systemd-nspawn --quiet --directory=$top/memory/root --machine=$(basename $top) --boot --register=no --keep-unit \
    --bind=$top/kept:/kept $autofs $NSPAWN_OPTIONS --console=pipe --settings=no --notify-ready=yes --kill-signal=SIGKILL \
    systemd.unit=multi-user.target
"""


class CannotRun(Exception):
    """Containers cannot run here; the text says why."""


class Container:
    """write() files into it, boot() it, run() commands in it, close() it."""

    def __init__(self, bus, installed):
        """bus: "dbus-daemon" or "dbus-broker"; installed: a tree of files to lay over the system."""
        if os.geteuid() != 0:
            raise CannotRun("containers need root")
        if not shutil.which("systemd-nspawn"):
            raise CannotRun("systemd-nspawn is not installed (Debian: systemd-container)")
        self.installed = installed
        self.shares_network = False  # true: its ports are those of this system
        self.leader = None
        self.nspawn = None
        self.client = None
        self.cgroups = []
        self.top = pathlib.Path(tempfile.gettempdir(), "btd-container-" + os.urandom(4).hex())  # a valid machine name
        self.top.mkdir(mode=0o755)
        (self.top / "files").mkdir()
        (self.top / "kept").mkdir()  # /kept in the container; outlives it
        (self.top / "enabled").touch()
        self._prepare(bus)

    def _prepare(self, bus):
        self.write("/etc/machine-id", os.urandom(16).hex() + "\n")
        self.write("/etc/fstab", "")
        self.write("/etc/systemd/system.conf.d/test.conf", "[Manager]\nDefaultTimeoutStopSec=5s\n")
        self.write("/etc/systemd/journald.conf.d/test.conf", "[Journal]\nStorage=volatile\nRateLimitBurst=0\n")
        for unit in MASKED:
            self.link(f"/etc/systemd/system/{unit}.service", "/dev/null")
        for generator in GENERATORS.iterdir():
            self.link(f"/etc/systemd/system-generators/{generator.name}", "/dev/null")
        service = "dbus-broker" if bus == "dbus-broker" else "dbus"
        self.link("/etc/systemd/system/dbus.service", f"/usr/lib/systemd/system/{service}.service")

    def path(self, path):
        """The path on this system of a path in the container, before and after the boot."""
        root = f"/proc/{self.leader}/root" if self.leader else self.top / "files"
        return pathlib.Path(root) / path.lstrip("/")

    def write(self, path, text, mode=0o644):
        target = self.path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        target.chmod(mode)

    def link(self, path, target):
        link = self.path(path)
        link.parent.mkdir(parents=True, exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(target)

    def read(self, path):
        return self.path(path).read_text(encoding="utf-8")

    def unit(self, name, text):
        """Writes a unit file; after the boot, reloads systemd."""
        self.write("/etc/systemd/system/" + name, text)
        if self.leader:
            self.daemon_reload()

    def enable(self, unit):
        """Enables a unit before the boot, as `systemctl enable` does."""
        with open(self.top / "enabled", "a", encoding="utf-8") as file:
            file.write(unit + "\n")

    def boot(self, timeout=3 * client.PATIENCE):
        """Returns when every unit of the boot has been started."""
        self._make_cgroups()
        options = [] if self.shares_network else ["--private-network"]
        notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        notify.bind(str(self.top / "notify"))
        env = dict(os.environ, NOTIFY_SOCKET=str(self.top / "notify"), SYSTEMD_NSPAWN_UNIFIED_HIERARCHY="1",
                   NSPAWN_OPTIONS=" ".join(options))
        with open(self.top / "console", "wb") as console:
            self.nspawn = subprocess.Popen(
                ["unshare", "--mount", "sh", "-e", "-c", BOOT, "boot", self.top, self.installed, *self.cgroups],
                env=env, stdin=subprocess.DEVNULL, stdout=console, stderr=console)
        with notify:
            self._wait_booted(notify, time.monotonic() + timeout)
        self.reconnect()

    def reconnect(self):
        """A new connection to the container's system bus."""
        if self.client:
            self.client.close()
        self.client = client.Client("unix:path=" + str(self.path(BUS_SOCKET)))

    def power_off(self, timeout=3 * client.PATIENCE):
        """Shuts it down properly; the files of /kept are in self.top / "kept"."""
        self.check("systemctl", "poweroff")
        self.client.close()
        self.client = self.leader = None
        self.nspawn.wait(timeout)

    def _make_cgroups(self):
        """A cgroup for this container in each hierarchy that systemd uses, because containers run in parallel."""
        for hierarchy in CGROUPS:
            if os.path.exists(hierarchy + "/cgroup.procs") and os.access(hierarchy, os.W_OK):
                cgroup = os.path.join(hierarchy, self.top.name)
                os.mkdir(cgroup)
                self.cgroups.append(cgroup)

    def _wait_booted(self, notify, deadline):
        pidfd = os.pidfd_open(self.nspawn.pid)
        try:
            while True:
                readable, _, _ = select.select([notify, pidfd], [], [], max(0, deadline - time.monotonic()))
                if notify not in readable:
                    raise CannotRun("the container did not boot:\n" + (self.top / "console").read_text())
                for line in notify.recv(4096).decode().splitlines():
                    if line.startswith("X_NSPAWN_LEADER_PID="):
                        self.leader = int(line.split("=")[1])
                    if line == "READY=1":
                        return
        finally:
            os.close(pidfd)

    def command(self, *argv, user=None):
        """The command on this system that runs a command in the container."""
        command = ["nsenter", "--target", str(self.leader), "--all", "--"]
        if user:
            command += ["setpriv", "--reuid", user, "--regid", str(pwd.getpwnam(user).pw_gid), "--init-groups", "--"]
        return command + [str(argument) for argument in argv]

    def run(self, *argv, user=None, stdin=None, timeout=2 * client.PATIENCE):
        """Runs a command in the container: returncode, stdout, stderr."""
        return client.run(self.command(*argv, user=user), {"LC_ALL": "C.UTF-8"}, stdin, timeout)

    @contextlib.contextmanager
    def repeated(self, *commands, pause="0.1"):
        """Repeats the commands, with a pause for systemd after each, until the body ends."""
        self.write("/run/repeating", "")
        script = f"while [ -e /run/repeating ]; do {' '.join(f'{command}; sleep {pause};' for command in commands)} done"
        with subprocess.Popen(self.command("sh", "-c", script), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as loop:
            try:
                yield
            finally:
                self.path("/run/repeating").unlink()
                loop.wait(client.PATIENCE)

    def check(self, *argv, **options):
        """The output of a command, which must succeed."""
        result = self.run(*argv, **options)
        assert result.returncode == 0, f"{' '.join(map(str, argv))} ended with {result.returncode}:\n" \
                                       f"{result.stdout}{result.stderr}"
        return result.stdout

    def systemd(self, method, signature="", *args):
        """Calls systemd's manager on the bus, which is cheaper than to run systemctl."""
        return self.client.call_any(SYSTEMD, "/org/freedesktop/systemd1", SYSTEMD + ".Manager", method, signature, *args)

    def daemon_reload(self):
        try:
            self.systemd("Reload")
        except client.DBusError:  # the bus or systemd has just been started again
            self.check("systemctl", "daemon-reload")

    def property(self, unit, name):
        return self.check("systemctl", "show", "--value", "-p", name, unit).strip()

    def pid_here(self, pid):
        """The PID on this system of a process in the container."""
        for status in pathlib.Path("/proc").glob("[0-9]*/status"):
            with contextlib.suppress(OSError):
                own = os.readlink(status.parent / "ns/pid") == os.readlink(f"/proc/{self.leader}/ns/pid")
                if own and re.search(rf"^NSpid:.*\t{pid}$", status.read_text(), re.M):
                    return int(status.parent.name)
        raise ProcessLookupError(f"there is no process {pid} in the container")

    def asks_for_a_password(self):
        """Whether something reads a line from a terminal that does not show it. What is typed before that is lost."""
        for path in self.path("/dev/pts").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                terminal = os.open(path, os.O_RDONLY | os.O_NOCTTY)
                try:
                    mode = termios.tcgetattr(terminal)[3]
                finally:
                    os.close(terminal)
                if mode & termios.ICANON and not mode & termios.ECHO:
                    return True
        return False

    def wait_for_password(self):
        client.wait(self.asks_for_a_password, "the question for a password")

    def journal(self, *matches):
        self.check("journalctl", "--sync")
        return self.check("journalctl", "--no-pager", "-o", "cat", *matches)

    def close(self):
        if self.client:
            self.client.close()
        if self.leader:
            os.kill(self.leader, signal.SIGKILL)
        if self.nspawn:
            if not self.leader:
                self.nspawn.kill()
            self.nspawn.wait()
        for cgroup in self.cgroups:
            for directory, _, _ in os.walk(cgroup, topdown=False):
                os.rmdir(directory)
        shutil.rmtree(self.top)
