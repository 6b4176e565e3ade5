/* SPDX-License-Identifier: MIT */
/* Matmuls of a few rows with a weight that is stored as [n, k]. */
#pragma once

#include "kernels/cpu/matmul.h"

/* The most rows. */
#define LIG_FEW_ROWS 8

/* Returns whether few_rows can compute the matmul: it has a few rows, its operands have floating
 * types without scales, and no sums of columns are asked for. */
bool LIG_CPU (few_rows_suits) (const LigCpuMatmul *matmul);

/* Computes the matmul. Parallel work is limited by lig_cpu_prepare_threads(). */
void LIG_CPU (few_rows) (const LigCpuMatmul *matmul, float *workspace);
