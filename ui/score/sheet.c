/* SPDX-License-Identifier: MIT */
/* The sheet of the score: its widgets follow the document; sheet-view.c places and draws them. */
#include "ui/score/ghost.h"
#include "ui/score/sheet-private.h"

/* The old plan is dimmed only if the new one takes longer than this. */
#define STALE_MILLISECONDS 120

G_DEFINE_FINAL_TYPE (LigScoreSheet, lig_score_sheet, GTK_TYPE_WIDGET)

static guint mapped_signal;

/* --- Following the document ---------------------------------------------------------------- */

static void
remember_places (LigScoreSheet *self)
{
  g_hash_table_remove_all (self->places);
  for (guint i = 0; i < self->map->slots->len; i++) {
    const LigScoreSlot *slot = lig_score_map_get_slot (self->map, i);
    LigOpSpan place = {slot->first, slot->count};
    if (slot->first >= 0)
      g_hash_table_insert (self->places, slot->op, g_memdup2 (&place, sizeof place));
  }
}

/* While the plan is of an older sequence, its groups stay with their rows. */
static gboolean
knows_places (LigScoreSheet *self)
{
  guint count;
  const LigRow *rows = lig_document_get_rows (self->document, &count);
  if (!lig_document_is_stale (self->document) ||
      self->shown != lig_document_get_plan (self->document))
    return FALSE;
  for (guint i = 0; i < count; i++)
    if (g_hash_table_contains (self->places, rows[i].op))
      return TRUE;
  return FALSE;
}

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

void
lig_score_sheet_update (LigScoreSheet *self)
{
  LigPlan *plan = lig_document_get_plan (self->document);
  gboolean known = knows_places (self);
  LigScoreMap *old = self->map;
  lig_score_sheet_choose_metrics (self);
  self->map = lig_score_map_new (self->document, &self->metrics, known ? self->places : NULL);
  self->picture.map = self->map;
  if (!known) {
    remember_places (self);
    self->shown = plan;
  }
  lig_score_sheet_bind (self);
  if (!old || old->height != self->map->height)
    gtk_widget_queue_resize (GTK_WIDGET (self));
  else
    gtk_widget_queue_allocate (GTK_WIDGET (self));
  if (old && (old->metrics.unit != self->map->metrics.unit ||
              old->metrics.compact != self->map->metrics.compact))
    lig_score_sheet_keep_place (self, old);
  g_clear_pointer (&old, lig_score_map_free);
  gtk_widget_queue_draw (GTK_WIDGET (self));
  g_signal_emit (self, mapped_signal, 0);
}

static void
set_stale (LigScoreSheet *self, gboolean stale)
{
  g_clear_handle_id (&self->stale_timer, g_source_remove);
  if (self->picture.stale == stale)
    return;
  self->picture.stale = stale;
  if (stale)
    gtk_widget_add_css_class (GTK_WIDGET (self), "stale");
  else
    gtk_widget_remove_css_class (GTK_WIDGET (self), "stale");
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
  /* Staleness is signalled before the rows of an edit are. */
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

/* --- Getting and setting ------------------------------------------------------------------- */

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

static GtkWidget *
get_nth (GPtrArray *pool, guint n)
{
  return n < pool->len && gtk_widget_get_visible (pool->pdata[n]) ? pool->pdata[n] : NULL;
}

GtkWidget *
lig_score_sheet_get_row (LigScoreSheet *self, guint n)
{
  return get_nth (self->rows, n);
}

GtkWidget *
lig_score_sheet_get_gap (LigScoreSheet *self, guint n)
{
  return get_nth (self->gaps, n);
}

GtkWidget *
lig_score_sheet_get_channel (LigScoreSheet *self, guint n)
{
  return get_nth (self->channels, n);
}

GtkWidget *
lig_score_sheet_get_group (LigScoreSheet *self, LigPass pass, guint n)
{
  return get_nth (self->groups[pass], n);
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
  g_free (self->judged_path);
  g_ptr_array_unref (self->rows);
  g_ptr_array_unref (self->gaps);
  g_ptr_array_unref (self->channels);
  g_ptr_array_unref (self->groups[0]);
  g_ptr_array_unref (self->groups[1]);
  g_hash_table_unref (self->places);
  G_OBJECT_CLASS (lig_score_sheet_parent_class)->finalize (object);
}

static void
lig_score_sheet_class_init (LigScoreSheetClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  G_OBJECT_CLASS (class)->dispose = dispose;
  G_OBJECT_CLASS (class)->finalize = finalize;
  lig_score_sheet_install_view (widget_class);
  lig_score_sheet_install_metrics (widget_class);
  gtk_widget_class_set_css_name (widget_class, "scoresheet");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_LIST);
  mapped_signal = g_signal_new ("mapped", LIG_TYPE_SCORE_SHEET, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                NULL, G_TYPE_NONE, 0);
  g_signal_new ("zoomed", LIG_TYPE_SCORE_SHEET, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE,
                0);
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
  lig_score_sheet_init_metrics (self);
  self->picture = (LigScorePicture){.caret = -1, .thread = -1, .fence = -1, .lit = -1};
}

GtkWidget *
lig_score_sheet_new (LigDocument *document)
{
  LigScoreSheet *self = g_object_new (LIG_TYPE_SCORE_SHEET, NULL);
  self->document = g_object_ref (document);
  self->ghost = lig_score_ghost_new (self);
  lig_score_sheet_update (self);
  lig_score_sheet_add_gestures (self);
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
