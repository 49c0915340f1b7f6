# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that each node type, parameter and key of tree files is tried, and in the manual."""

import json
import pathlib
import re
import subprocess

import breaking
import pytest
from daemon import BTCTL

ROOT = pathlib.Path(__file__).parents[2]
EVERY = "tests/support/every_parameter.json"
MANUAL = "daemon/definition/btd-tree.5"

# They name other files. tests/unit/definition/test-definition-files.c tries it.
NOT_IN_ONE_FILE = {"include", "lua"}


def btctl_json(*arguments):
    return json.loads(subprocess.run([BTCTL, *arguments], capture_output=True, text=True, check=True).stdout)


@pytest.fixture(scope="module")
def types():
    return btctl_json("types", "--json")


@pytest.fixture(scope="module")
def schema():
    return btctl_json("schema")


@pytest.fixture(scope="module")
def every():
    return breaking.plain_json((ROOT / EVERY).read_text(encoding="utf-8"))


def nodes_of(node):
    yield node
    for child in node.get("children", []) + ([node["child"]] if "child" in node else []):
        yield from nodes_of(child)


def keys_used(every):
    """type -> all keys of its nodes"""
    used = {}
    for tree in [every, *every["trees"].values()]:
        for node in nodes_of(tree["root"]):
            used.setdefault(node["type"], set()).update(node)
    return used


def keys_of_any_node(types, schema):
    """Those that are no parameters."""
    keys = set()
    for node_type in types:
        parameters = {parameter["name"] for parameter in node_type["parameters"]}
        keys |= set(schema["$defs"][node_type["name"]]["properties"]) - parameters
    return keys


def test_every_parameter_is_tried(types, every):
    """The schema, the editor and broken trees are tested with the nodes of this file."""
    used = keys_used(every)
    for node_type in types:
        keys = set().union(*(used.get(name, set()) for name in [node_type["name"], *node_type["aliases"]]))
        assert keys, f"no {node_type['name']} in {EVERY}"
        missing = {parameter["name"] for parameter in node_type["parameters"]} - keys
        assert not missing, f"no {node_type['name']} in {EVERY} has {missing}"


def test_every_key_is_tried(types, schema, every):
    used = set().union(*keys_used(every).values())
    missing = keys_of_any_node(types, schema) - used
    assert not missing, f"no node in {EVERY} has {missing}"
    missing = set(schema["properties"]) - set(every) - NOT_IN_ONE_FILE
    assert not missing, f"{EVERY} has no {missing}"


def test_manual_has_every_key(types, schema):
    """For the types and their parameters, see test_pages.py."""
    manual = (ROOT / MANUAL).read_text(encoding="utf-8")
    named = set(re.findall(r"[$\w]+", " ".join(re.findall(r"^\.(?:It )?(?:Ic|Ql|Qq|Li)(.*)$", manual, re.M))))
    missing = (keys_of_any_node(types, schema) | set(schema["properties"])) - named
    assert not missing, f"{MANUAL} does not explain {missing}"


def test_readme_has_every_leaf(types):
    rows = re.findall(r"^\| .* \|$", (ROOT / "README.md").read_text(encoding="utf-8"), re.M)
    missing = {node["name"] for node in types if node["class"] in ("action", "condition")} - \
        set(re.findall(r"\w+", " ".join(rows)))
    assert not missing, f"the table of types in README.md does not name {missing}"
