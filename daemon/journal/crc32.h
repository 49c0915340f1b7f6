/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The checksum of a line: CRC-32 as in ISO 3309 and gzip (RFC 1952, section 8).
 */

#include <stddef.h>
#include <stdint.h>

uint32_t crc32_of(const char *bytes, size_t n);
