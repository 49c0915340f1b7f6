/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Messages at the top of the page: errors of calls, which stay until they are closed, and the state of btd. */

import { advice } from "./access.js";
import { explain, is_refused } from "./bus.js";
import { button, html } from "./dom.js";

const place = () => document.getElementById("alerts");

function show(kind, title, ...content) {
    const alert = html("div", { class: "alert " + kind }, html("strong", {}, title), ...content);

    alert.prepend(button("×", () => alert.remove(), { class: "close", "aria-label": "Close" }));
    place().append(alert);
    return alert;
}

/* tried: a sentence, such as "Cannot start 'boot'". */
export function show_error(tried, error) {
    console.warn(tried, error);
    place().querySelectorAll(".danger").forEach(old => old.remove());
    show("danger", tried, html("p", {}, explain(error)), is_refused(error) ? advice() : null);
}

/* Runs something that a user has asked for, and shows its error. Returns whether it has succeeded. */
export async function attempt(tried, action) {
    try {
        await action();
        place().querySelectorAll(".danger").forEach(old => old.remove());
        return true;
    } catch (error) {
        show_error(tried, error);
        return false;
    }
}

let lost = null;

/* There is one message at most; text: null removes it. */
export function show_connection(text) {
    if (lost?.dataset.text === text)
        return;
    lost?.remove();
    lost = null;
    if (text !== null) {
        lost = show("warning", text, html("p", {}, "This page continues by itself when btd is back."));
        lost.dataset.text = text;
    }
}
