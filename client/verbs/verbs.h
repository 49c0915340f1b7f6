/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The table of verbs, which btctl.c owns, and the function of each verb.
 */

#include "client/bus/client.h"

typedef struct Verb {
        const char *name;
        const char *operands; /* for the usage: "TREE|RUN"; NULL: none */
        unsigned min_operands, max_operands;
        uint64_t options;                            /* bits of OptionId, besides the common ones */
        const char *help;                            /* one line */
        int (*run)(Client *client, char **operands); /* returns an exit status; operands: NULL-terminated */
        bool pages;                                  /* its output can be long; not with --follow */
} Verb;

/* Ends with an entry without a name. Verbs without help are for programs, and are not shown. */
extern const Verb verb_table[];

int verb_break(Client *client, char **operands);
int verb_cat(Client *client, char **operands);
int verb_complete(Client *client, char **operands);
int verb_force(Client *client, char **operands);
int verb_forget(Client *client, char **operands);
int verb_get(Client *client, char **operands);
int verb_graph(Client *client, char **operands);
int verb_halt(Client *client, char **operands);
int verb_help(Client *client, char **operands);
int verb_history(Client *client, char **operands);
int verb_kept(Client *client, char **operands);
int verb_list(Client *client, char **operands);
int verb_logs(Client *client, char **operands);
int verb_metrics(Client *client, char **operands);
int verb_monitor(Client *client, char **operands);
int verb_pause(Client *client, char **operands);
int verb_plot(Client *client, char **operands);
int verb_delta(Client *client, char **operands);
int verb_disable(Client *client, char **operands);
int verb_edit(Client *client, char **operands);
int verb_enable(Client *client, char **operands);
int verb_is_enabled(Client *client, char **operands);
int verb_preset(Client *client, char **operands);
int verb_revert(Client *client, char **operands);
int verb_reload(Client *client, char **operands);
int verb_replay(Client *client, char **operands);
int verb_restart(Client *client, char **operands);
int verb_resume(Client *client, char **operands);
int verb_retry(Client *client, char **operands);
int verb_run(Client *client, char **operands);
int verb_schema(Client *client, char **operands);
int verb_set(Client *client, char **operands);
int verb_show(Client *client, char **operands);
int verb_simulate(Client *client, char **operands);
int verb_start(Client *client, char **operands);
int verb_stats(Client *client, char **operands);
int verb_status(Client *client, char **operands);
int verb_step(Client *client, char **operands);
int verb_types(Client *client, char **operands);
int verb_users(Client *client, char **operands);
int verb_validate(Client *client, char **operands);
int verb_watch(Client *client, char **operands);
int verb_wait(Client *client, char **operands);
int verb_follow(Client *client, char **operands);

/* The JSON schema of what the verbs print with --json. */
extern const char outputs_schema[];

/* For completion. */
void help_print_topics(void);
