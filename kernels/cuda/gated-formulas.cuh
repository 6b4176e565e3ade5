/* SPDX-License-Identifier: MIT */
/* The formulas of all gated units with the same arguments. */
#pragma once

#include "kernels/cuda/gated.cuh"

namespace lig
{
namespace gated
{
#define UNIT(name, backward_name, ...) \
  static __device__ inline float name (float a, float b, const LigGatedParams &) \
  { \
    return lig_##name (a, b); \
  } \
  static __device__ inline void backward_name (float dy, float a, float b, const LigGatedParams &, \
                                               float &da, float &db) \
  { \
    lig_##backward_name (dy, a, b, &da, &db); \
  }
LIG_EACH_GATED (UNIT)
#undef UNIT

#define UNIT(name, backward_name, ...) \
  static __device__ inline float name (float a, float b, const LigGatedParams &p) \
  { \
    return lig_##name (a, b, &p); \
  } \
  static __device__ inline void backward_name (float dy, float a, float b, \
                                               const LigGatedParams &p, float &da, float &db) \
  { \
    lig_##backward_name (dy, a, b, &p, &da, &db); \
  }
LIG_EACH_GATED_WITH_PARAMS (UNIT)
#undef UNIT
} /* namespace gated */
} /* namespace lig */
