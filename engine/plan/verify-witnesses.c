/* SPDX-License-Identifier: MIT */
/* The plans that a verification runs beside each other, and the values that they have in common. */
#include "engine/plan/verify-witnesses.h"

#include "engine/compile/quantizers.h"
#include "engine/device/device-private.h"

#include <glib/gi18n-lib.h>
#include <string.h>

/* --- Values in common ---------------------------------------------------------------------- */

/* Returns the value of which another is only another name. */
static int
resolve (const LigDraft *draft, int value)
{
  const LigValue *of = lig_value (draft, value);
  while (of->alias >= 0 && of->alias_offset == 0 &&
         lig_shape_size (&of->shape) == lig_shape_size (&lig_value (draft, of->alias)->shape)) {
    value = of->alias;
    of = lig_value (draft, value);
  }
  return value;
}

static void
pair_value (LigWitness *self, int value, const LigWitness *right, int same)
{
  if (value < 0 || same < 0)
    return;
  value = resolve (self->plan->draft, value);
  same = resolve (right->plan->draft, same);
  const LigValue *a = lig_value (self->plan->draft, value);
  const LigValue *b = lig_value (right->plan->draft, same);
  if (lig_dtype_is_floating (a->dtype) && lig_dtype_is_floating (b->dtype) &&
      lig_shape_size (&a->shape) == lig_shape_size (&b->shape))
    self->shared[value] = same;
}

static int
gradient_of (const LigDraft *draft, int value)
{
  return value >= 0 ? lig_value (draft, value)->gradient : -1;
}

static void
pair_parts (LigWitness *self, int index, const LigWitness *right, int same)
{
  const LigDraft *draft = self->plan->draft, *other = right->plan->draft;
  const LigPart *a = lig_part (draft, index), *b = lig_part (other, same);
  if (a->info != b->info)
    return;
  pair_value (self, a->y, right, b->y);
  pair_value (self, a->dx, right, b->dx);
  pair_value (self, lig_part_gradient (draft, index), right, lig_part_gradient (other, same));
  for (int i = 0; i < a->n_inputs; i++)
    pair_value (self, a->extra_gradients[i], right, b->extra_gradients[i]);
  for (int i = 0; i < a->n_outputs; i++) {
    pair_value (self, a->extra_outputs[i], right, b->extra_outputs[i]);
    pair_value (self, gradient_of (draft, a->extra_outputs[i]), right,
                gradient_of (other, b->extra_outputs[i]));
  }
  for (int i = 0; i < a->n_parameters; i++)
    pair_value (self, gradient_of (draft, a->parameters[i]), right,
                gradient_of (other, b->parameters[i]));
}

/* Returns the next part that a person has written, or that belongs to a macro. */
static int
next_part (const LigDraft *draft, int index)
{
  while (index < (int) draft->parts->len && lig_part (draft, index)->implicit)
    index++;
  return index;
}

/* A copy of a value that is computed again has the name of the value, and an ending. */
static void
pair_copies (LigWitness *self)
{
  const LigDraft *draft = self->plan->draft;
  g_autoptr (GHashTable) values = g_hash_table_new (g_str_hash, g_str_equal);
  for (int i = 0; i < (int) draft->values->len; i++)
    g_hash_table_insert (values, lig_value (draft, i)->name, GINT_TO_POINTER (i + 1));
  for (int i = 0; i < (int) draft->values->len; i++) {
    const char *name = lig_value (draft, i)->name, *end = strrchr (name, ':');
    if (!lig_value (draft, i)->again || !end)
      continue;
    g_autofree char *original = g_strndup (name, (gsize) (end - name));
    int value = GPOINTER_TO_INT (g_hash_table_lookup (values, original)) - 1;
    if (value >= 0)
      self->shared[i] = self->shared[resolve (draft, value)];
  }
}

/* Steps may write a value by any of its names. */
static void
pair_names (LigWitness *self)
{
  const LigDraft *draft = self->plan->draft;
  for (int i = 0; i < (int) draft->values->len; i++)
    if (self->shared[i] < 0)
      self->shared[i] = self->shared[resolve (draft, i)];
}

int
lig_witness_written (const LigWitness *self, int value)
{
  return value < 0 || self->shared[value] >= 0 ? value : lig_draft_root (self->plan->draft, value);
}

/* Adds the elements of a part of a value to those that steps write of it. */
static void
cover (const LigDraft *draft, int value, int whole, gint64 *covered, guint8 *seen)
{
  if (!seen[value])
    covered[whole] += lig_shape_size (&lig_value (draft, value)->shape);
  seen[value] = TRUE;
}

/* A value that steps write in parts is compared once all of them are written, if they are all of
 * it: some fusions hand the rest to another value. */
static void
find_writers (LigWitness *self)
{
  const LigDraft *draft = self->plan->draft;
  g_autofree gint64 *covered = g_new0 (gint64, draft->values->len + 1);
  g_autofree guint8 *seen = g_new0 (guint8, draft->values->len + 1);
  for (int i = 0; i < (int) draft->steps->len; i++) {
    const LigDraftStep *step = lig_step (draft, i);
    for (int j = step->n_inputs; j < step->n_operands; j++) {
      int value = step->values[j], whole = lig_witness_written (self, value);
      if (value < 0)
        continue;
      cover (draft, value, whole, covered, seen);
      self->last_writer[whole] = i;
    }
  }
  for (int i = 0; i < (int) draft->values->len; i++)
    if (covered[i] < lig_shape_size (&lig_value (draft, i)->shape))
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
    const LigDraft *draft = self->plan->draft, *other = right->plan->draft;
    self->shared = new_numbers (draft->values->len);
    self->last_writer = new_numbers (draft->values->len);
    int i = next_part (draft, 0), j = next_part (other, 0);
    while (i < (int) draft->parts->len && j < (int) other->parts->len) {
      pair_parts (self, i, right, j);
      i = next_part (draft, i + 1);
      j = next_part (other, j + 1);
    }
    pair_copies (self);
    pair_names (self);
    find_writers (self);
  }
}

/* --- Errors -------------------------------------------------------------------------------- */

/* Numbers that are infinite or no numbers in both, like masked logits, are equal. */
void
lig_sum_errors (LigErrorSum *sum, const float *numbers, const float *right, gint64 count)
{
  for (gint64 i = 0; i < count; i++) {
    double x = (double) right[i], y = (double) numbers[i];
    if (!isfinite (x) && (isnan (x) ? isnan (y) : x == y))
      continue;
    sum->difference += (y - x) * (y - x);
    sum->whole += x * x;
    sum->product += x * y;
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
  const LigDraft *draft = self->plan->draft;
  const LigValue *of = lig_value (draft, value);
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
  gboolean scaled =
    draft->scales && (of->role == LIG_VALUE_GRADIENT || of->role == LIG_VALUE_PARAMETER_GRADIENT);
  for (gsize i = 0; i < count && scaled; i++)
    numbers[i] = (float) ((double) numbers[i] / self->scale);
  return g_steal_pointer (&numbers);
}

/* --- Half a bit ---------------------------------------------------------------------------- */

/* Halves of the last bit are lost in rounding. With tf32 products read 10 bits of mantissa. */
double
lig_witness_unit (const LigWitness *self)
{
  const LigDraft *draft = self->plan->draft;
  double unit = 1;
  float one;
  do {
    guint8 stored[sizeof (float)];
    unit /= 2;
    one = (float) (1 + unit);
    lig_narrow (draft->compute, &one, stored, 1);
    lig_widen (draft->compute, stored, &one, 1);
  } while (one > 1);
  return draft->options.tf32 ? MAX (unit, 0x1p-11) : unit;
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
  const LigValue *of = lig_value (self->plan->draft, value);
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
  const LigDraft *draft = self->plan->draft;
  if (!nudge_input (self, draft->input_value, amount, seed, error))
    return FALSE;
  for (guint i = 0; i < draft->callers_inputs->len; i++)
    if (!nudge_input (self, g_array_index (draft->callers_inputs, int, i), amount, seed + i + 1,
                      error))
      return FALSE;
  return TRUE;
}
