/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Asks polkit. The tree, the run and the verb are passed as details, so that a rule can permit one tree only. */

#include "service/polkit.h"
#include "basic/cleanup.h"
#include "basic/log.h"

/* Time limit with and without a user who types a password. */
#define PATIENCE_USEC (5 * 60 * UINT64_C(1000000))
#define TIMEOUT_USEC (25 * UINT64_C(1000000))

#define ALLOW_USER_INTERACTION 1u

struct PolkitQuestion {
        sd_bus_slot *slot;
        PolkitAnswered answered;
        void *userdata;
};

void polkit_question_free(PolkitQuestion *question) {
        if (!question)
                return;

        sd_bus_slot_unref(question->slot);
        g_free(question);
}

static PolkitAnswer read_answer(sd_bus_message *reply) {
        int authorized, challenge, r;

        if (sd_bus_message_is_method_error(reply, NULL)) {
                const sd_bus_error *error = sd_bus_message_get_error(reply);

                log_info("polkit cannot be asked: %s", error->message);
                return g_str_has_prefix(error->name, "org.freedesktop.PolicyKit1.") ? POLKIT_FAILED : POLKIT_ABSENT;
        }

        r = sd_bus_message_enter_container(reply, 'r', "bba{ss}");
        if (r >= 0)
                r = sd_bus_message_read(reply, "bb", &authorized, &challenge);
        if (r < 0)
                return POLKIT_ABSENT;

        return authorized ? POLKIT_YES : challenge ? POLKIT_CHALLENGE : POLKIT_NO;
}

static int on_answer(sd_bus_message *reply, void *userdata, sd_bus_error *unused) {
        const PolkitQuestion *question = userdata;

        question->answered(read_answer(reply), question->userdata);
        return 0;
}

static int append_detail(sd_bus_message *message, const char *key, const char *value) {
        return value ? sd_bus_message_append(message, "{ss}", key, value) : 0;
}

int polkit_ask(sd_bus *bus, const char *sender, const Request *request, bool interactive, PolkitAnswered answered,
               void *userdata, PolkitQuestion **ret_question) {
        g_autoptr(sd_bus_message) message = NULL;
        PolkitQuestion *question;
        int r;

        r = sd_bus_message_new_method_call(bus, &message, "org.freedesktop.PolicyKit1",
                                           "/org/freedesktop/PolicyKit1/Authority",
                                           "org.freedesktop.PolicyKit1.Authority", "CheckAuthorization");
        if (r >= 0)
                r = sd_bus_message_append(message, "(sa{sv})s", "system-bus-name", 1, "name", "s", sender,
                                          permission_action(request->permission));
        if (r >= 0)
                r = sd_bus_message_open_container(message, 'a', "{ss}");
        if (r >= 0)
                r = append_detail(message, "verb", permission_verb(request->permission));
        if (r >= 0)
                r = append_detail(message, "tree", request->tree);
        if (r >= 0)
                r = append_detail(message, "run", request->run);
        if (r >= 0)
                r = sd_bus_message_close_container(message);
        if (r >= 0)
                r = sd_bus_message_append(message, "us", interactive ? ALLOW_USER_INTERACTION : 0, "");
        if (r < 0)
                return r;

        question = g_new0(PolkitQuestion, 1);
        *question = (PolkitQuestion){ .answered = answered, .userdata = userdata };
        r = sd_bus_call_async(bus, &question->slot, message, on_answer, question,
                              interactive ? PATIENCE_USEC : TIMEOUT_USEC);
        if (r < 0) {
                polkit_question_free(question);
                return r;
        }

        *ret_question = question;
        return 0;
}
