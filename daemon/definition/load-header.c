/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The top of a tree file: its own parameters, the initial variables, and where the root is. */

#include <inttypes.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/excerpt.h"
#include "basic/nearest.h"
#include "definition/loader.h"

static void report_unknown(Loader *loader, uint32_t key) {
        size_t length;
        const char *word = loader_string(loader, key, &length);
        g_autofree char *shown = excerpt(word, length);
        Nearest nearest = { .word = word };
        GString *text = g_string_new(NULL);

        nearest_offer(&nearest, "root");
        nearest_offer(&nearest, "blackboard");
        for (const Param *param = header_params; param->name; param++)
                nearest_offer(&nearest, param->name);

        g_string_append_printf(text, "unknown key '%s'", shown);
        if (nearest.best)
                g_string_append_printf(text, "; did you mean '%s'?", nearest.best);
        g_string_append(text, " (a tree file takes: root, blackboard");
        for (const Param *param = header_params; param->name; param++)
                g_string_append_printf(text, ", %s", param->name);
        g_string_append_c(text, ')');
        loader_error(loader, key, g_string_free(text, false));
}

static void read_variable(Loader *loader, uint32_t key, json_object *variables) {
        size_t length;
        g_autofree char *name = g_strdup(loader_string(loader, key, &length));
        g_autofree char *shown = excerpt(name, length), *error = NULL;
        json_object *value;
        uint32_t fault;

        if (!blackboard_key_valid(name)) {
                loader_error(loader, key,
                             g_strdup_printf("blackboard: '%s' cannot be the name of a variable: a letter or '_', then "
                                             "letters, digits, '_', '-' and '.'",
                                             shown));
                return;
        }
        if (json_object_object_get_ex(variables, name, NULL)) {
                loader_error(loader, key, g_strdup_printf("blackboard: '%s' is given twice", shown));
                return;
        }

        if (text_to_json(&loader->text, key + 1, loader->scratch, &value, &fault, &error) < 0)
                loader_error(loader, fault, g_strdup_printf("blackboard.%s: %s", name, error));
        else
                json_object_object_add(variables, name, value);
}

static void read_blackboard(Loader *loader, uint32_t item, json_object *variables) {
        uint32_t key = item + 1;

        if (text_kind(&loader->text, item) != TEXT_OBJECT) {
                loader_error(loader, item,
                             g_strdup_printf("blackboard: expected an object of variables, not %s",
                                             loader_describe(loader, item)));
                return;
        }

        for (uint32_t i = 0; i < text_item(&loader->text, item)->count; i++, key = text_next(&loader->text, key + 1))
                read_variable(loader, key, variables);
}

/* A file of another version would only give errors that are none. */
static void check_version(Loader *loader, const Header *header, uint32_t item) {
        if (header->btd != HEADER_VERSION)
                loader_error(loader, item,
                             g_strdup_printf("btd: the file is of version %" PRId64 " of the format, and only version "
                                             "%u is known here",
                                             header->btd, HEADER_VERSION));
}

static void read_member(Loader *loader, uint32_t key, Target *target, uint32_t *blackboard, uint32_t *root) {
        size_t length;
        const char *word = loader_string(loader, key, &length);
        uint32_t *own = g_str_equal(word, "root") ? root : g_str_equal(word, "blackboard") ? blackboard : NULL;
        const Param *param = params_find(target->params, word, length);

        if (own && *own == 0)
                *own = key + 1;
        else if (own || (param && target_was_given(target, param)))
                loader_error(loader, key, g_strdup_printf("'%s' is given twice", word));
        else if (param) {
                loader_set_param(loader, target, param, key + 1);
                if (param->offset == offsetof(Header, btd))
                        check_version(loader, target->values, key + 1);
        } else
                report_unknown(loader, key);
}

bool loader_read_header(Loader *loader, Loaded *loaded, uint32_t *ret_root) {
        Target target = { .params = header_params,
                          .values = &loaded->header,
                          .size = sizeof(Header),
                          .node = NODE_NONE,
                          .plain = true };
        uint32_t key = 1, blackboard = 0, root = 0;

        if (text_kind(&loader->text, 0) != TEXT_OBJECT) {
                loader_error(loader, 0,
                             g_strdup_printf("a tree file is an object, {\"btd\": 1, \"root\": ...}, not %s",
                                             loader_describe(loader, 0)));
                return false;
        }

        loaded->header.btd = HEADER_VERSION;
        params_set_defaults(loader->arena, header_params, &loaded->header);
        for (uint32_t i = 0; i < text_item(&loader->text, 0)->count; i++, key = text_next(&loader->text, key + 1))
                read_member(loader, key, &target, &blackboard, &root);

        if (loaded->header.btd != HEADER_VERSION)
                return false;

        loader_check_required(loader, &target, 0, "tree file");
        if (blackboard > 0)
                read_blackboard(loader, blackboard, loaded->blackboard);
        if (root == 0)
                loader_error(loader, 0, g_strdup("'root' is missing; a tree file needs it: the node at the top"));

        *ret_root = root;
        return root > 0;
}
