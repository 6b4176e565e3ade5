/* SPDX-License-Identifier: MIT */
/* ONNX files of each op and of each example sequence: every op is exported or rejected with a
 * reason, and the messages are consistent. tests/truth/exported.py computes them. */
#include "tests/base/contains.h"
#include "tests/plan/case.h"

#include <ligature/compile.h>
#include <ligature/onnx.h>

#ifdef LIG_PROTOBUF
#include "engine/onnx.pb-c.h"
#endif

#include <glib/gstdio.h>

/* Each table says either how the op is exported, or why it is not. */
static void
test_tables (void)
{
  const LigOpInfo *info;
  for (guint i = 0; (info = lig_op_info_nth (i)); i++) {
    gboolean parts = info->expand || info->flags & LIG_OP_BLOCK;
    int ways = (info->onnx != NULL) + (info->no_onnx != NULL) + parts;
    g_test_message ("%s", info->name);
    g_assert_cmpint (ways, ==, 1);
    g_assert_cmpint (lig_onnx_why_not (info) != NULL, ==, info->no_onnx != NULL);
  }
}

/* Exports the sequence before its loss, with initial weights. */
static GBytes *export(LigSequence *sequence,
                      const char *path,
                      LigOnnxCounts *counts,
                      GError **error)
{
  LigPlanOptions options = plan_options (LIG_POLICY_NONE, FALSE);
  options.before_loss =
    lig_op_get_info (
      lig_sequence_get (sequence, (int) lig_sequence_get_length (sequence) - 1, NULL))
      ->flags &
    LIG_OP_LOSS;
  g_autoptr (LigDevice) device = lig_device_open ("cpu", NULL);
  g_autoptr (LigState) state = lig_state_new (sequence, device, &options, 1, error);
  g_assert_nonnull (state);
  g_autoptr (LigTensorFile) weights = lig_tensor_file_new ();
  g_assert_true (lig_state_store (state, weights, FALSE, error));
  g_autoptr (LigPlan) plan = lig_state_plan (state, sequence, &options, error);
  g_assert_nonnull (plan);
  const LigOnnxOptions how = {path, path != NULL, "{}", "a run"};
  return lig_onnx_export (plan, weights, &how, counts, error);
}

#ifdef LIG_PROTOBUF

static const char *
find_entry (LigOnnx__Entry **entries, gsize count, const char *key)
{
  for (gsize i = 0; i < count; i++)
    if (g_str_equal (entries[i]->key, key))
      return entries[i]->value;
  return NULL;
}

static void
define (GHashTable *defined, const char *name)
{
  g_assert_true (*name);
  if (!g_hash_table_add (defined, (gpointer) name))
    g_error ("%s has two definitions", name);
}

/* The bytes of a tensor are those of its lengths and type. */
static void
check_tensor (const LigOnnx__Tensor *tensor)
{
  gsize bytes = tensor->data_type == 1 ? 4 : tensor->data_type == 7 ? 8 : 2;
  for (gsize i = 0; i < tensor->n_dims; i++)
    bytes *= (gsize) tensor->dims[i];
  if (tensor->data_location == 1)
    g_assert_cmpuint (
      g_ascii_strtoull (find_entry (tensor->external_data, tensor->n_external_data, "length"), NULL,
                        10),
      ==, bytes);
  else
    g_assert_cmpuint (tensor->raw_data.len, ==, bytes);
}

/* Values are defined once, and before they are read. */
static void
check_graph (const LigOnnx__Graph *graph)
{
  g_autoptr (GHashTable) defined = g_hash_table_new (g_str_hash, g_str_equal);
  for (gsize i = 0; i < graph->n_input; i++)
    define (defined, graph->input[i]->name);
  for (gsize i = 0; i < graph->n_initializer; i++) {
    define (defined, graph->initializer[i]->name);
    check_tensor (graph->initializer[i]);
  }
  for (gsize i = 0; i < graph->n_node; i++) {
    const LigOnnx__Call *node = graph->node[i];
    for (gsize k = 0; k < node->n_input; k++)
      if (!g_hash_table_contains (defined, node->input[k]))
        g_error ("%s reads %s, which has no definition", node->name, node->input[k]);
    for (gsize k = 0; k < node->n_output; k++)
      define (defined, node->output[k]);
  }
  for (gsize i = 0; i < graph->n_output; i++)
    g_assert_true (g_hash_table_contains (defined, graph->output[i]->name));
}

static LigOnnx__Model *
unpack (GBytes *bytes)
{
  gsize size;
  const guint8 *data = g_bytes_get_data (bytes, &size);
  LigOnnx__Model *model = lig_onnx__model__unpack (NULL, size, data);
  g_assert_nonnull (model);
  return model;
}

/* Returns whether the sequence is exported. */
static gboolean
check_sequence (LigSequence *sequence)
{
  g_autoptr (GError) error = NULL;
  LigOnnxCounts counts;
  g_autoptr (GBytes) bytes = export(sequence, NULL, &counts, &error);
  if (!bytes) {
    g_test_message ("%s", error->message);
    g_assert_error (error, LIG_ERROR, LIG_ERROR_OP);
    assert_contains (error->message, ": not exported to ONNX: it ");
    return FALSE;
  }
  LigOnnx__Model *model = unpack (bytes);
  g_assert_cmpint (model->opset_import[0]->version, >=, 18);
  g_assert_cmpstr (find_entry (model->metadata_props, model->n_metadata_props, "ligature.run"), ==,
                   "a run");
  g_assert_cmpuint (model->graph->n_node, ==, counts.nodes);
  g_assert_cmpstr (model->graph->input[0]->name, ==, "input");
  g_assert_cmpstr (model->graph->output[0]->name, ==, "output");
  check_graph (model->graph);
  lig_onnx__model__free_unpacked (model, NULL);
  return TRUE;
}

static void
test_ops (void)
{
  const LigOpInfo *info;
  guint exported = 0;
  for (guint i = 0; (info = lig_op_info_nth (i)); i++) {
    g_auto (GStrv) parts = g_strsplit (info->example, " @ ", 2);
    g_autoptr (LigSequence) sequence = new_sequence (parts[0], parts[1]);
    /* A loss is not part of the graph. */
    if (info->flags & LIG_OP_LOSS)
      continue;
    g_test_message ("%s", info->example);
    gboolean found = check_sequence (sequence);
    exported += found;
    if (info->onnx)
      g_assert_true (found);
    if (info->no_onnx)
      g_assert_false (found);
  }
  g_assert_cmpuint (exported, >, 40);
}

/* The caller chooses the batch and the length of texts, but no features. */
static void
test_lengths (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigSequence) sequence = new_sequence (
    "embedding(8, vocabulary=16) ! position-embedding(5) ! transformer-layer(2) ! linear(16)",
    "2x5:int32");
  g_autoptr (GBytes) bytes = export(sequence, NULL, NULL, &error);
  g_assert_no_error (error);
  LigOnnx__Model *model = unpack (bytes);
  LigOnnx__Dimension **in = model->graph->input[0]->type->tensor_type->shape->dim;
  LigOnnx__Dimension **out = model->graph->output[0]->type->tensor_type->shape->dim;
  g_assert_cmpstr (in[0]->dim_param, ==, "batch");
  g_assert_cmpstr (in[1]->dim_param, ==, "sequence");
  g_assert_cmpstr (out[0]->dim_param, ==, "batch");
  g_assert_cmpstr (out[1]->dim_param, ==, "sequence");
  g_assert_cmpint (out[2]->dim_value, ==, 16);
  lig_onnx__model__free_unpacked (model, NULL);
}

/* The weights are in the second file, at the offsets that the first one says. */
static void
test_external (void)
{
  g_autoptr (GError) error = NULL;
  LigOnnxCounts counts;
  g_autofree char *folder = g_dir_make_tmp ("onnx-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "m.onnx", NULL);
  g_autofree char *data = g_strconcat (path, ".data", NULL), *contents = NULL;
  gsize size;
  g_autoptr (LigSequence) sequence = new_sequence ("linear(3) ! gelu ! linear(2)", "4x8");
  g_autoptr (GBytes) bytes = export(sequence, path, &counts, &error);
  g_assert_no_error (error);
  g_assert_true (counts.external);
  g_assert_cmpuint (counts.weights, ==, 4);
  g_assert_cmpint (counts.weight_bytes, ==, 4 * (3 * 8 + 3 + 2 * 3 + 2));
  g_assert_true (g_file_get_contents (data, &contents, &size, NULL));
  LigOnnx__Model *model = unpack (bytes);
  check_graph (model->graph);
  gsize last = 0;
  for (gsize i = 0; i < model->graph->n_initializer; i++) {
    const LigOnnx__Tensor *tensor = model->graph->initializer[i];
    if (tensor->data_location != 1)
      continue;
    g_assert_cmpstr (find_entry (tensor->external_data, 3, "location"), ==, "m.onnx.data");
    last = g_ascii_strtoull (find_entry (tensor->external_data, 3, "offset"), NULL, 10) +
           g_ascii_strtoull (find_entry (tensor->external_data, 3, "length"), NULL, 10);
  }
  g_assert_cmpuint (size, ==, last);
  lig_onnx__model__free_unpacked (model, NULL);
  (void) g_unlink (data);
  (void) g_rmdir (folder);
}

#else

static void
test_not_built (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigSequence) sequence = new_sequence ("gelu", "4x8");
  g_assert_false (lig_onnx_is_built ());
  g_autoptr (GBytes) bytes = export(sequence, NULL, NULL, &error);
  g_assert_error (error, LIG_ERROR, LIG_ERROR_FILE);
  assert_contains (error->message, "install protobuf-c-compiler");
}

#endif

/* An op that is not exported has its reason and its path in the error. */
static void
test_rejected (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigSequence) sequence = new_sequence ("linear(8) ! router(2) ! gelu", "4x8");
  g_autoptr (GBytes) bytes = export(sequence, NULL, NULL, &error);
  g_assert_null (bytes);
  g_assert_error (error, LIG_ERROR, LIG_ERROR_OP);
  assert_contains (error->message, "router at 1: not exported to ONNX: it works on rows");
  g_assert_cmpstr (lig_error_get_path (error), ==, "1");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/onnx/tables", test_tables);
  g_test_add_func ("/onnx/rejected", test_rejected);
#ifdef LIG_PROTOBUF
  g_test_add_func ("/onnx/ops", test_ops);
  g_test_add_func ("/onnx/lengths", test_lengths);
  g_test_add_func ("/onnx/external", test_external);
#else
  g_test_add_func ("/onnx/not-built", test_not_built);
#endif
  return g_test_run ();
}
