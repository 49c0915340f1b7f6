/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A table, since errors are names so that programs can tell them apart. */

#include <glib.h>

#include "engine/error-text.h"
#include "engine/machine.h"

const char *error_text(const char *error) {
        static const struct {
                const char *error, *text;
        } texts[] = {
                { "threshold-exceeds-children", "it waits for more children than it has" },
                { "if-condition-skipped", "its condition was skipped, which is neither true nor false" },
                { MACHINE_EXPRESSION_FAILED, "an expression could not be evaluated" },
                { "while-condition-skipped", "its condition was skipped, which is neither true nor false" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
                if (g_str_equal(texts[i].error, error))
                        return texts[i].text;

        return error;
}
