/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Registers the names of our errors with sd-bus, and maps the errors of the manager to them. */

#include <errno.h>
#include <stddef.h>

#include "basic/cleanup.h"
#include "runtime/manager.h"
#include "service/errors.h"

static const sd_bus_error_map errors[] = {
        SD_BUS_ERROR_MAP(ERROR_NO_SUCH_TREE, -MANAGER_NO_SUCH_TREE),
        SD_BUS_ERROR_MAP(ERROR_NO_SUCH_RUN, -MANAGER_NO_SUCH_RUN),
        SD_BUS_ERROR_MAP(ERROR_NO_SUCH_VARIABLE, ENOKEY),
        SD_BUS_ERROR_MAP(ERROR_NOT_PAUSED, -MANAGER_NOT_PAUSED),
        SD_BUS_ERROR_MAP(ERROR_NOTHING_HAPPENED, -MANAGER_NOTHING_HAPPENED),
        SD_BUS_ERROR_MAP(ERROR_ALREADY_RUNNING, -MANAGER_ALREADY_RUNNING),
        SD_BUS_ERROR_MAP(ERROR_TREE_BROKEN, -MANAGER_TREE_BROKEN),
        SD_BUS_ERROR_MAP(ERROR_NOT_RUNNING, -MANAGER_NOT_RUNNING),
        SD_BUS_ERROR_MAP(ERROR_INVALID_ARGUMENT, EINVAL),
        SD_BUS_ERROR_MAP(ERROR_MISSING_INPUT, -MANAGER_MISSING_INPUT),
        SD_BUS_ERROR_MAP(ERROR_STOPPING, -MANAGER_STOPPING),
        SD_BUS_ERROR_MAP(ERROR_LIMIT_EXCEEDED, -MANAGER_LIMIT),
        SD_BUS_ERROR_MAP(ERROR_ACCESS_DENIED, EACCES),
        SD_BUS_ERROR_MAP(ERROR_DAMAGED_RECORD, EBADMSG),
        SD_BUS_ERROR_MAP_END,
};

void errors_register(void) {
        int r = sd_bus_error_add_map(errors);

        if (r < 0)
                g_error("cannot register errors: %s", g_strerror(-r)); /* out of memory: abort like g_new() */
}

int error_from_manager(sd_bus_error *ret_error, int r, const char *text) {
        const sd_bus_error_map *error = errors;

        /* The caller gets no reply yet, see operations_retry(). */
        if (r == MANAGER_NOT_YET)
                return r;

        while (error->name && error->code != -r)
                error++;

        return sd_bus_error_set(ret_error, error->name ? error->name : SD_BUS_ERROR_FAILED, text);
}

int error_from_message(sd_bus_error *ret_error, int r) {
        /* sd-bus refuses more characters than a bus. */
        return r == -EBADMSG ? sd_bus_error_set(ret_error, ERROR_INVALID_ARGUMENT,
                                                "an argument is invalid: its text may have a character that Unicode "
                                                "does not assign, such as U+FFFE")
                             : r;
}

void error_reply(sd_bus_message *call, int r) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;

        r = error_from_message(&error, r);
        if (sd_bus_error_is_set(&error))
                (void) sd_bus_reply_method_error(call, &error);
        else
                (void) sd_bus_reply_method_errno(call, r, NULL);
}
