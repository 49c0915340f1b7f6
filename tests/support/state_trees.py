# SPDX-License-Identifier: LGPL-2.1-or-later
"""Has trees for tests whose runs reach every state that a run can have."""

HOUR = {"type": "Sleep", "duration": "1h"}
SUBTREES = {"visit": {
    "inputs": {"room": "string"}, "outputs": {"found": "string"}, "blackboard": {"tries": 0},
    "root": {"type": "Sequence", "name": "Visit", "children": [
        {"type": "Script", "code": "tries = tries + 1; found = room .. '!'"}, {**HOUR, "name": "Stay"}]}}}
BLACKBOARD = {"n": 0, "go": False, "rooms": ["hall", "lab", "roof"], "seen": "", "text": "so far", "items": ["a", "b"], "ticks": 0}


def named(name, node, **keys):
    return {**node, "name": name, **keys}


def decorated(kind, child, **keys):
    return {"type": kind, "child": child, **keys}


def control(kind, *children, **keys):
    return {"type": kind, "children": list(children), **keys}


# In the middle of everything that takes time, with something of all that is recorded behind it.
WORK = control(
    "ParallelAll",
    named("Limited", decorated("Timeout", named("Limit", HOUR), timeout="2h")),
    named("Again", decorated("RetryUntilSuccessful", named("Never", {"type": "AlwaysFailure"}), num_attempts=5,
                             backoff={"initial": "30min", "factor": 2, "jitter": 0.5})),
    named("Rooms", decorated("ForEach", {"type": "SubTree", "tree": "visit", "inputs": {"room": "{room}"},
                                         "outputs": {"found": "seen"}}, items="{rooms}", concurrency=2, **{"as": "room"})),
    named("Rounds", decorated("Repeat", control(
        "Sequence", {"type": "Script", "code": "n = n + 1"}, named("Round", {"type": "Sleep", "duration": "2ms"})),
        num_cycles=3)),
    named("First", {"type": "Sleep", "duration": "5ms"}, lock="desk"),
    named("Second", HOUR, lock="desk"),
    named("Third", HOUR, lock="desk"),
    named("While", control("ReactiveSequence", named("Few", {"type": "Condition", "test": "n < 9"}),
                           named("Meanwhile", HOUR))),
    named("Turned", control("Sequence", {"type": "Sleep", "duration": "1ms"}, control(
        "Parallel", control("ReactiveFallback", named("Not yet", {"type": "Condition", "test": "text == 'done'"}),
                            named("Until then", HOUR)),
        {"type": "Script", "code": "text = 'done'"}))),
    named("Wait", decorated("WaitFor", named("Go", {"type": "Condition", "test": "go"}))),
    named("Expired", decorated("Timeout", named("Too long", HOUR), timeout="3ms")),
    named("Later", decorated("Delay", named("Never yet", HOUR), delay="30min")),
    named("Items", decorated("Loop", named("Item", {"type": "Script", "code": "seen = seen .. item"}), queue="items",
                             variable="item")),
    named("Until", decorated("KeepRunningUntilFailure", {"type": "Script", "code": "ticks = ticks + 1",
                                                         "fail_if": "ticks > 1"})),
    named("Tell", {"type": "Log", "message": "part {n}", "level": "debug"}),
    named("Skip", HOUR, skip_if="not go"),
    name="Work", max_failures=-1)
PATH = "/dev/shm/btd-golden-record"
WATCH = control("ReactiveFallback", named("There", {"type": "PathExists", "path": PATH}), named("Meanwhile", HOUR),
                name="Watch")
# What is halted ends later, or never by itself.
SLOW = control("Parallel", named("Stubborn", HOUR, uninterruptible=True), named("Soon", HOUR),
               named("Tidy", control("Finally", named("Body", HOUR), named("Clean", HOUR))), name="Slow")
LOOP = decorated("Repeat", control(
    "Sequence", {"type": "Script", "code": "n = n + 1"}, decorated("Timeout", {"type": "Sleep", "duration": "1ms"},
                                                                   timeout="1s")), num_cycles=-1, name="Rounds")
BROKEN = control("Parallel", named("Long", HOUR), control("Sequence", {"type": "Sleep", "duration": "1ms"},
                                                          named("Wrong", {"type": "Script", "code": "n = nil + 1"})),
                 name="Broken")
RERUN = control("Sequence", named("Process", {
    "type": "Spawn", "as": "child", "argv": ["/bin/sleep", "20"], "on_recover": "rerun"}), name="Rerun")
# Times that continue while the machine is suspended: one of each kind that an hour ends, and one that lasts.
THROUGH = {"clock": "boottime"}
NIGHT = control("ParallelAll", named("Nap", {"type": "Sleep", "duration": "30min"}, **THROUGH),
                named("Sleep", {"type": "Sleep", "duration": "20y"}, **THROUGH),
                named("Limit", decorated("Timeout", named("Limited", HOUR), timeout="30min"), **THROUGH),
                named("Years", decorated("Timeout", named("Through", HOUR), timeout="20y"), **THROUGH),
                name="Night", max_failures=-1)
