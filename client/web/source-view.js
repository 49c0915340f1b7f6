/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The text of a tree file with its errors and warnings at their lines, as `btctl validate --json` finds them. */

import { html } from "./dom.js";
import { count } from "./format.js";

/* Returns the diagnostics of a file. btctl exits with 1 if there are errors, and prints them all the same. */
async function validate(path) {
    let output = "";

    try {
        await cockpit.spawn(["btctl", "validate", "--json", path], { superuser: "try", err: "message" })
            .stream(text => { output += text });
    } catch (error) {
        if (error.problem === "not-found")
            throw new Error("btctl is not installed.");
        if (output === "")
            throw error;
    }
    return JSON.parse(output).flatMap(file => file.diagnostics);
}

function show_diagnostic({ severity, column, text }) {
    return html("div", { class: "diagnostic " + severity }, `${severity}, column ${column}: ${text}`);
}

export class SourceView {
    constructor() {
        this.result = html("p", { role: "status", class: "result" });
        this.others = html("ul");
        this.lines = html("div", { class: "source", tabindex: "0", role: "region", "aria-label": "Text of the file" });
        this.element = html("div", {}, this.result, this.others, this.lines);
    }

    /* Only the last call shows what it has read. */
    async load(path) {
        const call = this.call = {};
        let problem = null;

        this.result.textContent = "";
        this.others.replaceChildren();
        this.lines.replaceChildren();
        const [text, diagnostics] = await Promise.all([
            cockpit.file(path, { superuser: "try" }).read(),
            validate(path).catch(error => {
                problem = error;
                return [];
            })]);

        if (this.call !== call)
            return;
        if (text === null)
            throw new Error(`'${path}' does not exist.`);
        this.show(path, text, diagnostics);
        if (problem) {
            this.result.textContent = `The file was not checked: ${problem.message}`;
            this.result.className = "result bad";
        }
    }

    show(path, text, diagnostics) {
        const here = diagnostics.filter(it => it.file === path), others = diagnostics.filter(it => it.file !== path);
        const errors = diagnostics.filter(it => it.severity === "error").length, warnings = diagnostics.length - errors;

        this.result.textContent = diagnostics.length === 0 ? "The file is valid." :
            `${count(errors, "error")}, ${count(warnings, "warning")}`;
        this.result.className = errors > 0 ? "result bad" : "result";
        this.others.replaceChildren(...others.map(it => html("li", {}, `${it.file}:${it.line}:${it.column}: ${it.text}`)));
        this.lines.replaceChildren(...text.replace(/\n$/, "").split("\n").map((line, i) => {
            const found = here.filter(it => it.line === i + 1);

            return html("div", { class: found.length > 0 ? "line marked" : "line" },
                        html("span", { class: "line-number" }, String(i + 1)), html("code", {}, line),
                        found.map(show_diagnostic));
        }));
        this.lines.querySelector(".marked")?.scrollIntoView?.({ block: "nearest" });
    }
}
