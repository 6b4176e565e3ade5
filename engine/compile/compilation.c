/* SPDX-License-Identifier: MIT */
/* Creates, reads and frees graphs. */
#include "engine/compile/compilation.h"

#include "engine/choose/choice.h"
#include "engine/parallel/positions.h"
#include "engine/parallel/vocabulary.h"
#include "engine/quantize/quantizers.h"
#include "engine/sequence/sequence-private.h"
#include <ligature/loss-scaling.h>
#include <ligature/optimizer.h>
#include <ligature/state-arrays.h>

#include <glib/gi18n-lib.h>

/* Chooses the types: compute follows the sequence, else the input's type if floating, else fp32;
 * parameters follow compute. */
static gboolean
choose_types (LigRequest *self, GError **error)
{
  int compute = self->options.compute, parameters = self->options.parameters;
  if (compute < 0)
    compute = lig_sequence_get_compute (self->sequence);
  if (compute < 0)
    compute = lig_dtype_is_floating (self->input_dtype) ? (int) self->input_dtype : LIG_FP32;
  if (parameters < 0)
    parameters = lig_sequence_get_parameters (self->sequence);
  if (parameters < 0)
    parameters = compute;
  self->compute = (LigDtype) compute;
  self->fp8_parameters = parameters == LIG_FP8_E4M3;
  if (self->fp8_parameters && lig_dtype_is_floating (self->compute)) {
    parameters = compute;
    if (lig_dtype_size (self->compute) != 2) {
      g_set_error (error, LIG_ERROR, LIG_ERROR_DTYPE,
                   _ ("parameters in fp8 are rounded from %s, expected a 16-bit compute type; "
                      "choose bf16:fp8 or fp16:fp8"),
                   lig_dtype_name (self->compute));
      return lig_error_set_setting (error, "dtype");
    }
  }
  self->parameter_dtype = (LigDtype) parameters;
  self->gradient_dtype = self->options.accumulate ? LIG_FP32 : self->parameter_dtype;
  for (int i = 0; i < 2; i++) {
    LigDtype dtype = i == 0 ? self->compute : self->parameter_dtype;
    if (!lig_dtype_is_floating (dtype)) {
      g_set_error (error, LIG_ERROR, LIG_ERROR_DTYPE, _ ("%s type is %s, expected %s"),
                   i == 0 ? _ ("compute") : _ ("parameter"), lig_dtype_name (dtype),
                   lig_dtype_names (lig_dtypes_with (LIG_DTYPE_COMPUTES), _ (" or ")));
      return FALSE;
    }
  }
  return TRUE;
}

static gboolean
choose_input (LigRequest *self, GError **error)
{
  if (!lig_sequence_has_input (self->sequence)) {
    g_autofree char *like = lig_sequence_suggest_input (self->sequence);
    g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
                 _ ("the sequence has no input shape; set the input's shape, like %s"), like);
    return lig_error_set_setting (error, "input");
  }
  lig_sequence_get_input (self->sequence, &self->input, &self->input_dtype);
  if (self->options.batch > 0 && self->input.n_axes > 0)
    self->input.axes[0] = self->options.batch;
  const LigCacheShape *cache = &self->options.cache;
  if (cache->rows > 0) {
    if (self->input_dtype != LIG_INT32 || self->input.n_axes != 2) {
      g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
                   _ ("a plan with a cache takes tokens, int32 of batch x tokens; set the input, "
                      "such as 1x256:int32"));
      return lig_error_set_setting (error, "input");
    }
    lig_shape_init (&self->input, 2, cache->rows, cache->step);
  }
  if (!lig_positions_shard (self, error))
    return FALSE;
  return lig_shape_check (&self->input, self->input_dtype, error);
}

/* Copies the options and everything that they point to, because the caller may free it before the
 * plan. */
static void
keep_options (LigRequest *self, const LigPlanOptions *options)
{
  self->options = *options;
  if (self->options.tuning) {
    self->tuning = *self->options.tuning;
    self->options.tuning = &self->tuning;
  }
  if (self->options.optimizer) {
    self->optimizer = g_memdup2 (self->options.optimizer, sizeof (LigOptimizer));
    self->options.optimizer = self->optimizer;
  }
  if (self->options.choices)
    self->options.choices = g_string_chunk_insert (self->strings, self->options.choices);
  if (self->options.recipe)
    self->options.recipe = g_string_chunk_insert (self->strings, self->options.recipe);
  if (self->options.freeze)
    self->options.freeze = g_string_chunk_insert (self->strings, self->options.freeze);
}

/* Returns the sequence without its forced fusions, which need more than one op. */
static void
drop_forces (LigSequence *sequence)
{
  static const char *const none[] = {NULL};
  for (int i = 0; i < (int) lig_sequence_get_length (sequence); i++) {
    LigOp *op = lig_sequence_get (sequence, i, NULL);
    if (lig_op_get_forced (op)[0])
      lig_op_set_forced (op, none);
    if (lig_op_get_body (op))
      drop_forces (lig_op_get_body (op));
  }
}

static LigRequest *
new_request (LigSequence *sequence,
             LigDevice *device,
             const LigPlanOptions *options,
             unsigned flags,
             GError **error)
{
  g_autoptr (LigRequest) self = g_new0 (LigRequest, 1);
  self->strings = g_string_chunk_new (64);
  self->sequence = lig_sequence_copy (sequence);
  self->serial = lig_sequence_get_serial (sequence);
  self->version = lig_sequence_get_version (sequence);
  self->device = g_object_ref (device);
  self->apart = (flags & LIG_REQUEST_APART) != 0;
  self->compared = (flags & LIG_REQUEST_COMPARED) != 0;
  self->uncertain_input = (flags & LIG_REQUEST_UNCERTAIN) != 0;
  keep_options (self, options);
  self->policy = lig_policy_for (self->options.policy, device);
  /* The time of a kernel depends on the lengths of texts, which a measurement lacks. */
  if (self->options.cache.rows > 0 && self->policy == LIG_POLICY_MEASURED)
    self->policy = LIG_POLICY_ALL;
  if (!lig_recompute_resolve (self->sequence, &self->options.recompute, error) ||
      !choose_input (self, error) || !choose_types (self, error) ||
      !lig_recipe_choose (self, error))
    return NULL;
  if (self->apart)
    drop_forces (self->sequence);
  return g_steal_pointer (&self);
}

LigGraph *
lig_graph_new (LigSequence *sequence,
               LigDevice *device,
               const LigPlanOptions *options,
               unsigned flags,
               GError **error)
{
  LigPlanOptions whole;
  if (!lig_plan_options_read (options, &whole, error) ||
      (whole.optimizer && !lig_optimizer_check (whole.optimizer, error)))
    return NULL;
  LigRequest *request = new_request (sequence, device, &whole, flags, error);
  if (!request)
    return NULL;
  LigGraph *self = g_new0 (LigGraph, 1);
  self->request = request;
  self->choice = lig_fuse_choice_new ();
  self->strings = g_string_chunk_new (4096);
  lig_graph_make_arrays (self);
  return self;
}

void
lig_compilation_free (LigGraph *graph)
{
  if (!graph)
    return;
  lig_fuse_choice_free (graph->choice);
  lig_vocabulary_free (graph->vocabulary);
  lig_graph_free_tables (graph);
}

void
lig_graph_follow (LigGraph *self, const LigRequest *of)
{
  LigRequest *request = (LigRequest *) self->request;
  request->serial = of->serial;
  request->version = of->version;
}

void
lig_graph_measure_nothing (LigGraph *self)
{
  LigRequest *request = (LigRequest *) self->request;
  if (request->policy == LIG_POLICY_MEASURED)
    request->policy = LIG_POLICY_ALL;
}
