/* SPDX-License-Identifier: MIT */
/* What the CPU kernels share: their names per instruction level, rows in fp32, fixed partitions.
 *
 * Each file of kernels/cpu but level.c is compiled once per instruction level (LIG_CPU_LEVEL is
 * baseline, v3 or v4), so a kernel is written once, in plain loops that the compiler vectorizes. */
#pragma once

#include "kernels/fail.h"
#include <ligature/params.h>

#include <string.h>

#define LIG_CPU_PASTE_(name, level) lig_cpu_##name##_##level
#define LIG_CPU_PASTE(name, level) LIG_CPU_PASTE_ (name, level)
/* The function of kernel `name` at this level: lig_cpu_gelu_v3. */
#define LIG_CPU(name) LIG_CPU_PASTE (name, LIG_CPU_LEVEL)

#define LIG_EACH(name, signature, work) LigStatus LIG_CPU (name) (LigLaunch * launch);
#include "kernels/kernel-list.h"
#undef LIG_EACH

/* Rows are worked on in pieces of this many floats that stay in the first-level cache. */
#define LIG_PIECE 1024

/* With fewer elements than this, waking the other threads costs more than they save. */
#define LIG_PARALLEL_FROM 16384

/* Whether a kernel has the operand and the launch binds it. */
static inline bool
lig_is_present (const LigOperand *operand)
{
  return operand && operand->data;
}

/* Elements of the piece that begins at `at`, of `length` elements. */
static inline int64_t
lig_piece (int64_t length, int64_t at)
{
  return length - at < LIG_PIECE ? length - at : LIG_PIECE;
}

static inline int64_t
lig_rows (const LigOperand *operand)
{
  return operand->size / operand->columns;
}

static inline void *
lig_at (const LigOperand *operand, int64_t element)
{
  return (char *) operand->data + (size_t) element * lig_dtype_size (operand->dtype);
}

/* `count` elements from `element` on as floats: the operand's own memory if it is fp32, else
 * widened into `buffer`. */
static inline const float *
lig_load (const LigOperand *operand, int64_t element, int64_t count, float *buffer)
{
  if (operand->dtype == LIG_FP32)
    return (const float *) operand->data + element;
  lig_widen (operand->dtype, lig_at (operand, element), buffer, (size_t) count);
  return buffer;
}

/* Where to write `count` floats that lig_commit will store: the operand itself if it is fp32. */
static inline float *
lig_stage (const LigOperand *operand, int64_t element, float *buffer)
{
  return operand->dtype == LIG_FP32 ? (float *) operand->data + element : buffer;
}

/* Rounds what was staged into the operand's type. */
static inline void
lig_commit (const LigOperand *operand, int64_t element, int64_t count, const float *staged)
{
  if (operand->dtype != LIG_FP32)
    lig_narrow (operand->dtype, staged, lig_at (operand, element), (size_t) count);
}

/* Commits what was staged, and leaves in `staged` what a later reader of the operand would find.
 * Values of an absent operand are rounded to the type of `like`, the kernel's main input. */
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

/* Reductions over rows run in a number of blocks that depends on the operands alone, so that the
 * sum is the same for any number of threads. Each block has `width` floats of partial sums in the
 * workspace; the second stage adds them in order. */
typedef struct {
  int64_t blocks, rows_per_block;
} LigPartition;

static inline LigPartition
lig_partition (int64_t rows, int64_t width)
{
  if (rows <= 0)
    return (LigPartition){0, 0};
  int64_t most = (int64_t) (LIG_WORKSPACE_SIZE / sizeof (float)) / (width > 0 ? width : 1);
  int64_t blocks = (rows + 15) / 16;
  if (blocks > 64)
    blocks = 64;
  if (blocks > most)
    blocks = most > 0 ? most : 1;
  int64_t per_block = (rows + blocks - 1) / blocks;
  return (LigPartition){(rows + per_block - 1) / per_block, per_block};
}

/* Second stage: target[i] (+)= sum over blocks of partials[block * stride + i], rounded once to the
 * operand's type. With `accumulate` the old value takes part in fp32. Runs in parallel itself. */
void LIG_CPU (reduce_partials) (const float *partials,
                                int64_t blocks,
                                int64_t stride,
                                int64_t width,
                                const LigOperand *target,
                                bool accumulate);
