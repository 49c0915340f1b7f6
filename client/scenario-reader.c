/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Objects with a fixed set of members, read by the same tables and with the same words as the parameters of nodes. */

#include "scenario-reader.h"
#include "basic/cleanup.h"
#include "basic/excerpt.h"
#include "basic/nearest.h"
#include "definition/params.h"

void reader_error(Reader *reader, uint32_t item, char *text) {
        diagnostics_add(reader->diagnostics, 0, text_offset(&reader->text, item), false, g_strdup(reader->where), text);
}

char *reader_string(Reader *reader, uint32_t item) {
        size_t length;
        const char *string = text_string(&reader->text, item, reader->scratch, &length);

        return g_strndup(string, length);
}

const char *reader_describe(const Reader *reader, uint32_t item) {
        static const char *const kinds[] = {
                [TEXT_NULL] = "null",        [TEXT_FALSE] = "false",     [TEXT_TRUE] = "true",
                [TEXT_NUMBER] = "a number",  [TEXT_STRING] = "a string", [TEXT_ARRAY] = "a list",
                [TEXT_OBJECT] = "an object",
        };

        return kinds[text_kind(&reader->text, item)];
}

typedef struct Report {
        Reader *reader;
        uint32_t item;
} Report;

static void on_param_report(const Place *place, bool at_key, char *text, void *userdata) {
        const Report *report = userdata;
        g_autofree char *problem = text, *prefix = place_format(place);

        reader_error(report->reader, report->item, g_strdup_printf("%s: %s", prefix, problem));
}

void reader_set(Reader *reader, uint32_t item, const Param *param, void *values) {
        Report report = { .reader = reader, .item = item };
        ParamSetter setter = { .arena = reader->scenario->arena, .report = on_param_report, .userdata = &report };
        g_autoptr(json_object) value = NULL;
        g_autofree char *error = NULL;
        uint32_t fault;

        if (text_to_json(&reader->text, item, reader->scratch, &value, &fault, &error) < 0)
                reader_error(reader, fault, g_strdup_printf("%s: %s", param->name, error));
        else
                param_set(&setter, param, values, value);
}

static void report_unknown(Reader *reader, uint32_t key, const char *word, const Fields *fields) {
        g_autofree char *shown = excerpt(word, strlen(word));
        GString *text = g_string_new(NULL);
        Nearest nearest = { .word = word };

        for (const Param *param = fields->params; param->name; param++)
                nearest_offer(&nearest, param->name);

        g_string_append_printf(text, "unknown key '%s'", shown);
        if (nearest.best)
                g_string_append_printf(text, "; did you mean '%s'?", nearest.best);
        g_string_append_printf(text, " (%s takes: ", fields->owner);
        for (const Param *param = fields->params; param->name; param++)
                g_string_append_printf(text, "%s%s", param != fields->params ? ", " : "", param->name);
        g_string_append_c(text, ')');

        reader_error(reader, key, g_string_free(text, false));
}

static void read_field(Reader *reader, uint32_t key, const Fields *fields, void *values,
                       uint32_t ret_items[static FIELDS_MAX]) {
        g_autofree char *word = reader_string(reader, key);
        const Param *param = params_find(fields->params, word, strlen(word));

        if (!param) {
                report_unknown(reader, key, word, fields);
                return;
        }

        if (ret_items[param - fields->params] > 0) {
                reader_error(reader, key, g_strdup_printf("'%s' is given twice", word));
                return;
        }

        ret_items[param - fields->params] = key + 1;
        if (param->kind != PARAM_JSON)
                reader_set(reader, key + 1, param, values);
}

void reader_read_fields(Reader *reader, uint32_t item, const Fields *fields, void *values,
                        uint32_t ret_items[static FIELDS_MAX]) {
        uint32_t n = text_item(&reader->text, item)->count, key = item + 1;

        for (uint32_t i = 0; i < n; i++, key = text_next(&reader->text, key + 1))
                read_field(reader, key, fields, values, ret_items);

        for (const Param *param = fields->params; param->name; param++)
                if (param->required && ret_items[param - fields->params] == 0)
                        reader_error(reader, item, g_strdup_printf("'%s' is missing: %s", param->name, param->doc));
}
