# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests btctl on a terminal, and its completion in a shell."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios

import pytest

import daemon
from btctl_runs import BAD, GOOD, LONG, SOURCE, UTF8, btctl


# On a terminal


def on_terminal(btd, *arguments, columns=80, env=None):
    """Returns the output of btctl on a terminal of that width."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    variables = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "COLUMNS")}
    process = subprocess.Popen([daemon.BTCTL, "--address=" + btd.bus.address, *arguments], stdin=subprocess.DEVNULL,
                               stdout=follower, stderr=subprocess.STDOUT,
                               env={**variables, **daemon.SANITIZER_ENV, **UTF8, "TERM": "xterm", **(env or {})})
    os.close(follower)
    output = b""
    try:
        while chunk := os.read(leader, 65536):
            output += chunk
    except OSError:  # all of the other side is closed
        pass
    os.close(leader)
    assert process.wait(20) == 0
    return output.decode().replace("\r\n", "\n")


def test_colours(btd):
    btd.tree("boot", BAD)
    btd.start()
    btd.client.finish(btd.client.start("boot")[1])

    assert "\033[31m✗\033[0m Boot" in on_terminal(btd, "status", "boot")
    for arguments, env in ((["--no-color"], {}), ([], {"NO_COLOR": "1"}), ([], {"TERM": "dumb"})):
        assert "\033" not in on_terminal(btd, "status", "boot", *arguments, env=env)
    assert "\033[31m✗" in on_terminal(btd, "status", "boot", env={"NO_COLOR": ""})
    for term in ("dumb", "linux"):
        assert on_terminal(btd, "status", "boot", env={"TERM": term}).isascii()


def test_narrow_terminal(btd):
    btd.tree("boot", BAD, description="A description that is much longer than the terminal is wide")
    btd.start()
    btd.client.finish(btd.client.start("boot")[1])

    for columns in (21, 40):
        for verb in (["status", "boot"], ["status"], ["list"]):
            lines = re.sub(r"\033\[[0-9]*m", "", on_terminal(btd, *verb, columns=columns)).splitlines()
            assert max(map(len, lines)) == columns
            assert all(line[-1] == "…" for line in lines if len(line) == columns)
    assert "much longer than the terminal is wide" in on_terminal(btd, "list", env={"COLUMNS": "200"})


# Completion


COMPLETE = """
. /usr/share/bash-completion/bash_completion
. "$1"
shift
compopt() { :; }  # which works only while readline completes
COMP_LINE="$*"
COMP_POINT=${#COMP_LINE}
COMP_WORDS=()
for word; do  # readline takes these characters for words of their own
        while [[ $word =~ ^([^=:@]*)([=:@]+)(.*)$ ]]; do
                [[ ${BASH_REMATCH[1]} ]] && COMP_WORDS+=("${BASH_REMATCH[1]}")
                COMP_WORDS+=("${BASH_REMATCH[2]}")
                word=${BASH_REMATCH[3]}
        done
        COMP_WORDS+=("$word")
done
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_btctl "$BTCTL" "${COMP_WORDS[COMP_CWORD]}"
printf '%s\\n' "${COMPREPLY[@]}"
"""


def complete(*words, cwd=None):
    script = os.path.join(SOURCE, "client", "completion", "btctl")
    result = subprocess.run(["bash", "--norc", "-c", COMPLETE, "bash", script, "btctl", *words], cwd=cwd, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, check=False,
                            env={**os.environ, **daemon.SANITIZER_ENV, "BTCTL": os.path.abspath(daemon.BTCTL)})
    assert result.stderr == ""
    return set(result.stdout.split())


needs_bash_completion = pytest.mark.skipif(not os.path.exists("/usr/share/bash-completion/bash_completion"),
                                           reason="bash-completion is not installed")


@needs_bash_completion
def test_completion(btd, tmp_path):
    btd.tree("boot", LONG)
    btd.tree("net", GOOD)
    btd.start()
    btd.client.start("boot")
    there = "--address=" + btd.bus.address
    (tmp_path / "tree.json").touch()
    (tmp_path / "tree.txt").touch()

    assert complete("st") == {"start", "status", "step", "stop"}
    assert complete("") == set(btctl("complete", "verbs").stdout.split())
    assert complete("list", "--a") == {"--address=", "--ascii"}
    assert complete("start", "--w") == {"--wait"}
    assert complete("list", "--w") == set()
    assert complete(there, "start", "") == {"boot", "net"}
    assert complete(there, "cat", "n") == {"net"}
    assert complete("--address", btd.bus.address, "start", "--wait", "--set", "a=1", "b") == {"boot"}
    assert complete(there, "status", "b") == {"boot", "boot.1"}
    assert complete(there, "halt", "boot.") == {"boot.1"}
    assert complete(there, "start", "boot", "") == {"boot", "net"}
    assert complete(there, "cat", "boot", "") == set()
    assert complete("start", "--instance", "") == set()
    assert complete("types", "Fallb") == {"Fallback"}
    assert complete("validate", "", cwd=tmp_path) == {"tree.json"} | {
        name for name in os.listdir(tmp_path) if (tmp_path / name).is_dir()}
    assert complete("--address=unix:path=/nonexistent", "start", "") == set()


@needs_bash_completion
def test_completion_inside_a_run(btd):
    """Completes nodes by name, or by path if two have the same name; not names that a shell would split."""
    btd.tree("boot", {"type": "Sequence", "name": "Boot", "children": [
        {"type": "Sleep", "name": "Wait here", "duration": "1h"},
        {"type": "Sequence", "name": "First", "children": [{"type": "AlwaysSuccess", "name": "Say"}]},
        {"type": "Sequence", "name": "Second", "children": [{"type": "AlwaysSuccess", "name": "Say"}]}]},
             blackboard={"camera": 1, "cable": 2, "disk": 3})
    btd.tree("idle", GOOD)
    btd.start()
    btd.client.start("boot")
    there = "--address=" + btd.bus.address

    assert complete(there, "break", "boot", "") == {"Boot", "First", "Boot/First/Say", "Second", "Boot/Second/Say"}
    assert complete(there, "force", "boot.1", "Sec") == {"Second"}
    assert complete(there, "force", "boot", "Second", "s") == {"success", "skipped"}
    assert complete(there, "get", "boot", "ca") == {"camera", "cable"}
    assert complete(there, "set", "boot", "di") == {"disk="}
    assert complete(there, "set", "boot", "disk=1", "cam") == {"camera="}
    assert complete(there, "set", "boot", "disk=") == set()
    assert complete(there, "break", "idle", "") == complete(there, "get", "idle", "") == set()
