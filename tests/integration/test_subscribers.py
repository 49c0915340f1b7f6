# SPDX-License-Identifier: LGPL-2.1-or-later
"""Who has subscribed to the changes of nodes and does not read them."""

import signal
import subprocess
import time

import client
import daemon

TURNS, STEPS = 20, 1000

# More than one who reads nothing is sent.
MANY = {"type": "Sequence", "children": [
    {"type": "Repeat", "num_cycles": TURNS, "child": {"type": "Sequence", "children": [
        {"type": "Sleep", "duration": "1ms"}, *({"type": "AlwaysSuccess", "name": f"Step{n}"} for n in range(STEPS))]}},
    {"type": "Sleep", "name": "AtLast", "duration": "1ms"}]}


def wait_for(text, file, attempt=lambda: client.run(["sleep", "0.1"])):
    deadline = time.monotonic() + 20
    while text not in (said := file.read_text(encoding="utf-8")):
        assert time.monotonic() < deadline, said[-1000:]
        attempt()
    return said


def test_one_that_reads_again_is_told_how_all_is(btd, tmp_path):
    """What it has missed meanwhile is not told, and hinders nobody."""
    btd.tree("many", MANY)
    btd.tree("small", {"type": "Log", "name": "Heard", "message": "anything"})
    btd.start()
    heard = tmp_path / "heard"
    with open(heard, "w", encoding="utf-8") as file:
        monitor = subprocess.Popen([daemon.BTCTL, "--address=" + btd.bus.address, "monitor"], stdout=file)
    try:
        wait_for("Heard", heard, lambda: btd.client.finish(btd.client.start("small")[1]))
        monitor.send_signal(signal.SIGSTOP)
        _, path = btd.client.start("many")
        assert btd.client.finish(path) == ("success", "")
        monitor.send_signal(signal.SIGCONT)
        said = wait_for("AtLast", heard)
    finally:
        monitor.kill()
        monitor.wait()
    assert said.count("Step") < TURNS * STEPS
