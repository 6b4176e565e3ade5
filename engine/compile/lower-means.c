/* SPDX-License-Identifier: MIT */
/* Losses that are means over the rows that they count, of which ranks with other rows may count
 * other numbers. */
#include "engine/compile/lower.h"
#include <ligature/params-collective.h>

const char *
lig_lower_own_mean (LigLowering *self)
{
  const LigShape scalar = {0};
  LigDevice *device = self->draft->device;
  if (!self->draft->options.training ||
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
