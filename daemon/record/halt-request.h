/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Stores requests to halt runs that btctl makes while no daemon is on the bus: files beside the run records. A daemon
 * reads them when it has recovered its runs, and whenever it gets its bus name again. Only root, or the user who owns
 * the directory, can write them.
 */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* A file name must have room for a token and the names of a tree and an instance. */
#define TOKEN_MAX 50u

bool token_valid(const char *token);

typedef struct HaltRequest {
        char *path;
        char *tree, *instance, *token; /* instance NULL: any */
        uint32_t uid;                  /* the user who made the request */
} HaltRequest;

/* Writes a request. ret_path: its file, to be freed. A negative errno: it could not be written. */
int halt_request_write(const char *runtime_directory, const char *tree, const char *instance, const char *token,
                       char **ret_path);

/* All requests, of HaltRequest; each stays until its file is removed. */
GPtrArray *halt_requests_read(const char *runtime_directory);
