/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Has a table of the properties that people set, each with its type, and a function for each type. Properties that
 * Spawn itself needs to set cannot be set. Standard input and outputs can be set if no parameter needs them.
 *
 * systemd writes a transient unit to a file and reads it back when it is reloaded. systemd 252 reads some values back
 * as others, and a newline begins another setting. Such values are refused.
 */

#include <assert.h>
#include <errno.h>
#include <json-c/json_tokener.h>
#include <json-c/linkhash.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/dbus-value.h"
#include "basic/nearest.h"
#include "definition/params/param-report.h"
#include "leaf-types/spawn.h"
#include "leaf-types/unit-settings.h"
#include "script/reference.h"

#define EXPLICIT "Any other can be given as {\"signature\": ..., \"value\": ...}"

typedef struct Property {
        const char *name;
        SettingKind kind;
        const char *bus_name; /* NULL: the same */
} Property;

static const Property properties_table[] = {
        { "After", SETTING_STRINGS },
        { "AllowedCPUs", SETTING_CPUS },
        { "AllowedMemoryNodes", SETTING_CPUS },
        { "AmbientCapabilities", SETTING_CAPABILITIES },
        { "AppArmorProfile", SETTING_STRING },
        { "Before", SETTING_STRINGS },
        { "BindPaths", SETTING_BINDS },
        { "BindReadOnlyPaths", SETTING_BINDS },
        { "BindsTo", SETTING_STRINGS },
        { "CPUAccounting", SETTING_BOOL },
        { "CPUAffinity", SETTING_CPUS },
        { "CPUQuota", SETTING_PERCENT, "CPUQuotaPerSecUSec" },
        { "CPUQuotaPeriodSec", SETTING_SPAN, "CPUQuotaPeriodUSec" },
        { "CPUSchedulingPolicy", SETTING_CPU_POLICY },
        { "CPUSchedulingPriority", SETTING_INT },
        { "CPUSchedulingResetOnFork", SETTING_BOOL },
        { "CPUWeight", SETTING_COUNT },
        { "CacheDirectory", SETTING_STRINGS },
        { "CacheDirectoryMode", SETTING_MODE },
        { "CapabilityBoundingSet", SETTING_CAPABILITIES },
        { "CollectMode", SETTING_STRING },
        { "ConfigurationDirectory", SETTING_STRINGS },
        { "ConfigurationDirectoryMode", SETTING_MODE },
        { "Conflicts", SETTING_STRINGS },
        { "DefaultDependencies", SETTING_BOOL },
        { "Delegate", SETTING_BOOL },
        { "DeviceAllow", SETTING_DEVICES },
        { "DevicePolicy", SETTING_STRING },
        { "DisableControllers", SETTING_STRINGS },
        { "DynamicUser", SETTING_BOOL },
        { "EnvironmentFile", SETTING_FILES, "EnvironmentFiles" },
        { "ExecPaths", SETTING_STRINGS },
        { "ExecSearchPath", SETTING_STRINGS },
        { "IOAccounting", SETTING_BOOL },
        { "IODeviceWeight", SETTING_DEVICE_SIZES },
        { "IOReadBandwidthMax", SETTING_DEVICE_SIZES },
        { "IOReadIOPSMax", SETTING_DEVICE_SIZES },
        { "IOSchedulingClass", SETTING_IO_CLASS },
        { "IOSchedulingPriority", SETTING_INT },
        { "IOWeight", SETTING_COUNT },
        { "IOWriteBandwidthMax", SETTING_DEVICE_SIZES },
        { "IOWriteIOPSMax", SETTING_DEVICE_SIZES },
        { "IPAccounting", SETTING_BOOL },
        { "IPAddressAllow", SETTING_ADDRESSES },
        { "IPAddressDeny", SETTING_ADDRESSES },
        { "IPCNamespacePath", SETTING_STRING },
        { "IgnoreSIGPIPE", SETTING_BOOL },
        { "InaccessiblePaths", SETTING_STRINGS },
        { "JoinsNamespaceOf", SETTING_STRINGS },
        { "KeyringMode", SETTING_STRING },
        { "LimitAS", SETTING_SIZE },
        { "LimitCORE", SETTING_SIZE },
        { "LimitCPU", SETTING_SECONDS },
        { "LimitDATA", SETTING_SIZE },
        { "LimitFSIZE", SETTING_SIZE },
        { "LimitLOCKS", SETTING_COUNT },
        { "LimitMEMLOCK", SETTING_SIZE },
        { "LimitMSGQUEUE", SETTING_SIZE },
        { "LimitNOFILE", SETTING_COUNT },
        { "LimitNPROC", SETTING_COUNT },
        { "LimitRSS", SETTING_SIZE },
        { "LimitRTPRIO", SETTING_COUNT },
        { "LimitRTTIME", SETTING_SPAN },
        { "LimitSIGPENDING", SETTING_COUNT },
        { "LimitSTACK", SETTING_SIZE },
        { "LockPersonality", SETTING_BOOL },
        { "LogLevelMax", SETTING_LOG_LEVEL },
        { "LogNamespace", SETTING_STRING },
        { "LogRateLimitBurst", SETTING_COUNT32 },
        { "LogRateLimitIntervalSec", SETTING_SPAN, "LogRateLimitIntervalUSec" },
        { "LogsDirectory", SETTING_STRINGS },
        { "LogsDirectoryMode", SETTING_MODE },
        { "ManagedOOMMemoryPressure", SETTING_STRING },
        { "ManagedOOMPreference", SETTING_STRING },
        { "ManagedOOMSwap", SETTING_STRING },
        { "MemoryAccounting", SETTING_BOOL },
        { "MemoryDenyWriteExecute", SETTING_BOOL },
        { "MemoryHigh", SETTING_SIZE },
        { "MemoryLow", SETTING_SIZE },
        { "MemoryMax", SETTING_SIZE },
        { "MemoryMin", SETTING_SIZE },
        { "MemorySwapMax", SETTING_SIZE },
        { "MountAPIVFS", SETTING_BOOL },
        { "NetworkNamespacePath", SETTING_STRING },
        { "Nice", SETTING_INT },
        { "NoExecPaths", SETTING_STRINGS },
        { "NoNewPrivileges", SETTING_BOOL },
        { "OOMPolicy", SETTING_STRING },
        { "OOMScoreAdjust", SETTING_INT },
        { "OnFailure", SETTING_STRINGS },
        { "OnSuccess", SETTING_STRINGS },
        { "PAMName", SETTING_STRING },
        { "PartOf", SETTING_STRINGS },
        { "PassEnvironment", SETTING_STRINGS },
        { "Personality", SETTING_STRING },
        { "PrivateDevices", SETTING_BOOL },
        { "PrivateIPC", SETTING_BOOL },
        { "PrivateMounts", SETTING_BOOL },
        { "PrivateNetwork", SETTING_BOOL },
        { "PrivateTmp", SETTING_BOOL },
        { "PrivateUsers", SETTING_BOOL },
        { "ProcSubset", SETTING_STRING },
        { "PropagatesStopTo", SETTING_STRINGS },
        { "ProtectClock", SETTING_BOOL },
        { "ProtectControlGroups", SETTING_BOOL },
        { "ProtectHome", SETTING_STRING },
        { "ProtectHostname", SETTING_BOOL },
        { "ProtectKernelLogs", SETTING_BOOL },
        { "ProtectKernelModules", SETTING_BOOL },
        { "ProtectKernelTunables", SETTING_BOOL },
        { "ProtectProc", SETTING_STRING },
        { "ProtectSystem", SETTING_STRING },
        { "ReadOnlyPaths", SETTING_STRINGS },
        { "ReadWritePaths", SETTING_STRINGS },
        { "RemoveIPC", SETTING_BOOL },
        { "Requires", SETTING_STRINGS },
        { "RequiresMountsFor", SETTING_STRINGS },
        { "Requisite", SETTING_STRINGS },
        { "RestrictAddressFamilies", SETTING_FILTER },
        { "RestrictFileSystems", SETTING_FILTER },
        { "RestrictNamespaces", SETTING_NAMESPACES },
        { "RestrictRealtime", SETTING_BOOL },
        { "RestrictSUIDSGID", SETTING_BOOL },
        { "RootDirectory", SETTING_STRING },
        { "RootImage", SETTING_STRING },
        { "RuntimeDirectory", SETTING_STRINGS },
        { "RuntimeDirectoryMode", SETTING_MODE },
        { "RuntimeDirectoryPreserve", SETTING_STRING },
        { "RuntimeMaxSec", SETTING_SPAN, "RuntimeMaxUSec" },
        { "SendSIGHUP", SETTING_BOOL },
        { "Slice", SETTING_STRING },
        { "SmackProcessLabel", SETTING_STRING },
        { "StartupCPUWeight", SETTING_COUNT },
        { "StartupIOWeight", SETTING_COUNT },
        { "StateDirectory", SETTING_STRINGS },
        { "StateDirectoryMode", SETTING_MODE },
        { "SupplementaryGroups", SETTING_STRINGS },
        { "SyslogFacility", SETTING_LOG_FACILITY },
        { "SyslogIdentifier", SETTING_STRING },
        { "SyslogLevel", SETTING_LOG_LEVEL },
        { "SyslogLevelPrefix", SETTING_BOOL },
        { "SystemCallArchitectures", SETTING_STRINGS },
        { "SystemCallErrorNumber", SETTING_ERROR },
        { "SystemCallFilter", SETTING_FILTER },
        { "SystemCallLog", SETTING_FILTER },
        { "TTYPath", SETTING_STRING },
        { "TasksAccounting", SETTING_BOOL },
        { "TasksMax", SETTING_COUNT },
        { "TimeoutAbortSec", SETTING_SPAN, "TimeoutAbortUSec" },
        { "TimeoutStartSec", SETTING_SPAN, "TimeoutStartUSec" },
        { "UMask", SETTING_MODE },
        { "UnsetEnvironment", SETTING_STRINGS },
        { "Upholds", SETTING_STRINGS },
        { "UtmpIdentifier", SETTING_STRING },
        { "UtmpMode", SETTING_STRING },
        { "Wants", SETTING_STRINGS },
        { "WatchdogSec", SETTING_SPAN, "WatchdogUSec" },
};

/* Properties that parameters of Spawn set, or that Spawn needs for itself. */
static const struct {
        const char *name, *param; /* param NULL: no parameter sets it */
} taken[] = {
        { "Environment", "env" },
        { "ExecStart", "argv" },
        { "ExecStartEx", "argv" },
        { "Group", "group" },
        { "KillMode" },
        { "KillSignal", "kill_signal" },
        { "RemainAfterExit" },
        { "Restart" },
        { "SendSIGKILL" },
        { "StandardErrorFileDescriptor" },
        { "StandardInputFileDescriptor" },
        { "StandardOutputFileDescriptor" },
        { "SuccessExitStatus", "success_exit" },
        { "TimeoutStopSec", "kill_timeout" },
        { "TimeoutStopUSec", "kill_timeout" },
        { "Type" },
        { "User", "user" },
        { "WorkingDirectory", "cwd" },
};

/* The values of StandardInput=, StandardOutput= and StandardError= that are words. On the bus, systemd has another
 * property for each kind of file. */
static const char *const input_words[] = { "null", "tty", "tty-force", "tty-fail", NULL };
static const char *const output_words[] = { "null",         "journal", "kmsg",    "journal+console",
                                            "kmsg+console", "tty",     "inherit", NULL };

static const struct {
        const char *prefix, *suffix;
} stream_files[] = {
        { "file:", "File" }, /* the only one for an input */
        { "append:", "FileToAppend" },
        { "truncate:", "FileToTruncate" },
};

static const struct {
        const char *name, *param;
        size_t offset; /* of param in SpawnParams */
        const char *const *words;
        size_t n_files; /* of stream_files */
        const char *expected;
} streams[] = {
        { "StandardError", "stderr", offsetof(SpawnParams, stderr_key), output_words, G_N_ELEMENTS(stream_files),
          "\"journal\", \"null\" or a file such as \"append:/var/log/x.log\"" },
        { "StandardInput", "stdin", offsetof(SpawnParams, input), input_words, 1,
          "\"null\" or a file such as \"file:/etc/x.conf\"" },
        { "StandardOutput", "stdout", offsetof(SpawnParams, stdout_key), output_words, G_N_ELEMENTS(stream_files),
          "\"journal\", \"null\" or a file such as \"append:/var/log/x.log\"" },
};

/* The index in streams, or its length. */
static size_t find_stream(const char *name) {
        size_t i = 0;

        while (i < G_N_ELEMENTS(streams) && !g_str_equal(streams[i].name, name))
                i++;

        return i;
}

char *spawn_properties_conflict(json_object *properties, const SpawnParams *params, const char **ret_property) {
        for (size_t i = 0; i < G_N_ELEMENTS(streams); i++)
                if (json_object_object_get_ex(properties, streams[i].name, NULL) &&
                    *(char *const *) ((const char *) params + streams[i].offset)) {
                        *ret_property = streams[i].name;
                        return g_strdup_printf("\"%s\" cannot be set beside the parameter '%s'", streams[i].name,
                                               streams[i].param);
                }

        return NULL;
}

/* The index in taken, or its length. */
static size_t find_taken(const char *name) {
        size_t i = 0;

        while (i < G_N_ELEMENTS(taken) && !g_str_equal(taken[i].name, name))
                i++;

        return i;
}

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

static int property_compare(const void *name, const void *property) {
        return strcmp(name, ((const Property *) property)->name);
}

/* A variant in the way of basic/dbus-value.h. */
static json_object *variant_new(const char *signature, json_object *value) {
        json_object *variant = json_object_new_object();

        json_object_object_add(variant, "signature", json_object_new_string(signature));
        json_object_object_add(variant, "value", value);
        return variant;
}

/* Appends a property as (sv), whose value is the variant; takes it. message NULL: would it fit? */
static int variant_append(sd_bus_message *message, const char *name, json_object *variant, char **ret_error) {
        g_autoptr(json_object) arguments = json_object_new_array();
        json_object *pair = json_object_new_array();

        json_object_array_add(pair, json_object_new_string(name));
        json_object_array_add(pair, variant);
        json_object_array_add(arguments, pair);
        return message ? value_append(message, "(sv)", arguments, ret_error)
                       : value_check("(sv)", arguments, ret_error);
}

/* Characters that systemd 252 reads back as others. Except in commands, these are also control characters, and a blank
 * or a backslash at the beginning or end. */
typedef struct Lossy {
        const char *characters, *hint;
} Lossy;

static const Lossy lossy_command = { ";$", "run a script in place of a command with ';', '$' or \"no-env-expand\"" };
static const Lossy lossy_text = { "", "leave out control characters, and blanks and '\\' at its ends" };
static const Lossy lossy_list = { "\"'\\", "leave out control characters, quotes and '\\', and blanks at its ends" };
static const Lossy lossy_words = { "\"'\\% ", "leave out control characters, blanks, quotes, '\\' and '%'" };
static const Lossy lossy_pairs = { "\"'\\% :", "leave out control characters, blanks, quotes, '\\', '%' and ':'" };

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
        const Lossy *lossy = &lossy_list;
        json_object *found;

        if (g_strv_contains(forgotten, name)) {
                *ret_error = g_strdup_printf("\"%s\" cannot be set: systemd forgets it when it is reloaded", name);
                return -ENOENT;
        }

        if (g_str_has_prefix(signature, "a(sas"))
                lossy = &lossy_command;
        else if (g_str_equal(signature, "s"))
                lossy = &lossy_text;
        else if (g_strv_contains(pairs, name))
                lossy = &lossy_pairs;
        else if (strchr(signature, '(') || g_strv_contains(words, name))
                lossy = &lossy_words;
        found = find_lossy(value, lossy);
        if (!found)
                return 0;

        *ret_error =
                g_strdup_printf("systemd would read %s as something else when it is reloaded; %s",
                                json_object_to_json_string_ext(found, JSON_C_TO_STRING_NOSLASHESCAPE), lossy->hint);
        return -EINVAL;
}

static int known_append(sd_bus_message *message, const Property *property, json_object *value, char **ret_error) {
        g_autoptr(json_object) converted = setting_convert(property->kind, value);
        const char *signature = setting_signature(property->kind);
        g_autofree char *error = NULL;
        int r = -EINVAL;

        if (converted) {
                r = check_read_back(property->name, signature, converted, ret_error);
                if (r < 0)
                        return r;

                r = variant_append(message, property->bus_name ?: property->name,
                                   variant_new(signature, json_object_get(converted)), &error);
        }
        if (r < 0) {
                g_autofree char *shown = value_to_text(value);

                *ret_error = g_strdup_printf("expected %s, not %s", setting_example(property->kind), shown);
        }

        return r;
}

/* Settings that have no short form: their name and type on the bus. */
static const struct {
        const char *name, *bus_name, *signature;
} explicit_table[] = {
        { "BPFProgram", "BPFProgram", "a(ss)" },
        { "ExecCondition", "ExecCondition", "a(sasb)" },
        { "ExecReload", "ExecReload", "a(sasb)" },
        { "ExecStartPost", "ExecStartPost", "a(sasb)" },
        { "ExecStartPre", "ExecStartPre", "a(sasb)" },
        { "ExecStop", "ExecStop", "a(sasb)" },
        { "ExecStopPost", "ExecStopPost", "a(sasb)" },
        { "IODeviceLatencyTargetSec", "IODeviceLatencyTargetUSec", "a(st)" },
        { "LoadCredential", "LoadCredential", "a(ss)" },
        { "LoadCredentialEncrypted", "LoadCredentialEncrypted", "a(ss)" },
        { "LogExtraFields", "LogExtraFields", "aay" },
        { "ManagedOOMMemoryPressureLimit", "ManagedOOMMemoryPressureLimit", "u" },
        { "MountFlags", "MountFlags", "t" },
        { "NUMAMask", "NUMAMask", "ay" },
        { "NUMAPolicy", "NUMAPolicy", "i" },
        { "RootHash", "RootHash", "ay" },
        { "RootImageOptions", "RootImageOptions", "a(ss)" },
        { "SecureBits", "SecureBits", "i" },
        { "SELinuxContext", "SELinuxContext", "s" },
        { "SetCredential", "SetCredential", "a(say)" },
        { "SetCredentialEncrypted", "SetCredentialEncrypted", "a(say)" },
        { "SocketBindAllow", "SocketBindAllow", "a(iiqq)" },
        { "SocketBindDeny", "SocketBindDeny", "a(iiqq)" },
        { "TemporaryFileSystem", "TemporaryFileSystem", "a(ss)" },
        { "TimerSlackNSec", "TimerSlackNSec", "t" },
};

static bool is_condition(const char *name) {
        return g_str_has_prefix(name, "Condition") || g_str_has_prefix(name, "Assert");
}

/* The index in explicit_table, or its length. */
static size_t find_explicit(const char *name) {
        size_t i = 0;

        while (i < G_N_ELEMENTS(explicit_table) && !g_str_equal(explicit_table[i].name, name))
                i++;

        return i;
}

/* Settings that systemd had before the unified hierarchy of control groups, and what replaces them. */
static const char *successor_of(const char *name) {
        static const char *const all[][2] = {
                { "MemoryLimit", "MemoryMax" },    { "CPUShares", "CPUWeight" },
                { "BlockIOWeight", "IOWeight" },   { "StartupCPUShares", "StartupCPUWeight" },
                { "TimeoutSec", "RuntimeMaxSec" }, { "Capabilities", "CapabilityBoundingSet" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
                if (g_str_equal(all[i][0], name))
                        return all[i][1];

        return NULL;
}

/* Returns the nearest known name for a misspelled one. NULL: the name exists, but cannot be used. */
static const char *suggestion_for(const char *name) {
        Nearest nearest = { .word = name };

        if (successor_of(name))
                return successor_of(name);
        if (find_taken(name) < G_N_ELEMENTS(taken) || find_stream(name) < G_N_ELEMENTS(streams) ||
            g_strv_contains(forgotten, name) || is_condition(name) ||
            find_explicit(name) < G_N_ELEMENTS(explicit_table))
                return NULL;

        for (size_t i = 0; i < G_N_ELEMENTS(properties_table); i++)
                nearest_offer(&nearest, properties_table[i].name);
        for (size_t i = 0; i < G_N_ELEMENTS(streams); i++)
                nearest_offer(&nearest, streams[i].name);
        return nearest.best;
}

/* -ENOENT: it is about the name. */
static int unknown_property(const char *name, char **ret_error) {
        const char *nearest = suggestion_for(name);
        size_t i = find_explicit(name);

        if (g_str_has_prefix(name, "ExecSt") || g_str_has_prefix(name, "ExecCondition"))
                *ret_error = g_strdup_printf("\"%s\" has no short form; the children of a Sequence run one after the "
                                             "other, and a Finally cleans up",
                                             name);
        else if (i < G_N_ELEMENTS(explicit_table))
                *ret_error = g_strdup_printf("\"%s\" has no short form; give \"%s\" as {\"signature\": \"%s\", "
                                             "\"value\": ...}",
                                             name, explicit_table[i].bus_name, explicit_table[i].signature);
        else if (is_condition(name))
                *ret_error = g_strdup_printf("\"%s\" cannot be set; put a condition such as PathExists before the node",
                                             name);
        else if (nearest)
                *ret_error = g_strdup_printf("\"%s\" is not known; did you mean \"%s\"? " EXPLICIT, name, nearest);
        else
                *ret_error = g_strdup_printf("\"%s\" is not known. " EXPLICIT, name);

        return -ENOENT;
}

static int stream_append(sd_bus_message *message, size_t stream, json_object *value, char **ret_error) {
        const char *text = json_object_is_type(value, json_type_string) ? json_object_get_string(value) : "";
        g_autofree char *bus_name = NULL, *shown = NULL;
        const char *given = NULL;
        int r;

        assert(text);
        if (g_strv_contains(streams[stream].words, text)) {
                bus_name = g_strdup(streams[stream].name);
                given = text;
        }
        for (size_t i = 0; !given && i < streams[stream].n_files; i++)
                if (g_str_has_prefix(text, stream_files[i].prefix) && text[strlen(stream_files[i].prefix)] == '/') {
                        bus_name = g_strconcat(streams[stream].name, stream_files[i].suffix, NULL);
                        given = text + strlen(stream_files[i].prefix);
                }
        if (!given) {
                shown = value_to_text(value);
                *ret_error = g_strdup_printf("expected %s, not %s", streams[stream].expected, shown);
                return -EINVAL;
        }

        r = check_read_back(streams[stream].name, "s", value, ret_error);
        if (r < 0)
                return r;

        return variant_append(message, bus_name, variant_new("s", json_object_new_string(given)), ret_error);
}

static int property_append(sd_bus_message *message, const char *name, json_object *value, char **ret_error) {
        static const char place[] = "argument 1, field 2: ";
        const Property *property =
                bsearch(name, properties_table, G_N_ELEMENTS(properties_table), sizeof(Property), property_compare);
        json_object *explicit = NULL, *content = NULL;
        bool is_variant = json_object_is_type(value, json_type_object) &&
                          json_object_object_get_ex(value, "signature", &explicit) &&
                          json_object_object_get_ex(value, "value", &content);
        size_t set_by = find_taken(name), stream = find_stream(name);
        g_autofree char *error = NULL;
        const char *signature;
        int r;

        if (set_by < G_N_ELEMENTS(taken)) {
                const char *param = taken[set_by].param;

                *ret_error = param ? g_strdup_printf("\"%s\" is set by the node itself; use its parameter \"%s\"", name,
                                                     param)
                                   : g_strdup_printf("\"%s\" is set by the node itself", name);
                return -ENOENT;
        }

        if (stream < G_N_ELEMENTS(streams))
                return stream_append(message, stream, value, ret_error);
        if (!is_variant)
                return property ? known_append(message, property, value, ret_error) : unknown_property(name, ret_error);

        signature = json_object_is_type(explicit, json_type_string) ? json_object_get_string(explicit) : "";
        r = check_read_back(name, signature, content, ret_error);
        if (r < 0)
                return r;

        /* The place in (sv) means nothing to the author of an object, so it is removed from the message. */
        r = variant_append(message, name, json_object_get(value), &error);
        if (r < 0)
                *ret_error = g_strdup(g_str_has_prefix(error, place) ? error + strlen(place) : error);
        return r;
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
                        r = param_report_instead(setter, &at, q == -ENOENT, q == -ENOENT ? suggestion_for(name) : NULL,
                                                 error);
        }

        return r;
}

/* The schema has the properties of the table; for others, a signature is required. */
static json_object *properties_schema(void) {
        json_object *schema = json_tokener_parse(
                "{\"type\": \"object\", \"additionalProperties\": {\"type\": \"object\", \"required\": "
                "[\"signature\", \"value\"]}}");
        json_object *properties = json_object_new_object();

        for (size_t i = 0; i < G_N_ELEMENTS(properties_table); i++) {
                const Property *property = &properties_table[i];
                json_object *each = json_object_new_object();

                json_object_object_add(each, "type", json_tokener_parse(setting_types(property->kind)));
                json_object_object_add(each, "description", json_object_new_string(setting_example(property->kind)));
                json_object_object_add(properties, property->name, each);
        }
        for (size_t i = 0; i < G_N_ELEMENTS(streams); i++) {
                json_object *each = json_tokener_parse("{\"type\": \"string\"}");

                json_object_object_add(each, "description", json_object_new_string(streams[i].expected));
                json_object_object_add(properties, streams[i].name, each);
        }
        for (size_t i = 0; i < G_N_ELEMENTS(taken); i++)
                json_object_object_add(properties, taken[i].name, json_object_new_boolean(false));

        json_object_object_add(schema, "properties", properties);
        return schema;
}

const ValueFormat spawn_properties_format = { .check = properties_check, .schema = properties_schema };
