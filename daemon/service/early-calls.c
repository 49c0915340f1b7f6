/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <glib.h>

#include "basic/cleanup.h"
#include "service/early-calls.h"
#include "service/errors.h"

typedef struct EarlyCall {
        sd_bus_message *message;
        sd_bus_message_handler_t handler;
} EarlyCall;

struct EarlyCalls {
        GArray *calls; /* of EarlyCall */
        unsigned max;
        void *userdata;
};

static void early_call_clear(void *data) {
        EarlyCall *call = data;

        sd_bus_message_unref(call->message);
}

EarlyCalls *early_calls_new(unsigned max, void *userdata) {
        EarlyCalls *calls = g_new0(EarlyCalls, 1);

        calls->calls = g_array_new(FALSE, FALSE, sizeof(EarlyCall));
        g_array_set_clear_func(calls->calls, early_call_clear);
        calls->max = max;
        calls->userdata = userdata;
        return calls;
}

void early_calls_free(EarlyCalls *calls) {
        if (!calls)
                return;

        g_array_unref(calls->calls);
        g_free(calls);
}

static unsigned count_of_sender(const EarlyCalls *calls, const char *sender) {
        unsigned n = 0;

        for (unsigned i = 0; i < calls->calls->len; i++) {
                sd_bus_message *message = g_array_index(calls->calls, EarlyCall, i).message;

                n += g_strcmp0(sd_bus_message_get_sender(message), sender) == 0;
        }

        return n;
}

int early_calls_keep(EarlyCalls *calls, sd_bus_message *message, sd_bus_message_handler_t handler,
                     sd_bus_error *ret_error) {
        EarlyCall call = { .handler = handler };

        if (count_of_sender(calls, sd_bus_message_get_sender(message)) >= calls->max)
                return sd_bus_error_setf(ret_error, ERROR_LIMIT_EXCEEDED, TEXT_TOO_MANY_CALLS, calls->max);

        call.message = sd_bus_message_ref(message);
        g_array_append_val(calls->calls, call);
        return 1;
}

static void answer(const EarlyCall *call, void *userdata) {
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        int r = call->handler(call->message, userdata, &error);

        if (sd_bus_error_is_set(&error))
                (void) sd_bus_reply_method_error(call->message, &error);
        else if (r < 0)
                (void) sd_bus_reply_method_errno(call->message, r, NULL);
}

void early_calls_answer(EarlyCalls *calls) {
        for (unsigned i = 0; i < calls->calls->len; i++)
                answer(&g_array_index(calls->calls, EarlyCall, i), calls->userdata);

        g_array_set_size(calls->calls, 0);
}
