# SPDX-License-Identifier: LGPL-2.1-or-later
"""Does what btd-cookbook(7) says to do on a machine, with its units. The other recipes are simulated, see
tests/integration/test_cookbook.py."""

import pathlib
import re

import pytest

from client import wait

COOKBOOK = pathlib.Path(__file__).resolve().parents[2] / "trees" / "cookbook"


def without_numbers(text):
    """What differs each time: the numbers of runs, and how long they took."""
    return re.sub(r"\.\d+(: success after .*)?$", ".N", text, flags=re.M)


@pytest.fixture
def do(machine):
    """Does what is printed, and compares what it says: do("gateway")."""
    def do_session(name):
        for path in COOKBOOK.iterdir():
            machine.write(f"/root/cookbook/{path.name}", path.read_text(encoding="utf-8"))
        session = (COOKBOOK / f"{name}.machine").read_text(encoding="utf-8")
        made = ""
        for command in re.findall("^# (.*)", session, re.M):
            said = machine.run("sh", "-c", f"cd /root/cookbook && {command} 2>&1").stdout
            made += f"# {command}\n" + said
        assert without_numbers(made) == without_numbers(session)
    return do_session


def is_active(machine, *units):
    return machine.run("systemctl", "is-active", *units).stdout.split()


@pytest.mark.parametrize("name", ["flash", "gateway", "restarts"])
def test_recipe(do, name):
    do(name)


def test_camera(machine, do):
    do("camera")
    wait(lambda: is_active(machine, "stream@video0.service") == ["active"], "the stream")
    machine.check("rm", "/dev/video0")
    units = "stream@video0.service", "btd-job@camera@video0.service"
    wait(lambda: is_active(machine, *units) == ["inactive", "inactive"], "the end of the job")


def test_profiles(machine, do):
    do("profiles")
    units = "profile-day.service", "profile-night.service"
    wait(lambda: is_active(machine, *units) == ["inactive", "active"], "the change of the profile")
    machine.check("btctl", "set", "profiles", 'profile=""')
    machine.check("btctl", "wait", "profiles")
    assert is_active(machine, *units) == ["inactive", "inactive"]


def test_dependents(machine, do):
    do("dependents")

    def starts(unit):
        return machine.check("journalctl", "--no-pager", "-o", "cat", "-u", unit).count("Started ")
    wait(lambda: starts("shop-web.service") == 2, "the second start of the last dependent")
    assert is_active(machine, "shop-api.service", "shop-web.service") == ["active", "active"]
