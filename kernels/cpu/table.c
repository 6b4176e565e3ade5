/* SPDX-License-Identifier: MIT */
/* The functions of one instruction level, in the order of kernel-list.h. */
#include "kernels/cpu/cpu.h"

const LigKernelFunc LIG_CPU (functions)[] = {
#define LIG_EACH(name, signature, work) LIG_CPU (name),
#include "kernels/kernel-list.h"
#undef LIG_EACH
};
