/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The daemon's command line.
 */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "basic/limit.h"

typedef struct Options {
        bool user;
        char *address; /* of the bus to live on, or NULL */
        char **trees;  /* the search path, absolute */
        char *runtime; /* the directory for what is to survive a restart of the daemon, or NULL */
        char *state;   /* ... and of the machine, or NULL */
        int log_level;
        uint64_t stop_timeout; /* µs */
        Limits limits;
} Options;

/* There is nothing more to do than to run; every other value is what to exit with. */
#define OPTIONS_RUN (-1)

/* Says itself what is wrong. */
int options_parse(Options *options, int argc, char **argv);
void options_clear(Options *options);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Options, options_clear)
