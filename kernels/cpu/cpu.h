/* SPDX-License-Identifier: MIT */
/* Shared code of the CPU kernels: their names per instruction level, access to elements as fp32,
 * and the partition of rows among threads.
 *
 * Each file of kernels/cpu except level.c and threads.c is compiled once per instruction level
 * (LIG_CPU_LEVEL is baseline, v3 or v4), so a kernel is written once, in plain loops that the
 * compiler vectorizes. */
#pragma once

#include "kernels/fail.h"

#include <string.h>

#define LIG_CPU_PASTE_(name, level) lig_cpu_##name##_##level
#define LIG_CPU_PASTE(name, level) LIG_CPU_PASTE_ (name, level)
/* The function name of kernel `name` at this level: lig_cpu_gelu_v3. */
#define LIG_CPU(name) LIG_CPU_PASTE (name, LIG_CPU_LEVEL)

#define LIG_EACH(name, signature, work) LigStatus LIG_CPU (name) (LigLaunch * launch);
#include "kernels/kernel-list.h"
#undef LIG_EACH

/* The number of floats in a piece. Kernels process rows in pieces that fit into the L1 cache. */
#define LIG_PIECE 1024

/* The number of elements from which loops run in parallel: with fewer, waking the other threads
 * costs more than it saves. */
#define LIG_PARALLEL_FROM 16384

/* Returns whether a kernel has the operand and the launch binds it. */
static inline bool
lig_is_present (const LigOperand *operand)
{
  return operand && operand->data;
}

/* Returns the number of elements in the piece that begins at `at`, of `length` elements in all. */
static inline int64_t
lig_piece (int64_t length, int64_t at)
{
  return length - at < LIG_PIECE ? length - at : LIG_PIECE;
}

/* Returns the number of rows of an operand. */
static inline int64_t
lig_rows (const LigOperand *operand)
{
  return operand->size / operand->columns;
}

/* Returns the address of an element. */
static inline void *
lig_at (const LigOperand *operand, int64_t element)
{
  return (char *) operand->data + (size_t) element * lig_dtype_size (operand->dtype);
}

/* Returns `count` elements from `element` on as floats: the operand's own memory if it is fp32,
 * else widened copies in `buffer`. */
static inline const float *
lig_load (const LigOperand *operand, int64_t element, int64_t count, float *buffer)
{
  if (operand->dtype == LIG_FP32)
    return (const float *) operand->data + element;
  lig_widen (operand->dtype, lig_at (operand, element), buffer, (size_t) count);
  return buffer;
}

/* Returns memory for `count` floats that lig_commit will store: the operand's own if it is fp32,
 * else `buffer`. */
static inline float *
lig_stage (const LigOperand *operand, int64_t element, float *buffer)
{
  return operand->dtype == LIG_FP32 ? (float *) operand->data + element : buffer;
}

/* Rounds the staged floats to the operand's type and stores them. */
static inline void
lig_commit (const LigOperand *operand, int64_t element, int64_t count, const float *staged)
{
  if (operand->dtype != LIG_FP32)
    lig_narrow (operand->dtype, staged, lig_at (operand, element), (size_t) count);
}

/* Stores the staged floats, and replaces them by their rounded values, as a later reader of the
 * operand would see them. Values of an absent operand are rounded to the type of `like`, the
 * kernel's main input. */
static inline void
lig_commit_rounded (
  const LigOperand *operand, const LigOperand *like, int64_t element, int64_t count, float *staged)
{
  uint16_t unseen[LIG_PIECE];
  LigDtype dtype = operand->data ? operand->dtype : like->dtype;
  void *rounded = operand->data ? lig_at (operand, element) : unseen;
  if (dtype == LIG_FP32)
    return;
  lig_narrow (dtype, staged, rounded, (size_t) count);
  lig_widen (dtype, rounded, staged, (size_t) count);
}

/* A partition of rows into blocks for a sum over rows. It depends only on the operands, so that the
 * sum is the same for any number of threads. Each block has `width` floats of partial sums in the
 * workspace; lig_cpu_reduce_partials_LEVEL () adds them in order. */
typedef struct {
  int64_t blocks, rows_per_block;
} LigPartition;

/* Partitions rows into at most 64 blocks of at least 16 rows, whose partial sums fit into the
 * workspace. */
static inline LigPartition
lig_partition (int64_t rows, int64_t width)
{
  if (rows <= 0)
    return (LigPartition){0, 0};
  int64_t max = (int64_t) (LIG_WORKSPACE_SIZE / sizeof (float)) / (width > 0 ? width : 1);
  int64_t blocks = (rows + 15) / 16;
  if (blocks > 64)
    blocks = 64;
  if (blocks > max)
    blocks = max > 0 ? max : 1;
  int64_t per_block = (rows + blocks - 1) / blocks;
  return (LigPartition){(rows + per_block - 1) / per_block, per_block};
}

/* Sums the partial sums of a partition: target[i] (+)= sum over blocks of partials[block * stride +
 * i], for i < width, rounded once to the operand's type. With `accumulate` the old value is
 * included in fp32. Runs in parallel. */
void LIG_CPU (reduce_partials) (const float *partials,
                                int64_t blocks,
                                int64_t stride,
                                int64_t width,
                                const LigOperand *target,
                                bool accumulate);
