/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Reads the top of a tree file, and of each tree in it: their parameters, the places of their parts, and the variables
 * that a tree declares, which are its inputs, its outputs and its initial blackboard. */

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/excerpt.h"
#include "basic/nearest.h"
#include "definition/hints.h"
#include "definition/load/loader.h"
#include "definition/on-finished.h"

/* A key that is not a parameter. */
typedef struct Part {
        const char *key;
        size_t offset; /* in Heading */
} Part;

static const Part file_parts[] = {
        { "root", offsetof(Heading, root) },     { "blackboard", offsetof(Heading, blackboard) },
        { "inputs", offsetof(Heading, inputs) }, { "outputs", offsetof(Heading, outputs) },
        { "trees", offsetof(Heading, trees) },   { "include", offsetof(Heading, include) },
        { "lua", offsetof(Heading, lua) },       {},
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
        const Hint *hint = hint_find(HINT_KEY, HINT_TREE_FILE, word);
        Nearest nearest = { .word = word };
        g_autoptr(GString) text = g_string_new(NULL);

        if (hint) {
                g_autofree char *why = hint_format(hint);

                loader_error(loader, key, g_strdup_printf("unknown key '%s'%s", shown, why));
                diagnostics_suggest(loader->diagnostics, hint->instead);
                return hint->text ? NULL : hint->instead;
        }

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
        loader_error(loader, key, g_string_free(g_steal_pointer(&text), false));
        diagnostics_suggest(loader->diagnostics, nearest.best);
        return nearest_is_close(&nearest) ? nearest.best : NULL;
}

/* Reads each rule as if a run of this tree had finished. */
static void check_on_finished(Loader *loader, const Header *header, uint32_t item) {
        const char *name = loader->file->name ?: "this";
        g_autofree char *run = g_strconcat(name, ".1", NULL);
        const FinishedRun sample = { .run = run, .tree = name, .instance = "", .result = "failure" };
        uint32_t element = item + 1;

        for (size_t i = 0; header->on_finished && i < json_object_array_length(header->on_finished);
             i++, element = text_next(loader_text(loader), element)) {
                g_auto(Follower) follower = {};
                g_autofree char *error = NULL, *file = NULL, *path = NULL;

                if (on_finished_expand(json_object_array_get_idx(header->on_finished, i), &sample, &follower, &error) <
                    0) {
                        loader_error(loader, element, g_strdup_printf("on_finished[%zu]: %s", i, error));
                        continue;
                }
                if (g_strcmp0(follower.tree, loader->file->name) == 0 && follower.tree) {
                        loader_error(
                                loader, element,
                                g_strdup_printf("on_finished[%zu]: a tree does not start itself; use 'restart'", i));
                        continue;
                }

                file = follower.tree ? g_strconcat(follower.tree, TREE_SUFFIX, NULL) : NULL;
                if (!file || !loader->sources || !loader->sources->find)
                        continue;
                path = loader->sources->find(file, loader->sources->userdata);
                if (!path)
                        loader_warning(
                                loader, element,
                                g_strdup_printf("on_finished[%zu]: there is no tree '%s' yet", i, follower.tree));
        }
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
                const Header *header = top->target.params == header_params ? top->target.values : NULL;

                loader_set_param(loader, &top->target, param, key + 1);

                /* Reading a file of another version would only report false errors. */
                if (header && param->offset == offsetof(Header, btd) && header->btd != HEADER_VERSION)
                        loader_error(loader, key + 1,
                                     g_strdup_printf("btd: the file has version %" PRId64
                                                     " of the format; this btd knows only version %u",
                                                     header->btd, HEADER_VERSION));
                else if (header && param->offset == offsetof(Header, restart.backoff) && header->restart.backoff &&
                         backoff_is_at_max(header->restart.backoff))
                        loader_warning(loader, key + 1,
                                       g_strdup("restart_backoff: 'initial' is longer than 'max', so each delay is as "
                                                "long as 'max'"));
                else if (header && param->offset == offsetof(Header, on_finished))
                        check_on_finished(loader, header, key + 1);
        }
}

static void read_members(Loader *loader, uint32_t object, Top *top) {
        params_set_defaults(loader->arena, top->target.params, top->target.values);
        TEXT_KEYS(loader_text(loader), key, object)
                read_member(loader, object, key, top);
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

/* The name of the variable, which is the key at the item, without '@'; NULL after a report. */
static const char *variable_name(Loader *loader, uint32_t key, const char *section) {
        const char *name = loader_intern(loader, key);
        g_autofree char *problem = variable_name_problem(name, false);

        if (!problem)
                return name;

        loader_error(loader, key, g_strdup_printf("%s: %s", section, problem));
        loader_doubt_name(loader, key);
        loader->plan->declarations_unknown = true;
        return NULL;
}

static bool expect_object(Loader *loader, uint32_t item, const char *section) {
        if (item == 0)
                return false;
        if (text_kind(loader_text(loader), item) == TEXT_OBJECT)
                return true;

        loader_error(loader, item, loader_unexpected(loader, item, "%s: expected an object of variables", section));
        loader_doubt_name(loader, item);
        loader->plan->declarations_unknown = true;
        return false;
}

static void read_blackboard(Loader *loader, Plan *plan, uint32_t item) {
        json_object *variables = plan->blackboard = arena_own(loader->arena, json_object_new_object());

        if (!expect_object(loader, item, "blackboard"))
                return;

        TEXT_KEYS(loader_text(loader), key, item) {
                const char *name = variable_name(loader, key, "blackboard");
                g_autofree char *where = g_strconcat("blackboard.", name, NULL);
                json_object *value = NULL;

                if (!name)
                        continue;
                if (json_object_object_get_ex(variables, name, NULL)) {
                        loader_error(loader, key, g_strdup_printf("blackboard: '%s' is given twice", name));
                        continue;
                }

                loader_read_json(loader, where, key + 1, &value);
                json_object_object_add(variables, name, value);
                if (json_object_is_type(value, json_type_object) && json_object_object_length(value) == 2 &&
                    json_object_object_get_ex(value, "type", NULL) && json_object_object_get_ex(value, "default", NULL))
                        loader_warning(loader, key + 1,
                                       g_strdup_printf("%s: this object is the value; to declare a type, use 'inputs'",
                                                       where));
        }
}

/* A section of declarations that is being read. */
typedef struct Section {
        const char *name;
        uint32_t item;
        bool inputs;
        json_object *blackboard; /* of the same tree */
} Section;

/* Reads the value of a declaration: a type, or an object with a type and more. */
static int read_what(Loader *loader, const Section *section, const Place *place, uint32_t item, json_object *value,
                     Declaration *declaration) {
        const Param *params = section->inputs ? input_params : output_params;
        const Param whole = { .kind = PARAM_OBJECT, .members = params, .members_size = sizeof(Declaration) };
        const Declaration *read = NULL;
        int r;

        if (json_object_is_type(value, json_type_string))
                return loader_set_place(loader, place, &params[0], declaration, value, section->item);
        if (!json_object_is_type(value, json_type_object)) {
                g_autofree char *where = place_format(place);

                loader_error(loader, item,
                             loader_unexpected(loader, item,
                                               "%s: expected a type, such as \"string\", or an object, {\"type\": "
                                               "\"string\", ...}",
                                               where));
                return -EINVAL;
        }

        r = loader_set_place(loader, place, &whole, &read, value, section->item);
        if (r >= 0)
                *declaration = *read;
        return r;
}

/* The first run has no value. Of the trees in a file, only its root is started, so only that has a next run. */
static void check_kept(Loader *loader, const Place *place, uint32_t item, const Declaration *declaration) {
        g_autofree char *where = place_format(place);
        uint32_t member = loader_find_member(loader, loader->file, item, "kept");

        if (declaration->required)
                loader_error(
                        loader, member,
                        g_strdup_printf("%s.kept: a kept variable needs a 'default', which the first run gets", where));
        if (!loader->plan->is_root)
                loader_error(loader, member,
                             g_strdup_printf("%s.kept: only variables of the root are kept, not those of a tree in "
                                             "'trees'; use an output for its last value",
                                             where));
}

/* Tree files and the files of kept variables are not secret, so they must not have the value. Others see a text in its
 * place, so the type must allow one. */
static void check_secret(Loader *loader, const Place *place, uint32_t item, const Declaration *declaration) {
        g_autofree char *where = place_format(place);
        uint32_t member = loader_find_member(loader, loader->file, item, "secret");
        const char *problem = declaration->kept ? "a secret variable cannot be kept, because that would store it"
                              : declaration->fallback
                                      ? "a secret variable can only have null as its default, because everybody can "
                                        "read this file"
                              : declaration->type != VARIABLE_STRING && declaration->type != VARIABLE_ANY
                                      ? "a secret variable is of the type \"string\" or \"any\""
                                      : NULL;

        if (problem)
                loader_error(loader, member, g_strdup_printf("%s.secret: %s", where, problem));
}

static void read_declaration(Loader *loader, const Section *section, uint32_t key, Declaration *declaration) {
        const char *name = variable_name(loader, key, section->name);
        Place top = { .key = section->name }, place = { .parent = &top, .key = name };
        g_autoptr(json_object) value = NULL;
        g_autofree char *where = g_strconcat(section->name, ".", name, NULL);
        int r;

        if (!name)
                return;

        r = loader_read_json(loader, where, key + 1, &value);
        if (section->inputs && json_object_object_get_ex(section->blackboard, name, NULL))
                loader_error(
                        loader, key,
                        g_strdup_printf("inputs: '%s' is in 'blackboard', too; give it a default here instead", name));

        if (r != -EINVAL)
                r = read_what(loader, section, &place, key + 1, value, declaration);

        /* A wrong declaration counts as a variable of any type. If it is an object, it may contain a default, so the
         * variable is not required. */
        declaration->name = name;
        declaration->required = section->inputs && (r >= 0 || !json_object_is_type(value, json_type_object));
        if (r >= 0 && json_object_object_get_ex(value, "default", NULL)) {
                g_autofree char *shown = place_format(&place), *problem = NULL;

                declaration->required = false;
                problem = declaration_problem(declaration, declaration->fallback);
                if (problem)
                        loader_error(loader, loader_find_member(loader, loader->file, key + 1, "default"),
                                     g_strdup_printf("%s.default: %s", shown, problem));
        }
        if (r >= 0 && declaration->kept)
                check_kept(loader, &place, key + 1, declaration);
        if (r >= 0 && declaration->secret)
                check_secret(loader, &place, key + 1, declaration);
}

/* In the order of the text; entries without a valid name are left out. */
static const Declaration *read_section(Loader *loader, const Section *section) {
        bool given = expect_object(loader, section->item, section->name);
        uint32_t n = given ? text_item(loader_text(loader), section->item)->count : 0, key = section->item + 1;
        Declaration *declarations = arena_alloc(loader->arena, (n + 1) * sizeof(Declaration)), *next = declarations;
        g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);

        for (uint32_t i = 0; i < n; i++, key = text_next(loader_text(loader), key + 1)) {
                const char *name = loader_intern(loader, key);

                if (g_hash_table_add(seen, (char *) name)) {
                        read_declaration(loader, section, key, next);
                        next += next->name != NULL;
                } else {
                        g_autofree char *shown = excerpt(name, strlen(name));
                        Declaration other = {};

                        loader_error(loader, key, g_strdup_printf("%s: '%s' is given twice", section->name, shown));
                        read_declaration(loader, section, key, &other);
                }
        }

        return declarations;
}

void loader_read_declarations(Loader *loader, Plan *plan, const Heading *heading) {
        Section inputs = { .name = "inputs", .item = heading->inputs, .inputs = true };
        Section outputs = { .name = "outputs", .item = heading->outputs };
        unsigned n_secrets = 0;

        read_blackboard(loader, plan, heading->blackboard);
        inputs.blackboard = plan->blackboard;
        plan->inputs = read_section(loader, &inputs);
        plan->outputs = read_section(loader, &outputs);
        plan->outputs_item = heading->outputs;

        plan->input_names = g_hash_table_new(g_str_hash, g_str_equal);
        for (const Declaration *input = plan->inputs; input->name; input++) {
                g_hash_table_insert(plan->input_names, (char *) input->name, (Declaration *) input);
                n_secrets += input->secret;
        }

        if (n_secrets > 0) {
                const char **name = arena_alloc(loader->arena, (n_secrets + 1) * sizeof(char *));

                plan->secrets = name;
                for (const Declaration *input = plan->inputs; input->name; input++)
                        if (input->secret)
                                *name++ = input->name;
        }
}
