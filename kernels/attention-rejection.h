/* SPDX-License-Identifier: MIT */
/* Decides which variants of attention cuDNN computes exactly as the kernels define them. Plain C,
 * shared by plans, which report the implementation of each step, and the CUDA module. */
#pragma once

#include <ligature/launch.h>
#include <ligature/params-attention.h>

/* Returns the reason, which begins with cuDNN's limitation, why a variant is left to the built-in
 * kernels; null if cuDNN can compute it. `x` is followed by memory, lengths and documents, as in
 * the signatures of attention and attention_backward; null data means absent. */
const char *
lig_attention_rejection (const LigOperand *x, const LigAttentionParams *params, bool backward);
