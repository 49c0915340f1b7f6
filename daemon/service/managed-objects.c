/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Makes the reply to GetManagedObjects, one object after the other, with the same interfaces and properties that sd-bus
 * would send. Objects that have been removed since the answer was begun are left out. */

#include "service/managed-objects.h"
#include "service/object-path.h"
#include "service/run-bus.h"
#include "service/tree-bus.h"

/* path, {interface: {property: value}} */
#define OBJECT_SIGNATURE "{oa{sa{sv}}}"

bool managed_objects_is_call(sd_bus_message *message) {
        return sd_bus_message_is_method_call(message, "org.freedesktop.DBus.ObjectManager", "GetManagedObjects") > 0 &&
               g_str_equal(sd_bus_message_get_path(message), SERVICE_PATH) && sd_bus_message_is_empty(message) > 0;
}

/* Lists the paths: trees first, then runs. */
static int begin(Answer *answer, sd_bus_error *ret_error) {
        Manager *manager = published_manager(answer->userdata);
        g_autoptr(GPtrArray) entries = manager_trees(manager);
        const GPtrArray *runs = manager_runs(manager);

        answer->names = g_ptr_array_new_full(entries->len + runs->len, g_free);
        for (unsigned i = 0; i < entries->len; i++)
                g_ptr_array_add(answer->names, object_path_of_tree(((const LibraryEntry *) entries->pdata[i])->name));
        for (unsigned i = 0; i < runs->len; i++)
                g_ptr_array_add(answer->names, object_path_of_run(run_id(runs->pdata[i])));
        return 0;
}

static int append_property(Answer *answer, const char *path, const char *interface, const Property *property,
                           sd_bus_error *ret_error) {
        sd_bus_message *reply = answer->reply;
        int r = sd_bus_message_open_container(reply, 'e', "sv");

        if (r >= 0)
                r = sd_bus_message_append(reply, "s", property->name);
        if (r >= 0)
                r = sd_bus_message_open_container(reply, 'v', property->type);
        if (r >= 0)
                r = property->get(sd_bus_message_get_bus(reply), path, interface, property->name, reply,
                                  answer->userdata, ret_error);
        if (r >= 0)
                r = sd_bus_message_close_container(reply);
        return r < 0 ? r : sd_bus_message_close_container(reply);
}

static int append_interface(Answer *answer, const char *path, const ObjectKind *kind, sd_bus_error *ret_error) {
        sd_bus_message *reply = answer->reply;
        int r = sd_bus_message_open_container(reply, 'e', "sa{sv}");

        if (r >= 0)
                r = sd_bus_message_append(reply, "s", kind->interface);
        if (r >= 0)
                r = sd_bus_message_open_container(reply, 'a', "{sv}");
        for (const Property *property = kind->properties; r >= 0 && property->name; property++)
                r = append_property(answer, path, kind->interface, property, ret_error);
        if (r >= 0)
                r = sd_bus_message_close_container(reply);
        return r < 0 ? r : sd_bus_message_close_container(reply);
}

static int append_object(Answer *answer, const char *path, const ObjectKind *kind, sd_bus_error *ret_error) {
        sd_bus_message *reply = answer->reply;
        int r = sd_bus_message_open_container(reply, 'e', "oa{sa{sv}}");

        if (r >= 0)
                r = sd_bus_message_append(reply, "o", path);
        if (r >= 0)
                r = sd_bus_message_open_container(reply, 'a', "{sa{sv}}");
        if (r >= 0)
                r = sd_bus_message_append(reply, "{sa{sv}}{sa{sv}}{sa{sv}}", "org.freedesktop.DBus.Peer", 0,
                                          "org.freedesktop.DBus.Introspectable", 0, "org.freedesktop.DBus.Properties",
                                          0);
        if (r >= 0)
                r = append_interface(answer, path, kind, ret_error);
        if (r >= 0)
                r = sd_bus_message_close_container(reply);
        return r < 0 ? r : sd_bus_message_close_container(reply);
}

static int append(Answer *answer, sd_bus_error *ret_error) {
        sd_bus *bus = sd_bus_message_get_bus(answer->reply);
        const char *path;
        void *found;
        int r = 0;

        if (answer->next == answer->names->len)
                return 0;

        path = g_ptr_array_index(answer->names, answer->next++);
        if (tree_bus_find(bus, path, TREE_INTERFACE, answer->userdata, &found, ret_error) > 0)
                r = append_object(answer, path, &tree_kind, ret_error);
        else if (run_bus_find(bus, path, RUN_INTERFACE, answer->userdata, &found, ret_error) > 0)
                r = append_object(answer, path, &run_kind, ret_error);
        return r < 0 ? r : 1;
}

int managed_objects_get(Published *published, sd_bus_message *message, sd_bus_error *ret_error) {
        static const AnswerKind kind = { .array = OBJECT_SIGNATURE, .begin = begin, .append = append };

        return published_answer(published, message, &kind, ret_error);
}
