/* SPDX-License-Identifier: MIT */
/* The variants of attention that cuDNN computes as the kernels define it. Plain C, shared by plans,
 * which say who computes a step, and by the module for CUDA. */
#pragma once

#include <ligature/launch.h>
#include <ligature/params-attention.h>

/* Returns why a variant is left to the built-in kernels, in words that begin with what cuDNN lacks;
 * null if cuDNN can compute it. `x` is followed by memory, lengths and documents, as in the
 * signatures of attention and attention_backward; null data means absent. */
const char *
lig_attention_rejection (const LigOperand *x, const LigAttentionParams *params, bool backward);
