/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Light or dark, as the user has chosen in Cockpit. The shell stores the choice, and tells its pages of a change. */

const system = window.matchMedia("(prefers-color-scheme: dark)");

function apply(choice = localStorage.getItem("shell:style") ?? "auto") {
    document.documentElement.classList.toggle("dark", choice === "dark" || (choice === "auto" && system.matches));
}

export function follow_theme() {
    system.addEventListener("change", () => apply());
    window.addEventListener("storage", event => event.key === "shell:style" && apply());
    window.addEventListener("cockpit-style", event => apply(event.detail.style));
    apply();
}
