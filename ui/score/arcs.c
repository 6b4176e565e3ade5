/* SPDX-License-Identifier: MIT */
/* Channels of the score: their rows, lanes and drawing. */
#include "ui/score/arcs.h"
#include "ui/score/text.h"

#include <math.h>
#include <string.h>

enum { MAX_LANES = 6, LABEL_EVERY = 560 };

guint
lig_score_count_ports (const char *ports)
{
  g_auto (GStrv) names = ports && *ports ? g_strsplit (ports, " ", -1) : NULL;
  return names ? g_strv_length (names) : 0;
}

/* --- Which row feeds which ----------------------------------------------------------------- */

/* Scopes names like the compiler: to the row's block; `../` refers to the enclosing one. */
static char *
scope (const char *path, const char *channel)
{
  g_autofree char *base = g_strdup (path);
  char *dot = strrchr (base, '.');
  *(dot ? dot : base) = '\0';
  while (g_str_has_prefix (channel, "../")) {
    channel += 3;
    for (int i = 0; i < 2; i++) {
      dot = strrchr (base, '.');
      *(dot ? dot : base) = '\0';
    }
  }
  return g_strdup_printf ("%s/%s", base, channel);
}

/* @producers: (element-type utf8 guint): the row number, from 1, of each channel by its full name
 */
typedef struct {
  LigScoreMap *map;
  GHashTable *producers;
} Walk;

/* Returns whether the ops of one row already read the channel. */
static gboolean
is_known (const LigScoreMap *self, const LigScoreArc *arc)
{
  for (guint i = self->arcs->len; i > 0; i--) {
    const LigScoreArc *other = &g_array_index (self->arcs, LigScoreArc, i - 1);
    if (other->to != arc->to)
      return FALSE;
    if (other->from == arc->from && other->sink != arc->sink &&
        g_str_equal (lig_ends_local_name (other->name), lig_ends_local_name (arc->name)))
      return TRUE;
  }
  return FALSE;
}

static void
add_op_arcs (Walk *walk, LigOp *op, const char *path, guint row)
{
  const LigOpInfo *info = lig_op_get_info (op);
  for (guint k = 0; k < lig_score_count_ports (info->extra_inputs); k++) {
    const char *channel = lig_op_get_extra_input_channel (op, (int) k);
    g_autofree char *full = channel ? scope (path, channel) : NULL;
    guint from = full ? GPOINTER_TO_UINT (g_hash_table_lookup (walk->producers, full)) : 0;
    LigScoreArc arc = {.from = from - 1, .to = row, .sink = op, .name = (char *) channel};
    if (from == 0 || arc.from == row || is_known (walk->map, &arc))
      continue;
    arc.name = g_strdup (channel);
    arc.sink_path = g_strdup (path);
    g_array_append_val (walk->map->arcs, arc);
  }
  for (guint k = 0; k < lig_score_count_ports (info->extra_outputs); k++) {
    const char *channel = lig_op_get_extra_output_channel (op, (int) k);
    if (channel)
      g_hash_table_insert (walk->producers, scope (path, channel), GUINT_TO_POINTER (row + 1));
  }
}

/* Adds the channels that lead into a folded block. */
static void
add_body_arcs (Walk *walk, LigSequence *body, const char *path, guint row)
{
  for (guint i = 0; i < lig_sequence_get_length (body); i++) {
    LigOp *op = lig_sequence_get (body, (int) i, NULL);
    const LigOpInfo *info = lig_op_get_info (op);
    if (!info->extra_inputs && !info->extra_outputs && !lig_op_get_body (op))
      continue;
    g_autofree char *here = g_strdup_printf ("%s.0.%u", path, i);
    add_op_arcs (walk, op, here, row);
    if (lig_op_get_body (op))
      add_body_arcs (walk, lig_op_get_body (op), here, row);
  }
}

static int
compare_arcs (gconstpointer a, gconstpointer b)
{
  const LigScoreArc *one = a, *two = b;
  int length = (int) (one->to - one->from) - (int) (two->to - two->from);
  return length != 0 ? length : (int) one->from - (int) two->from;
}

static gboolean
is_free (const LigScoreMap *self, guint n, guint lane)
{
  const LigScoreArc *arc = &g_array_index (self->arcs, LigScoreArc, n);
  for (guint i = 0; i < n; i++) {
    const LigScoreArc *other = &g_array_index (self->arcs, LigScoreArc, i);
    if (other->lane == lane && other->from < arc->to && arc->from < other->to)
      return FALSE;
  }
  return TRUE;
}

/* Shorter channels get inner lanes, so that nested channels do not cross. */
static void
choose_lanes (LigScoreMap *self)
{
  g_array_sort (self->arcs, compare_arcs);
  for (guint i = 0; i < self->arcs->len; i++) {
    guint lane = 0;
    while (lane + 1 < MAX_LANES && !is_free (self, i, lane))
      lane++;
    g_array_index (self->arcs, LigScoreArc, i).lane = lane;
    self->lanes = MAX (self->lanes, lane + 1);
  }
}

void
lig_score_map_add_arcs (LigScoreMap *self, LigDocument *document)
{
  guint count;
  const LigRow *rows = lig_document_get_rows (document, &count);
  g_autoptr (GHashTable) producers = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  Walk walk = {self, producers};
  for (guint i = 0; i < count; i++) {
    const LigOpInfo *info = lig_op_get_info (rows[i].op);
    LigSequence *body = lig_op_get_body (rows[i].op);
    if (body && !rows[i].open)
      add_body_arcs (&walk, body, rows[i].path, i);
    if (!info->extra_inputs && !info->extra_outputs)
      continue;
    add_op_arcs (&walk, rows[i].op, rows[i].path, i);
    g_array_index (self->slots, LigScoreSlot, i).end = lig_ends_find (document, rows[i].op, NULL);
  }
  choose_lanes (self);
}

gboolean
lig_score_has_port (LigOp *op)
{
  return lig_op_get_info (op)->extra_outputs || lig_ends_can_read (op);
}

/* --- Drawing ------------------------------------------------------------------------------- */

void
lig_score_get_port (
  const LigScoreMap *self, const LigScoreColumns *columns, guint slot, double *x, double *y)
{
  *x = columns->ops - 12;
  *y = lig_score_map_get_slot (self, slot)->y + self->metrics.base / 2.0;
}

static void
draw_label (cairo_t *cairo,
            GtkWidget *widget,
            const char *name,
            double x,
            double middle,
            double space,
            const LigScoreArcColours *colours)
{
  g_autoptr (PangoLayout) layout = gtk_widget_create_pango_layout (widget, name);
  g_autoptr (PangoAttrList) attributes = pango_attr_list_new ();
  PangoRectangle extents;
  pango_attr_list_insert (attributes, pango_attr_scale_new (LIG_SCORE_SMALL));
  pango_attr_list_insert (attributes, pango_attr_weight_new (PANGO_WEIGHT_BOLD));
  pango_layout_set_attributes (layout, attributes);
  pango_layout_set_ellipsize (layout, PANGO_ELLIPSIZE_MIDDLE);
  pango_layout_get_pixel_extents (layout, NULL, &extents);
  if (extents.width > space)
    pango_layout_set_width (layout, (int) (space * PANGO_SCALE));
  pango_layout_get_pixel_extents (layout, NULL, &extents);
  cairo_save (cairo);
  cairo_translate (cairo, x, middle);
  cairo_rotate (cairo, -M_PI / 2);
  gdk_cairo_set_source_rgba (cairo, &colours->ground);
  cairo_rectangle (cairo, -extents.width / 2.0 - 5, -extents.height / 2.0, extents.width + 10,
                   extents.height);
  cairo_fill (cairo);
  gdk_cairo_set_source_rgba (cairo, &colours->channel);
  cairo_move_to (cairo, -extents.width / 2.0 - extents.x, -extents.height / 2.0 - extents.y);
  pango_cairo_show_layout (cairo, layout);
  cairo_new_path (cairo);
  cairo_restore (cairo);
}

/* The name is in the middle, and is repeated along a channel that is longer than the window. */
static void
draw_labels (cairo_t *cairo,
             GtkWidget *widget,
             const char *name,
             double x,
             double from,
             double to,
             const LigScoreArcColours *colours)
{
  double length = to - from - 12;
  if (length < 36)
    return;
  int count = MAX ((int) (length / LABEL_EVERY), 1);
  double space = length / count;
  for (int i = 0; i < count; i++)
    draw_label (cairo, widget, name, x, from + 6 + (i + 0.5) * space, space - 6, colours);
}

static double
find_lane (const LigScoreMap *self, const LigScoreColumns *columns, const LigScoreArc *arc)
{
  return columns->ops - 18.0 - (arc->lane + 0.5) * self->metrics.lane;
}

void
lig_score_get_arc (const LigScoreMap *self,
                   const LigScoreColumns *columns,
                   guint number,
                   GdkRectangle *area)
{
  double x, top, bottom;
  const LigScoreArc *arc = &g_array_index (self->arcs, LigScoreArc, number);
  lig_score_get_port (self, columns, arc->from, &x, &top);
  lig_score_get_port (self, columns, arc->to, &x, &bottom);
  area->x = (int) (find_lane (self, columns, arc) - self->metrics.lane / 2.0);
  area->width = self->metrics.lane;
  area->y = (int) top + 6;
  area->height = MAX ((int) (bottom - top) - 12, 1);
}

/* Returns the left edge of a row, which is indented by its depth. */
static double
find_edge (const LigScoreMap *self, const LigScoreColumns *columns, guint slot)
{
  int x, width;
  lig_score_map_get_extent (self, columns, lig_score_map_get_slot (self, slot)->depth, &x, &width);
  return x;
}

/* Draws the line from a row's port through the lane to the edge of another row, with an
 * arrowhead. */
static void
draw_line (cairo_t *cairo, double x0, double y0, double lane, double edge, double y1, double bend)
{
  cairo_move_to (cairo, x0, y0);
  cairo_curve_to (cairo, lane, y0, lane, y0, lane, y0 + bend);
  cairo_line_to (cairo, lane, y1 - bend);
  cairo_curve_to (cairo, lane, y1, lane, y1, MIN (lane + bend, edge - 8), y1);
  cairo_line_to (cairo, edge - 8, y1);
  cairo_stroke (cairo);
  cairo_move_to (cairo, edge - 2, y1);
  cairo_rel_line_to (cairo, -8, -4.5);
  cairo_rel_line_to (cairo, 0, 9);
  cairo_close_path (cairo);
  cairo_fill (cairo);
}

static void
draw_arc (const LigScoreMap *self,
          const LigScoreColumns *columns,
          const LigScoreArc *arc,
          gboolean lit,
          GtkWidget *widget,
          cairo_t *cairo,
          const LigScoreArcColours *colours)
{
  double x0, y0, x1, y1;
  double lane = find_lane (self, columns, arc);
  lig_score_get_port (self, columns, arc->from, &x0, &y0);
  lig_score_get_port (self, columns, arc->to, &x1, &y1);
  /* A row that reads one channel and starts another has both ports next to each other. */
  y1 -= 3;
  double bend = MIN (10 + (x0 - lane), (y1 - y0) / 2);
  gdk_cairo_set_source_rgba (cairo, &colours->channel);
  cairo_set_line_width (cairo, lit ? 4 : 2);
  cairo_move_to (cairo, x0, y0);
  cairo_line_to (cairo, find_edge (self, columns, arc->from), y0);
  cairo_stroke (cairo);
  draw_line (cairo, x0, y0, lane, find_edge (self, columns, arc->to), y1, bend);
  draw_labels (cairo, widget, lig_ends_local_name (arc->name), lane, y0 + bend, y1 - bend, colours);
}

static void
draw_output (cairo_t *cairo, double x, double y)
{
  cairo_new_path (cairo);
  cairo_arc (cairo, x, y, 5, 0, 2 * M_PI);
}

/* A triangle that points at the row. */
static void
draw_input (cairo_t *cairo, double x, double y)
{
  cairo_new_path (cairo);
  cairo_move_to (cairo, x + 5, y);
  cairo_rel_line_to (cairo, -10, -5.5);
  cairo_rel_line_to (cairo, 0, 11);
  cairo_close_path (cairo);
}

/* Returns whether all ports of the op are optional. */
static gboolean
has_only_optional (LigOp *op)
{
  const LigOpInfo *info = lig_op_get_info (op);
  gboolean optional = !info->extra_outputs || lig_op_info_is_optional_output (info, 0);
  for (guint i = 0; i < lig_score_count_ports (info->extra_inputs); i++)
    optional &= lig_op_info_is_optional (info, (int) i);
  return optional;
}

/* Draws the port of a row: a disc where a branch starts, a triangle where one ends; filled if
 * connected, in the warning colour if it leads nowhere. */
static void
draw_port (cairo_t *cairo,
           const LigScoreSlot *slot,
           double x,
           double y,
           gboolean taken,
           const LigScoreArcColours *colours)
{
  gboolean wrong =
    slot->end == LIG_END_UNREAD || slot->end == LIG_END_OPEN || slot->end == LIG_END_MISSING;
  if (!taken && !wrong && slot->end != LIG_END_CALLER && has_only_optional (slot->op))
    return;
  if (lig_ends_can_start (slot->op))
    draw_output (cairo, x, y);
  else if (!taken)
    draw_input (cairo, x, y);
  else
    return;
  gdk_cairo_set_source_rgba (cairo, taken ? &colours->channel : &colours->ground);
  cairo_fill_preserve (cairo);
  gdk_cairo_set_source_rgba (cairo, wrong ? &colours->warning : &colours->channel);
  cairo_set_line_width (cairo, 2);
  cairo_stroke (cairo);
}

static void
draw_ports (const LigScoreMap *self,
            const LigScoreColumns *columns,
            cairo_t *cairo,
            double top,
            double bottom,
            const LigScoreArcColours *colours)
{
  g_autofree gboolean *taken = g_new0 (gboolean, self->slots->len + 1);
  for (guint k = 0; k < self->arcs->len; k++) {
    const LigScoreArc *arc = &g_array_index (self->arcs, LigScoreArc, k);
    taken[arc->from] = taken[arc->to] = TRUE;
  }
  for (guint i = 0; i < self->slots->len; i++) {
    const LigScoreSlot *slot = lig_score_map_get_slot (self, i);
    double x, y;
    if (slot->y > bottom || slot->y + slot->height < top || !lig_score_has_port (slot->op))
      continue;
    lig_score_get_port (self, columns, i, &x, &y);
    draw_port (cairo, slot, x, y, taken[i], colours);
  }
}

void
lig_score_draw_arcs (const LigScoreMap *self,
                     const LigScoreColumns *columns,
                     GtkWidget *widget,
                     cairo_t *cairo,
                     double top,
                     double bottom,
                     int lit,
                     const LigScoreArcColours *colours)
{
  for (guint i = 0; i < self->arcs->len; i++) {
    const LigScoreArc *arc = &g_array_index (self->arcs, LigScoreArc, i);
    const LigScoreSlot *from = lig_score_map_get_slot (self, arc->from);
    const LigScoreSlot *to = lig_score_map_get_slot (self, arc->to);
    if (from->y < bottom && to->y + to->height > top)
      draw_arc (self, columns, arc, (int) i == lit, widget, cairo, colours);
  }
  draw_ports (self, columns, cairo, top, bottom, colours);
}
