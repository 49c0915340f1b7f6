# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests btd-cookbook(7) as a reader does who has only the page: the files and the commands are taken from it."""

import os
import pathlib
import re
import subprocess

import pytest
from gi.repository import GLib

import client
import daemon
from discovery import Discovery

COOKBOOK = pathlib.Path(__file__).resolve().parents[2] / "trees" / "cookbook"
PAGE = pathlib.Path(daemon.BUILD, "trees", "btd-cookbook.7").read_text(encoding="utf-8")


def plain(block):
    """The text that roff shows for the lines of a display."""
    shown = {"&": "", "-": "-", "(ti": "~", "(ha": "^", "(ga": "`", "(aq": "'", "e": "\\"}
    return re.sub(r"\\(\(..|.)", lambda match: shown[match[1]], block)


FILES = {name: plain(text) for name, text in re.findall(r"^\.Pa (\S+)\n\.Bd -literal\n(.*?)^\.Ed\n", PAGE, re.M | re.S)}
SESSIONS = [plain(text) for text in re.findall(r"^\.Bd -literal\n(\$ .*?)^\.Ed\n", PAGE, re.M | re.S)]


def test_page_has_all_files():
    here = {path.name for path in COOKBOOK.iterdir()} - {"page.sh", "btd-cookbook.7.in"}
    shown = re.findall(r'^\.\\" file (\S+)$', (COOKBOOK / "btd-cookbook.7.in").read_text(encoding="utf-8"), re.M)
    assert sorted(shown) == sorted(here)
    assert FILES == {name: (COOKBOOK / name).read_text(encoding="utf-8") for name in here
                     if not name.endswith((".session", ".machine"))}
    assert max(len(line) for text in FILES.values() for line in text.splitlines()) <= 120


def test_page_is_clean(tmp_path):
    (tmp_path / "btd-cookbook.7").write_text(PAGE, encoding="utf-8")
    try:
        lint = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", tmp_path / "btd-cookbook.7"], capture_output=True,
                              text=True, check=False)
    except FileNotFoundError:
        pytest.skip("mandoc is not installed")
    assert lint.returncode == 0, lint.stdout


@pytest.fixture(scope="module")
def kitchen(tmp_path_factory):
    """A directory with the files of the page."""
    directory = tmp_path_factory.mktemp("kitchen")
    for name, text in FILES.items():
        (directory / name).write_text(text, encoding="utf-8")
    return directory


def shell(command, directory):
    path = f"{os.path.dirname(daemon.BTCTL)}:{os.environ['PATH']}"
    return subprocess.run(command, shell=True, cwd=directory, env={"PATH": path, "LC_ALL": "C.UTF-8"}, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=client.PATIENCE, check=False).stdout


@pytest.mark.parametrize("session", SESSIONS, ids=[re.search(r"\S+\.json", text)[0] for text in SESSIONS])
def test_session(session, kitchen):
    """If it is right, copy what was printed to the file."""
    made = "".join(f"$ {command}\n{shell(command, kitchen)}" for command in re.findall(r"^\$ (.*)", session, re.M))
    assert made == session


@pytest.mark.parametrize("tree", sorted(name for name in FILES if name.endswith(".json")))
def test_recipe_is_valid(tree, kitchen):
    said = shell(f"btctl validate {tree}", kitchen)
    assert re.fullmatch(rf"{tree}: ok, \d+ nodes\n", said)
    assert any(f"btctl simulate {tree} " in session for session in SESSIONS)


BUS = "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus"
RAUC = """<node><interface name="de.pengutronix.rauc.Installer">
<method name="InstallBundle"><arg type="s" direction="in"/><arg type="a{sv}" direction="in"/></method>
<signal name="Completed"><arg type="i"/></signal>
<property name="Operation" type="s" access="read"/><property name="LastError" type="s" access="read"/>
</interface></node>"""


@pytest.mark.parametrize("result, error, outcome", [
    (0, "", ("success", "")),
    (1, "bad signature", ("failure", 'Update/Result: all 2 children failed: Good: result == 0 is false (result is 1); '
                                    'NoError: LastError is "bad signature", not ""')),
    (None, "", ("failure", "Update/AgainIfLost/Install/CallAndWait/Completed: de.pengutronix.rauc has left the bus, and had "
                           "not sent the signal Completed"))])
def test_rauc(btd, peer_client, result, error, outcome):
    """The signal comes before the reply of the call, or the service leaves the bus."""
    def install(_, invocation):
        if result is None:
            peer_client.call_any(*BUS, "ReleaseName", "s", "de.pengutronix.rauc")
            return
        peer.properties["LastError"] = GLib.Variant("s", error)
        peer_client.connection.emit_signal(None, "/", "de.pengutronix.rauc.Installer", "Completed",
                                           GLib.Variant("(i)", (result,)))
    peer = client.Peer(peer_client, "de.pengutronix.rauc", "/", RAUC, {"InstallBundle": install},
                       {"Operation": GLib.Variant("s", "idle"), "LastError": GLib.Variant("s", "")})
    btd.tree("rauc", FILES["rauc.json"])
    btd.start()
    _, path = btd.client.start("rauc", variables={"bundle": "/srv/update.raucb"})
    assert btd.client.finish(path) == outcome
    assert peer.calls == [("InstallBundle", ("/srv/update.raucb", {}))]


RESET = """<node><interface name="org.example.Reset"><method name="Prepare"/><method name="Cancel"/></interface></node>"""


def test_reset_that_is_refused(btd, bus):
    """All services are told, also those that have not answered yet."""
    def refuse(_, invocation):
        invocation.return_dbus_error("org.example.Busy", "a door is open")
        return True
    answers = {"Billing": lambda *_: None, "Lock": refuse, "Media": lambda *_: True}
    clients = {name: client.Client(bus.address) for name in answers}
    peers = {name: client.Peer(it, f"org.example.{name}", "/org/example/Reset", RESET,
                               {"Prepare": answers[name], "Cancel": lambda *_: None}) for name, it in clients.items()}
    btd.tree("reset", FILES["reset.json"])
    btd.start()
    _, path = btd.client.start("reset")
    status, cause = btd.client.finish(path)
    assert (status, cause) == ("failure", "Reset/Agree/AskAll: failed for \"org.example.Lock\": org.example.Busy: "
                                          "a door is open")
    assert {name: [call for call, _ in peer.calls] for name, peer in peers.items()} == dict.fromkeys(
        answers, ["Prepare", "Cancel"])
    for it in clients.values():
        it.close()


LOGIN = """<node><interface name="org.freedesktop.login1.Manager"><method name="Reboot"><arg type="b" direction="in"/>
</method></interface></node>"""


def test_update_that_is_rolled_back(btd, peer_client, tmp_path):
    """There is no systemd, so the app of the new slot is not up. The machine that is not rebooted gets another slot."""
    (tmp_path / "tool").write_text(FILES["slot"].replace("/run/", f"{tmp_path}/"), encoding="utf-8")
    (tmp_path / "tool").chmod(0o755)
    (tmp_path / "slot").write_text("A\n", encoding="ascii")
    login = client.Peer(peer_client, "org.freedesktop.login1", "/org/freedesktop/login1", LOGIN,
                        {"Reboot": lambda *_: None})
    btd.tree("update", FILES["update.json"].replace('["slot",', f'["{tmp_path}/tool",').replace("5min", "10ms"))
    btd.start(f"--state={tmp_path}/state")

    def reboot(slot):
        btd.stop()
        (tmp_path / "slot").write_text(slot + "\n", encoding="ascii")
        btd.start(f"--state={tmp_path}/state")
        client.wait(lambda: [run.finished for run in btd.client.runs()] > [0], "the run at the boot")

    def update(**variables):
        _, path = btd.client.start("update", variables=variables)
        assert btd.client.finish(path) == ("success", "")
        return path

    client.wait(lambda: btd.client.runs()[0].finished, "the run at the boot")
    update(bundle="new.img")
    assert len(login.calls) == 1
    reboot("B")
    assert len(login.calls) == 2
    assert (tmp_path / "slot.log").read_text(encoding="ascii").splitlines() == ["write new.img", "try-once", "keep A"]
    reboot("A")
    assert btd.client.nodes(btd.client.runs()[-1].path)["Install"]["status"] == "skipped"


def test_bluetooth_by_two_runs(btd, peer_client):
    """Each is a client of its own, which ends with the search, and the other one goes on."""
    bluez = Discovery(peer_client)
    btd.tree("bluetooth", FILES["bluetooth.json"])
    btd.start()
    runs = {name: btd.client.start("bluetooth", name, {"wanted": name})[1] for name in ("lamp", "scale")}
    bluez.wait(2)
    bluez.appear("other")
    bluez.appear("lamp", Name=GLib.Variant("s", "lamp"))
    assert btd.client.finish(runs["lamp"]) == ("success", "")
    assert "lamp is /org/bluez/hci0/lamp" in btd.log()
    bluez.wait(1)
    btd.client.halt(runs["scale"])
    assert btd.client.finish(runs["scale"])[0] == "halted"
    bluez.wait(0)


DOOR = """<node><interface name="org.example.Door"><method name="Open"/></interface></node>"""


def test_cards_that_come_together(btd, peer_client, kitchen):
    """None is lost while another one is handled."""
    door = client.Peer(peer_client, "org.example.Door", "/org/example/Door", DOOR, {"Open": lambda *_: None})
    peer_client.call_any(*BUS, "RequestName", "su", "org.example.Reader", 4)
    (kitchen / "card-check").chmod(0o755)
    btd.tree("card", FILES["card.json"].replace("card-check", f"{kitchen}/card-check"))
    btd.start()
    _, path = btd.client.start("card")
    client.wait(lambda: btd.client.nodes(path)["Card"]["status"] == "running", "the reader")
    for card in ("alice", "bob", "stolen", "carol", "dave"):
        peer_client.connection.emit_signal(None, "/org/example/Reader", "org.example.Reader", "Card",
                                           GLib.Variant("(s)", (card,)))
    client.wait(lambda: len(door.calls) == 4, "the cards that may pass")
    assert "stolen may not pass" in btd.log()
    btd.client.halt(path)
