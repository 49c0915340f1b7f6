/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Asks the bus for credentials, without the connection's queue of calls: a command must not wait behind the calls of
 * trees. Looked up users and groups are used for one operation only, because they can change. */

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <string.h>

#include "basic/cleanup.h"
#include "service/credentials.h"

/* A bus that does not reply within this time counts as lost. */
#define TIMEOUT_USEC (25 * UINT64_C(1000000))

int credentials_ask(sd_bus *bus, const char *sender, sd_bus_message_handler_t callback, void *userdata,
                    sd_bus_slot **ret_slot) {
        g_autoptr(sd_bus_message) question = NULL;
        int r;

        r = sd_bus_message_new_method_call(bus, &question, "org.freedesktop.DBus", "/org/freedesktop/DBus",
                                           "org.freedesktop.DBus", "GetConnectionCredentials");
        if (r < 0)
                return r;
        r = sd_bus_message_append(question, "s", sender);
        if (r < 0)
                return r;

        return sd_bus_call_async(bus, ret_slot, question, callback, userdata, TIMEOUT_USEC);
}

static int read_credential(sd_bus_message *reply, Credentials *credentials) {
        const void *groups;
        const char *key;
        size_t size;
        int r;

        r = sd_bus_message_read_basic(reply, 's', &key);
        if (r < 0)
                return r;

        if (strcmp(key, "UnixUserID") == 0) {
                credentials->known = true;
                return sd_bus_message_read(reply, "v", "u", &credentials->uid);
        }
        if (strcmp(key, "ProcessID") == 0)
                return sd_bus_message_read(reply, "v", "u", &credentials->pid);
        if (strcmp(key, "UnixGroupIDs") != 0)
                return sd_bus_message_skip(reply, "v");

        r = sd_bus_message_enter_container(reply, 'v', "au");
        if (r >= 0)
                r = sd_bus_message_read_array(reply, 'u', &groups, &size);
        if (r < 0)
                return r;

        g_free(credentials->groups);
        credentials->groups = g_memdup2(groups, size);
        credentials->n_groups = size / sizeof(uint32_t);
        return sd_bus_message_exit_container(reply);
}

int credentials_read(sd_bus_message *reply, Credentials *ret_credentials) {
        g_auto(Credentials) credentials = { 0 };
        int r;

        r = sd_bus_message_enter_container(reply, 'a', "{sv}");
        if (r < 0)
                return r;

        while ((r = sd_bus_message_enter_container(reply, 'e', "sv")) > 0) {
                r = read_credential(reply, &credentials);
                if (r >= 0)
                        r = sd_bus_message_exit_container(reply);
                if (r < 0)
                        return r;
        }
        if (r < 0)
                return r;

        *ret_credentials = credentials;
        credentials = (Credentials){ 0 };
        return 0;
}

void credentials_copy(const Credentials *credentials, Credentials *ret_copy) {
        *ret_copy = *credentials;
        ret_copy->groups = g_memdup2(credentials->groups, credentials->n_groups * sizeof(uint32_t));
}

void credentials_clear(Credentials *credentials) {
        g_free(credentials->groups);
        *credentials = (Credentials){ 0 };
}

/* The buffer for an entry of the user or group database, in bytes: enough for most entries, and the maximum. */
#define ENTRY_SIZE 4096u
#define ENTRY_MAX (64u * 1024 * 1024)

struct Accounts {
        GHashTable *ids;   /* name -> int64_t */
        GPtrArray *wanted; /* names to look up */
        Work *work;        /* the lookup; NULL: none is running */
        void (*known)(void *userdata);
        void *userdata;
};

/* The data of the thread. */
typedef struct Lookup {
        GPtrArray *names;
        GArray *ids; /* int64_t, parallel to names */
} Lookup;

Accounts *accounts_new(void) {
        Accounts *accounts = g_new0(Accounts, 1);

        accounts->ids = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
        accounts->wanted = g_ptr_array_new_with_free_func(g_free);
        return accounts;
}

void accounts_free(Accounts *accounts) {
        if (!accounts)
                return;

        work_drop(accounts->work);
        g_hash_table_unref(accounts->ids);
        g_ptr_array_unref(accounts->wanted);
        g_free(accounts);
}

bool accounts_find(Accounts *accounts, const char *name, int64_t *ret_id) {
        const int64_t *id = g_hash_table_lookup(accounts->ids, name);

        if (id)
                *ret_id = *id;
        else if (!g_ptr_array_find_with_equal_func(accounts->wanted, name, g_str_equal, NULL))
                g_ptr_array_add(accounts->wanted, g_strdup(name));
        return id;
}

/* Looks up a user, or a group if the name begins with '@'. A group with many members needs a long buffer. */
static int64_t look_up(const char *name, GByteArray *buffer) {
        for (;; g_byte_array_set_size(buffer, buffer->len * 2)) {
                struct passwd passwd, *user = NULL;
                struct group entry, *group = NULL;
                int r;

                if (*name == '@')
                        r = getgrnam_r(name + 1, &entry, (char *) buffer->data, buffer->len, &group);
                else
                        r = getpwnam_r(name, &passwd, (char *) buffer->data, buffer->len, &user);
                if (r == ERANGE && buffer->len < ENTRY_MAX)
                        continue;

                return user ? (int64_t) user->pw_uid : group ? (int64_t) group->gr_gid : ACCOUNTS_NONE;
        }
}

static void run_lookup(Work *work, void *data) {
        g_autoptr(GByteArray) buffer = g_byte_array_new();
        Lookup *lookup = data;

        g_byte_array_set_size(buffer, ENTRY_SIZE);
        for (unsigned i = 0; i < lookup->names->len && !work_is_dropped(work); i++) {
                int64_t id = look_up(lookup->names->pdata[i], buffer);

                g_array_append_val(lookup->ids, id);
        }
}

static void on_looked_up(void *data, void *userdata) {
        const Lookup *lookup = data;
        Accounts *accounts = userdata;

        accounts->work = NULL;
        for (unsigned i = 0; i < lookup->ids->len; i++)
                g_hash_table_replace(accounts->ids, g_strdup(lookup->names->pdata[i]),
                                     g_memdup2(&g_array_index(lookup->ids, int64_t, i), sizeof(int64_t)));
        accounts->known(accounts->userdata);
}

static void free_lookup(void *data) {
        Lookup *lookup = data;

        g_ptr_array_unref(lookup->names);
        g_array_unref(lookup->ids);
        g_free(lookup);
}

void accounts_look_up(Accounts *accounts, Workers *workers, void (*known)(void *userdata), void *userdata) {
        static const WorkKind kind = {
                .what = "the lookup of users and groups",
                .run = run_lookup,
                .done = on_looked_up,
                .free = free_lookup,
        };
        Lookup *lookup = g_new(Lookup, 1);

        *lookup = (Lookup){
                .names = g_steal_pointer(&accounts->wanted),
                .ids = g_array_new(FALSE, FALSE, sizeof(int64_t)),
        };
        accounts->wanted = g_ptr_array_new_with_free_func(g_free);
        accounts->known = known;
        accounts->userdata = userdata;
        accounts->work = workers_start(workers, &kind, lookup, accounts);
}

bool accounts_are_looked_up(const Accounts *accounts) {
        return accounts->work;
}
