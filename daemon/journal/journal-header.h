/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The first line of a journal: all that the run came from.
 *
 *   btd-journal VERSION JSON CRC
 */

#include <glib.h>
#include <json-c/json_object.h>
#include <stdbool.h>

/* A daemon reads the journals of all versions up to this. */
#define JOURNAL_VERSION 2u

typedef struct JournalHeader {
        char *boot;     /* the boot ID: in another boot, nothing of the run is left */
        char *run;      /* "boot.3" */
        char *tree;     /* "boot" */
        char *instance; /* "" for the plain one */
        char *starter;  /* "UID 0 (btctl)", "autostart" */
        char *hash;     /* of the tree's texts */
        uint32_t uid;   /* of the starter; 0 where it was the daemon itself */
        uint64_t seed;
        uint64_t started;       /* CLOCK_REALTIME µs */
        uint64_t start;         /* the same moment in CLOCK_MONOTONIC µs */
        json_object *files;     /* [{path, text}, ...]: the tree's own file first, then those that it uses */
        json_object *variables; /* as given at the start: an object */
} JournalHeader;

void journal_header_append(GString *text, const JournalHeader *header);

/* The line without its end. -EBADMSG: damaged; -EPROTONOSUPPORT: of a version that is not known; with a text for
 * people. */
int journal_header_parse(const char *line, size_t length, JournalHeader *ret_header, char **ret_error);
/* The same of the beginning of the line: all but the files and the variables, and no checksum is looked at. */
int journal_header_parse_start(const char *text, size_t length, JournalHeader *ret_header, char **ret_error);
void journal_header_clear(JournalHeader *header);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(JournalHeader, journal_header_clear)
