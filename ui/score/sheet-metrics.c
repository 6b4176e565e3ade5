/* SPDX-License-Identifier: MIT */
/* The sizes of the score's sheet follow its font, which the style, the text scale and the zoom
 * change, and whether its rows are compact. */
#include "ui/score/sheet-private.h"
#include "ui/widgets/text-scale.h"

#include <math.h>

/* Automatic rows are compact if full ones need more than this number of windows, and in a low
 * window (at the usual size of text) if full ones do not fit. Editing at the limit must not change
 * all rows again and again, so that rows which are compact stay so a little longer. */
#define MANY_WINDOWS 1.15
#define FEW_WINDOWS 1
#define LOW_WINDOW 440

/* --- Font ---------------------------------------------------------------------------------- */

static void
css_changed (GtkWidget *widget, GtkCssStyleChange *change)
{
  LigScoreSheet *self = LIG_SCORE_SHEET (widget);
  GTK_WIDGET_CLASS (g_type_class_peek (GTK_TYPE_WIDGET))->css_changed (widget, change);
  double line = lig_text_line (widget, 1);
  self->shown_zoom = self->zoom;
  if (!self->document || line == self->line)
    return;
  self->line = line;
  lig_score_sheet_update (self);
}

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
  double most = page * (self->metrics.compact ? FEW_WINDOWS : MANY_WINDOWS);
  gboolean low = page < LOW_WINDOW * full.unit / zoom;
  return height > most || ((low || zoom < 1) && height > page);
}

static gboolean
wants_compact (LigScoreSheet *self)
{
  return wants_compact_at (self, self->line, self->zoom);
}

void
lig_score_sheet_choose_metrics (LigScoreSheet *self)
{
  if (self->line <= 0)
    self->line = lig_text_line (GTK_WIDGET (self), 1);
  lig_score_metrics_init (&self->metrics, self->line, wants_compact (self));
}

/* Unfolds the blocks of a file that was opened if the whole then fits in the window. */
static void
unfold_loaded (LigScoreSheet *self)
{
  LigScoreMetrics metrics;
  LigSequence *sequence = lig_document_get_sequence (self->document);
  const char *path = lig_document_get_path (self->document);
  double page = self->adjustment ? gtk_adjustment_get_page_size (self->adjustment) : 0;
  if (page < 60 || self->judged == sequence)
    return;
  gboolean loaded = path && g_strcmp0 (path, self->judged_path) != 0;
  self->judged = sequence;
  if (!loaded)
    return;
  g_free (self->judged_path);
  self->judged_path = g_strdup (path);
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

/* The size is signalled while the window is laid out, when rows must not change. */
void
lig_score_sheet_follow_page (LigScoreSheet *self)
{
  gboolean judged = self->judged == lig_document_get_sequence (self->document);
  if (!self->resizing && (!judged || wants_compact (self) != self->metrics.compact))
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

/* --- Keeping the place --------------------------------------------------------------------- */

static double
clamp_to_page (double y, double page)
{
  return isnan (y) ? page / 2 : CLAMP (y, 0, page);
}

/* Returns the last row that begins above a height. */
static guint
find_row (const LigScoreMap *map, double y)
{
  guint low = 0, high = map->slots->len;
  while (low + 1 < high) {
    guint middle = (low + high) / 2;
    if (lig_score_map_get_slot (map, middle)->y <= y)
      low = middle;
    else
      high = middle;
  }
  return low;
}

static const LigScoreSlot *
find_op (const LigScoreMap *map, const LigOp *op)
{
  for (guint i = 0; i < map->slots->len; i++)
    if (lig_score_map_get_slot (map, i)->op == op)
      return lig_score_map_get_slot (map, i);
  return NULL;
}

void
lig_score_sheet_keep_place (LigScoreSheet *self, const LigScoreMap *old)
{
  GtkAdjustment *adjustment = self->adjustment;
  if (!adjustment || old->slots->len == 0 || self->map->slots->len == 0)
    return;
  double page = gtk_adjustment_get_page_size (adjustment);
  double value = gtk_adjustment_get_value (adjustment), at = clamp_to_page (self->kept_y, page);
  gboolean top = isnan (self->kept_y) && value <= 0;
  self->kept_y = NAN;
  if (top)
    return;
  const LigScoreSlot *before = lig_score_map_get_slot (old, find_row (old, value + at));
  const LigScoreSlot *after = find_op (self->map, before->op);
  if (!after || (value <= 0 && at > before->y + before->height + old->metrics.space))
    return;
  double share = (value + at - before->y) / (before->height + old->metrics.space);
  double now = after->y + share * (after->height + self->map->metrics.space);
  /* The scrolled window uses the new height only when it is laid out. */
  gtk_adjustment_configure (adjustment, CLAMP (now - at, 0, MAX (self->map->height - page, 0)), 0,
                            MAX (self->map->height, page),
                            gtk_adjustment_get_step_increment (adjustment),
                            gtk_adjustment_get_page_increment (adjustment), page);
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
  zoom = CLAMP (zoom, LIG_SCORE_LEAST_ZOOM, LIG_SCORE_MOST_ZOOM);
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
  for (; zoom > LIG_SCORE_LEAST_ZOOM; zoom -= 0.02) {
    double line = lig_text_line (GTK_WIDGET (self), zoom / self->shown_zoom);
    lig_score_metrics_init (&metrics, line, wants_compact_at (self, line, zoom));
    /* Nothing has to be dropped below the last row. */
    if (lig_score_map_measure (self->document, &metrics) - metrics.end <= page)
      break;
  }
  lig_score_sheet_set_zoom (self, zoom, NAN);
}

/* --- Construction -------------------------------------------------------------------------- */

void
lig_score_sheet_init_metrics (LigScoreSheet *self)
{
  self->zoom = self->shown_zoom = 1;
  self->kept_y = NAN;
  self->style = gtk_css_provider_new ();
  gtk_style_context_add_provider (gtk_widget_get_style_context (GTK_WIDGET (self)),
                                  GTK_STYLE_PROVIDER (self->style),
                                  GTK_STYLE_PROVIDER_PRIORITY_APPLICATION + 1);
}

void
lig_score_sheet_install_metrics (GtkWidgetClass *class)
{
  class->css_changed = css_changed;
}
