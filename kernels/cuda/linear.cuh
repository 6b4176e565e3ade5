/* SPDX-License-Identifier: MIT */
/* The three matmuls of a linear map, for kernels that launch them with operands whose layout
 * differs from that of a plan. */
#pragma once

#include "kernels/cuda/matmul/matmul.h"

namespace lig
{
/* Returns an operand as a matrix. */
inline LigMatrix
matrix (const LigOperand &operand)
{
  return LigMatrix{operand.data, operand.columns, operand.dtype};
}

/* Returns the matmul y = x weight^T of the operands x and weight. */
LigMatmul forward (const LigLaunch *launch, const LigOperand &y);

/* Returns the matmul dx = dy weight of the operands dy and weight. */
LigMatmul backward_input (const LigLaunch *launch, const LigOperand &dx);

/* Returns the matmul dweight = dy^T x of the operands dy, x and dweight, added to the old values
 * if the launch accumulates. */
LigMatmul backward_weight (const LigLaunch *launch);

/* Computes a matmul with the launch's factor, and its sums, in the faster of two ways. */
LigStatus multiply (LigLaunch *launch, LigMatmul job);

/* The same through copies with 16-byte aligned rows in the launch's scratch memory: of blocks of
 * the result, or of the left operand of a gradient. */
LigStatus multiply_padded (LigLaunch *launch, const LigMatmul &job);
} /* namespace lig */
