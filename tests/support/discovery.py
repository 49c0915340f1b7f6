# SPDX-License-Identifier: LGPL-2.1-or-later
"""A mock of an adapter of BlueZ, which knows its clients by their connections, as BlueZ does."""

from gi.repository import GLib

import client

ADAPTER = """<node><interface name="org.bluez.Adapter1">
<method name="SetDiscoveryFilter"><arg type="a{sv}" direction="in"/></method><method name="StartDiscovery"/>
</interface></node>"""


class Discovery:
    """filtered, discovering: the unique names of the clients that are on the bus and have called the method."""

    def __init__(self, peer_client):
        self.filtered, self.discovering = [], []
        self.connection = peer_client.connection
        self.peer = client.Peer(peer_client, "org.bluez", "/org/bluez/hci0", ADAPTER,
                                {"SetDiscoveryFilter": self._on_filter, "StartDiscovery": self._on_start})
        self.connection.signal_subscribe("org.freedesktop.DBus", "org.freedesktop.DBus", "NameOwnerChanged", None, None,
                                         0, self._on_owner)

    def _on_filter(self, parameters, invocation):
        self.filtered.append(invocation.get_sender())

    def _on_start(self, parameters, invocation):
        sender = invocation.get_sender()
        if sender in self.discovering:
            invocation.return_dbus_error("org.bluez.Error.InProgress", "Operation already in progress")
            return True
        self.discovering.append(sender)
        return None

    def _on_owner(self, connection, sender, path, interface, name, parameters):
        name, _, new = parameters.unpack()
        if not new:
            self.filtered = [other for other in self.filtered if other != name]
            self.discovering = [other for other in self.discovering if other != name]

    def appear(self, name, **device):
        self.connection.emit_signal(
            None, "/", "org.freedesktop.DBus.ObjectManager", "InterfacesAdded",
            GLib.Variant("(oa{sa{sv}})", (f"/org/bluez/hci0/{name}", {"org.bluez.Device1": device} if device else {})))

    def wait(self, n):
        """Until so many clients discover."""
        client.wait(lambda: len(self.discovering) == n, f"{n} clients that discover")
        return list(self.discovering)
