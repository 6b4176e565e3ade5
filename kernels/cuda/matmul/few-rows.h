/* SPDX-License-Identifier: MIT */
/* Matmuls with few rows, as for the next tokens of a few texts: 16-bit operands, compute capability
 * 9.0 or newer. */
#pragma once

#include "kernels/cuda/matmul/matmul.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns whether lig_few_rows_matmul() supports the matmul on this device. */
bool lig_few_rows_serves (const LigLaunch *launch, const LigMatmul *matmul);

/* Launches the matmul. A row's bits do not depend on the other rows. */
LigStatus lig_few_rows_matmul (LigLaunch *launch, const LigMatmul *matmul);

#ifdef __cplusplus
}
#endif
