/* SPDX-License-Identifier: MIT */
/* Tables from programs that were built against an older or newer header: only the fields that both
 * sides know are copied. */
#include "engine/sequence/table.h"

#include <string.h>

gboolean
lig_table_check_size (
  const char *what, const char *remedy, gsize size, gsize min, int code, GError **error)
{
  if (size >= min)
    return TRUE;
  g_set_error (error, LIG_ERROR, code,
               "%s has size %" G_GSIZE_FORMAT ", expected at least %" G_GSIZE_FORMAT "; set %s",
               what, size, min, remedy);
  return FALSE;
}

/* Copies the elements of an array, in steps of `size` bytes, up to the element without a name; the
 * copy ends with such an element, too. */
static gpointer
complete_array (gconstpointer array, gsize size, gsize whole, gsize name)
{
  guint count = 0;
  if (!array)
    return NULL;
  while (*(char *const *) (gconstpointer) ((const char *) array + count * size + name))
    count++;
  char *copy = g_malloc0_n (count + 1, whole);
  for (guint i = 0; i < count; i++)
    memcpy (copy + i * whole, (const char *) array + i * size, MIN (size, whole));
  return copy;
}

LigOpInfo *
lig_op_info_complete (const LigOpInfo *info, GError **error)
{
  static const char *const remedy = "LIG_OP_INFO_SIZES";
  if (!lig_table_check_size ("the table of an op", remedy, info->size,
                             G_STRUCT_OFFSET (LigOpInfo, infer), LIG_ERROR_OP, error))
    return NULL;
  LigOpInfo *copy = g_new0 (LigOpInfo, 1);
  memcpy (copy, info, MIN (info->size, sizeof *copy));
  if ((copy->params && !lig_table_check_size ("the LigParam of an op", remedy, info->param_size,
                                              G_STRUCT_OFFSET (LigParam, offset) + sizeof (gsize),
                                              LIG_ERROR_OP, error)) ||
      (copy->parameters &&
       !lig_table_check_size ("the LigParameterInfo of an op", remedy, info->parameter_size,
                              G_STRUCT_OFFSET (LigParameterInfo, matmul) + sizeof (gboolean),
                              LIG_ERROR_OP, error))) {
    g_free (copy);
    return NULL;
  }
  copy->params = complete_array (info->params, info->param_size, sizeof (LigParam),
                                 G_STRUCT_OFFSET (LigParam, name));
  copy->parameters =
    complete_array (info->parameters, info->parameter_size, sizeof (LigParameterInfo),
                    G_STRUCT_OFFSET (LigParameterInfo, name));
  copy->size = sizeof *copy;
  copy->param_size = sizeof (LigParam);
  copy->parameter_size = sizeof (LigParameterInfo);
  return copy;
}

void
lig_op_info_free (LigOpInfo *info)
{
  g_free ((gpointer) info->params);
  g_free ((gpointer) info->parameters);
  g_free (info);
}
