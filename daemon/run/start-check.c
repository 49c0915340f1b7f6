/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Checks the names and variables of a start, with error messages. */

#include <errno.h>
#include <glib.h>
#include <json-c/linkhash.h>
#include <string.h>

#include "basic/excerpt.h"
#include "record/halt-request.h"
#include "run/start-check.h"
#include "script/blackboard.h"

#define INSTANCE_MAX 100u

static int check_instance(const char *instance, char **ret_error) {
        size_t length = strspn(instance, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "_.-");
        g_autofree char *shown = NULL;

        if (length <= INSTANCE_MAX && instance[length] == '\0')
                return 0;

        shown = excerpt(instance, strlen(instance));
        *ret_error = g_strdup_printf("'%s' cannot be the name of an instance; it consists of letters, digits, '_', '.' "
                                     "and '-', %u at most",
                                     shown, INSTANCE_MAX);
        return -EINVAL;
}

static int check_variables(json_object *variables, char **ret_error) {
        json_object_object_foreach(variables, key, value) {
                g_autofree char *shown = NULL;

                (void) value;
                if (blackboard_key_valid(key))
                        continue;

                shown = excerpt(key, strlen(key));
                *ret_error =
                        g_strdup_printf("'%s' cannot be the name of a variable; it begins with a letter or '_' and "
                                        "consists of letters, digits, '_', '-' and '.', 255 at most",
                                        shown);
                return -EINVAL;
        }

        return 0;
}

int start_check(const char *instance, json_object *variables, char **ret_error) {
        int r = check_instance(instance, ret_error);

        if (r < 0 || !variables)
                return r;

        return check_variables(variables, ret_error);
}

int start_check_token(const char *token, char **ret_error) {
        g_autofree char *shown = NULL;

        if (token_valid(token))
                return 0;

        shown = excerpt(token, strlen(token));
        *ret_error = g_strdup_printf("'%s' cannot be a token; it consists of letters, digits, '_', '.' and '-', %u at "
                                     "most",
                                     shown, TOKEN_MAX);
        return -EINVAL;
}
