/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What the errors of machine_error() mean.
 */

/* For people; the error itself where there is nothing more to say. */
const char *error_text(const char *error);
