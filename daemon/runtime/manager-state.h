/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Declares what the files of the manager have in common. Trees, observers, autostart and stopping are in manager.c,
 * runs in manager-runs.c, loading in manager-load.c, recovery in manager-recover.c, control by hand in
 * manager-control.c, and kept variables in kept.c.
 */

#include "runtime/manager.h"

#define TELL(manager, callback, ...)                                                                                   \
        for (unsigned i_ = 0; i_ < (manager)->observers->len; i_++) {                                                  \
                const Observer *observer_ = &g_array_index((manager)->observers, Observer, i_);                        \
                if (observer_->callbacks->callback)                                                                    \
                        observer_->callbacks->callback(__VA_ARGS__ __VA_OPT__(, ) observer_->userdata);                \
        }

/* A checksum of what a caller starts: variables, and a text or NULL. definition: of the tree; NULL: the text has
 * errors. To be freed. */
char *manager_inputs(const Definition *definition, json_object *variables, const char *text);
/* inputs NULL: not known. -EINVAL with an error message: the token is known, but of a start with other inputs. */
int manager_check_inputs(const Manager *manager, const char *tree, const char *instance, const char *token,
                         const char *inputs, char **ret_error);

/* Checks what does not depend on the tree. Returns a negative errno with an error message. */
int manager_check_order(const Manager *manager, const Order *order, char **ret_error);
/* Checks the rest, and starts the run. */
int manager_carry_out(Manager *manager, Definition *definition, const Order *order, Run **ret_run, char **ret_error);

/* directory: has the files of kept variables, or NULL: nothing is stored. runtime: has what they do not have yet, or
 * NULL. users: or NULL. disk, timers and users are borrowed. */
Kept *kept_new(const char *directory, const char *runtime, DiskQueue *disk, Timers *timers, Users *users);
void kept_free(Kept *kept);
/* Reads all files; call it once. Damaged ones are reported, and left out. */
void kept_read(Kept *kept);
/* Writes what has changed now. When it returns, the next btd has it. */
void kept_hurry(Kept *kept);
/* The variables of the order and the stored ones, as a new object; NULL: the tree declares no kept ones. What a user
 * gives replaces what is stored. */
json_object *manager_add_kept(const Manager *manager, const Definition *definition, const Order *order);
/* Stores the kept variables of the run that have changed. */
void manager_keep(Manager *manager, const Run *run);

/* The state of a listed run. */
RunSummary manager_outcome_of(const Manager *manager, const Run *run);

/* A recovered run may have been started with a token: stores it. */
void manager_recover_token(const Manager *manager, const Run *run, bool restart);

/* Retries all starts that wait for something: restarts, requests, autostarts, loaded texts. */
void manager_retry_starts(Manager *manager);
/* The same from the main loop: something has changed that restarts and autostarts may wait for. */
void manager_retry_soon(Manager *manager);
/* The library was loaded again. */
void manager_reread_autostarts(Manager *manager);
void manager_retry_texts(Manager *manager);

/* Prepares the files of the definition on a thread, then retries the starts that wait for them. */
void manager_write_files(Manager *manager, Definition *definition);

Loading *loading_new(Manager *manager);
/* Cancels all loading without a report. */
void loading_free(Loading *loading);
/* Cancels all loading, and reports this to the callers. */
void manager_stop_loading(Manager *manager);
/* Describes files whose disk has not answered for long. The caller frees it. NULL: none. */
char *manager_describe_late_reads(const Manager *manager);

/* If btd is stopping and no run is left, tells the observers. */
void manager_check_idle(Manager *manager);

extern const RunCallbacks manager_run_callbacks;

/* MANAGER_STOPPING: after manager_abandon() runs cannot be changed. */
int manager_check_there(const Manager *manager, char **ret_error);
void manager_halt(Manager *manager, Run *run, Cause *why);
extern const RestartsCallbacks manager_restarts_callbacks;
extern const FollowersCallbacks manager_followers_callbacks;
