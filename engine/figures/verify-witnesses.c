/* SPDX-License-Identifier: MIT */
/* The plans that a verification runs for comparison, and the values that they have in common. */
#include "engine/figures/verify-witnesses.h"

#include "engine/device/device-private.h"

#include <glib/gi18n-lib.h>
#include <string.h>

/* --- Values in common ---------------------------------------------------------------------- */

/* Returns the value that a value is an alias of. */
static int
resolve (const LigPlan *plan, int value)
{
  const LigPlanValue *of = lig_plan_value (plan, value);
  while (of->alias >= 0 && of->alias_offset == 0 &&
         lig_shape_size (&of->shape) == lig_shape_size (&lig_plan_value (plan, of->alias)->shape)) {
    value = of->alias;
    of = lig_plan_value (plan, value);
  }
  return value;
}

static void
pair_value (LigWitness *self, int value, const LigWitness *right, int same)
{
  if (value < 0 || same < 0)
    return;
  value = resolve (self->plan, value);
  same = resolve (right->plan, same);
  const LigPlanValue *a = lig_plan_value (self->plan, value);
  const LigPlanValue *b = lig_plan_value (right->plan, same);
  if (lig_dtype_is_floating (a->dtype) && lig_dtype_is_floating (b->dtype) &&
      lig_shape_size (&a->shape) == lig_shape_size (&b->shape))
    self->shared[value] = same;
}

static void
pair_ops (LigWitness *self, int index, const LigWitness *right, int same)
{
  const LigPlanOp *a = lig_plan_op (self->plan, index), *b = lig_plan_op (right->plan, same);
  if (a->info != b->info)
    return;
  for (int i = 0; i < a->n_ports && i < b->n_ports; i++) {
    const LigPlanPort *port = &a->ports[i], *other = &b->ports[i];
    if (port->kind == LIG_PORT_Y || port->kind == LIG_PORT_EXTRA_OUTPUT)
      pair_value (self, port->value, right, other->value);
    if (port->kind == LIG_PORT_Y)
      pair_value (self, lig_plan_op_gradient (self->plan, index), right,
                  lig_plan_op_gradient (right->plan, same));
    else
      pair_value (self, port->gradient, right, other->gradient);
  }
}

/* Returns the next op that was written or belongs to a macro, skipping implicit ones. */
static int
next_op (const LigPlan *plan, int index)
{
  while (index < (int) plan->ops->len && lig_plan_op (plan, index)->implicit)
    index++;
  return index;
}

/* A recomputed copy has the name of the original with a suffix. */
static void
pair_copies (LigWitness *self)
{
  const LigPlan *plan = self->plan;
  g_autoptr (GHashTable) values = g_hash_table_new (g_str_hash, g_str_equal);
  for (int i = 0; i < (int) plan->values->len; i++)
    g_hash_table_insert (values, (gpointer) lig_plan_value (plan, i)->name,
                         GINT_TO_POINTER (i + 1));
  for (int i = 0; i < (int) plan->values->len; i++) {
    const char *name = lig_plan_value (plan, i)->name, *end = strrchr (name, ':');
    if (!lig_plan_value (plan, i)->again || !end)
      continue;
    g_autofree char *original = g_strndup (name, (gsize) (end - name));
    int value = GPOINTER_TO_INT (g_hash_table_lookup (values, original)) - 1;
    if (value >= 0)
      self->shared[i] = self->shared[resolve (plan, value)];
  }
}

/* Steps may write a value through any alias. */
static void
pair_names (LigWitness *self)
{
  const LigPlan *plan = self->plan;
  for (int i = 0; i < (int) plan->values->len; i++)
    if (self->shared[i] < 0)
      self->shared[i] = self->shared[resolve (plan, i)];
}

int
lig_witness_written (const LigWitness *self, int value)
{
  return value < 0 || self->shared[value] >= 0 ? value : lig_plan_root (self->plan, value);
}

/* Adds the elements of a part of a value to those of it that steps write. */
static void
cover (const LigPlan *plan, int value, int whole, gint64 *covered, guint8 *seen)
{
  if (!seen[value])
    covered[whole] += lig_shape_size (&lig_plan_value (plan, value)->shape);
  seen[value] = TRUE;
}

/* A value that steps write in parts is compared once all parts are written, if they cover the
 * value: some fusions write the rest to another value. */
static void
find_writers (LigWitness *self)
{
  const LigPlan *plan = self->plan;
  g_autofree gint64 *covered = g_new0 (gint64, plan->values->len + 1);
  g_autofree guint8 *seen = g_new0 (guint8, plan->values->len + 1);
  for (int i = 0; i < (int) plan->steps->len; i++) {
    const LigPlanStep *step = lig_plan_step (plan, i);
    for (int j = step->n_inputs; j < step->n_operands; j++) {
      int value = step->operands[j].value, whole = lig_witness_written (self, value);
      if (value < 0)
        continue;
      cover (plan, value, whole, covered, seen);
      self->last_writer[whole] = i;
    }
  }
  for (int i = 0; i < (int) plan->values->len; i++)
    if (covered[i] < lig_shape_size (&lig_plan_value (plan, i)->shape))
      self->last_writer[i] = -1;
}

static int *
new_numbers (guint count)
{
  int *numbers = g_new (int, count + 1);
  memset (numbers, 0xff, sizeof (int) * (count + 1)); /* -1 */
  return numbers;
}

void
lig_witnesses_pair (LigWitness witnesses[LIG_N_WITNESSES])
{
  const LigWitness *right = &witnesses[LIG_WITNESS_RIGHT];
  for (int n = 0; n < LIG_N_WITNESSES; n++) {
    LigWitness *self = &witnesses[n];
    const LigPlan *plan = self->plan, *other = right->plan;
    self->shared = new_numbers (plan->values->len);
    self->last_writer = new_numbers (plan->values->len);
    int i = next_op (plan, 0), j = next_op (other, 0);
    while (i < (int) plan->ops->len && j < (int) other->ops->len) {
      pair_ops (self, i, right, j);
      i = next_op (plan, i + 1);
      j = next_op (other, j + 1);
    }
    pair_copies (self);
    pair_names (self);
    find_writers (self);
  }
}

/* --- Errors -------------------------------------------------------------------------------- */

/* Infinities and NaNs in both, such as masked logits, are equal. */
void
lig_sum_errors (LigErrorSum *sum, const float *numbers, const float *right, gint64 count)
{
  for (gint64 i = 0; i < count; i++) {
    double x = (double) right[i], y = (double) numbers[i];
    if (!isfinite (x) && (isnan (x) ? isnan (y) : x == y))
      continue;
    sum->difference += (y - x) * (y - x);
    sum->whole += x * x;
    sum->matmul += x * y;
  }
}

double
lig_error_of (LigErrorSum sum)
{
  return sum.difference == 0      ? 0
         : sum.whole > 0          ? sqrt (sum.difference / sum.whole)
         : isnan (sum.difference) ? NAN
                                  : INFINITY;
}

float *
lig_witness_read (const LigWitness *self, int value, GError **error)
{
  const LigPlan *plan = self->plan;
  const LigPlanValue *of = lig_plan_value (plan, value);
  gsize count = (gsize) lig_shape_size (&of->shape), bytes = count * lig_dtype_size (of->dtype);
  void *memory = lig_program_address (self->program, value);
  g_autofree guint8 *data = g_try_malloc (bytes + 1);
  g_autofree float *numbers = g_try_new (float, count + 1);
  if (!data || !numbers) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_MEMORY, _ ("no memory for a copy of %s"), of->name);
    return NULL;
  }
  if (!memory || !lig_device_download (self->device, data, memory, bytes, error))
    return NULL;
  lig_widen (of->dtype, data, numbers, count);
  gboolean scaled = plan->ends.scales &&
                    (of->role == LIG_VALUE_GRADIENT || of->role == LIG_VALUE_PARAMETER_GRADIENT);
  for (gsize i = 0; i < count && scaled; i++)
    numbers[i] = (float) ((double) numbers[i] / self->scale);
  return g_steal_pointer (&numbers);
}

/* --- Half a bit ---------------------------------------------------------------------------- */

/* Half a unit in the last place is lost in rounding. With TF32, matmuls read a 10-bit mantissa. */
double
lig_witness_unit (const LigWitness *self)
{
  const LigPlan *plan = self->plan;
  double unit = 1;
  float one;
  do {
    guint8 stored[sizeof (float)];
    unit /= 2;
    one = (float) (1 + unit);
    lig_narrow (plan->request->compute, &one, stored, 1);
    lig_widen (plan->request->compute, stored, &one, 1);
  } while (one > 1);
  return plan->request->options.tf32 ? MAX (unit, 0x1p-11) : unit;
}

static void
nudge (float *numbers, gsize count, double amount, guint32 seed)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (seed);
  for (gsize i = 0; i < count; i++) {
    double sign = g_rand_boolean (random) ? 1 : -1;
    numbers[i] = (float) ((double) numbers[i] * (1 + sign * amount));
  }
}

void
lig_nudge (LigTensor *tensor, double amount, guint32 seed)
{
  nudge (tensor->data, (gsize) tensor->size, amount, seed);
}

static gboolean
nudge_input (LigWitness *self, int value, double amount, guint32 seed, GError **error)
{
  const LigPlanValue *of = lig_plan_value (self->plan, value);
  gsize count = (gsize) lig_shape_size (&of->shape), bytes = count * lig_dtype_size (of->dtype);
  void *memory = lig_program_address (self->program, value);
  if (!memory || !lig_dtype_is_floating (of->dtype))
    return TRUE;
  g_autofree float *numbers = lig_witness_read (self, value, error);
  g_autofree guint8 *data = g_malloc (bytes + 1);
  if (!numbers)
    return FALSE;
  nudge (numbers, count, amount, seed);
  lig_narrow (of->dtype, numbers, data, count);
  return lig_device_upload (self->device, memory, data, bytes, error);
}

gboolean
lig_witness_nudge_inputs (LigWitness *self, double amount, guint32 seed, GError **error)
{
  const LigPlan *plan = self->plan;
  if (!nudge_input (self, plan->ends.input, amount, seed, error))
    return FALSE;
  for (guint i = 0; i < plan->ends.extra_inputs->len; i++)
    if (!nudge_input (self, g_array_index (plan->ends.extra_inputs, int, i), amount, seed + i + 1,
                      error))
      return FALSE;
  return TRUE;
}
