/* SPDX-License-Identifier: MIT */
/* Losses that are means over the rows that they count, of which ranks with other rows may count
 * other numbers. */
#include "engine/compile/lower.h"
#include <ligature/params-collective.h>

/* Returns whether targets may be ones that the loss ignores. Data gives those of the range alone;
 * with another number held-out batches are filled up, which are not trained. */
static gboolean
may_ignore (LigLowering *self, const char *targets)
{
  int value = lig_lower_port (self, targets);
  const LigPart *part = lig_lower_port_part (self, &targets);
  for (int i = 0; part && i < part->n_inputs; i++) {
    const LigRange *range = &part->extra_ranges[i];
    if (part->extra_inputs[i] == value)
      return range->also >= range->least && range->also <= range->most;
  }
  return FALSE;
}

const char *
lig_lower_own_mean (LigLowering *self, const char *targets)
{
  const LigShape scalar = {0};
  LigDevice *device = self->draft->device;
  if (!self->draft->options.training || !may_ignore (self, targets) ||
      lig_device_get_n_ranks (device, lig_device_get_replicas (device)) == 1)
    return NULL;
  lig_lower_value (self, "mean", &scalar, LIG_FP32);
  lig_lower_value (self, "own", &scalar, LIG_FP32);
  return "y=mean count=own";
}

void
lig_lower_join_means (LigLowering *self, const char *y, const char *count)
{
  LigDevice *device = self->draft->device;
  LigRankGroup group = lig_device_get_replicas (device);
  const LigCollectiveParams params = {lig_device_get_n_ranks (device, group), LIG_REDUCE_MEAN,
                                      (gint32) group};
  g_autofree char *exchange = g_strdup_printf ("x=own y=%s", count);
  g_autofree char *weigh = g_strdup_printf ("mean=mean own=own count=%s y=%s", count, y);
  lig_lower_kernel (self, "all_reduce", exchange, &params, sizeof params);
  lig_lower_kernel (self, "cross_entropy_weigh", weigh, NULL, 0);
}
