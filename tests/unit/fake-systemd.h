/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A service manager that does what a real one does only by chance: signals that overtake replies, jobs that are
 * forgotten. It knows one unit, cam.service, and what that requires.
 */

#include "bus-fixture.h"
#include "leaf-stage.h"

#define MANAGER "org.freedesktop.systemd1.Manager"
#define MANAGER_PATH "/org/freedesktop/systemd1"
#define UNIT_PATH MANAGER_PATH "/unit/cam_2eservice"
#define JOB_PATH MANAGER_PATH "/job/7"
#define START_CAM "{ \"type\": \"StartUnit\", \"unit\": \"cam.service\" }"
#define CAM_IS_ACTIVE "{ \"type\": \"UnitState\", \"unit\": \"cam.service\" }"

/* Another unit, and one that it requires, or NULL. */
typedef struct FakeUnit {
        const char *name, *active_state, *sub_state, *requires;
} FakeUnit;

/* What the manager says, and what it has been asked. */
typedef struct Fake {
        BusPeer *peer;
        const char *active_state, *type, *load_state;
        const char *result;     /* of the job, with signal_first */
        const char *requires;   /* a unit that it requires, or NULL */
        const FakeUnit *others; /* that there are, up to one without a name */
        bool conditional;       /* while it is fresh */
        bool unmet;
        bool grudging;     /* it lets nobody hold a unit */
        bool signal_first; /* JobRemoved before the reply to StartUnit */
        const char *error; /* to StartUnit */
        bool mute;         /* it does not answer StartUnit at all */
        bool fresh;        /* the unit has never been started */
        bool forgetful;    /* there is no such job any more */
        unsigned n_started, n_cancelled, n_referenced, n_unreferenced, n_subscribed, n_loaded, n_read;
} Fake;

typedef struct Scene {
        BusFixture *bus;
        LeafStage *stage;
        Fake fake;
} Scene;

/* For g_test_add(). The manager is not there yet. */
void scene_open(Scene *scene, const void *data);
void scene_close(Scene *scene, const void *data);

void fake_come(Scene *scene);
void fake_go(Scene *scene);
/* What it signals: that a job has left the queue, and that the unit is in another state. */
void fake_remove_job(Fake *fake, const char *path, const char *result);
void fake_change(Fake *fake, const char *state);
/* That it reads its units again, and that cam.service is not loaded any more. */
void fake_reload(Fake *fake, bool begins);
void fake_remove_unit(Fake *fake);

Actor *scene_start(Scene *scene, const char *node);
