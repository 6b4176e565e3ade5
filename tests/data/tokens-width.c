/* SPDX-License-Identifier: MIT */
/* The width of tokens in files without a header: of vocabularies of all sizes, and of files that
 * were cut off. */
#include <ligature/dataset.h>

#include <glib/gstdio.h>
#include <string.h>

static char *folder;

static char *
write_tokens (gsize width, guint32 first, guint32 step, guint count, gsize cut)
{
  g_autoptr (GError) error = NULL;
  g_autofree guint8 *bytes = g_malloc0 (width * count);
  for (guint i = 0; i < count; i++) {
    guint64 token = first + i * step;
    memcpy (bytes + i * width, &token, width);
  }
  char *path = g_build_filename (folder, "plain.bin", NULL);
  g_file_set_contents (path, (const char *) bytes, (gssize) (width * count - cut), &error);
  g_assert_no_error (error);
  return path;
}

static LigDataset *
open_tokens (const char *path, const char *rest, GError **error)
{
  g_autofree char *spec = g_strdup_printf ("tokens:%s?validation=0%s", path, rest);
  LigShape shape;
  lig_shape_init (&shape, 2, (gint64) 1, (gint64) 8);
  return lig_dataset_open (spec, &shape, LIG_INT32, 1, 1, error);
}

/* Vocabularies of GPT-2, of Llama 2 and 3, of bytes, and of a million. */
static void
test_vocabularies (void)
{
  static const struct {
    gsize width;
    guint32 first, step;
    const char *read;
  } cases[] = {
    {2, 0, 97, "uint16"},     {2, 31000, 1, "uint16"},  {2, 0, 1, "uint16"},
    {4, 0, 97, "uint32"},     {4, 31000, 1, "uint32"},  {4, 1, 1, "uint32"},
    {4, 127000, 1, "uint32"}, {4, 60000, 97, "uint32"}, {4, 900000, 97, "uint32"},
    {8, 1, 97, "int64"},      {8, 127000, 1, "int64"},
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;
    g_autofree char *path = write_tokens (cases[i].width, cases[i].first, cases[i].step, 512, 0);
    g_autofree char *end = g_strconcat ("; without a header, read as ", cases[i].read, NULL);
    g_autoptr (LigDataset) data = open_tokens (path, "", &error);
    g_assert_no_error (error);
    if (!g_str_has_suffix (lig_dataset_describe (data), end))
      g_error ("case %u: %s", i, lig_dataset_describe (data));
    g_assert_cmpint (lig_dataset_get_largest_token (data), ==,
                     cases[i].first + 511 * cases[i].step);
  }
}

/* A file of uint32 that was cut off is rejected, not read as twice as many tokens; a type that is
 * given is not guessed. */
static void
test_cut (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = write_tokens (4, 1000, 7, 512, 2);
  g_assert_null (open_tokens (path, "", &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_FORMAT);
  g_assert_nonnull (
    strstr (error->message, "ends at byte 2046, within the last token, a uint32 at byte 2044"));
  g_clear_error (&error);
  g_autoptr (LigDataset) given = open_tokens (path, "&type=uint16", &error);
  g_assert_no_error (error);
  g_autofree char *whole = write_tokens (2, 1000, 7, 511, 0);
  g_autoptr (LigDataset) narrow = open_tokens (whole, "", &error);
  g_assert_no_error (error);
  g_assert_true (g_str_has_suffix (lig_dataset_describe (narrow), "read as uint16"));
}

/* Writes a file of NumPy's: 512 tokens from 1000 on behind a header that ends at a multiple of 64,
 * as NEP 1 says; version 2 has a length of 4 bytes. */
static char *
write_numpy (const char *descr, gsize width, int version)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *text =
    g_strdup_printf ("{'descr': '%s', 'fortran_order': False, 'shape': (512,), }", descr);
  gsize before = version > 1 ? 12 : 10, header = (before + strlen (text) + 64) / 64 * 64 - before;
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  const guint8 magic[] = {0x93, 'N', 'U', 'M', 'P', 'Y', (guint8) version, 0};
  const guint8 length[] = {(guint8) header, (guint8) (header >> 8), 0, 0};
  g_byte_array_append (bytes, magic, sizeof magic);
  g_byte_array_append (bytes, length, (guint) before - 8);
  g_autofree char *padded = g_strdup_printf ("%-*s\n", (int) header - 1, text);
  g_byte_array_append (bytes, (const guint8 *) padded, (guint) header);
  for (guint64 i = 0; i < 512; i++) {
    guint64 token = 1000 + 7 * i;
    g_byte_array_append (bytes, (const guint8 *) &token, (guint) width);
  }
  char *path = g_build_filename (folder, "plain.bin", NULL);
  g_file_set_contents (path, (const char *) bytes->data, bytes->len, &error);
  g_assert_no_error (error);
  return path;
}

/* The header is not read as tokens. */
static void
test_numpy (void)
{
  static const struct {
    const char *descr;
    gsize width;
  } cases[] = {{"<u2", 2}, {"<u4", 4}, {"<i4", 4}, {"<i8", 8}, {"<u8", 8}};
  for (guint i = 0; i < 2 * G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;
    g_autofree char *path = write_numpy (cases[i / 2].descr, cases[i / 2].width, i % 2 ? 2 : 1);
    g_autoptr (LigDataset) data = open_tokens (path, "", &error);
    g_assert_no_error (error);
    g_assert_nonnull (strstr (lig_dataset_describe (data), "512 tokens"));
    g_assert_cmpint (lig_dataset_get_largest_token (data), ==, 1000 + 7 * 511);
    LigShape shape;
    lig_shape_init (&shape, 2, (gint64) 1, (gint64) 8);
    g_autoptr (LigTensor) input = lig_tensor_new (LIG_INT32, &shape, &error);
    const LigTarget target = {.dtype = LIG_INT32, .shape = shape, .classes = 5000};
    g_autoptr (LigTensor) targets = lig_tensor_new (LIG_INT32, &shape, &error);
    g_assert_true (lig_dataset_bind (data, &target, &error));
    g_assert_true (lig_dataset_next (data, input, targets, &error));
    for (int k = 0; k < 8; k++) {
      g_assert_cmpint ((((gint32 *) input->data)[k] - 1000) % 7, ==, 0);
      g_assert_cmpint (((gint32 *) targets->data)[k], ==, ((gint32 *) input->data)[k] + 7);
    }
  }
  g_autoptr (GError) error = NULL;
  g_autofree char *path = write_numpy ("<f4", 4, 1);
  g_assert_null (open_tokens (path, "", &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_FORMAT);
  g_assert_nonnull (strstr (error->message, "astype"));
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  g_test_init (&argc, &argv, NULL);
  folder = g_dir_make_tmp ("tokens-width-XXXXXX", &error);
  g_assert_no_error (error);
  g_test_add_func ("/tokens-width/vocabularies", test_vocabularies);
  g_test_add_func ("/tokens-width/cut", test_cut);
  g_test_add_func ("/tokens-width/numpy", test_numpy);
  int result = g_test_run ();
  g_autofree char *path = g_build_filename (folder, "plain.bin", NULL);
  g_remove (path);
  g_rmdir (folder);
  g_free (folder);
  return result;
}
