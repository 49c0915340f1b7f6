/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A tree as a table with a row for each node, for screen readers and for those who prefer text. */

import { badge, set_badge } from "./badge.js";
import { button, html, keep_rows, set_attribute, set_text, table } from "./dom.js";
import { count, duration } from "./format.js";
import { full_name } from "./run-model.js";

export class TreeList {
    /* owner: the TreeView */
    constructor(fold, owner) {
        this.fold = fold;
        this.owner = owner;
        this.body = html("tbody");
        this.table = table("Nodes", ["Node", "Type", "State", "Took", "Detail"], this.body, {
            role: "treegrid", class: "tree-list", onkeydown: event => owner.on_key(event),
        });
        this.element = html("div", { class: "scroll" }, this.table);
    }

    draw() {
        keep_rows(this.body, this.fold.shown(), node => node.index, node => this.make_row(node),
                  (row, node) => this.fold_row(row, node));
    }

    make_row(node) {
        const toggle = node.children.length > 0 ? button("", () => this.owner.toggle(node), { class: "fold", tabindex: "-1" }) :
            html("span", { class: "fold" });
        const name = html("td", { role: "gridcell", class: "name" }, toggle, html("span", {}, node.name));

        name.style.paddingInlineStart = `${(node.level - 1) * 1.2 + 0.4}rem`;

        const row = html("tr", { role: "row", "aria-level": node.level, onclick: () => this.owner.select(node) }, name,
                    html("td", { role: "gridcell" }, node.type), html("td", { role: "gridcell" }, badge()),
                    html("td", { role: "gridcell", class: "number" }), html("td", { role: "gridcell", class: "text" }));

        row.index = node.index;
        return row;
    }

    fold_row(row, node) {
        const is_folded = this.fold.is_folded(node);

        if (node.children.length === 0)
            return;
        set_attribute(row, "aria-expanded", String(!is_folded));
        set_text(row.querySelector(".fold"), is_folded ? "▸" : "▾");
        set_attribute(row.querySelector(".fold"), "aria-label", is_folded ? `Unfold ${count(this.fold.hidden(node), "node")}` : "Fold");
    }

    update(look) {
        const selected = this.fold.selected ?? 0;

        for (const row of this.body.children) {
            const node = this.fold.nodes[row.index], [name, , state, took, detail] = row.children;
            const now = look?.states[node.index] ?? { status: "idle", duration: 0, detail: "" };
            const text = [look?.breakpoints.has(node.index) ? "breakpoint" : null,
                          look?.paused.has(node.index) ? "paused here" : null, now.detail || node.title]
                .filter(Boolean).join("; ");
            const time = now.since ? duration(look.took(now)) : "";
            const seen = `${now.status} ${time} ${node.index === selected && this.fold.selected} ${now.element} ${text}`;

            if (row.seen === seen)
                continue;
            row.seen = seen;
            set_text(name.lastChild, full_name(node, now));
            set_badge(state.firstChild, now.status);
            set_text(took, time);
            set_text(detail, text);
            set_attribute(row, "tabindex", node.index === selected ? "0" : "-1");
            set_attribute(row, "aria-selected", String(node.index === this.fold.selected));
        }
    }

    reveal(node) {
        const row = this.body.querySelector(`[data-key="${node.index}"]`);

        if (this.table.contains(document.activeElement))
            row?.focus();
        row?.scrollIntoView({ block: "nearest" });
    }
}
