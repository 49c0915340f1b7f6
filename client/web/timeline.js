/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* When each node of a run ran, waited and was halting: a bar for each execution, from the events that are kept. */

import { button, html, keep_rows, set_attribute, set_shown, set_text, svg, table } from "./dom.js";
import { clock, duration } from "./format.js";

const REFRESH_MS = 500;
/* More rows can be seen after folding others; of a node, only the last executions. */
const ROWS_MAX = 100, SPANS_MAX = 500;
/* The units of the time axis. */
const WIDTH = 1000, LEAST = 3, ROW = 16;
const LASTING = new Set(["running", "waiting", "halting"]);
const ORDER = ["running", "success", "failure", "skipped", "halted", "waiting", "halting"];

export class Timeline {
    /* shown() returns the nodes to show; select(index) and show_at(number) are called when the user clicks. */
    constructor(model, shown, select, show_at) {
        this.model = model;
        this.shown = shown;
        this.select = select;
        this.show_at = show_at;
        this.read_to = 0;
        this.spans = new Map(); /* from the index of a node to what it did, the latest last */
        this.body = html("tbody");
        this.range = html("span", { class: "range" });
        this.rest = html("p", { class: "empty", hidden: true },
                         `Only ${ROWS_MAX} nodes are shown. Fold parts of the tree to see others.`);
        this.element = html("section", { class: "card", hidden: true },
                            html("div", { class: "bar" }, html("h2", {}, "Timeline"), this.range),
                            html("div", { class: "scroll timeline" },
                                 table("When each node ran", ["Node", "Executions", "When"], this.body, { id: "timeline" })),
                            this.rest);
    }

    /* At once when it appears, so that it does not move what is below when that is there already. */
    show_soon() {
        if (this.element.hidden)
            this.show();
        this.timer ??= window.setTimeout(() => {
            this.timer = undefined;
            this.show();
        }, REFRESH_MS);
    }

    read() {
        const { events, missing } = this.model;

        for (let i = Math.max(0, this.read_to - missing); i < events.length; i++)
            this.add(events[i]);
        this.read_to = this.model.last;
    }

    add({ node, time, event, status, duration: took }) {
        const state = status ?? (event === "at-breakpoint" ? "waiting" : event);

        if (node === undefined || !ORDER.includes(state))
            return;
        if (!this.spans.has(node))
            this.spans.set(node, { list: [], count: 0, running: null });

        const row = this.spans.get(node), last = row.list[row.list.length - 1];

        if (last && last.to === null)
            last.to = time;
        else if (!LASTING.has(state))
            row.list.push({ from: time - (took ?? 0), to: time, state });
        if (LASTING.has(state)) {
            row.list.push({ from: time, to: null, state });
            if (state === "running")
                row.running = row.list[row.list.length - 1];
        } else {
            row.count++;
            if (row.running)
                row.running.state = state; /* what it ran for, also if it had to be halted first */
            row.running = null;
        }
        if (row.list.length > SPANS_MAX)
            row.list.splice(0, SPANS_MAX / 2);
    }

    show() {
        const { model } = this, { Started: started, Finished: finished } = model.properties;

        if (this.element.hidden = model.nodes.length === 0 || model.events.length === 0)
            return;
        this.read();

        const nodes = this.shown().filter(node => this.spans.has(node.index));

        this.from = model.missing > 0 ? model.events[0].time : started;
        this.to = Math.max(this.from + 1, finished || Date.now() * 1000 - model.skew);

        const took = Math.round((this.to - this.from) / 1000) * 1000;

        set_text(this.range, `${clock(this.from)} to ${clock(this.to)}, ${duration(took)}`);
        set_shown(this.rest, nodes.length > ROWS_MAX);
        keep_rows(this.body, nodes.slice(0, ROWS_MAX), node => node.index, node => this.make_row(node),
                  (row, node) => this.update(row, this.spans.get(node.index)));
    }

    make_row(node) {
        const bars = svg("svg", { viewBox: `0 0 ${WIDTH} ${ROW}`, preserveAspectRatio: "none", "aria-hidden": "true",
                                  onclick: event => this.go(event, bars) },
                         ORDER.map(state => svg("path", { class: `is-${state}` })), svg("line", { y1: 0, y2: ROW }));
        /* Not for Tab, which would stop here a hundred times: the tree above selects nodes with the keyboard. */
        const name = button(node.name, () => this.select(node.index), { class: "inline", title: node.path, tabindex: "-1" });

        name.style.paddingInlineStart = `${(node.level - 1) * .8}rem`;
        return html("tr", {}, html("th", { scope: "row" }, name), html("td", { class: "number" }),
                    html("td", { class: "bars" }, bars));
    }

    x = time => Math.round((time - this.from) * WIDTH / (this.to - this.from));

    update(row, { list, count }) {
        const [, executions, cell] = row.children, bars = cell.firstChild;
        const last = list[list.length - 1], paths = {}, ends = {};

        for (const { from, to, state } of list) {
            const start = Math.min(WIDTH - LEAST, Math.max(0, this.x(from)));
            const width = Math.max(LEAST, this.x(to ?? this.to) - start);

            if (to !== null && to < this.from || start + width <= (ends[state] ?? 0))
                continue;
            ends[state] = start + width;
            paths[state] = `${paths[state] ?? ""}M${start},3h${width}v10h-${width}z`;
        }
        ORDER.forEach((state, i) => set_attribute(bars.children[i], "d", paths[state] ?? null));
        set_text(executions, last.to === null ? `${count + 1}, ${last.state}` : String(count));

        const line = bars.lastChild, x = this.model.at === null ? null : this.x(this.model.time());

        set_attribute(line, "x1", x);
        set_attribute(line, "x2", x);
        set_attribute(line, "class", x === null ? null : "at");
    }

    /* The run as it was at the time that was clicked. */
    go(click, bars) {
        const box = bars.getBoundingClientRect();
        const time = this.from + (click.clientX - box.left) / box.width * (this.to - this.from);
        const { events } = this.model;
        let number = events[0].number;

        for (const event of events) {
            if (event.time > time)
                break;
            number = event.number;
        }
        this.show_at(number);
    }
}
