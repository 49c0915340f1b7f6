/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Defines g_autoptr for types of other libraries that do not have it.
 */

#include <glib.h>
#include <json-c/json_object.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

static inline void cleanup_json_object(json_object *value) {
        json_object_put(value);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(json_object, cleanup_json_object)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(sd_bus, sd_bus_flush_close_unref)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(sd_bus_message, sd_bus_message_unref)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(sd_bus_slot, sd_bus_slot_unref)
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(sd_bus_error, sd_bus_error_free)

/* A file descriptor that is closed at the end of its scope: g_auto(AutoFd) fd = -1; */
typedef int AutoFd;

static inline void cleanup_fd(AutoFd fd) {
        close(fd);
}

G_DEFINE_AUTO_CLEANUP_FREE_FUNC(AutoFd, cleanup_fd, -1)
