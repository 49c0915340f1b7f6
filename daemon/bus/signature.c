/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Parses signatures by recursive descent, no deeper than the specification allows.
 */

#include <glib.h>
#include <string.h>

#include "bus/signature.h"

#define LENGTH_MAX 255u
#define ARRAYS_MAX 32u
#define STRUCTS_MAX 32u

/* The nesting of arrays and structures. */
typedef struct Depth {
        unsigned arrays, structs;
} Depth;

bool signature_is_basic(char type) {
        return type != '\0' && strchr("ybnqiuxtdsogh", type);
}

bool signature_has(const char *signature, char type) {
        return strchr(signature, type) != NULL;
}

static char *skip_type(const char **p, Depth depth);

static char *skip_struct(const char **p, Depth depth) {
        if (++depth.structs > STRUCTS_MAX)
                return g_strdup_printf("structures are nested more than %u levels deep", STRUCTS_MAX);
        if (**p == ')')
                return g_strdup("a structure '()' must have fields");

        while (**p != ')') {
                char *problem;

                if (**p == '\0')
                        return g_strdup("a '(' is not closed");
                problem = skip_type(p, depth);
                if (problem)
                        return problem;
        }

        (*p)++;
        return NULL;
}

static char *skip_dictionary(const char **p, Depth depth) {
        char *problem;

        if (!signature_is_basic(**p))
                return g_strdup("the key of a dictionary must have a basic type");
        (*p)++;

        if (**p == '}' || **p == '\0')
                return g_strdup("a dictionary needs the type of its values");
        problem = skip_type(p, depth);
        if (problem)
                return problem;

        if (**p != '}')
                return g_strdup("the values of a dictionary have one type, then comes '}'");
        (*p)++;
        return NULL;
}

static char *skip_array(const char **p, Depth depth) {
        if (++depth.arrays > ARRAYS_MAX)
                return g_strdup_printf("arrays are nested more than %u levels deep", ARRAYS_MAX);

        if (**p == '{') {
                (*p)++;
                return skip_dictionary(p, depth);
        }
        if (strchr(")}", **p))
                return g_strdup("an array 'a' needs the type of its elements");
        return skip_type(p, depth);
}

static char *skip_type(const char **p, Depth depth) {
        char type = *(*p)++;

        if (signature_is_basic(type) || type == 'v')
                return NULL;
        if (type == 'a')
                return skip_array(p, depth);
        if (type == '(')
                return skip_struct(p, depth);
        if (type == '{')
                return g_strdup("a dictionary '{' must follow an 'a'");
        if (type == ')' || type == '}')
                return g_strdup_printf("a '%c' closes nothing", type);
        if (g_ascii_isgraph(type))
                return g_strdup_printf("there is no type '%c'", type);
        return g_strdup("it may only contain the letters of types");
}

char *signature_problem(const char *signature) {
        if (strlen(signature) > LENGTH_MAX)
                return g_strdup_printf("it is longer than %u characters", LENGTH_MAX);

        for (const char *p = signature; *p;) {
                char *problem = skip_type(&p, (Depth){ 0 });

                if (problem)
                        return problem;
        }

        return NULL;
}

size_t signature_first(const char *signature) {
        size_t length = strspn(signature, "a");
        unsigned open = 0;

        do {
                if (strchr("({", signature[length]))
                        open++;
                else if (strchr(")}", signature[length]))
                        open--;
                length++;
        } while (open > 0);

        return length;
}

unsigned signature_count(const char *signature) {
        unsigned n = 0;

        for (; *signature; signature += signature_first(signature))
                n++;
        return n;
}
