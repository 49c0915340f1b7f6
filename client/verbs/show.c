/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* btctl show: prints the event log of a run. */

#include "client/recording/event-log.h"
#include "client/verbs/verbs.h"
#include "client/view/style.h"

typedef struct Printer {
        const Client *client;
        const Recording *recording;
} Printer;

static void on_event(const LogEvent *event, void *userdata) {
        const Printer *printer = userdata;
        g_autoptr(GString) line = NULL;

        if (printer->client->output.json) {
                output_print_json_line(log_event_to_json(printer->recording, event));
                return;
        }

        line = g_string_new(NULL);
        log_event_append(&printer->client->output, line, printer->recording, event);
        output_print_line(&printer->client->output, line);
}

static void print_header(const Client *client, const Recording *recording) {
        const RecordHeader *header = &recording->journal->header;
        g_autofree char *started = time_format_point(header->started);
        g_autoptr(GString) line = g_string_new(NULL);

        output_append(&client->output, line, STYLE_BOLD, header->run);
        if (*header->instance)
                output_appendf(&client->output, line, STYLE_PLAIN, " (%s)", header->instance);
        output_appendf(&client->output, line, STYLE_PLAIN, " of tree '%s', started %s", header->tree, started);
        output_print_line(&client->output, line);
}

int verb_show(Client *client, char **operands) {
        g_autoptr(Recording) recording = NULL;
        g_autoptr(EventLog) log = NULL;
        g_autofree char *error = NULL;
        Printer printer;
        int status;

        status = recording_open(client, operands[0], &recording);
        if (status != EXIT_SUCCESS)
                return status;

        printer = (Printer){ client, recording };
        if (event_log_new(recording, on_event, &printer, &log, &error) < 0)
                return report_error("%s: %s", recording->name, error);
        if (!client->output.json && !client->output.quiet)
                print_header(client, recording);
        if (event_log_report(log, UINT64_MAX, &error) < 0)
                return report_error("%s: %s", recording->name, error);

        return EXIT_SUCCESS;
}
