/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Computes the checksum of lines of run records: CRC-32 as in ISO 3309 and gzip (RFC 1952, section 8). */

#include <stddef.h>
#include <stdint.h>

/* before: the checksum of the bytes that precede these; 0: none. */
uint32_t crc32_of(uint32_t before, const char *bytes, size_t n);
