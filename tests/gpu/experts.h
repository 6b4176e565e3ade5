/* SPDX-License-Identifier: MIT */
/* Shared code of the tests of the kernels of a mixture of experts: operands with known values, runs
 * only on the GPU, and exact comparisons. */
#pragma once

#include "tests/gpu/shaped.h"

/* Returns numbers between -1 and 1 that depend only on the seed; keep (NULL) frees them. */
static inline float *
some_numbers (int64_t count, unsigned seed)
{
  float *values = g_new (float, MAX (count, 1));
  for (int64_t i = 0; i < count; i++) {
    uint32_t words[4];
    lig_random_words (seed, (uint64_t) i, 0, 0, words);
    values[i] = (float) ((double) words[0] / 0x1p31 - 1);
  }
  keep (values);
  return values;
}

/* Returns an operand with these values, converted to its type. */
static inline Part
narrowed (LigDtype dtype, int64_t rows, int64_t columns, const float *values)
{
  void *data = g_malloc0 ((gsize) (rows * columns) * lig_dtype_size (dtype) + 1);
  lig_narrow (dtype, values, data, (size_t) (rows * columns));
  keep (data);
  return (Part){dtype, rows, columns, data};
}

/* Returns a text that names a case. */
static inline char *
what_of (const char *name, int64_t a, int64_t b)
{
  char *what = g_strdup_printf ("%s, %ld, %ld", name, (long) a, (long) b);
  keep (what);
  return what;
}

/* Returns where an operand is in the images of the arena. */
static inline size_t
place_of (const Problem *p, int index)
{
  size_t at = 0;
  for (int i = 0;; i++) {
    size_t bytes = (size_t) (p->parts[i].rows * p->parts[i].columns);
    if (bytes == 0 && i < index)
      continue;
    at += p->misaligned ? lig_dtype_size (p->parts[i].dtype) : 0;
    if (i == index)
      return at;
    at = (at + bytes * lig_dtype_size (p->parts[i].dtype) + 511) / 256 * 256;
  }
}

/* Runs a problem only on the GPU, and copies the arena to `image`. */
static inline void
run_on_gpu (const Gpu *gpu, const Problem *p, char *image)
{
  Arena *a = arena_of (gpu);
  int inputs, count = lig_signature_count (lig_kernel_find (p->kernel)->signature, &inputs);
  LigOperand operands[LIG_MAX_OPERANDS] = {0};
  size_t bytes = 0;
  memset (a->before, 0xff, 1 << 20);
  for (int i = 0; i < count; i++) {
    size_t begin = bytes;
    operands[i] = place_part (p, &p->parts[i], a->before, &bytes, i < inputs);
    if (i >= inputs && operands[i].data)
      memset (a->before + begin, 0xff, bytes - begin);
  }
  launch_on_device (gpu, p, 0, operands, count, bytes, image);
}

/* Runs a problem on both, of which these outputs must have the same bits. */
static inline void
run_exact (const Gpu *gpu, Problem *p, unsigned exact)
{
  run_problem (gpu, p);
  for (int i = 0; i < LIG_MAX_OPERANDS; i++) {
    size_t size = (size_t) (p->parts[i].rows * p->parts[i].columns);
    if ((exact >> i & 1) && size > 0 &&
        memcmp (arena_of (gpu)->gpu + place_of (p, i), p->parts[i].values,
                size * lig_dtype_size (p->parts[i].dtype)) != 0)
      g_test_fail_printf ("%s: %s: operand %d has other bits than on the CPU", p->kernel, p->what,
                          i);
  }
}
