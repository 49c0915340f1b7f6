#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks the SARIF of "btctl validate" against the published schema. Usage: sarif.py BTCTL SCHEMA DIRECTORY.

The files that are validated are those of tests/messages/trees.txt and one that does not exist; they are written to the directory.
"""

import json
import pathlib
import subprocess
import sys

import jsonschema

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))

import messages  # noqa: E402

btctl, schema, directory = map(pathlib.Path, sys.argv[1:])
files = [directory / "none.json"]
for number, text in enumerate(messages.trees()):
    files.append(directory / f"bad-{number}.json")
    files[-1].write_text(text, encoding="utf-8")

done = subprocess.run([btctl, "validate", "--format=sarif", *files], capture_output=True, text=True)
log, schema = json.loads(done.stdout), json.loads(schema.read_text(encoding="utf-8"))
jsonschema.validators.validator_for(schema)(schema).validate(log)
results = log["runs"][0]["results"]
assert len(results) >= len(files), len(results)
print(f"{len(results)} results of {len(files)} files as the schema of SARIF says")
