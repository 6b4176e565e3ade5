/* SPDX-License-Identifier: MIT */
/* tokens: validation files are not trained on, even if the folder or the pattern of the training
 * data contains them. */
#include "tests/data/case.h"

#include <unistd.h>

static void
write_tokens (const char *name, guint16 first)
{
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  gint32 header[256] = {20240520, 1, 33};
  g_byte_array_append (bytes, (const guint8 *) header, sizeof header);
  for (guint16 token = first; token < first + 33; token++)
    g_byte_array_append (bytes, (const guint8 *) &token, sizeof token);
  write_file (name, bytes->data, bytes->len);
}

static void
make_files (void)
{
  g_autofree char *path = in_folder ("mixed");
  g_assert_cmpint (g_mkdir_with_parents (path, 0700), ==, 0);
  write_tokens ("mixed/train_1.bin", 100);
  write_tokens ("mixed/train_2.bin", 200);
  write_tokens ("mixed/val.bin", 300);
}

/* Checks the number of windows of 8 tokens, four of each file, in both splits. */
static void
expect (const char *path, const char *apart, int training, int validation, const char *text)
{
  g_autofree char *spec = g_strdup_printf ("%s?validation-files=%s/%s", path, folder, apart);
  g_autoptr (LigDataset) data = open_data ("tokens", spec, 1, 8);
  g_assert_cmpint (lig_dataset_get_samples (data), ==, training);
  g_assert_cmpint (lig_dataset_get_validation_batches (data), ==, validation);
  g_assert_cmpstr (lig_dataset_describe (data), ==, text);
}

static void
test_apart (void)
{
  make_files ();
  expect ("mixed", "mixed/val.bin", 8, 4, "tokens: 3 files, 99 tokens, 66 for training");
  expect ("mixed/*.bin", "mixed/val*", 8, 4, "tokens: 3 files, 99 tokens, 66 for training");
  expect ("mixed/train_*.bin", "mixed/train_2.bin", 4, 4,
          "tokens: 2 files, 66 tokens, 33 for training");
}

/* The same file by another name. */
static void
test_link (void)
{
  make_files ();
  g_autofree char *link = in_folder ("held.bin");
  g_assert_cmpint (symlink ("mixed/val.bin", link), ==, 0);
  expect ("mixed", "held.bin", 8, 4, "tokens: 3 files, 99 tokens, 66 for training");
}

static void
test_all (void)
{
  make_files ();
  g_autofree char *spec = g_strdup_printf ("mixed?validation-files=%s/mixed/*.bin", folder);
  assert_rejected ("tokens", spec, 8, LIG_ERROR_VALUE,
                   "all files are validation files, none is left for training");
}

int
main (int argc, char **argv)
{
  start_tests (&argc, &argv);
  g_test_add_func ("/tokens-validation/apart", test_apart);
  g_test_add_func ("/tokens-validation/link", test_link);
  g_test_add_func ("/tokens-validation/all", test_all);
  return finish_tests ();
}
