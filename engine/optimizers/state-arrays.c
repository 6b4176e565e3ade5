/* SPDX-License-Identifier: MIT */
/* Names the arrays of a state: those that every state has, then those of optimizers. */
#include <ligature/optimizer.h>
#include <ligature/state-arrays.h>

#include <string.h>

static const char *names[LIG_MAX_STATE_ARRAYS];

static gpointer
list_names (gpointer data)
{
  guint count = LIG_STATE_KEPT;
  const LigOptimizerInfo *info;
  names[LIG_STATE_PARAMETERS] = "parameters";
  names[LIG_STATE_GRADIENTS] = "gradients";
  names[LIG_STATE_MASTER] = "master";
  for (guint n = 0; (info = lig_optimizer_info_nth (n)); n++)
    for (const LigOptimizerArray *array = info->arrays; array && array->name; array++) {
      guint at = 0;
      while (at < count && !g_str_equal (names[at], array->name))
        at++;
      if (at == count && count < LIG_MAX_STATE_ARRAYS)
        names[count++] = array->name;
    }
  return NULL;
}

const char *
lig_state_array_name (LigStateArray array)
{
  static GOnce once = G_ONCE_INIT;
  g_once (&once, list_names, NULL);
  return (guint) array < LIG_MAX_STATE_ARRAYS ? names[array] : NULL;
}

int
lig_state_find_array (const char *name)
{
  const char *at;
  for (int i = 0; (at = lig_state_array_name ((LigStateArray) i)); i++)
    if (g_str_equal (at, name))
      return i;
  return -1;
}
