/* SPDX-License-Identifier: MIT */
/* Datasets: batches hold what the files hold, an epoch is a permutation, nothing crosses the cut,
 * a position continues identically, and bad data are refused with file, line or offset. */
#include "engine/dataset.h"

#include <glib/gstdio.h>

#include <math.h>
#include <string.h>
#include <unistd.h>

static char *folder;

static char *
in_folder (const char *name)
{
  return g_build_filename (folder, name, NULL);
}

static void
write_file (const char *name, gconstpointer content, gsize length)
{
  g_autofree char *path = in_folder (name);
  g_autoptr (GError) error = NULL;
  g_file_set_contents (path, content, (gssize) length, &error);
  g_assert_no_error (error);
}

static void
write_text (const char *name, const char *text)
{
  write_file (name, text, strlen (text));
}

/* KIND:FOLDER/REST, opened for the shape `batch` or `batch x length`. */
static LigDataset *
try_open (const char *kind, const char *rest, gint64 batch, gint64 length, GError **error)
{
  g_autofree char *spec = g_strdup_printf ("%s:%s/%s", kind, folder, rest);
  LigShape shape;
  lig_shape_init (&shape, length > 0 ? 2 : 1, batch, length);
  return lig_dataset_open (spec, &shape, LIG_FP32, 0, 7, error);
}

static LigDataset *
open_data (const char *kind, const char *rest, gint64 batch, gint64 length)
{
  g_autoptr (GError) error = NULL;
  LigDataset *data = try_open (kind, rest, batch, length, &error);
  g_assert_no_error (error);
  return data;
}

static void
assert_error_has (GError *error, int code, const char *words)
{
  g_assert_error (error, LIG_ERROR, code);
  if (!strstr (error->message, words))
    g_test_fail_printf ("'%s' lacks '%s'", error->message, words);
  g_assert_cmpint (error->message[strlen (error->message) - 1], !=, '.');
}

static void
assert_refused (const char *kind, const char *rest, gint64 length, int code, const char *words)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigDataset) data = try_open (kind, rest, 2, length, &error);
  g_assert_null (data);
  assert_error_has (error, code, words);
}

static LigTarget
make_target (LigDtype dtype, gint64 rows, gint64 columns, gint64 classes)
{
  LigTarget target = {.dtype = dtype, .classes = classes};
  lig_shape_init (&target.shape, columns > 0 ? 2 : 1, rows, columns);
  return target;
}

static void
assert_bind_refused (LigDataset *data, LigTarget target, int code, const char *words)
{
  g_autoptr (GError) error = NULL;
  g_assert_false (lig_dataset_bind (data, &target, &error));
  assert_error_has (error, code, words);
}

static void
bind (LigDataset *data, LigTarget target)
{
  g_autoptr (GError) error = NULL;
  lig_dataset_bind (data, &target, &error);
  g_assert_no_error (error);
}

static LigTensor *
make_input (LigDataset *data)
{
  LigShape shape;
  LigDtype dtype;
  lig_dataset_get_input (data, &shape, &dtype);
  return lig_tensor_new (dtype, &shape, NULL);
}

static LigTensor *
make_targets (LigTarget target)
{
  return lig_tensor_new (target.dtype, &target.shape, NULL);
}

static void
next (LigDataset *data, LigTensor *input, LigTensor *targets)
{
  g_autoptr (GError) error = NULL;
  lig_dataset_next (data, input, targets, &error);
  g_assert_no_error (error);
}

static gint64
held_out (LigDataset *data, gint64 batch, LigTensor *input, LigTensor *targets)
{
  g_autoptr (GError) error = NULL;
  gint64 valid = -1;
  lig_dataset_held_out (data, batch, input, targets, &valid, &error);
  g_assert_no_error (error);
  return valid;
}

static gint32
integer (LigTensor *tensor, gint64 i)
{
  g_assert_cmpint (tensor->dtype, ==, LIG_INT32);
  return ((gint32 *) tensor->data)[i];
}

/* ---- spec ---- */

static void
test_spec (void)
{
  static const struct {
    const char *kind, *rest;
    int code;
    const char *words;
  } bad[] = {
    {"picture", "a.txt", LIG_ERROR_FORMAT, "text, tokens, csv, idx, synthetic"},
    {"text", "a.txt?color=1", LIG_ERROR_VALUE, "no option 'color'"},
    {"text", "a.txt?held-out=1", LIG_ERROR_VALUE, "held-out is '1'"},
    {"text", "a.txt?held-out=nan", LIG_ERROR_VALUE, "held-out is 'nan'"},
    {"text", "a.txt?held-out=", LIG_ERROR_VALUE, "held-out is ''"},
    {"text", "a.txt?held-out=0&held-out=0", LIG_ERROR_VALUE, "given twice"},
    {"text", "a.txt?held-out=0&", LIG_ERROR_FORMAT, "no value"},
    {"text", "none.txt", LIG_ERROR_FILE, "cannot open"},
    {"synthetic", "a.txt", LIG_ERROR_FORMAT, "takes no path"},
  };
  g_autoptr (GError) error = NULL;
  g_autofree char *path = in_folder ("a.txt");
  LigShape shape;
  lig_shape_init (&shape, 2, (gint64) 2, (gint64) 3);
  write_text ("a.txt", "abcdefghijklmnopqrstuvwxyz");
  for (gsize i = 0; i < G_N_ELEMENTS (bad); i++)
    assert_refused (bad[i].kind, bad[i].rest, 3, bad[i].code, bad[i].words);
  g_assert_null (lig_dataset_open (path, &shape, LIG_INT32, 0, 0, &error));
  g_autofree char *suggestion = g_strdup_printf ("text:%s", path);
  assert_error_has (error, LIG_ERROR_FORMAT, suggestion);
  g_clear_error (&error);
  g_assert_null (lig_dataset_open ("text", &shape, LIG_INT32, 0, 0, &error));
  assert_error_has (error, LIG_ERROR_FORMAT, "text:PATH");
  g_clear_error (&error);
  g_assert_null (lig_dataset_open ("", &shape, LIG_INT32, 0, 0, &error));
  assert_error_has (error, LIG_ERROR_FORMAT, "KIND");
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

/* ---- order ---- */

static void
test_epochs (void)
{
  LigTarget target = make_target (LIG_FP32, 7, 1, 0);
  for (gint64 count = 1; count <= 70; count += 3) {
    g_autoptr (GString) text = g_string_new (NULL);
    for (gint64 i = 0; i < count; i++)
      g_string_append_printf (text, "%d,0\n", (int) i);
    write_text ("order.csv", text->str);
    g_autoptr (LigDataset) data = open_data ("csv", "order.csv?held-out=0", 7, 0);
    g_autoptr (LigTensor) input = make_input (data), targets = make_targets (target);
    g_autofree gint64 *seen = g_new0 (gint64, count);
    bind (data, target);
    g_assert_cmpint (lig_dataset_get_samples (data), ==, count);
    g_assert_cmpint (lig_dataset_get_held_out_batches (data), ==, 0);
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
  g_autofree char *spec = g_strdup_printf ("csv:%s/order.csv?held-out=0", folder);
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
  g_autoptr (LigDataset) data = open_data ("text", "a.txt?held-out=0.3", 3, 5);
  g_autoptr (LigDataset) resumed = open_data ("text", "a.txt?held-out=0.3", 3, 5);
  g_autoptr (LigTensor) input = make_input (data), targets = make_targets (target);
  g_autoptr (LigTensor) input2 = make_input (data), targets2 = make_targets (target);
  bind (data, target);
  bind (resumed, target);
  for (int batch = 0; batch < 60; batch++) {
    lig_dataset_seek (resumed, lig_dataset_get_position (data));
    if (batch % 3 == 0)
      held_out (data, 0, input, targets);
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
  assert_error_has (error, LIG_ERROR_SHAPE, "before a loss");
  bind (data, target);
  g_clear_error (&error);
  g_assert_false (lig_dataset_next (data, other_type, targets, &error));
  assert_error_has (error, LIG_ERROR_DTYPE, "is fp32, expected int32");
  g_clear_error (&error);
  g_assert_false (lig_dataset_next (data, input, other_size, &error));
  assert_error_has (error, LIG_ERROR_SHAPE, "3x4, expected 3x5");
  g_clear_error (&error);
  g_assert_false (lig_dataset_held_out (data, 9, input, targets, NULL, &error));
  assert_error_has (error, LIG_ERROR_INDEX, "no held-out batch 9");
  g_assert_cmpuint (lig_dataset_get_position (data), ==, 0);
}

/* ---- text and tokens ---- */

/* The tokens are their own positions, so that every target tells where it comes from. */
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
test_held_out_windows (void)
{
  LigTarget all = make_target (LIG_INT32, 16, 4, 1000), one = make_target (LIG_INT32, 16, 0, 1000);
  write_positions ("positions.bin", 1000);
  g_autoptr (LigDataset) data = open_data ("tokens", "positions.bin", 16, 4);
  g_autoptr (LigTensor) input = make_input (data), targets = make_targets (all);
  bind (data, all);
  /* 100 tokens: 24 windows in batches of 16 and 8. */
  g_assert_cmpint (lig_dataset_get_held_out_batches (data), ==, 2);
  g_assert_cmpint (held_out (data, 0, input, targets), ==, 16);
  g_assert_cmpint (integer (input, 0), ==, 900);
  g_assert_cmpint (integer (targets, 63), ==, 964);
  g_assert_cmpint (held_out (data, 1, input, targets), ==, 8);
  g_assert_cmpint (integer (input, 0), ==, 964);
  g_assert_cmpint (integer (targets, 31), ==, 996);
  g_assert_cmpint (integer (input, 32), ==, 900);
  for (gint64 i = 32; i < 64; i++)
    g_assert_cmpint (integer (targets, i), ==, -100);
  bind (data, one);
  g_assert_cmpint (lig_dataset_get_held_out_batches (data), ==, 6);
  g_autoptr (LigTensor) single = make_targets (one);
  g_assert_cmpint (held_out (data, 5, input, single), ==, 16);
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
    {1000, "", 900},       {30, "", 27},
    {182, "", 163},        {1000, "?held-out=0.5", 500},
    {6, "?held-out=0", 6}, {100, "?held-out=0.333", 66},
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
  assert_refused ("text", "empty", 4, LIG_ERROR_FORMAT, "no file");
  if (geteuid () != 0) {
    g_autofree char *locked = in_folder ("corpus/a");
    g_assert_cmpint (g_chmod (locked, 0), ==, 0);
    assert_refused ("text", "corpus", 4, LIG_ERROR_FILE, "corpus/a");
  }
}

static void
test_text_bad (void)
{
  write_text ("none", "");
  write_text ("short", "abcde");
  write_text ("a.txt", "abcdefghij~klmnopqrs");
  assert_refused ("text", "none", 4, LIG_ERROR_FORMAT, "is empty");
  assert_refused ("text", "short", 4, LIG_ERROR_SHAPE, "4 tokens for training");
  assert_refused ("text", "a.txt", 0, LIG_ERROR_SHAPE, "BATCHxLENGTH");
  g_autoptr (LigDataset) data = open_data ("text", "a.txt", 2, 4);
  assert_bind_refused (data, make_target (LIG_FP32, 2, 4, 0), LIG_ERROR_DTYPE, "wants fp32 values");
  assert_bind_refused (data, make_target (LIG_INT32, 2, 3, 256), LIG_ERROR_SHAPE, "3 targets");
  assert_bind_refused (data, make_target (LIG_INT32, 3, 0, 256), LIG_ERROR_SHAPE, "the batch of 2");
  assert_bind_refused (data, make_target (LIG_INT32, 2, 4, 126), LIG_ERROR_VALUE,
                       "token 126 at offset 10");
  assert_bind_refused (data, make_target (LIG_INT32, 2, 4, 0), LIG_ERROR_VALUE, "at least 1");
  assert_bind_refused (data, make_target (LIG_FP32, 2, 4, 3), LIG_ERROR_VALUE, "3 classes");
  assert_bind_refused (data, make_target (LIG_UINT8, 2, 4, 3), LIG_ERROR_DTYPE, "uint8");
  bind (data, make_target (LIG_INT32, 2, 4, 127));
}

static void
test_tokens_bad (void)
{
  gint32 header[257] = {20240520, 1, 2};
  header[256] = 5;
  write_file ("t.bin", header, 1020);
  assert_refused ("tokens", "t.bin", 1, LIG_ERROR_FORMAT, "has 1020 bytes");
  write_file ("t.bin", header, 1027);
  assert_refused ("tokens", "t.bin", 1, LIG_ERROR_FORMAT, "which are 4 bytes, 3 follow");
  header[2] = 1;
  write_file ("t.bin", header, 1028);
  assert_refused ("tokens", "t.bin", 1, LIG_ERROR_FORMAT, "which are 2 bytes, 4 follow");
  header[2] = -1;
  write_file ("t.bin", header, 1028);
  assert_refused ("tokens", "t.bin", 1, LIG_ERROR_FORMAT, "claims -1 tokens");
  header[1] = 2;
  write_file ("t.bin", header, 1028);
  assert_refused ("tokens", "t.bin", 1, LIG_ERROR_FORMAT, "version 2, expected 1");
  header[0] = 20240801;
  write_file ("t.bin", header, 1028);
  assert_refused ("tokens", "t.bin", 1, LIG_ERROR_FORMAT, "begins with 20240801");
}

/* ---- csv ---- */

static void
assert_table (const char *text, const char *options, const float *rows, gint64 features, int count)
{
  g_autofree char *rest = g_strconcat ("t.csv?held-out=0", options, NULL);
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

/* Numbers of every length are read as strtod reads them. */
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
  g_autoptr (LigDataset) data = open_data ("csv", "t.csv?target=c,a&held-out=0", 2, 0);
  assert_bind_refused (data, one, LIG_ERROR_SHAPE, "1 features per row, the targets have 2");
  assert_bind_refused (data, make_target (LIG_INT32, 2, 0, 5), LIG_ERROR_SHAPE, "2 target columns");
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
    g_autoptr (LigDataset) data = open_data ("csv", "t.csv?held-out=0", 4, 0);
    bind (data, three);
    g_autoptr (LigTensor) input = make_input (data), targets = make_targets (three);
    next (data, input, targets);
    for (gint64 i = 0; i < 4; i++)
      g_assert_cmpint (integer (targets, i), ==, classes[(int) lig_tensor_get (input, i)]);
    assert_bind_refused (data, make_target (LIG_INT32, 4, 0, 2), LIG_ERROR_VALUE,
                         "t.csv:3: class 2 is beyond the prediction's 2 classes");
    assert_bind_refused (data, make_target (LIG_INT32, 4, 2, 3), LIG_ERROR_SHAPE, "1 class");
    if (text)
      assert_bind_refused (data, values, LIG_ERROR_DTYPE, "t.csv:2: the target is text");
    else
      bind (data, values);
  }
  g_autoptr (LigDataset) only_classes = open_data ("csv", "t.csv?task=class", 4, 0);
  assert_bind_refused (only_classes, values, LIG_ERROR_DTYPE, "text");
  write_text ("t.csv", "x,y\n0,0\n1,2\n2,-1\n3,0\n");
  g_autoptr (LigDataset) negative = open_data ("csv", "t.csv", 4, 0);
  assert_bind_refused (negative, three, LIG_ERROR_VALUE, "t.csv:4: the target is -1");
  g_autoptr (LigDataset) task = open_data ("csv", "t.csv?task=class", 4, 0);
  assert_bind_refused (task, values, LIG_ERROR_DTYPE, "task=class");
  g_autoptr (LigDataset) value = open_data ("csv", "t.csv?task=value", 4, 0);
  assert_bind_refused (value, three, LIG_ERROR_DTYPE, "task=value");
}

static void
test_csv_held_out (void)
{
  g_autoptr (GString) text = g_string_new (NULL);
  LigTarget target = make_target (LIG_INT32, 4, 0, 50), values = make_target (LIG_FP32, 4, 1, 0);
  for (int i = 0; i < 50; i++)
    g_string_append_printf (text, "%d,%d\n", i, i);
  write_text ("t.csv", text->str);
  g_autoptr (LigDataset) data = open_data ("csv", "t.csv", 4, 0);
  g_assert_cmpstr (lig_dataset_describe (data), ==,
                   "csv: 50 rows of 1 features and 1 target, 45 for training");
  g_assert_cmpint (lig_dataset_get_largest_token (data), ==, -1);
  g_autoptr (LigTensor) input = make_input (data), targets = make_targets (target);
  g_autoptr (LigTensor) floats = make_targets (values);
  bind (data, target);
  for (int i = 0; i < 30; i++) {
    next (data, input, targets);
    for (gint64 row = 0; row < 4; row++)
      g_assert_cmpint (integer (targets, row), <, 45);
  }
  g_assert_cmpint (lig_dataset_get_held_out_batches (data), ==, 2);
  g_assert_cmpint (held_out (data, 1, input, targets), ==, 1);
  g_assert_cmpint (integer (targets, 0), ==, 49);
  for (gint64 row = 1; row < 4; row++)
    g_assert_cmpint (integer (targets, row), ==, -100);
  bind (data, values);
  g_assert_cmpint (held_out (data, 1, input, floats), ==, 1);
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
  g_autoptr (LigDataset) data = open_data ("csv", "t.csv?standardize=true", 18, 0);
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
    {"a,b\n1,2\n\n1\n", "", LIG_ERROR_FORMAT, "t.csv:4: has 1 fields"},
    {"a,b\n\"1\n\",2\n1,x,3\n", "", LIG_ERROR_FORMAT, "t.csv:4: has 3 fields"},
    {"a,b\n1,2\nx,2\n", "", LIG_ERROR_FORMAT, "t.csv:3: column 1 (a) is 'x', expected a number"},
    {"a,b\n1,2\n0x10,2\n", "", LIG_ERROR_FORMAT, "'0x10', expected a number"},
    {"a,b\n1,2\n,2\n", "", LIG_ERROR_FORMAT, "t.csv:3: column 1 (a) is empty"},
    {"a,b\n1,2\n2,\n", "", LIG_ERROR_FORMAT, "t.csv:3: column 2 (b) is empty"},
    {"a,b\n1,2\nnan,2\n", "", LIG_ERROR_FORMAT, "'nan', expected a finite number"},
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
    assert_refused ("csv", rest, 0, bad[i].code, bad[i].words);
  }
  write_file ("t.csv", "a,b\n1,2\0\n", 9);
  assert_refused ("csv", "t.csv", 0, LIG_ERROR_FORMAT, "byte 7 is 0");
}

/* ---- idx ---- */

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
  g_autoptr (LigDataset) data = open_data ("idx", "train-images-idx3-ubyte", 2, 0);
  g_assert_cmpstr (lig_dataset_describe (data), ==, "idx: 10 images of 2x3, 9 for training");
  g_autoptr (LigTensor) input = make_input (data), targets = make_targets (target);
  g_assert_cmpint (input->shape.axes[1], ==, 6);
  assert_bind_refused (data, make_target (LIG_INT32, 2, 0, 9), LIG_ERROR_VALUE,
                       "label 9 of image 9");
  assert_bind_refused (data, make_target (LIG_FP32, 2, 6, 0), LIG_ERROR_DTYPE, "gives classes");
  bind (data, target);
  for (int i = 0; i < 20; i++) {
    next (data, input, targets);
    for (gint64 j = 0; j < 12; j++)
      g_assert_true (((float *) input->data)[j] ==
                     (float) (6 * integer (targets, j / 6) + (int) (j % 6)) / 255.0f);
  }
  g_assert_cmpint (held_out (data, 0, input, targets), ==, 1);
  g_assert_cmpint (integer (targets, 0), ==, 9);
  g_assert_cmpint (integer (targets, 1), ==, -100);
}

static void
test_idx_bad (void)
{
  write_idx ("other", 0x803, 10, 60);
  write_idx ("labels", 0x801, 10, 10);
  g_autofree char *labels = g_strdup_printf ("other?labels=%s/labels", folder);
  g_autoptr (LigDataset) data = open_data ("idx", labels, 2, 0);
  assert_refused ("idx", "other", 0, LIG_ERROR_FORMAT, "labels=PATH");
  write_idx ("labels", 0x801, 11, 11);
  assert_refused ("idx", labels, 0, LIG_ERROR_SHAPE, "11 labels for 10 images");
  write_idx ("labels", 0x801, 10, 9);
  assert_refused ("idx", labels, 0, LIG_ERROR_FORMAT, "claims 10 bytes, 9 follow");
  write_idx ("labels", 0x803, 10, 60);
  assert_refused ("idx", labels, 0, LIG_ERROR_FORMAT, "0x00000803, expected 0x00000801");
  write_idx ("other", 0x803, 10, 59);
  assert_refused ("idx", "other", 0, LIG_ERROR_FORMAT, "claims 60 bytes, 59 follow");
  write_idx ("other", 0x803, 0, 0);
  assert_refused ("idx", "other", 0, LIG_ERROR_SHAPE, "axis 0 has length 0");
  write_idx ("other", 0xd03, 10, 60);
  assert_refused ("idx", "other", 0, LIG_ERROR_FORMAT, "0x00000d03, expected 0x00000803");
  write_file ("other", "\0\0\x8\3\0\0\0\1\0\0", 10);
  assert_refused ("idx", "other", 0, LIG_ERROR_FORMAT, "has 10 bytes");
  write_file ("other", "\0\0\x8\3\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 16);
  assert_refused ("idx", "other", 0, LIG_ERROR_SHAPE, "too much");
  write_file ("other", "\x1f\x8b\x8\0", 4);
  assert_refused ("idx", "other", 0, LIG_ERROR_FORMAT, "compressed");
  write_file ("other", "", 0);
  assert_refused ("idx", "other", 0, LIG_ERROR_FORMAT, "has 0 bytes");
}

/* ---- synthetic ---- */

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
  g_assert_cmpint (lig_dataset_get_held_out_batches (data), ==, 1);
  next (data, input, targets);
  next (other, input2, NULL);
  g_assert_cmpint (memcmp (input->data, input2->data, lig_tensor_bytes (input)), !=, 0);
  for (gint64 i = 0; i < input->size; i++) {
    sum += lig_tensor_get (input, i);
    squares += pow (lig_tensor_get (input, i), 2);
  }
  g_assert_cmpfloat_with_epsilon (sum / (double) input->size, 0, 0.04);
  g_assert_cmpfloat_with_epsilon (squares / (double) input->size, 1, 0.06);
  /* All 200 samples differ: the held-out ones are none of those for training. */
  g_autoptr (GHashTable) seen = g_hash_table_new (g_int_hash, g_int_equal);
  g_autofree int *firsts = g_new (int, 200);
  lig_dataset_seek (data, 0);
  for (int i = 0; i < 200; i++) {
    if (i % 40 == 0 && i < 160)
      next (data, input, NULL);
    if (i == 160)
      g_assert_cmpint (held_out (data, 0, input, NULL), ==, 20);
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

static void
remove_tree (const char *path)
{
  if (g_file_test (path, G_FILE_TEST_IS_DIR) && !g_file_test (path, G_FILE_TEST_IS_SYMLINK)) {
    g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
    const char *name;
    while ((name = g_dir_read_name (dir))) {
      g_autofree char *inner = g_build_filename (path, name, NULL);
      remove_tree (inner);
    }
  }
  g_remove (path);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  folder = g_dir_make_tmp ("ligature-XXXXXX", NULL);
  g_test_add_func ("/dataset/spec", test_spec);
  g_test_add_func ("/dataset/batch", test_batch);
  g_test_add_func ("/dataset/epochs", test_epochs);
  g_test_add_func ("/dataset/shuffled", test_shuffled);
  g_test_add_func ("/dataset/resume", test_resume);
  g_test_add_func ("/dataset/tensors", test_tensors);
  g_test_add_func ("/dataset/cut", test_cut);
  g_test_add_func ("/dataset/windows", test_windows);
  g_test_add_func ("/dataset/windows/held-out", test_held_out_windows);
  g_test_add_func ("/dataset/text/folder", test_text_folder);
  g_test_add_func ("/dataset/text/bad", test_text_bad);
  g_test_add_func ("/dataset/tokens/bad", test_tokens_bad);
  g_test_add_func ("/dataset/csv/forms", test_csv);
  g_test_add_func ("/dataset/csv/numbers", test_csv_numbers);
  g_test_add_func ("/dataset/csv/targets", test_csv_targets);
  g_test_add_func ("/dataset/csv/classes", test_csv_classes);
  g_test_add_func ("/dataset/csv/held-out", test_csv_held_out);
  g_test_add_func ("/dataset/csv/standardize", test_csv_standardize);
  g_test_add_func ("/dataset/csv/bad", test_csv_bad);
  g_test_add_func ("/dataset/idx", test_idx);
  g_test_add_func ("/dataset/idx/bad", test_idx_bad);
  g_test_add_func ("/dataset/synthetic", test_synthetic);
  g_test_add_func ("/dataset/synthetic/integers", test_synthetic_integers);
  int status = g_test_run ();
  remove_tree (folder);
  g_free (folder);
  return status;
}
