/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* btctl replay: a run as it was at any moment. */

#include <stdio.h>

#include "basic/cleanup.h"
#include "basic/span.h"
#include "replay-view.h"
#include "run-view.h"
#include "verbs.h"

static int parse_until(const char *text, uint64_t *ret_until) {
        *ret_until = UINT64_MAX;
        if (text && !g_str_equal(text, "end") && span_parse(text, ret_until) < 0)
                return report_usage("--until: '%s' is neither a time span such as '90s' or '1h 30min' nor 'end'", text);

        return EXIT_SUCCESS;
}

static void print(const Client *client, const Recording *recording, const Replay *replay, uint64_t time) {
        g_autoptr(json_object) chain = replay_view_causes(recording, replay);
        g_autoptr(GPtrArray) nodes = replay_view_nodes(recording, replay, time);
        g_autoptr(RunInfo) run = replay_view_run(recording, replay, time);
        g_autoptr(GString) text = g_string_new(NULL);

        if (client->output.json) {
                output_print_json(run_view_to_json(client, run, chain, nodes));
                return;
        }

        run_view_append(client, text, run, chain, nodes);
        fputs(text->str, stdout);
}

static int report_too_early(const Recording *recording) {
        g_autofree char *begin = span_format_rounded(recording_begin(recording));

        return report_error("%s: what was before %s is not kept", recording->name, begin);
}

/* Behind its end nothing changes any more. */
int verb_replay(Client *client, char **operands) {
        g_autoptr(Recording) recording = NULL;
        g_autoptr(Replay) replay = NULL;
        g_autofree char *error = NULL;
        uint64_t until, start;
        int status;

        status = parse_until(client->options.values[OPTION_UNTIL], &until);
        if (status == EXIT_SUCCESS)
                status = recording_open(client, operands[0], &recording);
        if (status != EXIT_SUCCESS)
                return status;

        until = MIN(until, recording_length(recording));
        if (until < recording_begin(recording))
                return report_too_early(recording);

        start = recording->journal->header.start;
        if (replay_new(recording->journal, recording->definition, &replay, &error) < 0 ||
            replay_until(replay, start + until, &error) < 0)
                return report_error("%s: %s", recording->name, error);

        print(client, recording, replay, until);
        return EXIT_SUCCESS;
}
