/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Words and symbols for states, times and values; the symbols are those of btctl. */

const SYMBOLS = {
    success: "✓", failure: "✗", running: "●", skipped: "↷", halted: "■", halting: "■", waiting: "◌", paused: "⏸",
    error: "✗",
};

export const symbol = status => SYMBOLS[status] ?? "○";

export function duration(us) {
    const s = us / 1e6;

    if (us === 0)
        return "0s";
    if (us < 1000)
        return `${us}us`;
    if (s < 1)
        return `${(us / 1000).toFixed(us < 10000 ? 1 : 0)}ms`;
    if (s < 60)
        return us % 1e6 === 0 ? `${s}s` : `${s.toFixed(2)}s`;

    const minutes = Math.floor(s / 60), hours = Math.floor(minutes / 60), days = Math.floor(hours / 24);

    if (minutes < 60)
        return `${minutes}min ${Math.floor(s % 60)}s`;
    return hours < 24 ? `${hours}h ${minutes % 60}min` : `${days}d ${hours % 24}h`;
}

export function time(us) {
    return us ? new Date(us / 1000).toLocaleString() : "";
}

/* Kept, because making it takes longer than using it a hundred times. */
const CLOCK = new Intl.DateTimeFormat([], { hour: "numeric", minute: "numeric", second: "numeric", hour12: false });

export function clock(us) {
    const date = new Date(us / 1000);

    return CLOCK.format(date) + "." + String(date.getMilliseconds()).padStart(3, "0");
}

export const count = (n, noun) => `${n} ${noun}${n === 1 ? "" : "s"}`;

export const shorten = (text, length) => text.length > length ? text.slice(0, length - 1) + "…" : text;
