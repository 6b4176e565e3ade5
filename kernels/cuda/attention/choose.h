/* SPDX-License-Identifier: MIT */
/* The choice between cuDNN and the built-in kernels of attention. */
#pragma once

#include "kernels/cuda/common/cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Launches attention, or attention_backward if `backward`: with the built-in kernel, unless cuDNN
 * was faster when the two were timed on this device. A warm-up run times them once per case, or
 * uses a stored choice; before that the built-in kernel runs. */
LigStatus lig_attention_choose (LigLaunch *launch, bool backward, LigKernelFunc own);

#ifdef __cplusplus
}
#endif
