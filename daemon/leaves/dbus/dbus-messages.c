/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * DBusCall calls a method and waits for its reply. DBusEmit sends a signal. DBusSignal waits for a signal. The
 * parameter "outputs" sets variables to the values of the reply or the signal, which is read only if there are outputs.
 */

#include <errno.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/dbus-value.h"
#include "bus/matches.h"
#include "bus/names.h"
#include "leaf-types/dbus.h"
#include "leaf-types/leaf-types.h"
#include "leaves/dbus/dbus-leaf.h"
#include "leaves/kinds.h"
#include "leaves/unit/systemd.h"
#include "script/scripts.h"

/* All are evaluated before any is set: they do not see each other's results. */
static Status take_expressions(Leaf *leaf, const NamedScript *expressions, json_object *values) {
        json_object *const extra[] = { values, json_object_array_get_idx(values, 0) };
        g_autoptr(json_object) results = json_object_new_array();

        for (const NamedScript *i = expressions; i->name; i++) {
                json_object *result = NULL;
                g_autofree char *error = NULL;

                if (script_evaluate(i->script, leaf->blackboard, extra, &result, &error) < 0) {
                        leaf_set_cause_of(leaf, CAUSE_EXPRESSION,
                                          facts_new("expression", fact_text(script_code(i->script)), NULL),
                                          "the output '%s': %s", i->name, error);
                        return STATUS_FAILURE;
                }
                json_object_array_add(results, result);
        }

        for (size_t i = 0; expressions[i].name; i++)
                leaf_set_output(leaf, expressions[i].name, json_object_get(json_object_array_get_idx(results, i)));
        return STATUS_SUCCESS;
}

static bool outputs_are_wanted(const DBusOutputs *outputs) {
        return outputs->names || outputs->expressions;
}

/* The arguments as a list, without secrets, since an expression can take a part of one; or an error message. */
static int read_values(Leaf *leaf, sd_bus_message *message, json_object **ret_values, char **ret_error) {
        g_autoptr(json_object) values = NULL;
        int r = sd_bus_message_rewind(message, true);

        if (r >= 0)
                r = value_read_all(message, VALUE_ROOM_MAX, &values, ret_error);
        if (r >= 0)
                *ret_values = leaf_hide_value(leaf, values);
        return r;
}

/* Sets variables to the values that were read from a message: all of them or, after an error, none, and sets the cause.
 * what: "reply", "signal". problem: why there are no values, if there are outputs. */
static Status outputs_take(Leaf *leaf, const DBusOutputs *outputs, const char *what, json_object *values,
                           const char *problem) {
        size_t n_outputs, n_values;

        if (!outputs_are_wanted(outputs))
                return STATUS_SUCCESS;
        if (problem) {
                leaf_set_cause(leaf, "the %s cannot go to the outputs: %s", what, problem);
                return STATUS_FAILURE;
        }

        if (outputs->expressions)
                return take_expressions(leaf, outputs->expressions, values);

        n_outputs = g_strv_length((char **) outputs->names);
        n_values = json_object_array_length(values);
        if (n_values < n_outputs) {
                leaf_set_cause(leaf, "the %s has %zu value%s, but there %s %zu output%s", what, n_values,
                               n_values == 1 ? "" : "s", n_outputs == 1 ? "is" : "are", n_outputs,
                               n_outputs == 1 ? "" : "s");
                return STATUS_FAILURE;
        }

        for (size_t i = 0; i < n_outputs; i++)
                if (*outputs->names[i])
                        leaf_set_output(leaf, outputs->names[i], json_object_get(json_object_array_get_idx(values, i)));
        return STATUS_SUCCESS;
}

/* Waits until the bus has processed all messages of the previous btd. That is so when the bus has released the previous
 * btd's connection; until then, no message that must come later may be sent. If the bus was restarted meanwhile, no
 * message is under way, and the unique name may belong to another client. */
typedef struct DBusRecovery {
        Leaf *leaf; /* NULL: not waiting */
        char *bus;  /* the ID that the bus had then, or NULL */
        NameUse sender;
} DBusRecovery;

/* DBusCall and DBusEmit begin with this struct, and their parameters with a DBusMessage. */
typedef struct DBusSending {
        Connection *connection; /* first, see dbus_leaf_obstacle() */
        DBusRecovery recovery;
} DBusSending;

/* The memo for leaf_set_memo(), right before the leaf sends its message over this sd_bus to the bus of the connection.
 */
static json_object *recovery_memo(const Leaf *leaf, sd_bus *bus, Connection *connection) {
        g_autofree char *id = NULL;
        json_object *memo;
        const char *sender;

        if (!leaf->durable || sd_bus_get_unique_name(bus, &sender) < 0)
                return NULL;

        id = connection_bus_id(connection);
        memo = json_object_new_object();
        json_object_object_add(memo, "sender", json_object_new_string(sender));
        json_object_object_add(memo, "bus", json_object_new_string(id));
        return memo;
}

/* Or was it there at all? The id of a bus to which btd still connects would have to be waited for. */
static bool sender_is_there(const DBusSending *op) {
        NameState state = name_state(&op->recovery.sender);
        g_autofree char *id = state == NAME_OWNED ? connection_bus_id(op->connection) : NULL;

        return state == NAME_UNKNOWN || (state == NAME_OWNED && g_strcmp0(id, op->recovery.bus) == 0);
}

static void on_sender_changed(void *userdata) {
        DBusSending *op = userdata;

        if (!sender_is_there(op))
                leaf_lost(op->recovery.leaf);
}

static Status message_recover(Leaf *leaf) {
        const DBusMessage *message = leaf->params;
        const char *sender = json_object_get_string(json_object_object_get(leaf->memo, "sender"));
        DBusSending *op = leaf->op;

        if (!sender || !sd_bus_service_name_is_valid(sender))
                return STATUS_IDLE;
        op->connection = dbus_connection_get(leaf, &message->address);
        if (!op->connection)
                return STATUS_IDLE;

        op->recovery = (DBusRecovery){
                .leaf = leaf,
                .bus = g_strdup(json_object_get_string(json_object_object_get(leaf->memo, "bus"))),
                .sender.follower = { .changed = on_sender_changed, .userdata = op },
        };
        name_use(connection_names(op->connection), &op->recovery.sender, sender);
        return sender_is_there(op) ? STATUS_RUNNING : STATUS_IDLE;
}

static void recovery_end(DBusRecovery *recovery) {
        if (recovery->leaf)
                name_leave(&recovery->sender);

        recovery->leaf = NULL;
        g_clear_pointer(&recovery->bus, g_free);
}

typedef struct DBusCall {
        DBusSending sending; /* first: a DBusCall is a DBusSending */
        Call *call;
        Timer *slow;   /* until the reply is late; NULL: it is, or nothing starts the service */
        NameUse owner; /* of a service that is late */
} DBusCall;

/* If there is no reply after this time, perhaps the bus has to start the service first. Asking the bus for its owner
 * each time would cost more than most calls. */
#define SLOW_USEC (UINT64_C(100) * 1000)

/* The maximum number of values in which a file descriptor is looked for. */
#define VALUES_MAX 10000u

static void on_reply(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        Leaf *leaf = userdata;
        const DBusCallParams *params = leaf->params;
        const DBusAddress *address = &params->message.address;
        const char *text, *why = NULL;
        json_object *facts;
        unsigned n_values = VALUES_MAX;
        bool named;

        if (!error && value_has_descriptor(reply, &n_values)) {
                leaf_set_cause(
                        leaf,
                        "the reply has a file descriptor, which btd cannot keep; call the method in a program that "
                        "keeps it open, with a Command");
                leaf_end(leaf, STATUS_FAILURE);
                return;
        }

        if (!error) {
                g_autoptr(json_object) values = NULL;
                g_autofree char *problem = NULL;
                int r = outputs_are_wanted(&params->outputs) ? read_values(leaf, reply, &values, &problem) : 0;

                if (r < 0 && !problem)
                        problem = g_strdup(g_strerror(-r));
                leaf_end(leaf, outputs_take(leaf, &params->outputs, "reply", values, problem));
                return;
        }

        /* dbus-daemon passes on the error of systemd, dbus-broker has its own. */
        text = error->message ?: "";
        if (sd_bus_error_has_name(error, "org.freedesktop.systemd1.ShuttingDown"))
                why = " is not running, and no service is started while the machine goes down";
        else if (strstr(text, "a concurrent deactivation request"))
                why = " is not running, and its unit has to stop, as when the machine goes down";

        /* If the peer does not exist, the bus replies, and not every bus names the peer. */
        named = why || (sd_bus_error_has_names(error, SD_BUS_ERROR_SERVICE_UNKNOWN, SD_BUS_ERROR_NAME_HAS_NO_OWNER,
                                               SD_BUS_ERROR_NO_REPLY) &&
                        !strstr(text, address->destination));
        facts = dbus_error_facts(error);
        json_object_object_add(facts, "destination", fact_text(address->destination));
        json_object_object_add(facts, "path", fact_text(address->path));
        json_object_object_add(facts, "member", fact_text(params->message.member));
        leaf_set_cause_of(leaf, dbus_error_kind(error), facts, "%s%s%s%s%s%s%s", error->name,
                          *text || named ? ": " : "", text, named ? " (" : "", named ? address->destination : "",
                          why ?: "", named ? ")" : "");
        leaf_end(leaf, STATUS_FAILURE);
}

/* Makes the message just before it is sent. The arguments were checked when the leaf started. */
static int make_message(sd_bus *bus, sd_bus_message **ret_message, void *userdata) {
        Leaf *leaf = userdata;
        const DBusSending *op = leaf->op;
        const DBusCallParams *params = leaf->params;
        const DBusAddress *address = &params->message.address;
        g_autoptr(sd_bus_message) message = NULL;
        g_autofree char *error = NULL;
        int r = sd_bus_message_new_method_call(bus, &message, address->destination, address->path, address->interface,
                                               params->message.member);

        if (r >= 0)
                r = sd_bus_message_set_auto_start(message, params->auto_start);
        if (r >= 0)
                r = value_append(message, params->message.signature, params->message.args, &error);
        if (r < 0)
                return r;

        leaf_set_memo(leaf, recovery_memo(leaf, bus, op->connection));
        *ret_message = g_steal_pointer(&message);
        return 0;
}

/* Only the status and the cause depend on it. */
static void on_owner_known(void *userdata) {}

static void on_slow(void *userdata) {
        Leaf *leaf = userdata;
        const DBusCallParams *params = leaf->params;
        DBusCall *op = leaf->op;

        g_clear_pointer(&op->slow, timer_free);
        op->owner.follower = (Follower){ .changed = on_owner_known, .userdata = leaf };
        name_use(connection_names(op->sending.connection), &op->owner, params->message.address.destination);
}

static bool waits_for_activation(const DBusCall *op) {
        return op->call && op->owner.name && name_state(&op->owner) == NAME_ABSENT && call_is_in_flight(op->call);
}

static Status dbus_call_start(Leaf *leaf) {
        const DBusCallParams *params = leaf->params;
        DBusCall *op = leaf->op;

        op->sending.connection = dbus_connection_get(leaf, &params->message.address);
        if (!op->sending.connection)
                return STATUS_FAILURE;

        op->call = connection_call_made(op->sending.connection, params->message.address.destination, make_message,
                                        on_reply, leaf);
        if (params->auto_start && *params->message.address.destination != ':')
                op->slow = timer_new(leaf->services->timers, MIN(SLOW_USEC, params->timeout / 2), on_slow, leaf);
        return STATUS_RUNNING;
}

static void dbus_call_release(Leaf *leaf) {
        DBusCall *op = leaf->op;

        recovery_end(&op->sending.recovery);
        g_clear_pointer(&op->slow, timer_free);
        name_leave(&op->owner);
        g_clear_pointer(&op->call, call_free);
}

static char *dbus_call_obstacle(const Leaf *leaf) {
        const DBusCallParams *params = leaf->params;
        const DBusCall *op = leaf->op;
        unsigned n = op->call ? call_unanswered(op->call) : 0;

        if (waits_for_activation(op))
                return dbus_activation_obstacle(op->sending.connection, &params->message.address);
        if (n == 0)
                return dbus_leaf_obstacle(leaf);

        return g_strdup_printf("%s to answer %u earlier call%s", params->message.address.destination, n,
                               n == 1 ? "" : "s");
}

static const char *dbus_call_aftermath(const Leaf *leaf) {
        const DBusCall *op = leaf->op;

        if (!op->call || !call_is_in_flight(op->call))
                return NULL;

        return waits_for_activation(op) ? "the call may still be delivered" : "the call may still take effect";
}

static void dbus_call_describe(Leaf *leaf, GString *text) {
        const DBusCallParams *params = leaf->params;
        const DBusAddress *address = &params->message.address;

        g_string_append_printf(text, "reply of %s%s%s from %s", address->interface ? address->interface : "",
                               address->interface ? "." : "", params->message.member, address->destination);
}

const LeafKind dbus_call_kind = {
        .op_size = sizeof(DBusCall),
        .start = dbus_call_start,
        .release = dbus_call_release,
        .recover = message_recover,
        .obstacle = dbus_call_obstacle,
        .aftermath = dbus_call_aftermath,
        .describe = dbus_call_describe,
};

/* A signal has no reply. A question to the bus itself follows it, since the bus handles messages in order: its reply
 * means that the bus has taken the signal. */
typedef struct DBusEmit {
        DBusSending sending; /* first: a DBusEmit is a DBusSending */
        Call *question;
        bool sent; /* the signal; the question can be sent again */
        int error; /* why the signal could not be sent */
} DBusEmit;

static int emit_and_ask(sd_bus *bus, sd_bus_message **ret_question, void *userdata) {
        Leaf *leaf = userdata;
        const DBusMessage *signal = &((const DBusEmitParams *) leaf->params)->message;
        g_autoptr(sd_bus_message) message = NULL;
        g_autofree char *error = NULL;
        DBusEmit *op = leaf->op;

        if (!op->sent) {
                op->error = sd_bus_message_new_signal(bus, &message, signal->address.path, signal->address.interface,
                                                      signal->member);
                leaf_set_memo(leaf, recovery_memo(leaf, bus, op->sending.connection));
                if (op->error >= 0)
                        op->error = value_append(message, signal->signature, signal->args, &error);
                if (op->error >= 0)
                        op->error = sd_bus_send(bus, message, NULL);
                if (op->error < 0)
                        return op->error;
                op->sent = true;
        }

        return sd_bus_message_new_method_call(bus, ret_question, BUS_DRIVER, BUS_DRIVER_PATH, BUS_DRIVER, "GetId");
}

static void on_taken(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        Leaf *leaf = userdata;
        DBusEmit *op = leaf->op;

        g_clear_pointer(&op->question, call_free);
        if (op->error < 0)
                leaf_set_cause(leaf, "the signal could not be sent: %s", g_strerror(-op->error));
        else if (error)
                leaf_set_cause_of(leaf, dbus_error_kind(error), dbus_error_facts(error),
                                  "the bus may not have taken the signal: %s", error->message ?: error->name);
        leaf_end(leaf, error ? STATUS_FAILURE : STATUS_SUCCESS);
}

static Status dbus_emit_start(Leaf *leaf) {
        const DBusEmitParams *params = leaf->params;
        DBusEmit *op = leaf->op;

        op->sending.connection = dbus_connection_get(leaf, &params->message.address);
        if (!op->sending.connection)
                return STATUS_FAILURE;

        op->question = connection_call_made(op->sending.connection, BUS_DRIVER, emit_and_ask, on_taken, leaf);
        return STATUS_RUNNING;
}

static void dbus_emit_release(Leaf *leaf) {
        DBusEmit *op = leaf->op;

        recovery_end(&op->sending.recovery);
        g_clear_pointer(&op->question, call_free);
}

static void dbus_emit_describe(Leaf *leaf, GString *text) {
        DBusEmit *op = leaf->op;

        if (op->question)
                g_string_append(text, "the bus to take the signal");
}

const LeafKind dbus_emit_kind = {
        .op_size = sizeof(DBusEmit),
        .start = dbus_emit_start,
        .release = dbus_emit_release,
        .recover = message_recover,
        .obstacle = dbus_leaf_obstacle,
        .describe = dbus_emit_describe,
};

typedef struct DBusSignal {
        Connection *connection;
        Match *match;
        Subscription *subscription; /* for signals of systemd, which it sends only to those who want them */
        NameUse sender;             /* if its loss ends the node */
        char *owner;                /* the bus and the unique name that the sender had; NULL: it was not seen yet */
        bool told;                  /* that a signal could not be tested */
} DBusSignal;

static size_t count_args(const DBusSignalParams *params) {
        return params->args ? json_object_array_length(params->args) : 0;
}

/* Reads the arguments only as far as they could match. */
static bool args_fit(const DBusSignalParams *params, sd_bus_message *message) {
        for (size_t i = 0; i < count_args(params); i++) {
                json_object *wanted = json_object_array_get_idx(params->args, i);
                g_autoptr(json_object) value = NULL;
                g_autofree char *error = NULL;
                const char *contents;
                char type;

                if (sd_bus_message_peek_type(message, &type, &contents) <= 0)
                        return false;
                if (!wanted) {
                        if (i + 1 < count_args(params) && value_skip(message) < 0)
                                return false;
                        continue;
                }

                /* A text is only compared with a string or an object path; or with a variant, which is read as far as
                 * it could match. */
                if (type == SD_BUS_TYPE_VARIANT)
                        type = *contents;
                if (json_object_is_type(wanted, json_type_string) && type != SD_BUS_TYPE_STRING &&
                    type != SD_BUS_TYPE_OBJECT_PATH && type != SD_BUS_TYPE_VARIANT)
                        return false;
                if (value_read_one(message, value_room(wanted), &value, &error) < 0 || !value_is(value, wanted))
                        return false;
        }
        return true;
}

/* A signal that matches is a list of its values, empty if they are not needed, or a text that says why it cannot be
 * read. */
static json_object *read_signal(Leaf *leaf, sd_bus_message *message) {
        const LogSubject subject = leaf_log_subject(leaf);
        const DBusSignalParams *params = leaf->params;
        DBusSignal *op = leaf->op;
        g_autoptr(json_object) values = NULL;
        g_autofree char *error = NULL;

        if (!args_fit(params, message))
                return NULL;
        if (!params->test && !outputs_are_wanted(&params->outputs))
                return json_object_new_array();

        if (read_values(leaf, message, &values, &error) < 0 && !error)
                return NULL;
        if (params->test) {
                json_object *const extra[] = { values, values ? json_object_array_get_idx(values, 0) : NULL };
                g_autofree char *problem = g_strdup(error);
                bool truth = false;

                /* A signal that cannot be tested is skipped, like one that does not fit: what others send does not end
                 * the node. */
                if (!problem)
                        (void) script_test(params->test, leaf->blackboard, extra, &truth, &problem);
                if (problem && !op->told)
                        log_message(LOG_WARNING, &subject, "the test skips signals that it cannot be evaluated for: %s",
                                    problem);
                op->told |= problem != NULL;
                if (!truth)
                        return NULL;
        }
        if (error)
                return json_object_new_string(error);
        return outputs_are_wanted(&params->outputs) ? g_steal_pointer(&values) : json_object_new_array();
}

static Status take_signal(Leaf *leaf, json_object *signal) {
        const DBusSignalParams *params = leaf->params;

        return outputs_take(leaf, &params->outputs, "signal", signal,
                            json_object_is_type(signal, json_type_string) ? json_object_get_string(signal) : NULL);
}

static void on_signal(sd_bus_message *message, void *userdata) {
        Leaf *leaf = userdata;
        g_autoptr(json_object) signal = read_signal(leaf, message);

        if (signal)
                leaf_end(leaf, take_signal(leaf, signal));
}

static void on_heard(sd_bus_message *message, void *userdata) {
        Leaf *leaf = userdata;
        g_autoptr(json_object) signal = read_signal(leaf, message);

        if (signal)
                leaf_hear(leaf, signal);
}

static void dbus_signal_heard(Leaf *leaf, json_object *signal) {
        g_autoptr(json_object) taken = signal ? json_object_get(signal) : leaf_take_signal(leaf);

        if (taken)
                leaf_end(leaf, take_signal(leaf, taken));
}

/* Another owner of the name, and the same unique name on another bus, is another sender. The next btd must know it.
 * True: the cause is set. */
static bool sender_is_lost(Leaf *leaf) {
        const DBusSignalParams *params = leaf->params;
        const DBusAddress *address = &params->address;
        DBusSignal *op = leaf->op;
        NameState state = name_state(&op->sender);
        g_autofree char *bus = NULL, *owner = NULL;

        if (state == NAME_UNKNOWN || (state == NAME_ABSENT && !op->owner))
                return false;
        if (state == NAME_OWNED) {
                bus = connection_bus_id(op->connection);
                owner = g_strconcat(bus ?: "", " ", name_owner(&op->sender), NULL);
        }

        if (!op->owner) {
                op->owner = g_steal_pointer(&owner);
                if (leaf->durable)
                        leaf_set_memo(leaf, facts_new("owner", fact_text(op->owner), NULL));
                return false;
        }
        if (g_strcmp0(op->owner, owner) == 0)
                return false;

        leaf_set_cause_of(leaf, CAUSE_DBUS_ERROR,
                          facts_new("name", fact_text(SD_BUS_ERROR_NAME_HAS_NO_OWNER), "destination",
                                    fact_text(address->destination), NULL),
                          "%s has left the bus, and had not sent the signal %s", address->destination, params->member);
        return true;
}

static void on_sender(void *userdata) {
        if (sender_is_lost(userdata))
                leaf_end(userdata, STATUS_FAILURE);
}

static bool match(Leaf *leaf, MatchSignal received) {
        static const SubscriptionCallbacks callbacks = {}; /* the match goes on */
        const DBusSignalParams *params = leaf->params;
        bool is_known = params->address.interface && g_str_has_prefix(params->address.interface, BUS_DRIVER);
        g_autoptr(GString) more = g_string_new(NULL);
        DBusSignal *op = leaf->op;
        SignalPattern pattern = {
                .sender = params->address.destination,
                .path = params->address.path,
                .interface = params->address.interface,
                .member = params->member,
        };

        op->connection = dbus_connection_get(leaf, &params->address);
        if (!op->connection)
                return false;

        /* The bus compares texts itself: the first one finds the signal, the others narrow the rule. dbus-broker reads
         * the arguments only up to the first one that is no text. No bus looks into variants, so only the arguments of
         * the bus's own interfaces, whose types are known, are compared there. */
        for (size_t i = 0; i < MIN(count_args(params), SIGNAL_PATTERN_ARGS); i++) {
                json_object *arg = json_object_array_get_idx(params->args, i);
                const char *text = json_object_get_string(arg);

                if (!json_object_is_type(arg, json_type_string))
                        break;
                if (!pattern.arg) {
                        pattern.arg = text;
                        pattern.arg_number = (unsigned) i;
                        pattern.arg_is_path = sd_bus_object_path_is_valid(text);
                        pattern.arg_in_variant = !is_known;
                } else if (is_known) {
                        signal_pattern_append_arg(more, (unsigned) i, text, sd_bus_object_path_is_valid(text));
                }
        }
        pattern.more = more->str;
        op->match = connection_match(op->connection, &pattern, received, NULL, leaf);
        if (g_strcmp0(params->address.destination, SYSTEMD_NAME) == 0)
                op->subscription = subscription_new(op->connection, &callbacks, leaf);
        return true;
}

static bool dbus_signal_listen(Leaf *leaf) {
        return match(leaf, on_heard);
}

/* If it listens, the listener has the match. */
static Status begin(Leaf *leaf) {
        const DBusSignalParams *params = leaf->params;
        const char *sender = params->address.destination;
        DBusSignal *op = leaf->op;

        if (leaf->listens)
                op->connection = dbus_connection_get(leaf, &params->address);
        else
                match(leaf, on_signal);
        if (!op->connection)
                return STATUS_FAILURE;

        if (params->on_recover == ON_RECOVER_FAIL && !leaf->has_memo)
                leaf_set_memo(leaf, NULL);
        /* The bus and systemd are always there again: they leave only when the bus restarts, or systemd executes itself
         * anew. */
        if (!sender || params->on_owner_lost != ON_OWNER_LOST_FAIL || g_str_equal(sender, BUS_DRIVER) ||
            g_str_equal(sender, SYSTEMD_NAME))
                return STATUS_RUNNING;

        op->sender.follower = (Follower){ .changed = on_sender, .userdata = leaf };
        name_use(connection_names(op->connection), &op->sender, sender);
        return sender_is_lost(leaf) ? STATUS_FAILURE : STATUS_RUNNING;
}

/* A signal that was kept comes before anything else. */
static Status dbus_signal_start(Leaf *leaf) {
        g_autoptr(json_object) signal = leaf->listens && leaf_queue_length(leaf) > 0 ? leaf_take_signal(leaf) : NULL;

        return signal ? take_signal(leaf, signal) : begin(leaf);
}

static Status dbus_signal_recover(Leaf *leaf) {
        g_autoptr(json_object) signal = leaf->listens && leaf_queue_length(leaf) > 0 ? leaf_take_signal(leaf) : NULL;
        const DBusSignalParams *params = leaf->params;
        DBusSignal *op = leaf->op;

        if (signal)
                return take_signal(leaf, signal);
        if (params->on_recover == ON_RECOVER_FAIL)
                return STATUS_IDLE;

        op->owner = g_strdup(json_object_get_string(json_object_object_get(leaf->memo, "owner")));
        return begin(leaf);
}

static void dbus_signal_release(Leaf *leaf) {
        DBusSignal *op = leaf->op;

        if (op->sender.name)
                name_leave(&op->sender);
        g_clear_pointer(&op->owner, g_free);
        g_clear_pointer(&op->subscription, subscription_free);
        g_clear_pointer(&op->match, match_free);
}

static void dbus_signal_describe(Leaf *leaf, GString *text) {
        const DBusSignalParams *params = leaf->params;
        const DBusAddress *address = &params->address;

        g_string_append_printf(text, "signal %s%s%s", address->interface ? address->interface : "",
                               address->interface ? "." : "", params->member);
        if (address->destination)
                g_string_append_printf(text, " from %s", address->destination);
}

const LeafKind dbus_signal_kind = {
        .op_size = sizeof(DBusSignal),
        .start = dbus_signal_start,
        .recover = dbus_signal_recover,
        .listen = dbus_signal_listen,
        .heard = dbus_signal_heard,
        .release = dbus_signal_release,
        .obstacle = dbus_leaf_obstacle,
        .describe = dbus_signal_describe,
};
