/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Declares what nodes of live runs hold outside of btd, and what gives it to them: the inhibitor locks of Inhibit nodes
 * (leaves/inhibitor.c, from systemd-logind), and the connections of OwnConnection nodes (leaves/dbus/own-connection.c).
 */

#include "basic/cause.h"

typedef struct Connection Connection;
typedef struct LeafServices LeafServices;
typedef struct Inhibitor Inhibitor;
typedef struct OwnConnection OwnConnection;

/* The node has it (NULL), does not get it, or has lost it, and nothing follows; then the caller takes a reference to
 * the cause. Called from the main loop. */
typedef void (*HeldChanged)(Cause *refused, void *userdata);

typedef struct InhibitorRequest {
        const char *what, *who, *why, *mode; /* as for systemd-inhibit(1) */
} InhibitorRequest;

typedef struct InhibitorKind {
        /* changed: called once; it may free the inhibitor. again: btd was restarted and had held the lock. Until the
         * inhibitor is held, the lock of the previous btd is not released. */
        Inhibitor *(*take)(const LeafServices *services, const InhibitorRequest *request, bool again,
                           HeldChanged changed, void *userdata);
        /* Releases the lock, or cancels the request. kept: btd exits, and the lock stays for the next one. */
        void (*free)(Inhibitor *inhibitor, bool kept);
} InhibitorKind;

typedef struct OwnConnectionKind {
        /* bus: as in the tree file; NULL: the default bus. changed: must not free the OwnConnection before it returns
         * to the main loop. */
        OwnConnection *(*make)(const LeafServices *services, const char *bus, HeldChanged changed, void *userdata);
        void (*free)(OwnConnection *own);
        bool (*is_same_bus)(const LeafServices *services, const char *bus, const char *other);
        /* NULL: it was not made, or is lost. */
        Connection *(*connection)(const OwnConnection *own);
        /* ":1.42", as services see it; NULL: the same. */
        const char *(*name)(const OwnConnection *own);
} OwnConnectionKind;
