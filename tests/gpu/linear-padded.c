/* SPDX-License-Identifier: MIT */
/* Matmuls of matrices whose rows are not 16-byte aligned, which GPUs compute through copies: with
 * one block and with several, with biases, and with gradients that are accumulated. */
#define SHAPED_ARENA ((size_t) 400 << 20)
#include "tests/gpu/shaped.h"

typedef struct {
  LigDtype dtype, parameters; /* of dweight and dbias */
  int64_t rows, columns, depth;
  gboolean accumulate, misaligned;
} Shape;

static const Shape shapes[] = {
  {LIG_BF16, LIG_BF16, 5000, 1003, 2056, FALSE, FALSE},
  {LIG_FP16, LIG_FP32, 4100, 2049, 1232, TRUE, FALSE},
  {LIG_BF16, LIG_FP32, 5000, 1004, 2056, FALSE, TRUE},
  /* Blocks of 133120 rows, and of 960 columns. */
  {LIG_BF16, LIG_FP32, 139801, 1003, 96, FALSE, FALSE},
};

static void
run (const Gpu *gpu, const Shape *s, const char *kernel, Part a, Part b, Part c, Part d)
{
  Problem problem = {kernel, NULL, {a, b, c, d}, s->accumulate, s->misaligned, "matmuls"};
  LigOperand operands[] = {{NULL, a.rows * a.columns, a.columns, a.dtype},
                           {NULL, b.rows * b.columns, b.columns, b.dtype}};
  LigLaunch launch = {.operands = operands};
  const LigKernel *found = lig_kernel_find (kernel);
  g_assert_cmpint (lig_kernel_scratch (found, &launch, LIG_BACKEND_CUDA), >, 0);
  g_assert_cmpint (lig_kernel_scratch (found, &launch, LIG_BACKEND_CPU), ==, 0);
  run_problem (gpu, &problem);
  keep (NULL);
}

static void
test_shape (gconstpointer data)
{
  const Shape *s = data;
  const Gpu *gpu = gpu_or_skip ();
  if (!gpu)
    return;
  Part x = {s->dtype, s->rows, s->depth, NULL}, weight = {s->dtype, s->columns, s->depth, NULL};
  Part y = {s->dtype, s->rows, s->columns, NULL}, bias = {s->dtype, 1, s->columns, NULL};
  Part dweight = {s->parameters, s->columns, s->depth, NULL};
  Part dbias = {s->parameters, 1, s->columns, NULL}, none = {0};
  if (!s->accumulate) {
    run (gpu, s, "linear", x, weight, y, none);
    run (gpu, s, "linear_bias", x, weight, bias, y);
    run (gpu, s, "linear_backward_input", y, weight, x, none);
  }
  run (gpu, s, "linear_backward_weight", y, x, dweight, none);
  run (gpu, s, "linear_backward_weight_bias", y, x, dweight, dbias);
}

int
main (int argc, char **argv)
{
  gpu_test_init (argc, argv);
  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++) {
    const Shape *s = &shapes[i];
    g_autofree char *path =
      g_strdup_printf ("/gpu/linear-padded/%s-%ldx%ldx%ld", lig_dtype_name (s->dtype),
                       (long) s->rows, (long) s->columns, (long) s->depth);
    g_test_add_data_func (path, s, test_shape);
  }
  return g_test_run ();
}
