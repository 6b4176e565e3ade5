/* SPDX-License-Identifier: MIT */
/* Matmuls of quantized operands. */
#pragma once

#include "engine/lower/ports.h"

typedef struct LigScaleParams LigScaleParams;

/* Returns the quantized matmul whose kernel this is, or null: its weight, or that weight's
 * gradient, is an operand. */
const LigPart *
lig_find_quantized (LigLowering *self, const LigKernel *kernel, const LigBindings *bindings);

/* Emits the matmul of quantized operands instead of a kernel; without a twin it sets
 * `unquantized`. */
void lig_emit_quantized (LigLowering *self,
                         const LigPart *matmul,
                         const LigKernel *kernel,
                         const LigBindings *bindings,
                         const LigScaleParams *scale);
