# SPDX-License-Identifier: LGPL-2.1-or-later
"""Counts the system calls that btd makes: see tests/integration/count-calls.c."""

import struct

import daemon


class Calls:
    """Of a btd that is started with this environment."""

    def __init__(self, directory):
        self.path = directory / "calls"
        self.path.write_bytes(bytes(24))

    @property
    def env(self):
        return daemon.preloading("count-calls", COUNT_CALLS=self.path)

    def _read(self):
        return struct.unpack("QQQ", self.path.read_bytes())

    def count(self):
        """(of the main loop, of other threads)"""
        return self._read()[:2]

    def wait(self):
        """For how many milliseconds at most the main loop waits for events now, or did last."""
        return self._read()[2]
