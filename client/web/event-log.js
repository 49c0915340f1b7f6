/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The last events of a run, or those around the one that is shown. New events come at the top; rows stay where they are
 * while somebody may be about to click one: while the mouse or the keyboard focus is on the log, or while it is scrolled.
 */

import { button, html, keep_rows, set_attribute, set_shown, table } from "./dom.js";
import { clock, duration, shorten } from "./format.js";

const SHOWN_MAX = 200;
/* So many that follow the event that is shown are there, too. */
const LATER_MAX = 50;
const TEXT_MAX = 400;
/* Nobody can read faster. */
const REFRESH_MS = 250;

function describe({ text, duration: took, waited, variables, long_variables, more_variables }) {
    const set = Object.entries({ ...variables, ...long_variables })
        .map(([name, value]) => `${name} = ${shorten(JSON.stringify(value), TEXT_MAX)}`);

    if (more_variables)
        set.push(`${more_variables} more`);
    return [took ? `after ${duration(took)}` : null, waited ? `waited ${duration(waited)}` : null, text, set.join(", ")]
        .filter(Boolean).join("; ");
}

export class EventLog {
    /* show_at(number) and select(index) are called when the user clicks an event or its node. */
    constructor(model, show_at, select) {
        this.model = model;
        this.show_at = show_at;
        this.select = select;
        this.body = html("tbody");
        this.filter = html("input", { type: "search", placeholder: "Filter events", "aria-label": "Filter events",
                                      oninput: () => this.show() });
        this.empty = html("p", { class: "empty" });
        this.has_pointer = false;
        this.held_back = button("Show new events", () => this.show_new(), { class: "held-back" });
        this.log = html("div", {
            class: "scroll log",
            /* Not "pointerenter": if the page is opened while the mouse rests on this place, it shows new events. */
            onpointermove: () => this.hold(true), onpointerdown: () => this.hold(true),
            onpointerleave: () => this.hold(false), onpointercancel: () => this.hold(false),
            onfocusout: () => this.show_soon(), onscroll: () => this.show_soon(),
        }, table("Events, the latest first", ["Event", "Time", "What", "Node", "Detail"], this.body, { id: "events" }));
        this.element = html("section", { class: "card" },
                            html("div", { class: "bar" }, html("h2", {}, "Event log"), this.filter),
                            html("div", { class: "log-frame" }, this.held_back, this.log), this.empty);
    }

    /* Rows are only made a few times a second, also if each frame has new events. */
    show_soon() {
        this.timer ??= window.setTimeout(() => {
            this.timer = undefined;
            if (this.is_held())
                this.held_back.classList.toggle("is-shown", this.rows()[0]?.number > Number(this.body.firstChild.dataset.key));
            else
                this.show();
        }, REFRESH_MS);
    }

    hold(has_pointer) {
        this.has_pointer = has_pointer;
        if (!has_pointer)
            this.show_soon();
    }

    /* A button that was clicked keeps the focus, but then the mouse tells whether the user is still here. */
    is_held() {
        const focus = document.activeElement;

        return this.at === this.model.at && this.body.firstChild !== null &&
            (this.has_pointer || this.log.scrollTop > 0 || this.log.contains(focus) && focus.matches(":focus-visible"));
    }

    show_new() {
        this.log.scrollTop = 0;
        this.show();
    }

    /* The events to show, the latest first. */
    rows() {
        const { events, at, missing } = this.model, shown = [];
        const words = this.filter.value.trim().toLowerCase();

        const newest = at === null ? events.length : Math.min(events.length, at - missing + LATER_MAX);

        for (let i = newest - 1; i >= 0 && shown.length < SHOWN_MAX; i--) {
            const event = events[i];

            if (words && !`${event.event} ${event.label ?? event.path ?? ""} ${describe(event)}`.toLowerCase().includes(words))
                continue;
            shown.push(event);
        }
        return shown;
    }

    show() {
        const { at, has_record, missing } = this.model, shown = this.rows();

        set_shown(this.empty, shown.length === 0 || missing > 0);
        this.empty.textContent = !has_record ? "This run has no run record; only events since this page was opened are here." :
            missing > 0 ? `The events up to ${missing} are not shown here.` : "There is no such event.";
        keep_rows(this.body, shown, event => event.number, event => this.make_row(event),
                  (row, { number }) => {
                      set_attribute(row, "aria-current", number === at ? "true" : null);
                      row.classList.toggle("later", at !== null && number > at);
                  });
        this.held_back.classList.remove("is-shown");
        if (this.at !== at)
            this.reveal();
        this.at = at;
    }

    /* Scrolls the log, but not the page, to the event that is shown. */
    reveal() {
        const row = this.body.querySelector("[aria-current]") ?? this.body.firstElementChild;
        const log = this.log.getBoundingClientRect(), box = row?.getBoundingClientRect();

        if (box && (box.top < log.top + box.height || box.bottom > log.bottom))
            this.log.scrollTop += box.top - log.top - log.height / 2;
    }

    make_row(event) {
        return html("tr", { class: event.status ? `is-${event.status}` : null },
                    html("td", {}, button(String(event.number), () => this.show_at(event.number), {
                        class: "inline", title: "Show the run as it was after this event",
                        "aria-label": `Show the run after event ${event.number}`,
                    })),
                    html("td", { class: "time" }, clock(event.time)), html("td", { class: "event" }, event.event),
                    html("td", { class: "text" }, event.node === undefined ? "" :
                        button(event.label ?? event.path, () => this.select(event.node), { class: "inline" })),
                    html("td", { class: "text" }, describe(event)));
    }
}
