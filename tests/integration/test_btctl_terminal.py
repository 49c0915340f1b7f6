# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests btctl on a terminal, and its completion in a shell."""

import fcntl
import os
import pty
import re
import shutil
import struct
import subprocess
import termios

import pytest

import client
import daemon
from btctl_runs import BAD, GOOD, LONG, SOURCE, UTF8, btctl


# On a terminal


def on_terminal(btd, *arguments, columns=80, env=None, status=0):
    """Returns the output of btctl on a terminal of that width, without a pager."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    variables = {**{key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "COLUMNS", "SUDO_UID")},
                 **daemon.SANITIZER_ENV, **UTF8, "TERM": "xterm", "SYSTEMD_PAGER": "cat", **(env or {})}
    process = subprocess.Popen([daemon.BTCTL, "--address=" + btd.bus.address, *arguments], stdin=subprocess.DEVNULL,
                               stdout=follower, stderr=subprocess.STDOUT,
                               env={key: value for key, value in variables.items() if value is not None})
    os.close(follower)
    output = b""
    try:
        while chunk := os.read(leader, 65536):
            output += chunk
    except OSError:  # all of the other side is closed
        pass
    os.close(leader)
    assert process.wait(client.PATIENCE) == status
    return output.decode().replace("\r\n", "\n")


def test_the_cause_is_not_cut(btd):
    btd.tree("boot", {"type": "AlwaysFailure", "name": "Boot", "message": "the volume group has not enough free space for "
                      "a snapshot of 12 extents: /dev/mapper/a-name-that-is-longer-than-a-line-of-this-terminal"})
    btd.start()
    btd.client.finish(btd.client.start("boot")[1])

    assert """
    Cause: Boot: the volume group has not
           enough free space for a snapshot
           of 12 extents:
           /dev/mapper/a-name-that-is-longer
           -than-a-line-of-this-terminal
""" in on_terminal(btd, "--no-color", "status", "boot", columns=45)


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


# Pagers


@pytest.fixture
def pagers(tmp_path):
    """Fake pagers, which print their environment and what they show: less, and one named after nothing. Returns the
    environment of btctl."""
    for name in "less", "mine":
        path = tmp_path / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"""#!/bin/sh
echo "<{name} $* LESS=$LESS LESSSECURE=$LESSSECURE LESSCHARSET=$LESSCHARSET>"
[ "$1" = quit ] && exit
cat
echo "</{name}>"
""")
        path.chmod(0o755)
    os.symlink(shutil.which("cat"), tmp_path / "bin/cat")
    os.symlink(shutil.which("sh"), tmp_path / "bin/sh")
    return {"PATH": str(tmp_path / "bin"), "SYSTEMD_PAGER": "", "SYSTEMD_PAGERSECURE": "0"}


def shown_in(text):
    """The head line of the pager, and what it shows."""
    head, _, rest = text.partition("\n")
    name = head[1:].split(" ")[0]
    assert rest.endswith(f"</{name}>\n")
    return head, rest[:rest.rindex("<")]


def test_pager(btd, pagers, tmp_path):
    btd.tree("boot", GOOD)
    btd.start(f"--runtime={tmp_path}/run", f"--state={tmp_path}/state")
    btd.client.finish(btd.client.start("boot")[1])
    del pagers["SYSTEMD_PAGER"]
    less = "<less  LESS=FRSXMK LESSSECURE= LESSCHARSET=utf-8>"

    for words in (["list"], ["status"], ["status", "boot"], ["history"], ["show", "boot"], ["replay", "boot", "--until=0s"],
                  ["cat", "boot"], ["types"], ["schema"], ["simulate", btd.trees + "/boot.json"], ["--help"]):
        assert shown_in(on_terminal_with(btd, pagers, *words))[0] == less, words
        without = on_terminal_with(btd, pagers, *words, "--no-pager")
        assert without and "<less" not in without, words
    assert "\033[32m✓" in shown_in(on_terminal_with(btd, pagers, "status", "boot"))[1]
    for words in ["get", "boot"], ["start", "boot"], ["complete", "verbs"], ["plot", "boot"]:
        assert "<less" not in on_terminal_with(btd, pagers, *words), words
    assert not btd.btctl("list", env=pagers).stdout.startswith("<less")


def on_terminal_with(btd, environment, *arguments, status=0):
    """Without the variables of pagers but those given."""
    return on_terminal(btd, *arguments, status=status, env={"SYSTEMD_PAGER": None, **environment})


def test_choice_of_a_pager(btd, pagers):
    btd.start()

    def head(**environment):
        text = on_terminal_with(btd, {**pagers, "SYSTEMD_PAGER": None, **environment}, "types")
        return text.partition("\n")[0] if text.startswith("<") else ""
    less, mine = "<less  LESS=FRSXMK LESSSECURE= LESSCHARSET=utf-8>", "<mine -x LESS=FRSXMK LESSSECURE= LESSCHARSET=utf-8>"
    secure = less.replace("SECURE=", "SECURE=1")

    assert head(PAGER="mine -x") == mine
    assert head(PAGER="less", SYSTEMD_PAGER="mine -x") == mine
    assert head(PAGER="less", SYSTEMD_PAGER="less", BTD_PAGER="mine -x") == mine
    assert head(PAGER="missing") == less
    for off in "", "cat", "'":
        assert head(PAGER=off) == "" and head(PAGER="mine", SYSTEMD_PAGER=off) == ""
    assert head(PAGER="mine", SYSTEMD_PAGER="cat", BTD_PAGER="less") == less
    assert head(TERM="dumb") == "" and head(PATH="/nonexistent") == ""
    assert head(SYSTEMD_LESS="FRX") == "<less  LESS=FRX LESSSECURE= LESSCHARSET=utf-8>"
    assert head(SYSTEMD_LESSCHARSET="latin1") == "<less  LESS=FRSXMK LESSSECURE= LESSCHARSET=latin1>"

    for yes in "1", "Yes", "on":
        assert head(SYSTEMD_PAGERSECURE=yes) == secure
    assert head(SYSTEMD_PAGERSECURE="1", PAGER="mine -x") == mine.replace("SECURE=", "SECURE=1")
    for unknown in None, "", "perhaps":  # the pager of a user is not trusted with the rights of root
        assert head(SYSTEMD_PAGERSECURE=unknown, PAGER="mine", SUDO_UID="1000") == secure


def test_status_with_a_pager(btd, pagers):
    """Leaving a pager early is no error, and errors are shown in it."""
    btd.tree("wide", {"type": "Sequence", "children": [{"type": "Script", "code": f"a = {i}"} for i in range(9000)]})
    btd.start()
    quit = {**pagers, "SYSTEMD_PAGER": "mine quit"}
    assert on_terminal_with(btd, quit, "status", "wide").startswith("<mine quit ")
    assert on_terminal_with(btd, quit, "cat", "wide").startswith("<mine quit ")
    text = on_terminal_with(btd, {**pagers, "SYSTEMD_PAGER": "mine"}, "show", "boot", status=1)
    assert shown_in(text)[1].startswith("btctl: ")


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


# zsh completes in a line editor only: this takes what would be shown there.
COMPLETE_ZSH = """
compset() { PREFIX=${PREFIX#*=}; }
compadd() { [[ $1 == -S ]] && shift 2; [[ $1 == -a ]] && print -rl -- ${(P)2}; }
_files() { print -rl -- */(N) ${~${${1:+$2}:-*}}(N-.); }
words=("$BTCTL" "${@[3,-1]}")
CURRENT=$#words
PREFIX=$words[-1]
cur=${(Q)words[-1]}
. "$1" | while IFS= read -r word; do [[ -n $word && $word == ${cur#--*=}* ]] && print -r -- ${(q)word}; done
"""
COMPLETE_FISH = """
source $argv[1]
set line (string join ' ' -- (string escape -- $argv[2..-2]))
complete -C "$line $argv[-1]"
"""


def shown_by(shell, words, cwd, home):
    script, text = {"bash": ("btctl", COMPLETE), "zsh": ("_btctl", COMPLETE_ZSH), "fish": ("btctl.fish", COMPLETE_FISH)}[shell]
    command = {"bash": ["bash", "--norc", "-c", text, "bash"], "zsh": ["zsh", "-f", "-c", text, "zsh"],
               "fish": ["fish", "--no-config", "-c", text]}[shell]
    path = f"{os.path.dirname(os.path.abspath(daemon.BTCTL))}:{os.environ['PATH']}"
    return subprocess.run([*command, os.path.join(SOURCE, "client", "completion", script), "btctl", *words], cwd=cwd,
                          text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=client.PATIENCE, check=False,
                          env={**os.environ, **daemon.SANITIZER_ENV, "PATH": path, "HOME": str(home),
                               "BTCTL": os.path.abspath(daemon.BTCTL)})


@pytest.fixture(params=["bash", "zsh", "fish"])
def complete(request, tmp_path_factory):
    """What the shell offers for a command line."""
    if not shutil.which(request.param) or \
            request.param == "bash" and not os.path.exists("/usr/share/bash-completion/bash_completion"):
        pytest.skip(f"{request.param} or its completion is not installed")
    home = tmp_path_factory.mktemp("home")  # fish writes into it

    def run(*words, cwd=None):
        result = shown_by(request.param, words, cwd, home)
        assert result.stderr == ""
        shown = {line.split("\t")[0].rstrip("/") for line in result.stdout.split("\n") if line}
        return set(map(shell_quoted, shown)) if request.param == "fish" else shown  # which quotes when it inserts
    return run


def test_completion(btd, tmp_path, complete):
    btd.tree("boot", LONG)
    btd.tree("net", GOOD)
    btd.start()
    btd.client.start("boot")
    there = "--address=" + btd.bus.address
    (tmp_path / "tree.json").touch()
    (tmp_path / "tree.txt").touch()

    assert complete("st") == {"start", "stats", "status", "step", "stop"}
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
    files = complete("validate", "", cwd=tmp_path)
    if "tree.txt" in files:  # fish puts the others last
        assert shutil.which("fish")
        files = {name for name in files if name.endswith(".json") or (tmp_path / name).is_dir()}
    assert files == {"tree.json"} | {name for name in os.listdir(tmp_path) if (tmp_path / name).is_dir()}
    assert complete("graph", "--format=s") <= {"svg", "--format=svg"}
    assert complete("--address=unix:path=/nonexistent", "start", "") == set()


def test_completion_inside_a_run(btd, complete):
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


def test_completion_runs_nothing(btd, tmp_path, complete):
    """The name of a node is text of a tree file, which may be anybody's."""
    name = f"$(touch${{IFS}}{tmp_path}/made)"
    btd.tree("boot", {"type": "Sequence", "name": "Boot", "children": [
        {"type": "Sleep", "name": name, "duration": "1h"}, {"type": "AlwaysSuccess", "name": "`true`"}]})
    btd.start()
    btd.client.start("boot")
    there = "--address=" + btd.bus.address

    assert complete(there, "break", "boot", "") == {"Boot", shell_quoted(name), "\\`true\\`"}
    assert complete(there, "break", "boot", "\\$") == {shell_quoted(name)}
    assert not (tmp_path / "made").exists()


def shell_quoted(text):
    return subprocess.run(["bash", "-c", "printf %q \"$1\"", "bash", text], text=True, stdout=subprocess.PIPE,
                          check=True).stdout
