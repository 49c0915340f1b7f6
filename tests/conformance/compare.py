#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks the model against all recorded vectors, and the engine against the model, on random trees.

usage: compare.py CONFORMANCE-PROGRAM

BTD_CONFORMANCE_TREES is the number of trees (3000), which BTD_ROUNDS multiplies; BTD_CONFORMANCE_SEED is their seed.
"""

import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

import model

HERE = pathlib.Path(__file__).resolve().parent
GUARDS = ("failure_if", "success_if", "skip_if", "while")
DECORATORS = ("Inverter", "ForceSuccess", "ForceFailure", "Repeat", "RetryUntilSuccessful", "KeepRunningUntilFailure",
              "RunOnce", "LoopInt", "Precondition")
TREES = int(os.environ.get("BTD_CONFORMANCE_TREES", "3000")) * int(os.environ.get("BTD_ROUNDS", "1"))
SEED = int(os.environ.get("BTD_CONFORMANCE_SEED", "1"))


class Maker:
    def __init__(self, seed):
        self.dice, self.n_leaves, self.flags = random.Random(seed), 0, set()

    def flag(self):
        name = f"g{self.dice.randint(1, 4)}"
        self.flags.add(name)
        return name

    def leaf(self):
        self.n_leaves += 1
        outcomes = self.dice.choices("RSFK", (4, 4, 3, 2), k=self.dice.randint(1, 6))
        return {"type": "Leaf", "name": f"l{self.n_leaves}", "outcomes": outcomes}

    def parameters(self, node, n):
        kind, dice = node["type"], self.dice
        if kind == "Parallel":
            node.update(success_count=dice.randint(-n, n), failure_count=dice.randint(-n, n))
        elif kind == "ParallelAll":
            node["max_failures"] = dice.randint(-n, n)
        elif kind == "TryCatch" and dice.random() < 0.4:
            node["catch_on_halt"] = True
        elif kind == "Repeat":
            node["num_cycles"] = dice.choice((-1, 0, 1, 2, 3))
        elif kind == "RetryUntilSuccessful":
            node["num_attempts"] = dice.choice((-1, 0, 1, 2, 3))
        elif kind == "RunOnce":
            node["then_skip"] = dice.random() < 0.5
        elif kind == "LoopInt":
            node["queue"] = [dice.randint(1, 3) for _ in range(dice.randint(0, 3))]
            node["if_empty"] = dice.choice(("SUCCESS", "FAILURE", "SKIPPED"))
        elif kind == "Precondition":
            node.update({"if": self.flag(), "else": dice.choice(("SUCCESS", "FAILURE", "SKIPPED", "RUNNING"))})
        elif kind.startswith("Switch"):
            node.update(variable="v1", cases=[str(i) for i in range(n - 1)])

    def node(self, depth):
        dice = self.dice
        if depth == 0 or dice.random() < 0.25:
            node = self.leaf()
        else:
            kind = dice.choice(model.CONTROLS + DECORATORS + ("Switch",))
            n = 1 if kind in DECORATORS else dice.randint(3 if kind == "Switch" else 2, 4)
            if kind in ("IfThenElse", "WhileDoElse"):
                n = min(n, 3)
            node = {"type": f"Switch{n - 1}" if kind == "Switch" else kind}
            self.parameters(node, n)
            node["children"] = [self.node(depth - 1) for _ in range(n)]
        if dice.random() < 0.08:
            node[dice.choice(GUARDS)] = self.flag()
        return node

    def vector(self, name):
        dice = self.dice
        tree, ticks = self.node(dice.randint(1, 4)), dice.randint(4, 14)
        vector = {"name": name, "tree": tree, "ticks": ticks,
                  "halt_after": sorted(dice.sample(range(1, ticks + 1), dice.choice((0, 0, 1, 2)))),
                  "variable_values": [{**{flag: dice.random() < 0.5 for flag in sorted(self.flags)},
                                       "v1": dice.choice(("0", "1", "2", None))} for _ in range(ticks)]}
        try:
            vector["trace"], error = model.play(vector)
        except model.TreeError:  # no rule says what an error of a catch in a halt comes to
            vector["halt_after"] = []
            vector["trace"], error = model.play(vector)
        if error:
            vector["error"] = error
        return vector


def recorded():
    """Each vector with the rules that apply to it."""
    for path in sorted(HERE.glob("*.json")):
        for vector in json.loads(path.read_text(encoding="utf-8")):
            if path.stem == "deviations":
                yield vector, model.DEVIATIONS
                continue
            yield vector, frozenset()
            if not model.DEVIATIONS.intersection(vector.get("tags", [])):
                yield vector, model.DEVIATIONS


def check_model():
    wrong = [vector["name"] for vector, own in recorded()
             if model.play(vector, own) != (vector["trace"], vector.get("error"))]
    print(f"{'not ' if wrong else ''}ok 1 the model gives what was recorded {' '.join(wrong[:10])}")
    return not wrong


def check_engine(program):
    vectors = [Maker(SEED * 1_000_000_007 + i).vector(f"random-{SEED}-{i}") for i in range(TREES)]
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(vectors, file)
        file.flush()
        command = [*os.environ.get("BTD_WRAPPER", "").split(), program, file.name]
        result = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    for line in result.stdout.splitlines()[:60]:
        print("#", line)
    print(f"{'not ' if result.returncode else ''}ok 2 the engine gives what the model does, on {TREES} random trees")
    return result.returncode == 0


print("1..2")
sys.exit(not (check_model() & check_engine(sys.argv[1])))
