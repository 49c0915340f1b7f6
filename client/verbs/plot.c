/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* btctl plot: draws the timeline of a run as a picture, or for trace viewers. */

#include <stdio.h>

#include "client/plot/plot.h"
#include "client/verbs/verbs.h"

typedef struct Format {
        const char *name;
        PlotFormat plot;
} Format;

static const Format formats[] = {
        { "svg", plot_svg },
        { "trace", plot_trace },
};

static const Format *find_format(const char *name) {
        for (size_t i = 0; i < G_N_ELEMENTS(formats); i++)
                if (!name || g_str_equal(formats[i].name, name))
                        return &formats[i];

        return NULL;
}

int verb_plot(Client *client, char **operands) {
        const char *name = client->options.values[OPTION_FORMAT];
        const Format *format = find_format(name);
        g_autoptr(Recording) recording = NULL;
        g_autofree char *error = NULL, *plot = NULL;
        int status;

        if (!format)
                return report_usage("--format: '%s' is neither 'svg' nor 'trace'", name);

        status = recording_open(client, operands[0], &recording);
        if (status != EXIT_SUCCESS)
                return status;

        plot = plot_recording(recording, format->plot, &error);
        if (!plot)
                return report_error("%s: %s", recording->name, error);

        fputs(plot, stdout);
        return EXIT_SUCCESS;
}
