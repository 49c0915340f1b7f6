# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes random trees with what each of them must come to: its result, and how often each of its effects takes place.

An effect is a line "KEY:VALUE" in /run/effects. The key is of one leaf, or of one attempt of it; the value is of a variable
that the leaf refers to, and that changes as soon as the leaf has begun."""

import collections

import mixed

EFFECTS = "/run/effects"
EFFECT = "/usr/libexec/effect"  # TEXT SECONDS STATUS
ANY = 1000000  # times

UNITS = {  # what is said in [Unit], in [Service], and the exit status
    "ok": ("", "", 0),
    "met": ("ConditionPathExists=/usr", "", 0),
    "execmet": ("", "ExecCondition=/bin/true", 0),
    "bad": ("", "", 3),
    "gone": ("CollectMode=inactive-or-failed", "", 3),
}
STAYS = "stays.service"  # up all the time

# succeeds: what the node comes to. effects: how often each takes place at least and at most.
Part = collections.namedtuple("Part", "node succeeds effects")


def prepare(machine):
    """Before it boots."""
    mixed.prepare(machine)
    machine.write(EFFECT, f"#!/bin/sh\necho \"$1\" >>{EFFECTS}\nsleep \"$2\"\nexit \"$3\"\n", 0o755)
    for name, (unit, service, status) in UNITS.items():
        machine.unit(f"{name}@.service", f"[Unit]\n{unit}\nStartLimitIntervalSec=0\n[Service]\nType=oneshot\n{service}\n"
                     f"ExecStart={EFFECT} %i 0.07 {status}\n")
    machine.unit("up@.service", "[Unit]\nStartLimitIntervalSec=0\n[Service]\nType=oneshot\nRemainAfterExit=yes\n" + "".join(
        f"{key}={EFFECT} {name}.%i 0.02 0\n" for key, name in
        (("ExecStart", "start"), ("ExecReload", "reload"), ("ExecStop", "stop"))))
    machine.unit(STAYS, "[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/bin/true\n")


def either(effects):
    """They take place, or something halts them first."""
    return {key: (0, most) for key, (_, most) in effects.items()}


def never(effects):
    return {key: (0, 0) for key in effects}


class Grown:
    """A tree. Its root, blackboard and trees are for the file, the rest is to be checked."""

    def __init__(self, dice, name, depth=3, outputs=True):
        """The name is in all keys. outputs: what processes write is looked at, too."""
        self.dice = dice
        self.outputs = outputs
        self.name = name
        self.variables = {"w": 0}
        self.outside = []  # variables that others may change as well
        self.variable_of = {}  # by key
        self.tentative = {}  # by key: how often at most, if only because another leaf has failed that should not
        self.count = 0
        part = self.grow(depth)
        self.root = {"type": "Sequence", "name": "Root", "children": [part.node]}
        self.succeeds = part.succeeds
        self.effects = part.effects

    def part(self, node, succeeds, effects):
        """Of a leaf."""
        self.tentative |= {key: most for key, (_, most) in effects.items()}
        return Part(node, succeeds, effects)

    def most(self, key):
        """Of a key, with or without the number of an attempt."""
        return self.tentative.get(key) or self.tentative.get(key.rsplit(".", 1)[0], 0)

    def new(self, prefix, value=None):
        """The name of a key, or of a variable with that value."""
        self.count += 1
        name = f"{self.name if prefix == 'e' else ''}{prefix}{self.count}"
        if value is not None:
            self.variables[name] = value
        return name

    def chance(self, part):
        return self.dice.random() < part

    # Leaves. more: a part of the key, as an {index}, of those that take place several times.

    def leaf(self, more=""):
        return self.dice.choice([self.spawn, self.spawn, self.start_unit, self.start_unit])(more)

    def value(self):
        """A reference whose value changes when it has been filled in: itself, and the node that changes it."""
        name = self.new("v", "a")
        if self.chance(0.5):
            self.outside.append(name)
        return name, {"type": "Script", "code": f"{name} = 'b'"}

    def changing(self, leaf, change):
        """The leaf begins before its variable changes, and may end long after that."""
        return {"type": "Parallel", "children": [leaf, change]} if self.chance(0.7) else leaf

    def spawn(self, more=""):
        key, (value, change) = self.new("e"), self.value()
        self.variable_of[key] = value
        text, status = f"{key}{more}:{{{value}}}", self.dice.choice([0, 0, 0, 3])
        seconds = str(self.dice.choice([0, 0.02, 0.1, 0.3]))
        argv = [EFFECT, text, seconds, str(status)] if self.chance(0.5) else \
            ["/bin/sh", "-c", f'echo "$0" >>{EFFECTS}; sleep {seconds}; exit {status}', text]
        node = {"type": "Spawn", "name": key, "argv": argv}
        succeeds = status == 0
        if status and self.chance(0.3):
            node["success_exit"] = [3]
            succeeds = True
        if self.chance(0.2):
            node["lock"] = "one"
        return self.part(self.changing(node, change), succeeds, {key: (1, 1)})

    def start_unit(self, more=""):
        key, (value, change) = self.new("e"), self.value()
        self.variable_of[key] = value
        name = self.dice.choice(["ok", "ok", *UNITS])
        node = {"type": self.dice.choice(["StartUnit", "RestartUnit"]), "name": key,
                "unit": f"{name}@{key}{more}:{{{value}}}.service"}
        return self.part(self.changing(node, change), UNITS[name][2] == 0, {key: (1, 1)})

    def output(self):
        key, variable = self.new("e"), self.new("o", "")
        text = f"{key} says; $this"
        return self.part({"type": "Sequence", "children": [
            {"type": "Spawn", "name": key, "argv": ["/bin/sh", "-c", f'echo "{key}:" >>{EFFECTS}; echo "$0"; sleep 0.05', text],
             "stdout": variable},
            {"type": "Condition", "test": f"{variable} == '{text}'"}]}, True, {key: (1, 1)})

    def life(self):
        """Of a unit, from its start to its stop."""
        key = self.new("e")
        unit = f"up@{key}:.service"
        steps = [{"type": verb, "unit": unit} for verb in ("StartUnit", "ReloadUnit", "RestartUnit")]
        steps += [{"type": "WaitFor", "child": {"type": "UnitState", "unit": unit, "state": "active"}},
                  {"type": "StopUnit", "unit": unit}]
        return self.part({"type": "Sequence", "name": key, "children": steps}, True,
                    {f"start.{key}": (2, 2), f"reload.{key}": (1, 1), f"stop.{key}": (2, 2)})

    def unsure(self):
        """What can be lost, and what is done again then."""
        key, again = self.new("e"), self.chance(0.5)
        node = self.dice.choice([
            mixed.call(f"{key}:"),
            {"type": "DBusEmit", "path": "/counter", "interface": "org.example.Told", "member": "Told", "signature": "s",
             "args": [f"{key}:"]},
            {"type": "Spawn", "argv": [EFFECT, f"{key}:", "0.05", "0"], "as": "child"}])
        if again:
            node = {**node, "name": key, "on_recover": "rerun"}
        if again and node["type"] != "DBusEmit":
            return self.part({"type": "Retry", "num_attempts": -1, "backoff": {"initial": "50ms", "factor": 1}, "child": node},
                        True, {key: (1, ANY)})
        return self.part({"type": "Fallback", "children": [node, {"type": "Log", "message": "lost"}]}, True,
                    {key: (0, ANY if again else 1)})

    def wait(self):
        """For something outside, or a moment; what they wait for is another thing soon."""
        variable, change = self.value()
        self.outside.remove(variable) if variable in self.outside else None
        kind = self.dice.choice(["Sleep", "PathExists", "DBusName", "DBusProperty", "DBusSignal", "UnitState"])
        if kind == "Sleep":
            self.variables[variable] = "150ms"
            change["code"] = f"{variable} = '1h'"
            node = {"type": "Sleep", "duration": f"{{{variable}}}"}
        elif kind == "PathExists":
            self.variables[variable] = "/usr"
            change["code"] = f"{variable} = '/etc'"
            node = {"type": "ReactiveSequence", "children": [
                {"type": "PathExists", "path": f"{{{variable}}}"}, {"type": "Sleep", "duration": "150ms"}]}
        elif kind == "UnitState":
            node = {"type": "ReactiveSequence", "children": [
                {"type": "UnitState", "unit": STAYS, "state": "active", "unknown": "success"},
                {"type": "Sleep", "duration": "150ms"}]}
        elif kind == "DBusName":
            node = {"type": "WaitFor", "child": {"type": "DBusName", "name": mixed.COUNTER}}
        elif kind == "DBusProperty":
            node = {"type": "WaitFor", "child": {"type": "DBusProperty", "destination": mixed.COUNTER, "path": "/counter",
                                                 "interface": mixed.COUNTER, "property": "Ready"}}
        else:
            node = {"type": "DBusSignal", "sender": mixed.COUNTER, "interface": mixed.COUNTER, "member": "Beat",
                    "on_owner_lost": "wait"}
        return self.part({"type": "Parallel", "children": [node, change]}, True, {})

    # Nodes above them.

    def grow(self, depth):
        if depth == 0:
            return self.dice.choice([self.leaf, self.leaf, self.leaf, self.output if self.outputs else self.leaf, self.life, self.unsure, self.wait])()
        return self.dice.choice([self.sequence, self.fallback, self.parallel, self.parallel, self.parallel_all,
                                 self.parallel_all, self.again, self.for_each, self.chosen, self.around])(depth - 1)

    def parts(self, depth, least=2):
        return [self.grow(depth) for _ in range(self.dice.randint(least, 3))]

    def in_order(self, types, parts, until):
        """Until one succeeds, or fails."""
        effects, succeeds, over = {}, not until, False
        for part in parts:
            effects |= never(part.effects) if over else part.effects
            if not over and part.succeeds == until:
                succeeds, over = until, True
        return Part({"type": self.dice.choice(types), "children": [part.node for part in parts]}, succeeds, effects)

    def sequence(self, depth):
        return self.in_order(["Sequence", "AsyncSequence", "SequenceWithMemory"], self.parts(depth), False)

    def fallback(self, depth):
        return self.in_order(["Fallback", "AsyncFallback"], self.parts(depth), True)

    def parallel(self, depth):
        """One that fails halts the others."""
        parts, effects = self.parts(depth), {}
        succeeds = all(part.succeeds for part in parts)
        for part in parts:
            effects |= part.effects if succeeds else either(part.effects)
        return Part({"type": "Parallel", "children": [part.node for part in parts]}, succeeds, effects)

    def parallel_all(self, depth):
        parts, effects = self.parts(depth), {}
        for part in parts:
            effects |= part.effects
        failures, limit = sum(not part.succeeds for part in parts), self.dice.randint(1, len(parts))
        return Part({"type": "ParallelAll", "max_failures": limit, "children": [part.node for part in parts]},
                    failures < limit, effects)

    def again(self, depth):
        """So many times, one after the other."""
        times, i = self.dice.randint(2, 4), self.new("i", 0)
        part = self.leaf(f".{{{i}}}")
        effects = {f"{key}.{n}": count for key, count in part.effects.items() for n in range(1, times + 1)}
        steps = [{"type": "Script", "code": f"{i} = {i} + 1"}, {"type": "ForceSuccess", "child": part.node}]
        last, more = {"type": "Condition", "test": f"{i} >= {times}"}, {"type": "Condition", "test": f"{i} < {times}"}
        node, succeeds = self.dice.choice([
            ({"type": "Retry", "num_attempts": times + 1, "child": {"type": "Sequence", "children": [*steps, last]}}, True),
            ({"type": "Repeat", "num_cycles": times, "child": {"type": "Sequence", "children": steps}}, True),
            ({"type": "KeepRunningUntilFailure", "child": {"type": "Sequence", "children": [*steps, more]}}, False)])
        return Part(node, succeeds, effects)

    def for_each(self, depth):
        items = [chr(ord("p") + n) for n in range(self.dice.randint(1, 4))]
        item = self.new("item")
        part = self.leaf(f".{{{item}}}")
        effects = {f"{key}.{name}": count for key, count in part.effects.items() for name in items}
        return Part({"type": "ForEach", "items": items, "as": item, "concurrency": self.dice.randint(1, 3),
                     "child": {"type": "ForceSuccess", "child": part.node}}, True, effects)

    def chosen(self, depth):
        """One of two, by a variable."""
        parts, first, variable = [self.grow(depth), self.grow(depth)], self.chance(0.5), self.new("c", "x")
        nodes = [part.node for part in parts]
        test = {"type": "Condition", "test": f"{variable} == '{'x' if first else 'y'}'"}
        node = self.dice.choice([
            {"type": "IfThenElse", "children": [test, *nodes]},
            {"type": "WhileDoElse", "children": [test, *nodes]},
            {"type": "Switch", "variable": variable, "cases": ["x" if first else "y"], "children": nodes}])
        taken, left = parts if first else parts[::-1]
        return Part(node, taken.succeeds, taken.effects | never(left.effects))

    def around(self, depth):
        part = self.grow(depth)
        kind = self.dice.choice(["Inverter", "ForceSuccess", "ForceFailure", "Timeout", "Delay", "RunOnce", "Finally",
                                 "TryCatch", "ReactiveFallback"])
        node, succeeds, effects = {"type": kind, "child": part.node}, part.succeeds, part.effects
        if kind == "Inverter":
            succeeds = not succeeds
        elif kind in ("ForceSuccess", "ForceFailure"):
            succeeds = kind == "ForceSuccess"
        elif kind == "Timeout":
            node["timeout"] = "10min"
        elif kind == "Delay":
            node["delay"] = "30ms"
        elif kind in ("Finally", "TryCatch"):
            then = self.spawn()
            runs = kind == "Finally" or not part.succeeds
            node = {"type": kind, "children": [part.node, then.node]}
            succeeds = part.succeeds and (then.succeeds or kind == "TryCatch")
            effects = effects | (then.effects if runs else never(then.effects))
        elif kind == "ReactiveFallback":
            node = {"type": kind, "children": [
                {"type": "UnitState", "unit": STAYS, "state": "failed", "unknown": "failure"}, part.node]}
        return Part(node, succeeds, effects)
