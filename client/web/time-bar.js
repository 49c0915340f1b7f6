/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Goes back and forth through the events of a run. */

import { button, html, set_attribute, set_shown, set_text } from "./dom.js";
import { clock, count, duration } from "./format.js";

export class TimeBar {
    /* show_at(number) is called with the number of an event, or null for now. */
    constructor(model, show_at) {
        this.model = model;
        this.show_at = show_at;
        this.slider = html("input", { type: "range", min: 0, step: 1, "aria-label": "Event that is shown",
                                      oninput: () => this.go(Number(this.slider.value)) });
        this.text = html("span", { class: "event-shown" });
        this.back = button("◀", () => this.go(this.at() - 1), { "aria-label": "Event before", title: "Event before" });
        this.next = button("▶", () => this.go(this.at() + 1), { "aria-label": "Next event", title: "Next event" });
        this.now = button("Now", () => this.go(null));
        this.element = html("div", { class: "card bar time-bar" }, this.back, this.slider, this.next, this.text, this.now);
    }

    at = () => this.model.at ?? this.model.last;

    go(number) {
        this.show_at(number === null || number >= this.model.last ? null : Math.max(this.model.missing, number));
    }

    show() {
        const { at, last, missing } = this.model;

        set_shown(this.element, last > 0);
        set_attribute(this.slider, "min", missing);
        set_attribute(this.slider, "max", last);
        if (document.activeElement !== this.slider || at === null)
            this.slider.value = String(this.at());
        this.back.disabled = this.at() <= missing;
        this.next.disabled = at === null;
        this.now.disabled = at === null;
        set_text(this.now, this.model.is_finished() ? "End" : "Now");
        set_text(this.text, at === null ? count(last, "event") :
            `event ${at} of ${last}, ${clock(this.model.time())}, ` +
                 `${duration(Math.max(0, this.model.time() - this.model.properties.Started))} after the start`);
        set_attribute(this.slider, "aria-valuetext", this.text.textContent);
    }
}
