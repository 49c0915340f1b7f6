# SPDX-License-Identifier: LGPL-2.1-or-later
"""Lets time pass for btd and btctl, so that no test has to wait that long."""

import struct

import daemon


class Clock:
    """For processes that are started with this environment. It is so many times as fast as the clock of the machine:
    with a small factor, times do not come to an end."""

    def __init__(self, directory, factor=1):
        self.ahead, self.path = 0, directory / "ahead"
        self.factor = factor
        self._write()

    def _write(self):
        self.path.write_bytes(struct.pack("q", self.ahead))

    @property
    def env(self):
        return self.with_others()

    def with_others(self, *names, **env):
        """The same with other libraries, see daemon.preloading()."""
        return daemon.preloading("other-clock", *names, CLOCK_FACTOR=self.factor, CLOCK_AHEAD=self.path, **env)

    def set_forward(self, seconds):
        self.ahead += int(seconds * 1e9)
        with self.path.open("r+b") as file:  # which is mapped
            file.write(struct.pack("q", self.ahead))

    def advance(self, btd, seconds):
        """The same for a btd that waits: it is called, which wakes it up."""
        self.set_forward(seconds)
        btd.client.get("/org/btd1", "org.btd1.Manager", "Version")
