/* SPDX-License-Identifier: MIT */
/* The names of policies. */
#include <ligature/plan.h>

static const char *const names[] = {"none", "all", "measured"};

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
