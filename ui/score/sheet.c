/* SPDX-License-Identifier: MIT */
/* The sheet of the score: it places and draws its widgets, which reflect the document. */
#include "ui/document/loads.h"
#include "ui/score/arcs.h"
#include "ui/score/channel.h"
#include "ui/score/gap.h"
#include "ui/score/ghost.h"
#include "ui/score/host.h"
#include "ui/score/sheet-private.h"
#include "ui/widgets/css-class.h"

/* The old plan is dimmed only if the new one takes longer than this. */
#define STALE_MILLISECONDS 120

static void be_host (LigScoreHostInterface *class);

G_DEFINE_FINAL_TYPE_WITH_CODE (LigScoreSheet,
                               lig_score_sheet,
                               GTK_TYPE_WIDGET,
                               G_IMPLEMENT_INTERFACE (LIG_TYPE_SCORE_HOST, be_host))

/* --- Following the document ---------------------------------------------------------------- */

static gboolean
has_focus_row (LigScoreSheet *self)
{
  GtkRoot *root = gtk_widget_get_root (GTK_WIDGET (self));
  GtkWidget *focus = root ? gtk_root_get_focus (root) : NULL;
  return focus && LIG_IS_OP_ROW (focus) && gtk_widget_is_ancestor (focus, GTK_WIDGET (self));
}

static void
follow_cursor (LigScoreSheet *self)
{
  LigOp *cursor = lig_document_get_cursor (self->document);
  for (guint i = 0; cursor && i < self->map->slots->len; i++)
    if (lig_score_map_get_slot (self->map, i)->op == cursor) {
      if (has_focus_row (self))
        gtk_widget_grab_focus (self->rows->pdata[i]);
      lig_score_sheet_scroll_to (self, i);
      return;
    }
}

static void
set_stale (LigScoreSheet *self, gboolean stale)
{
  g_clear_handle_id (&self->stale_timer, g_source_remove);
  if (self->picture.stale == stale)
    return;
  self->picture.stale = stale;
  lig_css_class_set (GTK_WIDGET (self), "stale", stale);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static gboolean
show_stale (gpointer data)
{
  LigScoreSheet *self = data;
  self->stale_timer = 0;
  set_stale (self, TRUE);
  return G_SOURCE_REMOVE;
}

static void
document_changed (LigScoreSheet *self)
{
  if (self->card)
    gtk_popover_popdown (GTK_POPOVER (self->card));
  lig_score_sheet_update (self);
  lig_score_sheet_follow_page (self);
}

static void
document_planned (LigScoreSheet *self)
{
  gboolean stale = lig_document_is_stale (self->document);
  if (!stale)
    set_stale (self, FALSE);
  else if (!self->stale_timer && !self->picture.stale)
    self->stale_timer = g_timeout_add (STALE_MILLISECONDS, show_stale, self);
  /* Staleness is signalled before an edit's rows. */
  if (!stale || self->shown != lig_document_get_plan (self->document))
    lig_score_sheet_update (self);
}

static void
document_selected (LigScoreSheet *self)
{
  for (guint i = 0; i < self->map->slots->len; i++)
    lig_op_row_update (self->rows->pdata[i]);
  follow_cursor (self);
}

/* --- Getting ------------------------------------------------------------------------------- */

LigDocument *
lig_score_sheet_get_document (LigScoreSheet *self)
{
  return self->document;
}

const LigScoreMap *
lig_score_sheet_get_map (LigScoreSheet *self)
{
  return self->map;
}

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
  /* Draws one extra window height above and below, so that scrolling rarely redraws. */
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

/* Tab moves to the row with the cursor, then to the gap below it, then out of the sheet, instead of
 * through all rows. */
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

/* --- As the host of its widgets ------------------------------------------------------------ */

static const LigScoreMap *
get_map (LigScoreHost *host)
{
  return LIG_SCORE_SHEET (host)->map;
}

static GtkWidget *
get_channel (LigScoreHost *host, guint n)
{
  return lig_score_sheet_get_channel (LIG_SCORE_SHEET (host), n);
}

static GtkWidget *
get_group (LigScoreHost *host, LigPass pass, guint n)
{
  return lig_score_sheet_get_group (LIG_SCORE_SHEET (host), pass, n);
}

static GtkWidget *
get_card (LigScoreHost *host)
{
  LigScoreSheet *self = LIG_SCORE_SHEET (host);
  return lig_score_sheet_is_explaining (self) ? self->card : NULL;
}

static void
find_sight (LigScoreHost *host, double *top, double *bottom)
{
  lig_score_sheet_find_sight (LIG_SCORE_SHEET (host), top, bottom);
}

static void
focus_row (LigScoreHost *host, guint n)
{
  lig_score_sheet_focus_row (LIG_SCORE_SHEET (host), n);
}

static void
explain_gap (LigScoreHost *host, guint gap)
{
  lig_score_sheet_explain_gap (LIG_SCORE_SHEET (host), gap);
}

static void
explain_group (LigScoreHost *host, LigPass pass, guint n)
{
  lig_score_sheet_explain_group (LIG_SCORE_SHEET (host), pass, n);
}

static void
be_host (LigScoreHostInterface *class)
{
  class->get_map = get_map;
  class->get_channel = get_channel;
  class->get_group = get_group;
  class->get_card = get_card;
  class->find_sight = find_sight;
  class->focus_row = focus_row;
  class->explain_gap = explain_gap;
  class->explain_group = explain_group;
}

/* --- Construction -------------------------------------------------------------------------- */

static void
dispose (GObject *object)
{
  LigScoreSheet *self = LIG_SCORE_SHEET (object);
  g_clear_handle_id (&self->stale_timer, g_source_remove);
  g_clear_handle_id (&self->rest, g_source_remove);
  g_clear_handle_id (&self->closing, g_source_remove);
  g_clear_weak_pointer (&self->adjustment);
  lig_score_sheet_drop_card (self);
  g_clear_handle_id (&self->resizing, g_source_remove);
  g_clear_object (&self->style);
  g_clear_pointer (&self->ghost, gtk_widget_unparent);
  GPtrArray *pools[] = {self->rows, self->gaps, self->groups[0], self->groups[1], self->channels};
  for (guint i = 0; i < G_N_ELEMENTS (pools); i++) {
    for (guint k = 0; k < pools[i]->len; k++)
      gtk_widget_unparent (pools[i]->pdata[k]);
    g_ptr_array_set_size (pools[i], 0);
  }
  g_clear_object (&self->document);
  G_OBJECT_CLASS (lig_score_sheet_parent_class)->dispose (object);
}

static void
finalize (GObject *object)
{
  LigScoreSheet *self = LIG_SCORE_SHEET (object);
  g_clear_pointer (&self->map, lig_score_map_free);
  lig_score_sheet_clear_bound (self);
  g_free (self->unfold_decided_path);
  g_ptr_array_unref (self->rows);
  g_ptr_array_unref (self->gaps);
  g_ptr_array_unref (self->channels);
  g_ptr_array_unref (self->groups[0]);
  g_ptr_array_unref (self->groups[1]);
  g_hash_table_unref (self->places);
  G_OBJECT_CLASS (lig_score_sheet_parent_class)->finalize (object);
}

static void
css_changed (GtkWidget *widget, GtkCssStyleChange *change)
{
  GTK_WIDGET_CLASS (lig_score_sheet_parent_class)->css_changed (widget, change);
  lig_score_sheet_follow_font (LIG_SCORE_SHEET (widget));
}

static void
lig_score_sheet_class_init (LigScoreSheetClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  G_OBJECT_CLASS (class)->dispose = dispose;
  G_OBJECT_CLASS (class)->finalize = finalize;
  widget_class->css_changed = css_changed;
  widget_class->measure = measure;
  widget_class->size_allocate = size_allocate;
  widget_class->snapshot = snapshot;
  widget_class->focus = focus;
  gtk_widget_class_set_css_name (widget_class, "scoresheet");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_LIST);
  g_signal_new ("zoomed", LIG_TYPE_SCORE_SHEET, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE,
                0);
  lig_op_row_install_actions ();
}

static void
lig_score_sheet_init (LigScoreSheet *self)
{
  self->rows = g_ptr_array_new ();
  self->gaps = g_ptr_array_new ();
  self->channels = g_ptr_array_new ();
  self->groups[0] = g_ptr_array_new ();
  self->groups[1] = g_ptr_array_new ();
  self->places = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  lig_score_sheet_init_layout (self);
  self->picture = (LigScorePicture){.caret = -1, .thread = -1, .fence = -1, .lit = -1};
}

GtkWidget *
lig_score_sheet_new (LigDocument *document)
{
  LigScoreSheet *self = g_object_new (LIG_TYPE_SCORE_SHEET, NULL);
  self->document = g_object_ref (document);
  self->ghost = lig_score_ghost_new (LIG_SCORE_HOST (self), document);
  lig_document_read_loads (document);
  lig_score_sheet_update (self);
  g_signal_connect_object (document, "changed", G_CALLBACK (document_changed), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "planned", G_CALLBACK (document_planned), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "timed", G_CALLBACK (lig_score_sheet_update), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "selected", G_CALLBACK (document_selected), self,
                           G_CONNECT_SWAPPED);
  return GTK_WIDGET (self);
}
