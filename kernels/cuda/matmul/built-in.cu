/* SPDX-License-Identifier: MIT */
/* Built-in matmuls with TMA and warpgroup MMA (wgmma), for compute capability 9.0.
 *
 * The kernel is persistent, with output tiles of 128 x 192 and a warp-specialized ping-pong
 * schedule. A producer warp copies tiles of the operands, 64 deep, to a ring of pipeline stages in
 * shared memory. Two consumer warpgroups alternate between output tiles: while one runs its
 * mainloop, the other runs its epilogue (bias, activation, stores), so that the tensor cores never
 * wait for an epilogue. The two threadblocks of a cluster compute vertically adjacent tiles and
 * share the right operand by multicast.
 *
 * The floor (roofline) is the larger of 2 M N K over the rate of the tensor cores, and the bytes of
 * operands and result over the bandwidth; cuBLASLt's gelu epilogues do not overlap with the
 * mainloop, which costs up to the time of the matmul itself if K is small.
 *
 * The column sums of the left operand, if requested, are computed by MMAs of its tiles with ones,
 * only in the first column of output tiles: the operand is not read again for them.
 *
 * A thread holds 192 accumulators and has few other registers, and each SM sub-partition has only
 * one warp in the epilogue: the epilogue is fully unrolled, so that pieces overlap. The first MMAs
 * of a tile overwrite the accumulators, whose registers are free for the epilogue until then. At
 * the power limit of an H200 a fused kernel gains less than the time it saves, because it draws
 * more power. */
#include "kernels/cuda/common/columns.cuh"
#include "kernels/cuda/matmul/built-in.h"
#include "kernels/cuda/matmul/few-rows.h"
#include "kernels/cuda/matmul/ring.cuh"
#include "kernels/cuda/matmul/tensor-maps.cuh"

namespace lig
{
/* Copies the operands' tiles at one depth; each threadblock of the cluster multicasts half of the
 * right one. */
template <bool TRANSPOSED>
__device__ inline void
load_stage (const Maps &maps, const StageRing &ring, int stage, Corner at, int depth, int rank)
{
  uint32_t full = ring.full + 8 * stage;
  barrier_expect (full, STAGE_BYTES);
  load_tile (ring.left (stage), &maps.left, depth, at.row, full);
  if (TRANSPOSED)
    for (int chunk = 0; chunk < TILE_COLUMNS / 64; chunk++)
      load_tile_for (ring.right (stage) + chunk * CHUNK_BYTES + rank * CHUNK_BYTES / 2, &maps.right,
                     at.column + 64 * chunk, depth + rank * TILE_DEPTH / 2, full, 3);
  else
    load_tile_for (ring.right (stage) + rank * RIGHT_BYTES / 2, &maps.right, depth,
                   at.column + rank * TILE_COLUMNS / 2, full, 3);
}

/* The producer: fills the ring, for all tiles of this threadblock. */
template <bool TRANSPOSED, int STAGES>
__device__ inline void
produce (const Maps &maps, const Job &job, const StageRing &ring, int rank)
{
  int clusters = (int) gridDim.x / 2;
  Cursor<STAGES> at_stage = {0, 0};
  for (int pair = (int) blockIdx.x / 2; pair < job.tall * job.wide; pair += clusters) {
    Corner at = corner_of (job, pair, rank);
    for (int depth = 0; depth < job.depth; depth += TILE_DEPTH, at_stage.advance ()) {
      barrier_wait (ring.empty + 8 * at_stage.stage, at_stage.parity ^ 1);
      load_stage<TRANSPOSED> (maps, ring, at_stage.stage, at, depth, rank);
    }
  }
}

/* Returns an element of the bias; 0 without a bias, and out of bounds. */
__device__ inline float
bias_at (const Job &job, int column)
{
  return job.bias.data && column < job.columns ? job.bias[column] : 0;
}

/* A consumer: processes every second tile of this threadblock. */
template <class T, bool TRANSPOSED, After AFTER>
__device__ inline void
consume (const Maps &maps,
         const Job &job,
         const StageRing &ring,
         float *vectors,
         uint32_t memory,
         int warp,
         int rank)
{
  using L = Loop<T, false, TRANSPOSED>;
  constexpr int TURNS = 2; /* the barriers of the warpgroups' turns follow those of the sums */
  int clusters = (int) gridDim.x / 2, steps = (job.depth + TILE_DEPTH - 1) / TILE_DEPTH;
  int thread = threadIdx.x % 128, group = warp / 4;
  for (int turn = group - 1;; turn += 2) {
    int pair = (int) blockIdx.x / 2 + turn * clusters;
    if (pair >= job.tall * job.wide)
      break;
    float sums[2][96];
    Corner tile = corner_of (job, pair, rank);
    Share share = share_of (job, tile, warp, memory);
    bool last = pair + clusters >= job.tall * job.wide;
    float bias[2] = {bias_at (job, tile.column + thread),
                     bias_at (job, tile.column + 128 + thread)};
    if constexpr (Layout<AFTER>::READS)
      for (int number = 0; number < AHEAD; number++)
        fetch_piece (job, share, number);
    if (turn > 0)
      turn_wait (TURNS + group);
    vectors[thread] = bias[0];
    if (thread < TILE_COLUMNS - 128)
      vectors[128 + thread] = bias[1];
    int next = last ? 0 : TURNS + 3 - group;
    auto first = Cursor<Layout<AFTER>::STAGES>::at (turn * steps);
    if (job.left_sums && tile.column == 0)
      multiply<L, true> (sums, ring, first, steps, next,
                         job.left_sums + tile.row / TILE_ROWS * job.depth, job.depth);
    else
      multiply<L, false> (sums, ring, first, steps, next, nullptr, 0);
    warpgroup_sync (group);
    if (AFTER == After::GELU && job.keeps)
      finish<T, AFTER, true> (sums, maps, job, share, vectors);
    else
      finish<T, AFTER, false> (sums, maps, job, share, vectors);
    if (AFTER == After::GELU_BACKWARD && job.sums)
      write_sums (job, vectors + TILE_COLUMNS, tile, group);
  }
  if (is_elected ())
    await_stores<0> ();
}

template <class T, bool TRANSPOSED, After AFTER>
__global__ void LIG_IN_PAIRS
__launch_bounds__ (BLOCK, 1)
  matmul_kernel (const __grid_constant__ Maps maps, const __grid_constant__ Job job)
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  using Places = Layout<AFTER>;
  constexpr int STAGES = Places::STAGES;
  extern __shared__ char memory[];
  uint32_t begin = (shared_address (memory) + 1023) / 1024 * 1024;
  float *vectors = (float *) (memory + (begin - shared_address (memory)) + Places::VECTORS_AT);
  StageRing ring = {begin, begin + Places::BARRIERS_AT, begin + Places::BARRIERS_AT + STAGES * 8,
                    begin + Places::ONES_AT};
  int warp = warp_number (), group = warp / 4, rank = (int) cluster_rank ();
  begin_ring<STAGES> (ring);
  if (threadIdx.x < ONES_BYTES / 4) {
    uint32_t *ones = (uint32_t *) (memory + (begin - shared_address (memory)) + Places::ONES_AT);
    ones[threadIdx.x] = std::is_same_v<T, bf16> ? 0x3f803f80 : 0x3c003c00;
    publish_writes ();
  }
  cluster_sync ();
  if (group == 0) {
    release_registers<24> ();
    if (threadIdx.x == 0)
      produce<TRANSPOSED, STAGES> (maps, job, ring, rank);
  } else {
    take_registers<240> ();
    uint32_t own = begin + STAGES * STAGE_BYTES + (warp - 4) * Places::WARP_BYTES;
    consume<T, TRANSPOSED, AFTER> (maps, job, ring, vectors + (group - 1) * VECTORS, own, warp,
                                   rank);
  }
  __syncwarp ();
  /* A threadblock must not exit while the other may still copy to it or arrive at its barriers. */
  cluster_sync ();
#endif
}

/* Returns the matrix that the epilogue reads. */
static const LigMatrix &
read_of (const LigMatmul &matmul)
{
  return matmul.activation == LIG_GELU_BACKWARD ? matmul.aux : matmul.extra;
}

static bool
describe_all (Maps *maps, const LigMatmul &p)
{
  bool right =
    p.right_transposed
      ? describe (&maps->right, p.right, p.columns, p.depth, TILE_COLUMNS / 2, TILE_DEPTH)
      : describe (&maps->right, p.right, p.depth, p.columns, TILE_DEPTH / 2, 64);
  return right && describe (&maps->left, p.left, p.rows, p.depth, TILE_ROWS, TILE_DEPTH) &&
         describe (&maps->result, p.result, p.rows, p.columns, PIECE_ROWS, PIECE_COLUMNS) &&
         (p.activation != LIG_GELU || !p.aux.data ||
          describe (&maps->aux, p.aux, p.rows, p.columns, PIECE_ROWS, PIECE_COLUMNS));
}

template <class T, bool TRANSPOSED, After AFTER>
static LigStatus
launch_kernel (LigLaunch *launch, const Maps &maps, const Job &job)
{
  if (cudaFuncSetAttribute (matmul_kernel<T, TRANSPOSED, AFTER>,
                            cudaFuncAttributeMaxDynamicSharedMemorySize,
                            Layout<AFTER>::SHARED_BYTES) != cudaSuccess)
    return LIG_FAIL (launch, LIG_UNSUPPORTED, "linear: too little shared memory");
  int blocks = launch->device->multiprocessors / 2 * 2, tiles = 2 * job.tall * job.wide;
  dim3 grid (blocks < tiles ? blocks : tiles);
  matmul_kernel<T, TRANSPOSED, AFTER>
    <<<grid, BLOCK, Layout<AFTER>::SHARED_BYTES, stream (launch)>>> (maps, job);
  return LIG_LAUNCHED (launch);
}

template <class T>
static LigStatus
launch_for (LigLaunch *launch, const LigMatmul &matmul, const Maps &maps, const Job &job)
{
  switch (matmul.activation) {
  case LIG_GELU:
    return launch_kernel<T, false, After::GELU> (launch, maps, job);
  case LIG_GELU_BACKWARD:
    return launch_kernel<T, true, After::GELU_BACKWARD> (launch, maps, job);
  default:
    break;
  }
  if (matmul.extra.data)
    return matmul.right_transposed ? launch_kernel<T, false, After::ADD> (launch, maps, job)
                                   : launch_kernel<T, true, After::ADD> (launch, maps, job);
  return matmul.right_transposed ? launch_kernel<T, false, After::SUM> (launch, maps, job)
                                 : launch_kernel<T, true, After::SUM> (launch, maps, job);
}

/* Returns whether a matrix is absent or has the layout of the result, which has less than 4 GiB, so
 * that offsets have 32 bits. */
static bool
lies_alike (const LigMatrix &matrix, const LigMatmul &matmul)
{
  return !matrix.data ||
         (matrix.stride == matmul.result.stride && matmul.rows * matrix.stride < INT32_MAX);
}

/* Returns whether a matrix is absent, or has that type and 16-byte granularity. */
static bool
suits (const LigMatrix &matrix, LigDtype dtype)
{
  return !matrix.data || (matrix.dtype == dtype && matrix.stride % 8 == 0 && matrix.stride > 0 &&
                          (uintptr_t) matrix.data % 16 == 0);
}

static Job
job_of (const LigMatmul &matmul)
{
  Job job = {};
  job.rows = (int) matmul.rows;
  job.columns = (int) matmul.columns;
  job.depth = (int) matmul.depth;
  job.tall = (int) ((matmul.rows + 2 * TILE_ROWS - 1) / (2 * TILE_ROWS));
  job.wide = (int) ((matmul.columns + TILE_COLUMNS - 1) / TILE_COLUMNS);
  job.factor = matmul.factor;
  if (matmul.sums == LIG_NO_SUMS)
    job.bias = Vector{matmul.vector.data, matmul.vector.dtype};
  job.read = (const char *) read_of (matmul).data;
  job.keeps = matmul.activation == LIG_GELU && matmul.aux.data;
  job.stride = (uint32_t) matmul.result.stride * 2;
  return job;
}

/* Returns the offsets of the partial sums of both kinds in a workspace, in floats. */
static int64_t
place_parts (const LigMatmul &matmul, const Job &job, int64_t *left)
{
  int64_t result = matmul.sums == LIG_SUMS_OF_RESULT ? 2 * job.tall * matmul.columns : 0;
  *left = result;
  return result + (matmul.left_sums.data ? 2 * job.tall * matmul.depth : 0);
}

/* Returns whether the built-in matmul can compute the requested sums. */
static bool
serves_sums (const LigMatmul &matmul, const Job &job)
{
  bool backward = matmul.activation == LIG_GELU_BACKWARD;
  int64_t left;
  return (matmul.sums == LIG_NO_SUMS ? !backward || !matmul.vector.data
                                     : matmul.sums == LIG_SUMS_OF_RESULT && backward) &&
         (!matmul.left_sums.data || matmul.depth % 8 == 0) &&
         place_parts (matmul, job, &left) <= (int64_t) (LIG_WORKSPACE_SIZE / sizeof (float));
}
} /* namespace lig */

using namespace lig;

extern "C" bool
lig_built_in_matmul_serves (const LigLaunch *launch, const LigMatmul *matmul)
{
  LigDtype dtype = matmul->left.dtype;
  if (lig_few_rows_serves (launch, matmul))
    return true;
  bool backward = matmul->activation == LIG_GELU_BACKWARD;
  bool gelu = backward || matmul->activation == LIG_GELU;
  const Job job = job_of (*matmul);
  return launch->device->capability == 90 && (dtype == LIG_BF16 || dtype == LIG_FP16) &&
         matmul->rows > 0 && matmul->columns > 0 && matmul->depth > 0 && matmul->columns % 8 == 0 &&
         matmul->result.data && !matmul->left_transposed && matmul->activation != LIG_RELU &&
         suits (matmul->left, dtype) && suits (matmul->right, dtype) &&
         suits (matmul->extra, dtype) && suits (matmul->aux, dtype) &&
         suits (matmul->result, dtype) && lies_alike (matmul->extra, *matmul) &&
         lies_alike (matmul->aux, *matmul) && lies_alike (matmul->result, *matmul) &&
         (!gelu || !matmul->extra.data) && (!gelu || matmul->right_transposed != backward) &&
         (!backward || matmul->aux.data) && serves_sums (*matmul, job) &&
         (int64_t) job.tall * job.wide <= INT32_MAX / 2 && map_function ();
}

/* Reduces the partial sums. */
static LigStatus
add_all (LigLaunch *launch, const float *partials, int parts, int64_t columns, const LigMatrix &to)
{
  LigOperand target = {to.data, columns, columns, to.dtype};
  return add_parts (launch, partials, parts, columns, columns, &target);
}

extern "C" LigStatus
lig_built_in_matmul (LigLaunch *launch, const LigMatmul *matmul)
{
  if (lig_few_rows_serves (launch, matmul))
    return lig_few_rows_matmul (launch, matmul);
  Maps maps = {};
  Job job = job_of (*matmul);
  float *workspace = (float *) launch->workspace;
  int64_t left;
  place_parts (*matmul, job, &left);
  if (matmul->sums == LIG_SUMS_OF_RESULT)
    job.sums = workspace;
  if (matmul->left_sums.data)
    job.left_sums = workspace + left;
  if (!describe_all (&maps, *matmul))
    return LIG_FAIL (launch, LIG_UNSUPPORTED, "linear: the driver rejects a tensor map");
  LigStatus status = matmul->left.dtype == LIG_BF16 ? launch_for<bf16> (launch, *matmul, maps, job)
                                                    : launch_for<half> (launch, *matmul, maps, job);
  if (status == LIG_OK && job.sums)
    status = add_all (launch, job.sums, 2 * job.tall, matmul->columns, matmul->vector);
  if (status == LIG_OK && job.left_sums)
    status = add_all (launch, job.left_sums, 2 * job.tall, matmul->depth, matmul->left_sums);
  return status;
}
