/* SPDX-License-Identifier: MIT */
/* The quantizing kernels of the CUDA module reject devices without 8-bit formats, for which they
 * are compiled empty. No GPU is needed: the launches do not reach one. */
#include "kernels/cuda/common/cuda.h"

#include <dlfcn.h>
#include <glib.h>
#include <string.h>

/* The kernels of the module, in order. */
static const char *const names[] = {
#define LIG_EACH(name, signature, work) #name,
#include "kernels/kernel-list.h"
#undef LIG_EACH
};

/* Loads the module and returns its table; NULL, after the test was skipped, if a library that it
 * needs is missing. */
static const LigBackend *
load (void)
{
  void *module = dlopen (LIG_CUDA_MODULE, RTLD_NOW | RTLD_LOCAL);
  if (!module) {
    g_test_skip (dlerror ());
    return NULL;
  }
  const LigBackend *(*table) (void) = NULL;
  *(void **) &table = dlsym (module, "lig_backend");
  g_assert_nonnull (table);
  g_assert_cmpint (table ()->n_functions, ==, G_N_ELEMENTS (names));
  return table ();
}

static void
test_older (void)
{
  static const char *const quantizing[] = {
    "quantize",       "activation_quantize",   "activation_backward_quantize",
    "gated_quantize", "norm_quantize",         "gated_backward_quantize",
    "update_scales",  "norm_backward_quantize"};
  const LigBackend *backend = load ();
  LigBackendDevice device = {.capability = 86};
  size_t found = 0;
  for (size_t i = 0; backend && i < G_N_ELEMENTS (names); i++)
    for (size_t j = 0; j < G_N_ELEMENTS (quantizing); j++)
      if (strcmp (names[i], quantizing[j]) == 0) {
        LigLaunch launch = {.device = &device};
        g_test_message ("%s", names[i]);
        g_assert_cmpint (backend->functions[i](&launch), ==, LIG_UNSUPPORTED);
        g_assert_nonnull (strstr (launch.where, "compute capability 8.9"));
        found++;
      }
  if (backend)
    g_assert_cmpuint (found, ==, G_N_ELEMENTS (quantizing));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/kernels/cuda-older", test_older);
  return g_test_run ();
}
