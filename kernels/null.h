/* SPDX-License-Identifier: MIT */
/* The null backend: every kernel exists and does nothing, so plans compile for devices that are
 * not there. */
#pragma once

#include <ligature/kernels.h>

LigStatus lig_null_run (LigLaunch *launch);
