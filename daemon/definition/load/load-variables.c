/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Collects the places where a node uses variables (references, parameters that are names of variables, and variables
 * that scripts read or assign), and checks that each variable that is read can have been set. Each tree is checked
 * alone, because it has only its own variables; a name with '@' means a variable of the tree at the top.
 */

#include <json-c/linkhash.h>
#include <string.h>

#include "basic/foreach.h"
#include "basic/nearest.h"
#include "basic/sorted.h"
#include "definition/hints.h"
#include "definition/load/loader.h"
#include "engine/types/types.h"
#include "script/reference.h"

static VariableUse *add_variable_use(Loader *loader, const Param *param, uint32_t node, uint32_t item, uint32_t offset,
                                     const char *name, bool writes) {
        GArray *uses = loader->plan->variable_uses;
        VariableUse use = { .name = loader_intern_text(loader, name),
                            .param = param,
                            .node = node,
                            .item = item,
                            .offset = offset,
                            .writes = writes };

        g_array_append_val(uses, use);
        return &g_array_index(uses, VariableUse, uses->len - 1);
}

static void add_string(Loader *loader, const Param *param, uint32_t node, uint32_t item, bool in_list, bool inside) {
        size_t length, at = 0;
        g_autofree char *text = g_strdup(loader_string(loader, item, &length));
        Reference reference;

        while (reference_next(text, length, &at, &reference)) {
                g_autofree char *name = reference.name;
                VariableUse *use = add_variable_use(loader, param, node, item, (uint32_t) reference.start, name, false);

                if (reference.n_steps > 0)
                        use->needs = *reference.steps == '[' ? VARIABLE_LIST : VARIABLE_OBJECT;
                else if (reference.spread)
                        use->needs = VARIABLE_LIST;
                else
                        use->no_list = param->kind == PARAM_STRINGS && in_list;
                if (use->needs == VARIABLE_OBJECT) {
                        g_autofree char *member = g_strndup(reference.steps + 1, strcspn(reference.steps + 1, ".[}"));

                        use->member = loader_intern_text(loader, member);
                }
                use->whole = reference.whole && !reference.spread && reference.n_steps == 0;
                use->inside = inside;
        }
}

/* The depth needs no check, because the value was already read. */
static void add_references(Loader *loader, const Param *param, uint32_t node, uint32_t item, bool in_list,
                           bool inside) {
        const Text *text = loader_text(loader);

        if (text_kind(text, item) == TEXT_STRING)
                add_string(loader, param, node, item, in_list, inside);
        else if (text_kind(text, item) == TEXT_ARRAY)
                TEXT_ELEMENTS(text, element, item)
                        add_references(loader, param, node, element, true, true);
        else if (text_kind(text, item) == TEXT_OBJECT)
                TEXT_KEYS(text, key, item)
                        add_references(loader, param, node, key + 1, false, true);
}

void loader_add_references(Loader *loader, const Param *param, uint32_t node, uint32_t item) {
        add_references(loader, param, node, item, false, false);
}

static void add_script(Loader *loader, const Param *param, uint32_t node, uint32_t item, const Script *script) {
        for (const char *const *name = script_reads(script); *name; name++)
                add_variable_use(loader, param, node, item, USE_SOMEWHERE, *name, false);
        for (const char *const *name = param->kind == PARAM_CODE ? script_writes(script) : NULL; name && *name; name++)
                add_variable_use(loader, param, node, item, USE_SOMEWHERE, *name, true);

        ARRAY_FOREACH(const ScriptDemand, demand, script_demands(script)) {
                size_t place = text_offset_inside(loader_text(loader), item, demand->offset, loader->scratch);

                if (demand->warning)
                        loader_warning_in(loader, loader->plan, node, place,
                                          g_strdup_printf("%s: %s", param->name, demand->warning));
                else
                        add_variable_use(loader, param, node, item, (uint32_t) demand->offset, demand->name, false)
                                ->demand = demand;
        }
}

/* Adds the variable whose name is the string at the item. */
static void add_variable_name(Loader *loader, const Param *param, uint32_t node, uint32_t item, const char *name) {
        if (param->reads)
                add_variable_use(loader, param, node, item, 0, name, false);
        if (param->writes)
                add_variable_use(loader, param, node, item, 0, name, true);
}

static int compare_name(const void *name, const void *script) {
        return strcmp(name, ((const NamedScript *) script)->name);
}

void loader_add_param_variables(Loader *loader, const Param *param, uint32_t node, uint32_t item, const void *values) {
        const void *field = (const char *) values + param->offset;
        const Text *text = loader_text(loader);
        bool names = param->reads || param->writes;
        size_t length;

        if (param->kind == PARAM_EXPRESSION || param->kind == PARAM_CODE)
                add_script(loader, param, node, item, *(const Script *const *) field);
        else if (param->kind == PARAM_EXPRESSIONS) {
                const NamedScript *scripts = *(const NamedScript *const *) field;

                /* The variables of each expression, at the place of its code. */
                TEXT_KEYS(text, key, item) {
                        const char *name = loader_string(loader, key, &length);
                        const NamedScript *found =
                                bsearch(name, scripts, text_item(text, item)->count, sizeof(NamedScript), compare_name);

                        add_script(loader, param, node, key + 1, found->script);
                }
        }

        if (names && param->kind == PARAM_STRING)
                add_variable_name(loader, param, node, item, *(const char *const *) field);
        else if (names && param->kind == PARAM_STRINGS) {
                const char *const *name = *(const char *const *const *) field;
                uint32_t element = text_kind(text, item) == TEXT_ARRAY ? item + 1 : item;

                for (; name && *name; name++, element = text_next(text, element))
                        if (**name)
                                add_variable_name(loader, param, node, element, *name);
        } else if (names)
                /* The values of an object of strings, or the keys of an object of expressions. */
                TEXT_KEYS(text, key, item) {
                        uint32_t at = param->kind == PARAM_EXPRESSIONS ? key : key + 1;
                        g_autofree char *name = g_strdup(loader_string(loader, at, &length));

                        add_variable_name(loader, param, node, at, name);
                }
}

/* Limits for the search: with more candidates no name is suggested, and in longer code the place of a name is not
 * searched. */
#define NEAREST_MAX 1000u
#define CODE_MAX 65536u

/* A ForEach around a node, and the local variables of its copies. */
typedef struct Local {
        uint32_t end;
        const char *const *names;
} Local;

/* The check of one tree. Names are interned, so they are equal if their pointers are. */
typedef struct VariableCheck {
        Loader *loader;
        Plan *plan;
        GHashTable *set;   /* names that something sets */
        GHashTable *outer; /* the same of the tree at the top; NULL: not known */
        GHashTable *types; /* name -> VariableType of all values that it is set to; VARIABLE_ANY: not known */
        GHashTable *outer_types;
        GHashTable *first;    /* names that something sets without reading them before: "n = 0", not "n = n + 1" */
        GHashTable *read;     /* names that a node of this tree reads */
        GHashTable *written;  /* names that a node of this tree sets */
        GPtrArray *reachable; /* of Plan: the root and all that it uses */
        GHashTable *local;    /* name -> number of ForEach around with it */
        GArray *locals;       /* of Local */
        GHashTable *reported; /* names; each is reported once */
        GHashTable *beside; /* "5 answer": node 5 runs nodes at the same time, and below this child of it, the last one
                             * so far, the variable is set; UINT32_MAX: reported */
        unsigned own;       /* OwnVariable that are read, because no part of the tree at the top sets them */
} VariableCheck;

static bool is_outer(const char *name) {
        return *name == '@';
}

static void add_name(Loader *loader, GHashTable *set, const char *name) {
        g_hash_table_add(set, (char *) loader_intern_text(loader, name));
}

/* Something sets the variable to a value of this type. The name is interned. */
static void join_type(GHashTable *types, const char *name, VariableType type) {
        void *known;

        if (g_hash_table_lookup_extended(types, name, NULL, &known) && GPOINTER_TO_INT(known) != (int) type)
                type = VARIABLE_ANY;
        g_hash_table_insert(types, (char *) name, GINT_TO_POINTER(type));
}

static void add_declared(VariableCheck *check) {
        json_object_object_foreach(check->plan->blackboard, name, value) {
                add_name(check->loader, check->set, name);
                add_name(check->loader, check->first, name);
                join_type(check->types, loader_intern_text(check->loader, name), variable_type_of(value));
        }
        for (const Declaration *input = check->plan->inputs; input->name; input++) {
                add_name(check->loader, check->set, input->name);
                add_name(check->loader, check->first, input->name);
                /* A number of each kind is a number. */
                join_type(check->types, loader_intern_text(check->loader, input->name),
                          input->type == VARIABLE_INT ? VARIABLE_NUMBER : (VariableType) input->type);
        }
}

static void count_local(VariableCheck *check, const Local *local, int by) {
        for (const char *const *name = local->names; *name; name++) {
                char *key = (char *) loader_intern_text(check->loader, *name);
                int n = GPOINTER_TO_INT(g_hash_table_lookup(check->local, key));

                g_hash_table_insert(check->local, key, GINT_TO_POINTER(n + by));
        }
}

/* Updates the ForEach nodes around the node: those that begin before it and have not ended. */
static void move_to(VariableCheck *check, uint32_t node, unsigned *use) {
        for (;;) {
                const Local *last =
                        check->locals->len > 0 ? &g_array_index(check->locals, Local, check->locals->len - 1) : NULL;
                const PlanUse *next = *use < check->plan->uses->len ? plan_use(check->plan, *use) : NULL;

                if (last && last->end <= node && (!next || last->end <= next->node)) {
                        count_local(check, last, -1);
                        g_array_set_size(check->locals, check->locals->len - 1);
                } else if (next && next->node < node) {
                        Local local = { .end = plan_node(check->plan, next->node)->end, .names = next->names };

                        if (next->copies > 0) {
                                g_array_append_val(check->locals, local);
                                count_local(check, &local, 1);
                        }
                        ++*use;
                } else
                        return;
        }
}

static bool is_local(const VariableCheck *check, const VariableUse *variable) {
        uint32_t use = variable->param->below ? plan_node(check->plan, variable->node)->use : PLAN_NONE;

        return GPOINTER_TO_INT(g_hash_table_lookup(check->local, variable->name)) > 0 ||
               (use != PLAN_NONE && g_strv_contains(plan_use(check->plan, use)->names, variable->name));
}

static void each_variable_use(VariableCheck *check, void (*visit)(VariableCheck *check, const VariableUse *variable)) {
        unsigned use = 0;

        for (unsigned i = 0; i < check->plan->variable_uses->len; i++) {
                const VariableUse *variable = &g_array_index(check->plan->variable_uses, VariableUse, i);

                move_to(check, variable->node, &use);
                visit(check, variable);
        }

        move_to(check, check->plan->nodes->len, &use);
}

/* The type of the value that the node sets the variable to: it has a type of its own if another parameter says in which
 * form the variable gets it ("stdout", "stdout_format"), and that one is known. */
static VariableType type_given(const VariableCheck *check, const VariableUse *variable) {
        const PlanNode *node = plan_node(check->plan, variable->node);
        const GArray *templates = check->plan->templates;
        g_autofree char *name = g_strconcat(variable->param->name, "_format", NULL);
        const Param *format = node->type ? params_find(node->type->params, name, strlen(name)) : NULL;
        const char *form;

        /* Code such as "n = 0" or "n = n + 1", and nothing else, makes a number. */
        if (variable->param->kind == PARAM_CODE) {
                g_autofree char *code = text_lines(&check->plan->file->text, variable->item, check->loader->scratch),
                                *pattern = g_strdup_printf("^\\s*%s\\s*=\\s*(%s\\s*[-+*/%%]\\s*)?[\\d.]+\\s*$",
                                                           variable->name, variable->name);

                if (g_regex_match_simple(pattern, code, 0, 0))
                        return VARIABLE_NUMBER;
        }
        if (!format || node->wrong_params)
                return VARIABLE_ANY;

        for (uint32_t i = node->templates; i < templates->len; i++) {
                const Template *template = &g_array_index(templates, Template, i);

                if (template->node != variable->node)
                        break;
                if (template->param == format)
                        return VARIABLE_ANY;
        }

        form = format->values[*(const int *) ((const char *) node->params + format->offset)];
        return g_str_equal(form, "text") ? VARIABLE_STRING : g_str_equal(form, "json") ? VARIABLE_ANY : VARIABLE_LIST;
}

static bool is_word(char c) {
        return g_ascii_isalnum(c) || c == '_';
}

/* The first place of the word in the code, found by its text; 0: not found. */
static size_t find_word(const char *code, size_t length, const char *word) {
        const char *end = code + MIN(length, CODE_MAX), *p = code;

        while ((p = g_strstr_len(p, end - p, word))) {
                if ((p == code || !is_word(p[-1])) && !is_word(p[strlen(word)]))
                        return (size_t) (p - code);
                p++;
        }

        return 0;
}

/* True for "n = n + 1", if n is not in the code before. */
static bool counts(VariableCheck *check, const VariableUse *variable) {
        const char *name = variable->name, *p;
        g_autofree char *code = NULL;

        if (variable->param->kind != PARAM_CODE)
                return false;

        code = text_lines(&check->plan->file->text, variable->item, check->loader->scratch);
        p = code + find_word(code, strlen(code), name);
        if (!g_str_has_prefix(p, name))
                return false;

        p = g_strchug((char *) p + strlen(name));
        if (*p != '=' || p[1] == '=')
                return false;

        p = g_strchug((char *) p + 1);
        if (!g_str_has_prefix(p, name) || is_word(p[strlen(name)]))
                return false;

        p = g_strchug((char *) p + strlen(name));
        return *p && strchr("+-*/%^.", *p);
}

static void collect(VariableCheck *check, const VariableUse *variable) {
        g_hash_table_add(variable->writes ? check->written : check->read, (char *) variable->name);
        if (!variable->writes || is_local(check, variable))
                return;
        if (!is_outer(variable->name)) {
                g_hash_table_add(check->set, (char *) variable->name);
                if (!counts(check, variable))
                        g_hash_table_add(check->first, (char *) variable->name);
                join_type(check->types, variable->name, type_given(check, variable));
        } else if (check->outer) {
                add_name(check->loader, check->outer, variable->name + 1);
                join_type(check->outer_types, loader_intern_text(check->loader, variable->name + 1),
                          type_given(check, variable));
        }
}

static size_t use_place(const VariableCheck *check, const VariableUse *variable) {
        const Text *text = &check->plan->file->text;
        GString *scratch = check->loader->scratch;
        g_autofree char *code = NULL;
        size_t at = variable->offset;

        if (at == USE_SOMEWHERE) {
                code = text_lines(text, variable->item, scratch);
                at = find_word(code, strlen(code), variable->name + is_outer(variable->name));
        } else if (at == 0 || at > CODE_MAX)
                return text_offset(text, variable->item);

        return text_offset_inside(text, variable->item, at, scratch);
}

/* 0: it is none. */
static unsigned own_variable(const char *name) {
        return g_str_equal(name, VARIABLE_INSTANCE) ? OWN_INSTANCE : g_str_equal(name, VARIABLE_RUN) ? OWN_RUN : 0;
}

static void report(VariableCheck *check, const VariableUse *variable) {
        bool outer = is_outer(variable->name);
        size_t place = use_place(check, variable);
        GHashTable *set = outer ? check->outer : check->set;
        const char *name = variable->name + outer;
        Nearest nearest = { .word = name };
        GString *text = g_string_new(NULL);
        const Hint *hint = param_is_script(variable->param) ? hint_find(HINT_NAME, NULL, name) : NULL;
        g_autofree char *why = hint ? hint_format(hint) : NULL;

        if (!diagnostics_is_full(check->loader->diagnostics) && g_hash_table_size(set) <= NEAREST_MAX) {
                void *known;

                TABLE_FOREACH(known, set)
                        nearest_offer(&nearest, known);
        }

        g_string_append_printf(text, "%s: nothing sets the variable '%s'", variable->param->name, variable->name);
        if (!outer && own_variable(name))
                g_string_append_printf(text, "; that of the run is '%s%s' here",
                                       param_is_script(variable->param) ? "_G." : "@", name);
        else if (!outer && check->outer && check->set != check->outer && g_hash_table_contains(check->outer, name))
                g_string_append_printf(text, "; make it an input, or write '%s%s' for that of the tree at the top",
                                       param_is_script(variable->param) ? "_G." : "@", name);
        else if (hint)
                g_string_append(text, why);
        else if (nearest.best)
                g_string_append_printf(text, "; did you mean '%s%s'?", outer ? "@" : "", nearest.best);
        else
                g_string_append_printf(text, "; if it comes from outside, declare it in 'inputs'%s",
                                       outer ? " of the tree at the top" : "");

        loader_error_in(check->loader, check->plan, variable->node, place, g_string_free(text, false));
        if (place != text_offset(&check->plan->file->text, variable->item))
                diagnostics_set_inside(check->loader->diagnostics);
        diagnostics_suggest(check->loader->diagnostics, hint ? hint->instead : nearest.best);
}

/* True if a wrong part of the tree contains the word, or a name that is similar to it. */
static bool is_doubtful(const Doubts *doubts, const char *name) {
        Nearest nearest = { .word = name };

        for (unsigned i = 0; doubts->names && i < MIN(doubts->names->len, NEAREST_MAX); i++)
                nearest_offer(&nearest, doubts->names->pdata[i]);

        return nearest.best || (doubts->words && g_hash_table_contains(doubts->words, name));
}

/* True if a wrong part may set the variable. Each tree can set variables of the tree at the top. */
static bool may_be_set(const VariableCheck *check, const char *name, bool outer) {
        if (is_doubtful(&check->plan->doubts, name))
                return true;
        if (!outer && check->set != check->outer)
                return false;

        PTRS_FOREACH(const Plan, plan, check->reachable)
                if (is_doubtful(&plan->doubts, name))
                        return true;

        return false;
}

/* Reports an expression that makes no sense for values of this type. Reading a member of what is no object is an error;
 * the others are warnings, because a user can set the variable to a value of another type. */
static void check_demand(const VariableCheck *check, const VariableUse *variable, VariableType type) {
        const ScriptDemand *demand = variable->demand;
        const char *is = variable_type_describe(type);
        char *text;

        if (demand->member && type != VARIABLE_OBJECT) {
                text = g_strdup_printf("%s: '%s' is %s, and only an object has members%s", variable->param->name,
                                       variable->name, is, demand->advice);
                loader_error_in(check->loader, check->plan, variable->node, use_place(check, variable), text);
        } else if (demand->is_test && variable->param->kind == PARAM_EXPRESSION &&
                   !g_str_equal(variable->param->name, "of") && type != VARIABLE_BOOL) {
                text = g_strdup_printf("%s: '%s' is %s, which is always true, also %s; compare it",
                                       variable->param->name, variable->name, is,
                                       variable_type_is_number(type) ? "if it is 0" : "if it is empty");
                loader_warning_in(check->loader, check->plan, variable->node, use_place(check, variable), text);
        } else if (demand->literal && (demand->is_text ? type != VARIABLE_STRING : !variable_type_is_number(type))) {
                text = g_strdup_printf("%s: '%s' is %s, and %s is a %s, so they %s%s", variable->param->name,
                                       variable->name, is, demand->literal, demand->is_text ? "text" : "number",
                                       demand->orders ? "cannot be compared" : "are never equal",
                                       demand->is_text && variable_type_is_number(type) ? "; a number has no quotes"
                                       : type == VARIABLE_STRING ? "; tonumber() makes a number of a text"
                                                                 : "");
                loader_warning_in(check->loader, check->plan, variable->node, use_place(check, variable), text);
        } else
                return;

        diagnostics_set_inside(check->loader->diagnostics);
}

/* NULL: the parameter takes values of this type. */
static char *describe_misfit(const VariableUse *variable, VariableType type) {
        const Param *param = variable->param;
        const char *name = variable->name, *expected = NULL;
        bool is_number = variable_type_is_number(type), is_text = type == VARIABLE_STRING,
             is_span = param->kind == PARAM_SPAN && is_number;

        if (variable->inside) {
                if (param->kind == PARAM_STRING_MAP && !is_text && !is_number && type != VARIABLE_BOOL)
                        expected = "a string";
        } else if (param->kind == PARAM_INT && !is_number)
                expected = "a whole number";
        else if (param->kind == PARAM_NUMBER && !is_number)
                expected = "a number";
        else if (param->kind == PARAM_SPAN && !is_text)
                expected = "a time span such as \"150ms\"";
        else if (param->kind == PARAM_STRING && !is_text && !param->shown && !param->below)
                expected = "a string";
        else if (param->kind == PARAM_STRINGS && type != VARIABLE_LIST && !param->single)
                expected = "an array of strings";
        else if (param->kind == PARAM_JSON && type != VARIABLE_LIST && param->elements)
                expected = "an array";
        if (!expected)
                return NULL;

        return g_strdup_printf("%s: expected %s, but '%s' is %s%s%s%s", param->name, expected, name,
                               variable_type_describe(type), is_span ? "; write \"{" : "", is_span ? name : "",
                               is_span ? "}s\" for seconds" : "");
}

static void check_type(const VariableCheck *check, const VariableUse *variable, VariableType type) {
        const char *name = variable->name;
        char *text = NULL;

        if (type == VARIABLE_ANY)
                return;
        if (variable->demand) {
                check_demand(check, variable, type);
                return;
        }
        if (variable->whole && !variable->no_list)
                text = describe_misfit(variable, type);
        else if (variable->needs == VARIABLE_OBJECT && type != VARIABLE_OBJECT)
                text = g_strdup_printf("%s: '%s' is %s, and only an object has members", variable->param->name, name,
                                       variable_type_describe(type));
        else if (variable->needs == VARIABLE_LIST && type != VARIABLE_LIST)
                text = g_strdup_printf("%s: '%s' is %s, and only a list has elements", variable->param->name, name,
                                       variable_type_describe(type));
        else if (variable->no_list && type == VARIABLE_LIST)
                text = g_strdup_printf("%s: '%s' is a list; \"{%s...}\" as an element of its own becomes its elements",
                                       variable->param->name, name, name);
        if (!text)
                return;

        loader_error_in(check->loader, check->plan, variable->node, use_place(check, variable), text);
        diagnostics_set_inside(check->loader->diagnostics);
}

/* Without a value, "n = n + 1" is an error in Lua. Other trees may set a variable of the tree at the top. */
static void check_first(VariableCheck *check, const VariableUse *variable) {
        const char *name = variable->name;

        if (g_hash_table_contains(check->first, name) || may_be_set(check, name, false) || !counts(check, variable) ||
            (check->set == check->outer && check->reachable->len > 1) ||
            !g_hash_table_add(check->reported, (char *) name))
                return;

        loader_error_in(check->loader, check->plan, variable->node, use_place(check, variable),
                        g_strdup_printf("%s: '%s' has no first value; give it one in 'blackboard'",
                                        variable->param->name, name));
}

/* Checks that the variable 'run', which every run has, has the member that is read. */
static void check_own_member(VariableCheck *check, const VariableUse *variable, const char *name) {
        static const char *const members[] = { "id", "tree", "instance", NULL };
        const char *member = variable->demand ? variable->demand->member : variable->member;

        if (own_variable(name) != OWN_RUN || !member || g_strv_contains(members, member))
                return;

        loader_error_in(check->loader, check->plan, variable->node, use_place(check, variable),
                        g_strdup_printf("%s: '%s' has no member '%s' (it has: id, tree, instance)",
                                        variable->param->name, variable->name, member));
        diagnostics_set_inside(check->loader->diagnostics);
}

static bool is_secret(const VariableCheck *check, const VariableUse *variable) {
        const char *name = variable->name;
        const Plan *plan = check->plan;
        const Declaration *input;

        while (is_outer(name) && plan->user)
                plan = plan->user;
        input = is_local(check, variable) ? NULL : declaration_find(plan->inputs, name + is_outer(name));

        return input && input->secret;
}

static void check_variable(VariableCheck *check, const VariableUse *variable) {
        bool outer = is_outer(variable->name);
        GHashTable *set = outer ? check->outer : check->set;
        const char *name = variable->name + outer;

        if (variable->param->openly && variable->writes && is_secret(check, variable))
                loader_error_in(check->loader, check->plan, variable->node, use_place(check, variable),
                                g_strdup_printf("%s: '%s' is secret, and everybody can read what this node reads; only "
                                                "a DBusCall, a Spawn or a Command can get a secret",
                                                variable->param->name, variable->name));
        if (variable->param->seen && is_secret(check, variable))
                loader_warning_in(check->loader, check->plan, variable->node, use_place(check, variable),
                                  secret_is_seen(variable->param->name));
        if (variable->writes || !set || is_local(check, variable) ||
            (variable->demand && !g_hash_table_contains(set, name)))
                return;
        if (set == check->outer && (check->own & own_variable(name)))
                check_own_member(check, variable, name);
        name = outer ? loader_intern_text(check->loader, name) : name;
        if (g_hash_table_contains(set, name)) {
                GHashTable *types = outer ? check->outer_types : check->types;

                if ((variable->needs || variable->no_list || variable->whole || variable->demand) &&
                    !may_be_set(check, name, outer))
                        check_type(check, variable, GPOINTER_TO_INT(g_hash_table_lookup(types, name)));
                if (!outer && variable->param->kind == PARAM_CODE)
                        check_first(check, variable);
                return;
        }
        if (set == check->outer && own_variable(name)) {
                g_hash_table_add(set, (char *) name);
                check->own |= own_variable(name);
                check_own_member(check, variable, name);
                return;
        }

        if (!may_be_set(check, name, outer) && g_hash_table_add(check->reported, (char *) variable->name))
                report(check, variable);
}

/* Code that sets a variable which nothing uses, while nothing sets a variable of 'blackboard' that has nearly this
 * name. Other trees may use a variable of the tree at the top. */
static void check_misspelt(VariableCheck *check, const VariableUse *variable) {
        const Plan *plan = check->plan;
        const char *name = variable->name;
        Nearest nearest = { .word = name };

        if (!variable->writes || variable->param->kind != PARAM_CODE || is_outer(name) || is_local(check, variable) ||
            g_hash_table_contains(check->read, name) || json_object_object_get_ex(plan->blackboard, name, NULL) ||
            declaration_find(plan->inputs, name) || declaration_find(plan->outputs, name) ||
            (check->set == check->outer && check->reachable->len > 1) ||
            g_hash_table_size(check->written) > NEAREST_MAX)
                return;

        json_object_object_foreach(plan->blackboard, known, value) {
                (void) value;
                if (!g_hash_table_contains(check->written, loader_intern_text(check->loader, known)))
                        nearest_offer(&nearest, known);
        }
        if (!nearest.best || !g_hash_table_add(check->reported, (char *) name))
                return;

        loader_warning_in(check->loader, plan, variable->node, use_place(check, variable),
                          g_strdup_printf("%s: nothing uses the variable '%s'; did you mean '%s'?",
                                          variable->param->name, name, nearest.best));
        diagnostics_set_inside(check->loader->diagnostics);
        diagnostics_suggest(check->loader->diagnostics, nearest.best);
}

/* Code that also reads the variable, such as "n = n + 1", adds to the value of others. Code that reads no variable sets
 * a flag, which is the same whoever sets it. */
static bool overwrites(const VariableCheck *check, const VariableUse *variable) {
        const VariableUse *first = &g_array_index(check->plan->variable_uses, VariableUse, 0);
        bool reads = false;

        if (variable->param->kind != PARAM_CODE)
                return true;

        for (const VariableUse *use = variable; use >= first && use->item == variable->item; use--) {
                if (!use->writes && use->name == variable->name)
                        return false;
                reads |= !use->writes;
        }

        return reads;
}

/* Nodes that run at the same time, which are copies below a ForEach or children of a Parallel, should not set the same
 * variable. A lock inside lets only one of them run. */
static void check_beside(VariableCheck *check, const VariableUse *variable) {
        const Plan *plan = check->plan;

        if (!variable->writes || is_local(check, variable) || !overwrites(check, variable))
                return;

        for (uint32_t child = variable->node, node; child != PLAN_NONE; child = node) {
                const NodeType *type;
                char *text = NULL, *key;
                uint32_t other;

                node = plan_node(plan, child)->parent;
                if (node == PLAN_NONE ||
                    (plan_node(plan, child)->attributes && plan_node(plan, child)->attributes->lock))
                        return;

                type = plan_node(plan, node)->type;
                if (type != &for_each_type && type != &parallel_type && type != &parallel_all_type)
                        continue;

                key = g_strdup_printf("%u %s", node, variable->name);
                other = GPOINTER_TO_UINT(g_hash_table_lookup(check->beside, key));
                if (type == &for_each_type && plan_node(plan, node)->use != PLAN_NONE &&
                    plan_use(plan, plan_node(plan, node)->use)->copies > 1 && other == 0)
                        text = g_strdup_printf("%s: elements that run at the same time set '%s', so one overwrites the "
                                               "value of another; a SubTree gives each element its own variables",
                                               variable->param->name, variable->name);
                else if (type != &for_each_type && other != 0 && other != UINT32_MAX && other != child)
                        text = g_strdup_printf(
                                "%s: another child of '%s' sets '%s' at the same time, so one overwrites "
                                "the value of the other; use two variables",
                                variable->param->name, plan_node(plan, node)->name ?: type->name, variable->name);
                if (other != UINT32_MAX)
                        g_hash_table_insert(check->beside, key, GUINT_TO_POINTER(text ? UINT32_MAX : child));
                else
                        g_free(key);
                if (!text)
                        continue;

                loader_warning_in(check->loader, plan, variable->node, use_place(check, variable), text);
                return;
        }
}

static void check_declared_outputs(VariableCheck *check) {
        const Plan *plan = check->plan;

        for (const Declaration *output = plan->outputs; output->name; output++) {
                uint32_t item;

                if (g_hash_table_contains(check->set, output->name) || may_be_set(check, output->name, false))
                        continue;

                item = diagnostics_is_full(check->loader->diagnostics)
                               ? plan->outputs_item
                               : loader_find_member(check->loader, plan->file, plan->outputs_item, output->name) - 1;
                loader_error_in(check->loader, check->plan, PLAN_NONE, text_offset(&plan->file->text, item),
                                g_strdup_printf("outputs: nothing in the tree sets '%s'", output->name));
        }
}

static void variable_check_free(VariableCheck *check) {
        g_hash_table_unref(check->set);
        g_hash_table_unref(check->types);
        g_hash_table_unref(check->first);
        g_hash_table_unref(check->read);
        g_hash_table_unref(check->written);
        g_hash_table_unref(check->local);
        g_array_unref(check->locals);
        g_hash_table_unref(check->reported);
        g_hash_table_unref(check->beside);
        g_free(check);
}

const char *const *loader_check_variables(Loader *loader, Plan *root, unsigned *ret_own) {
        g_autoptr(GPtrArray) reachable = g_ptr_array_new(),
                             checks = g_ptr_array_new_with_free_func((GDestroyNotify) variable_check_free);
        g_autoptr(GHashTable) outer = NULL, outer_types = g_hash_table_new(NULL, NULL);
        bool known = root != NULL;
        const char **names;
        unsigned n = 0;
        void *name;

        PTRS_FOREACH(Plan, plan, loader->queue)
                if (plan == root || plan->user) {
                        g_ptr_array_add(reachable, plan);
                        known = known && !plan->setters_unknown && !plan->unit->lua_wrong;
                }
        outer = known ? g_hash_table_new(NULL, NULL) : NULL;

        PTRS_FOREACH(Plan, plan, loader->queue) {
                VariableCheck *check;

                if (plan->setters_unknown || plan->unit->lua_wrong || (plan == root && !outer))
                        continue;

                check = g_new0(VariableCheck, 1);
                g_ptr_array_add(checks, check);
                check->loader = loader;
                check->plan = plan;
                check->set = plan == root ? g_hash_table_ref(outer) : g_hash_table_new(NULL, NULL);
                check->outer = plan == root || plan->user ? outer : NULL;
                check->types = plan == root ? g_hash_table_ref(outer_types) : g_hash_table_new(NULL, NULL);
                check->outer_types = outer_types;
                check->reachable = reachable;
                check->first = g_hash_table_new(NULL, NULL);
                check->read = g_hash_table_new(NULL, NULL);
                check->written = g_hash_table_new(NULL, NULL);
                check->local = g_hash_table_new(NULL, NULL);
                check->locals = g_array_new(false, false, sizeof(Local));
                check->reported = g_hash_table_new(NULL, NULL);
                check->beside = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
                add_declared(check);
                each_variable_use(check, collect);
        }

        PTRS_FOREACH(VariableCheck, check, checks) {
                each_variable_use(check, check_variable);
                each_variable_use(check, check_misspelt);
                each_variable_use(check, check_beside);
                *ret_own |= check->own;
                check_declared_outputs(check);
        }

        if (!outer)
                return NULL;

        names = arena_alloc(loader->arena, (g_hash_table_size(outer) + 1) * sizeof(char *));
        TABLE_FOREACH(name, outer)
                names[n++] = name;
        qsort(names, n, sizeof(char *), compare_texts);
        return names;
}
