/* SPDX-License-Identifier: MIT */
/* The range of numbers that the ops of a plan accept from the caller. */
#include "engine/plan/plan-private.h"

void
lig_plan_get_range (LigPlan *self, int n, gint32 *min, gint32 *max)
{
  g_return_if_fail (n < (int) self->ends.extra_inputs->len);
  int value = n < 0 ? self->ends.input : g_array_index (self->ends.extra_inputs, int, n);
  int root = lig_plan_root (self, value);
  *min = G_MININT32;
  *max = G_MAXINT32;
  for (guint i = 0; i < self->ports->len; i++) {
    const LigPlanPort *port = &g_array_index (self->ports, LigPlanPort, i);
    if (!lig_plan_port_reads (self, port, root))
      continue;
    *min = MAX (*min, port->range.min);
    *max = MIN (*max, port->range.max);
  }
}

gboolean
lig_plan_port_reads (const LigPlan *self, const LigPlanPort *port, int root)
{
  return (port->kind == LIG_PORT_X || port->kind == LIG_PORT_EXTRA_INPUT) && port->value >= 0 &&
         lig_plan_root (self, port->value) == root;
}
