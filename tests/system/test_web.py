# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the page in Cockpit as it is installed: with a login, without and with administrative access."""

import os
import shutil
import socket

import pytest

import web

GATED = {"type": "Sequence", "name": "Boot", "children": [
    {"type": "Script", "name": "Speak", "code": "greeting = 'hello ' .. whom"},
    {"type": "WaitFor", "name": "Gate", "child": {"type": "PathExists", "name": "Open", "path": "/run/gate"}}]}
INPUTS = {"whom": {"type": "string", "description": "the person to greet"}}
STATE = "document.querySelector('header .badge')?.textContent.includes(arguments[0])"
PASSWORD = "correct horse"
RULE = """
polkit.addRule(function(action, subject) {
    if (action.id == "org.btd1.start" && subject.user == "bob")
        return polkit.Result.YES;
});
"""
URLS = {}
OWN_BOOT = "its network is that of this system, where Chromium is"
GOES_ON = ["cockpit*", "system-cockpithttps*", "session-*.scope", "user@*.service", "user-runtime-dir@*.service",
           "run-user-*.mount"]


def prepare(machine):
    """Cockpit on a port of this system."""
    with socket.socket() as it:
        it.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{it.getsockname()[1]}"
    machine.shares_network = True
    machine.write("/etc/systemd/system/cockpit.socket.d/port.conf", f"[Socket]\nListenStream=\nListenStream={address}\n")
    machine.enable("cockpit.socket")
    machine.link("/etc/systemd/system/packagekit.service", "/dev/null")  # has no business with our network
    URLS[machine] = "http://" + address


def after_boot(machine):
    """ann may become root with sudo, bob may not."""
    for name, groups in ("ann", "sudo"), ("bob", ""):
        machine.check("useradd", "--create-home", "--home-dir", f"/var/lib/{name}", "--shell=/bin/bash",
                      f"--groups={groups}", name)
        machine.check("chpasswd", stdin=f"{name}:{PASSWORD}\n")


@pytest.fixture(scope="module", autouse=True)
def needs():
    missing = web.missing() + ([] if shutil.which("sudo") else ["sudo"])
    if missing:
        assert os.environ.get("CI") != "true", missing
        pytest.skip("these packages are missing: " + " ".join(missing))


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    it = web.chromium(str(tmp_path_factory.mktemp("browser")))
    yield it
    it.quit()


@pytest.fixture
def page(request, browser, machine):
    machine.load("boot", GATED, inputs=INPUTS, description="Greets, and waits for a file")
    it = web.Session(browser, URLS[machine])
    yield it
    if request.node.report_call.failed:
        it.keep("failed-" + request.node.name)
    it.check()


def begin(machine):
    machine.path("/run/gate").unlink(missing_ok=True)
    return machine.check("btctl", "start", "boot", "--set", 'whom="world"').split()[0]


def become_administrator(page):
    """Cockpit loads the page again."""
    page.js("window.is_old = true")
    page.click("Turn on administrative access")
    page.answer_dialog(PASSWORD)
    page.wait("document.querySelector('#super-user-indicator').innerText.includes('Administrative access')")
    page.enter()
    page.wait("!window.is_old && document.querySelector('#page > *')")


def test_log_in_become_administrator_start_watch_and_halt(page, machine):
    machine.path("/run/gate").unlink(missing_ok=True)
    page.log_in("ann", PASSWORD)
    page.open()
    page.click("Start boot")
    page.type("#input-whom", "ann")
    page.click("Start")
    page.wait_text("you may not start 'boot': polkit refuses org.btd1.start", "dialog .danger")
    page.wait_text("You have limited access.", "dialog .danger")
    page.keep("system-refused")
    become_administrator(page)

    page.click("Start boot")
    page.type("#input-whom", "ann")
    page.click("Start")
    page.wait(STATE, "running")
    page.wait_text('"hello ann"', "#variables")
    page.wait("document.querySelector('.node.is-running')")
    page.keep("system-run")
    machine.write("/run/gate", "")
    page.wait(STATE, "success")
    page.wait("document.querySelectorAll('.node.is-success').length === 4")

    page.open("run", begin(machine))
    page.click("Halt")
    page.wait_text("Its nodes are stopped.", "dialog")
    page.click("Halt", "dialog")
    page.wait(STATE, "halted")
    page.wait_text("UID 0", "#events")


def test_a_rule_of_polkit_permits(page, machine):
    """bob cannot become root; a rule lets him start trees, but not halt runs."""
    machine.path("/run/gate").unlink(missing_ok=True)
    page.log_in("bob", PASSWORD)
    page.open()
    page.click("Start boot")
    page.type("#input-whom", "bob")
    page.click("Start")
    page.wait_text("polkit refuses org.btd1.start", "dialog .danger")

    machine.write("/etc/polkit-1/rules.d/10-bob.rules", RULE)
    machine.check("systemctl", "restart", "polkit.service")
    page.click("Start")
    page.wait(STATE, "running")
    page.click("Halt")
    page.click("Halt", "dialog")
    page.wait_text("polkit refuses org.btd1.halt", "#alerts .danger")
    page.wait_text("You have limited access.", "#alerts .danger")
    page.keep("system-bob")
    page.click("Turn on administrative access")
    page.answer_dialog(PASSWORD)
    page.wait_text("Bob is not in the sudoers file", ".pf-c-modal-box")
    page.keep("system-bob-dialog")
    page.enter()
    machine.path("/etc/polkit-1/rules.d/10-bob.rules").unlink()
    machine.check("systemctl", "restart", "polkit.service")


def test_a_bridge_that_cannot_become_root(page, machine):
    machine.check("mv", "/usr/bin/sudo", "/usr/bin/sudo.away")
    try:
        page.log_in("bob", PASSWORD)
        page.open("run", begin(machine))
        page.click("Halt")
        page.click("Halt", "dialog")
        page.wait_text("Cockpit cannot become root on this machine", "#alerts .danger")
        page.keep("system-no-bridge")
    finally:
        machine.check("mv", "/usr/bin/sudo.away", "/usr/bin/sudo")


def test_lose_btd_and_find_it_again(page, machine):
    run = begin(machine)
    page.log_in("bob", PASSWORD)
    page.open("run", run)
    page.wait(STATE, "running")
    machine.check("systemctl", "mask", "--runtime", "--now", "btd.service")
    page.wait_text("btd is not running", "#alerts .warning")
    page.keep("system-lost")
    machine.check("systemctl", "unmask", "--runtime", "btd.service")
    machine.check("systemctl", "start", "btd.service")
    page.wait("!document.querySelector('#alerts .warning')")
    machine.check("systemctl", "kill", "--signal=KILL", "btd.service")
    machine.write("/run/gate", "")
    page.wait(STATE, "success")
