/* SPDX-License-Identifier: MIT */
/* Finds the tables of optimizers, and sets and checks the values of their parameters. */
#include <ligature/optimizer.h>

#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

#define LIG_OPTIMIZER(name) extern const LigOptimizerInfo lig_optimizer_##name;
#include "engine/base/suggest.h"
#include "engine/optimizers/optimizer-list.h"
#undef LIG_OPTIMIZER

static const LigOptimizerInfo *const optimizers[] = {
#define LIG_OPTIMIZER(name) &lig_optimizer_##name,
#include "engine/optimizers/optimizer-list.h"
#undef LIG_OPTIMIZER
};

G_STATIC_ASSERT (sizeof (((LigOptimizer *) NULL)->params) == LIG_OPTIMIZER_PARAMS);

const LigOptimizerInfo *
lig_optimizer_info_nth (guint n)
{
  return n < G_N_ELEMENTS (optimizers) ? optimizers[n] : NULL;
}

static const char *
get_name (guint n)
{
  return n < G_N_ELEMENTS (optimizers) ? optimizers[n]->name : NULL;
}

const LigOptimizerInfo *
lig_optimizer_info_find (const char *name, GError **error)
{
  g_autoptr (GString) names = g_string_new (NULL);
  const char *wanted = name ? name : LIG_OPTIMIZER_DEFAULT;
  for (guint i = 0; i < G_N_ELEMENTS (optimizers); i++) {
    if (g_str_equal (optimizers[i]->name, wanted))
      return optimizers[i];
    g_string_append_printf (names, "%s%s", i > 0 ? ", " : "", optimizers[i]->name);
  }
  g_autofree char *like = lig_suggest_nth (wanted, get_name);
  g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE, _ ("optimizer is '%s', expected one of %s%s"),
               wanted, names->str, like);
  return NULL;
}

static float *
field (const LigOptimizer *self, const LigParam *param)
{
  return (float *) ((char *) self->params + param->offset);
}

gboolean
lig_optimizer_init (LigOptimizer *self, const char *name, GError **error)
{
  memset (self, 0, sizeof *self);
  const LigOptimizerInfo *info = lig_optimizer_info_find (name, error);
  if (!info)
    return FALSE;
  self->name = info->name;
  for (const LigParam *param = info->params; param->name; param++)
    *field (self, param) = (float) param->initial;
  return TRUE;
}

/* Compares with the range in single precision, since the value was stored as a float. */
static gboolean
check_value (const LigOptimizerInfo *info, const LigParam *param, float value, GError **error)
{
  if (value >= (float) param->minimum && value <= (float) param->maximum)
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
               _ ("%s of %s is %.9g, expected a number from %.15g to %.15g"), param->name,
               info->name, (double) value, param->minimum, param->maximum);
  return FALSE;
}

gboolean
lig_optimizer_set (LigOptimizer *self, const char *name, double value, GError **error)
{
  const LigOptimizerInfo *info = lig_optimizer_info_find (self->name, error);
  if (!info)
    return FALSE;
  for (const LigParam *param = info->params; param->name; param++) {
    if (!g_str_equal (param->name, name))
      continue;
    if (!check_value (info, param, (float) value, error))
      return FALSE;
    *field (self, param) = (float) value;
    return TRUE;
  }
  g_autofree char *like = LIG_SUGGEST_FROM (name, info->params, LigParam);
  g_set_error (error, LIG_ERROR, LIG_ERROR_OP, _ ("optimizer %s has no parameter '%s'%s"),
               info->name, name, like);
  return FALSE;
}

double
lig_optimizer_get (const LigOptimizer *self, const LigParam *param)
{
  return (double) *field (self, param);
}

gboolean
lig_optimizer_check (const LigOptimizer *self, GError **error)
{
  const LigOptimizerInfo *info = lig_optimizer_info_find (self->name, error);
  if (!info)
    return FALSE;
  for (const LigParam *param = info->params; param->name; param++)
    if (!check_value (info, param, *field (self, param), error))
      return FALSE;
  if (isfinite (self->loss_scale) && self->loss_scale >= 0)
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
               _ ("the loss scale is %g, expected 0 for an automatic scale or a positive number"),
               self->loss_scale);
  return FALSE;
}
