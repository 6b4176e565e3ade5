/* SPDX-License-Identifier: MIT */
/* The names of optimizers. */
#include <ligature/optimizer.h>

static const char *const names[] = {"sgd", "adamw"};

const char *
lig_optimizer_name (LigOptimizerKind kind)
{
  return names[kind];
}

gboolean
lig_optimizer_from_name (const char *name, LigOptimizerKind *kind, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (g_str_equal (names[i], name)) {
      *kind = (LigOptimizerKind) i;
      return TRUE;
    }
  g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
               "no optimizer is called '%s'; there are sgd and adamw", name);
  return FALSE;
}
