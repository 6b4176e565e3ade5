/* SPDX-License-Identifier: MIT */
/* safetensors: saved tensors are read back, files of other programs are read, damaged files are
 * rejected with the right message, and a failed save changes nothing. */
#include "tests/base/folder.h"
#include <ligature/tensor-file.h>

#include <glib/gstdio.h>

#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char *folder;

static char *
in_folder (const char *name)
{
  return g_build_filename (folder, name, NULL);
}

static void
write_file (const char *path, gconstpointer content, gsize length)
{
  g_autoptr (GError) error = NULL;
  g_file_set_contents (path, content, (gssize) length, &error);
  g_assert_no_error (error);
}

/* Writes a file of the given header and a body of `body_size` bytes 0, 1, 2, ... */
static char *
write_raw (const char *header, gsize body_size)
{
  char *path = in_folder ("raw.safetensors");
  guint64 length = strlen (header);
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  g_byte_array_append (bytes, (const guint8 *) &length, sizeof length);
  g_byte_array_append (bytes, (const guint8 *) header, (guint) length);
  for (gsize i = 0; i < body_size; i++)
    g_byte_array_append (bytes, &(guint8){(guint8) i}, 1);
  write_file (path, bytes->data, bytes->len);
  return path;
}

static void
assert_rejected (const char *path, LigError code, const char *words)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigTensorFile) file = lig_tensor_file_load (path, &error);
  g_assert_null (file);
  g_assert_error (error, LIG_ERROR, (int) code);
  if (!strstr (error->message, words))
    g_test_fail_printf ("'%s' lacks '%s'", error->message, words);
  g_assert_cmpint (error->message[strlen (error->message) - 1], !=, '.');
}

static LigTensor *
make_tensor (LigDtype dtype, int n_axes, gint64 a, gint64 b)
{
  LigShape shape;
  g_autoptr (GError) error = NULL;
  lig_shape_init (&shape, n_axes, a, b);
  LigTensor *tensor = lig_tensor_new (dtype, &shape, &error);
  g_assert_no_error (error);
  for (gint64 i = 0; i < tensor->size; i++)
    lig_tensor_set (tensor, i, dtype == LIG_BOOL ? (float) (i % 2) : (float) i - 2);
  return tensor;
}

static void
test_round_trip (void)
{
  g_autofree char *path = in_folder ("all.safetensors");
  g_autoptr (GError) error = NULL;
  g_autoptr (LigTensorFile) written = lig_tensor_file_new ();
  for (int dtype = 0; dtype < LIG_N_DTYPES; dtype++) {
    g_autoptr (LigTensor) tensor = make_tensor ((LigDtype) dtype, 2, 3, 5);
    lig_tensor_file_add (written, lig_dtype_name ((LigDtype) dtype), tensor);
  }
  g_autoptr (LigTensor) scalar = make_tensor (LIG_FP32, 0, 0, 0);
  lig_tensor_file_add (written, "quote\" \\ \n é", scalar);
  lig_tensor_file_set_metadata (written, "sequence", "linear(3) ! \"gelu\"\n");
  lig_tensor_file_set_metadata (written, "gone", "x");
  lig_tensor_file_set_metadata (written, "gone", NULL);
  g_assert_true (lig_tensor_file_save (written, path, &error));
  g_assert_no_error (error);

  g_autoptr (LigTensorFile) read = lig_tensor_file_load (path, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (lig_tensor_file_get_metadata (read, "sequence"), ==, "linear(3) ! \"gelu\"\n");
  g_assert_null (lig_tensor_file_get_metadata (read, "gone"));
  g_assert_cmpuint (g_strv_length ((char **) lig_tensor_file_get_names (read)), ==,
                    LIG_N_DTYPES + 1);
  for (int dtype = 0; dtype < LIG_N_DTYPES; dtype++) {
    const char *name = lig_dtype_name ((LigDtype) dtype);
    g_autoptr (LigTensor) before = lig_tensor_file_get (written, name, &error);
    g_autoptr (LigTensor) after = lig_tensor_file_get (read, name, &error);
    g_assert_no_error (error);
    g_assert_cmpint (after->dtype, ==, dtype);
    g_assert_true (lig_shape_equal (&before->shape, &after->shape));
    g_assert_cmpmem (after->data, lig_tensor_bytes (after), before->data,
                     lig_tensor_bytes (before));
  }
  LigShape shape;
  LigDtype dtype;
  g_assert_true (lig_tensor_file_get_shape (read, "quote\" \\ \n é", &shape, &dtype));
  g_assert_cmpint (shape.n_axes, ==, 0);
  g_assert_cmpint (dtype, ==, LIG_FP32);
}

static void
test_names (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigTensorFile) file = lig_tensor_file_new ();
  g_autoptr (LigTensor) first = make_tensor (LIG_FP32, 1, 2, 0);
  g_autoptr (LigTensor) second = make_tensor (LIG_INT32, 1, 2, 0);
  g_assert_null (*lig_tensor_file_get_names (file));
  lig_tensor_file_add (file, "b", first);
  lig_tensor_file_add (file, "a", first);
  lig_tensor_file_add (file, "b", second);
  const char *const *names = lig_tensor_file_get_names (file);
  g_assert_cmpstr (names[0], ==, "a");
  g_assert_cmpstr (names[1], ==, "b");
  g_assert_null (names[2]);
  g_autoptr (LigTensor) got = lig_tensor_file_get (file, "b", &error);
  g_assert_true (got == second);
  g_assert_true (lig_tensor_file_has (file, "a"));
  g_assert_false (lig_tensor_file_has (file, "c"));
  g_assert_false (lig_tensor_file_get_shape (file, "c", NULL, NULL));
  g_assert_null (lig_tensor_file_get (file, "c", &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_INDEX);
  g_assert_nonnull (strstr (error->message, "'c'"));
}

/* A file as PyTorch writes it: spaces pad the header, and its members are in any order. */
static void
test_foreign (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path =
    write_raw ("{\"__metadata__\":{\"format\":\"pt\"},\"a\":{\"shape\":[2],\"data_offsets\":[4,6],"
               "\"dtype\":\"U8\"},\"b\\u00e9\":{\"dtype\":\"F16\",\"shape\":[1,2],"
               "\"data_offsets\":[0,4]}}     ",
               6);
  g_autoptr (LigTensorFile) file = lig_tensor_file_load (path, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (lig_tensor_file_get_metadata (file, "format"), ==, "pt");
  g_autoptr (LigTensor) bytes = lig_tensor_file_get (file, "a", &error);
  g_assert_cmpmem (bytes->data, 2, "\4\5", 2);
  g_autoptr (LigTensor) halves = lig_tensor_file_get (file, "bé", &error);
  g_assert_cmpmem (halves->data, 4, "\0\1\2\3", 4);
}

static char *
write_one (const char *dtype, gconstpointer data, gsize count, gsize size)
{
  g_autofree char *header = g_strdup_printf ("{\"x\":{\"dtype\":\"%s\",\"shape\":[%" G_GSIZE_FORMAT
                                             "],\"data_offsets\":[0,%" G_GSIZE_FORMAT "]}}",
                                             dtype, count, count * size);
  char *path = write_raw (header, count * size);
  g_autofree char *content = NULL;
  gsize length;
  g_assert_true (g_file_get_contents (path, &content, &length, NULL));
  memcpy (content + length - count * size, data, count * size);
  write_file (path, content, length);
  return path;
}

static void
assert_element_rejected (const char *path, const char *words)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigTensorFile) file = lig_tensor_file_load (path, &error);
  g_assert_no_error (error);
  g_assert_null (lig_tensor_file_get (file, "x", &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_VALUE);
  g_assert_nonnull (strstr (error->message, words));
}

static void
test_wide_types (void)
{
  const gint64 fit[] = {G_MININT32, -1, G_MAXINT32}, beyond[] = {0, G_GINT64_CONSTANT (1) << 31};
  const double values[] = {0.1, -INFINITY}, large[] = {1e300};
  g_autoptr (GError) error = NULL;
  LigDtype dtype;
  g_autofree char *path = write_one ("I64", fit, 3, 8);
  {
    g_autoptr (LigTensorFile) file = lig_tensor_file_load (path, &error);
    g_autoptr (LigTensor) tensor = lig_tensor_file_get (file, "x", &error);
    g_assert_no_error (error);
    g_assert_true (lig_tensor_file_get_shape (file, "x", NULL, &dtype));
    g_assert_cmpint (dtype, ==, LIG_INT32);
    g_assert_cmpint (((gint32 *) tensor->data)[0], ==, G_MININT32);
    g_assert_cmpint (((gint32 *) tensor->data)[2], ==, G_MAXINT32);
  }
  g_free (write_one ("F64", values, 2, 8));
  {
    g_autoptr (LigTensorFile) file = lig_tensor_file_load (path, &error);
    g_autoptr (LigTensor) tensor = lig_tensor_file_get (file, "x", &error);
    g_assert_no_error (error);
    g_assert_cmpint (tensor->dtype, ==, LIG_FP32);
    g_assert_true (((float *) tensor->data)[0] == 0.1f);
    g_assert_true (((float *) tensor->data)[1] == -INFINITY);
  }
  g_free (write_one ("I64", beyond, 2, 8));
  assert_element_rejected (path, "element 1 of tensor 'x' is 2147483648");
  g_free (write_one ("F64", large, 1, 8));
  assert_element_rejected (path, "1e+300");
  g_free (write_one ("BOOL", "\1\7", 2, 1));
  assert_element_rejected (path, "element 1 of tensor 'x' is 7");
}

#define TENSOR(name, dtype, shape, offsets) \
  "\"" name "\":{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":" offsets "}"

static const struct {
  const char *name, *header;
  gsize body;
  LigError code;
  const char *words;
} bad_headers[] = {
  {"empty", "", 0, LIG_ERROR_FORMAT, "not a JSON object"},
  {"array", "[1]", 0, LIG_ERROR_FORMAT, "not a JSON object"},
  {"space-first", " {}", 0, LIG_ERROR_FORMAT, "not a JSON object"},
  {"no-json", "{\"a\":}", 0, LIG_ERROR_FORMAT, "not JSON"},
  {"open", "{\"a\":{", 0, LIG_ERROR_FORMAT, "got the end"},
  {"open-string", "{\"a", 0, LIG_ERROR_FORMAT, "got the end"},
  {"twice-json", "{}{}", 0, LIG_ERROR_FORMAT, "line 1, column 3"},
  {"comment", "{/*\"*/}", 0, LIG_ERROR_FORMAT, "line 1, column 2"},
  {"nul-name", "{" TENSOR ("a\\u0000b", "U8", "[1]", "[0,1]") "}", 1, LIG_ERROR_FORMAT, "U+0000"},
  {"not-utf8", "{\"\xff\":1}", 0, LIG_ERROR_FORMAT, "UTF-8"},
  {"duplicate",
   "{" TENSOR ("a", "U8", "[1]", "[0,1]") "," TENSOR ("b", "U8", "[1]", "[1,2]") "," TENSOR (
     "a", "U8", "[1]", "[0,1]") "}",
   2, LIG_ERROR_FORMAT, "$.a: the key is given twice"},
  {"duplicate-inside",
   "{\"a\":{\"dtype\":\"U8\",\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1,
   LIG_ERROR_FORMAT, "$.a.dtype: the key is given twice"},
  {"number", "{\"a\":1}", 0, LIG_ERROR_FORMAT, "'a' is not described"},
  {"null", "{\"a\":null}", 0, LIG_ERROR_FORMAT, "'a' is not described"},
  {"no-dtype", "{\"a\":{\"shape\":[1],\"data_offsets\":[0,1]}}", 1, LIG_ERROR_FORMAT, "no dtype"},
  {"dtype-number", "{\"a\":{\"dtype\":1,\"shape\":[1],\"data_offsets\":[0,1]}}", 1,
   LIG_ERROR_FORMAT, "no dtype"},
  {"dtype", "{" TENSOR ("a", "C64", "[1]", "[0,8]") "}", 8, LIG_ERROR_DTYPE, "'C64'"},
  {"no-shape", "{\"a\":{\"dtype\":\"U8\",\"data_offsets\":[0,1]}}", 1, LIG_ERROR_FORMAT,
   "no shape"},
  {"shape-text", "{" TENSOR ("a", "U8", "[\"1\"]", "[0,1]") "}", 1, LIG_ERROR_FORMAT,
   "not a whole number"},
  {"shape-float", "{" TENSOR ("a", "U8", "[1.0]", "[0,1]") "}", 1, LIG_ERROR_FORMAT,
   "not a whole number"},
  {"shape-null", "{" TENSOR ("a", "U8", "[null]", "[0,1]") "}", 1, LIG_ERROR_FORMAT,
   "not a whole number"},
  {"zero-axis", "{" TENSOR ("a", "U8", "[2,0]", "[0,1]") "}", 1, LIG_ERROR_FORMAT,
   "takes 0 bytes, its offsets span 1"},
  {"negative-axis", "{" TENSOR ("a", "U8", "[-1]", "[0,1]") "}", 1, LIG_ERROR_SHAPE, "-1"},
  {"nine-axes", "{" TENSOR ("a", "U8", "[1,1,1,1,1,1,1,1,1]", "[0,1]") "}", 1, LIG_ERROR_SHAPE,
   "9 axes"},
  {"overflow", "{" TENSOR ("a", "F32", "[4294967296,4294967296]", "[0,0]") "}", 0, LIG_ERROR_SHAPE,
   "2^63"},
  {"huge-number", "{" TENSOR ("a", "U8", "[99999999999999999999999]", "[0,1]") "}", 1,
   LIG_ERROR_FORMAT, "$.a.shape[0]: 99999999999999999999999 does not fit 64 bits"},
  {"no-offsets", "{\"a\":{\"dtype\":\"U8\",\"shape\":[1]}}", 1, LIG_ERROR_FORMAT,
   "no data_offsets"},
  {"one-offset", "{" TENSOR ("a", "U8", "[1]", "[0]") "}", 1, LIG_ERROR_FORMAT, "no data_offsets"},
  {"negative-offset", "{" TENSOR ("a", "U8", "[1]", "[-1,0]") "}", 1, LIG_ERROR_FORMAT,
   "from -1 to 0"},
  {"descending", "{" TENSOR ("a", "U8", "[1]", "[1,0]") "}", 1, LIG_ERROR_FORMAT, "from 1 to 0"},
  {"beyond", "{" TENSOR ("a", "U8", "[9]", "[0,9]") "}", 8, LIG_ERROR_FORMAT,
   "ends at 9 of a body of 8"},
  {"span", "{" TENSOR ("a", "F32", "[2]", "[0,4]") "}", 4, LIG_ERROR_FORMAT,
   "takes 8 bytes, its offsets span 4"},
  {"overlap", "{" TENSOR ("a", "U8", "[2]", "[0,2]") "," TENSOR ("b", "U8", "[2]", "[1,3]") "}", 3,
   LIG_ERROR_FORMAT, "begins at 1, tensor 'a' ends at 2"},
  {"gap", "{" TENSOR ("a", "U8", "[1]", "[0,1]") "," TENSOR ("b", "U8", "[1]", "[2,3]") "}", 3,
   LIG_ERROR_FORMAT, "begins at 2, tensor 'a' ends at 1"},
  {"gap-first", "{" TENSOR ("a", "U8", "[1]", "[1,2]") "}", 2, LIG_ERROR_FORMAT, "begins at 1"},
  {"trailing", "{" TENSOR ("a", "U8", "[1]", "[0,1]") "}", 5, LIG_ERROR_FORMAT,
   "5 bytes, the tensors take 1"},
  {"metadata", "{\"__metadata__\":[]}", 0, LIG_ERROR_FORMAT, "__metadata__"},
  {"metadata-number", "{\"__metadata__\":{\"a\":1}}", 0, LIG_ERROR_FORMAT, "no text under 'a'"},
};

static void
test_bad_header (gconstpointer data)
{
  gsize i = GPOINTER_TO_SIZE (data);
  g_autofree char *path = write_raw (bad_headers[i].header, bad_headers[i].body);
  assert_rejected (path, bad_headers[i].code, bad_headers[i].words);
}

static void
test_deep (void)
{
  g_autoptr (GString) header = g_string_new ("{\"a\":");
  for (int i = 0; i < 1000000; i++)
    g_string_append_c (header, '[');
  g_autofree char *path = write_raw (header->str, 0);
  assert_rejected (path, LIG_ERROR_FORMAT, "at most 64 levels are allowed");
}

static void
test_bad_file (void)
{
  g_autofree char *path = in_folder ("bad.safetensors");
  g_autofree char *missing = in_folder ("missing.safetensors");
  const guint64 claims[2] = {G_GUINT64_CONSTANT (2) << 30, 0};
  const guint64 all = G_MAXUINT64;
  assert_rejected (missing, LIG_ERROR_FILE, "cannot open");
  assert_rejected (folder, LIG_ERROR_FILE, "is a folder");
  assert_rejected ("/dev/zero", LIG_ERROR_FILE, "a pipe or a device");
  write_file (path, "", 0);
  assert_rejected (path, LIG_ERROR_FORMAT, "has 0 bytes");
  write_file (path, "1234567", 7);
  assert_rejected (path, LIG_ERROR_FORMAT, "has 7 bytes");
  write_file (path, claims, sizeof claims);
  assert_rejected (path, LIG_ERROR_FORMAT, "claims 2147483648 bytes, only 8 follow");
  write_file (path, &all, sizeof all);
  assert_rejected (path, LIG_ERROR_FORMAT, "claims 18446744073709551615 bytes, only 0 follow");
}

/* Every truncated file is rejected, and no changed byte causes a crash. */
static void
test_damage (void)
{
  g_autofree char *path = in_folder ("whole.safetensors"), *damaged = in_folder ("damaged");
  g_autofree char *content = NULL;
  g_autoptr (LigTensorFile) file = lig_tensor_file_new ();
  g_autoptr (LigTensor) tensor = make_tensor (LIG_BF16, 2, 2, 3);
  gsize length;
  lig_tensor_file_add (file, "0.weight", tensor);
  lig_tensor_file_add (file, "0.bias", tensor);
  g_assert_true (lig_tensor_file_save (file, path, NULL));
  g_assert_true (g_file_get_contents (path, &content, &length, NULL));
  for (gsize i = 0; i < length; i++) {
    g_autoptr (GError) error = NULL;
    write_file (damaged, content, i);
    g_autoptr (LigTensorFile) cut = lig_tensor_file_load (damaged, &error);
    g_assert_null (cut);
    g_assert_error (error, LIG_ERROR, LIG_ERROR_FORMAT);
  }
  for (gsize i = 0; i < length; i++) {
    g_autofree char *copy = g_memdup2 (content, length);
    copy[i] ^= (char) (1 << (i % 8));
    write_file (damaged, copy, length);
    g_autoptr (LigTensorFile) changed = lig_tensor_file_load (damaged, NULL);
    const char *const *names = changed ? lig_tensor_file_get_names (changed) : NULL;
    for (; names && *names; names++) {
      g_autoptr (LigTensor) got = lig_tensor_file_get (changed, *names, NULL);
    }
  }
}

/* A loaded file can be changed and saved over itself. */
static void
test_save_over_itself (void)
{
  g_autofree char *path = in_folder ("self.safetensors");
  const gint64 wide[] = {5, 6};
  g_autoptr (GError) error = NULL;
  g_autofree char *raw = write_one ("I64", wide, 2, 8);
  g_assert_cmpint (g_rename (raw, path), ==, 0);
  g_assert_cmpint (g_chmod (path, 0600), ==, 0);
  g_autoptr (LigTensorFile) file = lig_tensor_file_load (path, &error);
  g_autoptr (LigTensor) more = make_tensor (LIG_FP16, 1, 3, 0);
  lig_tensor_file_add (file, "y", more);
  g_assert_true (lig_tensor_file_save (file, path, &error));
  g_assert_no_error (error);
  g_autoptr (LigTensorFile) again = lig_tensor_file_load (path, &error);
  g_assert_no_error (error);
  g_autoptr (LigTensor) x = lig_tensor_file_get (again, "x", &error);
  g_autoptr (LigTensor) y = lig_tensor_file_get (again, "y", &error);
  g_assert_no_error (error);
  g_assert_cmpint (((gint32 *) x->data)[1], ==, 6);
  g_assert_cmpmem (y->data, 6, more->data, 6);
  GStatBuf info;
  g_assert_cmpint (g_stat (path, &info), ==, 0);
  g_assert_cmpint (info.st_mode & 0777, ==, 0600);
}

static void
test_save_link (void)
{
  g_autofree char *target = in_folder ("target.safetensors"), *link = in_folder ("link");
  g_autoptr (LigTensorFile) file = lig_tensor_file_new ();
  g_assert_true (lig_tensor_file_save (file, target, NULL));
  g_assert_cmpint (symlink (target, link), ==, 0);
  lig_tensor_file_set_metadata (file, "a", "b");
  g_assert_true (lig_tensor_file_save (file, link, NULL));
  g_assert_true (g_file_test (link, G_FILE_TEST_IS_SYMLINK));
  g_autoptr (LigTensorFile) read = lig_tensor_file_load (target, NULL);
  g_assert_cmpstr (lig_tensor_file_get_metadata (read, "a"), ==, "b");
}

static guint
count_files (void)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  guint count = 0;
  while (g_dir_read_name (dir))
    count++;
  return count;
}

static void
test_save_fails (void)
{
  g_autofree char *path = in_folder ("old.safetensors"), *nowhere = in_folder ("no/where");
  g_autoptr (GError) error = NULL;
  g_autoptr (LigTensorFile) file = lig_tensor_file_new ();
  g_autoptr (LigTensor) tensor = make_tensor (LIG_FP32, 2, 100, 100);
  struct rlimit before, small = {4096, 0};
  write_file (path, "old", 3);
  lig_tensor_file_add (file, "a", tensor);
  guint count = count_files ();
  g_assert_cmpint (getrlimit (RLIMIT_FSIZE, &before), ==, 0);
  small.rlim_max = before.rlim_max;
  signal (SIGXFSZ, SIG_IGN);
  g_assert_cmpint (setrlimit (RLIMIT_FSIZE, &small), ==, 0);
  gboolean saved = lig_tensor_file_save (file, path, &error);
  g_assert_cmpint (setrlimit (RLIMIT_FSIZE, &before), ==, 0);
  g_assert_false (saved);
  g_assert_error (error, LIG_ERROR, LIG_ERROR_FILE);
  g_autofree char *content = NULL;
  g_assert_true (g_file_get_contents (path, &content, NULL, NULL));
  g_assert_cmpstr (content, ==, "old");
  g_assert_cmpuint (count_files (), ==, count);

  g_clear_error (&error);
  g_assert_false (lig_tensor_file_save (file, nowhere, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_FILE);
  g_clear_error (&error);
  g_assert_false (lig_tensor_file_save (file, folder, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_FILE);
  g_clear_error (&error);
  g_assert_false (lig_tensor_file_save (file, "/dev/null", &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_FILE);
  g_clear_error (&error);
  lig_tensor_file_set_metadata (file, "m", "\xff");
  g_assert_false (lig_tensor_file_save (file, path, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_FORMAT);
  g_clear_error (&error);
  lig_tensor_file_set_metadata (file, "m", NULL);
  lig_tensor_file_add (file, "__metadata__", tensor);
  g_assert_false (lig_tensor_file_save (file, path, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_FORMAT);
  g_assert_cmpuint (count_files (), ==, count);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  folder = g_dir_make_tmp ("ligature-XXXXXX", NULL);
  g_test_add_func ("/tensor-file/round-trip", test_round_trip);
  g_test_add_func ("/tensor-file/names", test_names);
  g_test_add_func ("/tensor-file/foreign", test_foreign);
  g_test_add_func ("/tensor-file/wide-types", test_wide_types);
  for (gsize i = 0; i < G_N_ELEMENTS (bad_headers); i++) {
    g_autofree char *path = g_strconcat ("/tensor-file/bad/", bad_headers[i].name, NULL);
    g_test_add_data_func (path, GSIZE_TO_POINTER (i), test_bad_header);
  }
  g_test_add_func ("/tensor-file/bad/deep", test_deep);
  g_test_add_func ("/tensor-file/bad/file", test_bad_file);
  g_test_add_func ("/tensor-file/bad/damage", test_damage);
  g_test_add_func ("/tensor-file/save/over-itself", test_save_over_itself);
  g_test_add_func ("/tensor-file/save/link", test_save_link);
  g_test_add_func ("/tensor-file/save/fails", test_save_fails);
  int status = g_test_run ();
  remove_folder (folder);
  g_free (folder);
  return status;
}
