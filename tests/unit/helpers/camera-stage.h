/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Prepares tests of D-Bus leaves: a bus with a Camera on it, and a stage for the leaves that use it.
 */

#include "camera.h"
#include "leaf-stage.h"

typedef struct CameraStage {
        BusFixture *bus;
        LeafStage *leaves;
        Camera camera; /* open, and powered */
} CameraStage;

typedef void (*CameraTest)(CameraStage *stage);

/* Adds the test once for each kind of bus, as "/suite/kind/name". */
void camera_stage_add(const char *suite, const char *name, CameraTest test);

/* Starts a leaf. rest: its parameters behind the type, of "{ "type": TYPE, REST }". */
TestLeaf *camera_stage_start(CameraStage *stage, const NodeType *type, const char *rest);
/* Starts a DBusProperty that looks at a property of the camera, or of an object of the same kind at the path. rest: ""
 * or more parameters, behind a comma. */
TestLeaf *camera_stage_look(CameraStage *stage, const char *property, const char *rest);
TestLeaf *camera_stage_look_at(CameraStage *stage, const char *path, const char *property, const char *rest);
