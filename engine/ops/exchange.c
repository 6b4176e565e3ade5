/* SPDX-License-Identifier: MIT */
/* The kernels that dispatch and combine share. */
#include "engine/ops/exchange.h"

#include <ligature/params-collective.h>

void
lig_lower_all_to_all (LigLowering *lowering, const LigExchangeParams *params, const char *bindings)
{
  const LigCollectiveParams collective = {params->ranks, LIG_REDUCE_SUM, LIG_GROUP_EXPERT};
  lig_lower_kernel (lowering, "all_to_all", bindings, &collective, sizeof collective);
}

void
lig_lower_exchange (LigLowering *lowering,
                    const LigExchangeParams *params,
                    const char *from,
                    const char *sent,
                    const char *received,
                    const char *to)
{
  g_autofree char *scatter =
    g_strdup_printf ("dy=%s x=- places=%s weights=- dx=pieces dweights=-", from, sent);
  g_autofree char *gather = g_strdup_printf ("x=arrived places=%s weights=- y=%s", received, to);
  lig_lower_kernel (lowering, "unpermute_backward", scatter, NULL, 0);
  lig_lower_all_to_all (lowering, params, "x=pieces y=arrived");
  lig_lower_kernel (lowering, "unpermute", gather, NULL, 0);
}
