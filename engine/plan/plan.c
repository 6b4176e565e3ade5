/* SPDX-License-Identifier: MIT */
/* Plans: a compiled draft with its public tables. */
#include "engine/plan/plan-private.h"

#include "engine/compile/owned.h"
#include "engine/compile/predict.h"
#include "engine/compile/quantizers.h"
#include "engine/plan/attention-choice.h"

#include <glib/gi18n-lib.h>

/* Returns the bytes that this op saves for the backward pass and no earlier op saved. */
static gint64
saved_bytes (const LigDraft *draft, const LigPart *part, gboolean *counted)
{
  gint64 bytes = 0;
  int values[4 + LIG_MAX_KEPT + LIG_MAX_EXTRA], n = 0;
  values[n++] = lig_part_recalls (part) ? -1 : part->x;
  for (int i = 0; i < part->n_inputs; i++)
    values[n++] = part->extra_inputs[i];
  for (int i = 0; i < part->n_kept; i++)
    values[n++] = part->kept[i];
  if (part->quantizers[LIG_ROLE_INPUT] >= 0) {
    const LigForm *copy = &lig_quantizer (draft, part->quantizers[LIG_ROLE_INPUT])->transposed;
    values[n++] = copy->data;
    values[n++] = copy->scale;
  }
  values[n++] = part->y;
  for (int i = 0; i < n; i++) {
    if (values[i] < 0)
      continue;
    int root = lig_draft_root (draft, values[i]);
    gboolean own = lig_ports_find (part->ports->saves, "y") >= 0 || i + 1 < n;
    if (!lig_value (draft, values[i])->saved || counted[root] || !own)
      continue;
    counted[root] = TRUE;
    bytes += lig_value (draft, root)->bytes;
  }
  return bytes;
}

static const LigDraftParameter *
get_parameter (const LigDraft *draft, int value)
{
  int parameter = lig_value (draft, value)->parameter;
  return &g_array_index (draft->parameters, LigDraftParameter, parameter);
}

static void
list_ops (LigPlan *self)
{
  const LigDraft *draft = self->draft;
  g_autofree gboolean *counted = g_new0 (gboolean, draft->values->len);
  for (int i = 0; i < (int) draft->parts->len; i++) {
    const LigPart *part = lig_part (draft, i);
    LigPlanOp op = {
      .index = i,
      .path = part->path,
      .prefix = part->prefix,
      .op = part->op,
      .title = part->title,
      .info = part->info,
      .x = lig_value (draft, lig_part_recalls (part) ? part->y : part->x)->shape,
      .y = lig_value (draft, part->y)->shape,
      .y_dtype = lig_value (draft, part->y)->dtype,
      .saved_bytes = part->needs_backward ? saved_bytes (draft, part, counted) : 0,
      .needs_backward = part->needs_backward,
      .implicit = part->implicit,
      .recipe = lig_part_is_quantized (part) ? part->recipe->info->name : NULL,
      .unquantized = part->unquantized,
    };
    for (int j = 0; j < part->n_parameters; j++) {
      const LigDraftParameter *parameter = get_parameter (draft, part->parameters[j]);
      if (part->tied >> j & 1) {
        op.tied[j] = parameter->path;
        continue;
      }
      gint64 elements = lig_shape_size (&lig_value (draft, part->parameters[j])->shape);
      op.parameters += elements;
      op.frozen += parameter->trained ? 0 : elements;
    }
    g_array_append_val (self->ops, op);
  }
}

static void
list_groups (LigPlan *self, LigPass pass)
{
  for (int i = 0; i < (int) self->draft->groups[pass]->len; i++) {
    const LigGroup *from = lig_group (self->draft, pass, i);
    g_autofree char *title = lig_plan_name_ops (self, from->first, from->count);
    LigPlanGroup group = {
      from->fusion, pass,        from->first,     from->count, from->first_step, from->n_steps,
      from->bytes,  from->flops, from->predicted, 0,           from->measured,   NULL};
    for (int k = from->first_step; k < from->first_step + from->n_steps; k++)
      if (lig_step (self->draft, k)->group == i)
        group.floor += lig_predict_floor (self->draft, lig_step (self->draft, k));
    group.title = g_string_chunk_insert_const (self->strings, title);
    g_array_append_val (self->groups[pass], group);
  }
}

static const char *
describe_operands (LigPlan *self, const LigDraftStep *step)
{
  g_autoptr (GString) text = g_string_new (NULL);
  for (int i = 0; i < step->n_operands; i++)
    g_string_append_printf (text, "%s%s%s", i > 0 ? " " : "", i == step->n_inputs ? "-> " : "",
                            step->values[i] < 0 ? "-"
                                                : lig_value (self->draft, step->values[i])->name);
  return g_string_chunk_insert (self->strings, text->str);
}

static void
list_steps (LigPlan *self)
{
  self->segments = 1;
  for (int i = 0; i < (int) self->draft->steps->len; i++) {
    const LigDraftStep *from = lig_step (self->draft, i);
    LigPlanStep step = {from->kernel,
                        from->pass,
                        from->group,
                        from->part,
                        from->lane,
                        describe_operands (self, from),
                        from->read,
                        from->written,
                        from->flops,
                        from->predicted,
                        lig_predict_floor (self->draft, from),
                        i < self->draft->first_forward,
                        from->again,
                        from->starts,
                        from->lasts,
                        from->waited};
    self->segments += from->kernel == NULL;
    g_array_append_val (self->steps, step);
  }
}

static void
list_values (LigPlan *self)
{
  for (int i = 0; i < (int) self->draft->values->len; i++) {
    const LigValue *from = lig_value (self->draft, i);
    const LigValue *root = lig_value (self->draft, lig_draft_root (self->draft, i));
    gboolean in_state = from->role == LIG_VALUE_PARAMETER || from->role == LIG_VALUE_STATE ||
                        from->role == LIG_VALUE_PARAMETER_GRADIENT ||
                        from->role == LIG_VALUE_SCALING || from->role == LIG_VALUE_QUANTIZERS;
    LigPlanValue value = {
      .name = from->name,
      .shape = from->shape,
      .dtype = from->dtype,
      .place = in_state           ? "state"
               : from->alias >= 0 ? "alias"
               : from->offset < 0 ? "unused"
                                  : "arena",
      .offset = root->offset < 0 ? -1 : root->offset + from->alias_offset,
      .bytes = from->bytes,
      .first = root->first_step,
      .last = root->last_step,
      .saved = from->saved,
      .again = from->again,
    };
    g_array_append_val (self->values, value);
  }
}

LigPlan *
lig_plan_compile (LigSequence *sequence,
                  LigDevice *device,
                  const LigPlanOptions *options,
                  GError **error)
{
  LigDraft *draft = lig_draft_new (sequence, device, options, error);
  return draft ? lig_plan_finish (draft, error) : NULL;
}

LigPlan *
lig_plan_finish (LigDraft *started, GError **error)
{
  g_autoptr (LigDraft) draft = started;
  if (!lig_draft_compile (draft, error))
    return NULL;
  LigPlan *self = g_new0 (LigPlan, 1);
  g_atomic_int_set (&self->count, 1);
  self->draft = g_steal_pointer (&draft);
  self->version = self->draft->version;
  self->strings = g_string_chunk_new (4096);
  self->ops = g_array_new (FALSE, FALSE, sizeof (LigPlanOp));
  self->groups[0] = g_array_new (FALSE, FALSE, sizeof (LigPlanGroup));
  self->groups[1] = g_array_new (FALSE, FALSE, sizeof (LigPlanGroup));
  self->steps = g_array_new (FALSE, FALSE, sizeof (LigPlanStep));
  self->values = g_array_new (FALSE, FALSE, sizeof (LigPlanValue));
  list_ops (self);
  list_groups (self, LIG_PASS_FORWARD);
  list_groups (self, LIG_PASS_BACKWARD);
  list_steps (self);
  list_values (self);
  lig_attention_recall (self->draft);
  return self;
}

LigPlan *
lig_plan_ref (LigPlan *self)
{
  g_atomic_int_inc (&self->count);
  return self;
}

void
lig_plan_unref (LigPlan *self)
{
  if (!g_atomic_int_dec_and_test (&self->count))
    return;
  if (self->of) {
    g_array_unref (self->groups[0]);
    g_array_unref (self->groups[1]);
    lig_plan_unref (self->of);
    g_free (self);
    return;
  }
  g_array_unref (self->ops);
  g_array_unref (self->groups[0]);
  g_array_unref (self->groups[1]);
  g_array_unref (self->steps);
  g_array_unref (self->values);
  g_string_chunk_free (self->strings);
  lig_draft_free (self->draft);
  g_free (self);
}

G_DEFINE_BOXED_TYPE (LigPlan, lig_plan, lig_plan_ref, lig_plan_unref)

LigDevice *
lig_plan_get_device (LigPlan *self)
{
  return self->draft->device;
}

LigPolicy
lig_plan_get_policy (LigPlan *self)
{
  return self->draft->policy;
}

LigDtype
lig_plan_get_compute (LigPlan *self)
{
  return self->draft->compute;
}

LigDtype
lig_plan_get_parameters (LigPlan *self)
{
  return self->draft->parameter_dtype;
}

const char *
lig_plan_get_parameters_name (LigPlan *self)
{
  return self->draft->fp8_parameters ? LIG_FP8_PARAMETERS
                                     : lig_dtype_name (self->draft->parameter_dtype);
}

gboolean
lig_plan_get_tf32 (LigPlan *self)
{
  return self->draft->options.tf32;
}

gboolean
lig_plan_get_nondeterministic (LigPlan *self)
{
  return self->draft->options.nondeterministic;
}

int
lig_plan_get_shares (LigPlan *self)
{
  gboolean shared = self->draft->shares->len > 0 && lig_plan_has_pass (self, LIG_PASS_UPDATE);
  return shared ? lig_device_get_n_ranks (self->draft->device,
                                          lig_device_get_replicas (self->draft->device))
                : 1;
}

gint64
lig_plan_get_bucket_bytes (LigPlan *self)
{
  return self->draft->options.bucket_bytes;
}

const char *
lig_plan_get_recipe (LigPlan *self)
{
  const char *own = self->draft->options.recipe;
  const char *text = own ? own : lig_sequence_get_recipe (self->draft->sequence);
  return text ? text : "none";
}

LigRecompute
lig_plan_get_recompute (LigPlan *self)
{
  return self->draft->options.recompute;
}

gint64
lig_plan_get_spared_bytes (LigPlan *self)
{
  return self->draft->spared;
}

guint64
lig_plan_get_version (LigPlan *self)
{
  return self->version;
}

gboolean
lig_plan_has_pass (LigPlan *self, LigPass pass)
{
  switch (pass) {
  case LIG_PASS_FORWARD:
    return TRUE;
  case LIG_PASS_BACKWARD:
    return self->draft->options.training;
  case LIG_PASS_UPDATE:
    return self->draft->first_update < (int) self->draft->steps->len;
  default:
    return FALSE;
  }
}

const LigPlanOp *
lig_plan_get_ops (LigPlan *self, guint *count)
{
  *count = self->ops->len;
  return (const LigPlanOp *) (gpointer) self->ops->data;
}

const LigPlanGroup *
lig_plan_get_groups (LigPlan *self, LigPass pass, guint *count)
{
  g_return_val_if_fail (pass == LIG_PASS_FORWARD || pass == LIG_PASS_BACKWARD, NULL);
  *count = self->groups[pass]->len;
  return (const LigPlanGroup *) (gpointer) self->groups[pass]->data;
}

gboolean
lig_plan_is_forced (LigPlan *self, const LigPlanGroup *group)
{
  LigOp *written = lig_part (self->draft, group->first)->written;
  return group->fusion && g_strv_contains (lig_op_get_forced (written), group->fusion->name);
}

/* Returns the bits of a value's elements if it is a quantized copy, else 0. Two of 4 bits are in a
 * byte. */
static int
bits_of_copy (const LigDraft *draft, int value)
{
  if (lig_dtype_has (lig_value (draft, value)->dtype, LIG_DTYPE_QUANTIZED))
    return 8;
  for (guint i = 0; lig_value (draft, value)->dtype == LIG_UINT8 && i < draft->quantizers->len;
       i++) {
    const LigQuantizer *quantizer = lig_quantizer (draft, i);
    if (quantizer->row.data == value || quantizer->transposed.data == value)
      return quantizer->recipe->info->bits;
  }
  return 0;
}

int
lig_plan_get_bits (LigPlan *self, const LigPlanGroup *group)
{
  for (int i = group->first_step; i < group->first_step + group->n_steps; i++) {
    const LigDraftStep *step = lig_step (self->draft, i);
    for (int k = 0; k < step->n_operands; k++) {
      int bits = step->values[k] >= 0 ? bits_of_copy (self->draft, step->values[k]) : 0;
      if (bits > 0)
        return bits;
    }
  }
  return 0;
}

gboolean
lig_plan_is_quantized (LigPlan *self, const LigPlanGroup *group)
{
  return lig_plan_get_bits (self, group) > 0;
}

const LigVerdict *
lig_plan_get_verdicts (LigPlan *self, guint *count)
{
  *count = self->draft->verdicts->len;
  return (const LigVerdict *) (gpointer) self->draft->verdicts->data;
}

const LigMend *
lig_plan_find_mend (LigPlan *self, guint number, GError **error)
{
  guint most = 0;
  for (guint i = 0; i < self->draft->verdicts->len; i++) {
    const LigVerdict *verdict = &g_array_index (self->draft->verdicts, LigVerdict, i);
    const LigMend *mends[] = {verdict->mend, verdict->alternative};
    for (guint k = 0; k < G_N_ELEMENTS (mends); k++) {
      if (mends[k] && mends[k]->number == number)
        return mends[k];
      most = MAX (most, mends[k] ? mends[k]->number : 0);
    }
  }
  g_set_error (error, LIG_ERROR, LIG_ERROR_INDEX,
               _ ("no edit has the number %u; the plan offers %u"), number, most);
  return NULL;
}

const LigPlanStep *
lig_plan_get_steps (LigPlan *self, guint *count)
{
  *count = self->steps->len;
  return (const LigPlanStep *) (gpointer) self->steps->data;
}

const LigPlanValue *
lig_plan_get_values (LigPlan *self, guint *count)
{
  *count = self->values->len;
  return (const LigPlanValue *) (gpointer) self->values->data;
}

char *
lig_plan_get_choices (LigPlan *self)
{
  GString *text = g_string_new (NULL);
  for (int pass = 0; pass < 2; pass++)
    for (guint i = 0; i < self->groups[pass]->len; i++) {
      const LigPlanGroup *group = &g_array_index (self->groups[pass], LigPlanGroup, i);
      if (!group->fusion)
        continue;
      g_string_append_printf (text, "%s%s@%d+%d", text->len ? " " : "", group->fusion->name,
                              group->first, group->count);
      int fewest = group->fusion->least_pieces;
      int pieces = lig_group_get_pieces (self->draft, lig_group (self->draft, (LigPass) pass, i));
      if (fewest > 0 && pieces != fewest)
        g_string_append_printf (text, "/%d", pieces);
    }
  return g_string_free (text, FALSE);
}

gboolean
lig_plan_scales_loss (LigPlan *self)
{
  return self->draft->scales;
}

gint64
lig_plan_get_arena_bytes (LigPlan *self, gint64 *live_peak)
{
  if (live_peak)
    *live_peak = self->draft->live_peak;
  return self->draft->arena_bytes;
}

gint64
lig_plan_get_state_bytes (LigPlan *self)
{
  gboolean asked[LIG_MAX_STATE_ARRAYS] = {FALSE};
  gint64 bytes = 0;
  asked[LIG_STATE_PARAMETERS] = TRUE;
  asked[LIG_STATE_MASTER] = self->draft->stored_elements < self->draft->all_elements;
  for (int i = 0; i < (int) self->draft->values->len; i++) {
    const LigValue *value = lig_value (self->draft, i);
    if (value->role == LIG_VALUE_STATE)
      asked[value->array] = TRUE;
    if (value->role == LIG_VALUE_PARAMETER_GRADIENT)
      asked[LIG_STATE_GRADIENTS] = TRUE;
  }
  for (int i = 0; i < LIG_MAX_STATE_ARRAYS; i++)
    if (asked[i])
      bytes += lig_array_elements (self->draft, i) *
               (gint64) lig_dtype_size (lig_draft_array_dtype (self->draft, i));
  return bytes + self->draft->history_elements * (gint64) sizeof (float);
}

guint
lig_plan_get_segments (LigPlan *self)
{
  return self->segments;
}

static void
describe (LigPlan *self, int value, LigShape *shape, LigDtype *dtype)
{
  *shape = lig_value (self->draft, value)->shape;
  *dtype = lig_value (self->draft, value)->dtype;
}

void
lig_plan_get_input (LigPlan *self, LigShape *shape, LigDtype *dtype)
{
  describe (self, self->draft->input_value, shape, dtype);
}

void
lig_plan_get_output (LigPlan *self, LigShape *shape, LigDtype *dtype)
{
  describe (self, self->draft->output_value, shape, dtype);
}

guint
lig_plan_get_n_extra_inputs (LigPlan *self)
{
  return self->draft->callers_inputs->len;
}

guint
lig_plan_get_n_extra_outputs (LigPlan *self)
{
  return self->draft->callers_outputs->len;
}

void
lig_plan_get_extra_input (LigPlan *self, guint n, LigShape *shape, LigDtype *dtype)
{
  g_return_if_fail (n < self->draft->callers_inputs->len);
  describe (self, g_array_index (self->draft->callers_inputs, int, n), shape, dtype);
}

void
lig_plan_get_extra_output (LigPlan *self, guint n, LigShape *shape, LigDtype *dtype)
{
  g_return_if_fail (n < self->draft->callers_outputs->len);
  describe (self, g_array_index (self->draft->callers_outputs, int, n), shape, dtype);
}
