/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Reads the top of a tree file, and of each tree in it: their parameters, and the places of their parts. */

#include <inttypes.h>
#include <string.h>

#include "basic/excerpt.h"
#include "basic/nearest.h"
#include "definition/loader.h"

/* A key that is not a parameter. */
typedef struct Part {
        const char *key;
        size_t offset; /* in Heading */
} Part;

static const Part file_parts[] = {
        { "root", offsetof(Heading, root) },
        { "blackboard", offsetof(Heading, blackboard) },
        { "inputs", offsetof(Heading, inputs) },
        { "outputs", offsetof(Heading, outputs) },
        { "trees", offsetof(Heading, trees) },
        { "include", offsetof(Heading, include) },
        {},
};

static const Part tree_parts[] = {
        { "root", offsetof(Heading, root) },
        { "blackboard", offsetof(Heading, blackboard) },
        { "inputs", offsetof(Heading, inputs) },
        { "outputs", offsetof(Heading, outputs) },
        {},
};

typedef struct Top {
        const char *owner; /* "tree file" */
        const Part *parts;
        Target target;
        Heading heading;
} Top;

/* Reports the key; returns the key that was probably meant, or NULL. */
static const char *report_unknown(Loader *loader, const Top *top, uint32_t key) {
        size_t length;
        const char *word = loader_string(loader, key, &length);
        g_autofree char *shown = excerpt(word, length);
        Nearest nearest = { .word = word };
        GString *text = g_string_new(NULL);

        for (const Part *part = top->parts; part->key; part++)
                nearest_offer(&nearest, part->key);
        for (const Param *param = top->target.params; param->name; param++)
                nearest_offer(&nearest, param->name);

        g_string_append_printf(text, "unknown key '%s'", shown);
        if (nearest.best)
                g_string_append_printf(text, "; did you mean '%s'?", nearest.best);
        g_string_append_printf(text, " (a %s takes: ", top->owner);
        for (const Part *part = top->parts; part->key; part++)
                g_string_append_printf(text, "%s%s", part == top->parts ? "" : ", ", part->key);
        for (const Param *param = top->target.params; param->name; param++)
                g_string_append_printf(text, ", %s", param->name);
        g_string_append_c(text, ')');
        loader_error(loader, key, g_string_free(text, false));
        diagnostics_suggest(loader->diagnostics, nearest.best);
        return nearest_is_close(&nearest) ? nearest.best : NULL;
}

/* Reading a file of another version would only report false errors. */
static void check_version(Loader *loader, const Header *header, uint32_t item) {
        if (header->btd != HEADER_VERSION)
                loader_error(loader, item,
                             g_strdup_printf("btd: the file is of version %" PRId64 " of the format, and only version "
                                             "%u is known here",
                                             header->btd, HEADER_VERSION));
}

/* Returns the place that stores the item of the part, or NULL if the word names no part. */
static uint32_t *find_part(Top *top, const char *word) {
        for (const Part *part = top->parts; part->key; part++)
                if (g_str_equal(part->key, word))
                        return (uint32_t *) (void *) ((char *) &top->heading + part->offset);

        return NULL;
}

static void read_member(Loader *loader, uint32_t object, uint32_t key, Top *top) {
        size_t length;
        const char *word = loader_string(loader, key, &length);
        uint32_t *part = find_part(top, word);
        const Param *param = params_find(top->target.params, word, length);

        /* The value of a misspelt key is read as that of the key that was probably meant, to report the errors inside
         * it. */
        if (!part && !param) {
                const char *meant = report_unknown(loader, top, key);

                if (!meant || !loader_mean(loader, object, key, meant)) {
                        loader_doubt(loader, key + 1);
                        if (loader->plan)
                                loader->plan->declarations_unknown = true;
                        return;
                }
                part = find_part(top, meant);
                param = params_find(top->target.params, meant, strlen(meant));
        }

        if (part && *part == 0)
                *part = key + 1;
        else if (part || target_was_given(&top->target, param)) {
                loader_error(loader, key, g_strdup_printf("'%s' is given twice", word));
                if (part == &top->heading.root)
                        top->heading.other_root = key + 1;
        } else {
                loader_set_param(loader, &top->target, param, key + 1);
                if (param == header_params)
                        check_version(loader, top->target.values, key + 1);
        }
}

static void read_members(Loader *loader, uint32_t object, Top *top) {
        uint32_t key = object + 1;

        params_set_defaults(loader->arena, top->target.params, top->target.values);
        for (uint32_t i = 0; i < text_item(loader_text(loader), object)->count; i++) {
                read_member(loader, object, key, top);
                key = text_next(loader_text(loader), key + 1);
        }
}

bool loader_read_header(Loader *loader, Header *header, Heading *ret_heading) {
        Top top = { .owner = "tree file",
                    .parts = file_parts,
                    .target = { .params = header_params,
                                .values = header,
                                .size = sizeof(Header),
                                .node = PLAN_NONE,
                                .plain = true } };

        if (text_kind(loader_text(loader), 0) != TEXT_OBJECT) {
                loader_error(loader, 0,
                             loader_unexpected(loader, 0, "a tree file is an object, {\"btd\": 1, \"root\": ...}"));
                return false;
        }

        header->btd = HEADER_VERSION;
        read_members(loader, 0, &top);
        if (header->btd != HEADER_VERSION)
                return false;

        loader_check_required(loader, &top.target, 0, top.owner);
        if (top.heading.root == 0 && top.heading.trees == 0)
                loader_error(loader, 0, g_strdup("'root' is missing; a tree file needs it: the node at the top"));

        *ret_heading = top.heading;
        return true;
}

bool loader_read_tree_heading(Loader *loader, uint32_t item, Heading *ret_heading) {
        const char *description; /* not used by the daemon */
        Top top = { .owner = "tree",
                    .parts = tree_parts,
                    .target = { .params = tree_params,
                                .values = &description,
                                .size = sizeof(description),
                                .node = PLAN_NONE,
                                .plain = true } };

        if (text_kind(loader_text(loader), item) != TEXT_OBJECT) {
                loader_error(loader, item, loader_unexpected(loader, item, "a tree is an object, {\"root\": ...}"));
                return false;
        }

        read_members(loader, item, &top);
        if (top.heading.root == 0)
                loader_error(loader, item, g_strdup("'root' is missing; a tree needs it: the node at the top"));

        *ret_heading = top.heading;
        return top.heading.root > 0;
}
