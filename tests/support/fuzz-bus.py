#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes so many calls of the methods of all objects of a service on the system bus, and gets and sets their properties:
fuzz-bus.py NAME CALLS WORDS [SEED]. It continues until each method has an answer. The arguments are random values of their
types, or of others, and now and then one of the words for an argument of that name: WORDS is a JSON object of lists. It
prints as JSON how many calls got which answer, and what must not happen: no answer, an error that has no name of its own, a
service that has gone."""

import collections
import functools
import json
import random
import sys
import xml.etree.ElementTree as xml

import gi

gi.require_version("Gio", "2.0")
from gi.repository import Gio, GLib  # noqa: E402

# Methods that reply when something has happened; the fuzzer does not wait for it.
WAITS = {"Wait", "WaitRun"}
WAIT_MS = 200
TIMEOUT = 120  # seconds, for an answer: what takes longer will never come
AT_ONCE = 16  # calls
CALLS_MAX = 10  # times as many, until each method has an answer
CALLS_AN_OBJECT = 400  # before its children are looked up again

PROPERTIES = "org.freedesktop.DBus.Properties"
INTEGERS = {"y": (0, 2**8 - 1), "n": (-2**15, 2**15 - 1), "q": (0, 2**16 - 1), "i": (-2**31, 2**31 - 1),
            "u": (0, 2**32 - 1), "x": (-2**63, 2**63 - 1), "t": (0, 2**64 - 1)}
DOUBLES = [0.0, -0.0, 1.5, 1e308, 5e-324, float("inf"), float("-inf"), float("nan")]
ERRORS = ["AccessDenied", "InteractiveAuthorizationRequired", "InvalidArgs", "PropertyReadOnly", "UnknownInterface",
          "UnknownMethod", "UnknownObject", "UnknownProperty"]

STRINGS = [
    "", " ", "a", "0", "-1", "1e999", "null", "true", "{}", "[]", '""', '"a"', '{"a":1}', "%s%n%d", "../../etc/passwd", "/",
    "@", "a@b", "#1", "\t\n", "\u00e9\u4e2d\U0001f600", "\ufffd", "\ufffe", "camera\U0001ffff",
    "\x7f", ":1.1", "Version", "a" * 255, "a" * 256, "9" * 400, "[" * 5000, '{"a":' * 2000, "a" * 300000,
]


class Arguments:
    """Makes values of any type, mostly extreme ones."""

    def __init__(self, dice, fitting):
        self.dice = dice
        self.fitting = fitting
        self.words = list(STRINGS)  # and what the service itself has said

    def remember(self, value):
        if isinstance(value, str):
            if len(value) < 200 and len(self.words) < 1000:
                self.words.append(value)
        elif isinstance(value, (list, tuple)):
            for element in value[:50]:
                self.remember(element)
        elif isinstance(value, dict):
            self.remember(list(value.items())[:50])

    def text(self):
        word = self.dice.choice(self.words)
        if self.dice.random() < 0.1 and len(word) < 1000:
            at = self.dice.randrange(len(word) + 1)
            word = word[:at] + self.dice.choice(["", "\\", '"', "{", "\u00ff", word]) + word[at + 1:]
        return word

    def signature(self):
        return "".join(self.dice.choice(["s", "u", "b", "as", "a{ss}", "a{sv}", "v", "(su)", "ay", "d", "t", "o", "g"])
                       for _ in range(self.dice.choice([0, 1, 1, 2, 3, 8])))

    def integer(self, low, high):
        return self.dice.choice([low, high, 0, 1, 2, self.dice.randint(low, high), self.dice.randint(0, min(9, high))])

    def basic(self, kind):
        if kind in INTEGERS:
            return self.integer(*INTEGERS[kind])
        if kind == "b":
            return self.dice.random() < 0.5
        if kind == "d":
            return self.dice.choice(DOUBLES)
        if kind == "o":
            return self.dice.choice(["/", "/org/btd1", "/a/b", "/" + "a" * 1000])
        if kind == "g":
            return self.dice.choice(["", "s", "a{sv}", "((((u))))"])
        return self.text()

    def value(self, kind, depth=0):
        """A value of one complete type, for GLib.Variant."""
        if kind == "v":
            inner = self.dice.choice(["s", "u", "v", "as", "a{sv}", "d"] if depth < 20 else ["s"])
            return GLib.Variant(inner, self.value(inner, depth + 1))
        if kind.startswith("a{"):
            return {self.basic(kind[2]): self.value(kind[3:-1], depth + 5) for _ in range(self.length(depth))}
        if kind.startswith("a"):
            return [self.value(kind[1:], depth + 5) for _ in range(self.length(depth))]
        if kind.startswith("("):
            return tuple(self.value(each, depth + 1) for each in split(kind[1:-1]))
        return self.basic(kind)

    def length(self, depth):
        return self.dice.choice([0, 1, 1, 2, 3, 40] if depth == 0 else [0, 1, 2])

    def argument(self, name, kind):
        if name in self.fitting and self.dice.random() < 0.6:
            fitting = self.dice.choice(self.fitting[name])
            return variables(fitting) if kind == "a{sv}" else fitting
        return self.value(kind)

    def tuple(self, arguments):
        """Arguments for (name, type)."""
        if self.dice.random() < 0.1:
            arguments = [(None, kind) for kind in split(self.signature())]
        return GLib.Variant("(" + "".join(kind for _, kind in arguments) + ")",
                            tuple(self.argument(*each) for each in arguments))

    def property(self, interface, name, kind):
        kind = kind if self.dice.random() < 0.7 else "s"
        return GLib.Variant("(ssv)", (interface, name, GLib.Variant(kind, self.value(kind))))


def variant(value):
    """A JSON value as btd sends it."""
    if value is None:
        return GLib.Variant("(s)", ("null",))
    if isinstance(value, list):
        return GLib.Variant("av", [variant(element) for element in value])
    if isinstance(value, dict):
        return GLib.Variant("a{sv}", variables(value))
    return GLib.Variant({bool: "b", int: "x", float: "d", str: "s"}[type(value)], value)


def variables(values):
    return {name: variant(value) for name, value in values.items()}


def split(signature):
    """Complete types."""
    types = []
    while signature:
        variant_type = next(signature[:n] for n in range(1, len(signature) + 1)
                            if GLib.VariantType.string_is_valid(signature[:n]))
        types.append(variant_type)
        signature = signature[len(variant_type):]
    return types


class Fuzzer:
    def __init__(self, name, fitting, seed):
        self.name = name
        self.dice = random.Random(seed)
        self.arguments = Arguments(self.dice, fitting)
        self.connection = Gio.bus_get_sync(Gio.BusType.SYSTEM)
        self.connection.set_exit_on_close(False)
        self.answers = collections.defaultdict(collections.Counter)
        self.methods = set()  # of the service's own interfaces
        self.findings = []
        self.pending = self.n_calls = 0
        self.owner = self.get_owner()

    def get_owner(self):
        reply = self.connection.call_sync("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
                                          "GetNameOwner", GLib.Variant("(s)", (self.name,)), None, 0, TIMEOUT * 1000)
        return reply.unpack()[0]

    def introspect(self, path):
        """The children of the object, and its methods: (interface, method, maker of arguments)."""
        try:
            reply = self.connection.call_sync(self.name, path, "org.freedesktop.DBus.Introspectable", "Introspect", None,
                                              None, 0, TIMEOUT * 1000)
        except GLib.Error:  # it has gone since
            return [], []
        node = xml.fromstring(reply.unpack()[0])
        members = []
        for interface in node.iter("interface"):
            for method in interface.iter("method"):
                arguments = [(arg.get("name"), arg.get("type")) for arg in method.iter("arg")
                             if arg.get("direction") != "out"]
                own = interface.get("name").startswith(self.name)
                if own:
                    self.methods.add(interface.get("name") + "." + method.get("name"))
                members += [(interface.get("name"), method.get("name"),
                             functools.partial(self.arguments.tuple, arguments))] * (10 if own else 1)
            for each in interface.iter("property"):
                about = (interface.get("name"), each.get("name"))
                members.append((PROPERTIES, "Get", functools.partial(GLib.Variant, "(ss)", about)))
                members.append((PROPERTIES, "Set",
                                functools.partial(self.arguments.property, *about, each.get("type"))))
        return [path.rstrip("/") + "/" + child.get("name") for child in node.findall("node")], members

    def objects(self):
        """A few objects of each kind, because runs start and end."""
        waiting, found = ["/"], []
        while waiting:
            path = waiting.pop()
            children, members = self.introspect(path)
            self.dice.shuffle(children)
            waiting += children[:6]
            if members:
                found.append((path, members))
        return found

    def call(self, path, interface, member, make):
        flags = Gio.DBusCallFlags.NO_AUTO_START
        if self.dice.random() < 0.2:
            flags |= Gio.DBusCallFlags.ALLOW_INTERACTIVE_AUTHORIZATION
        arguments = make()
        if arguments.get_size() > 4 * 1024 * 1024:
            return
        self.pending += 1
        self.n_calls += 1
        self.connection.call(self.name, path, interface, member, arguments, None, flags,
                             WAIT_MS if member in WAITS else TIMEOUT * 1000, None, self.on_reply, (path, interface, member, arguments))

    def on_reply(self, connection, result, about):
        self.pending -= 1
        method = ".".join(about[1:3])
        try:
            value = connection.call_finish(result)
            self.answers[method]["fine"] += 1
            if value.get_size() < 100000:
                self.arguments.remember(value.unpack())
        except GLib.Error as error:
            if about[2] in WAITS and error.matches(Gio.io_error_quark(), Gio.IOErrorEnum.TIMED_OUT):
                self.answers[method]["waits"] += 1
                return
            name = Gio.DBusError.get_remote_error(error) or f"{error.domain}: {error.message}"
            self.answers[method][name] += 1
            named = name.startswith(self.name + ".Error.") or name.removeprefix("org.freedesktop.DBus.Error.") in ERRORS
            if not named or not error.message:
                self.findings.append(f"{' '.join(about[:3])}{about[3].print_(True)[:2000]}: {name}: {error.message[:500]}")

    def goes_on(self, n):
        if self.findings or self.n_calls >= n * CALLS_MAX:
            return False
        return self.n_calls < n or not self.answers.keys() >= self.methods

    def run(self, n):
        context = GLib.MainContext.default()
        while self.goes_on(n):
            objects = self.objects()
            for _ in range(CALLS_AN_OBJECT):
                path, members = self.dice.choice(objects)
                self.call(path, *self.dice.choice(members))
                while self.pending >= AT_ONCE:
                    context.iteration(True)
                if not self.goes_on(n):
                    break
        while self.pending > 0:
            context.iteration(True)
        if self.get_owner() != self.owner:
            self.findings.append(f"{self.name} has another owner now")


def main():
    fuzzer = Fuzzer(sys.argv[1], json.loads(sys.argv[3]), int(sys.argv[4]) if len(sys.argv) > 4 else 1)
    fuzzer.run(int(sys.argv[2]))
    json.dump({"calls": sum(counter.total() for counter in fuzzer.answers.values()), "answers": fuzzer.answers,
               "findings": fuzzer.findings}, sys.stdout, indent=1)


if __name__ == "__main__":
    main()
