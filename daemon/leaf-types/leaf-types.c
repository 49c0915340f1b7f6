/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Owns the table of leaf types, and what parameters of several types have in common:
 * their values, and the formats of texts. The patterns of formats are for editors, through the JSON schema; they are as
 * exact as a pattern can be.
 */

#include <errno.h>
#include <string.h>
#include <systemd/sd-bus.h>

#include "basic/bus-address.h"
#include "basic/dbus-value.h"
#include "basic/excerpt.h"
#include "leaf-types/leaf-types.h"
#include "leaf-types/unit.h"

#define ROW(type, kind) &type,

const NodeType *const leaf_types[] = { LEAF_TYPES(ROW) NULL };

const char *const on_recover_values[] = { "fail", "rerun", NULL };

const char *const unknown_values[] = { "failure", "success", "running", NULL };

Status unknown_status(int unknown) {
        static const Status statuses[] = { STATUS_FAILURE, STATUS_SUCCESS, STATUS_RUNNING };

        return statuses[unknown];
}

#define ELEMENT "[A-Za-z_][A-Za-z0-9_]*"
#define NAME_ELEMENT "[A-Za-z_-][A-Za-z0-9_-]*"

static char *bus_problem(const char *text) {
        char *error = NULL;

        if (bus_address_check(text, &error) >= 0)
                (void) bus_address_is_denied(text, &error);

        return error;
}

static bool bus_name_valid(const char *text) {
        return sd_bus_service_name_is_valid(text);
}

static bool object_path_valid(const char *text) {
        return sd_bus_object_path_is_valid(text);
}

static bool interface_valid(const char *text) {
        return sd_bus_interface_name_is_valid(text);
}

/* sd-bus also sends names that begin with a digit, and then the bus closes the connection. */
static bool member_valid(const char *text) {
        return !g_ascii_isdigit(*text) && sd_bus_member_name_is_valid(text);
}

static char *signature_problem(const char *text) {
        g_autofree char *error = NULL;

        if (value_check_signature(text, &error) >= 0)
                return NULL;

        /* The name of the parameter already says that it is a property. */
        return g_strdup(g_str_has_prefix(error, "signature ") ? error + strlen("signature ") : error);
}

const TextFormat bus_format = { .name = "the name of a bus",
                                .pattern = "^(system|session|[a-z][a-z-]*:.+)$",
                                .problem = bus_problem };
const TextFormat bus_name_format = {
        .name = "a bus name",
        .example = "org.example.Camera",
        .pattern = "^(:[A-Za-z0-9_-]+(\\.[A-Za-z0-9_-]+)+|" NAME_ELEMENT "(\\." NAME_ELEMENT ")+)$",
        .valid = bus_name_valid,
};
const TextFormat object_path_format = {
        .name = "an object path",
        .example = "/org/example/Camera",
        .pattern = "^/([A-Za-z0-9_]+(/[A-Za-z0-9_]+)*)?$",
        .valid = object_path_valid,
};
const TextFormat interface_format = {
        .name = "the name of an interface",
        .example = "org.example.Camera",
        .pattern = "^" ELEMENT "(\\." ELEMENT ")+$",
        .valid = interface_valid,
};
const TextFormat method_format = {
        .name = "the name of a method", .example = "Start", .pattern = "^" ELEMENT "$", .valid = member_valid
};
const TextFormat signal_format = {
        .name = "the name of a signal", .example = "Started", .pattern = "^" ELEMENT "$", .valid = member_valid
};
const TextFormat property_format = {
        .name = "the name of a property", .example = "State", .pattern = "^" ELEMENT "$", .valid = member_valid
};
const TextFormat signature_format = { .name = "a D-Bus signature",
                                      .pattern = "^(|[ybnqiuxtdsogav(){}]{0,254}[ybnqiuxtdsogv)}])$",
                                      .problem = signature_problem };

static char *unit_problem(const char *text) {
        g_autofree char *complete = NULL;
        char *error = NULL;

        return unit_name_complete(text, &complete, &error) < 0 ? error : NULL;
}

static char *unit_trap(const char *text) {
        g_autofree char *complete = NULL, *error = NULL;

        if (unit_name_complete(text, &complete, &error) < 0 || g_str_equal(text, complete))
                return NULL;

        return g_strdup_printf("\"%s\" is taken for \"%s\"; write the suffix, too", text, complete);
}

const TextFormat unit_format = {
        .name = "the name of a unit",
        .pattern = "^[0-9a-zA-Z:_.\\\\@-]{1,255}$",
        .problem = unit_problem,
        .trap = unit_trap,
};

static char *path_problem(const char *text) {
        if (*text == '/')
                return NULL;

        return g_strdup_printf("\"%s\" must begin with \"/\"%s", text,
                               *text == '~' ? "; no shell replaces '~', so write the whole path" : "");
}

static bool is_below(const char *path, const char *directory) {
        return g_str_has_prefix(path, directory) && path[strlen(directory)] == '/';
}

static char *watched_path_trap(const char *text) {
        static const char *const private[] = { "/tmp", "/var/tmp", "/home", "/root" };

        for (size_t i = 0; i < G_N_ELEMENTS(private); i++)
                if (is_below(text, private[i]))
                        return g_strdup_printf(
                                "the btd of the system does not see what others put into \"%s\", unless a "
                                "drop-in of btd.service allows it; a path below /run has no such limit",
                                private[i]);
        if (strpbrk(text, "*?"))
                return g_strdup_printf("\"%s\" is one name, in which '*' and '?' are characters like others; a Command "
                                       "can search for files, such as [\"find\", \"/dev\", \"-name\", \"video*\"]",
                                       text);
        if (!is_below(text, "/proc") && !is_below(text, "/sys"))
                return NULL;

        return g_strdup_printf("the kernel does not report changes of \"%s\", so the condition is evaluated only "
                               "once; a Command can check it again and again",
                               text);
}

static char *program_problem(const char *text) {
        if (!*text)
                return g_strdup("expected a program, not an empty string");
        if (*text == '-' && text[1] == '/')
                return g_strdup_printf("\"%s\" must begin with \"/\"; the key 'may_fail' allows a failure", text);
        if (*text && strchr("@:+!", *text) && text[1] == '/')
                return g_strdup_printf("\"%s\" must begin with \"/\": the prefixes of a unit file have no meaning here",
                                       text);
        if (*text != '/' && strchr(text, '/'))
                return g_strdup_printf("\"%s\" must begin with \"/\", or be a name to look for in PATH", text);

        return NULL;
}

static char *environment_name_problem(const char *text) {
        if (*text && !g_ascii_isdigit(*text) && text[strspn(text, G_CSET_A_2_Z G_CSET_a_2_z "_0123456789")] == 0)
                return NULL;

        return g_strdup_printf("\"%s\" is not a name for a variable: it may have letters, digits and \"_\", and not "
                               "begin with a digit",
                               text);
}

/* Whether the account exists is checked when the process starts. */
static char *account_problem(const char *text) {
        g_autofree char *shown = excerpt(text, strlen(text));

        if (!*text || strpbrk(text, "/: \t\n"))
                return g_strdup_printf("'%s' is not the name or number of an account", shown);
        /* In the unit's file, the next line would become part of the name. */
        if (g_str_has_suffix(text, "\\"))
                return g_strdup_printf("\"%s\" is no name, because it ends in '\\'", shown);

        return NULL;
}

const TextFormat path_format = { .name = "an absolute path", .pattern = "^/", .problem = path_problem };
const TextFormat watched_path_format = {
        .name = "an absolute path", .pattern = "^/", .problem = path_problem, .trap = watched_path_trap
};
const TextFormat program_format = { .name = "a program",
                                    .pattern = "^(/[^\\u0000]*|[^/]+)$",
                                    .problem = program_problem };
const TextFormat environment_name_format = { .name = "the name of a variable",
                                             .pattern = "^" ELEMENT "$",
                                             .problem = environment_name_problem };
const TextFormat account_format = { .name = "the name or number of an account",
                                    .pattern = "^[^/: \\t\\n]+$",
                                    .problem = account_problem };
