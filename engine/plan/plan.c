/* SPDX-License-Identifier: MIT */
/* Plans: access to their tables, and their references. */
#include "engine/plan/plan-private.h"
#include <ligature/state-arrays.h>

#include <glib/gi18n-lib.h>

LigPlan *
lig_plan_ref (LigPlan *self)
{
  g_atomic_int_inc (&self->count);
  return self;
}

/* Frees the data that no other plan shares. */
static void
free_tables (LigPlan *self)
{
  GArray *const tables[] = {self->ops,
                            self->steps,
                            self->values,
                            self->ports,
                            self->operands,
                            self->codes,
                            self->ends.extra_inputs,
                            self->memories,
                            self->ends.extra_outputs,
                            self->verdicts};
  for (guint i = 0; i < G_N_ELEMENTS (tables); i++)
    g_array_unref (tables[i]);
  g_free (self->edges);
  g_free (self->grouped);
  g_ptr_array_unref (self->fixes[0]);
  g_ptr_array_unref (self->fixes[1]);
  g_ptr_array_unref (self->names);
  g_clear_pointer (&self->prices, g_hash_table_unref);
  g_string_chunk_free (self->strings);
  lig_state_layout_free (self->layout);
  lig_request_free (self->request);
}

void
lig_plan_unref (LigPlan *self)
{
  if (!g_atomic_int_dec_and_test (&self->count))
    return;
  g_array_unref (self->groups[0]);
  g_array_unref (self->groups[1]);
  if (self->of)
    lig_plan_unref (self->of);
  else
    free_tables (self);
  g_free (self);
}

G_DEFINE_BOXED_TYPE (LigPlan, lig_plan, lig_plan_ref, lig_plan_unref)

LigDevice *
lig_plan_get_device (LigPlan *self)
{
  return self->request->device;
}

LigSequence *
lig_plan_get_sequence (LigPlan *self)
{
  return self->request->sequence;
}

const LigPlanOptions *
lig_plan_get_options (LigPlan *self)
{
  return &self->request->options;
}

const char *
lig_plan_get_idle_recipe (LigPlan *self)
{
  return self->idle_recipe;
}

const char *
lig_plan_get_extra_input_name (LigPlan *self, guint n)
{
  g_return_val_if_fail (n < self->ends.extra_inputs->len, NULL);
  return lig_plan_value (self, g_array_index (self->ends.extra_inputs, int, n))->name;
}

/* Returns whether an op reads an extra input of the caller. A loaded branch reads a converted copy,
 * whose name is `#3.from:bf16`. */
static gboolean
reads (LigPlan *self, const LigPlanOp *op, int value)
{
  const LigPlanPort *port;
  const char *name = lig_plan_value (self, value)->name;
  for (int i = 0; (port = lig_plan_op_get_port (op, LIG_PORT_EXTRA_INPUT, i)); i++) {
    const char *read = port->value >= 0 ? lig_plan_value (self, port->value)->name : "";
    gsize length = strlen (name);
    if (strncmp (read, name, length) == 0 && (read[length] == '\0' || read[length] == ':'))
      return TRUE;
  }
  return FALSE;
}

const LigPlanOp *
lig_plan_find_extra_input_reader (LigPlan *self, guint n)
{
  guint count;
  const LigPlanOp *ops = lig_plan_get_ops (self, &count);
  g_return_val_if_fail (n < self->ends.extra_inputs->len, NULL);
  int value = g_array_index (self->ends.extra_inputs, int, n);
  guint i = 0;
  while (i + 1 < count && !reads (self, &ops[i], value))
    i++;
  return &ops[i];
}

char *
lig_plan_describe_extra_input (LigPlan *self, guint n)
{
  g_return_val_if_fail (n < self->ends.extra_inputs->len, NULL);
  const char *name = lig_plan_get_extra_input_name (self, n);
  const char *port = strrchr (name, '.');
  return g_strconcat (lig_plan_find_extra_input_reader (self, n)->path, port, NULL);
}

LigPolicy
lig_plan_get_policy (LigPlan *self)
{
  return self->request->policy;
}

LigDtype
lig_plan_get_compute (LigPlan *self)
{
  return self->request->compute;
}

LigDtype
lig_plan_get_parameters (LigPlan *self)
{
  return self->request->parameter_dtype;
}

const char *
lig_plan_get_parameters_name (LigPlan *self)
{
  return self->request->fp8_parameters ? LIG_FP8_PARAMETERS
                                       : lig_dtype_name (self->request->parameter_dtype);
}

gboolean
lig_plan_get_tf32 (LigPlan *self)
{
  return self->request->options.tf32;
}

gboolean
lig_plan_get_nondeterministic (LigPlan *self)
{
  return self->request->options.nondeterministic;
}

int
lig_plan_get_shares (LigPlan *self)
{
  gboolean shared = self->layout->shares->len > 0 && lig_plan_has_pass (self, LIG_PASS_UPDATE);
  return shared ? lig_device_get_n_ranks (self->request->device,
                                          lig_device_get_replicas (self->request->device))
                : 1;
}

gint64
lig_plan_get_bucket_bytes (LigPlan *self)
{
  return self->request->options.bucket_bytes;
}

const char *
lig_plan_get_recipe (LigPlan *self)
{
  const char *own = self->request->options.recipe;
  const char *text = own ? own : lig_sequence_get_recipe (self->request->sequence);
  return text ? text : "none";
}

LigRecompute
lig_plan_get_recompute (LigPlan *self)
{
  return self->request->options.recompute;
}

gint64
lig_plan_get_spared_bytes (LigPlan *self)
{
  return self->spared;
}

guint64
lig_plan_get_version (LigPlan *self)
{
  return self->request->version;
}

gboolean
lig_plan_has_pass (LigPlan *self, LigPass pass)
{
  switch (pass) {
  case LIG_PASS_FORWARD:
    return TRUE;
  case LIG_PASS_BACKWARD:
    return self->request->options.training;
  case LIG_PASS_UPDATE:
    return self->phases.update < (int) self->steps->len;
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
  return group->forced;
}

int
lig_plan_get_bits (LigPlan *self, const LigPlanGroup *group)
{
  return group->bits;
}

gboolean
lig_plan_is_quantized (LigPlan *self, const LigPlanGroup *group)
{
  return lig_plan_get_bits (self, group) > 0;
}

const LigVerdict *
lig_plan_get_verdicts (LigPlan *self, guint *count)
{
  *count = self->verdicts->len;
  return (const LigVerdict *) (gpointer) self->verdicts->data;
}

const LigFix *
lig_plan_find_fix (LigPlan *self, guint number, GError **error)
{
  guint max = 0;
  for (guint i = 0; i < self->verdicts->len; i++) {
    const LigVerdict *verdict = &g_array_index (self->verdicts, LigVerdict, i);
    const LigFix *fixes[] = {verdict->fix, verdict->alternative};
    for (guint k = 0; k < G_N_ELEMENTS (fixes); k++) {
      if (fixes[k] && fixes[k]->number == number)
        return fixes[k];
      max = MAX (max, fixes[k] ? fixes[k]->number : 0);
    }
  }
  g_set_error (error, LIG_ERROR, LIG_ERROR_INDEX,
               _ ("no edit has the number %u; the plan offers %u"), number, max);
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
      int fewest = group->fusion->min_pieces;
      if (fewest > 0 && group->pieces != fewest)
        g_string_append_printf (text, "/%d", group->pieces);
    }
  return g_string_free (text, FALSE);
}

gboolean
lig_plan_scales_loss (LigPlan *self)
{
  return self->ends.scales;
}

gint64
lig_plan_get_arena_bytes (LigPlan *self, gint64 *live_peak)
{
  if (live_peak)
    *live_peak = self->live_peak;
  return self->arena_bytes;
}

gint64
lig_plan_get_state_bytes (LigPlan *self)
{
  gboolean asked[LIG_MAX_STATE_ARRAYS] = {FALSE};
  gint64 bytes = 0;
  asked[LIG_STATE_PARAMETERS] = TRUE;
  asked[LIG_STATE_MASTER] = self->layout->stored_elements < self->layout->all_elements;
  for (int i = 0; i < (int) self->values->len; i++) {
    const LigPlanValue *value = lig_plan_value (self, i);
    if (value->role == LIG_VALUE_STATE)
      asked[value->array] = TRUE;
    if (value->role == LIG_VALUE_PARAMETER_GRADIENT)
      asked[LIG_STATE_GRADIENTS] = TRUE;
  }
  for (int i = 0; i < LIG_MAX_STATE_ARRAYS; i++)
    if (asked[i])
      bytes += lig_state_layout_elements (self->layout, i) *
               (gint64) lig_dtype_size (lig_request_array_dtype (self->request, i));
  return bytes + self->layout->history_elements * (gint64) sizeof (float);
}

guint
lig_plan_get_segments (LigPlan *self)
{
  return self->segments;
}

static void
describe (LigPlan *self, int value, LigShape *shape, LigDtype *dtype)
{
  *shape = lig_plan_value (self, value)->shape;
  *dtype = lig_plan_value (self, value)->dtype;
}

void
lig_plan_get_input (LigPlan *self, LigShape *shape, LigDtype *dtype)
{
  describe (self, self->ends.input, shape, dtype);
}

void
lig_plan_get_output (LigPlan *self, LigShape *shape, LigDtype *dtype)
{
  describe (self, self->ends.output, shape, dtype);
}

guint
lig_plan_get_n_extra_inputs (LigPlan *self)
{
  return self->ends.extra_inputs->len;
}

guint
lig_plan_get_n_extra_outputs (LigPlan *self)
{
  return self->ends.extra_outputs->len;
}

void
lig_plan_get_extra_input (LigPlan *self, guint n, LigShape *shape, LigDtype *dtype)
{
  g_return_if_fail (n < self->ends.extra_inputs->len);
  describe (self, g_array_index (self->ends.extra_inputs, int, n), shape, dtype);
}

void
lig_plan_get_extra_output (LigPlan *self, guint n, LigShape *shape, LigDtype *dtype)
{
  g_return_if_fail (n < self->ends.extra_outputs->len);
  describe (self, g_array_index (self->ends.extra_outputs, int, n), shape, dtype);
}

int
lig_plan_op_gradient (const LigPlan *self, int index)
{
  const LigPlanOp *op = lig_plan_op (self, index);
  if (index + 1 < (int) self->ops->len && lig_plan_op (self, index + 1)->hides[LIG_PASS_BACKWARD])
    op = lig_plan_op (self, index + 1);
  return lig_plan_op_get_port (op, LIG_PORT_Y, 0)->gradient;
}
