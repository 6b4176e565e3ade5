/* SPDX-License-Identifier: MIT */
/* The parts of a plan as text: rows with the repetitions of blocks folded, the cells of both rails,
 * their layout in the given width, and the summary above them. */
#pragma once

#include <json-glib/json-glib.h>
#include <ligature/columns.h>
#include <ligature/figures.h>
#include <ligature/report.h>
#include <ligature/units.h>

/* The figures of a cell, in the order of priority for narrow rails. */
enum { LIG_RAILS_TIME, LIG_RAILS_BYTES, LIG_RAILS_SAVING, LIG_RAILS_LESS, LIG_RAILS_FIGURES };

/* A row of one rail; the texts may be null. */
typedef struct {
  const char *bracket;
  char *name;
  char *figures[LIG_RAILS_FIGURES];
  gboolean fused;
} LigRailsCell;

/* An op, or the heading of a block. */
typedef struct {
  int depth;        /* the number of headings that it is under */
  gboolean heading; /* then `starts` and `length` are the ops below it */
  char *label, *shape;
  GArray *starts; /* int: the index of the op in each repetition that the row represents */
  int length;
  LigRailsCell cells[2];
} LigRailsRow;

/* The rails of a plan. */
typedef struct {
  LigPlan *plan, *unfused;
  const LigPlanOp *ops;
  guint n_ops;
  const LigPlanGroup *groups[2];
  guint n_groups[2];
  LigFigures *figures[2]; /* for each group */
  LigFigures passes[2];
  int *owners[2]; /* for each op: the group that covers it, or -1 */
  GPtrArray *rows;
  int width;
  gboolean colour, all; /* all: every verdict follows */
} LigRails;

/* Fills in the rows except for their cells. */
void lig_rails_fold (LigRails *self);

/* Fills in the cells of the rows. */
void lig_rails_fill (LigRails *self);

/* Appends heads, rows and brackets. */
void lig_rails_append (const LigRails *self, GString *text);

/* Returns the figures as texts, null if they are unknown or nothing is saved. */
void lig_rails_write_figures (const LigFigures *figures, char **texts);

/* Appends the times of the passes, and the fixes that would save most. */
void lig_rails_append_summary (const LigRails *self, GString *text);

/* Adds an object for each fix that would save most to an array. */
void lig_rails_add_fixes (const LigRails *self, JsonBuilder *to);
