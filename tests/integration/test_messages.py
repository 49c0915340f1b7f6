# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares what btctl and btd say with the tables in tests/messages: each message has its row there, and its exact text is
in no other test. tests/house/test_messages.py checks that no message is left out."""

import difflib
import os
import shlex
import subprocess

from gi.repository import Gio, GLib

import messages
from btctl_runs import UTF8, without_times
from daemon import BTCTL, BTD, SANITIZER_ENV, check_report

OUTPUT_SIGNS = ("> ", "! ", "= ")
COMMAND_SIGNS = ("$ ", *OUTPUT_SIGNS)
HINT = "! Try 'btctl --help'."


def assert_same(expected, actual):
    """Lists of lines."""
    assert expected == actual, "\n".join(difflib.unified_diff(expected, actual, "the table", "now", lineterm=""))


class Shell:
    """Carries out the commands of a table, with the files of its parts, in a directory."""

    def __init__(self, directory, btd=None):
        self.directory = directory
        self.btd = btd

    def write_files(self, part):
        """Those that the part has the text of."""
        file = None
        for line in part:
            if line[:2] == "@ ":
                file = self.directory / line[2:]
                file.write_text("", encoding="utf-8")
            elif line[:2] in COMMAND_SIGNS:
                file = None
            elif file:
                with open(file, "a", encoding="utf-8") as stream:
                    stream.write(line + "\n")

    def run(self, command):
        """The lines that a step of the table has below its command."""
        program, *arguments = shlex.split(command)
        if program == "call":
            return self.call(*arguments)
        assert program in ("btctl", "simulate", "btd"), command
        if program == "simulate":
            arguments.insert(0, program)
        address = [f"--address={self.btd.bus.address}"] if self.btd and program != "btd" else []
        done = subprocess.run([BTD if program == "btd" else BTCTL, *address, *arguments], cwd=self.directory, check=False,
                              stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", errors="replace",
                              env={**os.environ, **SANITIZER_ENV, **UTF8, "HOME": str(self.directory)})
        check_report(done.stderr, program)
        out, error = self.shown("> ", done.stdout), self.shown("! ", done.stderr)
        if program == "simulate":  # only the result
            return [*out[-1:], *error]
        if done.returncode == 2 and error[-1:] == [HINT]:
            return [*out, *error[:-1], "= usage"]
        return [*out, *error, *([f"= {done.returncode}"] if done.returncode else [])]

    def call(self, path, member, types, values):
        interface, method = member.rsplit(".", 1)
        arguments = GLib.Variant.parse(GLib.VariantType(types), values, None, None)
        try:
            reply = self.btd.client.connection.call_sync("org.btd1", path, interface, method, arguments, None,
                                                         Gio.DBusCallFlags.NONE, -1, None)
            return self.shown("> ", reply.print_(False))
        except GLib.Error as error:
            return self.shown("! ", error.message.removeprefix("GDBus.Error:"))

    def shown(self, sign, text):
        """Without what differs from run to run."""
        text = without_times(text).replace(str(self.directory), "DIR").replace(f"UID {os.getuid()}", "UID N")
        if self.btd:
            text = text.replace(self.btd.bus.address, "ADDRESS")
        return [sign + line for line in text.splitlines()]


def check_commands(table, shell):
    written, now = [], []
    for part in messages.parts_of(table):
        shell.write_files(part)
        written += [*part, "==="]
        for line in part:
            if line[:2] not in OUTPUT_SIGNS:
                now.append(line)
            if line[:2] == "$ ":
                now += shell.run(line[2:])
        now.append("===")
    assert_same(written, now)


def test_commands(tmp_path):
    check_commands("commands.txt", Shell(tmp_path))


def test_daemon(btd, tmp_path):
    shell = Shell(tmp_path / "trees", btd)
    btd.start(f"--runtime={tmp_path}/run", f"--state={tmp_path}/state")
    check_commands("daemon.txt", shell)
