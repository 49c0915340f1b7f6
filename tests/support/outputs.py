# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares what btctl prints with --json with the schema of its outputs: all keys are named there."""

import functools
import json
import pathlib

import jsonschema

SCHEMA = json.loads((pathlib.Path(__file__).resolve().parents[2] / "client" / "outputs.schema.json").read_text("utf-8"))
VERBS = {name.removeprefix("verb_") for name in SCHEMA["$defs"] if name.startswith("verb_")}
# What is longer has the same keys again and again, and takes long.
LONGEST = 200_000


@functools.cache
def validator(verb):
    return jsonschema.Draft202012Validator({"$ref": f"#/$defs/verb_{verb}", "$defs": SCHEMA["$defs"]})


def texts(printed):
    """The JSON texts, one after the other."""
    decoder, at = json.JSONDecoder(), 0
    while at < len(printed):
        value, at = decoder.raw_decode(printed, at)
        at += len(printed[at:]) - len(printed[at:].lstrip())
        yield value


def check(arguments, printed):
    """arguments: of btctl. Nothing to check: it has failed, or was not asked for JSON."""
    verb = next((word for word in arguments if word in VERBS), "status")
    if "--json" not in arguments or any(word.startswith("--format") for word in arguments) or len(printed) > LONGEST:
        return
    for value in texts(printed):
        error = jsonschema.exceptions.best_match(validator(verb).iter_errors(value))
        assert not error, f"btctl {' '.join(arguments)}: not as client/outputs.schema.json has it: {error.message}\n{value}"
