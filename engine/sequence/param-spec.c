/* SPDX-License-Identifier: MIT */
/* Makes the GObject property of a parameter. */
#include "engine/sequence/op-private.h"

GParamSpec *
lig_param_spec (const LigParam *param)
{
  GParamFlags flags = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS;
  switch (param->kind) {
  case LIG_PARAM_FLOAT:
    return g_param_spec_float (param->name, param->label, param->help, (float) param->minimum,
                               (float) param->maximum, (float) param->initial, flags);
  case LIG_PARAM_INT: {
    gint64 lowest = (gint64) MIN (param->minimum, param->initial);
    return g_param_spec_int64 (param->name, param->label, param->help, lowest,
                               (gint64) param->maximum, (gint64) param->initial, flags);
  }
  case LIG_PARAM_BOOL:
  case LIG_PARAM_CALLER:
    return g_param_spec_boolean (param->name, param->label, param->help, param->initial != 0,
                                 flags);
  case LIG_PARAM_SHAPE:
    return g_param_spec_boxed (param->name, param->label, param->help, LIG_TYPE_SHAPE, flags);
  case LIG_PARAM_CHOICE:
    return g_param_spec_string (param->name, param->label, param->help,
                                lig_param_get_choice (param, (int) param->initial), flags);
  default:
    return g_param_spec_string (param->name, param->label, param->help, NULL, flags);
  }
}
