/* SPDX-License-Identifier: MIT */
/* represent: inserts a conversion where a consumer needs a value in a type that its producer does
 * not provide: the input in the compute type, weights as operands of matrix products, and the
 * gradient of the input in the input's own type; and adds the quantized copies that products
 * read. */
#include "engine/compile/calibrate.h"
#include "engine/compile/quantizers.h"

static void
convert (LigDraft *draft, int from, int to, int part)
{
  LigConversion conversion = {from, to, part};
  g_array_append_val (draft->conversions, conversion);
}

/* Converts the gradient of a value that the caller provides to that value's type: the caller gets
 * it in the type of its tensor. Returns the converted gradient. */
static int
convert_gradient (LigDraft *draft, int gradient, int of)
{
  LigShape shape = lig_value (draft, of)->shape;
  LigDtype dtype = lig_value (draft, of)->dtype;
  g_autofree char *name = g_strdup (lig_value (draft, of)->name);
  int to = lig_draft_add_value (draft, LIG_VALUE_GRADIENT, &shape, dtype, -1, "d%s", name);
  lig_value (draft, gradient)->kept_to_end = FALSE;
  lig_value (draft, to)->kept_to_end = TRUE;
  lig_value (draft, of)->gradient = to;
  convert (draft, gradient, to, LIG_AFTER_BACKWARD);
  return to;
}

static void
convert_input_gradients (LigDraft *draft)
{
  int from = draft->input_gradient;
  for (guint i = 0, count = draft->conversions->len; i < count; i++) {
    LigConversion at = g_array_index (draft->conversions, LigConversion, i);
    int gradient = lig_value (draft, at.to)->gradient;
    if (lig_value (draft, at.from)->role == LIG_VALUE_EXTRA && gradient >= 0)
      convert_gradient (draft, gradient, at.from);
  }
  if (from >= 0 && lig_value (draft, from)->dtype != draft->input_dtype)
    draft->input_gradient = convert_gradient (draft, from, draft->input_value);
}

/* Converts a parameter to the compute type, once for all ops that share it. `copies` has the copy
 * of each parameter, 0 for none. */
static void
represent_parameter (LigDraft *draft, int index, int slot, int *copies)
{
  int from = lig_part (draft, index)->parameters[slot];
  int *copy = &copies[lig_value (draft, from)->parameter];
  if (*copy == 0) {
    LigShape shape = lig_value (draft, from)->shape;
    g_autofree char *name = g_strdup (lig_value (draft, from)->name);
    *copy = lig_draft_add_value (draft, LIG_VALUE_COMPUTED, &shape, draft->compute, index, "%s:%s",
                                 name, lig_dtype_name (draft->compute));
    convert (draft, from, *copy, LIG_BEFORE_FORWARD);
  }
  lig_value (draft, *copy)->saved |= lig_part (draft, index)->needs_backward;
  lig_part (draft, index)->representations[slot] = *copy;
}

/* Lets the outputs of all ops, and the gradients that they get, live to the end. Those that exist
 * in quantized copies alone have no memory. */
static void
keep_values (LigDraft *draft)
{
  for (int i = 0; i < (int) draft->parts->len; i++) {
    int gradient = lig_part_gradient (draft, i);
    if (!lig_part (draft, i)->implicit)
      lig_value (draft, lig_part (draft, i)->y)->kept_to_end = TRUE;
    if (!lig_part (draft, i)->implicit && gradient >= 0)
      lig_value (draft, gradient)->kept_to_end = TRUE;
  }
}

gboolean
lig_represent (LigDraft *draft, GError **error)
{
  int first = lig_part (draft, 0)->x;
  if (first != draft->input_value)
    convert (draft, draft->input_value, first, -1);
  convert_input_gradients (draft);
  lig_quantize_products (draft);
  lig_calibrate_products (draft);
  if (draft->options.keep_values)
    keep_values (draft);
  if (draft->parameter_dtype == draft->compute && !draft->fp8_parameters)
    return TRUE;
  g_autofree int *copies = g_new0 (int, draft->parameters->len);
  for (int i = 0; i < (int) draft->parts->len; i++) {
    LigPart *part = lig_part (draft, i);
    for (int j = 0; j < part->n_parameters; j++)
      if (part->info->parameters[j].product && !lig_part_is_quantized (part) &&
          lig_value (draft, part->parameters[j])->dtype != draft->compute)
        represent_parameter (draft, i, j, copies);
  }
  return TRUE;
}
