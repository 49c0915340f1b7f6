/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Implements replay.h. Requests of the run are compared with the next records, and recorded inputs must be possible. So
 * a run record that does not belong to the tree is detected, and does no harm.
 */

#include <errno.h>
#include <inttypes.h>

#include "engine/engine-version.h"
#include "run/replay-state.h"

const Tree *replay_tree(const Replay *replay) {
        return definition_tree(progress_definition(replay->progress));
}

const Record *replay_next(const Replay *replay) {
        return replay->position < replay->journal->records->len
                       ? &g_array_index(replay->journal->records, Record, replay->position)
                       : NULL;
}

/* The engine in the last RECORD_RECOVERED that was read, or else in the header. */
uint32_t replay_engine(const Replay *replay) {
        uint32_t engine = replay->journal->header.engine;

        for (unsigned i = 0; i < replay->position; i++) {
                const Record *record = &g_array_index(replay->journal->records, Record, i);

                if (record->kind == RECORD_RECOVERED && replay_detail(record, "engine"))
                        engine = (uint32_t) json_object_get_int64(replay_detail(record, "engine"));
        }

        return engine;
}

bool replay_is_of_idle_intervals(const Replay *replay) {
        return replay->journal->header.engine < 2 && replay_engine(replay) < 2;
}

/* A hint that a different engine may be the reason. */
static char *describe_engines(const Replay *replay) {
        uint32_t engine = replay_engine(replay);

        return engine == 0 || engine == engine_version()
                       ? g_strdup("")
                       : g_strdup_printf(" (recorded with engine %" PRIu32 ", but this is engine %" PRIu32 ")", engine,
                                         engine_version());
}

/* The header is line 1. */
void replay_mismatch(Replay *replay, const char *format, ...) {
        g_autofree char *text = NULL, *engines = NULL;
        va_list args;

        if (replay->error)
                return;

        engines = describe_engines(replay);

        va_start(args, format);
        text = g_strdup_vprintf(format, args);
        va_end(args);
        replay->error = g_strdup_printf("line %u: %s%s", replay->position + 1, text, engines);
}

int replay_step(Replay *replay, char **ret_error) {
        const Record *record = replay_next(replay);

        if (!record)
                return 0;

        replay->position++;
        replay_apply(replay, record);
        if (!replay->error)
                return 1;

        *ret_error = g_strdup(replay->error);
        return -EBADMSG;
}

int replay_until(Replay *replay, uint64_t time, char **ret_error) {
        const Record *record;
        int r = 0;

        while (r >= 0 && (record = replay_next(replay)) && replay->journal->header.start + record->time <= time)
                r = replay_step(replay, ret_error);

        return r < 0 ? r : 0;
}

/* Checks the nodes of all records, so that no other code has to. */
static void check_nodes(Replay *replay) {
        for (const Record *record; (record = replay_next(replay)) && !replay->error; replay->position++)
                if (!replay_has_node(replay, record)) {
                        replay->position++;
                        replay_mismatch(replay, "there is no such node for '%s'", record_kind_to_string(record->kind));
                }

        replay->position = 0;
}

static int replay_new_from(const Journal *journal, unsigned begin, Definition *definition, Replay **ret_replay,
                           char **ret_error) {
        const JournalHeader *header = &journal->header;
        g_autoptr(Replay) replay = NULL;

        if (definition_check_start(definition, header->variables, ret_error) < 0)
                return -EBADMSG;

        replay = g_new0(Replay, 1);
        replay->journal = journal;
        replay->progress = progress_new(definition, header->seed, header->start, &replay_host, replay);
        progress_give(replay->progress, header->variables);
        check_nodes(replay);
        if (replay->error) {
                *ret_error = g_strdup(replay->error);
                return -EBADMSG;
        }

        replay->begin = replay->position = begin;
        *ret_replay = g_steal_pointer(&replay);
        return 0;
}

int replay_new(const Journal *journal, Definition *definition, Replay **ret_replay, char **ret_error) {
        return replay_new_from(journal, 0, definition, ret_replay, ret_error);
}

int replay_new_of_end(const Journal *journal, Definition *definition, Replay **ret_replay, char **ret_error) {
        return replay_new_from(journal, journal->newest_record, definition, ret_replay, ret_error);
}

void replay_free(Replay *replay) {
        if (!replay)
                return;

        while (replay->leaves.head)
                replay_leaf_free(replay->leaves.head->data);
        progress_free(replay->progress);
        g_clear_pointer(&replay->locks, g_array_unref);
        g_free(replay->error);
        g_free(replay);
}

Progress *replay_progress(const Replay *replay) {
        return replay->progress;
}

bool replay_has_finished(const Replay *replay) {
        const GArray *records = replay->journal->records;

        return replay->position > 0 && g_array_index(records, Record, replay->position - 1).kind == RECORD_FINISHED;
}

unsigned replay_position(const Replay *replay) {
        return replay->position;
}

const GQueue *replay_leaves(const Replay *replay) {
        return &replay->leaves;
}

const GArray *replay_locks(const Replay *replay) {
        return replay->progress ? progress_locks(replay->progress) : replay->locks;
}

Progress *replay_take(Replay *replay) {
        const GArray *locks = progress_locks(replay->progress);

        replay->locks = g_array_new(FALSE, FALSE, sizeof(ProgressLock));
        g_array_append_vals(replay->locks, locks->data, locks->len);
        return g_steal_pointer(&replay->progress);
}
