/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Parses time spans, without floating point. A span is a sum of numbers, each with its unit. */

#include <errno.h>
#include <glib.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "basic/span.h"

#define USEC_PER_MSEC UINT64_C(1000)
#define USEC_PER_SEC (1000 * USEC_PER_MSEC)
#define USEC_PER_MINUTE (60 * USEC_PER_SEC)
#define USEC_PER_HOUR (60 * USEC_PER_MINUTE)
#define USEC_PER_DAY (24 * USEC_PER_HOUR)
#define USEC_PER_WEEK (7 * USEC_PER_DAY)
#define USEC_PER_MONTH (UINT64_C(2629800) * USEC_PER_SEC)
#define USEC_PER_YEAR (UINT64_C(31557600) * USEC_PER_SEC)

typedef struct Unit {
        const char *name;
        uint64_t usec;
} Unit;

static const Unit units[] = {
        { "seconds", USEC_PER_SEC },
        { "second", USEC_PER_SEC },
        { "sec", USEC_PER_SEC },
        { "s", USEC_PER_SEC },
        { "minutes", USEC_PER_MINUTE },
        { "minute", USEC_PER_MINUTE },
        { "min", USEC_PER_MINUTE },
        { "months", USEC_PER_MONTH },
        { "month", USEC_PER_MONTH },
        { "M", USEC_PER_MONTH },
        { "msec", USEC_PER_MSEC },
        { "ms", USEC_PER_MSEC },
        { "m", USEC_PER_MINUTE },
        { "hours", USEC_PER_HOUR },
        { "hour", USEC_PER_HOUR },
        { "hr", USEC_PER_HOUR },
        { "h", USEC_PER_HOUR },
        { "days", USEC_PER_DAY },
        { "day", USEC_PER_DAY },
        { "d", USEC_PER_DAY },
        { "weeks", USEC_PER_WEEK },
        { "week", USEC_PER_WEEK },
        { "w", USEC_PER_WEEK },
        { "years", USEC_PER_YEAR },
        { "year", USEC_PER_YEAR },
        { "y", USEC_PER_YEAR },
        { "usec", 1 },
        { "us", 1 },
        { "\xce\xbcs", 1 },
        { "\xc2\xb5s", 1 },
};

/* The units that span_format() uses, largest first. */
static const Unit written[] = {
        { "y", USEC_PER_YEAR }, { "month", USEC_PER_MONTH }, { "w", USEC_PER_WEEK }, { "d", USEC_PER_DAY },
        { "h", USEC_PER_HOUR }, { "min", USEC_PER_MINUTE },  { "s", USEC_PER_SEC },
};

static const char *skip_space(const char *p) {
        return p + strspn(p, " \t\n\r");
}

/* The unit at p: letters, or the bytes of a Greek mu or micro sign. */
static const Unit *unit_at(const char *p, size_t *ret_length) {
        size_t length = 0;

        while (g_ascii_isalpha(p[length]) || (unsigned char) p[length] >= 0x80)
                length++;

        for (size_t i = 0; i < G_N_ELEMENTS(units); i++)
                if (strlen(units[i].name) == length && memcmp(units[i].name, p, length) == 0) {
                        *ret_length = length;
                        return &units[i];
                }

        return NULL;
}

/* Adds digits times unit to *sum. Too many digits are an overflow, not a syntax error. */
static bool add_whole(const char *digits, size_t n, uint64_t unit, uint64_t *sum) {
        uint64_t number = 0;

        for (size_t i = 0; i < n; i++)
                if (__builtin_mul_overflow(number, 10, &number) ||
                    __builtin_add_overflow(number, (uint64_t) (digits[i] - '0'), &number))
                        return false;

        return !__builtin_mul_overflow(number, unit, &number) && !__builtin_add_overflow(*sum, number, sum);
}

static bool add_fraction(const char *digits, size_t n, uint64_t unit, uint64_t *sum) {
        for (size_t i = 0; i < n && unit > 0; i++) {
                unit /= 10;
                if (__builtin_add_overflow(*sum, (uint64_t) (digits[i] - '0') * unit, sum))
                        return false;
        }

        return true;
}

/* Parses one number with its unit. Returns the end, or NULL on a syntax error. Sets *overflow if the sum is too
 * large. */
static const char *add_part(const char *p, uint64_t *sum, bool *overflow) {
        const char *whole = p, *fraction = NULL;
        size_t n_whole = strspn(p, "0123456789"), n_fraction = 0, length;
        const Unit *unit;

        p += n_whole;
        if (*p == '.') {
                fraction = ++p;
                n_fraction = strspn(p, "0123456789");
                p += n_fraction;
                if (n_fraction == 0)
                        return NULL;
        }
        if (n_whole == 0)
                return NULL;

        p = skip_space(p);
        unit = unit_at(p, &length);
        if (!unit)
                return NULL;

        if (!add_whole(whole, n_whole, unit->usec, sum) || !add_fraction(fraction, n_fraction, unit->usec, sum))
                *overflow = true;

        return p + length;
}

int span_parse(const char *text, uint64_t *ret_usec) {
        const char *p = skip_space(text);
        uint64_t sum = 0;
        bool overflow = false;

        if (g_str_has_prefix(p, "infinity") && *skip_space(p + strlen("infinity")) == 0) {
                *ret_usec = UINT64_MAX;
                return 0;
        }

        do {
                p = add_part(p, &sum, &overflow);
                if (!p)
                        return -EINVAL;
                p = skip_space(p);
        } while (*p);

        if (overflow || sum == UINT64_MAX)
                return -ERANGE;

        *ret_usec = sum;
        return 0;
}

/* Formats like "1.5s", with up to three decimals and without trailing zeros. */
static char *format_fraction(uint64_t value, const char *unit) {
        unsigned whole = value / 1000, thousandths = value % 1000;
        int digits = 3;

        if (thousandths == 0)
                return g_strdup_printf("%u%s", whole, unit);

        for (; thousandths % 10 == 0; digits--)
                thousandths /= 10;

        return g_strdup_printf("%u.%0*u%s", whole, digits, thousandths, unit);
}

char *span_format(uint64_t usec) {
        GString *text;
        unsigned parts = 0;

        if (usec == UINT64_MAX)
                return g_strdup("infinity");
        if (usec < USEC_PER_MSEC)
                return usec == 0 ? g_strdup("0s") : g_strdup_printf("%uus", (unsigned) usec);
        if (usec < USEC_PER_SEC)
                return format_fraction(usec, "ms");
        if (usec < USEC_PER_MINUTE)
                return format_fraction(usec / 1000, "s");

        text = g_string_new(NULL);
        for (size_t i = 0; i < G_N_ELEMENTS(written) && parts < 2; i++) {
                uint64_t n = usec / written[i].usec;

                usec %= written[i].usec;
                if (n > 0)
                        g_string_append_printf(text, "%s%" PRIu64 "%s", parts++ > 0 ? " " : "", n, written[i].name);
        }

        return g_string_free(text, false);
}

char *span_format_rounded(uint64_t usec) {
        uint64_t unit = 1;

        while (usec / unit >= 1000 && unit < USEC_PER_SEC)
                unit *= 10;
        if (usec >= USEC_PER_MINUTE)
                unit = USEC_PER_SEC;

        return span_format(usec < UINT64_MAX - unit ? (usec + unit / 2) / unit * unit : usec);
}
