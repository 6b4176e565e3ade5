/* SPDX-License-Identifier: MIT */
/* The errors of recipes as a map: ops downwards, recipes and their tensors across. */
#include <ligature/draw-recipes.h>

#include <glib/gi18n-lib.h>
#include <math.h>

enum { ROW = 20, HEAD = 54, FOOT = 40, MARGIN = 12, GAP = 10, TENSORS = 3, STEPS = 5 };

/* The errors at the ends of the colour scale, as powers of ten. */
#define LEAST (-3.0)
#define MOST 0.0

/* The places of a picture. */
typedef struct {
  LigCanvas *canvas;
  const LigColours *colours;
  double width, names, cell; /* of the whole, of the names of ops, of one cell */
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

/* Returns the share of the scale that an error has: 0 for the least one, 1 for the most. */
static double
share_of (double error)
{
  if (!(error > 0))
    return 0;
  return CLAMP ((log10 (error) - LEAST) / (MOST - LEAST), 0, 1);
}

/* Returns a colour between two, without transparency. */
static LigColour
mix (LigColour from, LigColour to, double share)
{
  LigColour mixed = 0xff;
  for (int shift = 8; shift < 32; shift += 8) {
    double a = (double) (from >> shift & 0xff), b = (double) (to >> shift & 0xff);
    mixed |= (LigColour) (a + (b - a) * share + 0.5) << shift;
  }
  return mixed;
}

static void
draw_cell (const Layout *layout, double x, double y, double error, const char *text)
{
  g_autofree char *number = lig_draw_error (error);
  double share = share_of (error);
  LigColour fill = mix (layout->colours->card, layout->colours->error, 0.85 * share);
  LigTextStyle style = {.size = 11,
                        .colour = share > 0.75 ? layout->colours->card : layout->colours->ink,
                        .anchor = LIG_TEXT_MIDDLE,
                        .width = layout->cell - 2};
  if (isnan (error))
    return;
  lig_canvas_begin_mark (layout->canvas, x, y, layout->cell, ROW, text);
  lig_canvas_box (layout->canvas, x + 1, y + 1, layout->cell - 2, ROW - 2, 2, fill, 0, 0);
  lig_canvas_text (layout->canvas, x + layout->cell / 2, y + 14, &style, number);
  lig_canvas_end_mark (layout->canvas);
}

static void
draw_op (
  const Layout *layout, const LigRecipeErrors *errors, const LigOpErrors *op, double x, double y)
{
  static const char *const tensors[] = {N_ ("output"), N_ ("gradient of the output"),
                                        N_ ("gradients of the parameters")};
  const double values[] = {op->output, op->gradient, op->parameters};
  for (int i = 0; i < TENSORS; i++) {
    g_autofree char *number = lig_draw_error (values[i]);
    g_autofree char *text = g_strdup_printf ("%s %s, %s: %s %s", op->op, op->path, errors->recipe,
                                             _ (tensors[i]), number);
    draw_cell (layout, x + i * layout->cell, y, values[i], text);
  }
}

static double
left_of (const Layout *layout, guint recipe)
{
  return MARGIN + layout->names + recipe * (TENSORS * layout->cell + GAP);
}

static void
draw_head (const Layout *layout, const LigRecipeErrors *errors, guint n)
{
  static const char *const names[] = {N_ ("y"), N_ ("dy"), N_ ("dw")};
  double x = left_of (layout, n), width = TENSORS * layout->cell;
  LigTextStyle bold = {.size = 12, .bold = TRUE, .colour = layout->colours->ink, .width = width};
  LigTextStyle dim = {
    .size = 11, .colour = layout->colours->dim, .anchor = LIG_TEXT_MIDDLE, .width = layout->cell};
  lig_canvas_text (layout->canvas, x, MARGIN + 14, &bold, errors->recipe);
  for (int i = 0; i < TENSORS; i++)
    lig_canvas_text (layout->canvas, x + (i + 0.5) * layout->cell, MARGIN + 34, &dim, _ (names[i]));
}

/* Draws the name of an op, with a dot if a recipe quantizes its operands. */
static void
draw_name (const Layout *layout, GPtrArray *errors, guint n, double y)
{
  const LigOpErrors *op = &((const LigRecipeErrors *) errors->pdata[0])->ops[n];
  gboolean quantized = FALSE;
  for (guint i = 0; i < errors->len; i++)
    quantized |= ((const LigRecipeErrors *) errors->pdata[i])->ops[n].recipe != NULL;
  LigTextStyle style = {.size = 12,
                        .bold = quantized,
                        .colour = quantized ? layout->colours->ink : layout->colours->dim,
                        .width = layout->names - 20};
  g_autofree char *name = g_strdup_printf ("%s %s", op->path, op->op);
  if (quantized)
    lig_canvas_disc (layout->canvas, MARGIN + 4, y + ROW / 2.0, 3, layout->colours->error);
  lig_canvas_text (layout->canvas, MARGIN + 12, y + 14, &style, name);
}

static void
draw_scale (const Layout *layout, double y)
{
  static const char *const labels[] = {"0.1 %", "", "", "", "100 %"};
  LigTextStyle style = {.size = 11, .colour = layout->colours->dim};
  double x = MARGIN + layout->names;
  for (int i = 0; i < STEPS; i++) {
    double share = (double) i / (STEPS - 1);
    LigColour fill = mix (layout->colours->card, layout->colours->error, 0.85 * share);
    lig_canvas_box (layout->canvas, x + i * 36, y, 34, 10, 2, fill, layout->colours->line, 1);
    lig_canvas_text (layout->canvas, x + i * 36, y + 22, &style, labels[i]);
  }
  style.width = layout->width - x - STEPS * 36 - 2 * MARGIN;
  lig_canvas_text (
    layout->canvas, x + STEPS * 36 + GAP, y + 10, &style,
    _ ("error relative to the compute type: of the output y, its gradient dy, the weights' dw"));
}

double
lig_draw_recipes_height (GPtrArray *errors)
{
  guint ops = errors->len > 0 ? ((const LigRecipeErrors *) errors->pdata[0])->n_ops : 0;
  return 2 * MARGIN + HEAD + (double) ops * ROW + FOOT;
}

void
lig_draw_recipes (LigCanvas *canvas, const LigColours *colours, GPtrArray *errors, double width)
{
  Layout layout = {.canvas = canvas, .colours = colours, .width = width};
  guint ops = errors->len > 0 ? ((const LigRecipeErrors *) errors->pdata[0])->n_ops : 0;
  layout.names = MIN (220, 0.3 * width);
  layout.cell = (width - 2 * MARGIN - layout.names - (errors->len - 1.0) * GAP) /
                MAX (TENSORS * errors->len, 1);
  for (guint i = 0; i < errors->len; i++)
    draw_head (&layout, errors->pdata[i], i);
  for (guint n = 0; n < ops; n++) {
    double y = MARGIN + HEAD - 10 + (double) n * ROW;
    draw_name (&layout, errors, n, y);
    for (guint i = 0; i < errors->len; i++) {
      const LigRecipeErrors *recipe = errors->pdata[i];
      draw_op (&layout, recipe, &recipe->ops[n], left_of (&layout, i), y);
    }
  }
  draw_scale (&layout, MARGIN + HEAD + (double) ops * ROW);
}
