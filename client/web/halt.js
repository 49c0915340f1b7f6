/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Halts a run after a question. */

import { attempt } from "./alerts.js";
import * as bus from "./bus.js";
import { ask, html } from "./dom.js";

export async function ask_and_halt(id) {
    const answer = await ask(`Halt ${id}?`, "Halt", html("p", {}, "Its nodes are stopped. The run ends when all of them " +
                                                         "have really ended."));

    if (answer)
        await attempt(`Cannot halt '${id}'`, () => bus.manager("HaltRun", "sa{sv}", id, {}));
}
