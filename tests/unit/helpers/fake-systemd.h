/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Simulates a service manager that does on request what a real one does by chance: signals that overtake replies, jobs
 * that are forgotten. It knows one unit, cam.service, and a unit that this requires.
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

/* The replies of the manager, and the number of calls. */
typedef struct Fake {
        BusPeer *peer;
        const char *active_state, *type, *load_state;
        const char *result; /* of the job, with signal_first */
        const char *unit_result;
        const char *trigger;    /* an active unit that can start it, or NULL */
        const char *successor;  /* a unit that its end starts, or NULL */
        const char *bus_name;   /* of the unit, or NULL */
        uint64_t became_active; /* when it was last up */
        const char *requires;   /* a unit that it requires, or NULL */
        const FakeUnit *others; /* other units, up to one without a name */
        bool conditional;       /* while it is fresh */
        bool unmet;
        bool grudging;      /* it refuses Ref */
        bool signal_first;  /* JobRemoved before the reply to StartUnit */
        const char *error;  /* to StartUnit */
        bool mute;          /* it does not reply to StartUnit */
        bool fresh;         /* the unit has never been started */
        bool transient;     /* it has units for processes */
        bool forgetful;     /* it has forgotten the job */
        bool joined;        /* the unit has its job before it is asked for */
        bool replaced;      /* the unit has another job before, which conflicts with it */
        bool merged;        /* somebody has requested a restart meanwhile */
        bool followed;      /* another job is ordered after it */
        bool running;       /* the job runs already */
        bool stopping;      /* the machine goes down */
        bool limited;       /* the unit was down before, and its job has not begun to start it */
        const char *frozen; /* the name of a unit, or NULL; the slice of cam.service is "a-b.slice" */
        bool left;          /* processes of the stopped unit */
        bool outdated;      /* the files of the unit have changed */
        bool early;         /* the unit has come up since a reload was requested while it was starting */
        unsigned n_started, n_cancelled, n_referenced, n_unreferenced, n_subscribed, n_loaded, n_read, n_listed;
} Fake;

typedef struct Scene {
        BusFixture *bus;
        LeafStage *stage;
        Fake fake;
} Scene;

/* For g_test_add(). The manager is not on the bus yet. */
void scene_open(Scene *scene, const void *data);
void scene_close(Scene *scene, const void *data);

void fake_come(Scene *scene);
void fake_go(Scene *scene);
/* Send signals: a job has left the queue; others have requested the same job; the unit has another state. */
void fake_remove_job(Fake *fake, const char *path, const char *result);
void fake_join_job(Fake *fake);
void fake_change(Fake *fake, const char *state);
/* Send signals: it reloads; cam.service is not loaded any more. */
void fake_reload(Fake *fake, bool begins);
void fake_remove_unit(Fake *fake);

TestLeaf *scene_start(Scene *scene, const char *node);
