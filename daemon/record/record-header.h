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
#include "record/entry.h"

#define RECORD_VERSION 1u

/* The members whose length does not depend on the size of the tree: texts, and numbers with their name, type and
 * largest value. The struct, what is written and read, and the tests are made from this list. */
#define RECORD_HEADER_START(TEXT, NUMBER)                                                                              \
        NUMBER(engine, "engine", uint32_t, UINT32_MAX) /* ENGINE_VERSION of the daemon that wrote it */                \
        TEXT(boot)                               /* the boot ID: after another boot, nothing of the run is left */     \
        TEXT(run)                                /* "boot.3" */                                                        \
        TEXT(tree)                               /* "boot" */                                                          \
        TEXT(instance)                           /* "" if the run has none */                                          \
        TEXT(starter)                            /* "UID 0 (btctl)", "autostart" */                                    \
        TEXT(token)                              /* of the series of runs, see run_token() */                          \
        TEXT(hash)                               /* of the tree's texts */                                             \
        NUMBER(uid, "uid", uint32_t, UINT32_MAX) /* of the starter; 0 if it was the daemon itself */                   \
        NUMBER(variables_kib, "variables-kib", uint32_t, UINT32_MAX) /* limit of the run's variables */                \
        NUMBER(record_kib, "journal-kib", uint32_t, UINT32_MAX)      /* limit of the run record */                     \
        NUMBER(started, "started", uint64_t, ENTRY_TIME_MAX)         /* CLOCK_REALTIME µs */                          \
        NUMBER(start, "start", uint64_t, ENTRY_TIME_MAX)             /* the same time in CLOCK_MONOTONIC µs */

#define RECORD_HEADER_TEXT(member) char *member;
#define RECORD_HEADER_NUMBER(member, name, type, max) type member;

typedef struct RecordHeader {
        RECORD_HEADER_START(RECORD_HEADER_TEXT, RECORD_HEADER_NUMBER)
        uint64_t seed;
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
