/* SPDX-License-Identifier: MIT */
/* The cells of both rails: brackets, names and figures. The figures of a row that represents
 * several repetitions are sums. */
#include "engine/report/rails.h"

#include <math.h>
#include <string.h>

/* Savings below this fraction are rounding. */
#define MIN_SHARE 0.002

static gboolean
counts (double saved, double whole)
{
  return !isnan (saved) && fabs (saved) > MIN_SHARE * fabs (whole) && saved != 0;
}

/* Returns a saving; a loss is negative. */
static char *
write_saving (double saved, gboolean bytes)
{
  g_autofree char *size = bytes ? lig_units_bytes (fabs (saved)) : lig_units_time (fabs (saved));
  return g_strconcat (saved < 0 ? "−" : "", size, NULL);
}

void
lig_rails_write_figures (const LigFigures *figures, char **texts)
{
  texts[LIG_RAILS_TIME] = figures->kernels > 0 ? lig_figures_time_text (figures) : NULL;
  texts[LIG_RAILS_BYTES] = figures->kernels > 0 ? lig_units_bytes (figures->bytes) : NULL;
  if (figures->fused == 0)
    return;
  if (counts (figures->saved_seconds, figures->alone_seconds)) {
    g_autofree char *saving = write_saving (figures->saved_seconds, FALSE);
    /* The time next to it says whether it is predicted, unless they differ in this. */
    gboolean mark = figures->measured && !figures->saved_measured;
    texts[LIG_RAILS_SAVING] = g_strconcat (mark ? "≈ " : "", saving, NULL);
  }
  if (counts (figures->saved_bytes, figures->alone_bytes))
    texts[LIG_RAILS_LESS] = write_saving (figures->saved_bytes, TRUE);
}

/* The name is shown without the pass, which is the title of the rail. */
static char *
name_fusion (const LigPlanGroup *group)
{
  const char *name = group->fusion->name, *dash = strchr (name, '-');
  return g_strdup (dash ? dash + 1 : name);
}

/* Sums the groups that cover the op in each repetition. */
static LigFigures
sum_op (const LigRails *self, int side, const LigRailsRow *row)
{
  LigFigures sum;
  lig_figures_init (&sum);
  for (guint i = 0; i < row->starts->len; i++)
    lig_figures_add (&sum,
                     &self->figures[side][self->owners[side][g_array_index (row->starts, int, i)]]);
  return sum;
}

/* Sums the groups that begin below a heading. */
static LigFigures
sum_below (const LigRails *self, int side, const LigRailsRow *row)
{
  LigFigures sum;
  lig_figures_init (&sum);
  for (guint i = 0; i < row->starts->len; i++)
    for (int start = g_array_index (row->starts, int, i), op = start; op < start + row->length;
         op++) {
      int owner = self->owners[side][op];
      if (owner >= 0 && self->groups[side][owner].first == op)
        lig_figures_add (&sum, &self->figures[side][owner]);
    }
  return sum;
}

/* A fused group has its name in its first row and its figures in the second. */
static void
fill_op (const LigRails *self, int side, LigRailsRow *row)
{
  LigRailsCell *cell = &row->cells[side];
  int op = g_array_index (row->starts, int, 0), owner = self->owners[side][op];
  if (owner < 0)
    return;
  const LigPlanGroup *group = &self->groups[side][owner];
  int at = op - group->first;
  LigFigures figures = sum_op (self, side, row);
  cell->fused = group->fusion != NULL;
  if (cell->fused) {
    cell->bracket = at == 0 ? "┌" : at == group->count - 1 ? "└" : "│";
    cell->name = at == 0 ? name_fusion (group) : NULL;
  } else if (at == 0 && group->n_steps > 0) {
    cell->bracket = "·";
  }
  if (at == (cell->fused ? 1 : 0) && group->n_steps > 0)
    lig_rails_write_figures (&figures, cell->figures);
}

/* A bracket continues through the heading of a block that it reaches into. */
static void
fill_heading (const LigRails *self, int side, LigRailsRow *row)
{
  int op = g_array_index (row->starts, int, 0), owner = self->owners[side][op];
  LigRailsCell *cell = &row->cells[side];
  LigFigures figures = sum_below (self, side, row);
  if (owner >= 0 && self->groups[side][owner].fusion && self->groups[side][owner].first < op) {
    cell->bracket = "│";
    cell->fused = TRUE;
  }
  if (row->length > 0)
    lig_rails_write_figures (&figures, cell->figures);
}

void
lig_rails_fill (LigRails *self)
{
  for (guint i = 0; i < self->rows->len; i++)
    for (int side = 0; side < 2; side++) {
      LigRailsRow *row = self->rows->pdata[i];
      if (row->heading)
        fill_heading (self, side, row);
      else
        fill_op (self, side, row);
    }
}
