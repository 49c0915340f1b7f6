/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Collects added, removed and changed objects, and sends InterfacesAdded, InterfacesRemoved and one PropertiesChanged
 * per object. They are sent in the same turn of the main loop. If other signals have just been sent, they wait a
 * moment and are merged with later changes. If there are many, they are spread over several turns.
 */

#include <glib.h>

#include "service/property.h"

typedef struct ObjectChanges ObjectChanges;

/* manager: the path of the ObjectManager above the objects. userdata: for the getters of their properties. */
ObjectChanges *object_changes_new(GMainContext *context, sd_bus *bus, const char *manager, void *userdata);
void object_changes_free(ObjectChanges *changes);

/* events: PropertyChange. Sends the properties that can have changed with one of them. */
void object_changes_touch(ObjectChanges *changes, const char *path, const ObjectKind *kind, unsigned events);
/* The object was added or removed. If it is removed before it was announced, no signal is sent. */
void object_changes_add(ObjectChanges *changes, const char *path, const ObjectKind *kind);
/* The same at once: other signals about the object follow. */
void object_changes_add_now(ObjectChanges *changes, const char *path, const ObjectKind *kind);
void object_changes_remove(ObjectChanges *changes, const char *path, const ObjectKind *kind);
/* Drops all changes of the object, because another signal announces its removal. */
void object_changes_forget(ObjectChanges *changes, const char *path);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(ObjectChanges, object_changes_free)
