# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes a user in a container, with a service manager of its own."""

import daemon


class User:
    """Somebody with a home and a systemd of his own, which goes on without a login; files are written before it begins."""

    def __init__(self, machine, name="somebody"):
        self.machine = machine
        self.name = name
        self.home = "/var/lib/" + name
        machine.check("useradd", "--create-home", "--home-dir", self.home, name)
        self.uid = machine.check("id", "-u", name).strip()

    def tree(self, name, root, **keys):
        self.machine.write(f"{self.home}/.config/btd/trees/{name}.json", daemon.tree_text(root, **keys))

    def unit(self, name, text):
        self.machine.write(f"{self.home}/.config/systemd/user/{name}", text)

    def begin(self):
        self.machine.check("chown", "-R", self.name, self.home)
        self.machine.check("systemctl", "start", f"user@{self.uid}.service")

    def run(self, *argv):
        return self.machine.run("setpriv", "--reuid", self.uid, "--regid", self.uid, "--clear-groups", "env",
                                f"XDG_RUNTIME_DIR=/run/user/{self.uid}", "HOME=" + self.home, *argv)

    def check(self, *argv):
        result = self.run(*argv)
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout
