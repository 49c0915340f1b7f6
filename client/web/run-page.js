/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A run, live or as it was after one of its events: the tree, the selected node, the variables and the event log. */

import { attempt } from "./alerts.js";
import { badge, set_badge } from "./badge.js";
import * as bus from "./bus.js";
import { button, html, link, set_shown, set_text } from "./dom.js";
import { EventLog } from "./event-log.js";
import { duration, time } from "./format.js";
import { ask_and_halt } from "./halt.js";
import { NodePanel } from "./node-panel.js";
import { RunModel } from "./run-model.js";
import { open_start_form } from "./start-form.js";
import { TimeBar } from "./time-bar.js";
import { Timeline } from "./timeline.js";
import { RunsTable } from "./tree-page.js";
import { TreeView } from "./tree-view.js";
import { VariablesPanel } from "./variables-panel.js";

const REFRESH_MS = 500;

export class RunPage {
    constructor(id) {
        this.model = new RunModel(id, () => this.show());
        this.state = html("span", { role: "status" }, badge());
        this.facts = html("p", { class: "summary" });
        this.cause = html("p", { class: "cause" });
        this.nodes = null; /* those of the view */
        this.tree = html("section", { class: "card picture-card" });
        this.node = new NodePanel(this.model);
        this.variables = new VariablesPanel(this.model);
        this.log = new EventLog(this.model, number => this.show_at(number), index => this.select(index));
        this.time = new TimeBar(this.model, number => this.show_at(number));
        this.timeline = new Timeline(this.model, () => this.view?.fold.shown() ?? [], index => this.select(index),
                                     number => this.show_at(number));
        this.others = new RunsTable(() => this.model.properties.Tree);
        this.buttons = this.make_buttons();
        this.crumbs = html("nav", { "aria-label": "Breadcrumb" });
        this.element = html("div", {}, this.crumbs,
                            html("header", {}, html("h1", {}, id), this.state, html("span", { class: "space" }),
                                 Object.values(this.buttons)),
                            this.facts, this.cause,
                            html("div", { class: "columns" },
                                 html("div", { class: "wide" }, this.tree, this.time.element, this.timeline.element),
                                 html("div", { class: "narrow" }, this.node.element, this.variables.element)),
                            this.log.element, this.others.element);
        this.stop = bus.listen((kind, path) => kind === "changed" && path === undefined && this.load_others_soon());
        this.clock = window.setInterval(() => this.model.is_finished() || this.on_second(), 1000);
    }

    on_second() {
        this.show();
        this.model.read_details(this.view?.fold.shown() ?? []).catch(() => {}); /* btd is away */
    }

    make_buttons() {
        const hidden = { hidden: true }; /* until the state of the run is known */
        const control = (label, member) => button(label, () =>
            attempt(`Cannot ${label.toLowerCase()} '${this.model.id}'`, () => bus.run(this.model.id, member)), hidden);

        return {
            pause: control("Pause", "Pause"), step: control("Step", "Step"), resume: control("Resume", "Resume"),
            halt: button("Halt", () => ask_and_halt(this.model.id), { class: "danger", ...hidden }),
            again: button("Start again", () => this.start_again(), hidden),
        };
    }

    /* With the same inputs, if the first event is kept: it names them. */
    start_again() {
        const { id, properties, events: [first] } = this.model;
        const names = first?.event === "started" ? Object.keys({ ...first.variables, ...first.long_variables }) : [];

        return attempt(`Cannot read the inputs of '${id}'`, async () =>
            open_start_form(properties.Tree, properties.Instance,
                            names.length > 0 ? await bus.texts_after(id, first.number, names) : {}));
    }

    /* A run has started or finished. */
    load_others_soon() {
        this.timer ??= window.setTimeout(() => {
            this.timer = undefined;
            this.others.load().catch(() => {});
        }, REFRESH_MS);
    }

    close() {
        this.stop();
        window.clearTimeout(this.timer);
        this.model.close();
        window.clearInterval(this.clock);
    }

    async load() {
        await this.model.load();
        await this.others.load();
    }

    show_at(number) {
        attempt("Cannot show the run as it was", () => this.model.show(number));
    }

    select(index) {
        const node = this.model.nodes[index];

        if (node)
            this.view?.select(node);
    }

    show() {
        const { properties, nodes, at } = this.model;

        if (properties.Tree === undefined)
            return;
        this.show_head();
        if (nodes !== this.nodes && nodes.length > 0)
            this.make_view();
        this.view?.update(this.look());
        this.node.show();
        this.variables.show();
        this.log.show_soon();
        this.time.show();
        this.timeline.show_soon();
        this.element.classList.toggle("is-past", at !== null);
    }

    /* The nodes are new ones, if btd was restarted; what the user has folded and selected stays. */
    make_view() {
        const { nodes } = this.model;

        if (this.nodes?.length === nodes.length) {
            this.view.set_nodes(nodes);
        } else {
            this.view = new TreeView(nodes, node => this.node.select(node.index));
            this.tree.replaceChildren(this.view.element);
            this.view.update(this.look());
            this.view.show();
        }
        this.nodes = nodes;
    }

    look() {
        const { properties, at } = this.model, now = this.model.time();

        return {
            states: this.model.states(),
            breakpoints: new Set(properties.Breakpoints),
            paused: new Set(at === null ? properties.PausedBefore : []),
            took: state => this.model.took(state, now),
        };
    }

    show_head() {
        const { Tree, Status, Started: started, Finished: finished, Cause, Restart, Instance, Durable,
                NotDurableReason, TreeChanged } = this.model.properties;
        const { buttons } = this;

        if (this.crumbs.childNodes.length === 0)
            this.crumbs.append(link("Behavior trees"), " / ", link(Tree, "tree", Tree), " / ", this.model.id);
        set_badge(this.state.firstChild, Status);
        set_text(this.facts, [
            Instance ? `instance ${Instance}` : null, `started ${time(started)}`,
            finished ? `took ${duration(finished - started)}` : null,
            TreeChanged ? "the tree was changed since" : null,
            Durable === false && !finished ? `does not continue after a restart of btd: ${NotDurableReason}` : null,
            this.model.is_object ? null : "only the history has this run",
        ].filter(Boolean).join(" · "));
        set_text(this.cause, [Cause, Restart].filter(Boolean).join("; "));
        set_shown(this.cause, Boolean(Cause || Restart));
        set_shown(buttons.pause, Status === "running");
        set_shown(buttons.resume, Status === "paused");
        set_shown(buttons.step, Status === "paused");
        set_shown(buttons.halt, !finished && Status !== "halting" || Boolean(Restart) && this.model.is_object);
        set_shown(buttons.again, Boolean(finished));
    }
}
