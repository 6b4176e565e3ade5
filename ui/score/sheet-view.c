/* SPDX-License-Identifier: MIT */
/* Layout, drawing and focus of the score's sheet. */
#include "ui/score/arcs.h"
#include "ui/score/ghost.h"
#include "ui/score/sheet-private.h"

/* --- Size and place ------------------------------------------------------------------------ */

void
lig_score_sheet_get_columns (LigScoreSheet *self, LigScoreColumns *columns)
{
  lig_score_columns (columns, self->map, gtk_widget_get_width (GTK_WIDGET (self)));
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
  LigScoreSheet *self = LIG_SCORE_SHEET (widget);
  int lanes = self->map ? (int) self->map->lanes * self->map->metrics.lane : 0;
  if (orientation == GTK_ORIENTATION_VERTICAL)
    *minimum = *natural = self->map ? self->map->height : 0;
  else {
    *minimum = 410 + lanes;
    *natural = 900 + lanes;
  }
}

static void
place (GtkWidget *widget, int x, int y, int width, int height)
{
  GtkAllocation area = {x, y, width, height};
  gtk_widget_size_allocate (widget, &area, -1);
}

static void
size_allocate (GtkWidget *widget, int width, int height, int baseline)
{
  LigScoreSheet *self = LIG_SCORE_SHEET (widget);
  LigScoreColumns columns;
  const guint count = self->map->slots->len;
  const LigScoreMetrics *metrics = &self->map->metrics;
  const int over = (metrics->gap - metrics->space) / 2;
  lig_score_columns (&columns, self->map, width);
  for (guint i = 0; i < count; i++) {
    const LigScoreSlot *slot = lig_score_map_get_slot (self->map, i);
    int x, row_width;
    lig_score_map_get_extent (self->map, &columns, slot->depth, &x, &row_width);
    place (self->rows->pdata[i], x, slot->y, row_width, slot->height);
    place (self->gaps->pdata[i], columns.ops, slot->y - metrics->space - over, columns.ops_width,
           metrics->gap);
    lig_sheet_gap_set_space (self->gaps->pdata[i], metrics->space);
  }
  if (count > 0)
    place (self->gaps->pdata[count], columns.ops,
           self->map->height - metrics->end - metrics->space - over, columns.ops_width,
           metrics->gap);
  for (guint pass = 0; pass < 2; pass++)
    for (guint i = 0; i < self->map->brackets[pass]->len; i++) {
      const LigScoreBracket *bracket =
        &g_array_index (self->map->brackets[pass], LigScoreBracket, i);
      const LigScoreSlot *last = lig_score_map_get_slot (self->map, bracket->to);
      gboolean whole = bracket->y + bracket->height >= last->y + last->height;
      place (self->groups[pass]->pdata[i], pass == 0 ? columns.forward : columns.backward,
             bracket->y, columns.rail, bracket->height - (whole ? 0 : 3));
    }
  for (guint i = 0; i < self->map->arcs->len; i++) {
    GdkRectangle area;
    lig_score_get_arc (self->map, &columns, i, &area);
    place (self->channels->pdata[i], area.x, area.y, area.width, area.height);
  }
  place (self->ghost, 0, 0, width, height);
  if (self->card)
    gtk_popover_present (GTK_POPOVER (self->card));
}

/* --- Drawing ------------------------------------------------------------------------------- */

void
lig_score_sheet_find_sight (LigScoreSheet *self, double *top, double *bottom)
{
  *top = 0;
  *bottom = gtk_widget_get_height (GTK_WIDGET (self));
  if (self->adjustment) {
    *top = gtk_adjustment_get_value (self->adjustment);
    *bottom = *top + gtk_adjustment_get_page_size (self->adjustment);
  }
}

static void
snapshot_pool (
  LigScoreSheet *self, GPtrArray *pool, guint count, GtkSnapshot *snapshot, const int *y, int step)
{
  for (guint i = 0; i < count; i++) {
    const int *at = (const int *) (gconstpointer) ((const char *) y + (gsize) step * i);
    if (at[0] < self->bottom && at[0] + at[1] > self->top)
      gtk_widget_snapshot_child (GTK_WIDGET (self), pool->pdata[i], snapshot);
  }
}

static void
snapshot_gaps (LigScoreSheet *self, GtkSnapshot *snapshot)
{
  guint count = self->map->slots->len;
  for (guint i = 0; i <= count && count > 0; i++) {
    int y = i < count ? lig_score_map_get_slot (self->map, i)->y : self->map->height;
    if (y - self->map->metrics.gap < self->bottom && y > self->top)
      gtk_widget_snapshot_child (GTK_WIDGET (self), self->gaps->pdata[i], snapshot);
  }
}

/* The picture draws channels; their widgets draw the focus. */
static void
snapshot_channels (LigScoreSheet *self, GtkSnapshot *snapshot)
{
  for (guint i = 0; i < self->map->arcs->len; i++)
    if (lig_score_channel_is_lit (self->channels->pdata[i]))
      gtk_widget_snapshot_child (GTK_WIDGET (self), self->channels->pdata[i], snapshot);
}

static int
find_lit (LigScoreSheet *self)
{
  for (guint i = 0; i < self->map->arcs->len; i++)
    if (lig_score_channel_is_lit (self->channels->pdata[i]))
      return (int) i;
  return -1;
}

static void
snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  LigScoreSheet *self = LIG_SCORE_SHEET (widget);
  double top, bottom;
  LigScoreColumns columns;
  lig_score_sheet_find_sight (self, &top, &bottom);
  lig_score_sheet_get_columns (self, &columns);
  /* Draws a window's height more on either side, so that scrolling seldom has to draw again. */
  self->top = top - (bottom - top);
  self->bottom = bottom + (bottom - top);
  self->picture.lit = find_lit (self);
  lig_score_picture_snapshot (&self->picture, &columns, widget, snapshot, self->top, self->bottom);
  if (self->picture.stale)
    gtk_snapshot_push_opacity (snapshot, 0.45);
  for (guint pass = 0; pass < 2; pass++) {
    GArray *brackets = self->map->brackets[pass];
    if (brackets->len > 0)
      snapshot_pool (self, self->groups[pass], brackets->len, snapshot,
                     &g_array_index (brackets, LigScoreBracket, 0).y, sizeof (LigScoreBracket));
  }
  if (self->picture.stale)
    gtk_snapshot_pop (snapshot);
  if (self->map->slots->len > 0)
    snapshot_pool (self, self->rows, self->map->slots->len, snapshot,
                   &g_array_index (self->map->slots, LigScoreSlot, 0).y, sizeof (LigScoreSlot));
  snapshot_gaps (self, snapshot);
  snapshot_channels (self, snapshot);
  lig_score_picture_snapshot_above (&self->picture, &columns, widget, snapshot);
  gtk_widget_snapshot_child (widget, self->ghost, snapshot);
}

static void
scrolled (LigScoreSheet *self)
{
  double top, bottom;
  lig_score_ghost_follow (LIG_SCORE_GHOST (self->ghost));
  lig_score_sheet_find_sight (self, &top, &bottom);
  if (top >= self->top && bottom <= self->bottom)
    return;
  lig_score_sheet_bind_sight (self);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

void
lig_score_sheet_set_adjustment (LigScoreSheet *self, GtkAdjustment *adjustment)
{
  g_set_weak_pointer (&self->adjustment, adjustment);
  g_signal_connect_object (adjustment, "value-changed", G_CALLBACK (scrolled), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (adjustment, "changed", G_CALLBACK (scrolled), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (adjustment, "notify::page-size",
                           G_CALLBACK (lig_score_sheet_follow_page), self, G_CONNECT_SWAPPED);
}

void
lig_score_sheet_scroll_to (LigScoreSheet *self, guint row)
{
  if (!self->adjustment || row >= self->map->slots->len)
    return;
  const LigScoreSlot *slot = lig_score_map_get_slot (self->map, row);
  const int space = self->map->metrics.space;
  double top = slot->y - space, bottom = slot->y + slot->height + space;
  /* The scrolled window uses a new height only when it is laid out. */
  if (bottom > gtk_adjustment_get_upper (self->adjustment))
    gtk_adjustment_set_upper (self->adjustment, self->map->height);
  gtk_adjustment_clamp_page (self->adjustment, top, bottom);
}

/* --- Focus --------------------------------------------------------------------------------- */

void
lig_score_sheet_focus_row (LigScoreSheet *self, guint n)
{
  if (n < self->map->slots->len)
    gtk_widget_grab_focus (self->rows->pdata[n]);
}

static guint
find_cursor (LigScoreSheet *self)
{
  LigOp *cursor = lig_document_get_cursor (self->document);
  for (guint i = 0; i < self->map->slots->len; i++)
    if (lig_score_map_get_slot (self->map, i)->op == cursor)
      return i;
  return 0;
}

/* A card or a menu over the sheet keeps the focus. */
static GtkWidget *
find_popover (GtkWidget *widget)
{
  GtkRoot *root = gtk_widget_get_root (widget);
  GtkWidget *focus = root ? gtk_root_get_focus (root) : NULL;
  GtkWidget *popover = focus ? gtk_widget_get_ancestor (focus, GTK_TYPE_POPOVER) : NULL;
  return popover && gtk_widget_is_ancestor (popover, widget) ? popover : NULL;
}

/* Tab moves to the row with the cursor, to the gap below it, and out of the sheet, not through all
 * rows. */
static gboolean
focus (GtkWidget *widget, GtkDirectionType direction)
{
  LigScoreSheet *self = LIG_SCORE_SHEET (widget);
  GtkWidget *child = gtk_widget_get_focus_child (widget);
  GtkWidget *popover = child ? find_popover (widget) : NULL;
  if (popover)
    return gtk_widget_child_focus (popover, direction);
  if (self->map->slots->len == 0)
    return FALSE;
  if (!child)
    return gtk_widget_grab_focus (self->rows->pdata[find_cursor (self)]);
  if (direction == GTK_DIR_TAB_FORWARD && LIG_IS_OP_ROW (child)) {
    GtkWidget *gap = self->gaps->pdata[lig_op_row_get_number (LIG_OP_ROW (child)) + 1];
    return gtk_widget_get_focusable (gap) && gtk_widget_grab_focus (gap);
  }
  if (direction == GTK_DIR_TAB_BACKWARD && !LIG_IS_OP_ROW (child))
    return gtk_widget_grab_focus (self->rows->pdata[find_cursor (self)]);
  return FALSE;
}

void
lig_score_sheet_install_view (GtkWidgetClass *class)
{
  class->measure = measure;
  class->size_allocate = size_allocate;
  class->snapshot = snapshot;
  class->focus = focus;
}
