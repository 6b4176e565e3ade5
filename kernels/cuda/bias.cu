/* SPDX-License-Identifier: MIT */
/* The addition of a bias to rows, and the gradient of the bias. */
#include "kernels/cuda/bias.cuh"

namespace lig
{
struct Itself {
  Itself
  any () const
  {
    return *this;
  }
  __device__ float
  operator() (float x) const
  {
    return x;
  }
};
} /* namespace lig */

using namespace lig;

/* Computes y = x + bias for rows of x [M, N] and a bias [N]. */
extern "C" LigStatus
lig_cuda_bias (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  if (!all_floating (launch, 3))
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "bias: not a floating type; convert to fp32, fp16 or bf16");
  return add_bias (launch, &o[0], &o[1], &o[2], nullptr, Itself{});
}

/* Computes dbias [N], the sum over rows of dy [M, N]. */
extern "C" LigStatus
lig_cuda_bias_backward (LigLaunch *launch)
{
  return sum_rows (launch, &launch->operands[0], &launch->operands[1]);
}
