/* SPDX-License-Identifier: MIT */
/* Datasets of rows, csv and idx: formats, numbers, classes, the validation split, and
 * rejections. */
#include "engine/data/training.h"
#include "tests/data/case.h"

#include <gio/gio.h>
#include <math.h>

static void
assert_table (const char *text, const char *options, const float *rows, gint64 features, int count)
{
  g_autofree char *rest = g_strconcat ("t.csv?validation=0", options, NULL);
  LigTarget target = make_target (LIG_FP32, count, 1, 0);
  write_text ("t.csv", text);
  g_autoptr (LigDataset) data = open_data ("csv", rest, count, 0);
  bind (data, target);
  g_autoptr (LigTensor) input = make_input (data), targets = make_targets (target);
  g_assert_cmpint (lig_dataset_get_samples (data), ==, count);
  g_assert_cmpint (input->shape.axes[1], ==, features);
  next (data, input, targets);
  for (int i = 0; i < count; i++) {
    const float *got = (const float *) input->data + i * features;
    gboolean found = FALSE;
    for (int row = 0; row < count; row++) {
      const float *wanted = rows + row * (features + 1);
      found |= memcmp (got, wanted, (gsize) features * sizeof *got) == 0 &&
               lig_tensor_get (targets, i) == wanted[features];
    }
    g_assert_true (found);
  }
}

static void
test_csv (void)
{
  const float rows[] = {1, 2.5f, 3, -4, 5e-3f, 6}, first[] = {2.5f, 3, 1, 5e-3f, 6, -4};
  assert_table ("1,2.5,3\n-4,5e-3,6\n", "", rows, 2, 2);
  assert_table ("1,2.5,3\n-4,5e-3,6", "", rows, 2, 2);
  assert_table ("\xef\xbb\xbf"
                "a,b,c\r\n1,2.5,3\r\n\r\n-4,5e-3,6\r\n\r\n",
                "", rows, 2, 2);
  assert_table ("a;b;c\n1;2.5;3\n-4;5e-3;6\n", "", rows, 2, 2);
  assert_table ("a\tb\tc\n 1\t2.5 \t3\n-4\t5e-3\t6\n", "", rows, 2, 2);
  assert_table ("\"a,\n\"\"x\",b,c\n\"1\", \"2.5\" ,3\n-4,5e-3,\"6\"\n", "", rows, 2, 2);
  assert_table ("a,b,c\n1,2.5,3\n-4,5e-3,6\n", "&target=a", first, 2, 2);
  assert_table ("a,b,c\n1,2.5,3\n-4,5e-3,6\n", "&target=1", first, 2, 2);
  assert_table ("b,2,c\n1,2.5,3\n-4,5e-3,6\n", "&header=true&target=b", first, 2, 2);
  assert_table ("\"a,b\",2x,c\n1,2.5,3\n-4,5e-3,6\n", "&target=a%2cb", first, 2, 2);
  assert_table ("\n\n1,2.5,3\n-4,5e-3,6\n", "&header=false", rows, 2, 2);
}

/* Selected and skipped columns, missing cells, and targets without a class. */
static void
test_csv_columns (void)
{
  static const char table[] = "name,a,b,y\nx,1,2,0\ny,NA,4,1\nz,5,6,2\n";
  const float both[] = {1, 2, 0, 5, 6, 2}, one[] = {2, 0, 4, 1, 6, 2},
              mean[] = {1, 2, 0, 3, 4, 1, 5, 6, 2};
  assert_table (table, "&skip=name&missing=drop", both, 2, 2);
  assert_table (table, "&columns=2,b&missing=drop", both, 2, 2);
  assert_table (table, "&columns=b", one, 1, 3);
  assert_table (table, "&skip=1&missing=mean", mean, 2, 3);
  assert_rejected ("csv", "t.csv", 0, LIG_ERROR_FORMAT,
                   "column 1 (name) is 'x', expected a number; columns=2,3 reads");
  assert_rejected ("csv", "t.csv?skip=name", 0, LIG_ERROR_FORMAT,
                   "column 2 (a) is 'NA', which is missing; missing=drop");
  assert_rejected ("csv", "t.csv?target=", 0, LIG_ERROR_VALUE, "target names no column");
  assert_rejected ("csv", "t.csv?skip=y", 0, LIG_ERROR_VALUE, "skip 'y' is a target");
  write_text ("t.csv", "1,5;2,5;0\n2,5;3,5;1\n");
  assert_rejected ("csv", "t.csv", 0, LIG_ERROR_FORMAT, "the separator is ambiguous");
  write_text ("t.csv", "1,5;2;0\n2,5;3;1\n");
  assert_rejected ("csv", "t.csv?header=false", 0, LIG_ERROR_FORMAT,
                   "column 1 is '1,5', expected a number");
}

/* A missing cell does not turn numbers into labels; -1 and -100 mean no class; numeric labels keep
 * their order. */
static void
test_csv_labels (void)
{
  LigTarget eleven = make_target (LIG_INT32, 4, 0, 11);
  write_text ("t.csv", "0,2\n1,10\n2,-1\n3,-100\n4,NA\n");
  g_autoptr (LigDataset) data = open_data ("csv", "t.csv?validation=0&missing=drop", 4, 0);
  bind (data, eleven);
  static const int wanted[] = {2, 10, LIG_IGNORED_TARGET, LIG_IGNORED_TARGET};
  g_autoptr (LigTensor) input = make_input (data), targets = make_targets (eleven);
  next (data, input, targets);
  for (int i = 0; i < 4; i++)
    g_assert_cmpint (integer (targets, i), ==, wanted[(int) lig_tensor_get (input, i)]);
  g_assert_cmpint (lig_dataset_count_targets (data, targets), ==, 2);
  write_text ("t.csv", "0,10\n1,2\n2,x\n3,2\n");
  g_autoptr (LigDataset) labels = open_data ("csv", "t.csv?validation=0&header=false", 4, 0);
  g_assert_nonnull (strstr (lig_dataset_describe (labels), "; 3 classes: 2, 10, x"));
}

/* Seconds since 1970 are standardized in double, and without that fp32 merges some. */
static void
test_csv_wide (void)
{
  write_text ("t.csv", "1700000000,0\n1700000001,0\n1700000002,0\n1700000003,0\n");
  g_autoptr (LigDataset) data = open_data ("csv", "t.csv?validation=0&standardize=true", 4, 0);
  g_autoptr (LigTensor) input = make_input (data);
  double sum = 0, squares = 0;
  bind (data, make_target (LIG_FP32, 4, 1, 0));
  g_autoptr (LigTensor) targets = make_targets (make_target (LIG_FP32, 4, 1, 0));
  next (data, input, targets);
  for (int i = 0; i < 4; i++) {
    sum += (double) lig_tensor_get (input, i);
    squares += pow ((double) lig_tensor_get (input, i), 2);
  }
  g_assert_cmpfloat_with_epsilon (sum, 0, 1e-6);
  g_assert_cmpfloat_with_epsilon (squares, 4, 1e-5);
  g_autoptr (LigDataset) plain = open_data ("csv", "t.csv?validation=0", 4, 0);
  g_assert_nonnull (strstr (lig_dataset_describe (plain), "fp32 merges numbers of 1 column"));
}

/* Numbers of every length have the same value as by strtod. */
static void
test_csv_numbers (void)
{
  static const char *const texts[] = {
    "0.1",
    "-0.0",
    "123456789012345",
    "1234567890123456789",
    "0.000000000000001",
    "-.5",
    "7.",
    "0.30000001192092896",
    "16777217",
    "8388608.5",
    "+3",
    "1E-40",
    "999999999999999.9",
  };
  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++) {
    g_autofree char *text = g_strdup_printf ("%s,0\n", texts[i]);
    write_text ("t.csv", text);
    g_autoptr (LigDataset) data = open_data ("csv", "t.csv", 1, 0);
    g_autoptr (LigTensor) input = make_input (data);
    float wanted = (float) g_ascii_strtod (texts[i], NULL);
    next (data, input, NULL);
    g_assert_cmpmem (input->data, sizeof wanted, &wanted, sizeof wanted);
  }
}

static void
test_csv_targets (void)
{
  LigTarget two = make_target (LIG_BF16, 2, 2, 0), one = make_target (LIG_FP32, 2, 1, 0);
  write_text ("t.csv", "a,b,c\n1,2,3\n1,2,3\n");
  g_autoptr (LigDataset) data = open_data ("csv", "t.csv?target=c,a&validation=0", 2, 0);
  assert_bind_rejected (data, one, LIG_ERROR_SHAPE, "1 feature per row, the targets have 2");
  assert_bind_rejected (data, make_target (LIG_INT32, 2, 0, 5), LIG_ERROR_SHAPE,
                        "2 target columns");
  bind (data, two);
  g_autoptr (LigTensor) input = make_input (data), targets = make_targets (two);
  next (data, input, targets);
  g_assert_cmpfloat (lig_tensor_get (input, 0), ==, 2);
  g_assert_cmpfloat (lig_tensor_get (targets, 0), ==, 3);
  g_assert_cmpfloat (lig_tensor_get (targets, 1), ==, 1);
}

static void
test_csv_classes (void)
{
  LigTarget three = make_target (LIG_INT32, 4, 0, 3), values = make_target (LIG_FP32, 4, 1, 0);
  static const char *const tables[] = {"x,y\n0,0\n1,2\n2,1\n3,0\n",
                                       "x,y\n0,a\n1,\"c \"\n2,b\n3,a\n"};
  static const int classes[] = {0, 2, 1, 0};
  for (int text = 0; text < 2; text++) {
    write_text ("t.csv", tables[text]);
    g_autoptr (LigDataset) data = open_data ("csv", "t.csv?validation=0", 4, 0);
    bind (data, three);
    g_autoptr (LigTensor) input = make_input (data), targets = make_targets (three);
    next (data, input, targets);
    for (gint64 i = 0; i < 4; i++)
      g_assert_cmpint (integer (targets, i), ==, classes[(int) lig_tensor_get (input, i)]);
    assert_bind_rejected (data, make_target (LIG_INT32, 4, 0, 2), LIG_ERROR_VALUE,
                          "t.csv:3: class 2 is beyond the prediction's 2 classes");
    assert_bind_rejected (data, make_target (LIG_INT32, 4, 2, 3), LIG_ERROR_SHAPE, "1 class");
    if (text)
      assert_bind_rejected (data, values, LIG_ERROR_DTYPE, "t.csv:2: the target is text");
    else
      bind (data, values);
  }
  g_autoptr (LigDataset) only_classes = open_data ("csv", "t.csv?task=class", 4, 0);
  assert_bind_rejected (only_classes, values, LIG_ERROR_DTYPE, "text");
  write_text ("t.csv", "x,y\n0,0\n1,2\n2,-2\n3,0\n");
  g_autoptr (LigDataset) negative = open_data ("csv", "t.csv", 4, 0);
  assert_bind_rejected (negative, three, LIG_ERROR_VALUE, "t.csv:4: the target is -2");
  g_autoptr (LigDataset) task = open_data ("csv", "t.csv?task=class", 4, 0);
  assert_bind_rejected (task, values, LIG_ERROR_DTYPE, "task=class");
  g_autoptr (LigDataset) value = open_data ("csv", "t.csv?task=value", 4, 0);
  assert_bind_rejected (value, three, LIG_ERROR_DTYPE, "task=value");
}

static void
test_csv_validation (void)
{
  g_autoptr (GString) text = g_string_new (NULL);
  LigTarget target = make_target (LIG_INT32, 4, 0, 50), values = make_target (LIG_FP32, 4, 1, 0);
  for (int i = 0; i < 50; i++)
    g_string_append_printf (text, "%d,%d\n", i, i);
  write_text ("t.csv", text->str);
  g_autoptr (LigDataset) data = open_data ("csv", "t.csv?split=end", 4, 0);
  g_assert_cmpstr (lig_dataset_describe (data), ==,
                   "csv: 50 rows of 1 feature and 1 target, 45 for training");
  g_assert_cmpint (lig_dataset_get_largest_token (data), ==, -1);
  g_autoptr (LigTensor) input = make_input (data), targets = make_targets (target);
  g_autoptr (LigTensor) floats = make_targets (values);
  bind (data, target);
  for (int i = 0; i < 30; i++) {
    next (data, input, targets);
    for (gint64 row = 0; row < 4; row++)
      g_assert_cmpint (integer (targets, row), <, 45);
  }
  g_assert_cmpint (lig_dataset_get_validation_batches (data), ==, 2);
  g_assert_cmpint (validation (data, 1, input, targets), ==, 1);
  g_assert_cmpint (integer (targets, 0), ==, 49);
  for (gint64 row = 1; row < 4; row++)
    g_assert_cmpint (integer (targets, row), ==, -100);
  bind (data, values);
  g_assert_cmpint (validation (data, 1, input, floats), ==, 1);
  g_assert_cmpfloat (lig_tensor_get (floats, 0), ==, 49);
  g_assert_cmpfloat (lig_tensor_get (floats, 1), ==, 45);
  g_assert_cmpfloat (lig_tensor_get (floats, 3), ==, 47);
}

static void
test_csv_standardize (void)
{
  g_autoptr (GString) text = g_string_new (NULL);
  double sum = 0, squares = 0;
  for (int i = 0; i < 20; i++)
    g_string_append_printf (text, "%d,7,%d\n", i < 18 ? 100 + i : 100000, i);
  write_text ("t.csv", text->str);
  g_autoptr (LigDataset) data = open_data ("csv", "t.csv?standardize=true&split=end", 18, 0);
  g_autoptr (LigTensor) input = make_input (data);
  next (data, input, NULL);
  for (gint64 i = 0; i < 18; i++) {
    sum += lig_tensor_get (input, 2 * i);
    squares += pow (lig_tensor_get (input, 2 * i), 2);
    g_assert_cmpfloat (lig_tensor_get (input, 2 * i + 1), ==, 0);
  }
  g_assert_cmpfloat_with_epsilon (sum / 18, 0, 1e-6);
  g_assert_cmpfloat_with_epsilon (squares / 18, 1, 1e-6);
}

static void
test_csv_bad (void)
{
  static const struct {
    const char *text, *options;
    int code;
    const char *words;
  } bad[] = {
    {"", "", LIG_ERROR_FORMAT, "is empty"},
    {"\n \n", "", LIG_ERROR_FORMAT, "is empty"},
    {"a,b\n", "", LIG_ERROR_FORMAT, "no rows"},
    {"a\n1\n", "", LIG_ERROR_FORMAT, "t.csv:1: has 1 column"},
    {"a,b\n1,2\n1,2,3\n", "", LIG_ERROR_FORMAT, "t.csv:3: has 3 fields, the first row has 2"},
    {"a,b\n1,2\n\n1\n", "", LIG_ERROR_FORMAT, "t.csv:4: has 1 field"},
    {"a,b\n\"1\n\",2\n1,x,3\n", "", LIG_ERROR_FORMAT, "t.csv:4: has 3 fields"},
    {"a,b\n1,2\nx,2\n", "", LIG_ERROR_FORMAT, "t.csv:3: column 1 (a) is 'x', expected a number"},
    {"a,b\n1,2\n0x10,2\n", "", LIG_ERROR_FORMAT, "'0x10', expected a number"},
    {"a,b\n1,2\n,2\n", "", LIG_ERROR_FORMAT, "t.csv:3: column 1 (a) is empty"},
    {"a,b\n1,2\n2,\n", "", LIG_ERROR_FORMAT, "t.csv:3: column 2 (b) is empty"},
    {"a,b\n1,2\nnan,2\n", "", LIG_ERROR_FORMAT, "'nan', which is missing; missing=drop"},
    {"a,b\n1,2\n1,-inf\n", "", LIG_ERROR_FORMAT, "'-inf', expected a finite number"},
    {"a,b\n1,2\n1e39,2\n", "", LIG_ERROR_FORMAT, "'1e39', expected a finite number"},
    {"a,b\n1,2\n1,x\n", "?task=value", LIG_ERROR_FORMAT, "t.csv:3: column 2 (b) is 'x'"},
    {"a,1\n1,2\n", "", LIG_ERROR_FORMAT, "t.csv:1: column 1 is 'a', expected a number; header="},
    {"a,b\n1,\"2\n", "", LIG_ERROR_FORMAT, "t.csv:2: a quote in column 2 is never closed"},
    {"a,b\n1,\"2\"3\n", "", LIG_ERROR_FORMAT, "t.csv:2: text follows the closing quote"},
    {"a,b\n1,2\n", "?target=c", LIG_ERROR_VALUE, "target 'c'"},
    {"a,b\n1,2\n", "?target=3", LIG_ERROR_VALUE, "number from 1 to 2"},
    {"a,b,c\n1,2,3\n", "?target=a,a", LIG_ERROR_VALUE, "named twice"},
    {"a,b\n1,2\n", "?target=a,b", LIG_ERROR_FORMAT, "no feature is left"},
    {"a,b,c\n1,2,3\n", "?target=a,b&task=class", LIG_ERROR_VALUE, "2 are named"},
    {"a,b\n1,2\n", "?task=guess", LIG_ERROR_VALUE, "task is 'guess'"},
    {"a,b\n1,2\n", "?header=yes", LIG_ERROR_VALUE, "header is 'yes'"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (bad); i++) {
    g_autofree char *rest = g_strconcat ("t.csv", bad[i].options, NULL);
    write_text ("t.csv", bad[i].text);
    assert_rejected ("csv", rest, 0, bad[i].code, bad[i].words);
  }
  write_file ("t.csv", "a,b\n1,2\0\n", 9);
  assert_rejected ("csv", "t.csv", 0, LIG_ERROR_FORMAT, "byte 7 is 0");
}

static void
write_idx (const char *name, guint32 magic, guint32 count, gsize body)
{
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  guint32 header[4] = {GUINT32_TO_BE (magic), GUINT32_TO_BE (count), GUINT32_TO_BE (2),
                       GUINT32_TO_BE (3)};
  g_byte_array_append (bytes, (const guint8 *) header, magic == 0x803 ? 16 : 8);
  for (gsize i = 0; i < body; i++)
    g_byte_array_append (bytes, &(guint8){(guint8) i}, 1);
  write_file (name, bytes->data, bytes->len);
}

static void
test_idx (void)
{
  LigTarget target = make_target (LIG_INT32, 2, 0, 10);
  write_idx ("train-images-idx3-ubyte", 0x803, 10, 60);
  write_idx ("train-labels-idx1-ubyte", 0x801, 10, 10);
  g_autoptr (LigDataset) data = open_data ("idx", "train-images-idx3-ubyte?split=end", 2, 0);
  g_assert_cmpstr (lig_dataset_describe (data), ==, "idx: 10 images of 2x3, 9 for training");
  g_autoptr (LigTensor) input = make_input (data), targets = make_targets (target);
  g_assert_cmpint (input->shape.axes[1], ==, 6);
  assert_bind_rejected (data, make_target (LIG_INT32, 2, 0, 9), LIG_ERROR_VALUE,
                        "label 9 of image 9");
  assert_bind_rejected (data, make_target (LIG_FP32, 2, 6, 0), LIG_ERROR_DTYPE, "gives classes");
  bind (data, target);
  for (int i = 0; i < 20; i++) {
    next (data, input, targets);
    for (gint64 j = 0; j < 12; j++)
      g_assert_true (((float *) input->data)[j] ==
                     (float) (6 * integer (targets, j / 6) + (int) (j % 6)) / 255.0f);
  }
  g_assert_cmpint (validation (data, 0, input, targets), ==, 1);
  g_assert_cmpint (integer (targets, 0), ==, 9);
  g_assert_cmpint (integer (targets, 1), ==, -100);
}

/* Writes a file as gzip does. */
static void
write_packed (const char *name, const char *text)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = in_folder (name);
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autoptr (GConverter) gzip =
    G_CONVERTER (g_zlib_compressor_new (G_ZLIB_COMPRESSOR_FORMAT_GZIP, -1));
  g_autoptr (GFileOutputStream) to =
    g_file_replace (file, NULL, FALSE, G_FILE_CREATE_NONE, NULL, &error);
  g_assert_no_error (error);
  g_autoptr (GOutputStream) packed = g_converter_output_stream_new (G_OUTPUT_STREAM (to), gzip);
  g_output_stream_write_all (packed, text, strlen (text), NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (g_output_stream_close (packed, NULL, &error));
}

/* A compressed table has the same rows. */
static void
test_packed (void)
{
  const char *text = "1,2,0\n3,4,1\n5,6,0\n7,8.5,1\n";
  write_text ("table.csv", text);
  write_packed ("table.csv.gz", text);
  LigTensor *inputs[2];
  for (int i = 0; i < 2; i++) {
    g_autoptr (LigDataset) data =
      open_data ("csv", i ? "table.csv.gz?validation=0" : "table.csv?validation=0", 4, 0);
    inputs[i] = make_input (data);
    next (data, inputs[i], NULL);
  }
  g_assert_cmpint (inputs[0]->size, ==, 8);
  g_assert_cmpmem (inputs[0]->data, lig_tensor_bytes (inputs[0]), inputs[1]->data,
                   lig_tensor_bytes (inputs[1]));
  lig_tensor_unref (inputs[0]);
  lig_tensor_unref (inputs[1]);
}

static void
test_idx_bad (void)
{
  write_idx ("other", 0x803, 10, 60);
  write_idx ("labels", 0x801, 10, 10);
  g_autofree char *labels = g_strdup_printf ("other?labels=%s/labels", folder);
  g_autoptr (LigDataset) data = open_data ("idx", labels, 2, 0);
  assert_rejected ("idx", "other", 0, LIG_ERROR_FORMAT, "labels=PATH");
  write_idx ("labels", 0x801, 11, 11);
  assert_rejected ("idx", labels, 0, LIG_ERROR_SHAPE, "11 labels for 10 images");
  write_idx ("labels", 0x801, 10, 9);
  assert_rejected ("idx", labels, 0, LIG_ERROR_FORMAT, "claims 10 bytes, 9 follow");
  write_idx ("labels", 0x803, 10, 60);
  assert_rejected ("idx", labels, 0, LIG_ERROR_FORMAT, "0x00000803, expected 0x00000801");
  write_idx ("other", 0x803, 10, 59);
  assert_rejected ("idx", "other", 0, LIG_ERROR_FORMAT, "claims 60 bytes, 59 follow");
  write_idx ("other", 0x803, 0, 0);
  assert_rejected ("idx", "other", 0, LIG_ERROR_SHAPE, "axis 0 has length 0");
  write_idx ("other", 0xd03, 10, 60);
  assert_rejected ("idx", "other", 0, LIG_ERROR_FORMAT, "0x00000d03, expected 0x00000803");
  write_file ("other", "\0\0\x8\3\0\0\0\1\0\0", 10);
  assert_rejected ("idx", "other", 0, LIG_ERROR_FORMAT, "has 10 bytes");
  write_file ("other", "\0\0\x8\3\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 16);
  assert_rejected ("idx", "other", 0, LIG_ERROR_SHAPE, "too much");
  write_file ("other", "\x1f\x8b\x8\0", 4);
  assert_rejected ("idx", "other", 0, LIG_ERROR_FORMAT, "cannot decompress");
  write_file ("other", "", 0);
  assert_rejected ("idx", "other", 0, LIG_ERROR_FORMAT, "has 0 bytes");
}

int
main (int argc, char *argv[])
{
  start_tests (&argc, &argv);
  g_test_add_func ("/dataset/csv/forms", test_csv);
  g_test_add_func ("/dataset/csv/columns", test_csv_columns);
  g_test_add_func ("/dataset/csv/labels", test_csv_labels);
  g_test_add_func ("/dataset/csv/wide", test_csv_wide);
  g_test_add_func ("/dataset/csv/numbers", test_csv_numbers);
  g_test_add_func ("/dataset/csv/targets", test_csv_targets);
  g_test_add_func ("/dataset/csv/classes", test_csv_classes);
  g_test_add_func ("/dataset/csv/validation", test_csv_validation);
  g_test_add_func ("/dataset/csv/standardize", test_csv_standardize);
  g_test_add_func ("/dataset/csv/bad", test_csv_bad);
  g_test_add_func ("/dataset/csv/packed", test_packed);
  g_test_add_func ("/dataset/idx", test_idx);
  g_test_add_func ("/dataset/idx/bad", test_idx_bad);
  return finish_tests ();
}
