/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Draws a tree from left to right, with the layout of d3-hierarchy (Buchheim, Jünger and Leipert, "Improving Walker's
 * Algorithm to Run in Linear Time", 2002). It can be dragged and zoomed. An update only touches nodes that look
 * different; the layout is made again when the fold changes. Each node has an element with its words for screen readers.
 * Its box and its texts are drawn when it comes into sight for the first time, because they cost most of the time.
 */

import { hierarchy, tree } from "d3-hierarchy";

import { button, html, set_text, svg } from "./dom.js";
import { duration, shorten, symbol } from "./format.js";
import { full_name } from "./run-model.js";

const WIDTH = 190, HEIGHT = 40, GAP_X = 46, GAP_Y = 12;
const MARGIN = 16, SCALE_LEAST = 0.005, SCALE_MOST = 4;
/* Texts can be read from the first scale on. Below the other one they would only be specks, and are not shown. */
const SCALE_READABLE = 0.7, SCALE_TEXTS = 0.2;
/* A small tree does not need all the height. */
const HEIGHT_LEAST = 176, HEIGHT_MOST = 480;

export class Picture {
    /* owner: the TreeView */
    constructor(fold, owner) {
        this.fold = fold;
        this.owner = owner;
        this.drawn = new Map(); /* from the index of a node to its elements */
        this.width = 0; /* not shown yet */
        this.height = HEIGHT_LEAST;
        this.scale = 1;
        this.x = 0;
        this.y = 0;
        this.layer = svg("g", { role: "none", onclick: event => this.on_click(event) });
        this.canvas = svg("svg", {
            class: "picture", role: "tree", tabindex: "0", "aria-label": "Picture of the tree",
            onkeydown: event => this.on_key(event),
        }, this.layer);
        this.buttons = html("span", { class: "group", role: "group", "aria-label": "Zoom" },
                            button("+", () => this.zoom(1.25), { title: "Zoom in", "aria-label": "Zoom in" }),
                            button("−", () => this.zoom(0.8), { title: "Zoom out", "aria-label": "Zoom out" }),
                            button("Fit", () => this.fit(), { title: "Show the whole tree" }));
        this.watch_pointer();
        new ResizeObserver(([{ contentRect }]) => this.on_size(contentRect.width)).observe(this.canvas);
    }

    /* Asking the canvas for its size instead would force a layout of the page each time. */
    on_size(width) {
        const is_first = this.width === 0;

        if (width === 0) /* hidden */
            return;
        this.width = width;
        if (is_first)
            this.fit_readable();
        else
            this.update(this.owner.look);
    }

    /* The width can be another one when the picture is shown again. */
    forget_size() {
        this.width = 0;
    }

    watch_pointer() {
        let from = null;

        this.canvas.addEventListener("pointerdown", event => {
            from = event.target.closest(".node") ? null : { x: event.clientX - this.x, y: event.clientY - this.y };
            if (from)
                this.canvas.setPointerCapture(event.pointerId);
        });
        this.canvas.addEventListener("pointermove", event => {
            if (!from)
                return;
            this.x = event.clientX - from.x;
            this.y = event.clientY - from.y;
            this.place();
        });
        this.canvas.addEventListener("pointerup", () => { from = null });
        this.canvas.addEventListener("wheel", event => {
            const box = this.canvas.getBoundingClientRect();

            if (!event.ctrlKey && document.activeElement !== this.canvas)
                return; /* the wheel scrolls the page until the picture is used */
            event.preventDefault();
            this.zoom(event.deltaY < 0 ? 1.1 : 1 / 1.1, event.clientX - box.left, event.clientY - box.top);
        }, { passive: false });
    }

    on_click({ target }) {
        const node = this.fold.nodes[target.closest(".node")?.index];

        if (!node)
            return;
        if (target.closest(".toggle")) {
            this.owner.toggle(node);
        } else {
            this.canvas.focus({ preventScroll: true });
            this.owner.select(node);
        }
    }

    on_key(event) {
        if (event.key === "+" || event.key === "=")
            this.zoom(1.25);
        else if (event.key === "-")
            this.zoom(0.8);
        else if (event.key === "0")
            this.fit();
        else
            this.owner.on_key(event);
    }

    place() {
        this.layer.setAttribute("transform", `translate(${this.x},${this.y}) scale(${this.scale})`);
        this.canvas.classList.toggle("is-small", this.scale < SCALE_TEXTS);
        this.update(this.owner.look);
    }

    /* The point x, y of the canvas stays where it is. */
    zoom(factor, x = this.width / 2, y = this.height / 2) {
        const scale = Math.min(SCALE_MOST, Math.max(SCALE_LEAST, this.scale * factor));

        this.x = x - (x - this.x) * scale / this.scale;
        this.y = y - (y - this.y) * scale / this.scale;
        this.scale = scale;
        this.place();
    }

    /* The whole tree; the root and what is near it, if the scale would be less. */
    fit(least = SCALE_LEAST) {
        const { width, height } = this;

        if (width === 0 || !this.bounds)
            return;
        this.scale = Math.min(1, (width - 2 * MARGIN) / this.bounds.width, (height - 2 * MARGIN) / this.bounds.height);
        this.scale = Math.max(this.scale, least);
        this.x = MARGIN;
        if (this.bounds.height * this.scale <= height)
            this.y = (height - this.bounds.height * this.scale) / 2 - this.bounds.top * this.scale;
        else
            this.y = (height - HEIGHT * this.scale) / 2;
        this.place();
    }

    fit_readable = () => this.fit(SCALE_READABLE);

    /* Moves the picture until the whole node is in sight. */
    reveal(node) {
        const place = this.drawn.get(node.index);
        const { width, height } = this;

        if (!place || width === 0)
            return;

        const left = this.x + place.x * this.scale, top = this.y + place.y * this.scale;
        const into = (at, size, room) => at < MARGIN ? MARGIN - at : Math.min(0, room - MARGIN - size - at);

        this.x += into(left, WIDTH * this.scale, width);
        this.y += into(top, HEIGHT * this.scale, height);
        this.place();
    }

    draw() {
        if (this.fold.nodes.length === 0)
            return;

        const shown = tree().nodeSize([HEIGHT + GAP_Y, WIDTH + GAP_X]).separation(() => 1)(
            hierarchy(this.fold.nodes[0], this.fold.children_shown));
        const all = shown.descendants();
        let top = Infinity, bottom = -Infinity, right = 0;

        for (const { x, y } of all) {
            top = Math.min(top, x);
            bottom = Math.max(bottom, x);
            right = Math.max(right, y);
        }
        this.bounds = { top, height: bottom - top + HEIGHT, width: right + WIDTH + GAP_X };
        this.height = Math.min(HEIGHT_MOST, Math.max(this.height, this.bounds.height + 2 * MARGIN));
        this.canvas.style.height = `${this.height}px`;
        this.drawn.clear();

        const links = all.filter(it => it.children).map(it => this.draw_links(it));

        this.layer.replaceChildren(...links, ...all.map(it => this.draw_node(it.data, it.y, it.x)));
    }

    /* One element for all links to the children: there can be hundreds. */
    draw_links({ x, y, children }) {
        const left = y + WIDTH, middle = left + GAP_X / 2, at = x + HEIGHT / 2;
        const d = children.map(child => `M${left},${at}H${middle}V${child.x + HEIGHT / 2}H${child.y}`).join("");

        return svg("path", { class: "link", "aria-hidden": "true", d });
    }

    draw_node(node, x, y) {
        const group = svg("g", {
            id: `node-${node.index}`, transform: `translate(${x},${y})`, role: "treeitem", "aria-level": node.level,
            "aria-expanded": node.children.length > 0 ? !this.fold.is_folded(node) + "" : null,
        });

        group.index = node.index;
        this.drawn.set(node.index, { group, parts: null, x, y, look: null });
        return group;
    }

    draw_parts(place, node) {
        place.parts = {
            tip: svg("title"), box: svg("rect", { class: "box", width: WIDTH, height: HEIGHT, rx: 4 }),
            mark: svg("text", { class: "mark", x: 15, y: 25, "text-anchor": "middle" }),
            name: svg("text", { class: "name", x: 28, y: 17 }), below: svg("text", { class: "type", x: 28, y: 33 }),
            state: svg("text", { class: "state", x: WIDTH - 8, y: 17, "text-anchor": "end" }),
        };
        place.look = null;
        place.group.append(...Object.values(place.parts));
        if (node.children.length > 0)
            place.group.append(this.draw_toggle(node));
    }

    draw_toggle(node) {
        const is_folded = this.fold.is_folded(node);
        const label = is_folded ? `+${this.fold.hidden(node)}` : "−";
        const width = Math.max(16, 7 * label.length + 6);

        return svg("g", { class: "toggle", "aria-hidden": "true", transform: `translate(${WIDTH + 3},${HEIGHT / 2 - 8})` },
                   svg("rect", { width, height: 16, rx: 8 }),
                   svg("text", { x: width / 2, y: 12, "text-anchor": "middle" }, label),
                   svg("title", {}, is_folded ? "Unfold" : "Fold"));
    }

    is_in_sight({ x, y }) {
        const left = this.x + x * this.scale, top = this.y + y * this.scale;

        return left < this.width && left > -(WIDTH + GAP_X) * this.scale && top < this.height && top > -HEIGHT * this.scale;
    }

    /* look: see TreeView.update(); null: a tree without a run. */
    update(look) {
        for (const [index, place] of this.drawn) {
            const node = this.fold.nodes[index], now = look?.states[index];
            const took = now?.since ? duration(look.took(now)) : "";
            const classes = ["node", now ? `is-${now.status}` : "is-tree", index === this.fold.selected ? "selected" : "",
                             look?.breakpoints.has(index) ? "breakpoint" : "", look?.paused.has(index) ? "paused" : ""]
                .filter(Boolean).join(" ");
            const seen = `${classes} ${took} ${now?.element} ${now?.detail}`;

            if (!place.parts && this.is_in_sight(place))
                this.draw_parts(place, node);
            if (place.look !== seen) {
                place.look = seen;
                this.dress(place, node, now, took, classes);
            }
        }
        if (this.fold.selected !== null)
            this.canvas.setAttribute("aria-activedescendant", `node-${this.fold.selected}`);
    }

    dress({ group, parts }, node, now, took, classes) {
        const title = full_name(node, now);
        const more = now?.detail || (node.name === node.type ? node.title : [node.type, node.title].filter(Boolean).join(" "));

        group.setAttribute("class", classes);
        group.setAttribute("aria-selected", String(node.index === this.fold.selected));
        group.setAttribute("aria-label", [title, node.type, now?.status, now?.detail || node.title].filter(Boolean).join(", "));
        if (!parts)
            return;

        set_text(parts.tip, [`${title} (${node.type})`, node.title, now?.status, now?.detail].filter(Boolean).join("\n"));
        set_text(parts.mark, now ? symbol(now.status) : "○");
        set_text(parts.state, took);
        set_text(parts.name, shorten(title, took ? 15 : 22));
        set_text(parts.below, shorten(more, 26));
    }
}
