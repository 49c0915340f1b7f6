/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A connection to a bus on a loop that ends with the standard input, so that whoever has started the program says when.
 */

#include <stdbool.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

typedef struct Loop {
        sd_event *event;
        sd_bus *bus;
        bool ended;    /* the input */
        bool finishes; /* what it does when the input has ended, and then exits the loop; set by the program */
} Loop;

/* A negative errno. */
int loop_open(Loop *loop, const char *address);
/* Tells that the program is at work. Until the end of the input, or until somebody lets the loop exit. */
int loop_run(Loop *loop);
void loop_close(Loop *loop);

/* The exit status, with a word about what went wrong. */
int loop_status(const char *program, int r);
