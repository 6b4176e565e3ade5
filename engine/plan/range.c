/* SPDX-License-Identifier: MIT */
/* The numbers that the ops of a plan accept from the caller. */
#include "engine/plan/plan-private.h"

void
lig_plan_get_range (LigPlan *self, int n, gint32 *least, gint32 *most)
{
  g_return_if_fail (n < (int) self->ends.extra_inputs->len);
  int value = n < 0 ? self->ends.input : g_array_index (self->ends.extra_inputs, int, n);
  int root = lig_plan_root (self, value);
  *least = G_MININT32;
  *most = G_MAXINT32;
  for (guint i = 0; i < self->ports->len; i++) {
    const LigPlanPort *port = &g_array_index (self->ports, LigPlanPort, i);
    if (!lig_plan_port_reads (self, port, root))
      continue;
    *least = MAX (*least, port->range.least);
    *most = MIN (*most, port->range.most);
  }
}

gboolean
lig_plan_port_reads (const LigPlan *self, const LigPlanPort *port, int root)
{
  return (port->kind == LIG_PORT_X || port->kind == LIG_PORT_EXTRA_INPUT) && port->value >= 0 &&
         lig_plan_root (self, port->value) == root;
}
