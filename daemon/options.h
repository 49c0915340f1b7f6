/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Owns the values of btd's command line.
 */

#include <glib.h>
#include <json-c/json_object.h>
#include <stdbool.h>
#include <stdint.h>

#include "basic/limit.h"

typedef struct Options {
        bool user;
        char *address; /* address of the bus, or NULL */
        char **trees;  /* the search path; absolute paths */
        char *runtime; /* directory for state that survives a restart of btd, or NULL */
        char *state;   /* directory for state that survives a restart of the machine, or NULL */
        int log_level;
        uint64_t stop_timeout; /* µs */
        Limits limits;
        json_object *on_finished; /* rules for the runs of all trees, see on-finished.h; NULL: none */
} Options;

/* Continue; any other value is the exit status. */
#define OPTIONS_RUN (-1)

/* Prints errors itself. */
int options_parse(Options *options, int argc, char **argv);
void options_clear(Options *options);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Options, options_clear)
