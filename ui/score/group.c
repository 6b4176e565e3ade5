/* SPDX-License-Identifier: MIT */
/* A bracket of a rail: the ops that one kernel computes, or the sum of a block. */
#include "ui/score/group.h"

#include "ui/score/sheet.h"
#include "ui/score/text.h"
#include "ui/widgets/figures.h"

#include <glib/gi18n.h>
#include <math.h>

enum { NAME, TIME, KERNELS, PREDICTED, N_TEXTS };
enum { PADDING = 12 };

struct _LigScoreGroup {
  GtkWidget parent_instance;
  LigPass pass;
  guint number;
  int first, last; /* ops; -1 for a block's sum */
  double share;
  LigScoreText texts[N_TEXTS];
  char *label, *description;
};

G_DEFINE_FINAL_TYPE (LigScoreGroup, lig_score_group, GTK_TYPE_WIDGET)

/* --- Content ------------------------------------------------------------------------------- */

static void
set_text (LigScoreGroup *self, int which, const char *text)
{
  if (lig_score_text_set (&self->texts[which], text))
    gtk_widget_queue_draw (GTK_WIDGET (self));
}

static char *
describe_block (const LigScoreBracket *bracket)
{
  g_autofree char *alone =
    g_strdup_printf (ngettext ("%u alone", "%u alone", bracket->alone), bracket->alone);
  if (bracket->fused == 0)
    return g_steal_pointer (&alone);
  g_autofree char *fused =
    g_strdup_printf (ngettext ("%u fused", "%u fused", bracket->fused), bracket->fused);
  return g_strjoin (" · ", fused, bracket->alone > 0 ? alone : NULL, NULL);
}

static void
bind_texts (LigScoreGroup *self, const LigScoreMap *map, const LigScoreBracket *bracket)
{
  g_autofree char *name = bracket->group ? lig_score_group_name (map->plan, bracket->group)
                                         : g_strdup (_ ("All repetitions"));
  g_autofree char *kernels =
    bracket->group ? lig_score_kernels (map->plan, bracket->group) : describe_block (bracket);
  g_autofree char *predicted = lig_figure_time (bracket->seconds);
  g_autofree char *measured = lig_figure_time (bracket->measured);
  g_autofree char *prediction = NULL;
  if (bracket->measured > 0 && !isnan (bracket->seconds))
    prediction = g_strdup_printf (_ ("%s predicted"), predicted);
  set_text (self, NAME, name);
  set_text (self, TIME, bracket->measured > 0 ? measured : predicted);
  set_text (self, KERNELS, kernels);
  set_text (self, PREDICTED, prediction);
}

static void
update_accessible (LigScoreGroup *self, const LigScoreBracket *bracket)
{
  const char *what =
    bracket->group && bracket->group->fusion
      ? (self->pass == LIG_PASS_BACKWARD ? _ ("backward, fused: %s, %s")
                                         : _ ("forward, fused: %s, %s"))
      : (self->pass == LIG_PASS_BACKWARD ? _ ("backward: %s, %s") : _ ("forward: %s, %s"));
  const char *time = self->texts[TIME].text;
  g_autofree char *label =
    g_strdup_printf (what, self->texts[NAME].text, time && *time ? time : _ ("time not known"));
  g_autofree char *description = g_strdup (self->texts[KERNELS].text);
  if (bracket->group && bracket->group->fusion) {
    g_autofree char *old = description;
    description = g_strdup_printf ("%s · %s", bracket->group->fusion->name, old);
  }
  if (g_strcmp0 (label, self->label) == 0 && g_strcmp0 (description, self->description) == 0)
    return;
  g_free (self->label);
  g_free (self->description);
  self->label = g_steal_pointer (&label);
  self->description = g_steal_pointer (&description);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, self->label,
                                  GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, self->description, -1);
}

static void
set_class (GtkWidget *widget, const char *name, gboolean on)
{
  if (gtk_widget_has_css_class (widget, name) == on)
    return;
  if (on)
    gtk_widget_add_css_class (widget, name);
  else
    gtk_widget_remove_css_class (widget, name);
}

void
lig_score_group_place (LigScoreGroup *self, const LigScoreMap *map, guint number)
{
  const LigScoreBracket *bracket =
    &g_array_index (map->brackets[self->pass], LigScoreBracket, number);
  self->number = number;
  self->first = bracket->group ? bracket->group->first : -1;
  self->last = bracket->group ? bracket->group->first + bracket->group->count - 1 : -1;
}

void
lig_score_group_bind (LigScoreGroup *self, const LigScoreMap *map, guint number)
{
  const LigScoreBracket *bracket =
    &g_array_index (map->brackets[self->pass], LigScoreBracket, number);
  double share = map->seconds[self->pass] > 0 ? bracket->seconds / map->seconds[self->pass] : 0;
  lig_score_group_place (self, map, number);
  if (share != self->share)
    gtk_widget_queue_draw (GTK_WIDGET (self));
  self->share = share;
  set_class (GTK_WIDGET (self), "fused", bracket->group && bracket->group->fusion);
  set_class (GTK_WIDGET (self), "free", bracket->group && bracket->group->n_steps == 0);
  set_class (GTK_WIDGET (self), "sum", !bracket->group);
  bind_texts (self, map, bracket);
  update_accessible (self, bracket);
}

/* --- Drawing ------------------------------------------------------------------------------- */

static void
append_bar (GtkSnapshot *snapshot, int x, int y, int width, double share, const GdkRGBA *ink)
{
  GdkRGBA track = *ink;
  GskRoundedRect outline;
  track.alpha *= 0.14f;
  gsk_rounded_rect_init_from_rect (&outline,
                                   &GRAPHENE_RECT_INIT ((float) x, (float) y, (float) width, 4), 2);
  gtk_snapshot_push_rounded_clip (snapshot, &outline);
  gtk_snapshot_append_color (snapshot, &track, &outline.bounds);
  if (share > 0)
    gtk_snapshot_append_color (
      snapshot, ink, &GRAPHENE_RECT_INIT ((float) x, (float) y, (float) MAX (width * share, 2), 4));
  gtk_snapshot_pop (snapshot);
}

static void
snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  LigScoreGroup *self = LIG_SCORE_GROUP (widget);
  GdkRGBA accent, ink, dim;
  int width = gtk_widget_get_width (widget) - 2 * PADDING, height = gtk_widget_get_height (widget);
  gboolean fused = gtk_widget_has_css_class (widget, "fused");
  GtkStyleContext *style = gtk_widget_get_style_context (widget);
  gtk_style_context_get_color (style, &accent);
  if (!gtk_style_context_lookup_color (style, "window_fg_color", &ink))
    ink = accent;
  dim = ink;
  dim.alpha *= 0.62f;
  int middle = height < 44 ? height / 2 : 16;
  int used = lig_score_text_draw (
    &self->texts[TIME], widget, snapshot, PADDING + width / 2, middle, width / 2,
    LIG_SCORE_TEXT_END | LIG_SCORE_TEXT_SMALL | (height < 44 ? 0 : LIG_SCORE_TEXT_BOLD),
    self->share > 0 ? &ink : &dim);
  lig_score_text_draw (&self->texts[NAME], widget, snapshot, PADDING, middle, width - used - 9,
                       LIG_SCORE_TEXT_SMALL | (fused ? LIG_SCORE_TEXT_BOLD : 0), &accent);
  if (height < 44)
    return;
  used = lig_score_text_draw (&self->texts[PREDICTED], widget, snapshot, PADDING + width / 3, 34,
                              width * 2 / 3, LIG_SCORE_TEXT_END | LIG_SCORE_TEXT_SMALL, &dim);
  lig_score_text_draw (&self->texts[KERNELS], widget, snapshot, PADDING, 34,
                       width - used - (used > 0 ? 9 : 0), LIG_SCORE_TEXT_SMALL, &dim);
  GdkRGBA bar = accent;
  bar.alpha *= fused ? 1.0f : 0.55f;
  if (!gtk_widget_has_css_class (widget, "free"))
    append_bar (snapshot, PADDING, height - 7, width, self->share, &bar);
}

static void
measure (GtkWidget *widget,
         GtkOrientation orientation,
         int for_size,
         int *minimum,
         int *natural,
         int *minimum_baseline,
         int *natural_baseline)
{
  *minimum = *natural = orientation == GTK_ORIENTATION_HORIZONTAL ? 60 : 18;
}

static gboolean
query_tooltip (GtkWidget *widget, int x, int y, gboolean keyboard, GtkTooltip *tooltip)
{
  LigScoreGroup *self = LIG_SCORE_GROUP (widget);
  GtkWidget *sheet = gtk_widget_get_ancestor (widget, LIG_TYPE_SCORE_SHEET);
  if (lig_score_sheet_is_explaining (LIG_SCORE_SHEET (sheet)))
    return FALSE;
  g_autofree char *text = g_strdup_printf ("%s\n%s", self->label, self->description);
  gtk_tooltip_set_text (tooltip, text);
  return TRUE;
}

static void
activate_explain (GtkWidget *widget, const char *action, GVariant *target)
{
  LigScoreGroup *self = LIG_SCORE_GROUP (widget);
  GtkWidget *sheet = gtk_widget_get_ancestor (widget, LIG_TYPE_SCORE_SHEET);
  lig_score_sheet_explain_group (LIG_SCORE_SHEET (sheet), self->pass, self->number);
}

/* --- Construction -------------------------------------------------------------------------- */

static void
finalize (GObject *object)
{
  LigScoreGroup *self = LIG_SCORE_GROUP (object);
  for (int i = 0; i < N_TEXTS; i++)
    lig_score_text_clear (&self->texts[i]);
  g_free (self->label);
  g_free (self->description);
  G_OBJECT_CLASS (lig_score_group_parent_class)->finalize (object);
}

static void
lig_score_group_class_init (LigScoreGroupClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  G_OBJECT_CLASS (class)->finalize = finalize;
  widget_class->snapshot = snapshot;
  widget_class->measure = measure;
  widget_class->query_tooltip = query_tooltip;
  gtk_widget_class_set_css_name (widget_class, "scoregroup");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_BUTTON);
  gtk_widget_class_install_action (widget_class, "group.explain", NULL, activate_explain);
  gtk_widget_class_add_binding_action (widget_class, GDK_KEY_Return, 0, "group.explain", NULL);
  gtk_widget_class_add_binding_action (widget_class, GDK_KEY_KP_Enter, 0, "group.explain", NULL);
  gtk_widget_class_add_binding_action (widget_class, GDK_KEY_space, 0, "group.explain", NULL);
}

static void
lig_score_group_init (LigScoreGroup *self)
{
  gtk_widget_set_focusable (GTK_WIDGET (self), TRUE);
  gtk_widget_set_has_tooltip (GTK_WIDGET (self), TRUE);
}

GtkWidget *
lig_score_group_new (LigPass pass)
{
  LigScoreGroup *self = g_object_new (LIG_TYPE_SCORE_GROUP, NULL);
  self->pass = pass;
  gtk_widget_add_css_class (GTK_WIDGET (self), pass == LIG_PASS_FORWARD ? "forward" : "backward");
  return GTK_WIDGET (self);
}

gboolean
lig_score_group_get_ops (LigScoreGroup *self, int *first, int *last)
{
  *first = self->first;
  *last = self->last;
  return self->first >= 0;
}
