/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The connection to btd: Cockpit's own D-Bus client and the interface of org.btd1(5), nothing else. Calls go over the
 * superuser channel if the user has administrative access, and as the user if not.
 */

const MANAGER = "org.btd1.Manager";

/* null while there is no connection. */
let client = null;
const listeners = new Set();

/* A dictionary of variants, as plain values. A structure with one string is JSON text, see Variables in org.btd1(5). */
export function plain(variant) {
    if (variant === null || typeof variant !== "object" || !("t" in variant))
        return variant;
    switch (variant.t) {
    case "(s)":
        return JSON.parse(variant.v[0]);
    case "a{sv}":
        return plain_dictionary(variant.v);
    case "aa{sv}":
        return variant.v.map(plain_dictionary);
    case "av":
        return variant.v.map(plain);
    default:
        return variant.v;
    }
}

export function plain_dictionary(dictionary) {
    return Object.fromEntries(Object.entries(dictionary).map(([key, value]) => [key, plain(value)]));
}

/* A variant as JSON text. A number that is no integer keeps its point: to btd, 1.0 is not 1. */
export function json_text({ t, v }) {
    const number = value => /^-?[0-9]+$/.test(value) ? `${value}.0` : String(value);

    switch (t) {
    case "(s)":
        return v[0];
    case "a{sv}":
        return `{${Object.entries(v).map(([key, member]) => `${JSON.stringify(key)}:${json_text(member)}`).join()}}`;
    case "av":
        return `[${v.map(json_text).join()}]`;
    case "d":
        return number(v);
    case "ad":
        return `[${v.map(number).join()}]`;
    default:
        return JSON.stringify(v);
    }
}

/* JSON text as a variant that btd accepts; a large number in it stays exact. */
export const variant = text => cockpit.variant("(s)", [text]);

export const run_path = id => object_path("run", id);
export const tree_path = name => object_path("tree", name);

/* See sd_bus_path_encode(3). */
function object_path(kind, label) {
    const encoded = Array.from(new TextEncoder().encode(label), (byte, i) => {
        const letter = String.fromCharCode(byte);
        const kept = i === 0 ? /[A-Za-z]/ : /[A-Za-z0-9]/;
        return kept.test(letter) ? letter : "_" + byte.toString(16).padStart(2, "0");
    }).join("");

    return `/org/btd1/${kind}/${encoded || "_"}`;
}

function tell(kind, ...details) {
    for (const listener of [...listeners])
        listener(kind, ...details);
}

/* Calls listener(kind, ...): "owner" (btd has come or gone), "changed" (a tree, a run or the manager), "nodes" and
 * "events" (path, arguments). Returns a function that ends it. */
export function listen(listener) {
    listeners.add(listener);
    return () => listeners.delete(listener);
}

/* Whether btd is on the bus; null while that is not known yet. */
export let running = null;

const RETRY_MS = 3000;
/* Pages in other tabs can share the connection of the bridge, and with it the subscription. */
const other_pages = new BroadcastChannel("btd");

export function connect() {
    client = cockpit.dbus("org.btd1", { bus: "system", superuser: "try" });
    client.addEventListener("owner", (_event, owner) => {
        const is_first = running === null;

        running = Boolean(owner);
        if (!is_first || !running) /* what a page has asked for first comes anyway */
            tell("owner");
    });
    client.addEventListener("close", (_event, options) => {
        running = false;
        tell("closed", options.problem);
        window.setTimeout(connect, RETRY_MS);
    });
    client.subscribe({ interface: MANAGER }, () => tell("changed"));
    client.subscribe({ interface: "org.freedesktop.DBus.Properties", path_namespace: "/org/btd1" },
                     path => tell("changed", path));
    client.subscribe({ interface: "org.btd1.Run" }, (path, _interface, signal, args) => {
        if (signal === "NodesChanged")
            tell("nodes", path, args[0]);
        else if (signal === "Events")
            tell("events", path, args[0], args[1].map(plain_dictionary));
        else
            tell("changed", path);
    });
}

/* The signals NodesChanged and Events, which only subscribers get. */
export const subscribe = () => Promise.all([manager("Subscribe"), manager("SubscribeEvents")]);

/* The connection of the bridge outlives the page, so btd would go on sending. */
window.addEventListener("pagehide", () => {
    manager("Unsubscribe").catch(() => {});
    other_pages.postMessage("unsubscribed");
});
other_pages.addEventListener("message", () => tell("owner"));
/* btd removes subscribers that have not read for long, such as a computer that slept. */
document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && tell("owner"));

/* type: the signature of the arguments; "" for none. */
function call(path, interface_name, member, type = "", ...args) {
    return client.call(path, interface_name, member, args, { type, flags: "i" });
}

export const manager = (member, type, ...args) => call("/org/btd1", MANAGER, member, type, ...args);
export const run = (id, member, type, ...args) => call(run_path(id), "org.btd1.Run", member, type, ...args);
export const tree = (name, member, type, ...args) => call(tree_path(name), "org.btd1.Tree", member, type, ...args);

/* A part of an answer with fewer elements is the last one. */
const PART_LEAST = 1000;

/* All nodes of a run or a tree: the parts that read(first) returns. */
async function nodes_from(read) {
    const nodes = [];
    let part;

    do {
        part = await read(nodes.length);
        for (const node of part)
            nodes.push(node);
    } while (part.length >= PART_LEAST);
    return nodes;
}

export const nodes_of_run = id => nodes_from(async first => (await run(id, "GetNodesFrom", "u", first))[0]);
export const nodes_of_tree = name => nodes_from(async first => (await tree(name, "GetNodesFrom", "u", first))[0]);

/* The nodes of a run as they were after an event, and the state of the run then. */
export async function nodes_after(id, event) {
    let moment;
    const nodes = await nodes_from(async first => {
        const [part, then] = await manager("GetNodes", "sta{sv}", id, event, { first: cockpit.variant("u", first) });

        moment = then;
        return part;
    });

    return [nodes, moment];
}

/* The JSON texts of these variables of a run as they were after an event, by their names. */
export async function texts_after(id, event, names) {
    const [variables] = await manager("GetVariables", "sta{sv}", id, event, {});

    return Object.fromEntries(names.filter(name => name in variables).map(name => [name, json_text(variables[name])]));
}

async function properties(path, interface_name) {
    const [all] = await call(path, "org.freedesktop.DBus.Properties", "GetAll", "s", interface_name);

    return plain_dictionary(all);
}

export const manager_properties = () => properties("/org/btd1", MANAGER);
export const run_properties = id => properties(run_path(id), "org.btd1.Run");
export const tree_properties = name => properties(tree_path(name), "org.btd1.Tree");

export async function list(member, type, ...args) {
    const [records] = await manager(member, type, ...args);

    return records.map(plain_dictionary);
}

/* Starts a tree and returns the id of its run. texts: the JSON text of each variable. */
export async function start(name, texts, options) {
    const variables = Object.entries(texts).map(([key, text]) => [key, variant(text)]);
    const [id] = await tree(name, "Start", "a{sv}a{sv}", Object.fromEntries(variables), options);

    return id;
}

const name_of = error => error.problem ?? error.name;

/* A message of btd says what is wrong and what to do; those of the bridge and the bus are only names. */
export function explain(error) {
    switch (name_of(error)) {
    case "access-denied":
        return "The system does not permit it.";
    case "disconnected":
    case "not-found":
    case "org.freedesktop.DBus.Error.ServiceUnknown":
    case "org.freedesktop.DBus.Error.NoReply":
    case "org.freedesktop.DBus.Error.Disconnected":
        return "btd is not running.";
    default:
        return error.message || String(error);
    }
}

export const is_refused = error =>
    ["access-denied", "org.btd1.Error.AccessDenied", "org.freedesktop.DBus.Error.AccessDenied",
     "org.freedesktop.DBus.Error.InteractiveAuthorizationRequired"].includes(name_of(error));

/* A btd of an earlier version does not have this method or property. */
export const is_unknown = error => name_of(error) === "org.freedesktop.DBus.Error.UnknownMethod";

/* The object of the run does not exist any more. */
export const is_gone = error => name_of(error) === "org.freedesktop.DBus.Error.UnknownObject";
