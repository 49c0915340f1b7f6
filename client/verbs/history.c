/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* btctl history: lists the finished runs, newest first. */

#include "basic/span.h"
#include "client/recording/record-files.h"
#include "client/verbs/verbs.h"
#include "client/view/style.h"

static void print(const Output *output, const GPtrArray *runs) {
        static const char *const headings[] = { "RUN", "RESULT", "STARTED", "TOOK", "CAUSE" };
        g_autoptr(Columns) columns = columns_new(G_N_ELEMENTS(headings));

        for (size_t i = 0; i < G_N_ELEMENTS(headings); i++)
                columns_add_styled(columns, output, STYLE_BOLD, headings[i]);
        for (guint i = runs->len; i > 0; i--) {
                const RunInfo *run = g_ptr_array_index(runs, i - 1);
                g_autofree char *title = run_info_title(run), *span = span_format_rounded(run_info_duration(run)),
                                *started = time_format_date(run->started);
                g_autoptr(GString) result = g_string_new(NULL);

                style_append_symbol(output, result, run->status);
                g_string_append_c(result, ' ');
                style_append_word(output, result, run->status);

                columns_add_styled(columns, output, STYLE_PLAIN, title);
                columns_add(columns, result->str);
                columns_add_styled(columns, output, STYLE_PLAIN, started);
                columns_add_styled(columns, output, STYLE_PLAIN, span);
                columns_add_styled(columns, output, STYLE_PLAIN, run->cause);
        }

        columns_print(columns, output);
}

int verb_history(Client *client, char **operands) {
        g_autoptr(RecordFiles) files = NULL;
        g_autoptr(GPtrArray) runs = NULL;
        const char *operand = operands[0];
        bool any;
        int status = record_files_select(client, operand, &files, &runs, &any);

        if (status != EXIT_SUCCESS)
                return status;

        if (client->output.json) {
                json_object *json = json_object_new_array();

                for (guint i = runs->len; i > 0; i--)
                        json_object_array_add(json, run_info_to_json(g_ptr_array_index(runs, i - 1)));
                output_print_json(json);
        } else if (runs->len > 0)
                print(&client->output, runs);
        else if (any && !options_want_none(&client->options))
                client_say(client, "no run has finished in this time");
        else if (!any && operand)
                client_say(client, "no run of '%s' has finished yet", operand);
        else if (!any)
                client_say(client, "no run has finished yet");

        return EXIT_SUCCESS;
}
