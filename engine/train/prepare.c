/* SPDX-License-Identifier: MIT */
/* All checks and preparations before a run starts. */
#include "engine/data/kind.h"
#include "engine/data/training.h"
#include "engine/sequence/sequence-private.h"
#include "engine/train/data.h"
#include "engine/train/programs.h"
#include "engine/train/ranks.h"
#include "engine/train/run-private.h"
#include "engine/train/types.h"
#include <ligature/compile.h>
#include <ligature/optimizer.h>
#include <ligature/recipe.h>
#include <ligature/units.h>

#include <glib/gi18n-lib.h>
#include <inttypes.h>

/* Returns how an op changes the number of rows of a rank: 1 if it multiplies it by the number of
 * data-parallel ranks, -1 if it divides by it. */
static int
count_gathered (const LigPlanOp *op)
{
  g_autofree char *group = NULL;
  if (!(op->info->flags & LIG_OP_MOVES_ROWS))
    return 0;
  g_object_get (op->op, "group", &group, NULL);
  if (!g_str_equal (group, lig_rank_group_name (LIG_GROUP_DATA)))
    return 0;
  return op->info->flags & LIG_OP_GATHERS_ROWS ? 1 : -1;
}

/* Checks that the loss gets the rows of this rank, for which it has targets, and not those of all
 * ranks. */
static gboolean
check_rows (LigRun *self, const LigPlanOp *ops, guint count, GError **error)
{
  const char *path = NULL;
  int gathered = 0, ranks = lig_device_get_n_ranks (self->device, LIG_GROUP_DATA);
  for (guint i = 0; i < count && ranks > 1; i++) {
    int more = count_gathered (&ops[i]);
    gathered += more;
    path = more > 0 ? ops[i].path : path;
  }
  if (gathered <= 0)
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_OP,
               _ ("all-gather at %s: the loss gets the rows of all ranks (data=%d), but each rank "
                  "has only the targets of its own rows; put shard-rows (group=data) after it"),
               path, ranks);
  return lig_error_set_path (error, path);
}

/* Checks that the last op is a loss. */
static gboolean
check_loss (LigRun *self, LigPlan *plan, GError **error)
{
  guint count;
  const LigPlanOp *ops = lig_plan_get_ops (plan, &count);
  const LigPlanOp *last = &ops[count - 1];
  if (!(last->info->flags & LIG_OP_LOSS)) {
    g_set_error (
      error, LIG_ERROR, LIG_ERROR_OP,
      _ ("the sequence ends with %s at %s, expected a loss: cross-entropy or mean-squared-error"),
      last->title, last->path);
    return lig_error_set_path (error, last->path);
  }
  self->classes = (last->info->flags & LIG_OP_CLASSES) != 0;
  gint64 ignored;
  if (self->classes && lig_run_get_loss_number (last->op, "ignored", &ignored))
    lig_dataset_set_ignored (self->data, (gint32) ignored);
  if (!check_rows (self, ops, count, error))
    return FALSE;
  /* The update may consist only of quantizer scales. */
  gint64 parameters = 0, trained = 0;
  for (guint i = 0; i < count; i++) {
    parameters += ops[i].parameters;
    trained += ops[i].parameters - ops[i].frozen - ops[i].own_updated;
  }
  if (trained > 0)
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_OP,
               parameters > 0 ? _ ("all parameters are frozen: there is nothing to train")
                              : _ ("the sequence has no parameters: there is nothing to train"));
  return FALSE;
}

/* Checks that a fixed loss scale other than 1 is used only with fp16. */
static gboolean
check_scale (LigRun *self, LigPlan *plan, GError **error)
{
  double scale = self->settings.loss_scale;
  if (scale == 0 || scale == 1 || lig_plan_get_compute (plan) == LIG_FP16)
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
               _ ("loss-scale is %g, but is only for fp16, and this run computes in %s; omit it, "
                  "or compute in fp16"),
               scale, lig_dtype_name (lig_plan_get_compute (plan)));
  return lig_error_set_setting (error, "loss-scale");
}

/* Returns whether some matmul has operands with recorded amaxes; names the recipe of one that has
 * none. */
static gboolean
has_histories (LigPlan *plan, const char **recipe)
{
  guint count;
  const LigPlanOp *ops = lig_plan_get_ops (plan, &count);
  for (guint i = 0; i < count; i++) {
    const LigRecipeInfo *info = ops[i].recipe ? lig_recipe_info_find (ops[i].recipe, NULL) : NULL;
    if (info && info->has_history)
      return TRUE;
    *recipe = info ? info->name : *recipe;
  }
  return FALSE;
}

/* Checks that calibration has amaxes to record. */
static gboolean
check_calibration (LigRun *self, LigPlan *plan, GError **error)
{
  const char *recipe = NULL;
  gint64 steps = self->settings.calibrate;
  LigRecipe around;
  if (steps == 0 || has_histories (plan, &recipe))
    return TRUE;
  if (!lig_recipe_parse (&around, lig_plan_get_recipe (plan), error))
    return FALSE;
  gboolean unused = !recipe && around.info && around.info->has_history;
  if (!recipe)
    recipe = around.info ? around.info->name : "none";
  if (unused)
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 _ ("calibrate is %" PRId64 ", but recipe %s quantizes no matmul of the sequence; "
                    "omit it"),
                 steps, recipe);
  else
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 _ ("calibrate is %" PRId64
                    ", but recipe %s keeps no amaxes of earlier steps; omit it, or train with "
                    "recipe fp8-delayed"),
                 steps, recipe);
  return lig_error_set_setting (error, "calibrate");
}

/* Checks that a batch fits into host memory before allocating it: with overcommitted memory the
 * process would be killed when it writes. */
static gboolean
check_batch (
  const LigShape *input, LigDtype dtype, const LigTarget *target, gint64 batch, GError **error)
{
  double bytes = (double) lig_shape_size (input) * (double) lig_dtype_size (dtype) +
                 (double) lig_shape_size (&target->shape) * (double) lig_dtype_size (target->dtype);
  g_autoptr (LigDevice) host = lig_device_open ("cpu", error);
  double memory = host ? (double) lig_device_get_facts (host)->memory : 0;
  if (host && (memory <= 0 || bytes <= memory))
    return TRUE;
  if (!host)
    return FALSE;
  g_autofree char *needed = lig_units_bytes (bytes), *available = lig_units_bytes (memory);
  g_set_error (error, LIG_ERROR, LIG_ERROR_MEMORY,
               _ ("a batch of %" PRId64 " takes %s, the host has %s; set a smaller batch"), batch,
               needed, available);
  return lig_error_set_setting (error, "batch");
}

static gboolean
bind_targets (LigRun *self, LigPlan *plan, GError **error)
{
  LigTarget target;
  LigShape input;
  LigDtype dtype;
  lig_run_find_target (plan, &target);
  lig_dataset_get_input (self->data, &input, &dtype);
  if (!check_batch (&input, dtype, &target, input.axes[0], error) ||
      !lig_dataset_bind (self->data, &target, error))
    return FALSE;
  if (lig_dataset_get_warning (self->data))
    lig_run_remark (self, "%s", lig_dataset_get_warning (self->data));
  return TRUE;
}

gboolean
lig_run_bind_classes (LigRun *self, GError **error)
{
  LigTarget target = self->data->target;
  target.classes = lig_sequence_get_classes (self->sequence);
  return lig_dataset_bind (self->data, &target, error);
}

const char *
lig_run_suggest_data (LigSequence *sequence)
{
  LigShape shape;
  LigDtype dtype;
  LigOp *first = lig_sequence_get (sequence, 0, NULL);
  gboolean integers = first && lig_op_get_info (first)->flags & LIG_OP_INTEGER_INPUT;
  if (lig_sequence_has_input (sequence)) {
    lig_sequence_get_input (sequence, &shape, &dtype);
    integers = !lig_dtype_is_floating (dtype);
  }
  return integers ? "text:FOLDER" : "csv:FILE";
}

/* The data determines the input; a floating-point type of the sequence's input is kept as the
 * compute type. */
static gboolean
open_data (LigRun *self, GError **error)
{
  LigShape shape = {0};
  LigDtype dtype = LIG_FP32;
  gboolean known = lig_sequence_has_input (self->sequence);
  if (!self->settings.data) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE, _ ("training needs data; set data, like %s"),
                 lig_run_suggest_data (self->sequence));
    return lig_error_set_setting (error, "data");
  }
  if (known)
    lig_sequence_get_input (self->sequence, &shape, &dtype);
  const LigDatasetInfo *info = lig_dataset_info_of (self->settings.data);
  if (!known && info && info->needs_shape) {
    g_autofree char *like = lig_sequence_suggest_input (self->sequence);
    g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
                 _ ("%s data: input shape unknown; set the input's shape, like %s"), info->name,
                 like);
    return lig_error_set_setting (error, "input");
  }
  lig_run_locate_data (&self->settings);
  self->data = lig_dataset_open (self->settings.data, known ? &shape : NULL, dtype,
                                 self->settings.batch, (guint64) self->settings.seed, error);
  if (!self->data)
    return FALSE;
  if (known && !lig_run_check_input (self->data, &shape, dtype, error))
    return FALSE;
  if (known && lig_dtype_is_floating (dtype) && lig_sequence_get_compute (self->sequence) < 0)
    lig_sequence_set_types (self->sequence, (int) dtype,
                            lig_sequence_get_parameters (self->sequence));
  lig_dataset_get_input (self->data, &shape, &dtype);
  lig_sequence_set_input (self->sequence, &shape, dtype);
  if (!known && self->settings.batch == 0)
    lig_run_remark (self, _ ("batch size %" PRId64 " by default"), shape.axes[0]);
  return lig_run_share_batch (self, error);
}

static gboolean
read_settings (LigRun *self, GError **error)
{
  const LigRunSettings *settings = &self->settings;
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  self->optimizer = g_new0 (LigOptimizer, 1);
  if (!lig_run_settings_check (settings, error) ||
      !lig_run_settings_get_optimizer (settings, self->optimizer, error))
    return FALSE;
  if (settings->policy && !lig_policy_from_name (settings->policy, &options.policy)) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 _ ("policy is '%s', expected none, all or measured"), settings->policy);
    return FALSE;
  }
  options.recompute = LIG_RECOMPUTE_NONE;
  if (settings->recompute && !lig_recompute_from_name (settings->recompute, &options.recompute)) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 _ ("recompute is '%.60s', expected none, cheap or all"), settings->recompute);
    return lig_error_set_setting (error, "recompute");
  }
  if (!lig_run_read_types (settings->dtype, &options.compute, &options.parameters, error))
    return FALSE;
  lig_tuning_init (&self->tuning, self->store);
  /* On asynchronous devices predicted times decide which steps overlap. */
  if (lig_device_has (self->device, LIG_DEVICE_ASYNCHRONOUS))
    lig_tuning_learn (self->device, self->store);
  options.tf32 = settings->tf32 != 0;
  options.nondeterministic = settings->nondeterministic != 0;
  options.shard_optimizer = settings->shard_optimizer != 0;
  options.bucket_bytes = settings->bucket_size << 20;
  options.tuning = &self->tuning;
  options.freeze = settings->freeze;
  self->train_options = self->eval_options = options;
  self->train_options.optimizer = self->optimizer;
  self->train_options.accumulate = settings->accumulate > 1;
  self->eval_options.training = FALSE;
  self->eval_options.accuracy = TRUE;
  return TRUE;
}

/* Uses a described device in place of this rank's, which has only a shard of each sequence, but the
 * full vocabulary against which tokens are checked. */
static void
assume_positions (LigRun *self, LigDevice *device)
{
  LigLayout layout = *lig_device_get_layout (self->device);
  int rank = lig_device_get_rank (self->device, LIG_GROUP_ALL);
  int tensor = lig_device_get_n_ranks (self->device, LIG_GROUP_TENSOR);
  layout.sizes[LIG_GROUP_TENSOR] = 1;
  lig_device_assume_ranks (device, rank / tensor, &layout);
}

gboolean
lig_run_prepare (LigRun *self, gboolean fresh, GError **error)
{
  if (!read_settings (self, error))
    return FALSE;
  /* Errors must not name the placeholder device below. */
  const char *recipe = lig_sequence_get_recipe (self->sequence);
  if (recipe && !lig_recipe_check_device (recipe, self->device, error))
    return FALSE;
  /* A sequence without an input shape is checked after it got one from the data. */
  if (!open_data (self, error))
    return FALSE;
  g_autoptr (LigDevice) null = lig_device_open ("null", error);
  LigPlanOptions probe = self->train_options;
  probe.policy = LIG_POLICY_NONE;
  probe.tuning = NULL;
  if (null && lig_device_get_n_ranks (self->device, LIG_GROUP_CONTEXT) > 1)
    assume_positions (self, null);
  g_autoptr (LigPlan) plan = null ? lig_plan_compile (self->sequence, null, &probe, error) : NULL;
  if (!plan || !check_loss (self, plan, error) || (fresh && !check_scale (self, plan, error)) ||
      !lig_run_check_extras (self, plan, error) || !bind_targets (self, plan, error) ||
      !lig_run_check_vocabulary (self->data, plan, error) || !check_calibration (self, plan, error))
    return FALSE;
  self->state = lig_state_new (self->sequence, self->device, &self->train_options,
                               (guint64) self->settings.seed, error);
  return self->state != NULL;
}
