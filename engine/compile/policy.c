/* SPDX-License-Identifier: MIT */
/* The names of policies, and the default one of a device. */
#include <ligature/plan.h>

static const char *const names[] = {"none", "all", "measured"};

LigPolicy
lig_policy_for (LigPolicy policy, LigDevice *device)
{
  if (policy != LIG_POLICY_DEFAULT)
    return policy;
  return lig_device_has (device, LIG_DEVICE_MEASURES) ? LIG_POLICY_MEASURED : LIG_POLICY_ALL;
}

const char *
lig_policy_name (LigPolicy policy)
{
  return policy < G_N_ELEMENTS (names) ? names[policy] : "default";
}

gboolean
lig_policy_from_name (const char *name, LigPolicy *policy)
{
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (g_str_equal (name, names[i])) {
      *policy = (LigPolicy) i;
      return TRUE;
    }
  return FALSE;
}
