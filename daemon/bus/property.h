/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * One property that is watched: its value, or why it has none, and the question for it. Whoever follows is told when
 * that changes.
 */

#include "basic/audience.h"
#include "bus/connection.h"
#include "bus/property-watch.h"

typedef struct Property Property;

struct Property {
        Connection *connection;
        PropertyAddress address; /* borrowed, but for the name of the property */
        void (*unused)(Property *property);
        void *userdata;

        PropertyState state;
        json_object *value;
        PropertyProblem problem;
        Call *get;      /* the question that is on its way */
        bool may_start; /* it may start the service */
        bool stale;     /* its answer may be out of date */
        bool moot;      /* ... or is, in any case */
        bool passed;    /* the last answer was not taken, since it was stale */
        Audience audience;
        bool kept; /* though nobody follows */
};

/* unused: nobody follows any more, so that it can be freed. Called last by each function that tells. */
Property *property_new(Connection *connection, const PropertyAddress *address, void (*unused)(Property *property),
                       void *userdata);
void property_free(Property *property);
void property_drop_unused(Property *property);

/* Asks for the value, whatever was asked before: of another owner of the name. */
void property_get(Property *property);
/* The same, but a question that is on its way to nobody yet will reach the new owner: the bus is starting it. */
void property_get_unless_asked(Property *property);
/* There is another value. One question at a time is on its way, however often that is said. */
void property_invalidate(Property *property);

/* A signal tells the value, to be read next. Negative: it cannot be read. */
int property_read(Property *property, sd_bus_message *message);

/* There is no value: the service is not there, or the object has gone, or the bus. */
void property_absent(Property *property);
void property_gone(Property *property);
void property_lost(Property *property);
