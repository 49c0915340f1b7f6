/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Gives every file of the directories on the command line to a fuzz target: corpora are tests with any compiler. */

#include <glib.h>
#include <stdbool.h>
#include <stdlib.h>

#include "fuzz.h"

static bool run_file(const char *path) {
        g_autofree char *data = NULL;
        g_autoptr(GError) error = NULL;
        size_t size;

        if (!g_file_get_contents(path, &data, &size, &error)) {
                g_printerr("%s\n", error->message);
                return false;
        }

        (void) LLVMFuzzerTestOneInput((const uint8_t *) data, size);
        return true;
}

static bool run_directory(const char *path, unsigned *n_files) {
        g_autoptr(GError) error = NULL;
        g_autoptr(GDir) dir = g_dir_open(path, 0, &error);
        const char *name;

        if (!dir) {
                g_printerr("%s\n", error->message);
                return false;
        }

        while ((name = g_dir_read_name(dir))) {
                g_autofree char *file = g_build_filename(path, name, NULL);

                if (!run_file(file))
                        return false;
                (*n_files)++;
        }

        return true;
}

int main(int argc, char **argv) {
        unsigned n_files = 0;

        for (int i = 1; i < argc; i++)
                if (!run_directory(argv[i], &n_files))
                        return EXIT_FAILURE;

        g_print("%u files\n", n_files);
        return n_files > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
