/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "camera.h"
#include "basic/cleanup.h"

#define EMITS "org.freedesktop.DBus.Property.EmitsChangedSignal"
#define PROPERTIES "org.freedesktop.DBus.Properties"

static int camera_answer_get(Camera *camera, sd_bus_message *message, bool powered) {
        const char *property = NULL;

        if (camera->gone)
                return sd_bus_reply_method_errorf(message, SD_BUS_ERROR_UNKNOWN_OBJECT, "no such object");

        if (camera->odd)
                return sd_bus_reply_method_return(message, "s", "yes");

        g_assert_cmpint(sd_bus_message_rewind(message, true), >=, 0);
        g_assert_cmpint(sd_bus_message_read(message, "ss", NULL, &property), >, 0);
        if (g_str_equal(property, "Powered"))
                return sd_bus_reply_method_return(message, "v", "b", powered);
        if (g_str_equal(property, "Mute"))
                return sd_bus_reply_method_error(message, &SD_BUS_ERROR_MAKE_CONST("org.example.Error.Mute", NULL));
        if (g_str_equal(property, "Count"))
                return sd_bus_reply_method_return(message, "v", "u", 3);
        if (g_str_equal(property, "Zero"))
                return sd_bus_reply_method_return(message, "v", "d", 0.0);
        if (g_str_equal(property, "Mode"))
                return sd_bus_reply_method_return(message, "v", "s", "auto");
        if (g_str_equal(property, "Empty"))
                return sd_bus_reply_method_return(message, "v", "as", 0);
        if (g_str_equal(property, "Config"))
                return sd_bus_reply_method_return(message, "v", "a{sv}", 3, "mode", "s", "auto", "sizes", "au", 2, 640,
                                                  480, "on", "b", powered);
        return sd_bus_reply_method_errorf(message, SD_BUS_ERROR_UNKNOWN_PROPERTY, "no property %s", property);
}

static int camera_get(Camera *camera, sd_bus_message *message) {
        camera->n_gets++;
        if (!camera->late)
                return camera_answer_get(camera, message, camera->powered);

        g_assert_null(camera->get);
        camera->get = sd_bus_message_ref(message);
        return 1;
}

void camera_answer(Camera *camera, bool powered) {
        g_assert_cmpint(camera_answer_get(camera, camera->get, powered), >=, 0);
        g_clear_pointer(&camera->get, sd_bus_message_unref);
}

static int on_camera_call(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        Camera *camera = userdata;
        const char *member = sd_bus_message_get_member(message);

        if (sd_bus_message_is_method_call(message, PROPERTIES, "Get") > 0)
                return camera_get(camera, message);

        if (g_str_equal(member, "Introspect")) {
                camera->n_introspections++;
                return sd_bus_reply_method_return(message, "s",
                                                  "<!DOCTYPE node><node><interface name=\"org.example.Other\">"
                                                  "<annotation name=\"" EMITS "\" value=\"false\"/></interface>"
                                                  "<interface name=\"" CAMERA "\"><method name=\"Start\"/>"
                                                  "<property name=\"Powered\" type=\"b\" access=\"read\"/>"
                                                  "<property name=\"Count\" type=\"u\" access=\"read\">"
                                                  "<annotation name=\"" EMITS "\" value=\"const\"/></property>"
                                                  "<property name=\"Mode\" type=\"s\" access=\"read\">"
                                                  "<annotation name=\"" EMITS
                                                  "\" value=\"false\"/></property></interface></node>");
        }

        camera->n_calls++;
        if (g_str_equal(member, "Start"))
                return sd_bus_reply_method_return(message, "sua{sv}", "preview", 30, 1, "width", "u", 640);
        if (g_str_equal(member, "Busy"))
                return sd_bus_error_set(ret_error, "org.example.Error.Busy", "the camera is in use");
        if (g_str_equal(member, "Mute"))
                return sd_bus_error_set(ret_error, "org.example.Error.Mute", NULL);
        if (g_str_equal(member, "Nothing"))
                return sd_bus_reply_method_return(message, NULL);
        if (g_str_equal(member, "File"))
                return sd_bus_reply_method_return(message, "h", 0);
        if (g_str_equal(member, "Files"))
                return sd_bus_reply_method_return(message, "a{sv}", 2, "a", "u", 1, "b", "(sv)", "c", "ah", 1, 0);
        if (g_str_equal(member, "Say")) {
                const char *path;

                g_assert_cmpint(sd_bus_message_read(message, "o", &path), >, 0);
                g_assert_cmpint(sd_bus_emit_signal(bus_peer_bus(camera->peer), path, CAMERA, "Called", NULL), >=, 0);
                return sd_bus_reply_method_return(message, NULL);
        }
        if (g_str_equal(member, "Echo")) {
                g_autoptr(sd_bus_message) reply = NULL;

                g_assert_cmpint(sd_bus_message_new_method_return(message, &reply), >=, 0);
                g_assert_cmpint(sd_bus_message_copy(reply, message, true), >=, 0);
                return sd_bus_send(NULL, reply, NULL);
        }

        g_assert_cmpstr(member, ==, "Hang");
        return 1;
}

/* Below its path there are objects of the same kind. */
static void open_camera(Camera *camera, const BusFixture *bus, const char *name, bool powered) {
        *camera = (Camera){ .peer = bus_peer_new(bus, name), .powered = powered };
        g_assert_cmpint(sd_bus_add_fallback(bus_peer_bus(camera->peer), NULL, CAMERA_PATH, on_camera_call, camera), >=,
                        0);
}

void camera_open(Camera *camera, const BusFixture *bus, bool powered) {
        open_camera(camera, bus, CAMERA, powered);
}

void camera_open_unnamed(Camera *camera, const BusFixture *bus, bool powered) {
        open_camera(camera, bus, NULL, powered);
}

void camera_close(Camera *camera) {
        sd_bus_message_unref(camera->get);
        bus_peer_free(camera->peer);
        *camera = (Camera){ 0 };
}

void say_powered(BusPeer *peer, bool powered) {
        g_assert_cmpint(sd_bus_emit_signal(bus_peer_bus(peer), CAMERA_PATH, PROPERTIES, "PropertiesChanged", "sa{sv}as",
                                           CAMERA, 2, "Other", "s", "x", "Powered", "b", powered, 0),
                        >=, 0);
}

void camera_invalidate(Camera *camera) {
        g_assert_cmpint(sd_bus_emit_signal(bus_peer_bus(camera->peer), CAMERA_PATH, PROPERTIES, "PropertiesChanged",
                                           "sa{sv}as", CAMERA, 1, "Other", "u", 1, 2, "Else", "Powered"),
                        >=, 0);
}

void camera_remove_object(Camera *camera) {
        camera->gone = true;
        g_assert_cmpint(sd_bus_emit_signal(bus_peer_bus(camera->peer), "/org/example",
                                           "org.freedesktop.DBus.ObjectManager", "InterfacesRemoved", "oas",
                                           CAMERA_PATH, 2, "org.example.Other", CAMERA),
                        >=, 0);
}

void camera_add_object(Camera *camera) {
        camera->gone = false;
        g_assert_cmpint(sd_bus_emit_signal(bus_peer_bus(camera->peer), "/org/example",
                                           "org.freedesktop.DBus.ObjectManager", "InterfacesAdded", "oa{sa{sv}}",
                                           CAMERA_PATH, 2, "org.example.Other", 0, CAMERA, 0),
                        >=, 0);
}
