#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Sends large calls that btd refuses to a user without rights, on many connections, until its input ends.

    refused.py SOCKET CONNECTIONS RUN
"""

import os
import select
import socket
import sys

from gi.repository import Gio, GLib


def message(path, interface, member, body=None):
    call = Gio.DBusMessage.new_method_call("org.btd1", path, interface, member)
    call.set_body(body)
    call.set_serial(1)
    return bytes(call.to_blob(Gio.DBusCapabilityFlags.NONE))


def connect(path):
    it = socket.socket(socket.AF_UNIX)
    it.connect(path)
    it.sendall(b"\0AUTH EXTERNAL " + str(os.getuid()).encode().hex().encode() + b"\r\n")
    it.recv(1000)
    hello = Gio.DBusMessage.new_method_call("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "Hello")
    hello.set_serial(1)
    it.sendall(b"BEGIN\r\n" + bytes(hello.to_blob(Gio.DBusCapabilityFlags.NONE)))
    it.recv(4096)
    it.setblocking(False)
    return it


path, connections, run = sys.argv[1], int(sys.argv[2]), sys.argv[3]
number = GLib.Variant("x", 1)
many = GLib.Variant("(a{sv})", ({f"v{i}": number for i in range(50000)},))
long = GLib.Variant("(sa{sv}a{sv})", ("large", {"v": GLib.Variant("s", "x" * 8000000)}, {}))
calls = [message("/org/btd1/run/" + run, "org.btd1.Run", "SetVariables", many)] * 9 + \
    [message("/org/btd1", "org.btd1.Manager", "StartTree", long)]
left = {connect(path): memoryview(calls[i % len(calls)]) for i in range(connections)}
whole = dict(left)
print("ready", flush=True)
while True:
    readable, writable, _ = select.select([sys.stdin, *left], left, [])
    if sys.stdin in readable:
        break
    for each in readable:
        each.recv(1 << 20) or sys.exit("disconnected")
    for each in writable:
        try:
            left[each] = left[each][each.send(left[each]):] or whole[each]
        except BlockingIOError:
            pass
