/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Eight bits at a time, by a table that is made when it is first needed. */

#include <glib.h>

#include "journal/crc32.h"

#define POLYNOMIAL UINT32_C(0xedb88320)

static uint32_t table[256];

static uint32_t table_entry(uint32_t byte) {
        uint32_t crc = byte;

        for (unsigned bit = 0; bit < 8; bit++)
                crc = crc & 1 ? crc >> 1 ^ POLYNOMIAL : crc >> 1;

        return crc;
}

static void make_table(void) {
        static gsize made;

        if (!g_once_init_enter(&made))
                return;

        for (uint32_t byte = 0; byte < G_N_ELEMENTS(table); byte++)
                table[byte] = table_entry(byte);
        g_once_init_leave(&made, 1);
}

uint32_t crc32_of(const char *bytes, size_t n) {
        uint32_t crc = UINT32_MAX;

        make_table();
        for (size_t i = 0; i < n; i++)
                crc = table[(crc ^ (uint8_t) bytes[i]) & 0xff] ^ crc >> 8;

        return ~crc;
}
