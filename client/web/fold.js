/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Which nodes of a tree are folded, so that their descendants are not shown; and which node is selected. */

/* More nodes than this are not shown at first: the deepest ones are folded. The root only if it has a great many. */
const SHOWN_MAX = 150, ROOT_MAX = 1000;

export class Fold {
    constructor(nodes) {
        this.nodes = nodes;
        this.folded = new Set();
        this.selected = null;
        this.counts = new Array(nodes.length).fill(1);
        for (const node of [...nodes].reverse()) {
            if (node.above)
                this.counts[node.above.index] += this.counts[node.index];
        }
        this.fold_deep();
    }

    /* Level by level, as many as fit. */
    fold_deep() {
        let level = this.nodes.slice(0, 1), n = 1;

        while (level.length > 0) {
            const next = level.flatMap(node => node.children);

            if (n + next.length > (n === 1 ? ROOT_MAX : SHOWN_MAX)) {
                level.forEach(node => node.children.length > 0 && this.folded.add(node.index));
                return;
            }
            n += next.length;
            level = next;
        }
    }

    unfold_all() {
        this.folded.clear();
    }

    is_folded = node => this.folded.has(node.index);

    children_shown = node => this.is_folded(node) ? [] : node.children;

    toggle(node) {
        if (!this.folded.delete(node.index) && node.children.length > 0)
            this.folded.add(node.index);
    }

    /* The nodes above it, so that the node is shown. */
    unfold_above(node) {
        for (let it = node.above; it; it = it.above)
            this.folded.delete(it.index);
    }

    /* How many nodes a folded node hides. */
    hidden = node => this.counts[node.index] - 1;

    /* All nodes that are shown, in depth-first order. */
    shown() {
        const nodes = [];
        const add = node => {
            nodes.push(node);
            this.children_shown(node).forEach(add);
        };

        this.nodes.slice(0, 1).forEach(add);
        return nodes;
    }

    /* The node to which a key leads from the selected one; null: none. Both views have the same keys. */
    neighbour(key) {
        const shown = this.shown(), node = this.nodes[this.selected];
        const at = shown.indexOf(node);

        switch (key) {
        case "ArrowUp":
            return shown[Math.max(0, at - 1)];
        case "ArrowDown":
            return shown[Math.min(shown.length - 1, at + 1)];
        case "ArrowLeft": /* an unfolded node is folded first, see TreeView.on_key() */
            return node?.above ?? null;
        case "ArrowRight":
            return node ? this.children_shown(node)[0] ?? null : null;
        case "Home":
            return shown[0];
        case "End":
            return shown[shown.length - 1];
        default:
            return null;
        }
    }
}
