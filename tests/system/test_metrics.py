# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the units that give the metrics to Prometheus: the socket for HTTP, and the timer for node_exporter."""

import re

from prometheus_client.openmetrics.parser import text_string_to_metric_families
from prometheus_client.parser import text_string_to_metric_families as old_families

DIRECTORY = "/var/lib/prometheus/node-exporter"
GET = """
import sys, urllib.error, urllib.request
try:
    reply = urllib.request.urlopen("http://127.0.0.1:9776" + sys.argv[1], timeout=120)
except urllib.error.HTTPError as error:
    reply = error
print(reply.status, reply.headers["Content-Type"])
sys.stdout.write(reply.read().decode())
"""


def get(machine, path="/metrics"):
    """The status, the type and the text of an answer."""
    head, text = machine.check("/usr/bin/python3", "-c", GET, path).split("\n", 1)
    return *head.split(" ", 1), text


def test_units_are_in_order(machine):
    for unit in ("btd-metrics.socket", "btd-metrics@.service", "btd-metrics.service", "btd-metrics.timer"):
        result = machine.run("systemd-analyze", "verify", "--man=no", unit)
        assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    for unit in ("btd-metrics.socket", "btd-metrics.timer"):
        assert machine.run("systemctl", "is-enabled", unit).stdout == "disabled\n"
    report = machine.check("systemd-analyze", "security", "--no-pager", "btd-metrics@x.service")
    assert float(re.search(r"Overall exposure level for \S+: ([0-9.]+)", report).group(1)) <= 1.5, report


def test_socket(machine):
    machine.check("systemd-sysusers", "btd-metrics.conf")
    machine.load("boot", {"type": "AlwaysSuccess"})
    machine.check("btctl", "start", "boot", "--wait")
    machine.check("systemctl", "start", "btd-metrics.socket")
    status, kind, text = get(machine)
    assert (status, kind) == ("200", "application/openmetrics-text; version=1.0.0; charset=utf-8")
    [runs] = [family for family in text_string_to_metric_families(text) if family.name == "btd_runs"]
    assert {sample.labels["result"]: sample.value for sample in runs.samples
            if sample.name == "btd_runs_total" and sample.labels["tree"] == "boot"}["success"] >= 1
    assert get(machine, "/x") == ("404", "text/plain; charset=utf-8", "The metrics are at /metrics.\n")

    machine.check("systemctl", "stop", "btd.service")
    assert get(machine) == ("503", "text/plain; charset=utf-8", "btd does not answer.\n")
    machine.check("systemctl", "start", "btd.service")
    assert get(machine)[0] == "200"

    # By default, systemd stops a socket after 200 connections within 2 s.
    machine.check("/usr/bin/python3", "-c", "import socket\n"
                  "for _ in range(400): socket.create_connection(('127.0.0.1', 9776)).close()\n")
    machine.check("sh", "-c", "until [ -z \"$(systemctl list-units --plain --no-legend 'btd-metrics@*')\" ]; "
                              "do sleep 0.05; done")
    assert machine.check("systemctl", "show", "-P", "ActiveState", "btd-metrics.socket") == "active\n"
    assert get(machine)[0] == "200"
    machine.check("systemctl", "stop", "btd-metrics.socket")


def test_timer(machine):
    assert machine.run("systemctl", "start", "btd-metrics.service").returncode == 0
    assert machine.run("ls", DIRECTORY).returncode != 0  # without node_exporter it does nothing

    machine.check("mkdir", "-p", DIRECTORY)
    machine.check("systemctl", "start", "btd-metrics.timer")
    machine.check("sh", "-c", f"until [ -e {DIRECTORY}/btd.prom ]; do sleep 0.05; done")
    assert machine.check("ls", DIRECTORY) == "btd.prom\n"
    assert machine.check("stat", "-c", "%a", f"{DIRECTORY}/btd.prom") == "644\n"
    text = machine.check("cat", f"{DIRECTORY}/btd.prom")
    names = {sample.name for family in old_families(text) for sample in family.samples}
    assert {"btd_build_info", "btd_ticks_total", "btd_disk_late"} <= names
    machine.check("systemctl", "stop", "btd-metrics.timer")
    machine.check("sh", "-c", "until [ $(systemctl show -P ActiveState btd-metrics.service) = inactive ]; "
                              "do sleep 0.05; done")

    machine.check("systemctl", "stop", "btd.service")
    assert machine.run("systemctl", "start", "btd-metrics.service").returncode != 0
    assert machine.check("ls", DIRECTORY) == ""
    machine.check("systemctl", "start", "btd.service")
