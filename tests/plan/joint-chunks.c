/* SPDX-License-Identifier: MIT */
/* The scratch memory of the fused LM head and loss on a GPU: the logits of one chunk; chunks have
 * the same height, half of all logits within limits. */

#include <ligature/dtype.h>
#include <ligature/kernels.h>
#include <ligature/launch.h>

#include <glib.h>

static const struct {
  gint64 rows, columns, classes;
  LigDtype dtype;
  gint64 height, chunks;
} cases[] = {
  {65536, 768, 50304, LIG_BF16, 32768, 2},
  {65537, 768, 50304, LIG_BF16, 32896, 2},
  {65536, 768, 50257, LIG_BF16, 32768, 2}, /* rows begin at multiples of 128 bytes */
  {4096, 768, 50304, LIG_BF16, 4096, 1},   /* below the least */
  {8192, 768, 50304, LIG_BF16, 4096, 2},   /* half would be less than the least */
  {65536, 8, 400000, LIG_BF16, 4096, 16},  /* above the most */
  {65536, 768, 50304, LIG_FP32, 16384, 4},
  {140000, 8, 40, LIG_BF16, 35072, 4}, /* the most rows */
  {200, 8, 1 << 28, LIG_FP32, 128, 2}, /* the fewest rows */
  {1, 1, 1, LIG_FP32, 1, 1},
};

static gint64
rounded (gint64 floats)
{
  return (floats + 63) / 64 * 64;
}

static void
test_scratch (void)
{
  const LigKernel *kernel = lig_kernel_find ("linear_cross_entropy");
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    gint64 rows = cases[i].rows, columns = cases[i].columns, classes = cases[i].classes;
    LigOperand operands[LIG_MAX_OPERANDS] = {
      {NULL, rows * columns, columns, cases[i].dtype},
      {NULL, classes * columns, columns, cases[i].dtype},
    };
    LigLaunch launch = {.operands = operands};
    gint64 row = classes * (gint64) lig_dtype_size (cases[i].dtype);
    gint64 logits = cases[i].height * (row % 16 == 0 ? row : (row + 127) / 128 * 128);
    gint64 floats = 64 + rounded (2 * cases[i].chunks) + rounded (2 * cases[i].height);
    g_test_message ("%u", i);
    g_assert_cmpint (lig_kernel_scratch (kernel, &launch, LIG_BACKEND_CUDA), ==,
                     4 * floats + logits);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/joint-chunks/scratch", test_scratch);
  return g_test_run ();
}
