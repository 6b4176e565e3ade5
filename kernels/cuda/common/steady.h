/* SPDX-License-Identifier: MIT */
/* Times at steady clocks. A device at its power limit lowers its clocks step by step, over about a
 * tenth of a second, until its power is within the limit, and lowers them further the more power
 * the kernel draws. Implementations that are timed for only a few milliseconds, or alternately, run
 * at the same clocks; in a long run each runs at the clocks that its own power permits. Of two
 * algorithms of a matmul on an H100, one was 17 % faster when alternating and 8 % in long runs; of
 * another pair, the one that was 3 % faster when alternating was 4 % slower. */
#pragma once

#include "kernels/cuda/common/cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The microseconds per launch from which a single kernel can keep a device at its power limit. */
#define LIG_STEADY_FROM 200.0f

/* Runs a graph of `launches` launches, which take that many microseconds each, until the clocks are
 * steady, and then times it. Returns the microseconds of one launch, and in `limited` whether the
 * driver reports power-limited clocks; negative after a failure. The device is busy for about 0.12
 * s. */
float lig_steady_time (LigBackendDevice *device,
                       void *stream,
                       void *graph,
                       int launches,
                       float microseconds,
                       bool *limited);

#ifdef __cplusplus
}
#endif
