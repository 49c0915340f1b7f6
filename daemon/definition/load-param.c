/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Setting parameters from the items of the text: references become templates, everything else a value. */

#include <errno.h>

#include "basic/cleanup.h"
#include "definition/loader.h"
#include "script/reference.h"

#define DRAFT_SIZE 256u

bool target_was_given(Target *target, const Param *param) {
        uint64_t bit = UINT64_C(1) << (param - target->params);
        bool given = target->given & bit;

        g_assert(param - target->params < TARGET_PARAMS_MAX);
        target->given |= bit;
        return given;
}

const void *loader_defaults(Loader *loader, const Param *params, size_t size) {
        void *values;

        if (size == 0)
                return NULL;

        values = g_hash_table_lookup(loader->defaults, params);
        if (!values) {
                values = arena_alloc(loader->arena, size);
                params_set_defaults(loader->arena, params, values);
                g_hash_table_insert(loader->defaults, (Param *) params, values);
        }

        return values;
}

typedef struct Report {
        Loader *loader;
        uint32_t item; /* of the parameter's value */
} Report;

static bool is_key(Loader *loader, uint32_t item, const char *key) {
        size_t length;

        return g_str_equal(loader_string(loader, item, &length), key);
}

/* The item at a place inside of the parameter's value; its key when that is meant. It is looked for anew for each
 * fault, of which there are only so many. */
static uint32_t find_place(const Report *report, const Place *place, bool at_key) {
        const Text *text = loader_text(report->loader);
        uint32_t container, item;

        if (!place->parent)
                return report->item;

        container = find_place(report, place->parent, false);
        item = container + 1;
        if (!place->key) {
                for (size_t i = 0; i < place->index; i++)
                        item = text_next(text, item);
                return item;
        }

        for (uint32_t i = 0; i < text_item(text, container)->count; i++, item = text_next(text, item + 1))
                if (is_key(report->loader, item, place->key))
                        return at_key ? item : item + 1;

        return container;
}

static void on_param_report(const Place *place, bool at_key, char *text, void *userdata) {
        const Report *report = userdata;
        g_autofree char *problem = text;
        g_autofree char *prefix = place_format(at_key ? place->parent : place);
        const Text *items = loader_text(report->loader);
        size_t offset = text_offset(items, report->item);

        if (!diagnostics_is_full(report->loader->diagnostics)) {
                uint32_t item = find_place(report, place, at_key);

                offset = place->inside ? text_offset_inside(items, item, place->offset, report->loader->scratch)
                                       : text_offset(items, item);
        }

        loader_error_at(report->loader, offset, g_strdup_printf("%s: %s", prefix, problem));
}

static int on_compile(const Param *param, bool is_code, const char *code, const Script **ret_script, char **ret_error,
                      size_t *ret_offset, void *userdata) {
        Loader *loader = ((const Report *) userdata)->loader;
        ScriptKind kind = is_code ? SCRIPT_CODE : SCRIPT_EXPRESSION;
        g_autofree char *index = g_strdup_printf("%p %d %s", (const void *) param->extra, kind, code);
        const Script *script = g_hash_table_lookup(loader->script_index, index);
        int r;

        if (!script) {
                if (!loader->scripts)
                        loader->scripts = scripts_new();

                r = scripts_compile(loader->scripts, kind, code, param->extra, &script, ret_error, ret_offset);
                if (r < 0)
                        return r;

                g_hash_table_insert(loader->script_index, g_steal_pointer(&index), (Script *) script);
        }

        *ret_script = script;
        return 0;
}

static int no_references(const Param *param, char **ret_error) {
        *ret_error = g_strdup(param->reads || param->writes
                                      ? "expected the name of a variable as it is, without braces"
                                      : "a variable cannot stand here, since this must be known before the run; "
                                        "write '{{' for a brace");
        return -EINVAL;
}

/* Only what a leaf is started with, and does not tell everybody. What is no type that is known may be one. */
static bool may_be_secret(const Loader *loader, const Target *target, const Param *param) {
        const NodeType *type;

        if (target->node == PLAN_NONE)
                return false;

        type = plan_node(loader->plan, target->node)->type;
        return !type || (type->leaf && !param->shown);
}

static int no_secrets(const Param *param, char **ret_error) {
        *ret_error = g_strdup(param->shown ? "a secret cannot stand here, since everybody can read this"
                                           : "a secret can stand only in the parameters of leaves");
        return -EINVAL;
}

/* In which a brace is a brace. */
static bool is_plain(const Target *target, const Param *param) {
        return target->plain || param->plain || param_is_script(param);
}

static void add_template(Loader *loader, const Target *target, const Param *param, uint32_t item, json_object *value) {
        Template template = { .node = target->node, .param = param };

        template.value = arena_own(loader->arena, json_object_get(value));
        g_array_append_val(loader->plan->templates, template);
        loader_mention_references(loader, param, target->node, item);
}

/* A value without references has its escapes undone now; one with references becomes a template. 1: it did; 0: the
 * value is known; -EINVAL: reported. */
static int settle_references(Loader *loader, Target *target, const Param *param, uint32_t item, json_object **value) {
        g_autofree char *error = NULL;
        json_object *unescaped;
        int r;

        if (is_plain(target, param) || !reference_inside(*value))
                return 0;

        r = reference_check(*value, &error);
        if (r == 0)
                r = reference_expand(loader->nothing, *value, &unescaped, &error);
        else if (r > 0 && !param_takes_references(param, target->literal))
                r = no_references(param, &error);
        else if (r > 0 && reference_to_secret_inside(*value) && !may_be_secret(loader, target, param))
                r = no_secrets(param, &error);
        else if (r > 0) {
                add_template(loader, target, param, item, *value);
                return 1;
        }

        if (r < 0) {
                loader_error(loader, item, g_strdup_printf("%s: %s", param->name, error));
                return r;
        }

        json_object_put(*value);
        *value = unescaped;
        return 0;
}

/* The value, or NULL after a report; settled as above. */
static int read_value(Loader *loader, Target *target, const Param *param, uint32_t item, json_object **ret_value) {
        g_autoptr(json_object) value = NULL;
        g_autofree char *error = NULL;
        uint32_t fault;
        int r;

        if (text_to_json(loader_text(loader), item, loader->scratch, &value, &fault, &error) < 0) {
                loader_error(loader, fault, g_strdup_printf("%s: %s", param->name, error));
                return -EINVAL;
        }

        r = settle_references(loader, target, param, item, &value);
        if (r >= 0)
                *ret_value = g_steal_pointer(&value);

        return r;
}

/* Beyond its kind. */
static void check_text(Loader *loader, Target *target, const Param *param, uint32_t item) {
        const char *value = *(const char *const *) ((const char *) target->values + param->offset);
        bool is_error = true;
        char *text = param->check(value, &is_error), *full;

        if (!text)
                return;

        full = g_strdup_printf("%s: %s", param->name, text);
        g_free(text);
        if (!is_error) {
                loader_warning(loader, item, full);
                return;
        }

        target->wrong = true;
        loader_error(loader, item, full);
}

/* What it would have set is not known then. */
static void param_wrong(Loader *loader, Target *target, const Param *param) {
        target->wrong = true;
        if (loader->plan && (param->writes || param->kind == PARAM_CODE))
                loader->plan->unsure = true;
}

void loader_set_param(Loader *loader, Target *target, const Param *param, uint32_t item) {
        Report report = { .loader = loader, .item = item };
        ParamSetter setter = {
                .arena = loader->arena, .report = on_param_report, .compile = on_compile, .userdata = &report
        };
        void *values = target->values;
        g_autoptr(json_object) value = NULL;
        g_autoptr(Arena) draft = NULL;
        int r;

        r = read_value(loader, target, param, item, &value);
        if (r < 0) {
                param_wrong(loader, target, param);
                return;
        }

        /* The node itself keeps the default until the value is known. */
        if (r > 0) {
                draft = arena_new(target->size + DRAFT_SIZE);
                values = arena_alloc(draft, target->size);
                setter.arena = draft;
                setter.provisional = true;
        }

        if (param_set(&setter, param, values, value) < 0)
                param_wrong(loader, target, param);
        else if (r == 0 && target->node != PLAN_NONE) {
                loader_mention_param(loader, param, target->node, item, values);
                if (param->check)
                        check_text(loader, target, param, item);
        }
}

int loader_set_place(Loader *loader, const Place *place, const Param *param, void *values, json_object *value,
                     uint32_t item) {
        Report report = { .loader = loader, .item = item };
        ParamSetter setter = { .arena = loader->arena, .report = on_param_report, .userdata = &report };

        return param_set_at(&setter, place, param, values, value);
}

static bool kind_fits(const Loader *loader, const Param *param, uint32_t item) {
        bool is_object = text_kind(loader_text(loader), item) == TEXT_OBJECT;

        return is_object == (param->kind == PARAM_EXPRESSIONS);
}

const Param *loader_choose_param(const Loader *loader, const Param *param, uint32_t item) {
        const Param *other = param + 1;

        if (other->name && g_str_equal(other->name, param->name) && !kind_fits(loader, param, item) &&
            kind_fits(loader, other, item))
                return other;

        return param;
}

void loader_check_required(Loader *loader, Target *target, uint32_t item, const char *owner) {
        for (const Param *param = target->params; param && param->name; param++) {
                g_autofree char *needs = NULL, *what = NULL;

                if (!param->required || target->given & UINT64_C(1) << (param - target->params))
                        continue;

                needs = with_article(owner);
                what = g_strdup(param->doc);
                what[0] = g_ascii_tolower(what[0]);
                loader_error(loader, item,
                             g_strdup_printf("'%s' is missing; %s needs it: %s", param->name, needs, what));
                target->wrong = true;
        }
}
