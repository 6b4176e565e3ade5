/* SPDX-License-Identifier: MIT */
/* A comparison of two implementations of the same work on a device: graphs of several launches of
 * each, alternating, so that both run at the same clocks; and, if the device is power-limited and
 * both take long and nearly equal times, each at its own steady clocks (steady.h). */
#pragma once

#include "kernels/cuda/common/cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Launches the work once in the contest's stream; false if it fails. */
typedef bool (*LigContender) (void *data);

/* Writes the microseconds of one launch of each; false after a failure. Both must have run before,
 * because loading a kernel cannot be captured. */
bool lig_contest (LigBackendDevice *device,
                  void *stream,
                  LigContender first,
                  LigContender second,
                  void *data,
                  float times[2]);

#ifdef __cplusplus
}
#endif
