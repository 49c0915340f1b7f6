/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A tree: its picture, its text with the errors at their lines, and its runs, also those of the history. */

import { attempt } from "./alerts.js";
import { badge, set_badge } from "./badge.js";
import * as bus from "./bus.js";
import { button, html, keep_rows, link, set_shown, set_text, table } from "./dom.js";
import { count, duration, time } from "./format.js";
import { read_tree_nodes } from "./run-model.js";
import { SourceView } from "./source-view.js";
import { open_start_form } from "./start-form.js";
import { TreeView } from "./tree-view.js";

/* So many runs of the history are shown. */
const HISTORY_MAX = 100;
const REFRESH_MS = 500;

/* The runs of a tree, the latest first, also those that only the history has. */
export class RunsTable {
    /* tree() returns the name of the tree. */
    constructor(tree) {
        this.tree = tree;
        this.body = html("tbody");
        this.empty = html("p", { class: "empty", hidden: true }, "This tree has never run.");
        this.element = html("section", { class: "card" },
                            table("Runs", ["Run", "State", "Started", "Took", "Cause"], this.body, { id: "runs" }), this.empty);
    }

    async load() {
        const tree = this.tree();
        const [runs, past] = await Promise.all([
            bus.list("ListRuns"), bus.list("ListHistory", "a{sv}", { tree: cockpit.variant("s", tree) })]);
        const known = new Map([...past.reverse().slice(0, HISTORY_MAX), ...runs.filter(run => run.tree === tree)]
            .map(run => [run.id, run]));

        keep_rows(this.body, [...known.values()].sort((a, b) => b.started - a.started), run => run.id,
                  ({ id, instance }) => html("tr", {}, html("th", { scope: "row" }, link(id, "run", id),
                                                            instance ? ` (${instance})` : ""),
                                             html("td", {}, badge()), html("td"), html("td", { class: "number" }),
                                             html("td", { class: "text" })),
                  (row, run) => {
                      const [, state, started, took, cause] = row.children;

                      set_badge(state.firstChild, run.status);
                      set_text(started, time(run.started));
                      set_text(took, run.finished ? duration(run.finished - run.started) : "");
                      set_text(cause, run.cause);
                  });
        set_shown(this.empty, known.size === 0);
    }
}

export class TreePage {
    constructor(name) {
        this.name = name;
        this.facts = html("p", { class: "summary" });
        this.picture = html("section", { class: "card picture-card" });
        this.runs = new RunsTable(() => name);
        this.source = new SourceView();
        this.file = html("section", { class: "card" }, html("h2", {}, "Tree file"), this.source.element);
        this.start = button("Start", () => open_start_form(name), { class: "primary" });
        this.element = html("div", {},
                            html("nav", { "aria-label": "Breadcrumb" }, link("Behavior trees"), " / ", name),
                            html("header", {}, html("h1", {}, name), html("span", { class: "space" }), this.start),
                            this.facts, this.picture, this.runs.element, this.file);
        this.stop = bus.listen(kind => {
            if (kind === "owner" || kind === "changed")
                this.load_soon();
        });
    }

    close() {
        this.stop();
        window.clearTimeout(this.timer);
    }

    load_soon() {
        this.timer ??= window.setTimeout(() => {
            this.timer = undefined;
            this.load().catch(() => {});
        }, REFRESH_MS);
    }

    async load() {
        const tree = await bus.tree_properties(this.name).catch(error => {
            if (!bus.is_gone(error))
                throw error;
            return null;
        });

        set_shown(this.file, tree !== null);
        if (tree === null) {
            set_text(this.facts, `Tree '${this.name}' does not exist.`);
            this.start.disabled = true;
            this.hash = undefined;
            set_shown(this.picture, false);
            await this.runs.load(); /* those that btd and the history still have */
            return;
        }
        set_text(this.facts, [tree.Description, tree.SourcePath, count(tree.NodeCount, "node"),
                              tree.DropInPaths.length > 0 ? count(tree.DropInPaths.length, "drop-in") : null,
                              tree.Autostart ? "starts with btd" : null,
                              tree.NeedReload ? "the file has changed on the disk since it was read" : null]
            .filter(Boolean).join(" · "));
        this.start.disabled = tree.State === "failed";
        await this.runs.load();
        if (this.hash === tree.Hash && this.state === tree.State)
            return;
        this.hash = tree.Hash;
        this.state = tree.State;
        if (tree.State !== "failed") {
            const view = new TreeView(read_tree_nodes(await bus.nodes_of_tree(this.name)), () => {});

            this.picture.replaceChildren(view.element);
            view.show();
        }
        set_shown(this.picture, tree.State !== "failed");
        await attempt(`Cannot read '${tree.SourcePath}'`, () => this.source.load(tree.SourcePath));
    }
}
