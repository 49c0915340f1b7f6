# SPDX-License-Identifier: LGPL-2.1-or-later
"""Breaks valid trees in known places.

A tree is read into Objects, Arrays and Scalars. Each mistake marks what a reader would point at, so where it is found
follows from how the text is written, not from what the loader says. A node gets one mistake at most, and none that
would make something elsewhere wrong: what sets variables is not removed.
"""

import json
import re

SPACE = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/)*", re.S)
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"/]+')
NONSENSE = "zzqx"


class Scalar:
    """A string, number or word, as it is written. at: the position of the mistake in the text; None: no mistake."""

    def __init__(self, text, at=None):
        self.text, self.at = text, at

    @property
    def value(self):
        return json.loads(self.text)


class Array:
    def __init__(self, items):
        self.items, self.at = items, None


class Object:
    """members: [key (a Scalar), value]."""

    def __init__(self, members):
        self.members, self.at = members, None

    def get(self, name):
        return next((value for key, value in self.members if key.value == name), None)

    def names(self):
        return [key.value for key, _ in self.members]


def to_thing(value):
    """Converts a value of json.loads()."""
    if isinstance(value, dict):
        return Object([[Scalar(json.dumps(key)), to_thing(member)] for key, member in value.items()])
    if isinstance(value, list):
        return Array([to_thing(item) for item in value])
    return Scalar(json.dumps(value, ensure_ascii=False))


def plain_json(text):
    """Without comments."""
    tokens, at = [], SPACE.match(text).end()
    while at < len(text):
        token = TOKEN.match(text, at)
        tokens.append(token[0])
        at = SPACE.match(text, token.end()).end()
    return json.loads(" ".join(tokens))


class Writer:
    """Writes a tree as JSON in a random style, and records the places of the marks."""

    def __init__(self, random):
        self.random = random
        self.newline = random.choice(["\n", "\n", "\r\n"])
        self.tokens = []  # (text, whether a mistake is there and where in it)

    def tokens_of(self, thing):
        if isinstance(thing, Scalar):
            yield thing.text, thing.at
        elif isinstance(thing, Array):
            yield "[", thing.at
            for number, item in enumerate(thing.items):
                if number:
                    yield ",", None
                yield from self.tokens_of(item)
            yield "]", None
        else:
            yield "{", thing.at
            for number, (key, value) in enumerate(thing.members):
                if number:
                    yield ",", None
                yield key.text, key.at
                yield ":", None
                yield from self.tokens_of(value)
            yield "}", None

    def space(self):
        return self.random.choice(["", "", " ", " ", "  ", "\t", self.newline, self.newline + "  ", " /* é: { */ ",
                                   " // ☃ \"" + self.newline])

    def write(self, tokens):
        """The text and the places, [(line, column)]."""
        text, places, line, column = [], [], 1, 1
        for token, at in tokens:
            for number, piece in enumerate((self.space(), token)):
                if number and at is not None:
                    places.append((line, column + at))
                text.append(piece)
                for character in piece:
                    line, column = (line + 1, 1) if character == "\n" else (line, column + 1)
        return "".join(text) + self.newline, sorted(places)


# What a value of a kind is never, and for strings with a form what has it not.
MISMATCHES = {
    "true or false": ['"yes"', "1", "[]", "null"],
    "integer": ['"3"', "2.5", "true", "[1]", "99999999999999999999"],
    "number": ['"3"', "true", "{}", "1e999"],
    "time span": ["5", '"5"', '"5 parsecs"', "true", "[]", '""'],
    "one of": [f'"{NONSENSE}"', "5", "null", "[]"],
    "string": ["5", "[]", "{}", "true", "null"],
    "name of a variable": ['"9"', '"end"', '"a b"', '""', '"{x}"'],
    "array of strings": ["5", "{}", "null", '"x"'],
    "array of names of variables": ["5", '"x"'],
    "string or array of strings": ["5", "{}", "null"],
    "object of strings": ["5", "[]", '"x"'],
    "array": ["5", "{}", '"x"', "true"],
    "object": ["5", "[]", '"x"', "null"],
    "expression": ["5", "[]", "null"],
    "code": ["5", "{}", "true"],
}
FORMATS = {
    "a D-Bus signature": ['"a"', '"s("', '"h"', '"z"'],
    "a bus name": ['"camera"', '"a..b"', '"a.1"', '""'],
    "an object path": ['"a/b"', '"/a/"', '"/a//b"', '"/a-b"', '""'],
    "an absolute path": ['"tmp"', '""', '"./x"'],
    "the name of a bus": ['"sytem"', '""', '"host:"'],
    "the name of a method": ['"a.M"', '"1M"', '"a-b"', '""'],
    "the name of a signal": ['"a.M"', '"1M"', '"a-b"', '""'],
    "the name of a property": ['"a.M"', '"1M"', '"a-b"', '""'],
    "the name of an interface": ['"ab"', '"a.1"', '"a..b"'],
    "the name of a unit": ['"a b.service"', '"a.servce"', '""'],
    "the name or number of an account": ['""', '"a/b"'],
}
ANY_NODE = {"skip_if": "expression", "fail_if": "expression", "success_if": "expression", "while": "expression",
            "on_success": "code", "on_failure": "code", "on_halted": "code", "always": "code", "lock": "string",
            "uninterruptible": "true or false", "ready": "true or false", "name": "string", "description": "string"}
HEADER = {"autostart": "true or false", "interval": "time span", "on_stop": "one of", "restart": "one of",
          "restart_backoff": "object", "restart_limit": "object", "access": "object", "description": "string",
          "$schema": "string"}
# Text with a mistake behind '§'.
BAD_EXPRESSIONS = ["x >§", "§", "(1 + 2§", "1 §1", "a §= 1", "1 + §* 2", "§'abc", "§@"]
BAD_CODE = ["x = = 1".replace("= =", "= §="), "x = 1; y §1", "if x then y = 1§", "x = §'abc", "§5 = x"]
BAD_REFERENCES = ["a §{b c}", "§{", "x{{y} §{9}", "§{}"]


def inside(text):
    """A string with the mark inside of it."""
    at = text.index("§")
    return Scalar(json.dumps(text.replace("§", ""), ensure_ascii=False), 1 + at)


class Breaker:
    """types: of btctl types --json."""

    def __init__(self, random, types):
        self.random = random
        self.types = {name: node_type for node_type in types for name in [node_type["name"], *node_type["aliases"]]}
        self.n_unset = 0

    def choose(self, options):
        return self.random.choice(options)

    def params(self, node):
        """[(key, its value, parameter)] of the given parameters, without those that are given twice."""
        params = self.types[node.get("type").value]["parameters"]
        names = [param["name"] for param in params]
        return [(key, value, param) for key, value in node.members for param in params
                if key.value == param["name"] and names.count(key.value) == 1 and key.value != "name"]

    @staticmethod
    def sets(param):
        """Does removing it remove the names of variables?"""
        return param["kind"] == "code" or ("variable" in param["kind"] and param["name"] != "queue")

    def writes(self, thing):
        """Does a part of it set variables, or have mistakes already?"""
        if isinstance(thing, Scalar):
            return thing.at is not None
        if isinstance(thing, Array):
            return thing.at is not None or any(map(self.writes, thing.items))
        if thing.at is not None or any(key.at is not None or self.writes(value) for key, value in thing.members):
            return True
        return any(name in ("stdout", "stderr", "outputs", "code", "variable", "as", "index", "on_success", "always",
                            "on_failure", "on_halted") for name in thing.names())

    def nodes(self, thing, parent=None):
        """[(node, its container, its position there)], without inputs of SubTrees."""
        found = []
        if isinstance(thing, Object) and thing.get("type"):
            found.append((thing, parent))
            for name in ("child", "children"):
                below = thing.get(name)
                for each in below.items if isinstance(below, Array) else [below] if below else []:
                    found += self.nodes(each, (thing, name))
        return found

    def takes_hooks(self, node):
        """What WaitFor waits for has none."""
        return id(node) not in self.waited_for

    # Each gives False if it cannot be made here.

    def unknown_key(self, node):
        key = Scalar(f'"{NONSENSE}"', 0)
        node.members.insert(self.random.randint(0, len(node.members)), [key, to_thing(self.choose([5, "x", [], {}]))])

    def misspelt_key(self, node):
        choices = [key for key, _, _ in self.params(node) if len(key.value) > 2]
        choices += [key for key, _ in node.members if key.value in ("children", "child", "type", "skip_if", "while")]
        if not choices:
            return False
        key = self.choose(choices)
        at = self.random.randint(1, len(key.value) - 1)
        key.text, key.at = json.dumps(key.value[:at] + key.value[at - 1] + key.value[at:]), 0

    def key_twice(self, node):
        number = self.random.randrange(len(node.members))
        key, value = node.members[number]
        if self.writes(value):
            return False
        for below in self.nodes(value) if isinstance(value, Object) else []:
            self.touched.add(id(below[0]))
        for item in value.items if isinstance(value, Array) else []:
            self.touched |= {id(below) for below, _ in self.nodes(item)}
        node.members.insert(self.random.randint(number + 1, len(node.members)), [Scalar(key.text, 0), value])

    def missing(self, node):
        choices = [key for key, _, param in self.params(node) if param["required"] and not self.sets(param)
                   and key.value != "tree"]
        if not choices:
            return False
        key = self.choose(choices)
        node.members = [member for member in node.members if member[0] is not key]
        node.at = 0

    def no_type(self, node):
        node.members = [member for member in node.members if member[0].value != "type"]
        node.at = 0

    def no_children(self, node):
        name = "children" if node.get("children") else "child"
        if not node.get(name) or self.writes(node.get(name)):
            return False
        if name == "children" and self.choose([True, False]):
            node.get(name).items, node.get(name).at = [], 0
            return None
        node.members = [member for member in node.members if member[0].value != name]
        node.at = 0

    def wrong_children(self, node):
        name = "children" if node.get("children") else "child"
        if not node.get(name) or self.writes(node.get(name)):
            return False
        self.replace(node, name, Scalar(self.choose(["5", '"x"', "null", "true"]), 0))
        self.unknowable = True

    def not_a_node(self, node):
        children = node.get("children")
        if not children or self.writes(children):
            return False
        children.items[self.random.randrange(len(children.items))] = Scalar(self.choose(["5", '"x"', "null"]), 0)
        self.unknowable = True

    def children_of_a_leaf(self, node):
        leaf = self.types[node.get("type").value]["class"] in ("action", "condition")
        if not leaf and node.get("type").value != "SubTree":
            return False
        extra = to_thing({"type": "AlwaysSuccess"})
        if self.choose([True, False]):
            node.members.append([Scalar('"child"', 0), extra])
        else:
            node.members.append([Scalar('"children"', 0), Array([extra])])

    def unknown_type(self, node):
        value = node.get("type")
        if self.choose([True, False]):
            value.text = f'"{NONSENSE}"'
        else:
            value.text = value.text[:2] + value.text[1:]
        value.at = 0

    def replace(self, node, name, thing):
        for member in node.members:
            if member[0].value == name:
                member[1] = thing

    def wrong_value(self, node):
        choices = [(key, param) for key, _, param in self.params(node) if param["kind"] != "any value"]
        choices += [(key, {"name": key.value, "kind": ANY_NODE[key.value]}) for key, _ in node.members
                    if key.value in ANY_NODE]
        if not choices:
            return False
        key, param = self.choose(choices)
        if self.sets(param) or self.types[node.get("type").value]["name"] == "SubTree":
            return False
        texts = FORMATS.get(param.get("format")) or MISMATCHES[param["kind"]]
        if param["kind"] in ("integer", "number", "time span") and self.choose([True, False]):
            texts = self.out_of_range(param) or texts
        self.replace(node, key.value, Scalar(self.choose(texts), 0))

    @staticmethod
    def out_of_range(param):
        if param["kind"] == "time span":
            return ['"1us"'] if param.get("min", 0) > 1 else None
        return ([str(param["min"] - 1)] if "min" in param else []) + (
            [str(param["max"] + 1)] if param.get("max") else [])

    def wrong_element(self, node):
        choices = [(value, param) for _, value, param in self.params(node)
                   if param["kind"] == "array of strings" and value.__class__ is Array]
        if not choices:
            return False
        value, _ = self.choose(choices)
        value.items.append(Scalar(self.choose(["5", "null", "[]", "{}", "true"]), 0))
        if value is node.get("cases"):  # one too many, too
            value.at = 0

    def wrong_member(self, node):
        choices = [(value, param) for _, value, param in self.params(node) if "members" in param and
                   isinstance(value, Object)]
        if not choices:
            return False
        value, param = self.choose(choices)
        if self.choose([True, False]):
            value.members.append([Scalar(f'"{NONSENSE}"', 0), Scalar("1")])
            return None
        key, _ = self.choose(value.members)
        member = next(member for member in param["members"] if member["name"] == key.value)
        self.replace(value, key.value, Scalar(self.choose(MISMATCHES[member["kind"]]), 0))

    def bad_expression(self, node):
        choices = [key for key, _, param in self.params(node) if param["kind"] == "expression"]
        name = self.choose(choices).value if choices else self.choose(["skip_if", "fail_if", "success_if", "while"])
        if not choices and not self.takes_hooks(node):
            return False
        self.put(node, name, inside(self.choose(BAD_EXPRESSIONS)))

    def put(self, node, name, thing):
        if node.get(name) is None:
            node.members.append([Scalar(json.dumps(name)), thing])
        else:
            self.replace(node, name, thing)

    def bad_hook(self, node):
        name = self.choose(["on_success", "on_failure", "on_halted", "always"])
        if node.get(name) is not None or not self.takes_hooks(node):
            return False
        node.members.append([Scalar(json.dumps(name)), inside(self.choose(BAD_CODE))])

    def wrong_attribute(self, node):
        name = self.choose(sorted(ANY_NODE))
        if node.get(name) is not None or not self.takes_hooks(node):
            return False
        texts = MISMATCHES[ANY_NODE[name]]
        node.members.append([Scalar(json.dumps(name)), Scalar(self.choose(texts), 0)])

    def bad_reference(self, node):
        choices = [value for _, value, param in self.params(node) if param["references"] and
                   isinstance(value, Scalar) and value.text[0] == '"' and param["kind"] == "string"]
        choices += [value for _, value, param in self.params(node) if param["kind"] == "array of strings" and
                    isinstance(value, Array)]
        if not choices:
            return False
        value, bad = self.choose(choices), inside(self.choose(BAD_REFERENCES))
        if isinstance(value, Array):
            value.items.append(bad)
        else:
            value.text, value.at = bad.text, bad.at

    def unset_variable(self, node):
        """A name that is like no known name."""
        self.n_unset += 1
        name = NONSENSE * 2 + str(self.n_unset) * 5
        lists = [value for _, value, param in self.params(node)
                 if param["kind"] == "array of strings" and param["references"] and isinstance(value, Array)]
        if lists and self.choose([True, False]):
            self.choose(lists).items.append(inside("é {§" + name + "}"))
        elif node.get("skip_if") is None and self.takes_hooks(node):
            node.members.append([Scalar('"skip_if"'), inside("1 < §" + name)])
        else:
            return False
        self.reads = True

    def count_beyond(self, node):
        name = {"Parallel": self.choose(["success_count", "failure_count"]), "ParallelAll": "max_failures"}.get(
            node.get("type").value)
        if not name:
            return False
        self.put(node, name, Scalar(str(len(node.get("children").items) + self.random.randint(1, 9)), 0))

    def tree_not_there(self, node):
        if not node.get("tree"):
            return False
        self.replace(node, "tree", Scalar(f'"{NONSENSE}"', 0))

    def wrong_input(self, node):
        if not isinstance(node.get("inputs"), Object):
            return False
        node.get("inputs").members.append([Scalar(f'"{NONSENSE}"', 0), Scalar("1")])

    def wrong_input_value(self, node):
        given = node.get("inputs")
        if not isinstance(given, Object) or not given.get("device"):
            return False
        self.replace(given, "device", Scalar(self.choose(["5", "true", "[]", "{}", "null"]), 0))

    def missing_input(self, node):
        given = node.get("inputs")
        if not isinstance(given, Object) or not given.get("device"):
            return False
        given.members, given.at = [member for member in given.members if member[0].value != "device"], 0

    def wrong_output(self, node):
        if node.get("type").value != "SubTree" or not isinstance(node.get("outputs"), Object):
            return False
        node.get("outputs").members.append([Scalar(f'"{NONSENSE}"', 0), Scalar('"zzqx_output"')])

    def too_many_args(self, node):
        if not node.get("signature") or not isinstance(node.get("args"), Array):
            return False
        node.get("args").items.append(Scalar("1"))
        node.get("args").at = 0

    def mismatched_args(self, node):
        if not isinstance(node.get("args"), Array) or not node.get("args").items or not node.get("signature"):
            return False
        at = {"sya{sv}(ii)av": [0, 1, 3], "s": [0]}.get(node.get("signature").value)
        if not at:
            return False
        node.get("args").items[self.choose(at)] = Scalar(self.choose(["1e99", "true", "null", "{}"]), 0)

    def too_many_cases(self, node):
        if node.get("type").value != "Switch":
            return False
        node.get("cases").items.append(Scalar(f'"{NONSENSE}"'))
        node.get("cases").at = 0

    def one_too_many(self, node):
        for given, other, value in [("hz", "period", '"1s"'), ("period", "hz", "2"), ("test", "equals", "1"),
                                    ("one_of", "test", '"value == 1"'), ("equals", "one_of", "[1]"),
                                    ("variable", "of", '"1"'), ("of", "variable", '"level"')]:
            if node.get(given) and node.get("type").value in ("RateController", "DBusProperty", "Switch"):
                node.members.append([Scalar(f'"{other}"', 0), Scalar(value)])
                return None
        return False

    def properties_of_a_child(self, node):
        if node.get("type").value != "Spawn" or node.get("as") or node.get("properties"):
            return False
        node.members.append([Scalar('"as"'), Scalar('"child"')])
        node.members.append([Scalar('"properties"', 0), to_thing({"Nice": 3})])

    def wrong_header(self, top):
        name = self.choose(sorted(HEADER))
        texts = MISMATCHES[HEADER[name]]
        self.put(top, name, Scalar(self.choose(texts), 0))

    def unknown_top(self, top):
        self.unknown_key(top)

    def wrong_section(self, top):
        """A mistake in a declaration."""
        section = self.choose(["inputs", "outputs", "blackboard"])
        declared = top.get(section)
        if not isinstance(declared, Object):
            return False
        bad = {"blackboard": "1"}.get(section) or self.choose(['"any"'])
        kind = self.random.randrange(2 if section == "blackboard" else 3)
        if kind == 0:
            declared.members.append([Scalar(self.choose(['"9"', '"end"', '"a b"', '""']), 0), Scalar(bad)])
        elif kind == 1 and declared.members:
            key, _ = self.choose(declared.members)
            declared.members.append([Scalar(key.text, 0), Scalar(bad)])
        elif kind == 2 and section == "inputs":
            declared.members.append([Scalar('"zzqx_declared"'), Scalar(self.choose(['"strng"', "5", "[]", "null"]), 0)])
        else:
            return False

    def wrong_include(self, top):
        if top.get("include") is not None:
            return False
        top.members.append([Scalar('"include"'), self.choose([
            Scalar("5", 0), Scalar('"x"', 0), Array([Scalar("5", 0)]), Array([Scalar('"no-such-file.json"', 0)])])])

    def wrong_trees(self, top):
        tree = self.choose([["a b", {"root": {"type": "AlwaysSuccess"}}, "key"], ["bad", 5, "value"], ["bad", {}, "value"]])
        key, value = Scalar(json.dumps(tree[0])), to_thing(tree[1])
        (key if tree[2] == "key" else value).at = 0
        if top.get("trees") is None:
            top.members.append([Scalar('"trees"'), Object([])])
        if tree[0] in top.get("trees").names():
            return False
        top.get("trees").members.append([key, value])

    NODE_MISTAKES = ["unknown_key", "misspelt_key", "key_twice", "missing", "no_type", "no_children", "wrong_children",
                     "not_a_node", "children_of_a_leaf", "unknown_type", "wrong_value", "wrong_value", "wrong_value",
                     "wrong_element", "wrong_member", "bad_expression", "bad_hook", "wrong_attribute", "bad_reference",
                     "unset_variable", "count_beyond", "tree_not_there", "wrong_input", "wrong_input_value", "missing_input",
                     "wrong_output", "too_many_args", "mismatched_args", "too_many_cases", "one_too_many",
                     "properties_of_a_child"]
    TOP_MISTAKES = ["wrong_header", "unknown_top", "wrong_section", "wrong_include", "wrong_trees"]

    def break_tree(self, document, count):
        """The document with at most this many mistakes, and their names."""
        top = to_thing(document)
        self.unknowable = self.reads = False
        roots = [top.get("root")] + [tree.get("root") for _, tree in (top.get("trees") or Object([])).members]
        nodes = [node for root in roots if root for node, _ in self.nodes(root)]
        self.waited_for = {id(below) for node in nodes if node.get("type").value == "WaitFor"
                           for below, _ in self.nodes(node)}
        made, tops, self.touched = [], set(), set()
        for _ in range(count * 20):
            if len(made) == count:
                break
            at_top = self.random.random() < 0.2
            name = self.choose(self.TOP_MISTAKES if at_top else self.NODE_MISTAKES)
            if (name in tops or (name == "unset_variable" and self.unknowable) or
                    (name in ("wrong_children", "not_a_node") and self.reads) or
                    {name, *made} >= {"wrong_include", "tree_not_there"}):  # the tree may be in that file
                continue
            if at_top:
                done = getattr(self, name)(top) is not False
                tops |= {name} if done else set()
            else:
                done = self.break_node(name, nodes)
            made += [name] if done else []
        return top, made

    def break_node(self, name, nodes):
        """Makes the mistake in one of the nodes where it is possible. False: there is none."""
        for node in self.random.sample(nodes, len(nodes)):
            if self.may_touch(name, node) and getattr(self, name)(node) is not False:
                self.touched.add(id(node))
                return True
        return False

    def may_touch(self, name, node):
        """At most one mistake in each node, and none in a part that another mistake has removed or replaced."""
        if id(node) in self.touched:
            return False
        return not any(id(below) in self.touched for below, _ in self.nodes(node)) or name not in (
            "no_children", "wrong_children", "not_a_node", "key_twice")


def break_syntax(random, tokens):
    """The tokens with one mistake in the JSON syntax, where reading stops."""
    tokens = [(text, None) for text, _ in tokens]
    kind = random.choice(["no-comma", "comma-behind", "no-quotes", "one-quote", "no-colon", "word", "zero", "line-break",
                          "closed-twice", "wrong-bracket", "cut-off", "escape", "tab", "two-values"])
    strings = [i for i, (text, _) in enumerate(tokens) if text[0] == '"']
    closing = [i for i, (text, _) in enumerate(tokens) if text in "}]"]
    keys = [i for i in strings if tokens[i + 1][0] == ":"]
    values = [i for i, (text, _) in enumerate(tokens) if i > 0 and tokens[i - 1][0] == ":" and text[0] not in "{["]
    commas = [i for i, (text, _) in enumerate(tokens) if text == "," and tokens[i + 1][0][0] in '"{[']
    if kind == "no-comma":
        i = random.choice(commas)
        tokens[i:i + 2] = [(tokens[i + 1][0], 0)]
    elif kind == "comma-behind":
        i = random.choice([i for i in closing if tokens[i - 1][0] not in "{["])
        tokens[i:i] = [(",", 0)]
    elif kind == "no-quotes":
        i = random.choice(keys)
        tokens[i] = ("key", 0)
    elif kind == "one-quote":
        i = random.choice(values)
        tokens[i] = ("'x'", 0)
    elif kind == "no-colon":
        i = random.choice(keys) + 1
        tokens[i:i + 2] = [(tokens[i + 1][0], 0)]
    elif kind == "word":
        tokens[random.choice(values)] = (random.choice(["True", "None", "undefined", "5s", ".5"]), 0)
    elif kind == "zero":
        tokens[random.choice(values)] = ("007", 0)
    elif kind == "line-break":
        tokens[random.choice(values)] = ('"a\nb"', 0)
    elif kind == "closed-twice":
        tokens.append((random.choice("}]"), 0))
    elif kind == "wrong-bracket":
        i = random.choice(closing)
        tokens[i] = ("}" if tokens[i][0] == "]" else "]", 0)
    elif kind == "cut-off":
        i = random.choice(strings)
        tokens[i:] = [('"never closed', 0)]
    elif kind == "escape":
        tokens[random.choice(values)] = ('"é\\x"', 2)
    elif kind == "tab":
        tokens[random.choice(values)] = ('"☃☃\t"', 3)
    else:
        tokens += [("{", 0), ("}", None)]
    return tokens, kind
