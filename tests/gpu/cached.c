/* SPDX-License-Identifier: MIT */
/* Tests plans with a cache on a GPU, in fp32 and in bf16, where tensor cores compute attention. */
#include "tests/inference/cached-texts.h"

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_autoptr (GError) error = NULL;
  device_name = "cuda:0";
  g_autoptr (LigDevice) device = lig_device_open (device_name, &error);
  if (!device) {
    g_print ("1..0 # SKIP %s\n", error->message);
    return 0;
  }
  add_cached_texts ("/cached/fp32", LIG_FP32, 1e-4);
  add_cached_texts ("/cached/bf16", LIG_BF16, 5e-2);
  return g_test_run ();
}
