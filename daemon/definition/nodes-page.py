#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints btd-nodes(5): the text, with the entry of a type, from the tables of btctl types, at each line '.\\" type NAME'.

usage: nodes-page.py BTCTL TEXT
"""

import json
import os
import re
import subprocess
import sys


def roff(text):
    """Text in a line of its own, or in the argument of a macro."""
    text = re.sub(r"([.:;]) (?=[A-Z])", r"\1\n", text.replace("\\", r"\e").replace("-", r"\-"))
    return re.sub(r"^(?=[.'])", r"\\&", text, flags=re.M)


def sentences(text):
    return roff(text if text.endswith((".", ":", ")")) else f"{text}.")


def parameters(params, prefix=""):
    for param in params:
        name = prefix + param["name"]
        yield f".It Ic {name}"
        yield roff(f"({param['takes']})")
        if param["doc"]:
            yield sentences(param["doc"][0].upper() + param["doc"][1:])
        yield from parameters(param.get("members", []), f"{name}.")


def same(param, params):
    return any(param == other for other in params)


def entry(name, types):
    node_type = types[name]
    yield f".Ss {name}"
    yield sentences(node_type["summary"])
    children = node_type["takes"].partition(", ")[2]
    if children:
        yield f"It has {children}."
    if node_type["aliases"]:
        yield f"It is also called {', '.join(node_type['aliases'])}."
    for paragraph in (node_type["doc"] or "").split("\n\n"):
        if paragraph:
            yield ".Pp"
            yield sentences(paragraph)

    # What has the parameters of another type names them only.
    params = node_type["parameters"]
    model = next((other for other in SHARED if other != name and
                  sum(same(param, types[other]["parameters"]) for param in params) > 3), None)
    shared = [param for param in params if model and same(param, types[model]["parameters"])]
    own = [param for param in params if param not in shared]
    if own:
        yield ".Bl -tag -width Ds"
        yield from parameters(own)
        yield ".El"
    if shared:
        yield ".Pp"
        yield f"As for {model}:"
        yield ".Ic " + " , ".join(param["name"] for param in shared) + " ."
    for rule in node_type["rules"]:
        yield ".Pp"
        yield sentences(rule)

    for title, text in ("On a halt", node_type["halting"]), ("After a restart of btd", node_type["recovery"]):
        if text:
            yield ".Pp"
            yield f".Em {title} :"
            yield sentences(text[0].lower() + text[1:] if text[1].islower() else text)


SHARED = "StartUnit", "Spawn"


def main():
    btctl, path = sys.argv[1:]
    command = [*os.environ.get("BTD_WRAPPER", "").split(), btctl, "types", "--json"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    types = {node_type["name"]: node_type for node_type in json.loads(listed)}

    with open(path, encoding="utf-8") as text:
        for line in text.read().splitlines():
            match = re.fullmatch(r'\.\\" type (\w+)', line)
            print("\n".join(entry(match[1], types)) if match else line)


main()
