/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Takes inhibitor locks from systemd-logind, for LeafServices. */

#include "run/inhibitor.h"

extern const InhibitorKind logind_inhibitors;
