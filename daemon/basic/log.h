/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Writes log messages. If stderr is connected to the journal, messages go there in structured form, with the fields
 * BTD_TREE, BTD_RUN and BTD_NODE, and for failures BTD_CAUSE_KIND and BTD_CAUSE_FACTS. Otherwise they go to stderr as
 * text. Levels are those of syslog(3). Logging never blocks: messages that the reader does not take are kept up to a
 * limit, and then dropped. All functions may be called from any thread.
 */

#include <glib.h>
#include <stdint.h>
#include <syslog.h>

#include "basic/cause.h"

/* The object of a message. Every member may be NULL. */
typedef struct LogSubject {
        const char *tree, *run, *node;
        const char *label;  /* the node in the text, in place of its name: a path with elements, or with a number */
        const Cause *cause; /* only for the fields; the text of the message already contains it */
} LogSubject;

void log_open(int max_level);
/* Messages of this level and of all more important ones are written. */
int log_level(void);
void log_set_level(int level);
/* Do messages go to the journal? Only for the thread of the main loop. */
bool log_goes_to_journal(void);
/* Messages go to the journal or to stderr from now on; those that are kept are dropped. False: the journal cannot be
 * reached, so they go to stderr. */
bool log_set_target(bool journal);
/* The same with the journal if stderr is connected to it. */
void log_choose_target(void);
/* journal: path of the socket of a journal; NULL: stderr. */
void log_open_at(int max_level, const char *journal);
/* From now on, messages that could not be written at once are written later from this context. Also redirects GLib's
 * messages to this log. */
void log_attach(GMainContext *context);
/* Writes kept messages as far as this is possible without blocking. */
void log_close(void);
uint64_t log_n_dropped(void);
void log_message(int level, const LogSubject *subject, const char *format, ...) G_GNUC_PRINTF(3, 4);
/* A line that a process of a leaf has written. The journal gets it under this identifier, stderr gets it as it is. */
void log_line(const char *identifier, const char *line);

#define log_debug(...) log_message(LOG_DEBUG, NULL, __VA_ARGS__)
#define log_info(...) log_message(LOG_INFO, NULL, __VA_ARGS__)
#define log_notice(...) log_message(LOG_NOTICE, NULL, __VA_ARGS__)
#define log_warning(...) log_message(LOG_WARNING, NULL, __VA_ARGS__)
#define log_error(...) log_message(LOG_ERR, NULL, __VA_ARGS__)

/* By level of syslog(3), NULL-terminated. */
extern const char *const log_level_names[];
