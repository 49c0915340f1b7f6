# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests btd-nodes(5): it has every type, as the program knows it, and its examples run as they are printed."""

import json
import pathlib
import re
import subprocess

import pytest

import client
import daemon

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCE = (ROOT / "daemon/definition/btd-nodes.5.in").read_text(encoding="utf-8")
PAGE = pathlib.Path(daemon.BUILD, "client", "btd-nodes.5")
TYPES = json.loads(subprocess.run([daemon.BTCTL, "types", "--json"], capture_output=True, text=True, check=True).stdout)


def entries():
    """The name of each type, and its part of the page."""
    parts = re.split(r"^\.S[sh] (.*)\n", PAGE.read_text(encoding="utf-8"), flags=re.M)
    names = {node_type["name"] for node_type in TYPES}
    return {name: part for name, part in zip(parts[1::2], parts[2::2]) if name in names}


def examples():
    """(type and number, what a simulation ends with, the text)"""
    for name, part in entries().items():
        blocks = re.findall(r'(?:^\.\\" result: (\w+)\n)?^\.Bd -literal[^\n]*\n(\{.*?)^\.Ed', part, re.M | re.S)
        for number, (result, text) in enumerate(blocks):
            yield f"{name}-{number}", result or "success", text.replace(r"\e", "\\")


def test_every_type_has_its_entry():
    listed = re.findall(r'^\.\\" type (\w+)$', SOURCE, re.M)
    assert sorted(listed) == sorted(node_type["name"] for node_type in TYPES)
    assert listed == list(entries())
    assert {name.split("-")[0] for name, _, _ in examples()} == set(listed)


def test_every_action_says_what_ends_it():
    """What a halt and the next btd do; actions that complete at once need not."""
    silent = {node_type["name"] for node_type in TYPES
              if node_type["class"] == "action" and not (node_type["halting"] and node_type["recovery"])}
    assert silent == {"Script", "Log", "AlwaysSuccess", "AlwaysFailure"}
    sleep = subprocess.run([daemon.BTCTL, "types", "Sleep"], capture_output=True, text=True, check=True).stdout
    assert sleep.endswith("\n\nOn a halt:\n  Ends at once.\n\nAfter a restart of btd:\n  Keeps its deadline.\n")


@pytest.mark.parametrize("name, result, text", examples(), ids=[name for name, _, _ in examples()])
def test_example(name, result, text, tmp_path):
    assert f'"{name.split("-")[0]}"' in text
    path = tmp_path / "example.json"
    path.write_text(text if '"btd": 1' in text else '{ "btd": 1, "root": ' + text + "}", encoding="utf-8")
    said = subprocess.run([daemon.BTCTL, "validate", path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=client.PATIENCE, check=False)
    assert re.fullmatch(rf"{path}: ok, \d+ nodes?\n", said.stdout)
    trace = subprocess.run([daemon.BTCTL, "simulate", path, "--until=1h"], capture_output=True, text=True,
                           timeout=client.PATIENCE, check=False)
    assert re.search(rf"\b{result}\b", trace.stdout.splitlines()[-1], re.I), trace.stdout


def test_page_is_clean():
    try:
        lint = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", PAGE], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("mandoc is not installed")
    assert lint.returncode == 0, lint.stdout
