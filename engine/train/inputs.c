/* SPDX-License-Identifier: MIT */
/* The facts that determine the bits of a run besides its sequence and settings, for the store. */
#include "engine/train/inputs.h"
#include "engine/base/json-private.h"
#include "engine/data/training.h"
#include "engine/measure/choices.h"
#include "engine/tensor/safetensors.h"
#include "engine/train/record.h"
#include "engine/train/run-private.h"
#include "kernels/cpu/threads.h"
#include "kernels/threads.h"
#include <ligature/json-members.h>
#include <ligature/json.h>
#include <ligature/kernels.h>
#include <ligature/optimizer.h>
#include <ligature/weights.h>

#include <glib/gi18n-lib.h>

/* The bytes that are hashed per call, which takes a signed count. */
#define HASHED_AT_ONCE ((gsize) 1 << 30)

static gboolean
hash_file (GChecksum *to, const char *path, GError **error)
{
  g_autoptr (GError) failure = NULL;
  g_autoptr (GMappedFile) file = g_mapped_file_new (path, FALSE, &failure);
  if (!file) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_FILE, _ ("%s: cannot be read: %s"), path,
                 failure->message);
    return FALSE;
  }
  const guchar *content = (const guchar *) g_mapped_file_get_contents (file);
  gsize length = g_mapped_file_get_length (file);
  for (gsize at = 0; at < length; at += HASHED_AT_ONCE)
    g_checksum_update (to, content + at, (gssize) MIN (length - at, HASHED_AT_ONCE));
  return TRUE;
}

char *
lig_run_hash_weights (const char *path, GError **error)
{
  g_autoptr (GChecksum) hash = g_checksum_new (G_CHECKSUM_SHA256);
  g_autoptr (LigTensorFile) file = lig_weights_open (path, error);
  g_autoptr (GPtrArray) paths = file ? lig_tensor_file_get_paths (file) : NULL;
  for (guint i = 0; paths && i < paths->len; i++)
    if (!hash_file (hash, g_ptr_array_index (paths, i), error))
      return NULL;
  return paths ? g_strdup (g_checksum_get_string (hash)) : NULL;
}

static void
add_machine (JsonBuilder *to, LigDevice *device, int threads)
{
  if (lig_device_has (device, LIG_DEVICE_CHOOSES)) {
    g_autofree char *algorithms = lig_algorithms_list ();
    lig_json_add_text (to, "algorithms", algorithms);
    return;
  }
  lig_cpu_prepare_threads ();
  lig_json_add_integer (to, "threads", threads > 0 ? threads : omp_get_max_threads ());
  lig_json_add_text (to, "instructions", lig_cpu_level ());
}

/* Adds the ranks and, unless they are only data-parallel, the parallelism. */
static void
add_ranks (JsonBuilder *to, LigDevice *device)
{
  const LigLayout *layout = lig_device_get_ranks (device) ? lig_device_get_layout (device) : NULL;
  if (!layout)
    return;
  int count = lig_device_get_n_ranks (device, LIG_GROUP_ALL);
  g_autofree char *text = lig_layout_to_string (layout);
  lig_json_add_integer (to, "ranks", count);
  if (!lig_layout_is_default (layout))
    lig_json_add_text (to, "parallel", text);
}

static char *
finish (JsonBuilder *builder)
{
  GString *text = g_string_new (NULL);
  json_builder_end_object (builder);
  g_autoptr (JsonNode) root = json_builder_get_root (builder);
  lig_json_append (text, root);
  return g_string_free (text, FALSE);
}

char *
lig_run_describe_inputs (LigRun *self)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  g_autofree char *content =
    g_strdup_printf ("%016" G_GINT64_MODIFIER "x", lig_dataset_get_content (self->data));
  g_autofree char *table = lig_dataset_describe_table (self->data);
  json_builder_begin_object (builder);
  lig_json_add_text (builder, "data", lig_dataset_describe (self->data));
  lig_json_add_text (builder, "content", content);
  if (table)
    lig_json_add_document (builder, "table", table);
  if (self->init) {
    lig_json_add_text (builder, "init", self->init);
    lig_json_add_text (builder, "weights", self->weights);
  }
  lig_json_add_text (builder, "choices", self->choices ? self->choices : "");
  if (self->calibration_choices)
    lig_json_add_text (builder, "calibration-choices", self->calibration_choices);
  add_machine (builder, self->device, self->threads);
  add_ranks (builder, self->device);
  if (self->repeats)
    lig_json_add_text (builder, "repeats", self->repeats);
  if (self->branches)
    lig_json_add_integer (builder, "continues", self->first_step);
  return finish (builder);
}

char *
lig_run_renew_inputs (LigRun *self, const char *inputs)
{
  static const char *const members[] = {
    "choices", "calibration-choices", "algorithms", "threads", "instructions", "ranks", "parallel",
    NULL};
  g_autofree char *now = lig_run_describe_inputs (self);
  g_autoptr (JsonNode) before = inputs ? lig_json_from_text (inputs, NULL) : NULL;
  g_autoptr (JsonNode) after = lig_json_from_text (now, NULL);
  if (!before || !JSON_NODE_HOLDS_OBJECT (before))
    return NULL;
  JsonObject *to = json_node_get_object (before), *from = json_node_get_object (after);
  if (lig_json_get_int (to, "ranks", 1) == lig_json_get_int (from, "ranks", 1) &&
      g_strcmp0 (lig_json_get_string (to, "parallel", NULL),
                 lig_json_get_string (from, "parallel", NULL)) == 0)
    return NULL;
  for (const char *const *name = members; *name; name++) {
    json_object_remove_member (to, *name);
    if (json_object_has_member (from, *name))
      json_object_set_member (to, *name, json_object_dup_member (from, *name));
  }
  GString *text = g_string_new (NULL);
  lig_json_append (text, before);
  return g_string_free (text, FALSE);
}

char *
lig_plan_describe_inputs (LigPlan *plan, const LigPlanOptions *options, guint rounds)
{
  static const LigPlanOptions usual = LIG_PLAN_OPTIONS_INIT;
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  g_autofree char *choices = lig_plan_get_choices (plan);
  options = options ? options : &usual;
  json_builder_begin_object (builder);
  lig_json_add_truth (builder, "training", lig_plan_has_pass (plan, LIG_PASS_BACKWARD));
  lig_json_add_truth (builder, "input-gradient", options->input_gradient);
  lig_json_add_truth (builder, "accumulate", options->accumulate);
  if (options->optimizer)
    lig_json_add_text (builder, "optimizer",
                       options->optimizer->name ? options->optimizer->name : LIG_OPTIMIZER_DEFAULT);
  lig_json_add_text (builder, "parameters", lig_plan_get_parameters_name (plan));
  lig_json_add_integer (builder, "rounds", rounds);
  lig_json_add_text (builder, "choices", choices ? choices : "");
  add_machine (builder, lig_plan_get_device (plan), 0);
  add_ranks (builder, lig_plan_get_device (plan));
  if (lig_device_get_ranks (lig_plan_get_device (plan))) {
    lig_json_add_truth (builder, "shard-optimizer", options->shard_optimizer);
    lig_json_add_integer (builder, "bucket-bytes", lig_plan_get_bucket_bytes (plan));
  }
  return finish (builder);
}
