/* SPDX-License-Identifier: MIT */
/* The layout of the score: rows, the brackets of both rails, channels, gaps. */
#pragma once

#include "ui/document/ends.h"
#include <ligature/figures.h>

G_BEGIN_DECLS

/* --- Sizes --------------------------------------------------------------------------------- */

/**
 * LigScoreMetrics: sizes in pixels, which follow the font, the zoom and compact rows.
 *
 * @unit: factor of all sizes: 1 with a line of 17.6 pixels
 * @compact: rows have one line
 * @line, @small: height of a line of text, and of one of small text
 * @pad: between an edge and text
 * @first, @second: the middle of both lines of a row or bracket, from its top; the same if compact
 * @base: of a row: title and parameters
 * @part: of each part of a macro, below; if compact, the least height of a part within the row
 * @tail: below the last part
 * @frame: between the frame of a block and its rows
 * @space: between rows
 * @gap: of the widget between rows, which may cover the edges of the rows
 * @lane: of one channel
 * @end: free below the last row, to drop on
 */
typedef struct {
  double unit;
  gboolean compact;
  int line, small, pad;
  int first, second;
  int top, base, part, tail, space, gap, frame, lane, end;
} LigScoreMetrics;

/* @line: height of a line of the sheet's font */
void lig_score_metrics_init (LigScoreMetrics *self, double line, gboolean compact);

/* Scales a length that was designed for a line of 17.6 pixels. */
int lig_score_metrics_scale (const LigScoreMetrics *self, double length);

/* --- Columns ------------------------------------------------------------------------------- */

typedef struct {
  int forward, rail; /* left edge of the forward rail, width of either */
  int ops, ops_width;
  int backward;
} LigScoreColumns;

/* --- Rows and brackets --------------------------------------------------------------------- */

/**
 * LigScoreSlot: a row.
 *
 * @op, @path, @depth, @folds, @open: as LigRow has them
 * @block: whether it is a block
 * @first, @count: ops of the plan; -1 if it has none
 * @shown: parts that have their own sub-rows; 0 if the row is not split
 * @frame: the lower edge of an unfolded block's frame, which starts at @y; 0 for other rows
 */
typedef struct {
  LigOp *op;
  const char *path;
  int depth;
  gboolean folds, open, block;
  int first, count, shown;
  int y, height;
  int frame;
  LigEnd end;        /* of its channels */
  guint near_misses; /* of the gap before it */
} LigScoreSlot;

/* Marks: overrides for the fusions of an op or a group, and the bits of the quantized copies that a
 * group reads or writes. */
typedef enum {
  LIG_SCORE_FORCED = 1 << 0,
  LIG_SCORE_FORBIDDEN = 1 << 1,
  LIG_SCORE_EIGHT = 1 << 2,
  LIG_SCORE_FOUR = 1 << 3,
  LIG_SCORE_INSIDE = 1 << 4, /* a check found its numbers right */
  LIG_SCORE_OUTSIDE = 1 << 5 /* or wrong */
} LigScoreMarks;

/**
 * LigScoreBracket: a group of one rail; without @group, the sum of a block's repetitions or a
 * folded macro's parts.
 *
 * @from, @to: rows
 * @seconds: shown: measured if all of it was measured, else predicted; NaN: unknown
 * @measured: whether all of it was measured
 * @figures: all other figures; zero seconds without a kernel
 * @marks: whether a fusion of its ops is forced or forbidden, whether it is quantized, and the
 *   result of a check
 */
typedef struct {
  const LigPlanGroup *group;
  LigPass pass;
  guint from, to;
  int y, height;
  gboolean measured;
  double seconds;
  LigFigures figures;
  LigScoreMarks marks;
} LigScoreBracket;

/**
 * LigScoreArc: a channel from one row to another.
 *
 * @from, @to: rows; that of a folded block represents the ops in it
 * @lane: counted from the ops outward
 * @sink: (transfer none): the op that reads it, valid until the document's sequence changes
 * @sink_path: its path
 * @name: as the sink writes it
 */
typedef struct {
  guint from, to, lane;
  LigOp *sink;
  char *sink_path, *name;
} LigScoreArc;

typedef struct {
  LigScoreMetrics metrics;
  LigPlan *plan;
  GPtrArray *loads;    /* (nullable): of LigLoadSeries, of the plan's routers */
  GArray *slots;       /* of LigScoreSlot */
  GArray *brackets[2]; /* of LigScoreBracket, forward and backward, downward */
  GArray *arcs;        /* of LigScoreArc */
  int *tops, *bottoms; /* of each op of the plan; both 0 if it has no row */
  guint n_ops, lanes;
  double seconds[2];     /* of each pass, as in its figures */
  LigFigures figures[2]; /* of each pass, hidden repetitions included */
  guint end_misses;      /* of the gap after the last row */
  int height;
} LigScoreMap;

/* Returns whether the row represents ops without their own row. */
gboolean lig_score_slot_is_folded (const LigScoreSlot *self);

/* The sums of the ops of a row. */
typedef struct {
  gint64 parameters, saved_bytes;
} LigScoreSum;

/* Sums consecutive ops of a plan; a block's ops are those of all its repetitions. */
void lig_score_sum_ops (const LigPlanOp *ops, int count, LigScoreSum *sum);

void lig_score_map_free (LigScoreMap *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigScoreMap, lig_score_map_free)

typedef struct {
  int first, count;
} LigOpSpan;

/* Gets the left edge and the width of a row or of a block's frame, which are indented by depth. */
void lig_score_map_get_extent (
  const LigScoreMap *self, const LigScoreColumns *columns, int depth, int *x, int *width);

/* Returns the columns of a sheet of this width. @map: (nullable): null: no channels */
void lig_score_columns (LigScoreColumns *self, const LigScoreMap *map, int width);

const LigScoreSlot *lig_score_map_get_slot (const LigScoreMap *self, guint n);

/* Returns the gap nearest to a height: the number of the row that follows it. */
guint lig_score_map_find_gap (const LigScoreMap *self, double y);

/* Gets the ops of the plan on both sides of a gap; returns FALSE if the plan does not contain them.
 * For the last gap, the second op is past the end. */
gboolean lig_score_map_get_gap_ops (const LigScoreMap *self, guint gap, int *before, int *after);

/* Parts of lig_score_map_new(), see ui/score/layout.h: add the brackets of a pass, after the rows,
 * and the channels. */
void lig_score_map_add_brackets (LigScoreMap *self,
                                 LigPass pass,
                                 const LigTimedPlan *timed,
                                 const LigTimedPlan *unfused);
void lig_score_map_add_arcs (LigScoreMap *self, LigDocument *document);

G_END_DECLS
