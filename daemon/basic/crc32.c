/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Computes eight bytes at a time, with tables that are made when they are first needed: tables[i] has the checksum of a
 * byte that is followed by i zeros.
 */

#include <string.h>

#include "basic/crc32.h"

#define POLYNOMIAL UINT32_C(0xedb88320)
#define STEP 8u

static uint32_t tables[STEP][256];

static void make_tables(void) {
        static gsize made;

        if (!g_once_init_enter(&made))
                return;

        for (uint32_t byte = 0; byte < 256; byte++) {
                uint32_t crc = byte;

                for (unsigned bit = 0; bit < 8; bit++)
                        crc = crc & 1 ? crc >> 1 ^ POLYNOMIAL : crc >> 1;
                tables[0][byte] = crc;
        }
        for (unsigned i = 1; i < STEP; i++)
                for (uint32_t byte = 0; byte < 256; byte++)
                        tables[i][byte] = tables[0][tables[i - 1][byte] & 0xff] ^ tables[i - 1][byte] >> 8;
        g_once_init_leave(&made, 1);
}

uint32_t crc32_of(uint32_t before, const char *bytes, size_t n) {
        const uint8_t *p = (const uint8_t *) bytes;
        uint32_t crc = ~before;

        make_tables();
        for (; n >= STEP; n -= STEP, p += STEP) {
                crc ^= (uint32_t) p[0] | (uint32_t) p[1] << 8 | (uint32_t) p[2] << 16 | (uint32_t) p[3] << 24;
                crc = tables[7][crc & 0xff] ^ tables[6][crc >> 8 & 0xff] ^ tables[5][crc >> 16 & 0xff] ^
                      tables[4][crc >> 24] ^ tables[3][p[4]] ^ tables[2][p[5]] ^ tables[1][p[6]] ^ tables[0][p[7]];
        }
        for (; n > 0; n--, p++)
                crc = tables[0][(crc ^ *p) & 0xff] ^ crc >> 8;

        return ~crc;
}

/* Multiplies polynomials modulo POLYNOMIAL. As in the checksum, the highest bit is the coefficient of 1. */
static uint32_t multiply(uint32_t a, uint32_t b) {
        uint32_t product = 0;

        for (uint32_t bit = UINT32_C(1) << 31; bit > 0; bit >>= 1) {
                if (a & bit)
                        product ^= b;
                b = b & 1 ? b >> 1 ^ POLYNOMIAL : b >> 1;
        }

        return product;
}

/* A byte that follows multiplies the checksum by x^8. */
uint32_t crc32_combine(uint32_t before, uint32_t after, size_t n) {
        uint32_t factor = UINT32_C(1) << 31, power = UINT32_C(1) << (31 - 8);

        for (; n > 0; n >>= 1) {
                if (n & 1)
                        factor = multiply(factor, power);
                power = multiply(power, power);
        }

        return multiply(factor, before) ^ after;
}

SummedText *summed_text_new(char *text) {
        SummedText *summed = g_new(SummedText, 1);

        summed->text = text;
        summed->length = strlen(text);
        summed->checksum = crc32_of(0, text, summed->length);
        return summed;
}

void summed_text_free(SummedText *summed) {
        if (!summed)
                return;

        g_free(summed->text);
        g_free(summed);
}
