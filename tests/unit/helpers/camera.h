/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Serves a Camera on the bus for tests of D-Bus leaves. The test itself answers Get and sends the signals, so that
 * replies can be late or wrong, and signals can come at any time.
 */

#include "bus-fixture.h"

#define CAMERA "org.example.Camera"
#define CAMERA_PATH "/org/example/Camera"

typedef struct Camera {
        BusPeer *peer;
        bool powered;
        bool late; /* Get is not answered before camera_answer() */
        bool gone; /* the object is */
        bool odd;  /* Get is answered with a string, not with a variant */
        unsigned n_gets, n_calls, n_introspections;
        sd_bus_message *get;
} Camera;

void camera_open(Camera *camera, const BusFixture *bus, bool powered);
/* The same, without asking for the name. */
void camera_open_unnamed(Camera *camera, const BusFixture *bus, bool powered);
void camera_close(Camera *camera);

void camera_answer(Camera *camera, bool powered);
/* Says a value; what Get answers is not changed by it. */
void say_powered(BusPeer *peer, bool powered);
void camera_invalidate(Camera *camera);
void camera_remove_object(Camera *camera);
void camera_add_object(Camera *camera);
