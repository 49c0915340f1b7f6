/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Converts settings from the form that people write in unit files to the one that systemd takes on D-Bus, which is a
 * number or a structure for many of them.
 */

#include <json-c/json_object.h>

typedef enum SettingKind {
        SETTING_BOOL,
        SETTING_INT,      /* i */
        SETTING_COUNT,    /* t, or "infinity" */
        SETTING_COUNT32,  /* u */
        SETTING_SIZE,     /* t, also "64M", "infinity" */
        SETTING_SPAN,     /* t in microseconds */
        SETTING_SECONDS,  /* t in seconds */
        SETTING_PERCENT,  /* t in microseconds a second: "50%" */
        SETTING_MODE,     /* u: "0022" */
        SETTING_STRING,   /* s */
        SETTING_STRINGS,  /* as; also one string */
        SETTING_IO_CLASS, /* these are i; also the number */
        SETTING_CPU_POLICY,
        SETTING_LOG_LEVEL,
        SETTING_LOG_FACILITY,
        SETTING_ERROR,        /* i: "EPERM" */
        SETTING_CAPABILITIES, /* t: names, also after '~' */
        SETTING_NAMESPACES,   /* t: a boolean, or names, also after '~' */
        SETTING_FILTER,       /* (bas): names, also after '~' */
        SETTING_CPUS,         /* ay: "0-3,8" */
        SETTING_FILES,        /* a(sb): paths, which may begin with '-' */
        SETTING_BINDS,        /* a(ssbt): "SOURCE:DESTINATION" */
        SETTING_DEVICES,      /* a(ss): "/dev/x rw" */
        SETTING_DEVICE_SIZES, /* a(st): "/dev/x 5M" */
        SETTING_ADDRESSES,    /* a(iayu): "any", "10.0.0.0/8" */
} SettingKind;

const char *setting_signature(SettingKind kind);
/* For messages: "a time span like \"10s\"". */
const char *setting_example(SettingKind kind);
/* The JSON types of the short form, as a JSON text for the schema. */
const char *setting_types(SettingKind kind);
/* The value in its form for the bus: a new reference. NULL: it is invalid. */
json_object *setting_convert(SettingKind kind, json_object *value);
