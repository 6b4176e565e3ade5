/* SPDX-License-Identifier: MIT */
/* The functions of the backend, in the order of kernel-list.h. */
#include "kernels/cuda/runtime/table.h"

const LigKernelFunc lig_cuda_functions[LIG_N_CUDA_FUNCTIONS] = {
#define LIG_EACH(name, signature, work) LIG_CUDA (name),
#include "kernels/kernel-list.h"
#undef LIG_EACH
};
