/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A form with a field for each input of a tree, made from the declared types, that starts the tree. */

import { explain, is_refused, start, tree_properties } from "./bus.js";
import { advice } from "./access.js";
import { show_error } from "./alerts.js";
import { button, html } from "./dom.js";
import { shorten } from "./format.js";

const DEFAULT_MAX = 100;
const TYPES = {
    bool: "true or false", int: "an integer", number: "a number", string: "text", list: "a list, as JSON",
    object: "an object, as JSON", any: "any value, as JSON",
};

/* Each field has the element to show, and text(): the JSON text of its value, or null if it is to be left out. */
function make_field({ name, type, required, default: first, long_default, description }, given) {
    const id = "input-" + name;
    const write = json => type === "string" ? JSON.parse(json) : json;
    const without = first === undefined ? "" : write(JSON.stringify(first));
    const text = given === undefined ? without : write(given);
    const common = { id, name, required, "aria-describedby": id + "-help" };
    let input;

    if (type === "bool") {
        input = html("select", common, required ? html("option", { value: "" }, "") : null,
                     ["true", "false"].map(word => html("option", { value: word, selected: word === text }, word)));
    } else if (type === "int") {
        input = html("input", { ...common, type: "text", inputmode: "numeric", pattern: "-?[0-9]+", value: text });
    } else if (type === "number") {
        input = html("input", { ...common, type: "number", step: "any", value: text });
    } else if (type === "string") {
        input = html("input", { ...common, type: "text", value: text, required: false });
    } else {
        input = html("textarea", { ...common, rows: text.length > 60 ? 5 : 2, spellcheck: "false" }, text);
        input.addEventListener("input", () => input.setCustomValidity(json_error(input.value)));
    }

    const help = [description, TYPES[type] ?? type, required ? "required" : null,
                  long_default ? `without a value: ${shorten(long_default, DEFAULT_MAX)}` : null].filter(Boolean).join("; ");

    return {
        name,
        element: html("div", { class: "field" }, html("label", { for: id }, name), input,
                      html("small", { id: id + "-help" }, help)),
        text() {
            if (!required && (input.value === without || type !== "string" && input.value.trim() === ""))
                return null;
            return type === "string" ? JSON.stringify(input.value) : input.value;
        },
    };
}

function json_error(text) {
    if (text.trim() === "")
        return "";
    try {
        JSON.parse(text);
        return "";
    } catch (error) {
        return "This is not JSON: " + error.message;
    }
}

/* The JSON texts of the variables to give, by their names. */
const read_fields = fields =>
    Object.fromEntries(fields.map(field => [field.name, field.text()]).filter(([, text]) => text !== null));

/* given: the JSON texts of inputs, instead of the defaults; kept ones get their last value anyway. */
export async function open_start_form(tree, instance = "", given = {}) {
    let properties;

    try {
        properties = await tree_properties(tree);
    } catch (error) {
        show_error(`Cannot start '${tree}'`, error);
        return;
    }

    /* A tree without inputs takes any variable. */
    const others = Object.keys(given).filter(name => !properties.Inputs.some(input => input.name === name));
    const inputs = [...properties.Inputs, ...others.map(name => ({ name, type: "any", required: false }))];
    const fields = inputs.map(input => make_field(input, input.kept ? undefined : given[input.name]));
    const problem = html("div", { class: "alert danger", role: "alert", hidden: true });
    const name = html("input", { id: "instance", type: "text", pattern: "[A-Za-z0-9_.\\-]*", maxlength: 100,
                                 value: instance, "aria-describedby": "instance-help" });
    const submit = html("button", { type: "submit", class: "primary" }, "Start");
    const dialog = html("dialog", { class: "start", "aria-labelledby": "start-title" });
    const form = html("form", {
        onsubmit: async event => {
            event.preventDefault();
            submit.disabled = true;
            problem.hidden = true;
            try {
                const options = name.value ? { instance: cockpit.variant("s", name.value) } : {};
                const id = await start(tree, read_fields(fields), options);

                dialog.close();
                cockpit.location.go(["run", id]);
            } catch (error) {
                problem.replaceChildren(...[html("p", {}, explain(error)), is_refused(error) ? advice() : null]
                    .filter(Boolean));
                problem.hidden = false;
            } finally {
                submit.disabled = false;
            }
        },
    }, html("h2", { id: "start-title" }, `Start ${tree}`),
                      properties.Description ? html("p", {}, properties.Description) : null, problem,
                      ...fields.map(field => field.element),
                      html("details", { open: instance !== "" }, html("summary", {}, "Instance"),
                           html("div", { class: "field" }, html("label", { for: "instance" }, "Name of the instance"), name,
                                html("small", { id: "instance-help" },
                                     "Each instance of a tree can have one run at a time. The name may be empty."))),
                      html("div", { class: "buttons" }, submit, button("Cancel", () => dialog.close())));

    dialog.addEventListener("close", () => dialog.remove());
    dialog.append(form);
    document.body.append(dialog);
    dialog.showModal();
}
