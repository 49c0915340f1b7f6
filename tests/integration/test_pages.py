# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares the pages with the program: btd-nodes(5), whose examples run as they are printed, and in all pages the limits,
options, variables of the environment, exit statuses, units and commands. Other tests compare the README (simulate), the
cookbook (cookbook), the keys of a tree file (reference), org.btd1(5) (interface) and what the next btd does (durability)."""

import html
import json
import pathlib
import re
import subprocess

import pytest

import client
import daemon
import outputs

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


@pytest.mark.parametrize("page", ["btd-nodes.5", "btd-outputs.5"])
def test_page_is_clean(page):
    try:
        lint = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", PAGE.with_name(page)], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("mandoc is not installed")
    assert lint.returncode == 0, lint.stdout


# All pages

PAGES = {path: path.read_text(encoding="utf-8") for folder in ("client", "daemon", "trees", "units")
         for path in (ROOT / folder).rglob("*") if re.search(r"\.[1578](\.in)?$", path.name)}
SOURCES = {path: path.read_text(encoding="utf-8") for folder in ("client", "daemon")
           for path in (ROOT / folder).rglob("*.[ch]")}


def page(name):
    return next(text for path, text in PAGES.items() if path.name == name)


def test_numbers(tmp_path):
    """The table of exact numbers in btd-expressions(7)."""
    rows = re.findall(r"^\.It Li (b = .*) Ta ([^ \n]+)", page("btd-expressions.7"), re.M)
    for code, value in rows:
        path = tmp_path / "numbers.json"
        path.write_text('{ "btd": 1, "blackboard": { "a": 18446744073709551615, "b": 0 },'
                        f' "root": {{ "type": "Script", "code": "{code}" }} }}', encoding="utf-8")
        said = subprocess.run([daemon.BTCTL, "simulate", path], capture_output=True, text=True, check=True).stdout
        assert f" b={value.replace(chr(92), '')}\n" in said, (code, said)
    assert len(rows) == 6


def test_limits():
    """The table in btd(8), and the defaults of the program."""
    code = SOURCES[ROOT / "daemon/basic/limit.c"]
    names = dict(re.findall(r'\[(LIMIT_\w+)\] = \{ "([\w-]+)", ', code))
    defaults = {names[key]: eval(value) for key, value in re.findall(r"\[(LIMIT_\w+)\] = ([\d *]+),", code)}
    shown = re.findall(r"^\.It .* Ta Li ([\w-]+) Ta (\d+)$", page("btd.8"), re.M)
    assert len(defaults) > 15 and {name: int(number) for name, number in shown} == defaults


def properties(schema):
    """The names of all keys that a JSON schema has."""
    for below in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else []:
        yield from properties(below)
    if isinstance(schema, dict) and isinstance(schema.get("properties"), dict):
        yield from schema["properties"]


def test_outputs():
    """The schema of what btctl prints with --json: each verb, and no key that the program does not have. outputs.py compares
    what it prints with the schema."""
    told = subprocess.run([daemon.BTCTL, "schema", "outputs"], capture_output=True, text=True, check=True).stdout
    assert json.loads(told) == outputs.SCHEMA
    words = {word for text in SOURCES.values() for word in re.findall(r'"(\w+)"', text)}
    keys = set(properties(outputs.SCHEMA))
    assert len(keys) > 100 and keys <= words, keys - words
    silent = {"set", "forget", "pause", "resume", "step", "force", "plot", "graph", "watch", "metrics", "schema", "help",
              "edit", "revert", "enable", "disable", "preset"}
    verbs = subprocess.run([daemon.BTCTL, "complete", "verbs"], capture_output=True, text=True, check=True).stdout.split()
    assert outputs.VERBS == set(verbs) - silent


def test_options_of_btd():
    told = subprocess.run([daemon.BTD, "--help"], capture_output=True, text=True, check=True).stdout
    options = set(re.findall(r"^(?:  -h,)? +--([\w-]+)", told, re.M))
    section = re.search(r"^\.Sh OPTIONS\n(.*?)^\.Sh ", page("btd.8"), re.M | re.S)[1]
    assert set(re.findall(r"^\.It Fl -([\w-]+)", section, re.M)) == options
    assert re.search(r"the default is\n\.Li (\w+) \.", section)[1] == re.search(r"when stopping \((\w+)\)", told)[1]


def test_environment():
    """What the program reads is in a page, and what a page names is read by the program, or by a library for it."""
    read = {name for text in SOURCES.values() for name in re.findall(r'getenv\("(\w+)"\)', text)}
    named = {name for text in PAGES.values() for line in re.findall(r"^\.(?:It |Pq |Po )?Ev (.*)$", text, re.M)
             for name in re.findall(r"\b[A-Z][A-Z_]{3,}\b", line)}
    assert read - named <= {"SUDO_UID", "INVOCATION_ID", "XDG_RUNTIME_DIR", "LESS"}
    words = {word for text in SOURCES.values() for word in re.findall(r'"([A-Z_]+)"', text)}
    assert named - words <= {"LANG", "LC_ALL", "LC_CTYPE", "SERVICE_RESULT", "WATCHDOG_USEC"}


def test_exit_statuses():
    code = SOURCES[ROOT / "client/view/report.h"]
    known = {"0", "1"} | set(re.findall(r"EXIT_\w+ = (\d+),", code))
    section = re.search(r"^\.Sh EXIT STATUS\n(.*?)^\.Sh ", page("btctl.1"), re.M | re.S)[1]
    assert {status.removesuffix("+N") for status in re.findall(r"^\.It (\S+)$", section, re.M)} == known


def test_units():
    """Each unit of btd that a page names is there."""
    there = {path.name.removesuffix(".in") for path in (ROOT / "units").rglob("btd*")}
    for path, text in PAGES.items():
        named = set(re.findall(r"\b(btd(?:-run|-job|-metrics)?@?\.(?:service|socket|timer))\b", text))
        assert named <= there, f"{path.name} names {named - there}"


def test_help_topics(tmp_path):
    """btctl help knows all pages, verbs, types, keys and words; and each place that it tells less(1) is their entry."""
    (tmp_path / "man").write_text('#!/bin/sh\nprintf "%s\\n" "$1" "$2" "$LESS"\n', encoding="utf-8")
    (tmp_path / "man").chmod(0o755)

    def helped(topic):
        told = subprocess.run([daemon.BTCTL, "help", topic], capture_output=True, text=True, check=True,
                              env={"PATH": f"{tmp_path}:/bin:/usr/bin", "LESS": "-R"}).stdout.splitlines()
        return f"{told[1]}.{told[0]}", told[2].partition("+/")[2]

    topics = subprocess.run([daemon.BTCTL, "complete", "topics"], capture_output=True, text=True, check=True).stdout.splitlines()
    names = {path.name.removesuffix(".in") for path in PAGES}
    assert names == {helped(topic)[0] for topic in topics}
    words = set(re.findall(r"^\.It Sy (.*)$", page("btd-glossary.7"), re.M))
    assert words <= set(topics) and {helped("run record")[0], helped("Snapshot")[0]} == {"btd-glossary.7"}
    assert helped("Retry") == helped("RetryUntilSuccessful") and helped("btd-tree(5)") == ("btd-tree.5", "")

    missing = subprocess.run([daemon.BTCTL, "help"], capture_output=True, text=True, check=False, env={"PATH": "/nowhere"})
    assert missing.stderr == "btctl: cannot show btctl(1) with man(1): No such file or directory\n"

    shown, wrong = {}, []
    for topic in topics:
        name, place = helped(topic)
        if not place:
            continue
        if name not in shown:
            path = PAGE if name == PAGE.name else next(path for path in PAGES if path.name == name)
            printed = subprocess.run(["man", "-l", path], capture_output=True, text=True, check=False,
                                     env={"PATH": "/bin:/usr/bin", "MANWIDTH": "80", "LC_ALL": "C.UTF-8"})
            shown[name] = printed.stdout.splitlines()
        line = next((line for line in shown[name] if re.search(place, line)), "")
        if not re.fullmatch(rf"   (?:  (?:[a-z_]+, )*)?{re.sub(r'^. +([(].*[)][*])?', '', place)[:-2]}(?:[ ,].*)?", line):
            wrong.append(f"{topic}: {name}, {place}: {line}")
    assert not wrong, "\n".join(wrong)


def test_html():
    """No link is dead, nothing needs a network, and the index leads to each page, type and example."""
    directory = pathlib.Path(daemon.BUILD, "trees", "html")
    if not directory.exists():
        pytest.skip("the pages are made with mandoc")
    texts = {path: path.read_text(encoding="utf-8") for path in [*directory.rglob("*.html"), *directory.rglob("*.css")]}
    anchors = {path: set(re.findall(r'\bid="([^"]*)"', text)) for path, text in texts.items()}

    reached, wrong = [(directory / "index.html").resolve()], []
    for path in reached:
        for kind, target in re.findall(r'(href|src)="([^"]*)"', texts.get(path, "")):
            file, _, anchor = html.unescape(target).partition("#")
            linked = (path.parent / file).resolve() if file else path
            if target.startswith("http") and kind == "href":
                continue
            if not linked.exists() or (linked in anchors and anchor and anchor not in anchors[linked]):
                wrong.append(f"{path.name}: {target}")
            if linked not in reached:
                reached.append(linked)
    assert not wrong, "\n".join(wrong)
    assert set(map(pathlib.Path.resolve, texts)) <= set(reached)
    assert {path.name.removesuffix(".in") + ".html" for path in PAGES} < {path.name for path in texts}

    nodes = texts[directory / "btd-nodes.5.html"]
    for node_type in TYPES:
        assert f'href="btd-nodes.5.html#{node_type["name"]}"' in texts[directory / "index.html"]
        shown = re.search(rf'id="{node_type["name"]}">(.*?)</section>', nodes, re.S)[1]
        for path in (ROOT / "trees").rglob("*.json"):
            used = re.search(rf'"type": "(?:{"|".join([node_type["name"], *node_type["aliases"]])})"', path.read_text("utf-8"))
            assert bool(used) == (f'href="examples/{path.stem}.html"' in shown), (node_type["name"], path.name)
    assert 'href="../btd-nodes.5.html#Spawn"' in texts[directory / "examples" / "card.html"]


def commands():
    """The command lines of btctl in pages, README and examples."""
    texts = {**PAGES, ROOT / "README.md": (ROOT / "README.md").read_text(encoding="utf-8")}
    for path, text in texts.items():
        lines = [line for block in re.findall(r"^\.Bd -literal[^\n]*\n(.*?)^\.Ed|^```(?:sh|console)\n(.*?)^```", text,
                                              re.M | re.S) for line in "".join(block).splitlines()]
        lines += re.findall(r"^\.(?:It )?(?:Ql|Li) \"?(btctl [^\"\n]*)", text, re.M) + re.findall(r"`(btctl [^`]*)`", text)
        for line in lines:
            line = re.sub(r"\\(?:e$|&|-|[(]..)", "", re.sub(r" [#|>&;].*", "", line.strip().removeprefix("$ ")))
            match = re.match(r"(?:sudo )?(?:\S*/)?btctl (.*)", line)
            if match:
                yield f"{path.name}: {line}", match[1].split()


def test_commands():
    """Verbs and their options."""
    verbs = set(subprocess.run([daemon.BTCTL, "complete", "verbs"], capture_output=True, text=True,
                               check=True).stdout.split())
    options = {verb: set(subprocess.run([daemon.BTCTL, "complete", "options", verb], capture_output=True, text=True,
                                        check=True).stdout.replace("=", "").split()) for verb in ["", *verbs]}
    wrong, n = [], 0
    for line, words in commands():
        verb = next((word for word in words if word in verbs), "")
        used = {re.match(r"--[\w-]*", word)[0] for word in words if word.startswith("--")}
        operands = [word for word in words if not word.startswith("-")]
        n += 1
        if used - options[verb] or (operands and re.fullmatch("[a-z]+", operands[0]) and not verb):
            wrong.append(line)
    assert n > 80 and not wrong, "\n".join(wrong)
