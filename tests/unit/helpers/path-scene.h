/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Prepares tests of PathExists and of path watches: a directory, and changes to the files in it. Names are below that
 * directory.
 */

#include "leaf-stage.h"

typedef struct PathScene {
        LeafStage *stage;
        char *top;
} PathScene;

/* For g_test_add(). */
void path_scene_open(PathScene *scene, const void *data);
void path_scene_close(PathScene *scene, const void *data);

/* The path of a name; valid until the test program has ended. */
const char *path_scene_at(const PathScene *scene, const char *name);
void path_scene_make_directory(const PathScene *scene, const char *name);
void path_scene_make_file(const PathScene *scene, const char *name, const char *text);
void path_scene_make_link(const PathScene *scene, const char *name, const char *target);
void path_scene_drop(const PathScene *scene, const char *name);
void path_scene_move(const PathScene *scene, const char *from, const char *to);

/* Starts a PathExists, and waits until its first value is known. Only later values are counted as reports. */
TestLeaf *path_scene_start_node(const PathScene *scene, const char *node);
/* The same with that kind. */
TestLeaf *path_scene_start(const PathScene *scene, const char *name, const char *kind);
void path_scene_wait_status(TestLeaf *leaf, Status status);
/* Until it fails for this reason, in which % stands for the top. */
void path_scene_wait_failure(const PathScene *scene, TestLeaf *leaf, const char *cause);
