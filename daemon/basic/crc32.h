/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Computes the checksum of lines of run records: CRC-32 as in ISO 3309 and gzip (RFC 1952, section 8). */

#include <glib.h>
#include <stdint.h>

/* before: the checksum of the bytes that precede these; 0: none. */
uint32_t crc32_of(uint32_t before, const char *bytes, size_t n);
/* The checksum of bytes that are followed by n other bytes, from the checksums of both. Takes about a microsecond. */
uint32_t crc32_combine(uint32_t before, uint32_t after, size_t n);

/* A text with its checksum, which a thread can compute beside the main loop. */
typedef struct SummedText {
        char *text;
        size_t length;
        uint32_t checksum;
} SummedText;

/* Takes the text. */
SummedText *summed_text_new(char *text);
void summed_text_free(SummedText *summed);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(SummedText, summed_text_free)
