#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints btd-outputs(5): the text, with what the JSON schema says of verbs and objects.

usage: outputs-page.py SCHEMA TEXT
"""

import json
import sys


def roff(text):
    return text.replace("\\", r"\e").replace("-", r"\-").replace(". ", ".\n")


def name_of(schema):
    return schema["$ref"].removeprefix("#/$defs/").replace("_", " ")


def kind(schema):
    """The type in words: "string", "list of nodes"."""
    if "$ref" in schema:
        return name_of(schema)
    if "type" not in schema:
        return "any value"
    if isinstance(schema["type"], list):
        return " or ".join(schema["type"])
    if schema["type"] == "array":
        return f"list, each: {kind(schema['items'])}"
    return schema["type"]


def keys(schema, names):
    for name in names:
        value = schema["properties"][name]
        yield f".It Cm {name} Pq {kind(value)}"
        yield roff(value.get("description", "the object below"))
        inner = value.get("items", {})
        if "properties" in inner:
            yield from table(inner, inner["properties"])


def table(schema, names):
    if names:
        yield '.Bl -tag -width Ds -compact'
        yield from keys(schema, names)
        yield ".El"


def objects(defs):
    for name, schema in defs.items():
        if name.startswith("verb_"):
            continue
        optional = [key for key in schema["properties"] if key not in schema["required"]]
        yield f".Ss {name.replace('_', ' ')}"
        yield roff(schema["description"])
        yield from table(schema, schema["required"])
        if optional:
            yield ".Pp"
            yield "If they apply:"
            yield from table(schema, optional)


def verbs(defs):
    yield "The names in parentheses are those of the objects below."
    yield '.Bl -tag -width "validate" -compact'
    for name, schema in defs.items():
        if not name.startswith("verb_"):
            continue
        inner = schema.get("items", schema)
        shown = [name_of(one) for one in inner.get("anyOf", [inner]) if "$ref" in one and "verb" not in one["$ref"]]
        yield f".It Cm {name.removeprefix('verb_')}"
        yield roff(schema["description"]) + (f" ({', '.join(shown)})" if shown else "")
        if "properties" in schema:
            yield from table(schema, schema["properties"])
    yield ".El"


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        defs = json.load(file)["$defs"]
    with open(sys.argv[2], encoding="utf-8") as file:
        for line in file.read().splitlines():
            made = {'.\\" verbs': verbs, '.\\" objects': objects}.get(line)
            print("\n".join(made(defs)) if made else line)


main()
