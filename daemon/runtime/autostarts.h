/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Stores which autostart trees were started in this boot, in a file of the runtime directory. So a restarted btd does
 * not start trees again that have already finished.
 */

#include <glib.h>
#include <stdbool.h>

typedef struct Autostarts Autostarts;

/* directory: NULL: store nothing. */
Autostarts *autostarts_new(const char *directory);
void autostarts_free(Autostarts *autostarts);

bool autostarts_has(const Autostarts *autostarts, const char *tree);
void autostarts_add(Autostarts *autostarts, const char *tree);
/* The next btd starts this tree again, or all trees. */
void autostarts_remove(Autostarts *autostarts, const char *tree);
void autostarts_clear(Autostarts *autostarts);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Autostarts, autostarts_free)
