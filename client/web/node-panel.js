/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The selected node of a run: what it is, its state, the chain of its cause, and what a user can do with it. */

import { attempt } from "./alerts.js";
import { badge, set_badge } from "./badge.js";
import * as bus from "./bus.js";
import { ask, button, html, set_shown, set_text } from "./dom.js";
import { duration, time } from "./format.js";
import { full_name } from "./run-model.js";

export class NodePanel {
    constructor(model) {
        this.model = model;
        this.index = null;
        this.name = html("h2", {}, "Node");
        this.hint = html("p", { class: "hint" }, "Select a node to see its state and its cause.");
        this.state = badge();
        this.facts = html("dl");
        this.causes = html("ol", { class: "causes" });
        this.breakpoint = button("", () => this.toggle_breakpoint());
        this.controls = html("div", { class: "buttons" }, this.breakpoint,
                             ["success", "failure", "skipped"].map(status =>
                                 button(`Force ${status}`, () => this.force(status))));
        this.element = html("section", { class: "card node-panel", "aria-label": "Selected node" }, this.name, this.hint,
                            this.state, this.facts, this.causes, this.controls);
        this.show();
    }

    select(index) {
        this.index = index;
        this.model.select(index);
        this.show();
    }

    show() {
        const node = this.model.nodes[this.index], now = node && this.model.states()[node.index];

        for (const part of [this.state, this.facts, this.causes])
            set_shown(part, now !== undefined);
        set_shown(this.hint, now === undefined);
        set_shown(this.controls, now !== undefined && this.model.at === null && this.model.is_object &&
                  !this.model.is_finished());
        if (now === undefined)
            return;
        set_text(this.name, full_name(node, now));
        set_badge(this.state, now.status);
        set_text(this.breakpoint, this.has_breakpoint() ? "Remove breakpoint" : "Set breakpoint");
        this.show_facts([["Path", node.path], ["Type", node.type], ["Does", node.title],
                         ["Since", now.since ? time(now.since) : ""], ["Took", now.since ? duration(this.model.took(now)) : ""],
                         ["Detail", now.detail]]);
        this.show_causes();
    }

    show_facts(facts) {
        const text = JSON.stringify(facts);

        if (this.shown_facts === text)
            return;
        this.shown_facts = text;
        this.facts.replaceChildren(...facts.filter(([, value]) => value)
            .flatMap(([name, value]) => [html("dt", {}, name), html("dd", {}, value)]));
    }

    /* From the node down to the one where the failure began. */
    show_causes() {
        const levels = this.model.at === null ? this.model.causes.map(({ name, text }) => `${name}: ${text}`) : [];

        if (this.shown_causes === levels.join("\n"))
            return;
        this.shown_causes = levels.join("\n");
        this.causes.replaceChildren(...levels.map(level => html("li", {}, level)));
    }

    has_breakpoint = () => (this.model.properties.Breakpoints ?? []).includes(this.index);

    async toggle_breakpoint() {
        const set = !this.has_breakpoint();

        await attempt(set ? "Cannot set the breakpoint" : "Cannot remove the breakpoint",
                      () => bus.run(this.model.id, "SetBreakpoint", "ub", this.index, set));
        this.model.read_soon();
    }

    async force(status) {
        const index = this.index, { path } = this.model.nodes[index];
        const answer = await ask(`Force ${status}?`, "Force",
                                 html("p", {}, `If ${path} runs, it is halted, and gets the outcome ${status}. If it ` +
                                      "does not run, it gets the outcome once, instead of being started."));

        if (answer)
            await attempt(`Cannot force '${path}'`, () => bus.run(this.model.id, "Force", "us", index, status));
    }
}
