/* SPDX-License-Identifier: MIT */
/* The gap before a row: how many fusions were rejected across it, and its fence. */
#include "ui/score/gap.h"

#include "ui/score/host.h"
#include "ui/score/text.h"
#include "ui/widgets/preview-hook.h"

#include <glib/gi18n.h>
#include <math.h>

struct _LigSheetGap {
  GtkWidget parent_instance;
  guint number, near_misses;
  int space;
  gboolean fence, active, bound;
  LigScoreText count;
};

G_DEFINE_FINAL_TYPE (LigSheetGap, lig_sheet_gap, GTK_TYPE_WIDGET)

static void
update_accessible (LigSheetGap *self)
{
  g_autofree char *label = NULL, *rejected = NULL;
  label = self->number == 0 ? g_strdup (_ ("Gap before the first row"))
                            : g_strdup_printf (_ ("Gap after row %u"), self->number);
  rejected = g_strdup_printf (
    ngettext ("%u fusion was rejected here", "%u fusions were rejected here", self->near_misses),
    self->near_misses);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, label,
                                  GTK_ACCESSIBLE_PROPERTY_DESCRIPTION,
                                  self->fence ? _ ("There is a fence") : rejected, -1);
}

void
lig_sheet_gap_bind (
  LigSheetGap *self, guint number, guint near_misses, gboolean fence, gboolean active)
{
  if (self->bound && self->number == number && self->near_misses == near_misses &&
      self->fence == fence && self->active == active)
    return;
  g_autofree char *count = near_misses > 0 ? g_strdup_printf ("%u", near_misses) : NULL;
  self->bound = TRUE;
  self->number = number;
  self->near_misses = near_misses;
  self->fence = fence;
  self->active = active;
  lig_score_text_set (&self->count, count);
  gtk_widget_set_focusable (GTK_WIDGET (self), active);
  update_accessible (self);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

/* --- Drawing ------------------------------------------------------------------------------- */

static void
append_pill (
  GtkSnapshot *snapshot, int x, int width, int height, const GdkRGBA *fill, const GdkRGBA *line)
{
  GskRoundedRect pill;
  const GdkRGBA colours[4] = {*line, *line, *line, *line};
  const float widths[4] = {1, 1, 1, 1};
  gsk_rounded_rect_init_from_rect (
    &pill, &GRAPHENE_RECT_INIT ((float) x, 0, (float) width, (float) height), (float) height / 2);
  gtk_snapshot_push_rounded_clip (snapshot, &pill);
  gtk_snapshot_append_color (snapshot, fill, &pill.bounds);
  gtk_snapshot_pop (snapshot);
  gtk_snapshot_append_border (snapshot, &pill, widths, colours);
}

/* Three dots show that a gap without a count can also be opened. */
static void
append_dots (GtkSnapshot *snapshot, int middle, int height, const GdkRGBA *ink)
{
  for (int i = -1; i <= 1; i++)
    gtk_snapshot_append_color (
      snapshot, ink,
      &GRAPHENE_RECT_INIT ((float) (middle + i * 6 - 1), (float) height / 2 - 1, 2, 2));
}

/* Draws the handle of a fence: two bars. */
static void
append_grip (GtkSnapshot *snapshot, int right, int height, const GdkRGBA *fill, const GdkRGBA *line)
{
  append_pill (snapshot, right - 2 * height, 2 * height, height, fill, line);
  for (int i = 0; i < 3; i++)
    gtk_snapshot_append_color (
      snapshot, line,
      &GRAPHENE_RECT_INIT ((float) (right - height - 6 + i * 5), (float) height / 2 - 4, 2, 8));
}

static void
snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  LigSheetGap *self = LIG_SHEET_GAP (widget);
  GdkRGBA ink, dim, ground = {0};
  int width = gtk_widget_get_width (widget), height = gtk_widget_get_height (widget);
  GtkStyleContext *style = gtk_widget_get_style_context (widget);
  gtk_style_context_get_color (style, &ink);
  gtk_style_context_lookup_color (style, "score_card", &ground);
  gboolean hot =
    (gtk_widget_get_state_flags (widget) & (GTK_STATE_FLAG_PRELIGHT | GTK_STATE_FLAG_FOCUSED)) != 0;
  dim = ink;
  dim.alpha *= 0.5f;
  if (self->fence)
    append_grip (snapshot, width - 14, height, &ground, &ink);
  if (self->near_misses > 0) {
    append_pill (snapshot, width / 2 - height, 2 * height, height, &ground, &ink);
    const LigScoreTextFlags flags = LIG_SCORE_TEXT_SMALL | LIG_SCORE_TEXT_BOLD;
    int used = lig_score_text_measure (&self->count, widget, flags);
    lig_score_text_draw (&self->count, widget, snapshot, (width - used) / 2, height / 2, used + 1,
                         flags, &ink);
  } else if (self->active && hot) {
    append_pill (snapshot, width / 2 - height, 2 * height, height, &ground, &dim);
    append_dots (snapshot, width / 2, height, &dim);
  }
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
  *minimum = *natural = 18;
}

/* Only its marks overlap the rows. */
static gboolean
contains (GtkWidget *widget, double x, double y)
{
  LigSheetGap *self = LIG_SHEET_GAP (widget);
  int width = gtk_widget_get_width (widget), height = gtk_widget_get_height (widget);
  if (x < 0 || x > width || y < 0 || y > height)
    return FALSE;
  gboolean mark =
    (self->active && fabs (x - width / 2.0) <= height) || (self->fence && x > width - 3 * height);
  return mark || fabs (y - height / 2.0) <= self->space / 2.0;
}

static gboolean
query_tooltip (GtkWidget *widget, int x, int y, gboolean keyboard, GtkTooltip *tooltip)
{
  LigSheetGap *self = LIG_SHEET_GAP (widget);
  if (!self->active || lig_score_host_get_card (lig_score_host_of (widget)))
    return FALSE;
  gtk_tooltip_set_text (
    tooltip, self->fence && x > gtk_widget_get_width (widget) - 3 * gtk_widget_get_height (widget)
               ? _ ("Drag to move the fence, or press M on a row to add or remove one")
               : _ ("Why not one kernel here?"));
  return TRUE;
}

/* --- Preview ------------------------------------------------------------------------------- */

/* Returns whether a kernel of the plan computes ops on both sides of the gap. */
static gboolean
is_joined (const LigScoreMap *map, guint gap)
{
  int before, after;
  if (!map->plan || !lig_score_map_get_gap_ops (map, gap, &before, &after))
    return FALSE;
  for (LigPass pass = LIG_PASS_FORWARD; pass <= LIG_PASS_BACKWARD; pass++) {
    guint count;
    const LigPlanGroup *groups = lig_plan_get_groups (map->plan, pass, &count);
    for (guint i = 0; i < count; i++)
      if (groups[i].first <= before && groups[i].first + groups[i].count > after)
        return TRUE;
  }
  return FALSE;
}

/* Previews the sequence without the gap's fence, or with one if it would split a kernel. */
static gboolean
try_fence (GtkWidget *widget, LigDocument *document, LigPreviewTrial *trial, gpointer data)
{
  LigSheetGap *self = LIG_SHEET_GAP (widget);
  LigScoreHost *host = lig_score_host_of (widget);
  const LigScoreMap *map = lig_score_host_get_map (host);
  if (self->number >= map->slots->len || lig_score_host_get_card (host) ||
      (!self->fence && !is_joined (map, self->number)))
    return FALSE;
  g_autoptr (LigSequence) copy = lig_sequence_copy (lig_document_get_sequence (document));
  LigOp *op = lig_sequence_find (copy, lig_score_map_get_slot (map, self->number)->path, NULL);
  if (!op)
    return FALSE;
  lig_op_set_fence (op, !self->fence);
  trial->sequence = g_steal_pointer (&copy);
  trial->label = g_strdup (self->fence ? _ ("Remove the fence") : _ ("Add a fence"));
  return TRUE;
}

/* --- Construction -------------------------------------------------------------------------- */

static void
activate_explain (GtkWidget *widget, const char *action, GVariant *target)
{
  lig_score_host_explain_gap (lig_score_host_of (widget), LIG_SHEET_GAP (widget)->number);
}

static void
finalize (GObject *object)
{
  lig_score_text_clear (&LIG_SHEET_GAP (object)->count);
  G_OBJECT_CLASS (lig_sheet_gap_parent_class)->finalize (object);
}

static void
lig_sheet_gap_class_init (LigSheetGapClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  G_OBJECT_CLASS (class)->finalize = finalize;
  widget_class->snapshot = snapshot;
  widget_class->contains = contains;
  widget_class->measure = measure;
  widget_class->query_tooltip = query_tooltip;
  gtk_widget_class_set_css_name (widget_class, "scoregap");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_BUTTON);
  gtk_widget_class_install_action (widget_class, "gap.explain", NULL, activate_explain);
  gtk_widget_class_add_binding_action (widget_class, GDK_KEY_Return, 0, "gap.explain", NULL);
  gtk_widget_class_add_binding_action (widget_class, GDK_KEY_KP_Enter, 0, "gap.explain", NULL);
  gtk_widget_class_add_binding_action (widget_class, GDK_KEY_space, 0, "gap.explain", NULL);
}

static void
lig_sheet_gap_init (LigSheetGap *self)
{
  gtk_widget_set_has_tooltip (GTK_WIDGET (self), TRUE);
}

GtkWidget *
lig_sheet_gap_new (LigDocument *document)
{
  GtkWidget *self = g_object_new (LIG_TYPE_SHEET_GAP, NULL);
  lig_preview_hook (self, document, try_fence, NULL, NULL);
  return self;
}

void
lig_sheet_gap_set_space (LigSheetGap *self, int space)
{
  self->space = space;
}

guint
lig_sheet_gap_get_number (LigSheetGap *self)
{
  return self->number;
}

gboolean
lig_sheet_gap_get_fence (LigSheetGap *self)
{
  return self->fence;
}
