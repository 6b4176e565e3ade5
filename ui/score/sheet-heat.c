/* SPDX-License-Identifier: MIT */
/* Colours the sheet's brackets by a figure, and moves from one hotspot to the next. */
#include "ui/score/sheet-private.h"
#include "ui/widgets/css-class.h"

#include <math.h>

/* --- Colours ------------------------------------------------------------------------------- */

void
lig_score_sheet_colour_group (LigScoreSheet *self, LigPass pass, guint number)
{
  static const char *const levels[] = {"heat-0", "heat-1", "heat-2", "heat-3", "heat-4", "heat-5"};
  static const char *const bounds[] = {"bound-unknown", "bound-memory", "bound-compute",
                                       "bound-launch"};
  GtkWidget *group = self->groups[pass]->pdata[number];
  const LigScoreBracket *bracket =
    &g_array_index (self->map->brackets[pass], LigScoreBracket, number);
  guint level = G_MAXUINT, bound = G_MAXUINT;
  gboolean counted = lig_score_bracket_counts (self->map, bracket);
  if (counted && self->colour == LIG_SCORE_COLOUR_BOUND)
    bound = lig_score_bracket_bound (self->map, bracket);
  else if (counted && self->colour != LIG_SCORE_COLOUR_FUSION)
    level =
      lig_score_heat_level (lig_score_bracket_value (self->map, bracket, self->colour), self->peak);
  for (guint i = 0; i < G_N_ELEMENTS (levels); i++)
    lig_css_class_set (group, levels[i], i == level);
  for (guint i = 0; i < G_N_ELEMENTS (bounds); i++)
    lig_css_class_set (group, bounds[i], i == bound);
}

void
lig_score_sheet_set_colour (LigScoreSheet *self, LigScoreColour colour)
{
  if (self->colour == colour)
    return;
  self->colour = colour;
  lig_score_sheet_find_peak (self);
  for (guint pass = 0; pass < 2; pass++)
    for (guint i = 0; i < self->map->brackets[pass]->len; i++)
      lig_score_sheet_colour_group (self, (LigPass) pass, i);
  g_signal_emit_by_name (self, "mapped");
}

LigScoreColour
lig_score_sheet_get_colour (LigScoreSheet *self)
{
  return self->colour;
}

void
lig_score_sheet_find_peak (LigScoreSheet *self)
{
  self->peak = self->map->plan ? lig_score_map_peak (self->map, self->colour) : 0;
}

/* --- The hottest --------------------------------------------------------------------------- */

static guint
find_number (LigScoreSheet *self, const LigScoreBracket *bracket)
{
  GArray *brackets = self->map->brackets[bracket->pass];
  return (guint) (bracket - &g_array_index (brackets, LigScoreBracket, 0));
}

/* Returns the index of the bracket that has the focus, or had it last; -1. */
static int
find_place (LigScoreSheet *self, GPtrArray *hot)
{
  GtkWidget *child = gtk_widget_get_focus_child (GTK_WIDGET (self));
  for (guint i = 0; i < hot->len; i++) {
    const LigScoreBracket *bracket = hot->pdata[i];
    if (child == self->groups[bracket->pass]->pdata[find_number (self, bracket)])
      return (int) i;
  }
  return -1;
}

static void
select_rows (LigScoreSheet *self, const LigScoreBracket *bracket)
{
  LigOp *first = lig_score_map_get_slot (self->map, bracket->from)->op;
  LigOp *last = lig_score_map_get_slot (self->map, bracket->to)->op;
  lig_document_select (self->document, first, LIG_SELECT_ONLY);
  if (last != first)
    lig_document_select (self->document, last, LIG_SELECT_RANGE);
}

void
lig_score_sheet_go_hot (LigScoreSheet *self, int by)
{
  g_autoptr (GPtrArray) hot = lig_score_map_list_hot (self->map);
  if (hot->len == 0)
    return;
  int place = find_place (self, hot), count = (int) hot->len;
  int next = place < 0 ? (by > 0 ? 0 : count - 1) : (place + by + count) % count;
  const LigScoreBracket *bracket = hot->pdata[next];
  select_rows (self, bracket);
  lig_score_sheet_scroll_to (self, bracket->to);
  lig_score_sheet_scroll_to (self, bracket->from);
  gtk_widget_grab_focus (self->groups[bracket->pass]->pdata[find_number (self, bracket)]);
  GtkRoot *root = gtk_widget_get_root (GTK_WIDGET (self));
  if (GTK_IS_WINDOW (root))
    gtk_window_set_focus_visible (GTK_WINDOW (root), TRUE);
}
