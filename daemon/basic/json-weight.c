/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Implements json-weight.h. */

#include <json-c/linkhash.h>
#include <stdbool.h>
#include <string.h>

#include "basic/json-weight.h"

uint64_t json_weight(json_object *value) {
        uint64_t weight;

        switch (json_object_get_type(value)) {
        case json_type_string:
                return JSON_WEIGHT_VALUE + (uint64_t) json_object_get_string_len(value);
        case json_type_array:
                weight = JSON_WEIGHT_ARRAY;
                for (size_t i = 0; i < json_object_array_length(value); i++)
                        weight += json_weight(json_object_array_get_idx(value, i));
                return weight;
        case json_type_object:
                weight = JSON_WEIGHT_OBJECT;
                json_object_object_foreach(value, key, member) weight +=
                        JSON_WEIGHT_MEMBER + strlen(key) + json_weight(member);
                return weight;
        default:
                return JSON_WEIGHT_VALUE;
        }
}

/* A key counts as a value, and its colon as the rest of JSON_WEIGHT_MEMBER. */
uint64_t json_text_weight(const char *text, size_t length) {
        bool string = false, word = false;
        uint64_t weight = 0;

        for (const char *c = text; c < text + length; c++) {
                bool continues = word;

                if (string) {
                        weight += *c != '"';
                        string = *c != '"';
                        c += *c == '\\';
                        continue;
                }

                word = false;
                switch (*c) {
                case '"':
                        weight += JSON_WEIGHT_VALUE;
                        string = true;
                        break;
                case '[':
                        weight += JSON_WEIGHT_ARRAY;
                        break;
                case '{':
                        weight += JSON_WEIGHT_OBJECT;
                        break;
                case ':':
                        weight += JSON_WEIGHT_MEMBER - JSON_WEIGHT_VALUE;
                        break;
                case ']':
                case '}':
                case ',':
                case ' ':
                case '\t':
                case '\r':
                case '\n':
                        break;
                default: /* of a number, true, false or null */
                        weight += continues ? 0 : JSON_WEIGHT_VALUE;
                        word = true;
                }
        }

        return weight;
}
