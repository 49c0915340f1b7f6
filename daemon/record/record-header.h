/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Defines the first line of a run record, which contains all that is needed to make the run again. The writer and the
 * readers of run records use it.
 *
 *   btd-journal VERSION JSON CRC
 */

#include <glib.h>
#include <json-c/json_object.h>
#include <stdbool.h>

#include "basic/crc32.h"

#define RECORD_VERSION 1u

typedef struct RecordHeader {
        uint32_t engine;        /* ENGINE_VERSION of the daemon that wrote it */
        char *boot;             /* the boot ID: after another boot, nothing of the run is left */
        char *run;              /* "boot.3" */
        char *tree;             /* "boot" */
        char *instance;         /* "" if the run has none */
        char *starter;          /* "UID 0 (btctl)", "autostart" */
        char *token;            /* of the series of runs, see run_token() */
        char *hash;             /* of the tree's texts */
        uint32_t uid;           /* of the starter; 0 if it was the daemon itself */
        uint32_t variables_kib; /* limit of the run's variables */
        uint32_t record_kib;    /* limit of the run record */
        uint64_t seed;
        uint64_t started;       /* CLOCK_REALTIME µs */
        uint64_t start;         /* the same time in CLOCK_MONOTONIC µs */
        json_object *files;     /* [{path, text, found}, ...]: the tree's own file first, then those that it uses;
                                 * found: the names by which the search path found it */
        SummedText *files_text; /* the same, to be written; NULL: use files. Not read. */
        json_object *variables; /* as given at the start: an object */
} RecordHeader;

/* Returns the checksum of the line. */
uint32_t record_header_append(GString *text, const RecordHeader *header);
/* The same without the files, which can be long: they belong at ret_files in the text. */
uint32_t record_header_append_around(GString *text, const RecordHeader *header, const SummedText *files,
                                     size_t *ret_files);

/* Reads the line, without its end, and its checksum. -EBADMSG: damaged; -EPROTONOSUPPORT: unknown version; with an
 * error message. */
int record_header_parse(const char *line, size_t length, RecordHeader *ret_header, uint32_t *ret_checksum,
                        char **ret_error);
/* The same for the beginning of the line: without the files and the variables, and without checking the checksum. */
int record_header_parse_start(const char *text, size_t length, RecordHeader *ret_header, char **ret_error);
void record_header_clear(RecordHeader *header);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(RecordHeader, record_header_clear)
