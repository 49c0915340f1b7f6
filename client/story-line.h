/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The events of a story as lines: of text for people, of JSON for programs.
 */

#include "output.h"
#include "story.h"

/* Without an end of line. */
void story_line_append(const Output *output, GString *line, const Recording *recording, const StoryEvent *event);
json_object *story_event_to_json(const Recording *recording, const StoryEvent *event);
