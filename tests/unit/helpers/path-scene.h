/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Prepares tests of PathExists and of path watches: a directory, and changes to the files in it. Names are below that
 * directory.
 */

#include "leaf-stage.h"

typedef struct Scene {
        LeafStage *stage;
        char *top;
} Scene;

/* For g_test_add(). */
void scene_open(Scene *scene, const void *data);
void scene_close(Scene *scene, const void *data);

/* The path of a name; valid until the test program has ended. */
const char *scene_at(const Scene *scene, const char *name);
void scene_make_directory(const Scene *scene, const char *name);
void scene_make_file(const Scene *scene, const char *name, const char *text);
void scene_make_link(const Scene *scene, const char *name, const char *target);
void scene_drop(const Scene *scene, const char *name);
void scene_move(const Scene *scene, const char *from, const char *to);

/* Starts a PathExists, and waits until its first value is known. Only later values are counted as reports. */
TestLeaf *scene_start_node(const Scene *scene, const char *node);
/* The same with that kind. */
TestLeaf *scene_start(const Scene *scene, const char *name, const char *kind);
void scene_wait_status(TestLeaf *leaf, Status status);
/* Until it fails for this reason, in which % stands for the top. */
void scene_wait_failure(const Scene *scene, TestLeaf *leaf, const char *cause);
