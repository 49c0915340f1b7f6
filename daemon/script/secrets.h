/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Secrets: texts that the service manager gives the daemon as credentials (systemd.exec(5)), each in a file of a
 * directory that nobody else can read. A parameter of a leaf has them as "{secret:NAME}", and they are put in only
 * while the leaf is started. Whatever comes from the leaf then has its secrets taken out again.
 */

#include <glib.h>
#include <json-c/json_object.h>
#include <stdbool.h>

/* What stands before the name in a reference. */
#define SECRET_PREFIX "secret:"

/* As long as systemd lets one be. */
#define SECRET_LENGTH_MAX (1024u * 1024)

/* Those that one leaf has been given. Zeroed but for the directory, there are none yet. */
typedef struct Secrets {
        const char *directory; /* borrowed; NULL: there are no credentials */
        GPtrArray *known;
} Secrets;

/* Letters, digits, '_', '-' and '.', not at the beginning; 255 characters at most. */
bool secret_name_valid(const char *name);

/* Without a line feed at its end; borrowed until secrets_clear(). Negative: with a text for people. */
int secrets_get(Secrets *secrets, const char *name, const char **ret_text, char **ret_error);
void secrets_clear(Secrets *secrets);

/* The text with "{secret:NAME}" wherever one of these secrets stood, whole or cut off by "..."; to be freed. NULL:
 * there is none in it. */
char *secrets_hide(const Secrets *secrets, const char *text);
/* The same of all strings and keys in the value. Takes it; the answer is the same one where there is nothing to hide.
 */
json_object *secrets_hide_all(const Secrets *secrets, json_object *value);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Secrets, secrets_clear)
