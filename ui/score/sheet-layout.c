/* SPDX-License-Identifier: MIT */
/* The layout of the score's sheet. Its sizes depend on its font, which changes with the style, the
 * text scale and the zoom, and on whether its rows are compact. */
#include "ui/score/layout.h"
#include "ui/score/sheet-private.h"
#include "ui/widgets/text-scale.h"

#include <math.h>

/* Automatic rows are compact if full rows need more than this number of window heights, and in a
 * short window (at the usual text size) or below 100 % zoom if full rows do not fit. The limit has
 * hysteresis, so that edits near it do not toggle all rows. */
#define MANY_WINDOWS 1.15
#define FEW_WINDOWS 1
#define SHORT_WINDOW 440

/* --- Compact rows -------------------------------------------------------------------------- */

static gboolean
wants_compact_at (LigScoreSheet *self, double line, double zoom)
{
  LigScoreMetrics full;
  double page = self->adjustment ? gtk_adjustment_get_page_size (self->adjustment) : 0;
  if (self->kind != LIG_SCORE_ROWS_AUTOMATIC || page < 60)
    return self->kind == LIG_SCORE_ROWS_COMPACT;
  lig_score_metrics_init (&full, line, FALSE);
  double height = lig_score_map_measure (self->document, &full) - full.end;
  double max = page * (self->metrics.compact ? FEW_WINDOWS : MANY_WINDOWS);
  gboolean is_short = page < SHORT_WINDOW * full.unit / zoom;
  return height > max || ((is_short || zoom < 1) && height > page);
}

static gboolean
wants_compact (LigScoreSheet *self)
{
  return wants_compact_at (self, self->line, self->zoom);
}

static void
choose_metrics (LigScoreSheet *self)
{
  if (self->line <= 0)
    self->line = lig_text_line (GTK_WIDGET (self), 1);
  lig_score_metrics_init (&self->metrics, self->line, wants_compact (self));
}

/* --- The map ------------------------------------------------------------------------------- */

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

/* While the plan belongs to an older sequence, its groups stay with their rows. */
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

void
lig_score_sheet_update (LigScoreSheet *self)
{
  LigPlan *plan = lig_document_get_plan (self->document);
  gboolean known = knows_places (self);
  LigScoreMap *old = self->map;
  choose_metrics (self);
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
  g_signal_emit_by_name (self, "mapped");
}

/* --- Following font and window ------------------------------------------------------------- */

void
lig_score_sheet_follow_font (LigScoreSheet *self)
{
  double line = lig_text_line (GTK_WIDGET (self), 1);
  self->shown_zoom = self->zoom;
  if (!self->document || line == self->line)
    return;
  self->line = line;
  lig_score_sheet_update (self);
}

/* Unfolds the blocks of an opened file if everything then fits in the window. */
static void
unfold_loaded (LigScoreSheet *self)
{
  LigScoreMetrics metrics;
  LigSequence *sequence = lig_document_get_sequence (self->document);
  const char *path = lig_document_get_path (self->document);
  double page = self->adjustment ? gtk_adjustment_get_page_size (self->adjustment) : 0;
  if (page < 60 || self->unfold_decided_for == sequence)
    return;
  gboolean loaded = path && g_strcmp0 (path, self->unfold_decided_path) != 0;
  self->unfold_decided_for = sequence;
  if (!loaded)
    return;
  g_free (self->unfold_decided_path);
  self->unfold_decided_path = g_strdup (path);
  lig_score_metrics_init (&metrics, self->line, self->kind != LIG_SCORE_ROWS_FULL);
  int height = lig_score_map_measure_unfolded (sequence, &metrics);
  if (metrics.top + metrics.space + height <= page)
    lig_document_open_blocks (self->document);
}

static gboolean
change_rows (gpointer data)
{
  LigScoreSheet *self = data;
  self->resizing = 0;
  unfold_loaded (self);
  if (wants_compact (self) != self->metrics.compact)
    lig_score_sheet_update (self);
  return G_SOURCE_REMOVE;
}

/* The size is signalled during the window's layout, when rows must not change. */
void
lig_score_sheet_follow_page (LigScoreSheet *self)
{
  gboolean decided = self->unfold_decided_for == lig_document_get_sequence (self->document);
  if (!self->resizing && (!decided || wants_compact (self) != self->metrics.compact))
    self->resizing = g_idle_add_full (G_PRIORITY_HIGH_IDLE, change_rows, self, NULL);
}

void
lig_score_sheet_set_rows (LigScoreSheet *self, LigScoreRows kind)
{
  if (self->kind == kind)
    return;
  self->kind = kind;
  if (wants_compact (self) != self->metrics.compact)
    lig_score_sheet_update (self);
}

/* --- Zoom ---------------------------------------------------------------------------------- */

double
lig_score_sheet_get_zoom (LigScoreSheet *self)
{
  return self->zoom;
}

void
lig_score_sheet_set_zoom (LigScoreSheet *self, double zoom, double y)
{
  zoom = CLAMP (zoom, LIG_SCORE_MIN_ZOOM, LIG_SCORE_MAX_ZOOM);
  if (fabs (zoom - 1) < 0.02)
    zoom = 1;
  if (zoom == self->zoom)
    return;
  self->zoom = zoom;
  self->kept_y = y;
  char percent[G_ASCII_DTOSTR_BUF_SIZE];
  g_ascii_formatd (percent, sizeof percent, "%.2f", zoom * 100);
  g_autofree char *style = g_strdup_printf ("scoresheet { font-size: %s%%; }", percent);
  gtk_css_provider_load_from_data (self->style, style, -1);
  g_signal_emit_by_name (self, "zoomed");
}

void
lig_score_sheet_fit (LigScoreSheet *self)
{
  LigScoreMetrics metrics;
  double page = self->adjustment ? gtk_adjustment_get_page_size (self->adjustment) : 0;
  double zoom = 1;
  for (; zoom > LIG_SCORE_MIN_ZOOM; zoom -= 0.02) {
    double line = lig_text_line (GTK_WIDGET (self), zoom / self->shown_zoom);
    lig_score_metrics_init (&metrics, line, wants_compact_at (self, line, zoom));
    /* The space for drops below the last row is not needed. */
    if (lig_score_map_measure (self->document, &metrics) - metrics.end <= page)
      break;
  }
  lig_score_sheet_set_zoom (self, zoom, NAN);
}

/* --- Construction -------------------------------------------------------------------------- */

void
lig_score_sheet_init_layout (LigScoreSheet *self)
{
  self->zoom = self->shown_zoom = 1;
  self->kept_y = NAN;
  self->style = gtk_css_provider_new ();
  gtk_style_context_add_provider (gtk_widget_get_style_context (GTK_WIDGET (self)),
                                  GTK_STYLE_PROVIDER (self->style),
                                  GTK_STYLE_PROVIDER_PRIORITY_APPLICATION + 1);
}
