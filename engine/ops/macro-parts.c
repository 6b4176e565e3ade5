/* SPDX-License-Identifier: MIT */
/* Parts that the layer macros share. A matmul is basic-linear and bias, two parts, so that a fusion
 * can join the bias with the op after it; a residual is make-extra-output and add-extra-input, the
 * form that the fusions of matmuls and norms match. */
#include "engine/ops/macro-parts.h"

#include <string.h>

static void
hand_on (LigOp *macro, LigOp *part, const char *from, const char *to)
{
  g_auto (GValue) value = G_VALUE_INIT;
  GParamSpec *spec = g_object_class_find_property (G_OBJECT_GET_CLASS (macro), from);
  g_value_init (&value, G_PARAM_SPEC_VALUE_TYPE (spec));
  g_object_get_property (G_OBJECT (macro), from, &value);
  g_object_set_property (G_OBJECT (part), to, &value);
}

LigOp *
lig_macro_op (LigOp *macro, const char *op, const char *names)
{
  LigOp *part = lig_op_new (op, NULL);
  g_auto (GStrv) words = g_strsplit (names ? names : "", " ", -1);
  if (part)
    lig_op_name_params (part, macro, names);
  for (char **word = words; part && *word; word++) {
    char *to = strchr (*word, '=');
    if (to)
      *to++ = '\0';
    hand_on (macro, part, *word, to ? to : *word);
  }
  return part;
}

gboolean
lig_macro_is (LigOp *macro, const char *param)
{
  gboolean truth;
  g_object_get (macro, param, &truth, NULL);
  return truth;
}

char *
lig_macro_text (LigOp *macro, const char *param)
{
  char *text;
  g_object_get (macro, param, &text, NULL);
  return text;
}

void
lig_macro_add_norm (LigParts *parts, LigOp *macro, const char *name)
{
  g_autofree char *op = lig_macro_text (macro, "normalization");
  lig_parts_add (parts, name, lig_macro_op (macro, op, "eps zero-centered-gamma"));
}

void
lig_macro_add_norm_output (LigParts *parts, LigOp *macro)
{
  g_autofree char *channel = lig_macro_text (macro, "norm-output");
  g_autofree char *outside = g_strconcat ("../", channel, NULL);
  if (channel)
    lig_macro_add_branch (parts, g_str_equal (channel, "caller") ? NULL : outside);
}

/* Adds a matmul and the collectives around it. */
static void
add_matmul (LigParts *parts,
            LigOp *macro,
            const char *name,
            gboolean bias,
            LigOp *matmul,
            LigMacroLength length,
            LigParallel parallel)
{
  g_autofree char *division = lig_macro_text (macro, "parallel");
  gboolean by_rows = g_str_equal (division, "sequence");
  if (g_str_equal (division, "none"))
    parallel = LIG_PARALLEL_NONE;
  if (matmul)
    g_object_set (matmul, "parallel", lig_parallel_name (parallel), NULL);
  lig_parts_add_before (parts, parallel, by_rows);
  if (length.length == 0)
    lig_parts_add_scaled (parts, name, matmul, "out-features", length.multiple, length.divisor);
  else {
    /* A macro that rejects too many features still adds its parts. */
    gint64 max = (gint64) LIG_MAX_FEATURES;
    g_object_set (matmul, "out-features", MIN (length.length, max), NULL);
    lig_parts_add (parts, name, matmul);
  }
  lig_parts_add_after (parts, parallel, by_rows);
  if (bias)
    lig_parts_add (parts, name, lig_op_new ("bias", NULL));
}

void
lig_macro_add_first (LigParts *parts,
                     LigOp *macro,
                     const char *name,
                     gboolean bias,
                     LigMacroLength length,
                     const LigShape *sections)
{
  LigOp *matmul = lig_macro_op (macro, "basic-linear", "init-std");
  if (matmul && sections)
    g_object_set (matmul, "sections", sections, NULL);
  add_matmul (parts, macro, name, bias, matmul, length, LIG_PARALLEL_COLUMN);
}

void
lig_macro_add_last (LigParts *parts, LigOp *macro, const char *name, gboolean bias)
{
  LigOp *matmul = lig_macro_op (macro, "basic-linear", "output-init-std=init-std");
  add_matmul (parts, macro, name, bias, matmul, (LigMacroLength){0, 1, 1}, LIG_PARALLEL_ROW);
}

void
lig_macro_add_mlp (LigParts *parts, LigOp *macro, gint64 features)
{
  g_autofree char *name = lig_macro_text (macro, "activation");
  gboolean clamped = g_str_equal (name, "clamped-swiglu"), bias = lig_macro_is (macro, "bias");
  LigOp *activation = lig_macro_op (
    macro, name,
    clamped ? "activation-limit=limit activation-alpha=alpha glu-linear-offset" : NULL);
  gint64 halves = activation && lig_op_get_info (activation)->flags & LIG_OP_GATED ? 2 : 1;
  LigMacroLength inner = {features * halves, 4 * halves, 1};
  LigShape sections;
  lig_shape_init (&sections, 2, (gint64) 1, (gint64) 1);
  lig_macro_add_first (parts, macro, "fc1", bias, inner, halves == 2 ? &sections : NULL);
  lig_parts_add (parts, NULL, activation);
  lig_macro_add_last (parts, macro, "fc2", bias);
}

void
lig_macro_add_branch (LigParts *parts, const char *channel)
{
  LigOp *op = lig_op_new ("make-extra-output", NULL);
  g_object_set (op, "to", channel, NULL);
  lig_parts_add (parts, NULL, op);
}

void
lig_macro_add_join (LigParts *parts, const char *channel)
{
  LigOp *op = lig_op_new ("add-extra-input", NULL);
  g_object_set (op, "from", channel, NULL);
  lig_parts_add (parts, NULL, op);
}

void
lig_macro_add_load_branch (LigParts *parts, const char *channel)
{
  LigOp *op = lig_op_new ("load-branch", NULL);
  const char *name = channel;
  while (name && g_str_has_prefix (name, "../"))
    name += 3;
  if (op)
    g_object_set (op, "from", channel, "dtype",
                  !name || g_str_equal (name, "caller") ? "floating" : "input", NULL);
  lig_parts_add (parts, NULL, op);
}
