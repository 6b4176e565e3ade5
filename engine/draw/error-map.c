/* SPDX-License-Identifier: MIT */
/* The errors of recipes as a map: a row for each op, a column for each tensor of each recipe. */
#include "engine/draw/canvas.h"
#include <ligature/draw-recipes.h>

#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

enum {
  ROW = 20,
  HEAD = 46,
  FOOT = 98,
  LEGEND = 16,
  MARGIN = 12,
  GAP = 10,
  INDENT = 14,
  TENSORS = 3
};

/* The colour scale in half decades, such as 1 % and 3 %, and the pixels of one in the legend. */
enum { MIN_DECADE = -8, MAX_DECADE = 0, HALF = 48, SHADES = 6 };

/* The layout of a picture. */
typedef struct {
  LigCanvas *canvas;
  const LigColours *colours;
  GPtrArray *errors;
  double width, names, cell; /* the width of the picture, of the names of ops, of one cell */
  const double *max;         /* for each column */
  int from, to;              /* the ends of the colour scale in half decades */
  gboolean below;            /* whether there are errors below the scale */
} Layout;

char *
lig_draw_error (double error)
{
  double percent = 100 * error;
  if (isnan (error))
    return g_strdup ("");
  if (isinf (error))
    return g_strdup ("∞");
  if (percent < 0.01)
    return g_strdup (percent == 0 ? "0 %" : "< 0.01 %");
  return g_strdup_printf (percent < 0.1    ? "%.2f %%"
                          : percent < 9.95 ? "%.1f %%"
                                           : "%.0f %%",
                          percent);
}

static const LigRecipeErrors *
nth_recipe (GPtrArray *errors, guint n)
{
  return errors->pdata[n];
}

static guint
count_ops (GPtrArray *errors)
{
  return errors->len > 0 ? nth_recipe (errors, 0)->n_ops : 0;
}

static double
error_of (const LigOpErrors *op, int tensor)
{
  return tensor == 0 ? op->output : tensor == 1 ? op->gradient : op->parameters;
}

/* Returns the displayed name of an op; its own name if the program does not know it. */
static const char *
title_of (const char *op)
{
  const LigOpInfo *info = lig_op_info_find (op);
  return info && info->title ? _ (info->title) : op;
}

/* --- The scale ------------------------------------------------------------------------------ */

static int
compare_errors (gconstpointer a, gconstpointer b)
{
  const double *one = a, *other = b;
  return *one < *other ? -1 : *one > *other;
}

/* Returns all errors above 0, sorted. */
static GArray *
sort_errors (const Layout *self)
{
  GArray *all = g_array_new (FALSE, FALSE, sizeof (double));
  for (guint i = 0; i < self->errors->len; i++)
    for (guint n = 0; n < count_ops (self->errors) * TENSORS; n++) {
      double error = error_of (&nth_recipe (self->errors, i)->ops[n / TENSORS], n % TENSORS);
      if (error > 0)
        g_array_append_val (all, error);
    }
  g_array_sort (all, compare_errors);
  return all;
}

/* Fits the scale to the errors, with at least a decade. The smallest tenth may be below the scale,
 * because a few very small errors, often that of the loss, would give all others the same
 * colour. */
static void
fit_scale (Layout *self)
{
  g_autoptr (GArray) all = sort_errors (self);
  self->to = MAX_DECADE;
  self->from = MIN_DECADE + 2;
  self->below = FALSE;
  if (all->len == 0)
    return;
  double min = g_array_index (all, double, all->len / 10);
  double max = g_array_index (all, double, all->len - 1);
  self->to = (int) CLAMP (ceil (2 * log10 (max)), MIN_DECADE + 2, MAX_DECADE);
  self->from = (int) CLAMP (floor (2 * log10 (min)), MIN_DECADE, self->to - 2);
  self->below = 2 * log10 (g_array_index (all, double, 0)) < self->from;
}

/* Returns the position of an error on the scale, from 0 to 1. */
static double
share_of (const Layout *self, double error)
{
  return CLAMP ((2 * log10 (error) - self->from) / (self->to - self->from), 0, 1);
}

/* Returns the opaque colour of a position on the scale; that of 0 is visible, too. */
static LigColour
shade (const Layout *self, double share)
{
  LigColour from = self->colours->card, to = self->colours->error, mixed = 0xff;
  for (int shift = 8; shift < 32; shift += 8) {
    double a = (double) (from >> shift & 0xff), b = (double) (to >> shift & 0xff);
    mixed |= (LigColour) (a + (b - a) * (0.06 + 0.84 * share) + 0.5) << shift;
  }
  return mixed;
}

/* Returns the luminance of a colour for computing the contrast of texts. */
static double
luminance (LigColour colour)
{
  static const double weights[] = {0.0722, 0.7152, 0.2126};
  double sum = 0;
  for (int i = 0; i < 3; i++) {
    double part = (double) (colour >> (8 + 8 * i) & 0xff) / 255;
    sum += weights[i] * (part <= 0.04045 ? part / 12.92 : pow ((part + 0.055) / 1.055, 2.4));
  }
  return sum;
}

/* Either black or white has a contrast of at least 4.5 to 1 with any colour. */
static LigColour
ink_on (LigColour fill)
{
  return luminance (fill) > 0.179 ? 0x000000ff : 0xffffffff;
}

/* --- The cells ------------------------------------------------------------------------------ */

static double
left_of (const Layout *self, guint recipe)
{
  return MARGIN + self->names + recipe * (TENSORS * self->cell + GAP);
}

/* Finds the largest error of each column; NaN if there is none. */
static double *
find_max (GPtrArray *errors)
{
  double *max = g_new (double, (gsize) errors->len *TENSORS + 1);
  for (guint i = 0; i < errors->len * TENSORS; i++) {
    const LigRecipeErrors *recipe = nth_recipe (errors, i / TENSORS);
    max[i] = NAN;
    for (guint n = 0; n < recipe->n_ops; n++) {
      double error = error_of (&recipe->ops[n], i % TENSORS);
      max[i] = error > 0 ? fmax (max[i], error) : max[i];
    }
  }
  return max;
}

static void
draw_cell (const Layout *self, double x, double y, double error, gboolean is_max)
{
  g_autofree char *number = lig_draw_error (error);
  const LigColours *colours = self->colours;
  LigColour fill = error > 0 ? shade (self, share_of (self, error)) : colours->card;
  LigTextStyle style = {.size = 11,
                        .bold = is_max,
                        .colour = error > 0 ? ink_on (fill) : colours->dim,
                        .anchor = LIG_TEXT_MIDDLE,
                        .width = self->cell - 2};
  lig_canvas_box (self->canvas, x + 1, y + 1, self->cell - 2, ROW - 2, 2, fill,
                  is_max ? colours->ink : 0, is_max ? 1.5 : 0);
  lig_canvas_text (self->canvas, x + self->cell / 2, y + 14, &style, number);
}

static void
draw_cells (const Layout *self, guint i, guint n, double y)
{
  static const char *const tensors[] = {N_ ("output"), N_ ("gradient of the output"),
                                        N_ ("gradients of the parameters")};
  const LigRecipeErrors *recipe = nth_recipe (self->errors, i);
  const LigOpErrors *op = &recipe->ops[n];
  for (int tensor = 0; tensor < TENSORS; tensor++) {
    double error = error_of (op, tensor), x = left_of (self, i) + tensor * self->cell;
    g_autofree char *number = lig_draw_error (error);
    g_autofree char *text = g_strdup_printf ("%s %s, %s: %s %s", title_of (op->op), op->path,
                                             recipe->recipe, _ (tensors[tensor]), number);
    if (isnan (error))
      continue;
    lig_canvas_begin_mark (self->canvas, x, y, self->cell, ROW, text);
    draw_cell (self, x, y, error, error >= self->max[i * TENSORS + tensor]);
    lig_canvas_end_mark (self->canvas);
  }
}

static void
draw_head (const Layout *self, guint i)
{
  static const char *const words[] = {N_ ("output"), N_ ("gradient"), N_ ("weights")};
  static const char *const letters[] = {N_ ("y"), N_ ("dy"), N_ ("dw")};
  double x = left_of (self, i), width = TENSORS * self->cell;
  LigTextStyle bold = {
    .size = 12, .bold = TRUE, .colour = self->colours->ink, .width = width - INDENT};
  LigTextStyle dim = {
    .size = 11, .colour = self->colours->dim, .anchor = LIG_TEXT_MIDDLE, .width = self->cell};
  lig_canvas_text (self->canvas, x + 1, MARGIN + 12, &bold, nth_recipe (self->errors, i)->recipe);
  lig_canvas_box (self->canvas, x + 1, MARGIN + 19, width - 2, 1, 0, self->colours->line, 0, 0);
  for (int tensor = 0; tensor < TENSORS; tensor++)
    lig_canvas_text (self->canvas, x + (tensor + 0.5) * self->cell, MARGIN + 34, &dim,
                     _ (self->cell < 56 ? letters[tensor] : words[tensor]));
}

/* --- The names ------------------------------------------------------------------------------ */

static gboolean
is_part (const LigRecipeErrors *recipe, guint n, guint of)
{
  return of < recipe->n_ops && g_str_equal (recipe->ops[n].written, recipe->ops[of].written);
}

/* Returns whether the op is one of several parts of a macro. */
static gboolean
has_macro (const LigRecipeErrors *recipe, guint n)
{
  return is_part (recipe, n, n - 1) || is_part (recipe, n, n + 1);
}

/* Returns whether the name of a macro is drawn above the op. */
static gboolean
begins_macro (const LigRecipeErrors *recipe, guint n)
{
  return has_macro (recipe, n) && !is_part (recipe, n, n - 1);
}

static gboolean
is_quantized (GPtrArray *errors, guint n)
{
  for (guint i = 0; i < errors->len; i++)
    if (nth_recipe (errors, i)->ops[n].recipe)
      return TRUE;
  return FALSE;
}

static void
draw_macro (const Layout *self, const LigOpErrors *op, double y)
{
  LigTextStyle style = {
    .size = 12, .bold = TRUE, .colour = self->colours->dim, .width = self->names - 20};
  g_autofree char *name = g_strdup_printf ("%s %s", op->written, title_of (op->title));
  lig_canvas_text (self->canvas, MARGIN + 12, y + 14, &style, name);
}

/* Draws the name of an op; for a part of a macro, its own path only. */
static void
draw_name (const Layout *self, guint n, double y)
{
  const LigRecipeErrors *recipe = nth_recipe (self->errors, 0);
  const LigOpErrors *op = &recipe->ops[n];
  gboolean quantized = is_quantized (self->errors, n), part = has_macro (recipe, n);
  double x = MARGIN + 12 + (part ? INDENT : 0);
  const char *path = op->path;
  if (part)
    path = g_str_has_prefix (path, op->written) ? path + strlen (op->written) : "";
  path += *path == '.';
  LigTextStyle style = {.size = 12,
                        .colour = quantized ? self->colours->ink : self->colours->dim,
                        .width = MARGIN + self->names - x - 8};
  const char *title = title_of (op->op);
  g_autofree char *name = part ? g_strconcat (title, *path ? " · " : "", path, NULL)
                               : g_strdup_printf ("%s %s", path, title);
  if (quantized)
    lig_canvas_disc (self->canvas, x - 8, y + ROW / 2.0, 3, self->colours->error);
  lig_canvas_text (self->canvas, x, y + 14, &style, name);
}

/* --- The legend ----------------------------------------------------------------------------- */

static void
draw_scale (const Layout *self, double x, double y)
{
  LigTextStyle style = {.size = 11, .colour = self->colours->dim, .anchor = LIG_TEXT_MIDDLE};
  int count = (self->to - self->from) * SHADES;
  double step = (double) HALF / SHADES;
  for (int i = 0; i < count; i++)
    lig_canvas_box (self->canvas, x + i * step, y, step, 10, 0,
                    shade (self, (double) i / (count - 1)), 0, 0);
  lig_canvas_box (self->canvas, x, y, count * step, 10, 0, 0, self->colours->line, 1);
  for (int half = self->from; half <= self->to; half++) {
    double value = (half % 2 ? 3 : 1) * pow (10, floor (half / 2.0) + 2);
    g_autofree char *label =
      g_strdup_printf ("%s%g %%", half == self->from && self->below ? "≤ " : "", value);
    lig_canvas_text (self->canvas, x + (half - self->from) * HALF, y + 24, &style, label);
  }
}

/* Draws the scale and, because a map may be narrow, the explanations below it, one per line. */
static void
draw_legend (const Layout *self, double y)
{
  const char *const lines[] = {
    _ ("error relative to the unquantized run; the largest of a column has an outline"),
    _ ("matmul with quantized operands"),
    _ ("of each op: its output y, the gradient dy of the output, the gradients dw of its weights"),
  };
  LigTextStyle style = {
    .size = 11, .colour = self->colours->dim, .width = self->width - 2 * MARGIN - INDENT};
  draw_scale (self, MARGIN + 26, y);
  y += 48;
  for (guint i = 0; i < G_N_ELEMENTS (lines); i++, y += LEGEND)
    lig_canvas_text (self->canvas, MARGIN + INDENT, y, &style, lines[i]);
  lig_canvas_disc (self->canvas, MARGIN + 4, y - 2 * LEGEND - 4, 3, self->colours->error);
}

/* --- The picture ---------------------------------------------------------------------------- */

double
lig_draw_recipes_width (GPtrArray *errors)
{
  enum { NAMES = 240, RECIPE = 190 };
  return NAMES + RECIPE * (double) MAX (errors->len, 2);
}

double
lig_draw_recipes_height (GPtrArray *errors)
{
  guint rows = count_ops (errors);
  for (guint n = 0; n < count_ops (errors); n++)
    rows += begins_macro (nth_recipe (errors, 0), n);
  return 2 * MARGIN + HEAD + (double) rows * ROW + FOOT;
}

void
lig_draw_recipes (LigCanvas *canvas, const LigColours *colours, GPtrArray *errors, double width)
{
  Layout layout = {.canvas = canvas, .colours = colours, .errors = errors, .width = width};
  g_autofree double *max = find_max (errors);
  double y = MARGIN + HEAD;
  layout.max = max;
  layout.names = MIN (260, 0.3 * width);
  layout.cell = MAX ((width - 2 * MARGIN - layout.names - (errors->len - 1.0) * GAP) /
                       MAX (TENSORS * errors->len, 1),
                     3);
  fit_scale (&layout);
  for (guint i = 0; i < errors->len; i++)
    draw_head (&layout, i);
  for (guint n = 0; n < count_ops (errors); n++, y += ROW) {
    if (begins_macro (nth_recipe (errors, 0), n)) {
      draw_macro (&layout, &nth_recipe (errors, 0)->ops[n], y);
      y += ROW;
    }
    draw_name (&layout, n, y);
    for (guint i = 0; i < errors->len; i++)
      draw_cells (&layout, i, n, y);
  }
  draw_legend (&layout, y + 14);
}

const LigOpErrors *
lig_draw_recipes_get_op (GPtrArray *errors, guint mark)
{
  for (guint n = 0; n < count_ops (errors); n++)
    for (guint i = 0; i < errors->len; i++)
      for (int tensor = 0; tensor < TENSORS; tensor++)
        if (!isnan (error_of (&nth_recipe (errors, i)->ops[n], tensor)) && mark-- == 0)
          return &nth_recipe (errors, 0)->ops[n];
  return NULL;
}
