/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Sets parameters from the items of the text: values with references become templates. */

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/excerpt.h"
#include "definition/load/loader.h"
#include "script/reference.h"

#define DRAFT_SIZE 256u

static uint64_t target_bit(const Target *target, const Param *param) {
        g_assert(param - target->params < TARGET_PARAMS_MAX);
        return UINT64_C(1) << (param - target->params);
}

bool target_was_given(Target *target, const Param *param) {
        uint64_t bit = target_bit(target, param);
        bool given = target->given & bit;

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

/* The item at a place inside the parameter's value, or its key if at_key. It searches again for each error; their
 * number is limited. */
static uint32_t find_place(const Report *report, const Place *place, bool at_key) {
        const Text *text = loader_text(report->loader);
        uint32_t container, item;

        if (!place->parent)
                return report->item;

        container = find_place(report, place->parent, false);
        if (!place->key) {
                item = container + 1;
                for (size_t i = 0; i < place->index; i++)
                        item = text_next(text, item);
                return item;
        }

        TEXT_KEYS(text, key, container) {
                size_t length;

                if (g_str_equal(loader_string(report->loader, key, &length), place->key))
                        return at_key ? key : key + 1;
        }

        return container;
}

static void on_param_report(const ParamFinding *finding, void *userdata) {
        const Report *report = userdata;
        const Place *place = finding->place;
        g_autofree char *problem = finding->text;
        g_autofree char *prefix = place_format(finding->at_key ? place->parent : place);
        char *text = g_strdup_printf("%s: %s", prefix, problem);
        uint32_t item = report->item;

        if (!diagnostics_is_full(report->loader->diagnostics))
                item = find_place(report, place, finding->at_key);

        if (finding->trap)
                loader_warning(report->loader, item, text);
        else if (place->inside)
                loader_error_inside(report->loader, item, place->offset, text);
        else
                loader_error(report->loader, item, text);
        diagnostics_suggest(report->loader->diagnostics, finding->instead);
}

/* Code that is an array of lines: the line of the file of each. Scripts are read in their order, so the lines of a file
 * are counted from the last one on. */
static const uint32_t *lines_of(Loader *loader, uint32_t array) {
        const Text *text = loader_text(loader);
        g_autoptr(GArray) lines = g_array_new(true, true, sizeof(uint32_t));

        TEXT_ELEMENTS(text, item, array) {
                size_t offset = text_offset(text, item), length;
                TreeFile *file = tree_file_at(loader->file, &offset);

                if (offset < file->counted || file->line == 0) {
                        file->counted = 0;
                        file->line = 1;
                }
                for (const char *end; (end = memchr(file->contents + file->counted, '\n', offset - file->counted));
                     file->line++)
                        file->counted = (size_t) (end + 1 - file->contents);

                for (const char *p = loader_string(loader, item, &length); p;
                     p = strchr(p, '\n') ? strchr(p, '\n') + 1 : NULL)
                        g_array_append_val(lines, file->line);
        }

        return memcpy(arena_alloc(loader->arena, (lines->len + 1) * sizeof(uint32_t)), lines->data,
                      (lines->len + 1) * sizeof(uint32_t));
}

static int on_compile(const Param *param, bool is_code, const char *code, const Script **ret_script, char **ret_error,
                      size_t *ret_offset, void *userdata) {
        Loader *loader = ((const Report *) userdata)->loader;
        ScriptKind kind = is_code ? SCRIPT_CODE : SCRIPT_EXPRESSION;
        uint32_t item = ((const Report *) userdata)->item;
        const Unit *unit = loader->plan ? loader->plan->unit : NULL;
        bool is_array = text_kind(loader_text(loader), item) == TEXT_ARRAY;
        /* The same code in other lines, or with other Lua files, is another script. */
        g_autofree char *index = g_strdup_printf("%p %p %d %u %u %s", (const void *) param->extra,
                                                 unit ? (void *) unit->libraries : NULL, kind,
                                                 is_array ? loader->file->number : 0, is_array ? item : 0, code);
        const Script *script = g_hash_table_lookup(loader->script_index, index);
        int r;

        if (!script) {
                bool lenient = loader->sources && loader->sources->lenient;

                if (!loader->scripts)
                        loader->scripts = scripts_new();

                r = scripts_compile(loader->scripts, kind, code, param->extra, lenient ? NULL : param->extra_members,
                                    unit ? unit->libraries : NULL, &script, ret_error, ret_offset);
                if (r < 0)
                        return r;

                if (is_array) {
                        size_t offset = text_offset(loader_text(loader), item);
                        const char *path = tree_file_at(loader->file, &offset)->path;
                        g_autofree char *name = path ? g_path_get_basename(path) : NULL;

                        script_set_lines(script, loader_intern_text(loader, name ?: "the file"),
                                         lines_of(loader, item));
                }
                g_hash_table_insert(loader->script_index, g_steal_pointer(&index), (Script *) script);
        }

        *ret_script = script;
        return 0;
}

char *secret_is_seen(const char *where) {
        return g_strdup_printf("%s: other users of the machine can see this, also the secret in it; give it to the "
                               "process by 'stdin'",
                               where);
}

typedef struct StringCheck {
        Loader *loader;
        const Place *place;
        uint32_t item;
} StringCheck;

static void on_reference_fault(char *text, size_t offset, void *userdata) {
        const StringCheck *check = userdata;
        g_autofree char *error = text, *where = place_format(check->place);

        loader_error_inside(check->loader, check->item, offset, g_strdup_printf("%s: %s", where, error));
}

/* Text for another program, such as a template of Go: if "{{" is one brace here, "}}" should not be two. */
static void check_doubled(Loader *loader, const Place *place, uint32_t item, const char *text) {
        static const char pattern[] = "(?<!\\{)\\{\\{(?!\\{)[^{}\"]*\\}\\}";
        g_autoptr(GRegex) regex = strstr(text, "}}") ? g_regex_new(pattern, 0, 0, NULL) : NULL;
        g_autoptr(GMatchInfo) match = NULL;
        g_autofree char *found = NULL, *shown = NULL, *where = NULL;

        if (!regex || !g_regex_match(regex, text, 0, &match))
                return;

        found = g_match_info_fetch(match, 0);
        shown = excerpt(found, strlen(found));
        where = place_format(place);
        loader_warning(loader, item,
                       g_strdup_printf("%s: \"%s\" becomes \"%s\", because \"{{\" is one brace; write "
                                       "\"{{%s\", or \"{NAME}\" for a variable",
                                       where, shown, shown + 1, shown));
}

/* As a shell has it: "${name}", which is a "$" and the value here, and "$name". argv and env have a list of their own.
 */
static void check_dollar(Loader *loader, const Place *place, uint32_t item, const char *text) {
        g_autoptr(GRegex) regex = strchr(text, '$') ? g_regex_new("\\$(\\{?)([A-Za-z_]\\w*)", 0, 0, NULL) : NULL;
        g_autoptr(GMatchInfo) match = NULL;
        g_autofree char *found = NULL, *brace = NULL, *name = NULL, *where = NULL;

        if (!regex || !g_regex_match(regex, text, 0, &match))
                return;

        found = g_match_info_fetch(match, 0);
        brace = g_match_info_fetch(match, 1);
        name = g_match_info_fetch(match, 2);
        if (!*brace && !declaration_find(loader->plan->inputs, name) &&
            !json_object_object_get_ex(loader->plan->blackboard, name, NULL))
                return;

        where = place_format(place);
        loader_warning(loader, item,
                       g_strdup_printf("%s: the \"$\" of \"%s\" is a character like others; a variable is \"{%s}\"",
                                       where, found, name));
}

/* The same as check_references(), for one string. */
static int check_string(Loader *loader, const Target *target, const Param *param, const Place *place, uint32_t item) {
        StringCheck check = { .loader = loader, .place = place, .item = item };
        const NodeType *type = target->node == PLAN_NONE ? NULL : plan_node(loader->plan, target->node)->type;
        bool is_leaf = type && (type->class == NODE_ACTION || type->class == NODE_CONDITION), secret;
        const char *problem = NULL;
        size_t length;
        const char *read = loader_string(loader, item, &length);
        g_autofree char *string = g_memdup2(read, length + 1), *where = NULL;
        int r = reference_check(string, length, on_reference_fault, &check);

        if (r >= 0)
                check_doubled(loader, place, item, string);
        if (r >= 0 && !param->trap)
                check_dollar(loader, place, item, string);
        if (r <= 0)
                return r;

        /* Secrets are allowed only in parameters with which a leaf starts, and which are not public. A node of an
         * unknown type may be a leaf. */
        secret = reference_to_secret(string, length);
        if (!param_takes_references(param, target->literal))
                problem = param_is_name(param)
                                  ? "expected the name of a variable as it is, without braces"
                                  : "a variable cannot be used here, because this must be known before the run; write "
                                    "'{{' for a brace";
        else if (reference_spreads(string, length) &&
                 (param->kind != PARAM_STRINGS || !place->parent || place->parent->parent))
                problem = "\"{key...}\" can be used only as an element of a list of strings, such as 'argv'; "
                          "\"{key}\" alone is the list itself";
        else if (secret && (target->node == PLAN_NONE || (type && (!is_leaf || param->shown))))
                problem = param->shown ? "a secret cannot be used here, because everybody can read this"
                                       : "a secret can be used only in the parameters of leaves";

        where = place_format(place);
        if (problem) {
                loader_error(loader, item, g_strdup_printf("%s: %s", where, problem));
                return -EINVAL;
        }

        if (param->seen && secret)
                loader_warning(loader, item, secret_is_seen(where));
        return 1;
}

/* Checks all strings inside the value. 1: it has references; 0: it has none; -EINVAL: reported. */
static int check_references(Loader *loader, const Target *target, const Param *param, const Place *place,
                            uint32_t item) {
        const Text *text = loader_text(loader);
        bool is_object = text_kind(text, item) == TEXT_OBJECT;
        uint32_t inside = item + 1;
        int result = 0;

        if (text_kind(text, item) == TEXT_STRING)
                return check_string(loader, target, param, place, item);
        if (text_kind(text, item) != TEXT_ARRAY && !is_object)
                return 0;

        for (uint32_t i = 0; i < text_item(text, item)->count; i++, inside = text_next(text, inside)) {
                Place at = { .parent = place, .index = i };
                g_autofree char *key = NULL;
                size_t length;
                int r;

                if (is_object)
                        at.key = key = g_strdup(loader_string(loader, inside++, &length));

                r = check_references(loader, target, param, &at, inside);
                result = r < 0 || result < 0 ? -EINVAL : MAX(result, r);
        }

        return result;
}

/* If the value has no references, its escapes are decoded now; else it becomes a template. 1: it is a template; 0: the
 * value is known; -EINVAL: reported. */
static int settle_references(Loader *loader, Target *target, const Param *param, uint32_t item, json_object **value) {
        Place place = { .key = param->name };
        g_autofree char *error = NULL;
        json_object *unescaped;
        int r;

        /* Braces may have no special meaning here. */
        if (target->plain || param->plain || param_is_script(param) || !reference_inside(*value))
                return 0;

        r = check_references(loader, target, param, &place, item);
        if (r < 0)
                return r;
        if (param->below || r > 0)
                loader_add_references(loader, param, target->node, item);
        if (param->below)
                return 0;
        if (r > 0) {
                Template template = { .node = target->node, .param = param };

                template.value = arena_own(loader->arena, json_object_get(*value));
                g_array_append_val(loader->plan->templates, template);
                return 1;
        }

        r = reference_expand(loader->nothing, *value, &unescaped, &error);
        g_assert(r >= 0);
        json_object_put(*value);
        *value = unescaped;
        return 0;
}

/* The variables that the parameter would set are not known then. */
void loader_param_wrong(Loader *loader, Target *target, const Param *param, uint32_t item) {
        target->wrong = true;
        target->wrong_params |= target_bit(target, param);
        if (target->node == PLAN_NONE)
                return;
        if (param->kind == PARAM_CODE || param->kind == PARAM_EXPRESSIONS)
                loader_doubt(loader, item);
        else if (param->writes || param->local)
                loader_doubt_name(loader, item);
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

        r = loader_read_json(loader, param->name, item, &value);
        if (r < 0)
                target->wrong = true;
        if (r != -EINVAL)
                r = settle_references(loader, target, param, item, &value);
        if (r < 0) {
                loader_param_wrong(loader, target, param, item);
                return;
        }

        /* The value is only checked; the node keeps the default until the value is known. */
        if (r > 0) {
                draft = arena_new(target->size + DRAFT_SIZE);
                values = arena_alloc(draft, target->size);
                setter.arena = draft;
                setter.provisional = true;
        }

        if (param_set(&setter, param, values, value) < 0)
                loader_param_wrong(loader, target, param, item);
        else {
                if (param->trap)
                        param->trap(&setter, &(Place){ .key = param->name }, value);
                if (r == 0 && target->node != PLAN_NONE)
                        loader_add_param_variables(loader, param, target->node, item, values);
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

                if (!param->required || target->given & target_bit(target, param))
                        continue;

                needs = with_article(owner);
                what = g_strdup(param->doc);
                what[0] = g_ascii_tolower(what[0]);
                loader_error(loader, item,
                             g_strdup_printf("'%s' is missing; %s needs it: %s", param->name, needs, what));
                target->wrong = true;
                target->wrong_params |= target_bit(target, param);
        }
}

static uint64_t bit_of(const Target *target, const char *name) {
        return target_bit(target, params_find(target->params, name, strlen(name)));
}

/* Reports each further choice that is given after the first. */
static void check_choices(Loader *loader, Reading *reading, const ParamRule *rule) {
        g_autoptr(GString) choices = g_string_new(NULL); /* "'equals', 'one_of' or 'test'" */
        g_autofree char *first = NULL;
        bool given = false;

        for (size_t i = 0; rule->params[i]; i++) {
                g_string_append_printf(choices, "%s'%s'",
                                       i == 0                ? ""
                                       : rule->params[i + 1] ? ", "
                                                             : " or ",
                                       rule->params[i]);
                given |= (reading->target.given & bit_of(&reading->target, rule->params[i])) != 0;
        }

        TEXT_KEYS(loader_text(loader), item, reading->item) {
                size_t length;
                const char *key = loader_meant(loader->file, item) ?: loader_string(loader, item, &length);

                if (!g_strv_contains(rule->params, key))
                        continue;
                if (!first) {
                        first = g_strdup(key);
                        continue;
                }
                if (g_str_equal(first, key))
                        continue; /* given twice, already reported */

                reading_error(loader, reading, item,
                              g_strdup_printf("%s: cannot be given together with '%s'; give one of %s", key, first,
                                              choices->str));
        }

        if (!first && rule->kind == RULE_EXACTLY_ONE && !given) {
                g_autofree char *owner = with_article(reading->type->name);

                reading_error(loader, reading, reading->item,
                              g_strdup_printf("%s is missing; %s needs one of them", choices->str, owner));
        }
}

static void check_not_with(Loader *loader, Reading *reading, const ParamRule *rule) {
        const Target *target = &reading->target;
        const Param *other = params_find(target->params, rule->params[1], strlen(rule->params[1]));
        uint32_t item;

        if (!(target->given & bit_of(target, rule->params[0])) || !(target->given & target_bit(target, other)) ||
            target->wrong_params & target_bit(target, other) ||
            !g_str_equal(other->values[*(const int *) ((const char *) target->values + other->offset)], rule->word))
                return;

        item = loader_find_member(loader, loader->file, reading->item, rule->params[0]);
        reading_error(loader, reading, item - 1,
                      g_strdup_printf("%s: cannot be given together with \"%s\": \"%s\"; %s", rule->params[0],
                                      rule->params[1], rule->word, rule->why));
}

/* The values of the node for a check: a text with references is there as it is written, so that it counts as given. */
static const void *written_values(Loader *loader, const Target *target) {
        const void *values = target->values ?: loader_defaults(loader, target->params, target->size);
        const GArray *templates = loader->plan->templates;
        void *copy = NULL;

        for (guint i = templates->len; i > 0 && g_array_index(templates, Template, i - 1).node == target->node; i--) {
                const Template *template = &g_array_index(templates, Template, i - 1);

                if (template->param->kind != PARAM_STRING)
                        continue;
                assert(values);
                if (!copy)
                        values = copy = memcpy(arena_alloc(loader->arena, target->size), values, target->size);
                *(const char **) ((char *) copy + template->param->offset) = json_object_get_string(template->value);
        }

        return values;
}

static void check_fit(Loader *loader, Reading *reading, const Param *param) {
        const Target *target = &reading->target;
        const void *values = written_values(loader, target);
        json_object *template = plan_template(loader->plan, target->node, param->name);
        uint32_t item = loader_find_member(loader, loader->file, reading->item, param->name);
        Report report = { .loader = loader, .item = item > 0 ? item : reading->item };
        ParamSetter setter = {
                .arena = loader->arena, .report = on_param_report, .userdata = &report, .provisional = template != NULL
        };
        Place place = { .key = param->name };

        g_assert(values);
        if (param->fits(&setter, &place, template ?: *(json_object **) ((char *) values + param->offset), values) < 0)
                reading->target.wrong = true;
}

static bool is_wrong(const Target *target, const char *name) {
        const Param *param = params_find(target->params, name, strlen(name));

        return target->wrong_params & target_bit(target, param);
}

void loader_check_rules(Loader *loader, Reading *reading) {
        const Target *target = &reading->target;

        for (const ParamRule *rule = reading->type->rules; rule && rule->kind; rule++)
                if (rule->kind == RULE_NOT_WITH)
                        check_not_with(loader, reading, rule);
                else
                        check_choices(loader, reading, rule);

        /* Wrong values are not compared with others. */
        for (const Param *param = target->params; param && param->name; param++)
                if (param->fits && !is_wrong(target, param->name) && !is_wrong(target, param->fits_with))
                        check_fit(loader, reading, param);
}
