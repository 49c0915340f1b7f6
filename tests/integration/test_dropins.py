# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the drop-ins of tree files on the search path of btd, and what btctl shows and makes of them."""

import json
import pathlib
import signal

import pytest

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
        "name": "boot", "text": text, "dropins": [{"path": str(dropin), "text": dropin.read_text()}]}
    with pytest.raises(Exception, match="the tree has no such drop-in; its property DropInPaths lists them"):
        btd.client.call(PATH, "org.btd1.Tree", "GetDropIn", "s", str(shelf.tree))


def test_errors_keep_the_tree(btd, shelf):
    dropin = shelf.write(shelf.first / "boot.json.d/a.json", {"nodes": {"Long": {"duration": "2h"}}})
    btd.start(*shelf.options)
    before = shelf.get("Hash")
    dropin.write_text('{\n "nodes": {"Lng": {"duration": "3h"}}}')
    message = f"{dropin}:2:12: error: nodes: no node of boot.json has the name 'Lng'; did you mean 'Long'?\n"
    assert btd.btctl("reload").stderr.startswith(message)
    assert (shelf.get("State"), shelf.get("Hash")) == ("broken", before)
    (shelf.first / "boot.json.d").rename(shelf.first / "other")
    shelf.write(shelf.first / "boot.json.d", "a file")
    assert btd.btctl("reload").stderr.startswith(
        f"{shelf.tree}: error: the drop-ins in '{shelf.first}/boot.json.d' cannot be read: Not a directory\n")


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
