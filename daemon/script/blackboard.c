/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Holds the variables of a run, by key, and calls the watches when they change. Values are never changed in place, only
 * replaced, so they can be shared. A watch is registered at each of its variables in the scope that holds it.
 */

#include <errno.h>
#include <json-c/linkhash.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "basic/foreach.h"
#include "basic/json-weight.h"
#include "script/blackboard.h"
#include "script/secrets.h"

typedef struct BlackboardVariable {
        json_object *value;
        uint64_t bytes; /* size of the value; 0 if it is not set */
        bool is_set;
        GPtrArray *watches; /* BlackboardWatch, or NULL */
} Variable;

struct Blackboard {
        uint64_t id;
        Blackboard *outermost; /* may be itself */
        Blackboard *parent;    /* of a local scope, else NULL */
        union {
                char **names; /* of a local scope's own variables */
                User *user;   /* only in an outermost scope: for whom the variables count, or NULL */
        };
        GHashTable *variables;      /* key (owned) -> Variable; NULL until there is one */
        const char *const *secrets; /* names of variables; NULL: none */
        uint64_t n_changes;
        /* Only in an outermost scope: */
        const Limits *limits;
        uint64_t total; /* bytes of the variables of all scopes */
        uint64_t n_sets : 63;
        uint64_t secrets_changed : 1;
        const BlackboardHost *host; /* or NULL */
        void *host_userdata;
};

struct BlackboardWatch {
        unsigned n_refs;
        BlackboardChanged callback; /* NULL: freed while call_back() still uses it */
        void *userdata;
        GPtrArray *watched; /* Variable; each is removed when its scope is freed */
};

static void variable_free(void *data) {
        Variable *variable = data;

        if (variable->watches)
                PTRS_FOREACH(BlackboardWatch, watch, variable->watches)
                        g_ptr_array_remove_fast(watch->watched, variable);

        g_clear_pointer(&variable->watches, g_ptr_array_unref);
        json_object_put(variable->value);
        g_free(variable);
}

Blackboard *blackboard_new_scope(Blackboard *outermost) {
        static _Atomic uint64_t n_scopes; /* trees are loaded in threads */
        Blackboard *blackboard = g_new0(Blackboard, 1);

        blackboard->id = ++n_scopes;
        blackboard->outermost = outermost ? outermost->outermost : blackboard;
        return blackboard;
}

Blackboard *blackboard_new(const Limits *limits) {
        Blackboard *blackboard = blackboard_new_scope(NULL);

        blackboard->limits = limits;
        return blackboard;
}

Blackboard *blackboard_new_local(Blackboard *parent, const char *const *names) {
        Blackboard *blackboard = blackboard_new_scope(parent);

        blackboard->parent = parent;
        blackboard->names = g_strdupv((char **) names);
        return blackboard;
}

static void count(Blackboard *outermost, uint64_t more, uint64_t less) {
        outermost->total += more - less;
        user_add(outermost->user, USE_VARIABLES, more);
        user_subtract(outermost->user, USE_VARIABLES, less);
}

void blackboard_set_user(Blackboard *blackboard, User *user) {
        Blackboard *outermost = blackboard->outermost;

        user_subtract(outermost->user, USE_VARIABLES, outermost->total);
        outermost->user = user;
        user_add(user, USE_VARIABLES, outermost->total);
}

void blackboard_free(Blackboard *blackboard) {
        const Variable *variable;

        if (!blackboard)
                return;

        if (blackboard->variables)
                TABLE_FOREACH(variable, blackboard->variables)
                        count(blackboard->outermost, 0, variable->bytes);
        g_clear_pointer(&blackboard->variables, g_hash_table_unref);
        if (blackboard->parent)
                g_strfreev(blackboard->names);
        g_free(blackboard);
}

static const char *plain_key(const char *key) {
        return *key == '@' ? key + 1 : key;
}

/* The scope that holds a variable, whether it is set or not. */
static const Blackboard *holder_of(const Blackboard *blackboard, const char *key) {
        if (*key == '@')
                return blackboard->outermost;

        while (blackboard->parent && !g_strv_contains((const char *const *) blackboard->names, key))
                blackboard = blackboard->parent;

        return blackboard;
}

static Variable *held_by(const Blackboard *holder, const char *key) {
        return holder->variables ? g_hash_table_lookup(holder->variables, plain_key(key)) : NULL;
}

void blackboard_set_secrets(Blackboard *blackboard, const char *const *names) {
        blackboard->secrets = names;
}

bool blackboard_seals(const Blackboard *blackboard, const char *key) {
        const Blackboard *holder = holder_of(blackboard, key);

        return holder->secrets && g_strv_contains(holder->secrets, plain_key(key));
}

json_object *blackboard_sealed(const Blackboard *blackboard, const char *key, json_object *value) {
        return blackboard_seals(blackboard, key) ? secret_seal(value) : value;
}

static Variable *look_up_or_add(Blackboard *holder, const char *key) {
        Variable *variable = held_by(holder, key);

        if (!holder->variables)
                holder->variables = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, variable_free);

        if (!variable) {
                variable = g_new0(Variable, 1);
                g_hash_table_insert(holder->variables, g_strdup(plain_key(key)), variable);
        }

        return variable;
}

static void watch_unref(BlackboardWatch *watch) {
        if (--watch->n_refs > 0)
                return;

        g_ptr_array_unref(watch->watched);
        g_free(watch);
}

/* A callback may even free the scope, so only a copy of the list is used. */
static void call_back(const GPtrArray *watches) {
        g_autoptr(GPtrArray) called = g_ptr_array_new_with_free_func((GDestroyNotify) watch_unref);

        PTRS_FOREACH(BlackboardWatch, watch, watches) {
                watch->n_refs++;
                g_ptr_array_add(called, watch);
        }

        PTRS_FOREACH(BlackboardWatch, watch, called)
                if (watch->callback)
                        watch->callback(watch->userdata);
}

static void account(Blackboard *holder, Variable *variable, uint64_t bytes) {
        count(holder->outermost, bytes, variable->bytes);
        variable->bytes = bytes;
}

/* Of a secret, the real value counts. */
static uint64_t bytes_held(json_object *value) {
        return json_weight(secret_is_sealed(value) && secret_value(value) ? secret_value(value) : value);
}

int64_t blackboard_growth(const Blackboard *blackboard, const char *key, json_object *value) {
        const Variable *variable = held_by(holder_of(blackboard, key), key);

        return (int64_t) bytes_held(value) - (int64_t) (variable ? variable->bytes : 0);
}

bool blackboard_has_room(const Blackboard *blackboard, int64_t growth) {
        uint64_t max = blackboard_bytes_max(blackboard_limits(blackboard));

        return growth <= 0 || (blackboard->outermost->total + (uint64_t) growth <= max &&
                               user_has_room(blackboard->outermost->user, USE_VARIABLES, (uint64_t) growth));
}

char *blackboard_lack_text(const Blackboard *blackboard, int64_t growth) {
        const Limits *limits = blackboard_limits(blackboard);

        return blackboard->outermost->total + (uint64_t) growth > blackboard_bytes_max(limits)
                       ? blackboard_full_text(limits)
                       : user_full_text(blackboard->outermost->user, USE_VARIABLES);
}

/* For values that are equal in C: 0.0 and -0.0 are different values for scripts and leaves. */
static bool same_zeros(json_object *a, json_object *b) {
        bool same = true;

        switch (json_object_get_type(a)) {
        case json_type_double:
                return signbit(json_object_get_double(a)) == signbit(json_object_get_double(b));
        case json_type_array:
                for (size_t i = 0; same && i < json_object_array_length(a); i++)
                        same = same_zeros(json_object_array_get_idx(a, i), json_object_array_get_idx(b, i));
                return same;
        case json_type_object: {
                json_object_object_foreach(a, key, member) same &= same_zeros(member, json_object_object_get(b, key));
                return same;
        }
        default:
                return true;
        }
}

bool blackboard_same_value(json_object *a, json_object *b) {
        return json_object_equal(a, b) && same_zeros(a, b);
}

void blackboard_set(Blackboard *blackboard, const char *key, json_object *value) {
        Blackboard *holder = (Blackboard *) holder_of(blackboard, key);
        Variable *variable = look_up_or_add(holder, key);

        value = blackboard_sealed(holder, key, value);
        if (variable->is_set && !secret_is_sealed(value) && blackboard_same_value(variable->value, value)) {
                json_object_put(value);
                return;
        }

        account(holder, variable, bytes_held(value));
        holder->outermost->secrets_changed |= secret_is_sealed(value) || secret_is_sealed(variable->value);
        json_object_put(variable->value);
        variable->value = value;
        variable->is_set = true;
        holder->n_changes++;
        holder->outermost->n_sets++;
        if (holder->outermost->host && holder->outermost->host->set)
                holder->outermost->host->set(plain_key(key), value, holder->outermost->host_userdata);
        if (variable->watches)
                call_back(variable->watches);
}

void blackboard_reset(Blackboard *blackboard, json_object *variables) {
        g_autoptr(GList) keys = blackboard->variables ? g_hash_table_get_keys(blackboard->variables) : NULL;

        for (GList *key = keys; key; key = key->next) {
                Variable *variable = g_hash_table_lookup(blackboard->variables, key->data);

                if (!variable->is_set || json_object_object_get_ex(variables, key->data, NULL))
                        continue;

                account(blackboard, variable, 0);
                blackboard->outermost->secrets_changed |= secret_is_sealed(variable->value);
                g_clear_pointer(&variable->value, json_object_put);
                variable->is_set = false;
                blackboard->n_changes++;
                if (variable->watches)
                        call_back(variable->watches);
        }

        json_object_object_foreach(variables, name, value) blackboard_set(blackboard, name, json_object_get(value));
}

const BlackboardVariable *blackboard_find(const Blackboard *blackboard, const char *key) {
        const Variable *variable = held_by(holder_of(blackboard, key), key);

        return variable && variable->is_set ? variable : NULL;
}

json_object *blackboard_variable_value(const BlackboardVariable *variable) {
        return variable->value;
}

uint64_t blackboard_id(const Blackboard *blackboard) {
        return blackboard->id;
}

bool blackboard_get(const Blackboard *blackboard, const char *key, json_object **ret_value) {
        const Variable *variable = blackboard_find(blackboard, key);

        if (!variable)
                return false;

        *ret_value = variable->value;
        return true;
}

const Blackboard *blackboard_outermost(const Blackboard *blackboard) {
        return blackboard->outermost;
}

bool blackboard_is_outermost(const Blackboard *blackboard, const char *key) {
        return holder_of(blackboard, key) == blackboard->outermost;
}

static void collect_own(const Blackboard *blackboard, GHashTable *visible) {
        GHashTableIter iter;
        void *key, *variable;

        if (!blackboard->variables)
                return;

        g_hash_table_iter_init(&iter, blackboard->variables);
        while (g_hash_table_iter_next(&iter, &key, &variable))
                if (((Variable *) variable)->is_set)
                        g_hash_table_replace(visible, key, variable);
}

/* The scope's own variables hide those of its parent. */
static void collect(const Blackboard *blackboard, GHashTable *visible) {
        if (blackboard->parent)
                collect(blackboard->parent, visible);

        for (char **name = blackboard->parent ? blackboard->names : NULL; name && *name; name++)
                g_hash_table_remove(visible, *name);

        collect_own(blackboard, visible);
}

/* Sorted by key. */
static json_object *to_json(GHashTable *visible) {
        g_autoptr(GList) keys = g_list_sort(g_hash_table_get_keys(visible), (GCompareFunc) g_strcmp0);
        json_object *object = json_object_new_object();

        for (GList *key = keys; key; key = key->next) {
                const Variable *variable = g_hash_table_lookup(visible, key->data);

                json_object_object_add(object, key->data, json_object_get(variable->value));
        }

        return object;
}

json_object *blackboard_to_json(const Blackboard *blackboard) {
        g_autoptr(GHashTable) visible = g_hash_table_new(g_str_hash, g_str_equal);

        collect(blackboard, visible);
        return to_json(visible);
}

json_object *blackboard_own_to_json(const Blackboard *blackboard) {
        g_autoptr(GHashTable) own = g_hash_table_new(g_str_hash, g_str_equal);

        collect_own(blackboard, own);
        return to_json(own);
}

json_object *blackboard_own_secrets(const Blackboard *blackboard) {
        json_object *secrets = NULL;

        for (const char *const *name = blackboard->secrets; name && *name; name++) {
                const Variable *variable = held_by(blackboard, *name);
                json_object *value =
                        variable && secret_is_sealed(variable->value) ? secret_value(variable->value) : NULL;

                if (!value)
                        continue;
                secrets = secrets ?: json_object_new_object();
                json_object_object_add(secrets, *name, json_object_get(value));
        }

        return secrets;
}

void blackboard_restore_secret(Blackboard *blackboard, const char *key, json_object *value) {
        Variable *variable = held_by(blackboard, key);

        if (!variable || !secret_is_sealed(variable->value) || secret_value(variable->value)) {
                json_object_put(value);
                return;
        }

        secret_restore(variable->value, value);
        account(blackboard, variable, bytes_held(variable->value));
}

bool blackboard_take_secrets_changed(Blackboard *outermost) {
        bool changed = outermost->secrets_changed;

        outermost->secrets_changed = false;
        return changed;
}

/* Each number only grows, so their sum does. */
uint64_t blackboard_version(const Blackboard *blackboard) {
        uint64_t version = 0;

        for (; blackboard->parent; blackboard = blackboard->parent)
                version += blackboard->n_changes;

        version += blackboard->n_changes;
        return blackboard->outermost == blackboard ? version : version + blackboard->outermost->n_changes;
}

uint64_t blackboard_n_sets(const Blackboard *outermost) {
        return outermost->n_sets;
}

void blackboard_set_host(Blackboard *outermost, const BlackboardHost *host, void *userdata) {
        outermost->host = host;
        outermost->host_userdata = userdata;
}

BlackboardWatch *blackboard_watch(Blackboard *blackboard, const char *const *keys, BlackboardChanged callback,
                                  void *userdata) {
        BlackboardWatch *watch = g_new0(BlackboardWatch, 1);

        watch->n_refs = 1;
        watch->callback = callback;
        watch->userdata = userdata;
        watch->watched = g_ptr_array_new();

        for (; *keys; keys++) {
                Variable *variable = look_up_or_add((Blackboard *) holder_of(blackboard, *keys), *keys);

                if (g_ptr_array_find(watch->watched, variable, NULL))
                        continue;
                if (!variable->watches)
                        variable->watches = g_ptr_array_new();
                g_ptr_array_add(variable->watches, watch);
                g_ptr_array_add(watch->watched, variable);
        }

        return watch;
}

void blackboard_watch_free(BlackboardWatch *watch) {
        if (!watch)
                return;

        PTRS_FOREACH(Variable, variable, watch->watched) {
                g_ptr_array_remove(variable->watches, watch);
                if (variable->watches->len == 0)
                        g_clear_pointer(&variable->watches, g_ptr_array_unref);
        }

        g_ptr_array_set_size(watch->watched, 0);
        watch->callback = NULL;
        watch_unref(watch);
}

bool blackboard_key_valid(const char *key) {
        size_t length = 0;

        if (!g_ascii_isalpha(key[0]) && key[0] != '_')
                return false;

        for (; key[length]; length++)
                if (length >= BLACKBOARD_KEY_MAX ||
                    !(g_ascii_isalnum(key[length]) || key[length] == '_' || key[length] == '-'))
                        return false;

        return true;
}

bool keyword_is(const char *word, size_t length) {
        static const char *const keywords[] = {
                "and", "break", "do",  "else", "elseif", "end",    "false",  "for",  "function", "goto",  "if",
                "in",  "local", "nil", "not",  "or",     "repeat", "return", "then", "true",     "until", "while",
        };

        for (size_t i = 0; i < G_N_ELEMENTS(keywords); i++)
                if (strlen(keywords[i]) == length && memcmp(word, keywords[i], length) == 0)
                        return true;

        return false;
}

bool blackboard_name_valid(const char *name) {
        return blackboard_key_valid(plain_key(name));
}

uint64_t blackboard_bytes_of(json_object *value) {
        uint64_t bytes = 2;

        switch (json_object_get_type(value)) {
        case json_type_string:
                return bytes + (uint64_t) json_object_get_string_len(value);
        case json_type_array:
                for (size_t i = 0; i < json_object_array_length(value); i++)
                        bytes += blackboard_bytes_of(json_object_array_get_idx(value, i)) + 1;
                return bytes;
        case json_type_object: {
                json_object_object_foreach(value, key, member) bytes += strlen(key) + blackboard_bytes_of(member) + 4;
                return bytes;
        }
        default:
                return sizeof(uint64_t); /* about the size of a number */
        }
}

uint64_t blackboard_bytes_max(const Limits *limits) {
        return (uint64_t) limits->max[LIMIT_VARIABLES] * 1024;
}

char *blackboard_full_text(const Limits *limits) {
        g_autofree char *size = limit_size_text(limits->max[LIMIT_VARIABLES]);

        return g_strdup_printf("the variables of the run would exceed %s", size);
}

BlackboardMoment blackboard_moment(const Blackboard *blackboard, uint64_t n) {
        const Blackboard *outermost = blackboard->outermost;

        return outermost->host && outermost->host->moment ? outermost->host->moment(n, outermost->host_userdata)
                                                          : (BlackboardMoment){};
}

const Limits *blackboard_limits(const Blackboard *blackboard) {
        return blackboard->outermost->limits;
}

/* FLT_EPSILON, as BehaviorTree.CPP allows. */
#define NUMBERS_DIFFER 1.2e-7

static bool as_integer(const char *text, int64_t *ret_integer) {
        char *end;

        errno = 0;
        *ret_integer = g_ascii_strtoll(text, &end, 10);
        return *text != 0 && *end == 0 && errno == 0;
}

static bool as_number(const char *text, double *ret_number) {
        char *end;

        errno = 0;
        *ret_number = g_ascii_strtod(text, &end);
        return *text != 0 && *end == 0 && errno == 0;
}

static bool texts_match(const char *a, const char *b) {
        double x, y;
        int64_t i, j;

        if (g_str_equal(a, b))
                return true;
        if (as_integer(a, &i) && as_integer(b, &j))
                return i == j;

        return as_number(a, &x) && as_number(b, &y) && ABS(x - y) <= NUMBERS_DIFFER;
}

uint32_t blackboard_match_value(json_object *value, const char *const *cases) {
        uint32_t n = 0;

        if (!value)
                return g_strv_length((char **) cases);

        while (cases[n] && !texts_match(cases[n], json_object_get_string(value)))
                n++;

        return n;
}
