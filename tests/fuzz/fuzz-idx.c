/* SPDX-License-Identifier: MIT */
/* Opens arbitrary bytes as MNIST's images and labels. The first byte is the number of label bytes.
 */
#include "tests/fuzz/fuzz.h"
#include <ligature/dataset.h>

static const char seed[] = "\012"
                           "\0\0\x8\1\0\0\0\2\3\4"
                           "\0\0\x8\3\0\0\0\2\0\0\0\2\0\0\0\1abcd";

size_t
LLVMFuzzerCustomMutator (uint8_t *data, size_t size, size_t limit, unsigned int random)
{
  return fuzz_mutate (data, size, limit, random, seed, sizeof seed - 1);
}

static void
read_batches (LigDataset *data)
{
  g_autoptr (GError) error = NULL;
  LigTarget target = {.dtype = LIG_INT32, .classes = 10};
  LigShape shape;
  LigDtype dtype;
  lig_shape_init (&target.shape, 1, (gint64) 3);
  if (!lig_dataset_bind (data, &target, &error)) {
    fuzz_check_error (error);
    return;
  }
  lig_dataset_get_input (data, &shape, &dtype);
  g_autoptr (LigTensor) input = lig_tensor_new (dtype, &shape, &error);
  g_autoptr (LigTensor) targets = lig_tensor_new (LIG_INT32, &target.shape, &error);
  g_assert_true (lig_dataset_next (data, input, targets, &error));
  for (gint64 i = 0; i < lig_dataset_get_validation_batches (data); i++)
    g_assert_true (lig_dataset_validation (data, i, input, targets, NULL, &error));
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  char images[32], labels[32];
  if (size == 0)
    return 0;
  gsize split = MIN (*data, size - 1);
  int labels_fd = fuzz_file (data + 1, split, labels);
  int images_fd = fuzz_file (data + 1 + split, size - 1 - split, images);
  g_autoptr (GError) error = NULL;
  g_autofree char *spec = g_strdup_printf ("idx:%s?labels=%s&validation=0.4", images, labels);
  g_autoptr (LigDataset) dataset = lig_dataset_open (spec, NULL, LIG_FP32, 3, 1, &error);
  if (dataset)
    read_batches (dataset);
  else
    fuzz_check_error (error);
  close (labels_fd);
  close (images_fd);
  return 0;
}
