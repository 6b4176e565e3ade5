/* SPDX-License-Identifier: MIT */
/* The range of numbers that the ops of a plan accept from the caller. The host checks them: a check
 * on the GPU would force a synchronization. */
#include "engine/program/private.h"

#include <glib/gi18n-lib.h>

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
reject (const LigPlanOp *op,
        const LigPlanPort *port,
        const LigTensor *tensor,
        gint64 element,
        GError **error)
{
  const LigRange *range = &port->range;
  const char *name = port->kind == LIG_PORT_X ? "input" : port->name;
  gint32 number = ((const gint32 *) tensor->data)[element];
  g_autofree char *place = describe_place (&tensor->shape, element);
  g_autofree char *also = range->also >= range->min && range->also <= range->max
                            ? g_strdup ("")
                            : g_strdup_printf (_ (", or %d"), range->also);
  g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
               _ ("%s at %s: %s[%s] is %d, expected %d to %d%s; correct the data"), op->title,
               op->path, name, place, number, range->min, range->max, also);
  return lig_error_set_path (error, op->path);
}

/* Returns the first number outside the range, or -1. Scans without an early exit so that the loop
 * vectorizes. */
static gint64
find_outside (const LigRange *range, const LigTensor *tensor)
{
  const gint32 *numbers = tensor->data;
  const gint32 min = range->min, max = range->max, also = range->also;
  gint32 outside = 0;
  for (gint64 i = 0; i < tensor->size; i++)
    outside |= (numbers[i] < min || numbers[i] > max) & (numbers[i] != also);
  for (gint64 i = 0; outside && i < tensor->size; i++)
    if ((numbers[i] < min || numbers[i] > max) && numbers[i] != also)
      return i;
  return -1;
}

gboolean
lig_program_check_range (LigProgram *self, int value, const LigTensor *tensor, GError **error)
{
  const LigPlan *plan = self->plan;
  int root = lig_plan_root (plan, value);
  for (guint i = 0; i < plan->ops->len && tensor->dtype == LIG_INT32; i++) {
    const LigPlanOp *op = lig_plan_op (plan, i);
    for (int k = 0; k < op->n_ports; k++) {
      const LigPlanPort *port = &op->ports[k];
      if (!lig_plan_port_reads (plan, port, root) ||
          (port->range.min == G_MININT32 && port->range.max == G_MAXINT32))
        continue;
      gint64 element = find_outside (&port->range, tensor);
      if (element >= 0)
        return reject (op, port, tensor, element, error);
    }
  }
  return TRUE;
}
