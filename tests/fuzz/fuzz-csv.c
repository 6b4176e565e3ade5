/* SPDX-License-Identifier: MIT */
/* Opens arbitrary bytes as a csv file with several options. A file that opens without an error can
 * be bound and read. */
#include "tests/fuzz/fuzz.h"
#include <ligature/dataset.h>

#include <math.h>

static const char seed[] = "0a,b,\"c, \"\"d\"\n1,2.5,0\n-3e2;\t4,\"1\"\n5,6,x\n";
static const char *const options[] = {
  "",
  "?standardize=true&validation=0.5",
  "?target=1,2",
  "?task=class",
  "?task=value",
  "?header=true",
};

size_t
LLVMFuzzerCustomMutator (uint8_t *data, size_t size, size_t limit, unsigned int random)
{
  return fuzz_mutate (data, size, limit, random, seed, sizeof seed - 1);
}

static void
read_batches (LigDataset *data, const LigTarget *target)
{
  g_autoptr (GError) error = NULL;
  LigShape shape;
  LigDtype dtype;
  lig_dataset_get_input (data, &shape, &dtype);
  g_autoptr (LigTensor) input = lig_tensor_new (dtype, &shape, &error);
  g_autoptr (LigTensor) targets = lig_tensor_new (target->dtype, &target->shape, &error);
  if (!lig_dataset_bind (data, target, &error)) {
    fuzz_check_error (error);
    return;
  }
  g_assert_true (lig_dataset_next (data, input, targets, &error));
  for (gint64 i = 0; i < input->size; i++)
    g_assert_true (isfinite (lig_tensor_get (input, i)));
  for (gint64 i = 0; i < targets->size; i++)
    g_assert_true (isfinite (lig_tensor_get (targets, i)));
  for (gint64 i = 0; i < MIN (lig_dataset_get_validation_batches (data), 3); i++)
    g_assert_true (lig_dataset_validation (data, i, input, targets, NULL, &error));
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  char path[32];
  if (size == 0)
    return 0;
  int fd = fuzz_file (data + 1, size - 1, path);
  g_autoptr (GError) error = NULL;
  g_autofree char *spec = g_strconcat ("csv:", path, options[*data % G_N_ELEMENTS (options)], NULL);
  g_autoptr (LigDataset) dataset = lig_dataset_open (spec, NULL, LIG_FP32, 3, 1, &error);
  LigTarget classes = {.dtype = LIG_INT32, .classes = 10}, values = {.dtype = LIG_FP32};
  lig_shape_init (&classes.shape, 1, (gint64) 3);
  lig_shape_init (&values.shape, 2, (gint64) 3, (gint64) (*data % 6 == 2 ? 2 : 1));
  if (dataset) {
    read_batches (dataset, &classes);
    read_batches (dataset, &values);
  } else {
    fuzz_check_error (error);
  }
  close (fd);
  return 0;
}
