/* SPDX-License-Identifier: MIT */
/* Weights of Mixtral, Qwen3 models with experts and GPT-OSS: a parameter of all experts is made of
 * tensors of each, or of one tensor; missing and surplus experts are reported with both numbers. */
#include "engine/tensor/names.h"
#include <ligature/weights.h>

#include <math.h>
#include <string.h>

typedef struct {
  const char *path;
  int n_axes;
  gint64 axes[3];
} Own;

/* Two layers of 3 experts with 5 features, a hidden size of 8, and 2 heads of 3 features. */
#define ATTENTION(at) \
  {at ".attention-norm.weight", 1, {8}}, {at ".qkv.weight", 2, {12, 8}}, \
    {at ".proj.weight", 2, {8, 6}}, \
  { \
    at ".mlp-norm.weight", 1, \
    { \
      8 \
    } \
  }
#define HEAD_NORMS(at) \
  {at ".qk-norm.query", 1, {3}}, \
  { \
    at ".qk-norm.key", 1, \
    { \
      3 \
    } \
  }
#define EXPERTS(at) \
  {at ".router.weight", 2, {3, 8}}, {at ".experts-fc1.weight", 3, {3, 10, 8}}, \
  { \
    at ".experts-fc2.weight", 3, \
    { \
      3, 8, 5 \
    } \
  }
#define DENSE(at) \
  {at ".fc1.weight", 2, {14, 8}}, \
  { \
    at ".fc2.weight", 2, \
    { \
      8, 7 \
    } \
  }
#define ENDS {"3.weight", 1, {8}}, {"4.weight", 2, {6, 8}}, {.path = NULL},

static const Own mixtral[] = {{"0.weight", 2, {6, 8}}, ATTENTION ("1"), EXPERTS ("1"),
                              ATTENTION ("2"),         EXPERTS ("2"),   ENDS};
static const Own qwen[] = {
  {"0.weight", 2, {6, 8}}, ATTENTION ("1"),  HEAD_NORMS ("1"), EXPERTS ("1"),
  ATTENTION ("2"),         HEAD_NORMS ("2"), EXPERTS ("2"),    ENDS};
/* The first layer has an MLP. */
static const Own mixed[] = {
  {"0.weight", 2, {6, 8}}, ATTENTION ("1"),  HEAD_NORMS ("1"), DENSE ("1"),
  ATTENTION ("2"),         HEAD_NORMS ("2"), EXPERTS ("2"),    ENDS};
/* A model without experts, which has the names of Llama. */
static const Own dense[] = {
  {"0.weight", 2, {6, 8}}, ATTENTION ("1"),  HEAD_NORMS ("1"), DENSE ("1"),
  ATTENTION ("2"),         HEAD_NORMS ("2"), DENSE ("2"),      ENDS};

#define OSS(at) \
  {at ".attention-norm.weight", 1, {32}}, {at ".qkv.weight", 2, {12, 32}}, \
    {at ".qkv.bias", 1, {12}}, {at ".attention.sinks", 1, {2}}, {at ".proj.weight", 2, {32, 6}}, \
    {at ".proj.bias", 1, {32}}, {at ".mlp-norm.weight", 1, {32}}, \
    {at ".router.weight", 2, {3, 32}}, {at ".router.bias", 1, {3}}, \
    {at ".experts-fc1.weight", 3, {3, 10, 32}}, {at ".experts-fc1.bias", 2, {3, 10}}, \
    {at ".experts-fc2.weight", 3, {3, 32, 5}}, \
  { \
    at ".experts-fc2.bias", 2, \
    { \
      3, 32 \
    } \
  }
static const Own oss[] = {{"0.weight", 2, {6, 32}}, OSS ("1"),     OSS ("2"), {"3.weight", 1, {32}},
                          {"4.weight", 2, {6, 32}}, {.path = NULL}};

static LigShape
shape_of (const Own *own)
{
  LigShape shape = {.n_axes = own->n_axes};
  memcpy (shape.axes, own->axes, sizeof own->axes);
  return shape;
}

/* Makes parameters with all different elements. */
static LigTensorFile *
make (const Own *own)
{
  LigTensorFile *file = lig_tensor_file_new ();
  float value = 1;
  for (; own->path; own++) {
    const LigShape shape = shape_of (own);
    g_autoptr (LigTensor) tensor = lig_tensor_new (LIG_FP32, &shape, NULL);
    for (gint64 i = 0; i < tensor->size; i++)
      lig_tensor_set (tensor, i, value++);
    lig_tensor_file_add (file, own->path, tensor);
  }
  return file;
}

static LigTensorFile *export(const Own *own, const char *names)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigTensorFile) file = make (own);
  LigTensorFile *out = lig_weights_export (file, names, 0, -1, &error);
  g_assert_no_error (error);
  return out;
}

static gboolean
try_import (LigTensorFile *file, const Own *own, LigImport **import, GError **error)
{
  g_autoptr (GPtrArray) paths = g_ptr_array_new ();
  g_autoptr (GArray) shapes = g_array_new (FALSE, FALSE, sizeof (LigShape));
  for (; own->path; own++) {
    const LigShape shape = shape_of (own);
    g_ptr_array_add (paths, (gpointer) own->path);
    g_array_append_val (shapes, shape);
  }
  g_ptr_array_add (paths, NULL);
  return lig_import_new (file, (const char *const *) paths->pdata,
                         (const LigShape *) (gpointer) shapes->data, import, error);
}

/* Checks that a file is recognized and that all parameters are read from it with the same bits. */
static void
check_import (LigTensorFile *file, const Own *own, const char *names)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigTensorFile) wanted = make (own);
  LigImport *import = NULL;
  g_assert_true (try_import (file, own, &import, &error));
  g_assert_no_error (error);
  g_assert_nonnull (import);
  g_assert_cmpstr (import->names->name, ==, names);
  for (; own->path; own++) {
    g_autoptr (LigTensor) before = lig_tensor_file_get (wanted, own->path, NULL);
    g_autoptr (LigTensor) after = lig_import_read (import, own->path, &error);
    g_assert_no_error (error);
    g_assert_true (lig_shape_equal (&before->shape, &after->shape));
    g_assert_cmpmem (before->data, lig_tensor_bytes (before), after->data,
                     lig_tensor_bytes (after));
  }
  lig_import_free (import);
}

static void
assert_rejected (LigTensorFile *file, const Own *own, const char *words)
{
  g_autoptr (GError) error = NULL;
  LigImport *import;
  g_assert_false (try_import (file, own, &import, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_SHAPE);
  g_autofree char *whole = g_strconcat ("the weights do not fit the sequence: ", words, NULL);
  g_assert_cmpstr (error->message, ==, whole);
}

/* Returns a copy of all tensors but one. */
static LigTensorFile *
without (LigTensorFile *file, const char *name)
{
  LigTensorFile *to = lig_tensor_file_new ();
  for (const char *const *one = lig_tensor_file_get_names (file); *one; one++) {
    g_autoptr (LigTensor) tensor = lig_tensor_file_get (file, *one, NULL);
    if (!g_str_equal (*one, name))
      lig_tensor_file_add (to, *one, tensor);
  }
  return to;
}

static void
add (LigTensorFile *file, const char *name, gint64 rows, gint64 columns)
{
  LigShape shape;
  lig_shape_init (&shape, 2, rows, columns);
  g_autoptr (LigTensor) tensor = lig_tensor_new (LIG_FP32, &shape, NULL);
  lig_tensor_file_add (file, name, tensor);
}

static void
test_round (void)
{
  static const struct {
    const Own *own;
    const char *names;
  } cases[] = {{mixtral, "mixtral"},
               {qwen, "qwen3-moe"},
               {mixed, "qwen3-moe"},
               {dense, "llama"},
               {oss, "gpt-oss"}};
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (LigTensorFile) out = export(cases[i].own, cases[i].names);
    check_import (out, cases[i].own, cases[i].names);
  }
}

/* An expert's gate has the first rows of its part of the parameter, the up projection the others.
 */
static void
test_layout (void)
{
  static const struct {
    const char *name;
    const char *path;
    gint64 rows, columns, begin; /* the first element's index in the parameter */
  } parts[] = {
    {"experts.0.w1", "2.experts-fc1.weight", 5, 8, 0},
    {"experts.0.w3", "2.experts-fc1.weight", 5, 8, 40},
    {"experts.2.w1", "2.experts-fc1.weight", 5, 8, 160},
    {"experts.2.w3", "2.experts-fc1.weight", 5, 8, 200},
    {"experts.1.w2", "2.experts-fc2.weight", 8, 5, 40},
    {"gate", "2.router.weight", 3, 8, 0},
  };
  g_autoptr (LigTensorFile) own = make (mixtral);
  g_autoptr (LigTensorFile) out = export(mixtral, "mixtral");
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++) {
    g_autofree char *name =
      g_strdup_printf ("model.layers.1.block_sparse_moe.%s.weight", parts[i].name);
    g_autoptr (LigTensor) theirs = lig_tensor_file_get (out, name, NULL);
    g_autoptr (LigTensor) whole = lig_tensor_file_get (own, parts[i].path, NULL);
    g_assert_nonnull (theirs);
    g_assert_cmpint (theirs->shape.n_axes, ==, 2);
    g_assert_cmpint (theirs->shape.axes[0], ==, parts[i].rows);
    g_assert_cmpint (theirs->shape.axes[1], ==, parts[i].columns);
    g_assert_cmpmem (theirs->data, lig_tensor_bytes (theirs),
                     (const float *) whole->data + parts[i].begin,
                     (gsize) (parts[i].rows * parts[i].columns) * sizeof (float));
  }
  g_assert_cmpuint (g_strv_length ((GStrv) lig_tensor_file_get_names (out)), ==,
                    3 + 2 * (6 + 1 + 3 * 3));
}

/* In GPT-OSS, an expert's matrices are transposed, and columns of its gate and up projection
 * alternate. */
static void
test_interleaved (void)
{
  g_autoptr (LigTensorFile) own = make (oss);
  g_autoptr (LigTensorFile) out = export(oss, "gpt-oss");
  const struct {
    const char *name, *path;
    gint64 axes[3];
    gboolean halves;
  } parts[] = {{"gate_up_proj", "2.experts-fc1.weight", {3, 32, 10}, TRUE},
               {"down_proj", "2.experts-fc2.weight", {3, 5, 32}, FALSE}};
  for (guint n = 0; n < G_N_ELEMENTS (parts); n++) {
    g_autofree char *name = g_strconcat ("model.layers.1.mlp.experts.", parts[n].name, NULL);
    g_autofree char *with_bias = g_strconcat (name, "_bias", NULL);
    g_autoptr (LigTensor) theirs = lig_tensor_file_get (out, name, NULL);
    g_autoptr (LigTensor) whole = lig_tensor_file_get (own, parts[n].path, NULL);
    gint64 columns = parts[n].axes[1], rows = parts[n].axes[2];
    g_assert_cmpint (theirs->shape.n_axes, ==, 3);
    g_assert_cmpmem (theirs->shape.axes, 3 * sizeof (gint64), parts[n].axes, sizeof parts[n].axes);
    for (gint64 i = 0; i < whole->size; i++) {
      gint64 expert = i / (rows * columns), row = i / columns % rows, column = i % columns;
      gint64 other = !parts[n].halves ? row : row < 5 ? 2 * row : 2 * (row - 5) + 1;
      g_assert_cmpfloat (lig_tensor_get (whole, i), ==,
                         lig_tensor_get (theirs, (expert * columns + column) * rows + other));
    }
    g_autofree char *path = g_strdup_printf ("2.experts-fc%u.bias", n + 1);
    g_autoptr (LigTensor) bias = lig_tensor_file_get (out, with_bias, NULL);
    g_autoptr (LigTensor) ours = lig_tensor_file_get (own, path, NULL);
    for (gint64 i = 0; i < ours->size; i++) {
      gint64 expert = i / rows, row = i % rows;
      gint64 other = !parts[n].halves ? row : row < 5 ? 2 * row : 2 * (row - 5) + 1;
      g_assert_cmpfloat (lig_tensor_get (ours, i), ==,
                         lig_tensor_get (bias, expert * rows + other));
    }
  }
}

/* Adds a tensor of bytes. */
static guint8 *
add_bytes (LigTensorFile *file, const char *name, gint64 rows, gint64 last)
{
  LigShape shape;
  lig_shape_init (&shape, last ? 4 : 3, (gint64) 3, rows, (gint64) 1, last);
  g_autoptr (LigTensor) tensor = lig_tensor_new (LIG_UINT8, &shape, NULL);
  lig_tensor_file_add (file, name, tensor);
  return tensor->data;
}

#define OSS_FC1 "model.layers.1.mlp.experts.gate_up_proj"
#define OSS_FC2 "model.layers.1.mlp.experts.down_proj"

/* The released files of GPT-OSS have experts in MXFP4, not transposed. */
static void
test_quantized (void)
{
  /* Values of the codes 0 to 15, in order, times 2^(130 - 127). */
  static const double known[] = {0, 4, 8, 12, 16, 24, 32, 48, 0, -4, -8, -12, -16, -24, -32, -48};
  g_autoptr (GError) error = NULL;
  g_autoptr (LigTensorFile) out = export(oss, "gpt-oss");
  g_autoptr (LigTensorFile) file = without (out, OSS_FC1);
  guint8 *blocks = add_bytes (file, OSS_FC1 "_blocks", 10, 16);
  guint8 *scales = add_bytes (file, OSS_FC1 "_scales", 10, 0);
  /* Row 3 of expert 1 is row 1 of its up projection. */
  gint64 row = 10 + 3;
  for (int i = 0; i < 16; i++)
    blocks[16 * row + i] = (guint8) (2 * i % 16 | (2 * i + 1) % 16 << 4);
  memset (scales, 127, 30);
  scales[row] = 130;
  scales[row + 1] = 255;
  LigImport *import = NULL;
  g_assert_true (try_import (file, oss, &import, &error));
  g_assert_no_error (error);
  g_autoptr (LigTensor) read = lig_import_read (import, "2.experts-fc1.weight", &error);
  g_assert_no_error (error);
  g_assert_cmpint (read->dtype, ==, LIG_BF16);
  for (gint64 i = 0; i < 32; i++) {
    g_assert_cmpfloat (lig_tensor_get (read, (10 + 5 + 1) * 32 + i), ==, known[i % 16]);
    g_assert_cmpfloat (lig_tensor_get (read, (10 + 5) * 32 + i), ==, 0);
    /* A scale of all ones is NaN. */
    g_assert_true (isnan (lig_tensor_get (read, (10 + 2) * 32 + i)));
  }
  lig_import_free (import);
  g_autoptr (LigTensorFile) odd = without (file, OSS_FC2);
  add_bytes (odd, OSS_FC2 "_blocks", 32, 16);
  add_bytes (odd, OSS_FC2 "_scales", 32, 0);
  assert_rejected (odd, oss,
                   "2.experts-fc2.weight is 3x32x5, which cannot be split into "
                   "layers.1.mlp.experts.down_proj_blocks; " OSS_FC2 "_scales is surplus");
  g_autoptr (LigTensorFile) fewer = without (file, OSS_FC1 "_scales");
  assert_rejected (fewer, oss, OSS_FC1 "_scales (for 2.experts-fc1.weight) is missing");
  add_bytes (fewer, OSS_FC1 "_scales", 9, 0);
  assert_rejected (fewer, oss,
                   OSS_FC1 "_scales is 3x9x1, expected 3x10x1 (for 2.experts-fc1.weight)");
  add (fewer, OSS_FC1 "_scales", 3, 10);
  assert_rejected (fewer, oss,
                   OSS_FC1 "_scales is fp32, expected uint8 (for 2.experts-fc1.weight)");
}

/* The modules of newer versions of transformers have one tensor for all experts; so have files
 * that were written without its conversion. */
static void
test_merged (void)
{
  static const char *const renamed[][2] = {
    {"router.weight", "gate.weight"},
    {"experts-fc1.weight", "experts.gate_up_proj"},
    {"experts-fc2.weight", "experts.down_proj"},
  };
  static const struct {
    const Own *own;
    const char *names;
  } cases[] = {{mixtral, "mixtral"}, {qwen, "qwen3-moe"}};
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (LigTensorFile) own = make (cases[i].own);
    g_autoptr (LigTensorFile) out = export(cases[i].own, cases[i].names);
    g_autoptr (LigTensorFile) merged = lig_tensor_file_new ();
    for (const char *const *name = lig_tensor_file_get_names (out); *name; name++) {
      g_autoptr (LigTensor) tensor = lig_tensor_file_get (out, *name, NULL);
      if (!strstr (*name, ".block_sparse_moe.") && !strstr (*name, ".mlp."))
        lig_tensor_file_add (merged, *name, tensor);
    }
    for (guint layer = 0; layer < 2; layer++)
      for (guint j = 0; j < G_N_ELEMENTS (renamed); j++) {
        g_autofree char *path = g_strdup_printf ("%u.%s", layer + 1, renamed[j][0]);
        g_autofree char *name = g_strdup_printf ("model.layers.%u.mlp.%s", layer, renamed[j][1]);
        g_autoptr (LigTensor) tensor = lig_tensor_file_get (own, path, NULL);
        lig_tensor_file_add (merged, name, tensor);
      }
    check_import (merged, cases[i].own, cases[i].names);
    add (merged, "model.layers.1.mlp.experts.down_proj", 3, 8);
    assert_rejected (merged, cases[i].own,
                     "model.layers.1.mlp.experts.down_proj is 3x8, expected 3x8x5 (for "
                     "2.experts-fc2.weight)");
  }
}

#define SPARSE "model.layers.1.block_sparse_moe."

static void
test_differences (void)
{
  g_autoptr (LigTensorFile) out = export(mixtral, "mixtral");
  g_autoptr (LigTensorFile) fewer = without (out, SPARSE "experts.1.w2.weight");
  assert_rejected (fewer, mixtral,
                   SPARSE "experts.1.w2.weight (for 2.experts-fc2.weight) is missing, the file has "
                          "2 of 3");
  g_autoptr (LigTensorFile) more = without (out, "");
  add (more, SPARSE "experts.3.w1.weight", 5, 8);
  assert_rejected (more, mixtral,
                   SPARSE "experts.3.w1.weight is surplus, the file has 4, expected 3 (for "
                          "2.experts-fc1.weight)");
  g_autoptr (LigTensorFile) wrong = without (out, "");
  add (wrong, SPARSE "experts.2.w3.weight", 5, 7);
  assert_rejected (wrong, mixtral,
                   SPARSE "experts.2.w3.weight is 5x7, expected 5x8 (for 2.experts-fc1.weight)");
  g_autoptr (LigTensorFile) distant = without (out, "");
  add (distant, SPARSE "experts.7.w1.weight", 5, 8);
  assert_rejected (distant, mixtral, SPARSE "experts.7.w1.weight is surplus");
}

/* A file that lacks any one tensor is still recognized, and the error names the tensor. The
 * embedding and the head replace each other. */
static void
test_missing (void)
{
  static const struct {
    const Own *own;
    const char *names;
  } cases[] = {{mixtral, "mixtral"},
               {qwen, "qwen3-moe"},
               {mixed, "qwen3-moe"},
               {dense, "llama"},
               {oss, "gpt-oss"}};
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (LigTensorFile) out = export(cases[i].own, cases[i].names);
    for (const char *const *name = lig_tensor_file_get_names (out); *name; name++) {
      g_autoptr (GError) error = NULL;
      g_autoptr (LigTensorFile) part = without (out, *name);
      LigImport *import = NULL;
      if (g_str_equal (*name, "lm_head.weight") || strstr (*name, "embed_tokens"))
        continue;
      g_assert_false (try_import (part, cases[i].own, &import, &error));
      g_autofree char *begin =
        g_strdup_printf ("the weights do not fit the sequence: %s (for ", *name);
      g_assert_true (g_str_has_prefix (error->message, begin));
      g_assert_nonnull (strstr (error->message, " is missing"));
      g_assert_null (strstr (error->message, "; "));
    }
  }
}

/* Parameters for which such models have no names, and layers that have neither an MLP nor
 * experts, are not written. */
static void
test_unwritable (void)
{
  static const struct {
    const char *names;
    Own own; /* replaces or adds a parameter */
    const char *words;
  } cases[] = {
    {"llama", {"1.router.weight", 2, {3, 8}}, "1.experts-fc1.weight has no counterpart; "},
    {"mixtral", {"1.shared-fc1.weight", 2, {4, 8}}, "1.shared-fc1.weight has no counterpart"},
    {"mixtral", {"1.router.bias", 1, {3}}, "1.router.bias has no counterpart"},
    {"mixtral", {"1.experts-fc1.bias", 2, {3, 10}}, "1.experts-fc1.bias has no counterpart"},
    {"mixtral", {"1.qk-norm.query", 1, {3}}, "1.qk-norm.query has no counterpart"},
    {"mixtral",
     {"1.experts-fc1.weight", 3, {3, 5, 8}},
     "1.experts-fc1.weight is 3x5x8, which cannot be split into "
     "layers.0.block_sparse_moe.experts.0.w1.weight, "
     "layers.0.block_sparse_moe.experts.0.w3.weight"},
    {"mixtral",
     {"1.experts-fc1.weight", 2, {30, 8}},
     "1.experts-fc1.weight is 30x8, which cannot be split into "},
    {"mixtral",
     {"1.experts-fc2.weight", 3, {0, 8, 5}},
     "1.experts-fc2.weight is 0x8x5, which cannot be split into "},
    {"gpt-oss",
     {"1.experts-fc1.weight", 3, {3, 9, 32}},
     "1.experts-fc1.weight is 3x9x32, which cannot be split into "
     "layers.0.mlp.experts.gate_up_proj"},
    {"gpt-oss", {"1.router.weight", 2, {3, 8}}, "model.layers.0.self_attn.sinks has no "},
    {"qwen3-moe",
     {"1.router.weight", 2, {3, 8}},
     "model.layers.0.self_attn.q_norm.weight has no counterpart"},
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;
    const LigShape shape = shape_of (&cases[i].own);
    g_autoptr (LigTensor) tensor = lig_tensor_new (LIG_FP32, &shape, NULL);
    g_autoptr (LigTensorFile) file = make (mixtral);
    lig_tensor_file_add (file, cases[i].own.path, tensor);
    g_assert_null (lig_weights_export (file, cases[i].names, 0, -1, &error));
    g_assert_error (error, LIG_ERROR, LIG_ERROR_SHAPE);
    if (!strstr (error->message, cases[i].words))
      g_test_fail_printf ("'%s' lacks '%s'", error->message, cases[i].words);
  }
  g_autoptr (GError) error = NULL;
  g_autoptr (LigTensorFile) whole = make (mixed);
  g_autoptr (LigTensorFile) neither = without (whole, "2.router.weight");
  g_assert_null (lig_weights_export (neither, "qwen3-moe", 0, -1, &error));
  g_assert_cmpstr (error->message, ==,
                   "the parameters do not fit the names of qwen3-moe: "
                   "model.layers.1.mlp.gate.weight has no counterpart; "
                   "model.layers.1.mlp.gate_proj.weight has no counterpart; "
                   "model.layers.1.mlp.down_proj.weight has no counterpart");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/names-experts/round", test_round);
  g_test_add_func ("/names-experts/layout", test_layout);
  g_test_add_func ("/names-experts/interleaved", test_interleaved);
  g_test_add_func ("/names-experts/quantized", test_quantized);
  g_test_add_func ("/names-experts/merged", test_merged);
  g_test_add_func ("/names-experts/differences", test_differences);
  g_test_add_func ("/names-experts/missing", test_missing);
  g_test_add_func ("/names-experts/unwritable", test_unwritable);
  return g_test_run ();
}
