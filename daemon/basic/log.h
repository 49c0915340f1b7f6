/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Messages: structured to the journal where stderr leads there (with the fields BTD_TREE, BTD_RUN and
 * BTD_NODE, and of a failure BTD_CAUSE_KIND and BTD_CAUSE_FACTS), in plain text to the terminal otherwise. Levels are
 * those of syslog(3).
 */

#include <glib.h>
#include <syslog.h>

#include "basic/cause.h"

/* What a message is about; every field may be NULL. */
typedef struct LogSubject {
        const char *tree, *run, *node;
        const Cause *cause; /* for the fields only: the text of the message has it in words */
} LogSubject;

void log_open(int max_level);
void log_message(int level, const LogSubject *subject, const char *format, ...) G_GNUC_PRINTF(3, 4);

#define log_debug(...) log_message(LOG_DEBUG, NULL, __VA_ARGS__)
#define log_info(...) log_message(LOG_INFO, NULL, __VA_ARGS__)
#define log_notice(...) log_message(LOG_NOTICE, NULL, __VA_ARGS__)
#define log_warning(...) log_message(LOG_WARNING, NULL, __VA_ARGS__)
#define log_error(...) log_message(LOG_ERR, NULL, __VA_ARGS__)
