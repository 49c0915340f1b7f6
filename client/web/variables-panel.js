/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The variables of a run; what changes lights up. */

import { attempt } from "./alerts.js";
import * as bus from "./bus.js";
import { ask, button, html, keep_rows, set_shown, set_text, table } from "./dom.js";
import { shorten } from "./format.js";

const SHOWN_MAX = 300;
const LIT_MS = 2000;

export class VariablesPanel {
    constructor(model) {
        this.model = model;
        this.body = html("tbody");
        this.empty = html("p", { class: "empty" }, "There are no variables.");
        this.element = html("section", { class: "card" }, table("Variables", ["Name", "Value", ""], this.body,
                                                                { id: "variables" }), this.empty);
    }

    show() {
        const variables = Object.entries(this.model.variables_shown()).sort(([a], [b]) => a < b ? -1 : 1);

        set_shown(this.empty, variables.length === 0);
        keep_rows(this.body, variables, ([name]) => name, ([name]) => this.make_row(name),
                  (row, [, value]) => this.update(row, value));
    }

    make_row(name) {
        return html("tr", {}, html("th", { scope: "row" }, name), html("td", { class: "text" }, html("code")),
                    html("td", { class: "actions" }, button("Set", () => this.edit(name), { "aria-label": `Set ${name}` })));
    }

    update(row, value) {
        const [, text, actions] = row.children, json = JSON.stringify(value), is_new = text.firstChild.textContent === "";

        set_shown(actions.firstChild, this.model.at === null && this.model.is_object && !this.model.is_finished());
        if (row.json === json)
            return;
        row.json = json;
        set_text(text.firstChild, shorten(json, SHOWN_MAX));
        if (is_new)
            return;
        row.classList.add("lit");
        window.setTimeout(() => row.classList.remove("lit"), LIT_MS);
    }

    async edit(name) {
        const text = html("textarea", { id: "value", name: "value", rows: 4, required: true, spellcheck: "false" },
                          JSON.stringify(this.model.variables[name], null, 1));

        text.addEventListener("input", () => {
            try {
                JSON.parse(text.value);
                text.setCustomValidity("");
            } catch (error) {
                text.setCustomValidity("This is not JSON: " + error.message);
            }
        });

        const answer = await ask(`Set ${name}`, "Set", html("div", { class: "field" },
                                                            html("label", { for: "value" }, "Value, as JSON"), text));

        if (answer)
            await attempt(`Cannot set '${name}'`, () => bus.run(this.model.id, "SetVariables", "a{sv}",
                                                                { [name]: bus.variant(answer.get("value")) }));
    }
}
