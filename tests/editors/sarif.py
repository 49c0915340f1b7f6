#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks the SARIF of "btctl validate" against the published schema. Usage: sarif.py BTCTL SCHEMA DIRECTORY.

The files that are validated are those of bad-trees.txt and one that does not exist; they are written to the directory.
"""

import json
import pathlib
import subprocess
import sys

import jsonschema

BAD_TREES = pathlib.Path(__file__).parents[1] / "integration/bad-trees.txt"

btctl, schema, directory = map(pathlib.Path, sys.argv[1:])
files = [directory / "none.json"]
for number, entry in enumerate(BAD_TREES.read_text(encoding="utf-8").split("\n===\n")):
    lines = [line for line in entry.split("\n") if not line.startswith("> ")]
    files.append(directory / f"bad-{number}.json")
    files[-1].write_text("\n".join(lines).replace("§", ""), encoding="utf-8")

done = subprocess.run([btctl, "validate", "--format=sarif", *files], capture_output=True, text=True)
log, schema = json.loads(done.stdout), json.loads(schema.read_text(encoding="utf-8"))
jsonschema.validators.validator_for(schema)(schema).validate(log)
results = log["runs"][0]["results"]
assert len(results) >= len(files), len(results)
print(f"{len(results)} results of {len(files)} files as the schema of SARIF says")
