/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Shows the page that the location names: "/" (trees and runs), "/tree/NAME", "/run/ID" or "/check". */

import { watch_access } from "./access.js";
import { show_connection, show_error } from "./alerts.js";
import * as bus from "./bus.js";
import { CheckPage } from "./check-page.js";
import { ListsPage } from "./lists-page.js";
import { RunPage } from "./run-page.js";
import { follow_theme } from "./theme.js";
import { TreePage } from "./tree-page.js";

let page = null;

function make_page([kind, name]) {
    switch (kind) {
    case "tree":
        return new TreePage(name);
    case "run":
        return new RunPage(name);
    case "check":
        return new CheckPage(cockpit.location.options.file ?? "");
    default:
        return new ListsPage();
    }
}

function navigate() {
    const { path, options } = cockpit.location, place = document.getElementById("page");

    const is_first = page === null;

    if (page?.follow?.(path, options))
        return;
    page?.close();
    document.querySelectorAll("dialog").forEach(dialog => dialog.close());
    page = make_page(path);
    document.title = [...path.slice(1), "Behavior trees"].join(" - ");
    place.replaceChildren(page.element);
    if (!is_first) { /* for the keyboard and screen readers, the new page begins at its top */
        window.scrollTo(0, 0);
        place.focus();
    }
    page.load().catch(error => {
        if (bus.running !== false)
            show_error("Cannot show this page", error);
    });
}

function on_connection() {
    document.getElementById("page").classList.toggle("stale", bus.running === false);
    if (bus.running === false)
        show_connection("btd is not running");
    else
        show_connection(null);
}

function start() {
    follow_theme();
    bus.listen(kind => {
        if (kind === "owner" || kind === "closed")
            on_connection();
    });
    bus.connect();
    watch_access();
    cockpit.addEventListener("locationchanged", navigate);
    navigate();
}

start();
