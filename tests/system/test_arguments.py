# SPDX-License-Identifier: LGPL-2.1-or-later
"""Arguments, variables and directories reach the processes of Spawn as they are, while systemd is reloaded again and again.
BTD_SPAWNS=3000 in the environment makes it so many processes."""

import json
import os
import random
import subprocess

import pytest

import client

SPAWNS = int(os.environ.get("BTD_SPAWNS", "40"))
AT_ONCE = 10
SEED = int(os.environ.get("BTD_SEED", "1"))

# Says how it was called.
RECORD = """#!/bin/sh
mkdir /run/seen/$RECORD || echo $RECORD >>/run/seen/twice
cat /proc/$$/cmdline >/run/seen/$RECORD/arguments
cat /proc/$$/environ >/run/seen/$RECORD/environment
readlink -z /proc/$$/cwd >/run/seen/$RECORD/directory
"""
PROGRAMS = ["/usr/libexec/record", "/usr/libexec/re;cord $x", "record", "@record", "-record"]
DIRECTORIES = [None, None, "/run", "/run/dirs/a b", "/run/dirs/a;b$c%n", "/run/dirs/a ", "/run/dirs/a\\", "/run/dirs/a\nb\r",
               "/run/dirs/\ufdd0", "/run/dirs/é", "/run/dirs/a b/../é"]
PIECES = ["", ";", "$", "$$", "${HOME}", "$HOME", " ; ", "%n", "%", "%%", "\\", "\\;", "\\n", "\\x41", '"', "'", " ", "\t", "\n",
          "\r", "\x01", "\x1b[", "\x7f", "\u0085", "\u2028", "\ufeff", "\ufffe", "\U0010ffff", "\u202e", "é", "漢", "😀", "#", "[Service]",
          "\nExecStartPre=/bin/false\n", "-", "@", "+", "!", ":", "|", "=", "abc", "a b", "{", "&&", "x" * 200]


def prepare(machine):
    for path in ("/usr/libexec/record", "/usr/libexec/re;cord $x", "/usr/bin/record", "/usr/bin/@record", "/usr/bin/-record"):
        machine.write(path, RECORD, 0o755)


def text(dice):
    if dice.random() < 0.02:
        return dice.choice(["x", "é", ";", "\\", "\n"]) * dice.choice([2048, 30000, 65000])
    if dice.random() < 0.3:
        return "".join(chr(c) for c in (dice.randrange(1, 0x3000) for _ in range(dice.randrange(30))))
    return "".join(dice.choice(PIECES) for _ in range(dice.randrange(6)))


def case(dice, number):
    argv = [dice.choice(PROGRAMS)] + [text(dice) for _ in range(dice.randrange(15))]
    env = {f"V{i}": text(dice) for i in range(dice.randrange(3))}
    cwd = dice.choice(DIRECTORIES)
    node = {"type": "Spawn", "name": f"s{number}", "argv": argv, "env": {"RECORD": str(number), **env}, "as": "unit"}
    if cwd:
        node["cwd"] = cwd
    return node


def escaped(value):
    """Braces would be references."""
    if isinstance(value, str):
        return value.replace("{", "{{")
    if isinstance(value, list):
        return [escaped(item) for item in value]
    return {key: escaped(item) for key, item in value.items()} if isinstance(value, dict) else value


def seen(machine, number, what):
    return machine.path(f"/run/seen/{number}/{what}").read_bytes().decode().split("\0")[:-1]


def complaints(machine, node):
    number = node["env"]["RECORD"]
    try:
        arguments, environment, directory = (seen(machine, number, what) for what in ("arguments", "environment", "directory"))
    except FileNotFoundError:
        return [f"{node['name']} is missing: {node}"]
    found = []
    if arguments[2:] != node["argv"][1:]:  # after the shell and its script
        found.append(f"{node['name']}: {node['argv']} became {arguments[1:]}")
    for name, value in node["env"].items():
        if f"{name}={value}" not in environment:
            found.append(f"{node['name']}: {name}={value!r} became {[e for e in environment if e.startswith(name + '=')]}")
    found += [f"{node['name']}: there is {extra}" for extra in environment if extra.startswith(("BTD_EXEC", "NOTIFY_SOCKET"))]
    expected = os.path.normpath(node.get("cwd", "/"))
    if directory != [expected]:
        found.append(f"{node['name']}: it was in {directory}, not in {expected!r}")
    return found


# A reload reads all units again; every twentieth time systemd executes itself anew. In between it has a moment for the
# processes.
RELOADS = """
manager="org.freedesktop.systemd1 /org/freedesktop/systemd1 org.freedesktop.systemd1.Manager"
rm -f /run/enough
until [ -e /run/enough ]; do
    n=$((n + 1))
    if [ $((n % 20)) = 0 ]; then busctl --quiet --timeout=1 call $manager Reexecute
    else busctl --quiet call $manager Reload; sleep 0.01; fi
done
"""


@pytest.fixture(name="reloads")
def fixture_reloads(machine):
    with subprocess.Popen(machine.command("sh", "-c", RELOADS), stderr=subprocess.DEVNULL) as process:
        yield
        machine.write("/run/enough", "")


def test_nothing_is_changed(machine, reloads):
    dice = random.Random(SEED)
    machine.check("mkdir", "-p", "/run/seen", *{path for path in DIRECTORIES if path and ".." not in path})
    nodes = [case(dice, number) for number in range(SPAWNS)]
    groups = [nodes[i:i + AT_ONCE] for i in range(0, SPAWNS, AT_ONCE)]
    machine.load("record", {"type": "Sequence", "children": [
        {"type": "Parallel", "children": escaped(group)} for group in groups]})
    result = machine.run("btctl", "start", "record", "--wait", timeout=client.PATIENCE + SPAWNS)
    found = [line for node in nodes for line in complaints(machine, node)]
    assert not found, "\n".join(found)
    assert result.returncode == 0, machine.check("btctl", "status", "record")
    assert not machine.path("/run/seen/twice").exists(), machine.read("/run/seen/twice")


def cause(machine, argv, **keys):
    """Of a Spawn that fails, and the status that systemd has shown, without the name of the unit."""
    machine.load("fails", {"type": "Spawn", "name": "Fails", "argv": argv, "as": "unit", **keys})
    _, path = machine.client.start("fails")
    status, text = machine.client.finish(path)
    assert status == "failure"
    return text


@pytest.mark.parametrize("argument", ["plain", "a;b"])
def test_failures_are_the_same(machine, argument):
    """With btd-exec and without."""
    assert cause(machine, ["/no/such", argument]) == "Fails: cannot execute /no/such (status 203/EXEC)"
    assert cause(machine, ["no-such", argument]) == "Fails: cannot execute no-such (status 203/EXEC)"
    assert cause(machine, ["/etc/passwd", argument]) == "Fails: cannot execute /etc/passwd (status 203/EXEC)"
    assert cause(machine, ["/bin/true", argument], user="no-such") == "Fails: cannot become user no-such (status 217/USER)"
    assert cause(machine, ["/bin/true", argument], cwd="/no/such") == "Fails: cannot change to directory /no/such (status 200/CHDIR)"
    assert cause(machine, ["/bin/sh", "-c", "exit 3 # " + argument]) == "Fails: exited with status 3"
    machine.check("journalctl", "--sync")
    assert machine.check("journalctl", "-g", r"btd-fails\.\d+-0-1\.service: Main process exited, code=exited, status=203/EXEC")


@pytest.mark.parametrize("program, properties, identifier", [
    ("/bin/sh", {}, "sh"),
    ("/run/re;cord $x %n", {}, "re;cord $x %n"),
    ("/bin/sh", {"SyslogIdentifier": "mine"}, "mine"),
])
def test_the_journal_names_the_program(machine, program, properties, identifier):
    """Not btd-exec, also after a reload."""
    if program != "/bin/sh":
        machine.check("cp", "-L", "/bin/sh", program)
    machine.load("named", {"type": "Spawn", "as": "unit", "properties": properties, "argv": [
        program, "-c", "echo before; systemctl daemon-reload; echo after"]})
    run = machine.client.start("named")
    assert machine.client.finish(run[1])[0] == "success"
    assert machine.journal("-t", identifier, f"BTD_RUN={run[0]}") == "before\nafter\n"


def test_the_journal_names_the_node(machine):
    """Also after a reload, which reads the names of nodes again, too."""
    fields = "systemctl show -p LogExtraFields btd-node.*.service"
    machine.load("node", {"type": "Spawn", "as": "unit", "name": "Load \"the c\"  a=b\\", "stdout": "fields", "argv": [
        "/bin/sh", "-c", f"{fields}; echo before >&2; systemctl daemon-reload; {fields}; echo after >&2"]},
                 blackboard={"fields": ""})
    run = machine.client.start("node")
    assert machine.client.finish(run[1])[0] == "success"
    name = r'Load\x20"the\x20c"\x20\x20a=b' + "\\"
    assert machine.journal(f"BTD_RUN={run[0]}", f"BTD_NODE={name}") == "before\nafter\n"
    before, after = json.loads(machine.check("btctl", "get", "node", "fields")).splitlines()
    assert before == after and "BTD_NODE=Load" in before
    assert "Log field" not in machine.journal("_PID=1")


def test_a_status_like_that_of_systemd_is_the_programs_own(machine):
    # A program that ends before systemd knows that it was executed does not differ.
    noticed = "systemctl is-active --quiet $(sed -n 's,^0::.*/,,p' /proc/self/cgroup)"
    script = ["/bin/sh", "-c", f"until {noticed}; do :; done; exit 203"]
    assert cause(machine, script) == "Fails: exited with status 203"
    machine.load("fine", {"type": "Spawn", "argv": script, "as": "unit", "success_exit": [203]})
    assert machine.btctl("start", "fine", "--wait").returncode == 0


def test_an_odd_directory_that_is_not_there(machine):
    assert cause(machine, ["/bin/true"], cwd="/no such/") == "Fails: cannot change to directory /no such/ (status 200/CHDIR)"
    assert cause(machine, ["/bin/true"], cwd="/no such ") == "Fails: cannot change to directory /no such  (status 200/CHDIR)"


def test_users_and_sandboxes(machine):
    machine.load("sandboxed", {"type": "Spawn", "argv": ["/bin/sh", "-c", "id -un; cat /proc/$$/status | grep NoNewPrivs"],
                               "as": "unit", "user": "nobody", "stdout": "who",
                               "properties": {"NoNewPrivileges": True, "ProtectSystem": "strict", "PrivateTmp": True}},
                 blackboard={"who": ""})
    assert machine.btctl("start", "sandboxed", "--wait").returncode == 0
    assert machine.check("btctl", "get", "sandboxed", "who") == '"nobody\\nNoNewPrivs:\\t1"\n'


def test_where_the_arguments_cannot_be_handed_over(machine):
    program = machine.check("sh", "-c", "ls /usr/libexec/btd-exec /usr/local/libexec/btd-exec 2>/dev/null || true").strip()
    argv = ["/bin/sh", "-c", "a;b"]
    assert cause(machine, argv, properties={"InaccessiblePaths": program}) == \
        f"Fails: cannot execute {program} (status 203/EXEC), which is needed to execute /bin/sh, because an argument has a " \
        "';', which systemd changes when it is reloaded"

    machine.tree("rooted", {"type": "Spawn", "argv": argv, "properties": {"RootDirectory": "/srv"}})
    result = machine.btctl("reload")
    assert "properties: with \"RootDirectory\" the process cannot get its arguments as they are: an argument has a ';', " \
        f"which systemd changes when it is reloaded, and {program}, which prevents that, is not in that root; run a script " \
        "that is there" in result.stderr
