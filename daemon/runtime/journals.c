/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* One file a run. */

#include <errno.h>
#include <glib/gstdio.h>
#include <systemd/sd-id128.h>

#include "basic/log.h"
#include "journal/journal.h"
#include "runtime/journals.h"

struct Journals {
        char *directory; /* NULL: there are none */
        Archive *archive;
        char boot[SD_ID128_STRING_MAX];
};

Journals *journals_new(const char *runtime_directory, const char *state_directory) {
        Journals *journals = g_new0(Journals, 1);
        sd_id128_t boot = SD_ID128_NULL;

        (void) sd_id128_get_boot(&boot);
        sd_id128_to_string(boot, journals->boot);
        if (runtime_directory)
                journals->directory = g_build_filename(runtime_directory, "runs", NULL);
        if (state_directory) {
                g_autofree char *directory = g_build_filename(state_directory, "history", NULL);

                journals->archive = archive_new(directory);
        }

        return journals;
}

void journals_free(Journals *journals) {
        if (!journals)
                return;

        archive_free(journals->archive);
        g_free(journals->directory);
        g_free(journals);
}

const char *journals_boot(const Journals *journals) {
        return journals->boot;
}

Archive *journals_archive(const Journals *journals) {
        return journals->archive;
}

static char *path_of(const Journals *journals, const char *run) {
        g_autofree char *file = g_strconcat(run, JOURNAL_SUFFIX, NULL);

        return g_build_filename(journals->directory, file, NULL);
}

bool journals_are_kept(const Journals *journals) {
        return journals->directory;
}

int journals_begin(Journals *journals, const JournalHeader *header, JournalWriter **ret_writer, char **ret_error) {
        g_autofree char *path = path_of(journals, header->run);

        if (g_mkdir_with_parents(journals->directory, 0700) < 0) {
                int r = -errno;

                *ret_error = g_strdup_printf("%s cannot be made: %s", journals->directory, g_strerror(-r));
                return r;
        }

        return journal_writer_create(path, header, ret_writer, ret_error);
}

void journals_finish(Journals *journals, const char *run) {
        g_autofree char *path = NULL, *error = NULL;

        if (!journals_are_kept(journals))
                return;

        path = path_of(journals, run);
        if (!g_file_test(path, G_FILE_TEST_EXISTS))
                return;

        if (journals->archive && archive_add(journals->archive, run, path, &error) < 0)
                log_warning("The journal of %s is not kept: %s", run, error);
        g_unlink(path);
}
