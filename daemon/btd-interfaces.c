/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Prints the introspection XML of an interface from the tables of methods, signals and properties, with the beginning
 * of what the manual page says about each. It is run at build time; the result is installed for programs that generate
 * bindings. */

#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/dbus-value.h"
#include "service/manager-bus.h"
#include "service/run-bus.h"
#include "service/tree-bus.h"

/* Appends the words of a macro line as text: the names of macros are left out, "Ns" joins its neighbours, and an
 * enclosure ends before the punctuation at the end of the line. */
static void append_macros(GString *text, const char *line) {
        static const char *const enclosures[][3] = { { "Pq", "(", ")" }, { "Dq", "\"", "\"" }, { "Ql", "'", "'" } };
        g_auto(GStrv) words = g_strsplit(line, " ", -1);
        const char *end = NULL, *section = NULL;
        bool join = false;

        for (unsigned i = 0; words[i]; i++) {
                bool is_mark = strlen(words[i]) == 1 && strchr(".,;:)", *words[i]);
                const char *begin = NULL;

                if (end && is_mark)
                        g_string_append(text, g_steal_pointer(&end));
                for (size_t k = 0; k < G_N_ELEMENTS(enclosures); k++)
                        if (g_str_equal(words[i], enclosures[k][0])) {
                                begin = enclosures[k][1];
                                end = enclosures[k][2];
                        }
                if (!begin && strlen(words[i]) == 2 && g_ascii_isupper(words[i][0]) && g_ascii_islower(words[i][1])) {
                        join |= g_str_equal(words[i], "Ns");
                        if (g_str_equal(words[i], "Nm"))
                                g_string_append(text, " btd");
                        else if (g_str_equal(words[i], "Xr"))
                                section = words[i + 2];
                        continue;
                }

                if (text->len > 0 && !join && !is_mark && text->str[text->len - 1] != '(')
                        g_string_append_c(text, ' ');
                join = begin;
                g_string_append_printf(text, words[i] == section ? "(%s)" : "%s", begin ?: words[i]);
                if (words[i + 1] && words[i + 1] == section)
                        join = true;
        }
        g_string_append(text, end ?: "");
}

static void print_annotation(const char *name, const char *value) {
        g_autofree char *escaped = g_markup_escape_text(value, -1);

        printf("      <annotation name=\"%s\" value=\"%s\"/>\n", name, escaped);
}

/* Prints the first paragraph about a member in the page. Ends the program if it has none. */
static void print_description(const char *page, const char *title, const char *interface, const char *member) {
        g_autofree char *section = g_strdup_printf("\n.Ss %s of %s\n", title, interface),
                        *item = g_strdup_printf("\n.It Li %s", member);
        static const char *const escapes[][2] = {
                { "\\(dq", "\"" }, { "\\(em", "\u2014" }, { "\\&", "" }, { "\\e", "\\" }
        };
        const char *begin = strstr(page, section), *next;
        g_autoptr(GString) text = g_string_new(NULL);
        g_auto(GStrv) lines = NULL;

        next = begin ? strstr(begin + strlen(section), "\n.Ss ") : NULL;
        for (begin = begin ? strstr(begin, item) : NULL;
             begin && begin[strlen(item)] != ' ' && begin[strlen(item)] != '\n';)
                begin = strstr(begin + 1, item);
        if (!begin || (next && begin > next)) {
                fprintf(stderr, "btd-interfaces: the page does not describe %s of %s\n", member, interface);
                exit(EXIT_FAILURE);
        }

        lines = g_strsplit(begin + strlen(item), "\n", 50);
        for (char **line = lines + 1; *line; line++) {
                static const char *const ends[] = { ".Pp", ".Bl", ".Bd", ".It", ".El", ".Ss", ".Sh" };
                bool ended = false;

                for (size_t i = 0; i < G_N_ELEMENTS(ends); i++)
                        ended |= g_str_has_prefix(*line, ends[i]);
                if (ended)
                        break;
                if (g_str_has_prefix(*line, ".\\\""))
                        continue;
                if (**line == '.')
                        append_macros(text, *line + 1);
                else
                        g_string_append_printf(text, "%s%s", text->len > 0 ? " " : "", *line);
        }
        /* A list follows the last sentence. */
        while (text->len > 0 && text->str[text->len - 1] != '.')
                g_string_truncate(text, text->len - 1);
        for (size_t i = 0; i < G_N_ELEMENTS(escapes); i++) {
                g_auto(GStrv) parts = g_strsplit(text->str, escapes[i][0], -1);
                g_autofree char *replaced = g_strjoinv(escapes[i][1], parts);

                g_string_assign(text, replaced);
        }
        print_annotation("org.gtk.GDBus.DocString", text->str);
}

/* For Qt's generator: the name of a type that it does not know. A program defines the types of nodes itself. */
static const char *qt_type(const char *type) {
        static const char *const types[][2] = {
                { "a{sv}", "QVariantMap" },
                { "aa{sv}", "QList<QVariantMap>" },
                { "au", "QList<uint>" },
                { "a" RUN_NODE_SIGNATURE, "BtdRunNodes" },
                { "a" TREE_NODE_SIGNATURE, "BtdTreeNodes" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(types); i++)
                if (g_str_equal(type, types[i][0]))
                        return types[i][1];
        return NULL;
}

/* Prints an argument for each complete type. names: one after the other, each with its NUL. Returns the rest of them.
 * way: "In" or "Out". */
static const char *print_arguments(const char *signature, const char *names, const char *direction, const char *way) {
        size_t length;

        for (unsigned i = 0; *signature; signature += length, names += strlen(names) + 1, i++) {
                g_autofree char *type = NULL, *annotation = NULL;

                length = signature_first(signature);
                type = g_strndup(signature, length);
                printf("      <arg type=\"%s\" name=\"%s\"%s/>\n", type, names, direction);
                annotation = g_strdup_printf("org.qtproject.QtDBus.QtTypeName.%s%u", way, i);
                if (qt_type(type))
                        print_annotation(annotation, qt_type(type));
        }

        return names;
}

static void print_row(const char *page, const char *interface, const sd_bus_vtable *row) {
        const char *names;

        if (row->type == _SD_BUS_VTABLE_METHOD) {
                printf("    <method name=\"%s\">\n", row->x.method.member);
                print_description(page, "Methods", interface, row->x.method.member);
                names = print_arguments(row->x.method.signature ?: "", row->x.method.names, " direction=\"in\"", "In");
                print_arguments(row->x.method.result ?: "", names, " direction=\"out\"", "Out");
                printf("    </method>\n");
        } else if (row->type == _SD_BUS_VTABLE_SIGNAL) {
                printf("    <signal name=\"%s\">\n", row->x.signal.member);
                print_description(page, "Signals", interface, row->x.signal.member);
                print_arguments(row->x.signal.signature ?: "", row->x.signal.names, "", "Out");
                printf("    </signal>\n");
        }
}

static void print_property(const char *page, const char *interface, const Property *property) {
        const char *told = property->changes & CHANGES_NEVER      ? "const"
                           : property->changes & CHANGES_SILENTLY ? "false"
                           : property->changes & WITHOUT_VALUE    ? "invalidates"
                                                                  : "true";

        printf("    <property name=\"%s\" type=\"%s\" access=\"read\">\n"
               "      <annotation name=\"org.freedesktop.DBus.Property.EmitsChangedSignal\" value=\"%s\"/>\n",
               property->name, property->type, told);
        print_description(page, "Properties", interface, property->name);
        if (qt_type(property->type))
                print_annotation("org.qtproject.QtDBus.QtTypeName", qt_type(property->type));
        /* gdbus-codegen would make "nrunning" of NRunning. */
        if (g_str_has_prefix(property->name, "N") && g_ascii_isupper(property->name[1])) {
                g_autofree char *rest = g_ascii_strdown(property->name + 1, -1), *name = g_strconcat("n_", rest, NULL);

                print_annotation("org.gtk.GDBus.C.Name", name);
        }
        printf("    </property>\n");
}

int main(int argc, char **argv) {
        static const ObjectKind *const kinds[] = { &manager_kind, &tree_kind, &run_kind };

        g_autofree char *page = NULL;

        if (argc == 3)
                (void) g_file_get_contents(argv[2], &page, NULL, NULL);
        for (size_t i = 0; page && i < G_N_ELEMENTS(kinds); i++) {
                if (!g_str_equal(argv[1], kinds[i]->interface))
                        continue;

                printf("<!DOCTYPE node PUBLIC \"-//freedesktop//DTD D-BUS Object Introspection 1.0//EN\"\n"
                       "\"http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd\">\n"
                       "<!-- SPDX-License-Identifier: LGPL-2.1-or-later -->\n"
                       "<node>\n  <interface name=\"%s\">\n",
                       argv[1]);
                for (const sd_bus_vtable *row = kinds[i]->methods; row->type != _SD_BUS_VTABLE_END; row++)
                        print_row(page, argv[1], row);
                for (const Property *property = kinds[i]->properties; property->name; property++)
                        print_property(page, argv[1], property);
                printf("  </interface>\n</node>\n");
                return EXIT_SUCCESS;
        }

        fprintf(stderr, "Usage: btd-interfaces INTERFACE PAGE\n");
        return EXIT_FAILURE;
}
