/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Declares node types for tests of the loader: Example, a leaf with a parameter of every kind; Plain, a leaf without
 * any; the controls Couple, Few and Many; the decorators Wrapper (with a delay) and Inverse.
 */

#include <json-c/json_object.h>

#include "engine/type.h"

typedef struct ExampleInner {
        const char *key;
        uint64_t initial;
        int64_t count;
} ExampleInner;

typedef struct Example {
        bool flag;
        int64_t count;
        double ratio;
        const char *unit;
        uint64_t timeout;
        int mode;
        const char *const *argv;
        const char *const *env;
        json_object *args;
        const ExampleInner *inner;
        const char *output;
} Example;

extern const NodeType example_type, plain_type, many_type;

extern const NodeType *const *const example_tables[];
