/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The trees that were started because they say "autostart". Kept in a file where there is a directory for it, so that a
 * daemon that is restarted does not start again what has run to its end.
 */

#include <glib.h>
#include <stdbool.h>

typedef struct Autostarts Autostarts;

/* directory: NULL to remember nothing. */
Autostarts *autostarts_new(const char *directory);
void autostarts_free(Autostarts *autostarts);

bool autostarts_has(const Autostarts *autostarts, const char *tree);
void autostarts_add(Autostarts *autostarts, const char *tree);
/* It is to be started by the next daemon; all of them are. */
void autostarts_remove(Autostarts *autostarts, const char *tree);
void autostarts_clear(Autostarts *autostarts);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Autostarts, autostarts_free)
