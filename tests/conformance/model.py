# SPDX-License-Identifier: LGPL-2.1-or-later
"""A model of the recorded semantics, independent of the engine: the rules of BehaviorTree.CPP 4.10 as recorded, or btd's
rules where they differ. It runs trees of scripted leaves, in the format of the vectors."""

DEVIATIONS = frozenset(
    ["sticky-running", "stale-skip-count", "condition-not-reset", "precondition-latch", "parallel-exact-threshold"])
IDLE, RUNNING, SUCCESS, FAILURE, SKIPPED = "IDLE", "RUNNING", "SUCCESS", "FAILURE", "SKIPPED"
DONE = (SUCCESS, FAILURE)
OUTCOMES = {"R": RUNNING, "S": SUCCESS, "F": FAILURE, "K": SKIPPED}
CONTROLS = ("Sequence", "Fallback", "AsyncSequence", "AsyncFallback", "SequenceWithMemory", "ReactiveSequence",
            "ReactiveFallback", "Parallel", "ParallelAll", "IfThenElse", "WhileDoElse", "TryCatch")


class TreeError(Exception):
    pass


class Run:
    """own: btd's deviations that apply; none: the recorded semantics."""

    def __init__(self, tree, own=DEVIATIONS):
        self.own, self.events, self.woke, self.variables = own, [], False, {}
        self.root = Node(self, tree)

    def tick(self):
        status = self.root.tick()
        if status in DONE:
            self.root.state = IDLE
        return status

    def entry(self, status):
        entry = {"status": status, "events": self.events}
        if self.woke:
            entry["wake"] = True
        self.events, self.woke = [], False
        return entry


class Node:
    def __init__(self, run, tree):
        self.run, self.tree, self.type, self.state = run, tree, tree["type"], IDLE
        self.children = [Node(run, child) for child in tree.get("children", [])]
        self.own_tick = getattr(self, "tick_" + ("Switch" if self.type.startswith("Switch") else self.type))
        self.position = self.skipped = self.count = self.n = 0
        self.done, self.ran, self.latched, self.middle = {}, None, False, False

    # For all nodes.

    def tick(self):
        status = self.guard() or self.logic()
        if status != SKIPPED:
            self.state = status
        elif "sticky-running" in self.run.own:
            self.state = IDLE
        if status in DONE and "stale-skip-count" in self.run.own:
            self.skipped = 0
        if status in DONE:
            self.forget_rounds()
        return status

    def forget_rounds(self):
        """In btd, a skipped node is IDLE and is not halted, so its rounds are reset together with the node above it."""
        for child in self.children if "sticky-running" in self.run.own else ():
            if child.type in ("Repeat", "RetryUntilSuccessful"):
                child.count = 0
            child.forget_rounds()

    def guard(self):
        if self.state in DONE:
            return None
        for key, status in (("failure_if", FAILURE), ("success_if", SUCCESS), ("skip_if", SKIPPED)):
            if key in self.tree and self.state == IDLE and self.run.variables[self.tree[key]]:
                return status
        if "while" in self.tree and not self.run.variables[self.tree["while"]]:
            if self.state == RUNNING:
                self.halt()
            return SKIPPED
        return None

    def logic(self):
        if self.type in CONTROLS or self.type in ("Inverter", "ForceSuccess", "ForceFailure", "Repeat",
                                                  "RetryUntilSuccessful", "KeepRunningUntilFailure") or \
                (self.type == "RunOnce" and self.ran is None):
            fresh, self.state = self.state == IDLE, RUNNING
        else:
            fresh = self.state == IDLE
        status = self.own_tick(fresh)
        if len(self.children) == 1 and self.type not in CONTROLS and not self.type.startswith("Switch") and \
                self.children[0].state in DONE:
            self.children[0].state = IDLE
        return status

    def reset(self):
        if self.state == RUNNING:
            self.halt()
        elif "sticky-running" in self.run.own:
            self.count = 0
            self.forget_rounds()
        self.state = IDLE

    def reset_children(self, first=0):
        for child in self.children[first:]:
            child.reset()

    def halt(self):
        if self.type == "Leaf":
            if self.state == RUNNING:
                self.run.events.append("halt " + self.tree["name"])
        elif self.type == "TryCatch" and self.tree.get("catch_on_halt") and self.position < len(self.children) - 1 and \
                self.state != IDLE:
            for child in self.children[:-1]:
                child.reset()
            if self.children[-1].tick() == RUNNING:
                self.children[-1].halt()
        self.forget()
        self.reset_children()
        self.state = IDLE

    def forget(self):
        if self.type != "SequenceWithMemory":
            self.position = 0
        self.skipped = self.count = 0
        self.done = {}
        if "precondition-latch" in self.run.own:
            self.latched = False

    def tick_Leaf(self, fresh):
        outcomes = self.tree["outcomes"]
        status = OUTCOMES[outcomes[self.n % len(outcomes)]]
        self.n += 1
        self.run.events.append(f"tick {self.tree['name']} {status}")
        return status

    def wake(self):
        self.run.woke = True
        return RUNNING

    # Controls.

    def in_order(self, fresh, continue_on, yields=False, resumes=False):
        stop_on = FAILURE if continue_on == SUCCESS else SUCCESS
        if fresh:
            self.skipped = 0
        while self.position < len(self.children):
            child = self.children[self.position]
            in_one_go = child.state == IDLE
            status = child.tick()
            if status == RUNNING:
                return RUNNING
            if status == stop_on:
                if resumes:
                    self.reset_children(self.position)
                else:
                    self.reset_children()
                    self.position = 0
                return stop_on
            self.skipped += status == SKIPPED
            self.position += 1
            if yields and status == continue_on and in_one_go and self.position < len(self.children):
                return self.wake()
        everything = self.skipped == len(self.children)
        self.reset_children()
        self.position = self.skipped = 0
        return SKIPPED if everything else continue_on

    def tick_Sequence(self, fresh):
        return self.in_order(fresh, SUCCESS)

    def tick_Fallback(self, fresh):
        return self.in_order(fresh, FAILURE)

    def tick_AsyncSequence(self, fresh):
        return self.in_order(fresh, SUCCESS, yields=True)

    def tick_AsyncFallback(self, fresh):
        return self.in_order(fresh, FAILURE, yields=True)

    def tick_SequenceWithMemory(self, fresh):
        return self.in_order(fresh, SUCCESS, yields=True, resumes=True)

    def reactive(self, continue_on):
        skipped = 0
        for child in self.children:
            status = child.tick()
            if status == RUNNING:
                for other in self.children:
                    if other is not child:
                        other.reset()
                return RUNNING
            if status == SKIPPED:
                child.reset()
                skipped += 1
            elif status != continue_on:
                self.reset_children()
                return status
        self.reset_children()
        return SKIPPED if skipped == len(self.children) else continue_on

    def tick_ReactiveSequence(self, fresh):
        return self.reactive(SUCCESS)

    def tick_ReactiveFallback(self, fresh):
        return self.reactive(FAILURE)

    def threshold(self, key, default):
        count, n = self.tree.get(key, default), len(self.children)
        count = max(0, n + count + 1) if count < 0 else count
        if count > n:
            raise TreeError("threshold-exceeds-children")
        return count

    def tick_Parallel(self, fresh):
        need, limit = self.threshold("success_count", -1), self.threshold("failure_count", 1)
        n, skipped = len(self.children), 0
        for i, child in enumerate(self.children):
            if i not in self.done:
                status = child.tick()
                if status in DONE:
                    self.done[i] = status
                skipped += status == SKIPPED
            successes = sum(status == SUCCESS for status in self.done.values())
            failures = len(self.done) - successes
            failed = failures >= limit if "parallel-exact-threshold" in self.run.own else failures == limit
            decision = None
            if successes >= need or (self.tree.get("success_count", -1) < 0 and successes + skipped >= need):
                decision = SUCCESS
            elif n - failures < need or failed:
                decision = FAILURE
            if decision:
                self.done = {}
                self.reset_children()
                return decision
        return SKIPPED if skipped == n else RUNNING

    def tick_ParallelAll(self, fresh):
        limit, n, skipped = self.threshold("max_failures", 1), len(self.children), 0
        for i, child in enumerate(self.children):
            if i not in self.done:
                status = child.tick()
                if status in DONE:
                    self.done[i] = status
                skipped += status == SKIPPED
        if skipped == n:
            return SKIPPED
        if skipped + len(self.done) < n:
            return RUNNING
        failures = sum(status == FAILURE for status in self.done.values())
        self.done = {}
        self.reset_children()
        return FAILURE if failures >= limit else SUCCESS

    def condition(self):
        status = self.children[0].tick()
        if status in DONE and "condition-not-reset" in self.run.own:
            self.children[0].reset()
        return status

    def branch(self, condition):
        if condition == SUCCESS:
            return 1
        return 2 if len(self.children) == 3 else None

    def tick_IfThenElse(self, fresh):
        if self.position == 0:
            status = self.condition()
            if status == RUNNING:
                return RUNNING
            if status == SKIPPED:
                raise TreeError("if-condition-skipped")
            if self.branch(status) is None:
                return FAILURE
            self.position = self.branch(status)
        status = self.children[self.position].tick()
        if status != RUNNING:
            self.reset_children()
            self.position = 0
        return status

    def tick_WhileDoElse(self, fresh):
        status = self.condition()
        if status == RUNNING:
            return RUNNING
        if status == SKIPPED:
            self.reset_children()
            raise TreeError("while-condition-skipped")
        if len(self.children) == 3:
            self.children[2 if status == SUCCESS else 1].reset()
        branch = self.branch(status)
        status = FAILURE if branch is None else self.children[branch].tick()
        if status != RUNNING:
            self.reset_children()
        return status

    def tick_Switch(self, fresh):
        chosen = len(self.children) - 1
        value = self.run.variables.get(self.tree["variable"])
        for i, case in enumerate(self.tree["cases"]):
            if value is not None and equal(str(value), case):
                chosen = i
                break
        if self.middle is not False and self.middle != chosen:
            self.children[self.middle].reset()
        self.middle = False
        status = self.children[chosen].tick()
        if status == RUNNING:
            self.middle = chosen
        elif status != SKIPPED:
            self.reset_children()
        return status

    def tick_TryCatch(self, fresh):
        last = len(self.children) - 1
        if fresh:
            self.skipped = 0
        while self.position < last:
            status = self.children[self.position].tick()
            if status == RUNNING:
                return RUNNING
            if status == FAILURE:
                self.reset_children()
                self.position = last
                break
            self.skipped += status == SKIPPED
            self.position += 1
            if self.position == last:
                everything = self.skipped == last
                self.reset_children()
                self.position = self.skipped = 0
                return SKIPPED if everything else SUCCESS
        status = self.children[last].tick()
        if status == RUNNING:
            return RUNNING
        self.reset_children()
        self.position = 0
        return FAILURE

    # Decorators.

    def tick_Inverter(self, fresh):
        status = self.children[0].tick()
        return {SUCCESS: FAILURE, FAILURE: SUCCESS}.get(status, status)

    def tick_ForceSuccess(self, fresh):
        status = self.children[0].tick()
        return SUCCESS if status in DONE else status

    def tick_ForceFailure(self, fresh):
        status = self.children[0].tick()
        return FAILURE if status in DONE else status

    def rounds(self, key, continue_on):
        rounds, child = self.tree[key], self.children[0]
        while rounds < 0 or self.count < rounds:
            in_one_go = child.state == IDLE
            status = child.tick()
            if status == RUNNING:
                return RUNNING
            child.reset()
            if status == SKIPPED:
                return SKIPPED
            if status != continue_on:
                self.count = 0
                return status
            self.count += 1
            if in_one_go and (rounds < 0 or self.count < rounds):
                return self.wake()
        self.count = 0
        return continue_on

    def tick_Repeat(self, fresh):
        return self.rounds("num_cycles", SUCCESS)

    def tick_RetryUntilSuccessful(self, fresh):
        return self.rounds("num_attempts", FAILURE)

    def tick_KeepRunningUntilFailure(self, fresh):
        status = self.children[0].tick()
        if status in DONE:
            self.children[0].reset()
        return FAILURE if status == FAILURE else RUNNING

    def tick_RunOnce(self, fresh):
        if self.ran is not None:
            return SKIPPED if self.tree.get("then_skip", True) else self.ran
        status = self.children[0].tick()
        if status in DONE:
            self.ran = status
        return status

    def tick_LoopInt(self, fresh):
        if fresh:
            self.count, self.middle = 0, False
        if not self.middle:
            if self.count == len(self.tree["queue"]):
                return self.tree.get("if_empty", SUCCESS)
            self.count += 1
        self.state = RUNNING
        status = self.children[0].tick()
        self.middle = status == RUNNING
        if status in DONE:
            self.children[0].reset()
        return FAILURE if status == FAILURE else RUNNING

    def tick_Precondition(self, fresh):
        if not self.latched:
            if not self.run.variables[self.tree["if"]]:
                return self.tree.get("else", FAILURE)
            self.latched = True
        status = self.children[0].tick()
        if status in DONE:
            self.children[0].reset()
        if status in DONE or (status == SKIPPED and "precondition-latch" in self.run.own):
            self.latched = False
        return status


def equal(value, case):
    if value == case:
        return True
    for read in (int, float):
        try:
            return abs(read(value) - read(case)) <= (0 if read is int else 1.2e-7)
        except ValueError:
            continue
    return False


def play(vector, own=DEVIATIONS):
    """(trace, error) of a vector."""
    run, trace, halts = Run(vector["tree"], own), [], vector.get("halt_after", [])
    for tick in range(1, vector["ticks"] + 1):
        if "variable_values" in vector:
            run.variables.update(vector["variable_values"][tick - 1])
        try:
            status = run.tick()
        except TreeError as error:
            trace.append(run.entry("ERROR"))
            return trace, str(error)
        trace.append(run.entry(status))
        if tick in halts:
            run.root.halt()
            trace.append(run.entry("HALTED"))
    return trace, None
