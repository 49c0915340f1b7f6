# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the model of a run in the page for Cockpit under Node.js, with a btd that answers when the test wants it."""

import os
import shutil
import subprocess

import pytest

import web

# What the modules of the page need of a browser and of Cockpit. Calls are answered at once, except those of held.
WORLD = """{
    const answers = { GetAll: [{}], GetVariables: [{}], GetEvents: [[]] };
    const held = new Map(), signals = new Map();
    const client = {
        addEventListener() {},
        call: (path, name, member) => held.get(member)?.() ?? Promise.resolve(answers[member] ?? []),
        subscribe: (rule, listener) => signals.set(rule.interface, listener),
    };

    /* From now on, calls of this method wait. asked: when one was made; answer(): of the last one. */
    function hold(member) {
        const call = {};

        call.asked = new Promise(resolve => {
            held.set(member, () => {
                resolve();
                return new Promise(answer => { call.answer = answer });
            });
        });
        return call;
    }

    globalThis.cockpit = { dbus: () => client };
    globalThis.document = { addEventListener() {} };
    globalThis.window = { addEventListener() {}, requestAnimationFrame: setImmediate, setTimeout };
    globalThis.world = { hold, signals };
}
"""


@pytest.fixture
def output(tmp_path):
    """Runs a module that may import those of the page, and returns what it prints."""
    missing = [package for program, package in {"esbuild": "esbuild", "node": "nodejs"}.items()
               if not shutil.which(program)]
    if missing:
        assert os.environ.get("CI") != "true", missing
        pytest.skip("these packages are missing: " + " ".join(missing))

    def run(script):
        bundle = subprocess.check_output(["esbuild", "--bundle", "--format=esm", "--banner:js=" + WORLD],
                                         input=script, text=True, cwd=web.SOURCE)
        (tmp_path / "test.mjs").write_text(bundle + "process.exit();\n")
        return subprocess.check_output(["node", str(tmp_path / "test.mjs")], text=True)
    return run


def test_a_node_changes_while_nodes_are_read(output):
    """The answer is older than the signal, which came before it."""
    assert output("""
        import * as bus from "./bus.js";
        import { RunModel } from "./run-model.js";

        const node = status => [0, 4294967295, "Sleep", "Idle", status, 0, 0, {}];
        const nodes = world.hold("GetNodesFrom");

        bus.connect();
        const model = new RunModel("boot.1", () => {});
        const loaded = model.load();

        await nodes.asked;
        world.signals.get("org.btd1.Run")(model.path, "org.btd1.Run", "NodesChanged", [[node("success")]]);
        nodes.answer([[node("running")]]);
        await loaded;
        console.log(model.nodes[0].now.status);
    """) == "success\n"
