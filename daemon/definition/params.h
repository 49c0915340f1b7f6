/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The struct of a type's parameters, filled by its table: the same way when a file is loaded, and when a leaf starts
 * and references have been filled in.
 */

#include "definition/arena.h"
#include "engine/type.h"

/* Where inside of a parameter something is: "backoff.initial", "argv[1]". */
typedef struct Place Place;

struct Place {
        const Place *parent; /* NULL: the parameter itself */
        const char *key;     /* NULL: the element at index */
        size_t index;
        bool inside; /* of the string that stands there: the byte at offset */
        size_t offset;
};

/* To be freed. */
char *place_format(const Place *place);

/* Something is wrong at the place, or, at_key, with the very key at the end of it. The text is taken. */
typedef void (*ParamReport)(const Place *place, bool at_key, char *text, void *userdata);

/* Makes a script of a text that outlives it. -EINVAL, with a text for people and the byte where it is wrong. */
typedef int (*ParamCompile)(const Param *param, bool is_code, const char *code, const Script **ret_script,
                            char **ret_error, size_t *ret_offset, void *userdata);

typedef struct ParamSetter {
        Arena *arena; /* of what the struct points to */
        ParamReport report;
        ParamCompile compile; /* may be NULL where no parameter is a script */
        void *userdata;

        /* Strings with references stand for values that are not known yet: they are taken for what they may
         * become. The fields are of no use, but everything around the references is checked. */
        bool provisional;
        /* The value before references were filled in, or NULL; for messages. */
        json_object *origin;
} ParamSetter;

/* Sets the field of the parameter from a value (borrowed). -EINVAL: something was reported. */
int param_set(const ParamSetter *setter, const Param *param, void *values, json_object *value);

/* The same for a part of a parameter, or of what is none. */
int param_set_at(const ParamSetter *setter, const Place *place, const Param *param, void *values, json_object *value);

/* Sets the fields that have a default. */
void params_set_defaults(Arena *arena, const Param *params, void *values);

/* Is it text that is compiled? */
bool param_is_script(const Param *param);
/* literal: those around it take none. */
bool param_takes_references(const Param *param, bool literal);

/* params may be NULL. NULL: no such parameter. */
const Param *params_find(const Param *params, const char *key, size_t length);
