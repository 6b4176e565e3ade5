/* SPDX-License-Identifier: MIT */
/* The last product and its cross-entropy without the logits, see kernels/joint-loss.h. Lower bound:
 * three products, and six crossings of the logits: written by the product, read by the loss, read
 * and written by its gradient, read by either product. */
#include "kernels/cuda/common/map.cuh"
#include "kernels/joint-loss.h"

namespace lig
{
__global__ void
write_one (float *one)
{
  *one = 1;
}

static LigStatus
set_one (LigLaunch *launch, float *one)
{
  write_one<<<1, 1, 0, stream (launch)>>> (one);
  return LIG_LAUNCHED (launch);
}

/* Adds up the means and counts of the chunks in order; they are few. */
__global__ void
add_parts_of_loss (const float *parts, int64_t chunks, Target y, Target count)
{
  double sum = 0, counted = 0;
  for (int64_t i = 0; i < chunks; i++) {
    sum += (double) parts[2 * i] * (double) parts[2 * i + 1];
    counted += (double) parts[2 * i + 1];
  }
  if (y.data)
    y.set (0, counted > 0 ? (float) (sum / counted) : 0);
  if (count.data)
    count.set (0, (float) counted);
}

static LigStatus
conclude (LigLaunch *launch, const float *parts, int64_t chunks)
{
  const LigOperand *o = launch->operands;
  add_parts_of_loss<<<1, 1, 0, stream (launch)>>> (parts, chunks, target (&o[LIG_JOINT_Y]),
                                                   target (&o[LIG_JOINT_COUNT]));
  return LIG_LAUNCHED (launch);
}

/* y = g dy / count, to which the old y is added if ADDS. */
template <bool ADDS> struct Divide {
  Vector dy, count;
  float factor;
  Divide
  any () const
  {
    return *this;
  }
  __device__ void
  begin ()
  {
    float rows = count[0];
    factor = rows > 0 ? dy[0] / rows : 0;
  }
  template <int W>
  __device__ void
  apply (float (&g)[W], const float (&old)[W], int64_t) const
  {
#pragma unroll
    for (int i = 0; i < W; i++)
      g[i] = ADDS ? factor * g[i] + old[i] : factor * g[i];
  }
};

static LigStatus
divide (LigLaunch *launch, const LigOperand *g, const LigOperand *y, bool adds)
{
  const LigOperand *o = launch->operands;
  if (!g->data || !y->data)
    return LIG_OK;
  if (adds)
    return map<true> (launch, g, y, y, Divide<true>{vector (&o[0]), vector (&o[1]), 0});
  return map<false> (launch, g, nullptr, y, Divide<false>{vector (&o[0]), vector (&o[1]), 0});
}
} /* namespace lig */

using namespace lig;

/* Computes y, count and the undivided gradients gx, gweight, gbias. */
extern "C" LigStatus
lig_cuda_linear_cross_entropy (LigLaunch *launch)
{
  static const LigJointCalls calls = {
    lig_cuda_linear,
    lig_cuda_linear_bias,
    lig_cuda_cross_entropy,
    lig_cuda_cross_entropy_backward,
    lig_cuda_linear_backward_input,
    lig_cuda_linear_backward_weight,
    lig_cuda_linear_backward_weight_bias,
    set_one,
    conclude,
  };
  return lig_joint_loss (launch, &calls, LIG_BACKEND_CUDA);
}

/* Computes dx, dweight, dbias from dy, count and the undivided gradients. */
extern "C" LigStatus
lig_cuda_linear_cross_entropy_backward (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  LigStatus status = divide (launch, &o[2], &o[5], false);
  if (status == LIG_OK)
    status = divide (launch, &o[3], &o[6], launch->accumulate);
  if (status == LIG_OK)
    status = divide (launch, &o[4], &o[7], launch->accumulate);
  return status;
}
