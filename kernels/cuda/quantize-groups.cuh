/* SPDX-License-Identifier: MIT */
/* Quantized copies of several matrices in one operand. */
#pragma once

#include "kernels/cuda/quantize.cuh"

namespace lig
{
/* Launches quantize for LigQuantizeParams.groups matrices. */
LigStatus quantize_groups (LigLaunch *launch, const LigQuantizeParams *params);
} /* namespace lig */
