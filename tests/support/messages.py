# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads the tables of messages in tests/messages, and finds the messages in the source that they must show.

A table has parts that are separated by lines with "===". Each part has an input, and the messages that it makes:

    trees.txt       a tree file; "> " an error, "? " a warning. The mark § is before each place that a message names. The
                    unit test message-table reads it.
    commands.txt    "@ NAME" and the text of this file; "$ " a command line, "> " what it prints on stdout, "! " on stderr,
                    "= " its exit status, unless it is 0; "= usage": it is 2, and a hint to --help comes last. "$ simulate" is
                    "btctl simulate", of which only the last line on stdout is shown.
    daemon.txt      the same with a running btd: "$ call PATH INTERFACE.METHOD TYPES VALUES" calls a method with values in
                    GVariant's text format, and "! " is the error that it returns.
"""

import ast
import pathlib
import re

TOP = pathlib.Path(__file__).resolve().parents[2]
TABLES = TOP / "tests" / "messages"
MARK = "§"

TOKEN = re.compile(r"""/\*.*?\*/ | //[^\n]* | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*' | \w+ | \s+ | .""", re.S | re.X)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.M)
MACRO = re.compile(r"^#define (\w+)(?:\([^)]*\))?[ \t]((?:[^\n\\]|\\.|\\\n)*)", re.M)
STRING = re.compile(r'"(?:\\.|[^"\\])*"')
ESCAPE = re.compile(r"\\(?:x[0-9a-fA-F]{2}|[0-7]{1,3}|.)")
CONVERSION = re.compile(r"%[-+ #0]*(?:\d+|\*)?(?:\.(?:\d+|\*))?(?:hh|h|ll|l|z|j)?([diouxXcsgfeaGFEApm%])")
# Several words; what has only one is a name, a key or a format.
WORDS = re.compile(r"[A-Za-z'].* |[ ].*[A-Za-z]")
# What is shorter are words between the parts of a message, such as " or ": they are in many rows, so nothing tells which
# of them is meant.
LETTERS_LEAST = 10
PRINTED_NUMBER = re.compile(r"PRI[diuxX]\d+")


def statements(text):
    """Lists of (token, line), without comments and preprocessor lines."""
    text = DIRECTIVE.sub(lambda match: "\n" * match.group().count("\n"), text)
    line, depth, statement = 1, 0, []
    for token in TOKEN.findall(text):
        if not token.isspace() and not token.startswith(("/*", "//")):
            depth += (token in "([") - (token in ")]")
            if depth == 0 and token in ";{}":
                yield statement
                statement = []
            else:
                statement.append((token, line))
        line += token.count("\n")
    yield statement


def unquoted(token):
    """The text of a string literal."""
    def replaced(match):
        text = match.group()[1:]
        return {"n": "\n", "t": "\t", "r": "\r"}.get(text, text if len(text) == 1 else "?")
    return ESCAPE.sub(replaced, token[1:-1])


def macros_of(text):
    """Name -> text, of macros that are a string."""
    bodies = {name: body.replace("\\\n", " ").strip() for name, body in MACRO.findall(text)}
    return {name: "".join(map(unquoted, STRING.findall(body))) for name, body in bodies.items()
            if STRING.search(body) and not STRING.sub("", body).strip(" ()")}


def texts_of(statement, macros):
    """(text, line, what stands before it) of each string of a statement: adjacent literals are one string."""
    parts, first, before = [], 0, None
    for number, (token, line) in enumerate([*statement, ("", 0)]):
        if token[:1] == '"' or parts and (PRINTED_NUMBER.fullmatch(token) or token in macros) or token in macros:
            if not parts:
                first, before = line, [each for each, _ in statement[max(0, number - 3):number]]
            parts.append(token)
        elif parts:
            yield "".join(unquoted(part) if part[0] == '"' else
                          macros.get(part, "u")
                          for part in parts), first, before
            parts = []


def pattern_of(text):
    """A pattern for what a format prints."""
    parts, at = [], 0
    for match in CONVERSION.finditer(text):
        parts.append(re.escape(text[at:match.start()]))
        kind = match.group(1)
        parts.append("%" if kind == "%" else r"-?[0-9]+" if kind in "diu" else "[0-9a-fA-F]+" if kind in "oxX" else "." if kind == "c" else ".*")
        at = match.end()
    parts.append(re.escape(text[at:]))
    return "".join(parts)


def parts_of(name):
    """The parts of a table, as lists of lines; '#' begins a comment, before the first line of a part."""
    for part in (TABLES / name).read_text(encoding="utf-8").split("\n===\n"):
        lines = part.rstrip("\n").split("\n")
        while lines and lines[0].startswith("#"):
            del lines[0]
        yield lines


def trees(bad=False):
    """The texts of the files in trees.txt, without marks; bad: only of those with errors."""
    return ["\n".join(line for line in part if line[:2] not in ("> ", "? ")).replace(MARK, "")
            for part in parts_of("trees.txt") if not bad or any(line.startswith("> ") for line in part)]


def rows():
    """What all tables show: each line that is a message, without the sign before it."""
    return [line[2:] for path in sorted(TABLES.glob("*.txt")) for line in path.read_text(encoding="utf-8").splitlines()
            if line[:2] in ("> ", "! ", "? ")]


# Texts that are no messages: documentation, which btctl types and the manual pages show, and what programs read.
DOCUMENTATION = {"doc", "summary", "halting", "recovery"}
NO_MESSAGES = ["daemon/btd-interfaces.c", "daemon/definition/schema.c", "daemon/service/metrics-bus.c", "client/plot/",
               "client/watch/", "client/view/", "client/completion/"]
JSON = re.compile(r'[\[{] ?"')
# Only logged, or about a mistake in the program itself, or documentation.
NO_ANSWER = ("log_", "g_error", "g_warning", "static_assert", "UNIT_JOB_TYPE")
# Where the messages of a room are tested, besides the room of the same name in tests/unit.
UNIT_ROOMS = {"daemon/basic/": ["bus", "leaves"], "daemon/bus/": ["leaves"], "daemon/leaf-types/": ["leaves"],
              "daemon/btd-exec.c": ["leaves"], "daemon/engine/": ["definition"],
              "daemon/script/secrets.c": ["run"]}


def is_message(text):
    letters = sum(map(str.isalpha, CONVERSION.sub("", text)))
    return letters >= LETTERS_LEAST and WORDS.search(text) and not JSON.match(text)


def messages_of(path):
    """(text, line) of each message in a source file."""
    source = (TOP / path).read_text(encoding="utf-8")
    macros = macros_of(source)
    for statement in statements(source):
        if any(token.startswith(NO_ANSWER) for token, _ in statement):
            continue
        for text, line, before in texts_of(statement, macros):
            documents = len(before) == 3 and before[0] == "." and before[1] in DOCUMENTATION
            if is_message(text) and not documents:
                yield text, line


def sources():
    """Paths of the files that have messages, from the top."""
    paths = [str(path.relative_to(TOP)) for room in ("daemon", "client") for path in sorted((TOP / room).rglob("*.c"))]
    return [path for path in paths if not path.startswith(tuple(NO_MESSAGES))]


def strings_of(path):
    """All strings of a C test, one a line."""
    source = path.read_text(encoding="utf-8")
    macros = macros_of(source)
    return "\n".join(text.replace("%%", "%") for statement in statements(source)
                     for text, _, _ in texts_of(statement, macros))


def texts_of_python(path):
    """The strings of a Python test, one a line; what a test puts into them is 0."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    texts = []
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            texts.append("".join(part.value if isinstance(part, ast.Constant) else "0" for part in node.values))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            texts.append(node.value)
    return "\n".join(texts)


def unit_rooms(path):
    """Folders of tests/unit whose tests show the messages of a source file."""
    parts = pathlib.PurePath(path).parts
    own = parts[1] if parts[0] == "daemon" and len(parts) > 2 else "client" if parts[0] == "client" else None
    more = [room for begin, rooms in UNIT_ROOMS.items() if path.startswith(begin) for room in rooms]
    return [*([own] if own else []), *more]


def is_shown(text, shown):
    """Whether a message, which can be a format or a part of one, is in the text."""
    return all(re.search(pattern_of(line), shown) for line in text.strip().splitlines() or [text])
