/* SPDX-License-Identifier: MIT */
/* The layout of a score: the visible parts, their rows, and the blocks around them. */
#include "engine/draw/score.h"

#include <math.h>
#include <string.h>

enum { HEAD = 74, CARD_HEAD = 28, BLOCK_HEAD = 26, BLOCK_FOOT = 10 };

static void
clear_block (gpointer data)
{
  g_free (((LigLayoutBlock *) data)->path);
}

/* --- Repetitions --------------------------------------------------------------------------- */

/* `3.1.2`, in repetition 1 of block 3, becomes `3.0.2`. */
static char *
fold_path (const char *path)
{
  g_auto (GStrv) parts = g_strsplit (path, ".", -1);
  for (guint i = 1; parts[0] && parts[i] && parts[i + 1]; i += 2) {
    g_free (parts[i]);
    parts[i] = g_strdup ("0");
  }
  return g_strjoinv (".", parts);
}

/* Returns the path of the block at this depth around an op, NULL if there is none. */
static char *
block_path (const char *path, int depth)
{
  const char *end = path;
  for (int dots = 0; (end = strchr (end, '.')); end++)
    if (++dots == 2 * depth + 1)
      return g_strndup (path, (gsize) (end - path));
  return NULL;
}

static int
count_depth (const char *path)
{
  int dots = 0;
  for (; *path; path++)
    dots += *path == '.';
  return dots / 2;
}

/* Returns the repetition of the block at this depth that a path names. */
static int
repetition (const char *path, int depth)
{
  for (int dots = 2 * depth + 1; dots > 0; dots--)
    path = strchr (path, '.') + 1;
  return (int) g_ascii_strtoll (path, NULL, 10);
}

/* Finds for each part the same part of the first repetition, which represents all. */
static void
find_likes (LigScoreLayout *self)
{
  guint count;
  const LigPlanOp *ops = lig_plan_get_ops (self->plan, &count);
  g_autoptr (GHashTable) firsts = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (int i = 0, within = 0; i < self->n_parts; i++) {
    gboolean same = i > 0 && g_str_equal (ops[i].path, ops[i - 1].path);
    within = same ? within + 1 : 0;
    self->places[i].like = same ? self->places[i - 1].like + 1 : i;
    if (same || !strchr (ops[i].path, '.'))
      continue;
    g_autofree char *path = fold_path (ops[i].path);
    gpointer known = g_hash_table_lookup (firsts, path);
    if (known)
      self->places[i].like = GPOINTER_TO_INT (known) - 1;
    else
      g_hash_table_insert (firsts, g_steal_pointer (&path), GINT_TO_POINTER (i + 1));
  }
}

/* --- Rows and blocks ------------------------------------------------------------------------ */

static LigLayoutBlock *
find_block (LigScoreLayout *self, const char *path)
{
  for (guint i = self->blocks->len; i-- > 0;) {
    LigLayoutBlock *block = &g_array_index (self->blocks, LigLayoutBlock, i);
    if (g_str_equal (block->path, path))
      return block;
  }
  return NULL;
}

/* Adds the part to each enclosing block, and opens the blocks that begin with it. */
static void
enter_blocks (LigScoreLayout *self, int part, const char *path, double *y)
{
  gboolean shown = self->places[part].like == part;
  for (int depth = 0; depth < count_depth (path); depth++) {
    g_autofree char *inside = block_path (path, depth);
    g_autofree char *folded = fold_path (inside);
    LigLayoutBlock *block = find_block (self, folded);
    if (!block) {
      LigLayoutBlock fresh = {
        .path = g_steal_pointer (&folded), .first = part, .depth = depth, .alike = TRUE, .y = *y};
      g_array_append_val (self->blocks, fresh);
      block = &g_array_index (self->blocks, LigLayoutBlock, self->blocks->len - 1);
      *y += BLOCK_HEAD;
    }
    block->count = MAX (block->count, repetition (path, depth) + 1);
    if (shown) {
      block->last = part;
      block->n_parts++;
    }
  }
}

/* Closes the blocks that end with this visible part. Returns the height of their feet. */
static double
leave_blocks (LigScoreLayout *self, int part, const char *path, const char *next)
{
  double foot = 0;
  for (int depth = count_depth (path) - 1; depth >= 0; depth--) {
    g_autofree char *inside = block_path (path, depth);
    g_autofree char *other = next ? block_path (next, depth) : NULL;
    LigLayoutBlock *block = find_block (self, inside);
    gboolean continues = other && g_str_equal (other, inside) && repetition (next, depth) == 0;
    if (continues)
      break;
    const LigLayoutPlace *place = &self->places[part];
    foot += BLOCK_FOOT;
    const LigLayoutRow *row = &g_array_index (self->rows, LigLayoutRow, place->row);
    block->height = row->y + row->height + foot - block->y;
  }
  return foot;
}

/* Returns the number of parts from @first that belong to the same written op. */
static int
count_parts (const LigPlanOp *ops, int first, int count)
{
  int end = first + 1;
  while (end < count && g_str_equal (ops[end].path, ops[first].path))
    end++;
  return end - first;
}

/* Returns whether the row is folded to one line for all its parts, as the window does initially. */
static gboolean
is_folded (const LigLayoutRow *row, const LigPlanOp *ops)
{
  enum { FEW_PARTS = 3 };
  const LigOpInfo *written = lig_op_info_find (ops[row->first].title);
  return row->count > FEW_PARTS && written && written->expand;
}

static void
place_row (LigScoreLayout *self, LigLayoutRow *row, const LigPlanOp *ops)
{
  double y = row->y;
  gboolean whole = row->count == 1;
  row->folded = is_folded (row, ops);
  row->height = whole || row->folded ? LIG_LAYOUT_CARD : CARD_HEAD + row->count * LIG_LAYOUT_PART;
  for (int i = 0; i < row->count; i++) {
    double height = whole ? row->height : LIG_LAYOUT_PART + (i == 0 ? CARD_HEAD : 0);
    LigLayoutPlace *place = &self->places[row->first + i];
    place->row = (int) self->rows->len;
    place->y = row->folded ? row->y + row->height / 2 : y;
    place->height = row->folded ? 0 : height;
    y += height;
  }
  g_array_append_val (self->rows, *row);
}

static void
place_all (LigScoreLayout *self)
{
  guint count;
  const LigPlanOp *ops = lig_plan_get_ops (self->plan, &count);
  double y = self->top;
  for (int i = 0, next; i < self->n_parts; i = next) {
    const char *path = ops[i].path;
    next = i + count_parts (ops, i, self->n_parts);
    for (int j = i; j < next; j++)
      enter_blocks (self, j, path, &y);
    if (self->places[i].like != i)
      continue;
    LigLayoutRow row = {.first = i, .count = next - i, .depth = count_depth (path), .y = y};
    place_row (self, &row, ops);
    const char *following = next < self->n_parts ? ops[next].path : NULL;
    y += row.height + leave_blocks (self, next - 1, path, following) + LIG_LAYOUT_GAP;
  }
  self->height = y - LIG_LAYOUT_GAP + LIG_LAYOUT_MARGIN;
}

/* --- Groups -------------------------------------------------------------------------------- */

int
lig_score_extent (const LigScoreLayout *self, const LigPlanGroup *group, double *y, double *height)
{
  int first = -1;
  for (int i = group->first; i < group->first + group->count; i++) {
    const LigLayoutPlace *place = &self->places[i];
    if (place->height <= 0 && first < 0)
      continue;
    if (place->height <= 0)
      break;
    if (first < 0) {
      first = i;
      *y = place->y;
    }
    *height = place->y + place->height - *y;
  }
  return first;
}

/* Returns whether two groups cover the same ops of two repetitions in the same way. */
static gboolean
is_alike (const LigScoreLayout *self, const LigPlanGroup *a, int i, const LigPlanGroup *b, int j)
{
  if (!a || !b)
    return a == b;
  return a->fusion == b->fusion && a->count == b->count && i - a->first == j - b->first;
}

/* Sums the time of the repetitions, and records whether all are fused in the same way as the first.
 */
static void
sum_blocks (LigScoreLayout *self, LigPass pass)
{
  guint count, n_ops;
  const LigPlanOp *ops = lig_plan_get_ops (self->plan, &n_ops);
  const LigPlanGroup *groups = lig_plan_get_groups (self->plan, pass, &count);
  const LigTimedPlan timed = {.plan = self->plan, .steps = self->times};
  for (guint i = 0; i < self->blocks->len; i++)
    lig_figures_init (&g_array_index (self->blocks, LigLayoutBlock, i).figures[pass]);
  g_autofree const LigPlanGroup **owners = g_new0 (const LigPlanGroup *, MAX (self->n_parts, 1));
  for (guint i = 0; i < count; i++)
    for (int j = groups[i].first; j < groups[i].first + groups[i].count; j++)
      owners[j] = &groups[i];
  for (int i = 0; i < self->n_parts; i++) {
    int like = self->places[i].like;
    gboolean alike = is_alike (self, owners[i], i, owners[like], like);
    gboolean begins = owners[i] && owners[i]->first == i;
    LigFigures figures;
    lig_figures_init (&figures);
    if (begins)
      lig_figures_of_group (&timed, NULL, owners[i], &figures);
    for (int depth = 0; depth < count_depth (ops[i].path); depth++) {
      g_autofree char *inside = block_path (ops[i].path, depth);
      g_autofree char *folded = fold_path (inside);
      LigLayoutBlock *block = find_block (self, folded);
      block->alike &= alike;
      lig_figures_add (&block->figures[pass], &figures);
    }
  }
}

/* Finds the parts at which forbidden fusions would begin. One that is forbidden everywhere counts
 * only where it matches. */
static void
find_forbidden (LigScoreLayout *self)
{
  guint count;
  const LigVerdict *verdicts = lig_plan_get_verdicts (self->plan, &count);
  self->forbidden = g_new0 (guint8, (gsize) MAX (self->n_parts, 1));
  for (guint i = 0; i < count; i++) {
    const LigVerdict *verdict = &verdicts[i];
    if (verdict->reason == LIG_REASON_FORBIDDEN && verdict->fits &&
        verdict->found.kind == LIG_EVIDENCE_FORBIDDEN)
      self->forbidden[verdict->first] |=
        verdict->pass == LIG_PASS_JOINT ? 0xff : (guint8) (1 << verdict->pass);
  }
}

LigScoreLayout *
lig_score_layout_new (LigPlan *plan, const double *times)
{
  guint count;
  LigScoreLayout *self = g_new0 (LigScoreLayout, 1);
  lig_plan_get_ops (plan, &count);
  self->plan = plan;
  self->times = times;
  self->n_parts = (int) count;
  self->top = HEAD;
  self->rows = g_array_new (FALSE, FALSE, sizeof (LigLayoutRow));
  self->blocks = g_array_new (FALSE, FALSE, sizeof (LigLayoutBlock));
  g_array_set_clear_func (self->blocks, clear_block);
  self->places = g_new0 (LigLayoutPlace, MAX (count, 1));
  find_forbidden (self);
  find_likes (self);
  place_all (self);
  if (self->blocks->len > 0) {
    sum_blocks (self, LIG_PASS_FORWARD);
    sum_blocks (self, LIG_PASS_BACKWARD);
  }
  return self;
}

void
lig_score_layout_free (LigScoreLayout *self)
{
  if (!self)
    return;
  g_array_unref (self->rows);
  g_array_unref (self->blocks);
  g_free (self->places);
  g_free (self->forbidden);
  g_free (self);
}
