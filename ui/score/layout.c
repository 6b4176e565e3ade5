/* SPDX-License-Identifier: MIT */
/* Lays out a document's rows, brackets and channels: pure geometry, no widgets, no drawing. */
#include "ui/score/layout.h"

#include "ui/document/check.h"
#include "ui/document/loads.h"
#include "ui/document/times.h"
#include <ligature/expand-macro.h>

/* --- Rows ---------------------------------------------------------------------------------- */

/* Counts a macro's parts before the plan exists, so that rows do not grow when it arrives. */
static int
count_parts (LigOp *op)
{
  return (int) lig_op_count_ops (op);
}

static int
find_height (const LigScoreMetrics *metrics, const LigScoreSlot *slot)
{
  if (metrics->compact)
    return MAX (metrics->base, slot->shown * metrics->part);
  /* An unfolded block shows its summary in its rows. */
  if (slot->block && slot->open && lig_sequence_get_length (lig_op_get_body (slot->op)) > 0)
    return metrics->line + metrics->pad;
  return metrics->base + slot->shown * metrics->part + (slot->shown ? metrics->tail : 0);
}

/* Ends the frames of blocks that are deeper than this row; returns the y position of the row. */
static int
close_frames (LigScoreMap *self, GArray *open, int depth, int y)
{
  const LigScoreMetrics *metrics = &self->metrics;
  while (open->len > 0) {
    guint block = g_array_index (open, guint, open->len - 1);
    LigScoreSlot *slot = &g_array_index (self->slots, LigScoreSlot, block);
    if (slot->depth < depth)
      break;
    slot->frame = y - metrics->space + metrics->frame;
    y = slot->frame + metrics->space;
    g_array_set_size (open, open->len - 1);
  }
  return y;
}

static void
add_slots (LigScoreMap *self, LigDocument *document, GHashTable *places)
{
  guint n_rows;
  const LigRow *rows = lig_document_get_rows (document, &n_rows);
  const LigPlanOp *ops = self->plan ? lig_plan_get_ops (self->plan, &self->n_ops) : NULL;
  const LigScoreMetrics *metrics = &self->metrics;
  g_autoptr (GArray) open = g_array_new (FALSE, FALSE, sizeof (guint)); /* blocks around a row */
  int y = metrics->top + metrics->space;
  for (guint i = 0; i < n_rows; i++) {
    LigScoreSlot slot = {.op = rows[i].op,
                         .path = rows[i].path,
                         .depth = rows[i].depth,
                         .folds = rows[i].folds,
                         .open = rows[i].open,
                         .block = lig_op_get_body (rows[i].op) != NULL,
                         .first = -1};
    const LigOpSpan *place = places ? g_hash_table_lookup (places, rows[i].op) : NULL;
    guint count = 0;
    const LigPlanOp *parts =
      places ? NULL : lig_document_find_parts (document, rows[i].path, &count);
    if (place || parts) {
      slot.first = place ? place->first : (int) (parts - ops);
      slot.count = place ? place->count : (int) count;
    }
    int shown = slot.block || lig_score_slot_is_folded (&slot) ? 0
                : slot.first >= 0                              ? slot.count
                                                               : count_parts (rows[i].op);
    slot.shown = shown > 1 ? shown : 0;
    slot.height = find_height (metrics, &slot);
    slot.y = close_frames (self, open, slot.depth, y);
    y = slot.y + slot.height + metrics->space;
    g_array_append_val (self->slots, slot);
    if (slot.block && slot.open)
      g_array_append_val (open, i);
  }
  self->height = close_frames (self, open, 0, y) + metrics->end;
}

/* Returns the upper edge of a part of a row; a compact row is divided evenly. */
static int
find_edge (const LigScoreMap *self, const LigScoreSlot *slot, int part)
{
  const LigScoreMetrics *metrics = &self->metrics;
  if (part == 0 || part >= slot->count)
    return part == 0 ? slot->y : slot->y + slot->height;
  if (metrics->compact)
    return slot->y + slot->height * part / slot->count;
  return slot->y + metrics->base + part * metrics->part;
}

/* Sets the heights of each op: its part's sub-row, the first with the row's head. */
static void
place_ops (LigScoreMap *self)
{
  self->tops = g_new0 (int, self->n_ops + 1);
  self->bottoms = g_new0 (int, self->n_ops + 1);
  for (guint i = 0; i < self->slots->len; i++) {
    const LigScoreSlot *slot = lig_score_map_get_slot (self, i);
    gboolean whole = slot->block || lig_score_slot_is_folded (slot);
    for (int k = 0; k < slot->count && !whole; k++) {
      int op = slot->first + k;
      if (op >= (int) self->n_ops)
        break;
      self->tops[op] = find_edge (self, slot, k);
      self->bottoms[op] = find_edge (self, slot, k + 1);
    }
  }
}

/* --- Near misses --------------------------------------------------------------------------- */

/* Marks the boundaries inside groups of a pass. A rejection of that pass is shown only on the card
 * if all its boundaries are marked. */
static void
mark_joined (const LigScoreMap *self, LigPass pass, guint8 *joined)
{
  guint count;
  const LigPlanGroup *groups = lig_plan_get_groups (self->plan, pass, &count);
  for (guint i = 0; i < count; i++)
    for (int k = 0; k + 1 < groups[i].count; k++)
      joined[groups[i].first + k] |= (guint8) (1 << pass);
}

/* Counts the near misses at each boundary, numbered by the op before it, once per fusion, as the
 * card lists them. Verdicts on the same fusion are consecutive. */
static guint *
count_misses (const LigScoreMap *self)
{
  guint count;
  guint *misses = g_new0 (guint, self->n_ops + 1);
  g_autofree guint8 *joined = g_new0 (guint8, self->n_ops + 1);
  g_autofree const LigFusion **counted = g_new0 (const LigFusion *, self->n_ops + 1);
  const LigVerdict *verdicts = lig_plan_get_verdicts (self->plan, &count);
  mark_joined (self, LIG_PASS_FORWARD, joined);
  mark_joined (self, LIG_PASS_BACKWARD, joined);
  for (guint i = 0; i < count; i++) {
    int first, last;
    const LigVerdict *verdict = &verdicts[i];
    if (verdict->taken || !(verdict->fits || verdict->fix))
      continue;
    lig_verdict_get_range (verdict, &first, &last);
    guint8 passes = verdict->pass == LIG_PASS_JOINT ? 3 : (guint8) (1 << verdict->pass);
    for (int at = first; at < last && at < (int) self->n_ops; at++)
      if ((joined[at] & passes) == 0 && counted[at] != verdict->fusion) {
        counted[at] = verdict->fusion;
        misses[at]++;
      }
  }
  return misses;
}

static void
place_misses (LigScoreMap *self)
{
  g_autofree guint *misses = count_misses (self);
  for (guint gap = 1; gap < self->slots->len; gap++) {
    int before, after;
    if (lig_score_map_get_gap_ops (self, gap, &before, &after) && after < (int) self->n_ops)
      g_array_index (self->slots, LigScoreSlot, gap).near_misses = misses[before];
  }
}

/* --- Checks -------------------------------------------------------------------------------- */

/* Returns the check result of a bracket's groups: a sum is outside if any group is. */
static LigScoreMarks
mark_check (const LigScoreMap *self, LigDocument *document, const LigScoreBracket *bracket)
{
  guint count;
  const LigPlanGroup *groups = lig_plan_get_groups (self->plan, bracket->pass, &count);
  const LigScoreSlot *slot = lig_score_map_get_slot (self, bracket->from);
  unsigned marks = 0;
  for (guint i = 0; i < count; i++) {
    gboolean own = bracket->group ? &groups[i] == bracket->group
                                  : groups[i].first >= slot->first &&
                                      groups[i].first < slot->first + slot->count;
    LigCheck check =
      own ? lig_document_get_group_check (document, bracket->pass, i) : LIG_CHECK_UNKNOWN;
    marks |= check == LIG_CHECK_INSIDE ? LIG_SCORE_INSIDE : 0;
    marks |= check == LIG_CHECK_OUTSIDE ? LIG_SCORE_OUTSIDE : 0;
  }
  return marks & LIG_SCORE_OUTSIDE ? LIG_SCORE_OUTSIDE : (LigScoreMarks) marks;
}

static void
mark_checks (LigScoreMap *self, LigDocument *document)
{
  if (!lig_document_get_check (document))
    return;
  for (guint pass = 0; pass < 2; pass++)
    for (guint i = 0; i < self->brackets[pass]->len; i++) {
      LigScoreBracket *bracket = &g_array_index (self->brackets[pass], LigScoreBracket, i);
      bracket->marks |= mark_check (self, document, bracket);
    }
}

/* --- The whole ----------------------------------------------------------------------------- */

static void
clear_arc (gpointer data)
{
  LigScoreArc *arc = data;
  g_free (arc->name);
  g_free (arc->sink_path);
}

LigScoreMap *
lig_score_map_new (LigDocument *document, const LigScoreMetrics *metrics, GHashTable *places)
{
  LigTimedPlan timed, unfused;
  LigScoreMap *self = g_new0 (LigScoreMap, 1);
  self->metrics = *metrics;
  LigPlan *plan = lig_document_get_plan (document);
  self->plan = plan ? lig_plan_ref (plan) : NULL;
  GPtrArray *loads = lig_document_get_loads (document);
  self->loads = loads ? g_ptr_array_ref (loads) : NULL;
  self->slots = g_array_new (FALSE, TRUE, sizeof (LigScoreSlot));
  self->arcs = g_array_new (FALSE, TRUE, sizeof (LigScoreArc));
  g_array_set_clear_func (self->arcs, clear_arc);
  for (guint i = 0; i < 2; i++)
    self->brackets[i] = g_array_new (FALSE, TRUE, sizeof (LigScoreBracket));
  add_slots (self, document, places);
  lig_score_map_add_arcs (self, document);
  place_ops (self);
  if (plan) {
    lig_document_get_timed (document, &timed, &unfused);
    lig_score_map_add_brackets (self, LIG_PASS_FORWARD, &timed, &unfused);
    lig_score_map_add_brackets (self, LIG_PASS_BACKWARD, &timed, &unfused);
    mark_checks (self, document);
    place_misses (self);
  }
  return self;
}

int
lig_score_map_measure_unfolded (LigSequence *sequence, const LigScoreMetrics *metrics)
{
  int height = 0;
  for (guint i = 0; i < lig_sequence_get_length (sequence); i++) {
    LigOp *op = lig_sequence_get (sequence, (int) i, NULL);
    LigSequence *body = lig_op_get_body (op);
    int parts = lig_row_folds (op) ? 0 : count_parts (op);
    LigScoreSlot slot = {
      .op = op, .block = body != NULL, .open = TRUE, .shown = parts > 1 ? parts : 0};
    height += find_height (metrics, &slot) + metrics->space;
    if (body)
      height += lig_score_map_measure_unfolded (body, metrics) + metrics->frame;
  }
  return height;
}

int
lig_score_map_measure (LigDocument *document, const LigScoreMetrics *metrics)
{
  LigScoreMap map = {.metrics = *metrics,
                     .slots = g_array_new (FALSE, TRUE, sizeof (LigScoreSlot))};
  add_slots (&map, document, NULL);
  g_array_unref (map.slots);
  return map.height;
}
