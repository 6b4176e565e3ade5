/* SPDX-License-Identifier: MIT */
/* Validation rows: random ones, the same share of each class, or a separate file. */
#include "engine/data/training.h"
#include "tests/data/case.h"

#include <math.h>

#define MAX_ROWS 200

/* The first feature and the class of the rows of one part. */
typedef struct {
  float features[MAX_ROWS];
  int classes[MAX_ROWS];
  int count;
} Rows;

/* Reads each row of one part once, by batches of one. */
static Rows
read_rows (LigDataset *data, gboolean out, int classes)
{
  Rows rows = {0};
  LigTarget target = make_target (LIG_INT32, 1, 0, classes);
  bind (data, target);
  g_autoptr (LigTensor) input = make_input (data), targets = make_targets (target);
  rows.count =
    (int) (out ? lig_dataset_get_validation_batches (data) : lig_dataset_get_samples (data));
  g_assert_cmpint (rows.count, <=, MAX_ROWS);
  for (int i = 0; i < rows.count; i++) {
    if (out)
      validation (data, i, input, targets);
    else
      next (data, input, targets);
    rows.features[i] = ((float *) input->data)[0];
    rows.classes[i] = integer (targets, 0);
  }
  return rows;
}

static int
count_class (const Rows *rows, int class)
{
  int count = 0;
  for (int i = 0; i < rows->count; i++)
    count += rows->classes[i] == class;
  return count;
}

/* Writes a table whose first feature is the number of the row, sorted by class. */
static void
write_sorted (const int *sizes, int classes)
{
  g_autoptr (GString) text = g_string_new ("x,noise,y\n");
  for (int class = 0, row = 0; class < classes; class ++)
    for (int i = 0; i < sizes[class]; i++, row++)
      g_string_append_printf (text, "%d,%d,%d\n", row, row * 37 % 11, class);
  write_text ("s.csv", text->str);
}

/* Checks that both splits together have each row once. */
static void
check_parts (const Rows *training, const Rows *out, int total)
{
  gboolean seen[MAX_ROWS] = {FALSE};
  g_assert_cmpint (training->count + out->count, ==, total);
  for (int i = 0; i < total; i++) {
    float row = i < training->count ? training->features[i] : out->features[i - training->count];
    g_assert_false (seen[(int) row]);
    seen[(int) row] = TRUE;
  }
}

/* The random validation rows of a table do not depend on the seed of the run. */
static void
test_random (void)
{
  static const int sizes[] = {40, 40, 40};
  write_sorted (sizes, 3);
  g_autoptr (LigDataset) data = open_data ("csv", "s.csv", 1, 0);
  g_assert_cmpstr (lig_dataset_describe (data), ==,
                   "csv: 120 rows of 2 features and 1 target, 108 for training, 12 for validation, "
                   "split at random");
  Rows training = read_rows (data, FALSE, 3), out = read_rows (data, TRUE, 3);
  check_parts (&training, &out, 120);
  g_assert_cmpint (count_class (&out, 2), <, 12);
  for (int i = 1; i < out.count; i++)
    g_assert_cmpfloat (out.features[i - 1], <, out.features[i]);
  g_autofree char *spec = g_strdup_printf ("csv:%s/s.csv?split=random", folder);
  g_autoptr (LigDataset) other = lig_dataset_open (spec, NULL, LIG_FP32, 1, 99, NULL);
  Rows same = read_rows (other, TRUE, 3);
  g_assert_cmpmem (same.features, sizeof same.features, out.features, sizeof out.features);
  g_assert_null (lig_dataset_get_warning (other));
  g_autoptr (LigDataset) none = open_data ("csv", "s.csv?validation=0", 1, 0);
  Rows all = read_rows (none, FALSE, 3), nothing = read_rows (none, TRUE, 3);
  check_parts (&all, &nothing, 120);
}

/* The counts are those of the largest remainders, worked out by hand. */
static void
test_stratified (void)
{
  static const struct {
    int sizes[3];
    const char *share;
    int validation[3];
  } cases[] = {
    {{50, 30, 20}, "0.1", {5, 3, 2}},
    /* Of 3 rows the shares are 2.1, 0.6 and 0.3. */
    {{7, 2, 1}, "0.3", {2, 1, 0}},
    /* Of 2 rows 1, 0.5 and 0.5; the last two are classes of one row, which is for training. */
    {{2, 1, 1}, "0.5", {1, 0, 0}},
    /* Of 5 rows the shares are 1.67 each, and the rest goes to the first two. */
    {{4, 4, 4}, "0.4", {2, 2, 1}},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *rest =
      g_strconcat ("s.csv?split=stratified&validation=", cases[i].share, NULL);
    int total = cases[i].sizes[0] + cases[i].sizes[1] + cases[i].sizes[2];
    write_sorted (cases[i].sizes, 3);
    g_autoptr (LigDataset) data = open_data ("csv", rest, 1, 0);
    Rows training = read_rows (data, FALSE, 3), out = read_rows (data, TRUE, 3);
    check_parts (&training, &out, total);
    for (int class = 0; class < 3; class ++)
      g_assert_cmpint (count_class (&out, class), ==, cases[i].validation[class]);
    g_assert_null (lig_dataset_get_warning (data));
  }
  write_text ("s.csv", "1,2.5\n3,0.5\n");
  assert_rejected ("csv", "s.csv?split=stratified", 0, LIG_ERROR_VALUE, "split=random needs none");
  write_text ("s.csv", "a,b,c\n1,2,3\n3,4,5\n");
  assert_rejected ("csv", "s.csv?split=stratified&target=b,c", 0, LIG_ERROR_VALUE,
                   "needs one target column of classes");
  assert_rejected ("csv", "s.csv?split=half", 0, LIG_ERROR_VALUE,
                   "split is 'half', expected end, random or stratified");
  write_text ("s.txt", "abcdefgh");
  assert_rejected ("text", "s.txt?split=random", 4, LIG_ERROR_VALUE, "text has no option 'split'");
}

/* Mean and std are those of only the training rows. */
static void
test_standardize (void)
{
  static const int sizes[] = {70, 30};
  write_sorted (sizes, 2);
  for (int stratified = 0; stratified < 2; stratified++) {
    const char *split = stratified ? "stratified" : "random";
    g_autofree char *rest = g_strdup_printf ("s.csv?split=%s&validation=0.3", split);
    g_autofree char *scaled = g_strconcat (rest, "&standardize=true", NULL);
    g_autoptr (LigDataset) plain = open_data ("csv", rest, 1, 0);
    g_autoptr (LigDataset) data = open_data ("csv", scaled, 1, 0);
    Rows raw = read_rows (plain, FALSE, 2), training = read_rows (data, FALSE, 2);
    Rows raw_out = read_rows (plain, TRUE, 2), out = read_rows (data, TRUE, 2);
    double mean = 0, squares = 0;
    for (int i = 0; i < raw.count; i++)
      mean += (double) raw.features[i] / raw.count;
    for (int i = 0; i < raw.count; i++)
      squares += pow ((double) raw.features[i] - mean, 2) / raw.count;
    for (int i = 0; i < raw.count; i++)
      g_assert_cmpfloat_with_epsilon ((double) training.features[i],
                                      ((double) raw.features[i] - mean) / sqrt (squares), 1e-6);
    for (int i = 0; i < raw_out.count; i++)
      g_assert_cmpfloat_with_epsilon ((double) out.features[i],
                                      ((double) raw_out.features[i] - mean) / sqrt (squares), 1e-6);
    g_autofree char *table = lig_dataset_describe_table (data);
    g_autofree char *wanted = g_strdup_printf ("\"mean\": %.4f", mean);
    g_assert_nonnull (strstr (table, "\"standardized\": true"));
    g_assert_nonnull (strstr (table, "\"name\": \"noise\""));
    wanted[strlen (wanted) - 2] = '\0'; /* the last digits may be rounded */
    g_assert_nonnull (strstr (table, wanted));
    g_autofree char *unscaled = lig_dataset_describe_table (plain);
    g_assert_nonnull (strstr (unscaled, "\"standardized\": false"));
    g_assert_nonnull (strstr (unscaled, "\"name\": \"noise\""));
    g_assert_null (strstr (unscaled, "\"mean\""));
  }
}

/* A table sorted by class: its end has a class that the rest lacks. */
static void
test_warning (void)
{
  static const int sizes[] = {40, 40, 8};
  write_sorted (sizes, 3);
  g_autoptr (LigDataset) data = open_data ("csv", "s.csv?split=end", 1, 0);
  Rows out = read_rows (data, TRUE, 3);
  g_assert_cmpint (count_class (&out, 2), ==, 8);
  g_assert_nonnull (strstr (lig_dataset_get_warning (data),
                            "s.csv: class 2 occurs in validation rows but in no training row; "
                            "split=stratified"));
  write_text ("s.csv", "1,a\n2,a\n3,a\n4,b\n5,c\n");
  g_autoptr (LigDataset) labels = open_data ("csv", "s.csv?split=end&validation=0.4", 1, 0);
  bind (labels, make_target (LIG_INT32, 1, 0, 3));
  g_assert_nonnull (strstr (lig_dataset_get_warning (labels), "the classes b, c occur"));
  g_autofree char *table = lig_dataset_describe_table (labels);
  g_assert_nonnull (strstr (table, "\"classes\": ["));
}

/* Rows with the same text labels in another order, and a column with another name. */
static void
test_csv_file (void)
{
  write_text ("a.csv", "x,y\n0,dog\n1,cat\n2,dog\n");
  write_text ("b.csv", "x,y\n10,cat\n11,emu\n");
  g_autofree char *rest = g_strdup_printf ("a.csv?validation=%s/b.csv", folder);
  g_autofree char *mean = g_strdup_printf ("%s&standardize=true", rest);
  g_autofree char *both = g_strdup_printf ("%s&split=end", rest);
  g_autofree char *self = g_strdup_printf ("a.csv?validation=%s/a.csv", folder);
  g_autofree char *no = g_strdup_printf ("a.csv?validation=%s/no.csv", folder);
  g_autoptr (LigDataset) data = open_data ("csv", rest, 1, 0);
  Rows training = read_rows (data, FALSE, 3), out = read_rows (data, TRUE, 3);
  g_assert_cmpint (training.count, ==, 3);
  g_assert_cmpint (out.count, ==, 2);
  g_assert_cmpfloat (out.features[0], ==, 10);
  g_assert_cmpint (out.classes[0], ==, 0); /* cat, dog, emu */
  g_assert_cmpint (out.classes[1], ==, 2);
  g_assert_nonnull (strstr (lig_dataset_get_warning (data), "class emu"));
  g_assert_nonnull (strstr (lig_dataset_describe (data), "3 for training, b.csv for validation"));
  /* 0, 1 and 2 have the mean 1 and the variance 2/3. */
  g_autoptr (LigDataset) scaled = open_data ("csv", mean, 1, 0);
  out = read_rows (scaled, TRUE, 3);
  g_assert_cmpfloat_with_epsilon ((double) out.features[0], 9 / sqrt (2.0 / 3), 1e-5);
  assert_bind_rejected (data, make_target (LIG_INT32, 1, 0, 2), LIG_ERROR_VALUE,
                        "b.csv:3: class 2");
  assert_rejected ("csv", both, 0, LIG_ERROR_VALUE, "cannot be combined");
  assert_rejected ("csv", self, 0, LIG_ERROR_VALUE, "all files are validation files");
  assert_rejected ("csv", no, 0, LIG_ERROR_FILE, "no.csv");
  write_text ("b.csv", "z,y\n10,cat\n");
  assert_rejected ("csv", rest, 0, LIG_ERROR_FORMAT, "b.csv:1: column 1 is 'z', expected 'x'");
  write_text ("b.csv", "x,y\n10\n");
  assert_rejected ("csv", rest, 0, LIG_ERROR_FORMAT, "b.csv:2: has 1 field");
  write_text ("b.csv", "x,y\n");
  assert_rejected ("csv", rest, 0, LIG_ERROR_FORMAT, "b.csv: has a header and no rows");
}

static void
write_images (const char *name, guint32 magic, guint32 count, guint32 width, guint8 first)
{
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  guint32 header[4] = {GUINT32_TO_BE (magic), GUINT32_TO_BE (count), GUINT32_TO_BE (1),
                       GUINT32_TO_BE (width)};
  gsize each = magic == 0x803 ? width : 1;
  g_byte_array_append (bytes, (const guint8 *) header, magic == 0x803 ? 16 : 8);
  for (gsize i = 0; i < count * each; i++)
    g_byte_array_append (bytes, &(guint8){(guint8) (first + i / each)}, 1);
  write_file (name, bytes->data, bytes->len);
}

/* The two files of MNIST: images and labels of both, whose pixels and labels are equal here. */
static void
test_idx_file (void)
{
  write_images ("train-images-idx3-ubyte", 0x803, 9, 2, 0);
  write_images ("train-labels-idx1-ubyte", 0x801, 9, 2, 0);
  write_images ("t10k-images-idx3-ubyte", 0x803, 4, 2, 5);
  write_images ("t10k-labels-idx1-ubyte", 0x801, 4, 2, 5);
  g_autofree char *rest =
    g_strdup_printf ("train-images-idx3-ubyte?validation=%s/t10k-images-idx3-ubyte", folder);
  g_autoptr (LigDataset) data = open_data ("idx", rest, 1, 0);
  Rows training = read_rows (data, FALSE, 10), out = read_rows (data, TRUE, 10);
  g_assert_cmpint (training.count, ==, 9);
  g_assert_cmpint (out.count, ==, 4);
  for (int i = 0; i < 4; i++) {
    g_assert_cmpint (out.classes[i], ==, 5 + i);
    g_assert_cmpfloat (out.features[i], ==, (float) (5 + i) / 255.0f);
  }
  for (int i = 0; i < 9; i++)
    g_assert_cmpfloat (training.features[i], ==, (float) training.classes[i] / 255.0f);
  g_assert_null (lig_dataset_get_warning (data));
  assert_bind_rejected (data, make_target (LIG_INT32, 1, 0, 8), LIG_ERROR_VALUE,
                        "label 8 of image 8");
  write_images ("t10k-labels-idx1-ubyte", 0x801, 4, 2, 30);
  g_autoptr (LigDataset) other = open_data ("idx", rest, 1, 0);
  assert_bind_rejected (other, make_target (LIG_INT32, 1, 0, 20), LIG_ERROR_VALUE,
                        "t10k-images-idx3-ubyte: label 33 of image 3");
  bind (other, make_target (LIG_INT32, 1, 0, 50));
  g_assert_nonnull (strstr (lig_dataset_get_warning (other), "30, 31, 32, 33"));
  write_images ("t10k-images-idx3-ubyte", 0x803, 4, 3, 5);
  assert_rejected ("idx", rest, 0, LIG_ERROR_SHAPE, "the images are 1x3, those for training 1x2");
  g_autoptr (LigDataset) random = open_data ("idx", "train-images-idx3-ubyte?validation=0.3", 1, 0);
  training = read_rows (random, FALSE, 10);
  out = read_rows (random, TRUE, 10);
  g_assert_cmpint (out.count, ==, 3);
  for (int class = 0; class < 9; class ++)
    g_assert_cmpint (count_class (&training, class) + count_class (&out, class), ==, 1);
}

/* All bytes of the first file are for training; a folder skips the validation files. */
static void
test_text_file (void)
{
  g_autofree char *text = in_folder ("texts");
  g_autofree char *rest = g_strdup_printf ("texts?validation=%s/texts/b.txt", folder);
  gsize count;
  g_assert_cmpint (g_mkdir (text, 0700), ==, 0);
  write_text ("texts/a.txt", "abcdefgh");
  write_text ("texts/b.txt", "uvwxyz");
  g_autoptr (LigDataset) data = open_data ("text", rest, 1, 3);
  const guint16 *tokens = lig_dataset_get_tokens (data, FALSE, &count);
  g_assert_cmpuint (count, ==, 8);
  g_assert_cmpuint (tokens[7], ==, 'h');
  tokens = lig_dataset_get_tokens (data, TRUE, &count);
  g_assert_cmpuint (count, ==, 6);
  g_assert_cmpuint (tokens[0], ==, 'u');
  write_file ("a.bin", "\1\0\2\0\3\0\4\0\5\0", 10);
  write_file ("b.bin", "\7\0\x8\0\x9\0\xa\0", 8);
  g_autofree char *bin = g_strdup_printf ("a.bin?type=uint16&validation=%s/b.bin", folder);
  g_autoptr (LigDataset) numbers = open_data ("tokens", bin, 1, 2);
  bind (numbers, make_target (LIG_INT32, 2, 0, 50));
  g_assert_cmpint (lig_dataset_get_samples (numbers), ==, 2);
  g_autoptr (LigTensor) input = make_input (numbers);
  validation (numbers, 0, input, NULL);
  g_assert_cmpint (integer (input, 0), ==, 7);
}

int
main (int argc, char *argv[])
{
  start_tests (&argc, &argv);
  g_test_add_func ("/dataset/split/random", test_random);
  g_test_add_func ("/dataset/split/stratified", test_stratified);
  g_test_add_func ("/dataset/split/standardize", test_standardize);
  g_test_add_func ("/dataset/split/warning", test_warning);
  g_test_add_func ("/dataset/split/csv-file", test_csv_file);
  g_test_add_func ("/dataset/split/idx-file", test_idx_file);
  g_test_add_func ("/dataset/split/text-file", test_text_file);
  return finish_tests ();
}
