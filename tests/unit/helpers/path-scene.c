/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "path-scene.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "leaf-types/leaf-types.h"

static const NodeType *const types[] = { &path_exists_type, NULL };

void path_scene_open(PathScene *scene, const void *data) {
        scene->stage = leaf_stage_new(NULL);
        scene->top = g_dir_make_tmp("btd-paths-XXXXXX", NULL);
        g_assert_nonnull(scene->top);
        g_assert_cmpint(chmod(scene->top, 0755), ==, 0);
}

void path_scene_close(PathScene *scene, const void *data) {
        const char *const argv[] = { "rm", "-rf", scene->top, NULL };

        g_assert_true(
                g_spawn_sync(NULL, (char **) argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, NULL, NULL));
        leaf_stage_free(scene->stage);
        g_free(scene->top);
}

const char *path_scene_at(const PathScene *scene, const char *name) {
        g_autofree char *path = g_build_filename(scene->top, name, NULL);

        return g_intern_string(path);
}

void path_scene_make_directory(const PathScene *scene, const char *name) {
        g_assert_cmpint(mkdir(path_scene_at(scene, name), 0755), ==, 0);
}

void path_scene_make_file(const PathScene *scene, const char *name, const char *text) {
        int fd = open(path_scene_at(scene, name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

        g_assert_cmpint(fd, >=, 0);
        g_assert_cmpint(write(fd, text, strlen(text)), ==, strlen(text));
        close(fd);
}

void path_scene_make_link(const PathScene *scene, const char *name, const char *target) {
        g_assert_cmpint(symlink(target, path_scene_at(scene, name)), ==, 0);
}

void path_scene_drop(const PathScene *scene, const char *name) {
        g_assert_cmpint(remove(path_scene_at(scene, name)), ==, 0);
}

void path_scene_move(const PathScene *scene, const char *from, const char *to) {
        g_assert_cmpint(rename(path_scene_at(scene, from), path_scene_at(scene, to)), ==, 0);
}

TestLeaf *path_scene_start_node(const PathScene *scene, const char *node) {
        TestLeaf *leaf = leaf_stage_start(scene->stage, types, node);

        g_assert_cmpint(leaf->status, ==, STATUS_RUNNING);
        test_leaf_wait_reports(leaf, 1);
        leaf->n_reports = 0;
        return leaf;
}

TestLeaf *path_scene_start(const PathScene *scene, const char *name, const char *kind) {
        g_autofree char *node = g_strdup_printf("{ \"type\": \"PathExists\", \"path\": \"%s\", \"kind\": \"%s\" }",
                                                path_scene_at(scene, name), kind);

        return path_scene_start_node(scene, node);
}

void path_scene_wait_status(TestLeaf *leaf, Status status) {
        while (leaf->status != status)
                test_leaf_wait_reports(leaf, leaf->n_reports + 1);
}

void path_scene_wait_failure(const PathScene *scene, TestLeaf *leaf, const char *cause) {
        g_auto(GStrv) parts = g_strsplit(cause, "%", -1);
        g_autofree char *expected = g_strjoinv(scene->top, parts);

        while (leaf->status != STATUS_FAILURE || g_strcmp0(leaf->cause, expected) != 0)
                test_leaf_wait_reports(leaf, leaf->n_reports + 1);
}
