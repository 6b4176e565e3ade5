/* SPDX-License-Identifier: MIT */
/* represent: inserts a conversion where a consumer wants a value in a type that its producer does
 * not offer: the input in the compute type, weights as operands of matrix products. */
#include "engine/compile/draft.h"

static void
convert (LigDraft *draft, int from, int to, int part)
{
  LigConversion conversion = {from, to, part};
  g_array_append_val (draft->conversions, conversion);
}

gboolean
lig_represent (LigDraft *draft, GError **error)
{
  int first = lig_part (draft, 0)->x;
  if (first != draft->input_value)
    convert (draft, draft->input_value, first, -1);
  if (draft->parameter_dtype == draft->compute)
    return TRUE;
  for (int i = 0; i < (int) draft->parts->len; i++) {
    LigPart *part = lig_part (draft, i);
    for (int j = 0; j < part->n_parameters; j++) {
      if (!part->info->parameters[j].product)
        continue;
      int from = part->parameters[j];
      LigShape shape = lig_value (draft, from)->shape;
      g_autofree char *name = g_strdup (lig_value (draft, from)->name);
      int to = lig_draft_add_value (draft, LIG_VALUE_COMPUTED, &shape, draft->compute, i, "%s:%s",
                                    name, lig_dtype_name (draft->compute));
      lig_value (draft, to)->saved = part->needs_backward;
      part->representations[j] = to;
      convert (draft, from, to, i);
    }
  }
  return TRUE;
}
