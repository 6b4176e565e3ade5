/* SPDX-License-Identifier: MIT */
/* A GPT-2 or Llama file that lacks any one tensor is recognized, and the error names the tensor. */
#include "engine/tensor/names.h"
#include <ligature/weights.h>

#include <string.h>

typedef struct {
  const char *path;
  gint64 rows, columns; /* columns: 0 for one axis */
} Own;

static const Own gpt2[] = {
  {"0.weight", 5, 4},
  {"1.weight", 3, 4},
  {"2.attention-norm.weight", 4, 0},
  {"2.attention-norm.bias", 4, 0},
  {"2.qkv.weight", 12, 4},
  {"2.qkv.bias", 12, 0},
  {"2.proj.weight", 4, 4},
  {"2.proj.bias", 4, 0},
  {"2.mlp-norm.weight", 4, 0},
  {"2.mlp-norm.bias", 4, 0},
  {"2.fc1.weight", 16, 4},
  {"2.fc1.bias", 16, 0},
  {"2.fc2.weight", 4, 16},
  {"2.fc2.bias", 4, 0},
  {"3.weight", 4, 0},
  {"3.bias", 4, 0},
  {NULL},
};

static const Own llama[] = {
  {"0.weight", 5, 8},
  {"1.attention-norm.weight", 8, 0},
  {"1.qkv.weight", 12, 8},
  {"1.proj.weight", 8, 6},
  {"1.mlp-norm.weight", 8, 0},
  {"1.fc1.weight", 20, 8},
  {"1.fc2.weight", 8, 10},
  {"2.weight", 8, 0},
  {NULL},
};

static void
add (LigTensorFile *file, const char *name, gint64 rows, gint64 columns)
{
  LigShape shape;
  lig_shape_init (&shape, columns > 0 ? 2 : 1, rows, columns);
  g_autoptr (LigTensor) tensor = lig_tensor_new (LIG_FP32, &shape, NULL);
  lig_tensor_file_add (file, name, tensor);
}

static gboolean
try_import (LigTensorFile *file, const Own *own, LigImport **import, GError **error)
{
  g_autoptr (GPtrArray) paths = g_ptr_array_new ();
  g_autoptr (GArray) shapes = g_array_new (FALSE, FALSE, sizeof (LigShape));
  for (; own->path; own++) {
    LigShape shape;
    lig_shape_init (&shape, own->columns > 0 ? 2 : 1, own->rows, own->columns);
    g_ptr_array_add (paths, (gpointer) own->path);
    g_array_append_val (shapes, shape);
  }
  g_ptr_array_add (paths, NULL);
  return lig_import_new (file, (const char *const *) paths->pdata,
                         (const LigShape *) (gpointer) shapes->data, import, error);
}

/* Copies all tensors but one, whose name is returned. */
static const char *
leave_out (LigTensorFile *whole, guint number, LigTensorFile *part)
{
  const char *const *names = lig_tensor_file_get_names (whole);
  for (guint i = 0; names[i]; i++) {
    g_autoptr (LigTensor) tensor = lig_tensor_file_get (whole, names[i], NULL);
    if (i != number)
      lig_tensor_file_add (part, names[i], tensor);
  }
  return names[number];
}

static void
check (const Own *own, const char *names)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigTensorFile) file = lig_tensor_file_new ();
  LigImport *import = NULL;
  for (const Own *one = own; one->path; one++)
    add (file, one->path, one->rows, one->columns);
  g_autoptr (LigTensorFile) whole = lig_weights_export (file, names, 0, -1, &error);
  g_assert_no_error (error);
  g_assert_true (try_import (whole, own, &import, &error));
  g_assert_nonnull (import);
  g_clear_pointer (&import, lig_import_free);
  guint count = g_strv_length ((GStrv) lig_tensor_file_get_names (whole));
  for (guint i = 0; i < count; i++) {
    g_autoptr (LigTensorFile) part = lig_tensor_file_new ();
    const char *name = leave_out (whole, i, part);
    g_assert_false (try_import (part, own, &import, &error));
    g_test_message ("%s", error->message);
    g_assert_true (g_str_has_prefix (error->message, "the weights do not fit the sequence: "));
    g_assert_nonnull (strstr (error->message, name));
    g_assert_true (g_str_has_suffix (error->message, " is missing"));
    g_clear_error (&error);
  }
}

static void
test_gpt2 (void)
{
  check (gpt2, "gpt2");
}

static void
test_llama (void)
{
  check (llama, "llama");
}

static void
expect_export (LigTensorFile *file, const char *names, const char *words)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigTensorFile) out = lig_weights_export (file, names, 0, -1, &error);
  if (words) {
    g_assert_error (error, LIG_ERROR, LIG_ERROR_SHAPE);
    g_assert_cmpstr (error->message, ==, words);
  } else
    g_assert_no_error (error);
}

/* A Llama is not written as a GPT-2, which has position embeddings and biases, nor is a Llama
 * without its norms written. */
static void
test_export (void)
{
  g_autoptr (LigTensorFile) file = lig_tensor_file_new ();
  g_autoptr (LigTensorFile) part = lig_tensor_file_new ();
  for (const Own *one = llama; one->path; one++) {
    add (file, one->path, one->rows, one->columns);
    if (one->columns > 0)
      add (part, one->path, one->rows, one->columns);
  }
  expect_export (file, "llama", NULL);
  expect_export (file, "gpt2",
                 "the parameters do not fit the names of gpt2: "
                 "transformer.wpe.weight has no counterpart; "
                 "transformer.h.0.ln_1.bias has no counterpart; "
                 "transformer.h.0.attn.c_attn.bias has no counterpart; "
                 "transformer.h.0.attn.c_proj.bias has no counterpart; "
                 "transformer.h.0.ln_2.bias has no counterpart; "
                 "transformer.h.0.mlp.c_fc.bias has no counterpart; and 2 more, 8 in all");
  expect_export (part, "llama",
                 "the parameters do not fit the names of llama: "
                 "model.layers.0.input_layernorm.weight has no counterpart; "
                 "model.layers.0.post_attention_layernorm.weight has no counterpart; "
                 "model.norm.weight has no counterpart");
}

/* Parameters of a sequence are not mistaken for those of another program. */
static void
test_own (void)
{
  g_autoptr (GError) error = NULL;
  LigImport *import = NULL;
  g_autoptr (LigTensorFile) file = lig_tensor_file_new ();
  add (file, "norm.weight", 4, 0);
  add (file, "0.weight", 4, 4);
  g_assert_true (try_import (file, gpt2, &import, &error));
  g_assert_no_error (error);
  g_assert_null (import);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/names-missing/gpt2", test_gpt2);
  g_test_add_func ("/names-missing/llama", test_llama);
  g_test_add_func ("/names-missing/export", test_export);
  g_test_add_func ("/names-missing/own", test_own);
  return g_test_run ();
}
