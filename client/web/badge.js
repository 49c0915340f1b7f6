/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A state as a coloured word with its symbol. */

import { html, set_attribute, set_text } from "./dom.js";
import { symbol } from "./format.js";

export const badge = () => html("span", { class: "badge" });

export function set_badge(element, status) {
    set_attribute(element, "class", `badge is-${status}`);
    set_text(element, `${symbol(status)} ${status}`);
}
