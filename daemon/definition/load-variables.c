/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Can every variable that is read have been set? Each tree is looked at alone, for it sees no variables but its own;
 * what is named with '@' is a variable of the tree at the top.
 */

#include <json-c/linkhash.h>
#include <string.h>

#include "basic/nearest.h"
#include "definition/loader.h"

/* More is not looked through: other candidates for what may have been meant, and code for where it is. */
#define NEAREST_MAX 1000u
#define CODE_MAX 65536u

/* The ForEach around a node, and the variables that its copies have. */
typedef struct Local {
        uint32_t end;
        const char *const *names;
} Local;

/* A tree that is being looked at. Names are interned, so that they are the same when their pointers are. */
typedef struct Look {
        Loader *loader;
        Plan *plan;
        GHashTable *set;      /* names that something sets */
        GHashTable *outer;    /* the same of the tree at the top; NULL: not known */
        GHashTable *local;    /* name -> how many of the ForEach around have it */
        GArray *locals;       /* of Local */
        GHashTable *reported; /* names: each only once */
} Look;

static bool is_outer(const char *name) {
        return *name == '@';
}

static void add_name(Loader *loader, GHashTable *set, const char *name) {
        g_hash_table_add(set, (char *) loader_intern_text(loader, name));
}

static void add_declared(Loader *loader, GHashTable *set, const Plan *plan) {
        json_object_object_foreach(plan->blackboard, name, value) {
                (void) value;
                add_name(loader, set, name);
        }
        for (const Declaration *input = plan->inputs; input->name; input++)
                add_name(loader, set, input->name);
}

static void count_local(Look *look, const Local *local, int by) {
        for (const char *const *name = local->names; *name; name++) {
                char *key = (char *) loader_intern_text(look->loader, *name);
                int n = GPOINTER_TO_INT(g_hash_table_lookup(look->local, key));

                g_hash_table_insert(look->local, key, GINT_TO_POINTER(n + by));
        }
}

/* Which ForEach are around the node: those that have begun before it and not ended. */
static void move_to(Look *look, uint32_t node, unsigned *use) {
        for (;;) {
                const Local *last =
                        look->locals->len > 0 ? &g_array_index(look->locals, Local, look->locals->len - 1) : NULL;
                const PlanUse *next = *use < look->plan->uses->len ? plan_use(look->plan, *use) : NULL;

                if (last && last->end <= node && (!next || last->end <= next->node)) {
                        count_local(look, last, -1);
                        g_array_set_size(look->locals, look->locals->len - 1);
                } else if (next && next->node < node) {
                        Local local = { .end = plan_node(look->plan, next->node)->end, .names = next->names };

                        if (next->copies > 0) {
                                g_array_append_val(look->locals, local);
                                count_local(look, &local, 1);
                        }
                        ++*use;
                } else
                        return;
        }
}

static bool is_local(const Look *look, const char *name) {
        return GPOINTER_TO_INT(g_hash_table_lookup(look->local, name)) > 0;
}

static void each_mention(Look *look, void (*visit)(Look *look, const Mention *mention)) {
        unsigned use = 0;

        for (unsigned i = 0; i < look->plan->mentions->len; i++) {
                const Mention *mention = &g_array_index(look->plan->mentions, Mention, i);

                move_to(look, mention->node, &use);
                visit(look, mention);
        }

        move_to(look, look->plan->nodes->len, &use);
}

static void collect(Look *look, const Mention *mention) {
        if (!mention->writes || is_local(look, mention->name))
                return;
        if (!is_outer(mention->name))
                g_hash_table_add(look->set, (char *) mention->name);
        else if (look->outer)
                add_name(look->loader, look->outer, mention->name + 1);
}

static bool is_word(char c) {
        return g_ascii_isalnum(c) || c == '_';
}

/* Where code first says the word, as it seems; 0: it does not. */
static size_t find_word(const char *code, size_t length, const char *word) {
        const char *end = code + MIN(length, CODE_MAX), *p = code;

        while ((p = g_strstr_len(p, end - p, word))) {
                if ((p == code || !is_word(p[-1])) && !is_word(p[strlen(word)]))
                        return (size_t) (p - code);
                p++;
        }

        return 0;
}

static size_t mention_place(const Look *look, const Mention *mention) {
        const Text *text = &look->plan->file->text;
        GString *scratch = look->loader->scratch;
        g_autofree char *code = NULL;
        size_t length, at = mention->offset;

        if (at == MENTION_SOMEWHERE) {
                code = g_strndup(text_string(text, mention->item, scratch, &length), CODE_MAX);
                at = find_word(code, strlen(code), mention->name + is_outer(mention->name));
        } else if (at == 0 || at > CODE_MAX)
                return text_offset(text, mention->item);

        return text_offset_inside(text, mention->item, at, scratch);
}

static const char *nearest_of(GHashTable *names, const char *word) {
        Nearest nearest = { .word = word };
        GHashTableIter iter;
        void *name;

        g_hash_table_iter_init(&iter, names);
        if (g_hash_table_size(names) <= NEAREST_MAX)
                while (g_hash_table_iter_next(&iter, &name, NULL))
                        nearest_offer(&nearest, name);

        return nearest.best;
}

/* "camera" of "camera.port", if there is such a variable; names may have a '.' themselves. NULL: there is none. */
static const char *object_of(const Look *look, const char *name) {
        const char *dot = strchr(name, '.');
        g_autofree char *text = dot ? g_strndup(name, (size_t) (dot - name)) : NULL;
        const char *object = text ? loader_intern_text(look->loader, text) : NULL;

        return object && (is_local(look, object) || g_hash_table_contains(look->set, object)) ? object : NULL;
}

static void report(Look *look, const Mention *mention) {
        bool outer = is_outer(mention->name);
        const char *nearest = NULL, *name = mention->name + outer;
        GString *text = g_string_new(NULL);
        const char *object = outer ? NULL : object_of(look, name);

        if (!diagnostics_is_full(look->loader->diagnostics))
                nearest = nearest_of(outer ? look->outer : look->set, name);

        g_string_append_printf(text, "%s: nothing sets the variable '%s'", mention->param->name, mention->name);
        if (object)
                g_string_append_printf(text, "; if a member of '%s' is meant, take it out with a Script first", object);
        else if (nearest)
                g_string_append_printf(text, "; did you mean '%s%s'?", outer ? "@" : "", nearest);
        else
                g_string_append_printf(text, "; if it comes from outside, declare it in 'inputs'%s",
                                       outer ? " of the tree at the top" : "");

        loader_error_in(look->loader, look->plan, mention->node, mention_place(look, mention),
                        g_string_free(text, false));
}

static void check(Look *look, const Mention *mention) {
        bool outer = is_outer(mention->name);
        GHashTable *set = outer ? look->outer : look->set;
        const char *name = mention->name + outer;

        if (mention->writes || !set || is_local(look, mention->name))
                return;
        if (g_hash_table_contains(set, outer ? loader_intern_text(look->loader, name) : name))
                return;

        if (g_hash_table_add(look->reported, (char *) mention->name))
                report(look, mention);
}

static void check_declared_outputs(Look *look) {
        const Plan *plan = look->plan;

        for (const Declaration *output = plan->outputs; output->name; output++) {
                uint32_t item;

                if (g_hash_table_contains(look->set, output->name))
                        continue;

                item = diagnostics_is_full(look->loader->diagnostics)
                               ? plan->outputs_item
                               : loader_find_member(look->loader, plan->file, plan->outputs_item, output->name) - 1;
                loader_error_in(look->loader, look->plan, PLAN_NONE, text_offset(&plan->file->text, item),
                                g_strdup_printf("outputs: nothing in the tree sets '%s'", output->name));
        }
}

/* Those that the tree at the top is made of. */
static GHashTable *find_reachable(Plan *root) {
        GHashTable *reachable = g_hash_table_new(NULL, NULL);
        g_autoptr(GPtrArray) found = g_ptr_array_new();

        g_ptr_array_add(found, root);
        g_hash_table_add(reachable, root);
        for (unsigned i = 0; i < found->len; i++) {
                const Plan *plan = g_ptr_array_index(found, i);

                for (unsigned u = 0; u < plan->uses->len; u++) {
                        Plan *used = plan_use(plan, u)->tree;

                        if (used && g_hash_table_add(reachable, used))
                                g_ptr_array_add(found, used);
                }
        }

        return reachable;
}

static bool all_sure(GHashTable *plans) {
        GHashTableIter iter;
        void *plan;

        g_hash_table_iter_init(&iter, plans);
        while (g_hash_table_iter_next(&iter, &plan, NULL))
                if (((const Plan *) plan)->unsure)
                        return false;

        return true;
}

static Look *look_new(Loader *loader, Plan *plan, GHashTable *outer) {
        Look *look = g_new0(Look, 1);

        look->loader = loader;
        look->plan = plan;
        look->set = g_hash_table_new(NULL, NULL);
        look->outer = outer;
        look->local = g_hash_table_new(NULL, NULL);
        look->locals = g_array_new(false, false, sizeof(Local));
        look->reported = g_hash_table_new(NULL, NULL);
        return look;
}

static void look_free(Look *look) {
        g_hash_table_unref(look->set);
        g_hash_table_unref(look->local);
        g_array_unref(look->locals);
        g_hash_table_unref(look->reported);
        g_free(look);
}

static int compare_names(const void *a, const void *b) {
        return strcmp(*(const char *const *) a, *(const char *const *) b);
}

static const char *const *sorted(Loader *loader, GHashTable *names) {
        unsigned n = g_hash_table_size(names), i = 0;
        const char **list = arena_alloc(loader->arena, (n + 1) * sizeof(char *));
        GHashTableIter iter;
        void *name;

        g_hash_table_iter_init(&iter, names);
        while (g_hash_table_iter_next(&iter, &name, NULL))
                list[i++] = name;

        qsort(list, n, sizeof(char *), compare_names);
        return list;
}

const char *const *loader_check_variables(Loader *loader, Plan *root) {
        g_autoptr(GHashTable) reachable = root ? find_reachable(root) : g_hash_table_new(NULL, NULL);
        g_autoptr(GPtrArray) looks = g_ptr_array_new_with_free_func((GDestroyNotify) look_free);
        g_autoptr(GHashTable) outer = root && all_sure(reachable) ? g_hash_table_new(NULL, NULL) : NULL;

        for (unsigned i = 0; i < loader->queue->len; i++) {
                Plan *plan = g_ptr_array_index(loader->queue, i);
                Look *look;

                if (plan->unsure || (plan == root && !outer))
                        continue;

                look = look_new(loader, plan, g_hash_table_contains(reachable, plan) ? outer : NULL);
                g_ptr_array_add(looks, look);
                if (plan == root) {
                        g_hash_table_unref(look->set);
                        look->set = g_hash_table_ref(outer);
                }
                add_declared(loader, look->set, plan);
                each_mention(look, collect);
        }

        for (unsigned i = 0; i < looks->len; i++) {
                Look *look = g_ptr_array_index(looks, i);

                each_mention(look, check);
                check_declared_outputs(look);
        }

        return outer ? sorted(loader, outer) : NULL;
}
