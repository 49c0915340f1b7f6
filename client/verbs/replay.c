/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* btctl replay: shows a run as it was at any time, with the words that btd uses in its status. */

#include <stdio.h>

#include "basic/cleanup.h"
#include "basic/span.h"
#include "client/recording/recording.h"
#include "client/verbs/replay.h"
#include "client/verbs/verbs.h"
#include "client/view/run-view.h"
#include "run/replay.h"

/* A time after the end of the run shows its end. */
int replay_print(Client *client, const char *operand, uint64_t until) {
        g_autoptr(Recording) recording = NULL;
        g_autoptr(Replay) replay = NULL;
        g_autoptr(json_object) chain = NULL;
        g_autoptr(GPtrArray) nodes = NULL;
        g_autoptr(RunInfo) run = NULL;
        g_autoptr(GString) text = g_string_new(NULL);
        g_autofree char *error = NULL;
        uint64_t start;
        int status;

        status = recording_open(client, operand, &recording);
        if (status != EXIT_SUCCESS)
                return status;

        until = MIN(until, recording_length(recording));
        if (until < recording_begin(recording)) {
                g_autofree char *begin = span_format_rounded(recording_begin(recording));

                return report_error("%s: no events from before %s are kept", recording->name, begin);
        }

        start = recording->record->header.start;
        if (replay_new(recording->record, recording->definition, &replay, &error) < 0 ||
            replay_until(replay, start + until, &error) < 0)
                return report_error("%s: %s", recording->name, error);

        chain = recording_causes(recording, replay, NODE_NONE);
        nodes = recording_nodes_at(recording, replay, until);
        run = recording_run_at(recording, replay, until);
        if (client->output.json) {
                output_print_json(run_view_to_json(client, run, chain, nodes));
        } else {
                run_view_append(client, text, run, chain, nodes);
                fputs(text->str, stdout);
        }
        return recording_report_damage(recording);
}

int replay_end(const Recording *recording, RunInfo **ret_run, GPtrArray **ret_nodes) {
        uint64_t length = recording_length(recording);
        g_autoptr(Replay) replay = NULL;
        g_autofree char *error = NULL;

        if (replay_new(recording->record, recording->definition, &replay, &error) < 0 ||
            replay_until(replay, recording->record->header.start + length, &error) < 0)
                return report_error("%s: %s", recording->name, error);

        *ret_run = recording_run_at(recording, replay, length);
        *ret_nodes = recording_nodes_at(recording, replay, length);
        return EXIT_SUCCESS;
}

int verb_replay(Client *client, char **operands) {
        const char *text = client->options.values[OPTION_UNTIL];
        uint64_t until = UINT64_MAX;

        if (text && !g_str_equal(text, "end") && span_parse(text, &until) < 0)
                return report_usage("--until: '%s' is neither a time span such as '90s' or '1h 30min' nor 'end'", text);

        return replay_print(client, operands[0], until);
}
