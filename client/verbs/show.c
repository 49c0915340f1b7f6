/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* btctl show: prints the event log of a run. */

#include "client/recording/recording.h"
#include "client/verbs/verbs.h"
#include "client/view/style.h"

typedef struct Printer {
        const Client *client;
        const Recording *recording;
        bool begun;
} Printer;

static void on_event(const RunEvent *event, void *userdata) {
        Printer *printer = userdata;
        const RecordHeader *header = &printer->recording->record->header;
        const Tree *tree = definition_tree(printer->recording->definition);
        const Output *output = &printer->client->output;
        g_autofree char *path = event->node == NODE_NONE ? NULL : tree_node_path(tree, event->node), *stamp = NULL;
        g_autoptr(GString) line = g_string_new(NULL);

        if (output->json) {
                output_print_json_line(event_to_json(header->run, path, header->started + event->time, event));
                return;
        }

        if (!printer->begun && !output->quiet) {
                g_autofree char *started = time_format_point(header->started);

                output_append(output, line, STYLE_BOLD, header->run);
                if (*header->instance)
                        output_appendf(output, line, STYLE_PLAIN, " (%s)", header->instance);
                output_appendf(output, line, STYLE_PLAIN, " of tree '%s', started %s", header->tree, started);
                output_print_line(output, line);
        }
        printer->begun = true;
        stamp = event_stamp(event->time);
        event_append(output, line, stamp, header->run, path, event);
        output_print_line(output, line);
}

int verb_show(Client *client, char **operands) {
        g_autoptr(Recording) recording = NULL;
        g_autofree char *error = NULL;
        Printer printer;
        int status;

        status = recording_open(client, operands[0], &recording);
        if (status != EXIT_SUCCESS)
                return status;

        printer = (Printer){ .client = client, .recording = recording };
        if (recording_report(recording, UINT64_MAX, on_event, &printer, &error) < 0)
                return report_error("%s: %s", recording->name, error);

        return recording_report_damage(recording);
}
