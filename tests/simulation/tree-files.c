/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <glib.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "event-queue.h"
#include "simulation.h"
#include "trace.h"
#include "tree-files.h"
#include "troubles.h"

/* How long the file of a tree is missing or broken. */
#define BROKEN_USEC 2000000u
#define BEGIN_MOST 2000000u

static struct {
        bool away[TREES_MOST];          /* the file is missing */
        bool began_without[TREES_MOST]; /* it was when the present daemon began */
        bool wanted[TREES_MOST];        /* a daemon that has had it was ready */
        bool ready;                     /* the present daemon */
} files;

typedef struct TreeFile {
        unsigned tree;
        char *path, *text;
        bool missing; /* or broken */
        char *dropin; /* this file breaks it; NULL: its own text does */
        bool reloads; /* the trees are loaded meanwhile */
} TreeFile;

static void tree_file_free(void *data) {
        TreeFile *file = data;

        g_free(file->path);
        g_free(file->text);
        g_free(file->dropin);
        g_free(file);
}

static void reload(void) {
        (void) kill(getpid(), SIGHUP);
}

static void on_reload(void *userdata) {
        reload();
}

static void on_restored(void *userdata) {
        TreeFile *file = userdata;

        trace("%s is there again", file->path);
        files.away[file->tree] = false;
        if (file->dropin)
                (void) g_unlink(file->dropin);
        else if (!g_file_set_contents(file->path, file->text, -1, NULL))
                g_error("cannot write %s", file->path);
        reload();
        tree_file_free(file);
}

/* It is wrong, or changes the tree and nothing that a run does. */
static void put_dropin(const char *path) {
        static const char *const texts[] = { "{ \"root\": 5 }",
                                             "{ \"description\": \"changed\", \"interval\": \"50ms\" }", "{ " };
        Dice dice = troubles_dice(TROUBLE_FILES, 1 + g_str_hash(strrchr(path, '/')));
        g_autofree char *directory = g_path_get_dirname(path);

        (void) g_mkdir_with_parents(directory, 0700);
        if (!g_file_set_contents(path, texts[dice_below(&dice, G_N_ELEMENTS(texts))], -1, NULL))
                g_error("cannot write %s", path);
}

static void on_broken(void *userdata) {
        TreeFile *file = userdata;

        trace("%s is %s", file->path, file->missing ? "missing" : "broken");
        if (!g_file_get_contents(file->path, &file->text, NULL, NULL))
                g_error("cannot read %s", file->path);
        files.away[file->tree] = file->missing;
        if (file->missing)
                (void) g_unlink(file->path);
        else if (file->dropin)
                put_dropin(file->dropin);
        else if (!g_file_set_contents(file->path, "{ \"btd\": 1, \"ro", -1, NULL))
                g_error("cannot write %s", file->path);

        if (file->reloads)
                event_queue_add(BROKEN_USEC / 4, on_reload, NULL, NULL);
        event_queue_add(BROKEN_USEC, on_restored, file, tree_file_free);
}

/* Once for each tree. */
void tree_files_open(const char *directory, unsigned n_trees) {
        Dice dice = troubles_dice(TROUBLE_FILES, 0), dropins = troubles_dice(TROUBLE_FILES, 1);

        memset(&files, 0, sizeof(files));
        for (unsigned i = 0; i < n_trees && troubles_have(TROUBLE_FILES); i++) {
                TreeFile *file = g_new0(TreeFile, 1);

                file->tree = i;
                file->path = g_strdup_printf("%s/trees/t%u.json", directory, i);
                file->missing = dice_chance(&dice, 50);
                file->reloads = dice_chance(&dice, 50);
                if (!file->missing && dice_chance(&dropins, 50))
                        file->dropin = g_strdup_printf("%s.d/t%u.json", file->path, i);
                event_queue_add(dice_below(&dice, dice_chance(&dice, 50) ? BEGIN_MOST : BEGIN_MOST / 20), on_broken,
                                file, tree_file_free);
        }
}

void tree_files_note_life(void) {
        files.ready = false;
        memcpy(files.began_without, files.away, sizeof(files.away));
}

void tree_files_note_ready(void) {
        for (unsigned i = 0; i < TREES_MOST && !files.ready; i++)
                files.wanted[i] |= !files.began_without[i] && !files.away[i];
        files.ready = true;
}

bool tree_files_are_wanted(unsigned tree) {
        return files.wanted[tree];
}
