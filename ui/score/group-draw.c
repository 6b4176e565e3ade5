/* SPDX-License-Identifier: MIT */
/* Draws a bracket: as many lines of figures as fit its height. The first line has name and time;
 * then, in order of importance, saving, rate and bound, kernels. A text that does not fit is
 * omitted or replaced by a shorter one, and is in the tooltip. */
#include "ui/score/group-private.h"
#include "ui/score/marks.h"

enum { MAX_LINES = 4, NONE = -1 };

/* A line has a text on the left and one on the right. */
typedef struct {
  int left, right;
} Line;

typedef struct {
  LigScoreGroup *group;
  GtkSnapshot *snapshot;
  int x, width, height;
  int pitch, space;
  gboolean wrap; /* the name takes two lines */
  GdkRGBA accent, ink, dim, warning;
} Canvas;

static LigScoreTextFlags
get_flags (const LigScoreGroup *self, int which)
{
  switch (which) {
  case LIG_BRACKET_NAME:
    return LIG_SCORE_TEXT_SMALL | (self->fused ? LIG_SCORE_TEXT_BOLD : 0);
  case LIG_BRACKET_TIME:
    return LIG_SCORE_TEXT_SMALL | (self->measured ? LIG_SCORE_TEXT_BOLD : 0);
  case LIG_BRACKET_SAVING:
  case LIG_BRACKET_SAVING_SHORT:
    return LIG_SCORE_TEXT_SMALL | LIG_SCORE_TEXT_BOLD;
  default:
    return LIG_SCORE_TEXT_SMALL;
  }
}

static int
measure_text (Canvas *canvas, int which)
{
  LigScoreGroup *self = canvas->group;
  if (which == NONE)
    return 0;
  if (self->widths[which] < 0)
    self->widths[which] =
      lig_score_text_measure (&self->texts[which], GTK_WIDGET (self), get_flags (self, which));
  return self->widths[which];
}

/* Returns the text, or its short form if only that fits, else NONE. */
static int
fit (Canvas *canvas, int which, int room)
{
  int shorter = which == LIG_BRACKET_SAVING ? LIG_BRACKET_SAVING_SHORT
                : which == LIG_BRACKET_RATE ? LIG_BRACKET_RATE_SHORT
                                            : NONE;
  for (int at = which; at != NONE; at = at == which ? shorter : NONE)
    if (canvas->group->texts[at].text && measure_text (canvas, at) <= room)
      return at;
  return NONE;
}

static gboolean
has (const Canvas *canvas, int which)
{
  return canvas->group->texts[which].text && *canvas->group->texts[which].text;
}

/* --- Choosing the lines -------------------------------------------------------------------- */

/* Returns whether both fit on one line without truncation. */
static gboolean
fit_both (Canvas *canvas, int left, int right)
{
  return measure_text (canvas, left) + canvas->space + measure_text (canvas, right) <=
         canvas->width;
}

/* Returns the kernels and, at the end of their line, the bound if it fits. Kernels may be
 * truncated, but must remain readable. */
static Line
plan_kernels (Canvas *canvas)
{
  int kernels = measure_text (canvas, LIG_BRACKET_KERNELS);
  int room = canvas->width - MIN (kernels, 6 * canvas->pitch) - canvas->space;
  gboolean bound = has (canvas, LIG_BRACKET_RATE);
  return (Line){LIG_BRACKET_KERNELS, bound ? fit (canvas, LIG_BRACKET_RATE, room) : NONE};
}

/* Kernels and bound are on the line after the name in every bracket, the saving is below them; a
 * bracket with one line for both has the saving. */
static int
plan_fused (Canvas *canvas, Line *lines, int max)
{
  int n = 0, saving = fit (canvas, LIG_BRACKET_SAVING, canvas->width);
  Line last = {saving == NONE ? LIG_BRACKET_SAVING : saving, NONE};
  if (max >= 2)
    lines[n++] = plan_kernels (canvas);
  else if (has (canvas, LIG_BRACKET_RATE)) {
    int used = MIN (measure_text (canvas, last.left), canvas->width);
    last.right = fit (canvas, LIG_BRACKET_RATE, canvas->width - used - canvas->space);
  }
  lines[n++] = last;
  return n;
}

/* Without room next to the kernels, the bound has the line below them if there is one. */
static int
plan_alone (Canvas *canvas, Line *lines, int max)
{
  gboolean bound = has (canvas, LIG_BRACKET_RATE);
  lines[0] = plan_kernels (canvas);
  if (!bound || max == 1 || fit_both (canvas, LIG_BRACKET_KERNELS, LIG_BRACKET_RATE))
    return 1;
  lines[0].right = NONE;
  lines[1] = (Line){fit (canvas, LIG_BRACKET_RATE, canvas->width), NONE};
  return 2;
}

/* A name that would be truncated next to the time gets the first line for itself. */
static int
plan_split (Canvas *canvas, Line *lines, int max)
{
  int n = 0, time = measure_text (canvas, LIG_BRACKET_TIME);
  int room = canvas->width - time - canvas->space;
  gboolean saves = has (canvas, LIG_BRACKET_SAVING);
  if (saves && max == 1) {
    lines[n++] = (Line){fit (canvas, LIG_BRACKET_SAVING, room), LIG_BRACKET_TIME};
    return n;
  }
  lines[n++] = (Line){has (canvas, LIG_BRACKET_RATE) ? fit (canvas, LIG_BRACKET_RATE, room) : NONE,
                      LIG_BRACKET_TIME};
  int saving = saves ? fit (canvas, LIG_BRACKET_SAVING, canvas->width) : NONE;
  if (saving != NONE)
    lines[n++] = (Line){saving, NONE};
  if (n < max)
    lines[n++] = (Line){LIG_BRACKET_KERNELS, NONE};
  return n;
}

/* A name that would still be truncated gets two lines if enough are left. */
static int
plan_lines (Canvas *canvas, Line *lines, int max, gboolean *split)
{
  *split = max > 0 && !fit_both (canvas, LIG_BRACKET_NAME, LIG_BRACKET_TIME);
  if (max == 0)
    return 0;
  canvas->wrap = *split && max > 1 && measure_text (canvas, LIG_BRACKET_NAME) > canvas->width;
  if (*split)
    return plan_split (canvas, lines, canvas->wrap ? max - 1 : max);
  return has (canvas, LIG_BRACKET_SAVING) ? plan_fused (canvas, lines, max)
                                          : plan_alone (canvas, lines, max);
}

/* --- Drawing ------------------------------------------------------------------------------- */

static GdkRGBA
get_colour (const Canvas *canvas, int which)
{
  const LigScoreGroup *self = canvas->group;
  GdkRGBA colour = canvas->dim;
  if (which == LIG_BRACKET_NAME)
    return canvas->accent;
  if (which == LIG_BRACKET_TIME)
    return self->measured && self->share > 0 ? canvas->ink : canvas->dim;
  if (which == LIG_BRACKET_SAVING || which == LIG_BRACKET_SAVING_SHORT) {
    colour = self->loses ? canvas->warning : canvas->accent;
    colour.alpha *= self->saving_measured ? 1 : 0.78f;
  }
  return colour;
}

/* Returns the width that is used. */
static int
draw_text (Canvas *canvas, int which, int x, int middle, int width, gboolean end)
{
  LigScoreGroup *self = canvas->group;
  if (which == NONE || width <= 0)
    return 0;
  GdkRGBA colour = get_colour (canvas, which);
  gboolean wrap = canvas->wrap && which == LIG_BRACKET_NAME;
  gboolean fits = measure_text (canvas, which) <= width;
  int used = lig_score_text_draw (&self->texts[which], GTK_WIDGET (self), canvas->snapshot, x,
                                  middle + (wrap ? canvas->pitch / 2 : 0), width,
                                  get_flags (self, which) | (end ? LIG_SCORE_TEXT_END : 0) |
                                    (wrap ? LIG_SCORE_TEXT_WRAP : 0),
                                  &colour);
  if (fits || (wrap && !lig_score_text_is_cut (&self->texts[which])))
    self->drawn |= 1u << which;
  return used;
}

static void
draw_line (Canvas *canvas, const Line *line, int middle)
{
  int used = draw_text (canvas, line->right, canvas->x, middle, canvas->width, TRUE);
  draw_text (canvas, line->left, canvas->x, middle,
             canvas->width - used - (used > 0 ? canvas->space : 0), FALSE);
}

/* Draws the most useful text next to the name of a single-line bracket. Returns the width. */
static int
draw_only (Canvas *canvas, int middle, int room)
{
  int which = has (canvas, LIG_BRACKET_SAVING) ? LIG_BRACKET_SAVING : LIG_BRACKET_RATE;
  int fits = has (canvas, which) ? fit (canvas, which, room) : NONE;
  int used = draw_text (canvas, fits, canvas->x + canvas->width - room, middle, room, TRUE);
  return used > 0 ? used + canvas->space : 0;
}

/* @only: whether no other line follows; @split: whether the next one has the time */
static void
draw_first (Canvas *canvas, int middle, gboolean only, gboolean split)
{
  LigScoreGroup *self = canvas->group;
  const int space = canvas->space;
  int used =
    split ? 0 : draw_text (canvas, LIG_BRACKET_TIME, canvas->x, middle, canvas->width, TRUE);
  int signs = lig_score_marks_draw (self->marks, GTK_WIDGET (self), canvas->snapshot, canvas->x,
                                    middle, self->metrics.small * 3 / 4);
  int name = MIN (measure_text (canvas, LIG_BRACKET_NAME), canvas->width);
  int room = canvas->width - signs - used - (used > 0 ? space : 0);
  if (only && room - name - space > 0) {
    int whole = canvas->width;
    canvas->width -= used + (used > 0 ? space : 0);
    room -= draw_only (canvas, middle, room - name - space);
    canvas->width = whole;
  }
  /* A few letters of a name are useless if the row next to it shows it in full. */
  if (used > 0 && 3 * room < 2 * name)
    return;
  draw_text (canvas, LIG_BRACKET_NAME, canvas->x + signs, middle, room, FALSE);
}

static void
draw_bar (Canvas *canvas, int y, int thickness)
{
  const LigScoreGroup *self = canvas->group;
  GdkRGBA ink = canvas->accent, track = canvas->accent;
  GskRoundedRect outline;
  const float width = (float) canvas->width, height = (float) thickness;
  const graphene_rect_t area = GRAPHENE_RECT_INIT ((float) canvas->x, (float) y, width, height);
  ink.alpha *= (self->fused ? 1.0f : 0.62f) * (self->measured ? 1.0f : 0.6f);
  track.alpha *= 0.14f;
  gsk_rounded_rect_init_from_rect (&outline, &area, height / 2);
  gtk_snapshot_push_rounded_clip (canvas->snapshot, &outline);
  gtk_snapshot_append_color (canvas->snapshot, &track, &outline.bounds);
  if (self->share > 0)
    gtk_snapshot_append_color (canvas->snapshot, &ink,
                               &GRAPHENE_RECT_INIT ((float) canvas->x, (float) y,
                                                    MAX (width * (float) self->share, 2), height));
  gtk_snapshot_pop (canvas->snapshot);
}

static void
find_colours (Canvas *canvas)
{
  GtkStyleContext *style = gtk_widget_get_style_context (GTK_WIDGET (canvas->group));
  gtk_style_context_get_color (style, &canvas->accent);
  if (!gtk_style_context_lookup_color (style, "window_fg_color", &canvas->ink))
    canvas->ink = canvas->accent;
  if (!gtk_style_context_lookup_color (style, "warning_color", &canvas->warning))
    canvas->warning = canvas->accent;
  canvas->dim = lig_score_dim (&canvas->ink);
}

/* Sets the line spacing; returns the maximum number of lines after the first. If only one line
 * fits, but the name would be truncated next to the time, two lines are squeezed in, if necessary
 * without a bar.
 */
static int
space_lines (Canvas *canvas, int *top, gboolean *bar)
{
  const LigScoreMetrics *metrics = &canvas->group->metrics;
  const int foot = lig_score_metrics_scale (metrics, 11);
  const int space = canvas->height - *top - foot;
  int room = (space + 5) / MAX (canvas->pitch, 1);
  *bar = !canvas->group->free && canvas->height >= canvas->pitch + foot;
  /* The spacing is reduced if one more line then fits. */
  if (room > 1)
    canvas->pitch = MIN (canvas->pitch, space / room);
  const int close = lig_score_metrics_scale (metrics, 3), both = close + 2 * metrics->small;
  if (room <= 1 && canvas->height >= both &&
      !fit_both (canvas, LIG_BRACKET_NAME, LIG_BRACKET_TIME)) {
    *top = close;
    *bar = *bar && canvas->height >= both + foot - close;
    canvas->pitch = metrics->small;
    room = 2;
  }
  return CLAMP (room - 1, 0, MAX_LINES - 1);
}

/* Draws the text of a group without a kernel. */
static void
draw_free (Canvas *canvas)
{
  int which = measure_text (canvas, LIG_BRACKET_KERNELS) <= canvas->width ? LIG_BRACKET_KERNELS
                                                                          : LIG_BRACKET_RATE_SHORT;
  draw_text (canvas, which, canvas->x, canvas->height / 2, canvas->width, FALSE);
}

void
lig_score_group_draw (LigScoreGroup *self, GtkSnapshot *snapshot)
{
  const LigScoreMetrics *metrics = &self->metrics;
  int top = lig_score_metrics_scale (metrics, 6);
  Canvas canvas = {.group = self,
                   .snapshot = snapshot,
                   .x = metrics->pad,
                   .width = gtk_widget_get_width (GTK_WIDGET (self)) - 2 * metrics->pad,
                   .height = gtk_widget_get_height (GTK_WIDGET (self)),
                   .pitch = metrics->small + lig_score_metrics_scale (metrics, 2),
                   .space = lig_score_metrics_scale (metrics, 9)};
  Line lines[MAX_LINES];
  self->drawn = 0;
  find_colours (&canvas);
  if (self->free) {
    draw_free (&canvas);
    return;
  }
  gboolean split, bar;
  int max = space_lines (&canvas, &top, &bar), n = plan_lines (&canvas, lines, max, &split);
  int alone = (canvas.height - (bar ? lig_score_metrics_scale (metrics, 9) : 0)) / 2;
  int middle = max > 0 ? top + canvas.pitch / 2 + 1 : alone;
  /* When zoomed out, a thin bracket shows only its colour, because partial letters are
   * unreadable. */
  if (4 * canvas.height >= 3 * metrics->small)
    draw_first (&canvas, middle, max == 0, split);
  for (int i = 0; i < n; i++)
    draw_line (&canvas, &lines[i], middle + (i + (canvas.wrap ? 2 : 1)) * canvas.pitch);
  int thickness = MAX (lig_score_metrics_scale (metrics, max > 0 ? 4 : 3), 2);
  if (bar)
    draw_bar (&canvas, canvas.height - lig_score_metrics_scale (metrics, max > 0 ? 7 : 6),
              thickness);
}

/* Returns whether a line of the description repeats a text that is drawn. */
static gboolean
is_drawn (const LigScoreGroup *self, const char *line)
{
  for (guint i = 0; i < LIG_BRACKET_N_TEXTS; i++) {
    const char *text = self->texts[i].text;
    if ((self->drawn & (1u << i)) && text && *text && strstr (line, text))
      return i != LIG_BRACKET_RATE_SHORT && i != LIG_BRACKET_SAVING_SHORT;
  }
  return FALSE;
}

char *
lig_score_group_describe_hidden (const LigScoreGroup *self)
{
  const char *name = self->texts[LIG_BRACKET_NAME].text;
  g_autoptr (GString) text = g_string_new (NULL);
  g_auto (GStrv) lines = g_strsplit (self->description ? self->description : "", "\n", -1);
  if (name && !self->free && !(self->drawn & (1u << LIG_BRACKET_NAME)))
    g_string_append (text, name);
  for (guint i = 0; lines[i]; i++)
    if (!is_drawn (self, lines[i]))
      g_string_append_printf (text, "%s%s", text->len > 0 ? "\n" : "", lines[i]);
  return text->len > 0 ? g_strdup (text->str) : NULL;
}
