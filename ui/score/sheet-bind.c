/* SPDX-License-Identifier: MIT */
/* The widgets of the score's sheet: created on demand, and reused for the rows at the same
 * position. */
#include "ui/score/channel.h"
#include "ui/score/gap.h"
#include "ui/score/group.h"
#include "ui/score/sheet-private.h"

static void
fill_pool (LigScoreSheet *self, GPtrArray *pool, guint count, GtkWidget *(*make) (LigScoreSheet *) )
{
  GtkWidget *last = pool->len > 0 ? pool->pdata[pool->len - 1] : NULL;
  while (pool->len < count) {
    GtkWidget *widget = make (self);
    if (last)
      gtk_widget_insert_after (widget, GTK_WIDGET (self), last);
    else
      gtk_widget_insert_before (widget, GTK_WIDGET (self), NULL);
    g_ptr_array_add (pool, widget);
    last = widget;
  }
  for (guint i = pool->len; i > count; i--)
    if (i > 2 * count + 64) {
      gtk_widget_unparent (pool->pdata[i - 1]);
      g_ptr_array_set_size (pool, (int) i - 1);
    }
  for (guint i = 0; i < pool->len; i++)
    if (gtk_widget_get_visible (pool->pdata[i]) != (i < count))
      gtk_widget_set_visible (pool->pdata[i], i < count);
}

static GtkWidget *
make_row (LigScoreSheet *self)
{
  return lig_op_row_new (self->document);
}

static GtkWidget *
make_gap (LigScoreSheet *self)
{
  return lig_sheet_gap_new (self->document);
}

static GtkWidget *
make_channel (LigScoreSheet *self)
{
  return lig_score_channel_new (self->document);
}

static GtkWidget *
make_forward (LigScoreSheet *self)
{
  return lig_score_group_new (LIG_PASS_FORWARD);
}

static GtkWidget *
make_backward (LigScoreSheet *self)
{
  return lig_score_group_new (LIG_PASS_BACKWARD);
}

static void
bind_gaps (LigScoreSheet *self)
{
  guint count = self->map->slots->len;
  for (guint i = 0; i <= count; i++) {
    int before, after;
    const LigScoreSlot *slot = i < count ? lig_score_map_get_slot (self->map, i) : NULL;
    gboolean active = lig_score_map_get_gap_ops (self->map, i, &before, &after);
    lig_sheet_gap_bind (self->gaps->pdata[i], i, slot ? slot->near_misses : 0,
                        slot && lig_op_get_fence (slot->op), active);
  }
}

/* --- Getting ------------------------------------------------------------------------------- */

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

/* --- Content ------------------------------------------------------------------------------- */

enum { ROWS, FORWARD, BACKWARD, N_KINDS };

static guint
count_kind (LigScoreSheet *self, guint kind)
{
  return kind == ROWS ? self->map->slots->len : self->map->brackets[kind - FORWARD]->len;
}

static void
find_extent (LigScoreSheet *self, guint kind, guint n, int *top, int *bottom)
{
  if (kind == ROWS) {
    const LigScoreSlot *slot = lig_score_map_get_slot (self->map, n);
    *top = slot->y;
    *bottom = slot->y + slot->height;
  } else {
    const LigScoreBracket *bracket =
      &g_array_index (self->map->brackets[kind - FORWARD], LigScoreBracket, n);
    *top = bracket->y;
    *bottom = bracket->y + bracket->height;
  }
}

static void
tell (LigScoreSheet *self, guint kind, guint n)
{
  self->filled[kind][n] = TRUE;
  if (kind == ROWS)
    lig_op_row_bind (self->rows->pdata[n], self->map, n);
  else
    lig_score_group_bind (self->groups[kind - FORWARD]->pdata[n], self->map, n);
  if (kind != ROWS)
    lig_score_sheet_colour_group (self, (LigPass) (kind - FORWARD), n);
}

/* Adds one window height above and below, like the drawing. */
void
lig_score_sheet_bind_sight (LigScoreSheet *self)
{
  double top, bottom;
  lig_score_sheet_find_sight (self, &top, &bottom);
  double margin = MAX (bottom - top, 600);
  for (guint kind = ROWS; kind < N_KINDS; kind++)
    for (guint i = 0; i < count_kind (self, kind); i++) {
      int from, to;
      find_extent (self, kind, i, &from, &to);
      if (!self->filled[kind][i] && from < bottom + margin && to > top - margin)
        tell (self, kind, i);
    }
}

static gboolean
bind_rest (gpointer data)
{
  enum { AT_ONCE = 24 };
  LigScoreSheet *self = data;
  guint filled = 0;
  for (guint kind = ROWS; kind < N_KINDS; kind++)
    for (guint i = 0; i < count_kind (self, kind) && filled < AT_ONCE; i++)
      if (!self->filled[kind][i]) {
        tell (self, kind, i);
        filled++;
      }
  if (filled == AT_ONCE)
    return G_SOURCE_CONTINUE;
  self->rest = 0;
  return G_SOURCE_REMOVE;
}

void
lig_score_sheet_clear_bound (LigScoreSheet *self)
{
  for (guint kind = ROWS; kind < N_KINDS; kind++)
    g_clear_pointer (&self->filled[kind], g_free);
}

void
lig_score_sheet_bind (LigScoreSheet *self)
{
  const guint count = self->map->slots->len;
  fill_pool (self, self->rows, count, make_row);
  fill_pool (self, self->gaps, count > 0 ? count + 1 : 0, make_gap);
  fill_pool (self, self->groups[0], self->map->brackets[0]->len, make_forward);
  fill_pool (self, self->groups[1], self->map->brackets[1]->len, make_backward);
  fill_pool (self, self->channels, self->map->arcs->len, make_channel);
  for (guint i = 0; i < self->map->arcs->len; i++)
    lig_score_channel_bind (self->channels->pdata[i], self->map, i);
  lig_score_sheet_clear_bound (self);
  lig_score_sheet_find_peak (self);
  for (guint kind = ROWS; kind < N_KINDS; kind++)
    self->filled[kind] = g_new0 (guint8, count_kind (self, kind) + 1);
  for (guint i = 0; i < count; i++)
    lig_op_row_place (self->rows->pdata[i], self->map, i);
  if (count > 0)
    bind_gaps (self);
  for (guint pass = 0; pass < 2; pass++)
    for (guint i = 0; i < self->map->brackets[pass]->len; i++)
      lig_score_group_place (self->groups[pass]->pdata[i], self->map, i);
  lig_score_sheet_bind_sight (self);
  if (!self->rest)
    self->rest = g_idle_add_full (G_PRIORITY_LOW, bind_rest, self, NULL);
}
