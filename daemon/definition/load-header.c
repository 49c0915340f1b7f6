/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The top of a tree file, and that of each tree in it: their own parameters, and where their parts are. */

#include <inttypes.h>

#include "basic/excerpt.h"
#include "basic/nearest.h"
#include "definition/loader.h"

/* A part that is no parameter. */
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

static void report_unknown(Loader *loader, const Top *top, uint32_t key) {
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
}

/* A file of another version would only give errors that are none. */
static void check_version(Loader *loader, const Header *header, uint32_t item) {
        if (header->btd != HEADER_VERSION)
                loader_error(loader, item,
                             g_strdup_printf("btd: the file is of version %" PRId64 " of the format, and only version "
                                             "%u is known here",
                                             header->btd, HEADER_VERSION));
}

/* Where the item of the part is kept; NULL: it is none. */
static uint32_t *find_part(Top *top, const char *word) {
        for (const Part *part = top->parts; part->key; part++)
                if (g_str_equal(part->key, word))
                        return (uint32_t *) (void *) ((char *) &top->heading + part->offset);

        return NULL;
}

static void read_member(Loader *loader, uint32_t key, Top *top) {
        size_t length;
        const char *word = loader_string(loader, key, &length);
        uint32_t *part = find_part(top, word);
        const Param *param = params_find(top->target.params, word, length);

        if (part && *part == 0)
                *part = key + 1;
        else if (part || (param && target_was_given(&top->target, param)))
                loader_error(loader, key, g_strdup_printf("'%s' is given twice", word));
        else if (param) {
                loader_set_param(loader, &top->target, param, key + 1);
                if (param == header_params)
                        check_version(loader, top->target.values, key + 1);
        } else
                report_unknown(loader, top, key);
}

static void read_members(Loader *loader, uint32_t object, Top *top) {
        uint32_t key = object + 1;

        params_set_defaults(loader->arena, top->target.params, top->target.values);
        for (uint32_t i = 0; i < text_item(loader_text(loader), object)->count; i++) {
                read_member(loader, key, top);
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
                             g_strdup_printf("a tree file is an object, {\"btd\": 1, \"root\": ...}, not %s",
                                             loader_describe(loader, 0)));
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
        const char *description; /* only for those who read the file */
        Top top = { .owner = "tree",
                    .parts = tree_parts,
                    .target = { .params = tree_params,
                                .values = &description,
                                .size = sizeof(description),
                                .node = PLAN_NONE,
                                .plain = true } };

        if (text_kind(loader_text(loader), item) != TEXT_OBJECT) {
                loader_error(
                        loader, item,
                        g_strdup_printf("a tree is an object, {\"root\": ...}, not %s", loader_describe(loader, item)));
                return false;
        }

        read_members(loader, item, &top);
        if (top.heading.root == 0)
                loader_error(loader, item, g_strdup("'root' is missing; a tree needs it: the node at the top"));

        *ret_heading = top.heading;
        return top.heading.root > 0;
}
