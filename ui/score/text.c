/* SPDX-License-Identifier: MIT */
/* Texts of the score, and layouts that are created once and drawn often. */
#include "ui/score/text.h"

#include "ui/widgets/figures.h"
#include <ligature/kernels.h>

#include <adwaita.h>
#include <glib/gi18n.h>
#include <stdlib.h>
#include <string.h>

/* --- Parameters ---------------------------------------------------------------------------- */

/* Returns `1e-5` rather than `1e-05`. */
static char *
format_number (double value)
{
  g_autofree char *text = g_strdup_printf ("%.6g", value);
  char *exponent = strchr (text, 'e');
  if (!exponent)
    return g_steal_pointer (&text);
  *exponent++ = '\0';
  return g_strdup_printf ("%se%d", text, atoi (exponent));
}

static void
append_value (GString *text, const LigParam *param, const GValue *value)
{
  g_autofree char *figure = NULL;
  switch (G_VALUE_TYPE (value)) {
  case G_TYPE_BOOLEAN:
    g_string_append_printf (text, g_value_get_boolean (value) ? "%s" : _ ("no %s"), param->name);
    return;
  case G_TYPE_STRING:
    if (param->kind == LIG_PARAM_INPUT)
      g_string_append_printf (text, _ ("from %s"), g_value_get_string (value));
    else if (param->kind == LIG_PARAM_OUTPUT)
      g_string_append_printf (text, _ ("to %s"), g_value_get_string (value));
    else
      g_string_append_printf (text, "%s %s", param->name, g_value_get_string (value));
    return;
  case G_TYPE_INT64:
    g_string_append_printf (text, "%s %" G_GINT64_FORMAT, param->name, g_value_get_int64 (value));
    return;
  case G_TYPE_DOUBLE:
    figure = format_number (g_value_get_double (value));
    break;
  default:
    figure = lig_figure_shape (g_value_get_boxed (value));
  }
  g_string_append_printf (text, "%s %s", param->name, figure);
}

/* `4096 → 28672` is clearer than `out-features 28672`. */
static gboolean
append_features (GString *text, const LigParam *param, const LigPlanOp *parts)
{
  if (!parts || !g_str_equal (param->name, "out-features"))
    return FALSE;
  /* A recipe puts an op before the matmul. */
  parts += parts->implicit;
  g_string_append_printf (text, "%" G_GINT64_FORMAT " → %" G_GINT64_FORMAT,
                          (gint64) lig_shape_columns (&parts->x),
                          (gint64) lig_shape_columns (&parts->y));
  return TRUE;
}

/* Default numbers are shown only if there is nothing else to show: `eps 1e-5`. */
static void
append_defaults (GString *text, const LigOpInfo *info)
{
  for (const LigParam *param = info->params; param && param->name; param++) {
    if (param->kind != LIG_PARAM_FLOAT || param->initial == 0)
      continue;
    g_autofree char *figure = format_number (param->initial);
    g_string_append_printf (text, "%s%s %s", text->len > 0 ? " · " : "", param->name, figure);
  }
}

/* Appends a short formula, without its left-hand side and without the halves of a gated unit. */
static void
append_formula (GString *text, const LigOpInfo *info)
{
  enum { SHORT = 24 };
  if (!info->formula || !g_str_has_prefix (info->formula, "y = "))
    return;
  const char *formula = info->formula + 4, *halves = strstr (formula, ", x = [a, b]");
  gsize length = halves ? (gsize) (halves - formula) : strlen (formula);
  if (length > 1 && length <= SHORT)
    g_string_append_len (text, formula, (gssize) length);
}

char *
lig_score_params (LigOp *op, const LigPlanOp *parts)
{
  const LigOpInfo *info = lig_op_get_info (op);
  g_autoptr (GString) text = g_string_new (NULL);
  for (const LigParam *param = info->params; param && param->name; param++) {
    g_auto (GValue) value = G_VALUE_INIT;
    if (!lig_op_get_value (op, param, &value))
      continue;
    if (text->len > 0)
      g_string_append (text, " · ");
    if (!append_features (text, param, parts))
      append_value (text, param, &value);
  }
  if (text->len == 0 && info->form)
    g_string_append (text, _ (info->form));
  if (text->len == 0 && !info->expand)
    append_defaults (text, info);
  if (text->len == 0 && (info->flags & LIG_OP_GATED || !(info->params && info->params->name)))
    append_formula (text, info);
  return g_strdup (text->str);
}

/* --- Groups -------------------------------------------------------------------------------- */

char *
lig_score_group_name (LigPlan *plan, const LigPlanGroup *group)
{
  return g_strdup (group->title);
}

char *
lig_score_fusion_name (const LigFusion *fusion)
{
  const char *pass = lig_pass_name (fusion->pass), *name = fusion->name;
  gsize length = strlen (pass);
  if (g_str_has_prefix (name, pass) && name[length] == '-')
    name += length + 1;
  g_auto (GStrv) words = g_strsplit (name, "-", -1);
  return g_strjoinv (" + ", words);
}

char *
lig_score_kernels (LigPlan *plan, const LigPlanGroup *group)
{
  guint count;
  const LigPlanStep *steps = lig_plan_get_steps (plan, &count);
  g_autoptr (GString) text = g_string_new (NULL);
  for (int i = 0; i < group->n_steps; i++) {
    const LigKernel *kernel = steps[group->steps[i]].kernel;
    g_string_append_printf (text, "%s%s", i > 0 ? " · " : "",
                            kernel ? kernel->name : _ ("callback"));
  }
  return g_strdup (text->len > 0 ? text->str : _ ("no kernel: the same tensor"));
}

/* --- Drawn text ---------------------------------------------------------------------------- */

gboolean
lig_score_text_set (LigScoreText *self, const char *text)
{
  if (g_strcmp0 (self->text, text) == 0)
    return FALSE;
  lig_score_text_clear (self);
  self->text = g_strdup (text);
  return TRUE;
}

void
lig_score_text_clear (LigScoreText *self)
{
  g_clear_pointer (&self->text, g_free);
  g_clear_object (&self->layout);
}

static void
lay_out (LigScoreText *self, GtkWidget *widget, LigScoreTextFlags flags)
{
  g_autoptr (PangoAttrList) attributes = pango_attr_list_new ();
  self->layout = gtk_widget_create_pango_layout (widget, self->text);
  /* Shapes begin with their first axis in every language. */
  pango_context_set_base_dir (pango_layout_get_context (self->layout), PANGO_DIRECTION_LTR);
  pango_layout_set_single_paragraph_mode (self->layout, TRUE);
  pango_layout_set_ellipsize (self->layout, PANGO_ELLIPSIZE_END);
  if (flags & LIG_SCORE_TEXT_BOLD)
    pango_attr_list_insert (attributes, pango_attr_weight_new (PANGO_WEIGHT_BOLD));
  if (flags & LIG_SCORE_TEXT_SMALL)
    pango_attr_list_insert (attributes, pango_attr_scale_new (LIG_SCORE_SMALL));
  pango_attr_list_insert (attributes, pango_attr_font_features_new ("tnum=1"));
  pango_layout_set_attributes (self->layout, attributes);
}

GdkRGBA
lig_score_dim (const GdkRGBA *ink)
{
  GdkRGBA dim = *ink;
  gboolean high = adw_style_manager_get_high_contrast (adw_style_manager_get_default ());
  dim.alpha *= high ? 0.9f : 0.64f;
  return dim;
}

int
lig_score_text_measure (LigScoreText *self, GtkWidget *widget, LigScoreTextFlags flags)
{
  PangoRectangle extents;
  if (!self->text)
    return 0;
  if (!self->layout)
    lay_out (self, widget, flags);
  pango_layout_set_width (self->layout, -1);
  pango_layout_get_pixel_extents (self->layout, NULL, &extents);
  return extents.width;
}

gboolean
lig_score_text_is_cut (const LigScoreText *self)
{
  return self->layout && pango_layout_is_ellipsized (self->layout);
}

int
lig_score_text_draw (LigScoreText *self,
                     GtkWidget *widget,
                     GtkSnapshot *snapshot,
                     int x,
                     int middle,
                     int width,
                     LigScoreTextFlags flags,
                     const GdkRGBA *colour)
{
  PangoRectangle extents;
  if (!self->text || !*self->text || width < 6)
    return 0;
  if (!self->layout)
    lay_out (self, widget, flags);
  pango_layout_set_width (self->layout, width * PANGO_SCALE);
  pango_layout_set_wrap (self->layout, PANGO_WRAP_WORD_CHAR);
  pango_layout_set_height (self->layout, flags & LIG_SCORE_TEXT_WRAP ? -2 : -1);
  pango_layout_get_pixel_extents (self->layout, NULL, &extents);
  int left = flags & LIG_SCORE_TEXT_END ? x + width - extents.width : x;
  gtk_snapshot_save (snapshot);
  gtk_snapshot_translate (snapshot, &GRAPHENE_POINT_INIT ((float) (left - extents.x),
                                                          (float) (middle - extents.height / 2)));
  gtk_snapshot_append_layout (snapshot, self->layout, colour);
  gtk_snapshot_restore (snapshot);
  return extents.width;
}
