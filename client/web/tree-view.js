/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A tree as a picture or as a list; both show and hide the same nodes and share the selection. */

import { button, html, set_attribute, set_shown } from "./dom.js";
import { Fold } from "./fold.js";
import { Picture } from "./picture.js";
import { TreeList } from "./tree-list.js";

export class TreeView {
    /* on_select(node) is called when the user selects a node. */
    constructor(nodes, on_select) {
        this.nodes = nodes;
        this.on_select = on_select;
        this.fold = new Fold(nodes);
        this.look = null;
        this.picture = new Picture(this.fold, this);
        this.list = new TreeList(this.fold, this);
        this.is_list = localStorage.getItem("btd:view") === "list";
        this.as_picture = button("Picture", () => this.choose(false));
        this.as_list = button("List", () => this.choose(true));
        this.search = html("input", { type: "search", placeholder: "Find a node", "aria-label": "Find a node",
                                      onkeydown: event => event.key === "Enter" && this.find() });
        this.element = html("div", { class: "tree-view" },
                            html("div", { class: "bar" }, html("span", { class: "group", role: "group", "aria-label": "View" },
                                                               this.as_picture, this.as_list),
                                 this.search,
                                 nodes.length > 1 ? button("Unfold all", () => this.unfold_all()) : null,
                                 html("span", { class: "space" }), this.picture.buttons),
                            this.picture.canvas, this.list.element);
    }

    get view() {
        return this.is_list ? this.list : this.picture;
    }

    show() {
        set_shown(this.picture.canvas, !this.is_list);
        set_shown(this.picture.buttons, !this.is_list);
        set_shown(this.list.element, this.is_list);
        set_attribute(this.as_picture, "aria-pressed", String(!this.is_list));
        set_attribute(this.as_list, "aria-pressed", String(this.is_list));
        this.draw();
        if (this.is_list)
            this.picture.forget_size();
        this.picture.fit_readable();
    }

    /* The same tree, read again. */
    set_nodes(nodes) {
        this.nodes = nodes;
        this.fold.nodes = nodes;
        this.draw();
    }

    choose(is_list) {
        this.is_list = is_list;
        localStorage.setItem("btd:view", is_list ? "list" : "picture");
        this.show();
    }

    draw() {
        this.view.draw();
        this.view.update(this.look);
    }

    /* look: states by the index of the node, and sets of nodes: breakpoints, paused. */
    update(look) {
        this.look = look;
        this.view.update(look);
    }

    toggle(node) {
        this.fold.toggle(node);
        this.draw();
    }

    unfold_all() {
        this.fold.unfold_all();
        this.draw();
        this.picture.fit_readable();
    }

    select(node) {
        this.fold.selected = node.index;
        if (node.above && this.fold.shown().indexOf(node) < 0) {
            this.fold.unfold_above(node);
            this.draw();
        } else {
            this.view.update(this.look);
        }
        this.view.reveal(node);
        this.on_select(node);
    }

    /* The next node whose name, type or title has the text. */
    find() {
        const text = this.search.value.trim().toLowerCase(), start = (this.fold.selected ?? -1) + 1;
        const order = [...this.nodes.slice(start), ...this.nodes.slice(0, start)];
        const found = text && order.find(node => [node.name, node.type, node.title]
            .some(word => word.toLowerCase().includes(text)));

        this.search.setCustomValidity(text && !found ? "No node has this text" : "");
        this.search.reportValidity();
        if (found)
            this.select(found);
    }

    /* Keys that both views have. */
    on_key(event) {
        const selected = this.nodes[this.fold.selected];

        if (event.target !== event.currentTarget && !event.target.matches?.("tr"))
            return;
        if ((event.key === " " || event.key === "Enter") && selected) {
            this.toggle(selected);
        } else if (selected && event.key === "ArrowRight" && this.fold.is_folded(selected)) {
            this.toggle(selected);
        } else if (selected && event.key === "ArrowLeft" && this.fold.children_shown(selected).length > 0) {
            this.toggle(selected);
        } else {
            const next = this.fold.neighbour(event.key);

            if (!next)
                return;
            this.select(next);
        }
        event.preventDefault();
    }
}
