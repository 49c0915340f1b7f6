# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests run records: show, replay, plot and history, of running and finished runs, and from files."""

import json
import os
import pathlib
import random
import re
import signal
import subprocess
import tempfile
import time
import xml.etree.ElementTree as xml

import pytest

import client
import daemon
from btctl_runs import BAD, GOOD, LONG, SOURCE, UTF8, begin, btctl, end
from client import DBusError
from records import sign

RECORDS = pathlib.Path(SOURCE, "tests", "records")
# One of each version of the format at least, named after it: what was once written can always be read.
STORED = sorted(RECORDS.glob("*.journal"))
MANAGER = "org.btd1.Manager"
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def kept(btd, tmp_path):
    """A daemon that keeps run records; start() starts it, again after a stop()."""
    start = btd.start
    btd.start = lambda: start(f"--runtime={tmp_path}/run", f"--state={tmp_path}/state")
    return btd


def refuse(result, message, code=1):
    hint = "Try 'btctl --help'.\n" if code == 2 else ""
    assert result == (code, "", f"btctl: {message}\n{hint}")


def event_lines(text):
    """Returns the lines of an event log without times and durations."""
    return [re.sub(r" (after|for) [0-9.]+[a-z]+|, started [0-9.]+[a-z]+ ago", "", line[10:]) for line in text.splitlines()]


def finish(btd, tree, *arguments):
    path = btd.client.start(tree, *arguments)[1]
    return btd.client.finish(path)


@pytest.mark.parametrize("record", STORED, ids=lambda path: path.stem)
def test_stored_records_can_be_read(record):
    assert record.name.split("-")[0].isdigit()
    assert btctl("show", str(record), "--ascii", "-q") == (0, record.with_suffix(".events").read_text(), "")


def log_lines(text):
    """The same of a timeline."""
    return [re.sub(r" (after|for) [0-9.]+[a-z]+", "", re.sub(r"^\w+ +\d+ [\d:.]+ ", "", line))
            for line in text.splitlines()]


def test_variables_of_a_run_in_the_history(kept):
    """As they were at its end; also if btd does not run any more."""
    kept.tree("boot", {"type": "Script", "code": "n = n + 1"}, blackboard={"n": 1, "who": "eth0"})
    kept.start()
    assert finish(kept, "boot") == ("success", "")
    kept.stop()
    kept.start()
    for name in "boot", "boot.1":
        assert kept.btctl("get", name, "n") == (0, "2\n", "")
    assert kept.btctl("get", "boot") == (0, 'n=2\nwho="eth0"\n', "")
    refuse(kept.btctl("get", "boot.1", "whom"), "boot.1 has no variable 'whom'")
    refuse(kept.btctl("get", "boto"), "no tree 'boto'; did you mean 'boot'?")


def test_logs_of_a_run_that_two_operands_name(kept):
    kept.tree("boot", {"type": "AlwaysSuccess"})
    kept.start()
    finish(kept, "boot")
    once = kept.btctl("logs", "boot.1")
    assert once.stdout.count("\n") == 3
    for operands in ("boot", "boot.1"), ("boot.1", "boot"), ("boot", "boot"):
        assert kept.btctl("logs", *operands) == once


def test_logs_have_the_events(kept):
    """Without units and processes, the timeline is what show prints, with the time of day."""
    kept.tree("boot", {"type": "Sequence", "name": "Boot", "children": [
        {"type": "Log", "name": "A", "message": "first"}, {"type": "Sequence", "name": "Below", "children": [
            {"type": "Log", "name": "B", "message": "second"}]}, {"type": "Sleep", "name": "C", "duration": "200ms"}]})
    kept.tree("other", LONG)
    kept.start()
    finish(kept, "boot")
    shown, result = kept.btctl("show", "boot", "-q", env=UTF8), kept.btctl("logs", "boot", env=UTF8)
    assert (result.returncode, result.stderr) == (0, "") and log_lines(result.stdout) == event_lines(shown.stdout)
    assert log_lines(kept.btctl("logs", "boot.1", "--node=Below", env=UTF8).stdout) == [
        "● Boot/Below: running", "» Boot/Below/B: log: second", "✓ Boot/Below/B: success", "✓ Boot/Below: success"]
    assert log_lines(kept.btctl("logs", "boot", "-n2", env=UTF8).stdout) == event_lines(shown.stdout)[-2:]
    assert kept.btctl("logs", "boot", "--since=-0s") == (0, "no entries\n", "")
    assert kept.btctl("logs", "boot", "--since=-0s", "-q") == (0, "", "")
    assert kept.btctl("logs", "boot", "-n0") == (0, "", "")
    assert kept.btctl("logs", "boot", "--follow", "-n", "all", env=UTF8).stdout == result.stdout
    refuse(kept.btctl("logs", "boot", "--node=Nowhere"), "no node 'Nowhere'; 'btctl status RUN' shows the nodes")
    refuse(kept.btctl("logs", "other"), "'other' has not run yet")
    refuse(kept.btctl("logs", "gone"), "no tree 'gone'; 'btctl list' shows the trees")


def test_logs_of_instances(kept):
    """Each line says of which run it is; what is over is left out."""
    kept.tree("boot", LONG)
    kept.start()
    assert kept.btctl("start", "boot@a", "boot@b", "boot@c").returncode == 0
    assert kept.btctl("halt", "boot@c", "--wait").returncode == 0
    lines = log_lines(kept.btctl("logs", "boot", env=UTF8).stdout)
    assert {line.split()[0] for line in lines} == {"boot.1", "boot.2"}
    assert {"boot.1 ● Long: running", "boot.2 ● Long: running"} <= set(lines)
    assert log_lines(kept.btctl("logs", "boot@c", env=UTF8).stdout)[-1].startswith("■ boot.3: halted")


def test_logs_of_elsewhere(kept, tmp_path):
    """What is not in the journal of this machine is said, and where it is."""
    kept.tree("boot", {"type": "Fallback", "name": "Boot", "children": [
        {"type": "StartUnit", "name": "There", "unit": "cam.service", "bus": "host:nowhere.invalid",
         "timeout": "100ms"},
        {"type": "Spawn", "name": "Here", "argv": ["/bin/true"]}]})
    kept.start()
    finish(kept, "boot")
    result = kept.btctl("logs", "boot")
    assert result.returncode == 0 and result.stderr.splitlines()[0] == (
        "btctl: the lines of cam.service on the bus 'host:nowhere.invalid' are not read; see 'ssh nowhere.invalid "
        "journalctl -u cam.service'")
    assert kept.stop() == 0
    record, = (tmp_path / "state/history").glob("*.journal")
    for options in (["--host=nowhere.invalid"], ["--machine=nowhere"]):
        result = btctl(*options, "logs", str(record), "--node=Here")
        assert result.returncode == 0 and result.stderr.splitlines()[1:] == [
            "btctl: the lines of units and processes are missing, because the journal of another machine is not read; "
            "run 'btctl logs' there"]
    copy = tmp_path / "copy.journal"
    copy.write_bytes(sign(re.sub(rb'"boot": *"[0-9a-f-]+"', b'"boot":"x"', record.read_bytes(), count=1)))
    result = btctl("logs", str(copy))
    assert result.stderr.splitlines()[1:] == ["btctl: the journal cannot be read: Invalid argument"]


def test_follow_logs(kept, tmp_path):
    kept.tree("boot", {"type": "Sequence", "name": "Boot", "children": [
        {"type": "Log", "name": "A", "message": "first"},
        {"type": "WaitFor", "name": "B", "child": {"type": "PathExists", "path": f"{tmp_path}/go"}}]})
    kept.start()
    assert kept.btctl("start", "boot").returncode == 0
    following = begin(kept, "logs", "boot", "--follow")
    while "B/PathExists: failure" not in following.stdout.readline():
        pass
    assert kept.btctl("pause", "boot").returncode == 0  # which changes no node
    assert log_lines(following.stdout.readline()) == ["‖ boot.1: paused by UID 0 (btctl)"]
    assert kept.btctl("resume", "boot").returncode == 0
    (tmp_path / "go").touch()
    status, output = end(following)
    assert status == 0 and log_lines(output)[-1] == "✓ boot.1: success" and "log: first" not in output


def test_follow_logs_while_btd_is_away(btd, tmp_path):
    """The run continues with the next btd, although its record can be read without one."""
    environment = {"XDG_STATE_HOME": f"{tmp_path}/state", "XDG_RUNTIME_DIR": f"{tmp_path}/run",
                   "DBUS_SESSION_BUS_ADDRESS": btd.bus.address}
    options = f"--runtime={tmp_path}/run/btd", f"--state={tmp_path}/state/btd"
    btd.tree("boot", {"type": "Sequence", "name": "Boot", "children": [
        {"type": "WaitFor", "name": name, "child": {"type": "PathExists", "path": f"{tmp_path}/{name}"}}
        for name in "AB"]})
    (tmp_path / "run").mkdir()
    btd.start(*options)
    run, _ = btd.client.start("boot")
    following = subprocess.Popen([daemon.BTCTL, "--user", "logs", run, "--follow"], stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                 env={**os.environ, **daemon.SANITIZER_ENV, **UTF8, **environment})
    while "A/PathExists: failure" not in following.stdout.readline():
        pass
    following.send_signal(signal.SIGSTOP)
    (tmp_path / "A").touch()
    client.look(lambda: "B/PathExists: failure" in btd.btctl("show", run, "-q").stdout, "the change")
    btd.stop(signal.SIGKILL)
    following.send_signal(signal.SIGCONT)
    assert following.stdout.readline() == "btctl: btd has exited; waiting for it to start again\n"
    time.sleep(0.5)  # it tries to read the change now, and nothing tells when it has
    btd.start(*options)
    (tmp_path / "B").touch()
    status, output = end(following)
    assert status == 0 and log_lines(output)[-1] == f"✓ {run}: success" and "these are the run records" not in output


def kinds(record):
    return [line.split()[1].decode() for line in record.splitlines()[1:]]


def test_stored_records_have_all_kinds():
    """... of records of the current version; else tests/records/make.py makes too few."""
    source = pathlib.Path(SOURCE, "daemon", "record")
    version = re.search(r"#define RECORD_VERSION (\d+)u", (source / "record-header.h").read_text())[1]
    known = set(re.findall(r'X\(ENTRY_\w+, "([a-z-]+)"\)', (source / "entry.h").read_text()))
    stored = {kind for record in STORED if record.name.startswith(version + "-")
              for kind in kinds(record.read_bytes())}
    assert len(known) > 25 and stored == known, \
        f"no {version}-*.journal has {sorted(known - stored)}; see tests/records/README.md"


@pytest.mark.parametrize("path", [path for path in STORED if kinds(path.read_bytes())[-1] != "finished"],
                         ids=lambda path: path.stem)
def test_stored_records_are_recovered(kept, tmp_path, path):
    """As if the run had gone on here until now: it is as it was, and can be halted."""
    boot = pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip().replace("-", "")
    record = path.read_bytes()
    start = time.monotonic_ns() // 1000 - int(record.splitlines()[-1].split()[0])
    record = re.sub(rb'"boot":"[0-9a-f]+"', b'"boot":"%s"' % boot.encode(), record, count=1)
    record = sign(re.sub(rb'"start":\d+', b'"start":%d' % start, record, count=1))
    run = json.loads(record.split(b" ", 2)[2].rsplit(b" ", 1)[0].splitlines()[0].rsplit(b" ", 1)[0])["run"]
    (tmp_path / "run/runs").mkdir(parents=True)
    (tmp_path / f"run/runs/{run}.journal").write_bytes(record)
    before = json.loads(btctl("replay", str(path), "--json").stdout)

    kept.start()
    assert "cannot be recovered" not in kept.log()
    after = json.loads(kept.btctl("status", run, "--json").stdout)
    assert after["status"] == before["status"]
    if "long" not in path.stem:  # it goes on at once
        assert [(node["path"], node["status"]) for node in after["nodes"]] == \
            [(node["path"], node["status"]) for node in before["nodes"]]
    kept.client.subscribe("org.btd1.Run")
    kept.client.manager("SubscribeEvents")
    if run == "slow.1":  # it has a leaf that nobody stops
        kept.stop(signal.SIGKILL)
        kept.process = None
    else:
        assert kept.btctl("halt", run, "--wait").returncode == 0
        assert_read_as_told(kept, run)


def assert_read_as_told(kept, run):
    """The record has the events that the signals had, under the same numbers."""
    kept.client.wait_signal("Events", lambda s: s.args[1] and "node" not in s.args[1][-1] and "status" in s.args[1][-1])
    told = [event for s in kept.client.signals if s.member == "Events" for event in s.args[1]][-5:]
    assert told == kept.client.manager("GetEvents", "st", run, told[0]["number"] - 1)


def test_replay_of_a_file():
    record = str(RECORDS / "1-commission.journal")
    early = btctl("replay", record, "--until=20ms", "--ascii").stdout
    assert "`- x Send (Spawn) after 4.8ms: exited with status 75\n" in early
    assert ("* Upload (RetryUntilSuccessful) for 16.6ms, attempt 2 of 2; before: exited with status 75; "
            "continues in 8.22ms\n") in early
    assert "|- - Prepare (ParallelAll)\n" in early

    waiting = btctl("replay", record, "--until=50ms", "--ascii").stdout
    assert "|- * Lamp (Sleep) for 17.9ms, waits for the lock 'bench'\n" in waiting
    assert "`- * Soon (Timeout) for 17.9ms, times out in 12.1ms\n" in waiting

    stopped = btctl("replay", record, "--until=0.5s", "--ascii").stdout
    assert stopped.startswith("= commission.1: paused, started 500ms ago\n")
    assert re.search(r"\|- \* Watch \(WhileDoElse\) for [0-9.]+ms, paused at a breakpoint\n", stopped)

    end = btctl("replay", record, "--ascii").stdout
    assert end == btctl("replay", record, "--ascii", "--until=end").stdout
    assert end == btctl("replay", record, "--ascii", "--until=1h").stdout
    assert end.startswith("# commission.1: halted after 849ms\n")
    assert "    Cause: halted by UID 0 (btctl)\n" in end

    run = json.loads(btctl("replay", record, "--json").stdout)
    assert run["status"] == "halted" and run["cause_chain"][0]["kind"] == "halted"
    assert [node["name"] for node in run["nodes"] if node["status"] == "halted"] == \
        ["Commission", "Never", "Work", "Burn", "Soak"]


def test_event_log_as_json():
    events = [json.loads(line) for line in
              btctl("show", str(RECORDS / "1-commission.journal"), "--json").stdout.splitlines()]
    assert [event["number"] for event in events] == list(range(1, len(events) + 1))
    started = events[0]["time_usec"] - 2021
    assert events[0] == {"number": 1, "time_usec": started + 2021, "offset_usec": 2021, "event": "started", "run": "commission.1", "text": "by UID 0 (btctl)",
                         "variables": {"device": "cam7"}}
    assert [event["variables"] for event in events if event["event"] == "set"] == \
        [{"report": "cam7 rev 2"}, {"calm": False}]
    failed = [event for event in events if event["event"] == "failure" and event["path"].endswith("/Send")]
    assert [event["text"] for event in failed] == 2 * ["exited with status 75"]
    assert events[-1] == {"number": len(events), "time_usec": started + 848993, "offset_usec": 848993, "event": "halted", "run": "commission.1",
                          "duration_usec": 848993, "text": "halted by UID 0 (btctl)"}


def bars(svg):
    return [bar.find(SVG + "title").text for bar in xml.fromstring(svg).iter(SVG + "rect") if bar.find(SVG + "title") is not None]


def test_plot_of_a_file():
    svg = btctl("plot", str(RECORDS / "1-commission.journal")).stdout
    drawn = bars(svg)
    assert [bar for bar in drawn if bar.startswith("Send:")] == [
        "Send: failure, from 3.42ms for 4.8ms: exited with status 75",
        "Send: failure, from 30.7ms for 1.42ms: exited with status 75"]
    assert "Work: halted, from 583ms for 29.5ms: stopped by Commission/Watch" in drawn
    assert "halted after 849ms: halted by UID 0 (btctl)" in svg
    assert "<title>paused, at 320ms</title>" in svg
    for word in "success", "failure", "halted", "skipped", "critical path: the run waited for these":
        assert f">{word}</text>" in svg
    assert ">running</text>" not in svg


def test_plot_of_control_characters(btd, tmp_path):
    """XML forbids them, also as references."""
    btd.tree("odd", {"type": "Spawn", "name": "Odd", "argv": ["/bin/sh", "-c", "printf '\\033[2Jx' >&2; exit 3"], "stderr": "e"})
    btd.start("--runtime=" + str(tmp_path / "run"), "--state=" + str(tmp_path / "state"))
    assert btd.btctl("start", "odd", "--wait").returncode == 1
    for options in [], ["--format=html"]:
        assert "&#x1b;" not in btd.btctl("plot", "odd", *options).stdout
    assert "Odd: failure" in bars(btd.btctl("plot", "odd").stdout)[0]
    assert "?[2Jx" in btd.btctl("plot", "odd").stdout


def test_trace_of_a_file():
    trace = json.loads(btctl("plot", str(RECORDS / "1-commission.journal"), "--format=trace").stdout)
    sends = [event for event in trace["traceEvents"] if event["ph"] == "X" and event["name"] == "Send"]
    assert [(event["dur"], event["args"]["cause"]) for event in sends] == \
        [(4795, "exited with status 75"), (1422, "exited with status 75")]
    marks = [event for event in trace["traceEvents"] if event["ph"] == "i"]
    assert [event["name"] for event in marks] == ["paused", "stepped", "resumed", "resumed", "set", "halting"]
    assert marks[-1]["args"] == {"detail": "halted by UID 0 (btctl)"}
    assert marks[-1]["ts"] == 1795278574295816 and marks[-1]["s"] == "p"


@pytest.mark.parametrize("verb", ["show", "replay", "plot", "graph"])
def test_bad_files(verb, tmp_path):
    good = (RECORDS / "1-commission.journal").read_bytes()
    path = tmp_path / "x.journal"

    def check(content, message):
        path.write_bytes(content)
        result = btctl(verb, str(path))
        assert (result.returncode, result.stderr) == (1, f"btctl: {path}: {message}\n")

    refuse(btctl(verb, "./nothing"), "./nothing cannot be read: No such file or directory")
    refuse(btctl(verb, "nothing.journal"), "nothing.journal cannot be read: No such file or directory")
    refuse(btctl(verb, "/"), "/ cannot be read: Is a directory")
    check(b"", "it is empty")
    check(b"{}\n", "it is not a run record")
    check(good.replace(b"cam7", b"cam8", 1), "its first line does not match its checksum")
    assert btctl(verb, str(path)).stdout == ""
    check(good.replace(b"cam7 rev 2", b"cam8 rev 2"),
          "line 5: it does not match its checksum, or lines before it are missing; only what happened before is shown")
    assert btctl(verb, str(path)).stdout != ""


def test_bad_options():
    record = str(RECORDS / "1-commission.journal")
    refuse(btctl("replay", record, "--until=soon"),
           "--until: 'soon' is neither a time span such as '90s' or '1h 30min' nor 'end'", 2)
    refuse(btctl("plot", record, "--format=png"), "--format: 'png' is none of 'svg', 'html' and 'trace'", 2)
    refuse(btctl("show", record, "--format=svg"), "'show' takes no option '--format'", 2)
    refuse(btctl("show"), "'show' needs an operand: btctl show TREE|RUN|FILE", 2)


def test_a_journal_that_breaks_off(tmp_path):
    """The log has all known events, and the status at the end."""
    good = (RECORDS / "1-commission.journal").read_bytes()
    path = tmp_path / "x.journal"
    path.write_bytes(good[:good.index(b"380045 tick") + 9])
    assert event_lines(btctl("show", str(path), "-q", "--ascii").stdout)[-2:] == \
        ["> commission.1: stepped by one tick", "= commission.1: paused"]
    assert "= commission.1: paused, started 380ms ago\n" in btctl("replay", str(path), "--ascii").stdout


def test_event_log_of_a_run_that_goes_on(kept):
    kept.tree("boot", LONG)
    kept.start()
    assert kept.btctl("start", "boot").returncode == 0
    for operand in "boot", "boot.1":
        header, *lines = kept.btctl("show", operand, env=UTF8).stdout.splitlines()
        assert re.fullmatch(r"boot\.1 of tree 'boot', started .*", header)
        assert event_lines("\n".join(lines)) == [f"» boot.1: started by UID {os.getuid()} (btctl)", "● Long: running",
                                           "● boot.1: running"]

    assert bars(kept.btctl("plot", "boot").stdout)[0].startswith("Long: running, from ")
    assert "● Long (Sleep) for " in kept.btctl("replay", "boot", env=UTF8).stdout
    assert kept.btctl("halt", "boot", "--wait").returncode == 0
    assert kept.btctl("show", "boot", env=UTF8).stdout.endswith("s by UID %d (btctl)\n" % os.getuid())


def test_event_log_of_a_run_that_becomes_ready(kept):
    kept.tree("watch", {"type": "Sequence", "children": [
        {"type": "AlwaysSuccess", "name": "Up", "ready": True}, {"type": "Sleep", "duration": "1ms"},
        {"type": "AlwaysFailure", "name": "Broken"}]})
    kept.start()
    expected = ["✓ Sequence/Up: success", "» watch.1: ready", "● Sequence/Sleep: running"]
    followed = event_lines(kept.btctl("start", "watch", "--follow", env=UTF8).stdout)
    assert followed[2:5] == expected
    assert event_lines(kept.btctl("show", "watch", "-q", env=UTF8).stdout)[2:5] == expected
    simulated = kept.btctl("simulate", f"{kept.trees}/watch.json", env=UTF8).stdout
    assert event_lines(simulated)[2:5] == [line.replace("watch.1", "watch") for line in expected]
    events = [json.loads(line) for line in
              kept.btctl("simulate", f"{kept.trees}/watch.json", "--json").stdout.splitlines()]
    assert events[3] == {"number": 4, "offset_usec": 0, "event": "ready", "run": "watch"}


def test_event_log_of_an_error(kept):
    """The log has the error where it happened, before its consequences."""
    kept.tree("boot", {"type": "Parallel", "name": "All", "children": [
        LONG, {"type": "AlwaysSuccess", "name": "Bad", "fail_if": "level > 20"}]}, blackboard={"level": None})
    kept.start()
    assert kept.btctl("start", "boot", "--wait").returncode == 4
    why = "level > 20: attempt to compare number with nil (level is null)"
    assert event_lines(kept.btctl("show", "boot", env=UTF8).stdout)[-6:] == [
        "● All: running", "● All/Long: running", f"! All/Bad: error: {why}", f"! All: error: Bad: {why}",
        "■ All/Long: halted: stopped by All", f"! boot.1: error: All/Bad: {why}"]


def test_event_log_of_messages(kept):
    kept.tree("boot", {"type": "Sequence", "name": "All", "children": [
        {"type": "Log", "name": "Say", "message": "with {level}"},
        {"type": "Log", "name": "Warn", "message": "too much", "level": "warning"}]}, blackboard={"level": 3})
    kept.start()
    assert kept.btctl("start", "boot", "--wait").returncode == 0
    assert event_lines(kept.btctl("show", "boot", env=UTF8).stdout)[-6:] == [
        "● All: running", "» All/Say: log: with 3", "✓ All/Say: success", "» All/Warn: log: warning: too much",
        "✓ All/Warn: success", "✓ All: success", "✓ boot.1: success"][1:]
    event = json.loads(kept.btctl("show", "boot", "--json").stdout.splitlines()[2])
    assert {key: event[key] for key in ("event", "node", "path", "text")} == {
        "event": "log", "node": 1, "path": "All/Say", "text": "with 3"}


def test_event_log_of_a_long_value(kept):
    """Whole only for programs."""
    kept.tree("boot", GOOD, blackboard={"text": "", "n": 0})
    kept.start()
    kept.client.finish(kept.client.start("boot", "", {"text": "x" * 1000, "n": 3})[1])
    first = kept.btctl("show", "boot.1").stdout.splitlines()[1]
    assert 'text="' + "x" * 59 + "..., n=3" in first or 'n=3, text="' + "x" * 59 + "..." in first
    assert json.loads(kept.btctl("show", "boot.1", "--json").stdout.splitlines()[0])["variables"]["text"] == "x" * 1000


def with_snapshot(change):
    """The run record of a run that has gone on for long, with another snapshot at its beginning."""
    header, first, *rest = (RECORDS / "1-long.journal").read_text(encoding="utf-8").split("\n")
    time_usec, kind, snapshot = first.rsplit(" ", 1)[0].split(" ", 2)
    assert kind == "snapshot"
    line = f"{time_usec} snapshot {json.dumps(change(json.loads(snapshot)), separators=(',', ':'))} 0"
    return sign("\n".join([header, line, *rest]).encode())


def test_a_journal_without_its_beginning(tmp_path):
    """Of a run that has gone on for long."""
    record = str(RECORDS / "1-long.journal")
    refuse(btctl("replay", record, "--until=0.01s"), f"{record}: no events from before 26.6ms are kept")
    early = btctl("replay", record, "--until=0.035s", "--ascii").stdout
    assert "* Rounds (Repeat) for 34ms, round 19\n" in early
    assert "   `- * Timeout 1s for 386us, times out in 1s\n" in early
    assert "running for 83.4ms, drawn from 26.6ms on" in btctl("plot", record).stdout


def test_a_run_that_goes_on_for_ever(btd, tmp_path):
    """It stays durable, and its run record short."""
    options = [f"--runtime={tmp_path}/run", f"--state={tmp_path}/state", "--limit=journal-kib=64"]
    record = tmp_path / "run/runs/round.1.journal"
    btd.tree("round", {"type": "Repeat", "name": "Rounds", "num_cycles": -1, "child": {
        "type": "Sequence", "name": "Round", "children": [
            {"type": "Script", "code": "n = n + 1"}, {"type": "Log", "level": "debug", "message": "round {n}"},
            {"type": "Sleep", "name": "Nap", "duration": "1ms"}]}}, blackboard={"n": 0})
    btd.start(*options)
    _, path = btd.client.start("round")

    def rounds():
        return btd.client.variable(path, "n")

    for goal in 200, 400:
        while rounds() < goal:
            assert record.stat().st_size < 20000  # each time; the run tells nobody of its rounds
        assert btd.client.run_property(path, "Durable") is True
        assert "earlier events are not kept" in btd.btctl("show", "round").stdout.splitlines()[1]
        assert btd.btctl("replay", "round", "--until=1ms").stderr.endswith(" are kept\n")
        before = rounds()
        btd.stop(signal.SIGKILL)
        btd.start(*options)
        assert rounds() >= before
    assert btd.btctl("halt", "round", "--wait").returncode == 0
    assert btd.stop() == 0
    assert (tmp_path / "state/history/round.1.journal").stat().st_size < 20000


def test_a_snapshot_that_makes_no_sense(tmp_path):
    """Is refused, or told as well as can be."""
    record = tmp_path / "x.journal"
    record.write_bytes(with_snapshot(lambda snapshot: {**snapshot, "machine": {**snapshot["machine"], "nodes": [[99] + [0] * 11]}}))
    refuse(btctl("show", str(record), "-q"), f"{record}: line 2: the snapshot does not fit the tree")
    for counts in [[1, 2, 3], [1, 2, 3, "4"], 5]:
        record.write_bytes(with_snapshot(lambda snapshot, bad=counts: {**snapshot, "counts": bad}))
        refuse(btctl("show", str(record), "-q"), f"{record}: line 2: the snapshot does not fit the tree")
    record.write_bytes(with_snapshot(lambda snapshot: []))
    refuse(btctl("show", str(record), "-q"), f"{record}: line 2: '26576 snapshot []' is not known")

    dice = random.Random(1)

    def places(value):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield value, key
            if isinstance(inner, (dict, list)):
                yield from places(inner)

    def spoil(snapshot):
        for _ in range(dice.randint(1, 3)):
            value, key = dice.choice(list(places(snapshot)))
            value[key] = dice.choice([0, 1, 2, 5, 16, 64, 255, 256, 2**32 - 1, 2**63, -1, None, "x", [], {}, True, 1.5])
        return snapshot

    n = 200
    (tmp_path / "history").mkdir()
    for i in range(n):
        record = tmp_path / f"history/loop.{i}.journal"
        record.write_bytes(with_snapshot(spoil))
        if i % 10 == 0:
            assert btctl("show", str(record), "-q").returncode in (0, 1), record.read_text(encoding="utf-8")
    all_at_once = btctl("stats", f"--directory={tmp_path}", "-n", "all", "--json")
    assert json.loads(all_at_once.stdout)[0]["runs"] == n
    assert btctl("stats", "loop", f"--directory={tmp_path}", "-n", "all").returncode == 0, "it replays them"


def test_history(kept):
    kept.tree("boot", BAD)
    kept.tree("net", GOOD)
    kept.tree("idle", GOOD)
    kept.start()
    assert kept.btctl("history") == (0, "no run has finished yet\n", "")
    assert kept.btctl("history", "idle") == (0, "no run of 'idle' has finished yet\n", "")
    assert kept.btctl("history", "idle", "-q") == (0, "", "")
    refuse(kept.btctl("history", "nett"), "no tree 'nett'; did you mean 'net'?")
    refuse(kept.btctl("show", "idle"), "'idle' has not run yet")
    refuse(kept.btctl("plot", "boot.7"),
           "there is no run record of a run 'boot.7'; 'btctl history' shows the runs that have finished")
    refuse(kept.btctl("replay", "nett"), "no tree 'nett'; did you mean 'net'?")

    finish(kept, "boot")
    finish(kept, "net", "eth0")
    finish(kept, "net")
    listed = [re.split(r"  +", line) for line in kept.btctl("history", env=UTF8).stdout.splitlines()]
    assert listed[0] == ["RUN", "RESULT", "STARTED", "TOOK", "CAUSE"]
    assert [line[:2] for line in listed[1:]] == [["net.2", "✓ success"], ["net.1 (eth0)", "✓ success"],
                                                 ["boot.1", "✗ failure"]]
    assert listed[3][4] == "Boot/LoadConfig: exited with status 3"
    assert [run["id"] for run in json.loads(kept.btctl("history", "net", "--json").stdout)] == ["net.2", "net.1"]
    assert [run["id"] for run in json.loads(kept.btctl("history", "net@eth0", "--json").stdout)] == ["net.1"]
    assert kept.btctl("history", "net@eth1") == (0, "no run of 'net@eth1' has finished yet\n", "")
    refuse(kept.btctl("history", "nett@eth0"), "no tree 'nett'; did you mean 'net'?")
    assert [line.split()[0] for line in kept.btctl("history", "-n", "2").stdout.splitlines()] == \
        ["RUN", "net.2", "net.1"]
    everything = kept.btctl("history").stdout
    assert kept.btctl("history", "--since=1h", "--lines=all").stdout == everything
    assert kept.btctl("history", "-U", "today", "-n9") == (0, "no run has finished in this time\n", "")


def test_history_survives_the_daemon(kept):
    """The tree may be gone by then, too."""
    kept.tree("boot", GOOD)
    kept.start()
    finish(kept, "boot")
    file = kept.tree("boot", BAD)
    kept.client.reload()
    finish(kept, "boot")
    before = kept.btctl("history", "--json").stdout
    told = kept.btctl("show", "boot.2", "-q").stdout
    assert "exited with status 3" in told
    kept.stop()
    os.unlink(file)
    kept.start()
    assert kept.btctl("history", "--json").stdout == before
    assert kept.btctl("history", "boot", "--json").stdout == before
    assert kept.btctl("status", "boot.1", "--json") == kept.btctl("replay", "boot.1", "--json")
    assert kept.btctl("status", "boot.1", env=UTF8).stdout.startswith("✓ boot.1: success after ")
    assert json.loads(kept.btctl("status", "boot.2", "--json").stdout)["status"] == "failure"
    refuse(kept.btctl("pause", "boot.1"),
           "boot.1 has finished: success; see 'btctl replay boot.1' for its last status and 'btctl show boot.1' for its events")
    for verb in ["halt"], ["stop"], ["halt", "--wait"]:
        assert kept.btctl(*verb, "boot.1") == (0, "boot.1 has already finished: success\n", "")
    refuse(kept.btctl("halt", "boot.3"), "no run 'boot.3'; 'btctl list' shows the runs")
    refuse(kept.btctl("status", "boot.3"), "no run 'boot.3'; 'btctl list' shows the runs")
    kept.tree("boot", GOOD)
    kept.client.reload()
    assert "     Runs: none now; the last was boot.2: failure, see 'btctl show boot.2'\n" \
        in kept.btctl("status", "boot").stdout
    kept.tree("idle", GOOD)
    kept.client.reload()
    assert "     Runs: none\n" in kept.btctl("status", "idle").stdout
    assert [re.split("  +", line.strip()) for line in kept.btctl("list").stdout.splitlines()][1:] == [
        ["boot", "ok", "disabled", "boot.2 failure"], ["idle", "ok", "disabled", "-"]]
    [last] = json.loads(kept.btctl("list", "--json").stdout)[0]["runs"]
    assert (last["id"], last["status"], last["cause"]) == ("boot.2", "failure", "Boot/LoadConfig: exited with status 3")
    for operand in "boot", "boot.2":
        assert kept.btctl("show", operand, "-q").stdout == told


def test_status_of_an_instance_that_ran_before_the_daemon(kept):
    kept.tree("net", GOOD)
    kept.start()
    for instance in "eth0.100", "eth0.100", "eth1":
        finish(kept, "net", instance)
    kept.stop()
    kept.start()
    assert kept.btctl("status", "net@eth0.100", "--json") == kept.btctl("replay", "net.2", "--json")
    assert kept.btctl("status", "net@eth0.100", env=UTF8).stdout.startswith("✓ net.2 (eth0.100): success after ")
    refuse(kept.btctl("status", "net@eth2"),
           "no run of tree 'net' has the instance 'eth2'; start one with 'btctl start net --instance=eth2'")


def test_files_with_one_name(kept):
    """The tree of cam.json is not that of lib/cam.json, and what lies where nothing was is no part of it."""
    os.mkdir(os.path.join(kept.trees, "lib"))
    root = {"type": "AlwaysSuccess", "name": "Inner"}
    kept.tree("lib/cam", json.dumps({"btd": 1, "include": ["base.json"], "trees": {"lens": {"root": root}}}))
    kept.tree("base", json.dumps({"btd": 1, "trees": {"floor": {"root": root}}}))
    kept.tree("cam", LONG)
    kept.tree("main", {"type": "Sequence", "name": "Main", "children": [
        {"type": "SubTree", "tree": tree} for tree in ("lens", "floor", "cam")]}, include=["lib/cam.json"])
    kept.start()
    kept.client.subscribe("org.btd1.Run")
    kept.client.manager("Subscribe")
    path = kept.client.start("main")[1]
    kept.client.wait_signal("NodesChanged", lambda signal: "Long" in [row[3] for row in signal.args[0]])
    told = kept.btctl("show", "main.1", "-q").stdout
    assert re.search(r"Main/lens/Inner: success\n(.*\n)*.*Main/floor/Inner: success\n(.*\n)*.*Main/cam/", told)

    kept.stop(signal.SIGKILL)
    for file in "main", "cam", "base", "lib/cam", "lib/base":
        kept.tree(file, BAD)
    kept.start()
    kept.client.wait_running()
    assert kept.client.run_property(path, "Status") == "running"
    assert kept.btctl("halt", "main", "--wait").returncode == 0
    assert kept.btctl("show", "main.1", "-q").stdout.startswith(told[:told.index("main.1: running for") - 12])
    assert "cam (SubTree)" in kept.btctl("replay", "main.1").stdout


def test_a_run_keeps_its_lua_files(kept):
    file = pathlib.Path(kept.trees, "answers.lua")
    file.write_text("function answer() return 1 end")
    kept.tree("main", {"type": "Sequence", "children": [
        {"type": "WaitFor", "child": {"type": "Condition", "test": "go"}},
        {"type": "Script", "code": "go = answer()"}]}, lua=["answers"], inputs={"go": {"type": "any", "default": False}},
        outputs={"go": "any"})
    kept.start()
    path = kept.client.start("main")[1]
    kept.stop(signal.SIGKILL)
    file.write_text("function answer() return 2 end")
    kept.start()
    assert kept.client.run_property(path, "Status") == "running"
    assert kept.btctl("set", "main.1", "go=true").returncode == 0
    assert kept.btctl("wait", "main.1").returncode == 0
    assert "main.1: success" in kept.btctl("show", "main.1", "-q").stdout
    assert kept.btctl("get", "main.1", "go").stdout == "1\n"


@pytest.mark.parametrize("years", [-50, 50])
def test_the_clock_was_set(kept, tmp_path, years):
    """... after the run had been started: how long something took does not depend on that."""
    kept.tree("boot", LONG)
    kept.start()
    path = kept.client.start("boot")[1]
    kept.stop(signal.SIGKILL)
    record = tmp_path / "run/runs/boot.1.journal"
    record.write_bytes(sign(re.sub(
        rb'"started":(\d+)', lambda match: b'"started":%d' % (int(match[1]) - years * 31557600 * 10**6),
        record.read_bytes(), count=1)))

    kept.start()
    spans = [re.search(pattern, kept.btctl(*arguments).stdout).group(1) for arguments, pattern in [
        (["status", "boot"], r"boot.1: running for (.+)\n"),
        (["replay", "boot"], r"boot.1: running for (.+)\n"),
        (["show", "boot"], r"boot.1: running for (.+)\n$"),
        (["plot", "boot"], r">running for ([^<]+)</text>")]]
    kept.btctl("halt", "boot", "--wait")
    assert kept.client.run_property(path, "Status") == "halted"
    spans += [re.search(pattern, text).group(1) for text, pattern in [
        (kept.log(), r"boot.1: halted after ([^:]+):"),
        (kept.btctl("status", "boot").stdout, r"boot.1: halted after (.+)\n"),
        (kept.btctl("history").stdout, r"boot.1 .* (\S+)  halted by")]]
    assert all(re.fullmatch(r"[0-9.]+(us|ms|s|min)( [0-9.]+m?s)?", span) for span in spans), spans


def test_damaged_records_are_listed(kept, tmp_path):
    kept.tree("boot", GOOD)
    kept.start()
    finish(kept, "boot")
    kept.stop()
    (tmp_path / "state/history/boot.7.journal").write_text("what?\n")
    kept.start()
    run = {run["id"]: run for run in json.loads(kept.btctl("history", "boot", "--json").stdout)}["boot.7"]
    assert (run["status"], run["cause"]) == ("damaged", "it is not a run record")
    refuse(kept.btctl("show", "boot.7"), "boot.7: it is not a run record")


def test_a_record_without_its_end_is_no_run_that_goes_on(kept, tmp_path):
    kept.tree("boot", GOOD)
    kept.start()
    finish(kept, "boot")
    kept.stop()
    record = tmp_path / "state/history/boot.1.journal"
    record.write_bytes(record.read_bytes()[:-20])

    def look(ask):
        run, = json.loads(ask("history", "boot", "--json").stdout)
        assert (run["status"], run["cause"]) == ("damaged", "the end of its run record is missing")
        shown = ask("show", "boot.1")
        assert shown.returncode == 1
        assert shown.stderr.endswith(": the end of its run record is missing; only what happened before is shown\n")

    look(lambda *operands: btctl(*operands, f"--directory={tmp_path}/state"))
    kept.start()
    look(kept.btctl)


def test_without_a_record(btd):
    """Where the daemon has no directories for them."""
    btd.tree("boot", LONG)
    btd.start()
    btd.client.start("boot")
    assert btd.btctl("history") == (0, "no run has finished yet\n", "")
    refuse(btd.btctl("show", "boot"), "run 'boot.1' has no run record, because btd was started without --runtime=")


def test_a_journal_that_was_lost(kept, tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run/runs").write_text("")
    kept.tree("boot", LONG)
    kept.start()
    kept.client.start("boot")
    refuse(kept.btctl("show", "boot"), f"run 'boot.1' has no run record: {tmp_path}/run/runs cannot be created: Not a directory")


def test_long_records_come_in_parts(kept):
    """... of which none keeps the daemon from its work for long."""
    text = "x" * 700000
    kept.tree("boot", GOOD, blackboard={"text": text}, description=text)
    kept.start()
    finish(kept, "boot")

    parts = kept.client.record("boot.1")
    assert re.match(rb"btd-journal \d+ {", parts[0])
    assert {len(part) for part in parts[:-1]} == {1 << 17} and len(parts) > 10
    assert kept.client.record_part("boot.1", 2**64 - 1) == b""
    assert "success" in kept.btctl("show", "boot.1").stdout


def test_a_mapped_record(btd, tmp_path):
    """In memory, the file of a run with many inputs is longer than its entries, until the run has finished."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as memory:
        places = f"--runtime={memory}", f"--state={tmp_path}/state"
        rounds = {"type": "Repeat", "name": "Rounds", "num_cycles": 500, "child":
                  {"type": "Timeout", "timeout": "1h", "child": {"type": "AlwaysSuccess", "name": "Step"}}}
        gate = {"type": "WaitFor", "name": "Gate", "child": {"type": "Condition", "name": "Open", "test": "open"}}
        btd.tree("boot", {"type": "Sequence", "name": "Boot", "children": [rounds, gate]}, blackboard={"open": False})
        btd.start(*places)
        path = btd.client.start("boot")[1]
        btd.client.wait_node(path, "Rounds", "success")
        record = pathlib.Path(memory, "runs", "boot.1.journal")
        assert record.read_bytes().endswith(b"\0")

        parts = btd.client.record("boot.1")
        assert b"\0" not in b"".join(parts) and parts[-1].endswith(b"\n")
        assert btd.btctl("show", "boot").stdout.splitlines()[1:-1] == btctl("show", str(record))[1].splitlines()[1:-1]

        btd.stop(signal.SIGKILL)
        btd.start(*places)
        btd.client.wait_running()
        btd.client.set_variables(path, open=True)
        assert btd.client.finish(path)
        story = btd.btctl("show", "boot.1").stdout
        assert story.count("Step: success") == 500 and "Gate: success" in story


@pytest.mark.parametrize("run", ["", ".", "..", "../history/boot.1", "/etc/passwd", "boot.1/", "a" * 300])
def test_no_other_files_are_read(kept, run):
    kept.tree("boot", GOOD)
    kept.start()
    finish(kept, "boot")
    with pytest.raises(DBusError) as error:
        kept.client.manager("GetRecord", "st", run, 0)
    assert error.value.name == "org.btd1.Error.NoSuchRun"
