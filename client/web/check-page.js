/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Checks any tree file of the machine. */

import { attempt } from "./alerts.js";
import { html, link, set_shown } from "./dom.js";
import { SourceView } from "./source-view.js";

export class CheckPage {
    constructor(file) {
        this.source = new SourceView();
        this.file = html("input", { id: "file", type: "text", required: true, value: file, placeholder: "/etc/btd/trees/…",
                                    size: 50 });
        this.card = html("section", { class: "card", hidden: true }, this.source.element);
        this.element = html("div", {},
                            html("nav", { "aria-label": "Breadcrumb" }, link("Behavior trees"), " / Check a file"),
                            html("h1", {}, "Check a tree file"),
                            html("form", { class: "line-form", onsubmit: event => {
                                event.preventDefault();
                                if (this.file.value === cockpit.location.options.file)
                                    this.load();
                                else
                                    cockpit.location.replace(["check"], { file: this.file.value }); /* see follow() */
                            } }, html("label", { for: "file" }, "File "), this.file, " ",
                                 html("button", { type: "submit", class: "primary" }, "Check")),
                            this.card);
    }

    close() {}

    /* Another file; the focus stays in the form. */
    follow(path, { file = "" }) {
        if (path[0] !== "check")
            return false;
        this.file.value = file;
        this.load();
        return true;
    }

    async load() {
        set_shown(this.card, this.file.value !== "");
        if (this.file.value)
            await attempt(`Cannot check '${this.file.value}'`, () => this.source.load(this.file.value));
    }
}
