/* SPDX-License-Identifier: MIT */
/* Gradients and updates on the GPU: sums in fp32, skipped updates, the loss scale inside captured
 * graphs, and weight decay. */
#include "tests/gpu/case.h"
#include "tests/plan/update-case.h"

static void
test_each (gconstpointer data)
{
  void (*check) (LigDevice *) = *(void (*const *) (LigDevice *)) data;
  const Gpu *gpu = gpu_or_skip ();
  if (gpu)
    check (gpu->device);
}

static const struct {
  const char *path;
  void (*check) (LigDevice *);
} tests[] = {
  {"/gpu/update/sums", check_sums},
  {"/gpu/update/ones", check_ones},
  {"/gpu/update/skipped", check_skipped_updates},
  {"/gpu/update/overflow", check_overflow},
  {"/gpu/update/small", check_small_gradients},
  {"/gpu/update/unscaled", check_unscaled},
  {"/gpu/update/decay", check_decay},
};

int
main (int argc, char **argv)
{
  gpu_test_init (argc, argv);
  for (guint i = 0; i < G_N_ELEMENTS (tests); i++)
    g_test_add_data_func (tests[i].path, &tests[i].check, test_each);
  return g_test_run ();
}
