# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests run records: show, replay, plot and history, of running and finished runs, and from files."""

import json
import os
import pathlib
import random
import re
import signal
import time
import xml.etree.ElementTree as xml
import zlib

import pytest

from btctl_runs import BAD, GOOD, LONG, SOURCE, UTF8, btctl
from client import DBusError
from records import sign

JOURNALS = pathlib.Path(SOURCE, "tests", "journals")
# One of each version of the format at least, named after it: what was once written can always be read.
STORED = sorted(JOURNALS.glob("*.journal"))
MANAGER = "org.btd1.Manager"
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def kept(btd, tmp_path):
    """A daemon that keeps journals; start() starts it, again after a stop()."""
    start = btd.start
    btd.start = lambda: start(f"--runtime={tmp_path}/run", f"--state={tmp_path}/state")
    return btd


def refuse(result, message, code=1):
    hint = "Try 'btctl --help'.\n" if code == 2 else ""
    assert result == (code, "", f"btctl: {message}\n{hint}")


def event_lines(text):
    """Returns the lines of an event log without times and durations."""
    return [re.sub(r" (after|for) [0-9.]+[a-z]+", "", line[10:]) for line in text.splitlines()]


def finish(btd, tree, *arguments):
    path = btd.client.start(tree, *arguments)[1]
    return btd.client.finish(path)


@pytest.mark.parametrize("journal", STORED, ids=lambda path: path.stem)
def test_stored_journals_can_be_read(journal):
    assert journal.name.split("-")[0].isdigit()
    assert btctl("show", str(journal), "--ascii", "-q") == (0, journal.with_suffix(".events").read_text(), "")


def kinds(record):
    return [line.split()[1].decode() for line in record.splitlines()[1:]]


def test_stored_journals_have_all_kinds():
    """... of records of the current version; else tests/journals/make.py makes too few."""
    source = pathlib.Path(SOURCE, "daemon", "record")
    version = re.search(r"#define RECORD_VERSION (\d+)u", (source / "record-header.h").read_text())[1]
    known = set(re.findall(r'\[ENTRY_\w+\] = "([a-z-]+)"', (source / "entry.c").read_text()))
    stored = {kind for journal in STORED if journal.name.startswith(version + "-")
              for kind in kinds(journal.read_bytes())}
    assert len(known) > 25 and stored == known


@pytest.mark.parametrize("journal", [journal for journal in STORED if kinds(journal.read_bytes())[-1] != "finished"],
                         ids=lambda path: path.stem)
def test_stored_journals_are_recovered(kept, tmp_path, journal):
    """As if the run had gone on here until now: it is as it was, and can be halted."""
    boot = pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip().replace("-", "")
    record = journal.read_bytes()
    start = time.monotonic_ns() // 1000 - int(record.splitlines()[-1].split()[0])
    record = re.sub(rb'"boot":"[0-9a-f]+"', b'"boot":"%s"' % boot.encode(), record, count=1)
    record = sign(re.sub(rb'"start":\d+', b'"start":%d' % start, record, count=1))
    run = json.loads(record.split(b" ", 2)[2].rsplit(b" ", 1)[0].splitlines()[0].rsplit(b" ", 1)[0])["run"]
    (tmp_path / "run/runs").mkdir(parents=True)
    (tmp_path / f"run/runs/{run}.journal").write_bytes(record)
    before = json.loads(btctl("replay", str(journal), "--json").stdout)

    kept.start()
    assert "cannot be recovered" not in kept.log()
    after = json.loads(kept.btctl("status", run, "--json").stdout)
    assert after["status"] == before["status"]
    if "long" not in journal.stem:  # it goes on at once
        assert [(node["path"], node["status"]) for node in after["nodes"]] == \
            [(node["path"], node["status"]) for node in before["nodes"]]
    if run == "slow.1":  # it has a leaf that nobody stops
        kept.stop(signal.SIGKILL)
        kept.process = None
    else:
        assert kept.btctl("halt", run, "--wait").returncode == 0


def test_replay_of_a_file():
    journal = str(JOURNALS / "1-commission.journal")
    early = btctl("replay", journal, "--until=20ms", "--ascii").stdout
    assert "`- x Send (Spawn) after 4.8ms: exited with status 75\n" in early
    assert ("* Upload (RetryUntilSuccessful) for 16.6ms, attempt 2 of 2; before: exited with status 75; "
            "continues in 8.22ms\n") in early
    assert "|- - Prepare (ParallelAll)\n" in early

    waiting = btctl("replay", journal, "--until=50ms", "--ascii").stdout
    assert "|- * Lamp (Sleep) for 17.9ms, waits for the lock 'bench'\n" in waiting
    assert "`- * Soon (Timeout) for 17.9ms, times out in 12.1ms\n" in waiting

    stopped = btctl("replay", journal, "--until=0.5s", "--ascii").stdout
    assert stopped.startswith("= commission.1: paused for 500ms\n")
    assert "|- - Watch (WhileDoElse): paused at a breakpoint\n" in stopped

    end = btctl("replay", journal, "--ascii").stdout
    assert end == btctl("replay", journal, "--ascii", "--until=end").stdout
    assert end == btctl("replay", journal, "--ascii", "--until=1h").stdout
    assert end.startswith("# commission.1: halted after 849ms\n")
    assert "    Cause: halted by UID 0 (btctl)\n" in end

    run = json.loads(btctl("replay", journal, "--json").stdout)
    assert run["status"] == "halted" and run["cause_chain"][0]["kind"] == "halted"
    assert [node["name"] for node in run["nodes"] if node["status"] == "halted"] == \
        ["Commission", "Never", "Work", "Burn", "Soak"]


def test_event_log_as_json():
    events = [json.loads(line) for line in
              btctl("show", str(JOURNALS / "1-commission.journal"), "--json").stdout.splitlines()]
    assert events[0] == {"offset_usec": 2021, "event": "started", "run": "commission.1", "text": "by UID 0 (btctl)",
                         "variables": {"device": "cam7"}}
    assert [event["variables"] for event in events if event["event"] == "set"] == \
        [{"report": "cam7 rev 2"}, {"calm": False}]
    failed = [event for event in events if event["event"] == "failure" and event["path"].endswith("/Send")]
    assert [event["text"] for event in failed] == 2 * ["exited with status 75"]
    assert events[-1] == {"offset_usec": 848993, "event": "halted", "run": "commission.1", "duration_usec": 848993,
                          "text": "halted by UID 0 (btctl)"}


def bars(svg):
    return [bar.find(SVG + "title").text for bar in xml.fromstring(svg).iter(SVG + "rect") if bar.find(SVG + "title") is not None]


def test_plot_of_a_file():
    svg = btctl("plot", str(JOURNALS / "1-commission.journal")).stdout
    drawn = bars(svg)
    assert [bar for bar in drawn if bar.startswith("Send:")] == [
        "Send: failure, from 3.42ms for 4.8ms: exited with status 75",
        "Send: failure, from 30.7ms for 1.42ms: exited with status 75"]
    assert "Work: halted, from 583ms for 29.5ms: stopped by Commission/Watch" in drawn
    assert "halted after 849ms: halted by UID 0 (btctl)" in svg
    assert "<title>paused, at 320ms</title>" in svg
    for word in "success", "failure", "halted", "skipped", "critical path: what the run waited for":
        assert f">{word}</text>" in svg
    assert ">running</text>" not in svg


def test_trace_of_a_file():
    trace = json.loads(btctl("plot", str(JOURNALS / "1-commission.journal"), "--format=trace").stdout)
    sends = [event for event in trace["traceEvents"] if event["ph"] == "X" and event["name"] == "Send"]
    assert [(event["dur"], event["args"]["cause"]) for event in sends] == \
        [(4795, "exited with status 75"), (1422, "exited with status 75")]
    marks = [event for event in trace["traceEvents"] if event["ph"] == "i"]
    assert [event["name"] for event in marks] == ["paused", "stepped", "resumed", "resumed", "set", "halting"]
    assert marks[-1]["args"] == {"detail": "halted by UID 0 (btctl)"}
    assert marks[-1]["ts"] == 1795278574295816 and marks[-1]["s"] == "p"


@pytest.mark.parametrize("verb", ["show", "replay", "plot"])
def test_bad_files(verb, tmp_path):
    good = (JOURNALS / "1-commission.journal").read_bytes()
    path = tmp_path / "x.journal"

    def check(content, message):
        path.write_bytes(content)
        result = btctl(verb, str(path))
        assert (result.returncode, result.stderr) == (1, f"btctl: {path}: {message}\n")

    refuse(btctl(verb, "./nothing"), "./nothing: cannot be read: No such file or directory")
    refuse(btctl(verb, "nothing.journal"), "nothing.journal: cannot be read: No such file or directory")
    check(b"", "it is empty")
    check(b"{}\n", "it is not a run record")
    check(good.replace(b"cam7", b"cam8", 1), "its first line does not fit its checksum")
    check(good.replace(b"cam7 rev 2", b"cam8 rev 2"), "line 5: it does not fit its checksum")
    assert btctl(verb, str(path)).stdout == ""


def test_bad_options():
    journal = str(JOURNALS / "1-commission.journal")
    refuse(btctl("replay", journal, "--until=soon"),
           "--until: 'soon' is neither a time span such as '90s' or '1h 30min' nor 'end'", 2)
    refuse(btctl("plot", journal, "--format=png"), "--format: 'png' is neither 'svg' nor 'trace'", 2)
    refuse(btctl("show", journal, "--format=svg"), "'show' takes no option '--format'", 2)
    refuse(btctl("show"), "'show' needs an operand: btctl show TREE|RUN|FILE", 2)


def test_a_journal_that_breaks_off(tmp_path):
    """The log has all known events, and the status at the end."""
    good = (JOURNALS / "1-commission.journal").read_bytes()
    path = tmp_path / "x.journal"
    path.write_bytes(good[:good.index(b"380045 tick") + 9])
    assert event_lines(btctl("show", str(path), "-q", "--ascii").stdout)[-2:] == \
        ["> commission.1: stepped by one tick", "= commission.1: paused"]
    assert "= commission.1: paused for 380ms\n" in btctl("replay", str(path), "--ascii").stdout


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
    # The nodes of one tick come together.
    assert followed[3] == expected[1] and expected[0] in followed[1:3]
    assert event_lines(kept.btctl("show", "watch", "-q", env=UTF8).stdout)[2:5] == expected
    simulated = kept.btctl("simulate", f"{kept.trees}/watch.json", env=UTF8).stdout
    assert event_lines(simulated)[1:4] == [line.replace("watch.1", "watch") for line in expected]
    events = [json.loads(line) for line in
              kept.btctl("simulate", f"{kept.trees}/watch.json", "--json").stdout.splitlines()]
    assert events[2] == {"t": 0.0, "event": "ready"}


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
    kept.client.finish(kept.client.start("boot", "", {"text": json.dumps("x" * 1000), "n": "3"})[1])
    first = kept.btctl("show", "boot.1").stdout.splitlines()[1]
    assert 'text="' + "x" * 59 + "..., n=3" in first or 'n=3, text="' + "x" * 59 + "..." in first
    assert json.loads(kept.btctl("show", "boot.1", "--json").stdout.splitlines()[0])["variables"]["text"] == "x" * 1000


def with_snapshot(change):
    """The journal of a run that has gone on for long, with another snapshot at its beginning."""
    header, first, *rest = (JOURNALS / "2-patrol.journal").read_text(encoding="utf-8").split("\n")
    time, kind, snapshot = first.rsplit(" ", 1)[0].split(" ", 2)
    assert kind == "snapshot"
    line = f"{time} snapshot {json.dumps(change(json.loads(snapshot)), separators=(',', ':'))}"
    return "\n".join([header, f"{line} {zlib.crc32(line.encode()):08x}", *rest])


def test_a_journal_without_its_beginning(tmp_path):
    """Of a run that has gone on for long."""
    journal = str(JOURNALS / "2-patrol.journal")
    refuse(btctl("replay", journal, "--until=0.8s"), f"{journal}: no events from before 881ms are kept")
    early = btctl("replay", journal, "--until=0.9s", "--ascii").stdout
    assert "      `- * Rest (Timeout) for 7.93ms, times out in 992ms\n" in early
    assert "`- * Rounds (Repeat) for 900ms, round 33\n" in early
    assert "halted after 1.11s, drawn from 881ms on: halted by UID 0 (btctl)" in btctl("plot", journal).stdout


def test_a_run_that_goes_on_for_ever(btd, tmp_path):
    """It stays durable, and its journal short."""
    options = [f"--runtime={tmp_path}/run", f"--state={tmp_path}/state", "--limit=journal-kib=64"]
    journal = tmp_path / "run/runs/round.1.journal"
    btd.tree("round", {"type": "Repeat", "name": "Rounds", "num_cycles": -1, "child": {
        "type": "Sequence", "name": "Round", "children": [
            {"type": "Script", "code": "n = n + 1"}, {"type": "Log", "level": "debug", "message": "round {n}"},
            {"type": "Sleep", "name": "Nap", "duration": "1ms"}]}}, blackboard={"n": 0})
    btd.start(*options)
    _, path = btd.client.start("round")

    def rounds():
        return int(btd.client.call(path, "org.btd1.Run", "GetVariable", "s", "n"))

    for goal in 200, 400:
        while rounds() < goal:
            assert journal.stat().st_size < 20000
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
    journal = tmp_path / "x.journal"
    journal.write_text(with_snapshot(lambda snapshot: {**snapshot, "nodes": [[99] + [0] * 11]}), encoding="utf-8")
    refuse(btctl("show", str(journal), "-q"), f"{journal}: line 2: the snapshot does not fit the tree")
    journal.write_text(with_snapshot(lambda snapshot: []), encoding="utf-8")
    refuse(btctl("show", str(journal), "-q"), f"{journal}: line 2: '881180 snapshot []' is not known")

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

    for _ in range(200):
        journal.write_text(with_snapshot(spoil), encoding="utf-8")
        assert btctl("show", str(journal), "-q").returncode in (0, 1), journal.read_text(encoding="utf-8")


def test_history(kept):
    kept.tree("boot", BAD)
    kept.tree("net", GOOD)
    kept.tree("idle", GOOD)
    kept.start()
    assert kept.btctl("history") == (0, "no run has finished yet\n", "")
    assert kept.btctl("history", "idle") == (0, "no run of tree 'idle' has finished yet\n", "")
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


def test_history_survives_the_daemon(kept):
    """The tree may be gone by then, too."""
    kept.tree("boot", GOOD)
    kept.start()
    finish(kept, "boot")
    file = kept.tree("boot", BAD)
    kept.client.manager("Reload")
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
    refuse(kept.btctl("status", "boot.3"), "no run 'boot.3'; 'btctl list' shows those that there are")
    kept.tree("boot", GOOD)
    kept.client.manager("Reload")
    assert "     Runs: none now; the last was boot.2: failure, see 'btctl show boot.2'\n" \
        in kept.btctl("status", "boot").stdout
    kept.tree("idle", GOOD)
    kept.client.manager("Reload")
    assert "     Runs: none\n" in kept.btctl("status", "idle").stdout
    for operand in "boot", "boot.2":
        assert kept.btctl("show", operand, "-q").stdout == told


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


@pytest.mark.parametrize("years", [-50, 50])
def test_the_clock_was_set(kept, tmp_path, years):
    """... after the run had been started: how long something took does not depend on that."""
    kept.tree("boot", LONG)
    kept.start()
    path = kept.client.start("boot")[1]
    kept.stop(signal.SIGKILL)
    journal = tmp_path / "run/runs/boot.1.journal"
    journal.write_bytes(sign(re.sub(
        rb'"started":(\d+)', lambda match: b'"started":%d' % (int(match[1]) - years * 31557600 * 10**6),
        journal.read_bytes(), count=1)))

    kept.start()
    spans = [re.search(pattern, kept.btctl(*arguments).stdout).group(1) for arguments, pattern in [
        (["status", "boot"], r"boot.1: running for (\S+)\n"),
        (["replay", "boot"], r"boot.1: running for (\S+)\n"),
        (["show", "boot"], r"boot.1: running for (\S+)\n$"),
        (["plot", "boot"], r">running for (\S+)</text>")]]
    kept.btctl("halt", "boot", "--wait")
    assert kept.client.run_property(path, "Status") == "halted"
    spans += [re.search(pattern, text).group(1) for text, pattern in [
        (kept.log(), r"boot.1: halted after (\S+):"),
        (kept.btctl("status", "boot").stdout, r"boot.1: halted after (\S+)\n"),
        (kept.btctl("history").stdout, r"boot.1 .* (\S+)  halted by")]]
    assert all(re.fullmatch(r"[0-9.]+m?s", span) for span in spans), spans


def test_damaged_journals_are_listed(kept, tmp_path):
    kept.tree("boot", GOOD)
    kept.start()
    finish(kept, "boot")
    kept.stop()
    (tmp_path / "state/history/boot.7.journal").write_text("what?\n")
    kept.start()
    run = {run["id"]: run for run in json.loads(kept.btctl("history", "boot", "--json").stdout)}["boot.7"]
    assert (run["status"], run["cause"]) == ("damaged", "it is not a run record")
    refuse(kept.btctl("show", "boot.7"), "boot.7: it is not a run record")


def test_without_a_journal(btd):
    """Where the daemon has no directories for them."""
    btd.tree("boot", LONG)
    btd.start()
    btd.client.start("boot")
    assert btd.btctl("history") == (0, "no run has finished yet\n", "")
    refuse(btd.btctl("show", "boot"), "run 'boot.1' has no run record, since btd was started without --runtime=")


def test_a_journal_that_was_lost(kept, tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run/runs").write_text("")
    kept.tree("boot", LONG)
    kept.start()
    kept.client.start("boot")
    refuse(kept.btctl("show", "boot"), f"run 'boot.1' has no run record: {tmp_path}/run/runs cannot be made: Not a directory")


def test_long_journals_come_in_parts(kept):
    """... of which none keeps the daemon from its work for long."""
    text = "x" * 700000
    kept.tree("boot", GOOD, blackboard={"text": text}, description=text)
    kept.start()
    finish(kept, "boot")

    parts, offset = [], 0
    while part := bytes(kept.client.manager("GetJournal", "st", "boot.1", offset)):
        parts.append(part)
        offset += len(part)
    assert parts[0].startswith(b"btd-journal 3 {")
    assert {len(part) for part in parts[:-1]} == {1 << 17} and len(parts) > 10
    assert bytes(kept.client.manager("GetJournal", "st", "boot.1", 2**64 - 1)) == b""
    assert "success" in kept.btctl("show", "boot.1").stdout


@pytest.mark.parametrize("run", ["", ".", "..", "../history/boot.1", "/etc/passwd", "boot.1/", "a" * 300])
def test_no_other_files_are_read(kept, run):
    kept.tree("boot", GOOD)
    kept.start()
    finish(kept, "boot")
    with pytest.raises(DBusError) as error:
        kept.client.manager("GetJournal", "st", run, 0)
    assert error.value.name == "org.btd1.Error.NoSuchRun"
