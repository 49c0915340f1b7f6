/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A run that is replayed, in the form in which btd tells of a run.
 */

#include "journal/replay.h"
#include "node-info.h"
#include "recording.h"
#include "run-info.h"

/* time: in microseconds since the start of the run, where the replay has come to. */
RunInfo *replay_view_run(const Recording *recording, const Replay *replay, uint64_t time);
GPtrArray *replay_view_nodes(const Recording *recording, const Replay *replay, uint64_t time);
/* See cause-chain.h. */
json_object *replay_view_causes(const Recording *recording, const Replay *replay);
