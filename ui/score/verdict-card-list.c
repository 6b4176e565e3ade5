/* SPDX-License-Identifier: MIT */
/* Words of the verdict card. */
#include "ui/score/verdict-card-list.h"

#include "ui/widgets/figures.h"

#include <glib/gi18n.h>
#include <math.h>

/* Gains below this many microseconds count as none. */
#define MIN_GAIN 0.05

/* Returns the title of the op in the sequence, which may be several ops in the plan: both parts of
 * a linear are one op to the user. */
static const char *
get_title (const LigPlanOp *op)
{
  const LigOpInfo *info = lig_op_info_find (op->title);
  return _ (info ? info->title : op->info->title);
}

char *
lig_card_row_name (LigPlan *plan, int index)
{
  guint count;
  const LigPlanOp *op = &lig_plan_get_ops (plan, &count)[index];
  g_autofree char *path = lig_verdict_row_path (op->path);
  const char *part = lig_plan_op_get_part (op);
  /* Translators: a part of a macro: `fc1 of Transformer layer at 2.0.0`. */
  return part ? g_strdup_printf (_ ("%s of %s at %s"), part, get_title (op), path)
              : g_strdup_printf (_ ("%s at %s"), get_title (op), path);
}

char *
lig_card_fix_label (const LigFix *fix, gboolean costs)
{
  const LigOpInfo *info = fix->value ? lig_op_info_find (fix->value) : NULL;
  const char *value = info ? _ (info->title) : fix->value;
  switch (fix->kind) {
  case LIG_FIX_REMOVE_FENCE:
    return g_strdup (_ ("Remove the fence"));
  case LIG_FIX_UNFORBID:
    return g_strdup (_ ("Allow"));
  case LIG_FIX_FORCE:
    return g_strdup (costs ? _ ("Force anyway") : _ ("Force this instead"));
  case LIG_FIX_MAKE_PRIVATE:
    return g_strdup (_ ("Make the branch private"));
  case LIG_FIX_SET_DTYPE:
    return g_strdup_printf (_ ("Use %s"), value);
  case LIG_FIX_INSERT_OP:
    return g_strdup_printf (_ ("Insert %s"), value);
  case LIG_FIX_REMOVE_OP:
    return g_strdup_printf (_ ("Remove %s"), value);
  case LIG_FIX_UNFORCE:
    return g_strdup (_ ("Remove the override"));
  case LIG_FIX_CHOOSE_POLICY:
    return g_strdup (_ ("Choose Measured"));
  case LIG_FIX_SET:
    return g_strdup_printf (_ ("Set %s"), value);
  default:
    return g_strdup_printf (_ ("Replace with %s"), value);
  }
}

gboolean
lig_card_is_gain (double gain)
{
  return gain >= MIN_GAIN;
}

char *
lig_card_time_gain (double gain, gboolean measured)
{
  if (isnan (gain) || fabs (gain) < MIN_GAIN)
    return NULL;
  g_autofree char *size = lig_figure_time (fabs (gain) * 1e-6);
  g_autofree char *time = g_strconcat (measured ? "" : "≈ ", size, NULL);
  return g_strdup_printf (gain > 0 ? _ ("%s less") : _ ("%s more"), time);
}

char *
lig_card_gain (double gain, double bytes, gboolean measured)
{
  gboolean known = !isnan (bytes) && fabs (bytes) >= 1;
  g_autofree char *moved = known ? lig_figure_bytes (fabs (bytes)) : NULL;
  g_autofree char *space = NULL;
  char *time = lig_card_time_gain (gain, measured);
  if (known)
    space = g_strdup_printf (bytes > 0 ? _ ("%s less") : _ ("%s more"), moved);
  if (!time && !isnan (gain))
    time = g_strdup (_ ("no difference in time"));
  if (!time || !space)
    return time ? time : g_steal_pointer (&space);
  g_autofree char *text = time;
  if (fabs (gain) >= MIN_GAIN && (gain > 0) == (bytes > 0)) {
    g_autofree char *size = lig_figure_time (fabs (gain) * 1e-6);
    g_autofree char *both = g_strdup_printf ("%s%s, %s", measured ? "" : "≈ ", size, moved);
    return g_strdup_printf (gain > 0 ? _ ("%s less") : _ ("%s more"), both);
  }
  return g_strdup_printf ("%s, %s", text, space);
}
