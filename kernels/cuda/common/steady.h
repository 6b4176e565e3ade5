/* SPDX-License-Identifier: MIT */
/* Times at steady clocks. A device at its power limit lowers its clocks step by step, over about a
 * tenth of a second, until the work draws no more than the limit. Ways to do the same work that are
 * timed for a few milliseconds, or in turns, meet the same clocks; in a long run each meets those
 * that its own power leaves. Of two algorithms of a matmul on an H100, one was 17 % faster in
 * turns and 8 % in long runs; of others, the one that was 3 % faster in turns was 4 % slower. */
#pragma once

#include "kernels/cuda/common/cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The microseconds of a launch from which one kernel can keep a device at its power limit. */
#define LIG_STEADY_FROM 200.0f

/* Runs a graph of `launches` launches, which take that many microseconds each, until the clocks are
 * steady, and then times it. Returns the microseconds of one launch, and in `limited` whether power
 * limits the clocks by what the driver reports; negative after a failure. The device is busy for
 * about 0.12 s. */
float lig_steady_time (LigBackendDevice *device,
                       void *stream,
                       void *graph,
                       int launches,
                       float microseconds,
                       bool *limited);

#ifdef __cplusplus
}
#endif
