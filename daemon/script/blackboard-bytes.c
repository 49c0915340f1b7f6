/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* About how many bytes values come to, and how many there may be. */

#include <json-c/linkhash.h>
#include <string.h>

#include "basic/limit.h"
#include "script/blackboard.h"

static uint64_t bytes_of_array(json_object *array) {
        uint64_t bytes = 2;

        for (size_t i = 0; i < json_object_array_length(array); i++)
                bytes += blackboard_bytes_of(json_object_array_get_idx(array, i)) + 1;

        return bytes;
}

static uint64_t bytes_of_object(json_object *object) {
        uint64_t bytes = 2;

        json_object_object_foreach(object, key, member) bytes += strlen(key) + blackboard_bytes_of(member) + 4;

        return bytes;
}

uint64_t blackboard_bytes_of(json_object *value) {
        switch (json_object_get_type(value)) {
        case json_type_string:
                return (uint64_t) json_object_get_string_len(value) + 2;
        case json_type_array:
                return bytes_of_array(value);
        case json_type_object:
                return bytes_of_object(value);
        default:
                return sizeof(uint64_t); /* about what a number is */
        }
}

uint64_t blackboard_bytes_max(void) {
        return (uint64_t) limits_in_force(LIMIT_VARIABLES) * 1024;
}

char *blackboard_full_text(void) {
        g_autofree char *size = limit_size_text(limits_in_force(LIMIT_VARIABLES));

        return g_strdup_printf("the variables of the run would come to more than %s", size);
}
