/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What libFuzzer calls, and run-corpus.c where there is no libFuzzer.
 */

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
