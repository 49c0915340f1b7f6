# SPDX-License-Identifier: LGPL-2.1-or-later
"""A terminal of tmux, for btctl watch: keys are sent to it, and the screen is read."""

import os
import shlex
import shutil
import subprocess
import tempfile

from gi.repository import GLib

import client
import daemon
from btctl_runs import UTF8


class Screen:
    """A command in a terminal. When it has ended, its exit status is in a line of its own, even if what it wrote last was
    lost: systemd-run --pty loses that about once in a hundred times."""

    def __init__(self, words, columns=80, rows=24, env=None, ignored=""):
        self.directory = tempfile.mkdtemp(prefix="btd-tmux-")
        variables = {**daemon.SANITIZER_ENV, **UTF8, "TERM": "screen", **(env or {})}
        command = shlex.join([*(f"{key}={value}" for key, value in variables.items()), *words])
        self.pid_path = os.path.join(self.directory, "pid")
        ignore = f'trap "" {ignored}; ' if ignored else ""
        # What is drawn wakes up the main loop.
        changes = os.path.join(self.directory, "changes")
        os.mkfifo(changes)
        self.changes = os.open(changes, os.O_RDONLY | os.O_NONBLOCK)
        GLib.unix_fd_add_full(GLib.PRIORITY_DEFAULT, self.changes, GLib.IOCondition.IN, self._on_change)
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", str(columns), "-y", str(rows),
                  f"sh -c '{ignore}echo $$ >{self.pid_path}; exec env \"$0\" \"$@\"' {command}; "
                  'printf "\\nended with %s\\n" $?; stty -a; exec cat',
                  ";", "pipe-pane", f"exec cat >{changes}")

    @staticmethod
    def _on_change(fd, condition):
        return GLib.SOURCE_CONTINUE if os.read(fd, 65536) else GLib.SOURCE_REMOVE

    def tmux(self, *arguments):
        """The variables of the terminal that runs the tests are not those of this one."""
        env = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "COLUMNS", "TMUX")}
        return subprocess.run(["tmux", "-u", "-S", os.path.join(self.directory, "tmux"), *arguments], check=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env={**env, **UTF8}).stdout.decode()

    def text(self, *options):
        return self.tmux("capture-pane", "-p", *options)

    def keys(self, *keys):
        self.tmux("send-keys", *keys)

    def type(self, text):
        self.tmux("send-keys", "-l", text)

    def wait(self, *texts, without=()):
        """Until the screen has all of the texts, and none of the others; returns it."""
        last = []

        def check():
            last[:] = [self.text()]
            return all(text in last[0] for text in texts) and not any(text in last[0] for text in without)
        try:
            client.wait(check, f"{texts} without {without}")
        except TimeoutError as error:
            raise AssertionError(f"{error}:\n{last[0]}") from None
        return last[0]

    def pid(self):
        with open(self.pid_path, encoding="utf-8") as file:
            return int(file.read())

    def send_signal(self, number):
        os.kill(self.pid(), number)

    def wait_end(self, status):
        """The screen is the usual one again, and the terminal is as before."""
        text = self.wait("ended with ", " icanon")
        assert f"ended with {status}\n" in text, text
        assert " icanon" in text and " echo " in text, text
        daemon.check_report(text, "btctl")
        return text

    def close(self):
        subprocess.run(["tmux", "-S", os.path.join(self.directory, "tmux"), "kill-server"], check=False,
                       stderr=subprocess.DEVNULL)
        os.close(self.changes)
        shutil.rmtree(self.directory)
