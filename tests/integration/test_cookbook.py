# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests btd-cookbook(7) as a reader does who has only the page: the files and the commands are taken from it."""

import os
import pathlib
import re
import subprocess

import pytest

import client
import daemon

COOKBOOK = pathlib.Path(__file__).resolve().parents[2] / "trees" / "cookbook"
PAGE = pathlib.Path(daemon.BUILD, "trees", "btd-cookbook.7").read_text(encoding="utf-8")


def plain(block):
    """The text that roff shows for the lines of a display."""
    return re.sub(r"^\\&", "", block, flags=re.M).replace(r"\-", "-").replace(r"\e", "\\")


FILES = {name: plain(text) for name, text in re.findall(r"^\.Pa (\S+)\n\.Bd -literal\n(.*?)^\.Ed\n", PAGE, re.M | re.S)}
SESSIONS = [plain(text) for text in re.findall(r"^\.Bd -literal\n(\$ .*?)^\.Ed\n", PAGE, re.M | re.S)]


def test_page_has_all_files():
    here = {path.name for path in COOKBOOK.iterdir()} - {"page.sh", "btd-cookbook.7.in"}
    shown = re.findall(r'^\.\\" file (\S+)$', (COOKBOOK / "btd-cookbook.7.in").read_text(encoding="utf-8"), re.M)
    assert sorted(shown) == sorted(here)
    assert FILES == {name: (COOKBOOK / name).read_text(encoding="utf-8") for name in here
                     if not name.endswith((".session", ".machine"))}
    assert max(len(line) for text in FILES.values() for line in text.splitlines()) <= 120


def test_page_is_clean(tmp_path):
    (tmp_path / "btd-cookbook.7").write_text(PAGE, encoding="utf-8")
    try:
        lint = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", tmp_path / "btd-cookbook.7"], capture_output=True,
                              text=True, check=False)
    except FileNotFoundError:
        pytest.skip("mandoc is not installed")
    assert lint.returncode == 0, lint.stdout


@pytest.fixture(scope="module")
def kitchen(tmp_path_factory):
    """A directory with the files of the page."""
    directory = tmp_path_factory.mktemp("kitchen")
    for name, text in FILES.items():
        (directory / name).write_text(text, encoding="utf-8")
    return directory


def shell(command, directory):
    path = f"{os.path.dirname(daemon.BTCTL)}:{os.environ['PATH']}"
    return subprocess.run(command, shell=True, cwd=directory, env={"PATH": path, "LC_ALL": "C.UTF-8"}, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=client.PATIENCE, check=False).stdout


@pytest.mark.parametrize("session", SESSIONS, ids=[re.search(r"\S+\.json", text)[0] for text in SESSIONS])
def test_session(session, kitchen):
    """If it is right, copy what was printed to the file."""
    made = "".join(f"$ {command}\n{shell(command, kitchen)}" for command in re.findall(r"^\$ (.*)", session, re.M))
    assert made == session


@pytest.mark.parametrize("tree", sorted(name for name in FILES if name.endswith(".json")))
def test_recipe_is_valid(tree, kitchen):
    said = shell(f"btctl validate {tree}", kitchen)
    assert re.fullmatch(rf"{tree}: ok, \d+ nodes\n", said)
    assert any(f"btctl simulate {tree} " in session for session in SESSIONS)
