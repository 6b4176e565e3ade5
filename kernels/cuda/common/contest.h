/* SPDX-License-Identifier: MIT */
/* A comparison of two ways to do the same work on a device: graphs of several launches of each, in
 * turn, so that both meet the same clocks; and, where power limits the device and both take long
 * and nearly equally long, each at its own steady clocks (steady.h). */
#pragma once

#include "kernels/cuda/common/cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Launches the work once on the contest's stream; false if it fails. */
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
