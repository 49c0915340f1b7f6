# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the pictures of btctl graph: of files, trees and runs, in all formats."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import xml.etree.ElementTree as xml

import pytest

import client
import daemon
from btctl_runs import GOOD, LONG, SOURCE, UTF8, btctl

SVG = "{http://www.w3.org/2000/svg}"
RECORD = str(pathlib.Path(SOURCE, "tests", "records", "1-commission.journal"))
EXAMPLES = sorted(path for path in pathlib.Path(SOURCE, "trees").glob("*.json") if path.stem != "disk-parts")
ODD = 'a "b" <c> &amp; #35; \\N ] `d` style:#e; é 猫'


def boxes(svg):
    """The groups of the boxes, each with its rectangle: (classes, x, y, width, height) and its texts."""
    result = []
    for group in xml.fromstring(svg).iter(SVG + "g"):
        box = group.find(SVG + "rect")
        result.append((box.get("class").split(), *(int(box.get(key)) for key in ("x", "y", "width", "height")),
                       [text.text for text in group.iter(SVG + "text")]))
    return result


def texts(svg):
    """The texts of the boxes, by their first line."""
    return {box[-1][0]: box[-1][1:] for box in boxes(svg)}


def head(svg):
    return [text.text for text in xml.fromstring(svg).findall(SVG + "text")]


def check_places(svg):
    """No box overlaps another, or the border of the picture."""
    root = xml.fromstring(svg)
    places = [box[1:5] for box in boxes(svg)]
    for i, (x, y, width, height) in enumerate(places):
        assert x > 0 and y > 50 and x + width < int(root.get("width")) and y + height < int(root.get("height"))
        for x2, y2, width2, height2 in places[:i]:
            assert x + width <= x2 or x2 + width2 <= x or y + height <= y2 or y2 + height2 <= y
    return len(places)


def draw(*arguments):
    status, output, told = btctl("graph", *arguments, env=UTF8)
    assert (status, told) == (0, "")
    return output


def dot(text):
    """The labels of the nodes that graphviz draws; None: it is not installed."""
    if not shutil.which("dot"):
        return None
    result = subprocess.run(["dot", "-Tsvg"], input=text, capture_output=True, text=True, check=True)
    assert result.stderr == ""
    labels = {int(group.find(SVG + "title").text[1:]): [line.text.replace("\xa0", " ") for line in group.iter(SVG + "text")]
              for group in xml.fromstring(result.stdout).iter(SVG + "g") if group.get("class") == "node"}
    return [labels[i] for i in range(len(labels))]


def mermaid(text):
    """The labels of the nodes, as Mermaid reads them."""
    lines = re.findall(r'^  n\d+\["([^"]*)"\](?::::\w+)?$', text, re.MULTILINE)
    return [[re.sub(r"#(\d+);", lambda found: chr(int(found[1])), line) for line in label.split("<br>")]
            for label in lines]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples(path):
    svg = draw(str(path))
    of_mermaid = draw(str(path), "--format=mermaid")
    n = check_places(svg)
    assert head(svg)[0] == path.name and n == of_mermaid.count("-->") + 1 == len(mermaid(of_mermaid))
    drawn = dot(draw(str(path), "--format=dot"))
    assert drawn is None or drawn == mermaid(of_mermaid) == [box[-1] for box in boxes(svg)]


def test_attributes(btd):
    path = btd.tree("all", {"type": "Sequence", "name": "Top", "skip_if": "x", "on_failure": "x = true\nx = false", "children": [
        {"type": "StartUnit", "unit": "cam.service", "lock": "bus", "ready": True, "uninterruptible": True},
        {**LONG, "fail_if": "x", "success_if": "not x", "while": "x", "on_success": "x = 1", "on_halted": "x = 2",
         "always": "x = 3"}]}, blackboard={"x": 0}, description="All of it")
    svg = draw(path)
    assert head(svg) == ["all.json", "All of it"]
    assert texts(svg) == {
        "Top (Sequence)": ["skip_if: x", "on_failure: x = true x = false"],
        "StartUnit": ["cam.service", "lock: bus", "uninterruptible: true", "ready: true"],
        "Long (Sleep)": ["1h", "fail_if: x", "success_if: not x", "while: x", "on_success: x = 1", "on_halted: x = 2",
                         "always: x = 3"]}
    result = client.run(["/bin/sh", "-c", '"$0" graph - <"$1"', daemon.BTCTL, path], daemon.SANITIZER_ENV)
    assert result.returncode == 0 and head(result.stdout) == ["Top", "All of it"]


def test_odd_names(btd):
    path = btd.tree("odd", {"type": "Sequence", "name": ODD, "children": [
        {"type": "Log", "message": ODD}, {"type": "Log", "message": "a\nb\u202e\x7f", "skip_if": "false --\n"}]},
                    description=ODD)
    labels = [[ODD, "(Sequence)"], ["Log", ODD], ["Log", r"a\nb\u202e\u007f", "skip_if: false -- "]]
    svg = draw(path)
    assert head(svg)[1] == ODD
    assert [box[-1] for box in boxes(svg)] == labels
    assert [title.text for title in xml.fromstring(svg).iter(SVG + "title")][1] == ODD + "\n(Sequence)\n"
    assert mermaid(draw(path, "--format=mermaid")) == labels
    assert dot(draw(path, "--format=dot")) in (None, labels)


@pytest.mark.parametrize("root, limit", [
    ({"type": "Parallel", "children": [{"type": "AlwaysSuccess"}] * 4999}, 200),
    ({"type": "Parallel", "children": [{"type": "Sequence", "children": [{"type": "AlwaysSuccess"}] * 9}] * 500}, 200),
    ({"type": "Sequence", "children": [
        {"type": "Parallel", "children": [{"type": "AlwaysSuccess"}] * 4990}, {"type": "AlwaysSuccess"}]}, 3)])
def test_large_trees_are_folded(btd, root, limit):
    description = {"description": "Big"} if limit == 3 else {}
    path = btd.tree("large", root, **description)
    svg = draw(path)
    n, n_nodes = check_places(svg), len(mermaid(draw(path, "--format=mermaid")))
    more = sum(int(box[-1][-1][1:-5]) for box in boxes(svg) if box[-1][-1].endswith(" more"))
    assert n == limit and more == n_nodes - n
    assert head(svg)[1] == f"{'Big; ' if description else ''}{more} of {n_nodes} nodes are hidden"


def test_bad_files(btd, tmp_path):
    assert btctl("graph", "nothing.json") == (1, "", "nothing.json: error: cannot be opened: No such file or directory\n")
    parts = btd.tree("parts", '{"btd": 1, "trees": {"part": {"root": {"type": "AlwaysSuccess"}}}}')
    assert btctl("graph", parts) == (1, "", f"btctl: {parts}: there is no root to draw, only trees for other files\n")
    bad = btd.tree("bad", {"type": "Sequenc"})
    status, output, told = btctl("graph", bad)
    assert (status, output) == (1, "") and f"{bad}:4:11: error: unknown type 'Sequenc'; did you mean" in told


def test_a_tree_of_btd(btd):
    """It is drawn as btd has loaded it."""
    path = btd.tree("boot", {**GOOD, "skip_if": "off"}, blackboard={"off": False}, description="Starts it")
    btd.start()
    svg = btd.btctl("graph", "boot").stdout
    assert head(svg) == ["boot", "Starts it"]
    assert texts(svg) == {"Boot (Sequence)": ["skip_if: off"], "Greet (Log)": ["hello"], "Work (Spawn)": ["/bin/true"]}
    btd.tree("boot", {"type": "AlwaysSuccess"})
    assert btd.btctl("graph", "boot").stdout == svg
    os.unlink(path)
    assert btd.btctl("graph", "boot").stdout == svg

    assert btd.btctl("graph", "bot")[:2] == (1, "")
    assert "no tree 'bot'" in btd.btctl("graph", "bot").stderr
    assert btd.btctl("graph", "boot.7") == btd.btctl("plot", "boot.7")


def test_used_files_that_are_gone(btd):
    btd.tree("part", {"type": "Log", "name": "Part", "message": "m", "skip_if": "false"})
    btd.tree("using", {"type": "SubTree", "name": "Use", "tree": "part"})
    btd.start()
    result = btd.btctl("graph", "using", "-q")
    assert (result.returncode, result.stderr) == (0, "")
    assert texts(result.stdout)["Part (Log)"] == ["m", "skip_if: false"]
    os.unlink(os.path.join(btd.trees, "part.json"))
    result = btd.btctl("graph", "using")
    assert result.returncode == 0 and result.stderr.startswith(
        "btctl: guards are not drawn, because files of tree 'using' have changed or are not on this machine\n")
    assert texts(result.stdout)["Part (Log)"] == ["m"]


def test_a_tree_file_without_btd(btd, bus, tmp_path):
    trees = tmp_path / "config" / "btd" / "trees"
    trees.mkdir(parents=True)
    shutil.copy(btd.tree("boot", GOOD), trees)
    environment = {"XDG_CONFIG_HOME": f"{tmp_path}/config", "XDG_STATE_HOME": f"{tmp_path}/state",
                   "XDG_RUNTIME_DIR": f"{tmp_path}/run", "DBUS_SESSION_BUS_ADDRESS": bus.address}
    status, svg, told = btctl("--user", "graph", "boot", env=environment)
    assert (status, told) == (0, f"btctl: btd is not running; this is the tree in {trees}/boot.json\n")
    assert len(boxes(svg)) == 3 and btctl("--user", "graph", "boot", "-q", env=environment) == (0, svg, "")
    assert btctl("--user", "graph", "net", env=environment) == (
        5, "", "btctl: btd is not running; start it with 'systemctl --user start btd'\n")


def test_a_finished_run():
    svg = draw(RECORD)
    assert check_places(svg) == 21
    assert head(svg) == ["commission.1", "halted after 849ms: halted by UID 0 (btctl)"]
    of = {box[-1][0]: (box[0], box[-1][1:]) for box in boxes(svg)}
    assert of["Send (Spawn)"] == (["x", "failure", "Spawn"],
                                  ["/bin/sh -c exit 75", "failure, 1.42ms", "exited with status 75"])
    assert of["Optional (Sleep)"][0] == ["x", "skipped", "Sleep"]
    assert "n4 [label=" in draw(RECORD, "--format=dot") and 'color="#cf222e"' in draw(RECORD, "--format=dot")
    assert '<br>exited with status 75"]:::failure\n' in draw(RECORD, "--format=mermaid")


def test_a_live_run(btd, tmp_path):
    """It shows what status shows, also what a running leaf waits for."""
    btd.tree("boot", {"type": "Sequence", "name": "Boot", "children": [
        *GOOD["children"], {"type": "DBusSignal", "name": "Stay", "interface": "org.example.Camera", "member": "Warm"}, LONG]})
    btd.start(f"--runtime={tmp_path}/run", f"--state={tmp_path}/state")
    run = btd.client.start("boot", "eth0")[0]

    def stay():
        return next(node for node in json.loads(btd.btctl("status", "boot", "--json").stdout)["nodes"]
                    if node["name"] == "Stay")

    client.wait(lambda: "Warm" in stay()["detail"], "the signal")
    status, svg, told = btd.btctl("graph", "boot")
    assert (status, told) == (0, "")
    assert head(svg)[0] == f"{run} (eth0)" and re.match(r"running for \d", head(svg)[1])
    of = texts(svg)
    assert of["Work (Spawn)"][1].startswith("success, ") and of["Long (Sleep)"] == ["1h", "idle"]
    assert stay()["detail"][:43] in of["Stay (DBusSignal)"][-1]
    for operand in run, "boot@eth0":
        assert texts(btd.btctl("graph", operand).stdout).keys() == of.keys()
    assert btd.btctl("halt", "boot", "--wait").returncode == 0
    assert head(btd.btctl("graph", "boot").stdout)[1].startswith("halted after ")


def boxes_of_page(page):
    """The boxes of the tree on a page: the element, its classes, whether it is open, and its texts."""
    result = []
    for box in xml.fromstring(page).iter():
        if "box" in box.get("class", "").split():
            lines = [line.text for line in box.iter() if line.tag in ("b", "span", "small")]
            result.append((box.tag, box.get("class").split()[1:], box.get("open") is not None, lines))
    return result


def rows_of_page(page):
    """The rows of the timeline on a page: the element, the name, what is said of the bars, and why it failed."""
    return [(row.tag, row.find("span").text, row.find("svg").get("aria-label"), row.findall("span")[1].text)
            for row in xml.fromstring(page).iter() if row.get("class", "").split()[:1] == ["row"] and row.find("span") is not None]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_pages_of_examples(path):
    page = draw(str(path), "--format=html")
    svg = draw(str(path))
    # It needs nothing from elsewhere; only texts of the tree may name addresses.
    assert not any("://" in text for element in xml.fromstring(page).iter() for text in (
        *element.attrib.values(), (element.text or "") * (element.tag in ("style", "script"))))
    assert xml.fromstring(page).find("body/h1").text == path.name
    assert [box[-1][0] for box in boxes_of_page(page)] == [title.text.split("\n")[0] for title in list(
        xml.fromstring(svg).iter(SVG + "title"))[1:]]
    assert rows_of_page(page) == []


def test_a_page_of_a_run():
    """Both verbs print it. What folds is an element that browsers fold."""
    page = draw(RECORD, "--format=html")
    assert btctl("plot", RECORD, "--format=html", env=UTF8) == (0, page, "")
    body = xml.fromstring(page).find("body")
    assert body.find("h1").text == "commission.1" and body.find("p").text == "halted after 849ms: halted by UID 0 (btctl)"
    of = {box[-1][0]: box for box in boxes_of_page(page)}
    assert of["Send (Spawn)"] == ("div", ["failure", "Spawn"], False, [
        "Send (Spawn)", "/bin/sh -c exit 75", "failure, 1.42ms", "exited with status 75"])
    assert of["Prepare (ParallelAll)"] == ("details", ["success", "ParallelAll"], True, [
        "Prepare (ParallelAll)", "success, 54.7ms", "+6 more"])
    rows = rows_of_page(page)
    assert rows[0] == ("summary", "Commission", "halted, from 2.05ms for 847ms", None)
    assert ("div", "Send", "failure, from 30.7ms for 1.42ms", "exited with status 75") in rows
    assert 'title="paused, at 320ms"' in page and ">2026-11-21 " in page


def test_a_large_page(btd):
    """Everything is in it, and what the picture hides is folded; not too much, and not too deep."""
    path = btd.tree("large", {"type": "Parallel", "children": [
        {"type": "Sequence", "name": f"S{i}", "children": [{"type": "AlwaysSuccess"}] * 9} for i in range(60)]})
    found = boxes_of_page(draw(path, "--format=html"))
    assert len(found) == 601 and found[0][2] and found[0][3] == ["Parallel", "+600 more"]
    shut = [box for box in found if box[0] == "details" and not box[2]]
    assert len(shut) == 45 and shut[0][3] == ["S0 (Sequence)", "+9 more"]

    path = btd.tree("larger", {"type": "Parallel", "children": [{"type": "AlwaysSuccess"}] * 6000})
    assert len(boxes_of_page(draw(path, "--format=html"))) == 5000

    root = {"type": "AlwaysSuccess"}
    for _ in range(150):
        root = {"type": "Inverter", "child": root}
    found = boxes_of_page(draw(btd.tree("deep", root), "--format=html"))
    assert len(found) == 101 and found[-1][0] == "div" and found[-1][3] == ["Inverter", "+50 more"]


def test_a_page_and_a_picture_of_a_large_run(btd, tmp_path):
    """Nodes that have failed are not folded; copies in a ForEach have rows of their own."""
    good = {"type": "Sequence", "name": "Good", "children": [{"type": "AlwaysSuccess"}] * 9}
    bad = {"type": "ForceSuccess", "name": "Pardon", "child": {"type": "AlwaysFailure", "name": "Bad"}}
    each = {"type": "ForEach", "name": "All", "items": "{list}", "as": "e", "concurrency": 2,
            "child": {"type": "Sleep", "name": "One", "duration": "1ms"}}
    btd.tree("boot", {"type": "Sequence", "name": "Boot", "children": [bad] + [good] * 30 + [each]},
             blackboard={"list": ["a", "<b>", "c", "d"]})
    btd.start(f"--runtime={tmp_path}/run", f"--state={tmp_path}/state")
    assert btd.btctl("start", "boot", "--wait").returncode == 0
    svg = btd.btctl("plot", "boot").stdout
    names = [(text.text, text.find(SVG + "tspan")) for text in xml.fromstring(svg).findall(f"{SVG}g[@clip-path]/{SVG}text")]
    rows = [(text, held.text if held is not None else None) for text, held in names]
    assert rows[:4] == [("Boot", None), ("Pardon", None), ("Bad", None), ("Good", "+9")]
    assert rows[-4:] == [("AlwaysSuccess", None), ("All", None), ("One[1]", None), ("One[2]", None)]
    assert len(rows) <= 200 and rows.count(("Good", "+9")) >= 10
    assert svg.count('<rect class="copy"') == 1 and "<title>Boot/All/One[2: &lt;b&gt;]: success, from " in svg

    rows = rows_of_page(btd.btctl("plot", "boot", "--format=html").stdout)
    assert len(rows) == 306 and [row[1] for row in rows if row[1].startswith("One")] == ["One[1]", "One[2]"]
    assert ("div", "Bad", "always fails") in [row[:2] + row[3:] for row in rows]
