/* SPDX-License-Identifier: MIT */
/* Weights of GPT-2 and Llama-like models: names, layouts, tied heads, padded vocabularies, sharded
 * files, and the reported differences. */
#include "engine/tensor/names.h"
#include "engine/tensor/safetensors.h"
#include <ligature/weights.h>

#include <glib/gstdio.h>
#include <string.h>

typedef struct {
  const char *path;
  gint64 rows, columns; /* columns: 0 for one axis */
} Own;

/* GPT-2 of two layers with 4 features and 5 tokens, in a block, with a tied head. */
static const Own gpt2[] = {
  {"0.weight", 5, 4}, {"1.weight", 3, 4},
#define LAYER(n) \
  {"2." n ".0.attention-norm.weight", 4, 0}, {"2." n ".0.attention-norm.bias", 4, 0}, \
    {"2." n ".0.qkv.weight", 12, 4}, {"2." n ".0.qkv.bias", 12, 0}, \
    {"2." n ".0.proj.weight", 4, 4}, {"2." n ".0.proj.bias", 4, 0}, \
    {"2." n ".0.mlp-norm.weight", 4, 0}, {"2." n ".0.mlp-norm.bias", 4, 0}, \
    {"2." n ".0.fc1.weight", 16, 4}, {"2." n ".0.fc1.bias", 16, 0}, \
    {"2." n ".0.fc2.weight", 4, 16}, \
  { \
    "2." n ".0.fc2.bias", 4, 0 \
  }
  LAYER ("0"),        LAYER ("1"),
#undef LAYER
  {"3.weight", 4, 0}, {"3.bias", 4, 0},   {NULL},
};

/* Llama of two layers with 2 heads of head dim 3, 1 key-value head, and 8 features; its layers are
 * not in a block. */
static const Own llama[] = {
  {"0.weight", 5, 8},
#define LAYER(n) \
  {n ".attention-norm.weight", 8, 0}, {n ".qkv.weight", 12, 8}, {n ".proj.weight", 8, 6}, \
    {n ".mlp-norm.weight", 8, 0}, {n ".fc1.weight", 20, 8}, \
  { \
    n ".fc2.weight", 8, 10 \
  }
  LAYER ("1"),        LAYER ("2"),
#undef LAYER
  {"3.weight", 8, 0}, {"4.weight", 5, 8}, {NULL},
};

static char *folder;

static char *
in_folder (const char *name)
{
  return g_build_filename (folder, name, NULL);
}

/* Makes parameters with all different elements. */
static LigTensorFile *
make (const Own *own, LigDtype dtype)
{
  LigTensorFile *file = lig_tensor_file_new ();
  float value = 1;
  for (; own->path; own++) {
    LigShape shape;
    lig_shape_init (&shape, own->columns > 0 ? 2 : 1, own->rows, own->columns);
    g_autoptr (LigTensor) tensor = lig_tensor_new (dtype, &shape, NULL);
    for (gint64 i = 0; i < tensor->size; i++)
      lig_tensor_set (tensor, i, value++);
    lig_tensor_file_add (file, own->path, tensor);
  }
  return file;
}

/* Opens the import of a file for these parameters. */
static LigImport *
try_import (LigTensorFile *file, const Own *own, GError **error)
{
  g_autoptr (GPtrArray) paths = g_ptr_array_new ();
  g_autoptr (GArray) shapes = g_array_new (FALSE, FALSE, sizeof (LigShape));
  LigImport *import;
  for (; own->path; own++) {
    LigShape shape;
    lig_shape_init (&shape, own->columns > 0 ? 2 : 1, own->rows, own->columns);
    g_ptr_array_add (paths, (gpointer) own->path);
    g_array_append_val (shapes, shape);
  }
  g_ptr_array_add (paths, NULL);
  gboolean fine = lig_import_new (file, (const char *const *) paths->pdata,
                                  (const LigShape *) (gpointer) shapes->data, &import, error);
  g_assert_true (fine == (!error || !*error));
  return import;
}

static LigImport *
import (LigTensorFile *file, const Own *own)
{
  g_autoptr (GError) error = NULL;
  LigImport *self = try_import (file, own, &error);
  g_assert_no_error (error);
  g_assert_nonnull (self);
  return self;
}

static LigTensorFile *export(LigTensorFile *file, const char *names, gint64 vocabulary)
{
  g_autoptr (GError) error = NULL;
  LigTensorFile *out = lig_weights_export (file, names, vocabulary, -1, &error);
  g_assert_no_error (error);
  return out;
}

static LigTensor *
get (LigTensorFile *file, const char *name)
{
  g_autoptr (GError) error = NULL;
  LigTensor *tensor = lig_tensor_file_get (file, name, &error);
  g_assert_no_error (error);
  return tensor;
}

static void
assert_rejected (LigTensorFile *file, const Own *own, const char *words)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigImport) none = try_import (file, own, &error);
  g_assert_null (none);
  g_assert_error (error, LIG_ERROR, LIG_ERROR_SHAPE);
  if (!strstr (error->message, words))
    g_test_fail_printf ("'%s' lacks '%s'", error->message, words);
}

/* Checks that exporting and importing gives the same bits. */
static void
check_round (const Own *own, const char *names, LigDtype dtype)
{
  g_autoptr (LigTensorFile) file = make (own, dtype);
  g_autoptr (LigTensorFile) out = export(file, names, 0);
  g_autoptr (LigImport) back = import (out, own);
  for (const Own *one = own; one->path; one++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (LigTensor) before = get (file, one->path);
    g_autoptr (LigTensor) after = lig_import_read (back, one->path, &error);
    g_assert_no_error (error);
    g_assert_cmpint (after->dtype, ==, dtype);
    g_assert_cmpmem (before->data, lig_tensor_bytes (before), after->data,
                     lig_tensor_bytes (after));
  }
}

static void
test_round (void)
{
  static const LigDtype dtypes[] = {LIG_FP32, LIG_BF16, LIG_FP16};
  for (guint i = 0; i < G_N_ELEMENTS (dtypes); i++) {
    check_round (gpt2, "gpt2", dtypes[i]);
    check_round (llama, "llama", dtypes[i]);
  }
}

/* GPT-2's matmul weights are stored transposed, its vectors and embeddings unchanged. */
static void
test_gpt2 (void)
{
  g_autoptr (LigTensorFile) file = make (gpt2, LIG_FP32);
  g_autoptr (LigTensorFile) out = export(file, "gpt2", 0);
  g_autoptr (LigTensor) own = get (file, "2.1.0.qkv.weight");
  g_autoptr (LigTensor) theirs = get (out, "transformer.h.1.attn.c_attn.weight");
  g_assert_cmpint (theirs->shape.axes[0], ==, 4);
  g_assert_cmpint (theirs->shape.axes[1], ==, 12);
  for (gint64 i = 0; i < 12; i++)
    for (gint64 j = 0; j < 4; j++)
      g_assert_cmpfloat (lig_tensor_get (theirs, j * 12 + i), ==, lig_tensor_get (own, i * 4 + j));
  g_assert_false (lig_tensor_file_has (out, "lm_head.weight"));
  g_assert_true (lig_tensor_file_has (out, "transformer.wpe.weight"));
  g_assert_true (lig_tensor_file_has (out, "transformer.ln_f.bias"));
  g_assert_cmpstr (lig_tensor_file_get_metadata (out, "format"), ==, "pt");
  g_assert_cmpuint (g_strv_length ((GStrv) lig_tensor_file_get_names (out)), ==, 2 + 2 * 12 + 2);
}

/* Query, key and value, gate and up are separate there. */
static void
test_llama (void)
{
  static const struct {
    const char *name;
    gint64 first, rows;
  } parts[] = {{"q", 0, 6}, {"k", 6, 3}, {"v", 9, 3}};
  g_autoptr (LigTensorFile) file = make (llama, LIG_FP32);
  g_autoptr (LigTensorFile) out = export(file, "llama", 0);
  g_autoptr (LigTensor) own = get (file, "2.qkv.weight");
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++) {
    g_autofree char *name =
      g_strdup_printf ("model.layers.1.self_attn.%s_proj.weight", parts[i].name);
    g_autoptr (LigTensor) theirs = get (out, name);
    g_assert_cmpint (theirs->shape.axes[0], ==, parts[i].rows);
    for (gint64 j = 0; j < parts[i].rows * 8; j++)
      g_assert_cmpfloat (lig_tensor_get (theirs, j), ==,
                         lig_tensor_get (own, parts[i].first * 8 + j));
  }
  g_autoptr (LigTensor) fc1 = get (file, "1.fc1.weight");
  g_autoptr (LigTensor) up = get (out, "model.layers.0.mlp.up_proj.weight");
  g_assert_cmpfloat (lig_tensor_get (up, 0), ==, lig_tensor_get (fc1, 80));
  g_assert_true (lig_tensor_file_has (out, "lm_head.weight"));
}

/* Copies a file without the prefix, and without the tensors of a name or with others. */
static LigTensorFile *
copy (LigTensorFile *file, const char *prefix, const char *without)
{
  LigTensorFile *to = lig_tensor_file_new ();
  for (const char *const *name = lig_tensor_file_get_names (file); *name; name++) {
    g_autoptr (LigTensor) tensor = get (file, *name);
    gsize skipped = g_str_has_prefix (*name, prefix) ? strlen (prefix) : 0;
    if (!without || !g_str_equal (*name, without))
      lig_tensor_file_add (to, *name + skipped, tensor);
  }
  return to;
}

static void
add (LigTensorFile *file, const char *name, gint64 rows, gint64 columns)
{
  LigShape shape;
  lig_shape_init (&shape, columns > 0 ? 2 : 1, rows, columns);
  g_autoptr (LigTensor) tensor = lig_tensor_new (LIG_FP32, &shape, NULL);
  lig_tensor_file_add (file, name, tensor);
}

/* Files without the prefix and with buffers are accepted. */
static void
test_variants (void)
{
  g_autoptr (LigTensorFile) file = make (gpt2, LIG_FP32);
  g_autoptr (LigTensorFile) out = export(file, "gpt2", 0);
  g_autoptr (LigTensorFile) bare = copy (out, "transformer.", NULL);
  add (bare, "h.0.attn.bias", 9, 0);
  add (bare, "h.1.attn.masked_bias", 1, 0);
  g_autoptr (LigImport) taken = import (bare, gpt2);
  g_assert_cmpstr (taken->notes->str, ==, "names of GPT-2 (Hugging Face)");
  g_autoptr (LigTensor) before = get (file, "2.0.0.fc2.weight");
  g_autoptr (LigTensor) after = lig_import_read (taken, "2.0.0.fc2.weight", NULL);
  g_assert_cmpmem (before->data, 256, after->data, 256);
  /* A file with the parameters' own paths is not one of another program. */
  g_autoptr (LigImport) own = try_import (file, gpt2, NULL);
  g_assert_null (own);
}

static void
test_tied (void)
{
  g_autoptr (LigTensorFile) file = make (gpt2, LIG_FP32);
  g_autoptr (LigTensorFile) out = export(file, "gpt2", 0);
  g_autoptr (LigTensor) table = get (file, "0.weight");
  /* The file of a tied model may contain the head nevertheless. */
  lig_tensor_file_add (out, "lm_head.weight", table);
  g_autoptr (LigImport) taken = import (out, gpt2);
  g_assert_nonnull (taken);
  add (out, "lm_head.weight", 5, 4);
  assert_rejected (out, gpt2, "lm_head.weight differs from transformer.wte.weight");
  /* An untied head is initialized as a copy. */
  g_autoptr (LigTensorFile) large = make (llama, LIG_FP32);
  g_autoptr (LigTensorFile) whole = export(large, "llama", 0);
  g_autoptr (LigTensorFile) headless = copy (whole, "", "lm_head.weight");
  g_autoptr (LigImport) copied = import (headless, llama);
  g_assert_nonnull (strstr (copied->notes->str, "4.weight begins as a copy of the embedding"));
  g_autoptr (LigTensor) embedding = get (large, "0.weight");
  g_autoptr (LigTensor) head = lig_import_read (copied, "4.weight", NULL);
  g_assert_cmpmem (embedding->data, 160, head->data, 160);
}

/* The file of a tied model may contain only the head; the embedding is read from it. */
static void
test_kept_head (void)
{
  g_autoptr (LigTensorFile) file = make (gpt2, LIG_FP32);
  g_autoptr (LigTensorFile) out = export(file, "gpt2", 0);
  g_autoptr (LigTensorFile) kept = copy (out, "", "transformer.wte.weight");
  g_autoptr (LigTensor) table = get (file, "0.weight");
  lig_tensor_file_add (kept, "lm_head.weight", table);
  g_autoptr (LigImport) taken = import (kept, gpt2);
  g_assert_nonnull (strstr (taken->notes->str,
                            "0.weight is read from lm_head.weight, because the file has only the"));
  g_autoptr (LigTensor) read = lig_import_read (taken, "0.weight", NULL);
  g_assert_cmpmem (read->data, 80, table->data, 80);
  g_autoptr (LigTensorFile) neither = copy (out, "", "transformer.wte.weight");
  assert_rejected (neither, gpt2, "transformer.wte.weight (for 0.weight) is missing");
}

/* Returns the tensors with a prefix before their names, in a file that another one has joined. */
static LigTensorFile *
wrap (LigTensorFile *from, const char *prefix)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigTensorFile) file = lig_tensor_file_new ();
  g_autofree char *path = in_folder ("wrapped.safetensors");
  LigTensorFile *all = lig_tensor_file_new ();
  for (const char *const *name = lig_tensor_file_get_names (from); *name; name++) {
    g_autofree char *wrapped = g_strconcat (prefix, *name, NULL);
    g_autoptr (LigTensor) tensor = get (from, *name);
    lig_tensor_file_add (file, wrapped, tensor);
  }
  g_assert_true (lig_tensor_file_save (file, path, &error));
  g_autoptr (LigTensorFile) part = lig_tensor_file_load (path, &error);
  g_assert_no_error (error);
  g_assert_true (lig_tensor_file_join (all, part, &error));
  return all;
}

/* The prefixes of torch.compile, DistributedDataParallel and PEFT are removed. */
static void
test_wrapped (void)
{
  static const char *const prefixes[] = {"_orig_mod.", "module.", "base_model.model.",
                                         "module._orig_mod."};
  g_autoptr (LigTensorFile) file = make (llama, LIG_FP32);
  g_autoptr (LigTensorFile) out = export(file, "llama", 0);
  for (guint i = 0; i < G_N_ELEMENTS (prefixes); i++) {
    g_autoptr (LigTensorFile) wrapped = wrap (out, prefixes[i]);
    g_autofree char *removed = lig_weights_unwrap (wrapped);
    g_assert_cmpstr (removed, ==, prefixes[i]);
    g_autoptr (LigImport) taken = import (wrapped, llama);
    g_autoptr (LigTensor) before = get (file, "2.qkv.weight");
    g_autoptr (LigTensor) after = lig_import_read (taken, "2.qkv.weight", NULL);
    g_assert_cmpmem (before->data, lig_tensor_bytes (before), after->data,
                     lig_tensor_bytes (after));
  }
  /* One name without it: it is part of the names. */
  g_autoptr (LigTensorFile) mixed = wrap (out, "module.");
  add (mixed, "other", 1, 0);
  g_assert_null (lig_weights_unwrap (mixed));
  g_assert_true (lig_tensor_file_has (mixed, "module.model.norm.weight"));
}

/* A vocabulary may be padded to a multiple: the rows beyond it are zeros. */
static void
test_padded (void)
{
  g_autoptr (LigTensorFile) file = make (llama, LIG_FP32);
  g_autoptr (LigTensorFile) out = export(file, "llama", 3);
  g_autoptr (LigTensor) cut = get (out, "model.embed_tokens.weight");
  g_assert_cmpint (cut->shape.axes[0], ==, 3);
  g_autoptr (LigImport) taken = import (out, llama);
  g_assert_nonnull (strstr (taken->notes->str,
                            "rows 3 to 4 of 0.weight are zeros, model.embed_tokens.weight has 3"));
  g_autoptr (LigTensor) before = get (file, "4.weight");
  g_autoptr (LigTensor) after = lig_import_read (taken, "4.weight", NULL);
  for (gint64 i = 0; i < 40; i++)
    g_assert_cmpfloat (lig_tensor_get (after, i), ==, i < 24 ? lig_tensor_get (before, i) : 0);
}

static void
test_differences (void)
{
  g_autoptr (LigTensorFile) file = make (gpt2, LIG_FP32);
  g_autoptr (LigTensorFile) out = export(file, "gpt2", 0);
  g_autoptr (LigTensorFile) bad = copy (out, "", "transformer.h.0.ln_1.bias");
  add (bad, "transformer.h.1.mlp.c_fc.weight", 16, 4);
  add (bad, "transformer.h.2.ln_1.bias", 4, 0);
  assert_rejected (bad, gpt2,
                   "transformer.h.0.ln_1.bias (for 2.0.0.attention-norm.bias) is missing; "
                   "transformer.h.1.mlp.c_fc.weight is 16x4, expected 4x16 (for 2.1.0.fc1.weight); "
                   "transformer.h.2.ln_1.bias is surplus");
  /* Of many differences the first are shown. */
  g_autoptr (LigTensorFile) other = export(file, "gpt2", 0);
  Own fewer[3] = {gpt2[0], gpt2[1]};
  assert_rejected (other, fewer, "transformer.h.0.ln_1.weight is surplus; and 20 more, 26 in all");
  /* More rows than the sequence's vocabulary are not padding. */
  add (other, "transformer.wte.weight", 6, 4);
  assert_rejected (other, gpt2, "transformer.wte.weight is 6x4, expected 5x4 (for 0.weight)");
  g_autoptr (GError) error = NULL;
  static const Own line[] = {{"0.weight", 2, 3}, {"1.weight", 2, 2}, {"2.weight", 2, 2}, {NULL}};
  g_autoptr (LigTensorFile) lines = make (line, LIG_FP32);
  g_assert_null (lig_weights_export (lines, "gpt2", 0, -1, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_SHAPE);
  g_assert_nonnull (strstr (error->message, "names of gpt2: 2.weight has no counterpart"));
  g_clear_error (&error);
  g_assert_null (lig_weights_export (lines, "gtp2", 0, -1, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_VALUE);
  g_assert_nonnull (strstr (error->message, "did you mean 'gpt2'?"));
}

/* --- Files in parts ------------------------------------------------------------------------ */

static void
write_index (const char *text)
{
  g_autofree char *path = in_folder ("model.safetensors.index.json");
  g_assert_true (g_file_set_contents (path, text, -1, NULL));
}

static void
save (const char *name, const char *first, const char *second)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigTensorFile) file = lig_tensor_file_new ();
  g_autofree char *path = in_folder (name);
  add (file, first, 2, 3);
  if (second)
    add (file, second, 4, 0);
  lig_tensor_file_save (file, path, &error);
  g_assert_no_error (error);
}

static void
assert_unopened (const char *words)
{
  g_autoptr (GError) error = NULL;
  g_assert_null (lig_weights_open (folder, &error));
  if (!error || !strstr (error->message, words))
    g_test_fail_printf ("'%s' lacks '%s'", error ? error->message : "", words);
}

static void
test_parts (void)
{
  g_autoptr (GError) error = NULL;
  assert_unopened ("contains neither model.safetensors nor model.safetensors.index.json");
  save ("a.safetensors", "x", NULL);
  save ("b.safetensors", "y", "z");
  write_index ("{\"metadata\": {}, \"weight_map\": {\"x\": \"a.safetensors\", \"y\": "
               "\"b.safetensors\", \"z\": \"b.safetensors\"}}");
  g_autoptr (LigTensorFile) all = lig_weights_open (folder, &error);
  g_assert_no_error (error);
  g_autofree char *names = g_strjoinv (" ", (GStrv) lig_tensor_file_get_names (all));
  g_assert_cmpstr (names, ==, "x y z");
  g_autoptr (LigTensor) z = get (all, "z");
  g_assert_cmpint (z->size, ==, 4);
  g_autofree char *whole = in_folder ("whole");
  g_assert_true (lig_tensor_file_save (all, whole, NULL));
  g_autoptr (LigTensorFile) again = lig_weights_open (whole, &error);
  g_assert_no_error (error);
  g_assert_true (lig_tensor_file_has (again, "x"));
  write_index ("{\"weight_map\": {\"x\": \"a.safetensors\", \"q\": \"b.safetensors\"}}");
  assert_unopened ("names tensor 'q', which 'b.safetensors' does not contain");
  write_index ("{\"weight_map\": {\"x\": \"../a.safetensors\"}}");
  assert_unopened ("the file of 'x' is '../a.safetensors', expected the name of a file");
  write_index ("{\"weight_map\": {\"x\": \"c.safetensors\"}}");
  assert_unopened ("c.safetensors");
  write_index ("{\"weights\": 1}");
  assert_unopened ("has no weight_map");
  write_index ("nothing");
  assert_unopened ("model.safetensors.index.json");
  save ("b.safetensors", "x", NULL);
  write_index ("{\"weight_map\": {\"x\": \"a.safetensors\", \"y\": \"b.safetensors\"}}");
  assert_unopened ("contains tensor 'x', which");
}

/* --- Tables -------------------------------------------------------------------------------- */

static void
test_tables (void)
{
  const char *name;
  for (guint n = 0; (name = lig_weights_names_nth (n)); n++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (LigNames) names = lig_names_find (name, &error);
    g_assert_no_error (error);
    g_assert_cmpuint (names->rules->len, >=, 10);
    g_assert_true (lig_names_rule (names, "embedding.weight")->padded);
  }
  static const struct {
    const char *text, *words;
  } bad[] = {
    {"[]", "expected an object"},
    {"{\"title\": 1}", "title: expected a string"},
    {"{\"title\": \"x\", \"known-by\": \"x\", \"prefixes\": []}", "prefixes: expected a list"},
    {"{\"title\": \"x\", \"known-by\": \"x\", \"prefixes\": [\"\"], \"ignored\": [\"x\"], "
     "\"tensors\": {\"a\": {\"names\": [\"b\"], \"tied\": \"c\"}}}",
     "a: expected 'first', 'tied' and 'unless' to be roles"},
    {"{\"title\": \"x\", \"known-by\": \"x\", \"prefixes\": [\"\"], \"ignored\": [\"x\"], "
     "\"tensors\": {\"a\": {\"names\": [\"b\", \"{expert}.c\"]}}}",
     "a: expected '{expert}' in all names or in none"},
  };
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    g_autoptr (GError) error = NULL;
    g_assert_null (lig_names_parse ("bad", bad[i].text, &error));
    if (!error || !strstr (error->message, bad[i].words))
      g_test_fail_printf ("'%s' lacks '%s'", error ? error->message : "", bad[i].words);
  }
}

/* Ops are ordered by their numbers, not by the bytes of their paths. */
static void
test_order (void)
{
  static const char *const paths[] = {"10.qkv.weight", "0.weight", "2.qkv.weight", "11.weight",
                                      NULL};
  LigShape shapes[4] = {0};
  for (guint i = 0; i < 4; i++)
    lig_shape_init (&shapes[i], i == 3 ? 1 : 2, (gint64) 4, (gint64) 4);
  g_autoptr (GArray) roles = lig_roles_new (paths, shapes);
  g_assert_cmpstr (lig_roles_find (roles, "layer.qkv.weight", 1)->path, ==, "10.qkv.weight");
  g_assert_cmpstr (lig_roles_find (roles, "layer.qkv.weight", 0)->path, ==, "2.qkv.weight");
  g_assert_cmpstr (lig_roles_find (roles, "final-norm.weight", -1)->path, ==, "11.weight");
  g_assert_null (lig_roles_find (roles, "layer.qkv.weight", 2));
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  folder = g_dir_make_tmp ("ligature-XXXXXX", NULL);
  g_test_add_func ("/names/tables", test_tables);
  g_test_add_func ("/names/order", test_order);
  g_test_add_func ("/names/round", test_round);
  g_test_add_func ("/names/gpt2", test_gpt2);
  g_test_add_func ("/names/llama", test_llama);
  g_test_add_func ("/names/variants", test_variants);
  g_test_add_func ("/names/tied", test_tied);
  g_test_add_func ("/names/kept-head", test_kept_head);
  g_test_add_func ("/names/wrapped", test_wrapped);
  g_test_add_func ("/names/padded", test_padded);
  g_test_add_func ("/names/differences", test_differences);
  g_test_add_func ("/names/parts", test_parts);
  int status = g_test_run ();
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  for (const char *name; (name = g_dir_read_name (dir));) {
    g_autofree char *path = in_folder (name);
    g_remove (path);
  }
  g_rmdir (folder);
  g_free (folder);
  return status;
}
