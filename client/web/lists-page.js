/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* All trees and all runs, live. */

import { attempt } from "./alerts.js";
import { badge, set_badge } from "./badge.js";
import * as bus from "./bus.js";
import { button, html, keep_rows, link, set_shown, set_text, table } from "./dom.js";
import { count, duration, time } from "./format.js";
import { ask_and_halt } from "./halt.js";
import { open_start_form } from "./start-form.js";

const REFRESH_MS = 300;
const STATES = { ok: "", broken: "has errors; the previous tree is used", failed: "has errors", "no file": "has no file" };

export class ListsPage {
    constructor() {
        this.trees = html("tbody");
        this.runs = html("tbody");
        this.no_trees = html("p", { class: "empty", hidden: true },
                             "There is no tree. Put a tree file into one of the directories that btd(8) reads.");
        this.no_runs = html("p", { class: "empty", hidden: true }, "No tree has run since btd was started.");
        this.summary = html("p", { class: "summary", role: "status" });
        this.filter = html("input", {
            type: "search", placeholder: "Filter by name", "aria-label": "Filter by name", oninput: () => this.show(),
        });
        this.reload = html("p", { class: "hint", hidden: true }, "Tree files have changed on the disk. ",
                           button("Reload", () => this.reload_trees(), { class: "inline" }));
        this.element = html("div", {},
                            html("header", {}, html("h1", {}, "Behavior trees"), this.filter, html("span", { class: "space" }),
                                 button("Check a file", () => cockpit.location.go(["check"])),
                                 button("Reload tree files", () => this.reload_trees())),
                            this.summary, this.reload,
                            html("section", { class: "card" },
                                 html("div", { class: "scroll" }, /* the trees below are not far away */
                                      table("Runs", ["Run", "State", "Started", "Took", "Result", ""], this.runs,
                                            { id: "runs" })), this.no_runs),
                            html("section", { class: "card" },
                                 table("Trees", ["Tree", "Description", "Autostart", "Last run", ""], this.trees,
                                       { id: "trees" }), this.no_trees));
        this.data = { trees: [], runs: [], manager: {} };
        this.stop = bus.listen(() => this.load_soon());
        this.clock = window.setInterval(() => this.show(), 1000);
    }

    close() {
        this.stop();
        window.clearInterval(this.clock);
        window.clearTimeout(this.timer);
    }

    load_soon() {
        this.timer ??= window.setTimeout(() => {
            this.timer = undefined;
            this.load().catch(() => {});
        }, REFRESH_MS);
    }

    async load() {
        const [manager, trees, runs] = await Promise.all([bus.manager_properties(), bus.list("ListTrees"),
                                                          bus.list("ListRuns")]);

        this.data = { manager, trees, runs };
        this.show();
    }

    async reload_trees() {
        await attempt("Cannot reload the tree files", async () => {
            const [errors] = await bus.manager("Reload", "a{sv}", {});

            if (errors.length > 0)
                throw new Error(errors.join("\n"));
        });
        this.load_soon();
    }

    show() {
        const { manager, trees, runs } = this.data;
        const is_shown = name => name.toLowerCase().includes(this.filter.value.trim().toLowerCase());

        if (manager.Version !== undefined)
            set_text(this.summary, `${count(manager.NTrees, "tree")}, ${manager.NRunning} running; btd ${manager.Version}` +
                     (manager.Status === "running" ? "" : `, ${manager.Status}`) +
                     (manager.Disk ? `. ${manager.Disk}` : ""));
        set_shown(this.reload, manager.NeedReload);
        set_shown(this.no_trees, manager.Version !== undefined && trees.length === 0);
        set_shown(this.no_runs, manager.Version !== undefined && runs.length === 0);

        const recent = new Map();

        runs.sort((a, b) => Boolean(a.finished) - Boolean(b.finished) || b.started - a.started);
        for (const run of [...runs].sort((a, b) => a.started - b.started))
            recent.set(run.tree, run);
        keep_rows(this.runs, runs.filter(run => is_shown(run.id) || is_shown(run.instance)), run => run.id,
                  run => this.make_run(run), (row, run) => this.update_run(row, run));
        keep_rows(this.trees, trees.filter(tree => is_shown(tree.name)), tree => tree.name, tree => this.make_tree(tree),
                  (row, tree) => this.update_tree(row, tree, recent.get(tree.name)));
    }

    make_run({ id, instance }) {
        return html("tr", {},
                    html("th", { scope: "row" }, link(id, "run", id), instance ? ` (${instance})` : ""),
                    html("td", {}, badge()), html("td"), html("td", { class: "number" }), html("td", { class: "text" }),
                    html("td", { class: "actions" }, button("Halt", () => ask_and_halt(id), { "aria-label": `Halt ${id}` })));
    }

    update_run(row, run) {
        const [, state, started, took, result, actions] = row.children;
        const end = run.finished || Date.now() * 1000;

        set_badge(state.firstChild, run.status);
        set_text(started, time(run.started));
        set_text(took, duration(Math.max(0, run.finished ? end - run.started : Math.round((end - run.started) / 1e6) * 1e6)));
        set_text(result, [run.cause, run.restart].filter(Boolean).join("; "));
        set_shown(actions.firstChild, !run.finished);
    }

    make_tree({ name }) {
        return html("tr", {}, html("th", { scope: "row" }, link(name, "tree", name)), html("td", { class: "text" }),
                    html("td"), html("td", {}, html("a", {}, badge())),
                    html("td", { class: "actions" }, button("Start", () => open_start_form(name),
                                                            { "aria-label": `Start ${name}` })));
    }

    update_tree(row, tree, run) {
        const [, description, autostart, last, actions] = row.children;

        set_text(description, [STATES[tree.state], tree.waiting, tree.description].filter(Boolean).join(": "));
        description.classList.toggle("bad", tree.state !== "ok");
        set_text(autostart, tree.file_state);
        set_shown(last.firstChild, run !== undefined);
        if (run) {
            last.firstChild.href = "#" + cockpit.location.encode(["run", run.id]);
            set_badge(last.firstChild.firstChild, run.status);
        }
        actions.firstChild.disabled = tree.state === "failed" || tree.state === "no file";
    }
}
