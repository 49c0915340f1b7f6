/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Reads secrets, and hides them again. A secret is a text that the service manager gives the daemon as a credential
 * (systemd.exec(5)), in a file that no other user can read. A parameter of a leaf refers to it as "{secret:NAME}"; it
 * is expanded only while the leaf starts. Secrets are removed from everything that the leaf returns.
 */

#include <glib.h>
#include <json-c/json_object.h>
#include <stdbool.h>

/* The prefix of the name in a reference. */
#define SECRET_PREFIX "secret:"

/* The limit of systemd. */
#define SECRET_LENGTH_MAX (1024u * 1024)

/* The secrets that one leaf got. Initialize it with zeros and the directory. */
typedef struct Secrets {
        const char *directory; /* borrowed; NULL: there are no credentials */
        struct SecretSet *set; /* those that it got; NULL: none */
} Secrets;

/*
 * A variable can be declared secret. Its value is sealed then: to everybody it is the text SECRET_SHOWN, in the status,
 * expressions and records alike, and only secrets_open() returns the real value, to a leaf that starts. A record has
 * only the text, so a value that comes from there is sealed, but lost until it is found again elsewhere.
 */
#define SECRET_SHOWN "***"
/* Takes the value. null stays null, and what is sealed stays so. */
json_object *secret_seal(json_object *value);
bool secret_is_sealed(json_object *value);
/* Is it sealed, or something in it? */
bool secret_is_inside(json_object *value);
/* The real value, borrowed. NULL: it is lost. */
json_object *secret_value(json_object *sealed);
/* Takes the real value of a sealed one that is lost. */
void secret_restore(json_object *sealed, json_object *value);

/* Letters, digits, '_', '-' and '.', not at the beginning; 255 characters at most. */
bool secret_name_valid(const char *name);

/* Without a line feed at the end; borrowed until secrets_clear(). Negative: with an error message. */
int secrets_get(Secrets *secrets, const char *name, const char **ret_text, char **ret_error);
/* The real value of a secret variable, borrowed from the sealed value; it is hidden from now on. -ENOENT: it is lost,
 * or was never sealed. */
int secrets_open(Secrets *secrets, const char *variable, json_object *sealed, json_object **ret_value,
                 char **ret_error);
void secrets_clear(Secrets *secrets);
/* The number of bytes of the longest one; 0: there is none. */
size_t secrets_longest(const Secrets *secrets);

/* The text with each of these secrets, and each line of them that is not very short, replaced by "{secret:NAME}"; to be
 * freed. NULL: there is none in it. A part of a line is not replaced: hide secrets before you cut a text. */
char *secrets_hide(const Secrets *secrets, const char *text);
/* The same for a message that may quote the text of a program or service. btd has cut that if it was long: what a
 * secret can have left before the final "..." is removed. */
char *secrets_hide_message(const Secrets *secrets, const char *text);
/* As secrets_hide() for all strings, keys, numbers and bytes in the value. Takes it, and may return it unchanged. */
json_object *secrets_hide_all(const Secrets *secrets, json_object *value);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Secrets, secrets_clear)
