# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that only the leaves get secrets. The tests search everything that can be read for them."""

import os
import signal

import pytest

from client import wait

RUN = "org.btd1.Run"
TREE = "org.btd1.Tree"
SECRET = "correct-horse-battery"
SECRETS = {"token": SECRET + "\n", "quoted": 'say "' + SECRET + '"', "path": SECRET + "/with/slashes"}

# Each of them uses a secret in another way, and fails in another way with it on its lips.
LEAVES = [
    {"type": "Spawn", "name": "Reads", "argv": ["/bin/sh", "-c", f"test $(wc -c) = {len(SECRET)}"],
     "stdin": "{secret:token}"},
    {"type": "Spawn", "name": "Echoes", "argv": ["/bin/echo", "{secret:quoted}"], "stdout": "echoed"},
    {"type": "Spawn", "name": "Tells", "argv": ["/bin/sh", "-c", "echo no $TOKEN >&2; exit 1"],
     "env": {"TOKEN": "{secret:token}"}, "stderr": "told"},
    {"type": "Spawn", "name": "Is", "argv": ["/nowhere/{secret:token}"]},
    {"type": "Spawn", "name": "IsIn", "argv": ["/bin/true"], "cwd": "/{secret:token}"},
    {"type": "DBusCall", "name": "Asks", "destination": "org.freedesktop.DBus", "path": "/org/freedesktop/DBus",
     "interface": "org.freedesktop.DBus", "member": "GetNameOwner", "signature": "s", "args": ["a.{secret:token}"]},
    {"type": "DBusCall", "name": "Counts", "destination": "org.freedesktop.DBus", "path": "/", "interface": "a.b",
     "member": "C", "signature": "u", "args": ["{secret:token}"]},
    {"type": "DBusCall", "name": "Finds", "destination": "not {secret:token}", "path": "/", "interface": "a.b",
     "member": "C"},
    {"type": "UnitState", "name": "Looks", "unit": "{secret:quoted}"},
    {"type": "Sleep", "name": "Naps", "duration": "{secret:token}"},
    {"type": "PathExists", "name": "Sees", "path": "/{secret:path}"},
]
# These wait for a bus that is not there.
BUSES = [
    {"type": "DBusCall", "name": "Connects", "bus": "unix:path=/nowhere/{secret:token}", "destination": "a.b", "path": "/",
     "interface": "a.b", "member": "C", "timeout": "200ms"},
    {"type": "StartUnit", "name": "Commands", "bus": "unixexec:path=/nowhere,argv1={secret:token}", "unit": "a.service",
     "timeout": "200ms"},
]
WAITS = {"type": "PathExists", "name": "Waits", "path": "/nowhere/{secret:token}"}


@pytest.fixture
def secretive(btd, tmp_path):
    credentials = tmp_path / "credentials"
    credentials.mkdir()
    for name, text in SECRETS.items():
        (credentials / name).write_text(text)
    btd.state = tmp_path / "state"
    btd.runtime = tmp_path / "runtime"

    def start(*options, **env):
        btd.start(f"--state={btd.state}", f"--runtime={btd.runtime}", "--log-level=debug", *options,
                  env={"CREDENTIALS_DIRECTORY": str(credentials), **env})
    btd.start_with_secrets = start
    return btd


def everything(btd, path, tree):
    """All that anybody can read of a run and its tree; and what only btd can read, but for the values themselves."""
    client = btd.client
    run = client.run_property(path, "Id")
    tree_path = client.manager("GetTree", "s", tree)
    yield "log", btd.log()
    for directory in btd.state, btd.runtime:
        for base, _, files in os.walk(directory):
            for file in files:
                if file.endswith(".secrets"):
                    assert os.stat(os.path.join(base, file)).st_mode & 0o777 == 0o600
                    continue
                with open(os.path.join(base, file), encoding="utf-8", errors="replace") as text:
                    yield file, text.read()
    yield "signals", repr(client.signals)
    yield "GetRecord", repr(bytes(client.manager("GetRecord", "st", run, 0)))
    yield "ListRuns", repr(client.runs())
    yield "GetText", client.call(tree_path, TREE, "GetText")
    for interface, at in (RUN, path), (TREE, tree_path):
        yield interface, repr(client.get_all(at, interface))
        yield "GetNodes", repr(client.call(at, interface, "GetNodes"))
    yield "GetCauses", repr(client.call(path, RUN, "GetCauses"))
    yield "GetVariables", repr(client.variables(path))
    for node in range(client.get(tree_path, TREE, "NodeCount")):
        yield "GetCauseChain", repr(client.call(path, RUN, "GetCauseChain", "u", node))
    for words in ("status", run), ("status", run, "--json"), ("get", run), ("get", run, "--json"), ("cat", tree), \
            ("list", "--json"), ("show", run), ("show", run, "--json"), ("replay", run), ("plot", run), \
            ("plot", run, "--format=trace"), ("graph", run), ("history", "--json"):
        result = btd.btctl(*words)
        yield " ".join(words), result.stdout + result.stderr


def check(btd, path, tree):
    for what, text in everything(btd, path, tree):
        assert SECRET not in text and "horse" not in text, f"{what}: {text}"


@pytest.mark.both_buses("which arguments its errors have")
def test_secrets_are_seen_nowhere(secretive):
    btd = secretive
    some = [{"type": "ForceSuccess", "name": f"Try{leaf['name']}", "child": leaf} for leaf in LEAVES + BUSES]
    copies = {"type": "ForEach", "items": ["{echoed}", "{told}"], "as": "element", "concurrency": 2,
              "child": {"type": "Script", "name": "Copy", "code": "x = element"}}
    single = {**copies, "concurrency": 1, "child": {**copies["child"], "name": "Single"}}
    btd.tree("boot", {"type": "Sequence", "name": "Boot", "children": some + [
        copies, single, {"type": "WaitFor", "name": "Waiting", "child": WAITS}]})
    btd.start_with_secrets()
    btd.client.manager("Subscribe")
    btd.client.subscribe(None)
    path = btd.client.start("boot")[1]
    wait(lambda: btd.client.nodes(path)["Waiting"]["status"] == "running", "the last node")
    check(btd, path, "boot")
    nodes = btd.client.nodes(path)
    assert nodes["Reads"]["status"] == "success"
    variables = btd.client.variables(path)
    assert variables["echoed"] == "{secret:quoted}"
    assert variables["told"] == "no {secret:token}"
    assert nodes["Copy[1]"]["element"] == "{secret:quoted}" and nodes["Copy[2]"]["element"] == "no {secret:token}"
    assert nodes["Single"]["element"] == "no {secret:token}"
    assert nodes["Tells"]["detail"] == "exited with status 1: no {secret:token}"
    assert "cannot connect to bus 'unix:path=/nowhere/{secret:token}', trying again until it is there: " in btd.log()
    btd.btctl("halt", "boot", "--wait")
    check(btd, path, "boot")


def test_secrets_are_not_in_snapshots(secretive, tmp_path):
    """Nor does the next daemon need them there."""
    btd = secretive
    some = [{"type": "ForceSuccess", "name": f"Try{leaf['name']}", "child": leaf} for leaf in LEAVES[2:]]
    btd.tree("boot", {"type": "Sequence", "children": [
        {"type": "Repeat", "num_cycles": 20, "child": {"type": "Sequence", "children": some}},
        {"type": "WaitFor", "name": "Waiting", "child": WAITS}]})
    btd.start_with_secrets("--limit=journal-kib=64")
    btd.client.manager("Subscribe")
    btd.client.subscribe(RUN)
    path = btd.client.start("boot")[1]
    wait(lambda: btd.client.nodes(path)["Waiting"]["status"] == "running", "the last node")
    record = (btd.runtime / "runs" / "boot.1.journal").read_text(encoding="utf-8")
    assert " snapshot {" in record and "{secret:token}" in record
    check(btd, path, "boot")

    btd.stop(signal.SIGKILL)
    btd.start_with_secrets("--limit=journal-kib=64")
    btd.client.wait_running()
    assert btd.client.nodes(path)["Waiting"]["status"] == "running"
    check(btd, path, "boot")


@pytest.mark.parametrize("leaf", [leaf for leaf in LEAVES[2:] if leaf["name"] != "Asks"], ids=lambda leaf: leaf["name"])
def test_causes_have_the_reference(secretive, leaf):
    btd = secretive
    btd.tree("boot", leaf)
    btd.start_with_secrets()
    path = btd.client.start("boot")[1]
    btd.client.finish(path)
    check(btd, path, "boot")
    assert "{secret:" in btd.client.run_property(path, "Cause")


def test_a_credential_that_is_not_there(secretive):
    btd = secretive
    btd.tree("boot", LEAVES[0])
    btd.start_with_secrets(CREDENTIALS_DIRECTORY="/nowhere")
    result = btd.btctl("start", "boot", "--wait")
    assert "stdin: there is no credential 'token'; give btd one with LoadCredential= or SetCredential=" in result.stdout


def test_a_credential_that_is_gone_when_its_leaf_is_recovered(secretive):
    """A record has only its name."""
    btd = secretive
    btd.tree("boot", {"type": "WaitFor", "name": "Waiting", "child": {
        **WAITS, "path": "{directory}/{secret:token}"}}, blackboard={"directory": "/nowhere"})
    btd.start_with_secrets()
    btd.client.manager("Subscribe")
    btd.client.subscribe(None)
    path = btd.client.start("boot")[1]
    record = btd.runtime / "runs" / "boot.1.journal"
    wait(lambda: ' begin #1 {"with":{"directory":"/nowhere"}} ' in record.read_text(encoding="utf-8"), "the leaf to begin")
    btd.stop(signal.SIGKILL)
    btd.start_with_secrets()
    btd.client.wait_running()
    check(btd, path, "boot")

    btd.stop(signal.SIGKILL)
    btd.start_with_secrets(CREDENTIALS_DIRECTORY="/nowhere")
    btd.client.wait_running()
    wait(lambda: "there is no credential" in btd.client.nodes(path)["Waiting"]["detail"], "the cause")
    assert btd.client.nodes(path)["Waits"]["detail"] == (
        "path: there is no credential 'token'; give btd one with LoadCredential= or SetCredential=, see systemd.exec(5)")
    check(btd, path, "boot")


# Each of them uses a secret variable in another way. The programs find the value in a file to compare.
IS_SECRET = ["/bin/sh", "-c", 'read t; test "$t" = "$(cat $0)"', "{@source}"]
USES = [
    {"type": "Spawn", "name": "Reads", "argv": IS_SECRET, "stdin": "{token}"},
    {"type": "Spawn", "name": "ReadsMember", "argv": IS_SECRET, "stdin": "{answer.token}"},
    {"type": "Spawn", "name": "Has", "argv": ["/bin/sh", "-c", 's=$(cat $0); test "$TOKEN-$1" = "$s-a${{s}b"', "{source}",
                                              "a{token}b"], "env": {"TOKEN": "{token}"}},
    {"type": "Log", "message": "{token} {answer}"},
    {"type": "Script", "code": "copy = token .. '!'; known = given ~= nil; made = 'correct-hor' .. 'se-battery'"},
    {"type": "Spawn", "name": "ReadsMade", "argv": IS_SECRET, "stdin": "{made}"},
    {"type": "SubTree", "tree": "uses", "inputs": {"key": "{given}"}, "outputs": {"key": "token"}},
]
FAILS = [
    {"type": "Spawn", "name": "Tells", "argv": ["/bin/sh", "-c", "cat >&2; exit 1"], "stdin": "{token}", "stderr": "told"},
    {"type": "Spawn", "name": "IsNotJson", "argv": ["/bin/cat", "{source}"], "stdout": "answer", "stdout_format": "json"},
    {"type": "DBusCall", "name": "Asks", "destination": "org.freedesktop.DBus", "path": "/org/freedesktop/DBus",
     "interface": "org.freedesktop.DBus", "member": "GetNameOwner", "signature": "s", "args": ["a.{token}"]},
    {"type": "Sleep", "name": "Naps", "duration": "{token}"},
]
# The reason without the path of the node.
ERRORS = {
    "the input 'key' gets a secret variable, so it must be declared secret, too":
        {"type": "SubTree", "tree": "open", "inputs": {"key": "{token}"}},
    "the output for 'told' is a secret variable, so 'told' must be declared secret, too":
        {"type": "SubTree", "tree": "uses", "inputs": {"key": "{token}"}, "outputs": {"key": "told"}},
    "items: a secret variable cannot be an element":
        {"type": "ForEach", "items": ["{token}"], "as": "one", "child": {"type": "AlwaysSuccess"}},
}
SECRET_INPUTS = {name: {"type": "any", "default": None, "secret": True} for name in ("token", "answer", "given", "made")}
SECRET_TREES = {
    "uses": {"inputs": {"key": {"type": "string", "secret": True}}, "outputs": {"key": "string"},
             "root": USES[0] | {"stdin": "{key}"}},
    "open": {"inputs": {"key": "string"}, "root": {"type": "AlwaysSuccess"}},
}


def secret_source(tmp_path):
    source = tmp_path / "source"
    source.write_text(SECRET + "\n")
    return source


def test_secret_variables_are_seen_nowhere(secretive, tmp_path):
    btd = secretive
    source = secret_source(tmp_path)
    makes = [{"type": "Spawn", "argv": ["/bin/cat", "{source}"], "stdout": "token"},
             {"type": "Spawn", "argv": ["/bin/sed", 's/.*/{{"token": "&"}/', "{source}"], "stdout": "answer",
              "stdout_format": "json"}]
    fails = [{"type": "ForceSuccess", "child": leaf} for leaf in FAILS]
    btd.tree("boot", {"type": "Sequence", "name": "Boot", "children": makes + USES + fails + [
        {"type": "WaitFor", "name": "Waiting", "child": {"type": "PathExists", "path": "/nowhere/{token}"}}]},
        inputs=SECRET_INPUTS, blackboard={"copy": "", "known": False, "source": str(source)}, trees=SECRET_TREES)
    btd.start_with_secrets("--limit=journal-kib=64")
    btd.client.manager("Subscribe")
    btd.client.subscribe(None)
    path = btd.client.start("boot", variables={"given": SECRET})[1]
    wait(lambda: btd.client.nodes(path)["Waiting"]["status"] == "running", "the last node")
    check(btd, path, "boot")
    assert btd.client.variables(path) == {"token": "***", "answer": "***", "given": "***", "made": "***", "copy": "***!",
                                          "known": True, "told": "{token}", "source": str(source)}
    assert btd.btctl("restart", "boot").stderr == (
        "btctl: the input 'given' of 'boot' is secret, so its value is not stored; give it with --set\n")
    assert btd.client.nodes(path)["Waiting"]["status"] == "running"

    btd.stop(signal.SIGKILL)
    (btd.runtime / "runs" / "boot.1.secrets").unlink()
    btd.start_with_secrets("--limit=journal-kib=64")
    btd.client.wait_running()
    wait(lambda: "was lost" in btd.client.nodes(path)["PathExists"]["detail"], "the cause")
    assert btd.client.nodes(path)["PathExists"]["detail"] == (
        "path: the value of the secret variable 'token' was lost when btd was restarted")
    check(btd, path, "boot")
    assert btd.btctl("start", "boot", "--set", 'given="***"').stderr == (
        "btctl: tree 'boot': the input 'given' is secret, so its value is not stored; give it again\n")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_secret_variables_survive_btd(secretive, tmp_path, number):
    """Beside the run record, as long as the run runs; also what is in a scope of its own, and what a leaf got."""
    btd = secretive
    source = secret_source(tmp_path)
    btd.tree("boot", {"type": "Sequence", "name": "Boot", "children": [
        {"type": "Spawn", "argv": ["/bin/cat", "{source}"], "stdout": "token"},
        {"type": "SubTree", "tree": "later", "inputs": {"key": "{token}"}},
        USES[0], {"type": "Spawn", "name": "Has", "argv": IS_SECRET, "stdin": "{given}"}]},
        inputs=SECRET_INPUTS, blackboard={"source": str(source), "go": str(tmp_path / "go")}, trees={
            "later": {"inputs": {"key": {"type": "string", "secret": True}}, "root": {"type": "Sequence", "children": [
                {"type": "WaitFor", "name": "Waiting", "child": {"type": "PathExists", "path": "{@go}-{key}"}},
                USES[0] | {"name": "ReadsOwn", "stdin": "{key}"}]}}})
    options = {} if number == signal.SIGKILL else {"NOTIFY_SOCKET": str(tmp_path / "nobody")}
    btd.start_with_secrets(**options)
    path = btd.client.start("boot", variables={"given": SECRET})[1]
    for _ in range(2):
        wait(lambda: btd.client.nodes(path)["PathExists"]["status"] == "failure", "the condition")
        check(btd, path, "boot")
        btd.stop(number)
        btd.start_with_secrets(**options)
        btd.client.wait_running()

    (tmp_path / f"go-{SECRET}").touch()
    assert btd.client.finish(path) == ("success", "")
    assert not list(btd.runtime.rglob("*.secrets"))


@pytest.mark.parametrize("error", ERRORS)
def test_a_secret_stays_secret(secretive, tmp_path, error):
    btd = secretive
    btd.tree("boot", {"type": "Sequence", "children": [ERRORS[error], {"type": "Sleep", "duration": "{told}"}]},
             inputs=SECRET_INPUTS, blackboard={"told": "", "source": str(secret_source(tmp_path))}, trees=SECRET_TREES)
    btd.start_with_secrets()
    path = btd.client.start("boot", variables={"token": SECRET})[1]
    status, cause = btd.client.finish(path)
    assert status == "failure" and cause.endswith(": " + error)
    check(btd, path, "boot")
