/* SPDX-License-Identifier: MIT */
/* A bracket of a rail: the ops that one kernel computes, or the sum of a block or of a folded
 * macro.
 */
#include "ui/score/group-private.h"
#include "ui/score/host.h"
#include "ui/score/marks.h"
#include "ui/widgets/css-class.h"
#include "ui/widgets/figures.h"

#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

G_DEFINE_FINAL_TYPE (LigScoreGroup, lig_score_group, GTK_TYPE_WIDGET)

/* --- Content ------------------------------------------------------------------------------- */

static gboolean
set_text (LigScoreGroup *self, LigBracketText which, const char *text)
{
  if (!lig_score_text_set (&self->texts[which], text))
    return FALSE;
  self->widths[which] = -1;
  gtk_widget_queue_draw (GTK_WIDGET (self));
  return TRUE;
}

/* Returns `73 fused · 27 unfused · 12.3 GB`. */
static char *
describe_block (const LigFigures *figures)
{
  guint single = figures->groups - figures->fused;
  g_autofree char *alone = g_strdup_printf (ngettext ("%u unfused", "%u unfused", single), single);
  g_autofree char *fused =
    g_strdup_printf (ngettext ("%u fused", "%u fused", figures->fused), figures->fused);
  g_autofree char *bytes = lig_figure_bytes (figures->bytes);
  g_autoptr (GPtrArray) texts = g_ptr_array_new ();
  if (figures->fused > 0)
    g_ptr_array_add (texts, fused);
  if (figures->fused == 0 || single > 0)
    g_ptr_array_add (texts, alone);
  if (figures->bytes > 0)
    g_ptr_array_add (texts, bytes);
  g_ptr_array_add (texts, NULL);
  return g_strjoinv (" · ", (char **) texts->pdata);
}

/* Sets the saving; the short one has only the time. */
static void
bind_saving (LigScoreGroup *self, const LigFigures *figures)
{
  LigFigures time = *figures;
  time.saved_bytes = isnan (time.saved_seconds) ? time.saved_bytes : NAN;
  g_autofree char *saving = lig_figures_saving_text (figures);
  g_autofree char *shorter = lig_figures_saving_text (&time);
  self->saving_measured = figures->saved_measured;
  self->loses =
    figures->saved_seconds < 0 || (isnan (figures->saved_seconds) && figures->saved_bytes < 0);
  set_text (self, LIG_BRACKET_SAVING, saving);
  set_text (self, LIG_BRACKET_SAVING_SHORT, shorter);
}

/* Sets the rate; the short one omits the bound, or briefly says that there is none. */
static void
bind_rate (LigScoreGroup *self, const LigFigures *figures)
{
  g_autofree char *rate = lig_figures_rate_text (figures);
  g_autofree char *shorter = g_strdup (figures->kernels > 0 ? rate : _ ("no kernel"));
  char *bound = shorter ? strstr (shorter, " · ") : NULL;
  if (bound)
    *bound = '\0';
  set_text (self, LIG_BRACKET_RATE, rate);
  set_text (self, LIG_BRACKET_RATE_SHORT, shorter);
}

/* Returns whether name, kernels or figures changed. */
static gboolean
bind_texts (LigScoreGroup *self, const LigScoreMap *map, const LigScoreBracket *bracket)
{
  const LigFusion *fusion = bracket->group ? bracket->group->fusion : NULL;
  const LigScoreSlot *slot = lig_score_map_get_slot (map, bracket->from);
  g_autofree char *name = bracket->group
                            ? lig_score_group_name (map->plan, bracket->group)
                            : g_strdup (slot->block ? _ ("All repetitions") : _ ("All parts"));
  g_autofree char *kernels = bracket->group ? lig_score_kernels (map->plan, bracket->group)
                                            : describe_block (&bracket->figures);
  gboolean changed = set_text (self, LIG_BRACKET_NAME, name);
  changed |= set_text (self, LIG_BRACKET_KERNELS, kernels);
  changed |= fusion != self->fusion;
  self->fusion = fusion;
  /* Most edits leave the figures of most brackets unchanged. */
  if (memcmp (&bracket->figures, &self->figures, sizeof self->figures) == 0)
    return changed;
  g_autofree char *time = lig_figures_time_text (&bracket->figures);
  set_text (self, LIG_BRACKET_TIME, time);
  bind_saving (self, &bracket->figures);
  bind_rate (self, &bracket->figures);
  self->figures = bracket->figures;
  return TRUE;
}

/* Returns fusion, kernels, overrides and every figure, one per line. */
static char *
describe (LigScoreGroup *self, const LigScoreBracket *bracket)
{
  g_autofree char *figures = lig_figures_describe (&bracket->figures);
  const char *marks = lig_score_marks_text (bracket->marks);
  g_autoptr (GString) text = g_string_new (NULL);
  if (bracket->group && bracket->group->fusion)
    g_string_append_printf (text, "%s · ", bracket->group->fusion->name);
  g_string_append (text, self->texts[LIG_BRACKET_KERNELS].text);
  if (marks)
    g_string_append_printf (text, "\n%s", marks);
  if (bracket->marks & LIG_SCORE_EIGHT)
    g_string_append_printf (text, "\n%s", _ ("quantized to 8 bits"));
  if (bracket->marks & LIG_SCORE_FOUR)
    g_string_append_printf (text, "\n%s", _ ("quantized to 4 bits"));
  if (bracket->marks & LIG_SCORE_INSIDE)
    g_string_append_printf (text, "\n%s", _ ("checked: correct up to rounding"));
  if (bracket->marks & LIG_SCORE_OUTSIDE)
    g_string_append_printf (text, "\n%s", _ ("checked: wrong by more than rounding error"));
  if (figures)
    g_string_append_printf (text, "\n%s", figures);
  return g_strdup (text->str);
}

static void
update_accessible (LigScoreGroup *self, const LigScoreBracket *bracket)
{
  const char *form =
    bracket->group && bracket->group->fusion
      ? (self->pass == LIG_PASS_BACKWARD ? _ ("backward, fused: %s, %s")
                                         : _ ("forward, fused: %s, %s"))
      : (self->pass == LIG_PASS_BACKWARD ? _ ("backward: %s, %s") : _ ("forward: %s, %s"));
  const char *time = self->texts[LIG_BRACKET_TIME].text;
  g_autofree char *label =
    g_strdup_printf (form, self->texts[LIG_BRACKET_NAME].text, time ? time : _ ("time unknown"));
  g_autofree char *description = describe (self, bracket);
  if (g_strcmp0 (label, self->label) == 0 && g_strcmp0 (description, self->description) == 0)
    return;
  g_free (self->label);
  g_free (self->description);
  self->label = g_steal_pointer (&label);
  self->description = g_steal_pointer (&description);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, self->label,
                                  GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, self->description, -1);
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

/* Sets everything drawn except the texts. */
static void
bind_state (LigScoreGroup *self, const LigScoreMap *map, const LigScoreBracket *bracket)
{
  double whole = map->seconds[self->pass];
  double share = whole > 0 && bracket->seconds > 0 ? MIN (bracket->seconds / whole, 1) : 0;
  if (share != self->share || bracket->measured != self->measured ||
      bracket->marks != self->marks || map->metrics.unit != self->metrics.unit)
    gtk_widget_queue_draw (GTK_WIDGET (self));
  if (map->metrics.unit != self->metrics.unit)
    for (guint i = 0; i < LIG_BRACKET_N_TEXTS; i++)
      self->widths[i] = -1;
  self->metrics = map->metrics;
  self->share = share;
  self->measured = bracket->measured;
  self->marks = bracket->marks;
  self->fused = bracket->group && bracket->group->fusion;
  self->free = bracket->figures.kernels == 0;
}

void
lig_score_group_bind (LigScoreGroup *self, const LigScoreMap *map, guint number)
{
  const LigScoreBracket *bracket =
    &g_array_index (map->brackets[self->pass], LigScoreBracket, number);
  gboolean marked = bracket->marks != self->marks;
  lig_score_group_place (self, map, number);
  bind_state (self, map, bracket);
  lig_css_class_set (GTK_WIDGET (self), "fused", self->fused);
  lig_css_class_set (GTK_WIDGET (self), "free", self->free);
  lig_css_class_set (GTK_WIDGET (self), "sum", !bracket->group);
  if (bind_texts (self, map, bracket) || marked || !self->label)
    update_accessible (self, bracket);
}

/* --- As a widget --------------------------------------------------------------------------- */

static void
snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  lig_score_group_draw (LIG_SCORE_GROUP (widget), snapshot);
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
  if (lig_score_host_get_card (lig_score_host_of (widget)))
    return FALSE;
  g_autofree char *text = lig_score_group_describe_hidden (self);
  if (!text)
    return FALSE;
  gtk_tooltip_set_text (tooltip, text);
  return TRUE;
}

static void
activate_explain (GtkWidget *widget, const char *action, GVariant *target)
{
  LigScoreGroup *self = LIG_SCORE_GROUP (widget);
  lig_score_host_explain_group (lig_score_host_of (widget), self->pass, self->number);
}

/* --- Construction -------------------------------------------------------------------------- */

static void
finalize (GObject *object)
{
  LigScoreGroup *self = LIG_SCORE_GROUP (object);
  for (int i = 0; i < LIG_BRACKET_N_TEXTS; i++)
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
  for (guint i = 0; i < LIG_BRACKET_N_TEXTS; i++)
    self->widths[i] = -1;
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
