# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes the gallery of all example trees, with runs of some of them and what btctl watch shows of them. It stays in the
build directory, to look at."""

import json
import pathlib
import re
import shutil
import subprocess
import xml.etree.ElementTree as xml

import client
import daemon
import web
from btctl_runs import SOURCE
from screen import Screen

SVG = "{http://www.w3.org/2000/svg}"
TREES = pathlib.Path(SOURCE, "trees")
EXAMPLES = sorted(path for path in TREES.glob("*.json") if path.stem != "disk-parts")
RECIPES = sorted(TREES.glob("cookbook/*.json"))
RECORDS = sorted(TREES.glob("*.journal"))
SCREENS = sorted(TREES.glob("watch-*.txt"))


def test_gallery(btd, tmp_path):
    runs = {"degraded-start": {}, "demo": {"device": f"{tmp_path}/device"}, "device-startup": {}, "mode-switch": {},
            "provisioning": {"directory": f"{tmp_path}/sensors"}, "service-recovery": {"state": f"{tmp_path}/served"}}
    for name in runs:
        shutil.copy(TREES / f"{name}.json", btd.trees)
    btd.start(f"--runtime={tmp_path}/run", f"--state={tmp_path}/state")
    started = [btd.client.start(name, variables=variables) for name, variables in runs.items()]
    assert [btd.client.finish(path)[0] for _, path in started] == ["success"] * len(runs)
    btd.stop()  # so that all records are in the history
    records = [tmp_path / "state" / "history" / f"{run}.journal" for run, _ in started]

    gallery = pathlib.Path(daemon.BUILD, "gallery")
    shutil.rmtree(gallery, ignore_errors=True)
    shots = tmp_path / "screenshots"
    shots.mkdir()
    # The test "web" makes them if there is a browser.
    pictures = [name for name in ("lists", "form", "run", "past") if pathlib.Path(web.SHOTS, name + ".png").exists()]
    for name in pictures:
        shutil.copy(pathlib.Path(web.SHOTS, name + ".png"), shots)
    subprocess.run([TREES / "gallery.sh", daemon.BTCTL, gallery, shots, *EXAMPLES, TREES / "disk-parts.json", *records,
                    *SCREENS], check=True)

    names = [path.stem for path in EXAMPLES] + [run for run, _ in started]
    body = xml.parse(gallery / "index.html").getroot().find("body")
    shown = [f"{name}.svg" for name in names] + [f"page-{name}.png" for name in pictures]
    assert [image.get("src") for image in body.iter("img")] == shown
    assert all((gallery / name).exists() for name in shown)
    assert [screen.text for screen in body.iter("pre")] == [path.read_text(encoding="utf-8") for path in SCREENS]
    assert [link.get("href") for link in body.iter("a")] == [f"{name}.html" for name in names for _ in range(2)]
    for name in names:
        head = xml.parse(gallery / f"{name}.svg").getroot().findall(f"{SVG}text")
        assert head[0].text in (name, f"{name}.json")
        assert xml.parse(gallery / f"{name}.html").getroot().find("body/h1").text == head[0].text
        boxes = [box for box in xml.parse(gallery / f"{name}.html").getroot().iter() if "box" in box.get("class", "").split()]
        assert boxes


def test_installed_gallery():
    """The build makes it, with stored runs. It has those pictures of the page that were there then."""
    gallery = pathlib.Path(daemon.BUILD, "trees", "gallery")
    names = {path.name for path in gallery.iterdir()}
    pictures = {name for name in names if name.startswith("page-")}
    assert names - pictures == {"index.html"} | {
        f"{path.stem}.{suffix}" for path in EXAMPLES + RECIPES + RECORDS for suffix in ("svg", "html")}
    assert pictures <= {"page-lists.png", "page-form.png", "page-run.png", "page-past.png"}
    screens = xml.parse(gallery / "index.html").getroot().iter("pre")
    assert [screen.text for screen in screens] == [path.read_text(encoding="utf-8") for path in SCREENS]


def test_stored_runs():
    """They are runs of the examples as these are now."""
    assert RECORDS
    for path in RECORDS:
        header, _ = json.JSONDecoder().raw_decode(path.read_text(encoding="utf-8").split(" ", 2)[2])
        assert header["run"] == path.stem
        assert header["files"][0]["text"] == (TREES / f"{header['tree']}.json").read_text(encoding="utf-8"), \
            f"make {path} again: copy the run record of a run of '{header['tree']}' from the history of a btd"


def without_times(text):
    """The lines of a screen, also without PIDs. A line that is cut is cut elsewhere if a time in it is longer."""
    text = re.sub(r"\b\d[\d.]*(us|ms|s|min|h)\b( \d[\d.]*(ms|s|min)\b)?", "TIME", text)
    lines = re.sub(r"process \d+", "process PID", text).splitlines()
    lines = [re.sub(" +", " ", line).rstrip() for line in lines]
    return [line[:40] if line.endswith("…") else line for line in lines]


def keep_screen(screen, name):
    """Waits until it is the stored one, which belongs to the documentation."""
    stored = (TREES / f"{name}.txt").read_text(encoding="utf-8")
    try:
        client.wait(lambda: without_times(screen.text()) == without_times(stored), name)
    except TimeoutError:
        made = pathlib.Path(daemon.BUILD, f"{name}.txt")
        made.write_text(screen.text(), encoding="utf-8")
        assert without_times(screen.text()) == without_times(stored), f"if it is right, copy {made} to trees"


def test_what_watch_shows(btd, tmp_path):
    for path in TREES.glob("*.json"):
        shutil.copy(path, btd.trees)
    btd.start(f"--runtime={tmp_path}/run", f"--state={tmp_path}/state")
    for name, variables, result in [
            ("provisioning", {"directory": f"{tmp_path}/sensors"}, "success"),
            ("service-recovery", {"state": f"{tmp_path}/served"}, "success"),
            ("device-startup", {}, "success"), ("device-startup", {"error_file": "/etc/hostname"}, "failure")]:
        _, run = btd.client.start(name, variables=variables)
        assert btd.client.finish(run)[0] == result
    _, run = btd.client.start("uploader")
    client.wait(lambda: btd.client.nodes(run)["Uploader"]["status"] == "running", "the uploader")

    def show(name, *words, keys=()):
        screen = Screen([daemon.BTCTL, "--address=" + btd.bus.address, "watch", *words])
        try:
            screen.wait("? keys")
            for key in keys:
                screen.keys(key)
            keep_screen(screen, name)
        finally:
            screen.close()
    show("watch-list", keys=["Down"] * 6)
    show("watch-run", "uploader")
    show("watch-past", "service-recovery.1", keys=["Left"] * 3)
    btd.client.halt(run)
