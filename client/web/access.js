/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Whether the user has administrative access, and how to get it. Cockpit's shell around this page has the dialog for
 * that; when the access changes, Cockpit loads the page again.
 */

import { button, html } from "./dom.js";

/* The ways of Cockpit to become root. It names them even if their programs are not installed. */
const PROGRAMS = ["sudo", "pkexec"];

let superuser = null;
let has_program = true;

export function watch_access() {
    superuser = cockpit.dbus(null, { bus: "internal" }).proxy("cockpit.Superuser", "/superuser");
    cockpit.permission({ admin: true });
    cockpit.spawn(["sh", "-c", PROGRAMS.map(program => "command -v " + program).join(" || ")], { err: "ignore" })
        .catch(() => { has_program = false });
}

const can_become_root = () => superuser.Bridges.some(bridge => has_program || !PROGRAMS.includes(bridge));

const is_limited = () => superuser?.valid && superuser.Current === "none";

function shell_button() {
    try {
        return window.parent === window ? null : window.parent.document.querySelector("#super-user-indicator button");
    } catch {
        return null; /* another page has embedded this one */
    }
}

/* What a user can do after a refusal; null if nothing here would help. */
export function advice() {
    if (!is_limited())
        return null;
    if (!can_become_root())
        return html("p", {}, "Cockpit cannot become root on this machine, because neither sudo nor pkexec is installed. " +
                    "Install one of them, or permit the action with a polkit rule, see AUTHORIZATION in btd(8).");

    const shell = shell_button();

    if (shell)
        return html("p", {}, "You have limited access. ",
                    button("Turn on administrative access", () => shell.click(), { class: "inline" }));
    return html("p", {}, "You have limited access. Turn on administrative access at the top of Cockpit.");
}
