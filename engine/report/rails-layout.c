/* SPDX-License-Identifier: MIT */
/* Lays out both rails and the ops between them in a width. A rail that is too narrow omits its
 * savings, then its bytes; then names lose their middle. */
#include "engine/report/rails.h"

#include <glib/gi18n-lib.h>
#include <string.h>

/* Columns before a cell's text, and between the columns of a narrow and a wide layout. */
enum { BRACKET = 2, NARROW_GAP = 1, WIDE_GAP = 2, WIDE = 70 };

/* The width to which paths are shortened. */
enum { LAST = 5 };

typedef struct {
  int gap;                       /* between rails and ops */
  int rail;                      /* the width of each rail */
  int ops;                       /* the width of the ops */
  int n_rails;                   /* 1 for a plan without backward pass */
  int space;                     /* between figures */
  int n_shown;                   /* the shown figures */
  int widths[LIG_RAILS_FIGURES]; /* 0: no row has the figure */
  int indent;                    /* indentation for each heading that a row is under */
  gboolean shapes;
} Layout;

static const char *
get_head (int figure)
{
  static const char *const heads[] = {N_ ("time"), N_ ("bytes"), N_ ("saves"), N_ ("saves bytes")};
  return _ (heads[figure]);
}

/* The width of a text, or 0. */
static int
measure (const char *text)
{
  return text ? lig_columns_width (text) : 0;
}

/* Appends the text at the column of the line that begins at `start`. */
static void
append_at (GString *text, gsize start, int column, const char *part)
{
  g_autofree char *line = g_strdup (text->str + start);
  g_string_append_printf (text, "%*s%s", MAX (column - lig_columns_width (line), 0), "", part);
}

static int
measure_figures (const Layout *layout, int count, int space)
{
  int width = 0;
  for (int i = 0; i < count; i++)
    if (layout->widths[i] > 0)
      width += layout->widths[i] + (width > 0 ? space : 0);
  return BRACKET + width;
}

/* Chooses as many figures as fit, with wide spacing if that also fits. */
static void
choose_figures (Layout *layout, int room, int max)
{
  layout->space = NARROW_GAP;
  layout->n_shown = max;
  while (layout->n_shown > 1 && measure_figures (layout, layout->n_shown, NARROW_GAP) > room)
    layout->n_shown--;
  if (measure_figures (layout, layout->n_shown, WIDE_GAP) <= room)
    layout->space = WIDE_GAP;
}

typedef struct {
  int names, labels, shaped; /* the widest name, label, and label with its shape */
} Needs;

static void
measure_cell (Layout *layout, Needs *needs, const LigRailsCell *cell)
{
  needs->names = MAX (needs->names, measure (cell->name));
  for (int i = 0; i < LIG_RAILS_FIGURES; i++)
    layout->widths[i] = MAX (layout->widths[i], measure (cell->figures[i]));
}

static Needs
measure_rows (const LigRails *self, Layout *layout)
{
  Needs needs = {.names = MAX (measure (_ ("forward")), measure (_ ("backward"))) - BRACKET};
  for (guint i = 0; i < self->rows->len; i++) {
    const LigRailsRow *row = self->rows->pdata[i];
    int label = layout->indent * row->depth + measure (row->label);
    needs.labels = MAX (needs.labels, label);
    needs.shaped = MAX (needs.shaped, label + (row->shape ? 2 + measure (row->shape) : 0));
    for (int side = 0; side < layout->n_rails; side++)
      measure_cell (layout, &needs, &row->cells[side]);
  }
  for (int side = 0; side < layout->n_rails; side++) {
    LigRailsCell whole = {0};
    lig_rails_write_figures (&self->passes[side], whole.figures);
    measure_cell (layout, &needs, &whole);
    for (int i = 0; i < LIG_RAILS_FIGURES; i++)
      g_free (whole.figures[i]);
  }
  for (int i = 0; i < LIG_RAILS_FIGURES; i++)
    if (layout->widths[i] > 0)
      layout->widths[i] = MAX (layout->widths[i], measure (get_head (i)));
  return needs;
}

static Layout
lay_out (const LigRails *self)
{
  int gap = self->width < WIDE ? NARROW_GAP : WIDE_GAP;
  Layout layout = {
    .n_rails = self->n_groups[LIG_PASS_BACKWARD] > 0 ? 2 : 1, .gap = gap, .indent = gap};
  Needs needs = measure_rows (self, &layout);
  layout.ops = MIN (needs.labels, self->width / 3);
  int columns = self->width - layout.n_rails * layout.gap;
  int room = (columns - layout.ops) / layout.n_rails;
  choose_figures (&layout, room, LIG_RAILS_LESS);
  int natural =
    MAX (BRACKET + needs.names, measure_figures (&layout, layout.n_shown, layout.space));
  layout.rail = MIN (room, natural);
  layout.shapes = layout.n_rails * layout.rail + needs.shaped <= columns;
  if (layout.shapes)
    layout.ops = needs.shaped;
  else
    layout.ops = MIN (needs.labels, columns - layout.n_rails * layout.rail);
  room = (columns - layout.ops) / layout.n_rails;
  if (layout.n_shown == LIG_RAILS_LESS)
    choose_figures (&layout, room, LIG_RAILS_FIGURES);
  natural = MAX (natural, measure_figures (&layout, layout.n_shown, layout.space));
  layout.rail = MIN (room, natural);
  return layout;
}

/* --- Lines --------------------------------------------------------------------------------- */

static void
append_figures (GString *text, const Layout *layout, char *const *figures)
{
  gboolean first = TRUE;
  for (int i = 0; i < layout->n_shown; i++) {
    if (layout->widths[i] == 0)
      continue;
    g_string_append_printf (text, "%*s", first ? 0 : layout->space, "");
    lig_columns_append (text, figures[i] ? figures[i] : "", layout->widths[i], LIG_SIDE_RIGHT);
    first = FALSE;
  }
}

/* Appends a cell without trailing spaces. */
static void
append_cell (const LigRails *self, GString *text, const Layout *layout, const LigRailsCell *cell)
{
  g_autoptr (GString) line = g_string_new (cell->bracket ? cell->bracket : " ");
  gboolean lit = self->colour && cell->fused;
  g_string_append_c (line, ' ');
  if (cell->name) {
    g_autofree char *name = lig_columns_elide (cell->name, layout->rail - BRACKET);
    g_string_append (line, name);
  } else {
    append_figures (line, layout, cell->figures);
  }
  g_strchomp (line->str);
  g_string_append_printf (text, "%s%s%s", lit ? "\033[34m" : "", line->str, lit ? "\033[0m" : "");
}

static int
cell_width (const Layout *layout, const LigRailsCell *cell)
{
  g_autoptr (GString) line = g_string_new (NULL);
  LigRails plain = {0};
  append_cell (&plain, line, layout, cell);
  return lig_columns_width (line->str);
}

/* Appends a label. A path that is too long keeps its last numbers, a name both ends. */
static void
append_label (GString *text, const char *label, int room)
{
  const char *space = strchr (label, ' ');
  int name = space ? measure (space) : 0, path = measure (label) - name;
  if (path + name <= room || !space || strchr (label, ',')) {
    lig_columns_append (text, label, room, LIG_SIDE_LEFT);
    return;
  }
  int kept = MIN (path, MAX (room - name, LAST));
  const char *last = kept < path ? g_utf8_offset_to_pointer (space, 1 - kept) : label;
  last += *last == '.';
  gsize start = text->len;
  g_string_append (text, kept < path ? "…" : "");
  g_string_append_len (text, last, space - last);
  kept = lig_columns_width (text->str + start);
  lig_columns_append (text, space, room - kept, LIG_SIDE_LEFT);
}

static void
append_ops (GString *text, const Layout *layout, const LigRailsRow *row)
{
  int indent = MIN (layout->indent * row->depth, layout->ops / 3), room = layout->ops - indent;
  int shape = layout->shapes && row->shape ? measure (row->shape) : 0;
  g_string_append_printf (text, "%*s", indent, "");
  append_label (text, row->label, room - shape);
  if (shape > 0)
    g_string_append (text, row->shape);
}

/* Appends a row without trailing spaces; colour sequences take no columns. */
static void
append_row (const LigRails *self, GString *text, const Layout *layout, const LigRailsRow *row)
{
  gboolean bold = self->colour && row->heading;
  int rest = layout->rail + layout->gap - cell_width (layout, &row->cells[0]);
  g_string_append (text, bold ? "\033[1m" : "");
  append_cell (self, text, layout, &row->cells[0]);
  g_string_append_printf (text, "%*s", rest, "");
  append_ops (text, layout, row);
  if (layout->n_rails > 1 && cell_width (layout, &row->cells[1]) > 0) {
    g_string_append_printf (text, "%*s", layout->gap, "");
    append_cell (self, text, layout, &row->cells[1]);
  } else {
    while (text->len > 0 && text->str[text->len - 1] == ' ')
      g_string_truncate (text, text->len - 1);
  }
  g_string_append_printf (text, "%s\n", bold ? "\033[0m" : "");
}

/* Appends the titles, the names of the figures, and the figures of the passes. */
static void
append_heads (const LigRails *self, GString *text, const Layout *layout)
{
  g_autoptr (GArray) none = g_array_new (FALSE, FALSE, sizeof (int));
  LigRailsRow titles = {.heading = TRUE, .starts = none, .label = (char *) _ ("ops")};
  LigRailsRow names = {.starts = none, .label = (char *) ""};
  LigRailsRow sums = {.heading = TRUE, .starts = none, .label = (char *) _ ("whole pass")};
  const char *const passes[] = {_ ("forward"), _ ("backward")};
  g_string_append (text, self->colour ? "\033[1m" : "");
  gsize start = text->len;
  append_at (text, start, 0, passes[0]);
  append_at (text, start, layout->rail + layout->gap, titles.label);
  if (layout->n_rails > 1)
    append_at (text, start, layout->rail + layout->ops + 2 * layout->gap, passes[1]);
  g_string_append_printf (text, "%s\n", self->colour ? "\033[0m" : "");
  for (int side = 0; side < layout->n_rails; side++) {
    for (int i = 0; i < LIG_RAILS_FIGURES; i++)
      names.cells[side].figures[i] = (char *) get_head (i);
    lig_rails_write_figures (&self->passes[side], sums.cells[side].figures);
  }
  if (measure_figures (layout, layout->n_shown, 0) > BRACKET) {
    append_row (self, text, layout, &names);
    append_row (self, text, layout, &sums);
  }
  for (int side = 0; side < layout->n_rails; side++)
    for (int i = 0; i < LIG_RAILS_FIGURES; i++)
      g_free (sums.cells[side].figures[i]);
}

/* Returns the figures of a pass's steps that belong to no group. */
static LigFigures
find_rest (const LigRails *self, int side)
{
  LigFigures rest = self->passes[side];
  for (guint i = 0; i < self->n_groups[side]; i++) {
    const LigFigures *group = &self->figures[side][i];
    rest.kernels -= MIN (group->kernels, rest.kernels);
    rest.seconds -= group->seconds;
    rest.bytes -= group->bytes;
  }
  rest.fused = 0;
  return rest;
}

/* Appends the steps that belong to no group, such as conversions of parameters, so that the rows'
 * sums are those of the passes. */
static void
append_rest (const LigRails *self, GString *text, const Layout *layout)
{
  g_autoptr (GArray) none = g_array_new (FALSE, FALSE, sizeof (int));
  LigRailsRow row = {.starts = none, .label = (char *) _ ("outside of groups")};
  gboolean any = FALSE;
  for (int side = 0; side < layout->n_rails; side++) {
    LigFigures rest = find_rest (self, side);
    lig_rails_write_figures (&rest, row.cells[side].figures);
    any |= rest.kernels > 0;
  }
  if (any)
    append_row (self, text, layout, &row);
  for (int side = 0; side < layout->n_rails; side++)
    for (int i = 0; i < LIG_RAILS_FIGURES; i++)
      g_free (row.cells[side].figures[i]);
}

void
lig_rails_append (const LigRails *self, GString *text)
{
  Layout layout = lay_out (self);
  append_heads (self, text, &layout);
  if (measure_figures (&layout, layout.n_shown, 0) > BRACKET)
    append_rest (self, text, &layout);
  for (guint i = 0; i < self->rows->len; i++)
    append_row (self, text, &layout, self->rows->pdata[i]);
}
