/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Has a function for each kind of setting that is neither a plain number nor a string. The numbers are those of the
 * kernel's interfaces, which systemd passes on. */

#include <arpa/inet.h>
#include <errno.h>
#include <glib.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <syslog.h>

#include "basic/cleanup.h"
#include "basic/span.h"
#include "leaf-types/unit-settings.h"

/* The largest number of a processor that can be given, and the largest errno. */
#define CPU_MAX 8191u
#define ERROR_MAX 4095

/* base: of the units. */
static int quantity_parse(const char *text, unsigned base, uint64_t *ret_size) {
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

        for (const char *each = units; unit && each <= unit; each++)
                number *= base;
        if (number >= 0x1p64)
                return -ERANGE;

        *ret_size = (uint64_t) number;
        return 0;
}

static int size_parse(const char *text, uint64_t *ret_size) {
        return quantity_parse(text, 1024, ret_size);
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

/* Rounded up, as systemd does. */
static int seconds_parse(const char *text, uint64_t *ret_seconds) {
        uint64_t usec;
        int r = span_parse(text, &usec);

        if (r >= 0)
                *ret_seconds = (usec + G_USEC_PER_SEC - 1) / G_USEC_PER_SEC;
        return r;
}

typedef struct Word {
        const char *name;
        int64_t number;
} Word;

static const Word io_classes[] = { { "none", 0 }, { "realtime", 1 }, { "best-effort", 2 }, { "idle", 3 }, {} };
static const Word cpu_policies[] = {
        { "other", SCHED_OTHER }, { "fifo", SCHED_FIFO }, { "rr", SCHED_RR },
        { "batch", SCHED_BATCH }, { "idle", SCHED_IDLE }, {},
};
static const Word log_levels[] = {
        { "emerg", LOG_EMERG }, { "alert", LOG_ALERT },     { "crit", LOG_CRIT },
        { "err", LOG_ERR },     { "warning", LOG_WARNING }, { "notice", LOG_NOTICE },
        { "info", LOG_INFO },   { "debug", LOG_DEBUG },     {},
};
static const Word log_facilities[] = {
        { "kern", 0 },    { "user", 1 },      { "mail", 2 },
        { "daemon", 3 },  { "auth", 4 },      { "syslog", 5 },
        { "lpr", 6 },     { "news", 7 },      { "uucp", 8 },
        { "cron", 9 },    { "authpriv", 10 }, { "ftp", 11 },
        { "local0", 16 }, { "local1", 17 },   { "local2", 18 },
        { "local3", 19 }, { "local4", 20 },   { "local5", 21 },
        { "local6", 22 }, { "local7", 23 },   {},
};
static const Word namespaces[] = {
        { "cgroup", CLONE_NEWCGROUP }, { "ipc", CLONE_NEWIPC },   { "net", CLONE_NEWNET }, { "mnt", CLONE_NEWNS },
        { "pid", CLONE_NEWPID },       { "user", CLONE_NEWUSER }, { "uts", CLONE_NEWUTS }, {},
};
/* See capabilities(7); the index is the number. */
static const char *const capabilities[] = {
        "CAP_CHOWN",
        "CAP_DAC_OVERRIDE",
        "CAP_DAC_READ_SEARCH",
        "CAP_FOWNER",
        "CAP_FSETID",
        "CAP_KILL",
        "CAP_SETGID",
        "CAP_SETUID",
        "CAP_SETPCAP",
        "CAP_LINUX_IMMUTABLE",
        "CAP_NET_BIND_SERVICE",
        "CAP_NET_BROADCAST",
        "CAP_NET_ADMIN",
        "CAP_NET_RAW",
        "CAP_IPC_LOCK",
        "CAP_IPC_OWNER",
        "CAP_SYS_MODULE",
        "CAP_SYS_RAWIO",
        "CAP_SYS_CHROOT",
        "CAP_SYS_PTRACE",
        "CAP_SYS_PACCT",
        "CAP_SYS_ADMIN",
        "CAP_SYS_BOOT",
        "CAP_SYS_NICE",
        "CAP_SYS_RESOURCE",
        "CAP_SYS_TIME",
        "CAP_SYS_TTY_CONFIG",
        "CAP_MKNOD",
        "CAP_LEASE",
        "CAP_AUDIT_WRITE",
        "CAP_AUDIT_CONTROL",
        "CAP_SETFCAP",
        "CAP_MAC_OVERRIDE",
        "CAP_MAC_ADMIN",
        "CAP_SYSLOG",
        "CAP_WAKE_ALARM",
        "CAP_BLOCK_SUSPEND",
        "CAP_AUDIT_READ",
        "CAP_PERFMON",
        "CAP_BPF",
        "CAP_CHECKPOINT_RESTORE",
};

static const Word *find_word(const Word *words, const char *name) {
        for (; words->name; words++)
                if (g_str_equal(words->name, name))
                        return words;

        return NULL;
}

static json_object *error_convert(json_object *value) {
        const char *name = json_object_is_type(value, json_type_string) ? json_object_get_string(value) : "";

        if (json_object_is_type(value, json_type_int))
                return json_object_get(value);

        for (int number = 1; number <= ERROR_MAX; number++)
                if (g_strcmp0(strerrorname_np(number), name) == 0)
                        return json_object_new_int(number);

        return NULL;
}

/* The items of a list, or of a string with blanks between them. ret_inverted: the first one began with '~', which is
 * removed; NULL: it is not special. NULL: it is neither. */
static GStrv items_of(json_object *value, bool *ret_inverted) {
        g_autoptr(GPtrArray) items = g_ptr_array_new_with_free_func(g_free);
        bool list = json_object_is_type(value, json_type_array);

        if (!list && !json_object_is_type(value, json_type_string))
                return NULL;

        for (size_t i = 0; i < (list ? json_object_array_length(value) : 1); i++) {
                json_object *item = list ? json_object_array_get_idx(value, i) : value;
                g_auto(GStrv) parts = NULL;

                if (!json_object_is_type(item, json_type_string))
                        return NULL;

                parts = g_strsplit_set(json_object_get_string(item), " \t", -1);
                for (char **part = parts; *part; part++)
                        if (**part)
                                g_ptr_array_add(items, g_strdup(*part));
        }

        if (ret_inverted)
                *ret_inverted = items->len > 0 && *(const char *) items->pdata[0] == '~';
        if (ret_inverted && *ret_inverted)
                memmove(items->pdata[0], (char *) items->pdata[0] + 1, strlen(items->pdata[0]));
        if (items->len > 0 && !*(const char *) items->pdata[0])
                g_ptr_array_remove_index(items, 0);
        g_ptr_array_add(items, NULL);
        return (GStrv) g_ptr_array_free(g_steal_pointer(&items), false);
}

static json_object *capabilities_convert(json_object *value) {
        bool inverted = false;
        g_auto(GStrv) items = items_of(value, &inverted);
        uint64_t all = (UINT64_C(1) << G_N_ELEMENTS(capabilities)) - 1, set = 0;

        if (!items)
                return NULL;

        for (char **item = items; *item; item++) {
                size_t i = 0;

                while (i < G_N_ELEMENTS(capabilities) && g_ascii_strcasecmp(capabilities[i], *item) != 0)
                        i++;
                if (i == G_N_ELEMENTS(capabilities))
                        return NULL;
                set |= UINT64_C(1) << i;
        }

        return json_object_new_uint64(inverted ? all & ~set : set);
}

/* The number has the namespaces that are permitted. */
static json_object *namespaces_convert(json_object *value) {
        bool inverted = false;
        g_auto(GStrv) items = items_of(value, &inverted);
        uint64_t all = 0, set = 0;

        for (const Word *word = namespaces; word->name; word++)
                all |= (uint64_t) word->number;
        if (json_object_is_type(value, json_type_boolean))
                return json_object_new_uint64(json_object_get_boolean(value) ? 0 : all);
        if (!items)
                return NULL;

        for (char **item = items; *item; item++) {
                const Word *word = find_word(namespaces, *item);

                if (!word)
                        return NULL;
                set |= (uint64_t) word->number;
        }

        return json_object_new_uint64(inverted ? all & ~set : set);
}

static json_object *pair(json_object *first, json_object *second) {
        json_object *list = json_object_new_array();

        json_object_array_add(list, first);
        json_object_array_add(list, second);
        return list;
}

static json_object *filter_convert(json_object *value) {
        bool inverted = false;
        g_auto(GStrv) items = items_of(value, &inverted);
        json_object *names;

        if (!items)
                return NULL;

        names = json_object_new_array();
        for (char **item = items; *item; item++)
                json_object_array_add(names, json_object_new_string(*item));
        return pair(json_object_new_boolean(!inverted), names);
}

/* The bytes of a bit mask. */
static json_object *cpus_convert(json_object *value) {
        g_autofree char *text = NULL;
        g_auto(GStrv) items = items_of(value, NULL), ranges = NULL;
        g_autoptr(GByteArray) mask = g_byte_array_new();
        json_object *bytes;

        if (json_object_is_type(value, json_type_int))
                text = g_strdup(json_object_get_string(value));
        else if (items && *items)
                text = g_strjoinv(",", items);
        else
                return NULL;

        ranges = g_strsplit(text, ",", -1);
        for (char **range = ranges; *range; range++) {
                g_auto(GStrv) ends = g_strsplit(*range, "-", 2);
                guint64 from, to;

                if (!g_ascii_string_to_unsigned(ends[0], 10, 0, CPU_MAX, &from, NULL) ||
                    !g_ascii_string_to_unsigned(ends[1] ?: ends[0], 10, from, CPU_MAX, &to, NULL))
                        return NULL;
                for (guint old = mask->len; mask->len <= to / 8; old = mask->len) {
                        g_byte_array_set_size(mask, old + 1);
                        mask->data[old] = 0;
                }
                for (guint64 cpu = from; cpu <= to; cpu++)
                        mask->data[cpu / 8] |= (guint8) (1u << cpu % 8);
        }

        bytes = json_object_new_array();
        for (guint i = 0; i < mask->len; i++)
                json_object_array_add(bytes, json_object_new_int(mask->data[i]));
        return bytes;
}

/* "-" before a path: it may be missing. */
static json_object *files_convert(json_object *value) {
        g_auto(GStrv) items = items_of(value, NULL);
        json_object *files;

        for (char **item = items; item && *item; item++)
                if (!g_path_is_absolute(**item == '-' ? *item + 1 : *item))
                        return NULL;
        if (!items)
                return NULL;

        files = json_object_new_array();
        for (char **item = items; *item; item++)
                json_object_array_add(files, pair(json_object_new_string(**item == '-' ? *item + 1 : *item),
                                                  json_object_new_boolean(**item == '-')));
        return files;
}

static json_object *device_new(const char *device, const char *rights) {
        return pair(json_object_new_string(device), json_object_new_string(rights));
}

static json_object *device_size_new(const char *device, const char *size) {
        uint64_t bytes = UINT64_MAX;

        if (!g_str_equal(size, "infinity") && quantity_parse(size, 1000, &bytes) < 0)
                return NULL;

        return pair(json_object_new_string(device), json_object_new_uint64(bytes));
}

/* Takes the value if it is one; false: it is NULL. */
static bool append(json_object *list, json_object *value) {
        return value && json_object_array_add(list, value) >= 0;
}

static json_object *binds_convert(json_object *value) {
        g_autoptr(json_object) list = json_object_new_array();
        g_auto(GStrv) items = items_of(value, NULL);

        for (char **item = items; item && *item; item++) {
                bool optional = **item == '-';
                g_auto(GStrv) parts = g_strsplit(optional ? *item + 1 : *item, ":", 3);
                guint n = g_strv_length(parts);
                const char *flags = n > 2 ? parts[2] : "rbind";
                json_object *bind;

                if (n == 0 || !g_path_is_absolute(parts[0]) || (n > 1 && !g_path_is_absolute(parts[1])) ||
                    (!g_str_equal(flags, "rbind") && !g_str_equal(flags, "norbind")))
                        return NULL;

                bind = pair(json_object_new_string(parts[0]), json_object_new_string(parts[n > 1 ? 1 : 0]));
                json_object_array_add(bind, json_object_new_boolean(optional));
                json_object_array_add(bind, json_object_new_uint64(g_str_equal(flags, "rbind") ? MS_REC : 0));
                json_object_array_add(list, bind);
        }

        return items ? json_object_get(list) : NULL;
}

/* One string "/dev/x VALUE", or a list of such strings. */
static json_object *devices_convert(json_object *value, json_object *(*make)(const char *device, const char *rest)) {
        g_autoptr(json_object) list = json_object_new_array();
        bool several = json_object_is_type(value, json_type_array);

        for (size_t i = 0; i < (several ? json_object_array_length(value) : 1); i++) {
                g_auto(GStrv) items = items_of(several ? json_object_array_get_idx(value, i) : value, NULL);

                if (!items || g_strv_length(items) != 2 || !append(list, make(items[0], items[1])))
                        return NULL;
        }

        return json_object_get(list);
}

/* "10.0.0.0/8"; without a length, it is one host. */
static bool append_address(json_object *list, const char *text) {
        g_auto(GStrv) parts = g_strsplit(text, "/", 2);
        int family = strchr(text, ':') ? AF_INET6 : AF_INET;
        guint64 bits = family == AF_INET ? 32 : 128;
        json_object *bytes, *address;
        guint8 raw[16];

        if (inet_pton(family, parts[0] ?: "", raw) <= 0 ||
            (parts[1] && !g_ascii_string_to_unsigned(parts[1], 10, 0, bits, &bits, NULL)))
                return false;

        bytes = json_object_new_array();
        for (size_t i = 0; i < (family == AF_INET ? 4 : 16); i++)
                json_object_array_add(bytes, json_object_new_int(raw[i]));
        address = pair(json_object_new_int(family), bytes);
        json_object_array_add(address, json_object_new_uint64(bits));
        return append(list, address);
}

static json_object *addresses_convert(json_object *value) {
        static const struct {
                const char *name, *ipv4, *ipv6;
        } groups[] = {
                { "any", "0.0.0.0/0", "::/0" },
                { "localhost", "127.0.0.0/8", "::1/128" },
                { "link-local", "169.254.0.0/16", "fe80::/64" },
                { "multicast", "224.0.0.0/4", "ff00::/8" },
        };
        g_autoptr(json_object) list = json_object_new_array();
        g_auto(GStrv) items = items_of(value, NULL);

        for (char **item = items; item && *item; item++) {
                size_t i = 0;

                while (i < G_N_ELEMENTS(groups) && !g_str_equal(groups[i].name, *item))
                        i++;
                if (!append_address(list, i < G_N_ELEMENTS(groups) ? groups[i].ipv4 : *item) ||
                    (i < G_N_ELEMENTS(groups) && !append_address(list, groups[i].ipv6)))
                        return NULL;
        }

        return items ? json_object_get(list) : NULL;
}

/* For each kind: its signature, the JSON types of its short form, what it reads from a string beside JSON's own types,
 * or how any value becomes the one for the bus, and an example. */
static const struct {
        const char *signature, *types;
        int (*parse)(const char *text, uint64_t *ret_number);
        bool only_text, infinity;
        const Word *words; /* also their numbers */
        json_object *(*convert)(json_object *value);
        json_object *(*make)(const char *device, const char *rest); /* of the strings of a list */
        const char *example;
} kinds[] = {
        [SETTING_BOOL] = { "b", "[\"boolean\", \"object\"]", .example = "true or false" },
        [SETTING_INT] = { "i", "[\"integer\", \"string\", \"object\"]", .example = "a whole number" },
        [SETTING_COUNT] = { "t", "[\"integer\", \"string\", \"object\"]", .infinity = true,
                            .example = "a whole number or \"infinity\"" },
        [SETTING_COUNT32] = { "u", "[\"integer\", \"object\"]", .example = "a whole number" },
        [SETTING_SIZE] = { "t", "[\"integer\", \"string\", \"object\"]", size_parse, .infinity = true,
                           .example = "a number of bytes like \"64M\", or \"infinity\"" },
        [SETTING_SPAN] = { "t", "[\"string\", \"object\"]", span_parse, .only_text = true, .infinity = true,
                           .example = "a time span like \"10s\"" },
        [SETTING_SECONDS] = { "t", "[\"string\", \"object\"]", seconds_parse, .only_text = true, .infinity = true,
                              .example = "a time span like \"10s\"" },
        [SETTING_PERCENT] = { "t", "[\"string\", \"object\"]", percent_parse, .only_text = true,
                              .example = "a share like \"50%\"" },
        [SETTING_MODE] = { "u", "[\"string\", \"object\"]", mode_parse, .only_text = true,
                           .example = "an octal mode as a string like \"0022\"" },
        [SETTING_STRING] = { "s", "[\"string\", \"boolean\", \"object\"]", .example = "a string" },
        [SETTING_STRINGS] = { "as", "[\"string\", \"array\", \"object\"]", .example = "a string or a list of strings" },
        [SETTING_IO_CLASS] = { "i", "[\"string\", \"integer\", \"object\"]", .words = io_classes,
                               .example = "\"realtime\", \"best-effort\", \"idle\" or \"none\"" },
        [SETTING_CPU_POLICY] = { "i", "[\"string\", \"integer\", \"object\"]", .words = cpu_policies,
                                 .example = "\"other\", \"batch\", \"idle\", \"fifo\" or \"rr\"" },
        [SETTING_LOG_LEVEL] = { "i", "[\"string\", \"integer\", \"object\"]", .words = log_levels,
                                .example = "\"emerg\", \"alert\", \"crit\", \"err\", \"warning\", \"notice\", "
                                           "\"info\" or \"debug\"" },
        [SETTING_LOG_FACILITY] = { "i", "[\"string\", \"integer\", \"object\"]", .words = log_facilities,
                                   .example = "a facility of syslog like \"daemon\" or \"local0\"" },
        [SETTING_ERROR] = { "i", "[\"string\", \"integer\", \"object\"]", .convert = error_convert,
                            .example = "an error like \"EPERM\"" },
        [SETTING_CAPABILITIES] = { "t", "[\"string\", \"array\", \"object\"]", .convert = capabilities_convert,
                                   .example = "capabilities like \"CAP_NET_ADMIN CAP_KILL\" or \"~CAP_SYS_ADMIN\"" },
        [SETTING_NAMESPACES] = { "t", "[\"boolean\", \"string\", \"array\", \"object\"]", .convert = namespaces_convert,
                                 .example = "true, false or namespaces like \"net ipc\" or \"~user\"" },
        [SETTING_FILTER] = { "(bas)", "[\"string\", \"array\", \"object\"]", .convert = filter_convert,
                             .example = "names like \"@system-service\", AF_UNIX, or after a \"~\" those to deny" },
        [SETTING_CPUS] = { "ay", "[\"integer\", \"string\", \"array\", \"object\"]", .convert = cpus_convert,
                           .example = "numbers and ranges like \"0-3,8\"" },
        [SETTING_FILES] = { "a(sb)", "[\"string\", \"array\", \"object\"]", .convert = files_convert,
                            .example = "absolute paths; a \"-\" before one means that it may be missing" },
        [SETTING_BINDS] = { "a(ssbt)", "[\"string\", \"array\", \"object\"]", .convert = binds_convert,
                            .example = "paths like \"/source\", \"/source:/destination\" or "
                                       "\"/source:/destination:norbind\"" },
        [SETTING_DEVICES] = { "a(ss)", "[\"string\", \"array\", \"object\"]", .make = device_new,
                              .example = "a device and rights like \"/dev/video0 rw\", or a list of such strings" },
        [SETTING_DEVICE_SIZES] = { "a(st)", "[\"string\", \"array\", \"object\"]", .make = device_size_new,
                                   .example = "a device and a number like \"/dev/sda 5M\", or a list of such "
                                              "strings" },
        [SETTING_ADDRESSES] = { "a(iayu)", "[\"string\", \"array\", \"object\"]", .convert = addresses_convert,
                                .example = "\"any\", \"localhost\", \"link-local\", \"multicast\", or addresses like "
                                           "\"10.0.0.0/8\"" },
};

const char *setting_signature(SettingKind kind) {
        return kinds[kind].signature;
}

const char *setting_example(SettingKind kind) {
        return kinds[kind].example;
}

const char *setting_types(SettingKind kind) {
        return kinds[kind].types;
}

json_object *setting_convert(SettingKind kind, json_object *value) {
        const char *text = json_object_is_type(value, json_type_string) ? json_object_get_string(value) : NULL;
        uint64_t number;

        if (kinds[kind].convert)
                return kinds[kind].convert(value);
        if (kinds[kind].make)
                return devices_convert(value, kinds[kind].make);
        if (kinds[kind].words && !json_object_is_type(value, json_type_int)) {
                const Word *word = text ? find_word(kinds[kind].words, text) : NULL;

                return word ? json_object_new_int64(word->number) : NULL;
        }
        if (!text && kinds[kind].only_text)
                return NULL;

        /* ProtectSystem= and its like take words, among them two that JSON has words of its own for. */
        if (kind == SETTING_STRING && json_object_is_type(value, json_type_boolean))
                return json_object_new_string(json_object_get_boolean(value) ? "yes" : "no");
        if (text && kind == SETTING_STRINGS) {
                json_object *list = json_object_new_array();

                json_object_array_add(list, json_object_get(value));
                return list;
        }
        if (text && kinds[kind].infinity && strcmp(text, "infinity") == 0)
                return json_object_new_uint64(UINT64_MAX);
        if (text && kinds[kind].parse)
                return kinds[kind].parse(text, &number) < 0 ? NULL : json_object_new_uint64(number);

        return json_object_get(value);
}
