/* SPDX-License-Identifier: MIT */
/* Datasets: batches contain the data of the files, an epoch is a permutation, training and
 * validation splits do not overlap, reading continues identically from a position, and invalid data
 * are rejected with file, line or offset. */
#include "engine/data/training.h"
#include "tests/data/case.h"

#include <math.h>
#include <unistd.h>

static void
test_spec (void)
{
  static const struct {
    const char *kind, *rest;
    int code;
    const char *words;
  } bad[] = {
    {"picture", "a.txt", LIG_ERROR_FORMAT, "is unknown; choose from text, tokens, "},
    {"text", "a.txt?color=1", LIG_ERROR_VALUE, "no option 'color'"},
    {"text", "a.txt?validation=1", LIG_ERROR_VALUE, "validation is '1'"},
    {"text", "a.txt?validation=nan", LIG_ERROR_VALUE, "validation is 'nan'"},
    {"text", "a.txt?validation=", LIG_ERROR_VALUE, "validation is ''"},
    {"text", "a.txt?validation=0&validation=0", LIG_ERROR_VALUE, "given twice"},
    {"text", "a.txt?validation=0&", LIG_ERROR_FORMAT, "no value"},
    {"text", "none.txt", LIG_ERROR_FILE, "cannot open"},
    {"synthetic", "a.txt", LIG_ERROR_FORMAT, "takes no path"},
  };
  g_autoptr (GError) error = NULL;
  g_autofree char *path = in_folder ("a.txt");
  LigShape shape;
  lig_shape_init (&shape, 2, (gint64) 2, (gint64) 3);
  write_text ("a.txt", "abcdefghijklmnopqrstuvwxyz");
  for (gsize i = 0; i < G_N_ELEMENTS (bad); i++)
    assert_rejected (bad[i].kind, bad[i].rest, 3, bad[i].code, bad[i].words);
  g_assert_null (lig_dataset_open (path, &shape, LIG_INT32, 0, 0, &error));
  g_autofree char *suggestion = g_strdup_printf ("text:%s", path);
  assert_error_has (error, LIG_ERROR_FORMAT, suggestion);
  g_clear_error (&error);
  g_assert_null (lig_dataset_open ("text", &shape, LIG_INT32, 0, 0, &error));
  assert_error_has (error, LIG_ERROR_FORMAT, "text:PATH");
  g_clear_error (&error);
  g_assert_null (lig_dataset_open ("", &shape, LIG_INT32, 0, 0, &error));
  assert_error_has (error, LIG_ERROR_FORMAT, "kind of data");
  g_clear_error (&error);
  g_assert_null (lig_dataset_open ("synthetic", NULL, LIG_FP32, 0, 0, &error));
  assert_error_has (error, LIG_ERROR_SHAPE, "batch");
}

static void
test_batch (void)
{
  g_autoptr (GError) error = NULL;
  LigShape shape;
  write_text ("what?.txt", "abcdefghijklmnopqrstuvwxyz");
  g_autofree char *spec = g_strdup_printf ("text:%s/what?.txt", folder);
  lig_shape_init (&shape, 2, (gint64) 2, (gint64) 3);
  g_autoptr (LigDataset) data = lig_dataset_open (spec, &shape, LIG_FP32, 5, 0, &error);
  g_assert_no_error (error);
  lig_dataset_get_input (data, &shape, NULL);
  g_assert_cmpint (shape.axes[0], ==, 5);
  write_text ("small.csv", "1,2\n3,4\n");
  g_autofree char *csv = g_strdup_printf ("csv:%s/small.csv", folder);
  g_autoptr (LigDataset) table = lig_dataset_open (csv, NULL, LIG_FP32, 5, 0, &error);
  g_assert_no_error (error);
}

static void
test_epochs (void)
{
  LigTarget target = make_target (LIG_FP32, 7, 1, 0);
  for (gint64 count = 1; count <= 70; count += 3) {
    g_autoptr (GString) text = g_string_new (NULL);
    for (gint64 i = 0; i < count; i++)
      g_string_append_printf (text, "%d,0\n", (int) i);
    write_text ("order.csv", text->str);
    g_autoptr (LigDataset) data = open_data ("csv", "order.csv?validation=0", 7, 0);
    g_autoptr (LigTensor) input = make_input (data), targets = make_targets (target);
    g_autofree gint64 *seen = g_new0 (gint64, count);
    bind (data, target);
    g_assert_cmpint (lig_dataset_get_samples (data), ==, count);
    g_assert_cmpint (lig_dataset_get_validation_batches (data), ==, 0);
    for (gint64 given = 0; given < 7 * count; given++) {
      if (given % 7 == 0)
        next (data, input, targets);
      gint64 row = (gint64) lig_tensor_get (input, given % 7);
      g_assert_cmpint (seen[row]++, ==, given / count);
    }
    g_assert_cmpuint (lig_dataset_get_position (data), ==, (guint64) (7 * count));
  }
}

/* Epochs differ, and so do seeds. */
static void
test_shuffled (void)
{
  LigShape shape;
  float first[100];
  lig_shape_init (&shape, 2, (gint64) 100, (gint64) 1);
  g_autoptr (GString) text = g_string_new (NULL);
  for (int i = 0; i < 100; i++)
    g_string_append_printf (text, "%d,0\n", i);
  write_text ("order.csv", text->str);
  g_autofree char *spec = g_strdup_printf ("csv:%s/order.csv?validation=0", folder);
  for (int seed = 0; seed < 2; seed++) {
    g_autoptr (LigDataset) data =
      lig_dataset_open (spec, &shape, LIG_FP32, 0, (guint64) seed, NULL);
    g_autoptr (LigTensor) input = make_input (data);
    int same = 0, fixed = 0;
    for (int epoch = 0; epoch < 2; epoch++) {
      next (data, input, NULL);
      if (seed == 0 && epoch == 0)
        memcpy (first, input->data, sizeof first);
      for (int i = 0; i < 100 && (seed > 0 || epoch > 0); i++) {
        same += ((float *) input->data)[i] == first[i];
        fixed += (int) ((float *) input->data)[i] == i;
      }
    }
    g_assert_cmpint (same, <, 15);
    g_assert_cmpint (fixed, <, 15);
  }
}

static void
test_resume (void)
{
  LigTarget target = make_target (LIG_INT32, 3, 0, 256);
  write_text ("a.txt", "the quick brown fox jumps over the lazy dog");
  g_autoptr (LigDataset) data = open_data ("text", "a.txt?validation=0.3", 3, 5);
  g_autoptr (LigDataset) resumed = open_data ("text", "a.txt?validation=0.3", 3, 5);
  g_autoptr (LigTensor) input = make_input (data), targets = make_targets (target);
  g_autoptr (LigTensor) input2 = make_input (data), targets2 = make_targets (target);
  bind (data, target);
  bind (resumed, target);
  for (int batch = 0; batch < 60; batch++) {
    lig_dataset_seek (resumed, lig_dataset_get_position (data));
    if (batch % 3 == 0)
      validation (data, 0, input, targets);
    next (data, input, targets);
    next (resumed, input2, targets2);
    g_assert_cmpmem (input->data, 60, input2->data, 60);
    g_assert_cmpmem (targets->data, 12, targets2->data, 12);
    g_assert_cmpuint (lig_dataset_get_position (data), ==, (guint64) (batch + 1) * 3);
  }
}

static void
test_tensors (void)
{
  g_autoptr (GError) error = NULL;
  LigTarget target = make_target (LIG_INT32, 3, 5, 256);
  LigTarget wrong = make_target (LIG_FP32, 3, 5, 0), small = make_target (LIG_INT32, 3, 4, 256);
  write_text ("a.txt", "the quick brown fox jumps over the lazy dog");
  g_autoptr (LigDataset) data = open_data ("text", "a.txt", 3, 5);
  g_autoptr (LigTensor) input = make_input (data), targets = make_targets (target);
  g_autoptr (LigTensor) other_type = make_targets (wrong), other_size = make_targets (small);
  g_assert_false (lig_dataset_next (data, input, targets, &error));
  assert_error_has (error, LIG_ERROR_SHAPE, "bound to a loss");
  bind (data, target);
  g_clear_error (&error);
  g_assert_false (lig_dataset_next (data, other_type, targets, &error));
  assert_error_has (error, LIG_ERROR_DTYPE, "is fp32, expected int32");
  g_clear_error (&error);
  g_assert_false (lig_dataset_next (data, input, other_size, &error));
  assert_error_has (error, LIG_ERROR_SHAPE, "3x4, expected 3x5");
  g_clear_error (&error);
  g_assert_false (lig_dataset_validation (data, 9, input, targets, NULL, &error));
  assert_error_has (error, LIG_ERROR_INDEX, "no validation batch 9");
  g_assert_cmpuint (lig_dataset_get_position (data), ==, 0);
}

/* Writes tokens that equal their positions, so that the origin of every target is known. */
static void
write_positions (const char *name, int count)
{
  g_autofree gint32 *header = g_new0 (gint32, 256 + (gsize) count);
  guint16 *tokens = (guint16 *) (header + 256);
  header[0] = 20240520;
  header[1] = 1;
  header[2] = count;
  for (int i = 0; i < count; i++)
    tokens[i] = (guint16) i;
  write_file (name, header, 1024 + 2 * (gsize) count);
}

static void
test_windows (void)
{
  LigTarget all = make_target (LIG_INT32, 2, 4, 1000), flat = make_target (LIG_INT32, 8, 0, 1000);
  LigTarget one = make_target (LIG_INT32, 2, 0, 1000);
  write_positions ("positions.bin", 1000);
  g_autoptr (LigDataset) data = open_data ("tokens", "positions.bin", 2, 4);
  g_autoptr (LigTensor) input = make_input (data), targets = make_targets (all);
  g_autoptr (LigTensor) single = make_targets (one);
  g_assert_cmpint (lig_dataset_get_largest_token (data), ==, 999);
  g_assert_cmpint (lig_dataset_get_samples (data), ==, 899 / 4);
  bind (data, all);
  for (int i = 0; i < 500; i++) {
    next (data, input, targets);
    for (gint64 j = 0; j < 8; j++) {
      g_assert_cmpint (integer (input, j) % 4, ==, j % 4);
      g_assert_cmpint (integer (targets, j), ==, integer (input, j) + 1);
      g_assert_cmpint (integer (targets, j), <, 900);
    }
  }
  bind (data, flat);
  next (data, input, targets);
  g_assert_cmpint (integer (targets, 7), ==, integer (input, 7) + 1);
  bind (data, one);
  g_assert_cmpint (lig_dataset_get_samples (data), ==, 896);
  lig_dataset_seek (data, 0);
  g_autofree gboolean *seen = g_new0 (gboolean, 1000);
  for (int i = 0; i < 448; i++) {
    next (data, input, single);
    for (gint64 row = 0; row < 2; row++) {
      g_assert_cmpint (integer (single, row), ==, integer (input, 4 * row) + 4);
      g_assert_false (seen[integer (single, row)]);
      seen[integer (single, row)] = TRUE;
    }
  }
  for (int i = 0; i < 1000; i++)
    g_assert_cmpint (seen[i], ==, i >= 4 && i < 900);
}

static void
test_validation_windows (void)
{
  LigTarget all = make_target (LIG_INT32, 16, 4, 1000), one = make_target (LIG_INT32, 16, 0, 1000);
  write_positions ("positions.bin", 1000);
  g_autoptr (LigDataset) data = open_data ("tokens", "positions.bin", 16, 4);
  g_autoptr (LigTensor) input = make_input (data), targets = make_targets (all);
  bind (data, all);
  /* 100 tokens: 24 windows in batches of 16 and 8. */
  g_assert_cmpint (lig_dataset_get_validation_batches (data), ==, 2);
  g_assert_cmpint (validation (data, 0, input, targets), ==, 16);
  g_assert_cmpint (integer (input, 0), ==, 900);
  g_assert_cmpint (integer (targets, 63), ==, 964);
  g_assert_cmpint (validation (data, 1, input, targets), ==, 8);
  g_assert_cmpint (integer (input, 0), ==, 964);
  g_assert_cmpint (integer (targets, 31), ==, 996);
  g_assert_cmpint (integer (input, 32), ==, 900);
  for (gint64 i = 32; i < 64; i++)
    g_assert_cmpint (integer (targets, i), ==, -100);
  bind (data, one);
  g_assert_cmpint (lig_dataset_get_validation_batches (data), ==, 6);
  g_autoptr (LigTensor) single = make_targets (one);
  g_assert_cmpint (validation (data, 5, input, single), ==, 16);
  g_assert_cmpint (integer (single, 15), ==, 999);
  gsize count;
  g_assert_cmpint (lig_dataset_get_tokens (data, TRUE, &count)[0], ==, 900);
  g_assert_cmpuint (count, ==, 100);
  g_assert_cmpint (lig_dataset_get_tokens (data, FALSE, &count)[0], ==, 0);
  g_assert_cmpuint (count, ==, 900);
}

static void
test_cut (void)
{
  static const struct {
    int total;
    const char *options;
    gsize training;
  } cuts[] = {
    {1000, "", 900},         {30, "", 27},
    {182, "", 163},          {1000, "?validation=0.5", 500},
    {6, "?validation=0", 6}, {100, "?validation=0.333", 66},
    {60000, "", 54000},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (cuts); i++) {
    gsize count;
    g_autofree char *rest = g_strconcat ("cut.bin", cuts[i].options, NULL);
    write_positions ("cut.bin", cuts[i].total);
    g_autoptr (LigDataset) data = open_data ("tokens", rest, 1, 4);
    lig_dataset_get_tokens (data, FALSE, &count);
    g_assert_cmpuint (count, ==, cuts[i].training);
    lig_dataset_get_tokens (data, TRUE, &count);
    g_assert_cmpuint (count, ==, (gsize) cuts[i].total - cuts[i].training);
  }
}

static void
test_text_folder (void)
{
  g_autofree char *root = in_folder ("corpus"), *inner = in_folder ("corpus/b");
  g_autofree char *link = in_folder ("corpus/c"), *loop = in_folder ("corpus/b/loop");
  g_autofree char *self = in_folder ("corpus/self"), *outside = in_folder ("outside");
  g_autofree char *empty = in_folder ("empty");
  gsize count;
  g_assert_cmpint (g_mkdir_with_parents (inner, 0700), ==, 0);
  g_assert_cmpint (g_mkdir_with_parents (empty, 0700), ==, 0);
  write_text ("outside", "3333333333");
  write_text ("corpus/b/x", "222222222\xff");
  write_text ("corpus/a", "1111111111");
  write_text ("corpus/nothing", "");
  g_assert_cmpint (symlink (outside, link), ==, 0);
  g_assert_cmpint (symlink (root, loop), ==, 0);
  g_assert_cmpint (symlink (self, self), ==, 0);
  g_autoptr (LigDataset) data = open_data ("text", "corpus", 2, 4);
  const guint16 *tokens = lig_dataset_get_tokens (data, FALSE, &count);
  g_assert_cmpuint (count, ==, 27);
  for (gsize i = 0; i < 30; i++)
    g_assert_cmpint (tokens[i], ==, i == 19 ? 255 : '1' + (int) i / 10);
  g_assert_cmpint (lig_dataset_get_largest_token (data), ==, 255);
  g_assert_cmpstr (lig_dataset_describe (data), ==, "text: 4 files, 30 bytes, 27 for training");
  assert_rejected ("text", "empty", 4, LIG_ERROR_FORMAT, "no file");
  if (geteuid () != 0) {
    g_autofree char *locked = in_folder ("corpus/a");
    g_assert_cmpint (g_chmod (locked, 0), ==, 0);
    assert_rejected ("text", "corpus", 4, LIG_ERROR_FILE, "corpus/a");
  }
}

static void
test_text_bad (void)
{
  write_text ("none", "");
  write_text ("short", "abcde");
  write_text ("a.txt", "abcdefghij~klmnopqrs");
  assert_rejected ("text", "none", 4, LIG_ERROR_FORMAT, "is empty");
  assert_rejected ("text", "short", 4, LIG_ERROR_SHAPE, "4 tokens for training");
  assert_rejected ("text", "a.txt", 0, LIG_ERROR_SHAPE, "BATCHxLENGTH");
  g_autoptr (LigDataset) data = open_data ("text", "a.txt", 2, 4);
  assert_bind_rejected (data, make_target (LIG_FP32, 2, 4, 0), LIG_ERROR_DTYPE,
                        "requires fp32 values");
  assert_bind_rejected (data, make_target (LIG_INT32, 2, 3, 256), LIG_ERROR_SHAPE, "3 targets");
  assert_bind_rejected (data, make_target (LIG_INT32, 3, 0, 256), LIG_ERROR_SHAPE,
                        "the batch size 2");
  assert_bind_rejected (data, make_target (LIG_INT32, 2, 4, 126), LIG_ERROR_VALUE,
                        "token 126 at offset 10");
  assert_bind_rejected (data, make_target (LIG_INT32, 2, 4, 0), LIG_ERROR_VALUE, "at least 1");
  assert_bind_rejected (data, make_target (LIG_FP32, 2, 4, 3), LIG_ERROR_VALUE, "3 classes");
  assert_bind_rejected (data, make_target (LIG_UINT8, 2, 4, 3), LIG_ERROR_DTYPE, "uint8");
  bind (data, make_target (LIG_INT32, 2, 4, 127));
}

static void
test_tokens_bad (void)
{
  gint32 header[257] = {20240520, 1, 2};
  header[256] = 5;
  write_file ("t.bin", header, 1020);
  assert_rejected ("tokens", "t.bin", 1, LIG_ERROR_FORMAT, "has 1020 bytes");
  write_file ("t.bin", header, 1027);
  assert_rejected ("tokens", "t.bin", 1, LIG_ERROR_FORMAT, "which are 4 bytes, 3 follow");
  header[2] = 1;
  write_file ("t.bin", header, 1028);
  assert_rejected ("tokens", "t.bin", 1, LIG_ERROR_FORMAT, "which are 2 bytes, 4 follow");
  header[2] = -1;
  write_file ("t.bin", header, 1028);
  assert_rejected ("tokens", "t.bin", 1, LIG_ERROR_FORMAT, "claims -1 tokens");
  header[1] = 2;
  write_file ("t.bin", header, 1028);
  assert_rejected ("tokens", "t.bin", 1, LIG_ERROR_FORMAT, "version 2, expected 1");
  header[0] = 20240801;
  write_file ("t.bin", header, 1028);
  assert_rejected ("tokens", "t.bin", 1, LIG_ERROR_FORMAT, "version 2, expected 7");
  header[0] = 20240326;
  write_file ("t.bin", header, 1028);
  assert_rejected ("tokens", "t.bin", 1, LIG_ERROR_FORMAT, "begins with 20240326");
}

static LigDataset *
open_synthetic (const char *spec, LigDtype dtype, gint64 batch, guint64 seed)
{
  g_autoptr (GError) error = NULL;
  LigShape shape;
  lig_shape_init (&shape, 3, batch, (gint64) 5, (gint64) 50);
  LigDataset *data = lig_dataset_open (spec, &shape, dtype, 0, seed, &error);
  g_assert_no_error (error);
  return data;
}

static void
test_synthetic (void)
{
  LigTarget values = make_target (LIG_FP16, 40, 3, 0);
  double sum = 0, squares = 0;
  g_autoptr (LigDataset) data = open_synthetic ("synthetic?samples=200", LIG_FP32, 40, 1);
  g_autoptr (LigDataset) other = open_synthetic ("synthetic?samples=200", LIG_FP32, 40, 2);
  g_autoptr (LigTensor) input = make_input (data), targets = make_targets (values);
  g_autoptr (LigTensor) input2 = make_input (data);
  bind (data, values);
  g_assert_cmpint (lig_dataset_get_samples (data), ==, 180);
  g_assert_cmpint (lig_dataset_get_validation_batches (data), ==, 1);
  next (data, input, targets);
  next (other, input2, NULL);
  g_assert_cmpint (memcmp (input->data, input2->data, lig_tensor_bytes (input)), !=, 0);
  for (gint64 i = 0; i < input->size; i++) {
    sum += lig_tensor_get (input, i);
    squares += pow (lig_tensor_get (input, i), 2);
  }
  g_assert_cmpfloat_with_epsilon (sum / (double) input->size, 0, 0.04);
  g_assert_cmpfloat_with_epsilon (squares / (double) input->size, 1, 0.06);
  /* All 200 samples differ, so no validation sample is also used for training. */
  g_autoptr (GHashTable) seen = g_hash_table_new (g_int_hash, g_int_equal);
  g_autofree int *firsts = g_new (int, 200);
  lig_dataset_seek (data, 0);
  for (int i = 0; i < 200; i++) {
    if (i % 40 == 0 && i < 160)
      next (data, input, NULL);
    if (i == 160)
      g_assert_cmpint (validation (data, 0, input, NULL), ==, 20);
    memcpy (&firsts[i], (float *) input->data + i % 40 * 250, sizeof (float));
    g_assert_cmpint (g_hash_table_add (seen, &firsts[i]), ==, i < 180);
  }
}

static void
test_synthetic_integers (void)
{
  LigTarget target = make_target (LIG_INT32, 40, 0, 3);
  g_autoptr (GError) error = NULL;
  g_autoptr (LigDataset) data = open_synthetic ("synthetic?vocabulary=7", LIG_INT32, 40, 1);
  g_autoptr (LigTensor) input = make_input (data), targets = make_targets (target);
  int counts[7] = {0}, classes[3] = {0};
  g_assert_cmpint (lig_dataset_get_largest_token (data), ==, 6);
  bind (data, target);
  next (data, input, targets);
  for (gint64 i = 0; i < input->size; i++)
    counts[integer (input, i)]++;
  for (gint64 i = 0; i < targets->size; i++)
    classes[integer (targets, i)]++;
  for (int i = 0; i < 7; i++)
    g_assert_cmpint (counts[i], >, 1000);
  for (int i = 0; i < 3; i++)
    g_assert_cmpint (classes[i], >, 3);
  LigShape shape;
  lig_shape_init (&shape, 1, (gint64) 5);
  g_assert_null (lig_dataset_open ("synthetic?samples=0", &shape, LIG_FP32, 0, 0, &error));
  assert_error_has (error, LIG_ERROR_VALUE, "samples is '0'");
  g_clear_error (&error);
  g_assert_null (lig_dataset_open ("synthetic", &shape, LIG_BOOL, 0, 0, &error));
  assert_error_has (error, LIG_ERROR_DTYPE, "bool");
}

typedef struct {
  char *path;
  int stop;
} Writer;

/* Shrinks and grows a file repeatedly until it is stopped. */
static gpointer
keep_writing (gpointer data)
{
  Writer *writer = data;
  for (int i = 0; !g_atomic_int_get (&writer->stop); i++)
    g_assert_cmpint (truncate (writer->path, i % 2 ? 64 << 20 : 48 << 20), ==, 0);
  return NULL;
}

/* Each kind rejects a file that changes while it is read, and none crashes. */
static void
test_changing (void)
{
  static const char *const kinds[] = {"text", "csv", "tokens", "idx"};
  g_autofree char *path = in_folder ("changing");
  Writer writer = {.path = path};
  guint rejected = 0;
  g_autofree char *bytes = g_strnfill (64 << 20, '7');
  LigShape shape;
  lig_shape_init (&shape, 2, (gint64) 2, (gint64) 3);
  g_assert_true (g_file_set_contents (path, bytes, 64 << 20, NULL));
  GThread *thread = g_thread_new ("writer", keep_writing, &writer);
  for (guint i = 0; i < 4 * G_N_ELEMENTS (kinds); i++) {
    g_autofree char *spec = g_strconcat (kinds[i % G_N_ELEMENTS (kinds)], ":", path, NULL);
    g_autoptr (GError) error = NULL;
    g_autoptr (LigDataset) data = lig_dataset_open (spec, &shape, LIG_INT32, 0, 0, &error);
    g_assert_true (data || error);
    rejected += error && strstr (error->message, "while it was read") != NULL;
  }
  g_atomic_int_set (&writer.stop, 1);
  g_thread_join (thread);
  g_assert_cmpuint (rejected, >=, 8);
}

/* Files of the same size with different bytes have different content hashes. */
static void
test_content (void)
{
  guint64 contents[3];
  for (guint i = 0; i < 3; i++) {
    LigShape shape;
    lig_shape_init (&shape, 2, (gint64) 2, (gint64) 3);
    write_text ("same.txt", i == 1 ? "zyxwvutsrqponmlkjihgfedcba" : "abcdefghijklmnopqrstuvwxyz");
    g_autofree char *spec = g_strdup_printf ("text:%s/same.txt", folder);
    g_autoptr (LigDataset) data = lig_dataset_open (spec, &shape, LIG_INT32, 0, 0, NULL);
    contents[i] = lig_dataset_get_content (data);
  }
  g_assert_cmpuint (contents[0], !=, contents[1]);
  g_assert_cmpuint (contents[0], ==, contents[2]);
}

int
main (int argc, char *argv[])
{
  start_tests (&argc, &argv);
  g_test_add_func ("/dataset/spec", test_spec);
  g_test_add_func ("/dataset/batch", test_batch);
  g_test_add_func ("/dataset/epochs", test_epochs);
  g_test_add_func ("/dataset/shuffled", test_shuffled);
  g_test_add_func ("/dataset/resume", test_resume);
  g_test_add_func ("/dataset/tensors", test_tensors);
  g_test_add_func ("/dataset/cut", test_cut);
  g_test_add_func ("/dataset/windows", test_windows);
  g_test_add_func ("/dataset/windows/validation", test_validation_windows);
  g_test_add_func ("/dataset/changing", test_changing);
  g_test_add_func ("/dataset/content", test_content);
  g_test_add_func ("/dataset/text/folder", test_text_folder);
  g_test_add_func ("/dataset/text/bad", test_text_bad);
  g_test_add_func ("/dataset/tokens/bad", test_tokens_bad);
  g_test_add_func ("/dataset/synthetic", test_synthetic);
  g_test_add_func ("/dataset/synthetic/integers", test_synthetic_integers);
  return finish_tests ();
}
