/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Has a table of the properties that people set, each with its type, and a function for each type. Properties that
 * Spawn itself needs to set cannot be set.
 *
 * systemd writes a transient unit to a file and reads it back when it is reloaded. systemd 252 reads some values back
 * as others, and a newline begins another setting. Such values are refused.
 */

#include <errno.h>
#include <json-c/json_tokener.h>
#include <json-c/linkhash.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/dbus-value.h"
#include "basic/nearest.h"
#include "basic/span.h"
#include "definition/params/param-report.h"
#include "leaf-types/spawn-properties.h"
#include "script/reference.h"

#define EXPLICIT "Any other can be given as {\"signature\": ..., \"value\": ...}"

typedef enum PropertyKind {
        PROPERTY_BOOL,
        PROPERTY_INT,     /* i */
        PROPERTY_COUNT,   /* t, or "infinity" */
        PROPERTY_SIZE,    /* t, also "64M", "infinity" */
        PROPERTY_SPAN,    /* t in microseconds */
        PROPERTY_PERCENT, /* t in microseconds a second: "50%" */
        PROPERTY_MODE,    /* u: "0022" */
        PROPERTY_STRING,
        PROPERTY_STRINGS, /* also one string */
} PropertyKind;

typedef struct Property {
        const char *name;
        PropertyKind kind;
        const char *bus_name; /* NULL: the same */
} Property;

static const Property properties_table[] = {
        { "After", PROPERTY_STRINGS },
        { "Before", PROPERTY_STRINGS },
        { "BindsTo", PROPERTY_STRINGS },
        { "CPUAccounting", PROPERTY_BOOL },
        { "CPUQuota", PROPERTY_PERCENT, "CPUQuotaPerSecUSec" },
        { "CPUSchedulingPriority", PROPERTY_INT },
        { "CPUWeight", PROPERTY_COUNT },
        { "CacheDirectory", PROPERTY_STRINGS },
        { "ConfigurationDirectory", PROPERTY_STRINGS },
        { "Conflicts", PROPERTY_STRINGS },
        { "DefaultDependencies", PROPERTY_BOOL },
        { "Delegate", PROPERTY_BOOL },
        { "DevicePolicy", PROPERTY_STRING },
        { "DynamicUser", PROPERTY_BOOL },
        { "ExecPaths", PROPERTY_STRINGS },
        { "IOAccounting", PROPERTY_BOOL },
        { "IOWeight", PROPERTY_COUNT },
        { "IPAccounting", PROPERTY_BOOL },
        { "IgnoreSIGPIPE", PROPERTY_BOOL },
        { "InaccessiblePaths", PROPERTY_STRINGS },
        { "KeyringMode", PROPERTY_STRING },
        { "LimitAS", PROPERTY_SIZE },
        { "LimitCORE", PROPERTY_SIZE },
        { "LimitDATA", PROPERTY_SIZE },
        { "LimitFSIZE", PROPERTY_SIZE },
        { "LimitMEMLOCK", PROPERTY_SIZE },
        { "LimitNOFILE", PROPERTY_COUNT },
        { "LimitNPROC", PROPERTY_COUNT },
        { "LimitSTACK", PROPERTY_SIZE },
        { "LockPersonality", PROPERTY_BOOL },
        { "LogsDirectory", PROPERTY_STRINGS },
        { "MemoryAccounting", PROPERTY_BOOL },
        { "MemoryDenyWriteExecute", PROPERTY_BOOL },
        { "MemoryHigh", PROPERTY_SIZE },
        { "MemoryLow", PROPERTY_SIZE },
        { "MemoryMax", PROPERTY_SIZE },
        { "MemoryMin", PROPERTY_SIZE },
        { "MemorySwapMax", PROPERTY_SIZE },
        { "NetworkNamespacePath", PROPERTY_STRING },
        { "Nice", PROPERTY_INT },
        { "NoExecPaths", PROPERTY_STRINGS },
        { "NoNewPrivileges", PROPERTY_BOOL },
        { "OOMPolicy", PROPERTY_STRING },
        { "OOMScoreAdjust", PROPERTY_INT },
        { "PAMName", PROPERTY_STRING },
        { "PartOf", PROPERTY_STRINGS },
        { "PassEnvironment", PROPERTY_STRINGS },
        { "PrivateDevices", PROPERTY_BOOL },
        { "PrivateIPC", PROPERTY_BOOL },
        { "PrivateMounts", PROPERTY_BOOL },
        { "PrivateNetwork", PROPERTY_BOOL },
        { "PrivateTmp", PROPERTY_BOOL },
        { "PrivateUsers", PROPERTY_BOOL },
        { "ProcSubset", PROPERTY_STRING },
        { "ProtectClock", PROPERTY_BOOL },
        { "ProtectControlGroups", PROPERTY_BOOL },
        { "ProtectHome", PROPERTY_STRING },
        { "ProtectHostname", PROPERTY_BOOL },
        { "ProtectKernelLogs", PROPERTY_BOOL },
        { "ProtectKernelModules", PROPERTY_BOOL },
        { "ProtectKernelTunables", PROPERTY_BOOL },
        { "ProtectProc", PROPERTY_STRING },
        { "ProtectSystem", PROPERTY_STRING },
        { "ReadOnlyPaths", PROPERTY_STRINGS },
        { "ReadWritePaths", PROPERTY_STRINGS },
        { "RemoveIPC", PROPERTY_BOOL },
        { "Requires", PROPERTY_STRINGS },
        { "RequiresMountsFor", PROPERTY_STRINGS },
        { "RestrictRealtime", PROPERTY_BOOL },
        { "RestrictSUIDSGID", PROPERTY_BOOL },
        { "RootDirectory", PROPERTY_STRING },
        { "RuntimeDirectory", PROPERTY_STRINGS },
        { "RuntimeMaxSec", PROPERTY_SPAN, "RuntimeMaxUSec" },
        { "SendSIGHUP", PROPERTY_BOOL },
        { "Slice", PROPERTY_STRING },
        { "StateDirectory", PROPERTY_STRINGS },
        { "SupplementaryGroups", PROPERTY_STRINGS },
        { "SyslogIdentifier", PROPERTY_STRING },
        { "TasksAccounting", PROPERTY_BOOL },
        { "TasksMax", PROPERTY_COUNT },
        { "TimeoutStartSec", PROPERTY_SPAN, "TimeoutStartUSec" },
        { "UMask", PROPERTY_MODE },
        { "UnsetEnvironment", PROPERTY_STRINGS },
        { "Wants", PROPERTY_STRINGS },
};

/* What parameters of Spawn set, or what makes it work. */
static const char *const taken[] = {
        "Environment",
        "ExecStart",
        "ExecStartEx",
        "Group",
        "KillMode",
        "KillSignal",
        "RemainAfterExit",
        "Restart",
        "SendSIGKILL",
        "StandardError",
        "StandardErrorFileDescriptor",
        "StandardInput",
        "StandardInputFileDescriptor",
        "StandardOutput",
        "StandardOutputFileDescriptor",
        "SuccessExitStatus",
        "TimeoutStopSec",
        "TimeoutStopUSec",
        "Type",
        "User",
        "WorkingDirectory",
        NULL,
};

/* systemd 252 does not read them back at all. */
static const char *const forgotten[] = { "ExtensionImages", "MountImages", NULL };

/* Lists of words that systemd writes without quotes, and expands specifiers in. */
static const char *const words[] = { "RequiresMountsFor", "SupplementaryGroups", NULL };

/* Lists of paths in which a ':' separates a path from something else. */
static const char *const pairs[] = {
        "BindPaths",
        "BindReadOnlyPaths",
        "CacheDirectory",
        "ConfigurationDirectory",
        "LogsDirectory",
        "RuntimeDirectory",
        "StateDirectory",
        "TemporaryFileSystem",
        NULL,
};

static int size_parse(const char *text, uint64_t *ret_size) {
        static const char units[] = "KMGTPE";
        const char *unit;
        double number;
        char *end;

        if (!g_ascii_isdigit(*text))
                return -EINVAL;

        number = g_ascii_strtod(text, &end);
        unit = *end ? strchr(units, *end) : NULL;
        if (*end && (!unit || end[1]))
                return -EINVAL;

        number = ldexp(number, unit ? 10 * (int) (unit - units + 1) : 0);
        if (number >= 0x1p64)
                return -ERANGE;

        *ret_size = (uint64_t) number;
        return 0;
}

static int percent_parse(const char *text, uint64_t *ret_usec) {
        double number;
        char *end;

        if (!g_ascii_isdigit(*text))
                return -EINVAL;

        number = g_ascii_strtod(text, &end);
        if (strcmp(end, "%") != 0 || number > 1e6)
                return -EINVAL;

        *ret_usec = (uint64_t) (number * 1e4);
        return 0;
}

static int mode_parse(const char *text, uint64_t *ret_mode) {
        guint64 mode;

        if (!g_ascii_string_to_unsigned(text, 8, 0, 07777, &mode, NULL))
                return -EINVAL;

        *ret_mode = mode;
        return 0;
}

/* For each kind: its signature, what it reads from a string beside JSON's own types, and an example. */
static const struct {
        const char *signature;
        int (*parse)(const char *text, uint64_t *ret_number);
        bool only_text, infinity;
        const char *example;
} kinds[] = {
        [PROPERTY_BOOL] = { "b", NULL, false, false, "true or false" },
        [PROPERTY_INT] = { "i", NULL, false, false, "a whole number" },
        [PROPERTY_COUNT] = { "t", NULL, false, true, "a whole number or \"infinity\"" },
        [PROPERTY_SIZE] = { "t", size_parse, false, true, "a number of bytes like \"64M\", or \"infinity\"" },
        [PROPERTY_SPAN] = { "t", span_parse, true, true, "a time span like \"10s\"" },
        [PROPERTY_PERCENT] = { "t", percent_parse, true, false, "a share like \"50%\"" },
        [PROPERTY_MODE] = { "u", mode_parse, true, false, "an octal mode as a string like \"0022\"" },
        [PROPERTY_STRING] = { "s", NULL, false, false, "a string" },
        [PROPERTY_STRINGS] = { "as", NULL, false, false, "a string or a list of strings" },
};

static json_object *list_of(json_object *value) {
        json_object *list = json_object_new_array();

        json_object_array_add(list, value);
        return list;
}

static json_object *text_convert(PropertyKind kind, json_object *value) {
        const char *text = json_object_get_string(value);
        uint64_t number;

        if (kind == PROPERTY_STRINGS)
                return list_of(json_object_get(value));
        if (kinds[kind].infinity && strcmp(text, "infinity") == 0)
                return json_object_new_uint64(UINT64_MAX);
        if (!kinds[kind].parse)
                return json_object_get(value);

        return kinds[kind].parse(text, &number) < 0 ? NULL : json_object_new_uint64(number);
}

/* The value in its form for the bus: a new reference, or NULL if it is invalid. */
static json_object *value_convert(PropertyKind kind, json_object *value) {
        if (json_object_is_type(value, json_type_string))
                return text_convert(kind, value);
        if (kinds[kind].only_text)
                return NULL;

        /* ProtectSystem= and its like take words, among them two that JSON has words of its own for. */
        if (kind == PROPERTY_STRING && json_object_is_type(value, json_type_boolean))
                return json_object_new_string(json_object_get_boolean(value) ? "yes" : "no");

        return json_object_get(value);
}

static int property_compare(const void *name, const void *property) {
        return strcmp(name, ((const Property *) property)->name);
}

static const char *nearest_property(const char *name) {
        Nearest nearest = { .word = name };

        for (size_t i = 0; i < G_N_ELEMENTS(properties_table); i++)
                nearest_offer(&nearest, properties_table[i].name);

        return nearest.best;
}

/* -ENOENT: it is about the name. */
static int unknown_property(const char *name, char **ret_error) {
        const char *nearest = nearest_property(name);

        *ret_error = nearest ? g_strdup_printf("\"%s\" is not known; did you mean \"%s\"? " EXPLICIT, name, nearest)
                             : g_strdup_printf("\"%s\" is not known. " EXPLICIT, name);
        return -ENOENT;
}

/* A variant in the way of basic/dbus-value.h. */
static json_object *variant_new(const char *signature, json_object *value) {
        json_object *variant = json_object_new_object();

        json_object_object_add(variant, "signature", json_object_new_string(signature));
        json_object_object_add(variant, "value", value);
        return variant;
}

static bool is_variant(json_object *value) {
        return json_object_is_type(value, json_type_object) && json_object_object_get_ex(value, "signature", NULL) &&
               json_object_object_get_ex(value, "value", NULL);
}

static json_object *pair_new(const char *name, json_object *variant) {
        json_object *pair = json_object_new_array();

        json_object_array_add(pair, json_object_new_string(name));
        json_object_array_add(pair, variant);
        return pair;
}

/* message NULL: would it fit? Takes the pair. */
static int pair_append(sd_bus_message *message, json_object *pair, char **ret_error) {
        g_autoptr(json_object) arguments = list_of(pair);

        return message ? value_append(message, "(sv)", arguments, ret_error)
                       : value_check("(sv)", arguments, ret_error);
}

/* The place in (sv) means nothing to the author of an object, so it is removed from the message. */
static const char *without_place(const char *error) {
        static const char place[] = "argument 1, field 2: ";

        return g_str_has_prefix(error, place) ? error + strlen(place) : error;
}

static int variant_append(sd_bus_message *message, const char *name, json_object *variant, char **ret_error) {
        g_autofree char *error = NULL;
        int r;

        r = pair_append(message, pair_new(name, json_object_get(variant)), &error);
        if (r < 0)
                *ret_error = g_strdup(without_place(error));

        return r;
}

static int known_append(sd_bus_message *message, const Property *property, json_object *value, char **ret_error) {
        g_autofree char *error = NULL;
        json_object *converted = value_convert(property->kind, value);
        int r = -EINVAL;

        if (converted)
                r = pair_append(message,
                                pair_new(property->bus_name ?: property->name,
                                         variant_new(kinds[property->kind].signature, converted)),
                                &error);
        if (r < 0) {
                g_autofree char *shown = value_to_text(value);

                *ret_error = g_strdup_printf("expected %s, not %s", kinds[property->kind].example, shown);
        }

        return r;
}

/* What systemd 252 reads back as something else; for all but commands that is also a control character, and a blank or
 * a backslash at an end. */
typedef struct Lossy {
        const char *characters, *hint;
} Lossy;

static const Lossy lossy_command = { ";$", "run a script in place of a command with ';', '$' or \"no-env-expand\"" };
static const Lossy lossy_text = { "", "leave out control characters, and blanks and '\\' at its ends" };
static const Lossy lossy_list = { "\"'\\", "leave out control characters, quotes and '\\', and blanks at its ends" };
static const Lossy lossy_words = { "\"'\\% ", "leave out control characters, blanks, quotes, '\\' and '%'" };
static const Lossy lossy_pairs = { "\"'\\% :", "leave out control characters, blanks, quotes, '\\', '%' and ':'" };

static const Lossy *lossy_of(const char *name, const char *signature) {
        if (g_str_has_prefix(signature, "a(sas"))
                return &lossy_command;
        if (g_str_equal(signature, "s"))
                return &lossy_text;
        if (g_strv_contains(pairs, name))
                return &lossy_pairs;

        return strchr(signature, '(') || g_strv_contains(words, name) ? &lossy_words : &lossy_list;
}

static bool is_lossless(const char *text, const Lossy *lossy) {
        size_t length = strlen(text);

        if (strpbrk(text, lossy->characters))
                return false;
        if (lossy == &lossy_command)
                return !g_str_equal(text, "no-env-expand");

        for (const char *p = text; *p; p++)
                if (g_ascii_iscntrl(*p))
                        return false;

        return *text != ' ' && (length == 0 || !strchr(" \\", text[length - 1]));
}

/* A string in the value, at any depth, that systemd would read back as another, or NULL. */
static json_object *find_lossy(json_object *value, const Lossy *lossy) {
        json_object *found = NULL;

        if (json_object_is_type(value, json_type_string))
                return is_lossless(json_object_get_string(value), lossy) ? NULL : value;

        if (json_object_is_type(value, json_type_array))
                for (size_t i = 0; !found && i < json_object_array_length(value); i++)
                        found = find_lossy(json_object_array_get_idx(value, i), lossy);

        return found;
}

static int check_read_back(const char *name, const char *signature, json_object *value, char **ret_error) {
        const Lossy *lossy = lossy_of(name, signature);
        json_object *found = find_lossy(value, lossy);

        if (g_strv_contains(forgotten, name)) {
                *ret_error = g_strdup_printf("\"%s\" cannot be set: systemd forgets it when it is reloaded", name);
                return -ENOENT;
        }
        if (!found)
                return 0;

        *ret_error =
                g_strdup_printf("systemd would take %s for something else when it is reloaded; %s",
                                json_object_to_json_string_ext(found, JSON_C_TO_STRING_NOSLASHESCAPE), lossy->hint);
        return -EINVAL;
}

static int property_append(sd_bus_message *message, const char *name, json_object *value, char **ret_error) {
        const Property *property =
                bsearch(name, properties_table, G_N_ELEMENTS(properties_table), sizeof(Property), property_compare);
        json_object *explicit = NULL, *content = value;
        const char *signature;
        int r;

        if (g_strv_contains(taken, name)) {
                *ret_error = g_strdup_printf("\"%s\" is set by the node itself", name);
                return -ENOENT;
        }

        if (!is_variant(value) && !property)
                return unknown_property(name, ret_error);

        if (is_variant(value)) {
                (void) json_object_object_get_ex(value, "signature", &explicit);
                (void) json_object_object_get_ex(value, "value", &content);
        }
        if (is_variant(value))
                signature = json_object_is_type(explicit, json_type_string) ? json_object_get_string(explicit) : "";
        else
                signature = kinds[property->kind].signature;
        r = check_read_back(name, signature, content, ret_error);
        if (r < 0)
                return r;

        return is_variant(value) ? variant_append(message, name, value, ret_error)
                                 : known_append(message, property, value, ret_error);
}

int spawn_properties_append(sd_bus_message *message, json_object *properties, char **ret_error) {
        json_object_object_foreach(properties, name, value) {
                g_autofree char *error = NULL;

                int r = property_append(message, name, value, &error);

                if (r < 0) {
                        *ret_error = r == -ENOENT ? g_strconcat("properties: ", error, NULL)
                                                  : g_strdup_printf("properties.%s: %s", name, error);
                        return -EINVAL;
                }
        }

        return 0;
}

static int properties_check(const ParamSetter *setter, const Place *place, json_object *value) {
        int r = 0;

        if (!json_object_is_type(value, json_type_object))
                return param_report_kind(setter, place, "an object", value);

        json_object_object_foreach(value, name, member) {
                Place at = { .parent = place, .key = name };
                char *error = NULL;
                int q;

                if (setter->provisional && reference_inside(member))
                        continue;

                q = property_append(NULL, name, member, &error);
                if (q < 0)
                        r = param_report_instead(
                                setter, &at, q == -ENOENT,
                                q == -ENOENT && !g_strv_contains(taken, name) ? nearest_property(name) : NULL, error);
        }

        return r;
}

/* Of those in the table; others name their type. */
static json_object *properties_schema(void) {
        static const char *const types[] = {
                [PROPERTY_BOOL] = "[\"boolean\", \"object\"]",
                [PROPERTY_INT] = "[\"integer\", \"string\", \"object\"]",
                [PROPERTY_COUNT] = "[\"integer\", \"string\", \"object\"]",
                [PROPERTY_SIZE] = "[\"integer\", \"string\", \"object\"]",
                [PROPERTY_SPAN] = "[\"string\", \"object\"]",
                [PROPERTY_PERCENT] = "[\"string\", \"object\"]",
                [PROPERTY_MODE] = "[\"string\", \"object\"]",
                [PROPERTY_STRING] = "[\"string\", \"boolean\", \"object\"]",
                [PROPERTY_STRINGS] = "[\"string\", \"array\", \"object\"]",
        };
        json_object *schema = json_tokener_parse(
                "{\"type\": \"object\", \"additionalProperties\": {\"type\": \"object\", \"required\": "
                "[\"signature\", \"value\"]}}");
        json_object *properties = json_object_new_object();

        for (size_t i = 0; i < G_N_ELEMENTS(properties_table); i++) {
                const Property *property = &properties_table[i];
                json_object *each = json_object_new_object();

                json_object_object_add(each, "type", json_tokener_parse(types[property->kind]));
                json_object_object_add(each, "description", json_object_new_string(kinds[property->kind].example));
                json_object_object_add(properties, property->name, each);
        }
        for (const char *const *name = taken; *name; name++)
                json_object_object_add(properties, *name, json_object_new_boolean(false));

        json_object_object_add(schema, "properties", properties);
        return schema;
}

const ValueFormat spawn_properties_format = { .check = properties_check, .schema = properties_schema };
