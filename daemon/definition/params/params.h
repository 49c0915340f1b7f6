/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Fills the struct of a node's parameters from the table of its type: when a file is loaded, and, after references are
 * filled in, when a leaf starts. The loader and definition.c use it.
 */

#include "definition/params/arena.h"
#include "engine/type.h"

/* A place inside a parameter: "backoff.initial", "argv[1]". */
struct Place {
        const Place *parent; /* NULL: the parameter itself */
        const char *key;     /* NULL: the element at index */
        size_t index;
        bool inside; /* the place is the byte at offset in the string there */
        size_t offset;
};

/* To be freed. */
char *place_format(const Place *place);

/* An error, or (trap) a likely mistake. */
typedef struct ParamFinding {
        const Place *place;
        bool at_key; /* it is about the key at the end of the place */
        bool trap;
        char *text;          /* for messages; taken */
        const char *instead; /* the text that was probably meant, or NULL */
} ParamFinding;

typedef void (*ParamReport)(const ParamFinding *finding, void *userdata);

/* Compiles a text, which outlives the script. -EINVAL, with an error message and the byte where the error is. */
typedef int (*ParamCompile)(const Param *param, bool is_code, const char *code, const Script **ret_script,
                            char **ret_error, size_t *ret_offset, void *userdata);

struct ParamSetter {
        Arena *arena; /* owns the memory that the struct points to */
        ParamReport report;
        ParamCompile compile; /* may be NULL if no parameter is a script */
        void *userdata;

        /* Strings with references may become other values later, so they are accepted if these may be valid. The fields
         * that are set are not used, but everything around the references is checked. */
        bool provisional;
        /* The value before references were filled in, or NULL; for messages. */
        json_object *origin;
};

/* Sets the field of the parameter from a value (borrowed). -EINVAL: something was reported. */
int param_set(const ParamSetter *setter, const Param *param, void *values, json_object *value);

/* The same for a place inside a parameter, or outside of any. */
int param_set_at(const ParamSetter *setter, const Place *place, const Param *param, void *values, json_object *value);

/* Sets the fields that have a default. */
void params_set_defaults(Arena *arena, const Param *params, void *values);

/* True if the parameter is text that is compiled. */
bool param_is_script(const Param *param);
/* True if the parameter is the name of a variable, or several. */
static inline bool param_is_name(const Param *param) {
        return param->reads || param->writes || param->local;
}

/* literal: the parameters around it take no references. */
bool param_takes_references(const Param *param, bool literal);

/* params may be NULL. NULL: no such parameter. */
const Param *params_find(const Param *params, const char *key, size_t length);

/* True if the value is one reference, so that it may get any type when references are filled in. */
bool param_may_be_anything(const ParamSetter *setter, json_object *value);
