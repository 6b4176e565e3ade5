/* SPDX-License-Identifier: MIT */
/* The CPU's functions at the level chosen for this machine, in the order of kernel-list.h. */
#pragma once

#include <ligature/kernels.h>

const LigKernelFunc *lig_cpu_functions (void);
