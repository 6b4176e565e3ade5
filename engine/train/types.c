/* SPDX-License-Identifier: MIT */
/* The types of a run: compute type and parameter type, `bf16:fp8`. */
#include "engine/train/types.h"
#include <ligature/sequence.h>

#include <glib/gi18n-lib.h>

gboolean
lig_run_read_types (const char *text, int *compute, int *parameters, GError **error)
{
  g_auto (GStrv) parts = g_strsplit (text ? text : "", ":", 2);
  for (int i = 0; parts[i]; i++) {
    LigDtype dtype;
    gboolean known = i == 1
                       ? lig_parameters_from_name (parts[i], parameters)
                       : lig_dtype_from_name (parts[i], &dtype) && lig_dtype_is_floating (dtype);
    if (!known) {
      g_set_error (error, LIG_ERROR, LIG_ERROR_DTYPE,
                   _ ("dtype is '%s', expected %s, or a pair like bf16:fp32 or bf16:fp8"), text,
                   lig_dtype_names (lig_dtypes_with (LIG_DTYPE_COMPUTES), _ (" or ")));
      return FALSE;
    }
    if (i == 0)
      *compute = (int) dtype;
  }
  return TRUE;
}

char *
lig_run_describe_types (LigSequence *sequence, const char *dtype)
{
  LigShape shape;
  LigDtype input = LIG_FP32;
  int compute = lig_sequence_get_compute (sequence);
  int parameters = lig_sequence_get_parameters (sequence);
  if (lig_sequence_has_input (sequence))
    lig_sequence_get_input (sequence, &shape, &input);
  lig_run_read_types (dtype, &compute, &parameters, NULL);
  if (compute < 0)
    compute = lig_dtype_is_floating (input) ? (int) input : LIG_FP32;
  return g_strdup_printf ("%s:%s", lig_dtype_name ((LigDtype) compute),
                          lig_parameters_name (parameters < 0 ? compute : parameters));
}
