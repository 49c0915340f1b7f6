/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Makes elements of HTML and SVG. Texts are always text nodes, so nothing from a tree can become markup. */

function make(element, attributes, children) {
    for (const [name, value] of Object.entries(attributes ?? {})) {
        if (name.startsWith("on"))
            element.addEventListener(name.slice(2), value);
        else if (value === true)
            element.setAttribute(name, "");
        else if (value !== false && value !== null && value !== undefined)
            element.setAttribute(name, value);
    }
    element.append(...children.flat().filter(child => child !== null && child !== undefined && child !== false));
    return element;
}

export const html = (tag, attributes, ...children) => make(document.createElement(tag), attributes, children);

export const svg = (tag, attributes, ...children) =>
    make(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

/* If the action is asynchronous, the button is busy until it has ended: a second click does nothing. */
export function button(label, action, attributes) {
    const it = html("button", {
        type: "button",
        onclick: async event => {
            if (it.hasAttribute("aria-busy"))
                return;

            const pending = action(event);

            if (!(pending instanceof Promise))
                return;
            it.setAttribute("aria-busy", "true");
            try {
                await pending;
            } finally {
                it.removeAttribute("aria-busy");
            }
        },
        ...attributes,
    }, label);

    return it;
}

/* path: the parts of the location in this page, such as "run", "boot.1". */
export const link = (label, ...path) => html("a", { href: "#" + cockpit.location.encode(path) }, label);

/* Only a change touches the document, so that a selection and the place of the reader stay. */
export function set_text(element, text) {
    if (element.textContent !== text)
        element.textContent = text;
}

export function set_attribute(element, name, value) {
    if (value === null || value === false)
        element.removeAttribute(name);
    else if (element.getAttribute(name) !== String(value))
        element.setAttribute(name, value);
}

export const set_shown = (element, is_shown) => set_attribute(element, "hidden", is_shown ? null : "");

export const table = (caption, titles, body, attributes) =>
    html("table", attributes, html("caption", {}, caption),
         html("thead", {}, html("tr", {}, titles.map(title => html("th", { scope: "col" }, title)))), body);

/* Makes the rows of a table those of the items, and keeps the rows that were there before with their focus.
 * make(item) returns a row; update(row, item) is called for all. */
export function keep_rows(body, items, key_of, make_row, update) {
    const before = new Map(Array.from(body.children, row => [row.dataset.key, row]));
    let at = body.firstElementChild;

    for (const item of items) {
        const key = String(key_of(item));
        let row = before.get(key);

        before.delete(key);
        if (!row) {
            row = make_row(item);
            row.dataset.key = key;
        }
        if (row === at)
            at = at.nextElementSibling;
        else
            body.insertBefore(row, at);
        update(row, item);
    }
    for (const row of before.values())
        row.remove();
}

/* A question before something is changed. Resolves to the form's data, or to null. content: what the form shows. */
export function ask(title, confirm, ...content) {
    return new Promise(resolve => {
        const form = html("form", { method: "dialog" }, html("h2", { id: "question" }, title), ...content,
                          html("div", { class: "buttons" },
                               html("button", { value: "yes", class: "primary" }, confirm),
                               html("button", { value: "no", formnovalidate: true }, "Cancel")));
        const dialog = html("dialog", { "aria-labelledby": "question" }, form);

        dialog.addEventListener("close", () => {
            dialog.remove();
            resolve(dialog.returnValue === "yes" ? new FormData(form) : null);
        });
        document.body.append(dialog);
        dialog.showModal();
    });
}
