/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Implements sources.h. Only regular files of a limited size are read, so that no file can block or exhaust the daemon.
 * A system daemon has fixed directories; those of a user come from the XDG variables. */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "basic/cleanup.h"
#include "basic/nearest.h"
#include "definition/sources.h"
#include "definition/text/text.h"

bool tree_name_valid(const char *name) {
        size_t length = strspn(name, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "_-");

        return length > 0 && length <= TREE_NAME_MAX && name[length] == '\0';
}

static int refuse(int error, char *text, char **ret_error) {
        *ret_error = text;
        return error;
}

int source_read_checked(const char *path, SourceRefusal refusal, char **ret_text, size_t *ret_length,
                        char **ret_error) {
        g_auto(AutoFd) fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        guint8 block[64 * 1024];
        struct stat st;
        ssize_t n;
        int r;

        if (fd < 0 || fstat(fd, &st) < 0) {
                r = -errno;
                return refuse(r, g_strdup_printf("cannot be opened: %s", g_strerror(-r)), ret_error);
        }

        /* Reading pipes and devices could block. */
        if (S_ISDIR(st.st_mode))
                return refuse(-EISDIR, g_strdup("is a directory, not a regular file"), ret_error);
        if (!S_ISREG(st.st_mode))
                return refuse(-EINVAL, g_strdup("is not a regular file"), ret_error);
        if (refusal && (*ret_error = refusal(path, &st)))
                return -EPERM;

        /* It stops soon after the limit, because then the file is too large. */
        while (bytes->len <= TEXT_LENGTH_MAX && (n = read(fd, block, sizeof(block))) != 0) {
                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return refuse(-errno, g_strdup_printf("cannot be read: %s", g_strerror(errno)), ret_error);

                g_byte_array_append(bytes, block, (unsigned) n);
        }
        if (bytes->len > TEXT_LENGTH_MAX)
                return refuse(-EFBIG, g_strdup_printf("is too large: more than %u MiB", TEXT_LENGTH_MAX >> 20),
                              ret_error);

        *ret_length = bytes->len;
        g_byte_array_append(bytes, (const guint8 *) "", 1);
        *ret_text = (char *) g_byte_array_free(g_steal_pointer(&bytes), false);
        return 0;
}

int source_read(const char *path, char **ret_text, size_t *ret_length, char **ret_error) {
        return source_read_checked(path, NULL, ret_text, ret_length, ret_error);
}

/* See Documentation/admin-guide/devices.txt of Linux. */
#define DEV_NULL makedev(1, 3)

char *source_id(const char *path) {
        return g_canonicalize_filename(path, NULL);
}

static void add(GPtrArray *path, const char *base, const char *directory) {
        g_ptr_array_add(path, g_build_filename(base, directory, NULL));
}

char **search_path_new(bool user) {
        GPtrArray *path = g_ptr_array_new();

        if (user) {
                add(path, g_get_user_config_dir(), "btd/trees");
                add(path, SYSCONFDIR, "btd/user-trees");
                add(path, g_get_user_runtime_dir(), "btd/trees");
                add(path, g_get_user_data_dir(), "btd/trees");
                add(path, "/usr/local/lib", "btd/user-trees");
                add(path, "/usr/lib", "btd/user-trees");
        } else {
                add(path, SYSCONFDIR, "btd/trees");
                add(path, "/run", "btd/trees");
                add(path, "/usr/local/lib", "btd/trees");
                add(path, "/usr/lib", "btd/trees");
        }

        g_ptr_array_add(path, NULL);
        return (char **) g_ptr_array_free(path, FALSE);
}

bool search_path_is_mask(const struct stat *st) {
        return S_ISCHR(st->st_mode) && st->st_rdev == DEV_NULL;
}

char *search_path_find(const char *const *directories, const char *file) {
        for (; *directories; directories++) {
                g_autofree char *path = g_build_filename(*directories, file, NULL);
                struct stat st;

                if (lstat(path, &st) < 0)
                        continue;

                /* A broken link also hides files in later directories. */
                return stat(path, &st) >= 0 && search_path_is_mask(&st) ? NULL : g_steal_pointer(&path);
        }

        return NULL;
}

char *search_path_dropin_directory(const char *directory, const char *path) {
        g_autofree char *base = g_path_get_basename(path), *name = g_strconcat(base, ".d", NULL);

        return g_build_filename(g_str_equal(directory, ".") ? "" : directory, name, NULL);
}

/* Adds the entries that no directory before has: name -> path. */
static int list_directory(const char *directory, const char *suffix, SourceRefusal refusal, GTree *found,
                          char **ret_error) {
        DIR *stream = opendir(directory);
        g_autofree char *refused = NULL;
        const struct dirent *file;
        struct stat st;
        int r = -errno;

        /* Something else around the directory is a fault of that one alone. */
        if (!stream && (r == -ENOENT || (r == -ENOTDIR && lstat(directory, &st) < 0)))
                return 0;
        if (!stream)
                return refuse(r, g_strdup_printf("'%s' cannot be read: %s", directory, g_strerror(-r)), ret_error);

        if (refusal && fstat(dirfd(stream), &st) >= 0)
                refused = refusal(directory, &st);
        while (!refused && (file = readdir(stream)))
                if (file->d_name[0] != '.' && g_str_has_suffix(file->d_name, suffix) &&
                    !g_tree_lookup(found, file->d_name))
                        g_tree_insert(found, g_strdup(file->d_name), g_build_filename(directory, file->d_name, NULL));
        closedir(stream);

        return refused ? refuse(-EPERM, g_strdup_printf("'%s' %s", directory, refused), ret_error) : 0;
}

static int compare_names(const void *a, const void *b, void *userdata) {
        return strcmp(a, b);
}

static gboolean on_listed(void *name, void *path, void *paths) {
        struct stat st;

        /* An empty file masks, too. */
        if (stat(path, &st) < 0 || !(search_path_is_mask(&st) || (S_ISREG(st.st_mode) && st.st_size == 0)))
                g_ptr_array_add(paths, g_strdup(path));

        return false;
}

int search_path_list(const char *const *directories, const char *suffix, SourceRefusal refusal, GPtrArray *paths,
                     char **ret_error) {
        g_autoptr(GTree) found = g_tree_new_full(compare_names, NULL, g_free, g_free);

        for (; *directories; directories++) {
                int r = list_directory(*directories, suffix, refusal, found, ret_error);

                if (r < 0)
                        return r;
        }

        g_tree_foreach(found, on_listed, paths);
        return 0;
}

int search_path_dropins(const char *const *directories, const char *path, SourceRefusal refusal, GPtrArray *paths,
                        char **ret_error) {
        g_autoptr(GPtrArray) inside = g_ptr_array_new_with_free_func(g_free);
        g_autofree char *id = source_id(path), *own = g_path_get_dirname(id);
        bool listed = false;

        for (const char *const *directory = directories; *directory; directory++) {
                g_autofree char *canonical = source_id(*directory);

                listed |= g_str_equal(canonical, own);
                g_ptr_array_add(inside, search_path_dropin_directory(*directory, path));
        }
        g_ptr_array_add(inside, NULL);

        if (!listed || !g_str_has_suffix(path, TREE_SUFFIX))
                return 0;

        return search_path_list((const char *const *) inside->pdata, TREE_SUFFIX, refusal, paths, ret_error);
}

char *search_path_nearest(const char *const *directories, const char *tree) {
        g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
        Nearest nearest = { .word = tree };

        for (; *directories; directories++) {
                g_autoptr(GDir) dir = g_dir_open(*directories, 0, NULL);
                const char *file;

                while (dir && (file = g_dir_read_name(dir))) {
                        char *name;

                        if (!g_str_has_suffix(file, TREE_SUFFIX))
                                continue;

                        name = g_strndup(file, strlen(file) - strlen(TREE_SUFFIX));
                        g_ptr_array_add(names, name);
                        nearest_offer(&nearest, name);
                }
        }

        return g_strdup(nearest.best);
}

static char *on_find(const char *file, void *userdata) {
        return search_path_find(userdata, file);
}

static char *on_nearest(const char *tree, void *userdata) {
        return search_path_nearest(userdata, tree);
}

static int on_dropins(const char *path, GPtrArray *paths, char **ret_error, void *userdata) {
        return search_path_dropins(userdata, path, NULL, paths, ret_error);
}

DefinitionSources search_path_sources(const char *const *directories) {
        return (DefinitionSources){
                .find = on_find, .nearest = on_nearest, .dropins = on_dropins, .userdata = (void *) directories
        };
}
