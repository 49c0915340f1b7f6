/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A run as it is now, or as it was after one of its events. It keeps the nodes, the last events by their numbers without
 * gaps, and the variables; org.btd1(5), EVENTS, says how a program gets each event once.
 */

import * as bus from "./bus.js";

const IDLE = { status: "idle", since: 0, duration: 0, detail: "", element: "" };
/* An answer of GetEvents with fewer events is complete. */
const ANSWER_LEAST = 1000;
/* Earlier events are not read. */
const EVENTS_MAX = 20000;
const ROOT = 4294967295;
/* States whose duration still grows. */
const LASTING = new Set(["running", "waiting", "halting"]);
/* An event number above all that exist. */
const END = Number.MAX_SAFE_INTEGER;
const READ_MS = 500;
/* One call of GetSomeNodes takes as many. */
const SOME_MAX = 1000;
/* Thirty times a second is smooth, and leaves time to the rest of the browser. */
const FRAME_MS = 32;

function read_node([index, parent, type, name, status, since, duration, more]) {
    const { title = "", detail = "", element = "" } = bus.plain_dictionary(more);

    return { index, parent, type, name, title, children: [], now: { status, since, duration, detail, element } };
}

/* The name of a node with the element of a ForEach that it works on, such as "Check[sdb]", or "Check[2: sdb]" for a
 * copy. */
export function full_name({ name }, now) {
    if (!now?.element)
        return name;
    return name.endsWith("]") ? `${name.slice(0, -1)}: ${now.element}]` : `${name}[${now.element}]`;
}

/* nodes: as GetNodes of a run returns them. */
export function read_nodes(nodes) {
    const known = nodes.map(read_node);

    for (const node of known) {
        node.above = known[node.parent] ?? null;
        node.above?.children.push(node);
        node.level = node.above ? node.above.level + 1 : 1;
        node.path = node.above ? `${node.above.path}/${node.name}` : node.name;
    }
    return known;
}

/* As GetNodes of a tree returns them; no node has a state. */
export const read_tree_nodes = nodes =>
    read_nodes(nodes.map(([index, parent, type, name, more]) => [index, parent, type, name, "idle", 0, 0, more]));

export class RunModel {
    /* on_change is called after changes, before a frame is drawn. */
    constructor(id, on_change) {
        this.id = id;
        this.path = bus.run_path(id);
        this.on_change = on_change;
        this.nodes = [];
        this.later = null; /* changes of nodes since they were asked for: the answer may be older; null: nothing is asked */
        this.events = [];
        this.selected = null; /* the index of a node */
        this.causes = []; /* levels of its chain, from the node down to the one where the failure began */
        this.variables = {};
        this.properties = {};
        this.is_object = true; /* false: only the history has the run */
        this.has_record = true;
        this.newest = 0; /* the number of the last event of which btd has told */
        this.missing = 0; /* the number of the last event that is not kept */
        this.drawn = -FRAME_MS;
        this.at = null; /* the number of the event that is shown; null: now */
        this.past = null; /* the run after the event `at` */
        this.skew = 0; /* how far the clock of this browser is ahead of the clock of btd, in microseconds */
        this.stop = bus.listen((...details) => this.on_bus(...details));
    }

    close() {
        this.stop();
        this.on_change = () => {};
    }

    changed() {
        this.frame ??= window.setTimeout(() => window.requestAnimationFrame(now => {
            this.frame = undefined;
            this.drawn = now;
            this.on_change();
        }), this.drawn + FRAME_MS - performance.now());
    }

    async load() {
        const later = this.later = [];

        await bus.subscribe();
        try {
            const [, nodes] = await Promise.all([this.read_rest(), bus.nodes_of_run(this.id)]);

            if (this.later === later) { /* else it is asked again already */
                this.set_nodes(nodes);
                this.later = null;
                later.forEach(changes => this.update_nodes(changes));
            }
        } catch (error) {
            if (!bus.is_gone(error))
                throw error;
            this.is_object = false;
            await this.read_history();
        }
        await this.read_events();
        this.changed();
    }

    set_nodes(nodes) {
        this.nodes = read_nodes(nodes);

        const newest = this.nodes.reduce((time, { now }) => now.status === "running" ? Math.max(time, now.since + now.duration) :
            time, 0);

        if (newest > 0)
            this.skew = Date.now() * 1000 - newest;
    }

    /* What no signal has: the cause of the selected node, variables, properties. */
    async read_rest() {
        const [properties, [variables]] = await Promise.all([
            bus.run_properties(this.id), bus.run(this.id, "GetVariables"), this.read_causes()]);

        this.properties = properties;
        this.variables = bus.plain_dictionary(variables);
        this.changed();
    }

    select(index) {
        this.selected = index;
        this.causes = [];
        this.read_causes().catch(() => {}); /* only the history has the run, or btd is away */
    }

    async read_causes() {
        const { selected } = this;

        if (selected === null || !this.is_object)
            return;

        const [chain] = await bus.run(this.id, "GetCauseChain", "u", selected);

        if (selected !== this.selected)
            return;

        const levels = chain.map(bus.plain_dictionary);

        this.causes = levels.slice(levels.findIndex(level => level.node === selected)).filter(level => level.text);
        this.changed();
    }

    /* Details that pass without a signal, such as "times out in 3s"; only of these nodes, which are shown. */
    async read_details(nodes) {
        const lasts = node => node !== null && LASTING.has(node.now.status);
        const passing = nodes.filter(node => node.now.detail && (lasts(node) || lasts(node.above))).slice(0, SOME_MAX);

        if (passing.length === 0 || this.at !== null || this.is_reading_details)
            return;
        this.is_reading_details = true;
        try {
            const before = new Map(passing.map(node => [node.index, node.now]));
            const [changes] = await bus.run(this.id, "GetSomeNodes", "au", passing.map(node => node.index));

            /* Of what has changed meanwhile, the answer may be older. */
            this.update_nodes(changes.filter(([index]) => this.nodes[index]?.now === before.get(index)));
        } finally {
            this.is_reading_details = false;
        }
    }

    async read_history() {
        const found = (await bus.list("ListHistory", "a{sv}", {})).find(run => run.id === this.id);

        if (!found)
            throw new Error(`Run '${this.id}' does not exist.`);
        this.properties = {
            Tree: found.tree, Instance: found.instance, Token: found.token, Status: found.status,
            Started: found.started, Finished: found.finished, Cause: found.cause,
        };
        try {
            const [[nodes], [variables]] = await Promise.all([bus.nodes_after(this.id, END),
                                                              bus.manager("GetVariables", "sta{sv}", this.id, END, {})]);

            this.set_nodes(nodes);
            this.variables = bus.plain_dictionary(variables);
        } catch (error) {
            if (!bus.is_unknown(error))
                throw error;
        }
    }

    get last() {
        return this.events.length > 0 ? this.events[this.events.length - 1].number : this.missing;
    }

    /* One call at a time, because signals can come faster than btd answers. */
    read_events() {
        this.reading ??= this.read_missing_events().finally(() => { this.reading = null });
        return this.reading;
    }

    async read_missing_events() {
        let answer;

        if (this.last === 0)
            this.missing = Math.max(0, (this.properties.LastEvent ?? 0) - EVENTS_MAX);
        do {
            try {
                answer = await bus.list("GetEvents", "st", this.id, this.last);
            } catch (error) {
                if (error.name !== "org.btd1.Error.NoSuchRun")
                    throw error;
                this.has_record = false;
                return;
            }
            this.add(answer);
            this.changed();
        } while (answer.length >= ANSWER_LEAST || (answer.length > 0 && this.last < this.newest));
    }

    /* Returns whether no event is missing before these. */
    add(events) {
        for (const event of events) {
            if (event.number <= this.last)
                continue;
            if (event.number !== this.last + 1) {
                if (event.event !== "cut" && this.has_record)
                    return false;
                this.missing = event.number - 1; /* nothing has the events between */
                this.events = [];
            }
            this.events.push(event);
        }
        if (this.events.length > EVENTS_MAX) {
            this.events = this.events.slice(-EVENTS_MAX / 2);
            this.missing = this.events[0].number - 1;
        }
        return true;
    }

    on_bus(kind, path, ...details) {
        if (kind === "owner" && bus.running) {
            this.load().catch(() => {});
            return;
        }
        if (path !== this.path)
            return;
        if (kind === "nodes") {
            this.later?.push(details[0]);
            this.update_nodes(details[0]);
        } else if (kind === "events") {
            const [last, events] = details;

            this.newest = last;
            if ((!this.add(events) || this.last < last) && this.has_record)
                this.read_events().catch(() => {});
            this.read_soon();
            this.changed();
        } else if (kind === "changed") {
            this.read_soon();
        }
    }

    update_nodes(changes) {
        for (const changed of changes) {
            const { index, now } = read_node(changed);

            if (this.nodes[index])
                this.nodes[index].now = now;
        }
        this.changed();
    }

    /* Twice a second at most. */
    read_soon() {
        this.timer ??= window.setTimeout(() => {
            const was_finished = this.is_finished();

            this.timer = undefined;
            this.read_rest().then(() => !was_finished && this.is_finished() && this.read_end()).catch(() => {});
        }, READ_MS);
    }

    /* Everybody is told of the end, also who is not a subscriber any more. */
    async read_end() {
        this.update_nodes(await bus.nodes_of_run(this.id));
        await this.read_events();
    }

    /* Shows the run as it was after this event; null: now. */
    async show(number) {
        this.at = number;
        if (number === null) {
            this.past = null;
            this.changed();
            return;
        }
        if (this.is_asking) /* the slider moves faster than btd answers */
            return;
        this.is_asking = true;
        try {
            while (this.at !== null && this.past?.number !== this.at) {
                const number = this.at; /* the user can choose another one meanwhile */

                this.past = { ...await this.read_past(number), number };
            }
        } catch (error) {
            if (this.at !== null) {
                this.at = this.past?.number ?? null; /* what is on the screen */
                throw error;
            }
        } finally {
            this.is_asking = false;
            if (this.at === null)
                this.past = null;
            this.changed();
        }
    }

    async read_past(number) {
        try {
            const [[nodes, after], [variables]] = await Promise.all([
                bus.nodes_after(this.id, number),
                bus.manager("GetVariables", "sta{sv}", this.id, number, {})]);

            return {
                states: nodes.map(node => read_node(node).now), time: bus.plain(after.time),
                variables: bus.plain_dictionary(variables),
            };
        } catch (error) {
            if (!bus.is_unknown(error))
                throw error;
            return this.compute_past(number);
        }
    }

    /* From the events that are kept, if this btd cannot tell. */
    compute_past(number) {
        const states = this.nodes.map(() => IDLE), variables = {};
        let time = this.properties.Started;

        for (const event of this.events) {
            if (event.number > number)
                break;
            time = event.time;
            Object.assign(variables, event.variables, event.long_variables);
            if (states[event.node] && (event.status || event.event === "halting" || event.event === "waiting")) {
                states[event.node] = {
                    status: event.status ?? event.event, since: event.time - (event.duration ?? 0),
                    duration: event.duration ?? 0, detail: event.text ?? "", element: "",
                };
            }
        }
        return { states, variables, time };
    }

    /* The state of each node at the time that is shown, by its index. */
    states() {
        return this.past?.states ?? this.nodes.map(node => node.now);
    }

    variables_shown() {
        return this.past?.variables ?? this.variables;
    }

    /* The time that is shown, in microseconds since 1970. */
    time() {
        return this.past?.time ?? (this.properties.Finished || Date.now() * 1000 - this.skew);
    }

    /* Whole seconds while it grows, so that not each frame differs. */
    took({ status, since, duration }, now = this.time()) {
        return LASTING.has(status) && !this.is_finished() ? Math.max(0, Math.floor((now - since) / 1e6) * 1e6) : duration;
    }

    is_finished() {
        return this.properties.Finished > 0;
    }
}
