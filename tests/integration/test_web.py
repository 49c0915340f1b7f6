# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the page for Cockpit in a real Chromium, with Cockpit's web server and bridge."""

import json
import os
import signal

import pytest

import buses
import web
from daemon import Daemon

GATED = {"type": "Sequence", "name": "Boot", "children": [
    {"type": "Script", "name": "Speak", "code": "greeting = 'hello ' .. whom"},
    {"type": "WaitFor", "name": "Gate", "child": {"type": "PathExists", "name": "Open", "path": "{gate}"}}]}
INPUTS = {"gate": {"type": "string"}, "whom": {"type": "string", "description": "the person to greet"},
          "count": {"type": "int", "default": 3}, "loud": {"type": "bool", "default": False},
          "colours": {"type": "list", "default": ["red"]}}
STATE = "document.querySelector('header .badge')?.textContent.includes(arguments[0])"


@pytest.fixture(scope="module")
def bus():
    missing = web.missing()
    if missing:
        assert os.environ.get("CI") != "true", missing
        pytest.skip("these packages are missing: " + " ".join(missing))
    it = buses.Bus("dbus-daemon")
    yield it
    it.close()


@pytest.fixture(scope="module")
def cockpit(bus, tmp_path_factory):
    it = web.Cockpit(bus, str(tmp_path_factory.mktemp("cockpit")))
    yield it
    it.close()


@pytest.fixture(scope="module")
def browser(bus, tmp_path_factory):
    it = web.chromium(str(tmp_path_factory.mktemp("browser")))
    yield it
    it.quit()


@pytest.fixture
def page(request, browser, cockpit):
    it = web.Page(browser, cockpit.url)
    browser.get("about:blank")
    browser.execute_cdp_cmd("Storage.clearDataForOrigin", {"origin": cockpit.url, "storageTypes": "local_storage"})
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    browser.get_log("browser")  # forgets what the previous test left
    yield it
    report = getattr(request.node, "report_call", None)
    if report is not None and report.failed:
        it.keep("failed-" + request.node.name)
    else:
        it.check()


@pytest.fixture
def daemon(bus, tmp_path):
    """btd with a run record of each run."""
    it = Daemon(bus, str(tmp_path))
    it.places = f"--runtime={tmp_path}/run", f"--state={tmp_path}/state"
    it.tree("boot", GATED, inputs=INPUTS, description="Greets, and waits for a file")
    it.start(*it.places)
    yield it
    it.close()


def begin(daemon, tmp_path):
    return daemon.client.start("boot", variables={"gate": str(tmp_path / "gate"), "whom": "world"})[0]


def open_run(page, run):
    """Opens a run of 'boot' that waits at its gate; then nothing above the event log grows any more."""
    page.open("run", run)
    page.wait("document.querySelectorAll('#events tbody tr').length === 7")
    page.wait("document.querySelectorAll('#timeline tbody tr').length === 4")


def test_start_with_a_form_and_watch(page, daemon, tmp_path):
    page.open()
    page.click("Start boot")
    page.type("#input-gate", str(tmp_path / "gate"))
    page.type("#input-whom", "you")
    page.type("#input-colours", "[oops")
    page.click("Start")
    assert page.js("return document.querySelector('#input-colours').validationMessage").startswith("This is not JSON: ")
    assert daemon.client.runs() == []
    page.type("#input-colours", '["green"]')
    page.keep("form")
    page.click("Start")

    page.wait(STATE, "running")
    page.wait_text('"hello you"', "#variables")
    page.wait("document.querySelector('.node.is-running [class=name]')")
    page.wait("document.querySelector('#timeline tbody tr') && document.querySelector('#events tbody tr')")
    page.wait_text("boot.1", "#runs")
    page.keep("run")
    assert json.loads(daemon.btctl("get", "boot", "colours", "--json").stdout) == ["green"]
    (tmp_path / "gate").touch()
    page.wait(STATE, "success")
    page.wait("document.querySelectorAll('.node.is-success').length === 4")
    page.click("Behavior trees")
    page.wait_text("success", "#runs")
    page.keep("lists")


def test_a_form_for_each_type(page, daemon):
    """What stays as it is has the default; numbers stay exact."""
    daemon.tree("types", {"type": "Sleep", "duration": "1h"}, inputs={
        "text": {"type": "string", "default": "as before"}, "whole": {"type": "int"},
        "part": {"type": "number", "default": 0.5}, "yes": {"type": "bool"}, "some": {"type": "list", "default": ["x"]}, "thing": {"type": "object"},
        "any": {"type": "any", "default": None}})
    daemon.client.reload()
    page.open("tree", "types")
    page.click("Start")
    page.type("#input-whole", "12.5")
    page.click("Start", "dialog")
    assert page.js("return document.querySelector('#input-whole').validity.patternMismatch")
    page.type("#input-whole", "9007199254740993")
    page.click("Start", "dialog")
    assert page.js("return document.querySelector('#input-yes').validity.valueMissing")
    page.type("#input-part", "1e3")
    page.js("document.querySelector('#input-yes').value = 'true'")
    page.type("#input-thing", '{"a": [1, null]}')
    page.click("Instance")
    page.type("#instance", "second")
    page.keep("types")
    page.click("Start", "dialog")
    page.wait(STATE, "running")
    page.wait_text("instance second", ".summary")
    values = {name: daemon.btctl("get", "types", name, "--json").stdout.strip()
              for name in ("text", "whole", "part", "yes", "some", "thing", "any")}
    assert {name: json.loads(text) for name, text in values.items()} == {
        "text": "as before", "whole": 9007199254740993, "part": 1000, "yes": True, "some": ["x"], "thing": {"a": [1, None]},
        "any": None}


def test_many_runs(page, daemon):
    """They scroll on their own, so that the trees below them are not far away."""
    daemon.tree("idle", {"type": "Sleep", "duration": "1h"})
    daemon.client.reload()
    for i in range(40):
        daemon.client.start("idle", f"eth{i}")
    page.open()
    page.wait("document.querySelectorAll('#runs tbody tr').length === 40")
    page.keep("many-runs")
    assert page.js("return document.querySelector('#trees').getBoundingClientRect().top < window.innerHeight")


def test_what_btd_refuses_is_shown_in_the_form(page, daemon, tmp_path):
    begin(daemon, tmp_path)
    page.open()
    page.click("Start boot")
    page.type("#input-gate", "x")
    page.type("#input-whom", "y")
    page.click("Start", "dialog")
    page.wait_text("tree 'boot' is already running as boot.1; give another instance to run it twice", "dialog .danger")
    page.click("Cancel")


def test_halt(page, daemon, tmp_path):
    page.open("run", begin(daemon, tmp_path))
    page.click("Halt")
    page.wait_text("Halt boot.1?", "dialog")
    page.click("Halt")
    page.wait(STATE, "halted")
    page.wait_text("Start again")


def test_pause_and_set(page, daemon, tmp_path):
    page.open("run", begin(daemon, tmp_path))
    page.click("Pause")
    page.wait(STATE, "paused")
    page.click("Set whom")
    page.type("#value", '"friend"')
    page.click("Set")
    page.wait_text('"friend"', "#variables")
    page.click("Resume")
    page.wait(STATE, "running")
    page.click("List")
    page.click_on(".tree-list tr[data-key='2']")
    page.wait_text("Boot/Gate", ".node-panel")
    page.click("Set breakpoint")
    page.wait_text("breakpoint", ".tree-list")
    page.keep("list")
    page.click("Force success")
    page.click("Force")
    page.wait(STATE, "success")


def test_back_in_time(page, daemon, tmp_path):
    open_run(page, begin(daemon, tmp_path))
    page.wait_text("hello world", "#variables")
    page.click("Show the run after event 1")
    page.wait("!document.querySelector('#variables').innerText.includes('hello world')")
    page.wait("document.querySelector('.node.is-success') === null")
    page.wait_text("event 1 of ", ".event-shown")
    page.click("Next event")
    page.wait_text("event 2 of ", ".event-shown")
    page.keep("past")
    page.click("Now")
    page.wait_text("hello world", "#variables")


def test_back_in_time_without_btd(page, daemon, tmp_path):
    """The page stays where it is."""
    open_run(page, begin(daemon, tmp_path))
    page.click("Show the run after event 2")
    page.wait("document.querySelector('.node.is-failure') === null")
    page.wait_text("event 2 of 7", ".event-shown")
    daemon.process.send_signal(signal.SIGKILL)
    daemon.process.wait()
    page.wait_text("btd is not running", "#alerts .warning")
    page.click("Show the run after event 1")
    page.wait_text("Cannot show the run as it was", "#alerts .danger")
    page.wait_text("event 2 of 7", ".event-shown")
    page.click("Now")
    page.wait_value("document.querySelector('.event-shown').innerText", "7 events")
    daemon.start(*daemon.places)


def test_the_event_log_stays_below_the_mouse(page, daemon, tmp_path):
    """New events come when neither the mouse nor the keyboard is on the log, and it is not scrolled."""
    from selenium.webdriver.common.keys import Keys

    run, path = daemon.client.start("boot", variables={"gate": str(tmp_path / "gate"), "whom": "world"})
    note = "document.querySelector('.held-back').checkVisibility({ checkVisibilityCSS: true })"
    place = "document.querySelector('#events tr[data-key=\"5\"]').getBoundingClientRect().top"
    open_run(page, run)
    page.use(lambda row: page.mouse().scroll_to_element(row).move_to_element(row).perform(),
             "document.querySelector('#events tr[data-key=\"5\"]')")
    before = page.wait(place)
    daemon.client.set_variables(path, whom="mouse")
    page.wait(note)
    page.keep("held")
    assert page.js("return [document.querySelectorAll('#events tbody tr').length, " + place + "]") == [7, before]
    page.mouse().move_to_element(page.driver.find_element("id", "variables")).perform()
    page.wait_text('whom = "mouse"', "#events")
    page.wait("!" + note)

    page.click_on("input[aria-label='Filter events']")
    page.keys(Keys.TAB)
    page.wait("document.activeElement.closest('#events')")
    daemon.client.set_variables(path, whom="keyboard")
    page.wait(note)
    page.mouse().key_down(Keys.SHIFT).send_keys(Keys.TAB).key_up(Keys.SHIFT).perform()
    page.wait_text('whom = "keyboard"', "#events")

    for i in range(30):
        daemon.client.set_variables(path, whom=str(i))
    page.wait_text('whom = "29"', "#events")
    page.js("document.querySelector('.log').scrollTop = 100")
    daemon.client.set_variables(path, whom="scrolled")
    page.wait(note)
    assert page.js("return document.querySelector('.log').scrollTop") == 100
    page.click("Show new events")
    page.wait_text('whom = "scrolled"', "#events")
    page.wait_value("document.querySelector('.log').scrollTop", 0)


def test_the_timeline_is_there_before_the_event_log(page, daemon, tmp_path):
    """Otherwise it would move the log when somebody is about to click there."""
    page.open()
    page.wait_text("boot", "#trees")
    page.js("""
        new MutationObserver((_changes, observer) => {
            if (document.querySelector("#events tbody tr")) {
                window.rows_before = document.querySelectorAll("#timeline tbody tr").length;
                observer.disconnect();
            }
        }).observe(document.body, { childList: true, subtree: true });
    """)
    page.js("cockpit.location.go(['run', arguments[0]])", begin(daemon, tmp_path))
    page.wait_value("window.rows_before", 4)


def test_lose_btd_and_find_it_again(page, daemon, tmp_path):
    page.open("run", begin(daemon, tmp_path))
    page.wait(STATE, "running")
    daemon.process.send_signal(signal.SIGKILL)
    daemon.process.wait()
    page.wait_text("btd is not running", "#alerts")
    page.wait("document.querySelector('#page.stale')")
    page.keep("lost")
    daemon.start(*daemon.places)
    page.wait("!document.querySelector('#alerts .warning, #page.stale')")
    (tmp_path / "gate").touch()
    page.wait(STATE, "success")


def unsubscribe(page):
    """What btd does with programs that do not read for long."""
    page.wait("document.querySelector('.node.is-running')")
    page.driver.execute_async_script("""
        cockpit.dbus("org.btd1", { bus: "system", superuser: "try" })
            .call("/org/btd1", "org.btd1.Manager", "Unsubscribe").then(arguments[0]);""")


def test_a_page_that_was_not_seen_for_long(page, daemon, tmp_path):
    """It subscribes again when it is seen."""
    wait = {"type": "WaitFor", "name": "Gate", "child": {"type": "PathExists", "name": "Open", "path": f"{tmp_path}/gate"}}
    daemon.tree("long", {"type": "Sequence", "children": [wait, {"type": "Sleep", "duration": "1h"}]})
    daemon.client.reload()
    page.open("run", daemon.client.start("long")[0])
    unsubscribe(page)
    page.js("document.dispatchEvent(new Event('visibilitychange'))")
    (tmp_path / "gate").touch()
    page.wait("document.querySelector('#node-3.is-running')")
    page.wait_text("Sequence/Sleep", "#events")


def test_the_end_of_a_run_for_a_page_that_is_no_subscriber(page, daemon, tmp_path):
    page.open("run", begin(daemon, tmp_path))
    unsubscribe(page)
    (tmp_path / "gate").touch()
    page.wait(STATE, "success")
    page.wait("document.querySelectorAll('.node.is-success').length === 4")
    page.wait_text("success", "#events tbody tr")


def test_a_tree_with_errors(page, daemon):
    daemon.tree("broken", '{"btd": 1,\n "root": {"type": "Sleeep", "duration": "1s"}\n}')
    page.open()
    page.click("Reload tree files")
    page.wait_text("unknown type 'Sleeep'", "#alerts")
    page.click("broken")
    page.wait_text("unknown type 'Sleeep'; did you mean 'Sleep'?", ".line.marked")
    assert page.js("return document.querySelector('.line.marked .line-number').textContent") == "2"
    page.keep("broken")


ROUNDS = {"type": "Sequence", "name": "Check", "children": [
    {"type": "ForEach", "name": "Disks", "items": "{disks}", "as": "disk", "concurrency": 2, "child": {
        "type": "Sequence", "name": "Disk", "children": [
            {"type": "Spawn", "name": "Test", "argv": ["/bin/sh", "-c", "sleep 0.3; test {disk} != sdc"]},
            {"type": "Sleep", "name": "Rest", "duration": "1h", "skip_if": "disk == 'sda'"}]}},
    {"type": "Sleep", "name": "Settle", "duration": "1h"}]}


def test_elements_one_after_another(page, daemon):
    daemon.tree("single", {"type": "ForEach", "name": "Disks", "items": ["sda"], "as": "disk", "child": {
        "type": "Sleep", "name": "Rest", "duration": "1h"}})
    daemon.client.reload()
    page.open("run", daemon.client.start("single")[0])
    page.wait_text("Disks/Rest[sda]", "#events")
    page.wait("[...document.querySelectorAll('.node .name')].some(it => it.textContent === 'Rest[sda]')")


def test_elements_causes_timeline_and_runs(page, daemon):
    """A ForEach halts the element that still runs when another one has failed."""
    daemon.tree("check", ROUNDS, inputs={"disks": {"type": "list", "default": ["sda"]}})
    daemon.client.reload()
    page.open("run", daemon.client.start("check", variables={"disks": ["sda", "sdb", "sdc"]})[0])
    page.wait(STATE, "failure")
    page.wait_text('Disks: failed for "sdc"', ".cause")
    page.wait_value("[...document.querySelectorAll('.node .name')].map(it => it.textContent)"
                    ".filter(it => it.startsWith('Disk[')).sort()", ["Disk[1: sdc]", "Disk[2: sdb]"])
    page.wait_text("Check/Disks/Disk[1: sdc]/Test", "#events")
    rows = "[...document.querySelectorAll('#timeline tbody tr')].filter(it => it.cells[0].innerText.startsWith(arguments[0]))"
    states = ".flatMap(it => [...it.querySelectorAll('path[d]')].map(it => it.className.baseVal)).sort()"
    page.wait_value(rows + states, ["is-failure"], "Disks")
    page.wait_value(rows + ".map(it => it.cells[1].innerText)", ["1"], "Disks")
    page.wait_value(rows + states, ["is-halted", "is-skipped"], "Rest")

    page.click("Disks", "#timeline")
    page.wait_text("Test: exited with status 1", ".node-panel .causes")
    page.keep("timeline")
    page.js("document.querySelector('#timeline .bars svg').dispatchEvent(new MouseEvent('click', { clientX: 0 }))")
    page.wait_text("event 1 of ", ".event-shown")
    page.wait("document.querySelector('#events tr.later[data-key=\"2\"]')")

    page.click("Start again")
    page.wait_value("document.querySelector('#input-disks')?.value", '["sda","sdb","sdc"]')
    page.click("Start", "dialog")
    page.wait_text("check.2", "h1")
    page.wait_text("check.1", "#runs")
    page.wait("document.querySelector('#runs tr[data-key=\"check.2\"]')?.innerText.includes('failure')")


def test_start_again_with_all_that_was_given(page, daemon):
    """Also a variable that is no input; values of any length, and numbers as they were. What the user clears gets its
    default."""
    daemon.tree("plain", {"type": "Script", "code": "n = n + 1"}, blackboard={"n": 1}, inputs={
        "long": {"type": "string", "default": ""}, "any": {"type": "any", "default": None},
        "count": {"type": "int", "default": 3}, "list": {"type": "list", "default": []}})
    daemon.client.reload()
    given = {"n": 41, "long": "x" * 9000, "any": [1.0, {"t": 2.5, "v": 1.0}], "count": 4, "list": [7]}
    page.open("run", daemon.client.start("plain", variables=given)[0])
    page.click("Start again")
    page.wait_value("document.querySelector('#input-n')?.value", "41")
    page.type("#input-count", "")
    page.type("#input-list", "")
    page.click("Start", "dialog")
    page.wait_text("plain.2", "h1")
    page.wait_text("42", "#variables")
    assert daemon.btctl("get", "plain.2", "any", "--json").stdout.strip() == '[1.0,{"t":2.5,"v":1.0}]'
    values = [json.loads(daemon.btctl("get", "plain.2", name, "--json").stdout) for name in ("long", "count", "list")]
    assert values == ["x" * 9000, 3, []]


def test_drag_zoom_and_fold(page, daemon, tmp_path):
    place = """(({ e, f, a }) => [Math.round(e), Math.round(f), a])(
        document.querySelector(".picture g").transform.baseVal.consolidate().matrix)"""
    page.open("run", begin(daemon, tmp_path))
    page.wait("document.querySelector('.node.is-running')")
    page.wait("document.querySelector('#timeline tbody tr')")
    x, y, scale = page.js("return " + place)
    picture = page.driver.find_element("class name", "picture")
    page.mouse().move_to_element_with_offset(picture, 0, 80).click_and_hold().move_by_offset(-40, -30).release().perform()
    page.wait_value(place, [x - 40, y - 30, scale])
    page.click("Zoom in")
    page.wait(place + "[2] > arguments[0]", scale)
    page.click("Zoom out")
    page.click("Fit")
    page.wait_value(place, [x, y, scale])

    page.click_on("#node-2 .toggle")
    page.wait("document.querySelectorAll('.node').length === 3")
    page.wait_value("document.querySelector('#node-2 .toggle text').textContent", "+1")
    page.click("Unfold all")
    page.wait("document.querySelectorAll('.node').length === 4")


def test_step(page, daemon):
    daemon.tree("steps", {"type": "Sequence", "children": [
        {"type": "WaitFor", "child": {"type": "Condition", "test": "go"}}, {"type": "Sleep", "duration": "1h"}]},
        inputs={"go": {"type": "bool", "default": False}})
    daemon.client.reload()
    run, path = daemon.client.start("steps")
    page.open("run", run)
    page.click("Pause")
    page.wait(STATE, "paused")
    daemon.client.set_variables(path, go=True)
    page.click("Step")
    page.wait_text("stepped", "#events")
    page.wait("document.querySelector('#node-1.is-success')")
    page.click("Resume")
    page.wait(STATE, "running")


def test_a_breakpoint(page, daemon):
    """The run is paused before the node starts, and continues."""
    daemon.tree("stops", {"type": "Sequence", "name": "All", "children": [
        {"type": "Sleep", "name": "First", "duration": "1h"}, {"type": "AlwaysSuccess", "name": "Second"}]})
    daemon.client.reload()
    page.open("run", daemon.client.start("stops")[0])
    page.click_on("#node-2")
    page.click("Set breakpoint")
    page.wait("document.querySelector('#node-2.breakpoint')")
    page.click_on("#node-1")
    page.click("Force success")
    page.wait_text("If All/First runs, it is halted, and gets the outcome success.", "dialog")
    page.click("Force")
    page.wait("document.querySelector('#node-2.paused')")
    page.wait("document.querySelector('#timeline tr[data-key=\"2\"] path.is-waiting[d]')")
    page.keep("breakpoint")
    page.click("Resume")
    page.wait(STATE, "success")


def test_a_run_that_only_the_history_has(page, daemon, tmp_path):
    run = begin(daemon, tmp_path)
    (tmp_path / "gate").touch()
    page.open("run", run)
    page.wait(STATE, "success")
    daemon.process.terminate()
    daemon.process.wait()
    daemon.start(*daemon.places)
    page.open("tree", "boot")
    page.click("boot.1", "#runs")
    page.wait_text("only the history has this run", ".summary")
    page.wait("document.querySelectorAll('.node.is-success').length === 4")
    page.wait_text('"hello world"', "#variables")
    page.wait_text("When each node ran")  # comes last, and moves the event log
    page.click("Show the run after event 1")
    page.wait("document.querySelectorAll('.node.is-idle').length === 4")
    page.click("End")
    page.wait("document.querySelectorAll('.node.is-success').length === 4")
    page.keep("history")


def test_a_tree_that_disappears_at_reload(page, daemon, tmp_path):
    daemon.client.halt_run(begin(daemon, tmp_path))
    page.open("tree", "boot")
    page.wait("document.querySelector('.line') && document.querySelectorAll('.node').length === 4")
    (tmp_path / "trees" / "boot.json").rename(tmp_path / "boot.json")
    daemon.client.reload()
    page.wait_text("Tree 'boot' does not exist.", ".summary")
    page.wait("document.querySelector('header .primary').disabled")
    page.wait("!document.querySelector('.node, .line')?.checkVisibility()")
    page.wait_text("boot.1", "#runs")
    (tmp_path / "boot.json").rename(tmp_path / "trees" / "boot.json")
    daemon.client.reload()
    page.wait_text("Greets, and waits for a file", ".summary")
    page.click("Start")
    page.wait("document.querySelector('#input-whom')")
    page.open("tree", "nowhere")
    page.wait_text("Tree 'nowhere' does not exist.", ".summary")


def test_check_a_file(page, daemon, tmp_path):
    file = tmp_path / "new.json"
    page.open()
    page.click("Check a file")
    page.wait("document.querySelector('.source')?.checkVisibility() === false")
    page.type("#file", str(file))
    page.click("Check")
    page.wait_text(f"Cannot check '{file}'", "#alerts .danger")
    page.wait_text(f"'{file}' does not exist.", "#alerts .danger")
    page.wait("document.querySelector('#page form').contains(document.activeElement)")
    file.write_text('{"btd": 1,\n "root": {"type": "Sleep",\n "duration": "1x",\n "colour": "red"}}\n')
    page.click("Check")
    page.wait_text("2 errors, 0 warnings", ".result")
    lines = page.js("return [...document.querySelectorAll('.line.marked .line-number')].map(it => it.textContent)")
    assert lines == ["3", "4"]
    page.wait_text("unknown key 'colour'", ".source")
    page.wait("document.querySelector('.diagnostic').getBoundingClientRect().right <= window.innerWidth")
    page.keep("check")
    file.write_text('{"btd": 1, "root": {"type": "Sleep", "duration": "1s"}}\n')
    page.click("Check")
    page.wait_text("The file is valid.", ".result")
    page.js("cockpit.spawn = () => ({ stream: () => Promise.reject({ problem: 'not-found' }) })")
    page.click("Check")
    page.wait_text("The file was not checked: btctl is not installed.", ".result")
    page.wait_text('"duration": "1s"', ".source")
    file.unlink()
    page.click("Check")
    page.wait("document.querySelector('.result').textContent === '' && document.querySelector('.line') === null")


def test_waiting(page, daemon):
    """What holds the lock, and how long the other one has waited."""
    daemon.tree("locks", {"type": "ParallelAll", "children": [
        {"type": "Sleep", "name": "First", "duration": "1h", "lock": "desk"},
        {"type": "Sleep", "name": "Second", "duration": "1h", "lock": "desk"}]})
    daemon.client.reload()
    page.open("run", daemon.client.start("locks")[0])
    page.wait("document.querySelector('.node.is-waiting')?.getAttribute('aria-label')"
              ".includes(\"Second, Sleep, waiting, waits for the lock 'desk'\")")
    page.wait_text("1, waiting", "#timeline")


def test_times_that_are_left(page, daemon):
    """They pass without a signal."""
    daemon.tree("short", {"type": "Timeout", "timeout": "1h", "child": {"type": "Sleep", "duration": "2h"}})
    daemon.client.reload()
    page.open("run", daemon.client.start("short")[0])
    left = "document.querySelector('#node-0')?.getAttribute('aria-label').match(/times out in [0-9]+min [0-9]+s/)?.[0]"
    before = page.wait(left)
    page.wait(f"{left} && {left} !== arguments[0]", before)


def test_the_keyboard_is_enough(page, daemon, tmp_path):
    from selenium.webdriver.common.keys import Keys

    keys = page.keys
    selected = """document.getElementById(document.querySelector(".picture").getAttribute("aria-activedescendant"))
        ?.getAttribute("aria-label")"""

    passed = []

    def tab_to(condition):
        """Presses Tab until the expression is true for the element with the focus."""
        for _ in range(120):
            keys(Keys.TAB)
            if page.js("const it = document.activeElement; return " + condition):
                return
            passed.append(page.js("const it = document.activeElement;"
                                  "return it.tagName + (it.closest('#timeline') ? ' in the timeline' : '')"))
        raise AssertionError(f"Tab does not lead to: {condition}")

    page.open()
    page.wait_text("boot", "#trees")
    tab_to("it.getAttribute('aria-label') === 'Start boot'")
    keys(Keys.ENTER)
    page.wait("document.activeElement.id === 'input-gate'")
    keys(str(tmp_path / "gate"), Keys.TAB, "you", Keys.ENTER)
    page.wait(STATE, "running")
    page.wait("document.activeElement.id === 'page'")

    page.wait("document.querySelector('.node.is-running')")
    tab_to("it.getAttribute('role') === 'tree'")
    keys(Keys.ARROW_DOWN, Keys.ARROW_RIGHT, Keys.ARROW_DOWN)
    page.wait(selected + ".startsWith('Gate, WaitFor, running, not yet: ')")
    page.wait_text("Gate", ".node-panel h2")
    keys(Keys.ARROW_LEFT)
    page.wait("document.querySelector('#node-2').getAttribute('aria-expanded') === 'false'")
    page.wait("document.querySelectorAll('.node').length === 3")
    keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    page.wait(selected + ".startsWith('Open, PathExists, failure, ')")
    keys(Keys.ARROW_LEFT, Keys.ARROW_LEFT, Keys.ARROW_LEFT, Keys.HOME)
    page.wait(selected + ".startsWith('Boot, Sequence, running')")

    page.wait("document.querySelector('#timeline tbody tr')")
    tab_to("it.textContent === 'Set breakpoint'")
    assert "BUTTON in the timeline" not in passed
    keys(Keys.SPACE)
    page.wait_text("Remove breakpoint", ".node-panel")
    tab_to("it.type === 'range'")
    keys(Keys.HOME, Keys.ARROW_RIGHT)
    page.wait_text("event 1 of ", ".event-shown")
    keys(Keys.END)

    name = "document.activeElement.querySelector('.name')?.lastChild.innerText"
    page.js("document.querySelector('nav a').focus()")
    tab_to("it.getAttribute('aria-label') === 'Find a node'")
    keys("PathExists", Keys.ENTER)
    page.wait_text("Open", ".node-panel h2")
    page.click("List")
    tab_to("it.matches('.tree-list tr')")
    page.wait_value(name, "Open")
    keys(Keys.ARROW_UP)
    page.wait_value(name, "Gate")
    keys(Keys.ENTER)
    page.wait("document.activeElement.getAttribute('aria-expanded') === 'false'")

    page.js("document.querySelector('nav a').focus()")
    tab_to("it.textContent === 'Halt'")
    keys(Keys.ENTER)
    page.wait("document.activeElement.closest('dialog[open]')")
    keys(Keys.ENTER)
    page.wait(STATE, "halted")


def test_a_screen_reader_has_names(page, daemon, tmp_path):
    """As Chromium tells them to assistive programs."""
    roles = {"button", "checkbox", "combobox", "dialog", "link", "navigation", "searchbox", "slider", "table", "textbox",
             "tree", "treegrid", "treeitem"}
    seen = set()

    def read():
        page.driver.execute_cdp_cmd("Accessibility.enable", {})
        found = [(node["role"]["value"], node["name"]["value"],
                  {it["name"]: it["value"].get("value") for it in node["properties"]})
                 for node in page.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
                 if not node["ignored"] and "name" in node and "properties" in node]
        page.driver.execute_cdp_cmd("Accessibility.disable", {})
        assert [it for it in found if it[0] in roles and not it[1]] == []
        seen.update(role for role, _, _ in found)
        return found

    page.open("run", begin(daemon, tmp_path))
    page.wait("document.querySelector('.node.is-failure')")
    page.click("Gate", "#timeline")
    page.wait("document.querySelector('#node-2.selected')")
    items = [(name.split(", ")[:3], state["level"], state["selected"]) for role, name, state in read() if role == "treeitem"]
    assert items == [(["Boot", "Sequence", "running"], 1, False), (["Speak", "Script", "success"], 2, False),
                     (["Gate", "WaitFor", "running"], 2, True), (["Open", "PathExists", "failure"], 3, False)]
    page.click("List")
    page.wait("document.querySelector('.tree-list tbody tr')")
    read()
    page.click("Picture")
    page.click("Set whom")
    read()
    page.open("tree", "boot")
    page.wait_text("The file is valid.", ".result")
    read()
    page.open()
    page.click("Start boot")
    page.click("Instance")
    page.wait("document.querySelector('#instance').checkVisibility()")
    read()
    page.open("check")
    page.wait("document.querySelector('#file')")
    read()
    assert roles - seen == {"checkbox"}


def test_light_and_dark(page, daemon, tmp_path):
    """What the user has chosen in Cockpit; if that is "auto", what the system says."""
    light, dark = "rgb(240, 240, 240)", "rgb(21, 21, 21)"
    colour = "getComputedStyle(document.body).backgroundColor === arguments[0]"

    def choose(style):
        page.js("localStorage.setItem('shell:style', arguments[0]); window.dispatchEvent("
                "new CustomEvent('cockpit-style', { detail: { style: arguments[0] } }))", style)

    page.open("run", begin(daemon, tmp_path))
    page.wait("document.querySelector('#timeline tbody tr')")
    page.wait(colour, light)
    choose("dark")
    page.wait(colour, dark)
    page.keep("dark")
    page.open()
    page.wait(colour, dark)
    choose("auto")
    page.wait(colour, light)
    system = {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", system)
    page.wait(colour, dark)
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    page.wait(colour, light)


def test_a_narrow_window(page, daemon, tmp_path):
    run = begin(daemon, tmp_path)
    phone = {"width": 400, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", phone)
    for name, path, last in [("narrow-lists", [], "#trees tbody tr"), ("narrow-run", ["run", run], "#timeline tbody tr"),
                             ("narrow-tree", ["tree", "boot"], ".line")]:
        page.open(*path)
        page.wait_text("boot.1", "#runs")
        page.wait("document.querySelector(arguments[0])", last)
        page.keep(name)
        assert page.js("return document.documentElement.scrollWidth <= window.innerWidth"), name
        if not path:  # the button can be seen, although the table is wider than the window
            right = page.js("return document.querySelector('#runs .actions button').getBoundingClientRect().right")
            assert right < phone["width"]


def test_a_thousand_nodes(page, daemon):
    """In a large tree, only nodes that come into sight have a box and texts; all have the words for screen readers."""
    from selenium.webdriver.common.keys import Keys

    boxes = "document.querySelectorAll('.node .box').length"
    bare = """(({ left, right, top, bottom }) => [...document.querySelectorAll('.node')].filter(it => {
        const { e, f } = it.getScreenCTM();
        return e > left && e < right && f > top && f < bottom && !it.querySelector('.name')?.textContent;
    }).length)(document.querySelector('.picture').getBoundingClientRect())"""
    daemon.tree("large", web.LARGE)
    daemon.client.reload()
    phone = {"width": 360, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", phone)
    page.open("run", daemon.client.start("large")[0])
    page.wait("document.querySelectorAll('.node.is-running').length > 50")
    assert page.draw_all() <= 10  # not one for each node
    assert page.js("return document.querySelectorAll('.node').length") == 1001
    assert page.js("return document.querySelectorAll('.node[aria-label*=\", Sleep, \"]').length") == 900
    narrow = page.js("return " + boxes)
    assert 0 < narrow < 10
    page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    page.wait(f"{boxes} > arguments[0] && {bare} === 0", narrow)
    wide = page.js("return " + boxes)
    assert wide < 100
    page.keep("thousand-unfolded")

    canvas = page.js("return document.querySelector('.picture')")
    page.mouse().move_to_element_with_offset(canvas, 300, 100).click_and_hold().move_by_offset(0, -150).release().perform()
    assert page.js("return " + boxes) > wide and page.js("return " + bare) == 0
    page.js("arguments[0].focus()", canvas)
    page.keys(Keys.END)
    page.wait_value("document.querySelector('#node-1000.selected .name')?.textContent", "Wait99.8")
    assert page.js("return " + bare) == 0
    page.click_on("#node-991 .toggle")
    page.wait("document.querySelectorAll('.node').length === 992")

    page.click("Fit")
    page.wait(f"{boxes} === 992")
    assert not page.js("return [...document.querySelectorAll('.node text')].some(it => it.checkVisibility())")
    page.keep("thousand-fit")


@pytest.mark.parametrize("view", ["Picture", "List"])
def test_thousands_of_changes(page, daemon, view):
    """The page draws once for many of them, and only what has changed, or the time that a node has run. The run is paused
    until all is there: on a machine that is slower than these changes, the replies that the page waits for come behind
    all the signals."""
    daemon.tree("busy", {"type": "ParallelAll", "children": [
        {"type": "Repeat", "name": f"Again{i}", "num_cycles": 3, "child":
            {"type": "Sleep", "name": f"Wait{i}", "duration": f"{250 + i % 100}ms"}} for i in range(300)]})
    daemon.client.reload()
    run, path = daemon.client.start("busy")
    daemon.client.call(path, "org.btd1.Run", "Pause")
    page.open("run", run)
    page.click(view)
    page.wait("document.querySelectorAll('.node.is-running, tr .is-running').length > 50")
    page.draw_all()
    before = page.n_layouts()
    page.js("""
        const counted = window.counted = { frames: 0, draws: 0, changes: 0 };
        new MutationObserver(changes => { counted.draws++; counted.changes += changes.length; })
            .observe(document.querySelector(".tree-view"), { subtree: true, childList: true, attributes: true, characterData: true });
        const frame = () => requestAnimationFrame(() => { counted.frames++; frame(); });
        frame();""")
    daemon.client.call(path, "org.btd1.Run", "Resume")
    page.wait(STATE, "success")
    n_events = daemon.client.run_property(path, "LastEvent")
    page.wait_value("parseInt(document.querySelector('.event-shown').innerText)", n_events)
    page.keep("busy-" + view.lower())
    n_layouts, counted = page.n_layouts() - before, page.js("return window.counted")
    print(f"{view}: {n_events} events, {n_layouts} layouts, {counted}")
    assert n_events > 2000 and 0 < counted["draws"] <= n_events / 10
    assert counted["changes"] <= 5 * n_events + 300 * counted["draws"]
    assert n_layouts <= 2 * counted["frames"] + 10


@pytest.fixture
def slow_link(page, cockpit):
    """50 ms in each direction."""
    it = web.SlowLink(cockpit.url, 0.05)
    yield it
    page.driver.get("about:blank")
    it.close()


def test_a_slow_link(page, slow_link, daemon, tmp_path):
    """What a user clicks happens all the same; until then, the button is busy."""
    run = begin(daemon, tmp_path)
    page.url = slow_link.url
    page.open("run", run)
    page.wait("document.querySelector('.node.is-running')")
    page.js("""window.busy = [];
        new MutationObserver(changes => changes.forEach(({ target }) =>
            target.hasAttribute("aria-busy") && busy.push(target.textContent)))
            .observe(document, { subtree: true, attributeFilter: ["aria-busy"] });""")
    page.click("Pause")
    page.wait_value("window.busy", ["Pause"])
    page.wait(STATE, "paused")
    page.wait("!document.querySelector('button[aria-busy]')")
    page.wait("document.querySelectorAll('#timeline tbody tr').length === 4")  # it moves the event log
    page.click("Show the run after event 1")
    page.wait_text("event 1 of ", ".event-shown")
    page.click("Next event")
    page.wait_text("event 2 of ", ".event-shown")
    page.click("Halt")
    page.click("Halt", "dialog")
    page.wait(STATE, "halted")
