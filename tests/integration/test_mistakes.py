# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests mistakes in tree files: each is reported at its place, none hides another, and the schema finds most."""

import json
import pathlib
import random
import re
import subprocess

import breaking
import jsonschema
import messages
import pytest
import state_trees
from daemon import BTCTL

ROOT = pathlib.Path(__file__).parents[2]

CALL = '"type": "DBusCall", "destination": "a.b", "path": "/a", "interface": "a.b", "member": "M"'
PROPERTY = '"type": "DBusProperty", "destination": "a.b", "path": "/a", "interface": "a.b", "property": "P"'
ACT = '{"type": "Sleep", "duration": "1s"}'

# Nodes with mistakes: the mark stands before each token that has to be pointed at.
MISTAKES = {
    "no-such-type": '{"type": §"Sequnce", "children": [' + ACT + ']}',
    "no-type": '§{"children": [' + ACT + ']}',
    "unknown-key": '{"type": "Sleep", "duration": "1s", §"durations": "1s"}',
    "missing": '§{"type": "Sleep"}',
    "twice": '{"type": "Sleep", "duration": "1s", §"duration": "2s"}',
    "span-number": '{"type": "Sleep", "duration": §5}',
    "span-unit": '{"type": "Sleep", "duration": §"5"}',
    "span-bad-unit": '{"type": "Sleep", "duration": §"5 parsecs"}',
    "enum": '{"type": "Log", "message": "x", "level": §"warnin"}',
    "enum-kind": '{"type": "Log", "message": "x", "level": §3}',
    "bool": '{' + CALL + ', "auto_start": §"yes"}',
    "int-fraction": '{"type": "Repeat", "num_cycles": §2.5, "child": ' + ACT + '}',
    "int-range": '{"type": "Spawn", "argv": ["x"], "output_limit": §-1}',
    "argv-empty": '{"type": "Spawn", "argv": §[]}',
    "argv-program": '{"type": "Spawn", "argv": [§"bin/true"]}',
    "argv-empty-program": '{"type": "Spawn", "argv": [§"", "x"]}',
    "argv-kind": '{"type": "Spawn", "argv": ["x", §5, "y", §null]}',
    "cwd": '{"type": "Spawn", "argv": ["x"], "cwd": §"tmp"}',
    "env": '{"type": "Spawn", "argv": ["x"], "env": {"A": "b", §"1A": "b"}}',
    "user": '{"type": "Spawn", "argv": ["x"], "user": §""}',
    "success-exit": '{"type": "Spawn", "argv": ["x"], "success_exit": [0, §256, 3, §"x"]}',
    "success-exit-empty": '{"type": "Spawn", "argv": ["x"], "success_exit": §[]}',
    "properties": '{"type": "Spawn", "argv": ["x"], "properties": {"MemoryMax": §true, §"MemoryMx": 1, "Nice": 3}}',
    "properties-of-a-child": '{"type": "Spawn", "argv": ["x"], "as": "child", §"properties": {"Nice": 3}}',
    "signal": '{"type": "Spawn", "argv": ["x"], "kill_signal": §"TERM"}',
    "unit": '{"type": "StartUnit", "unit": §"a b.service"}',
    "unit-suffix": '{"type": "StartUnit", "unit": §"a.servce"}',
    "unit-empty": '{"type": "StopUnit", "unit": §""}',
    "mode": '{"type": "StartUnit", "unit": "a.service", "mode": §"replce"}',
    "state": '{"type": "UnitState", "unit": "a.service", "state": §"actve"}',
    "states": '{"type": "UnitState", "unit": "a.service", "state": ["active", §"dead"]}',
    "states-empty": '{"type": "UnitState", "unit": "a.service", "sub_state": §[]}',
    "load-state": '{"type": "UnitState", "unit": "a.service", "load_state": §"lodaed"}',
    "path": '{"type": "PathExists", "path": §"tmp/x"}',
    "bus": '{' + CALL + ', "bus": §"sytem"}',
    "destination": '{"type": "DBusCall", "destination": §"camera", "path": "/", "interface": "a.b", "member": "M"}',
    "object-path": '{"type": "DBusCall", "destination": "a.b", "path": §"a/b", "interface": "a.b", "member": "M"}',
    "interface": '{"type": "DBusCall", "destination": "a.b", "path": "/", "interface": §"ab", "member": "M"}',
    "member": '{"type": "DBusCall", "destination": "a.b", "path": "/", "interface": "a.b", "member": §"a.M"}',
    "four-at-once": '{"type": "DBusCall", "destination": §"x", "path": §"x", "interface": §"x", "member": §"a b"}',
    "property": '{"type": "DBusProperty", "destination": "a.b", "path": "/", "interface": "a.b", "property": §"a-b"}',
    "signature": '{' + CALL + ', "signature": §"a", "args": [1]}',
    "args-kind": '{' + CALL + ', "signature": "s", "args": §"x"}',
    "args-count": '{' + CALL + ', "signature": "ss", "args": §["x"]}',
    "args-count-and-kind": '{' + CALL + ', "signature": "sys", "args": §["x", §"y"]}',
    "args-none": '§{' + CALL + ', "signature": "s"}',
    "args": '{' + CALL + ', "signature": "sya{sv}", "args": [§1, §256, {"k": {"signature": "u", "value": §-1}}]}',
    "args-beside-references": '{' + CALL + ', "signature": "sy", "args": ["{x}", §-1]}',
    "equals-and-one-of": '{' + PROPERTY + ', "equals": 1, §"one_of": [1, 2]}',
    "one-of-kind": '{' + PROPERTY + ', "one_of": §3}',
    "one-of-empty": '{' + PROPERTY + ', "one_of": §[]}',
    "test-and-equals": '{' + PROPERTY + ', "test": "value > 1", §"equals": 3}',
    "field": '{' + PROPERTY + ', "field": ["a", §-1, §true, 0]}',
    "field-kind": '{' + PROPERTY + ', "field": §"a"}',
    "sender": '{"type": "DBusSignal", "sender": §"x", "member": "M"}',
    "name": '{"type": "DBusName", "name": §"x"}',
    "hz-and-period": '{"type": "RateController", "hz": 2, §"period": "1s", "child": ' + ACT + '}',
    "neither-hz-nor-period": '§{"type": "RateController", "child": ' + ACT + '}',
    "hz-zero": '{"type": "RateController", "hz": §0, "child": ' + ACT + '}',
    "period-zero": '{"type": "RateController", "period": §"0s", "child": ' + ACT + '}',
    "items": '{"type": "ForEach", "items": §5, "as": "x", "child": ' + ACT + '}',
    "cases": '{"type": "Switch", "variable": "x", "cases": §["a", "b"], "children": [' + ACT + ', ' + ACT + ']}',
    "variable-and-of": '{"type": "Switch", "variable": "x", §"of": "x", "cases": ["a"], "children": ['
                       + ACT + ', ' + ACT + ']}',
    "success-count": '{"type": "Parallel", "success_count": §3, "children": [' + ACT + ', ' + ACT + ']}',
    "both-counts": '{"type": "Parallel", "success_count": §3, "failure_count": §4, "children": [' + ACT + ', ' + ACT
                   + ']}',
    "max-failures": '{"type": "ParallelAll", "max_failures": §3, "children": [' + ACT + ', ' + ACT + ']}',
    "no-child": '§{"type": "Inverter"}',
    "children-of-a-decorator": '{"type": "Inverter", §"children": [' + ACT + ']}',
    "child-of-a-leaf": '{"type": "Sleep", "duration": "1s", §"child": ' + ACT + '}',
    "children-kind": '{"type": "Sequence", "children": §5}',
    "child-kind": '{"type": "Sequence", "children": [§5, ' + ACT + ', §"x"]}',
    "too-few": '{"type": "IfThenElse", "children": §[' + ACT + ']}',
    "expression": '{"type": "Condition", "test": "x > §"}',
    "guard": '{"type": "Sleep", "duration": "1s", "skip_if": "x > §", "fail_if": §5}',
    "keyword": '{"type": "Spawn", "argv": ["x"], "stdout": §"end", "stderr": §"9"}',
    "keyword-of-a-list": '{"type": "ForEach", "items": [1], "as": §"in", "child": ' + ACT + '}',
    "concurrency": '{"type": "ForEach", "items": [1], "as": "i", "concurrency": §0, "child": ' + ACT + '}',
    "message-kind": '{"type": "Log", "message": §["x"]}',
    "delay": '{"type": "Delay", "delay": §"1 sek", "child": ' + ACT + '}',
    "timeout": '{"type": "Timeout", "timeout": §true, "child": ' + ACT + '}',
    "outputs": '{' + CALL + ', "outputs": ["a", §"b c", ""]}',
    "uninterruptible": '{"type": "Sleep", "duration": "1s", "uninterruptible": §1}',
    "lock": '{"type": "Sleep", "duration": "1s", "lock": §""}',
    "halt-timeout": '{"type": "Sequence", §"halt_timeout": "1s", "children": [' + ACT + ']}',
    "retry-on": '{"type": "Retry", "num_attempts": 3, "retry_on": [§"exit-statu", "timeout"], "child": ' + ACT + '}',
    "backoff": '{"type": "Retry", "num_attempts": 3, "backoff": {"initial": §5, §"fctor": 2}, "child": ' + ACT + '}',
    "wait-for-an-action": '{"type": "WaitFor", "child": §' + ACT + '}',
    "behind-an-unknown-type": '{"type": "Parallel", "success_count": §5, "children": [{"type": §"Slep", "duration": '
                              '§5}, {"type": "Spawn", "argv": §[]}]}',
    "below-a-wrong-shape": '{"type": "Inverter", §"children": [{"type": "ParallelAll", "max_failures": §2, '
                           '"children": [' + ACT + ']}]}',
}

# What the schema cannot say: relations between a value and children or other values, expressions, what stands twice.
BEYOND_SCHEMA = {"twice", "cases", "success-count", "both-counts", "max-failures", "args-count", "args-none", "args", "args-count-and-kind",
                 "args-beside-references", "expression", "wait-for-an-action", "unit-suffix"}


def file_of(root):
    return '{"btd": 1, "inputs": {"x": "any"},\n "root": ' + root + '}'


def without_marks(text):
    """The text and, for each mark, its line and column."""
    places, line, column, plain = [], 1, 1, []
    for c in text:
        if c == messages.MARK:
            places.append((line, column))
            continue
        plain.append(c)
        line, column = (line + 1, 1) if c == "\n" else (line, column + 1)
    return "".join(plain), places


def validate_all(texts, directory):
    """The errors of each text, in order."""
    paths = [directory / f"t{number}.json" for number in range(len(texts))]
    for path, text in zip(paths, texts):
        path.write_text(text, encoding="utf-8", newline="")
    done = subprocess.run([BTCTL, "validate", "--json", *paths], capture_output=True, text=True)
    assert done.returncode == 1, done.stderr
    return [[entry for entry in result["diagnostics"] if entry["severity"] == "error"]
            for result in json.loads(done.stdout)]


def assert_places(texts, tmp_path):
    """Errors are at the marks and nowhere else. Returns those of each text."""
    cases = [without_marks(text) for text in texts]
    found = validate_all([plain for plain, _ in cases], tmp_path)
    for (plain, places), entries in zip(cases, found):
        assert [(entry["line"], entry["column"]) for entry in entries] == places, (plain, entries)
    return found


def test_each_mistake_at_its_place(tmp_path):
    assert_places([file_of(root) for root in MISTAKES.values()], tmp_path)


def random_tree(random_source, leaves, depth):
    """JSON of a tree with all the leaves in it, in order, and valid nodes around them."""
    if not leaves or depth == 0:
        inside = ", ".join(leaves or [ACT])
        return '{"type": "Sequence", "children": [' + inside + ']}'
    cut = random_source.randint(0, len(leaves))
    parts = [random_tree(random_source, part, depth - 1) for part in (leaves[:cut], leaves[cut:])]
    kind = random_source.choice(["Sequence", "Fallback", "Parallel", "Inverter", "Timeout"])
    if kind == "Inverter":
        parts[0] = '{"type": "Inverter", "child":\n' + parts[0] + '}'
    elif kind == "Timeout":
        parts[1] = '{"type": "Timeout", "timeout": "1h", "child": ' + parts[1] + '}'
    if kind in ("Inverter", "Timeout"):
        kind = "Sequence"
    return '{"type": "' + kind + '", "children": [' + ",\n   ".join(parts) + ']}'


def test_none_hides_another(tmp_path):
    source = random.Random(12)
    names = sorted(MISTAKES)
    texts = []
    for _ in range(200):
        leaves = [MISTAKES[source.choice(names)] for _ in range(source.randint(1, 5))]
        for at in range(source.randint(0, 3)):
            leaves.insert(source.randint(0, len(leaves)), ACT)
        texts.append(file_of(random_tree(source, leaves, source.randint(0, 3))))
    assert_places(texts, tmp_path)


def valid_trees():
    """The examples, those of other tests, and one with every type and parameter."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(ROOT.glob("trees/*.json"))]
    texts += re.findall(r"```json\n(\{.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.S)
    texts = [text for text in texts if '"btd"' in text]
    every = (ROOT / "tests/support/every_parameter.json").read_text(encoding="utf-8")
    trees = [breaking.plain_json(text) for text in texts + [every] * 10]
    return trees + [{"btd": 1, "blackboard": state_trees.BLACKBOARD, "trees": state_trees.SUBTREES, "root": root}
                    for root in (state_trees.WORK, state_trees.WATCH, state_trees.SLOW, state_trees.LOOP,
                                 state_trees.BROKEN, state_trees.RERUN)]


@pytest.fixture(scope="module")
def types():
    return json.loads(subprocess.run([BTCTL, "types", "--json"], capture_output=True, text=True, check=True).stdout)


def broken_tree(seed, trees, types):
    """(text, places, mistakes)"""
    source = random.Random(seed)
    tree, writer = trees[seed % len(trees)], breaking.Writer(source)
    if seed % 5 == 4:
        tokens, made = breaking.break_syntax(source, list(writer.tokens_of(breaking.to_thing(tree))))
    else:
        broken, made = breaking.Breaker(source, types).break_tree(tree, source.randint(1, 5))
        tokens = writer.tokens_of(broken)
    return (*writer.write(tokens), made)


BROKEN_TREES = 400


def test_broken_trees(types, tmp_path):
    """What is broken in a valid tree is told at its place, all of it, nothing twice and nothing else."""
    trees = valid_trees()
    for path in ROOT.glob("trees/*.json"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    cases = [broken_tree(seed, trees, types) for seed in range(BROKEN_TREES)]
    found = validate_all([text for text, _, _ in cases], tmp_path)
    for seed, ((text, places, made), entries) in enumerate(zip(cases, found)):
        assert sorted((entry["line"], entry["column"]) for entry in entries) == places, (seed, made, text, entries)


def as_json(text):
    """None: it is none."""
    try:
        return breaking.plain_json(text)
    except (ValueError, TypeError):
        return None


def share_refused(schema, texts):
    """Of those that are JSON."""
    documents = [document for document in map(as_json, texts) if document is not None]
    return sum(not schema.is_valid(document) for document in documents) / len(documents)


def test_schema_refuses_most(schema, types):
    """The table has more of what a schema cannot say than the random mistakes."""
    trees = valid_trees()
    assert share_refused(schema, [broken_tree(seed, trees, types)[0] for seed in range(0, BROKEN_TREES, 2)]) >= 0.9
    texts = messages.trees(bad=True) + [without_marks(file_of(root))[0] for root in MISTAKES.values()]
    assert share_refused(schema, texts) >= 0.75


def test_schema_accepts_valid_trees(schema):
    for tree in valid_trees():
        schema.validate(tree)


def test_sarif(tmp_path):
    plain, places = without_marks(file_of(MISTAKES["argv-kind"]))
    path = tmp_path / "a tree.json"
    path.write_text(plain, encoding="utf-8")
    done = subprocess.run([BTCTL, "validate", "--format=sarif", path], capture_output=True, text=True)
    log = json.loads(done.stdout)
    assert done.returncode == 1 and log["version"] == "2.1.0"
    results = log["runs"][0]["results"]
    regions = [result["locations"][0]["physicalLocation"]["region"] for result in results]
    assert [(region["startLine"], region["startColumn"]) for region in regions] == places
    assert results[0]["message"]["text"] == "argv[1]: expected a string, not 5; write it in double quotes"
    assert results[0]["level"] == "error"
    assert results[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].endswith("/a%20tree.json")
    assert results[0]["locations"][0]["logicalLocations"] == [{"fullyQualifiedName": "Spawn"}]


def sarif_object(required, optional=None):
    """An object with these properties and no others."""
    return {"type": "object", "required": list(required), "additionalProperties": False,
            "properties": {**required, **(optional or {})}}


def sarif_list(items):
    return {"type": "array", "items": items, "uniqueItems": True}


# The part of SARIF 2.1.0 that is used. "bootstrap editors" checks the same against the published schema.
TEXT = {"type": "string", "minLength": 1}
REGION = sarif_object({name: {"type": "integer", "minimum": 1}
                       for name in ("startLine", "startColumn", "endLine", "endColumn")})
LOCATION = sarif_object({"physicalLocation": sarif_object({"artifactLocation": sarif_object({
    "uri": {"type": "string", "pattern": r"^([A-Za-z0-9._~/-]|%[0-9A-F]{2})+$"}})}, {"region": REGION})},
    {"logicalLocations": sarif_list(sarif_object({"fullyQualifiedName": TEXT}))})
RESULT = sarif_object({"ruleId": {"enum": ["tree-error", "tree-warning"]}, "level": {"enum": ["warning", "error"]},
                       "message": sarif_object({"text": {"type": "string", "pattern": r"^([^{}]|\{\{|\}\})+$"}}),
                       "locations": {**sarif_list(LOCATION), "minItems": 1}})
SARIF = sarif_object({"version": {"const": "2.1.0"}, "$schema": {"type": "string", "format": "uri"},
                      "runs": sarif_list(sarif_object({
                          "tool": sarif_object({"driver": sarif_object({"name": TEXT, "version": TEXT})}),
                          "columnKind": {"const": "unicodeCodePoints"},
                          "results": {"type": "array", "items": RESULT}}))})


def test_sarif_of_many(tmp_path):
    texts = messages.trees()
    for number, text in enumerate(texts):
        (tmp_path / f"t{number}.json").write_text(text, encoding="utf-8")
    files = [tmp_path / f"t{number}.json" for number in range(len(texts))] + [tmp_path / "none.json"]
    done = subprocess.run([BTCTL, "validate", "--format=sarif", *files], capture_output=True, text=True)
    log = json.loads(done.stdout)
    jsonschema.validate(log, SARIF)
    uris = [result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in log["runs"][0]["results"]]
    assert done.returncode == 1 and list(dict.fromkeys(uris)) == [str(file) for file in files]
    for result in log["runs"][0]["results"]:
        region = result["locations"][0]["physicalLocation"].get("region")
        assert not region or ((region["startLine"], region["startColumn"]) <= (region["endLine"], region["endColumn"]))
    braces = [result["message"]["text"] for result in log["runs"][0]["results"] if "{" in result["message"]["text"]]
    assert any('{{"type": "Sequence", ...}}' in text for text in braces)


def test_exit_status_and_files(tmp_path):
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_text(file_of('{"type": "StartUnit", "unit": "a"}'))  # has but a warning
    bad.write_text(file_of('{"type": "Slep"}'))
    for files, status in [([good], 0), ([bad], 1), ([good, bad, good], 1)]:
        done = subprocess.run([BTCTL, "validate", "--json", *files], capture_output=True, text=True)
        assert done.returncode == status
        assert [(entry["file"], entry["valid"]) for entry in json.loads(done.stdout)] == \
            [(str(file), file is good) for file in files]


def test_standard_input(tmp_path):
    (tmp_path / "steps.json").write_text('{"btd": 1, "trees": {"step": {"root": {"type": "AlwaysSuccess"}}}}')
    text = '{"btd": 1, "include": ["steps.json"], "root": {"type": "SubTree", "tree": "stop"}}'
    done = subprocess.run([BTCTL, "validate", "-"], input=text, capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (
        1, "-:1:75: error: tree: there is no tree 'stop'; did you mean 'step'? (in SubTree)\n")
    done = subprocess.run([BTCTL, "validate", "-"], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert done.stderr == '-:1:1: error: the file is empty; a tree file starts with {"btd": 1, ...}\n'
    with open("/proc/self/mem", "rb") as unreadable:
        done = subprocess.run([BTCTL, "validate", "-"], stdin=unreadable, capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr.startswith("-: error: cannot be read: ")


@pytest.mark.parametrize("mark, text", [
    ("\ufeff", '{"btd": 1, "root": {"type": §"Slep", "duration": §5}}'),
    ("\ufeff", '{\r\n"btd": §"1", "root": {"type": "AlwaysSuccess"}}'),
    ("", '{"btd": 1,\r\n\t"root":\t{"type": §"Slep",\r\n "duration": §5}}'),
    ("", '{"btd": 1, "description": "é☃𝄞", "root": §5}'),
    ("", '{"btd": 1, /* é */ "root": {"type": "Condition", "test": "\'☃\' ==§"}}'),
    ("", '{"btd": 1, "root": {"type": "Condition", "test": "1\\n§\\u00e9"}}'),
])
def test_columns(mark, text, tmp_path):
    """Characters, tabs among them; a byte order mark is none, and a mistake."""
    plain, places = without_marks(text)
    found, = validate_all([mark + plain], tmp_path)
    assert [(entry["line"], entry["column"]) for entry in found] == [(1, 1)] * bool(mark) + places, found
    assert not mark or found[0]["text"] == "the file starts with a byte order mark; save it without one"


@pytest.mark.parametrize("test, end", [("x >§", 1), ("(1§", 1), ("x > 1 §y", 1), ("§zzqx + 1", 4)])
def test_end_inside_of_a_string(test, end, tmp_path):
    (entry,), = assert_places([file_of('{"type": "Condition", "test": "' + test + '", "name": "x"}')], tmp_path)
    assert entry["end_column"] == entry["column"] + end


def test_sarif_is_the_only_other_format():
    done = subprocess.run([BTCTL, "validate", "--format=xml", "x"], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith("btctl: '--format' of validate is sarif, not 'xml'\n")


@pytest.fixture(scope="module")
def schema():
    text = subprocess.run([BTCTL, "schema"], capture_output=True, text=True, check=True).stdout
    return jsonschema.Draft202012Validator(json.loads(text))


@pytest.mark.parametrize("name", MISTAKES)
def test_schema_knows_it(schema, name):
    plain, _ = without_marks(file_of(MISTAKES[name]))
    assert schema.is_valid(json.loads(plain)) == (name in BEYOND_SCHEMA)


def test_schema_knows_most():
    """Of all mistakes that are JSON."""
    assert len(BEYOND_SCHEMA) <= 0.15 * len(MISTAKES)


@pytest.mark.parametrize("path", sorted(pathlib.Path(__file__).parents[2].glob("trees/*.json")), ids=lambda p: p.name)
def test_schema_accepts_examples(schema, path):
    text = re.sub(r"^\s*//.*$", "", path.read_text(encoding="utf-8"), flags=re.M)
    document = json.loads(text)
    if "btd" in document:
        schema.validate(document)


@pytest.mark.parametrize("name, meant", [("signal", "SIGTERM"), ("enum", "warning"), ("no-such-type", "Sequence"),
                                         ("mode", "replace"), ("load-state", "loaded"), ("retry-on", "exit-status")])
def test_suggestions(name, meant, tmp_path):
    (found,), = assert_places([file_of(MISTAKES[name])], tmp_path)
    assert found["suggestion"] == meant and "did you mean" in found["text"]


def test_ends_and_suggestions(tmp_path):
    (level, key), = assert_places(
        [file_of('{"type": "Log", "message": "é", "level": §"wrning", §"mesage": 5}')], tmp_path)
    assert level["suggestion"] == "warning" and key["suggestion"] == "message"
    assert level["end_line"] == level["line"] and level["end_column"] == level["column"] + len('"wrning"')
    assert key["end_column"] == key["column"] + len('"mesage"')
