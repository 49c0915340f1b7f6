# SPDX-License-Identifier: LGPL-2.1-or-later
"""Calls btd on the bus for tests, on GLib's main loop. It waits for events, never for a fixed time."""

import collections
import json
import os
import time

import gi

gi.require_version("Gio", "2.0")
from gi.repository import Gio, GLib  # noqa: E402

import outputs  # noqa: E402

# Seconds to wait for an event: only a hang takes longer, also on a busy machine that is paused now and then.
PATIENCE = 120
BUS_NAME = "org.btd1"
MANAGER = "/org/btd1"

Signal = collections.namedtuple("Signal", "path interface member args")
Result = collections.namedtuple("Result", "returncode stdout stderr")
# The fields that ListRuns and ListTrees return, see append_run() and append_tree() in daemon/service/manager-bus.c.
RunRow = collections.namedtuple("RunRow", "id path tree instance status started finished cause restart ready token")
# A tree without a file has neither an object nor a description.
TreeRow = collections.namedtuple("TreeRow", "name autostart file_state state waiting path description", defaults=(None, None))


class DBusError(Exception):
    """An error reply: its name and its message."""

    def __init__(self, name, message):
        super().__init__(f"{name}: {message}")
        self.name = name
        self.message = message


def wait(condition, what, timeout=PATIENCE):
    """Runs the main loop until the condition is true, and returns its value. The condition must not run the loop,
    or its inputs could change while it is evaluated. A change of a file wakes nobody up, so the condition is also
    evaluated now and then without an event."""
    context = GLib.MainContext.default()
    expired = []
    again = GLib.timeout_add(20, lambda: GLib.SOURCE_CONTINUE)
    deadline = GLib.timeout_add(int(timeout * 1000), lambda: expired.append(True) or GLib.SOURCE_REMOVE)
    try:
        while not (value := condition()):
            if expired:
                raise TimeoutError(f"waited {timeout} s for {what}")
            context.iteration(True)
        return value
    finally:
        GLib.source_remove(again)
        if not expired:
            GLib.source_remove(deadline)


def look(condition, what, timeout=PATIENCE):
    """As wait(), for a condition that calls btd or runs btctl: nobody is told of such a change, so the condition is
    evaluated again and again. `what`: a text, or a function that makes it."""
    deadline = time.monotonic() + timeout
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise TimeoutError(f"waited {timeout} s for {what if isinstance(what, str) else what()}")
        GLib.timeout_add(10, lambda: GLib.SOURCE_REMOVE)
        GLib.MainContext.default().iteration(True)
    return value


def wake_at_end(process):
    """Wakes up the main loop when the process exits, so that waiting for it takes no longer."""
    pidfd = os.pidfd_open(process.pid)
    GLib.unix_fd_add_full(GLib.PRIORITY_DEFAULT, pidfd, GLib.IOCondition.IN,
                          lambda fd, condition: os.close(fd) or GLib.SOURCE_REMOVE)


def run(argv, env=None, stdin=None, timeout=2 * PATIENCE):
    """Runs a command while the main loop continues to serve the objects that the test exports."""
    flags = Gio.SubprocessFlags.STDOUT_PIPE | Gio.SubprocessFlags.STDERR_PIPE | Gio.SubprocessFlags.STDIN_PIPE
    launcher = Gio.SubprocessLauncher(flags=flags)
    for key, value in (env or {}).items():
        launcher.setenv(key, value, True)
    process = launcher.spawnv(argv)
    results = []
    process.communicate_utf8_async(stdin, None, lambda source, result: results.append(result))
    try:
        wait(lambda: results, "the end of " + " ".join(argv), timeout)
    except TimeoutError:
        process.force_exit()
        wait(lambda: results, "the killed " + argv[0])
        raise
    _, stdout, stderr = process.communicate_utf8_finish(results[0])
    code = process.get_exit_status() if process.get_if_exited() else -process.get_term_sig()
    if os.path.basename(argv[0]) == "btctl" and code >= 0:
        outputs.check(argv[1:], stdout)
    return Result(code, stdout, stderr)


def variant(value):
    """The value as btd sends it: a D-Bus type of its own, or JSON text as (s)."""
    types = {bool: "b", int: "x", float: "d", str: "s"}
    if type(value) in types:
        return GLib.Variant("t" if type(value) is int and value >= 2**63 else types[type(value)], value)
    if isinstance(value, dict):
        return GLib.Variant("a{sv}", variants(value))
    if isinstance(value, list):
        return GLib.Variant("av", [variant(each) for each in value])
    return GLib.Variant("(s)", (json.dumps(value),))


def plain(value):
    """A variable that came from btd, with the JSON text in it read."""
    if isinstance(value, tuple):
        return json.loads(value[0])
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, list) else value


def variants(values):
    """For an argument a{sv}."""
    return {key: variant(value) for key, value in values.items()}


class Client:
    """One connection to a bus, and the signals that it has received since subscribe()."""

    def __init__(self, address):
        self.connection = Gio.DBusConnection.new_for_address_sync(
            address,
            Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION,
            None, None)
        self.connection.set_exit_on_close(False)
        self.signals = []

    def close(self):
        if not self.connection.is_closed():
            self.connection.close_sync()

    @property
    def name(self):
        return self.connection.get_unique_name()

    def call_any(self, destination, path, interface, method, signature="", *args, timeout=PATIENCE):
        """The values of the reply: None, one value, or a tuple. Runs the main loop meanwhile."""
        results = []
        self.connection.call(
            destination, path, interface, method, GLib.Variant(f"({signature})", args), None,
            Gio.DBusCallFlags.NO_AUTO_START, int(timeout * 1000), None,
            lambda source, result: results.append(result))
        wait(lambda: results, f"the reply to {method}", timeout + 5)
        try:
            values = self.connection.call_finish(results[0]).unpack()
        except GLib.Error as error:
            name = Gio.DBusError.get_remote_error(error) or error.domain
            raise DBusError(name, error.message.removeprefix(f"GDBus.Error:{name}: ")) from None
        return None if not values else values[0] if len(values) == 1 else values

    def call(self, path, interface, method, signature="", *args, **options):
        return self.call_any(BUS_NAME, path, interface, method, signature, *args, **options)

    def manager(self, method, signature="", *args):
        return self.call(MANAGER, "org.btd1.Manager", method, signature, *args)

    def get(self, path, interface, name):
        return self.call(path, "org.freedesktop.DBus.Properties", "Get", "ss", interface, name)

    def get_all(self, path, interface):
        return self.call(path, "org.freedesktop.DBus.Properties", "GetAll", "s", interface)

    def subscribe(self, interface=None, member=None, path=None, sender=BUS_NAME):
        """Collects signals into self.signals from now on; a round trip makes sure that none is missed."""
        def on_signal(connection, sender, path, interface, member, parameters):
            self.signals.append(Signal(path, interface, member, parameters.unpack()))
        self.connection.signal_subscribe(sender, interface, member, path, None, Gio.DBusSignalFlags.NONE, on_signal)
        self.call_any("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "GetId")

    def wait_signal(self, member, test=lambda signal: True, timeout=PATIENCE):
        """The first signal of that name, received before or after the call, for which the test is true."""
        def find():
            return next((s for s in self.signals if s.member == member and test(s)), None)
        return wait(find, f"the signal {member}; seen: {self.signals}", timeout)

    def owner(self, name=BUS_NAME):
        try:
            return self.call_any("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
                                 "GetNameOwner", "s", name)
        except DBusError:
            return None

    def wait_owner(self, name=BUS_NAME, other_than=None, check=lambda: None, timeout=PATIENCE):
        """The name's owner, as soon as it has one; check() may raise to end the wait."""
        owners = []
        subscription = self.connection.signal_subscribe(
            "org.freedesktop.DBus", "org.freedesktop.DBus", "NameOwnerChanged", "/org/freedesktop/DBus", name,
            Gio.DBusSignalFlags.NONE,
            lambda connection, sender, path, interface, member, values: owners.append(values.unpack()[2]))
        try:
            owners.insert(0, self.owner(name))  # a signal that has been dispatched meanwhile is newer
            wait(lambda: check() or (owners[-1] and owners[-1] != other_than), name + " on the bus", timeout)
            return owners[-1]
        finally:
            self.connection.signal_unsubscribe(subscription)

    def begin(self, method, signature="()", *args):
        """Calls a method of the manager, and does not wait for the reply, which comes into the list: its values, or the
        text of the error."""
        replies = []

        def on_reply(connection, result):
            try:
                replies.append(connection.call_finish(result).unpack())
            except GLib.Error as error:
                replies.append(error.message)
        self.connection.call(BUS_NAME, MANAGER, "org.btd1.Manager", method, GLib.Variant(signature, args), None,
                             Gio.DBusCallFlags.NONE, PATIENCE * 1000, None, on_reply)
        return replies

    def wait_running(self, timeout=PATIENCE):
        """Waits until it has recovered the runs that the previous daemon left."""
        self.subscribe("org.freedesktop.DBus.Properties", path="/org/btd1")
        before = len(self.signals)
        if self.get("/org/btd1", "org.btd1.Manager", "Status") == "starting":
            wait(lambda: any(s.member == "PropertiesChanged" and s.args[1].get("Status") == "running"
                             for s in self.signals[before:]), "the status 'running'", timeout)

    def start(self, tree, instance="", variables=None, **options):
        """StartTree: (id, path)."""
        options = options | ({"instance": instance} if instance else {})
        return self.manager("StartTree", "sa{sv}a{sv}", tree, variants(variables or {}), variants(options))[:2]

    def start_text(self, name, text):
        """StartText: (id, path)."""
        return self.manager("StartText", "ssa{sv}a{sv}", name, text, {}, {})[:2]

    def runs(self):
        return [RunRow(**record) for record in self.manager("ListRuns")]

    def history(self, **options):
        return self.manager("ListHistory", "a{sv}", variants(options))

    def record(self, run):
        """The parts of a run record, as GetRecord returns them. (To unpack every byte would take long.)"""
        parts, offset = [], 0
        while part := self.record_part(run, offset):
            parts.append(part)
            offset += len(part)
        return parts

    def record_part(self, run, offset):
        reply = self.connection.call_sync(BUS_NAME, MANAGER, "org.btd1.Manager", "GetRecord",
                                          GLib.Variant("(st)", (run, offset)), None, Gio.DBusCallFlags.NONE,
                                          PATIENCE * 1000, None)
        return reply.get_child_value(0).get_data_as_bytes().get_data() or b""

    def trees(self):
        return [TreeRow(**record) for record in self.manager("ListTrees")]

    def outcome(self, tree, token, **options):
        return self.manager("GetOutcome", "ssa{sv}", tree, token, variants(options))

    def reload(self):
        return self.manager("Reload", "a{sv}", {})

    def halt_tree(self, tree, **options):
        """(the ids of the halted runs, the number of cancelled restarts)"""
        return self.manager("HaltTree", "sa{sv}", tree, variants(options))

    def halt_run(self, run):
        self.manager("HaltRun", "sa{sv}", run, {})

    def halt(self, path):
        self.call(path, "org.btd1.Run", "Halt", "a{sv}", {})

    def variables(self, path):
        return self.call(path, "org.btd1.Run", "GetVariables")

    def variable(self, path, name):
        return self.call(path, "org.btd1.Run", "GetVariable", "s", name)

    def set_variables(self, path, **values):
        self.call(path, "org.btd1.Run", "SetVariables", "a{sv}", variants(values))

    def run_property(self, path, name):
        return self.get(path, "org.btd1.Run", name)

    def finish(self, path, timeout=PATIENCE):
        """Waits for the run's end: (status, cause)."""
        results = []
        subscription = self.connection.signal_subscribe(
            BUS_NAME, "org.btd1.Run", "Ended", path, None, Gio.DBusSignalFlags.NONE,
            lambda connection, sender, path, interface, member, values: results.append(values.unpack()))
        try:
            status = self.run_property(path, "Status")
            if status in ("running", "halting"):
                return wait(lambda: results, f"the end of {path}", timeout)[0]
            return status, self.run_property(path, "Cause")
        finally:
            self.connection.signal_unsubscribe(subscription)

    def wait_node(self, path, name, status):
        """Waits until the node has that status, and returns all nodes, see nodes()."""
        return look(lambda: (nodes := self.nodes(path)).get(name, {}).get("status") == status and nodes,
                    lambda: f"{name} to be {status}; it is {self.nodes(path).get(name)}")

    def nodes(self, path):
        """The run's nodes by name: a dictionary of status, detail and so on."""
        keys = ["index", "parent", "type", "name", "status", "since", "duration"]
        return {row[3]: {"detail": "", **dict(zip(keys, row)), **row[-1]}
                for row in self.call(path, "org.btd1.Run", "GetNodes")}


class Peer:
    """A service of the test on the bus. methods: name -> function(parameters, invocation), which returns the
    reply (a tuple as GLib.Variant, or None), or True if it replies to the invocation itself."""

    def __init__(self, client, name, path, xml, methods=None, properties=None):
        self.client = client
        self.methods = methods or {}
        self.properties = properties or {}
        self.calls = []
        self.path = path
        self.interface = Gio.DBusNodeInfo.new_for_xml(xml).interfaces[0]
        client.connection.register_object(path, self.interface, self._on_call, self._on_get, None)
        client.call_any("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
                        "RequestName", "su", name, 4)

    def _on_call(self, connection, sender, path, interface, method, parameters, invocation):
        self.calls.append((method, parameters.unpack()))
        reply = self.methods[method](parameters.unpack(), invocation)
        if reply is not True:
            invocation.return_value(reply)

    def _on_get(self, connection, sender, path, interface, name):
        return self.properties[name]

    def set(self, name, value):
        """Changes a property, and sends the signal."""
        self.properties[name] = value
        self.client.connection.emit_signal(
            None, self.path, "org.freedesktop.DBus.Properties", "PropertiesChanged",
            GLib.Variant("(sa{sv}as)", (self.interface.name, {name: value}, [])))
