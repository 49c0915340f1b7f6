/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Writes and reads causes as JSON. Absent members are left out: the text of a CAUSE_CHILD, the facts, the node of a
 * run's own cause. */

#include "basic/cause-json.h"

json_object *cause_link_to_json(const Cause *cause) {
        json_object *json = json_object_new_object();

        json_object_object_add(json, "kind", json_object_new_string(cause->kind));
        if (cause->text)
                json_object_object_add(json, "text", json_object_new_string(cause->text));
        if (cause->facts)
                json_object_object_add(json, "facts", json_object_get(cause->facts));
        if (cause->node != UINT32_MAX)
                json_object_object_add(json, "node", json_object_new_int64(cause->node));

        return json;
}

json_object *cause_to_json(const Cause *cause) {
        json_object *json = json_object_new_array();

        for (; cause; cause = cause->because)
                json_object_array_add(json, cause_link_to_json(cause));

        return json;
}

/* Returns the member if it exists and has this type, else NULL. */
static json_object *member(json_object *json, const char *name, json_type type) {
        json_object *value;

        return json_object_object_get_ex(json, name, &value) && json_object_is_type(value, type) ? value : NULL;
}

/* Accept unknown kinds: a later version of btd may have written them. */
static const char *kind_of(json_object *json) {
        json_object *kind = member(json, "kind", json_type_string);

        return kind ? g_intern_string(json_object_get_string(kind)) : NULL;
}

Cause *cause_link_from_json(json_object *json) {
        const char *kind = json_object_is_type(json, json_type_object) ? kind_of(json) : NULL;
        json_object *text, *facts, *node;
        Cause *cause;

        if (!kind)
                return NULL;

        text = member(json, "text", json_type_string);
        facts = member(json, "facts", json_type_object);
        node = member(json, "node", json_type_int);
        cause = cause_new(kind, json_object_get(facts), text ? json_object_get_string(text) : NULL);
        if (node)
                cause->node = (uint32_t) json_object_get_int64(node);

        return cause;
}

Cause *cause_from_json(json_object *json) {
        g_autoptr(Cause) chain = NULL;

        if (!json_object_is_type(json, json_type_array))
                return NULL;

        for (size_t i = json_object_array_length(json); i > 0; i--) {
                Cause *cause = cause_link_from_json(json_object_array_get_idx(json, i - 1));

                if (!cause)
                        return NULL;

                cause->because = g_steal_pointer(&chain);
                chain = cause;
        }

        return g_steal_pointer(&chain);
}
