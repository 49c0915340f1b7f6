/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "camera-stage.h"
#include "leaf-types/leaf-types.h"

typedef struct Case {
        BusKind kind;
        CameraTest test;
} Case;

static void run_case(gconstpointer data) {
        const Case *of = data;
        CameraStage stage = { 0 };

        if (!bus_kind_available(of->kind)) {
                g_test_skip("the bus is not installed");
                return;
        }

        stage.bus = bus_fixture_new(of->kind, NULL);
        bus_fixture_start(stage.bus);
        stage.leaves = leaf_stage_new(bus_fixture_address(stage.bus));
        camera_open(&stage.camera, stage.bus, true);

        of->test(&stage);

        leaf_stage_free(stage.leaves);
        camera_close(&stage.camera);
        bus_fixture_free(stage.bus);
}

void camera_stage_add(const char *suite, const char *name, CameraTest test) {
        static const BusKind kinds[] = { BUS_DAEMON, BUS_BROKER };

        for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
                g_autofree char *path = g_strdup_printf("/%s/%s/%s", suite, bus_kind_name(kinds[i]), name);
                Case *of = g_new(Case, 1);

                *of = (Case){ .kind = kinds[i], .test = test };
                g_test_add_data_func_full(path, of, run_case, g_free);
        }
}

TestLeaf *camera_stage_start(CameraStage *stage, const NodeType *type, const char *rest) {
        const NodeType *const types[] = { type, NULL };
        g_autofree char *node = g_strdup_printf("{ \"type\": \"%s\", %s }", type->name, rest);

        return leaf_stage_start(stage->leaves, types, node);
}

TestLeaf *camera_stage_look_at(CameraStage *stage, const char *path, const char *property, const char *rest) {
        g_autofree char *text =
                g_strdup_printf("\"destination\": \"" CAMERA "\", \"path\": \"%s\", \"interface\": \"" CAMERA
                                "\", \"property\": \"%s\"%s",
                                path, property, rest);

        return camera_stage_start(stage, &dbus_property_type, text);
}

TestLeaf *camera_stage_look(CameraStage *stage, const char *property, const char *rest) {
        return camera_stage_look_at(stage, CAMERA_PATH, property, rest);
}
