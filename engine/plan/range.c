/* SPDX-License-Identifier: MIT */
/* The numbers that the ops of a plan accept from the caller. The host checks them, because a GPU
 * can refuse nothing without being waited for. */
#include "engine/plan/program-private.h"

#include <glib/gi18n-lib.h>

/* Returns the range that a part sets for a value, as its main input or as an extra one; null if it
 * does not read it. `port`: the input, -1 for the main one. */
static const LigRange *
find_range (const LigDraft *draft, const LigPart *part, int root, int port)
{
  if (port < 0)
    return !lig_part_recalls (part) && lig_draft_root (draft, part->x) == root ? &part->x_range
                                                                               : NULL;
  return part->extra_inputs[port] >= 0 && lig_draft_root (draft, part->extra_inputs[port]) == root
           ? &part->extra_ranges[port]
           : NULL;
}

void
lig_plan_get_range (LigPlan *self, int n, gint32 *least, gint32 *most)
{
  const LigDraft *draft = self->draft;
  g_return_if_fail (n < (int) draft->callers_inputs->len);
  int value = n < 0 ? draft->input_value : g_array_index (draft->callers_inputs, int, n);
  int root = lig_draft_root (draft, value);
  *least = G_MININT32;
  *most = G_MAXINT32;
  for (int i = 0; i < (int) draft->parts->len; i++) {
    const LigPart *part = lig_part (draft, i);
    for (int port = -1; port < part->n_inputs; port++) {
      const LigRange *range = find_range (draft, part, root, port);
      *least = range ? MAX (*least, range->least) : *least;
      *most = range ? MIN (*most, range->most) : *most;
    }
  }
}

/* Returns the indexes of an element along all axes: `2, 5`. */
static char *
describe_place (const LigShape *shape, gint64 element)
{
  g_autoptr (GString) text = g_string_new (NULL);
  gint64 rest = lig_shape_size (shape);
  for (int i = 0; i < shape->n_axes; i++) {
    rest /= shape->axes[i];
    g_string_append_printf (text, "%s%" G_GINT64_FORMAT, i > 0 ? ", " : "", element / rest);
    element %= rest;
  }
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static gboolean
refuse (const LigPart *part,
        int port,
        const LigRange *range,
        const LigTensor *tensor,
        gint64 element,
        GError **error)
{
  const char *name = port < 0 ? "input" : part->ports->extra_inputs->ports[port].name;
  gint32 number = ((const gint32 *) tensor->data)[element];
  g_autofree char *place = describe_place (&tensor->shape, element);
  g_autofree char *also = range->also >= range->least && range->also <= range->most
                            ? g_strdup ("")
                            : g_strdup_printf (_ (", or %d"), range->also);
  g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
               _ ("%s at %s: %s[%s] is %d, expected %d to %d%s; correct the data"), part->title,
               part->path, name, place, number, range->least, range->most, also);
  return lig_error_set_path (error, part->path);
}

/* Returns the first number outside the range, or -1. All numbers are looked at, as this loop is
 * one of vector instructions. */
static gint64
find_outside (const LigRange *range, const LigTensor *tensor)
{
  const gint32 *numbers = tensor->data;
  const gint32 least = range->least, most = range->most, also = range->also;
  gint32 outside = 0;
  for (gint64 i = 0; i < tensor->size; i++)
    outside |= (numbers[i] < least || numbers[i] > most) & (numbers[i] != also);
  for (gint64 i = 0; outside && i < tensor->size; i++)
    if ((numbers[i] < least || numbers[i] > most) && numbers[i] != also)
      return i;
  return -1;
}

gboolean
lig_program_check_range (LigProgram *self, int value, const LigTensor *tensor, GError **error)
{
  const LigDraft *draft = self->plan->draft;
  int root = lig_draft_root (draft, value);
  for (int i = 0; i < (int) draft->parts->len && tensor->dtype == LIG_INT32; i++) {
    const LigPart *part = lig_part (draft, i);
    for (int port = -1; port < part->n_inputs; port++) {
      const LigRange *range = find_range (draft, part, root, port);
      if (!range || (range->least == G_MININT32 && range->most == G_MAXINT32))
        continue;
      gint64 element = find_outside (range, tensor);
      if (element >= 0)
        return refuse (part, port, range, tensor, element, error);
    }
  }
  return TRUE;
}
