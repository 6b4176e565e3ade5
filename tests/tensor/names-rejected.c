/* SPDX-License-Identifier: MIT */
/* Parameters that only seem to fit the names of another program: two with one role, an ungated MLP,
 * and files with tensors without rows or axes. Nothing is written for them. */
#include "engine/tensor/names.h"
#include <ligature/weights.h>

#include <string.h>

typedef struct {
  const char *path;
  int n_axes;
  gint64 rows, columns;
} Own;

/* The tables accept these unchanged; each case replaces or adds one. */
static const Own gpt2[] = {
  {"0.weight", 2, 5, 4},
  {"1.weight", 2, 3, 4},
  {"2.attention-norm.weight", 1, 4, 0},
  {"2.attention-norm.bias", 1, 4, 0},
  {"2.qkv.weight", 2, 12, 4},
  {"2.qkv.bias", 1, 12, 0},
  {"2.proj.weight", 2, 4, 4},
  {"2.proj.bias", 1, 4, 0},
  {"2.mlp-norm.weight", 1, 4, 0},
  {"2.mlp-norm.bias", 1, 4, 0},
  {"2.fc1.weight", 2, 16, 4},
  {"2.fc1.bias", 1, 16, 0},
  {"2.fc2.weight", 2, 4, 16},
  {"2.fc2.bias", 1, 4, 0},
  {"3.weight", 1, 4, 0},
  {"3.bias", 1, 4, 0},
  {"4.weight", 2, 5, 4},
  {.path = NULL},
};
#define LLAMA_LAYER(at) \
  {at ".attention-norm.weight", 1, 8, 0}, {at ".qkv.weight", 2, 12, 8}, \
    {at ".proj.weight", 2, 8, 6}, {at ".mlp-norm.weight", 1, 8, 0}, {at ".fc1.weight", 2, 20, 8}, \
  { \
    at ".fc2.weight", 2, 8, 10 \
  }
static const Own llama[] = {
  {"0.weight", 2, 5, 8},
  LLAMA_LAYER ("1"),
  {"2.weight", 1, 8, 0},
  {.path = NULL},
};
/* Two layers. */
static const Own deep[] = {
  {"0.weight", 2, 5, 8}, LLAMA_LAYER ("1"), LLAMA_LAYER ("2"),
  {"3.weight", 1, 8, 0}, {.path = NULL},
};

static const struct {
  const char *name;
  const Own *base;
  const char *names;
  Own own;
  const char *words; /* null: it fits */
} cases[] = {
  {"gpt2", gpt2, "gpt2", {"4.weight", 2, 5, 4}, NULL},
  {"llama", llama, "llama", {"2.weight", 1, 8, 0}, NULL},
  {"second-norm", gpt2, "gpt2", {"5.weight", 1, 4, 0}, "5.weight has no counterpart"},
  {"second-head", gpt2, "gpt2", {"5.weight", 2, 5, 4}, "5.weight has no counterpart"},
  {"no-gate",
   llama,
   "llama",
   {"1.fc1.weight", 2, 10, 8},
   "1.fc1.weight is 10x8, which cannot be split into layers.0.mlp.gate_proj.weight, "
   "layers.0.mlp.up_proj.weight"},
  {"odd-rows",
   llama,
   "llama",
   {"1.qkv.weight", 2, 11, 8},
   "1.qkv.weight is 11x8, which cannot be split into layers.0.self_attn.q_proj.weight"},
  {"one-bias",
   deep,
   "llama",
   {"1.qkv.bias", 1, 12, 0},
   "1.self_attn.q_proj.bias has no counterpart"},
  {"few-rows", llama, "llama", {"1.qkv.weight", 2, 4, 8}, "1.qkv.weight is 4x8, which cannot"},
  {"no-columns", gpt2, "gpt2", {"2.qkv.weight", 2, 12, 0}, "2.qkv.weight is 12x0, which cannot"},
  {"no-rows", gpt2, "gpt2", {"2.qkv.weight", 2, 0, 4}, "2.qkv.weight is 0x4, which cannot"},
  {"no-axes", llama, "llama", {"1.proj.weight", 0, 0, 0}, "1.proj.weight is "},
};

static void
add (LigTensorFile *file, const Own *own)
{
  g_autoptr (GError) error = NULL;
  LigShape shape = {.n_axes = own->n_axes, .axes = {own->rows, own->columns}};
  g_autoptr (LigTensor) tensor = lig_tensor_new (LIG_FP32, &shape, &error);
  g_assert_no_error (error);
  lig_tensor_file_add (file, own->path, tensor);
}

static LigTensorFile *
make (guint n)
{
  gboolean replaced = FALSE;
  LigTensorFile *file = lig_tensor_file_new ();
  for (const Own *own = cases[n].base; own->path; own++) {
    gboolean same = g_str_equal (own->path, cases[n].own.path);
    add (file, same ? &cases[n].own : own);
    replaced |= same;
  }
  if (!replaced)
    add (file, &cases[n].own);
  return file;
}

static void
test_export (gconstpointer data)
{
  guint n = GPOINTER_TO_UINT (data);
  g_autoptr (GError) error = NULL;
  g_autoptr (LigTensorFile) file = make (n);
  g_autoptr (LigTensorFile) out = lig_weights_export (file, cases[n].names, 0, -1, &error);
  if (!cases[n].words) {
    g_assert_no_error (error);
    g_assert_nonnull (out);
    return;
  }
  g_assert_null (out);
  g_assert_error (error, LIG_ERROR, LIG_ERROR_SHAPE);
  if (!strstr (error->message, cases[n].words))
    g_test_fail_printf ("'%s' lacks '%s'", error->message, cases[n].words);
}

/* The same parameters are rejected when they are read from a file that fits the others. */
static void
test_import (gconstpointer data)
{
  guint n = GPOINTER_TO_UINT (data);
  g_autoptr (GError) error = NULL;
  g_autoptr (LigTensorFile) whole = lig_tensor_file_new ();
  for (const Own *own = cases[n].base; own->path; own++)
    add (whole, own);
  g_autoptr (LigTensorFile) theirs = lig_weights_export (whole, cases[n].names, 0, -1, &error);
  g_assert_no_error (error);
  g_autoptr (LigTensorFile) wanted = make (n);
  g_autoptr (GArray) shapes = g_array_new (FALSE, FALSE, sizeof (LigShape));
  const char *const *paths = lig_tensor_file_get_names (wanted);
  for (const char *const *path = paths; *path; path++) {
    LigShape shape;
    lig_tensor_file_get_shape (wanted, *path, &shape, NULL);
    g_array_append_val (shapes, shape);
  }
  LigImport *import;
  gboolean fine =
    lig_import_new (theirs, paths, (const LigShape *) (gpointer) shapes->data, &import, &error);
  g_assert_cmpint (fine, ==, cases[n].words == NULL);
  if (cases[n].words && !strstr (error->message, cases[n].own.path))
    g_test_fail_printf ("'%s' lacks '%s'", error->message, cases[n].own.path);
  g_clear_pointer (&import, lig_import_free);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint n = 0; n < G_N_ELEMENTS (cases); n++) {
    g_autofree char *export = g_strconcat ("/tensor-names-rejected/export/", cases[n].name, NULL);
    g_autofree char *import = g_strconcat ("/tensor-names-rejected/import/", cases[n].name, NULL);
    g_test_add_data_func (export, GUINT_TO_POINTER (n), test_export);
    g_test_add_data_func (import, GUINT_TO_POINTER (n), test_import);
  }
  return g_test_run ();
}
