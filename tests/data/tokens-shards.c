/* SPDX-License-Identifier: MIT */
/* tokens: shards by folder and pattern, both widths, files without a header, and files that are too
 * large to be read when they are opened. */
#include "engine/data/training.h"
#include "tests/data/case.h"

#include <inttypes.h>
#include <unistd.h>

/* Writes `count` tokens from `first` on, each one larger than the one before. `magic` is 0 for a
 * file without a header. */
static void
write_tokens (const char *name, gint32 magic, gsize width, guint32 first, int count)
{
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  gint32 header[256] = {magic, magic == 20240520 ? 1 : 7, count};
  if (magic)
    g_byte_array_append (bytes, (const guint8 *) header, sizeof header);
  for (int i = 0; i < count; i++) {
    guint32 token = first + (guint32) i;
    g_byte_array_append (bytes, (const guint8 *) &token, (guint) width);
  }
  write_file (name, bytes->data, bytes->len);
}

static void
make_folder (const char *name)
{
  g_autofree char *path = in_folder (name);
  g_assert_cmpint (g_mkdir_with_parents (path, 0700), ==, 0);
}

/* Adds the first input of each window of an epoch to a table, and checks that windows are
 * consecutive. */
static GHashTable *
collect (LigDataset *data, gint64 length, gint64 classes)
{
  LigTarget target = make_target (LIG_INT32, 1, length, classes);
  GHashTable *seen = g_hash_table_new (NULL, NULL);
  bind (data, target);
  g_autoptr (LigTensor) input = make_input (data), targets = make_targets (target);
  for (gint64 i = 0; i < lig_dataset_get_samples (data); i++) {
    next (data, input, targets);
    g_assert_true (g_hash_table_add (seen, GINT_TO_POINTER (integer (input, 0))));
    for (gint64 j = 0; j < length; j++) {
      g_assert_cmpint (integer (input, j), ==, integer (input, 0) + j);
      g_assert_cmpint (integer (targets, j), ==, integer (input, 0) + j + 1);
    }
  }
  return seen;
}

/* Three shards of 100, 7 and 50 tokens: no window crosses two of them. */
static void
test_folder (void)
{
  make_folder ("shards");
  make_folder ("shards/more");
  write_tokens ("shards/b_1.bin", 20240520, 2, 1000, 100);
  write_tokens ("shards/b_2.bin", 20240520, 2, 2000, 7);
  write_tokens ("shards/more/c.bin", 20240520, 2, 3000, 50);
  write_text ("shards/a.txt", "no tokens");
  g_autoptr (LigDataset) data = open_data ("tokens", "shards?validation=0", 1, 8);
  g_assert_cmpstr (lig_dataset_describe (data), ==,
                   "tokens: 3 files, 157 tokens, 157 for training");
  g_assert_cmpint (lig_dataset_get_largest_token (data), ==, 3049);
  g_autoptr (GHashTable) seen = collect (data, 8, 5000);
  g_assert_cmpuint (g_hash_table_size (seen), ==, 12 + 0 + 6);
  g_assert_true (g_hash_table_contains (seen, GINT_TO_POINTER (1088)));
  g_assert_false (g_hash_table_contains (seen, GINT_TO_POINTER (2000)));
  g_assert_true (g_hash_table_contains (seen, GINT_TO_POINTER (3040)));
  /* The last tenth is for validation: 16 of 157 tokens, all of the last file. */
  g_autoptr (LigDataset) cut = open_data ("tokens", "shards", 1, 8);
  g_autoptr (LigTensor) input = make_input (cut);
  g_assert_cmpint (lig_dataset_get_validation_batches (cut), ==, 1);
  validation (cut, 0, input, NULL);
  g_assert_cmpint (integer (input, 0), ==, 3034);
}

static void
test_pattern (void)
{
  write_tokens ("train_1.bin", 20240520, 2, 100, 33);
  write_tokens ("train_2.bin", 20240520, 2, 200, 33);
  write_tokens ("val_1.bin", 20240520, 2, 300, 33);
  g_autofree char *apart = g_strdup_printf ("train_?.bin?validation-files=%s/val_*.bin", folder);
  g_autoptr (LigDataset) data = open_data ("tokens", apart, 1, 8);
  g_autoptr (LigTensor) input = make_input (data);
  g_assert_cmpint (lig_dataset_get_samples (data), ==, 8);
  g_assert_cmpint (lig_dataset_get_validation_batches (data), ==, 4);
  validation (data, 3, input, NULL);
  g_assert_cmpint (integer (input, 0), ==, 324);
  g_autoptr (GHashTable) seen = collect (data, 8, 1000);
  g_assert_true (g_hash_table_contains (seen, GINT_TO_POINTER (224)));
  g_autofree char *both = g_strconcat (apart, "&validation=0.5", NULL);
  assert_rejected ("tokens", both, 8, LIG_ERROR_VALUE,
                   "validation and validation-files cannot be combined");
  assert_rejected ("tokens", "tra_*.bin", 8, LIG_ERROR_FILE, "no file matches");
  make_folder ("bare");
  assert_rejected ("tokens", "bare", 8, LIG_ERROR_FORMAT, "contains no .bin file");
  /* An existing file with that name is not a pattern. */
  write_tokens ("train_*.bin", 20240520, 2, 0, 20);
  g_autoptr (LigDataset) literal = open_data ("tokens", "train_*.bin?validation=0", 1, 8);
  g_assert_cmpint (lig_dataset_get_samples (literal), ==, 2);
}

static void
test_wide (void)
{
  write_tokens ("wide.bin", 20240801, 4, 128000, 256);
  g_autoptr (LigDataset) data = open_data ("tokens", "wide.bin?validation=0", 1, 8);
  g_assert_cmpint (lig_dataset_get_largest_token (data), ==, 128255);
  g_autoptr (GHashTable) seen = collect (data, 8, 128256);
  g_assert_cmpuint (g_hash_table_size (seen), ==, 31);
  assert_bind_rejected (data, make_target (LIG_INT32, 1, 8, 128255), LIG_ERROR_VALUE,
                        "wide.bin, offset 255 (byte 2044): token 128255 is beyond the "
                        "prediction's 128255 classes");
  assert_rejected ("tokens", "wide.bin?type=uint16", 8, LIG_ERROR_VALUE,
                   "the header says uint32, the option type says uint16");
}

/* The widths of files without a header are guessed and reported. */
static void
test_plain (void)
{
  static const struct {
    gsize width;
    guint32 first;
    const char *type, *read;
  } cases[] = {
    {2, 0, "", "; without a header, read as uint16"},
    {2, 50000, "", "; without a header, read as uint16"},
    {4, 50000, "", "; without a header, read as uint32"},
    {4, 127900, "", "; without a header, read as uint32"},
    {4, 1, "", "; without a header, read as uint32"},
    {2, 100, "&type=uint16", "training"},
    {4, 65536, "&type=uint32", "training"},
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *rest = g_strconcat ("plain.bin?validation=0", cases[i].type, NULL);
    write_tokens ("plain.bin", 0, cases[i].width, cases[i].first, 200);
    g_autoptr (LigDataset) data = open_data ("tokens", rest, 1, 8);
    g_assert_true (g_str_has_suffix (lig_dataset_describe (data), cases[i].read));
    g_assert_cmpint (lig_dataset_get_largest_token (data), ==, cases[i].first + 199);
    g_autoptr (GHashTable) seen = collect (data, 8, 1 << 20);
    g_assert_cmpuint (g_hash_table_size (seen), ==, 24);
  }
  write_file ("odd.bin", "abc", 3);
  assert_rejected ("tokens", "odd.bin", 1, LIG_ERROR_FORMAT,
                   "ends at byte 3, within the last token, a uint16 at byte 2");
  write_file ("odd.bin", "abcdefg", 7);
  assert_rejected ("tokens", "odd.bin?type=uint32", 1, LIG_ERROR_FORMAT,
                   "ends at byte 7, within the last token, a uint32 at byte 4");
  write_file ("odd.bin", "", 0);
  assert_rejected ("tokens", "odd.bin", 1, LIG_ERROR_FORMAT, "odd.bin: is empty");
  write_text ("book.txt", "once upon a time");
  assert_rejected ("tokens", "book.txt", 1, LIG_ERROR_FORMAT,
                   "needs type=uint16, type=uint32 or type=int64");
}

/* A damaged shard is named, not the folder. */
static void
test_bad_shard (void)
{
  make_folder ("damaged");
  write_tokens ("damaged/a.bin", 20240520, 2, 0, 100);
  write_tokens ("damaged/b.bin", 20240520, 2, 0, 100);
  g_autofree char *second = in_folder ("damaged/b.bin");
  g_assert_cmpint (truncate (second, 1024 + 190), ==, 0);
  assert_rejected ("tokens", "damaged", 8, LIG_ERROR_FORMAT,
                   "damaged/b.bin: the header claims 100 tokens, which are 200 bytes, 190 follow");
}

/* A sparse file of 300 MiB of zeros with one token that is too large. */
static void
test_large (void)
{
  enum { COUNT = 150 << 20 };
  gint32 header[256] = {20240520, 1, COUNT};
  const guint16 token = 50304;
  g_autofree char *path = in_folder ("large.bin");
  g_autoptr (GError) error = NULL;
  LigTarget target = make_target (LIG_INT32, 1, 8, 50304);
  LigShape shape;
  lig_shape_init (&shape, 2, (gint64) 1, (gint64) 8);
  write_file ("large.bin", header, sizeof header);
  g_assert_cmpint (truncate (path, 1024 + 2 * (gint64) COUNT), ==, 0);
  g_autofree char *spec = g_strdup_printf ("tokens:%s", path);
  gint64 start = g_get_monotonic_time ();
  g_autoptr (LigDataset) data = lig_dataset_open (spec, &shape, LIG_INT32, 0, 1, &error);
  g_assert_no_error (error);
  g_assert_cmpint (g_get_monotonic_time () - start, <, G_USEC_PER_SEC / 10);
  g_assert_cmpint (lig_dataset_get_largest_token (data), ==, -1);
  guint64 before = lig_dataset_get_content (data);
  bind (data, target);
  g_autoptr (LigTensor) input = make_input (data), targets = make_targets (target);
  next (data, input, targets);
  g_assert_cmpint (integer (input, 0), ==, 0);
  /* The first validation window gets a token that is too large. */
  FILE *file = fopen (path, "r+b");
  g_assert_cmpint (fseek (file, 1024 + 2L * COUNT - 2 * (COUNT / 10) + 6, SEEK_SET), ==, 0);
  g_assert_cmpint (fwrite (&token, 2, 1, file), ==, 1);
  fclose (file);
  guint64 position = lig_dataset_get_position (data);
  g_assert_false (lig_dataset_validation (data, 0, input, targets, NULL, &error));
  g_autofree char *words =
    g_strdup_printf ("large.bin, offset %d (byte %d): the token is 50304, expected one below 50304",
                     COUNT - COUNT / 10 + 3, 1024 + 2 * (COUNT - COUNT / 10 + 3));
  assert_error_has (error, LIG_ERROR_VALUE, words);
  g_assert_cmpuint (lig_dataset_get_position (data), ==, position);
  /* A file that is cut off while it is open is an error. */
  g_clear_error (&error);
  g_assert_cmpint (truncate (path, 2048), ==, 0);
  g_assert_false (lig_dataset_validation (data, 1, input, targets, NULL, &error));
  assert_error_has (error, LIG_ERROR_FILE, "cut off");
  g_assert_cmpuint (before, !=, 0);
}

int
main (int argc, char *argv[])
{
  start_tests (&argc, &argv);
  g_test_add_func ("/tokens/folder", test_folder);
  g_test_add_func ("/tokens/pattern", test_pattern);
  g_test_add_func ("/tokens/wide", test_wide);
  g_test_add_func ("/tokens/plain", test_plain);
  g_test_add_func ("/tokens/bad-shard", test_bad_shard);
  g_test_add_func ("/tokens/large", test_large);
  return finish_tests ();
}
