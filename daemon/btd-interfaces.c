/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Prints the introspection XML of an interface from the tables of methods, signals and properties. It is run at build
 * time; the result is installed for programs that generate bindings. */

#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "basic/dbus-value.h"
#include "service/manager-bus.h"
#include "service/run-bus.h"
#include "service/tree-bus.h"

/* Prints an argument for each complete type. names: one after the other, each with its NUL. Returns the rest of them.
 */
static const char *print_arguments(const char *signature, const char *names, const char *direction) {
        size_t length;

        for (; *signature; signature += length, names += strlen(names) + 1) {
                length = signature_first(signature);
                printf("      <arg type=\"%.*s\" name=\"%s\"%s/>\n", (int) length, signature, names, direction);
        }

        return names;
}

static void print_row(const sd_bus_vtable *row) {
        const char *names;

        if (row->type == _SD_BUS_VTABLE_METHOD) {
                printf("    <method name=\"%s\">\n", row->x.method.member);
                names = print_arguments(row->x.method.signature ?: "", row->x.method.names, " direction=\"in\"");
                print_arguments(row->x.method.result ?: "", names, " direction=\"out\"");
                printf("    </method>\n");
        } else if (row->type == _SD_BUS_VTABLE_SIGNAL) {
                printf("    <signal name=\"%s\">\n", row->x.signal.member);
                print_arguments(row->x.signal.signature ?: "", row->x.signal.names, "");
                printf("    </signal>\n");
        }
}

static void print_property(const Property *property) {
        const char *told = property->changes & CHANGES_NEVER      ? "const"
                           : property->changes & CHANGES_SILENTLY ? "false"
                           : property->changes & WITHOUT_VALUE    ? "invalidates"
                                                                  : "true";

        printf("    <property name=\"%s\" type=\"%s\" access=\"read\">\n"
               "      <annotation name=\"org.freedesktop.DBus.Property.EmitsChangedSignal\" value=\"%s\"/>\n"
               "    </property>\n",
               property->name, property->type, told);
}

int main(int argc, char **argv) {
        static const ObjectKind *const kinds[] = { &manager_kind, &tree_kind, &run_kind };

        for (size_t i = 0; argc == 2 && i < G_N_ELEMENTS(kinds); i++) {
                if (!g_str_equal(argv[1], kinds[i]->interface))
                        continue;

                printf("<!DOCTYPE node PUBLIC \"-//freedesktop//DTD D-BUS Object Introspection 1.0//EN\"\n"
                       "\"http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd\">\n"
                       "<!-- SPDX-License-Identifier: LGPL-2.1-or-later -->\n"
                       "<node>\n  <interface name=\"%s\">\n",
                       argv[1]);
                for (const sd_bus_vtable *row = kinds[i]->methods; row->type != _SD_BUS_VTABLE_END; row++)
                        print_row(row);
                for (const Property *property = kinds[i]->properties; property->name; property++)
                        print_property(property);
                printf("  </interface>\n</node>\n");
                return EXIT_SUCCESS;
        }

        fprintf(stderr, "Usage: btd-interfaces INTERFACE\n");
        return EXIT_FAILURE;
}
