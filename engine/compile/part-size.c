/* SPDX-License-Identifier: MIT */
/* Sets the lengths of a macro's parts that follow from the macro's input. A macro expands before
 * any shape is known, but `3.qkv.weight` has a multiple of the features of the macro's input, and
 * the last product has exactly as many, whatever is between. So a part may carry such a rule
 * (lig_parts_add_scaled()) that is applied here, once the main line has reached the macro. It is
 * applied to the op too: a macro that is taken apart leaves ops that stand for themselves. */
#include "engine/compile/collect.h"
#include "engine/compile/parts.h"

#include <glib/gi18n-lib.h>
#include <inttypes.h>

static const LigParam *
find_param (const LigOpInfo *info, const LigPartSize *size)
{
  const LigParam *at = info->params;
  while (!g_str_equal (at->name, size->param))
    at++;
  return at;
}

gboolean
lig_part_size_find (
  const LigPartSize *size, const LigOpInfo *info, gint64 features, gint64 *length, GError **error)
{
  gint64 most = (gint64) find_param (info, size)->maximum, product;
  if (__builtin_mul_overflow (features, size->multiple, &product) ||
      product / size->divisor > most) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
                 _ ("input has %" PRId64 " features, of which %s takes %" PRId64 "/%" PRId64
                    ", expected at most %" PRId64),
                 features, size->param, size->multiple, size->divisor, most);
    return FALSE;
  }
  *length = product / size->divisor;
  if (features % size->divisor == 0 && *length > 0)
    return TRUE;
  if (features == 0)
    g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
                 _ ("input has 0 features, expected at least 1"));
  else
    g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
                 g_dngettext (GETTEXT_PACKAGE,
                              "input has %" PRId64 " feature, expected a multiple of %" PRId64,
                              "input has %" PRId64 " features, expected a multiple of %" PRId64,
                              (gulong) features),
                 features, size->divisor);
  return FALSE;
}

static void
set_length (LigPart *part, gint64 length)
{
  *(gint64 *) (gpointer) ((guint8 *) part->params + find_param (part->info, &part->size)->offset) =
    length;
  g_object_set (part->op, part->size.param, length, NULL);
}

gboolean
lig_infer_size (LigDraft *draft, int index, GError **error)
{
  LigPart *part = lig_part (draft, index);
  if (!part->size.param)
    return TRUE;
  const LigValue *input = lig_value (draft, lig_part (draft, part->size_from)->x);
  gint64 features = lig_shape_columns (&input->shape), length = 1;
  gboolean fine = lig_part_size_find (&part->size, part->info, features, &length, error);
  set_length (part, fine ? length : 1);
  part->incomplete |= input->unsure & LIG_UNSURE_FEATURES;
  if (fine)
    return TRUE;
  g_prefix_error (error, _ ("%s at %s: "), part->title, part->path);
  lig_error_set_path (error, part->path);
  part->faulty = part->incomplete == 0;
  part->incomplete |= LIG_UNSURE_FEATURES;
  if (draft->problems && !part->faulty) {
    g_clear_error (error);
    return TRUE;
  }
  return lig_draft_goes_on (draft, index, error);
}
