/* SPDX-License-Identifier: MIT */
/* The table of the backend's kernels. */
#pragma once

#include "kernels/cuda/common/cuda.h"

enum {
#define LIG_EACH(name, signature, work) LIG_CUDA_INDEX_##name,
#include "kernels/kernel-list.h"
#undef LIG_EACH
  LIG_N_CUDA_FUNCTIONS
};

extern const LigKernelFunc lig_cuda_functions[LIG_N_CUDA_FUNCTIONS];
