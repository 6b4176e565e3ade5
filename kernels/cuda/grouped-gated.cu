/* SPDX-License-Identifier: MIT */
/* Matmuls of the rows of each group with a gated unit after them, and the input gradients of such
 * matmuls with the gradient of a gated unit before them. With 16-bit operands on compute capability
 * 9.0, the unit is in the epilogue of the matmul (grouped-rows.cu): blocks of the gate and of the
 * linear half alternate every 32 columns, and so do the pieces of the epilogue, so that a tile has
 * both factors of each output. Elsewhere the kernels of the matmul and of the unit follow one
 * another.
 *
 * Lower bounds, besides those of the matmul: the forward pass writes its input, if it is kept, and
 * output, and saves the time to read the former; the gradient reads the unit's input and writes its
 * gradient, and saves the time to write and read the gradient of the unit's output. */
#include "kernels/cuda/grouped-gated.cuh"
#include <ligature/params-grouped.h>

#define MISFIT \
  "grouped matmul and gated unit: no such unit, or operands that do not fit together, or of " \
  "another type; pass what the signature names"

#define EACH_UNIT(UNIT) LIG_EACH_GATED (UNIT) LIG_EACH_GATED_WITH_PARAMS (UNIT)

namespace lig
{
namespace grouped
{
/* A consumer: processes every second tile of this threadblock. */
template <class T, bool BACKWARD>
__device__ inline void
consume_gated (const Maps &maps,
               const Gated &job,
               const StageRing &ring,
               const UnitQueue &queue,
               float *vectors,
               uint32_t memory,
               int warp)
{
  const Rows &rows = job.rows;
  int steps = (rows.depth + TILE_DEPTH - 1) / TILE_DEPTH, thread = threadIdx.x % 128;
  int group = warp / 4, next = TURNS + 3 - group;
  for (int turn = 0;; turn++) {
    SentTile tile = queue.consume (turn);
    bool own = turn % 2 == group - 1;
    if (!tile.exists) {
      if (own && turn > 0)
        turn_wait (TURNS + group);
      break;
    }
    if (!own)
      continue;
    float bias[2] = {}, scale = 1;
    using Shared = GatedLayout<BACKWARD>;
    if (BACKWARD) {
      if (job.factors && tile.row + thread < tile.end)
        scale = job.factors[tile.row + thread];
      for (int number = 0; number < Shared::READ_AHEAD; number++)
        fetch_vectors (job, share_of_tile (tile, warp, memory), number, tile.end);
    } else {
      for (int i = 0; i < 2; i++)
        bias[i] = bias_of_group (rows, tile.group, tile.column + 128 * i + thread);
      if (rows.scales && tile.row + thread < tile.end)
        scale = rows.scales[tile.row + thread];
    }
    if (turn > 0)
      turn_wait (TURNS + group);
    if (BACKWARD)
      vectors[TILE_ROWS + thread] = scale;
    else {
      vectors[thread] = bias[0];
      vectors[TILE_COLUMNS + thread] = scale;
      if (thread < TILE_COLUMNS - 128)
        vectors[128 + thread] = bias[1];
    }
    float sums[2][96];
    constexpr int COUNT = Shared::COUNT;
    auto first = Cursor<COUNT>::at (turn * steps);
    choose_loop<T, false, BACKWARD> (
      tile.end - tile.row, rows.columns - tile.column, [&] (auto loop) {
        multiply_steps<decltype (loop)> (sums, ring, first, steps, next,
                                         [] (Cursor<COUNT>, int) {});
      });
    warpgroup_sync (group);
    Share share = share_of_tile (tile, warp, memory);
    if constexpr (BACKWARD)
      finish_backward<T> (sums, job, share, tile.end, vectors + warp % 4 * 2 * PIECE_ROWS,
                          vectors + TILE_ROWS + warp % 4 * PIECE_ROWS);
    else
      finish_forward<T> (sums, maps, job, share, tile, vectors);
  }
  if (is_elected ())
    await_stores<0> ();
}

/* Sets the rows in no group to 0, by `count` threads of each threadblock. */
template <bool BACKWARD>
__device__ inline void
clear_gated (const Gated &job, int thread, int count)
{
  if (job.rows.y)
    clear_rows (job.rows, thread, count);
  Rows out = job.rows;
  out.y = job.out;
  out.columns = BACKWARD ? 2 * out.columns : out.columns / 2;
  if (out.y)
    clear_rows (out, thread, count);
}

template <class T, bool BACKWARD>
__global__ void LIG_IN_PAIRS
__launch_bounds__ (BLOCK, 1)
  grouped_gated_kernel (const __grid_constant__ Maps maps, const __grid_constant__ Gated job)
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  using Shared = GatedLayout<BACKWARD>;
  extern __shared__ char memory[];
  uint32_t begin = (shared_address (memory) + 1023) / 1024 * 1024;
  float *vectors = (float *) (memory + (begin - shared_address (memory)) + Shared::VECTORS_AT);
  StageRing ring = {begin, begin + Shared::BARRIERS_AT,
                    begin + Shared::BARRIERS_AT + Shared::COUNT * 8, 0};
  int warp = warp_number (), group = warp / 4, rank = (int) cluster_rank ();
  UnitQueue queue = UnitQueue::at (begin + Shared::BARRIERS_AT + 2 * Shared::COUNT * 8);
  begin_ring<Shared::COUNT> (ring);
  queue.begin ();
  cluster_sync ();
  if (group == 0) {
    release_registers<40> ();
    if (threadIdx.x == 0)
      produce_groups<BACKWARD, Shared::COUNT> (maps, job.rows, ring, queue, rank);
    else if (warp == 1 && rank == 0)
      queue.schedule (job.rows.segments.next, job.rows.segments.tiles[job.rows.segments.count],
                      [&] (int unit) { return tile_of (job.rows, unit); });
    else if (warp > 1)
      clear_gated<BACKWARD> (job, (int) threadIdx.x - 64, 64);
  } else {
    take_registers<232> ();
    uint32_t own = begin + Shared::COUNT * STAGE_BYTES + (warp - 4) * Shared::WARP_BYTES;
    consume_gated<T, BACKWARD> (maps, job, ring, queue, vectors + (group - 1) * Shared::OWN, own,
                                warp);
  }
  __syncwarp ();
  cluster_sync ();
#endif
}

/* Adds the parts of dfactors in order; rows in no group have 0. */
static __global__ void
__launch_bounds__ (THREADS) add_factors (Rows job, const float *partials, float *dfactors)
{
  const Segments &s = job.segments;
  int first = s.borders[1], end = s.borders[s.count - 1];
  for (int64_t row = (int64_t) blockIdx.x * THREADS + threadIdx.x; row < job.rows;
       row += (int64_t) gridDim.x * THREADS) {
    float sum = 0;
    if (row >= first && row < end)
      for (int tile = 0; tile < job.wide; tile++)
        sum += partials[(int64_t) tile * job.rows + row];
    dfactors[row] = sum;
  }
}

/* Encodes the tensor maps of the operands; the unit's input is stored in pieces if it is kept. */
static bool
describe_gated (Maps *maps,
                const LigOperand *x,
                const LigOperand *weight,
                const Rows &job,
                int64_t groups,
                bool along)
{
  LigMatrix stack = matrix_of (weight, along ? job.depth : job.columns);
  bool right =
    along
      ? describe_layers (&maps->right, stack, groups, job.columns, job.depth, 32, TILE_DEPTH)
      : describe_layers (&maps->right, stack, groups, job.depth, job.columns, TILE_DEPTH / 2, 64);
  return right &&
         describe (&maps->left, matrix_of (x, job.depth), job.rows, job.depth, HALF_ROWS,
                   TILE_DEPTH) &&
         (!job.y || describe (&maps->result, LigMatrix{job.y, job.columns, x->dtype}, job.rows,
                              job.columns, PIECE_ROWS, PIECE_COLUMNS));
}

template <class T, bool BACKWARD>
static LigStatus
launch_gated (LigLaunch *launch, const Maps &maps, const Gated &job, int64_t groups)
{
  return launch_units (launch, grouped_gated_kernel<T, BACKWARD>,
                       GatedLayout<BACKWARD>::SHARED_BYTES, maps, job,
                       most_units (job.rows, groups));
}

/* The sizes of a matmul of rows. */
static Rows
sizes_of (const LigOperand *x, int64_t columns)
{
  Rows job = {};
  job.rows = (int) rows (x);
  job.columns = (int) columns;
  job.depth = (int) x->columns;
  job.wide = (job.columns + TILE_COLUMNS - 1) / TILE_COLUMNS;
  return job;
}

/* Returns whether the matmul can have the unit in its epilogue; `input` is the unit's input or its
 * gradient, and `output` the unit's output. Either may be absent. */
template <bool BACKWARD>
static bool
serves (const LigLaunch *launch,
        const LigOperand *x,
        const LigOperand *weight,
        int64_t columns,
        const LigOperand *input,
        const LigOperand *output)
{
  const LigGroupedGatedParams *p = (const LigGroupedGatedParams *) launch->params;
  int64_t limit = INT32_MAX - 2 * TILE_ROWS, groups = launch->operands[2].size - 1;
  return launch->device->capability == 90 && (x->dtype == LIG_BF16 || x->dtype == LIG_FP16) &&
         p->gated.interleave == BLOCK_COLUMNS && has_unit<BACKWARD> (p->unit) && rows (x) > 0 &&
         rows (x) <= limit && columns <= limit / 2 && x->columns <= limit &&
         columns % BLOCK_COLUMNS == 0 && has_rows (x, x->dtype, x->columns) &&
         has_rows (weight, x->dtype, 8) && rows (x) * columns <= 2 * (int64_t) UINT32_MAX &&
         (!input->data || has_rows (input, x->dtype, columns)) &&
         (!output->data || has_rows (output, x->dtype, columns)) &&
         most_units (sizes_of (x, columns), groups) <= INT32_MAX / 2 && map_function ();
}

/* Launches the matmul with the unit in its epilogue. */
template <bool BACKWARD>
static LigStatus
launch_fused (LigLaunch *launch, Gated job)
{
  const LigGroupedGatedParams *p = (const LigGroupedGatedParams *) launch->params;
  const LigOperand *x = &launch->operands[0], *weight = &launch->operands[1];
  const LigOperand *offsets = &launch->operands[2];
  Maps maps = {};
  job.unit = p->unit;
  job.params = p->gated;
  if (!describe_gated (&maps, x, weight, job.rows, offsets->size - 1, !BACKWARD))
    return LIG_FAIL (launch, LIG_UNSUPPORTED, "grouped matmul: the driver rejects a tensor map");
  LigStatus status =
    begin (launch, offsets, job.rows.rows, Units{job.rows.wide}, &job.rows.segments);
  if (status != LIG_OK)
    return status;
  status = x->dtype == LIG_BF16
             ? launch_gated<bf16, BACKWARD> (launch, maps, job, offsets->size - 1)
             : launch_gated<half, BACKWARD> (launch, maps, job, offsets->size - 1);
  const LigOperand *dfactors = &launch->operands[6];
  if (status != LIG_OK || !BACKWARD || !dfactors->data)
    return status;
  add_factors<<<blocks_for (launch, job.rows.rows, THREADS, 32), THREADS, 0, stream (launch)>>> (
    job.rows, job.partials, (float *) dfactors->data);
  return LIG_LAUNCHED (launch);
}

/* Sets the rows of a matrix that are in no group to 0. */
static __global__ void
__launch_bounds__ (THREADS) clear_others (Segments s, Target y, int64_t rows, int64_t columns)
{
  int64_t before = s.borders[1] * columns, after = s.borders[s.count - 1] * columns;
  for (int64_t i = (int64_t) blockIdx.x * THREADS + threadIdx.x; i < rows * columns;
       i += (int64_t) gridDim.x * THREADS)
    if (i < before || i >= after)
      y.set (i, 0);
}

/* Launches that, for an operand that may be absent. */
static LigStatus
clear (LigLaunch *launch, const LigOperand *operand)
{
  Segments segments;
  int64_t count = rows (&launch->operands[0]);
  if (!operand->data)
    return LIG_OK;
  LigStatus status = begin (launch, &launch->operands[2], count, Tiles{count}, &segments);
  if (status != LIG_OK)
    return status;
  clear_others<<<blocks_for (launch, operand->size, THREADS, 32), THREADS, 0, stream (launch)>>> (
    segments, target (operand), count, operand->size / count);
  return LIG_LAUNCHED (launch);
}

/* Launches a kernel on other operands, with other params. */
static LigStatus
run (LigLaunch *launch, LigKernelFunc kernel, const LigOperand *operands, const void *params)
{
  LigLaunch part = *launch;
  part.operands = operands;
  part.params = params;
  LigStatus status = kernel (&part);
  launch->where = part.where;
  return status;
}
} /* namespace grouped */
} /* namespace lig */

using namespace lig;
using namespace lig::grouped;

#define DECLARE(name, backward_name, ...) \
  extern "C" LigStatus lig_cuda_##name (LigLaunch *launch); \
  extern "C" LigStatus lig_cuda_##backward_name (LigLaunch *launch);
EACH_UNIT (DECLARE)
LIG_EACH_SCALED (DECLARE)
#undef DECLARE
extern "C" LigStatus lig_cuda_grouped_linear (LigLaunch *launch);
extern "C" LigStatus lig_cuda_grouped_backward_input (LigLaunch *launch);

/* The kernels of the gated units, by their numbers: plain and scaled. */
static const struct {
  const char *name;
  LigKernelFunc forward, backward;
} units[] =
  {
#define UNIT(name, backward_name, ...) {#name, lig_cuda_##name, lig_cuda_##backward_name},
    EACH_UNIT (UNIT)
#undef UNIT
},
  scaled_units[] = {
#define UNIT(name, backward_name, unit, ...) {#unit, lig_cuda_##name, lig_cuda_##backward_name},
    LIG_EACH_SCALED (UNIT)
#undef UNIT
};

/* Returns the kernel of a unit; null if there is none. */
static LigKernelFunc
kernel_of (const LigGroupedGatedParams *p, const LigOperand *factors, bool backward)
{
  if (!p || p->unit < 0 || p->unit >= LIG_N_GATED || !is_type (factors, LIG_FP32))
    return nullptr;
  if (!factors->data)
    return backward ? units[p->unit].backward : units[p->unit].forward;
  for (const auto &scaled : scaled_units)
    if (strcmp (scaled.name, units[p->unit].name) == 0)
      return backward ? scaled.backward : scaled.forward;
  return nullptr;
}

/* Returns whether the operands of a matmul of rows fit together. */
static bool
matrices_fit (const LigOperand *o, int64_t columns)
{
  int64_t groups = o[2].size - 1;
  return groups > 0 && columns > 0 && o[0].columns > 0 && rows (&o[0]) > 0 &&
         o[1].dtype == o[0].dtype && o[1].size == groups * columns * o[0].columns;
}

/* Computes sum_i = x_i weight[g]^T + bias[g] scales[i], and y_i = factors[i] unit (sum_i). */
extern "C" LigStatus
lig_cuda_grouped_linear_gated (LigLaunch *launch)
{
  const LigGroupedGatedParams *p = (const LigGroupedGatedParams *) launch->params;
  const LigOperand *o = launch->operands, *factors = &o[5], *y = &o[7];
  LigKernelFunc unit = kernel_of (p, factors, false);
  LigOperand sum = o[6];
  int64_t columns = sum.data ? sum.columns : 2 * y->columns;
  if (!unit || columns % 2 != 0 || !is_type (&o[4], LIG_FP32))
    return LIG_FAIL (launch, LIG_UNSUPPORTED, MISFIT);
  if (y->data && matrices_fit (o, columns) &&
      serves<false> (launch, &o[0], &o[1], columns, &sum, y)) {
    Gated job = {sizes_of (&o[0], columns)};
    job.rows.bias = vector (&o[3]);
    job.rows.scales = (const float *) o[4].data;
    job.rows.y = (char *) sum.data;
    job.out = (char *) y->data;
    job.factors = (const float *) factors->data;
    return launch_fused<false> (launch, job);
  }
  if (!sum.data)
    sum = LigOperand{launch->scratch, 2 * y->size, columns, y->dtype};
  const LigOperand matmul[] = {o[0], o[1], o[2], o[3], o[4], sum};
  LigStatus status = run (launch, lig_cuda_grouped_linear, matmul, &p->grouped);
  if (status != LIG_OK || !y->data)
    return status;
  const LigOperand plain[] = {sum, *y}, times[] = {sum, *factors, *y};
  status = run (launch, unit, factors->data ? times : plain, &p->gated);
  return status == LIG_OK ? clear (launch, y) : status;
}

/* Computes dx, the unit's input gradient, given that of its output, dy_i weight[g]; and dfactors.
 */
extern "C" LigStatus
lig_cuda_grouped_gated_backward_input (LigLaunch *launch)
{
  const LigGroupedGatedParams *p = (const LigGroupedGatedParams *) launch->params;
  const LigOperand *o = launch->operands, *x = &o[3], *factors = &o[4], *dx = &o[5];
  LigKernelFunc unit = kernel_of (p, factors, true);
  int64_t columns = x->columns / 2;
  if (!unit || x->columns % 2 != 0 || (o[6].data && !factors->data) || !is_type (&o[6], LIG_FP32))
    return LIG_FAIL (launch, LIG_UNSUPPORTED, MISFIT);
  if (matrices_fit (o, columns) && serves<true> (launch, &o[0], &o[1], columns, x, dx)) {
    Gated job = {sizes_of (&o[0], columns)};
    job.in = (const char *) x->data;
    job.out = (char *) dx->data;
    job.factors = (const float *) factors->data;
    job.partials = o[6].data ? (float *) launch->scratch : nullptr;
    return launch_fused<true> (launch, job);
  }
  const LigOperand between = {launch->scratch, x->size / 2, columns, o[0].dtype};
  const LigOperand matmul[] = {o[0], o[1], o[2], between};
  LigStatus status = run (launch, lig_cuda_grouped_backward_input, matmul, &p->grouped);
  if (status != LIG_OK)
    return status;
  const LigOperand plain[] = {between, *x, *dx}, times[] = {between, *x, *factors, *dx, o[6]};
  status = run (launch, unit, factors->data ? times : plain, &p->gated);
  if (status == LIG_OK)
    status = clear (launch, dx);
  return status == LIG_OK ? clear (launch, &o[6]) : status;
}
