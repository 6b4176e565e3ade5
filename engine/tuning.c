/* SPDX-License-Identifier: MIT */
/* Measured times in the store. */
#include "engine/tuning.h"

static gboolean
get (gpointer data, const char *key, double *microseconds)
{
  g_autofree char *choice = NULL;
  return data && lig_store_get_tuning (data, key, microseconds, &choice);
}

/* A time that cannot be written is measured again next time: no reason to stop a compilation. */
static void
put (gpointer data, const char *key, double microseconds)
{
  if (data)
    lig_store_put_tuning (data, key, microseconds, NULL, NULL);
}

void
lig_tuning_init (LigTuning *self, LigStore *store)
{
  *self = (LigTuning){ get, put, store };
}
