/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Declares what makes the connections of OwnConnection nodes for live runs: the daemon makes them in
 * leaves/dbus/own-connection.c.
 */

#include "basic/cause.h"

typedef struct Connection Connection;
typedef struct LeafServices LeafServices;
typedef struct OwnConnection OwnConnection;

/* The connection is made (NULL), is refused, or was lost; then the caller takes a reference to the cause, and nothing
 * follows. From the main loop; must not free the OwnConnection before it returns there. */
typedef void (*OwnConnectionChanged)(Cause *lost, void *userdata);

typedef struct OwnConnectionKind {
        /* bus: as in the tree file; NULL: the default bus. */
        OwnConnection *(*make)(const LeafServices *services, const char *bus, OwnConnectionChanged changed,
                               void *userdata);
        void (*free)(OwnConnection *own);
        bool (*is_same_bus)(const LeafServices *services, const char *bus, const char *other);
        /* NULL: it was not made, or is lost. */
        Connection *(*connection)(const OwnConnection *own);
        /* ":1.42", as services see it; NULL: the same. */
        const char *(*name)(const OwnConnection *own);
} OwnConnectionKind;
