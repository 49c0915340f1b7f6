/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Properties that have changed, told in one PropertiesChanged an object and turn of the main loop.
 */

#include <glib.h>
#include <systemd/sd-bus.h>

typedef struct PropertyChanges PropertyChanges;

PropertyChanges *property_changes_new(GMainContext *context, sd_bus *bus);
void property_changes_free(PropertyChanges *changes);

/* interface and name are borrowed for ever: literals. */
void property_changes_add(PropertyChanges *changes, const char *path, const char *interface, const char *name);
/* Tells now; for what must come before something else that is told. */
void property_changes_flush(PropertyChanges *changes);
/* The object goes: there is nothing more to tell of it. */
void property_changes_forget(PropertyChanges *changes, const char *path);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(PropertyChanges, property_changes_free)
