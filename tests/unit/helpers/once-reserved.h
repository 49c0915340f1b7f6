/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Repeats a call of the manager that starts a run until the disk has reserved a number for the run.
 */

#include "runtime/manager.h"

#define once_reserved(context, error, call)                                                                            \
        ({                                                                                                             \
                int r_;                                                                                                \
                                                                                                                       \
                while ((r_ = (call)) == MANAGER_NOT_YET) {                                                             \
                        g_clear_pointer(error, g_free);                                                                \
                        g_main_context_iteration(context, TRUE);                                                       \
                }                                                                                                      \
                r_;                                                                                                    \
        })
