# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that a tree file that has changed on the disk is reported until it is reloaded."""

import json
import os
import pathlib
import shutil

import pytest

from daemon import tree_text

DONE = {"type": "AlwaysSuccess"}
TREE, MANAGER = "org.btd1.Tree", "org.btd1.Manager"


def warning(name):
    return f"btctl: tree '{name}' has changed on disk; 'btctl reload' loads it\n"


FILES = "btctl: tree files have changed on disk; 'btctl reload' loads them\n"


@pytest.fixture
def shelf(btd, tmp_path):
    """Two directories of trees: the first one has plain.json, shared.json, user.json, which includes it,
    link.json, and coded.json, which uses done.lua; the second one has low.json. The third one does not exist."""
    class Shelf:
        first, second, third = pathlib.Path(btd.trees), tmp_path / "second", tmp_path / "some/third"
        target = tmp_path / "elsewhere.txt"

        @staticmethod
        def stale():
            """The trees that need a reload, and whether any file does."""
            return {name for name in ("plain", "user", "link", "low", "coded") if btd.client.get(
                f"/org/btd1/tree/{name}", TREE, "NeedReload")}, btd.client.get("/org/btd1", MANAGER, "NeedReload")

        @staticmethod
        def reload():
            assert btd.btctl("reload").returncode == 0
    it = Shelf()
    it.second.mkdir()
    btd.tree("plain", DONE)
    btd.tree("shared", json.dumps({"btd": 1, "trees": {"part": {"root": DONE}}}))
    btd.tree("user", {"type": "SubTree", "tree": "part"}, include=["shared.json"])
    (it.first / "done.lua").write_text("function done() return true end")
    btd.tree("coded", {"type": "Condition", "test": "done()"}, lua=["done.lua"])
    it.target.write_text(tree_text(DONE))
    (it.first / "link.json").symlink_to(it.target)
    (it.second / "low.json").write_text(tree_text(DONE))
    btd.start(f"--trees={it.second}", f"--trees={it.third}")
    assert it.stale() == (set(), False)
    return it


def replace(path, text):
    """As most editors do."""
    new = path.with_name(".new")
    new.write_text(text)
    new.rename(path)


def write(path, text):
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)


OTHER = tree_text({"type": "AlwaysFailure"})


@pytest.mark.parametrize("name, change, trees", [
    ("written to", lambda shelf: (shelf.first / "plain.json").write_text(OTHER), {"plain"}),
    ("replaced", lambda shelf: replace(shelf.first / "plain.json", OTHER), {"plain"}),
    ("touched", lambda shelf: os.utime(shelf.first / "plain.json"), {"plain"}),
    ("mode changed", lambda shelf: (shelf.first / "plain.json").chmod(0o600), {"plain"}),
    ("removed", lambda shelf: (shelf.first / "plain.json").unlink(), {"plain"}),
    ("included", lambda shelf: replace(shelf.first / "shared.json", "{"), {"user"}),
    ("a Lua file", lambda shelf: replace(shelf.first / "done.lua", "function done() end"), {"coded"}),
    ("target of a link", lambda shelf: shelf.target.write_text(OTHER), {"link"}),
    ("link", lambda shelf: replace(shelf.first / "link.json", OTHER), {"link"}),
    ("low", lambda shelf: (shelf.second / "low.json").write_text(OTHER), {"low"}),
    ("new", lambda shelf: (shelf.second / "new.json").write_text(OTHER), set()),
    ("directory made", lambda shelf: shelf.third.mkdir(parents=True), set()),
    ("drop-in", lambda shelf: write(shelf.first / "plain.json.d/a.json", "{}"), {"plain"}),
    ("drop-in of another directory", lambda shelf: write(shelf.second / "plain.json.d/a.json", "{}"), {"plain"}),
    ("drop-in of an included file", lambda shelf: write(shelf.second / "shared.json.d/a.json", "{}"), {"user"}),
    ("directory removed", lambda shelf: shutil.rmtree(shelf.second), {"low"}),
])
def test_changes_are_noticed(shelf, name, change, trees):
    change(shelf)
    assert shelf.stale() == (trees, True), name


def test_others_are_no_changes(shelf):
    """Files that are no trees, hidden ones, and files that are read."""
    for name in ".plain.json.swp", "plain.json~", "README":
        (shelf.first / name).write_text("")
    (shelf.first / "plain.json").read_text()
    shelf.target.with_name("other.txt").write_text("")
    assert shelf.stale() == (set(), False)


def test_a_mask(shelf):
    (shelf.first / "low.json").symlink_to("/dev/null")
    assert shelf.stale()[1] is True


def test_a_reload_reads_all(shelf):
    for _ in range(2):
        (shelf.first / "plain.json").write_text(OTHER)
        shelf.target.write_text(OTHER)
        shelf.third.mkdir(parents=True, exist_ok=True)
        assert shelf.stale() == ({"plain", "link"}, True)
        shelf.reload()
        assert shelf.stale() == (set(), False)
    (shelf.third / "late.json").write_text(OTHER)
    assert shelf.stale() == (set(), True)


def test_more_changes_than_the_kernel_stores(shelf):
    with open("/proc/sys/fs/inotify/max_queued_events", encoding="ascii") as file:
        n = int(file.read())
    if n > 100000:
        pytest.skip("the kernel stores too many")
    for _ in range(n // 2 + 1):
        os.utime(shelf.first / "shared.json")
        os.utime(shelf.first / "user.json")
    assert shelf.stale() == ({"plain", "user", "link", "low", "coded"}, True)
    shelf.reload()
    assert shelf.stale() == (set(), False)


def test_btctl_says_so(shelf, btd):
    (shelf.first / "plain.json").write_text(OTHER)
    started = btd.btctl("start", "plain")
    assert started == (0, "plain.1\n", warning("plain"))
    assert btd.btctl("start", "user").stderr == ""
    assert btd.btctl("status", "plain").stderr == warning("plain")
    assert btd.btctl("status", "plain.1").stderr == warning("plain")
    assert btd.btctl("status", "user").stderr == ""
    assert btd.btctl("status", "low").stderr == ""
    assert btd.btctl("status").stderr == FILES
    assert btd.btctl("list").stderr == warning("plain")
    (shelf.second / "low.json").unlink()
    assert btd.btctl("status", "low").stderr == warning("low")
    assert btd.btctl("list").stderr == warning("low") + warning("plain")
    for words in ("list", "-q"), ("status", "plain", "-q"), ("start", "plain", "-q"), ("status", "-q"):
        assert btd.btctl(*words).stderr == ""
    shelf.reload()
    for words in ("list",), ("status", "plain"), ("start", "plain"), ("status",):
        assert btd.btctl(*words).stderr == ""


def test_directories_that_btd_makes(btd, tmp_path):
    """As for a user who has no ~/.local yet."""
    btd.tree("plain", {"type": "AlwaysSuccess"})
    btd.start(f"--trees={tmp_path}/run/btd/trees", f"--trees={tmp_path}/home/share/btd/trees",
              f"--runtime={tmp_path}/run/btd", f"--state={tmp_path}/home/state/btd")
    assert btd.btctl("status").stderr == ""
    assert btd.btctl("start", "plain", "--wait").returncode == 0
    assert btd.btctl("status").stderr == ""


def test_a_new_file(shelf, btd):
    (shelf.first / "young.json").write_text(OTHER)
    assert btd.btctl("list").stderr == FILES
    result = btd.btctl("start", "young")
    assert (result.returncode, result.stdout) == (1, "") and result.stderr.startswith(FILES + "btctl: ")


def test_json(shelf, btd):
    def needs(*words):
        result = btd.btctl(*words, "--json")
        assert result.stderr == ""
        return json.loads(result.stdout)
    (shelf.first / "plain.json").write_text(OTHER)
    assert {tree["name"]: tree["need_reload"] for tree in needs("list")} == {
        "coded": False, "link": False, "low": False, "plain": True, "user": False}
    assert needs("status", "plain")["need_reload"] is True and needs("status", "user")["need_reload"] is False
    overview = needs("status")
    assert overview["need_reload"] is True
    assert [tree["name"] for tree in overview["trees"] if tree["need_reload"]] == ["plain"]
    assert btd.btctl("start", "plain", "user").returncode == 0
    assert needs("status", "plain.1")["need_reload"] is True and needs("status", "user.1")["need_reload"] is False
