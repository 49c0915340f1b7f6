# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks the rules for the source that a machine can check, on the files that are under version control."""

import pathlib
import re
import subprocess
import warnings

import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]

# From the bottom up; each room may include itself and what stands before it.
ROOMS = ["basic", "engine", "script", "definition", "leaf-types", "record", "run", "bus", "leaves", "runtime",
         "service", "main"]
# btctl speaks D-Bus; of the daemon it includes and links only what its offline verbs need.
CLIENT_MAY = {"basic", "engine", "script", "definition", "leaf-types", "record", "run"}

LONG_FILE = 500
SOURCE = {".c", ".h", ".py", ".sh", ".build"}
# Notes left behind.
UNWANTED = re.compile(r"\bissue #?\d|\b(?:TODO|FIXME|XXX|HACK)\b", re.I)


def listed():
    """Paths from the top, of files that are there; all of them where there is no repository (a tarball)."""
    git = subprocess.run(["git", "-C", TOP, "ls-files", "-z", "--cached", "--others", "--exclude-standard"], capture_output=True, text=True)
    if git.returncode == 0:
        names = git.stdout.split("\0")
    else:
        names = [str(path.relative_to(TOP)) for path in TOP.rglob("*")]
    paths = [pathlib.Path(name) for name in names if name]
    return [path for path in paths if (TOP / path).is_file() and not path.parts[0].startswith("build")]


FILES = listed()


def text_of(path):
    return (TOP / path).read_text(encoding="utf-8", errors="replace")


def room_of(path):
    """Which room a path from daemon/ is in."""
    path = pathlib.Path(path)
    return path.parts[0] if len(path.parts) > 1 else "main"


def is_daemons(path, target):
    """Whether an include means a header of the daemon, not one that lies beside the file."""
    beside = path.parts[0] != "daemon" and (TOP / path.parent / target).exists()
    return not beside and (TOP / "daemon" / target).exists()


def includes():
    for path in FILES:
        if path.suffix in (".c", ".h"):
            for number, line in enumerate(text_of(path).splitlines(), 1):
                match = re.match(r'#include "([^"]+)"', line)
                if match:
                    yield path, number, match.group(1)


def test_includes_point_down():
    wrong = []
    for path, number, target in includes():
        if path.parts[0] != "daemon" or not is_daemons(path, target):
            continue
        here, there = room_of(path.relative_to("daemon")), room_of(target)
        if ROOMS.index(there) > ROOMS.index(here):
            wrong.append(f"{path}:{number}: {here} must not include {target} ({there})")
    assert not wrong, "\n".join(wrong)


def test_includes_are_found_from_daemon():
    """One way to write an include, so that the room can be read off it."""
    wrong = []
    for path, number, target in includes():
        own = path.parts[0] != "daemon" and (TOP / path.parent / target).exists()
        shared = path.parts[0] == "tests" and (list((TOP / "tests").glob("*/" + target)) or
                                                 (TOP / "tests/unit/helpers" / target).exists())
        clients = path.parts[0] != "daemon" and target.startswith("client/") and (TOP / target).exists()
        if not (own or shared or clients or (TOP / "daemon" / target).exists()):
            wrong.append(f"{path}:{number}: {target} is not a path from daemon/, and none of client/ from the top")
    assert not wrong, "\n".join(wrong)


def test_client_includes_only_what_works_offline():
    wrong = [f"{path}:{number}: btctl must not include {target}"
             for path, number, target in includes()
             if path.parts[0] == "client" and is_daemons(path, target) and room_of(target) not in CLIENT_MAY]
    assert not wrong, "\n".join(wrong)


def test_client_links_only_what_works_offline():
    libraries = re.search(r"btctl = executable\(.*?link_with : \[(.*?)\]", text_of("client/meson.build"), re.S)[1].split(", ")
    rooms = {library.replace("_", "-") for library in libraries} - {"client"}
    assert rooms and rooms <= CLIENT_MAY, f"btctl must not link {rooms - CLIENT_MAY}"


def test_nothing_unwanted_is_said():
    this = pathlib.Path(__file__).resolve()
    wrong = []
    for path in FILES:
        if TOP / path == this or path.name == "LICENSE":
            continue
        for number, line in enumerate(text_of(path).splitlines(), 1):
            match = UNWANTED.search(line)
            if match:
                wrong.append(f"{path}:{number}: {match.group()}")
    assert not wrong, "\n".join(wrong)


def test_sources_name_their_licence():
    wrong = [str(path) for path in FILES
             if path.suffix in SOURCE and "SPDX-License-Identifier:" not in text_of(path)[:200]]
    assert not wrong, "\n".join(wrong)


def test_tests_are_meson_tests():
    """A test that no meson.build names would never run."""
    wrong = []
    for path in FILES:
        if path.parts[0] != "tests" or path.suffix not in (".c", ".py"):
            continue
        match = re.match(r"test[-_](.+)", path.stem)
        builds = (path.parent / "meson.build", path.parent.parent / "meson.build", pathlib.Path("tests/meson.build"))
        if match and not any((TOP / build).exists() and re.search(rf"\b{re.sub('[-_]', '[-_]', match.group(1))}\b",
                                                                  text_of(build)) for build in builds):
            wrong.append(str(path))
    assert not wrong, "\n".join(wrong)


def names_in(folder, pattern):
    """What the pattern finds in the sources of a folder of daemon/."""
    texts = [text_of(path) for path in FILES if path.suffix == ".c" and path.is_relative_to(f"daemon/{folder}")]
    return [name for text in texts for name in re.findall(pattern, text, re.M)]


@pytest.mark.parametrize("folder, table, row", [
    ("engine/types", "engine/types/types.c", r"&(\w+_type),"), ("leaf-types", "leaf-types/leaf-types.h", r"X\((\w+_type), ")])
def test_tables_have_all_types(folder, table, row):
    """A type that is not in its table compiles, but no tree can use it."""
    types = names_in(folder, r"^const NodeType (\w+) =")
    rows = re.findall(row, text_of(f"daemon/{table}"))
    assert len(types) > 15 and sorted(types) == sorted(rows), f"{table}: {sorted(set(types) ^ set(rows))}"


def test_leaf_types_have_tests():
    """A leaf type runs in a unit test, or in a daemon."""
    names = names_in("leaf-types", r"^const NodeType \w+ =\s*(?:{\n\s*\.name = |UNIT_JOB_TYPE\(\n?\s*)\"(\w+)\"")
    tests = "".join(text_of(path) for path in FILES
                    if path.match("tests/unit/*/test-*.c") or path.match("tests/*/test_*.py"))
    assert len(names) > 19 and [name for name in names if not re.search(rf"\btype\W+{name}\b", tests)] == []


def test_leaves_read_no_files_that_can_hang():
    """A file on a network, or a device, can hold btd back for as long as it likes, so a thread reads it
    (basic/workers.h). These sources open what btd has made, /dev/null or a file of /proc, or do it on a thread."""
    fine = {"path/path-watch.c", "spawn/process.c", "spawn/spawn-execution.c", "spawn/spawn.c"}
    calls = r"\b(?:g_file_\w+|fopen|open|openat|opendir|l?stat|statx|readlink|source_read\w*)\("
    found = {str(path.relative_to("daemon/leaves")) for path in FILES
             if path.suffix == ".c" and path.is_relative_to("daemon/leaves") and re.search(calls, text_of(path))}
    assert found == fine, "\n".join(sorted(found ^ fine))


def test_record_kinds_have_names_of_their_own():
    """Of two with the same name, btd would read one as the other."""
    names = re.findall(r"X\(ENTRY_\w+, \"(.*?)\"\)", text_of("daemon/record/entry.h"))
    assert len(names) > 25 and len(set(names)) == len(names), sorted(name for name in set(names) if names.count(name) > 1)


def test_events_have_words():
    """btctl shows "?" for an event without a symbol."""
    [words] = re.findall(r"a status in words, or\n((?:\.Li .*\n)+)", text_of("daemon/service/org.btd1.5"))
    named = set(re.findall(r"[a-z-]{2,}", words.replace(".Li", "")))
    told = set()
    for path in ("daemon/run/events.c", "daemon/run/run-inputs.c"):
        for call in re.findall(r"(?:run_tell\w*|add_event|tell)\([^;]*;", text_of(path)):
            told.update(re.findall(r'"([a-z-]{2,})"', call))
    style = text_of("client/view/style.c")
    assert len(told) > 12 and told <= named, sorted(told - named)
    assert {name for name in named if f'{{ "{name}", STYLE_' not in style} == set()


def map_items():
    """The list items and paragraphs of HACKING.md."""
    return re.split(r"\n(?=\s*(?:-|\d+\.) )|\n\s*\n", text_of("HACKING.md"))


def files_in(item):
    """The paths that a text names: in folders of the source, or written as code. build/ is not part of the source."""
    paths = re.findall(r"(?<![\w./-])(?:client|daemon|tests|trees|units)/[\w@./-]*\w", item)
    return paths + re.findall(r"`([\w-]+\.(?:md|json|build|txt))`", item)


def test_map_names_files_that_there_are():
    """HACKING.md: if a file or function has moved or has another name, correct the page."""
    wrong = []
    for item in map_items():
        files = files_in(item)
        wrong += [f"HACKING.md names {path}, which does not exist" for path in files if not (TOP / path).exists()]
        texts = [text_of(path) for path in files if (TOP / path).is_file()]
        for name in re.findall(r"`(\w+)\(\)`", item):
            if not any(re.search(rf"\b{name}\(", text) for text in texts):
                wrong.append(f"HACKING.md names {name}(), which is in none of {', '.join(files)}")
    assert not wrong, "\n".join(wrong)


def test_map_names_tests_that_there_are():
    """The last line of each list in HACKING.md."""
    tests = {"house"} | {path.stem.removeprefix("test_") for path in FILES if path.match("tests/integration/test_*.py")}
    tests |= set(re.findall(r"^  '[a-z]+/([\w-]+)' :", text_of("tests/unit/meson.build"), re.M))
    tests |= {f"fuzz-{name}" for name in re.findall(r"^  '(\w+)' : \[", text_of("tests/fuzz/meson.build"), re.M)}
    lists = [item for item in map_items() if item.startswith("- Run: ")]
    assert len(lists) == len(re.findall(r"^\*\*an? ", text_of("HACKING.md"), re.M)) > 5
    unknown = {name for item in lists for name in re.findall("`(.*?)`", item)} - tests
    assert not unknown, f"HACKING.md names the tests {', '.join(sorted(unknown))}, which do not exist"


@pytest.mark.parametrize("way, most", [("StartUnit", 20), ("halt", 10)])
def test_ways_are_short(way, most):
    """How many files one has to open to follow a request."""
    section = re.search(rf"^## The way of a {way}\n(.*?)^## ", text_of("HACKING.md"), re.S | re.M)[1]
    files = set(files_in(section))
    assert 5 < len(files) <= most, f"the way of a {way} has {len(files)} files: {', '.join(sorted(files))}"


def test_map_has_each_room():
    folders = {str(path.parent) for path in FILES if path.parts[0] in ("client", "daemon")}
    described = {match[1] for match in (re.match(r"- `([\w/-]+)`: \S", item.lstrip()) for item in map_items()) if match}
    assert len(folders) > 15 and folders - described == set(), "HACKING.md needs a paragraph for each folder"
    assert "(HACKING.md)" in text_of("README.md"), "README.md has no link to HACKING.md"


@pytest.mark.parametrize("page", [path for path in FILES if re.fullmatch(r"\.[1-8]", path.suffix)], ids=str)
def test_manual_pages_are_clean(page):
    try:
        lint = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", TOP / page], capture_output=True, text=True)
    except FileNotFoundError:
        pytest.skip("mandoc is not installed")
    assert lint.returncode == 0, lint.stdout


@pytest.mark.parametrize("page", [path for path in FILES if re.fullmatch(r"\.[1-8]", path.suffix)], ids=str)
def test_manual_pages_fit_on_a_terminal(page):
    """Man uses 78 of 80 columns. Where a row of a list is wider, groff moves its end out of the screen."""
    try:
        said = subprocess.run(["groff", "-k", "-t", "-mandoc", "-Tutf8", "-ww", "-z", TOP / page], capture_output=True,
                              text=True)
    except FileNotFoundError:
        pytest.skip("groff is not installed")
    assert not re.findall(r".*(?:break line|wider than line).*", said.stderr)


# What pages must not say, and what they say instead, see btd-glossary(7).
OLD_WORDS = {
    r"(?<![.\"`-] )(?<!Ic )(?<![\"`])\bblackboard\b(?![\"`])": "variables",
    r"\b(?:each|every|any|recorded|after an|an) input(?: of a run| before| btd|:|;)": "change",
    r"\bcondition of (?:an? |the )?(?:IfThenElse|WhileDoElse)\b": "first child",
    r"\b(?:takes? up|goes on|go on|calls? off|called off|comes? to an end)\b": "recover, continue, cancel, end",
}


def test_pages_have_one_word_for_each_thing():
    pages = [path for path in FILES if re.fullmatch(r"\.[1-8]", path.suffix) or path.name.endswith((".5.in", ".7.in")) or
             path.name == "README.md"]
    wrong = [f"{path}: {match[0]!r}: say {word}" for path in pages for old, word in OLD_WORDS.items()
             for match in re.finditer(old, re.sub(r"^\.Bl.*$", "", text_of(path), flags=re.M))]
    assert len(pages) > 10 and not wrong, "\n".join(wrong)


def test_planted_faults_can_be_planted():
    """... in the sources as they are now: otherwise nobody would know that no test has noticed them."""
    check = subprocess.run([TOP / "tests/planted/plant", "--check"], capture_output=True, text=True)
    assert check.returncode == 0, check.stderr


# A page that says one of these names the test that would notice if it were false, in the lines before:
# .\" held by: FILE FUNCTION
PROMISE = re.compile(r"\b(?:never|always|at most|exactly|only once)\b", re.I)
# Names of keys, and titles.
NO_PROMISE = re.compile(r"\.(?:It )?(?:Ic|Qq|Li|Cm|Ql|S[hsx]) .*|, always$", re.M)


def promises(text):
    """(line number, line, what the comments before it name), without examples."""
    held, literal = [], False
    for number, line in enumerate(text.splitlines(), 1):
        literal = line.startswith(".Bd -literal") or (literal and not line.startswith(".Ed"))
        if line.startswith('.\\" held by: '):
            held.append(line.removeprefix('.\\" held by: '))
            continue
        if held or (not literal and not line.startswith('.\\"') and PROMISE.search(NO_PROMISE.sub("", line))):
            yield number, line, held
        held = []


def test_promises_of_pages_name_their_tests():
    pages = [path for path in FILES if re.fullmatch(r"\.[1-8]", path.suffix) or re.search(r"\.[1-8]\.in$", path.name)]
    wrong, n = [], 0
    for path in pages:
        for number, line, held in promises(text_of(path)):
            n += 1
            if not PROMISE.search(line):
                wrong.append(f"{path}:{number}: promises nothing, so no test needs to hold it: {line}")
            for test in held or ["(none)"]:
                file, _, function = test.partition(" ")
                if file not in map(str, FILES) or not re.search(rf"\b(?:def|void) {function}\(", text_of(file)):
                    wrong.append(f"{path}:{number}: the test that holds it: {test}: {line}")
    assert n > 40 and not wrong, "\n".join(wrong)


def test_scripts_pass_shellcheck():
    scripts = [path for path in FILES
               if re.match(r"#!.*\b(?:ba)?sh\b", text_of(path)[:40]) or path.suffix in (".sh", ".bash")]
    try:
        check = subprocess.run(["shellcheck", "--external-sources", *scripts], cwd=TOP, capture_output=True, text=True)
    except FileNotFoundError:
        pytest.skip("shellcheck is not installed")
    assert check.returncode == 0, check.stdout


def test_long_files_are_pointed_out():
    """No rule, a hint: a long file is often two."""
    for path in FILES:
        lines = text_of(path).count("\n")
        if path.suffix in (".c", ".h", ".py") and lines > LONG_FILE:
            warnings.warn(f"{path} has {lines} lines")
