/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* btctl show: the whole story of a run. */

#include "moment.h"
#include "story-line.h"
#include "verbs.h"

typedef struct Teller {
        const Client *client;
        const Recording *recording;
} Teller;

static void on_event(const StoryEvent *event, void *userdata) {
        const Teller *teller = userdata;
        g_autoptr(GString) line = NULL;

        if (teller->client->output.json) {
                output_print_json_line(story_event_to_json(teller->recording, event));
                return;
        }

        line = g_string_new(NULL);
        story_line_append(&teller->client->output, line, teller->recording, event);
        output_print_line(&teller->client->output, line);
}

static void print_header(const Client *client, const Recording *recording) {
        const JournalHeader *header = &recording->journal->header;
        g_autofree char *started = moment_format_point(header->started);
        g_autoptr(GString) line = g_string_new(NULL);

        output_append(&client->output, line, STYLE_BOLD, header->run);
        if (*header->instance)
                output_appendf(&client->output, line, STYLE_PLAIN, " (%s)", header->instance);
        output_appendf(&client->output, line, STYLE_PLAIN, " of tree '%s', started %s", header->tree, started);
        output_print_line(&client->output, line);
}

int verb_show(Client *client, char **operands) {
        g_autoptr(Recording) recording = NULL;
        g_autoptr(Story) story = NULL;
        g_autofree char *error = NULL;
        Teller teller;
        int status;

        status = recording_open(client, operands[0], &recording);
        if (status != EXIT_SUCCESS)
                return status;

        teller = (Teller){ client, recording };
        if (story_new(recording, on_event, &teller, &story, &error) < 0)
                return report_error("%s: %s", recording->name, error);
        if (!client->output.json && !client->output.quiet)
                print_header(client, recording);
        if (story_tell(story, UINT64_MAX, &error) < 0)
                return report_error("%s: %s", recording->name, error);

        return EXIT_SUCCESS;
}
