/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Declares what takes inhibitor locks for live runs: the daemon takes them from systemd-logind (leaves/inhibitor.c).
 */

#include "basic/cause.h"

typedef struct LeafServices LeafServices;
typedef struct Inhibitor Inhibitor;

typedef struct InhibitorRequest {
        const char *what, *who, *why, *mode; /* as for systemd-inhibit(1) */
} InhibitorRequest;

/* The lock is held (NULL), or is refused; then the caller takes a reference to the cause. Called once, from the main
 * loop. It may free the inhibitor. */
typedef void (*InhibitorDone)(Cause *refused, void *userdata);

typedef struct InhibitorKind {
        /* again: btd was restarted and had held the lock. Until the inhibitor is held, the lock of the previous btd is
         * not released. */
        Inhibitor *(*take)(const LeafServices *services, const InhibitorRequest *request, bool again,
                           InhibitorDone done, void *userdata);
        /* Releases the lock, or cancels the request. kept: btd exits, and the lock stays for the next one. */
        void (*free)(Inhibitor *inhibitor, bool kept);
} InhibitorKind;
