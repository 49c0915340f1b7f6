# SPDX-License-Identifier: LGPL-2.1-or-later
"""Starts a private dbus-daemon or dbus-broker for a test, and stops it at the end."""

import os
import shutil
import socket
import subprocess
import tempfile
import threading

KINDS = ["dbus-daemon", "dbus-broker"]
# The one for tests to which both are the same. BTD_BUS=dbus-broker runs them on the other.
USUAL = os.environ.get("BTD_BUS", KINDS[0])

CONFIG = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:path={socket}</listen>
  <policy context="default">
    <allow send_destination="*"/>
    <allow receive_sender="*"/>
    <allow own="*"/>
    {policy}
  </policy>
  {limits}
</busconfig>
"""

# What the system bus of a dbus-daemon allows one connection.
SYSTEM_LIMITS = '<limit name="max_replies_per_connection">128</limit>'

JOURNAL = "/run/systemd/journal/socket"


class CannotRun(Exception):
    """This kind of bus cannot run on this machine; the text says why."""


def _drain(journal):
    while journal.recv(65536):
        pass


class Bus:
    """The constructor starts the bus; stop() and start() simulate a bus that is lost and returns."""

    def __init__(self, kind, limits="", policy="", for_all=False):
        """for_all: other users may connect to it, too."""
        self.kind = kind
        self.for_all = for_all
        self.directory = tempfile.mkdtemp(prefix="btd-bus-")
        self.socket = os.path.join(self.directory, "bus")
        self.address = "unix:path=" + self.socket
        self.config = os.path.join(self.directory, "bus.conf")
        self.process = None
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(CONFIG.format(socket=self.socket, policy=policy + ('<allow user="*"/>' if for_all else ""),
                                     limits=limits if kind == "dbus-daemon" else ""))
        try:
            self.start()
        except CannotRun:
            self.close()
            raise

    def start(self):
        if not shutil.which("dbus-daemon" if self.kind == "dbus-daemon" else "dbus-broker-launch"):
            raise CannotRun(self.kind + " is not installed")
        if self.kind == "dbus-daemon":
            self._start_daemon()
        else:
            self._start_broker()
        if self.for_all:
            os.chmod(self.directory, 0o755)
            os.chmod(self.socket, 0o666)

    def _start_daemon(self):
        reader, writer = os.pipe()
        command = ["dbus-daemon", "--nofork", "--nopidfile", "--nosyslog", "--config-file=" + self.config]
        self.process = subprocess.Popen(command + [f"--print-address={writer}"], pass_fds=[writer])
        os.close(writer)
        with os.fdopen(reader) as pipe:
            if not pipe.readline():  # it listens once it has said where
                raise CannotRun("dbus-daemon did not start")

    def _start_broker(self):
        """A dbus-broker needs what systemd passes to it: a listening socket as file descriptor 3, and a journal."""
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(self.socket)
        listener.listen(128)
        script = f"exec 3<&{listener.fileno()}; export LISTEN_FDS=1 LISTEN_PID=$$; " \
                 f"exec dbus-broker-launch --scope user --config-file {self.config}"
        command = ["bash", "-c", script]
        if not os.path.exists(JOURNAL):
            if os.geteuid() != 0:
                raise CannotRun("dbus-broker needs a journal, or root to give it one of its own")
            command = ["unshare", "--mount", "bash", "-ec", self._journal() + script]
        env = dict(os.environ, DBUS_SESSION_BUS_ADDRESS=self.address)
        self.process = subprocess.Popen(command, pass_fds=[listener.fileno()], env=env)
        listener.close()

    def _journal(self):
        """Puts a socket in the place of the journal's, in a mount namespace of its own."""
        path = os.path.join(self.directory, "journal")
        journal = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        journal.bind(path)
        threading.Thread(target=_drain, args=[journal], daemon=True).start()
        return "mount -t tmpfs tmpfs /run; mkdir -p /run/systemd/journal; touch " + JOURNAL + \
            f"; mount --bind {path} {JOURNAL}; "

    def stop(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None
        for name in ("bus", "journal"):
            path = os.path.join(self.directory, name)
            if os.path.exists(path):
                os.unlink(path)

    def close(self):
        self.stop()
        shutil.rmtree(self.directory)
