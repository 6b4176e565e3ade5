/* SPDX-License-Identifier: MIT */
/* The fused LM head and cross-entropy on the GPU against the CPU: one chunk and several on either,
 * which split the rows differently; with and without a bias, ignored rows, label smoothing, each
 * gradient absent, and gradients that are accumulated. */
#include "tests/gpu/shaped.h"
#include <ligature/params-loss.h>

typedef struct {
  LigDtype dtype, parameters; /* of dweight and dbias */
  int64_t rows, columns, classes;
  gboolean bias;
  int ignored; /* one of that many rows; 1: all; 0: none; -1: the second half */
  float smoothing;
  unsigned absent; /* a bit for each of gx, gweight and gbias */
  gboolean accumulate, misaligned;
} Shape;

static const Shape shapes[] = {
  {LIG_FP32, LIG_FP32, 70, 33, 57, TRUE, 5, 0, 0, FALSE, FALSE},
  {LIG_FP16, LIG_FP16, 128, 64, 1000, FALSE, 0, 0.1f, 0, FALSE, FALSE},
  {LIG_BF16, LIG_BF16, 300, 96, 500, TRUE, 3, 0.1f, 0, TRUE, FALSE},
  {LIG_BF16, LIG_FP32, 257, 64, 500, FALSE, 4, 0, 0, TRUE, FALSE},
  {LIG_BF16, LIG_BF16, 33, 40, 8191, TRUE, 0, 0, 0, FALSE, TRUE},
  {LIG_FP32, LIG_FP32, 1, 1, 1, TRUE, 0, 0, 0, FALSE, FALSE},
  {LIG_FP32, LIG_FP32, 40, 16, 20, TRUE, 1, 0, 0, FALSE, FALSE},
  {LIG_FP16, LIG_FP16, 90, 32, 100, TRUE, 0, 0, 1, FALSE, FALSE},
  {LIG_FP32, LIG_FP32, 90, 32, 100, TRUE, 0, 0, 6, FALSE, FALSE},
  {LIG_BF16, LIG_BF16, 90, 32, 100, FALSE, 0, 0, 2, FALSE, FALSE},
  /* More rows than threadblocks: two rows in the shared memory of an SM, one, part of one; with an
   * odd number of logits rows have different alignments. */
  {LIG_BF16, LIG_BF16, 300, 8, 50304, FALSE, 3, 0, 0, FALSE, FALSE},
  {LIG_FP16, LIG_FP16, 300, 8, 50257, TRUE, 2, 0.1f, 0, FALSE, FALSE},
  {LIG_FP32, LIG_FP32, 140, 8, 50257, TRUE, 0, 0.1f, 0, FALSE, FALSE},
  {LIG_BF16, LIG_FP32, 140, 8, 128256, FALSE, 5, 0, 0, TRUE, FALSE},
  {LIG_FP32, LIG_FP32, 140, 8, 70001, TRUE, 4, 0, 0, FALSE, FALSE},
  {LIG_BF16, LIG_BF16, 9000, 8, 1003, TRUE, 7, 0, 0, FALSE, FALSE},
  /* More rows than fit into a chunk; the last chunks have no row that counts. */
  {LIG_FP32, LIG_FP32, 66000, 8, 64, TRUE, 7, 0, 0, FALSE, FALSE},
  {LIG_BF16, LIG_BF16, 140000, 8, 40, TRUE, -1, 0, 0, FALSE, FALSE},
};

/* Returns random numbers between -size and size in a type. */
static void *
numbers (LigDtype dtype, int64_t count, float size)
{
  g_autofree float *values = g_new (float, count);
  void *narrowed = g_new (float, count);
  for (int64_t i = 0; i < count; i++)
    values[i] = size * next_number ();
  lig_narrow (dtype, values, narrowed, (size_t) count);
  return narrowed;
}

static int32_t *
some_targets (const Shape *s)
{
  int32_t *targets = g_new (int32_t, s->rows);
  for (int64_t i = 0; i < s->rows; i++) {
    gboolean ignored = s->ignored < 0 ? i >= s->rows / 2 : s->ignored > 0 && i % s->ignored == 0;
    targets[i] = ignored ? -100 : (int32_t) ((i * 7919 + i / 3) % MAX (s->classes - 1, 1));
  }
  return targets;
}

/* Returns a part that is absent if the bit is set. */
static Part
unless (gboolean absent, Part part)
{
  part.rows = absent ? 0 : part.rows;
  return part;
}

static void
test_shape (gconstpointer data)
{
  const Shape *s = data;
  const Gpu *gpu = gpu_or_skip ();
  if (!gpu)
    return;
  /* In every other shape the last logit is padding, unless it is a target. */
  LigCrossEntropyParams params = {.ignored = -100, .label_smoothing = s->smoothing};
  if (s->rows % 2 == 0 && s->classes > 2)
    params.classes = s->classes - 1;
  g_autofree int32_t *targets = some_targets (s);
  /* Logits of the order of 1: rounding large ones to 16 bits would change their exponentials. */
  g_autofree void *weights =
    numbers (s->dtype, s->classes * s->columns, 1.5f / sqrtf ((float) s->columns));
  g_autofree void *biases = numbers (s->dtype, s->classes, 0.5f);
  float dy = 0.75f * (float) s->rows; /* so that gradients are of the order of 1 */
  gboolean no_gx = s->absent & 1, no_gweight = (s->absent >> 1) & 1;
  gboolean no_gbias = !s->bias || ((s->absent >> 2) & 1);
  Part number = {LIG_FP32, 1, 1, NULL}, given = {LIG_FP32, 1, 1, &dy};
  Part x = {s->dtype, s->rows, s->columns, NULL};
  Part weight = {s->dtype, s->classes, s->columns, weights};
  Part bias = {s->dtype, s->bias, s->classes, biases}, rows = {LIG_INT32, 1, s->rows, targets};
  Part gx = unless (no_gx, x);
  Part gweight = unless (no_gweight, (Part){LIG_FP32, s->classes, s->columns, NULL});
  Part gbias = unless (no_gbias, (Part){LIG_FP32, 1, s->classes, NULL});
  Problem forward = {"linear_cross_entropy",
                     &params,
                     {x, weight, bias, rows, number, number, gx, gweight, gbias},
                     FALSE,
                     s->misaligned,
                     "the loss"};
  run_problem (gpu, &forward);
  const Part *f = forward.parts;
  Part dx = unless (no_gx, x);
  Part dweight = unless (no_gweight, (Part){s->parameters, s->classes, s->columns, NULL});
  Part dbias = unless (no_gbias, (Part){s->parameters, 1, s->classes, NULL});
  Problem backward = {"linear_cross_entropy_backward",
                      NULL,
                      {given, f[5], f[6], f[7], f[8], dx, dweight, dbias},
                      s->accumulate,
                      s->misaligned,
                      "its gradients"};
  run_problem (gpu, &backward);
  keep (NULL);
}

int
main (int argc, char **argv)
{
  gpu_test_init (argc, argv);
  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++) {
    const Shape *s = &shapes[i];
    g_autofree char *path =
      g_strdup_printf ("/gpu/joint-loss/%02u-%s-%ldx%ld-of-%ld", i, lig_dtype_name (s->dtype),
                       (long) s->rows, (long) s->columns, (long) s->classes);
    g_test_add_data_func (path, s, test_shape);
  }
  return g_test_run ();
}
