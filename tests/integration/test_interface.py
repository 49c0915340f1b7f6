# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the description of the D-Bus interface: introspection data that is installed, org.btd1(5), and its examples,
which use the interface with bindings that others made."""

import glob
import os
import re
import subprocess
import xml.etree.ElementTree as ElementTree

import pytest

import client
import daemon

SOURCE = os.environ.get("BTD_SOURCE") or os.path.join(os.path.dirname(__file__), "..", "..")
INTERFACES = {"Manager": "/org/btd1", "Tree": "/org/btd1/tree/nap", "Run": "/org/btd1/run/nap_2e1"}
LITERAL = re.compile(r"^\.Bd -literal[^\n]*\n(.*?)^\.Ed", re.M | re.S)


def read(*path):
    with open(os.path.join(SOURCE, *path), encoding="utf-8") as file:
        return file.read()


PAGE = read("daemon", "service", "org.btd1.5")


def members(interface):
    """Everything that programs see of an interface of introspection data."""
    def arguments(element):
        return ", ".join(" ".join(filter(None, (a.get("direction"), a.get("type"), a.get("name"))))
                         for a in element.findall("arg"))

    def told(element):
        [value] = [a.get("value") for a in element.findall("annotation")
                   if a.get("name") == "org.freedesktop.DBus.Property.EmitsChangedSignal"] or ["true"]
        return value
    return {f"{kind} {e.get('name')}({arguments(e)})" for kind in ("method", "signal") for e in interface.findall(kind)} \
        | {f"property {p.get('name')} {p.get('type')} {told(p)}" for p in interface.findall("property")}


def installed(name):
    return ElementTree.parse(os.path.join(daemon.BUILD, "daemon", f"org.btd1.{name}.xml")).find("interface")


def documented(name):
    """The same from the page."""
    [block] = [text for text in LITERAL.findall(PAGE) if f"interface org.btd1.{name} {{" in text]
    methods, signals, properties = re.fullmatch(
        r".*?    methods:\n(.*?)(?:    signals:\n(.*?))?    properties:\n(.*)  };\n};\n", block, re.S).groups()
    found = set()
    for kind, text in ("method", methods), ("signal", signals or ""):
        for member, arguments in re.findall(r"(\w+)\((.*?)\);", text, re.S):
            found.add(f"{kind} {member}({' '.join(arguments.split())})")
    for type_, member, told in re.findall(r"^ +readonly (\S+) (\w+); +// (\w+)$", properties, re.M):
        found.add(f"property {member} {type_} {told}")
    return found


@pytest.mark.parametrize("name", INTERFACES)
def test_introspection_data(btd, name):
    """What is installed is what btd says."""
    btd.tree("nap", {"type": "Sleep", "duration": "1h"})
    btd.start()
    btd.client.start("nap")
    text = btd.client.call(INTERFACES[name], "org.freedesktop.DBus.Introspectable", "Introspect")
    [interface] = [i for i in ElementTree.fromstring(text).findall("interface") if i.get("name") == f"org.btd1.{name}"]
    assert members(installed(name)) == members(interface)


@pytest.mark.parametrize("name", INTERFACES)
def test_page_has_all_members(name):
    assert documented(name) == members(installed(name))


@pytest.mark.parametrize("name", INTERFACES)
def test_page_describes_all_members(name):
    interface = installed(name)
    for kind, title in ("method", "Methods"), ("signal", "Signals"), ("property", "Properties"):
        expected = [element.get("name") for element in interface.findall(kind)]
        section = re.search(rf"^\.Ss {title} of org\.btd1\.{name}\n(.*?)^\.S[sh]", PAGE, re.M | re.S)
        described = re.findall(r"^\.It Li (\w+)(?: Ns .*)?\n(?!\.It)", section[1], re.M) if section else []
        assert [word for word in described if word[0].isupper()] == expected


def test_page_has_all_fields_of_lists(btd):
    btd.tree("nap", {"type": "Sleep", "duration": "1h"})
    btd.start()
    btd.client.start("nap")
    for method in "ListTrees", "ListRuns":
        [listed] = btd.client.manager(method)
        described = re.search(rf"^\.It Li {method} Ns \(\)\n(.*?)^see the properties", PAGE, re.M | re.S)[1]
        assert set(re.findall(r"\w+", " ".join(re.findall(r"^\.Li (.*)", described, re.M)))) == set(listed)


def test_page_names_properties_that_no_signal_has():
    section = re.search(r"^\.Ss Changes of properties\n(.*?)^\.S[sh]", PAGE, re.M | re.S)[1]
    silent = {member.split()[1] for member in members(installed("Run")) if member.endswith(" false")}
    told = re.search(r"^The properties\n(.*?)^of a run are in no signal", section, re.M | re.S)[1]
    assert set(re.findall(r"[A-Z]\w+", re.sub(r"^\.Li", "", told, flags=re.M))) == silent


# What Qt has a type for. For the others, its generator wants a name.
QT = set("ybnqiuxtdsog") | {"as", "ay", "ao", "ag", "v"}


@pytest.mark.parametrize("name", INTERFACES)
def test_generators_get_what_they_need(name):
    """The description of each member, from the page; names of types for Qt."""
    for member in installed(name):
        annotations = {each.get("name"): each.get("value") for each in member.findall("annotation")}
        text = annotations["org.gtk.GDBus.DocString"]
        assert re.fullmatch(r"[^\\]+\.", text), text
        kinds = [("In", member.findall("arg[@direction='in']")), ("Out", member.findall("arg[@direction='out']"))] \
            if member.tag == "method" else [("Out", member.findall("arg"))]
        wanted = {f"org.qtproject.QtDBus.QtTypeName.{way}{number}"
                  for way, arguments in kinds for number, each in enumerate(arguments) if each.get("type") not in QT}
        if member.tag == "property" and member.get("type") not in QT:
            wanted = {"org.qtproject.QtDBus.QtTypeName"}
        assert {each for each in annotations if "QtTypeName" in each} == wanted, member.get("name")
    if name == "Run":
        [changed] = [each for each in installed(name) if each.get("name") == "NodesChanged"]
        assert "These nodes have changed; for subscribers only. The structure is that of GetNodes, without titles." \
            in changed.find("annotation[@name='org.gtk.GDBus.DocString']").get("value")


def test_page_has_all_errors():
    errors = set(re.findall(r'"(org\.btd1\.Error\.\w+)"', read("daemon", "service", "errors.h")))
    assert set(re.findall(r"^\.It Li (org\.btd1\.Error\.\w+)$", PAGE, re.M)) == errors


def test_page_has_all_options():
    """Each option of the code is named, and the other way round."""
    code = "".join(read(path) for path in glob.glob("daemon/service/*-bus.c", root_dir=SOURCE))
    known = set(re.findall(r'\{ "(\w+)", "[sbu]", [&(]', code))
    assert known == {"instance", "token", "attach", "awaited", "replace", "tree", "run", "nodes", "events", "first"}
    for option in known:
        assert re.search(rf"\b{option}\b", PAGE)


def example(title):
    text = LITERAL.search(PAGE, PAGE.index(f".Ss {title}\n"))[1]
    return text.replace("\\e", "\\")


def compiled(text, tmp_path):
    (tmp_path / "greet.c").write_text(text)
    sources = sorted(glob.glob(os.path.join(os.path.abspath(daemon.BUILD), "daemon", "org.btd1.*.xml")))
    subprocess.run(["gdbus-codegen", "--generate-c-code=btd1", "--c-namespace=Btd", "--interface-prefix=org.btd1.",
                    *sources], check=True, cwd=tmp_path)
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "gio-unix-2.0"], capture_output=True, text=True,
                           check=True).stdout.split()
    subprocess.run(["cc", "-Wall", "-Werror", "-o", "greet", "greet.c", "btd1.c", *flags], check=True, cwd=tmp_path)
    return [str(tmp_path / "greet")]


SECOND = "greet.2 halted\n"
WHY = "whom == 'friend' is false (whom is \"world\")"


@pytest.mark.parametrize("title, expected", [
    ("Shell, with busctl(1)", f"failure\nhello world\nGreet/Answer: {WHY}\n"),
    ("Python, with Gio", f"greet.1 failure\nhello world\nGreet/Answer: {WHY}\n{SECOND}"),
    ("Python, with dbus-python", f"greet.1 failure\nhello world\nGreet/Answer: {WHY}\nAnswer failed\n{WHY}\n{SECOND}"),
    ("Python, with dasbus", f"greet.1 failure\nhello world\nGreet/Answer: {WHY}\nAnswer failed\n{WHY}\n{SECOND}"),
    ("C, with gdbus-codegen(1)", f"greet.1 failure\nhello world\n{WHY}\n{SECOND}"),
])
def test_examples_of_the_page(btd, tmp_path, title, expected):
    """Programs start a tree with inputs, follow it to its end, read variables and causes, and halt a run; also a second
    time."""
    btd.tree("greet", LITERAL.search(PAGE, PAGE.index(".Sh EXAMPLES\n"))[1])
    btd.start()
    text = example(title)
    if title.startswith("C,"):
        command = compiled(text, tmp_path)
    else:
        (tmp_path / "greet").write_text(text)
        command = [text.splitlines()[0].removeprefix("#!"), str(tmp_path / "greet")]
    result = client.run(command, {"DBUS_SYSTEM_BUS_ADDRESS": btd.bus.address})
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith(expected), result.stdout
    assert [row.status for row in btd.client.runs()] == ["failure", "halted"]

    again = client.run(command, {"DBUS_SYSTEM_BUS_ADDRESS": btd.bus.address})
    assert (again.returncode, again.stderr) == (0, "")
    assert re.sub("[0-9]+", "N", again.stdout) == re.sub("[0-9]+", "N", result.stdout)


def script(btd, tmp_path, title, change=lambda text: text):
    """Writes an example in Python, and returns its command."""
    btd.tree("greet", LITERAL.search(PAGE, PAGE.index(".Sh EXAMPLES\n"))[1])
    (tmp_path / "greet.py").write_text(change(example(title)))
    return ["/usr/bin/python3", str(tmp_path / "greet.py")]


def test_example_with_a_token_runs_twice(btd, tmp_path):
    """The second time, the run of the token has already finished; the third time, only the history has it."""
    command = script(btd, tmp_path, "Python, with Gio")
    btd.start(f"--runtime={tmp_path}/run", f"--state={tmp_path}/state")
    for second in "greet.2", "greet.3", None:
        if not second:
            btd.stop()
            btd.start(f"--runtime={tmp_path}/run", f"--state={tmp_path}/state")
            btd.client.wait_running()
            assert btd.client.runs() == []
        result = client.run(command, {"DBUS_SYSTEM_BUS_ADDRESS": btd.bus.address})
        assert (result.returncode, result.stderr) == (0, "")
        lines = result.stdout.splitlines()
        assert lines[0] == "greet.1 failure"
        assert lines[-1] == f"{second} halted" if second else lines[-1].endswith(" halted")


def test_example_of_events_outlasts_a_restart(btd, tmp_path):
    """It prints each event once: before a restart of btd, after it, and what happened before it subscribed again."""
    command = script(btd, tmp_path, "Python: all events of a run", lambda text: text.replace('"2s"', '"1h"'))
    options = f"--runtime={tmp_path}/run", f"--state={tmp_path}/state"
    output = tmp_path / "output"
    btd.start(*options)
    with output.open("w") as file:
        process = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT,
                                   env={**os.environ, "DBUS_SYSTEM_BUS_ADDRESS": btd.bus.address})
    client.wake_at_end(process)
    client.wait(lambda: "Greet/Wait running" in output.read_text() or process.poll() is not None, "the example to wait")
    assert process.poll() is None, output.read_text()
    btd.stop(9)
    btd.start(*options)
    btd.client.wait_running()
    [row] = btd.client.runs()
    btd.client.call(row.path, "org.btd1.Run", "Force", "us", 2, "success")
    client.wait(lambda: process.poll() is not None, "the end of the example")
    assert re.sub(r" by UID .*", "", output.read_text(), flags=re.M) == "".join(f"{n} {text}\n" for n, text in enumerate([
        "greet.1 started", "Greet running ", "Greet/Speak set ", "Greet/Speak success ", "Greet/Wait running ",
        "greet.1 recovered ", "Greet/Wait forced success, forced", "Greet/Wait halted ", "Greet/Wait success forced",
        f"Greet/Answer failure {WHY}", f"Greet failure Answer: {WHY}", f"greet.1 failure Greet/Answer: {WHY}"], 1))
    assert process.returncode == 0


def test_page_has_all_events():
    """Each name of an event that is not a status is on the page, and the other way round."""
    head = read("daemon", "run", "events.h")
    names = re.search(r"/\* what: .*?\*/", head, re.S)[0]
    known = set(re.findall(r'"([a-z-]+)"', names)) - {"waiting"}
    listed = re.search(r"^a status in words, or\n(.*?)^\.It", PAGE, re.M | re.S)[1]
    assert set(re.findall(r"[a-z-]{3,}", listed)) == known
