# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests btctl metrics: with a parser of the OpenMetrics format, and as an answer to HTTP requests."""

import json
import os
import re
import socket
import subprocess

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from btctl_runs import LONG
from client import PATIENCE
from daemon import BTCTL

RESULTS = ["success", "failure", "skipped", "halted", "error"]


def parse(text):
    """The families by name; the parser refuses what the format does not allow."""
    return {family.name: family for family in text_string_to_metric_families(text)}


def samples(btd):
    """The values by name and labels."""
    result = btd.btctl("metrics")
    assert (result.returncode, result.stderr) == (0, "")
    return {(sample.name, *sample.labels.values()): sample.value
            for family in parse(result.stdout).values() for sample in family.samples}


def run(btd, tree, end="success"):
    assert btd.client.finish(btd.client.start(tree)[1])[0] == end


def test_nothing_has_run(btd):
    btd.tree("boot", {"type": "AlwaysSuccess"})
    btd.tree("bad", {"type": "Sequenc"})
    btd.start()
    text = btd.btctl("metrics").stdout
    families = parse(text)
    assert text.endswith("# EOF\n")
    assert {name: family.type for name, family in families.items() if not family.samples} == {
        "btd_runs": "counter", "btd_runs_started": "counter", "btd_run_restarts": "counter",
        "btd_run_duration_seconds": "histogram", "btd_active_runs": "gauge",
        "btd_user_used": "gauge", "btd_user_share": "gauge", "btd_user_refused": "counter"}
    assert all(re.fullmatch("btd_[a-z_]+", name) and family.documentation for name, family in families.items())
    assert {name: family.unit for name, family in families.items() if family.unit} == {
        "btd_start_time_seconds": "seconds", "btd_run_duration_seconds": "seconds", "btd_history_bytes": "bytes"}
    values = samples(btd)
    assert [values["btd_trees", state] for state in ("ok", "broken", "failed")] == [1, 0, 1]
    assert [value for key, value in values.items() if key[0] == "btd_build_info"] == [1]


def test_users(btd):
    btd.tree("long", LONG)
    btd.start()
    assert btd.btctl("users").stdout == "no user has asked btd for anything yet\n"
    btd.client.start("long")
    uid = str(os.getuid())
    head, line = btd.btctl("users").stdout.splitlines()
    assert head.split() == ["UID", "RUNS", "VARIABLES", "RECORDS", "JOBS", "UNREAD", "HISTORY", "SIZE", "KEPT", "REFUSED"]
    assert line.split()[:2] == [uid, "1"]
    [user] = json.loads(btd.btctl("users", "--json").stdout)
    assert (user["uid"], user["used"]["runs"], user["shares"], user["refused"]) == (os.getuid(), 1, {}, 0)
    values = samples(btd)
    assert values["btd_user_used", uid, "runs"] == 1
    assert values["btd_user_refused_total", uid] == 0


def test_runs(btd):
    btd.tree("boot", {"type": "Sequence", "children": [{"type": "AlwaysSuccess"}, {"type": "AlwaysSuccess"}]})
    btd.tree("bad", {"type": "AlwaysFailure"}, restart="on-failure",
             restart_backoff={"initial": "1ms"}, restart_limit={"burst": 2, "interval": "1h"})
    btd.tree("long", LONG)
    btd.start()
    btd.client.subscribe()
    for _ in range(3):
        run(btd, "boot")
    btd.client.start("bad")
    btd.client.wait_signal("RunFinished", lambda signal: signal.args[0] == "bad.3")
    paths = [btd.client.start("long", instance)[1] for instance in ("a", "b", "c")]
    btd.client.call(paths[0], "org.btd1.Run", "Pause")
    btd.client.halt(paths[2])
    btd.client.finish(paths[2])

    values = samples(btd)
    assert [values["btd_runs_total", "boot", result] for result in RESULTS] == [3, 0, 0, 0, 0]
    assert [values["btd_runs_total", "bad", result] for result in RESULTS] == [0, 3, 0, 0, 0]
    assert [values["btd_runs_total", "long", result] for result in RESULTS] == [0, 0, 0, 1, 0]
    assert [values["btd_runs_started_total", tree] for tree in ("boot", "bad", "long")] == [3, 3, 3]
    assert [values["btd_run_restarts_total", tree] for tree in ("boot", "bad", "long")] == [0, 2, 0]
    assert [values["btd_active_runs", tree] for tree in ("boot", "bad", "long")] == [0, 0, 2]
    assert [values["btd_active_runs_state", state] for state in ("running", "paused", "halting")] == [1, 1, 0]
    assert values["btd_run_duration_seconds_bucket", "boot", "+Inf"] == 3
    assert values["btd_run_duration_seconds_count", "boot"] == 3
    assert values["btd_run_duration_seconds_sum", "boot"] > 0
    assert values["btd_run_records_total",] == 0 and values["btd_run_records_lost_total",] == 7
    assert values["btd_action_starts_total",] == 3 * 2 + 3 + 3
    assert values["btd_ticks_total",] >= 9 and values["btd_changes_total",] >= 9
    assert values["btd_disk_late",] == 0 and values["btd_log_messages_dropped_total",] == 0

    later = samples(btd)
    assert all(later[key] >= value for key, value in values.items() if key[0].endswith(("_total", "_bucket")))
    assert list(later) == list(values)
    btd.client.halt(paths[0])
    btd.client.halt(paths[1])


def test_history_and_recovered_runs(btd, tmp_path):
    options = f"--runtime={tmp_path}/run", f"--state={tmp_path}/state"
    btd.tree("boot", {"type": "AlwaysSuccess"})
    btd.tree("long", LONG)
    btd.start(*options)
    run(btd, "boot")
    path = btd.client.start("long")[1]
    values = samples(btd)
    assert values["btd_run_records_total",] == values["btd_history_runs",] == 1
    assert values["btd_history_bytes",] > 100
    btd.stop(9)

    btd.start(*options)
    btd.client.wait_running()
    values = samples(btd)
    assert values["btd_active_runs", "long"] == 1 and values["btd_runs_started_total", "long"] == 0
    assert values["btd_action_starts_total",] == values["btd_ticks_total",] == 0  # the previous btd has counted them
    assert values["btd_history_runs",] == 1
    btd.client.halt(path)
    btd.client.finish(path)
    values = samples(btd)
    assert values["btd_active_runs", "long"] == 0 and values["btd_runs_total", "long", "halted"] == 1


def test_names_are_limited(btd, tmp_path):
    """There are no more trees among the labels than the limit."""
    btd.tree("boot", {"type": "AlwaysSuccess"})
    btd.start("--limit=trees=2")
    for name in ("one", "two", "three"):
        path = btd.client.start_text(name, '{"btd": 1, "root": {"type": "AlwaysSuccess"}}')[1]
        btd.client.finish(path)
    run(btd, "boot")
    values = samples(btd)
    started = {key[1]: value for key, value in values.items() if key[0] == "btd_runs_started_total"}
    assert started == {"one": 1, "two": 1, "(other)": 2}


@pytest.mark.parametrize("request_text, status, body", [
    ("GET /metrics HTTP/1.1\r\nHost: here\r\n\r\n", "200 OK", None),
    ("GET / HTTP/1.0\n\n", "200 OK", None),
    ("GET /metrics?x=1 HTTP/1.0\r\n\r\n", "200 OK", None),
    ("HEAD /metrics HTTP/1.0\r\n\r\n", "200 OK", ""),
    ("GET /metricsx HTTP/1.0\r\n\r\n", "404 Not Found", "The metrics are at /metrics.\n"),
    ("HEAD /metricsx HTTP/1.0\r\n\r\n", "404 Not Found", ""),
    ("POST /metrics HTTP/1.0\r\n\r\n", "405 Method Not Allowed", "Only GET and HEAD are allowed.\n"),
    ("GET /metrics\r\n\r\n", "400 Bad Request", "This is no HTTP request.\n"),
    ("GET /metrics HTTP/1.0\r\n", "400 Bad Request", "The request is incomplete or too long.\n"),
    ("GET /metrics HTTP/1.0\r\n" + 9999 * "x", "400 Bad Request", "The request is incomplete or too long.\n")])
def test_http(btd, request_text, status, body):
    btd.start()
    command = [BTCTL, "--address=" + btd.bus.address, "metrics", "--format=http"]
    result = subprocess.run(command, input=request_text.encode(), capture_output=True, check=True, timeout=PATIENCE)
    head, text = result.stdout.decode().split("\r\n\r\n", 1)
    lines = head.split("\r\n")
    assert lines[0] == "HTTP/1.0 " + status and lines[3] == "Connection: close"
    assert lines[1] == "Content-Type: " + ("application/openmetrics-text; version=1.0.0; charset=utf-8"
                                           if status == "200 OK" else "text/plain; charset=utf-8")
    assert int(lines[2].removeprefix("Content-Length: ")) == len(text) or body == ""
    if body is None:
        assert "btd_runs" in parse(text)
    else:
        assert text == body


@pytest.mark.both_buses("the error for a name that nobody has")
@pytest.mark.parametrize("host, status", [
    ("127.0.0.1:9776", "200 OK"), ("localhost", "200 OK"), ("[::1]:9776", "200 OK"), ("evil.example:9776", "403 Forbidden")])
@pytest.mark.parametrize("own", ["127.0.0.1", "::"])
def test_http_over_the_loopback_device(btd, own, host, status):
    btd.start()
    both = own == "::"
    with socket.create_server((own, 0), family=socket.AF_INET6 if both else socket.AF_INET, dualstack_ipv6=both) as server, \
            socket.create_connection(("127.0.0.1", server.getsockname()[1])) as client:
        peer, _ = server.accept()
        with peer:
            client.sendall(f"GET /metrics HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
            result = subprocess.run([BTCTL, "--address=" + btd.bus.address, "metrics", "--format=http"], stdin=peer,
                                    capture_output=True, check=True, timeout=PATIENCE)
    text = result.stdout.decode()
    assert text.split("\r\n")[0] == "HTTP/1.0 " + status
    assert text.endswith("The host must be an address or localhost.\n") == (status != "200 OK")


def test_http_without_btd(bus):
    command = [BTCTL, "--address=" + bus.address, "metrics", "--format=http"]
    result = subprocess.run(command, input=b"GET / HTTP/1.0\r\n\r\n", capture_output=True, check=True, timeout=PATIENCE)
    assert result.stdout.endswith(b"\r\n\r\nbtd does not answer.\n")
    assert result.stdout.startswith(b"HTTP/1.0 503 Service Unavailable\r\n")
    assert b"btd is not running" in result.stderr


def test_bad_usage(btd):
    btd.start()
    assert btd.btctl("metrics", "--format=svg") == (
        2, "", "btctl: --format: 'svg' is neither 'openmetrics' nor 'http'\nTry 'btctl --help'.\n")
    assert btd.btctl("metrics", "--json") == (
        2, "", "btctl: 'metrics' has no JSON form; 'stats --json' shows numbers about past runs\n"
               "Try 'btctl --help'.\n")
