# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the numbered events of runs: on the bus, in run records, and in btctl follow; each event once, in order."""

import itertools
import json
import re
import signal

import pytest

from btctl_runs import UTF8, begin
from client import Client, DBusError, look, variants, wait
from records import sign

RUN = "org.btd1.Run"

LIST = {"type": "Sequence", "name": "Top", "children": [
    {"type": "Log", "name": "Say", "message": "now", "level": "warning"},
    {"type": "Script", "name": "Compute", "code": "n = 2"},
    {"type": "ForEach", "name": "All", "items": [1, 2, 3], "as": "i",
     "child": {"type": "Sequence", "name": "Each", "children": [
         {"type": "Sleep", "name": "Wait", "duration": "1ms"},
         {"type": "Condition", "name": "Odd", "test": "i ~= 2"}]}}]}


def received(btd, path):
    """The events of the signals."""
    return [event for s in btd.client.signals if s.member == "Events" and s.path == path for event in s.args[1]]


def read(btd, run, after=0):
    """The events of all answers."""
    events = []
    while (part := btd.client.manager("GetEvents", "st", run, after)):
        events += part
        after = part[-1]["number"]
    return events


END = 2**64 - 1


def nodes_after(btd, run, event):
    """The nodes of a run as they were after an event, and that moment."""
    return btd.client.manager("GetNodes", "sta{sv}", run, event, {})


def variables_after(btd, run, event):
    return btd.client.manager("GetVariables", "sta{sv}", run, event, {})


def statuses(nodes):
    return [node[4] for node in nodes]


def run_list(btd, tmp_path, subscribe=True, tree=LIST):
    btd.tree("list", tree, blackboard={"n": 0})
    btd.start(f"--runtime={tmp_path}/run", f"--state={tmp_path}/state")
    btd.client.subscribe()
    if subscribe:
        btd.client.manager("SubscribeEvents")
    run, path = btd.client.start("list", variables={"n": 1})
    btd.client.wait_signal("Ended", lambda s: s.path == path)
    return run, path


def test_signals_have_what_the_record_has(btd, tmp_path):
    run, path = run_list(btd, tmp_path)
    events = received(btd, path)
    assert [event["number"] for event in events] == list(range(1, len(events) + 1))
    assert events == read(btd, run)
    assert events[3:] == read(btd, run, 3)
    assert events[0] == {"number": 1, "time": events[0]["time"], "offset": events[0]["offset"], "event": "started",
                         "text": events[0]["text"], "variables": {"n": 1}}
    assert events[0]["time"] - events[0]["offset"] == btd.client.run_property(path, "Started")
    of_say = [event for event in events if event.get("path") == "Top/Say"]
    assert [(event["event"], event.get("status"), event.get("text")) for event in of_say] == [
        ("log", None, "warning: now"), ("success", "success", None)]
    assert [event["variables"] for event in events if event["event"] == "set"] == [
        {"n": 2}, {"i": 1}, {"i": 2}]
    assert events[-1]["status"] == "failure" and "node" not in events[-1]
    assert events[-1]["text"] == btd.client.run_property(path, "Cause")
    assert not [s for s in btd.client.signals if s.member == "NodesChanged"]


def test_signals_are_for_subscribers(btd, tmp_path):
    run, path = run_list(btd, tmp_path, subscribe=False)
    assert received(btd, path) == []
    assert read(btd, run)[-1]["event"] == btd.client.run_property(path, "Status")
    btd.client.manager("SubscribeEvents")
    btd.client.manager("Unsubscribe")
    _, path = btd.client.start("list")
    btd.client.wait_signal("Ended", lambda s: s.path == path)
    assert received(btd, path) == []


def test_who_comes_later_reads_the_rest(btd, tmp_path):
    """The signals go on with the number behind the answer."""
    btd.tree("long", {"type": "Sequence", "name": "Top", "children": [
        {"type": "Sleep", "name": "First", "duration": "1ms"}, {"type": "Sleep", "name": "Long", "duration": "1h"}]})
    btd.start(f"--runtime={tmp_path}/run", f"--state={tmp_path}/state")
    btd.client.subscribe()
    run, path = btd.client.start("long")
    btd.client.wait_node(path, "Long", "running")
    btd.client.manager("SubscribeEvents")
    before = read(btd, run)
    assert before[-1]["path"] == "Top/Long"
    btd.client.call(path, RUN, "Pause")
    btd.client.call(path, RUN, "Halt", "a{sv}", {})
    btd.client.wait_signal("Ended", lambda s: s.path == path)
    events = before + received(btd, path)
    assert [event["event"] for event in events[len(before):]] == ["paused", "halting", "halted", "halted", "halted"]
    assert events == read(btd, run)


def test_events_say_who(btd, tmp_path):
    """Also those of the record, after a restart, and in btctl."""
    btd.tree("long", {"type": "Sleep", "name": "Top", "duration": "1h"}, blackboard={"n": 0})
    options = f"--runtime={tmp_path}/run", f"--state={tmp_path}/state"
    btd.start(*options)
    btd.client.subscribe()
    btd.client.manager("SubscribeEvents")
    run, path = btd.client.start("long")
    btd.client.wait_node(path, "Top", "running")
    before = len(read(btd, run))
    for values in {}, {"n": 7}:  # to set nothing is no event
        btd.client.call(path, RUN, "SetVariables", "a{sv}", variants(values))
    for verb in "pause", "resume":
        assert btd.btctl(verb, "long").returncode == 0
    for value in True, False:
        btd.client.call(path, RUN, "SetBreakpoint", "ub", 0, value)
    wait(lambda: received(btd, path) and received(btd, path)[-1]["event"] == "cleared", "the events")
    events = read(btd, run)
    assert events == received(btd, path)
    assert [event["event"] for event in events[before:]] == ["set", "paused", "resumed", "breakpoint", "cleared"]
    assert all(re.fullmatch(r"by UID \d+ \(.*\)", event["text"]) for event in events[before:])
    assert events[before]["variables"] == {"n": 7}
    btd.stop(9)
    btd.start(*options)
    btd.client.wait_running()
    assert read(btd, run)[:len(events)] == events
    shown = btd.btctl("show", run, "--quiet").stdout
    assert re.search(r": set by UID \d+ \(.*\), n=7\n", shown)
    assert re.search(r": paused by UID \d+ \(btctl\)\n", shown)
    assert re.search(r": breakpoint removed by UID ", shown)


def test_after_a_restart_the_numbers_go_on(btd, tmp_path):
    """Also for a run that only the history has."""
    btd.tree("long", {"type": "Sequence", "name": "Top", "children": [
        {"type": "Log", "message": "x"}, {"type": "Sleep", "name": "Long", "duration": "1h"}]})
    options = f"--runtime={tmp_path}/run", f"--state={tmp_path}/state"
    btd.start(*options)
    btd.client.subscribe()
    btd.client.manager("SubscribeEvents")
    run, path = btd.client.start("long")
    wait(lambda: received(btd, path), "events")
    btd.stop(9)
    btd.start(*options)
    btd.client.wait_running()
    before = read(btd, run)
    known = received(btd, path)
    assert before[:len(known)] == known
    assert [event["event"] for event in before[len(known):]] == ["recovered"]
    btd.client.signals.clear()
    btd.client.manager("SubscribeEvents")
    btd.client.call(path, RUN, "Halt", "a{sv}", {})
    btd.client.wait_signal("Ended", lambda s: s.path == path)
    events = read(btd, run)
    assert events == before + received(btd, path)
    assert [event["number"] for event in events] == list(range(1, len(events) + 1))
    btd.stop()
    btd.start(*options)
    btd.client.wait_running()
    assert read(btd, run) == events


def test_a_long_value_is_shortened(btd, tmp_path):
    btd.tree("one", {"type": "Sleep", "duration": "1h"}, blackboard={"text": "", "n": 0})
    btd.start(f"--runtime={tmp_path}/run")
    run, path = btd.client.start("one")
    for length in (5000, 100000):
        btd.client.call(path, RUN, "SetVariables", "a{sv}", variants({"text": "x" * length, "n": 7}))
        event = read(btd, run)[-1]
        assert (event["event"], event["variables"]) == ("set", {"n": 7})
        assert event["long_variables"] == {"text": '"' + "x" * 59 + "..."}


def test_without_a_record(btd):
    btd.tree("one", {"type": "Sleep", "duration": "1h"})
    btd.start()
    run, _ = btd.client.start("one")
    with pytest.raises(DBusError) as refused:
        read(btd, run)
    assert refused.value.name == "org.btd1.Error.NoSuchRun"
    assert refused.value.message == "run 'one.1' has no run record, because btd was started without --runtime="
    for name, call in itertools.product(("none.1", "x" * 100000), (read, nodes_after, variables_after)):
        with pytest.raises(DBusError) as refused:
            call(btd, name, 0)
        assert refused.value.name == "org.btd1.Error.NoSuchRun"
        assert refused.value.message.startswith("there is no run record of a run '")


@pytest.mark.parametrize("damage, why", [
    (lambda text: text.replace(b"tick", b"tack", 1),
     "line 3: it does not match its checksum, or lines before it are missing"),
    (lambda text: sign(re.sub(rb"(?m)^.* begin .*\n", b"", text, count=1)),
     "line 3: after this line, the run requests 'begin' of node #1, which is not recorded")], ids=["checksum", "sense"])
def test_a_damaged_record(btd, tmp_path, damage, why):
    run, path = run_list(btd, tmp_path)
    btd.stop()
    [record] = tmp_path.glob(f"state/**/{run}.journal")
    record.write_bytes(damage(record.read_bytes()))
    btd.start(f"--runtime={tmp_path}/run", f"--state={tmp_path}/state")
    btd.client.wait_running()
    for call in read, nodes_after, variables_after:
        with pytest.raises(DBusError) as refused:
            call(btd, run, 100)
        assert refused.value.message == f"the run record of {run} cannot be read: {why}"


def test_nodes_of_a_run_of_the_history(btd, tmp_path):
    """At the end they are what the run itself told last."""
    *others, each = LIST["children"]
    run, path = run_list(btd, tmp_path, tree={**LIST, "children": [*others, {**each, "concurrency": 2}]})
    nodes, variables = btd.client.call(path, RUN, "GetNodes"), btd.client.variables(path)
    last = read(btd, run)[-1]
    moment = {"number": last["number"], "time": last["time"], "offset": last["offset"], "status": "failure",
              "cause": btd.client.run_property(path, "Cause")}
    assert last["time"] == btd.client.run_property(path, "Finished")
    assert len([node for node in nodes if "element" in node[7]]) == 2
    for _ in range(2):
        for event in END, last["number"]:
            assert nodes_after(btd, run, event) == (nodes, moment)
            assert variables_after(btd, run, event) == variables
        nothing, moment_before = nodes_after(btd, run, 0)
        assert moment_before == {"number": 0, "time": last["time"] - last["offset"], "offset": 0, "status": "running",
                                 "cause": ""}
        assert nothing == [(*node[:4], "idle", 0, 0, {k: v for k, v in node[7].items() if k == "title"})
                           for node in nodes]
        btd.stop()
        btd.start(f"--runtime={tmp_path}/run", f"--state={tmp_path}/state")
        btd.client.wait_running()
    with pytest.raises(DBusError):
        btd.client.call(path, RUN, "GetNodes")


def test_nodes_of_an_earlier_moment(btd, tmp_path):
    """They are those that btctl replay draws then."""
    run, _ = run_list(btd, tmp_path)
    events = read(btd, run)
    seen = set()
    for event, following in zip(events, [*events[1:], None]):
        nodes, moment = nodes_after(btd, run, event["number"])
        assert (moment["offset"], moment["time"]) == (event["offset"], event["time"])
        assert moment["number"] >= event["number"]
        if following and following["offset"] == event["offset"]:
            continue
        assert moment["number"] == event["number"]
        replayed = json.loads(btd.btctl("replay", run, f"--until={event['offset']}us", "--json").stdout)
        assert statuses(nodes) == [node["status"] for node in replayed["nodes"]]
        assert moment["status"] == replayed["status"]
        seen.add(tuple(statuses(nodes)))
    assert len(seen) > 3
    [number] = [event["number"] for event in events if event.get("variables") == {"n": 2}]
    assert variables_after(btd, run, 1)["n"] == 1
    assert variables_after(btd, run, number)["n"] == 2


def test_nodes_of_a_run_that_goes_on(btd, tmp_path):
    btd.tree("one", {"type": "Sequence", "children": [
        {"type": "AlwaysSuccess"}, {"type": "Sleep", "duration": "1h"}]})
    btd.start(f"--runtime={tmp_path}/run")
    run, path = btd.client.start("one")
    btd.client.wait_node(path, "Sleep", "running")
    before = btd.client.run_property(path, "LastEvent")
    btd.client.call(path, RUN, "Pause")
    after = btd.client.run_property(path, "LastEvent")
    for event, number, status in (before, before, "running"), (after, after, "paused"), (END, after, "paused"):
        nodes, moment = nodes_after(btd, run, event)
        assert (moment["number"], moment["status"]) == (number, status)
        assert statuses(nodes) == statuses(btd.client.call(path, RUN, "GetNodes")) == ["running", "success", "running"]
        assert nodes[2][7] == {"title": "1h"}  # only the leaf itself knows for how long it sleeps


def test_moments_that_are_not_kept(btd, tmp_path):
    btd.tree("nap", {"type": "Sleep", "duration": "1h"}, blackboard={"n": 0, "pad": ""})
    btd.start(f"--runtime={tmp_path}/run", f"--state={tmp_path}/state", "--limit=journal-kib=64")
    run, path = btd.client.start("nap")
    btd.client.wait_node(path, "Sleep", "running")
    before = btd.client.run_property(path, "LastEvent")
    for n in itertools.count(1):
        btd.client.set_variables(path, n=n, pad="x" * 2000)
        if read(btd, run)[0]["event"] == "cut":
            break
    btd.client.halt(path)
    btd.client.finish(path)
    first = read(btd, run)[0]["number"]
    assert first > before
    nodes, moment = nodes_after(btd, run, first)
    assert (moment["number"], moment["status"], statuses(nodes)) == (first, "running", ["running"])
    assert variables_after(btd, run, first)["n"] == first - before
    for call, event in itertools.product((nodes_after, variables_after), (0, 1, first - 1)):
        with pytest.raises(DBusError) as refused:
            call(btd, run, event)
        assert refused.value.name == "org.btd1.Error.InvalidArgument"
        assert refused.value.message == \
            f"the events of {run} up to number {first} are not kept; give the number of this event or of a later one"
    assert nodes_after(btd, run, END)[0] == btd.client.call(path, RUN, "GetNodes")


def test_more_events_than_one_answer_has(btd, tmp_path):
    btd.tree("many", {"type": "Repeat", "num_cycles": 21, "child": {"type": "Sequence", "children": [
        {"type": "Sleep", "duration": "1us"}, *({"type": "AlwaysSuccess"} for _ in range(400))]}})
    btd.start(f"--runtime={tmp_path}/run", f"--state={tmp_path}/state")
    btd.client.subscribe(RUN)
    btd.client.manager("SubscribeEvents")
    run, path = btd.client.start("many")
    btd.client.wait_signal("Ended", lambda s: s.path == path)
    events = read(btd, run)
    assert len(events) > 8192
    assert [event["number"] for event in events] == list(range(1, len(events) + 1))
    by_number = {event["number"]: event for event in events}
    told = received(btd, path)
    assert told and all(by_number[event["number"]] == event for event in told)


def test_large_events_fit_into_a_message(btd_narrow_bus, tmp_path):
    """The bus would close the connection of btd otherwise: the first 1000 events have 13 MB, the last tick has 12."""
    btd = btd_narrow_bus
    names, rounds, n_burst = [f"v{i}" for i in range(20)], 200, 150
    btd.tree("heavy", {"type": "Sequence", "children": [
        {"type": "Repeat", "num_cycles": rounds, "child": {"type": "Sequence", "children": [
            {"type": "Sleep", "duration": "1us"},
            {"type": "Script", "code": " ".join(f"{name} = string.rep(n, 1000);" for name in names) + "n = n + 1"}]}},
        *({"type": "Script", "code": " ".join(f"{name} = string.rep({i}, 1000);" for name in names)}
          for i in range(1000, 1000 + n_burst)),
        {"type": "Script", "name": "Long", "code": "text = string.rep('\u00fc', 1200000)"},
        {"type": "Log", "name": "Say", "message": "{text}{text}"}]},
        blackboard={**{name: "" for name in names}, "n": 1000, "text": ""})
    btd.start(f"--runtime={tmp_path}/run", f"--state={tmp_path}/state")
    btd.client.subscribe(RUN)
    owner = btd.client.owner()
    btd.client.manager("SubscribeEvents")
    run, path = btd.client.start("heavy")
    assert btd.client.finish(path) == ("success", "")
    events = read(btd, run)
    assert [event["number"] for event in events] == list(range(1, len(events) + 1))
    sets = [event for event in events if event["event"] == "set"]
    assert len(sets) == rounds + n_burst + 1
    assert sets[0]["variables"] == {**{name: "1000" * 1000 for name in names}, "n": 1001}
    assert all(len(event["variables"]) + len(event.get("long_variables", {})) + event.get("more_variables", 0) ==
               (21 if event["number"] < sets[rounds]["number"] else 20) for event in sets[:-1])
    assert any("more_variables" in event for event in sets)
    [said] = [event["text"] for event in events if event["event"] == "log"]
    assert said == "\u00fc" * 2048 + "..."
    by_number = {event["number"]: event for event in events}
    told = received(btd, path)
    assert told and all(by_number[event["number"]]["event"] == event["event"] for event in told)
    assert btd.client.owner() == owner


@pytest.mark.both_buses("what it keeps for peers that do not read")
def test_many_subscribers_are_told_that_they_miss_events(btd, tmp_path):
    """Each of many may have only few unread events. So they miss a burst, and hear of it though nothing follows."""
    btd.tree("burst", {"type": "Sequence", "children": [
        {"type": "Sleep", "duration": "1us"}, *({"type": "AlwaysSuccess"} for _ in range(290)),
        {"type": "Sleep", "duration": "1h"}]})
    btd.start(f"--runtime={tmp_path}/run")
    clients = [Client(btd.bus.address) for _ in range(70)]
    for client in clients:
        client.subscribe(RUN)
        client.manager("SubscribeEvents")
    run, path = btd.client.start("burst")
    last = look(lambda: (n := btd.client.run_property(path, "LastEvent")) > 290 and n, "the burst")
    for client in clients:
        client.wait_signal("Events", lambda s: s.args[0] == last)
        client.close()


def lines(text):
    return text.splitlines()


def read_to_end(process):
    """As end(), after readline()."""
    rest = process.stdout.read()
    process.stdout.close()
    return process.wait(), rest


def test_follow_prints_what_show_prints(btd, tmp_path):
    """Also for a run that has finished, and for one that it has started itself."""
    btd.tree("list", LIST, blackboard={"n": 0})
    btd.start(f"--runtime={tmp_path}/run", f"--state={tmp_path}/state")
    started = btd.btctl("start", "list", "--follow", "--set", "n=1", env=UTF8)
    shown = btd.btctl("show", "list", "--quiet", env=UTF8)
    assert (started.returncode, started.stderr) == (1, "")
    assert lines(started.stdout) == lines(shown.stdout)
    assert sum("/Odd: failure" in line for line in lines(started.stdout)) == 1
    assert btd.btctl("follow", "list", env=UTF8) == started
    assert lines(btd.btctl("follow", "list.1", "--json").stdout) == lines(btd.btctl("show", "list", "--json").stdout)
    both = btd.btctl("follow", "list.1", "list.1", env=UTF8)
    assert both.returncode == 1 and " list.1 » Top/Say: " in both.stdout


def test_follow_prints_a_long_value(btd, tmp_path):
    """Only its beginning, which is no JSON."""
    btd.tree("one", {"type": "Script", "code": "text = string.rep('x', 5000); n = 7"}, blackboard={"text": "", "n": 0})
    btd.start(f"--runtime={tmp_path}/run", f"--state={tmp_path}/state")
    beginning = '"' + "x" * 59 + "..."
    assert f": set n=7, text={beginning}\n" in btd.btctl("start", "one", "--follow").stdout
    events = [json.loads(line) for line in btd.btctl("follow", "one", "--json").stdout.splitlines()]
    assert [(event["variables"], event["long_variables"]) for event in events if event["event"] == "set"] == [
        ({"n": 7}, {"text": beginning})]


def test_follow_outlasts_a_restart(btd, tmp_path):
    """Each event comes once, also those that happened while btd was away."""
    btd.tree("beats", {"type": "Repeat", "name": "Top", "num_cycles": 100, "child": {
        "type": "Sequence", "children": [{"type": "Sleep", "duration": "5ms"}, {"type": "Log", "message": "beat"}]}})
    options = f"--runtime={tmp_path}/run", f"--state={tmp_path}/state"
    btd.start(*options)
    run, path = btd.client.start("beats")
    process = begin(btd, "follow", "beats")
    monitor = begin(btd, "monitor", "--quiet")
    first = [process.stdout.readline() for _ in range(20)]
    assert monitor.stdout.readline()
    btd.stop(9)
    btd.start(*options)
    status, rest = read_to_end(process)
    shown = lines(btd.btctl("show", run, "--quiet", env=UTF8).stdout)
    assert status == 0
    followed = lines("".join(first) + rest)
    assert [line for line in followed if not line.startswith("btctl: ")] == shown
    assert sum("recovered" in line for line in shown) == 1
    assert [line for line in followed if line.startswith("btctl: ")] == [
        "btctl: btd has exited; waiting for it to start again", "btctl: btd was restarted; still waiting"]
    told = []
    while not told or " beats.1: success" not in told[-1]:
        told.append(monitor.stdout.readline())
    monitor.kill()
    read_to_end(monitor)
    told = [re.sub(r"^\S+ (beats\.1 (?=\S Top))?", "", line.rstrip("\n")) for line in told]
    assert told == [line[10:] for line in shown][-len(told):]


@pytest.mark.both_buses("what it keeps for peers that do not read")
def test_a_slow_follower_misses_nothing(btd, tmp_path):
    btd.tree("many", {"type": "Repeat", "name": "Top", "num_cycles": 60, "child": {"type": "Sequence", "children": [
        {"type": "Sleep", "duration": "1ms"}, *({"type": "AlwaysSuccess"} for _ in range(100))]}})
    btd.start(f"--runtime={tmp_path}/run", f"--state={tmp_path}/state")
    process = begin(btd, "start", "many", "--follow")
    first = process.stdout.readline()
    process.send_signal(signal.SIGSTOP)
    assert btd.client.finish("/org/btd1/run/many_2e1") == ("success", "")
    process.send_signal(signal.SIGCONT)
    status, rest = read_to_end(process)
    assert status == 0
    assert lines(first + rest) == lines(btd.btctl("show", "many", "--quiet", env=UTF8).stdout)


def test_a_follower_subscribes_again(btd, tmp_path, clock):
    """btd ends the subscription of a program that does not read for 30 s, as btctl before a full pipe."""
    btd.tree("many", {"type": "Sequence", "name": "Top", "children": [
        {"type": "Repeat", "num_cycles": 60, "child": {"type": "Sequence", "children": [
            {"type": "Sleep", "duration": "1ms"}, *({"type": "AlwaysSuccess"} for _ in range(100))]}},
        {"type": "Sleep", "name": "Wait", "duration": "1h"}]}, blackboard={"n": 0})
    btd.start(f"--runtime={tmp_path}/run", f"--state={tmp_path}/state", env=clock.env)
    process = begin(btd, "start", "many", "--follow", env=clock.env)
    printed = process.stdout.readline()
    process.send_signal(signal.SIGSTOP)
    btd.client.wait_node("/org/btd1/run/many_2e1", "Wait", "running")
    clock.advance(btd, 35)
    btd.wait_log("does not read its signals; its subscription has ended")
    process.send_signal(signal.SIGCONT)
    while "Top/Wait: running" not in printed:
        printed += process.stdout.readline()
    btd.client.set_variables("/org/btd1/run/many_2e1", n=7)
    while "n=7" not in printed:
        printed += process.stdout.readline()
    btd.client.call("/org/btd1/run/many_2e1", RUN, "Halt", "a{sv}", {})
    status, rest = read_to_end(process)
    assert status != 0
    assert lines(printed + rest) == lines(btd.btctl("show", "many", "--quiet", env=UTF8).stdout)


def test_events_that_cannot_be_read_are_said(btd):
    btd.tree("many", {"type": "Repeat", "name": "Top", "num_cycles": 60, "child": {"type": "Sequence", "children": [
        {"type": "Sleep", "duration": "1ms"}, *({"type": "AlwaysSuccess"} for _ in range(100))]}})
    btd.start()
    process = begin(btd, "start", "many", "--follow")
    first = process.stdout.readline()
    process.send_signal(signal.SIGSTOP)
    btd.client.finish("/org/btd1/run/many_2e1")
    process.send_signal(signal.SIGCONT)
    status, rest = read_to_end(process)
    assert status == 0 and first.endswith(" started by UID 0 (btctl)\n")
    assert ("btctl: some events of many.1 are missing here: run 'many.1' has no run record, because btd was started "
            "without --runtime=") in rest
    assert " many.1: success" in lines(rest)[-1]
