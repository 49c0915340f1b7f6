# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the drop-ins of tree files on the search path of btd, and what btctl shows and makes of them."""

import json
import pathlib
import signal

import jsonschema
import pytest

import daemon
import outputs

SLEEP = {"type": "Sleep", "name": "Long", "duration": "1h"}
PATH = "/org/btd1/tree/boot"


@pytest.fixture
def shelf(btd, tmp_path):
    """Two directories of trees, of which the second one has boot.json."""
    class Shelf:
        first, second = pathlib.Path(btd.trees), tmp_path / "vendor"

        @staticmethod
        def write(path, text):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text if isinstance(text, str) else json.dumps(text))
            return path

        @staticmethod
        def get(name):
            return btd.client.get(PATH, "org.btd1.Tree", name)
    it = Shelf()
    it.tree = it.write(it.second / "boot.json", {"btd": 1, "description": "vendor", "root": SLEEP})
    it.options = f"--trees={it.second}", f"--runtime={tmp_path}/run", f"--state={tmp_path}/state"
    return it


def test_order_and_masks(btd, shelf):
    """Of all directories, sorted by file name; the same name in an earlier directory replaces or masks."""
    def of(directory, name, text):
        return shelf.write(directory / "boot.json.d" / name, text)
    paths = [of(shelf.second, "10-a.json", {"description": "a"}), of(shelf.first, "20-b.json", {"description": "b"}),
             of(shelf.second, "30-c.json", {"description": "c"})]
    for name in "40-d.json", "50-e.json", "60-f.json":
        of(shelf.second, name, {"description": "hidden"})
    of(shelf.first, "40-d.json", "")
    (shelf.first / "boot.json.d/50-e.json").symlink_to("/dev/null")
    paths.append(of(shelf.first, "60-f.json", {"description": "f"}))
    for ignored in ".70.json", "70.json~", "70.conf":
        of(shelf.first, ignored, "no drop-in")
    btd.start(*shelf.options)
    assert shelf.get("DropInPaths") == [str(path) for path in paths]
    assert shelf.get("Description") == "f"
    paths[-1].unlink()
    assert btd.btctl("reload").returncode == 0
    assert shelf.get("Description") == "hidden"


def test_cat(btd, shelf):
    dropin = shelf.write(shelf.first / "boot.json.d/a.json", '// mine\n{"description": "ours"}')
    btd.start(*shelf.options)
    text = shelf.tree.read_text()
    assert btd.btctl("cat", "boot") == (
        0, f'// {shelf.tree}\n{text}\n// {dropin}\n// mine\n{{"description": "ours"}}', "")
    assert json.loads(btd.btctl("cat", "boot", "--json").stdout) == {
        "name": "boot", "text": text, "dropins": [{"path": str(dropin), "text": dropin.read_text()}], "lua": []}
    with pytest.raises(Exception, match="the tree has no such file; its properties DropInPaths and LuaPaths list them"):
        btd.client.call(PATH, "org.btd1.Tree", "GetFile", "s", str(shelf.tree))


def test_cat_of_lua_files(btd, shelf):
    """Also of one that is sent in several pieces."""
    lua = shelf.write(shelf.first / "lib.lua", "function three() return 3 end\n" + 2000 * f"-- {'x' * 96}\n")
    tree = shelf.write(shelf.first / "calc.json",
                       '{"btd": 1, "lua": ["lib"], "root": {"type": "Condition", "test": "three() == 3"}}\n')
    btd.start(*shelf.options)
    assert btd.btctl("cat", "calc") == (0, f"// {tree}\n{tree.read_text()}\n-- {lua}\n{lua.read_text()}", "")
    assert json.loads(btd.btctl("cat", "calc", "--json").stdout)["lua"] == [{"path": str(lua), "text": lua.read_text()}]


def test_errors_keep_the_tree(btd, shelf):
    dropin = shelf.write(shelf.first / "boot.json.d/a.json", {"nodes": {"Long": {"duration": "2h"}}})
    btd.start(*shelf.options)
    before = shelf.get("Hash")
    dropin.write_text('{\n "nodes": {"Long": {"duration": 3}}}')
    assert btd.btctl("reload").stderr.startswith(f"{dropin}:2:33: error: duration: ")
    assert (shelf.get("State"), shelf.get("Hash")) == ("broken", before)
    (shelf.first / "boot.json.d").rename(shelf.first / "other")
    shelf.write(shelf.first / "boot.json.d", "a file")
    assert btd.btctl("reload").stderr.startswith(
        f"{shelf.tree}: error: drop-ins: '{shelf.first}/boot.json.d' cannot be read: Not a directory\n")


def test_a_package_renames_a_node(btd, shelf):
    """The tree is there after the next start of btd, and everybody is told what of the drop-in is ignored."""
    dropin = shelf.write(shelf.first / "boot.json.d/a.json",
                         {"description": "ours", "nodes": {"Lng": {"duration": "3h"}}})
    btd.start(*shelf.options)
    assert (shelf.get("State"), shelf.get("Description")) == ("ok", "ours")
    message = f"{dropin}:1:35: warning: ignored: nodes: no node of boot.json has the name 'Lng'; did you mean 'Long'?"
    assert message in btd.log()
    assert shelf.get("Diagnostics") == [message]
    assert message in btd.btctl("status", "boot").stdout


def test_a_run_keeps_its_drop_ins(btd, shelf):
    dropin = shelf.write(shelf.first / "boot.json.d/a.json", {"nodes": {"Long": {"duration": "2h"}}})
    btd.start(*shelf.options)
    run, _ = btd.client.start("boot")
    started_with = shelf.get("Hash")
    dropin.write_text('{"nodes": {"Long": {"duration": "3h"}}}')
    assert btd.btctl("list").stderr == "btctl: tree 'boot' has changed on disk; 'btctl reload' loads it\n"
    btd.stop(signal.SIGKILL)
    btd.start(*shelf.options)
    assert shelf.get("Hash") != started_with
    status = json.loads(btd.btctl("status", run, "--json").stdout)
    assert status["tree_changed"] is True
    assert status["nodes"][0]["title"] == "2h"


# The verbs that write files, without btd


@pytest.fixture
def home(tmp_path):
    """btctl --user, whose own trees are in config, and those of packages in data."""
    class Home:
        config, data = tmp_path / "config/btd/trees", tmp_path / "data/btd/trees"
        dropins = config / "boot.json.d"
        env = {"XDG_CONFIG_HOME": str(tmp_path / "config"), "XDG_DATA_HOME": str(tmp_path / "data"),
               "XDG_RUNTIME_DIR": str(tmp_path), "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent",
               "TMPDIR": str(tmp_path), "SYSTEMD_EDITOR": str(tmp_path / "editor")}

        def btctl(self, *arguments, **env):
            done = daemon.bus_client.run([daemon.BTCTL, "--user", *arguments], {**self.env, **env})
            daemon.check_report(done.stderr, "btctl")
            outputs.check(arguments, done.stdout)
            return done

        def edit(self, text, *arguments):
            (tmp_path / "editor").write_text(f"#!/bin/sh\ncat > \"$1\" <<'END'\n{text}\nEND\n")
            (tmp_path / "editor").chmod(0o755)
            return self.btctl("edit", "boot", *arguments)
    it = Home()
    it.data.mkdir(parents=True)
    (it.data / "boot.json").write_text(daemon.tree_text(SLEEP))
    (it.data / "ask.json").write_text(daemon.tree_text(SLEEP, inputs={"n": "int"}))
    (it.data / "part.json").write_text(json.dumps({"btd": 1, "trees": {"a": {"root": SLEEP}}}))
    (it.data / "bad.json").write_text("{")
    return it


def test_enable(home):
    own, written = home.dropins / "zz-autostart.json", f"written '{home.dropins}/zz-autostart.json'\n"
    assert home.btctl("is-enabled", "boot", "ask", "part", "bad") == (1, "disabled\nstatic\nstatic\nbad\n", "")
    assert home.btctl("enable", "boot") == (0, written, "")
    assert own.read_text() == "// Made by 'btctl enable boot'.\n{ \"autostart\": true }\n"
    assert home.btctl("enable", "boot") == (0, "", "")
    assert home.btctl("is-enabled", "boot", "ask") == (0, "enabled\nstatic\n", "")
    assert json.loads(home.btctl("is-enabled", "boot", "--json").stdout) == [{"name": "boot", "state": "enabled"}]
    assert home.btctl("disable", "boot") == (0, written, "")
    assert home.btctl("is-enabled", "boot") == (1, "disabled\n", "")
    assert home.btctl("revert", "boot") == (0, f"removed '{own}'\n", "")
    assert not home.dropins.exists()


def test_enable_refuses(home):
    def refused(*arguments):
        done = home.btctl(*arguments)
        assert (done.returncode, done.stdout) == (1, "")
        return done.stderr
    assert "\nbtctl: btd cannot start tree 'ask': the input 'n' (int) is missing; give it a default with " \
           "'btctl edit ask'\n" in refused("enable", "ask")
    assert refused("enable", "part") == f"btctl: '{home.data}/part.json' has no root, only trees to be included\n"
    assert refused("enable", "bad").endswith("\nbtctl: tree 'bad' has errors; nothing was changed\n")
    assert refused("enable", "boo") == "btctl: no tree 'boo' on the search path; did you mean 'boot'?\n"
    assert refused("enable", "zoological") == "btctl: no tree 'zoological' on the search path\n"
    assert refused("enable", "a/b") == \
        "btctl: 'a/b' cannot be the name of a tree: letters, digits, '_' and '-', 100 at most\n"
    home.dropins.mkdir(parents=True)
    (home.dropins / "zzz.json").write_text('{"autostart": false}')
    assert refused("enable", "boot") == (f"btctl: a drop-in of '{home.data}/boot.json' that comes after "
                                         f"'{home.dropins}/zz-autostart.json' decides; nothing was changed\n")
    (home.config / "boot.json").symlink_to("/dev/null")
    assert refused("enable", "boot") == "btctl: tree 'boot' is masked by a link to /dev/null\n"


def test_preset(home):
    presets = home.config.parent / "presets"
    presets.mkdir(parents=True)
    (presets / "20-a.preset").write_text("# all\n\ndisable *\n")
    assert home.btctl("preset", "boot").returncode == 0
    assert home.btctl("is-enabled", "boot").stdout == "disabled\n"
    (presets / "10-b.preset").write_text("; some\n enable bo?t \n")
    assert home.btctl("preset", "boot").returncode == 0
    assert home.btctl("is-enabled", "boot").stdout == "enabled\n"
    for file in presets.iterdir():
        file.write_text("")
    assert home.btctl("preset", "boot") == (0, f"removed '{home.dropins}/zz-autostart.json'\n", "")
    (presets / "20-a.preset").write_text("enable boot\n\nenabled boot\n")
    assert home.btctl("preset", "boot").returncode == 0
    assert home.btctl("preset", "ask").stderr == \
        f"btctl: {presets}/20-a.preset:3: expected 'enable NAME' or 'disable NAME', not 'enabled boot'\n"


def test_validate(home):
    dropin, unfit = home.dropins / "a.json", home.dropins / "b.json"
    home.dropins.mkdir(parents=True)
    dropin.write_text('{ "autostart": true, "nodes": { "Long": { "duration": "2h", "skip_if": "1 > 2" } } }')
    changes = [{"key": "nodes.Long.duration", "from": "1h", "to": "2h"},
               {"key": "nodes.Long.skip_if", "from": None, "to": "1 > 2"},
               {"key": "autostart", "from": None, "to": True}]
    assert home.btctl("validate", str(dropin), "--ascii") == (
        0, f"{dropin}: ok, changes {home.data}/boot.json\n  nodes.Long.duration: \"1h\" -> \"2h\"\n"
        '  nodes.Long.skip_if: not set -> "1 > 2"\n  autostart: not set -> true\n', "")
    assert json.loads(home.btctl("validate", str(dropin), "--json").stdout) == [
        {"file": str(dropin), "valid": True, "diagnostics": [], "extends": f"{home.data}/boot.json", "changes": changes}]
    unfit.write_text('{ "nodes": { "Lon": {} } }')
    text = f"{unfit}:1:14: {{}}nodes: no node of boot.json has the name 'Lon'; did you mean 'Long'?\n"
    assert home.btctl("validate", str(unfit)) == (1, "", text.format("error: "))
    assert home.btctl("validate", str(dropin)).stderr == text.format("warning: ignored: ")
    unfit.write_text("")
    assert home.btctl("validate", str(unfit)).stdout == f"{unfit}: ok, hides drop-ins of this name in later directories\n"
    unfit.write_text("{}")
    assert home.btctl("validate", str(unfit)).stdout == f"{unfit}: ok, changes nothing in {home.data}/boot.json\n"
    lost = home.config / "gone.json.d/x.json"
    lost.parent.mkdir()
    lost.write_text("{}")
    assert home.btctl("validate", str(lost)) == (
        1, "", f"{lost}: error: there is no tree file for this drop-in, neither beside its directory nor on the search "
        "path\n")


def test_schema():
    """An editor refuses what btd refuses, except what depends on the tree file."""
    schema = json.loads(daemon.bus_client.run([daemon.BTCTL, "schema", "drop-in"]).stdout)
    checker = jsonschema.Draft202012Validator(schema)
    checker.check_schema(schema)
    good = ['{"autostart": false, "restart": null, "restart_limit": {"burst": 2}, "access": {"start": ["ann"], "halt": null}}',
            '{"on_finished": [{"result": "failure", "unit": "a.service"}], "restart_backoff": {"max": "1min"}}',
            '{"inputs": {"iface": {"default": {"a": null}, "description": null}}, "blackboard": {"b": null}}',
            '{"nodes": {"Boot/Start": {"timeout": "90s", "skip_if": null, "env": {"A": null, "B": "c"}, "argv": ["a"]},'
            '"cam: B": {"name": "org.a", "backoff": {"initial": "1s"}, "description": "x", "num_attempts": 3}}}']
    bad = ["[]", '{"root": {}}', '{"autostart": 1}', '{"inputs": {"a": {"type": "int"}}}', '{"inputs": {"a": 1}}',
           '{"nodes": {"A": {"type": "Sleep"}}}', '{"nodes": {"A": {"child": {}}}}', '{"nodes": {"A": {"timeut": "1s"}}}',
           '{"nodes": {"A": {"duration": "3 parsecs"}}}', '{"nodes": []}', '{"btd": 2}',
           '{"on_finished": [{"unit": "a.service"}]}']
    assert [text for text in good if not checker.is_valid(json.loads(text))] == []
    assert [text for text in bad if checker.is_valid(json.loads(text))] == []


def test_edit(home):
    own, text = home.dropins / "override.json", '{ "nodes": { "Long": { "duration": "2h" } } }'
    assert home.edit(text) == (0, f"written '{own}'\n", "")
    assert own.read_text() == text + "\n"
    assert home.edit(text) == (0, "nothing was changed\n", "")
    wrong = home.edit('{ "nodes": { "Lon": {} } }')
    first, second = wrong.stderr.splitlines()
    assert first == f"{own}:1:14: error: nodes: no node of boot.json has the name 'Lon'; did you mean 'Long'?"
    text = second.split("'")[-2]
    assert second == f"btctl: '{own}' was not changed; your text is in '{text}'"
    assert pathlib.Path(text).read_text() == '{ "nodes": { "Lon": {} } }\n'
    assert home.btctl("edit", "boot", SYSTEMD_EDITOR="false").stderr == \
        "btctl: the editor 'false' has failed: Child process exited with code 1; nothing was changed\n"
    whole = daemon.tree_text({"type": "AlwaysSuccess", "name": "Long"})
    full = home.config / "boot.json"
    assert home.edit(whole, "--full") == (
        0, f"written '{full}'\n", f"{own}:1:24: warning: ignored: unknown key 'duration'; 'btctl types AlwaysSuccess' "
        "lists what an AlwaysSuccess takes (in Long)\n")
    assert home.btctl("revert", "boot") == (0, f"removed '{own}'\nremoved '{full}'\n", "")


def test_cannot_write(home):
    home.config.parent.mkdir(parents=True)
    home.config.write_text("no directory")
    assert home.btctl("enable", "boot").stderr == f"btctl: cannot create '{home.dropins}': Not a directory\n"
    home.config.unlink()
    for name in "override", "zz-autostart":
        (home.dropins / f"{name}.json").mkdir(parents=True)
    assert home.edit("{}").stderr == f"btctl: cannot read '{home.dropins}/override.json': Is a directory\n"
    (home.dropins / "override.json").rmdir()
    assert home.btctl("revert", "boot").stderr == \
        f"btctl: cannot remove '{home.dropins}/zz-autostart.json': Is a directory\n"
    assert home.btctl("enable", "boot").stderr.startswith(f"btctl: cannot write '{home.dropins}/zz-autostart.json': ")
    (home.dropins / "zz-autostart.json").rmdir()
    assert home.btctl("edit", "boot", TMPDIR="/nonexistent").stderr.startswith(
        "btctl: cannot create a file for the editor: ")
    assert home.btctl("edit", "boot", SYSTEMD_EDITOR="", EDITOR="", VISUAL="", PATH="/nonexistent").stderr == \
        "btctl: there is no editor; set $EDITOR\n"
    assert home.btctl("edit", "boot", SYSTEMD_EDITOR="cat").stdout == (
        f"// Changes of {home.data}/boot.json, such as\n"
        '// { "autostart": false, "nodes": { "NAME": { "timeout": "30s" } } }\n'
        "// See Drop-ins in btd-tree(5), and the text by 'btctl cat boot'.\n{\n}\nnothing was changed\n")


def test_delta(home):
    home.dropins.mkdir(parents=True)
    below = home.data / "boot.json.d"
    below.mkdir()
    for name in "a.json", "b.json", "c.json":
        (below / name).write_text("{}")
    (home.dropins / "b.json").write_text("{ }")
    (home.dropins / "c.json").symlink_to("/dev/null")
    (home.config / "ask.json").write_text(daemon.tree_text(SLEEP))
    (home.config / "part.json").symlink_to("/dev/null")
    (home.config / "gone.json.d").mkdir()
    (home.config / "gone.json.d/x.json").write_text("{}")
    expected = [("overridden", home.data / "ask.json", home.config / "ask.json"),
                ("extended", home.data / "boot.json", below / "a.json"),
                ("extended", home.data / "boot.json", home.dropins / "b.json"),
                ("overridden", below / "b.json", home.dropins / "b.json"),
                ("masked", below / "c.json", home.dropins / "c.json"),
                ("unused", "gone.json", home.config / "gone.json.d/x.json"),
                ("masked", home.data / "part.json", home.config / "part.json")]
    assert home.btctl("delta", "--ascii").stdout.splitlines() == [
        f"{kind:13} {path} -> {by}" for kind, path, by in expected]
    assert [tuple(row.values()) for row in json.loads(home.btctl("delta", "--json").stdout)] == [
        tuple(map(str, row)) for row in expected]


def test_a_running_btd_reloads(btd, shelf):
    """The files go to its own search path."""
    btd.start(*shelf.options)
    assert shelf.get("Autostart") is False
    assert btd.btctl("enable", "boot") == (0, f"written '{shelf.first}/boot.json.d/zz-autostart.json'\n", "")
    assert shelf.get("Autostart") is True
    assert btd.btctl("revert", "boot").returncode == 0
    assert shelf.get("Autostart") is False
