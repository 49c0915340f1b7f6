# SPDX-License-Identifier: LGPL-2.1-or-later
"""Random trees run while btd is killed again and again, and while systemd reads its units again or executes itself anew,
the bus is restarted or killed, btd's file system fills up, and variables change. Each of them comes to what it has to:
nothing is lost, nothing is done twice, and nothing that is said is false.

BTD_KILLS: how many kills (8); BTD_SEED: other trees."""

import collections
import json
import os
import random
import re
import time

import client
import mixed
import random_trees

KILLS = int(os.environ.get("BTD_KILLS", "8"))
SEED = os.environ.get("BTD_SEED", "1")
DISTURBANCES_MAX = 40  # of one run, which shall end then
KILLED = "/var/lib/btd/killed"

OWN_BOOT = "/run/btd is another file system there, which fills up"

MOUNT = """
[Unit]
Before=btd.service
[Mount]
What=tmpfs
Where=/run/btd
Type=tmpfs
Options=size=2m,mode=755
[Install]
WantedBy=multi-user.target
"""
KILL = f"pid=$(systemctl show -P MainPID btd); [ $pid -gt 1 ] && kill -9 $pid && echo >>{KILLED}"

# What is done meanwhile, by what may come of it.
QUIET = {
    "kill": KILL,
    "restart": "systemctl restart btd",
    "reload": "systemctl daemon-reload",
    "reexec": "systemctl daemon-reexec",
    "away": f"systemctl kill --signal=STOP btd; systemctl daemon-reexec; systemctl daemon-reload; {KILL}",
    "set": None,
}
BUS = {"bus away": f"systemctl kill --signal=STOP btd; systemctl restart dbus; {KILL}", "bus restart": "systemctl restart dbus", "bus kill": "systemctl kill --signal=KILL dbus"}
DISK = {"full": "cat /dev/zero >/run/btd/full", "free": "rm -f /run/btd/full"}

FORGOTTEN = ", and systemd has forgotten "
CAUSES = [
    "exited with status 3",
    r"(bad|gone)@\S+\.service failed: its main process exited with status 3",
    r"btd was restarted while this was under way, so how it ended is not known",
    r"\d+ of its \d children failed",
    r"\S+ succeeded",
    r"stays.service is active \(exited\), not failed",
    r"[a-z]\d+ (<|>=|==) .* is false \(.*\)",
]

BUS_CAUSES = [
    r"org\.example\.Counter is not on the bus",
    r"(.* is not known: )?the connection to the bus 'system' was lost.*",
    r"org\.freedesktop\.DBus\.Error\.(ServiceUnknown|NoReply|Disconnected|NameHasNoOwner): .*",
]


def prepare(machine):
    random_trees.prepare(machine)
    machine.unit("run-btd.mount", MOUNT)
    machine.enable("run-btd.mount")


class Ordeal:
    """Of one run of one tree."""

    def __init__(self, machine, number):
        self.machine = machine
        self.dice = random.Random(f"{SEED}.{number}")
        self.name = f"t{number}"
        kind = self.dice.choice([{}, BUS, DISK])
        self.tree = random_trees.Grown(self.dice, self.name, self.dice.randint(2, 3), kind is not DISK)
        self.done = []  # what was done to it
        machine.tree(self.name, self.tree.root, blackboard=self.tree.variables)

        self.doings = {**QUIET, **kind}
        self.kills = [f"{self.dice.randint(2, 40)}{self.dice.choice(['', '-'])}" for _ in range(self.dice.randint(2, 8))]

    def sh(self, command):
        return self.machine.run("sh", "-c", command)

    def begin(self):
        self.sh(f"echo -n >{random_trees.EFFECTS}; systemctl stop 'up@*'; systemctl reset-failed; rm -f /run/btd/full")
        self.sh("until btctl reload; do sleep 0.02; done")
        self.machine.write(mixed.KILL_AT, " ".join(self.kills))
        self.sh(f"btctl --quiet start {self.name}")  # it may be killed before it can answer

    def past(self):
        return self.machine.path(f"/var/lib/btd/history/{self.name}.1.journal")

    def live(self):
        return self.machine.path(f"/run/btd/runs/{self.name}.1.journal")

    def disturb(self):
        doing = self.dice.choice(list(self.doings))
        command = self.doings[doing]
        if doing == "set":
            if not self.tree.outside:
                return
            command = f"btctl set {self.name}.1 '{self.dice.choice(self.tree.outside)}=\"{self.dice.choice('cdefgh')}\"'"
        self.done.append(doing)
        self.sh(command)

    def has_ended(self):
        """Also without a journal, when it was not durable."""
        if self.past().exists():
            return True
        if self.live().exists():
            return False
        result = self.machine.run("btctl", "list", "--json")
        if result.returncode != 0:
            return False
        return not any(run["status"] in ("running", "halting") for tree in json.loads(result.stdout) for run in tree["runs"])

    def finish(self):
        """Disturbs until it has ended."""
        deadline = time.monotonic() + 5 * client.PATIENCE
        while not self.has_ended():
            assert time.monotonic() < deadline, "does not end\n" + self.story()
            if len(self.done) < DISTURBANCES_MAX:
                self.disturb()
            elif "calm" not in self.done:
                self.done.append("calm")
                self.sh("rm -f /run/btd/full")
            time.sleep(self.dice.uniform(0, 0.2))  # to disturb it at different moments
        self.sh(f"rm -f /run/btd/full {mixed.KILL_AT}")
        while self.machine.path(f"/run/btd/finished/{self.name}.1.journal").exists():  # it comes to the disk in a second
            assert time.monotonic() < deadline, "does not become history\n" + self.story()
            time.sleep(0.01)

    def lines(self):
        return self.past().read_text(encoding="utf-8").splitlines() if self.past().exists() else []

    def story(self):
        lines = self.lines()
        return "\n".join([f"seed {SEED}, tree {self.name}, killed behind {self.kills}, with {self.done}",
                          json.dumps(self.tree.root), self.machine.read(random_trees.EFFECTS), *lines[1:],
                          self.machine.run("btctl", "status").stdout,
                          self.machine.run("systemctl", "list-units", "--all", "btd-*").stdout,
                          self.machine.run("systemctl", "list-jobs").stdout])

    def check(self):
        """What was done, and what is said of it."""
        lines, effects = self.lines(), collections.defaultdict(list)
        for line in self.machine.read(random_trees.EFFECTS).splitlines():
            key, value = line.split(":")
            if re.match(rf"(\w+\.)?{self.name}e", key):  # what a tree before has halted may have come late
                effects[key].append(value)

        if lines:
            self.check_record(lines, effects)
        else:
            self.expect("full" in self.done and "would not survive a restart of btd" in
                        self.machine.run("journalctl", "-u", "btd", f"BTD_RUN={self.name}.1").stdout, "where is the record?")

        for key in {*effects, *self.tree.effects}:
            least, most = self.tree.effects.get(key, (0, 0))
            if not lines:  # it was killed in the middle
                least = 0
            elif self.forgotten(lines):  # the tree has gone another way then
                least, most = 0, self.tree.most(key)
            self.expect(least <= len(effects[key]) <= most, f"{key}: {len(effects[key])} times")

    def check_record(self, lines, effects):
        status = json.loads(re.search(r"\{.*\}", lines[-1])[0])["status"]
        forgotten = self.forgotten(lines)
        self.expect(not forgotten or set(self.done) & {*BUS}, "what has systemd forgotten?")
        self.expect(forgotten or status == ("success" if self.tree.succeeds else "failure"), f"the result is {status}")

        begun = collections.defaultdict(set)  # with which values
        for line in lines[1:]:
            for values in re.findall(r' (?:begin|rerun) #\d+ \{"with":(\{.*?\})\}', line):
                for name, value in json.loads(values).items():
                    begun[name].add(value)
        for key, values in effects.items():
            name = re.search(rf"{self.name}e\d+", key)[0]
            if name in self.tree.variable_of:
                self.expect(set(values) <= begun[self.tree.variable_of[name]], f"{key} was not begun with {values}")

        causes = CAUSES + (BUS_CAUSES if set(self.done) & {*BUS} else [])
        stopped = set()
        for line in lines[1:]:
            _, record, node, *rest = line.split(" ", 3)
            stopped |= {node} if record == "stop" else set()
            for kind, text in re.findall(r'"kind":"([a-z-]+)","text":"((?:[^"\\]|\\.)*)"', rest[0] if rest else ""):
                self.expect(kind == "child" or node in stopped or forgotten and kind == "lost" or
                            any(re.fullmatch(cause, text) for cause in causes), f"a cause that cannot be: {text}")

    @staticmethod
    def forgotten(lines):
        """A bus that was lost can have taken along what btd would have to know."""
        return any(FORGOTTEN in line for line in lines)

    def expect(self, condition, what):
        assert condition, f"{what}\n{self.story()}"


def test_random_trees(machine):
    machine.reconnect()
    machine.check("systemctl", "start", "counter.service", random_trees.STAYS)
    number = 0
    while (machine.read(KILLED).count("\n") if machine.path(KILLED).exists() else 0) < KILLS:
        number += 1
        ordeal = Ordeal(machine, number)
        ordeal.begin()
        ordeal.finish()
        ordeal.check()
