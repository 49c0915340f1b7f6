/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Implements halt-request.h. The name of the file is the whole request, "TREE:TOKEN" or "TREE@INSTANCE:TOKEN", so that
 * a request is never incomplete. */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "definition/sources.h"
#include "record/halt-request.h"

#define DIRECTORY "halts"

bool token_valid(const char *token) {
        size_t length = strspn(token, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "_.-");

        return length > 0 && length <= TOKEN_MAX && token[length] == '\0';
}

static void request_free(void *data) {
        HaltRequest *request = data;

        g_free(request->path);
        g_free(request->tree);
        g_free(request->instance);
        g_free(request->token);
        g_free(request);
}

int halt_request_write(const char *runtime_directory, const char *tree, const char *instance, const char *token,
                       char **ret_path) {
        g_autofree char *directory = g_build_filename(runtime_directory, DIRECTORY, NULL), *path = NULL;
        g_autofree char *name = g_strdup_printf("%s%s%s:%s", tree, instance ? "@" : "", instance ?: "", token);
        g_auto(AutoFd) fd = -1;

        /* If no daemon has run since the boot, there is no run, and the parent directory is not created. */
        if (mkdir(directory, 0700) < 0 && errno != EEXIST)
                return -errno;

        path = g_build_filename(directory, name, NULL);
        fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0)
                return -errno;

        *ret_path = g_steal_pointer(&path);
        return 0;
}

GPtrArray *halt_requests_read(const char *runtime_directory) {
        g_autofree char *path = g_build_filename(runtime_directory, DIRECTORY, NULL);
        GPtrArray *requests = g_ptr_array_new_with_free_func(request_free);
        g_autoptr(GDir) directory = g_dir_open(path, 0, NULL);
        const char *name;

        while (directory && (name = g_dir_read_name(directory))) {
                g_autofree char *file = g_build_filename(path, name, NULL), *tree = NULL;
                const char *colon = strrchr(name, ':'), *at = strchr(name, '@');
                HaltRequest *request;
                struct stat st;

                if (!colon || !token_valid(colon + 1) || lstat(file, &st) < 0 || !S_ISREG(st.st_mode))
                        continue;

                tree = g_strndup(name, (size_t) ((at ?: colon) - name));
                if (!tree_name_valid(tree))
                        continue;

                request = g_new(HaltRequest, 1);
                *request = (HaltRequest){
                        .path = g_steal_pointer(&file),
                        .tree = g_steal_pointer(&tree),
                        .instance = at ? g_strndup(at + 1, (size_t) (colon - at - 1)) : NULL,
                        .token = g_strdup(colon + 1),
                        .uid = st.st_uid,
                };
                g_ptr_array_add(requests, request);
        }

        return requests;
}
