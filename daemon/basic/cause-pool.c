/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "basic/cause-pool.h"
#include "basic/cause-json.h"

#define BECAUSE "because"

struct CausePool {
        GPtrArray *causes;  /* referenced */
        GHashTable *places; /* Cause -> index + 1 */
};

CausePool *cause_pool_new(void) {
        CausePool *pool = g_new(CausePool, 1);

        *pool = (CausePool){
                .causes = g_ptr_array_new_with_free_func((GDestroyNotify) cause_unref),
                .places = g_hash_table_new(NULL, NULL),
        };
        return pool;
}

void cause_pool_free(CausePool *pool) {
        if (!pool)
                return;

        g_hash_table_unref(pool->places);
        g_ptr_array_unref(pool->causes);
        g_free(pool);
}

static unsigned place_of(const CausePool *pool, const Cause *cause) {
        return GPOINTER_TO_UINT(g_hash_table_lookup(pool->places, cause));
}

static void put(CausePool *pool, Cause *cause) {
        g_ptr_array_add(pool->causes, cause_ref(cause));
        g_hash_table_insert(pool->places, cause, GUINT_TO_POINTER(pool->causes->len));
}

/* A chain can be as long as the tree is deep: iterate, do not recurse. */
json_object *cause_pool_add(CausePool *pool, const Cause *cause) {
        g_autoptr(GPtrArray) chain = g_ptr_array_new();

        if (!cause)
                return NULL;

        for (const Cause *link = cause; link && place_of(pool, link) == 0; link = link->because)
                g_ptr_array_add(chain, (void *) link);
        for (unsigned i = chain->len; i > 0; i--)
                put(pool, chain->pdata[i - 1]);

        return json_object_new_int64(place_of(pool, cause) - 1);
}

json_object *cause_pool_to_json(const CausePool *pool) {
        json_object *json = json_object_new_array();

        for (unsigned i = 0; i < pool->causes->len; i++) {
                const Cause *cause = pool->causes->pdata[i];
                json_object *link = cause_link_to_json(cause);

                if (cause->because)
                        json_object_object_add(link, BECAUSE,
                                               json_object_new_int64(place_of(pool, cause->because) - 1));
                json_object_array_add(json, link);
        }

        return json;
}

static Cause *read_link(const CausePool *pool, json_object *json) {
        g_autoptr(Cause) cause = cause_link_from_json(json);
        json_object *place = NULL;

        if (!cause)
                return NULL;

        if (json_object_object_get_ex(json, BECAUSE, &place)) {
                Cause *before;

                if (!cause_pool_get(pool, place, &before) || !before)
                        return NULL;
                cause->because = cause_ref(before);
        }

        return g_steal_pointer(&cause);
}

CausePool *cause_pool_from_json(json_object *json) {
        g_autoptr(CausePool) pool = cause_pool_new();

        if (!json_object_is_type(json, json_type_array))
                return NULL;

        for (size_t i = 0; i < json_object_array_length(json); i++) {
                g_autoptr(Cause) cause = read_link(pool, json_object_array_get_idx(json, i));

                if (!cause)
                        return NULL;
                put(pool, cause);
        }

        return g_steal_pointer(&pool);
}

const GPtrArray *cause_pool_causes(const CausePool *pool) {
        return pool->causes;
}

bool cause_pool_get(const CausePool *pool, json_object *place, Cause **ret_cause) {
        int64_t i = json_object_get_int64(place);

        if (place && (!json_object_is_type(place, json_type_int) || i < 0 || i >= pool->causes->len))
                return false;

        *ret_cause = place ? pool->causes->pdata[i] : NULL;
        return true;
}
